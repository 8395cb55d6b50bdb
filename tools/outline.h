// SPDX-License-Identifier: MIT
// All entities of a world in one list, with what a person calls them.
#ifndef ESPALIER_TOOLS_OUTLINE_H
#define ESPALIER_TOOLS_OUTLINE_H

#include "tools/value.h"

#define OUTLINE_NONE UINT32_MAX

/// An entity. Parents come before children, and the children of one parent follow each other.
typedef struct outline_node {
    espl_entity entity;
    uint32_t parent;       // number, or OUTLINE_NONE
    uint32_t first, count; // children
    uint32_t below;        // entities below it
    uint32_t ordinal;      // among the siblings of its name, or among those without one, from 1 on
    bool has_twin;         // a sibling has its name
} outline_node;

/// A name with the number of its node: the siblings of a range in the order of their names.
typedef struct outline_name {
    const char *text; // of the world
    uint32_t number;
} outline_name;

typedef struct tool_outline {
    const espl_world *world;
    outline_node *nodes; // [count]
    outline_name *names; // [count] by siblings: first to first + count of their parent
    size_t count, top_count, named;
    uint32_t depth;
    uint32_t *numbers; // [index_count] of a node by the index of its entity, or OUTLINE_NONE
    size_t index_count;
} tool_outline;

/// List the entities of a value. @return false: no memory, and nothing to release.
bool outline_make(tool_outline *out, const tool_value *value);
void outline_release(tool_outline *outline);

/// Return the number of an entity, or OUTLINE_NONE: it is null, or dead.
uint32_t outline_find(const tool_outline *outline, espl_entity entity);
/// Write the path of a node: names from its root on, with the ordinal in brackets where siblings have one name
/// or none, "ship/gun[2]/[1]".
/// @param out  [size], cut at the front where it is longer. @return out.
const char *outline_path(const tool_outline *outline, uint32_t node, char *out, size_t size);

#endif

// SPDX-License-Identifier: MIT
// An archive that is read: its sections, its components and sets, and a walk over its nodes. Nothing here
// changes a world. archive_head.c and archive_parse.c check the bytes, archive_read.c builds what they say.
#ifndef ESPALIER_LIB_VALUE_ARCHIVE_READ_H
#define ESPALIER_LIB_VALUE_ARCHIVE_READ_H

#include "lib/commands/immediate.h"
#include "lib/tree/cells.h"
#include "lib/value/archive_format.h"
#include "lib/value/wire.h"
#include "lib/world/world_internal.h"

#include <espalier/archive.h>

/// A component of an archive.
typedef struct espl__parsed_component {
    const char *name; // [length] in the archive, without an end
    uint32_t length;
    uint32_t version, size;
    uint32_t flags;                  // ESPL_COMPONENT_ flags
    const unsigned char *references; // [reference_count] offsets of 4 bytes
    uint32_t reference_count;
    const unsigned char *fields; // [field_count] entries, of different sizes
    uint32_t field_count;
    bool is_transient;                       // here or there: its values become zeros
    bool is_built_in;                        // ESPL_TRANSFORM, ESPL_PREFAB or ESPL_DISABLED
    espl_component component;                // of the world, 0: it is left out
    const espl_archive_migration *migration; // or NULL
    uint64_t count;                          // entities that have it
    // Values that a migration made, in the order of the nodes; and the next one to use.
    unsigned char *converted;
    uint64_t next;
} espl__parsed_component;

/// A component set of an archive.
typedef struct espl__parsed_set {
    uint64_t columns; // offset of its first column in the section COLS
    uint32_t first;   // its components in `items`: numbers in the archive, ascending
    uint32_t count;   // nodes that have it
    uint32_t seen;    // of these, by the walk under way
    uint8_t component_count;
    bool has_transform, has_references;
} espl__parsed_set;

/// A node, as the walk finds it.
typedef struct espl__parsed_node {
    espl__built built; // what it is in the archive
    uint32_t rank;     // number among the nodes of its set
    const char *name;  // [length] in the archive; NULL: none
    uint32_t length;
    espl__cell cell; // of a root
} espl__parsed_node;

/// An archive that is read.
typedef struct espl__parse {
    const unsigned char *bytes;
    size_t size;
    espl_status status; // ESPL_OK until something is refused
    espl_format_fault fault;
    espl_archive_info info;
    bool is_big_endian;
    espl__cursor sections[ESPL__ARCHIVE_SECTIONS]; // at their begins
    espl__heap *heap;
    espl__parsed_component *components; // stb arrays
    espl__parsed_set *sets;
    uint16_t *items;
    size_t set_numbers_at; // where the set numbers of nodes begin in the section SETS
    uint32_t spare;        // slots for the room of new trees
    uint32_t longest;      // most nodes of one top and what is below it
    bool has_side;
    bool is_checked; // all nodes were
    uint32_t named;  // nodes with a name
    float cell_size; // 0: no root has a cell other than 0, 0, 0
} espl__parse;

/// A walk over the nodes in their order. The cursors are in the sections.
typedef struct espl__node_walk {
    espl__parse *parse;
    uint32_t at;                   // number of the next node
    uint32_t parent, children;     // whose children come, and how many are left
    uint32_t tops, tree_begin;     // so far; of the last one
    uint32_t next_side, next_name; // nodes of the next entries, or ESPL__NO_SLOT
    uint32_t next_cell;            // likewise
    bool skips_placements;         // they are not needed, and not read
    espl__parsed_node node;        // the last one
    espl__cursor tree, locals, side, sets, names, cells;
    espl__cursor frees; // the bits at its begin
} espl__node_walk;

/// Say why an archive is refused: the first reason counts. @return false.
bool espl__parse_refuse(espl__parse *parse, espl_status status, const void *at,
                        const char *sentence);
/// The same of a format, at a cursor.
static inline bool espl__parse_refuse_at(espl__parse *parse, const espl__cursor *at,
                                         const char *sentence)
{
    return espl__parse_refuse(parse, ESPL_ERR_FORMAT, at->bytes == NULL ? NULL : at->bytes + at->at,
                              sentence);
}
/// Tell whether all of some bytes are 0.
static inline bool espl__are_zeros(const unsigned char *bytes, size_t size)
{
    unsigned any = 0;

    for (size_t i = 0; i < size; ++i) {
        any |= bytes[i];
    }
    return any == 0;
}
/// Check the head alone. @param count  out: what it says there is of sections. @return false: refused.
bool espl__parse_fixed(espl__parse *parse, uint32_t kind, uint32_t *count);
/// Compare the first checksum of the head with bytes behind it. @return false: refused.
bool espl__parse_checksum(espl__parse *parse, size_t size, const char *sentence);
/// Check the head, the table and the checksums, and find the sections. @param count  out: of the table.
bool espl__parse_sections(espl__parse *parse, uint32_t *count);
/// Check the head, the table and the checksums, and read the counts. Takes no memory. @return false: refused.
bool espl__parse_head(espl__parse *parse);
/// Read components and sets, and check all sections. @return false: refused.
/// Precondition: `heap` is set. espl__parse_end() follows in any case.
bool espl__parse_body(espl__parse *parse);
/// Free the lists.
void espl__parse_end(espl__parse *parse);
/// Turn the bytes of each element of the fields of a value around. References are zeros.
/// @param value  [size of the component]
void espl__parsed_swap(const espl__parsed_component *component, unsigned char *value);

/// Read the number of the next node of a list that few nodes are in.
uint32_t espl__walk_gap(const espl__parse *parse, espl__cursor *cursor, uint32_t from);
/// Read the cell of the present node, which is a root. @return false: refused.
bool espl__walk_take_cell(espl__node_walk *walk);
/// Read the size of cells. @return false: refused.
bool espl__parse_cell_size(espl__parse *parse);
/// Begin a walk.
void espl__walk_begin(espl__node_walk *walk, espl__parse *parse);
/// Step to the next node, of which there is one.
/// @return valid until the next call. NULL: refused; never after espl__parse_body().
const espl__parsed_node *espl__walk_next(espl__node_walk *walk);

#endif

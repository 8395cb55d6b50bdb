// SPDX-License-Identifier: MIT
// The manifest of a world: each area of memory that its value consists of, named once. Saving, loading and
// counting walk it, so that none of them can leave out what another one has.
//
// The areas come in walks, because a reader needs what the first one has to make the memory of the others:
// headers of trees, rows, nodes, side arrays. The small numbers from which all sizes follow are in the head of an image (image.h).
#ifndef ESPALIER_LIB_VALUE_MANIFEST_H
#define ESPALIER_LIB_VALUE_MANIFEST_H

#include "lib/world/world_internal.h"

/// What an area has, and so what a copy must change in it.
typedef enum espl__area_kind {
    ESPL__AREA_BYTES,     ///< values that mean the same in each world
    ESPL__AREA_RECORDS,   ///< espl__record by index: with numbers of chunks
    ESPL__AREA_ENTITIES,  ///< espl_entity by row: with the tag of the world
    ESPL__AREA_VALUES,    ///< values of a component, which may have references
    ESPL__AREA_TRANSIENT, ///< values that are not saved: ESPL_COMPONENT_TRANSIENT
    ESPL__AREA_TREES, ///< espl__tree by number: with numbers of side arrays, and the list of unsettled trees
    ESPL__AREA_SLOTS,   ///< an array by slot, whose elements without a node have any value
    ESPL__AREA_TREE_OF, ///< espl__forest.tree
    ESPL__AREA_LINKS,   ///< espl__forest.links
    ESPL__AREA_PARENT,  ///< espl__forest.parent
    ESPL__AREA_FLAGS,   ///< espl__forest.flags
    ESPL__AREA_CELLS,   ///< cells by slot, which only roots have
} espl__area_kind;

/// An area: `count` elements of `size` bytes.
typedef struct espl__area {
    const char *name; // a literal
    espl__area_kind kind;
    espl_component component; // of ESPL__AREA_VALUES
    void *bytes;              // NULL where the count is 0
    size_t size, count;
} espl__area;

/// A visitor of areas.
typedef struct espl__area_visitor {
    void (*visit)(void *context, const espl__area *area);
    void *context;
} espl__area_visitor;

/// Visit the headers of a forest. A visitor of a world that is made may write to what it visits, here and below.
void espl__manifest_trees(const espl__forest *forest, const espl__area_visitor *visitor);
/// Visit the records and the rows of a store.
void espl__manifest_rows(const espl__store *store, const espl__area_visitor *visitor);
/// Visit the arrays by slot of a forest.
void espl__manifest_nodes(const espl__forest *forest, const espl__area_visitor *visitor);
/// Visit the side arrays of a forest, in the order of their trees.
void espl__manifest_sides(const espl__forest *forest, const espl__area_visitor *visitor);

#endif

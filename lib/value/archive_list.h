// SPDX-License-Identifier: MIT
// The lists of an archive that is written: its nodes breadth-first, their numbers, sets and components.
#ifndef ESPALIER_LIB_VALUE_ARCHIVE_LIST_H
#define ESPALIER_LIB_VALUE_ARCHIVE_LIST_H

#include "lib/base/index_table.h"
#include "lib/value/wire.h"
#include "lib/world/world_internal.h"

#include <espalier/archive.h>

/// Bit of a listed slot: the node has no frame in the archive, because its parent stays behind, or is bare and
/// has none itself. Its local is its world.
#define ESPL__PLACED UINT32_C(0x80000000)
/// Bit of a listed number of children: the node is a top.
#define ESPL__TOP UINT32_C(0x80000000)

/// An archive that is written.
typedef struct espl__archiver {
    const espl_world *world;
    const espl_archive_def *def;
    espl__heap *heap;
    uint32_t *nodes;  // stb array: slots of the nodes, some with ESPL__PLACED
    uint32_t *counts; // stb array: children of each node in the archive; of tops with ESPL__TOP
    uint32_t tops;
    bool has_placed;     // a node has ESPL__PLACED
    unsigned flags;      // ESPL__SLOT_ bits that some of the nodes have
    espl__index_entry *table; // number of a node by its entity
    uint32_t *set_of;    // stb array: set number + 1 by archetype; 0: none yet
    uint32_t *sets;      // stb array: an archetype that has the set, by set number
    uint32_t *node_sets; // stb array: set by number of a node
    uint32_t *by_set;    // stb array: nodes in the order of their sets; NULL: there is one set
    uint32_t *set_ends;  // stb array: ends of the sets in `by_set`
    espl_component *components; // stb array by number in the archive, in the order of their names
    uint32_t *numbers;          // stb array: number in the archive + 1 by component; 0: not in it
    espl__wire wire;
} espl__archiver;

/// List what the sections need. @param named  out: the entity that a refusal is about, or null.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT: an entity is listed twice; ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY; the
///         statuses of handles. espl__archiver_end() follows in any case.
espl_status espl__archiver_list(espl__archiver *a, espl_entity *named);
/// Free the lists.
void espl__archiver_end(espl__archiver *a);
/// Return the number of an entity, or ESPL__NONE: it is not in the archive.
uint32_t espl__archiver_number_of(const espl__archiver *a, uint32_t entity);
/// List the components of a set in the order of their numbers in the archive.
/// @param out  [ESPL_SET_LIMIT] @return how many.
size_t espl__archiver_set(const espl__archiver *a, uint32_t set, espl_component *out);

static inline size_t count_nodes(const espl__archiver *a)
{
    return espl__array_length(a->nodes);
}

static inline uint32_t slot_of(const espl__archiver *a, uint32_t number)
{
    return a->nodes[number] & ~ESPL__PLACED;
}

static inline uint32_t entity_of(const espl__archiver *a, uint32_t number)
{
    return a->world->forest.links[slot_of(a, number)].entity;
}

// The i-th node in the order of sets.
static inline uint32_t node_by_set(const espl__archiver *a, uint32_t i)
{
    return a->by_set == NULL ? i : a->by_set[i];
}

static inline bool is_top_node(const espl__archiver *a, uint32_t number)
{
    return (a->counts[number] & ESPL__TOP) != 0;
}

static inline bool is_bare_node(const espl__archiver *a, uint32_t number)
{
    return espl__slot_is(&a->world->forest, slot_of(a, number), ESPL__SLOT_BARE);
}

static inline const espl__component_info *info_of_component(const espl__archiver *a,
                                                            espl_component component)
{
    return espl__component_info_of(&a->world->store, component);
}

#endif

// SPDX-License-Identifier: MIT
// A batch of writes under way: what its files share. Entries are found and put in order
// (batch_order.c), then each hierarchy is written (batch.c).
#ifndef ESPALIER_LIB_WORLD_BATCH_H
#define ESPALIER_LIB_WORLD_BATCH_H

#include "lib/world/inside.h"

#include "lib/tree/writes.h"
#include "lib/world/places.h"

/// The entries as the caller holds them: in one array, or in one of entities and one of values.
typedef struct espl__entries {
    const espl_write *writes; // or NULL:
    const espl_entity *entities;
    const unsigned char *values;
    size_t value_size;
    espl_write_kind kind;
    size_t count;
} espl__entries;

/// The entries of one run: those at [begin, begin + count).
typedef struct espl__batch_group {
    uint32_t begin, count, run;
    bool is_once; // no node has two
    bool is_done;
    bool is_told;      // some result may be other than ESPL_OK
    bool is_unordered; // ranks are in no order, and nodes may have two after all
} espl__batch_group;

_Static_assert(sizeof(espl__batch_group) == 16, "group: 3 words and 4 facts");

/// Two spans of a walk fit where an entry's places were sorted, or the entries of four positions
/// were noted.
typedef union espl__batch_room {
    espl__place places[2];
    espl__span spans[2];
    uint32_t numbers[4];
} espl__batch_room;

typedef struct espl__batch {
    espl_world *world;
    const espl__entries *entries;
    espl__write_source source;
    espl_status *results;        // [count]
    espl__batch_room *rooms;     // [count]
    espl__place *places, *other; // [count] the two halves of the rooms; sorted
    size_t place_count;
    uint32_t *numbers; // [place_count] of the entries that name a node, in the order of positions
    uint32_t *ranks;   // [place_count] of their nodes; before, the position of each entry's node
    bool is_straight;  // each entry names a node, and numbers are 0, 1, 2 ..: they are not written
    _Atomic bool is_crooked;   // it was found not to be so
    _Atomic bool is_mixed;     // entries are not all of one kind
    espl__batch_group *groups; // [group_count]
    size_t group_count;
    bool has_sides; // some run has side arrays
    espl_pose *old_locals;
    espl__side_entry *old_sides;                               // NULL: no run has side arrays
    _Atomic uint64_t visited, skipped, writes, writes_skipped; // sums do not depend on the order
} espl__batch;

static inline espl_write_kind espl__entries_kind(const espl__entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].kind : e->kind;
}

/// Find the nodes of entries [begin, end), as long as the batch may be straight: each entry names a
/// node, no run is come back to, and within a run ranks ascend, or entries are so many that a sweep
/// will take them in any order. Most batches are made so, by whoever goes through hierarchies one by
/// one, and need not be sorted. Work for several threads.
/// @param context  espl__batch.
void espl__batch_resolve_straight(void *context, size_t begin, size_t end);
/// Put the entries of each run together where all of them were found so.
/// @return false: the batch is not straight; all has to be resolved anew.
bool espl__batch_join(espl__batch *batch);

/// Find the nodes of entries [begin, end), whatever they are. Work for several threads.
void espl__batch_resolve(void *context, size_t begin, size_t end);
/// List the entries that name a node in the order of positions, those of one node as they came, and
/// put those of one run together. All are resolved.
void espl__batch_order(espl__batch *batch);

#endif

// SPDX-License-Identifier: MIT
// A batch of writes under way: what its files share. Entries are found and put in order
// (batch_order.c), then each hierarchy is written (batch.c).
#ifndef ESPALIER_LIB_WORLD_BATCH_H
#define ESPALIER_LIB_WORLD_BATCH_H

#include "lib/world/inside.h"

#include "lib/tree/band.h"
#include "lib/tree/writes.h"
#include "lib/world/places.h"

/// The entries as the caller holds them: in one array, or entities and values anywhere.
typedef struct espl__entries {
    const espl_write *writes;               // [count], which have a kind each; or NULL
    const unsigned char *entities, *values; // of the first entry
    size_t entity_size, value_size;         // from one to the next
    espl_write_kind kind;                   // where there are no writes
    bool has_poses; // values are espl_pose, and the kind is ESPL_WRITE_LOCAL_POSE
    size_t count;
} espl__entries;

/// The entries of one run: those at [begin, begin + count).
typedef struct espl__batch_group {
    uint32_t begin, count, run;
    bool is_once; // no node has two
    bool is_done;
    bool is_unordered; // ranks are in no order, and nodes may have two after all
} espl__batch_group;

_Static_assert(sizeof(espl__batch_group) == 16, "group: 3 words and 3 facts");

enum {
    ESPL__BATCH_BLOCK = 1024, // entries that one job resolves at least
    ESPL__BATCH_PIECE = 4,    // entries of a piece at least, but for the last one of a block
    ESPL__BATCH_WEIGHT = 4,   // of finding and writing an entry, against a world recomputed
};

/// What one job found of its entries, as long as they are straight.
typedef struct espl__batch_block {
    uint32_t end;         // of its entries
    uint32_t group_count; // groups stand from the number of its first entry on
    uint32_t cut_count;
    uint32_t giants;   // groups in wide runs
    bool ascends;      // runs stand in the order of the pool
    bool is_unordered; // some group is
    bool has_sides;    // some run has side arrays
} espl__batch_block;

/// Cuts groups into pieces, each worth the call of a worker.
typedef struct espl__batch_cutter {
    uint32_t *cuts; // [count] groups before each cut
    uint32_t count;
    uint32_t group, entry; // the first ones of the piece at hand
    uint32_t part;         // what a piece weighs at least
    uint64_t weight;       // of the piece at hand
} espl__batch_cutter;

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
    espl__batch_block *blocks; // by their first entry, in parts of ESPL__BATCH_BLOCK
    espl__batch_group *groups; // [group_count]
    size_t group_count;
    uint32_t *cuts; // [cut_count] groups before each piece but the first one
    size_t cut_count;
    size_t giants;            // groups in wide runs
    bool is_unordered;        // some group is
    bool has_sides;           // some run has side arrays
    _Atomic bool wants_sides; // some value may be such that its run has to have them
    bool takes_singles;       // a group of one entry is written as by a call at once
    bool takes_poses;         // and its value is a transform that becomes the local
    _Atomic bool is_told;     // some result may be other than ESPL_OK
    espl_pose *old_locals;
    espl__side_entry *old_sides;                               // NULL: no run has side arrays
    _Atomic uint64_t visited, skipped, writes, writes_skipped; // sums do not depend on the order
} espl__batch;

static inline espl_write_kind espl__entries_kind(const espl__entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].kind : e->kind;
}

/// Where the cuts of the block stand that begins at an entry, before blocks are joined: behind all
/// that blocks before it may have, with one between any two of them.
static inline size_t espl__batch_cuts_at(size_t entry)
{
    return entry / ESPL__BATCH_PIECE + entry / ESPL__BATCH_BLOCK;
}

/// Note that a group begins.
static inline void espl__batch_cut(espl__batch_cutter *c, uint32_t group, uint32_t entry,
                                   const espl__run *run)
{
    const bool is_worth = c->weight >= c->part && group - c->group >= ESPL__BATCH_PIECE;

    if (is_worth || entry - c->entry >= ESPL__BATCH_BLOCK) {
        c->cuts[c->count++] = c->group = group;
        c->entry = entry;
        c->weight = 0;
    }
    c->weight += (uint64_t)run->size + ESPL__BATCH_WEIGHT;
}

/// Tell whether the run of a group has room for pieces of its own.
static inline bool espl__batch_is_giant(const espl__batch *b, const espl__batch_group *group)
{
    const espl__forest *const forest = &b->world->forest;

    return espl__run_is_wide(forest, &forest->runs[group->run]);
}

static inline espl_entity espl__entries_entity(const espl__entries *e, size_t i)
{
    return *(const espl_entity *)(const void *)(e->entities + i * e->entity_size);
}

static inline const void *espl__entries_value(const espl__entries *e, size_t i)
{
    return e->values + i * e->value_size;
}

/// Tell whether an entry leaves something that its run needs side arrays for. One that is refused
/// for its value wants nothing.
bool espl__entry_wants_side(const espl__entries *e, size_t i);
/// The same of some of the entries [begin, end).
bool espl__entries_want_side(const espl__entries *e, size_t begin, size_t end);

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

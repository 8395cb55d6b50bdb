// SPDX-License-Identifier: MIT
// Writes of placements, to one node or to many nodes of one tree: store them, and recompute the
// worlds below. Immediate calls, batches and parallel jobs call this; edits have their own in
// edit_nodes.c, because they log and defer. Slots do not move in a write, and nothing is allocated:
// the caller made sure of the side arrays that a write needs.
#ifndef ESPALIER_LIB_TREE_WRITES_H
#define ESPALIER_LIB_TREE_WRITES_H

#include "lib/base/prefetch.h"
#include "lib/math/wide.h"
#include "lib/tree/node_change.h"
#include "lib/tree/propagate.h"
#include "lib/tree/worlds.h"

// --- One node ---

/// Store a change, propagate and count it. Precondition: the tree has the side arrays that its placement
/// needs.
void espl__node_change_commit(espl__forest *forest, espl__context *context,
                              const espl__node_change *change);

/// Tell whether a node is plain for writes of a kind: they read and change no side array, and the world
/// of the node is its parent's times its local, or for a root its local. Nearly all nodes are plain.
static inline bool espl__slot_is_plain(const espl__forest *forest, uint32_t slot,
                                       espl_write_kind kind)
{
    const unsigned side = espl__write_has_extra(kind) ? ESPL__SLOT_SIDE : 0;

    return !espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL | side);
}

/// Tell whether a value is a whole local pose without stretch and user data, as most are.
/// @param value  of the kind, unchecked.
static inline bool espl__value_is_usual(espl_write_kind kind, const void *value)
{
    static const espl__extra none = {{1, 1, 1}, 0};

    return kind == ESPL_WRITE_LOCAL_POSE ||
           (kind == ESPL_WRITE_LOCAL_TRANSFORM &&
            memcmp((const unsigned char *)value + offsetof(espl_transform, stretch), &none,
                   sizeof none) == 0);
}

/// Tell whether a write is a usual value to a plain node.
static inline bool espl__write_is_usual(const espl__forest *forest, uint32_t slot,
                                        espl_write_kind kind, const void *value)
{
    return espl__value_is_usual(kind, value) && espl__slot_is_plain(forest, slot, kind);
}

/// Store a local whose world is the one that the node has. Most often the local is bit-equal, so that
/// the write is skipped. @return ESPL_OK.
espl_status espl__local_put_same_world(espl__forest *forest, espl__context *context, uint32_t slot,
                                       const void *local);
/// After a write stored local and world of a slot that has children: mark both, and propagate below it.
/// @return ESPL_OK; ESPL_OVERFLOW where `has_overflowed` of the context is set, so that a world at or below
///         the slot may be not finite.
espl_status espl__mark_and_propagate(espl__forest *forest, espl__context *context, uint32_t slot);

/// Store a local of unit length and its world in a node that is not exceptional, and propagate it. Inline, so
/// that the poses stay in registers from the check to the store.
/// @param value  the local as well, for calls, because a pose in registers would be passed in memory.
/// @return false where the world is not finite; nothing changed then.
ESPL__INLINE bool espl__local_try_put_world(espl__forest *forest, espl__context *context,
                                            uint32_t slot, const void *value, espl__wide_pose local,
                                            espl__wide_pose world, espl_status *status)
{
    const espl__worlds worlds = espl__worlds_of(forest);

    ESPL_CHECK_FULL(!espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL));
    // One check for both: a finite world has a finite local.
    if (!espl__wide_found_nothing(espl__wide_nonfinite(world))) {
        return false;
    }
    if (espl__wide_is_same(espl__wide_load(&forest->world[slot]), world)) {
        *status = espl__local_put_same_world(forest, context, slot, value);
        return true;
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    espl__wide_store(&forest->local[slot], local);
    espl__world_put_wide(worlds, slot, world);
    const bool is_leaf = forest->links[slot].first_child == ESPL__NO_SLOT;

    // Marks of own data and propagation are behind a call, which ends the function: a leaf saves no registers.
    if (!is_leaf) {
        *status = espl__mark_and_propagate(forest, context, slot);
    } else if (forest->modes == 0) {
        *status = ESPL_OK;
    } else if ((forest->modes & ESPL__MODE_OWN) != 0) {
        *status = espl__mark_node_written(forest, slot);
    } else {
        espl__world_stored(worlds, slot);
        *status = ESPL_OK;
    }
    return true;
}

/// As espl__local_try_put_world(), with the world that follows from the local.
ESPL__INLINE bool espl__local_try_put(espl__forest *forest, espl__context *context, uint32_t slot,
                                      const void *value, espl__wide_pose local, espl_status *status)
{
    const uint32_t parent = forest->parent[slot];
    espl__wide_pose world = local;

    // Where the node has children, the propagation waits for the number of the tree first.
    espl__prefetch(&forest->tree[slot]);
    if (parent != ESPL__NO_SLOT) {
        world = espl__wide_compose(espl__wide_load(&forest->world[parent]), local);
    }
    return espl__local_try_put_world(forest, context, slot, value, local, world, status);
}

/// Fast path of espl__pose_put(), for values that are finite and of unit length, with such a world.
/// @return false: nothing changed, and espl__pose_put() does the write or refuses it.
ESPL__INLINE bool espl__pose_try_put(espl__forest *forest, espl__context *context, uint32_t slot,
                                     const void *value, espl_status *status)
{
    const espl__wide_pose local = espl__wide_from(value);

    return espl__wide_is_unit(local) &&
           espl__local_try_put(forest, context, slot, value, local, status);
}

/// Store an espl_pose at any address as the local of a node that is not exceptional, and propagate
/// it. @return ESPL_OK; ESPL_OVERFLOW as espl__mark_and_propagate(); ESPL_ERR_NOT_FINITE: nothing changed.
espl_status espl__pose_put(espl__forest *forest, espl__context *context, uint32_t slot,
                           const void *value);
/// Carry out a write to a plain node that stores nothing in side arrays, and propagate it.
/// Precondition: espl__write_check() accepted the value. A world that overflows sets
/// `has_overflowed` of the context.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
espl_status espl__plain_write(espl__forest *forest, espl__context *context, uint32_t slot,
                              espl_write_kind kind, const espl_write_value *value);

// --- Many nodes of one tree ---

/// Recompute the worlds of slots [begin, end of the tree), because locals of some changed: in the batch of
/// the context, or now. Preconditions: the tree is single, all of its nodes are in its range, `begin` is
/// one of its slots, and the worlds of lower ones are up to date.
void espl__tree_follow(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin);

/// Added to the result of an entry that was carried out, but left bit-equal what the children see,
/// so that no world below was recomputed.
enum { ESPL__UNCHANGED = 64 };

/// The entries of a batch of writes, and their results.
typedef struct espl__write_source {
    const espl_write *writes; // entries with a kind each, or NULL
    espl__pose_values
        values; // of all entries, unchecked; poses only where is_one_kind and `kind` say so
    espl_write_kind kind; // of all entries, where `writes` is NULL; any kind
    bool is_one_kind;     // all entries have the kind `kind`, which is ordinary
    espl_status *results; // by number; in: ESPL_OK; out: status, plus ESPL__UNCHANGED or not
} espl__write_source;

/// The entries of a batch that write to one tree.
typedef struct espl__tree_writes {
    const espl__write_source *source;
    const uint32_t *slots; // [count]
    const uint32_t
        *numbers;   // [count] of the entries, ascending within a slot; NULL: from `first` on
    uint32_t first; // index of the first of them in the list of the whole batch
    uint32_t count;
    uint32_t lowest; // of the slots
    bool ascend;     // the slots do
} espl__tree_writes;

/// Return the address of the value of an entry.
static inline const unsigned char *espl__value_at(const espl__write_source *source, uint32_t number)
{
    return source->values.first + number * source->values.stride;
}

/// Return the number of the entry at a place of the list of a tree.
static inline uint32_t espl__entry_number(const espl__tree_writes *writes, uint32_t at)
{
    ESPL_CHECK_FULL(at < writes->count);
    return writes->numbers != NULL ? writes->numbers[at] : writes->first + at;
}

/// Tell whether the slots of the writes of a tree need not ascend, because all locals are stored before
/// the worlds follow in one pass over the tree.
bool espl__tree_takes_any_order(const espl__forest *forest, const espl__context *context,
                                const espl__tree_writes *writes);
/// Fast path of espl__tree_write() for a tree with one entry, which sets the local of a plain node or one
/// part of it, as most trees have in a batch of moving objects. The caller marks own data where
/// the result is ESPL_OK, because the function then calls nothing for most trees.
/// @return false: nothing changed, and the entry is to be written by espl__tree_write(). True: its result is
///         not a status other than ESPL_OK.
bool espl__tree_try_write_one(espl__forest *forest, espl__context *context,
                              const espl__write_source *source, uint32_t slot, uint32_t number);
/// Carry out the writes of one tree: parents before children, and those of one node in order. Each
/// world is recomputed a bounded number of times, whatever the shape. Preconditions: the tree has
/// the side arrays that the writes need, and the slots ascend or espl__tree_takes_any_order().
///
/// A small tree may be added to context->batch. Its worlds are up to date after
/// espl__tree_batch_finish(). `has_overflowed` of the context is set where a recomputed world of the
/// tree, perhaps one below no entry, is not finite.
/// @return true where a result is a status other than ESPL_OK.
bool espl__tree_write(espl__forest *forest, espl__context *context,
                      const espl__tree_writes *writes);

#endif

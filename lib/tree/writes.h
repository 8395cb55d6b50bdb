// SPDX-License-Identifier: MIT
// Writes of placements: one node, or many nodes of one tree. The only implementation of "store it
// and bring what is below up to date", for immediate calls, batches and parallel jobs. Allocates
// nothing.
#ifndef ESPALIER_LIB_TREE_WRITES_H
#define ESPALIER_LIB_TREE_WRITES_H

#include "lib/tree/propagate.h"

// --- One node ---

/// A change of one node: what it was and what it is to be.
typedef struct espl__node_change {
    uint32_t slot;
    espl__placement before, after;
    espl_pose world;       // that follows from `after`
    const espl__frame *up; // in `room`, or NULL for a root
    espl__frame room;
} espl__node_change;

/// Read a node, with `after` as it is. The world of its parent is final. Not to be copied.
void espl__node_change_begin(const espl__forest *forest, uint32_t slot, espl__node_change *change);
/// Store a change and propagate it. The tree has the side arrays that it needs. Counts what it
/// does.
void espl__node_change_commit(espl__forest *forest, espl__context *context,
                              const espl__node_change *change);

/// Tell whether a node is as nearly all are: its local pose is all that is stored of it, and its
/// world is its parent's times the local, or for a root the local.
static inline bool espl__slot_is_plain(const espl__forest *forest, uint32_t slot)
{
    return !espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL | ESPL__SLOT_SIDE);
}

/// Tell whether a value is as nearly all are: a whole local pose without stretch and user data.
/// @param value  of the kind, unchecked.
static inline bool espl__value_is_usual(espl_write_kind kind, const void *value)
{
    static const espl__extra none = {{1, 1, 1}, 0};

    return kind == ESPL_WRITE_LOCAL_POSE ||
           (kind == ESPL_WRITE_LOCAL_TRANSFORM &&
            memcmp((const unsigned char *)value + offsetof(espl_transform, stretch), &none,
                   sizeof none) == 0);
}

/// Tell whether a write is as nearly all are: a usual value, to a plain node.
static inline bool espl__write_is_usual(const espl__forest *forest, uint32_t slot,
                                        espl_write_kind kind, const void *value)
{
    return espl__value_is_usual(kind, value) && espl__slot_is_plain(forest, slot);
}

/// Store an espl_pose that the caller gives as the local of a plain node, and propagate it.
/// @return ESPL_OK; ESPL_OVERFLOW; ESPL_ERR_NOT_FINITE: nothing changed.
espl_status espl__pose_put(espl__forest *forest, espl__context *context, uint32_t slot,
                           const void *value);
/// Carry a checked write of any kind out on a plain node that stays plain, and propagate it. Worlds
/// that overflow are counted in the context.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
espl_status espl__plain_write(espl__forest *forest, espl__context *context, uint32_t slot,
                              espl_write_kind kind, const espl_write_value *value);

// --- Many nodes of one tree ---

/// Added to the result of an entry that was carried out and left what children see bit-equal, so
/// that no world below had to follow.
enum { ESPL__UNCHANGED = 64 };

/// Where the writes of a batch come from, and what became of them.
typedef struct espl__write_source {
    const espl_write *writes;    // entries with a kind each; or NULL
    const unsigned char *values; // of the first entry, unchecked
    size_t value_size;           // from one to the next
    espl_write_kind kind;        // of all entries, where there are no writes of several kinds
    bool is_one_kind;            // `kind` is that of all entries
    espl_status *results;        // by number; in: ESPL_OK; out: status, see ESPL__UNCHANGED
} espl__write_source;

/// The writes of one tree.
typedef struct espl__tree_writes {
    const espl__write_source *source;
    const uint32_t *slots; // [count] ascending
    const uint32_t
        *numbers; // [count] of the entries, ascending within a slot; NULL: from `first` on
    uint32_t first, count;
} espl__tree_writes;

/// Carry the writes out: parents before children, those of one node in order. No world is recomputed
/// more than a few times, whatever the shape. The tree has the side arrays that the writes need.
///
/// A small tree may be added to context->waiting; its worlds are final after espl__waiting_finish().
/// Overflowed worlds at or below a changed node are added to the count of the context, of a waiting tree
/// when it is recomputed.
/// @return whether some result is other than ESPL_OK and ESPL__UNCHANGED.
bool espl__tree_write(espl__forest *forest, espl__context *context,
                      const espl__tree_writes *writes);

#endif

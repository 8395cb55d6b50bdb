// SPDX-License-Identifier: MIT
// The groups of a batch of writes: the entries of each tree, and how they are written. batch.c finds
// the slots of the entries, calls these functions, and reports.
#ifndef ESPALIER_LIB_WORLD_BATCH_GROUPS_H
#define ESPALIER_LIB_WORLD_BATCH_GROUPS_H

#include "lib/tree/writes.h"
#include "lib/base/key_sort.h"
#include "lib/world/write_entries.h"

#include <stdatomic.h>

/// Cost of finding and writing an entry, in world transforms recomputed.
#define ESPL__ENTRY_COST 4

/// The entries of one tree: [begin, begin + count) of the slots of a batch.
typedef struct espl__write_group {
    uint32_t begin, count;
    uint32_t lowest;  // of the slots
    uint32_t live;    // nodes of the tree
    bool ascends;     // the slots do
    bool has_numbers; // else entry i has slots[i]
    bool is_done;
} espl__write_group;

/// A batch under way. Arrays lie in world->write_scratch. Jobs write only the atomic fields, and
/// elements of arrays that belong to their range.
typedef struct espl__batch {
    espl_world *world;
    const espl__entries *entries;
    espl__write_source source;
    espl_status *results; // [count]
    uint32_t *slots;      // [count] of each entry, or ESPL__NO_SLOT; sorted from some entry on
    uint32_t *numbers;    // [count] of the entries, where a group has_numbers
    espl__sort_key *keys, *spare_keys; // [count] scratch of sorts
    size_t resolved;                   // entries whose slots were looked up
    size_t end;                        // entries that are in a group, or in none for good
    bool has_windows;                  // entries may be written before later ones are looked up
    bool is_sorted;                    // from an entry at or before `end` on
    espl__write_group *groups;         // [group_count]
    size_t group_count;
    uint32_t limit; // end of the range of the last tree
    uint32_t *cuts; // [cut_count + 1] groups at which a piece begins
    size_t cut_count;
    _Atomic bool is_unordered; // slots do not ascend, or some entry has none
    _Atomic bool is_mixed, wants_side, has_missing, has_remarks, has_sides_to_drop, has_due;
    bool may_drop_sides;         // some entry may store the default in a side array
    bool looks_for_zeros;        // of whole transforms, because the log hook takes remarks
    _Atomic bool has_zero;       // some entry has one
    _Atomic bool has_overflowed; // a recomputed world may be not finite
    _Atomic uint64_t visited, skipped, writes, writes_skipped, debt;
} espl__batch;

/// Run jobs of a batch while the world counts as playing, so that a call of the executor's threads into
/// the library is refused.
espl_status espl__batch_run(const espl__batch *batch, espl_job function, void *context,
                            size_t jobs);

/// A part of the entries whose groups a job forms.
typedef struct espl__batch_part {
    uint32_t begin, end;
    uint32_t group_count; // stored from groups[begin] on
    bool is_whole;        // each entry with a slot is in a group
} espl__batch_part;

/// Form groups of a part, as espl__batch_add_groups() does of all entries. Writes the part and its
/// groups, so that jobs may form different parts at once.
/// @param ascend  the slots of the part ascend, and each entry has one.
void espl__batch_form_part(const espl__batch *batch, espl__batch_part *part, bool ascend);
/// Join the groups of all parts, and move batch->end behind all entries. Where some part is not whole, or
/// trees do not ascend from one part to the next, there are no groups and batch->end stays. Precondition:
/// the parts are all entries, in order, and there are no groups.
void espl__batch_join_parts(espl__batch *batch, const espl__batch_part *parts, size_t count);

/// Write entries [batch->end, end) on this thread as their groups are formed, without a list of them. Where
/// `end` is not the end of all entries, those of the last tree are left to the next call. Moves batch->end.
/// Allocates nothing, and cannot fail. Preconditions: has_windows, and there are no groups.
/// @param is_last  no entries follow.
/// @return false: nothing changed, because the slots do not ascend, the trees lie apart, so that prefetches
///         save time, or espl__batch_add_groups() would refuse them.
bool espl__batch_write_straight(espl__batch *batch, size_t end, bool is_last);

/// Add a group for each tree that entries [batch->end, end) write to, without sorting them. Where `end`
/// is not the end of all entries, those of the last tree are left to the next call, because more of
/// them may follow. Moves batch->end.
/// @param is_last  no entries follow.
/// @return false: nothing changed, because the entries of some tree do not lie together, the trees do not
///         ascend, or more entries may follow and all write to one tree, or some to a tree with side
///         arrays: there a later entry for the parent might change what an entry means.
bool espl__batch_add_groups(espl__batch *batch, size_t end, bool is_last);

/// Form groups of all entries from batch->end on, in the order of their trees. Sorts the groups where the
/// entries of each tree lie together, else the entries; those of one node keep their order. Precondition:
/// there are no groups. Moves batch->end.
void espl__batch_sort(espl__batch *batch);

/// Give side arrays to the trees of groups that need them for some entry, before anything is written.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, or that writes are structural now. After a refusal the trees
///         have the side arrays that they had.
espl_status espl__batch_ensure_sides(espl__batch *batch);

/// Write the groups and forget them. Allocates nothing, and cannot fail.
void espl__batch_write_groups(espl__batch *batch);

#endif

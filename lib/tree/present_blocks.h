// SPDX-License-Identifier: MIT
// A part of a present on one thread: blend, propagate and restore a block of whole trees at a time, while
// their poses are in the cache.
#ifndef ESPALIER_LIB_TREE_PRESENT_BLOCKS_H
#define ESPALIER_LIB_TREE_PRESENT_BLOCKS_H

#include "lib/tree/present.h"
#include "lib/tree/tree_batch.h"

/// One thread's part of a present.
typedef struct espl__present_part {
    const espl__present *present;
    espl__context context;
    espl__tree_batch trees;
    espl_pose *saved;             // room for the locals of the part
    espl__saved_kept *saved_kept; // room for its kept parts
    const uint32_t *limit;        // behind its slots in the list: other jobs change those of theirs
    size_t blended;
} espl__present_part;

/// Begin a part. @param first, kept  index of its first slot in the list, and of its first kept parts.
void espl__present_part_begin(espl__present_part *part, const espl__present *present, size_t first,
                              size_t kept);
/// Add the results of a part to those of the present.
void espl__present_part_end(const espl__present_part *part, espl__present *present);
/// Present the slots [begin, end) of the list, which are whole trees.
/// @param skips_large  not those of trees that are divided among workers.
void espl__present_slots(espl__present_part *part, size_t begin, size_t end, bool skips_large);

/// Store the blends of some locals in their place, and save the locals. No effect at the end of a tick.
/// @param saved  [count] out.
void espl__present_blend(const espl__present *present, espl_pose *saved, const uint32_t *slots,
                         size_t count);
/// Restore locals that were saved.
void espl__present_restore(const espl__present *present, const espl_pose *saved,
                           const uint32_t *slots, size_t count);
/// Recompute the worlds of a tree whose locals are blended. @param slots  [count] of the tree.
void espl__present_follow(espl__present_part *part, const uint32_t *slots, size_t count);

#endif

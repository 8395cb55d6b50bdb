// SPDX-License-Identifier: MIT
// Presents: the shown worlds of a forest at a time between the begin and the end of its last tick.
//
// A present blends the local of each node that was written in the tick with the one that it had when the
// tick began, stores the blends in place of the locals, propagates them into the array of shown worlds by
// the functions that propagate worlds, and restores the locals. The truth stays as it is: locals, worlds,
// side arrays, layout debt and counts. Only nodes whose shown worlds may change are visited.
//
// The world layer takes the memory and calls these functions in order: espl__present_begin(),
// espl__present_place(), espl__present_apply(), espl__present_end().
#ifndef ESPALIER_LIB_TREE_PRESENT_H
#define ESPALIER_LIB_TREE_PRESENT_H

#include "lib/base/scratch.h"
#include "lib/tree/forest.h"

/// Kept parts of a node that were replaced by a blend.
typedef struct espl__saved_kept {
    uint32_t slot;
    espl_pose pose;
} espl__saved_kept;

/// A present under way.
typedef struct espl__present {
    espl__forest *forest;
    espl__blend blend;
    uint32_t since;     // own data that did not change after this moment stays as it is shown
    bool leaves_rested; // of what changed before the last present, only what is between two poses
    uint32_t job_cost, wake_cost; // as of batches of writes
    size_t count, kept_count;
    bool is_listed;               // `slots` are there
    uint32_t *slots;              // [count] ascending; some may have no node
    espl_pose *saved;             // [count]
    espl__saved_kept *saved_kept; // [kept_count]
    // Results.
    size_t blended;      // nodes that were blended or taken as they are
    size_t visited;      // shown worlds computed, with those of holes
    bool has_overflowed; // a shown world is not finite
} espl__present;

/// Find what a present visits, and count it. Changes no node. Preconditions: motion runs, and `at` is
/// finite.
/// @param scratch  memory, in which the slots are listed at once if there is room.
void espl__present_begin(espl__present *present, espl__forest *forest, float at,
                         const espl__scratch *scratch);
/// Place the lists of a present in a block: that scratch memory, or another block, in which they are
/// listed anew. @param block  NULL: only measure. @return bytes.
size_t espl__present_place(espl__present *present, unsigned char *block);
/// Compute the shown worlds. Allocates nothing, and cannot fail. Does not depend on the workers of the
/// forest's context.
void espl__present_apply(espl__present *present);
/// Note what is shown now. The caller goes to the next moment after it.
void espl__present_end(const espl__present *present);

/// Give each node of a tree that was made since the last present its world as shown world, so that the
/// array can be read; it is new all the same. Any thread, while none changes the world: what is there already
/// is not stored again. O(1) where no node was made.
void espl__shown_complete(espl__forest *forest, const espl__tree *tree);

/// Tell whether the shown worlds of each tree that did not change since the last present follow from its
/// blended locals, by the scalar path. @param slot  out: the first that does not.
/// @return the broken rule, or NULL. O(slots).
const char *espl__present_broken_rule(const espl__forest *forest, uint32_t *slot);

#endif

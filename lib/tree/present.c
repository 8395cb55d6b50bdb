// SPDX-License-Identifier: MIT
// The presents of present.h, as a whole.
#include "lib/tree/present.h"

#include "lib/base/bits.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/present_blocks.h"
#include "lib/tree/present_jobs.h"
#include "lib/tree/present_list.h"
#include "lib/tree/propagate.h"

#include <string.h>

// Exchange worlds with shown worlds, and their planes, so that stores of worlds are stores of shown ones.
static void exchange_worlds(espl__forest *forest)
{
    espl_pose *const world = forest->columns.world;
    const espl__plane plane = forest->tracks.planes[ESPL__PLANE_WORLD];

    forest->columns.world = forest->tracks.poses[ESPL__SHOWN];
    forest->tracks.poses[ESPL__SHOWN] = world;
    forest->tracks.planes[ESPL__PLANE_WORLD] = forest->tracks.planes[ESPL__PLANE_SHOWN];
    forest->tracks.planes[ESPL__PLANE_SHOWN] = plane;
}

// Tell whether a world of a node is not finite. Holes do not count.
static ESPL__APART bool finds_overflow(const espl__forest *forest)
{
    bool is_found = false;

    for (uint32_t tree = 0; tree < forest->tree_end && !is_found; ++tree) {
        const espl__tree *const t = &forest->trees[tree];
        const uint32_t end = t->capacity != 0 ? t->base + t->used : t->base;

        for (uint32_t slot = t->base; slot < end && !is_found; ++slot) {
            is_found =
                !espl__pose_is_finite(&forest->world[slot]) && espl__slot_has_node(forest, slot);
        }
    }
    return is_found;
}

// Compute the shown worlds of the list, in place of the worlds.
static void present_list(espl__present *present)
{
    espl__forest *const forest = present->forest;
    espl__present_part part;

    if (!present->is_listed) {
        espl__present_list(present);
    }
    if (espl__executor_is_serial(forest->context.workers.executor)) {
        espl__present_part_begin(&part, present, 0, 0);
        espl__present_slots(&part, 0, present->count, false);
        espl__present_part_end(&part, present);
    } else {
        espl__present_on_workers(present);
    }
}

// All nodes are tested after an alarm, because it may be that of a hole, and while some shown world was not
// finite, because it may be one that this present does not visit.
void espl__present_apply(espl__present *present)
{
    espl__forest *const forest = present->forest;

    exchange_worlds(forest);
    if (present->count != 0) {
        present_list(present);
    }
    present->has_overflowed =
        (present->has_overflowed || forest->presented.has_overflowed) && finds_overflow(forest);
    exchange_worlds(forest);
}

// Note that each node was presented. New ones are among those whose own data changed since the last present.
static void end_unshown(espl__forest *forest)
{
    const espl__plane *const own = espl__own_plane(forest);
    const uint32_t since = forest->presented.moment;
    const uint32_t blocks = espl__plane_blocks(forest->end);

    for (uint32_t block = espl__plane_next(own, 0, blocks, since); block < blocks;
         block = espl__plane_next(own, block + 1, blocks, since)) {
        const uint32_t first = block * ESPL__PLANE_BLOCK, left = forest->end - first;

        memset(&forest->tracks.is_unshown[first], 0,
               (left < ESPL__PLANE_BLOCK ? left : ESPL__PLANE_BLOCK) * sizeof(bool));
    }
}

void espl__present_end(const espl__present *present)
{
    espl__presented *const last = &present->forest->presented;

    if (last->has_unshown) {
        end_unshown(present->forest);
    }
    last->moment = espl__forest_moment(present->forest);
    last->tick = present->forest->tracks.rolled;
    last->at = present->blend.at;
    last->has_ticked = false;
    last->has_unshown = false;
    last->has_overflowed = present->has_overflowed;
}

// --- Nodes that were made since ---

// Give the new nodes among the slots of a block their worlds. Another thread may read them, so that only what
// differs is stored.
static void complete_block(espl__forest *forest, const espl__tree *t, uint32_t block)
{
    espl_pose *const shown = forest->tracks.poses[ESPL__SHOWN];
    const uint32_t first = block * ESPL__PLANE_BLOCK;

    for (uint64_t changed =
             espl__plane_changed(espl__own_plane(forest), block, forest->presented.moment);
         changed != 0; changed &= changed - 1) {
        const uint32_t slot = first + espl__lowest_bit(changed);

        if (slot - t->base < t->used && forest->tracks.is_unshown[slot] &&
            !espl__pose_is_same(&shown[slot], &forest->world[slot])) {
            shown[slot] = forest->world[slot];
        }
    }
}

// Several threads may read the same tree: one completes it, and the others find nothing to do.
void espl__shown_complete(espl__forest *forest, const espl__tree *t)
{
    espl__presented *const last = &forest->presented;

    if (!atomic_load_explicit(&last->has_unshown, memory_order_relaxed)) {
        return;
    }
    while (atomic_exchange_explicit(&last->is_busy, true, memory_order_acquire)) {
    }
    for (uint32_t block = t->base / ESPL__PLANE_BLOCK;
         block * ESPL__PLANE_BLOCK < t->base + t->used; ++block) {
        complete_block(forest, t, block);
    }
    atomic_store_explicit(&last->is_busy, false, memory_order_release);
}

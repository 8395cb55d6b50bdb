// SPDX-License-Identifier: MIT
// The marks of jumps.h. Those of ESPL__PLANE_JUMP_TOP are of the present moment, because each change of the moment
// spreads them first.
#include "lib/tree/jumps.h"

#include "lib/base/bits.h"

void espl__note_jump(espl__forest *forest, uint32_t slot)
{
    espl__tracks *const tracks = &forest->tracks;

    if (!espl__plane_is_open(&tracks->planes[ESPL__PLANE_JUMP_TOP])) {
        return;
    }
    espl__tracks_mark(tracks, ESPL__PLANE_JUMP, slot);
    espl__tracks_mark(tracks, ESPL__PLANE_JUMP_TOP, slot);
    // Several jobs may write.
    if (!atomic_load_explicit(&tracks->has_jumps, memory_order_relaxed)) {
        atomic_store_explicit(&tracks->has_jumps, true, memory_order_relaxed);
    }
}

// Tell whether a node jumped by a write of its own.
static bool has_own_jump(const espl__plane *tops, uint32_t slot)
{
    return espl__plane_has_changed(tops, slot, tops->moment - 1);
}

// Mark what is below a node. What is below another one that jumped is marked from that.
static void spread_from(const espl__forest *forest, const espl__plane *tops, uint32_t top)
{
    bool enters = true;

    for (uint32_t slot = top;
         (slot = espl__next_in_walk(forest, slot, top, enters)) != ESPL__NO_SLOT;) {
        enters = !has_own_jump(tops, slot);
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_JUMP, slot);
    }
}

// Visit the slots that jumped: mark what is below them, or take their marks away.
static void visit_tops(const espl__forest *forest, const espl__plane *tops, bool takes_away)
{
    espl__plane_walk walk = {
        .planes = {tops}, .plane_count = 1, .items = forest->end, .since = tops->moment - 1};

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (; left != 0; left &= left - 1) {
            const uint32_t slot = walk.block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);

            if (takes_away) {
                espl__plane_unmark(tops, slot);
            } else if (espl__slot_has_node(forest, slot)) {
                spread_from(forest, tops, slot);
            }
        }
    }
}

void espl__jumps_spread_all(espl__forest *forest)
{
    const espl__plane *const tops = &forest->tracks.planes[ESPL__PLANE_JUMP_TOP];

    if (espl__plane_is_open(tops)) {
        visit_tops(forest, tops, false);
        visit_tops(forest, tops, true);
    }
    atomic_store_explicit(&forest->tracks.has_jumps, false, memory_order_relaxed);
}

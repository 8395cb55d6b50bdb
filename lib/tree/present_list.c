// SPDX-License-Identifier: MIT
// The list of present_list.h. Stamps of own data name the slots. They may name slots of free ranges, holes
// and slots that no node has yet, which are removed when their trees are looked up.
#include "lib/tree/present_list.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/base/scratch.h"
#include "lib/math/wide.h"
#include "lib/tree/levels.h"

#include <string.h>

// --- What changed ---

// Return which slots of a block are listed, as bits.
static inline uint64_t listed_in(const espl__present *present, uint32_t block)
{
    const espl__forest *const forest = present->forest;
    const uint32_t first = block * ESPL__PLANE_BLOCK, left = forest->end - first;
    const uint64_t changed = espl__plane_changed(espl__own_plane(forest), block, present->since);

    return left < ESPL__PLANE_BLOCK ? changed & ((UINT64_C(1) << left) - 1) : changed;
}

// Count the listed slots of a block that have kept parts.
static size_t count_kept(const espl__forest *forest, uint32_t block, uint64_t listed)
{
    size_t count = 0;

    for (; listed != 0; listed &= listed - 1) {
        const uint32_t slot = block * ESPL__PLANE_BLOCK + espl__lowest_bit(listed);

        count += espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) ? 1 : 0;
    }
    return count;
}

// Append the listed slots of a block. @return behind them.
static uint32_t *append_block(uint32_t *to, uint32_t block, uint64_t listed)
{
    const uint32_t first = block * ESPL__PLANE_BLOCK;

    if (listed == UINT64_MAX) {
        for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
            to[i] = first + i;
        }
        return to + ESPL__PLANE_BLOCK;
    }
    for (; listed != 0; listed &= listed - 1) {
        *to++ = first + espl__lowest_bit(listed);
    }
    return to;
}

// List the slots that a present visits, as many as there is room for, and count all of them.
static size_t list_slots(espl__present *present, uint32_t *slots, size_t room)
{
    const espl__forest *const forest = present->forest;
    const espl__plane *const own = espl__own_plane(forest);
    const uint32_t blocks = espl__plane_blocks(forest->end);
    size_t count = 0;

    present->kept_count = 0;
    for (uint32_t block = espl__plane_next(own, 0, blocks, present->since); block < blocks;
         block = espl__plane_next(own, block + 1, blocks, present->since)) {
        const uint64_t listed = listed_in(present, block);

        // Once there is no room for a block, there is none for a later one.
        if (count + ESPL__PLANE_BLOCK <= room) {
            count = (size_t)(append_block(slots + count, block, listed) - slots);
        } else {
            room = 0;
            count += espl__count_bits(listed);
        }
        if (espl__forest_has_sides(forest)) {
            present->kept_count += count_kept(forest, block, listed);
        }
    }
    present->is_listed = room != 0;
    return count;
}

// Since the last present a tick may have begun. Then every slot may have got another previous local that was
// written after the tick before it began. Else only what is between two poses changes with the time. All of
// these are listed, also where the time is that of the last present, because a propagation from another
// slot may visit them, and must find their blends.
void espl__present_begin(espl__present *present, espl__forest *forest, float at,
                         const espl__scratch *scratch)
{
    const espl__presented *const last = &forest->presented;
    const uint32_t blocks = espl__plane_blocks(forest->end);
    const espl__plane *const own = espl__own_plane(forest);

    ESPL_CHECK(espl__plane_is_open(own) && espl__forest_has_motion(forest) &&
               !espl__forest_is_edited(forest));
    *present = (espl__present){.forest = forest,
                               .blend = espl__blend_at(at),
                               .since = last->tick,
                               .leaves_rested = !last->has_ticked};
    if (last->has_ticked || at != last->at ||
        espl__plane_next(own, 0, blocks, last->moment) != blocks) {
        present->count =
            list_slots(present, scratch->block, scratch->size / sizeof *present->slots);
    }
}

// The slots come first, where espl__present_begin() lists them.
size_t espl__present_place(espl__present *present, unsigned char *block)
{
    // A block of the plane more, because blocks are appended as a whole.
    const size_t slots = present->count + ESPL__PLANE_BLOCK;
    size_t at = 0;

    present->slots = espl__carve(block, &at, slots, sizeof *present->slots, 64);
    present->saved = espl__carve(block, &at, present->count, sizeof *present->saved, 64);
    present->saved_kept =
        espl__carve(block, &at, present->kept_count, sizeof *present->saved_kept, 16);
    return at;
}

void espl__present_list(espl__present *present)
{
    const size_t count = list_slots(present, present->slots, present->count + ESPL__PLANE_BLOCK);

    ESPL_CHECK(count == present->count && present->is_listed);
    (void)count;
}

// --- Trees of listed slots ---

// Tell whether a node has a previous local, or previous kept parts, that differ.
static inline bool is_between(const espl__forest *forest, uint32_t slot)
{
    const espl_pose *const previous = &forest->tracks.poses[ESPL__PREVIOUS][slot];

    if (!espl__wide_is_same(espl__wide_load(previous), espl__wide_load(&forest->local[slot]))) {
        return !espl__pose_is_marker(previous);
    }
    if (!espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        return false;
    }
    const espl__kept kept = espl__slot_kept(forest, slot);

    return !espl__pose_is_same(espl__slot_past_kept(forest, ESPL__PREVIOUS, slot), &kept.pose);
}

// Tell whether a listed slot of a tree is to be visited.
static inline bool is_wanted(const espl__present *present, const espl__tree *t, uint32_t slot)
{
    const espl__forest *const forest = present->forest;

    if (t->used != t->live && forest->links[slot].entity == ESPL__NO_ENTITY) {
        return false;
    }
    return !present->leaves_rested || is_between(forest, slot) ||
           espl__plane_has_changed(espl__own_plane(forest), slot,
                                   espl__present_visits_since(present));
}

// Keep the wanted slots of one tree, from index `to` on. @return the index behind them.
static size_t keep_wanted(const espl__present *present, const espl__tree *t, uint32_t *slots,
                          size_t to, size_t begin, size_t end)
{
    if (t->used == t->live && !present->leaves_rested) {
        if (to != begin) {
            memmove(slots + to, slots + begin, (end - begin) * sizeof *slots);
        }
        return to + (end - begin);
    }
    for (size_t i = begin; i < end; ++i) {
        const uint32_t slot = slots[i];

        slots[to] = slot;
        to += is_wanted(present, t, slot) ? 1 : 0;
    }
    return to;
}

// Prefetch what the removal reads of the tree of a later slot, and what its blend reads.
static inline void prefetch_slots(const espl__forest *forest, const uint32_t *slots, size_t at,
                                  size_t count)
{
    enum { HEADER_AHEAD = 8, NUMBER_AHEAD = 16 };

    if (NUMBER_AHEAD < count - at) {
        espl__prefetch(&forest->tree[slots[at + NUMBER_AHEAD]]);
    }
    if (HEADER_AHEAD < count - at) {
        const uint32_t slot = slots[at + HEADER_AHEAD];

        espl__prefetch_element(forest->trees, forest->tree[slot], sizeof *forest->trees);
        espl__prefetch(&forest->tracks.poses[ESPL__PREVIOUS][slot]);
        espl__prefetch_to_write(&forest->local[slot]);
    }
}

size_t espl__present_clean(const espl__present *present, uint32_t *slots, size_t count,
                           bool skips_large, espl__present_run *runs)
{
    const espl__forest *const forest = present->forest;
    const bool is_far = espl__forest_is_far(forest);
    size_t kept = 0;

    for (size_t at = 0; at < count;) {
        const espl__tree *const t = espl__tree_at(forest, slots[at]);
        const size_t begin = at, before = kept;

        if (is_far) {
            prefetch_slots(forest, slots, at, count);
        }
        if (t == NULL) {
            at += 1;
            continue;
        }
        at = espl__listed_end(slots, begin, count, t);
        if (skips_large && espl__tree_is_parallel(forest, t)) {
            continue;
        }
        kept = keep_wanted(present, t, slots, kept, begin, at);
        if (runs != NULL && kept != before) {
            *runs++ = (espl__present_run){(uint32_t)(t - forest->trees), (uint32_t)(kept - before)};
        }
    }
    return kept;
}

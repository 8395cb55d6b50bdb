// SPDX-License-Identifier: MIT
// The blocks of present_blocks.h.
//
// Why a present is complete: a shown world follows from the own data of the node and from what its parent
// shows. A slot is listed if its own data changed since it was shown, or if its local is blended. Below it,
// worlds are propagated while they change, and from a slot that stays equal to its children alone.
#include "lib/tree/present_blocks.h"

#include "lib/base/prefetch.h"
#include "lib/tree/present_list.h"

// --- Blends ---

void espl__present_blend(const espl__present *present, espl_pose *saved, const uint32_t *slots,
                         size_t count)
{
    espl__forest *const forest = present->forest;
    const espl_pose *const previous = forest->tracks.poses[ESPL__PREVIOUS];

    if (present->blend.range == ESPL__BLEND_END) {
        return;
    }
    if (present->blend.range == ESPL__BLEND_INSIDE) {
        forest->kernels->blend(forest->local, saved, previous, slots, (uint32_t)count,
                               &present->blend);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        espl_pose *const local = &forest->local[slots[i]];

        saved[i] = *local;
        *local = espl__pose_blend(&present->blend, &previous[slots[i]], &saved[i]);
    }
}

void espl__present_restore(const espl__present *present, const espl_pose *saved,
                           const uint32_t *slots, size_t count)
{
    espl_pose *const locals = present->forest->local;

    if (present->blend.range == ESPL__BLEND_END) {
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        espl__wide_store(&locals[slots[i]], espl__wide_load(&saved[i]));
    }
}

// Return the address of the kept parts of a slot.
static inline espl_pose *kept_pose_at(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(forest, slot);

    return &espl__side_kept(espl__side_of_slot(forest, slot))[slot - t->base].pose;
}

// Save the kept parts of slots, and store the blends in their place. @return the number of saved parts.
static size_t blend_kept(const espl__present *present, espl__saved_kept *saved,
                         const uint32_t *slots, size_t count)
{
    const espl__forest *const forest = present->forest;
    size_t done = 0;

    if (!espl__forest_has_sides(forest) || present->blend.range == ESPL__BLEND_END) {
        return 0;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = slots[i];

        if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
            !espl__pose_is_marker(&forest->tracks.poses[ESPL__PREVIOUS][slot])) {
            espl_pose *const kept = kept_pose_at(forest, slot);

            saved[done++] = (espl__saved_kept){slot, *kept};
            *kept = espl__pose_blend(&present->blend,
                                     espl__slot_past_kept(forest, ESPL__PREVIOUS, slot), kept);
        }
    }
    return done;
}

static void restore_kept(const espl__present *present, const espl__saved_kept *saved, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        *kept_pose_at(present->forest, saved[i].slot) = saved[i].pose;
    }
}

// --- Propagation ---

void espl__present_part_begin(espl__present_part *part, const espl__present *present, size_t first,
                              size_t kept)
{
    part->present = present;
    part->context = (espl__context){.is_present = true, .is_job = true};
    part->trees.count = 0;
    part->saved = present->saved != NULL ? present->saved + first : NULL;
    part->saved_kept = present->saved_kept != NULL ? present->saved_kept + kept : NULL;
    part->limit = NULL;
    part->blended = 0;
}

void espl__present_part_end(const espl__present_part *part, espl__present *present)
{
    present->blended += part->blended;
    present->visited += (size_t)part->context.counts.nodes_visited;
    present->has_overflowed = present->has_overflowed || part->context.has_overflowed;
}

// Recompute the children of a slot whose shown world stays equal now. They may differ for two reasons: its
// stretch changed, which its pose does not show, and with it the positions of its children, and those below
// each child that copies it. Or it keeps its world, so that it ended the propagation from above that
// recomputed it. A copy that this present visits for its own change is looked at by itself, so that chains of
// copies cost no more than their length.
static void follow_children(espl__present_part *part, uint32_t top)
{
    espl__forest *const forest = part->present->forest;
    const uint32_t since = espl__present_visits_since(part->present);
    bool enters = true;

    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        const bool is_changed = espl__propagate_node(forest, &part->context, slot);

        if (is_changed) {
            espl__propagate_below(forest, &part->context, slot);
        }
        enters = !is_changed && espl__slot_copies(forest, slot) &&
                 !espl__plane_has_changed(espl__own_plane(forest), slot, since);
    }
}

// Recompute the world of a slot, and the worlds below it that follow from it.
static void follow_slot(espl__present_part *part, uint32_t slot)
{
    espl__forest *const forest = part->present->forest;

    if (espl__propagate_node(forest, &part->context, slot)) {
        espl__propagate_below(forest, &part->context, slot);
    } else if (forest->links[slot].first_child != ESPL__NO_SLOT) {
        follow_children(part, slot);
    }
}

// Tell whether one pass over a tree from its lowest listed slot on costs less than a propagation for each.
// From the root on it does in any case.
static inline bool sweeps(const espl__forest *forest, const espl__tree *t, uint32_t lowest,
                          size_t count)
{
    enum { SHARE = 4 };

    return espl__tree_is_single(forest, t) &&
           (lowest == t->base || (count > 1 && count > (t->base + t->used - lowest) / SHARE));
}

// Recompute the worlds of a tree from its root on. The root is stored here, because most trees that move do
// so by their roots, and the propagation below it looks for worlds that are not finite there alone.
static inline void follow_from_root(espl__present_part *part, uint32_t tree, const espl__tree *t)
{
    espl__forest *const forest = part->present->forest;
    espl__context *const context = &part->context;
    const espl__wide_pose local = espl__wide_load(&forest->local[t->base]);

    context->has_overflowed =
        context->has_overflowed || !espl__wide_found_nothing(espl__wide_nonfinite(local));
    if (context->batch == NULL || !espl__tree_can_batch(forest, t)) {
        espl__tree_follow(forest, context, tree, t->base);
        return;
    }
    espl__world_put_wide(espl__worlds_of(forest), t->base, local);
    espl__worlds_stored(espl__worlds_of(forest), t->base, t->base + t->used);
    context->counts.nodes_visited += t->live;
    espl__tree_batch_add(forest, context, t->base + 1, t->base + t->used);
}

// Slots ascend, so that one below another comes after it and finds its world final. So each world is
// recomputed a bounded number of times.
static ESPL__APART void follow_slots(espl__present_part *part, const uint32_t *slots, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        follow_slot(part, slots[i]);
    }
}

// espl__present_follow(), inline in the blocks.
ESPL__INLINE void follow_run(espl__present_part *part, uint32_t tree, const uint32_t *slots,
                             size_t count)
{
    espl__forest *const forest = part->present->forest;
    const espl__tree *const t = &forest->trees[tree];

    if (!sweeps(forest, t, slots[0], count)) {
        follow_slots(part, slots, count);
    } else if (slots[0] == t->base) {
        follow_from_root(part, tree, t);
    } else {
        espl__tree_follow(forest, &part->context, tree, slots[0]);
    }
}

void espl__present_follow(espl__present_part *part, const uint32_t *slots, size_t count)
{
    follow_run(part, part->present->forest->tree[slots[0]], slots, count);
}

// --- Blocks ---

// Present a long tree that is swept, block by block.
static void sweep_blocks(espl__present_part *part, const espl__tree *t, const uint32_t *slots,
                         size_t count)
{
    espl__forest *const forest = part->present->forest;
    const uint32_t tree = forest->tree[slots[0]];
    uint32_t final = slots[0];

    for (size_t at = 0; at < count;) {
        const size_t end = count - at < 2 * ESPL__PRESENT_BLOCK ? count : at + ESPL__PRESENT_BLOCK;
        const uint32_t limit = end == count ? t->base + t->used : slots[end];

        espl__present_blend(part->present, part->saved, slots + at, end - at);
        const size_t kept = blend_kept(part->present, part->saved_kept, slots + at, end - at);

        if (final == t->base) {
            (void)espl__propagate_node(forest, &part->context, final);
            final += 1;
        }
        espl__sweep(forest, &part->context, tree, final, limit);
        restore_kept(part->present, part->saved_kept, kept);
        espl__present_restore(part->present, part->saved, slots + at, end - at);
        final = limit;
        at = end;
    }
}

// Prefetch what the blend of some slots of the next block reads, while this block is propagated: every second
// one, because neighbours share a cache line. @return behind them.
static const uint32_t *prefetch_ahead(const espl__present_part *part, const uint32_t *slots,
                                      size_t count)
{
    const espl__forest *const forest = part->present->forest;
    const size_t left = (size_t)(part->limit - slots);
    const size_t end = count < left ? count : left;

    for (size_t i = 0; i < end; i += 2) {
        espl__prefetch(&forest->tracks.poses[ESPL__PREVIOUS][slots[i]]);
        espl__prefetch_to_write(&forest->local[slots[i]]);
    }
    return slots + end;
}

// Blend, propagate and restore a block of whole trees.
// @param ahead  the slots of the part behind the block; NULL: the pool is in the cache.
static void present_runs(espl__present_part *part, const uint32_t *slots, size_t count,
                         const espl__present_run *runs, const uint32_t *ahead)
{
    const espl__present *const present = part->present;

    espl__present_blend(present, part->saved, slots, count);
    const size_t kept = blend_kept(present, part->saved_kept, slots, count);

    part->context.batch = &part->trees;
    for (size_t at = 0; at < count; at += runs++->count) {
        follow_run(part, runs->tree, slots + at, runs->count);
        if (ahead != NULL) {
            ahead = prefetch_ahead(part, ahead, runs->count);
        }
    }
    espl__tree_batch_finish(present->forest, &part->context, &part->trees);
    restore_kept(present, part->saved_kept, kept);
    espl__present_restore(present, part->saved, slots, count);
}

// Present a block of whole trees, after the slots that are not to be visited are removed from it. A block is
// long where it has one tree alone.
static void present_block(espl__present_part *part, uint32_t *slots, size_t listed,
                          bool skips_large)
{
    espl__present_run runs[ESPL__PRESENT_BLOCK];
    const espl__forest *const forest = part->present->forest;
    const size_t count = espl__present_clean(part->present, slots, listed, skips_large, runs);

    if (count == 0) {
        return;
    }
    const espl__tree *const first = &forest->trees[runs[0].tree];

    part->blended += count;
    if (count > ESPL__PRESENT_BLOCK && sweeps(forest, first, slots[0], count)) {
        sweep_blocks(part, first, slots, count);
    } else {
        present_runs(part, slots, count, runs, espl__forest_is_far(forest) ? slots + listed : NULL);
    }
}

// Return the end of a block that begins at an index: whole trees, of one tree where it is long.
static size_t end_of_block(const espl__present *present, size_t at, size_t end)
{
    const uint32_t *const slots = present->slots;

    if (end - at <= ESPL__PRESENT_BLOCK) {
        return end;
    }
    size_t cut = at + ESPL__PRESENT_BLOCK;
    const espl__tree *const t = espl__tree_at(present->forest, slots[cut]);

    while (t != NULL && cut > at && slots[cut - 1] >= t->base) {
        cut -= 1;
    }
    return t != NULL && cut == at ? espl__listed_end(slots, at, end, t) : cut;
}

void espl__present_slots(espl__present_part *part, size_t begin, size_t end, bool skips_large)
{
    const espl__present *const present = part->present;

    part->limit = present->slots + end;
    while (begin < end) {
        const size_t cut = end_of_block(present, begin, end);

        ESPL_CHECK(cut > begin && cut <= end);
        present_block(part, present->slots + begin, cut - begin, skips_large);
        begin = cut;
    }
}

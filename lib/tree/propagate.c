// SPDX-License-Identifier: MIT
#include "lib/tree/propagate.h"

#include "lib/math/lanes.h"

// --- One node ---

espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT) {
        return forest->local[slot];
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_BARE)) {
        return forest->world[parent];
    }
    const espl__placement placement = espl__slot_placement(forest, slot);
    const espl__frame up = espl__slot_frame(forest, parent);

    return espl__placement_world(&placement, &up);
}

// What a node that copies its parent shows beside the pose. @return whether its children see a change.
static bool copy_extra(espl__forest *forest, uint32_t slot)
{
    const espl__extra shown = espl__slot_extra(forest, forest->parent[slot]);
    const espl__tree *const t = espl__tree_of(forest, slot);

    if (t->side == NULL) {
        return false;
    }
    espl__extra *const extra = &t->side->extra[slot - t->base];
    const bool is_same = memcmp(extra->stretch, shown.stretch, sizeof shown.stretch) == 0;

    *extra = shown;
    if (!is_same) {
        espl__children_update_exceptional(forest, slot);
    }
    return !is_same;
}

static bool propagate_exceptional(espl__forest *forest, uint32_t slot)
{
    const espl_pose before = forest->world[slot];
    const bool is_new_frame = espl__slot_copies(forest, slot) && copy_extra(forest, slot);

    forest->world[slot] = espl__world_expected(forest, slot);
    return is_new_frame || !espl__pose_is_same(&before, &forest->world[slot]);
}

bool espl__propagate_node(espl__forest *forest, espl__context *context, uint32_t slot)
{
    bool is_changed = true;

    context->counts.nodes_visited += 1;
    if (espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
        is_changed = propagate_exceptional(forest, slot);
    } else {
        const espl__laned before = espl__laned_load(&forest->world[slot]);
        const espl__laned world =
            espl__laned_compose(espl__laned_load(&forest->world[forest->parent[slot]]),
                                espl__laned_load(&forest->local[slot]));

        espl__laned_store(&forest->world[slot], world);
        is_changed = !espl__lane_bits_are_zero(espl__laned_differ(before, world));
    }
    context->counts.overflowed += espl__pose_is_finite(&forest->world[slot]) ? 0 : 1;
    return is_changed;
}

// --- Below a node, by links ---

void espl__propagate_by_links(espl__forest *forest, espl__context *context, uint32_t top)
{
    forest->flags[top] &= (uint8_t)~ESPL__SLOT_STALE;
    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        (void)espl__propagate_node(forest, context, slot);
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    }
}

void espl__propagate_user_data(espl__forest *forest, uint32_t top)
{
    bool enters = true;

    if (espl__tree_of(forest, top)->exceptional == 0 &&
        forest->tree[top] != forest->nursery) {
        return;
    }
    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = espl__slot_copies(forest, slot);
        if (enters) {
            (void)copy_extra(forest, slot);
        }
    }
}

// --- Ranges of slots ---

static void count_overflowed(const espl__forest *forest, espl__context *context, uint32_t begin,
                             uint32_t end)
{
    for (uint32_t slot = begin; slot < end; ++slot) {
        if (forest->links[slot].entity != ESPL__NO_ENTITY &&
            !espl__pose_is_finite(&forest->world[slot])) {
            context->counts.overflowed += 1;
        }
    }
}

// Slots without an exceptional one. A few are composed one by one, because a wide batch costs more.
static void compose_plain(espl__forest *forest, espl__context *context, uint32_t begin,
                          uint32_t end)
{
    if (begin < end && forest->kernels->compose(forest->world, forest->local, forest->parent, begin,
                                                end) != 0) {
        count_overflowed(forest, context, begin, end);
    }
}

// The first exceptional slot from `begin` on, or end.
static uint32_t find_exceptional(const espl__forest *forest, uint32_t begin, uint32_t end)
{
    const uint64_t all = UINT64_C(0x0101010101010101) * ESPL__SLOT_EXCEPTIONAL;
    uint32_t slot = begin;

    for (; slot + 8 <= end; slot += 8) {
        uint64_t flags;

        memcpy(&flags, forest->flags + slot, sizeof flags);
        if ((flags & all) != 0) {
            break;
        }
    }
    while (slot < end && !espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
        slot += 1;
    }
    return slot;
}

static void compose_range(espl__forest *forest, espl__context *context, bool has_exceptional,
                          uint32_t begin, uint32_t end)
{
    for (uint32_t slot = begin; slot < end;) {
        const uint32_t next = has_exceptional ? find_exceptional(forest, slot, end) : end;

        compose_plain(forest, context, slot, next);
        if (next < end) {
            (void)propagate_exceptional(forest, next);
            context->counts.overflowed += espl__pose_is_finite(&forest->world[next]) ? 0 : 1;
        }
        slot = next < end ? next + 1 : end;
    }
}

void espl__sweep(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                 uint32_t end)
{
    const espl__tree *const t = &forest->trees[tree];

    compose_range(forest, context, t->exceptional != 0, begin, end);
    context->counts.nodes_visited += end - begin;
    if ((t->flags & ESPL__TREE_IN_ORDER) == 0) {
        espl__tree_owe(forest, context, tree, t->used - t->live);
    }
}

void espl__propagate_below(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];
    const espl__tree *const t = &forest->trees[tree];

    if (forest->links[slot].first_child == ESPL__NO_SLOT) {
        return;
    }
    if (slot == t->base && espl__tree_is_single(forest, t)) {
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
        espl__sweep(forest, context, tree, t->base + 1, t->base + t->used);
        return;
    }
    espl__propagate_by_links(forest, context, slot);
}

// SPDX-License-Identifier: MIT
// The rewind of a forest: slots, headers with their side arrays, and worlds.
#include "lib/value/rewind.h"

#include "lib/base/bits.h"
#include "lib/tree/propagate.h"

// Blocks of slots that the forest has, or the shadow.
static uint32_t blocks_of_both(const espl__shadow *shadow)
{
    const uint32_t now = shadow->world->forest.end, then = shadow->numbers.slots;

    return espl__plane_blocks(now > then ? now : then);
}

// Call a function for the noted slots, lowest first. It returns whether the slot stays noted.
static void each_noted_slot(espl__shadow *shadow, bool (*call)(espl__shadow *, uint32_t))
{
    const uint32_t blocks = blocks_of_both(shadow);

    for (uint32_t block = 0; block < blocks; ++block) {
        for (uint64_t left = shadow->near_slots[block]; left != 0; left &= left - 1) {
            const unsigned bit = espl__lowest_bit(left);
            const uint32_t slot = block * ESPL__PLANE_BLOCK + bit;

            if (slot >= espl__array_length(shadow->slots) || !call(shadow, slot)) {
                shadow->near_slots[block] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

// Headers that the forest has, or the shadow.
static uint32_t trees_of_both(const espl__shadow *shadow)
{
    const uint32_t now = shadow->world->forest.tree_end, then = shadow->numbers.trees;

    return now > then ? now : then;
}

// --- What differs ---

static bool has_side(const espl__shadow *shadow, uint32_t tree)
{
    return shadow->trees[tree].tree.side != 0;
}

// Tell whether a slot of the world differs from the shadow. Its entities are noted then, and its tree, where
// that has side arrays.
static bool differs(espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_slot *const then = &shadow->slots[slot];
    espl__shadow_slot now;

    espl__shadow_read_slot(forest, slot, &now);
    const bool is_node = espl__shadow_is_node(&now);
    bool is_other = memcmp(&now, then, sizeof now) != 0;

    if (!is_other && espl__array_length(shadow->sides) > slot) {
        const espl__shadow_side side = espl__shadow_read_side(forest, slot, is_node);

        is_other = memcmp(&side, &shadow->sides[slot], sizeof side) != 0;
    }
    if (!is_other && shadow->numbers.pasts != 0) {
        const espl__past past = espl__shadow_read_past(forest, slot, is_node);

        is_other = memcmp(&past, &shadow->pasts[slot], sizeof past) != 0;
    }
    if (is_other && is_node) {
        espl__rewind_note(shadow->near_records, now.links.entity);
    } else if (is_other) {
        shadow->world->forest.links[slot].entity = ESPL__NO_ENTITY; // whatever it was before
    }
    if (is_other && espl__shadow_is_node(then)) {
        espl__rewind_note(shadow->near_records, then->links.entity);
        shadow->touched[then->tree] = shadow->touched[then->tree] || has_side(shadow, then->tree);
    }
    return is_other;
}

static void compare_tree(espl__shadow *shadow, uint32_t number)
{
    espl__shadow_tree now;

    espl__shadow_read_tree(&shadow->world->forest, number, &now);
    shadow->touched[number] = memcmp(&now, &shadow->trees[number], sizeof now) != 0;
}

// Take a header out of the list of unsettled trees, and give its side arrays unless they are those of the
// shadow.
static void drop_other_side(espl__shadow *shadow, uint32_t number)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__tree *const then = &shadow->trees[number].tree;

    shadow->had_side[number] = false;
    if (number >= forest->tree_end) {
        if (number < shadow->numbers.trees) {
            forest->trees[number].side = 0;
        }
        return;
    }
    espl__tree *const now = &forest->trees[number];

    espl__tree_unmark_unsettled(forest, number);
    shadow->had_side[number] = now->side != 0;
    if (now->side != 0 && (now->side != then->side || now->capacity != then->capacity)) {
        espl__tree_free_side(forest, number);
    }
}

void espl__rewind_drop_nodes(espl__shadow *shadow)
{
    const uint32_t count = trees_of_both(shadow);

    for (uint32_t tree = 0; tree < count; ++tree) {
        if (shadow->touched[tree]) {
            compare_tree(shadow, tree);
        }
    }
    each_noted_slot(shadow, differs);
    for (uint32_t tree = 0; tree < count; ++tree) {
        if (shadow->touched[tree]) {
            drop_other_side(shadow, tree);
        }
    }
}

// --- Slots ---

// Say that a slot got another node, or none.
static void change_node(espl__forest *forest, uint32_t slot, const espl__shadow_slot *then)
{
    if (espl__shadow_is_node(then)) {
        espl__columns_make(&forest->columns, slot);
        espl__probe_node(&forest->columns, slot, then->links.entity);
    } else {
        espl__probe_clear(&forest->columns, slot);
    }
    if (espl__forest_has_motion(forest) && espl__shadow_is_node(then)) {
        forest->tracks.poses[ESPL__SHOWN][slot] = espl__pose_marker();
        espl__mark_unshown(forest, slot);
    }
}

static bool restore_node_at(espl__shadow *shadow, uint32_t slot)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_slot *const then = &shadow->slots[slot];
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    const uint32_t entity = espl__shadow_is_node(then) ? then->links.entity : ESPL__NO_ENTITY;

    if (slot >= forest->end) {
        return false;
    }
    if (forest->links[slot].entity != entity || entity == ESPL__NO_ENTITY) {
        change_node(forest, slot, then);
    }
    forest->parent[slot] = then->parent;
    forest->tree[slot] = then->tree;
    forest->links[slot] = then->links;
    forest->flags[slot] = (uint8_t)then->flags;
#if ESPL_CHECKS >= 2
    forest->lineage[slot] = then->lineage;
#endif
    if (then->kind == ESPL__SHADOW_NODE) {
        forest->local[slot] = then->local;
        for (uint32_t time = 0; time < pasts; ++time) {
            forest->tracks.poses[time][slot] = shadow->pasts[slot].local[time];
        }
    } else if (then->kind == ESPL__SHADOW_UNUSED) {
        forest->links[slot].entity = ESPL__NO_ENTITY;
    }
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
    return espl__shadow_is_node(then);
}

// --- Headers and side arrays ---

static void restore_tree(espl__shadow *shadow, uint32_t number)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_tree *const then = &shadow->trees[number];
    espl__tree *const header = &forest->trees[number];
    const espl__tree now = *header;
    const bool is_unsettled = (then->tree.flags & ESPL__TREE_UNSETTLED) != 0;

    *header = then->tree;
    header->side = now.side;
    header->side_number = now.side_number;
    if (then->tree.side != 0 && now.side == 0) {
        espl__tree_put_side(forest, number,
                            espl__side_take_back(forest, then->tree.capacity,
                                                 (then->tree.side & ESPL__HAS_KEPT) != 0));
    }
    if (is_unsettled) {
        header->flags &= ~(uint32_t)ESPL__TREE_UNSETTLED;
        espl__tree_mark_unsettled(forest, number);
    }
}

// The entry of a slot without a node is the default one.
static void restore_entry(espl__shadow *shadow, espl__side *side, uint32_t base, uint32_t at)
{
    const espl__shadow_side zeros = {0};
    const espl__shadow_side *const then = &shadow->sides[base + at];
    const bool is_default = memcmp(then, &zeros, sizeof zeros) == 0;

    side->extra[at] = is_default ? espl__extra_default() : then->extra;
    if (side->has_kept != 0) {
        espl__side_kept(side)[at] = is_default ? espl__kept_none() : then->kept;
    }
    for (int time = 0; time < side->past_count; ++time) {
        espl__side_past(side, time)[at] = is_default || then->kept.flags == 0
                                              ? espl__pose_identity()
                                              : shadow->pasts[base + at].kept[time];
    }
}

// Restore side arrays, and the flags of slots that follow from them. A node that copies its parent has
// the extra of the parent, whose slot is lower.
static void restore_side(espl__shadow *shadow, uint32_t number)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_tree *const then = &shadow->trees[number];
    const espl__tree *const header = &forest->trees[number];
    espl__side *const side = espl__side_of(forest, header);

    for (uint32_t at = 0; side != NULL && at < header->capacity; ++at) {
        restore_entry(shadow, side, header->base, at);
    }
    if (side != NULL) {
        side->extra_count = then->extra_count;
        side->kept_count = then->kept_count;
        side->is_prepaid = (uint16_t)then->is_prepaid;
    }
    for (uint32_t slot = header->base; slot < header->base + header->used; ++slot) {
        if (forest->links[slot].entity == ESPL__NO_ENTITY) {
            continue;
        }
        forest->flags[slot] = (uint8_t)((forest->flags[slot] & ~(unsigned)ESPL__SLOT_SIDE) |
                                        (side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0));
        if (side != NULL && forest->parent[slot] != ESPL__NO_SLOT &&
            espl__slot_copies(forest, slot)) {
            side->extra[slot - header->base] = espl__slot_extra(forest, forest->parent[slot]);
        }
        espl__rewind_note(shadow->near_slots, slot);
    }
}

// The headers count the exceptional nodes.
static bool restore_exceptional(espl__shadow *shadow, uint32_t slot)
{
    espl__forest *const forest = &shadow->world->forest;
    const unsigned flags = forest->flags[slot] & ~(unsigned)ESPL__SLOT_EXCEPTIONAL;

    forest->flags[slot] = (uint8_t)flags;
    if (espl__slot_is_exceptional(forest, slot)) {
        forest->flags[slot] = (uint8_t)(flags | ESPL__SLOT_EXCEPTIONAL);
    }
    return true;
}

static void restore_trees(espl__shadow *shadow)
{
    const uint32_t count = trees_of_both(shadow);

    for (uint32_t tree = 0; tree < count; ++tree) {
        if (shadow->touched[tree]) {
            restore_tree(shadow, tree);
        }
    }
}

// Unused slots have the number of their tree, too.
static void restore_unused(espl__forest *forest, uint32_t number)
{
    const espl__tree *const header = &forest->trees[number];

    for (uint32_t at = header->used; at < header->capacity; ++at) {
        forest->tree[header->base + at] = number;
    }
}

static void restore_sides(espl__shadow *shadow)
{
    const uint32_t count = trees_of_both(shadow);

    for (uint32_t tree = 0; tree < count; ++tree) {
        if (shadow->touched[tree]) {
            restore_unused(&shadow->world->forest, tree);
        }
        if (shadow->touched[tree] && (shadow->had_side[tree] || has_side(shadow, tree))) {
            restore_side(shadow, tree);
        }
    }
}

// --- Worlds ---

// Return how many of the slots [begin, end) are noted, and forget them.
static uint32_t take_notes(const espl__shadow *shadow, uint32_t begin, uint32_t end)
{
    uint32_t count = 0;

    for (uint32_t slot = begin; slot < end; ++slot) {
        uint64_t *const word = &shadow->near_slots[slot / ESPL__PLANE_BLOCK];

        if (slot % ESPL__PLANE_BLOCK == 0 && *word == 0) {
            slot += ESPL__PLANE_BLOCK - 1;
        } else if ((*word >> slot % ESPL__PLANE_BLOCK & 1) != 0) {
            *word &= ~(UINT64_C(1) << slot % ESPL__PLANE_BLOCK);
            count += 1;
        }
    }
    return count;
}

// Compute the worlds of a tree from its first slot on that has changed.
static void follow_changes(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const uint32_t number = forest->tree[slot];
    const espl__tree *const tree = &forest->trees[number];
    const uint32_t end = tree->base + tree->used;

    if ((tree->flags & ESPL__TREE_IN_ORDER) != 0 && espl__tree_is_single(forest, tree)) {
        if (slot == tree->base) {
            (void)espl__propagate_node(forest, context, slot);
            slot += 1;
        }
        if (slot < end) {
            espl__sweep(forest, context, number, slot, end);
        }
        return;
    }
    for (; slot < end; ++slot) {
        if (forest->links[slot].entity != ESPL__NO_ENTITY) {
            (void)espl__propagate_node(forest, context, slot);
        }
    }
}

// The notes of all slots end.
static void restore_worlds(espl__shadow *shadow)
{
    espl__forest *const forest = &shadow->world->forest;
    // As for a present: no debt. The counts are no statistics of the world.
    espl__context context = {.is_present = true};
    const uint32_t blocks = blocks_of_both(shadow);

    for (uint32_t block = 0; block < blocks; ++block) {
        while (shadow->near_slots[block] != 0) {
            const uint32_t slot =
                block * ESPL__PLANE_BLOCK + espl__lowest_bit(shadow->near_slots[block]);
            const espl__tree *const tree = espl__tree_of(forest, slot);

            (void)take_notes(shadow, slot, tree->base + tree->used);
            follow_changes(forest, &context, slot);
        }
    }
    forest->context.has_overflowed = context.has_overflowed || shadow->numbers.has_overflowed != 0;
}

// --- All ---

static void restore_lists(espl__shadow *shadow)
{
    espl__forest *const forest = &shadow->world->forest;

    for (uint32_t i = 0; i < ESPL__SIZE_CLASSES; ++i) {
        const uint64_t bit = UINT64_C(1) << i % 64;

        forest->free_heads[i] = shadow->heads[i];
        forest->free_bits[i / 64] = shadow->heads[i] != ESPL__NO_SLOT
                                        ? forest->free_bits[i / 64] | bit
                                        : forest->free_bits[i / 64] & ~bit;
    }
    forest->free_slots = shadow->numbers.free_slots;
    forest->free_tree = shadow->numbers.free_tree;
    forest->tree_end = shadow->numbers.trees;
    forest->end = shadow->numbers.slots;
    forest->tracks.is_ticking = shadow->numbers.is_ticking != 0;
}

void espl__rewind_nodes(espl__shadow *shadow)
{
    const uint32_t blocks = blocks_of_both(shadow), trees = trees_of_both(shadow);

    restore_lists(shadow);
    restore_trees(shadow);
    for (uint32_t block = blocks_of_both(shadow); block < blocks; ++block) {
        shadow->near_slots[block] = 0;
    }
    each_noted_slot(shadow, restore_node_at);
    restore_sides(shadow);
    for (uint32_t tree = 0; tree < trees; ++tree) {
        shadow->touched[tree] = false;
    }
    each_noted_slot(shadow, restore_exceptional);
    restore_worlds(shadow);
}

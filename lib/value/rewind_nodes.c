// SPDX-License-Identifier: MIT
// The rewind of a forest: slots, headers with their side arrays, and worlds.
#include "lib/value/rewind.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/tree/jumps.h"
#include "lib/tree/propagate.h"
#include "lib/tree/tree_batch.h"

enum { GATHERED_NOTES = 128, NOTES_AHEAD = 12 };

// Numbers of a set, the lowest first.
typedef struct notes {
    uint32_t numbers[GATHERED_NOTES + 64];
    uint32_t count;
} notes;

// Gather numbers from a word on. @return the word to go on with.
static uint32_t gather_notes(const espl__noted *noted, uint32_t word, notes *out)
{
    const uint32_t words = (uint32_t)espl__array_length(noted->words);

    out->count = 0;
    for (word = espl__noted_next(noted, word); word < words && out->count < GATHERED_NOTES;
         word = espl__noted_next(noted, word + 1)) {
        if (noted->words[word] == 0) {
            noted->groups[word / 64] &= ~(UINT64_C(1) << word % 64);
        }
        for (uint64_t left = noted->words[word]; left != 0; left &= left - 1) {
            out->numbers[out->count++] = word * 64 + espl__lowest_bit(left);
        }
    }
    return word;
}

// Prefetch what the world and the shadow have of a slot.
static void prefetch_slot(const espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;

    espl__prefetch(&shadow->slots[slot]);
    espl__prefetch_to_write(&forest->local[slot]);
    espl__prefetch_to_write(&forest->links[slot]);
    espl__prefetch_to_write(&forest->parent[slot]);
    espl__prefetch_to_write(&forest->tree[slot]);
    espl__prefetch_to_write(&forest->flags[slot]);
}

// Prefetch the header of the tree of a slot.
static void prefetch_header(const espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;
    const uint32_t tree = slot < forest->end ? forest->tree[slot] : ESPL__NO_TREE;

    if (tree < forest->tree_end) {
        espl__prefetch(&forest->trees[tree]);
    }
}

// Call a function for the numbers of a set, lowest first. It returns whether the number stays in the set.
static void each_kept(espl__shadow *shadow, const espl__noted *noted,
                      bool (*call)(espl__shadow *, uint32_t))
{
    const uint32_t words = (uint32_t)espl__array_length(noted->words);
    const bool is_of_slots = noted == &shadow->noted_slots;
    notes all = {.count = 1};

    for (uint32_t word = 0; word < words && all.count != 0;) {
        word = gather_notes(noted, word, &all);
        for (uint32_t i = 0; i < all.count; ++i) {
            if (is_of_slots && i + NOTES_AHEAD < all.count) {
                prefetch_slot(shadow, all.numbers[i + NOTES_AHEAD]);
                prefetch_header(shadow, all.numbers[i + NOTES_AHEAD / 2]);
            }
            if (!call(shadow, all.numbers[i])) {
                espl__noted_remove(noted, all.numbers[i]);
            }
        }
    }
}

// --- What differs ---

static bool has_side(const espl__shadow *shadow, uint32_t tree)
{
    return shadow->trees[tree].tree.side != 0;
}

// Tell whether a slot of the world differs from the shadow in anything but locals.
static bool is_other(const espl__shadow *shadow, uint32_t slot, const espl__shadow_slot *now)
{
    const espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_slot *const then = &shadow->slots[slot];
    const bool is_node = espl__shadow_is_node(now);

    // A slot of a free range may have any entity, and an unused one of a tree has none.
    if (memcmp(&now->links, &then->links, sizeof *now - offsetof(espl__shadow_slot, links)) != 0 ||
        (then->kind == ESPL__SHADOW_UNUSED && slot < shadow->numbers.slots &&
         forest->links[slot].entity != ESPL__NO_ENTITY)) {
        return true;
    }
    if (espl__array_length(shadow->sides) > slot) {
        const espl__shadow_side side = espl__shadow_read_side(forest, slot, is_node);

        if (memcmp(&side, &shadow->sides[slot], sizeof side) != 0) {
            return true;
        }
    }
    if (shadow->numbers.pasts != 0) {
        const espl__past past = espl__shadow_read_past(forest, slot, is_node);

        return memcmp(past.kept, shadow->pasts[slot].kept, sizeof past.kept) != 0;
    }
    return false;
}

// Restore the cell of a root.
static void restore_cell(const espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;

    if (espl__forest_has_cells(forest) && espl__is_root(forest, slot) &&
        !espl__cell_is_same(forest->tracks.cells[slot], shadow->cells[slot])) {
        espl__cell_store(forest, slot, shadow->cells[slot]);
    }
}

// Restore the local of a node, and the previous locals that motion keeps. @return whether one of them differed.
static bool restore_locals(const espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    const espl_pose *const then = &shadow->slots[slot].local;
    bool had_others = memcmp(&forest->local[slot], then, sizeof *then) != 0;

    forest->local[slot] = *then;
    for (uint32_t time = 0; time < pasts; ++time) {
        espl_pose *const past = &forest->tracks.poses[time][slot];
        const espl_pose *const past_then = &shadow->pasts[slot].local[time];

        had_others = had_others || memcmp(past, past_then, sizeof *past) != 0;
        *past = *past_then;
    }
    return had_others;
}

// Note both entities of a slot that differs, unless they are the same, and its tree if that has side arrays.
static void note_other(espl__shadow *shadow, uint32_t slot, const espl__shadow_slot *now)
{
    const espl__shadow_slot *const then = &shadow->slots[slot];
    const bool is_node = espl__shadow_is_node(now), was_node = espl__shadow_is_node(then);
    const bool had_another = !is_node || !was_node || now->links.entity != then->links.entity;

    if (!is_node) {
        shadow->world->forest.links[slot].entity =
            ESPL__NO_ENTITY; // a slot of a free range may have had any
    } else if (had_another) {
        espl__noted_add(&shadow->noted_records, now->links.entity);
    }
    if (was_node && had_another) {
        espl__noted_add(&shadow->noted_records, then->links.entity);
    }
    if (was_node && has_side(shadow, then->tree)) {
        espl__noted_add(&shadow->noted_trees, then->tree);
    }
}

// Tell whether more than the locals of a slot differs from the shadow. Locals that differ alone are restored here.
static bool differs(espl__shadow *shadow, uint32_t slot)
{
    const espl__forest *const forest = &shadow->world->forest;
    espl__shadow_slot now;

    if (slot >= forest->capacity) {
        return false;
    }
    espl__shadow_read_slot(forest, slot, &now);
    if (is_other(shadow, slot, &now)) {
        note_other(shadow, slot, &now);
        return true;
    }
    if (espl__shadow_is_node(&now)) {
        restore_cell(shadow, slot);
    }
    if (espl__shadow_is_node(&now) && restore_locals(shadow, slot)) {
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
        espl__noted_add(&shadow->noted_moved, slot);
    }
    return false;
}

static bool differs_tree(espl__shadow *shadow, uint32_t number)
{
    espl__shadow_tree now;

    espl__shadow_read_tree(&shadow->world->forest, number, &now);
    return memcmp(&now, &shadow->trees[number], sizeof now) != 0;
}

// Take a header out of the list of unsettled trees, and give its side arrays unless they are those of the
// shadow.
static bool drop_other_side(espl__shadow *shadow, uint32_t number)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__tree *const then = &shadow->trees[number].tree;

    shadow->had_side[number] = false;
    if (number >= forest->tree_end) {
        if (number < shadow->numbers.trees) {
            forest->trees[number].side = 0;
        }
        return true;
    }
    espl__tree *const now = &forest->trees[number];

    espl__tree_unmark_unsettled(forest, number);
    shadow->had_side[number] = now->side != 0;
    if (now->side != 0 && (now->side != then->side || now->capacity != then->capacity)) {
        espl__tree_free_side(forest, number);
    }
    return true;
}

void espl__rewind_drop_nodes(espl__shadow *shadow)
{
    each_kept(shadow, &shadow->noted_trees, differs_tree);
    each_kept(shadow, &shadow->noted_slots, differs);
    each_kept(shadow, &shadow->noted_trees, drop_other_side);
}

// --- Slots ---

// Say that a slot got another node, or none. The cell of the node may be that which the slot has, and another one
// than the node had elsewhere.
static void change_node(espl__forest *forest, uint32_t slot, const espl__shadow_slot *then)
{
    if (espl__shadow_is_node(then)) {
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_CELL, slot);
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
    const uint32_t entity = espl__shadow_is_node(then) ? then->links.entity : ESPL__NO_ENTITY;

    if (slot >= forest->end) {
        // No slot is an end of a free range when it comes into the pool again. It may come without a node.
        forest->tree[slot] = 0;
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
        return false;
    }
    if (forest->links[slot].entity != entity || entity == ESPL__NO_ENTITY) {
        change_node(forest, slot, then);
    }
    forest->parent[slot] = then->parent;
    // An unused slot of a tree that stayed has its number; others may have any but that of an end of a free range.
    if (then->kind != ESPL__SHADOW_UNUSED || forest->tree[slot] == ESPL__NO_TREE) {
        forest->tree[slot] = then->tree;
    }
    forest->links[slot] = then->links;
    forest->flags[slot] = (uint8_t)then->flags;
#if ESPL_CHECKS >= 2
    forest->lineage[slot] = then->lineage;
#endif
    if (then->kind == ESPL__SHADOW_NODE) {
        (void)restore_locals(shadow, slot);
        restore_cell(shadow, slot);
    } else if (then->kind == ESPL__SHADOW_UNUSED) {
        forest->links[slot].entity = ESPL__NO_ENTITY;
    }
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
    return espl__shadow_is_node(then);
}

// --- Headers and side arrays ---

static bool restore_tree(espl__shadow *shadow, uint32_t number)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__shadow_tree *const then = &shadow->trees[number];

    if (number >= shadow->numbers.trees) {
        return false;
    }
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
    return true;
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
        espl__noted_add(&shadow->noted_slots, slot);
    }
}

// The headers count the exceptional nodes already. Slots leave noted_slots, and enter noted_moved.
static bool restore_exceptional(espl__shadow *shadow, uint32_t slot)
{
    espl__forest *const forest = &shadow->world->forest;
    const unsigned flags = forest->flags[slot] & ~(unsigned)ESPL__SLOT_EXCEPTIONAL;

    forest->flags[slot] = (uint8_t)flags;
    if (espl__slot_is_exceptional(forest, slot)) {
        forest->flags[slot] = (uint8_t)(flags | ESPL__SLOT_EXCEPTIONAL);
    }
    espl__noted_add(&shadow->noted_moved, slot);
    return false;
}

// Unused slots have the number of their tree, too.
static void restore_unused(espl__forest *forest, uint32_t number)
{
    const espl__tree *const header = &forest->trees[number];

    for (uint32_t at = header->used; at < header->capacity; ++at) {
        forest->tree[header->base + at] = number;
    }
}

// The notes of headers end.
static bool restore_contents(espl__shadow *shadow, uint32_t number)
{
    restore_unused(&shadow->world->forest, number);
    if (shadow->had_side[number] || has_side(shadow, number)) {
        restore_side(shadow, number);
    }
    return false;
}

// --- Worlds ---

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
            espl__tree_follow(forest, context, number, slot);
        }
        return;
    }
    for (; slot < end; ++slot) {
        if (forest->links[slot].entity != ESPL__NO_ENTITY) {
            (void)espl__propagate_node(forest, context, slot);
        }
    }
}

// Compute the worlds of the tree of a slot, unless a lower slot of the tree did.
static bool restore_world(espl__shadow *shadow, uint32_t slot)
{
    espl__forest *const forest = &shadow->world->forest;
    const espl__tree *const tree = espl__tree_of(forest, slot);

    if (slot >= shadow->followed) {
        follow_changes(forest, shadow->context, slot);
        shadow->followed = tree->base + tree->used;
    }
    return false;
}

static void restore_worlds(espl__shadow *shadow)
{
    espl__forest *const forest = &shadow->world->forest;
    // As for a present: no debt. The counts are no statistics of the world.
    espl__tree_batch trees = {0};
    espl__context context = {.is_present = true, .batch = &trees};

    shadow->context = &context;
    shadow->followed = 0;
    each_kept(shadow, &shadow->noted_moved, restore_world);
    espl__tree_batch_finish(forest, &context, &trees);
    shadow->context = NULL;
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
    espl__jumps_spread(&shadow->world->forest);
    restore_lists(shadow);
    each_kept(shadow, &shadow->noted_trees, restore_tree);
    each_kept(shadow, &shadow->noted_slots, restore_node_at);
    each_kept(shadow, &shadow->noted_trees, restore_contents);
    each_kept(shadow, &shadow->noted_slots, restore_exceptional);
    restore_worlds(shadow);
}

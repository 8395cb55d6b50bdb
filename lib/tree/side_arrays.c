// SPDX-License-Identifier: MIT
// The side arrays of trees, and the placement of one node, which may have parts in them. Owns the
// counts of a block and the flags ESPL__SLOT_SIDE and ESPL__SLOT_KEEPS. Edits and writes store
// placements by espl__slot_place() alone, after they made sure of the side arrays that the
// placement needs.
#include "lib/tree/forest.h"

#include <string.h>

enum { SIDE_ALIGNMENT = 16 };

// Return the bytes of a block. The other arrays follow `extra`, so that the block is one allocation.
static size_t side_size(uint32_t capacity, bool keeps, uint32_t pasts)
{
    const size_t kept = sizeof(espl__kept) + pasts * sizeof(espl_pose);
    const size_t entry = sizeof(espl__extra) + (keeps ? kept : 0);

    return sizeof(espl__side) + capacity * entry;
}

// Fill a new block. Entries are initialised, because holes and unused slots must have the default as well.
static espl__side *begin_side(espl__forest *forest, espl__side *side, uint32_t capacity, bool keeps,
                              uint32_t pasts)
{
    atomic_fetch_add_explicit(&forest->side_count, 1, memory_order_relaxed);
    ESPL_CHECK(capacity != 0);
    *side = (espl__side){
        .capacity = capacity, .has_kept = keeps ? 1 : 0, .past_count = keeps ? (uint8_t)pasts : 0};
    for (uint32_t i = 0; i < capacity; ++i) {
        side->extra[i] = espl__extra_default();
    }
    for (uint32_t i = 0; keeps && i < capacity; ++i) {
        espl__side_kept(side)[i] = espl__kept_none();
    }
    for (int number = 0; number < side->past_count; ++number) {
        for (uint32_t i = 0; i < capacity; ++i) {
            espl__side_past(side, number)[i] = espl__pose_identity();
        }
    }
    return side;
}

// Several jobs may make blocks at once, and free one that they replace; the last block is freed by no job.
static espl__side *make_side(espl__forest *forest, uint32_t capacity, bool keeps, uint32_t pasts)
{
    espl__side *const side = espl__heap_take_again(
        forest->heap, ESPL__FOR_TREE, side_size(capacity, keeps, pasts), SIDE_ALIGNMENT);

    return side != NULL ? begin_side(forest, side, capacity, keeps, pasts) : NULL;
}

espl__side *espl__side_make(espl__forest *forest, uint32_t capacity, bool keeps)
{
    return make_side(forest, capacity, keeps, espl__tracks_past_count(&forest->tracks));
}

espl__side *espl__side_take_back(espl__forest *forest, uint32_t capacity, bool keeps)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    espl__side *const side = espl__heap_take_back(
        forest->heap, ESPL__FOR_TREE, side_size(capacity, keeps, pasts), SIDE_ALIGNMENT);

    ESPL_CHECK(side != NULL);
    return begin_side(forest, side, capacity, keeps, pasts);
}

size_t espl__side_bytes(const espl__side *side)
{
    return side == NULL ? 0 : side_size(side->capacity, side->has_kept != 0, side->past_count);
}

void espl__side_free(espl__forest *forest, espl__side *side)
{
    if (side == NULL) {
        return;
    }
    espl__heap_retire(forest->heap, ESPL__FOR_TREE, side, espl__side_bytes(side), SIDE_ALIGNMENT);
    if (atomic_fetch_sub_explicit(&forest->side_count, 1, memory_order_relaxed) == 1) {
        espl__sides_release(forest);
    }
}

// --- The addresses of blocks ---

// The table of addresses and the list of free numbers are one block of memory.
static size_t table_size(uint32_t capacity)
{
    return capacity * (sizeof(espl__side *) + sizeof(uint32_t));
}

size_t espl__sides_bytes(const espl__forest *forest)
{
    return table_size(forest->side_capacity);
}

// Free numbers are taken from the end of their list, the lowest first.
bool espl__sides_reserve(espl__forest *forest, size_t count)
{
    enum { FIRST = 16 };
    const uint32_t old = forest->side_capacity;
    const uint32_t left = atomic_load_explicit(&forest->free_side_count, memory_order_relaxed);

    if (count != 0 && !espl__heap_grow(forest->heap, ESPL__GROWTH_SIDES, 0, forest->capacity)) {
        return false;
    }
    if (left >= count) {
        return true;
    }
    if (count > UINT32_MAX / 4) {
        return false;
    }
    const uint32_t lacking = (uint32_t)count - left, half = old / 2 + FIRST;
    const uint32_t more = lacking > half ? lacking : half, capacity = old + more;
    espl__side **const sides = espl__heap_take(forest->heap, ESPL__FOR_TREE, 1,
                                               table_size(capacity), sizeof(espl__side *));

    if (sides == NULL) {
        return false;
    }
    uint32_t *const numbers = (uint32_t *)(void *)(sides + capacity);

    if (old != 0) {
        memcpy(sides, forest->sides, old * sizeof(espl__side *));
    }
    for (uint32_t i = 0; i < more; ++i) {
        numbers[i] = capacity - 1 - i;
    }
    if (left != 0) {
        memcpy(numbers + more, forest->free_sides, left * sizeof *numbers);
    }
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->sides, 1, table_size(old),
                    sizeof(espl__side *));
    forest->sides = sides;
    forest->free_sides = numbers;
    forest->side_capacity = capacity;
    atomic_store_explicit(&forest->free_side_count, left + more, memory_order_relaxed);
    return true;
}

// Free the table.
static void release_table(espl__forest *forest)
{
    ESPL_CHECK(atomic_load_explicit(&forest->free_side_count, memory_order_relaxed) ==
               forest->side_capacity);
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->sides, 1,
                    table_size(forest->side_capacity), sizeof(espl__side *));
    forest->sides = NULL;
    forest->free_sides = NULL;
    forest->side_capacity = 0;
    atomic_store_explicit(&forest->free_side_count, 0, memory_order_relaxed);
}

void espl__sides_free(espl__forest *forest)
{
    ESPL_CHECK(atomic_load_explicit(&forest->side_count, memory_order_relaxed) == 0);
    if (forest->side_capacity != 0) {
        release_table(forest);
    }
}

void espl__sides_release(espl__forest *forest)
{
    // One that may be gone back to a forest with side arrays needs the table.
    if (forest->side_capacity != 0 && !forest->heap->retired.is_on &&
        atomic_load_explicit(&forest->side_count, memory_order_relaxed) == 0) {
        release_table(forest);
    }
}

// Jobs take numbers that were reserved, each its own; none gives one back.
void espl__tree_put_side(espl__forest *forest, uint32_t tree, espl__side *side)
{
    espl__tree *const header = &forest->trees[tree];

    if (side != NULL && header->side == 0) {
        const uint32_t left =
            atomic_fetch_sub_explicit(&forest->free_side_count, 1, memory_order_relaxed);

        ESPL_CHECK(left != 0 && left <= forest->side_capacity);
        header->side_number = forest->free_sides[left - 1];
    } else if (side == NULL && header->side != 0) {
        const uint32_t left =
            atomic_fetch_add_explicit(&forest->free_side_count, 1, memory_order_relaxed);

        ESPL_CHECK(left < forest->side_capacity);
        forest->free_sides[left] = header->side_number;
    }
    header->side = espl__side_contents(side);
    if (side != NULL) {
        forest->sides[header->side_number] = side;
    }
}

void espl__tree_free_side(espl__forest *forest, uint32_t tree)
{
    espl__side *const side = espl__side_of(forest, &forest->trees[tree]);

    // The number first, because the last block takes the table with it.
    espl__tree_put_side(forest, tree, NULL);
    espl__side_free(forest, side);
}

// --- The side arrays of a tree ---

void espl__tree_set_side(espl__forest *forest, uint32_t tree, espl__side *side)
{
    espl__tree *const header = &forest->trees[tree];
    espl__side *const old = espl__side_of(forest, header);

    ESPL_CHECK(side->capacity == header->capacity);
    ESPL_CHECK(side->extra_count == 0 && side->kept_count == 0);
    if (old != NULL) {
        // The new arrays differ from the old ones only by their room for inherit flags.
        ESPL_CHECK(old->has_kept == 0 && old->kept_count == 0);
        ESPL_CHECK(old->capacity == side->capacity);
        side->extra_count = old->extra_count;
        side->is_prepaid = old->is_prepaid;
        memcpy(side->extra, old->extra, old->capacity * sizeof *side->extra);
        espl__side_free(forest, old);
    }
    espl__tree_put_side(forest, tree, side);
    for (uint32_t i = 0; i < header->used; ++i) {
        forest->flags[header->base + i] |= ESPL__SLOT_SIDE;
    }
}

bool espl__tree_add_side(espl__forest *forest, uint32_t tree, bool keeps)
{
    const espl__tree *const header = &forest->trees[tree];

    if ((header->side & (keeps ? ESPL__HAS_KEPT : ESPL__HAS_SIDE)) != 0) {
        return true;
    }
    espl__side *const side = espl__sides_reserve(forest, header->side == 0 ? 1 : 0)
                                 ? espl__side_make(forest, header->capacity, keeps)
                                 : NULL;

    if (side == NULL) {
        return false;
    }
    espl__tree_set_side(forest, tree, side);
    ESPL_CHECK(espl__side_of(forest, header) == side && (side->has_kept != 0 || !keeps));
    return true;
}

// Return the side arrays of a tree where they have room for inherit flags; else NULL.
static espl__side *find_kept_side(const espl__forest *forest, uint32_t tree)
{
    const espl__tree *const header = &forest->trees[tree];
    espl__side *const side = header->capacity != 0 ? espl__side_of(forest, header) : NULL;

    return side != NULL && side->has_kept != 0 ? side : NULL;
}

// Copy the entries of a block to one of the same capacity, but for earlier kept parts.
static void copy_side(espl__side *to, espl__side *from)
{
    to->extra_count = from->extra_count;
    to->kept_count = from->kept_count;
    to->is_prepaid = from->is_prepaid;
    memcpy(to->extra, from->extra, from->capacity * sizeof *to->extra);
    memcpy(espl__side_kept(to), espl__side_kept(from), from->capacity * sizeof(espl__kept));
}

// Make the present kept parts of a block its earlier ones.
static void begin_pasts(espl__side *side)
{
    for (int number = 0; number < side->past_count; ++number) {
        for (uint32_t i = 0; i < side->capacity; ++i) {
            espl__side_past(side, number)[i] = espl__side_kept(side)[i].pose;
        }
    }
}

// All blocks are made before the first one is replaced, so that a failure changes nothing.
bool espl__sides_set_pasts(espl__forest *forest, uint32_t pasts)
{
    const size_t trees = forest->tree_end;
    bool is_done = true;
    uint32_t tree = 0;

    if (trees == 0) {
        return true;
    }
    espl__side **const made = espl__heap_take(forest->heap, ESPL__FOR_TREE, trees,
                                              sizeof(espl__side *), sizeof(espl__side *));

    if (made == NULL) {
        return false;
    }
    for (; is_done && tree < trees; ++tree) {
        const espl__side *const old = find_kept_side(forest, tree);
        const bool is_other = old != NULL && old->past_count != pasts;

        made[tree] = is_other ? make_side(forest, old->capacity, true, pasts) : NULL;
        is_done = !is_other || made[tree] != NULL;
    }
    while (tree > 0) {
        espl__side *const side = made[--tree], *const old = find_kept_side(forest, tree);

        if (!is_done) {
            espl__side_free(forest, side);
        } else if (old != NULL && side != NULL) {
            copy_side(side, old);
            begin_pasts(side);
            espl__tree_put_side(forest, tree, side);
            espl__side_free(forest, old);
        } else if (old != NULL) {
            begin_pasts(old);
        }
    }
    espl__heap_give(forest->heap, ESPL__FOR_TREE, made, trees, sizeof(espl__side *),
                    sizeof(espl__side *));
    return is_done;
}

// Called after any change that may have removed the last entry.
void espl__tree_drop_side(espl__forest *forest, uint32_t tree)
{
    espl__tree *const header = &forest->trees[tree];

    if (!espl__side_is_unneeded(espl__side_of(forest, header))) {
        return;
    }
    espl__tree_free_side(forest, tree);
    for (uint32_t i = 0; i < header->used; ++i) {
        forest->flags[header->base + i] &= (uint8_t)~ESPL__SLOT_SIDE;
    }
}

// --- One node ---

// Return 1 for a node with its own stretch or user data, other than the default. A node that copies
// its parent has none of its own.
static uint32_t own_extras(const espl__placement *placement, bool is_bare)
{
    return !is_bare && !espl__placement_copies(placement) &&
           !espl__extra_is_default(&placement->extra);
}

// Store the parts of a placement that are in the side arrays.
// @return true where the children become exceptional or plain: the node got its first stretch or lost it.
static bool place_in_side(espl__forest *forest, uint32_t slot, const espl__placement *placement)
{
    const espl__tree *const tree = espl__tree_of(forest, slot);
    espl__side *const side = espl__side_of_slot(forest, slot);
    const uint32_t at = slot - tree->base;
    ESPL_CHECK(side != NULL && at < side->capacity);
    const bool is_bare = espl__slot_is(forest, slot, ESPL__SLOT_BARE);
    const espl__placement before = espl__slot_placement(forest, slot);
    const bool keeps = placement->kept.flags != 0;
    const espl__side_counts changes = {own_extras(placement, is_bare) -
                                           own_extras(&before, is_bare),
                                       (keeps ? 1u : 0u) - (before.kept.flags != 0 ? 1u : 0u)};

    // Several threads write in the nursery, so that its counts would race. They are computed when
    // the new trees get headers of their own.
    if (forest->tree[slot] != forest->nursery) {
        espl__side_count(side, changes);
    }
    side->extra[at] = placement->extra;
    ESPL_CHECK(side->has_kept != 0 || !keeps);
    if (side->has_kept != 0) {
        espl__side_kept(side)[at] = placement->kept;
    }
    if (!keeps && before.kept.flags != 0) {
        espl__side_forget_past(side, at);
    }
    forest->flags[slot] =
        (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_KEEPS) | (keeps ? ESPL__SLOT_KEEPS : 0));
    return espl__is_stretched(before.extra.stretch) != espl__is_stretched(placement->extra.stretch);
}

// Children are visited only where the stretch changes what they are, because each visit costs all of
// them.
void espl__slot_place(espl__forest *forest, uint32_t slot, const espl__placement *placement)
{
    ESPL_CHECK(espl__tree_can_hold(espl__tree_of(forest, slot), placement));
    ESPL_CHECK(espl__slot_is(forest, slot, ESPL__SLOT_SIDE) ==
               (espl__tree_of(forest, slot)->side != 0));
    ESPL_CHECK_FULL(espl__pose_is_finite(&placement->local));
    forest->local[slot] = placement->local;
    // Without side arrays the node has neither inherit flags nor a stretch, before and after.
    if (!espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        return;
    }
    const bool concerns_children = place_in_side(forest, slot, placement);

    espl__node_update_exceptional(forest, slot);
    if (concerns_children) {
        espl__children_update_exceptional(forest, slot);
    }
}

// The side entry of a bare node stays: it is that of its parent from now on, and of the caller to
// write.
void espl__slot_set_bare(espl__forest *forest, uint32_t slot, bool is_bare)
{
    const espl__extra extra = espl__slot_extra(forest, slot);
    const bool was_bare = espl__slot_is(forest, slot, ESPL__SLOT_BARE);
    const espl__side_counts changes = {(is_bare ? 0u : 1u) - (was_bare ? 0u : 1u), 0};

    forest->flags[slot] =
        (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_BARE) | (is_bare ? ESPL__SLOT_BARE : 0));
    // The extra of a bare node is that of its parent, so that it does not count as its own.
    if (!espl__extra_is_default(&extra) && forest->tree[slot] != forest->nursery) {
        espl__side_count(espl__side_of_slot(forest, slot), changes);
    }
    espl__node_update_exceptional(forest, slot);
}

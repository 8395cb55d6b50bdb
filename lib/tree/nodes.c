// SPDX-License-Identifier: MIT
// Slots and links of one tree.
#include "lib/tree/forest.h"

// The range for new nodes is written by several threads at once, so its header counts nothing.
static bool is_counted(const espl__forest *forest, uint32_t slot)
{
    return forest->tree[slot] != forest->nursery;
}

// --- Slots ---

uint32_t espl__slot_take(espl__forest *forest, uint32_t tree, uint32_t above, uint32_t *after)
{
    espl__tree *const t = &forest->trees[tree];
    uint32_t slot = espl__hole_take(forest, t, above, after);

    if (slot == ESPL__NO_SLOT) {
        if (t->used == t->capacity) {
            return ESPL__NO_SLOT;
        }
        slot = t->base + t->used;
        t->used += 1;
        forest->tree[slot] = tree;
        *after = ESPL__NO_SLOT - 1;
    }
    t->live += 1;
    t->roots += 1;
    forest->parent[slot] = ESPL__NO_SLOT;
    return slot;
}

// A hole shows the default in side arrays, because the counts of these compare before and after.
static void clear_side(espl__forest *forest, espl__tree *t, uint32_t slot)
{
    const uint32_t at = slot - t->base;
    espl__side *const side = t->side;
    const bool copies = espl__slot_copies(forest, slot);

    if (!copies && !espl__extra_is_default(&side->extra[at])) {
        side->extra_count -= 1;
    }
    side->extra[at] = espl__extra_default();
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        side->kept_count -= 1;
        side->kept[at] = espl__kept_none();
    }
}

// A root alone is in order again, whatever was below it.
static void reset_order(espl__forest *forest, espl__tree *t)
{
    if (t->live == 1 && espl__tree_is_single(forest, t)) {
        t->used = 1;
        t->hole = ESPL__NO_SLOT;
        t->debt = 0;
        t->flags |= ESPL__TREE_IN_ORDER;
    }
}

void espl__slot_free(espl__forest *forest, uint32_t slot)
{
    espl__tree *const t = espl__tree_of(forest, slot);

    forest->links[slot].entity = ESPL__NO_ENTITY;
    if (!is_counted(forest, slot)) {
        return;
    }
    ESPL_CHECK(slot - t->base < t->used && t->live != 0);
    if (t->side != NULL) {
        clear_side(forest, t, slot);
    }
    t->exceptional -= espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    t->roots -= espl__is_root(forest, slot) ? 1 : 0;
    t->live -= 1;
    forest->flags[slot] = 0;
    forest->parent[slot] = t->base;
    if (slot == t->base + t->used - 1) {
        t->used -= 1;
    } else {
        forest->links[slot] =
            (espl__links){ESPL__NO_SLOT, t->hole, ESPL__NO_SLOT, ESPL__NO_ENTITY};
        t->hole = slot;
        t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
    }
    reset_order(forest, t);
}

// --- Exceptional nodes ---

void espl__node_update_exceptional(espl__forest *forest, uint32_t slot)
{
    const bool is_so = espl__slot_is_exceptional(forest, slot);
    const bool was_so = espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL);

    if (is_so == was_so) {
        return;
    }
    forest->flags[slot] ^= ESPL__SLOT_EXCEPTIONAL;
    if (is_counted(forest, slot)) {
        espl__tree_of(forest, slot)->exceptional += is_so ? 1 : UINT32_MAX;
    }
}

void espl__children_update_exceptional(espl__forest *forest, uint32_t slot)
{
    for (uint32_t child = forest->links[slot].first_child; child != ESPL__NO_SLOT;
         child = forest->links[child].next) {
        espl__node_update_exceptional(forest, child);
    }
}

// --- Links ---

// Tell whether a node that was linked as the last child keeps its tree in breadth-first order: it is
// the last slot, a leaf, and parents still ascend.
static bool keeps_order(const espl__forest *forest, const espl__tree *t, uint32_t slot)
{
    return slot == t->base + t->used - 1 && t->live == t->used &&
           forest->links[slot].first_child == ESPL__NO_SLOT &&
           forest->links[slot].next == ESPL__NO_SLOT &&
           (slot - 1 == t->base || forest->parent[slot - 1] <= forest->parent[slot]);
}

static void check_order(espl__forest *forest, uint32_t slot, uint32_t parent)
{
    espl__tree *const t = espl__tree_of(forest, slot);

    if (forest->tree[parent] != forest->tree[slot] || parent > slot ||
        !keeps_order(forest, t, slot)) {
        if (is_counted(forest, slot)) {
            t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
        }
        if (is_counted(forest, parent)) {
            espl__tree_of(forest, parent)->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
        }
    }
}

void espl__node_link(espl__forest *forest, uint32_t slot, uint32_t parent, uint32_t before)
{
    ESPL_CHECK(espl__is_root(forest, slot) && slot != parent);
    forest->parent[slot] = parent;
    ESPL_CHECK(before == ESPL__NO_SLOT || forest->parent[before] == parent);
    espl__links_insert(forest->links, slot, parent, before);
    if (is_counted(forest, slot)) {
        espl__tree_of(forest, slot)->roots -= 1;
    }
    check_order(forest, slot, parent);
    espl__node_update_exceptional(forest, slot);
}

void espl__node_unlink(espl__forest *forest, uint32_t slot)
{
    espl__links *const links = forest->links;
    const uint32_t parent = forest->parent[slot], first = links[parent].first_child;
    const uint32_t next = links[slot].next, previous = links[slot].previous;

    ESPL_CHECK(parent != ESPL__NO_SLOT);
    if (first == slot) {
        links[parent].first_child = next;
    } else {
        links[previous].next = next;
    }
    if (next != ESPL__NO_SLOT) {
        links[next].previous = previous;
    } else if (first != slot) {
        links[first].previous = previous;
    }
    links[slot].next = links[slot].previous = ESPL__NO_SLOT;
    forest->parent[slot] = ESPL__NO_SLOT;
    if (is_counted(forest, slot)) {
        espl__tree *const t = espl__tree_of(forest, slot);

        t->roots += 1;
        t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
    }
    espl__node_update_exceptional(forest, slot);
}

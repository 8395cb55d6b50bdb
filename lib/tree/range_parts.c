// SPDX-License-Identifier: MIT
// The parts of a tree in one range. A range has one root. A destroy or a detach may leave several parts
// in it, each with a root: the largest keeps the range, and its root alone moves to the first slot; the
// others move to ranges of their own. So a node moves only into a tree of at most half the size: nodes
// that are destroyed or detached one by one, in any order, cost the logarithm of the size each at most.
// The sizes are compared by walks over all parts that take turns, because counting the largest one
// would cost its size in each call.
//
// A destroy without lists leaves its survivors where they are, as loose roots, and espl__settle()
// gives them ranges at once if there is memory.
#include "lib/tree/range_parts.h"

#include "lib/tree/relocation_survey.h"

#include <stdlib.h>

// Compare two slots for qsort(). Equal slots are alike, so that the order does not depend on the
// algorithm.
static int compare_slots(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

// Fast path: most lists ascend already.
void espl__sort_slots(uint32_t *slots, size_t count)
{
    bool is_sorted = true;

    for (size_t i = 1; i < count && is_sorted; ++i) {
        is_sorted = slots[i - 1] <= slots[i];
    }
    if (!is_sorted) {
        qsort(slots, count, sizeof *slots, compare_slots);
    }
}

// --- Which part keeps a range ---

// Compare for qsort(): by tree, then by slot.
static int compare_part_roots(const void *a, const void *b)
{
    const espl__part_root *const x = a, *const y = b;

    if (x->tree != y->tree) {
        return x->tree < y->tree ? -1 : 1;
    }
    return x->root < y->root ? -1 : x->root > y->root;
}

// Tell whether a slot has a root that is alive.
static bool is_living_root(const espl__forest *forest, uint32_t slot)
{
    return espl__is_root(forest, slot) && !espl__slot_is_dead(forest, slot);
}

// List the part of a root, and before the first one of a range that of the root at the first slot.
static void add_part(espl__edit *edit, uint32_t root)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t tree = forest->tree[root], base = forest->trees[tree].base;
    const size_t count = espl__array_length(edit->part_roots);
    const bool is_first = count == 0 || edit->part_roots[count - 1].tree != tree;

    if (is_first && is_living_root(forest, base)) {
        ESPL_ARRAY_PUSH(edit->part_roots, ((espl__part_root){tree, base, base}));
    }
    ESPL_ARRAY_PUSH(edit->part_roots, ((espl__part_root){tree, root, root}));
}

// List the roots that the group left in ranges of other roots, by range. A part of a single node keeps no
// range, so that it is not listed.
// @param singles  out: number of these. @return false: no memory.
static bool list_parts(espl__edit *edit, size_t *singles)
{
    const espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->moved);
    bool is_grouped = true;

    espl__array_set_length(edit->part_roots, 0);
    for (size_t i = edit->moved_from; i < count; ++i) {
        const uint32_t slot = edit->moved[i];

        if (!is_living_root(forest, slot) || forest->tree[slot] == forest->nursery) {
            continue;
        }
        if (forest->links[slot].first_child == ESPL__NO_SLOT) {
            *singles += 1;
            continue;
        }
        if (!ESPL__EDIT_RESERVE(edit, part_roots, 2)) {
            return false;
        }
        add_part(edit, slot);
    }
    const size_t parts = espl__array_length(edit->part_roots);

    for (size_t i = 1; i < parts && is_grouped; ++i) {
        is_grouped = edit->part_roots[i - 1].tree <= edit->part_roots[i].tree;
    }
    if (!is_grouped) {
        qsort(edit->part_roots, parts, sizeof *edit->part_roots, compare_part_roots);
    }
    return true;
}

// Find the largest of some parts by walks that take turns, until one is left. Among equals the last
// one is found. Costs the sizes of the others.
// @param parts  [count] overwritten. @param others  out: lower bound of the nodes of the others.
static uint32_t largest_part(const espl__forest *forest, espl__part_root *parts, size_t count,
                             uint32_t *others)
{
    *others = 0;
    for (size_t left = count; left > 1;) {
        size_t walking = 0;

        for (size_t i = 0; i < left; ++i) {
            espl__part_root part = parts[i];

            part.at = espl__next_in_walk(forest, part.at, part.root, true);
            if (part.at != ESPL__NO_SLOT || (walking == 0 && i + 1 == left)) {
                parts[walking++] = part;
            }
            *others += i + 1 < left ? 1 : 0;
        }
        ESPL_CHECK(walking >= 1 && walking <= left);
        left = walking;
    }
    return parts[0].root;
}

// Let the largest part of a range keep it, unless the range would be much too long for it. Its nodes are
// those of the range without the other parts and without the dead, which have their slots until the
// relocation.
// @param parts  [count] of one range. @param gone  upper bound of the dead and of single nodes: those of
//               all ranges of the group, because it is cheap and no harm. @return false: no memory.
static bool choose_head(espl__edit *edit, espl__part_root *parts, size_t count, size_t gone)
{
    enum { TOO_LONG = 4 };
    espl__forest *const forest = edit->forest;
    const uint32_t tree = parts[0].tree, base = forest->trees[tree].base;
    const espl__tree *const t = &forest->trees[tree];
    const espl__part_root first = parts[0];
    uint32_t others = 0;

    // Last, so that among equals the part stays whose root is there.
    parts[0] = parts[count - 1];
    parts[count - 1] = first;
    const uint32_t root = largest_part(forest, parts, count, &others);

    if (root == base || gone + others + t->capacity / TOO_LONG >= t->live) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, relocations, 1) ||
        (is_living_root(forest, base) && !espl__edit_mark_moved(edit, base))) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->relocations,
                    ((espl__relocation){.root = root, .tree = tree, .is_head = true}));
    forest->trees[tree].flags |= ESPL__TREE_HEADS;
    forest->flags[root] &= (uint8_t)~ESPL__SLOT_MOVED;
    edit->arriving += 1;
    return true;
}

// Tell whether a node that the group moved is a root.
static inline bool has_moved_root(const espl__edit *edit)
{
    const size_t count = espl__array_length(edit->moved);
    bool has_root = false;

    for (size_t i = edit->moved_from; i < count && !has_root; ++i) {
        has_root = espl__is_root(edit->forest, edit->moved[i]);
    }
    return has_root;
}

bool espl__parts_choose_heads(espl__edit *edit)
{
    // Fast path: most nodes that move get another parent.
    if (edit->lays_out || !has_moved_root(edit)) {
        return true;
    }
    size_t singles = 0;
    bool is_done = list_parts(edit, &singles);
    const size_t gone = singles + espl__array_length(edit->removed) - edit->removed_from;
    espl__part_root *const parts = edit->part_roots;
    const size_t count = is_done ? espl__array_length(parts) : 0;

    for (size_t begin = 0, end = 0; begin < count && is_done; begin = end) {
        const uint32_t tree = parts[begin].tree;
        size_t kept = begin;

        // The root at the first slot may be listed twice.
        for (; end < count && parts[end].tree == tree; ++end) {
            if (kept == begin || parts[kept - 1].root != parts[end].root) {
                parts[kept++] = parts[end];
            }
        }
        is_done = choose_head(edit, parts + begin, kept - begin, gone);
    }
    return is_done;
}

// Remove a hole from the list of its tree. It was freed by this edit or just before it, so that the
// holes before it in the list are as new.
static void take_hole(espl__forest *forest, espl__tree *t, uint32_t slot)
{
    uint32_t *from = &t->hole, before = ESPL__NO_SLOT;

    while (*from != slot) {
        ESPL_CHECK(*from != ESPL__NO_SLOT);
        before = *from;
        from = &forest->links[*from].next;
    }
    *from = forest->links[slot].next;
    if (before != ESPL__NO_SLOT) {
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, before);
    }
}

// Move the root of the part that keeps a range to the first slot, which all others have left. Its
// descendants stay.
void espl__part_relocate_head(const espl__transfer *transfer, const espl__relocation *relocation)
{
    espl__forest *const forest = transfer->to;
    espl__links *const links = forest->links;
    espl__tree *const t = &forest->trees[relocation->tree];
    const uint32_t slot = t->base, old = relocation->root;

    // A growth moves the root with its descendants.
    if ((t->flags & ESPL__TREE_GROWS) != 0) {
        return;
    }
    ESPL_CHECK(slot != old && espl__slot_is_dead(forest, slot) && espl__is_root(forest, old));
    take_hole(forest, t, slot);
    t->live += 1;
    t->roots += 1;
    forest->parent[slot] = ESPL__NO_SLOT;
    links[slot] = links[old];
    espl__node_copy(transfer, slot, old, t->base, espl__side_of(forest, t));
    for (uint32_t child = links[slot].first_child; child != ESPL__NO_SLOT;
         child = links[child].next) {
        forest->parent[child] = slot;
    }
    transfer->moved(transfer->context, &links[slot].entity, slot, 1);
    espl__slot_free(forest, old);
}

// --- Loose roots ---

void espl__forest_begin_loose(espl__forest *forest)
{
    espl__array_set_length(forest->loose, 0);
    if (forest->loose_lost != 0) {
        (void)ESPL_ARRAY_RESERVE(forest->heap, ESPL__FOR_TREE, forest->loose,
                                 2 * forest->loose_lost);
        forest->loose_lost = 0;
    }
}

void espl__forest_sort_loose(espl__forest *forest)
{
    espl__sort_slots(forest->loose, espl__array_length(forest->loose));
}

void espl__forest_note_loose(espl__forest *forest, uint32_t slot)
{
    if (espl__array_length(forest->loose) < espl__array_capacity(forest->loose)) {
        ESPL_ARRAY_PUSH(forest->loose, slot);
    } else {
        forest->loose_lost += 1;
    }
}

// Mark a root as edited, and as moved unless it may keep its range as it is. @return false: no memory.
static bool mark_root(espl__edit *edit, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(edit->forest, slot);

    return espl__edit_touch(edit, slot) &&
           ((slot == t->base && !edit->lays_out) || espl__edit_mark_moved(edit, slot));
}

// Return the index of the first of the loose roots in a range or behind it.
static size_t find_loose(const espl__forest *forest, uint32_t base)
{
    size_t begin = 0, end = espl__array_length(forest->loose);

    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;

        if (forest->loose[middle] < base) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Call a function for the roots of a range that the last destroy listed, lowest first, and for the one at the base.
// @return their number, as far as the function returns true.
static uint32_t each_loose_root(espl__edit *edit, const espl__tree *t,
                                bool (*call)(espl__edit *edit, uint32_t slot))
{
    const espl__forest *const forest = edit->forest;
    const size_t length = espl__array_length(forest->loose);
    uint32_t found = 0, last = ESPL__NO_SLOT;

    if (is_living_root(forest, t->base)) {
        found += call(edit, t->base) ? 1 : 0;
        last = t->base;
    }
    for (size_t i = find_loose(forest, t->base);
         i < length && forest->loose[i] - t->base < t->used && edit->status == ESPL_OK; ++i) {
        const uint32_t slot = forest->loose[i];

        if (slot != last && is_living_root(forest, slot)) {
            found += call(edit, slot) ? 1 : 0;
            last = slot;
        }
    }
    return found;
}

static bool count_root(espl__edit *edit, uint32_t slot)
{
    (void)edit;
    (void)slot;
    return true;
}

// Mark the roots of a range that the last destroy listed, where these are all. None is marked otherwise: how many
// are listed depends on the capacity of the list, and the order of the marks decides which slots the parts get.
// @return false: they are not all, or there is no memory.
static bool mark_loose_roots(espl__edit *edit, const espl__tree *t)
{
    return each_loose_root(edit, t, count_root) == t->roots &&
           each_loose_root(edit, t, mark_root) == t->roots;
}

// In the order of the slots, with the list as without it.
bool espl__edit_mark_roots(espl__edit *edit, uint32_t tree, bool lays_out)
{
    const espl__forest *const forest = edit->forest;
    const espl__tree *const t = &forest->trees[tree];

    ESPL_CHECK(tree < forest->tree_end);
    edit->lays_out = lays_out;
    if (mark_loose_roots(edit, t)) {
        return true;
    }
    for (uint32_t slot = t->base; slot < t->base + t->used && edit->status == ESPL_OK; ++slot) {
        if (is_living_root(forest, slot)) {
            (void)mark_root(edit, slot);
        }
    }
    return edit->status == ESPL_OK;
}

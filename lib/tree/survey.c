// SPDX-License-Identifier: MIT
// The survey behind a group of commands: which subtrees have to move to another range, and where to.
#include "lib/tree/edit_steps.h"

#include <stdlib.h>

// What is known of one subtree that has to move.
typedef struct finding {
    uint32_t top;      // its topmost node that moved
    uint32_t tree;     // that it comes to, or ESPL__NO_TREE: a new one
    bool is_covered;   // it moves with a subtree or a new tree that is listed by itself
} finding;

// Tell whether all ancestors of a node are in its own range, at lower slots. The node that is looked up
// may be the only one of that range that moved.
static bool is_at_home(const espl__forest *forest, uint32_t slot, uint32_t moved)
{
    const uint32_t tree = forest->tree[slot];

    return tree != forest->nursery &&
           forest->trees[tree].moved == (forest->tree[moved] == tree ? 1u : 0u);
}

// Climb from a node that moved to the topmost one that did. A mark tells of an ancestor that was looked
// at before: one that moved is listed or covered, and above any other nothing moved.
static finding look_up(const espl__forest *forest, uint32_t slot)
{
    finding found = {.top = slot, .tree = ESPL__NO_TREE};
    uint32_t at = slot;

    for (;;) {
        const uint32_t up = forest->parent[at];

        if (up == ESPL__NO_SLOT) {
            break;
        }
        const bool has_moved = espl__slot_is(forest, up, ESPL__SLOT_MOVED);

        if (espl__slot_is(forest, up, ESPL__SLOT_MARK) && has_moved) {
            found.is_covered = true;
            return found;
        }
        if (has_moved) {
            found.top = up;
        } else if (espl__slot_is(forest, up, ESPL__SLOT_MARK) ||
                   (found.top == slot && is_at_home(forest, up, slot))) {
            found.tree = forest->tree[up];
            return found;
        }
        at = up;
    }
    if (espl__slot_is(forest, at, ESPL__SLOT_MOVED)) {
        found.top = at; // a root that needs a range
    } else if (forest->tree[at] == forest->nursery) {
        found.is_covered = true; // a new root is listed by itself
    } else {
        found.tree = forest->tree[at];
    }
    return found;
}

// Mark the ancestors of a subtree that comes to a tree: nothing above them moved.
static void mark_path(espl__forest *forest, uint32_t top)
{
    for (uint32_t up = forest->parent[top];
         up != ESPL__NO_SLOT && !espl__slot_is(forest, up, ESPL__SLOT_MARK) &&
         !is_at_home(forest, up, top);
         up = forest->parent[up]) {
        forest->flags[up] |= ESPL__SLOT_MARK;
    }
}

static void clear_path(espl__forest *forest, uint32_t top)
{
    for (uint32_t up = forest->parent[top];
         up != ESPL__NO_SLOT && espl__slot_is(forest, up, ESPL__SLOT_MARK) &&
         !espl__slot_is(forest, up, ESPL__SLOT_MOVED);
         up = forest->parent[up]) {
        forest->flags[up] &= (uint8_t)~ESPL__SLOT_MARK;
    }
}

static bool has_extra(const espl__forest *forest, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(forest, slot);

    return !espl__extra_is_default(&extra);
}

// Count the nodes of a subtree, mark those in it that moved, and see what side arrays they need.
static void measure(espl__forest *forest, espl__relocation *place)
{
    place->is_adopted = place->is_new && forest->tree[place->root] == forest->nursery;
    for (uint32_t slot = place->root; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, place->root, true)) {
        place->count += 1;
        if (espl__slot_is(forest, slot, ESPL__SLOT_MOVED)) {
            forest->flags[slot] |= ESPL__SLOT_MARK;
            place->is_adopted = false;
        }
        if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
            const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);

            place->needs_kept = place->needs_kept || keeps;
            place->needs_side = place->needs_side || keeps || has_extra(forest, slot);
        }
        place->is_adopted = place->is_adopted && forest->tree[slot] == forest->nursery;
    }
}

// New nodes of a clone fill consecutive slots of the nursery, in breadth-first order. Where others came
// below them, or some died, the tree is laid out in a range of its own.
static bool is_in_order(const espl__forest *forest, const espl__relocation *place)
{
    const uint32_t end = place->root + place->count;

    for (uint32_t slot = place->root + 1; slot < end; ++slot) {
        const uint32_t parent = forest->parent[slot], before = slot - 1;
        const bool is_next = before != place->root && forest->parent[before] == parent;

        if (forest->links[slot].entity == ESPL__NO_ENTITY || parent < place->root ||
            parent >= slot || (before != place->root && forest->parent[before] > parent) ||
            (is_next ? forest->links[before].next != slot
                     : forest->links[parent].first_child != slot)) {
            return false;
        }
    }
    return true;
}

static bool add_place(espl__edit *edit, uint32_t root, uint32_t tree)
{
    espl__forest *const forest = edit->forest;
    espl__relocation place = {.root = root, .tree = tree, .is_new = tree == ESPL__NO_TREE};

    if (!ESPL__EDIT_RESERVE(edit, places, 1)) {
        return false;
    }
    measure(forest, &place);
    place.is_adopted = place.is_adopted && is_in_order(forest, &place);
    if (tree != ESPL__NO_TREE) {
        forest->trees[tree].incoming += place.count;
    }
    ESPL_ARRAY_PUSH(edit->places, place);
    return true;
}

// A tree that shares a range since a destroy found no memory cannot grow there: it moves as a whole.
// Detached roots share the range of their old tree only until the edit is done, and its root is at base.
static bool shares_range(const espl__forest *forest, uint32_t tree)
{
    return tree != ESPL__NO_TREE && !espl__is_root(forest, forest->trees[tree].base);
}

static bool add_whole_tree(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;
    uint32_t root = slot;

    while (!espl__is_root(forest, root)) {
        root = forest->parent[root];
    }
    return espl__edit_touch(edit, root) && espl__edit_mark_moved(edit, root) &&
           add_place(edit, root, ESPL__NO_TREE);
}

static bool survey_moved(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->moved);

    for (size_t i = edit->moved_from; i < count; ++i) {
        const uint32_t slot = edit->moved[i];

        if (espl__slot_is_dead(forest, slot) || espl__slot_is(forest, slot, ESPL__SLOT_MARK)) {
            continue;
        }
        // Where it was before is nothing that moved while its own place is looked for.
        const finding found = look_up(forest, slot);

        if (found.is_covered || espl__slot_is(forest, found.top, ESPL__SLOT_MARK)) {
            continue;
        }
        if (shares_range(forest, found.tree)) {
            if (!add_whole_tree(edit, found.top)) {
                return false;
            }
        } else {
            if (!add_place(edit, found.top, found.tree)) {
                return false;
            }
            mark_path(forest, found.top);
        }
    }
    return true;
}

// Nodes that were made in the nursery and are roots get trees of their own.
static bool survey_made(espl__edit *edit)
{
    const espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->made);

    for (size_t i = edit->made_from; i < count; ++i) {
        const uint32_t slot = edit->made[i].slot;

        if (edit->made[i].from == ESPL__FROM_NURSERY && espl__is_root(forest, slot) &&
            !espl__slot_is_dead(forest, slot) && !espl__slot_is(forest, slot, ESPL__SLOT_MOVED) &&
            !add_place(edit, slot, ESPL__NO_TREE)) {
            return false;
        }
    }
    return true;
}

static int compare_slots(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

// Sort the stale nodes of the group, parents before what is below them. Not those of all groups of the
// edit at once: trees would become due in an order that depends on how groups are divided among edits.
static void sort_stale(espl__edit *edit)
{
    const size_t count = espl__array_length(edit->stale) - edit->stale_from;

    if (count > 1) {
        qsort(edit->stale + edit->stale_from, count, sizeof *edit->stale, compare_slots);
    }
}

espl_status espl__edit_survey(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t places = espl__array_length(edit->places);
    const bool is_done =
        survey_moved(edit) && (edit->nursery == edit->nursery_begin || survey_made(edit));

    sort_stale(edit);
    for (size_t i = places; i < espl__array_length(edit->places); ++i) {
        clear_path(forest, edit->places[i].root);
    }
    for (size_t i = edit->moved_from; i < espl__array_length(edit->moved); ++i) {
        forest->flags[edit->moved[i]] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

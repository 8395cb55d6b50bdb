// SPDX-License-Identifier: MIT
// The survey of a group of commands: it lists the relocations, that is which subtrees move to which
// trees. It runs after the last command of a group and before memory is allocated (relocation.c),
// once for each group. Its marks are ESPL__SLOT_MARK, which it clears at the end; it changes
// nothing else but the lists and the counts `incoming`.
//
// Commands list each node that they link elsewhere (edit->moved). Some of these are descendants of
// others, and some were linked back, so that the survey climbs from each to the topmost moved node
// above it. That node's subtree moves as a whole, to the tree in which the climb ends.
#include "lib/tree/edit_steps.h"

#include <stdlib.h>

// The result of a climb from a moved node.
typedef struct climb {
    uint32_t top;    // topmost moved node
    uint32_t tree;   // to which its subtree moves, or ESPL__NO_TREE: a new one
    bool is_covered; // the subtree is a part of another relocation
} climb;

// Tell whether all ancestors of a node are in its own range, at lower slots: no node of the range
// moved, or only the node from which the climb began.
static bool is_range_unmoved(const espl__forest *forest, uint32_t slot, uint32_t moved)
{
    const uint32_t tree = forest->tree[slot];

    return tree != forest->nursery &&
           forest->trees[tree].moved == (forest->tree[moved] == tree ? 1u : 0u);
}

// Climb from a moved node to its topmost moved ancestor. Marks end the climb, because an earlier
// climb passed there: a marked node that moved is a part of a relocation, and no ancestor of
// another marked node moved.
static climb climb_to_top(const espl__forest *forest, uint32_t slot)
{
    climb found = {.top = slot, .tree = ESPL__NO_TREE};
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
                   (found.top == slot && is_range_unmoved(forest, up, slot))) {
            found.tree = forest->tree[up];
            return found;
        }
        at = up;
    }
    if (espl__slot_is(forest, at, ESPL__SLOT_MOVED)) {
        // A root that needs a range of its own.
        found.top = at;
    } else if (forest->tree[at] == forest->nursery) {
        // A new root, for which survey_new_roots() lists a relocation.
        found.is_covered = true;
    } else {
        found.tree = forest->tree[at];
    }
    return found;
}

// Mark the ancestors of an arriving subtree, because none of them moved. So the next climb ends
// early, and all climbs together pass each link a bounded number of times.
static void mark_path(espl__forest *forest, uint32_t top)
{
    for (uint32_t up = forest->parent[top];
         up != ESPL__NO_SLOT && !espl__slot_is(forest, up, ESPL__SLOT_MARK) &&
         !is_range_unmoved(forest, up, top);
         up = forest->parent[up]) {
        forest->flags[up] |= ESPL__SLOT_MARK;
    }
}

// Clear the marks of mark_path().
static void clear_path(espl__forest *forest, uint32_t top)
{
    for (uint32_t up = forest->parent[top];
         up != ESPL__NO_SLOT && espl__slot_is(forest, up, ESPL__SLOT_MARK) &&
         !espl__slot_is(forest, up, ESPL__SLOT_MOVED);
         up = forest->parent[up]) {
        forest->flags[up] &= (uint8_t)~ESPL__SLOT_MARK;
    }
}

// Tell whether the side entry of a node differs from the default.
static bool shows_extra(const espl__forest *forest, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(forest, slot);

    return !espl__extra_is_default(&extra);
}

// Count the nodes of a relocation, mark the moved ones, and find what side arrays they need. A new
// tree may be adopted where all of its nodes are in the nursery and none moved.
static void measure_moved(espl__forest *forest, espl__relocation *relocation)
{
    relocation->is_adopted =
        relocation->is_new && forest->tree[relocation->root] == forest->nursery;
    for (uint32_t slot = relocation->root; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, relocation->root, true)) {
        relocation->count += 1;
        if (espl__slot_is(forest, slot, ESPL__SLOT_MOVED)) {
            forest->flags[slot] |= ESPL__SLOT_MARK;
            relocation->is_adopted = false;
        }
        if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
            const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);

            relocation->needs_kept = relocation->needs_kept || keeps;
            relocation->needs_side = relocation->needs_side || keeps || shows_extra(forest, slot);
        }
        relocation->is_adopted = relocation->is_adopted && forest->tree[slot] == forest->nursery;
    }
}

// Tell whether a new tree is in order in consecutive slots of the nursery, as the nodes of one
// clone are. Where other nodes were linked below them, or some died, the tree is copied to a range
// of its own instead.
static bool is_breadth_first(const espl__forest *forest, const espl__relocation *relocation)
{
    const uint32_t end = relocation->root + relocation->count;

    for (uint32_t slot = relocation->root + 1; slot < end; ++slot) {
        const uint32_t parent = forest->parent[slot], before = slot - 1;
        const bool is_next = before != relocation->root && forest->parent[before] == parent;

        if (forest->links[slot].entity == ESPL__NO_ENTITY || parent < relocation->root ||
            parent >= slot || (before != relocation->root && forest->parent[before] > parent) ||
            (is_next ? forest->links[before].next != slot
                     : forest->links[parent].first_child != slot)) {
            return false;
        }
    }
    return true;
}

// List a relocation. @param tree  to which it moves, or ESPL__NO_TREE: a new one. @return false: no
// memory.
static bool add_relocation(espl__edit *edit, uint32_t root, uint32_t tree)
{
    espl__forest *const forest = edit->forest;
    espl__relocation relocation = {.root = root, .tree = tree, .is_new = tree == ESPL__NO_TREE};

    if (!ESPL__EDIT_RESERVE(edit, relocations, 1)) {
        return false;
    }
    ESPL_CHECK(!espl__slot_is_dead(forest, root));
    measure_moved(forest, &relocation);
    ESPL_CHECK(relocation.count != 0);
    relocation.is_adopted = relocation.is_adopted && is_breadth_first(forest, &relocation);
    if (tree != ESPL__NO_TREE) {
        forest->trees[tree].incoming += relocation.count;
    }
    ESPL_ARRAY_PUSH(edit->relocations, relocation);
    return true;
}

// Tell whether a tree is in a range with several roots, which a destroy without memory leaves. It
// cannot grow there, so that it moves as a whole. A root that this edit detached shares the range
// as well, but there the first slot is a root.
static bool shares_range(const espl__forest *forest, uint32_t tree)
{
    return tree != ESPL__NO_TREE && !espl__is_root(forest, forest->trees[tree].base);
}

// List the relocation of the whole tree of a slot to a range of its own.
static bool add_whole_tree(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;
    uint32_t root = slot;

    while (!espl__is_root(forest, root)) {
        root = forest->parent[root];
    }
    return espl__edit_touch(edit, root) && espl__edit_mark_moved(edit, root) &&
           add_relocation(edit, root, ESPL__NO_TREE);
}

// List the relocations of all moved nodes of the group.
static bool survey_moved(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->moved);

    for (size_t i = edit->moved_from; i < count; ++i) {
        const uint32_t slot = edit->moved[i];

        if (espl__slot_is_dead(forest, slot) || espl__slot_is(forest, slot, ESPL__SLOT_MARK)) {
            continue;
        }
        const climb found = climb_to_top(forest, slot);

        if (found.is_covered || espl__slot_is(forest, found.top, ESPL__SLOT_MARK)) {
            continue;
        }
        if (shares_range(forest, found.tree)) {
            if (!add_whole_tree(edit, found.top)) {
                return false;
            }
        } else {
            if (!add_relocation(edit, found.top, found.tree)) {
                return false;
            }
            mark_path(forest, found.top);
        }
    }
    return true;
}

// List a new tree for each new node that is a root in the nursery.
static bool survey_new_roots(espl__edit *edit)
{
    const espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->made);

    for (size_t i = edit->made_from; i < count; ++i) {
        const uint32_t slot = edit->made[i].slot;

        if (edit->made[i].from == ESPL__FROM_NURSERY && espl__is_root(forest, slot) &&
            !espl__slot_is_dead(forest, slot) && !espl__slot_is(forest, slot, ESPL__SLOT_MOVED) &&
            !add_relocation(edit, slot, ESPL__NO_TREE)) {
            return false;
        }
    }
    return true;
}

// Compare two slots for qsort(). No two are equal, so that the order does not depend on the
// algorithm.
static int compare_slots(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

// Sort the stale nodes of the group by slot, so that parents come first. Each group is sorted by
// itself, because trees become due in this order, which must not depend on how groups are divided
// among edits.
static void sort_stale(espl__edit *edit)
{
    ESPL_CHECK(espl__array_length(edit->stale) >= edit->stale_from);
    const size_t count = espl__array_length(edit->stale) - edit->stale_from;

    if (count > 1) {
        qsort(edit->stale + edit->stale_from, count, sizeof *edit->stale, compare_slots);
    }
}

espl_status espl__edit_survey_moved(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t listed = espl__array_length(edit->relocations);
    const bool is_done =
        survey_moved(edit) && (edit->nursery == edit->nursery_begin || survey_new_roots(edit));

    sort_stale(edit);
    // The marks are cleared after a failure as well, because the undo expects none.
    for (size_t i = listed; i < espl__array_length(edit->relocations); ++i) {
        clear_path(forest, edit->relocations[i].root);
    }
    for (size_t i = edit->moved_from; i < espl__array_length(edit->moved); ++i) {
        forest->flags[edit->moved[i]] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

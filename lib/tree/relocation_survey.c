// SPDX-License-Identifier: MIT
// The survey of a group of commands: which subtrees move to which trees. It runs after the last
// command of a group and before memory is allocated (relocation.c), once for each group. It changes
// nothing but lists, and counts and flags that end with the edit.
//
// Commands list each node that they link elsewhere (edit->moved). Some of these are descendants of
// others, and move with them: they lose ESPL__SLOT_MOVED, which the topmost moved nodes alone have
// after the survey. No ancestor of a topmost node moves, so that its subtree goes to the tree in
// which its parent is.
#include "lib/tree/relocation_survey.h"

#include "lib/tree/range_parts.h"

// Tell whether a listed node is the root of the part that keeps its range.
static bool is_staying_root(const espl__forest *forest, uint32_t slot)
{
    return espl__is_root(forest, slot) && !espl__slot_is(forest, slot, ESPL__SLOT_MOVED);
}

// Clear ESPL__SLOT_MOVED of the moved nodes below a moved node. The walk does not enter their
// subtrees, because it runs once for each moved node: together the walks pass each node once.
static void clear_moved_below(espl__forest *forest, uint32_t top)
{
    bool enters = true;

    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = !espl__slot_is(forest, slot, ESPL__SLOT_MOVED);
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MOVED;
    }
}

// Tell whether the side entry of a node differs from the default.
static bool shows_extra(const espl__forest *forest, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(forest, slot);

    return !espl__extra_is_default(&extra);
}

// Count the nodes of a relocation, and find what side arrays they need. A new tree may be adopted
// where all of its nodes are in the nursery and none moved.
static void measure(const espl__forest *forest, espl__relocation *relocation)
{
    const uint32_t root = relocation->root;

    relocation->is_adopted = true;
    for (uint32_t slot = root; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, root, true)) {
        relocation->count += 1;
        if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
            const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);

            relocation->needs_kept = relocation->needs_kept || keeps;
            relocation->needs_side = relocation->needs_side || keeps || shows_extra(forest, slot);
        }
        relocation->is_adopted = relocation->is_adopted && forest->tree[slot] == forest->nursery &&
                                 !espl__slot_is(forest, slot, ESPL__SLOT_MOVED);
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

// Return the slots behind a tree in the nursery, which no new node of the group has.
static uint32_t unused_behind(const espl__edit *edit, const espl__relocation *relocation)
{
    const uint32_t end = relocation->root + relocation->count;
    const size_t count = espl__array_length(edit->made);

    // The nodes of the group get ascending slots, and the last node of the tree names its number.
    for (size_t i = (edit->forest->links[end - 1].entity & ~ESPL__MADE) + 1; i < count; ++i) {
        if (edit->made[i].from == ESPL__FROM_NURSERY) {
            return edit->made[i].slot - end;
        }
    }
    return edit->nursery_end - end;
}

// Set the capacity of a new tree, with spare slots for its next nodes. An adopted tree gets those
// that its clone or its group left unused.
static void size_new_tree(const espl__edit *edit, espl__relocation *relocation)
{
    const uint32_t wanted = espl__tree_spare(relocation->count);
    uint32_t spare = wanted;

    if (relocation->is_adopted) {
        const uint32_t unused = wanted != 0 ? unused_behind(edit, relocation) : 0;

        spare = unused < wanted ? unused : wanted;
    }
    relocation->range.capacity = relocation->count + spare;
}

// List a new tree. @return false: no memory.
static bool add_new_tree(espl__edit *edit, uint32_t root)
{
    const espl__forest *const forest = edit->forest;
    espl__relocation relocation = {.root = root, .tree = ESPL__NO_TREE, .is_new = true};

    if (!ESPL__EDIT_RESERVE(edit, relocations, 1)) {
        return false;
    }
    ESPL_CHECK(!espl__slot_is_dead(forest, root));
    measure(forest, &relocation);
    relocation.is_adopted = relocation.is_adopted && is_breadth_first(forest, &relocation);
    size_new_tree(edit, &relocation);
    ESPL_ARRAY_PUSH(edit->relocations, relocation);
    return true;
}

// List a new tree for the whole tree of a slot, which shares its range with other trees.
static ESPL__APART bool add_whole_tree(espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t root = espl__root_of(forest, slot);

    // Another node that moved to it had it listed.
    return espl__slot_is(forest, root, ESPL__SLOT_MOVED) ||
           (espl__edit_touch(edit, root) && espl__edit_mark_moved(edit, root) &&
            add_new_tree(edit, root));
}

// Tell whether a tree is in a range with several roots, which a destroy without memory leaves. It
// cannot grow there, so that it moves as a whole. A root that this edit detached shares the range
// as well, but there the first slot is a root.
static bool shares_range(const espl__forest *forest, const espl__tree *t)
{
    return (t->flags & ESPL__TREE_UNSETTLED) != 0 && (t->flags & ESPL__TREE_HEADS) == 0 &&
           !espl__is_root(forest, t->base);
}

// Collect what side arrays an arriving subtree needs in the flags of its tree, and list the tree
// for them once. @return false: no memory.
static ESPL__APART bool want_sides(espl__edit *edit, uint32_t tree, const espl__relocation *arrival)
{
    espl__tree *const t = &edit->forest->trees[tree];

    if (arrival->needs_side && (t->flags & ESPL__TREE_WANTS_SIDE) == 0) {
        if (!ESPL__EDIT_RESERVE(edit, relocations, 1)) {
            return false;
        }
        ESPL_ARRAY_PUSH(edit->relocations, (espl__relocation){.tree = tree});
        t->flags |= ESPL__TREE_WANTS_SIDE;
    }
    t->flags |= arrival->needs_kept ? (uint32_t)ESPL__TREE_WANTS_KEPT : 0u;
    return true;
}

// Count a subtree that arrives in a tree. @return false: no memory.
static inline bool count_arrival(espl__edit *edit, uint32_t top, uint32_t tree)
{
    espl__forest *const forest = edit->forest;

    // Fast path: most are leaves without side entries.
    if (forest->links[top].first_child == ESPL__NO_SLOT &&
        !espl__slot_is(forest, top, ESPL__SLOT_SIDE)) {
        forest->trees[tree].incoming += 1;
        edit->arriving += 1;
        return true;
    }
    espl__relocation arrival = {.root = top};

    measure(forest, &arrival);
    forest->trees[tree].incoming += arrival.count;
    edit->arriving += arrival.count;
    return !arrival.needs_side || want_sides(edit, tree, &arrival);
}

// List a growth for a tree whose range is too short for what arrives. Its capacity is set when all
// arrivals of the group are counted; until then it is 1. @param slot  a node of the tree.
// @return false: no memory.
static ESPL__APART bool add_growth(espl__edit *edit, uint32_t tree, uint32_t slot)
{
    espl__tree *const t = &edit->forest->trees[tree];
    const bool heads = (t->flags & ESPL__TREE_HEADS) != 0;
    const uint32_t root = heads ? espl__root_of(edit->forest, slot) : t->base;

    ESPL_CHECK(espl__is_root(edit->forest, root) && edit->forest->tree[root] == tree);
    if (!ESPL__EDIT_RESERVE(edit, relocations, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->relocations,
                    (espl__relocation){.root = root, .tree = tree, .range.capacity = 1});
    t->flags |= ESPL__TREE_GROWS;
    return true;
}

// List the relocation of a topmost moved node. @return false: no memory.
static inline bool survey_top(espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT) {
        return add_new_tree(edit, slot);
    }
    const uint32_t tree = forest->tree[parent];
    const espl__tree *const t = &forest->trees[tree];

    if (tree == forest->nursery) {
        return true; // it moves with a new root, which survey_new_roots() lists
    }
    if (shares_range(forest, t)) {
        return add_whole_tree(edit, slot);
    }
    return count_arrival(edit, slot, tree) &&
           (t->used + t->incoming <= t->capacity || (t->flags & ESPL__TREE_GROWS) != 0 ||
            add_growth(edit, tree, parent));
}

// Tell whether an entry of edit->moved is a topmost moved node.
static bool is_top(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_MOVED) && !espl__slot_is_dead(forest, slot);
}

// Tell whether all moved nodes of the group are leaves below other nodes. Then none moves with another
// one, and no part of a range has another root.
static bool are_leaves(const espl__edit *edit)
{
    const espl__links *const links = edit->forest->links;
    const uint32_t *const parents = edit->forest->parent, *const moved = edit->moved;
    const size_t count = espl__array_length(moved);
    size_t i = edit->moved_from;

    while (i < count && links[moved[i]].first_child == ESPL__NO_SLOT &&
           parents[moved[i]] != ESPL__NO_SLOT) {
        i += 1;
    }
    return i == count;
}

// Choose which parts keep their ranges, and let the topmost moved nodes alone have ESPL__SLOT_MOVED.
// @return false: no memory.
static bool choose_tops(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const bool is_done = espl__parts_choose_heads(edit);
    const size_t count = is_done ? espl__array_length(edit->moved) : 0;

    // A single node has none of the others above it.
    for (size_t i = count - edit->moved_from > 1 ? edit->moved_from : count; i < count; ++i) {
        const espl__links *const links = &forest->links[edit->moved[i]];

        // Nothing moves with the root of a part that stays.
        if (links->first_child != ESPL__NO_SLOT && links->entity != ESPL__NO_ENTITY &&
            !is_staying_root(forest, edit->moved[i])) {
            clear_moved_below(forest, edit->moved[i]);
        }
    }
    return is_done;
}

// List the relocations of all moved nodes of the group.
static bool survey_moved(espl__edit *edit)
{
    bool is_done = are_leaves(edit) || choose_tops(edit);
    const size_t count = espl__array_length(edit->moved);

    for (size_t i = edit->moved_from; i < count && is_done; ++i) {
        is_done = !is_top(edit->forest, edit->moved[i]) || survey_top(edit, edit->moved[i]);
    }
    return is_done;
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
            !add_new_tree(edit, slot)) {
            return false;
        }
    }
    return true;
}

// Set the capacities of the growths of the group, whose arrivals are all counted. At most as much
// spare room as there are nodes now, or that of a new tree: a tree that grows repeatedly moves rarely.
// @return false: too many nodes.
static bool size_growths(espl__edit *edit, size_t from)
{
    for (size_t i = from; i < espl__array_length(edit->relocations); ++i) {
        espl__relocation *const relocation = &edit->relocations[i];

        if (relocation->is_new || relocation->range.capacity == 0) {
            continue;
        }
        const espl__tree *const t = &edit->forest->trees[relocation->tree];

        if (t->incoming >= UINT32_MAX / 4) {
            return espl__edit_fail(edit);
        }
        const uint32_t count = t->live + t->incoming;

        relocation->range.capacity = espl__tree_kept_room(count, count + t->live);
    }
    return true;
}

// Sort the stale nodes of the group by slot, so that parents come first. Each group is sorted by
// itself, because trees become due in this order, which must not depend on how groups are divided
// among edits.
static void sort_stale(espl__edit *edit)
{
    ESPL_CHECK(espl__array_length(edit->stale) >= edit->stale_from);
    const size_t count = espl__array_length(edit->stale) - edit->stale_from;

    // Without one the array may be NULL, to which nothing may be added.
    if (count > 1) {
        espl__sort_slots(edit->stale + edit->stale_from, count);
    }
}

espl_status espl__edit_survey_moved(espl__edit *edit)
{
    const size_t from = espl__array_length(edit->relocations);
    const bool is_done = survey_moved(edit) &&
                         (espl__array_length(edit->relocations) == from || size_growths(edit, from)) &&
                         (edit->nursery == edit->nursery_begin || survey_new_roots(edit));

    sort_stale(edit);
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

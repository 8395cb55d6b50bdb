// SPDX-License-Identifier: MIT
// The relocations of edits: subtrees that were linked to another tree move to its range, new roots
// get ranges of their own, and trees that outgrew their range are laid out in a longer one. The
// survey listed them. After a relocation all invariants of forest.h hold again.
//
// There are three stages. Reserve allocates everything for all edits, and can fail. Relocate moves
// nodes and may run concurrently for edits of different trees, so that it allocates nothing and
// writes no header of a tree of another edit. Finish runs on the calling thread and writes what is
// shared: free ranges, free headers, the list of unsettled trees. The slots that trees get depend
// on the order of groups alone, not on how groups are divided among edits.
#include "lib/tree/relocation.h"

#include "lib/base/prefetch.h"
#include "lib/tree/layout.h"
#include "lib/tree/links.h"
#include "lib/tree/range_parts.h"

// --- Reserve ---

// Allocate side arrays for a new range, or the ones that a tree lacks for what arrives. @return
// false: no memory.
static bool reserve_side(espl__forest *forest, espl__relocation *relocation)
{
    uint32_t capacity = relocation->range.capacity;
    bool needs_side = relocation->needs_side, needs_kept = relocation->needs_kept;

    if (relocation->is_head) {
        return true;
    }
    if (!relocation->is_new) {
        const espl__tree *const t = &forest->trees[relocation->tree];

        needs_kept = (t->flags & ESPL__TREE_WANTS_KEPT) != 0;
        if (capacity != 0) {
            needs_side = t->side != 0 || (t->flags & ESPL__TREE_WANTS_SIDE) != 0;
            needs_kept = needs_kept || (t->side & ESPL__HAS_KEPT) != 0;
        } else {
            // The growth of a tree has its side arrays.
            needs_side = (t->flags & ESPL__TREE_GROWS) == 0 &&
                         (t->side & (needs_kept ? ESPL__HAS_KEPT : ESPL__HAS_SIDE)) == 0;
            capacity = t->capacity;
        }
    }
    if (needs_side) {
        relocation->side = espl__side_make(forest, capacity, needs_kept);
    }
    return !needs_side || relocation->side != NULL;
}

// Allocate the side arrays of one edit, and add the slots, headers and side arrays that it needs to the
// sums.
static espl_status reserve_edit(const espl__edit *edit, size_t *slots, size_t *trees,
                                size_t *sides)
{
    bool is_done = true;

    for (size_t i = 0; i < espl__array_length(edit->relocations) && is_done; ++i) {
        espl__relocation *const relocation = &edit->relocations[i];

        *slots += relocation->is_adopted ? 0 : relocation->range.capacity;
        *trees += relocation->is_new ? 1 : 0;
        is_done = reserve_side(edit->forest, relocation);
        *sides += relocation->side != NULL ? 1 : 0;
    }
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Clear the flags that a tree has from the survey to the end of the edit.
static void clear_wants(espl__tree *t)
{
    t->flags &= ~(uint32_t)(ESPL__TREE_GROWS | ESPL__TREE_WANTS_SIDE | ESPL__TREE_WANTS_KEPT |
                            ESPL__TREE_HEADS);
}

// Free the side arrays that the reserve allocated. Those of trees are not freed, because the undo may
// store to them.
static void drop_reserved_sides(espl__edit *edit)
{
    for (size_t i = 0; i < espl__array_length(edit->relocations); ++i) {
        espl__side_free(edit->forest, edit->relocations[i].side);
        edit->relocations[i].side = NULL;
    }
}

void espl__relocations_drop(espl__edit *edit)
{
    drop_reserved_sides(edit);
    for (size_t i = 0; i < espl__array_length(edit->relocations); ++i) {
        if (edit->relocations[i].tree != ESPL__NO_TREE) {
            clear_wants(&edit->forest->trees[edit->relocations[i].tree]);
        }
    }
    espl__array_set_length(edit->relocations, 0);
}

// Take the headers and ranges of new trees, or the ranges of growths. The caller takes those of new
// trees for all edits first.
static void take_reserved(espl__edit *edit, bool is_new)
{
    espl__forest *const forest = edit->forest;

    for (size_t i = 0; i < espl__array_length(edit->relocations); ++i) {
        espl__relocation *const relocation = &edit->relocations[i];

        if (relocation->is_new && is_new) {
            relocation->tree = espl__tree_take(forest);
        }
        if (relocation->range.capacity != 0 && relocation->is_new == is_new) {
            relocation->range.base = relocation->is_adopted
                                         ? relocation->root
                                         : espl__range_take(forest, relocation->range.capacity);
        }
    }
}

// All that can fail is here. The ranges are taken last, so that a failure has none to free.
espl_status espl__relocations_reserve(espl__forest *forest, espl__edit *const *edits, size_t count)
{
    size_t slots = 0, trees = 0, sides = 0, relocations = 0;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count; ++i) {
        relocations += espl__array_length(edits[i]->relocations);
    }
    // Fast path: most immediate calls relocate nothing.
    if (relocations == 0) {
        return ESPL_OK;
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = reserve_edit(edits[i], &slots, &trees, &sides);
    }
    if (status == ESPL_OK && slots + trees != 0) {
        status = espl__forest_reserve(forest, slots, trees);
    }
    if (status == ESPL_OK && !espl__sides_reserve(forest, sides)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    // From here on nothing fails: the room is reserved.
    for (size_t i = 0; i < 2 * count && status == ESPL_OK; ++i) {
        take_reserved(edits[i % count], i < count);
    }
    for (size_t i = 0; i < count && status != ESPL_OK; ++i) {
        drop_reserved_sides(edits[i]);
    }
    return status;
}

// --- Relocate ---

// Propagate below all stale nodes. The survey sorted them, so that nodes below two stale ones are
// recomputed once. In a tree whose nodes are in several ranges they may be recomputed twice, to the
// same bits.
static void propagate_stale(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->stale);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = edit->stale[i];

        if (!espl__slot_is(forest, slot, ESPL__SLOT_STALE) || espl__slot_is_dead(forest, slot)) {
            continue;
        }
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
        const espl__tree *const t = espl__tree_of(forest, slot);
        // The fast path needs all descendants in the range of the tree.
        const bool is_whole = forest->tree[slot] != forest->nursery && t->incoming == 0 &&
                              t->moved == 0 && espl__tree_is_single(forest, t);

        if (is_whole) {
            espl__propagate_below(forest, &edit->context, slot);
        } else {
            espl__propagate_by_links(forest, &edit->context, slot);
        }
    }
}

// --- Overflow ---

// Search at a node, if it is alive, or clear the marks of that search. @return false: a world is not finite.
static bool search_change(espl__forest *forest, uint32_t slot, bool clears)
{
    uint64_t visited = 0;

    if (espl__slot_is_dead(forest, slot)) {
        return true;
    }
    if (clears) {
        espl__clear_search(forest, slot);
    }
    return clears || !espl__searches_overflow(forest, slot, &visited);
}

// Search at each node that the edit changed or made, or clear the marks. @return false: a world is not
// finite.
static bool search_changes(const espl__edit *edit, bool clears)
{
    espl__forest *const forest = edit->forest;
    bool is_finite = true;

    for (size_t i = 0; is_finite && i < espl__array_length(edit->stale); ++i) {
        is_finite = search_change(forest, edit->stale[i], clears);
    }
    for (size_t i = 0; is_finite && i < espl__array_length(edit->made); ++i) {
        is_finite = search_change(forest, edit->made[i].slot, clears);
    }
    for (size_t i = 0; is_finite && i < espl__array_length(edit->locals); ++i) {
        is_finite = search_change(forest, edit->locals[i].slot, clears);
    }
    for (size_t i = 0; is_finite && i < espl__array_length(edit->log); ++i) {
        const unsigned kind = edit->log[i].kind;

        is_finite = (kind != ESPL__UNDO_PLACE && kind != ESPL__UNDO_LINK) ||
                    search_change(forest, edit->log[i].slot, clears);
    }
    return is_finite;
}

// Find out whether a world is not finite after the edit: inside the edit one may have been, and be finite
// again. The search is skipped where no world was ever found not finite. It must not be skipped where
// another edit found one, because a subtree may have had such worlds before, and the answer must not depend
// on how groups are divided among edits.
static void search_edit(espl__edit *edit)
{
    edit->ends_overflowed = false;
    if (espl__may_be_overflowed(edit->forest, &edit->context)) {
        edit->ends_overflowed = !search_changes(edit, false);
        (void)search_changes(edit, true);
    }
}

// Make slots of the nursery from the root on the range of a new tree: compute the counts, which the
// nursery does not have, and copy the side entries. @return the header.
static espl__tree adopt(espl__forest *forest, const espl__relocation *relocation)
{
    const uint32_t root = relocation->root, end = root + relocation->count;
    const uint32_t capacity = relocation->range.capacity;
    espl__side *const side = relocation->side;
    uint32_t exceptional = 0;

    for (uint32_t slot = root; slot < end; ++slot) {
        ESPL_CHECK(forest->tree[slot] == forest->nursery);
        if (side != NULL) {
            espl__node_copy_side(forest, slot, slot, root, side);
        } else {
            forest->flags[slot] &= (uint8_t)~ESPL__SLOT_SIDE;
        }
        exceptional += espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    }
    for (uint32_t slot = root; slot < root + capacity; ++slot) {
        forest->tree[slot] = relocation->tree;
    }
    return espl__tree_in_order(root, capacity, end - root, exceptional);
}

// Move a new or growing tree to its new range, or give a tree side arrays. The header is written by
// espl__relocations_finish(), because nodes in the old range that move to other trees are still read
// through it.
static void relocate_tree(const espl__transfer *transfer, espl__relocation *relocation)
{
    espl__forest *const forest = transfer->to;
    espl__tree *const range = &relocation->range;

    if (relocation->is_adopted) {
        *range = adopt(forest, relocation);
    } else if (range->capacity != 0) {
        *range = espl__copy_in_order(transfer, relocation->root, relocation->tree, range->base,
                                     range->capacity, relocation->side);
    } else if (relocation->side != NULL) {
        espl__tree_set_side(forest, relocation->tree, relocation->side);
    }
}

// Link the copy of a node in place of the node among its siblings, below the same parent.
static void replace_among_siblings(espl__links *links, uint32_t slot, uint32_t old, uint32_t parent)
{
    const uint32_t first = links[parent].first_child;
    const uint32_t next = links[old].next, previous = links[old].previous;

    ESPL_CHECK(first != ESPL__NO_SLOT);
    // `previous` of an only child is the child itself.
    links[slot].next = next;
    links[slot].previous = previous == old ? slot : previous;
    if (first == old) {
        links[parent].first_child = slot;
    } else {
        links[previous].next = slot;
    }
    if (next != ESPL__NO_SLOT) {
        links[next].previous = slot;
    } else if (first != old) {
        links[first].previous = slot;
    }
}

// Copy one node of an arriving subtree to a slot of its tree above `parent`, which is the new slot of
// its parent. @return the new slot.
ESPL__INLINE uint32_t copy_arrival(const espl__transfer *transfer, espl__tree *t, uint32_t old,
                                   uint32_t parent)
{
    espl__forest *const forest = transfer->to;
    espl__links *const links = forest->links;
    uint32_t after = 0;
    const uint32_t slot = espl__slot_find(forest, t, parent, &after);

    ESPL_CHECK(slot != ESPL__NO_SLOT && parent < slot);
    t->live += 1;
    t->exceptional += espl__slot_is(forest, old, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    forest->parent[slot] = parent;
    links[slot].first_child = ESPL__NO_SLOT;
    links[slot].entity = links[old].entity;
    espl__node_copy(transfer, slot, old, t->base, espl__side_of(forest, t));
    transfer->moved(transfer->context, &links[slot].entity, slot, 1);
    return slot;
}

// Copy the nodes below the top of an arriving subtree. `previous` of an old slot is the new slot from
// then on, so that its children find their new parent; the other links of the old slot stay for the
// walk. @return how many there are.
static uint32_t copy_arrivals_below(const espl__transfer *transfer, espl__tree *t, uint32_t top,
                                uint32_t copied)
{
    espl__links *const links = transfer->to->links;
    uint32_t count = 0;

    links[top].previous = copied;
    for (uint32_t slot = links[top].first_child; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(transfer->to, slot, top, true)) {
        const uint32_t parent = links[transfer->to->parent[slot]].previous;
        const uint32_t copy = copy_arrival(transfer, t, slot, parent);

        espl__links_insert(links, copy, parent, ESPL__NO_SLOT);
        links[slot].previous = copy;
        count += 1;
    }
    return count;
}

// Move an arriving subtree to free slots of the tree of its parent, unless that tree was copied with
// its arrivals. @return how many nodes moved.
static uint32_t relocate_arrival(const espl__transfer *transfer, uint32_t top)
{
    espl__forest *const forest = transfer->to;
    const uint32_t parent = forest->parent[top];
    espl__tree *const t = espl__tree_of(forest, parent);

    if ((t->flags & ESPL__TREE_GROWS) != 0) {
        return 0;
    }
    const uint32_t slot = copy_arrival(transfer, t, top, parent);

    replace_among_siblings(forest->links, slot, top, parent);
    t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
    t->incoming = 0; // of the arrivals, which all move now
    if (forest->links[top].first_child == ESPL__NO_SLOT) {
        espl__slot_free(forest, top);
        return 1;
    }
    const uint32_t below = copy_arrivals_below(transfer, t, top, slot);

    espl__subtree_free(forest, top, NULL, NULL);
    return below + 1;
}

void espl__arrival_relocate(espl__forest *forest, uint32_t top, espl__moved_function moved,
                            void *context)
{
    const espl__transfer transfer = {forest, forest, moved, context};

    ESPL_CHECK(espl__tree_of(forest, forest->parent[top])->side == 0);
    forest->nodes_moved += relocate_arrival(&transfer, top);
}

// Prefetch the slot that a moved node likely gets.
static void prefetch_arrival(const espl__forest *forest, uint32_t top)
{
    const uint32_t parent = forest->parent[top];

    if (parent != ESPL__NO_SLOT) {
        espl__arrival_prefetch(forest, espl__tree_of(forest, parent));
    }
}

// Move all arriving subtrees. @param moved  edit->moved
static void relocate_arrivals(const espl__transfer *transfer, const uint32_t *moved)
{
    enum { AHEAD = 6 };
    const espl__forest *const forest = transfer->to;
    const size_t count = espl__array_length(moved);
    const bool is_far = espl__forest_is_far(forest);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = moved[i];

        if (is_far && i + AHEAD < count) {
            prefetch_arrival(forest, moved[i + AHEAD]);
        }
        // A slot that was copied and freed has no flag. In the nursery it has, but its node is dead.
        if (espl__slot_is(forest, slot, ESPL__SLOT_MOVED) && !espl__slot_is_dead(forest, slot)) {
            (void)relocate_arrival(transfer, slot);
        }
    }
}

// Keep those entries of edit->moved whose tree espl__relocations_finish() has to look at: all of its
// nodes moved to other trees, or no node needs its side arrays any more.
static void list_left(espl__edit *edit)
{
    const espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->moved);
    size_t kept = 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = edit->moved[i];
        espl__tree *const t = espl__tree_of(forest, slot);

        // The header of the nursery has no counts, because all edits share it.
        if (forest->tree[slot] == forest->nursery) {
            continue;
        }
        t->moved = 0;
        if (t->live == 0 || espl__side_is_unneeded(espl__side_of(forest, t))) {
            edit->moved[kept++] = slot;
        }
    }
    espl__array_set_length(edit->moved, kept);
}

// Free the slots of the dead, and keep in their list those whose trees release_dead() tests.
static void free_dead(espl__edit *edit)
{
    espl__removed *const removed = edit->removed;
    const size_t count = espl__array_length(removed);
    const size_t listed = espl__dead_free(edit->forest, removed, count);

    for (size_t i = 0; i < listed && listed != count; ++i) {
        removed[i] = removed[count - listed + i];
    }
    espl__array_set_length(removed, listed);
}

// Tell whether an edit frees or moves nodes, or gives a tree side arrays. One that only made nodes in
// the ranges of their parents, as most immediate calls, does not.
static inline bool has_relocations(const espl__edit *edit)
{
    return (espl__array_length(edit->removed) | espl__array_length(edit->moved) |
            espl__array_length(edit->relocations)) != 0;
}

// Arrivals need slots of the dead, so that these are freed first.
void espl__edit_relocate(espl__edit *edit, espl__moved_function moved, void *context)
{
    espl__forest *const forest = edit->forest;
    const espl__transfer transfer = {forest, forest, moved, context};
    const size_t count = espl__array_length(edit->relocations);

    // Worlds are final before nodes move, because the copies are not recomputed. Growths come
    // before arrivals, because they take their arrivals along.
    propagate_stale(edit);
    search_edit(edit);
    if (!has_relocations(edit)) {
        return;
    }
    if (espl__array_length(edit->removed) != 0) {
        free_dead(edit);
    }
    for (size_t i = 0; i < count; ++i) {
        relocate_tree(&transfer, &edit->relocations[i]);
    }
    relocate_arrivals(&transfer, edit->moved);
    for (size_t i = 0; i < count; ++i) {
        if (edit->relocations[i].is_head) {
            espl__part_relocate_head(&transfer, &edit->relocations[i]);
        }
    }
    list_left(edit);
}

// --- Finish ---

// Tell whether a slot is in the range of the tree whose number it has. A slot that its node has left may be in a
// free range since then, where it has any number.
static bool is_in_range(const espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];

    return tree < forest->tree_end && tree != forest->nursery &&
           slot - forest->trees[tree].base < forest->trees[tree].capacity;
}

// Free the tree of a slot if no node is left in it.
static void release_if_empty(espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];
    const espl__tree *const t = &forest->trees[tree];

    if (t->live == 0) {
        espl__tree_release(forest, tree);
    } else if (t->side != 0) {
        espl__tree_drop_side(forest, tree);
    }
}

// Mark the tree of a slot as unsettled if its layout debt became due, and free side arrays that no
// entry needs.
static void note_due_tree(espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];
    espl__tree *const t = &forest->trees[tree];

    if ((t->flags & ESPL__TREE_DUE) != 0) {
        t->flags &= ~(uint32_t)ESPL__TREE_DUE;
        espl__tree_mark_unsettled(forest, tree);
    }
    if (t->side != 0) {
        espl__tree_drop_side(forest, tree);
    }
}

// Call a function for each tree of a list of slots, as far as these are of trees. Entries of a list are mostly of
// one tree, which is processed once then. @param items  [count] each begins with a slot; @param stride  in words.
static void for_each_tree(espl__forest *forest, const void *items, size_t stride,
                          void (*function)(espl__forest *forest, uint32_t slot))
{
    const uint32_t *const slots = items;
    const size_t count = espl__array_length(items);
    uint32_t last = ESPL__NO_TREE;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = slots[i * stride], tree = forest->tree[slot];

        if (tree != last && is_in_range(forest, slot)) {
            function(forest, slot);
            last = tree;
        }
    }
}

// The trees of stale nodes.
static void note_due_stale(espl__forest *forest, const espl__edit *edit)
{
    for_each_tree(forest, edit->stale, 1, note_due_tree);
}

// The trees of nodes whose placement or side arrays changed. Most edits change none.
static void note_due_placed(espl__forest *forest, const espl__edit *edit)
{
    if ((espl__array_length(edit->saved) | espl__array_length(edit->locals)) == 0 &&
        !edit->has_side) {
        return;
    }
    for (size_t i = 0; i < espl__array_length(edit->log); ++i) {
        const unsigned kind = edit->log[i].kind;

        if ((kind == ESPL__UNDO_PLACE || kind == ESPL__UNDO_RUN || kind == ESPL__UNDO_SIDE) &&
            is_in_range(forest, edit->log[i].slot)) {
            note_due_tree(forest, edit->log[i].slot);
        }
    }
}

// The trees of new nodes. Where no debt became due and none of them has side arrays, nothing is to
// be done.
static void note_due_made(espl__forest *forest, const espl__edit *edit)
{
    if (edit->context.has_due || edit->has_side) {
        for_each_tree(forest, edit->made, sizeof *edit->made / sizeof(uint32_t), note_due_tree);
    }
}

// Free trees whose nodes all died. They are found by the old slots, whose `tree` is still theirs.
static void release_dead(espl__forest *forest, const espl__edit *edit)
{
    for_each_tree(forest, edit->removed, sizeof *edit->removed / sizeof(uint32_t),
                  release_if_empty);
}

// Free trees whose nodes all moved to other trees.
static void release_left(espl__forest *forest, const espl__edit *edit)
{
    for_each_tree(forest, edit->moved, 1, release_if_empty);
}

// Tell whether some step of espl__relocations_finish() may have something to do for an edit.
static inline bool needs_finish(const espl__edit *edit)
{
    return (espl__array_length(edit->stale) | espl__array_length(edit->saved) |
            espl__array_length(edit->locals)) != 0 ||
           edit->has_side || edit->context.has_due || has_relocations(edit);
}

// Complete the headers of all relocated trees, and free side arrays that are not needed: where a
// copied extra was out of date, the survey found more than there is.
static void point_headers(espl__forest *forest, const espl__edit *edit)
{
    forest->nodes_moved += edit->arriving;
    for (size_t i = 0; i < espl__array_length(edit->relocations); ++i) {
        const espl__relocation *const relocation = &edit->relocations[i];
        const uint32_t tree = relocation->tree;

        if (relocation->is_new) {
            forest->trees[tree] = relocation->range;
            espl__tree_put_side(forest, tree, relocation->side);
            forest->nodes_moved += relocation->is_adopted ? 0 : relocation->count;
        } else if (relocation->range.capacity != 0) {
            espl__tree_replace(forest, tree, &relocation->range, relocation->side);
        } else {
            clear_wants(&forest->trees[tree]);
        }
        espl__tree_drop_side(forest, tree);
    }
}

// Free the slots of the nursery that no new tree adopted. Adopted trees are in ascending order over
// all edits, because each group has its part of the nursery.
static void give_rest(espl__forest *forest, espl__edit *const *edits, size_t count, uint32_t begin,
                      uint32_t end)
{
    uint32_t at = begin;

    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < espl__array_length(edits[i]->relocations); ++k) {
            const espl__relocation *const relocation = &edits[i]->relocations[k];

            if (relocation->is_adopted) {
                ESPL_CHECK(relocation->root >= at && relocation->root < end);
                if (relocation->root > at) {
                    espl__range_give(forest, at, relocation->root - at);
                }
                at = relocation->root + relocation->range.capacity;
            }
        }
    }
    if (end > at) {
        espl__range_give(forest, at, end - at);
    }
}

void espl__relocations_finish(espl__forest *forest, espl__edit *const *edits, size_t count,
                              uint32_t nursery_begin, uint32_t nursery_end)
{
    // Each step runs over all edits before the next one, so that the result does not depend on how
    // groups are divided among edits.
    static void (*const steps[])(espl__forest *, const espl__edit *) = {
        note_due_stale, note_due_placed, note_due_made, release_dead, release_left, point_headers,
    };

    bool is_needed = false;

    for (size_t i = 0; i < count && !is_needed; ++i) {
        is_needed = needs_finish(edits[i]);
    }
    for (size_t step = 0; step < sizeof steps / sizeof *steps && is_needed; ++step) {
        for (size_t i = 0; i < count; ++i) {
            steps[step](forest, edits[i]);
        }
    }
    if (nursery_begin != nursery_end) {
        give_rest(forest, edits, count, nursery_begin, nursery_end);
    }
}

// SPDX-License-Identifier: MIT
// Where nodes come to be once an edit is done: subtrees that came to another tree move to its range, new
// roots get ranges of their own, and trees that outgrew their range are laid out in a larger one. What
// moves was listed by the survey.
#include "lib/tree/edit_steps.h"

#include "lib/base/prefetch.h"
#include "lib/tree/layout.h"

// --- Reserve ---

// Flags of trees between reserve and finish, above those that last.
enum {
    GETS_RANGE = 256, // the tree is laid out in a new range
    WANTS_SIDE = 512,
    WANTS_KEPT = 1024,
    IS_NOTED = 2048, // what it wants is taken care of
};

static bool is_arrival(const espl__relocation *place)
{
    return !place->is_new && place->capacity == 0;
}

// The tree that a subtree comes to: see what it wants, and list it where its range is too short.
static espl_status note_arrival(espl__edit *edit, size_t number)
{
    espl__forest *const forest = edit->forest;
    const espl__relocation place = edit->places[number];
    espl__tree *const t = &forest->trees[place.tree];

    t->flags |= place.needs_side ? (uint32_t)WANTS_SIDE : 0u;
    t->flags |= place.needs_kept ? (uint32_t)WANTS_KEPT : 0u;
    if ((t->flags & GETS_RANGE) != 0 || t->used + t->incoming <= t->capacity) {
        return ESPL_OK;
    }
    if (t->incoming >= UINT32_MAX / 4 || !ESPL__EDIT_RESERVE(edit, places, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const uint32_t count = t->live + t->incoming, spare = espl__tree_room(count) - count;

    // No more to spare than there are nodes already: a tree that was just made is as large as it needs
    // to be, and one that grows again and again moves rarely.
    t->flags |= GETS_RANGE;
    ESPL_ARRAY_PUSH(edit->places,
                    (espl__relocation){.root = t->base,
                                       .tree = place.tree,
                                       .count = count,
                                       .capacity = count + (spare < t->live ? spare : t->live)});
    return ESPL_OK;
}

static bool make_side(espl__forest *forest, espl__relocation *place, uint32_t capacity, bool keeps)
{
    place->side = espl__side_make(forest->heap, capacity, keeps);
    return place->side != NULL;
}

// Side arrays for a new range, or for a tree that gets its first ones.
static bool reserve_side(espl__forest *forest, espl__relocation *place)
{
    if (place->is_new) {
        return !place->needs_side ||
               make_side(forest, place, place->capacity, place->needs_kept);
    }
    espl__tree *const t = &forest->trees[place->tree];
    const bool has_kept = t->side != NULL && t->side->kept != NULL;
    const bool wants_kept = (t->flags & WANTS_KEPT) != 0;
    const bool wants_side = (t->flags & WANTS_SIDE) != 0;

    if ((t->flags & GETS_RANGE) != 0) {
        return is_arrival(place) || (t->side == NULL && !wants_side) ||
               make_side(forest, place, place->capacity, has_kept || wants_kept);
    }
    if ((t->flags & IS_NOTED) != 0 || (t->side != NULL && (has_kept || !wants_kept)) ||
        !wants_side) {
        return true;
    }
    t->flags |= IS_NOTED;
    return make_side(forest, place, t->capacity, wants_kept);
}

static espl_status reserve_edit(espl__edit *edit, size_t *slots, size_t *trees)
{
    espl__forest *const forest = edit->forest;
    espl_status status = ESPL_OK;
    const size_t surveyed = espl__array_length(edit->places);

    for (size_t i = 0; i < surveyed && status == ESPL_OK; ++i) {
        espl__relocation *const place = &edit->places[i];

        if (place->is_new) {
            place->capacity = place->count;
            *slots += place->is_adopted ? 0 : place->capacity;
            *trees += 1;
        } else {
            status = note_arrival(edit, i);
        }
    }
    for (size_t i = surveyed; i < espl__array_length(edit->places); ++i) {
        *slots += edit->places[i].capacity;
    }
    for (size_t i = 0; i < espl__array_length(edit->places) && status == ESPL_OK; ++i) {
        status = reserve_side(forest, &edit->places[i]) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
    }
    return status;
}

// Flags and counts in headers that only mean something until the edit is done.
static void clear_tree(espl__tree *t)
{
    t->flags &= ~(uint32_t)(GETS_RANGE | WANTS_SIDE | WANTS_KEPT | IS_NOTED);
    t->incoming = 0;
    t->moved = 0;
}

static void drop_reserved(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;

    for (size_t i = 0; i < espl__array_length(edit->places); ++i) {
        espl__relocation *const place = &edit->places[i];

        espl__side_free(forest->heap, place->side);
        place->side = NULL;
        if (place->tree != ESPL__NO_TREE) {
            // Side arrays stay, also those that nothing needs now: the undo may.
            clear_tree(&forest->trees[place->tree]);
        }
    }
}

// New trees of all edits come first, then those that grow, so that what each gets does not depend on how
// groups are divided among edits.
static void take_reserved(espl__edit *edit, bool is_new)
{
    espl__forest *const forest = edit->forest;

    for (size_t i = 0; i < espl__array_length(edit->places); ++i) {
        espl__relocation *const place = &edit->places[i];

        if (place->is_new && is_new) {
            place->tree = espl__tree_take(forest);
        }
        if (place->capacity != 0 && place->is_new == is_new) {
            place->base =
                place->is_adopted ? place->root : espl__range_take(forest, place->capacity);
        }
    }
}

espl_status espl__places_reserve(espl__forest *forest, espl__edit *const *edits, size_t count)
{
    size_t slots = 0, trees = 0;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = reserve_edit(edits[i], &slots, &trees);
    }
    if (status == ESPL_OK && slots + trees != 0) {
        status = espl__forest_reserve(forest, slots, trees);
    }
    for (size_t i = 0; i < 2 * count && status == ESPL_OK; ++i) {
        take_reserved(edits[i % count], i < count);
    }
    for (size_t i = 0; i < count && status != ESPL_OK; ++i) {
        drop_reserved(edits[i]);
    }
    return status;
}

// --- Placing ---

// The survey sorted the stale nodes of each group, so that what is below another stale node is computed
// once. Where nodes are in several ranges it may be computed twice, to the same bits in the end.
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

// Count the worlds that are not finite at a node and below it, of nodes that have no mark yet, and mark
// all of them. Nothing counts below a node that keeps its world.
static uint64_t count_overflowed_at(espl__forest *forest, uint32_t top)
{
    uint64_t count = 0;

    if (espl__slot_is_dead(forest, top)) {
        return 0;
    }
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;) {
        const bool is_open = !espl__slot_is(forest, slot, ESPL__SLOT_MARK) &&
                             (slot == top || !espl__slot_keeps_world(forest, slot));

        count += is_open && !espl__pose_is_finite(&forest->world[slot]) ? 1 : 0;
        forest->flags[slot] |= is_open ? ESPL__SLOT_MARK : 0;
        slot = espl__next_in_walk(forest, slot, top, is_open);
    }
    return count;
}

static uint64_t clear_marks_at(espl__forest *forest, uint32_t top)
{
    for (uint32_t slot = top; slot != ESPL__NO_SLOT && !espl__slot_is_dead(forest, slot);) {
        const bool is_marked = espl__slot_is(forest, slot, ESPL__SLOT_MARK);

        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MARK;
        slot = espl__next_in_walk(forest, slot, top, is_marked);
    }
    return 0;
}

// Call a function for each node that the edit changed or made.
static uint64_t for_each_change(const espl__edit *edit,
                                uint64_t (*function)(espl__forest *forest, uint32_t slot))
{
    uint64_t sum = 0;

    for (size_t i = 0; i < espl__array_length(edit->stale); ++i) {
        sum += function(edit->forest, edit->stale[i]);
    }
    for (size_t i = 0; i < espl__array_length(edit->made); ++i) {
        sum += function(edit->forest, edit->made[i].slot);
    }
    for (size_t i = 0; i < espl__array_length(edit->log); ++i) {
        const unsigned kind = edit->log[i].kind;

        if (kind == ESPL__UNDO_PLACE || kind == ESPL__UNDO_LINK) {
            sum += function(edit->forest, edit->log[i].slot);
        }
    }
    return sum;
}

// A world that was not finite for a while may be finite again, and one may have been computed several
// times. So those that are left are counted, where some were computed. In a world that ever overflowed
// they are counted in any case, because a group without any may have some of old below its changes, and
// the sum must not depend on the groups that it shares an edit with.
static void recount_overflowed(espl__edit *edit)
{
    edit->overflow_events = edit->context.counts.overflowed;
    if (edit->overflow_events != 0 || edit->forest->context.counts.overflowed != 0) {
        edit->context.counts.overflowed = for_each_change(edit, count_overflowed_at);
        (void)for_each_change(edit, clear_marks_at);
    }
}

static void free_dead(espl__edit *edit)
{
    enum { FAR = 12, MIDDLE = 8, NEAR = 4 };
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->removed);

    for (size_t i = count; i > 0; --i) {
        if (i > FAR) {
            const espl__removed *const now = &edit->removed[i - 1];
            const uint32_t far = now[-FAR].slot, near = now[-NEAR].slot;
            const espl__tree *const t = espl__tree_of(forest, near);

            espl__prefetch_to_write(&forest->links[far]);
            espl__prefetch_to_write(&forest->flags[far]);
            espl__prefetch_to_write(&forest->parent[far]);
            espl__prefetch(&forest->tree[far]);
            espl__prefetch_to_write(espl__tree_of(forest, now[-MIDDLE].slot));
            espl__side_ask(t->side, t->capacity, near - t->base);
        }
        espl__slot_free(forest, edit->removed[i - 1].slot);
    }
}

// A tree in a new range. Its header is pointed there by espl__places_finish(), because nodes that left
// for other trees are still to be found in the old one.
static void place_tree(espl__edit *edit, espl__relocation *place, espl__moved_function moved,
                       void *context)
{
    espl__forest *const forest = edit->forest;
    uint32_t exceptional = 0;
    const uint32_t count = espl__copy_in_order(forest, place->root, place->tree, place->base,
                                               place->side, &exceptional, moved, context);

    for (uint32_t slot = place->base + count; slot < place->base + place->capacity; ++slot) {
        forest->tree[slot] = place->tree;
    }
    ESPL_CHECK(count <= place->capacity);
    place->count = count;
    place->exceptional = exceptional;
}

// A new tree that stays where it was made.
static void adopt(espl__edit *edit, espl__relocation *place)
{
    espl__forest *const forest = edit->forest;
    const espl__tree *const nursery = &forest->trees[forest->nursery];
    const uint32_t end = place->root + place->count;

    place->exceptional = 0;
    for (uint32_t slot = place->root; slot < end; ++slot) {
        if (place->side != NULL) {
            const uint32_t at = slot - nursery->base;
            const espl__extra extra = nursery->side->extra[at];

            place->side->extra[slot - place->root] = extra;
            place->side->extra_count +=
                !espl__slot_copies(forest, slot) && !espl__extra_is_default(&extra) ? 1 : 0;
            if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
                place->side->kept[slot - place->root] = nursery->side->kept[at];
                place->side->kept_count += 1;
            }
        } else {
            forest->flags[slot] &= (uint8_t)~ESPL__SLOT_SIDE;
        }
        place->exceptional += espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    }
    for (uint32_t slot = place->root; slot < end; ++slot) {
        forest->tree[slot] = place->tree;
    }
}

// Put a copy of a node in the place of the node among its siblings, below the same parent.
static void replace_among_siblings(espl__forest *forest, uint32_t slot, uint32_t old)
{
    espl__links *const links = forest->links;
    const uint32_t parent = forest->parent[old], first = links[parent].first_child;
    const uint32_t next = links[old].next, previous = links[old].previous;

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
    forest->parent[slot] = parent;
}

static void append_child(espl__forest *forest, uint32_t slot, uint32_t parent)
{
    espl__links *const links = forest->links;
    const uint32_t first = links[parent].first_child;

    forest->parent[slot] = parent;
    links[slot].next = ESPL__NO_SLOT;
    links[slot].previous = slot;
    if (first == ESPL__NO_SLOT) {
        links[parent].first_child = slot;
        return;
    }
    links[slot].previous = links[first].previous;
    links[links[first].previous].next = slot;
    links[first].previous = slot;
}

// Copy one node of a subtree to a slot of its tree above its parent. `previous` of the old slot names the
// new one from then on, and nothing else of it changes.
static uint32_t copy_arrival(espl__forest *forest, uint32_t tree, uint32_t old, uint32_t top,
                             espl__moved_function moved, void *context)
{
    espl__tree *const t = &forest->trees[tree];
    const uint32_t parent =
        old == top ? forest->parent[old] : forest->links[forest->parent[old]].previous;
    uint32_t after = 0;
    const uint32_t slot = espl__slot_take(forest, tree, parent, &after);
    const uint32_t entity = forest->links[old].entity;

    ESPL_CHECK(slot != ESPL__NO_SLOT);
    t->roots -= 1;
    t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
    espl__node_copy(forest, slot, old, t->base, t->side);
    t->exceptional += espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    forest->links[slot].first_child = ESPL__NO_SLOT;
    forest->links[slot].entity = entity;
    if (old == top) {
        replace_among_siblings(forest, slot, old);
    } else {
        append_child(forest, slot, parent);
    }
    forest->links[old].previous = slot;
    moved(context, entity, slot);
    return slot;
}

static uint32_t deepest_first(const espl__forest *forest, uint32_t slot)
{
    while (forest->links[slot].first_child != ESPL__NO_SLOT) {
        slot = forest->links[slot].first_child;
    }
    return slot;
}

// Children before parents, because freeing a slot ends its links. The old top hangs below nothing now.
static void free_subtree(espl__forest *forest, uint32_t top)
{
    for (uint32_t slot = deepest_first(forest, top);;) {
        const uint32_t parent = forest->parent[slot], next = forest->links[slot].next;
        const bool is_top = slot == top;

        espl__slot_free(forest, slot);
        if (is_top) {
            return;
        }
        if (next != ESPL__NO_SLOT) {
            slot = deepest_first(forest, next);
        } else {
            slot = parent;
        }
    }
}

static void place_arrival(espl__edit *edit, espl__relocation *place, espl__moved_function moved,
                          void *context)
{
    espl__forest *const forest = edit->forest;
    const uint32_t top = place->root;

    if (place->side != NULL) {
        espl__tree_set_side(forest, place->tree, place->side);
        place->side = NULL;
    }
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        (void)copy_arrival(forest, place->tree, slot, top, moved, context);
    }
    free_subtree(forest, top);
}

void espl__edit_place(espl__edit *edit, espl__moved_function moved, void *context)
{
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->places);

    propagate_stale(edit);
    recount_overflowed(edit);
    free_dead(edit);
    for (size_t i = 0; i < count; ++i) {
        espl__relocation *const place = &edit->places[i];

        if (place->is_adopted) {
            adopt(edit, place);
        } else if (place->capacity != 0) {
            place_tree(edit, place, moved, context);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        espl__relocation *const place = &edit->places[i];

        if (is_arrival(place) && (forest->trees[place->tree].flags & GETS_RANGE) == 0) {
            place_arrival(edit, place, moved, context);
        }
    }
}

// --- Finish ---

static void point_header(espl__forest *forest, const espl__relocation *place)
{
    espl__tree *const t = &forest->trees[place->tree];
    const espl__tree old = *t;

    *t = espl__tree_in_order(place->base, place->capacity, place->count, place->exceptional,
                             place->side);
    if (place->is_new) {
        espl__tree_drop_side(forest, place->tree);
        return;
    }
    t->flags |= old.flags & (uint32_t)ESPL__TREE_UNSETTLED;
    t->next = old.next;
    t->previous = old.previous;
    if (t->side != NULL && old.side != NULL) {
        t->side->is_prepaid = old.side->is_prepaid;
    }
    espl__side_free(forest->heap, old.side);
    espl__range_give(forest, old.base, old.capacity);
    espl__tree_drop_side(forest, place->tree);
    forest->layouts += 1;
    forest->nodes_laid_out += place->count;
}

static void release_if_empty(espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];

    if (tree == ESPL__NO_TREE || tree == forest->nursery || tree >= forest->tree_end) {
        return;
    }
    espl__tree *const t = &forest->trees[tree];

    if (t->capacity == 0) {
        return;
    }
    clear_tree(t);
    if (t->live == 0) {
        espl__tree_release(forest, tree);
    } else if (t->side != NULL) {
        espl__tree_drop_side(forest, tree);
    }
}

// What the propagation of an edit found due, and side arrays that a write made needless.
static void note_due(espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];

    if (tree == ESPL__NO_TREE || tree == forest->nursery || tree >= forest->tree_end) {
        return;
    }
    espl__tree *const t = &forest->trees[tree];

    if ((t->flags & ESPL__TREE_DUE) != 0) {
        t->flags &= ~(uint32_t)ESPL__TREE_DUE;
        espl__tree_mark_unsettled(forest, tree);
    }
    if (t->capacity != 0 && t->side != NULL) {
        espl__tree_drop_side(forest, tree);
    }
}

// Neighbours in the lists are mostly of one tree, which is looked at once then.
static bool is_other_tree(const espl__forest *forest, uint32_t slot, uint32_t *last)
{
    const uint32_t tree = forest->tree[slot], before = *last;

    *last = tree;
    return tree != before;
}

static void note_stale(espl__forest *forest, const espl__edit *edit)
{
    uint32_t last = ESPL__NO_TREE;

    for (size_t i = 0; i < espl__array_length(edit->stale); ++i) {
        if (is_other_tree(forest, edit->stale[i], &last)) {
            note_due(forest, edit->stale[i]);
        }
    }
}

static void note_placed(espl__forest *forest, const espl__edit *edit)
{
    for (size_t i = 0; i < espl__array_length(edit->log); ++i) {
        if (edit->log[i].kind == ESPL__UNDO_PLACE || edit->log[i].kind == ESPL__UNDO_SIDE) {
            note_due(forest, edit->log[i].slot);
        }
    }
}

static void note_made(espl__forest *forest, const espl__edit *edit)
{
    uint32_t last = ESPL__NO_TREE;

    for (size_t i = 0; i < espl__array_length(edit->made); ++i) {
        if (is_other_tree(forest, edit->made[i].slot, &last)) {
            note_due(forest, edit->made[i].slot);
        }
    }
}

// Trees that nodes left are found by the slots that these left, while those still name them.
static void release_dead(espl__forest *forest, const espl__edit *edit)
{
    uint32_t last = ESPL__NO_TREE;

    for (size_t i = 0; i < espl__array_length(edit->removed); ++i) {
        if (is_other_tree(forest, edit->removed[i].slot, &last)) {
            release_if_empty(forest, edit->removed[i].slot);
        }
    }
}

static void release_left(espl__forest *forest, const espl__edit *edit)
{
    for (size_t i = 0; i < espl__array_length(edit->moved); ++i) {
        release_if_empty(forest, edit->moved[i]);
    }
}

static void point_headers(espl__forest *forest, const espl__edit *edit)
{
    for (size_t i = 0; i < espl__array_length(edit->places); ++i) {
        const espl__relocation *const place = &edit->places[i];

        if (place->capacity != 0) {
            point_header(forest, place);
        } else {
            clear_tree(&forest->trees[place->tree]);
            espl__tree_drop_side(forest, place->tree);
        }
    }
}

// What no new tree adopted of the nursery is free again.
static void give_rest(espl__forest *forest, espl__edit *const *edits, size_t count, uint32_t begin,
                      uint32_t end)
{
    uint32_t at = begin;

    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < espl__array_length(edits[i]->places); ++k) {
            const espl__relocation *const place = &edits[i]->places[k];

            if (place->is_adopted) {
                if (place->root > at) {
                    espl__range_give(forest, at, place->root - at);
                }
                at = place->root + place->count;
            }
        }
    }
    if (end > at) {
        espl__range_give(forest, at, end - at);
    }
}

void espl__places_finish(espl__forest *forest, espl__edit *const *edits, size_t count,
                         uint32_t nursery_begin, uint32_t nursery_end)
{
    // Step by step over all edits, so that the result does not depend on how groups are divided.
    static void (*const steps[])(espl__forest *, const espl__edit *) = {
        note_stale, note_placed, note_made, release_dead, release_left, point_headers,
    };

    for (size_t step = 0; step < sizeof steps / sizeof *steps; ++step) {
        for (size_t i = 0; i < count; ++i) {
            steps[step](forest, edits[i]);
        }
    }
    give_rest(forest, edits, count, nursery_begin, nursery_end);
}

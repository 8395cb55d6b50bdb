// SPDX-License-Identifier: MIT
// The state of an edit: its lists, the stale nodes, and the undo log. It has the steps of
// edit_steps.h, which the edits of edit_links.c and edit_nodes.c consist of.
//
// Worlds are recomputed lazily, because several commands of one playback often change one subtree.
// A change marks its node stale: worlds below it may be out of date. A function that reads a world
// pushes staleness down along the path to the node first (espl__edit_refresh()). The relocation
// propagates the rest once.
#include "lib/tree/edit_steps.h"

#include "lib/tree/cells.h"
#include "lib/tree/layout.h"
#include "lib/tree/worlds.h"

// --- Lists ---

// All lists of an edit, for the functions that do the same with each.
enum { LISTS = 15 };

#define LIST(name)                                                     \
    {                                                                  \
        offsetof(espl__edit, name), sizeof *((espl__edit *)NULL)->name \
    }

static const struct {
    size_t offset, item_size;
} lists[LISTS] = {
    LIST(log),        LIST(saved),  LIST(moved),       LIST(stale),     LIST(touched),
    LIST(removed),    LIST(made),   LIST(relocations), LIST(path),      LIST(template_nodes),
    LIST(part_roots), LIST(locals), LIST(pasts),       LIST(run_pasts), LIST(cells),
};

// Return the address of the pointer to a list.
static void **list_at(espl__edit *edit, size_t number)
{
    ESPL_CHECK_FULL(number < LISTS);
    return (void **)(void *)((unsigned char *)edit + lists[number].offset);
}

void espl__edit_init(espl__edit *edit, espl__forest *forest)
{
    *edit = (espl__edit){.forest = forest,
                         .fresh = ESPL__NO_SLOT,
                         .lowest = UINT32_MAX,
                         .run = {.tree = ESPL__NO_TREE},
                         .context = {.is_job = true}};
}

// `path` and the templates are scratch, which the functions that use it empty first.
void espl__edit_begin(espl__edit *edit)
{
    edit->status = ESPL_OK;
    edit->is_unlogged = false;
    edit->destroyed = NULL;
    edit->stale_from = edit->moved_from = edit->made_from = edit->removed_from = 0;
    edit->nursery = edit->nursery_end = edit->nursery_spare = 0;
    edit->fresh = ESPL__NO_SLOT;
    edit->lowest = UINT32_MAX;
    edit->run.tree = ESPL__NO_TREE;
    edit->lays_out = edit->has_side = false;
    edit->arriving = 0;
    // As a job: due layouts set ESPL__TREE_DUE, because several edits may be relocated
    // concurrently.
    edit->context = (espl__context){.is_job = true};
    espl__array_set_length(edit->log, 0);
    espl__array_set_length(edit->saved, 0);
    espl__array_set_length(edit->locals, 0);
    espl__array_set_length(edit->pasts, 0);
    espl__array_set_length(edit->run_pasts, 0);
    espl__array_set_length(edit->cells, 0);
    espl__array_set_length(edit->moved, 0);
    espl__array_set_length(edit->stale, 0);
    espl__array_set_length(edit->touched, 0);
    espl__array_set_length(edit->removed, 0);
    espl__array_set_length(edit->made, 0);
    espl__array_set_length(edit->relocations, 0);
}

void espl__edit_free(espl__edit *edit)
{
    for (size_t i = 0; i < LISTS; ++i) {
        espl__array_free(edit->forest->heap, ESPL__FOR_COMMANDS, list_at(edit, i),
                         lists[i].item_size);
    }
}

size_t espl__edit_bytes(espl__edit *edit, size_t *used)
{
    size_t bytes = 0;

    *used = 0;
    for (size_t i = 0; i < LISTS; ++i) {
        const void *const items = *list_at(edit, i);

        bytes += espl__array_bytes(items, lists[i].item_size);
        *used += espl__array_length(items) * lists[i].item_size;
    }
    return bytes;
}

bool espl__edit_touch(espl__edit *edit, uint32_t slot)
{
    // Without a log, note_unsettled() marks the tree, and settling it updates the roles.
    if (!espl__edit_has_log(edit)) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, touched, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->touched, slot);
    return true;
}

// --- Stale worlds ---

// Tell whether the fresh node may have the slot as an ancestor: not where it is the slot or its parent,
// nor at a lower slot while all parents have lower slots than their children.
static bool may_be_above_fresh(const espl__edit *edit, uint32_t slot)
{
    const bool is_ordered = espl__array_length(edit->moved) == edit->moved_from;

    return slot != edit->fresh && edit->forest->parent[slot] != edit->fresh &&
           !(is_ordered && slot > edit->fresh);
}

void espl__edit_mark_inner_stale(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (may_be_above_fresh(edit, slot)) {
        edit->fresh = ESPL__NO_SLOT;
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_STALE)) {
        return;
    }
    if (!espl__edit_has_log(edit) ||
        !ESPL_ARRAY_RESERVE(forest->heap, ESPL__FOR_COMMANDS, edit->stale, 1)) {
        espl__propagate_by_links(forest, &edit->context, slot);
        return;
    }
    ESPL_ARRAY_PUSH(edit->stale, slot);
    forest->flags[slot] |= ESPL__SLOT_STALE;
    edit->lowest = slot < edit->lowest ? slot : edit->lowest;
}

// Recompute the worlds below all stale nodes, and empty the list. For an undo, which made the whole
// edit one group before.
static void refresh_stale(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;
    const size_t count = espl__array_length(edit->stale);

    for (size_t i = edit->stale_from; i < count; ++i) {
        const uint32_t slot = edit->stale[i];

        if (espl__slot_is(forest, slot, ESPL__SLOT_STALE)) {
            espl__propagate_by_links(forest, &edit->context, slot);
        }
    }
    espl__array_set_length(edit->stale, edit->stale_from);
}

// Tell whether a climb may end at a node, because none of its ancestors is stale: it is the fresh
// node, or its slot is lower than any stale one while all parents have lower slots than their
// children.
static bool is_top_of_climb(const espl__edit *edit, uint32_t slot)
{
    return slot == edit->fresh ||
           (slot < edit->lowest && espl__array_length(edit->moved) == edit->moved_from);
}

// Fast path: most groups have no stale node. The climb ends at the first stale ancestor. Where that is
// far, the node halfway to it is made stale too, because all below it is recomputed in any case: so
// climbs from the nodes of one long path cost a logarithm of its length each.
bool espl__edit_is_below_stale(espl__edit *edit, uint32_t slot)
{
    enum { FAR = 64 };
    const espl__forest *const forest = edit->forest;
    uint32_t halfway = slot, climbed = 0;

    if (espl__array_length(edit->stale) == edit->stale_from || slot == edit->fresh) {
        return false;
    }
    for (uint32_t up = forest->parent[slot]; up != ESPL__NO_SLOT; up = forest->parent[up]) {
        if (espl__slot_is(forest, up, ESPL__SLOT_STALE)) {
            if (climbed >= FAR) {
                espl__edit_mark_inner_stale(edit, halfway);
            }
            return true;
        }
        if (is_top_of_climb(edit, up)) {
            return false;
        }
        climbed += 1;
        halfway = climbed % 2 == 0 ? forest->parent[halfway] : halfway;
    }
    return false;
}

// Children whose world stayed the same are not made stale, so that the worlds below them are not
// recomputed.
void espl__edit_push_down(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (!espl__slot_is(forest, slot, ESPL__SLOT_STALE)) {
        return;
    }
    forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    for (uint32_t child = forest->links[slot].first_child; child != ESPL__NO_SLOT;
         child = forest->links[child].next) {
        ESPL_CHECK_FULL(forest->parent[child] == slot);
        if (espl__propagate_node(forest, &edit->context, child)) {
            espl__edit_mark_stale(edit, child);
        }
    }
}

// Tell whether a node has more than a few children.
static bool has_many_children(const espl__forest *forest, uint32_t slot)
{
    enum { FEW = 8 };
    uint32_t child = forest->links[slot].first_child;

    for (int i = 0; i < FEW && child != ESPL__NO_SLOT; ++i) {
        child = forest->links[child].next;
    }
    return child != ESPL__NO_SLOT;
}

// Push staleness down from a node to the next one of a path. A node with many children stays stale, and
// only the child in the path is recomputed, so that a path costs its length in any shape.
static void push_down_to(espl__edit *edit, uint32_t slot, uint32_t child)
{
    espl__forest *const forest = edit->forest;

    ESPL_CHECK_FULL(forest->parent[child] == slot);
    if (!espl__slot_is(forest, slot, ESPL__SLOT_STALE)) {
        return;
    }
    if (!has_many_children(forest, slot)) {
        espl__edit_push_down(edit, slot);
    } else if (espl__propagate_node(forest, &edit->context, child)) {
        espl__edit_mark_stale(edit, child);
    }
}

// Bring the world of a node up to date whose highest stale ancestor is `top`: push staleness down
// along the path between them. @return false: no memory for the path, and nothing changed.
static bool refresh_path(espl__edit *edit, uint32_t slot, uint32_t top)
{
    espl__forest *const forest = edit->forest;

    espl__array_set_length(edit->path, 0);
    for (uint32_t at = slot; at != top; at = forest->parent[at]) {
        if (!ESPL_ARRAY_RESERVE(forest->heap, ESPL__FOR_COMMANDS, edit->path, 1)) {
            return false;
        }
        ESPL_CHECK_FULL(at != ESPL__NO_SLOT);
        ESPL_ARRAY_PUSH(edit->path, at);
    }
    for (size_t i = espl__array_length(edit->path); i > 0; --i) {
        const uint32_t at = edit->path[i - 1];

        push_down_to(edit, forest->parent[at], at);
    }
    return true;
}

// Return the highest stale ancestor of a node, or ESPL__NO_SLOT.
static uint32_t highest_stale(const espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    uint32_t highest = ESPL__NO_SLOT;

    for (uint32_t up = forest->parent[slot]; up != ESPL__NO_SLOT; up = forest->parent[up]) {
        highest = espl__slot_is(forest, up, ESPL__SLOT_STALE) ? up : highest;
        if (is_top_of_climb(edit, up)) {
            break;
        }
    }
    return highest;
}

// The parent of a refreshed node is fresh and ends the next climb. So refreshing the nodes of a
// path one after the other costs one climb in all. Where the path finds no memory, all below its top is
// recomputed, but nothing below a node that keeps its world: an ancestor there may be stale yet.
void espl__edit_refresh_stale(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (slot == edit->fresh) {
        return;
    }
    uint32_t top = highest_stale(edit, slot);

    while (top != ESPL__NO_SLOT && !refresh_path(edit, slot, top)) {
        espl__propagate_by_links(forest, &edit->context, top);
        top = highest_stale(edit, slot);
    }
    edit->fresh = forest->parent[slot];
}

const espl__frame *espl__edit_frame(espl__edit *edit, uint32_t slot, espl__frame *room)
{
    if (slot == ESPL__NO_SLOT) {
        return NULL;
    }
    espl__edit_refresh(edit, slot);
    *room = espl__slot_frame(edit->forest, slot);
    return room;
}

// --- Placements ---

// Tell whether this playback made a node. The undo frees it, so that no change of it is logged.
static bool is_new_node(const espl__forest *forest, uint32_t slot)
{
    return (forest->links[slot].entity & ESPL__MADE) != 0;
}

// A node that this playback made is not saved, because its undo frees it.
bool espl__edit_save(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (!espl__edit_has_log(edit) || is_new_node(forest, slot)) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, saved, 1) ||
        (espl__forest_has_motion(forest) && !ESPL__EDIT_RESERVE(edit, pasts, 1)) ||
        !espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_PLACE,
                                           .slot = slot,
                                           .a = (uint32_t)espl__array_length(edit->saved)})) {
        return false;
    }
    ESPL_CHECK_FULL(edit->log[espl__array_length(edit->log) - 1].a ==
                    espl__array_length(edit->saved));
    ESPL_ARRAY_PUSH(edit->saved,
                    (espl__saved){espl__slot_placement(forest, slot), forest->world[slot]});
    if (espl__forest_has_motion(forest)) {
        ESPL_ARRAY_PUSH(edit->pasts, espl__past_read(forest, slot));
        ESPL_CHECK(espl__array_length(edit->pasts) == espl__array_length(edit->saved));
    }
    return true;
}

bool espl__edit_ensure_side(espl__edit *edit, uint32_t slot, const espl__placement *placement)
{
    espl__forest *const forest = edit->forest;

    if (espl__tree_can_hold(espl__tree_of(forest, slot), placement)) {
        return true;
    }
    // The nursery has side arrays from the start where a command may need them.
    ESPL_CHECK(forest->tree[slot] != forest->nursery);
    edit->has_side = true;
    if (!espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_SIDE, .slot = slot})) {
        return false;
    }
    return espl__tree_add_side(forest, forest->tree[slot], placement->kept.flags != 0) ||
           espl__edit_fail(edit);
}

// Make sure that nodes that copy `top` can store its stretch and user data. A copy that was linked
// here by this edit may still be in the range of another tree, which may have no side arrays.
static bool ensure_sides_of_copies(espl__edit *edit, uint32_t top, const espl__placement *placement)
{
    const espl__placement shown = {placement->local, espl__kept_none(), placement->extra};
    const espl__forest *const forest = edit->forest;
    bool is_done = true, enters = true;

    // Without a moved node all copies are in the tree of `top`.
    if (espl__array_length(edit->moved) == 0) {
        return true;
    }
    for (uint32_t slot = espl__next_in_walk(forest, top, top, true);
         slot != ESPL__NO_SLOT && is_done; slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = espl__slot_copies(forest, slot);
        is_done = !enters || espl__edit_ensure_side(edit, slot, &shown);
    }
    return is_done;
}

// Tell whether a node has a past, bit for bit.
static bool has_past(const espl__forest *forest, uint32_t slot, const espl__past *past)
{
    const espl__past now = espl__past_read(forest, slot);

    return espl__past_is_same(forest, &now, past);
}

// All that can fail comes before the first store: side arrays of the node and of its copies, and
// the undo entry.
bool espl__edit_put(espl__edit *edit, uint32_t slot, const espl__placement *placement,
                    const espl_pose *world, const espl__past *past)
{
    espl__forest *const forest = edit->forest;
    const espl__node_difference differs = espl__node_differs(forest, slot, placement, world);
    const bool ends_blend = past == NULL && espl__write_ends_blend(forest, slot, placement);

    if (!differs.is_moved && espl__node_has(forest, slot, placement) &&
        (past == NULL || has_past(forest, slot, past))) {
        return true;
    }
    if (!espl__edit_ensure_side(edit, slot, placement) ||
        ((differs.is_stretched || differs.has_user_data) &&
         !ensure_sides_of_copies(edit, slot, placement)) ||
        !espl__edit_save(edit, slot)) {
        return false;
    }
    espl__slot_place(forest, slot, placement);
    espl__world_put(espl__worlds_of(forest), slot, world);
    if (past != NULL) {
        espl__past_store(forest, slot, past);
    }
    if (espl__forest_is_tracked(forest)) {
        espl__mark_world(forest, slot);
        espl__mark_placement(forest, slot, ends_blend);
    }
    edit->context.counts.nodes_visited += 1;
    edit->context.has_overflowed = edit->context.has_overflowed || !espl__pose_is_finite(world);
    if (differs.is_moved || differs.is_stretched) {
        espl__edit_mark_stale(edit, slot);
    } else if (differs.has_user_data) {
        espl__propagate_user_data(forest, slot);
    }
    return true;
}

// A node that loses its transform copies its parent from now on, so that propagation stores stretch and
// user data in it. It is saved, because its placement may be what a copy shows already, and
// espl__edit_put() saved nothing then.
bool espl__edit_set_bare(espl__edit *edit, uint32_t slot, bool is_bare)
{
    espl__forest *const forest = edit->forest;

    if (is_bare && !espl__edit_save(edit, slot)) {
        return false;
    }
    if (!is_new_node(forest, slot) &&
        !espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_BARE,
                                           .flags = forest->flags[slot],
                                           .slot = slot,
                                           .a = espl__is_unshown(forest, slot) ? 1 : 0})) {
        return false;
    }
    espl__slot_set_bare(forest, slot, is_bare);
    espl__note_edited(forest, slot);
    if (!is_bare && espl__forest_has_motion(forest)) {
        espl__mark_unshown(forest, slot);
    }
    return true;
}

// --- Undo ---

// Restore ESPL__TREE_IN_ORDER of the tree of a slot.
static void restore_order(espl__forest *forest, uint32_t slot, bool is_in_order)
{
    espl__tree *const t = espl__tree_of(forest, slot);

    if (forest->tree[slot] != forest->nursery) {
        t->flags = (t->flags & ~(uint32_t)ESPL__TREE_IN_ORDER) |
                   (is_in_order ? (uint32_t)ESPL__TREE_IN_ORDER : 0u);
    }
}

// Restore the world of a node that is a root again: its local, or the identity for a bare node.
static void restore_root(espl__forest *forest, uint32_t slot)
{
    const espl__placement bare = espl__placement_identity();

    if (espl__slot_is(forest, slot, ESPL__SLOT_BARE)) {
        espl__slot_place(forest, slot, &bare);
    }
    espl__world_store(espl__worlds_of(forest), slot, &forest->local[slot]);
}

// Restore the parent and the next sibling of a node. Later changes are undone already, so that both
// have the links that they had then.
static void undo_link(espl__edit *edit, const espl__undo *entry)
{
    ESPL_CHECK(entry->b == ESPL__NO_SLOT || edit->forest->parent[entry->b] == entry->a);
    espl__forest *const forest = edit->forest;
    const uint32_t slot = entry->slot, parent = forest->parent[slot];

    if (parent != ESPL__NO_SLOT) {
        espl__node_unlink(forest, slot);
    }
    if (entry->a != ESPL__NO_SLOT) {
        espl__node_link(forest, slot, entry->a, entry->b);
        restore_order(forest, entry->a, entry->was_in_order);
    }
    if (parent != ESPL__NO_SLOT) {
        restore_order(forest, parent, entry->parent_was_in_order);
    }
    restore_order(forest, slot, entry->was_in_order);
    forest->flags[slot] = (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_FREE_LINK) |
                                    (entry->flags & ESPL__SLOT_FREE_LINK));
    // Its world may follow from the other parent. The undo of that parent does not reach it any
    // more.
    if (entry->a != ESPL__NO_SLOT) {
        espl__edit_mark_stale(edit, entry->a);
    } else {
        restore_root(forest, slot);
        espl__edit_mark_stale(edit, slot);
    }
}

// Insert a hole after the one that was before it in the list, whose present head is `first`.
static void put_hole_back(espl__forest *forest, espl__tree *t, uint32_t slot, uint32_t first,
                          uint32_t after)
{
    const bool was_first = after == ESPL__NO_SLOT;

    forest->links[slot] =
        (espl__links){ESPL__NO_SLOT, was_first ? first : forest->links[after].next, ESPL__NO_SLOT,
                      ESPL__NO_ENTITY};
    t->hole = was_first ? slot : first;
    if (!was_first) {
        forest->links[after].next = slot;
    }
}

// Free new nodes in reverse order, so that the list of holes is restored.
static void undo_make(espl__edit *edit, const espl__undo *entry)
{
    espl__forest *const forest = edit->forest;

    for (uint32_t i = entry->b; i > 0; --i) {
        const espl__made *const made = &edit->made[entry->a + i - 1];
        const uint32_t slot = made->slot;

        ESPL_CHECK(forest->links[slot].first_child == ESPL__NO_SLOT);
        espl__tree *const t = espl__tree_of(forest, slot);

        if (forest->parent[slot] != ESPL__NO_SLOT) {
            espl__node_unlink(forest, slot);
        }
        forest->links[slot].entity = ESPL__NO_ENTITY;
        if (made->from == ESPL__FROM_NURSERY) {
            forest->flags[slot] = 0;
            continue;
        }
        // The last used slot is freed as an unused one. Where it was a hole before, it becomes that
        // hole.
        const uint32_t hole = t->hole, used = t->used;

        espl__slot_free(forest, slot);
        if (made->from != ESPL__FROM_TAIL) {
            put_hole_back(forest, t, slot, hole, made->from);
            t->used = used;
        }
    }
}

// Restore the locals of a run, last first, and recompute the worlds of their nodes. Where the world of a
// parent is out of date yet, an ancestor is stale. The layout debt that its pass added goes too.
static void undo_run(espl__edit *edit, const espl__undo *entry)
{
    espl__forest *const forest = edit->forest;
    espl__tree *const t = espl__tree_of(forest, entry->slot);

    ESPL_CHECK(entry->a <= espl__array_length(edit->locals));
    for (size_t i = espl__array_length(edit->locals); i > entry->a; --i) {
        const espl__saved_local *const saved = &edit->locals[i - 1];

        forest->local[saved->slot] = saved->local;
        if (espl__edit_saves_past(edit)) {
            espl__past_store(forest, saved->slot, &edit->run_pasts[i - 1]);
        }
        (void)espl__propagate_node(forest, &edit->context, saved->slot);
        espl__edit_mark_stale(edit, saved->slot);
    }
    espl__array_set_length(edit->locals, entry->a);
    espl__array_set_length(edit->run_pasts, espl__edit_saves_past(edit) ? entry->a : 0);
    // The header of the nursery, which several threads read, gets no debt.
    if (t->debt != entry->b) {
        t->debt = entry->b;
        t->flags &= ~(uint32_t)ESPL__TREE_DUE;
    }
}

// Undo one change.
static void undo_one(espl__edit *edit, const espl__undo *entry)
{
    espl__forest *const forest = edit->forest;
    const espl__saved *saved = NULL;
    uint32_t parent = ESPL__NO_SLOT;

    switch ((espl__undo_kind)entry->kind) {
    case ESPL__UNDO_LINK:
        undo_link(edit, entry);
        break;
    case ESPL__UNDO_PLACE:
        ESPL_CHECK(entry->a < espl__array_length(edit->saved));
        saved = &edit->saved[entry->a];
        espl__slot_place(forest, entry->slot, &saved->placement);
        espl__world_store(espl__worlds_of(forest), entry->slot, &saved->world);
        if (espl__forest_has_motion(forest)) {
            espl__past_store(forest, entry->slot, &edit->pasts[entry->a]);
        }
        espl__edit_mark_stale(edit, entry->slot);
        break;
    case ESPL__UNDO_DEATH:
        ESPL_CHECK(entry->a + entry->b <= espl__array_length(edit->removed));
        for (uint32_t i = entry->a; i < entry->a + entry->b; ++i) {
            forest->links[edit->removed[i].slot].entity = edit->removed[i].entity;
        }
        break;
    case ESPL__UNDO_MAKE:
        parent = entry->b != 0 ? forest->parent[entry->slot] : ESPL__NO_SLOT;
        undo_make(edit, entry);
        if (parent != ESPL__NO_SLOT) {
            restore_order(forest, parent, entry->was_in_order);
        }
        break;
    case ESPL__UNDO_BARE:
        espl__slot_set_bare(forest, entry->slot, (entry->flags & ESPL__SLOT_BARE) != 0);
        espl__set_unshown(forest, entry->slot, entry->a != 0);
        espl__edit_mark_stale(edit, entry->slot);
        break;
    case ESPL__UNDO_CELL:
        ESPL_CHECK(entry->a < espl__array_length(edit->cells));
        espl__cell_store(forest, entry->slot, edit->cells[entry->a]);
        break;
    case ESPL__UNDO_SHOWN:
        espl__set_unshown(forest, entry->slot, false);
        break;
    case ESPL__UNDO_SHOWN_AT:
        ESPL_CHECK(entry->a < espl__array_length(edit->cells));
        memcpy(forest->tracks.poses[ESPL__SHOWN][entry->slot].position, &edit->cells[entry->a],
               sizeof *edit->cells);
        break;
    case ESPL__UNDO_RUN:
        undo_run(edit, entry);
        break;
    case ESPL__UNDO_SIDE:
        break; // espl__edit_undo() frees them at its end
    }
}

// Entries are undone last first, so that each finds the state that its change left. Worlds are a
// function of locals, so that recomputing them from the old locals restores their bits.
void espl__edit_undo(espl__edit *edit)
{
    espl__forest *const forest = edit->forest;

    // A run that memory ran out in is undone as it is.
    edit->run.tree = ESPL__NO_TREE;
    // Counts of headers that the marks and the survey added: nodes moved from the tree of the slot to
    // that of its parent.
    for (size_t i = espl__array_length(edit->moved); i > 0; --i) {
        const uint32_t slot = edit->moved[i - 1], parent = forest->parent[slot];

        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MOVED;
        espl__tree_of(forest, slot)->moved = 0;
        if (parent != ESPL__NO_SLOT) {
            espl__tree_of(forest, parent)->incoming = 0;
        }
    }
    espl__relocations_drop(edit);
    for (size_t i = espl__array_length(edit->log); i > 0; --i) {
        undo_one(edit, &edit->log[i - 1]);
    }
    // Undo marked stale what it changed, of all groups.
    edit->stale_from = 0;
    edit->fresh = ESPL__NO_SLOT;
    refresh_stale(edit);
    // Side arrays that only undone changes needed.
    for (size_t i = 0; i < espl__array_length(edit->log); ++i) {
        const uint32_t slot = edit->log[i].slot;
        const uint32_t tree = slot != ESPL__NO_SLOT ? forest->tree[slot] : forest->nursery;

        if (tree != forest->nursery && forest->trees[tree].side != 0) {
            espl__tree_drop_side(forest, tree);
        }
    }
    espl__array_set_length(edit->log, 0);
}

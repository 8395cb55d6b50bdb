// SPDX-License-Identifier: MIT
// Edits of links: attach, detach, sibling order, destroy. Each has its only implementation here. An
// edit first computes the placement that the node has after it, because a refusal must come before
// any change; then it links. A destroy without an undo log (espl__edit_has_log()) allocates nothing
// and cannot fail.
#include "lib/tree/edit_links.h"

#include "lib/tree/changes.h"
#include "lib/tree/edit_cells.h"
#include "lib/tree/edit_past.h"
#include "lib/tree/edit_steps.h"
#include "lib/tree/jumps.h"
#include "lib/tree/layout.h"
#include "lib/tree/links.h"
#include "lib/tree/order.h"
#include "lib/tree/path.h"

bool espl__edit_is_below(const espl__edit *edit, uint32_t slot, uint32_t top)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t tree = forest->tree[top];

    const bool is_settled = tree != forest->nursery && forest->trees[tree].moved == 0;

    // A climb over the ancestors of the slot. It ends early, because most trees are not edited.
    for (uint32_t at = slot; at != ESPL__NO_SLOT; at = forest->parent[at]) {
        const uint32_t here = forest->tree[at];

        if (at == top) {
            return true;
        }
        // In a range without moved nodes all ancestors are in the same range, at lower slots.
        if (here != forest->nursery && forest->trees[here].moved == 0 &&
            (here != tree || (is_settled && at < top))) {
            return false;
        }
    }
    return false;
}

// --- Links ---

// Append the inverse of a new link to the undo log, before the link changes. @return false: no memory.
ESPL__INLINE bool log_link(espl__edit *edit, uint32_t slot, uint32_t old, uint32_t parent)
{
    const espl__forest *const forest = edit->forest;

    return espl__edit_log(edit, (espl__undo){
                                    .kind = ESPL__UNDO_LINK,
                                    .flags = forest->flags[slot],
                                    .was_in_order = espl__is_tree_in_order(forest, slot),
                                    .parent_was_in_order = parent != ESPL__NO_SLOT &&
                                                           espl__is_tree_in_order(forest, parent),
                                    .slot = slot,
                                    .a = old,
                                    .b = forest->links[slot].next,
                                });
}

// A root that loses its last child becomes solo, and a solo entity that gets a child becomes a root.
// @param parent  it has no child. @return false: no memory.
static inline bool touch_childless(espl__edit *edit, uint32_t parent)
{
    return !espl__is_root(edit->forest, parent) || espl__edit_touch(edit, parent);
}

// Set or clear ESPL__SLOT_FREE_LINK of a node.
static inline void set_free_link(espl__forest *forest, uint32_t slot, bool is_free_link)
{
    if (is_free_link != espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK)) {
        forest->flags[slot] ^= ESPL__SLOT_FREE_LINK;
    }
}

// Unlink a node from its parent and link it to another one, or before another sibling. Its tree is not
// in order any more. In contrast to espl__node_unlink() and espl__node_link() no root is counted.
ESPL__INLINE bool relink_member(espl__edit *edit, uint32_t slot, uint32_t old, uint32_t parent,
                                uint32_t before, bool is_free_link)
{
    espl__forest *const forest = edit->forest;
    espl__links *const links = forest->links;
    bool is_done = log_link(edit, slot, old, parent);

    if (!is_done) {
        return false;
    }
    if (links[parent].first_child == ESPL__NO_SLOT) {
        is_done = touch_childless(edit, parent);
    }
    espl__links_remove(links, slot, old);
    espl__links_insert(links, slot, parent, before);
    forest->parent[slot] = parent;
    espl__tree_end_order(forest, espl__tree_of(forest, slot));
    espl__tree_end_order(forest, espl__tree_of(forest, parent));
    espl__node_update_linked(forest, slot, parent);
    set_free_link(forest, slot, is_free_link);
    if (links[old].first_child == ESPL__NO_SLOT) {
        is_done = touch_childless(edit, old) && is_done;
    }
    return is_done;
}

// Give a member that becomes a root the cell of its old root.
static ESPL__APART bool keep_cell(espl__edit *edit, uint32_t slot)
{
    return espl__edit_set_cell(edit, slot, espl__cell_of(edit->forest, slot));
}

// Make a member a root. A node that dies is unlinked so, because neither its role nor its slot matters.
ESPL__INLINE bool unlink_member(espl__edit *edit, uint32_t slot, uint32_t old)
{
    espl__forest *const forest = edit->forest;

    ESPL_CHECK(old != ESPL__NO_SLOT && old == forest->parent[slot]);
    if ((espl__forest_has_cells(forest) && !keep_cell(edit, slot)) ||
        !log_link(edit, slot, old, ESPL__NO_SLOT)) {
        return false;
    }
    espl__node_unlink(forest, slot);
    set_free_link(forest, slot, false);
    return forest->links[old].first_child != ESPL__NO_SLOT || touch_childless(edit, old);
}

// Make a root a member, or a member a root.
static ESPL__APART bool relink_root(espl__edit *edit, uint32_t slot, uint32_t old, uint32_t parent,
                                    uint32_t before, bool is_free_link)
{
    espl__forest *const forest = edit->forest;

    if (parent == ESPL__NO_SLOT) {
        return unlink_member(edit, slot, old);
    }
    if (!log_link(edit, slot, old, parent)) {
        return false;
    }
    const bool is_done =
        forest->links[parent].first_child != ESPL__NO_SLOT || touch_childless(edit, parent);

    espl__node_link(forest, slot, parent, before);
    set_free_link(forest, slot, is_free_link);
    return is_done;
}

// The steps of espl__edit_relink() that change links and the role of the parents. The undo entry is
// written before the first change. A later failure to list a touched node leaves links that the undo
// restores.
ESPL__INLINE bool relink(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                         bool is_free_link)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t old = forest->parent[slot];

    ESPL_CHECK(parent != slot && before != slot && (parent != ESPL__NO_SLOT || old != parent));
    ESPL_CHECK(before == ESPL__NO_SLOT || forest->parent[before] == parent);
    espl__jumps_spread(edit->forest);
    espl__note_linked(edit->forest, slot);
    return old != ESPL__NO_SLOT && parent != ESPL__NO_SLOT
               ? relink_member(edit, slot, old, parent, before, is_free_link)
               : relink_root(edit, slot, old, parent, before, is_free_link);
}

// Mark a member as moved where its slot is in another range than its parent, or below the parent's
// slot.
ESPL__INLINE bool mark_moved_member(espl__edit *edit, uint32_t slot, uint32_t parent)
{
    return espl__slot_fits_below(edit->forest, slot, parent) || espl__edit_mark_moved(edit, slot);
}

// Mark a root as moved where it is not the first slot of its range. New roots in the nursery are found
// by the list of new nodes.
static inline bool mark_moved_root(espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t tree = forest->tree[slot];

    return tree == forest->nursery || forest->trees[tree].base == slot ||
           espl__edit_mark_moved(edit, slot);
}

// The role of a node changes where it becomes a root, or was one. A destroy without lists leaves
// nodes where they are, and marks the tree as unsettled.
ESPL__INLINE bool relink_and_mark(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                                  bool is_free_link)
{
    const uint32_t old = edit->forest->parent[slot];

    if (!relink(edit, slot, parent, before, is_free_link) ||
        ((old == ESPL__NO_SLOT || parent == ESPL__NO_SLOT) && !espl__edit_touch(edit, slot))) {
        return false;
    }
    if (!espl__edit_has_log(edit)) {
        return true;
    }
    return parent != ESPL__NO_SLOT ? mark_moved_member(edit, slot, parent)
                                   : mark_moved_root(edit, slot);
}

bool espl__edit_relink(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                       bool is_free_link)
{
    return relink_and_mark(edit, slot, parent, before, is_free_link);
}

// --- Attach and detach ---

// Give a node the placement that it has below another parent, or as a root, by the rules of the
// attach. @param shift  to the cell of the parent.
static espl_status place_node(espl__edit *edit, uint32_t slot, uint32_t parent,
                              const espl__attach_rules *rules, const espl__cell_shift *shift)
{
    espl__node_change c;
    espl__frame room;
    const espl__frame *up = NULL;
    espl_pose path;

    espl__edit_read(edit, slot, &c);
    up = espl__edit_frame(edit, parent, &room);
    const espl_pose local = espl__placement_seen(&c.placement, c.up, &c.world);
    const bool has_path = espl__rules_keep_world(&rules->stay) && c.up != NULL && up != NULL &&
                          espl__path_edited(edit->forest, NULL, parent, slot, &path);
    const espl__known_locals known = {&local, has_path ? &path : NULL};

    if (shift->is_any) {
        espl__position_shift(c.world.position, shift);
    }
    espl_status status =
        espl__placement_move(&c.placement, &c.world, &known, up, rules->stay, rules->inherit);

    // A node that copies its parent has no position that could lose bits.
    if (status == ESPL_OK && shift->is_far && rules->stay.position == ESPL_KEEP_WORLD &&
        rules->inherit != ESPL_COPY_PARENT) {
        status = ESPL_LOSSY;
    }
    espl__past past;

    if (status < 0 || !espl__forest_has_motion(edit->forest)) {
        return espl__edit_commit(edit, &c, NULL, status);
    }
    espl__edit_past_moved(edit, slot, parent, rules, &c.placement, &past);
    return espl__edit_commit(edit, &c, &past, status);
}

// Give a node that copies its parent the world and the extra of its new parent. As a root it is bare,
// because one with ESPL_COPY_PARENT got a placement of its own.
static bool copy_new_parent(espl__edit *edit, uint32_t slot, const espl__frame *up)
{
    const espl__placement identity = espl__placement_identity();

    if (up == NULL) {
        ESPL_CHECK(espl__slot_is(edit->forest, slot, ESPL__SLOT_BARE));
        return espl__edit_put(edit, slot, &identity, &identity.local, NULL);
    }
    espl__placement shown = espl__slot_placement(edit->forest, slot);

    shown.extra = up->extra;
    return espl__edit_put(edit, slot, &shown, &up->world, NULL);
}

// Place a bare node, which has no placement, under another parent: by ESPL_KEEP_WORLD its descendants keep their
// worlds. Its own world is stored here, because it follows from the links alone.
static espl_status place_bare(espl__edit *edit, uint32_t slot, uint32_t parent,
                              const espl__attach_rules *rules, const espl__cell_shift *shift)
{
    espl__frame room;
    const espl__frame *const up = espl__edit_frame(edit, parent, &room);
    espl__frames frames = espl__edit_frames(edit, parent, up);

    espl__edit_refresh(edit, slot);
    edit->is_lossy = false;
    frames.shift = *shift;
    return (rules->stay.position != ESPL_KEEP_WORLD ||
            espl__edit_keep_worlds(edit, slot, &frames, ESPL__NO_SLOT)) &&
                   copy_new_parent(edit, slot, up)
               ? espl__edit_remark(edit)
               : ESPL_ERR_NO_MEMORY;
}

// Tell whether an attach leaves the placement of a node as it is, and its world alone follows from
// the new parent.
static bool keeps_placement(const espl__forest *forest, uint32_t slot,
                            const espl__attach_rules *rules)
{
    return rules->inherit == 0 && rules->stay.position == ESPL_KEEP_LOCAL &&
           rules->stay.rotation == ESPL_KEEP_LOCAL && rules->stay.scale == ESPL_KEEP_LOCAL &&
           !espl__slot_is(forest, slot, ESPL__SLOT_KEEPS | ESPL__SLOT_BARE);
}

// Move a node that keeps its placement. Its world is not saved, because the undo of the link
// recomputes it.
ESPL__INLINE espl_status move_with_local(espl__edit *edit, uint32_t slot, uint32_t parent,
                                         uint32_t before, bool is_free)
{
    if (parent != ESPL__NO_SLOT) {
        espl__edit_refresh(edit, parent);
    }
    // The worlds below the node may be stale by an ancestor that it leaves.
    espl__edit_refresh(edit, slot);
    const espl__cell_shift shift = espl__cell_shift_between(edit->forest, slot, parent);

    if (!relink_and_mark(edit, slot, parent, before, is_free)) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (espl__propagate_single(edit->forest, &edit->context, slot)) {
        espl__edit_mark_stale(edit, slot);
    }
    return !shift.is_any || espl__edit_shift_below(edit, slot, &shift) ? ESPL_OK
                                                                       : ESPL_ERR_NO_MEMORY;
}

// Attach a node to another parent, or detach it, where its placement changes.
static ESPL__APART espl_status move_and_place(espl__edit *edit, uint32_t slot, uint32_t parent,
                                              uint32_t before, const espl__attach_rules *rules)
{
    const bool is_free = parent != ESPL__NO_SLOT && rules->link == ESPL_LINK_FREE;
    const espl__cell_shift shift = espl__cell_shift_between(edit->forest, slot, parent);
    const espl_status status = espl__slot_is(edit->forest, slot, ESPL__SLOT_BARE)
                                   ? place_bare(edit, slot, parent, rules, &shift)
                                   : place_node(edit, slot, parent, rules, &shift);

    if (status < 0) {
        return status;
    }
    if (shift.is_any && !espl__edit_shift_below(edit, slot, &shift)) {
        return ESPL_ERR_NO_MEMORY;
    }
    return espl__edit_relink(edit, slot, parent, before, is_free) ? status : ESPL_ERR_NO_MEMORY;
}

// Move any node. Fast path: nothing is stored but the world.
static inline espl_status move(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                               const espl__attach_rules *rules)
{
    ESPL_CHECK_FULL(parent == ESPL__NO_SLOT || !espl__edit_is_at_or_below(edit, parent, slot));
    return keeps_placement(edit->forest, slot, rules)
               ? move_with_local(edit, slot, parent, before,
                                 parent != ESPL__NO_SLOT && rules->link == ESPL_LINK_FREE)
               : move_and_place(edit, slot, parent, before, rules);
}

espl_status espl__edit_set_sibling(espl__edit *edit, uint32_t slot, uint32_t before)
{
    const espl__forest *const forest = edit->forest;
    const bool is_free = espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);

    ESPL_CHECK(!espl__is_root(forest, slot));
    if (before == slot || forest->links[slot].next == before) {
        return ESPL_OK;
    }
    const bool is_done = espl__edit_relink(edit, slot, forest->parent[slot], before, is_free);

    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Attach a node to the parent that it has: inherit flags, snapped parts, link and sibling order may
// change.
static ESPL__APART espl_status attach_to_same_parent(espl__edit *edit, uint32_t slot,
                                                     uint32_t before,
                                                     const espl__attach_rules *rules)
{
    espl__forest *const forest = edit->forest;
    const uint32_t parent = forest->parent[slot];
    const bool is_free = rules->link == ESPL_LINK_FREE;
    espl_status status = ESPL_OK;

    if (!espl__slot_is(forest, slot, ESPL__SLOT_BARE)) {
        espl__node_change c;

        espl__edit_read(edit, slot, &c);
        status = espl__edit_reattach(edit, &c, rules->stay, rules->inherit);
    }
    if (status < 0) {
        return status;
    }
    if (is_free != espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK) &&
        !espl__edit_relink(edit, slot, parent, forest->links[slot].next, is_free)) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (before != ESPL__NO_SLOT) {
        const espl_status done = espl__edit_set_sibling(edit, slot, before);

        return done < 0 ? done : status;
    }
    return status;
}

espl_status espl__edit_attach(espl__edit *edit, uint32_t child, uint32_t parent, uint32_t before,
                              const espl__attach_rules *rules)
{
    ESPL_CHECK(parent != ESPL__NO_SLOT && parent != child);
    if (rules->inherit != 0 && espl__slot_is(edit->forest, child, ESPL__SLOT_BARE)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return edit->forest->parent[child] == parent ? attach_to_same_parent(edit, child, before, rules)
                                                 : move(edit, child, parent, before, rules);
}

// A detach is a move to no parent. Without a parent there is neither an owner nor an inherit flag.
espl_status espl__edit_detach(espl__edit *edit, uint32_t slot, espl__keep_rules stay)
{
    const espl__attach_rules rules = {.stay = stay, .link = ESPL_LINK_OWNED};

    return espl__is_root(edit->forest, slot)
               ? ESPL_OK
               : move(edit, slot, ESPL__NO_SLOT, ESPL__NO_SLOT, &rules);
}

// --- Destroy ---

// Tell whether a child is destroyed with its parent.
static bool dies(const espl__forest *forest, uint32_t child, espl_extent extent)
{
    return extent == ESPL_EXTENT_SUBTREE ||
           (extent == ESPL_EXTENT_OWNED && !espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK));
}

// If the edit has lists, list the nodes that die and set their entities to ESPL__NO_ENTITY. Tell whether
// there are survivors; the walk does not enter their subtrees. The slots of the dead are freed by the
// relocation, because until then the destroy may be undone. @return false: no memory.
static bool list_closure(espl__edit *edit, uint32_t top, espl_extent extent, bool *has_survivors)
{
    const espl__forest *const forest = edit->forest;
    const bool has_log = espl__edit_has_log(edit);
    espl__links *const links = forest->links;
    size_t count = espl__array_length(edit->removed), room = espl__array_capacity(edit->removed);
    bool enters = true;

    *has_survivors = false;
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = slot == top || dies(forest, slot, extent);
        *has_survivors = *has_survivors || !enters;
        if (!enters || !has_log) {
            continue;
        }
        if (count == room) {
            espl__array_set_length(edit->removed, count);
            if (!ESPL__EDIT_RESERVE(edit, removed, 1)) {
                return false;
            }
            room = espl__array_capacity(edit->removed);
        }
        edit->removed[count++] = (espl__removed){slot, links[slot].entity};
        links[slot].entity = ESPL__NO_ENTITY;
    }
    espl__array_set_length(edit->removed, count);
    return true;
}

// Set ESPL__SLOT_MARK of the nodes that die.
static void mark_closure(espl__forest *forest, uint32_t top, espl_extent extent)
{
    bool enters = true;

    for (uint32_t slot = top; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = slot == top || dies(forest, slot, extent);
        forest->flags[slot] |= enters ? ESPL__SLOT_MARK : 0;
    }
}

// Clear the marks of mark_closure(), as far as they are connected to the top.
static void clear_closure_marks(espl__forest *forest, uint32_t top)
{
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;) {
        const bool is_marked = espl__slot_is(forest, slot, ESPL__SLOT_MARK);

        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MARK;
        slot = espl__next_in_walk(forest, slot, top, is_marked);
    }
}

// Give all survivors the placements that keep their worlds below `up`, before any is linked to it.
static bool keep_survivors(espl__edit *edit, uint32_t top, const espl__frames *up)
{
    espl__forest *const forest = edit->forest;
    bool is_done = true, enters = true;

    for (uint32_t slot = espl__next_in_walk(forest, top, top, true);
         slot != ESPL__NO_SLOT && is_done; slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = espl__slot_is(forest, slot, ESPL__SLOT_MARK);
        if (!enters) {
            is_done = espl__edit_keep_worlds(edit, slot, up, ESPL__NO_SLOT);
        }
    }
    return is_done;
}

// Link the survivors to the parent of the destroyed node, where it is among its siblings, in their
// order.
static bool link_survivors(espl__edit *edit, uint32_t top, const espl__frame *up)
{
    espl__forest *const forest = edit->forest;
    const uint32_t anchor = forest->parent[top], before = forest->links[top].next;
    bool is_done = true;

    for (uint32_t slot = espl__next_in_walk(forest, top, top, true);
         slot != ESPL__NO_SLOT && is_done;) {
        const bool is_dead = espl__slot_is(forest, slot, ESPL__SLOT_MARK);
        // Before the slot is unlinked, because the walk follows its links.
        const uint32_t next = espl__next_in_walk(forest, slot, top, is_dead);
        const bool is_free = espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);

        if (!is_dead) {
            is_done =
                (!espl__slot_copies(forest, slot) || copy_new_parent(edit, slot, up)) &&
                espl__edit_relink(edit, slot, anchor, before, is_free && anchor != ESPL__NO_SLOT);
            if (anchor == ESPL__NO_SLOT && !espl__edit_has_log(edit)) {
                espl__forest_note_loose(forest, slot);
            }
        }
        slot = next;
    }
    return is_done;
}

// Free the slots of a closure without survivors, for a destroy without lists.
static void free_closure(espl__edit *edit, uint32_t top)
{
    espl__forest *const forest = edit->forest;
    const uint32_t tree = forest->tree[top];

    ESPL_CHECK(espl__is_root(forest, top));
    espl__subtree_free(forest, top, edit->destroyed, edit->destroyed_context);
    if (forest->trees[tree].live == 0) {
        espl__tree_release(forest, tree);
    } else {
        espl__tree_drop_side(forest, tree);
    }
}

// End a destroy that found no memory: give the listed nodes their entities again. The undo log has all
// else that the destroy changed.
static espl_status give_up(espl__edit *edit, uint32_t top, size_t from)
{
    for (size_t i = from; i < espl__array_length(edit->removed); ++i) {
        edit->forest->links[edit->removed[i].slot].entity = edit->removed[i].entity;
    }
    clear_closure_marks(edit->forest, top);
    espl__array_set_length(edit->removed, from);
    return ESPL_ERR_NO_MEMORY;
}

// Mark the tree of a destroy without lists as unsettled where it leaves work for the next
// structural call: the parent becomes solo, or survivors are roots in a range that is not theirs.
static void note_unsettled(espl__edit *edit, uint32_t anchor, uint32_t tree, bool has_survivors)
{
    espl__forest *const forest = edit->forest;
    const bool is_childless = anchor != ESPL__NO_SLOT && espl__is_root(forest, anchor) &&
                              forest->links[anchor].first_child == ESPL__NO_SLOT;

    if (is_childless || (anchor == ESPL__NO_SLOT && has_survivors)) {
        espl__tree_mark_unsettled(forest, tree);
    }
}

// The stages of a destroy: find what dies; give survivors the placements that keep their worlds and
// link them to the parent; unlink the top, so that the closure is a tree of dead nodes only; end
// the dead. Marks are needed only to distinguish the dead from survivors, so that a destroy without
// survivors sets none.
espl_status espl__edit_destroy(espl__edit *edit, uint32_t top, espl_extent extent)
{
    espl__forest *const forest = edit->forest;
    const uint32_t anchor = forest->parent[top], tree = forest->tree[top];
    const size_t from = espl__array_length(edit->removed);
    bool has_survivors = false;

    // What dies has no entity from here on, and its descendants may survive.
    espl__jumps_spread(forest);
    bool is_done = list_closure(edit, top, extent, &has_survivors);

    edit->is_lossy = false;
    if (is_done && has_survivors) {
        espl__frame room;
        const espl__frame *const up = espl__edit_frame(edit, anchor, &room);

        const espl__frames frames = espl__edit_frames(edit, anchor, up);

        mark_closure(forest, top, extent);
        is_done = keep_survivors(edit, top, &frames) && link_survivors(edit, top, up);
    }
    if (is_done && anchor != ESPL__NO_SLOT) {
        is_done = unlink_member(edit, top, anchor);
    }
    if (!espl__edit_has_log(edit)) {
        note_unsettled(edit, anchor, tree, has_survivors);
        if (has_survivors) {
            clear_closure_marks(forest, top);
        }
        free_closure(edit, top);
        return espl__edit_remark(edit);
    }
    // Logged after the links, so that the undo makes the nodes live before it restores their links.
    const espl__undo entry = {.kind = ESPL__UNDO_DEATH,
                              .slot = top,
                              .a = (uint32_t)from,
                              .b = (uint32_t)(espl__array_length(edit->removed) - from)};

    if (!is_done || !espl__edit_log(edit, entry)) {
        return give_up(edit, top, from);
    }
    if (has_survivors) {
        clear_closure_marks(forest, top);
    }
    return espl__edit_remark(edit);
}

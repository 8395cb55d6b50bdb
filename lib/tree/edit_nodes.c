// SPDX-License-Identifier: MIT
// Edits of nodes: writes, inherit flags, transforms that are added or removed, and new nodes. The
// links of existing nodes are edited in edit_links.c. Each function decides all refusals before it
// changes anything, and placement.c says what a write means.
#include "lib/tree/edit_steps.h"

#include "lib/math/wide.h"
#include "lib/tree/layout.h"
#include "lib/tree/writes.h"

// --- Writes ---

// The state of a node for a change of its placement. Not to be copied, because `up` points into it.
typedef struct node_state {
    uint32_t slot;
    espl__placement placement;
    espl_pose world;
    const espl__frame *up; // in `room`, or NULL
    espl__frame room;
} node_state;

// Read the state of a node, with its world and its parent's up to date.
static void read_state(espl__edit *edit, uint32_t slot, node_state *out)
{
    const espl__forest *const forest = edit->forest;

    out->slot = slot;
    out->up = espl__edit_frame(edit, forest->parent[slot], &out->room);
    espl__edit_refresh(edit, slot);
    out->placement = espl__slot_placement(forest, slot);
    out->world = forest->world[slot];
}

// Store a changed state. A refusal stores nothing.
static espl_status put_state(espl__edit *edit, const node_state *s, espl_status status)
{
    if (status < 0) {
        return status;
    }
    return espl__edit_put(edit, s->slot, &s->placement, &s->world) ? status : ESPL_ERR_NO_MEMORY;
}

// Carry out a write that reads no world, on a node with a stale ancestor: its world is recomputed
// later, so that refreshing it now would be wasted.
static espl_status write_local(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl__forest *const forest = edit->forest;
    const espl_pose before = forest->local[slot], world = forest->world[slot];
    espl__placement placement = espl__slot_placement(forest, slot);
    const espl_status status = espl__placement_write_local(&placement, kind, value);

    if (status < 0) {
        return status;
    }
    if (!espl__edit_put(edit, slot, &placement, &world)) {
        return ESPL_ERR_NO_MEMORY;
    }
    // The stored world does not belong to the new local. The parent is made stale, because only a
    // stale ancestor recomputes the world of the node itself.
    if (!espl__pose_is_same(&placement.local, &before)) {
        ESPL_CHECK(!espl__is_root(forest, slot));
        espl__edit_mark_stale(edit, forest->parent[slot]);
    }
    return status;
}

// Fast path: a local write below a stale ancestor needs no world.
espl_status espl__edit_write(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                             const espl_write_value *value)
{
    node_state s;

    if (espl__write_is_local(kind) && !espl__slot_is(edit->forest, slot, ESPL__SLOT_KEEPS) &&
        espl__edit_is_below_stale(edit, slot)) {
        return write_local(edit, slot, kind, value);
    }

    read_state(edit, slot, &s);
    return put_state(edit, &s, espl__placement_write(&s.placement, &s.world, s.up, kind, value));
}

espl_status espl__edit_set_inherit(espl__edit *edit, uint32_t slot, uint32_t flags)
{
    node_state s;

    read_state(edit, slot, &s);
    if (s.up == NULL) {
        // No flags on a root is no change.
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    return put_state(edit, &s, espl__placement_inherit(&s.placement, &s.world, s.up, flags));
}

// --- Transforms that are added or removed ---

// Before the frame that the children of a node see becomes `next`, give the nodes below it the
// placements that keep their worlds. @return false: no memory.
static bool keep_below(espl__edit *edit, uint32_t slot, const espl__frame *next, uint32_t lost)
{
    espl__forest *const forest = edit->forest;
    const espl__frame now = espl__slot_frame(forest, slot);
    bool is_done = true;

    if (espl__pose_is_same(&now.world, &next->world) &&
        memcmp(now.extra.stretch, next->extra.stretch, sizeof now.extra.stretch) == 0) {
        return true;
    }
    espl__edit_push_down(edit, slot);
    for (uint32_t child = forest->links[slot].first_child; child != ESPL__NO_SLOT && is_done;
         child = forest->links[child].next) {
        is_done = espl__edit_keep_worlds(edit, child, next, lost);
    }
    return is_done;
}

// Replace the placement of a node that gains or loses its transform.
static espl_status replace(espl__edit *edit, uint32_t slot, const espl__placement *placement,
                           const espl__frame *next, bool is_bare)
{
    return espl__edit_put(edit, slot, placement, &next->world) &&
                   espl__edit_set_bare(edit, slot, is_bare) && espl__edit_touch(edit, slot)
               ? ESPL_OK
               : ESPL_ERR_NO_MEMORY;
}

espl_status espl__edit_add_transform(espl__edit *edit, uint32_t slot, const espl_transform *value)
{
    espl__frame room;
    const espl__frame *const up = espl__edit_frame(edit, edit->forest->parent[slot], &room);
    const espl__placement placement = {espl__pose_of(value), espl__kept_none(),
                                       espl__extra_of(value)};
    const espl__frame next = {espl__placement_world(&placement, up), placement.extra};

    ESPL_CHECK(espl__slot_is(edit->forest, slot, ESPL__SLOT_BARE));
    espl__edit_refresh(edit, slot);
    return keep_below(edit, slot, &next, ESPL__NO_SLOT)
               ? replace(edit, slot, &placement, &next, false)
               : ESPL_ERR_NO_MEMORY;
}

espl_status espl__edit_remove_transform(espl__edit *edit, uint32_t slot)
{
    espl__placement shown = espl__placement_identity();
    espl__frame next = {shown.local, shown.extra};

    ESPL_CHECK(!espl__slot_is(edit->forest, slot, ESPL__SLOT_BARE));
    // A bare node shows the frame of its parent, or the identity for a root.
    (void)espl__edit_frame(edit, edit->forest->parent[slot], &next);
    espl__edit_refresh(edit, slot);
    if (!keep_below(edit, slot, &next, slot)) {
        return ESPL_ERR_NO_MEMORY;
    }
    shown.extra = next.extra;
    return replace(edit, slot, &shown, &next, true);
}

// --- Templates ---

// Append a node to the template that is being found. The source of a copy of a new node is that
// node's source, so that each copy names an entity that existed before the playback.
static bool push_template_node(espl__edit *edit, uint32_t slot, uint32_t parent)
{
    const uint32_t entity = edit->forest->links[slot].entity, number = entity & ~ESPL__MADE;
    const bool is_made = (entity & ESPL__MADE) != 0;

    if (!ESPL__EDIT_RESERVE(edit, template_nodes, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->template_nodes,
                    (espl__template_node){.slot = slot,
                                          .parent = parent,
                                          .source = is_made ? edit->made[number].source : entity,
                                          .original = is_made ? number : ESPL__NO_ENTITY});
    return true;
}

const espl__template espl__template_of_none = {
    .count = 1,
    .nodes = &(const espl__template_node){ESPL__NO_SLOT, 0, ESPL__NO_ENTITY, ESPL__NO_ENTITY}};

// The list of nodes is its own queue, so that it is breadth-first.
espl_status espl__edit_find_template(espl__edit *edit, uint32_t slot, espl__template *out)
{
    const espl__forest *const forest = edit->forest;
    unsigned flags = 0;

    espl__array_set_length(edit->template_nodes, 0);
    if (!push_template_node(edit, slot, 0)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < espl__array_length(edit->template_nodes); ++i) {
        const uint32_t at = edit->template_nodes[i].slot;

        flags |= forest->flags[at];
        for (uint32_t child = forest->links[at].first_child; child != ESPL__NO_SLOT;
             child = forest->links[child].next) {
            if (!espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK) &&
                !push_template_node(edit, child, i)) {
                return ESPL_ERR_NO_MEMORY;
            }
        }
    }
    *out = (espl__template){.count = (uint32_t)espl__array_length(edit->template_nodes),
                            .nodes = edit->template_nodes,
                            .has_side = (flags & ESPL__SLOT_SIDE) != 0,
                            .has_bare = (flags & ESPL__SLOT_BARE) != 0};
    return ESPL_OK;
}

// A copy has no inherit flags, because a flag belongs to the link to a parent.
espl__placement espl__edit_source_placement(espl__edit *edit, uint32_t slot, espl_pose *world)
{
    node_state s;

    read_state(edit, slot, &s);
    *world = s.world;
    s.placement.local = espl__placement_seen(&s.placement, s.up, world);
    s.placement.kept = espl__kept_none();
    return s.placement;
}

// --- New nodes ---

espl_status espl__edit_prepare_new(espl__edit *edit, espl__new_node *place)
{
    static const espl__keep_rules local_stays = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL};
    static const espl__keep_rules world_stays = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};
    const espl__forest *const forest = edit->forest;
    const bool is_root = place->parent == ESPL__NO_SLOT;

    if (!is_root) {
        espl__edit_refresh(edit, place->parent);
    }
    const espl_pose local = place->placement.local;
    const espl__wide_pose pose = espl__wide_load(&local);

    // Fast path: without inherit flags, and below a parent without side arrays, only the world is
    // to be computed.
    if (!place->is_bare && !place->keeps_world && place->inherit == 0 &&
        espl__wide_is_finite(pose) &&
        (is_root || !espl__slot_is(forest, place->parent, ESPL__SLOT_SIDE))) {
        place->placement.kept = espl__kept_none();
        espl__wide_store(
            &place->world,
            is_root ? pose
                    : espl__wide_compose(espl__wide_load(&forest->world[place->parent]), pose));
        return ESPL_OK;
    }
    espl__frame room;
    const espl__frame *const up = espl__edit_frame(edit, place->parent, &room);

    if (place->is_bare) {
        place->placement = espl__placement_identity();
        place->placement.extra = up != NULL ? up->extra : place->placement.extra;
        place->world = up != NULL ? up->world : place->placement.local;
        return ESPL_OK;
    }
    return espl__placement_move(&place->placement, &place->world, &local, up,
                                place->keeps_world ? world_stays : local_stays, place->inherit);
}

// Take a slot for a child of `parent`: in the range of the parent if it has one above it, else in
// the nursery. @param from  out: the origin of the slot, see espl__made.
static uint32_t take_slot(espl__edit *edit, uint32_t parent, uint32_t *from)
{
    espl__forest *const forest = edit->forest;

    if (parent != ESPL__NO_SLOT && forest->tree[parent] != forest->nursery) {
        const uint32_t slot = espl__slot_take(forest, forest->tree[parent], parent, from);

        if (slot != ESPL__NO_SLOT) {
            return slot;
        }
    }
    ESPL_CHECK(edit->nursery < edit->nursery_end);
    *from = ESPL__FROM_NURSERY;
    forest->parent[edit->nursery] = ESPL__NO_SLOT;
    return edit->nursery++;
}

// Write flags, links, local and side entries of a new node, and link it. The caller writes its
// world.
static void fill_node(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                      const espl__placement *placement, unsigned flags)
{
    espl__forest *const forest = edit->forest;
    const bool has_side = espl__tree_of(forest, slot)->side != NULL;
    const uint32_t number = (uint32_t)espl__array_length(edit->made);

    ESPL_CHECK_FULL(number < ESPL__MADE && parent != slot);
    forest->flags[slot] = (uint8_t)(flags | (has_side ? (unsigned)ESPL__SLOT_SIDE : 0u));
    forest->links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT,
                                        ESPL__MADE | number};
    forest->local[slot] = placement->local;
    if (has_side) {
        const espl__tree *const t = espl__tree_of(forest, slot);

        edit->has_side = true;
        t->side->extra[slot - t->base] = espl__extra_default();
        if (t->side->kept != NULL) {
            t->side->kept[slot - t->base] = espl__kept_none();
        }
        if (espl__placement_needs_side(placement)) {
            espl__slot_place(forest, slot, placement);
        }
    }
    if (parent != ESPL__NO_SLOT) {
        espl__node_link(forest, slot, parent, before);
    }
}

// Append a new node to the list.
static void add_made(espl__edit *edit, uint32_t slot, const espl__template_node *copied,
                     uint32_t from)
{
    ESPL_CHECK_FULL((edit->forest->links[slot].entity & ~ESPL__MADE) ==
                    espl__array_length(edit->made));
    ESPL_ARRAY_PUSH(edit->made, ((espl__made){slot, copied->source, copied->original, from}));
}

// Make the top of a copy, or a created node. @return its slot, or ESPL__NO_SLOT: no memory.
static uint32_t make_top(espl__edit *edit, const espl__template_node *copied,
                         const espl__new_node *place)
{
    espl__forest *const forest = edit->forest;
    const uint32_t parent = place->parent;
    uint32_t from = 0;

    if (parent != ESPL__NO_SLOT && forest->tree[parent] != forest->nursery &&
        !espl__edit_ensure_side(edit, parent, &place->placement)) {
        return ESPL__NO_SLOT;
    }
    const uint32_t slot = take_slot(edit, parent, &from);
    const unsigned flags =
        (place->is_bare ? (unsigned)ESPL__SLOT_BARE : 0u) |
        (parent != ESPL__NO_SLOT && place->link == ESPL_LINK_FREE ? (unsigned)ESPL__SLOT_FREE_LINK
                                                                  : 0u);

    fill_node(edit, slot, parent, place->before, &place->placement, flags);
    forest->world[slot] = place->world;
    edit->context.counts.nodes_visited += 1;
    edit->context.counts.overflowed += espl__pose_is_finite(&place->world) ? 0 : 1;
    add_made(edit, slot, copied, from);
    return slot;
}

// Mark a new node as moved where it is in another range than its parent.
static bool mark_new_if_moved(espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = forest->parent[slot];

    return parent == ESPL__NO_SLOT || forest->tree[parent] == forest->tree[slot] ||
           espl__edit_mark_moved(edit, slot);
}

// Append the undo entry of nodes that are about to be made, and reserve their list. It counts no
// nodes yet, so that an undo after a failure in between finds a valid entry; count_making()
// completes it.
// @return the number of the entry, or SIZE_MAX: no memory.
static size_t begin_making(espl__edit *edit, uint32_t parent, uint32_t count)
{
    const size_t number = espl__array_length(edit->log);
    const espl__undo entry = {.kind = ESPL__UNDO_MAKE,
                              .was_in_order = parent != ESPL__NO_SLOT &&
                                              espl__is_tree_in_order(edit->forest, parent),
                              .slot = ESPL__NO_SLOT,
                              .a = (uint32_t)espl__array_length(edit->made)};

    return ESPL__EDIT_RESERVE(edit, made, count) && espl__edit_log(edit, entry) ? number : SIZE_MAX;
}

// Complete the undo entry of nodes that were made.
static void count_making(espl__edit *edit, size_t number)
{
    espl__undo *const entry = &edit->log[number];

    ESPL_CHECK(entry->kind == ESPL__UNDO_MAKE && entry->a < espl__array_length(edit->made));
    entry->slot = edit->made[entry->a].slot;
    entry->b = (uint32_t)espl__array_length(edit->made) - entry->a;
}

// List the parent of a new node where its role changes: a solo entity becomes a root.
static bool touch_parent(espl__edit *edit, uint32_t parent)
{
    const espl__forest *const forest = edit->forest;

    return parent == ESPL__NO_SLOT || !espl__is_root(forest, parent) ||
           forest->links[parent].first_child != ESPL__NO_SLOT || espl__edit_touch(edit, parent);
}

// Copy one node of a template, not its top, below the copy of its parent. @return false: no memory.
static bool clone_member(espl__edit *edit, const espl__template *source, uint32_t first, uint32_t i)
{
    espl__forest *const forest = edit->forest;
    const espl__template_node *const copied = &source->nodes[i];
    const uint32_t from_slot = copied->slot;
    ESPL_CHECK_FULL(i != 0 && copied->parent < i);
    const uint32_t parent = edit->made[first + copied->parent].slot;
    const unsigned flags = forest->flags[from_slot] & (unsigned)ESPL__SLOT_BARE;
    uint32_t from = 0;
    const espl__placement placement =
        source->has_side ? espl__slot_placement(forest, from_slot)
                         : (espl__placement){forest->local[from_slot], espl__kept_none(),
                                             espl__extra_default()};

    if (source->has_side && forest->tree[parent] != forest->nursery &&
        !espl__edit_ensure_side(edit, parent, &placement)) {
        return false;
    }
    const uint32_t slot = take_slot(edit, parent, &from);

    fill_node(edit, slot, parent, ESPL__NO_SLOT, &placement, flags);
    (void)espl__propagate_node(forest, &edit->context, slot);
    add_made(edit, slot, copied, from);
    return mark_new_if_moved(edit, slot);
}

// Tell whether neither a template nor the tree of its copy (`tree`) has side arrays or bare nodes. Then
// local, world and links are all that a copy has.
static bool is_plain_copy(const espl__edit *edit, const espl__template *source,
                          const espl__new_node *place, uint32_t tree)
{
    return !source->has_side && !source->has_bare && !place->is_bare &&
           !espl__placement_needs_side(&place->placement) && edit->forest->trees[tree].side == NULL;
}

// Take a slot above a parent, in the range `t` or in the nursery. Unlike take_slot() it does not
// change from the range to the nursery. @return ESPL__NO_SLOT where the range has no such slot.
ESPL__INLINE uint32_t take_plain_slot(espl__edit *edit, espl__tree *t, uint32_t tree, uint32_t up,
                                      uint32_t *from)
{
    espl__forest *const forest = edit->forest;

    if (tree == forest->nursery) {
        ESPL_CHECK(edit->nursery < edit->nursery_end);
        *from = ESPL__FROM_NURSERY;
        return edit->nursery++;
    }
    uint32_t slot = espl__hole_take(forest, t, up, from);

    if (slot != ESPL__NO_SLOT || t->used == t->capacity) {
        return slot;
    }
    slot = t->base + t->used;
    *from = ESPL__FROM_TAIL;
    t->used += 1;
    forest->tree[slot] = tree;
    return slot;
}

// Copy a plain template: one loop without calls, because cloning is the most frequent structural
// command. It ends where the range of the parent has no slot left; clone_member() copies the rest.
// The addresses of the arrays are in locals, because the compiler must assume that a store changes
// a field.
// @return the number of new nodes, which are listed.
static uint32_t clone_plain(espl__edit *edit, const espl__template *source,
                            const espl__new_node *place, uint32_t tree)
{
    espl__forest *const forest = edit->forest;
    espl__links *const links = forest->links;
    espl_pose *const locals = forest->local, *const worlds = forest->world;
    uint32_t *const parents = forest->parent;
    uint8_t *const flags = forest->flags;
    espl__tree *const t = &forest->trees[tree];
    const uint32_t first = (uint32_t)espl__array_length(edit->made), count = source->count;
    const espl__template_node *const nodes = source->nodes;
    espl__made *const made = edit->made + first;
    espl__wide_bits alarm = {0};
    espl__wide_pose local = espl__wide_load(&place->placement.local);
    espl__wide_pose world = espl__wide_load(&place->world);
    uint32_t up = place->parent, before = place->before, i = 0;
    uint8_t flag = up != ESPL__NO_SLOT && place->link == ESPL_LINK_FREE ? ESPL__SLOT_FREE_LINK : 0;
    bool is_in_order = (t->flags & ESPL__TREE_IN_ORDER) != 0;

    while (i < count) {
        uint32_t from = 0;
        const uint32_t slot = take_plain_slot(edit, t, tree, up, &from);

        if (slot == ESPL__NO_SLOT) {
            break;
        }
        espl__wide_store(&locals[slot], local);
        espl__wide_store(&worlds[slot], world);
        alarm |= espl__wide_nonfinite(world);
        flags[slot] = flag;
        parents[slot] = up;
        links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT,
                                    ESPL__MADE | (first + i)};
        made[i] = (espl__made){slot, nodes[i].source, nodes[i].original, from};
        ESPL_CHECK_FULL(up == ESPL__NO_SLOT || (up < slot && forest->tree[up] == tree));
        if (up != ESPL__NO_SLOT) {
            espl__links_insert(links, slot, up, before);
            // As keeps_order() in nodes.c: an unused slot, last among its siblings, parents ascend.
            is_in_order = is_in_order && from == ESPL__FROM_TAIL && before == ESPL__NO_SLOT &&
                          (parents[slot - 1] <= up || parents[slot - 1] == ESPL__NO_SLOT);
        }
        i += 1;
        if (i < count) {
            up = made[nodes[i].parent].slot;
            before = ESPL__NO_SLOT;
            flag = 0;
            local = espl__wide_load(&locals[nodes[i].slot]);
            world = espl__wide_compose(espl__wide_load(&worlds[up]), local);
        }
    }
    if (tree != forest->nursery) {
        ESPL_CHECK(t->live + i <= t->used);
        t->live += i;
        t->flags &= is_in_order && t->live == t->used ? UINT32_MAX : ~(uint32_t)ESPL__TREE_IN_ORDER;
    }
    // The room of the list is that of begin_making().
    espl__array_set_length(edit->made, first + i);
    edit->context.counts.nodes_visited += i;
    for (uint32_t k = 0; !espl__wide_found_nothing(alarm) && k < i; ++k) {
        edit->context.counts.overflowed += espl__pose_is_finite(&worlds[made[k].slot]) ? 0 : 1;
    }
    return i;
}

// A plain template is copied by one loop as far as the range of the parent has slots. Nodes that
// are left, and templates that are not plain, are copied node by node, whose slots may be in the
// nursery.
espl_status espl__edit_clone(espl__edit *edit, const espl__template *source,
                             const espl__new_node *place, uint32_t *made)
{
    const size_t number = begin_making(edit, place->parent, source->count);

    if (number == SIZE_MAX || !touch_parent(edit, place->parent)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const uint32_t first = edit->log[number].a;
    const espl__forest *const forest = edit->forest;
    const uint32_t tree =
        place->parent == ESPL__NO_SLOT ? forest->nursery : forest->tree[place->parent];
    uint32_t i =
        is_plain_copy(edit, source, place, tree) ? clone_plain(edit, source, place, tree) : 0;
    bool is_done = true;

    if (i == 0) {
        const uint32_t top = make_top(edit, &source->nodes[0], place);

        is_done = top != ESPL__NO_SLOT && mark_new_if_moved(edit, top);
        i = 1;
    }
    for (; i < source->count && is_done; ++i) {
        is_done = clone_member(edit, source, first, i);
    }
    // Also where memory ran out in between, so that the undo frees the nodes made so far.
    if (espl__array_length(edit->made) != first) {
        count_making(edit, number);
    }
    *made = first;
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

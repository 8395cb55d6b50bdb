// SPDX-License-Identifier: MIT
// Edits of nodes: inherit flags, transforms that are added or removed, and new nodes. The links of
// existing nodes are edited in edit_links.c, and their transforms are written in edit_writes.c. Each
// function decides all refusals before it changes anything.
#include "lib/tree/edit_nodes.h"

#include "lib/tree/cells.h"
#include "lib/tree/changes.h"
#include "lib/tree/edit_past.h"
#include "lib/tree/layout.h"
#include "lib/tree/links.h"
#include "lib/tree/order.h"
#include "lib/tree/worlds.h"

// --- Inherit flags ---

espl_status espl__edit_set_inherit(espl__edit *edit, uint32_t slot, uint32_t flags)
{
    espl__node_change c;

    espl__edit_read(edit, slot, &c);
    if (c.up == NULL) {
        // No flags on a root is no change.
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    // A reattach that snaps nothing.
    return espl__edit_reattach(
        edit, &c, (espl__keep_rules){ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD}, flags);
}

// --- Transforms that are added or removed ---

// Before the frame that the children of a node see becomes `next`, give the nodes below it the
// placements that keep their worlds. Where it stays the same, their past alone may change.
// @return false: no memory.
static bool keep_below(espl__edit *edit, uint32_t slot, espl__frames *next, uint32_t lost)
{
    espl__forest *const forest = edit->forest;
    const espl__frame now = espl__slot_frame(forest, slot);
    bool is_done = true;

    edit->is_lossy = false;
    next->is_same =
        espl__pose_is_same(&now.world, &next->now->world) &&
        memcmp(now.extra.stretch, next->now->extra.stretch, sizeof now.extra.stretch) == 0;
    if (next->is_same && !espl__forest_has_motion(forest)) {
        return true;
    }
    espl__edit_push_down(edit, slot);
    for (uint32_t child = forest->links[slot].first_child; child != ESPL__NO_SLOT && is_done;
         child = forest->links[child].next) {
        is_done = espl__edit_keep_worlds(edit, child, next, lost);
    }
    return is_done;
}

// Replace the placement of a node that gains or loses its transform, after keep_below().
static espl_status replace(espl__edit *edit, uint32_t slot, const espl__placement *placement,
                           const espl__frame *next, bool is_bare)
{
    espl__past room;
    const espl__past *const past = espl__edit_past_none(edit, &room);

    return espl__edit_put(edit, slot, placement, &next->world, past) &&
                   espl__edit_set_bare(edit, slot, is_bare) && espl__edit_touch(edit, slot)
               ? espl__edit_remark(edit)
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
    espl__frames frames = espl__edit_frames_of_new(edit, slot, &placement, &next);

    espl__edit_refresh(edit, slot);
    return keep_below(edit, slot, &frames, ESPL__NO_SLOT)
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
    espl__frames frames = espl__edit_frames_of_bare(edit, slot, &next);

    espl__edit_refresh(edit, slot);
    if (!keep_below(edit, slot, &frames, slot)) {
        return ESPL_ERR_NO_MEMORY;
    }
    shown.extra = next.extra;
    return replace(edit, slot, &shown, &next, true);
}

// --- Templates ---

// A node of the template that is being found. The source of a copy of a new node is that node's
// source, so that each copy names an entity that existed before the playback.
static inline espl__template_node template_node(const espl__edit *edit, uint32_t slot,
                                                uint32_t parent)
{
    const uint32_t entity = edit->forest->links[slot].entity, number = entity & ~ESPL__MADE;
    const bool is_made = (entity & ESPL__MADE) != 0;

    return (espl__template_node){.slot = slot,
                                 .parent = parent,
                                 .source = is_made ? edit->made[number].source : entity,
                                 .original = is_made ? number : ESPL__NO_ENTITY};
}

const espl__template espl__template_of_none = {
    .count = 1,
    .nodes = &(const espl__template_node){ESPL__NO_SLOT, 0, ESPL__NO_ENTITY, ESPL__NO_ENTITY}};

// The list of nodes is its own queue, so that it is breadth-first.
espl_status espl__edit_find_template(espl__edit *edit, uint32_t slot, espl__template *out)
{
    const espl__forest *const forest = edit->forest;
    const espl__links *const links = forest->links;
    uint32_t count = 1;
    unsigned flags = 0;

    espl__array_set_length(edit->template_nodes, 0);
    if (!ESPL__EDIT_RESERVE(edit, template_nodes, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__template_node *nodes = edit->template_nodes;
    size_t room = espl__array_capacity(nodes);

    nodes[0] = template_node(edit, slot, 0);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = nodes[i].slot;

        flags |= forest->flags[at];
        for (uint32_t child = links[at].first_child; child != ESPL__NO_SLOT;
             child = links[child].next) {
            if (espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
                continue;
            }
            if (count == room) {
                espl__array_set_length(edit->template_nodes, count);
                if (!ESPL__EDIT_RESERVE(edit, template_nodes, 1)) {
                    return ESPL_ERR_NO_MEMORY;
                }
                nodes = edit->template_nodes;
                room = espl__array_capacity(nodes);
            }
            nodes[count++] = template_node(edit, child, i);
        }
    }
    espl__array_set_length(edit->template_nodes, count);
    *out = (espl__template){.count = count,
                            .nodes = nodes,
                            .has_side = (flags & ESPL__SLOT_SIDE) != 0,
                            .has_bare = (flags & ESPL__SLOT_BARE) != 0};
    return ESPL_OK;
}

// A copy has no inherit flags, because a flag belongs to the link to a parent.
espl__placement espl__edit_source_placement(espl__edit *edit, uint32_t slot, espl_pose *world)
{
    espl__node_change c;

    espl__edit_read(edit, slot, &c);
    *world = c.world;
    c.placement.local = espl__placement_seen(&c.placement, c.up, world);
    c.placement.kept = espl__kept_none();
    return c.placement;
}

// --- New nodes ---

espl_status espl__edit_prepare_new(espl__edit *edit, espl__new_node *place)
{
    static const espl__keep_rules local_stays = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL};
    static const espl__keep_rules world_stays = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};
    if (place->parent != ESPL__NO_SLOT) {
        espl__edit_refresh(edit, place->parent);
    }
    place->placement.kept = espl__kept_none();
    const espl__wide_pose pose = espl__wide_load(&place->placement.local);

    // Fast path: without inherit flags only the world is to be computed.
    if (!place->is_bare && !place->keeps_world && place->inherit == 0 &&
        espl__wide_is_finite(pose)) {
        espl__wide_store(&place->world, espl__world_below(edit->forest, place->parent, pose));
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
    const espl_pose local = place->placement.local;
    const espl__known_locals known = {&local, NULL};

    return espl__placement_move(&place->placement, &place->world, &known, up,
                                place->keeps_world ? world_stays : local_stays, place->inherit);
}

// List the parent of a new node where its role changes: a solo entity becomes a root.
static bool touch_parent(espl__edit *edit, uint32_t parent)
{
    const espl__forest *const forest = edit->forest;

    return parent == ESPL__NO_SLOT || !espl__is_root(forest, parent) ||
           forest->links[parent].first_child != ESPL__NO_SLOT || espl__edit_touch(edit, parent);
}

// Tell whether neither a template nor the tree of its copy (`tree`) has side arrays or bare nodes.
// Then local, world and links are all that a copy has.
static bool is_plain_copy(const espl__edit *edit, const espl__template *source,
                          const espl__new_node *place, uint32_t tree)
{
    return !source->has_side && !source->has_bare && !place->is_bare &&
           edit->forest->trees[tree].side == 0 && !espl__placement_needs_side(&place->placement);
}

// Make sure that the tree of the parent can hold the placements of a copy. The nursery has side
// arrays where a command may need them. @return false: no memory.
static ESPL__APART bool ensure_copy_sides(espl__edit *edit, const espl__template *source,
                                          const espl__new_node *place)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = place->parent;

    if (parent == ESPL__NO_SLOT || forest->tree[parent] == forest->nursery) {
        return true;
    }
    bool is_done = espl__edit_ensure_side(edit, parent, &place->placement);

    // Fast path: arrays with room for inherit flags hold any placement, others those without flags.
    for (uint32_t i = 1; i < source->count && source->has_side && is_done; ++i) {
        const uint32_t slot = source->nodes[i].slot;
        const uint32_t needed =
            espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) ? ESPL__HAS_KEPT : ESPL__HAS_SIDE;

        if ((espl__tree_of(forest, parent)->side & needed) == 0) {
            const espl__placement placement = espl__slot_placement(forest, slot);

            is_done = espl__edit_ensure_side(edit, parent, &placement);
        }
    }
    return is_done;
}

// Leave spare slots in the nursery behind the tree of the last root, before those of the next root.
static inline void begin_nursery_root(espl__edit *edit)
{
    const uint32_t wanted = espl__tree_spare(edit->nursery - edit->nursery_root);
    const uint32_t spare = wanted < edit->nursery_spare ? wanted : edit->nursery_spare;

    edit->nursery += spare;
    edit->nursery_spare -= spare;
    edit->nursery_root = edit->nursery;
}

// Take the slots of a copy, list its nodes, and write their columns, but for locals and worlds. A node gets a slot
// above its parent, in the range of the parent (`tree`) if that has one, else in the nursery. The
// first node of a template is its own parent, so that the list begins with the parent of the copy.
// The addresses of the arrays are in locals, because the compiler must assume that a store changes a
// field.
// @param number  of the first node in the list
static void link_copy(espl__edit *edit, const espl__template *source, const espl__new_node *place,
                      uint32_t tree, uint32_t number)
{
    espl__forest *const forest = edit->forest;
    const espl__columns *const columns = &forest->columns;
    espl__links *const links = forest->links;
    uint32_t *const parents = forest->parent;
    uint8_t *const flags = forest->flags;
    const espl__template_node *const nodes = source->nodes;
    espl__made *const made = edit->made + number;
    const uint32_t count = source->count;
    espl__tree *const t = &forest->trees[tree];
    const bool is_free = place->parent != ESPL__NO_SLOT && place->link == ESPL_LINK_FREE;
    uint32_t before = place->before, live = 0;
    bool is_in_order = (t->flags & ESPL__TREE_IN_ORDER) != 0 && before == ESPL__NO_SLOT;

    if (place->parent == ESPL__NO_SLOT) {
        begin_nursery_root(edit);
    }
    made[0] = (espl__made){.slot = place->parent,
                           .from = tree == forest->nursery ? ESPL__FROM_NURSERY : ESPL__FROM_TAIL};
    for (uint32_t i = 0; i < count; ++i) {
        const espl__made *const above = &made[nodes[i].parent];
        const uint32_t up = above->slot;
        uint32_t from = ESPL__FROM_NURSERY, slot = ESPL__NO_SLOT;

        if (above->from != ESPL__FROM_NURSERY) {
            slot = espl__slot_find(forest, t, up, &from);
        }
        if (slot != ESPL__NO_SLOT) {
            live += 1;
        } else {
            ESPL_CHECK(edit->nursery < edit->nursery_end);
            from = ESPL__FROM_NURSERY;
            slot = edit->nursery++;
        }
        // As keeps_order() in nodes.c: an unused slot, last among its siblings, parents ascend.
        if (is_in_order && (from != ESPL__FROM_TAIL ||
                            (parents[slot - 1] > up && parents[slot - 1] != ESPL__NO_SLOT))) {
            is_in_order = false;
        }
        made[i] = (espl__made){slot, from, nodes[i].source, nodes[i].original};
        parents[slot] = up;
        flags[slot] = 0;
        espl__columns_clone(columns, slot, nodes[i].slot);
        links[slot].first_child = ESPL__NO_SLOT;
        links[slot].entity = ESPL__MADE | (number + i);
        if (up != ESPL__NO_SLOT) {
            espl__links_insert(links, slot, up, before);
        } else {
            links[slot].next = links[slot].previous = ESPL__NO_SLOT;
        }
        before = ESPL__NO_SLOT;
    }
    flags[made[0].slot] = is_free ? ESPL__SLOT_FREE_LINK : 0;
    if (tree != forest->nursery) {
        t->live += live;
        if (!is_in_order) {
            espl__tree_end_order(forest, t);
        }
    }
}

// Write locals and worlds of the nodes of a copy. The world of the top is prepared. The addresses of
// the arrays are in locals, because the compiler must assume that a store changes a field.
// @param given  locals of nodes that copy none; NULL: those of the sources.
ESPL__INLINE void pose_nodes(espl__edit *edit, const espl__template *source,
                             const espl__new_node *place, const espl__made *made, bool is_plain,
                             const espl_pose *given)
{
    espl__forest *const forest = edit->forest;
    espl_pose *const locals = forest->local;
    const espl_pose *const worlds = forest->world;
    const espl__worlds stored = espl__worlds_of(forest);
    const espl__template_node *const nodes = source->nodes;
    const uint32_t *const parents = forest->parent, count = source->count;
    const espl__wide_pose top = espl__wide_load(&place->world);
    espl__wide_bits alarm = espl__wide_nonfinite(top);
    uint32_t visited = 1;

    espl__wide_store(&locals[made[0].slot], espl__wide_load(&place->placement.local));
    espl__world_put_wide(stored, made[0].slot, top);
    for (uint32_t i = 1; i < count; ++i) {
        const uint32_t slot = made[i].slot;
        const espl__wide_pose local =
            espl__wide_load(given != NULL ? &given[i] : &locals[nodes[i].slot]);

        espl__wide_store(&locals[slot], local);
        const bool is_exceptional =
            !is_plain && espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL);

        if (is_exceptional && espl__slot_is(forest, slot, ESPL__SLOT_BARE | ESPL__SLOT_KEEPS)) {
            (void)espl__propagate_node(forest, &edit->context, slot);
            continue;
        }
        const espl__wide_pose world =
            is_exceptional ? espl__world_below(forest, parents[slot], local)
                           : espl__wide_compose(espl__wide_load(&worlds[parents[slot]]), local);

        espl__world_put_wide(stored, slot, world);
        alarm |= espl__wide_nonfinite(world);
        visited += 1;
    }
    for (uint32_t i = 0; espl__forest_is_tracked(forest) && i < count; ++i) {
        espl__mark_made(forest, made[i].slot);
    }
    edit->context.counts.nodes_visited += visited;
    edit->context.has_overflowed = edit->context.has_overflowed || !espl__wide_found_nothing(alarm);
}

static void pose_copy(espl__edit *edit, const espl__template *source, const espl__new_node *place,
                      const espl__made *made, bool is_plain)
{
    pose_nodes(edit, source, place, made, is_plain, NULL);
}

static ESPL__APART void pose_given(espl__edit *edit, const espl__template *source,
                                   const espl__new_node *place, const espl__made *made,
                                   bool is_plain)
{
    pose_nodes(edit, source, place, made, is_plain, source->locals);
}

// Return the shift from the cell of a source to that of its copy.
static espl__cell_shift shift_of_copy(const espl__edit *edit, const espl__template *source,
                                      const espl__new_node *place)
{
    const uint32_t from = source->nodes[0].slot;

    return espl__cell_shift_between(edit->forest, from != ESPL__NO_SLOT ? from : place->parent,
                                    place->parent);
}

// Give the copy of a node that has no parent the cell of the source.
static void copy_cell(const espl__edit *edit, const espl__template *source,
                      const espl__new_node *place, const espl__made *made)
{
    const uint32_t from = source->nodes[0].slot;

    if (place->parent == ESPL__NO_SLOT && from != ESPL__NO_SLOT) {
        espl__cell_store(edit->forest, made[0].slot, espl__cell_of(edit->forest, from));
    }
}

// Write the flags and side entries of a copy that is not plain. Free slots have the default entries.
// Children come first, because placing a stretch updates the children that have their flags.
static ESPL__APART void fill_copy(espl__edit *edit, const espl__template *source,
                                  const espl__new_node *place, const espl__made *made)
{
    espl__forest *const forest = edit->forest;
    espl__placement copied;
    const espl__cell_shift shift = shift_of_copy(edit, source, place);

    for (uint32_t i = source->count; i-- > 0;) {
        const uint32_t slot = made[i].slot, from = source->nodes[i].slot;
        const bool is_bare = i == 0
                                 ? place->is_bare
                                 : source->has_bare && espl__slot_is(forest, from, ESPL__SLOT_BARE);
        const bool has_side = espl__tree_of(forest, slot)->side != 0;
        const espl__placement *placement = i == 0 ? &place->placement : NULL;

        forest->flags[slot] |=
            (uint8_t)((has_side ? ESPL__SLOT_SIDE : 0) | (is_bare ? ESPL__SLOT_BARE : 0));
        edit->has_side = edit->has_side || has_side;
        if (i != 0 && source->has_side) {
            copied = espl__slot_placement(forest, from);
            espl__kept_shift(&copied.kept.pose, copied.kept.flags, &shift);
            placement = &copied;
        }
        if (placement != NULL && espl__placement_needs_side(placement)) {
            espl__slot_place(forest, slot, placement);
        } else if (i == 0 || is_bare) {
            espl__node_update_exceptional(forest, slot);
        }
    }
}

// Mark new nodes as moved that are in the nursery, and their parents are not.
static ESPL__APART bool mark_spilled(espl__edit *edit, const espl__made *made, uint32_t count)
{
    const espl__forest *const forest = edit->forest;
    bool is_done = true;

    for (uint32_t i = 0; i < count && is_done; ++i) {
        const uint32_t slot = made[i].slot, parent = forest->parent[slot];

        is_done = made[i].from != ESPL__FROM_NURSERY || forest->tree[parent] == forest->nursery ||
                  espl__edit_mark_moved(edit, slot);
    }
    return is_done;
}

// A copy is made in several passes, because each then has its addresses in registers: cloning is
// the most frequent structural command. Memory runs out before the first node is made, or after the
// last one, so that the undo log has all of them.
espl_status espl__edit_clone(espl__edit *edit, const espl__template *source,
                             const espl__new_node *place, uint32_t *made)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = place->parent, first = (uint32_t)espl__array_length(edit->made);
    const uint32_t tree = parent == ESPL__NO_SLOT ? forest->nursery : forest->tree[parent];
    const bool is_plain = is_plain_copy(edit, source, place, tree);
    const uint32_t nursery = edit->nursery;
    espl__undo entry = {.kind = ESPL__UNDO_MAKE,
                        .was_in_order = (forest->trees[tree].flags & ESPL__TREE_IN_ORDER) != 0,
                        .a = first,
                        .b = source->count};

    if ((!is_plain && !ensure_copy_sides(edit, source, place)) || !touch_parent(edit, parent) ||
        !ESPL__EDIT_RESERVE(edit, log, 1) || !ESPL__EDIT_RESERVE(edit, made, source->count)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__made *const nodes = edit->made + first;

    link_copy(edit, source, place, tree, first);
    const bool is_spilled = edit->nursery != nursery && tree != forest->nursery;

    // The nursery may have side arrays where the tree has none.
    if (!is_plain || is_spilled) {
        fill_copy(edit, source, place, nodes);
    }
    if (source->locals == NULL) {
        pose_copy(edit, source, place, nodes, is_plain);
    } else {
        pose_given(edit, source, place, nodes, is_plain);
    }
    if (espl__forest_has_cells(forest)) {
        copy_cell(edit, source, place, nodes);
    }
    espl__array_set_length(edit->made, first + source->count);
    entry.slot = nodes[0].slot;
    ESPL_ARRAY_PUSH(edit->log, entry);
    *made = first;
    return !is_spilled || mark_spilled(edit, nodes, source->count) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// SPDX-License-Identifier: MIT
// Edits of single nodes: writes, inherit flags, transforms that come and go, and new nodes.
#include "lib/tree/edit_steps.h"

#include "lib/math/wide.h"
#include "lib/tree/layout.h"
#include "lib/tree/writes.h"

// --- Writes ---

// A node with a placement of its own, with what a change of it needs.
typedef struct standing {
    uint32_t slot;
    espl__placement placement;
    espl_pose world;
    const espl__frame *up; // in `room`, or NULL
    espl__frame room;
} standing;

static void read_standing(espl__edit *edit, uint32_t slot, standing *out)
{
    const espl__forest *const forest = edit->forest;

    out->slot = slot;
    out->up = espl__edit_frame(edit, forest->parent[slot], &out->room);
    espl__edit_refresh(edit, slot);
    out->placement = espl__slot_placement(forest, slot);
    out->world = forest->world[slot];
}

static espl_status put(espl__edit *edit, const standing *s, espl_status status)
{
    if (status < 0) {
        return status;
    }
    return espl__edit_put(edit, s->slot, &s->placement, &s->world) ? status : ESPL_ERR_NO_MEMORY;
}

// A write that needs no world, to a node whose world follows anyway.
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
    if (!espl__pose_is_same(&placement.local, &before)) {
        espl__edit_mark_stale(edit, forest->parent[slot]);
    }
    return status;
}

espl_status espl__edit_write(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                             const espl_write_value *value)
{
    standing s;

    if (espl__write_is_local(kind) && !espl__slot_is(edit->forest, slot, ESPL__SLOT_KEEPS) &&
        espl__edit_follows(edit, slot)) {
        return write_local(edit, slot, kind, value);
    }

    read_standing(edit, slot, &s);
    return put(edit, &s, espl__placement_write(&s.placement, &s.world, s.up, kind, value));
}

espl_status espl__edit_set_inherit(espl__edit *edit, uint32_t slot, uint32_t flags)
{
    standing s;

    read_standing(edit, slot, &s);
    if (s.up == NULL) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    return put(edit, &s, espl__placement_inherit(&s.placement, &s.world, s.up, flags));
}

// --- Transforms that come and go ---

// Before the frame of a node changes: keep the worlds of what is below it.
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

    espl__edit_refresh(edit, slot);
    return keep_below(edit, slot, &next, ESPL__NO_SLOT)
               ? replace(edit, slot, &placement, &next, false)
               : ESPL_ERR_NO_MEMORY;
}

espl_status espl__edit_remove_transform(espl__edit *edit, uint32_t slot)
{
    espl__placement shown = espl__placement_identity();
    espl__frame next = {shown.local, shown.extra};

    (void)espl__edit_frame(edit, edit->forest->parent[slot], &next);
    espl__edit_refresh(edit, slot);
    if (!keep_below(edit, slot, &next, slot)) {
        return ESPL_ERR_NO_MEMORY;
    }
    shown.extra = next.extra;
    return replace(edit, slot, &shown, &next, true);
}

// --- Templates ---

espl_status espl__edit_find_template(espl__edit *edit, uint32_t slot, espl__template *out)
{
    const espl__forest *const forest = edit->forest;
    bool has_side = false, has_bare = false;

    espl__array_set_length(edit->template_slots, 0);
    espl__array_set_length(edit->template_parents, 0);
    if (!ESPL__EDIT_RESERVE(edit, template_slots, 1) ||
        !ESPL__EDIT_RESERVE(edit, template_parents, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    ESPL_ARRAY_PUSH(edit->template_slots, slot);
    ESPL_ARRAY_PUSH(edit->template_parents, 0);
    for (uint32_t i = 0; i < espl__array_length(edit->template_slots); ++i) {
        const uint32_t at = edit->template_slots[i];

        has_side = has_side || espl__slot_is(forest, at, ESPL__SLOT_SIDE);
        has_bare = has_bare || espl__slot_is(forest, at, ESPL__SLOT_BARE);
        for (uint32_t child = forest->links[at].first_child; child != ESPL__NO_SLOT;
             child = forest->links[child].next) {
            if (espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
                continue;
            }
            if (!ESPL__EDIT_RESERVE(edit, template_slots, 1) ||
                !ESPL__EDIT_RESERVE(edit, template_parents, 1)) {
                return ESPL_ERR_NO_MEMORY;
            }
            ESPL_ARRAY_PUSH(edit->template_slots, child);
            ESPL_ARRAY_PUSH(edit->template_parents, i);
        }
    }
    *out = (espl__template){.count = (uint32_t)espl__array_length(edit->template_slots),
                            .slots = edit->template_slots,
                            .parents = edit->template_parents,
                            .has_side = has_side,
                            .has_bare = has_bare};
    return ESPL_OK;
}

espl__placement espl__edit_source_placement(espl__edit *edit, uint32_t slot, espl_pose *world)
{
    standing s;

    read_standing(edit, slot, &s);
    *world = s.world;
    s.placement.local = espl__placement_seen(&s.placement, s.up, world);
    s.placement.kept = espl__kept_none();
    return s.placement;
}

// --- New nodes ---

espl_status espl__edit_prepare_new(espl__edit *edit, espl__new_place *place)
{
    static const espl__stay_rules local_stays = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL};
    static const espl__stay_rules world_stays = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};
    espl__frame room;
    const espl__frame *const up = espl__edit_frame(edit, place->parent, &room);

    if (place->is_bare) {
        place->placement = espl__placement_identity();
        place->placement.extra = up != NULL ? up->extra : place->placement.extra;
        place->world = up != NULL ? up->world : place->placement.local;
        return ESPL_OK;
    }
    const espl_pose local = place->placement.local;
    const espl__wide_pose pose = espl__wide_load(&local);

    // Below a parent without stretch, or none, and with nothing kept the world is all that follows.
    if (!place->keeps_world && place->inherit == 0 && espl__wide_is_finite(pose) &&
        (up == NULL || !espl__slot_is(edit->forest, place->parent, ESPL__SLOT_SIDE))) {
        const espl__wide_pose world =
            up == NULL ? pose : espl__wide_compose(espl__wide_load(&up->world), pose);

        place->placement.kept = espl__kept_none();
        espl__wide_store(&place->world, world);
        return ESPL_OK;
    }
    return espl__placement_move(&place->placement, &place->world, &local, up,
                                place->keeps_world ? world_stays : local_stays, place->inherit);
}

// A slot for a node below `parent`, in the parent's range if there is one above it, else in the nursery.
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

// Write a new node and link it. Its world is the caller's.
static void fill_node(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                      const espl__placement *placement, unsigned flags)
{
    espl__forest *const forest = edit->forest;
    const bool has_side = espl__tree_of(forest, slot)->side != NULL;
    const uint32_t number = (uint32_t)espl__array_length(edit->made);

    forest->flags[slot] = (uint8_t)(flags | (has_side ? (unsigned)ESPL__SLOT_SIDE : 0u));
    forest->links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT,
                                        ESPL__MADE | number};
    forest->local[slot] = placement->local;
    if (has_side) {
        const espl__tree *const t = espl__tree_of(forest, slot);

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

static void add_made(espl__edit *edit, uint32_t slot, uint32_t source_slot, uint32_t from)
{
    const espl__forest *const forest = edit->forest;
    espl__made made = {slot, ESPL__NO_ENTITY, ESPL__NO_ENTITY, from};

    if (source_slot != ESPL__NO_SLOT) {
        const uint32_t entity = forest->links[source_slot].entity;
        const bool is_made = (entity & ESPL__MADE) != 0;

        made.source = is_made ? edit->made[entity & ~ESPL__MADE].source : entity;
        made.original = is_made ? entity & ~ESPL__MADE : ESPL__NO_ENTITY;
    }
    ESPL_ARRAY_PUSH(edit->made, made);
}

// Make the top of a copy, or a node from nothing. ESPL__NO_SLOT: no memory.
static uint32_t make_top(espl__edit *edit, uint32_t source_slot, const espl__new_place *place)
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
    add_made(edit, slot, source_slot, from);
    return slot;
}

static bool note_new(espl__edit *edit, uint32_t slot)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = forest->parent[slot];

    return parent == ESPL__NO_SLOT || forest->tree[parent] == forest->tree[slot] ||
           espl__edit_mark_moved(edit, slot);
}

// Begin to make nodes: what is made from now on goes as a whole. The entry counts the nodes that were
// made so far, so that it is right wherever memory runs out. @return its number, or SIZE_MAX.
static size_t begin_making(espl__edit *edit, uint32_t parent, uint32_t count)
{
    const size_t number = espl__array_length(edit->log);
    const espl__undo entry = {
        .kind = ESPL__UNDO_MAKE,
        .was_in_order = parent != ESPL__NO_SLOT && espl__tree_has_order(edit->forest, parent),
        .slot = ESPL__NO_SLOT,
        .a = (uint32_t)espl__array_length(edit->made)};

    // A node may land in the nursery though its parent did not.
    return ESPL__EDIT_RESERVE(edit, made, count) && ESPL__EDIT_RESERVE(edit, moved, count) &&
                   espl__edit_log(edit, entry)
               ? number
               : SIZE_MAX;
}

static void count_making(espl__edit *edit, size_t number)
{
    espl__undo *const entry = &edit->log[number];

    entry->slot = edit->made[entry->a].slot;
    entry->b = (uint32_t)espl__array_length(edit->made) - entry->a;
}

// The parent of a new node may become a root by it.
static bool touch_parent(espl__edit *edit, uint32_t parent)
{
    const espl__forest *const forest = edit->forest;

    return parent == ESPL__NO_SLOT || !espl__is_root(forest, parent) ||
           forest->links[parent].first_child != ESPL__NO_SLOT || espl__edit_touch(edit, parent);
}

espl_status espl__edit_create(espl__edit *edit, const espl__new_place *place, uint32_t *made)
{
    const size_t number = begin_making(edit, place->parent, 1);

    if (number == SIZE_MAX || !touch_parent(edit, place->parent)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const uint32_t slot = make_top(edit, ESPL__NO_SLOT, place);

    if (slot == ESPL__NO_SLOT) {
        return ESPL_ERR_NO_MEMORY;
    }
    count_making(edit, number);
    *made = edit->log[number].a;
    return note_new(edit, slot) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Copy one node of a template below its copied parent.
static bool clone_member(espl__edit *edit, const espl__template *source, uint32_t first, uint32_t i)
{
    espl__forest *const forest = edit->forest;
    const uint32_t from_slot = source->slots[i];
    const uint32_t parent = edit->made[first + source->parents[i]].slot;
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
    add_made(edit, slot, from_slot, from);
    return note_new(edit, slot);
}

// Tell whether a copy needs no side arrays where it comes to: neither what is copied nor what is there has
// any, and every node has a transform.
static bool is_plain_copy(const espl__edit *edit, const espl__template *source,
                          const espl__new_place *place)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t tree =
        place->parent == ESPL__NO_SLOT ? forest->nursery : forest->tree[place->parent];

    return !source->has_side && !source->has_bare && !place->is_bare &&
           !espl__placement_needs_side(&place->placement) && forest->trees[tree].side == NULL;
}

// The next slot above a parent, of the range or of the nursery.
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

// Copy a plain template, or the first nodes of it as long as the range has room.
// @return nodes made. They are listed.
static uint32_t clone_plain(espl__edit *edit, const espl__template *source,
                            const espl__new_place *place)
{
    espl__forest *const forest = edit->forest;
    espl__links *const links = forest->links;
    const uint32_t tree =
        place->parent == ESPL__NO_SLOT ? forest->nursery : forest->tree[place->parent];
    espl__tree *const t = &forest->trees[tree];
    const uint32_t first = (uint32_t)espl__array_length(edit->made);
    espl__made *const made = edit->made + first;
    espl__wide_bits alarm = {0};
    bool is_in_order = true;
    uint32_t i = 0;

    for (; i < source->count; ++i) {
        const uint32_t up = i == 0 ? place->parent : made[source->parents[i]].slot;
        const uint32_t copied = source->slots[i], entity = links[copied].entity;
        uint32_t from = 0;
        const uint32_t slot = take_plain_slot(edit, t, tree, up, &from);

        if (slot == ESPL__NO_SLOT) {
            break;
        }
        const espl__wide_pose local =
            espl__wide_load(i == 0 ? &place->placement.local : &forest->local[copied]);
        const espl__wide_pose world =
            i == 0 ? espl__wide_load(&place->world)
                   : espl__wide_compose(espl__wide_load(&forest->world[up]), local);

        espl__wide_store(&forest->local[slot], local);
        espl__wide_store(&forest->world[slot], world);
        alarm |= espl__wide_nonfinite(world);
        forest->flags[slot] = 0;
        forest->parent[slot] = up;
        links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT,
                                    ESPL__MADE | (first + i)};
        if (up != ESPL__NO_SLOT) {
            const uint32_t before = i == 0 ? place->before : ESPL__NO_SLOT;

            espl__links_insert(links, slot, up, before);
            is_in_order = is_in_order && from == ESPL__FROM_TAIL && before == ESPL__NO_SLOT &&
                          (forest->parent[slot - 1] <= up ||
                           forest->parent[slot - 1] == ESPL__NO_SLOT);
        }
        const bool is_made = (entity & ESPL__MADE) != 0;
        const uint32_t number = entity & ~ESPL__MADE;

        made[i] = (espl__made){slot, is_made ? edit->made[number].source : entity,
                               is_made ? number : ESPL__NO_ENTITY, from};
    }
    if (i != 0 && place->parent != ESPL__NO_SLOT && place->link == ESPL_LINK_FREE) {
        forest->flags[made[0].slot] = ESPL__SLOT_FREE_LINK;
    }
    if (tree != forest->nursery) {
        t->live += i;
        t->flags &= is_in_order && t->live == t->used ? UINT32_MAX : ~(uint32_t)ESPL__TREE_IN_ORDER;
    }
    espl__array_set_length(edit->made, first + i);
    edit->context.counts.nodes_visited += i;
    for (uint32_t k = 0; !espl__wide_bits_are_zero(alarm) && k < i; ++k) {
        edit->context.counts.overflowed += espl__pose_is_finite(&forest->world[made[k].slot]) ? 0 : 1;
    }
    return i;
}

espl_status espl__edit_clone(espl__edit *edit, const espl__template *source,
                             const espl__new_place *place, uint32_t *made)
{
    const size_t number = begin_making(edit, place->parent, source->count);

    if (number == SIZE_MAX || !touch_parent(edit, place->parent)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const uint32_t first = edit->log[number].a;
    uint32_t i = is_plain_copy(edit, source, place) ? clone_plain(edit, source, place) : 0;
    bool is_done = true;

    if (i == 0) {
        const uint32_t top = make_top(edit, source->slots[0], place);

        is_done = top != ESPL__NO_SLOT && note_new(edit, top);
        i = 1;
    }
    for (; i < source->count && is_done; ++i) {
        is_done = clone_member(edit, source, first, i);
    }
    if (espl__array_length(edit->made) != first) {
        count_making(edit, number);
    }
    *made = first;
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

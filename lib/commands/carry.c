// SPDX-License-Identifier: MIT
// What each kind of command does to its group's sketch, exactly as the immediate call would. A new
// kind is a line in the table at the end, its function here or in a file of its own, and its
// operands in classify.c.
#include "lib/commands/carrier.h"

// --- Survivors and pass-throughs ---

// Local of a node relative to the first living transform above it: the locals of the dead between
// them applied one after the other. What copies its parent adds nothing.
static espl_pose composed_local(espl__carrier *c, uint32_t node)
{
    espl_pose local = espl__sketch_local(c->sketch, node);
    uint32_t up = c->sketch->nodes[node].parent;

    while (up != ESPL__NO_NODE &&
           (espl__carrier_has(c, up, ESPL__NODE_DEAD) || espl__sketch_copies(c->sketch, up))) {
        if (!espl__sketch_copies(c->sketch, up)) {
            const espl__placement above = espl__sketch_placement(c->sketch, up);

            local = espl__pose_compose(&above.local, above.extra.stretch, &local);
        }
        up = c->sketch->nodes[up].parent;
    }
    return local;
}

// The placement that keeps a node's world under another frame; kept parts stay what they are.
static espl__placement rebased(espl__carrier *c, uint32_t node, const espl__frame *up)
{
    espl__placement placement = espl__sketch_placement(c->sketch, node);
    const espl_pose world = espl__sketch_world(c->sketch, node);

    if (up == NULL) {
        placement.local = world;
        (void)espl__rotation_normalize(placement.local.rotation);
    } else {
        const espl_pose composed = composed_local(c, node);

        placement.local = espl__rebased(&up->world, up->extra.stretch, &world, &composed);
    }
    return placement;
}

// Before `top` comes under `anchor` (or becomes a root): give it the placement that keeps the world,
// or give it to what hangs below where the node follows its parent as a copy.
static espl_status rebase(espl__carrier *c, uint32_t top, uint32_t anchor)
{
    espl__frame room;
    const espl__frame *const up = espl__carrier_frame(c, anchor, &room);
    espl_status status = ESPL_OK;
    uint32_t node = top;

    while (node != ESPL__NO_NODE && status == ESPL_OK) {
        const bool becomes_root = node == top && up == NULL;
        const bool follows = becomes_root ? espl__carrier_has(c, node, ESPL__NODE_PASS)
                                          : espl__sketch_copies(c->sketch, node);

        if (!follows) {
            espl__placement placement = rebased(c, node, up);

            placement.kept = becomes_root ? espl__kept_none() : placement.kept;
            status = espl__carrier_write(c, node, &placement);
        }
        node = espl__sketch_next(c->sketch, node, top, follows);
    }
    return status;
}

// --- Attach and detach ---

// Place a node with a transform under another parent or none, by the options.
static espl_status place(espl__carrier *c, uint32_t node, uint32_t parent)
{
    const uint32_t old_parent = c->sketch->nodes[node].parent;
    espl__frame old_room, room;
    const espl__frame *const old_up = espl__carrier_frame(c, old_parent, &old_room);
    const espl__frame *const up = espl__carrier_frame(c, parent, &room);
    espl__placement placement = espl__sketch_placement(c->sketch, node);
    espl_pose world = espl__sketch_world(c->sketch, node);
    const espl_pose local = espl__placement_seen(&placement, old_up, &world);
    const espl_status status = espl__placement_move(&placement, &world, &local, up,
                                                    espl__carrier_rules(c), c->command->inherit);

    if (status < 0) {
        return status;
    }
    const espl_status written = espl__carrier_write(c, node, &placement);

    return written < 0 ? written : status;
}

// A node comes under another parent or none: place it, then change the links.
static espl_status place_and_move(espl__carrier *c, uint32_t node, uint32_t parent, uint32_t before)
{
    espl_status status = ESPL_OK;

    if (!espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        status = place(c, node, parent);
    } else if (c->command->stay_position == ESPL_STAY_WORLD) {
        status = rebase(c, node, parent);
    }
    if (status < 0) {
        return status;
    }

    espl__sketch_unlink(c->sketch, node);
    if (parent != ESPL__NO_NODE) {
        espl__sketch_link(c->sketch, node, parent, before);
    }
    espl__carrier_set_link(c, node, parent != ESPL__NO_NODE ? c->command->link : ESPL_LINK_OWNED);
    espl__sketch_note(c->sketch, node, ESPL__NODE_MOVED);
    espl__sketch_touch(c->sketch, node);
    return status;
}

// Where a node stands, change its inherit flags and snap what the options say.
static espl_status place_again(espl__carrier *c, uint32_t node, uint32_t parent)
{
    espl__frame room;
    const espl__frame *const up = espl__carrier_frame(c, parent, &room);
    espl__placement placement = espl__sketch_placement(c->sketch, node);
    espl_pose world = espl__sketch_world(c->sketch, node);
    const espl_status status = espl__placement_inherit(&placement, &world, up, c->command->inherit);

    if (status < 0) {
        return status;
    }
    espl_status done = espl__placement_snap(&placement, &world, up, espl__carrier_rules(c));

    done = done < 0 ? done : espl__carrier_write(c, node, &placement);
    return done < 0 ? done : status;
}

// Under the parent it has: inherit flags, snap, link and sibling position may change, nothing else.
static espl_status reattach(espl__carrier *c, uint32_t child, uint32_t parent, uint32_t before)
{
    const espl__command *const k = c->command;
    espl_status status = ESPL_OK;

    if (!espl__carrier_has(c, child, ESPL__NODE_PASS)) {
        status = place_again(c, child, parent);
    }
    if (status < 0) {
        return status;
    }

    if (espl__carrier_has(c, child, ESPL__NODE_FREE_LINK) != (k->link == ESPL_LINK_FREE)) {
        espl__carrier_set_link(c, child, k->link);
        c->sketch->is_restructured = true;
    }
    if (before != ESPL__NO_NODE && before != child) {
        espl__sketch_unlink(c->sketch, child);
        espl__sketch_link(c->sketch, child, parent, before);
    }
    return status;
}

static espl_status attach(espl__carrier *c)
{
    uint32_t child = 0, parent = 0, before = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &child);

    status = status != ESPL_OK ? status : espl__carrier_find(c, &c->entry->parent, &parent);
    if (status != ESPL_OK) {
        return status;
    }
    // A node without children has nothing below it to be the parent.
    if (child == parent || (c->sketch->nodes[child].first != ESPL__NO_NODE &&
                            espl__sketch_is_below(c->sketch, parent, child))) {
        return ESPL_ERR_CYCLE;
    }
    status = espl__carrier_find_before(c, parent, &before);
    if (status != ESPL_OK) {
        return status;
    }
    if (c->command->inherit != 0 && espl__carrier_has(c, child, ESPL__NODE_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return c->sketch->nodes[child].parent == parent ? reattach(c, child, parent, before)
                                                    : place_and_move(c, child, parent, before);
}

static espl_status detach(espl__carrier *c)
{
    uint32_t node = 0;
    const espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK || c->sketch->nodes[node].parent == ESPL__NO_NODE) {
        return status;
    }
    return place_and_move(c, node, ESPL__NO_NODE, ESPL__NO_NODE);
}

// --- Destroy ---

// Mark the closure dead and list it in the sketch's order array, top first.
static size_t mark_closure(espl__carrier *c, uint32_t top)
{
    espl__sketch *const sketch = c->sketch;
    const unsigned kind = c->command->kind;
    size_t count = 0;

    for (uint32_t node = top; node != ESPL__NO_NODE;) {
        const bool is_owned = !espl__carrier_has(c, node, ESPL__NODE_FREE_LINK);
        const bool dies = node == top || kind == ESPL__COMMAND_DESTROY_SUBTREE ||
                          (kind == ESPL__COMMAND_DESTROY && is_owned);

        if (dies) {
            espl__sketch_note(sketch, node, ESPL__NODE_DEAD);
            sketch->order[count++] = node;
        }
        node = espl__sketch_next(sketch, node, top, dies);
    }
    return count;
}

static espl_status destroy(espl__carrier *c)
{
    espl__sketch *const sketch = c->sketch;
    uint32_t top = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &top);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t anchor = sketch->nodes[top].parent;
    const size_t count = mark_closure(c, top);

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        for (uint32_t child = sketch->nodes[sketch->order[i]].first;
             child != ESPL__NO_NODE && status == ESPL_OK; child = sketch->nodes[child].next) {
            if (!espl__carrier_has(c, child, ESPL__NODE_DEAD)) {
                status = rebase(c, child, anchor);
            }
        }
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        const uint32_t node = sketch->order[i];
        const bool has_children = sketch->nodes[node].first != ESPL__NO_NODE;

        for (uint32_t child = sketch->nodes[node].first; child != ESPL__NO_NODE;
             child = sketch->nodes[child].next) {
            espl__sketch_note(sketch, child, ESPL__NODE_MOVED);
            espl__sketch_touch(sketch, child);
        }
        espl__sketch_splice(sketch, node);
        sketch->is_touched = sketch->is_touched || has_children;
    }
    return status;
}

// --- Writes ---

// A write or a change of inherit flags, on the placement as it is at this moment.
static espl_status change_placement(espl__carrier *c)
{
    const bool is_write = c->command->kind == ESPL__COMMAND_WRITE;
    espl__frame room;
    uint32_t node = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    if (espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    const espl__frame *const up = espl__carrier_frame(c, c->sketch->nodes[node].parent, &room);
    espl__placement placement = espl__sketch_placement(c->sketch, node);
    espl_pose world = espl__sketch_world(c->sketch, node);

    if (!is_write && up == NULL) {
        return c->command->inherit != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    status = is_write
                 ? espl__placement_write(&placement, &world, up, (espl_write_kind)c->command->place,
                                         espl__entry_value(c->playback, c->entry))
                 : espl__placement_inherit(&placement, &world, up, c->command->inherit);
    if (status < 0) {
        return status;
    }
    const espl_status done = espl__carrier_write(c, node, &placement);

    return done < 0 ? done : status;
}

// --- The table ---

typedef espl_status (*command_function)(espl__carrier *c);

static const command_function table[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = espl__carry_instantiate,
    [ESPL__COMMAND_DESTROY] = destroy,
    [ESPL__COMMAND_DESTROY_SUBTREE] = destroy,
    [ESPL__COMMAND_DESTROY_ONLY] = destroy,
    [ESPL__COMMAND_ATTACH] = attach,
    [ESPL__COMMAND_DETACH] = detach,
    [ESPL__COMMAND_WRITE] = change_placement,
    [ESPL__COMMAND_INHERIT] = change_placement,
};

espl_status espl__carry_out(espl__playback *playback, espl__group *group, espl__entry *entry)
{
    espl__carrier c = {playback, group, &group->sketch, entry, entry->command};

    if (entry->is_out_of_range) {
        return ESPL_ERR_RANGE;
    }
    return table[entry->command->kind](&c);
}

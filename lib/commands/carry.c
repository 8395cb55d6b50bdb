// SPDX-License-Identifier: MIT
// What each kind of command does to its group's sketch, exactly as the immediate call would. A new
// kind is a line in the table at the end, its function here or in a file of its own, and its
// operands in classify.c.
#include "lib/commands/carrier.h"

#include <string.h>

// --- Survivors and pass-throughs ---

// Local of a node relative to the first living transform above it: the locals of the dead between
// them applied one after the other. Pass-throughs add nothing.
static espl_pose composed_local(espl__carrier *c, uint32_t node)
{
    espl_pose local = espl__sketch_local(c->sketch, node);
    uint32_t up = c->sketch->nodes[node].parent;

    while (up != ESPL__NO_NODE && espl__carrier_has(c, up, ESPL__NODE_DEAD | ESPL__NODE_PASS)) {
        if (!espl__carrier_has(c, up, ESPL__NODE_PASS)) {
            const espl__extra extra = espl__sketch_own_extra(c->sketch, up);
            const espl_pose above = espl__sketch_local(c->sketch, up);

            local = espl__pose_compose(&above, extra.stretch, &local);
        }
        up = c->sketch->nodes[up].parent;
    }
    return local;
}

// Before `top` comes under `anchor` (or becomes a root): give it, or what hangs below it when it is
// a pass-through, the local that keeps the world.
static espl_status rebase(espl__carrier *c, uint32_t top, uint32_t anchor)
{
    const espl__frame up = espl__carrier_frame(c, anchor);
    espl_status status = ESPL_OK;
    uint32_t node = top;

    while (node != ESPL__NO_NODE && status == ESPL_OK) {
        const bool is_pass = espl__carrier_has(c, node, ESPL__NODE_PASS);

        if (!is_pass) {
            espl_pose local = espl__sketch_world(c->sketch, node);

            if (anchor == ESPL__NO_NODE) {
                (void)espl__rotation_normalize(local.rotation);
            } else {
                const espl_pose composed = composed_local(c, node);

                local = espl__rebased(&up.world, up.extra.stretch, &local, &composed);
            }
            status = espl__carrier_write_pose(c, node, &local);
        }
        node = espl__sketch_next(c->sketch, node, top, is_pass);
    }
    return status;
}

// --- Attach and detach ---

// The local that the options ask for under the new parent.
static espl_status placed_local(espl__carrier *c, uint32_t child, uint32_t parent, espl_pose *out)
{
    const espl__command *const k = c->command;
    const espl_pose local = espl__sketch_local(c->sketch, child);
    const espl_pose identity = espl__pose_identity();
    const espl_pose world = espl__sketch_world(c->sketch, child);
    espl_pose seen = local;
    const unsigned lost = espl__carrier_local_under(c, parent, &world, &local, &seen);
    const espl_pose *const choice[] = {&seen, &local, &identity};

    memcpy(out->position, choice[k->keep_position]->position, sizeof out->position);
    memcpy(out->rotation, choice[k->keep_rotation]->rotation, sizeof out->rotation);
    out->scale = choice[k->keep_scale]->scale;
    if (!espl__carrier_is_in_range(c, parent, out)) {
        return ESPL_ERR_RANGE;
    }
    const unsigned axes = ESPL__LOST_X | ESPL__LOST_Y | ESPL__LOST_Z;
    const bool is_lossy = (k->keep_position == ESPL_KEEP_WORLD && (lost & axes) != 0) ||
                          (k->keep_scale == ESPL_KEEP_WORLD && (lost & ESPL__LOST_SCALE) != 0);

    return is_lossy ? ESPL_LOSSY : ESPL_OK;
}

// A node comes under another parent or none: place it by the options, then change the links.
static espl_status place_and_move(espl__carrier *c, uint32_t node, uint32_t parent, uint32_t before)
{
    espl_status status = ESPL_OK;
    espl_pose local;

    if (!espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        status = placed_local(c, node, parent, &local);
        if (status < 0) {
            return status;
        }
        const espl_status written = espl__carrier_write_pose(c, node, &local);
        status = written < 0 ? written : status;
    } else if (c->command->keep_position == ESPL_KEEP_WORLD) {
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

// Under the parent it has: snap, link and sibling position may change, nothing else.
static espl_status reattach(espl__carrier *c, uint32_t child, uint32_t parent, uint32_t before)
{
    const espl__command *const k = c->command;
    espl_pose local = espl__sketch_local(c->sketch, child);
    const espl_pose identity = espl__pose_identity();
    espl_status status = ESPL_OK;

    if (k->keep_position == ESPL_KEEP_NONE) {
        memcpy(local.position, identity.position, sizeof local.position);
    }
    if (k->keep_rotation == ESPL_KEEP_NONE) {
        memcpy(local.rotation, identity.rotation, sizeof local.rotation);
    }
    if (k->keep_scale == ESPL_KEEP_NONE) {
        local.scale = identity.scale;
    }
    if (!espl__carrier_has(c, child, ESPL__NODE_PASS)) {
        if (!espl__carrier_is_in_range(c, parent, &local)) {
            return ESPL_ERR_RANGE;
        }
        status = espl__carrier_write_pose(c, child, &local);
    }
    if (status != ESPL_OK) {
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
    return ESPL_OK;
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

static espl_status set_transform(espl__carrier *c)
{
    const espl_transform *const value = espl__entry_transform(c->playback, c->entry);
    const bool is_world = c->command->kind == ESPL__COMMAND_SET_WORLD;
    uint32_t node = 0;
    const espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    if (espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    const uint32_t parent = c->sketch->nodes[node].parent;
    const espl_pose fallback = espl__sketch_local(c->sketch, node);
    espl_pose local = espl__pose_of(value);
    const espl__extra extra = espl__extra_of(value);
    const unsigned lost =
        is_world ? espl__carrier_local_under(c, parent, &local, &fallback, &local) : 0;
    const espl_transform written = espl__transform_of(&local, &extra);

    if (!espl__carrier_is_in_range(c, parent, &local)) {
        return ESPL_ERR_RANGE;
    }
    const espl_status done = espl__carrier_write(c, node, &written);

    return done == ESPL_OK && lost != 0 ? ESPL_LOSSY : done;
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
    [ESPL__COMMAND_SET_LOCAL] = set_transform,
    [ESPL__COMMAND_SET_WORLD] = set_transform,
};

espl_status espl__carry_out(espl__playback *playback, espl__group *group, espl__entry *entry)
{
    espl__carrier c = {playback, group, &group->sketch, entry, entry->command};

    if (entry->is_out_of_range) {
        return ESPL_ERR_RANGE;
    }
    return table[entry->command->kind](&c);
}

// SPDX-License-Identifier: MIT
// What each kind of command does to its group's sketch, exactly as the immediate call would. A new
// kind is a line in the table at the end, its function here or in a file of its own, and its
// operands in classify.c.
#include "lib/commands/carrier.h"

// Before `top` comes under `anchor` (or becomes a root): keep the worlds of what hangs there.
static espl_status rebase(espl__carrier *c, uint32_t top, uint32_t anchor)
{
    espl__frame room;

    return espl__carrier_rebase(c, top, espl__carrier_frame(c, anchor, &room), ESPL__NO_NODE);
}

// --- Attach and detach ---

// Place a node with a transform under another parent or none, by the options.
static espl_status place(espl__carrier *c, uint32_t node, uint32_t parent)
{
    const uint32_t old_parent = espl__sketch_at(c->sketch, node)->parent;
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

// Among its siblings: before one of them, or last. Where it stands there already, nothing changes.
static void stand_before(espl__carrier *c, uint32_t child, uint32_t before)
{
    const uint32_t parent = espl__sketch_at(c->sketch, child)->parent;

    if (before != child && espl__sketch_at(c->sketch, child)->next != before) {
        espl__sketch_unlink(c->sketch, child);
        espl__sketch_link(c->sketch, child, parent, before);
    }
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
        espl__sketch_restructure(c->sketch, child);
    }
    if (before != ESPL__NO_NODE) {
        stand_before(c, child, before);
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
    // A node without children has nothing below it to be the parent, and whoever is the parent already
    // is none of those below.
    if (child == parent || (espl__sketch_at(c->sketch, child)->first != ESPL__NO_NODE &&
                            espl__sketch_at(c->sketch, child)->parent != parent &&
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
    return espl__sketch_at(c->sketch, child)->parent == parent
               ? reattach(c, child, parent, before)
               : place_and_move(c, child, parent, before);
}

static espl_status detach(espl__carrier *c)
{
    uint32_t node = 0;
    const espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK || espl__sketch_at(c->sketch, node)->parent == ESPL__NO_NODE) {
        return status;
    }
    return place_and_move(c, node, ESPL__NO_NODE, ESPL__NO_NODE);
}

static espl_status set_sibling(espl__carrier *c)
{
    uint32_t node = 0, before = ESPL__NO_NODE;
    espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t parent = espl__sketch_at(c->sketch, node)->parent;

    status = parent == ESPL__NO_NODE ? ESPL_ERR_NOT_CHILD
                                     : espl__carrier_find_before(c, parent, &before);
    if (status == ESPL_OK) {
        stand_before(c, node, before);
    }
    return status;
}

// --- Destroy ---

static void mark_dead(espl__sketch *sketch, uint32_t node)
{
    espl__sketch_note(sketch, node, ESPL__NODE_DEAD);
    espl__sketch_list(sketch, node);
}

// Mark the closure dead and list it breadth-first, the list being its own queue. Tells whether
// somebody below it survives.
static bool mark_closure(espl__carrier *c, uint32_t top)
{
    espl__sketch *const sketch = c->sketch;
    const unsigned kind = c->command->kind;
    bool has_survivors = false;

    mark_dead(sketch, top);
    for (uint32_t i = 0; i < sketch->list.count; ++i) {
        for (uint32_t child = espl__sketch_at(sketch, espl__sketch_listed(sketch, i))->first;
             child != ESPL__NO_NODE; child = espl__sketch_at(sketch, child)->next) {
            const bool is_owned = !espl__carrier_has(c, child, ESPL__NODE_FREE_LINK);
            const bool dies = kind == ESPL__COMMAND_DESTROY_SUBTREE ||
                              (kind == ESPL__COMMAND_DESTROY && is_owned);

            has_survivors = has_survivors || !dies;
            if (dies) {
                mark_dead(sketch, child);
            }
        }
    }
    return has_survivors;
}

// Before the dead of a closure go: what lives below them keeps its worlds.
static espl_status rebase_survivors(espl__carrier *c, uint32_t anchor)
{
    espl__sketch *const sketch = c->sketch;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < sketch->list.count && status == ESPL_OK; ++i) {
        const uint32_t dead = espl__sketch_listed(sketch, i);

        for (uint32_t child = espl__sketch_at(sketch, dead)->first;
             child != ESPL__NO_NODE && status == ESPL_OK;
             child = espl__sketch_at(sketch, child)->next) {
            if (!espl__carrier_has(c, child, ESPL__NODE_DEAD)) {
                status = rebase(c, child, anchor);
            }
        }
    }
    return status;
}

// The dead of a closure go one by one, and their children come to stand in their places.
static void splice_closure(espl__sketch *sketch)
{
    for (uint32_t i = 0; i < sketch->list.count; ++i) {
        const uint32_t dead = espl__sketch_listed(sketch, i);

        for (uint32_t child = espl__sketch_at(sketch, dead)->first; child != ESPL__NO_NODE;
             child = espl__sketch_at(sketch, child)->next) {
            espl__sketch_note(sketch, child, ESPL__NODE_MOVED);
            espl__sketch_touch(sketch, child);
        }
        espl__sketch_splice(sketch, dead);
    }
}

static espl_status destroy(espl__carrier *c)
{
    espl__sketch *const sketch = c->sketch;
    uint32_t top = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &top);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t anchor = espl__sketch_at(sketch, top)->parent;

    sketch->list.count = 0;
    if (mark_closure(c, top)) {
        status = rebase_survivors(c, anchor);
        splice_closure(sketch);
    } else {
        espl__sketch_unlink(sketch, top);
        espl__sketch_restructure(sketch, top);
    }
    sketch->list.count = 0;
    return status;
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
    [ESPL__COMMAND_SIBLING] = set_sibling,
    [ESPL__COMMAND_WRITE] = espl__carry_write,
    [ESPL__COMMAND_INHERIT] = espl__carry_inherit,
    [ESPL__COMMAND_PLACE] = espl__carry_place,
    [ESPL__COMMAND_UNPLACE] = espl__carry_unplace,
    [ESPL__COMMAND_CREATE] = espl__carry_create,
    [ESPL__COMMAND_CREATE_BARE] = espl__carry_create,
    [ESPL__COMMAND_CHANGE] = espl__carry_change,
    [ESPL__COMMAND_SET] = espl__carry_set,
    [ESPL__COMMAND_ENABLE] = espl__carry_enable,
    [ESPL__COMMAND_DISABLE] = espl__carry_disable,
};

espl_status espl__carry_out(espl__playback *playback, espl__group *group, espl__entry *entry)
{
    espl__carrier c = {playback, group, &group->work->sketch, entry, entry->command};

    if (entry->is_out_of_range) {
        return ESPL_ERR_RANGE;
    }
    return table[entry->command->kind](&c);
}

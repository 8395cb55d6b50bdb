// SPDX-License-Identifier: MIT
// What each kind of command does to its group's sketch, exactly as the immediate call would. A new
// kind is a line in the table at the end, its function here, and its operands in classify.c.
#include "lib/commands/playback.h"

#include <string.h>

typedef struct carrier {
    espl__playback *playback;
    espl__group *group;
    espl__sketch *sketch; // the group's
    espl__entry *entry;
    const espl__command *command;
} carrier;

static espl_status no_memory(carrier *c)
{
    c->group->status = ESPL_ERR_NO_MEMORY;
    return ESPL_ERR_NO_MEMORY;
}

static espl__node *node_at(carrier *c, uint32_t node)
{
    return &c->sketch->nodes[node];
}

static bool has_flag(const carrier *c, uint32_t node, unsigned flag)
{
    return (c->sketch->nodes[node].flags & flag) != 0;
}

// The node that an operand names at this moment of the playback.
static espl_status find_node(const carrier *c, const espl__operand *operand, uint32_t *node)
{
    const espl__playback *const playback = c->playback;

    if (operand->status != ESPL_OK) {
        return operand->status;
    }
    if (operand->slot == ESPL__NO_SLOT) {
        *node = playback->pending_nodes[operand->pending];
    } else {
        const uint32_t mark = playback->run_marks[playback->forest->run[operand->slot]];

        *node = playback->touched[mark - 1].node + playback->forest->rank[operand->slot];
    }
    return *node == ESPL__NO_NODE || has_flag(c, *node, ESPL__NODE_DEAD) ? ESPL_ERR_DEAD : ESPL_OK;
}

// The sibling to stand before: ESPL__NO_NODE where the command names none.
static espl_status find_before(const carrier *c, uint32_t parent, uint32_t *before)
{
    *before = ESPL__NO_NODE;
    if (espl_entity_is_null(c->command->before)) {
        return ESPL_OK;
    }
    const espl_status status = find_node(c, &c->entry->before, before);

    if (status != ESPL_OK) {
        return status;
    }
    return c->sketch->nodes[*before].parent == parent ? ESPL_OK : ESPL_ERR_NOT_CHILD;
}

static void set_link(carrier *c, uint32_t node, uint8_t link)
{
    espl__node *const n = node_at(c, node);

    n->flags &= ~(unsigned)ESPL__NODE_FREE_LINK;
    n->flags |= link == ESPL_LINK_FREE ? (unsigned)ESPL__NODE_FREE_LINK : 0u;
}

// --- Transforms under a parent that may be none ---

typedef struct frame {
    espl_pose world;
    espl__extra extra;
} frame;

static frame frame_of(carrier *c, uint32_t node)
{
    if (node == ESPL__NO_NODE) {
        return (frame){espl__pose_identity(), espl__extra_default()};
    }
    return (frame){espl__sketch_world(c->sketch, node), espl__sketch_extra(c->sketch, node)};
}

// Local that a world pose has under a parent; without a parent they are the same, but that a
// rotation that propagation brought off unit length does not live on as a local.
static unsigned local_under(carrier *c, uint32_t parent, const espl_pose *world,
                            const espl_pose *fallback, espl_pose *local)
{
    if (parent == ESPL__NO_NODE) {
        *local = *world;
        (void)espl__rotation_normalize(local->rotation);
        return 0;
    }
    const frame up = frame_of(c, parent);

    return espl__pose_relative(local, &up.world, up.extra.stretch, world, fallback);
}

// Tell whether a local and the world it gives are finite.
static bool is_in_range(carrier *c, uint32_t parent, const espl_pose *local)
{
    if (!espl__pose_is_finite(local)) {
        return false;
    }
    if (parent == ESPL__NO_NODE) {
        return true;
    }
    const frame up = frame_of(c, parent);
    const espl_pose world = espl__pose_compose(&up.world, up.extra.stretch, local);

    return espl__pose_is_finite(&world);
}

// Give a node a new local unless it has just that one.
static espl_status write_local(carrier *c, uint32_t node, const espl_transform *local)
{
    const espl_pose pose = espl__sketch_local(c->sketch, node);
    const espl__extra extra = espl__sketch_own_extra(c->sketch, node);
    const espl_transform now = espl__transform_of(&pose, &extra);

    if (memcmp(&now, local, sizeof now) == 0) {
        return ESPL_OK;
    }
    if (!espl__sketch_reserve_written(c->sketch, 1)) {
        return no_memory(c);
    }
    espl__sketch_write(c->sketch, node, local);
    return ESPL_OK;
}

static espl_status write_pose(carrier *c, uint32_t node, const espl_pose *pose)
{
    const espl__extra extra = espl__sketch_own_extra(c->sketch, node);
    const espl_transform local = espl__transform_of(pose, &extra);

    return write_local(c, node, &local);
}

// --- Survivors and pass-throughs ---

// Local of a node relative to the first living transform above it: the locals of the dead between
// them applied one after the other. Pass-throughs add nothing.
static espl_pose composed_local(carrier *c, uint32_t node)
{
    espl_pose local = espl__sketch_local(c->sketch, node);
    uint32_t up = c->sketch->nodes[node].parent;

    while (up != ESPL__NO_NODE && has_flag(c, up, ESPL__NODE_DEAD | ESPL__NODE_PASS)) {
        if (!has_flag(c, up, ESPL__NODE_PASS)) {
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
static espl_status rebase(carrier *c, uint32_t top, uint32_t anchor)
{
    const frame up = frame_of(c, anchor);
    espl_status status = ESPL_OK;
    uint32_t node = top;

    while (node != ESPL__NO_NODE && status == ESPL_OK) {
        const bool is_pass = has_flag(c, node, ESPL__NODE_PASS);

        if (!is_pass) {
            espl_pose local = espl__sketch_world(c->sketch, node);

            if (anchor == ESPL__NO_NODE) {
                (void)espl__rotation_normalize(local.rotation);
            } else {
                const espl_pose composed = composed_local(c, node);

                local = espl__rebased(&up.world, up.extra.stretch, &local, &composed);
            }
            status = write_pose(c, node, &local);
        }
        node = espl__sketch_next(c->sketch, node, top, is_pass);
    }
    return status;
}

// --- Attach and detach ---

// The local that the options ask for under the new parent.
static espl_status placed_local(carrier *c, uint32_t child, uint32_t parent, espl_pose *out)
{
    const espl__command *const k = c->command;
    const espl_pose local = espl__sketch_local(c->sketch, child);
    const espl_pose identity = espl__pose_identity();
    const espl_pose world = espl__sketch_world(c->sketch, child);
    espl_pose seen = local;
    const unsigned lost = local_under(c, parent, &world, &local, &seen);
    const espl_pose *const choice[] = {&seen, &local, &identity};

    memcpy(out->position, choice[k->keep_position]->position, sizeof out->position);
    memcpy(out->rotation, choice[k->keep_rotation]->rotation, sizeof out->rotation);
    out->scale = choice[k->keep_scale]->scale;
    if (!is_in_range(c, parent, out)) {
        return ESPL_ERR_RANGE;
    }
    const unsigned axes = ESPL__LOST_X | ESPL__LOST_Y | ESPL__LOST_Z;
    const bool is_lossy = (k->keep_position == ESPL_KEEP_WORLD && (lost & axes) != 0) ||
                          (k->keep_scale == ESPL_KEEP_WORLD && (lost & ESPL__LOST_SCALE) != 0);

    return is_lossy ? ESPL_LOSSY : ESPL_OK;
}

// A node comes under another parent or none: place it by the options, then change the links.
static espl_status place_and_move(carrier *c, uint32_t node, uint32_t parent, uint32_t before)
{
    espl_status status = ESPL_OK;
    espl_pose local;

    if (!has_flag(c, node, ESPL__NODE_PASS)) {
        status = placed_local(c, node, parent, &local);
        if (status < 0) {
            return status;
        }
        const espl_status written = write_pose(c, node, &local);
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
    set_link(c, node, parent != ESPL__NO_NODE ? c->command->link : ESPL_LINK_OWNED);
    espl__sketch_note(c->sketch, node, ESPL__NODE_MOVED);
    espl__sketch_touch(c->sketch, node);
    return status;
}

// Under the parent it has: snap, link and sibling position may change, nothing else.
static espl_status reattach(carrier *c, uint32_t child, uint32_t parent, uint32_t before)
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
    if (!has_flag(c, child, ESPL__NODE_PASS)) {
        if (!is_in_range(c, parent, &local)) {
            return ESPL_ERR_RANGE;
        }
        status = write_pose(c, child, &local);
    }
    if (status != ESPL_OK) {
        return status;
    }

    if (has_flag(c, child, ESPL__NODE_FREE_LINK) != (k->link == ESPL_LINK_FREE)) {
        set_link(c, child, k->link);
        c->sketch->is_restructured = true;
    }
    if (before != ESPL__NO_NODE && before != child) {
        espl__sketch_unlink(c->sketch, child);
        espl__sketch_link(c->sketch, child, parent, before);
    }
    return ESPL_OK;
}

static espl_status attach(carrier *c)
{
    uint32_t child = 0, parent = 0, before = 0;
    espl_status status = find_node(c, &c->entry->target, &child);

    status = status != ESPL_OK ? status : find_node(c, &c->entry->parent, &parent);
    if (status != ESPL_OK) {
        return status;
    }
    // A node without children has nothing below it to be the parent.
    if (child == parent || (c->sketch->nodes[child].first != ESPL__NO_NODE &&
                            espl__sketch_is_below(c->sketch, parent, child))) {
        return ESPL_ERR_CYCLE;
    }
    status = find_before(c, parent, &before);
    if (status != ESPL_OK) {
        return status;
    }
    return c->sketch->nodes[child].parent == parent ? reattach(c, child, parent, before)
                                                    : place_and_move(c, child, parent, before);
}

static espl_status detach(carrier *c)
{
    uint32_t node = 0;
    const espl_status status = find_node(c, &c->entry->target, &node);

    if (status != ESPL_OK || c->sketch->nodes[node].parent == ESPL__NO_NODE) {
        return status;
    }
    return place_and_move(c, node, ESPL__NO_NODE, ESPL__NO_NODE);
}

// --- Destroy ---

// Mark the closure dead and list it in the sketch's order array, top first.
static size_t mark_closure(carrier *c, uint32_t top)
{
    espl__sketch *const sketch = c->sketch;
    const unsigned kind = c->command->kind;
    size_t count = 0;

    for (uint32_t node = top; node != ESPL__NO_NODE;) {
        const bool is_owned = !has_flag(c, node, ESPL__NODE_FREE_LINK);
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

static espl_status destroy(carrier *c)
{
    espl__sketch *const sketch = c->sketch;
    uint32_t top = 0;
    espl_status status = find_node(c, &c->entry->target, &top);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t anchor = sketch->nodes[top].parent;
    const size_t count = mark_closure(c, top);

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        for (uint32_t child = sketch->nodes[sketch->order[i]].first;
             child != ESPL__NO_NODE && status == ESPL_OK; child = sketch->nodes[child].next) {
            if (!has_flag(c, child, ESPL__NODE_DEAD)) {
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

static espl_status set_transform(carrier *c)
{
    const espl_transform *const value = espl__entry_transform(c->playback, c->entry);
    const bool is_world = c->command->kind == ESPL__COMMAND_SET_WORLD;
    uint32_t node = 0;
    const espl_status status = find_node(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    if (has_flag(c, node, ESPL__NODE_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    const uint32_t parent = c->sketch->nodes[node].parent;
    const espl_pose fallback = espl__sketch_local(c->sketch, node);
    espl_pose local = espl__pose_of(value);
    const espl__extra extra = espl__extra_of(value);
    const unsigned lost = is_world ? local_under(c, parent, &local, &fallback, &local) : 0;
    const espl_transform written = espl__transform_of(&local, &extra);

    if (!is_in_range(c, parent, &local)) {
        return ESPL_ERR_RANGE;
    }
    const espl_status done = write_local(c, node, &written);

    return done == ESPL_OK && lost != 0 ? ESPL_LOSSY : done;
}

// --- Instantiate ---

// Where clones are taken from: a node of the sketch, or a slot of a run that nobody writes to.
typedef struct source {
    uint32_t node; // ESPL__NO_NODE: the slot
    uint32_t slot;
    size_t size; // nodes of the closure
} source;

static size_t closure_size(carrier *c, uint32_t top)
{
    size_t count = 0;

    for (uint32_t node = top; node != ESPL__NO_NODE;) {
        const bool is_taken = node == top || !has_flag(c, node, ESPL__NODE_FREE_LINK);

        count += is_taken ? 1 : 0;
        node = espl__sketch_next(c->sketch, node, top, is_taken);
    }
    return count;
}

static espl_status find_source(carrier *c, source *out)
{
    const espl__operand *const operand = &c->entry->target;
    const espl__forest *const forest = c->playback->forest;

    if (operand->status == ESPL_OK && operand->slot != ESPL__NO_SLOT &&
        c->playback->run_marks[forest->run[operand->slot]] == 0) {
        *out = (source){ESPL__NO_NODE, operand->slot, c->entry->clone_bound};
        return ESPL_OK;
    }
    const espl_status status = find_node(c, operand, &out->node);

    if (status == ESPL_OK) {
        out->slot = c->sketch->nodes[out->node].slot;
        out->size = closure_size(c, out->node);
    }
    return status;
}

static espl_transform source_transform(carrier *c, const source *from, bool is_world)
{
    const espl__forest *const forest = c->playback->forest;

    if (from->node == ESPL__NO_NODE) {
        const espl__extra extra = espl__slot_extra(forest, from->slot);

        return espl__transform_of(
            is_world ? &forest->world[from->slot] : &forest->local[from->slot], &extra);
    }
    const espl_pose pose = is_world ? espl__sketch_world(c->sketch, from->node)
                                    : espl__sketch_local(c->sketch, from->node);
    const espl__extra extra = espl__sketch_own_extra(c->sketch, from->node);

    return espl__transform_of(&pose, &extra);
}

static espl__node clone_of_slot(const carrier *c, uint32_t slot)
{
    const espl__forest *const forest = c->playback->forest;
    const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);

    return (espl__node){.parent = ESPL__NO_NODE,
                        .first = ESPL__NO_NODE,
                        .last = ESPL__NO_NODE,
                        .next = ESPL__NO_NODE,
                        .previous = ESPL__NO_NODE,
                        .slot = slot,
                        .entity = ESPL__NO_ENTITY,
                        .written = ESPL__NO_NODE,
                        .source = forest->entity[slot],
                        .values = ESPL__NO_NODE,
                        .flags = ESPL__NODE_CLONE | ESPL__NODE_DIRTY |
                                 (is_pass ? (unsigned)ESPL__NODE_PASS : 0u)};
}

// A clone of a node copies what playback gave the node so far; room for one written transform.
static espl__node clone_of_node(carrier *c, uint32_t node)
{
    espl__sketch *const sketch = c->sketch;
    const espl__node *const from = &sketch->nodes[node];
    const bool is_clone = (from->flags & ESPL__NODE_CLONE) != 0;
    espl__node clone = clone_of_slot(c, from->slot);

    clone.source = is_clone ? from->source : from->entity;
    clone.values = from->values;
    if (from->written != ESPL__NO_NODE) {
        clone.written = (uint32_t)sketch->written_count++;
        sketch->written[clone.written] = sketch->written[from->written];
    }
    return clone;
}

static uint32_t add_clone(carrier *c, const espl__node *clone, uint32_t parent)
{
    const uint32_t node = espl__sketch_add(c->sketch, clone);

    if (parent != ESPL__NO_NODE) {
        espl__sketch_link(c->sketch, node, parent, ESPL__NO_NODE);
    }
    return node;
}

// Breadth-first; the clones made so far are the queue.
static uint32_t clone_from_slot(carrier *c, const source *from)
{
    const espl__forest *const forest = c->playback->forest;
    const espl__run *const run = espl__run_of(forest, from->slot);
    const espl__node top = clone_of_slot(c, from->slot);
    const uint32_t first = add_clone(c, &top, ESPL__NO_NODE);

    for (uint32_t at = first; at < c->sketch->count; ++at) {
        const uint32_t rank = forest->rank[c->sketch->nodes[at].slot];
        const uint32_t end = espl__first_child(forest, run, rank + 1);

        for (uint32_t child = espl__first_child(forest, run, rank); child < end; ++child) {
            const uint32_t slot = forest->order[run->base + child];

            if (!espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK)) {
                const espl__node clone = clone_of_slot(c, slot);

                (void)add_clone(c, &clone, at);
            }
        }
    }
    return first;
}

static uint32_t clone_from_node(carrier *c, const source *from)
{
    espl__sketch *const sketch = c->sketch;
    const espl__node top = clone_of_node(c, from->node);
    const uint32_t first = add_clone(c, &top, ESPL__NO_NODE);

    // path[clone] is its original, for the queue.
    sketch->path[first] = from->node;
    for (uint32_t at = first; at < sketch->count; ++at) {
        for (uint32_t child = sketch->nodes[sketch->path[at]].first; child != ESPL__NO_NODE;
             child = sketch->nodes[child].next) {
            if (!has_flag(c, child, ESPL__NODE_FREE_LINK)) {
                const espl__node clone = clone_of_node(c, child);
                const uint32_t made = add_clone(c, &clone, at);

                sketch->path[made] = child;
            }
        }
    }
    return first;
}

// Parent of the clones: ESPL__NO_NODE for none, also where it is dead and the command says so.
static espl_status find_instance_parent(const carrier *c, uint32_t *parent, uint32_t *before)
{
    *parent = *before = ESPL__NO_NODE;
    if (espl_entity_is_null(c->command->parent)) {
        return espl_entity_is_null(c->command->before) ? ESPL_OK : ESPL_ERR_NOT_CHILD;
    }
    const espl_status status = find_node(c, &c->entry->parent, parent);

    if (status == ESPL_ERR_DEAD && c->command->orphan == ESPL_ORPHAN_ROOT) {
        *parent = ESPL__NO_NODE;
        return ESPL_OK;
    }
    return status != ESPL_OK ? status : find_before(c, *parent, before);
}

static bool is_pass_source(const carrier *c, const source *from)
{
    return from->node == ESPL__NO_NODE
               ? espl__slot_is(c->playback->forest, from->slot, ESPL__SLOT_PASS)
               : has_flag(c, from->node, ESPL__NODE_PASS);
}

// The local of each clone's top node. One without placement has nothing to be placed.
static espl_status place_instance(carrier *c, const source *from, uint32_t parent,
                                  espl_transform *local)
{
    const unsigned place = c->command->place;
    unsigned lost = 0;

    if (is_pass_source(c, from)) {
        *local = espl_transform_identity();
        return ESPL_OK;
    }
    if (place == ESPL_PLACE_SOURCE) {
        *local = source_transform(c, from, parent == ESPL__NO_NODE);
        if (parent == ESPL__NO_NODE) {
            (void)espl__rotation_normalize(local->rotation);
        }
    } else {
        *local = *espl__entry_transform(c->playback, c->entry);
    }
    espl_pose pose = espl__pose_of(local);
    if (place == ESPL_PLACE_WORLD) {
        lost = local_under(c, parent, &pose, &pose, &pose);
    }
    const espl__extra extra = espl__extra_of(local);

    *local = espl__transform_of(&pose, &extra);
    if (!is_in_range(c, parent, &pose)) {
        return ESPL_ERR_RANGE;
    }
    return lost != 0 ? ESPL_LOSSY : ESPL_OK;
}

// Note that the command's values go to its clones, on top of what their originals got.
static espl_status add_values(carrier *c, uint32_t node)
{
    const uint32_t number = (uint32_t)espl__array_length(c->group->values);

    if (c->command->value_count == 0) {
        return ESPL_OK;
    }
    if (!ESPL_ARRAY_RESERVE(c->playback->heap, ESPL__FOR_COMMANDS, c->group->values, 1)) {
        return no_memory(c);
    }
    const uint32_t entry = (uint32_t)(c->entry - c->playback->entries);

    ESPL_ARRAY_PUSH(c->group->values, (espl__value_link){entry, node_at(c, node)->values});
    node_at(c, node)->values = number;
    return ESPL_OK;
}

// Clone `count` times before any clone is linked: a clone may come to stand below its own source.
static espl_status make_clones(carrier *c, const source *from, const espl_transform *local,
                               uint32_t *tops)
{
    const uint32_t stamp = c->sketch->stamp;
    const bool may_hide = c->sketch->may_hide;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < c->command->count && status == ESPL_OK; ++i) {
        tops[i] = from->node == ESPL__NO_NODE ? clone_from_slot(c, from) : clone_from_node(c, from);
        status = add_values(c, tops[i]);
        if (status == ESPL_OK && !has_flag(c, tops[i], ESPL__NODE_PASS)) {
            status = write_local(c, tops[i], local);
        }
    }
    // Nothing was known of them before, so that placing them took nothing back.
    c->sketch->stamp = stamp;
    c->sketch->may_hide = may_hide;
    return status;
}

static void link_clones(carrier *c, const uint32_t *tops, uint32_t parent, uint32_t before)
{
    c->sketch->is_touched = c->sketch->is_restructured = true;
    for (uint32_t i = 0; parent != ESPL__NO_NODE && i < c->command->count; ++i) {
        espl__sketch_link(c->sketch, tops[i], parent, before);
        set_link(c, tops[i], c->command->link);
    }
}

// Tell whether a clone's component set stays within its limit.
static bool fits_limits(const carrier *c, const source *from)
{
    const espl__forest *const forest = c->playback->forest;

    if (from->node == ESPL__NO_NODE) {
        return espl__values_fit(c->playback, c->group, c->entry, ESPL__NO_NODE,
                                forest->entity[from->slot]);
    }
    const espl__node *const node = &c->sketch->nodes[from->node];
    const bool is_clone = (node->flags & ESPL__NODE_CLONE) != 0;

    return espl__values_fit(c->playback, c->group, c->entry, node->values,
                            is_clone ? node->source : node->entity);
}

static espl_status instantiate(carrier *c)
{
    source from;
    uint32_t parent = 0, before = 0;
    espl_transform local;
    espl_status status = find_source(c, &from);

    status = status != ESPL_OK ? status : find_instance_parent(c, &parent, &before);
    if (status != ESPL_OK) {
        return status;
    }
    if (!fits_limits(c, &from)) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status placed = place_instance(c, &from, parent, &local);
    if (placed < 0) {
        return placed;
    }
    size_t nodes = 0;
    if (!espl__size_multiply(&nodes, from.size, c->command->count) || nodes > UINT32_MAX / 4) {
        return ESPL_ERR_LIMIT;
    }
    if (!espl__sketch_reserve_nodes(c->sketch, nodes) ||
        !espl__sketch_reserve_written(c->sketch,
                                      from.node != ESPL__NO_NODE ? 2 * nodes
                                                                 : c->command->count)) {
        return no_memory(c);
    }

    uint32_t *const tops = c->playback->pending_nodes +
                           c->playback->lanes[c->entry->lane].pending_base + c->command->pending;
    c->entry->clone_begin = (uint32_t)c->sketch->count;
    status = make_clones(c, &from, &local, tops);
    c->entry->clone_count = (uint32_t)c->sketch->count - c->entry->clone_begin;
    if (status != ESPL_OK) {
        return status;
    }
    link_clones(c, tops, parent, before);
    return placed;
}

// --- The table ---

typedef espl_status (*command_function)(carrier *c);

static const command_function table[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = instantiate,
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
    carrier c = {playback, group, &group->sketch, entry, entry->command};

    if (entry->is_out_of_range) {
        return ESPL_ERR_RANGE;
    }
    return table[entry->command->kind](&c);
}

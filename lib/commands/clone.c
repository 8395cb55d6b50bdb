// SPDX-License-Identifier: MIT
// Instantiate: the owned closure of a source becomes new nodes of the sketch.
#include "lib/commands/carrier.h"

// Where clones are taken from: a node of the sketch, or a slot of a run that nobody writes to.
typedef struct source {
    uint32_t node; // ESPL__NO_NODE: the slot
    uint32_t slot;
    size_t size; // nodes of the closure
} source;

static size_t closure_size(espl__carrier *c, uint32_t top)
{
    size_t count = 0;

    for (uint32_t node = top; node != ESPL__NO_NODE;) {
        const bool is_taken = node == top || !espl__carrier_has(c, node, ESPL__NODE_FREE_LINK);

        count += is_taken ? 1 : 0;
        node = espl__sketch_next(c->sketch, node, top, is_taken);
    }
    return count;
}

static espl_status find_source(espl__carrier *c, source *out)
{
    const espl__operand *const operand = &c->entry->target;
    const espl__forest *const forest = c->playback->forest;

    if (operand->status == ESPL_OK && operand->slot != ESPL__NO_SLOT &&
        c->playback->run_marks[forest->run[operand->slot]] == 0) {
        *out = (source){ESPL__NO_NODE, operand->slot, c->entry->clone_bound};
        return ESPL_OK;
    }
    const espl_status status = espl__carrier_find(c, operand, &out->node);

    if (status == ESPL_OK) {
        out->slot = c->sketch->nodes[out->node].slot;
        out->size = closure_size(c, out->node);
    }
    return status;
}

// The placement of the source as a value: its local as it is read, with the extra that it shows, and
// its world.
static espl__placement source_placement(espl__carrier *c, const source *from, espl_pose *world)
{
    const espl__forest *const forest = c->playback->forest;
    espl__placement placement;
    espl__frame room;
    const espl__frame *up = NULL;

    if (from->node == ESPL__NO_NODE) {
        const uint32_t parent = espl__frame_slot(forest, from->slot);

        placement = espl__slot_placement(forest, from->slot);
        *world = forest->world[from->slot];
        if (parent != ESPL__NO_SLOT) {
            room = espl__slot_frame(forest, parent);
            up = &room;
        }
    } else {
        placement = espl__sketch_placement(c->sketch, from->node);
        *world = espl__sketch_world(c->sketch, from->node);
        up = espl__carrier_frame(c, c->sketch->nodes[from->node].parent, &room);
    }
    placement.local = espl__placement_seen(&placement, up, world);
    placement.kept = espl__kept_none();
    return placement;
}

static espl__node clone_of_slot(const espl__carrier *c, uint32_t slot)
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
                                 (is_pass ? (unsigned)ESPL__NODE_PASS : 0u) |
                                 espl__node_flags_of(espl__slot_kept(forest, slot).flags)};
}

// What a playback may have changed of a node's placement beside its value.
#define KINDS_OF_PLACEMENT ((uint32_t)(ESPL__NODE_PASS | ESPL__NODE_KEEPS | ESPL__NODE_COPIES))

// A clone of a node copies what playback gave the node so far; room for one written transform.
static espl__node clone_of_node(espl__carrier *c, uint32_t node)
{
    espl__sketch *const sketch = c->sketch;
    const espl__node *const from = &sketch->nodes[node];
    const bool is_clone = (from->flags & ESPL__NODE_CLONE) != 0;
    espl__node clone = clone_of_slot(c, from->slot);

    clone.entity = node;
    clone.source = is_clone ? from->source : from->entity;
    clone.values = from->values;
    if (from->written != ESPL__NO_NODE) {
        clone.written = (uint32_t)sketch->written_count++;
        sketch->written[clone.written] = sketch->written[from->written];
    }
    clone.flags &= ~KINDS_OF_PLACEMENT;
    clone.flags |= from->flags & KINDS_OF_PLACEMENT;
    return clone;
}

static uint32_t add_clone(espl__carrier *c, const espl__node *clone, uint32_t parent)
{
    const uint32_t node = espl__sketch_add(c->sketch, clone);

    if (parent != ESPL__NO_NODE) {
        espl__sketch_link(c->sketch, node, parent, ESPL__NO_NODE);
    }
    return node;
}

// Breadth-first; the clones made so far are the queue.
static uint32_t clone_from_slot(espl__carrier *c, const source *from)
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

static uint32_t clone_from_node(espl__carrier *c, const source *from)
{
    espl__sketch *const sketch = c->sketch;
    const espl__node top = clone_of_node(c, from->node);
    const uint32_t first = add_clone(c, &top, ESPL__NO_NODE);

    // path[clone] is its original, for the queue.
    sketch->path[first] = from->node;
    for (uint32_t at = first; at < sketch->count; ++at) {
        for (uint32_t child = sketch->nodes[sketch->path[at]].first; child != ESPL__NO_NODE;
             child = sketch->nodes[child].next) {
            if (!espl__carrier_has(c, child, ESPL__NODE_FREE_LINK)) {
                const espl__node clone = clone_of_node(c, child);
                const uint32_t made = add_clone(c, &clone, at);

                sketch->path[made] = child;
            }
        }
    }
    return first;
}

// Parent of the clones: ESPL__NO_NODE for none, also where it is dead and the command says so.
static espl_status find_instance_parent(const espl__carrier *c, uint32_t *parent, uint32_t *before)
{
    *parent = *before = ESPL__NO_NODE;
    if (espl_entity_is_null(c->command->parent)) {
        return espl_entity_is_null(c->command->before) ? ESPL_OK : ESPL_ERR_NOT_CHILD;
    }
    const espl_status status = espl__carrier_find(c, &c->entry->parent, parent);

    if (status == ESPL_ERR_DEAD && c->command->orphan == ESPL_ORPHAN_ROOT) {
        *parent = ESPL__NO_NODE;
        return ESPL_OK;
    }
    return status != ESPL_OK ? status : espl__carrier_find_before(c, *parent, before);
}

static bool is_pass_source(const espl__carrier *c, const source *from)
{
    return from->node == ESPL__NO_NODE
               ? espl__slot_is(c->playback->forest, from->slot, ESPL__SLOT_PASS)
               : espl__carrier_has(c, from->node, ESPL__NODE_PASS);
}

// The placement of each clone's top node. One without a transform has nothing to be placed.
static espl_status place_instance(espl__carrier *c, const source *from, uint32_t parent,
                                  espl__placement *placement)
{
    static const espl__stay_rules local_stays = {ESPL_STAY_LOCAL, ESPL_STAY_LOCAL, ESPL_STAY_LOCAL};
    static const espl__stay_rules world_stays = {ESPL_STAY_WORLD, ESPL_STAY_WORLD, ESPL_STAY_WORLD};
    const unsigned place = c->command->place;
    const bool is_root = parent == ESPL__NO_NODE;
    espl__frame room;
    const espl__frame *const up = espl__carrier_frame(c, parent, &room);
    espl_pose world;

    *placement = espl__placement_identity();
    if (is_pass_source(c, from)) {
        return c->command->inherit != 0 && !is_root ? ESPL_ERR_NO_TRANSFORM : ESPL_OK;
    }
    if (place == ESPL_PLACE_SOURCE) {
        *placement = source_placement(c, from, &world);
    } else {
        const espl_transform *const value = espl__entry_transform(c->playback, c->entry);

        placement->local = world = espl__pose_of(value);
        placement->extra = espl__extra_of(value);
    }
    const bool keeps_world = place == ESPL_PLACE_WORLD || (place == ESPL_PLACE_SOURCE && is_root);
    const espl_pose local = placement->local;

    return espl__placement_move(placement, &world, &local, up,
                                keeps_world ? world_stays : local_stays, c->command->inherit);
}

// Note that the command's values go to its clones, on top of what their originals got.
static espl_status add_values(espl__carrier *c, uint32_t node)
{
    const uint32_t number = (uint32_t)espl__array_length(c->group->values);

    if (c->command->value_count == 0) {
        return ESPL_OK;
    }
    if (!ESPL_ARRAY_RESERVE(c->playback->heap, ESPL__FOR_COMMANDS, c->group->values, 1)) {
        return espl__carrier_no_memory(c);
    }
    const uint32_t entry = (uint32_t)(c->entry - c->playback->entries);

    ESPL_ARRAY_PUSH(c->group->values,
                    (espl__value_link){entry, c->sketch->nodes[node].values, node});
    c->sketch->nodes[node].values = number;
    return ESPL_OK;
}

// Clone `count` times before any clone is linked: a clone may come to stand below its own source.
static espl_status make_clones(espl__carrier *c, const source *from,
                               const espl__placement *placement, uint32_t *tops)
{
    const uint32_t stamp = c->sketch->stamp;
    const bool may_hide = c->sketch->may_hide;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < c->command->count && status == ESPL_OK; ++i) {
        tops[i] = from->node == ESPL__NO_NODE ? clone_from_slot(c, from) : clone_from_node(c, from);
        status = add_values(c, tops[i]);
        if (status == ESPL_OK && !espl__carrier_has(c, tops[i], ESPL__NODE_PASS)) {
            status = espl__carrier_write(c, tops[i], placement);
        }
    }
    // Nothing was known of them before, so that placing them took nothing back.
    c->sketch->stamp = stamp;
    c->sketch->may_hide = may_hide;
    return status;
}

static void link_clones(espl__carrier *c, const uint32_t *tops, uint32_t parent, uint32_t before)
{
    c->sketch->is_touched = c->sketch->is_restructured = true;
    for (uint32_t i = 0; parent != ESPL__NO_NODE && i < c->command->count; ++i) {
        espl__sketch_link(c->sketch, tops[i], parent, before);
        espl__carrier_set_link(c, tops[i], c->command->link);
    }
}

// Tell whether a clone's component set stays within its limit.
static bool fits_limits(const espl__carrier *c, const source *from)
{
    const espl__node clone =
        from->node == ESPL__NO_NODE ? clone_of_slot(c, from->slot) : c->sketch->nodes[from->node];

    return espl__values_fit(c->playback, c->group, c->entry, &clone,
                            (clone.flags & ESPL__NODE_PASS) == 0);
}

espl_status espl__carry_instantiate(espl__carrier *c)
{
    source from;
    uint32_t parent = 0, before = 0;
    espl__placement placement;
    espl_status status = find_source(c, &from);

    status = status != ESPL_OK ? status : find_instance_parent(c, &parent, &before);
    if (status != ESPL_OK) {
        return status;
    }
    if (!fits_limits(c, &from)) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status placed = place_instance(c, &from, parent, &placement);
    if (placed < 0) {
        return placed;
    }
    size_t nodes = 0;
    if (!espl__size_multiply(&nodes, from.size, c->command->count) || nodes > UINT32_MAX / 4) {
        return ESPL_ERR_LIMIT;
    }
    if (!espl__sketch_reserve_nodes(c->sketch, nodes) ||
        !espl__sketch_reserve_written(c->sketch,
                                      from.node != ESPL__NO_NODE ? 2 * nodes : c->command->count)) {
        return espl__carrier_no_memory(c);
    }

    uint32_t *const tops = c->playback->pending_nodes +
                           c->playback->lanes[c->entry->lane].pending_base + c->command->pending;
    c->entry->clone_begin = (uint32_t)c->sketch->count;
    status = make_clones(c, &from, &placement, tops);
    c->entry->clone_count = (uint32_t)c->sketch->count - c->entry->clone_begin;
    if (status != ESPL_OK) {
        return status;
    }
    link_clones(c, tops, parent, before);
    return placed;
}

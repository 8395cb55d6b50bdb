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

    if (espl__operand_is_living(operand) &&
        c->playback->run_marks[forest->run[operand->number]] == 0) {
        *out = (source){ESPL__NO_NODE, operand->number, c->entry->clone_bound};
        return ESPL_OK;
    }
    const espl_status status = espl__carrier_find(c, operand, &out->node);

    if (status == ESPL_OK) {
        out->slot = espl__sketch_at(c->sketch, out->node)->slot;
        out->size = closure_size(c, out->node);
        if (espl__sketch_has_failed(c->sketch)) {
            return espl__carrier_no_memory(c); // the closure is larger than that
        }
    }
    return status;
}

// The placement of the source as a value: its local as it is read, with the extra that it shows,
// and its world.
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
        up = espl__carrier_frame(c, espl__sketch_at(c->sketch, from->node)->parent, &room);
    }
    placement.local = espl__placement_seen(&placement, up, world);
    placement.kept = espl__kept_none();
    return placement;
}

static espl__node clone_without_links(uint32_t slot, uint32_t entity)
{
    espl__node clone = espl__node_alone();

    clone.slot = slot;
    clone.source = entity;
    clone.flags = ESPL__NODE_CLONE | ESPL__NODE_DIRTY;
    return clone;
}

static espl__node clone_of_slot(const espl__carrier *c, uint32_t slot)
{
    const espl__forest *const forest = c->playback->forest;
    const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
    espl__node clone = clone_without_links(slot, forest->entity[slot]);

    clone.flags |= (is_pass ? (unsigned)ESPL__NODE_PASS : 0u) |
                   espl__node_flags_of(espl__slot_kept(forest, slot).flags);
    return clone;
}

// What a playback may have changed of a node's placement beside its value.
#define KINDS_OF_PLACEMENT ((uint32_t)(ESPL__NODE_PASS | ESPL__NODE_KEEPS | ESPL__NODE_COPIES))

// A clone of a node copies what playback gave the node so far; room for one written transform.
static espl_status clone_of_node(espl__carrier *c, uint32_t node, espl__node *out)
{
    espl__sketch *const sketch = c->sketch;
    uint32_t set = 0;
    const espl_status status = espl__components_share(c, node, &set);
    const espl__node *const from = espl__sketch_at(sketch, node);

    *out = clone_without_links(from->slot, espl__node_is_clone(from) ? from->source : from->entity);
    out->entity = node;
    out->values = set;
    if (from->written != ESPL__NO_NODE) {
        const espl__placement placement =
            ((const espl__placement *)sketch->written.items)[from->written];

        out->written = espl__sketch_keep(sketch, &placement);
    }
    out->flags |= from->flags & KINDS_OF_PLACEMENT;
    return status;
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

    for (uint32_t at = first; at < espl__sketch_made_end(c->sketch); ++at) {
        const uint32_t rank = forest->rank[espl__sketch_at(c->sketch, at)->slot];
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

// A clone's `entity` is its original, which serves the queue.
static espl_status clone_from_node(espl__carrier *c, const source *from, uint32_t *first)
{
    espl__sketch *const sketch = c->sketch;
    espl__node clone;
    espl_status status = clone_of_node(c, from->node, &clone);

    *first = add_clone(c, &clone, ESPL__NO_NODE);
    for (uint32_t at = *first; at < espl__sketch_made_end(sketch) && status == ESPL_OK; ++at) {
        const uint32_t original = espl__sketch_at(sketch, at)->entity;

        for (uint32_t child = espl__sketch_at(sketch, original)->first;
             child != ESPL__NO_NODE && status == ESPL_OK;
             child = espl__sketch_at(sketch, child)->next) {
            if (!espl__carrier_has(c, child, ESPL__NODE_FREE_LINK)) {
                status = clone_of_node(c, child, &clone);
                (void)add_clone(c, &clone, at);
            }
        }
    }
    return status;
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
    const unsigned place = c->command->place;
    const bool is_root = parent == ESPL__NO_NODE;
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
    return espl__carrier_place_new(c, placement, world, parent,
                                   place == ESPL_PLACE_WORLD ||
                                       (place == ESPL_PLACE_SOURCE && is_root));
}

// The set of each clone's top node: with the command's values on top of what the source has.
static espl_status make_top_set(espl__carrier *c, const source *from, uint32_t *set)
{
    const espl__forest *const forest = c->playback->forest;
    const espl__store *const store = c->playback->store;
    uint32_t before = ESPL__NO_NODE, base = 0;

    if (from->node == ESPL__NO_NODE) {
        base = espl__entity_archetype(store, forest->entity[from->slot]);
    } else {
        const espl_status status = espl__components_share(c, from->node, &before);

        if (status != ESPL_OK) {
            return status;
        }
        base = espl__components_base(store, espl__sketch_at(c->sketch, from->node));
    }
    return espl__components_make(c, before, base, set);
}

// Clone `count` times before any clone is linked: a clone may come to stand below its own source.
static espl_status make_clones(espl__carrier *c, const source *from, uint32_t set,
                               const espl__placement *placement, uint32_t *tops)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < c->command->count && status == ESPL_OK; ++i) {
        if (from->node == ESPL__NO_NODE) {
            tops[i] = clone_from_slot(c, from);
        } else {
            status = clone_from_node(c, from, &tops[i]);
        }
        espl__sketch_at(c->sketch, tops[i])->values = set;
        if (!espl__carrier_has(c, tops[i], ESPL__NODE_PASS)) {
            espl__carrier_place_clone(c, tops[i], placement);
        }
    }
    return status;
}

// Tell whether a clone's component set stays within its limit; without values it does.
static bool fits_limits(const espl__carrier *c, const source *from, uint32_t set)
{
    return c->command->value_count == 0 ||
           espl__components_fit(c->group->work->sets.sets[set].count, !is_pass_source(c, from));
}

espl_status espl__carry_instantiate(espl__carrier *c)
{
    source from;
    uint32_t parent = 0, before = 0, set = 0;
    espl__placement placement;
    espl_status status = find_source(c, &from);

    status = status != ESPL_OK ? status : espl__carrier_find_home(c, &parent, &before);
    status = status != ESPL_OK ? status : make_top_set(c, &from, &set);
    if (status != ESPL_OK) {
        return status;
    }
    if (!fits_limits(c, &from, set)) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status placed = place_instance(c, &from, parent, &placement);
    if (placed < 0) {
        return placed;
    }
    size_t nodes = 0;
    // Past what memory holds.
    if (!espl__size_multiply(&nodes, from.size, c->command->count) || // GCOVR_EXCL_BR_LINE
        nodes > UINT32_MAX / 4) {                                     // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    if (!espl__sketch_reserve_made(c->sketch, nodes) ||
        !espl__sketch_reserve_written(c->sketch,
                                      from.node != ESPL__NO_NODE ? 2 * nodes : c->command->count)) {
        return espl__carrier_no_memory(c);
    }

    uint32_t *const tops = espl__carrier_begin_clones(c);

    status = make_clones(c, &from, set, &placement, tops);
    espl__carrier_end_clones(c);
    if (status != ESPL_OK) {
        return status;
    }
    espl__carrier_link_new(c, tops, parent, before);
    return placed;
}

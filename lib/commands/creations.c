// SPDX-License-Identifier: MIT
// Entities made from nothing: nodes without an original.
#include "lib/commands/carrier.h"

static espl__node created_node(const espl__carrier *c, uint32_t set)
{
    const bool is_pass = c->command->kind == ESPL__COMMAND_CREATE_BARE;

    espl__node node = espl__node_alone();

    node.slot = ESPL__NO_SLOT;
    node.source = ESPL__NO_ENTITY;
    node.values = set;
    node.flags = ESPL__NODE_CLONE | ESPL__NODE_DIRTY | (is_pass ? (unsigned)ESPL__NODE_PASS : 0u);
    return node;
}

// Where each of them comes to stand. One without a placement has nothing to be placed.
static espl_status place(espl__carrier *c, uint32_t parent, espl__placement *placement)
{
    *placement = espl__placement_identity();
    if (c->command->kind == ESPL__COMMAND_CREATE_BARE) {
        return ESPL_OK;
    }
    const espl_transform *const value = espl__entry_transform(c->playback, c->entry);

    placement->local = espl__pose_of(value);
    placement->extra = espl__extra_of(value);
    return espl__carrier_place_new(c, placement, placement->local, parent,
                                   c->command->place == ESPL_PLACE_WORLD);
}

static void make_nodes(espl__carrier *c, uint32_t set, const espl__placement *placement,
                       uint32_t *made)
{
    const espl__placement identity = espl__placement_identity();
    const espl__node node = created_node(c, set);

    for (uint32_t i = 0; i < c->command->count; ++i) {
        made[i] = espl__carrier_add(c, &node, &identity);
        espl__carrier_place_clone(c, made[i], placement);
    }
}

static bool fits(const espl__carrier *c, uint32_t set)
{
    const size_t count = set == ESPL__NONE ? 0 : c->group->work->sets.sets[set].count;

    return espl__components_fit(count, c->command->kind == ESPL__COMMAND_CREATE);
}

espl_status espl__carry_create(espl__carrier *c)
{
    const size_t count = c->command->count;
    uint32_t set = 0, parent = 0, before = 0;
    espl__placement placement;
    espl_status status = espl__components_make(c, ESPL__NONE, ESPL__NONE, &set);

    if (status != ESPL_OK) {
        return status;
    }
    if (!fits(c, set)) {
        return ESPL_ERR_LIMIT;
    }
    status = espl__carrier_find_home(c, &parent, &before);
    const espl_status placed = status != ESPL_OK ? status : place(c, parent, &placement);
    if (placed < 0) {
        return placed;
    }
    // Past what memory holds.
    if (count > UINT32_MAX / 4) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    if (!espl__sketch_reserve_made(c->sketch, count) ||
        !espl__sketch_reserve_written(c->sketch, count)) {
        return espl__carrier_no_memory(c);
    }

    uint32_t *const made = espl__carrier_begin_clones(c);

    make_nodes(c, set, &placement, made);
    espl__carrier_end_clones(c);
    espl__carrier_link_new(c, made, parent, before);
    return placed;
}

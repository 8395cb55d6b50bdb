// SPDX-License-Identifier: MIT
#include "lib/commands/carrier.h"

espl_status espl__carrier_no_memory(espl__carrier *c)
{
    c->group->work->status = ESPL_ERR_NO_MEMORY;
    return ESPL_ERR_NO_MEMORY;
}

espl_status espl__carrier_find(const espl__carrier *c, const espl__operand *operand, uint32_t *node)
{
    const espl__playback *const playback = c->playback;

    if (!espl__operand_is_known(operand)) {
        return (espl_status)operand->state;
    }
    if (espl__operand_is_pending(operand)) {
        *node = playback->pending_nodes[operand->number];
    } else {
        *node = operand->number;
    }
    return *node == ESPL__NO_NODE || espl__carrier_has(c, *node, ESPL__NODE_DEAD) ? ESPL_ERR_DEAD
                                                                                  : ESPL_OK;
}

espl_status espl__carrier_find_before(const espl__carrier *c, uint32_t parent, uint32_t *before)
{
    *before = ESPL__NO_NODE;
    if (espl_entity_is_null(c->command->before)) {
        return ESPL_OK;
    }
    const espl_status status = espl__carrier_find(c, &c->entry->before, before);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__sketch_at(c->sketch, *before)->parent == parent ? ESPL_OK : ESPL_ERR_NOT_CHILD;
}

void espl__carrier_set_link(espl__carrier *c, uint32_t node, uint8_t link)
{
    espl__node *const n = espl__sketch_at(c->sketch, node);

    n->flags &= ~(unsigned)ESPL__NODE_FREE_LINK;
    n->flags |= link == ESPL_LINK_FREE ? (unsigned)ESPL__NODE_FREE_LINK : 0u;
}

const espl__frame *espl__carrier_frame(espl__carrier *c, uint32_t node, espl__frame *room)
{
    if (node == ESPL__NO_NODE) {
        return NULL;
    }
    *room = (espl__frame){espl__sketch_world(c->sketch, node), espl__sketch_extra(c->sketch, node)};
    return room;
}

espl_status espl__carrier_write(espl__carrier *c, uint32_t node, const espl__placement *placement)
{
    const espl__placement now = espl__sketch_placement(c->sketch, node);

    if (espl__placement_is_equal(&now, placement)) {
        return ESPL_OK;
    }
    if (!espl__sketch_reserve_written(c->sketch, 1)) {
        return espl__carrier_no_memory(c);
    }
    espl__sketch_write(c->sketch, node, placement);
    return ESPL_OK;
}

// --- Keeping worlds ---

// Local of a node relative to the first transform above it that stays: the locals of those between
// them that go are applied one after the other. What copies its parent adds nothing.
static espl_pose composed_local(espl__carrier *c, uint32_t node, uint32_t lost)
{
    espl_pose local = espl__sketch_local(c->sketch, node);
    uint32_t up = espl__sketch_at(c->sketch, node)->parent;

    while (up != ESPL__NO_NODE && (up == lost || espl__carrier_has(c, up, ESPL__NODE_DEAD) ||
                                   espl__sketch_copies(c->sketch, up))) {
        if (!espl__sketch_copies(c->sketch, up)) {
            const espl__placement above = espl__sketch_placement(c->sketch, up);

            local = espl__pose_compose(&above.local, above.extra.stretch, &local);
        }
        up = espl__sketch_at(c->sketch, up)->parent;
    }
    return local;
}

// The placement that keeps a node's world in another frame; kept parts stay what they are.
static espl__placement rebased(espl__carrier *c, uint32_t node, const espl__frame *up,
                               uint32_t lost)
{
    espl__placement placement = espl__sketch_placement(c->sketch, node);
    const espl_pose world = espl__sketch_world(c->sketch, node);

    if (up == NULL) {
        placement.local = world;
        (void)espl__rotation_normalize(placement.local.rotation);
    } else if (!espl__rebased_exactly(&placement.local, &up->world, up->extra.stretch, &world)) {
        const espl_pose composed = composed_local(c, node, lost);

        placement.local = espl__rebased(&up->world, up->extra.stretch, &world, &composed);
    }
    return placement;
}

espl_status espl__carrier_rebase(espl__carrier *c, uint32_t top, const espl__frame *up,
                                 uint32_t lost)
{
    espl_status status = ESPL_OK;
    uint32_t node = top;

    while (node != ESPL__NO_NODE && status == ESPL_OK) {
        const bool becomes_root = node == top && up == NULL;
        const bool follows = becomes_root ? espl__carrier_has(c, node, ESPL__NODE_PASS)
                                          : espl__sketch_copies(c->sketch, node);

        if (!follows) {
            espl__placement placement = rebased(c, node, up, lost);

            placement.kept = becomes_root ? espl__kept_none() : placement.kept;
            status = espl__carrier_write(c, node, &placement);
        }
        node = espl__sketch_next(c->sketch, node, top, follows);
    }
    return status;
}

// --- What is made ---

espl_status espl__carrier_find_home(const espl__carrier *c, uint32_t *parent, uint32_t *before)
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

espl_status espl__carrier_place_new(espl__carrier *c, espl__placement *placement, espl_pose world,
                                    uint32_t parent, bool keeps_world)
{
    static const espl__stay_rules local_stays = {ESPL_STAY_LOCAL, ESPL_STAY_LOCAL, ESPL_STAY_LOCAL};
    static const espl__stay_rules world_stays = {ESPL_STAY_WORLD, ESPL_STAY_WORLD, ESPL_STAY_WORLD};
    espl__frame room;
    const espl__frame *const up = espl__carrier_frame(c, parent, &room);
    const espl_pose local = placement->local;

    return espl__placement_move(placement, &world, &local, up,
                                keeps_world ? world_stays : local_stays, c->command->inherit);
}

uint32_t *espl__carrier_begin_clones(espl__carrier *c)
{
    c->entry->clone_begin = espl__sketch_made_end(c->sketch);
    return c->playback->pending_nodes + c->playback->lanes[c->entry->lane].pending_base +
           c->command->pending;
}

void espl__carrier_end_clones(espl__carrier *c)
{
    c->entry->clone_count = espl__sketch_made_end(c->sketch) - c->entry->clone_begin;
}

uint32_t espl__carrier_add(espl__carrier *c, const espl__node *node,
                           const espl__placement *placement)
{
    espl__node added = *node;

    added.written = espl__sketch_keep(c->sketch, placement);
    return espl__sketch_add(c->sketch, &added);
}

void espl__carrier_place_clone(espl__carrier *c, uint32_t node, const espl__placement *placement)
{
    const espl__placement now = espl__sketch_placement(c->sketch, node);
    const bool may_hide = c->sketch->may_hide;

    if (espl__placement_is_equal(&now, placement)) {
        return;
    }
    espl__sketch_write(c->sketch, node, placement);
    // It was nowhere before, so that placing it hides nothing.
    c->sketch->may_hide = may_hide;
}

void espl__carrier_link_new(espl__carrier *c, const uint32_t *made, uint32_t parent,
                            uint32_t before)
{
    c->sketch->is_restructured = true;
    for (uint32_t i = 0; parent != ESPL__NO_NODE && i < c->command->count; ++i) {
        espl__sketch_link(c->sketch, made[i], parent, before);
        espl__carrier_set_link(c, made[i], c->command->link);
    }
}

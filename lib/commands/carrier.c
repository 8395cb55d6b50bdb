// SPDX-License-Identifier: MIT
#include "lib/commands/carrier.h"

espl_status espl__carrier_no_memory(espl__carrier *c)
{
    c->group->status = ESPL_ERR_NO_MEMORY;
    return ESPL_ERR_NO_MEMORY;
}

espl_status espl__carrier_find(const espl__carrier *c, const espl__operand *operand, uint32_t *node)
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
    return c->sketch->nodes[*before].parent == parent ? ESPL_OK : ESPL_ERR_NOT_CHILD;
}

void espl__carrier_set_link(espl__carrier *c, uint32_t node, uint8_t link)
{
    espl__node *const n = &c->sketch->nodes[node];

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
    uint32_t up = c->sketch->nodes[node].parent;

    while (up != ESPL__NO_NODE && (up == lost || espl__carrier_has(c, up, ESPL__NODE_DEAD) ||
                                   espl__sketch_copies(c->sketch, up))) {
        if (!espl__sketch_copies(c->sketch, up)) {
            const espl__placement above = espl__sketch_placement(c->sketch, up);

            local = espl__pose_compose(&above.local, above.extra.stretch, &local);
        }
        up = c->sketch->nodes[up].parent;
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

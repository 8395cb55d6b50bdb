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

// SPDX-License-Identifier: MIT
#include "lib/commands/carrier.h"

#include <string.h>

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

espl__frame espl__carrier_frame(espl__carrier *c, uint32_t node)
{
    if (node == ESPL__NO_NODE) {
        return (espl__frame){espl__pose_identity(), espl__extra_default()};
    }
    return (espl__frame){espl__sketch_world(c->sketch, node), espl__sketch_extra(c->sketch, node)};
}

unsigned espl__carrier_local_under(espl__carrier *c, uint32_t parent, const espl_pose *world,
                                   const espl_pose *fallback, espl_pose *local)
{
    if (parent == ESPL__NO_NODE) {
        *local = *world;
        (void)espl__rotation_normalize(local->rotation);
        return 0;
    }
    const espl__frame up = espl__carrier_frame(c, parent);

    return espl__pose_relative(local, &up.world, up.extra.stretch, world, fallback);
}

bool espl__carrier_is_in_range(espl__carrier *c, uint32_t parent, const espl_pose *local)
{
    if (!espl__pose_is_finite(local)) {
        return false;
    }
    if (parent == ESPL__NO_NODE) {
        return true;
    }
    const espl__frame up = espl__carrier_frame(c, parent);
    const espl_pose world = espl__pose_compose(&up.world, up.extra.stretch, local);

    return espl__pose_is_finite(&world);
}

espl_status espl__carrier_write(espl__carrier *c, uint32_t node, const espl_transform *local)
{
    const espl_pose pose = espl__sketch_local(c->sketch, node);
    const espl__extra extra = espl__sketch_own_extra(c->sketch, node);
    const espl_transform now = espl__transform_of(&pose, &extra);

    if (memcmp(&now, local, sizeof now) == 0) {
        return ESPL_OK;
    }
    if (!espl__sketch_reserve_written(c->sketch, 1)) {
        return espl__carrier_no_memory(c);
    }
    espl__sketch_write(c->sketch, node, local);
    return ESPL_OK;
}

espl_status espl__carrier_write_pose(espl__carrier *c, uint32_t node, const espl_pose *pose)
{
    const espl__extra extra = espl__sketch_own_extra(c->sketch, node);
    const espl_transform local = espl__transform_of(pose, &extra);

    return espl__carrier_write(c, node, &local);
}

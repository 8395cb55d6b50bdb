// SPDX-License-Identifier: MIT
// One command on its way through a group's sketch, and what every kind needs for it: operands,
// transforms under a parent that may be none, writes.
#ifndef ESPALIER_LIB_COMMANDS_CARRIER_H
#define ESPALIER_LIB_COMMANDS_CARRIER_H

#include "lib/commands/playback.h"

typedef struct espl__carrier {
    espl__playback *playback;
    espl__group *group;
    espl__sketch *sketch; // the group's
    espl__entry *entry;
    const espl__command *command;
} espl__carrier;

static inline bool espl__carrier_has(const espl__carrier *c, uint32_t node, unsigned flag)
{
    return (c->sketch->nodes[node].flags & flag) != 0;
}

/// Note that the plan fails, and say so.
espl_status espl__carrier_no_memory(espl__carrier *c);

/// The node that an operand names at this moment of the playback.
espl_status espl__carrier_find(const espl__carrier *c, const espl__operand *operand,
                               uint32_t *node);
/// The sibling to stand before: ESPL__NO_NODE where the command names none.
espl_status espl__carrier_find_before(const espl__carrier *c, uint32_t parent, uint32_t *before);
void espl__carrier_set_link(espl__carrier *c, uint32_t node, uint8_t link);

/// What children of a node see of it; the identity for ESPL__NO_NODE.
typedef struct espl__frame {
    espl_pose world;
    espl__extra extra;
} espl__frame;

espl__frame espl__carrier_frame(espl__carrier *c, uint32_t node);
/// Local that a world pose has under a parent; without a parent they are the same, but that a
/// rotation which propagation brought off unit length does not live on as a local.
/// @return ESPL__LOST_ flags.
unsigned espl__carrier_local_under(espl__carrier *c, uint32_t parent, const espl_pose *world,
                                   const espl_pose *fallback, espl_pose *local);
/// Tell whether a local and the world it gives are finite.
bool espl__carrier_is_in_range(espl__carrier *c, uint32_t parent, const espl_pose *local);
/// Give a node a new local unless it has just that one.
espl_status espl__carrier_write(espl__carrier *c, uint32_t node, const espl_transform *local);
/// The same, keeping stretch and context.
espl_status espl__carrier_write_pose(espl__carrier *c, uint32_t node, const espl_pose *pose);

/// Carry an instantiate command out (clone.c).
espl_status espl__carry_instantiate(espl__carrier *c);

#endif

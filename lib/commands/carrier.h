// SPDX-License-Identifier: MIT
// One command on its way through a group's sketch, and what every kind needs for it: operands,
// the frame of a parent that may be none, writes.
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

/// What children of a node see of it, in `room`; NULL for ESPL__NO_NODE.
const espl__frame *espl__carrier_frame(espl__carrier *c, uint32_t node, espl__frame *room);
/// Give a node a new placement unless it has just that one.
espl_status espl__carrier_write(espl__carrier *c, uint32_t node, const espl__placement *placement);
/// Before `top` comes to stand in another frame: give it the placement that keeps its world there,
/// or give it to what hangs below where the node follows its parent as a copy.
///
/// @param up    NULL: `top` becomes a root.
/// @param lost  node above whose own transform goes, though it lives; or ESPL__NO_NODE.
espl_status espl__carrier_rebase(espl__carrier *c, uint32_t top, const espl__frame *up,
                                 uint32_t lost);

static inline espl__stay_rules espl__carrier_rules(const espl__carrier *c)
{
    return (espl__stay_rules){c->command->stay_position, c->command->stay_rotation,
                              c->command->stay_scale};
}

/// Carry an instantiate command out (clone.c).
espl_status espl__carry_instantiate(espl__carrier *c);
// Carry out what changes a placement where it stands (placements.c).
espl_status espl__carry_write(espl__carrier *c);
espl_status espl__carry_inherit(espl__carrier *c);
espl_status espl__carry_place(espl__carrier *c);
espl_status espl__carry_unplace(espl__carrier *c);

#endif

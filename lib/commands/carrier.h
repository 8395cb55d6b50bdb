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
    return (espl__sketch_at(c->sketch, node)->flags & flag) != 0;
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

// --- What is made ---

/// Parent of what a command makes: ESPL__NO_NODE for none, also where it is dead and the command
/// says so. And the sibling to stand before.
espl_status espl__carrier_find_home(const espl__carrier *c, uint32_t *parent, uint32_t *before);
/// Bring a placement under the parent of what is made: its world is kept there, or its local.
espl_status espl__carrier_place_new(espl__carrier *c, espl__placement *placement, espl_pose world,
                                    uint32_t parent, bool keeps_world);
/// Note that the nodes added from now on are the command's, and return where its pending handles
/// learn their nodes.
uint32_t *espl__carrier_begin_clones(espl__carrier *c);
void espl__carrier_end_clones(espl__carrier *c);
/// Add a node that has a placement of its own; both were reserved.
uint32_t espl__carrier_add(espl__carrier *c, const espl__node *node,
                           const espl__placement *placement);
/// Give the top of a clone its placement; reserved.
void espl__carrier_place_clone(espl__carrier *c, uint32_t node, const espl__placement *placement);
/// Hang what was made under its parent, if any.
void espl__carrier_link_new(espl__carrier *c, const uint32_t *made, uint32_t parent,
                            uint32_t before);

// --- Component sets (values.c) ---

/// Number of the command in playback order.
static inline uint32_t espl__carrier_number(const espl__carrier *c)
{
    return (uint32_t)(c->entry - c->playback->entries);
}

/// See that a node has a set of its own with room for more components.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_open(espl__carrier *c, uint32_t node, size_t more);
/// Have a node own a set from now on.
void espl__components_set(espl__carrier *c, uint32_t node, uint32_t set);
/// Give and take away what the command says. The set is open, with room.
void espl__components_apply(espl__carrier *c, uint32_t set);
/// The set that clones of a node get, or ESPL__NONE: without the tag of a prefab, shared.
espl_status espl__components_share(espl__carrier *c, uint32_t node, uint32_t *out);
/// A set with the values of the command on top of a shared one, or of what copies of a row of the
/// archetype have; without values that one itself. It may have too many components.
espl_status espl__components_make(espl__carrier *c, uint32_t before, uint32_t base, uint32_t *out);

// --- Kinds of command ---

/// Carry an instantiate command out (clone.c).
espl_status espl__carry_instantiate(espl__carrier *c);
/// Carry a creation out (creations.c).
espl_status espl__carry_create(espl__carrier *c);
// Carry out what changes components (changes.c).
espl_status espl__carry_change(espl__carrier *c);
espl_status espl__carry_set(espl__carrier *c);
espl_status espl__carry_enable(espl__carrier *c);
espl_status espl__carry_disable(espl__carrier *c);
// Carry out what changes a placement where it stands (placements.c).
espl_status espl__carry_write(espl__carrier *c);
espl_status espl__carry_inherit(espl__carrier *c);
espl_status espl__carry_place(espl__carrier *c);
espl_status espl__carry_unplace(espl__carrier *c);

#endif

// SPDX-License-Identifier: MIT
// The commands of immediate calls, and the settling of trees: see structure.c.
#ifndef ESPALIER_LIB_WORLD_STRUCTURE_H
#define ESPALIER_LIB_WORLD_STRUCTURE_H

#include "lib/commands/stage_data.h"
#include "lib/world/world_internal.h"

/// Apply the one command of a lane. Pending handles are refused.
/// @param lane  its `results` are not used.
/// @return ESPL_ERR_NO_MEMORY and other statuses of a playback; else the result of the
///         command, or ESPL_OVERFLOW.
espl_status espl__apply_lane(espl_world *world, const espl__lane_view *lane);
/// As espl__apply_lane(), for a command without a payload that creates nothing.
espl_status espl__apply_one(espl_world *world, const espl__command *command);
/// Apply all commands of a lane, or none where one is refused.
/// @param lane  its commands create nothing.
/// @param refused  out: index of the first command that is refused; unchanged where none
///          is.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW; why one is refused; statuses of a playback.
espl_status espl__apply_strictly(espl_world *world, espl__lane_view lane, size_t *refused);

/// Settle the trees in the forest's list: divide those with several roots, give roots their roles,
/// and lay out trees whose debt is due, within the budget. Structural. A tree for
/// which there is no memory stays in the list. @return whether a tree has changed.
bool espl__settle(espl_world *world);
/// Give the roots of one tree their roles, and trees of their own where several share it. Each is
/// laid out then. The header of the tree is free if no root stayed in it.
/// @return false: there is no memory, and nothing has changed.
bool espl__settle_in_order(espl_world *world, uint32_t tree);

#endif

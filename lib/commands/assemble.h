// SPDX-License-Identifier: MIT
// The short way of assembly: solos come together into one hierarchy. It is taken by groups whose runs
// are solos that have nothing but a pose, and whose commands attach and write and do nothing else:
//
// - Nobody comes below another node twice. So who hangs below whom at any moment is a part of what
//   there is in the end, siblings stand in the order of the commands, and one walk tells whether a
//   circle was closed. Commands come in any order, children before their parents too.
// - A group hangs together, so that without a circle all of it is one hierarchy. It goes on in the run
//   of its root, in a new range of slots, breadth-first.
// - Every command is applied, and none leaves anything but a pose. A bound of scales and positions says
//   that no world overflows, in the end or between two commands.
//
// A group that meets anything else goes the long way. Commands are carried out on a line of memory for
// each node; no world is computed but those that commands ask for and, once, those of the end.
#ifndef ESPALIER_LIB_COMMANDS_ASSEMBLE_H
#define ESPALIER_LIB_COMMANDS_ASSEMBLE_H

#include "lib/commands/short.h"

/// A solo and where it comes to hang. Nodes have the numbers of their runs among the touched ones.
typedef struct espl__assembly_node {
    espl_pose local;
    float growth, reach; // of all locals that it had: their scale, at least 1, and how far they
                         // reach; once laid out of its worlds, at any moment
    uint32_t parent;     // node, or ESPL__NO_NODE
    uint32_t first, last, next; // its children, and those of `parent`; laid out: `first` is a rank
    uint32_t rank;              // laid out; before, scratch of a walk up
    uint32_t slot : 31;         // that it stands in
    uint32_t is_free : 1;       // its link
} espl__assembly_node;

_Static_assert(sizeof(espl__assembly_node) == 64, "node of an assembly: 32 + 8 + 20 + 4");

/// All groups that go this way.
typedef struct espl__assembling {
    espl__assembly_node *nodes; // [touched_count]
    uint32_t *order;            // [touched_count] nodes by rank; a group's from its `run_begin` on
    // Worlds that commands asked for, by node, and since when they hold; NULL: no command asks.
    espl_pose *worlds;
    uint32_t *stamps;
} espl__assembling;

/// Tell whether a group consists of such solos and commands alone.
bool espl__assemble_suits(const espl__playback *playback, espl__group *group);
/// Plan those groups whose `does` says so; sets is_short where it can be done.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR.
espl_status espl__assemble_plan(espl__playback *playback);
/// Lay those groups out in the ranges that they were given. Cannot fail.
void espl__assemble_patch(espl__playback *playback);

/// Tell whether a group goes this way.
static inline bool espl__group_assembles(const espl__group *group)
{
    return group->is_short && group->does == ESPL__SHORT_ASSEMBLY;
}

/// The entity that a command of such a group makes a member; ESPL__NO_ENTITY: none.
static inline uint32_t espl__assembly_member(const espl__playback *playback,
                                             const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_ATTACH
               ? playback->forest->entity[entry->target.number]
               : ESPL__NO_ENTITY;
}

/// The entity of the root of such a group, which stands where it stood until the patch.
static inline uint32_t espl__assembly_root(const espl__playback *playback, const espl__group *group)
{
    return playback->forest->entity[playback->forest->runs[group->run].base];
}

#endif

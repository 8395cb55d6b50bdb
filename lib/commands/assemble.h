// SPDX-License-Identifier: MIT
// The short way of assembly: solos, and entities that are made, come together into one hierarchy. It is
// taken by groups whose runs are solos that have nothing but a pose, and whose commands create, attach
// and write and do nothing else:
//
// - Nobody comes below another node twice. So who hangs below whom at any moment is a part of what
//   there is in the end, siblings stand in the order of the commands, and one walk tells whether a
//   circle was closed. Commands come in any order, children before their parents too.
// - All of the group is one hierarchy. It goes on in the run of its root, unless that one is made, in a
//   new range of slots, breadth-first.
// - Every command is applied, and none leaves anything but a pose. A bound of scales and positions says
//   that no world overflows, in the end or between two commands.
//
// A group that meets anything else goes the long way. Commands are carried out on a line of memory for
// each node; no world is computed but those that commands ask for and, once, those of the end.
#ifndef ESPALIER_LIB_COMMANDS_ASSEMBLE_H
#define ESPALIER_LIB_COMMANDS_ASSEMBLE_H

#include "lib/commands/short.h"

/// One who comes together with others. A solo has the number of its run among the touched ones; behind
/// those stand the pendings in their order.
typedef struct espl__assembly_node {
    espl_pose local;
    // Of all locals that it had: their scale, at least 1, and how far they reach; laid out: of its
    // worlds, at any moment. Growth 0: no command made it yet.
    float growth, reach;
    uint32_t parent;            // node, or ESPL__NO_NODE
    uint32_t first, last, next; // its children, and those of `parent`; laid out: `first` is a rank
    uint32_t rank;              // laid out; before, scratch of a walk up
    uint32_t slot : 31;         // that a solo stands in
    uint32_t is_free : 1;       // its link
} espl__assembly_node;

_Static_assert(sizeof(espl__assembly_node) == 64, "node of an assembly: 32 + 8 + 20 + 4");

/// All groups that go this way.
typedef struct espl__assembling {
    espl__assembly_node *nodes; // [touched_count + pending_count]
    uint32_t *order;            // nodes by rank; a group's from its `step_begin` on
    // Worlds that commands asked for, by node, and since when they hold; NULL: no command asks.
    espl_pose *worlds;
    uint32_t *stamps;
    bool creates; // some group has entities that are made
} espl__assembling;

// --- assemble.c ---

/// Tell whether a group consists of such entities and commands alone. Of one that does, sets its `size`
/// and `asks_for_worlds`.
bool espl__assemble_suits(const espl__playback *playback, espl__group *group);
/// Plan those groups whose `does` says so; sets is_short where it can be done.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR.
espl_status espl__assemble_plan(espl__playback *playback);

// --- assemble_patch.c ---

/// Find or make the archetype of one who is made; `node` of the make is its number among pendings.
/// @param guess  an archetype that may be the one, or ESPL__NONE.
espl_status espl__assembly_archetype(const espl__playback *playback, const espl__make *make,
                                     uint32_t guess, uint32_t *out);
/// Write the values that one who is made was given; it has its row.
void espl__assembly_fill(const espl__playback *playback, const espl__make *make,
                         const espl__record *record);
/// Lay those groups out in the ranges that they were given. Cannot fail.
void espl__assemble_patch(espl__playback *playback);

/// Tell whether a group goes this way.
static inline bool espl__group_assembles(const espl__group *group)
{
    return group->is_short && group->does == ESPL__SHORT_ASSEMBLY;
}

/// Tell whether the hierarchy that comes of such a group has a run of its own yet, which is that of its
/// root. Until the patch.
static inline bool espl__assembly_goes_on(const espl__group *group)
{
    return group->is_resettled;
}

/// The solo that a command of such a group makes a member; ESPL__NO_ENTITY: none.
static inline uint32_t espl__assembly_member(const espl__playback *playback,
                                             const espl__entry *entry)
{
    const bool is_solo =
        entry->command->kind == ESPL__COMMAND_ATTACH && !espl__operand_is_pending(&entry->target);

    return is_solo ? playback->forest->entity[entry->target.number] : ESPL__NO_ENTITY;
}

/// The solo that is the root of such a group that goes on.
static inline uint32_t espl__assembly_root(const espl__playback *playback, const espl__group *group)
{
    return playback->forest->entity[playback->forest->runs[group->run].base];
}

#endif

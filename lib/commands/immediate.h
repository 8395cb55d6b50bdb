// SPDX-License-Identifier: MIT
// Immediate structural calls: one command is applied at once.
//
// A playback orders, resolves and groups many commands, so that parts of them can be applied at the
// same time, and reports on each. One command needs none of that. It is applied by the same functions
// (apply.h), and what it changes is surveyed, reserved, written to the store and placed by the same
// stages as in a playback.
#ifndef ESPALIER_LIB_COMMANDS_IMMEDIATE_H
#define ESPALIER_LIB_COMMANDS_IMMEDIATE_H

#include "lib/commands/playback.h"

/// Results of an immediate call besides its status.
typedef struct espl__immediate_result {
    bool has_overflowed; // a world that it recomputed is not finite; false where it fails
    bool is_refused;     // the status is its verdict; false where memory or a limit is the reason
} espl__immediate_result;

/// Apply the one command of a lane. Pending handles are refused.
/// @param lane  `created` is written where the command makes entities; `results` is not used.
/// @return the verdict of the command: ESPL_OK, a remark, or why it is refused; ESPL_ERR_NO_MEMORY,
///         ESPL_ERR_LIMIT. Where it is not at least ESPL_OK the world is as it was.
espl_status espl__immediate_apply(espl__playback *playback, const espl__lane_view *lane,
                                  espl__immediate_result *out);

/// A node that is built: what an entity gets that has been stored as a value. Its world follows from it.
typedef struct espl__built {
    uint32_t parent; // number of an earlier node of the build, or ESPL__NO_SLOT: a top
    uint32_t set;    // number of its component set
    bool is_bare;    // no transform: the placement is not read
    bool is_free;    // ESPL_LINK_FREE; not read of a top
    bool has_side;   // the placement is not the default but for its local
    espl__placement placement; // stored bit for bit; inherit flags are not those of a root
} espl__built;

/// A component set of built nodes, without roles and ESPL_TRANSFORM.
typedef struct espl__built_set {
    const espl_component *components; // [count] in any order, without repeats
    size_t count;
} espl__built_set;

/// Nodes that are to be built at once, in new trees or below one parent.
typedef struct espl__build {
    uint32_t parent;             // slot of the parent of all tops, or ESPL__NO_SLOT
    uint32_t count;              // nodes
    uint32_t longest;            // most nodes of a top and what is below it
    uint32_t spare;              // slots for the room of new trees: the sum of espl__tree_spare()
    bool has_side;               // a node has stretch, user data or inherit flags
    const espl__built_set *sets; // [set_count]
    size_t set_count;
    /// Give the next node, in ascending order of numbers. Children of one parent follow in their order;
    /// trees whose nodes come breadth-first, one tree after the other, need not move again.
    /// @return valid until the next call.
    const espl__built *(*next)(void *context);
    void *context;
} espl__build;

/// Build nodes. Values of components are zeros.
/// @param entities  [count] out: by number.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: the world is as it was.
espl_status espl__immediate_build(espl__playback *playback, const espl__build *build,
                                  espl_entity *entities, espl__immediate_result *out);
/// Give each root of the range of a tree its role, and all but one a range of their own.
/// @param lays_out  the one that otherwise stays gets a new range as well.
/// @return false: there is no memory, and nothing has changed.
bool espl__immediate_settle(espl__playback *playback, uint32_t tree, bool lays_out);

#endif

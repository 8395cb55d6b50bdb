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
/// Give each root of the range of a tree its role, and all but one a range of their own.
/// @param lays_out  the one that otherwise stays gets a new range as well.
/// @return false: there is no memory, and nothing has changed.
bool espl__immediate_settle(espl__playback *playback, uint32_t tree, bool lays_out);

#endif

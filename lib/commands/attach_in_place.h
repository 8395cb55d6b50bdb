// SPDX-License-Identifier: MIT
// Attaches at once that need no memory. They are applied by the function of their kind, like all others, on
// an edit without a log.
#ifndef ESPALIER_LIB_COMMANDS_ATTACH_IN_PLACE_H
#define ESPALIER_LIB_COMMANDS_ATTACH_IN_PLACE_H

#include "lib/commands/apply.h"
#include "lib/commands/immediate.h"

/// Tell whether a command is an attach that needs no memory, so that it cannot fail once it is not
/// refused: no role changes, so that no row moves; nothing is in side arrays; and the tree of the parent
/// has room for what arrives. Elsewhere, and where some world was not finite before, an edit with a log
/// does it. A subtree that stays in its slots is left to that one too, which propagates in fewer steps.
bool espl__attaches_in_place(const espl__forest *forest, const espl__entry *entry);
/// Apply such a command. @return its verdict.
espl_status espl__attach_in_place(espl__playback *playback, espl__entry *entry,
                                  espl__immediate_result *out);

#endif

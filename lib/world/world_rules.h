// SPDX-License-Identifier: MIT
// The rules of a world that do not depend on its past.
#ifndef ESPALIER_LIB_WORLD_WORLD_RULES_H
#define ESPALIER_LIB_WORLD_WORLD_RULES_H

#include "lib/world/world_internal.h"

/// Return the first rule of the store, of the forest or between them that does not hold, as espl_validate()
/// does, or NULL. Bounded, whatever their numbers are.
/// @param report     out: where.
/// @param are_plain  NULL: each rule is checked by itself, and worlds by other functions than those that compute
///                   them. Else trees that are as most are are checked quickly, see plain_tree.h. Out: whether all
///                   are; then no world overflows.
const char *espl__world_broken_rule(const espl_world *world, espl_validation *report,
                                    bool *are_plain);

#endif

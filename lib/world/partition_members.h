// SPDX-License-Identifier: MIT
// The partition of rows among which are members.
#ifndef ESPALIER_LIB_WORLD_PARTITION_MEMBERS_H
#define ESPALIER_LIB_WORLD_PARTITION_MEMBERS_H

#include "lib/world/partition_rows.h"

/// Cut rows among which are members. Preconditions and postcondition: those of espl__partition_cut();
/// the numbers of units are taken.
void espl__partition_members(espl__partition *partition, uint32_t job_limit);

#endif

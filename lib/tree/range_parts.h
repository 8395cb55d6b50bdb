// SPDX-License-Identifier: MIT
// The parts of a tree in one range: which of them keeps it, and the list of loose roots. The survey
// and the relocation of an edit (relocation_survey.c, relocation.c), destroys and espl__settle() call
// these.
#ifndef ESPALIER_LIB_TREE_RANGE_PARTS_H
#define ESPALIER_LIB_TREE_RANGE_PARTS_H

#include "lib/tree/edit_steps.h"
#include "lib/tree/layout.h"

/// Decide for each range in which the group left several roots, or another root, which part keeps it.
/// Lists the relocation of the root of that part, and marks the root at the first slot as moved if it
/// is that of another part. @return false: no memory.
bool espl__parts_choose_heads(espl__edit *edit);
/// Move the root of the part that keeps a range to the first slot. Precondition: all other parts have
/// left the range.
void espl__part_relocate_head(const espl__transfer *transfer, const espl__relocation *relocation);
/// Sort slots in ascending order.
void espl__sort_slots(uint32_t *slots, size_t count);

#endif

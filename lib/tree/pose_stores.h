// SPDX-License-Identifier: MIT
// Stores of whole local poses to plain nodes of one tree, without their worlds: the first half of a
// sweep of writes.c. Jobs may store disjoint parts of the entries of a tree side by side.
#ifndef ESPALIER_LIB_TREE_POSE_STORES_H
#define ESPALIER_LIB_TREE_POSE_STORES_H

#include "lib/tree/writes.h"

/// The sum of some stores. Begins as {.first = UINT32_MAX}.
typedef struct espl__stored {
    uint32_t first; // lowest slot that changed, or UINT32_MAX
    uint32_t writes, skipped;
    bool has_status; // a value was refused
} espl__stored;

/// Check and store entries [begin, end) in order, and add them to a sum. Bit-equal ones are skipped.
/// Precondition: the kind is ESPL_WRITE_LOCAL_TRANSFORM or ESPL_WRITE_LOCAL_POSE, and the nodes are
/// plain.
void espl__store_poses(espl__forest *forest, const espl__tree_writes *writes, uint32_t begin,
                       uint32_t end, espl__stored *sum);

#endif

// SPDX-License-Identifier: MIT
// Stores of local poses, or of one part of them, to plain nodes of one tree, without their worlds: the
// first half of a sweep of writes.c. Jobs may store disjoint parts of the entries of a tree side by side.
#ifndef ESPALIER_LIB_TREE_LOCAL_STORES_H
#define ESPALIER_LIB_TREE_LOCAL_STORES_H

#include "lib/tree/writes.h"

/// Tell whether writes of a kind replace the local of a plain node, or one part of it.
static inline bool espl__kind_sets_local(espl_write_kind kind)
{
    return kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_LOCAL_POSE ||
           espl__kind_sets_part(kind);
}

/// The sum of some stores. Begins as {.first = UINT32_MAX}.
typedef struct espl__stored {
    uint32_t first; // lowest slot that changed, or UINT32_MAX
    uint32_t writes, skipped;
    bool has_status; // a value was refused
} espl__stored;

/// Check and store entries [begin, end) in order, and add them to a sum. Bit-equal ones are skipped.
/// Precondition: all entries have one kind, for which espl__kind_sets_local(), and the nodes are plain.
void espl__store_locals(espl__forest *forest, const espl__tree_writes *writes, uint32_t begin,
                       uint32_t end, espl__stored *sum);

#endif

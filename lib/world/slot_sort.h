// SPDX-License-Identifier: MIT
// Numbers sorted by slot, so that what is done with their nodes walks the pool in one direction:
// tree by tree, and in a tree parents before children. Callers: batch_groups.c for entries,
// partition_groups.c for rows.
#ifndef ESPALIER_LIB_WORLD_SLOT_SORT_H
#define ESPALIER_LIB_WORLD_SLOT_SORT_H

#include <stddef.h>
#include <stdint.h>

/// A number of the caller's, and the slot that it is sorted by.
typedef struct espl__slot_key {
    uint32_t slot, number;
} espl__slot_key;

/// Sort by slot. Stable: keys of one slot keep their order. O(count).
/// @param keys  [count] in and out. May be exchanged with `spare`, so that the caller reads the pointer
///          again afterwards.
/// @param spare  [count] scratch.
/// @param count  at most UINT32_MAX.
void espl__slot_keys_sort(espl__slot_key **keys, espl__slot_key **spare, size_t count);

#endif

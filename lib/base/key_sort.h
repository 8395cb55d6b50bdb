// SPDX-License-Identifier: MIT
// Numbers sorted by a key of 32 bits. Callers: stage_order.c sorts commands by the caller's keys;
// batch_groups.c and partition_members.c sort entries and rows by slot, so that what is done with their
// nodes walks the pool in one direction: tree by tree, and in a tree parents before children.
#ifndef ESPALIER_LIB_BASE_KEY_SORT_H
#define ESPALIER_LIB_BASE_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

/// A number of the caller's, and the key that it is sorted by.
typedef struct espl__sort_key {
    uint32_t key, number;
} espl__sort_key;

/// Sort by key. Stable: items of one key keep their order. O(count).
/// @param items  [count] in and out. May be exchanged with `spare`, so that the caller reads the pointer
///          again afterwards.
/// @param spare  [count] scratch.
/// @param count  at most UINT32_MAX.
void espl__sort_by_key(espl__sort_key **items, espl__sort_key **spare, size_t count);

#endif

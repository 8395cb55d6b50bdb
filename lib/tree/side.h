// SPDX-License-Identifier: MIT
// What few hierarchies have: stretch and context, and kept parts with their inherit flags. One block
// beside the run, with an entry for each of its slots.
#ifndef ESPALIER_LIB_TREE_SIDE_H
#define ESPALIER_LIB_TREE_SIDE_H

#include "lib/base/prefetch.h"
#include "lib/base/heap.h"
#include "lib/math/inherit.h"

typedef struct espl__side {
    uint32_t capacity;    // slots
    uint32_t extra_count; // slots with an extra of their own other than the default
    uint32_t kept_count;  // slots with inherit flags
    uint32_t is_prepaid;  // stays while nothing needs it
    espl__kept *kept;     // [capacity] in this block; NULL: no slot has inherit flags
    espl__extra extra[];  // [capacity] its own, or the parent's where a slot copies that
} espl__side;

/// What changes come to of what a block counts, modulo 2^32.
typedef struct espl__side_counts {
    uint32_t extras, kept;
} espl__side_counts;

/// Add changes to what a block counts; where it is NULL they are none.
static inline void espl__side_count(espl__side *side, espl__side_counts changes)
{
    if (side != NULL) {
        side->extra_count += changes.extras;
        side->kept_count += changes.kept;
    }
}

/// Prefetch what a block has of a slot: its header, and what is at `at` of the arrays. NULL is left alone.
static inline void espl__side_ask(const espl__side *side, uint32_t capacity, uint32_t at)
{
    if (side != NULL) {
        // Where the second array is, if there is one, so that the header need not be read for it.
        const espl__kept *const kept = (const espl__kept *)(const void *)&side->extra[capacity];

        espl__prefetch_to_write(side);
        espl__prefetch_to_write(&side->extra[at]);
        espl__prefetch_to_write(&kept[at]);
    }
}

/// Make a block in which everything is the default; NULL where there is no memory.
espl__side *espl__side_make(espl__heap *heap, uint32_t capacity, bool keeps);
/// Bytes of a block; 0 for NULL.
size_t espl__side_bytes(const espl__side *side);
/// Give a block back; NULL is left alone.
void espl__side_free(espl__heap *heap, espl__side *side);

#endif

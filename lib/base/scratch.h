// SPDX-License-Identifier: MIT
// Scratch memory: one block that grows and is kept, in which arrays are reserved anew for each use.
#ifndef ESPALIER_LIB_BASE_SCRATCH_H
#define ESPALIER_LIB_BASE_SCRATCH_H

#include "lib/base/heap.h"

/// {0} has no memory. Not moved or freed but by the functions below.
typedef struct espl__scratch {
    void *block;
    size_t size; // bytes
} espl__scratch;

/// Make scratch memory at least that large. Its contents are lost if it grows.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY: it is unchanged then.
espl_status espl__scratch_grow(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                               size_t size);
/// Make scratch memory smaller. Its contents are lost. Does nothing where it is not larger than that, or where
/// there is no memory for a smaller block.
void espl__scratch_shrink(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                          size_t size);
/// Free scratch memory. Does nothing where there is none.
void espl__scratch_free(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch);

/// Reserve an array in a block.
/// @param block  NULL: there is no block yet, and the size of one is measured.
/// @param at  in and out: bytes used; SIZE_MAX where a size_t cannot count them, which no
///          allocator grants.
/// @param size  of an item, not 0.
/// @param alignment  a power of two.
/// @return where the array begins; NULL without a block.
static inline void *espl__carve(unsigned char *block, size_t *at, size_t count, size_t size,
                                size_t alignment)
{
    const size_t begin = (*at + alignment - 1) & ~(alignment - 1);

    // Counts are below 2^32: only a build for 32 bits meets this.
    if (begin < *at || count > (SIZE_MAX - begin) / size) { // GCOVR_EXCL_BR_LINE
        *at = SIZE_MAX;
        return NULL;
    }
    *at = begin + count * size;
    ESPL_CHECK((alignment & (alignment - 1)) == 0 && size != 0);
    return block != NULL ? block + begin : NULL;
}

#endif

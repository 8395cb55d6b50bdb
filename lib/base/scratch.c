// SPDX-License-Identifier: MIT
// The block of scratch memory.
#include "lib/base/scratch.h"

// Exchange the block for one of another size. @return false: no memory; it is unchanged.
static bool replace_block(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                          size_t size)
{
    void *const block = espl__heap_take(heap, purpose, 1, size, 64);

    if (block == NULL) {
        return false;
    }
    espl__scratch_free(heap, purpose, scratch);
    *scratch = (espl__scratch){block, size};
    return true;
}

espl_status espl__scratch_grow(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                               size_t size)
{
    return size <= scratch->size || replace_block(heap, purpose, scratch, size)
               ? ESPL_OK
               : ESPL_ERR_NO_MEMORY;
}

void espl__scratch_shrink(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                          size_t size)
{
    if (size < scratch->size) {
        (void)replace_block(heap, purpose, scratch, size);
    }
}

void espl__scratch_free(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch)
{
    espl__heap_give(heap, purpose, scratch->block, 1, scratch->size, 64);
    *scratch = (espl__scratch){NULL, 0};
}

// SPDX-License-Identifier: MIT
// The block of scratch memory.
#include "lib/base/scratch.h"

espl_status espl__scratch_grow(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch,
                               size_t size)
{
    if (size <= scratch->size) {
        return ESPL_OK;
    }
    void *const block = espl__heap_take(heap, purpose, 1, size, 64);

    if (block == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__scratch_free(heap, purpose, scratch);
    *scratch = (espl__scratch){block, size};
    return ESPL_OK;
}

void espl__scratch_free(espl__heap *heap, espl__purpose purpose, espl__scratch *scratch)
{
    espl__heap_give(heap, purpose, scratch->block, 1, scratch->size, 64);
    *scratch = (espl__scratch){NULL, 0};
}

// SPDX-License-Identifier: MIT
// Payload memory of one lane: the slow path, which takes blocks; see payloads.h.
#include "lib/commands/payloads.h"

_Static_assert((ESPL__PAYLOAD_UNIT << ESPL__PAYLOAD_FIRST_LOG) % ESPL__PAYLOAD_ALIGNMENT == 0,
               "a place that is aligned in a block is aligned in memory");

// Take the memory of a block. NULL: no memory.
static unsigned char *take_block(espl__heap *heap, uint32_t block)
{
    return espl__heap_take(heap, ESPL__FOR_RECORDING, espl__payload_places(block),
                           ESPL__PAYLOAD_UNIT, ESPL__PAYLOAD_ALIGNMENT);
}

espl_status espl__payloads_grow(espl__payloads *payloads, espl__heap *heap, uint64_t extent)
{
    // The block after the current one, or the first.
    uint32_t block =
        payloads->end == 0 ? 0 : espl__payload_block((uint32_t)(payloads->end - 1)) + 1;

    while (block < ESPL__PAYLOAD_BLOCKS && espl__payload_places(block) < extent) {
        block += 1;
    }
    // A place has 32 bits.
    if (block >= ESPL__PAYLOAD_BLOCKS) {
        return ESPL_ERR_LIMIT;
    }
    if (payloads->blocks[block] == NULL) {
        payloads->blocks[block] = take_block(heap, block);
    }
    if (payloads->blocks[block] == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    ESPL_CHECK(extent <= espl__payload_places(block));
    ESPL_CHECK((uintptr_t)payloads->blocks[block] % ESPL__PAYLOAD_ALIGNMENT == 0);
    payloads->next = espl__payload_begin(block);
    payloads->end = payloads->next + espl__payload_places(block);
    payloads->free = payloads->blocks[block];
    return ESPL_OK;
}

void espl__payloads_clear(espl__payloads *payloads)
{
    payloads->next = 0;
    payloads->end = payloads->blocks[0] != NULL ? espl__payload_places(0) : 0;
    payloads->free = payloads->blocks[0];
}

void espl__payloads_free(espl__payloads *payloads, espl__heap *heap)
{
    for (uint32_t block = 0; block < ESPL__PAYLOAD_BLOCKS; ++block) {
        espl__heap_give(heap, ESPL__FOR_RECORDING, payloads->blocks[block],
                        espl__payload_places(block), ESPL__PAYLOAD_UNIT, ESPL__PAYLOAD_ALIGNMENT);
        payloads->blocks[block] = NULL;
    }
    espl__payloads_clear(payloads);
}

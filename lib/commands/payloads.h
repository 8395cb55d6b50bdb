// SPDX-License-Identifier: MIT
// Payload memory of one lane: blocks that never move, each as large as all blocks before it
// together.
//
// Input: the size and alignment of a payload. Output: a place, 32 bits that determine its address.
// A place is a number of units; the places of a block follow those of the block before it.
//
// Invariants: a payload is contiguous in one block, so that the rest of a block may stay unused,
// and blocks that are too small for the payload are skipped; the address of a payload holds until
// the lane is freed. The blocks hold at most a few times what is used, and a lane without payloads
// takes no memory.
#ifndef ESPALIER_LIB_COMMANDS_PAYLOADS_H
#define ESPALIER_LIB_COMMANDS_PAYLOADS_H

#include "lib/base/bits.h"
#include "lib/base/heap.h"

enum {
    ESPL__PAYLOAD_UNIT = 8,        ///< bytes
    ESPL__PAYLOAD_FIRST_LOG = 7,   ///< of the units in the first two blocks
    ESPL__PAYLOAD_ALIGNMENT = 256, ///< of a block, so of a payload at most
    ESPL__PAYLOAD_BLOCKS = 32 - ESPL__PAYLOAD_FIRST_LOG + 1
};

typedef struct espl__payloads {
    uint64_t next;       // place that is free
    uint64_t end;        // of the block that has it; 0 before the first block
    unsigned char *free; // address of `next`; NULL before the first block
    unsigned char *blocks[ESPL__PAYLOAD_BLOCKS]; // NULL: not needed so far
} espl__payloads;

/// Number of the block with a place. The `or` gives all places of the first block one highest bit.
static inline uint32_t espl__payload_block(uint32_t place)
{
    const uint32_t in_first = (UINT32_C(1) << ESPL__PAYLOAD_FIRST_LOG) - 1;

    return espl__highest_bit(place | in_first) - (ESPL__PAYLOAD_FIRST_LOG - 1);
}

/// First place of a block.
static inline uint32_t espl__payload_begin(uint32_t block)
{
    return block == 0 ? 0 : UINT32_C(1) << (ESPL__PAYLOAD_FIRST_LOG + block - 1);
}

/// Places in a block: as many as before it.
static inline uint32_t espl__payload_places(uint32_t block)
{
    ESPL_CHECK_FULL(block < ESPL__PAYLOAD_BLOCKS);
    return UINT32_C(1) << (ESPL__PAYLOAD_FIRST_LOG + (block == 0 ? 0 : block - 1));
}

/// Address of a place. The place was used: that of an empty payload has no address.
static inline unsigned char *espl__payload_at(unsigned char *const *blocks, uint32_t place)
{
    if (place < UINT32_C(1) << ESPL__PAYLOAD_FIRST_LOG) {
        return blocks[0] + (size_t)place * ESPL__PAYLOAD_UNIT;
    }
    // Each other block begins at a power of two.
    const uint32_t top = espl__highest_bit(place);

    return blocks[top - (ESPL__PAYLOAD_FIRST_LOG - 1)] +
           (size_t)(place ^ UINT32_C(1) << top) * ESPL__PAYLOAD_UNIT;
}

/// Places that a payload takes.
static inline uint64_t espl__payload_extent(size_t size)
{
    return (uint64_t)size / ESPL__PAYLOAD_UNIT + (size % ESPL__PAYLOAD_UNIT != 0 ? 1 : 0);
}

/// First place from `next` on that is aligned. @param alignment  0 or a power of two.
static inline uint64_t espl__payload_aligned(uint64_t next, size_t alignment)
{
    const uint64_t step = alignment > ESPL__PAYLOAD_UNIT ? alignment / ESPL__PAYLOAD_UNIT : 1;

    return (next + step - 1) & ~(step - 1);
}

/// Step to the next block with so many places, and take its memory if it has none.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__payloads_grow(espl__payloads *payloads, espl__heap *heap, uint64_t extent);

/// Find room for a payload. Valid until espl__payloads_use() or the next search.
///
/// @param size       0 needs no memory.
/// @param alignment  0 or a power of two, at most ESPL__PAYLOAD_ALIGNMENT.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
static inline espl_status espl__payloads_find(espl__payloads *payloads, espl__heap *heap,
                                              size_t size, size_t alignment, uint32_t *place)
{
    const uint64_t extent = espl__payload_extent(size);
    uint64_t at = espl__payload_aligned(payloads->next, alignment);

    if (extent != 0 && at + extent > payloads->end) {
        const espl_status status = espl__payloads_grow(payloads, heap, extent);

        if (status != ESPL_OK) {
            return status;
        }
        at = payloads->next;
    }
    ESPL_CHECK_FULL(extent == 0 || at + extent <= payloads->end);
    *place = extent != 0 ? (uint32_t)at : 0;
    return ESPL_OK;
}

/// Use the room that was found. @return its address; NULL for a size of 0.
static inline unsigned char *espl__payloads_use(espl__payloads *payloads, uint32_t place,
                                                size_t size)
{
    if (size == 0) {
        return NULL;
    }
    ESPL_CHECK_FULL(place >= payloads->next && payloads->free != NULL);
    const uint64_t extent = espl__payload_extent(size);
    unsigned char *const found =
        payloads->free + (size_t)(place - payloads->next) * ESPL__PAYLOAD_UNIT;

    payloads->next = place + extent;
    payloads->free = found + (size_t)extent * ESPL__PAYLOAD_UNIT;
    return found;
}

/// Remove all payloads and keep the memory.
void espl__payloads_clear(espl__payloads *payloads);
void espl__payloads_free(espl__payloads *payloads, espl__heap *heap);

#endif

// SPDX-License-Identifier: MIT
// Scratch memory that is given back all at once. After a reset the next round finds one block as
// large as the last round needed in all, as long as rounds stay alike; a much larger round than
// the usual ones does not keep its memory.
#ifndef ESPALIER_LIB_BASE_ARENA_H
#define ESPALIER_LIB_BASE_ARENA_H

#include "lib/base/heap.h"

typedef struct espl__arena_block {
    struct espl__arena_block *next;
    size_t size, used; // bytes, this header included
} espl__arena_block;

typedef struct espl__arena {
    espl__heap *heap;
    espl__purpose purpose;
    espl__arena_block *blocks; // the first serves
    size_t round;              // bytes asked for since the reset
    size_t usual;              // smoothed over rounds
} espl__arena;

void espl__arena_init(espl__arena *arena, espl__heap *heap, espl__purpose purpose);
/// As espl__arena_take(), which leaves to it what does not fit into the first block.
void *espl__arena_take_more(espl__arena *arena, size_t count, size_t size);

enum { ESPL__ARENA_ALIGNMENT = 64 };

/// Return count * size bytes aligned to 64, not cleared; NULL where there is no memory. Asking for
/// nothing gives a valid pointer.
static inline void *espl__arena_take(espl__arena *arena, size_t count, size_t size)
{
    espl__arena_block *const block = arena->blocks;
    const size_t mask = ESPL__ARENA_ALIGNMENT - 1;

    // Products of such numbers do not overflow.
    if (block != NULL && count < SIZE_MAX >> 16 && size < 1 << 15) {
        const size_t bytes = (count * size + mask) & ~mask;

        if (bytes <= block->size - block->used) {
            void *const taken = (unsigned char *)block + block->used;

            block->used += bytes;
            arena->round += bytes;
            return taken;
        }
    }
    return espl__arena_take_more(arena, count, size);
}

/// The same, all zero.
void *espl__arena_take_zeroed(espl__arena *arena, size_t count, size_t size);
/// Everything taken is gone.
void espl__arena_reset(espl__arena *arena);
/// Bytes taken from the heap.
size_t espl__arena_bytes(const espl__arena *arena);
/// Give all memory back; the arena is as good as new.
void espl__arena_free(espl__arena *arena);

#endif

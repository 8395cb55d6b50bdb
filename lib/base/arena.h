// SPDX-License-Identifier: MIT
// Scratch memory of a round, which is freed as a whole. A reset leaves one block that holds all of
// the last round, so that rounds of like size allocate nothing. The memory of a round that is much
// larger than usual is given back.
#ifndef ESPALIER_LIB_BASE_ARENA_H
#define ESPALIER_LIB_BASE_ARENA_H

#include "lib/base/heap.h"

typedef struct espl__arena_block {
    struct espl__arena_block *next;
    size_t size; // bytes, this header included
} espl__arena_block;

typedef struct espl__arena {
    unsigned char *next, *end; // what is free of the newest block; both NULL: there is no block
    espl__arena_block *blocks; // newest first
    espl__heap *heap;
    espl__purpose purpose;
    size_t earlier; // bytes taken since the last reset of all blocks but the newest
    size_t usual;   // moving average of the bytes of a round
} espl__arena;

/// Set up an arena without memory.
void espl__arena_init(espl__arena *arena, espl__heap *heap, espl__purpose purpose);
/// The slow path of espl__arena_take(), for what does not fit the newest block or fills it.
void *espl__arena_take_more(espl__arena *arena, size_t count, size_t size);

/// The alignment of each piece in bytes: a cache line, so that workers do not share one.
enum { ESPL__ARENA_ALIGNMENT = 64 };

/// Take count * size bytes, which are not cleared. A size of zero gives a valid pointer.
/// @return NULL where there is no memory.
static inline void *espl__arena_take(espl__arena *arena, size_t count, size_t size)
{
    const size_t mask = ESPL__ARENA_ALIGNMENT - 1;

    // The product of two numbers below these bounds does not overflow.
    if (count < SIZE_MAX >> 16 && size < 1 << 15) {
        const size_t bytes = (count * size + mask) & ~mask;

        // Less than what is free, so that one compare finds the arena without a block, too.
        if (bytes < (size_t)(arena->end - arena->next)) {
            void *const taken = arena->next;

            ESPL_CHECK(((uintptr_t)taken & mask) == 0);
            arena->next += bytes;
            return taken;
        }
    }
    return espl__arena_take_more(arena, count, size);
}

/// Take count * size bytes, which are set to zero. @return NULL where there is no memory.
void *espl__arena_take_zeroed(espl__arena *arena, size_t count, size_t size);
/// End a round: all pieces are invalid afterwards.
void espl__arena_reset(espl__arena *arena);
/// Return the bytes taken since the last reset.
size_t espl__arena_taken(const espl__arena *arena);
/// Return the bytes that the arena holds of its heap.
size_t espl__arena_bytes(const espl__arena *arena);
/// Free all memory. The arena may be used again.
void espl__arena_free(espl__arena *arena);

#endif

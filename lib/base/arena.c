// SPDX-License-Identifier: MIT
#include "lib/base/arena.h"

#include <string.h>

enum { ALIGNMENT = ESPL__ARENA_ALIGNMENT, FIRST_SIZE = 16 * 1024, TINY_SIZE = 4 * 1024, KEPT_FACTOR = 4 };

_Static_assert(sizeof(espl__arena_block) <= ALIGNMENT, "the header fits one line");

void espl__arena_init(espl__arena *arena, espl__heap *heap, espl__purpose purpose)
{
    *arena = (espl__arena){.heap = heap, .purpose = purpose};
}

static void free_block(espl__arena *arena, espl__arena_block *block)
{
    espl__heap_give(arena->heap, arena->purpose, block, 1, block->size, ALIGNMENT);
}

static bool add_block(espl__arena *arena, size_t size)
{
    espl__arena_block *const block =
        espl__heap_take(arena->heap, arena->purpose, 1, size, ALIGNMENT);

    if (block == NULL) {
        return false;
    }
    *block = (espl__arena_block){arena->blocks, size, ALIGNMENT};
    arena->blocks = block;
    return true;
}

// Each block is as large as all before it together, so that a long round takes few.
static size_t usual_block(const espl__arena *arena)
{
    return arena->round > FIRST_SIZE ? arena->round : FIRST_SIZE;
}

void *espl__arena_take_more(espl__arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;

    if (!espl__size_multiply(&bytes, count, size) ||
        !espl__size_add(&bytes, bytes, ALIGNMENT - 1)) {
        return NULL;
    }
    bytes &= ~(size_t)(ALIGNMENT - 1);
    if (arena->blocks == NULL || arena->blocks->size - arena->blocks->used < bytes) {
        const size_t whole = bytes + ALIGNMENT;

        if (whole < bytes ||
            !add_block(arena, whole > usual_block(arena) ? whole : usual_block(arena))) {
            return NULL;
        }
    }

    unsigned char *const taken = (unsigned char *)arena->blocks + arena->blocks->used;
    arena->blocks->used += bytes;
    arena->round += bytes;
    return taken;
}

void *espl__arena_take_zeroed(espl__arena *arena, size_t count, size_t size)
{
    void *const taken = espl__arena_take(arena, count, size);

    if (taken != NULL && count != 0) {
        memset(taken, 0, count * size);
    }
    return taken;
}

void espl__arena_reset(espl__arena *arena)
{
    const size_t round = arena->round + ALIGNMENT;

    // A tiny round says nothing about the usual ones.
    if (round <= TINY_SIZE && arena->blocks != NULL && arena->blocks->next == NULL &&
        arena->blocks->size / KEPT_FACTOR <= arena->usual) {
        arena->blocks->used = ALIGNMENT;
        arena->round = 0;
        return;
    }
    const bool is_usual = round <= KEPT_FACTOR * arena->usual;
    const size_t kept = is_usual && round > FIRST_SIZE ? round : FIRST_SIZE;
    const size_t spare = kept > FIRST_SIZE ? kept / 4 : 0;

    arena->usual = (3 * arena->usual + round + 3) / 4;
    arena->round = 0;
    // One block, in which the whole round stood, stays unless it is far too large; anything else makes
    // room for one that fits a little more: rounds that are alike are not equal.
    if (arena->blocks != NULL && arena->blocks->next == NULL &&
        arena->blocks->size / KEPT_FACTOR <= kept) {
        ESPL_CHECK(arena->blocks->size >= kept);
        arena->blocks->used = ALIGNMENT;
        return;
    }
    const bool had_blocks = arena->blocks != NULL;
    while (arena->blocks != NULL) {
        espl__arena_block *const block = arena->blocks;

        arena->blocks = block->next;
        free_block(arena, block);
    }
    if (had_blocks) {
        (void)add_block(arena, kept + spare); // without it the next round takes what it needs
    }
}

size_t espl__arena_bytes(const espl__arena *arena)
{
    size_t bytes = 0;

    for (const espl__arena_block *block = arena->blocks; block != NULL; block = block->next) {
        bytes += block->size;
    }
    return bytes;
}

void espl__arena_free(espl__arena *arena)
{
    arena->round = arena->usual = 0;
    while (arena->blocks != NULL) {
        espl__arena_block *const block = arena->blocks;

        arena->blocks = block->next;
        free_block(arena, block);
    }
}

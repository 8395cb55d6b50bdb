// SPDX-License-Identifier: MIT
// The slow paths of an arena: blocks come when a round outgrows the newest one, and a reset chooses
// the block for the next round.
#include "lib/base/arena.h"

#include <string.h>

enum { ALIGNMENT = ESPL__ARENA_ALIGNMENT };
// Bytes of the smallest block.
enum { FIRST_SIZE = 4 * 1024 };
// A round of at most this many bytes does not count towards the usual size.
enum { TINY_SIZE = 4 * 1024 };
// A block is kept while it is at most this many times as large as a round needs.
enum { KEPT_FACTOR = 4 };

_Static_assert(sizeof(espl__arena_block) <= ALIGNMENT, "the header fits one line");

void espl__arena_init(espl__arena *arena, espl__heap *heap, espl__purpose purpose)
{
    ESPL_CHECK(heap != NULL);
    *arena = (espl__arena){.heap = heap, .purpose = purpose};
}

// Where the pieces of a block begin.
static unsigned char *begin_of_block(espl__arena_block *block)
{
    return (unsigned char *)block + ALIGNMENT;
}

size_t espl__arena_taken(const espl__arena *arena)
{
    const size_t newest =
        arena->blocks == NULL ? 0 : (size_t)(arena->next - begin_of_block(arena->blocks));

    return arena->earlier + newest;
}

// Make all of the newest block free.
static void empty_newest(espl__arena *arena)
{
    arena->next = begin_of_block(arena->blocks);
    arena->end = (unsigned char *)arena->blocks + arena->blocks->size;
}

// Push a block of `size` bytes, header included. Returns false where there is no memory.
static bool add_block(espl__arena *arena, size_t size)
{
    ESPL_CHECK(size > ALIGNMENT);
    espl__arena_block *const block =
        espl__heap_take(arena->heap, arena->purpose, 1, size, ALIGNMENT);

    if (block == NULL) {
        return false;
    }
    arena->earlier = espl__arena_taken(arena);
    *block = (espl__arena_block){arena->blocks, size};
    arena->blocks = block;
    empty_newest(arena);
    return true;
}

static void free_blocks(espl__arena *arena)
{
    while (arena->blocks != NULL) {
        espl__arena_block *const block = arena->blocks;

        arena->blocks = block->next;
        espl__heap_give(arena->heap, arena->purpose, block, 1, block->size, ALIGNMENT);
    }
    arena->next = arena->end = NULL;
    arena->earlier = 0;
}

// The rest of the newest block is lost when a larger block is pushed, because only the newest one
// is searched. It is found again after the reset, when one block holds a whole round.
void *espl__arena_take_more(espl__arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;

    if (!espl__size_multiply(&bytes, count, size) ||
        !espl__size_add(&bytes, bytes, ALIGNMENT - 1)) {
        return NULL;
    }
    bytes &= ~(size_t)(ALIGNMENT - 1);
    if (arena->blocks == NULL || (size_t)(arena->end - arena->next) < bytes) {
        const size_t whole = bytes + ALIGNMENT;
        // A block holds as much as the round took so far, so that the number of blocks grows
        // logarithmically.
        const size_t taken = espl__arena_taken(arena);
        const size_t usual = taken > FIRST_SIZE ? taken : FIRST_SIZE;

        if (whole < bytes || !add_block(arena, whole > usual ? whole : usual)) {
            return NULL;
        }
    }

    ESPL_CHECK(bytes <= (size_t)(arena->end - arena->next));
    unsigned char *const piece = arena->next;

    arena->next += bytes;
    return piece;
}

void *espl__arena_take_zeroed(espl__arena *arena, size_t count, size_t size)
{
    void *const taken = espl__arena_take(arena, count, size);

    if (taken != NULL && count != 0) {
        memset(taken, 0, count * size);
    }
    return taken;
}

// Choose the memory of the next round. `usual` follows the rounds slowly, so that one exceptional
// round does not change it much: after it the arena goes back to a small block.
void espl__arena_reset(espl__arena *arena)
{
    const size_t round = espl__arena_taken(arena) + ALIGNMENT;

    // A tiny round changes nothing, because it says nothing about the usual size.
    if (round <= TINY_SIZE && arena->blocks != NULL && arena->blocks->next == NULL &&
        arena->blocks->size / KEPT_FACTOR <= arena->usual) {
        empty_newest(arena);
        return;
    }
    const bool is_usual = round <= KEPT_FACTOR * arena->usual;
    const size_t kept = is_usual && round > FIRST_SIZE ? round : FIRST_SIZE;

    arena->usual = (3 * arena->usual + round + 3) / 4;
    // A single block held the whole round, so it serves the next round unless it is far too large.
    if (arena->blocks != NULL && arena->blocks->next == NULL &&
        arena->blocks->size / KEPT_FACTOR <= kept) {
        ESPL_CHECK(arena->blocks->size >= kept);
        empty_newest(arena);
        return;
    }
    const bool had_blocks = arena->blocks != NULL;

    free_blocks(arena);
    if (had_blocks) {
        // A quarter is spare, because rounds of like size differ a little.
        const size_t spare = kept > FIRST_SIZE ? kept / 4 : 0;

        // A failure is harmless: the next round allocates what it needs.
        (void)add_block(arena, kept + spare);
    }
}

size_t espl__arena_bytes(const espl__arena *arena)
{
    size_t bytes = 0;

    for (const espl__arena_block *block = arena->blocks; block != NULL; block = block->next) {
        bytes += block->size;
    }
    ESPL_CHECK(bytes >= espl__arena_taken(arena));
    return bytes;
}

void espl__arena_free(espl__arena *arena)
{
    free_blocks(arena);
    arena->usual = 0;
}

// SPDX-License-Identifier: MIT
// The pools of blocks.h.
#include "lib/renderables/blocks.h"

#include "lib/base/array.h"

enum {
    BLOCK_LINE = 64,  // alignment of blocks: a cache line
    LEAST_BLOCKS = 4, // of a slab
};

static uint32_t stride_of(espl__block_kind kind)
{
    static const uint32_t sizes[ESPL__BLOCK_KINDS] = {
        [ESPL__BLOCK_VALUES] = sizeof(espl__values),
        [ESPL__BLOCK_POSES] = sizeof(espl__poses),
        [ESPL__BLOCK_STRETCHES] = sizeof(espl__stretches),
        [ESPL__BLOCK_CELLS] = sizeof(espl__member_cells),
    };
    const uint32_t lines = sizes[kind] / BLOCK_LINE;

    return (lines % 2 == 0 ? lines + 1 : lines) * BLOCK_LINE;
}

// The largest number of blocks of a slab.
static uint32_t most_blocks(const espl__block_pool *pool)
{
    return ESPL__SLAB_BYTES / pool->stride;
}

// A slab with the most blocks is a whole huge page, which the allocator then maps as one.
static size_t slab_bytes(const espl__block_pool *pool, uint32_t count)
{
    return count == most_blocks(pool) ? ESPL__SLAB_BYTES : (size_t)count * pool->stride;
}

void espl__blocks_init(espl__block_pool *pool, espl__block_kind kind)
{
    *pool = (espl__block_pool){.kind = kind, .stride = stride_of(kind)};
    ESPL_CHECK(most_blocks(pool) >= LEAST_BLOCKS);
}

static void free_slab(espl__heap *heap, espl__block_pool *pool, espl__slab *slab)
{
    if (slab->memory != NULL) {
        pool->count -= slab->count;
        espl__heap_give(heap, ESPL__FOR_CHANGES, slab->memory, 1, slab_bytes(pool, slab->count),
                        BLOCK_LINE);
        *slab = (espl__slab){NULL, 0, 0};
    }
}

void espl__blocks_free(espl__heap *heap, espl__block_pool *pool)
{
    const size_t slabs = espl__array_length(pool->slabs);

    for (size_t i = 0; i < slabs; ++i) {
        free_slab(heap, pool, &pool->slabs[i]);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, pool->slabs);
    espl__blocks_init(pool, pool->kind);
}

// --- Slabs ---

// Return the number of an entry of the list of slabs without memory, or the number of entries.
static size_t find_freed_slab(const espl__block_pool *pool)
{
    const size_t slabs = espl__array_length(pool->slabs);
    size_t i = 0;

    while (i < slabs && pool->slabs[i].memory != NULL) {
        i += 1;
    }
    return i;
}

// Blocks are listed from the last one on, so that they are taken in the order of their addresses.
static void list_blocks(espl__block_pool *pool, size_t slab)
{
    const espl__slab *const s = &pool->slabs[slab];

    for (uint32_t i = s->count; i != 0; --i) {
        espl__block *const block =
            (espl__block *)(void *)(s->memory + (size_t)(i - 1) * pool->stride);

        *block =
            (espl__block){.next = pool->free, .kind = (uint32_t)pool->kind, .slab = (uint32_t)slab};
        pool->free = block;
    }
    pool->count += s->count;
    pool->free_count += s->count;
}

// @return false: no memory.
static bool add_slab(espl__heap *heap, espl__block_pool *pool, uint32_t count)
{
    const size_t at = find_freed_slab(pool);

    if (at == espl__array_length(pool->slabs) &&
        !ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, pool->slabs, 1)) {
        return false;
    }
    unsigned char *const memory =
        espl__heap_take(heap, ESPL__FOR_CHANGES, 1, slab_bytes(pool, count), BLOCK_LINE);

    if (memory == NULL) {
        return false;
    }
    if (at == espl__array_length(pool->slabs)) {
        ESPL_ARRAY_PUSH(pool->slabs, ((espl__slab){NULL, 0, 0}));
    }
    pool->slabs[at] = (espl__slab){.memory = memory, .count = count};
    list_blocks(pool, at);
    return true;
}

// Slabs grow with the pool, so that a small world has small ones.
bool espl__blocks_reserve(espl__heap *heap, espl__block_pool *pool, uint32_t count)
{
    const uint32_t most = most_blocks(pool);

    while (pool->free_count < count) {
        const uint32_t missing = count - pool->free_count;
        uint32_t blocks = pool->count / 2 > LEAST_BLOCKS ? pool->count / 2 : LEAST_BLOCKS;

        blocks = blocks > missing ? blocks : missing;
        if (!add_slab(heap, pool, blocks < most ? blocks : most)) {
            return false;
        }
    }
    return true;
}

// --- Blocks ---

espl__block *espl__blocks_take(espl__block_pool *pool, uint64_t number)
{
    espl__block *const block = pool->free;

    ESPL_CHECK(pool->free_count != 0 && number != 0);
    ESPL_CHECK(block->made == 0 && pool->slabs[block->slab].used < pool->slabs[block->slab].count);
    pool->free = block->next;
    pool->free_count -= 1;
    pool->slabs[block->slab].used += 1;
    block->next = NULL;
    block->made = number;
    block->dropped = 0;
    return block;
}

void espl__blocks_give(espl__block_pool *pool, espl__block *block)
{
    ESPL_CHECK(block->made != 0 && block->kind == (uint32_t)pool->kind);
    ESPL_CHECK(pool->slabs[block->slab].used != 0);
    block->made = 0;
    block->next = pool->free;
    pool->free = block;
    pool->free_count += 1;
    pool->slabs[block->slab].used -= 1;
}

// --- Trim ---

// Take the blocks of slabs that are to be freed off the list, which keeps its order.
static void unlist_unused(espl__block_pool *pool)
{
    espl__block **at = &pool->free;

    while (*at != NULL) {
        if (pool->slabs[(*at)->slab].used == 0) {
            *at = (*at)->next;
            pool->free_count -= 1;
        } else {
            at = &(*at)->next;
        }
    }
}

bool espl__blocks_trim(espl__heap *heap, espl__block_pool *pool)
{
    size_t length = 0;

    unlist_unused(pool);
    for (size_t i = 0; i < espl__array_length(pool->slabs); ++i) {
        if (pool->slabs[i].used == 0) {
            free_slab(heap, pool, &pool->slabs[i]);
        } else {
            length = i + 1;
        }
    }
    espl__array_set_length(pool->slabs, length);
    return ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, pool->slabs, length);
}

size_t espl__blocks_bytes(const espl__block_pool *pool)
{
    size_t bytes = ESPL_ARRAY_BYTES(pool->slabs);

    for (size_t i = 0; i < espl__array_length(pool->slabs); ++i) {
        const espl__slab *const slab = &pool->slabs[i];

        bytes += slab->memory != NULL ? slab_bytes(pool, slab->count) : 0;
    }
    return bytes;
}

const char *espl__blocks_broken_rule(const espl__block_pool *pool)
{
    uint32_t count = 0, used = 0, free_count = 0;

    for (size_t i = 0; i < espl__array_length(pool->slabs); ++i) {
        count += pool->slabs[i].count;
        used += pool->slabs[i].used;
    }
    for (const espl__block *block = pool->free; block != NULL; block = block->next) {
        free_count += 1;
        if (block->made != 0 || free_count > pool->count) {
            return "a free block is listed once, and made by no update";
        }
    }
    return count != pool->count || free_count != pool->free_count || used + free_count != count
               ? "a pool counts its blocks and its free blocks"
               : NULL;
}

// SPDX-License-Identifier: MIT
// The planes of plane.h. Stamps are an array of their own behind the moments of the blocks, because a
// pass over the blocks reads a hundredth of the memory of a pass over the items' data.
#include "lib/base/plane.h"

#include <string.h>

enum { ALIGNMENT_OF_PLANE = 64 }; // a cache line

_Static_assert(ESPL_PLANE_AGE > 0 && ESPL_PLANE_AGE <= 16384,
               "twice the age and more fit a stamp, so that none comes round");

// --- Marks ---

void espl__plane_mark_range(const espl__plane *plane, uint32_t begin, uint32_t end)
{
    enum { WORD = 4 }; // stamps of one store
    const uint16_t stamp = (uint16_t)plane->moment;
    uint16_t *const stamps = plane->stamps;
    uint16_t word[WORD];
    uint32_t item = begin;

    if (begin == end) {
        return;
    }
    ESPL_CHECK(begin < end && end <= plane->capacity);
    for (int i = 0; i < WORD; ++i) {
        word[i] = stamp;
    }
    for (; end - item >= WORD; item += WORD) {
        memcpy(&stamps[item], word, sizeof word);
    }
    for (; item < end; ++item) {
        stamps[item] = stamp;
    }
    for (uint32_t block = begin / ESPL__PLANE_BLOCK; block <= (end - 1) / ESPL__PLANE_BLOCK;
         ++block) {
        espl__plane_mark_block(plane, block);
    }
}

// --- Questions ---

uint32_t espl__plane_next(const espl__plane *plane, uint32_t block, uint32_t blocks, uint32_t since)
{
    enum { GROUP = 8 };
    ESPL_CHECK(blocks <= plane->capacity / ESPL__PLANE_BLOCK);

    // Groups first, because a branch for each block would cost more than its comparison.
    while (blocks - block >= GROUP && block < blocks) {
        unsigned changed = 0;

        for (uint32_t i = 0; i < GROUP; ++i) {
            changed |= espl__plane_block_changed(plane, block + i, since) ? 1u : 0u;
        }
        if (changed != 0) {
            break;
        }
        block += GROUP;
    }
    while (block < blocks && !espl__plane_block_changed(plane, block, since)) {
        block += 1;
    }
    return block;
}

uint64_t espl__plane_changed(const espl__plane *plane, uint32_t block, uint32_t since)
{
    const uint16_t *const stamps = &plane->stamps[(size_t)block * ESPL__PLANE_BLOCK];
    const uint16_t now = (uint16_t)plane->moment;
    const uint32_t least = plane->moment - since; // an item that is younger changed since
    uint64_t changed = 0;

    ESPL_CHECK(block < plane->capacity / ESPL__PLANE_BLOCK);
    if (!espl__plane_block_changed(plane, block, since)) {
        return 0;
    }
    if (espl__plane_is_coarse(plane, since)) {
        return UINT64_MAX;
    }
    for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
        const uint16_t age = (uint16_t)(now - stamps[i]);

        changed |= (uint64_t)(age < least ? 1 : 0) << i;
    }
    return changed;
}

bool espl__plane_has_changed(const espl__plane *plane, uint32_t item, uint32_t since)
{
    const uint32_t age = (uint16_t)((uint16_t)plane->moment - plane->stamps[item]);

    ESPL_CHECK(item < plane->capacity);
    return espl__plane_block_changed(plane, item / ESPL__PLANE_BLOCK, since) &&
           (espl__plane_is_coarse(plane, since) || age < plane->moment - since);
}

// --- Memory ---

// Return the blocks of a capacity.
static size_t blocks_of(uint32_t capacity)
{
    return ((size_t)capacity + ESPL__PLANE_BLOCK - 1) / ESPL__PLANE_BLOCK;
}

// Return the offset of the stamps in the memory of so many blocks: behind the moments.
static size_t stamps_at(size_t blocks)
{
    return (blocks * sizeof(uint32_t) + ALIGNMENT_OF_PLANE - 1) & ~(size_t)(ALIGNMENT_OF_PLANE - 1);
}

// Return the bytes of that memory. Never 0, because the address says that there is a plane.
static size_t size_of(size_t blocks)
{
    return stamps_at(blocks) + ALIGNMENT_OF_PLANE + blocks * ESPL__PLANE_BLOCK * sizeof(uint16_t);
}

size_t espl__plane_bytes(const espl__plane *plane)
{
    return espl__plane_is_open(plane) ? size_of(plane->capacity / ESPL__PLANE_BLOCK) : 0;
}

bool espl__plane_make(espl__heap *heap, espl__purpose purpose, espl__plane *plane,
                      uint32_t capacity, const espl__plane *from, uint32_t count)
{
    const size_t blocks = blocks_of(capacity), size = size_of(blocks);
    const size_t kept = espl__plane_is_open(from) ? blocks_of(count) : 0;
    unsigned char *const memory = espl__heap_take(heap, purpose, 1, size, ALIGNMENT_OF_PLANE);
    const uint32_t old = from->moment - ESPL_PLANE_AGE;

    ESPL_CHECK(count <= capacity && kept <= blocks);
    if (memory == NULL) {
        return false;
    }
    *plane = (espl__plane){.stamps = (uint16_t *)(void *)(memory + stamps_at(blocks)),
                           .blocks = (_Atomic uint32_t *)(void *)memory,
                           .capacity = (uint32_t)(blocks * ESPL__PLANE_BLOCK),
                           .moment = from->moment};
    for (size_t block = 0; block < blocks; ++block) {
        const uint32_t moment =
            block < kept ? atomic_load_explicit(&from->blocks[block], memory_order_relaxed) : old;

        atomic_store_explicit(&plane->blocks[block], moment, memory_order_relaxed);
    }
    for (size_t i = 0; i < blocks * ESPL__PLANE_BLOCK; ++i) {
        plane->stamps[i] = i < kept * ESPL__PLANE_BLOCK ? from->stamps[i] : (uint16_t)old;
    }
    return true;
}

void espl__plane_free(espl__heap *heap, espl__purpose purpose, espl__plane *plane)
{
    if (espl__plane_is_open(plane)) {
        const size_t blocks = plane->capacity / ESPL__PLANE_BLOCK;

        espl__heap_give(heap, purpose, (unsigned char *)plane->stamps - stamps_at(blocks), 1,
                        size_of(blocks), ALIGNMENT_OF_PLANE);
    }
    *plane = (espl__plane){.moment = plane->moment};
}

// --- Moments ---

// Blocks wrap only after 2^31 moments. They are clamped to a far greater age than stamps, because a
// consumer that did not look for long still learns which blocks stayed the same.
static void clamp(const espl__plane *plane)
{
    const uint16_t now = (uint16_t)plane->moment;

    for (uint32_t item = 0; item < plane->capacity; ++item) {
        const uint16_t age = (uint16_t)(now - plane->stamps[item]);

        plane->stamps[item] =
            age > ESPL_PLANE_AGE ? (uint16_t)(now - ESPL_PLANE_AGE) : plane->stamps[item];
    }
    for (size_t block = 0; block < plane->capacity / ESPL__PLANE_BLOCK; ++block) {
        const uint32_t moment = atomic_load_explicit(&plane->blocks[block], memory_order_relaxed);

        if (plane->moment - moment > ESPL__PLANE_FAR) {
            atomic_store_explicit(&plane->blocks[block], plane->moment - ESPL__PLANE_FAR,
                                  memory_order_relaxed);
        }
    }
}

void espl__plane_set_moment(espl__plane *plane, uint32_t moment)
{
    const bool is_due = moment / ESPL_PLANE_AGE != plane->moment / ESPL_PLANE_AGE;

    plane->moment = moment;
    if (is_due && espl__plane_is_open(plane)) {
        clamp(plane);
    }
}

// Between two clamps a stamp gets at most twice the greatest age. Stamps of the greatest age and more may
// be clamped ones, of which the block tells the true age.
const char *espl__plane_broken_rule(const espl__plane *plane, uint32_t *item)
{
    for (uint32_t i = 0; espl__plane_is_open(plane) && i < plane->capacity; ++i) {
        const uint32_t age = (uint16_t)((uint16_t)plane->moment - plane->stamps[i]);
        const uint32_t block =
            plane->moment -
            atomic_load_explicit(&plane->blocks[i / ESPL__PLANE_BLOCK], memory_order_relaxed);

        *item = i;
        if (age > 2 * ESPL_PLANE_AGE || block > ESPL__PLANE_FAR + 2 * ESPL_PLANE_AGE) {
            return "no stamp is newer than the moment";
        }
        if (age < ESPL_PLANE_AGE && age < block) {
            return "a block is not older than its stamps";
        }
    }
    return NULL;
}

// SPDX-License-Identifier: MIT
// The planes of plane.h. Stamps are an array of their own behind the moments of the blocks, because a
// pass over the blocks reads a hundredth of the memory of a pass over the items' data.
#include "lib/base/plane.h"

#include "lib/base/bits.h"

#include <string.h>

#if ESPL__HAS_SSE2
#include <emmintrin.h>
#endif

enum {
    ALIGNMENT_OF_PLANE = 64, // a cache line
    GROUP_OF_BLOCKS = 32,    // blocks that one step of a search looks at
};

_Static_assert(ESPL__PLANE_AGE > 0 && ESPL__PLANE_AGE <= 16384,
               "twice the age and more fit a stamp, so that none wraps");

// --- Marks ---

// Eight equal stamps, to be stored as bytes.
#if ESPL__HAS_SSE2
typedef __m128i stamps_of_8;

ESPL__INLINE stamps_of_8 repeat_stamp(uint16_t stamp)
{
    return _mm_set1_epi16((int16_t)stamp);
}
#else
typedef struct stamps_of_8 {
    uint64_t halves[2];
} stamps_of_8;

ESPL__INLINE stamps_of_8 repeat_stamp(uint16_t stamp)
{
    const uint64_t half = stamp * UINT64_C(0x0001000100010001);

    return (stamps_of_8){{half, half}};
}
#endif

// Store the stamp of 8 items or more, 8 at a time. Stores overlap at the end. The first two and the last two
// are outside of the loop, so that a range of up to 32 items, as most small trees are, has none.
ESPL__INLINE void store_stamps(uint16_t *begin, uint16_t *end, uint16_t stamp)
{
    enum { GROUP = 8 };
    const stamps_of_8 stamps = repeat_stamp(stamp);

    memcpy(begin, &stamps, sizeof stamps);
    memcpy(end - GROUP, &stamps, sizeof stamps);
    if (end - begin <= 2 * GROUP) {
        return;
    }
    memcpy(begin + GROUP, &stamps, sizeof stamps);
    memcpy(end - 2 * GROUP, &stamps, sizeof stamps);
    for (uint16_t *at = begin + 2 * GROUP; at < end - 2 * GROUP; at += GROUP) {
        memcpy(at, &stamps, sizeof stamps);
    }
}

// What is read of the plane is in locals, because the compiler must assume that a store changes the plane.
void espl__plane_mark_range(const espl__plane *plane, uint32_t begin, uint32_t end)
{
    enum { WORD = 4, WORDS = 8 }; // stamps
    const espl__plane at = {.blocks = plane->blocks, .moment = plane->moment};
    const uint32_t count = end - begin, last = (end - 1) / ESPL__PLANE_BLOCK;
    uint16_t *const stamps = plane->stamps + begin;
    uint32_t block = begin / ESPL__PLANE_BLOCK;

    ESPL_CHECK(begin <= end && end <= plane->capacity);
    if (count == 0) {
        return;
    }
    espl__plane_mark_block(&at, block);
    while (block != last) {
        block += 1;
        espl__plane_mark_block(&at, block);
    }
    if (count >= WORDS) {
        store_stamps(stamps, stamps + count, (uint16_t)at.moment);
    } else if (count >= WORD) {
        const stamps_of_8 word = repeat_stamp((uint16_t)at.moment);

        memcpy(stamps, &word, WORD * sizeof *stamps);
        memcpy(stamps + count - WORD, &word, WORD * sizeof *stamps);
    } else {
        stamps[0] = stamps[count / 2] = stamps[count - 1] = (uint16_t)at.moment;
    }
}

// --- Questions ---

// A block has four bytes in memory, atomic or not, so that it is read as bytes where no job runs.
_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "a moment of a block is a word");

#if ESPL__HAS_SSE2

// Return since minus the moments of 16 blocks, each as a byte with its sign.
ESPL__INLINE __m128i signs_of_16(const _Atomic uint32_t blocks[16], __m128i since)
{
    __m128i a, b, c, d;

    memcpy(&a, (const void *)(uintptr_t)&blocks[0], sizeof a);
    memcpy(&b, (const void *)(uintptr_t)&blocks[4], sizeof b);
    memcpy(&c, (const void *)(uintptr_t)&blocks[8], sizeof c);
    memcpy(&d, (const void *)(uintptr_t)&blocks[12], sizeof d);
    return _mm_packs_epi16(_mm_packs_epi32(_mm_sub_epi32(since, a), _mm_sub_epi32(since, b)),
                           _mm_packs_epi32(_mm_sub_epi32(since, c), _mm_sub_epi32(since, d)));
}

// Return which blocks of a group may have changed after a moment, as bits: a difference is negative then.
ESPL__INLINE uint32_t changed_of_group(const espl__plane *plane, uint32_t block, uint32_t since)
{
    const __m128i moment = _mm_set1_epi32((int32_t)since);
    const __m128i low = signs_of_16(&plane->blocks[block], moment);
    const __m128i high = signs_of_16(&plane->blocks[block + 16], moment);

    return (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
}

#else

// The first loop has no branch, so that compilers subtract several at once.
ESPL__INLINE uint32_t changed_of_group(const espl__plane *plane, uint32_t block, uint32_t since)
{
    uint32_t moments[GROUP_OF_BLOCKS], differences = 0, changed = 0;

    memcpy(moments, (const void *)(uintptr_t)&plane->blocks[block], sizeof moments);
    for (uint32_t i = 0; i < GROUP_OF_BLOCKS; ++i) {
        differences |= since - moments[i];
    }
    for (uint32_t i = 0; i < GROUP_OF_BLOCKS && (int32_t)differences < 0; ++i) {
        changed |= (since - moments[i]) >> 31 << i;
    }
    return changed;
}

#endif

// Groups first, because a branch for each block would cost more than its comparison.
uint32_t espl__plane_next(const espl__plane *plane, uint32_t block, uint32_t blocks, uint32_t since)
{
    ESPL_CHECK(blocks <= plane->capacity / ESPL__PLANE_BLOCK);
    // Where much changed, the next block did as well.
    if (block >= blocks || espl__plane_block_changed(plane, block, since)) {
        return block;
    }
    for (; blocks - block >= GROUP_OF_BLOCKS; block += GROUP_OF_BLOCKS) {
        const uint32_t changed = changed_of_group(plane, block, since);

        if (changed != 0) {
            return block + espl__lowest_bit(changed);
        }
    }
    while (block < blocks && !espl__plane_block_changed(plane, block, since)) {
        block += 1;
    }
    return block;
}

#if ESPL__HAS_SSE2

// Return which of 16 stamps are not younger than an age, as bits: the difference saturates at 0 then.
ESPL__INLINE uint64_t older_of_16(const uint16_t stamps[16], __m128i moment, __m128i least)
{
    const __m128i none = _mm_setzero_si128();
    __m128i low, high;

    memcpy(&low, stamps, sizeof low);
    memcpy(&high, stamps + 8, sizeof high);
    low = _mm_cmpeq_epi16(_mm_subs_epu16(least, _mm_sub_epi16(moment, low)), none);
    high = _mm_cmpeq_epi16(_mm_subs_epu16(least, _mm_sub_epi16(moment, high)), none);
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

// Return which of the stamps of a block are younger than an age, as bits.
ESPL__INLINE uint64_t younger_than(const uint16_t stamps[ESPL__PLANE_BLOCK], uint16_t now,
                                   uint16_t least)
{
    const __m128i moment = _mm_set1_epi16((int16_t)now), limit = _mm_set1_epi16((int16_t)least);
    const uint64_t older = older_of_16(stamps, moment, limit) |
                           older_of_16(stamps + 16, moment, limit) << 16 |
                           older_of_16(stamps + 32, moment, limit) << 32 |
                           older_of_16(stamps + 48, moment, limit) << 48;

    return ~older;
}

#else

// Return eight bytes of 0 or 1 as eight bits, the first byte as the lowest. The multiplication adds each byte
// to the highest one at a place of its own; the factor depends on which byte of a word comes first in memory.
ESPL__INLINE uint64_t bits_of_bytes(const unsigned char bytes[8])
{
    const uint16_t one = 1;
    unsigned char lowest = 0;
    uint64_t word = 0;

    memcpy(&lowest, &one, sizeof lowest);
    memcpy(&word, bytes, sizeof word);
    return word * (lowest == 1 ? UINT64_C(0x0102040810204080) : UINT64_C(0x8040201008040201)) >> 56;
}

// Stamps are copied first, so that no store can change them and compilers compare several at once.
ESPL__INLINE uint64_t younger_than(const uint16_t block[ESPL__PLANE_BLOCK], uint16_t now,
                                   uint16_t least)
{
    uint16_t stamps[ESPL__PLANE_BLOCK];
    unsigned char is_younger[ESPL__PLANE_BLOCK];
    uint64_t changed = 0;

    memcpy(stamps, block, sizeof stamps);
    for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
        is_younger[i] = (uint16_t)(now - stamps[i]) < least ? 1 : 0;
    }
    for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; i += 8) {
        changed |= bits_of_bytes(&is_younger[i]) << i;
    }
    return changed;
}

#endif

uint64_t espl__plane_changed(const espl__plane *plane, uint32_t block, uint32_t since)
{
    const uint16_t least = (uint16_t)(plane->moment - since); // a younger item changed since

    ESPL_CHECK(block < plane->capacity / ESPL__PLANE_BLOCK);
    if (!espl__plane_block_changed(plane, block, since)) {
        return 0;
    }
    return espl__plane_is_coarse(plane, since)
               ? UINT64_MAX
               : younger_than(&plane->stamps[(size_t)block * ESPL__PLANE_BLOCK],
                              (uint16_t)plane->moment, least);
}

bool espl__plane_has_changed(const espl__plane *plane, uint32_t item, uint32_t since)
{
    ESPL_CHECK(item < plane->capacity);
    const uint32_t age = (uint16_t)((uint16_t)plane->moment - plane->stamps[item]);

    return espl__plane_block_changed(plane, item / ESPL__PLANE_BLOCK, since) &&
           (espl__plane_is_coarse(plane, since) || age < plane->moment - since);
}

// --- Walks ---

// Find the next block of a plane, from a block on.
static uint32_t find_block(const espl__plane_walk *walk, uint32_t plane, uint32_t block)
{
    return walk->is_whole ? block
                          : espl__plane_next(walk->planes[plane], block,
                                             espl__plane_blocks(walk->items), walk->since);
}

void espl__plane_walk_begin(espl__plane_walk *walk)
{
    ESPL_CHECK(walk->plane_count >= 1 && walk->plane_count <= ESPL__WALK_PLANES);
    walk->scanned = 0;
    for (uint32_t i = 0; i < walk->plane_count; ++i) {
        ESPL_CHECK(walk->items <= walk->planes[i]->capacity);
        walk->next[i] = find_block(walk, i, 0);
    }
}

// The bits of the items of a block that the walk has.
static uint64_t valid_bits(const espl__plane_walk *walk)
{
    const uint32_t left = walk->items - walk->block * ESPL__PLANE_BLOCK;

    return left >= ESPL__PLANE_BLOCK ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

uint64_t espl__plane_walk_next(espl__plane_walk *walk)
{
    const uint32_t blocks = espl__plane_blocks(walk->items);

    for (;;) {
        uint64_t all = 0;

        walk->block = blocks;
        for (uint32_t i = 0; i < walk->plane_count; ++i) {
            walk->block = walk->next[i] < walk->block ? walk->next[i] : walk->block;
        }
        if (walk->block == blocks) {
            return 0;
        }
        for (uint32_t i = 0; i < walk->plane_count; ++i) {
            walk->changed[i] = 0;
            if (walk->next[i] == walk->block) {
                walk->changed[i] = espl__plane_changed(walk->planes[i], walk->block, walk->since);
                walk->scanned += 1;
                walk->next[i] = find_block(walk, i, walk->block + 1);
            }
            all |= walk->changed[i];
        }
        if (walk->is_whole) {
            walk->changed[0] = all = UINT64_MAX;
        }
        all &= valid_bits(walk);
        if (all != 0) {
            return all;
        }
    }
}

// --- Memory ---

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
    const size_t blocks = espl__plane_blocks(capacity);
    const size_t kept = espl__plane_is_open(from) ? espl__plane_blocks(count) : 0;
    const uint32_t old = from->moment - ESPL__PLANE_AGE;

    ESPL_CHECK(count <= capacity && kept <= blocks);
    // The items of whole blocks are counted by 32 bits.
    if (blocks > UINT32_MAX / ESPL__PLANE_BLOCK) {
        return false;
    }
    unsigned char *const memory =
        espl__heap_take(heap, purpose, 1, size_of(blocks), ALIGNMENT_OF_PLANE);

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
            age > ESPL__PLANE_AGE ? (uint16_t)(now - ESPL__PLANE_AGE) : plane->stamps[item];
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
    const bool is_due = moment / ESPL__PLANE_AGE != plane->moment / ESPL__PLANE_AGE;

    plane->moment = moment;
    if (is_due && espl__plane_is_open(plane)) {
        clamp(plane);
    }
}

// Between two clamps the age of a stamp is at most twice ESPL__PLANE_AGE. A stamp of that age or more may be a
// clamped one, whose true age the block has.
const char *espl__plane_broken_rule(const espl__plane *plane, uint32_t *item)
{
    for (uint32_t i = 0; espl__plane_is_open(plane) && i < plane->capacity; ++i) {
        const uint32_t age = (uint16_t)((uint16_t)plane->moment - plane->stamps[i]);
        const uint32_t block =
            plane->moment -
            atomic_load_explicit(&plane->blocks[i / ESPL__PLANE_BLOCK], memory_order_relaxed);

        *item = i;
        if (age > 2 * ESPL__PLANE_AGE || block > ESPL__PLANE_OLDEST) {
            return "no stamp is newer than the moment";
        }
        if (age < ESPL__PLANE_AGE && age < block) {
            return "a block is not older than its stamps";
        }
    }
    return NULL;
}

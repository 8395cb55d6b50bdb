// SPDX-License-Identifier: MIT
// The one file that includes xxHash, as a header: its functions are static here, and no symbol of it is
// exported. Its functions that allocate are not called; from version 0.8.2 on it leaves them out where
// XXH_NO_STDLIB is defined.
//
// On a machine with AVX2 most bytes go through a loop of this file, which does the same with the accumulators
// of the state as xxHash would, and copies. xxHash has the beginning and the end of each piece.
#include "lib/value/checksum.h"

#include "lib/base/compiler.h"
#include "lib/base/prefetch.h"

#include <string.h>

#define XXH_INLINE_ALL
#define XXH_NO_STDLIB 1
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(espl__checksum), "room for the state");

static XXH3_state_t *state_of(espl__checksum *checksum)
{
    return (XXH3_state_t *)(void *)checksum->state;
}

void espl__checksum_begin(espl__checksum *checksum)
{
    (void)XXH3_64bits_reset(state_of(checksum));
}

void espl__checksum_begin_seeded(espl__checksum *checksum, uint64_t seed)
{
    XXH3_INITSTATE(state_of(checksum));
    (void)XXH3_64bits_reset_withSeed(state_of(checksum), seed);
}

uint64_t espl__checksum_of(const espl__checksum *checksum)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)checksum->state);
}

// --- Stripes ---

#if defined(__GNUC__) && defined(__x86_64__)

#include <immintrin.h>

#define HAS_STRIPES 1
#define STRIPES_TARGET __attribute__((target("avx2")))

enum { STRIPE = XXH_STRIPE_LEN, STRIPES_OF_BUFFER = XXH3_INTERNALBUFFER_SIZE / STRIPE };

// Where stripes go.
typedef enum stripes_way { STRIPES_STAY, STRIPES_STORE, STRIPES_STREAM } stripes_way;

static bool can_stripe(void)
{
    // A machine with AVX2 takes one branch alone.
    return __builtin_cpu_supports("avx2") != 0; // GCOVR_EXCL_BR_LINE
}

STRIPES_TARGET ESPL__INLINE __m256i load_half(const void *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

STRIPES_TARGET ESPL__INLINE void store_half(void *to, __m256i value)
{
    _mm256_storeu_si256((__m256i *)to, value);
}

// Two stores, because a block of malloc() may begin at an odd multiple of 16.
STRIPES_TARGET ESPL__INLINE void stream_half(unsigned char *to, __m256i value)
{
    _mm_stream_si128((__m128i *)(void *)to, _mm256_castsi256_si128(value));
    _mm_stream_si128((__m128i *)(void *)(to + sizeof(__m128i)), _mm256_extracti128_si256(value, 1));
}

STRIPES_TARGET ESPL__INLINE __m256i accumulated(__m256i accumulator, __m256i value,
                                                const unsigned char *secret)
{
    const __m256i key = _mm256_xor_si256(value, load_half(secret));
    const __m256i product = _mm256_mul_epu32(key, _mm256_srli_epi64(key, 32));
    const __m256i swapped = _mm256_shuffle_epi32(value, _MM_SHUFFLE(1, 0, 3, 2));

    return _mm256_add_epi64(accumulator, _mm256_add_epi64(swapped, product));
}

// What ends a block of stripes.
STRIPES_TARGET ESPL__INLINE __m256i scrambled(__m256i accumulator, const unsigned char *secret)
{
    const __m256i prime = _mm256_set1_epi32((int)XXH_PRIME32_1);
    const __m256i shifted = _mm256_xor_si256(accumulator, _mm256_srli_epi64(accumulator, 47));
    const __m256i key = _mm256_xor_si256(shifted, load_half(secret));
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(key, 32), prime);

    return _mm256_add_epi64(_mm256_mul_epu32(key, prime), _mm256_slli_epi64(high, 32));
}

// Add so many stripes to the accumulators of a state, and copy them.
STRIPES_TARGET ESPL__INLINE void add_stripes(XXH3_state_t *state, const espl__copying *copying,
                                             size_t count, stripes_way way)
{
    const unsigned char *const secret =
        state->extSecret != NULL ? state->extSecret : state->customSecret;
    const unsigned char *from = copying->from;
    unsigned char *to = copying->to;
    __m256i low = load_half(state->acc), high = load_half(state->acc + 4);
    size_t in_block = state->nbStripesSoFar;

    for (size_t i = 0; i < count; ++i) {
        const unsigned char *const key = secret + in_block * XXH_SECRET_CONSUME_RATE;
        const __m256i first = load_half(from), second = load_half(from + sizeof first);

        low = accumulated(low, first, key);
        high = accumulated(high, second, key + sizeof first);
        from += STRIPE;
        if (way == STRIPES_STORE) {
            store_half(to, first);
            store_half(to + sizeof first, second);
            to += STRIPE;
        } else if (way == STRIPES_STREAM) {
            stream_half(to, first);
            stream_half(to + sizeof first, second);
            to += STRIPE;
        }
        if (copying->ahead != NULL) {
            espl__prefetch_element(copying->ahead, i, STRIPE);
        }
        in_block += 1;
        if (in_block == state->nbStripesPerBlock) {
            low = scrambled(low, secret + state->secretLimit);
            high = scrambled(high, secret + state->secretLimit + sizeof first);
            in_block = 0;
        }
    }
    store_half(state->acc, low);
    store_half(state->acc + 4, high);
    state->nbStripesSoFar = in_block;
}

// One function for each way, so that the loop does not ask for it.
STRIPES_TARGET static void add_staying(XXH3_state_t *state, const espl__copying *copying,
                                       size_t count)
{
    add_stripes(state, copying, count, STRIPES_STAY);
}

STRIPES_TARGET static void add_storing(XXH3_state_t *state, const espl__copying *copying,
                                       size_t count)
{
    add_stripes(state, copying, count, STRIPES_STORE);
}

STRIPES_TARGET static void add_streaming(XXH3_state_t *state, const espl__copying *copying,
                                         size_t count)
{
    add_stripes(state, copying, count, STRIPES_STREAM);
}

static void add_by_way(XXH3_state_t *state, const espl__copying *copying, size_t count)
{
    if (copying->to == NULL) {
        add_staying(state, copying, count);
    } else if (copying->passes_cache && (uintptr_t)copying->to % sizeof(__m128i) == 0) {
        add_streaming(state, copying, count);
    } else {
        add_storing(state, copying, count);
    }
}

// Empty the buffer of a state, and complete its last stripe before. @return the bytes that this took.
static size_t empty_buffer(XXH3_state_t *state, const unsigned char *bytes)
{
    const size_t held = state->bufferedSize;
    const size_t taken = held % STRIPE == 0 ? 0 : STRIPE - held % STRIPE;
    const espl__copying buffer = {.from = state->buffer};

    memcpy(state->buffer + held, bytes, taken);
    add_staying(state, &buffer, (held + taken) / STRIPE);
    return taken;
}

// Add bytes, and copy them. The last stripe, whole or not, goes to the buffer of the state, and the one before
// it to the end of the buffer, where xxHash looks for them.
static void add_many(XXH3_state_t *state, const espl__copying *copying)
{
    const unsigned char *const from = copying->from;
    unsigned char *const to = copying->to;
    const size_t begin = empty_buffer(state, from);
    const size_t count = (copying->size - begin - 1) / STRIPE, end = begin + count * STRIPE;
    const size_t rest = copying->size - end;
    const espl__copying middle = {to == NULL ? NULL : to + begin, from + begin, count * STRIPE,
                                  copying->ahead, copying->passes_cache};

    add_by_way(state, &middle, count);
    memcpy(state->buffer + XXH3_INTERNALBUFFER_SIZE - STRIPE, from + end - STRIPE, STRIPE);
    memcpy(state->buffer, from + end, rest);
    state->bufferedSize = (XXH32_hash_t)rest;
    state->totalLen += copying->size;
    if (to != NULL) {
        memcpy(to, from, begin);
        espl__copy(&(espl__copying){to + end, from + end, rest, NULL, copying->passes_cache});
    }
}

// Copy past the cache what is left at multiples of 16. @return the bytes that it copied.
static size_t stream_all(const espl__copying *copying)
{
    const unsigned char *const from = copying->from;
    unsigned char *const to = copying->to;
    size_t at = 0;

    for (; copying->size - at >= STRIPE; at += STRIPE) {
        for (size_t i = 0; i < STRIPE; i += sizeof(__m128i)) {
            const __m128i value = _mm_loadu_si128((const __m128i *)(const void *)(from + at + i));

            _mm_stream_si128((__m128i *)(void *)(to + at + i), value);
        }
    }
    return at;
}

void espl__copied(void)
{
    _mm_sfence();
}

#else

#define HAS_STRIPES 0

void espl__copied(void)
{
}

#endif

// --- Adding and copying ---

void espl__checksum_copy(espl__checksum *checksum, const espl__copying *copying)
{
    // What is less is not worth the steps around the loop.
    enum { MANY = 512 };

#if HAS_STRIPES
    if (copying->size >= MANY && can_stripe()) {
        add_many(state_of(checksum), copying);
        return;
    }
#endif
    (void)XXH3_64bits_update(state_of(checksum), copying->from, copying->size);
    if (copying->to != NULL && copying->size != 0) {
        memcpy(copying->to, copying->from, copying->size);
    }
}

void espl__checksum_add(espl__checksum *checksum, const void *bytes, size_t size)
{
    espl__checksum_copy(checksum, &(espl__copying){.from = bytes, .size = size});
}

void espl__copy(const espl__copying *copying)
{
    size_t done = 0;

#if HAS_STRIPES
    if (copying->passes_cache && (uintptr_t)copying->to % sizeof(__m128i) == 0) {
        done = stream_all(copying);
    }
#endif
    if (copying->size != done) {
        memcpy((unsigned char *)copying->to + done, (const unsigned char *)copying->from + done,
               copying->size - done);
    }
}

uint64_t espl__checksum_seeded(uint64_t seed, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

uint64_t espl__checksum_item(uint32_t kind, uint32_t number, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, (uint64_t)kind << 32 | number);
}

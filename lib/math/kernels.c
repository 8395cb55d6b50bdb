// SPDX-License-Identifier: MIT
// The kernels there are, and which of them this machine can run. Each is compiled for its own
// instructions, so that one library serves all machines, and none of them may contract a product
// and a sum.
#include "lib/math/kernels.h"

#include "lib/math/lanes.h"

#if ESPL__HAS_LANES && defined(__SSE2__)
#include <immintrin.h>
#endif

#include <string.h>

static float compose_plainly(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                             uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t slot = begin; slot < end; ++slot) {
        espl__pose_compose_to(&worlds[slot], &worlds[parents[slot]], NULL, &locals[slot]);
        alarm += espl__pose_alarm(&worlds[slot]);
    }
    return alarm;
}

#if ESPL__HAS_LANES

typedef float quad __attribute__((vector_size(16)));
typedef float octet __attribute__((vector_size(32)));

// Half 0 of a pose is its rotation, half 1 its position and scale.
_Static_assert(offsetof(espl_pose, rotation) == 0 && offsetof(espl_pose, position) == 16 &&
                   offsetof(espl_pose, scale) == 28,
               "a pose is two quads");

ESPL__INLINE quad load_quad(const espl_pose *poses, size_t bytes, unsigned half)
{
    quad q;

    memcpy(&q, (const char *)poses + bytes + half * sizeof q, sizeof q);
    return q;
}

ESPL__INLINE void store_quad(espl_pose *poses, size_t bytes, unsigned half, quad q)
{
    memcpy((char *)poses + bytes + half * sizeof q, &q, sizeof q);
}

// A single slot, in the lanes of one node.
ESPL__INLINE float compose_one(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                               uint32_t slot)
{
    espl__laned_store(&worlds[slot], espl__laned_compose(espl__laned_load(&worlds[parents[slot]]),
                                                         espl__laned_load(&locals[slot])));
    return espl__pose_alarm(&worlds[slot]);
}

static float compose_few(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                         uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t slot = begin; slot < end; ++slot) {
        alarm += compose_one(worlds, locals, parents, slot);
    }
    return alarm;
}

#define LANES 4
#define LANES_NAME(x) x##_by_4
#define LANES_TARGET
#define LANES_LEAST 4
#define LANES_NARROWER compose_few
#include "lib/math/kernel.inc"

#ifdef __SSE2__
#define LANES 8
#define LANES_NAME(x) x##_by_8
#define LANES_TARGET __attribute__((target("avx2")))
#define LANES_LEAST 16
#define LANES_NARROWER compose_by_4
#include "lib/math/kernel.inc"

#define LANES 16
#define LANES_NAME(x) x##_by_16
#define LANES_TARGET __attribute__((target("avx512f")))
#define LANES_LEAST 32
#define LANES_NARROWER compose_by_4
#include "lib/math/kernel.inc"
#endif

#endif

typedef struct entry {
    espl__kernels kernels;
    bool (*is_there)(void);
} entry;

static bool always(void)
{
    return true;
}

#if ESPL__HAS_LANES && defined(__SSE2__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0;
}
#endif

// From the plainest to the best.
static const entry table[] = {
    {{"scalar", compose_plainly, 1, NULL}, always},
#if ESPL__HAS_LANES && defined(__SSE2__)
    {{"sse2", compose_by_4, 4, compose_alike_by_4}, always},
    {{"avx512", compose_by_16, 16, compose_alike_by_16}, has_avx512},
    {{"avx2", compose_by_8, 8, compose_alike_by_8}, has_avx2},
#elif ESPL__HAS_LANES
    {{"neon", compose_by_4, 4, compose_alike_by_4}, always},
#endif
};

enum { TABLE_COUNT = sizeof table / sizeof *table };

_Static_assert((int)TABLE_COUNT <= (int)ESPL__KERNELS_LIMIT, "a list has room for all kernels");

size_t espl__kernels_all(const espl__kernels **out)
{
    size_t count = 0;

    for (size_t i = 0; i < TABLE_COUNT; ++i) {
        // A machine with AVX-512 has all of them. Others, and valgrind, lack some.
        if (table[i].is_there()) { // GCOVR_EXCL_BR_LINE
            out[count++] = &table[i].kernels;
        }
    }
    return count;
}

const espl__kernels *espl__kernels_best(void)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];

    return all[espl__kernels_all(all) - 1];
}

const espl__kernels *espl__kernels_named(const char *name)
{
    for (size_t i = 0; i < TABLE_COUNT; ++i) {
        if (strcmp(name, table[i].kernels.name) == 0) {
            // Likewise.
            return table[i].is_there() ? &table[i].kernels : NULL; // GCOVR_EXCL_BR_LINE
        }
    }
    return NULL;
}

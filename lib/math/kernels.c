// SPDX-License-Identifier: MIT
// The kernels of this build, and the choice of those that the machine can run. Each kernel is
// compiled for its own instruction set, so that one library serves all machines. None of them
// contracts a product and a sum.
#include "lib/math/kernels.h"

#include "lib/base/bits.h"
#include "lib/math/wide.h"

#if ESPL__HAS_WIDE && defined(__SSE2__)
#include <immintrin.h>
#elif ESPL__HAS_WIDE && defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif ESPL__HAS_WIDE
#include <arm_neon.h>
#endif

#include <string.h>

// The kernel for machines without SIMD, one node at a time.
static float compose_scalar(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                            uint32_t begin, uint32_t end)
{
    float nonfinite = 0;

    ESPL_CHECK(begin <= end);
    for (uint32_t slot = begin; slot < end; ++slot) {
        ESPL_CHECK_FULL(parents[slot] < slot);
        espl__pose_compose_to(&worlds[slot], &worlds[parents[slot]], NULL, &locals[slot]);
        nonfinite += espl__pose_nonfinite(&worlds[slot]);
    }
    return nonfinite;
}

// Stores one by one, also of ranges that are too short for any width.
static uint32_t store_poses_scalar(espl_pose *locals, const uint32_t *slots,
                                   const espl__pose_values *values, const uint32_t *numbers,
                                   uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const size_t number = numbers != NULL ? numbers[i] : first + i;
        const unsigned char *const value = values->first + number * values->stride;
        espl_pose *const old = &locals[slots[i]];
        const espl__wide_pose local = espl__wide_from(value);

        if (!espl__value_is_sound(value, values->has_stretch) ||
            espl__wide_is_same(espl__wide_load(old), local)) {
            return i;
        }
        espl__wide_store(old, local);
    }
    return count;
}

static void blend_poses_scalar(espl_pose *locals, espl_pose *saved, const espl_pose *previous,
                               const uint32_t *slots, uint32_t count, const espl__blend *blend)
{
    ESPL_CHECK(blend->range == ESPL__BLEND_INSIDE);
    for (uint32_t i = 0; i < count; ++i) {
        espl_pose *const local = &locals[slots[i]];

        saved[i] = *local;
        *local = espl__pose_blend(blend, &previous[slots[i]], &saved[i]);
    }
}

#if ESPL__HAS_WIDE

// Slots that are composed one by one where fewer are independent of each other: a batch of any width
// takes as long.
enum { FEW = 4 };

// A half of one pose, and the same half of two poses.
typedef float quad __attribute__((vector_size(16)));
typedef float octet __attribute__((vector_size(32)));

// A pose has two halves of four floats: half 0 is its rotation, half 1 its position and scale.
_Static_assert(offsetof(espl_pose, rotation) == 0 && offsetof(espl_pose, position) == 16 &&
                   offsetof(espl_pose, scale) == 28,
               "a pose is two quads");

// The kernels address slots by offsets, which are slots times the size of a parent. A pose is eight
// times as large, which is a scale that instructions of x86 have, so that one offset serves all
// arrays.
enum { POSE_SCALE = 8 };

_Static_assert(sizeof(espl_pose) == POSE_SCALE * sizeof(uint32_t), "a pose is eight parents");

// Return the offset of a slot. The optimiser must not look into it, because gcc computes several
// offsets in a vector, and takes them out of it one by one.
ESPL__INLINE size_t offset_of(uint32_t slot)
{
    size_t offset = slot * sizeof(uint32_t);

    __asm__("" : "+r"(offset));
    return offset;
}

ESPL__INLINE uint32_t load_parent(const uint32_t *parents, size_t offset)
{
    uint32_t parent;

    memcpy(&parent, (const char *)parents + offset, sizeof parent);
    return parent;
}

ESPL__INLINE quad load_quad(const espl_pose *poses, size_t offset, unsigned half)
{
    quad q;

    ESPL_CHECK_FULL(half < 2 && offset % sizeof(uint32_t) == 0);
    memcpy(&q, (const char *)poses + POSE_SCALE * offset + half * sizeof q, sizeof q);
    return q;
}

ESPL__INLINE quad load_at(const unsigned char *bytes)
{
    quad q;

    memcpy(&q, bytes, sizeof q);
    return q;
}

ESPL__INLINE void store_quad(espl_pose *poses, size_t offset, unsigned half, quad q)
{
    ESPL_CHECK_FULL(half < 2 && offset % sizeof(uint32_t) == 0);
    memcpy((char *)poses + POSE_SCALE * offset + half * sizeof q, &q, sizeof q);
}

// Compose slots up to `stop`, and each following one up to `end` whose parent is the slot before it.
// The world of such a parent stays in registers: from memory its child would wait for a store, and
// for all of the parent.
// @param found  in and out: the alarm of the worlds is added.
// @return the slot after them.
ESPL__INLINE uint32_t compose_singly(espl_pose *worlds, const espl_pose *locals,
                                     const uint32_t *parents, uint32_t slot, uint32_t stop,
                                     uint32_t end, quad *found)
{
    espl__wide_pose world = espl__wide_load(&worlds[parents[slot]]);
    quad scale = espl__wide_scale(world);

    ESPL_CHECK(slot < stop && stop <= end);
    for (;;) {
        ESPL_CHECK_FULL(parents[slot] < slot);
        world = espl__wide_compose_next(world, &scale, espl__wide_load(&locals[slot]));
        espl__wide_store(&worlds[slot], world);
        *found += world.position_scale - world.position_scale;
        slot += 1;
        if (slot >= end) {
            return slot;
        }
        if (parents[slot] != slot - 1) {
            if (slot >= stop) {
                return slot;
            }
            world = espl__wide_load(&worlds[parents[slot]]);
            scale = espl__wide_scale(world);
        }
    }
}

// The narrowest kernel that uses SIMD: it composes ranges that are too short for any width.
static float compose_few(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                         uint32_t begin, uint32_t end)
{
    quad found = {0};

    ESPL_CHECK(begin <= end);
    if (begin < end) {
        (void)compose_singly(worlds, locals, parents, begin, end, end, &found);
    }
    return found[0] + found[1] + found[2] + found[3];
}

// A width serves ranges from its least length on, because a short range seldom fills a batch.
#define WIDTH 4
#define WIDE_NAME(x) x##_by_4
#define WIDE_TARGET
#define WIDE_LEAST 4
#define WIDE_NARROWER compose_few
#define WIDE_STORE_NARROWER store_poses_scalar
#define WIDE_BLEND_NARROWER blend_poses_scalar
#if defined(__SSE2__)
#define WIDE_SQRT(x) ((floats)_mm_sqrt_ps((__m128)(x)))
#elif defined(__wasm_simd128__)
#define WIDE_SQRT(x) ((floats)wasm_f32x4_sqrt((v128_t)(x)))
#else
#define WIDE_SQRT(x) ((floats)vsqrtq_f32((float32x4_t)(x)))
#endif
#include "lib/math/kernel.inc"

#ifdef __SSE2__
#define WIDTH 8
#define WIDE_NAME(x) x##_by_8
#define WIDE_TARGET __attribute__((target("avx2")))
#define WIDE_LEAST 16
#define WIDE_NARROWER compose_wide_by_4
#define WIDE_STORE_NARROWER store_poses_by_4
#define WIDE_BLEND_NARROWER blend_poses_by_4
#define WIDE_SQRT(x) ((floats)_mm256_sqrt_ps((__m256)(x)))
#include "lib/math/kernel.inc"

#define WIDTH 16
#define WIDE_NAME(x) x##_by_16
#define WIDE_TARGET __attribute__((target("avx512f")))
#define WIDE_LEAST 32
#define WIDE_NARROWER compose_wide_by_4
#include "lib/math/kernel.inc"
#endif

#endif

typedef struct kernel_entry {
    espl__kernels kernels;
    bool (*is_supported)(void); // by the machine
} kernel_entry;

static bool is_always_supported(void)
{
    return true;
}

#if ESPL__HAS_WIDE && defined(__SSE2__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0 && has_avx2();
}
#endif

// In ascending order of speed. AVX-512 comes before AVX2, because a width of 16 gains nothing where
// memory is the limit and loses on small trees: on trees of 20 nodes, AVX-512 took 3.9 ns a node
// and AVX2 took 3.1 ns.
static const kernel_entry kernel_table[] = {
    {{"scalar", compose_scalar, 1, NULL, store_poses_scalar, blend_poses_scalar,
      &espl__box_kernels_scalar},
     is_always_supported},
#if ESPL__HAS_WIDE && defined(__SSE2__)
    {{"sse2", compose_wide_by_4, 4, compose_ranges_by_4, store_poses_by_4, blend_poses_by_4,
      &box_kernels_by_4},
     is_always_supported},
    {{"avx512", compose_wide_by_16, 16, compose_ranges_by_16, store_poses_by_8, blend_poses_by_8,
      &box_kernels_by_16},
     has_avx512},
    {{"avx2", compose_wide_by_8, 8, compose_ranges_by_8, store_poses_by_8, blend_poses_by_8,
      &box_kernels_by_8},
     has_avx2},
#elif ESPL__HAS_WIDE && defined(__wasm_simd128__)
    {{"simd128", compose_wide_by_4, 4, compose_ranges_by_4, store_poses_by_4, blend_poses_by_4,
      &box_kernels_by_4},
     is_always_supported},
#elif ESPL__HAS_WIDE
    {{"neon", compose_wide_by_4, 4, compose_ranges_by_4, store_poses_by_4, blend_poses_by_4,
      &box_kernels_by_4},
     is_always_supported},
#endif
};

enum { KERNEL_COUNT = sizeof kernel_table / sizeof *kernel_table };

_Static_assert((int)KERNEL_COUNT <= (int)ESPL__KERNELS_LIMIT, "a list has room for all kernels");

size_t espl__kernels_all(const espl__kernels **out)
{
    size_t count = 0;

    for (size_t i = 0; i < KERNEL_COUNT; ++i) {
        // A machine with AVX-512 takes one branch alone, other machines and valgrind take both.
        if (kernel_table[i].is_supported()) { // GCOVR_EXCL_BR_LINE
            out[count++] = &kernel_table[i].kernels;
        }
    }
    ESPL_CHECK(count >= 1 && count <= ESPL__KERNELS_LIMIT);
    return count;
}

const espl__kernels *espl__kernels_best(void)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];

    return all[espl__kernels_all(all) - 1];
}

bool espl__kernels_exist(const char *name)
{
    static const char *const names[] = {"scalar", "sse2", "avx2", "avx512", "neon", "simd128"};

    ESPL_CHECK(name != NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

const espl__kernels *espl__kernels_named(const char *name)
{
    ESPL_CHECK(name != NULL);
    for (size_t i = 0; i < KERNEL_COUNT; ++i) {
        if (strcmp(name, kernel_table[i].kernels.name) == 0) {
            const kernel_entry *const entry = &kernel_table[i];

            // As above.
            return entry->is_supported() ? &entry->kernels : NULL; // GCOVR_EXCL_BR_LINE
        }
    }
    return NULL;
}

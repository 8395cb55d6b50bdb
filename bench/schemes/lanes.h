// SPDX-License-Identifier: MIT
// The formula of compose.h on one node at a time in registers of four: a rotation in one of them, a
// position with its scale in another. Every component goes through the same operations in the same
// order, so the bits are the same.
#ifndef ESPALIER_BENCH_LANES_H
#define ESPALIER_BENCH_LANES_H

#include "bench/schemes/compose.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_LANES 1
#endif
#endif

#ifdef HAS_LANES

typedef float lanes __attribute__((vector_size(16)));
typedef uint32_t lanes_bits __attribute__((vector_size(16)));

#define LANES_PICK(from, x, y, z, w) __builtin_shufflevector(from, from, x, y, z, w)

_Static_assert(offsetof(struct pose, position) == sizeof(lanes), "a pose is two registers");

// The halves of a pose are its rotation, and its position with the scale behind it. Each goes by
// itself: a pose copied whole goes over the stack (gcc 12: 16 ns a node against 6).
static inline lanes lanes_load(const struct pose *from, size_t half)
{
    lanes out;

    memcpy(&out, (const char *)from + half * sizeof out, sizeof out);
    return out;
}

static inline void lanes_store(struct pose *to, size_t half, lanes from)
{
    memcpy((char *)to + half * sizeof from, &from, sizeof from);
}

// The fourth lane with its sign changed: what is subtracted there is added in the others.
static inline lanes lanes_flip_last(lanes from)
{
    const lanes_bits sign = {0, 0, 0, 0x80000000u};

    return (lanes)((lanes_bits)from ^ sign);
}

/// As pose_compose().
static inline void pose_compose_lanes(struct pose *restrict out, const struct pose *parent,
                                      const struct pose *local)
{
    const lanes a = lanes_load(parent, 0);
    const lanes b = lanes_load(local, 0);
    const lanes above = lanes_load(parent, 1);
    const lanes w = LANES_PICK(a, 3, 3, 3, 3);
    const lanes yzx = LANES_PICK(a, 1, 2, 0, 3);
    const lanes zxy = LANES_PICK(a, 2, 0, 1, 3);

    // The last lane is the scale of the child, which is done with here.
    const lanes v = lanes_load(local, 1) * LANES_PICK(above, 3, 3, 3, 3);
    const lanes half = yzx * LANES_PICK(v, 2, 0, 1, 3) - zxy * LANES_PICK(v, 1, 2, 0, 3);
    const lanes t = half + half;
    const lanes crossed = yzx * LANES_PICK(t, 2, 0, 1, 3) - zxy * LANES_PICK(t, 1, 2, 0, 3);
    const lanes position = above + (v + (w * t + crossed));
    const lanes high = __builtin_shufflevector(position, v, 2, 2, 7, 7);

    const lanes first = LANES_PICK(a, 0, 1, 2, 0) * LANES_PICK(b, 3, 3, 3, 0);
    const lanes second = LANES_PICK(a, 1, 2, 0, 1) * LANES_PICK(b, 2, 0, 1, 1);
    const lanes third = LANES_PICK(a, 2, 0, 1, 2) * LANES_PICK(b, 1, 2, 0, 2);

    lanes_store(out, 0, w * b + lanes_flip_last(first) + lanes_flip_last(second) - third);
    lanes_store(out, 1, __builtin_shufflevector(position, high, 0, 1, 4, 6));
}

#else

/// Where the compiler has no lanes: the formula itself.
static inline void pose_compose_lanes(struct pose *restrict out, const struct pose *parent,
                                      const struct pose *local)
{
    pose_compose(out, parent, local);
}

#endif

#endif

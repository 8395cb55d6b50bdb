// SPDX-License-Identifier: MIT
// Numbers drawn from a seed: splitmix64, and what the loads need made of it. The same numbers on
// every machine: integer arithmetic, and double arithmetic with nothing but + - * / sqrt.
#ifndef ESPALIER_BENCH_DRAW_H
#define ESPALIER_BENCH_DRAW_H

#include "bench/schemes/compose.h"

#include <math.h>
#include <stdint.h>

/// Side of the cube in which members, and roots, are placed.
#define MEMBER_SIDE 2.0
#define ROOT_SIDE 200.0

/// State of one sequence.
struct draw {
    uint64_t state;
};

static inline uint64_t draw_bits(struct draw *draw)
{
    uint64_t bits = draw->state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/// Begin the sequence of one frame of a load: far from those of all other frames.
static inline struct draw draw_begin(uint64_t seed, uint64_t frame)
{
    struct draw mixer = {seed};

    return (struct draw){draw_bits(&mixer) + draw_bits(&mixer) * frame};
}

/// Uniform in [0, 1).
static inline double draw_unit(struct draw *draw)
{
    return (double)(draw_bits(draw) >> 11) * 0x1p-53;
}

/// Uniform in [0, limit).
static inline uint32_t draw_below(struct draw *draw, uint32_t limit)
{
    return (uint32_t)(((draw_bits(draw) >> 32) * limit) >> 32);
}

/// Draw a point in the unit disk; return its squared length, in (0, 1).
static inline double draw_disk(struct draw *draw, double point[2])
{
    double square = 0;

    do {
        point[0] = 2 * draw_unit(draw) - 1;
        point[1] = 2 * draw_unit(draw) - 1;
        square = point[0] * point[0] + point[1] * point[1];
    } while (square >= 1 || square == 0);
    return square;
}

/// Draw a rotation, uniform over all: two points in the disk make a point on the sphere in four
/// dimensions (Marsaglia 1972). Of unit length as nearly as floats go.
static inline void draw_rotation(struct draw *draw, float rotation[4])
{
    double a[2], b[2];
    const double square_a = draw_disk(draw, a);
    const double square_b = draw_disk(draw, b);
    const double stretch = sqrt((1 - square_a) / square_b);

    rotation[0] = (float)a[0];
    rotation[1] = (float)a[1];
    rotation[2] = (float)(b[0] * stretch);
    rotation[3] = (float)(b[1] * stretch);
}

/// Draw a local placement: position uniform in a cube about 0, any rotation, scale 1.
static inline struct pose draw_pose(struct draw *draw, double side)
{
    struct pose out = {{0, 0, 0, 1}, {0, 0, 0}, 1};

    for (int axis = 0; axis < 3; ++axis) {
        out.position[axis] = (float)((draw_unit(draw) - 0.5) * side);
    }
    draw_rotation(draw, out.rotation);
    return out;
}

#endif

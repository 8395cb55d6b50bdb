// SPDX-License-Identifier: MIT
// Codes: the place of a centre on a curve through all cells of space that keeps near cells near each other
// (Morton, 1966). A code interleaves the bits of the three coordinates of a cell, 21 bits each.
#ifndef ESPALIER_LIB_RENDERABLES_CODES_H
#define ESPALIER_LIB_RENDERABLES_CODES_H

#include <stdint.h>

/// The cells of space. The cell that begins at the origin is in the middle, so that the codes of the members
/// that the origin was chosen for differ in few bits.
typedef struct espl__cells {
    float origin[3];
    float edge, inverse; // 0: not chosen yet
} espl__cells;

enum { ESPL__CODE_AXIS_BITS = 21 };

// Leave two bits free between the low 21 bits of a word.
static inline uint64_t espl__spread_bits(uint32_t cell)
{
    uint64_t bits = cell;

    bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
    bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
    bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
    bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (bits | bits << 2) & UINT64_C(0x1249249249249249);
}

// Return the number of a cell on one axis. Centres past the ends, and NaNs, are in the outermost ones.
static inline uint32_t espl__cell_on(const espl__cells *cells, float center, int axis)
{
    const float middle = 1048576.0f;
    const float at = (center - cells->origin[axis]) * cells->inverse + middle;

    if (!(at > 0)) {
        return 0;
    }
    return at >= 2 * middle - 1 ? (1u << ESPL__CODE_AXIS_BITS) - 1 : (uint32_t)at;
}

/// Return the code of a centre.
static inline uint64_t espl__code_of(const espl__cells *cells, const float center[3])
{
    return espl__spread_bits(espl__cell_on(cells, center[0], 0)) |
           espl__spread_bits(espl__cell_on(cells, center[1], 1)) << 1 |
           espl__spread_bits(espl__cell_on(cells, center[2], 2)) << 2;
}

/// The bits of one axis in a code. They ascend as the cells of the axis do.
#define ESPL__CODE_AXIS(axis) (UINT64_C(0x1249249249249249) << (axis))

// Return the number of a cell on one axis, of the bits of the axis in a code.
static inline uint32_t espl__gather_bits(uint64_t code, int axis)
{
    uint64_t bits = code >> axis & UINT64_C(0x1249249249249249);

    bits = (bits | bits >> 2) & UINT64_C(0x10c30c30c30c30c3);
    bits = (bits | bits >> 4) & UINT64_C(0x100f00f00f00f00f);
    bits = (bits | bits >> 8) & UINT64_C(0x001f0000ff0000ff);
    bits = (bits | bits >> 16) & UINT64_C(0x001f00000000ffff);
    return (uint32_t)((bits | bits >> 32) & UINT64_C(0x1fffff));
}

/// Return where a cell begins on one axis. @param code  of which the bits of the axis are read.
static inline float espl__cell_begin(const espl__cells *cells, uint64_t code, int axis)
{
    const float middle = 1048576.0f;

    return ((float)espl__gather_bits(code, axis) - middle) * cells->edge + cells->origin[axis];
}

#endif

// SPDX-License-Identifier: MIT
// Local poses in deltas: what is left of a pose where the one before it is known. A pose is 8 words, the bits
// of its floats. espalier_archive_format(5) has the arithmetic, which must not change.
#ifndef ESPALIER_LIB_VALUE_DELTA_ROWS_H
#define ESPALIER_LIB_VALUE_DELTA_ROWS_H

#include "lib/value/archive_format.h"
#include "lib/value/wire.h"

enum {
    ESPL__DELTA_KIND = 2,  ///< of a head
    ESPL__DELTA_BASE = 24, ///< bytes behind the head: size and checksum before, checksum after
    ESPL__POSE_WORDS = 8,
    ESPL__POSE_SIZE = 32,   // bytes
    ESPL__POSE_BLOCK = 256, ///< changed poses that are written together, at most
};

/// How a section becomes that of the next archive.
typedef enum espl__delta_method {
    ESPL__DELTA_SAME,  ///< its bytes
    ESPL__DELTA_BYTES, ///< runs of bytes
    ESPL__DELTA_POSES, ///< runs of poses, and differences of those in pairs
    ESPL__DELTA_GRID,  ///< the same, of poses on a grid
    ESPL__DELTA_METHODS
} espl__delta_method;

/// What is left of a pose.
typedef struct espl__pose_rest {
    uint32_t words[ESPL__POSE_WORDS];
    uint8_t mask;  // a bit for each word that is not 0
    bool is_exact; // the words are differences of floats, not of places on a grid
} espl__pose_rest;

/// The grid of the locals of an archive. {0}: none.
typedef struct espl__pose_grid {
    uint32_t step; // bits of a float: positions are multiples of it; 0: they are not on a grid
    uint32_t
        bits; // components of rotations are multiples of 2^(1 - bits), but for the largest; 0: they are not
} espl__pose_grid;

/// The most bits of a component.
enum { ESPL__ROTATION_BITS = 24 };
/// Bytes of the section of a grid.
enum { ESPL__GRID_SIZE = 8 };

/// Tell whether a grid is one that an archive may have.
bool espl__grid_is_sound(const espl__pose_grid *grid);
/// Read the section of a grid. @return {0} where there is none, or one that no archive has.
static inline espl__pose_grid espl__grid_of(const espl__cursor *section)
{
    espl__pose_grid grid = {0, 0};

    if (section->size == ESPL__GRID_SIZE) {
        grid.step = (uint32_t)espl__number_load(section->bytes, 4);
        grid.bits = (uint32_t)espl__number_load(section->bytes + 4, 4);
    }
    return espl__grid_is_sound(&grid) ? grid : (espl__pose_grid){0, 0};
}
/// Move a local to the grid. A position stays that is too far away for it, or whose place is at no float.
void espl__grid_move(const espl__pose_grid *grid, uint32_t pose[ESPL__POSE_WORDS]);

/// Compute what is left of a pose. The mask is 0 only where both are equal.
void espl__pose_rest_of(const espl__pose_grid *grid, const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out);
/// Compute the pose of which something is left: the inverse.
/// @return false: it was too far away for a grid, so that this is what is left of no pose.
bool espl__pose_with_rest(const espl__pose_grid *grid, const uint32_t before[ESPL__POSE_WORDS],
                          const espl__pose_rest *rest, uint32_t after[ESPL__POSE_WORDS]);

#endif

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
    ESPL__DELTA_METHODS
} espl__delta_method;

/// What is left of a pose.
typedef struct espl__pose_rest {
    uint32_t words[ESPL__POSE_WORDS];
    uint8_t mask; // a bit for each word that is not 0
} espl__pose_rest;

/// Compute what is left of a pose. @return its mask; 0 only where both are equal.
void espl__pose_rest_of(const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out);
/// Compute the pose of which something is left: the inverse.
void espl__pose_with_rest(const uint32_t before[ESPL__POSE_WORDS], const espl__pose_rest *rest,
                          uint32_t after[ESPL__POSE_WORDS]);

#endif

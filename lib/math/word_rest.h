// SPDX-License-Identifier: MIT
// What is left of a number where the one before it is known, so that a small change takes few bytes. Deltas of
// archives and tapes have numbers so. The arithmetic is an interface (espalier_archive_format(5)), and must not
// change.
#ifndef ESPALIER_LIB_MATH_WORD_REST_H
#define ESPALIER_LIB_MATH_WORD_REST_H

#include "lib/base/trap.h"

#include <stdint.h>

/// Put the sign of a difference into its lowest bit: a small number of either sign is a small number.
static inline uint32_t espl__fold(uint32_t difference)
{
    return (difference & UINT32_C(0x80000000)) != 0 ? ~(difference << 1) : difference << 1;
}

/// The inverse.
static inline uint32_t espl__unfold(uint32_t folded)
{
    return (folded & 1) != 0 ? ~(folded >> 1) : folded >> 1;
}

/// Return what is left of the bits of a float, or of any word: the difference of their places in the order of
/// floats, with the sign in the lowest bit. 0 only where both are equal.
uint32_t espl__word_rest(uint32_t after, uint32_t before);
/// Return the word of which something is left: the inverse.
uint32_t espl__word_with_rest(uint32_t rest, uint32_t before);

/// Find the component of a rotation with the largest magnitude, the first of equal ones.
unsigned espl__main_component(const uint32_t rotation[ESPL__LEAST 4]);
/// Compute the component that gives a rotation unit length, with a sign. The one that it has is not read.
/// Products of two floats are exact in double, so that every compiler makes the same bits of it.
uint32_t espl__missing_component(const uint32_t rotation[ESPL__LEAST 4], unsigned component,
                                 uint32_t signed_as);
/// Predict that component of the rotation after, which is not read, from the other three and the rotation
/// before: it is as before where these are, and else gives unit length, with the sign that it had.
uint32_t espl__predict_component(const uint32_t before[ESPL__LEAST 4],
                                 const uint32_t after[ESPL__LEAST 4], unsigned component);

#endif

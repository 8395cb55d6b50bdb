// SPDX-License-Identifier: MIT
// Parts of the golden tape: random values without libm, and a hash of fields in a fixed order. It
// includes public headers only, and each draw is a statement of its own, because compilers differ
// in the order in which they evaluate arguments and initialisers.
#ifndef ESPALIER_TESTS_GOLDEN_GOLDEN_H
#define ESPALIER_TESTS_GOLDEN_GOLDEN_H

#include <espalier/espalier.h>

/// Source of random values.
typedef struct golden_dice {
    uint64_t state;
    uint32_t extreme_one_in; ///< Numbers that are zeros, denormals or huge; 0: none.
    uint32_t bad_one_in;     ///< Numbers that are NaN or infinite; 0: none.
    bool is_bare;            ///< No stretch and no context but the default.
} golden_dice;

/// splitmix64.
uint64_t golden_random(golden_dice *dice);
/// In [0, bound).
uint32_t golden_below(golden_dice *dice, uint32_t bound);
bool golden_one_in(golden_dice *dice, uint32_t n);

/// In [-8, 8) with 24 bits, or extreme, or bad.
float golden_number(golden_dice *dice);
/// A scale: in [0.5, 1.5), at times negative, or extreme, or bad.
float golden_scale(golden_dice *dice);
void golden_stretch(golden_dice *dice, float out[3]);
/// Of any length, almost of unit length, or a quarter turn.
void golden_rotation(golden_dice *dice, float out[4]);
espl_transform golden_transform(golden_dice *dice);
/// The same, fit to be a frame: its rotation has unit length and every field is finite.
espl_transform golden_frame(golden_dice *dice);

/// FNV-1a.
#define GOLDEN_START UINT64_C(0xcbf29ce484222325)
uint64_t golden_hash_word(uint64_t hash, uint32_t word);
uint64_t golden_hash_size(uint64_t hash, size_t size);
/// All NaN hash alike: their sign and payload are the machine's.
uint64_t golden_hash_floats(uint64_t hash, const float *values, size_t count);
uint64_t golden_hash_transform(uint64_t hash, const espl_transform *transform);

/// One line of golden.txt. The last one, "total", is of all before.
void golden_line(uint64_t *total, const char *name, uint64_t hash);
/// The lines of the functions on placements as values.
void golden_formulas(uint64_t *total);

#endif

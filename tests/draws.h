// SPDX-License-Identifier: MIT
// The choices of one operation come from a record of a few bytes. A tape is a list of records, so
// an operation can be dropped and later records keep a meaning; a list of records can come from a
// seed, from a fuzzer, or from a regression test.
#ifndef ESPALIER_TESTS_DRAWS_H
#define ESPALIER_TESTS_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

enum { TAPE_RECORD_SIZE = 24, TAPE_ENDS_BATCH = 0x80 };

/// One operation. The first bytes say what it is, the next whom it names and how. The last is not
/// its own: with the bit TAPE_ENDS_BATCH a batch of recorded operations ends behind it.
typedef struct tape_record {
    unsigned char bytes[TAPE_RECORD_SIZE];
} tape_record;

typedef struct tape_draw {
    tape_record record;
    uint32_t at;     // bytes taken
    uint64_t random; // from a hash of the record: values, and choices when its bytes are used up
} tape_draw;

void draw_begin(tape_draw *draw, const tape_record *record);
/// Choice in [0, bound); 0 for a bound of 0, and where the bytes are zero.
uint32_t draw_below(tape_draw *draw, uint32_t bound);
/// Tell true in one of `n` cases; false where the byte is zero, unless `n` is 1.
bool draw_one_in(tape_draw *draw, uint32_t n);
/// Float in [low, high), which takes no byte.
float draw_between(tape_draw *draw, float low, float high);
/// Any number, which takes no byte.
uint64_t draw_bits(tape_draw *draw);

/// Any number of its own for each `number`, which takes no byte and changes no other choice.
uint64_t draw_aside(const tape_draw *draw, uint32_t number);

/// Make the next record of a tape that comes from a seed. It ends no batch.
tape_record record_from(uint64_t *random);

#endif

// SPDX-License-Identifier: MIT
// Inputs that are a head and records of a fixed size: seed of the style, population, limit, flags,
// then one record for each operation.
#ifndef ESPALIER_TESTS_FUZZ_ROLL_H
#define ESPALIER_TESTS_FUZZ_ROLL_H

#include "tests/fuzz/target.h"
#include "tests/tape.h"

enum { FUZZ_HEAD_SIZE = 14, FUZZ_STRUCTURAL = 1 };

typedef struct fuzz_roll {
    uint64_t seed;
    uint32_t population, limit, flags;
    tape_record *records; // [count] the last one filled up with zeros
    size_t count;
} fuzz_roll;

/// Read any bytes; those that are missing are 0. @param most  Largest population there may be.
fuzz_roll roll_read(const unsigned char *bytes, size_t size, uint32_t most);
void roll_free(fuzz_roll *roll);
fuzz_input roll_write(const fuzz_roll *roll);

/// Follow an order, or choose by its seed what it leaves open.
/// @param populations  [4] ordinary ones.
fuzz_roll roll_plan(const fuzz_order *order, const uint32_t *populations);

size_t roll_mutate(unsigned char *bytes, size_t size, size_t room, uint64_t *random);
size_t roll_part(const unsigned char *bytes, size_t size, size_t at);

#endif

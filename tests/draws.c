// SPDX-License-Identifier: MIT
#include "tests/draws.h"

#include "tests/support.h"

#include <string.h>

// The last byte is left out.
enum { OWN_SIZE = TAPE_RECORD_SIZE - 1 };

void draw_begin(tape_draw *draw, const tape_record *record)
{
    *draw = (tape_draw){.record = *record,
                        .random = test_hash_bytes(TEST_HASH_START, record->bytes, OWN_SIZE)};
}

// A byte is enough for most choices, and two for all but the largest.
uint32_t draw_below(tape_draw *draw, uint32_t bound)
{
    const uint32_t width = bound <= 256 ? 1 : bound <= 65536 ? 2 : 4;
    uint64_t number = 0;

    if (bound <= 1) {
        return 0;
    }
    if (draw->at + width > OWN_SIZE) {
        draw->at = OWN_SIZE;
        return test_below(&draw->random, bound);
    }
    for (uint32_t i = 0; i < width; ++i) {
        number = number << 8 | draw->record.bytes[draw->at++];
    }
    return (uint32_t)(number * bound >> 8 * width);
}

// The last of the cases, so that bytes of zero make the plainest operation.
bool draw_one_in(tape_draw *draw, uint32_t n)
{
    return draw_below(draw, n) == n - 1;
}

float draw_between(tape_draw *draw, float low, float high)
{
    return test_between(&draw->random, low, high);
}

uint64_t draw_bits(tape_draw *draw)
{
    return test_random(&draw->random);
}

uint64_t draw_aside(const tape_draw *draw, uint32_t number)
{
    uint64_t state = test_hash_bytes(TEST_HASH_START + number, draw->record.bytes, OWN_SIZE);

    return test_random(&state);
}

tape_record record_from(uint64_t *random)
{
    tape_record record;

    for (size_t i = 0; i < TAPE_RECORD_SIZE; i += 8) {
        const uint64_t bits = test_random(random);

        for (size_t k = 0; k < 8; ++k) {
            record.bytes[i + k] = (unsigned char)(bits >> 8 * k);
        }
    }
    record.bytes[TAPE_RECORD_SIZE - 1] = 0;
    return record;
}

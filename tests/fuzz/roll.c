// SPDX-License-Identifier: MIT
#include "tests/fuzz/roll.h"

#include "tests/asserts.h"

#include <stdlib.h>
#include <string.h>

// --- Bytes ---

static uint64_t read_number(const unsigned char *bytes, size_t size, size_t at, size_t width)
{
    uint64_t number = 0;

    for (size_t i = 0; i < width && at + i < size; ++i) {
        number |= (uint64_t)bytes[at + i] << 8 * i;
    }
    return number;
}

static void write_number(unsigned char *bytes, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; ++i) {
        bytes[i] = (unsigned char)(number >> 8 * i);
    }
}

fuzz_roll roll_read(const unsigned char *bytes, size_t size, uint32_t most)
{
    const size_t left = size > FUZZ_HEAD_SIZE ? size - FUZZ_HEAD_SIZE : 0;
    const uint32_t population = (uint32_t)read_number(bytes, size, 8, 2);
    fuzz_roll roll = {.seed = read_number(bytes, size, 0, 8),
                      .population = 1 + (population - 1) % most,
                      .limit = (uint32_t)read_number(bytes, size, 10, 2),
                      .flags = (uint32_t)read_number(bytes, size, 12, 2),
                      .count = (left + TAPE_RECORD_SIZE - 1) / TAPE_RECORD_SIZE};

    roll.records = calloc(roll.count + 1, sizeof *roll.records);
    ck_assert_ptr_nonnull(roll.records);
    if (left != 0) {
        memcpy(roll.records, bytes + FUZZ_HEAD_SIZE, left);
    }
    return roll;
}

void roll_free(fuzz_roll *roll)
{
    free(roll->records);
}

fuzz_input roll_write(const fuzz_roll *roll)
{
    fuzz_input input = {.size = FUZZ_HEAD_SIZE + roll->count * TAPE_RECORD_SIZE};

    input.bytes = malloc(input.size);
    ck_assert_ptr_nonnull(input.bytes);
    write_number(input.bytes, roll->seed, 8);
    write_number(input.bytes + 8, roll->population, 2);
    write_number(input.bytes + 10, roll->limit, 2);
    write_number(input.bytes + 12, roll->flags, 2);
    memcpy(input.bytes + FUZZ_HEAD_SIZE, roll->records, roll->count * TAPE_RECORD_SIZE);
    return input;
}

// --- Orders ---

fuzz_roll roll_plan(const fuzz_order *order, const uint32_t *populations)
{
    uint64_t random = order->seed ^ 0x5f5f;
    const uint32_t population = populations[test_below(&random, 4)];
    const uint32_t limit = 1 + test_below(&random, test_one_in(&random, 2) ? 60 : 8);
    const bool is_structural = test_one_in(&random, 2);
    const size_t length = 4 + test_below(&random, test_one_in(&random, 2) ? 160 : 30);
    fuzz_roll roll = {.seed = order->seed,
                      .population = order->population != 0 ? order->population : population,
                      .limit = order->limit != 0 ? order->limit : limit,
                      .count = order->length != 0 ? order->length : length};

    // An order that leaves nothing open is one of a test, whose style is what it says.
    if (order->is_structural || (order->population == 0 && is_structural)) {
        roll.flags = FUZZ_STRUCTURAL;
    }
    roll.records = calloc(roll.count + 1, sizeof *roll.records);
    ck_assert_ptr_nonnull(roll.records);
    return roll;
}

// --- Changes ---

static size_t count_of(size_t size)
{
    return size <= FUZZ_HEAD_SIZE ? 0 : (size - FUZZ_HEAD_SIZE) / TAPE_RECORD_SIZE;
}

static unsigned char *at_record(unsigned char *bytes, size_t record)
{
    return bytes + FUZZ_HEAD_SIZE + record * TAPE_RECORD_SIZE;
}

// Make room for one more; what stands in it is left to the caller. @return NULL: there is none.
static unsigned char *open_record(unsigned char *bytes, size_t *size, size_t room, size_t record)
{
    const size_t count = count_of(*size);

    if (*size < FUZZ_HEAD_SIZE || *size + TAPE_RECORD_SIZE > room) {
        return NULL;
    }
    unsigned char *const at = at_record(bytes, record);

    memmove(at + TAPE_RECORD_SIZE, at, (count - record) * TAPE_RECORD_SIZE);
    *size = FUZZ_HEAD_SIZE + (count + 1) * TAPE_RECORD_SIZE;
    return at;
}

static void insert_record(unsigned char *bytes, size_t *size, size_t room, uint64_t *random)
{
    const uint32_t to = test_below(random, (uint32_t)count_of(*size) + 1);
    unsigned char *const at = open_record(bytes, size, room, to);
    const tape_record record = record_from(random);

    if (at != NULL) {
        memcpy(at, record.bytes, TAPE_RECORD_SIZE);
    }
}

static void repeat_record(unsigned char *bytes, size_t *size, size_t room, uint64_t *random)
{
    const uint32_t count = (uint32_t)count_of(*size);
    unsigned char record[TAPE_RECORD_SIZE];

    memcpy(record, at_record(bytes, test_below(random, count)), TAPE_RECORD_SIZE);
    unsigned char *const at = open_record(bytes, size, room, test_below(random, count + 1));
    if (at != NULL) {
        memcpy(at, record, TAPE_RECORD_SIZE);
    }
}

static void drop_records(unsigned char *bytes, size_t *size, uint64_t *random)
{
    const uint32_t count = (uint32_t)count_of(*size);
    const uint32_t first = test_below(random, count);
    const uint32_t most = test_one_in(random, 4) ? count - first : 1;
    const uint32_t dropped = 1 + test_below(random, most);

    memmove(at_record(bytes, first), at_record(bytes, first + dropped),
            (count - first - dropped) * TAPE_RECORD_SIZE);
    *size = FUZZ_HEAD_SIZE + (count - dropped) * TAPE_RECORD_SIZE;
}

static void swap_records(unsigned char *bytes, size_t size, uint64_t *random)
{
    const uint32_t count = (uint32_t)count_of(size);
    unsigned char *const one = at_record(bytes, test_below(random, count));
    unsigned char *const other = at_record(bytes, test_below(random, count));
    unsigned char record[TAPE_RECORD_SIZE];

    memcpy(record, one, TAPE_RECORD_SIZE);
    memmove(one, other, TAPE_RECORD_SIZE);
    memcpy(other, record, TAPE_RECORD_SIZE);
}

// The first bytes of a record say most.
static void change_byte(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const unsigned char edges[] = {0, 1, 0x40, 0x7f, 0x80, 0xff};
    unsigned char *const record = at_record(bytes, test_below(random, (uint32_t)count_of(size)));
    const uint32_t place = test_below(random, test_one_in(random, 2) ? 6 : TAPE_RECORD_SIZE);

    record[place] = test_one_in(random, 3) ? edges[test_below(random, sizeof edges)]
                                           : (unsigned char)test_below(random, 256);
}

static void change_head(unsigned char *bytes, uint64_t *random)
{
    static const uint32_t populations[] = {1, 4, 12, 24, 60, 200};
    static const uint32_t limits[] = {1, 2, 8, 60, 400};

    switch (test_below(random, 4)) {
    case 0:
        write_number(bytes, test_random(random), 8);
        break;
    case 1:
        write_number(bytes + 8, populations[test_below(random, 6)], 2);
        break;
    case 2:
        write_number(bytes + 10, limits[test_below(random, 5)], 2);
        break;
    default:
        write_number(bytes + 12, test_below(random, 2), 2);
        break;
    }
}

size_t roll_mutate(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    if (size < FUZZ_HEAD_SIZE && room >= FUZZ_HEAD_SIZE) {
        memset(bytes + size, 1, FUZZ_HEAD_SIZE - size);
        size = FUZZ_HEAD_SIZE;
    }
    for (uint32_t i = 1 + test_below(random, 4); i > 0 && size >= FUZZ_HEAD_SIZE; --i) {
        const uint32_t kind = count_of(size) == 0 ? 0 : test_below(random, 16);

        if (kind < 3) {
            insert_record(bytes, &size, room, random);
        } else if (kind < 5) {
            repeat_record(bytes, &size, room, random);
        } else if (kind < 7) {
            drop_records(bytes, &size, random);
        } else if (kind < 9) {
            swap_records(bytes, size, random);
        } else if (kind < 15) {
            change_byte(bytes, size, random);
        } else {
            change_head(bytes, random);
        }
    }
    return size;
}

size_t roll_part(const unsigned char *bytes, size_t size, size_t at)
{
    const size_t wanted = at == 0 ? FUZZ_HEAD_SIZE : TAPE_RECORD_SIZE;

    (void)bytes;
    return wanted < size - at ? wanted : size - at;
}

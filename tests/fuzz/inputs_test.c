// SPDX-License-Identifier: MIT
// Inputs of the fuzz targets: how they are made, changed and cut into records. Every input that the
// drivers make can be run.
#include "tests/fuzz/cuts.h"
#include "tests/fuzz/roll.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include "tools/replay.h"

#include <string.h>

enum { SEEDS = 40, ROOM = 1 << 16 };

static const fuzz_target *const targets[] = {&fuzz_operations, &fuzz_recorded, &fuzz_replay,
                                             &fuzz_archive,    &fuzz_delta,    &fuzz_image};

enum { TARGETS = sizeof targets / sizeof *targets };

static fuzz_input input_of(const fuzz_target *target, uint64_t seed)
{
    const fuzz_order order = {.seed = seed};

    return target->make(&order);
}

TEST_LOOP(the_same_order_makes_the_same_input, 0, TARGETS)
{
    const fuzz_target *const target = targets[_i];

    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const fuzz_input one = input_of(target, seed), other = input_of(target, seed);

        ck_assert_uint_eq(one.size, other.size);
        ck_assert_mem_eq(one.bytes, other.bytes, one.size);
        free(one.bytes);
        free(other.bytes);
    }
}

// Parts follow one another to the end.
static size_t count_parts(const fuzz_target *target, const unsigned char *bytes, size_t size)
{
    size_t at = 0, count = 0;

    while (at < size) {
        const size_t length = target->part(bytes, size, at);

        ck_assert_uint_gt(length, 0);
        ck_assert_uint_le(length, size - at);
        at += length;
        count += 1;
    }
    return count;
}

TEST_LOOP(what_is_changed_keeps_to_its_room_and_has_parts, 0, TARGETS)
{
    const fuzz_target *const target = targets[_i];
    unsigned char *const bytes = malloc(ROOM);
    size_t grown = 0, shrunk = 0;

    ck_assert_ptr_nonnull(bytes);
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const fuzz_input input = input_of(target, seed);
        const size_t room = input.size + (size_t)seed * 7;
        uint64_t random = seed;
        size_t size = input.size;

        ck_assert_uint_le(room, ROOM);
        memcpy(bytes, input.bytes, size);
        free(input.bytes);
        for (int i = 0; i < 100; ++i) {
            const size_t before = size;

            size = target->mutate(bytes, size, room, &random);
            ck_assert_uint_le(size, room);
            (void)count_parts(target, bytes, size);
            grown += size > before;
            shrunk += size < before;
        }
    }
    ck_assert_uint_gt(grown, SEEDS);
    ck_assert_uint_gt(shrunk, SEEDS);
    free(bytes);
}

// Beginning with nothing, too.
TEST_LOOP(what_is_changed_can_be_run, 0, TARGETS)
{
    const fuzz_target *const target = targets[_i];
    unsigned char *const bytes = calloc(ROOM, 1);
    uint64_t random = 9;
    size_t size = 0;

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < test_scaled_alone(200); ++i) {
        target->run(bytes, size);
        size = target->mutate(bytes, size, 1000, &random);
    }
    for (size_t length = 0; length < size; length += 5) {
        target->run(bytes, length);
    }
    free(bytes);
}

TEST(a_roll_that_is_written_is_read_again)
{
    tape_record records[3] = {{{1, 2, 3}}, {{4}}, {{0}}};
    const fuzz_roll roll = {.seed = UINT64_C(0x0123456789abcdef),
                            .population = 60,
                            .limit = 300,
                            .flags = FUZZ_STRUCTURAL,
                            .records = records,
                            .count = 3};
    const fuzz_input input = roll_write(&roll);

    ck_assert_uint_eq(input.size, FUZZ_HEAD_SIZE + 3 * TAPE_RECORD_SIZE);
    fuzz_roll read = roll_read(input.bytes, input.size, 60);

    ck_assert_uint_eq(read.seed, roll.seed);
    ck_assert_uint_eq(read.population, roll.population);
    ck_assert_uint_eq(read.limit, roll.limit);
    ck_assert_uint_eq(read.flags, roll.flags);
    ck_assert_uint_eq(read.count, 3);
    ck_assert_mem_eq(read.records, records, sizeof records);
    roll_free(&read);

    // A record that is cut short goes on with zeros.
    read = roll_read(input.bytes, FUZZ_HEAD_SIZE + TAPE_RECORD_SIZE + 1, 59);
    ck_assert_uint_eq(read.population, 1);
    ck_assert_uint_eq(read.count, 2);
    ck_assert_mem_eq(read.records, records, 2 * sizeof *records);
    roll_free(&read);
    free(input.bytes);
}

// What a failure of such a test says leads to the same operations in the same batches.
TEST(an_order_of_a_seed_is_the_tape_of_its_test)
{
    enum { POPULATION = 12, LIMIT = 5, BATCHES = 30 };

    const espl_executor serial = {0};
    stage *const s = stage_begin(11, POPULATION, &serial, 1);
    const fuzz_order order = {
        .seed = 11, .population = POPULATION, .limit = LIMIT, .length = BATCHES * LIMIT};
    const fuzz_input input = fuzz_recorded.make(&order);
    fuzz_roll roll = roll_read(input.bytes, input.size, UINT16_MAX);

    for (int i = 0; i < BATCHES; ++i) {
        const size_t first = s->tape.taken;

        stage_record(s, 1 + test_below(&s->tape.random, LIMIT));
        for (size_t k = first; k < s->tape.taken; ++k) {
            const bool is_last = k + 1 == s->tape.taken;
            tape_record *const record = &roll.records[k];

            ck_assert_uint_eq(record->bytes[TAPE_RECORD_SIZE - 1], is_last ? TAPE_ENDS_BATCH : 0);
        }
        ck_assert_mem_eq(&roll.records[s->tape.taken - 1], &s->tape.draw.record,
                         TAPE_RECORD_SIZE - 1);
        espl_command_buffer_reset(s->played[0].batch);
    }
    roll_free(&roll);
    free(input.bytes);
    stage_end(s);
}

// --- Tape files ---

TEST(tape_files_are_cut_into_their_records)
{
    size_t met[ESPL_TAPE_OP_COUNT] = {0};

    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const fuzz_order order = {.seed = seed, .length = 12};
        const fuzz_input input = fuzz_replay.make(&order);
        const replay_def def = {.memory = 0};
        replay_result result;
        size_t frames = 0, at = CUTS_HEAD_SIZE;

        while (at < input.size) {
            const size_t length = cuts_record(input.bytes, input.size, at);

            ck_assert_uint_gt(length, 1);
            ck_assert_uint_eq(cuts_record(input.bytes, at + length - 1, at), 0);
            met[input.bytes[at]] += 1;
            frames += input.bytes[at] == ESPL_TAPE_FRAME;
            at += length;
        }
        ck_assert_uint_eq(at, input.size);
        ck_assert_msg(replay_run(&def, input.bytes, input.size, &result) == REPLAY_AGREED, "%s",
                      result.fault.text);
        ck_assert_uint_eq(result.frames, frames);
        free(input.bytes);
    }
    // Most kinds of record were there.
    static const espl_tape_op usual[] = {ESPL_TAPE_REGISTER,   ESPL_TAPE_CREATE,  ESPL_TAPE_SET,
                                         ESPL_TAPE_ATTACH,     ESPL_TAPE_DETACH,  ESPL_TAPE_DESTROY,
                                         ESPL_TAPE_WRITES,     ESPL_TAPE_WRITE,   ESPL_TAPE_CHANGE,
                                         ESPL_TAPE_MAKE,       ESPL_TAPE_SIBLING, ESPL_TAPE_NAME,
                                         ESPL_TAPE_ATTACH_MANY};

    for (size_t i = 0; i < sizeof usual / sizeof *usual; ++i) {
        ck_assert_msg(met[usual[i]] != 0, "no record of kind %d", (int)usual[i]);
    }
}

TEST(bytes_that_are_no_record_are_not_cut)
{
    static const unsigned char bytes[64] = {ESPL_TAPE_CREATE, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char column[64] = {ESPL_TAPE_COLUMN, 1, 0, 0, 0, 4, 0, 0, 0, 0xff};

    ck_assert_uint_eq(cuts_record(bytes, sizeof bytes, 0), 0);
    ck_assert_uint_eq(cuts_record(column, sizeof column, 0), 0);
    ck_assert_uint_eq(cuts_record(bytes, sizeof bytes, 5), 0); // a record of kind 0
    ck_assert_uint_eq(cuts_record(bytes, sizeof bytes, 1), 0); // of kind 255
}

// What goes on does not stop at an answer that differs.
TEST(a_replay_may_go_on_past_what_differs)
{
    const fuzz_order order = {.seed = 3, .length = 30};
    const fuzz_input input = fuzz_replay.make(&order);
    const replay_def strict = {.memory = 0}, lenient = {.goes_on = true};
    replay_result first, other;
    size_t at = CUTS_HEAD_SIZE;

    // The answer of the first record becomes another one.
    at += cuts_record(input.bytes, input.size, at) - 1;
    input.bytes[at] = (unsigned char)ESPL_LOSSY;
    ck_assert_int_eq(replay_run(&strict, input.bytes, input.size, &first), REPLAY_DISAGREED);
    ck_assert_int_eq(replay_run(&lenient, input.bytes, input.size, &other), REPLAY_AGREED);
    ck_assert_uint_eq(first.calls, 1);
    ck_assert_uint_gt(other.calls, 1);
    ck_assert(!first.is_broken && !other.is_broken);
    free(input.bytes);
}

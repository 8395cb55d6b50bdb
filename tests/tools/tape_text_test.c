// SPDX-License-Identifier: MIT
// What records say, held against the replay that carries them out: both find the same ends.
#include "tools/tape_text.h"

#include "tests/runner.h"

#include "tests/fuzz/target.h"
#include "tools/replay.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 30, CALLS = 40, TEXT = 512 };

static tape_head head_of(const fuzz_input *input)
{
    tool_fault fault = {""};
    reel r = {.bytes = input->bytes, .size = input->size, .at = 8, .fault = &fault};
    const uint32_t version = reel_u32(&r);

    return (tape_head){version, reel_u32(&r)};
}

static fuzz_input make_tape(uint64_t seed)
{
    const fuzz_order order = {.seed = seed, .length = CALLS};

    return fuzz_replay.make(&order);
}

TEST(each_record_ends_where_the_replay_finds_its_end)
{
    size_t met[ESPL_TAPE_OP_COUNT] = {0};

    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const fuzz_input input = make_tape(seed);
        const replay_def def = {.memory = 0};
        replay_result result;
        replay p;
        tool_fault fault = {""};
        reel r = {.bytes = input.bytes, .size = input.size, .at = TAPE_HEAD_SIZE, .fault = &fault};

        replay_begin(&p, &def, input.bytes, input.size, &result);
        while (replay_step(&p)) {
            char text[TEXT] = "";
            tape_line line = {.text = text, .size = sizeof text};
            const taped_record record = tape_text_read(&r, &(tape_head){p.version, p.tag}, &line);

            ck_assert_msg(r.state == REEL_GOOD, "%s", fault.text);
            ck_assert_uint_eq(r.at, p.reel.at);
            ck_assert_int_eq(record.status, p.expected);
            ck_assert(!record.is_cut);
            ck_assert_mem_eq(text, tape_text_name(record.op), strlen(tape_text_name(record.op)));
            met[record.op] += 1;
        }
        ck_assert_int_eq(replay_end(&p), REPLAY_AGREED);
        ck_assert_uint_eq(r.at, input.size);
        free(input.bytes);
    }
    ck_assert_uint_gt(met[ESPL_TAPE_FRAME], 0);
    ck_assert_uint_gt(met[ESPL_TAPE_WRITES], 0);
    ck_assert_uint_gt(met[ESPL_TAPE_PLAY] + met[ESPL_TAPE_MAKE], 0);
    ck_assert_uint_gt(met[ESPL_TAPE_REGISTER], 0);
}

TEST(the_text_does_not_change_where_a_record_ends)
{
    const fuzz_input input = make_tape(7);
    const tape_head head = head_of(&input);
    tool_fault fault = {""};
    reel with = {.bytes = input.bytes, .size = input.size, .at = TAPE_HEAD_SIZE, .fault = &fault};
    reel without = with;

    while (reel_left(&with) != 0) {
        char text[8] = "";
        tape_line line = {.text = text, .size = sizeof text};
        const taped_record first = tape_text_read(&with, &head, &line);
        const taped_record other = tape_text_read(&without, &head, NULL);

        ck_assert_uint_eq(with.at, without.at);
        ck_assert_uint_eq(first.marks, other.marks);
        ck_assert_uint_eq(strlen(text), sizeof text - 1);
    }
    free(input.bytes);
}

TEST(a_cut_tape_ends_within_a_record_or_before_its_status)
{
    const fuzz_input input = make_tape(11);
    const tape_head head = head_of(&input);
    size_t cut = 0;

    for (size_t size = TAPE_HEAD_SIZE + 1; size < input.size; ++size) {
        tool_fault fault = {""};
        reel r = {.bytes = input.bytes, .size = size, .at = TAPE_HEAD_SIZE, .fault = &fault};
        bool is_cut = false;

        while (r.state == REEL_GOOD && reel_left(&r) != 0) {
            is_cut = tape_text_read(&r, &head, NULL).is_cut;
        }
        ck_assert_msg(r.state != REEL_BAD, "%s", fault.text);
        ck_assert(r.state == REEL_SHORT || is_cut || r.at == size);
        cut += is_cut;
        reel_next(&r);
    }
    ck_assert_uint_gt(cut, CALLS / 2);
    free(input.bytes);
}

TEST(bytes_that_are_no_record_are_named)
{
    const tape_head head = {ESPL_TAPE_VERSION, 1};
    static const unsigned char bytes[TAPE_HEAD_SIZE + 4] = {0};
    tool_fault fault = {""};
    reel r = {.bytes = bytes, .size = sizeof bytes, .at = TAPE_HEAD_SIZE, .fault = &fault};

    (void)tape_text_read(&r, &head, NULL);
    ck_assert_int_eq(r.state, REEL_BAD);
    ck_assert_str_eq(fault.text, "at byte 32: no record begins with 0");
    ck_assert_str_eq(tape_text_name(ESPL_TAPE_OP_COUNT), "");
}

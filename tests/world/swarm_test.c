// SPDX-License-Identifier: MIT
// Seeds and records of the random drivers: each seed leaves some operations and shapes out, so that
// others are more frequent, and every operation and shape is in some seed. Every record is an
// operation.
#include "tests/runner.h"
#include "tests/tape.h"

enum { SEEDS = 400 };

typedef struct census {
    uint32_t met[OPCODE_COUNT]; // seeds that give it a weight
    uint32_t shapes[SHAPE_COUNT];
    uint32_t values[4], flags[3];
} census;

static census take_census(bool is_recorded)
{
    census c = {.met = {0}};
    uint64_t state = 7;

    for (int i = 0; i < SEEDS; ++i) {
        test_tape tape;

        tape_begin(&tape, test_random(&state), 12);
        tape_take_cells(&tape);
        if (is_recorded) {
            tape_prepare_recorded(&tape);
        }
        for (opcode code = 0; code < OPCODE_COUNT; ++code) {
            c.met[code] += tape.style.weights[code] != 0;
        }
        c.shapes[tape.style.shape] += 1;
        c.values[tape.style.values] += 1;
        c.flags[tape.style.flags] += 1;
        tape_end(&tape);
    }
    return c;
}

static void demand_subsets(const census *c, opcode begin, opcode end, opcode always)
{
    for (opcode code = begin; code < end; ++code) {
        ck_assert_msg(c->met[code] > SEEDS / 20, "%s is met by %u seeds", tape_code_name(code),
                      c->met[code]);
        ck_assert_msg(code == always || c->met[code] < SEEDS, "no seed leaves %s out",
                      tape_code_name(code));
    }
}

TEST(each_operation_is_left_out_by_some_seeds)
{
    const census c = take_census(false);

    // Without a create there is nothing to do anything with.
    demand_subsets(&c, OP_CREATE, OP_TRIM, OP_CREATE);
    ck_assert_uint_gt(c.met[OP_TRIM], 0);
    ck_assert_uint_lt(c.met[OP_TRIM], SEEDS);
    for (opcode code = OP_TRIM + 1; code < OPCODE_COUNT; ++code) {
        ck_assert_uint_eq(c.met[code], 0);
    }
}

TEST(each_operation_that_is_recorded_is_left_out_by_some_seeds)
{
    static const opcode at_once[] = {
        OP_CREATE,       OP_INSTANTIATE, OP_LOOK_AT,      OP_ROTATE_ABOUT, OP_BATCH, OP_CHANGE,
        OP_CHANGE_QUERY, OP_ATTACH_MANY, OP_DESTROY_MANY, OP_CLEAR,        OP_NAME,  OP_TRIM};
    census c = take_census(true);

    // These are not recorded, so no seed may have them.
    for (size_t i = 0; i < sizeof at_once / sizeof *at_once; ++i) {
        ck_assert_uint_eq(c.met[at_once[i]], 0);
        c.met[at_once[i]] = SEEDS / 2;
    }
    // An instance stands for all that makes entities; a creation needs no other entity.
    ck_assert_uint_gt(c.met[OP_INSTANCE], 0);
    c.met[OP_INSTANCE] = SEEDS / 2;
    // A step has no weight: see the next test.
    demand_subsets(&c, OP_CREATE, OP_STEP, OP_CREATION);
    ck_assert_uint_eq(c.met[OP_STEP], 0);
}

// Steps are apart from the weights: some seeds take all kinds of them, and the others none.
TEST(each_step_and_each_flag_comes_up)
{
    size_t steps[STEP_COUNT] = {0}, carried = 0, teleported = 0, past = 0, still = 0;
    uint64_t state = 5;

    for (int i = 0; i < SEEDS; ++i) {
        size_t taken = 0;
        test_tape tape;

        tape_begin(&tape, test_random(&state), 12);
        tape_take_cells(&tape);
        for (int k = 0; k < 100; ++k) {
            const operation op = tape_next(&tape);

            if (op.code == OP_STEP) {
                steps[op.step] += 1;
                taken += 1;
            }
            if (op.code == OP_STEP || op.code == OP_CREATE) {
                (void)tape_apply(&tape, &op);
            }
            carried += op.code == OP_WRITE && ((unsigned)op.kind & ESPL_CARRY) != 0;
            teleported += op.code == OP_WRITE && ((unsigned)op.kind & ESPL_TELEPORT) != 0;
            past += op.code == OP_WRITE && op.kind == ESPL_WRITE_PREVIOUS_WORLD_POSE;
        }
        still += taken == 0;
        tape_end(&tape);
    }
    for (int i = 0; i < STEP_COUNT; ++i) {
        ck_assert_uint_gt(steps[i], SEEDS / 20);
    }
    ck_assert(carried > SEEDS / 20 && teleported > SEEDS / 20 && past > SEEDS / 20);
    ck_assert_uint_gt(still, SEEDS / 5);
}

TEST(each_shape_and_each_kind_of_value_comes_up)
{
    const census c = take_census(false);

    for (int i = 0; i < SHAPE_COUNT; ++i) {
        ck_assert_uint_gt(c.shapes[i], SEEDS / 20);
    }
    for (int i = 0; i < 4; ++i) {
        ck_assert_uint_gt(c.values[i], SEEDS / 20);
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert_uint_gt(c.flags[i], SEEDS / 20);
    }
}

// One in three or in twenty by the style; and of each kind.
TEST(one_operand_in_ten_or_so_names_nobody)
{
    size_t operands = 0, null = 0, foreign = 0, alien = 0, dead = 0;
    uint64_t state = 3;

    for (int i = 0; i < SEEDS; ++i) {
        test_tape tape;

        tape_begin(&tape, test_random(&state), 12);
        tape_take_cells(&tape);
        for (int k = 0; k < 16; ++k) {
            const uint32_t node = model_create(&tape.model, true, 0);

            ck_assert(k % 2 == 0 || model_destroy(&tape.model, node, MODEL_ONLY) != 0);
        }
        for (int k = 0; k < 50; ++k) {
            const uint32_t operand = tape_next(&tape).entity;

            operands += 1;
            null += operand == MODEL_NONE;
            foreign += operand == MODEL_FOREIGN;
            alien += operand == TAPE_ALIEN;
            dead += operand < tape.model.count ? !tape.model.nodes[operand].is_alive
                                               : operand == MODEL_DEAD;
        }
        tape_end(&tape);
    }
    const size_t bad = null + foreign + alien + dead;

    ck_assert_msg(bad > operands / 14 && bad < operands / 6, "%zu of %zu", bad, operands);
    ck_assert_uint_gt(null, bad / 6);
    ck_assert_uint_gt(foreign, bad / 6);
    ck_assert_uint_gt(alien, bad / 6);
    ck_assert_uint_gt(dead, bad / 6);
}

// --- Records ---

enum { RECORDS = 200 };

static void make_records(uint64_t seed, tape_record *records)
{
    test_tape tape;

    tape_begin(&tape, seed, 12);
    for (int i = 0; i < RECORDS; ++i) {
        records[i] = record_from(&tape.random);
    }
    tape_end(&tape);
}

static void demand_same(const operation *a, const operation *b)
{
    ck_assert_int_eq(a->code, b->code);
    ck_assert_uint_eq(a->entity, b->entity);
    ck_assert_uint_eq(a->parent, b->parent);
    ck_assert_uint_eq(a->before, b->before);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_uint_eq(a->tag, b->tag);
    ck_assert_mem_eq(&a->value, &b->value, sizeof a->value);
}

TEST(a_seed_and_its_records_make_the_same_operations)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        tape_record records[RECORDS];
        test_tape seeded, fed;

        make_records(seed, records);
        tape_begin(&seeded, seed, 12);
        tape_begin(&fed, seed, 12);
        tape_feed(&fed, records, RECORDS);
        while (!tape_is_over(&fed)) {
            const operation one = tape_next(&seeded), other = tape_next(&fed);

            demand_same(&one, &other);
        }
        ck_assert_uint_eq(seeded.taken, RECORDS);
        tape_end(&seeded);
        tape_end(&fed);
    }
}

TEST(a_record_that_is_dropped_leaves_the_others_what_they_were)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        enum { DROPPED = 7 };

        tape_record records[RECORDS];
        test_tape whole, rest;

        make_records(seed, records);
        tape_begin(&whole, seed, 12);
        tape_feed(&whole, records, RECORDS);
        for (int i = 0; i <= DROPPED; ++i) {
            (void)tape_next(&whole);
        }
        tape_begin(&rest, seed, 12);
        tape_feed(&rest, records + DROPPED + 1, RECORDS - DROPPED - 1);
        while (!tape_is_over(&rest)) {
            const operation one = tape_next(&whole), other = tape_next(&rest);

            demand_same(&one, &other);
        }
        ck_assert(tape_is_over(&whole));
        tape_end(&whole);
        tape_end(&rest);
    }
}

TEST(each_byte_of_a_record_but_the_last_is_its_own)
{
    const tape_record plain = {{0}};
    tape_draw first, other;

    draw_begin(&first, &plain);
    const uint64_t bits = draw_bits(&first);

    for (size_t i = 0; i < TAPE_RECORD_SIZE; ++i) {
        tape_record record = plain;

        record.bytes[i] = 1;
        draw_begin(&other, &record);
        ck_assert((draw_bits(&other) == bits) == (i == TAPE_RECORD_SIZE - 1));
    }
}

// When its bytes are used up, choices go on, all of them within bounds and all of them met.
TEST(draws_are_within_bounds_and_never_end)
{
    static const uint32_t bounds[] = {0, 1, 2, 3, 7, 255, 256, 257, 65536, 65537, UINT32_MAX};
    uint64_t random = 5;

    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; ++b) {
        uint32_t least = UINT32_MAX, most = 0;

        for (int i = 0; i < 40; ++i) {
            const tape_record record = record_from(&random);
            tape_draw draw;

            draw_begin(&draw, &record);
            for (int k = 0; k < 60; ++k) {
                const uint32_t number = draw_below(&draw, bounds[b]);

                ck_assert(number < bounds[b] || bounds[b] == 0);
                least = number < least ? number : least;
                most = number > most ? number : most;
            }
        }
        ck_assert_uint_le(least, bounds[b] / 100);
        ck_assert_uint_ge(most, bounds[b] - bounds[b] / 50 - (bounds[b] != 0));
    }
}

// SPDX-License-Identifier: MIT
// Commands of every kind over lanes and keys: at once, on the model, and played by one worker and by
// three that take jobs in a shuffled order. All come to the same.
#include "tests/fuzz/roll.h"
#include "tests/stage.h"

#include <stdio.h>

enum { POPULATION_LIMIT = 2000, WORLDS = 2 };

static bool ends_batch(const tape_record *record)
{
    return (record->bytes[TAPE_RECORD_SIZE - 1] & TAPE_ENDS_BATCH) != 0;
}

// Commands up to the record that ends the batch, as many as a world of this build takes.
static uint32_t next_batch(const test_tape *tape, uint32_t most)
{
    const tape_record *const records = tape->records + tape->taken;
    const size_t left = tape->record_count - tape->taken;
    uint32_t count = 1;

    while (count < left && count < most && !ends_batch(&records[count - 1])) {
        count += 1;
    }
    return count;
}

static void tell(const stage *s)
{
    for (uint32_t i = 0; fuzz_tells_steps && i < s->batch.count; ++i) {
        const operation *const op = &s->batch.operations[i];

        printf("# lane %u key %u %s entity %d parent %d before %d count %u: %s\n", op->lane,
               op->key, tape_code_name(op->code), (int)op->entity, (int)op->parent, (int)op->before,
               op->count,
               espl_status_name(s->batch.recorded[i] != ESPL_OK ? s->batch.recorded[i]
                                                                : s->batch.at_once[i]));
    }
    (void)fflush(stdout);
}

static void run(const unsigned char *bytes, size_t size)
{
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 3, .random = 5};
    const espl_executor executors[WORLDS] = {(espl_executor){0}, test_executor_of(&shuffled)};
    fuzz_roll roll = roll_read(bytes, size, POPULATION_LIMIT);
    stage *const s = stage_begin(roll.seed, roll.population, executors, WORLDS);
    bool goes_on = true;

    const uint32_t limit = roll.limit == 0 || roll.limit > BATCH_LIMIT ? BATCH_LIMIT : roll.limit;
    const uint32_t most = stage_fit(s, limit);
    tape_feed(&s->tape, roll.records, roll.count);
    while (goes_on && !tape_is_over(&s->tape) && !tape_is_worn(&s->tape)) {
        goes_on = stage_step(s, next_batch(&s->tape, most));
        tell(s);
    }
    stage_end(s);
    roll_free(&roll);
}

// The records that tests of this seed make, in batches as they are there.
static fuzz_input make(const fuzz_order *order)
{
    static const uint32_t populations[4] = {4, 12, 40, 150};
    fuzz_roll roll = roll_plan(order, populations);
    test_tape tape;
    size_t done = 0;

    tape_begin(&tape, roll.seed, roll.population);
    tape_prepare_recorded(&tape);
    while (done < roll.count) {
        const uint32_t batch = 1 + test_below(&tape.random, roll.limit);

        for (uint32_t i = 0; i < batch && done < roll.count; ++i, ++done) {
            roll.records[done] = record_from(&tape.random);
        }
        roll.records[done - 1].bytes[TAPE_RECORD_SIZE - 1] |= TAPE_ENDS_BATCH;
    }
    tape_end(&tape);
    const fuzz_input input = roll_write(&roll);

    roll_free(&roll);
    return input;
}

const fuzz_target fuzz_recorded = {.name = "recorded",
                                   .what = "playbacks come to what calls come to",
                                   .usual = 400,
                                   .make = make,
                                   .run = run,
                                   .mutate = roll_mutate,
                                   .part = roll_part};

// SPDX-License-Identifier: MIT
// A million commands of every kind, in playbacks of up to 200: on the model, immediately, and
// recorded over lanes with keys, played by every kind of executor. ESPL_SEED runs one tape,
// ESPL_OPERATIONS sets the number of commands, ESPL_FACTOR multiplies it.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/stage.h"

enum { MANNERS = 4, STEPS = 24, COMMANDS = 200 };

// An executor by turns; those with threads where the build has them.
typedef struct manners {
    test_executor hostile[2];
    espl_executor executors[MANNERS];
    uint32_t count;
} manners;

static void manners_begin(manners *m)
{
    *m = (manners){.hostile = {{.manner = TEST_REVERSED, .workers = 3},
                               {.manner = TEST_SHUFFLED, .workers = 7, .random = 5}}};
    m->executors[0] = (espl_executor){0};
    m->executors[1] = test_executor_of(&m->hostile[0]);
    m->executors[2] = test_executor_of(&m->hostile[1]);
    m->count = 3;
    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &m->executors[m->count]));
        m->count += 1;
    }
}

static void manners_end(manners *m)
{
    if (m->count == MANNERS) {
        espl_executor_destroy(&m->executors[MANNERS - 1]);
    }
}

// @return commands that were played and compared.
static size_t run_tape(uint64_t seed, const espl_executor *executor)
{
    static const uint32_t populations[4] = {4, 12, 40, 150};
    uint64_t random = seed;
    const uint32_t population = populations[test_below(&random, 4)];
    stage *const s = stage_begin(seed, population, executor, 1);
    const uint32_t limit = stage_fit(s, COMMANDS);

    stage_tell_driver(s, limit);
    for (int i = 0; i < STEPS && !tape_is_worn(&s->tape); ++i) {
        if (!stage_step(s, 1 + test_below(&s->tape.random, limit))) {
            break;
        }
    }
    const size_t commands = s->commands;
    stage_end(s);
    return commands;
}

TEST(a_million_commands_come_to_the_same_one_by_one_and_played)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t wanted =
        (size_t)test_environment("ESPL_OPERATIONS", test_scaled(1000000) * test_factor());
    uint64_t state = 41;
    size_t commands = 0;
    manners m;

    manners_begin(&m);
    for (uint32_t i = 0; commands < wanted && chosen == 0; ++i) {
        commands += run_tape(test_random(&state), &m.executors[i % m.count]);
    }
    for (uint32_t i = 0; i < m.count && chosen != 0; ++i) {
        (void)run_tape(chosen, &m.executors[i]);
    }
    test_tell_figure(commands, "commands played beside the model");
    manners_end(&m);
}

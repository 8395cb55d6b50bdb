// SPDX-License-Identifier: MIT
// Worlds and stretches that are out of date inside a playback. Sequences of changes of a small hierarchy
// with nodes that copy their parent are played in one playback. The world is then the one of the same
// calls at once, and valid. The sequences are every n-th one of all, and ESPL_FACTOR divides n; longer
// ones are drawn at random.
#include "tests/copying.h"
#include "tests/runner.h"

enum { LENGTH = 8, CASES_OF_A_WORLD = 100 };

// Two worlds: one plays the changes, and the other one carries them out at once.
static struct {
    test_world played, called;
    espl_command_buffer *commands;
    size_t cases;
} t;

static void begin_worlds(void)
{
    test_world_begin(&t.played, 1, NULL);
    test_world_begin(&t.called, 1, NULL);
    t.commands = test_commands(t.played.world, 1);
}

static void end_worlds(void)
{
    espl_command_buffer_destroy(t.commands);
    test_world_end(&t.played);
    test_world_end(&t.called);
}

FIXTURE(begin_worlds, end_worlds);

// A build with few generations of an index needs new worlds.
static void clear_worlds(void)
{
    t.cases += 1;
    if (t.cases % CASES_OF_A_WORLD == 0) {
        end_worlds();
        begin_worlds();
        return;
    }
    espl_command_buffer_reset(t.commands);
    ck_ok(espl_world_clear(t.played.world));
    ck_ok(espl_world_clear(t.called.world));
}

#define DEMAND(condition) \
    ck_assert_msg(condition, "%s", copying_describe(chain, changes, count, text, sizeof text))

static void play_case(const char *chain, const copying_change *changes, uint32_t count)
{
    espl_recorder *const to = espl_command_buffer_recorder(t.commands, 0);
    espl_status statuses[LENGTH];
    espl_validation report = {0};
    copying played, called;
    char text[256];

    copying_make(&played, t.played.world, chain);
    copying_make(&called, t.called.world, chain);
    for (uint32_t i = 0; i < count; ++i) {
        ck_ok(copying_record(&played, to, changes[i]));
        statuses[i] = copying_run(&called, changes[i]);
    }
    ck_ok(espl_play(t.played.world, t.commands, NULL));
    for (uint32_t i = 0; i < count; ++i) {
        DEMAND(espl_command_buffer_result(t.commands, 0, i) == statuses[i]);
    }
    DEMAND(espl_validate(t.played.world, &report));
    DEMAND(copying_hash(&played) == copying_hash(&called));
    DEMAND(test_logical_hash(t.played.world) == test_logical_hash(t.called.world));
    clear_worlds();
}

// Sequences of `length` changes of the first `kinds` kinds, on each chain.
// @param stride  from one case to the next one.
static void play_all(uint32_t kinds, uint32_t length, uint32_t stride)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < copying_chain_count; ++i) {
        const char *const chain = copying_chains[i];
        const uint64_t count = copying_count(chain, kinds, length);

        for (; at < count; at += stride) {
            copying_change changes[LENGTH];

            copying_sequence(chain, kinds, length, at, changes);
            play_case(chain, changes, length);
        }
        at -= count;
    }
}

// From one case to the next one, in a build and with an ESPL_FACTOR. A case takes 20 microseconds.
static uint32_t stride_of(uint32_t stride)
{
    const uint64_t wanted = (uint64_t)stride * test_stride(5) / test_factor();

    return wanted > 0 ? (uint32_t)wanted : 1;
}

TEST(user_data_does_not_hide_a_stretch_from_the_children_of_a_copy)
{
    const copying_change changes[] = {
        {COPYING_STRETCH, 0}, {COPYING_USER_DATA, 0}, {COPYING_READ, 2}};

    play_case("tbt", changes, 3);
    play_case("tct", changes, 3);
}

TEST(two_changes_of_any_kind_play_as_one_after_the_other)
{
    play_all(COPYING_KINDS, 2, stride_of(5));
}

TEST(three_changes_of_any_kind_play_as_one_after_the_other)
{
    play_all(COPYING_KINDS, 3, stride_of(601));
}

TEST(three_changes_play_as_one_after_the_other)
{
    play_all(COPYING_CORE, 3, stride_of(23));
}

TEST(four_changes_play_as_one_after_the_other)
{
    play_all(COPYING_CORE, 4, stride_of(2003));
}

TEST(longer_sequences_drawn_at_random_play_as_at_once)
{
    uint64_t random = test_environment("ESPL_SEED", 5);

    for (size_t i = 0; i < test_scaled_alone(4000) * test_factor(); ++i) {
        const char *const chain = copying_chains[test_below(&random, copying_chain_count)];
        copying_change changes[LENGTH];

        copying_sequence(chain, COPYING_KINDS, LENGTH, test_random(&random), changes);
        play_case(chain, changes, LENGTH);
    }
}

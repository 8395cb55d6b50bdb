// SPDX-License-Identifier: MIT
// Playbacks that run out of memory and are undone, in hierarchies with nodes that copy their parent.
// Propagation stores stretch and user data of the parent in such nodes, and the undo log does not name
// all of them. Whatever allocation fails, the world is as it was, and the retry gives the world of a
// playback that lacked nothing.
#include "tests/copying.h"
#include "tests/inside.h"
#include "tests/runner.h"

enum { LENGTH = 8, HIERARCHIES = 3 };

// A case: hierarchies of one chain, and changes that one playback makes of each.
typedef struct undone {
    const char *chain;
    uint32_t hierarchies;
    const espl_executor *executor; // NULL: serial
    copying_change changes[LENGTH];
    uint32_t count;
    // Hashes after a playback that lacked nothing.
    uint64_t seen, logical, physical;
    size_t points; // playbacks that ran out of memory
} undone;

static struct {
    test_world test;
    espl_command_buffer *commands;
    copying c[HIERARCHIES];
} t;

static void begin(const undone *u)
{
    test_world_begin(&t.test, 1, u->executor);
    if (u->executor != NULL) {
        test_cut_jobs(t.test.world, 1);
    }
    for (uint32_t i = 0; i < u->hierarchies; ++i) {
        copying_make(&t.c[i], t.test.world, u->chain);
    }
    t.commands = test_commands(t.test.world, 1);
    espl_recorder *const to = espl_command_buffer_recorder(t.commands, 0);
    for (uint32_t i = 0; i < u->count * u->hierarchies; ++i) {
        ck_ok(copying_record(&t.c[i % u->hierarchies], to, u->changes[i / u->hierarchies]));
    }
}

static uint64_t hash_all(const undone *u)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < u->hierarchies; ++i) {
        const uint64_t one = copying_hash(&t.c[i]);

        hash = test_hash_bytes(hash, &one, sizeof one);
    }
    return hash;
}

static void end(void)
{
    espl_command_buffer_destroy(t.commands);
    test_world_end(&t.test);
}

#define DEMAND(condition)                                               \
    ck_assert_msg(condition, "%s, allocation %zu%s: %s", #condition, n, \
                  fails_after ? " and later ones" : "",                 \
                  copying_describe(u->chain, u->changes, u->count, (char[256]){0}, 256))

// The n-th allocation of a playback fails, or that and all later ones, for all n from the first one
// on, until the playback passes. @return the next n, or 0 where no allocation failed.
static size_t play_without(undone *u, size_t n, bool fails_after)
{
    espl_world *const w = t.test.world;
    const uint64_t seen = hash_all(u), logical = test_logical_hash(w);
    const uint64_t physical = test_physical_hash(w);
    espl_status status = ESPL_ERR_NO_MEMORY;
    bool has_failed = true;

    for (; status == ESPL_ERR_NO_MEMORY; ++n) {
        espl_validation report = {0};

        // Scratch that is kept would need no memory.
        test_free_scratch(w);
        test_heap_arm(&t.test.heap, n, fails_after);
        status = espl_play(w, t.commands, NULL);
        has_failed = t.test.heap.failures > 0;
        test_heap_arm(&t.test.heap, 0, false);
        DEMAND(espl_validate(w, &report));
        if (status == ESPL_ERR_NO_MEMORY) {
            DEMAND(has_failed);
            DEMAND(hash_all(u) == seen);
            DEMAND(test_logical_hash(w) == logical);
            DEMAND(test_physical_hash(w) == physical);
            u->points += 1;
        }
    }
    DEMAND(status == ESPL_OK);
    DEMAND(hash_all(u) == u->seen);
    DEMAND(test_logical_hash(w) == u->logical);
    // Without memory trees may be settled later.
    DEMAND(has_failed || test_physical_hash(w) == u->physical);
    return has_failed ? n : 0;
}

static void play_case(undone *u)
{
    const bool fails_after = false;
    const size_t n = 0;
    espl_validation report = {0};

    begin(u);
    ck_ok(espl_play(t.test.world, t.commands, NULL));
    DEMAND(espl_validate(t.test.world, &report));
    u->seen = hash_all(u);
    u->logical = test_logical_hash(t.test.world);
    u->physical = test_physical_hash(t.test.world);
    end();
    for (int way = 0; way < 2; ++way) {
        for (size_t next = 1; next != 0;) {
            begin(u);
            next = play_without(u, next, way == 1);
            end();
        }
    }
}

// Sequences of `length` changes of the first `kinds` kinds, on each chain.
// @param stride  from one case to the next one, in a swift build.
// @return points at which memory ran out.
static size_t play_all(undone u, uint32_t kinds, uint32_t stride)
{
    const uint64_t wanted = (uint64_t)stride * test_stride(5) / test_factor();
    uint64_t at = 0;

    for (uint32_t i = 0; i < copying_chain_count; ++i) {
        u.chain = copying_chains[i];
        const uint64_t count = copying_count(u.chain, kinds, u.count);

        for (; at<count; at += wanted> 0 ? wanted : 1) {
            copying_sequence(u.chain, kinds, u.count, at, u.changes);
            play_case(&u);
        }
        at -= count;
    }
    return u.points;
}

TEST(a_transform_that_was_removed_comes_back_without_what_the_parent_got)
{
    undone u = {.chain = "tit",
                .hierarchies = 1,
                .changes = {{COPYING_REMOVE, 1}, {COPYING_USER_DATA, 0}},
                .count = 2};

    play_case(&u);
    u.changes[1].kind = COPYING_STRETCH;
    play_case(&u);
    ck_assert_uint_gt(u.points, 10);
}

TEST(two_changes_of_any_kind_are_undone)
{
    ck_assert_uint_gt(play_all((undone){.hierarchies = 1, .count = 2}, COPYING_KINDS, 97), 100);
}

TEST(three_changes_are_undone)
{
    ck_assert_uint_gt(play_all((undone){.hierarchies = 1, .count = 3}, COPYING_CORE, 601), 100);
}

TEST(changes_of_several_hierarchies_are_undone_in_any_order_of_jobs)
{
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 4, .random = 7};
    const espl_executor executor = test_executor_of(&shuffled);
    const undone u = {.hierarchies = HIERARCHIES, .executor = &executor, .count = 3};

    ck_assert_uint_gt(play_all(u, COPYING_CORE, 2801), 100);
    ck_assert_uint_gt(shuffled.calls, 0);
}

TEST(longer_sequences_drawn_at_random_are_undone)
{
    uint64_t random = test_environment("ESPL_SEED", 5);
    undone u = {.hierarchies = 1, .count = LENGTH};

    for (size_t i = 0; i < test_scaled_alone(300) * test_factor(); ++i) {
        u.chain = copying_chains[test_below(&random, copying_chain_count)];
        copying_sequence(u.chain, COPYING_KINDS, LENGTH, test_random(&random), u.changes);
        play_case(&u);
    }
    ck_assert_uint_gt(u.points, 100);
}

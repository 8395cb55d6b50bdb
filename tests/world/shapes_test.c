// SPDX-License-Identifier: MIT
// Huge shapes are legal: a chain and a star of a million, made by one playback, written at the
// root, read at the end, taken apart; on a thread with a small stack.
#include "tests/runner.h"
#include "tests/support.h"

#include <pthread.h>
#include <stdlib.h>

enum { MILLION = 1000000, STACK_SIZE = 64 * 1024 };

typedef struct huge {
    test_world test;
    espl_commands *commands;
    espl_entity source, root, last;
    const char *failure; // what went wrong, seen by the main thread
    uint32_t count;
    bool is_chain;
} huge;

#define DEMAND(h, condition)           \
    do {                               \
        if (!(condition)) {            \
            (h)->failure = #condition; \
            return false;              \
        }                              \
    } while (0)

// Locals are one step along X, so that every world is a whole number and exact.
static bool record_shape(huge *h)
{
    espl_recorder *const recorder = espl_commands_recorder(h->commands, 0);
    espl_instance_def def = {
        .source = h->source, .place = ESPL_PLACE_LOCAL, .transform = test_at(1, 0, 0)};

    DEMAND(h, espl_record_instantiate(recorder, 0, &def, 1, &h->root) == ESPL_OK);
    def.parent = h->root;
    for (uint32_t i = 1; i < h->count; ++i) {
        DEMAND(h, espl_record_instantiate(recorder, 0, &def, 1, &h->last) == ESPL_OK);
        if (h->is_chain) {
            def.parent = h->last;
        }
    }
    return true;
}

static bool play_shape(huge *h)
{
    espl_report report;

    DEMAND(h, espl_play(h->test.world, h->commands, &report) == ESPL_OK);
    DEMAND(h, report.accepted == h->count && report.applied == h->count && report.refused == 0);
    DEMAND(h, report.created == h->count);
    DEMAND(h, espl_commands_resolve(h->commands, h->root, &h->root) == ESPL_OK);
    DEMAND(h, espl_commands_resolve(h->commands, h->last, &h->last) == ESPL_OK);
    espl_commands_destroy(h->commands);
    h->commands = NULL;
    return true;
}

static bool write_shape(huge *h)
{
    const uint32_t depth = h->is_chain ? h->count - 1 : 1;
    const espl_transform moved = test_at(5, 1, 0);
    espl_transform world = {0};

    DEMAND(h, espl_get_depth(h->test.world, h->last) == depth);
    DEMAND(h, espl_get_rank(h->test.world, h->last) == h->count - 1);
    DEMAND(h, espl_count_descendants(h->test.world, h->root) == h->count - 1);
    DEMAND(h, espl_get_world(h->test.world, h->last, &world) == ESPL_OK);
    DEMAND(h, world.position[0] == (float)(depth + 1) && world.position[1] == 0);

    DEMAND(h, espl_set_local(h->test.world, h->root, &moved) == ESPL_OK);
    DEMAND(h, espl_get_world(h->test.world, h->last, &world) == ESPL_OK);
    DEMAND(h, world.position[0] == (float)(depth + 5) && world.position[1] == 1);
    DEMAND(h, espl_attach(h->test.world, h->root, h->last, NULL) == ESPL_ERR_CYCLE);
    return true;
}

static bool take_apart(huge *h)
{
    espl_world_stats stats;

    DEMAND(h, espl_validate(h->test.world, NULL));
    DEMAND(h, espl_detach(h->test.world, h->last, ESPL_STAY_WORLD) == ESPL_OK);
    DEMAND(h, espl_destroy(h->test.world, h->root) == ESPL_OK);
    DEMAND(h, !espl_is_alive(h->test.world, h->root) && espl_is_alive(h->test.world, h->last));
    espl_stats(h->test.world, &stats);
    DEMAND(h, stats.entities == 2 && stats.solos == 2 && stats.hierarchies == 0);
    return true;
}

static void *run_shape(void *argument)
{
    huge *const h = argument;

    (void)(record_shape(h) && play_shape(h) && write_shape(h) && take_apart(h));
    return NULL;
}

// Sanitizers need more stack for their own.
static size_t stack_size(void)
{
    return test_scaled(10) < 10 ? 16 * STACK_SIZE : STACK_SIZE;
}

static void run_on_a_small_stack(huge *h)
{
    pthread_attr_t attributes;
    pthread_t thread;

    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, stack_size()), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, run_shape, h), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static void try_shape(bool is_chain, const espl_executor *executor)
{
    huge h = {.count = (uint32_t)test_scaled(MILLION), .is_chain = is_chain};

    test_world_begin(&h.test, 0, executor);
    h.source = test_solo(h.test.world);
    ck_assert_int_eq(espl_commands_create(h.test.world, 1, &h.commands), ESPL_OK);
    run_on_a_small_stack(&h);
    espl_commands_destroy(h.commands);
    ck_assert_msg(h.failure == NULL, "%s", h.failure);
    test_world_end(&h.test);
}

START_TEST(a_chain_of_a_million_is_made_written_and_destroyed)
{
    try_shape(true, NULL);
}
END_TEST

START_TEST(a_star_of_a_million_is_made_written_and_destroyed)
{
    try_shape(false, NULL);
}
END_TEST

START_TEST(a_chain_of_a_million_survives_a_shuffled_executor)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = 3};
    const espl_executor executor = test_executor_of(&hostile);

    try_shape(true, &executor);
}
END_TEST

// Each level is cloned at once: 17 doublings of one entity.
START_TEST(a_tree_cloned_onto_itself_doubles_each_time)
{
    test_world test;
    espl_world_stats stats;

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo_at(test.world, 1, 0, 0);
    for (uint32_t i = 0; i < 17; ++i) {
        espl_entity clone;
        ck_assert_int_eq(espl_instantiate(test.world, root, 1, &clone), ESPL_OK);
        ck_assert_int_eq(espl_attach(test.world, clone, root, NULL), ESPL_OK);
        ck_assert_uint_eq(espl_count_descendants(test.world, root), (2u << i) - 1);
    }
    espl_stats(test.world, &stats);
    ck_assert_uint_eq(stats.entities, 1u << 17);
    ck_assert_int_eq(espl_destroy(test.world, root), ESPL_OK);
    espl_stats(test.world, &stats);
    ck_assert_uint_eq(stats.entities, 0);
    test_world_end(&test);
}
END_TEST

// What dies one by one is purged in time: the work stays in proportion, the ghosts stay few.
START_TEST(ghosts_never_pile_up)
{
    enum { COUNT = 20000 };
    test_world test;
    espl_world_stats stats;
    espl_entity *const leaves = malloc(COUNT * sizeof *leaves);

    ck_assert_ptr_nonnull(leaves);
    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo(test.world), leaf = test_solo(test.world);
    espl_commands *commands = NULL;
    ck_assert_int_eq(espl_commands_create(test.world, 1, &commands), ESPL_OK);
    const espl_instance_def def = {.source = leaf, .parent = root};
    ck_assert_int_eq(
        espl_record_instantiate(espl_commands_recorder(commands, 0), 0, &def, COUNT, leaves),
        ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    for (size_t i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(espl_commands_resolve(commands, leaves[i], &leaves[i]), ESPL_OK);
    }
    espl_commands_destroy(commands);

    for (size_t i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(espl_destroy(test.world, leaves[i]), ESPL_OK);
        espl_stats(test.world, &stats);
        const size_t living = stats.entities - 1; // without `leaf`
        ck_assert_uint_le(stats.ghosts, 8 + (living + stats.ghosts) / 4 + 1);
    }
    ck_assert_int_eq(espl_get_role(test.world, root), ESPL_ROLE_SOLO);
    test_world_end(&test);
    free(leaves);
}
END_TEST

static Suite *shapes_suite(void)
{
    Suite *const suite = suite_create("shapes");
    TCase *const tcase = tcase_create("huge");

    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, a_chain_of_a_million_is_made_written_and_destroyed);
    tcase_add_test(tcase, a_star_of_a_million_is_made_written_and_destroyed);
    tcase_add_test(tcase, a_chain_of_a_million_survives_a_shuffled_executor);
    tcase_add_test(tcase, a_tree_cloned_onto_itself_doubles_each_time);
    tcase_add_test(tcase, ghosts_never_pile_up);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(shapes_suite)

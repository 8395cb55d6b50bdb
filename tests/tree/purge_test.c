// SPDX-License-Identifier: MIT
// A purge, through a world: the dead go, and no bit of any placement changes.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { KIN = 48, SOLOS = 2 };

static uint64_t random_state;

static void set_up(void)
{
    random_state = 11;
}

typedef struct family {
    test_world test;
    espl_entity member[KIN], solo[SOLOS];
    bool is_placed[KIN];
} family;

static bool is_living(const family *f, uint32_t i)
{
    return espl_get_role(f->test.world, f->member[i]) != ESPL_ROLE_NONE;
}

static espl_entity make_member(family *f, uint32_t i)
{
    espl_world *const world = f->test.world;
    espl_entity entity = {0};
    const espl_component placement = ESPL_PLACEMENT;

    f->is_placed[i] = !test_one_in(&random_state, 5);
    ck_assert_int_eq(espl_create(world, &placement, f->is_placed[i] ? 1 : 0, 1, &entity), ESPL_OK);
    return entity;
}

static void attach_member(family *f, uint32_t i)
{
    const espl_entity parent = f->member[i < 4 ? 0 : test_below(&random_state, i)];
    uint8_t inherit = 0;

    grove_random_inherit(&inherit, 1, 3, &random_state);
    const espl_attach_options options = {.position = ESPL_STAY_LOCAL,
                                         .rotation = ESPL_STAY_LOCAL,
                                         .scale = ESPL_STAY_LOCAL,
                                         .link = test_one_in(&random_state, 2) ? ESPL_LINK_FREE
                                                                               : ESPL_LINK_OWNED,
                                         .inherit = f->is_placed[i] ? inherit : 0};

    ck_assert_int_eq(espl_attach(f->test.world, f->member[i], parent, &options), ESPL_OK);
}

// A random family of pass-throughs, free links, stretches and inherit flags.
static void begin_family(family *f)
{
    test_world_begin(&f->test, 3, NULL);
    for (uint32_t i = 0; i < SOLOS; ++i) {
        f->solo[i] = test_solo(f->test.world);
    }
    for (uint32_t i = 0; i < KIN; ++i) {
        f->member[i] = make_member(f, i);
        if (i != 0) {
            attach_member(f, i);
        }
        if (f->is_placed[i]) {
            const bool copies = espl_get_inherit(f->test.world, f->member[i]) == ESPL_COPY_PARENT;
            const espl_pose pose = grove_random_pose(&random_state);
            const espl__extra extra = {{1, test_one_in(&random_state, 9) ? 2.0f : 1.0f, 1}, 0};
            const espl_transform value = espl__transform_of(&pose, &extra);

            ck_assert_int_eq(espl_set_local(f->test.world, f->member[i], &value),
                             copies ? ESPL_ERR_COPIES_PARENT : ESPL_OK);
        }
    }
}

typedef struct placements {
    espl_transform local[KIN], world[KIN];
    uint32_t inherit[KIN];
} placements;

static placements read_placements(const family *f)
{
    placements p;

    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < KIN; ++i) {
        if (is_living(f, i) && f->is_placed[i]) {
            p.local[i] = test_local_of(f->test.world, f->member[i]);
            p.world[i] = test_world_of(f->test.world, f->member[i]);
            p.inherit[i] = espl_get_inherit(f->test.world, f->member[i]);
        }
    }
    return p;
}

static size_t count_ghosts(const family *f)
{
    espl_world_stats stats;

    espl_stats(f->test.world, &stats);
    return stats.ghosts;
}

static void destroy_any(family *f, uint32_t from)
{
    const uint32_t i = from + test_below(&random_state, KIN - from);

    if (is_living(f, i)) {
        ck_assert_int_eq(test_one_in(&random_state, 2)
                             ? espl_destroy_only(f->test.world, f->member[i])
                             : espl_destroy(f->test.world, f->member[i]),
                         ESPL_OK);
    }
}

START_TEST(purge_changes_no_bit_of_any_placement)
{
    const size_t rounds = test_scaled(300);
    size_t purged = 0;

    for (size_t round = 0; round < rounds; ++round) {
        family f;

        begin_family(&f);
        for (uint32_t i = 0; i < 4; ++i) {
            destroy_any(&f, 1);
        }
        const placements before = read_placements(&f);
        purged += count_ghosts(&f);

        ck_assert_int_eq(espl_compact(f.test.world), ESPL_OK);
        ck_assert_uint_eq(count_ghosts(&f), 0);
        const placements after = read_placements(&f);
        ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
        test_world_end(&f.test);
    }
    ck_assert_uint_gt(purged, rounds);
}
END_TEST

START_TEST(purge_put_off_for_lack_of_memory_changes_no_bit_when_it_comes)
{
    const size_t rounds = test_scaled(300);
    size_t rooted = 0;

    for (size_t round = 0; round < rounds; ++round) {
        family f;

        begin_family(&f);
        test_heap_arm(&f.test.heap, 1, true);
        ck_assert_int_eq(espl_destroy_only(f.test.world, f.member[0]), ESPL_OK);
        for (uint32_t i = 0; i < 5; ++i) {
            destroy_any(&f, 1);
        }
        test_heap_arm(&f.test.heap, 0, false);
        test_world_is_valid(f.test.world);
        const placements before = read_placements(&f);
        rooted += count_ghosts(&f) != 0;

        // Whatever is carried out next purges what waits.
        ck_assert_int_eq(espl_attach(f.test.world, f.solo[0], f.solo[1], NULL), ESPL_OK);
        ck_assert_uint_eq(count_ghosts(&f), 0);
        const placements after = read_placements(&f);
        ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
        test_world_end(&f.test);
    }
    ck_assert_uint_gt(rooted, rounds / 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/purge");
    TCase *const purges = tcase_create("purges");

    tcase_add_checked_fixture(purges, set_up, NULL);
    tcase_set_timeout(purges, 120);
    tcase_add_test(purges, purge_changes_no_bit_of_any_placement);
    tcase_add_test(purges, purge_put_off_for_lack_of_memory_changes_no_bit_when_it_comes);
    suite_add_tcase(suite, purges);
    return suite;
}

RUN_SUITE(make_suite)

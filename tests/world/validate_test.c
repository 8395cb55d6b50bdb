// SPDX-License-Identifier: MIT
// espl_validate() on sound worlds: it finds nothing, writes the whole report, allocates nothing and
// changes nothing. tests/store/validate_test.c and tests/tree/validate_test.c break the invariants.
#include "tests/fixture.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

// A plain tree, a tree with stretches, kept parts, a copy and a node without transform, a tree that lost a
// member, one that lost its root while nothing could be allocated, solos, rows in several chunks, and free
// indices.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity *plain, *fancy, *shorter, *headless;
} scene;

static scene s;

static void make_fancy(void)
{
    const float stretch[3] = {1, 2, 3};
    espl_entity bare = {0};

    s.fancy = make_trees(s.world, 1, 6, 2);
    ck_ok(espl_set_stretch(s.world, s.fancy[0], stretch));
    ck_ok(espl_set_stretch(s.world, s.fancy[5], stretch));
    ck_ok(espl_set_inherit(s.world, s.fancy[2], ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_ROTATION));
    ck_ok(espl_set_inherit(s.world, s.fancy[3], ESPL_COPY_PARENT));
    ck_ok(espl_create(s.world, NULL, 0, 1, &bare));
    ck_ok(espl_attach(s.world, bare, s.fancy[4], NULL));
}

static void set_up(void)
{
    espl_component set[] = {0, ESPL_TRANSFORM};

    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 9, NULL);
    s.world = s.test.world;
    s.plain = make_trees(s.world, 1, 6, 2);
    make_fancy();
    s.shorter = make_trees(s.world, 1, 6, 2);
    s.headless = make_chain(s.world, 3);
    set[0] = test_component(s.world, "weight", 4096, 8);
    ck_ok(espl_create(s.world, set, 2, 5, NULL));
    ck_ok(espl_destroy(s.world, test_solo(s.world), ESPL_EXTENT_OWNED));
    ck_ok(espl_destroy(s.world, s.shorter[1], ESPL_EXTENT_ENTITY));
    test_heap_arm(&s.test.heap, 1, true);
    ck_ok(espl_destroy(s.world, s.headless[0], ESPL_EXTENT_ENTITY));
    test_heap_arm(&s.test.heap, 0, false);
}

static void tear_down(void)
{
    free(s.plain);
    free(s.fancy);
    free(s.shorter);
    free(s.headless);
    test_world_end(&s.test);
}

FIXTURE(set_up, tear_down);

TEST(a_sound_world_leaves_an_empty_report)
{
    espl_validation report;

    memset(&report, 0x5a, sizeof report);
    ck_assert(espl_validate(s.world, &report));
    ck_assert_ptr_null(report.rule);
    ck_assert(espl_entity_is_null(report.entity));
    ck_assert_uint_eq(report.detail, 0);
    ck_assert(espl_validate(s.world, NULL));
}

TEST(proof_takes_no_memory)
{
    test_heap_arm(&s.test.heap, 1, true);
    ck_assert(espl_validate(s.world, NULL));
    ck_assert_uint_eq(s.test.heap.calls, 0);
}

TEST(proof_changes_nothing)
{
    const uint64_t hash = test_physical_hash(s.world), version = espl_get_version(s.world);
    const espl_world_stats stats = test_stats(s.world);
    ck_assert(espl_validate(s.world, NULL));
    const espl_world_stats after = test_stats(s.world);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    ck_assert_uint_eq(espl_get_version(s.world), version);
    ck_assert_mem_eq(&after, &stats, sizeof stats);
}

TEST(bits_that_a_caller_turns_in_a_world_are_found)
{
    espl_validation report;
    espl_view seen;

    // A view points into the library: what a stray write does there is found and named.
    ck_ok(espl_view_hierarchy(s.world, s.plain[0], &seen));
    for (size_t rank = 0; rank < seen.count; ++rank) {
        espl_pose *const pose = (espl_pose *)(uintptr_t)&seen.world_poses[seen.first + rank];
        const float was = pose->position[1];

        pose->position[1] += 1;
        ck_assert(!espl_validate(s.world, &report));
        ck_assert_ptr_nonnull(report.rule);
        ck_assert(espl_entity_equal(report.entity, espl_view_entity(&seen, rank)));
        pose->position[1] = was;
        test_world_is_valid(s.world);
    }
}

// SPDX-License-Identifier: MIT
// Iteration over subtrees and views of hierarchies by hand: their order, how long the world is in
// iteration, what is refused, and that a view lays out.
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/world/scene.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 0x5a };

static bool is_guard(const void *bytes, size_t size)
{
    const unsigned char *const at = bytes;
    bool is_same = true;

    for (size_t i = 0; i < size; ++i) {
        is_same = is_same && at[i] == GUARD;
    }
    return is_same;
}

static void expect_order(scene *s, espl_entity top, const espl_entity *order, size_t count)
{
    espl_subtree below;

    ck_assert_int_eq(espl_subtree_begin(s->world, top, &below), ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        ck_assert(espl_subtree_next(&below));
        ck_assert(espl_entity_equal(below.entity, order[i]));
    }
    ck_assert(!espl_subtree_next(&below));
}

// Parents before their children, siblings in their order, each with all that is below it.
START_TEST(subtree_comes_depth_first)
{
    scene s;

    scene_begin(&s);
    expect_order(&s, s.r, (espl_entity[]){s.r, s.a, s.c, s.d, s.b, s.e}, 6);
    expect_order(&s, s.a, (espl_entity[]){s.a, s.c, s.d}, 3);
    expect_order(&s, s.b, (espl_entity[]){s.b, s.e}, 2);
    expect_order(&s, s.e, (espl_entity[]){s.e}, 1);
    expect_order(&s, s.solo, (espl_entity[]){s.solo}, 1);

    // Survivors stand in the place of the dead one, before and after the tree is laid out again.
    ck_assert_int_eq(espl_destroy(s.world, s.a, ESPL_EXTENT_ENTITY), ESPL_OK);
    expect_order(&s, s.r, (espl_entity[]){s.r, s.c, s.d, s.b, s.e}, 5);
    ck_assert_int_eq(espl_compact(s.world), ESPL_OK);
    expect_order(&s, s.r, (espl_entity[]){s.r, s.c, s.d, s.b, s.e}, 5);
    scene_end(&s);
}
END_TEST

static void world_is_busy(const scene *s, bool is_busy)
{
    const uint64_t hash = test_physical_hash(s->world);
    const espl_status status = espl_set_sibling(s->world, s->b, espl_entity_null());
    const espl_status other = espl_compact(s->world);

    ck_assert_int_eq(status, is_busy ? ESPL_ERR_BUSY : ESPL_OK);
    ck_assert_int_eq(other, is_busy ? ESPL_ERR_BUSY : ESPL_OK);
    ck_assert(!is_busy || test_physical_hash(s->world) == hash);
}

START_TEST(world_is_in_iteration_from_begin_to_the_end)
{
    espl_subtree below, inner;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.a, &below), ESPL_OK);
    world_is_busy(&s, true);
    while (espl_subtree_next(&below)) {
        world_is_busy(&s, true);
    }
    world_is_busy(&s, false);
    ck_assert(!espl_subtree_next(&below));
    espl_subtree_end(&below);
    world_is_busy(&s, false);

    // Ended early, twice, and one inside the other.
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, &below), ESPL_OK);
    ck_assert(espl_subtree_next(&below));
    ck_assert_int_eq(espl_subtree_begin(s.world, below.entity, &inner), ESPL_OK);
    ck_assert(espl_subtree_next(&inner));
    ck_assert(espl_subtree_next(&inner));
    espl_subtree_end(&inner);
    espl_subtree_end(&inner);
    world_is_busy(&s, true);
    ck_assert(espl_subtree_next(&below));
    ck_assert(espl_entity_equal(below.entity, s.a));
    espl_subtree_end(&below);
    espl_subtree_end(&below);
    world_is_busy(&s, false);
    scene_end(&s);
}
END_TEST

START_TEST(nested_iterations_do_not_disturb_each_other)
{
    espl_subtree outer, inner;
    size_t pairs = 0;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, &outer), ESPL_OK);
    while (espl_subtree_next(&outer)) {
        ck_assert_int_eq(espl_subtree_begin(s.world, outer.entity, &inner), ESPL_OK);
        while (espl_subtree_next(&inner)) {
            pairs += 1;
        }
    }
    ck_assert_uint_eq(pairs, 6 + 3 + 2 + 3);
    world_is_busy(&s, false);
    scene_end(&s);
}
END_TEST

START_TEST(refused_begin_leaves_an_iteration_of_nothing)
{
    espl_subtree below;
    test_world other;
    scene s;

    scene_begin(&s);
    test_world_begin(&other, 0, NULL);
    const espl_entity foreign = test_solo(other.world);
    ck_assert_int_eq(espl_destroy(s.world, s.solo, ESPL_EXTENT_OWNED), ESPL_OK);
    const struct {
        espl_entity entity;
        espl_status status;
    } bad[] = {{espl_entity_null(), ESPL_ERR_NULL_ENTITY},
               {s.solo, ESPL_ERR_DEAD},
               {foreign, ESPL_ERR_FOREIGN}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        memset(&below, 0xA5, sizeof below);
        ck_assert_int_eq(espl_subtree_begin(s.world, bad[i].entity, &below), bad[i].status);
        ck_assert_uint_eq(s.test.hooks.lines, i + 1);
        ck_assert(!espl_subtree_next(&below));
        espl_subtree_end(&below);
        world_is_busy(&s, false);
    }
    test_world_end(&other);
    scene_end(&s);
}
END_TEST

START_TEST(what_cannot_be_copied_or_viewed_is_refused)
{
    espl_subtree below;
    espl_view seen = {.count = 77};
    espl_entity one;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(s.test.hooks.lines, 1);
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.r, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(s.test.hooks.lines, 2);
    ck_assert_uint_eq(espl_copy_subtree(s.world, s.r, ESPL_EXTENT_ENTITY, 1, NULL), 0);
    ck_assert_uint_eq(s.test.hooks.lines, 3);
    ck_assert_uint_eq(
        espl_copy_subtree(s.world, s.r, ESPL_EXTENT_ENTITY, 1, &(espl_subtree_arrays){0}), 0);
    ck_assert_uint_eq(s.test.hooks.lines, 4);
    ck_assert_uint_eq(espl_copy_subtree(s.world, s.r, (espl_extent)3, 1,
                                        &(espl_subtree_arrays){.entities = &one}),
                      0);
    ck_assert_uint_eq(s.test.hooks.lines, 5);
    ck_assert_uint_eq(seen.count, 77);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, &below), ESPL_OK);
    espl_subtree_end(&below);
    ck_assert_uint_eq(s.test.hooks.lines, 5);
    ck_assert_uint_eq(s.test.hooks.traps, 0);
    scene_end(&s);
}
END_TEST

// --- Views ---

START_TEST(view_lays_the_tree_out_first)
{
    espl_view seen;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_destroy(s.world, s.a, ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.e, &seen), ESPL_OK);
    ck_assert_uint_eq(seen.count, 5);
    ck_assert(test_is_laid_out(s.world, s.r));
    ck_assert_uint_eq(espl_get_rank(s.world, s.c), 1);
    ck_assert(espl_entity_equal(espl_view_entity(&seen, 0), s.r));
    ck_assert(espl_entity_equal(espl_view_entity(&seen, 1), s.c));
    ck_assert(espl_entity_equal(espl_view_entity(&seen, 4), s.e));

    ck_assert_int_eq(espl_view_hierarchy(s.world, s.solo, &seen), ESPL_OK);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.parents[0], ESPL_NO_RANK);
    scene_end(&s);
}
END_TEST

START_TEST(view_of_a_tree_that_is_laid_out_only_reads)
{
    espl_subtree below;
    espl_view seen;
    scene s;

    scene_begin(&s);
    const uint64_t hash = test_physical_hash(s.world);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, &below), ESPL_OK);
    test_heap_arm(&s.test.heap, 0, false);
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.e, &seen), ESPL_OK);
    ck_assert_uint_eq(s.test.heap.calls, 0);
    ck_assert_uint_eq(seen.count, 6);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    espl_subtree_end(&below);

    // Else it is structural, in that hierarchy alone.
    ck_assert_int_eq(espl_destroy(s.world, s.a, ESPL_EXTENT_ENTITY), ESPL_OK);
    const bool is_laid_out = test_is_laid_out(s.world, s.r);
    ck_assert_int_eq(espl_subtree_begin(s.world, s.r, &below), ESPL_OK);
    memset(&seen, GUARD, sizeof seen);
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.e, &seen),
                     is_laid_out ? ESPL_OK : ESPL_ERR_BUSY);
    ck_assert(is_laid_out || is_guard(&seen, sizeof seen));
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.solo, &seen), ESPL_OK);
    ck_assert_int_eq(test_is_laid_out(s.world, s.r), is_laid_out);
    espl_subtree_end(&below);
    scene_end(&s);
}
END_TEST

// What a destroy without memory put off is there still where a view cannot do it.
START_TEST(view_without_memory_leaves_what_was_put_off)
{
    espl_view seen;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_compact(s.world), ESPL_OK);
    test_heap_arm(&s.test.heap, 1, true);
    ck_assert_int_eq(espl_destroy(s.world, s.r, ESPL_EXTENT_ENTITY), ESPL_OK);
    const espl_status status = espl_view_hierarchy(s.world, s.c, &seen);
    ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
    test_world_is_valid(s.world);
    test_heap_arm(&s.test.heap, 0, false);
    ck_assert_int_eq(espl_view_hierarchy(s.world, s.c, &seen), ESPL_OK);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert(espl_entity_equal(espl_view_entity(&seen, 0), s.a));
    scene_end(&s);
}
END_TEST

START_TEST(view_without_memory_changes_nothing)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    espl_view seen;
    size_t points = 0;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_compact(s.world), ESPL_OK); // no scratch to live on
    ck_assert_int_eq(espl_destroy(s.world, s.a, ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert_int_eq(espl_destroy(s.world, s.b, ESPL_EXTENT_ENTITY), ESPL_OK);
    const uint64_t hash = test_physical_hash(s.world);
    while (status == ESPL_ERR_NO_MEMORY) {
        points += 1;
        memset(&seen, GUARD, sizeof seen);
        test_heap_arm(&s.test.heap, points, true);
        status = espl_view_hierarchy(s.world, s.c, &seen);
        test_heap_arm(&s.test.heap, 0, false);
        if (status != ESPL_OK) {
            ck_assert(is_guard(&seen, sizeof seen));
            ck_assert_uint_eq(test_physical_hash(s.world), hash);
            test_world_is_valid(s.world);
        }
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_eq(seen.count, 4);
    scene_end(&s);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("subtree");
    TCase *const iteration = tcase_create("iteration"), *const views = tcase_create("views");

    tcase_add_test(iteration, subtree_comes_depth_first);
    tcase_add_test(iteration, world_is_in_iteration_from_begin_to_the_end);
    tcase_add_test(iteration, nested_iterations_do_not_disturb_each_other);
    tcase_add_test(iteration, refused_begin_leaves_an_iteration_of_nothing);
    tcase_add_test(iteration, what_cannot_be_copied_or_viewed_is_refused);
    tcase_add_test(views, view_lays_the_tree_out_first);
    tcase_add_test(views, view_of_a_tree_that_is_laid_out_only_reads);
    tcase_add_test(views, view_without_memory_changes_nothing);
    tcase_add_test(views, view_without_memory_leaves_what_was_put_off);
    suite_add_tcase(suite, iteration);
    suite_add_tcase(suite, views);
    return suite;
}

RUN_SUITE(make_suite)

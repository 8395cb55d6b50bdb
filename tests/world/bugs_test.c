// SPDX-License-Identifier: MIT
// Faults that other systems of this kind have had with stale worlds and with numbers, each as a
// test that would have caught it here. The letters name the entry in tests/BUGS.md.
#include "tests/planting.h"
#include "tests/runner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void position_of(const espl_world *world, espl_entity entity, float out[3])
{
    ck_assert_int_eq(espl_get_world_position(world, entity, out), ESPL_OK);
}

static float x_of(const espl_world *world, espl_entity entity)
{
    float at[3];

    position_of(world, entity, at);
    return at[0];
}

// --- H: stale propagation ---

enum { KIN = 7 };

// The next of all trees in which parents have smaller numbers than children. false: it was the last.
static bool next_tree(uint32_t parent[KIN])
{
    for (uint32_t i = KIN - 1; i > 0; --i) {
        if (parent[i] + 1 < i) {
            parent[i] += 1;
            return true;
        }
        parent[i] = 0;
    }
    return false;
}

// Each of a set of nodes moves to x, the others stay: worlds are sums along the way up.
static void write_subset(espl_world *world, const espl_entity *node, const uint32_t *parent,
                         unsigned subset, float x[KIN])
{
    espl_write writes[KIN];
    float sums[KIN];
    size_t count = 0;

    for (uint32_t i = KIN; i-- > 0;) { // children first, as nobody should have to order them
        if ((subset >> i & 1) != 0) {
            x[i] += (float)(i + 1);
            writes[count++] = write_vector(node[i], ESPL_WRITE_LOCAL_POSITION, x[i], 0, 0);
        }
    }
    ck_assert_int_eq(espl_write_batch(world, writes, count, NULL), ESPL_OK);
    for (uint32_t i = 0; i < KIN; ++i) {
        sums[i] = x[i] + (i > 0 ? sums[parent[i]] : 0);
        ck_assert_msg(x_of(world, node[i]) == sums[i], "node %u of subset %#x", i, subset);
    }
}

START_TEST(h2_a_clean_node_between_two_written_ones_strands_nobody)
{
    uint32_t parent[KIN] = {PLANT_ROOT};

    do {
        float x[KIN];
        test_world test;

        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_forest(test.world, parent, KIN);
        for (uint32_t i = 0; i < KIN; ++i) {
            x[i] = 1;
        }
        for (unsigned subset = 1; subset < 1u << KIN; subset += test_stride(11)) {
            write_subset(test.world, node, parent, subset, x);
        }
        free(node);
        test_world_end(&test);
    } while (next_tree(parent));
}
END_TEST

START_TEST(h3_a_read_in_the_middle_of_building_leaves_nothing_stale)
{
    const espl_attach_options local = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity e[4];
    for (int i = 0; i < 4; ++i) {
        e[i] = test_solo_at(test.world, 1, 0, 0);
    }
    ck_assert_int_eq(espl_attach(test.world, e[2], e[1], &local), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, e[2]), 2);
    ck_assert_int_eq(espl_attach(test.world, e[1], e[0], &local), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, e[2]), 3);
    ck_assert_int_eq(espl_attach(test.world, e[1], e[3], &local), ESPL_OK);
    ck_assert_int_eq(espl_translate_in_parent(test.world, e[3], (float[3]){10, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, e[2]), 13);
    test_world_end(&test);
}
END_TEST

START_TEST(h4_two_writes_without_a_read_between_them_count_both)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    ck_assert_int_eq(espl_set_local_position(test.world, node[0], (float[3]){5, 0, 0}), ESPL_OK);
    ck_assert_int_eq(espl_set_local_position(test.world, node[0], (float[3]){7, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, node[2]), 9);
    free(node);
    test_world_end(&test);
}
END_TEST

// Children of every sort side by side: the plain ones, one that stands still, a copy, a bare one.
START_TEST(h6_a_sibling_that_stands_still_stops_none_of_the_others)
{
    static const uint32_t parent[6] = {PLANT_ROOT, 0, 0, 0, 0, 2};
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_forest(test.world, parent, 6);
    ck_assert_int_eq(espl_set_inherit(test.world, node[2], ESPL_ABSOLUTE_POSITION), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(test.world, node[3], ESPL_COPY_PARENT), ESPL_OK);
    ck_assert_int_eq(espl_translate_in_parent(test.world, node[0], (float[3]){100, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, node[1]), 102);
    ck_assert_float_eq(x_of(test.world, node[2]), 2);
    ck_assert_float_eq(x_of(test.world, node[3]), 101);
    ck_assert_float_eq(x_of(test.world, node[4]), 102);
    ck_assert_float_eq(x_of(test.world, node[5]), 3);
    free(node);
    test_world_end(&test);
}
END_TEST

// --- H: what is skipped ---

enum {
    BRANCHES = 60,
    ALL_KEPT = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE
};

// A forest in which some keep their whole placement, so that nothing below them moves, and some are
// stretched; and the world of each as it follows from its parent's, found afresh.
typedef struct still {
    test_world test;
    espl_entity *node;
    uint32_t parent[BRANCHES];
    espl_transform placed[BRANCHES];
} still;

static void still_begin(still *s, uint64_t *random)
{
    memset(s, 0, sizeof *s);
    test_world_begin(&s->test, 0, NULL);
    for (uint32_t i = 0; i < BRANCHES; ++i) {
        s->parent[i] = i % 20 == 0 ? PLANT_ROOT : i - 1 - test_below(random, i % 20 < 4 ? 1 : 4);
    }
    s->node = plant_forest(s->test.world, s->parent, BRANCHES);
    for (uint32_t i = 0; i < BRANCHES; ++i) {
        const float stretch[3] = {1, 2, 0.5f};

        if (i % 20 != 0 && test_one_in(random, 5)) {
            ck_assert_int_eq(espl_set_inherit(s->test.world, s->node[i], ALL_KEPT), ESPL_OK);
        }
        if (test_one_in(random, 6)) {
            ck_assert_int_eq(espl_set_stretch(s->test.world, s->node[i], stretch), ESPL_OK);
        }
        s->placed[i] = test_world_of(s->test.world, s->node[i]);
    }
    // A last child comes first: where hierarchies are not laid out, walks below a node end at what keeps
    // its world.
    for (uint32_t i = 0; i < BRANCHES; ++i) {
        const espl_entity first = espl_get_first_child(s->test.world, s->node[i]);

        if (espl_count_children(s->test.world, s->node[i]) > 1) {
            const espl_entity last = espl_get_child(
                s->test.world, s->node[i], espl_count_children(s->test.world, s->node[i]) - 1);

            ck_assert_int_eq(espl_set_sibling(s->test.world, last, first), ESPL_OK);
        }
    }
}

static void still_check(still *s)
{
    for (uint32_t i = 0; i < BRANCHES; ++i) {
        const espl_transform local = test_local_of(s->test.world, s->node[i]);
        const espl_transform now = test_world_of(s->test.world, s->node[i]);

        if (s->parent[i] == PLANT_ROOT) {
            s->placed[i] = local;
        } else if (espl_get_inherit(s->test.world, s->node[i]) == 0) {
            s->placed[i] = espl_transform_compose(&s->placed[s->parent[i]], &local);
        }
        ck_assert_msg(test_same(&now, &s->placed[i]), "node %u", i);
    }
}

// Whole numbers, so that what comes back is the same bits and stops the walk.
static espl_write nudge(espl_entity entity, uint64_t *random)
{
    const float x = (float)test_below(random, 3);

    return write_vector(entity, ESPL_WRITE_LOCAL_POSITION, x, 1, 0);
}

START_TEST(h1_what_is_skipped_is_what_would_not_have_changed)
{
    uint64_t random = 1;
    still s;

    still_begin(&s, &random);
    const espl_world_stats before = test_stats(s.test.world);
    for (size_t step = 0; step < test_scaled(1000); ++step) {
        espl_write writes[5];
        size_t count = 0;

        while (count < 5) {
            const uint32_t i = test_below(&random, BRANCHES);

            if (espl_get_inherit(s.test.world, s.node[i]) == 0) {
                writes[count++] = nudge(s.node[i], &random);
            }
        }
        if (step % 2 == 0) {
            ck_assert_int_eq(espl_write_batch(s.test.world, writes, count, NULL), ESPL_OK);
        } else {
            ck_assert_int_eq(
                espl_set_local_position(s.test.world, writes[0].entity, writes[0].value.position),
                ESPL_OK);
        }
        still_check(&s);
    }
    ck_assert_uint_gt(test_stats(s.test.world).nodes_skipped, before.nodes_skipped);
    ck_assert_uint_gt(test_stats(s.test.world).writes_skipped, before.writes_skipped);
    free(s.node);
    test_world_end(&s.test);
}
END_TEST

// Three children at least, so that a walk that starts anew or ends early at one of them shows.
// No two entities have one rank, and a parent's is lower; where the hierarchy is laid out, so is that of
// everyone above.
START_TEST(h5_depths_and_the_order_of_ranks_follow_each_move)
{
    enum { COUNT = 40, RANKS = 4 * COUNT };
    uint32_t parent[COUNT];
    uint64_t random = 5;
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (uint32_t i = 0; i < COUNT; ++i) {
        parent[i] = i == 0 ? PLANT_ROOT : (i - 1) / 3;
    }
    espl_entity *const node = plant_forest(test.world, parent, COUNT);
    for (size_t step = 0; step < test_scaled(300); ++step) {
        uint32_t depth_of[RANKS];
        espl_view view;

        (void)!espl_attach(test.world, node[test_below(&random, COUNT)],
                           node[test_below(&random, COUNT)], NULL);
        if (step % 2 == 1) {
            ck_assert_int_eq(espl_view_hierarchy(test.world, node[0], &view), ESPL_OK);
        }
        memset(depth_of, 0xff, sizeof depth_of);
        for (uint32_t i = 0; i < COUNT; ++i) {
            const uint32_t rank = espl_get_rank(test.world, node[i]);
            const espl_entity above = espl_get_parent(test.world, node[i]);
            uint32_t depth = 0;

            for (espl_entity up = above; !espl_entity_is_null(up);
                 up = espl_get_parent(test.world, up)) {
                depth += 1;
            }
            ck_assert_uint_eq(espl_get_depth(test.world, node[i]), depth);
            ck_assert_uint_lt(rank, step % 2 == 1 ? COUNT : RANKS);
            ck_assert_uint_eq(depth_of[rank], UINT32_MAX);
            ck_assert(depth == 0 ? rank == 0 : espl_get_rank(test.world, above) < rank);
            depth_of[rank] = depth;
        }
        for (uint32_t rank = 1; step % 2 == 1 && rank < COUNT; ++rank) {
            ck_assert_uint_le(depth_of[rank - 1], depth_of[rank]);
        }
    }
    free(node);
    test_world_end(&test);
}
END_TEST

// It passed its parent's world through; from now on it has a place of its own, and it moves.
START_TEST(h7_a_placement_given_to_an_inner_node_is_moved_by_what_is_above)
{
    const espl_attach_options local = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    const espl_transform step = test_at(1, 0, 0);
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity top = test_solo_at(test.world, 10, 0, 0);
    const espl_entity leaf = test_solo_at(test.world, 1, 0, 0);
    espl_entity inner = {0};
    ck_assert_int_eq(espl_create(test.world, NULL, 0, 1, &inner), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, inner, top, &local), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, leaf, inner, &local), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, leaf), 11);

    ck_assert_int_eq(espl_add_component(test.world, inner, ESPL_TRANSFORM, &step, sizeof step),
                     ESPL_OK);
    ck_assert_float_eq(x_of(test.world, inner), 11);
    ck_assert_float_eq(x_of(test.world, leaf), 11); // it stays where it was
    ck_assert_int_eq(espl_translate_in_parent(test.world, top, (float[3]){100, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, inner), 111);
    ck_assert_float_eq(x_of(test.world, leaf), 111);
    ck_assert_int_eq(espl_translate_in_parent(test.world, inner, (float[3]){1000, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, leaf), 1111);

    ck_assert_int_eq(espl_remove_component(test.world, inner, ESPL_TRANSFORM), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, leaf), 1111);
    ck_assert_int_eq(espl_translate_in_parent(test.world, top, (float[3]){-100, 0, 0}), ESPL_OK);
    ck_assert_float_eq(x_of(test.world, leaf), 1011);
    test_world_end(&test);
}
END_TEST

// --- I: numbers ---

static espl_transform random_placement(uint64_t *random)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(random, -1, 1);
    }
    t.rotation[3] += t.rotation[3] < 0 ? -0.25f : 0.25f;
    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(random, -10, 10);
        t.stretch[i] = test_between(random, 0.25f, 4);
    }
    t.scale = test_between(random, 0.25f, 4) * (test_one_in(random, 4) ? -1.0f : 1.0f);
    ck_assert_int_eq(espl_transform_normalize(&t), ESPL_OK);
    return t;
}

// A turned child under a stretched parent has no shear to lose: it keeps place, turn and shape.
START_TEST(i5_nothing_is_sheared_by_a_change_of_parent_under_a_stretch)
{
    uint64_t random = 5;

    for (int round = 0; round < 1000; ++round) {
        const espl_transform parent = random_placement(&random), child = random_placement(&random);
        float before[16], after[16];
        test_world test;

        test_world_begin(&test, 0, NULL);
        const espl_entity up = test_solo(test.world), down = test_solo(test.world);
        ck_assert_int_eq(espl_set_local_transform(test.world, up, &parent), ESPL_OK);
        ck_assert_int_eq(espl_set_local_transform(test.world, down, &child), ESPL_OK);
        ck_assert_int_eq(espl_get_matrix_4x4(test.world, down, before), ESPL_OK);
        ck_assert_int_eq(espl_attach(test.world, down, up, NULL), ESPL_OK);
        ck_assert_int_eq(espl_get_matrix_4x4(test.world, down, after), ESPL_OK);
        for (int i = 0; i < 16; ++i) {
            ck_assert_double_le(fabs((double)before[i] - (double)after[i]), 1e-4);
        }
        test_world_end(&test);
    }
}
END_TEST

// Steps of a millimetre ten thousand kilometres out: what a float holds, and the same bits batched.
START_TEST(i7_small_steps_far_out_are_the_same_batched_and_single)
{
    const float far = 1e7f, step[3] = {1e-3f, 1, -1e-3f};
    test_world test;
    float single[3], batched[3], expected[3] = {far, far, far};

    test_world_begin(&test, 0, NULL);
    const espl_entity a = test_solo_at(test.world, far, far, far);
    const espl_entity b = test_solo_at(test.world, far, far, far);
    const espl_write write = write_vector(b, ESPL_WRITE_TRANSLATE_WORLD, step[0], step[1], step[2]);

    for (int i = 0; i < 1000; ++i) {
        ck_assert_int_eq(espl_translate_world(test.world, a, step), ESPL_OK);
        ck_assert_int_eq(espl_write_batch(test.world, &write, 1, NULL), ESPL_OK);
        for (int k = 0; k < 3; ++k) {
            expected[k] += step[k];
        }
    }
    position_of(test.world, a, single);
    position_of(test.world, b, batched);
    ck_assert(memcmp(single, expected, sizeof single) == 0);
    ck_assert(memcmp(single, batched, sizeof single) == 0);
    test_world_end(&test);
}
END_TEST

START_TEST(i9_no_placement_is_refused_as_a_matrix)
{
    uint64_t random = 9;

    for (size_t i = 0; i < test_scaled(100000); ++i) {
        const espl_transform t = random_placement(&random);
        espl_transform found;
        float columns[16], residual = 1;

        espl_transform_matrix_4x4(columns, &t);
        ck_assert_int_eq(espl_transform_from_matrix_4x4(&found, columns, &residual), ESPL_OK);
        ck_assert_float_le(residual, 2e-6f);
    }
}
END_TEST

// The inverse takes the offset back by the parent's rotation before it divides: against doubles.
START_TEST(i11_the_inverse_scale_meets_the_right_part_of_the_translation)
{
    uint64_t random = 11;

    for (int round = 0; round < 2000; ++round) {
        const espl_transform frame = random_placement(&random), other = random_placement(&random);
        espl_transform seen;
        double columns[3][3], back[3] = {0, 0, 0};
        float matrix[16];
        test_world test;

        test_world_begin(&test, 0, NULL);
        const espl_entity a = test_solo(test.world), b = test_solo(test.world);
        ck_assert_int_eq(espl_set_local_transform(test.world, a, &frame), ESPL_OK);
        ck_assert_int_eq(espl_set_local_transform(test.world, b, &other), ESPL_OK);
        ck_assert_int_eq(espl_relative(test.world, a, b, &seen), ESPL_OK);
        ck_assert_int_eq(espl_get_matrix_4x4(test.world, a, matrix), ESPL_OK);
        for (int i = 0; i < 9; ++i) {
            columns[i / 3][i % 3] = (double)matrix[4 * (i / 3) + i % 3];
        }
        for (int axis = 0; axis < 3; ++axis) {
            for (int k = 0; k < 3; ++k) {
                back[k] += columns[axis][k] * (double)seen.position[axis];
            }
        }
        for (int k = 0; k < 3; ++k) {
            const double off = (double)other.position[k] - (double)frame.position[k] - back[k];

            ck_assert_double_le(fabs(off), 1e-4);
        }
        test_world_end(&test);
    }
}
END_TEST

static Suite *bugs_suite(void)
{
    Suite *const suite = suite_create("bugs of worlds");
    TCase *const stale = tcase_create("stale"), *const numbers = tcase_create("numbers");

    tcase_set_timeout(stale, 300);
    tcase_add_test(stale, h2_a_clean_node_between_two_written_ones_strands_nobody);
    tcase_add_test(stale, h3_a_read_in_the_middle_of_building_leaves_nothing_stale);
    tcase_add_test(stale, h4_two_writes_without_a_read_between_them_count_both);
    tcase_add_test(stale, h6_a_sibling_that_stands_still_stops_none_of_the_others);
    tcase_add_test(stale, h1_what_is_skipped_is_what_would_not_have_changed);
    tcase_add_test(stale, h5_depths_and_the_order_of_ranks_follow_each_move);
    tcase_add_test(stale, h7_a_placement_given_to_an_inner_node_is_moved_by_what_is_above);
    suite_add_tcase(suite, stale);
    tcase_set_timeout(numbers, 300);
    tcase_add_test(numbers, i5_nothing_is_sheared_by_a_change_of_parent_under_a_stretch);
    tcase_add_test(numbers, i7_small_steps_far_out_are_the_same_batched_and_single);
    tcase_add_test(numbers, i9_no_placement_is_refused_as_a_matrix);
    tcase_add_test(numbers, i11_the_inverse_scale_meets_the_right_part_of_the_translation);
    suite_add_tcase(suite, numbers);
    return suite;
}

RUN_SUITE(bugs_suite)

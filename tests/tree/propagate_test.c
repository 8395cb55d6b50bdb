// SPDX-License-Identifier: MIT
// Three kernels, one answer: worlds in every arrangement of slots, visits counted, and what is not
// finite told.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SIZE = 60 };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 7;
}

static void tear_down(void)
{
    grove_end(&g);
}

static espl_pose *world_at(uint32_t run, uint32_t rank)
{
    return &forest->world[grove_slot(&g, run, rank)];
}

static espl_pose *local_at(uint32_t run, uint32_t rank)
{
    return &forest->local[grove_slot(&g, run, rank)];
}

static bool is_below(uint32_t run, uint32_t rank, uint32_t top)
{
    const uint32_t *const parent = forest->parent + forest->runs[run].base;

    while (rank > top) {
        rank = parent[rank];
    }
    return rank == top;
}

static uint32_t count_below(uint32_t run, uint32_t top)
{
    uint32_t count = 0;

    for (uint32_t rank = top + 1; rank < forest->runs[run].size; ++rank) {
        count += is_below(run, rank, top);
    }
    return count;
}

// Visits since the last call.
static uint64_t visits(void)
{
    static uint64_t before;
    const uint64_t count = forest->crew.tally.nodes_visited - before;

    before = forest->crew.tally.nodes_visited;
    return count;
}

static void is_as_expected(uint32_t run)
{
    for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
        const espl_pose expected = espl__world_expected(forest, grove_slot(&g, run, rank));

        ck_assert_msg(grove_same(&expected, world_at(run, rank)), "rank %u", rank);
    }
}

// The same hierarchy in order, out of order, and with the general kernel in both.
static void plant_alike(const uint32_t *parent, uint32_t size, uint64_t seed, uint32_t run[4])
{
    for (uint32_t i = 0; i < 4; ++i) {
        run[i] = grove_plant(&g, &(grove_plan){.parent = parent,
                                               .size = size,
                                               .seed = seed,
                                               .is_shuffled = i % 2 == 1,
                                               .is_general = i >= 2});
    }
    ck_assert_uint_eq(forest->runs[run[0]].flags, ESPL__RUN_IN_ORDER);
    ck_assert_uint_eq(forest->runs[run[1]].flags, 0);
    ck_assert_uint_eq(forest->runs[run[2]].flags, ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL);
    ck_assert_uint_eq(forest->runs[run[3]].flags, ESPL__RUN_GENERAL);
}

static void are_alike(const uint32_t run[4])
{
    for (uint32_t rank = 0; rank < forest->runs[run[0]].size; ++rank) {
        for (uint32_t i = 1; i < 4; ++i) {
            ck_assert_msg(grove_same(world_at(run[0], rank), world_at(run[i], rank)),
                          "rank %u, arrangement %u", rank, i);
        }
    }
}

static void uproot(const uint32_t *run, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        espl__run_release(forest, run[i]);
    }
}

START_TEST(every_arrangement_of_slots_gives_the_same_bits)
{
    const size_t rounds = test_scaled(200);

    for (size_t round = 0; round < rounds; ++round) {
        uint32_t parent[GROVE_LIMIT], run[4];
        const uint32_t size = 1 + test_below(&random_state, round % 10 == 0 ? 400 : SIZE);

        grove_random_parents(parent, size, 1 + test_below(&random_state, 5), &random_state);
        plant_alike(parent, size, test_random(&random_state), run);
        are_alike(run);
        for (uint32_t i = 0; i < 4; ++i) {
            is_as_expected(run[i]);
        }
        uproot(run, 4);
    }
}
END_TEST

START_TEST(every_subtree_is_recomputed_alike_and_nothing_beside_it)
{
    const size_t rounds = test_scaled(30);
    espl_pose junk;

    memset(&junk, 0x3c, sizeof junk);
    for (size_t round = 0; round < rounds; ++round) {
        uint32_t parent[SIZE], run[4];

        grove_random_parents(parent, SIZE, 1 + test_below(&random_state, 5), &random_state);
        plant_alike(parent, SIZE, round, run);
        for (uint32_t i = 0; i < 4 * SIZE; ++i) {
            const uint32_t here = run[i / SIZE], top = i % SIZE;
            espl_pose right[SIZE];

            // All but the top holds junk; what hangs below comes back, the rest stays junk.
            for (uint32_t rank = 0; rank < SIZE; ++rank) {
                right[rank] = *world_at(here, rank);
                *world_at(here, rank) = rank == top ? right[rank] : junk;
            }
            (void)visits();
            ck_assert(espl__propagate_below(forest, &forest->crew, here, top));
            ck_assert_uint_eq(visits(), count_below(here, top));
            for (uint32_t rank = 0; rank < SIZE; ++rank) {
                const bool is_done = is_below(here, rank, top);

                ck_assert(grove_same(world_at(here, rank), is_done ? &right[rank] : &junk));
                *world_at(here, rank) = right[rank];
            }
        }
        uproot(run, 4);
    }
}
END_TEST

START_TEST(one_rank_is_recomputed_alone)
{
    uint32_t parent[SIZE], run[4];
    espl_pose junk;

    memset(&junk, 0x3c, sizeof junk);
    grove_random_parents(parent, SIZE, 3, &random_state);
    plant_alike(parent, SIZE, 1, run);
    for (uint32_t i = 0; i < 4 * SIZE; ++i) {
        const uint32_t here = run[i / SIZE], rank = i % SIZE;
        const espl_pose right = *world_at(here, rank);

        *world_at(here, rank) = junk;
        (void)visits();
        ck_assert(espl__propagate_at(forest, &forest->crew, here, rank));
        ck_assert_uint_eq(visits(), 1);
        ck_assert(grove_same(world_at(here, rank), &right));
        are_alike(run);
    }
    uproot(run, 4);
}
END_TEST

START_TEST(write_visits_the_node_and_its_descendants_once_each)
{
    uint32_t parent[SIZE], run[4];

    grove_random_parents(parent, SIZE, 3, &random_state);
    plant_alike(parent, SIZE, 1, run);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        const espl_pose local = grove_random_pose(&random_state);

        for (uint32_t i = 0; i < 4; ++i) {
            *local_at(run[i], rank) = local;
            (void)visits();
            ck_assert(grove_propagate(forest, run[i], rank));
            ck_assert_uint_eq(visits(), 1 + count_below(run[i], rank));
            is_as_expected(run[i]);
        }
        are_alike(run);
    }
    uproot(run, 4);
}
END_TEST

START_TEST(what_hangs_below_an_unchanged_world_is_not_visited)
{
    uint32_t parent[SIZE], run[4];

    grove_random_parents(parent, SIZE, 3, &random_state);
    plant_alike(parent, SIZE, 1, run);
    for (uint32_t i = 0; i < 4 * SIZE; ++i) {
        (void)visits();
        ck_assert(grove_propagate(forest, run[i / SIZE], i % SIZE));
        ck_assert_uint_eq(visits(), 1);
    }
    uproot(run, 4);
}
END_TEST

START_TEST(leaf_write_visits_the_leaf_alone)
{
    uint32_t parent[SIZE], run[4];

    grove_random_parents(parent, SIZE, 3, &random_state);
    plant_alike(parent, SIZE, 1, run);
    for (uint32_t i = 0; i < 4; ++i) {
        local_at(run[i], SIZE - 1)->position[0] += 1;
        (void)visits();
        ck_assert(grove_propagate(forest, run[i], SIZE - 1));
        ck_assert_uint_eq(visits(), 1);
        is_as_expected(run[i]);
    }
    uproot(run, 4);
}
END_TEST

START_TEST(chain_and_star_are_recomputed_to_their_ends)
{
    for (uint32_t reach = 1; reach <= GROVE_LIMIT; reach += GROVE_LIMIT - 1) {
        uint32_t parent[GROVE_LIMIT], run[4];

        for (uint32_t rank = 1; rank < 300; ++rank) {
            parent[rank] = reach == 1 ? 0 : rank - 1;
        }
        plant_alike(parent, 300, reach, run);
        for (uint32_t i = 0; i < 4; ++i) {
            local_at(run[i], 1)->position[2] -= 2;
            (void)visits();
            ck_assert(grove_propagate(forest, run[i], 1));
            ck_assert_uint_eq(visits(), reach == 1 ? 1 : 299);
            is_as_expected(run[i]);
        }
        are_alike(run);
        uproot(run, 4);
    }
}
END_TEST

START_TEST(node_alone_has_nothing_below_it)
{
    const uint32_t parent = ESPL__NO_SLOT;
    uint32_t run[4];

    plant_alike(&parent, 1, 1, run);
    for (uint32_t i = 0; i < 4; ++i) {
        (void)visits();
        ck_assert(espl__propagate_below(forest, &forest->crew, run[i], 0));
        ck_assert_uint_eq(visits(), 0);
        local_at(run[i], 0)->scale = 3;
        ck_assert(grove_propagate(forest, run[i], 0));
        ck_assert_uint_eq(visits(), 1);
        ck_assert(grove_same(local_at(run[i], 0), world_at(run[i], 0)));
    }
    uproot(run, 4);
}
END_TEST

// --- Pass-throughs, rooted slots, extras and inherit flags ---

static void follows_the_rules(uint32_t run)
{
    espl__frame frames[SIZE];

    grove_recompute(&g, run, frames);
    for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
        const espl__frame frame = espl__slot_frame(forest, grove_slot(&g, run, rank));

        ck_assert_msg(memcmp(&frame, &frames[rank], sizeof frame) == 0, "rank %u", rank);
    }
}

// Some are pass-throughs, some rooted.
static void random_flags(uint8_t *flags)
{
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        const uint32_t kind = test_below(&random_state, 8);

        flags[rank] = (uint8_t)(kind < 2    ? ESPL__SLOT_PASS
                                : kind == 2 ? (rank != 0 ? ESPL__SLOT_ROOTED : 0)
                                            : 0);
    }
}

// A random write of what a slot can have. false: it copies its parent.
static bool write_somehow(uint32_t run, uint32_t rank)
{
    const uint32_t slot = grove_slot(&g, run, rank);
    espl__placement placement = espl__slot_placement(forest, slot);
    const espl_pose kept = grove_random_pose(&random_state);

    if (espl__slot_copies(forest, slot)) {
        return false;
    }
    placement.local = grove_random_pose(&random_state);
    placement.kept = espl__kept_of(&kept, placement.kept.flags);
    placement.extra.stretch[0] *= forest->runs[run].side != NULL ? 1.5f : 1;
    espl__slot_place(forest, slot, &placement);
    return true;
}

START_TEST(general_kernel_follows_flags_extras_and_kept_parts)
{
    const size_t rounds = test_scaled(300);

    for (size_t round = 0; round < rounds; ++round) {
        uint32_t parent[SIZE];
        uint8_t flags[SIZE], inherit[SIZE];

        grove_random_parents(parent, SIZE, 1 + test_below(&random_state, 5), &random_state);
        grove_random_inherit(inherit, SIZE, 2, &random_state);
        random_flags(flags);
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent,
                                          .size = SIZE,
                                          .flags = flags,
                                          .inherit = round % 4 < 2 ? inherit : NULL,
                                          .holes = 2,
                                          .seed = round,
                                          .is_shuffled = round % 2 == 0,
                                          .has_extras = round % 3 != 0});
        follows_the_rules(run);
        for (uint32_t writes = 0; writes < 20; ++writes) {
            const uint32_t rank = test_below(&random_state, SIZE);

            if (write_somehow(run, rank)) {
                ck_assert(grove_propagate(forest, run, rank));
                follows_the_rules(run);
                is_as_expected(run);
            }
        }
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(side_arrays_by_slot_give_the_same_bits_in_every_arrangement)
{
    const size_t rounds = test_scaled(100);

    for (size_t round = 0; round < rounds; ++round) {
        uint32_t parent[SIZE], run[2];
        uint8_t flags[SIZE], inherit[SIZE];

        grove_random_parents(parent, SIZE, 1 + test_below(&random_state, 5), &random_state);
        grove_random_inherit(inherit, SIZE, 2, &random_state);
        random_flags(flags);
        for (uint32_t i = 0; i < 2; ++i) {
            run[i] = grove_plant(&g, &(grove_plan){.parent = parent,
                                                   .size = SIZE,
                                                   .flags = flags,
                                                   .inherit = inherit,
                                                   .holes = 3 * i,
                                                   .spare = i,
                                                   .seed = round,
                                                   .is_shuffled = i == 1,
                                                   .has_extras = round % 2 == 0});
        }
        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            const espl__frame a = espl__slot_frame(forest, grove_slot(&g, run[0], rank));
            const espl__frame b = espl__slot_frame(forest, grove_slot(&g, run[1], rank));

            ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "rank %u", rank);
        }
        uproot(run, 2);
    }
}
END_TEST

START_TEST(inherit_flags_that_nobody_has_change_no_bit)
{
    uint32_t parent[SIZE], run[3];

    grove_random_parents(parent, SIZE, 3, &random_state);
    for (uint32_t i = 0; i < 3; ++i) {
        run[i] = grove_plant(
            &g, &(grove_plan){
                    .parent = parent, .size = SIZE, .is_general = i == 1, .is_prepaid = i == 2});
    }
    ck_assert_ptr_nonnull(forest->runs[run[2]].side->kept);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        ck_assert(grove_same(world_at(run[0], rank), world_at(run[1], rank)));
        ck_assert(grove_same(world_at(run[0], rank), world_at(run[2], rank)));
    }
    uproot(run, 3);
}
END_TEST

// --- Not finite ---

// One node whose local makes its world, and no other, go past all bounds.
typedef struct blow {
    int axis; // of the position, or 3: the scale
    float value;
} blow;

static const blow blows[] = {{0, FLT_MAX}, {1, FLT_MAX},  {2, FLT_MAX},
                             {3, FLT_MAX}, {0, -FLT_MAX}, {3, -FLT_MAX}};
enum { BLOWS = sizeof blows / sizeof *blows };

// R{A{C,D},B{E}} where A and B have a scale of 4.
static void plant_blowable(uint32_t run[4])
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    plant_alike(parent, 6, 5, run);
    for (uint32_t i = 0; i < 4; ++i) {
        for (uint32_t rank = 0; rank < 6; ++rank) {
            *local_at(run[i], rank) = espl__pose_identity();
            local_at(run[i], rank)->scale = rank == 1 || rank == 2 ? 4 : 1;
            local_at(run[i], rank)->position[0] = 1;
        }
        ck_assert(grove_propagate(forest, run[i], 0));
    }
}

static float *field(espl_pose *pose, const blow *b)
{
    return b->axis == 3 ? &pose->scale : &pose->position[b->axis];
}

START_TEST(world_that_is_not_finite_is_told)
{
    uint32_t run[4];

    plant_blowable(run);
    for (uint32_t i = 0; i < 4 * BLOWS; ++i) {
        const uint32_t here = run[i / BLOWS];
        const blow *const b = &blows[i % BLOWS];

        for (uint32_t rank = 3; rank < 6; ++rank) {
            const espl_pose right = *local_at(here, rank);
            const uint32_t up = rank == 5 ? 2 : 1;

            *field(local_at(here, rank), b) = b->value;
            ck_assert(!espl__propagate_at(forest, &forest->crew, here, rank));
            ck_assert(!grove_propagate(forest, here, rank));
            ck_assert(!espl__propagate_below(forest, &forest->crew, here, up));
            ck_assert(!espl__propagate_below(forest, &forest->crew, here, 0));
            *local_at(here, rank) = right;
            ck_assert(espl__propagate_below(forest, &forest->crew, here, 0));
            is_as_expected(here);
        }
    }
    uproot(run, 4);
}
END_TEST

START_TEST(infinity_on_one_axis_alone_is_told)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};
    uint32_t run[4];

    plant_alike(parent, 3, 5, run);
    for (uint32_t i = 0; i < 12; ++i) {
        const uint32_t here = run[i / 3], axis = i % 3;

        // Each sum is finite but for the last, of two offsets along one axis.
        for (uint32_t rank = 0; rank < 3; ++rank) {
            *local_at(here, rank) = espl__pose_identity();
            local_at(here, rank)->position[axis] = rank == 2 ? 1 : FLT_MAX;
        }
        ck_assert(!grove_propagate(forest, here, 0));
        ck_assert(!espl__propagate_at(forest, &forest->crew, here, 1));
        for (uint32_t k = 0; k < 3; ++k) {
            ck_assert_int_eq(isfinite(world_at(here, 1)->position[k]) != 0, k != axis);
        }
        ck_assert(espl__propagate_at(forest, &forest->crew, here, 2));
    }
    uproot(run, 4);
}
END_TEST

START_TEST(worlds_beside_one_that_is_not_finite_are_recomputed)
{
    uint32_t run[4];

    plant_blowable(run);
    for (uint32_t i = 0; i < 4; ++i) {
        // D goes past all bounds; C stands before it, E behind.
        local_at(run[i], 4)->position[1] = FLT_MAX;
        local_at(run[i], 0)->position[2] = 8;
        (void)visits();
        ck_assert(!grove_propagate(forest, run[i], 0));
        ck_assert_uint_eq(visits(), 6);
        for (uint32_t rank = 0; rank < 6; ++rank) {
            const espl_pose expected = espl__world_expected(forest, grove_slot(&g, run[i], rank));

            ck_assert(rank == 4 || grove_same(&expected, world_at(run[i], rank)));
            ck_assert_int_eq(espl__pose_is_finite(world_at(run[i], rank)), rank != 4);
        }
    }
    uproot(run, 4);
}
END_TEST

START_TEST(level_that_is_finite_does_not_hide_one_that_is_not)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 1, 3};
    uint32_t run[4];

    plant_alike(parent, 5, 5, run);
    for (uint32_t i = 0; i < 4; ++i) {
        // Rank 2 is a leaf of the first level below 1; rank 4 is the next level.
        local_at(run[i], 1)->scale = 4;
        local_at(run[i], 2)->position[0] = FLT_MAX;
        ck_assert(!grove_propagate(forest, run[i], 1));
        ck_assert(espl__pose_is_finite(world_at(run[i], 4)));
    }
    uproot(run, 4);
}
END_TEST

START_TEST(huge_finite_values_are_no_false_alarm)
{
    const float huge[][4] = {{FLT_MAX, FLT_MAX, FLT_MAX, 1},
                             {-FLT_MAX, -FLT_MAX, 0, 1},
                             {FLT_MAX, 0, 0, FLT_MAX},
                             {0, 0, -FLT_MAX, -FLT_MAX},
                             {3e38f, 1e38f, 0, 3e37f}};
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};
    uint32_t run[4];

    plant_alike(parent, 3, 5, run);
    for (uint32_t i = 0; i < 4; ++i) {
        for (size_t k = 0; k < sizeof huge / sizeof *huge; ++k) {
            for (uint32_t rank = 0; rank < 3; ++rank) {
                *local_at(run[i], rank) = espl__pose_identity();
            }
            memcpy(local_at(run[i], 1)->position, huge[k], 3 * sizeof(float));
            local_at(run[i], 1)->scale = huge[k][3];
            ck_assert(grove_propagate(forest, run[i], 0));
            ck_assert(espl__propagate_at(forest, &forest->crew, run[i], 1));
            ck_assert(espl__propagate_below(forest, &forest->crew, run[i], 0));
            ck_assert_float_eq(world_at(run[i], 1)->position[0], huge[k][0]);
            is_as_expected(run[i]);
        }
    }
    uproot(run, 4);
}
END_TEST

START_TEST(infinities_of_both_signs_do_not_cancel)
{
    uint32_t run[4];

    plant_blowable(run);
    for (uint32_t i = 0; i < 4; ++i) {
        local_at(run[i], 3)->position[0] = FLT_MAX;
        local_at(run[i], 3)->position[1] = -FLT_MAX;
        local_at(run[i], 4)->position[0] = -FLT_MAX;
        ck_assert(!espl__propagate_below(forest, &forest->crew, run[i], 0));
        ck_assert(!espl__propagate_at(forest, &forest->crew, run[i], 3));
        ck_assert(!espl__pose_is_finite(world_at(run[i], 3)));
    }
    uproot(run, 4);
}
END_TEST

START_TEST(zero_scale_is_finite_and_collapses_what_hangs_below)
{
    uint32_t run[4];

    plant_blowable(run);
    for (uint32_t i = 0; i < 4; ++i) {
        local_at(run[i], 1)->scale = 0;
        local_at(run[i], 3)->position[0] = FLT_MAX;
        ck_assert(grove_propagate(forest, run[i], 1));
        ck_assert_float_eq(world_at(run[i], 3)->position[0], world_at(run[i], 1)->position[0]);
        ck_assert_float_eq(world_at(run[i], 3)->scale, 0);
    }
    uproot(run, 4);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/propagate");
    TCase *const bits = tcase_create("bits");
    TCase *const visited = tcase_create("visits");
    TCase *const finite = tcase_create("finite");

    tcase_add_checked_fixture(bits, set_up, tear_down);
    tcase_add_test(bits, every_arrangement_of_slots_gives_the_same_bits);
    tcase_add_test(bits, every_subtree_is_recomputed_alike_and_nothing_beside_it);
    tcase_add_test(bits, one_rank_is_recomputed_alone);
    tcase_add_test(bits, chain_and_star_are_recomputed_to_their_ends);
    tcase_add_test(bits, general_kernel_follows_flags_extras_and_kept_parts);
    tcase_add_test(bits, side_arrays_by_slot_give_the_same_bits_in_every_arrangement);
    tcase_add_test(bits, inherit_flags_that_nobody_has_change_no_bit);
    suite_add_tcase(suite, bits);

    tcase_add_checked_fixture(visited, set_up, tear_down);
    tcase_add_test(visited, write_visits_the_node_and_its_descendants_once_each);
    tcase_add_test(visited, what_hangs_below_an_unchanged_world_is_not_visited);
    tcase_add_test(visited, leaf_write_visits_the_leaf_alone);
    tcase_add_test(visited, node_alone_has_nothing_below_it);
    suite_add_tcase(suite, visited);

    tcase_add_checked_fixture(finite, set_up, tear_down);
    tcase_add_test(finite, world_that_is_not_finite_is_told);
    tcase_add_test(finite, infinity_on_one_axis_alone_is_told);
    tcase_add_test(finite, worlds_beside_one_that_is_not_finite_are_recomputed);
    tcase_add_test(finite, level_that_is_finite_does_not_hide_one_that_is_not);
    tcase_add_test(finite, huge_finite_values_are_no_false_alarm);
    tcase_add_test(finite, infinities_of_both_signs_do_not_cancel);
    tcase_add_test(finite, zero_scale_is_finite_and_collapses_what_hangs_below);
    suite_add_tcase(suite, finite);
    return suite;
}

RUN_SUITE(make_suite)

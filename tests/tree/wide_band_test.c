// SPDX-License-Identifier: MIT
// Bands by their rules: generations follow one another, pieces are about equal and cover them, and
// where no band is laid the walk gets on.
#include "lib/tree/band.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

enum { SIZE = GROVE_LIMIT };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 51;
}

static void tear_down(void)
{
    grove_end(&g);
}

static const espl__run *header_of(uint32_t run)
{
    return &forest->runs[run];
}

// `wide` chains side by side below a root, or a tree in which each node has so many children.
static uint32_t plant_chains(uint32_t wide, uint32_t size)
{
    uint32_t parent[SIZE];

    for (uint32_t rank = 0; rank < size; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank <= wide ? 0 : rank - wide;
    }
    return grove_plant(&g, &(grove_plan){.parent = parent, .size = size});
}

static uint32_t plant_fan(uint32_t fan, uint32_t size)
{
    uint32_t parent[SIZE];

    for (uint32_t rank = 0; rank < size; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : (rank - 1) / fan;
    }
    return grove_plant(&g, &(grove_plan){.parent = parent, .size = size});
}

static bool lay(espl__band *band, uint32_t run, uint32_t begin)
{
    return espl__band_lay(band, forest, header_of(run), begin,
                          espl__first_child(forest, header_of(run), begin));
}

// Ranks of a piece in all generations of its band.
static uint32_t weigh(const espl__band *band, uint32_t piece)
{
    uint32_t begin = band->cuts[piece], end = band->cuts[piece + 1], ranks = 0;

    for (uint32_t i = 0; i < band->generations; ++i) {
        ck_assert_uint_le(band->begin[i], begin);
        ck_assert_uint_le(begin, end);
        ck_assert_uint_le(end, band->end[i]);
        ranks += end - begin;
        begin = espl__first_child(forest, band->run, begin);
        end = espl__first_child(forest, band->run, end);
    }
    return ranks;
}

// @return ranks of the heaviest piece.
static uint32_t is_sound(espl__band *band)
{
    uint32_t all = 0, of_pieces = 0, heaviest = 0;

    for (uint32_t i = 0; i < band->generations; ++i) {
        all += band->end[i] - band->begin[i];
        ck_assert_uint_lt(band->begin[i], band->end[i]);
        if (i + 1 < band->generations) {
            ck_assert_uint_eq(band->end[i], band->begin[i + 1]);
            ck_assert_uint_eq(espl__first_child(forest, band->run, band->begin[i]),
                              band->begin[i + 1]);
        }
    }
    espl__band_cut(band);
    ck_assert_uint_ge(band->pieces, 2);
    ck_assert_uint_le(band->pieces, ESPL__PIECES);
    ck_assert_uint_eq(band->cuts[0], band->begin[0]);
    ck_assert_uint_eq(band->cuts[band->pieces], band->end[0]);
    for (uint32_t i = 0; i < band->pieces; ++i) {
        const uint32_t ranks = weigh(band, i);

        of_pieces += ranks;
        heaviest = heaviest > ranks ? heaviest : ranks;
    }
    ck_assert_uint_eq(of_pieces, all);
    ck_assert_uint_le(band->pieces, all / forest->grain);
    return heaviest;
}

START_TEST(any_hierarchy_is_gone_through_to_its_end)
{
    const size_t rounds = test_scaled(2000);
    size_t laid = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t parent[SIZE];
        const uint32_t size = 1 + test_below(&random_state, SIZE);
        espl__band band;

        grove_random_parents(parent, size, 1 + test_below(&random_state, 50), &random_state);
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = size});

        forest->grain = 1 + test_below(&random_state, 40);
        for (uint32_t rank = 0; rank < size;) {
            const bool is_laid = lay(&band, run, rank);

            if (is_laid) {
                (void)is_sound(&band);
                laid += 1;
            }
            const uint32_t next = is_laid ? espl__band_limit(&band) : band.resume;

            ck_assert_uint_gt(next, rank);
            rank = next;
        }
        espl__run_release(forest, run);
    }
    ck_assert_uint_gt(laid, rounds / 4);
}
END_TEST

START_TEST(pieces_of_an_even_tree_are_even)
{
    const uint32_t fans[] = {2, 3, 10, 31};

    for (size_t i = 0; i < sizeof fans / sizeof *fans; ++i) {
        const uint32_t run = plant_fan(fans[i], SIZE);
        uint32_t rank = 1;
        espl__band band;

        forest->grain = 64;
        while (espl__first_child(forest, header_of(run), rank) - rank < 30) {
            rank = espl__first_child(forest, header_of(run), rank);
        }
        ck_assert(lay(&band, run, rank));
        const uint32_t heaviest = is_sound(&band), all = SIZE - rank;

        ck_assert_uint_le(heaviest, 2 * all / band.pieces);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(star_is_one_generation_in_equal_pieces)
{
    const uint32_t run = plant_fan(SIZE, 1 + 1000);
    espl__band band;

    forest->grain = 100;
    ck_assert(lay(&band, run, 1));
    ck_assert_uint_eq(band.generations, 1);
    ck_assert_uint_eq(band.pieces, 10);
    ck_assert_uint_le(is_sound(&band), 112);
    ck_assert_uint_eq(espl__band_limit(&band), 1001);
    forest->grain = 501;
    ck_assert(!lay(&band, run, 1));
    ck_assert_uint_eq(band.resume, UINT32_MAX);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(chain_is_looked_through_in_long_steps)
{
    const uint32_t run = plant_chains(1, SIZE);
    espl__band band;

    forest->grain = 200;
    ck_assert(!lay(&band, run, 1));
    ck_assert_uint_eq(band.resume, 1 + ESPL__GENERATIONS);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(band_goes_down_so_far_and_no_further)
{
    const uint32_t run = plant_chains(10, SIZE);
    espl__band band;

    forest->grain = 100;
    // Ten chains are too few for one piece, let alone two.
    ck_assert(!lay(&band, run, 1));
    ck_assert_uint_eq(band.resume, 1 + 10 * ESPL__GENERATIONS / 2);
    forest->grain = 15;
    ck_assert(lay(&band, run, 1));
    ck_assert_uint_eq(band.generations, ESPL__GENERATIONS);
    ck_assert_uint_eq(espl__band_limit(&band), 1 + 10 * ESPL__GENERATIONS);
    ck_assert_uint_eq(band.pieces, 10);
    (void)is_sound(&band);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(what_grows_at_once_is_left_to_grow)
{
    const uint32_t run = plant_fan(10, SIZE);
    espl__band band;

    forest->grain = 60;
    ck_assert(!lay(&band, run, 1)); // 10, and 100 below
    ck_assert_uint_eq(band.resume, 11);
    ck_assert(lay(&band, run, 11));
    ck_assert_uint_eq(band.generations, 2);
    (void)is_sound(&band);
    espl__run_release(forest, run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/wide band");
    TCase *const tcase = tcase_create("rules");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, any_hierarchy_is_gone_through_to_its_end);
    tcase_add_test(tcase, pieces_of_an_even_tree_are_even);
    tcase_add_test(tcase, star_is_one_generation_in_equal_pieces);
    tcase_add_test(tcase, chain_is_looked_through_in_long_steps);
    tcase_add_test(tcase, band_goes_down_so_far_and_no_further);
    tcase_add_test(tcase, what_grows_at_once_is_left_to_grow);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(make_suite)

// SPDX-License-Identifier: MIT
// Packing tightly: what stands in the forest stays bit for bit, whatever it stood in before, and
// not a slot, header or side array is left over.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { RUNS = 24, NODES = 40 };

static grove g;
static espl__forest *const forest = &g.forest;
static uint32_t slot_of[RUNS * NODES]; // by entity

static void set_up(void)
{
    grove_begin(&g);
    memset(slot_of, 0xff, sizeof slot_of);
}

static void tear_down(void)
{
    grove_end(&g);
}

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    slot_of[entity] = ESPL__NO_SLOT;
}

static void note_slot(void *context, uint32_t entity, uint32_t slot)
{
    (void)context;
    slot_of[entity] = slot;
}

static void note_all(void)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
            const uint32_t slot = grove_slot(&g, run, rank);

            if (forest->entity[slot] != ESPL__NO_ENTITY) {
                slot_of[forest->entity[slot]] = slot;
            }
        }
    }
}

// --- What has to stay ---

static uint64_t hash_node(uint64_t hash, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    const espl__placement placement = espl__slot_placement(forest, slot);
    const uint32_t words[] = {rank,
                              forest->entity[slot],
                              forest->flags[slot] & ~(unsigned)ESPL__SLOT_SIDE,
                              forest->parent[run->base + rank],
                              forest->first[run->base + rank],
                              run->size,
                              run->ghosts,
                              run->flags & ESPL__RUN_UNSETTLED};

    hash = test_hash_bytes(hash, words, sizeof words);
    hash = test_hash_bytes(hash, &placement, sizeof placement);
    return test_hash_bytes(hash, &forest->world[slot], sizeof forest->world[slot]);
}

// Runs in their order, for free headers are left out.
static uint64_t hash_content(void)
{
    const uint64_t counters[] = {forest->ghosts,
                                 forest->crew.tally.nodes_visited,
                                 forest->crew.tally.nodes_skipped,
                                 forest->crew.tally.writes,
                                 forest->crew.tally.writes_skipped,
                                 forest->purges,
                                 forest->nodes_rebuilt,
                                 forest->nodes_shifted};
    uint64_t hash = test_hash_bytes(TEST_HASH_START, counters, sizeof counters);

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
            hash = hash_node(hash, grove_slot(&g, run, rank));
        }
    }
    return hash;
}

static void slots_are_known(void)
{
    for (uint32_t entity = 0; entity < g.entities; ++entity) {
        if (slot_of[entity] != ESPL__NO_SLOT) {
            ck_assert_uint_lt(slot_of[entity], forest->end);
            ck_assert_uint_eq(forest->entity[slot_of[entity]], entity);
        }
    }
}

static void forest_is_tight(void)
{
    size_t nodes = 0;

    ck_assert_uint_eq(forest->end, forest->capacity);
    ck_assert_uint_eq(forest->run_end, forest->run_capacity);
    ck_assert_uint_eq(forest->free_slots, 0);
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];
        const espl__side *const side = header->side;

        ck_assert_uint_gt(header->size, 0);
        ck_assert_uint_eq(header->base, nodes);
        ck_assert_uint_eq(header->capacity, header->size);
        ck_assert_uint_eq(header->used, header->size);
        ck_assert_uint_ne(header->flags & ESPL__RUN_IN_ORDER, 0);
        if (side != NULL) {
            ck_assert_uint_eq(side->capacity, header->size);
            ck_assert_uint_gt(side->extra_count + side->kept_count, 0);
            ck_assert_int_eq(side->kept != NULL, side->kept_count != 0);
            ck_assert_uint_eq(side->is_prepaid, 0);
        }
        nodes += header->size;
    }
    ck_assert_uint_eq(nodes, forest->end);
}

// --- A forest of everything ---

static uint32_t plant_one(uint64_t *random)
{
    uint32_t parent[NODES];
    uint8_t flags[NODES] = {0}, inherit[NODES] = {0};
    const uint32_t size = 1 + test_below(random, NODES);

    grove_random_parents(parent, size, 1 + test_below(random, 5), random);
    for (uint32_t i = 0; i < size; ++i) {
        flags[i] = test_one_in(random, 8) ? ESPL__SLOT_PASS : 0;
        flags[i] |= i != 0 && test_one_in(random, 3) ? ESPL__SLOT_FREE_LINK : 0;
    }
    grove_random_inherit(inherit, size, 4, random);
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = size,
                                         .flags = test_one_in(random, 2) ? flags : NULL,
                                         .inherit = test_one_in(random, 3) ? inherit : NULL,
                                         .holes = test_below(random, 4),
                                         .spare = test_below(random, 4),
                                         .seed = test_random(random),
                                         .is_shuffled = test_one_in(random, 2),
                                         .is_general = test_one_in(random, 4),
                                         .has_extras = test_one_in(random, 3),
                                         .is_prepaid = test_one_in(random, 3)});
}

static void release(uint32_t run)
{
    for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
        const uint32_t entity = forest->entity[grove_slot(&g, run, rank)];

        if (entity != ESPL__NO_ENTITY) {
            slot_of[entity] = ESPL__NO_SLOT;
        }
    }
    forest->ghosts -= forest->runs[run].ghosts;
    espl__run_release(forest, run);
}

static void plant_everything(uint64_t seed)
{
    uint64_t random = seed;
    uint32_t runs[RUNS];

    for (uint32_t i = 0; i < RUNS; ++i) {
        runs[i] = plant_one(&random);
    }
    note_all();
    for (uint32_t i = 0; i < RUNS; ++i) {
        const uint32_t slot =
            grove_slot(&g, runs[i], test_below(&random, forest->runs[runs[i]].size));
        const uint32_t what = test_below(&random, 4);

        if (what == 0) {
            release(runs[i]);
        } else if (what == 1) {
            espl__make_ghosts(forest, slot, (espl__closure)test_below(&random, 3), bury_nobody,
                              NULL);
        }
    }
    forest->purges = test_random(&random);
    forest->nodes_rebuilt = test_random(&random);
    forest->nodes_shifted = test_random(&random);
    grove_is_sound(&g);
}

// --- Tests ---

START_TEST(trim_keeps_every_bit_and_nothing_else)
{
    for (uint64_t seed = 1; seed <= test_scaled(200); ++seed) {
        plant_everything(seed);
        const uint64_t content = hash_content();
        const size_t bytes = g.under.bytes;

        ck_assert(espl__forest_trim(forest, note_slot, NULL));
        grove_is_sound(&g);
        forest_is_tight();
        slots_are_known();
        ck_assert_uint_eq(hash_content(), content);
        ck_assert_uint_lt(g.under.bytes, bytes);
        ck_assert_uint_eq(espl__forest_bytes(forest), g.under.bytes);
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(pack_keeps_every_bit_too)
{
    for (uint64_t seed = 1; seed <= test_scaled(200); ++seed) {
        plant_everything(seed);
        const uint64_t content = hash_content();

        ck_assert(espl__forest_pack(forest, note_slot, NULL));
        grove_is_sound(&g);
        slots_are_known();
        ck_assert_uint_eq(hash_content(), content);
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(trimmed_forest_is_left_alone)
{
    plant_everything(7);
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    const uint64_t hash = grove_hash(&g);
    const espl_pose *const world = forest->world;

    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    ck_assert_uint_eq(g.under.calls, 0);
    ck_assert_ptr_eq(forest->world, world);
    ck_assert_uint_eq(grove_hash(&g), hash);
}
END_TEST

START_TEST(trim_without_memory_changes_nothing)
{
    plant_everything(11);
    const uint64_t hash = grove_hash(&g);
    const size_t bytes = g.under.bytes;
    size_t points = 0;
    bool is_done = false;

    while (!is_done) {
        points += 1;
        test_heap_arm(&g.under, points, points % 2 == 0);
        is_done = espl__forest_trim(forest, note_slot, NULL);
        test_heap_arm(&g.under, 0, false);
        if (!is_done) {
            ck_assert_uint_eq(grove_hash(&g), hash);
            ck_assert_uint_eq(g.under.bytes, bytes);
            slots_are_known();
        }
        grove_is_sound(&g);
    }
    ck_assert_uint_gt(points, 5); // the pool, the headers, side arrays
    forest_is_tight();
}
END_TEST

START_TEST(empty_forest_trims_to_nothing)
{
    plant_everything(3);
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        if (forest->runs[run].size != 0) {
            release(run);
        }
    }
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    ck_assert_uint_eq(g.under.bytes, 0);
    grove_is_sound(&g);

    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = &(uint32_t){0}, .size = 1});
    ck_assert_uint_eq(forest->runs[run].size, 1);
    grove_is_sound(&g);
}
END_TEST

START_TEST(prepaid_side_arrays_go_where_nothing_needs_them)
{
    static const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};
    const uint32_t run = grove_plant(
        &g, &(grove_plan){.parent = parent, .size = 3, .is_prepaid = true, .is_shuffled = true});

    note_all();
    ck_assert_ptr_nonnull(forest->runs[run].side);
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    ck_assert_ptr_null(forest->runs[0].side);
    ck_assert_uint_eq(forest->runs[0].flags, ESPL__RUN_IN_ORDER);
    grove_is_sound(&g);
}
END_TEST

START_TEST(trimmed_forest_loses_side_arrays_that_were_prepaid_since)
{
    static const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};

    // With a stretch, side arrays stay, and are prepaid no longer.
    for (uint32_t is_needed = 0; is_needed < 2; ++is_needed) {
        (void)grove_plant(&g,
                          &(grove_plan){.parent = parent, .size = 3, .has_extras = is_needed != 0});
        note_all();
        ck_assert(espl__forest_trim(forest, note_slot, NULL));
        const uint64_t content = hash_content();
        const size_t bytes = g.under.bytes;

        ck_assert(espl__run_add_side(forest, 0, false));
        forest->runs[0].side->is_prepaid = 1;
        ck_assert(espl__forest_trim(forest, note_slot, NULL));
        grove_is_sound(&g);
        forest_is_tight();
        slots_are_known();
        ck_assert_uint_eq(g.under.bytes, bytes);
        ck_assert_uint_eq(hash_content(), content);
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(trimmed_forest_loses_a_header_that_came_and_went)
{
    (void)grove_plant(&g, &(grove_plan){.parent = &(uint32_t){0}, .size = 1});
    note_all();
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    const size_t bytes = g.under.bytes;

    ck_assert(espl__forest_make_room(forest, 0, forest->run_end + 1));
    espl__run_release(forest, espl__run_take(forest));
    ck_assert(espl__forest_trim(forest, note_slot, NULL));
    grove_is_sound(&g);
    forest_is_tight();
    ck_assert_uint_eq(g.under.bytes, bytes);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/trim");
    TCase *const tcase = tcase_create("trim");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, trim_keeps_every_bit_and_nothing_else);
    tcase_add_test(tcase, pack_keeps_every_bit_too);
    tcase_add_test(tcase, trimmed_forest_is_left_alone);
    tcase_add_test(tcase, trim_without_memory_changes_nothing);
    tcase_add_test(tcase, empty_forest_trims_to_nothing);
    tcase_add_test(tcase, prepaid_side_arrays_go_where_nothing_needs_them);
    tcase_add_test(tcase, trimmed_forest_loses_side_arrays_that_were_prepaid_since);
    tcase_add_test(tcase, trimmed_forest_loses_a_header_that_came_and_went);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(make_suite)

// SPDX-License-Identifier: MIT
// A pool full of holes becomes one without: everything that lives is found where the pack says it
// went, with the same bits.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { ENTITIES = 20000, RUNS = 400 };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

// What is known of each entity.
typedef struct known {
    espl__placement placement;
    espl_pose world;
    uint32_t parent; // entity of the parent
    uint32_t rank, slot, told;
    uint8_t flags;
} known;

static known entities[ENTITIES];

static void set_up(void)
{
    grove_begin(&g);
    random_state = 5;
    memset(entities, 0, sizeof entities);
}

static void tear_down(void)
{
    grove_end(&g);
}

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

static uint32_t plant_one(uint32_t i)
{
    uint32_t parent[40];
    uint8_t flags[40] = {0}, inherit[40];

    grove_random_parents(parent, 40, 3, &random_state);
    grove_random_inherit(inherit, 40, 3, &random_state);
    for (uint32_t rank = 0; rank < 40; ++rank) {
        flags[rank] = (uint8_t)((rank != 0 && i % 2 == 0 ? ESPL__SLOT_FREE_LINK : 0) |
                                (i % 7 == 0 && rank % 5 == 2 ? ESPL__SLOT_PASS : 0));
    }
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = 1 + test_below(&random_state, 40),
                                         .flags = flags,
                                         .inherit = i % 6 == 0 ? inherit : NULL,
                                         .holes = i % 3,
                                         .spare = test_below(&random_state, 30),
                                         .seed = i,
                                         .is_shuffled = i % 2 == 0,
                                         .has_extras = i % 4 == 0});
}

// Plant many, uproot most, let some have ghosts; so that a pack is wanted.
static void churn(uint32_t first)
{
    uint32_t run[RUNS];

    for (uint32_t i = 0; i < RUNS; ++i) {
        run[i] = plant_one(first + i);
    }
    for (uint32_t i = 0; i + 1 < RUNS; ++i) {
        if (i % 5 < 3) {
            espl__run_release(forest, run[i]);
        } else if (i % 5 == 3 && forest->runs[run[i]].size > 20) {
            const uint32_t rank = i % 25 == 3 ? 0 : test_below(&random_state, 10);

            espl__make_ghosts(forest, grove_slot(&g, run[i], rank), ESPL__CLOSURE_ONLY, bury_nobody,
                              NULL);
        }
    }
    ck_assert_uint_ne(forest->unsettled, ESPL__NO_RUN);
    ck_assert_uint_gt(forest->ghosts, 10);
    grove_is_sound(&g);
}

static void learn_run(uint32_t run)
{
    const espl__run *const header = &forest->runs[run];

    for (uint32_t rank = 0; rank < header->size; ++rank) {
        const uint32_t slot = grove_slot(&g, run, rank), up = espl__living_parent(forest, slot);

        if (forest->entity[slot] != ESPL__NO_ENTITY) {
            ck_assert_uint_lt(forest->entity[slot], ENTITIES);
            entities[forest->entity[slot]] =
                (known){.placement = espl__slot_placement(forest, slot),
                        .world = forest->world[slot],
                        .parent = up != ESPL__NO_SLOT ? forest->entity[up] : ESPL__NO_ENTITY,
                        .rank = rank,
                        .slot = slot,
                        .flags = forest->flags[slot]};
        }
    }
}

static void learn(void)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        learn_run(run);
    }
}

static void hear(void *context, uint32_t entity, uint32_t slot)
{
    size_t *const count = context;

    *count += 1;
    ck_assert_uint_lt(entity, ENTITIES);
    entities[entity].told += 1;
    entities[entity].slot = slot;
}

// Every entity that was told of is where it was said to be, with all it had.
static size_t check_entities(void)
{
    size_t living = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
            const uint32_t slot = grove_slot(&g, run, rank), entity = forest->entity[slot];
            const uint32_t up = espl__living_parent(forest, slot);

            if (entity == ESPL__NO_ENTITY) {
                continue;
            }
            const known *const k = &entities[entity];
            const espl__placement placement = espl__slot_placement(forest, slot);

            living += 1;
            ck_assert_msg(k->told == 1 && k->slot == slot && k->rank == rank &&
                              k->flags == forest->flags[slot] &&
                              espl__placement_is_equal(&k->placement, &placement) &&
                              grove_same(&k->world, &forest->world[slot]) &&
                              k->parent ==
                                  (up != ESPL__NO_SLOT ? forest->entity[up] : ESPL__NO_ENTITY),
                          "entity %u", entity);
        }
    }
    return living;
}

static uint32_t count_unsettled(void)
{
    uint32_t count = 0;

    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        count += 1;
    }
    return count;
}

START_TEST(pool_is_packed_and_everything_is_where_the_pack_says)
{
    churn(0);
    learn();
    forest->crew.tally.writes = 123;
    forest->crew.tally.writes_skipped = 45;
    forest->crew.tally.nodes_skipped = 67;
    const espl__forest before = *forest;
    const uint32_t unsettled = count_unsettled();
    const size_t bytes = g.under.bytes;
    size_t told = 0;

    ck_assert(espl__forest_wants_pack(forest));
    ck_assert(espl__forest_pack(forest, hear, &told));
    ck_assert(!espl__forest_wants_pack(forest));
    grove_is_sound(&g);
    ck_assert_uint_eq(check_entities(), told);
    ck_assert_uint_gt(told, 1000);

    ck_assert_uint_eq(forest->free_slots, 0);
    ck_assert_uint_lt(forest->end, before.end);
    ck_assert_uint_lt(forest->capacity, before.capacity);
    ck_assert_uint_lt(g.under.bytes, bytes);
    ck_assert_uint_eq(forest->free_run, ESPL__NO_RUN);
    ck_assert_uint_eq(forest->ghosts, before.ghosts);
    ck_assert_uint_eq(forest->crew.tally.nodes_visited, before.crew.tally.nodes_visited);
    ck_assert_uint_eq(forest->crew.tally.nodes_skipped, before.crew.tally.nodes_skipped);
    ck_assert_uint_eq(forest->crew.tally.writes, before.crew.tally.writes);
    ck_assert_uint_eq(forest->crew.tally.writes_skipped, before.crew.tally.writes_skipped);
    ck_assert_uint_eq(count_unsettled(), unsettled);
}
END_TEST

START_TEST(packed_runs_are_in_order_with_some_room_to_grow)
{
    size_t told = 0, with_side = 0, keeping = 0;

    churn(0);
    ck_assert(espl__forest_pack(forest, hear, &told));
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        ck_assert_uint_gt(header->size, 0);
        if (header->side != NULL) {
            with_side += 1; // filed by slot: slots keep their order
            keeping += header->side->kept_count != 0;
            continue;
        }
        ck_assert_uint_ne(header->flags & ESPL__RUN_IN_ORDER, 0);
        ck_assert_uint_eq(header->used, header->size);
        ck_assert_uint_le(header->capacity, header->size + header->size / 4);
    }
    ck_assert_uint_gt(with_side, 20);
    ck_assert_uint_gt(keeping, 10);
}
END_TEST

START_TEST(packed_run_keeps_a_quarter_of_room_where_it_had_that)
{
    const uint32_t parent[40] = {0};
    const uint32_t spare[] = {0, 3, 10, 100}, capacity[] = {40, 43, 50, 50};
    size_t told = 0;

    for (uint32_t i = 0; i < 4; ++i) {
        (void)grove_plant(&g, &(grove_plan){.parent = parent, .size = 40, .spare = spare[i]});
    }
    ck_assert(espl__forest_pack(forest, hear, &told));
    for (uint32_t i = 0; i < 4; ++i) {
        ck_assert_uint_eq(forest->runs[i].capacity, capacity[i]);
    }
    // And the pool keeps a sixty-fourth part.
    ck_assert_uint_eq(forest->capacity - forest->end, forest->end / 64);
}
END_TEST

START_TEST(pool_serves_on_after_a_pack)
{
    for (uint32_t round = 0; round < 4; ++round) {
        size_t told = 0;

        g.entities = 0;
        churn(round * RUNS);
        memset(entities, 0, sizeof entities);
        ck_assert(espl__forest_pack(forest, hear, &told));
        grove_is_sound(&g);

        // Writes go on where things are now.
        for (uint32_t run = 0; run < forest->run_end; ++run) {
            if (!espl__slot_is(forest, grove_slot(&g, run, 0), ESPL__SLOT_PASS)) {
                forest->local[grove_slot(&g, run, 0)].position[1] += 1;
                ck_assert(grove_propagate(forest, run, 0));
            }
        }
        grove_is_sound(&g);
        for (uint32_t run = 0; run < forest->run_end; ++run) {
            forest->ghosts -= forest->runs[run].ghosts;
            espl__run_release(forest, run);
        }
        ck_assert_uint_eq(forest->end, 0);
        ck_assert_uint_eq(forest->unsettled, ESPL__NO_RUN);
        grove_is_sound(&g);
    }
}
END_TEST

START_TEST(pack_without_memory_changes_nothing)
{
    size_t told = 0, points = 0;
    bool is_done = false;

    churn(0);
    const uint64_t hash = grove_hash(&g);
    const size_t bytes = g.under.bytes;
    for (size_t fail_at = 1; !is_done; ++fail_at) {
        test_heap_arm(&g.under, fail_at, fail_at % 2 == 0);
        is_done = espl__forest_pack(forest, hear, &told);
        if (!is_done) {
            ck_assert_uint_eq(g.under.failures, 1);
            ck_assert_uint_eq(told, 0);
            ck_assert_uint_eq(grove_hash(&g), hash);
            ck_assert_uint_eq(g.under.bytes, bytes);
            grove_is_sound(&g);
            points += 1;
        }
    }
    ck_assert_uint_eq(points, 2); // slots, and headers
    ck_assert_uint_gt(told, 1000);
    grove_is_sound(&g);
}
END_TEST

START_TEST(pack_of_an_empty_pool_is_no_failure)
{
    size_t told = 0;

    ck_assert(espl__forest_pack(forest, hear, &told));
    espl__run_release(forest, plant_one(1));
    ck_assert(espl__forest_pack(forest, hear, &told));
    ck_assert_uint_eq(told, 0);
    ck_assert_uint_eq(forest->end, 0);
    ck_assert_uint_eq(forest->run_end, 0);
}
END_TEST

START_TEST(pack_is_wanted_past_a_third_of_a_pool_worth_the_work)
{
    uint32_t parent[1000] = {0};
    uint32_t run[6];

    for (uint32_t i = 0; i < 6; ++i) {
        run[i] = grove_plant(&g, &(grove_plan){.parent = parent, .size = 800});
    }
    ck_assert(!espl__forest_wants_pack(forest));
    espl__run_release(forest, run[0]);
    espl__run_release(forest, run[2]);
    ck_assert_uint_eq(forest->free_slots, forest->end / 3);
    ck_assert(!espl__forest_wants_pack(forest));
    espl__run_release(forest, run[4]);
    ck_assert(espl__forest_wants_pack(forest));
    espl__run_release(forest, run[5]); // leaves less than what is worth it
    ck_assert_uint_lt(forest->end, 4096);
    ck_assert(!espl__forest_wants_pack(forest));
}
END_TEST

// --- Through a world ---

enum { HERD = 6000 };

START_TEST(world_that_shrank_gives_memory_back_and_moves_no_bit)
{
    static espl_entity herd[HERD];
    static espl_transform before[HERD];
    test_world test;
    espl_world_stats full, small;

    if (test_lacks_room(HERD, "a pool that is worth a pack")) {
        return;
    }
    test_world_begin(&test, 4, NULL);
    for (uint32_t i = 0; i < HERD; ++i) {
        herd[i] = test_solo_at(test.world, (float)i, 1, 2);
        if (i % 3 != 0) {
            ck_assert_int_eq(espl_attach(test.world, herd[i], herd[i - i % 3], NULL), ESPL_OK);
        }
    }
    espl_stats(test.world, &full);

    // Every tenth family stays, spread over the whole pool.
    for (uint32_t i = 0; i < HERD; i += 3) {
        if (i % 30 != 0) {
            ck_assert_int_eq(espl_destroy_subtree(test.world, herd[i]), ESPL_OK);
        }
    }
    for (uint32_t i = 0; i < HERD; ++i) {
        if (espl_get_role(test.world, herd[i]) != ESPL_ROLE_NONE) {
            before[i] = test_world_of(test.world, herd[i]);
        }
    }
    ck_assert_int_eq(espl_detach(test.world, herd[1], ESPL_STAY_WORLD), ESPL_OK);
    espl_stats(test.world, &small);
    ck_assert_uint_lt(small.bytes_tree, full.bytes_tree / 4);

    test_world_is_valid(test.world);
    for (uint32_t i = 0; i < HERD; ++i) {
        if (espl_get_role(test.world, herd[i]) != ESPL_ROLE_NONE) {
            const espl_transform after = test_world_of(test.world, herd[i]);

            ck_assert(test_same(&before[i], &after));
            ck_assert(i < 3 ||
                      espl_entity_equal(espl_get_root(test.world, herd[i]), herd[i - i % 3]));
        }
    }
    test_world_end(&test);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/pack");
    TCase *const pack = tcase_create("pack");
    TCase *const world = tcase_create("world");

    tcase_add_checked_fixture(pack, set_up, tear_down);
    tcase_add_test(pack, pool_is_packed_and_everything_is_where_the_pack_says);
    tcase_add_test(pack, packed_runs_are_in_order_with_some_room_to_grow);
    tcase_add_test(pack, packed_run_keeps_a_quarter_of_room_where_it_had_that);
    tcase_add_test(pack, pool_serves_on_after_a_pack);
    tcase_add_test(pack, pack_without_memory_changes_nothing);
    tcase_add_test(pack, pack_of_an_empty_pool_is_no_failure);
    tcase_add_test(pack, pack_is_wanted_past_a_third_of_a_pool_worth_the_work);
    suite_add_tcase(suite, pack);

    tcase_add_test(world, world_that_shrank_gives_memory_back_and_moves_no_bit);
    suite_add_tcase(suite, world);
    return suite;
}

RUN_SUITE(make_suite)

// SPDX-License-Identifier: MIT
// A shadow that follows a world by its marks has what one has that looks at the whole world at once.
// ESPL_FACTOR makes the runs so many times as many.
#include "lib/value/shadow.h"
#include "lib/world/moment.h"
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <string.h>

static bool grow(void *context, espl__growth what, uint32_t number, size_t count)
{
    return espl__shadow_grow(context, what, number, count);
}

static void forget(void *context)
{
    espl__shadow *const shadow = context;

    espl__shadow_forget(shadow, &shadow->world->store.names);
}

static size_t bytes_of(const void *context)
{
    return espl__shadow_bytes(context);
}

static uint32_t planes_of(const espl_world *world)
{
    return ESPL__SHADOW_PLANES |
           (espl_get_cell_size(world) != 0 ? (uint32_t)ESPL__SHADOW_CELL_PLANES : 0U);
}

static void begin(espl__shadow *shadow, espl_world *world)
{
    ck_assert(espl__planes_acquire(world, planes_of(world)));
    ck_assert(espl__shadow_begin(shadow, world));
    shadow->has_checksum = true;
    world->heap.follower =
        (espl__follower){.grow = grow, .forget = forget, .bytes = bytes_of, .context = shadow};
}

static void end(espl__shadow *shadow)
{
    espl_world *const world = shadow->world;

    espl__shadow_free(shadow);
    world->heap.follower.grow = NULL;
    world->heap.follower.forget = NULL;
    world->heap.follower.bytes = NULL;
    espl__planes_release(world, planes_of(world));
}

// Compare arrays of items, of which the longer one has zeros past the other one.
static void compare_items(const char *name, const void *a, const void *b, size_t size)
{
    const size_t long_a = espl__array_length(a), long_b = espl__array_length(b);
    static const unsigned char none[256];

    for (size_t i = 0; i < long_a || i < long_b; ++i) {
        const unsigned char *const one = i < long_a ? (const unsigned char *)a + i * size : none;
        const unsigned char *const other = i < long_b ? (const unsigned char *)b + i * size : none;

        ck_assert_msg(memcmp(one, other, size) == 0, "%s %zu differs", name, i);
    }
}

// Compare the names that two shadows hold.
static void compare_names(const espl__shadow *a, const espl__shadow *b)
{
    for (size_t i = 0; i < a->numbers.records; ++i) {
        ck_assert_msg((a->names[i].text == NULL) == (b->names[i].text == NULL) &&
                          (a->names[i].text == NULL ||
                           strcmp(a->names[i].text->text, b->names[i].text->text) == 0),
                      "name %zu differs", i);
    }
}

// Demand that a shadow is what a new one would be.
static void check(espl__shadow *shadow)
{
    espl__shadow whole;

    espl__shadow_update(shadow);
    const uint64_t checksum = shadow->checksum;

    ck_assert(espl__shadow_begin(&whole, shadow->world));
    whole.has_checksum = true;
    espl__shadow_update(&whole);
    compare_items("slot", shadow->slots, whole.slots, sizeof *whole.slots);
    compare_items("side", shadow->sides, whole.sides, sizeof *whole.sides);
    compare_items("past", shadow->pasts, whole.pasts, sizeof *whole.pasts);
    compare_items("cell", shadow->cells, whole.cells, sizeof *whole.cells);
    compare_items("tree", shadow->trees, whole.trees, sizeof *whole.trees);
    compare_items("record", shadow->records, whole.records, sizeof *whole.records);
    compare_names(shadow, &whole);
    ck_assert_uint_eq(checksum, whole.checksum);
    espl__shadow_free(&whole);
    // Nothing changed since.
    espl__shadow_update(shadow);
    ck_assert_uint_eq(shadow->checksum, checksum);
    test_world_is_valid(shadow->world);
}

// Jobs of one playback ask for it at once, each for its own side arrays, behind a call that reserved it and let
// the pool grow.
TEST(a_shadow_whose_slots_grew_has_room_for_side_arrays)
{
    test_world test;
    espl__shadow shadow;

    test_world_begin(&test, 1, NULL);
    begin(&shadow, test.world);
    ck_ok(espl_set_stretch(test.world, test_solo(test.world), (float[3]){1, 2, 3}));
    const size_t slots = (size_t)test.world->forest.capacity + 100;

    ck_assert(espl__shadow_grow(&shadow, ESPL__GROWTH_SLOTS, 0, slots));
    test_heap_arm(&test.heap, 1, true);
    ck_assert(espl__shadow_grow(&shadow, ESPL__GROWTH_SIDES, 0, slots));
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    end(&shadow);
    test_world_end(&test);
}

// The same world from an image has the same checksum.
static void check_loaded(const espl__shadow *shadow)
{
    test_image image = test_image_of(shadow->world);
    test_world other;
    espl__shadow loaded;

    test_world_cells(espl_get_cell_size(shadow->world));
    test_world_begin(&other, 1, NULL);
    test_image_load(other.world, &image, 0);
    begin(&loaded, other.world);
    espl__shadow_update(&loaded);
    ck_assert_uint_eq(loaded.checksum, shadow->checksum);
    end(&loaded);
    test_world_end(&other);
    test_image_end(&image);
}

static void run_at_once(uint64_t seed, uint32_t population, size_t count)
{
    uint64_t random = seed;
    test_tape tape;
    test_side side;
    espl__shadow shadow;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    tape.moves = test_one_in(&random, 2);
    side_begin(&side, &tape, 1, NULL);
    begin(&shadow, side.world);
    for (size_t i = 0; i < count && !tape_is_worn(&tape); ++i) {
        const operation op = tape_next(&tape);
        const espl_status status = side_run(&side, &tape, &op);

        side_follow(&side, &tape, &op, status);
        if (test_one_in(&random, 4)) {
            check(&shadow);
        }
    }
    check(&shadow);
    end(&shadow);
    side_end(&side);
    tape_end(&tape);
}

TEST_LOOP(a_shadow_follows_changes_at_once, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 510 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 40 : _i == 1 ? 16 : 3) * (size_t)test_factor();

    for (size_t i = 0; i < (chosen != 0 ? 1 : runs); ++i) {
        run_at_once(chosen != 0 ? chosen : test_random(&state), populations[_i],
                    test_scaled_alone(100));
    }
}

static void run_played(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executors[2] = {{0}, test_executor_of(&hostile)};
    stage *const s = stage_begin(seed, population, executors, 2);
    const uint32_t fitting = stage_fit(s, limit);
    espl__shadow shadows[2];
    uint64_t random = seed;

    for (int i = 0; i < 2; ++i) {
        begin(&shadows[i], s->played[i].world);
    }
    for (size_t round = 1; round <= rounds && !tape_is_worn(&s->tape); ++round) {
        if (!stage_step(s, 1 + test_below(&random, fitting))) {
            break;
        }
        check(&shadows[0]);
        check(&shadows[1]);
        // The number of workers is in no checksum.
        ck_assert_uint_eq(shadows[0].checksum, shadows[1].checksum);
    }
    for (int i = 0; i < 2; ++i) {
        end(&shadows[i]);
    }
    stage_end(s);
}

TEST_LOOP(a_shadow_follows_playbacks, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300}, limits[3] = {8, 60, 400};
    uint64_t state = 520 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 24 : _i == 1 ? 8 : 2) * (size_t)test_factor();

    for (size_t i = 0; i < runs; ++i) {
        run_played(test_random(&state), populations[_i], limits[_i], test_scaled(16));
    }
}

TEST(a_world_from_an_image_has_the_same_checksum)
{
    test_world test;
    espl__shadow shadow;
    espl_entity nodes[40];
    uint64_t random = 5;

    test_world_begin(&test, 1, NULL);
    begin(&shadow, test.world);
    ck_ok(espl_motion_start(test.world, &(espl_motion_def){.history = 2}));
    for (uint32_t i = 0; i < 40; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);

        ck_ok(espl_create_node(test.world, i == 0 ? test_null : nodes[test_below(&random, i)], &at,
                               NULL, &nodes[i]));
        check(&shadow);
    }
    for (uint32_t i = 39; i > 0; i -= 3) {
        if (espl_is_alive(test.world, nodes[i])) {
            ck_ok(espl_destroy(test.world, nodes[i], ESPL_EXTENT_ENTITY));
        }
        check(&shadow);
        check_loaded(&shadow);
    }
    end(&shadow);
    test_world_end(&test);
}

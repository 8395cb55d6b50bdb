// SPDX-License-Identifier: MIT
// Images at random: a world that loads one goes on as the world that was saved, bit for bit.
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/stage.h"

// Give a world a past of its own before it loads.
static void wreck(espl_world *world, uint64_t *random)
{
    espl_entity some[8];

    switch (test_below(random, 5)) {
    case 0:
        ck_ok(espl_world_clear(world));
        break;
    case 1:
        ck_assert_int_ge(espl_compact(world), 0);
        break;
    case 2:
        ck_assert_int_le(espl_create(world, NULL, 0, 3, some), ESPL_OK);
        break;
    case 3:
        ck_assert_int_le(espl_motion_stop(world), ESPL_OK);
        break;
    default:
        ck_assert_int_le(espl_motion_start(world, &(espl_motion_def){.history = 2}), ESPL_OK);
    }
}

// Play a tape in two worlds, of which the second one now and then gets the image of the first one instead
// of its own past, and goes on with it. Handles, results, rows and slots are compared after each batch.
static void run(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executors[2] = {{0}, test_executor_of(&hostile)};
    stage *const s = stage_begin(seed, population, executors, 2);
    const uint32_t fitting = stage_fit(s, limit);
    espl_world *const from = s->played[0].world, *const to = s->played[1].world;
    uint64_t random = seed;

    s->played[1].is_unseen = true; // what is shown is no part of a value
    for (size_t round = 1; round <= rounds && !tape_is_worn(&s->tape); ++round) {
        if (!stage_step(s, 1 + test_below(&random, fitting))) {
            break;
        }
        test_image_compare(from, to);
        if (test_one_in(&random, 3)) {
            test_image saved = test_image_of(from);

            wreck(to, &random);
            test_image_load(to, &saved, test_one_in(&random, 2) ? ESPL_IMAGE_TRUSTED : 0);
            test_image_compare(from, to);
            test_image_end(&saved);
        }
    }
    stage_end(s);
}

TEST_LOOP(b17_a_loaded_world_goes_on_as_the_saved_one, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300}, limits[3] = {8, 60, 400};
    uint64_t state = 41 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 24 : _i == 1 ? 8 : 2) * (size_t)test_factor();

    for (size_t i = 0; i < runs; ++i) {
        run(test_random(&state), populations[_i], limits[_i], test_scaled(16));
    }
}

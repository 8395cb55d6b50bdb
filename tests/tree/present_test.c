// SPDX-License-Identifier: MIT
// Presents against the scalar path, bit for bit: worlds that follow a tape of random operations, with
// ticks and presents at any time between them. The oracle blends the locals of every node and composes
// them from the top, without the list of changes and without the propagation.
#include "lib/tree/motion.h"
#include "lib/tree/present.h"
#include "lib/world/moment.h"

#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/schedule.h"
#include "tests/stage.h"

#include <espalier/motion.h>

// --- The oracle ---

static espl__blend blend_now;

static espl_pose blended(const espl_pose *previous, const espl_pose *now)
{
    return espl__pose_blend(&blend_now, previous, now);
}

// What a slot is to show, from what its parent is to show.
static espl_pose shown_of(const espl__forest *forest, uint32_t slot, const espl_pose *shown)
{
    const espl_pose *const previous = &forest->tracks.poses[ESPL__PREVIOUS][slot];
    const uint32_t parent = forest->parent[slot];
    espl__placement placement = espl__slot_placement(forest, slot);

    placement.local = blended(previous, &placement.local);
    if (parent == ESPL__NO_SLOT) {
        return placement.local;
    }
    if (espl__slot_copies(forest, slot)) {
        return shown[parent];
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && !espl__pose_is_marker(previous)) {
        const uint32_t base = espl__tree_of(forest, slot)->base;

        placement.kept.pose =
            blended(&espl__side_past(espl__side_of_slot(forest, slot), ESPL__PREVIOUS)[slot - base],
                    &placement.kept.pose);
    }
    const espl__frame up = {shown[parent], espl__slot_extra(forest, parent)};

    return espl__placement_world(&placement, &up);
}

// Compare what all nodes show with the oracle. @param hash  in and out, of what is finite.
// @return whether all of it is.
static bool compare_shown(const espl__forest *forest, float at, uint64_t *hash)
{
    espl_pose *const shown = test_array(forest->end + 1, sizeof *shown);
    const espl_pose *const is = forest->tracks.poses[ESPL__SHOWN];
    bool is_finite = true;

    blend_now = espl__blend_at(at);
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const t = &forest->trees[tree];

        for (uint32_t slot = t->base; t->capacity != 0 && slot < t->base + t->used; ++slot) {
            if (forest->links[slot].entity == ESPL__NO_ENTITY) {
                continue;
            }
            shown[slot] = shown_of(forest, slot, shown);
            ck_assert_msg(espl__pose_is_alike(&shown[slot], &is[slot]), "slot %u at %g", slot,
                          (double)at);
            ck_assert_msg(at != 1 || espl__pose_is_alike(&forest->world[slot], &is[slot]),
                          "slot %u shows its world", slot);
            is_finite = is_finite && espl__pose_is_finite(&shown[slot]);
            if (is_finite) {
                *hash = test_hash_bytes(*hash, &is[slot], sizeof *is);
            }
        }
    }
    free(shown);
    return is_finite;
}

// --- Tapes ---

// How a tape is run.
typedef struct frame_style {
    uint32_t workers;             // 0: on the calling thread
    bool has_small_jobs;          // of a few nodes
    bool never_presents;          // but for that, it is run as the others
    const espl__kernels *kernels; // NULL: the best
    bool keeps_two;               // ticks
} frame_style;

// What came of it. The hash is of all that presents reported and show.
typedef struct frame_sum {
    uint64_t shown, logical, physical;
    size_t presents, overflows;
} frame_sum;

static float any_time(uint64_t *random)
{
    static const float times[] = {0, 1, 0.5f, 1.5f, -0.25f};

    return test_one_in(random, 2) ? times[test_below(random, 5)] : test_between(random, 0, 1);
}

// Demand that an overflow is reported exactly while a shown world is not finite.
static void present_once(espl_world *world, float at, frame_sum *sum)
{
    espl_present_report report;
    const espl_status status = espl_present(world, at, &report);

    ck_assert(status == (report.has_overflowed ? ESPL_OVERFLOW : ESPL_OK));
    ck_assert(compare_shown(&world->forest, at, &sum->shown) == !report.has_overflowed);
    sum->shown = test_hash_bytes(sum->shown, &report, sizeof report);
    sum->presents += 1;
    sum->overflows += report.has_overflowed ? 1 : 0;
}

// Complete the shown worlds of all trees: each node has what it showed, or its world if it is new.
static void complete_all(espl_world *world)
{
    espl__forest *const forest = &world->forest;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const t = &forest->trees[tree];
        espl_pose *const before = test_array(t->used + 1, sizeof *before);

        for (uint32_t i = 0; t->capacity != 0 && i < t->used; ++i) {
            before[i] = espl__shown_world(forest, t->base + i);
        }
        espl__shown_complete(forest, t);
        for (uint32_t i = 0; t->capacity != 0 && i < t->used; ++i) {
            const uint32_t slot = t->base + i;

            ck_assert(forest->links[slot].entity == ESPL__NO_ENTITY ||
                      espl__pose_is_alike(&before[i], &forest->tracks.poses[ESPL__SHOWN][slot]));
        }
        free(before);
    }
}

// A frame: perhaps a tick begins or ends, and the world is presented. Perhaps so many moments passed that
// only blocks are known to have changed.
static void draw_frame(espl_world *world, uint64_t *random, const frame_style *style,
                       frame_sum *sum)
{
    const float at = any_time(random);

    if (test_one_in(random, 2)) {
        ck_ok(espl_tick_end(world));
    }
    if (test_one_in(random, 2)) {
        ck_ok(espl_tick_begin(world));
    }
    if (test_one_in(random, 16)) {
        world->moment += ESPL__PLANE_AGE + 1;
        (void)espl__world_next_moment(world);
    }
    if (!style->never_presents) {
        complete_all(world);
        present_once(world, at, sum);
    }
}

static frame_sum run_frames(uint64_t seed, uint32_t population, size_t steps, frame_style style)
{
    test_tape tape;
    test_side side;
    uint64_t random = seed + 1;
    test_executor under = {.manner = TEST_SHUFFLED, .workers = style.workers};
    const espl_executor executor = test_executor_of(&under);
    const espl_motion_def def = {.history = style.keeps_two ? 2 : 1};
    frame_sum sum = {.shown = TEST_HASH_START};

    tape_begin(&tape, seed, population);
    side_begin(&side, &tape, 1, style.workers != 0 ? &executor : NULL);
    if (style.has_small_jobs) {
        test_cut_jobs(side.world, 8);
    }
    if (style.kernels != NULL) {
        side.world->forest.kernels = style.kernels;
    }
    ck_ok(espl_motion_start(side.world, &def));
    tape.model.history = def.history;
    tape.is_still = true;
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);

        side_follow(&side, &tape, &op, side_run(&side, &tape, &op));
        if (test_one_in(&random, 4)) {
            draw_frame(side.world, &random, &style, &sum);
        }
    }
    side_compare(&side, &tape);
    sum.logical = test_logical_hash(side.world);
    sum.physical = test_physical_hash(side.world);
    side_end(&side);
    tape_end(&tape);
    return sum;
}

TEST(shown_worlds_are_those_of_the_scalar_path)
{
    uint64_t random = 1;
    size_t presents = 0, overflows = 0;

    for (size_t i = 0; i < test_scaled(150); ++i) {
        const frame_style style = {.keeps_two = i % 2 != 0};
        const frame_sum sum = run_frames(test_random(&random), 24, 400, style);

        presents += sum.presents;
        overflows += sum.overflows;
    }
    ck_assert_uint_gt(presents, 100);
    ck_assert(test_pace_of_build() != TEST_SWIFT || overflows > 0);
}

TEST(shown_worlds_and_reports_are_equal_for_any_workers_and_kernels)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 2;

    for (size_t i = 0; i < test_scaled(30); ++i) {
        const uint64_t seed = test_random(&random);
        const uint32_t population = i % 3 == 0 ? 300 : 60;
        const frame_style alone = {.has_small_jobs = true};
        const frame_sum first = run_frames(seed, population, 300, alone);

        for (uint32_t workers = 1; workers <= 64; workers *= 4) {
            const frame_style style = {
                .workers = workers, .has_small_jobs = true, .kernels = all[(workers + i) % count]};
            const frame_sum sum = run_frames(seed, population, 300, style);

            ck_assert_mem_eq(&sum, &first, sizeof sum);
        }
    }
}

TEST(a_world_that_is_presented_stays_as_one_that_is_not)
{
    uint64_t random = 3;

    for (size_t i = 0; i < test_scaled(60); ++i) {
        const uint64_t seed = test_random(&random);
        const uint32_t population = i % 4 == 0 ? 200 : 24;
        const frame_style never = {.never_presents = true};
        const frame_sum is = run_frames(seed, population, 400, (frame_style){0});
        const frame_sum first = run_frames(seed, population, 400, never);

        ck_assert_uint_eq(first.presents, 0);
        ck_assert_uint_eq(is.logical, first.logical);
        ck_assert_uint_eq(is.physical, first.physical);
    }
}

// --- Playbacks ---

// Batches of commands, a frame after each, in a world of calls at once, one that plays serially and one
// that plays in jobs. The last two have equal slots, so that they show equal bits.
static void play_frames(uint64_t seed, uint32_t population, uint32_t limit, size_t batches)
{
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 7};
    const espl_executor executors[] = {{0}, test_executor_of(&shuffled)};
    stage *const s = stage_begin(seed, population, executors, 2);
    const uint32_t fitting = stage_fit(s, limit);
    test_side *const sides[] = {&s->at_once, &s->played[0], &s->played[1]};
    const frame_style style = {.has_small_jobs = true};
    frame_sum sums[3];
    uint64_t random = seed;

    for (size_t i = 0; i < 3; ++i) {
        sums[i] = (frame_sum){.shown = TEST_HASH_START};
        test_cut_jobs(sides[i]->world, 8);
        ck_ok(espl_motion_start(sides[i]->world, NULL));
    }
    s->tape.model.history = 1;
    s->tape.is_still = true;
    for (size_t batch = 0; batch < batches && !tape_is_worn(&s->tape) &&
                           stage_step(s, 1 + test_below(&s->tape.random, fitting));
         ++batch) {
        const uint64_t now = test_random(&random);

        for (size_t i = 0; i < 3; ++i) {
            uint64_t copy = now;

            draw_frame(sides[i]->world, &copy, &style, &sums[i]);
        }
        ck_assert_mem_eq(&sums[1], &sums[2], sizeof sums[1]);
    }
    stage_end(s);
}

TEST(playbacks_of_structure_are_shown_as_the_scalar_path_shows_them)
{
    uint64_t random = 4;

    for (size_t i = 0; i < test_scaled(20); ++i) {
        play_frames(test_random(&random), i % 3 == 0 ? 200 : 20, i % 3 == 0 ? 200 : 20, 30);
    }
}

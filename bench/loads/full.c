// SPDX-License-Identifier: MIT
// Loads `full` and `scaling`: every root gets a new local, then all worlds are current; `scaling`
// does so over sizes from in cache to far beyond, of small trees and of one large one.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { full_seed = 101 };

struct full_state {
    const struct forest *forest;
    struct scheme_write *writes; ///< [trees]
};

static void prepare(void *load, struct contestant *who)
{
    const struct full_state *const state = load;
    const struct forest *const forest = state->forest;
    struct draw draw = draw_begin(full_seed, who->frame);

    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        const scheme_handle root = who->scheme->handle_of(who->world, forest_root(forest, tree));

        state->writes[tree] = (struct scheme_write){root, draw_pose(&draw, ROOT_SIDE)};
    }
}

static void play(void *load, struct contestant *who)
{
    const struct full_state *const state = load;

    who->scheme->write(who->world, state->writes, state->forest->shape.trees);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write != NULL;
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 3};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct full_state state = {&forest, block_new(at->shape.trees, sizeof(struct scheme_write))};
    const struct contest_plan plan = plan_for(forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, forest.count, "ns/node", forest.count);
    free(state.writes);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 50000, true}, {"1000x1000", {1000, 1000, 10}, 1000, false},
    {"1x1000000", {1, 1000000, 100}, 1, true}, {"500x20", {500, 20, 3}, 500, true},
    {"10x1000", {10, 1000, 10}, 10, true},
};

const struct load load_full = {
    "full", "every root gets a new local", cases, CASE_COUNT(cases), is_for, run, true,
};

static const struct load_case sizes[] = {
    {"50x20", {50, 20, 3}, 0, false},          {"200x20", {200, 20, 3}, 0, false},
    {"800x20", {800, 20, 3}, 0, false},        {"3200x20", {3200, 20, 3}, 0, false},
    {"12800x20", {12800, 20, 3}, 0, false},    {"51200x20", {51200, 20, 3}, 0, false},
    {"204800x20", {204800, 20, 3}, 0, false},  {"1x1000", {1, 1000, 10}, 0, false},
    {"1x4000", {1, 4000, 10}, 0, false},       {"1x16000", {1, 16000, 10}, 0, false},
    {"1x64000", {1, 64000, 10}, 0, false},     {"1x256000", {1, 256000, 10}, 0, false},
    {"1x1024000", {1, 1024000, 10}, 0, false}, {"1x4096000", {1, 4096000, 10}, 0, false},
};

const struct load load_scaling = {
    "scaling", "full over sizes", sizes, CASE_COUNT(sizes), is_for, run, false,
};

// SPDX-License-Identifier: MIT
// Loads `sparse` and `idle`: a few random nodes get a new local, then all worlds are current. A
// node may be drawn twice: the later write counts. In `idle` a hundred are written, and more and
// more others are not.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { sparse_seed = 102 };

struct sparse_state {
    const struct forest *forest;
    struct scheme_write *writes; ///< [count]
    uint32_t count;
};

static void prepare(void *load, struct contestant *who)
{
    const struct sparse_state *const state = load;
    struct draw draw = draw_begin(sparse_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t node = draw_below(&draw, (uint32_t)state->forest->count);
        const double side = forest_side(state->forest, node);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, side);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct sparse_state *const state = load;

    who->scheme->write(who->world, state->writes, state->count);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write != NULL;
}

// Few writes touch little: a small shape needs many frames until it is in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 20, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 2, .timed = 6};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct sparse_state state = {&forest, block_new(at->amount, sizeof(struct scheme_write)),
                                 at->amount};
    const struct contest_plan plan = plan_for(forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, at->amount, "ns/write", forest.count);
    free(state.writes);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"500x20-w100", {500, 20, 3}, 100, true},
    {"5000x20-w1000", {5000, 20, 3}, 1000, true},
    {"50000x20-w10000", {50000, 20, 3}, 10000, true},
    {"50000x20-w100", {50000, 20, 3}, 100, true},
    {"1x2000-w1", {1, 2000, 1}, 1, false},
};

const struct load load_sparse = {
    "sparse", "w random nodes get a new local", cases, CASE_COUNT(cases), is_for, run, false,
};

static const struct load_case sizes[] = {
    {"50x20", {50, 20, 3}, 100, false},         {"200x20", {200, 20, 3}, 100, false},
    {"800x20", {800, 20, 3}, 100, false},       {"3200x20", {3200, 20, 3}, 100, false},
    {"12800x20", {12800, 20, 3}, 100, false},   {"51200x20", {51200, 20, 3}, 100, false},
    {"204800x20", {204800, 20, 3}, 100, false},
};

const struct load load_idle = {
    "idle", "100 random nodes get a new local", sizes, CASE_COUNT(sizes), is_for, run, false,
};

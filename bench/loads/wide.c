// SPDX-License-Identifier: MIT
// Load `wide`: one write at once, and a large part of one hierarchy below it. Whether a single
// propagation uses more than one core.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { wide_seed = 112, NODES = 1000000 };

struct wide_state {
    const struct forest *forest;
    uint32_t top; ///< Number of the node that is written.
    struct scheme_write write;
};

static void prepare(void *load, struct contestant *who)
{
    struct wide_state *const state = load;
    struct draw draw = draw_begin(wide_seed, who->frame);

    state->write = (struct scheme_write){who->scheme->handle_of(who->world, state->top),
                                         draw_pose(&draw, forest_side(state->forest, state->top))};
}

static void play(void *load, struct contestant *who)
{
    const struct wide_state *const state = load;

    who->scheme->write_each(who->world, &state->write, 1);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write_each != NULL;
}

// Nodes of the subtree, its top included.
static size_t count_below(const struct forest *forest, uint32_t top)
{
    bool *const is_below = block_new(forest->count, sizeof *is_below);
    size_t count = 0;

    for (uint32_t node = 0; node < forest->count; ++node) {
        const uint32_t parent = forest->parents[node];

        is_below[node] = node == top || (parent != NO_NODE && is_below[parent]);
        count += is_below[node];
    }
    free(is_below);
    return count;
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 5};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct wide_state state = {.forest = &forest, .top = at->amount};
    const struct contest_plan plan = plan_for(forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, count_below(&forest, at->amount), "ns/node", forest.count);
    forest_destroy(&forest);
}

// The last is half a hierarchy: one of the root's two children is written.
static const struct load_case cases[] = {
    {"1x1000000-fan100", {1, NODES, 100}, 0, true},  {"1x1000000-fan10", {1, NODES, 10}, 0, false},
    {"1x1000000-star", {1, NODES, NODES}, 0, false}, {"1x100000-fan10", {1, 100000, 10}, 0, false},
    {"1x10000-fan10", {1, 10000, 10}, 0, true},      {"1x1000000-member", {1, NODES, 2}, 1, false},
};

const struct load load_wide = {
    "wide", "one write, and what hangs below it", cases, CASE_COUNT(cases), is_for, run, true,
};

// SPDX-License-Identifier: MIT
// Load `midframe`: write a random node, read the world of another one in the same tree, at once.
// What was read goes into the checksum.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

// A deferred scheme propagates everything for each pair, so it has cases of its own with few of
// them, in few trees. The first case has enough to keep the trees in cache.
enum { midframe_seed = 103, deferred_limit = 100 };

struct midframe_state {
    const struct forest *forest;
    struct scheme_probe *probes; ///< [count]
    struct pose *readings;       ///< [count]
    uint32_t count;
};

static void prepare(void *load, struct contestant *who)
{
    const struct midframe_state *const state = load;
    const struct forest *const forest = state->forest;
    const struct scheme *const scheme = who->scheme;
    const uint32_t size = forest->shape.tree_size;
    struct draw draw = draw_begin(midframe_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t root = forest_root(forest, draw_below(&draw, forest->shape.trees));
        const uint32_t written = root + draw_below(&draw, size);
        // Any rank of the tree but the one written.
        const uint32_t step = 1 + draw_below(&draw, size - 1);
        const uint32_t read = root + (written - root + step) % size;

        state->probes[i].written = scheme->handle_of(who->world, written);
        state->probes[i].read = scheme->handle_of(who->world, read);
        state->probes[i].local = draw_pose(&draw, forest_side(forest, written));
    }
}

static void play(void *load, struct contestant *who)
{
    const struct midframe_state *const state = load;

    who->scheme->probe(who->world, state->probes, state->count, state->readings);
}

static void settle(void *load, struct contestant *who)
{
    const struct midframe_state *const state = load;

    who->readings =
        checksum_add(who->readings, state->readings, state->count * sizeof *state->readings);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    const bool is_affordable = at->amount <= deferred_limit && at->shape.trees < 10000;

    return scheme->probe != NULL && (!scheme->is_deferred || is_affordable);
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct midframe_state state = {&forest, block_new(at->amount, sizeof(struct scheme_probe)),
                                   block_new(at->amount, sizeof(struct pose)), at->amount};
    const struct contest_plan plan = {.turns = 9, .warm = 2, .timed = 3};
    const struct contest_steps steps = {prepare, play, settle};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, at->amount, "ns/pair", forest.count);
    free(state.probes);
    free(state.readings);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"2000x20", {2000, 20, 3}, 10000, true},
    {"2000x20-few", {2000, 20, 3}, deferred_limit, true},
    {"50000x20-few", {50000, 20, 3}, deferred_limit, false},
    {"100x20-few", {100, 20, 3}, deferred_limit, false},
};

const struct load load_midframe = {
    "midframe", "write a node, read another of its tree", cases, CASE_COUNT(cases), is_for, run,
    false,
};

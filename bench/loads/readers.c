// SPDX-License-Identifier: MIT
// Load `readers`: add up all world positions in the order that is cheapest for a scheme (-query),
// and those of a million random nodes by handle (-handle). The sum by handle has one order and goes
// into the checksum; the sum by query may differ in rounding and is compared with one in the order
// of the nodes.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"
#include "bench/loads/sums.h"

enum { readers_seed = 107 };

struct readers_state {
    const struct forest *forest;
    scheme_handle *handles; ///< [count]
    uint32_t count;         ///< Handle reads; 0: the sum by query.
    double sum[3];          ///< Of the frame at hand.
};

static void prepare(void *load, struct contestant *who)
{
    const struct readers_state *const state = load;
    struct draw draw = draw_begin(readers_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t node = draw_below(&draw, (uint32_t)state->forest->count);

        state->handles[i] = who->scheme->handle_of(who->world, node);
    }
}

static void play_query(void *load, struct contestant *who)
{
    struct readers_state *const state = load;

    who->scheme->sum_positions(who->world, state->sum);
}

static void play_handles(void *load, struct contestant *who)
{
    struct readers_state *const state = load;

    who->scheme->read_positions(who->world, state->handles, state->count, state->sum);
}

static void settle_handles(void *load, struct contestant *who)
{
    const struct readers_state *const state = load;

    who->readings = checksum_add(who->readings, state->sum, sizeof state->sum);
}

// Sums are the same in all frames, for nobody moves. A wrong one ends up in the checksum, which
// then agrees with nobody's. Later frames are left to the caches.
static void settle_query(void *load, struct contestant *who)
{
    const struct readers_state *const state = load;
    const size_t count = state->forest->count;

    if (who->frame > 0) {
        return;
    }

    struct pose *const worlds = block_new(count, sizeof *worlds);
    who->scheme->copy_worlds(who->world, worlds, count);
    if (!is_sum_of(state->sum, worlds, count)) {
        fprintf(stderr, "course: readers: the sum by query of %s is wrong\n", who->scheme->name);
        who->readings = checksum_add(who->readings, state->sum, sizeof state->sum);
    }
    free(worlds);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->sum_positions != NULL && scheme->read_positions != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct readers_state state = {.forest = &forest, .count = at->amount};
    const struct contest_plan plan = {.turns = 5, .warm = 1, .timed = 3};
    const struct contest_steps by_query = {prepare, play_query, settle_query};
    const struct contest_steps by_handle = {prepare, play_handles, settle_handles};

    state.handles = block_new(at->amount, sizeof(scheme_handle));
    contest_build(contest, &forest);
    contest_alternate(contest, &plan, at->amount > 0 ? &by_handle : &by_query, &state);
    contest_report_medians(contest, at->amount > 0 ? at->amount : forest.count, "ns/read",
                           forest.count);
    free(state.handles);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20-query", {50000, 20, 3}, 0, true},
    {"50000x20-handle", {50000, 20, 3}, 1000000, true},
    {"500x20-query", {500, 20, 3}, 0, false},
    {"500x20-handle", {500, 20, 3}, 10000, false},
};

const struct load load_readers = {
    "readers", "read world positions by query, by handle", cases, CASE_COUNT(cases), is_for, run,
    false,
};

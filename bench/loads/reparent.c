// SPDX-License-Identifier: MIT
// Load `reparent`: random leaves move under random nodes of any tree and keep their local. All
// moves are drawn beforehand on a model of the links, so that a leaf is one when its move comes.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/loads/links.h"

enum { reparent_seed = 106 };

struct reparent_state {
    uint32_t count;                 ///< Moves of a frame.
    const struct move *moves;       ///< [frames][count]
    struct scheme_move *translated; ///< [count] of the frame at hand, by handles.
};

static struct move *draw_moves(const struct forest *forest, size_t count)
{
    struct move *const moves = block_new(count, sizeof *moves);
    struct links links = links_create(forest);
    struct draw draw = draw_begin(reparent_seed, 0);

    for (size_t i = 0; i < count; ++i) {
        moves[i] = links_draw_move(&links, &draw);
    }
    links_destroy(&links);
    return moves;
}

static void prepare(void *load, struct contestant *who)
{
    const struct reparent_state *const state = load;
    const struct move *const moves = state->moves + (size_t)who->frame * state->count;

    for (uint32_t i = 0; i < state->count; ++i) {
        state->translated[i].leaf = who->scheme->handle_of(who->world, moves[i].leaf);
        state->translated[i].parent = who->scheme->handle_of(who->world, moves[i].parent);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct reparent_state *const state = load;

    who->scheme->reparent(who->world, state->translated, state->count);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->reparent != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const struct contest_plan plan = {.turns = 9, .warm = 1, .timed = 6};
    const struct contest_steps steps = {prepare, play, NULL};
    struct move *const moves = draw_moves(&forest, (size_t)contest_frames(&plan) * at->amount);
    struct reparent_state state = {at->amount, moves,
                                   block_new(at->amount, sizeof(struct scheme_move))};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, at->amount, "ns/move", forest.count);
    free(state.translated);
    free(moves);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"1000x100-k1000", {1000, 100, 4}, 1000, true},
    {"100x20-k100", {100, 20, 4}, 100, false},
};

const struct load load_reparent = {
    "reparent", "k leaves move under other nodes", cases, CASE_COUNT(cases), is_for, run, true,
};

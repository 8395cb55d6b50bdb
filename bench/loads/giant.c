// SPDX-License-Identifier: MIT
// Load `giant`: one hierarchy of a million nodes, edited one node at a time, at once: a random leaf
// is detached, and attached under another node. Beside it what a propagation of that hierarchy
// costs, since an edit is to be small against that.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { giant_seed = 108, NODES = 1000000 };

struct giant_state {
    const struct forest *forest;
    uint32_t count; ///< Moves of a frame.
    uint32_t inner; ///< Nodes below this number have children; no leaf goes to the others.
    struct scheme_move *moves;
    struct scheme_write root;
};

// Parents are nodes that have children from the first, so that every leaf stays one.
static uint32_t count_inner(const struct forest *forest)
{
    return forest->parents[forest->count - 1] + 1;
}

static void prepare_edits(void *load, struct contestant *who)
{
    const struct giant_state *const state = load;
    struct draw draw = draw_begin(giant_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t leaf = state->inner + draw_below(&draw, NODES - state->inner);
        const uint32_t parent = draw_below(&draw, state->inner);

        state->moves[i] = (struct scheme_move){who->scheme->handle_of(who->world, leaf),
                                               who->scheme->handle_of(who->world, parent)};
    }
}

static void play_edits(void *load, struct contestant *who)
{
    const struct giant_state *const state = load;

    who->scheme->regraft(who->world, state->moves, state->count);
}

static void prepare_pass(void *load, struct contestant *who)
{
    struct giant_state *const state = load;
    struct draw draw = draw_begin(giant_seed, who->frame);

    state->root = (struct scheme_write){who->scheme->handle_of(who->world, 0),
                                        draw_pose(&draw, forest_side(state->forest, 0))};
}

static void play_pass(void *load, struct contestant *who)
{
    const struct giant_state *const state = load;

    who->scheme->write(who->world, &state->root, 1);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->regraft != NULL;
}

// A case with moves is timed by the edit, two of them a move; one without by the propagation.
static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const bool edits = at->amount != 0;
    const struct contest_plan plan = {.lead_in = 1, .turns = 7, .warm = 1, .timed = 5};
    const struct contest_steps steps = {edits ? prepare_edits : prepare_pass,
                                        edits ? play_edits : play_pass, NULL};
    struct giant_state state = {.forest = &forest,
                                .count = at->amount,
                                .inner = count_inner(&forest),
                                .moves = block_new(at->amount + 1, sizeof(struct scheme_move))};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, edits ? 2000 * (size_t)at->amount : 1000,
                           edits ? "us/edit" : "us/propagation", forest.count);
    free(state.moves);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"star-edits", {1, NODES, NODES}, 8, true},
    {"star-propagation", {1, NODES, NODES}, 0, true},
    {"fan10-edits", {1, NODES, 10}, 8, true},
    {"fan10-propagation", {1, NODES, 10}, 0, true},
};

const struct load load_giant = {
    "giant", "a leaf of a million leaves and comes back", cases, CASE_COUNT(cases), is_for, run,
};

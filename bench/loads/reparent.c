// SPDX-License-Identifier: MIT
// Load `reparent`: random leaves move under random nodes of any tree and keep their local. All
// moves are drawn beforehand on a model of the links, so that a leaf is one when its move comes.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { reparent_seed = 106 };

/// A move by numbers.
struct move {
    uint32_t leaf;
    uint32_t parent;
};

struct reparent_state {
    uint32_t count;                 ///< Moves of a frame.
    const struct move *moves;       ///< [frames][count]
    struct scheme_move *translated; ///< [count] of the frame at hand, by handles.
};

/// Links as far as the draw needs them.
struct link_model {
    uint32_t *parents;      ///< [count]
    uint32_t *child_counts; ///< [count]
    uint32_t count;
};

static struct link_model model_create(const struct forest *forest)
{
    const struct link_model model = {block_new(forest->count, sizeof(uint32_t)),
                                     block_new(forest->count, sizeof(uint32_t)),
                                     (uint32_t)forest->count};

    memcpy(model.parents, forest->parents, forest->count * sizeof(uint32_t));
    memset(model.child_counts, 0, forest->count * sizeof(uint32_t));
    for (uint32_t node = 0; node < model.count; ++node) {
        if (model.parents[node] != NO_NODE) {
            ++model.child_counts[model.parents[node]];
        }
    }
    return model;
}

// Roots stay where they are, even those that have lost all their children.
static uint32_t draw_leaf(struct draw *draw, const struct link_model *model)
{
    uint32_t node;

    do {
        node = draw_below(draw, model->count);
    } while (model->parents[node] == NO_NODE || model->child_counts[node] > 0);
    return node;
}

static struct move draw_move(struct draw *draw, struct link_model *model)
{
    const uint32_t leaf = draw_leaf(draw, model);
    const uint32_t step = 1 + draw_below(draw, model->count - 1);
    const uint32_t parent = (uint32_t)(((uint64_t)leaf + step) % model->count);

    --model->child_counts[model->parents[leaf]];
    ++model->child_counts[parent];
    model->parents[leaf] = parent;
    return (struct move){leaf, parent};
}

static struct move *draw_moves(const struct forest *forest, size_t count)
{
    struct move *const moves = block_new(count, sizeof *moves);
    struct link_model model = model_create(forest);
    struct draw draw = draw_begin(reparent_seed, 0);

    for (size_t i = 0; i < count; ++i) {
        moves[i] = draw_move(&draw, &model);
    }
    free(model.parents);
    free(model.child_counts);
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

// SPDX-License-Identifier: MIT
// Load `giant`: one hierarchy of a million nodes, edited one node at a time, at once: a random leaf
// is detached, and attached under another node. Beside it the same through commands, each played
// alone, and what a propagation of that hierarchy costs, since an edit is to be small against that.
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
    const uint32_t count = (uint32_t)state->forest->count;
    struct draw draw = draw_begin(giant_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t leaf = state->inner + draw_below(&draw, count - state->inner);
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

// Whoever has no commands edits at once here too, for comparison.
static void play_commands(void *load, struct contestant *who)
{
    const struct giant_state *const state = load;
    const struct scheme *const scheme = who->scheme;

    if (scheme->regraft_played != NULL) {
        scheme->regraft_played(who->world, state->moves, state->count);
    } else {
        scheme->regraft(who->world, state->moves, state->count);
    }
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

/// What a frame does to the hierarchy.
struct kind {
    struct contest_steps steps;
    size_t things; ///< Done for each move of a frame, or in a frame without moves, times 1000:
                   ///< figures are microseconds.
    const char *unit;
    bool is_for_variants;
};

static const struct kind edits = {{prepare_edits, play_edits, NULL}, 2000, "us/edit", false};
static const struct kind commands = {{prepare_edits, play_commands, NULL}, 2000, "us/edit", true};
static const struct kind propagation = {
    {prepare_pass, play_pass, NULL}, 1000, "us/propagation", false};

static const struct load_case cases[] = {
    {"star-edits", {1, NODES, NODES}, 8, true},
    {"star-commands", {1, NODES, NODES}, 1, false},
    {"star-propagation", {1, NODES, NODES}, 0, false},
    {"fan10-edits", {1, NODES, 10}, 8, true},
    {"fan10-commands", {1, NODES, 10}, 1, true},
    {"fan10-propagation", {1, NODES, 10}, 0, true},
    {"10000-edits", {1, 10000, 10}, 8, false},
    {"10000-commands", {1, 10000, 10}, 1, false},
};

static const struct kind *kind_of(const struct load_case *at)
{
    static const struct kind *const kinds[] = {&edits,    &commands,    &propagation, &edits,
                                               &commands, &propagation, &edits,       &commands};

    _Static_assert(CASE_COUNT(kinds) == CASE_COUNT(cases), "each case has its kind");
    return kinds[at - cases];
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    // A deferred scheme propagates everything twice for each move.
    const bool is_affordable = !scheme->is_deferred || at->amount * at->shape.tree_size <= NODES;

    return scheme->regraft != NULL && is_affordable &&
           (!scheme->is_variant || kind_of(at)->is_for_variants);
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const struct kind *const kind = kind_of(at);
    const struct contest_plan plan = {.lead_in = 1, .turns = 7, .warm = 1, .timed = 5};
    struct giant_state state = {.forest = &forest,
                                .count = at->amount,
                                .inner = count_inner(&forest),
                                .moves = block_new(at->amount + 1, sizeof(struct scheme_move))};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &kind->steps, &state);
    contest_report_medians(contest, kind->things * (at->amount > 0 ? at->amount : 1), kind->unit,
                           forest.count);
    free(state.moves);
    forest_destroy(&forest);
}

const struct load load_giant = {
    "giant", "a leaf of a million leaves and comes back", cases, CASE_COUNT(cases), is_for, run,
    false,
};

// SPDX-License-Identifier: MIT
// Load `update`: roots move a little about their places, or leaves that were at rest do; then the boxes of all
// nodes are brought up to date, for a reader on the same thread. Told as a multiple of the writes.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { update_seed = 145 };

struct update_state {
    const struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [at->amount]
};

// Roots at equal distances, the same ones in each frame; in "other" leaves of trees, others in each frame.
static uint32_t node_of(const struct update_state *state, uint32_t i, uint32_t frame)
{
    const struct forest *const forest = state->forest;
    const uint32_t trees = forest->shape.trees, size = forest->shape.tree_size;
    const bool is_other = strstr(state->at->name, "other") != NULL;
    const uint32_t first = is_other ? frame * 7919u % trees : 0;
    const uint32_t tree = (uint32_t)((first + (uint64_t)i * trees / state->at->amount) % trees);

    return forest_root(forest, tree) + (is_other ? size - 1 - frame % (size / 2) : 0);
}

static void prepare(void *load, struct contestant *who)
{
    const struct update_state *const state = load;
    struct draw draw = draw_begin(update_seed, who->frame);

    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = node_of(state, i, who->frame);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = state->forest->locals[node];
        for (int k = 0; k < 3; ++k) {
            state->writes[i].local.position[k] += (float)draw_unit(&draw) - 0.5f;
        }
    }
}

static void play(void *load, struct contestant *who)
{
    const struct update_state *const state = load;

    if (state->at->amount > 0) {
        who->scheme->change(who->world, state->writes, state->at->amount);
    }
    who->scheme->publish(who->world);
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct update_state state = {
        .forest = &forest, .at = at, .writes = block_new(at->amount, sizeof *state.writes)};
    const bool is_large = at->amount >= 5000 && forest.count > 100000;
    const struct contest_plan plan =
        is_large ? (struct contest_plan){.lead_in = 80, .turns = 3, .warm = 1, .timed = 5}
                 : (struct contest_plan){.lead_in = 30, .turns = 7, .warm = 4, .timed = 20};
    const struct contest_steps steps = {prepare, play, NULL};
    enum { ns_of_us = 1000 };

    contest_build(contest, &forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, TRACK_RENDERABLES);
        }
    }
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, ns_of_us, "us/frame", forest.count);
    if (at->amount > 0) {
        contest_report_quotient_of_parts(contest, "update", "write", forest.count);
    }
    free(state.writes);
    forest_destroy(&forest);
}

// `copied` has no boxes.
static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->publish != NULL && scheme->furnish != NULL;
}

// The amount is the number of nodes that move in a frame.
static const struct load_case cases[] = {
    {"idle-50000x20", {50000, 20, 3}, 0, true},
    {"roots50-50000x20", {50000, 20, 3}, 50, true},
    {"roots500-50000x20", {50000, 20, 3}, 500, false},
    {"roots5000-50000x20", {50000, 20, 3}, 5000, false},
    {"roots-50000x20", {50000, 20, 3}, 50000, false},
    {"other1000-50000x20", {50000, 20, 3}, 1000, false},
    {"idle-500x20", {500, 20, 3}, 0, true},
    {"roots50-500x20", {500, 20, 3}, 50, true},
    {"roots-500x20", {500, 20, 3}, 500, true},
};

const struct load load_update = {
    "update", "boxes are brought up to date", cases, CASE_COUNT(cases), is_for, run, true,
};

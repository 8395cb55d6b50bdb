// SPDX-License-Identifier: MIT
// Load `far`: the whole world is moved. `offset`: every root gets a new local, and then all is moved by an offset
// in floats; the times of both are compared. `cells`: all is moved by whole cells, where no transform changes.
// `recenter`: every root is looked at, and none is far from its cell.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { far_seed = 125 };

struct far_state {
    const struct forest *forest;
    struct scheme_write *writes; ///< [trees]
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strncmp(at->name, word, strlen(word)) == 0;
}

static void prepare_roots(void *load, struct contestant *who)
{
    const struct far_state *const state = load;
    struct draw draw = draw_begin(far_seed, who->frame);

    for (uint32_t tree = 0; tree < state->forest->shape.trees; ++tree) {
        state->writes[tree].node =
            who->scheme->handle_of(who->world, forest_root(state->forest, tree));
        state->writes[tree].local = draw_pose(&draw, ROOT_SIDE);
    }
}

static void prepare_nothing(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

// There and back, so that nothing grows.
static void play_offset(void *load, struct contestant *who)
{
    const struct far_state *const state = load;
    const float sign = who->frame % 2 == 0 ? 1 : -1;
    const float offset[3] = {sign * 1024, sign * -512, sign * 2048};

    who->scheme->change(who->world, state->writes, state->forest->shape.trees);
    who->scheme->shift(who->world, offset);
}

static void play_cells(void *load, struct contestant *who)
{
    const int32_t sign = who->frame % 2 == 0 ? 1 : -1;
    const int32_t cells[3] = {sign * 1000, sign * -7, sign * 1000000};

    (void)load;
    who->scheme->rebase(who->world, cells);
}

static void play_recenter(void *load, struct contestant *who)
{
    (void)load;
    who->scheme->recenter(who->world);
}

static struct contest_plan plan_for(const struct load_case *at)
{
    return is_about(at, "offset")
               ? (struct contest_plan){.lead_in = 1, .turns = 7, .warm = 1, .timed = 5}
               : (struct contest_plan){.turns = 11, .warm = 4, .timed = 40};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct far_state state = {&forest, block_new(at->shape.trees, sizeof *state.writes)};
    const struct contest_plan plan = plan_for(at);
    const struct contest_steps offset = {prepare_roots, play_offset, NULL},
                               cells = {prepare_nothing, play_cells, NULL},
                               recenter = {prepare_nothing, play_recenter, NULL};

    contest_build(contest, &forest);
    if (is_about(at, "offset")) {
        contest_alternate(contest, &plan, &offset, &state);
        contest_report_medians(contest, forest.count, "ns/node", forest.count);
        contest_report_quotient_of_parts(contest, "rebase", "write", forest.count);
    } else {
        contest_alternate(contest, &plan, is_about(at, "cells") ? &cells : &recenter, &state);
        contest_report_medians(contest, at->shape.trees, "ns/tree", forest.count);
    }
    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    if (is_about(at, "offset")) {
        return scheme->shift != NULL;
    }
    return is_about(at, "cells") ? scheme->rebase != NULL : scheme->recenter != NULL;
}

static const struct load_case cases[] = {
    {"offset-50000x20", {50000, 20, 3}, 0, false},
    {"offset-1000x1000", {1000, 1000, 10}, 0, false},
    {"cells-50000x20", {50000, 20, 3}, 0, true},
    {"cells-1000x1000", {1000, 1000, 10}, 0, false},
    {"recenter-50000x20", {50000, 20, 3}, 0, true},
    {"recenter-1000x1000", {1000, 1000, 10}, 0, false},
};

const struct load load_far = {
    "far", "the whole world is moved", cases, CASE_COUNT(cases), is_for, run, false,
};

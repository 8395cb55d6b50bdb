// SPDX-License-Identifier: MIT
// Load `motion`: a tick gives nodes new locals, then the worlds at a time within the tick are computed,
// to be shown. The checksum is that of the worlds at the end of the tick. Schemes blend rotations by
// different formulas, so what they show is compared with a blend in double, within a tolerance.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"
#include "bench/loads/shown.h"

enum { motion_seed = 121 };

struct motion_state {
    struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [at->amount]
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

// The i-th node that a frame writes: any node, a root, or the first child of a root.
static uint32_t node_at(const struct motion_state *state, uint32_t i)
{
    if (is_about(state->at, "every")) {
        return i;
    }
    return forest_root(state->forest, i) + (is_about(state->at, "inner") ? 1 : 0);
}

// Return the time within the tick that a frame shows.
static float draw_time(struct draw *draw)
{
    return (float)draw_unit(draw);
}

static void prepare(void *load, struct contestant *who)
{
    const struct motion_state *const state = load;
    struct draw draw = draw_begin(motion_seed, who->frame);

    (void)draw_time(&draw);
    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = node_at(state, i);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, forest_side(state->forest, node));
    }
}

static void play(void *load, struct contestant *who)
{
    const struct motion_state *const state = load;
    struct draw draw = draw_begin(motion_seed, who->frame);

    who->scheme->tick(who->world, state->writes, state->at->amount, draw_time(&draw));
}

// Give the nodes of the forest the locals that they have at the end of a frame's tick. All frames write
// the same nodes. Return the time that the frame shows.
static float frame_replay(const struct motion_state *state, unsigned frame)
{
    struct draw draw = draw_begin(motion_seed, frame);
    const float at = draw_time(&draw);

    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = node_at(state, i);

        state->forest->locals[node] = draw_pose(&draw, forest_side(state->forest, node));
    }
    return at;
}

// Rotations may be off by 0.0043 degrees a link.
static void check_shown(const struct contest *contest, const struct motion_state *state,
                        unsigned frames)
{
    struct forest *const forest = state->forest;
    struct pose *const shown = block_new(forest->count, sizeof *shown);
    const double tolerance = 0.002;

    (void)frame_replay(state, frames - 2);
    struct pose *const previous = block_copy(forest->locals, forest->count, sizeof *previous);
    const float at = frame_replay(state, frames - 1);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (!who->plays) {
            continue;
        }
        who->scheme->copy_shown(who->world, shown, forest->count);
        if (!(shown_error(forest, previous, at, shown) < tolerance)) {
            course_fail(who->scheme->name, "the shown worlds are not blends of the locals");
        }
    }
    free(previous);
    free(shown);
}

static struct contest_plan plan_for(const struct load_case *at, size_t nodes)
{
    const bool is_small = nodes <= 100000;

    if (!is_small && at->amount == nodes) {
        return (struct contest_plan){.lead_in = 1, .turns = 5, .warm = 1, .timed = 3};
    }
    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 5};
}

// A tick without writes costs a time that does not belong to nodes.
static void report(struct contest *contest, const struct load_case *at, size_t nodes)
{
    enum { ns_of_us = 1000 };

    if (at->amount == 0) {
        contest_report_medians(contest, ns_of_us, "us/frame", nodes);
        return;
    }
    contest_report_medians(contest, nodes, "ns/node", nodes);
    contest_report_quotient_of_parts(contest, "roll", "write", nodes);
    contest_report_quotient_of_parts(contest, "present", "write", nodes);
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct motion_state state = {&forest, at, block_new(at->amount, sizeof *state.writes)};
    const struct contest_plan plan = plan_for(at, forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, TRACK_MOTION);
        }
    }
    contest_alternate(contest, &plan, &steps, &state);
    check_shown(contest, &state, contest_frames(&plan));
    report(contest, at, forest.count);

    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->tick != NULL;
}

// The amount is the number of nodes that a tick writes.
static const struct load_case cases[] = {
    {"roots-500x20", {500, 20, 3}, 500, true},
    {"roots-50000x20", {50000, 20, 3}, 50000, true},
    {"roots-1000x1000", {1000, 1000, 10}, 1000, false},
    {"every-500x20", {500, 20, 3}, 10000, true},
    {"every-50000x20", {50000, 20, 3}, 1000000, false},
    {"every-1000x1000", {1000, 1000, 10}, 1000000, false},
    {"inner-500x20", {500, 20, 3}, 500, false},
    {"inner-50000x20", {50000, 20, 3}, 50000, false},
    {"inner-1000x1000", {1000, 1000, 10}, 1000, false},
    {"idle-500x20", {500, 20, 3}, 0, false},
    {"idle-50000x20", {50000, 20, 3}, 0, false},
    {"idle-1000x1000", {1000, 1000, 10}, 0, false},
};

const struct load load_motion = {
    "motion", "a tick writes nodes, and a time within it is shown",
    cases,    CASE_COUNT(cases),
    is_for,   run,
    false,
};

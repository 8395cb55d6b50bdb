// SPDX-License-Identifier: MIT
// Load `every`: every node gets a new local, as one batch in order of its number; then all worlds
// are current.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { every_seed = 109 };

// To draw all nodes takes longer than to write them, so what was drawn is kept until everyone has
// had the frame: the frames of a turn.
struct every_state {
    const struct forest *forest;
    struct scheme_write *writes; ///< [forest->count]
    struct pose *drawn;          ///< [turn_frames][forest->count]
    unsigned turn_frames;
    unsigned drawn_count; ///< Frames drawn since the first.
};

static const struct pose *locals_of(struct every_state *state, unsigned frame)
{
    const struct forest *const forest = state->forest;
    struct pose *const locals = state->drawn + frame % state->turn_frames * forest->count;
    struct draw draw = draw_begin(every_seed, frame);

    for (uint32_t node = 0; frame == state->drawn_count && node < forest->count; ++node) {
        locals[node] = draw_pose(&draw, forest_side(forest, node));
    }
    state->drawn_count += frame == state->drawn_count;
    return locals;
}

static void prepare(void *load, struct contestant *who)
{
    struct every_state *const state = load;
    const struct pose *const locals = locals_of(state, who->frame);

    for (uint32_t node = 0; node < state->forest->count; ++node) {
        state->writes[node].node = who->scheme->handle_of(who->world, node);
        state->writes[node].local = locals[node];
    }
}

static void play(void *load, struct contestant *who)
{
    const struct every_state *const state = load;

    who->scheme->write_batch(who->world, state->writes, state->forest->count);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write_batch != NULL;
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 3};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const struct contest_plan plan = plan_for(forest.count);
    const unsigned turn_frames = plan.warm + plan.timed;
    struct every_state state = {
        .forest = &forest,
        .writes = block_new(forest.count, sizeof(struct scheme_write)),
        .drawn = block_new(turn_frames * forest.count, sizeof(struct pose)),
        .turn_frames = turn_frames,
    };
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, forest.count, "ns/node", forest.count);
    free(state.writes);
    free(state.drawn);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 50000, true},  {"1000x1000", {1000, 1000, 10}, 1000, false},
    {"1x1000000", {1, 1000000, 100}, 1, false}, {"500x20", {500, 20, 3}, 500, true},
    {"10x1000", {10, 1000, 10}, 10, true},
};

const struct load load_every = {
    "every", "every node gets a new local, as one batch", cases, CASE_COUNT(cases), is_for, run,
    false,
};

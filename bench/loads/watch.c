// SPDX-License-Identifier: MIT
// Load `watch`: some nodes get a new local, which is not timed; then a consumer collects what changed
// since it looked last: handles and worlds. From these the load keeps a copy of all worlds, which goes
// into the checksum: a change that is missed is a difference.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

enum { watch_seed = 120 };

/// What a consumer knows.
struct watching {
    struct pose *worlds;           ///< [nodes] by number
    struct scheme_changes changes; ///< Of the frame at hand.
    uint64_t collected;            ///< Nodes in all collects.
};

struct watch_state {
    const struct forest *forest;
    const struct load_case *at;
    const struct contest *contest;
    struct watching *watching;   ///< [contest->count]
    struct scheme_write *writes; ///< [at->amount]
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

static struct watching *watching_of(const struct watch_state *state, const struct contestant *who)
{
    return &state->watching[who - state->contest->contestants];
}

// Nodes behind the last one's parent are leaves.
static uint32_t draw_leaf(const struct forest *forest, struct draw *draw, uint32_t tree)
{
    const uint32_t size = forest->shape.tree_size;
    const uint32_t inner = forest->parents[size - 1] + 1;

    return forest_root(forest, tree) + inner + draw_below(draw, size - inner);
}

// Trees are at equal distances, and others in the next frame, so that no node is written twice.
static uint32_t draw_node(const struct watch_state *state, struct draw *draw, uint32_t i,
                          uint32_t first)
{
    const struct forest *const forest = state->forest;
    const uint32_t trees = forest->shape.trees;
    const uint32_t tree = (uint32_t)((first + (uint64_t)i * trees / state->at->amount) % trees);

    if (is_about(state->at, "all")) {
        return i;
    }
    return is_about(state->at, "leaves") ? draw_leaf(forest, draw, tree)
                                         : forest_root(forest, tree);
}

static void prepare(void *load, struct contestant *who)
{
    const struct watch_state *const state = load;
    struct draw draw = draw_begin(watch_seed, who->frame);
    const uint32_t first = draw_below(&draw, state->forest->shape.trees);

    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = draw_node(state, &draw, i, first);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, forest_side(state->forest, node));
    }
    if (state->at->amount > 0) {
        who->scheme->change(who->world, state->writes, state->at->amount);
    }
}

static void play(void *load, struct contestant *who)
{
    watching_of(load, who)->changes = who->scheme->collect(who->world);
}

static void settle(void *load, struct contestant *who)
{
    struct watching *const watching = watching_of(load, who);
    const struct scheme_changes *const changes = &watching->changes;

    for (size_t i = 0; i < changes->count; ++i) {
        scheme_handle node;

        memcpy(&node, (const char *)changes->nodes + i * sizeof node, sizeof node);
        memcpy(&watching->worlds[who->scheme->number_of(who->world, node)],
               (const char *)changes->worlds + i * changes->stride, sizeof(struct pose));
    }
    watching->collected += changes->count;
}

static void watch_begin(struct watch_state *state, size_t nodes)
{
    for (size_t i = 0; i < state->contest->count; ++i) {
        const struct contestant *const who = &state->contest->contestants[i];

        state->watching[i] = (struct watching){0};
        if (who->plays) {
            state->watching[i].worlds = block_new(nodes, sizeof(struct pose));
            who->scheme->track(who->world, TRACK_WORLDS);
            who->scheme->copy_worlds(who->world, state->watching[i].worlds, nodes);
        }
    }
}

// What the consumer knows is all that a scheme was read for.
static void watch_end(struct watch_state *state, size_t nodes)
{
    for (size_t i = 0; i < state->contest->count; ++i) {
        struct contestant *const who = &state->contest->contestants[i];

        if (who->plays) {
            who->readings =
                checksum_add(who->readings, state->watching[i].worlds, nodes * sizeof(struct pose));
        }
        free(state->watching[i].worlds);
    }
}

static void report_collected(struct contest *contest, const struct watch_state *state)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            contest_report(contest, who, (double)state->watching[i].collected / who->frame,
                           "nodes/collect", contest_checksum(who, state->forest->count));
        }
    }
}

// A collect is short, so many frames are timed where the writes before it are few.
static struct contest_plan plan_for(const struct load_case *at, size_t nodes)
{
    const bool is_small = nodes <= 100000;

    if (!is_small && at->amount == nodes) {
        return (struct contest_plan){.lead_in = 1, .turns = 5, .warm = 1, .timed = 3};
    }
    return is_small ? (struct contest_plan){.turns = 11, .warm = 10, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 2, .timed = 9};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct watch_state state = {
        .forest = &forest,
        .at = at,
        .contest = contest,
        .watching = block_new(contest->count, sizeof *state.watching),
        .writes = block_new(at->amount, sizeof *state.writes),
    };
    const struct contest_plan plan = plan_for(at, forest.count);
    const struct contest_steps steps = {prepare, play, settle};
    enum { ns_of_us = 1000 };

    contest_build(contest, &forest);
    watch_begin(&state, forest.count);
    contest_alternate(contest, &plan, &steps, &state);
    watch_end(&state, forest.count);
    contest_report_medians(contest, ns_of_us, "us/collect", forest.count);
    report_collected(contest, &state);

    free(state.watching);
    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->collect != NULL;
}

// The amount is the number of nodes that a frame writes.
static const struct load_case cases[] = {
    {"idle-50000x20", {50000, 20, 3}, 0, true},
    {"r100-50000x20", {50000, 20, 3}, 100, true},
    {"leaves100-50000x20", {50000, 20, 3}, 100, false},
    {"all-50000x20", {50000, 20, 3}, 1000000, false},
    {"idle-1000x1000", {1000, 1000, 10}, 0, false},
    {"r2-1000x1000", {1000, 1000, 10}, 2, false},
    {"leaves100-1000x1000", {1000, 1000, 10}, 100, false},
    {"all-1000x1000", {1000, 1000, 10}, 1000000, false},
    {"idle-500x20", {500, 20, 3}, 0, true},
    {"r100-500x20", {500, 20, 3}, 100, true},
    {"leaves100-500x20", {500, 20, 3}, 100, false},
    {"all-500x20", {500, 20, 3}, 10000, true},
};

const struct load load_watch = {
    "watch", "what changed is collected", cases, CASE_COUNT(cases), is_for, run, false,
};

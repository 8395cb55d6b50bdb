// SPDX-License-Identifier: MIT
// Load `publish`: some leaves get a new local, which is not timed; then all worlds are published for a reader
// on another thread. What the reader gets at the end goes into the checksum.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

enum { publish_seed = 140 };

struct publish_state {
    const struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [at->amount]
};

static bool is_case_of(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

// Leaves of trees at equal distances: the same ones in each frame, or others.
static uint32_t draw_leaf_of(const struct publish_state *state, uint32_t i, uint32_t frame)
{
    const struct forest *const forest = state->forest;
    const uint32_t trees = forest->shape.trees, size = forest->shape.tree_size;
    const uint32_t inner = forest->parents[size - 1] + 1;
    const uint32_t first = is_case_of(state->at, "same") ? 0 : frame * 7919u % trees;
    const uint32_t tree = (uint32_t)((first + (uint64_t)i * trees / state->at->amount) % trees);

    if (state->at->amount == forest->count) {
        return i;
    }
    return forest_root(forest, tree) + inner + (first + i) % (size - inner);
}

static void prepare(void *load, struct contestant *who)
{
    const struct publish_state *const state = load;
    struct draw draw = draw_begin(publish_seed, who->frame);

    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = draw_leaf_of(state, i, (uint32_t)who->frame);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, forest_side(state->forest, node));
    }
    if (state->at->amount > 0) {
        who->scheme->change(who->world, state->writes, state->at->amount);
    }
}

static void play(void *load, struct contestant *who)
{
    (void)load;
    who->scheme->publish(who->world);
}

static void settle(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

static void begin_mirrors(struct contest *contest)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, TRACK_MIRRORS);
        }
    }
}

// A mirror is all that a scheme was read for.
static void read_mirrors(struct contest *contest, size_t nodes)
{
    struct pose *const worlds = block_new(nodes, sizeof *worlds);

    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->copy_mirror(who->world, worlds, nodes);
            who->readings = checksum_add(who->readings, worlds, nodes * sizeof *worlds);
        }
    }
    free(worlds);
}

static struct contest_plan plan_for(const struct load_case *at, size_t nodes)
{
    if (at->amount == nodes && nodes > 100000) {
        return (struct contest_plan){.lead_in = 1, .turns = 5, .warm = 1, .timed = 3};
    }
    return nodes <= 100000 ? (struct contest_plan){.turns = 11, .warm = 10, .timed = 40}
                           : (struct contest_plan){.turns = 7, .warm = 4, .timed = 9};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct publish_state state = {
        .forest = &forest, .at = at, .writes = block_new(at->amount, sizeof *state.writes)};
    const struct contest_plan plan = plan_for(at, forest.count);
    const struct contest_steps steps = {prepare, play, settle};
    enum { ns_of_us = 1000 };

    contest_build(contest, &forest);
    begin_mirrors(contest);
    contest_alternate(contest, &plan, &steps, &state);
    read_mirrors(contest, forest.count);
    contest_report_medians(contest, ns_of_us, "us/publish", forest.count);

    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->publish != NULL;
}

// The amount is the number of leaves that a frame writes.
static const struct load_case cases[] = {
    {"idle-50000x20", {50000, 20, 3}, 0, true},
    {"same1000-50000x20", {50000, 20, 3}, 1000, true},
    {"new1000-50000x20", {50000, 20, 3}, 1000, false},
    {"new10000-50000x20", {50000, 20, 3}, 10000, false},
    {"all-50000x20", {50000, 20, 3}, 1000000, false},
    {"idle-500x20", {500, 20, 3}, 0, true},
    {"same10-500x20", {500, 20, 3}, 10, true},
    {"all-500x20", {500, 20, 3}, 10000, true},
};

const struct load load_publish = {
    "publish", "worlds are published for a reader", cases, CASE_COUNT(cases), is_for, run, false,
};

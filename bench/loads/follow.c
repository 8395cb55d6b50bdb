// SPDX-License-Identifier: MIT
// Load `follow`: nodes get new locals; then another world, which has counterparts of all nodes, follows what a
// watch collected. The time of the collect and the follow is compared with that of the writes which they
// repeat. At the end both worlds must be the same.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { follow_seed = 124 };

struct follow_state {
    const struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [at->amount]
};

// Each node is written once: the roots, at equal distances, or all nodes.
static void prepare_writes(void *load, struct contestant *who)
{
    const struct follow_state *const state = load;
    const uint32_t trees = state->forest->shape.trees, amount = state->at->amount;
    struct draw draw = draw_begin(follow_seed, who->frame);
    const uint32_t first = draw_below(&draw, trees);

    for (uint32_t i = 0; i < amount; ++i) {
        const uint32_t tree = (uint32_t)((first + (uint64_t)i * trees / amount) % trees);
        const uint32_t node = amount > trees ? i : forest_root(state->forest, tree);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, forest_side(state->forest, node));
    }
}

static void play_follow(void *load, struct contestant *who)
{
    const struct follow_state *const state = load;

    who->scheme->change(who->world, state->writes, state->at->amount);
    who->scheme->repeat(who->world);
}

static struct contest_plan plan_for_follow(const struct load_case *at)
{
    return at->amount > 20000
               ? (struct contest_plan){.lead_in = 1, .turns = 9, .warm = 2, .timed = 5}
               : (struct contest_plan){.turns = 11, .warm = 10, .timed = 40};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct follow_state state = {
        .forest = &forest, .at = at, .writes = block_new(at->amount, sizeof *state.writes)};
    const struct contest_plan plan = plan_for_follow(at);
    const struct contest_steps steps = {prepare_writes, play_follow, NULL};

    contest_build(contest, &forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, TRACK_COUNTERPARTS);
        }
    }
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, at->amount, "ns/write", forest.count);
    contest_report_quotient_of_parts(contest, "follow", "write", forest.count);
    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->repeat != NULL;
}

// The amount is the number of nodes that a frame writes.
static const struct load_case cases[] = {
    {"roots-10000x20", {10000, 20, 3}, 10000, false}, {"r100-10000x20", {10000, 20, 3}, 100, false},
    {"all-10000x20", {10000, 20, 3}, 200000, false},  {"roots-500x20", {500, 20, 3}, 500, true},
    {"all-500x20", {500, 20, 3}, 10000, true},
};

const struct load load_follow = {
    "follow", "another world follows", cases, CASE_COUNT(cases), is_for, run, false,
};

// SPDX-License-Identifier: MIT
// Load `history`: some roots get a new local and the world is marked, eight times; then the world goes back to
// the first of these marks, so that every frame begins with the same world. A second world, which keeps a
// checksum of each mark, plays in turns.
//
// In the shapes of the loads `full` and `sparse` the writes alone are timed. They are compared with those of a
// world without a history, which plays in turns.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { history_seed = 123, moments_of_frame = 8 };

struct history_state {
    const struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [moments_of_frame][at->amount]
    bool is_tracked;
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

// --- Marks and rewinds ---

// Trees are at equal distances, and all of them are others in the next moment; where they are to be the same,
// they are so in all frames.
static void prepare_moments(void *load, struct contestant *who)
{
    const struct history_state *const state = load;
    const uint32_t trees = state->forest->shape.trees, amount = state->at->amount;
    struct draw draw = draw_begin(history_seed, who->frame);
    const uint32_t first = is_about(state->at, "same") ? 0 : draw_below(&draw, trees);

    for (uint32_t moment = 0; moment < moments_of_frame; ++moment) {
        const uint32_t shift = is_about(state->at, "same") ? 0 : moment;

        for (uint32_t i = 0; i < amount; ++i) {
            const uint32_t tree =
                (uint32_t)((first + shift + (uint64_t)i * trees / amount) % trees);
            struct scheme_write *const write = &state->writes[moment * amount + i];

            write->node = who->scheme->handle_of(who->world, forest_root(state->forest, tree));
            write->local = draw_pose(&draw, ROOT_SIDE);
        }
    }
}

static void play_moments(void *load, struct contestant *who)
{
    const struct history_state *const state = load;

    for (uint32_t moment = 0; moment < moments_of_frame; ++moment) {
        who->scheme->change(who->world, state->writes + moment * state->at->amount,
                            state->at->amount);
        who->scheme->advance(who->world);
    }
    who->scheme->rewind(who->world, moments_of_frame);
}

static void track_all(const struct contest *contest, enum scheme_tracking tracking)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, tracking);
        }
    }
}

// Check that a rewind brought back the world transforms that the scene had when it was built.
static void check_worlds(const struct contest *contest, const struct contest *untouched,
                         size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        if (contest->contestants[i].plays &&
            contest_checksum(&contest->contestants[i], nodes) !=
                contest_checksum(&untouched->contestants[i], nodes)) {
            course_fail(contest->contestants[i].scheme->name, "a rewind gives another world");
        }
    }
}

static struct contest_plan plan_for_moments(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 20}
                    : (struct contest_plan){.turns = 9, .warm = 2, .timed = 7};
}

static void run_moments(struct contest *contest, struct history_state *state)
{
    const size_t nodes = state->forest->count;
    const struct contest_plan plan = plan_for_moments(nodes);
    const struct contest_steps steps = {prepare_moments, play_moments, NULL};
    struct contest unhashed = contest_copy(contest), untouched = contest_copy(contest);

    contest_build(contest, state->forest);
    contest_build(&unhashed, state->forest);
    contest_build(&untouched, state->forest);
    track_all(contest, TRACK_HASHES);
    track_all(&unhashed, TRACK_HISTORY);
    contest_alternate_two(contest, state, &unhashed, state, &plan, &steps);
    check_worlds(contest, &untouched, nodes);
    check_worlds(&unhashed, &untouched, nodes);
    contest_report_medians(contest, state->at->amount, "ns/root", nodes);
    contest_report_quotient_of_parts(contest, "mark", "write", nodes);
    contest_report_excess_of_part(contest, &unhashed, "mark", "write", "hash/write", nodes);
    contest_report_quotient_of_parts(contest, "rewind", "write", nodes);
    contest_copy_end(&unhashed);
    contest_copy_end(&untouched);
}

// --- Writes with and without a history ---

static void prepare_writes(void *load, struct contestant *who)
{
    const struct history_state *const state = load;
    const struct forest *const forest = state->forest;
    struct draw draw = draw_begin(history_seed, who->frame);

    for (uint32_t i = 0; i < state->at->amount; ++i) {
        const uint32_t node = is_about(state->at, "full")
                                  ? forest_root(forest, i)
                                  : draw_below(&draw, (uint32_t)forest->count);

        state->writes[i].node = who->scheme->handle_of(who->world, node);
        state->writes[i].local = draw_pose(&draw, forest_side(forest, node));
    }
}

static void play_writes(void *load, struct contestant *who)
{
    const struct history_state *const state = load;

    who->scheme->write(who->world, state->writes, state->at->amount);
}

static void settle_writes(void *load, struct contestant *who)
{
    const struct history_state *const state = load;

    if (state->is_tracked) {
        who->scheme->advance(who->world);
    }
}

static struct contest_plan plan_for_writes(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 21, .warm = 10, .timed = 40}
                    : (struct contest_plan){.turns = 15, .warm = 1, .timed = 4};
}

static void run_writes(struct contest *contest, struct history_state *state)
{
    const size_t nodes = state->forest->count;
    const struct contest_plan plan = plan_for_writes(nodes);
    const struct contest_steps steps = {prepare_writes, play_writes, settle_writes};
    struct contest without = contest_copy(contest);
    struct history_state untracked = *state;

    state->is_tracked = true;
    contest_build(contest, state->forest);
    contest_build(&without, state->forest);
    track_all(contest, TRACK_HISTORY);
    contest_alternate_two(contest, state, &without, &untracked, &plan, &steps);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const uint64_t checksum = contest_checksum(who, nodes);

            contest_report(contest, who, samples_median(&who->samples) / (double)state->at->amount,
                           "ns/write", checksum);
            contest_report_quotient(contest, &without, who, "x without", checksum);
        }
    }
    contest_copy_end(&without);
}

// --- All ---

static void run(struct contest *contest, const struct load_case *at)
{
    const bool is_of_writes = is_about(at, "full") || is_about(at, "sparse");
    struct forest forest = forest_create(at->shape);
    struct history_state state = {
        .forest = &forest,
        .at = at,
        .writes = block_new((size_t)moments_of_frame * at->amount, sizeof *state.writes),
    };

    is_of_writes ? run_writes(contest, &state) : run_moments(contest, &state);
    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->rewind != NULL;
}

// The amount is the number of nodes that a moment writes.
static const struct load_case cases[] = {
    {"r100-50000x20", {50000, 20, 3}, 100, false},
    {"r100-50000x20-same", {50000, 20, 3}, 100, false},
    {"r5000-50000x20", {50000, 20, 3}, 5000, false},
    {"r20000-200000x1", {200000, 1, 1}, 20000, false},
    {"r50-500x20", {500, 20, 3}, 50, false},
    {"full-50000x20", {50000, 20, 3}, 50000, false},
    {"full-500x20", {500, 20, 3}, 500, false},
    {"sparse-50000x20-w100", {50000, 20, 3}, 100, false},
    {"sparse-50000x20-w10000", {50000, 20, 3}, 10000, false},
    {"sparse-500x20-w100", {500, 20, 3}, 100, false},
};

const struct load load_history = {
    "history", "roots are written and marked, eight times, then the world goes back",
    cases,     CASE_COUNT(cases),
    is_for,    run,
    false,
};

// SPDX-License-Identifier: MIT
// Load `spawn`: prefabs of three nodes appear under random nodes, those of 20 frames ago are
// destroyed, and then all worlds are current. Parents are nodes of the forest, never of a prefab,
// so that none goes away with another. The checksum covers the forest and all living prefabs.
// Shapes `-atonce` do the same by immediate calls. They are played in turns with batched frames on
// a second world, and `x batched` is the quotient of the times. In shapes `-drawn` each node is a renderable,
// those of prefabs too, and a frame ends with an update. `x plain` is the quotient by the same frames without.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

enum { spawn_seed = 104, prefab_seed = 105, frames_of_life = 20 };

/// Frames of one world of each contestant.
struct spawn_state {
    const struct contest *contest;
    const struct forest *forest;
    bool is_at_once;             ///< By immediate calls.
    bool is_drawn;               ///< All nodes are renderables.
    uint32_t count;              ///< Prefabs of a frame.
    struct scheme_spawn *spawns; ///< [count]
    scheme_handle *made;         ///< [contestants][frames_of_life][count] first nodes alive.
    scheme_handle *just_made;    ///< [count] of the frame at hand.
};

// Place of the first nodes that a contestant made in a frame, and of those that die 20 later.
static scheme_handle *made_in(const struct spawn_state *state, const struct contestant *who,
                              unsigned frame)
{
    const size_t index = (size_t)(who - state->contest->contestants);

    return state->made + (index * frames_of_life + frame % frames_of_life) * state->count;
}

static void prepare(void *load, struct contestant *who)
{
    const struct spawn_state *const state = load;
    struct draw draw = draw_begin(spawn_seed, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t parent = draw_below(&draw, (uint32_t)state->forest->count);

        state->spawns[i].parent = who->scheme->handle_of(who->world, parent);
        state->spawns[i].local = draw_pose(&draw, MEMBER_SIDE);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct spawn_state *const state = load;
    const struct scheme_spawn_frame frame = {
        .spawns = state->spawns,
        .spawn_count = state->count,
        .doomed = made_in(state, who, who->frame),
        .doomed_count = who->frame < frames_of_life ? 0 : state->count,
        .made = state->just_made,
    };

    if (state->is_at_once) {
        who->scheme->spawn_each(who->world, &frame);
    } else {
        who->scheme->spawn(who->world, &frame);
    }
    if (state->is_drawn) {
        who->scheme->publish(who->world);
    }
}

static void settle(void *load, struct contestant *who)
{
    const struct spawn_state *const state = load;
    scheme_handle *const made = made_in(state, who, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        made[i] = state->just_made[i];
    }
}

// The living prefabs, from the oldest to the youngest, go before the forest's nodes.
static uint64_t checksum_of(const struct spawn_state *state, struct contestant *who)
{
    for (unsigned age = 0; age < frames_of_life; ++age) {
        const scheme_handle *const made = made_in(state, who, who->frame + age);

        for (uint32_t i = 0; i < state->count; ++i) {
            struct pose worlds[PREFAB_SIZE];

            who->scheme->spawn_worlds(who->world, made[i], worlds);
            who->readings = checksum_add(who->readings, worlds, sizeof worlds);
        }
    }
    return contest_checksum(who, state->forest->count);
}

static void report(struct contest *contest, const struct contest *other,
                   const struct spawn_state *state)
{
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double median = samples_median(&who->samples);
            const double p99 = samples_quantile(&who->samples, 990);
            const uint64_t checksum = checksum_of(state, who);

            contest_report(contest, who, median / state->count, "ns/prefab", checksum);
            contest_report(contest, who, p99 / median, "p99/median", checksum);
            if (other != NULL) {
                contest_report_quotient(contest, other, who,
                                        state->is_drawn ? "x plain" : "x batched", checksum);
            }
            contest_report_parts(contest, who, state->count, "ns/prefab", checksum);
        }
    }
}

static bool is_at_once(const struct load_case *at)
{
    return strstr(at->name, "-atonce") != NULL;
}

static bool is_drawn(const struct load_case *at)
{
    return strstr(at->name, "-drawn") != NULL;
}

// `copied` has no boxes.
static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    const bool has_boxes = scheme->publish != NULL && scheme->furnish != NULL;

    return scheme->spawn != NULL && (!is_at_once(at) || scheme->spawn_each != NULL) &&
           (!is_drawn(at) || has_boxes);
}

static struct spawn_state state_create(struct contest *contest, const struct forest *forest,
                                       uint32_t count)
{
    const struct spawn_state state = {
        .contest = contest,
        .forest = forest,
        .count = count,
        .spawns = block_new(count, sizeof(struct scheme_spawn)),
        .made = block_new(contest->count * frames_of_life * count, sizeof(scheme_handle)),
        .just_made = block_new(count, sizeof(scheme_handle)),
    };

    contest_build(contest, forest);
    contest_make_prefab(contest, prefab_seed);
    return state;
}

static void state_destroy(struct spawn_state *state)
{
    free(state->spawns);
    free(state->made);
    free(state->just_made);
}

// A frame of one prefab is short, and each differs.
static struct contest_plan plan_for(uint32_t count)
{
    return (struct contest_plan){.lead_in = frames_of_life + 5,
                                 .turns = 5,
                                 .warm = count > 1 ? 1 : 20,
                                 .timed = count > 1 ? 40 : 200};
}

static const struct contest_steps steps = {prepare, play, settle};

// Measure beside a world that plays the same frames through commands, without renderables.
static void run_beside(struct contest *contest, struct spawn_state *state)
{
    struct contest other = contest_copy(contest);
    struct spawn_state plain = state_create(&other, state->forest, state->count);
    const struct contest_plan plan = plan_for(state->count);

    contest_alternate_two(contest, state, &other, &plain, &plan, &steps);
    report(contest, &other, state);
    contest_copy_end(&other);
    state_destroy(&plain);
}

static void make_drawn(const struct contest *contest)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->track(who->world, TRACK_RENDERABLES);
        }
    }
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct spawn_state state = state_create(contest, &forest, at->amount);

    state.is_at_once = is_at_once(at);
    state.is_drawn = is_drawn(at);
    if (state.is_drawn) {
        make_drawn(contest);
    }
    if (state.is_at_once || state.is_drawn) {
        run_beside(contest, &state);
    } else {
        const struct contest_plan plan = plan_for(state.count);

        contest_alternate(contest, &plan, &steps, &state);
        report(contest, NULL, &state);
    }
    state_destroy(&state);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"2000x12-k2000", {2000, 12, 3}, 2000, true},
    {"2000x12-k20000", {2000, 12, 3}, 20000, false},
    {"100x12-k100", {100, 12, 3}, 100, false},
    {"2000x12-k2000-atonce", {2000, 12, 3}, 2000, false},
    {"100x12-k100-atonce", {100, 12, 3}, 100, true},
    {"2000x12-k1-atonce", {2000, 12, 3}, 1, false},
    {"2000x12-k2000-drawn", {2000, 12, 3}, 2000, true},
    {"100x12-k100-drawn", {100, 12, 3}, 100, false},
};

const struct load load_spawn = {
    "spawn", "k prefabs of 3 nodes appear, those of 20 frames ago go",
    cases,   CASE_COUNT(cases),
    is_for,  run,
    true,
};

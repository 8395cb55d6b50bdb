// SPDX-License-Identifier: MIT
// Load `animate`: in each of many small hierarchies, ships, one member drawn beforehand swings
// (-one), or each of the four guns does (-guns). Guns are named all first ones before all second
// ones and so on, so that a scheme that keeps them in that order meets each ship four times, far
// apart. What gives out work by hierarchy reports that part of a frame on its own.
#include "bench/loads/load.h"
#include "bench/loads/ship.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { animate_seed = 113 };

struct animate_state {
    const struct forest *forest;
    uint32_t *nodes;             ///< [count] that swing.
    struct scheme_swing *swings; ///< [count] of the contestant at hand.
    uint32_t count;
    float phase; ///< Of the frame at hand.
};

static void draw_nodes(const struct animate_state *state, uint32_t of_ship)
{
    const uint32_t ships = state->forest->shape.trees;
    struct draw draw = draw_begin(animate_seed, 0);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t rank =
            of_ship == 1 ? 1 + draw_below(&draw, ship_size - 1) : first_gun + i / ships;

        state->nodes[i] = forest_root(state->forest, i % ships) + rank;
    }
}

static struct swing draw_swing(struct draw *draw)
{
    struct swing out = {.rest = draw_pose(draw, MEMBER_SIDE)};

    for (int axis = 0; axis < 3; ++axis) {
        out.reach[axis] = (float)(draw_unit(draw) - 0.5);
    }
    return out;
}

static void set_swings(const struct contest *contest, const struct animate_state *state)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];
        struct draw draw = draw_begin(animate_seed, 1);

        for (uint32_t s = 0; who->plays && s < state->count; ++s) {
            state->swings[s].node = who->scheme->handle_of(who->world, state->nodes[s]);
            state->swings[s].swing = draw_swing(&draw);
        }
        if (who->plays) {
            who->scheme->set_swings(who->world, state->swings, state->count);
        }
    }
}

// Every frame has a phase of its own, so that every write changes something.
static void prepare(void *load, struct contestant *who)
{
    struct animate_state *const state = load;

    state->phase = (float)(who->frame + 1) / 1024;
}

static void play(void *load, struct contestant *who)
{
    const struct animate_state *const state = load;

    who->scheme->animate(who->world, state->phase);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->animate != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create_copies(ship_parents, ship_size, at->shape.trees);
    const uint32_t count = at->amount * at->shape.trees;
    struct animate_state state = {.forest = &forest,
                                  .nodes = block_new(count, sizeof(uint32_t)),
                                  .swings = block_new(count, sizeof(struct scheme_swing)),
                                  .count = count};
    const struct contest_plan plan = {.turns = 7, .warm = 1, .timed = 6};
    const struct contest_steps steps = {prepare, play, NULL};

    draw_nodes(&state, at->amount);
    contest_build(contest, &forest);
    set_swings(contest, &state);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, count, "ns/write", forest.count);
    contest_report_share(contest, "deal", forest.count);
    free(state.nodes);
    free(state.swings);
    forest_destroy(&forest);
}

// The amount: nodes of a ship that swing.
static const struct load_case cases[] = {
    {"25000x11-one", {25000, ship_size, 0}, 1, true},
    {"25000x11-guns", {25000, ship_size, 0}, guns_of_ship, false},
    {"500x11-one", {500, ship_size, 0}, 1, false},
    {"500x11-guns", {500, ship_size, 0}, guns_of_ship, false},
};

const struct load load_animate = {
    "animate", "members of many small hierarchies swing", cases, CASE_COUNT(cases), is_for, run,
    true,
};

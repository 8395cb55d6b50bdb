// SPDX-License-Identifier: MIT
// Load `cull`: what cameras see of nodes that rest, in groups of one key, with a matrix of each written. A
// narrow camera sees about 0.5 % of them, a wide one a third. `x calls` divides the time for four cameras by
// that of four calls for one. Worlds of the shapes `aged-` have moved before: see cull_aged.c.
#include "bench/loads/cull.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

#include <math.h>

enum { cull_seed = 143 };

// Looks along -Z from a distance of the center; `slope` of the sides.
static struct scheme_camera camera_at(double x, double away, double slope)
{
    const double length = sqrt(1 + slope * slope);
    const float along = (float)(1 / length), across = (float)(slope / length);
    const float eye = (float)(slope * away / length), side = (float)(x / length);
    const struct scheme_camera camera = {{{along, 0, -across, eye - side},
                                          {-along, 0, -across, eye + side},
                                          {0, along, -across, eye},
                                          {0, -along, -across, eye},
                                          {0, 0, -1, (float)away - 1},
                                          {0, 0, 1, 2000}}};

    return camera;
}

static void set_cameras(struct cull_state *state, const char *name, double sides)
{
    state->camera_count = 1;
    if (strstr(name, "narrow") != NULL) {
        state->cameras[0] = camera_at(0, 1.1 * sides, 0.057);
    } else if (strstr(name, "wide") != NULL) {
        state->cameras[0] = camera_at(0, 1.1 * sides, 0.455);
    } else if (strstr(name, "all") != NULL) {
        state->cameras[0] = camera_at(0, 10 * sides, 1);
    } else {
        for (int i = 0; i < CULL_CAMERAS; ++i) {
            state->cameras[i] = camera_at((i - 1.5) * sides / 2, 1.1 * sides, 0.1);
        }
        state->camera_count = CULL_CAMERAS;
    }
}

static void prepare(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

static void play(void *load, struct contestant *who)
{
    struct cull_state *const state = load;

    who->scheme->cull(who->world, state->cameras, state->sights, state->camera_count);
}

static void play_one_by_one(void *load, struct contestant *who)
{
    struct cull_state *const state = load;

    for (size_t i = 0; i < state->camera_count; ++i) {
        who->scheme->cull(who->world, &state->cameras[i], &state->sights[i], 1);
    }
}

// A sum of the checksums of all matrices, because schemes have the nodes of a key in orders of their own. All
// frames are alike.
static void settle(void *load, struct contestant *who)
{
    struct cull_state *const state = load;
    uint64_t sum = 0;

    if (who->frame > 0) {
        return;
    }
    for (size_t i = 0; i < state->camera_count; ++i) {
        const struct scheme_sight *const sight = &state->sights[i];

        for (size_t k = 0; k < sight->count; ++k) {
            sum += checksum_add(checksum_begin() + i, sight->matrices[k], sizeof *sight->matrices);
        }
    }
    who->readings = checksum_add(who->readings, &sum, sizeof sum);
}

const struct contest_steps cull_steps = {prepare, play, settle};
static const struct contest_steps one_by_one = {prepare, play_one_by_one, settle};

struct cull_state cull_begin(const char *name, double sides, size_t nodes)
{
    struct cull_state state;

    memset(&state, 0, sizeof state);
    set_cameras(&state, name, sides);
    for (size_t i = 0; i < state.camera_count; ++i) {
        state.sights[i].matrices = block_new(nodes, sizeof *state.sights[i].matrices);
    }
    return state;
}

void cull_end(const struct cull_state *state)
{
    for (size_t i = 0; i < state->camera_count; ++i) {
        free(state->sights[i].matrices);
    }
}

void cull_furnish(const struct contest *contest, size_t nodes, uint32_t keys)
{
    struct scheme_look *const looks = block_new(nodes, sizeof *looks);
    struct draw draw = draw_begin(cull_seed, 0);

    for (size_t i = 0; i < nodes; ++i) {
        for (int k = 0; k < 3; ++k) {
            looks[i].half[k] = 0.1f + 0.4f * (float)draw_unit(&draw);
        }
        looks[i].key = draw_below(&draw, keys);
    }
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->furnish(who->world, looks, nodes);
        }
    }
    free(looks);
}

struct contest_plan cull_plan(size_t nodes)
{
    return nodes <= 100000 ? (struct contest_plan){.lead_in = 1, .turns = 7, .warm = 3, .timed = 15}
                           : (struct contest_plan){.lead_in = 1, .turns = 5, .warm = 1, .timed = 5};
}

// Measure beside the same contestants with a call for each camera, which play in the same worlds.
static void run_beside_calls(struct contest *contest, struct cull_state *state,
                             const struct contest_plan *plan, size_t nodes)
{
    const struct contest_plan turn = {.turns = 1, .warm = plan->warm, .timed = plan->timed};
    struct contest calls = contest_copy(contest);

    contest_alternate(contest, &(struct contest_plan){.lead_in = plan->lead_in}, &cull_steps,
                      state);
    for (unsigned i = 0; i < plan->turns; ++i) {
        contest_alternate(&calls, &turn, &one_by_one, state);
        contest_alternate(contest, &turn, &cull_steps, state);
    }
    cull_report(contest, &calls, "x calls", nodes);
    for (size_t i = 0; i < calls.count; ++i) {
        calls.contestants[i].world = NULL; // of the other contest
    }
    contest_copy_end(&calls);
}

void cull_report(struct contest *contest, const struct contest *other, const char *quotient,
                 size_t nodes)
{
    enum { ns_of_us = 1000 };

    contest_report_medians(contest, ns_of_us, "us/cull", nodes);
    for (size_t i = 0; other != NULL && i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            contest_report_quotient(contest, other, who, quotient,
                                    contest_checksum(&other->contestants[i], nodes));
        }
    }
}

static bool is_aged(const struct load_case *at)
{
    return strstr(at->name, "aged-") != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    if (is_aged(at)) {
        cull_run_aged(contest, at);
        return;
    }
    struct forest forest = forest_create(at->shape);
    struct cull_state state = cull_begin(at->name, ROOT_SIDE / 2, forest.count);
    const struct contest_plan plan = cull_plan(forest.count);

    contest_build(contest, &forest);
    cull_furnish(contest, forest.count, at->amount);
    if (state.camera_count > 1) {
        run_beside_calls(contest, &state, &plan, forest.count);
    } else {
        contest_alternate(contest, &plan, &cull_steps, &state);
        cull_report(contest, NULL, NULL, forest.count);
    }
    cull_end(&state);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    return scheme->cull != NULL &&
           (!is_aged(at) || (scheme->change != NULL && scheme->publish != NULL));
}

// The amount is the number of keys.
static const struct load_case cases[] = {
    {"5000x20-narrow-k1", {5000, 20, 3}, 1, false},
    {"5000x20-narrow-k64", {5000, 20, 3}, 64, true},
    {"5000x20-narrow-k4096", {5000, 20, 3}, 4096, false},
    {"5000x20-wide-k1", {5000, 20, 3}, 1, false},
    {"5000x20-wide-k64", {5000, 20, 3}, 64, true},
    {"5000x20-wide-k4096", {5000, 20, 3}, 4096, false},
    {"5000x20-all-k1", {5000, 20, 3}, 1, false},
    {"5000x20-all-k64", {5000, 20, 3}, 64, true},
    {"5000x20-all-k4096", {5000, 20, 3}, 4096, false},
    {"50000x20-narrow-k1", {50000, 20, 3}, 1, false},
    {"50000x20-narrow-k64", {50000, 20, 3}, 64, false},
    {"50000x20-narrow-k4096", {50000, 20, 3}, 4096, false},
    {"50000x20-wide-k1", {50000, 20, 3}, 1, false},
    {"50000x20-wide-k64", {50000, 20, 3}, 64, false},
    {"50000x20-wide-k4096", {50000, 20, 3}, 4096, false},
    {"50000x20-all-k1", {50000, 20, 3}, 1, false},
    {"50000x20-all-k64", {50000, 20, 3}, 64, false},
    {"50000x20-all-k4096", {50000, 20, 3}, 4096, false},
    {"50000x20-four-k64", {50000, 20, 3}, 64, false},
    {"5000x20-four-k64", {5000, 20, 3}, 64, false},
    {"500x20-four-k64", {500, 20, 3}, 64, false},
    {"aged-5000x20-narrow-k64", {5000, 20, 3}, 64, false},
    {"aged-5000x20-wide-k64", {5000, 20, 3}, 64, false},
    {"aged-5000x20-all-k64", {5000, 20, 3}, 64, false},
    {"aged-500x20-wide-k64", {500, 20, 3}, 64, false},
};

const struct load load_cull = {
    "cull", "what cameras see, in groups of one key", cases, CASE_COUNT(cases), is_for, run, true,
};

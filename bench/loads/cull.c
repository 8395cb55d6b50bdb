// SPDX-License-Identifier: MIT
// Load `cull`: what cameras see of nodes that rest, in groups of one key, with a matrix of each written. A
// narrow camera sees about 0.5 % of them, a wide one a third.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

#include <math.h>

enum { cull_seed = 143, CAMERAS = 4 };

struct cull_state {
    size_t nodes;
    struct scheme_camera cameras[CAMERAS];
    size_t camera_count;
    struct scheme_sight sights[CAMERAS];
    uint64_t seen; ///< By the cameras of a frame.
};

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

static void set_cameras(struct cull_state *state, const char *name)
{
    const double sides = ROOT_SIDE / 2;

    state->camera_count = 1;
    if (strstr(name, "narrow") != NULL) {
        state->cameras[0] = camera_at(0, 1.1 * sides, 0.057);
    } else if (strstr(name, "wide") != NULL) {
        state->cameras[0] = camera_at(0, 1.1 * sides, 0.455);
    } else if (strstr(name, "all") != NULL) {
        state->cameras[0] = camera_at(0, 10 * sides, 1);
    } else {
        for (int i = 0; i < CAMERAS; ++i) {
            state->cameras[i] = camera_at((i - 1.5) * sides / 2, 1.1 * sides, 0.1);
        }
        state->camera_count = CAMERAS;
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

// A sum of the checksums of all matrices, because schemes have the nodes of a key in orders of their own. All
// frames are alike.
static void settle(void *load, struct contestant *who)
{
    struct cull_state *const state = load;
    uint64_t sum = 0;

    if (who->frame > 0) {
        return;
    }
    state->seen = 0;
    for (size_t i = 0; i < state->camera_count; ++i) {
        const struct scheme_sight *const sight = &state->sights[i];

        for (size_t k = 0; k < sight->count; ++k) {
            sum += checksum_add(checksum_begin() + i, sight->matrices[k], sizeof *sight->matrices);
        }
        state->seen += sight->count;
    }
    who->readings = checksum_add(who->readings, &sum, sizeof sum);
}

static void furnish_all(const struct contest *contest, size_t nodes, uint32_t keys)
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

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct cull_state state = {.nodes = forest.count};
    const struct contest_plan plan =
        forest.count <= 100000
            ? (struct contest_plan){.lead_in = 1, .turns = 7, .warm = 3, .timed = 15}
            : (struct contest_plan){.lead_in = 1, .turns = 5, .warm = 1, .timed = 5};
    const struct contest_steps steps = {prepare, play, settle};
    enum { ns_of_us = 1000 };

    set_cameras(&state, at->name);
    for (size_t i = 0; i < state.camera_count; ++i) {
        state.sights[i].matrices = block_new(forest.count, sizeof *state.sights[i].matrices);
    }
    contest_build(contest, &forest);
    furnish_all(contest, forest.count, at->amount);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, ns_of_us, "us/cull", forest.count);
    for (size_t i = 0; i < state.camera_count; ++i) {
        free(state.sights[i].matrices);
    }
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->cull != NULL;
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
};

const struct load load_cull = {
    "cull", "what cameras see, in groups of one key", cases, CASE_COUNT(cases), is_for, run, true,
};

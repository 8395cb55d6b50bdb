// SPDX-License-Identifier: MIT
// Load `bevy`: the presets of that engine's stress test for transform hierarchies. The nodes that
// move go round on circles about their parents, one batch of positions a frame, a frame being a
// sixtieth of a second. Figures count the nodes that must be recomputed, so a scheme that looks at
// the others too pays for it.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/presets.h"

struct bevy_state {
    const struct scene *scene;
    scheme_handle *nodes;  ///< [scene->active_count] of the contestant at hand.
    float (*positions)[3]; ///< [scene->active_count] of the frame at hand.
};

static void prepare(void *load, struct contestant *who)
{
    const struct bevy_state *const state = load;
    const struct scene *const scene = state->scene;
    const double turned = (who->frame + 1) * 0.1 / 60;

    for (uint32_t i = 0; i < scene->active_count; ++i) {
        state->nodes[i] = who->scheme->handle_of(who->world, scene->active[i]);
        scene_place(state->positions[i], scene->angles[i] + turned);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct bevy_state *const state = load;

    who->scheme->write_positions(who->world, state->nodes, (const float(*)[3])state->positions,
                                 state->scene->active_count);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write_positions != NULL;
}

// The chain is in cache. No frame goes further than the angles that a turn is true for.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 2, .timed = 12}
                    : (struct contest_plan){.turns = 5, .warm = 1, .timed = 4};
}

static const struct load_case cases[PRESET_COUNT] = {
    {"large_tree", {1, 257025, 0}, 0, true},      {"wide_tree", {1, 250501, 0}, 0, false},
    {"deep_tree", {1, 317810, 0}, 0, false},      {"chain", {1, 2500, 0}, 0, false},
    {"update_leaves", {1, 262143, 0}, 0, true},   {"update_shallow", {1, 262143, 0}, 0, false},
    {"humanoids_active", {4000, 68, 0}, 0, true}, {"humanoids_inactive", {4000, 68, 0}, 0, false},
    {"humanoids_mixed", {4000, 68, 0}, 0, false},
};

static const struct preset *preset_of(const struct load_case *at)
{
    const struct preset *const preset = &presets[at - cases];

    if (strcmp(preset->name, at->name) != 0) {
        course_fail(at->name, "is not the preset of that place");
    }
    return preset;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct scene scene = scene_create(preset_of(at));
    struct bevy_state state = {&scene, block_new(scene.active_count, sizeof(scheme_handle)),
                               block_new(scene.active_count, sizeof(float[3]))};
    const struct contest_plan plan = plan_for(scene.forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &scene.forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, scene.recomputed, "ns/node", scene.forest.count);
    free(state.nodes);
    free(state.positions);
    scene_destroy(&scene);
}

const struct load load_bevy = {
    "bevy", "presets of an engine's stress test", cases, CASE_COUNT(cases), is_for, run, true,
};

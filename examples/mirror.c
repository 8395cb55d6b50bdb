// SPDX-License-Identifier: MIT
// A simulation and a renderer on threads of their own. The simulation publishes a mirror at the end of each
// tick; the renderer draws the newest one, at its own rate, half-way between two ticks. Neither waits for the
// other. The renderer checks what it draws: every glider is where that tick put it, and one that is teleported
// is never drawn in between.
#include "common.h"

#include <espalier/renderables.h>

#include <pthread.h>
#include <stdatomic.h>

enum { GLIDERS = 300, TICKS = 400, JUMP = 200 };

// What the simulation tells the renderer of a tick, beside the renderables.
typedef struct tick_data {
    uint64_t tick;
    float jumper; // where the glider that is teleported is
} tick_data;

// The renderer, and what it found.
typedef struct renderer {
    espl_renderables *renderables;
    espl_visible *visible;
    _Atomic bool has_ended;
    size_t frames, wrong;
    uint64_t last; // tick that was drawn last
} renderer;

// --- The thread of the renderer ---

// Half-way between the ticks a glider is half a unit behind, but for the one that jumps.
static bool is_right(const tick_data *data, uint32_t glider, const espl_pose *pose)
{
    if (glider == 0 && data->tick >= JUMP) {
        const float behind = data->tick == JUMP ? 0 : 0.5F;

        return pose->position[0] == data->jumper - behind;
    }
    return pose->position[0] == (data->tick == 1 ? 1 : (float)data->tick - 0.5F) &&
           pose->position[1] == (float)glider;
}

static void draw(renderer *r)
{
    static espl_pose poses[GLIDERS];
    static uint32_t gliders[GLIDERS];
    const espl_camera everything = {.layers = UINT32_MAX};
    const espl_cull_def half_way = {.alpha = 0.5F, .flags = ESPL_CULL_INTERPOLATE};
    const espl_mirror *const mirror = espl_renderables_acquire(r->renderables);
    espl_mirror_description description;
    size_t groups = 0;

    if (mirror == NULL) {
        return; // before the first tick
    }
    espl_mirror_describe(mirror, &description);
    const tick_data *const data = description.user;

    must(espl_cull(r->visible, mirror, &everything, 1, &half_way));
    const espl_group *const group = espl_visible_groups(r->visible, 0, &groups);

    // All gliders share one key. Here a renderer maps a buffer, and draws group by group.
    if (groups != 1 || group[0].count != GLIDERS) {
        r->wrong += 1;
        return;
    }
    must(espl_visible_write(r->visible, 0,
                            &(espl_instance_arrays){.matrices = poses,
                                                    .form = ESPL_INSTANCE_POSE,
                                                    .user_data = gliders}));
    for (size_t i = 0; i < GLIDERS; ++i) {
        r->wrong += is_right(data, gliders[i], &poses[i]) ? 0 : 1;
    }
    r->wrong += data->tick < r->last ? 1 : 0;
    r->last = data->tick;
    r->frames += 1;
}

static void *run_renderer(void *context)
{
    renderer *const r = context;
    bool is_last = false;

    while (!is_last) {
        is_last = atomic_load(&r->has_ended); // one frame more, which draws the last tick
        draw(r);
    }
    return NULL;
}

// --- The thread of the simulation ---

static void make_gliders(espl_world *world, espl_entity *gliders)
{
    const espl_component bounds = espl_component_find(world, "bounds");
    const espl_component renderable = espl_component_find(world, "renderable");
    const espl_bounds box = {.half = {1, 1, 1}};

    for (uint32_t i = 0; i < GLIDERS; ++i) {
        espl_transform at = espl_transform_identity();
        const espl_renderable drawn = {.key = 7, .user_data = i};

        at.position[1] = (float)i;
        must(espl_create_node(world, espl_entity_null(), &at, NULL, &gliders[i]));
        must(espl_add_component(world, gliders[i], bounds, &box, sizeof box));
        must(espl_add_component(world, gliders[i], renderable, &drawn, sizeof drawn));
    }
}

int main(void)
{
    static espl_entity gliders[GLIDERS];
    static renderer r;
    const espl_renderables_def def = {.readers = 1, .user_size = sizeof(tick_data)};
    const float ahead[3] = {1, 0, 0};
    espl_world *world = NULL;
    pthread_t thread;

    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, &def, &r.renderables));
    must(espl_visible_create(NULL, &r.visible));
    make_gliders(world, gliders);
    if (pthread_create(&thread, NULL, run_renderer, &r) != 0) {
        return EXIT_FAILURE;
    }
    tick_data data = {.tick = 0};

    for (data.tick = 1; data.tick <= TICKS; ++data.tick) {
        for (int i = 0; i < GLIDERS; ++i) {
            must(espl_translate_own(world, gliders[i], ahead));
        }
        data.jumper += 1;
        if (data.tick == JUMP) {
            data.jumper = -1000;
            must(espl_write_one(world, gliders[0], ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT,
                                (float[]){data.jumper, 0, 0}));
        }
        must(espl_renderables_update(r.renderables, &data, NULL));
    }
    atomic_store(&r.has_ended, true);
    pthread_join(thread, NULL);
    printf("the renderer drew frames: %s, of them wrong: %zu, the last of tick %d\n",
           r.frames != 0 ? "yes" : "no", r.wrong, (int)r.last);
    espl_visible_destroy(r.visible);
    espl_renderables_destroy(r.renderables);
    espl_world_destroy(world);
    return r.wrong == 0 && r.last == TICKS ? EXIT_SUCCESS : EXIT_FAILURE;
}

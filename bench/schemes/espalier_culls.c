// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `cull`: renderables, and what cameras see of their mirror.
#include "bench/schemes/espalier.h"

#include <espalier/renderables.h>

void espalier_free_culls(struct scheme_world *world)
{
    espl_visible_destroy(world->visible);
    espl_renderables_destroy(world->renderables);
}

void espalier_furnish(struct scheme_world *world, const struct scheme_look *looks, size_t count)
{
    must(espl_renderables_create(world->world, NULL, &world->renderables),
         "espl_renderables_create");
    must(espl_visible_create(NULL, &world->visible), "espl_visible_create");
    const espl_component bounds = espl_component_find(world->world, "bounds");
    const espl_component renderable = espl_component_find(world->world, "renderable");
    const espl_component_value values[2] = {
        {.component = bounds, .size = sizeof(espl_bounds)},
        {.component = renderable, .size = sizeof(espl_renderable)}};
    const espl_change_def change = {.add = values, .add_count = 2};

    must(espl_change_components_array(world->world, world->nodes, count, &change, NULL),
         "espl_change_components_array");
    for (size_t i = 0; i < count; ++i) {
        const espl_renderable look = {.key = looks[i].key};
        espl_bounds box = {{0, 0, 0}, {0, 0, 0}};

        memcpy(box.half, looks[i].half, sizeof box.half);
        must(espl_set_component(world->world, world->nodes[i], bounds, &box, sizeof box),
             "espl_set_component");
        must(espl_set_component(world->world, world->nodes[i], renderable, &look, sizeof look),
             "espl_set_component");
    }
    espalier_refresh(world);
}

void espalier_refresh(struct scheme_world *world)
{
    must(espl_renderables_update(world->renderables, NULL, NULL), "espl_renderables_update");
}

void espalier_cull(struct scheme_world *world, const struct scheme_camera *cameras,
                   struct scheme_sight *sights, size_t count)
{
    espl_camera wanted[ESPL_CAMERA_LIMIT];
    const espl_cull_def def = {.executor = world->workers > 1 ? &world->executor : NULL};

    world->times = (struct frame_times){0};
    for (size_t i = 0; i < count; ++i) {
        wanted[i] = (espl_camera){.plane_count = SCHEME_PLANES, .layers = UINT32_MAX};
        memcpy(wanted[i].planes, cameras[i].planes, sizeof cameras[i].planes);
    }
    must(espl_cull(world->visible, espl_renderables_acquire(world->renderables), wanted, count,
                   &def),
         "espl_cull");
    for (size_t i = 0; i < count; ++i) {
        const espl_instance_arrays arrays = {.matrices = sights[i].matrices,
                                             .executor = def.executor};
        size_t groups = 0;
        const espl_group *const group = espl_visible_groups(world->visible, i, &groups);

        must(espl_visible_write(world->visible, i, &arrays), "espl_visible_write");
        sights[i].count = groups != 0 ? group[groups - 1].first + group[groups - 1].count : 0;
    }
}

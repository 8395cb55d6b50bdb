// SPDX-License-Identifier: MIT
// Layers: one write hides a car with all of its parts, in one view or in all. An entity without the component
// hides nothing below it, and one with ESPL_LAYERS_ABSOLUTE does not ask its parent.
#include "common.h"

#include <espalier/renderables.h>

enum { LAYER_GAME = 1, LAYER_MAP = 2, LAYER_EDITOR = 4, WHEELS = 4 };

static espl_world *world;
static espl_renderables *renderables;
static espl_visible *visible;
static espl_component bounds, renderable, layers;

static espl_entity make_part(espl_entity parent, const char *name)
{
    const espl_bounds box = {{0, 0, 0}, {1, 1, 1}};
    const espl_renderable look = {0, 0, 0};
    const espl_transform at = espl_transform_identity();
    espl_entity part;

    must(espl_create_node(world, parent, &at, name, &part));
    must(espl_add_component(world, part, bounds, &box, sizeof box));
    must(espl_add_component(world, part, renderable, &look, sizeof look));
    return part;
}

static void set_layers(espl_entity entity, uint32_t mask, uint32_t flags)
{
    const espl_layers value = {mask, flags};

    must(espl_add_component(world, entity, layers, &value, sizeof value));
}

// Count what each view shows.
static void show(const char *what)
{
    static const uint32_t masks[] = {LAYER_GAME, LAYER_MAP, LAYER_EDITOR};
    espl_camera cameras[3] = {{.plane_count = 0}};
    size_t shown[3] = {0};

    for (int i = 0; i < 3; ++i) {
        cameras[i].layers = masks[i];
    }
    must(espl_renderables_update(renderables, NULL, NULL));
    must(espl_cull(visible, espl_renderables_acquire(renderables), cameras, 3, NULL));
    for (size_t i = 0; i < 3; ++i) {
        size_t count = 0;
        const espl_group *const groups = espl_visible_groups(visible, i, &count);

        shown[i] = count != 0 ? groups[0].count : 0;
    }
    printf("%-34s game %zu, map %zu, editor %zu\n", what, shown[0], shown[1], shown[2]);
}

int main(void)
{
    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    must(espl_visible_create(NULL, &visible));
    bounds = espl_component_find(world, "bounds");
    renderable = espl_component_find(world, "renderable");
    layers = espl_component_find(world, "layers");

    const espl_entity car = make_part(espl_entity_null(), "car");
    const espl_entity axle = make_part(car, "axle");

    for (int i = 0; i < WHEELS; ++i) {
        (void)make_part(axle, "wheel");
    }
    show("nothing has layers:");
    set_layers(axle, LAYER_GAME | LAYER_EDITOR, 0);
    show("the axle is not on the map:");
    set_layers(car, LAYER_MAP | LAYER_EDITOR, 0);
    show("the car is not in the game:");

    const espl_entity marker = make_part(car, "marker");

    set_layers(marker, LAYER_GAME | LAYER_MAP, ESPL_LAYERS_ABSOLUTE);
    show("its marker does not ask the car:");
    set_layers(car, 0, 0);
    show("the car is hidden:");
    must(espl_remove_component(world, car, layers));
    show("and shown again:");

    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return 0;
}

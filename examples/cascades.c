// SPDX-License-Identifier: MIT
// Shadows in cascades: the part of the scene that the camera sees is cut into slices by distance, and each
// slice gets a shadow map of its own, a camera without a near plane that looks along the light. One call culls
// the camera and all cascades. What casts no shadow has no bit of the layer of shadows.
#include "common.h"

#include <espalier/renderables.h>

enum { CASCADES = 3, TREES = 30, LAYER_SEEN = 1, LAYER_SHADOW = 2 };

static const float slices[CASCADES + 1] = {1, 12, 40, 120};

// A box around a tree, which casts a shadow, or around a lamp, which does not.
static void make_thing(espl_world *world, float x, float z, bool is_lamp)
{
    const espl_component bounds = espl_component_find(world, "bounds");
    const espl_component renderable = espl_component_find(world, "renderable");
    const espl_component layers = espl_component_find(world, "layers");
    const espl_bounds box = {{0, 2, 0}, {1, 2, 1}};
    const espl_renderable look = {is_lamp, 0, 0};
    const espl_layers in = {is_lamp ? LAYER_SEEN : LAYER_SEEN | LAYER_SHADOW, 0};
    espl_transform at = espl_transform_identity();
    espl_entity thing;

    at.position[0] = x, at.position[2] = z;
    must(espl_create_node(world, espl_entity_null(), &at, NULL, &thing));
    must(espl_add_component(world, thing, bounds, &box, sizeof box));
    must(espl_add_component(world, thing, renderable, &look, sizeof look));
    must(espl_add_component(world, thing, layers, &in, sizeof in));
}

// Looks along -Z from height 2, with an angle of 90 degrees.
static espl_camera viewer(void)
{
    const float near = slices[0], far = slices[CASCADES], a = far / (near - far);
    const float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, a, -1, 0, -2, near * a, 0};
    espl_camera camera;

    must(espl_camera_from_matrix(matrix, ESPL_CLIP_ZERO_TO_ONE, &camera));
    camera.layers = LAYER_SEEN;
    return camera;
}

// A slice of that view fits into a box, whose sides along the light, straight down here, are four planes. What
// is above it casts shadows into it, so that there is no plane towards the light. Below the ground is nothing.
static espl_camera cascade(float near, float far)
{
    const float planes[5][4] = {
        {1, 0, 0, far}, {-1, 0, 0, far}, {0, 0, -1, -near}, {0, 0, 1, far}, {0, 1, 0, 0}};
    espl_camera camera = {.plane_count = 5, .layers = LAYER_SHADOW};

    for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < 4; ++k) {
            camera.planes[i][k] = planes[i][k];
        }
    }
    return camera;
}

static uint32_t count_seen(const espl_visible *visible, size_t camera)
{
    size_t count = 0;
    const espl_group *const groups = espl_visible_groups(visible, camera, &count);

    return count != 0 ? groups[count - 1].first + groups[count - 1].count : 0;
}

int main(void)
{
    espl_camera cameras[1 + CASCADES] = {viewer()};
    espl_world *world = NULL;
    espl_renderables *renderables = NULL;
    espl_visible *visible = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    must(espl_visible_create(NULL, &visible));
    for (int i = 0; i < TREES; ++i) {
        make_thing(world, (float)(i % 7 - 3) * 3, (float)-i * 5, i % 5 == 4);
    }
    for (int i = 0; i < CASCADES; ++i) {
        cameras[1 + i] = cascade(slices[i], slices[i + 1]);
    }

    must(espl_renderables_update(renderables, NULL, NULL));
    must(espl_cull(visible, espl_renderables_acquire(renderables), cameras, 1 + CASCADES, NULL));
    printf("the camera sees %u\n", count_seen(visible, 0));
    for (size_t i = 1; i <= CASCADES; ++i) {
        printf("cascade %zu, %g to %g: %u cast shadows\n", i, (double)slices[i - 1],
               (double)slices[i], count_seen(visible, i));
    }

    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return 0;
}

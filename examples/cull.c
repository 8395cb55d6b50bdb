// SPDX-License-Identifier: MIT
// Asteroids on rings, and three cameras: one looks at a part of a ring, one along the rings, one at all of
// them. Each gets groups, one for each kind of asteroid, and the matrices of what it sees, which an
// instanced draw of each group would take.
#include "common.h"

#include <espalier/renderables.h>

enum { RINGS = 3, ASTEROIDS = 400, KINDS = 4, CAMERAS = 3 };

static espl_component bounds, renderable;

// An asteroid has a box, and the number of its kind as the key that draws share.
static void make_asteroid(espl_world *world, espl_entity ring, int number)
{
    const espl_bounds box = {{0, 0, 0}, {1, 1, 1}};
    const espl_renderable kind = {(uint32_t)(number % KINDS), (uint32_t)number, 0};
    const float up[3] = {0, 1, 0}, out[3] = {50, 0, 0};
    espl_transform at = espl_transform_identity();
    espl_entity asteroid;

    must(espl_quat_from_axis_angle(up, (float)number * 6.2831853f / ASTEROIDS, at.rotation));
    espl_transform_convert(&at, ESPL_VECTOR_TO_WORLD, out, at.position);
    must(espl_create_node(world, ring, &at, NULL, &asteroid));
    must(espl_add_component(world, asteroid, bounds, &box, sizeof box));
    must(espl_add_component(world, asteroid, renderable, &kind, sizeof kind));
}

static void make_rings(espl_world *world)
{
    for (int r = 0; r < RINGS; ++r) {
        espl_transform at = espl_transform_identity();
        espl_entity ring;

        at.position[1] = (float)r * 10;
        must(espl_create_node(world, espl_entity_null(), &at, "ring", &ring));
        for (int i = 0; i < ASTEROIDS; ++i) {
            make_asteroid(world, ring, i);
        }
    }
}

// A camera that looks from a point along -Z, as far as `far`, with an angle of 90 degrees.
static espl_camera look_from(float x, float y, float z, float far)
{
    // Perspective for depths from 0 to 1, after a move by -x, -y, -z.
    const float near = 1, a = far / (near - far), b = near * a;
    const float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, a, -1, -x, -y, b - a * z, z};
    espl_camera camera;

    must(espl_camera_from_matrix(matrix, ESPL_CLIP_ZERO_TO_ONE, &camera));
    return camera;
}

static void show(const espl_visible *visible, size_t camera, float (*matrices)[12])
{
    const espl_instance_arrays arrays = {.matrices = matrices}; // a mapped buffer of the device
    size_t count = 0;
    const espl_group *const groups = espl_visible_groups(visible, camera, &count);

    must(espl_visible_write(visible, camera, &arrays));
    printf("camera %zu:", camera);
    for (size_t i = 0; i < count; ++i) {
        printf("  kind %u: %u from %u", groups[i].key, groups[i].count, groups[i].first);
    }
    if (count != 0) {
        printf("; the first at (%.1f, %.1f, %.1f)", (double)matrices[0][3], (double)matrices[0][7],
               (double)matrices[0][11]);
    }
    puts("");
}

int main(void)
{
    const espl_camera cameras[CAMERAS] = {look_from(50, 10, 8, 20), look_from(0, 10, 60, 200),
                                          look_from(0, 10, 400, 1000)};
    static float matrices[RINGS * ASTEROIDS][12];
    espl_world *world = NULL;
    espl_renderables *renderables = NULL;
    espl_renderables_report report;
    espl_visible *visible = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    bounds = espl_component_find(world, "bounds");
    renderable = espl_component_find(world, "renderable");
    make_rings(world);
    must(espl_visible_create(NULL, &visible));

    must(espl_renderables_update(renderables, NULL, &report));
    printf("%zu renderables\n", report.renderables);
    must(espl_cull(visible, espl_renderables_acquire(renderables), cameras, CAMERAS, NULL));
    for (size_t i = 0; i < CAMERAS; ++i) {
        show(visible, i, matrices);
    }

    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return 0;
}

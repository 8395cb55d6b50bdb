// SPDX-License-Identifier: MIT
// A camera follows a ship through a belt of rocks, 10^9 m from the origin. Each of them is in the cell of 2048 m
// where it is, and the camera is in that of the ship. Frames lie between two updates, and once in a while the ship
// comes to another cell and the whole world is moved: neither makes a step in what is drawn.
#include "common.h"

#include <espalier/far.h>
#include <espalier/renderables.h>

#include <math.h>

enum { ROCKS = 3000, UPDATES = 240, SPEED = 45 };

static const double start = 1e9;

static espl_entity make_drawn(espl_world *world, double x, double y, float half)
{
    const espl_transform at = espl_transform_identity();
    const espl_bounds box = {{0, 0, 0}, {half, half, half}};
    const espl_renderable look = {.key = half > 10 ? 1 : 2};
    espl_entity made;

    must(espl_create_node(world, espl_entity_null(), &at, NULL, &made));
    must(espl_add_component(world, made, espl_component_find(world, "bounds"), &box, sizeof box));
    must(espl_add_component(world, made, espl_component_find(world, "renderable"), &look,
                            sizeof look));
    must(espl_write_one(world, made, ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){x, y, 0}));
    return made;
}

static void move(espl_world *world, espl_entity ship)
{
    float position[3];

    must(espl_get_local_position(world, ship, position));
    position[0] += SPEED;
    must(espl_set_local_position(world, ship, position));
}

// A camera that sees 900 m to each side of the middle of the cell of a ship, and of the ship.
static espl_camera follow(const espl_world *world, espl_entity ship)
{
    espl_camera camera = {.planes = {{1, 0, 0, 0}, {-1, 0, 0, 0}}, .plane_count = 2, .layers = 1};
    espl_origin origin;

    must(espl_get_origin(world, ship, &origin));
    for (int k = 0; k < 3; ++k) {
        camera.cell[k] = origin.cell[k];
        camera.origin[k] = (double)origin.offset[k];
    }
    camera.planes[0][3] = 900 - origin.offset[0];
    camera.planes[1][3] = 900 + origin.offset[0];
    return camera;
}

int main(void)
{
    const espl_world_def def = {.cell_size = 2048};
    const espl_cull_def half_way = {.alpha = 0.5f, .flags = ESPL_CULL_INTERPOLATE};
    espl_world *world = NULL;
    espl_renderables *renderables = NULL;
    espl_visible *visible = NULL;
    size_t count, seen = 0, recentred = 0;
    double worst = 0;

    must(espl_world_create(&def, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    must(espl_visible_create(NULL, &visible));
    for (int i = 0; i < ROCKS; ++i) {
        (void)make_drawn(world, start + 7 * i, i * 37 % 500 - 250, 5);
    }
    const espl_entity ship = make_drawn(world, start, 0, 30);

    must(espl_renderables_update(renderables, NULL, NULL));
    for (int update = 1; update <= UPDATES; ++update) {
        static espl_pose drawn[ROCKS + 1];
        const espl_instance_arrays arrays = {.matrices = drawn, .form = ESPL_INSTANCE_POSE};

        move(world, ship);
        must(espl_recenter(world, 0.5f, &count));
        recentred += count;
        if (update % 60 == 0) {
            must(espl_rebase(world, (int32_t[3]){-100000, 0, 0}, NULL));
        }
        must(espl_renderables_update(renderables, NULL, NULL));
        const espl_camera camera = follow(world, ship);

        must(espl_cull(visible, espl_renderables_acquire(renderables), &camera, 1, &half_way));
        const espl_group *const groups = espl_visible_groups(visible, 0, &count);

        must(espl_visible_write(visible, 0, &arrays));
        // Key 1, the ship, comes first: half of a step behind the camera. Rocks follow.
        worst = fmax(worst, fabs((double)drawn[0].position[0] + SPEED / 2.0));
        seen += count > 1 ? groups[1].count : 0;
    }
    printf("%zu rocks seen in each frame, of %d\n", seen / UPDATES, ROCKS);
    printf("the ship came to another cell %zu times, and the world was moved %d times\n", recentred,
           UPDATES / 60);
    printf("it was drawn off its course by %.4f m at most\n", worst);
    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return EXIT_SUCCESS;
}

// SPDX-License-Identifier: MIT
// A turret that stays upright on a vehicle that leans: it takes the vehicle's position and direction, but
// its up axis is absolute. To follow a target in the air, the turret turns level and the barrel rises.
#include "common.h"

enum { HULL, TURRET, BARREL, PARTS, STEPS = 4 };

static void build(espl_world *world, espl_entity part[PARTS])
{
    // Up is absolute, forward is the hull's; where they are not at a right angle, up is the exact one.
    const espl_attach_options upright = {.inherit = ESPL_ABSOLUTE_UP | ESPL_STRICT_UP};

    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, PARTS, part));
    must(espl_set_world_position(world, part[TURRET], (float[]){0, 2, -1}));
    must(espl_set_world_position(world, part[BARREL], (float[]){0, 2.5f, -1}));
    must(espl_attach(world, part[TURRET], part[HULL], &upright));
    must(espl_attach(world, part[BARREL], part[TURRET], NULL));
}

static void aim(espl_world *world, const espl_entity part[PARTS], const float target[3])
{
    float level[3], pivot[3];

    must(espl_get_world_position(world, part[TURRET], pivot));
    level[0] = target[0], level[1] = pivot[1], level[2] = target[2];
    must(espl_look_at(world, part[TURRET], level, NULL, ESPL_AXIS_FORWARD));
    must(espl_look_at(world, part[BARREL], target, NULL, ESPL_AXIS_FORWARD));
}

int main(void)
{
    // Rotations that roll, pitch and turn; the library normalises them.
    const float ground[STEPS][4] = {{0, 0, 1, 8}, {-1, 0, 1, 8}, {-1, 4, 0, 8}, {1, 4, -1, 8}};
    espl_world *world = NULL;
    espl_entity part[PARTS];

    must(espl_world_create(NULL, &world));
    build(world, part);
    for (int i = 0; i < STEPS; ++i) {
        const float forward[3] = {1, 0, 5}, target[3] = {20 - 8 * (float)i, 6 + (float)i, 30};
        float up[3], seen[3];

        must(espl_write_one(world, part[HULL], ESPL_WRITE_TRANSLATE_WORLD, forward));
        must(espl_set_world_rotation(world, part[HULL], ground[i]));
        must(espl_get_axis(world, part[HULL], ESPL_AXIS_UP, up));
        print_vector("hull's up", up);
        must(espl_get_axis(world, part[TURRET], ESPL_AXIS_UP, up));
        print_vector(", turret's", up);
        must(espl_convert(world, part[BARREL], ESPL_POINT_TO_LOCAL, target, seen));
        print_vector("; the barrel sees the target at", seen);
        aim(world, part, target);
        must(espl_convert(world, part[BARREL], ESPL_POINT_TO_LOCAL, target, seen));
        print_vector(", then at", seen);
        puts("");
    }
    espl_world_destroy(world);
    return 0;
}

// SPDX-License-Identifier: MIT
// A turret on a vehicle that drives over rough ground. It moves and turns with the vehicle, but does
// not lean with it, for it keeps its up axis. To follow a target in the air the turret turns level,
// and the barrel on it rises.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>

enum { HULL, TURRET, BARREL, PARTS, STEPS = 4 };

static void must(espl_status status)
{
    if (status != ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// To two digits, and no zero with a sign.
static void say(const char *what, const float v[3])
{
    printf("%s", what);
    for (int i = 0; i < 3; ++i) {
        printf(" %.2f", (int)(v[i] * 100 + (v[i] < 0 ? -0.5f : 0.5f)) / 100.0);
    }
}

static void build(espl_world *world, espl_entity part[PARTS])
{
    // Up is kept and forward comes from the hull; where both cannot hold, up is the exact one.
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
    // Roll, pitch, turns; the library brings rotations to unit length.
    const float ground[STEPS][4] = {{0, 0, 1, 8}, {-1, 0, 1, 8}, {-1, 4, 0, 8}, {1, 4, -1, 8}};
    espl_world *world = NULL;
    espl_entity part[PARTS];

    must(espl_world_create(&world, NULL));
    build(world, part);
    for (int i = 0; i < STEPS; ++i) {
        const float forward[3] = {1, 0, 5}, target[3] = {20 - 8 * (float)i, 6 + (float)i, 30};
        float up[3], seen[3];

        must(espl_translate_world(world, part[HULL], forward));
        must(espl_set_world_rotation(world, part[HULL], ground[i]));
        must(espl_get_axis(world, part[HULL], ESPL_AXIS_UP, up));
        say("hull's up", up);
        must(espl_get_axis(world, part[TURRET], ESPL_AXIS_UP, up));
        say(", turret's", up);
        must(espl_point_to_local(world, part[BARREL], target, seen));
        say("; the barrel sees the target at", seen);
        aim(world, part, target);
        must(espl_point_to_local(world, part[BARREL], target, seen));
        say(", then at", seen);
        puts("");
    }
    espl_world_destroy(world);
    return 0;
}

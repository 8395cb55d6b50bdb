// SPDX-License-Identifier: MIT
// Inherit flags: the boom of a camera follows an actor's position, but not his rotation and scale; the
// health bar above his head does not take his rotation. A change of flags by itself moves nothing.
#include "common.h"

enum { ACTOR, BOOM, CAMERA, BAR, PARTS };

static espl_entity part[PARTS];

// Attach a part where it stands, with inherit flags.
static void attach_part(espl_world *world, int child, int parent, float y, float z,
                        uint32_t inherit)
{
    must(espl_set_world_position(world, part[child], (float[]){0, y, z}));
    must(espl_attach(world, part[child], part[parent], &(espl_attach_options){.inherit = inherit}));
}

// Turn the camera to the actor's head, and print where everything is.
static void film(espl_world *world, const char *what)
{
    float at[3], head[3];

    must(espl_convert(world, part[ACTOR], ESPL_POINT_TO_WORLD, (float[]){0, 2, 0}, head));
    must(espl_look_at(world, part[CAMERA], head, NULL, ESPL_AXIS_FORWARD));
    must(espl_get_world_position(world, part[CAMERA], at));
    print_vector(what, at);
    must(espl_convert(world, part[CAMERA], ESPL_POINT_TO_LOCAL, head, head));
    print_vector(", sees the head at", head);
    must(espl_get_world_position(world, part[BAR], at));
    print_vector("; bar", at);
    must(espl_get_axis(world, part[BAR], ESPL_AXIS_RIGHT, at));
    print_vector(" along", at);
    puts("");
}

int main(void)
{
    const float walk[3] = {3, 0, 1}, turn[4] = {0, 3, 0, 4}; // 74 degrees to the right
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, PARTS, part));
    attach_part(world, BOOM, ACTOR, 1.5f, 0, ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE);
    attach_part(world, CAMERA, BOOM, 2.5f, -5, 0);
    attach_part(world, BAR, ACTOR, 2.5f, 0, ESPL_ABSOLUTE_ROTATION);
    film(world, "At first: camera");
    must(espl_write_one(world, part[ACTOR], ESPL_WRITE_TRANSLATE_WORLD, walk));
    must(espl_write_one(world, part[ACTOR], ESPL_WRITE_ROTATE_WORLD, turn));
    film(world, "He walks: camera");
    must(espl_write_one(world, part[ACTOR], ESPL_WRITE_MULTIPLY_SCALE, &(const float){2}));
    film(world, "He grows: camera");

    // From now on the boom takes his rotation, so the camera goes round him.
    must(espl_set_inherit(world, part[BOOM], ESPL_ABSOLUTE_SCALE));
    film(world, "Released: camera");
    must(espl_write_one(world, part[ACTOR], ESPL_WRITE_ROTATE_WORLD, turn));
    film(world, "He turns: camera");
    espl_world_destroy(world);
    return 0;
}

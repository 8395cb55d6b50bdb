// SPDX-License-Identifier: MIT
// A camera boom rides with an actor, but takes neither his rotation nor his scale; the health bar
// over his head takes no rotation. Changing such a flag at run time moves nothing by itself.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>

enum { ACTOR, BOOM, CAMERA, BAR, PARTS };

static espl_entity part[PARTS];

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

// Attach a part where it stands.
static void hang(espl_world *world, int child, int parent, float y, float z, uint32_t inherit)
{
    must(espl_set_world_position(world, part[child], (float[]){0, y, z}));
    must(espl_attach(world, part[child], part[parent], &(espl_attach_options){.inherit = inherit}));
}

// Look at the actor's head, and say where everything is.
static void film(espl_world *world, const char *what)
{
    float at[3], head[3];

    must(espl_point_to_world(world, part[ACTOR], (float[]){0, 2, 0}, head));
    must(espl_look_at(world, part[CAMERA], head, NULL, ESPL_AXIS_FORWARD));
    must(espl_get_world_position(world, part[CAMERA], at));
    say(what, at);
    must(espl_point_to_local(world, part[CAMERA], head, head));
    say(", sees the head at", head);
    must(espl_get_world_position(world, part[BAR], at));
    say("; bar", at);
    must(espl_get_axis(world, part[BAR], ESPL_AXIS_RIGHT, at));
    say(" along", at);
    puts("");
}

int main(void)
{
    const float walk[3] = {3, 0, 1}, turn[4] = {0, 3, 0, 4}; // 74 degrees to the right
    espl_world *world = NULL;

    must(espl_world_create(&world, NULL));
    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, PARTS, part));
    hang(world, BOOM, ACTOR, 1.5f, 0, ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE);
    hang(world, CAMERA, BOOM, 2.5f, -5, 0);
    hang(world, BAR, ACTOR, 2.5f, 0, ESPL_ABSOLUTE_ROTATION);
    film(world, "At first: camera");
    must(espl_translate_world(world, part[ACTOR], walk));
    must(espl_rotate_world(world, part[ACTOR], turn));
    film(world, "He walks: camera");
    must(espl_multiply_scale(world, part[ACTOR], 2));
    film(world, "He grows: camera");

    // From now on the boom turns with him, and the camera goes round.
    must(espl_set_inherit(world, part[BOOM], ESPL_ABSOLUTE_SCALE));
    film(world, "Released: camera");
    must(espl_rotate_world(world, part[ACTOR], turn));
    film(world, "He turns: camera");
    espl_world_destroy(world);
    return 0;
}

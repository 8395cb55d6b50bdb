// SPDX-License-Identifier: MIT
// A camera for a renderer, with cglm: it hangs behind a ship and looks at its bow. Its view matrix is read
// from the world, its projection is cglm's, and both together give the pixels of three buoys. tests/camera.awk
// computes the pixels anew from what is printed.
#include "common.h"

#include <espalier/cglm.h>

enum { WIDTH = 1280, HEIGHT = 720, BUOYS = 3 };

static const float up[3] = {0, 1, 0}, bow[3] = {0, 2, 4};

// The camera of cglm, OpenGL and glTF looks along -Z.
static void aim(espl_world *world, espl_entity camera, espl_entity ship, float target[3])
{
    must(espl_convert(world, ship, ESPL_POINT_TO_WORLD, bow, target));
    must(espl_look_at(world, camera, target, up, ESPL_AXIS_BACK));
}

static void draw(espl_world *world, espl_entity camera, espl_entity buoy)
{
    float at[3];
    vec4 clip = {0, 0, 0, 1};
    mat4 view = GLM_MAT4_IDENTITY_INIT, projection, both;

    must(espl_get_view_mat4(world, camera, view));
    glm_perspective(glm_rad(60), (float)WIDTH / HEIGHT, 0.1f, 1000, projection);
    glm_mat4_mul(projection, view, both);
    must(espl_get_world_position(world, buoy, at));
    espl_from_vec3(at, clip);
    glm_mat4_mulv(both, clip, clip);
    print_vector("  buoy at", at);
    if (clip[3] <= 0) {
        puts(" is behind the camera");
    } else {
        printf(" is drawn at %.1f, %.1f\n", (double)((1 + clip[0] / clip[3]) * WIDTH / 2),
               (double)((1 - clip[1] / clip[3]) * HEIGHT / 2));
    }
}

int main(void)
{
    const float places[BUOYS][3] = {{60, 1, 44}, {45, 2, 55}, {0, 0, 50}}, sail[3] = {0, 0, 10};
    const espl_entity none = espl_entity_null();
    espl_transform at = espl_transform_identity();
    espl_entity ship, camera, buoys[BUOYS];
    espl_world *world = NULL;
    versor to_the_right;

    must(espl_world_create(NULL, &world));
    for (int i = 0; i < BUOYS; ++i) {
        espl_from_vec3(places[i], at.position);
        must(espl_create_node(world, none, &at, "buoy", &buoys[i]));
    }
    glm_quat(to_the_right, glm_rad(90), 0, 1, 0); // +Z, the ship's forward, becomes +X
    espl_from_versor(to_the_right, at.rotation);
    espl_from_vec3((vec3){30, 0, 50}, at.position);
    must(espl_create_node(world, none, &at, "ship", &ship));
    at = espl_transform_identity();
    espl_from_vec3((vec3){0, 6, -16}, at.position);
    must(espl_create_node(world, ship, &at, "camera", &camera));

    for (int frame = 0; frame < 2; ++frame) {
        float place[3], target[3];

        aim(world, camera, ship, target);
        must(espl_get_world_position(world, camera, place));
        print_vector("camera at", place);
        print_vector(" looks at", target);
        puts("");
        for (int i = 0; i < BUOYS; ++i) {
            draw(world, camera, buoys[i]);
        }
        must(espl_translate_own(world, ship, sail));
    }
    espl_world_destroy(world);
    return 0;
}

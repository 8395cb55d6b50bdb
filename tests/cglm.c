// SPDX-License-Identifier: MIT
// The program of tests/cglm.sh, which compiles it with and without -mavx: what espalier/cglm.h copies is what
// cglm means by it.
#include <espalier/cglm.h>
#include <espalier/espalier.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEMAND(condition)                                           \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                \
        }                                                           \
    } while (0)

static int is_near(const float *a, const float *b, int count, float tolerance)
{
    for (int i = 0; i < count; ++i) {
        if (!(fabsf(a[i] - b[i]) <= tolerance)) {
            return 0;
        }
    }
    return 1;
}

// Floats of the library that are aligned to 4 bytes and no more, next to guards.
typedef struct apart {
    float before, numbers[16], after;
} apart;

static void test_bits(void)
{
    const unsigned bits[4] = {0x80000000u, 0x7fc12345u, 0x00000001u, 0x3f800001u};
    apart from = {7, {0}, 9}, back = {7, {0}, 9};
    versor rotation;
    vec3 vector = {0, 0, 0};

    memcpy(from.numbers, bits, sizeof bits);
    espl_to_versor(from.numbers, rotation);
    DEMAND(memcmp(rotation, bits, sizeof bits) == 0);
    espl_from_versor(rotation, back.numbers);
    DEMAND(memcmp(&back, &from, sizeof back) == 0);
    espl_to_vec3(from.numbers, vector);
    DEMAND(memcmp(vector, bits, 3 * sizeof *bits) == 0);
    memset(back.numbers, 0, sizeof back.numbers);
    espl_from_vec3(vector, back.numbers);
    DEMAND(memcmp(back.numbers, bits, 3 * sizeof *bits) == 0 && back.numbers[3] == 0);
    DEMAND(back.before == 7 && back.after == 9);
}

// A quarter turn about +Y takes +Z to +X, in both libraries: w is the last of four.
static void test_order(void)
{
    const float angle = 2 * atanf(1), about_y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    espl_transform turned = espl_transform_identity();
    float x[3];
    vec3 axis = {0, 1, 0}, v = {0, 0, 1};
    versor q;

    glm_quatv(q, angle, axis);
    espl_from_versor(q, turned.rotation);
    espl_transform_convert(&turned, ESPL_VECTOR_TO_WORLD, z, x);
    glm_quat_rotatev(q, v, v);
    DEMAND(is_near(x, v, 3, 1e-6f) && is_near(x, (float[]){1, 0, 0}, 3, 1e-6f));
    espl_quat_from_axis_angle(about_y, angle, turned.rotation);
    espl_to_versor(turned.rotation, q);
    DEMAND(is_near(q, turned.rotation, 4, 0) && fabsf(q[3] - sqrtf(0.5f)) < 1e-6f);
}

static espl_transform some_transform(void)
{
    const espl_transform t = {{0.5f, -0.5f, 0.5f, 0.5f}, {3, -4, 5}, 2, {1, 3, 1}, 0};

    return t;
}

static void test_columns(void)
{
    const espl_transform t = some_transform();
    espl_transform back = espl_transform_identity(), kept = back;
    float columns[16];
    vec3 position, factors, p = {1, 2, 3}, by_cglm;
    const float at[3] = {1, 2, 3};
    float by_espalier[3];
    versor rotation;
    mat4 matrix, expected;

    espl_to_mat4(&t, matrix);
    espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
    DEMAND(memcmp(matrix, columns, sizeof columns) == 0);
    DEMAND(matrix[3][0] == 3 && matrix[3][1] == -4 && matrix[3][2] == 5 && matrix[3][3] == 1);
    // As cglm makes it of the same parts.
    espl_to_vec3(t.position, position);
    espl_to_versor(t.rotation, rotation);
    for (int i = 0; i < 3; ++i) {
        factors[i] = t.scale * t.stretch[i];
    }
    glm_translate_make(expected, position);
    glm_quat_rotate(expected, rotation, expected);
    glm_scale(expected, factors);
    DEMAND(is_near(&matrix[0][0], &expected[0][0], 16, 1e-5f));
    glm_mat4_mulv3(matrix, p, 1, by_cglm);
    espl_transform_convert(&t, ESPL_POINT_TO_WORLD, at, by_espalier);
    DEMAND(is_near(by_cglm, by_espalier, 3, 1e-5f));
    // And back: the factors are in the stretch, because they are not equal.
    DEMAND(espl_from_mat4(matrix, &back) == ESPL_OK);
    DEMAND(back.scale == 1 && is_near(back.stretch, factors, 3, 1e-5f));
    DEMAND(is_near(back.position, t.position, 3, 0) &&
           is_near(back.rotation, t.rotation, 4, 1e-6f));
    for (int i = 0; i < 3; ++i) {
        matrix[1][i] += matrix[0][i];
    }
    back = kept;
    DEMAND(espl_from_mat4(matrix, &back) == ESPL_ERR_SHEAR);
    DEMAND(memcmp(&back, &kept, sizeof back) == 0);
}

static void test_world(void)
{
    const float target[3] = {10, 1, -30};
    const espl_entity none = espl_entity_null();
    espl_transform t = some_transform(), placed;
    espl_entity parent, camera;
    espl_world *world = NULL;
    float columns[16];
    vec3 eye, center, up = {0, 1, 0};
    mat4 matrix, view, expected;

    memset(matrix, 0, sizeof matrix);
    DEMAND(!espl_failed(espl_world_create(NULL, &world)));
    DEMAND(!espl_failed(espl_create_node(world, none, &t, "tripod", &parent)));
    DEMAND(!espl_failed(espl_create_node(world, parent, &t, "camera", &camera)));
    DEMAND(!espl_failed(espl_look_at(world, camera, target, NULL, ESPL_AXIS_BACK)));
    DEMAND(espl_get_mat4(world, camera, matrix) == ESPL_OK);
    DEMAND(espl_get_matrix(world, camera, ESPL_MATRIX_4X4, columns) == ESPL_OK);
    DEMAND(memcmp(matrix, columns, sizeof columns) == 0);
    // The view is that of cglm's right-handed camera, however large the tripod is.
    DEMAND(espl_get_world_transform(world, camera, &placed) == ESPL_OK);
    espl_to_vec3(placed.position, eye);
    espl_to_vec3(target, center);
    glm_lookat(eye, center, up, expected);
    DEMAND(espl_get_view_mat4(world, camera, view) == ESPL_OK);
    DEMAND(is_near(&view[0][0], &expected[0][0], 16, 1e-4f));
    // Refused, they write nothing.
    DEMAND(!espl_failed(espl_destroy(world, camera, ESPL_EXTENT_OWNED)));
    memcpy(expected, view, sizeof view);
    DEMAND(espl_get_view_mat4(world, camera, view) == ESPL_ERR_DEAD);
    DEMAND(espl_get_mat4(world, camera, view) == ESPL_ERR_DEAD);
    DEMAND(memcmp(view, expected, sizeof view) == 0);
    espl_world_destroy(world);
}

int main(void)
{
    // 32 with -mavx: the program is what it is meant to be.
    printf("mat4 is aligned to %d\n", (int)_Alignof(mat4));
    test_bits();
    test_order();
    test_columns();
    test_world();
    return 0;
}

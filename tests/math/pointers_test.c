// SPDX-License-Identifier: MIT
// NULL for each pointer that a function of quat.h or of transform.h takes, in any build. Where NULL
// is allowed the call is carried out; otherwise nothing is written, and the answer is
// ESPL_ERR_ARGUMENT or the identity. tests/pointers.sh compares the rows with the headers.
#include "tests/pointer_rows.h"
#include "tests/runner.h"

#include <espalier/quat.h>
#include <espalier/transform.h>

#include <string.h>

// What the calls may write to, and what they read.
struct things {
    espl_transform t, u;
    float f[16], g[16], h[16];
};

static const espl_transform placed = {{0, 0, 0, 1}, {1, 2, 3}, 2, {1, 1, 1}, 7};
static const float numbers[16] = {0, 0, 0, 1};

static espl_status neutral(bool is_neutral)
{
    return is_neutral ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

static bool is_identity(espl_transform transform)
{
    const espl_transform identity = espl_transform_identity();

    return memcmp(&transform, &identity, sizeof transform) == 0;
}

#define SILENT(call) ((call), ESPL_ERR_ARGUMENT)

// X(function, parameter, call)

#define OPTIONAL_ROWS(X)                                    \
    X(espl_transform_from_matrix, residual, from_matrix(k)) \
    X(espl_transform_look_at, up,                           \
      espl_transform_look_at(&k->t, placed.position, NULL, ESPL_AXIS_FORWARD))

#define QUAT_ROWS(X)                                                                  \
    X(espl_quat_between, out, espl_quat_between(numbers, numbers, NULL))              \
    X(espl_quat_between, from, espl_quat_between(NULL, numbers, k->f))                \
    X(espl_quat_between, to, espl_quat_between(numbers, NULL, k->f))                  \
    X(espl_quat_conjugate, out, SILENT(espl_quat_conjugate(numbers, NULL)))           \
    X(espl_quat_conjugate, quat, SILENT(espl_quat_conjugate(NULL, k->f)))             \
    X(espl_quat_from_axis_angle, out, espl_quat_from_axis_angle(numbers, 1, NULL))    \
    X(espl_quat_from_axis_angle, axis, espl_quat_from_axis_angle(NULL, 1, k->f))      \
    X(espl_quat_from_euler, out, espl_quat_from_euler(numbers, ESPL_EULER_XYZ, NULL)) \
    X(espl_quat_from_euler, angles, espl_quat_from_euler(NULL, ESPL_EULER_XYZ, k->f)) \
    X(espl_quat_from_wxyz, out, SILENT(espl_quat_from_wxyz(1, 0, 0, 0, NULL)))        \
    X(espl_quat_identity, out, SILENT(espl_quat_identity(NULL)))                      \
    X(espl_quat_multiply, out, SILENT(espl_quat_multiply(numbers, numbers, NULL)))    \
    X(espl_quat_multiply, a, SILENT(espl_quat_multiply(NULL, numbers, k->f)))         \
    X(espl_quat_multiply, b, SILENT(espl_quat_multiply(numbers, NULL, k->f)))         \
    X(espl_quat_nlerp, out, SILENT(espl_quat_nlerp(numbers, numbers, 0, NULL)))       \
    X(espl_quat_nlerp, a, SILENT(espl_quat_nlerp(NULL, numbers, 0, k->f)))            \
    X(espl_quat_nlerp, b, SILENT(espl_quat_nlerp(numbers, NULL, 0, k->f)))            \
    X(espl_quat_normalize, quat, espl_quat_normalize(NULL))                           \
    X(espl_quat_rotate, out, SILENT(espl_quat_rotate(numbers, numbers, NULL)))        \
    X(espl_quat_rotate, quat, SILENT(espl_quat_rotate(NULL, numbers, k->f)))          \
    X(espl_quat_rotate, vector, SILENT(espl_quat_rotate(numbers, NULL, k->f)))        \
    X(espl_quat_slerp, out, SILENT(espl_quat_slerp(numbers, numbers, 0, NULL)))       \
    X(espl_quat_slerp, a, SILENT(espl_quat_slerp(NULL, numbers, 0, k->f)))            \
    X(espl_quat_slerp, b, SILENT(espl_quat_slerp(numbers, NULL, 0, k->f)))            \
    X(espl_quat_to_axis_angle, axis, espl_quat_to_axis_angle(numbers, NULL, k->f))    \
    X(espl_quat_to_axis_angle, angle, espl_quat_to_axis_angle(numbers, k->f, NULL))   \
    X(espl_quat_to_axis_angle, quat, espl_quat_to_axis_angle(NULL, k->f, k->g))       \
    X(espl_quat_to_euler, angles, espl_quat_to_euler(numbers, ESPL_EULER_XYZ, NULL))  \
    X(espl_quat_to_euler, quat, espl_quat_to_euler(NULL, ESPL_EULER_XYZ, k->f))       \
    X(espl_quat_to_wxyz, out, SILENT(espl_quat_to_wxyz(numbers, NULL)))               \
    X(espl_quat_to_wxyz, quat, SILENT(espl_quat_to_wxyz(NULL, k->f)))

#define REQUIRED_ROWS(X)                                                                           \
    QUAT_ROWS(X)                                                                                   \
    X(espl_transform_axis, out, SILENT(espl_transform_axis(&placed, ESPL_AXIS_UP, NULL)))          \
    X(espl_transform_axis, frame, SILENT(espl_transform_axis(NULL, ESPL_AXIS_UP, k->f)))           \
    X(espl_transform_compose, parent, neutral(is_identity(espl_transform_compose(NULL, &placed)))) \
    X(espl_transform_compose, local, neutral(is_identity(espl_transform_compose(&placed, NULL))))  \
    X(espl_transform_convert, out,                                                                 \
      SILENT(espl_transform_convert(&placed, ESPL_POINT_TO_WORLD, numbers, NULL)))                 \
    X(espl_transform_convert, frame,                                                               \
      SILENT(espl_transform_convert(NULL, ESPL_POINT_TO_WORLD, numbers, k->f)))                    \
    X(espl_transform_convert, value,                                                               \
      SILENT(espl_transform_convert(&placed, ESPL_POINT_TO_WORLD, NULL, k->f)))                    \
    X(espl_transform_to_matrix, out,                                                               \
      SILENT(espl_transform_to_matrix(&placed, ESPL_MATRIX_3X4, NULL)))                            \
    X(espl_transform_to_matrix, transform,                                                         \
      SILENT(espl_transform_to_matrix(NULL, ESPL_MATRIX_3X4, k->f)))                               \
    X(espl_transform_from_matrix, out, espl_transform_from_matrix(numbers, NULL, k->f))            \
    X(espl_transform_from_matrix, columns, espl_transform_from_matrix(NULL, &k->t, k->f))          \
    X(espl_transform_from_trs, out, espl_transform_from_trs(numbers, numbers, numbers, NULL))      \
    X(espl_transform_from_trs, translation,                                                        \
      espl_transform_from_trs(NULL, numbers, numbers, &k->t))                                      \
    X(espl_transform_from_trs, rotation, espl_transform_from_trs(numbers, NULL, numbers, &k->t))   \
    X(espl_transform_from_trs, scale, espl_transform_from_trs(numbers, numbers, NULL, &k->t))      \
    X(espl_transform_inherit, parent,                                                              \
      neutral(is_identity(espl_transform_inherit(NULL, &placed, &placed, ESPL_ABSOLUTE_X))))       \
    X(espl_transform_inherit, local,                                                               \
      neutral(is_identity(espl_transform_inherit(&placed, NULL, &placed, ESPL_COPY_PARENT))))      \
    X(espl_transform_inherit, kept,                                                                \
      neutral(is_identity(espl_transform_inherit(&placed, &placed, NULL, 0))))                     \
    X(espl_transform_is_mirrored, transform, neutral(!espl_transform_is_mirrored(NULL)))           \
    X(espl_transform_lerp, out, espl_transform_lerp(&placed, &placed, 0, NULL))                    \
    X(espl_transform_lerp, a, espl_transform_lerp(NULL, &placed, 0, &k->t))                        \
    X(espl_transform_lerp, b, espl_transform_lerp(&placed, NULL, 0, &k->t))                        \
    X(espl_transform_look_at, transform,                                                           \
      espl_transform_look_at(NULL, numbers, numbers, ESPL_AXIS_UP))                                \
    X(espl_transform_look_at, target, espl_transform_look_at(&k->t, NULL, numbers, ESPL_AXIS_UP))  \
    X(espl_transform_normalize, transform, espl_transform_normalize(NULL))                         \
    X(espl_transform_relative, local, espl_transform_relative(&placed, &placed, NULL))             \
    X(espl_transform_relative, parent, espl_transform_relative(NULL, &placed, &k->t))              \
    X(espl_transform_relative, world, espl_transform_relative(&placed, NULL, &k->t))               \
    X(espl_transform_rotate_about, transform, espl_transform_rotate_about(NULL, numbers, numbers)) \
    X(espl_transform_rotate_about, pivot, espl_transform_rotate_about(&k->t, NULL, numbers))       \
    X(espl_transform_rotate_about, rotation, espl_transform_rotate_about(&k->t, numbers, NULL))    \
    X(espl_transform_to_trs, transform, SILENT(espl_transform_to_trs(NULL, k->f, k->g, k->h)))     \
    X(espl_transform_to_trs, translation,                                                          \
      SILENT(espl_transform_to_trs(&placed, NULL, k->g, k->h)))                                    \
    X(espl_transform_to_trs, rotation, SILENT(espl_transform_to_trs(&placed, k->f, NULL, k->h)))   \
    X(espl_transform_to_trs, scale, SILENT(espl_transform_to_trs(&placed, k->f, k->g, NULL)))

static espl_status from_matrix(things *k)
{
    float columns[16];

    espl_transform_to_matrix(&placed, ESPL_MATRIX_4X4, columns);
    return espl_transform_from_matrix(columns, &k->t, NULL);
}

OPTIONAL_ROWS(AS_FUNCTION)
REQUIRED_ROWS(AS_FUNCTION)

static const pointer_row optional_rows[] = {OPTIONAL_ROWS(AS_ROW)};
static const pointer_row required_rows[] = {REQUIRED_ROWS(AS_ROW)};

TEST(null_is_taken_where_it_may_be)
{
    for (size_t i = 0; i < sizeof optional_rows / sizeof *optional_rows; ++i) {
        things k = {.t = espl_transform_identity()};

        ck_assert_msg(optional_rows[i].call(&k) == ESPL_OK, "%s without %s",
                      optional_rows[i].function, optional_rows[i].parameter);
    }
}

TEST(null_elsewhere_is_refused_and_nothing_is_written)
{
    for (size_t i = 0; i < sizeof required_rows / sizeof *required_rows; ++i) {
        const pointer_row *const r = &required_rows[i];
        things k, before;

        memset(&k, 0x5a, sizeof k);
        before = k;
        ck_assert_msg(r->call(&k) == ESPL_ERR_ARGUMENT, "%s without %s", r->function, r->parameter);
        ck_assert_msg(memcmp(&k, &before, sizeof k) == 0, "%s without %s writes", r->function,
                      r->parameter);
    }
}

TEST(a_value_of_no_name_is_refused_and_nothing_is_written)
{
    const int names[] = {-1, ESPL_EULER_ZYX + 1};
    const int axes[] = {-1, ESPL_AXIS_BACK + 1};
    const float ahead[3] = {0, 0, -1};
    espl_transform transform = placed;
    float written[4] = {5, 6, 7, 8};

    for (int i = 0; i < 2; ++i) {
        ck_status(espl_quat_from_euler(ahead, (espl_euler_order)names[i], written),
                  ESPL_ERR_ARGUMENT);
        ck_status(espl_quat_to_euler(numbers, (espl_euler_order)names[i], written),
                  ESPL_ERR_ARGUMENT);
        ck_status(espl_transform_look_at(&transform, ahead, NULL, (espl_axis)axes[i]),
                  ESPL_ERR_ARGUMENT);
    }
    ck_assert(written[0] == 5 && written[1] == 6 && written[2] == 7 && written[3] == 8);
    ck_assert(memcmp(&transform, &placed, sizeof placed) == 0);
}

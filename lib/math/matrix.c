// SPDX-License-Identifier: MIT
// Placements to and from what other programs speak: matrices, and glTF's translation, rotation and
// scale. A matrix rests on the formulas of pose.h, so it agrees with points and children; cglm only
// scales and transposes, where no order of sums is at stake (its products and norms differ between
// SSE and scalar builds).
#include "lib/math/basis.h"
#include "lib/math/pose.h"

#include <cglm/cglm.h>
#include <math.h>
#include <string.h>

// Write what differs from the identity: the columns are where the axes go. Turned first and scaled
// last, since a turn of a huge vector may overflow on the way to a finite result.
static void fill_matrix(mat4 columns, const espl_transform *transform)
{
    for (int i = 0; i < 3; ++i) {
        const float axis[3] = {i == 0, i == 1, i == 2};

        espl__rotation_apply(columns[i], transform->rotation, axis);
        glm_vec3_scale(columns[i], transform->scale * transform->stretch[i], columns[i]);
        columns[3][i] = transform->position[i];
    }
}

void espl_transform_matrix_3x4(float rows[12], const espl_transform *transform)
{
    if (!ESPL_DEMAND(NULL, rows != NULL && transform != NULL)) {
        return;
    }
    mat4 matrix = GLM_MAT4_IDENTITY_INIT;

    fill_matrix(matrix, transform);
    glm_mat4_transpose(matrix);
    memcpy(rows, matrix, 12 * sizeof *rows);
}

void espl_transform_matrix_4x4(float columns[16], const espl_transform *transform)
{
    if (!ESPL_DEMAND(NULL, columns != NULL && transform != NULL)) {
        return;
    }
    mat4 matrix = GLM_MAT4_IDENTITY_INIT;

    fill_matrix(matrix, transform);
    memcpy(columns, matrix, sizeof matrix);
}

void espl_transform_matrix_4x4_inverse(float columns[16], const espl_transform *transform)
{
    if (!ESPL_DEMAND(NULL, columns != NULL && transform != NULL)) {
        return;
    }
    const float origin[3] = {0, 0, 0};
    mat4 matrix = GLM_MAT4_IDENTITY_INIT;

    for (int i = 0; i < 3; ++i) {
        const float axis[3] = {i == 0, i == 1, i == 2};

        espl_transform_vector_inverse(matrix[i], transform, axis);
    }
    espl_transform_point_inverse(matrix[3], transform, origin);
    memcpy(columns, matrix, sizeof matrix);
}

// --- From a matrix ---

// Three equal factors are the scale, others the stretch. A sign of 1 or -1 goes into the scale.
static void set_factors(espl_transform *transform, const float factors[static 3], float sign)
{
    const bool is_uniform = factors[0] == factors[1] && factors[1] == factors[2];

    transform->scale = is_uniform ? sign * factors[0] : sign;
    for (int i = 0; i < 3; ++i) {
        transform->stretch[i] = is_uniform ? 1 : factors[i];
    }
}

// The upper 3 x 3 of a matrix, column by column.
typedef struct shape {
    double axis[3][3]; // direction; zeros where the column is
    double length[3];
    int longest;
    float sign; // -1: the columns are left-handed
} shape;

// What to multiply a matrix with, so that no length of a column overflows. Beside an element that
// large, the bits that tiny ones lose do not count.
static float unit_of(const float columns[static 16])
{
    bool is_huge = false;

    for (int i = 0; i < 9; ++i) {
        is_huge |= fabsf(columns[4 * (i / 3) + i % 3]) > 0x1p120f;
    }
    return is_huge ? 0.25f : 1;
}

static shape shape_of(const float columns[static 16], float unit)
{
    shape s = {.sign = 1};
    double normal[3];

    for (int i = 0; i < 3; ++i) {
        const double x = (double)(columns[4 * i] * unit);
        const double y = (double)(columns[4 * i + 1] * unit);
        const double z = (double)(columns[4 * i + 2] * unit);
        const double length = sqrt(x * x + y * y + z * z);

        s.length[i] = length;
        s.axis[i][0] = length > 0 ? x / length : 0;
        s.axis[i][1] = length > 0 ? y / length : 0;
        s.axis[i][2] = length > 0 ? z / length : 0;
        s.longest = length > s.length[s.longest] ? i : s.longest;
    }

    espl__axis_cross(normal, s.axis[0], s.axis[1]);
    if (normal[0] * s.axis[2][0] + normal[1] * s.axis[2][1] + normal[2] * s.axis[2][2] < 0) {
        s.sign = -1;
        for (int i = 0; i < 9; ++i) {
            s.axis[i / 3][i % 3] = -s.axis[i / 3][i % 3];
        }
    }
    return s;
}

// Lengths to floats, equal ones where they are equal to 1e-6 of the largest.
static void round_lengths(float factors[static 3], const shape *s)
{
    const double largest = s->length[s->longest];
    double smallest = largest;

    for (int i = 0; i < 3; ++i) {
        smallest = s->length[i] < smallest ? s->length[i] : smallest;
    }
    const bool is_uniform = largest - smallest <= 1e-6 * largest;

    for (int i = 0; i < 3; ++i) {
        factors[i] = (float)(is_uniform ? (largest + smallest) / 2 : s->length[i]);
    }
}

// Longer columns go first: a short one may be of denormals, whose direction is coarse. The longest
// gives its axis, the next one the plane, and the last axis is what a rotation leaves for it. Where
// the next one gives no plane, an axis comes as near as it can to its place without rotation.
static void rotation_of(float out[static 4], const shape *s)
{
    const double plain[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int i = s->longest, after = (i + 1) % 3, before = (i + 2) % 3;
    int j = s->length[after] >= s->length[before] ? after : before;
    double axes[3][3] = {{0}};

    memcpy(axes[i], s->length[i] > 0 ? s->axis[i] : plain[i], sizeof axes[i]);
    if (!espl__axis_across(axes[j], axes[i], s->axis[j]) &&
        !espl__axis_across(axes[j], axes[i], plain[j])) {
        j = 3 - i - j;
        (void)espl__axis_across(axes[j], axes[i], plain[j]);
    }
    if (j == after) {
        espl__axis_cross(axes[before], axes[i], axes[j]);
    } else {
        espl__axis_cross(axes[after], axes[j], axes[i]);
    }
    espl__rotation_from_axes(out, axes[0], axes[1], axes[2]);
}

// The largest difference between the matrix and the one that the placement found writes.
static float residual_of(const espl_transform *found, const float columns[static 16], float unit,
                         double largest)
{
    mat4 matrix = GLM_MAT4_IDENTITY_INIT;
    double worst = 0;

    fill_matrix(matrix, found);
    for (int i = 0; i < 9; ++i) {
        const float element = columns[4 * (i / 3) + i % 3] * unit;
        const double off = fabs((double)element - (double)matrix[i / 3][i % 3]);

        worst = off > worst ? off : worst;
    }
    return largest > 0 ? (float)(worst / largest) : 0;
}

static bool has_last_row(const float columns[static 16])
{
    return columns[3] == 0 && columns[7] == 0 && columns[11] == 0 && columns[15] == 1;
}

espl_status espl_transform_from_matrix_4x4(espl_transform *out, const float columns[16],
                                           float *residual)
{
    if (!ESPL_DEMAND(NULL, out != NULL && columns != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__all_finite(columns, 16)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const float unit = unit_of(columns);
    const shape s = shape_of(columns, unit);
    espl_transform found = {.position = {columns[12], columns[13], columns[14]}};
    float factors[3];

    round_lengths(factors, &s);
    set_factors(&found, factors, s.sign);
    rotation_of(found.rotation, &s);
    const float off = residual_of(&found, columns, unit, s.length[s.longest]);

    if (residual != NULL) {
        *residual = off;
    }
    if (off > 1e-4f || !has_last_row(columns)) {
        return ESPL_ERR_SHEAR;
    }

    for (int i = 0; i < 3; ++i) {
        factors[i] /= unit;
    }
    if (!espl__all_finite(factors, 3)) {
        return ESPL_ERR_RANGE;
    }
    set_factors(&found, factors, s.sign);
    *out = found;
    return ESPL_OK;
}

// --- glTF ---

espl_status espl_transform_from_trs(espl_transform *out, const float translation[3],
                                    const float rotation[4], const float scale[3])
{
    if (!ESPL_DEMAND(NULL,
                     out != NULL && translation != NULL && rotation != NULL && scale != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_transform made = {.position = {translation[0], translation[1], translation[2]}};

    memcpy(made.rotation, rotation, sizeof made.rotation);
    set_factors(&made, scale, 1);
    const espl_status status = espl_transform_normalize(&made);
    if (status != ESPL_OK) {
        return status;
    }
    *out = made;
    return ESPL_OK;
}

void espl_transform_to_trs(const espl_transform *transform, float translation[3], float rotation[4],
                           float scale[3])
{
    if (!ESPL_DEMAND(NULL, transform != NULL && translation != NULL && rotation != NULL &&
                               scale != NULL)) {
        return;
    }
    const espl_transform t = *transform;

    memcpy(translation, t.position, sizeof t.position);
    memcpy(rotation, t.rotation, sizeof t.rotation);
    for (int i = 0; i < 3; ++i) {
        scale[i] = t.scale * t.stretch[i];
    }
}

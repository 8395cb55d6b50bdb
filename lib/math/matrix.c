// SPDX-License-Identifier: MIT
// Transforms to and from matrices, and to and from translation, rotation and scale as in glTF.
// Matrices are computed by the formulas of pose.h, so that they agree with points and children.
#include "lib/math/basis.h"
#include "lib/math/pose.h"

#include <math.h>
#include <string.h>

// The columns of a 4 x 4 matrix.
typedef float mat4_columns[4][4];

// Set the last row, which is the same for all transforms.
static void set_last_row(mat4_columns columns)
{
    for (int i = 0; i < 4; ++i) {
        columns[i][3] = i == 3;
    }
}

// Compute a column of a matrix: the image of an axis. The axis is rotated first and scaled last, because
// the rotation of a huge vector may overflow although its result is finite.
static inline void fill_column(float column[3], const espl_transform *transform, int i)
{
    const float axis[3] = {i == 0, i == 1, i == 2};
    const float factor = transform->scale * transform->stretch[i];

    espl__rotation_apply(column, transform->rotation, axis);
    for (int k = 0; k < 3; ++k) {
        column[k] *= factor;
    }
}

static void fill_matrix(mat4_columns columns, const espl_transform *transform)
{
    set_last_row(columns);
    for (int i = 0; i < 3; ++i) {
        fill_column(columns[i], transform, i);
        columns[3][i] = transform->position[i];
    }
}

// Store rows as the columns are computed. A transposition of fill_matrix() takes half as long again.
// `transform` is a copy, because `rows` may overlap the caller's.
static void fill_rows(float rows[12], espl_transform transform)
{
    for (int i = 0; i < 3; ++i) {
        float column[3];

        fill_column(column, &transform, i);
        for (int k = 0; k < 3; ++k) {
            rows[4 * k + i] = column[k];
        }
        rows[4 * i + 3] = transform.position[i];
    }
}

// The columns of the inverse are the images of the axes and of the origin under the inverse
// transform. So the matrix agrees with ESPL_POINT_TO_LOCAL, for factors of zero as well.
static void fill_inverse(mat4_columns columns, const espl_transform *transform)
{
    const float origin[3] = {0, 0, 0};

    set_last_row(columns);
    for (int i = 0; i < 3; ++i) {
        const float axis[3] = {i == 0, i == 1, i == 2};

        // An axis is an offset, so that the position of the transform does not apply to it.
        espl_transform_convert(transform, ESPL_VECTOR_TO_LOCAL, axis, columns[i]);
    }
    espl_transform_convert(transform, ESPL_POINT_TO_LOCAL, origin, columns[3]);
}

void espl_transform_to_matrix(const espl_transform *transform, espl_matrix_form form, float *out)
{
    if (out == NULL || transform == NULL || (unsigned)form >= ESPL_MATRIX_FORM_COUNT) {
        return;
    }
    if (form == ESPL_MATRIX_3X4) {
        fill_rows(out, *transform);
        return;
    }
    mat4_columns matrix;

    if (form == ESPL_MATRIX_4X4_INVERSE) {
        fill_inverse(matrix, transform);
    } else {
        fill_matrix(matrix, transform);
    }
    memcpy(out, matrix, sizeof matrix);
}

// --- From a matrix ---

// Round three factors to floats. Factors that differ by at most 1e-6 of the largest become equal,
// because such a difference comes from the rounding of a matrix or of a file. Equal factors are kept
// bit for bit.
static void round_factors(float rounded[ESPL__LEAST 3], const double factors[ESPL__LEAST 3])
{
    double least = factors[0], most = factors[0];
    bool is_ordered = true; // false: one is no number

    for (int i = 0; i < 3; ++i) {
        least = factors[i] < least ? factors[i] : least;
        most = factors[i] > most ? factors[i] : most;
        is_ordered &= factors[i] >= least && factors[i] <= most;
    }
    const double largest = most > -least ? most : -least;
    const bool is_uniform = is_ordered && most - least <= 1e-6 * largest;

    for (int i = 0; i < 3; ++i) {
        rounded[i] = (float)(is_uniform ? (most + least) / 2 : factors[i]);
    }
}

// Set scale and stretch. Three equal factors become the scale, other factors the stretch. The sign,
// 1 or -1, becomes part of the scale.
static void set_factors(espl_transform *transform, const float factors[ESPL__LEAST 3], float sign)
{
    ESPL_CHECK(sign == 1 || sign == -1);
    const bool is_uniform = factors[0] == factors[1] && factors[1] == factors[2];

    transform->scale = is_uniform ? sign * factors[0] : sign;
    for (int i = 0; i < 3; ++i) {
        transform->stretch[i] = is_uniform ? 1 : factors[i];
    }
}

// The columns of the upper 3 x 3 elements of a matrix.
typedef struct matrix_axes {
    double axis[3][3]; // directions of the columns; zero for a zero column
    double length[3];  // lengths of the columns
    int longest;       // number of the longest column
    float sign;        // -1: the columns are left-handed, and the axes have the opposite directions
} matrix_axes;

// Return the factor of a matrix, 1 or 1/4, for which no length of a column overflows a float. Tiny
// elements lose bits by it, which do not matter next to an element that large.
static float length_factor(const float columns[ESPL__LEAST 16])
{
    bool is_huge = false;

    for (int i = 0; i < 9; ++i) {
        is_huge |= fabsf(columns[4 * (i / 3) + i % 3]) > 0x1p120f;
    }
    return is_huge ? 0.25f : 1;
}

// Compute directions, lengths and handedness of the columns of a matrix times `factor`.
static matrix_axes axes_of(const float columns[ESPL__LEAST 16], float factor)
{
    matrix_axes s = {.sign = 1};
    double normal[3];

    for (int i = 0; i < 3; ++i) {
        const double x = (double)(columns[4 * i] * factor);
        const double y = (double)(columns[4 * i + 1] * factor);
        const double z = (double)(columns[4 * i + 2] * factor);
        const double length = sqrt(x * x + y * y + z * z);

        ESPL_CHECK(length <= (double)FLT_MAX);
        s.length[i] = length;
        s.axis[i][0] = length > 0 ? x / length : 0;
        s.axis[i][1] = length > 0 ? y / length : 0;
        s.axis[i][2] = length > 0 ? z / length : 0;
        s.longest = length > s.length[s.longest] ? i : s.longest;
    }

    ESPL_CHECK(s.length[s.longest] >= s.length[0] && s.length[s.longest] >= s.length[1]);
    espl__axis_cross(normal, s.axis[0], s.axis[1]);
    if (normal[0] * s.axis[2][0] + normal[1] * s.axis[2][1] + normal[2] * s.axis[2][2] < 0) {
        s.sign = -1;
        for (int i = 0; i < 9; ++i) {
            s.axis[i / 3][i % 3] = -s.axis[i / 3][i % 3];
        }
    }
    return s;
}

// Compute the rotation of the columns. The longest column gives the first axis, and the longer one
// of the others the plane of the second, because short columns may be denormals, whose directions
// are coarse. The third axis is perpendicular to both. Where the columns give no plane, the second
// axis is the nearest one to its direction in the identity.
static void rotation_of(float out[ESPL__LEAST 4], const matrix_axes *s)
{
    const double plain[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int i = s->longest, after = (i + 1) % 3, before = (i + 2) % 3;
    int j = s->length[after] >= s->length[before] ? after : before;
    double axes[3][3] = {{0}};

    ESPL_CHECK(i >= 0 && i < 3 && j != i);
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

// Compute the largest difference between the elements of a matrix and those of the matrix of the
// transform that was found, relative to the length of the longest column.
static float residual_of(const espl_transform *found, const float columns[ESPL__LEAST 16],
                         float factor, double largest)
{
    mat4_columns matrix;
    double worst = 0;

    fill_matrix(matrix, found);
    for (int i = 0; i < 9; ++i) {
        const float element = columns[4 * (i / 3) + i % 3] * factor;
        const double off = fabs((double)element - (double)matrix[i / 3][i % 3]);

        worst = off > worst ? off : worst;
    }
    ESPL_CHECK(largest > 0 || worst == 0);
    return largest > 0 ? (float)(worst / largest) : 0;
}

static bool has_last_row(const float columns[ESPL__LEAST 16])
{
    return columns[3] == 0 && columns[7] == 0 && columns[11] == 0 && columns[15] == 1;
}

espl_status espl_transform_from_matrix(const float columns[16], espl_transform *out,
                                       float *residual)
{
    if (out == NULL || columns == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__all_finite(columns, 16)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const float factor = length_factor(columns);
    const matrix_axes s = axes_of(columns, factor);
    espl_transform found = {.position = {columns[12], columns[13], columns[14]}};
    float factors[3] = {0};

    // The residual is that of the matrix times `factor`, because the factors of the matrix itself
    // may overflow.
    round_factors(factors, s.length);
    set_factors(&found, factors, s.sign);
    rotation_of(found.rotation, &s);
    const float off = residual_of(&found, columns, factor, s.length[s.longest]);

    if (residual != NULL) {
        *residual = off;
    }
    if (off > 1e-4f || !has_last_row(columns)) {
        return ESPL_ERR_SHEAR;
    }

    for (int i = 0; i < 3; ++i) {
        factors[i] /= factor;
    }
    if (!espl__all_finite(factors, 3)) {
        return ESPL_ERR_RANGE;
    }
    set_factors(&found, factors, s.sign);
    *out = found;
    return ESPL_OK;
}

// --- glTF ---

espl_status espl_transform_from_trs(const float translation[3], const float rotation[4],
                                    const float scale[3], espl_transform *out)
{
    if (out == NULL || translation == NULL || rotation == NULL || scale == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_transform made = {.position = {translation[0], translation[1], translation[2]}};
    const double axes[3] = {(double)scale[0], (double)scale[1], (double)scale[2]};
    float factors[3] = {0};

    memcpy(made.rotation, rotation, sizeof made.rotation);
    round_factors(factors, axes);
    set_factors(&made, factors, 1);
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
    if (transform == NULL || translation == NULL || rotation == NULL || scale == NULL) {
        return;
    }
    // A copy, so that an output may overlap the transform.
    const espl_transform t = *transform;

    memcpy(translation, t.position, sizeof t.position);
    memcpy(rotation, t.rotation, sizeof t.rotation);
    for (int i = 0; i < 3; ++i) {
        scale[i] = t.scale * t.stretch[i];
    }
}

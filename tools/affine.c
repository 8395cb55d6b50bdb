// SPDX-License-Identifier: MIT
#include "tools/affine.h"

#include <float.h>
#include <math.h>
#include <string.h>

tool_affine affine_identity(void)
{
    return (tool_affine){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

tool_placement placement_identity(void)
{
    return (tool_placement){{0, 0, 0, 1}, {0, 0, 0}, 1, {1, 1, 1}};
}

tool_affine affine_multiply(const tool_affine *a, const tool_affine *b)
{
    tool_affine out;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            out.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] +
                          a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
        }
    }
    return out;
}

tool_affine affine_of_placement(const tool_placement *placement)
{
    const double *const q = placement->rotation;
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    };
    tool_affine out;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] = r[i][j] * placement->stretch[j] * placement->scale;
        }
        out.m[i][3] = placement->position[i];
    }
    return out;
}

tool_affine affine_of_transform(const espl_transform *transform)
{
    tool_placement exact = {.scale = (double)transform->scale};

    for (int i = 0; i < 4; ++i) {
        exact.rotation[i] = (double)transform->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        exact.position[i] = (double)transform->position[i];
        exact.stretch[i] = (double)transform->stretch[i];
    }
    return affine_of_placement(&exact);
}

double vector_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void cross(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void scale_to_unit(double v[3])
{
    const double length = vector_length(v);

    for (int i = 0; i < 3; ++i) {
        v[i] /= length;
    }
}

/// Any unit vector at a right angle to a unit vector.
static void perpendicular(double out[3], const double v[3])
{
    const int smallest = fabs(v[0]) < fabs(v[1]) ? (fabs(v[0]) < fabs(v[2]) ? 0 : 2)
                                                 : (fabs(v[1]) < fabs(v[2]) ? 1 : 2);
    double axis[3] = {0, 0, 0};

    axis[smallest] = 1;
    cross(out, v, axis);
    scale_to_unit(out);
}

/// Give directions to axes that have collapsed, so that all three make a right-handed frame.
static void complete_axes(double axes[3][3], bool is_lost[3])
{
    if (is_lost[0] && is_lost[1] && is_lost[2]) {
        const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        memcpy(axes, identity, sizeof identity);
        return;
    }

    // With two gone, the one behind the one that is left comes first; then one is gone at most.
    for (int i = 0; i < 3; ++i) {
        const int next = (i + 1) % 3, last = (i + 2) % 3;
        if (!is_lost[i] && is_lost[next] && is_lost[last]) {
            perpendicular(axes[next], axes[i]);
            is_lost[next] = false;
            break;
        }
    }
    for (int i = 0; i < 3; ++i) {
        if (is_lost[i]) {
            cross(axes[i], axes[(i + 1) % 3], axes[(i + 2) % 3]);
            scale_to_unit(axes[i]);
        }
    }
}

/// Shepperd's method: divide by the largest of the four components.
static void quaternion_of_axes(double q[4], const double a[3][3])
{
    const double trace[4] = {a[0][0] - a[1][1] - a[2][2], a[1][1] - a[0][0] - a[2][2],
                             a[2][2] - a[0][0] - a[1][1], a[0][0] + a[1][1] + a[2][2]};
    int largest = 0;

    for (int i = 1; i < 4; ++i) {
        largest = trace[i] > trace[largest] ? i : largest;
    }

    if (largest == 3) {
        q[0] = a[1][2] - a[2][1];
        q[1] = a[2][0] - a[0][2];
        q[2] = a[0][1] - a[1][0];
        q[3] = 1 + trace[3];
    } else {
        const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + trace[i];
        q[j] = a[i][j] + a[j][i];
        q[k] = a[i][k] + a[k][i];
        q[3] = a[j][k] - a[k][j];
    }
    quaternion_normalize(q);
}

static double determinant(const tool_affine *a)
{
    return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
           a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
           a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}

static double largest_difference(const tool_affine *a, const tool_affine *b)
{
    double largest = 0;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            largest = fmax(largest, fabs(a->m[i][j] - b->m[i][j]));
        }
    }
    return largest;
}

/// Set scale and stretch by the lengths of the axes.
static void set_lengths(tool_placement *out, const double length[3], double sign)
{
    const double longest = fmax(length[0], fmax(length[1], length[2]));
    const double shortest = fmin(length[0], fmin(length[1], length[2]));
    const double mean = (length[0] + length[1] + length[2]) / 3;
    const bool is_even = longest - shortest <= AFFINE_EVEN * longest;

    for (int i = 0; i < 3; ++i) {
        out->stretch[i] = is_even ? 1 : length[i];
    }
    // The mean of equal numbers need not be that number.
    out->scale = sign * (!is_even ? 1 : longest == shortest ? longest : mean);
}

double placement_of_affine(tool_placement *out, const tool_affine *matrix)
{
    double axes[3][3], length[3];
    bool is_lost[3];

    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            axes[j][i] = matrix->m[i][j];
        }
        length[j] = vector_length(axes[j]);
    }
    const double longest = fmax(length[0], fmax(length[1], length[2]));
    const double sign = determinant(matrix) < 0 ? -1 : 1;

    for (int j = 0; j < 3; ++j) {
        is_lost[j] = length[j] <= 1e-12 * longest;
        for (int i = 0; i < 3 && !is_lost[j]; ++i) {
            axes[j][i] *= sign / length[j];
        }
        out->position[j] = matrix->m[j][3];
    }
    complete_axes(axes, is_lost);
    quaternion_of_axes(out->rotation, axes);
    set_lengths(out, length, sign);

    const tool_affine expressed = affine_of_placement(out);
    return longest > 0 ? largest_difference(&expressed, matrix) / longest : 0;
}

tool_placement placement_of_parts(const double position[3], const double rotation[4],
                                  const double scale[3])
{
    tool_placement out = placement_identity();
    double length[3], highest = -HUGE_VAL;
    int negative = 0, flipped = 0, kept = 0;

    for (int i = 0; i < 3; ++i) {
        negative += scale[i] < 0;
        length[i] = fabs(scale[i]);
    }
    // An odd number of signs mirrors. Turned over, an even number is left: two, or one and a zero.
    const double sign = negative % 2 == 1 ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
        flipped += sign * scale[i] < 0;
        if (sign * scale[i] > highest) {
            highest = sign * scale[i];
            kept = i;
        }
    }

    memcpy(out.position, position, sizeof out.position);
    memcpy(out.rotation, rotation, sizeof out.rotation);
    if (flipped > 0) {
        double half_turn[4] = {0, 0, 0, 0};

        half_turn[kept] = 1; // about the axis that keeps its sign
        quaternion_multiply(out.rotation, rotation, half_turn);
    }
    set_lengths(&out, length, sign);
    return out;
}

bool placement_is_even(const tool_placement *placement)
{
    const double *const s = placement->stretch;

    return s[0] == s[1] && s[1] == s[2] && s[0] == 1;
}

bool affine_fits_float(const tool_affine *matrix)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            // The comparison is false for a NaN too.
            if (!(fabs(matrix->m[i][j]) <= (double)FLT_MAX / 16)) {
                return false;
            }
        }
    }
    return true;
}

espl_transform placement_round(const tool_placement *placement)
{
    espl_transform out = {.scale = (float)placement->scale};

    for (int i = 0; i < 4; ++i) {
        out.rotation[i] = (float)placement->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        out.position[i] = (float)placement->position[i];
        out.stretch[i] = (float)placement->stretch[i];
    }
    return out;
}

void quaternion_multiply(double out[4], const double a[4], const double b[4])
{
    const double q[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };

    memcpy(out, q, sizeof q);
}

void quaternion_normalize(double q[4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

    if (!(length > 0)) {
        memcpy(q, (const double[4]){0, 0, 0, 1}, 4 * sizeof *q);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        q[i] /= length;
    }
}

void quaternion_rotate(double out[3], const double q[4], const double v[3])
{
    double t[3], u[3];

    cross(t, q, v);
    cross(u, q, t);
    for (int i = 0; i < 3; ++i) {
        out[i] = v[i] + 2 * (q[3] * t[i] + u[i]);
    }
}

void quaternion_about(double out[4], const double axis[3], double angle)
{
    const double half_sine = sin(angle / 2);

    for (int i = 0; i < 3; ++i) {
        out[i] = axis[i] * half_sine;
    }
    out[3] = cos(angle / 2);
}

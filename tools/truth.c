// SPDX-License-Identifier: MIT
#include "tools/truth.h"

#include <math.h>

/// A quaternion, the real part first.
typedef struct hamilton {
    double r, i, j, k;
} hamilton;

static hamilton hamilton_of(const double xyzw[4])
{
    return (hamilton){xyzw[3], xyzw[0], xyzw[1], xyzw[2]};
}

static hamilton times(hamilton p, hamilton q)
{
    return (hamilton){
        p.r * q.r - (p.i * q.i + p.j * q.j + p.k * q.k),
        p.r * q.i + q.r * p.i + (p.j * q.k - p.k * q.j),
        p.r * q.j + q.r * p.j + (p.k * q.i - p.i * q.k),
        p.r * q.k + q.r * p.k + (p.i * q.j - p.j * q.i),
    };
}

/// Matrix of v -> q v q* / |q|^2, by the outer product of the imaginary part.
static tool_affine matrix_of(hamilton q, const double scale[3], const double translation[3])
{
    const double v[3] = {q.i, q.j, q.k};
    const double inner = q.i * q.i + q.j * q.j + q.k * q.k, square = q.r * q.r + inner;
    // Entry [i][j] of the cross product with v.
    const double turn[3][3] = {{0, -q.k, q.j}, {q.k, 0, -q.i}, {-q.j, q.i, 0}};
    tool_affine out;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double straight = i == j ? q.r * q.r - inner : 0;
            const double sum = straight + 2 * v[i] * v[j] + 2 * q.r * turn[i][j];

            // A curve may pass through a quaternion of no length, which rotates nothing.
            out.m[i][j] = (square > 0 ? sum / square : i == j) * scale[j];
        }
        out.m[i][3] = translation[i];
    }
    return out;
}

tool_affine truth_of_parts(const double translation[3], const double rotation[4],
                           const double scale[3])
{
    return matrix_of(hamilton_of(rotation), scale, translation);
}

/// The number of the last key that is not after a time; the first where all are after it.
static size_t last_key(const key_track *track, double seconds)
{
    size_t key = 0, step = 1;

    while (step < track->count) {
        step *= 2;
    }
    for (; step > 0; step /= 2) {
        if (key + step < track->count && track->times[key + step] <= seconds) {
            key += step;
        }
    }
    return key;
}

/// The place of a time in its interval, 0 to 1; 0 outside all intervals and for steps.
static double share_of(const key_track *track, size_t key, double seconds)
{
    const double from = track->times[key];

    if (track->form == KEYS_STEP || key + 1 == track->count || seconds <= from) {
        return 0;
    }
    return (seconds - from) / (track->times[key + 1] - from);
}

static double between(double from, double to, double share)
{
    return from * (1 - share) + to * share;
}

/// A cubic Hermite curve as Bezier's, by de Casteljau's construction.
static void follow_curve(double out[4], const key_track *track, size_t key, double share)
{
    const double *const value = track->values[3 * key + 1];
    const size_t next = key + 1 < track->count ? key + 1 : key;
    const double third = (track->times[next] - track->times[key]) / 3;

    for (int i = 0; i < 4; ++i) {
        const double end = track->values[3 * next + 1][i];
        const double leave = value[i] + third * track->values[3 * key + 2][i];
        const double arrive = end - third * track->values[3 * next][i];
        const double a = between(value[i], leave, share), b = between(leave, arrive, share);
        const double c = between(arrive, end, share);

        out[i] = share > 0 ? between(between(a, b, share), between(b, c, share), share) : value[i];
    }
}

static void sample_vector(double out[4], const key_track *track, double seconds)
{
    const size_t key = last_key(track, seconds);
    const double share = share_of(track, key, seconds);

    if (track->form == KEYS_CUBIC) {
        follow_curve(out, track, key, share);
        return;
    }
    const size_t next = share > 0 ? key + 1 : key;
    for (int i = 0; i < 4; ++i) {
        out[i] = between(track->values[key][i], track->values[next][i], share);
    }
}

/// The arc from one rotation to another: the first, times a power of the rotation between them.
static hamilton sample_arc(hamilton from, hamilton to, double share)
{
    const hamilton back = {from.r, -from.i, -from.j, -from.k};
    hamilton way = times(back, to);
    const double length = sqrt(way.i * way.i + way.j * way.j + way.k * way.k);
    const double size = hypot(way.r, length);

    if (way.r < -CHANNEL_RIGHT_ANGLE * size) {
        way = (hamilton){-way.r, -way.i, -way.j, -way.k};
    }
    if (length == 0) {
        return from;
    }
    const double angle = share * atan2(length, way.r), part = sin(angle) / length;
    const hamilton power = {cos(angle), way.i * part, way.j * part, way.k * part};
    return times(from, power);
}

static hamilton sample_rotation(const key_track *track, double seconds)
{
    const size_t key = last_key(track, seconds);
    const double share = share_of(track, key, seconds);
    double xyzw[4];

    if (track->form != KEYS_LINEAR || share <= 0) {
        sample_vector(xyzw, track, seconds);
        return hamilton_of(xyzw);
    }
    return sample_arc(hamilton_of(track->values[key]), hamilton_of(track->values[key + 1]), share);
}

tool_affine truth_of_channel(const tool_channel *channel, double seconds)
{
    double translation[4], scale[4];

    sample_vector(translation, &channel->position, seconds);
    sample_vector(scale, &channel->scale, seconds);
    const tool_affine keys =
        matrix_of(sample_rotation(&channel->rotation, seconds), scale, translation);
    if (!channel->has_frame) {
        return keys;
    }
    const tool_affine inner = affine_multiply(&keys, &channel->after);
    return affine_multiply(&channel->before, &inner);
}

tool_affine truth_between(const tool_placement *from, const tool_placement *to, double share)
{
    const hamilton turned =
        sample_arc(hamilton_of(from->rotation), hamilton_of(to->rotation), share);
    const double size = between(from->scale, to->scale, share);
    double scale[3], translation[3];

    for (int i = 0; i < 3; ++i) {
        scale[i] = size * to->stretch[i];
        translation[i] = between(from->position[i], to->position[i], share);
    }
    return matrix_of(turned, scale, translation);
}

double truth_turn(const double from[4], const double to[4])
{
    const hamilton back = {from[3], -from[0], -from[1], -from[2]};
    const hamilton way = times(back, hamilton_of(to));

    return 2 * atan2(sqrt(way.i * way.i + way.j * way.j + way.k * way.k), fabs(way.r));
}

/// Length of an axis, a column of the matrix.
static double axis_length(const tool_affine *matrix, int axis)
{
    return hypot(hypot(matrix->m[0][axis], matrix->m[1][axis]), matrix->m[2][axis]);
}

double truth_spread(const tool_affine *matrix)
{
    double longest = axis_length(matrix, 0), shortest = longest;

    for (int axis = 1; axis < 3; ++axis) {
        const double length = axis_length(matrix, axis);
        longest = fmax(longest, length);
        shortest = fmin(shortest, length);
    }
    return longest > 0 ? 1 - shortest / longest : 0;
}

double truth_shear(const tool_affine *matrix)
{
    double largest = 0;

    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3;
        const double lengths = axis_length(matrix, a) * axis_length(matrix, b);
        double product = 0;

        for (int i = 0; i < 3; ++i) {
            product += matrix->m[i][a] * matrix->m[i][b];
        }
        largest = lengths > 0 ? fmax(largest, fabs(product) / lengths) : largest;
    }
    return largest;
}

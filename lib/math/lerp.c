// SPDX-License-Identifier: MIT
// Interpolation of rotations and of whole transforms, in double between the floats read and the
// floats written.
#include "lib/math/angles.h"
#include "lib/math/basis.h"
#include "lib/math/pose.h"

#include <espalier/quat.h>

#include <math.h>
#include <string.h>

// --- Rotations ---

// The two ends of an interpolation at unit length, the second one with the sign that brings it
// nearer to the first: as they are returned at t of 0 and 1, and in double.
typedef struct arc {
    float from[4], to[4];
    double a[4], b[4];
} arc;

// The length of a float rounded to unit length shows in the weights, so it is divided away in double.
static void to_unit(double out[ESPL__LEAST 4], const float q[ESPL__LEAST 4])
{
    double squares = 0;

    for (int i = 0; i < 4; ++i) {
        out[i] = (double)q[i];
        squares += out[i] * out[i];
    }
    const double factor = 1 / sqrt(squares);

    for (int i = 0; i < 4; ++i) {
        out[i] *= factor;
    }
}

// false: an end is not finite or has no length.
static bool read_arc(arc *out, const float a[ESPL__LEAST 4], const float b[ESPL__LEAST 4])
{
    double cosine = 0;

    memcpy(out->from, a, sizeof out->from);
    memcpy(out->to, b, sizeof out->to);
    if (!espl__rotation_normalize(out->from) || !espl__rotation_normalize(out->to)) {
        return false;
    }
    for (int i = 0; i < 4; ++i) {
        cosine += (double)out->from[i] * (double)out->to[i];
    }
    for (int i = 0; i < 4; ++i) {
        out->to[i] = cosine < 0 ? -out->to[i] : out->to[i];
    }
    to_unit(out->a, out->from);
    to_unit(out->b, out->to);
    return true;
}

// Where an end is the result it keeps its bits: at t of 0 and 1, and between ends that are equal.
static bool is_end(const arc *ends, float t)
{
    return t == 0 || t == 1 || memcmp(ends->from, ends->to, sizeof ends->from) == 0;
}

static void blend(float out[ESPL__LEAST 4], const arc *ends, double weight_a, double weight_b)
{
    double q[4];

    for (int i = 0; i < 4; ++i) {
        q[i] = weight_a * ends->a[i] + weight_b * ends->b[i];
    }
    espl__rotation_round(out, q);
}

espl_status espl_quat_nlerp(const float a[4], const float b[4], float t, float out[4])
{
    if (out == NULL || a == NULL || b == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    arc ends;

    if (!read_arc(&ends, a, b) || !isfinite(t)) {
        return ESPL_ERR_NOT_FINITE;
    }
    if (is_end(&ends, t)) {
        memcpy(out, t == 1 ? ends.to : ends.from, sizeof ends.from);
    } else {
        blend(out, &ends, 1 - (double)t, (double)t);
    }
    return ESPL_OK;
}

// With s = |b - a| / 2 and c = |b + a| / 2, the sine and the cosine of half the angle between the ends
// on the sphere of quaternions, which is half that of the rotations. The weights are sin((1 - t) angle)
// and sin(t angle), the first one written out, so that one sine and one cosine are enough. An arc cosine
// of the product of the ends would lose small angles.
espl_status espl_quat_slerp(const float a[4], const float b[4], float t, float out[4])
{
    if (out == NULL || a == NULL || b == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    double apart = 0, together = 0, sine, cosine;
    arc ends;

    if (!read_arc(&ends, a, b) || !isfinite(t)) {
        return ESPL_ERR_NOT_FINITE;
    }
    for (int i = 0; i < 4; ++i) {
        const double difference = ends.b[i] - ends.a[i], sum = ends.b[i] + ends.a[i];

        apart += difference * difference;
        together += sum * sum;
    }
    // Ends that differ in length alone, by rounding, are no angle apart.
    if (is_end(&ends, t) || apart == 0) {
        memcpy(out, t == 1 ? ends.to : ends.from, sizeof ends.from);
        return ESPL_OK;
    }
    const double s = sqrt(apart) / 2, c = sqrt(together) / 2;

    espl__sin_cos(&sine, &cosine, (double)t * 2 * espl__angle_of(s, c));
    blend(out, &ends, 2 * s * c * cosine - (c * c - s * s) * sine, sine);
    return ESPL_OK;
}

// --- Transforms ---

// In double, so that nothing overflows on the way, and equal numbers stay as they are.
static float lerp(float a, float b, float t)
{
    if (t == 0) {
        return a;
    }
    return t == 1 ? b : (float)((1 - (double)t) * (double)a + (double)t * (double)b);
}

espl_status espl_transform_lerp(const espl_transform *a, const espl_transform *b, float t,
                                espl_transform *out)
{
    if (out == NULL || a == NULL || b == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_transform made = {.user_data = t < 1 ? a->user_data : b->user_data};

    if (!espl__transform_is_finite(a) || !espl__transform_is_finite(b) ||
        espl_quat_slerp(a->rotation, b->rotation, t, made.rotation) != ESPL_OK) {
        return ESPL_ERR_NOT_FINITE;
    }
    for (int i = 0; i < 3; ++i) {
        made.position[i] = lerp(a->position[i], b->position[i], t);
        made.stretch[i] = lerp(a->stretch[i], b->stretch[i], t);
    }
    made.scale = lerp(a->scale, b->scale, t);
    if (!espl__transform_is_finite(&made)) {
        return ESPL_ERR_RANGE;
    }
    *out = made;
    return ESPL_OK;
}

// SPDX-License-Identifier: MIT
// The formulas of boxes.h for one box, and the kernel for machines without SIMD.
#include "lib/math/boxes.h"

#include "lib/base/bits.h"

void espl__planes_init(espl__planes *out, const float (*planes)[4], uint32_t count)
{
    ESPL_CHECK(count <= ESPL__PLANE_LIMIT);
    *out = (espl__planes){.count = count};
    for (uint32_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            out->normals[i][k] = planes[i][k];
            out->sizes[i][k] = fabsf(planes[i][k]);
        }
        out->offsets[i] = planes[i][3];
    }
}

static void set_all(float out[ESPL__LEAST ESPL__BOX_ROWS], float center, float half)
{
    for (int k = 0; k < 3; ++k) {
        out[k] = center;
        out[3 + k] = half;
    }
}

// By more than the bounds and the differences are rounded by.
void espl__box_between(float out[ESPL__LEAST ESPL__BOX_ROWS], const float low[ESPL__LEAST 3],
                       const float high[ESPL__LEAST 3])
{
    for (int k = 0; k < 3; ++k) {
        if (!(low[k] <= high[k])) {
            set_all(out, 0, -FLT_MAX);
            return;
        }
        // + 0: a zero has no sign, because which of two zeros is the lower one depends on the kernel.
        const float center = (0.5f * low[k] + 0.5f * high[k]) + 0.0f;
        const float above = high[k] - center, below = center - low[k];
        const float half = above > below ? above : below;

        out[k] = center;
        out[3 + k] = half + ((fabsf(center) + half) * 0x1p-22f + 0x1p-126f);
    }
}

void espl__box_union_add(espl__box_union *all, const float box[ESPL__LEAST ESPL__BOX_ROWS])
{
    if (all->count == 0) {
        memcpy(all->first, box, sizeof all->first);
    }
    all->count += 1;
    for (int k = 0; k < 3; ++k) {
        const double low = (double)box[k] - (double)box[3 + k];
        const double high = (double)box[k] + (double)box[3 + k];

        all->low[k] = low < all->low[k] ? low : all->low[k];
        all->high[k] = high > all->high[k] ? high : all->high[k];
    }
}

// Round a number that is not negative up to a float.
static float round_to_above(double number)
{
    float rounded = number < (double)FLT_MAX ? (float)number : FLT_MAX;
    uint32_t bits;

    if ((double)rounded >= number || rounded >= FLT_MAX) {
        return rounded;
    }
    // The next float above one that is not negative has the next bits.
    memcpy(&bits, &rounded, sizeof bits);
    bits += 1;
    memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

void espl__box_union_get(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl__box_union *all)
{
    if (all->count == 0) {
        set_all(out, 0, -FLT_MAX);
        return;
    }
    if (all->count == 1) {
        memcpy(out, all->first, sizeof all->first);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        // + 0: a zero has no sign, because which of two zeros is the lower one depends on the order.
        const float center = (float)(0.5 * (all->low[k] + all->high[k])) + 0.0f;
        const double above = all->high[k] - (double)center, below = (double)center - all->low[k];

        out[k] = center;
        out[3 + k] = round_to_above(above > below ? above : below);
    }
}

void espl__boxes_swept(float out[ESPL__LEAST ESPL__BOX_ROWS],
                       const float before[ESPL__LEAST ESPL__BOX_ROWS],
                       const float now[ESPL__LEAST ESPL__BOX_ROWS], float reach)
{
    float low[3], high[3], found = reach - reach;

    for (int k = 0; k < 3; ++k) {
        const float low_before = before[k] - before[3 + k], low_now = now[k] - now[3 + k];
        const float high_before = before[k] + before[3 + k], high_now = now[k] + now[3 + k];

        low[k] = (low_before < low_now ? low_before : low_now) - reach;
        high[k] = (high_before > high_now ? high_before : high_now) + reach;
        found += (low_before - low_before) + (low_now - low_now) + (high[k] - high[k]);
    }
    if (found != 0) { // NaN
        set_all(out, NAN, NAN);
        return;
    }
    espl__box_between(out, low, high);
}

void espl__box_of_pose(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl_pose *pose,
                       const float *stretch, const float local[ESPL__LEAST ESPL__BOX_ROWS])
{
    const float x = pose->rotation[0], y = pose->rotation[1];
    const float z = pose->rotation[2], w = pose->rotation[3];
    const float x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
    const float xx = x * x2, yy = y * y2, zz = z * z2;
    const float xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2;
    const float rows[3][3] = {{1 - (yy + zz), xy - wz, wy + xz},
                              {wz + xy, 1 - (xx + zz), yz - wx},
                              {xz - wy, wx + yz, 1 - (xx + yy)}};

    for (int k = 0; k < 3; ++k) {
        float e[3] = {0, 0, 0};

        for (int i = 0; i < 3; ++i) {
            e[i] = rows[k][i] * (stretch != NULL ? pose->scale * stretch[i] : pose->scale);
        }
        out[k] = pose->position[k] + ((e[0] * local[0] + e[1] * local[1]) + e[2] * local[2]);
        out[3 + k] = (fabsf(e[0]) * local[3] + fabsf(e[1]) * local[4]) + fabsf(e[2]) * local[5];
    }
}

// The products with the zeros of an axis, which espl_transform_to_matrix() has, are left out. A sum of 0
// clears the sign of a zero as they do.
void espl__matrix_of_pose(unsigned char *to, const espl_pose *pose)
{
    const float x = pose->rotation[0], y = pose->rotation[1];
    const float z = pose->rotation[2], w = pose->rotation[3];
    const float x2 = 2 * x, y2 = 2 * y, z2 = 2 * z, f = pose->scale;
    const float xx = x * x2, yy = y * y2, zz = z * z2;
    const float xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2;
    const float rows[12] = {(1 - (yy + zz)) * f,  (xy - wz + 0.0f) * f, (wy + xz + 0.0f) * f,
                            pose->position[0],    (wz + xy + 0.0f) * f, (1 - (xx + zz)) * f,
                            (yz - wx + 0.0f) * f, pose->position[1],    (xz - wy + 0.0f) * f,
                            (wx + yz + 0.0f) * f, (1 - (xx + yy)) * f,  pose->position[2]};

    memcpy(to, rows, sizeof rows);
}

// Distance of the center and radius of the half of a box, along a plane.
typedef struct plane_sums {
    float distance, radius;
} plane_sums;

static inline plane_sums sums_of(const float box[ESPL__LEAST ESPL__BOX_ROWS],
                                 const espl__planes *planes, uint32_t i)
{
    const float *const n = planes->normals[i], *const s = planes->sizes[i];

    return (plane_sums){((n[0] * box[0] + n[1] * box[1]) + n[2] * box[2]) + planes->offsets[i],
                        (s[0] * box[3] + s[1] * box[4]) + s[2] * box[5]};
}

bool espl__box_is_inside(const float box[ESPL__LEAST ESPL__BOX_ROWS], const espl__planes *planes,
                         uint32_t which)
{
    bool is_inside = true;

    for (uint32_t i = 0; i < planes->count; ++i) {
        const plane_sums sums = sums_of(box, planes, i);

        is_inside &= (which >> i & 1) == 0 || sums.distance + sums.radius >= 0;
    }
    return is_inside;
}

// --- The kernel without SIMD ---

static void copy_box(float out[ESPL__LEAST ESPL__BOX_ROWS], const float *boxes, size_t stride)
{
    for (size_t k = 0; k < ESPL__BOX_ROWS; ++k) {
        out[k] = boxes[k * stride];
    }
}

static void of_poses_scalar(espl__box_rows boxes, uint64_t finite[ESPL__LEAST 2],
                            const espl_pose *poses, const espl__box_rows locals,
                            const float (*stretches)[3], uint32_t count)
{
    uint64_t found[2] = {0};

    ESPL_CHECK(count <= ESPL__BOXES);
    for (uint32_t i = 0; i < count; ++i) {
        float local[ESPL__BOX_ROWS], box[ESPL__BOX_ROWS];

        copy_box(local, &locals[0][i], ESPL__BOXES);
        espl__box_of_pose(box, &poses[i], stretches != NULL ? stretches[i] : NULL, local);
        for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
            boxes[k][i] = box[k];
        }
        found[i / 64] |= (uint64_t)espl__all_finite(box, ESPL__BOX_ROWS) << i % 64;
    }
    finite[0] = found[0];
    finite[1] = found[1];
}

static void around_scalar(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl__box_rows boxes,
                          const uint64_t members[ESPL__LEAST 2])
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
        if ((members[i / 64] >> i % 64 & 1) == 0) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            const float below = boxes[k][i] - boxes[3 + k][i];
            const float above = boxes[k][i] + boxes[3 + k][i];

            low[k] = below < low[k] ? below : low[k];
            high[k] = above > high[k] ? above : high[k];
        }
    }
    espl__box_between(out, low, high);
}

static inline float sum_of_magnitudes(const float v[ESPL__LEAST 3])
{
    return fabsf(v[0]) + fabsf(v[1]) + fabsf(v[2]);
}

// Return the most that a corner of a world box is away from the position.
static inline float radius_from(const espl_pose *pose, const espl__box_rows boxes, uint32_t i)
{
    const float x = fabsf(boxes[0][i] - pose->position[0]) + boxes[3][i];
    const float y = fabsf(boxes[1][i] - pose->position[1]) + boxes[4][i];
    const float z = fabsf(boxes[2][i] - pose->position[2]) + boxes[5][i];

    return x + y + z;
}

// A point at distance `radius` of the position moves along an arc, whose height above its chord is
// radius (1 - |dot|). It is off the chord by a change of the scale too, and by lengths of rotations
// that are not 1, because a blend has unit length. 2^-18 and 2^-20 are more than all rounding.
static float reach_scalar(const espl_pose *before, const espl_pose *now,
                          const espl__box_rows boxes_before, const espl__box_rows boxes_now,
                          const uint64_t members[ESPL__LEAST 2])
{
    float reach = 0, nonfinite = 0;

    for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
        if ((members[i / 64] >> i % 64 & 1) == 0) {
            continue;
        }
        const espl_pose *const a = &before[i], *const b = &now[i];
        const float *const p = a->rotation, *const q = b->rotation;
        const float dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        const float off_a = fabsf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] - 1);
        const float off_b = fabsf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1);
        const float radius_a = radius_from(a, boxes_before, i);
        const float radius_b = radius_from(b, boxes_now, i);
        const float radius = radius_a > radius_b ? radius_a : radius_b;
        const float scale_a = fabsf(a->scale), scale_b = fabsf(b->scale);
        const float scale = (scale_a > scale_b ? scale_a : scale_b) + 0x1p-126f;
        const float part = fabsf(1 - fabsf(dot)) + 2 * (off_a + off_b) +
                           fabsf(b->scale - a->scale) / scale + 0x1p-18f;
        const float sizes = sum_of_magnitudes(a->position) + sum_of_magnitudes(b->position);
        const float found = radius * part + (sizes + radius) * 0x1p-20f;

        reach = found > reach ? found : reach;
        nonfinite += found - found;
    }
    return nonfinite == 0 ? reach : NAN;
}

static uint32_t meet_scalar(espl__met_cluster *out, const espl__planes *planes,
                            const float *const boxes[ESPL__LEAST ESPL__BOX_ROWS], uint32_t begin,
                            uint32_t end)
{
    uint32_t count = 0;

    for (uint32_t cluster = begin; cluster < end; ++cluster) {
        float box[ESPL__BOX_ROWS];
        uint32_t cut = 0;
        bool is_outside = false;

        for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
            box[k] = boxes[k][cluster];
        }
        for (uint32_t i = 0; i < planes->count && !is_outside; ++i) {
            const float *const n = planes->normals[i];
            const plane_sums sums = sums_of(box, planes, i);
            const float terms =
                (fabsf(n[0] * box[0]) + fabsf(n[1] * box[1])) + fabsf(n[2] * box[2]);
            const float margin =
                ((terms + sums.radius) + fabsf(planes->offsets[i])) * 0x1p-20f + 0x1p-126f;

            is_outside = sums.distance + sums.radius < -margin;
            cut |= sums.distance - sums.radius > margin ? 0 : UINT32_C(1) << i;
        }
        if (!is_outside) {
            out[count++] = (espl__met_cluster){cluster, cut};
        }
    }
    return count;
}

static void inside_scalar(uint64_t bits[ESPL__LEAST 2], const espl__planes *planes, uint32_t cut,
                          const espl__box_rows boxes)
{
    for (uint32_t word = 0; word < 2; ++word) {
        for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
            const uint32_t bit = espl__lowest_bit(left);
            float box[ESPL__BOX_ROWS];

            copy_box(box, &boxes[0][64 * word + bit], ESPL__BOXES);
            if (!espl__box_is_inside(box, planes, cut)) {
                bits[word] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

static void matrices_scalar(unsigned char *to, size_t stride, const espl_pose *const *poses,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        espl__matrix_of_pose(to + i * stride, poses[i]);
    }
}

const espl__box_kernels espl__box_kernels_scalar = {
    of_poses_scalar, around_scalar, reach_scalar, meet_scalar, inside_scalar, matrices_scalar};

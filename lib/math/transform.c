// SPDX-License-Identifier: MIT
// The public functions on transforms as values. They use the formulas of pose.h, so that points,
// matrices and children agree. An output may be an input of the same type, because inputs are
// copied.
//
// The functions need no world and share no state, so that any thread may call them. A rotation must
// have unit length, as espl_transform_normalize() and every read of a world leave it; it is not
// checked, because these functions are called for every point. Values and results may be infinite
// or NaN, except where a function returns a status for that.
#include "lib/math/pose.h"

// The transform that a child with this local has below this parent. The stretch and the user word
// are the child's own, because children do not inherit them. A NULL gives the identity.
espl_transform espl_transform_identity(void)
{
    return espl__transform_identity();
}

espl_transform espl_transform_compose(const espl_transform *parent, const espl_transform *local)
{
    if (parent == NULL || local == NULL) {
        return espl__transform_identity();
    }
    const espl_pose above = espl__pose_of(parent);
    const espl_pose below = espl__pose_of(local);
    const espl_pose world = espl__pose_compose(&above, parent->stretch, &below);
    const espl__extra extra = espl__extra_of(local);

    return espl__transform_of(&world, &extra);
}

// The inverse of a composition. A part that no local can reach, because the parent has a factor of
// 0, keeps its value from `local`, which is why `local` is read before it is written. The status is
// ESPL_LOSSY only where the part that is kept matters: see espl__pose_relative().
// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_ARGUMENT: a pointer is NULL.
espl_status espl_transform_relative(const espl_transform *parent, const espl_transform *world,
                                    espl_transform *local)
{
    if (local == NULL || parent == NULL || world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl_pose above = espl__pose_of(parent);
    const espl_pose asked = espl__pose_of(world);
    const espl_pose fallback = espl__pose_of(local);
    const espl__extra extra = espl__extra_of(world);
    espl_pose relative;

    const unsigned lost =
        espl__pose_relative(&relative, &above, parent->stretch, &asked, &fallback);
    ESPL_CHECK(lost <= (ESPL__LOST_X | ESPL__LOST_Y | ESPL__LOST_Z | ESPL__LOST_SCALE));
    *local = espl__transform_of(&relative, &extra);
    return lost != 0 ? ESPL_LOSSY : ESPL_OK;
}

// Finiteness comes first, so that a refused transform is unchanged. A unit rotation keeps its bits.
// @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_NOT_FINITE: a number is not finite, or the rotation
//         has no length.
espl_status espl_transform_normalize(espl_transform *transform)
{
    if (transform == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__transform_is_finite(transform) || !espl__rotation_normalize(transform->rotation)) {
        return ESPL_ERR_NOT_FINITE;
    }
    ESPL_CHECK(espl__rotation_is_unit(transform->rotation));
    return ESPL_OK;
}

// Rotate a vector by the inverse rotation of a frame.
static void rotate_inverse(float out[ESPL__LEAST 3], const espl_transform *frame,
                           const float v[ESPL__LEAST 3])
{
    float inverse[4];

    espl__rotation_conjugate(inverse, frame->rotation);
    espl__rotation_apply(out, inverse, v);
}

// Directions turn with the frame, and neither scale nor position matters. They keep their length.
// The input is copied, because espl__rotation_apply() does not allow its output to overlap its
// input.
static void direction_to_world(float out[ESPL__LEAST 3], const espl_transform *frame,
                               const float direction[ESPL__LEAST 3])
{
    const float before[3] = {direction[0], direction[1], direction[2]};

    espl__rotation_apply(out, frame->rotation, before);
}

static void direction_to_local(float out[ESPL__LEAST 3], const espl_transform *frame,
                               const float direction[ESPL__LEAST 3])
{
    const float before[3] = {direction[0], direction[1], direction[2]};

    rotate_inverse(out, frame, before);
}

// Vectors turn and scale with the frame. The product is rounded as that of a child's position is,
// so that a point at a child's local position gets the bits of the child's world position.
static void vector_to_world(float out[ESPL__LEAST 3], const espl_transform *frame,
                            const float vector[ESPL__LEAST 3])
{
    float scaled[3];

    // Stretch before scale, in the order of the formula of a child's position.
    for (int i = 0; i < 3; ++i) {
        scaled[i] = vector[i] * frame->stretch[i] * frame->scale;
    }
    espl__rotation_apply(out, frame->rotation, scaled);
}

// The operations of vector_to_world() undone in reverse order.
static void vector_to_local(float out[ESPL__LEAST 3], const espl_transform *frame,
                            const float vector[ESPL__LEAST 3])
{
    float rotated[3];

    direction_to_local(rotated, frame, vector);
    for (int i = 0; i < 3; ++i) {
        // An axis with a factor of zero has no inverse. Its result is zero, not infinity.
        const bool is_flat = frame->scale == 0 || frame->stretch[i] == 0;

        out[i] = is_flat ? 0 : espl__unscale(rotated[i], frame->scale, frame->stretch[i]);
    }
}

// Points are vectors from the position of the frame.
static void point_to_world(float out[ESPL__LEAST 3], const espl_transform *frame,
                           const float point[ESPL__LEAST 3])
{
    float offset[3];

    vector_to_world(offset, frame, point);
    for (int i = 0; i < 3; ++i) {
        out[i] = frame->position[i] + offset[i];
    }
}

static void point_to_local(float out[ESPL__LEAST 3], const espl_transform *frame,
                           const float point[ESPL__LEAST 3])
{
    float offset[3];

    for (int i = 0; i < 3; ++i) {
        offset[i] = point[i] - frame->position[i];
    }
    vector_to_local(out, frame, offset);
}

// A pointer that is NULL, or a conversion that does not exist, leaves `out` unchanged, because the
// function has no status.
void espl_transform_convert(const espl_transform *frame, espl_conversion conversion,
                            const float value[3], float out[3])
{
    if (out == NULL || frame == NULL || value == NULL) {
        return;
    }
    switch (conversion) {
    case ESPL_POINT_TO_WORLD:
        point_to_world(out, frame, value);
        break;
    case ESPL_POINT_TO_LOCAL:
        point_to_local(out, frame, value);
        break;
    case ESPL_VECTOR_TO_WORLD:
        vector_to_world(out, frame, value);
        break;
    case ESPL_VECTOR_TO_LOCAL:
        vector_to_local(out, frame, value);
        break;
    case ESPL_DIRECTION_TO_WORLD:
        direction_to_world(out, frame, value);
        break;
    case ESPL_DIRECTION_TO_LOCAL:
        direction_to_local(out, frame, value);
        break;
    default:
        break;
    }
}

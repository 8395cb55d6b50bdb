// SPDX-License-Identifier: MIT
// The public functions on transforms as values. They use the formulas of pose.h, so that points,
// matrices and children agree. An output may be an input of the same type, because inputs are
// copied.
#include "lib/math/pose.h"

espl_transform espl_transform_compose(const espl_transform *parent, const espl_transform *local)
{
    if (parent == NULL || local == NULL) {
        return espl_transform_identity();
    }
    const espl_pose above = espl__pose_of(parent);
    const espl_pose below = espl__pose_of(local);
    const espl_pose world = espl__pose_compose(&above, parent->stretch, &below);
    const espl__extra extra = espl__extra_of(local);

    return espl__transform_of(&world, &extra);
}

espl_status espl_transform_relative(espl_transform *local, const espl_transform *parent,
                                    const espl_transform *world)
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
static void rotate_inverse(float out[static 3], const espl_transform *frame,
                           const float v[static 3])
{
    float inverse[4];

    espl__rotation_conjugate(inverse, frame->rotation);
    espl__rotation_apply(out, inverse, v);
}

static void direction_to_world(float out[static 3], const espl_transform *frame,
                               const float direction[static 3])
{
    const float before[3] = {direction[0], direction[1], direction[2]};

    espl__rotation_apply(out, frame->rotation, before);
}

static void direction_to_local(float out[static 3], const espl_transform *frame,
                               const float direction[static 3])
{
    const float before[3] = {direction[0], direction[1], direction[2]};

    rotate_inverse(out, frame, before);
}

static void vector_to_world(float out[static 3], const espl_transform *frame,
                            const float vector[static 3])
{
    float scaled[3];

    // Stretch before scale, in the order of the formula of a child's position.
    for (int i = 0; i < 3; ++i) {
        scaled[i] = vector[i] * frame->stretch[i] * frame->scale;
    }
    espl__rotation_apply(out, frame->rotation, scaled);
}

static void vector_to_local(float out[static 3], const espl_transform *frame,
                            const float vector[static 3])
{
    float rotated[3];

    direction_to_local(rotated, frame, vector);
    for (int i = 0; i < 3; ++i) {
        // An axis with a factor of zero has no inverse. Its result is zero, not infinity.
        const bool is_flat = frame->scale == 0 || frame->stretch[i] == 0;

        out[i] = is_flat ? 0 : rotated[i] / frame->scale / frame->stretch[i];
    }
}

static void point_to_world(float out[static 3], const espl_transform *frame,
                           const float point[static 3])
{
    float offset[3];

    vector_to_world(offset, frame, point);
    for (int i = 0; i < 3; ++i) {
        out[i] = frame->position[i] + offset[i];
    }
}

static void point_to_local(float out[static 3], const espl_transform *frame,
                           const float point[static 3])
{
    float offset[3];

    for (int i = 0; i < 3; ++i) {
        offset[i] = point[i] - frame->position[i];
    }
    vector_to_local(out, frame, offset);
}

void espl_transform_convert(float out[3], const espl_transform *frame, espl_conversion conversion,
                            const float value[3])
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

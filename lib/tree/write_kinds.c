// SPDX-License-Identifier: MIT
// The table of the kinds of write, and their values; see write_kinds.h.
#include "lib/tree/write_kinds.h"

#include <math.h>

const espl__write_kind_info espl__write_kinds[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = {ESPL__VALUE_VECTOR, ESPL__PART_POSITION, false},
    [ESPL_WRITE_LOCAL_ROTATION] = {ESPL__VALUE_ROTATION, ESPL__PART_ROTATION, false},
    [ESPL_WRITE_LOCAL_SCALE] = {ESPL__VALUE_SCALAR, ESPL__PART_SCALE, false},
    [ESPL_WRITE_LOCAL_POSE] = {ESPL__VALUE_POSE, ESPL__PART_POSE, false},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, false},
    [ESPL_WRITE_STRETCH] = {ESPL__VALUE_VECTOR, 0, false},
    [ESPL_WRITE_USER_DATA] = {ESPL__VALUE_WORD, 0, false},
    [ESPL_WRITE_WORLD_POSITION] = {ESPL__VALUE_VECTOR, ESPL__PART_POSITION, true},
    [ESPL_WRITE_WORLD_ROTATION] = {ESPL__VALUE_ROTATION, ESPL__PART_ROTATION, true},
    [ESPL_WRITE_WORLD_SCALE] = {ESPL__VALUE_SCALAR, ESPL__PART_SCALE, true},
    [ESPL_WRITE_WORLD_POSE] = {ESPL__VALUE_POSE, ESPL__PART_POSE, true},
    [ESPL_WRITE_WORLD_TRANSFORM] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, true},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {ESPL__VALUE_VECTOR, ESPL__PART_POSITION, false},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {ESPL__VALUE_ROTATION, ESPL__PART_ROTATION, false},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, false},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, false},
    [ESPL_WRITE_TRANSLATE_WORLD] = {ESPL__VALUE_VECTOR, ESPL__PART_POSITION, true},
    [ESPL_WRITE_ROTATE_WORLD] = {ESPL__VALUE_ROTATION, ESPL__PART_ROTATION, true},
    [ESPL_WRITE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, true},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, ESPL__PART_POSE, true},
    [ESPL_WRITE_MULTIPLY_SCALE] = {ESPL__VALUE_SCALAR, ESPL__PART_SCALE, false},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {ESPL__VALUE_VECTOR, 0, false},
    [ESPL_WRITE_TRANSLATE_OWN] = {ESPL__VALUE_VECTOR, ESPL__PART_POSITION, false},
    [ESPL_WRITE_ROTATE_OWN] = {ESPL__VALUE_ROTATION, ESPL__PART_ROTATION, false},
    [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = {ESPL__VALUE_POSE, ESPL__PART_POSE, false},
    [ESPL_WRITE_PREVIOUS_WORLD_POSE] = {ESPL__VALUE_POSE, ESPL__PART_POSE, true},
    [ESPL_WRITE_CELL] = {ESPL__VALUE_CELL, 0, true},
    [ESPL_WRITE_ABSOLUTE_POSITION] = {ESPL__VALUE_DOUBLES, ESPL__PART_POSITION, true},
};

_Static_assert(sizeof espl__write_kinds / sizeof *espl__write_kinds == ESPL_WRITE_KIND_COUNT,
               "a row for each kind");
_Static_assert((int)ESPL_WRITE_KIND_COUNT <= (int)ESPL_TELEPORT &&
                   (ESPL__WRITE_FLAGS & ~UINT8_MAX) == 0,
               "a kind and its flag fit a byte");

espl__value_type espl__write_value_type(espl_write_kind kind)
{
    // Fast path: a kind without a flag.
    if ((unsigned)kind < ESPL_WRITE_KIND_COUNT) {
        return espl__write_kinds[kind].type;
    }
    return espl__write_exists(kind) ? espl__write_kinds[espl__write_base(kind)].type
                                    : ESPL__VALUE_NONE;
}

size_t espl__write_value_size(espl_write_kind kind)
{
    static const uint8_t sizes[] = {
        [ESPL__VALUE_NONE] = 0,
        [ESPL__VALUE_VECTOR] = 3 * sizeof(float),
        [ESPL__VALUE_ROTATION] = 4 * sizeof(float),
        [ESPL__VALUE_SCALAR] = sizeof(float),
        [ESPL__VALUE_POSE] = sizeof(espl_pose),
        [ESPL__VALUE_TRANSFORM] = sizeof(espl_transform),
        [ESPL__VALUE_WORD] = sizeof(uint32_t),
        [ESPL__VALUE_CELL] = 3 * sizeof(int32_t),
        [ESPL__VALUE_DOUBLES] = 3 * sizeof(double),
    };

    return sizes[espl__write_value_type(kind)];
}

// A rotation of length 0 has no direction, so that normalising it fails. User data may be any word.
espl_status espl__write_check(espl_write_kind kind, espl_write_value *value)
{
    bool is_fine = true;

    // There is no other type.
    switch (espl__write_value_type(kind)) { // GCOVR_EXCL_BR_LINE
    case ESPL__VALUE_NONE:
        return ESPL_ERR_ARGUMENT;
    case ESPL__VALUE_VECTOR:
        is_fine = espl__all_finite(value->position, 3);
        break;
    case ESPL__VALUE_ROTATION:
        is_fine = espl__rotation_normalize(value->rotation);
        break;
    case ESPL__VALUE_SCALAR:
        is_fine = isfinite(value->scale);
        break;
    case ESPL__VALUE_POSE:
    case ESPL__VALUE_TRANSFORM:
        return espl_transform_normalize(&value->transform);
    case ESPL__VALUE_WORD:
    case ESPL__VALUE_CELL:
        break;
    case ESPL__VALUE_DOUBLES: {
        double position[3];

        memcpy(position, value, sizeof position);
        is_fine = isfinite(position[0]) && isfinite(position[1]) && isfinite(position[2]);
        break;
    }
    }
    return is_fine ? ESPL_OK : ESPL_ERR_NOT_FINITE;
}

// An upper bound: a write of the default leaves the default, and any other value may need side
// arrays.
bool espl__write_wants_side(espl_write_kind kind, const espl_write_value *value)
{
    espl__extra extra;

    switch (kind) {
    case ESPL_WRITE_LOCAL_TRANSFORM:
    case ESPL_WRITE_WORLD_TRANSFORM:
        extra = espl__extra_of(&value->transform);
        return !espl__extra_is_default(&extra);
    case ESPL_WRITE_STRETCH:
    case ESPL_WRITE_MULTIPLY_STRETCH:
        return value->stretch[0] != 1 || value->stretch[1] != 1 || value->stretch[2] != 1;
    case ESPL_WRITE_USER_DATA:
        return value->user_data != 0;
    default:
        return false;
    }
}

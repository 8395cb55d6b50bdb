// SPDX-License-Identifier: MIT
// The table of the kinds of writes: type and size of a value, whether it is read in the world, and
// whether it takes side arrays; and writes of transforms that no public call makes.
// tests/world/writes_test.c compares the effect of writes with the model.
#include "lib/tree/placement.h"

#include "tests/runner.h"

#include <string.h>

enum { KINDS = ESPL_WRITE_KIND_COUNT };

typedef struct description {
    espl__value_type type;
    bool is_world, has_stretch, has_user_data;
} description;

static const description described[KINDS] = {
    [ESPL_WRITE_LOCAL_POSITION] = {ESPL__VALUE_VECTOR, false, false, false},
    [ESPL_WRITE_LOCAL_ROTATION] = {ESPL__VALUE_ROTATION, false, false, false},
    [ESPL_WRITE_LOCAL_SCALE] = {ESPL__VALUE_SCALAR, false, false, false},
    [ESPL_WRITE_LOCAL_POSE] = {ESPL__VALUE_POSE, false, false, false},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {ESPL__VALUE_TRANSFORM, false, true, true},
    [ESPL_WRITE_STRETCH] = {ESPL__VALUE_VECTOR, false, true, false},
    [ESPL_WRITE_USER_DATA] = {ESPL__VALUE_WORD, false, false, true},
    [ESPL_WRITE_WORLD_POSITION] = {ESPL__VALUE_VECTOR, true, false, false},
    [ESPL_WRITE_WORLD_ROTATION] = {ESPL__VALUE_ROTATION, true, false, false},
    [ESPL_WRITE_WORLD_SCALE] = {ESPL__VALUE_SCALAR, true, false, false},
    [ESPL_WRITE_WORLD_POSE] = {ESPL__VALUE_POSE, true, false, false},
    [ESPL_WRITE_WORLD_TRANSFORM] = {ESPL__VALUE_TRANSFORM, true, true, true},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {ESPL__VALUE_VECTOR, false, false, false},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {ESPL__VALUE_ROTATION, false, false, false},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, false, false, false},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, false, false, false},
    [ESPL_WRITE_TRANSLATE_WORLD] = {ESPL__VALUE_VECTOR, true, false, false},
    [ESPL_WRITE_ROTATE_WORLD] = {ESPL__VALUE_ROTATION, true, false, false},
    [ESPL_WRITE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, true, false, false},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, true, false, false},
    [ESPL_WRITE_MULTIPLY_SCALE] = {ESPL__VALUE_SCALAR, false, false, false},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {ESPL__VALUE_VECTOR, false, true, false},
    [ESPL_WRITE_TRANSLATE_OWN] = {ESPL__VALUE_VECTOR, false, false, false},
    [ESPL_WRITE_ROTATE_OWN] = {ESPL__VALUE_ROTATION, false, false, false},
    [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = {ESPL__VALUE_POSE, false, false, false},
    [ESPL_WRITE_PREVIOUS_WORLD_POSE] = {ESPL__VALUE_POSE, true, false, false},
    [ESPL_WRITE_CELL] = {ESPL__VALUE_CELL, true, false, false},
    [ESPL_WRITE_ABSOLUTE_POSITION] = {ESPL__VALUE_DOUBLES, true, false, false},
};

// Bytes of a value, by its type.
static const size_t value_sizes[] = {0, 12, 16, 4, 32, 48, 4, 12, 24};

static size_t value_size(espl_write_kind kind)
{
    return value_sizes[espl__write_value_type(kind)];
}

// Tell whether loading a value copies its bytes and no others.
static bool loads_its_size(espl_write_kind kind)
{
    unsigned char from[sizeof(espl_write_value)];
    espl_write_value value;

    memset(from, 7, sizeof from);
    memset(&value, 0xff, sizeof value);
    espl__write_load(&value, kind, from);
    const unsigned char *const bytes = (const unsigned char *)&value;
    size_t copied = 0;

    while (copied < sizeof value && bytes[copied] == 7) {
        copied += 1;
    }
    if (espl__write_value_type(kind) == ESPL__VALUE_POSE) {
        const espl__extra extra = espl__extra_of(&value.transform);

        return copied == value_size(kind) && espl__extra_is_default(&extra);
    }
    return copied == value_size(kind) && (copied == sizeof value || bytes[copied] == 0xff);
}

TEST(values_are_of_the_type_and_size_that_the_kind_says)
{
    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;

        ck_assert_int_eq(espl__write_value_type(kind), described[kind].type);
        ck_assert_int_eq(espl__write_is_local(kind), !described[kind].is_world);
        ck_assert(loads_its_size(kind));
    }
    for (int i = 0; i < 3; ++i) {
        const int wrong[] = {KINDS, -1, 1000};
        espl_write_value value = {.transform = espl_transform_identity()};

        ck_assert_int_eq(espl__write_value_type((espl_write_kind)wrong[i]), ESPL__VALUE_NONE);
        ck_assert(loads_its_size((espl_write_kind)wrong[i]));
        ck_status(espl__write_check((espl_write_kind)wrong[i], &value), ESPL_ERR_ARGUMENT);
    }
}

// A value that is the default but for one field of the stretch, or the user data.
TEST(side_arrays_are_wanted_by_what_leaves_more_than_the_default)
{
    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;
        const description *const d = &described[kind];
        const bool is_whole = d->type == ESPL__VALUE_TRANSFORM;
        espl_write_value plain = {.transform = espl_transform_identity()};

        if (d->type == ESPL__VALUE_VECTOR) {
            plain.stretch[0] = plain.stretch[1] = plain.stretch[2] = 1;
        }
        ck_assert(!espl__write_wants_side(kind, &plain));
        for (int axis = 0; axis < 3; ++axis) {
            espl_write_value value = plain;

            *(is_whole ? &value.transform.stretch[axis] : &value.stretch[axis]) = 0;
            ck_assert_int_eq(espl__write_wants_side(kind, &value), d->has_stretch);
        }
        espl_write_value value = plain;

        *(is_whole ? &value.transform.user_data : &value.user_data) = 7;
        ck_assert(!d->has_user_data || espl__write_wants_side(kind, &value));
    }
}

// No world comes to such a rotation: what is off unit length by rounding stays near it.
TEST(a_rotation_that_is_not_finite_from_the_parent_reads_as_it_is_stored)
{
    espl__frame parent = {espl__pose_identity(), espl__extra_default()};
    espl__placement placement = espl__placement_identity();
    espl_pose world = espl__pose_identity();

    placement.kept = espl__kept_of(&world, ESPL_ABSOLUTE_ROTATION);
    for (int i = 0; i < 4; ++i) {
        parent.world.rotation[i] = 1e30f;
        world.rotation[i] = 2e30f;
    }
    const espl_pose seen = espl__placement_seen(&placement, &parent, &world);

    ck_assert(espl__pose_is_finite(&seen));
    ck_assert_mem_eq(seen.rotation, placement.local.rotation, sizeof seen.rotation);
}

TEST(the_world_of_a_copy_of_its_parent_is_not_set)
{
    const espl__frame parent = {espl__pose_identity(), espl__extra_default()};
    espl__placement placement = espl__placement_identity();
    espl_pose world = parent.world, wanted = world;

    placement.kept = espl__kept_of(&world, ESPL_COPY_PARENT);
    const espl__placement before = placement;

    wanted.position[0] = 1;
    ck_status(espl__placement_set_world(&placement, &world, &parent, ESPL__PART_POSE, &wanted),
              ESPL_ERR_COPIES_PARENT);
    ck_assert(espl__placement_is_equal(&placement, &before));
    ck_assert_mem_eq(&world, &parent.world, sizeof world);
}

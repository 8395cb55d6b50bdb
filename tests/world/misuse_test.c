// SPDX-License-Identifier: MIT
// Values out of range and wrong positions: each answer is a status, and a refused call changes
// nothing. Handles, pointers, components, commands and calls at the wrong time have suites of their
// own.
#include "tests/one_misuse.h"

#include <math.h>
#include <string.h>

// --- Structure ---

FIXTURE(set_up, tear_down);

TEST(a_sibling_that_is_none_is_refused)
{
    const espl_entity wrong[] = {s.root, s.solo};

    for (int i = 0; i < 2; ++i) {
        const espl_attach_options options = {.before = wrong[i]};
        ck_status(espl_attach(s.world, s.solo, s.root, &options), ESPL_ERR_NOT_CHILD);
        ck_status(espl_move_before(s.world, s.child, wrong[i]), ESPL_ERR_NOT_CHILD);
        ck_status(espl_move_before(s.world, wrong[i], s.child), ESPL_ERR_NOT_CHILD);
        ck_status(espl_move_before(s.world, wrong[i], espl_entity_null()), ESPL_ERR_NOT_CHILD);
        ck_status(espl_move_before(s.world, wrong[i], wrong[i]), ESPL_ERR_NOT_CHILD);
    }
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(enumerations_out_of_range_are_refused)
{
    for (int i = 0; i < 4; ++i) {
        espl_attach_options options = {0};
        *(i == 0 ? &options.position : i == 1 ? &options.rotation : &options.scale) = (espl_keep)9;
        if (i == 3) {
            options.scale = ESPL_KEEP_WORLD;
            options.link = (espl_link)2;
        }
        ck_status(espl_attach(s.world, s.solo, s.root, &options), ESPL_ERR_ARGUMENT);
        ck_status(espl_record_attach(espl_command_buffer_recorder(s.commands, 0), 0, s.solo, s.root,
                                     &options),
                  ESPL_ERR_ARGUMENT);
    }
    ck_status(espl_detach(s.world, s.child, (espl_keep)3), ESPL_ERR_ARGUMENT);
    ck_status(
        espl_record_detach(espl_command_buffer_recorder(s.commands, 0), 0, s.child, (espl_keep)3),
        ESPL_ERR_ARGUMENT);
    for (int axis = -1; axis <= ESPL_AXIS_BACK + 1; axis += ESPL_AXIS_BACK + 2) {
        float out[3] = {7, 7, 7};
        ck_status(espl_get_axis(s.world, s.root, (espl_axis)axis, out), ESPL_ERR_ARGUMENT);
        ck_status(espl_look_at(s.world, s.root, out, NULL, (espl_axis)axis), ESPL_ERR_ARGUMENT);
        ck_assert(out[0] == 7 && out[1] == 7 && out[2] == 7);
    }
    espl_entity none = {7, 7};
    ck_assert_uint_eq(espl_copy_subtree(s.world, s.root, (espl_extent)3, 1,
                                        &(espl_subtree_arrays){.entities = &none}),
                      0);
    ck_assert_uint_eq(none.index, 7);
    ck_status(espl_set_enabled(s.world, s.root, (espl_extent)3, false), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_enabled(s.world, s.root, (espl_extent)3, true), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(a_world_checks_its_definition)
{
    test_heap heap;
    espl_world *world = NULL;
    espl_world_def def = {.tag = 128};

    test_heap_init(&heap);
    ck_status(espl_world_create(&def, &world), ESPL_ERR_ARGUMENT);
    def.tag = 127;
    def.allocator = test_heap_allocator(&heap);
    def.allocator.release = NULL;
    ck_status(espl_world_create(&def, &world), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_null(world);
    def.allocator = test_heap_allocator(&heap);
    ck_ok(espl_world_create(&def, &world));
    espl_world_destroy(world);
    espl_world_destroy(NULL);
    ck_assert_uint_eq(heap.bytes, 0);
}

// --- Values ---

static float *field_of(espl_transform *value, int field)
{
    if (field < 4) {
        return &value->rotation[field];
    }
    if (field < 7) {
        return &value->position[field - 4];
    }
    return field < 10 ? &value->stretch[field - 7] : &value->scale;
}

TEST(no_field_may_be_infinite_or_no_number)
{
    const float poison[3] = {NAN, INFINITY, -INFINITY};

    espl_recorder *const recorder = espl_command_buffer_recorder(s.commands, 1);
    for (int field = 0; field < 11; ++field) {
        for (int i = 0; i < 3; ++i) {
            espl_transform value = test_at(1, 1, 1);
            *field_of(&value, field) = poison[i];
            const espl_instance_def def = {
                .source = s.solo, .place = ESPL_PLACE_LOCAL, .transform = value};
            ck_status(espl_set_local_transform(s.world, s.child, &value), ESPL_ERR_NOT_FINITE);
            ck_status(espl_set_world_transform(s.world, s.root, &value), ESPL_ERR_NOT_FINITE);
            ck_status(espl_record_write(recorder, 0, s.child, ESPL_WRITE_LOCAL_TRANSFORM, &value),
                      ESPL_ERR_NOT_FINITE);
            ck_status(espl_record_write(recorder, 0, s.child, ESPL_WRITE_WORLD_TRANSFORM, &value),
                      ESPL_ERR_NOT_FINITE);
            ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_NOT_FINITE);
        }
    }
    espl_transform value = test_at(1, 1, 1);
    memset(value.rotation, 0, sizeof value.rotation);
    ck_status(espl_set_local_transform(s.world, s.child, &value), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(denormal_zero_and_negative_values_are_legal)
{
    const float odd[4] = {1e-42f, 0, -0.0f, -2};

    for (int field = 4; field < 11; ++field) {
        for (int i = 0; i < 4; ++i) {
            espl_transform value = test_at(1, 1, 1);
            *field_of(&value, field) = odd[i];
            ck_ok(espl_set_local_transform(s.world, s.root, &value));
            const espl_transform got = test_local_of(s.world, s.root);
            ck_assert(test_same(&got, &value));
            test_world_is_valid(s.world);
        }
    }
}

TEST(a_world_out_of_range_is_told_wherever_it_comes_about)
{
    espl_transform huge = test_at(0, 0, 0), far = test_at(3e38f, 0, 0);

    huge.scale = 1e30f;
    ck_ok(espl_set_local_transform(s.world, s.child, &huge));
    const espl_transform is = test_local_of(s.world, s.root);
    const uint64_t before = test_logical_hash(s.world);
    ck_status(espl_set_local_transform(s.world, s.root, &huge), ESPL_OVERFLOW);
    ck_ok(espl_set_local_transform(s.world, s.root, &is));
    ck_status(espl_set_world_transform(s.world, s.root, &huge), ESPL_OVERFLOW);
    ck_assert_uint_ge(test_count_overflowed(s.world), 1);
    ck_ok(espl_set_world_transform(s.world, s.root, &is));
    ck_assert_uint_eq(test_count_overflowed(s.world), 0);
    ck_assert_uint_eq(test_logical_hash(s.world), before);

    ck_ok(espl_set_local_transform(s.world, s.solo, &far));
    const uint64_t then = test_logical_hash(s.world);
    ck_status(espl_attach(s.world, s.solo, s.child, &test_keep_local), ESPL_OVERFLOW);
    ck_assert_uint_eq(test_count_overflowed(s.world), 1);
    // It cannot stay where it is, for that is nowhere.
    ck_status(espl_detach(s.world, s.solo, ESPL_KEEP_WORLD), ESPL_ERR_RANGE);
    ck_ok(espl_detach(s.world, s.solo, ESPL_KEEP_LOCAL));
    ck_assert_uint_eq(test_count_overflowed(s.world), 0);
    ck_assert_uint_eq(test_logical_hash(s.world), then);
}

// SPDX-License-Identifier: MIT
// Bad input to reads, writes, batches and inherit flags, by a table: every answer is a status, and
// a refused call changes nothing, its output included.
#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/one_misuse.h"

#include <math.h>
#include <string.h>

static const float poison[3] = {NAN, INFINITY, -INFINITY};

// Beside the entities of misuse.h there is one without a transform below the root.
static espl_entity bare;
static espl_recorder *recorder;

static void begin(void)
{
    set_up();
    ck_ok(espl_create(s.world, NULL, 0, 1, &bare));
    ck_ok(espl_attach(s.world, bare, s.root, NULL));
    recorder = espl_command_buffer_recorder(s.commands, 0);
    untouched = test_physical_hash(s.world);
}

FIXTURE(begin, tear_down);

// --- Reads ---

typedef espl_status (*read_function)(const espl_world *, espl_entity, float *);

static espl_status read_axis(const espl_world *world, espl_entity entity, float *out)
{
    return espl_get_axis(world, entity, ESPL_AXIS_UP, out);
}

static espl_status read_context(const espl_world *world, espl_entity entity, float *out)
{
    uint32_t context = 4321;
    const espl_status status = espl_get_user_data(world, entity, out != NULL ? &context : NULL);

    ck_assert(status == ESPL_OK || context == 4321);
    return status;
}

static espl_status read_whole(espl_status (*get)(const espl_world *, espl_entity, espl_transform *),
                              const espl_world *world, espl_entity entity, const float *out)
{
    espl_transform whole = test_at(7, 7, 7);
    const espl_transform before = whole;
    const espl_status status = get(world, entity, out != NULL ? &whole : NULL);

    ck_assert(status == ESPL_OK || test_same(&whole, &before));
    return status;
}

#define READ_WHOLE(name, get)                                                        \
    static espl_status name(const espl_world *world, espl_entity entity, float *out) \
    {                                                                                \
        return read_whole(get, world, entity, out);                                  \
    }

READ_WHOLE(read_local, espl_get_local_transform)
READ_WHOLE(read_world, espl_get_world_transform)

static espl_entity other; // a good entity, for the calls with two

static espl_status get_seen(const espl_world *world, espl_entity entity, espl_transform *out)
{
    return espl_get_relative_transform(world, other, entity, out);
}

static espl_status get_seen_from(const espl_world *world, espl_entity entity, espl_transform *out)
{
    return espl_get_relative_transform(world, entity, other, out);
}

// A read of a form of matrix.
#define READ_MATRIX(name, form)                                                      \
    static espl_status name(const espl_world *world, espl_entity entity, float *out) \
    {                                                                                \
        return espl_get_matrix(world, entity, form, out);                            \
    }

READ_MATRIX(read_rows, ESPL_MATRIX_3X4)
READ_MATRIX(read_columns, ESPL_MATRIX_4X4)
READ_MATRIX(read_inverse, ESPL_MATRIX_4X4_INVERSE)
READ_WHOLE(read_seen, get_seen)
READ_WHOLE(read_seen_from, get_seen_from)

static const read_function read_functions[] = {espl_get_world_position,
                                               espl_get_world_rotation,
                                               espl_get_world_scale,
                                               espl_get_local_position,
                                               espl_get_local_rotation,
                                               espl_get_local_scale,
                                               espl_get_stretch,
                                               read_rows,
                                               read_columns,
                                               read_inverse,
                                               read_axis,
                                               read_context,
                                               read_local,
                                               read_world,
                                               read_seen,
                                               read_seen_from};

#define LENGTH_OF(array) (sizeof(array) / sizeof *(array))

static void fill(float out[16])
{
    for (int i = 0; i < 16; ++i) {
        out[i] = 1234.5f;
    }
}

static void ck_untouched(const float out[16])
{
    for (int i = 0; i < 16; ++i) {
        ck_assert(out[i] == 1234.5f);
    }
}

static void refuse_reads(espl_entity bad, espl_status expected)
{
    static const float point[3] = {1, 2, 3};
    float out[16];

    fill(out);
    for (size_t i = 0; i < LENGTH_OF(read_functions); ++i) {
        const espl_status status = read_functions[i](s.world, bad, out);
        ck_assert_msg(status == expected, "read %zu answers %s, not %s", i,
                      espl_status_name(status), espl_status_name(expected));
    }
    for (int i = 0; i < ESPL_CONVERSION_COUNT; ++i) {
        const espl_status status = espl_convert(s.world, bad, (espl_conversion)i, point, out);
        ck_assert_msg(status == expected, "conversion %d answers %s, not %s", i,
                      espl_status_name(status), espl_status_name(expected));
    }
    ck_untouched(out);
    ck_assert(!test_is_mirrored(s.world, bad));
    ck_assert_uint_eq(espl_get_inherit(s.world, bad), 0);
}

// --- Writes ---

static void refuse_writes(espl_entity bad, espl_status expected)
{
    static const float point[3] = {1, 2, 3}, turn[4] = {0.6f, 0, 0, 0.8f};
    uint64_t random = 1;

    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        for (int form = 0; form < FORM_COUNT; ++form) {
            const espl_write write = write_ordinary(bad, (espl_write_kind)kind, &random);
            const espl_status status = form_write(s.world, &write, (write_form)form);
            ck_assert_msg(status == expected, "%s in form %d answers %s, not %s",
                          form_name(write.kind), form, espl_status_name(status),
                          espl_status_name(expected));
        }
    }
    ck_assert_int_eq(espl_look_at(s.world, bad, point, NULL, ESPL_AXIS_FORWARD), expected);
    ck_assert_int_eq(espl_rotate_about(s.world, bad, point, turn), expected);
    ck_assert_int_eq(espl_set_inherit(s.world, bad, ESPL_ABSOLUTE_X), expected);
    ck_assert_int_eq(espl_set_inherit(s.world, bad, 0), expected);
}

TEST(an_entity_without_placement_has_nothing_to_read_or_write)
{
    const espl_attach_options keeps = {.inherit = ESPL_ABSOLUTE_Y};
    other = s.child;
    refuse_reads(bare, ESPL_ERR_NO_TRANSFORM);
    refuse_writes(bare, ESPL_ERR_NO_TRANSFORM);
    ck_status(espl_attach(s.world, bare, s.child, &keeps), ESPL_ERR_NO_TRANSFORM);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

// --- Values ---

// Floats that a kind's value has.
static uint32_t field_count(espl_write_kind kind)
{
    static const uint32_t counts[] = {
        [VALUE_POSITION] = 3, [VALUE_ROTATION] = 4, [VALUE_SCALE] = 1,     [VALUE_STRETCH] = 3,
        [VALUE_CONTEXT] = 0,  [VALUE_POSE] = 8,     [VALUE_TRANSFORM] = 11};
    return counts[form_type(kind)];
}

static void refuse_value(espl_write write)
{
    const espl_entity entities[2] = {s.child, s.root};

    for (int i = 0; i < 2; ++i) {
        write.entity = entities[i];
        for (int form = 0; form < FORM_COUNT; ++form) {
            const espl_status status = form_write(s.world, &write, (write_form)form);
            ck_assert_msg(status == ESPL_ERR_NOT_FINITE, "%s in form %d answers %s",
                          form_name(write.kind), form, espl_status_name(status));
        }
        ck_status(espl_record_write(recorder, 0, write.entity, write.kind, &write.value),
                  ESPL_ERR_NOT_FINITE);
    }
}

TEST_LOOP(no_field_of_any_kind_may_be_infinite_or_no_number, 0, ESPL_WRITE_CELL)
{
    const espl_write_kind kind = (espl_write_kind)_i;
    uint64_t random = 1;

    for (uint32_t field = 0; field < field_count(kind); ++field) {
        for (int i = 0; i < 3; ++i) {
            espl_write write = write_ordinary(s.child, kind, &random);
            memcpy((unsigned char *)&write.value + field * sizeof(float), &poison[i],
                   sizeof(float));
            refuse_value(write);
        }
    }
    if (form_type(kind) == VALUE_ROTATION || form_type(kind) == VALUE_POSE ||
        form_type(kind) == VALUE_TRANSFORM) {
        espl_write write = write_ordinary(s.child, kind, &random);
        memset(write.value.rotation, 0, sizeof write.value.rotation);
        refuse_value(write);
    }
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(helpers_check_each_field)
{
    for (int field = 0; field < 4; ++field) {
        for (int i = 0; i < 3; ++i) {
            float point[3] = {1, 2, 3}, up[3] = {0, 1, 0}, by[4] = {0, 0.6f, 0, 0.8f};
            by[field] = poison[i];
            ck_status(espl_rotate_about(s.world, s.child, point, by), ESPL_ERR_NOT_FINITE);
            by[field] = 0;
            if (field == 3) {
                continue;
            }
            up[field] = poison[i];
            ck_status(espl_look_at(s.world, s.child, point, up, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            point[field] = poison[i];
            ck_status(espl_look_at(s.world, s.child, point, NULL, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            by[3] = 1;
            ck_status(espl_rotate_about(s.world, s.child, point, by), ESPL_ERR_NOT_FINITE);
        }
    }
    static const float point[3] = {1, 2, 3}, none[4] = {0, 0, 0, 0};
    ck_status(espl_rotate_about(s.world, s.child, point, none), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(a_rotation_off_unit_length_is_normalised_by_every_kind)
{
    static const float longer[4] = {3, 0, 0, 4};
    static const espl_write_kind kinds[] = {
        ESPL_WRITE_LOCAL_ROTATION, ESPL_WRITE_LOCAL_POSE,          ESPL_WRITE_LOCAL_TRANSFORM,
        ESPL_WRITE_WORLD_ROTATION, ESPL_WRITE_WORLD_TRANSFORM,     ESPL_WRITE_ROTATE_IN_PARENT,
        ESPL_WRITE_ROTATE_WORLD,   ESPL_WRITE_TRANSFORM_IN_PARENT, ESPL_WRITE_TRANSFORM_WORLD};

    for (size_t i = 0; i < LENGTH_OF(kinds); ++i) {
        for (int form = 0; form < FORM_COUNT; ++form) {
            espl_write write = {.kind = kinds[i], .value.transform = espl_transform_identity()};
            write.entity = s.child;
            memcpy(write.value.rotation, longer, sizeof longer);
            ck_ok(form_write(s.world, &write, (write_form)form));
            const espl_transform got = test_local_of(s.world, s.child);
            ck_assert_float_eq_tol(got.rotation[0], 0.6f, 1e-6f);
            ck_assert_float_eq_tol(got.rotation[3], 0.8f, 1e-6f);
            tear_down();
            set_up();
        }
    }
}

// --- Arguments ---

static void ck_refused_whole(espl_status status, const espl_write_report *report)
{
    ck_status(status, ESPL_ERR_ARGUMENT);
    ck_assert(report->applied == 0 && report->lossy == 0 && report->refused == 0);
}

TEST(a_stride_that_is_too_small_for_the_kind_and_kinds_that_do_not_exist_are_refused)
{
    static const size_t sizes[] = {
        [VALUE_POSITION] = 12, [VALUE_ROTATION] = 16, [VALUE_SCALE] = 4,     [VALUE_STRETCH] = 12,
        [VALUE_CONTEXT] = 4,   [VALUE_POSE] = 32,     [VALUE_TRANSFORM] = 48};
    const espl_transform value = test_at(9, 9, 9);
    espl_write_report r;

    for (int i = -1; i <= ESPL_WRITE_KIND_COUNT; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;
        const bool is_kind = i >= 0 && i < ESPL_WRITE_KIND_COUNT;
        const size_t limit = kind == ESPL_WRITE_ABSOLUTE_POSITION ? sizeof(double[3])
                             : is_kind                            ? sizes[form_type(kind)]
                                                                  : 64;
        for (size_t stride = 0; stride < limit; stride += 4) {
            memset(&r, 0xA5, sizeof r);
            ck_refused_whole(espl_write_strided(s.world, kind, &s.child, 1, sizeof(espl_entity),
                                                &value, stride, &r),
                             &r);
        }
        ck_status(espl_write_one(s.world, s.child, kind, NULL), ESPL_ERR_ARGUMENT);
        if (!is_kind) {
            ck_status(espl_write_one(s.world, s.child, kind, &value), ESPL_ERR_ARGUMENT);
            ck_status(espl_record_write(recorder, 0, s.child, kind, &value), ESPL_ERR_ARGUMENT);
        }
    }
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
    s.test.hooks.traps = 0; // checked builds hear of NULL
}

// Sizes in which there is no room, or after which whatever stands there would not be aligned.
TEST(poses_that_cannot_stand_so_are_refused_as_a_whole)
{
    static const size_t of_entity = sizeof(espl_entity), of_pose = sizeof(espl_pose);
    const size_t bad[][2] = {{0, of_pose},
                             {of_entity, 0},
                             {of_entity - 4, of_pose},
                             {of_entity, of_pose - 4},
                             {of_entity + 2, of_pose},
                             {of_entity, of_pose + 1}};
    const espl_pose pose = {{0, 0, 0, 1}, {9, 9, 9}, 1};
    espl_write_report r;

    memset(&r, 0xA5, sizeof r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_refused_whole(espl_write_strided(s.world, ESPL_WRITE_LOCAL_POSE, &s.child, 1, bad[i][0],
                                            &pose, bad[i][1], &r),
                         &r);
        ck_refused_whole(espl_write_strided(s.world, ESPL_WRITE_LOCAL_POSE, &s.child, 0, bad[i][0],
                                            &pose, bad[i][1], &r),
                         &r);
    }
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
    ck_ok(espl_write_strided(s.world, ESPL_WRITE_LOCAL_POSE, &s.child, 1, of_entity, &pose, of_pose,
                             &r));
    ck_assert_uint_eq(r.applied, 1);
    ck_assert_uint_ne(test_physical_hash(s.world), untouched);
}

TEST(a_kind_out_of_range_is_refused_alone)
{
    static const int kinds[3] = {-1, ESPL_WRITE_KIND_COUNT, 1000000000};

    for (int i = 0; i < 3; ++i) {
        const espl_write writes[2] = {
            write_vector(s.root, (espl_write_kind)kinds[i], 1, 1, 1),
            write_vector(s.root, ESPL_WRITE_TRANSLATE_IN_PARENT, 0, 0, 0)};
        espl_write_report report;
        ck_status(espl_write_batch(s.world, writes, 2, &report), ESPL_PARTLY);
        ck_assert_uint_eq(report.applied, 1);
        ck_assert_uint_eq(report.refused, 1);
        ck_assert_uint_eq(report.first_refused, 0);
        ck_status(report.first_status, ESPL_ERR_ARGUMENT);
        // Nothing may be looked up by it where all entries are of that kind either.
        ck_status(espl_write_batch(s.world, writes, 1, &report), ESPL_PARTLY);
        ck_assert_uint_eq(report.applied, 0);
        ck_assert_uint_eq(report.refused, 1);
        ck_status(report.first_status, ESPL_ERR_ARGUMENT);
        ck_status(
            espl_record_write(recorder, 0, writes[0].entity, writes[0].kind, &writes[0].value),
            ESPL_ERR_ARGUMENT);
    }
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(more_writes_than_can_be_counted_are_refused)
{
    const espl_write write = write_vector(s.root, ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0);
    ck_status(espl_write_batch(s.world, &write, SIZE_MAX, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_write_batch(s.world, &write, SIZE_MAX / 2 + 1, NULL), ESPL_ERR_LIMIT);
    ck_assert_float_eq(test_world_of(s.world, s.root).position[0], 1);
}

// --- Inherit flags ---

TEST(inherit_flags_are_checked)
{
    static const uint32_t bad[] = {256, ESPL_COPY_PARENT | ESPL_ABSOLUTE_X,
                                   ESPL_COPY_PARENT | ESPL_STRICT_UP, 0x101, UINT32_MAX};

    for (size_t i = 0; i < LENGTH_OF(bad); ++i) {
        const espl_attach_options options = {.inherit = bad[i]};
        const espl_instance_def def = {.source = s.solo, .parent = s.root, .inherit = bad[i]};
        ck_status(espl_set_inherit(s.world, s.child, bad[i]), ESPL_ERR_ARGUMENT);
        ck_status(espl_attach(s.world, s.solo, s.root, &options), ESPL_ERR_ARGUMENT);
        ck_status(espl_record_set_inherit(recorder, 0, s.child, bad[i]), ESPL_ERR_ARGUMENT);
        ck_status(espl_record_attach(recorder, 0, s.solo, s.root, &options), ESPL_ERR_ARGUMENT);
        ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    }
    const espl_instance_def unhung = {.source = s.solo, .inherit = ESPL_ABSOLUTE_X};
    ck_status(espl_record_instantiate(recorder, 0, &unhung, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_inherit(s.world, s.root, ESPL_ABSOLUTE_X), ESPL_ERR_NOT_CHILD);
    ck_status(espl_set_inherit(s.world, s.solo, ESPL_COPY_PARENT), ESPL_ERR_NOT_CHILD);
    ck_ok(espl_set_inherit(s.world, s.root, 0));
    ck_ok(espl_set_inherit(s.world, s.solo, 0));
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

// Of nodes with nothing out of the ordinary whether a pose is finite shows in the world that comes of
// it, under a flat parent too.
TEST(a_plain_pose_is_refused_as_not_finite_or_overflows)
{
    static const float scales[] = {1, 0, -2, 1e30f};
    test_world test;
    test_world_begin(&test, 3, NULL);
    espl_world *const world = test.world;
    const espl_entity root = test_solo(world), child = test_solo(world), leaf = test_solo(world);

    ck_ok(espl_attach(world, child, root, NULL));
    ck_ok(espl_attach(world, leaf, child, NULL));
    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) {
        ck_assert_int_ge(espl_set_local_scale(world, root, scales[i]), ESPL_OK);
        for (size_t field = 0; field < 8; ++field) {
            espl_transform value = espl_transform_identity(), before, after;
            espl_world_stats counted, counted_then;
            float *const number = field < 4   ? &value.rotation[field]
                                  : field < 7 ? &value.position[field - 4]
                                              : &value.scale;

            *number = poison[field % 3];
            ck_ok(espl_get_local_transform(world, child, &before));
            espl_stats(world, &counted);
            ck_status(espl_set_local_transform(world, child, &value), ESPL_ERR_NOT_FINITE);
            ck_status(espl_set_local_transform(world, root, &value), ESPL_ERR_NOT_FINITE);
            ck_ok(espl_get_local_transform(world, child, &after));
            espl_stats(world, &counted_then);
            ck_assert_mem_eq(&before, &after, sizeof before);
            ck_assert_uint_eq(counted.nodes_visited, counted_then.nodes_visited);
        }
    }

    // The last scale is large: a far position overflows below it, and one further down too. Both are
    // written, and come back when the scale is small.
    espl_transform far = espl_transform_identity(), left;
    far.position[0] = 1e30f;
    ck_status(espl_set_local_transform(world, child, &far), ESPL_OVERFLOW);
    ck_assert_uint_eq(test_count_overflowed(world), 2);
    ck_ok(espl_set_local_scale(world, root, 1));
    ck_assert_float_eq(test_world_of(world, child).position[0], 1e30f);
    ck_ok(espl_set_local_transform(world, leaf, &far));
    far.position[0] = 0;
    far.scale = 1e30f;
    ck_status(espl_set_local_transform(world, child, &far), ESPL_OVERFLOW);
    ck_status(espl_set_local_transform(world, root, &far), ESPL_OVERFLOW);
    ck_status(espl_set_local_scale(world, child, 1), ESPL_OVERFLOW);
    ck_ok(espl_set_local_scale(world, root, 1));
    ck_assert_uint_eq(test_count_overflowed(world), 0);
    ck_ok(espl_get_world_transform(world, leaf, &left));
    ck_assert_float_eq(left.position[0], 1e30f);
    ck_assert_float_eq(left.scale, 1);
    test_world_end(&test);
}

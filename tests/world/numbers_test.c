// SPDX-License-Identifier: MIT
// Extreme numbers: long products of rotations, scales that are zero, negative or nearly zero,
// values at the ends of the range. A letter before a name is an entry of tests/BUGS.md.
#include "tests/asked.h"
#include "tests/one_tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double length_off_unit(const float q[4])
{
    double sum = 0;

    for (int i = 0; i < 4; ++i) {
        sum += (double)q[i] * (double)q[i];
    }
    return fabs(sqrt(sum) - 1);
}

static void random_turn(uint64_t *random, float q[4])
{
    for (int i = 0; i < 4; ++i) {
        q[i] = test_between(random, -1, 1);
    }
    q[3] += q[3] < 0 ? -0.25f : 0.25f; // keeps off zero length
}

// --- Rotations without end ---

FIXTURE(set_up, end);

TEST_LOOP(i3_ten_million_turns_leave_a_rotation_a_rotation, 0, 4)
{
    static const struct {
        espl_write_kind turn;
        uint32_t flags;
    } ways[4] = {{ESPL_WRITE_ROTATE_IN_PARENT, 0},
                 {ESPL_WRITE_ROTATE_WORLD, 0},
                 {ESPL_WRITE_ROTATE_IN_PARENT, ESPL_ABSOLUTE_ROTATION},
                 {ESPL_WRITE_ROTATE_WORLD, ESPL_ABSOLUTE_UP | ESPL_ABSOLUTE_SCALE}};
    const size_t turns = test_scaled(2500000);
    uint64_t random = 7 + ways[_i].flags;
    float scale = 0, world_scale = 0, by[4], q[4];
    const float odd = 1.1f;

    node = make_chain(w, 2);
    ck_ok(espl_set_inherit(w, node[1], ways[_i].flags));
    ck_ok(espl_set_local_scale(w, node[1], odd));
    for (size_t i = 0; i < turns; ++i) {
        random_turn(&random, by);
        ck_ok(espl_write_one(w, node[1], ways[_i].turn, by));
        if (i % 1024 == 0 || i + 1 == turns) {
            ck_ok(espl_get_local_rotation(w, node[1], q));
            ck_assert_double_le(length_off_unit(q), 1e-6);
        }
    }
    ck_ok(espl_get_local_scale(w, node[1], &scale));
    ck_ok(espl_get_world_scale(w, node[1], &world_scale));
    ck_assert(memcmp(&scale, &odd, sizeof scale) == 0);
    ck_assert(memcmp(&world_scale, &odd, sizeof scale) == 0);
}

// --- Scales ---

static const float scales[] = {0,      -0.0f,  -2,          1e-30f,          -1e-30f, 1e30f,
                               -1e30f, 1e-38f, FLT_MIN / 8, -FLT_MIN / 1024, 0.1f};
enum { SCALES = sizeof scales / sizeof *scales };

static bool is_finite(const espl_transform *t)
{
    bool is_finite = isfinite(t->scale) != 0;

    for (int i = 0; i < 4; ++i) {
        is_finite = is_finite && isfinite(t->rotation[i]) && isfinite(t->position[i % 3]);
    }
    return is_finite;
}

// A world that was asked for comes about, to rounding, where the answer is not a remark or refusal.
TEST_LOOP(worlds_are_set_under_any_scale, 0, SCALES)
{
    const espl_transform asked = {{0, 0.6f, 0, 0.8f}, {3, -4, 5}, 2, {1, 1, 1}, 0};
    const int number = _i;
    espl_transform local, world;

    node = make_chain(w, 3);
    ck_ok(espl_set_local_position(w, node[1], (float[3]){0, 0, 0}));
    ck_ok(espl_set_local_position(w, node[2], (float[3]){0, 0, 0}));
    ck_ok(espl_set_local_scale(w, node[0], scales[number]));
    const espl_status status = espl_set_world_transform(w, node[1], &asked);

    local = test_local_of(w, node[1]);
    world = test_world_of(w, node[1]);
    ck_assert(is_finite(&local) && is_finite(&world));
    if (scales[number] == 0) {
        ck_status(status, ESPL_LOSSY);
        ck_assert_float_eq(world.scale, 0);
    } else if (status == ESPL_OK) {
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_le(fabs((double)world.position[i] - (double)asked.position[i]), 1e-5);
        }
        ck_assert_double_le(fabs((double)world.scale - 2), 1e-6);
    } else {
        // Only a local that no float holds is refused.
        ck_status(status, ESPL_ERR_RANGE);
        ck_assert_double_gt(5 / fabs((double)scales[number]), (double)FLT_MAX);
    }
    test_world_is_valid(w);
}

// Zero on any axis at any depth: everything stays finite, and what hangs below can be taken out
// again whole.
TEST_LOOP(i1_zero_on_any_axis_at_any_depth_stays_finite, 0, 20)
{
    enum { DEPTH = 5 };
    const int axis = _i % 4, depth = _i / 4;
    float stretch[3] = {1, 1, 1};

    node = make_chain(w, DEPTH);
    if (axis < 3) {
        stretch[axis] = 0;
        ck_ok(espl_set_stretch(w, node[depth], stretch));
    } else {
        ck_ok(espl_set_local_scale(w, node[depth], 0));
    }
    for (int i = 0; i < DEPTH; ++i) {
        const espl_transform local = test_local_of(w, node[i]);
        const espl_transform world = test_world_of(w, node[i]);

        ck_assert(is_finite(&local) && is_finite(&world));
        ck_assert_int_ge(
            espl_write_one(w, node[i], ESPL_WRITE_ROTATE_WORLD, (float[4]){0, 1, 0, 1}), 0);
    }
    ck_assert_int_ge(espl_detach(w, node[DEPTH - 1], ESPL_KEEP_LOCAL), 0);
    const espl_transform left = test_world_of(w, node[DEPTH - 1]);

    ck_assert(is_finite(&left));
    ck_assert_double_le(length_off_unit(left.rotation), 1e-6);
    test_world_is_valid(w);
}

// --- Bits ---

TEST(minus_zero_is_another_value_than_zero)
{
    const float zero[3] = {0, 0, 0}, minus[3] = {-0.0f, 0, 0};
    float now[3];

    const espl_entity entity = test_solo(w);
    ck_ok(espl_set_local_position(w, entity, zero));
    const uint64_t writes = test_stats(w).writes;

    ck_ok(espl_set_local_position(w, entity, minus));
    ck_assert_uint_eq(test_stats(w).writes, writes + 1);
    ck_ok(espl_get_local_position(w, entity, now));
    ck_assert(memcmp(now, minus, sizeof now) == 0);
    ck_ok(espl_set_local_position(w, entity, minus));
    ck_assert_uint_eq(test_stats(w).writes, writes + 1);
}

TEST(denormals_are_kept_bit_for_bit)
{
    const float tiny[3] = {FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN / 2};
    float now[3];

    node = make_chain(w, 2);
    ck_ok(espl_set_local_position(w, node[0], (float[3]){0, 0, 0}));
    ck_ok(espl_set_local_position(w, node[1], tiny));
    ck_ok(espl_get_world_position(w, node[1], now));
    ck_assert(memcmp(now, tiny, sizeof now) == 0);
}

// A local of 1e30 is as good as any; a world past the largest float is infinite where it comes about, by
// the child's own write and by a parent's, and comes back. A local past it is refused.
TEST(the_range_ends_where_floats_end)
{
    const float far[3] = {1e30f, -1e30f, 1e30f};

    node = make_chain(w, 2);
    ck_ok(espl_set_local_position(w, node[1], far));
    ck_status(espl_set_local_scale(w, node[0], 1e9f), ESPL_OVERFLOW);
    const espl_transform gone = test_world_of(w, node[1]);

    // It is turned by no rotation, and that may make no number of what is infinite.
    for (int i = 0; i < 3; ++i) {
        ck_assert(!isfinite(gone.position[i]));
    }
    ck_assert_uint_eq(test_count_overflowed(w), 1);
    ck_ok(espl_set_local_scale(w, node[0], 1e8f));
    ck_assert_uint_eq(test_count_overflowed(w), 0);
    ck_status(espl_write_one(w, node[0], ESPL_WRITE_MULTIPLY_SCALE, &(const float){10}),
              ESPL_OVERFLOW);
    ck_ok(espl_set_local_scale(w, node[0], 1e8f));
    ck_status(espl_write_one(w, node[1], ESPL_WRITE_TRANSLATE_IN_PARENT, (float[3]){4e30f, 0, 0}),
              ESPL_OVERFLOW);
    ck_assert_float_eq(test_local_of(w, node[1]).position[0], 5e30f);
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_write_one(w, node[0], ESPL_WRITE_MULTIPLY_SCALE, &(const float){1e37f}),
              ESPL_ERR_RANGE);
    ck_status(espl_write_one(w, node[1], ESPL_WRITE_MULTIPLY_STRETCH, (float[3]){2, 2, 2}),
              ESPL_OVERFLOW);
    ck_status(espl_write_one(w, node[1], ESPL_WRITE_MULTIPLY_STRETCH, (float[3]){FLT_MAX, 1, 1}),
              ESPL_ERR_RANGE);
    ck_status(espl_set_stretch(w, node[1], (float[3]){1, 1, 1}), ESPL_OVERFLOW);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_ok(espl_set_local_scale(w, node[0], 1));
    ck_assert_uint_eq(test_count_overflowed(w), 0);
}

// A world scale that overflowed cannot be made absolute. It can where the same attach snaps it.
TEST(a_part_that_is_not_finite_may_be_snapped_and_made_absolute_in_one_attach)
{
    const espl_attach_options absolute = {.inherit = ESPL_ABSOLUTE_SCALE};
    const espl_attach_options snapped = {.scale = ESPL_SNAP, .inherit = ESPL_ABSOLUTE_SCALE};
    float scale = 0;

    node = make_chain(w, 2);
    ck_ok(espl_set_local_scale(w, node[0], 1e25f));
    ck_status(espl_set_local_scale(w, node[1], 1e25f), ESPL_OVERFLOW);
    const uint64_t before = test_physical_hash(w);
    ck_status(espl_attach(w, node[1], node[0], &absolute), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(w), before);
    ck_ok(espl_attach(w, node[1], node[0], &snapped));
    ck_ok(espl_get_world_scale(w, node[1], &scale));
    ck_assert_float_eq(scale, 1e25f);
    ck_assert_uint_eq(espl_get_inherit(w, node[1]), ESPL_ABSOLUTE_SCALE);
    ck_assert_uint_eq(test_count_overflowed(w), 0);
}

// --- Worlds that overflowed ---

static espl_entity overflowed_child(espl_entity *parent)
{
    const float far[3] = {3e38f, 0, 0};
    const espl_entity child = test_solo(w);

    *parent = test_solo(w);
    ck_ok(espl_attach(w, child, *parent, NULL));
    ck_ok(espl_set_local_position(w, child, far));
    ck_status(espl_set_local_scale(w, *parent, 2), ESPL_OVERFLOW);
    return child;
}

// --- Overflow in calls of many parts ---

typedef struct scaling {
    espl_entity entity;
    float scales[2];
    size_t count;
    bool sets_user_data;
} scaling;

static void scale_in_turn(espl_writer *writer, const espl_query *rows, void *context)
{
    const scaling *const s = context;
    const uint32_t word = 5;

    for (size_t row = 0; row < rows->count; ++row) {
        if (!espl_entity_equal(rows->entities[row], s->entity)) {
            continue;
        }
        for (size_t i = 0; i < s->count; ++i) {
            (void)ESPL_WRITER_WRITE(writer, s->entity, ESPL_WRITE_LOCAL_SCALE, &s->scales[i]);
        }
        if (s->sets_user_data) {
            (void)ESPL_WRITER_WRITE(writer, s->entity, ESPL_WRITE_USER_DATA, &word);
        }
    }
}

// @param is_overflowed  what the call and the report say.
static void scales_in_parallel(scaling s, bool is_overflowed)
{
    const espl_parallel_def def = {.function = scale_in_turn, .context = &s};
    espl_parallel_report report;

    ck_status(espl_write_parallel(w, &def, &report), is_overflowed ? ESPL_OVERFLOW : ESPL_OK);
    ck_assert(report.has_overflowed == is_overflowed);
    ck_assert(report.refused == 0);
    ck_assert((test_count_overflowed(w) != 0) == is_overflowed);
}

TEST(a_parallel_write_tells_what_is_infinite_when_it_ends)
{
    espl_reserve_def sides = {0};
    espl_entity parent;

    (void)overflowed_child(&parent);
    const espl_transform local = test_local_of(w, parent);

    sides.side_of = parent;
    ck_ok(espl_reserve(w, &sides));
    // It stays so, whether a world is recomputed or not.
    scales_in_parallel((scaling){parent, {local.scale}, 1, false}, true);
    scales_in_parallel((scaling){parent, {0}, 0, true}, true);
    // It ends, and it begins and ends.
    scales_in_parallel((scaling){parent, {1}, 1, false}, false);
    scales_in_parallel((scaling){parent, {local.scale, 1}, 2, false}, false);
    scales_in_parallel((scaling){parent, {1, local.scale}, 2, false}, true);
}

// The second one copies the world of the third for a while, which is not finite.
TEST(a_destroy_of_many_tells_what_is_infinite_when_it_ends)
{
    const uint32_t all = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;
    espl_entity *const chain = make_chain(w, 4);
    const espl_transform far = test_at(1e20f, 0, 0);

    ck_ok(espl_set_local_transform(w, chain[1], &far));
    ck_ok(espl_set_inherit(w, chain[2], all));
    ck_ok(espl_set_inherit(w, chain[3], ESPL_COPY_PARENT));
    ck_status(espl_set_local_scale(w, chain[0], 1e30f), ESPL_OVERFLOW);
    const espl_entity destroyed[] = {chain[2], chain[3], chain[1]};

    ck_ok(espl_destroy_many(w, destroyed, 3, ESPL_EXTENT_ENTITY, NULL));
    ck_assert_uint_eq(test_count_overflowed(w), 0);
    free(chain);
}

TEST(an_attach_of_many_tells_what_is_infinite_when_it_ends)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    const espl_transform far = test_at(1e20f, 0, 0);
    const espl_entity child = test_solo(w), big = test_solo(w), tame = test_solo(w);
    const espl_entity children[] = {child, child}, parents[] = {big, tame};

    ck_ok(espl_set_local_transform(w, child, &far));
    ck_ok(espl_set_local_scale(w, big, 1e30f));
    ck_ok(espl_attach_many(w, children, parents, 2, &options, NULL));
    ck_assert_uint_eq(test_count_overflowed(w), 0);
    ck_status(espl_attach_many(w, children, parents, 1, &options, NULL), ESPL_OVERFLOW);
}

// A write answers ESPL_OVERFLOW as long as a world is infinite, its entity's own or one below, whatever it
// changes.
TEST(a_write_says_that_a_world_stays_infinite)
{
    const float far[3] = {3e38f, 0, 0}, ones[3] = {1, 1, 1}, at[3] = {1, 0, 0};
    espl_entity parent;
    const espl_entity child = overflowed_child(&parent), top = test_solo(w);

    // No world is recomputed.
    ck_ok(espl_attach(w, parent, top, NULL));
    ck_status(espl_set_user_data(w, child, 7), ESPL_OVERFLOW);
    ck_status(espl_set_local_position(w, child, far), ESPL_OVERFLOW);
    ck_status(espl_set_stretch(w, child, ones), ESPL_OVERFLOW);
    ck_status(espl_set_local_scale(w, parent, 2), ESPL_OVERFLOW);
    ck_status(espl_set_user_data(w, parent, 9), ESPL_OVERFLOW);
    ck_status(espl_set_local_scale(w, top, 1), ESPL_OVERFLOW);
    ck_status(espl_set_local_position(w, top, at), ESPL_OVERFLOW);
    const espl_transform local = test_local_of(w, top);

    ck_status(espl_set_local_transform(w, top, &local), ESPL_OVERFLOW);
    const espl_write same[] = {write_scale(top, ESPL_WRITE_LOCAL_SCALE, 1),
                               write_scale(parent, ESPL_WRITE_LOCAL_SCALE, 2)};
    espl_write_report report;

    ck_status(espl_write_batch(w, same, 2, &report), ESPL_OVERFLOW);
    ck_assert(report.has_overflowed);
    ck_status(espl_write_batch(w, same, 1, &report), ESPL_OVERFLOW);
    ck_assert(report.has_overflowed);
    ck_ok(espl_set_local_scale(w, parent, 1));
    // Then no write does, however many there are.
    for (int i = 0; i < 20; ++i) {
        ck_ok(espl_set_local_scale(w, parent, 1));
        ck_ok(espl_set_user_data(w, child, 7));
    }
    ck_status(espl_set_local_scale(w, parent, 2), ESPL_OVERFLOW);
    ck_status(espl_set_local_scale(w, parent, 2), ESPL_OVERFLOW);
}

// ESPL_ERR_NOT_FINITE is for what the caller passed, ESPL_ERR_RANGE for a local that cannot be computed.
TEST(a_world_that_is_infinite_is_not_turned_about_a_point)
{
    const float pivot[3] = {0, 0, 0}, by[4] = {0, 0, 1, 1}, bad[3] = {NAN, 0, 0};
    espl_entity parent;
    const espl_entity child = overflowed_child(&parent);
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_rotate_about(w, child, pivot, by), ESPL_ERR_RANGE);
    ck_status(espl_look_at(w, child, pivot, NULL, ESPL_AXIS_FORWARD), ESPL_ERR_RANGE);
    ck_status(espl_write_one(w, child, ESPL_WRITE_TRANSLATE_WORLD, by), ESPL_ERR_RANGE);
    ck_status(espl_rotate_about(w, child, bad, by), ESPL_ERR_NOT_FINITE);
    ck_status(espl_look_at(w, child, bad, NULL, ESPL_AXIS_FORWARD), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_status(espl_write_one(w, child, ESPL_WRITE_ROTATE_WORLD, by), ESPL_OVERFLOW);
}

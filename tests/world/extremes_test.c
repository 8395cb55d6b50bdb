// SPDX-License-Identifier: MIT
// Locals that are computed from worlds, at the ends of the range of floats: scales, stretches and positions
// from 1e-38 to 1e38, denormals and zeros included. A call is refused and changes nothing, or the world is
// the one that was asked for, or a remark says that it is not. Each call is made at once, and in a second
// world by a command.
#include "tests/asked.h"
#include "tests/one_world.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- Numbers ---

static float number(uint64_t *random)
{
    const float sign = test_one_in(random, 2) ? -1 : 1;

    switch (test_below(random, 10)) {
    case 0:
        return sign * 0.0f;
    case 1:
        return sign * FLT_TRUE_MIN * (float)(1 + test_below(random, 1 << 20));
    case 2:
    case 3:
    case 4:
        return sign * powf(10, test_between(random, -38, 38));
    default:
        return sign * test_between(random, 0.1f, 10);
    }
}

static void draw_numbers(uint64_t *random, float *out, int count, bool is_calm)
{
    for (int i = 0; i < count; ++i) {
        out[i] = is_calm ? test_between(random, 0.5f, 4) : number(random);
    }
}

static espl_transform draw_transform(uint64_t *random)
{
    espl_transform value = espl_transform_identity();

    if (!test_one_in(random, 3)) {
        for (int i = 0; i < 4; ++i) {
            value.rotation[i] = test_between(random, -1, 1);
        }
        value.rotation[3] += 1.5f;
    }
    draw_numbers(random, value.position, 3, test_one_in(random, 2));
    draw_numbers(random, &value.scale, 1, test_one_in(random, 2));
    if (test_one_in(random, 2)) {
        draw_numbers(random, value.stretch, 3, test_one_in(random, 2));
    }
    return value;
}

static bool are_finite(const espl_transform *t)
{
    bool is_finite = isfinite(t->scale) != 0;

    for (int i = 0; i < 4; ++i) {
        is_finite = is_finite && isfinite(t->rotation[i]) && isfinite(t->position[i % 3]);
    }
    return is_finite;
}

// --- A scene ---

enum { ROOT, MIDDLE, CHILD, LEAF, OTHER, MEMBERS };

typedef struct scene {
    test_world test;
    espl_entity member[MEMBERS];
} scene;

// Root, middle, child and leaf are a chain; the other is a solo. What overflows, or is refused, is left so.
static void begin_scene(scene *s, uint64_t seed)
{
    static const espl_attach_options local = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    uint64_t random = seed;

    test_world_begin(&s->test, 3, NULL);
    for (int i = 0; i < MEMBERS; ++i) {
        const espl_transform value = draw_transform(&random);

        s->member[i] = test_solo(s->test.world);
        ck_assert_int_ge(espl_set_local_transform(s->test.world, s->member[i], &value), 0);
        if (i == MIDDLE || i == CHILD || i == LEAF) {
            espl_attach_options options = local;

            options.link = i == CHILD ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
            options.inherit = i == CHILD && test_one_in(&random, 2) ? test_below(&random, 128) : 0;
            // A kept part that is not finite is refused.
            if (espl_attach(s->test.world, s->member[i], s->member[i - 1], &options) < 0) {
                options.inherit = 0;
                ck_assert_int_ge(
                    espl_attach(s->test.world, s->member[i], s->member[i - 1], &options), 0);
            }
        }
    }
    // Then kept parts are not what the locals compose to.
    for (int i = ROOT; i <= MIDDLE && test_one_in(&random, 2); ++i) {
        const espl_transform value = draw_transform(&random);

        ck_assert_int_ge(espl_set_local_transform(s->test.world, s->member[i], &value), 0);
    }
}

// --- Calls ---

typedef enum call_kind {
    SET_POSITION,
    SET_SCALE,
    SET_TRANSFORM,
    ATTACH_UP,
    ATTACH_DOWN,
    ATTACH_ACROSS,
    DETACH,
    INHERIT,
    DESTROY,
    TAKE_TRANSFORM,
    GIVE_TRANSFORM,
    CREATE,
    CALL_KINDS
} call_kind;

typedef struct call {
    call_kind kind;
    espl_transform value;
    uint32_t flags;
} call;

// Whose world is asked for.
static int subject_of(const call *c)
{
    return c->kind == ATTACH_DOWN ? OTHER : CHILD;
}

static espl_status change_transform(scene *s, espl_recorder *recorder, espl_entity entity,
                                    const espl_transform *value)
{
    const espl_component transform = ESPL_TRANSFORM;

    if (value == NULL) {
        return recorder != NULL ? espl_record_remove_component(recorder, 0, entity, transform)
                                : espl_remove_component(s->test.world, entity, transform);
    }
    return recorder != NULL
               ? espl_record_add_component(recorder, 0, entity, transform, value, sizeof *value)
               : espl_add_component(s->test.world, entity, transform, value, sizeof *value);
}

static espl_status attach(scene *s, espl_recorder *recorder, espl_entity child, espl_entity parent,
                          uint32_t flags)
{
    const espl_attach_options options = {.inherit = flags};

    return recorder != NULL ? espl_record_attach(recorder, 0, child, parent, &options)
                            : espl_attach(s->test.world, child, parent, &options);
}

static espl_status write_world(scene *s, espl_recorder *recorder, const call *c)
{
    static const espl_write_kind kinds[] = {ESPL_WRITE_WORLD_POSITION, ESPL_WRITE_WORLD_SCALE,
                                            ESPL_WRITE_WORLD_TRANSFORM};
    const void *const values[] = {c->value.position, &c->value.scale, &c->value};
    const espl_entity child = s->member[CHILD];

    return recorder != NULL ? espl_record_write(recorder, 0, child, kinds[c->kind], values[c->kind])
                            : espl_write_one(s->test.world, child, kinds[c->kind], values[c->kind]);
}

static espl_status create(scene *s, espl_recorder *recorder, const call *c, espl_entity *made)
{
    const espl_component_value value = {ESPL_TRANSFORM, sizeof c->value, &c->value};
    const espl_creation_def def = {.values = &value,
                                   .value_count = 1,
                                   .parent = s->member[MIDDLE],
                                   .place = ESPL_PLACE_WORLD,
                                   .inherit = c->flags};

    return recorder != NULL ? espl_record_create(recorder, 0, &def, 1, made)
                            : espl_create_at(s->test.world, &def, 1, made);
}

// Make a call at once, or record it where there is a recorder.
static espl_status make_call(scene *s, espl_recorder *recorder, const call *c, espl_entity *made)
{
    espl_world *const world = s->test.world;
    const espl_entity *const e = s->member;

    switch (c->kind) {
    case SET_POSITION:
    case SET_SCALE:
    case SET_TRANSFORM:
        return write_world(s, recorder, c);
    case ATTACH_UP:
        return attach(s, recorder, e[CHILD], e[ROOT], c->flags);
    case ATTACH_DOWN:
        return attach(s, recorder, e[OTHER], e[CHILD], c->flags);
    case ATTACH_ACROSS:
        return attach(s, recorder, e[CHILD], e[OTHER], c->flags);
    case DETACH:
        return recorder != NULL ? espl_record_detach(recorder, 0, e[CHILD], ESPL_KEEP_WORLD)
                                : espl_detach(world, e[CHILD], ESPL_KEEP_WORLD);
    case INHERIT:
        return recorder != NULL ? espl_record_set_inherit(recorder, 0, e[CHILD], c->flags)
                                : espl_set_inherit(world, e[CHILD], c->flags);
    case DESTROY:
        return recorder != NULL ? espl_record_destroy(recorder, 0, e[MIDDLE], ESPL_EXTENT_OWNED)
                                : espl_destroy(world, e[MIDDLE], ESPL_EXTENT_OWNED);
    case TAKE_TRANSFORM:
        return change_transform(s, recorder, e[MIDDLE], NULL);
    case GIVE_TRANSFORM:
        return change_transform(s, recorder, e[MIDDLE], &c->value);
    default:
        return create(s, recorder, c, made);
    }
}

// Make a call by a command. @return its result, or ESPL_OVERFLOW as an immediate call has it.
static espl_status play_call(scene *s, const call *c, espl_entity *made)
{
    espl_command_buffer *const commands = test_commands(s->test.world, 1);
    espl_report report;

    ck_ok(make_call(s, espl_command_buffer_recorder(commands, 0), c, made));
    ck_assert_int_ge(espl_play(s->test.world, commands, &report), 0);
    const espl_status result = espl_command_buffer_result(commands, 0, 0);

    if (c->kind == CREATE && result >= 0) {
        ck_ok(espl_command_buffer_resolve(commands, *made, made));
    }
    ck_assert_uint_eq(report.lossy, result == ESPL_LOSSY);
    espl_command_buffer_destroy(commands);
    return result >= 0 && report.has_overflowed ? ESPL_OVERFLOW : result;
}

// --- What came of it ---

static double largest(const float v[3])
{
    return fmax(fabs((double)v[0]), fmax(fabs((double)v[1]), fabs((double)v[2])));
}

// How far a position is from the one that was asked for, at most, as a part of the numbers that it is
// computed from.
static void ck_position(const espl_transform *got, const espl_transform *asked,
                        const espl_transform *above)
{
    for (int i = 0; i < 3; ++i) {
        const double off = fabs((double)got->position[i] - (double)asked->position[i]);
        const double sizes = largest(asked->position) + largest(above->position);

        ck_assert_msg(off <= 2e-5 * sizes + 1e-44, "%g is off by %g", (double)asked->position[i],
                      off);
    }
}

static void ck_world(const espl_transform *got, const espl_transform *asked,
                     const espl_transform *above, call_kind kind)
{
    double along = 0, lengths = 0;

    if (kind != SET_SCALE) {
        ck_position(got, asked, above);
    }
    if (kind != SET_POSITION) {
        const double off = fabs((double)got->scale - (double)asked->scale);

        ck_assert_msg(off <= 2e-5 * fabs((double)asked->scale) + 1e-44, "%g is off by %g",
                      (double)asked->scale, off);
    }
    for (int i = 0; i < 4; ++i) {
        along += (double)got->rotation[i] * (double)asked->rotation[i];
        lengths += (double)got->rotation[i] * (double)got->rotation[i];
    }
    if (kind != SET_SCALE && kind != SET_POSITION) {
        ck_assert_double_gt(fabs(along) / sqrt(lengths), 0.9999);
    }
}

// What a call asks of the world of its subject: a value, or that it stays.
static espl_transform asked_of(const scene *s, const call *c)
{
    espl_transform value = c->value;

    ck_ok(espl_transform_normalize(&value));
    return c->kind <= SET_TRANSFORM || c->kind == CREATE
               ? value
               : test_world_of(s->test.world, s->member[subject_of(c)]);
}

typedef struct counts {
    uint64_t done, lossy, overflowed, refused;
} counts;

static void try_call(const call *c, uint64_t seed, counts *sum)
{
    scene now, later;

    begin_scene(&now, seed);
    begin_scene(&later, seed);
    espl_world *const world = now.test.world;
    const espl_component transform = ESPL_TRANSFORM;

    if (c->kind == GIVE_TRANSFORM) {
        (void)!espl_remove_component(world, now.member[MIDDLE], transform);
        (void)!espl_remove_component(later.test.world, later.member[MIDDLE], transform);
    }
    const uint64_t logical = test_logical_hash(world), physical = test_physical_hash(world);
    const espl_transform asked = asked_of(&now, c);
    espl_entity made[2] = {now.member[subject_of(c)], {0, 0}};
    const espl_status status = make_call(&now, NULL, c, &made[0]);

    const espl_status played = play_call(&later, c, &made[1]);

    // A write at once also tells of worlds that stayed infinite; a playback of those that it recomputed.
    if (status != ESPL_OVERFLOW || (c->kind > SET_TRANSFORM && c->kind != INHERIT)) {
        ck_status(played, status);
    } else {
        ck_assert_int_ge(played, 0);
    }
    ck_assert_uint_eq(test_logical_hash(later.test.world), test_logical_hash(world));
    test_world_is_valid(world);
    test_world_is_valid(later.test.world);
    if (status < 0) {
        ck_status(status, ESPL_ERR_RANGE);
        ck_assert(c->kind != DESTROY && c->kind != TAKE_TRANSFORM && c->kind != GIVE_TRANSFORM);
        ck_assert_uint_eq(test_logical_hash(world), logical);
        ck_assert_uint_eq(test_physical_hash(world), physical);
        sum->refused += 1;
    } else if (status == ESPL_OVERFLOW) {
        ck_assert_uint_ge(test_count_overflowed(world), 1);
        sum->overflowed += 1;
    } else {
        const espl_transform got = test_world_of(world, made[0]);
        const espl_entity up = espl_get_parent(world, made[0]);
        const espl_entity parent =
            espl_has_component(world, up, ESPL_TRANSFORM) ? up : espl_get_parent(world, up);
        const espl_transform above =
            espl_entity_is_null(parent) ? espl_transform_identity() : test_world_of(world, parent);

        if (status == ESPL_OK && are_finite(&asked)) {
            ck_world(&got, &asked, &above, c->kind);
        } else if (status == ESPL_LOSSY && made[0].index == now.member[CHILD].index) {
            ck_assert(memcmp(&got, &asked, sizeof(espl_pose)) != 0);
        }
        sum->done += status == ESPL_OK;
        sum->lossy += status == ESPL_LOSSY;
    }
    test_world_end(&now.test);
    test_world_end(&later.test);
}

FIXTURE(set_up, tear_down);

TEST_LOOP(a_computed_local_gives_the_world_or_says_that_it_does_not, 0, CALL_KINDS)
{
    const size_t count = test_scaled(800);
    uint64_t random = 11 + (uint64_t)_i;
    counts sum = {0, 0, 0, 0};

    for (size_t i = 0; i < count; ++i) {
        const call c = {(call_kind)_i, draw_transform(&random),
                        test_one_in(&random, 2) ? test_below(&random, 128) : 0};

        try_call(&c, test_random(&random), &sum);
    }
    // A test of what never happens would be none.
    ck_assert_uint_gt(sum.done, count / 50);
    if (count >= 100) {
        ck_assert_uint_gt(sum.lossy + (_i == DETACH ? 1 : 0), 0);
    }
    test_tell_figure(sum.done, "computed locals that give the world");
}

// --- Examples ---

static const espl_attach_options local_stays = {
    .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

static espl_entity child_of(espl_entity parent, float x, uint32_t flags, espl_link link)
{
    const espl_entity child = test_solo_at(w, x, 0, 0);
    espl_attach_options options = local_stays;

    options.inherit = flags;
    options.link = link;
    ck_ok(espl_attach(w, child, parent, &options));
    return child;
}

static float x_of(espl_entity entity)
{
    return test_world_of(w, entity).position[0];
}

// At a scale of 1e-38 a position of 10 would need a local of 1e39: the largest float is the nearest. Its
// scale of 1 stays.
TEST_LOOP(a_survivor_out_of_range_is_as_near_as_floats_reach, 0, 3)
{
    const espl_entity root = test_solo_at(w, 0, 0, 0);
    const espl_entity middle = child_of(root, 0, 0, ESPL_LINK_OWNED);
    const espl_entity child = child_of(middle, 10, 0, ESPL_LINK_FREE);
    espl_status status = ESPL_OK;

    ck_ok(espl_set_local_scale(w, root, 1e-38f));
    ck_ok(espl_set_local_scale(w, middle, 1e38f));
    ck_assert_float_eq_tol(x_of(child), 10, 1e-5f);
    if (_i == 0) {
        status = espl_destroy(w, middle, ESPL_EXTENT_OWNED);
    } else if (_i == 1) {
        status = espl_destroy_many(w, &middle, 1, ESPL_EXTENT_ENTITY, NULL);
    } else {
        status = espl_remove_component(w, middle, ESPL_TRANSFORM);
    }
    ck_status(status, ESPL_LOSSY);
    ck_assert_float_eq(x_of(child), FLT_MAX * 1e-38f);
    ck_assert_float_eq_tol(test_world_of(w, child).scale, 1, 1e-6f);
}

// Below a scale of 0 the survivor gets the local by which it would stand where the destroyed entities held
// it: a stretch moves the next child alone.
TEST(a_survivor_below_a_scale_of_zero_stands_where_it_would_have_stood)
{
    const float stretch[3] = {0.5f, 1, 1}, other[3] = {4, 1, 1};
    float at[2];

    for (int i = 0; i < 2; ++i) {
        const espl_entity root = test_solo_at(w, 0, 0, 0);
        const espl_entity upper = child_of(root, 3, 0, ESPL_LINK_OWNED);
        const espl_entity lower = child_of(upper, 2, 0, ESPL_LINK_OWNED);
        const espl_entity child = child_of(lower, 1, 0, ESPL_LINK_FREE);

        ck_ok(espl_set_stretch(w, root, other));
        ck_ok(espl_set_stretch(w, upper, stretch));
        ck_ok(espl_set_local_scale(w, root, 0));
        if (i == 1) {
            ck_ok(espl_destroy(w, upper, ESPL_EXTENT_OWNED));
        }
        ck_ok(espl_set_local_scale(w, root, 1));
        at[i] = x_of(child);
    }
    ck_assert_float_eq(at[0], 3 * 4 + 2 * 0.5f + 1);
    ck_assert_float_eq(at[1], at[0]);
}

TEST(a_survivor_on_an_axis_without_length_is_lossy)
{
    const float quarter[4] = {0, 0, 1, 1}, flat[3] = {1, 0, 1};
    const espl_entity root = test_solo_at(w, 0, 0, 0);
    const espl_entity middle = child_of(root, 0, 0, ESPL_LINK_OWNED);
    const espl_entity child = child_of(middle, 2, 0, ESPL_LINK_FREE);

    ck_ok(espl_set_stretch(w, root, flat));
    ck_ok(espl_set_local_rotation(w, middle, quarter));
    ck_assert_float_eq_tol(test_world_of(w, child).position[1], 2, 1e-6f);
    ck_status(espl_destroy(w, middle, ESPL_EXTENT_ENTITY), ESPL_LOSSY);
}

// Its position overflowed, and no other part: as a root it keeps those.
TEST(a_survivor_that_becomes_a_root_keeps_the_parts_that_are_finite)
{
    const float quarter[4] = {0, 0, 1, 1};
    const espl_entity root = test_solo_at(w, 1e38f, 0, 0);
    const espl_entity child = child_of(root, 2e38f, 0, ESPL_LINK_FREE);

    ck_ok(espl_set_local_rotation(w, root, quarter));
    ck_status(espl_set_local_scale(w, root, 4), ESPL_OVERFLOW);
    const espl_transform before = test_world_of(w, child);

    ck_ok(espl_destroy(w, root, ESPL_EXTENT_ENTITY));
    const espl_transform after = test_world_of(w, child);

    ck_assert(!isfinite(before.position[1]) && are_finite(&after));
    ck_assert_float_eq(after.scale, 4);
    ck_assert_mem_eq(after.rotation, before.rotation, sizeof after.rotation);
}

TEST(a_scale_is_multiplied_as_it_reads)
{
    const espl_entity parent = test_solo_at(w, 0, 0, 0);
    const espl_entity child = child_of(parent, 0, ESPL_ABSOLUTE_SCALE, ESPL_LINK_OWNED);

    ck_ok(espl_set_local_scale(w, parent, -1));
    ck_assert_float_eq(test_local_of(w, child).scale, -1);
    ck_ok(espl_write_one(w, child, ESPL_WRITE_MULTIPLY_SCALE, &(const float){2}));
    ck_assert_float_eq(test_local_of(w, child).scale, -2);
    ck_assert_float_eq(test_world_of(w, child).scale, 2);
    // No local leads to the kept scale from here: the stored one reads.
    ck_ok(espl_set_local_scale(w, parent, 0));
    ck_assert_float_eq(test_local_of(w, child).scale, -2);
}

// Flags that change leave the stored local of a part alone that stays kept. It shows when the parent turns.
TEST(other_flags_leave_the_local_of_a_kept_part)
{
    const float quarter[4] = {0, 0, 1, 1}, up[3] = {0, 1, 0}, two[3] = {0, 2, 0};
    float x[3];

    for (int i = 0; i < 3; ++i) {
        const espl_entity parent = test_solo_at(w, 0, 0, 0);
        const espl_entity child = child_of(parent, 0, 0, ESPL_LINK_OWNED);
        const uint32_t more[] = {0, ESPL_ABSOLUTE_SCALE, ESPL_ABSOLUTE_Z};

        ck_ok(espl_set_local_position(w, child, two));
        ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_Y));
        ck_ok(espl_write_one(w, parent, ESPL_WRITE_TRANSLATE_IN_PARENT, up));
        ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_Y | more[i]));
        ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_Y));
        ck_ok(espl_set_local_rotation(w, parent, quarter));
        x[i] = x_of(child);
    }
    ck_assert_float_eq_tol(x[0], -2, 1e-6f);
    ck_assert_float_eq(x[1], x[0]);
    ck_assert_float_eq_tol(x[2], -2, 1e-6f);
}

// A flag that goes gives its part a local; the parts beside it keep theirs.
TEST(a_part_that_is_kept_no_longer_stays_where_it_is)
{
    const float by[3] = {5, 7, 9}, odd[4] = {1, 2, 3, 4};
    const uint32_t all =
        ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;

    for (uint32_t left = 0; left < ESPL_COPY_PARENT; ++left) {
        const espl_entity parent = test_solo_at(w, 0, 0, 0);
        const espl_entity child = child_of(parent, 1, all, ESPL_LINK_OWNED);

        ck_ok(espl_write_one(w, parent, ESPL_WRITE_TRANSLATE_IN_PARENT, by));
        ck_ok(espl_set_local_rotation(w, parent, odd));
        ck_ok(espl_set_local_scale(w, parent, 3));
        const espl_transform before = test_world_of(w, child);

        ck_ok(espl_set_inherit(w, child, left & ~(uint32_t)ESPL_STRICT_UP));
        const espl_transform after = test_world_of(w, child);

        ck_world(&after, &before, &before, SET_TRANSFORM);
        ck_ok(espl_destroy(w, parent, ESPL_EXTENT_OWNED));
    }
}

// The local scale would be 1e-47: none is near.
TEST(a_local_that_underflows_is_lossy)
{
    const espl_entity parent = test_solo_at(w, 0, 0, 0);
    const espl_entity child = child_of(parent, 0, 0, ESPL_LINK_OWNED);
    const espl_entity other = test_solo_at(w, 0, 0, 0);
    const float tiny = 1e-9f, near[3] = {0, 1e-9f, 0};

    ck_ok(espl_set_local_scale(w, other, tiny));
    ck_ok(espl_set_local_scale(w, parent, 1e38f));
    ck_status(espl_write_one(w, child, ESPL_WRITE_WORLD_SCALE, &tiny), ESPL_LOSSY);
    ck_assert_float_eq(test_world_of(w, child).scale, 0);
    ck_status(espl_set_world_position(w, child, near), ESPL_LOSSY);
    ck_status(espl_attach(w, other, parent, NULL), ESPL_LOSSY);
    // What the flags keep is not lost.
    ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_SCALE));
    ck_ok(espl_set_world_position(w, child, near));
    ck_ok(espl_write_one(w, child, ESPL_WRITE_WORLD_SCALE, &tiny));
    ck_assert_float_eq(test_world_of(w, child).scale, tiny);
}

// Kept axes of the world make up for an axis of a turned parent that has no length, to rounding.
TEST(axes_that_are_lost_in_the_rounding_of_a_hidden_offset_are_lossy)
{
    int exact = 0, lossy = 0;

    for (float scale = 1; scale < 2e9f; scale *= 10) {
        const espl_entity above = test_solo(w), below = test_solo_at(w, 1, 1, 1);
        const espl_attach_options keeps = {.inherit = ESPL_ABSOLUTE_POSITION};
        const float turn[4] = {0.3f, 0.5f, 0.1f, 0.8f};
        float at[3], off = 0;

        // Its local, which its parent scales, is hidden.
        ck_ok(espl_attach(w, below, above, &keeps));
        ck_ok(espl_set_local_scale(w, above, scale));
        ck_ok(espl_set_local_rotation(w, above, turn));
        const espl_status status = espl_set_inherit(w, below, ESPL_ABSOLUTE_Z);

        ck_ok(espl_get_world_position(w, below, at));
        for (int i = 0; i < 3; ++i) {
            off = fmaxf(off, fabsf(at[i] - 1));
        }
        ck_assert(status == ESPL_OK || status == ESPL_LOSSY);
        ck_assert(status == ESPL_LOSSY || off < 1e-5f);
        ck_assert(status == ESPL_OK || off > 1e-6f);
        exact += status == ESPL_OK;
        lossy += status == ESPL_LOSSY;
    }
    ck_assert_int_ge(exact, 2);
    ck_assert_int_ge(lossy, 3);
}

TEST(what_kept_axes_make_up_for_is_not_lossy)
{
    const float turn[4] = {0, 0, 0.3f, 0.7f}, flat[3] = {0, 1, 1}, at[3] = {3, 4, 5};
    const espl_entity parent = test_solo_at(w, 1, 1, 1);
    const espl_entity child =
        child_of(parent, 2, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Y, ESPL_LINK_OWNED);

    ck_ok(espl_set_local_rotation(w, parent, turn));
    ck_ok(espl_set_stretch(w, parent, flat));
    ck_ok(espl_set_world_position(w, child, at));
    const espl_transform got = test_world_of(w, child);

    ck_assert(memcmp(got.position, at, sizeof(float[2])) == 0);
    ck_assert_float_eq_tol(got.position[2], 5, 1e-5f);
    ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Y));
    ck_status(espl_set_inherit(w, child, ESPL_ABSOLUTE_X), ESPL_LOSSY);
}

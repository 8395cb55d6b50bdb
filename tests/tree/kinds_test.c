// SPDX-License-Identifier: MIT
// Every kind of write on one placement, under every kind of parent, with every byte of inherit
// flags: what it means, what it leaves alone, and what it refuses.
#include "tests/runner.h"
#include "tests/tree/scenes.h"

#include <float.h>

enum { KINDS = ESPL_WRITE_KIND_COUNT, CASES = KINDS * FLAG_SETS * PARENT_KINDS };

static uint64_t random_state;

static void set_up(void)
{
    random_state = 29;
}

// --- What each kind is, from its description ---

typedef enum action { SET, ADD, APPLY, TAKE_BACK, MULTIPLY, ADD_OWN, APPLY_OWN } action;

typedef struct description {
    espl__value_type type;
    action does;
    unsigned parts;
    bool is_world, has_stretch, has_context;
} description;

enum {
    POSITION = ESPL__PART_POSITION,
    ROTATION = ESPL__PART_ROTATION,
    SCALE = ESPL__PART_SCALE,
    POSE = ESPL__PART_POSE
};

static const description described[KINDS] = {
    [ESPL_WRITE_LOCAL_POSITION] = {ESPL__VALUE_VECTOR, SET, POSITION, false, false, false},
    [ESPL_WRITE_LOCAL_ROTATION] = {ESPL__VALUE_ROTATION, SET, ROTATION, false, false, false},
    [ESPL_WRITE_LOCAL_SCALE] = {ESPL__VALUE_SCALAR, SET, SCALE, false, false, false},
    [ESPL_WRITE_LOCAL_POSE] = {ESPL__VALUE_POSE, SET, POSE, false, false, false},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {ESPL__VALUE_TRANSFORM, SET, POSE, false, true, true},
    [ESPL_WRITE_STRETCH] = {ESPL__VALUE_VECTOR, SET, 0, false, true, false},
    [ESPL_WRITE_USER_DATA] = {ESPL__VALUE_WORD, SET, 0, false, false, true},
    [ESPL_WRITE_WORLD_POSITION] = {ESPL__VALUE_VECTOR, SET, POSITION, true, false, false},
    [ESPL_WRITE_WORLD_ROTATION] = {ESPL__VALUE_ROTATION, SET, ROTATION, true, false, false},
    [ESPL_WRITE_WORLD_SCALE] = {ESPL__VALUE_SCALAR, SET, SCALE, true, false, false},
    [ESPL_WRITE_WORLD_TRANSFORM] = {ESPL__VALUE_TRANSFORM, SET, POSE, true, true, true},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {ESPL__VALUE_VECTOR, ADD, POSITION, false, false, false},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {ESPL__VALUE_ROTATION, APPLY, ROTATION, false, false, false},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, APPLY, POSE, false, false, false},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {ESPL__VALUE_TRANSFORM, TAKE_BACK, POSE, false,
                                                false, false},
    [ESPL_WRITE_TRANSLATE_WORLD] = {ESPL__VALUE_VECTOR, ADD, POSITION, true, false, false},
    [ESPL_WRITE_ROTATE_WORLD] = {ESPL__VALUE_ROTATION, APPLY, ROTATION, true, false, false},
    [ESPL_WRITE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, APPLY, POSE, true, false, false},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {ESPL__VALUE_TRANSFORM, TAKE_BACK, POSE, true, false,
                                            false},
    [ESPL_WRITE_MULTIPLY_SCALE] = {ESPL__VALUE_SCALAR, MULTIPLY, SCALE, false, false, false},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {ESPL__VALUE_VECTOR, MULTIPLY, 0, false, true, false},
    [ESPL_WRITE_TRANSLATE_OWN] = {ESPL__VALUE_VECTOR, ADD_OWN, POSITION, false, false, false},
    [ESPL_WRITE_ROTATE_OWN] = {ESPL__VALUE_ROTATION, APPLY_OWN, ROTATION, false, false, false},
};

// Bytes of a value, by its type.
static const size_t value_sizes[] = {0, 12, 16, 4, 32, 48, 4};

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
    if (kind == ESPL_WRITE_LOCAL_POSE) {
        const espl__extra extra = espl__extra_of(&value.transform);

        return copied == value_size(kind) && espl__extra_is_default(&extra);
    }
    return copied == value_size(kind) && (copied == sizeof value || bytes[copied] == 0xff);
}

static espl_write_value any_value(espl_write_kind kind)
{
    const espl_transform t = any_transform(&random_state);
    espl_write_value value;

    memset(&value, 0xff, sizeof value); // NaN where nobody reads
    switch (described[kind].type) {
    case ESPL__VALUE_VECTOR:
        memcpy(value.position, described[kind].parts != 0 ? t.position : t.stretch,
               sizeof value.position);
        break;
    case ESPL__VALUE_ROTATION:
        memcpy(value.rotation, t.rotation, sizeof value.rotation);
        break;
    case ESPL__VALUE_SCALAR:
        value.scale = t.scale;
        break;
    case ESPL__VALUE_POSE:
    case ESPL__VALUE_TRANSFORM:
        value.transform = t;
        break;
    case ESPL__VALUE_WORD:
        value.user_data = t.user_data;
        break;
    case ESPL__VALUE_NONE:
        break;
    }
    return value;
}

static espl_status write_scene(scene *s, espl_write_kind kind, const espl_write_value *value)
{
    return espl__placement_write(&s->placement, &s->world, s->parent, kind, value);
}

static espl_status write_any(scene *s, espl_write_kind kind, espl_write_value *value)
{
    *value = any_value(kind);
    ck_assert_int_eq(espl__write_check(kind, value), ESPL_OK);
    return write_scene(s, kind, value);
}

// --- Values ---

START_TEST(values_are_of_the_type_and_size_that_the_kind_says)
{
    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;

        ck_assert_int_eq(espl__write_value_type(kind), described[kind].type);
        ck_assert(loads_its_size(kind));
    }
    for (int i = 0; i < 3; ++i) {
        const int wrong[] = {KINDS, -1, 1000};
        espl_write_value value = any_value(ESPL_WRITE_LOCAL_TRANSFORM);

        ck_assert_int_eq(espl__write_value_type((espl_write_kind)wrong[i]), ESPL__VALUE_NONE);
        ck_assert(loads_its_size((espl_write_kind)wrong[i]));
        ck_assert_int_eq(espl__write_check((espl_write_kind)wrong[i], &value), ESPL_ERR_ARGUMENT);
    }
}
END_TEST

START_TEST(field_that_is_not_finite_is_refused_and_others_are_not_read)
{
    const float bad[] = {NAN, HUGE_VALF, -HUGE_VALF};

    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;
        const size_t size = value_size(kind);
        espl_write_value value = any_value(kind);

        // Full of NaN behind its size, it is fine.
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        for (size_t k = 0; k < 3 * (size / sizeof(float)); ++k) {
            const espl_write_value right = any_value(kind);
            const bool is_word = described[kind].type == ESPL__VALUE_WORD || k / 3 == 11;

            value = right;
            memcpy((unsigned char *)&value + k / 3 * sizeof(float), &bad[k % 3], sizeof(float));
            const espl_write_value before = value;
            ck_assert_int_eq(espl__write_check(kind, &value),
                             is_word ? ESPL_OK : ESPL_ERR_NOT_FINITE);
            ck_assert_mem_eq(&value, &before, size);
        }
    }
}
END_TEST

START_TEST(rotations_of_values_are_normalised)
{
    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;
        const bool turns = described[kind].type == ESPL__VALUE_ROTATION ||
                           described[kind].type == ESPL__VALUE_TRANSFORM;
        espl_write_value value = any_value(kind);
        const espl_write_value unit = value;

        if (!turns) {
            continue;
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        ck_assert_mem_eq(&value, &unit, value_size(kind)); // unit length stays
        for (int k = 0; k < 4; ++k) {
            value.rotation[k] *= 20;
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        ck_assert(is_turned_near(value.rotation, unit.rotation));
        ck_assert_float_le(fabsf((float)length_of(value.rotation) - 1), 4e-7f);
        memset(value.rotation, 0, sizeof value.rotation);
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_ERR_NOT_FINITE);
    }
}
END_TEST

START_TEST(side_arrays_are_wanted_by_what_leaves_more_than_the_default)
{
    for (int i = 0; i < KINDS; ++i) {
        const espl_write_kind kind = (espl_write_kind)i;
        const description *const d = &described[kind];
        const espl_write_value value = any_value(kind);
        espl_write_value plain = value;

        ck_assert_int_eq(espl__write_wants_side(kind, &value), d->has_stretch || d->has_context);
        if (d->type == ESPL__VALUE_TRANSFORM) {
            const espl_transform identity = espl_transform_identity();

            memcpy(plain.transform.stretch, identity.stretch, sizeof identity.stretch);
            plain.transform.user_data = 0;
        } else if (d->has_stretch) {
            plain.stretch[0] = plain.stretch[1] = plain.stretch[2] = 1;
        } else if (d->has_context) {
            plain.user_data = 0;
        }
        ck_assert(!espl__write_wants_side(kind, &plain));
        for (int axis = 0; axis < 3 && d->has_stretch; ++axis) {
            espl_write_value one = plain;
            float *const stretch =
                d->type == ESPL__VALUE_TRANSFORM ? one.transform.stretch : one.stretch;

            stretch[axis] = 0;
            ck_assert(espl__write_wants_side(kind, &one));
        }
    }
}
END_TEST

// --- What holds of every write ---

// Only what the kind writes changes.
static void others_stay(const scene *is, const scene *was, espl_write_kind kind)
{
    const description *const d = &described[kind];
    const espl_pose *const local = &is->placement.local, *const kept = &is->placement.kept.pose;
    const espl_pose *const old = &was->placement.local, *const old_kept = &was->placement.kept.pose;
    bool stay = is->placement.kept.flags == was->placement.kept.flags;

    if ((d->parts & POSITION) == 0) {
        stay = stay && same_bits(local->position, old->position, 3) &&
               same_bits(kept->position, old_kept->position, 3);
    }
    if ((d->parts & ROTATION) == 0) {
        stay = stay && same_bits(local->rotation, old->rotation, 4) &&
               same_bits(kept->rotation, old_kept->rotation, 4);
    }
    if ((d->parts & SCALE) == 0) {
        stay = stay && same_bits(&local->scale, &old->scale, 1) &&
               same_bits(&kept->scale, &old_kept->scale, 1);
    }
    stay = stay && (d->has_stretch ||
                    same_bits(is->placement.extra.stretch, was->placement.extra.stretch, 3));
    stay =
        stay && (d->has_context || is->placement.extra.user_data == was->placement.extra.user_data);
    ck_assert_msg(stay, "kind %d", kind);
}

START_TEST(write_changes_what_its_kind_names_and_the_world_follows)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const uint32_t flags = legal_flags(i / KINDS % FLAG_SETS);
        espl_write_value value;
        scene s;

        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS), flags, i % 2 == 0,
                  &random_state);
        const bool copies = espl__placement_copies(&s.placement);
        const scene before = s;
        const espl_status status = write_any(&s, kind, &value);

        if (copies) {
            ck_assert_int_eq(status, ESPL_ERR_COPIES_PARENT);
            ck_assert(scene_stays(&before, &s));
            continue;
        }
        ck_assert_int_ge(status, 0);
        scene_is_sound(&s);
        others_stay(&s, &before, kind);
    }
}
END_TEST

// Values of all sizes, so that about a half of the writes overflow.
static espl_write_value wild_value(espl_write_kind kind)
{
    const int far = described[kind].does == SET ? 127 : 100;
    espl_write_value value = any_value(kind);
    espl_transform *const t = &value.transform;

    if (described[kind].type == ESPL__VALUE_VECTOR) {
        for (int i = 0; i < 3; ++i) {
            value.position[i] =
                ldexpf(value.position[i] / 128, (int)test_below(&random_state, 128));
        }
    } else if (described[kind].type == ESPL__VALUE_SCALAR) {
        value.scale = ldexpf(value.scale / 4, (int)test_below(&random_state, 128));
    } else if (described[kind].type == ESPL__VALUE_TRANSFORM) {
        t->position[0] = ldexpf(t->position[0] / 128, far);
        t->scale = ldexpf(t->scale / 4, (int)test_below(&random_state, 256) - 128);
    }
    return value;
}

static void make_wild(scene *s)
{
    s->room.world.scale = ldexpf(s->room.world.scale, (int)test_below(&random_state, 240) - 120);
    if (test_one_in(&random_state, 2)) {
        s->placement.local.position[0] = ldexpf(1, (int)test_below(&random_state, 60));
    }
    if (test_one_in(&random_state, 2)) {
        s->placement.local.scale = ldexpf(1, (int)test_below(&random_state, 60));
    }
    s->placement.extra.stretch[1] = ldexpf(1, (int)test_below(&random_state, 127));
    settle_scene(s, s->parent != NULL);
}

START_TEST(write_is_refused_whole_where_something_would_not_be_finite)
{
    size_t refused[KINDS] = {0}, accepted[KINDS] = {0};

    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const uint32_t flags = legal_flags(i / KINDS % FLAG_SETS);
        scene s;

        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS), flags, i % 2 == 0,
                  &random_state);
        make_wild(&s);
        espl_write_value value = wild_value(kind);
        if (espl__placement_copies(&s.placement)) {
            continue; // it refuses all
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        const scene before = s;
        const espl_status status = write_scene(&s, kind, &value);

        ck_assert(status >= 0 || status == ESPL_ERR_RANGE);
        if (status < 0) {
            ck_assert(scene_stays(&before, &s));
        } else {
            scene_is_sound(&s);
            ck_assert(espl__all_finite(s.placement.extra.stretch, 3));
            others_stay(&s, &before, kind);
        }
        refused[kind] += status < 0;
        accepted[kind] += status >= 0;
    }
    for (int kind = 0; kind < KINDS; ++kind) {
        const description *const d = &described[kind];
        const bool is_tame = d->type == ESPL__VALUE_WORD || d->type == ESPL__VALUE_ROTATION ||
                             kind == ESPL_WRITE_STRETCH;

        ck_assert_uint_gt(accepted[kind], 100);
        ck_assert_msg(is_tame == (refused[kind] == 0), "kind %d", kind);
    }
}
END_TEST

START_TEST(equal_set_changes_nothing_the_second_time)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const uint32_t flags = i / KINDS % ESPL_COPY_PARENT;
        espl_write_value value;
        scene s;

        if (described[kind].does != SET) {
            continue;
        }
        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS), flags, i % 2 == 0,
                  &random_state);
        const espl_status once = write_any(&s, kind, &value);
        const scene before = s;

        ck_assert_int_eq(write_scene(&s, kind, &value), once);
        ck_assert_msg(scene_stays(&before, &s), "kind %d, flags %u", kind, flags);
    }
}
END_TEST

// What is there already, as the value of a kind.
static espl_write_value value_of(espl_write_kind kind, const scene *s)
{
    const espl_pose *const pose = described[kind].is_world ? &s->world : &s->placement.local;
    espl_write_value value = any_value(kind);

    if (described[kind].type == ESPL__VALUE_TRANSFORM || described[kind].type == ESPL__VALUE_POSE) {
        value.transform = espl__transform_of(pose, &s->placement.extra);
    } else if (described[kind].parts == POSITION) {
        memcpy(value.position, pose->position, sizeof value.position);
    } else if (described[kind].parts == ROTATION) {
        memcpy(value.rotation, pose->rotation, sizeof value.rotation);
    } else if (described[kind].parts == SCALE) {
        value.scale = pose->scale;
    } else if (described[kind].has_stretch) {
        memcpy(value.stretch, s->placement.extra.stretch, sizeof value.stretch);
    } else {
        value.user_data = s->placement.extra.user_data;
    }
    return value;
}

START_TEST(value_that_is_there_already_changes_nothing)
{
    for (uint32_t i = 0; i < CASES * 2; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const uint32_t flags = i / KINDS % ESPL_COPY_PARENT;
        const parent_kind above = (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS);
        scene s;

        if (described[kind].does != SET || (described[kind].is_world && above != PARENT_NONE)) {
            continue; // seen from a parent a world is the same to rounding
        }
        any_scene(&s, above, flags, true, &random_state);
        const scene before = s;
        const espl_write_value value = value_of(kind, &s);
        ck_assert_int_eq(write_scene(&s, kind, &value), ESPL_OK);
        ck_assert_msg(scene_stays(&before, &s), "kind %d, flags %u", kind, flags);
    }
}
END_TEST

START_TEST(change_by_nothing_changes_nothing_that_is_not_kept)
{
    const espl_transform identity = espl_transform_identity();

    for (uint32_t i = 0; i < CASES; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const description *const d = &described[kind];
        const parent_kind above = (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS);
        espl_write_value value = any_value(kind);
        scene s;

        if (d->does == SET || (d->is_world && above != PARENT_NONE)) {
            continue;
        }
        any_scene(&s, above, 0, true, &random_state);
        const scene before = s;
        if (d->type == ESPL__VALUE_TRANSFORM) {
            value.transform = identity;
        } else if (d->type == ESPL__VALUE_ROTATION) {
            memcpy(value.rotation, identity.rotation, sizeof value.rotation);
        } else if (d->does == MULTIPLY) {
            value.stretch[0] = value.stretch[1] = value.stretch[2] = 1; // or the scale
        } else {
            memcpy(value.position, identity.position, sizeof value.position);
        }
        ck_assert_int_eq(write_scene(&s, kind, &value), ESPL_OK);
        ck_assert_msg(scene_stays(&before, &s), "kind %d", kind);
    }
}
END_TEST

// --- What each kind means ---

// The pose that a kind starts from becomes what it is to be, by the public formulas.
static espl_transform changed(const espl_transform *from, espl_write_kind kind,
                              const espl_write_value *value)
{
    const description *const d = &described[kind];
    espl_transform by = espl_transform_identity(), to = *from;

    if (d->type == ESPL__VALUE_TRANSFORM || d->type == ESPL__VALUE_POSE) {
        by = value->transform;
    } else if (d->parts == POSITION) {
        memcpy(by.position, value->position, sizeof by.position);
    } else if (d->parts == ROTATION) {
        memcpy(by.rotation, value->rotation, sizeof by.rotation);
    } else {
        by.scale = value->scale;
    }
    if (d->does == SET) {
        return by;
    }
    if (d->does == MULTIPLY) {
        to.scale = from->scale * by.scale;
        return to;
    }
    if (d->does == ADD) {
        for (int i = 0; i < 3; ++i) {
            to.position[i] = from->position[i] + by.position[i];
        }
        return to;
    }
    if (d->does == TAKE_BACK) {
        (void)espl_transform_relative(&to, &by, from);
        return to;
    }
    if (d->does == ADD_OWN || d->does == APPLY_OWN) {
        espl_transform frame = espl_transform_identity();

        memcpy(frame.rotation, from->rotation, sizeof frame.rotation);
        memcpy(frame.position, from->position, sizeof frame.position);
        to = espl_transform_compose(&frame, &by);
        ck_assert_int_eq(espl_transform_normalize(&to), ESPL_OK);
        return to;
    }
    to = espl_transform_compose(&by, from);
    ck_assert_int_eq(espl_transform_normalize(&to), ESPL_OK);
    return to;
}

START_TEST(local_kinds_change_the_local_as_it_is_read)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const description *const d = &described[kind];
        const uint32_t flags = i / KINDS % ESPL_COPY_PARENT;
        espl_write_value value;
        scene s;

        if (d->is_world || d->parts == 0) {
            continue;
        }
        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS), flags, i % 2 == 0,
                  &random_state);
        // What is multiplied is what is stored, in both spaces.
        const espl_pose read = d->does == MULTIPLY
                                   ? s.placement.local
                                   : espl__placement_seen(&s.placement, s.parent, &s.world);
        const espl_transform from = espl__transform_of(&read, &s.placement.extra);
        const scene before = s;
        ck_assert_int_eq(write_any(&s, kind, &value), ESPL_OK);

        const espl_transform to = changed(&from, kind, &value);
        const espl_pose *const local = &s.placement.local;
        ck_assert((d->parts & POSITION) == 0 || same_bits(local->position, to.position, 3));
        ck_assert((d->parts & ROTATION) == 0 || same_bits(local->rotation, to.rotation, 4));
        ck_assert((d->parts & SCALE) == 0 || same_bits(&local->scale, &to.scale, 1));
        if (d->does == MULTIPLY && (flags & ESPL_ABSOLUTE_SCALE) != 0 && s.parent != NULL) {
            const float product = before.world.scale * value.scale;

            ck_assert(same_bits(&s.world.scale, &product, 1));
        } else if (d->does != MULTIPLY && s.parent != NULL) {
            // What is written composes, and what is kept of it is what composes.
            const espl_pose c =
                espl__pose_compose(&s.room.world, s.room.extra.stretch, &s.placement.local);

            ck_assert((d->parts & POSITION) == 0 || same_bits(s.world.position, c.position, 3));
            ck_assert((d->parts & ROTATION) == 0 || same_bits(s.world.rotation, c.rotation, 4));
            ck_assert((d->parts & SCALE) == 0 || same_bits(&s.world.scale, &c.scale, 1));
        }
    }
}
END_TEST

START_TEST(world_kinds_bring_the_world_where_they_say)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const description *const d = &described[kind];
        const uint32_t flags = i / KINDS % ESPL_COPY_PARENT;
        const uint32_t both = flags & ESPL_ABSOLUTE_ROTATION;
        espl_write_value value;
        scene s;

        if (!d->is_world) {
            continue;
        }
        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % 3), flags, i % 2 == 0, &random_state);
        const espl_transform from = espl__transform_of(&s.world, &s.placement.extra);
        ck_assert_int_eq(write_any(&s, kind, &value), ESPL_OK);

        const espl_transform to = changed(&from, kind, &value);
        const bool keeps_turn = both == ESPL_ABSOLUTE_ROTATION || s.parent == NULL;
        for (int axis = 0; axis < 3 && (d->parts & POSITION) != 0; ++axis) {
            const float off = fabsf(s.world.position[axis] - to.position[axis]);
            const bool is_exact = keeps_axis(flags, axis) || s.parent == NULL;

            ck_assert_float_le(off, is_exact ? 0 : 1e-5f * (1000 + fabsf(to.position[axis])));
        }
        if ((d->parts & ROTATION) != 0) {
            ck_assert(keeps_turn ? same_bits(s.world.rotation, to.rotation, 4)
                                 : is_turned_near(s.world.rotation, to.rotation));
        }
        ck_assert((d->parts & SCALE) == 0 || is_scaled_near(s.world.scale, to.scale));
    }
}
END_TEST

START_TEST(stretch_and_context_are_set_or_multiplied)
{
    for (uint32_t i = 0; i < CASES; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const description *const d = &described[kind];
        espl_write_value value;
        scene s;

        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % PARENT_KINDS),
                  i / KINDS % ESPL_COPY_PARENT, i % 2 == 0, &random_state);
        const espl__extra before = s.placement.extra;
        ck_assert_int_ge(write_any(&s, kind, &value), 0);
        const bool is_whole = d->type == ESPL__VALUE_TRANSFORM;
        const float *const stretch = is_whole ? value.transform.stretch : value.stretch;

        for (int axis = 0; axis < 3 && d->has_stretch; ++axis) {
            const float factor = d->does == MULTIPLY ? before.stretch[axis] : 1;
            const float expected = factor * stretch[axis];

            ck_assert(same_bits(&s.placement.extra.stretch[axis], &expected, 1));
        }
        if (d->has_context) {
            ck_assert_uint_eq(s.placement.extra.user_data,
                              is_whole ? value.transform.user_data : value.user_data);
        }
    }
}
END_TEST

START_TEST(inverse_takes_back_what_transforming_did)
{
    const espl_write_kind pairs[][2] = {
        {ESPL_WRITE_TRANSFORM_IN_PARENT, ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT},
        {ESPL_WRITE_TRANSFORM_WORLD, ESPL_WRITE_INVERSE_TRANSFORM_WORLD}};

    for (uint32_t i = 0; i < 2 * ESPL_COPY_PARENT * 6; ++i) {
        const espl_write_kind *const pair = pairs[i % 2];
        espl_write_value value;
        scene s;

        any_scene(&s, (parent_kind)(i / 2 % 3), i / 6 % ESPL_COPY_PARENT, i % 5 == 0,
                  &random_state);
        const espl_pose before = s.world;
        ck_assert_int_eq(write_any(&s, pair[0], &value), ESPL_OK);
        ck_assert_int_eq(write_scene(&s, pair[1], &value), ESPL_OK);
        for (int axis = 0; axis < 3; ++axis) {
            ck_assert_float_le(fabsf(s.world.position[axis] - before.position[axis]), 0.02f);
        }
        ck_assert(is_turned_near(s.world.rotation, before.rotation));
        ck_assert(is_scaled_near(s.world.scale, before.scale));
    }
}
END_TEST

START_TEST(turns_do_not_add_up_to_another_length)
{
    const espl_write_kind kinds[] = {
        ESPL_WRITE_ROTATE_IN_PARENT,    ESPL_WRITE_ROTATE_WORLD,
        ESPL_WRITE_TRANSFORM_IN_PARENT, ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT,
        ESPL_WRITE_TRANSFORM_WORLD,     ESPL_WRITE_INVERSE_TRANSFORM_WORLD};

    for (uint32_t i = 0; i < 12; ++i) {
        const espl_write_kind kind = kinds[i % 6];
        espl_write_value value = any_value(kind);
        scene s;

        any_scene(&s, i < 6 ? PARENT_NONE : PARENT_PLAIN, 0, true, &random_state);
        if (described[kind].type == ESPL__VALUE_TRANSFORM ||
            described[kind].type == ESPL__VALUE_POSE) {
            const espl_transform turned = value.transform;

            value.transform = espl_transform_identity();
            memcpy(value.rotation, turned.rotation, sizeof value.rotation);
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        for (uint32_t turn = 0; turn < 1000; ++turn) {
            const float *const q = s.placement.local.rotation;

            ck_assert_int_eq(write_scene(&s, kind, &value), ESPL_OK);
            ck_assert_float_le(fabsf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1),
                               4e-7f);
        }
    }
}
END_TEST

// --- Lossy ---

START_TEST(inverse_of_a_zero_is_lossy_and_leaves_what_it_cannot_reach)
{
    const espl_write_kind kinds[] = {ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT,
                                     ESPL_WRITE_INVERSE_TRANSFORM_WORLD};

    for (uint32_t i = 0; i < 2 * ESPL_COPY_PARENT * 4; ++i) {
        const bool is_flat = i / 2 % 2 == 0;
        const int flat = (int)(i % 3);
        espl_write_value value = any_value(kinds[i % 2]);
        scene s;

        if (is_flat) {
            value.transform.stretch[flat] = 0;
        } else {
            value.transform.scale = 0;
        }
        any_scene(&s, (parent_kind)(i % 3), i / 4 % ESPL_COPY_PARENT, i % 5 == 0, &random_state);
        const espl_pose read =
            i % 2 == 0 ? espl__placement_seen(&s.placement, s.parent, &s.world) : s.world;
        ck_assert_int_eq(write_scene(&s, kinds[i % 2], &value), ESPL_LOSSY);
        scene_is_sound(&s);
        const espl_pose *const is = i % 2 == 0 ? &s.placement.local : &s.world;
        for (int axis = 0; axis < 3; ++axis) {
            const bool is_lost = !is_flat || axis == flat;

            ck_assert(!is_lost || fabsf(is->position[axis] - read.position[axis]) < 1e-4f);
        }
        ck_assert(is_flat || is_scaled_near(is->scale, read.scale));
    }
}
END_TEST

START_TEST(no_write_of_a_root_or_below_a_plain_parent_is_lossy)
{
    for (uint32_t i = 0; i < CASES * 2; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        espl_write_value value;
        scene s;

        any_scene(&s, (parent_kind)(i / KINDS / FLAG_SETS % 3), i / KINDS % ESPL_COPY_PARENT,
                  i % 2 == 0, &random_state);
        ck_assert_int_eq(write_any(&s, kind, &value), ESPL_OK);
    }
}
END_TEST

START_TEST(local_kinds_are_never_lossy_below_a_zero)
{
    for (uint32_t i = 0; i < CASES * 2; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        espl_write_value value;
        scene s;

        if (described[kind].is_world) {
            continue;
        }
        any_scene(&s, i % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, i / KINDS % ESPL_COPY_PARENT,
                  i % 3 == 0, &random_state);
        ck_assert_int_eq(write_any(&s, kind, &value), ESPL_OK);
    }
}
END_TEST

// --- The short ways of nodes without side arrays ---

START_TEST(pose_write_is_the_write_of_a_node_that_keeps_nothing)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        const bool is_wild = i / 7 % 2 == 0;
        scene s;

        any_scene(&s, (parent_kind)(i / KINDS % PARENT_KINDS), 0, true, &random_state);
        if (is_wild) {
            make_wild(&s);
        }
        s.placement.extra = espl__extra_default();
        espl_write_value value = is_wild ? wild_value(kind) : any_value(kind);
        if (!espl__pose_is_finite(&s.world) || espl__write_wants_side(kind, &value)) {
            continue;
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        scene other = s;
        other.parent = s.parent != NULL ? &other.room : NULL;
        const espl_status status = write_scene(&s, kind, &value);

        ck_assert_int_eq(
            espl__pose_write(&other.placement.local, &other.world, other.parent, kind, &value),
            status);
        ck_assert(scene_stays(&s, &other));
    }
}
END_TEST

START_TEST(local_write_is_the_same_local_whatever_the_world_is)
{
    for (uint32_t i = 0; i < CASES * 4; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i % KINDS);
        scene s;

        ck_assert_int_eq(espl__write_is_local(kind), !described[kind].is_world);
        any_scene(&s, (parent_kind)(i / KINDS % 3), 0, true, &random_state);
        espl_write_value value = i / 7 % 2 == 0 ? wild_value(kind) : any_value(kind);
        if (described[kind].is_world || described[kind].parts == 0) {
            continue;
        }
        ck_assert_int_eq(espl__write_check(kind, &value), ESPL_OK);
        espl_pose local = s.placement.local;
        const espl_pose before = local;
        const espl_status status = espl__local_write(&local, kind, &value);

        if (status < 0) {
            ck_assert_int_eq(status, ESPL_ERR_RANGE);
            ck_assert(is_same_pose(&local, &before));
            ck_assert_int_eq(write_scene(&s, kind, &value), ESPL_ERR_RANGE);
        } else if (write_scene(&s, kind, &value) >= 0) {
            ck_assert(is_same_pose(&local, &s.placement.local));
        }
    }
}
END_TEST

static TCase *values_case(void)
{
    TCase *const values = tcase_create("values");

    tcase_add_checked_fixture(values, set_up, NULL);
    tcase_add_test(values, values_are_of_the_type_and_size_that_the_kind_says);
    tcase_add_test(values, field_that_is_not_finite_is_refused_and_others_are_not_read);
    tcase_add_test(values, rotations_of_values_are_normalised);
    tcase_add_test(values, side_arrays_are_wanted_by_what_leaves_more_than_the_default);
    return values;
}

static TCase *writes_case(void)
{
    TCase *const writes = tcase_create("all writes");

    tcase_add_checked_fixture(writes, set_up, NULL);
    tcase_add_test(writes, write_changes_what_its_kind_names_and_the_world_follows);
    tcase_add_test(writes, write_is_refused_whole_where_something_would_not_be_finite);
    tcase_add_test(writes, equal_set_changes_nothing_the_second_time);
    tcase_add_test(writes, value_that_is_there_already_changes_nothing);
    tcase_add_test(writes, change_by_nothing_changes_nothing_that_is_not_kept);
    tcase_add_test(writes, pose_write_is_the_write_of_a_node_that_keeps_nothing);
    tcase_add_test(writes, local_write_is_the_same_local_whatever_the_world_is);
    return writes;
}

static TCase *meaning_case(void)
{
    TCase *const meaning = tcase_create("meaning");

    tcase_add_checked_fixture(meaning, set_up, NULL);
    tcase_add_test(meaning, local_kinds_change_the_local_as_it_is_read);
    tcase_add_test(meaning, world_kinds_bring_the_world_where_they_say);
    tcase_add_test(meaning, stretch_and_context_are_set_or_multiplied);
    tcase_add_test(meaning, inverse_takes_back_what_transforming_did);
    tcase_add_test(meaning, turns_do_not_add_up_to_another_length);
    tcase_add_test(meaning, inverse_of_a_zero_is_lossy_and_leaves_what_it_cannot_reach);
    tcase_add_test(meaning, no_write_of_a_root_or_below_a_plain_parent_is_lossy);
    tcase_add_test(meaning, local_kinds_are_never_lossy_below_a_zero);
    return meaning;
}

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/kinds");

    suite_add_tcase(suite, values_case());
    suite_add_tcase(suite, writes_case());
    suite_add_tcase(suite, meaning_case());
    return suite;
}

RUN_SUITE(make_suite)

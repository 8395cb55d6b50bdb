// SPDX-License-Identifier: MIT
// One placement under every kind of parent with every byte of inherit flags: what holds by
// definition when it is read, set in the world, given other flags, or brought under another parent.
#include "tests/runner.h"
#include "tests/tree/scenes.h"

#include <float.h>

enum { ROUNDS = 12 };

static uint64_t random_state;

static void set_up(void)
{
    random_state = 23;
}

// Half turns, products with which are exact; and turns by a third, which bring each axis to the
// next: products with them are exact for small whole numbers.
static const float exact_rotations[][4] = {
    {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, 1, 0}, {0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f, -0.5f}};
enum { HALF_TURNS = 3, EXACT_TURNS = 5 };

static void turn_exactly(scene *s, uint32_t i)
{
    memcpy(s->room.world.rotation, exact_rotations[i], sizeof s->room.world.rotation);
}

// Bring a position to whole numbers.
static void make_whole(float position[3])
{
    for (int i = 0; i < 3; ++i) {
        position[i] = roundf(position[i]);
    }
}

static bool is_mixed(uint32_t flags)
{
    const uint32_t both = flags & ESPL_ABSOLUTE_ROTATION;

    return both != 0 && both != ESPL_ABSOLUTE_ROTATION;
}

static bool is_same_extra(const espl__extra *a, const espl__extra *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// --- The world ---

// By the public formula of inherit flags.
static espl_pose inherited(const espl__frame *above, const espl__placement *placement)
{
    const espl_transform parent = espl__transform_of(&above->world, &above->extra);
    const espl_transform local = espl__transform_of(&placement->local, &placement->extra);
    const espl_transform kept = espl__transform_of(&placement->kept.pose, &placement->extra);
    const espl_transform world =
        espl_transform_inherit(&parent, &local, &kept, placement->kept.flags);

    return espl__pose_of(&world);
}

START_TEST(world_is_the_documented_formula)
{
    for (uint32_t i = 0; i < PARENT_KINDS * FLAG_SETS * ROUNDS; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        scene s;

        any_scene(&s, (parent_kind)(i / FLAG_SETS % PARENT_KINDS), flags, i % 2 == 0,
                  &random_state);
        const espl_pose expected =
            s.parent == NULL ? s.placement.local : inherited(s.parent, &s.placement);
        ck_assert(is_same_pose(&s.world, &expected));
    }
}
END_TEST

START_TEST(what_is_kept_stays_whatever_the_parent_does)
{
    for (uint32_t i = 0; i < ESPL_COPY_PARENT * ROUNDS * 4; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const uint32_t both = flags & ESPL_ABSOLUTE_ROTATION;
        bool stays = true;
        scene s;

        any_scene(&s, PARENT_STRETCHED, flags, i % 3 == 0, &random_state);
        const scene before = s;
        s.room = any_parent((parent_kind)(1 + i / ESPL_COPY_PARENT % 4), &random_state);
        settle_scene(&s, true);

        for (int axis = 0; axis < 3; ++axis) {
            stays = stays && (!keeps_axis(flags, axis) ||
                              same_bits(&s.world.position[axis], &before.world.position[axis], 1));
        }
        if ((flags & ESPL_ABSOLUTE_SCALE) != 0) {
            stays = stays && same_bits(&s.world.scale, &before.world.scale, 1);
        }
        if (both == ESPL_ABSOLUTE_ROTATION) {
            stays = stays && same_bits(s.world.rotation, before.world.rotation, 4);
        }
        ck_assert_msg(stays, "flags %u", flags);
    }
}
END_TEST

START_TEST(kept_exact_direction_stays_to_rounding)
{
    for (uint32_t i = 0; i < 4000; ++i) {
        const bool is_up = i % 2 == 0;
        const uint32_t flags =
            is_up ? ESPL_ABSOLUTE_UP | ESPL_STRICT_UP : (uint32_t)ESPL_ABSOLUTE_FORWARD;
        const float axis[3] = {0, is_up, !is_up};
        float was[3], is[3];
        scene s;

        any_scene(&s, PARENT_PLAIN, flags, false, &random_state);
        espl__rotation_apply(was, s.world.rotation, axis);
        s.room = any_parent(PARENT_PLAIN, &random_state);
        settle_scene(&s, true);
        espl__rotation_apply(is, s.world.rotation, axis);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_le(fabsf(was[k] - is[k]), 2e-6f);
        }
    }
}
END_TEST

START_TEST(copy_shows_its_parent_and_nothing_of_its_own)
{
    for (uint32_t kind = PARENT_PLAIN; kind < PARENT_KINDS; ++kind) {
        scene s;

        any_scene(&s, (parent_kind)kind, ESPL_COPY_PARENT, false, &random_state);
        s.placement.local = any_pose(&random_state);
        settle_scene(&s, true);
        ck_assert(is_same_pose(&s.world, &s.room.world));
    }
}
END_TEST

// --- Reading ---

static espl_pose seen_of(const scene *s)
{
    return espl__placement_seen(&s->placement, s->parent, &s->world);
}

START_TEST(part_reads_as_it_is_stored_while_that_gives_the_world)
{
    for (uint32_t i = 0; i < PARENT_KINDS * FLAG_SETS * ROUNDS; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        scene s;

        any_scene(&s, (parent_kind)(i / FLAG_SETS % PARENT_KINDS), flags, true, &random_state);
        const espl_pose seen = seen_of(&s);
        ck_assert_msg(is_same_pose(&seen, &s.placement.local), "flags %u", flags);
    }
}
END_TEST

// Parts of a scene's world that are not what composes.
static bool is_stale(const scene *s, bool *position, bool *rotation, bool *scale)
{
    const espl_pose c =
        espl__pose_compose(&s->room.world, s->room.extra.stretch, &s->placement.local);

    *position = !same_bits(c.position, s->world.position, 3);
    *rotation = !same_bits(c.rotation, s->world.rotation, 4);
    *scale = !same_bits(&c.scale, &s->world.scale, 1);
    return *position || *rotation || *scale;
}

START_TEST(part_that_is_kept_reads_as_it_is_seen_from_the_parent)
{
    size_t stale = 0;

    for (uint32_t i = 0; i < ESPL_COPY_PARENT * ROUNDS; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        bool position = false, rotation = false, scale = false;
        scene s;

        any_scene(&s, i % 3 == 0 ? PARENT_PLAIN : PARENT_STRETCHED, flags, false, &random_state);
        const espl_pose seen = seen_of(&s);
        const espl_pose back = espl__pose_compose(&s.room.world, s.room.extra.stretch, &seen);

        stale += is_stale(&s, &position, &rotation, &scale);
        ck_assert(position || same_bits(seen.position, s.placement.local.position, 3));
        ck_assert(rotation || same_bits(seen.rotation, s.placement.local.rotation, 4));
        ck_assert(scale || same_bits(&seen.scale, &s.placement.local.scale, 1));
        ck_assert_msg(is_placed_near(back.position, s.world.position) &&
                          is_turned_near(back.rotation, s.world.rotation) &&
                          is_scaled_near(back.scale, s.world.scale),
                      "flags %u", flags);
    }
    ck_assert_uint_gt(stale, 120 * ROUNDS);
}
END_TEST

START_TEST(part_out_of_reach_reads_as_it_is_stored)
{
    const uint32_t flags = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;

    for (uint32_t i = 0; i < 1000; ++i) {
        scene s;

        any_scene(&s, i % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, flags, false, &random_state);
        const espl_pose seen = seen_of(&s);
        const espl_pose *const local = &s.placement.local;

        ck_assert(espl__pose_is_finite(&seen));
        for (int axis = 0; axis < 3; ++axis) {
            const bool is_lost = s.room.world.scale == 0 || s.room.extra.stretch[axis] == 0;

            ck_assert_int_eq(same_bits(&seen.position[axis], &local->position[axis], 1), is_lost);
        }
        ck_assert_int_eq(same_bits(&seen.scale, &local->scale, 1), s.room.world.scale == 0);
        ck_assert(!same_bits(seen.rotation, local->rotation, 4));
    }
}
END_TEST

START_TEST(part_that_would_not_be_finite_reads_as_it_is_stored)
{
    const uint32_t flags = ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;
    scene s;

    any_scene(&s, PARENT_PLAIN, flags, false, &random_state);
    s.room.world.scale = FLT_MIN / 1024; // its inverse is past all bounds
    s.placement.kept.pose.position[0] = 1e5f;
    s.placement.kept.pose.scale = 2;
    settle_scene(&s, true);
    const espl_pose seen = seen_of(&s);
    ck_assert(same_bits(seen.position, s.placement.local.position, 3));
    ck_assert(same_bits(&seen.scale, &s.placement.local.scale, 1));
    ck_assert(!same_bits(seen.rotation, s.placement.local.rotation, 4)); // that one can be had
}
END_TEST

// No world comes to that: what is off unit length by rounding stays near it.
START_TEST(rotation_that_would_not_be_finite_reads_as_it_is_stored)
{
    scene s;

    any_scene(&s, PARENT_PLAIN, ESPL_ABSOLUTE_ROTATION, false, &random_state);
    for (int i = 0; i < 4; ++i) {
        s.room.world.rotation[i] = s.world.rotation[i] = 1e30f;
    }
    const espl_pose seen = seen_of(&s);
    ck_assert(espl__pose_is_finite(&seen));
    ck_assert(same_bits(seen.rotation, s.placement.local.rotation, 4));
}
END_TEST

// --- Setting in the world ---

// Kept parts are the value's bits, the others are near where they can be had.
static bool set_parts_agree(const scene *s, const espl_pose *wanted, unsigned parts)
{
    const uint32_t flags = s->placement.kept.flags, both = flags & ESPL_ABSOLUTE_ROTATION;
    bool agree = true;

    for (int axis = 0; axis < 3 && (parts & ESPL__PART_POSITION) != 0; ++axis) {
        const float off = fabsf(s->world.position[axis] - wanted->position[axis]);

        agree = agree && (keeps_axis(flags, axis) ? off == 0 : off <= 1e-4f);
    }
    if ((parts & ESPL__PART_SCALE) != 0) {
        agree = agree && ((flags & ESPL_ABSOLUTE_SCALE) != 0
                              ? same_bits(&s->world.scale, &wanted->scale, 1)
                              : is_scaled_near(s->world.scale, wanted->scale));
    }
    if ((parts & ESPL__PART_ROTATION) != 0) {
        agree = agree && (both == ESPL_ABSOLUTE_ROTATION
                              ? same_bits(s->world.rotation, wanted->rotation, 4)
                              : is_turned_near(s->world.rotation, wanted->rotation));
    }
    return agree;
}

START_TEST(world_that_is_set_is_read_back)
{
    for (uint32_t i = 0; i < 3 * 8 * ESPL_COPY_PARENT * 4; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const unsigned parts = i / ESPL_COPY_PARENT % 8;
        const parent_kind kind = (parent_kind)(i / ESPL_COPY_PARENT / 8 % 3);
        const espl_pose wanted = any_pose(&random_state);
        scene s;

        any_scene(&s, kind, flags, i % 2 == 0, &random_state);
        const scene before = s;
        ck_assert_int_eq(
            espl__placement_set_world(&s.placement, &s.world, s.parent, parts, &wanted), ESPL_OK);
        scene_is_sound(&s);
        ck_assert_msg(set_parts_agree(&s, &wanted, parts), "flags %u, parts %u", flags, parts);

        // Parts that are not set keep their locals and what they kept.
        const espl_pose *const is = &s.placement.local, *const was = &before.placement.local;
        ck_assert((parts & 1) != 0 || same_bits(is->position, was->position, 3));
        ck_assert((parts & 2) != 0 || same_bits(is->rotation, was->rotation, 4));
        ck_assert((parts & 4) != 0 || same_bits(&is->scale, &was->scale, 1));
        ck_assert_uint_eq(s.placement.kept.flags, before.placement.kept.flags);
        ck_assert(is_same_extra(&s.placement.extra, &before.placement.extra));

        // The same once more changes nothing.
        const scene once = s;
        ck_assert_int_eq(
            espl__placement_set_world(&s.placement, &s.world, s.parent, parts, &wanted), ESPL_OK);
        ck_assert(scene_stays(&once, &s));
    }
}
END_TEST

// An axis of the world along which a parent that was turned exactly lets nothing be placed.
static bool is_axis_lost(const scene *s, int axis)
{
    bool is_lost = false;

    for (int own = 0; own < 3; ++own) {
        const float along[3] = {own == 0, own == 1, own == 2};
        float there[3];

        espl__rotation_apply(there, s->room.world.rotation, along);
        is_lost = is_lost || (there[axis] != 0 &&
                              (s->room.world.scale == 0 || s->room.extra.stretch[own] == 0));
    }
    return is_lost;
}

START_TEST(world_set_is_lossy_when_an_axis_is_missed_that_is_not_kept)
{
    size_t lossy = 0;

    for (uint32_t i = 0; i < 4 * 8 * ESPL_COPY_PARENT * 4; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const parent_kind kind = i / ESPL_COPY_PARENT % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT;
        const uint32_t equal = i / ESPL_COPY_PARENT / 2 % 16;
        espl_pose wanted = any_pose(&random_state);
        bool is_missed = false;
        scene s;

        any_scene(&s, kind, flags, i % 2 == 0, &random_state);
        turn_exactly(&s, test_below(&random_state, EXACT_TURNS));
        make_whole(s.room.world.position);
        make_whole(wanted.position);
        settle_scene(&s, true);
        for (int axis = 0; axis < 3; ++axis) {
            if ((equal >> axis & 1) != 0) {
                wanted.position[axis] = s.room.world.position[axis];
            }
        }
        wanted.scale = (equal & 8) != 0 ? 0 : wanted.scale;
        const espl_status status =
            espl__placement_set_world(&s.placement, &s.world, s.parent, ESPL__PART_POSE, &wanted);

        // What was missed shows in the world.
        for (int axis = 0; axis < 3; ++axis) {
            const bool is_off = fabsf(s.world.position[axis] - wanted.position[axis]) > 1e-4f;

            ck_assert(!is_off || (is_axis_lost(&s, axis) && !keeps_axis(flags, axis)));
            is_missed = is_missed || is_off;
        }
        is_missed = is_missed || !is_scaled_near(s.world.scale, wanted.scale);
        ck_assert_int_eq(status, is_missed ? ESPL_LOSSY : ESPL_OK);
        scene_is_sound(&s);
        lossy += is_missed;
    }
    ck_assert_uint_gt(lossy, 2000);
}
END_TEST

START_TEST(world_set_below_a_turned_parent_is_lossy_when_the_world_shows_it)
{
    size_t lossy = 0, fine = 0;

    for (uint32_t i = 0; i < 8 * ESPL_COPY_PARENT; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const espl_pose wanted = any_pose(&random_state);
        bool is_missed = false;
        scene s;

        any_scene(&s, i / ESPL_COPY_PARENT % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, flags,
                  i % 2 == 0, &random_state);
        const espl_status status = espl__placement_set_world(&s.placement, &s.world, s.parent,
                                                             ESPL__PART_POSITION, &wanted);

        // Every axis that is missed at all is missed by far, of positions at random.
        for (int axis = 0; axis < 3; ++axis) {
            const float off = fabsf(s.world.position[axis] - wanted.position[axis]);

            is_missed = is_missed || off > 1e-4f;
            ck_assert(!keeps_axis(flags, axis) || off == 0);
        }
        ck_assert_int_eq(status, is_missed ? ESPL_LOSSY : ESPL_OK);
        lossy += is_missed;
        fine += !is_missed;
    }
    ck_assert_uint_gt(lossy, 500);
    ck_assert_uint_gt(fine, 100);
}
END_TEST

START_TEST(axes_that_can_be_reached_are_set_beside_those_that_cannot)
{
    for (uint32_t i = 0; i < 3000; ++i) {
        const int flat = (int)(i % 3);
        const espl_pose wanted = any_pose(&random_state);
        scene s;

        any_scene(&s, PARENT_STRETCHED, 0, true, &random_state);
        turn_exactly(&s, i % EXACT_TURNS);
        s.room.extra.stretch[flat] = 0;
        settle_scene(&s, true);
        const scene before = s;
        ck_assert_int_eq(espl__placement_set_world(&s.placement, &s.world, s.parent,
                                                   ESPL__PART_POSITION, &wanted),
                         ESPL_LOSSY);
        for (int axis = 0; axis < 3; ++axis) {
            const float *const is = &s.placement.local.position[axis];
            const float off = fabsf(s.world.position[axis] - wanted.position[axis]);

            ck_assert_int_eq(same_bits(is, &before.placement.local.position[axis], 1),
                             axis == flat);
            ck_assert(is_axis_lost(&s, axis) || off < 1e-4f);
        }
    }
}
END_TEST

START_TEST(refused_set_leaves_everything_bit_for_bit)
{
    size_t refused = 0;

    for (uint32_t i = 0; i < 8 * FLAG_SETS * 4; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        const unsigned parts = i / FLAG_SETS % 8;
        espl_pose wanted = any_pose(&random_state);
        scene s;

        any_scene(&s, PARENT_STRETCHED, flags, i % 2 == 0, &random_state);
        s.room.world.scale = 1e-3f; // what is seen from it is a thousand times as large
        wanted.position[i % 3] = FLT_MAX / 4;
        wanted.scale = i % 5 == 0 ? -FLT_MAX : wanted.scale;
        settle_scene(&s, true);
        const scene before = s;
        const espl_status status =
            espl__placement_set_world(&s.placement, &s.world, s.parent, parts, &wanted);
        const bool is_far = (parts & 1) != 0 || ((parts & 4) != 0 && i % 5 == 0);
        const espl_status expected = flags == ESPL_COPY_PARENT ? ESPL_ERR_COPIES_PARENT
                                     : is_far                  ? ESPL_ERR_RANGE
                                                               : ESPL_OK;

        ck_assert_int_eq(status, expected);
        ck_assert(status == ESPL_OK || scene_stays(&before, &s));
        refused += status != ESPL_OK;
    }
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

// --- Other flags ---

START_TEST(flags_change_and_the_world_stays)
{
    for (uint32_t i = 0; i < FLAG_SETS * FLAG_SETS * 2; ++i) {
        const uint32_t from = legal_flags(i % FLAG_SETS),
                       to = legal_flags(i / FLAG_SETS % FLAG_SETS);
        scene s;

        any_scene(&s, i % 2 == 0 ? PARENT_PLAIN : PARENT_STRETCHED, from, i % 3 == 0,
                  &random_state);
        const scene before = s;
        ck_assert_int_eq(espl__placement_inherit(&s.placement, &s.world, s.parent, to), ESPL_OK);
        scene_is_sound(&s);
        ck_assert_uint_eq(s.placement.kept.flags, to);
        if (from == to) {
            ck_assert(scene_stays(&before, &s));
            continue;
        }
        if (to == ESPL_COPY_PARENT) {
            ck_assert(is_same_pose(&s.world, &s.room.world));
            ck_assert(is_same_extra(&s.placement.extra, &s.room.extra));
            continue;
        }
        const espl__kept kept = espl__kept_of(&before.world, to);
        ck_assert_mem_eq(&s.placement.kept, &kept, sizeof kept);
        ck_assert(is_same_extra(&s.placement.extra, &before.placement.extra));
        ck_assert_msg(set_parts_agree(&s, &before.world, ESPL__PART_POSE), "from %u to %u", from,
                      to);
    }
}
END_TEST

START_TEST(copy_that_ends_stands_where_it_stood_with_what_it_showed)
{
    const espl_pose identity = espl__pose_identity();

    for (uint32_t i = 0; i < ESPL_COPY_PARENT * 4; ++i) {
        scene s;

        any_scene(&s, (parent_kind)(1 + i % 4), ESPL_COPY_PARENT, false, &random_state);
        const scene before = s;
        ck_assert_int_eq(
            espl__placement_inherit(&s.placement, &s.world, s.parent, i / 4 % ESPL_COPY_PARENT),
            ESPL_OK);
        scene_is_sound(&s);
        ck_assert(is_same_pose(&s.placement.local, &identity));
        ck_assert(is_same_extra(&s.placement.extra, &s.room.extra));
        ck_assert(is_placed_near(s.world.position, before.world.position));
        ck_assert(is_turned_near(s.world.rotation, before.world.rotation));
        ck_assert(same_bits(&s.world.scale, &before.world.scale, 1));
    }
}
END_TEST

START_TEST(flags_below_a_zero_are_lossy_when_the_world_cannot_stay)
{
    size_t lossy = 0;

    for (uint32_t i = 0; i < FLAG_SETS * ESPL_COPY_PARENT; ++i) {
        const uint32_t from = legal_flags(i % FLAG_SETS), to = i / FLAG_SETS;
        scene s;

        any_scene(&s, i % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, from, i % 5 == 0, &random_state);
        turn_exactly(&s, i % HALF_TURNS);
        settle_scene(&s, true);
        const scene before = s;
        const espl_status status = espl__placement_inherit(&s.placement, &s.world, s.parent, to);
        const bool stays = is_placed_near(s.world.position, before.world.position) &&
                           is_scaled_near(s.world.scale, before.world.scale);

        scene_is_sound(&s);
        ck_assert_msg(status == (stays ? ESPL_OK : ESPL_LOSSY), "from %u to %u", from, to);
        lossy += !stays;
    }
    ck_assert_uint_gt(lossy, 1000);
}
END_TEST

START_TEST(flags_of_what_stands_as_it_is_written_are_never_lossy)
{
    // Whatever rounding says of where that is below a turned parent.
    for (uint32_t i = 0; i < FLAG_SETS * ESPL_COPY_PARENT; ++i) {
        const uint32_t from = legal_flags(i % FLAG_SETS), to = i / FLAG_SETS;
        scene s;

        any_scene(&s, i % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, from, true, &random_state);
        const scene before = s;
        ck_assert_msg(espl__placement_inherit(&s.placement, &s.world, s.parent, to) == ESPL_OK,
                      "from %u to %u", from, to);
        ck_assert(from == ESPL_COPY_PARENT || is_same_pose(&s.world, &before.world));
    }
}
END_TEST

START_TEST(flags_that_let_the_world_overflow_are_set)
{
    // What is kept hides a local that reaches too far on one axis; on another one the world cannot
    // be seen from the parent, so that no other local is had.
    for (uint32_t to = 0; to < ESPL_COPY_PARENT; ++to) {
        const bool hides = (to & ESPL_ABSOLUTE_POSITION) == ESPL_ABSOLUTE_POSITION;
        scene s;

        any_scene(&s, PARENT_PLAIN, ESPL_ABSOLUTE_POSITION, false, &random_state);
        turn_exactly(&s, 0);
        s.room.extra = (espl__extra){{FLT_MAX, FLT_MIN / 1024, 1}, 0};
        s.placement.local.position[0] = 4;
        s.placement.kept.pose.position[1] = 1e5f;
        settle_scene(&s, true);
        const espl_pose local = s.placement.local;

        ck_assert_int_eq(espl__placement_inherit(&s.placement, &s.world, s.parent, to), ESPL_OK);
        scene_is_sound(&s);
        ck_assert(is_same_pose(&s.placement.local, &local));
        ck_assert_int_eq(espl__pose_is_finite(&s.world), hides);
    }
}
END_TEST

// --- Other parents ---

static espl__keep_rules any_rules(void)
{
    return (espl__keep_rules){(uint8_t)test_below(&random_state, 3),
                              (uint8_t)test_below(&random_state, 3),
                              (uint8_t)test_below(&random_state, 3)};
}

// One part that came along by a rule: a local that stayed or snapped, or a world that did.
static bool moved_part_agrees(const float *is, const float *local, const float *identity,
                              uint8_t rule, size_t count)
{
    return rule == ESPL_KEEP_WORLD ||
           same_bits(is, rule == ESPL_KEEP_LOCAL ? local : identity, count);
}

START_TEST(parts_come_along_to_another_parent_by_their_rules)
{
    const espl_pose identity = espl__pose_identity();

    for (uint32_t i = 0; i < ESPL_COPY_PARENT * 60; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const espl__keep_rules rules = any_rules();
        scene s;

        any_scene(&s, (parent_kind)(i % 3), legal_flags(test_below(&random_state, FLAG_SETS)),
                  false, &random_state);
        const scene before = s;
        const espl_pose local = seen_of(&s);
        s.room = any_parent(i % 2 == 0 ? PARENT_PLAIN : PARENT_STRETCHED, &random_state);
        s.parent = &s.room;
        ck_assert_int_eq(
            espl__placement_move(&s.placement, &s.world, &local, s.parent, rules, flags), ESPL_OK);
        scene_is_sound(&s);

        const espl_pose *const is = &s.placement.local;
        const unsigned staying = (rules.position == ESPL_KEEP_WORLD ? ESPL__PART_POSITION : 0u) |
                                 (rules.rotation == ESPL_KEEP_WORLD ? ESPL__PART_ROTATION : 0u) |
                                 (rules.scale == ESPL_KEEP_WORLD ? ESPL__PART_SCALE : 0u);
        ck_assert_uint_eq(s.placement.kept.flags, flags);
        ck_assert(is_same_extra(&s.placement.extra, &before.placement.extra));
        ck_assert(set_parts_agree(&s, &before.world, staying));
        ck_assert(
            moved_part_agrees(is->position, local.position, identity.position, rules.position, 3) &&
            moved_part_agrees(is->rotation, local.rotation, identity.rotation, rules.rotation, 4) &&
            moved_part_agrees(&is->scale, &local.scale, &identity.scale, rules.scale, 1));

        // Parts whose locals say where they are read as those; kept or not, they compose.
        const espl_pose seen = seen_of(&s);
        ck_assert((staying & ESPL__PART_POSITION) != 0 ||
                  same_bits(seen.position, is->position, 3));
        ck_assert((staying & ESPL__PART_SCALE) != 0 || same_bits(&seen.scale, &is->scale, 1));
        ck_assert((staying & ESPL__PART_ROTATION) != 0 || is_mixed(flags) ||
                  same_bits(seen.rotation, is->rotation, 4));
    }
}
END_TEST

START_TEST(move_to_be_a_copy_snaps_whatever_the_rules_are)
{
    for (uint32_t i = 0; i < 27 * 20; ++i) {
        const espl__keep_rules rules = {(uint8_t)(i % 3), (uint8_t)(i / 3 % 3),
                                        (uint8_t)(i / 9 % 3)};
        scene s;

        any_scene(&s, PARENT_PLAIN, legal_flags(i % FLAG_SETS), false, &random_state);
        const espl_pose local = seen_of(&s), identity = espl__pose_identity();
        s.room = any_parent((parent_kind)(1 + i % 4), &random_state);
        ck_assert_int_eq(
            espl__placement_move(&s.placement, &s.world, &local, s.parent, rules, ESPL_COPY_PARENT),
            ESPL_OK);
        scene_is_sound(&s);
        ck_assert(is_same_pose(&s.world, &s.room.world));
        ck_assert(is_same_pose(&s.placement.local, &identity));
        ck_assert(is_same_extra(&s.placement.extra, &s.room.extra));
    }
}
END_TEST

START_TEST(root_keeps_nothing_and_stands_by_the_rules)
{
    for (uint32_t i = 0; i < 27 * 200; ++i) {
        const espl__keep_rules rules = {(uint8_t)(i % 3), (uint8_t)(i / 3 % 3),
                                        (uint8_t)(i / 9 % 3)};
        const espl_pose identity = espl__pose_identity();
        scene s;

        any_scene(&s, (parent_kind)(i % PARENT_KINDS), legal_flags(i % FLAG_SETS), false,
                  &random_state);
        for (int k = 0; k < 4; ++k) {
            s.room.world.rotation[k] *= 1.001f; // as below a long chain
        }
        settle_scene(&s, s.parent != NULL);
        const scene before = s;
        const espl_pose local = seen_of(&s);
        espl_pose world = s.world;

        ck_assert(espl__rotation_normalize(world.rotation));
        ck_assert_int_eq(
            espl__placement_move(&s.placement, &s.world, &local, NULL, rules, ESPL_ABSOLUTE_X),
            ESPL_OK);
        const espl_pose *const from[] = {&world, &local, &identity};
        const espl_pose *const is = &s.placement.local;
        ck_assert_uint_eq(s.placement.kept.flags, 0);
        ck_assert(is_same_pose(&s.world, is));
        ck_assert(same_bits(is->position, from[rules.position]->position, 3));
        ck_assert(same_bits(is->rotation, from[rules.rotation]->rotation, 4));
        ck_assert(same_bits(&is->scale, &from[rules.scale]->scale, 1));
        ck_assert(is_same_extra(&s.placement.extra, &before.placement.extra));
    }
}
END_TEST

START_TEST(move_below_a_zero_is_lossy_when_a_world_part_that_is_to_stay_is_missed)
{
    size_t lossy = 0;

    for (uint32_t i = 0; i < ESPL_COPY_PARENT * 60; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const espl__keep_rules rules = any_rules();
        scene s;

        any_scene(&s, PARENT_PLAIN, 0, true, &random_state);
        const scene before = s;
        s.room = any_parent(i % 2 == 0 ? PARENT_NOWHERE : PARENT_FLAT, &random_state);
        turn_exactly(&s, i % HALF_TURNS);
        const espl_status status = espl__placement_move(
            &s.placement, &s.world, &before.placement.local, s.parent, rules, flags);
        const bool is_missed =
            (rules.position == ESPL_KEEP_WORLD &&
             !is_placed_near(s.world.position, before.world.position)) ||
            (rules.scale == ESPL_KEEP_WORLD && !is_scaled_near(s.world.scale, before.world.scale));

        scene_is_sound(&s);
        ck_assert_int_eq(status, is_missed ? ESPL_LOSSY : ESPL_OK);
        lossy += is_missed;
    }
    ck_assert_uint_gt(lossy, 1000);
}
END_TEST

START_TEST(refused_move_leaves_everything_bit_for_bit)
{
    const espl__keep_rules stays = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};
    const espl__keep_rules follows = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL};

    for (uint32_t i = 0; i < ESPL_COPY_PARENT * 8; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const bool is_world = i / ESPL_COPY_PARENT % 2 == 0;
        scene s;

        // Seen from the new parent it is too far away; or what it is there reaches too far, which is
        // refused where it would be kept.
        any_scene(&s, PARENT_PLAIN, legal_flags(i % FLAG_SETS), false, &random_state);
        s.world.position[i % 3] = is_world ? 1e30f : s.world.position[i % 3];
        const scene before = s;
        espl__frame next = any_parent(PARENT_PLAIN, &random_state);
        next.world.scale = is_world ? 1e-20f : FLT_MAX;
        const espl_pose local = {{0, 0, 0, 1}, {4, 4, 4}, 4};

        const bool is_refused =
            is_world || (flags & (ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_SCALE)) != 0;

        ck_assert_int_eq(espl__placement_move(&s.placement, &s.world, &local, &next,
                                              is_world ? stays : follows, flags),
                         is_refused ? ESPL_ERR_RANGE : ESPL_OK);
        ck_assert(is_refused ? scene_stays(&before, &s) : !espl__pose_is_finite(&s.world));
    }
}
END_TEST

START_TEST(refused_root_leaves_everything_bit_for_bit)
{
    const espl__keep_rules follows = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL};
    scene s;

    any_scene(&s, PARENT_PLAIN, ESPL_ABSOLUTE_UP, false, &random_state);
    const scene before = s;
    espl_pose local = espl__pose_identity();

    local.position[2] = HUGE_VALF;
    ck_assert_int_eq(
        espl__placement_move(&s.placement, &s.world, &local, NULL, follows, ESPL_ABSOLUTE_UP),
        ESPL_ERR_RANGE);
    ck_assert(scene_stays(&before, &s));
}
END_TEST

START_TEST(parts_snap_where_a_node_stands)
{
    const espl_pose identity = espl__pose_identity();

    for (uint32_t i = 0; i < FLAG_SETS * 27 * 2; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS), rule = i / FLAG_SETS % 27;
        const espl__keep_rules rules = {(uint8_t)(rule % 3), (uint8_t)(rule / 3 % 3),
                                        (uint8_t)(rule / 9)};
        scene s;

        any_scene(&s, (parent_kind)(1 + i % 4), flags, false, &random_state);
        const scene before = s;
        ck_assert_int_eq(espl__placement_reattach(&s.placement, &s.world, s.parent, rules,
                                                  s.placement.kept.flags),
                         ESPL_OK);
        scene_is_sound(&s);
        if (flags == ESPL_COPY_PARENT || rule == 0) {
            ck_assert(scene_stays(&before, &s));
            continue;
        }
        const espl_pose *const is = &s.placement.local, *const was = &before.placement.local;
        const bool places = rules.position == ESPL_SNAP, turns = rules.rotation == ESPL_SNAP,
                   scales = rules.scale == ESPL_SNAP;
        ck_assert(same_bits(is->position, places ? identity.position : was->position, 3));
        ck_assert(same_bits(is->rotation, turns ? identity.rotation : was->rotation, 4));
        ck_assert(same_bits(&is->scale, scales ? &identity.scale : &was->scale, 1));
        if (places) {
            ck_assert(is_placed_near(s.world.position, s.room.world.position));
        }
        if (scales) {
            ck_assert(same_bits(&s.world.scale, &s.room.world.scale, 1));
        }
        if (turns && !is_mixed(flags)) {
            ck_assert(is_turned_near(s.world.rotation, s.room.world.rotation));
        }
    }
}
END_TEST

static TCase *reading_case(void)
{
    TCase *const reading = tcase_create("reading");

    tcase_add_checked_fixture(reading, set_up, NULL);
    tcase_add_test(reading, world_is_the_documented_formula);
    tcase_add_test(reading, what_is_kept_stays_whatever_the_parent_does);
    tcase_add_test(reading, kept_exact_direction_stays_to_rounding);
    tcase_add_test(reading, copy_shows_its_parent_and_nothing_of_its_own);
    tcase_add_test(reading, part_reads_as_it_is_stored_while_that_gives_the_world);
    tcase_add_test(reading, part_that_is_kept_reads_as_it_is_seen_from_the_parent);
    tcase_add_test(reading, part_out_of_reach_reads_as_it_is_stored);
    tcase_add_test(reading, part_that_would_not_be_finite_reads_as_it_is_stored);
    tcase_add_test(reading, rotation_that_would_not_be_finite_reads_as_it_is_stored);
    return reading;
}

static TCase *setting_case(void)
{
    TCase *const setting = tcase_create("setting");

    tcase_add_checked_fixture(setting, set_up, NULL);
    tcase_add_test(setting, world_that_is_set_is_read_back);
    tcase_add_test(setting, world_set_is_lossy_when_an_axis_is_missed_that_is_not_kept);
    tcase_add_test(setting, world_set_below_a_turned_parent_is_lossy_when_the_world_shows_it);
    tcase_add_test(setting, axes_that_can_be_reached_are_set_beside_those_that_cannot);
    tcase_add_test(setting, refused_set_leaves_everything_bit_for_bit);
    return setting;
}

static TCase *moving_case(void)
{
    TCase *const moving = tcase_create("moving");

    tcase_add_checked_fixture(moving, set_up, NULL);
    tcase_add_test(moving, flags_change_and_the_world_stays);
    tcase_add_test(moving, copy_that_ends_stands_where_it_stood_with_what_it_showed);
    tcase_add_test(moving, flags_below_a_zero_are_lossy_when_the_world_cannot_stay);
    tcase_add_test(moving, flags_of_what_stands_as_it_is_written_are_never_lossy);
    tcase_add_test(moving, flags_that_let_the_world_overflow_are_set);
    tcase_add_test(moving, parts_come_along_to_another_parent_by_their_rules);
    tcase_add_test(moving, move_to_be_a_copy_snaps_whatever_the_rules_are);
    tcase_add_test(moving, root_keeps_nothing_and_stands_by_the_rules);
    tcase_add_test(moving, move_below_a_zero_is_lossy_when_a_world_part_that_is_to_stay_is_missed);
    tcase_add_test(moving, refused_move_leaves_everything_bit_for_bit);
    tcase_add_test(moving, refused_root_leaves_everything_bit_for_bit);
    tcase_add_test(moving, parts_snap_where_a_node_stands);
    return moving;
}

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/placement");

    suite_add_tcase(suite, reading_case());
    suite_add_tcase(suite, setting_case());
    suite_add_tcase(suite, moving_case());
    return suite;
}

RUN_SUITE(make_suite)

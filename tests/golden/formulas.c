// SPDX-License-Identifier: MIT
// The functions on placements and rotations as values, without a world: a line for each or for a few.
#include "tests/golden/golden.h"

#include <string.h>

enum { ROUNDS = 3000 };

static uint64_t hash_status(uint64_t hash, espl_status status)
{
    return golden_hash_word(hash, (uint32_t)(int)status);
}

static void draw_vector(golden_dice *dice, float out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = golden_number(dice);
    }
}

static uint64_t hash_normalize(uint64_t hash, golden_dice *dice)
{
    espl_transform t = golden_transform(dice);

    hash = hash_status(hash, espl_transform_normalize(&t));
    return golden_hash_transform(hash, &t);
}

static uint64_t hash_compose(uint64_t hash, golden_dice *dice)
{
    const espl_transform parent = golden_frame(dice);
    const espl_transform local = golden_frame(dice);
    const espl_transform world = espl_transform_compose(&parent, &local);

    return golden_hash_transform(hash, &world);
}

static uint64_t hash_relative(uint64_t hash, golden_dice *dice)
{
    const espl_transform parent = golden_frame(dice);
    const espl_transform world = golden_frame(dice);
    espl_transform local = golden_frame(dice);

    hash = hash_status(hash, espl_transform_relative(&parent, &world, &local));
    return golden_hash_transform(hash, &local);
}

static uint64_t hash_inherit(uint64_t hash, golden_dice *dice)
{
    const espl_transform parent = golden_frame(dice);
    const espl_transform local = golden_frame(dice);
    const espl_transform kept = golden_frame(dice);

    for (int i = 0; i < 12; ++i) {
        const uint32_t flags = golden_below(dice, 256);
        const espl_transform world = espl_transform_inherit(&parent, &local, &kept, flags);

        hash = golden_hash_transform(hash, &world);
    }
    return hash;
}

static uint64_t hash_conversions(uint64_t hash, golden_dice *dice)
{
    static const espl_conversion conversions[] = {ESPL_POINT_TO_WORLD,     ESPL_POINT_TO_LOCAL,
                                                  ESPL_DIRECTION_TO_WORLD, ESPL_DIRECTION_TO_LOCAL,
                                                  ESPL_VECTOR_TO_WORLD,    ESPL_VECTOR_TO_LOCAL};
    const espl_transform frame = golden_frame(dice);
    float v[3], out[3];

    draw_vector(dice, v);
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i) {
        espl_transform_convert(&frame, conversions[i], v, out);
        hash = golden_hash_floats(hash, out, 3);
    }
    return hash;
}

static uint64_t hash_axes(uint64_t hash, golden_dice *dice)
{
    const espl_transform frame = golden_frame(dice);
    float out[3];

    for (int axis = ESPL_AXIS_RIGHT; axis <= ESPL_AXIS_BACK; ++axis) {
        espl_transform_axis(&frame, (espl_axis)axis, out);
        hash = golden_hash_floats(hash, out, 3);
    }
    return golden_hash_word(hash, espl_transform_is_mirrored(&frame));
}

static uint64_t hash_look_at(uint64_t hash, golden_dice *dice)
{
    espl_transform t = golden_transform(dice);
    const bool has_up = golden_one_in(dice, 2);
    float target[3], up[3];

    draw_vector(dice, target);
    draw_vector(dice, up);
    if (golden_one_in(dice, 16)) {
        memcpy(target, t.position, sizeof target);
    } else if (golden_one_in(dice, 16)) {
        target[0] = t.position[0];
        target[2] = t.position[2];
    }
    hash = hash_status(hash,
                       espl_transform_look_at(&t, target, has_up ? up : NULL, ESPL_AXIS_FORWARD));
    return golden_hash_transform(hash, &t);
}

static uint64_t hash_rotate_about(uint64_t hash, golden_dice *dice)
{
    espl_transform t = golden_transform(dice);
    float pivot[3], by[4];

    draw_vector(dice, pivot);
    golden_rotation(dice, by);
    hash = hash_status(hash, espl_transform_rotate_about(&t, pivot, by));
    return golden_hash_transform(hash, &t);
}

static uint64_t hash_matrices(uint64_t hash, golden_dice *dice)
{
    const espl_transform frame = golden_frame(dice);
    float rows[12], columns[16], inverse[16];

    espl_transform_to_matrix(&frame, ESPL_MATRIX_3X4, rows);
    espl_transform_to_matrix(&frame, ESPL_MATRIX_4X4, columns);
    espl_transform_to_matrix(&frame, ESPL_MATRIX_4X4_INVERSE, inverse);
    hash = golden_hash_floats(hash, rows, 12);
    hash = golden_hash_floats(hash, columns, 16);
    return golden_hash_floats(hash, inverse, 16);
}

// One column of huge numbers and zeros, which may be too long for a float.
static void draw_line(golden_dice *dice, float columns[16])
{
    const float choice[4] = {0, 0, 3e38f, -2e38f};
    const uint32_t only = golden_below(dice, 3);

    for (uint32_t i = 0; i < 12; ++i) {
        const uint32_t which = golden_below(dice, 4);

        columns[i] = i / 4 == only && i % 4 < 3 ? choice[which] : 0;
    }
}

// The matrix of a placement, one that is a little off, a flat one, or numbers.
static void draw_matrix(golden_dice *dice, float columns[16])
{
    dice->is_bare = golden_one_in(dice, 2);
    const espl_transform frame = golden_frame(dice);
    const uint32_t which = golden_below(dice, 10);
    const uint32_t at = golden_below(dice, 16);

    espl_transform_to_matrix(&frame, ESPL_MATRIX_4X4, columns);
    if (which < 4) {
        columns[at] *= 1 + (float)golden_below(dice, 60) * (which == 0 ? 0x1p-16f : 0x1p-24f);
    } else if (which == 4) {
        columns[at] = golden_number(dice);
    } else if (which == 5) {
        for (int i = 0; i < 12; ++i) {
            columns[i] = golden_number(dice);
        }
    } else if (which == 6) {
        draw_line(dice, columns);
    } else if (which == 7) {
        memset(&columns[4 * (at % 3)], 0, 4 * sizeof *columns);
        memset(&columns[4 * (at / 3 % 3)], 0, 4 * sizeof *columns);
    }
}

static uint64_t hash_from_matrix(uint64_t hash, golden_dice *dice)
{
    espl_transform found = espl_transform_identity();
    float columns[16], residual = -1;

    draw_matrix(dice, columns);
    hash = hash_status(hash, espl_transform_from_matrix(columns, &found, &residual));
    hash = golden_hash_floats(hash, &residual, 1);
    return golden_hash_transform(hash, &found);
}

static uint64_t hash_trs(uint64_t hash, golden_dice *dice)
{
    espl_transform made = golden_frame(dice);
    float translation[3], rotation[4], scale[3];

    espl_transform_to_trs(&made, translation, rotation, scale);
    hash = golden_hash_floats(hash, translation, 3);
    hash = golden_hash_floats(hash, rotation, 4);
    hash = golden_hash_floats(hash, scale, 3);

    golden_rotation(dice, rotation);
    if (golden_one_in(dice, 4)) {
        scale[0] = scale[1] = scale[2];
    }
    hash = hash_status(hash, espl_transform_from_trs(translation, rotation, scale, &made));
    return golden_hash_transform(hash, &made);
}

static uint64_t hash_look_axes(uint64_t hash, golden_dice *dice)
{
    espl_transform t = golden_transform(dice);
    float target[3], up[3];

    draw_vector(dice, target);
    draw_vector(dice, up);
    for (int axis = ESPL_AXIS_RIGHT; axis <= ESPL_AXIS_BACK; ++axis) {
        hash = hash_status(hash, espl_transform_look_at(&t, target, up, (espl_axis)axis));
        hash = golden_hash_transform(hash, &t);
    }
    return hash;
}

static uint64_t hash_quats(uint64_t hash, golden_dice *dice)
{
    float a[4], b[4], out[4] = {0}, v[3], w[3];

    golden_rotation(dice, a);
    golden_rotation(dice, b);
    draw_vector(dice, v);
    draw_vector(dice, w);
    espl_quat_multiply(a, b, out);
    hash = golden_hash_floats(hash, out, 4);
    hash = hash_status(hash, espl_quat_normalize(out));
    espl_quat_conjugate(out, out);
    hash = golden_hash_floats(hash, out, 4);
    hash = hash_status(hash, espl_quat_between(v, w, out));
    hash = golden_hash_floats(hash, out, 4);
    espl_quat_rotate(out, v, v);
    return golden_hash_floats(hash, v, 3);
}

static uint64_t hash_angles(uint64_t hash, golden_dice *dice)
{
    float q[4], made[4] = {0}, v[3], angle = 0;

    golden_rotation(dice, q);
    draw_vector(dice, v);
    for (int order = ESPL_EULER_XYZ; order <= ESPL_EULER_ZYX; ++order) {
        hash = hash_status(hash, espl_quat_from_euler(v, (espl_euler_order)order, made));
        hash = golden_hash_floats(hash, made, 4);
        hash = hash_status(hash, espl_quat_to_euler(q, (espl_euler_order)order, v));
        hash = golden_hash_floats(hash, v, 3);
    }
    hash = hash_status(hash, espl_quat_from_axis_angle(v, golden_number(dice), made));
    hash = golden_hash_floats(hash, made, 4);
    hash = hash_status(hash, espl_quat_to_axis_angle(q, v, &angle));
    hash = golden_hash_floats(hash, v, 3);
    return golden_hash_floats(hash, &angle, 1);
}

static uint64_t hash_lerps(uint64_t hash, golden_dice *dice)
{
    const espl_transform a = golden_transform(dice), b = golden_transform(dice);
    const float t = golden_one_in(dice, 8) ? golden_number(dice)
                                           : (float)golden_below(dice, 1 << 24) * 0x1p-24f;
    espl_transform out = espl_transform_identity();
    float q[4] = {0};

    hash = hash_status(hash, espl_quat_nlerp(a.rotation, b.rotation, t, q));
    hash = golden_hash_floats(hash, q, 4);
    hash = hash_status(hash, espl_quat_slerp(a.rotation, b.rotation, t, q));
    hash = golden_hash_floats(hash, q, 4);
    hash = hash_status(hash, espl_transform_lerp(&a, &b, t, &out));
    return golden_hash_transform(hash, &out);
}

// --- The lines ---

typedef struct formula {
    const char *name;
    uint64_t (*hash)(uint64_t hash, golden_dice *dice);
} formula;

void golden_formulas(uint64_t *total)
{
    static const formula formulas[] = {{"normalize", hash_normalize},
                                       {"compose", hash_compose},
                                       {"relative", hash_relative},
                                       {"inherit", hash_inherit},
                                       {"conversions", hash_conversions},
                                       {"axes", hash_axes},
                                       {"look_at", hash_look_at},
                                       {"rotate_about", hash_rotate_about},
                                       {"matrices", hash_matrices},
                                       {"from_matrix", hash_from_matrix},
                                       {"trs", hash_trs},
                                       {"look_axes", hash_look_axes},
                                       {"quats", hash_quats},
                                       {"angles", hash_angles},
                                       {"lerps", hash_lerps}};

    for (uint32_t i = 0; i < sizeof formulas / sizeof *formulas; ++i) {
        golden_dice dice = {.state = 1000 + i};
        uint64_t hash = GOLDEN_START;

        for (int round = 0; round < ROUNDS; ++round) {
            // Numbers are all plain in one round of three, so that few results are zeros.
            dice.extreme_one_in = round % 3 == 0 ? 0 : 16;
            dice.bad_one_in = round % 3 == 2 ? 64 : 0;
            hash = formulas[i].hash(hash, &dice);
        }
        golden_line(total, formulas[i].name, hash);
    }
}

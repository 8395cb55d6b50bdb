// SPDX-License-Identifier: MIT
#include "tests/golden/golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// --- Random values ---

uint64_t golden_random(golden_dice *dice)
{
    uint64_t z = (dice->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t golden_below(golden_dice *dice, uint32_t bound)
{
    return (uint32_t)(((golden_random(dice) >> 32) * bound) >> 32);
}

bool golden_one_in(golden_dice *dice, uint32_t n)
{
    return golden_below(dice, n) == 0;
}

// Some draws are neither plain nor fine.
static bool draw_odd(golden_dice *dice, float *out)
{
    static const float extremes[] = {0,      0,       -0.0f, 0x1p-149f, -1e-40f, 1e-30f, -1e-20f,
                                     0.001f, -512.0f, 1e10f, -1e15f,    1e30f,   -3e38f};
    static const uint32_t bad[] = {0x7FC00000, 0xFFC12345, 0x7F800001, 0x7F800000, 0xFF800000};

    if (dice->bad_one_in != 0 && golden_one_in(dice, dice->bad_one_in)) {
        memcpy(out, &bad[golden_below(dice, sizeof bad / sizeof *bad)], sizeof *out);
        return true;
    }
    if (dice->extreme_one_in != 0 && golden_one_in(dice, dice->extreme_one_in)) {
        *out = extremes[golden_below(dice, sizeof extremes / sizeof *extremes)];
        return true;
    }
    return false;
}

float golden_number(golden_dice *dice)
{
    float odd;

    if (draw_odd(dice, &odd)) {
        return odd;
    }
    return (float)((int32_t)golden_below(dice, 1u << 24) - (1 << 23)) * 0x1p-20f;
}

float golden_scale(golden_dice *dice)
{
    float odd;

    if (draw_odd(dice, &odd)) {
        return odd;
    }
    const float size = 0.5f + (float)golden_below(dice, 1u << 23) * 0x1p-23f;

    return golden_one_in(dice, 12) ? -size : size;
}

// Off unit length by a few units in the last place, so on both sides of the bound within which a
// rotation is stored as it is.
static void draw_near_unit(golden_dice *dice, float out[4])
{
    espl_transform frame = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        frame.rotation[i] = golden_number(dice);
    }
    const espl_status status = espl_transform_normalize(&frame);
    const float factor = 1 + (float)((int32_t)golden_below(dice, 17) - 8) * 0x1p-24f;

    for (int i = 0; i < 4; ++i) {
        out[i] = status == ESPL_OK ? frame.rotation[i] * factor : frame.rotation[i];
    }
}

void golden_rotation(golden_dice *dice, float out[4])
{
    // Axes that coincide: forward of one is up of the other.
    const float root = 0.70710678f;
    const float turns[5][4] = {
        {0, 0, 0, 1}, {root, 0, 0, root}, {-root, 0, 0, root}, {0, root, 0, root}, {0, 0, 1, 0}};
    const uint32_t which = golden_below(dice, 20);

    if (which >= 5 && which < 12) {
        draw_near_unit(dice, out);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        out[i] = which < 5 ? turns[which][i] : golden_number(dice);
    }
}

void golden_stretch(golden_dice *dice, float out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = dice->is_bare ? 1 : golden_scale(dice);
    }
}

espl_transform golden_transform(golden_dice *dice)
{
    espl_transform t = espl_transform_identity();

    golden_rotation(dice, t.rotation);
    for (int i = 0; i < 3; ++i) {
        t.position[i] = golden_number(dice);
    }
    t.scale = golden_scale(dice);
    golden_stretch(dice, t.stretch);
    t.user_data = dice->is_bare ? 0 : (uint32_t)golden_random(dice);
    return t;
}

espl_transform golden_frame(golden_dice *dice)
{
    espl_transform frame = golden_transform(dice);

    while (espl_transform_normalize(&frame) != ESPL_OK) {
        frame = golden_transform(dice);
    }
    return frame;
}

// --- Hashes ---

uint64_t golden_hash_word(uint64_t hash, uint32_t word)
{
    for (int shift = 0; shift < 32; shift += 8) {
        hash = (hash ^ (word >> shift & 0xFF)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t golden_hash_size(uint64_t hash, size_t size)
{
    return golden_hash_word(hash, (uint32_t)size);
}

uint64_t golden_hash_floats(uint64_t hash, const float *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        hash = golden_hash_word(hash, (bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits);
    }
    return hash;
}

uint64_t golden_hash_transform(uint64_t hash, const espl_transform *transform)
{
    hash = golden_hash_floats(hash, transform->rotation, 4);
    hash = golden_hash_floats(hash, transform->position, 3);
    hash = golden_hash_floats(hash, &transform->scale, 1);
    hash = golden_hash_floats(hash, transform->stretch, 3);
    return golden_hash_word(hash, transform->user_data);
}

void golden_line(uint64_t *total, const char *name, uint64_t hash)
{
    printf("%-16s %016" PRIx64 "\n", name, hash);
    *total = golden_hash_word(*total, (uint32_t)hash);
    *total = golden_hash_word(*total, (uint32_t)(hash >> 32));
}

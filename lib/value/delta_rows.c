// SPDX-License-Identifier: MIT
// Poses are compared word by word, as numbers that ascend with the floats, so that a small change leaves a
// small number. The component of a rotation that was the largest follows from the others up to rounding.
#include "lib/value/delta_rows.h"

#include <math.h>

// Return a number that ascends with the float of these bits.
static uint32_t order_of(uint32_t bits)
{
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

static uint32_t bits_of_order(uint32_t order)
{
    return (order & 0x80000000u) != 0 ? order & 0x7fffffffu : ~order;
}

// Fold the sign of a difference into its lowest bit.
static uint32_t fold(uint32_t difference)
{
    return (difference & 0x80000000u) != 0 ? ~(difference << 1) : difference << 1;
}

static uint32_t unfold(uint32_t folded)
{
    return (folded & 1) != 0 ? ~(folded >> 1) : folded >> 1;
}

static float float_of(uint32_t bits)
{
    float out;

    memcpy(&out, &bits, sizeof out);
    return out;
}

// Find the component of a rotation with the largest magnitude, the first of equal ones. Magnitudes compare as
// their bits.
static unsigned main_component(const uint32_t rotation[4])
{
    unsigned largest = 0;

    for (unsigned i = 1; i < 4; ++i) {
        if ((rotation[i] & 0x7fffffffu) > (rotation[largest] & 0x7fffffffu)) {
            largest = i;
        }
    }
    return largest;
}

// Compute the component that gives a rotation unit length, with the sign that it had.
static uint32_t missing_component(const uint32_t rotation[4], unsigned missing, uint32_t before)
{
    double rest = 1;
    uint32_t bits;

    for (unsigned i = 0; i < 4; ++i) {
        const double component = (double)float_of(rotation[i]);

        rest -= i == missing ? 0 : component * component;
    }
    const float length = rest > 0 ? (float)sqrt(rest) : 0;

    memcpy(&bits, &length, sizeof bits);
    return (bits & 0x7fffffffu) | (before & 0x80000000u);
}

// Predict the largest component. Where no other one changes, it is as before.
static uint32_t predict(const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], unsigned largest)
{
    bool is_same = true;

    for (unsigned i = 0; i < 4; ++i) {
        is_same = is_same && (i == largest || before[i] == after[i]);
    }
    return is_same ? before[largest] : missing_component(after, largest, before[largest]);
}

void espl__pose_rest_of(const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out)
{
    const unsigned largest = main_component(before);

    out->mask = 0;
    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        const uint32_t from = i == largest ? predict(before, after, largest) : before[i];

        out->words[i] = fold(order_of(after[i]) - order_of(from));
        out->mask = (uint8_t)(out->mask | (out->words[i] != 0 ? 1u << i : 0));
    }
}

void espl__pose_with_rest(const uint32_t before[ESPL__POSE_WORDS], const espl__pose_rest *rest,
                          uint32_t after[ESPL__POSE_WORDS])
{
    const unsigned largest = main_component(before);

    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        if (i != largest) {
            after[i] = bits_of_order(order_of(before[i]) + unfold(rest->words[i]));
        }
    }
    after[largest] =
        bits_of_order(order_of(predict(before, after, largest)) + unfold(rest->words[largest]));
}

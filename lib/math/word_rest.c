// SPDX-License-Identifier: MIT
// Words are compared as numbers that ascend with the floats, so that a small change leaves a small number.
#include "lib/math/word_rest.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const uint32_t sign = UINT32_C(0x80000000);

// Return a number that ascends with the float of these bits.
static uint32_t order_of(uint32_t bits)
{
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

static uint32_t bits_of_order(uint32_t order)
{
    return (order & sign) != 0 ? order & ~sign : ~order;
}

uint32_t espl__word_rest(uint32_t after, uint32_t before)
{
    return espl__fold(order_of(after) - order_of(before));
}

uint32_t espl__word_with_rest(uint32_t rest, uint32_t before)
{
    return bits_of_order(order_of(before) + espl__unfold(rest));
}

// Magnitudes compare as their bits.
unsigned espl__main_component(const uint32_t rotation[ESPL__LEAST 4])
{
    unsigned largest = 0;

    for (unsigned i = 1; i < 4; ++i) {
        if ((rotation[i] & ~sign) > (rotation[largest] & ~sign)) {
            largest = i;
        }
    }
    return largest;
}

static double number_of(uint32_t bits)
{
    float out;

    memcpy(&out, &bits, sizeof out);
    return (double)out;
}

uint32_t espl__missing_component(const uint32_t rotation[ESPL__LEAST 4], unsigned component,
                                 uint32_t signed_as)
{
    double left = 1;
    uint32_t bits;

    for (unsigned i = 0; i < 4; ++i) {
        if (i != component) {
            const double number = number_of(rotation[i]);

            left -= number * number;
        }
    }
    const float length = left > 0 ? (float)sqrt(left) : 0;

    memcpy(&bits, &length, sizeof bits);
    return (bits & ~sign) | (signed_as & sign);
}

uint32_t espl__predict_component(const uint32_t before[ESPL__LEAST 4],
                                 const uint32_t after[ESPL__LEAST 4], unsigned component)
{
    bool is_same = true;

    for (unsigned i = 0; i < 4; ++i) {
        is_same = is_same && (i == component || before[i] == after[i]);
    }
    return is_same ? before[component]
                   : espl__missing_component(after, component, before[component]);
}

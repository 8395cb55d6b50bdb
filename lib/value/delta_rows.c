// SPDX-License-Identifier: MIT
// The component of a rotation that was the largest follows from the others up to rounding.
#include "lib/value/delta_rows.h"

#include "lib/math/word_rest.h"

void espl__pose_rest_of(const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out)
{
    const unsigned largest = espl__main_component(before);

    out->mask = 0;
    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        const uint32_t from =
            i == largest ? espl__predict_component(before, after, largest) : before[i];

        out->words[i] = espl__word_rest(after[i], from);
        out->mask = (uint8_t)(out->mask | (out->words[i] != 0 ? 1u << i : 0));
    }
}

void espl__pose_with_rest(const uint32_t before[ESPL__POSE_WORDS], const espl__pose_rest *rest,
                          uint32_t after[ESPL__POSE_WORDS])
{
    const unsigned largest = espl__main_component(before);

    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        if (i != largest) {
            after[i] = espl__word_with_rest(rest->words[i], before[i]);
        }
    }
    after[largest] =
        espl__word_with_rest(rest->words[largest], espl__predict_component(before, after, largest));
}

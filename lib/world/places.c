// SPDX-License-Identifier: MIT
// Stable radix sort by position, byte by byte, but for bytes in which all agree.
#include "lib/world/places.h"

#include "lib/base/trap.h"

#include <string.h>

enum { DIGITS = 4, BUCKETS = 256 };

static uint32_t digit_of(espl__place place, unsigned digit)
{
    return (place.position >> (8 * digit)) & 0xffu;
}

// Deal the places out by one digit. @param counts  [BUCKETS] of that digit; used up.
static void deal_out(espl__place *to, const espl__place *from, size_t count, unsigned digit,
                     size_t *counts)
{
    size_t sum = 0;

    for (size_t bucket = 0; bucket < BUCKETS; ++bucket) {
        const size_t here = counts[bucket];

        counts[bucket] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; ++i) {
        to[counts[digit_of(from[i], digit)]++] = from[i];
    }
}

void espl__places_sort(espl__place **places, espl__place **other, size_t count)
{
    size_t histograms[DIGITS][BUCKETS];

    ESPL_CHECK(count != 0);
    memset(histograms, 0, sizeof histograms);
    for (size_t i = 0; i < count; ++i) {
        for (unsigned digit = 0; digit < DIGITS; ++digit) {
            histograms[digit][digit_of((*places)[i], digit)] += 1;
        }
    }
    for (unsigned digit = 0; digit < DIGITS; ++digit) {
        if (histograms[digit][digit_of((*places)[0], digit)] == count) {
            continue;
        }
        deal_out(*other, *places, count, digit, histograms[digit]);
        espl__place *const sorted = *other;

        *other = *places;
        *places = sorted;
    }
}

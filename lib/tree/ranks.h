// SPDX-License-Identifier: MIT
// Ranks that move alike: parents' ranks and ranks of first children, as the arrays of links have them.
#ifndef ESPALIER_LIB_TREE_RANKS_H
#define ESPALIER_LIB_TREE_RANKS_H

#include <stdint.h>
#include <string.h>

typedef uint32_t espl__four __attribute__((vector_size(16)));

/// Copy ranks and add to each on the way, wrapping around; the two may be the same but not overlap
/// otherwise. Four at a time by itself: compilers do not at -O2.
static inline void espl__ranks_copy(uint32_t *to, const uint32_t *from, uint32_t count, uint32_t by)
{
    const espl__four all = {by, by, by, by};
    uint32_t i = 0;

    for (; i + 4 <= count; i += 4) {
        espl__four values;

        memcpy(&values, from + i, sizeof values);
        values += all;
        memcpy(to + i, &values, sizeof values);
    }
    for (; i < count; ++i) {
        to[i] = from[i] + by;
    }
}

#endif

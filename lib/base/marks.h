// SPDX-License-Identifier: MIT
// Marks: a growable array of words, one for each number of something, all 0 but while they are used.
//
// Reading and writing a mark needs no check, because the array is made long enough before. The user
// clears each mark that it set, so that the array is never cleared as a whole.
#ifndef ESPALIER_LIB_BASE_MARKS_H
#define ESPALIER_LIB_BASE_MARKS_H

#include "lib/base/array.h"

/// Grow an array of marks to numbers [0, count), the new ones 0. @return false: no memory.
bool espl__marks_reserve(espl__heap *heap, espl__purpose purpose, uint32_t **marks, size_t count);

/// Free an array of marks when it is more than four times as long as needed for numbers [0, count).
/// Precondition: all marks are 0.
static inline void espl__marks_trim(espl__heap *heap, espl__purpose purpose, uint32_t **marks,
                                    size_t count)
{
    if (espl__array_length(*marks) > 4 * count + 1024) {
        ESPL_ARRAY_FREE(heap, purpose, *marks);
    }
}

#endif

// SPDX-License-Identifier: MIT
// The growth of an array of marks.
#include "lib/base/marks.h"

#include <string.h>

bool espl__marks_reserve(espl__heap *heap, espl__purpose purpose, uint32_t **marks, size_t count)
{
    const size_t length = espl__array_length(*marks);

    if (count <= length) {
        return true;
    }
    if (!espl__array_reserve(heap, purpose, (void **)marks, sizeof **marks, count - length)) {
        return false;
    }
    // The length becomes the whole capacity, so that marks grow as rarely as the array does.
    const size_t room = espl__array_capacity(*marks);

    ESPL_CHECK(room >= count);
    memset(*marks + length, 0, (room - length) * sizeof **marks);
    espl__array_set_length(*marks, room);
    return true;
}

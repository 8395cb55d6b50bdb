// SPDX-License-Identifier: MIT
// The functions of sized.h for a struct that has another size in the program than in the library.
#include "lib/base/sized.h"

#include "lib/base/trap.h"

bool espl__sized_tail_is_zero(const void *given, size_t size, size_t own)
{
    const unsigned char *const bytes = given;

    ESPL_CHECK(given != NULL && size > own);
    for (size_t i = own; i < size; ++i) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

const void *espl__sized_copy(const void *given, size_t size, void *room, size_t own)
{
    const size_t both = size < own ? size : own;

    ESPL_CHECK(given != NULL && room != NULL && given != room);
    memcpy(room, given, both);
    memset((unsigned char *)room + both, 0, own - both);
    return room;
}

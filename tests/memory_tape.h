// SPDX-License-Identifier: MIT
// A tape in memory: a world appends its records.
#ifndef ESPALIER_TESTS_MEMORY_TAPE_H
#define ESPALIER_TESTS_MEMORY_TAPE_H

#include "tests/asserts.h"

#include <espalier/tape.h>
#include <stdlib.h>
#include <string.h>

typedef struct memory_tape {
    unsigned char *bytes; // to be freed
    size_t size, room;
} memory_tape;

/// The write function of a tape whose user is a memory_tape.
static inline void memory_tape_append(void *user, const void *bytes, size_t size)
{
    memory_tape *const s = user;

    if (size > s->room - s->size) {
        s->room = 2 * s->room + size;
        s->bytes = realloc(s->bytes, s->room);
        ck_assert_ptr_nonnull(s->bytes);
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

#endif

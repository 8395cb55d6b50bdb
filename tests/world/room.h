// SPDX-License-Identifier: MIT
// Parts that tests of limits share: memory for entities, and many components.
#ifndef ESPALIER_TESTS_WORLD_ROOM_H
#define ESPALIER_TESTS_WORLD_ROOM_H

#include "tests/checks.h"
#include "tests/runner.h"
#include "tests/support.h"

/// Indices of a world of this build. A constant, for the sizes of arrays.
#ifdef ESPL_SHRUNKEN
#define INDEX_LIMIT ((size_t)1 << 6)
#else
#define INDEX_LIMIT ((size_t)1 << 31)
#endif

static inline espl_status register_kind(espl_world *world, const char *name, size_t size,
                                        size_t alignment, espl_component *out)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = alignment};

    return espl_component_register(world, &def, out);
}

// Tags "tag000", "tag001" and so on.
static inline void register_tags(espl_world *world, espl_component *tag, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        char name[8] = "tag???";

        name[3] = (char)('0' + i / 100);
        name[4] = (char)('0' + i / 10 % 10);
        name[5] = (char)('0' + i % 10);
        ck_ok(register_kind(world, name, 0, 1, &tag[i]));
    }
}

#endif

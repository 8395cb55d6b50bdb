// SPDX-License-Identifier: MIT
/// @file
/// The entity handle. Includes no other header of the library, for code that only stores handles.
///
/// Thread rule: a handle is a value, and the functions may be called from any thread.
#ifndef ESPALIER_ID_H
#define ESPALIER_ID_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Handle of an entity, passed by value. All zero is the null entity.
///
/// Compare both fields; give neither a meaning of your own. A handle stays unique for the life of
/// its world: an index is used again with another generation, and retired when its generations
/// are used up. The generation also carries a tag of the world, so that another world's handle
/// is refused, and marks pending entities (see espalier/commands.h).
typedef struct espl_entity {
    uint32_t index;
    uint32_t generation;
} espl_entity;

/// Return the null entity, which names nothing.
static inline espl_entity espl_entity_null(void)
{
    const espl_entity null = {0, 0};
    return null;
}

/// Tell whether a handle is the null entity. A dead entity's handle is not null.
static inline bool espl_entity_is_null(espl_entity entity)
{
    return entity.index == 0 && entity.generation == 0;
}

/// Tell whether two handles are the same, bit for bit.
static inline bool espl_entity_equal(espl_entity a, espl_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

#ifdef __cplusplus
}
#endif

#endif

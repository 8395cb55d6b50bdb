// SPDX-License-Identifier: MIT
// What a higher layer attaches to a world: renderables. The world asks it by these functions, because a layer
// does not include a higher one.
#ifndef ESPALIER_LIB_WORLD_ATTACHMENT_H
#define ESPALIER_LIB_WORLD_ATTACHMENT_H

#include <espalier/id.h>

#include <stdbool.h>
#include <stddef.h>

struct espl__attachment {
    void *object;
    /// Return the first rule that the object breaks, or NULL. @param where  out: the entity concerned.
    const char *(*broken_rule)(const void *object, espl_entity *where);
    /// Return the bytes of ESPL__FOR_CHANGES that it holds.
    size_t (*bytes)(const void *object);
    /// Free memory that is not needed. @return false: there was no memory to move to for a part of it.
    bool (*trim)(void *object);
    size_t count, clusters; // statistics: renderables and clusters of the newest mirror
};

typedef struct espl__attachment espl__attachment;

/// Return the bytes of an attachment. @param attachment  NULL: there is none.
static inline size_t espl__attachment_bytes(const espl__attachment *attachment)
{
    return attachment != NULL ? attachment->bytes(attachment->object) : 0;
}

#endif

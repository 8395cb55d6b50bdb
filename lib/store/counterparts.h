// SPDX-License-Identifier: MIT
// Counterparts: entities that stand for an entity of another world, which is their original.
//
// An array by entity index has the originals, and a hash table leads from an original to its entity. A world
// without a counterpart has neither. A handle of an original is compared and never followed. The store removes
// the links of destroyed entities, so that each link is of a living one.
//
// Worlds of which one was made from the other have their entities in the same order, so that a look-up of many
// originals guesses the next entity and compares in the array: see espl__counterpart_is().
#ifndef ESPALIER_LIB_STORE_COUNTERPARTS_H
#define ESPALIER_LIB_STORE_COUNTERPARTS_H

#include "lib/base/array.h"
#include "lib/base/prefetch.h"

#include <espalier/base.h>

/// An entry of the table.
typedef struct espl__counterpart {
    espl_entity original; // null: free
    uint32_t entity;      // index
} espl__counterpart;

/// The links. {0} is empty.
typedef struct espl__counterparts {
    // Stb array by index of the entity: its original, or null. As long as was reserved.
    espl_entity *originals;
    // [capacity] the same links by original: open addressing with linear probes, at most three quarters full,
    // so that each search ends at a free entry.
    espl__counterpart *by_original;
    size_t capacity; // 0, or a power of two
    size_t count;    // entities with an original
} espl__counterparts;

/// Return the entry at which the probes for an original begin. Precondition: there is a table.
static inline size_t espl__original_home(const espl__counterparts *c, espl_entity original)
{
    const uint64_t key = original.index ^ ((uint64_t)original.generation << 32);

    // Fibonacci hashing, as of names: see names.c.
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (c->capacity - 1);
}

/// Prefetch what espl__counterpart_of() reads of an original.
static inline void espl__counterpart_prefetch(const espl__counterparts *c, espl_entity original)
{
    if (c->capacity != 0) {
        espl__prefetch(&c->by_original[espl__original_home(c, original)]);
    }
}

/// Return the original of an entity, or the null entity.
static inline espl_entity espl__original_of(const espl__counterparts *c, uint32_t entity)
{
    return entity < espl__array_length(c->originals) ? c->originals[entity] : espl_entity_null();
}

/// Tell whether an index, which may be that of no entity, is that of the counterpart of an original.
static inline bool espl__counterpart_is(const espl__counterparts *c, uint32_t entity,
                                        espl_entity original)
{
    return !espl_entity_is_null(original) &&
           espl_entity_equal(espl__original_of(c, entity), original);
}

/// Return the index of the entity that stands for an original, or UINT32_MAX.
uint32_t espl__counterpart_of(const espl__counterparts *c, espl_entity original);
/// Make sure that `more` links of entities with indices below `indices` can be put.
/// @return false: no memory, no link changed.
bool espl__counterparts_reserve(espl__counterparts *c, espl__heap *heap, size_t more,
                                size_t indices);
/// Link an entity and an original, of which neither has a link. Precondition: reserved.
void espl__counterpart_put(espl__counterparts *c, uint32_t entity, espl_entity original);
/// Remove the links of entities. Entities without one are ignored. Cannot fail.
void espl__counterparts_remove(espl__counterparts *c, const uint32_t *entities, size_t count);
/// Shrink the memory to the smallest for the links. @return false: no memory to move them to.
bool espl__counterparts_trim(espl__counterparts *c, espl__heap *heap);
/// Return the bytes of the links, which the heap counts under ESPL__FOR_STORE.
size_t espl__counterparts_bytes(const espl__counterparts *c);
/// Free the memory, and leave no link.
void espl__counterparts_free(espl__counterparts *c, espl__heap *heap);

/// Find the first invariant that does not hold: each entry of the table is found by its probes, in one place;
/// table and array have the same links; the table has free entries. O(capacity + indices), without memory.
/// @param entity  out: the index concerned, or UINT32_MAX.
/// @return NULL, or the invariant as a sentence.
const char *espl__counterparts_broken_rule(const espl__counterparts *c, uint32_t *entity);

#endif

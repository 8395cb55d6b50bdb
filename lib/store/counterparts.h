// SPDX-License-Identifier: MIT
// Counterparts: entities that stand for an entity of another world, which is their original.
//
// Two hash tables, so that entities without an original take no memory: one leads from the original to the
// entity, the other one from the entity to its original. A handle of an original is compared and never
// followed. The store removes the links of destroyed entities, so that each link is of a living one.
#ifndef ESPALIER_LIB_STORE_COUNTERPARTS_H
#define ESPALIER_LIB_STORE_COUNTERPARTS_H

#include "lib/base/heap.h"
#include "lib/base/prefetch.h"

#include <espalier/base.h>

/// An entry of both tables.
typedef struct espl__counterpart {
    espl_entity original; // null: free
    uint32_t entity;      // index
} espl__counterpart;

/// The tables: open addressing with linear probes, at most three quarters full, so that each search ends
/// at a free entry. Both have the same entries. {0} is empty.
typedef struct espl__counterparts {
    espl__counterpart *by_original; // [capacity]
    espl__counterpart *by_entity;   // [capacity]
    size_t capacity;                // 0, or a power of two
    size_t count;                   // entities with an original
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

/// Return the index of the entity that stands for an original, or UINT32_MAX.
uint32_t espl__counterpart_of(const espl__counterparts *c, espl_entity original);
/// Return the original of an entity, or the null entity.
espl_entity espl__original_of(const espl__counterparts *c, uint32_t entity);
/// Make sure that `more` links can be put. @return false: no memory, nothing changed.
bool espl__counterparts_reserve(espl__counterparts *c, espl__heap *heap, size_t more);
/// Link an entity and an original, of which neither has a link. Precondition: reserved.
void espl__counterpart_put(espl__counterparts *c, uint32_t entity, espl_entity original);
/// Remove the links of entities. Entities without one are ignored. Cannot fail.
void espl__counterparts_remove(espl__counterparts *c, const uint32_t *entities, size_t count);
/// Shrink the tables to the smallest capacity for their entries. @return false: no memory to move them to.
bool espl__counterparts_trim(espl__counterparts *c, espl__heap *heap);
/// Return the bytes of the tables, which the heap counts under ESPL__FOR_STORE.
size_t espl__counterparts_bytes(const espl__counterparts *c);
/// Free the tables, and leave them empty.
void espl__counterparts_free(espl__counterparts *c, espl__heap *heap);

/// Find the first invariant that does not hold: each entry is found by its probes, in one place of each table;
/// both tables have the same entries; they have free ones. O(capacity), without memory.
/// @param entity  out: the index concerned, or UINT32_MAX.
/// @return NULL, or the invariant as a sentence.
const char *espl__counterparts_broken_rule(const espl__counterparts *c, uint32_t *entity);

#endif

// SPDX-License-Identifier: MIT
// Names of entities: a hash table by index, so that entities without a name take no memory. A clone
// shares the text of its source, so that naming it takes a place in the table and nothing else.
#ifndef ESPALIER_LIB_STORE_NAMES_H
#define ESPALIER_LIB_STORE_NAMES_H

#include "lib/base/heap.h"

/// A text that entities have for a name.
typedef struct espl__name {
    uint32_t uses; // entities that have it, at least 1
    uint32_t size; // bytes of the text, the terminator included
    char text[];
} espl__name;

/// A place in the table.
typedef struct espl__named {
    espl__name *name; // NULL: free
    uint32_t entity;  // index
} espl__named;

/// Open addressing with linear probes, at most three quarters full. {0} is empty.
typedef struct espl__names {
    espl__named *entries; // [capacity]
    size_t capacity;      // 0, or a power of two
    size_t count;         // entities with a name
    size_t text_count;    // texts, which several entities may share
    size_t text_bytes;    // that they take of the heap
} espl__names;

/// The name of an entity, or NULL.
const espl__name *espl__name_of(const espl__names *names, uint32_t entity);
/// Give a living entity a copy of a text for its name; a length of 0 takes the name away.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY: nothing changed then.
espl_status espl__name_set(espl__names *names, espl__heap *heap, uint32_t entity, const char *text,
                           size_t length);
/// Make sure that so many more entities can share a name. @return false: no memory.
bool espl__names_reserve(espl__names *names, espl__heap *heap, size_t more);
/// Have a new entity share the name of another one; reserved.
void espl__name_share(espl__names *names, uint32_t from, uint32_t entity);
/// Take the names of entities away; those without one are passed over. Cannot fail.
void espl__names_remove(espl__names *names, espl__heap *heap, const uint32_t *entities,
                        size_t count);
/// Make the table as small as it may be. @return false: no memory to move it to.
bool espl__names_trim(espl__names *names, espl__heap *heap);
/// Bytes that names take, under ESPL__FOR_STORE.
size_t espl__names_bytes(const espl__names *names);
void espl__names_free(espl__names *names, espl__heap *heap);

/// NULL, or the first broken invariant as a sentence: each entity is found by its probes, the table
/// is not too full, texts are as long as they say, and their uses and counts agree. O(capacity), no
/// memory. @param entity  out: the one concerned, UINT32_MAX for none.
const char *espl__names_broken_rule(const espl__names *names, uint32_t *entity);

#endif

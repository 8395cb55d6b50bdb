// SPDX-License-Identifier: MIT
// What may be a name: of an entity, a component or a custom command.
//
// Names of entities: a hash table by entity index, so that entities without a name take no memory.
// Several entities may share one text: a clone shares that of its source, so that naming it
// allocates nothing but an entry. The store removes the names of destroyed entities, so that each
// name is of a living one.
#ifndef ESPALIER_LIB_STORE_NAMES_H
#define ESPALIER_LIB_STORE_NAMES_H

#include "lib/base/heap.h"

#include <espalier/base.h>

/// Return the length of a name, at most ESPL_NAME_LIMIT + 1, so that a text without end is not read
/// to its end. NULL has length 0.
size_t espl__name_length(const char *text);
/// Tell whether a name consists of bytes that a name may have. A control character would break the
/// lines of messages, dumps and traces, and '/' separates the names of a path.
bool espl__name_is_plain(const char *text, size_t length);
/// Check the name of an entity. @return ESPL_OK; ESPL_ERR_LIMIT: too long; ESPL_ERR_ARGUMENT: a byte that a
/// name may not have.
espl_status espl__name_check(const char *text, size_t length);
/// Return the fault of a name that must be there, as a sentence about `def->name`, or NULL.
const char *espl__def_name_fault(const char *name);

/// A text that is the name of one entity or more.
typedef struct espl__name {
    uint32_t uses; // number of these entities; 0: only a follower holds it
    uint32_t held; // by a follower, so many times
    uint32_t size; // bytes of the text, the terminator included
    char text[];
} espl__name;

/// An entry of the table.
typedef struct espl__named {
    espl__name *name; // NULL: free
    uint32_t entity;  // index
} espl__named;

/// The table: open addressing with linear probes, at most three quarters full, so that each search
/// ends at a free entry. {0} is empty.
typedef struct espl__names {
    espl__named *entries; // [capacity]
    size_t capacity;      // 0, or a power of two
    size_t count;         // entities with a name
    size_t text_count;    // texts
    size_t text_bytes;    // bytes of all texts in the heap
} espl__names;

/// Return the name of an entity, or NULL.
const espl__name *espl__name_of(const espl__names *names, uint32_t entity);
/// Name a living entity with a copy of a text. A length of 0 removes the name. The text may be that
/// of its present name. @return ESPL_OK; ESPL_ERR_NO_MEMORY: nothing changed.
espl_status espl__name_set(espl__names *names, espl__heap *heap, uint32_t entity, const char *text,
                           size_t length);
/// Take the memory for the name of one entity that has none yet.
/// @return the name, for espl__name_give() or espl__name_discard(); NULL: no memory, nothing changed.
espl__name *espl__name_prepare(espl__names *names, espl__heap *heap, const char *text,
                               size_t length);
/// Give an entity without a name one that was prepared. Cannot fail.
void espl__name_give(espl__names *names, uint32_t entity, espl__name *name);
/// Free a name that was prepared and not given. NULL is ignored.
void espl__name_discard(espl__names *names, espl__heap *heap, espl__name *name);
/// Make sure that `more` entities can share a name. @return false: no memory.
bool espl__names_reserve(espl__names *names, espl__heap *heap, size_t more);
/// Name an entity that has no name with the text of another one. Precondition: reserved.
void espl__name_share(espl__names *names, uint32_t from, uint32_t entity);
/// Hold the name of an entity, so that its text stays. NULL has no effect.
void espl__name_hold(espl__name *name);
/// End that: free the text where nothing needs it. NULL has no effect.
void espl__name_let_go(espl__names *names, espl__heap *heap, espl__name *name);
/// Give an entity without a name one that is held. Precondition: the table had so many names before, so that
/// it has room.
void espl__name_put_back(espl__names *names, uint32_t entity, espl__name *name);
/// Remove the names of entities. Entities without a name are ignored. Cannot fail.
void espl__names_remove(espl__names *names, espl__heap *heap, const uint32_t *entities,
                        size_t count);
/// Shrink the table to the smallest capacity for its entries. @return false: no memory to move it
/// to.
bool espl__names_trim(espl__names *names, espl__heap *heap);
/// Return the bytes of the table and all texts, which the heap counts under ESPL__FOR_STORE.
size_t espl__names_bytes(const espl__names *names);
/// Free the table and all texts, and leave it empty.
void espl__names_free(espl__names *names, espl__heap *heap);

/// Find the first invariant that does not hold: each entity is found by its probes, the table is at
/// most three quarters full, texts have the length that they state, and uses and counts agree.
/// O(capacity), without memory.
/// @param entity  out: the index concerned, or UINT32_MAX.
/// @return NULL, or the invariant as a sentence.
const char *espl__names_broken_rule(const espl__names *names, uint32_t *entity);

#endif

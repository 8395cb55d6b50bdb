// SPDX-License-Identifier: MIT
// Growable arrays and cold maps over stb_ds. Nothing else includes stb_ds.
//
// stb_ds never checks an allocation, so it is never left to grow: espl__array_reserve() takes
// checked memory for the items first, and espl__map_reserve() sets the next hash index aside.
// An array is a pointer to its items, NULL while empty; length and capacity stand in stb_ds's
// header before them. Alignment of the items is at most 16.
//
//     if (!ESPL_ARRAY_RESERVE(heap, purpose, array, more)) return ESPL_ERR_NO_MEMORY;
//     ESPL_ARRAY_PUSH(array, value);
#ifndef ESPALIER_LIB_BASE_ARRAY_H
#define ESPALIER_LIB_BASE_ARRAY_H

#include "lib/base/heap.h"

// Words of stb_ds's header, counted back from the items: array.c holds them to it. They are read
// here, since recording and many loops ask for them item by item.
enum { ESPL__ARRAY_LENGTH = -4, ESPL__ARRAY_CAPACITY = -3 };

/// Number of items, 0 for NULL.
static inline size_t espl__array_length(const void *array)
{
    return array == NULL ? 0 : ((const size_t *)array)[ESPL__ARRAY_LENGTH];
}

/// Number of items there is room for, 0 for NULL.
static inline size_t espl__array_capacity(const void *array)
{
    return array == NULL ? 0 : ((const size_t *)array)[ESPL__ARRAY_CAPACITY];
}

/// Set the length, at most the capacity. NULL only with 0.
static inline void espl__array_set_length(void *array, size_t length)
{
    ESPL_CHECK(length <= espl__array_capacity(array));
    if (array != NULL) {
        ((size_t *)array)[ESPL__ARRAY_LENGTH] = length;
    }
}

/// Tell whether a reserve has nothing to do. Never so in hard-move builds, where each one moves.
static inline bool espl__array_has_room(const void *array, size_t more)
{
#ifdef ESPL_HARD_MOVE
    (void)array;
    (void)more;
    return false;
#else
    return more <= espl__array_capacity(array) - espl__array_length(array);
#endif
}

/// Make room for `more` items past the length, where espl__array_has_room() finds none. Grows by half
/// at least; in hard-move builds it always moves. @return false where there is no memory; the array is
/// unchanged then.
bool espl__array_reserve(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                         size_t more);

/// Give back the room past `capacity` items, or past the length where that is more; no room at all
/// leaves NULL. Where there is room to give back the items move. @return false where there is no
/// memory to move them to; the array is unchanged then.
bool espl__array_shrink(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                        size_t capacity);

/// Give the memory back and set the pointer to NULL.
void espl__array_free(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size);

/// Bytes that an array takes of its heap.
size_t espl__array_bytes(const void *array, size_t item_size);

#define ESPL_ARRAY_RESERVE(heap, purpose, array, more) \
    (espl__array_has_room((array), (more)) ||          \
     espl__array_reserve((heap), (purpose), (void **)&(array), sizeof *(array), (more)))
#define ESPL_ARRAY_SHRINK(heap, purpose, array, capacity) \
    espl__array_shrink((heap), (purpose), (void **)&(array), sizeof *(array), (capacity))
#define ESPL_ARRAY_BYTES(array) espl__array_bytes((array), sizeof *(array))
#define ESPL_ARRAY_FREE(heap, purpose, array) \
    espl__array_free((heap), (purpose), (void **)&(array), sizeof *(array))
/// Append one item; there must be room.
#define ESPL_ARRAY_PUSH(array, ...)                         \
    do {                                                    \
        const size_t espl__at = espl__array_length(array);  \
        ESPL_CHECK(espl__at < espl__array_capacity(array)); \
        (array)[espl__at] = __VA_ARGS__;                    \
        espl__array_set_length((array), espl__at + 1);      \
    } while (0)

/// A cold map from a 32-bit key to a 32-bit value. {0} is empty.
typedef struct espl__map {
    void *entries;   // stb_ds hash map
    void *set_aside; // blocks for the next put
} espl__map;

/// Make sure that the next espl__map_put() cannot fail.
bool espl__map_reserve(espl__heap *heap, espl__purpose purpose, espl__map *map);
/// Set a key's value; espl__map_reserve() came before.
void espl__map_put(espl__heap *heap, espl__purpose purpose, espl__map *map, uint32_t key,
                   uint32_t value);
/// Return a key's value, or `otherwise`.
uint32_t espl__map_get(const espl__map *map, uint32_t key, uint32_t otherwise);
/// Give back what was set aside for the next espl__map_put(), which wants a reserve then.
void espl__map_trim(espl__heap *heap, espl__purpose purpose, espl__map *map);
/// Bytes that a map takes of its heap.
size_t espl__map_bytes(const espl__map *map);
void espl__map_free(espl__heap *heap, espl__purpose purpose, espl__map *map);

/// Return a 32-bit hash of bytes (FNV-1a), the usual key of a map.
uint32_t espl__hash_bytes(const void *bytes, size_t size);

#endif

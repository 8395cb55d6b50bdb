// SPDX-License-Identifier: MIT
// Growable arrays and hash maps over stb_ds. No other file includes stb_ds.
//
// stb_ds does not check its allocations, so the library allocates for it: espl__array_reserve()
// before items are appended, espl__map_reserve() before a key is put. An array is a pointer to its
// items, or NULL while it has no memory. Length and capacity are in the header of stb_ds, which
// precedes the items. The items are aligned to 16.
//
//     if (!ESPL_ARRAY_RESERVE(heap, purpose, array, more)) return ESPL_ERR_NO_MEMORY;
//     ESPL_ARRAY_PUSH(array, value);
#ifndef ESPALIER_LIB_BASE_ARRAY_H
#define ESPALIER_LIB_BASE_ARRAY_H

#include "lib/base/heap.h"

// Offsets of two words of the header of stb_ds, counted back from the items. The inline functions
// below read them, because a call for each item is too slow. array.c asserts the offsets.
enum { ESPL__ARRAY_LENGTH = -4, ESPL__ARRAY_CAPACITY = -3 };

/// Return the number of items; 0 for NULL.
static inline size_t espl__array_length(const void *array)
{
    return array == NULL ? 0 : ((const size_t *)array)[ESPL__ARRAY_LENGTH];
}

/// Return the number of items that the memory has room for; 0 for NULL.
static inline size_t espl__array_capacity(const void *array)
{
    return array == NULL ? 0 : ((const size_t *)array)[ESPL__ARRAY_CAPACITY];
}

/// Set the length to at most the capacity.
static inline void espl__array_set_length(void *array, size_t length)
{
    ESPL_CHECK(length <= espl__array_capacity(array));
    if (array != NULL) {
        ((size_t *)array)[ESPL__ARRAY_LENGTH] = length;
    }
}

/// Tell whether each reserve moves an array of that length: always in a hard-move build, but for long
/// arrays, which grow by a part of their length there, else tests would do little but copy.
static inline bool espl__array_always_moves(size_t length)
{
#ifdef ESPL_HARD_MOVE
    return length < 2048;
#else
    (void)length;
    return false;
#endif
}

/// Tell whether the array has room for `more` items past its length.
static inline bool espl__array_has_room(const void *array, size_t more)
{
    const size_t length = espl__array_length(array);

    ESPL_CHECK_FULL(length <= espl__array_capacity(array));
    return !espl__array_always_moves(length) && more <= espl__array_capacity(array) - length;
}

/// Move the items to memory with room for `more` items past the length. The capacity grows by at
/// least half, so that appending is amortised O(1).
///
/// Precondition: espl__array_has_room() is false.
/// @return false where there is no memory; the array is unchanged then.
bool espl__array_reserve(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                         size_t more);

/// Reduce the capacity to `capacity`, but not below the length. The items move to smaller memory;
/// an array of capacity 0 is NULL.
/// @return false where there is no memory to move to; the array is unchanged then.
bool espl__array_shrink(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                        size_t capacity);

/// Free the memory and set the pointer to NULL.
void espl__array_free(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size);

/// Return the bytes that an array holds of its heap.
size_t espl__array_bytes(const void *array, size_t item_size);

// The macros take the array itself. They derive the size of an item from its type.

/// Make room for `more` items past the length. @return false where there is no memory.
#define ESPL_ARRAY_RESERVE(heap, purpose, array, more) \
    (espl__array_has_room((array), (more)) ||          \
     espl__array_reserve((heap), (purpose), (void **)&(array), sizeof *(array), (more)))
/// Reduce the capacity to `capacity`, but not below the length. @return as espl__array_shrink().
#define ESPL_ARRAY_SHRINK(heap, purpose, array, capacity) \
    espl__array_shrink((heap), (purpose), (void **)&(array), sizeof *(array), (capacity))
/// Return the bytes that the array holds of its heap.
#define ESPL_ARRAY_BYTES(array) espl__array_bytes((array), sizeof *(array))
/// Free the memory and set the array to NULL.
#define ESPL_ARRAY_FREE(heap, purpose, array) \
    espl__array_free((heap), (purpose), (void **)&(array), sizeof *(array))
/// Append one item, for which the array has room.
#define ESPL_ARRAY_PUSH(array, ...)                         \
    do {                                                    \
        const size_t espl__at = espl__array_length(array);  \
        ESPL_CHECK(espl__at < espl__array_capacity(array)); \
        (array)[espl__at] = __VA_ARGS__;                    \
        espl__array_set_length((array), espl__at + 1);      \
    } while (0)

/// A map from a 32-bit key to a 32-bit value. {0} is empty. It is slow and meant for lookups by
/// name.
typedef struct espl__map {
    void *entries;  // hash map of stb_ds
    void *reserved; // list of blocks for the next put
} espl__map;

/// Allocate what the next espl__map_put() may need, so that it cannot fail.
/// @return false where there is no memory.
bool espl__map_reserve(espl__heap *heap, espl__purpose purpose, espl__map *map);
/// Set the value of a key. Precondition: espl__map_reserve() succeeded since the last put.
void espl__map_put(espl__heap *heap, espl__purpose purpose, espl__map *map, uint32_t key,
                   uint32_t value);
/// Replace the value of a key. Cannot fail. Precondition: the map has the key.
void espl__map_replace(espl__map *map, uint32_t key, uint32_t value);
/// Return the value of a key, or `otherwise` where the map has no such key.
uint32_t espl__map_get(const espl__map *map, uint32_t key, uint32_t otherwise);
/// Free what espl__map_reserve() allocated and no put used.
void espl__map_trim(espl__heap *heap, espl__purpose purpose, espl__map *map);
/// Return the bytes that a map holds of its heap.
size_t espl__map_bytes(const espl__map *map);
/// Free the memory of a map, which is empty then.
void espl__map_free(espl__heap *heap, espl__purpose purpose, espl__map *map);

/// Return the FNV-1a hash of some bytes, by which names and sets are keys of a map.
uint32_t espl__hash_bytes(const void *bytes, size_t size);

#endif

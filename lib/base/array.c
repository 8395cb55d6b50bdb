// SPDX-License-Identifier: MIT
// The one file that includes stb_ds. The functions of stb_ds are renamed, because 14 of them have
// external linkage and would clash with another copy in a static link. Its allocator is replaced by
// one that hands out blocks reserved before the call, because stb_ds does not check for NULL.
#include "lib/base/array.h"

#include <string.h>

// A block for stb_ds, in the list of reserved blocks or in use.
typedef struct stbds_block {
    size_t size; // bytes of the whole block
    void *next;
    espl__max_align payload[];
} stbds_block;

static void *realloc_reserved(void *old, size_t size);
static void free_used(void *old);

#define stbds_rand_seed espl__stbds_rand_seed
#define stbds_hash_bytes espl__stbds_hash_bytes
#define stbds_hash_string espl__stbds_hash_string
#define stbds_stralloc espl__stbds_stralloc
#define stbds_strreset espl__stbds_strreset
#define stbds_unit_tests espl__stbds_unit_tests
#define stbds_arrgrowf espl__stbds_arrgrowf
#define stbds_arrfreef espl__stbds_arrfreef
#define stbds_hmfree_func espl__stbds_hmfree_func
#define stbds_hmget_key espl__stbds_hmget_key
#define stbds_hmget_key_ts espl__stbds_hmget_key_ts
#define stbds_hmput_default espl__stbds_hmput_default
#define stbds_hmput_key espl__stbds_hmput_key
#define stbds_hmdel_key espl__stbds_hmdel_key
#define stbds_shmode_func espl__stbds_shmode_func
#define STBDS_NO_SHORT_NAMES
// stb_ds uses typeof with gcc and clang, and strict C11 does not have it.
#define typeof __typeof__
// The macros of stb_ds cast the address of entries to that of the header before them. This warning
// stays off, because the macros are expanded below.
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#define STBDS_REALLOC(context, block, size) realloc_reserved((block), (size))
#define STBDS_FREE(context, block) free_used(block)
#define STB_DS_IMPLEMENTATION
#include <stb_ds.h>
#pragma GCC diagnostic pop

// stb_ds shifts every fourth byte of a key into the sign of an int, which is undefined for bytes of
// 128 and more. So the key has 8 bytes, of which each fourth one is zero.
typedef struct map_key {
    uint16_t low, low_zero, high, high_zero;
} map_key;

typedef struct map_entry {
    map_key key;
    uint32_t value;
} map_entry;

_Static_assert(sizeof(map_key) == 8, "a key is hashed and compared as bytes, without padding");

enum { HEADER_SIZE = sizeof(stbds_array_header), ARRAY_ALIGNMENT = 32 };

_Static_assert(sizeof(((stbds_array_header *)0)->length) == sizeof(size_t) &&
                   offsetof(stbds_array_header, length) ==
                       HEADER_SIZE + ESPL__ARRAY_LENGTH * (int)sizeof(size_t),
               "array.h reads the length of stb_ds");
_Static_assert(sizeof(((stbds_array_header *)0)->capacity) == sizeof(size_t) &&
                   offsetof(stbds_array_header, capacity) ==
                       HEADER_SIZE + ESPL__ARRAY_CAPACITY * (int)sizeof(size_t),
               "array.h reads the capacity of stb_ds");
_Static_assert(HEADER_SIZE == 32 || HEADER_SIZE == 16, "items keep an alignment of 16");

// stb_ds passes no map to its allocator, so that the state of the allocator is global. The lock
// serialises the maps of all worlds, because stb_ds has a global seed as well.
static atomic_flag stbds_lock = ATOMIC_FLAG_INIT;
static espl__heap *locked_heap;
static espl__purpose locked_purpose;
static espl__map *locked_map; // the map that stb_ds works on

static map_key widen_key(uint32_t key)
{
    return (map_key){.low = (uint16_t)(key & 0xFFFF), .high = (uint16_t)(key >> 16)};
}

static void lock_stbds(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    while (atomic_flag_test_and_set_explicit(&stbds_lock, memory_order_acquire)) {
    }
    locked_heap = heap;
    locked_purpose = purpose;
    locked_map = map;
}

static void unlock_stbds(void)
{
    atomic_flag_clear_explicit(&stbds_lock, memory_order_release);
}

// realloc() of stb_ds: move `old` to a reserved block. NULL allocates.
static void *realloc_reserved(void *old, size_t size)
{
    stbds_block *const block = locked_map->reserved;

    ESPL_CHECK(block != NULL && block->size >= sizeof(stbds_block) + size);
    locked_map->reserved = block->next;
    if (old != NULL) {
        const stbds_block *const before = (const stbds_block *)old - 1;
        const size_t old_size = before->size - sizeof(stbds_block);

        memcpy(block->payload, old, old_size < size ? old_size : size);
        free_used(old);
    }
    return block->payload;
}

// free() of stb_ds. It never gets NULL, because a map with entries has a hash index.
static void free_used(void *old)
{
    ESPL_CHECK(old != NULL);
    stbds_block *const block = (stbds_block *)old - 1;

    ESPL_CHECK(block->size > sizeof(stbds_block));
    espl__heap_give(locked_heap, locked_purpose, block, 1, block->size, _Alignof(espl__max_align));
}

static void free_reserved(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    while (map->reserved != NULL) {
        stbds_block *const block = map->reserved;

        map->reserved = block->next;
        espl__heap_give(heap, purpose, block, 1, block->size, _Alignof(espl__max_align));
    }
}

// One put takes at most three blocks: the items twice and the hash index once.
enum { RESERVED_BLOCKS = 3 };

static size_t count_reserved(const espl__map *map)
{
    size_t count = 0;

    for (const stbds_block *block = map->reserved; block != NULL; block = block->next) {
        count += 1;
    }
    return count;
}

// Each reserved block has 64 bytes per entry and space for headers, because an entry takes less in
// the items (2 * 12 bytes) and in the hash index (fewer than 3 slots of 16 bytes). It suffices for one
// put, which frees the blocks that it did not use: entries come rarely, and a small world would be
// mostly blocks otherwise.
bool espl__map_reserve(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    map_entry *const entries = map->entries;
    const size_t size = 512 + 64 * (stbds_hmlenu(entries) + 1);

    // Unused blocks are large enough, because they are there since the last put.
    if (count_reserved(map) == RESERVED_BLOCKS) {
        return true;
    }
    free_reserved(heap, purpose, map);
    for (int i = 0; i < RESERVED_BLOCKS; ++i) {
        const size_t whole = sizeof(stbds_block) + size;
        stbds_block *const block =
            espl__heap_take(heap, purpose, 1, whole, _Alignof(espl__max_align));

        if (block == NULL) {
            return false;
        }
        block->size = whole;
        block->next = map->reserved;
        map->reserved = block;
    }
    return true;
}

// stb_ds may move the entries, so that the map gets their new address.
void espl__map_put(espl__heap *heap, espl__purpose purpose, espl__map *map, uint32_t key,
                   uint32_t value)
{
    map_entry *entries = map->entries;
    const map_key wide = widen_key(key);

    ESPL_CHECK(count_reserved(map) == RESERVED_BLOCKS);
    lock_stbds(heap, purpose, map);
    stbds_hmput(entries, wide, value);
    map->entries = entries;
    free_reserved(heap, purpose, map);
    unlock_stbds();
}

// A put would allocate before it looks for the key.
void espl__map_replace(espl__map *map, uint32_t key, uint32_t value)
{
    map_entry *entries = map->entries;
    const map_key wide = widen_key(key);
    ptrdiff_t scratch = 0;
    const ptrdiff_t at = stbds_hmgeti_ts(entries, wide, scratch);

    ESPL_CHECK(at >= 0 && at < (ptrdiff_t)stbds_hmlenu(entries));
    entries[at].value = value;
}

uint32_t espl__map_get(const espl__map *map, uint32_t key, uint32_t otherwise)
{
    map_entry *entries = map->entries;
    const map_key wide = widen_key(key);
    ptrdiff_t scratch = 0;

    if (entries == NULL) {
        return otherwise;
    }
    // The variant with a scratch variable writes nothing to the map, so that readers need no lock.
    const ptrdiff_t at = stbds_hmgeti_ts(entries, wide, scratch);

    ESPL_CHECK(at < (ptrdiff_t)stbds_hmlenu(entries));
    return at < 0 ? otherwise : entries[at].value;
}

void espl__map_trim(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    free_reserved(heap, purpose, map);
}

static size_t size_of_used(const void *payload)
{
    return ((const stbds_block *)payload - 1)->size;
}

size_t espl__map_bytes(const espl__map *map)
{
    const map_entry *const entries = map->entries;
    size_t bytes = 0;

    for (const stbds_block *block = map->reserved; block != NULL; block = block->next) {
        bytes += block->size;
    }
    if (entries != NULL) {
        // stb_ds keeps a default entry before the first entry, and its header before that.
        const stbds_array_header *const header = (const stbds_array_header *)(entries - 1) - 1;

        ESPL_CHECK(header->length <= header->capacity && header->hash_table != NULL);
        bytes += size_of_used(header) + size_of_used(header->hash_table);
    }
    return bytes;
}

void espl__map_free(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    map_entry *entries = map->entries;

    lock_stbds(heap, purpose, map);
    stbds_hmfree(entries);
    unlock_stbds();
    free_reserved(heap, purpose, map);
    *map = (espl__map){0};
}

// Read the caller's pointer. It is copied as bytes, because its type is a pointer to items of any
// type, which must not be accessed as a pointer to void.
static void *load_items(void *const *array)
{
    void *items;

    memcpy(&items, array, sizeof items);
    return items;
}

static void store_items(void **array, void *items)
{
    memcpy(array, &items, sizeof items);
}

// Move the items to a new block with room for `capacity` items, and free the old block.
static bool reallocate(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                       size_t capacity)
{
    const char *const old = load_items(array);
    const size_t length = espl__array_length(old);
    size_t bytes = 0;

    ESPL_CHECK(item_size != 0 && length <= capacity);
    if (!espl__size_multiply(&bytes, capacity, item_size) ||
        !espl__size_add(&bytes, bytes, HEADER_SIZE)) {
        return false;
    }
    char *const block = espl__heap_take(heap, purpose, 1, bytes, ARRAY_ALIGNMENT);
    if (block == NULL) {
        return false;
    }

    // The other words of the header belong to hash maps. They are zero in an array.
    char *const items = block + HEADER_SIZE;
    *stbds_header(items) = (stbds_array_header){.length = length, .capacity = capacity};
    if (old != NULL) {
        memcpy(items, old, length * item_size);
        espl__array_free(heap, purpose, array, item_size);
    }
    store_items(array, items);
    ESPL_CHECK(espl__array_length(items) == length && espl__array_capacity(items) == capacity);
    return true;
}

bool espl__array_reserve(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                         size_t more)
{
    const char *const old = load_items(array);
    const size_t length = espl__array_length(old);
    const size_t capacity = espl__array_capacity(old);
    size_t wanted = 0;

    if (!espl__size_add(&wanted, length, more)) {
        return false;
    }
#ifndef ESPL_HARD_MOVE
    ESPL_CHECK(wanted > capacity);
    // At least 8 items, because most arrays get a few, and a reallocation costs more than their
    // bytes.
    const size_t least = wanted < 8 ? 8 : wanted;
    const size_t grown = capacity + capacity / 2;
    const size_t next = grown > least ? grown : least;
#else
    const size_t least = espl__array_always_moves(length) ? wanted : wanted + length / 32;
    const size_t next = least > capacity ? least : capacity > 0 ? capacity : 1;
#endif
    return reallocate(heap, purpose, array, item_size, next);
}

// The items move even where the allocator could shorten their block, because the allocator of a
// user has no such function.
bool espl__array_shrink(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                        size_t capacity)
{
    const void *const items = load_items(array);
    const size_t length = espl__array_length(items);
    const size_t room = capacity > length ? capacity : length;

    if (room >= espl__array_capacity(items)) {
        return true;
    }
    ESPL_CHECK(items != NULL); // NULL has capacity 0, which is not above `room`
    if (room == 0) {
        espl__array_free(heap, purpose, array, item_size);
        return true;
    }
    return reallocate(heap, purpose, array, item_size, room);
}

size_t espl__array_bytes(const void *array, size_t item_size)
{
    return array == NULL ? 0 : HEADER_SIZE + espl__array_capacity(array) * item_size;
}

void espl__array_free(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size)
{
    char *const items = load_items(array);

    if (items != NULL) {
        espl__heap_give(heap, purpose, items - HEADER_SIZE, 1,
                        HEADER_SIZE + stbds_header(items)->capacity * item_size, ARRAY_ALIGNMENT);
    }
    store_items(array, NULL);
}

// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ has the offset basis and the prime of 32 bits.
uint32_t espl__hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *const at = bytes;
    uint32_t hash = 2166136261u;

    ESPL_CHECK(at != NULL || size == 0);
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * 16777619u;
    }
    return hash;
}

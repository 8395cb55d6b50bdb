// SPDX-License-Identifier: MIT
// The only includer of stb_ds. Its functions are renamed, since 14 of them have external linkage
// and would clash with another copy in a static link, and its memory comes from a wallet that was
// filled before each call.
#include "lib/base/array.h"

#include <string.h>

typedef struct wallet_block {
    size_t size; // of the whole block
    void *next;
    max_align_t payload[];
} wallet_block;

static void *wallet_realloc(void *old, size_t size);
static void wallet_free(void *old);

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
#define typeof __typeof__ // stb_ds says typeof to gcc and clang, which strict C11 lacks
// Its macros step from entries to the header before them, in this file as well.
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#define STBDS_REALLOC(context, block, size) wallet_realloc((block), (size))
#define STBDS_FREE(context, block) wallet_free(block)
#define STB_DS_IMPLEMENTATION
#include <stb_ds.h>
#pragma GCC diagnostic pop

// stb_ds shifts every fourth byte of a key into the sign of an int, which is undefined from 128
// on. The halves of the key are spread so that each such byte is zero.
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

// What wallet_realloc() may spend and where wallet_free() gives back, while a map works.
// stb_ds keeps one seed for all maps, so maps of two worlds take turns.
static atomic_flag map_turn = ATOMIC_FLAG_INIT;
static espl__heap *map_heap;
static espl__purpose map_purpose;
static espl__map *map_at_work;

static map_key spread(uint32_t key)
{
    return (map_key){.low = (uint16_t)(key & 0xFFFF), .high = (uint16_t)(key >> 16)};
}

static void begin_map(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    while (atomic_flag_test_and_set_explicit(&map_turn, memory_order_acquire)) {
    }
    map_heap = heap;
    map_purpose = purpose;
    map_at_work = map;
}

static void end_map(void)
{
    atomic_flag_clear_explicit(&map_turn, memory_order_release);
}

static void *wallet_realloc(void *old, size_t size)
{
    wallet_block *const block = map_at_work->set_aside;

    ESPL_CHECK(block != NULL && block->size >= sizeof(wallet_block) + size);
    map_at_work->set_aside = block->next;
    if (old != NULL) {
        const wallet_block *const before = (const wallet_block *)old - 1;
        const size_t old_size = before->size - sizeof(wallet_block);

        memcpy(block->payload, old, old_size < size ? old_size : size);
        wallet_free(old);
    }
    return block->payload;
}

// A map that has entries has a hash index, so that stb_ds frees nothing that is not there.
static void wallet_free(void *old)
{
    ESPL_CHECK(old != NULL);
    wallet_block *const block = (wallet_block *)old - 1;

    espl__heap_give(map_heap, map_purpose, block, 1, block->size, _Alignof(max_align_t));
}

static bool wallet_fill(espl__heap *heap, espl__purpose purpose, espl__map *map, size_t size)
{
    wallet_block *const block = espl__heap_take(heap, purpose, 1, size, _Alignof(max_align_t));

    if (block == NULL) {
        return false;
    }
    block->size = size;
    block->next = map->set_aside;
    map->set_aside = block;
    return true;
}

static void wallet_empty(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    while (map->set_aside != NULL) {
        wallet_block *const block = map->set_aside;

        map->set_aside = block->next;
        espl__heap_give(heap, purpose, block, 1, block->size, _Alignof(max_align_t));
    }
}

bool espl__map_reserve(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    map_entry *const entries = map->entries;
    // One call of stb_ds takes at most three blocks (items twice, hash index once). Each stays
    // below 64 bytes an entry (items: 2 times 12; hash index: 16 a slot, under 3 slots an entry)
    // and its headers.
    const size_t size = 1024 + 64 * (stbds_hmlenu(entries) + 4);
    size_t blocks = 0;

    for (const wallet_block *block = map->set_aside; block != NULL; block = block->next) {
        blocks += 1;
    }
    // Three that nothing took since are large enough: entries double in number by taking one.
    if (blocks == 3) {
        return true;
    }

    // Room for twice as many entries, so that this happens a logarithmic number of times.
    wallet_empty(heap, purpose, map);
    for (blocks = 0; blocks < 3; ++blocks) {
        if (!wallet_fill(heap, purpose, map, sizeof(wallet_block) + 2 * size)) {
            return false;
        }
    }
    return true;
}

void espl__map_put(espl__heap *heap, espl__purpose purpose, espl__map *map, uint32_t key,
                   uint32_t value)
{
    map_entry *entries = map->entries;
    const map_key wide = spread(key);

    begin_map(heap, purpose, map);
    stbds_hmput(entries, wide, value);
    end_map();
    map->entries = entries;
}

uint32_t espl__map_get(const espl__map *map, uint32_t key, uint32_t otherwise)
{
    map_entry *entries = map->entries;
    const map_key wide = spread(key);
    ptrdiff_t scratch = 0;

    if (entries == NULL) {
        return otherwise;
    }
    const ptrdiff_t at = stbds_hmgeti_ts(entries, wide, scratch);

    return at < 0 ? otherwise : entries[at].value;
}

void espl__map_trim(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    wallet_empty(heap, purpose, map);
}

static size_t wallet_size(const void *payload)
{
    return ((const wallet_block *)payload - 1)->size;
}

size_t espl__map_bytes(const espl__map *map)
{
    const map_entry *const entries = map->entries;
    size_t bytes = 0;

    for (const wallet_block *block = map->set_aside; block != NULL; block = block->next) {
        bytes += block->size;
    }
    if (entries != NULL) {
        // The entry for "otherwise" stands before the first, and stb_ds's header before that.
        const stbds_array_header *const header = (const stbds_array_header *)(entries - 1) - 1;

        bytes += wallet_size(header) + wallet_size(header->hash_table);
    }
    return bytes;
}

void espl__map_free(espl__heap *heap, espl__purpose purpose, espl__map *map)
{
    map_entry *entries = map->entries;

    begin_map(heap, purpose, map);
    stbds_hmfree(entries);
    end_map();
    wallet_empty(heap, purpose, map);
    *map = (espl__map){0};
}

// The caller's pointer is to items of some type, not to void, so its bytes are copied.
static void *load(void *const *array)
{
    void *items;

    memcpy(&items, array, sizeof items);
    return items;
}

static void store(void **array, void *items)
{
    memcpy(array, &items, sizeof items);
}

// Move the items into a block with room for `capacity`, no less than there are, and free the old
// one.
static bool move_items(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                       size_t capacity)
{
    const char *const old = load(array);
    const size_t length = espl__array_length(old);
    size_t bytes = 0;

    if (!espl__size_multiply(&bytes, capacity, item_size) ||
        !espl__size_add(&bytes, bytes, HEADER_SIZE)) {
        return false;
    }
    char *const block = espl__heap_take(heap, purpose, 1, bytes, ARRAY_ALIGNMENT);
    if (block == NULL) {
        return false;
    }

    char *const items = block + HEADER_SIZE;
    *stbds_header(items) = (stbds_array_header){.length = length, .capacity = capacity};
    if (old != NULL) {
        memcpy(items, old, length * item_size);
        espl__array_free(heap, purpose, array, item_size);
    }
    store(array, items);
    return true;
}

bool espl__array_reserve(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                         size_t more)
{
    const char *const old = load(array);
    const size_t length = espl__array_length(old);
    const size_t capacity = espl__array_capacity(old);
    size_t wanted = 0;

    if (!espl__size_add(&wanted, length, more)) {
        return false;
    }
#ifndef ESPL_HARD_MOVE
    ESPL_CHECK(wanted > capacity);
    const size_t grown = capacity + capacity / 2;
    const size_t roomy = wanted < 8 ? 8 : wanted;
    const size_t next = grown > roomy ? grown : roomy;
#else
    const size_t next = wanted > capacity ? wanted : capacity > 0 ? capacity : 1;
#endif
    return move_items(heap, purpose, array, item_size, next);
}

bool espl__array_shrink(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size,
                        size_t capacity)
{
    const void *const items = load(array);
    const size_t length = espl__array_length(items);
    const size_t room = capacity > length ? capacity : length;

    if (room >= espl__array_capacity(items)) {
        return true;
    }
    if (room == 0) {
        espl__array_free(heap, purpose, array, item_size);
        return true;
    }
    return move_items(heap, purpose, array, item_size, room);
}

size_t espl__array_bytes(const void *array, size_t item_size)
{
    return array == NULL ? 0 : HEADER_SIZE + espl__array_capacity(array) * item_size;
}

void espl__array_free(espl__heap *heap, espl__purpose purpose, void **array, size_t item_size)
{
    char *const items = load(array);

    if (items != NULL) {
        espl__heap_give(heap, purpose, items - HEADER_SIZE, 1,
                        HEADER_SIZE + stbds_header(items)->capacity * item_size, ARRAY_ALIGNMENT);
    }
    store(array, NULL);
}

uint32_t espl__hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *const at = bytes;
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * 16777619u;
    }
    return hash;
}

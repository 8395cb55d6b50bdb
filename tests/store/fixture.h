// SPDX-License-Identifier: MIT
// A store on an allocator that counts, fills with junk, guards the end of each block and fails on
// demand. It needs the store and base layers only, so that they can be built with tiny limits.
#ifndef ESPALIER_TESTS_STORE_FIXTURE_H
#define ESPALIER_TESTS_STORE_FIXTURE_H

#include "lib/store/store.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

enum { FIXTURE_GUARD = 32, FIXTURE_TAG = 5 };

typedef struct fixture {
    size_t bytes;          // outstanding
    size_t calls, fail_at; // the call that fails, counted from 1; 0: none
    size_t faults;         // wrong sizes, written guards
    espl__heap heap;
    espl__store store;
} fixture;

// Where a block's own memory begins, right before the block.
typedef struct fixture_header {
    unsigned char *base;
    size_t size, alignment;
} fixture_header;

// Aligned to what was asked for and to no more.
static void *fixture_allocate(void *user, size_t size, size_t alignment)
{
    fixture *const fix = user;

    fix->calls += 1;
    if (fix->calls == fix->fail_at) {
        return NULL;
    }
    unsigned char *const base =
        malloc(sizeof(fixture_header) + 2 * alignment + size + FIXTURE_GUARD);
    if (base == NULL) {
        return NULL;
    }
    unsigned char *block = base + sizeof(fixture_header);
    while ((uintptr_t)block % (2 * alignment) != alignment) {
        block += 1;
    }

    const fixture_header header = {base, size, alignment};
    memcpy(block - sizeof header, &header, sizeof header);
    memset(block, 0xA5, size);
    memset(block + size, 0x5C, FIXTURE_GUARD);
    fix->bytes += size;
    return block;
}

static void fixture_release(void *user, void *block, size_t size, size_t alignment)
{
    fixture *const fix = user;
    unsigned char *const bytes = block;
    fixture_header header;

    memcpy(&header, bytes - sizeof header, sizeof header);
    fix->faults += header.size != size || header.alignment != alignment;
    for (size_t i = 0; i < FIXTURE_GUARD; ++i) {
        fix->faults += bytes[header.size + i] != 0x5C;
    }
    fix->bytes -= header.size;
    memset(block, 0xDD, header.size);
    free(header.base);
}

static inline void fixture_begin(fixture *fix)
{
    *fix = (fixture){0};
    espl__heap_init(&fix->heap, &(espl_allocator){fix, fixture_allocate, fixture_release});
    ck_ok(espl__store_init(&fix->store, &fix->heap, FIXTURE_TAG));
}

/// Fail the test with the broken rule unless all hold.
static inline void fixture_is_sound(const fixture *fix)
{
    espl_entity where = {0, 0};
    size_t detail = 0;
    const char *const rule = espl__store_broken_rule(&fix->store, &where, &detail);

    ck_assert_msg(rule == NULL, "%s (entity %u.%x, detail %zu)", rule, where.index,
                  where.generation, detail);
}

static inline void fixture_end(fixture *fix)
{
    espl__store_free(&fix->store);
    ck_assert_uint_eq(fix->bytes, 0);
    ck_assert_uint_eq(espl__heap_bytes(&fix->heap), 0);
    ck_assert_uint_eq(fix->faults, 0);
}

static inline espl_component fixture_component(fixture *fix, const char *name, size_t size,
                                               size_t alignment)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = alignment};
    espl_component number = 0;

    ck_ok(espl__component_register(&fix->store, &def, &number));
    return number;
}

static inline uint32_t fixture_archetype(fixture *fix, const espl_component *set, size_t count)
{
    uint32_t number = ESPL__NONE;

    ck_ok(espl__archetype_of(&fix->store, set, count, &number));
    return number;
}

/// Take indices, as one change would. From here to the settle memory is forbidden.
static inline void fixture_take_indices(fixture *fix, uint32_t archetype, uint32_t *indices,
                                        size_t count)
{
    ck_ok(espl__entities_reserve(&fix->store, count));
    ck_ok(espl__rows_reserve(&fix->store, archetype, count));
    fix->heap.is_forbidden = true;
    for (size_t i = 0; i < count; ++i) {
        indices[i] = espl__entity_take(&fix->store).index;
    }
}

/// Carry out what is marked, and fail the test unless the store is sound then.
static inline void fixture_settle(fixture *fix)
{
    espl__rows_settle(&fix->store, NULL, NULL);
    fix->heap.is_forbidden = false;
    fixture_is_sound(fix);
}

/// Make entities with rows of zeros.
static inline void fixture_create(fixture *fix, uint32_t archetype, uint32_t *indices, size_t count)
{
    fixture_take_indices(fix, archetype, indices, count);
    for (size_t i = 0; i < count; ++i) {
        espl__row_add(&fix->store, archetype, indices[i]);
    }
    fixture_settle(fix);
}

/// Append rows for indices taken before that are copies of one row; reserved.
static inline void fixture_copy(fixture *fix, uint32_t archetype, uint32_t source,
                                const uint32_t *indices, size_t count)
{
    espl__copies all = {.archetype = archetype, .source = source, .count = (uint32_t)count};

    espl__rows_open(&fix->store, &all, 1);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t order = 0;
        const espl_entity entity = espl__entity_at(&fix->store, indices[i]);
        const espl__new_rows rows = {.entities = &entity, .order = &order};
        espl__copies one = all;

        one.first += (uint32_t)i;
        one.count = 1;
        espl__rows_copy(&fix->store, &rows, &one, 0, 1);
    }
}

/// Remove one entity's row and free its index; the settle is the caller's.
static inline void fixture_destroy(fixture *fix, uint32_t index)
{
    espl__entities_remove(&fix->store, &index, 1);
}

/// Next number of a splitmix64 sequence.
static inline uint64_t fixture_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static inline uint32_t fixture_below(uint64_t *state, size_t bound)
{
    return bound == 0 ? 0 : (uint32_t)(fixture_random(state) % bound);
}

/// Hash of all that a store holds and in which order, addresses and capacities left out.
static inline uint32_t fixture_hash(const fixture *fix)
{
    const espl__store *const store = &fix->store;
    const size_t count = espl__array_length(store->archetypes);
    uint32_t hash =
        espl__hash_bytes(store->records, espl__array_length(store->records) * sizeof(espl__record));

    for (size_t i = 0; i < count; ++i) {
        const espl__archetype *const archetype = &store->archetypes[i];

        hash = hash * 31 + espl__hash_bytes(archetype->set, espl__array_length(archetype->set) *
                                                                sizeof(espl_component));
        hash = hash * 31 + (uint32_t)archetype->count;
        for (size_t at = 0; at < espl__array_length(archetype->chunks); ++at) {
            const espl__chunk *const chunk = &store->chunks[archetype->chunks[at]];

            hash = hash * 31 + archetype->chunks[at];
            hash = hash * 31 + espl__hash_bytes(chunk->bytes, chunk->count * sizeof(espl_entity));
            for (size_t c = 0; c < espl__array_length(archetype->columns); ++c) {
                hash = hash * 31 + espl__hash_bytes(chunk->bytes + archetype->columns[c].offset,
                                                    chunk->count * archetype->columns[c].size);
            }
        }
    }
    return hash;
}

#endif

// SPDX-License-Identifier: MIT
// What a store takes is what its structures say, at any time; a trim gives back what is spare and
// changes nothing else; kept rooms last until then.
#include "tests/store/fixture.h"

#include <stdio.h>

enum { MANY = ESPL__INDEX_BITS < 10 ? 40 : 900 };

static fixture fix;
static espl_component value, page, tag;
static uint32_t small, large; // archetypes

static void set_up(void)
{
    static const uint32_t references[] = {0, 8, 24};
    const espl_component_def def = {
        .name = "bond", .size = 32, .references = references, .reference_count = 3};

    fixture_begin(&fix);
    page = fixture_component(&fix, "page", 4096, 16);
    tag = fixture_component(&fix, "tag", 0, 1);
    ck_assert_int_eq(espl__component_register(&fix.store, &def, &value), ESPL_OK);
    small = fixture_archetype(&fix, (espl_component[]){ESPL_TRANSFORM, ESPL_SOLO, value}, 3);
    large = fixture_archetype(&fix, (espl_component[]){page, tag}, 2);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

static const espl__archetype *at(uint32_t number)
{
    return &fix.store.archetypes[number];
}

static void bytes_are_true(void)
{
    ck_assert_uint_eq(espl__store_bytes(&fix.store), fix.bytes);
    ck_assert_uint_eq(espl__store_bytes(&fix.store),
                      espl__heap_bytes_for(&fix.heap, ESPL__FOR_STORE));
}

// Hash of the rows that there are and of where they stand, chunks without rows left out.
static uint32_t contents(void)
{
    uint32_t hash = espl__hash_bytes(fix.store.records, espl__array_length(fix.store.records) *
                                                            sizeof *fix.store.records);

    for (size_t i = 0; i < espl__array_length(fix.store.chunks); ++i) {
        const espl__chunk *const chunk = &fix.store.chunks[i];
        const espl__archetype *const archetype = at(chunk->archetype);

        if (chunk->count == 0) {
            continue;
        }
        hash = hash * 31 + espl__hash_bytes(chunk->bytes, chunk->count * sizeof(espl_entity));
        for (size_t c = 0; c < espl__array_length(archetype->columns); ++c) {
            hash = hash * 31 + espl__hash_bytes(chunk->bytes + archetype->columns[c].offset,
                                                chunk->count * archetype->columns[c].size);
        }
    }
    return hash;
}

// One change at random: rows come, go and move, names and sets are new.
static void change(uint32_t *indices, size_t *count, uint64_t *random)
{
    char name[16];

    snprintf(name, sizeof name, "n%u", (unsigned)fix.store.component_count);
    if (fixture_below(random, 6) == 0) {
        const espl_component one = fixture_component(&fix, name, 8, 8);

        fixture_archetype(&fix, &one, 1);
    }
    const uint32_t to = fixture_below(random, 2) == 0 ? small : large;
    const size_t more = fixture_below(random, 12);
    if (*count + more <= MANY && fix.store.retired_count == 0) {
        fixture_create(&fix, to, indices + *count, more);
        *count += more;
    }
    for (size_t left = fixture_below(random, 10); left > 0 && *count > 0; --left) {
        const size_t taken = fixture_below(random, *count);

        fixture_destroy(&fix, indices[taken]);
        indices[taken] = indices[--*count];
    }
    fixture_settle(&fix);
}

START_TEST(bytes_are_those_of_the_heap)
{
    uint32_t indices[MANY];
    size_t count = 0;
    uint64_t random = (uint64_t)_i;

    bytes_are_true();
    for (int i = 0; i < 200; ++i) {
        change(indices, &count, &random);
        bytes_are_true();
        if (fixture_below(&random, 20) == 0) {
            const uint32_t before = contents();

            ck_assert(espl__store_trim(&fix.store));
            ck_assert_uint_eq(contents(), before);
            bytes_are_true();
        }
        fixture_is_sound(&fix);
    }
}
END_TEST

// Nothing is left that a store with the same rows would not take.
START_TEST(trim_gives_back_all_that_is_spare)
{
    uint32_t indices[MANY], few[3];

    fixture_create(&fix, small, few, 3);
    ck_assert(espl__store_trim(&fix.store));
    const size_t bytes = fix.bytes;
    const size_t records = espl__array_bytes(fix.store.records, sizeof *fix.store.records);

    fixture_create(&fix, small, indices, MANY / 2);
    fixture_create(&fix, large, indices + MANY / 2, MANY / 2);
    ck_assert_int_eq(espl__rows_keep(&fix.store, large, 100), ESPL_OK);
    for (size_t i = 0; i < MANY; ++i) {
        fixture_destroy(&fix, indices[i]);
    }
    fixture_settle(&fix);
    ck_assert_uint_gt(fix.bytes, bytes + 100 * 4096);
    ck_assert(espl__store_trim(&fix.store));
    // The generations of the dead are remembered.
    ck_assert_uint_eq(fix.bytes - espl__array_bytes(fix.store.records, sizeof(espl__record)),
                      bytes - records);
    ck_assert_uint_eq(at(small)->reserved, at(small)->capacity);
    ck_assert_uint_eq(at(large)->reserved, 0);
    ck_assert_uint_eq(espl__array_length(fix.store.free_chunks), 0);
    fixture_is_sound(&fix);

    // And all of it works as before.
    fixture_create(&fix, large, indices, 20);
    fixture_create(&fix, small, indices + 20, 20);
    fixture_component(&fix, "late", 8, 8);
    fixture_archetype(&fix, (espl_component[]){page, value}, 1);
}
END_TEST

// Free numbers below used ones stay free, in their order.
START_TEST(trim_cuts_the_chunk_table)
{
    uint32_t first[9], second[9], third[4];

    fixture_create(&fix, large, first, 9);
    fixture_create(&fix, small, second, 9);
    fixture_create(&fix, large, third, 4);
    for (size_t i = 0; i < 9; ++i) {
        fixture_destroy(&fix, first[i]);
    }
    fixture_settle(&fix);
    const uint32_t before = contents();

    ck_assert(espl__store_trim(&fix.store));
    ck_assert_uint_eq(contents(), before);
    fixture_is_sound(&fix);
    const size_t length = espl__array_length(fix.store.chunks);
    ck_assert_uint_gt(length, 0);
    ck_assert_ptr_nonnull(fix.store.chunks[length - 1].bytes);
    for (size_t i = 0; i < 4; ++i) {
        ck_assert_ptr_nonnull(espl__row_value(&fix.store, third[i], page));
    }
}
END_TEST

// Trim a store with much to spare, with the n-th allocation failing. Tells whether one failed.
static bool trim_faulted(size_t n)
{
    uint32_t indices[MANY];

    fixture_create(&fix, small, indices, MANY / 2);
    fixture_create(&fix, large, indices + MANY / 2, MANY / 2);
    for (size_t i = 1; i < MANY; ++i) {
        fixture_destroy(&fix, indices[i]);
    }
    fixture_settle(&fix);
    ck_assert_int_eq(espl__rows_reserve(&fix.store, large, 90), ESPL_OK);
    const uint32_t before = contents();
    const size_t bytes = fix.bytes;

    fix.fail_at = fix.calls + n;
    const bool is_done = espl__store_trim(&fix.store);
    ck_assert_uint_eq(is_done, fix.calls < fix.fail_at);
    fix.fail_at = 0;
    // Chunks need no memory to go, whatever becomes of the tables.
    ck_assert_uint_lt(fix.bytes, bytes - 90 * 4096);
    ck_assert_uint_eq(contents(), before);
    bytes_are_true();
    fixture_is_sound(&fix);
    ck_assert(espl__store_trim(&fix.store));
    bytes_are_true();
    return !is_done;
}

START_TEST(trim_without_memory_gives_back_what_it_can)
{
    size_t n = 1;

    while (trim_faulted(n)) {
        fixture_end(&fix);
        set_up();
        n += 1;
    }
    ck_assert_uint_gt(n, 6);
}
END_TEST

START_TEST(kept_rows_last_until_a_trim)
{
    uint32_t indices[MANY], other = 0;

    fixture_create(&fix, large, &other, 1);
    ck_assert_int_eq(espl__rows_keep(&fix.store, large, MANY / 2), ESPL_OK);
    ck_assert_uint_eq(at(large)->floor, 1 + MANY / 2);
    ck_assert_int_eq(espl__rows_keep(&fix.store, large, 2), ESPL_OK);
    ck_assert_uint_eq(at(large)->floor, 1 + MANY / 2);
    const size_t reserved = at(large)->reserved;

    for (int i = 0; i < 4; ++i) {
        fixture_create(&fix, large, indices, MANY / 2);
        ck_assert_uint_eq(at(large)->reserved, reserved);
        for (size_t k = 0; k < MANY / 2; ++k) {
            fixture_destroy(&fix, indices[k]);
        }
        fixture_settle(&fix);
        fixture_settle(&fix);
        ck_assert_uint_ge(at(large)->reserved, reserved);
        fixture_is_sound(&fix);
    }
    ck_assert_int_eq(espl__rows_keep(&fix.store, large, SIZE_MAX), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(at(large)->floor, 1 + MANY / 2);
    ck_assert(espl__store_trim(&fix.store));
    ck_assert_uint_eq(at(large)->floor, 0);
    ck_assert_uint_eq(at(large)->reserved, at(large)->capacity);
}
END_TEST

static Suite *trim_suite(void)
{
    Suite *const suite = suite_create("trim of a store");
    TCase *const cases = tcase_create("trim");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, bytes_are_those_of_the_heap, 1, 4);
    tcase_add_test(cases, trim_gives_back_all_that_is_spare);
    tcase_add_test(cases, trim_cuts_the_chunk_table);
    tcase_add_test(cases, trim_without_memory_gives_back_what_it_can);
    tcase_add_test(cases, kept_rows_last_until_a_trim);
    suite_add_tcase(suite, cases);
    return suite;
}

RUN_SUITE(trim_suite)

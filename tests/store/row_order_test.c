// SPDX-License-Identifier: MIT
// Rows in the order of a list: values, slots and records go along, watchers are told of what moved
// and of nothing else, and no memory is taken.
#include "tests/store/fixture.h"

enum { MANY = ESPL__INDEX_BITS < 10 ? 40 : 700, PAGE = 200, KINDS = 3 };

static fixture fix;
static espl_component number, page, tag;
static uint32_t kinds[KINDS];
static uint32_t list[2 * MANY]; // indices, holes among them
static size_t listed;

static void set_up(void)
{
    fixture_begin(&fix);
    number = fixture_component(&fix, "number", 4, 4);
    page = fixture_component(&fix, "page", PAGE, 8);
    tag = fixture_component(&fix, "tag", 0, 1);
    kinds[0] = fixture_archetype(&fix, (espl_component[]){ESPL_TRANSFORM, number}, 2);
    kinds[1] = fixture_archetype(&fix, (espl_component[]){ESPL_TRANSFORM, number, page}, 3);
    kinds[2] = fixture_archetype(&fix, (espl_component[]){tag}, 1);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

// Entities of all kinds in turns; what their values are follows from their indices.
static void plant(size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t index = 0;

        fixture_create(&fix, kinds[i % KINDS], &index, 1);
        espl__entity_set_slot(&fix.store, index, 7 * index + 1);
        void *const value = espl__row_write(&fix.store, index, number);
        void *const bytes = espl__row_write(&fix.store, index, page);

        if (value != NULL) {
            memcpy(value, &index, sizeof index);
        }
        if (bytes != NULL) {
            memset(bytes, (int)(index % 251), PAGE);
        }
        list[i] = index;
    }
    listed = count;
}

static void shuffle(uint64_t *random)
{
    for (size_t i = listed; i > 1; --i) {
        const size_t other = fixture_below(random, i);
        const uint32_t held = list[i - 1];

        list[i - 1] = list[other];
        list[other] = held;
    }
}

static void values_are_their_own(uint32_t index)
{
    const uint32_t *const value = espl__row_value(&fix.store, index, number);
    const unsigned char *const bytes = espl__row_value(&fix.store, index, page);
    const uint32_t *const slot = espl__row_value(&fix.store, index, ESPL_TRANSFORM);

    ck_assert(value == NULL || *value == index);
    ck_assert(bytes == NULL || (bytes[0] == index % 251 && bytes[PAGE - 1] == index % 251));
    ck_assert(slot == NULL || *slot == 7 * index + 1);
    ck_assert_uint_eq(fix.store.records[index].slot, 7 * index + 1);
}

static size_t position_of(uint32_t index)
{
    const espl__record *const record = &fix.store.records[index];
    const espl__chunk *const chunk = &fix.store.chunks[record->chunk];

    return (size_t)chunk->position * fix.store.archetypes[chunk->archetype].capacity + record->row;
}

// The first of a kind has its first row, and so on; without holes in the list nobody is left.
static void rows_are_in_order(void)
{
    size_t next[KINDS] = {0};

    for (size_t i = 0; i < listed; ++i) {
        for (size_t k = 0; k < KINDS && list[i] != ESPL__NONE; ++k) {
            if (espl__entity_archetype(&fix.store, list[i]) == kinds[k]) {
                ck_assert_uint_eq(position_of(list[i]), next[k]);
                next[k] += 1;
                values_are_their_own(list[i]);
            }
        }
    }
}

static void put_in_order(void)
{
    fix.heap.is_forbidden = true;
    espl__rows_put_in_order(&fix.store, list, 1, listed);
    fix.heap.is_forbidden = false;
    fixture_is_sound(&fix);
}

START_TEST(rows_follow_any_list)
{
    uint64_t random = (uint64_t)_i;

    plant(MANY);
    for (int i = 0; i < 20; ++i) {
        shuffle(&random);
        put_in_order();
        rows_are_in_order();
    }
}
END_TEST

START_TEST(holes_in_the_list_are_passed_over)
{
    uint64_t random = 5;

    plant(MANY);
    shuffle(&random);
    for (size_t i = 0; i < MANY; ++i) {
        list[2 * MANY - 1 - 2 * i] = list[MANY - 1 - i];
        list[2 * MANY - 2 - 2 * i] = ESPL__NONE;
    }
    listed = 2 * MANY;
    put_in_order();
    rows_are_in_order();
}
END_TEST

START_TEST(who_is_not_listed_comes_behind)
{
    uint32_t all[MANY];
    uint64_t random = 9;

    plant(MANY);
    shuffle(&random);
    memcpy(all, list, sizeof all);
    listed = MANY / 3;
    put_in_order();
    rows_are_in_order();
    for (size_t i = 0; i < MANY; ++i) {
        values_are_their_own(all[i]);
    }
}
END_TEST

START_TEST(order_that_is_there_already_writes_nothing)
{
    uint64_t random = 3;

    plant(MANY);
    shuffle(&random);
    put_in_order();
    const uint32_t hash = fixture_hash(&fix);
    const uint64_t version = fix.store.version;

    put_in_order();
    ck_assert_uint_eq(fixture_hash(&fix), hash);
    ck_assert_uint_eq(fix.store.version, version);
}
END_TEST

// Two rows of one kind trade places: their chunks are new, the others are as old as they were.
START_TEST(only_chunks_whose_rows_moved_count_as_written)
{
    plant(MANY);
    const uint64_t version = fix.store.version;
    const size_t end = (MANY - 1) / KINDS * KINDS;
    const uint32_t first = list[0], last = list[end];
    const uint32_t from = fix.store.records[first].chunk, to = fix.store.records[last].chunk;

    list[0] = last;
    list[end] = first;
    put_in_order();
    ck_assert_uint_eq(fix.store.version, version + 1);
    for (uint32_t c = 0; c < espl__array_length(fix.store.chunks); ++c) {
        const bool is_moved = c == from || c == to;

        if (fix.store.chunks[c].bytes != NULL) {
            ck_assert(is_moved == (espl__chunk_version(&fix.store, c, tag) > version));
            ck_assert(is_moved == (espl__chunk_version(&fix.store, c, number) > version));
        }
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("row order");
    TCase *const cases = tcase_create("all");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, rows_follow_any_list, 0, 4);
    tcase_add_test(cases, holes_in_the_list_are_passed_over);
    tcase_add_test(cases, who_is_not_listed_comes_behind);
    tcase_add_test(cases, order_that_is_there_already_writes_nothing);
    tcase_add_test(cases, only_chunks_whose_rows_moved_count_as_written);
    suite_add_tcase(suite, cases);
    return suite;
}

RUN_SUITE(make_suite)

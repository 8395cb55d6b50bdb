// SPDX-License-Identifier: MIT
// Versions of columns: stamped exactly where rows came, changed places or were written.
#include "tests/store/fixture.h"

enum {
    MANY = ESPL__INDEX_BITS < 10 ? 40 : 600,
    ARCHETYPES = 4,
    CHUNK_LIMIT = 512,
    COLUMNS = 3, // of the handles, of the number, of the page
    PAGE = 2048
};

static fixture fix;
static espl_component number, page, tag;
static uint32_t kinds[ARCHETYPES];

static void set_up(void)
{
    fixture_begin(&fix);
    number = fixture_component(&fix, "number", 8, 8);
    page = fixture_component(&fix, "page", PAGE, 1);
    tag = fixture_component(&fix, "tag", 0, 1);
    kinds[0] = fixture_archetype(&fix, (espl_component[]){ESPL_TRANSFORM, number}, 2);
    kinds[1] = fixture_archetype(&fix, (espl_component[]){ESPL_TRANSFORM, number, tag}, 3);
    kinds[2] = fixture_archetype(&fix, (espl_component[]){number, page}, 2);
    kinds[3] = fixture_archetype(&fix, (espl_component[]){tag}, 1);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

// --- What was there before a change ---

typedef struct chunk_before {
    const unsigned char *bytes;
    uint32_t count;
    espl_entity rows[ESPL__CHUNK_ROWS];
    uint64_t version[COLUMNS];
} chunk_before;

typedef struct before {
    chunk_before chunks[CHUNK_LIMIT];
    uint64_t version;
} before;

static before then;

static uint64_t version_of(uint32_t chunk, int column)
{
    static const espl_component *const components[COLUMNS] = {&tag, &number, &page};

    // Of a tag it is that of the handles, whoever has the tag.
    return espl__chunk_version(&fix.store, chunk, *components[column]);
}

static void look(void)
{
    memset(&then, 0, sizeof then);
    then.version = fix.store.version;
    ck_assert_uint_le(espl__array_length(fix.store.chunks), CHUNK_LIMIT);
    for (uint32_t i = 0; i < espl__array_length(fix.store.chunks); ++i) {
        const espl__chunk *const chunk = &fix.store.chunks[i];
        chunk_before *const b = &then.chunks[i];

        b->bytes = chunk->bytes;
        b->count = chunk->count;
        if (chunk->bytes == NULL) {
            continue;
        }
        memcpy(b->rows, chunk->bytes, chunk->count * sizeof *b->rows);
        for (int column = 0; column < COLUMNS; ++column) {
            b->version[column] = version_of(i, column);
        }
    }
}

// Tell whether an entity stands in a row of the chunk where it did not stand before.
static bool has_new_row(uint32_t number_of_chunk)
{
    const espl__chunk *const chunk = &fix.store.chunks[number_of_chunk];
    const chunk_before *const b = &then.chunks[number_of_chunk];

    for (uint32_t row = 0; row < chunk->count; ++row) {
        if (b->bytes == NULL || row >= b->count ||
            !espl_entity_equal(b->rows[row], espl__chunk_entities(chunk)[row])) {
            return true;
        }
    }
    return false;
}

// Every chunk with a new row is stamped whole; of the others only the written column of the written
// chunk (ESPL__NONE: of none) is, and a stamp is newer than all there was.
static void stamps_are_exact(uint32_t written, int written_column)
{
    for (uint32_t i = 0; i < espl__array_length(fix.store.chunks); ++i) {
        if (fix.store.chunks[i].count == 0) {
            continue;
        }
        const bool is_new = has_new_row(i);

        for (int column = 0; column < COLUMNS; ++column) {
            const bool is_stamped = version_of(i, column) > then.version;
            const bool is_expected = is_new || (i == written && column == written_column);

            ck_assert_msg(is_stamped == is_expected, "chunk %u, column %d: %d", i, column,
                          is_stamped);
            ck_assert_uint_le(version_of(i, column), fix.store.version);
            ck_assert(is_stamped || version_of(i, column) == then.chunks[i].version[column]);
        }
    }
}

// --- One thing at a time ---

START_TEST(rows_that_come_stamp_their_chunk)
{
    uint32_t first[2], more[2], copies[2];

    look();
    fixture_create(&fix, kinds[0], first, 2);
    stamps_are_exact(ESPL__NONE, 0);
    look();
    fixture_create(&fix, kinds[2], more, 2);
    stamps_are_exact(ESPL__NONE, 0);
    look();
    fixture_take_indices(&fix, kinds[0], copies, 2);
    fixture_copy(&fix, kinds[0], first[0], copies, 2);
    fixture_settle(&fix);
    stamps_are_exact(ESPL__NONE, 0);
    ck_assert_uint_gt(fix.store.version, then.version);
}
END_TEST

START_TEST(rows_that_leave_from_the_end_stamp_nothing)
{
    uint32_t indices[3];

    fixture_create(&fix, kinds[0], indices, 3);
    look();
    fixture_destroy(&fix, indices[2]);
    fixture_settle(&fix);
    stamps_are_exact(ESPL__NONE, 0);
    ck_assert_uint_eq(fix.store.version, then.version);

    // The last one fills the hole of the first.
    look();
    fixture_destroy(&fix, indices[0]);
    fixture_settle(&fix);
    stamps_are_exact(ESPL__NONE, 0);
    ck_assert_uint_gt(fix.store.version, then.version);

    look();
    fixture_destroy(&fix, indices[1]);
    fixture_settle(&fix);
    ck_assert_uint_eq(fix.store.version, then.version);
}
END_TEST

START_TEST(written_value_stamps_its_column_alone)
{
    uint32_t indices[MANY];

    fixture_create(&fix, kinds[2], indices, MANY / 2);
    fixture_create(&fix, kinds[1], indices + MANY / 2, MANY / 2);
    for (uint32_t i = 0; i < MANY; i += 7) {
        const uint32_t chunk = fix.store.records[indices[i]].chunk;

        look();
        ck_assert_ptr_eq(espl__row_write(&fix.store, indices[i], number),
                         espl__row_value(&fix.store, indices[i], number));
        stamps_are_exact(chunk, 1);
        ck_assert_uint_eq(fix.store.version, then.version + 1);
        look();
        ck_assert_ptr_eq(espl__chunk_write(&fix.store, chunk, page),
                         espl__chunk_column(&fix.store, chunk, page));
        stamps_are_exact(chunk, i < MANY / 2 ? 2 : -1);
        look();
        espl__rows_fill(&fix.store, chunk, number, fix.store.records[indices[i]].row, 1, NULL);
        stamps_are_exact(chunk, 1);
    }
}
END_TEST

START_TEST(what_is_no_write_stamps_nothing)
{
    uint32_t index = 0;

    fixture_create(&fix, kinds[1], &index, 1);
    const uint32_t chunk = fix.store.records[index].chunk;

    look();
    espl__entity_set_slot(&fix.store, index, 17);
    ck_assert_ptr_nonnull(espl__row_value(&fix.store, index, number));
    ck_assert_ptr_nonnull(espl__chunk_column(&fix.store, chunk, number));
    ck_assert_ptr_null(espl__row_write(&fix.store, index, page));
    ck_assert_ptr_null(espl__chunk_write(&fix.store, chunk, tag));
    espl__rows_fill(&fix.store, chunk, page, 0, 1, NULL);
    espl__rows_fill(&fix.store, chunk, number, 0, 0, NULL);
    espl__rows_fill_last(&fix.store, kinds[1], number, 0, NULL);
    espl__rows_move(&fix.store, chunk, kinds[1], &fix.store.records[index].row, 1);
    ck_assert_int_eq(espl__rows_keep(&fix.store, kinds[1], 3), ESPL_OK);
    espl__rows_settle(&fix.store);
    ck_assert(espl__store_trim(&fix.store));
    stamps_are_exact(ESPL__NONE, 0);
    ck_assert_uint_eq(fix.store.version, then.version);
}
END_TEST

// --- Values of many rows ---

START_TEST(filled_rows_have_the_value_and_others_theirs)
{
    uint32_t indices[MANY];
    unsigned char bytes[PAGE];

    memset(bytes, 0x5a, sizeof bytes);
    fixture_create(&fix, kinds[2], indices, 20);
    for (uint32_t i = 0; i < 20; ++i) {
        *(uint64_t *)espl__row_write(&fix.store, indices[i], number) = i + 1;
    }
    look();
    espl__rows_fill_last(&fix.store, kinds[2], page, 11, bytes);
    // The value may be one that is written over.
    espl__rows_fill_last(&fix.store, kinds[2], number, 11,
                         espl__row_value(&fix.store, indices[12], number));
    for (uint32_t i = 0; i < 20; ++i) {
        const uint64_t *const value = espl__row_value(&fix.store, indices[i], number);

        ck_assert_uint_eq(*value, i < 9 ? i + 1 : 13);
        ck_assert_int_eq(memcmp(espl__row_value(&fix.store, indices[i], page), bytes, PAGE) == 0,
                         i >= 9);
    }
    espl__rows_fill_last(&fix.store, kinds[2], number, 4, NULL);
    ck_assert_uint_eq(*(uint64_t *)espl__row_value(&fix.store, indices[15], number), 13);
    ck_assert_uint_eq(*(uint64_t *)espl__row_value(&fix.store, indices[16], number), 0);
    // Chunks that the rows do not reach are as old as they were.
    const uint32_t first = fix.store.records[indices[0]].chunk;
    ck_assert_uint_eq(version_of(first, 2), then.chunks[first].version[2]);
    ck_assert_uint_gt(version_of(fix.store.records[indices[19]].chunk, 2), then.version);
}
END_TEST

// --- Random changes of one kind each ---

typedef struct herd {
    uint32_t indices[MANY];
    size_t count;
    uint64_t random;
} herd;

static void create_some(herd *h)
{
    const size_t room = MANY - h->count;
    const size_t wanted = 1 + fixture_below(&h->random, 40);
    const size_t count = wanted < room ? wanted : room;

    if (fix.store.retired_count == 0) {
        fixture_create(&fix, kinds[fixture_below(&h->random, ARCHETYPES)], h->indices + h->count,
                       count);
        h->count += count;
    }
}

// Rows of one chunk, chosen by chance.
static size_t choose(herd *h, uint32_t *chunk, uint32_t *rows)
{
    const uint32_t index = h->indices[fixture_below(&h->random, h->count)];
    const uint32_t share = 1 + fixture_below(&h->random, 5);
    size_t count = 0;

    *chunk = fix.store.records[index].chunk;
    for (uint32_t row = 0; row < fix.store.chunks[*chunk].count; ++row) {
        if (fixture_below(&h->random, share) == 0) {
            rows[count++] = row;
        }
    }
    return count;
}

static void move_some(herd *h)
{
    uint32_t chunk = 0, rows[ESPL__CHUNK_ROWS];
    const size_t count = choose(h, &chunk, rows);
    const uint32_t to = kinds[fixture_below(&h->random, ARCHETYPES)];

    ck_assert_int_eq(espl__rows_reserve(&fix.store, to, count), ESPL_OK);
    fix.heap.is_forbidden = true;
    espl__rows_move(&fix.store, chunk, to, rows, count);
    fixture_settle(&fix);
}

static void destroy_some(herd *h)
{
    for (size_t left = fixture_below(&h->random, h->count); left > 0; --left) {
        const size_t at = fixture_below(&h->random, h->count);

        fixture_destroy(&fix, h->indices[at]);
        h->indices[at] = h->indices[--h->count];
    }
    fixture_settle(&fix);
}

START_TEST(random_changes_stamp_exactly)
{
    herd h = {.random = (uint64_t)_i};

    for (int step = 0; step < 400; ++step) {
        const uint32_t choice = fixture_below(&h.random, 5);

        look();
        if (h.count < 8 || (choice == 0 && h.count < MANY)) {
            create_some(&h);
        } else if (choice < 3) {
            move_some(&h);
        } else if (fixture_below(&h.random, 4) == 0) {
            destroy_some(&h);
        } else {
            const uint32_t index = h.indices[fixture_below(&h.random, h.count)];
            const bool has = espl__row_write(&fix.store, index, number) != NULL;

            stamps_are_exact(has ? fix.store.records[index].chunk : ESPL__NONE, 1);
            continue;
        }
        stamps_are_exact(ESPL__NONE, 0);
        fixture_is_sound(&fix);
        if (h.count == 0) {
            break; // all indices are retired, as they soon are in the shrunken build
        }
    }
}
END_TEST

static Suite *versions_suite(void)
{
    Suite *const suite = suite_create("versions");
    TCase *const cases = tcase_create("versions");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, rows_that_come_stamp_their_chunk);
    tcase_add_test(cases, rows_that_leave_from_the_end_stamp_nothing);
    tcase_add_test(cases, written_value_stamps_its_column_alone);
    tcase_add_test(cases, what_is_no_write_stamps_nothing);
    tcase_add_test(cases, filled_rows_have_the_value_and_others_theirs);
    tcase_add_loop_test(cases, random_changes_stamp_exactly, 1, 6);
    suite_add_tcase(suite, cases);
    return suite;
}

RUN_SUITE(versions_suite)

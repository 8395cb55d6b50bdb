// SPDX-License-Identifier: MIT
// Rows of a query, columns to read and to write, and columns that changed since a version. The
// suites that compare with the model check which entities answer.
#include "tests/fixture.h"
#include "tests/world/table.h"

static table t;

enum { MARK = 16, NOTE = 32, NUMBER = 2, LINE = 4 };
enum { PREFAB = 1 << TABLE_PREFAB, DISABLED = 1 << TABLE_DISABLED, PLACED = 1 << TABLE_PLACEMENT };
enum {
    PLAIN = TABLE_IS_SHRUNKEN ? 20 : 150,
    MARKED = TABLE_IS_SHRUNKEN ? 15 : 130,
    SPECIAL = 5,
    KINDS = TABLE_IS_SHRUNKEN ? 6 : 60
};
enum { BOTH = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED };

static void set_up(void)
{
    table_begin(&t, 9, 1);
}

static void tear_down(void)
{
    table_is_true(&t);
    table_end(&t);
}

// A world of entities with random sets and values, a third of them in hierarchies.
static void populate(size_t kinds)
{
    unsigned char bytes[TABLE_PAGE];

    for (size_t kind = 0; kind < kinds; ++kind) {
        table_create(&t, table_random_set(&t), 1 + test_below(&t.random, 9));
    }
    for (size_t i = 0; i < t.count / 3; ++i) {
        const size_t child = test_below(&t.random, (uint32_t)t.count);
        const size_t parent = test_below(&t.random, (uint32_t)t.count);

        if (child > parent) {
            ck_ok(espl_attach(t.world, t.rows[child].entity, t.rows[parent].entity, NULL));
        }
    }
    for (size_t i = 0; i < t.count; ++i) {
        for (size_t k = 0; k < TABLE_KINDS; ++k) {
            if (table_has(t.rows[i].set, k) && table_sizes[k] != 0) {
                t.rows[i].value[k] = test_below(&t.random, 1u << 20);
                table_pattern(bytes, table_sizes[k], t.rows[i].value[k]);
                ck_ok(espl_set_component(t.world, t.rows[i].entity, t.number[k], bytes,
                                         table_sizes[k]));
            }
        }
    }
}

// --- Rows ---

// Each row of a chunk shows what its entity has.
static void chunk_is_true(const espl_query *query)
{
    for (size_t k = 0; k < TABLE_KINDS; ++k) {
        const unsigned char *const column = espl_query_read(query, t.number[k], table_sizes[k]);
        unsigned char bytes[TABLE_PAGE];

        for (size_t row = 0; row < query->count; ++row) {
            const bool has = espl_has_component(t.world, query->entities[row], t.number[k]);

            ck_assert((column != NULL) == (has && table_sizes[k] != 0));
            if (column != NULL) {
                ck_ok(espl_get_component(t.world, query->entities[row], t.number[k], bytes,
                                         table_sizes[k]));
                ck_assert_mem_eq(column + row * table_sizes[k], bytes, table_sizes[k]);
                ck_assert_uint_eq((uintptr_t)column % table_alignments[k], 0);
            }
        }
    }
    for (size_t row = 0; row < query->count; ++row) {
        espl_transform placed;

        ck_status(espl_get_world_transform(t.world, query->entities[row], &placed),
                  query->slots != NULL ? ESPL_OK : ESPL_ERR_NO_TRANSFORM);
        ck_assert(query->slots == NULL || memcmp(query->world_poses[query->slots[row]].position,
                                                 placed.position, sizeof placed.position) == 0);
    }
}

FIXTURE(set_up, tear_down);

TEST_LOOP(each_row_of_a_chunk_shows_what_its_entity_has, 1, 5)
{
    const espl_query_def all = {.include = BOTH};
    espl_query query;
    size_t count = 0;

    t.random = (uint64_t)_i;
    populate(KINDS);
    ck_ok(espl_query_begin(t.world, &all, &query));
    for (; espl_query_next(&query); count += query.count) {
        ck_assert_uint_le(query.count, 128);
        chunk_is_true(&query);
    }
    ck_assert_uint_eq(count, t.count);
}

// --- Refusals ---

TEST(unsound_queries_are_refused)
{
    static const espl_component many[ESPL_SET_LIMIT + 1];
    const espl_component unknown = 500, zero = 0;
    const espl_query_def defs[] = {
        {.all_count = 1},
        {.none_count = 1},
        {.any_count = 1},
        {.changed_count = 1},
        {.include = 4},
        {.include = UINT32_MAX},
        {.all = many, .all_count = ESPL_SET_LIMIT + 1},
        {.none = many, .none_count = ESPL_SET_LIMIT + 1},
        {.any = many, .any_count = ESPL_SET_LIMIT + 1},
        {.changed = many, .changed_count = SIZE_MAX},
        {.all = &unknown, .all_count = 1},
        {.none = &zero, .none_count = 1},
        {.any = &unknown, .any_count = 1},
        {.changed = &unknown, .changed_count = 1},
    };

    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        const espl_status expected = i >= 6 && i < 10 ? ESPL_ERR_LIMIT : ESPL_ERR_ARGUMENT;
        espl_query query;

        memset(&query, 0x77, sizeof query);
        ck_assert_int_eq(espl_query_begin(t.world, &defs[i], &query), expected);
        ck_assert_uint_eq(t.test.hooks.lines, i + 1);
        ck_assert_uint_eq(query.count, (size_t)0x7777777777777777);
        // Nobody iterates.
        table_create(&t, NUMBER, 1);
    }
}

#if !defined(ESPL_CHECKS) || ESPL_CHECKS >= 1
enum { TRAPS = 1 };
#else
enum { TRAPS = 0 };
#endif

typedef const void *(*reach)(const espl_query *, espl_component, size_t);

static const void *write_column(const espl_query *query, espl_component component, size_t size)
{
    return espl_query_write(query, component, size);
}

TEST_LOOP(wrong_size_of_a_column_is_a_fault, 0, 2)
{
    const reach reaches[] = {espl_query_read, write_column};
    const reach at = reaches[_i];
    espl_query query;

    table_create(&t, NUMBER | MARK | PLACED, 3);
    ck_ok(espl_query_begin(t.world, NULL, &query));
    ck_assert_ptr_null(at(&query, t.number[1], 4));
    ck_assert(espl_query_next(&query));
    const uint64_t version = espl_get_version(t.world);

    // What is not there to be had is no fault.
    ck_assert_ptr_null(at(&query, t.number[2], 64));
    ck_assert_ptr_null(at(&query, t.number[4], 0));
    ck_assert_ptr_null(at(&query, t.number[5], 0));
    ck_assert_ptr_null(at(&query, ESPL_SOLO, 0));
    ck_assert_ptr_null(at(&query, ESPL_TRANSFORM, 4));
    ck_assert_ptr_null(at(&query, ESPL_TRANSFORM, sizeof(espl_transform)));
    ck_assert_ptr_null(at(&query, 0, 4));
    ck_assert_ptr_null(at(&query, 500, 4));
    ck_assert_uint_eq(t.test.hooks.traps, 0);

    ck_assert_ptr_null(at(&query, t.number[1], 8));
    ck_assert_uint_eq(t.test.hooks.traps, 1 * TRAPS);
    ck_assert_ptr_null(at(&query, t.number[1], 0));
    ck_assert_ptr_null(at(&query, t.number[2], 4));
    ck_assert_ptr_null(at(&query, t.number[4], 1));
    ck_assert_uint_eq(t.test.hooks.traps, 4 * TRAPS);
    ck_assert_uint_eq(espl_get_version(t.world), version);
    ck_assert_ptr_nonnull(at(&query, t.number[1], 4));
    ck_assert_uint_eq(espl_get_version(t.world), version + (_i == 1 ? 1 : 0));

    ck_assert(!espl_query_next(&query));
    ck_assert_ptr_null(at(&query, t.number[1], 4));
}

// --- What has changed ---

enum { CHUNK_LIMIT = 256 };

typedef struct seen_chunk {
    uint32_t archetype, chunk;
    size_t count;
    espl_entity rows[128];
} seen_chunk;

// The chunks before a change.
typedef struct view {
    seen_chunk chunks[CHUNK_LIMIT];
    size_t count;
    uint64_t version;
} view;

static view then;

static void look(void)
{
    espl_query query;

    then.count = 0;
    then.version = espl_get_version(t.world);
    ck_ok(espl_query_begin(t.world, &(espl_query_def){.include = BOTH}, &query));
    while (espl_query_next(&query)) {
        ck_assert_uint_lt(then.count, CHUNK_LIMIT);
        seen_chunk *const chunk = &then.chunks[then.count++];

        chunk->archetype = query.state.archetype;
        chunk->chunk = query.state.chunk;
        chunk->count = query.count;
        memcpy(chunk->rows, query.entities, query.count * sizeof *chunk->rows);
    }
}

// Tell whether an entity stands in a row of this chunk where it did not stand before.
static bool has_new_row(const espl_query *query)
{
    for (size_t i = 0; i < then.count; ++i) {
        const seen_chunk *const chunk = &then.chunks[i];

        if (chunk->archetype == query->state.archetype && chunk->chunk == query->state.chunk) {
            return query->count > chunk->count ||
                   memcmp(chunk->rows, query->entities, query->count * sizeof *chunk->rows) != 0;
        }
    }
    return true;
}

static bool holds(const espl_query *query, espl_entity entity)
{
    for (size_t row = 0; row < query->count; ++row) {
        if (espl_entity_equal(query->entities[row], entity)) {
            return true;
        }
    }
    return false;
}

// Tell whether a chunk answers where one component has changed.
static bool answers_changed(const espl_query *of, espl_component component)
{
    const espl_query_def def = {
        .changed = &component, .changed_count = 1, .since = then.version, .include = BOTH};
    bool found = false;
    espl_query query;

    ck_ok(espl_query_begin(t.world, &def, &query));
    while (espl_query_next(&query)) {
        found = found || query.entities == of->entities;
    }
    return found;
}

// Of the chunks that have a component those have changed which have a new row, and that of the
// entity whose component was written.
static void changes_are(espl_component written, espl_entity entity)
{
    espl_query query;

    ck_ok(espl_query_begin(t.world, &(espl_query_def){.include = BOTH}, &query));
    while (espl_query_next(&query)) {
        for (espl_component c = 1; c <= t.number[TABLE_KINDS - 1]; ++c) {
            const bool has = espl_has_component(t.world, query.entities[0], c);
            const bool is_written = c == written && holds(&query, entity);
            const bool expected = has && (has_new_row(&query) || is_written);

            ck_assert_msg(answers_changed(&query, c) == expected, "component %u, chunk %u of %u", c,
                          query.state.chunk - 1, query.state.archetype);
        }
    }
}

static void nothing_changed(void)
{
    changes_are(0, espl_entity_null());
}

static void only_rows_changed(void)
{
    changes_are(0, espl_entity_null());
    ck_assert_uint_gt(espl_get_version(t.world), then.version);
}

static void populate_few(void)
{
    table_create(&t, NUMBER | PLACED, PLAIN);
    table_create(&t, NUMBER | LINE | MARK, MARKED);
    table_create(&t, PREFAB | NUMBER, SPECIAL);
    table_create(&t, DISABLED | NOTE, SPECIAL);
}

TEST(written_values_are_changes_of_their_column)
{
    const uint32_t value = 0;

    populate_few();
    for (size_t i = 0; i < t.count; i += t.count / 4) {
        const espl_entity entity = t.rows[i].entity;
        const bool has = espl_has_component(t.world, entity, t.number[1]);

        look();
        ck_status(espl_set_component(t.world, entity, t.number[1], &value, 4),
                  has ? ESPL_OK : ESPL_ERR_NO_COMPONENT);
        changes_are(has ? t.number[1] : 0, entity);
        look();
        if (has) {
            ck_ok(espl_add_component(t.world, entity, t.number[1], &value, 4));
            changes_are(t.number[1], entity);
        }
    }
    look();
    ck_ok(espl_set_component(t.world, t.rows[PLAIN + 10].entity, t.number[4], NULL, 0));
    ck_ok(espl_add_component(t.world, t.rows[PLAIN + 10].entity, t.number[4], NULL, 0));
    nothing_changed();
    ck_assert_uint_eq(espl_get_version(t.world), then.version);
}

TEST(columns_taken_to_be_written_are_changes)
{
    espl_query query;

    populate_few();
    for (int skipped = 0; skipped < 3; ++skipped) {
        look();
        ck_ok(espl_query_begin(t.world, NULL, &query));
        for (int i = 0; i <= skipped; ++i) {
            ck_assert(espl_query_next(&query));
            ck_assert_ptr_nonnull(espl_query_read(&query, t.number[1], 4));
        }
        const espl_entity entity = query.entities[0];

        nothing_changed();
        ck_assert_ptr_nonnull(espl_query_write(&query, t.number[1], 4));
        changes_are(t.number[1], entity);
        espl_query_end(&query);
        changes_are(t.number[1], entity);
    }
}

TEST(transforms_write_no_column)
{
    populate_few();
    ck_ok(espl_attach(t.world, t.rows[1].entity, t.rows[0].entity, NULL));
    look();
    const espl_transform local = test_at(1, 2, 3);
    ck_ok(espl_set_local_transform(t.world, t.rows[0].entity, &local));
    ck_ok(espl_set_world_transform(t.world, t.rows[1].entity, &local));
    ck_ok(espl_set_inherit(t.world, t.rows[1].entity, ESPL_ABSOLUTE_X));
    nothing_changed();
    ck_assert_uint_eq(espl_get_version(t.world), then.version);
}

TEST(rows_that_come_and_change_places_are_changes)
{
    const uint32_t value = 5;

    populate_few();
    look();
    table_create(&t, NUMBER | PLACED, 3);
    only_rows_changed();
    look();
    ck_ok(espl_destroy(t.world, t.rows[--t.count].entity, ESPL_EXTENT_OWNED));
    nothing_changed();
    ck_assert_uint_eq(espl_get_version(t.world), then.version);
    look();
    ck_ok(espl_destroy(t.world, t.rows[3].entity, ESPL_EXTENT_OWNED));
    t.rows[3] = t.rows[--t.count];
    only_rows_changed();
    look();
    ck_ok(espl_attach(t.world, t.rows[5].entity, t.rows[9].entity, NULL));
    only_rows_changed();
    look();
    ck_ok(espl_set_enabled(t.world, t.rows[9].entity, ESPL_EXTENT_SUBTREE, false));
    only_rows_changed();
    ck_ok(espl_set_enabled(t.world, t.rows[9].entity, ESPL_EXTENT_SUBTREE, true));
    look();
    const espl_component_value number = {t.number[1], 4, &value};
    const espl_change_def def = {&number, 1, &t.number[5], 1};
    table_row *const disabled = &t.rows[PLAIN + MARKED + SPECIAL];
    ck_ok(espl_change_components(t.world, disabled->entity, &def));
    only_rows_changed();
    ck_ok(espl_add_component(t.world, disabled->entity, t.number[1], NULL, 4));
    disabled->set = DISABLED | NUMBER;
}

TEST(clones_are_changes_and_their_source_is_not)
{
    const uint32_t value = 9;
    espl_entity clone[2];

    populate_few();
    const espl_entity prefab = t.rows[PLAIN + MARKED + 1].entity;
    look();
    ck_ok(espl_instantiate(t.world, &(espl_instance_def){.source = prefab}, 2, clone));
    only_rows_changed();
    look();
    const espl_component_value number = {t.number[1], 4, &value};
    const espl_instance_def def = {.source = prefab, .values = &number, .value_count = 1};
    espl_command_buffer *const commands = test_commands(t.world, 1);
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1, NULL));
    ck_ok(espl_play(t.world, commands, NULL));
    only_rows_changed();
    espl_command_buffer_destroy(commands);

    // The three clones have no place in the table.
    espl_query query;
    espl_entity made[3];
    size_t count = 0;
    ck_ok(espl_query_begin(t.world, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count && query.slots == NULL; ++row) {
            if (!espl_has_component(t.world, query.entities[row], t.number[4])) {
                ck_assert_uint_lt(count, 3);
                made[count++] = query.entities[row];
            }
        }
    }
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < 3; ++i) {
        ck_ok(espl_destroy(t.world, made[i], ESPL_EXTENT_OWNED));
    }
}

TEST(one_of_several_changes_is_enough)
{
    const espl_component some[] = {t.number[1], t.number[2]}, line = t.number[2];
    const uint32_t value = 0;
    espl_query query;
    size_t count = 0;

    populate_few();
    const uint64_t since = espl_get_version(t.world);
    ck_assert_uint_ne(since, 0);
    ck_ok(espl_set_component(t.world, t.rows[PLAIN].entity, t.number[1], &value, 4));
    const espl_query_def both = {.changed = some, .changed_count = 2, .since = since};
    const espl_query_def one = {.changed = &line, .changed_count = 1, .since = since};
    const espl_query_def later = {.changed = some, .changed_count = 2, .since = since + 1};
    const espl_query_def ever = {.changed = some, .changed_count = 2};
    const espl_query_def *const defs[] = {&both, &one, &later, &ever};
    size_t found[4];

    for (int i = 0; i < 4; ++i) {
        count = 0;
        ck_ok(espl_query_begin(t.world, defs[i], &query));
        while (espl_query_next(&query)) {
            count += query.count;
        }
        found[i] = count;
    }
    ck_assert_uint_gt(found[0], 0);
    ck_assert_uint_le(found[0], 128);
    ck_assert_uint_eq(found[1], 0);
    ck_assert_uint_eq(found[2], 0);
    ck_assert_uint_eq(found[3], PLAIN + MARKED);
}

// Random calls: what has changed is found, whatever moved.
TEST_LOOP(random_changes_are_found, 1, 4)
{
    static table_change change;

    t.random = (uint64_t)_i;
    populate_few();
    for (size_t step = test_scaled(60); step > 0; --step) {
        const size_t at = test_below(&t.random, (uint32_t)t.count);
        const espl_entity entity = t.rows[at].entity;

        look();
        switch (test_below(&t.random, 4)) {
        case 0:
            table_create(&t, (PLACED | MARK) >> test_below(&t.random, 3), 1);
            nothing_changed();
            break;
        case 1:
            ck_ok(espl_destroy(t.world, entity, ESPL_EXTENT_ENTITY));
            t.rows[at] = t.rows[--t.count];
            nothing_changed();
            break;
        case 2:
            if (table_has(t.rows[at].set, 1)) {
                t.rows[at].value[1] = 0;
                ck_ok(espl_set_component(t.world, entity, t.number[1], &(uint32_t){0}, 4));
                changes_are(t.number[1], entity);
            }
            break;
        default:
            table_random_change(&t, &change, MARK | NOTE | PREFAB | DISABLED);
            table_row_change(&t.rows[at], &change);
            ck_ok(espl_change_components(t.world, entity, &change.def));
            nothing_changed();
            break;
        }
    }
}

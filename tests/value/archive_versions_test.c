// SPDX-License-Identifier: MIT
// Archives of components that the world that reads has otherwise: unknown ones, other versions, migrations,
// values that are not written.
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <string.h>

static bool widen(void *user, const espl_archive_value *from, void *to)
{
    uint32_t old;

    ck_assert_uint_eq(from->size, 4);
    memcpy(&old, from->data, sizeof old);
    const uint64_t wide = (uint64_t)old * 2;

    memcpy(to, &wide, sizeof wide);
    *(size_t *)user += 1;
    return old != 13;
}

TEST(unknown_components_are_refused_or_skipped)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);
    const espl_component old = test_component(p.a, "old", 4, 4);
    const uint64_t before = test_physical_hash(p.b);
    espl_format_fault fault;

    ck_ok(espl_add_component(p.a, root, old, &(uint32_t){21}, 4));
    test_archive all = test_archive_of(p.a, NULL);

    ck_status(espl_archive_read(p.b, all.bytes, all.size, NULL, &fault), ESPL_ERR_VERSION);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_eq(test_physical_hash(p.b), before);
    (void)test_archive_read(p.b, &all,
                            &(espl_archive_read_def){.flags = ESPL_ARCHIVE_SKIP_UNKNOWN});
    ck_assert_uint_eq(test_stats(p.b).entities, 1);
    test_archive_end(&all);
    test_pair_end(&p);
}

TEST(migrations_convert_rename_refuse_and_do_not_meet)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);
    const espl_component old = test_component(p.a, "old", 4, 4),
                         side = test_component(p.a, "side", 4, 4),
                         wide = test_component(p.b, "wide", 8, 8),
                         named = test_component(p.b, "named", 4, 4);
    size_t calls = 0;
    espl_archive_migration how[2] = {{"old", wide, widen, &calls}, {"side", named, NULL, NULL}};
    espl_archive_read_def def = {.migrations = how, .migration_count = 2};
    espl_entity top;
    uint64_t value;

    ck_ok(espl_add_component(p.a, root, old, &(uint32_t){21}, 4));
    ck_ok(espl_add_component(p.a, root, side, &(uint32_t){5}, 4));
    test_archive all = test_archive_of(p.a, NULL);

    def.tops = &top;
    def.top_capacity = 1;
    (void)test_archive_read(p.b, &all, &def);
    ck_assert_uint_eq(calls, 1);
    ck_ok(espl_get_component(p.b, top, wide, &value, 8));
    ck_assert_uint_eq(value, 42);
    ck_ok(espl_get_component(p.b, top, named, &value, 4));

    const uint64_t before = test_physical_hash(p.b);

    how[0].to = named;
    ck_status(espl_archive_read(p.b, all.bytes, all.size, &def, NULL), ESPL_ERR_VERSION);
    how[0] = (espl_archive_migration){"old", wide, NULL, NULL};
    ck_status(espl_archive_read(p.b, all.bytes, all.size, &def, NULL), ESPL_ERR_VERSION);
    how[0] = (espl_archive_migration){"old", 0, NULL, NULL};
    (void)test_archive_read(p.b, &all, &def);
    ck_assert(!espl_has_component(p.b, top, wide));
    test_archive_end(&all);

    ck_ok(espl_set_component(p.a, root, old, &(uint32_t){13}, 4));
    all = test_archive_of(p.a, NULL);
    how[0] = (espl_archive_migration){"old", wide, widen, &calls};
    const uint64_t now = test_physical_hash(p.b);

    ck_assert_uint_ne(now, before);
    ck_status(espl_archive_read(p.b, all.bytes, all.size, &def, NULL), ESPL_ERR_VERSION);
    ck_assert_uint_eq(test_physical_hash(p.b), now);
    test_archive_end(&all);
    test_pair_end(&p);
}

static espl_component register_number(espl_world *world, const char *name, size_t size,
                                      uint32_t version, uint32_t flags)
{
    espl_component out = 0;

    ck_ok(espl_component_register(
        world,
        &(espl_component_def){.name = name, .size = size, .version = version, .flags = flags},
        &out));
    return out;
}

static bool make_number(void *user, const espl_archive_value *from, void *to)
{
    const uint32_t number = 5 + (uint32_t)from->size;

    if (to != NULL) {
        memcpy(to, &number, sizeof number);
    }
    *(size_t *)user += 1;
    return true;
}

TEST(another_version_of_a_component_needs_a_migration)
{
    test_pair p;
    size_t calls = 0;
    espl_entity top;
    uint32_t value;

    test_pair_begin(&p);
    const espl_component old = register_number(p.a, "number", 4, 1, 0),
                         now = register_number(p.b, "number", 4, 2, 0);
    const espl_archive_migration how[2] = {{"number", now, make_number, &calls},
                                           {"number", now, NULL, NULL}};
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);
    espl_archive_read_def def = {
        .migrations = how, .migration_count = 1, .tops = &top, .top_capacity = 1};

    ck_ok(espl_add_component(p.a, root, old, &(uint32_t){3}, 4));
    test_archive all = test_archive_of(p.a, NULL);

    ck_status(espl_archive_read(p.b, all.bytes, all.size, NULL, NULL), ESPL_ERR_VERSION);
    ck_assert_uint_eq(test_stats(p.b).entities, 0);
    (void)test_archive_read(p.b, &all, &def);
    ck_ok(espl_get_component(p.b, top, now, &value, 4));
    ck_assert_uint_eq(value, 9);
    ck_assert_uint_eq(calls, 1);
    def.migrations = how + 1;
    (void)test_archive_read(p.b, &all, &def);
    ck_ok(espl_get_component(p.b, top, now, &value, 4));
    ck_assert_uint_eq(value, 3);
    test_archive_end(&all);
    test_pair_end(&p);
}

TEST(a_tag_gets_a_value_by_a_migration)
{
    test_pair p;
    size_t calls = 0;
    espl_entity top;
    uint32_t value;

    test_pair_begin(&p);
    const espl_component tag = test_component(p.a, "tag", 0, 1),
                         number = register_number(p.b, "number", 4, 0, 0);
    const espl_archive_migration how = {"tag", number, make_number, &calls};
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);

    ck_ok(espl_add_component(p.a, root, tag, NULL, 0));
    test_archive all = test_archive_of(p.a, NULL);

    (void)test_archive_read(
        p.b, &all,
        &(espl_archive_read_def){
            .migrations = &how, .migration_count = 1, .tops = &top, .top_capacity = 1});
    ck_ok(espl_get_component(p.b, top, number, &value, 4));
    ck_assert_uint_eq(value, 5);
    ck_assert_uint_eq(calls, 1);
    test_archive_end(&all);
    test_pair_end(&p);
}

// Also where the entities stay in their rows.
TEST(a_value_becomes_a_tag_by_a_migration)
{
    test_pair p;
    size_t calls = 0;
    espl_entity top;

    test_pair_begin(&p);
    const espl_component number = register_number(p.a, "number", 4, 0, 0),
                         tag = test_component(p.b, "tag", 0, 1);
    const espl_archive_migration how = {"number", tag, make_number, &calls};
    const espl_archive_read_def def = {
        .migrations = &how, .migration_count = 1, .tops = &top, .top_capacity = 1};
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);

    ck_ok(espl_add_component(p.a, root, number, &(uint32_t){3}, 4));
    test_archive all = test_archive_of(p.a, &(espl_archive_def){.flags = ESPL_ARCHIVE_HANDLES});

    (void)test_archive_read(p.b, &all, &def);
    ck_assert(espl_has_component(p.b, top, tag));
    ck_assert_uint_eq(calls, 1);
    const espl_entity read = top;
    const espl_archive_known known = {all.bytes, all.size, &read, 1};

    ck_ok(espl_archive_apply(p.b, all.bytes, all.size, &def, &known, NULL));
    ck_assert(espl_entity_equal(top, read) && espl_has_component(p.b, top, tag));
    ck_assert_uint_eq(calls, 2);
    test_archive_end(&all);
    test_pair_end(&p);
}

// What a migration to a tag is given.
typedef struct tag_calls {
    size_t count, size;
    bool answer;
} tag_calls;

static bool note_tag(void *user, const espl_archive_value *from, void *to)
{
    tag_calls *const calls = user;

    ck_assert_ptr_null(to);
    ck_assert_uint_eq(from->size, calls->size);
    calls->count += 1;
    return calls->answer;
}

// A value of 4 bytes and a tag become a tag.
TEST_LOOP(a_migration_to_a_tag_is_called_for_each_entity_and_may_refuse, 0, 2)
{
    const uint32_t size = _i == 0 ? 4 : 0;
    test_pair p;
    tag_calls calls = {.size = size};
    espl_format_fault fault;

    test_pair_begin(&p);
    const espl_component old =
        size != 0 ? register_number(p.a, "number", 4, 0, 0) : test_component(p.a, "number", 0, 1);
    const espl_component tag = test_component(p.b, "tag", 0, 1);
    const espl_archive_migration how = {"number", tag, note_tag, &calls};
    const espl_archive_read_def def = {.migrations = &how, .migration_count = 1};

    for (int i = 0; i < 3; ++i) {
        const espl_entity node = test_pair_node(p.a, test_null, 1, NULL);

        ck_ok(espl_add_component(p.a, node, old, size != 0 ? &(uint32_t){3} : NULL, size));
    }
    test_archive all = test_archive_of(p.a, NULL);
    const uint64_t hash = test_physical_hash(p.b);

    ck_status(espl_archive_read(p.b, all.bytes, all.size, &def, &fault), ESPL_ERR_VERSION);
    ck_assert_uint_eq(calls.count, 1);
    ck_assert_uint_eq(test_physical_hash(p.b), hash);
    calls = (tag_calls){.size = size, .answer = true};
    (void)test_archive_read(p.b, &all, &def);
    ck_assert_uint_eq(calls.count, 3);
    test_archive_end(&all);
    test_pair_end(&p);
}

TEST(transient_values_are_not_written_and_are_zero)
{
    static const test_link zero;
    test_pair p;
    espl_entity top;
    test_link value;

    // By the world that writes, by the one that reads, and both.
    for (uint32_t way = 1; way < 4; ++way) {
        test_pair_begin(&p);
        const uint32_t flags[2] = {way & 1 ? ESPL_COMPONENT_TRANSIENT : 0,
                                   way & 2 ? ESPL_COMPONENT_TRANSIENT : 0};
        const espl_component a = test_link_component(p.a, "cache", flags[0]),
                             b = test_link_component(p.b, "cache", flags[1]);
        const espl_component more_a = test_link_component(p.a, "link", 0),
                             more_b = test_link_component(p.b, "link", 0);
        const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);

        ck_ok(espl_add_component(p.a, root, a, &(test_link){root, 7, root}, sizeof value));
        ck_ok(
            espl_add_component(p.a, root, more_a, &(test_link){root, 8, test_null}, sizeof value));
        test_archive all = test_archive_of(p.a, NULL);

        ck_ok(espl_set_component(p.a, root, a, &(test_link){root, 9, root}, sizeof value));
        test_archive later = test_archive_of(p.a, NULL);
        const bool is_same =
            all.size == later.size && memcmp(all.bytes, later.bytes, all.size) == 0;

        ck_assert(is_same == ((way & 1) != 0));
        (void)test_archive_read(p.b, &all,
                                &(espl_archive_read_def){.tops = &top, .top_capacity = 1});
        ck_ok(espl_get_component(p.b, top, b, &value, sizeof value));
        ck_assert_mem_eq(&value, &zero, sizeof value);
        ck_ok(espl_get_component(p.b, top, more_b, &value, sizeof value));
        ck_assert(espl_entity_equal(value.to, top) && value.number == 8);
        test_archive_end(&later);
        test_archive_end(&all);
        test_pair_end(&p);
    }
}

TEST(a_migration_of_transient_values_is_not_called)
{
    test_pair p;
    size_t calls = 0;
    espl_entity top;
    uint32_t value;

    test_pair_begin(&p);
    const espl_component old = register_number(p.a, "cache", 8, 1, ESPL_COMPONENT_TRANSIENT),
                         now = register_number(p.b, "cache", 4, 2, 0);
    const espl_archive_migration how[2] = {{"cache", now, make_number, &calls},
                                           {"cache", now, NULL, NULL}};
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);

    ck_ok(espl_add_component(p.a, root, old, &(uint64_t){3}, 8));
    test_archive all = test_archive_of(p.a, NULL);

    for (int i = 0; i < 2; ++i) {
        (void)test_archive_read(
            p.b, &all,
            &(espl_archive_read_def){
                .migrations = how + i, .migration_count = 1, .tops = &top, .top_capacity = 1});
        ck_ok(espl_get_component(p.b, top, now, &value, 4));
        ck_assert_uint_eq(value, 0);
    }
    ck_assert_uint_eq(calls, 0);
    test_archive_end(&all);
    test_pair_end(&p);
}

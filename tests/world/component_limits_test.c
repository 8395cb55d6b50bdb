// SPDX-License-Identifier: MIT
// Limits of components and command buffers, one below, at, and one above each: registered
// components, components of one entity, bytes, alignments, names, references, terms, lanes.
#include "tests/asked.h"
#include "tests/one_world.h"

#include <stdio.h>
#include <string.h>

// --- A world with many tags ---

// The built-in components, and the tags that fill an entity's set up but for its role.
enum { BUILT_IN = 6, TAGS = ESPL_SET_LIMIT };

static espl_component tags[TAGS];

static espl_status register_one(espl_world *world, const char *name, size_t size, size_t alignment,
                                espl_component *out)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = alignment};

    return espl_component_register(world, &def, out);
}

static void set_up_tags(void)
{
    set_up();
    for (size_t i = 0; i < TAGS; ++i) {
        char name[16];

        snprintf(name, sizeof name, "tag %zu", i);
        ck_ok(register_one(w, name, 0, 0, &tags[i]));
    }
}

// One with so many components, its role included; no placement.
static espl_entity make(size_t count)
{
    espl_entity entity = {0};

    ck_ok(espl_create(w, tags, count - 1, 1, &entity));
    return entity;
}

static void is_refused(espl_status status, uint64_t hash)
{
    ck_status(status, ESPL_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "ESPL_ERR_LIMIT"));
    ck_assert_uint_eq(test_physical_hash(w), hash); // reads what is refused, too
    test_world_is_valid(w);
}

static size_t count_set(espl_entity entity)
{
    size_t count = 0;

    for (espl_component i = 1; i < BUILT_IN + 1 + TAGS; ++i) {
        count += espl_has_component(w, entity, i);
    }
    return count;
}

// --- Kinds of components ---

FIXTURE(set_up, tear_down);

TEST(d2_a_world_takes_so_many_components_and_no_more)
{
    espl_component out = 0;
    uint32_t value = 77;
    char name[16] = "";

    for (uint32_t i = BUILT_IN + 1; i <= ESPL_COMPONENT_LIMIT; ++i) {
        snprintf(name, sizeof name, "%u", (unsigned)i);
        ck_ok(register_one(w, name, sizeof value, 4, &out));
        ck_assert_uint_eq(out, i);
    }
    const size_t bytes = test.heap.bytes;
    out = 7;
    for (int i = 0; i < 2; ++i) {
        ck_status(register_one(w, "one more", 4, 4, &out), ESPL_ERR_LIMIT);
        ck_assert_uint_eq(out, 7);
        ck_assert_uint_eq(espl_component_find(w, "one more"), 0);
        ck_assert_uint_eq(test.heap.bytes, bytes);
    }
    ck_assert_uint_eq(espl_component_find(w, name), ESPL_COMPONENT_LIMIT);

    // The last one serves like any other, and the next number names none.
    const espl_entity entity = test_solo(w);
    ck_ok(espl_add_component(w, entity, ESPL_COMPONENT_LIMIT, &value, 4));
    value = 0;
    ck_ok(espl_get_component(w, entity, ESPL_COMPONENT_LIMIT, &value, 4));
    ck_assert_uint_eq(value, 77);
    ck_status(espl_add_component(w, entity, ESPL_COMPONENT_LIMIT + 1, &value, 4),
              ESPL_ERR_ARGUMENT);
}

// --- Components of one entity ---

FIXTURE(set_up_tags, tear_down);

TEST(d2_an_entity_is_made_with_so_many_components_and_no_more)
{
    const uint64_t hash = test_physical_hash(w);
    ck_status(espl_create(w, tags, TAGS, 1, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_create(w, tags, SIZE_MAX, 1, NULL), ESPL_ERR_LIMIT);
    ck_status(test_reserve_rows(w, tags, TAGS, 1), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(w), hash);

    // The role is one of them.
    const espl_entity full = make(ESPL_SET_LIMIT), nearly = make(ESPL_SET_LIMIT - 1);
    ck_assert_uint_eq(count_set(full), ESPL_SET_LIMIT);
    ck_assert_uint_eq(count_set(nearly), ESPL_SET_LIMIT - 1);
}

TEST(a_full_set_takes_no_other_component)
{
    const espl_transform value = test_at(1, 2, 3);

    const espl_entity entity = make(ESPL_SET_LIMIT - 1);
    ck_ok(espl_add_component(w, entity, tags[TAGS - 1], NULL, 0));
    const uint64_t hash = test_physical_hash(w);
    is_refused(espl_add_component(w, entity, tags[TAGS - 2], NULL, 0), hash);
    is_refused(espl_add_component(w, entity, ESPL_PREFAB, NULL, 0), hash);
    is_refused(espl_add_component(w, entity, ESPL_TRANSFORM, &value, sizeof value), hash);
    is_refused(espl_set_enabled(w, entity, ESPL_EXTENT_ENTITY, false), hash);

    // What it has already is no addition.
    ck_ok(espl_add_component(w, entity, tags[0], NULL, 0));
    ck_ok(espl_remove_component(w, entity, tags[0]));
    ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, &value, sizeof value));
    ck_assert_uint_eq(count_set(entity), ESPL_SET_LIMIT);
}

// What goes makes room for what comes in the same call, the placement too.
TEST(a_full_set_is_changed_in_one_step)
{
    const espl_component placement = ESPL_TRANSFORM;

    const espl_component_value tag = {.component = tags[TAGS - 1]};
    const espl_change_def other = {
        .add = &tag, .add_count = 1, .remove = &tags[0], .remove_count = 1};
    const espl_change_def bare = {
        .add = &tag, .add_count = 1, .remove = &placement, .remove_count = 1};

    const espl_entity one = make(ESPL_SET_LIMIT), two = make(ESPL_SET_LIMIT - 1);
    ck_ok(espl_change_components(w, one, &other));
    ck_assert(espl_has_component(w, one, tag.component) && !espl_has_component(w, one, tags[0]));
    ck_assert_uint_eq(count_set(one), ESPL_SET_LIMIT);
    ck_ok(espl_add_component(w, two, ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
    ck_assert_uint_eq(count_set(two), ESPL_SET_LIMIT);
    ck_ok(espl_change_components(w, two, &bare));
    ck_assert(espl_has_component(w, two, tag.component) &&
              !espl_has_component(w, two, ESPL_TRANSFORM));
    ck_assert_uint_eq(count_set(two), ESPL_SET_LIMIT);

    // The other way round: a tag goes, and the transform takes its place, in an array too.
    const espl_transform value = test_at(1, 2, 3);
    const espl_component_value given = {ESPL_TRANSFORM, sizeof value, &value};
    const espl_change_def placed = {
        .add = &given, .add_count = 1, .remove = &tag.component, .remove_count = 1};
    const espl_entity both[2] = {two, one};

    ck_ok(espl_change_components_array(w, both, 2, &placed, NULL));
    for (size_t i = 0; i < 2; ++i) {
        ck_assert(espl_has_component(w, both[i], ESPL_TRANSFORM));
        ck_assert(!espl_has_component(w, both[i], tag.component));
        ck_assert_uint_eq(count_set(both[i]), ESPL_SET_LIMIT);
    }
}

TEST(many_are_changed_or_none_where_one_is_full)
{
    espl_entity entities[4];
    for (size_t i = 0; i < 4; ++i) {
        entities[i] = make(i == 2 ? ESPL_SET_LIMIT : 3);
    }
    const espl_component_value tag = {.component = tags[TAGS - 1]};
    const espl_change_def change = {.add = &tag, .add_count = 1};
    const uint64_t hash = test_physical_hash(w);
    size_t refused = 99, count = 99;

    is_refused(espl_change_components_array(w, entities, 4, &change, &refused), hash);
    ck_assert_uint_eq(refused, 2);
    is_refused(espl_change_components_query(w, NULL, &change, &count), hash);
    ck_assert_uint_eq(count, 99);

    // All below the full one: disabling is one change.
    for (size_t i = 0; i < 4; ++i) {
        if (i != 2) {
            ck_ok(espl_attach(w, entities[2], entities[i], NULL));
        }
    }
    ck_ok(espl_attach(w, entities[0], entities[1], NULL));
    const uint64_t hung = test_physical_hash(w);
    is_refused(espl_set_enabled(w, espl_get_root(w, entities[2]), ESPL_EXTENT_SUBTREE, false),
               hung);
    ck_ok(espl_destroy(w, entities[2], ESPL_EXTENT_OWNED));
    ck_ok(espl_change_components_query(w, NULL, &change, &count));
    ck_assert_uint_eq(count, 3);
}

static espl_entity make_placed(size_t count, espl_entity parent)
{
    espl_component set[ESPL_SET_LIMIT] = {ESPL_TRANSFORM};
    espl_entity entity;

    memcpy(set + 1, tags, count * sizeof *tags);
    ck_ok(espl_create(w, set, count + 1, 1, &entity));
    ck_ok(espl_attach(w, entity, parent, NULL));
    return entity;
}

// A placement that comes takes along what was put off: members whose root died without memory are
// roots and solos from then on. Of these one has no room for what comes with the placement, and needs
// none.
TEST(a_full_set_is_no_hindrance_to_those_beside_it)
{
    const espl_component added[2] = {tags[TAGS - 1], tags[TAGS - 2]};
    const espl_component_value values[3] = {
        {.component = ESPL_TRANSFORM, .size = sizeof(espl_transform)},
        {.component = added[0]},
        {.component = added[1]}};
    const espl_change_def change = {.add = values, .add_count = 3};
    const espl_entity root = test_solo(w), bare = make(1);
    const espl_entity full = make_placed(ESPL_SET_LIMIT - 2, root);
    const espl_entity others[2] = {make_placed(1, root), make_placed(5, root)};
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    ck_ok(espl_attach(w, bare, full, NULL));
    ck_ok(espl_compact(w));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(w, root, ESPL_EXTENT_ENTITY));
    test_heap_arm(&test.heap, 0, false);
    ck_assert(espl_has_component(w, full, ESPL_MEMBER));
    ck_assert_uint_eq(count_set(full), ESPL_SET_LIMIT);

    const uint64_t hash = test_physical_hash(w);
    for (; status == ESPL_ERR_NO_MEMORY; points += 1) {
        test_heap_arm(&test.heap, points + 1, true);
        status = espl_change_components(w, bare, &change);
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || test_physical_hash(w) == hash);
        test_world_is_valid(w);
    }
    ck_ok(status);
    ck_assert_uint_gt(points, 5);
    ck_assert_uint_eq(count_set(bare), 4);
    ck_assert_uint_eq(count_set(full), ESPL_SET_LIMIT);
    // Roles that the destroy left are settled by a call that finds memory.
    ck_ok(espl_detach(w, others[0], ESPL_KEEP_WORLD));
    ck_assert_uint_eq(count_set(full), ESPL_SET_LIMIT);
    ck_assert(espl_has_component(w, full, ESPL_ROOT) && !espl_has_component(w, full, added[0]));
    for (int i = 0; i < 2; ++i) {
        ck_assert(espl_has_component(w, others[i], ESPL_SOLO));
        ck_assert(!espl_has_component(w, others[i], added[0]));
    }
}

// Roles come and go: a full set has room for another one.
TEST(a_full_set_goes_through_every_role)
{
    espl_entity clones[2];

    const espl_entity one = make(ESPL_SET_LIMIT), two = make(ESPL_SET_LIMIT);
    ck_ok(espl_attach(w, one, two, NULL));
    ck_assert(espl_has_component(w, one, ESPL_MEMBER) && espl_has_component(w, two, ESPL_ROOT));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = two}, 2, clones));
    ck_assert_uint_eq(count_set(clones[1]), ESPL_SET_LIMIT);
    ck_ok(espl_attach(w, clones[0], one, NULL));
    ck_ok(espl_detach(w, one, ESPL_KEEP_WORLD));
    ck_ok(espl_destroy(w, one, ESPL_EXTENT_ENTITY));
    ck_assert(espl_has_component(w, two, ESPL_SOLO) && espl_has_component(w, clones[0], ESPL_ROOT));
    ck_assert_uint_eq(count_set(two), ESPL_SET_LIMIT);
}

TEST(a_clone_takes_values_up_to_a_full_set)
{
    espl_entity full = {0}, over = {0};
    espl_report report;

    const espl_entity source = make(ESPL_SET_LIMIT - 1);
    const espl_component_value values[2] = {{.component = tags[TAGS - 1]},
                                            {.component = tags[TAGS - 2]}};
    espl_instance_def def = {.source = source, .values = values, .value_count = 2};

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, &over));
    def.value_count = 1;
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, &full));
    def.value_count = ESPL_SET_LIMIT + 1;
    ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_LIMIT);
    ck_ok(espl_play(w, commands, &report));
    ck_assert(report.refused_by[-ESPL_ERR_LIMIT] == 1 && report.created == 1);
    ck_ok(espl_command_buffer_resolve(commands, full, &full));
    ck_assert_uint_eq(count_set(full), ESPL_SET_LIMIT);
    espl_command_buffer_destroy(commands);
}

TEST(a_change_names_so_many_components_and_no_more)
{
    espl_component_value values[ESPL_SET_LIMIT + 1] = {{0}};
    espl_component names[ESPL_SET_LIMIT + 1];

    const espl_entity entity = make(1);
    for (size_t i = 0; i <= ESPL_SET_LIMIT; ++i) {
        names[i] = values[i].component = tags[i < TAGS ? i : 0];
    }
    const uint64_t hash = test_physical_hash(w);
    is_refused(espl_change_components(
                   w, entity, &(espl_change_def){.add = values, .add_count = ESPL_SET_LIMIT + 1}),
               hash);
    is_refused(
        espl_change_components(
            w, entity, &(espl_change_def){.remove = names, .remove_count = ESPL_SET_LIMIT + 1}),
        hash);
    is_refused( // with the role one too many
        espl_change_components(w, entity,
                               &(espl_change_def){.add = values, .add_count = ESPL_SET_LIMIT}),
        hash);
    ck_ok(espl_change_components(w, entity,
                                 &(espl_change_def){.add = values, .add_count = TAGS - 1}));
    ck_ok(espl_change_components(w, entity,
                                 &(espl_change_def){.remove = names, .remove_count = TAGS}));
    ck_assert_uint_eq(count_set(entity), 1);
}

_Static_assert(sizeof(espl_query) < 256, "a query is small enough for the stack of any job");

TEST(the_lists_of_a_query_share_its_terms)
{
    espl_component names[ESPL_TERM_LIMIT + 1];
    espl_query query;

    const espl_entity entity = make(2);
    for (size_t i = 0; i < ESPL_TERM_LIMIT + 1; ++i) {
        names[i] = i % 2 == 0 ? ESPL_SOLO : tags[0];
    }
    // Three lists of what the entity has, one of what it lacks, and each is read from its own place.
    const espl_component lacked[2] = {ESPL_MEMBER, ESPL_ROOT};
    espl_query_def def = {.all = names,
                          .all_count = 20,
                          .none = lacked,
                          .none_count = 2,
                          .any = names,
                          .any_count = 20};
    def.changed = names;
    for (def.changed_count = ESPL_TERM_LIMIT - 43; def.changed_count <= ESPL_TERM_LIMIT - 41;
         ++def.changed_count) {
        const bool fits = 42 + def.changed_count <= ESPL_TERM_LIMIT;

        ck_status(espl_query_begin(w, &def, &query), fits ? ESPL_OK : ESPL_ERR_LIMIT);
        if (fits) {
            ck_assert(espl_query_next(&query) && query.count == 1 &&
                      espl_entity_equal(query.entities[0], entity));
            ck_assert(!espl_query_next(&query));
        }
    }
    // What is asked for last counts as well.
    def.changed_count = 1;
    def.since = espl_get_version(w);
    ck_ok(espl_query_begin(w, &def, &query));
    ck_assert(!espl_query_next(&query));
    def.since = 0;
    def.none = &tags[0];
    def.none_count = 1;
    ck_ok(espl_query_begin(w, &def, &query));
    ck_assert(!espl_query_next(&query));
}

TEST(a_query_names_so_many_components_and_no_more)
{
    espl_query query;

    const espl_entity entity = make(ESPL_SET_LIMIT);
    for (size_t count = ESPL_SET_LIMIT - 1; count <= ESPL_SET_LIMIT + 1; ++count) {
        espl_component names[ESPL_SET_LIMIT + 1];
        for (size_t i = 0; i < count; ++i) {
            names[i] = i == 0 ? ESPL_SOLO : tags[i - 1];
        }
        const espl_query_def defs[4] = {{.all = names, .all_count = count},
                                        {.none = names + 1, .none_count = count},
                                        {.any = names, .any_count = count},
                                        {.changed = names, .changed_count = count}};
        for (int i = 0; i < 4; ++i) {
            const bool fits = count <= ESPL_SET_LIMIT;
            if (i == 1 && fits) {
                continue; // one past what was filled in
            }
            const espl_status status = espl_query_begin(w, &defs[i], &query);
            ck_status(status, fits ? ESPL_OK : ESPL_ERR_LIMIT);
            if (fits) {
                ck_assert(espl_query_next(&query) && query.count == 1 &&
                          espl_entity_equal(query.entities[0], entity));
                espl_query_end(&query);
            }
        }
    }
}

// --- Bytes ---

static bool is_aligned(const void *at, size_t alignment)
{
    return (uintptr_t)at % alignment == 0;
}

// Values of every row of several chunks are where they should be, and stay apart.
static void try_values(espl_world *world, espl_component component, size_t size, size_t alignment)
{
    enum { COUNT = 9 };
    espl_entity entities[COUNT];
    unsigned char value[ESPL_COMPONENT_SIZE_LIMIT], found[ESPL_COMPONENT_SIZE_LIMIT];
    const espl_query_def def = {.all = &component, .all_count = 1};
    espl_query query;

    ck_ok(espl_create(world, &component, 1, COUNT, entities));
    for (int i = 0; i < COUNT; ++i) {
        memset(value, i + 1, size);
        ck_ok(espl_set_component(world, entities[i], component, value, size));
    }
    for (int i = 0; i < COUNT; ++i) {
        memset(value, i + 1, size);
        ck_ok(espl_get_component(world, entities[i], component, found, size));
        ck_assert_int_eq(memcmp(found, value, size), 0);
    }
    ck_ok(espl_query_begin(world, &def, &query));
    while (espl_query_next(&query)) {
        ck_assert(is_aligned(espl_query_read(&query, component, size), alignment));
    }
    for (int i = 0; i < COUNT; ++i) {
        ck_ok(espl_destroy(world, entities[i], ESPL_EXTENT_OWNED));
    }
    test_world_is_valid(world);
}

FIXTURE(set_up, tear_down);

TEST(d2_components_are_as_large_as_that_and_no_larger)
{
    static const size_t sizes[] = {1, ESPL_COMPONENT_SIZE_LIMIT - 1, ESPL_COMPONENT_SIZE_LIMIT};
    espl_component component = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char name[16];

        snprintf(name, sizeof name, "of %zu bytes", sizes[i]);
        ck_ok(register_one(w, name, sizes[i], 0, &component));
        try_values(w, component, sizes[i], 1);
    }
    component = 7;
    ck_status(register_one(w, "larger", ESPL_COMPONENT_SIZE_LIMIT + 1, 1, &component),
              ESPL_ERR_LIMIT);
    ck_status(register_one(w, "largest", SIZE_MAX, 1, &component), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(component, 7);
}

TEST(d2_components_are_aligned_as_far_as_that_and_no_farther)
{
    static const size_t alignments[] = {0, 1, 2, 64, 128, 256};
    espl_component component = 0;

    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; ++i) {
        const size_t alignment = alignments[i] == 0 ? 1 : alignments[i];
        char name[2][24];

        snprintf(name[0], sizeof name[0], "small, %zu", alignments[i]);
        snprintf(name[1], sizeof name[1], "large, %zu", alignments[i]);
        ck_ok(register_one(w, name[0], alignment, alignments[i], &component));
        try_values(w, component, alignment, alignment);
        ck_ok(register_one(w, name[1], ESPL_COMPONENT_SIZE_LIMIT, alignments[i], &component));
        try_values(w, component, ESPL_COMPONENT_SIZE_LIMIT, alignment);
    }
    component = 7;
    ck_status(register_one(w, "wider", 512, 512, &component), ESPL_ERR_ARGUMENT);
    ck_status(register_one(w, "odd", 257, 257, &component), ESPL_ERR_ARGUMENT);
    ck_status(register_one(w, "odd too", 255, 255, &component), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(component, 7);
}

TEST(d2_names_are_as_long_as_that_and_no_longer)
{
    espl_component component = 0;
    char name[257] = {0};

    for (size_t length = 254; length <= 256; ++length) {
        memset(name, 'n', length);
        const espl_status status = register_one(w, name, 4, 4, &component);
        ck_status(status, length <= 255 ? ESPL_OK : ESPL_ERR_ARGUMENT);
        ck_assert_uint_eq(espl_component_find(w, name), length <= 255 ? component : 0);
    }
}

TEST(d2_references_are_as_many_as_that_and_no_more)
{
    uint32_t offsets[ESPL_REFERENCE_LIMIT + 1];
    espl_component component = 0;

    for (uint32_t i = 0; i <= ESPL_REFERENCE_LIMIT; ++i) {
        offsets[i] = i * (uint32_t)sizeof(espl_entity);
    }
    for (size_t count = ESPL_REFERENCE_LIMIT - 1; count <= ESPL_REFERENCE_LIMIT + 1; ++count) {
        char name[16];

        snprintf(name, sizeof name, "%zu bonds", count);
        const espl_component_def def = {.name = name,
                                        .size = sizeof(espl_entity) * (ESPL_REFERENCE_LIMIT + 1),
                                        .alignment = 4,
                                        .references = offsets,
                                        .reference_count = count};
        ck_status(espl_component_register(w, &def, &component),
                  count <= ESPL_REFERENCE_LIMIT ? ESPL_OK : ESPL_ERR_LIMIT);
    }

    // The last one is followed like any other.
    espl_entity bonds[ESPL_REFERENCE_LIMIT + 1] = {{0}}, source, clone;
    ck_ok(espl_create(w, &component, 1, 1, &source));
    for (size_t i = 0; i <= ESPL_REFERENCE_LIMIT; ++i) {
        bonds[i] = source;
    }
    ck_ok(espl_set_component(w, source, component, bonds, sizeof bonds));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = source}, 1, &clone));
    ck_ok(espl_get_component(w, clone, component, bonds, sizeof bonds));
    ck_assert(espl_entity_equal(bonds[0], clone));
    ck_assert(espl_entity_equal(bonds[ESPL_REFERENCE_LIMIT - 1], clone));
    ck_assert(espl_entity_equal(bonds[ESPL_REFERENCE_LIMIT], source));
}

// --- Worlds and lanes ---

TEST(d2_commands_have_so_many_lanes_and_no_more)
{
    static const uint32_t counts[] = {1, ESPL_LANE_LIMIT - 1, ESPL_LANE_LIMIT};
    const espl_transform moved = test_at(1, 2, 3);
    espl_command_buffer *commands = NULL;

    const espl_entity entity = test_solo(w);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        ck_ok(espl_command_buffer_create(w, counts[i], &commands));
        ck_assert_ptr_null(espl_command_buffer_recorder(commands, counts[i]));
        espl_recorder *const last = espl_command_buffer_recorder(commands, counts[i] - 1);
        const espl_instance_def def = {.source = entity};
        espl_entity pending;

        ck_ok(espl_record_instantiate(last, 0, &def, 1, &pending));
        ck_ok(espl_record_write(last, 0, pending, ESPL_WRITE_LOCAL_TRANSFORM, &moved));
        ck_ok(espl_play(w, commands, NULL));
        ck_ok(espl_command_buffer_resolve(commands, pending, &pending));
        ck_assert_float_eq(test_world_of(w, pending).position[1], 2);
        espl_command_buffer_destroy(commands);
    }
    commands = NULL;
    ck_status(espl_command_buffer_create(w, 0, &commands), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_buffer_create(w, ESPL_LANE_LIMIT + 1, &commands), ESPL_ERR_LIMIT);
    ck_assert_ptr_null(commands);
}

TEST(worlds_have_tags_up_to_a_hundred_and_twenty_seven)
{
    for (uint32_t tag = 126; tag <= 128; ++tag) {
        const espl_world_def def = {.tag = tag};
        espl_world *world = NULL;

        ck_status(espl_world_create(&def, &world), tag <= 127 ? ESPL_OK : ESPL_ERR_ARGUMENT);
        if (world != NULL) {
            const espl_entity entity = test_solo(world);

            ck_assert_uint_eq(entity.generation >> 24, tag);
            espl_world_destroy(world);
        }
    }
}

// SPDX-License-Identifier: MIT
// Components that are added and removed in a playback: all changes of one entity move its row once,
// and a value is one write of its column.
#include "tests/asked.h"
#include "tests/commands/parts.h"
#include "tests/inside.h"

#include "tests/checks.h"

#include <stdlib.h>

static espl_status record_word(espl_recorder *lane, uint32_t key, espl_entity entity,
                               uint32_t value)
{
    return espl_record_set_component(lane, key, entity, p.word, &value, sizeof value);
}

static espl_status record_add_word(uint32_t key, espl_entity entity, uint32_t value)
{
    return espl_record_add_component(p.lane, key, entity, p.word, &value, sizeof value);
}

static espl_entity record_clone(espl_entity source)
{
    const espl_instance_def def = {.source = source};
    espl_entity pending = {0};

    ck_ok(espl_record_instantiate(p.lane, 0, &def, 1, &pending));
    return pending;
}

// --- Merged ---

FIXTURE(set_up, tear_down);

TEST(all_changes_of_an_entity_are_one_move_of_its_row)
{
    const espl_entity entity = parts_bare();

    give_word(entity, 1);
    ck_ok(espl_record_remove_component(p.lane, 0, entity, p.word));
    ck_ok(espl_record_add_component(p.lane, 0, entity, p.pair, NULL, 8));
    ck_ok(espl_record_add_component(p.lane, 0, entity, p.mark, NULL, 0));
    ck_ok(espl_record_add_component(p.lane, 0, entity, ESPL_TRANSFORM, NULL, 48));
    ck_ok(espl_record_set_enabled(p.lane, 0, entity, ESPL_EXTENT_ENTITY, false));
    parts_play();
    ck_assert_uint_eq(p.report.applied, 5);
    ck_assert_uint_eq(p.report.row_moves, 1);
    ck_assert(!espl_has_component(p.world, entity, p.word) &&
              espl_has_component(p.world, entity, p.pair));
    ck_assert(espl_has_component(p.world, entity, p.mark) &&
              espl_has_component(p.world, entity, ESPL_TRANSFORM));
    ck_assert(!espl_is_enabled(p.world, entity));
}

TEST(what_comes_and_goes_again_moves_no_row)
{
    const espl_entity entity = parts_bare();

    ck_ok(record_add_word(0, entity, 3));
    ck_ok(espl_record_set_enabled(p.lane, 0, entity, ESPL_EXTENT_ENTITY, false));
    ck_ok(espl_record_remove_component(p.lane, 0, entity, p.word));
    ck_ok(espl_record_set_enabled(p.lane, 0, entity, ESPL_EXTENT_ENTITY, true));
    const uint64_t version = espl_get_version(p.world);
    parts_play();
    ck_assert_uint_eq(p.report.applied, 4);
    ck_assert_uint_eq(p.report.row_moves, 0);
    ck_assert_uint_eq(espl_get_version(p.world), version);
}

// --- Columns and hierarchies ---

TEST(a_value_is_one_write_of_its_column)
{
    const espl_entity entity = parts_bare(), beside = parts_bare();

    give_word(entity, 1);
    give_word(beside, 1);
    ck_ok(espl_add_component(p.world, entity, p.pair, NULL, 8));
    ck_ok(espl_add_component(p.world, beside, p.pair, NULL, 8));
    const uint64_t version = espl_get_version(p.world);
    for (uint32_t i = 0; i < 9; ++i) {
        ck_ok(record_word(p.lane, 0, entity, i));
        ck_ok(record_add_word(0, entity, i));
    }
    parts_play();
    ck_assert_uint_eq(espl_get_version(p.world), version + 1);
    const espl_query_def words = {.changed = &p.word, .changed_count = 1, .since = version};
    const espl_query_def pairs = {.changed = &p.pair, .changed_count = 1, .since = version};
    espl_query query;
    ck_ok(espl_query_begin(p.world, &words, &query));
    ck_assert(espl_query_next(&query));
    ck_assert_uint_eq(query.count, 2);
    ck_assert(!espl_query_next(&query));
    ck_ok(espl_query_begin(p.world, &pairs, &query));
    ck_assert(!espl_query_next(&query));
}

// Overwrite the transform and a value of entities, with as many jobs as the executor takes: each chunk of the
// column is written once.
static void check_array_writes(const espl_executor *executor)
{
    enum { COUNT = 40 };
    const uint32_t count = test_fitting(COUNT, 0);
    const espl_transform at = test_at(1, 2, 3);
    const uint32_t word = 7;
    espl_entity entities[COUNT];
    test_world test;

    test_world_begin(&test, 5, executor);
    test_cut_jobs(test.world, 1);
    const espl_component words = test_component(test.world, "word", 4, 4);
    const espl_component set[] = {ESPL_TRANSFORM, words};
    const espl_component_value values[] = {{ESPL_TRANSFORM, sizeof at, &at},
                                           {words, sizeof word, &word}};
    const espl_change_def both = {.add = values, .add_count = 2};
    ck_ok(espl_create(test.world, set, 2, count, entities));
    const uint64_t version = espl_get_version(test.world);
    ck_ok(espl_change_components_array(test.world, entities, count, &both, NULL));
    const uint64_t writes = espl_get_version(test.world) - version;
    const espl_query_def all = {.all = &words, .all_count = 1};
    espl_query query;
    uint64_t chunks = 0;
    ck_ok(espl_query_begin(test.world, &all, &query));
    while (espl_query_next(&query)) {
        chunks += 1;
    }
    ck_assert_uint_eq(writes, chunks);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t seen = 0;

        ck_ok(espl_get_component(test.world, entities[i], words, &seen, sizeof seen));
        ck_assert_uint_eq(seen, word);
        ck_assert_float_eq(test_world_of(test.world, entities[i]).position[1], 2);
    }
    test_world_is_valid(test.world);
    test_world_end(&test);
}

TEST(values_of_an_array_are_one_write_of_each_chunk_whatever_the_jobs)
{
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 8, .random = 3};
    const espl_executor executor = test_executor_of(&shuffled);

    check_array_writes(NULL);
    check_array_writes(&executor);
    ck_assert_uint_gt(shuffled.calls, 0);
}

TEST(the_transform_is_a_value_that_a_command_sets)
{
    const espl_entity root = test_solo_at(p.world, 1, 2, 3), bare = parts_bare();
    espl_transform moved = test_at(7, 8, 9), seen, odd = moved;

    moved.stretch[1] = 2, moved.user_data = 5;
    odd.position[2] = 1.0f / 0.0f;
    ck_status(espl_record_set_component(p.lane, 0, root, ESPL_TRANSFORM, &odd, sizeof odd),
              ESPL_ERR_NOT_FINITE);
    ck_ok(espl_record_set_component(p.lane, 0, root, ESPL_TRANSFORM, &moved, sizeof moved));
    ck_ok(espl_record_set_component(p.lane, 0, bare, ESPL_TRANSFORM, &moved, sizeof moved));
    parts_play();
    ck_status(parts_result(0), ESPL_OK);
    ck_status(parts_result(1), ESPL_ERR_NO_TRANSFORM);
    ck_ok(espl_get_local_transform(p.world, root, &seen));
    ck_assert(test_same(&seen, &moved));
}

TEST(components_alone_lay_no_hierarchy_out)
{
    const espl_entity root = test_solo_at(p.world, 1, 2, 3), low = test_solo(p.world);

    hang(low, root, ESPL_LINK_OWNED);
    give_word(low, 1);
    ck_ok(record_word(p.lane, 0, low, 8));
    ck_ok(espl_record_add_component(p.lane, 0, low, p.mark, NULL, 0));
    ck_ok(espl_record_set_enabled(p.lane, 0, root, ESPL_EXTENT_OWNED, false));
    const uint64_t moved = test_count_moved_nodes(p.world);
    parts_play();
    ck_assert_uint_eq(test_count_moved_nodes(p.world), moved);
    ck_assert_uint_eq(p.report.visited_nodes, 0);
    ck_assert_uint_eq(p.report.row_moves, 2);
    ck_assert_uint_eq(word_of(low), 8);
    ck_assert(!espl_is_enabled(p.world, low) && !espl_is_enabled(p.world, root));
}

// A row that changes its role and its components at once moves once.
TEST(a_change_and_a_new_role_are_one_move)
{
    const espl_entity root = test_solo(p.world), low = test_solo(p.world);

    give_word(low, 4);
    ck_ok(espl_record_add_component(p.lane, 0, low, p.mark, NULL, 0));
    ck_ok(espl_record_attach(p.lane, 0, low, root, NULL));
    ck_ok(record_word(p.lane, 0, low, 9));
    parts_play();
    ck_assert_uint_eq(p.report.row_moves, 2);
    ck_assert_int_eq(espl_get_role(p.world, low), ESPL_ROLE_MEMBER);
    ck_assert(espl_has_component(p.world, low, p.mark));
    ck_assert_uint_eq(word_of(low), 9);
}

// --- Clones ---

// A clone of what got or lost its placement in this playback is made with or without it at once.
TEST(clones_of_what_got_or_lost_its_placement_move_no_row)
{
    for (int comes = 0; comes < 2; ++comes) {
        const espl_transform value = test_at(1, 2, 3);
        const espl_entity source = comes != 0 ? parts_bare() : test_solo(p.world);
        espl_entity clones[20];
        const espl_instance_def def = {.source = source};

        ck_ok(comes != 0 ? espl_record_add_component(p.lane, 0, source, ESPL_TRANSFORM, &value,
                                                     sizeof value)
                         : espl_record_remove_component(p.lane, 0, source, ESPL_TRANSFORM));
        ck_ok(espl_record_instantiate(p.lane, 0, &def, 20, clones));
        parts_play();
        ck_assert_uint_eq(p.report.refused, 0);
        ck_assert_uint_eq(p.report.created, 20);
        ck_assert_uint_eq(p.report.row_moves, 1);
        for (uint32_t i = 0; i < 20; ++i) {
            const espl_entity clone = parts_resolved(clones[i]);

            ck_assert_int_eq(espl_has_component(p.world, clone, ESPL_TRANSFORM), comes);
            ck_assert(comes == 0 || test_world_of(p.world, clone).position[1] == 2);
        }
        espl_command_buffer_reset(p.commands);
    }
}

TEST(the_tag_of_a_prefab_stays_with_who_was_given_it)
{
    const espl_component_value tag = {.component = ESPL_PREFAB};
    const espl_entity source = parts_bare();
    const espl_instance_def def = {.source = source, .values = &tag, .value_count = 1};
    espl_entity tagged[2] = {{0}};

    ck_ok(espl_record_add_component(p.lane, 0, source, ESPL_PREFAB, NULL, 0));
    const espl_entity plain = record_clone(source);
    ck_ok(espl_record_instantiate(p.lane, 0, &def, 2, tagged));
    const espl_entity below = record_clone(tagged[0]);
    // A clone that is given the tag later keeps it; its clones lack it.
    ck_ok(espl_record_add_component(p.lane, 0, plain, ESPL_PREFAB, NULL, 0));
    const espl_entity last = record_clone(plain);
    ck_ok(espl_record_remove_component(p.lane, 0, tagged[1], ESPL_PREFAB));
    parts_play();
    ck_assert(espl_has_component(p.world, source, ESPL_PREFAB));
    ck_assert(espl_has_component(p.world, parts_resolved(plain), ESPL_PREFAB));
    ck_assert(espl_has_component(p.world, parts_resolved(tagged[0]), ESPL_PREFAB));
    ck_assert(!espl_has_component(p.world, parts_resolved(tagged[1]), ESPL_PREFAB));
    ck_assert(!espl_has_component(p.world, parts_resolved(below), ESPL_PREFAB));
    ck_assert(!espl_has_component(p.world, parts_resolved(last), ESPL_PREFAB));
}

// --- What queries skip ---

// A root with an owned child that has a free one below, and another free child.
static void make_tree(espl_entity node[4])
{
    for (int i = 0; i < 4; ++i) {
        node[i] = test_solo(p.world);
    }
    hang(node[1], node[0], ESPL_LINK_OWNED);
    hang(node[2], node[1], ESPL_LINK_FREE);
    hang(node[3], node[0], ESPL_LINK_FREE);
}

static unsigned enabled(const espl_entity node[4])
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 4; ++i) {
        bits |= espl_is_enabled(p.world, node[i]) ? 1u << i : 0;
    }
    return bits;
}

// Members of an extent are alike at first; what comes later is each one's own.
TEST(what_one_of_an_extent_gets_is_its_own)
{
    const uint32_t count = test_fitting(1000, 8);
    const espl_entity root = test_solo(p.world);
    espl_entity *const members = test_array(count, sizeof *members);

    for (uint32_t i = 0; i < count; ++i) {
        members[i] = i % 2 != 0 ? parts_bare() : test_solo(p.world);
        hang(members[i], root, ESPL_LINK_OWNED);
    }
    ck_ok(espl_record_set_enabled(p.lane, 0, root, ESPL_EXTENT_OWNED, false));
    ck_ok(espl_record_set_enabled(p.lane, 1, members[3], ESPL_EXTENT_ENTITY, true));
    ck_ok(record_add_word(2, members[4], 9));
    ck_ok(espl_record_add_component(p.lane, 3, members[5], p.mark, NULL, 0));
    ck_ok(espl_record_set_enabled(p.lane, 4, members[5], ESPL_EXTENT_SUBTREE, true));
    parts_play();
    ck_assert_uint_eq(p.report.refused, 0);
    ck_assert_uint_eq(p.report.row_moves, count);
    ck_assert(!espl_is_enabled(p.world, root));
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_int_eq(espl_is_enabled(p.world, members[i]), i == 3 || i == 5);
        ck_assert_int_eq(espl_has_component(p.world, members[i], p.word), i == 4);
        ck_assert_int_eq(espl_has_component(p.world, members[i], p.mark), i == 5);
        ck_assert_int_eq(espl_has_component(p.world, members[i], ESPL_TRANSFORM), i % 2 == 0);
    }
    ck_assert_uint_eq(word_of(members[4]), 9);
    free(members);
}

TEST(a_full_entity_in_the_extent_refuses_all_of_it)
{
    espl_entity node[4];

    make_tree(node);
    // Its role and its placement count.
    for (uint32_t i = 0; i < ESPL_SET_LIMIT - 2; ++i) {
        ck_ok(espl_record_add_component(p.lane, 0, node[2], p.tags[i], NULL, 0));
    }
    ck_ok(espl_record_set_enabled(p.lane, 1, node[0], ESPL_EXTENT_SUBTREE, false));
    ck_ok(espl_record_set_enabled(p.lane, 2, node[0], ESPL_EXTENT_OWNED, false));
    parts_play();
    ck_status(parts_result(ESPL_SET_LIMIT - 2), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(p.report.refused, 1);
    ck_assert_uint_eq(enabled(node), 12);
    // What has the tag needs no room for it.
    espl_command_buffer_reset(p.commands);
    ck_ok(espl_record_remove_component(p.lane, 0, node[2], p.tags[0]));
    ck_ok(espl_record_set_enabled(p.lane, 1, node[0], ESPL_EXTENT_SUBTREE, false));
    ck_ok(espl_record_set_enabled(p.lane, 2, node[0], ESPL_EXTENT_SUBTREE, false));
    parts_play();
    ck_assert_uint_eq(p.report.refused, 0);
    ck_assert_uint_eq(enabled(node), 0);
}

// One that has no room for a placement is refused alone, a clone of it too.
TEST(a_full_set_takes_no_placement)
{
    const espl_entity full = parts_bare(), other = parts_bare();

    for (uint32_t i = 0; i < ESPL_SET_LIMIT - 1; ++i) {
        ck_ok(espl_add_component(p.world, full, p.tags[i], NULL, 0));
    }
    ck_ok(espl_record_add_component(p.lane, 0, full, ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
    const espl_entity clone = record_clone(full);
    ck_ok(
        espl_record_add_component(p.lane, 0, clone, ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
    ck_ok(
        espl_record_add_component(p.lane, 0, other, ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
    parts_play();
    ck_status(parts_result(0), ESPL_ERR_LIMIT);
    ck_ok(parts_result(1));
    ck_status(parts_result(2), ESPL_ERR_LIMIT);
    ck_ok(parts_result(3));
    ck_assert(!espl_has_component(p.world, full, ESPL_TRANSFORM));
    ck_assert(espl_has_component(p.world, other, ESPL_TRANSFORM));
}

// --- Refusals ---

TEST(recording_refuses_what_needs_no_world)
{
    const espl_entity entity = parts_bare();
    const espl_component_value twice[] = {{p.word, 4, NULL}, {p.word, 4, NULL}};
    const espl_component word = p.word, role = ESPL_ROOT, unknown = 999;
    espl_transform odd = espl_transform_identity();
    odd.scale = 1.0f / 0.0f;

    ck_status(espl_record_add_component(p.lane, 0, test_null, p.word, NULL, 4),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_add_component(p.lane, 0, entity, 0, NULL, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_add_component(p.lane, 0, entity, unknown, NULL, 4), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_add_component(p.lane, 0, entity, p.word, NULL, 5), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_add_component(p.lane, 0, entity, ESPL_SOLO, NULL, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_add_component(p.lane, 0, entity, ESPL_TRANSFORM, NULL, 4),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_record_add_component(p.lane, 0, entity, ESPL_TRANSFORM, &odd, sizeof odd),
              ESPL_ERR_NOT_FINITE);
    ck_status(espl_record_remove_component(p.lane, 0, entity, unknown), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_remove_component(p.lane, 0, entity, role), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_change_components(p.lane, 0, entity,
                                            &(espl_change_def){.add = twice, .add_count = 2}),
              ESPL_ERR_ARGUMENT);
    ck_status(
        espl_record_change_components(p.lane, 0, entity, &(espl_change_def){twice, 1, &word, 1}),
        ESPL_ERR_ARGUMENT);
    ck_status(
        espl_record_change_components(
            p.lane, 0, entity, &(espl_change_def){.add = twice, .add_count = ESPL_SET_LIMIT + 1}),
        ESPL_ERR_LIMIT);
    ck_status(espl_record_change_components(
                  p.lane, 0, entity,
                  &(espl_change_def){.remove = &word, .remove_count = ESPL_SET_LIMIT + 1}),
              ESPL_ERR_LIMIT);
    ck_status(espl_record_change_components(p.lane, 0, entity, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, test_null, p.word, &word, 4),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_set_component(p.lane, 0, entity, unknown, &word, 4), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, entity, p.word, &word, 8), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, entity, p.word, NULL, 4), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, entity, ESPL_SOLO, NULL, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, entity, ESPL_TRANSFORM, &odd, sizeof odd - 4),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_component(p.lane, 0, entity, ESPL_TRANSFORM, NULL, sizeof odd),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_record_set_enabled(p.lane, 0, test_null, ESPL_EXTENT_OWNED, true),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_set_enabled(p.lane, 0, entity, (espl_extent)3, false), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(espl_command_buffer_count(p.commands), 0);
    ck_assert_uint_eq(p.test.hooks.traps, 0);
    // Nothing at all is a change too.
    ck_ok(espl_record_change_components(p.lane, 0, entity, &(espl_change_def){0}));
    parts_play();
    ck_assert_uint_eq(p.report.applied, 1);
    ck_status(espl_record_add_component(p.lane, 0, entity, p.word, NULL, 4), ESPL_ERR_PLAYED);
    ck_status(espl_record_set_component(p.lane, 0, entity, p.word, &word, 4), ESPL_ERR_PLAYED);
    ck_status(espl_record_set_enabled(p.lane, 0, entity, ESPL_EXTENT_ENTITY, true),
              ESPL_ERR_PLAYED);
}

// An entity with so many tags, with a placement or without.
static espl_entity with_tags(uint32_t tags, bool is_placed)
{
    espl_component set[ESPL_SET_LIMIT];
    uint32_t count = 0;
    espl_entity out = {0};

    while (count < tags) {
        set[count] = p.tags[count];
        count += 1;
    }
    if (is_placed) {
        set[count++] = ESPL_TRANSFORM;
    }
    ck_ok(espl_create(p.world, set, count, 1, &out));
    return out;
}

// Placement: 0 stays, 1 comes, 2 goes.
static void fill_change(uint32_t added, uint32_t removed, int placement, espl_component_value *add,
                        espl_component *remove, espl_change_def *def)
{
    *def = (espl_change_def){.add = add, .remove = remove};
    for (uint32_t i = 0; i < added; ++i) {
        add[def->add_count++] = (espl_component_value){.component = p.tags[ESPL_SET_LIMIT - 1 - i]};
    }
    for (uint32_t i = 0; i < removed; ++i) {
        remove[def->remove_count++] = p.tags[i];
    }
    if (placement == 1) {
        add[def->add_count++] =
            (espl_component_value){ESPL_TRANSFORM, sizeof(espl_transform), NULL};
    } else if (placement == 2) {
        remove[def->remove_count++] = ESPL_TRANSFORM;
    }
}

TEST(limits_are_those_of_the_call_at_once)
{
    espl_component_value add[8];
    espl_component remove[8];
    espl_change_def def;
    size_t refused = 0;

    for (int i = 0; i < 4 * 2 * 3 * 3 * 3; ++i) {
        const uint32_t tags = ESPL_SET_LIMIT - 4 + (uint32_t)(i % 4) - (i / 4 % 2 != 0 ? 1 : 0);
        const bool is_placed = i / 4 % 2 != 0;
        const espl_entity played = with_tags(tags, is_placed), at_once = with_tags(tags, is_placed);

        fill_change((uint32_t)(i / 8 % 3), (uint32_t)(i / 24 % 3), i / 72, add, remove, &def);
        ck_ok(espl_record_change_components(p.lane, 0, played, &def));
        parts_play();
        const espl_status status = espl_change_components(p.world, at_once, &def);
        ck_assert_int_eq(parts_result(0), status);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_LIMIT);
        refused += status != ESPL_OK ? 1 : 0;
        for (espl_component c = 1; c <= p.tags[PARTS_TAGS - 1]; ++c) {
            ck_assert_int_eq(espl_has_component(p.world, played, c),
                             espl_has_component(p.world, at_once, c));
        }
        ck_ok(espl_destroy(p.world, played, ESPL_EXTENT_OWNED));
        ck_ok(espl_destroy(p.world, at_once, ESPL_EXTENT_OWNED));
        espl_command_buffer_reset(p.commands);
    }
    ck_assert_uint_gt(refused, 20);
}

// A change whose placement is refused changes nothing else.
TEST(a_change_is_made_as_a_whole_or_not_at_all)
{
    const espl_entity root = test_solo(p.world), low = test_solo(p.world);
    const espl_component word = p.word;
    espl_transform value = espl_transform_identity();
    const espl_attach_options copies = {.inherit = ESPL_COPY_PARENT};

    give_word(low, 1);
    ck_ok(espl_attach(p.world, low, root, &copies));
    value.position[0] = 4;
    const espl_component_value add[] = {{p.mark, 0, NULL}, {ESPL_TRANSFORM, sizeof value, &value}};
    const espl_change_def def = {add, 2, &word, 1};
    ck_ok(espl_record_change_components(p.lane, 0, low, &def));
    parts_play();
    ck_status(parts_result(0), ESPL_ERR_COPIES_PARENT);
    ck_assert(espl_has_component(p.world, low, p.word) &&
              !espl_has_component(p.world, low, p.mark));

    // One that makes a world overflow is done; a later one may make it finite again.
    espl_command_buffer_reset(p.commands);
    espl_transform large = espl_transform_identity(), small = large;
    large.scale = 1e30f, small.scale = 1e-30f;
    const espl_component_value huge[] = {{p.mark, 0, NULL}, {ESPL_TRANSFORM, sizeof large, &large}};
    const espl_entity top = test_solo(p.world), below = test_solo(p.world);
    ck_ok(espl_set_local_transform(p.world, below, &large));
    ck_ok(espl_attach(p.world, below, top, &test_keep_local));
    ck_ok(espl_record_change_components(p.lane, 0, top,
                                        &(espl_change_def){.add = huge, .add_count = 2}));
    ck_ok(espl_record_write(p.lane, 0, below, ESPL_WRITE_LOCAL_TRANSFORM, &small));
    ck_ok(record_add_word(0, top, 3));
    parts_play();
    for (uint32_t i = 0; i < 3; ++i) {
        ck_ok(parts_result(i));
    }
    ck_assert(espl_has_component(p.world, top, p.mark));
    ck_assert_uint_eq(word_of(top), 3);
    ck_assert_uint_eq(test_count_overflowed(p.world), 0);
    ck_assert_float_eq(test_world_of(p.world, below).scale, 1e30f * 1e-30f);
}

// --- Cost ---

TEST(any_number_of_values_of_one_entity_is_linear)
{
    const uint32_t count = (uint32_t)test_scaled(200000);
    const espl_entity entity = parts_bare();

    give_word(entity, 0);
    for (uint32_t i = 1; i <= count; ++i) {
        const uint32_t pair[2] = {i, i};

        ck_ok(i % 2 != 0 ? record_word(p.lane, 0, entity, i)
                         : espl_record_add_component(p.lane, 0, entity, p.pair, pair, 8));
    }
    parts_play();
    ck_assert_uint_eq(p.report.applied, count);
    ck_assert_uint_eq(word_of(entity), count - 1 + count % 2);
}

// Scratch is one block once there was a playback like this one; the rest are chunks.
TEST(no_entity_takes_memory_of_its_own)
{
    const uint32_t count = test_fitting(2000, 8);
    espl_entity *const entities = test_array(count, sizeof *entities);

    for (uint32_t i = 0; i < count; ++i) {
        entities[i] = test_solo(p.world);
    }
    for (uint32_t round = 0; round < 4; ++round) {
        espl_command_buffer_reset(p.commands);
        for (uint32_t i = 0; i < count; ++i) {
            ck_ok(round % 2 == 0 ? record_add_word(0, entities[i], i)
                                 : espl_record_remove_component(p.lane, 0, entities[i], p.word));
            ck_ok(espl_record_set_enabled(p.next, 1, entities[i], ESPL_EXTENT_OWNED, false));
        }
        test_heap_arm(&p.test.heap, 0, false);
        parts_play();
        ck_assert_uint_eq(p.report.row_moves, count);
    }
    if (!test_moves_always() && count == 2000) {
        ck_assert_uint_lt(p.test.heap.calls, 50);
    }
    free(entities);
}

// A source whose members are given the tag of a prefab, clones of it, and more components for one clone than
// its set has room for.
TEST_LOOP(without_memory_nothing_changes_and_it_can_be_played_again, 0, 2)
{
    enum { TAGS = 40, MEMBERS = 12 };
    const espl_entity top = parts_bare();
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    for (uint32_t i = 0; i < MEMBERS; ++i) {
        const espl_entity member = parts_bare();

        hang(member, top, ESPL_LINK_OWNED);
        ck_ok(espl_record_add_component(p.lane, 0, member, ESPL_PREFAB, NULL, 0));
    }
    const espl_entity first = record_clone(top), second = record_clone(first);

    for (uint32_t i = 0; i < TAGS; ++i) {
        ck_ok(espl_record_add_component(p.lane, 1, second, p.tags[i], NULL, 0));
    }
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        const uint64_t before = test_physical_hash(p.world);

        test_free_scratch(p.world);
        test_heap_arm(&p.test.heap, n, _i != 0);
        status = espl_play(p.world, p.commands, NULL);
        test_heap_arm(&p.test.heap, 0, false);
        points += status != ESPL_OK;
        ck_assert(status == ESPL_OK || test_physical_hash(p.world) == before);
        test_world_is_valid(p.world);
    }
    ck_ok(status);
    ck_assert_uint_gt(points, 5);
    const espl_entity made = parts_resolved(second);

    ck_assert(espl_has_component(p.world, made, p.tags[0]) &&
              espl_has_component(p.world, made, p.tags[TAGS - 1]));
    ck_assert(espl_has_component(p.world, espl_get_first_child(p.world, top), ESPL_PREFAB));
    ck_assert(!espl_has_component(p.world, espl_get_first_child(p.world, made), ESPL_PREFAB));
}

// SPDX-License-Identifier: MIT
// Rows of clones: clones of one source member are neighbours, in the archetype that they keep, for
// any number of clones; the original is not touched.
#include "tests/asked.h"
#include "tests/asserts.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 5, SPEED_SIZE = 12 };

// A prefab: three members with values, of two archetypes, one without a placement, one disabled.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl_component speed, tag;
    espl_entity members[MEMBERS]; // breadth-first
} scene;

static scene s;

static void hang(uint32_t child, uint32_t parent)
{
    ck_ok(espl_attach(s.world, s.members[child], s.members[parent], NULL));
}

static espl_entity create(const espl_component *set, size_t count)
{
    espl_entity out = {0};

    ck_ok(espl_create(s.world, set, count, 1, &out));
    return out;
}

static void set_up(void)
{
    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 6, NULL);
    s.world = s.test.world;
    s.speed = test_component(s.world, "speed", SPEED_SIZE, 4);
    s.tag = test_component(s.world, "tag", 0, 1);

    const espl_component set[] = {ESPL_TRANSFORM, s.speed, ESPL_PREFAB, s.tag, ESPL_DISABLED};
    s.members[0] = create(set, 3);
    s.members[1] = create(set, 2);
    s.members[2] = create(set + 1, 1);
    s.members[3] = create(set, 2);
    s.members[4] = create(set, 5);
    hang(1, 0);
    hang(2, 0);
    hang(3, 1);
    hang(4, 2);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        const float value[3] = {(float)i, 2.5f, -1};
        ck_ok(espl_set_component(s.world, s.members[i], s.speed, value, sizeof value));
    }
}

static void tear_down(void)
{
    test_world_end(&s.test);
}

// --- Rows ---

// Entities of each set stand behind one another in a query; rows of different sets do not mix.
static void are_neighbours(const espl_world *world, const espl_entity *copies, size_t count)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_query query;
    size_t at = 0;

    ck_ok(espl_query_begin((espl_world *)(uintptr_t)world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const bool is_next = at < count && espl_entity_equal(query.entities[row], copies[at]);

            // Once the first was met, the others follow without a gap.
            if (!is_next && at != 0 && at != count) {
                ck_abort_msg("copy %zu of %zu is no neighbour", at, count);
            }
            at += is_next;
        }
    }
    ck_assert_uint_eq(at, count);
}

static void set_is(espl_entity clone, uint32_t member, espl_component role)
{
    ck_assert(espl_has_component(s.world, clone, role));
    ck_assert(!espl_has_component(s.world, clone, ESPL_PREFAB));
    ck_assert_int_eq(espl_has_component(s.world, clone, ESPL_TRANSFORM), member != 2);
    ck_assert_int_eq(espl_has_component(s.world, clone, s.tag), member == 4);
    ck_assert_int_eq(espl_has_component(s.world, clone, ESPL_DISABLED), member == 4);
    float value[3] = {0};
    ck_ok(espl_get_component(s.world, clone, s.speed, value, sizeof value));
    ck_assert(value[0] == (float)member && value[1] == 2.5f && value[2] == -1);
}

// The members of each copy, gathered by member.
static void gather(const espl_entity *tops, size_t count, espl_entity *out)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_entity a = espl_get_first_child(s.world, tops[i]);
        const espl_entity b = espl_get_next_sibling(s.world, a);

        out[i] = tops[i];
        out[count + i] = a;
        out[2 * count + i] = b;
        out[3 * count + i] = espl_get_first_child(s.world, a);
        out[4 * count + i] = espl_get_first_child(s.world, b);
    }
}

// What can be read of the members: the original is not touched.
typedef struct picture {
    espl_transform local, world; // zeros without a transform
    uint32_t inherit, rank;
    espl_link link;
    espl_role role;
    float speed[3];
} picture;

static void take_pictures(picture *out)
{
    memset(out, 0, MEMBERS * sizeof *out);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        const espl_entity member = s.members[i];

        if (espl_has_component(s.world, member, ESPL_TRANSFORM)) {
            out[i].local = test_local_of(s.world, member);
            out[i].world = test_world_of(s.world, member);
        }
        out[i].inherit = espl_get_inherit(s.world, member);
        out[i].rank = test_rank(s.world, member);
        out[i].link = espl_get_link(s.world, member);
        out[i].role = espl_get_role(s.world, member);
        ck_ok(espl_get_component(s.world, member, s.speed, out[i].speed, SPEED_SIZE));
    }
}

static void is_untouched(const picture *before)
{
    picture after[MEMBERS];

    take_pictures(after);
    ck_assert_mem_eq(after, before, sizeof after);
}

static void copies_stand_together(const espl_entity *tops, size_t count, espl_component top_role)
{
    espl_entity *const members = test_array(MEMBERS * count, sizeof *members);

    gather(tops, count, members);
    for (uint32_t m = 0; m < MEMBERS; ++m) {
        are_neighbours(s.world, members + m * count, count);
        for (size_t i = 0; i < count; i += 1 + count / 50) {
            set_is(members[m * count + i], m, m == 0 ? top_role : ESPL_MEMBER);
        }
    }
    free(members);
}

static const size_t counts[] = {1, 2, 127, 128, 129, 1000};

// How many copies there may be when each stands for so many entities, beside the originals.
static size_t fitting(size_t count, uint32_t each)
{
    return test_fitting(count * each, MEMBERS) / each;
}

enum { COUNTS = sizeof counts / sizeof *counts };

FIXTURE(set_up, tear_down);

TEST_LOOP(copies_of_one_member_are_neighbours, 0, COUNTS)
{
    const size_t count = fitting(counts[_i], MEMBERS);
    espl_entity *const tops = test_array(count, sizeof *tops);

    picture before[MEMBERS];

    take_pictures(before);
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.members[0]}, count, tops));
    test_world_is_valid(s.world);
    copies_stand_together(tops, count, ESPL_ROOT);
    is_untouched(before);
    free(tops);
}

// Play one instantiate; its account, and the tops.
static espl_report play_instance(const espl_instance_def *def, size_t count, espl_entity *tops)
{
    espl_report report = {0};

    espl_command_buffer *const commands = test_commands(s.world, 1);
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, def, count, tops));
    ck_ok(espl_play(s.world, commands, &report));
    for (size_t i = 0; i < count; ++i) {
        ck_ok(espl_command_buffer_resolve(commands, tops[i], &tops[i]));
    }
    espl_command_buffer_destroy(commands);
    test_world_is_valid(s.world);
    return report;
}

TEST_LOOP(they_are_born_where_they_stay, 0, COUNTS)
{
    const size_t count = fitting(counts[_i], 2 * MEMBERS);
    espl_entity *const tops = test_array(count, sizeof *tops);

    const espl_instance_def free_ones = {.source = s.members[0]};
    espl_report report = play_instance(&free_ones, count, tops);
    ck_assert_uint_eq(report.created, MEMBERS * count);
    ck_assert_uint_eq(report.row_moves, 0);
    copies_stand_together(tops, count, ESPL_ROOT);

    // Below a root that already has children, only the copies get a new role.
    const espl_instance_def below = {.source = s.members[0], .parent = tops[0]};
    report = play_instance(&below, count, tops);
    ck_assert_uint_eq(report.created, MEMBERS * count);
    ck_assert_uint_eq(report.row_moves, 0);
    copies_stand_together(tops, count, ESPL_MEMBER);
    free(tops);
}

// Of a member, with values that the source lacks: other roles and another set.
TEST(a_member_with_values_goes_straight_to_its_set)
{
    const size_t count = fitting(300, 2);
    const float fast[3] = {8, 8, 8};
    espl_entity tops[300];

    const espl_component_value values[] = {{s.tag, 0, NULL}, {s.speed, sizeof fast, fast}};
    const espl_instance_def def = {.source = s.members[1], .values = values, .value_count = 2};
    const espl_report report = play_instance(&def, count, tops);
    ck_assert_uint_eq(report.created, 2 * count);
    ck_assert_uint_eq(report.row_moves, 0);
    are_neighbours(s.world, tops, count);
    for (size_t i = 0; i < count; ++i) {
        float value[3] = {0};
        ck_assert(espl_has_component(s.world, tops[i], s.tag) &&
                  espl_has_component(s.world, tops[i], ESPL_ROOT));
        ck_ok(espl_get_component(s.world, tops[i], s.speed, value, sizeof value));
        ck_assert(value[0] == 8);
        const espl_entity low = espl_get_first_child(s.world, tops[i]);
        ck_assert(!espl_has_component(s.world, low, s.tag) &&
                  espl_has_component(s.world, low, ESPL_MEMBER));
    }
}

// Many commands of few clones each: neighbours all the same.
TEST(clones_of_many_commands_are_neighbours_too)
{
    const uint32_t count = (uint32_t)fitting(200, MEMBERS + 1);
    espl_entity tops[400];
    espl_report report = {0};

    espl_command_buffer *const commands = test_commands(s.world, 2);
    for (uint32_t i = 0; i < 2 * count; ++i) {
        const espl_instance_def def = {.source = s.members[i % 2 == 0 ? 0 : 3]};
        ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, i / count), 0, &def, 1,
                                      &tops[i % 2 * count + i / 2]));
    }
    ck_ok(espl_play(s.world, commands, &report));
    ck_assert_uint_eq(report.row_moves, 0);
    for (uint32_t i = 0; i < 2 * count; ++i) {
        ck_ok(espl_command_buffer_resolve(commands, tops[i], &tops[i]));
    }
    are_neighbours(s.world, tops + count, count);
    copies_stand_together(tops, count, ESPL_ROOT);
    espl_command_buffer_destroy(commands);
    test_world_is_valid(s.world);
}

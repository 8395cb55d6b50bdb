// SPDX-License-Identifier: MIT
// Many writes at once: what they come to whatever their order, what is refused, and how many nodes
// are visited.
#include "tests/forms.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *taken(size_t count, size_t size)
{
    void *const block = calloc(count + 1, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

static void ck_report(const espl_write_report *report, size_t applied, size_t lossy, size_t refused)
{
    ck_assert_uint_eq(report->applied, applied);
    ck_assert_uint_eq(report->lossy, lossy);
    ck_assert_uint_eq(report->refused, refused);
}

static float world_x(const espl_world *world, espl_entity entity)
{
    return test_world_of(world, entity).position[0];
}

// --- What is visited ---

// Every node once, however long the chain, and where entries are in world axes once more for each:
// two kinds, each in a random order.
static void write_chain(uint32_t count)
{
    static const espl_write_kind kinds[2] = {ESPL_WRITE_TRANSLATE_IN_PARENT,
                                             ESPL_WRITE_TRANSLATE_WORLD};
    uint64_t random = count;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, count);
    espl_write *const writes = taken(count, sizeof *writes);
    for (int round = 0; round < 2; ++round) {
        espl_write_report report;
        for (uint32_t i = 0; i < count; ++i) {
            writes[i] = write_vector(node[i], kinds[round], 1, 0, 0);
        }
        shuffle_writes(writes, count, &random);
        const espl_world_stats before = test_stats(test.world);
        ck_assert_int_eq(espl_write_batch(test.world, writes, count, &report), ESPL_OK);
        const espl_world_stats after = test_stats(test.world);

        ck_report(&report, count, 0, 0);
        ck_assert_uint_ge(after.nodes_visited - before.nodes_visited, count);
        ck_assert_uint_le(after.nodes_visited - before.nodes_visited,
                          (1 + (uint64_t)round) * count);
        ck_assert_uint_eq(after.writes - before.writes, count);
        ck_assert_uint_eq(after.nodes_skipped, before.nodes_skipped);
        for (uint32_t i = 0; i < count; i += count / 50) {
            ck_assert_float_eq(world_x(test.world, node[i]),
                               (float)((i + 1) * (2u + (uint32_t)round)));
        }
    }
    free(writes);
    free(node);
    test_world_end(&test);
}

START_TEST(as_many_writes_as_a_chain_has_nodes_visit_a_node_once_or_twice)
{
    write_chain(test_fitting(1000, 0));
    write_chain(test_fitting(2000, 0));
    write_chain(test_fitting(test_scaled(100000), 0));
}
END_TEST

// A{B{C},D} many times, and solos: each write visits its node and what hangs below.
START_TEST(writes_over_many_hierarchies_visit_what_hangs_below_each)
{
    const uint32_t trees = test_fitting(2000 * 5, 0) / 5, nodes = trees * 5;
    static const uint64_t below[5] = {4, 2, 1, 1, 1};
    uint32_t *const parent = taken(nodes, sizeof *parent);
    espl_write *const writes = taken(nodes, sizeof *writes);
    uint64_t random = 3, visits = 0;
    size_t count = 0;
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (uint32_t i = 0; i < nodes; i += 5) {
        parent[i] = parent[i + 4] = PLANT_ROOT;
        parent[i + 1] = parent[i + 3] = i;
        parent[i + 2] = i + 1;
    }
    espl_entity *const node = plant_forest(test.world, parent, nodes);
    for (uint32_t i = 0; i < trees; ++i) {
        const uint32_t at = i % 5;
        writes[count++] = write_vector(node[i * 5 + at], ESPL_WRITE_WORLD_POSITION, 5, (float)i, 6);
        visits += below[at];
    }
    shuffle_writes(writes, count, &random);
    const espl_world_stats before = test_stats(test.world);
    ck_assert_int_eq(espl_write_batch(test.world, writes, count, NULL), ESPL_OK);
    ck_assert_uint_eq(test_stats(test.world).nodes_visited - before.nodes_visited, visits);
    ck_assert_uint_eq(test_stats(test.world).writes - before.writes, trees);
    for (uint32_t i = 0; i < trees; ++i) {
        const espl_transform placed = test_world_of(test.world, node[i * 5 + i % 5]);
        ck_assert(placed.position[0] == 5 && placed.position[1] == (float)i);
    }
    free(parent);
    free(writes);
    free(node);
    test_world_end(&test);
}
END_TEST

START_TEST(writes_of_equal_values_visit_nothing)
{
    enum { COUNT = 300 };
    const uint32_t count = test_fitting(COUNT, 0);
    espl_write writes[COUNT];
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, count);
    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = write_vector(node[i], ESPL_WRITE_LOCAL_POSITION, 1, 0, 0);
    }
    const espl_world_stats before = test_stats(test.world);
    ck_assert_int_eq(espl_write_batch(test.world, writes, count, NULL), ESPL_OK);
    const espl_world_stats after = test_stats(test.world);
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited);
    ck_assert_uint_eq(after.writes, before.writes);
    ck_assert_uint_eq(after.writes_skipped, before.writes_skipped + count);
    free(node);
    test_world_end(&test);
}
END_TEST

// In a hierarchy that is not laid out, the node that keeps its place is looked at, and what hangs below it
// is not. A leaf in front of the chain takes a slot behind it, so that the layout is lost.
START_TEST(a_node_that_keeps_everything_cuts_off_what_hangs_below)
{
    enum { WRITTEN = 1, KEEPER = 2 };
    const uint32_t count = test_fitting(100, 1); // and the leaf
    const uint32_t all = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, count);
    const espl_attach_options first = {.before = node[WRITTEN]};
    ck_assert_int_eq(espl_attach(test.world, test_solo(test.world), node[0], &first), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(test.world, node[KEEPER], all), ESPL_OK);
    for (int is_batch = 0; is_batch < 2; ++is_batch) {
        const espl_write write = write_vector(node[WRITTEN], ESPL_WRITE_TRANSLATE_WORLD, 0, 1, 0);
        const espl_world_stats before = test_stats(test.world);
        ck_assert_int_eq(form_write(test.world, &write, is_batch ? FORM_BATCH : FORM_FUNCTION),
                         ESPL_OK);
        const espl_world_stats after = test_stats(test.world);
        ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 2);
        ck_assert_uint_eq(after.nodes_skipped, before.nodes_skipped + 1);
        ck_assert_float_eq(world_x(test.world, node[count - 1]), (float)count);
    }
    free(node);
    test_world_end(&test);
}
END_TEST

// --- Order ---

static espl_write_kind any_kind(uint64_t *random)
{
    return (espl_write_kind)test_below(random, ESPL_WRITE_KIND_COUNT);
}

START_TEST(writes_to_one_entity_are_carried_out_in_the_order_of_the_array)
{
    enum { COUNT = 40 };
    uint64_t random = 8;

    for (size_t round = 0; round < test_scaled(100); ++round) {
        test_world one, other;
        espl_write writes[COUNT];
        test_world_begin(&one, 9, NULL);
        test_world_begin(&other, 9, NULL);
        espl_entity *const node = plant_chain(one.world, 5);
        free(plant_chain(other.world, 5));
        for (int i = 0; i < COUNT; ++i) {
            const espl_write_kind kind = any_kind(&random);
            writes[i] = write_ordinary(node[3], kind, &random);
            ck_assert_int_eq(form_write(other.world, &writes[i], FORM_FUNCTION), ESPL_OK);
        }
        ck_assert_int_eq(espl_write_batch(one.world, writes, COUNT, NULL), ESPL_OK);
        ck_assert_uint_eq(test_physical_hash(one.world), test_physical_hash(other.world));
        free(node);
        test_world_end(&one);
        test_world_end(&other);
    }
}
END_TEST

// One node has so many entries that one of them leaves what the first found. All stand in order, or
// one of a child comes first.
START_TEST(each_of_many_writes_to_one_entity_counts_though_all_are_of_one_kind)
{
    enum { COUNT = 6 };
    static const float x[COUNT] = {5, 1, 7, 1, 1, 9}; // it stands at 1

    for (uint32_t child_first = 0; child_first < 2; ++child_first) {
        test_world test;
        espl_write writes[COUNT + 1];
        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_chain(test.world, 3);
        for (uint32_t i = 0; i < COUNT; ++i) {
            writes[child_first + i] = write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, x[i], 0, 0);
        }
        writes[child_first != 0 ? 0 : COUNT] =
            write_vector(node[2], ESPL_WRITE_LOCAL_POSITION, 5, 0, 0);
        const espl_world_stats before = test_stats(test.world);
        ck_assert_int_eq(espl_write_batch(test.world, writes, COUNT + 1, NULL), ESPL_OK);
        const espl_world_stats after = test_stats(test.world);
        ck_assert_uint_eq(after.writes, before.writes + COUNT);
        ck_assert_uint_eq(after.writes_skipped, before.writes_skipped + 1);
        ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 2);
        ck_assert_float_eq(world_x(test.world, node[1]), 10);
        ck_assert_float_eq(world_x(test.world, node[2]), 15);
        free(node);
        test_world_end(&test);
    }
}
END_TEST

// A wide tree with flags here and there. Node i hangs below (i - 1) / 3.
static espl_entity *make_mixed_tree(espl_world *world, uint32_t count)
{
    static const uint32_t flags[4] = {ESPL_ABSOLUTE_Y, ESPL_ABSOLUTE_UP | ESPL_ABSOLUTE_SCALE,
                                      ESPL_ABSOLUTE_ROTATION,
                                      ESPL_ABSOLUTE_FORWARD | ESPL_ABSOLUTE_X};
    uint32_t parent[200] = {PLANT_ROOT};

    ck_assert_uint_le(count, 200);
    for (uint32_t i = 0; i < count; ++i) {
        parent[i] = i == 0 ? PLANT_ROOT : (i - 1) / 3;
    }
    espl_entity *const node = plant_forest(world, parent, count);
    for (uint32_t i = 2; i < count; i += 3) {
        ck_assert_int_eq(espl_set_inherit(world, node[i], flags[i % 4]), ESPL_OK);
    }
    return node;
}

// What the array says in any order is what the functions say from the top down.
START_TEST(a_batch_is_its_writes_one_by_one_parents_first)
{
    enum { COUNT = 120 };
    const uint32_t count = test_fitting(COUNT, 0);
    uint64_t random = 9;

    for (size_t round = 0; round < test_scaled(60); ++round) {
        test_world one, other;
        espl_write writes[COUNT];
        test_world_begin(&one, 9, NULL);
        test_world_begin(&other, 9, NULL);
        espl_entity *const node = make_mixed_tree(one.world, count);
        free(make_mixed_tree(other.world, count));
        for (uint32_t i = 0; i < count; ++i) {
            const espl_write_kind kind = any_kind(&random);
            writes[i] = write_ordinary(node[i], kind, &random);
            ck_assert_int_eq(form_write(other.world, &writes[i], FORM_FUNCTION), ESPL_OK);
        }
        shuffle_writes(writes, count, &random);
        ck_assert_int_eq(espl_write_batch(one.world, writes, count, NULL), ESPL_OK);
        ck_assert_uint_eq(test_physical_hash(one.world), test_physical_hash(other.world));
        free(node);
        test_world_end(&one);
        test_world_end(&other);
    }
}
END_TEST

START_TEST(every_order_of_writes_to_different_entities_gives_the_same_worlds)
{
    enum { COUNT = 6, ORDERS = 720 };
    static const uint32_t parent[COUNT + 2] = {PLANT_ROOT, 0, 1, 0, PLANT_ROOT, 4, 5, PLANT_ROOT};
    static const uint32_t target[COUNT] = {0, 1, 2, 4, 6, 7};
    uint64_t random = 10, expected = 0;
    espl_write writes[COUNT];
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_forest(test.world, parent, COUNT + 2);
    for (int i = 0; i < COUNT; ++i) {
        const espl_write_kind kind = (espl_write_kind)(ESPL_WRITE_TRANSLATE_IN_PARENT + i);
        writes[i] = write_ordinary(node[target[i]], kind, &random);
    }
    for (uint32_t number = 0; number < ORDERS; ++number) {
        espl_write ordered[COUNT], left[COUNT];
        uint32_t rest = number;
        memcpy(left, writes, sizeof left);
        for (uint32_t i = 0; i < COUNT; ++i) {
            const uint32_t at = rest % (COUNT - i);
            rest /= COUNT - i;
            ordered[i] = left[at];
            memmove(left + at, left + at + 1, (COUNT - 1 - at) * sizeof *left);
        }
        ck_assert_int_eq(espl_write_batch(test.world, ordered, COUNT, NULL), ESPL_OK);
        const uint64_t hash = test_physical_hash(test.world);
        expected = number == 0 ? hash : expected;
        ck_assert_msg(hash == expected, "order %u", number);
        for (int i = 0; i < COUNT + 2; ++i) {
            const espl_transform step = test_at(1, 0, 0);
            ck_assert_int_eq(espl_set_local_transform(test.world, node[i], &step), ESPL_OK);
        }
    }
    free(node);
    test_world_end(&test);
}
END_TEST

START_TEST(a_write_in_world_axes_sees_where_its_parent_has_come_to)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    const espl_write writes[3] = {
        write_vector(node[2], ESPL_WRITE_WORLD_POSITION, 50, 0, 0),
        write_vector(node[1], ESPL_WRITE_TRANSLATE_WORLD, 10, 0, 0),
        write_vector(node[0], ESPL_WRITE_TRANSLATE_IN_PARENT, 100, 0, 0),
    };
    ck_assert_int_eq(espl_write_batch(test.world, writes, 3, NULL), ESPL_OK);
    ck_assert_float_eq(world_x(test.world, node[0]), 101);
    ck_assert_float_eq(world_x(test.world, node[1]), 112);
    ck_assert_float_eq(world_x(test.world, node[2]), 50);
    ck_assert_float_eq(test_local_of(test.world, node[2]).position[0], -62);
    free(node);
    test_world_end(&test);
}
END_TEST

// --- Refusals ---

START_TEST(a_bad_entry_is_refused_alone_and_told)
{
    enum { BAD = 9, COUNT = 5 };
    test_world test, elsewhere;
    espl_entity bare;

    test_world_begin(&test, 3, NULL);
    test_world_begin(&elsewhere, 4, NULL);
    espl_entity *const node = plant_chain(test.world, 4);
    const espl_entity dead = test_solo(test.world), foreign = test_solo(elsewhere.world);
    const espl_entity solo = test_solo(test.world);
    ck_assert_int_eq(espl_destroy(test.world, dead, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_create(test.world, NULL, 0, 1, &bare), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(test.world, node[3], ESPL_COPY_PARENT), ESPL_OK);

    const espl_write_kind beyond = (espl_write_kind)ESPL_WRITE_KIND_COUNT;
    const espl_write bad[BAD] = {
        write_vector(espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, 1, 1, 1),
        write_vector(dead, ESPL_WRITE_LOCAL_POSITION, 1, 1, 1),
        write_vector(foreign, ESPL_WRITE_LOCAL_POSITION, 1, 1, 1),
        write_vector(bare, ESPL_WRITE_LOCAL_POSITION, 1, 1, 1),
        write_vector(node[0], beyond, 1, 1, 1),
        write_vector(node[1], ESPL_WRITE_TRANSLATE_WORLD, 0, NAN, 0),
        {.entity = node[1], .kind = ESPL_WRITE_ROTATE_IN_PARENT},
        write_vector(node[3], ESPL_WRITE_LOCAL_POSITION, 1, 1, 1),
        write_scale(node[1], ESPL_WRITE_MULTIPLY_SCALE, INFINITY),
    };
    static const espl_status why[BAD] = {
        ESPL_ERR_NULL_ENTITY,  ESPL_ERR_DEAD,          ESPL_ERR_FOREIGN,
        ESPL_ERR_NO_TRANSFORM, ESPL_ERR_ARGUMENT,      ESPL_ERR_NOT_FINITE,
        ESPL_ERR_NOT_FINITE,   ESPL_ERR_COPIES_PARENT, ESPL_ERR_NOT_FINITE};
    for (int i = 0; i < BAD; ++i) {
        const float x = (float)(10 + i);
        const espl_write writes[COUNT] = {
            write_vector(node[0], ESPL_WRITE_LOCAL_POSITION, x, 0, 0), bad[i],
            write_vector(solo, ESPL_WRITE_WORLD_POSITION, x, 0, 0), bad[(i + 1) % BAD],
            write_vector(node[2], ESPL_WRITE_WORLD_POSITION, x, 0, 0)};
        espl_write_report report;
        ck_assert_int_eq(espl_write_batch(test.world, writes, COUNT, &report), ESPL_PARTLY);
        ck_report(&report, 3, 0, 2);
        ck_assert_uint_eq(report.first_refused, 1);
        ck_assert_msg(report.first_status == why[i], "entry %d: %s", i,
                      espl_status_name(report.first_status));
        ck_assert_int_eq(espl_write_batch(test.world, writes, COUNT, NULL), ESPL_PARTLY);
        ck_assert(world_x(test.world, node[0]) == x && world_x(test.world, solo) == x);
        ck_assert_float_eq(world_x(test.world, node[2]), x);
    }
    free(node);
    test_world_end(&test);
    test_world_end(&elsewhere);
}
END_TEST

// The first status is that of the first entry, in whichever order the dead stand.
START_TEST(a_batch_of_the_dead_alone_is_refused_whole)
{
    enum { COUNT = 40 };
    espl_write writes[COUNT];
    espl_write_report report;
    test_world test;

    test_world_begin(&test, 3, NULL);
    espl_entity *const node = plant_chain(test.world, COUNT);
    for (int i = 0; i < COUNT; ++i) {
        writes[i] = write_vector(node[i * 3 % COUNT], ESPL_WRITE_LOCAL_POSITION, 1, 1, 1);
    }
    ck_assert_int_eq(espl_destroy(test.world, node[0], ESPL_EXTENT_SUBTREE), ESPL_OK);
    writes[0].entity = espl_entity_null();
    const uint64_t hash = test_physical_hash(test.world);

    ck_assert_int_eq(espl_write_batch(test.world, writes, COUNT, &report), ESPL_PARTLY);
    ck_report(&report, 0, 0, COUNT);
    ck_assert_uint_eq(report.first_refused, 0);
    ck_assert_int_eq(report.first_status, ESPL_ERR_NULL_ENTITY);
    ck_assert_uint_eq(test_physical_hash(test.world), hash);
    free(node);
    test_world_end(&test);
}
END_TEST

// What is refused for its value brings no side arrays, as what is carried out would.
START_TEST(an_entry_with_a_bad_value_takes_no_memory)
{
    test_world test;

    test_world_begin(&test, 3, NULL);
    espl_entity *const node = plant_chain(test.world, 4);
    espl_write write = write_vector(node[1], ESPL_WRITE_STRETCH, 1, 2, NAN);

    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.writes = 1}), ESPL_OK);
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(espl_write_batch(test.world, &write, 1, NULL), ESPL_PARTLY);
    ck_assert_uint_eq(test.heap.calls, 0);
    write.value.stretch[2] = 3;
    ck_assert_int_eq(espl_write_batch(test.world, &write, 1, NULL), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_gt(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}
END_TEST

START_TEST(a_batch_of_nothing_and_one_of_lossy_writes_are_done)
{
    test_world test;
    espl_write_report report;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    memset(&report, 0xA5, sizeof report);
    ck_assert_int_eq(espl_write_batch(test.world, NULL, 0, &report), ESPL_OK);
    ck_report(&report, 0, 0, 0);
    memset(&report, 0xA5, sizeof report);
    ck_assert_int_eq(espl_write_strided(test.world, ESPL_WRITE_LOCAL_POSE, NULL,
                                        sizeof(espl_entity), NULL, sizeof(espl_pose), 0, &report),
                     ESPL_OK);
    ck_report(&report, 0, 0, 0);

    const espl_write writes[3] = {write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 0),
                                  write_vector(node[1], ESPL_WRITE_WORLD_POSITION, 9, 9, 9),
                                  write_vector(node[2], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 1, 1)};
    ck_assert_int_eq(espl_write_batch(test.world, writes, 3, &report), ESPL_LOSSY);
    ck_report(&report, 3, 1, 0);
    ck_assert_float_eq(world_x(test.world, node[1]), 1);

    espl_write bad[3] = {writes[1], writes[2], writes[2]};
    bad[1].entity = espl_entity_null();
    ck_assert_int_eq(espl_write_batch(test.world, bad, 3, &report), ESPL_PARTLY);
    ck_report(&report, 2, 1, 1);
    ck_assert_int_eq(report.first_status, ESPL_ERR_NULL_ENTITY);
    free(node);
    test_world_end(&test);
}
END_TEST

// --- What leaves the range ---

// A batch tells of worlds that it computed and that are not finite, where nothing is refused.
static void ck_done(espl_status status, const espl_write_report *report, size_t applied)
{
    ck_report(report, applied, 0, 0);
    ck_assert_int_eq(status, report->overflowed != 0 ? ESPL_OVERFLOW : ESPL_OK);
}

START_TEST(an_entry_may_make_its_own_world_overflow_but_not_a_stretch)
{
    test_world test;
    espl_write_report report;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    const espl_write writes[5] = {
        write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e20f),
        write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1e20f), // 1e40 under the new parent
        write_vector(node[1], ESPL_WRITE_STRETCH, 1e30f, 1, 1),
        write_vector(node[1], ESPL_WRITE_MULTIPLY_STRETCH, 1e30f, 1, 1),
        write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 2)};
    ck_assert_int_eq(espl_write_batch(test.world, writes, 2, &report), ESPL_OVERFLOW);
    ck_report(&report, 2, 0, 0);
    ck_assert_uint_ge(report.overflowed, 1);
    ck_assert_uint_eq(test_count_overflowed(test.world), 1);
    ck_assert(isinf(test_world_of(test.world, node[2]).scale));
    ck_assert_float_eq(test_local_of(test.world, node[2]).scale, 1e20f);

    const espl_write back = write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1);
    ck_assert_int_eq(espl_write_batch(test.world, &back, 1, &report), ESPL_OK);
    ck_assert_uint_eq(report.overflowed, 0);
    ck_assert_float_eq(test_world_of(test.world, node[2]).scale, 1e20f);
    ck_assert_int_eq(espl_write_batch(test.world, writes + 2, 3, &report), ESPL_PARTLY);
    ck_report(&report, 2, 0, 1);
    ck_assert_uint_eq(report.first_refused, 1);
    ck_assert_int_eq(report.first_status, ESPL_ERR_RANGE);
    ck_assert_float_eq(test_world_of(test.world, node[1]).stretch[0], 1e30f);
    ck_assert_float_eq(test_world_of(test.world, node[2]).scale, 2);
    free(node);
    test_world_end(&test);
}
END_TEST

// In a hierarchy without side arrays, and in one that has them.
START_TEST(an_entry_that_overflows_counts_for_the_later_ones)
{
    for (int has_side = 0; has_side < 2; ++has_side) {
        test_world test;
        espl_write_report report;
        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_chain(test.world, 2);
        const espl_write writes[3] = {write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e10f),
                                      write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1e35f),
                                      write_scale(node[1], ESPL_WRITE_MULTIPLY_SCALE, 1e-30f)};
        if (has_side != 0) {
            ck_assert_int_eq(espl_set_user_data(test.world, node[1], 7), ESPL_OK);
        }
        ck_done(espl_write_batch(test.world, writes, 3, &report), &report, 3);
        ck_assert_float_eq(test_local_of(test.world, node[1]).scale, 1e35f * 1e-30f);
        ck_assert_uint_eq(test_count_overflowed(test.world), 0);
        free(node);
        test_world_end(&test);
    }
}
END_TEST

// Every local part of an entity whose world is not finite may be written, before and behind the entry
// that mends it.
START_TEST(an_entity_whose_world_overflowed_is_written_on)
{
    static const espl_write_kind kinds[4] = {ESPL_WRITE_STRETCH, ESPL_WRITE_MULTIPLY_STRETCH,
                                             ESPL_WRITE_USER_DATA, ESPL_WRITE_TRANSLATE_IN_PARENT};

    for (int i = 0; i < 4; ++i) {
        test_world test;
        espl_write_report report;
        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_chain(test.world, 2);
        const espl_write large = write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1e30f);
        const espl_write writes[4] = {write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                                      write_vector(node[1], kinds[i], 2, 2, 2),
                                      write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1),
                                      write_vector(node[1], kinds[i], 3, 3, 3)};
        ck_assert_int_eq(espl_write_batch(test.world, &large, 1, NULL), ESPL_OK);
        ck_done(espl_write_batch(test.world, writes, 4, &report), &report, 4);
        const espl_transform local = test_local_of(test.world, node[1]);
        ck_assert_float_eq(local.stretch[1], i == 0 ? 3 : i == 1 ? 6 : 1);
        ck_assert_float_eq(local.position[0], i == 3 ? 6 : 1);
        ck_assert_float_eq(test_world_of(test.world, node[1]).scale, 1e30f);
        ck_assert_uint_eq(test_count_overflowed(test.world), 0);
        free(node);
        test_world_end(&test);
    }
}
END_TEST

// The entries stand in order, or one of the child comes first.
START_TEST(an_entity_above_a_world_that_overflows_is_written_twice)
{
    for (size_t child_first = 0; child_first < 2; ++child_first) {
        test_world test;
        espl_write_report report;
        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_chain(test.world, 2);
        const espl_write writes[3] = {write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                                      write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 2),
                                      write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e30f)};
        ck_assert_int_eq(espl_write_batch(test.world, writes, 1, NULL), ESPL_OK);
        ck_assert_int_eq(
            espl_write_batch(test.world, writes + 1 - child_first, 2 + child_first, &report),
            ESPL_OVERFLOW);
        ck_report(&report, 2 + child_first, 0, 0);
        ck_assert_float_eq(test_local_of(test.world, node[0]).scale, 1e30f);
        ck_assert_uint_eq(test_count_overflowed(test.world), 1);

        // Smaller above, it is finite again.
        ck_assert_int_eq(espl_write_batch(test.world, writes + 1, 1, NULL), ESPL_OK);
        ck_assert_float_eq(test_world_of(test.world, node[1]).scale, 2e30f);
        ck_assert_uint_eq(test_count_overflowed(test.world), 0);
        free(node);
        test_world_end(&test);
    }
}
END_TEST

START_TEST(an_entry_may_make_a_world_below_overflow)
{
    // 0{1{2},3}, 4{5}
    static const uint32_t parent[6] = {PLANT_ROOT, 0, 1, 0, PLANT_ROOT, 4};
    test_world test;
    espl_write_report report;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_forest(test.world, parent, 6);
    const espl_write large = write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1e30f);
    ck_assert_int_eq(espl_write_batch(test.world, &large, 1, NULL), ESPL_OK);

    const espl_write writes[4] = {write_vector(node[3], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e10f),
                                  write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, 4, 0, 0),
                                  write_scale(node[4], ESPL_WRITE_LOCAL_SCALE, 1e10f)};
    ck_assert_int_eq(espl_write_batch(test.world, writes, 4, &report), ESPL_OVERFLOW);
    ck_report(&report, 4, 0, 0);
    ck_assert_uint_eq(test_count_overflowed(test.world), 1);
    ck_assert(isinf(test_world_of(test.world, node[2]).scale));
    ck_assert_float_eq(world_x(test.world, node[3]), 2e10f);
    ck_assert_float_eq(world_x(test.world, node[1]), 4e10f);
    ck_assert_float_eq(test_world_of(test.world, node[5]).scale, 1e10f);

    // Unless a write to that one makes good what the entry above would break.
    const espl_write mended[2] = {writes[1], write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1)};
    ck_assert_int_eq(espl_write_batch(test.world, mended, 2, &report), ESPL_OK);
    ck_assert_float_eq(test_world_of(test.world, node[2]).scale, 1e10f);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);
    free(node);
    test_world_end(&test);
}
END_TEST

// From below a world that is not finite no place in the world can be seen.
START_TEST(an_entry_in_world_axes_below_a_world_that_overflows_is_refused_alone)
{
    test_world test;
    espl_write_report report;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    const espl_write writes[4] = {write_vector(node[2], ESPL_WRITE_WORLD_POSITION, 1, 2, 3),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                                  write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, 1e30f, 0, 0),
                                  write_vector(node[2], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0)};
    ck_assert_int_eq(espl_write_batch(test.world, writes, 4, &report), ESPL_PARTLY);
    ck_report(&report, 3, 0, 1);
    ck_assert_uint_eq(report.first_refused, 0);
    ck_assert_int_eq(report.first_status, ESPL_ERR_RANGE);
    ck_assert_uint_ge(report.overflowed, 2);
    ck_assert_uint_eq(test_count_overflowed(test.world), 2);
    ck_assert_float_eq(test_local_of(test.world, node[2]).position[0], 2);

    ck_assert_int_eq(espl_set_local_scale(test.world, node[0], 1), ESPL_OK);
    ck_assert_float_eq(world_x(test.world, node[1]), 1e30f);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);
    free(node);
    test_world_end(&test);
}
END_TEST

// In one batch a world is made so large that another cannot hold it small.
START_TEST(a_hierarchy_that_overflows_comes_back)
{
    // 0{1{2},3{4}}, 5
    static const uint32_t parent[6] = {PLANT_ROOT, 0, 1, 0, 3, PLANT_ROOT};
    test_world test;
    espl_write_report report;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_forest(test.world, parent, 6);
    const espl_write first[2] = {write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1e36f),
                                 write_scale(node[4], ESPL_WRITE_LOCAL_SCALE, 1e30f)};
    ck_assert_int_eq(espl_write_batch(test.world, first, 2, NULL), ESPL_OK);

    espl_write writes[5] = {write_vector(node[5], ESPL_WRITE_LOCAL_POSITION, 8, 0, 0),
                            write_scale(node[3], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                            write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1e38f),
                            write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e-30f),
                            write_vector(node[2], ESPL_WRITE_TRANSLATE_IN_PARENT, 0, 1, 0)};
    writes[4].entity = espl_entity_null();
    ck_assert_int_eq(espl_write_batch(test.world, writes, 5, &report), ESPL_PARTLY);
    ck_report(&report, 4, 0, 1);
    ck_assert_uint_eq(report.first_refused, 4);
    ck_assert_int_eq(report.first_status, ESPL_ERR_NULL_ENTITY);
    ck_assert_uint_ge(report.overflowed, 1);
    ck_assert_float_eq(world_x(test.world, node[5]), 8);
    ck_assert_float_eq_tol(test_world_of(test.world, node[4]).scale, 1e30f, 1e24f);
    ck_assert(isinf(test_world_of(test.world, node[2]).scale));
    ck_assert_uint_eq(test_count_overflowed(test.world), 1);

    const espl_write back = write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1);
    ck_assert_int_eq(espl_write_batch(test.world, &back, 1, &report), ESPL_OK);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);
    ck_assert_float_eq(test_world_of(test.world, node[2]).scale, 1e36f * 1e-30f);
    free(node);
    test_world_end(&test);
}
END_TEST

static Suite *batch_suite(void)
{
    Suite *const suite = suite_create("batch");
    TCase *const counters = tcase_create("counters"), *const order = tcase_create("order"),
                 *const refusals = tcase_create("refusals"),
                 *const overflow = tcase_create("overflow");

    tcase_set_timeout(counters, 120);
    tcase_add_test(counters, as_many_writes_as_a_chain_has_nodes_visit_a_node_once_or_twice);
    tcase_add_test(counters, writes_over_many_hierarchies_visit_what_hangs_below_each);
    tcase_add_test(counters, writes_of_equal_values_visit_nothing);
    tcase_add_test(counters, a_node_that_keeps_everything_cuts_off_what_hangs_below);
    suite_add_tcase(suite, counters);
    tcase_add_test(order, writes_to_one_entity_are_carried_out_in_the_order_of_the_array);
    tcase_add_test(order, each_of_many_writes_to_one_entity_counts_though_all_are_of_one_kind);
    tcase_add_test(order, a_batch_is_its_writes_one_by_one_parents_first);
    tcase_add_test(order, every_order_of_writes_to_different_entities_gives_the_same_worlds);
    tcase_add_test(order, a_write_in_world_axes_sees_where_its_parent_has_come_to);
    suite_add_tcase(suite, order);
    tcase_add_test(refusals, a_bad_entry_is_refused_alone_and_told);
    tcase_add_test(refusals, a_batch_of_the_dead_alone_is_refused_whole);
    tcase_add_test(refusals, an_entry_with_a_bad_value_takes_no_memory);
    tcase_add_test(refusals, a_batch_of_nothing_and_one_of_lossy_writes_are_done);
    suite_add_tcase(suite, refusals);
    tcase_add_test(overflow, an_entry_may_make_its_own_world_overflow_but_not_a_stretch);
    tcase_add_test(overflow, an_entry_that_overflows_counts_for_the_later_ones);
    tcase_add_test(overflow, an_entity_whose_world_overflowed_is_written_on);
    tcase_add_test(overflow, an_entity_above_a_world_that_overflows_is_written_twice);
    tcase_add_test(overflow, an_entry_may_make_a_world_below_overflow);
    tcase_add_test(overflow, an_entry_in_world_axes_below_a_world_that_overflows_is_refused_alone);
    tcase_add_test(overflow, a_hierarchy_that_overflows_comes_back);
    suite_add_tcase(suite, overflow);
    return suite;
}

RUN_SUITE(batch_suite)

// SPDX-License-Identifier: MIT
// Batches of writes: the result for any order of the entries, refused entries, and the number of
// visited nodes.
#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/one_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ck_report(const espl_write_report *report, size_t applied, size_t lossy, size_t refused)
{
    ck_assert_uint_eq(report->applied, applied);
    ck_assert_uint_eq(report->lossy, lossy);
    ck_assert_uint_eq(report->refused, refused);
}

static float world_x(espl_entity entity)
{
    return test_world_of(w, entity).position[0];
}

// --- What is visited ---

FIXTURE(set_up, end);

// Every node once, however long the chain, and where entries are in world axes once more for each:
// two kinds, each in a random order.
TEST_LOOP(as_many_writes_as_a_chain_has_nodes_visit_a_node_once_or_twice, 0, 3)
{
    const uint32_t count = test_fitting(_i == 2 ? test_scaled(100000) : 1000 * (size_t)(_i + 1), 0);
    static const espl_write_kind kinds[2] = {ESPL_WRITE_TRANSLATE_IN_PARENT,
                                             ESPL_WRITE_TRANSLATE_WORLD};
    uint64_t random = count;

    node = make_chain(w, count);
    espl_write *const writes = test_array(count, sizeof *writes);
    for (int round = 0; round < 2; ++round) {
        espl_write_report report;
        for (uint32_t i = 0; i < count; ++i) {
            writes[i] = write_vector(node[i], kinds[round], 1, 0, 0);
        }
        shuffle_writes(writes, count, &random);
        const espl_world_stats before = test_stats(w);
        ck_ok(espl_write_batch(w, writes, count, &report));
        const espl_world_stats after = test_stats(w);

        ck_report(&report, count, 0, 0);
        ck_assert_uint_ge(after.nodes_visited - before.nodes_visited, count);
        ck_assert_uint_le(after.nodes_visited - before.nodes_visited,
                          (1 + (uint64_t)round) * count);
        ck_assert_uint_eq(after.writes - before.writes, count);
        ck_assert_uint_eq(after.nodes_skipped, before.nodes_skipped);
        for (uint32_t i = 0; i < count; i += count / 50) {
            ck_assert_float_eq(world_x(node[i]), (float)((i + 1) * (2u + (uint32_t)round)));
        }
    }
    free(writes);
}

// A{B{C},D} many times, and solos: each write visits its node and what hangs below.
TEST(writes_over_many_hierarchies_visit_what_hangs_below_each)
{
    const uint32_t trees = test_fitting(2000 * 5, 0) / 5, nodes = trees * 5;
    static const uint64_t below[5] = {4, 2, 1, 1, 1};
    uint32_t *const parent = test_array(nodes, sizeof *parent);
    espl_write *const writes = test_array(nodes, sizeof *writes);
    uint64_t random = 3, visits = 0;
    size_t count = 0;

    for (uint32_t i = 0; i < nodes; i += 5) {
        parent[i] = parent[i + 4] = NO_PARENT;
        parent[i + 1] = parent[i + 3] = i;
        parent[i + 2] = i + 1;
    }
    node = make_forest(w, parent, nodes);
    for (uint32_t i = 0; i < trees; ++i) {
        const uint32_t at = i % 5;
        writes[count++] = write_vector(node[i * 5 + at], ESPL_WRITE_WORLD_POSITION, 5, (float)i, 6);
        visits += below[at];
    }
    shuffle_writes(writes, count, &random);
    const espl_world_stats before = test_stats(w);
    ck_ok(espl_write_batch(w, writes, count, NULL));
    ck_assert_uint_eq(test_stats(w).nodes_visited - before.nodes_visited, visits);
    ck_assert_uint_eq(test_stats(w).writes - before.writes, trees);
    for (uint32_t i = 0; i < trees; ++i) {
        const espl_transform placed = test_world_of(w, node[i * 5 + i % 5]);
        ck_assert(placed.position[0] == 5 && placed.position[1] == (float)i);
    }
    free(parent);
    free(writes);
}

// In a hierarchy that is not laid out, the node that keeps its place is looked at, and what hangs below it
// is not. A leaf in front of the chain takes a slot behind it, so that the layout is lost.
TEST(a_node_that_keeps_everything_cuts_off_what_hangs_below)
{
    enum { WRITTEN = 1, KEEPER = 2 };
    const uint32_t count = test_fitting(100, 1); // and the leaf
    const uint32_t all = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE;

    node = make_chain(w, count);
    const espl_attach_options first = {.before = node[WRITTEN]};
    ck_ok(espl_attach(w, test_solo(w), node[0], &first));
    ck_ok(espl_set_inherit(w, node[KEEPER], all));
    for (int is_batch = 0; is_batch < 2; ++is_batch) {
        const espl_write write = write_vector(node[WRITTEN], ESPL_WRITE_TRANSLATE_WORLD, 0, 1, 0);
        const espl_world_stats before = test_stats(w);
        ck_ok(form_write(w, &write, is_batch ? FORM_BATCH : FORM_FUNCTION));
        const espl_world_stats after = test_stats(w);
        ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 2);
        ck_assert_uint_eq(after.nodes_skipped, before.nodes_skipped + 1);
        ck_assert_float_eq(world_x(node[count - 1]), (float)count);
    }
}

// --- Order ---

// One node has so many entries that one of them leaves what the first found. All stand in order, or
// one of a child comes first.
TEST_LOOP(each_of_many_writes_to_one_entity_counts_though_all_are_of_one_kind, 0, 2)
{
    enum { COUNT = 6 };
    static const float x[COUNT] = {5, 1, 7, 1, 1, 9}; // it stands at 1
    const uint32_t child_first = (uint32_t)_i;
    espl_write writes[COUNT + 1];

    node = make_chain(w, 3);
    for (uint32_t i = 0; i < COUNT; ++i) {
        writes[child_first + i] = write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, x[i], 0, 0);
    }
    writes[child_first != 0 ? 0 : COUNT] =
        write_vector(node[2], ESPL_WRITE_LOCAL_POSITION, 5, 0, 0);
    const espl_world_stats before = test_stats(w);
    ck_ok(espl_write_batch(w, writes, COUNT + 1, NULL));
    const espl_world_stats after = test_stats(w);
    ck_assert_uint_eq(after.writes, before.writes + COUNT);
    ck_assert_uint_eq(after.writes_skipped, before.writes_skipped + 1);
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 2);
    ck_assert_float_eq(world_x(node[1]), 10);
    ck_assert_float_eq(world_x(node[2]), 15);
}

TEST(every_order_of_writes_to_different_entities_gives_the_same_worlds)
{
    enum { COUNT = 6, ORDERS = 720 };
    static const uint32_t parent[COUNT + 2] = {NO_PARENT, 0, 1, 0, NO_PARENT, 4, 5, NO_PARENT};
    static const uint32_t target[COUNT] = {0, 1, 2, 4, 6, 7};
    uint64_t random = 10, expected = 0;
    espl_write writes[COUNT];

    node = make_forest(w, parent, COUNT + 2);
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
        ck_ok(espl_write_batch(w, ordered, COUNT, NULL));
        const uint64_t hash = test_physical_hash(w);
        expected = number == 0 ? hash : expected;
        ck_assert_msg(hash == expected, "order %u", number);
        for (int i = 0; i < COUNT + 2; ++i) {
            const espl_transform step = test_at(1, 0, 0);
            ck_ok(espl_set_local_transform(w, node[i], &step));
        }
    }
}

// Trees one after the other, each in an order of its own; then also one entity twice, or the trees
// the other way round.
TEST_LOOP(parts_of_locals_come_to_what_calls_come_to, 0, 9)
{
    enum { TREES = 5, NODES = 12, COUNT = TREES * NODES };
    static const espl_write_kind kinds[3] = {ESPL_WRITE_LOCAL_POSITION, ESPL_WRITE_LOCAL_ROTATION,
                                             ESPL_WRITE_LOCAL_SCALE};
    const espl_write_kind kind = kinds[_i % 3];
    uint64_t random = (uint64_t)_i + 1;
    espl_write writes[COUNT];
    espl_write_report report, alone;
    test_world called;
    size_t refused = 0;

    test_world_begin(&called, 0, NULL);
    node = make_trees(w, TREES, NODES, 3);
    espl_entity *const same = make_trees(called.world, TREES, NODES, 3);
    for (uint32_t i = 0; i < COUNT; ++i) {
        const uint32_t from = _i / 3 == 2 ? COUNT / NODES - 1 - i / NODES : i / NODES;
        writes[i] = write_ordinary(node[from * NODES + i % NODES], kind, &random);
        writes[i].value.rotation[0] *= i % 11 == 3 ? 2 : 1;
        writes[i].value.rotation[i % 3] =
            i % 13 == 5 && i % 3 == 0 ? NAN : writes[i].value.rotation[i % 3];
    }
    for (uint32_t tree = 0; tree < TREES; ++tree) {
        shuffle_writes(writes + (size_t)tree * NODES, NODES, &random);
    }
    writes[23].entity = _i / 3 == 1 ? writes[14].entity : writes[23].entity;
    for (int round = 0; round < 2; ++round) {
        // In the second round each write finds its value.
        ck_assert_int_ge(espl_write_batch(w, writes, COUNT, &report), ESPL_OK);
        refused = 0;
        for (uint32_t i = 0; i < COUNT; ++i) {
            espl_write one = writes[i];
            uint32_t at = 0;
            while (!espl_entity_equal(node[at], one.entity)) {
                ++at;
            }
            one.entity = same[at];
            ck_assert_int_ge(espl_write_batch(called.world, &one, 1, &alone), ESPL_OK);
            refused += alone.refused;
        }
        ck_assert_uint_eq(report.refused, refused);
        ck_assert_uint_gt(refused, 0);
        ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(called.world));
    }
    free(same);
    test_world_end(&called);
}

TEST(a_write_in_world_axes_sees_where_its_parent_has_come_to)
{
    node = make_chain(w, 3);
    const espl_write writes[3] = {
        write_vector(node[2], ESPL_WRITE_WORLD_POSITION, 50, 0, 0),
        write_vector(node[1], ESPL_WRITE_TRANSLATE_WORLD, 10, 0, 0),
        write_vector(node[0], ESPL_WRITE_TRANSLATE_IN_PARENT, 100, 0, 0),
    };
    ck_ok(espl_write_batch(w, writes, 3, NULL));
    ck_assert_float_eq(world_x(node[0]), 101);
    ck_assert_float_eq(world_x(node[1]), 112);
    ck_assert_float_eq(world_x(node[2]), 50);
    ck_assert_float_eq(test_local_of(w, node[2]).position[0], -62);
}

// --- Refusals ---

// The first status is that of the first entry, in whichever order the dead stand.
TEST(a_batch_of_the_dead_alone_is_refused_whole)
{
    enum { COUNT = 40 };
    espl_write writes[COUNT];
    espl_write_report report;

    node = make_chain(w, COUNT);
    for (int i = 0; i < COUNT; ++i) {
        writes[i] = write_vector(node[i * 3 % COUNT], ESPL_WRITE_LOCAL_POSITION, 1, 1, 1);
    }
    ck_ok(espl_destroy(w, node[0], ESPL_EXTENT_SUBTREE));
    writes[0].entity = espl_entity_null();
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_write_batch(w, writes, COUNT, &report), ESPL_PARTLY);
    ck_report(&report, 0, 0, COUNT);
    ck_assert_uint_eq(report.first_refused, 0);
    ck_status(report.first_status, ESPL_ERR_NULL_ENTITY);
    ck_assert_uint_eq(test_physical_hash(w), hash);
}

// What is refused for its value brings no side arrays, as what is carried out would.
TEST(an_entry_with_a_bad_value_takes_no_memory)
{
    node = make_chain(w, 4);
    espl_write write = write_vector(node[1], ESPL_WRITE_STRETCH, 1, 2, NAN);

    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = 1}));
    test_heap_arm(&test.heap, 1, true);
    ck_status(espl_write_batch(w, &write, 1, NULL), ESPL_PARTLY);
    ck_assert_uint_eq(test.heap.calls, 0);
    write.value.stretch[2] = 3;
    ck_status(espl_write_batch(w, &write, 1, NULL), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_gt(test.heap.calls, 0);
}

TEST(a_batch_of_nothing_and_one_of_lossy_writes_are_done)
{
    espl_write_report report;

    node = make_chain(w, 3);
    memset(&report, 0xA5, sizeof report);
    ck_ok(espl_write_batch(w, NULL, 0, &report));
    ck_report(&report, 0, 0, 0);
    memset(&report, 0xA5, sizeof report);
    ck_ok(espl_write_strided(w, ESPL_WRITE_LOCAL_POSE, NULL, 0, sizeof(espl_entity), NULL,
                             sizeof(espl_pose), &report));
    ck_report(&report, 0, 0, 0);

    const espl_write writes[3] = {write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 0),
                                  write_vector(node[1], ESPL_WRITE_WORLD_POSITION, 9, 9, 9),
                                  write_vector(node[2], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 1, 1)};
    ck_status(espl_write_batch(w, writes, 3, &report), ESPL_LOSSY);
    ck_report(&report, 3, 1, 0);
    ck_assert_float_eq(world_x(node[1]), 1);

    espl_write bad[3] = {writes[1], writes[2], writes[2]};
    bad[1].entity = espl_entity_null();
    ck_status(espl_write_batch(w, bad, 3, &report), ESPL_PARTLY);
    ck_report(&report, 2, 1, 1);
    ck_status(report.first_status, ESPL_ERR_NULL_ENTITY);
}

// --- What leaves the range ---

TEST(an_entry_may_make_its_own_world_overflow_but_not_a_stretch)
{
    espl_write_report report;

    node = make_chain(w, 3);
    const espl_write writes[5] = {
        write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e20f),
        write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1e20f), // 1e40 under the new parent
        write_vector(node[1], ESPL_WRITE_STRETCH, 1e30f, 1, 1),
        write_vector(node[1], ESPL_WRITE_MULTIPLY_STRETCH, 1e30f, 1, 1),
        write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 2)};
    ck_status(espl_write_batch(w, writes, 2, &report), ESPL_OVERFLOW);
    ck_report(&report, 2, 0, 0);
    ck_assert(report.has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(w), 1);
    ck_assert(isinf(test_world_of(w, node[2]).scale));
    ck_assert_float_eq(test_local_of(w, node[2]).scale, 1e20f);

    const espl_write back = write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1);
    ck_ok(espl_write_batch(w, &back, 1, &report));
    ck_assert(!report.has_overflowed);
    ck_assert_float_eq(test_world_of(w, node[2]).scale, 1e20f);
    ck_status(espl_write_batch(w, writes + 2, 3, &report), ESPL_PARTLY);
    ck_report(&report, 2, 0, 1);
    ck_assert_uint_eq(report.first_refused, 1);
    ck_status(report.first_status, ESPL_ERR_RANGE);
    ck_assert_float_eq(test_world_of(w, node[1]).stretch[0], 1e30f);
    ck_assert_float_eq(test_world_of(w, node[2]).scale, 2);
}

// The entries stand in order, or one of the child comes first.
TEST_LOOP(an_entity_above_a_world_that_overflows_is_written_twice, 0, 2)
{
    const size_t child_first = (size_t)_i;
    espl_write_report report;

    node = make_chain(w, 2);
    const espl_write writes[3] = {write_scale(node[1], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 2),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e30f)};
    ck_ok(espl_write_batch(w, writes, 1, NULL));
    ck_status(espl_write_batch(w, writes + 1 - child_first, 2 + child_first, &report),
              ESPL_OVERFLOW);
    ck_report(&report, 2 + child_first, 0, 0);
    ck_assert_float_eq(test_local_of(w, node[0]).scale, 1e30f);
    ck_assert_uint_eq(test_count_overflowed(w), 1);

    // Smaller above, it is finite again.
    ck_ok(espl_write_batch(w, writes + 1, 1, NULL));
    ck_assert_float_eq(test_world_of(w, node[1]).scale, 2e30f);
    ck_assert_uint_eq(test_count_overflowed(w), 0);
}

TEST(an_entry_may_make_a_world_below_overflow)
{
    // 0{1{2},3}, 4{5}
    static const uint32_t parent[6] = {NO_PARENT, 0, 1, 0, NO_PARENT, 4};
    espl_write_report report;

    node = make_forest(w, parent, 6);
    const espl_write large = write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1e30f);
    ck_ok(espl_write_batch(w, &large, 1, NULL));

    const espl_write writes[4] = {write_vector(node[3], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e10f),
                                  write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, 4, 0, 0),
                                  write_scale(node[4], ESPL_WRITE_LOCAL_SCALE, 1e10f)};
    ck_status(espl_write_batch(w, writes, 4, &report), ESPL_OVERFLOW);
    ck_report(&report, 4, 0, 0);
    ck_assert_uint_eq(test_count_overflowed(w), 1);
    ck_assert(isinf(test_world_of(w, node[2]).scale));
    ck_assert_float_eq(world_x(node[3]), 2e10f);
    ck_assert_float_eq(world_x(node[1]), 4e10f);
    ck_assert_float_eq(test_world_of(w, node[5]).scale, 1e10f);

    // Unless a write to that one makes good what the entry above would break.
    const espl_write mended[2] = {writes[1], write_scale(node[2], ESPL_WRITE_LOCAL_SCALE, 1)};
    ck_ok(espl_write_batch(w, mended, 2, &report));
    ck_assert_float_eq(test_world_of(w, node[2]).scale, 1e10f);
    ck_assert_uint_eq(test_count_overflowed(w), 0);
}

// From below a world that is not finite no place in the world can be seen.
TEST(an_entry_in_world_axes_below_a_world_that_overflows_is_refused_alone)
{
    espl_write_report report;

    node = make_chain(w, 3);
    const espl_write writes[4] = {write_vector(node[2], ESPL_WRITE_WORLD_POSITION, 1, 2, 3),
                                  write_scale(node[0], ESPL_WRITE_LOCAL_SCALE, 1e30f),
                                  write_vector(node[1], ESPL_WRITE_LOCAL_POSITION, 1e30f, 0, 0),
                                  write_vector(node[2], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0)};
    ck_status(espl_write_batch(w, writes, 4, &report), ESPL_PARTLY);
    ck_report(&report, 3, 0, 1);
    ck_assert_uint_eq(report.first_refused, 0);
    ck_status(report.first_status, ESPL_ERR_RANGE);
    ck_assert(report.has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(w), 2);
    ck_assert_float_eq(test_local_of(w, node[2]).position[0], 2);

    ck_ok(espl_set_local_scale(w, node[0], 1));
    ck_assert_float_eq(world_x(node[1]), 1e30f);
    ck_assert_uint_eq(test_count_overflowed(w), 0);
}

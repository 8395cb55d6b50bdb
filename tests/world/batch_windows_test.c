// SPDX-License-Identifier: MIT
// Batches of more entries than are looked up at once. The entries of a hierarchy lie together, or come
// back after many others; handles that name nothing are between them. Worlds and accounts are those of
// single writes, and no executor changes a bit.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/inside.h"
#include "tests/runner.h"

#include <math.h>

// More than two times what is looked up at once. In a large world a tree has about two entries for each
// node, in a tiny one very many.
enum { TREES = 6, NODES_MOST = 4000, ENTRIES = 3 * 16384 + 100, WORLDS = 3 };

typedef struct entry {
    espl_entity entity;
    espl_write_value value;
} entry;

typedef struct windows {
    test_world worlds[WORLDS]; // serial, on an executor, by single writes
    espl_entity *nodes[WORLDS];
    uint32_t size; // of a tree
    test_executor busy;
    uint32_t *numbers; // [ENTRIES] of the nodes; a number from `dead` on names nothing
    entry *entries;    // [ENTRIES]
    uint32_t dead;
    uint64_t random;
} windows;

static windows w;

static void begin(test_manner manner)
{
    w.size = test_fitting((size_t)TREES * NODES_MOST, 1) / TREES;
    w.dead = TREES * w.size;
    w.busy = (test_executor){.manner = manner, .workers = 3, .random = 5};
    w.random = 7;
    const espl_executor executor = test_executor_of(&w.busy);

    for (uint32_t k = 0; k < WORLDS; ++k) {
        test_world_begin(&w.worlds[k], 1, k == 1 ? &executor : NULL);
        w.nodes[k] = make_trees(w.worlds[k].world, TREES, w.size, 3);
    }
    test_cut_jobs(w.worlds[1].world, 64);
    w.numbers = test_array(ENTRIES, sizeof *w.numbers);
    w.entries = test_array(ENTRIES, sizeof *w.entries);
}

static void end(void)
{
    for (uint32_t k = 0; k < WORLDS; ++k) {
        free(w.nodes[k]);
        test_world_end(&w.worlds[k]);
    }
    free(w.numbers);
    free(w.entries);
}

// --- Orders ---

// A node of the tree that entry i of `count` writes to where the trees come one after the other.
static uint32_t node_in_turn(uint32_t i, uint32_t count)
{
    const uint32_t tree = (uint32_t)((uint64_t)i * TREES / count);

    return tree * w.size + (uint32_t)test_below(&w.random, w.size);
}

typedef enum order {
    TREES_IN_TURN,
    TREES_IN_TURN_WITH_GAPS,
    FIRST_TREES_COME_BACK,
    ONE_TREE_COMES_FIRST,
    BEGINS_IN_THE_MIDDLE,
    NOTHING_BUT_GAPS_FIRST,
    IN_ORDER, // each node in order of the slots, so that nothing is sorted
    ORDERS
} order;

static uint32_t number_of(order how, uint32_t i)
{
    switch (how) {
    case TREES_IN_TURN_WITH_GAPS:
        return i % 5000 == 4999 ? w.dead : node_in_turn(i, ENTRIES);
    case FIRST_TREES_COME_BACK:
        return node_in_turn(i % (ENTRIES / 2), ENTRIES / 2);
    case ONE_TREE_COMES_FIRST:
        return i < ENTRIES / 2 ? (uint32_t)test_below(&w.random, w.size) : node_in_turn(i, ENTRIES);
    case BEGINS_IN_THE_MIDDLE:
        return node_in_turn((i + ENTRIES / 2) % ENTRIES, ENTRIES);
    case NOTHING_BUT_GAPS_FIRST:
        return i < 20000 ? w.dead : node_in_turn(i - 20000, ENTRIES - 20000);
    case IN_ORDER:
        return (uint32_t)((uint64_t)i * w.dead / ENTRIES);
    default:
        return node_in_turn(i, ENTRIES);
    }
}

static void order_entries(order how)
{
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        w.numbers[i] = number_of(how, i);
    }
}

// --- Writing ---

static espl_write_value value_for(espl_write_kind kind, uint32_t i)
{
    const espl_write one = write_ordinary(w.nodes[0][0], kind, &w.random);
    espl_write_value value = one.value;

    if (kind != ESPL_WRITE_LOCAL_SCALE && i % 997 == 3) {
        value.rotation[0] = NAN; // or the first coordinate of a position
    }
    return value;
}

static espl_status write_at_once(uint32_t k, espl_write_kind kind, espl_write_report *report)
{
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        const uint32_t number = w.numbers[i];
        w.entries[i].entity = number < w.dead ? w.nodes[k][number] : (espl_entity){0};
    }
    return espl_write_strided(w.worlds[k].world, kind, &w.entries[0].entity, ENTRIES, sizeof(entry),
                              &w.entries[0].value, sizeof(entry), report);
}

static void write_one_by_one(espl_write_kind kind, espl_write_report *report)
{
    *report = (espl_write_report){0};
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        const uint32_t number = w.numbers[i];
        const espl_entity entity = number < w.dead ? w.nodes[2][number] : (espl_entity){0};
        const espl_status status =
            espl_write_one(w.worlds[2].world, entity, kind, &w.entries[i].value);

        if (status >= 0) {
            report->applied += 1;
        } else if (report->refused++ == 0) {
            report->first_refused = i;
            report->first_status = status;
        }
    }
}

static void worlds_are_the_same(void)
{
    for (uint32_t i = 0; i < w.dead; ++i) {
        const espl_transform a = test_world_of(w.worlds[0].world, w.nodes[0][i]);
        const espl_transform b = test_world_of(w.worlds[2].world, w.nodes[2][i]);

        ck_assert_msg(test_same(&a, &b), "node %u", i);
    }
    ck_assert_uint_eq(test_physical_hash(w.worlds[0].world), test_physical_hash(w.worlds[1].world));
    const espl_world_stats serial = test_stats(w.worlds[0].world);
    const espl_world_stats busy = test_stats(w.worlds[1].world);
    ck_assert_uint_eq(serial.writes, busy.writes);
    ck_assert_uint_eq(serial.writes_skipped, busy.writes_skipped);
    ck_assert_uint_eq(serial.nodes_visited, busy.nodes_visited);
}

TEST_LOOP(a_batch_of_several_windows_comes_to_what_calls_come_to, 0, 4 * ORDERS)
{
    static const espl_write_kind kinds[4] = {ESPL_WRITE_LOCAL_POSE, ESPL_WRITE_LOCAL_POSITION,
                                             ESPL_WRITE_LOCAL_ROTATION,
                                             ESPL_WRITE_TRANSLATE_IN_PARENT};
    const espl_write_kind kind = kinds[_i % 4];
    espl_write_report serial, busy, single;

    begin((test_manner)(TEST_IN_ORDER + _i % 3));
    order_entries((order)(_i / 4));
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        w.entries[i].value = value_for(kind, i);
    }
    ck_status(write_at_once(0, kind, &serial), ESPL_PARTLY);
    ck_status(write_at_once(1, kind, &busy), ESPL_PARTLY);
    write_one_by_one(kind, &single);
    ck_assert_uint_eq(serial.applied, single.applied);
    ck_assert_uint_eq(serial.refused, single.refused);
    ck_assert_uint_eq(serial.first_refused, single.first_refused);
    ck_assert_int_eq(serial.first_status, single.first_status);
    ck_assert_mem_eq(&serial, &busy, sizeof serial);
    worlds_are_the_same();
    for (uint32_t k = 0; k < WORLDS; ++k) {
        test_world_is_valid(w.worlds[k].world);
    }
    end();
}

// The first trees are written again at the end of a batch.
TEST(the_last_entry_of_a_node_prevails_over_windows)
{
    espl_write_report report;

    begin(TEST_IN_ORDER);
    order_entries(FIRST_TREES_COME_BACK);
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        w.entries[i].value.scale = 1 + (float)i / ENTRIES;
    }
    for (uint32_t k = 0; k < 2; ++k) {
        ck_ok(write_at_once(k, ESPL_WRITE_LOCAL_SCALE, &report));
        ck_assert_uint_eq(report.applied, ENTRIES);
    }
    for (uint32_t number = 0; number < w.dead; number += 1 + w.dead / 100) {
        uint32_t last = ENTRIES;

        while (last != 0 && w.numbers[last - 1] != number) {
            --last;
        }
        const espl_transform local = test_local_of(w.worlds[0].world, w.nodes[0][number]);
        ck_assert_float_eq(local.scale, last == 0 ? 1 : 1 + (float)(last - 1) / ENTRIES);
    }
    end();
}

// In a batch parents come first, also where the entry of a child is the first one and that of its root
// the last: a world position stays, and of a child that keeps its rotation a local one is told by the
// new rotation of the root.
TEST_LOOP(a_child_stays_where_a_long_batch_puts_it, 0, 2)
{
    const espl_write_kind kind = _i == 0 ? ESPL_WRITE_WORLD_POSITION : ESPL_WRITE_LOCAL_ROTATION;

    begin(TEST_IN_ORDER);
    order_entries(IN_ORDER);
    w.numbers[0] = 1;
    w.numbers[ENTRIES - 1] = 0;
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        w.entries[i].value = write_ordinary(w.nodes[0][0], kind, &w.random).value;
        if (i != 0 && i != ENTRIES - 1 && w.numbers[i] <= 1) {
            w.numbers[i] = 2;
        }
    }
    for (uint32_t k = 0; k < WORLDS; ++k) {
        const espl_entity child = w.nodes[k][1];

        if (_i == 1) {
            ck_ok(espl_set_inherit(w.worlds[k].world, child, ESPL_ABSOLUTE_ROTATION));
        }
        if (k < 2) {
            ck_ok(write_at_once(k, kind, NULL));
        } else {
            const espl_entity root = w.nodes[k][0];
            ck_ok(espl_write_one(w.worlds[k].world, root, kind, &w.entries[ENTRIES - 1].value));
            ck_ok(espl_write_one(w.worlds[k].world, child, kind, &w.entries[0].value));
        }
        const espl_transform here = test_world_of(w.worlds[k].world, child);
        const espl_transform first = test_world_of(w.worlds[0].world, w.nodes[0][1]);
        ck_assert(test_same(&here, &first));
    }
    end();
}

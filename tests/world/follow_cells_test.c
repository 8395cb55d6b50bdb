// SPDX-License-Identifier: MIT
// Cells of counterparts: a follow gives roots the cells of their originals, in worlds of one size of cells and of
// two, and brings the positions of world transforms to the cells of hierarchies.
#include "tests/fixture.h"
#include "tests/runner.h"

#include <espalier/counterpart.h>
#include <espalier/far.h>

#include <math.h>
#include <string.h>

enum { NODES = 40 };

/// Two worlds: originals, a watch of them, and the world that follows.
typedef struct following {
    test_world test[2];
    espl_world *from, *to;
    espl_watch *watch;
    espl_entity originals[NODES], counterparts[NODES];
    uint32_t parents[NODES]; // NODES: none
    uint64_t random;
} following;

/// @param kind  besides cells.
static void begin(following *f, float from_size, float to_size, uint32_t kind)
{
    *f = (following){.random = 7};
    test_world_cells(from_size);
    test_world_begin(&f->test[0], 2, NULL);
    test_world_cells(to_size);
    test_world_begin(&f->test[1], 1, NULL);
    test_world_cells(0);
    f->from = f->test[0].world;
    f->to = f->test[1].world;
    ck_ok(
        espl_watch_create(f->from, &(espl_watch_def){.flags = kind | ESPL_WATCH_CELL}, &f->watch));
}

static void end(following *f)
{
    test_world_is_valid(f->from);
    test_world_is_valid(f->to);
    espl_watch_destroy(f->watch);
    test_world_end(&f->test[0]);
    test_world_end(&f->test[1]);
}

/// A pair of entities, below other pairs or at the top.
static void add_pair(following *f, uint32_t number, uint32_t parent)
{
    f->parents[number] = parent;
    f->originals[number] = test_solo(f->from);
    f->counterparts[number] = test_solo(f->to);
    ck_ok(espl_set_counterpart(f->to, f->counterparts[number], f->originals[number]));
    if (parent != NODES) {
        ck_ok(espl_attach(f->from, f->originals[number], f->originals[parent], &test_keep_local));
        ck_ok(
            espl_attach(f->to, f->counterparts[number], f->counterparts[parent], &test_keep_local));
    }
}

static espl_status follow_once(following *f, espl_follow_kind kind, espl_follow_report *report)
{
    espl_changes changes;

    ck_ok(espl_watch_collect(f->watch, 0, &changes));
    return espl_follow(f->to, &changes, &(espl_follow_def){.kind = kind}, report);
}

typedef struct cell_of {
    int32_t at[3];
} cell_of;

static cell_of read_cell(const espl_world *world, espl_entity entity)
{
    cell_of cell;

    ck_ok(espl_read_one(world, entity, ESPL_READ_CELL, cell.at));
    return cell;
}

static void read_absolute(const espl_world *world, espl_entity entity, double out[3])
{
    ck_ok(espl_read_one(world, entity, ESPL_READ_ABSOLUTE_POSITION, out));
}

static void set_cell(espl_world *world, espl_entity entity, int32_t x, int32_t y, int32_t z)
{
    ck_ok(espl_write_one(world, entity, ESPL_WRITE_CELL, (int32_t[3]){x, y, z}));
}

static void is_equal(const following *f, uint32_t number)
{
    const espl_transform a = test_local_of(f->from, f->originals[number]);
    const espl_transform b = test_local_of(f->to, f->counterparts[number]);
    const cell_of here = read_cell(f->from, f->originals[number]);
    const cell_of there = read_cell(f->to, f->counterparts[number]);

    ck_assert(test_same(&a, &b));
    ck_assert_mem_eq(&here, &there, sizeof here);
}

static void all_are_equal(const following *f)
{
    for (uint32_t i = 0; i < NODES; ++i) {
        is_equal(f, i);
    }
}

static int32_t draw_cell(following *f)
{
    return (int32_t)test_below(&f->random, 2000001) - 1000000;
}

/// Change one original: its local, or where its hierarchy is; or the whole world.
static void change(following *f)
{
    const uint32_t i = test_below(&f->random, NODES);
    const espl_entity entity = f->originals[i];
    const espl_write write = write_ordinary(entity, ESPL_WRITE_LOCAL_TRANSFORM, &f->random);

    switch (test_below(&f->random, 8)) {
    case 0:
        if (f->parents[i] == NODES) {
            set_cell(f->from, entity, draw_cell(f), draw_cell(f), draw_cell(f));
        }
        break;
    case 1:
        if (f->parents[i] == NODES) {
            const double place[3] = {draw_cell(f) * 1e3, draw_cell(f) * 1e3, draw_cell(f) * 1e3};

            ck_ok(espl_write_one(f->from, entity, ESPL_WRITE_ABSOLUTE_POSITION, place));
        }
        break;
    case 2:
        ck_assert(espl_recenter(f->from, 0.5f, NULL) >= 0);
        break;
    case 3: {
        const int32_t by[3] = {draw_cell(f) / 1000, draw_cell(f) / 1000, draw_cell(f) / 1000};

        ck_ok(espl_rebase(f->from, by, NULL));
        break;
    }
    default:
        ck_assert(espl_write_batch(f->from, &write, 1, NULL) >= 0);
        break;
    }
}

TEST_LOOP(cells_and_locals_are_equal_after_a_follow, 0, 4)
{
    static following f;

    if (test_lacks_room(NODES, "counterparts with cells")) {
        return;
    }
    begin(&f, 2048, 2048, ESPL_WATCH_LOCAL);
    f.random += (uint64_t)_i;
    for (uint32_t i = 0; i < NODES; ++i) {
        add_pair(&f, i, i < 8 ? NODES : test_below(&f.random, i));
    }
    for (uint32_t round = 0; round < 300; ++round) {
        const uint32_t count = test_below(&f.random, 12);
        espl_follow_report report;

        for (uint32_t i = 0; i < count; ++i) {
            change(&f);
        }
        ck_assert(follow_once(&f, ESPL_FOLLOW_LOCAL, &report) >= 0);
        ck_assert_uint_eq(report.refused + report.unknown, 0);
        all_are_equal(&f);
    }
    end(&f);
}

TEST(a_rebase_by_cells_is_followed_by_cells_alone)
{
    static following f;
    espl_follow_report report;
    espl_changes changes;

    begin(&f, 64, 64, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    add_pair(&f, 1, 0);
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){1, 2, 3}));
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, NULL));
    const espl_transform before = test_world_of(f.to, f.counterparts[1]);

    ck_ok(espl_rebase(f.from, (int32_t[3]){-5, 0, 2000000000}, NULL));
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, &report));
    ck_assert_uint_eq(report.written, 1);
    is_equal(&f, 0);
    is_equal(&f, 1);
    const espl_transform after = test_world_of(f.to, f.counterparts[1]);

    ck_assert(test_same(&before, &after));
    // A watch says of each entity whether it is at the top.
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){4, 5, 6}));
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){4, 5, 6}));
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    ck_assert_float_eq(changes.cell_size, 64);
    ck_assert_uint_eq(changes.changed_count, 2);
    for (uint32_t i = 0; i < 2; ++i) {
        const bool is_top = espl_entity_equal(changes.changed[i], f.originals[0]);

        ck_assert_uint_eq(changes.changed_cells[i].is_top, is_top ? 1 : 0);
        ck_assert_int_eq(changes.changed_cells[i].cell[0], -5);
        ck_assert_int_eq(changes.changed_cells[i].cell[2], 2000000000);
    }
    end(&f);
}

/// Demand that the absolute positions of a pair agree.
static void is_near(const following *f, uint32_t number, double within)
{
    double a[3], b[3];

    read_absolute(f->from, f->originals[number], a);
    read_absolute(f->to, f->counterparts[number], b);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_le(fabs(a[i] - b[i]), within);
    }
}

TEST_LOOP(cells_of_another_size_keep_the_place, 0, 2)
{
    static following f;
    const float from = _i == 0 ? 2048 : 32, to = _i == 0 ? 32 : 2048;
    float position[3];

    begin(&f, from, to, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    add_pair(&f, 1, 0);
    ck_ok(espl_write_one(f.from, f.originals[0], ESPL_WRITE_ABSOLUTE_POSITION,
                         (double[3]){12345678.5, -98765.25, 3e9}));
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){1, 2, 3}));
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, NULL));
    is_near(&f, 0, 0);
    is_near(&f, 1, 1e-3);
    ck_ok(espl_get_world_position(f.to, f.counterparts[0], position));
    for (int i = 0; i < 3; ++i) {
        ck_assert_float_le(fabsf(position[i]), to / 2);
    }
    end(&f);
}

TEST(a_cell_that_the_other_size_does_not_reach_stays)
{
    static following f;

    begin(&f, 1 << 30, 1, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    set_cell(f.to, f.counterparts[0], 3, 4, 5);
    set_cell(f.from, f.originals[0], 1000, 0, 0);
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, NULL));
    ck_assert_int_eq(read_cell(f.to, f.counterparts[0]).at[0], 3);
    is_near(&f, 0, 1e6);
    end(&f);
}

TEST_LOOP(without_cells_in_one_world_locals_alone_are_followed, 0, 3)
{
    static following f;
    espl_changes changes;

    begin(&f, 16, _i == 0 ? 0 : 16, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    set_cell(f.from, f.originals[0], 7, 7, 7);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){1, 2, 3}));
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    if (_i == 1) {
        changes.cell_size = 0; // of a program that fills its own arrays
    }
    ck_ok(espl_follow(f.to, &changes, NULL, NULL));
    const espl_transform local = test_local_of(f.to, f.counterparts[0]);

    ck_assert_float_eq(local.position[2], 3);
    if (_i != 0) {
        ck_assert_int_eq(read_cell(f.to, f.counterparts[0]).at[0], _i == 1 ? 0 : 7);
    }
    end(&f);
}

TEST(world_transforms_are_brought_to_the_cell_of_the_hierarchy)
{
    static following f;

    begin(&f, 256, 256, ESPL_WATCH_WORLD);
    add_pair(&f, 0, NODES);
    add_pair(&f, 1, NODES);
    // The original is at the top, its counterpart is not, in another cell.
    ck_ok(espl_attach(f.to, f.counterparts[1], f.counterparts[0], &test_keep_local));
    // An original with a parent, whose counterpart is a solo.
    f.originals[2] = test_solo(f.from);
    f.counterparts[2] = test_solo(f.to);
    ck_ok(espl_attach(f.from, f.originals[2], f.originals[0], &test_keep_local));
    ck_ok(espl_set_counterpart(f.to, f.counterparts[2], f.originals[2]));

    set_cell(f.from, f.originals[0], 100000, 0, -7);
    set_cell(f.from, f.originals[1], 100001, 0, -7);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){10, 20, 30}));
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){-100, 20, 30}));
    ck_ok(espl_set_local_position(f.from, f.originals[2], (float[3]){1, 2, 3}));
    ck_ok(follow_once(&f, ESPL_FOLLOW_WORLD, NULL));
    for (uint32_t i = 0; i < 3; ++i) {
        is_near(&f, i, 1e-4);
    }
    ck_assert_int_eq(read_cell(f.to, f.counterparts[2]).at[0], 100000);
    ck_assert_int_eq(read_cell(f.to, f.counterparts[1]).at[0], 100000);
    end(&f);
}

TEST(a_local_below_a_parent_has_no_cell_to_follow)
{
    static following f;

    begin(&f, 16, 16, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    // The original has a parent, the counterpart has none, and stands somewhere else.
    f.originals[1] = test_solo(f.from);
    f.counterparts[1] = test_solo(f.to);
    ck_ok(espl_attach(f.from, f.originals[1], f.originals[0], &test_keep_local));
    ck_ok(espl_set_counterpart(f.to, f.counterparts[1], f.originals[1]));
    set_cell(f.to, f.counterparts[1], 5, 5, 5);
    set_cell(f.from, f.originals[0], 9, 9, 9);
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){1, 2, 3}));
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, NULL));
    ck_assert_int_eq(read_cell(f.to, f.counterparts[1]).at[0], 5);
    ck_assert_int_eq(read_cell(f.to, f.counterparts[0]).at[0], 9);
    end(&f);
}

TEST(two_worlds_with_cells_come_to_rest)
{
    static following f;
    espl_watch *back = NULL;
    espl_follow_report report;
    espl_changes changes;

    begin(&f, 128, 128, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    ck_ok(espl_set_counterpart(f.from, f.originals[0], f.counterparts[0]));
    ck_ok(espl_watch_create(f.to, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL | ESPL_WATCH_CELL},
                            &back));
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    ck_ok(espl_watch_collect(back, 0, &changes));
    set_cell(f.from, f.originals[0], 1, 2, 3);
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, &report));
    ck_assert_uint_eq(report.written, 1);
    ck_ok(espl_watch_collect(back, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_ok(espl_follow(f.from, &changes, NULL, &report));
    ck_ok(follow_once(&f, ESPL_FOLLOW_LOCAL, &report));
    ck_assert_uint_eq(report.written, 0);
    is_equal(&f, 0);
    espl_watch_destroy(back);
    end(&f);
}

TEST(bad_cells_of_changes_are_refused)
{
    static following f;
    espl_changes changes;
    const float sizes[] = {3, 0.5f, -1, NAN, INFINITY, 0x1p31f};

    begin(&f, 16, 16, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){1, 2, 3}));
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        espl_changes bad = changes;

        bad.cell_size = sizes[i];
        ck_status(espl_follow(f.to, &bad, NULL, NULL), ESPL_ERR_ARGUMENT);
    }
    changes.added_cells = NULL;
    ck_status(espl_follow(f.to, &changes, NULL, NULL), ESPL_ERR_ARGUMENT);
    const espl_transform local = test_local_of(f.to, f.counterparts[0]);

    ck_assert_float_eq(local.position[0], 0);
    end(&f);
}

TEST(each_allocation_may_fail)
{
    static following f;
    espl_changes changes;
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (test_lacks_room(NODES, "counterparts with cells")) {
        return;
    }
    begin(&f, 32, 32, ESPL_WATCH_LOCAL);
    for (uint32_t i = 0; i < NODES; ++i) {
        add_pair(&f, i, i < 8 ? NODES : i / 2);
        set_cell(f.from, f.originals[i < 8 ? i : 0], (int32_t)i, 1, 2);
    }
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    ck_ok(espl_compact(f.to));
    const uint64_t hash = test_physical_hash(f.to);

    for (size_t fail_at = 1; status != ESPL_OK; ++fail_at) {
        test_heap_arm(&f.test[1].heap, fail_at, true);
        status = espl_follow(f.to, &changes, NULL, NULL);
        test_heap_arm(&f.test[1].heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert(status == ESPL_OK || test_physical_hash(f.to) == hash);
        test_world_is_valid(f.to);
    }
    all_are_equal(&f);
    end(&f);
}

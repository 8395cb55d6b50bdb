// SPDX-License-Identifier: MIT
// Cells of counterparts: a follow gives roots the cells of their originals, in worlds of one size of cells, of
// two and without them, and brings the positions of world transforms to the cells of hierarchies. So does a
// placing.
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

TEST_LOOP(differences_of_two_sizes_may_be_larger_than_a_cell_number, 0, 2)
{
    // The cells of the original, times 2^20, have 52 bits.
    static following f;
    const float large = 1 << 20;

    begin(&f, _i == 0 ? large : 1, _i == 0 ? 1 : large, ESPL_WATCH_WORLD);
    add_pair(&f, 0, NODES);
    add_pair(&f, 1, NODES);
    ck_ok(espl_attach(f.to, f.counterparts[1], f.counterparts[0], &test_keep_local));
    set_cell(f.from, f.originals[1], INT32_MAX, INT32_MIN, _i == 0 ? 2047 : INT32_MAX);
    set_cell(f.to, f.counterparts[0], INT32_MIN, INT32_MAX, _i == 0 ? INT32_MAX : 1);
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){1, 2, 3}));
    espl_changes changes;

    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    // Of the member alone, because the root would get a cell that is near.
    for (size_t i = 0; i < changes.added_count; ++i) {
        if (espl_entity_equal(changes.added[i], f.originals[1])) {
            changes.added += i;
            changes.added_worlds += i;
            changes.added_cells += i;
            break;
        }
    }
    changes.added_count = 1;
    ck_ok(espl_follow(f.to, &changes, &(espl_follow_def){.kind = ESPL_FOLLOW_WORLD}, NULL));
    double a[3], b[3];

    read_absolute(f.from, f.originals[1], a);
    read_absolute(f.to, f.counterparts[1], b);
    for (int i = 0; i < 3; ++i) {
        // The member is relative to the cell of its root: a float of up to 2^52.
        ck_assert_double_le(fabs(a[i] - b[i]), 0x1p28);
        ck_assert_double_ge(fabs(b[i]), i < 2 || _i == 1 ? 0x1p30 : 0);
    }
    end(&f);
}

TEST_LOOP(without_cells_here_positions_become_absolute, 0, 2)
{
    static following f;
    const bool is_world = _i == 1;
    espl_transform member;

    begin(&f, 16, 0, is_world ? ESPL_WATCH_WORLD : ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    add_pair(&f, 1, 0);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){1, 2, 3}));
    ck_ok(espl_set_local_position(f.from, f.originals[1], (float[3]){1, 0, 0}));
    set_cell(f.from, f.originals[0], 7, -7, 1 << 24);
    ck_ok(follow_once(&f, is_world ? ESPL_FOLLOW_WORLD : ESPL_FOLLOW_LOCAL, NULL));
    const espl_transform root = test_world_of(f.to, f.counterparts[0]);

    ck_assert_float_eq(root.position[0], 7 * 16 + 1);
    ck_assert_float_eq(root.position[1], -7 * 16 + 2);
    ck_assert_float_eq(root.position[2], 16.0f * (1 << 24));
    member = test_world_of(f.to, f.counterparts[1]);
    ck_assert_float_eq(member.position[0], 7 * 16 + 2);
    // A rebase moves both.
    ck_ok(espl_rebase(f.from, (int32_t[3]){-7, 0, 0}, NULL));
    ck_ok(follow_once(&f, is_world ? ESPL_FOLLOW_WORLD : ESPL_FOLLOW_LOCAL, NULL));
    member = test_world_of(f.to, f.counterparts[1]);
    ck_assert_float_eq(member.position[0], 2);
    end(&f);
}

TEST_LOOP(cells_that_are_not_given_leave_positions_as_they_are, 0, 2)
{
    static following f;
    espl_changes changes;

    begin(&f, 16, 16, ESPL_WATCH_LOCAL);
    add_pair(&f, 0, NODES);
    set_cell(f.from, f.originals[0], 7, 7, 7);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){1, 2, 3}));
    ck_ok(espl_watch_collect(f.watch, 0, &changes));
    if (_i == 0) {
        changes.cell_size = 0; // of a program that fills its own arrays
    }
    ck_ok(espl_follow(f.to, &changes, NULL, NULL));
    const espl_transform local = test_local_of(f.to, f.counterparts[0]);

    ck_assert_float_eq(local.position[2], 3);
    ck_assert_int_eq(read_cell(f.to, f.counterparts[0]).at[0], _i == 0 ? 0 : 7);
    end(&f);
}

// --- Cells of members ---

/// A ship with a mast and a flag on it, in one world, and three solos that follow them.
static void begin_ship(following *f, float from_size, float to_size)
{
    begin(f, from_size, to_size, ESPL_WATCH_WORLD);
    for (uint32_t i = 0; i < 3; ++i) {
        add_pair(f, i, NODES);
        if (i != 0) {
            ck_ok(espl_attach(f->from, f->originals[i], f->originals[i - 1], &test_keep_local));
            ck_ok(espl_set_local_position(f->from, f->originals[i], (float[3]){0, 1, 0}));
        }
    }
    ck_ok(follow_once(f, ESPL_FOLLOW_WORLD, NULL));
}

static void all_of_the_ship_follow(following *f, size_t written)
{
    espl_follow_report report;

    ck_ok(follow_once(f, ESPL_FOLLOW_WORLD, &report));
    ck_assert_uint_eq(report.written, written);
    for (uint32_t i = 0; i < 3; ++i) {
        is_near(f, i, 1e-3);
    }
    test_world_is_valid(f->from);
    ck_ok(follow_once(f, ESPL_FOLLOW_WORLD, &report));
    ck_assert_uint_eq(report.written, 0);
}

TEST_LOOP(members_follow_the_cell_of_their_root, 0, 3)
{
    static following f;
    static const float sizes[][2] = {{64, 64}, {64, 16}, {64, 0}};

    begin_ship(&f, sizes[_i][0], sizes[_i][1]);
    set_cell(f.from, f.originals[0], 5, -6, 7);
    all_of_the_ship_follow(&f, 3);
    ck_ok(espl_rebase(f.from, (int32_t[3]){-100, 1, 0}, NULL));
    all_of_the_ship_follow(&f, 3);
    ck_ok(espl_set_local_position(f.from, f.originals[0], (float[3]){500, 0, 0}));
    all_of_the_ship_follow(&f, 3);
    ck_ok(espl_recenter(f.from, 0, NULL));
    all_of_the_ship_follow(&f, 3);
    end(&f);
}

TEST(a_member_that_comes_to_a_root_with_another_cell_follows_with_all_below_it)
{
    static following f;

    begin_ship(&f, 64, 64);
    const espl_entity port = test_solo(f.from);

    set_cell(f.from, port, 9, 0, 0);
    // Its coordinates stay the same, in another cell.
    ck_ok(espl_attach(f.from, f.originals[0], port, &test_keep_local));
    espl_follow_report report;

    ck_ok(follow_once(&f, ESPL_FOLLOW_WORLD, &report));
    ck_assert_uint_eq(report.written, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        is_near(&f, i, 1e-3);
    }
    end(&f);
}

TEST(several_watches_hear_of_the_cells_of_members_once_each)
{
    static following f;
    espl_watch *locals = NULL, *worlds = NULL;
    espl_changes changes;

    begin_ship(&f, 64, 64);
    ck_ok(espl_watch_create(f.from, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL | ESPL_WATCH_CELL},
                            &locals));
    ck_ok(espl_watch_create(f.from, &(espl_watch_def){.flags = ESPL_WATCH_WORLD | ESPL_WATCH_CELL},
                            &worlds));
    ck_ok(espl_watch_collect(locals, 0, &changes));
    ck_ok(espl_watch_collect(worlds, 0, &changes));
    const uint64_t moment = changes.moment;

    for (int round = 0; round < 3; ++round) {
        ck_ok(espl_rebase(f.from, (int32_t[3]){1, 0, 0}, NULL));
        all_of_the_ship_follow(&f, 3);
        // Own data do not change with a cell: the root alone has it.
        ck_ok(espl_watch_collect(locals, 0, &changes));
        ck_assert_uint_eq(changes.changed_count, 1);
        ck_assert(espl_entity_equal(changes.changed[0], f.originals[0]));
        ck_ok(espl_watch_collect(locals, 0, &changes));
        ck_assert_uint_eq(changes.changed_count, 0);
        ck_ok(espl_watch_collect(worlds, 0, &changes));
        ck_assert_uint_eq(changes.changed_count, 3);
        ck_ok(espl_watch_collect(worlds, 0, &changes));
        ck_assert_uint_eq(changes.changed_count, 0);
    }
    // Who lost all of that looks back.
    ck_ok(espl_watch_collect(worlds, moment, &changes));
    ck_assert_uint_ge(changes.changed_count, 3);
    espl_watch_destroy(locals);
    espl_watch_destroy(worlds);
    end(&f);
}

/// Change where some original is, or all of them.
static void move_something(following *f)
{
    const espl_entity a = f->originals[test_below(&f->random, NODES)];
    const espl_entity b = f->originals[test_below(&f->random, NODES)];
    const int32_t by[3] = {(int32_t)test_below(&f->random, 9) - 4, 1, -1};
    const bool keeps_local = test_below(&f->random, 2) == 0;
    espl_status status = ESPL_OK;

    switch (test_below(&f->random, 6)) {
    case 0:
        status = espl_write_one(f->from, a, ESPL_WRITE_CELL, by);
        break;
    case 1:
        status = espl_rebase(f->from, by, NULL);
        break;
    case 2:
        status = espl_recenter(f->from, 0.5f, NULL);
        break;
    case 3:
        status = espl_attach(f->from, a, b, keeps_local ? &test_keep_local : NULL);
        break;
    case 4:
        status = espl_detach(f->from, a, ESPL_KEEP_WORLD);
        break;
    default:
        status = espl_set_local_position(f->from, a, (float[3]){0, (float)by[0], 30});
        break;
    }
    // Members have no cell, and nothing is attached below itself.
    ck_assert(status >= 0 || status == ESPL_ERR_UNSUPPORTED || status == ESPL_ERR_CYCLE);
}

TEST_LOOP(places_are_equal_after_each_follow, 0, 4)
{
    static following f;

    if (test_lacks_room(NODES, "counterparts with cells")) {
        return;
    }
    begin(&f, 64, _i % 2 == 0 ? 64 : 256, ESPL_WATCH_WORLD);
    f.random += (uint64_t)_i;
    for (uint32_t i = 0; i < NODES; ++i) {
        add_pair(&f, i, NODES);
    }
    for (uint32_t round = 0; round < 300; ++round) {
        const uint32_t count = test_below(&f.random, 6);

        for (uint32_t i = 0; i < count; ++i) {
            move_something(&f);
        }
        ck_assert(follow_once(&f, ESPL_FOLLOW_WORLD, NULL) >= 0);
        for (uint32_t i = 0; i < NODES; ++i) {
            is_near(&f, i, 2e-3);
        }
    }
    end(&f);
}

// --- Placing ---

TEST_LOOP(a_placed_root_is_where_its_original_is, 0, 6)
{
    static following f;
    static const float sizes[][2] = {{2048, 2048}, {2048, 32}, {32, 2048},
                                     {32, 0},      {0, 32},    {0, 0}};
    espl_entity placed;

    begin(&f, sizes[_i][0] == 0 ? 1 : sizes[_i][0], sizes[_i][1], ESPL_WATCH_WORLD);
    espl_world *from = f.from;
    test_world flat;

    if (sizes[_i][0] == 0) {
        test_world_begin(&flat, 3, NULL);
        from = flat.world;
    }
    const espl_entity root = test_solo(from), member = test_solo(from), leaf = test_solo(from);

    ck_ok(espl_attach(from, member, root, &test_keep_local));
    ck_ok(espl_attach(from, leaf, member, &test_keep_local));
    ck_ok(espl_set_local_position(from, member, (float[3]){1, 2, 3}));
    ck_assert(espl_write_one(from, root, ESPL_WRITE_ABSOLUTE_POSITION,
                             (double[3]){12345678.5, -98765.25, sizes[_i][1] == 0 ? 3 : 3e9}) >= 0);
    // A member is placed as a root, in the cell of its hierarchy.
    const espl_entity tops[] = {leaf, root};

    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_place_counterparts(
            f.to, from, tops[i],
            &(espl_placing_def){.extent = i == 0 ? ESPL_EXTENT_ENTITY : ESPL_EXTENT_OWNED},
            &placed));
        double a[3], b[3];

        read_absolute(from, tops[i], a);
        read_absolute(f.to, placed, b);
        for (int axis = 0; axis < 3; ++axis) {
            ck_assert_double_le(fabs(a[axis] - b[axis]), sizes[_i][1] == 0 ? 1 : 1e-3);
        }
        if (sizes[_i][0] == sizes[_i][1]) {
            const espl_transform there = test_world_of(from, tops[i]);
            const espl_transform here = test_world_of(f.to, placed);

            ck_assert(test_same(&there, &here));
        }
        ck_ok(espl_destroy(f.to, placed, ESPL_EXTENT_SUBTREE));
    }
    if (sizes[_i][0] == 0) {
        test_world_end(&flat);
    }
    end(&f);
}

TEST(a_place_that_is_given_is_in_the_middle_cell)
{
    static following f;
    espl_entity placed;
    espl_placing_def def = {.place = ESPL_PLACE_WORLD, .transform = test_at(1, 2, 3)};

    begin(&f, 16, 16, ESPL_WATCH_WORLD);
    const espl_entity root = test_solo(f.from), parent = test_solo(f.to);

    set_cell(f.from, root, 5, 5, 5);
    set_cell(f.to, parent, 3, 3, 3);
    ck_ok(espl_place_counterparts(f.to, f.from, root, &def, &placed));
    ck_assert_int_eq(read_cell(f.to, placed).at[0], 0);
    ck_ok(espl_destroy(f.to, placed, ESPL_EXTENT_SUBTREE));
    // Below a parent it is in the cell of that.
    def = (espl_placing_def){.parent = parent};
    ck_ok(espl_place_counterparts(f.to, f.from, root, &def, &placed));
    ck_assert_int_eq(read_cell(f.to, placed).at[0], 3);
    end(&f);
}

TEST_LOOP(what_is_below_an_original_without_a_transform_keeps_its_place, 0, 2)
{
    static following f;
    espl_entity placed;

    begin(&f, 16, _i == 0 ? 16 : 0, ESPL_WATCH_WORLD);
    const espl_entity root = test_solo(f.from), middle = test_solo(f.from);
    const espl_entity leaf = test_solo(f.from);

    ck_ok(espl_attach(f.from, middle, root, &test_keep_local));
    ck_ok(espl_attach(f.from, leaf, middle, &test_keep_local));
    set_cell(f.from, root, 5, 5, 5);
    ck_ok(espl_remove_component(f.from, root, ESPL_TRANSFORM));
    ck_ok(espl_remove_component(f.from, middle, ESPL_TRANSFORM));
    ck_ok(espl_place_counterparts(f.to, f.from, root, NULL, &placed));
    double a[3], b[3];

    read_absolute(f.from, leaf, a);
    read_absolute(f.to, espl_find_counterpart(f.to, leaf), b);
    ck_assert_double_eq(a[0], 80);
    ck_assert_mem_eq(a, b, sizeof a);
    end(&f);
}

TEST(a_place_that_cells_do_not_reach_is_refused)
{
    static following f;
    espl_entity placed = test_null;

    begin(&f, 1 << 30, 1, ESPL_WATCH_WORLD);
    const espl_entity root = test_solo(f.from);

    set_cell(f.from, root, 1000, 0, 0);
    const uint64_t hash = test_physical_hash(f.to);

    ck_status(espl_place_counterparts(f.to, f.from, root, NULL, &placed), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(f.to), hash);
    ck_assert(espl_entity_is_null(espl_find_counterpart(f.to, root)));
    end(&f);
}

TEST(a_placing_with_a_cell_needs_all_of_its_memory)
{
    static following f;
    espl_status status = ESPL_ERR_NO_MEMORY;
    espl_entity placed = test_null;

    begin(&f, 32, 32, ESPL_WATCH_WORLD);
    const espl_entity root = test_solo(f.from);

    set_cell(f.from, root, 5, 6, 7);
    const uint64_t hash = test_logical_hash(f.to);

    for (size_t fail_at = 1; status != ESPL_OK; ++fail_at) {
        test_heap_arm(&f.test[1].heap, fail_at, true);
        status = espl_place_counterparts(f.to, f.from, root, NULL, &placed);
        test_heap_arm(&f.test[1].heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert(status == ESPL_OK || test_logical_hash(f.to) == hash);
        test_world_is_valid(f.to);
    }
    ck_assert_int_eq(read_cell(f.to, placed).at[2], 7);
    end(&f);
}

// --- Worlds ---

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

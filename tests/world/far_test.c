// SPDX-License-Identifier: MIT
// Large worlds: cells of hierarchies, rebase and recenter, reads relative to an origin, and what is done across
// cells. Positions are compared with a model of integers: cells, and units of 2^-40 m within one.
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <espalier/far.h>

#include <math.h>
#include <string.h>

enum { SIZE = 2048 };

static void set_up_cells(void)
{
    test_world_cells(SIZE);
    set_up();
}

FIXTURE(set_up_cells, tear_down);

// --- What the tests read and write ---

typedef struct place {
    int32_t cell[3];
    float position[3];
} place;

static place place_of(espl_entity entity)
{
    place p;

    ck_ok(espl_read_one(w, entity, ESPL_READ_CELL, p.cell));
    ck_ok(espl_get_world_position(w, entity, p.position));
    return p;
}

static void set_cell(espl_entity entity, int32_t x, int32_t y, int32_t z)
{
    ck_ok(espl_write_one(w, entity, ESPL_WRITE_CELL, (int32_t[3]){x, y, z}));
}

static espl_status set_absolute(espl_entity entity, double x, double y, double z)
{
    return espl_write_one(w, entity, ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){x, y, z});
}

static void check_cell(espl_entity entity, int32_t x, int32_t y, int32_t z)
{
    const place p = place_of(entity);

    ck_assert_int_eq(p.cell[0], x);
    ck_assert_int_eq(p.cell[1], y);
    ck_assert_int_eq(p.cell[2], z);
}

// An absolute position as integers: whole cells, and the rest in units of 2^-40 m.
typedef struct spot {
    int64_t cells[3], units[3];
} spot;

static const double unit = 1.0 / (double)(INT64_C(1) << 40);
#define CELL_UNITS ((int64_t)SIZE << 40)

static void normalize(spot *s)
{
    for (int i = 0; i < 3; ++i) {
        const int64_t carry = s->units[i] >= 0 ? s->units[i] / CELL_UNITS
                                               : -((CELL_UNITS - 1 - s->units[i]) / CELL_UNITS);

        s->cells[i] += carry;
        s->units[i] -= carry * CELL_UNITS;
    }
}

static spot spot_of(espl_entity entity)
{
    const place p = place_of(entity);
    spot s;

    for (int i = 0; i < 3; ++i) {
        // A position near its cell has no bit below a unit that counts.
        const double whole = floor((double)p.position[i] / SIZE);

        s.cells[i] = p.cell[i] + (int64_t)whole;
        s.units[i] = llround(((double)p.position[i] - whole * SIZE) / unit);
    }
    normalize(&s);
    return s;
}

// The greatest distance of two spots on an axis, in meters.
static double distance(const spot *a, const spot *b)
{
    double most = 0;

    for (int i = 0; i < 3; ++i) {
        const double away =
            (double)(a->cells[i] - b->cells[i]) * SIZE + (double)(a->units[i] - b->units[i]) * unit;

        most = fabs(away) > most ? fabs(away) : most;
    }
    return most;
}

static bool is_same_spot(const spot *a, const spot *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// --- Worlds ---

TEST(a_size_of_cells_is_a_power_of_two_from_1_on)
{
    static const float bad[] = {3, 0.5f, -1, -0.25f, 1.5f, 2147483648.0f, 1e38f};
    espl_world *other = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_status(espl_world_create(&(espl_world_def){.cell_size = bad[i]}, &other),
                  ESPL_ERR_ARGUMENT);
    }
    ck_status(espl_world_create(&(espl_world_def){.cell_size = NAN}, &other), ESPL_ERR_ARGUMENT);
    ck_status(espl_world_create(&(espl_world_def){.cell_size = INFINITY}, &other),
              ESPL_ERR_ARGUMENT);
    for (float size = 1; size <= 1073741824.0f; size *= 2) {
        ck_ok(espl_world_create(&(espl_world_def){.cell_size = size}, &other));
        ck_assert(espl_get_cell_size(other) == size);
        espl_world_destroy(other);
    }
    ck_assert(espl_get_cell_size(NULL) == 0);
}

TEST(a_world_without_cells_has_no_kind_of_theirs)
{
    test_world plain;
    int32_t cell[3] = {1, 0, 0};
    double position[3] = {0, 0, 0};
    size_t count = 7;

    test_world_begin(&plain, 2, NULL);
    const espl_entity solo = test_solo_at(plain.world, 1, 2, 3);

    ck_status(espl_read_one(plain.world, solo, ESPL_READ_CELL, cell), ESPL_ERR_UNSUPPORTED);
    ck_status(
        espl_read_strided(plain.world, ESPL_READ_CELL, &solo, 1, sizeof solo, cell, sizeof cell),
        ESPL_ERR_UNSUPPORTED);
    ck_status(espl_write_one(plain.world, solo, ESPL_WRITE_CELL, cell), ESPL_ERR_UNSUPPORTED);
    ck_status(espl_recenter(plain.world, 0, &count), ESPL_ERR_UNSUPPORTED);
    ck_assert_uint_eq(count, 0);
    ck_status(espl_rebase(plain.world, cell, NULL), ESPL_ERR_UNSUPPORTED);
    // An absolute position is a world position.
    ck_ok(espl_read_one(plain.world, solo, ESPL_READ_ABSOLUTE_POSITION, position));
    ck_assert(position[0] == 1 && position[1] == 2 && position[2] == 3);
    ck_ok(espl_write_one(plain.world, solo, ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){4, 5, 6}));
    ck_assert(test_world_of(plain.world, solo).position[2] == 6);
    ck_status(
        espl_write_one(plain.world, solo, ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){1e300, 0, 0}),
        ESPL_ERR_RANGE);
    test_world_end(&plain);
}

// --- Positions ---

// The position that is nearest to an absolute one differs from it by the rounding of a float of half a cell.
TEST(an_absolute_position_is_read_as_it_was_written)
{
    const espl_entity solo = test_solo(w);
    uint64_t random = 1;

    for (int i = 0; i < 20000; ++i) {
        double wanted[3], got[3];

        for (int axis = 0; axis < 3; ++axis) {
            wanted[axis] = (double)test_between(&random, -1, 1) *
                           pow(10, (double)test_between(&random, -6, 12.6f));
            if (test_one_in(&random, 10)) {
                wanted[axis] = (double)(int64_t)(wanted[axis] / 1024) * 1024; // edges of cells
            }
        }
        ck_ok(set_absolute(solo, wanted[0], wanted[1], wanted[2]));
        ck_ok(espl_read_one(w, solo, ESPL_READ_ABSOLUTE_POSITION, got));
        for (int axis = 0; axis < 3; ++axis) {
            const place p = place_of(solo);

            ck_assert(fabsf(p.position[axis]) <= SIZE / 2);
            // Half a unit of the float, and of the double that it is read as.
            ck_assert(fabs(got[axis] - wanted[axis]) <= 0x1p-15 + fabs(wanted[axis]) * 0x1p-53);
        }
    }
}

TEST(cells_end_where_32_bits_do)
{
    const espl_entity solo = test_solo(w);
    const double end = 2147483647.0 * SIZE;

    ck_ok(set_absolute(solo, end, -end - SIZE, 0));
    check_cell(solo, INT32_MAX, INT32_MIN, 0);
    ck_ok(set_absolute(solo, end + 1000, 0, -end - SIZE - 1000));
    check_cell(solo, INT32_MAX, 0, INT32_MIN);
    ck_status(set_absolute(solo, end + SIZE, 0, 0), ESPL_ERR_RANGE);
    ck_status(set_absolute(solo, 0, -end - 2.0 * SIZE, 0), ESPL_ERR_RANGE);
    ck_status(set_absolute(solo, 1e300, 0, 0), ESPL_ERR_RANGE);
    ck_status(set_absolute(solo, 0, 0, -INFINITY), ESPL_ERR_NOT_FINITE);
    ck_status(set_absolute(solo, 0, (double)NAN, 0), ESPL_ERR_NOT_FINITE);
    check_cell(solo, INT32_MAX, 0, INT32_MIN);
}

TEST(two_members_keep_their_distance_at_any_distance)
{
    for (double away = 1; away < 2e12; away *= 10) {
        espl_entity *const one = make_trees(w, 1, 3, 1), *const other = make_trees(w, 1, 3, 1);
        espl_transform relative;

        ck_ok(set_absolute(one[0], away, -away, away / 3));
        ck_ok(set_absolute(other[0], away + 2.7, -away, away / 3));
        ck_ok(espl_get_relative_transform(w, one[2], other[2], &relative));
        ck_assert(fabsf(relative.position[0] - 2.7f) < (away <= 1e9 ? 1e-4f : 3e-4f));
        ck_assert(fabsf(relative.position[1]) < 2e-4f && fabsf(relative.position[2]) < 2e-4f);
        ck_ok(espl_destroy(w, one[0], ESPL_EXTENT_SUBTREE));
        ck_ok(espl_destroy(w, other[0], ESPL_EXTENT_SUBTREE));
        free(one);
        free(other);
    }
}

TEST(a_slot_that_is_used_again_has_cell_0)
{
    for (int way = 0; way < 2; ++way) {
        const espl_entity first = test_solo(w), second = test_solo(w);

        ck_ok(espl_attach(w, second, first, NULL));
        set_cell(first, 7, 8, 9);
        ck_ok(way == 0 ? espl_destroy(w, first, ESPL_EXTENT_SUBTREE) : espl_world_clear(w));
        for (int i = 0; i < 4; ++i) {
            check_cell(test_solo(w), 0, 0, 0);
        }
    }
    test_world_is_valid(w);
}

TEST(a_cell_moves_a_hierarchy_by_whole_cells)
{
    espl_entity *const tree = make_trees(w, 1, 10, 3);
    const espl_transform before = test_world_of(w, tree[9]);
    int32_t cell[3];

    set_cell(tree[0], 3, -4, 5);
    const espl_transform after = test_world_of(w, tree[9]);

    ck_assert(test_same(&before, &after));
    check_cell(tree[9], 3, -4, 5);
    ck_status(espl_write_one(w, tree[9], ESPL_WRITE_CELL, (int32_t[3]){1, 1, 1}),
              ESPL_ERR_UNSUPPORTED);
    ck_status(espl_write_one(w, tree[0], (espl_write_kind)(ESPL_WRITE_CELL | ESPL_TELEPORT),
                             (int32_t[3]){1, 1, 1}),
              ESPL_ERR_ARGUMENT);
    ck_ok(espl_read_strided(w, ESPL_READ_CELL, tree + 9, 1, sizeof *tree, cell, sizeof cell));
    ck_assert_int_eq(cell[1], -4);
    free(tree);
}

TEST(a_member_is_written_in_the_cell_of_its_hierarchy)
{
    espl_entity *const tree = make_trees(w, 1, 3, 1);
    double got[3];

    ck_ok(set_absolute(tree[0], 1e9, 0, 0));
    ck_ok(set_absolute(tree[2], 1e9 + 100.25, 3, 0));
    ck_ok(espl_read_one(w, tree[2], ESPL_READ_ABSOLUTE_POSITION, got));
    ck_assert(fabs(got[0] - (1e9 + 100.25)) < 1e-3 && fabs(got[1] - 3) < 1e-6);
    ck_status(set_absolute(tree[2], 0, 0, 0), ESPL_LOSSY);
    free(tree);
}

// --- Recenter ---

TEST(a_recenter_moves_no_root)
{
    if (test_lacks_room(1200, "many hierarchies")) {
        return;
    }
    espl_entity *const tree = make_trees(w, 300, 4, 2);
    spot *const before = test_array(1200, sizeof *before);
    uint64_t random = 2;
    size_t moved = 0, again = 7;

    for (int i = 0; i < 1200; ++i) {
        const float reach = powf(10, test_between(&random, 0, 7));
        float position[3];

        for (int axis = 0; axis < 3; ++axis) {
            position[axis] = test_between(&random, -reach, reach);
        }
        if (i % 4 == 0) {
            set_cell(tree[i], (int32_t)test_below(&random, 2000) - 1000, 5, -5);
            ck_ok(espl_set_world_position(w, tree[i], position));
        } else if (i % 4 == 3 && i % 8 == 3) {
            ck_ok(espl_set_inherit(w, tree[i], ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z));
        }
    }
    for (int i = 0; i < 1200; ++i) {
        before[i] = spot_of(tree[i]);
    }
    ck_ok(espl_recenter(w, 0, &moved));
    ck_assert_uint_gt(moved, 50);
    for (int i = 0; i < 1200; ++i) {
        const spot after = spot_of(tree[i]);
        const place p = place_of(tree[i]);

        if (i % 4 == 0) {
            ck_assert(is_same_spot(&after, &before[i]));
            for (int axis = 0; axis < 3; ++axis) {
                ck_assert(fabsf(p.position[axis]) <= SIZE);
            }
        } else {
            // A unit of the position before, which was up to 10^7 m from its cell.
            ck_assert(distance(&after, &before[i]) <= 1.01);
        }
    }
    const uint64_t hash = test_physical_hash(w);

    ck_ok(espl_recenter(w, 0, &again));
    ck_assert_uint_eq(again, 0);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    test_world_is_valid(w);
    free(before);
    free(tree);
}

TEST(a_limit_of_a_recenter_is_half_a_cell_or_more)
{
    const espl_entity solo = test_solo_at(w, 1025, 0, 0);
    espl_query query;
    size_t count = 0;

    ck_status(espl_recenter(w, 0.25f, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_recenter(w, -1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_recenter(w, NAN, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_recenter(NULL, 0, NULL), ESPL_ERR_ARGUMENT);
    ck_ok(espl_recenter(w, 1, &count));
    ck_assert_uint_eq(count, 0);
    ck_ok(espl_query_begin(w, &(espl_query_def){.site = NULL}, &query));
    ck_ok(espl_recenter(w, 0.5f, &count));
    espl_query_end(&query);
    ck_assert_uint_eq(count, 1);
    check_cell(solo, 1, 0, 0);
    ck_assert(place_of(solo).position[0] == -1023);
    ck_ok(espl_set_world_position(w, solo, (float[3]){1024, 0, 0}));
    ck_ok(espl_recenter(w, 0.5f, &count));
    ck_assert_uint_eq(count, 0);
}

TEST(what_cells_do_not_reach_stays)
{
    const espl_entity solo = test_solo_at(w, 3e15f, 0, 0), edge = test_solo_at(w, 5000, 0, 0);
    size_t count = 0;

    set_cell(edge, INT32_MAX, 0, 0);
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_recenter(w, 0, &count), ESPL_PARTLY);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    check_cell(solo, 0, 0, 0);
}

// The cell that such a root is near is in the range, though the way there is longer than a cell may be.
TEST(a_root_at_one_end_of_the_range_comes_back_from_beyond_the_middle)
{
    size_t count = 0;

    tear_down();
    test_world_cells(1);
    test_world_begin(&test, 1, NULL);
    w = test.world;
    const espl_entity solo = test_solo_at(w, 3e9f, 0, 0);

    set_cell(solo, INT32_MIN, 0, 0);
    ck_ok(espl_recenter(w, 0, &count));
    ck_assert_uint_eq(count, 1);
    check_cell(solo, 852516352, 0, 0);
    ck_assert(place_of(solo).position[0] == 0);
    ck_ok(espl_set_world_position(w, solo, (float[3]){1e10f, 0, 0}));
    ck_status(espl_recenter(w, 0, &count), ESPL_PARTLY);
    check_cell(solo, 852516352, 0, 0);
}

// A played write of an absolute position shows a hierarchy where the same write at once does.
TEST_LOOP(a_hierarchy_that_is_played_to_another_cell_is_shown_where_it_was, 0, 2)
{
    const double far[3] = {5000, 0, 0};
    espl_entity *const tree = make_trees(w, 1, 3, 1);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_write write = {tree[0], ESPL_WRITE_ABSOLUTE_POSITION, {{0}}};
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    float before[3], after[3];

    memcpy(&write.value, far, sizeof far);
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_translate_own(w, tree[0], (float[3]){8, 0, 0}));
    ck_ok(espl_present(w, 0.5f, NULL));
    ck_ok(espl_read_one(w, tree[1], ESPL_READ_SHOWN_POSITION, before));
    if (_i == 0) {
        ck_ok(espl_write_one(w, tree[0], write.kind, &write.value));
    } else {
        ck_ok(espl_record_write(recorder, 0, tree[0], write.kind, &write.value));
        ck_ok(espl_play(w, commands, NULL));
    }
    check_cell(tree[0], 2, 0, 0);
    ck_ok(espl_read_one(w, tree[1], ESPL_READ_SHOWN_POSITION, after));
    ck_assert(after[0] == before[0] - 2 * SIZE);
    espl_command_buffer_destroy(commands);
    free(tree);
}

// --- Rebase ---

TEST(a_rebase_by_cells_and_back_changes_nothing)
{
    if (test_lacks_room(5000, "many hierarchies")) {
        return;
    }
    espl_entity *const tree = make_trees(w, 1000, 5, 2);
    const int32_t there[3] = {77, -3, 1000000}, back[3] = {-77, 3, -1000000};
    uint64_t random = 3;

    for (int i = 0; i < 1000; ++i) {
        set_cell(tree[5 * i], (int32_t)test_random(&random) >> 4, 5, -9);
        ck_ok(espl_set_world_position(w, tree[5 * i],
                                      (float[3]){test_between(&random, -1e4f, 1e4f), 0.1f, 3}));
    }
    const uint64_t hash = test_physical_hash(w), logical = test_logical_hash(w);
    const place before = place_of(tree[5]);

    ck_ok(espl_rebase(w, there, NULL));
    ck_assert_uint_ne(test_physical_hash(w), hash);
    ck_assert_uint_ne(test_logical_hash(w), logical);
    const place after = place_of(tree[9]), root = place_of(tree[5]);

    ck_assert_int_eq(after.cell[0], before.cell[0] + 77);
    ck_assert_int_eq(after.cell[2], before.cell[2] + 1000000);
    ck_assert(memcmp(root.position, before.position, sizeof root.position) == 0);
    ck_ok(espl_rebase(w, back, NULL));
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_assert_uint_eq(test_logical_hash(w), logical);
    ck_ok(espl_rebase(w, NULL, NULL));
    ck_assert_uint_eq(test_physical_hash(w), hash);
    free(tree);
}

TEST(a_rebase_that_one_cell_refuses_changes_none)
{
    if (test_lacks_room(500, "many solos")) {
        return;
    }
    espl_entity *const solos = test_array(500, sizeof *solos);
    espl_query query;

    test_solos(w, 500, solos);
    set_cell(solos[321], 0, INT32_MIN + 4, 0);
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_rebase(w, (int32_t[3]){0, -5, 0}, NULL), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_status(espl_rebase(w, (int32_t[3]){0, 0, 0}, (float[3]){NAN, 0, 0}), ESPL_ERR_NOT_FINITE);
    ck_status(espl_rebase(NULL, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_ok(espl_query_begin(w, &(espl_query_def){.site = NULL}, &query));
    ck_ok(espl_rebase(w, (int32_t[3]){0, -4, 0}, NULL));
    espl_query_end(&query);
    check_cell(solos[321], 0, INT32_MIN, 0);
    check_cell(solos[5], 0, -4, 0);
    free(solos);
}

TEST(prefabs_stay_where_they_are)
{
    const espl_component prefab = ESPL_PREFAB;
    espl_entity *const tree = make_trees(w, 2, 3, 2);

    ck_ok(espl_add_component(w, tree[0], prefab, NULL, 0));
    ck_ok(espl_set_world_position(w, tree[0], (float[3]){1e6f, 0, 0}));
    ck_ok(espl_rebase(w, (int32_t[3]){1, 1, 1}, (float[3]){1, 2, 3}));
    ck_ok(espl_recenter(w, 0, NULL));
    check_cell(tree[2], 0, 0, 0);
    ck_assert(place_of(tree[0]).position[0] == 1e6f && place_of(tree[0]).position[1] == 0);
    check_cell(tree[5], 1, 1, 1);
    ck_assert(place_of(tree[3]).position[1] == 2);
    test_world_is_valid(w);
    free(tree);
}

// --- A rebase by an offset, beside a batch ---

static void make_scene(espl_world *world, espl_entity *out, bool with_flags)
{
    uint64_t random = 4;
    espl_entity *const tree = make_trees(world, 40, 25, 3);

    for (int i = 0; i < 1000; ++i) {
        espl_transform at = test_at(test_between(&random, -900, 900),
                                    test_between(&random, -900, 900), test_between(&random, -9, 9));

        at.rotation[0] = test_between(&random, -1, 1);
        at.rotation[3] = 0.7f;
        at.scale = test_between(&random, 0.5f, 2);
        ck_ok(espl_transform_normalize(&at));
        ck_ok(espl_set_local_transform(world, tree[i], &at));
    }
    for (int i = 3; i < 1000 && with_flags; i += 50) {
        ck_ok(espl_set_inherit(world, tree[i],
                               i % 4 == 1 ? ESPL_ABSOLUTE_Y : ESPL_ABSOLUTE_POSITION));
    }
    memcpy(out, tree, 1000 * sizeof *tree);
    free(tree);
}

// Read the poses of all entities, by one kind.
static void read_poses(const espl_world *world, const espl_entity *all, espl_read_kind kind,
                       espl_pose *out)
{
    ck_ok(espl_read_strided(world, kind, all, 1000, sizeof *all, out, sizeof *out));
}

TEST_LOOP(an_offset_is_a_batch_of_translations, 0, 4)
{
    if (test_lacks_room(1000, "hierarchies of each kind")) {
        return;
    }
    espl_entity *const all = test_array(1000, sizeof *all);
    espl_pose *const a = test_array(1000, sizeof *a), *const b = test_array(1000, sizeof *b);
    espl_write *const writes = test_array(40, sizeof *writes);
    const bool with_motion = _i >= 2;
    test_world other;

    test_world_cells(SIZE);
    test_world_begin(&other, 1, NULL);
    make_scene(w, all, _i % 2 == 1);
    make_scene(other.world, all, _i % 2 == 1);
    for (int i = 0; i < 2 && with_motion; ++i) {
        espl_world *const world = i == 0 ? w : other.world;

        ck_ok(espl_motion_start(world, NULL));
        ck_ok(espl_tick_begin(world));
        ck_ok(espl_translate_own(world, all[25], (float[3]){1, 2, 3}));
        ck_ok(espl_tick_end(world));
    }
    for (int i = 0; i < 40; ++i) {
        writes[i] =
            write_vector(all[25 * i], (espl_write_kind)(ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY),
                         1234.567f, -0.1f, 3);
    }
    ck_ok(espl_rebase(w, NULL, (float[3]){1234.567f, -0.1f, 3}));
    ck_ok(espl_write_batch(other.world, writes, 40, NULL));
    // Absolute coordinates are moved as well, which a batch of the members does in world axes.
    for (int i = 3; i < 1000 && _i % 2 == 1; i += 50) {
        ck_assert(
            espl_write_one(other.world, all[i],
                           (espl_write_kind)(ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY),
                           (float[3]){i % 4 == 1 ? 0 : 1234.567f, -0.1f, i % 4 == 1 ? 0 : 3}) >= 0);
    }
    read_poses(w, all, ESPL_READ_WORLD_POSE, a);
    read_poses(other.world, all, ESPL_READ_WORLD_POSE, b);
    for (int i = 0; i < 1000; ++i) {
        const bool is_alike = memcmp(&a[i], &b[i], sizeof *a) == 0;

        // The batch computes locals of members with some absolute coordinates anew, which rounds the others.
        ck_assert(is_alike || (_i % 2 == 1 && fabsf(a[i].position[0] - b[i].position[0]) < 2e-3f));
    }
    if (with_motion) {
        read_poses(w, all, ESPL_READ_PREVIOUS_LOCAL_POSE, a);
        read_poses(other.world, all, ESPL_READ_PREVIOUS_LOCAL_POSE, b);
        for (int i = 0; i < 40; ++i) {
            ck_assert(fabsf(a[25 * i].position[0] - b[25 * i].position[0]) < 1e-3f);
        }
    }
    test_world_is_valid(w);
    test_world_end(&other);
    free(writes);
    free(a);
    free(b);
    free(all);
}

// --- Origins ---

TEST(what_is_read_relative_to_an_origin_is_near_it)
{
    espl_entity *const tree = make_trees(w, 2, 3, 1);
    espl_origin camera;
    float position[3], matrix[12];
    espl_transform transform;

    ck_ok(set_absolute(tree[0], 3e9, 1e9, -2e9));
    ck_ok(set_absolute(tree[3], 3e9 + 5000.125, 1e9, -2e9));
    ck_ok(espl_get_origin(w, tree[0], &camera));
    ck_ok(espl_read_relative(w, &camera, ESPL_READ_WORLD_POSITION, &tree[3], 1, sizeof *tree,
                             position, sizeof position));
    ck_assert(fabsf(position[0] - 5000.125f) < 1e-3f && fabsf(position[1]) < 1e-3f);
    ck_ok(espl_read_relative(w, &camera, ESPL_READ_WORLD_TRANSFORM, &tree[4], 1, sizeof *tree,
                             &transform, sizeof transform));
    ck_ok(espl_get_relative_matrix(w, tree[4], &camera, ESPL_MATRIX_3X4, matrix));
    ck_assert(transform.position[0] == matrix[3]);
    ck_ok(espl_read_relative(w, &camera, ESPL_READ_SHOWN_POSE, &tree[4], 1, sizeof *tree,
                             &transform, sizeof(espl_pose)));
    // Refusals.
    ck_status(espl_read_relative(w, NULL, ESPL_READ_WORLD_POSE, tree, 1, sizeof *tree, &transform,
                                 sizeof transform),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_read_relative(w, &camera, ESPL_READ_LOCAL_POSE, tree, 1, sizeof *tree,
                                 &transform, sizeof transform),
              ESPL_ERR_ARGUMENT);
    ck_status(
        espl_read_relative(w, &camera, ESPL_READ_WORLD_POSE, tree, 1, sizeof *tree, &transform, 4),
        ESPL_ERR_ARGUMENT);
    camera.offset[1] = NAN;
    ck_status(espl_read_relative(w, &camera, ESPL_READ_WORLD_POSE, tree, 1, sizeof *tree,
                                 &transform, sizeof transform),
              ESPL_ERR_NOT_FINITE);
    ck_status(espl_get_relative_matrix(w, tree[4], &camera, ESPL_MATRIX_3X4, matrix),
              ESPL_ERR_NOT_FINITE);
    camera.offset[1] = 0;
    ck_ok(espl_destroy(w, tree[5], ESPL_EXTENT_SUBTREE));
    ck_status(espl_read_relative(w, &camera, ESPL_READ_WORLD_POSITION, tree + 5, 1, sizeof *tree,
                                 position, sizeof position),
              ESPL_PARTLY);
    free(tree);
}

// --- Structure across cells ---

// Give a copy of a parent to a child of another cell, by each rule, and compare the absolute position.
TEST(an_attach_keeps_the_world_across_cells)
{
    espl_entity *const tree = make_trees(w, 2, 4, 1);

    ck_ok(set_absolute(tree[0], 1e6, 0, 0));
    ck_ok(set_absolute(tree[4], 1e6 + 3000.5, 10, 0));
    ck_ok(espl_set_inherit(w, tree[7], ESPL_ABSOLUTE_X));
    const spot before = spot_of(tree[5]), kept = spot_of(tree[7]), root = spot_of(tree[4]);

    ck_ok(espl_attach(w, tree[4], tree[3], NULL));
    const spot after = spot_of(tree[5]), kept_after = spot_of(tree[7]), below = spot_of(tree[4]);

    ck_assert(distance(&before, &after) < 1e-3 && distance(&kept, &kept_after) < 1e-3);
    ck_assert(distance(&root, &below) < 1e-3);
    ck_assert_int_eq(place_of(tree[7]).cell[0], place_of(tree[0]).cell[0]);
    // A detached hierarchy stays in the cell.
    ck_ok(espl_detach(w, tree[5], ESPL_KEEP_WORLD));
    ck_assert_int_eq(place_of(tree[7]).cell[0], place_of(tree[0]).cell[0]);
    const spot detached = spot_of(tree[5]);

    ck_assert(distance(&before, &detached) < 1e-3);
    test_world_is_valid(w);
    free(tree);
}

TEST(an_attach_over_many_cells_says_that_it_is_lossy)
{
    espl_entity *const solos = test_array(3, sizeof *solos);
    espl_entity member;

    test_solos(w, 3, solos);
    set_cell(solos[1], 1024, 0, 0);
    set_cell(solos[2], 1025, 0, 0);
    ck_ok(espl_attach(w, solos[1], solos[0], NULL));
    ck_status(espl_attach(w, solos[2], solos[0], NULL), ESPL_LOSSY);
    ck_ok(espl_detach(w, solos[2], ESPL_KEEP_WORLD));
    set_cell(solos[2], 5000, 0, 0);
    // It speaks of the entity that is attached, not of coordinates that members below it keep.
    ck_ok(espl_create_node(w, solos[2], NULL, NULL, &member));
    ck_ok(espl_set_inherit(w, member, ESPL_ABSOLUTE_X));
    const spot before = spot_of(member);

    ck_ok(espl_attach(w, solos[2], solos[0], &test_keep_local));
    const spot after = spot_of(member), top = spot_of(solos[2]);

    ck_assert(distance(&before, &after) < 1 && distance(&top, &after) > 1e3);
    free(solos);
}

TEST(an_attach_that_shifts_nothing_is_not_lossy)
{
    const espl_attach_options copies = {.inherit = ESPL_COPY_PARENT};
    espl_entity *const solos = test_array(3, sizeof *solos);
    espl_entity bare, child;

    test_solos(w, 3, solos);
    set_cell(solos[1], 5000, 0, 0);
    set_cell(solos[2], -5000, 0, 0);
    ck_ok(espl_attach(w, solos[1], solos[0], &copies));
    ck_ok(espl_create(w, NULL, 0, 1, &bare));
    ck_ok(espl_attach(w, bare, solos[2], NULL));
    ck_ok(espl_attach(w, bare, solos[0], NULL));
    // What is below an entity without a transform keeps its world.
    ck_ok(espl_create_node(w, bare, NULL, NULL, &child));
    ck_status(espl_attach(w, bare, solos[2], NULL), ESPL_LOSSY);
    ck_ok(espl_set_inherit(w, child, ESPL_COPY_PARENT));
    ck_ok(espl_attach(w, bare, solos[0], NULL));
    test_world_is_valid(w);
    free(solos);
}

// --- At random ---

enum { ENTITIES = 60 };

// Allowed differences: a few roundings of coordinates that are a hundred cells from their cells at most.
static double allowed(const espl_entity *all, uint32_t count)
{
    float reach = SIZE;

    for (uint32_t i = 0; i < count; ++i) {
        const place p = place_of(all[i]);

        for (int axis = 0; axis < 3; ++axis) {
            reach = fabsf(p.position[axis]) > reach ? fabsf(p.position[axis]) : reach;
        }
    }
    return 12 * (double)reach * 0x1p-23;
}

// Move an entity and all below it in the model by a change that the world made of it.
typedef struct model {
    espl_entity all[ENTITIES];
    spot at[ENTITIES];
    uint32_t count;
} model;

static void look(model *m)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        m->at[i] = spot_of(m->all[i]);
    }
}

// Compare all spots with the model, and keep those of the world.
static void compare(model *m, double slack)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const spot now = spot_of(m->all[i]);

        ck_assert(distance(&now, &m->at[i]) <= slack);
        m->at[i] = now;
    }
}

// A change that moves nothing. @return false: it was refused.
static bool keep_all(model *m, uint64_t *random)
{
    const espl_entity one = m->all[test_below(random, m->count)];
    const espl_entity other = m->all[test_below(random, m->count)];
    espl_command_buffer *commands = NULL;
    espl_recorder *recorder = NULL;

    switch (test_below(random, 7)) {
    case 0:
        return espl_attach(w, one, other, NULL) >= 0;
    case 1:
        return espl_detach(w, one, ESPL_KEEP_WORLD) >= 0;
    case 2:
        return espl_recenter(w, 0, NULL) >= 0;
    case 3:
        return espl_set_inherit(w, one, test_below(random, 8)) >= 0;
    case 4:
        return espl_compact(w) >= 0;
    case 5:
        commands = test_commands(w, 1);
        recorder = espl_command_buffer_recorder(commands, 0);
        ck_ok(espl_record_attach(recorder, 0, one, other, NULL));
        ck_ok(espl_record_detach(recorder, 0, one, ESPL_KEEP_WORLD));
        ck_ok(espl_record_attach(recorder, 0, other, one, NULL));
        // In half of the cases it lacks memory, and is undone.
        if (test_one_in(random, 2)) {
            test_free_scratch(w);
            test_heap_arm(&test.heap, 1 + test_below(random, 12), true);
        }
        (void)espl_play(w, commands, NULL);
        test_heap_arm(&test.heap, 0, false);
        espl_command_buffer_destroy(commands);
        return true;
    default:
        if (m->count < ENTITIES / 2) {
            return false;
        }
        // Survivors keep their worlds.
        for (uint32_t i = 0; i < m->count; ++i) {
            if (espl_entity_equal(m->all[i], one)) {
                ck_assert(espl_destroy(w, one, ESPL_EXTENT_ENTITY) >= 0);
                m->count -= 1;
                m->all[i] = m->all[m->count];
                m->at[i] = m->at[m->count];
                break;
            }
        }
        return true;
    }
}

// Move all, or one hierarchy, by what the model adds.
static void move_some(model *m, uint64_t *random)
{
    const int32_t by[3] = {(int32_t)test_below(random, 9) - 4, 1, -1};
    const uint32_t number = test_below(random, m->count);
    const espl_entity one = m->all[number];
    double wanted[3];

    switch (test_below(random, 3)) {
    case 0:
        ck_ok(espl_rebase(w, by, NULL));
        for (uint32_t i = 0; i < m->count; ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                m->at[i].cells[axis] += by[axis];
            }
        }
        return;
    case 1:
        for (int axis = 0; axis < 3; ++axis) {
            wanted[axis] = (double)test_between(random, -1, 1) * 50 * SIZE;
        }
        if (set_absolute(one, wanted[0], wanted[1], wanted[2]) >= 0) {
            double got[3];

            ck_ok(espl_read_one(w, one, ESPL_READ_ABSOLUTE_POSITION, got));
            for (int axis = 0; axis < 3; ++axis) {
                ck_assert(fabs(got[axis] - wanted[axis]) <= allowed(m->all, m->count));
            }
        }
        look(m);
        return;
    default:
        if (m->count < ENTITIES) {
            const espl_entity made = test_solo_at(w, test_between(random, -9000, 9000), 1, 2);

            ck_ok(espl_write_one(w, made, ESPL_WRITE_CELL, by));
            m->all[m->count] = made;
            m->at[m->count] = spot_of(made);
            m->count += 1;
        }
    }
}

TEST_LOOP(random_changes_across_cells_follow_integers, 0, 8)
{
    uint64_t random = 100 + (uint64_t)_i;
    model m = {.count = 20};

    if (_i % 2 == 1) {
        ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    }
    for (uint32_t i = 0; i < m.count; ++i) {
        m.all[i] = test_solo_at(w, (float)i, 0, 0);
    }
    look(&m);
    for (int i = 0; (size_t)i < test_scaled_alone(3000); ++i) {
        if (_i % 2 == 1 && test_one_in(&random, 10)) {
            ck_ok(espl_tick_begin(w));
        }
        if (test_one_in(&random, 3)) {
            move_some(&m, &random);
        } else {
            const double before = allowed(m.all, m.count);

            (void)keep_all(&m, &random);
            compare(&m, before + allowed(m.all, m.count));
        }
        if (_i % 2 == 1 && test_one_in(&random, 10)) {
            ck_assert(espl_present(w, 0.5f, NULL) >= 0);
        }
        test_world_is_valid(w);
    }
}

// --- While the world is busy ---

// How often the world refused to move.
typedef struct guarded {
    size_t refusals;
} guarded;

static void refuse_places(guarded *g)
{
    size_t count = 7;

    ck_status(espl_rebase(w, (int32_t[3]){1, 0, 0}, NULL), ESPL_ERR_BUSY);
    ck_status(espl_rebase(w, NULL, (float[3]){1, 0, 0}), ESPL_ERR_BUSY);
    ck_status(espl_recenter(w, 0, &count), ESPL_ERR_BUSY);
    ck_assert_uint_eq(count, 0);
    g->refusals += 1;
}

static void run_refused(void *context, espl_job function, void *argument, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        refuse_places(context);
        function(argument, i);
    }
}

static void refuse_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    refuse_places(context);
}

TEST(places_of_the_world_stay_while_jobs_run)
{
    guarded g = {.refusals = 0};
    const espl_executor executor = {&g, 2, run_refused};
    const espl_parallel_def def = {.function = refuse_in_job, .context = &g};
    size_t count = 0;

    tear_down();
    test_world_cells(SIZE);
    test_world_begin(&test, 1, &executor);
    w = test.world;
    (void)test_solo_at(w, 3.0f * SIZE, 0, 0);
    test_solos(w, 20, NULL);
    test_cut_jobs(w, 4);
    const uint64_t before = test_physical_hash(w);

    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_uint_eq(test_physical_hash(w), before);
    ck_assert_uint_gt(g.refusals, 1);
    ck_ok(espl_recenter(w, 0, &count));
    ck_assert_uint_eq(count, 1);
}

static void move_places(void *user, const espl_custom_calls *calls)
{
    (void)calls;
    ck_ok(espl_rebase(w, (int32_t[3]){1, 0, 0}, NULL));
    ck_ok(espl_recenter(w, 0, user));
}

// Neither is structural.
TEST(places_of_the_world_may_change_in_a_custom_command_and_in_a_query)
{
    const espl_entity far = test_solo_at(w, 3.0f * SIZE, 0, 0);
    const espl_query_def all = {.include = 0};
    size_t count = 0;
    const espl_custom_command_def def = {.name = "move", .user = &count, .function = move_places};
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_custom_command number;
    espl_query query;

    ck_ok(espl_command_register(w, &def, &number));
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, number, &count,
                             sizeof count, 8));
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
    ck_assert_uint_eq(count, 1);
    check_cell(far, 4, 0, 0);
    ck_ok(espl_query_begin_read(w, &all, &query));
    while (espl_query_next(&query)) {
        ck_ok(espl_rebase(w, (int32_t[3]){0, 1, 0}, NULL));
        ck_ok(espl_recenter(w, 0.5f, &count));
    }
    check_cell(far, 4, 1, 0);
}

// SPDX-License-Identifier: MIT
// Cells as a part of the value of a world: images, archives, histories, watches, playbacks that are undone,
// batches, clones, copies between worlds, and motion.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <espalier/far.h>
#include <espalier/history.h>

#include <math.h>
#include <string.h>

#ifdef ESPL_SHRUNKEN
enum { NODES = 30 };
#else
enum { NODES = 60 };
#endif
enum { SIZE = 1024 };

static espl_entity nodes[NODES];

static void set_up_cells(void)
{
    test_world_cells(SIZE);
    set_up();
}

FIXTURE(set_up_cells, tear_down);

static void get_cell(const espl_world *world, espl_entity entity, int32_t out[3])
{
    ck_ok(espl_read_one(world, entity, ESPL_READ_CELL, out));
}

static void check_cell(const espl_world *world, espl_entity entity, int32_t x, int32_t y, int32_t z)
{
    int32_t cell[3];

    get_cell(world, entity, cell);
    ck_assert_msg(cell[0] == x && cell[1] == y && cell[2] == z, "cell %d %d %d", cell[0], cell[1],
                  cell[2]);
}

static void check_far(espl_entity entity, const double wanted[3], double slack)
{
    double got[3];

    ck_ok(espl_read_one(w, entity, ESPL_READ_ABSOLUTE_POSITION, got));
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(fabs(got[i] - wanted[i]) <= slack, "axis %d: %f, not %f", i, got[i],
                      wanted[i]);
    }
}

// Hierarchies of five in cells of their own.
static void make_scene(espl_world *world)
{
    espl_entity *const made = make_trees(world, NODES / 5, 5, 2);

    memcpy(nodes, made, sizeof nodes);
    free(made);
    for (int i = 0; i < NODES; i += 5) {
        ck_ok(espl_write_one(world, nodes[i], ESPL_WRITE_CELL, (int32_t[3]){i - 20, 7, -i}));
        ck_ok(espl_set_world_position(world, nodes[i], (float[3]){(float)i * 3, 0.25f, 1}));
        ck_ok(espl_set_inherit(world, nodes[i + 4], ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z));
    }
}

// One change of any kind, which may be refused.
static void change(espl_world *world, uint64_t *random)
{
    const espl_entity one = nodes[test_below(random, NODES)],
                      two = nodes[test_below(random, NODES)];
    const int32_t cell[3] = {(int32_t)test_below(random, 9), -1, (int32_t)test_below(random, 5)};
    double position[3];

    for (int i = 0; i < 3; ++i) {
        position[i] = (double)test_between(random, -2e4f, 2e4f);
    }
    switch (test_below(random, 9)) {
    case 0:
        (void)!espl_attach(world, one, two, NULL);
        break;
    case 1:
        (void)!espl_detach(world, one, ESPL_KEEP_WORLD);
        break;
    case 2:
        (void)!espl_write_one(world, one, ESPL_WRITE_CELL, cell);
        break;
    case 3:
        (void)!espl_write_one(world, one, ESPL_WRITE_ABSOLUTE_POSITION, position);
        break;
    case 4:
        (void)!espl_rebase(world, cell, NULL);
        break;
    case 5:
        (void)!espl_recenter(world, 0.5f, NULL);
        break;
    case 6:
        (void)!espl_destroy(world, one, ESPL_EXTENT_ENTITY);
        break;
    case 7:
        (void)!espl_instantiate(world, &(espl_instance_def){.source = one}, 1,
                                &nodes[test_below(random, NODES)]);
        break;
    default:
        (void)!espl_set_local_position(world, one, (float[3]){(float)cell[0] * 99.5f, 3, 1});
        break;
    }
}

// --- Values ---

TEST(an_image_has_the_cells)
{
    uint64_t random = 1;
    test_world other, plain, finer;
    espl_format_fault fault;

    make_scene(w);
    for (int i = 0; i < 200; ++i) {
        change(w, &random);
    }
    test_image image = test_image_of(w);

    test_world_cells(SIZE);
    test_world_begin(&other, 1, NULL);
    test_image_load(other.world, &image, 0);
    test_image_compare(w, other.world);
    test_world_end(&other);
    test_world_begin(&plain, 1, NULL);
    ck_status(espl_image_load(plain.world, image.bytes, image.size, 0, &fault), ESPL_ERR_VERSION);
    ck_assert_ptr_nonnull(strstr(fault.sentence, "cells"));
    test_world_end(&plain);
    test_world_cells(SIZE / 2);
    test_world_begin(&finer, 1, NULL);
    ck_status(espl_image_load(finer.world, image.bytes, image.size, 0, &fault), ESPL_ERR_VERSION);
    test_world_end(&finer);
    test_image_end(&image);
}

TEST_LOOP(a_history_goes_back_to_the_cells_of_a_frame, 0, 4)
{
    enum { FRAMES = 40 };
    uint64_t random = 5 + (uint64_t)_i, hashes[FRAMES], logical[FRAMES];
    espl_history *history = NULL;
    espl_rewind report;

    make_scene(w);
    if (_i % 2 == 1) {
        ck_ok(espl_motion_start(w, NULL));
    }
    ck_ok(espl_history_create(w, &(espl_history_def){.frames = FRAMES, .flags = ESPL_HISTORY_HASH},
                              &history));
    for (int round = 0; round < 4; ++round) {
        uint64_t first = 0, last = 0;

        for (uint64_t frame = 0; frame < FRAMES; ++frame) {
            for (uint32_t i = test_below(&random, 6); i > 0; --i) {
                change(w, &random);
            }
            if (_i % 2 == 1 && test_one_in(&random, 4)) {
                ck_ok(espl_tick_begin(w));
            }
            ck_ok(espl_history_mark(history, (uint64_t)round * 1000 + frame));
            hashes[frame] = test_physical_hash(w);
            logical[frame] = test_logical_hash(w);
        }
        ck_assert(espl_history_range(history, &first, &last));
        for (int back = FRAMES - 2; back >= 0; back -= 1 + (int)test_below(&random, 9)) {
            const uint64_t frame = (uint64_t)round * 1000 + (uint64_t)back;

            for (uint32_t i = test_below(&random, 6); i > 0; --i) {
                change(w, &random);
            }
            if (frame < first) {
                break;
            }
            ck_ok(espl_history_rewind(history, frame, 0, &report));
            ck_assert_uint_eq(test_physical_hash(w), hashes[back]);
            ck_assert_uint_eq(test_logical_hash(w), logical[back]);
            test_world_is_valid(w);
        }
    }
    espl_history_destroy(history);
}

TEST(an_archive_has_the_cells_of_roots)
{
    uint64_t random = 9;
    test_world other, below, plain;
    espl_format_fault fault;

    make_scene(w);
    for (int i = 0; i < 100; ++i) {
        change(w, &random);
    }
    test_archive archive = test_archive_of(w, NULL);

    test_world_cells(SIZE);
    test_world_begin(&other, 1, NULL);
    ck_ok(test_archive_read(other.world, &archive, NULL));
    ck_assert_uint_eq(test_logical_hash(other.world), test_logical_hash(w));
    test_world_end(&other);
    // Below a parent the cells are not used.
    test_world_cells(SIZE);
    test_world_begin(&below, 1, NULL);
    const espl_entity parent = test_solo(below.world);

    ck_ok(test_archive_read(below.world, &archive, &(espl_archive_read_def){.parent = parent}));
    check_cell(below.world, parent, 0, 0, 0);
    test_world_end(&below);
    test_world_begin(&plain, 1, NULL);
    ck_status(espl_archive_read(plain.world, archive.bytes, archive.size, NULL, &fault),
              ESPL_ERR_VERSION);
    test_world_end(&plain);
    // A bit of the section, with a checksum that is right no more.
    archive.bytes[archive.size - 2] ^= 1;
    ck_status(espl_archive_read(w, archive.bytes, archive.size, NULL, &fault), ESPL_ERR_FORMAT);
    test_archive_end(&archive);
}

// A world whose cells are all 0 writes the archive of a world without cells.
TEST(an_archive_without_cells_has_no_section_for_them)
{
    test_world plain;

    (void)test_solo_at(w, 1, 2, 3);
    test_world_begin(&plain, 1, NULL);
    (void)test_solo_at(plain.world, 1, 2, 3);
    test_archive a = test_archive_of(w, NULL), b = test_archive_of(plain.world, NULL);

    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.bytes, b.bytes, a.size);
    ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(plain.world));
    ck_assert_uint_eq(test_physical_hash(w), test_physical_hash(plain.world));
    test_archive_end(&a);
    test_archive_end(&b);
    test_world_end(&plain);
}

TEST(an_applied_archive_restores_the_cells)
{
    const espl_archive_def def = {.flags = ESPL_ARCHIVE_HANDLES};

    make_scene(w);
    ck_ok(espl_write_one(w, nodes[5], ESPL_WRITE_CELL, (int32_t[3]){0, 0, 0}));
    test_archive archive = test_archive_of(w, &def);
    const uint64_t hash = test_logical_hash(w);

    // In place, with a cell that the archive does not name, too.
    ck_ok(espl_write_one(w, nodes[0], ESPL_WRITE_CELL, (int32_t[3]){9, 9, 9}));
    ck_ok(espl_write_one(w, nodes[5], ESPL_WRITE_CELL, (int32_t[3]){9, 9, 9}));
    ck_ok(espl_archive_apply(w, archive.bytes, archive.size, NULL, NULL, NULL));
    ck_assert_uint_eq(test_logical_hash(w), hash);
    // With another structure.
    ck_ok(espl_attach(w, nodes[10], nodes[0], NULL));
    ck_ok(espl_rebase(w, (int32_t[3]){1, 1, 1}, NULL));
    ck_ok(espl_archive_apply(w, archive.bytes, archive.size, NULL, NULL, NULL));
    ck_assert_uint_eq(test_logical_hash(w), hash);
    test_archive_end(&archive);
}

// --- Watches ---

TEST(a_rebase_by_cells_is_a_change_of_cells_alone)
{
    const espl_watch_def all = {.flags = ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_CELL};
    const espl_watch_def own = {.flags = ESPL_WATCH_LOCAL | ESPL_WATCH_CELL};
    espl_watch *watch = NULL, *tops = NULL;
    espl_changes changes;
    test_world plain;

    make_scene(w);
    ck_ok(espl_watch_create(w, &all, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_watch_create(w, &own, &tops));
    ck_ok(espl_watch_collect(tops, 0, &changes));
    ck_ok(espl_rebase(w, (int32_t[3]){3, 0, 0}, NULL));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, NODES);
    for (size_t i = 0; i < changes.changed_count; ++i) {
        ck_assert_uint_eq(changes.kinds[i], ESPL_WATCH_CELL);
    }
    ck_ok(espl_watch_collect(tops, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, NODES / 5);
    for (size_t i = 0; i < changes.changed_count; ++i) {
        ck_assert_uint_eq(changes.kinds[i], ESPL_WATCH_CELL);
        ck_assert(espl_entity_is_null(espl_get_parent(w, changes.changed[i])));
    }
    espl_watch_destroy(tops);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 0);
    ck_ok(espl_rebase(w, NULL, (float[3]){0, 1, 0}));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, NODES);
    // A recenter changes the places of one hierarchy.
    ck_ok(espl_set_world_position(w, nodes[0], (float[3]){5000, 0, 0}));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_recenter(w, 0, NULL));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 5);
    ck_assert((changes.kinds[0] & ESPL_WATCH_CELL) != 0);
    espl_watch_destroy(watch);
    test_world_begin(&plain, 1, NULL);
    ck_status(espl_watch_create(plain.world, &all, &watch), ESPL_ERR_ARGUMENT);
    test_world_end(&plain);
    ck_status(espl_watch_create(w, &(espl_watch_def){.flags = ESPL_WATCH_CELL | ESPL_WATCH_BEFORE},
                                &watch),
              ESPL_ERR_ARGUMENT);
}

// --- Playbacks and batches ---

static espl_command_buffer *record_all(void)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const r = espl_command_buffer_recorder(commands, 0);
    const espl_transform at = test_at(1, 2, 3);
    espl_entity made[2];

    ck_ok(espl_record_spawn(r, 0, nodes[5], test_null, &at, &made[0]));
    ck_ok(espl_record_write(r, 0, made[0], ESPL_WRITE_CELL, (int32_t[3]){8, 8, 8}));
    ck_ok(espl_record_attach(r, 0, nodes[10], nodes[3], NULL));
    ck_ok(espl_record_detach(r, 0, nodes[12], ESPL_KEEP_WORLD));
    ck_ok(espl_record_write(r, 0, nodes[12], ESPL_WRITE_CELL, (int32_t[3]){1, 2, 3}));
    ck_ok(espl_record_attach(r, 0, nodes[12], nodes[20], NULL));
    ck_ok(espl_record_detach(r, 0, nodes[12], ESPL_KEEP_WORLD));
    ck_ok(espl_record_write(r, 0, nodes[15], ESPL_WRITE_ABSOLUTE_POSITION,
                            (double[3]){1e6, -1e6, 2}));
    ck_ok(espl_record_write(r, 0, nodes[16], ESPL_WRITE_ABSOLUTE_POSITION,
                            (double[3]){1e6 + 3, -1e6, 2}));
    ck_ok(espl_record_destroy(r, 0, nodes[25], ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_instantiate(
        r, 0, &(espl_instance_def){.source = nodes[15], .parent = nodes[0]}, 2, made));
    return commands;
}

// A node made since the mark gave the root another slot.
TEST_LOOP(a_cell_that_a_rewind_sets_back_is_reported, 0, 4)
{
    const uint32_t flags =
        ESPL_WATCH_WORLD | ESPL_WATCH_CELL | (_i % 2 == 1 ? ESPL_WATCH_BEFORE : 0);
    espl_history *history = NULL;
    espl_watch *watch = NULL;
    espl_changes changes;

    const espl_entity root = test_solo(w);

    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_watch_create(w, &(espl_watch_def){.flags = flags}, &watch));
    ck_ok(espl_history_mark(history, 1));
    if (_i >= 2) {
        espl_entity child;

        ck_ok(espl_create_node(w, root, NULL, NULL, &child));
    }
    ck_ok(espl_rebase(w, (int32_t[3]){1, 0, 0}, NULL));
    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_watch_collect(watch, 0, &changes));
    }
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], root));
    ck_assert((changes.kinds[0] & ESPL_WATCH_CELL) != 0);
    ck_assert_int_eq(changes.changed_cells[0].cell[0], 0);
    espl_watch_destroy(watch);
    espl_history_destroy(history);
}

TEST_LOOP(a_playback_that_lacks_memory_restores_the_cells, 0, 2)
{
    espl_pose shown[NODES], again[NODES];
    size_t failures = 0;

    make_scene(w);
    if (_i == 1) {
        ck_ok(espl_motion_start(w, NULL));
        ck_ok(espl_tick_begin(w));
        ck_ok(espl_translate_own(w, nodes[15], (float[3]){8, 0, 0}));
        ck_ok(espl_present(w, 0.5f, NULL));
    }
    const uint64_t hash = test_physical_hash(w);

    ck_ok(espl_read_strided(w, ESPL_READ_SHOWN_POSE, nodes, NODES, sizeof *nodes, shown,
                            sizeof *shown));

    for (size_t n = 1;; ++n) {
        espl_command_buffer *const commands = record_all();

        test_free_scratch(w);
        test_heap_arm(&test.heap, n, true);
        const espl_status status = espl_play(w, commands, NULL);

        test_heap_arm(&test.heap, 0, false);
        espl_command_buffer_destroy(commands);
        if (status != ESPL_ERR_NO_MEMORY) {
            ck_assert_int_ge(status, 0);
            break;
        }
        failures += 1;
        ck_assert_uint_eq(test_physical_hash(w), hash);
        ck_ok(espl_read_strided(w, ESPL_READ_SHOWN_POSE, nodes, NODES, sizeof *nodes, again,
                                sizeof *again));
        ck_assert(memcmp(again, shown, sizeof shown) == 0);
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(failures, 3);
    check_cell(w, nodes[12], 0, 7, -20);
    check_far(nodes[16], (double[3]){1e6 + 3, -1e6, 2}, 1e-3);
    test_world_is_valid(w);
}

// Writes one by one, in a batch, strided, from a job and recorded give the same world.
static void write_forms(espl_world *world, int form)
{
    enum { COUNT = NODES / 5 };
    const espl_write_kind kinds[2] = {ESPL_WRITE_CELL, ESPL_WRITE_ABSOLUTE_POSITION};
    espl_write writes[COUNT];
    double values[COUNT][3];

    for (int i = 0; i < COUNT; ++i) {
        const int32_t cell[3] = {i, 3 - i, 5};

        writes[i] = (espl_write){.entity = nodes[5 * i + (i % 3 == 2 ? 1 : 0)],
                                 .kind = form == 2 ? kinds[1] : kinds[i % 2]};
        for (int axis = 0; axis < 3; ++axis) {
            values[i][axis] = 1000.125 * (i - 4) * (axis + 1);
        }
        memcpy(&writes[i].value, values[i], sizeof values[i]);
        if (writes[i].kind == ESPL_WRITE_CELL) {
            memcpy(writes[i].value.cell, cell, sizeof cell);
        }
    }
    if (form == 0 || form == 2) {
        for (int i = 0; i < COUNT; ++i) {
            (void)espl_write_one(world, writes[i].entity, writes[i].kind, &writes[i].value);
        }
    } else if (form == 1) {
        ck_assert_int_ge(espl_write_batch(world, writes, COUNT, NULL), 0);
    } else if (form == 3) {
        espl_entity entities[COUNT];

        for (int i = 0; i < COUNT; ++i) {
            entities[i] = writes[i].entity;
        }
        ck_assert_int_ge(espl_write_strided(world, kinds[1], entities, COUNT, sizeof *entities,
                                            values, sizeof *values, NULL),
                         0);
    } else {
        espl_command_buffer *const commands = test_commands(world, 1);

        for (int i = 0; i < COUNT; ++i) {
            ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, writes[i].entity,
                                    writes[i].kind, &writes[i].value));
        }
        (void)!espl_play(world, commands, NULL);
        espl_command_buffer_destroy(commands);
    }
}

TEST(each_form_of_a_write_gives_the_same_world)
{
    uint64_t hashes[5];

    for (int form = 0; form < 5; ++form) {
        test_world other;

        test_world_cells(SIZE);
        test_world_begin(&other, 1, NULL);
        make_scene(other.world);
        write_forms(other.world, form);
        hashes[form] = test_logical_hash(other.world);
        test_world_end(&other);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_eq(hashes[0], hashes[4]);
    ck_assert_uint_eq(hashes[2], hashes[3]);
    ck_assert_uint_ne(hashes[0], hashes[2]);
}

// A batch of two writes of one hierarchy, in both orders.
TEST(a_batch_writes_cells_in_its_order)
{
    espl_write writes[3] = {{.entity = {0, 0}, .kind = ESPL_WRITE_LOCAL_POSITION},
                            {.entity = {0, 0}, .kind = ESPL_WRITE_ABSOLUTE_POSITION},
                            {.entity = {0, 0}, .kind = ESPL_WRITE_CELL}};
    const double far[3] = {1e5, 0, 0};

    make_scene(w);
    for (int i = 0; i < 3; ++i) {
        writes[i].entity = nodes[0];
    }
    writes[0].value.position[1] = 7;
    memcpy(&writes[1].value, far, sizeof far);
    writes[2].value.cell[0] = -3;
    ck_ok(espl_write_batch(w, writes, 3, NULL));
    check_cell(w, nodes[4], -3, 0, 0);
    check_far(nodes[0], (double[3]){1e5 - (98 + 3) * 1024.0, 0, 0}, 1e-3);
}

// --- New entities ---

TEST(new_entities_have_the_cell_of_their_parent_or_source)
{
    const espl_transform at = test_at(1, 2, 3);
    espl_entity made[2], solo;
    int32_t cell[3];

    make_scene(w);
    get_cell(w, nodes[5], cell);
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = nodes[5]}, 2, made));
    check_cell(w, made[1], cell[0], cell[1], cell[2]);
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = nodes[6]}, 1, made));
    check_cell(w, made[0], cell[0], cell[1], cell[2]);
    ck_ok(espl_create_node(w, test_null, &at, NULL, &solo));
    check_cell(w, solo, 0, 0, 0);
    ck_ok(espl_create_node(w, nodes[7], &at, NULL, &solo));
    check_cell(w, solo, cell[0], cell[1], cell[2]);
    ck_ok(espl_world_clear(w));
    test_solos(w, 2, made);
    check_cell(w, made[0], 0, 0, 0);
}

TEST(absolute_coordinates_of_a_copy_are_brought_to_its_cell)
{
    espl_entity made;
    double before[3], after[3];

    make_scene(w);
    ck_ok(espl_read_one(w, nodes[9], ESPL_READ_ABSOLUTE_POSITION, before));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = nodes[5], .parent = nodes[0]}, 1,
                           &made));
    const espl_entity child =
        espl_get_next_sibling(w, espl_get_first_child(w, espl_get_first_child(w, made)));

    ck_assert_uint_eq(espl_get_inherit(w, child), ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z);
    ck_ok(espl_read_one(w, child, ESPL_READ_ABSOLUTE_POSITION, after));
    ck_assert(fabs(after[0] - before[0]) < 1e-3 && fabs(after[2] - before[2]) < 1e-3);
    test_world_is_valid(w);
}

TEST(survivors_of_a_root_stay_in_its_cell)
{
    int32_t cell[3];
    double before[3];

    make_scene(w);
    get_cell(w, nodes[5], cell);
    ck_ok(espl_read_one(w, nodes[6], ESPL_READ_ABSOLUTE_POSITION, before));
    // Without memory the survivors stay in one range.
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(w, nodes[5], ESPL_EXTENT_ENTITY));
    test_heap_arm(&test.heap, 0, false);
    check_cell(w, nodes[6], cell[0], cell[1], cell[2]);
    check_far(nodes[6], before, 1e-3);
    ck_ok(espl_write_one(w, nodes[7], ESPL_WRITE_CELL, (int32_t[3]){1, 1, 1}));
    check_cell(w, nodes[6], cell[0], cell[1], cell[2]);
    check_cell(w, nodes[7], 1, 1, 1);
    ck_ok(espl_rebase(w, (int32_t[3]){1, 0, 0}, NULL));
    check_cell(w, nodes[7], 2, 1, 1);
    ck_ok(espl_compact(w));
    check_cell(w, nodes[6], cell[0] + 1, cell[1], cell[2]);
    check_cell(w, nodes[7], 2, 1, 1);
}

TEST(copies_between_worlds_keep_the_absolute_position)
{
    test_world other;

    make_scene(w);
    test_world_cells(64);
    test_world_begin(&other, 2, NULL);
    const espl_entity seen = test_solo(other.world), near = test_solo(w);

    ck_ok(espl_write_one(other.world, seen, ESPL_WRITE_CELL, (int32_t[3]){-300, 100, -60}));
    ck_ok(espl_copy_world_transforms(other.world, w, &(espl_copy){seen, nodes[6]}, 1, NULL));
    double a[3], b[3];

    ck_ok(espl_read_one(w, nodes[6], ESPL_READ_ABSOLUTE_POSITION, a));
    ck_ok(espl_read_one(other.world, seen, ESPL_READ_ABSOLUTE_POSITION, b));
    ck_assert(fabs(a[0] - b[0]) < 0.01 && fabs(a[1] - b[1]) < 0.01);
    ck_ok(espl_copy_world_transforms(w, w, &(espl_copy){near, nodes[6]}, 1, NULL));
    check_far(near, a, 0.01);
    test_world_end(&other);
}

// --- Motion ---

static float shown_x(espl_entity entity, const espl_origin *from)
{
    float position[3];

    ck_ok(espl_read_relative(w, from, ESPL_READ_SHOWN_POSITION, &entity, 1, sizeof entity, position,
                             sizeof position));
    return position[0];
}

// Write two values of an entity: one by one, in a batch, or by commands.
static void write_both(int form, espl_entity entity, espl_write_kind first, const void *value,
                       espl_write_kind second, const void *other)
{
    espl_write writes[2] = {{entity, first, {{0}}}, {entity, second, {{0}}}};

    memcpy(&writes[0].value, value, sizeof(float[3]));
    memcpy(&writes[1].value, other, sizeof(float[3]));
    if (form == 1) {
        ck_ok(espl_write_batch(w, writes, 2, NULL));
        return;
    }
    espl_command_buffer *const commands = form == 2 ? test_commands(w, 1) : NULL;

    for (int i = 0; i < 2; ++i) {
        ck_ok(form == 0 ? espl_write_one(w, entity, writes[i].kind, &writes[i].value)
                        : espl_record_write(espl_command_buffer_recorder(commands, 0), 0, entity,
                                            writes[i].kind, &writes[i].value));
    }
    if (form == 2) {
        ck_ok(espl_play(w, commands, NULL));
    }
    espl_command_buffer_destroy(commands);
}

// A ship and its mast move by a meter a tick; in the middle of it the ship goes to another cell.
TEST_LOOP(shown_steps_are_steady_across_cells, 0, 7)
{
    const espl_origin from = {.cell = {0, 0, 0}};
    float last[2] = {0, 0};

    make_scene(w);
    ck_ok(espl_write_one(w, nodes[0], ESPL_WRITE_CELL, (int32_t[3]){0, 0, 0}));
    ck_ok(espl_set_world_position(w, nodes[0], (float[3]){1500, 0, 0}));
    ck_ok(espl_write_one(w, nodes[5], ESPL_WRITE_CELL, (int32_t[3]){2, 0, 0}));
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int tick = 0; tick < 10; ++tick) {
        ck_ok(espl_tick_begin(w));
        ck_ok(espl_write_one(w, nodes[0], ESPL_WRITE_TRANSLATE_WORLD, (float[3]){1, 0, 0}));
        if (tick == 5 && _i == 0) {
            ck_ok(espl_recenter(w, 1, NULL));
            check_cell(w, nodes[1], 1, 0, 0);
        }
        if (tick == 5 && _i >= 4) {
            write_both(_i - 4, nodes[0], ESPL_WRITE_CELL, (int32_t[3]){1, 0, 0},
                       ESPL_WRITE_TRANSLATE_WORLD, (float[3]){-SIZE, 0, 0});
        }
        ck_ok(espl_tick_end(w));
        if (tick == 5 && _i == 1) {
            ck_ok(espl_recenter(w, 1, NULL));
        }
        for (int part = 0; part < 4; ++part) {
            ck_assert(espl_present(w, (float)part / 4, NULL) >= 0);
            if (tick == 5 && part == 2 && _i == 2) {
                ck_ok(espl_recenter(w, 1, NULL));
            }
            if (tick == 5 && part == 3 && _i == 3) {
                // The mast keeps its world, and its past, below another ship, which is at rest.
                ck_ok(espl_attach(w, nodes[1], nodes[5], NULL));
                ck_assert(espl_present(w, (float)part / 4, NULL) >= 0);
            }
            for (int i = 0; i < 2; ++i) {
                const float x = shown_x(nodes[i], &from);
                const bool is_first = tick == 0 && part == 0;

                ck_assert_msg(is_first || (_i == 3 && i == 1 && tick > 5) ||
                                  fabsf(x - last[i] - 0.25f) < 2e-3f,
                              "tick %d, part %d: a step of %f", tick, part, (double)(x - last[i]));
                last[i] = x;
            }
        }
    }
    test_world_is_valid(w);
}

// Read a pose of an earlier time, or the one that is shown.
static float position_x(espl_entity entity, espl_read_kind kind)
{
    espl_pose pose;

    ck_ok(espl_read_one(w, entity, kind, &pose));
    return pose.position[0];
}

// In a tick a ship, and what keeps a coordinate aboard, fly from where they were in the old cell; between ticks, and
// with a teleport, they were always in the new one.
TEST_LOOP(a_written_cell_moves_what_was_or_leaves_it, 0, 9)
{
    const int form = _i % 3, when = _i / 3;
    const espl_write_kind second =
        when == 1 ? ESPL_WRITE_TRANSLATE_WORLD | ESPL_TELEPORT : ESPL_WRITE_TRANSLATE_WORLD;
    const float by[3] = {1 - SIZE, 0, 0}, was = when == 0 ? 1500 - SIZE : 1503 - SIZE;

    make_scene(w);
    ck_ok(espl_write_one(w, nodes[0], ESPL_WRITE_CELL, (int32_t[3]){0, 0, 0}));
    ck_ok(espl_set_world_position(w, nodes[0], (float[3]){1500, 0, 0}));
    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_X));
    ck_ok(espl_set_world_position(w, nodes[1], (float[3]){700, 0, 0}));
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_write_one(w, nodes[0], ESPL_WRITE_TRANSLATE_WORLD, (float[3]){2, 0, 0}));
    ck_ok(espl_present(w, 0.5f, NULL));
    if (when == 2) {
        ck_ok(espl_tick_end(w));
    }
    write_both(form, nodes[0], ESPL_WRITE_CELL, (int32_t[3]){1, 0, 0}, second, by);
    // Shown where it was, until the next present.
    ck_assert(position_x(nodes[0], ESPL_READ_SHOWN_POSE) == 1501 - SIZE);
    ck_assert(position_x(nodes[1], ESPL_READ_SHOWN_POSE) == 700 - SIZE);
    ck_assert(position_x(nodes[0], ESPL_READ_PREVIOUS_WORLD_POSE) == was);
    ck_assert(position_x(nodes[0], ESPL_READ_BEFORE_WORLD_POSE) == was);
    ck_assert(position_x(nodes[1], ESPL_READ_WORLD_POSE) == 700);
    ck_assert(position_x(nodes[1], ESPL_READ_PREVIOUS_WORLD_POSE) ==
              (when == 2 ? 700 : 700 - SIZE));
    ck_ok(espl_present(w, 0.5f, NULL));
    ck_assert(position_x(nodes[0], ESPL_READ_SHOWN_POSE) == (was + 1503 - SIZE) / 2);
    test_world_is_valid(w);
}

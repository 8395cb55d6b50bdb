// SPDX-License-Identifier: MIT
// Every call that changes slots, indices, rows or values is on the tape. The table has each exported
// function that is given a world that it may change, or a query, a writer or a recorder of one;
// tests/taped.sh compares it with the headers. Each function is called in a world with holes, with a
// due layout and without. Either the physical hash changes, or the table says that it never does; and
// a replay of the tape agrees in both hashes.
#include "tests/tools/recorded_frames.h"

#include "tests/asked.h"
#include "tests/images.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <espalier/renderables.h>

#include <string.h>

// The first hierarchy, with holes; a second and a third one; solos.
// Few, because a build with tiny limits holds few.
enum { TREE = 25, GONE = 5, OTHER = 9, THIRD = 9, SOLOS = 4 };
enum { FIRST_OTHER = TREE, FIRST_THIRD = TREE + OTHER, FIRST_SOLO = TREE + OTHER + THIRD };
enum {
    ENTITIES = TREE + OTHER + THIRD + SOLOS,
    OWING = 400,
    LAYOUT_BUDGET = 10,
    ROWS_AT_MOST = 128
};

typedef struct scene {
    test_heap heap;
    test_hooks hooks;
    memory_tape tape;
    espl_world *world;
    espl_component number, mark;
    espl_custom_command command;
    espl_command_buffer *commands[2];
    espl_entity e[ENTITIES];
} scene;

static scene s;
static recorded_frames noted;
static unsigned char archived[4096];

// --- The scene ---

// Writes to a root, until a layout of its hierarchy is due if that has holes.
static void owe(uint32_t root)
{
    for (int i = 0; i < OWING; ++i) {
        const float at[3] = {(float)i, 1, 0};

        ck_ok(espl_set_local_position(s.world, s.e[root], at));
    }
}

static void hear(void *user, const espl_custom_calls *calls)
{
    (void)user, (void)calls;
}

static void make_tree(uint32_t first, uint32_t count, uint32_t fan)
{
    for (uint32_t i = 1; i < count; ++i) {
        ck_ok(espl_attach(s.world, s.e[first + i], s.e[first + (i - 1) / fan], &test_keep_local));
    }
}

// Holes among the leaves of a hierarchy, which lie at its end.
static void make_holes(uint32_t first, uint32_t count, uint32_t holes)
{
    for (uint32_t i = 0; i < holes; ++i) {
        ck_ok(espl_destroy(s.world, s.e[first + count - 2 - 2 * i], ESPL_EXTENT_ENTITY));
    }
}

static void scene_begin(bool owes)
{
    const espl_custom_command_def def = {.name = "hear", .function = hear};
    s = (scene){.world = NULL};

    test_heap_init(&s.heap);
    const espl_world_def world = {.allocator = test_heap_allocator(&s.heap),
                                  .hooks = test_hooks_of(&s.hooks),
                                  .tag = 5,
                                  .tape = {&s.tape, memory_tape_append},
                                  .layout_budget = LAYOUT_BUDGET,
                                  .cell_size = 1024};
    ck_ok(espl_world_create(&world, &s.world));
    s.number = test_component(s.world, "number", 4, 4);
    s.mark = test_component(s.world, "mark", 0, 0);
    ck_ok(espl_command_register(s.world, &def, &s.command));
    const espl_component set[] = {ESPL_TRANSFORM, s.number};

    ck_ok(espl_create(s.world, set, 2, ENTITIES, s.e));
    make_tree(0, TREE, 3);
    make_tree(FIRST_OTHER, OTHER, 2);
    make_tree(FIRST_THIRD, THIRD, 2);
    make_holes(0, TREE, GONE);
    make_holes(FIRST_OTHER, OTHER, 2);
    make_holes(FIRST_THIRD, THIRD, 2);
    ck_ok(espl_set_enabled(s.world, s.e[2], ESPL_EXTENT_SUBTREE, false));
    for (int i = 0; i < 2; ++i) {
        s.commands[i] = test_commands(s.world, 2);
    }
    if (owes) {
        owe(0);
    }
}

static void scene_end(void)
{
    espl_command_buffer_destroy(s.commands[0]);
    espl_command_buffer_destroy(s.commands[1]);
    test_world_is_valid(s.world);
    espl_world_destroy(s.world);
    ck_assert_uint_eq(s.heap.bytes, 0);
}

// --- Calls that change a world ---

static void attach(void)
{
    ck_ok(espl_attach(s.world, s.e[FIRST_SOLO], s.e[1], NULL));
}

static void attach_many(void)
{
    ck_ok(espl_attach_many(s.world, &s.e[FIRST_SOLO], &s.e[1], 3, NULL, NULL));
}

static espl_change_def change_of(const espl_component_value *add)
{
    return (espl_change_def){.add = add, .add_count = 1};
}

static void change_one(void)
{
    const espl_component_value mark = {.component = s.mark};
    const espl_change_def def = change_of(&mark);

    ck_ok(espl_change_components(s.world, s.e[5], &def));
}

static void change_array(void)
{
    const espl_component_value mark = {.component = s.mark};
    const espl_change_def def = change_of(&mark);

    ck_ok(espl_change_components_array(s.world, s.e, 9, &def, NULL));
}

static void change_query(void)
{
    const espl_component_value mark = {.component = s.mark};
    const espl_change_def def = change_of(&mark);
    const espl_query_def query = {.all = &s.number, .all_count = 1};
    size_t count = 0;

    ck_ok(espl_change_components_query(s.world, &query, &def, &count));
    ck_assert_uint_gt(count, 0);
}

static void compact(void)
{
    ck_ok(espl_compact(s.world));
}

static void register_component(void)
{
    const espl_component set[] = {test_component(s.world, "late", 8, 8), ESPL_TRANSFORM};
    static const uint32_t references[] = {8};
    static const espl_component_field fields[] = {{"number", ESPL_FIELD_U32, 0, 1},
                                                  {"whom", ESPL_FIELD_ENTITY, 8, 0}};
    const espl_component_def def = {.name = "described",
                                    .size = 16,
                                    .alignment = 4,
                                    .references = references,
                                    .reference_count = 1,
                                    .version = 3,
                                    .flags = ESPL_COMPONENT_UNIQUE,
                                    .fields = fields,
                                    .field_count = 2};
    espl_component described = 0;

    ck_ok(espl_create(s.world, set, 2, 3, NULL));
    ck_ok(espl_component_register(s.world, &def, &described));
}

static void create(void)
{
    ck_ok(espl_create(s.world, &s.number, 1, 3, NULL));
}

static void create_at(void)
{
    const espl_transform at = test_at(1, 2, 3);
    const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {.values = &value, .value_count = 1, .parent = s.e[1]};

    ck_ok(espl_create_at(s.world, &def, 2, NULL));
}

static void create_node(void)
{
    const espl_transform at = test_at(1, 2, 3);

    ck_ok(espl_create_node(s.world, s.e[1], &at, "lamp", NULL));
    ck_ok(espl_create_node(s.world, espl_entity_null(), NULL, NULL, NULL));
}

static void spawn(void)
{
    ck_ok(espl_spawn(s.world, s.e[3], s.e[1], NULL, NULL));
}

static void destroy(void)
{
    ck_ok(espl_destroy(s.world, s.e[4], ESPL_EXTENT_ENTITY));
}

static void destroy_many(void)
{
    ck_ok(espl_destroy_many(s.world, &s.e[3], 3, ESPL_EXTENT_SUBTREE, NULL));
}

static void detach(void)
{
    ck_ok(espl_detach(s.world, s.e[1], ESPL_KEEP_WORLD));
}

static void disable(void)
{
    ck_ok(espl_set_enabled(s.world, s.e[1], ESPL_EXTENT_SUBTREE, false));
}

static void enable(void)
{
    ck_ok(espl_set_enabled(s.world, s.e[2], ESPL_EXTENT_SUBTREE, true));
}

static void enable_and_disable(void)
{
    disable();
    enable();
}

static void instantiate(void)
{
    const espl_instance_def def = {.source = s.e[3], .parent = s.e[1]};

    ck_ok(espl_instantiate(s.world, &def, 2, NULL));
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.e[3]}, 1, NULL));
}

static void look_at(void)
{
    const float target[3] = {3, 4, 5};

    ck_ok(espl_look_at(s.world, s.e[1], target, NULL, ESPL_AXIS_FORWARD));
}

static void record(uint32_t which)
{
    espl_recorder *const to = espl_command_buffer_recorder(s.commands[which], which);
    const espl_instance_def clone = {.source = s.e[3], .parent = s.e[1]};

    ck_ok(espl_record_attach(to, 0, s.e[FIRST_SOLO + which], s.e[1], NULL));
    ck_ok(espl_record_instantiate(to, 0, &clone, 2, NULL));
    ck_ok(espl_record_destroy(to, 1, s.e[FIRST_OTHER + 1 + which], ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_custom(to, 2, s.command, &which, sizeof which, 4));
}

// The second buffer has payloads of custom commands only, which are not on the tape.
static void play(void)
{
    const uint32_t payload = 3;

    record(0);
    ck_ok(espl_play(s.world, s.commands[0], NULL));
    owe(0);
    ck_ok(espl_record_custom(espl_command_buffer_recorder(s.commands[1], 0), 0, s.command, &payload,
                             sizeof payload, 4));
    ck_ok(espl_play(s.world, s.commands[1], NULL));
}

// First without a buffer, then with two.
static void sync_world(void)
{
    ck_ok(espl_sync(s.world, NULL));
    ck_ok(espl_destroy(s.world, s.e[5], ESPL_EXTENT_ENTITY));
    owe(0);
    record(0);
    record(1);
    ck_ok(espl_command_buffer_submit(s.commands[1]));
    ck_ok(espl_command_buffer_submit(s.commands[0]));
    ck_ok(espl_sync(s.world, NULL));
}

static void write_column(const espl_query *query)
{
    uint32_t *const numbers = espl_query_write(query, s.number, sizeof *numbers);

    ck_assert_ptr_nonnull(numbers);
    for (size_t row = 0; row < query->count; ++row) {
        numbers[row] += 1 + (uint32_t)row;
    }
}

static void write_to_the_end(void)
{
    const espl_query_def def = {.all = &s.number, .all_count = 1};
    espl_query query;

    ck_ok(espl_query_begin(s.world, &def, &query));
    while (espl_query_next(&query)) {
        write_column(&query);
    }
}

static void write_and_end(void)
{
    const espl_query_def def = {.all = &s.number, .all_count = 1};
    espl_query query;

    ck_ok(espl_query_begin(s.world, &def, &query));
    ck_assert(espl_query_next(&query));
    write_column(&query);
    espl_query_end(&query);
}

static void reserve(void)
{
    const espl_reserve_def def = {.entities = 12, .side_of = s.e[0]};

    ck_ok(espl_reserve(s.world, &def));
    ck_ok(espl_create(s.world, &s.number, 1, 12, NULL));
}

static void rotate_about(void)
{
    const float pivot[3] = {3, 4, 5}, turn[4] = {0.6f, 0, 0, 0.8f};

    ck_ok(espl_rotate_about(s.world, s.e[1], pivot, turn));
}

static void set_component(void)
{
    const uint32_t value = 9;

    ck_ok(espl_set_component(s.world, s.e[1], s.number, &value, sizeof value));
}

static void set_inherit(void)
{
    ck_ok(espl_set_inherit(s.world, s.e[1], ESPL_ABSOLUTE_Y));
}

static void set_name(void)
{
    ck_ok(espl_set_name(s.world, s.e[1], "name"));
}

static void set_counterpart(void)
{
    const espl_entity original = {7, 9u << 24 | 1};

    ck_ok(espl_set_counterpart(s.world, s.e[1], original));
    ck_status(espl_set_counterpart(s.world, s.e[2], original), ESPL_ERR_EXISTS);
    ck_ok(espl_set_counterpart(s.world, s.e[2], (espl_entity){8, 9u << 24 | 1}));
    ck_ok(espl_set_counterpart(s.world, s.e[2], espl_entity_null()));
}

// A hierarchy of another world, below a member of this one; then its changes, and the end of a part of it.
static void place_and_follow(void)
{
    const espl_placing_def def = {.parent = s.e[2]};
    espl_changes changes;
    espl_watch *watch;
    test_world other;

    test_world_begin(&other, 9, NULL);
    const espl_entity top = test_solo(other.world), below = test_solo(other.world);

    ck_ok(espl_attach(other.world, below, top, NULL));
    ck_ok(espl_watch_create(other.world, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL}, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_place_counterparts(s.world, other.world, top, &def, NULL));
    ck_ok(espl_set_local_position(other.world, top, (float[3]){1, 2, 3}));
    ck_ok(espl_destroy(other.world, below, ESPL_EXTENT_OWNED));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_follow(s.world, &changes, NULL, NULL));
    espl_watch_destroy(watch);
    test_world_end(&other);
}

static void set_sibling(void)
{
    ck_ok(espl_move_before(s.world, s.e[3], s.e[1]));
}

static void view(void)
{
    espl_view seen;

    ck_ok(espl_view_hierarchy(s.world, s.e[0], &seen));
}

static void clear(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, s.number};

    ck_ok(espl_world_clear(s.world));
    ck_ok(espl_create(s.world, set, 2, ENTITIES, s.e));
    ck_ok(espl_attach(s.world, s.e[1], s.e[0], NULL));
}

// Many times, so that a layout becomes due by such writes.
static void write_one(void)
{
    owe(0);
    owe(FIRST_OTHER);
}

// The functions that are named after their kind. Each changes the transform.
static const float steps[3] = {3, 4, 5}, quarter[4] = {0.6f, 0, 0, 0.8f};
static const espl_transform placed = {{0, 0.6f, 0, 0.8f}, {1, 2, 4}, 3, {1, 1, 2}, 9};

#define NAMED(name, ...)                                  \
    static void call_##name(void)                         \
    {                                                     \
        ck_ok(espl_##name(s.world, s.e[2], __VA_ARGS__)); \
    }
NAMED(set_local_position, steps)
NAMED(set_local_rotation, quarter)
NAMED(set_stretch, steps)
NAMED(set_world_position, steps)
NAMED(set_world_rotation, quarter)
NAMED(translate_own, steps)
NAMED(rotate_own, quarter)
NAMED(set_local_scale, 2)
NAMED(set_world_scale, 3)
NAMED(set_user_data, 77)
NAMED(set_local_pose, &(espl_pose){.rotation = {0, 0, 0, 1}, .position = {7, 8, 9}, .scale = 2})
NAMED(set_world_pose, &(espl_pose){.rotation = {0, 0, 0, 1}, .position = {7, 8, 9}, .scale = 2})
NAMED(set_local_transform, &placed)
NAMED(set_world_transform, &placed)

static void start_motion(void)
{
    ck_ok(espl_motion_start(s.world, &(espl_motion_def){.history = 2}));
}

static bool keep_bytes(void *user, const void *bytes, size_t size)
{
    size_t *const used = user;

    ck_assert_uint_le(*used + size, sizeof archived);
    memcpy(archived + *used, bytes, size);
    *used += size;
    return true;
}

// The bytes are of this world, so that its own components are known.
static void read_archive(void)
{
    size_t used = 0;
    const espl_sink sink = {.user = &used, .write = keep_bytes};
    const espl_archive_def one = {.tops = &s.e[FIRST_SOLO], .top_count = 1};
    const espl_archive_read_def below = {.parent = s.e[0]};

    ck_ok(espl_archive_write(s.world, &one, &sink));
    ck_ok(espl_archive_read(s.world, archived, used, &below, NULL));
    ck_ok(espl_archive_read(s.world, archived, used, NULL, NULL));
}

// By its own handles, and by those of another archive.
static void apply_archive(void)
{
    size_t used = 0;
    const espl_sink sink = {.user = &used, .write = keep_bytes};
    const espl_archive_def one = {
        .tops = s.e, .top_count = 1, .extent = ESPL_EXTENT_SUBTREE, .flags = ESPL_ARCHIVE_HANDLES};
    espl_entity entities[64];
    const espl_archive_read_def def = {.entities = entities, .capacity = 64};
    espl_archive_info info;

    ck_ok(espl_archive_write(s.world, &one, &sink));
    ck_ok(espl_archive_inspect(archived, used, &info, NULL));
    ck_ok(espl_archive_apply(s.world, archived, used, &def, NULL, NULL));
    const espl_archive_known known = {archived, used, entities, info.nodes};

    ck_ok(espl_set_local_position(s.world, s.e[0], (float[3]){1, 2, 3}));
    ck_ok(espl_archive_apply(s.world, archived, used, &def, &known, NULL));
}

static void rebase(void)
{
    ck_ok(espl_write_one(s.world, s.e[0], ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){1e9, -5, 3}));
    ck_ok(espl_write_one(s.world, s.e[FIRST_SOLO], ESPL_WRITE_CELL, (int32_t[3]){-7, 1, 0}));
    ck_ok(espl_rebase(s.world, (int32_t[3]){1, -2, 3}, (float[3]){0.5f, 0, -4}));
}

static void recenter(void)
{
    size_t count = 0;

    ck_ok(espl_set_world_position(s.world, s.e[0], (float[3]){9000, 0, 0}));
    ck_ok(espl_recenter(s.world, 0.75f, &count));
    ck_assert_uint_eq(count, 1);
}

static void begin_tick(void)
{
    start_motion();
    ck_ok(espl_tick_begin(s.world));
}

static void end_tick(void)
{
    begin_tick();
    ck_ok(espl_set_local_pose(s.world, s.e[1], &(espl_pose){{0, 0, 0, 1}, {1, 2, 3}, 2}));
    ck_ok(espl_tick_end(s.world));
}

static void stop_motion(void)
{
    end_tick();
    ck_ok(espl_motion_stop(s.world));
}

// Go back to a world that is neither the first nor the last one.
// A history that goes back over a change.
static void use_history(void)
{
    espl_history *history = NULL;

    ck_ok(espl_history_create(s.world, NULL, &history));
    ck_ok(espl_destroy(s.world, s.e[1], ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_destroy(s.world, s.e[2], ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_mark(history, 2));
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    ck_ok(espl_history_rewind(history, 1, ESPL_REWIND_FRESH, NULL));
    espl_history_destroy(history);
}

static void load_image(void)
{
    ck_ok(espl_set_local_position(s.world, s.e[1], steps));

    test_image saved = test_image_of(s.world);

    ck_ok(espl_set_local_position(s.world, s.e[1], quarter));
    test_image_load(s.world, &saved, 0);
    test_image_end(&saved);
}

// What is shown is no part of a hash.
static void present_and_stop(void)
{
    begin_tick();
    ck_ok(espl_present(s.world, 0.5f, NULL));
    ck_ok(espl_motion_stop(s.world));
}

static void change_singly(void)
{
    const float value = 5;

    ck_ok(espl_remove_component(s.world, s.e[1], s.number));
    ck_ok(espl_add_component(s.world, s.e[2], s.number, &value, sizeof value));
}

static void write_batch(void)
{
    for (int i = 0; i < OWING; ++i) {
        const espl_write writes[] = {{.entity = s.e[0],
                                      .kind = ESPL_WRITE_LOCAL_POSITION,
                                      .value.position = {0, (float)i, 1}},
                                     {.entity = s.e[1],
                                      .kind = ESPL_WRITE_WORLD_POSITION,
                                      .value.position = {(float)i, 2, 1}},
                                     {.entity = s.e[FIRST_OTHER],
                                      .kind = ESPL_WRITE_LOCAL_POSITION,
                                      .value.position = {(float)i, 1, 1}}};

        ck_ok(espl_write_batch(s.world, writes, 3, NULL));
    }
}

static void write_strided(void)
{
    for (int i = 0; i < OWING; ++i) {
        const espl_entity to[] = {s.e[0], s.e[FIRST_OTHER], s.e[4]};
        const float at[3][3] = {{0, (float)i, 1}, {(float)i, 1, 2}, {1, 2, (float)i}};

        ck_ok(espl_write_strided(s.world, ESPL_WRITE_LOCAL_POSITION, to, 3, sizeof to[0], at,
                                 sizeof at[0], NULL));
    }
}

// One source cannot be read.
static void copy_worlds(void)
{
    for (int i = 0; i < OWING; ++i) {
        const float at[3] = {0, (float)i, 1};
        const espl_copy copies[] = {{s.e[0], s.e[FIRST_SOLO]},
                                    {s.e[4], espl_entity_null()},
                                    {s.e[FIRST_OTHER], s.e[FIRST_SOLO]}};

        ck_ok(espl_set_local_position(s.world, s.e[FIRST_SOLO], at));
        ck_assert_int_eq(espl_copy_world_transforms(s.world, s.world, copies, 3, NULL),
                         ESPL_PARTLY);
    }
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const int kind = *(const int *)context;
    const float at[3] = {1, 2, 0.5f}, turn[4] = {0.6f, 0, 0, 0.8f};

    write_column(rows);
    for (size_t row = 0; row < rows->count; ++row) {
        const espl_entity entity = rows->entities[row];

        if (kind == 0) {
            (void)!ESPL_WRITER_WRITE(writer, entity, ESPL_WRITE_TRANSLATE_OWN, at);
        } else if (kind == 1) {
            (void)!espl_writer_rotate_about(writer, entity, at, turn, ESPL_SITE);
        } else if (kind == 2) {
            (void)!espl_writer_look_at(writer, entity, at, NULL, ESPL_AXIS_FORWARD, ESPL_SITE);
        } else {
            (void)!espl_writer_set_inherit(writer, entity, row % 2 == 0 ? ESPL_ABSOLUTE_Y : 0,
                                           ESPL_SITE);
        }
    }
}

static void write_parallel_by(int kind)
{
    const espl_query_def query = {.all = &s.number, .all_count = 1};
    const espl_parallel_def def = {.query = &query,
                                   .function = write_rows,
                                   .context = &kind,
                                   .columns = &s.number,
                                   .column_count = 1,
                                   .flags = ESPL_PARALLEL_TOP_DOWN};

    ck_ok(espl_reserve(s.world, &(espl_reserve_def){.side_of = s.e[0]}));
    ck_ok(espl_reserve(s.world, &(espl_reserve_def){.side_of = s.e[FIRST_OTHER]}));
    ck_ok(espl_reserve(s.world, &(espl_reserve_def){.side_of = s.e[FIRST_THIRD]}));
    for (int i = 0; i < 30; ++i) {
        ck_assert_int_ge(espl_write_parallel(s.world, &def, NULL), 0);
    }
}

static void write_parallel(void)
{
    write_parallel_by(0);
}

static void writer_rotates(void)
{
    write_parallel_by(1);
}

static void writer_looks(void)
{
    write_parallel_by(2);
}

static void writer_inherits(void)
{
    write_parallel_by(3);
}

// Three hierarchies owe a layout. One call lays out the first one and as many others as the budget
// allows, which is not the default.
static void pay_by_budget(void)
{
    owe(0);
    owe(FIRST_OTHER);
    owe(FIRST_THIRD);
    ck_ok(espl_move_before(s.world, s.e[3], s.e[1]));
    ck_assert(test_is_laid_out(s.world, s.e[0]) && !test_is_laid_out(s.world, s.e[FIRST_THIRD]));
}

// --- Calls that change nothing of a world that a hash shows ---

static void use_buffers(void)
{
    espl_command_buffer *commands = NULL;
    espl_entity made = {0};

    ck_ok(espl_command_buffer_create(s.world, 2, &commands));
    ck_ok(espl_command_buffer_submit(commands));
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    ck_status(espl_command_buffer_result(commands, 0, 0), ESPL_ERR_ARGUMENT);
    ck_assert_int_lt(espl_command_buffer_resolve(commands, s.e[0], &made), 1);
    espl_command_buffer_reset(commands);
    espl_command_buffer_destroy(commands);
}

static void record_all(void)
{
    espl_recorder *const to = espl_command_buffer_recorder(s.commands[0], 0);
    const espl_component_value mark = {.component = s.mark};
    const espl_change_def change = change_of(&mark);
    const espl_creation_def creation = {.values = &mark, .value_count = 1};
    const float at[3] = {1, 2, 3};
    const uint32_t value = 4;

    record(0);
    ck_ok(espl_record_change_components(to, 0, s.e[1], &change));
    ck_ok(espl_record_add_component(to, 0, s.e[1], s.number, &value, sizeof value));
    ck_ok(espl_record_remove_component(to, 0, s.e[1], s.number));
    ck_ok(espl_record_spawn(to, 0, s.e[1], s.e[0], NULL, NULL));
    ck_ok(espl_record_create(to, 0, &creation, 1, NULL));
    ck_ok(espl_record_detach(to, 0, s.e[1], ESPL_KEEP_WORLD));
    ck_ok(espl_record_set_enabled(to, 0, s.e[1], ESPL_EXTENT_ENTITY, false));
    ck_ok(espl_record_set_enabled(to, 0, s.e[1], ESPL_EXTENT_ENTITY, true));
    ck_ok(espl_record_set_component(to, 0, s.e[1], s.number, &value, sizeof value));
    ck_ok(espl_record_set_inherit(to, 0, s.e[1], ESPL_ABSOLUTE_Y));
    ck_ok(espl_record_move_before(to, 0, s.e[3], s.e[1]));
    ck_ok(espl_record_write(to, 0, s.e[1], ESPL_WRITE_LOCAL_POSITION, at));
}

static void use_commands(void)
{
    const espl_custom_command_def def = {.name = "other", .function = hear};
    espl_custom_command command = 0;

    ck_ok(espl_command_register(s.world, &def, &command));
    ck_ok(espl_command_unregister(s.world, command));
}

static void read_queries(void)
{
    const espl_query_def def = {.all = &s.number, .all_count = 1};
    espl_query query;

    ck_ok(espl_query_begin(s.world, &def, &query));
    while (espl_query_next(&query)) {
        espl_transform seen[ROWS_AT_MOST];

        ck_assert_ptr_nonnull(espl_query_read(&query, s.number, 4));
        ck_assert_uint_le(query.count, ROWS_AT_MOST);
        ck_ok(espl_query_read_transforms(&query, ESPL_READ_WORLD_TRANSFORM, seen, sizeof *seen));
    }
    ck_ok(espl_query_begin_read(s.world, &def, &query));
    espl_query_end(&query);
}

static void read_subtree(void)
{
    espl_subtree subtree;
    size_t count = 0;

    ck_ok(espl_subtree_begin(s.world, s.e[0], &subtree));
    while (espl_subtree_next(&subtree)) {
        count += 1;
    }
    espl_subtree_end(&subtree);
    ck_assert_uint_eq(count, TREE - GONE);
}

static void use_watch(void)
{
    espl_watch *watch = NULL;
    espl_changes changes;

    ck_ok(espl_watch_create(s.world, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL}, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_gt(changes.added_count, 0);
    espl_watch_destroy(watch);
}

static void use_renderables(void)
{
    espl_renderables *renderables = NULL;

    ck_ok(espl_renderables_create(s.world, NULL, &renderables));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    espl_renderables_destroy(renderables);
}

static void make_another(void)
{
    const espl_world_def def = {.allocator = test_heap_allocator(&s.heap)};
    espl_world *world = NULL;

    ck_ok(espl_world_create(&def, &world));
    espl_world_destroy(world);
}

static void end_frame(void)
{
    end_recorded_frame(&noted, s.world, &s.tape);
}

static void ask_writer(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)context, (void)rows;
    ck_assert(espl_writer_job(writer) < UINT32_MAX);
}

static void ask_writers(void)
{
    const espl_query_def query = {.all = &s.number, .all_count = 1};
    const espl_parallel_def def = {.query = &query, .function = ask_writer};

    ck_ok(espl_write_parallel(s.world, &def, NULL));
}

// --- All exported functions that are given what may change a world ---

typedef struct row {
    const char *function;
    bool is_taped; // it may change what a hash shows
    void (*call)(void);
} row;

// X(function, what it does, a call of it). CHANGES: it may change a world, and is on the tape. KEEPS: it
// changes nothing that a hash shows.
enum { KEEPS, CHANGES };

#define ROWS(X)                                                    \
    X(espl_add_component, CHANGES, change_singly)                  \
    X(espl_archive_apply, CHANGES, apply_archive)                  \
    X(espl_archive_read, CHANGES, read_archive)                    \
    X(espl_attach, CHANGES, attach)                                \
    X(espl_attach_many, CHANGES, attach_many)                      \
    X(espl_change_components, CHANGES, change_one)                 \
    X(espl_change_components_array, CHANGES, change_array)         \
    X(espl_change_components_query, CHANGES, change_query)         \
    X(espl_command_buffer_create, KEEPS, use_buffers)              \
    X(espl_command_buffer_destroy, KEEPS, use_buffers)             \
    X(espl_command_buffer_recorder, KEEPS, record_all)             \
    X(espl_command_buffer_reset, KEEPS, use_buffers)               \
    X(espl_command_buffer_submit, KEEPS, use_buffers)              \
    X(espl_compact, CHANGES, compact)                              \
    X(espl_component_register, CHANGES, register_component)        \
    X(espl_copy_world_transforms, CHANGES, copy_worlds)            \
    X(espl_create, CHANGES, create)                                \
    X(espl_create_at, CHANGES, create_at)                          \
    X(espl_create_node, CHANGES, create_node)                      \
    X(espl_destroy, CHANGES, destroy)                              \
    X(espl_destroy_many, CHANGES, destroy_many)                    \
    X(espl_detach, CHANGES, detach)                                \
    X(espl_follow, CHANGES, place_and_follow)                      \
    X(espl_history_create, CHANGES, use_history)                   \
    X(espl_history_destroy, CHANGES, use_history)                  \
    X(espl_history_mark, CHANGES, use_history)                     \
    X(espl_history_rewind, CHANGES, use_history)                   \
    X(espl_image_load, CHANGES, load_image)                        \
    X(espl_instantiate, CHANGES, instantiate)                      \
    X(espl_look_at, CHANGES, look_at)                              \
    X(espl_motion_start, CHANGES, start_motion)                    \
    X(espl_motion_stop, CHANGES, stop_motion)                      \
    X(espl_place_counterparts, CHANGES, place_and_follow)          \
    X(espl_play, CHANGES, play)                                    \
    X(espl_present, KEEPS, present_and_stop)                       \
    X(espl_query_begin, KEEPS, read_queries)                       \
    X(espl_query_begin_read, KEEPS, read_queries)                  \
    X(espl_query_end, CHANGES, write_and_end)                      \
    X(espl_query_next, CHANGES, write_to_the_end)                  \
    X(espl_query_read, KEEPS, read_queries)                        \
    X(espl_query_read_transforms, KEEPS, read_queries)             \
    X(espl_query_write, CHANGES, write_to_the_end)                 \
    X(espl_record_add_component, KEEPS, record_all)                \
    X(espl_record_attach, KEEPS, record_all)                       \
    X(espl_record_change_components, KEEPS, record_all)            \
    X(espl_record_create, KEEPS, record_all)                       \
    X(espl_record_custom, KEEPS, record_all)                       \
    X(espl_record_destroy, KEEPS, record_all)                      \
    X(espl_record_detach, KEEPS, record_all)                       \
    X(espl_record_instantiate, KEEPS, record_all)                  \
    X(espl_record_remove_component, KEEPS, record_all)             \
    X(espl_record_set_component, KEEPS, record_all)                \
    X(espl_record_set_inherit, KEEPS, record_all)                  \
    X(espl_record_move_before, KEEPS, record_all)                  \
    X(espl_record_spawn, KEEPS, record_all)                        \
    X(espl_record_write, KEEPS, record_all)                        \
    X(espl_command_register, KEEPS, use_commands)                  \
    X(espl_rebase, CHANGES, rebase)                                \
    X(espl_recenter, CHANGES, recenter)                            \
    X(espl_remove_component, CHANGES, change_singly)               \
    X(espl_reserve, CHANGES, reserve)                              \
    X(espl_rotate_about, CHANGES, rotate_about)                    \
    X(espl_renderables_create, CHANGES, use_renderables)           \
    X(espl_rotate_own, CHANGES, call_rotate_own)                   \
    X(espl_set_component, CHANGES, set_component)                  \
    X(espl_record_set_enabled, KEEPS, record_all)                  \
    X(espl_set_enabled, CHANGES, enable_and_disable)               \
    X(espl_set_inherit, CHANGES, set_inherit)                      \
    X(espl_set_local_pose, CHANGES, call_set_local_pose)           \
    X(espl_set_local_position, CHANGES, call_set_local_position)   \
    X(espl_set_local_rotation, CHANGES, call_set_local_rotation)   \
    X(espl_set_local_scale, CHANGES, call_set_local_scale)         \
    X(espl_set_local_transform, CHANGES, call_set_local_transform) \
    X(espl_set_counterpart, CHANGES, set_counterpart)              \
    X(espl_set_name, CHANGES, set_name)                            \
    X(espl_move_before, CHANGES, set_sibling)                      \
    X(espl_set_stretch, CHANGES, call_set_stretch)                 \
    X(espl_set_user_data, CHANGES, call_set_user_data)             \
    X(espl_set_world_pose, CHANGES, call_set_world_pose)           \
    X(espl_set_world_position, CHANGES, call_set_world_position)   \
    X(espl_set_world_rotation, CHANGES, call_set_world_rotation)   \
    X(espl_set_world_scale, CHANGES, call_set_world_scale)         \
    X(espl_set_world_transform, CHANGES, call_set_world_transform) \
    X(espl_spawn, CHANGES, spawn)                                  \
    X(espl_subtree_begin, KEEPS, read_subtree)                     \
    X(espl_subtree_end, KEEPS, read_subtree)                       \
    X(espl_subtree_next, KEEPS, read_subtree)                      \
    X(espl_sync, CHANGES, sync_world)                              \
    X(espl_tape_frame, KEEPS, end_frame)                           \
    X(espl_tick_begin, CHANGES, begin_tick)                        \
    X(espl_tick_end, CHANGES, end_tick)                            \
    X(espl_translate_own, CHANGES, call_translate_own)             \
    X(espl_command_unregister, KEEPS, use_commands)                \
    X(espl_view_hierarchy, CHANGES, view)                          \
    X(espl_watch_collect, KEEPS, use_watch)                        \
    X(espl_watch_create, KEEPS, use_watch)                         \
    X(espl_watch_destroy, KEEPS, use_watch)                        \
    X(espl_world_clear, CHANGES, clear)                            \
    X(espl_world_create, CHANGES, pay_by_budget)                   \
    X(espl_world_destroy, KEEPS, make_another)                     \
    X(espl_write_batch, CHANGES, write_batch)                      \
    X(espl_write_one, CHANGES, write_one)                          \
    X(espl_write_parallel, CHANGES, write_parallel)                \
    X(espl_write_strided, CHANGES, write_strided)                  \
    X(espl_writer_job, KEEPS, ask_writers)                         \
    X(espl_writer_look_at, CHANGES, writer_looks)                  \
    X(espl_writer_rotate_about, CHANGES, writer_rotates)           \
    X(espl_writer_set_inherit, CHANGES, writer_inherits)           \
    X(espl_writer_write, CHANGES, write_parallel)

#define AS_ROW(function, does, call) {#function, (does) == CHANGES, call},

static const row rows[] = {ROWS(AS_ROW)};

// --- The test ---

static void replay_tape(const row *r, uint64_t frames)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 7, .random = 5};
    const espl_executor executors[] = {(espl_executor){0}, test_executor_of(&hostile)};

    for (int i = 0; i < 2; ++i) {
        const replay_def def = {.executor = &executors[i]};
        replay_result result;

        ck_assert_msg(replay_frames(&noted, &def, &s.tape, &result) == REPLAY_AGREED,
                      "%s, executor %d: %s", r->function, i, result.fault.text);
        ck_assert_uint_eq(result.frames, frames);
    }
}

// Frames before and after the call. The layouts that are due after it come last.
static void try_row(const row *r, bool owes)
{
    noted.count = 0;
    scene_begin(owes);
    end_recorded_frame(&noted, s.world, &s.tape);
    const uint64_t before = test_physical_hash(s.world);

    r->call();
    ck_assert_msg((test_physical_hash(s.world) != before) == r->is_taped,
                  "%s changes the hash, or does not", r->function);
    end_recorded_frame(&noted, s.world, &s.tape);
    owe(0);
    ck_ok(espl_sync(s.world, NULL));
    end_recorded_frame(&noted, s.world, &s.tape);
    const uint64_t frames = r->call == end_frame ? 4 : 3;

    scene_end();
    replay_tape(r, frames);
    free(s.tape.bytes);
}

TEST_LOOP(each_call_that_changes_a_world_is_on_the_tape, 0, sizeof rows / sizeof *rows)
{
    try_row(&rows[_i], false);
    try_row(&rows[_i], true);
}

// SPDX-License-Identifier: MIT
// Refused means nothing changed: both hashes, the statistics and the version are the same before and
// after each refused call, in worlds whose hierarchies owe a layout, in which an iteration is open, and
// in which nothing can be allocated. Each exported function has a row, or is in the list of those that
// change no world; tests/symbols.sh finds a function that is in neither.
#include "tests/world/refusals.h"

#include <espalier/renderables.h>

// --- Rows: writes ---

static espl_status write_one(int way)
{
    return way < BAD        ? espl_write_one(w, bad[way].entity, ESPL_WRITE_LOCAL_POSITION, one)
           : way == BAD     ? espl_write_one(w, node[3], ESPL_WRITE_KIND_COUNT, one)
           : way == BAD + 1 ? espl_write_one(w, node[3], ESPL_WRITE_LOCAL_POSITION, nan3)
           : way == BAD + 2 ? espl_write_one(w, node[3], ESPL_WRITE_LOCAL_ROTATION, nan3)
           : way == BAD + 3 ? espl_write_one(w, node[3], ESPL_WRITE_WORLD_TRANSFORM, NULL)
                            : END;
}

// A function that is named after its kind. @param value  good for it. @param wrong  not finite.
#define NAMED(name, value, wrong)                                    \
    static espl_status name(int way)                                 \
    {                                                                \
        return way < BAD    ? espl_##name(w, bad[way].entity, value) \
               : way == BAD ? espl_##name(w, node[3], wrong)         \
                            : END;                                   \
    }
NAMED(set_local_position, one, nan3)
NAMED(set_local_rotation, one, nan3)
NAMED(set_stretch, one, nan3)
NAMED(set_world_position, one, nan3)
NAMED(set_world_rotation, one, nan3)
NAMED(translate_own, one, nan3)
NAMED(rotate_own, one, nan3)
NAMED(set_local_scale, 1, NAN)
NAMED(set_world_scale, 1, NAN)
NAMED(set_local_pose, &(espl_pose){.scale = 1}, NULL)
NAMED(set_local_transform, &(espl_transform){.scale = 1}, NULL)
NAMED(set_world_transform, &(espl_transform){.scale = 1}, NULL)

static espl_status set_user_data(int way)
{
    return way < BAD ? espl_set_user_data(w, bad[way].entity, 7) : END;
}

// Refused as a whole, or each entry by itself.
static espl_status of_all(espl_status status)
{
    ck_assert(status == ESPL_PARTLY || status < 0);
    return status == ESPL_PARTLY ? ESPL_ERR_ARGUMENT : status;
}

static espl_status write_batch(int way)
{
    espl_write writes[BAD];
    espl_write_report report;

    for (size_t i = 0; i < BAD; ++i) {
        writes[i] = (espl_write){.entity = bad[i].entity, .kind = ESPL_WRITE_LOCAL_POSITION};
    }
    if (way == 0) {
        return of_all(espl_write_batch(w, writes, BAD, &report));
    }
    return way == 1   ? espl_write_batch(w, NULL, 1, NULL)
           : way == 2 ? espl_write_batch(w, writes, SIZE_MAX, NULL)
                      : END;
}

static espl_status write_strided(int way)
{
    static const float two[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const espl_entity some[2] = {m.dead, m.foreign};
    const espl_write_kind kind = ESPL_WRITE_LOCAL_POSITION;

    if (way == 0) {
        return of_all(espl_write_strided(w, kind, some, 2, sizeof *some, two, sizeof *two, NULL));
    }
    return way == 1   ? espl_write_strided(w, kind, some, 2, sizeof *some, NULL, sizeof *two, NULL)
           : way == 2 ? espl_write_strided(w, ESPL_WRITE_KIND_COUNT, some, 2, sizeof *some, two,
                                           sizeof *two, NULL)
           : way == 3 ? espl_write_strided(w, kind, some, 2, 3, two, sizeof *two, NULL)
                      : END;
}

static espl_status copy_worlds(int way)
{
    const espl_copy copies[] = {{m.dead, node[1]}, {node[1], m.dead}, {m.foreign, m.foreign}};

    if (way == 0) {
        return of_all(espl_copy_world_transforms(w, w, copies, 3, NULL));
    }
    return way == 1   ? espl_copy_world_transforms(w, NULL, copies, 3, NULL)
           : way == 2 ? espl_copy_world_transforms(w, w, NULL, 3, NULL)
           : way == 3 ? espl_copy_world_transforms(w, w, copies, SIZE_MAX, NULL)
                      : END;
}

static espl_status set_pose(int way)
{
    const espl_pose wrong = {.rotation = {0, 0, 0, 1}, .scale = NAN};

    return way < BAD    ? espl_set_world_pose(w, bad[way].entity, &wrong)
           : way == BAD ? espl_set_world_pose(w, node[3], &wrong)
                        : END;
}

static espl_status look_at(int way)
{
    return way < BAD        ? espl_look_at(w, bad[way].entity, one, NULL, ESPL_AXIS_FORWARD)
           : way == BAD     ? espl_look_at(w, node[3], nan3, NULL, ESPL_AXIS_FORWARD)
           : way == BAD + 1 ? espl_look_at(w, node[3], one, NULL, (espl_axis)77)
                            : END;
}

static espl_status rotate_about(int way)
{
    return way < BAD        ? espl_rotate_about(w, bad[way].entity, one, one)
           : way == BAD     ? espl_rotate_about(w, node[3], nan3, one)
           : way == BAD + 1 ? espl_rotate_about(w, node[3], one, nan3)
                            : END;
}

static espl_status set_inherit(int way)
{
    return way < BAD    ? espl_set_inherit(w, bad[way].entity, 0)
           : way == BAD ? espl_set_inherit(w, node[3], UINT32_MAX)
                        : END;
}

static void write_badly(espl_writer *writer, const espl_query *rows, void *context)
{
    const int way = *(const int *)context;
    espl_status status = ESPL_OK;

    (void)rows;
    switch (way / BAD) {
    case 0:
        status = espl_writer_write(writer, bad[way].entity, ESPL_WRITE_LOCAL_POSITION, one, NULL);
        break;
    case 1:
        status =
            espl_writer_look_at(writer, bad[way % BAD].entity, one, NULL, ESPL_AXIS_FORWARD, NULL);
        break;
    case 2:
        status = espl_writer_rotate_about(writer, bad[way % BAD].entity, one, one, NULL);
        break;
    default:
        status = espl_writer_set_inherit(writer, bad[way % BAD].entity, 0, NULL);
        break;
    }
    ck_assert_int_lt(status, 0);
}

// A parallel write whose function writes nothing but what is refused, and names no column.
static espl_status by_writer(int way)
{
    const espl_component root = ESPL_ROOT;
    const espl_query_def query = {.all = &root, .all_count = 1};
    const espl_parallel_def def = {.query = &query, .function = write_badly, .context = &way};

    if (way >= 4 * BAD) {
        return END;
    }
    return of_all(espl_write_parallel(w, &def, NULL));
}

static espl_status write_parallel(int way)
{
    const espl_component none = 900;
    const espl_parallel_def defs[] = {
        {.function = NULL},
        {.function = write_badly, .flags = 64},
        {.function = write_badly, .columns = &none, .column_count = 1},
        {.function = write_badly, .column_count = 1},
        {.function = write_badly, .query = &strange}};

    return way < 5 ? espl_write_parallel(w, &defs[way], NULL) : END;
}

// --- Rows: iterations, memory, tapes ---

static espl_status query_begin(int way)
{
    espl_query query;

    return way == 0   ? espl_query_begin(w, &strange, &query)
           : way == 1 ? espl_query_begin(w, NULL, NULL)
                      : END;
}

static espl_status query_begin_read(int way)
{
    espl_query query;

    return way == 0   ? espl_query_begin_read(w, &strange, &query)
           : way == 1 ? espl_query_begin_read(w, NULL, NULL)
                      : END;
}

// A query that has ended.
static espl_status query_over(int way)
{
    espl_query query;

    ck_ok(espl_query_begin(w, NULL, &query));
    espl_query_end(&query);
    return way == 0   ? SILENT(espl_query_next(&query))
           : way == 1 ? SILENT(espl_query_end(&query))
           : way == 2 ? SILENT(espl_query_write(&query, m.number, 4))
                      : END;
}

static espl_status subtree(int way)
{
    espl_subtree below;

    return way < BAD        ? espl_subtree_begin(w, bad[way].entity, &below)
           : way == BAD     ? SILENT(espl_subtree_next(NULL))
           : way == BAD + 1 ? SILENT(espl_subtree_end(NULL))
                            : END;
}

static espl_status view(int way)
{
    espl_view out;

    return way < BAD    ? espl_view_hierarchy(w, bad[way].entity, &out)
           : way == BAD ? espl_view_hierarchy(w, node[0], NULL)
                        : END;
}

// Motion does not run.
static espl_status present(int way)
{
    espl_present_report report;

    return way == 0 ? espl_present(w, 0.5f, &report) : way == 1 ? espl_present(w, NAN, NULL) : END;
}

// Bytes that are no image, and none at all.
static espl_status load_image(int way)
{
    return way == 0   ? espl_image_load(w, "no image", 8, 0, NULL)
           : way == 1 ? espl_image_load(w, NULL, 0, 0, NULL)
                      : END;
}

// Structural calls without arguments: refused in a world in use.
static espl_status in_use(int way)
{
    espl_query open;
    espl_status status = END;

    ck_ok(espl_query_begin(w, NULL, &open));
    switch (way) {
    case 0:
        status = espl_compact(w);
        break;
    case 1:
        status = espl_world_clear(w);
        break;
    case 2:
        status = espl_sync(w, NULL);
        break;
    case 3:
        status = espl_tape_frame(w);
        break;
    default:
        break;
    }
    espl_query_end(&open);
    return status;
}

// --- Rows: command buffers ---

static espl_status play(int way)
{
    espl_command_buffer *const alien = way == 2 ? test_commands(m.elsewhere.world, 1) : NULL;
    const espl_status status = way == 0   ? espl_play(w, played, NULL)
                               : way == 1 ? espl_play(w, NULL, NULL)
                               : way == 2 ? espl_play(w, alien, NULL)
                                          : END;

    espl_command_buffer_destroy(alien);
    return status;
}

static espl_status command_buffers(int way)
{
    espl_command_buffer *out = NULL;

    switch (way) {
    case 0:
        return espl_command_buffer_create(w, 0, &out);
    case 1:
        return espl_command_buffer_create(w, 900, &out);
    case 2:
        return espl_command_buffer_submit(played);
    case 3:
        return SILENT(espl_command_buffer_reset(NULL));
    case 4:
        return SILENT(espl_command_buffer_destroy(NULL));
    default:
        return END;
    }
}

// The world has no cells.
static espl_status places(int way)
{
    static const int32_t cells[3] = {1, 0, 0};
    static const float endless[3] = {0, INFINITY, 0};

    switch (way) {
    case 0:
        return espl_rebase(w, cells, NULL);
    case 1:
        return espl_rebase(w, NULL, endless);
    case 2:
        return espl_recenter(w, 0, NULL);
    case 3:
        return espl_recenter(w, 0.25f, NULL);
    default:
        return END;
    }
}

// Motion does not run.
static espl_status motions(int way)
{
    switch (way) {
    case 0:
        return espl_motion_start(w, &(espl_motion_def){.history = 3});
    case 1:
        return espl_motion_start(w, &(espl_motion_def){.reserved = {1}});
    case 2:
        return espl_motion_stop(w);
    case 3:
        return espl_tick_begin(w);
    case 4:
        return espl_tick_end(w);
    default:
        return END;
    }
}

static espl_status archives(int way)
{
    static const unsigned char bytes[64];

    switch (way) {
    case 0:
        return espl_archive_read(w, bytes, sizeof bytes, NULL, NULL);
    case 1:
        return espl_archive_read(w, bytes, 0, NULL, NULL);
    case 2:
        return espl_archive_read(w, bytes, 0, &(espl_archive_read_def){.flags = 1u << 30}, NULL);
    case 3:
        return espl_archive_read(w, bytes, 0, &(espl_archive_read_def){.reserved = {1}}, NULL);
    default:
        return END;
    }
}

static espl_status applies(int way)
{
    static const unsigned char bytes[64];
    const espl_archive_known known = {bytes, sizeof bytes, NULL, 1};

    switch (way) {
    case 0:
        return espl_archive_apply(w, bytes, sizeof bytes, NULL, NULL, NULL);
    case 1:
        return espl_archive_apply(w, bytes, 0, NULL, NULL, NULL);
    case 2:
        return espl_archive_apply(w, bytes, 0, &(espl_archive_read_def){.flags = 1u << 30}, NULL,
                                  NULL);
    case 3:
        return espl_archive_apply(w, bytes, 0, NULL, &known, NULL);
    default:
        return END;
    }
}

// Histories and their frames. None is left in the world.
static espl_status histories(int way)
{
    espl_history *out = NULL, *other = NULL;
    uint64_t checksum = 0;
    espl_status status = ESPL_OK;

    switch (way) {
    case 0:
        return espl_history_create(w, &(espl_history_def){.flags = 1u << 30}, &out);
    case 1:
        return espl_history_create(w, &(espl_history_def){.frames = UINT32_MAX}, &out);
    case 2:
        return espl_history_create(w, &(espl_history_def){.reserved = {1}}, &out);
    case 3:
        return espl_history_mark(NULL, 1);
    case 4:
        return espl_history_rewind(NULL, 1, 0, NULL);
    case 5:
        return espl_history_hash(NULL, 1, &checksum);
    case 6:
        return SILENT(espl_history_destroy(NULL));
    default:
        break;
    }
    if (way > 11 || espl_history_create(w, NULL, &out) != ESPL_OK) {
        return END;
    }
    ck_ok(espl_history_mark(out, 5));
    status = way == 7    ? espl_history_create(w, NULL, &other)
             : way == 8  ? espl_history_mark(out, 5)
             : way == 9  ? espl_history_rewind(out, 4, 0, NULL)
             : way == 10 ? espl_history_rewind(out, 5, 1u << 30, NULL)
                         : espl_history_hash(out, 5, &checksum);
    espl_history_destroy(out);
    return status;
}

// Renderables. None are left in the world.
static espl_status renderables(int way)
{
    espl_renderables *out = NULL;

    switch (way) {
    case 0:
        return espl_renderables_create(w, &(espl_renderables_def){.readers = 2}, &out);
    case 1:
        return espl_renderables_create(w, &(espl_renderables_def){.cell_size = -1}, &out);
    case 2:
        return espl_renderables_create(w, &(espl_renderables_def){.user_size = 65537}, &out);
    case 3:
        return espl_renderables_create(w, &(espl_renderables_def){.reserved = {1}}, &out);
    case 4:
        return espl_renderables_update(NULL, NULL, NULL);
    case 5:
        return espl_renderables_reserve(NULL, 1);
    case 6:
        return espl_renderables_add_lods(NULL, NULL, NULL);
    case 7:
        return SILENT(espl_renderables_destroy(NULL));
    default:
        return END;
    }
}

static espl_status watches(int way)
{
    static const espl_component changed[1] = {ESPL_TRANSFORM};
    const espl_query_def asks = {.changed = changed, .changed_count = 1};
    espl_watch *out = NULL;
    espl_changes changes;

    switch (way) {
    case 0:
        return espl_watch_create(w, &(espl_watch_def){.flags = 1u << 30}, &out);
    case 1:
        return espl_watch_create(w, &(espl_watch_def){.filter = &asks}, &out);
    case 2:
        return espl_watch_create(w, &(espl_watch_def){.filter = &strange}, &out);
    case 3:
        return espl_watch_collect(NULL, 0, &changes);
    case 4:
        return SILENT(espl_watch_destroy(NULL));
    default:
        return END;
    }
}

static espl_status counterparts(int way)
{
    const espl_entity original = {3, (m.foreign.generation >> 24) << 24 | 1};
    const espl_changes own = {.removed = node, .removed_count = 1};

    switch (way) {
    case 0:
        return espl_set_counterpart(w, m.dead, original);
    case 1:
        return espl_set_counterpart(w, node[1], node[2]);
    case 2:
        return espl_set_counterpart(w, node[1], m.pending);
    case 3:
        return espl_place_counterparts(w, w, node[1], NULL, NULL);
    case 4:
        return espl_place_counterparts(w, m.elsewhere.world, m.dead, NULL, NULL);
    case 5:
        return espl_place_counterparts(w, m.elsewhere.world, m.foreign,
                                       &(espl_placing_def){.parent = m.dead}, NULL);
    case 6:
        return espl_place_counterparts(w, m.elsewhere.world, m.foreign,
                                       &(espl_placing_def){.reserved = {1}}, NULL);
    case 7:
        return espl_follow(w, &own, NULL, NULL);
    case 8:
        return espl_follow(w, &own, &(espl_follow_def){.flags = 1u << 30}, NULL);
    default:
        return END;
    }
}

static espl_status add_component(int way)
{
    return way < BAD    ? espl_add_component(w, bad[way].entity, m.number, one, 4)
           : way == BAD ? espl_add_component(w, node[3], m.number, one, 3)
                        : END;
}

static espl_status remove_component(int way)
{
    return way < BAD    ? espl_remove_component(w, bad[way].entity, m.number)
           : way == BAD ? espl_remove_component(w, node[3], ESPL_ROOT)
                        : END;
}

// What is wrong whatever the world is at playback.
static espl_status record(int way)
{
    const espl_entity none = espl_entity_null();
    espl_recorder *const r = recorder;
    const espl_instance_def instance = {.source = none};
    const espl_component_value wrong = {m.number, 3, one};
    const espl_creation_def creation = {.values = &wrong, .value_count = 1};

    switch (way) {
    case 0:
        return espl_record_attach(r, 0, none, node[0], NULL);
    case 1:
        return espl_record_change_components(r, 0, node[3], wrong_change(0));
    case 2:
        return espl_record_create(r, 0, &creation, 1, NULL);
    case 3:
        return espl_record_custom(r, 0, 900, NULL, 0, 0);
    case 4:
        return espl_record_destroy(r, 0, none, ESPL_EXTENT_OWNED);
    case 5:
        return espl_record_detach(r, 0, none, ESPL_KEEP_WORLD);
    case 6:
        return espl_record_set_enabled(r, 0, none, ESPL_EXTENT_OWNED, false);
    case 7:
        return espl_record_set_enabled(r, 0, none, ESPL_EXTENT_OWNED, true);
    case 8:
        return espl_record_instantiate(r, 0, &instance, 1, NULL);
    case 9:
        return espl_record_set_component(r, 0, none, m.number, one, 4);
    case 10:
        return espl_record_set_inherit(r, 0, none, 0);
    case 11:
        return espl_record_move_before(r, 0, none, node[3]);
    case 12:
        return espl_record_write(r, 0, none, ESPL_WRITE_LOCAL_POSITION, one);
    case 13:
        return espl_record_write(r, 0, node[3], ESPL_WRITE_LOCAL_POSITION, nan3);
    case 14:
        return espl_record_add_component(r, 0, node[3], m.number, one, 3);
    case 15:
        return espl_record_remove_component(r, 0, node[3], ESPL_ROOT);
    case 16:
        return espl_record_spawn(r, 0, none, node[3], NULL, NULL);
    default:
        return END;
    }
}

typedef struct row {
    const char *name; // of the exported function
    espl_status (*refuse)(int way);
} row;

static const row rows[] = {
    {"espl_add_component", add_component},
    {"espl_archive_apply", applies},
    {"espl_archive_read", archives},
    {"espl_attach", attach},
    {"espl_attach_many", attach_many},
    {"espl_change_components", change_components},
    {"espl_change_components_array", change_array},
    {"espl_change_components_query", change_query},
    {"espl_command_buffer_create", command_buffers},
    {"espl_command_buffer_destroy", command_buffers},
    {"espl_command_buffer_reset", command_buffers},
    {"espl_command_buffer_submit", command_buffers},
    {"espl_compact", in_use},
    {"espl_component_register", register_component},
    {"espl_copy_world_transforms", copy_worlds},
    {"espl_create", create},
    {"espl_create_at", create_at},
    {"espl_create_node", create_node},
    {"espl_destroy", destroy},
    {"espl_destroy_many", destroy_many},
    {"espl_detach", detach},
    {"espl_set_enabled", disable},
    {"espl_set_enabled", enable},
    {"espl_follow", counterparts},
    {"espl_history_create", histories},
    {"espl_history_destroy", histories},
    {"espl_history_mark", histories},
    {"espl_history_rewind", histories},
    {"espl_image_load", load_image},
    {"espl_instantiate", instantiate},
    {"espl_instantiate", instantiate_at},
    {"espl_look_at", look_at},
    {"espl_place_counterparts", counterparts},
    {"espl_play", play},
    {"espl_present", present},
    {"espl_query_begin", query_begin},
    {"espl_query_begin_read", query_begin_read},
    {"espl_query_end", query_over},
    {"espl_query_next", query_over},
    {"espl_query_write", query_over},
    {"espl_record_add_component", record},
    {"espl_record_attach", record},
    {"espl_record_change_components", record},
    {"espl_record_create", record},
    {"espl_record_custom", record},
    {"espl_record_destroy", record},
    {"espl_record_detach", record},
    {"espl_record_set_enabled", record},
    {"espl_record_instantiate", record},
    {"espl_record_remove_component", record},
    {"espl_record_set_component", record},
    {"espl_record_set_inherit", record},
    {"espl_record_move_before", record},
    {"espl_record_spawn", record},
    {"espl_record_write", record},
    {"espl_command_register", register_command},
    {"espl_remove_component", remove_component},
    {"espl_reserve", reserve},
    {"espl_rotate_about", rotate_about},
    {"espl_renderables_add_lods", renderables},
    {"espl_renderables_create", renderables},
    {"espl_renderables_destroy", renderables},
    {"espl_renderables_reserve", renderables},
    {"espl_renderables_update", renderables},
    {"espl_rotate_own", rotate_own},
    {"espl_set_component", set_component},
    {"espl_set_inherit", set_inherit},
    {"espl_set_local_pose", set_local_pose},
    {"espl_set_local_position", set_local_position},
    {"espl_set_local_rotation", set_local_rotation},
    {"espl_set_local_scale", set_local_scale},
    {"espl_set_local_transform", set_local_transform},
    {"espl_set_counterpart", counterparts},
    {"espl_set_name", set_name},
    {"espl_motion_start", motions},
    {"espl_motion_stop", motions},
    {"espl_move_before", set_sibling},
    {"espl_set_stretch", set_stretch},
    {"espl_set_user_data", set_user_data},
    {"espl_set_world_pose", set_pose},
    {"espl_set_world_position", set_world_position},
    {"espl_set_world_rotation", set_world_rotation},
    {"espl_set_world_scale", set_world_scale},
    {"espl_set_world_transform", set_world_transform},
    {"espl_spawn", spawn},
    {"espl_subtree_begin", subtree},
    {"espl_subtree_end", subtree},
    {"espl_subtree_next", subtree},
    {"espl_sync", in_use},
    {"espl_tape_frame", in_use},
    {"espl_rebase", places},
    {"espl_recenter", places},
    {"espl_tick_begin", motions},
    {"espl_tick_end", motions},
    {"espl_translate_own", translate_own},
    {"espl_command_unregister", unregister_command},
    {"espl_view_hierarchy", view},
    {"espl_watch_collect", watches},
    {"espl_watch_create", watches},
    {"espl_watch_destroy", watches},
    {"espl_world_clear", in_use},
    {"espl_write_batch", write_batch},
    {"espl_write_one", write_one},
    {"espl_write_parallel", write_parallel},
    {"espl_write_strided", write_strided},
    {"espl_writer_look_at", by_writer},
    {"espl_writer_rotate_about", by_writer},
    {"espl_writer_set_inherit", by_writer},
    {"espl_writer_write", by_writer},
};

enum { ROWS = sizeof rows / sizeof *rows };

// --- The comparison ---

typedef struct shape {
    uint64_t logical, physical, version;
    size_t recorded;
    espl_world_stats stats;
} shape;

static shape look(void)
{
    shape s = {.logical = test_logical_hash(w),
               .physical = test_physical_hash(w),
               .version = espl_get_version(w),
               .recorded = espl_command_buffer_count(m.commands)};

    espl_stats(w, &s.stats);
    return s;
}

// @return how many ways there are.
static int refuse_all(const row *r, const char *where)
{
    const shape before = look();
    int way = 0;

    for (espl_status status = ESPL_OK; (status = r->refuse(way)) != END; ++way) {
        const shape after = look();

        ck_assert_msg(status < 0, "%s, way %d, %s: %d", r->name, way, where, status);
        ck_assert_msg(before.logical == after.logical && before.physical == after.physical &&
                          before.version == after.version && before.recorded == after.recorded &&
                          test_same_stats(&before.stats, &after.stats),
                      "%s, way %d, %s: %s, and the world has changed", r->name, way, where,
                      espl_status_name(status));
        test_world_is_valid(w);
    }
    return way;
}

FIXTURE(set_up, tear_down);

TEST_LOOP(a_refused_call_changes_nothing_in_a_world_that_owes_a_layout, 0, ROWS)
{
    ck_assert_int_gt(refuse_all(&rows[_i], "nothing else"), 0);
}

TEST_LOOP(a_refused_call_changes_nothing_while_a_query_is_open, 0, ROWS)
{
    espl_query open;

    ck_ok(espl_query_begin(w, NULL, &open));
    ck_assert_int_gt(refuse_all(&rows[_i], "a query is open"), 0);
    espl_query_end(&open);
}

// What a call would do to be refused, it does without memory. Where it lacks memory before it finds
// what is wrong, it is refused all the same.
TEST_LOOP(a_refused_call_changes_nothing_where_nothing_can_be_allocated, 0, ROWS)
{
    test_free_scratch(w);
    test_heap_arm(&m.test.heap, 1, true);
    if (rows[_i].refuse != play) { // it makes a command buffer
        ck_assert_int_gt(refuse_all(&rows[_i], "nothing can be allocated"), 0);
    }
    test_heap_arm(&m.test.heap, 0, false);
}

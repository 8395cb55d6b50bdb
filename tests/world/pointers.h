// SPDX-License-Identifier: MIT
// NULL for each pointer that an exported function takes, one row a pointer: X(function, parameter,
// call). tests/pointers.sh compares the rows with the headers; those of transform.h are in
// tests/math.
#ifndef ESPALIER_TESTS_WORLD_POINTERS_H
#define ESPALIER_TESTS_WORLD_POINTERS_H

#include "tests/asked.h"
#include "tests/misuse.h"

#include <espalier/archive.h>
#include <espalier/far.h>
#include <espalier/motion.h>
#include <espalier/renderables.h>
#include <espalier/writers.h>

#include <stdlib.h>
#include <string.h>

/// Arguments of the right type for the pointers that are not NULL.
typedef struct things {
    misuse m;
    espl_world *w;
    espl_entity e, p; // a member and its parent
    espl_recorder *r;
    espl_command_buffer *c;
    espl_writer *writer; // in a parallel write, of the solo
    espl_component n;
    float f[16], g[16];
    uint32_t word;
    uint64_t hash;
    espl_transform t;
    espl_pose pose;
    espl_entity handles[4];
    espl_write writes[2];
    espl_query query;
    espl_subtree subtree;
    espl_view view;
    espl_change_def change;
    espl_component_value value;
    espl_world_stats stats;
    espl_executor executor;
    espl_component_def info;
    espl_watch *watch;
    espl_changes changes;
    espl_history *history;
    espl_renderables *renderables;
    espl_mirror_description mirror;
    espl_camera camera;
    espl_rewind rewind;
    uint64_t number;
    size_t size;
    espl_origin origin;
} things;

/// Answer of a call without a status: ESPL_ERR_ARGUMENT where it is the neutral one.
static inline espl_status neutral(bool is_neutral)
{
    return is_neutral ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

/// The same of a call that returns nothing: what it would write is looked at by the caller.
#define SILENT(call) ((call), ESPL_ERR_ARGUMENT)
/// A call that takes NULL, without a status.
#define DONE(call) ((call), ESPL_OK)

#define DEF(type, ...) (&(type){__VA_ARGS__})

/// Start as many threads as there are processors, and stop them, where the library has threads.
static inline espl_status start_and_stop(void)
{
    espl_executor executor = {0};
    const espl_status status = espl_executor_create(NULL, &executor);

    espl_executor_destroy(&executor);
    return status == ESPL_ERR_UNSUPPORTED ? ESPL_OK : status;
}

/// Create a watch and destroy it. @param def  may be NULL.
static inline espl_status watch_world(things *k, const espl_watch_def *def)
{
    espl_watch *watch = NULL;
    const espl_status status = espl_watch_create(k->w, def, &watch);

    espl_watch_destroy(watch);
    return status;
}

/// Collect a watch that was just created into nothing.
static inline espl_status collect_nothing(things *k)
{
    espl_watch *watch = NULL;

    if (espl_watch_create(k->w, NULL, &watch) != ESPL_OK) {
        return ESPL_OK;
    }
    const espl_status status = espl_watch_collect(watch, 0, NULL);

    espl_watch_destroy(watch);
    return status;
}

/// What is asked of a history that lives for one call.
typedef enum history_call {
    HISTORY_ALONE,
    HISTORY_RANGE,
    HISTORY_REWIND,
    HISTORY_HASH
} history_call;

/// Create a history, mark a frame, ask for something with NULL, and destroy it. @param def  may be NULL.
static inline espl_status use_history(things *k, const espl_history_def *def, history_call call)
{
    espl_history *history = NULL;
    espl_status status = espl_history_create(k->w, def, &history);

    if (status != ESPL_OK) {
        return status;
    }
    status = espl_history_mark(history, 1);
    if (call == HISTORY_RANGE) {
        status = espl_history_range(history, NULL, &k->number) &&
                         espl_history_range(history, &k->number, NULL)
                     ? ESPL_OK
                     : ESPL_ERR_ARGUMENT;
    } else if (call == HISTORY_REWIND) {
        status = espl_history_rewind(history, 1, 0, NULL);
    } else if (call == HISTORY_HASH) {
        status = espl_history_hash(history, 1, NULL);
    }
    espl_history_destroy(history);
    return status;
}

/// What is asked of renderables that live for one call.
typedef enum renderables_call {
    RENDERABLES_ALONE,
    RENDERABLES_USER,
    RENDERABLES_REPORT,
    MIRROR_ARRAYS,
    MIRROR_COUNT,
    MIRROR_CLUSTERS,
    CULL_CAMERAS,
    CULL_DEF,
    CULL_MIRROR,
    WRITE_ARRAYS,
    GROUP_COUNT,
    ADD_LODS,
    ADD_KEY,
} renderables_call;

/// Ask for something with NULL, of renderables, a mirror with one of them, and the memory of results.
static inline espl_status ask_renderables(things *k, renderables_call call, espl_renderables *r,
                                          espl_visible *visible)
{
    const espl_camera camera = {.layers = UINT32_MAX};
    const espl_lods lods = {.count = 1};
    const espl_mirror *const mirror = espl_renderables_acquire(r);
    espl_renderables_report report;

    switch (call) {
    case RENDERABLES_USER:
        return espl_renderables_update(r, NULL, &report);
    case RENDERABLES_REPORT:
        return espl_renderables_update(r, NULL, NULL);
    case MIRROR_ARRAYS:
        return espl_mirror_write(mirror, 0, NULL, &k->size);
    case MIRROR_COUNT:
        return espl_mirror_write(mirror, 0, DEF(espl_instance_arrays, .form = 0), NULL);
    case MIRROR_CLUSTERS:
        return espl_mirror_changed(mirror, 0, 0, NULL) == 1 ? ESPL_OK : ESPL_ERR_ARGUMENT;
    case CULL_CAMERAS:
        return espl_cull(visible, mirror, NULL, 1, NULL);
    case CULL_DEF:
        return espl_cull(visible, mirror, &camera, 1, NULL);
    case CULL_MIRROR:
        return espl_cull(visible, NULL, &camera, 1, NULL);
    case WRITE_ARRAYS:
        return espl_cull(visible, mirror, &camera, 1, NULL) == ESPL_OK
                   ? espl_visible_write(visible, 0, NULL)
                   : ESPL_OK;
    case GROUP_COUNT:
        return neutral(espl_visible_groups(visible, 0, NULL) == NULL);
    case ADD_LODS:
        return espl_renderables_add_lods(r, NULL, &k->word);
    case ADD_KEY:
        return espl_renderables_add_lods(r, &lods, NULL);
    default:
        return ESPL_OK;
    }
}

/// The same of another world, which has one renderable and the same hooks. @param def  may be NULL.
static inline espl_status use_renderables(things *k, const espl_renderables_def *def,
                                          renderables_call call)
{
    const espl_world_def made = {.hooks = test_hooks_of(&k->m.test.hooks), .tag = 9};
    const espl_component placement = ESPL_TRANSFORM;
    espl_world *world = NULL;
    espl_renderables *r = NULL;
    espl_visible *visible = NULL;
    espl_entity e;
    espl_status status = espl_world_create(&made, &world);

    status = status == ESPL_OK ? espl_visible_create(NULL, &visible) : status;
    status = status == ESPL_OK ? espl_renderables_create(world, def, &r) : status;
    status = status == ESPL_OK ? espl_create(world, &placement, 1, 1, &e) : status;
    if (status == ESPL_OK) {
        status = espl_add_component(world, e, espl_component_find(world, "bounds"), NULL,
                                    sizeof(espl_bounds));
    }
    if (status == ESPL_OK) {
        status = espl_add_component(world, e, espl_component_find(world, "renderable"), NULL,
                                    sizeof(espl_renderable));
    }
    status = status == ESPL_OK ? espl_renderables_update(r, NULL, NULL) : status;
    status = status == ESPL_OK ? ask_renderables(k, call, r, visible) : status;
    espl_visible_destroy(visible);
    espl_renderables_destroy(r);
    espl_world_destroy(world);
    return status;
}

/// Make the memory of results and free it.
static inline espl_status make_visible(void)
{
    espl_visible *visible = NULL;
    const espl_status status = espl_visible_create(NULL, &visible);

    espl_visible_destroy(visible);
    return status;
}

/// Start motion and stop it.
static inline espl_status run_motion(things *k)
{
    const espl_status status = espl_motion_start(k->w, NULL);

    return status == ESPL_OK ? espl_motion_stop(k->w) : status;
}

/// Load the image of the world, which stays as it is.
static inline espl_status save_and_load(things *k)
{
    const size_t size = espl_image_size(k->w);
    void *const bytes = test_array(1, size);
    espl_status status = espl_image_save(k->w, bytes, size);

    if (status == ESPL_OK) {
        status = espl_image_load(k->w, bytes, size, 0, NULL);
    }
    free(bytes);
    return status;
}

// --- May be NULL: the call is carried out ---

// An archive, for the calls that read one.
static unsigned char archived[8192];
static size_t archived_size;

static inline bool keep_archived(void *user, const void *bytes, size_t size)
{
    (void)user;
    if (size > sizeof archived - archived_size) {
        return false;
    }
    memcpy(archived + archived_size, bytes, size);
    archived_size += size;
    return true;
}

static const espl_sink archive_sink = {.write = keep_archived};

static inline espl_status write_archive(const things *k, const espl_archive_def *def)
{
    archived_size = 0;
    return espl_archive_write(k->w, def, &archive_sink);
}

// Of nothing, so that reading it changes nothing.
static inline espl_status read_nothing(const things *k, const espl_archive_read_def *def,
                                       espl_format_fault *fault)
{
    static const espl_entity none[1];
    const espl_status status = write_archive(k, &(espl_archive_def){.tops = none});

    return status != ESPL_OK ? status
                             : espl_archive_read(k->w, archived, archived_size, def, fault);
}

static inline espl_status apply_nothing(const things *k, const espl_archive_read_def *def,
                                        espl_format_fault *fault)
{
    static const espl_entity none[1];
    const espl_status status = write_archive(k, &(espl_archive_def){.tops = none});
    const espl_archive_known known = {archived, archived_size, none, 0};

    return status != ESPL_OK
               ? status
               : espl_archive_apply(k->w, archived, archived_size, def, &known, fault);
}

static inline espl_status inspect_nothing(const things *k)
{
    static const espl_entity none[1];
    const espl_status status = write_archive(k, &(espl_archive_def){.tops = none});
    espl_archive_info info;

    return status != ESPL_OK ? status : espl_archive_inspect(archived, archived_size, &info, NULL);
}

// A delta of nothing, and what it makes. @param fault  NULL in one of the two calls
static inline espl_status patch_nothing(const things *k, espl_format_fault *of_delta,
                                        espl_format_fault *of_patch)
{
    static const espl_entity none[1];
    static unsigned char before[8192];
    espl_status status = write_archive(k, &(espl_archive_def){.tops = none});
    const size_t size = archived_size;

    memcpy(before, archived, size);
    archived_size = 0;
    if (status == ESPL_OK) {
        status = espl_archive_delta(before, size, before, size, &archive_sink, of_delta);
    }
    const size_t delta = archived_size;

    return status != ESPL_OK
               ? status
               : espl_archive_patch(before, size, archived, delta, &archive_sink, of_patch);
}

#define OPTIONAL_ROWS(X)                                                                         \
    X(espl_instantiate, out,                                                                     \
      espl_instantiate(k->w, DEF(espl_instance_def, .source = k->e), 1, NULL))                   \
    X(espl_record_spawn, local, espl_record_spawn(k->r, 0, k->e, k->p, NULL, k->handles))        \
    X(espl_record_spawn, pending, espl_record_spawn(k->r, 0, k->e, k->p, &k->t, NULL))           \
    X(espl_add_component, data, espl_add_component(k->w, k->e, k->n, NULL, 4))                   \
    X(espl_attach, options, espl_attach(k->w, k->e, k->p, NULL))                                 \
    X(espl_change_components_array, refused,                                                     \
      espl_change_components_array(k->w, &k->e, 1, &k->change, NULL))                            \
    X(espl_change_components_query, def,                                                         \
      espl_change_components_query(k->w, NULL, &k->change, NULL))                                \
    X(espl_change_components_query, count,                                                       \
      espl_change_components_query(k->w, NULL, &k->change, NULL))                                \
    X(espl_command_buffer_destroy, commands, DONE(espl_command_buffer_destroy(NULL)))            \
    X(espl_create, out, espl_create(k->w, &k->n, 1, 1, NULL))                                    \
    X(espl_create_at, out,                                                                       \
      espl_create_at(k->w, DEF(espl_creation_def, .value_count = 0), 1, NULL))                   \
    X(espl_create_node, local, espl_create_node(k->w, k->p, NULL, "lamp", k->handles))           \
    X(espl_create_node, name, espl_create_node(k->w, k->p, &k->t, NULL, k->handles))             \
    X(espl_create_node, out, espl_create_node(k->w, k->p, &k->t, "lamp", NULL))                  \
    X(espl_spawn, local, espl_spawn(k->w, k->e, k->p, NULL, k->handles))                         \
    X(espl_spawn, out, espl_spawn(k->w, k->e, k->p, &k->t, NULL))                                \
    X(espl_archive_write, def, write_archive(k, NULL))                                           \
    X(espl_archive_inspect, fault, inspect_nothing(k))                                           \
    X(espl_archive_delta, fault, patch_nothing(k, NULL, &(espl_format_fault){0}))                \
    X(espl_archive_patch, fault, patch_nothing(k, &(espl_format_fault){0}, NULL))                \
    X(espl_archive_apply, def, apply_nothing(k, NULL, &(espl_format_fault){0}))                  \
    X(espl_archive_apply, known,                                                                 \
      (apply_nothing(k, NULL, NULL) == ESPL_OK                                                   \
           ? espl_archive_apply(k->w, archived, archived_size, NULL, NULL, NULL)                 \
           : ESPL_ERR_ARGUMENT))                                                                 \
    X(espl_archive_apply, fault, apply_nothing(k, &(espl_archive_read_def){0}, NULL))            \
    X(espl_archive_read, def, read_nothing(k, NULL, &(espl_format_fault){0}))                    \
    X(espl_archive_read, fault, read_nothing(k, &(espl_archive_read_def){0}, NULL))              \
    X(espl_motion_start, def, run_motion(k))                                                     \
    X(espl_image_load, fault, save_and_load(k))                                                  \
    X(espl_history_create, def, use_history(k, NULL, HISTORY_ALONE))                             \
    X(espl_history_destroy, history, DONE(espl_history_destroy(NULL)))                           \
    X(espl_history_range, oldest, use_history(k, NULL, HISTORY_RANGE))                           \
    X(espl_history_range, newest, use_history(k, NULL, HISTORY_RANGE))                           \
    X(espl_history_rewind, report, use_history(k, NULL, HISTORY_REWIND))                         \
    X(espl_executor_create, def, start_and_stop())                                               \
    X(espl_renderables_create, def, use_renderables(k, NULL, RENDERABLES_ALONE))                 \
    X(espl_renderables_destroy, renderables, DONE(espl_renderables_destroy(NULL)))               \
    X(espl_renderables_update, user, use_renderables(k, NULL, RENDERABLES_USER))                 \
    X(espl_renderables_update, report, use_renderables(k, NULL, RENDERABLES_REPORT))             \
    X(espl_mirror_write, count, use_renderables(k, NULL, MIRROR_COUNT))                          \
    X(espl_mirror_changed, clusters, use_renderables(k, NULL, MIRROR_CLUSTERS))                  \
    X(espl_cull, def, use_renderables(k, NULL, CULL_DEF))                                        \
    X(espl_visible_create, allocator, make_visible())                                            \
    X(espl_visible_destroy, visible, DONE(espl_visible_destroy(NULL)))                           \
    X(espl_mirror_describe, out, DONE(espl_mirror_describe(NULL, NULL)))                         \
    X(espl_executor_destroy, executor, DONE(espl_executor_destroy(NULL)))                        \
    X(espl_log_stderr, user, DONE(espl_log_stderr(NULL, ESPL_LOG_INFO, "a line of a test")))     \
    X(espl_log_stderr, message, DONE(espl_log_stderr(k, ESPL_LOG_INFO, NULL)))                   \
    X(espl_look_at, up, espl_look_at(k->w, k->e, k->f, NULL, ESPL_AXIS_FORWARD))                 \
    X(espl_play, report, espl_play(k->w, k->c, NULL))                                            \
    X(espl_present, report, present_once(k))                                                     \
    X(espl_rebase, cells, espl_rebase(k->w, NULL, k->f))                                         \
    X(espl_rebase, offset, espl_rebase(k->w, (const int32_t[3]){0, 0, 0}, NULL))                 \
    X(espl_recenter, count, recenter_nothing(k))                                                 \
    X(espl_query_begin, def, begin_and_end(k))                                                   \
    X(espl_query_begin_read, def, begin_to_read_and_end(k))                                      \
    X(espl_record_add_component, data, espl_record_add_component(k->r, 0, k->e, k->n, NULL, 4))  \
    X(espl_record_attach, options, espl_record_attach(k->r, 0, k->e, k->p, NULL))                \
    X(espl_record_create, pending,                                                               \
      espl_record_create(k->r, 0, DEF(espl_creation_def, .value_count = 0), 1, NULL))            \
    X(espl_record_custom, data, record_custom(k))                                                \
    X(espl_record_instantiate, pending,                                                          \
      espl_record_instantiate(k->r, 0, DEF(espl_instance_def, .source = k->e), 1, NULL))         \
    X(espl_sync, report, espl_sync(k->w, NULL))                                                  \
    X(espl_validate, report, espl_validate(k->w, NULL) ? ESPL_OK : ESPL_ERR_ARGUMENT)            \
    X(espl_watch_create, def, watch_world(k, NULL))                                              \
    X(espl_watch_destroy, watch, DONE(espl_watch_destroy(NULL)))                                 \
    X(espl_world_create, def, create_and_destroy())                                              \
    X(espl_world_destroy, world, DONE(espl_world_destroy(NULL)))                                 \
    X(espl_place_counterparts, def,                                                              \
      espl_place_counterparts(k->w, k->m.elsewhere.world, k->m.foreign, NULL, k->handles))       \
    X(espl_place_counterparts, out,                                                              \
      espl_place_counterparts(k->w, k->m.elsewhere.world, k->m.foreign,                          \
                              DEF(espl_placing_def, .component_count = 0), NULL))                \
    X(espl_follow, def, espl_follow(k->w, DEF(espl_changes, .moment = 1), NULL, NULL))           \
    X(espl_follow, report,                                                                       \
      espl_follow(k->w, DEF(espl_changes, .moment = 1), DEF(espl_follow_def, .flags = 0), NULL)) \
    X(espl_copy_world_transforms, report,                                                        \
      espl_copy_world_transforms(k->w, k->w, DEF(espl_copy, k->e, k->p), 1, NULL))               \
    X(espl_write_batch, report, espl_write_batch(k->w, k->writes, 2, NULL))                      \
    X(espl_write_parallel, report, write_nothing(k))                                             \
    X(espl_write_strided, report,                                                                \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_SCALE, &k->e, 1, sizeof k->e, k->f, 4, NULL))    \
    X(espl_attach_many, options, espl_attach_many(k->w, &k->e, &k->p, 1, NULL, NULL))            \
    X(espl_attach_many, refused, espl_attach_many(k->w, &k->e, &k->p, 1, NULL, NULL))            \
    X(espl_destroy_many, refused, espl_destroy_many(k->w, &k->e, 1, ESPL_EXTENT_OWNED, NULL))    \
    X(espl_set_name, name, espl_set_name(k->w, k->e, NULL))

// Or with a count of 0.
#define OPTIONAL_FIELDS(X)                                                                    \
    X(espl_add_component, data_of_a_transform,                                                \
      espl_add_component(k->w, k->e, ESPL_TRANSFORM, NULL, sizeof k->t))                      \
    X(espl_change_components, lists,                                                          \
      espl_change_components(k->w, k->e, DEF(espl_change_def, .add_count = 0)))               \
    X(espl_change_components_array, entities_of_none,                                         \
      espl_change_components_array(k->w, NULL, 0, &k->change, NULL))                          \
    X(espl_copy_subtree, out_of_none,                                                         \
      espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 0, NULL) == 1 ? ESPL_OK                \
                                                                     : ESPL_ERR_ARGUMENT)     \
    X(espl_copy_subtree, columns,                                                             \
      espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4,                                     \
                        DEF(espl_subtree_arrays, .entities = k->handles)) == 1                \
          ? ESPL_OK                                                                           \
          : ESPL_ERR_ARGUMENT)                                                                \
    X(espl_create, components_of_none, espl_create(k->w, NULL, 0, 1, NULL))                   \
    X(espl_read_strided, arrays_of_none,                                                      \
      espl_read_strided(k->w, ESPL_READ_WORLD_SCALE, NULL, 0, sizeof k->e, NULL, 4))          \
    X(espl_reserve, components_of_none, espl_reserve(k->w, DEF(espl_reserve_def, .rows = 1))) \
    X(espl_set_component, data_of_a_tag, set_tag(k))                                          \
    X(espl_copy_world_transforms, copies_of_none,                                             \
      espl_copy_world_transforms(k->w, k->w, NULL, 0, NULL))                                  \
    X(espl_write_batch, writes_of_none, espl_write_batch(k->w, NULL, 0, NULL))                \
    X(espl_write_strided, arrays_of_none,                                                     \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_POSITION, NULL, 0, 8, NULL, 12, NULL))        \
    X(espl_attach_many, children_of_none, espl_attach_many(k->w, NULL, NULL, 0, NULL, NULL))  \
    X(espl_destroy_many, entities_of_none,                                                    \
      espl_destroy_many(k->w, NULL, 0, ESPL_EXTENT_OWNED, NULL))                              \
    X(espl_dump, buffer_of_none,                                                              \
      espl_dump(k->w, k->e, NULL, 0) != 0 ? ESPL_OK : ESPL_ERR_ARGUMENT)                      \
    X(espl_get_path, buffer_of_none,                                                          \
      espl_get_path(k->w, k->e, NULL, 0) != 0 ? ESPL_OK : ESPL_ERR_ARGUMENT)

// --- Required, and a world is there: refused, told, and nothing changes ---

#define REQUIRED_ROWS(X)                                                                           \
    X(espl_set_local_position, value, espl_set_local_position(k->w, k->e, NULL))                   \
    X(espl_set_local_rotation, value, espl_set_local_rotation(k->w, k->e, NULL))                   \
    X(espl_set_local_pose, value, espl_set_local_pose(k->w, k->e, NULL))                           \
    X(espl_set_local_transform, value, espl_set_local_transform(k->w, k->e, NULL))                 \
    X(espl_set_stretch, value, espl_set_stretch(k->w, k->e, NULL))                                 \
    X(espl_set_world_position, value, espl_set_world_position(k->w, k->e, NULL))                   \
    X(espl_set_world_rotation, value, espl_set_world_rotation(k->w, k->e, NULL))                   \
    X(espl_set_world_transform, value, espl_set_world_transform(k->w, k->e, NULL))                 \
    X(espl_translate_own, value, espl_translate_own(k->w, k->e, NULL))                             \
    X(espl_rotate_own, value, espl_rotate_own(k->w, k->e, NULL))                                   \
    X(espl_change_components, change, espl_change_components(k->w, k->e, NULL))                    \
    X(espl_change_components_array, entities,                                                      \
      espl_change_components_array(k->w, NULL, 1, &k->change, NULL))                               \
    X(espl_change_components_array, change,                                                        \
      espl_change_components_array(k->w, &k->e, 1, NULL, NULL))                                    \
    X(espl_change_components_query, change, espl_change_components_query(k->w, NULL, NULL, NULL))  \
    X(espl_command_buffer_create, out, espl_command_buffer_create(k->w, 1, NULL))                  \
    X(espl_watch_collect, out, collect_nothing(k))                                                 \
    X(espl_history_create, out, espl_history_create(k->w, NULL, NULL))                             \
    X(espl_renderables_create, out, espl_renderables_create(k->w, NULL, NULL))                     \
    X(espl_history_hash, out, use_history(k, NULL, HISTORY_HASH))                                  \
    X(espl_renderables_add_lods, lods, use_renderables(k, NULL, ADD_LODS))                         \
    X(espl_renderables_add_lods, key, use_renderables(k, NULL, ADD_KEY))                           \
    X(espl_image_load, bytes, espl_image_load(k->w, NULL, 8, 0, NULL))                             \
    X(espl_image_save, bytes, espl_image_save(k->w, NULL, espl_image_size(k->w)))                  \
    X(espl_archive_apply, bytes, espl_archive_apply(k->w, NULL, 0, NULL, NULL, NULL))              \
    X(espl_archive_read, bytes, espl_archive_read(k->w, NULL, 0, NULL, NULL))                      \
    X(espl_archive_write, sink, espl_archive_write(k->w, NULL, NULL))                              \
    X(espl_watch_create, out, espl_watch_create(k->w, NULL, NULL))                                 \
    X(espl_command_buffer_resolve, out, espl_command_buffer_resolve(k->c, k->m.pending, NULL))     \
    X(espl_component_find, name, neutral(espl_component_find(k->w, NULL) == 0))                    \
    X(espl_component_register, def, espl_component_register(k->w, NULL, &k->word))                 \
    X(espl_component_register, out, espl_component_register(k->w, &late, NULL))                    \
    X(espl_copy_subtree, out,                                                                      \
      neutral(espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4, NULL) == 0))                     \
    X(espl_create, components, espl_create(k->w, NULL, 1, 1, k->handles))                          \
    X(espl_create_at, def, espl_create_at(k->w, NULL, 1, NULL))                                    \
    X(espl_get_axis, out, espl_get_axis(k->w, k->e, ESPL_AXIS_UP, NULL))                           \
    X(espl_get_component, out, espl_get_component(k->w, k->e, k->n, NULL, 4))                      \
    X(espl_get_local_position, out, espl_get_local_position(k->w, k->e, NULL))                     \
    X(espl_get_local_rotation, out, espl_get_local_rotation(k->w, k->e, NULL))                     \
    X(espl_get_local_scale, out, espl_get_local_scale(k->w, k->e, NULL))                           \
    X(espl_get_local_transform, out, espl_get_local_transform(k->w, k->e, NULL))                   \
    X(espl_convert, value, espl_convert(k->w, k->e, ESPL_POINT_TO_WORLD, NULL, k->f))              \
    X(espl_convert, out, espl_convert(k->w, k->e, ESPL_POINT_TO_WORLD, k->f, NULL))                \
    X(espl_read_one, out, espl_read_one(k->w, k->e, ESPL_READ_WORLD_POSE, NULL))                   \
    X(espl_read_strided, entities,                                                                 \
      espl_read_strided(k->w, ESPL_READ_WORLD_SCALE, NULL, 1, sizeof k->e, k->f, 4))               \
    X(espl_read_strided, out,                                                                      \
      espl_read_strided(k->w, ESPL_READ_WORLD_SCALE, &k->e, 1, sizeof k->e, NULL, 4))              \
    X(espl_get_matrix, out, espl_get_matrix(k->w, k->e, ESPL_MATRIX_4X4, NULL))                    \
    X(espl_get_shown_matrix, out, espl_get_shown_matrix(k->w, k->e, ESPL_MATRIX_4X4, NULL))        \
    X(espl_get_origin, out, espl_get_origin(k->w, k->e, NULL))                                     \
    X(espl_get_relative_matrix, origin,                                                            \
      espl_get_relative_matrix(k->w, k->e, NULL, ESPL_MATRIX_4X4, k->f))                           \
    X(espl_get_relative_matrix, out,                                                               \
      espl_get_relative_matrix(k->w, k->e, &k->origin, ESPL_MATRIX_4X4, NULL))                     \
    X(espl_read_relative, origin,                                                                  \
      espl_read_relative(k->w, NULL, ESPL_READ_WORLD_POSITION, &k->e, 1, sizeof k->e, k->f, 12))   \
    X(espl_read_relative, entities,                                                                \
      espl_read_relative(k->w, &k->origin, ESPL_READ_WORLD_POSITION, NULL, 1, sizeof k->e, k->f,   \
                         12))                                                                      \
    X(espl_read_relative, out,                                                                     \
      espl_read_relative(k->w, &k->origin, ESPL_READ_WORLD_POSITION, &k->e, 1, sizeof k->e, NULL,  \
                         12))                                                                      \
    X(espl_get_local_pose, out, espl_get_local_pose(k->w, k->e, NULL))                             \
    X(espl_get_world_pose, out, espl_get_world_pose(k->w, k->e, NULL))                             \
    X(espl_set_world_pose, value, espl_set_world_pose(k->w, k->e, NULL))                           \
    X(espl_get_stretch, out, espl_get_stretch(k->w, k->e, NULL))                                   \
    X(espl_get_user_data, out, espl_get_user_data(k->w, k->e, NULL))                               \
    X(espl_get_world_position, out, espl_get_world_position(k->w, k->e, NULL))                     \
    X(espl_get_world_rotation, out, espl_get_world_rotation(k->w, k->e, NULL))                     \
    X(espl_get_world_scale, out, espl_get_world_scale(k->w, k->e, NULL))                           \
    X(espl_get_world_transform, out, espl_get_world_transform(k->w, k->e, NULL))                   \
    X(espl_hash, out, espl_hash(k->w, ESPL_HASH_LOGICAL, NULL))                                    \
    X(espl_instantiate, def, espl_instantiate(k->w, NULL, 1, NULL))                                \
    X(espl_look_at, target, espl_look_at(k->w, k->e, NULL, k->f, ESPL_AXIS_FORWARD))               \
    X(espl_play, commands, espl_play(k->w, NULL, NULL))                                            \
    X(espl_query_begin, query, espl_query_begin(k->w, NULL, NULL))                                 \
    X(espl_query_begin_read, query, espl_query_begin_read(k->w, NULL, NULL))                       \
    X(espl_query_read_transforms, out, read_rows_to_nothing(k))                                    \
    X(espl_record_change_components, change, espl_record_change_components(k->r, 0, k->e, NULL))   \
    X(espl_record_create, def, espl_record_create(k->r, 0, NULL, 1, NULL))                         \
    X(espl_record_instantiate, def, espl_record_instantiate(k->r, 0, NULL, 1, NULL))               \
    X(espl_record_set_component, data, espl_record_set_component(k->r, 0, k->e, k->n, NULL, 4))    \
    X(espl_record_write, value, espl_record_write(k->r, 0, k->e, ESPL_WRITE_LOCAL_POSITION, NULL)) \
    X(espl_command_register, def, espl_command_register(k->w, NULL, &k->word))                     \
    X(espl_command_register, out, espl_command_register(k->w, &custom, NULL))                      \
    X(espl_get_relative_transform, out, espl_get_relative_transform(k->w, k->p, k->e, NULL))       \
    X(espl_reserve, def, espl_reserve(k->w, NULL))                                                 \
    X(espl_rotate_about, pivot, espl_rotate_about(k->w, k->e, NULL, k->f))                         \
    X(espl_rotate_about, by, espl_rotate_about(k->w, k->e, k->f, NULL))                            \
    X(espl_set_component, data, espl_set_component(k->w, k->e, k->n, NULL, 4))                     \
    X(espl_stats, out, SILENT(espl_stats(k->w, NULL)))                                             \
    X(espl_subtree_begin, subtree, espl_subtree_begin(k->w, k->e, NULL))                           \
    X(espl_view_hierarchy, out, espl_view_hierarchy(k->w, k->e, NULL))                             \
    X(espl_place_counterparts, from,                                                               \
      espl_place_counterparts(k->w, NULL, k->m.foreign, NULL, NULL))                               \
    X(espl_follow, changes, espl_follow(k->w, NULL, NULL, NULL))                                   \
    X(espl_copy_world_transforms, from,                                                            \
      espl_copy_world_transforms(k->w, NULL, DEF(espl_copy, k->e, k->p), 1, NULL))                 \
    X(espl_copy_world_transforms, copies, espl_copy_world_transforms(k->w, k->w, NULL, 1, NULL))   \
    X(espl_write_batch, writes, espl_write_batch(k->w, NULL, 2, NULL))                             \
    X(espl_write_one, value, espl_write_one(k->w, k->e, ESPL_WRITE_LOCAL_POSITION, NULL))          \
    X(espl_write_parallel, def, espl_write_parallel(k->w, NULL, NULL))                             \
    X(espl_write_strided, entities,                                                                \
      espl_write_strided(k->w, ESPL_WRITE_STRETCH, NULL, 1, 8, k->f, 12, NULL))                    \
    X(espl_write_strided, values,                                                                  \
      espl_write_strided(k->w, ESPL_WRITE_STRETCH, &k->e, 1, 8, NULL, 12, NULL))                   \
    X(espl_attach_many, children, espl_attach_many(k->w, NULL, &k->p, 1, NULL, NULL))              \
    X(espl_attach_many, parents, espl_attach_many(k->w, &k->e, NULL, 1, NULL, NULL))               \
    X(espl_component_info, out, espl_component_info(k->w, k->n, NULL))                             \
    X(espl_destroy_many, entities, espl_destroy_many(k->w, NULL, 1, ESPL_EXTENT_OWNED, NULL))      \
    X(espl_dump, buffer, neutral(espl_dump(k->w, k->e, NULL, 4) == 0))                             \
    X(espl_find_descendant, path, espl_find_descendant(k->w, k->p, NULL, k->handles))              \
    X(espl_find_descendant, out, espl_find_descendant(k->w, k->p, "name", NULL))                   \
    X(espl_get_children, out, neutral(espl_get_children(k->w, k->p, 4, NULL) == 0))                \
    X(espl_get_path, buffer, neutral(espl_get_path(k->w, k->e, NULL, 4) == 0))

// Pointers inside a definition: X(function, how the line names the pointer, call).
#define REQUIRED_FIELDS(X)                                                                   \
    X(espl_change_components, "change->add",                                                 \
      espl_change_components(k->w, k->e, DEF(espl_change_def, .add_count = 2)))              \
    X(espl_change_components, "change->remove",                                              \
      espl_change_components(k->w, k->e, DEF(espl_change_def, .remove_count = 2)))           \
    X(espl_component_register, "def->name",                                                  \
      espl_component_register(k->w, DEF(espl_component_def, .size = 4), &k->word))           \
    X(espl_component_register, "def->references",                                            \
      espl_component_register(k->w, &referring, &k->word))                                   \
    X(espl_copy_subtree, "out->entities",                                                    \
      neutral(espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4,                            \
                                DEF(espl_subtree_arrays, .depths = NULL)) == 0))             \
    X(espl_create_at, "def->values",                                                         \
      espl_create_at(k->w, DEF(espl_creation_def, .value_count = 1), 1, NULL))               \
    X(espl_instantiate, "def->values", espl_instantiate(k->w, &valueless, 1, NULL))          \
    X(espl_query_begin, "espl_query_def.all",                                                \
      espl_query_begin(k->w, DEF(espl_query_def, .all_count = 1), &k->query))                \
    X(espl_query_begin, "espl_query_def.none",                                               \
      espl_query_begin(k->w, DEF(espl_query_def, .none_count = 1), &k->query))               \
    X(espl_query_begin, "espl_query_def.any",                                                \
      espl_query_begin(k->w, DEF(espl_query_def, .any_count = 1), &k->query))                \
    X(espl_query_begin, "espl_query_def.changed",                                            \
      espl_query_begin(k->w, DEF(espl_query_def, .changed_count = 1), &k->query))            \
    X(espl_record_change_components, "change->add",                                          \
      espl_record_change_components(k->r, 0, k->e, DEF(espl_change_def, .add_count = 2)))    \
    X(espl_record_change_components, "change->remove",                                       \
      espl_record_change_components(k->r, 0, k->e, DEF(espl_change_def, .remove_count = 2))) \
    X(espl_record_create, "def->values",                                                     \
      espl_record_create(k->r, 0, DEF(espl_creation_def, .value_count = 1), 1, NULL))        \
    X(espl_record_instantiate, "def->values",                                                \
      espl_record_instantiate(k->r, 0, &valueless, 1, NULL))                                 \
    X(espl_command_register, "def->function",                                                \
      espl_command_register(k->w, DEF(espl_custom_command_def, .name = "c"), &k->word))      \
    X(espl_command_register, "def->name",                                                    \
      espl_command_register(k->w, DEF(espl_custom_command_def, .function = hear_nothing),    \
                            &k->word))                                                       \
    X(espl_reserve, "components",                                                            \
      espl_reserve(k->w, DEF(espl_reserve_def, .component_count = 1, .rows = 1)))            \
    X(espl_write_parallel, "def->function",                                                  \
      espl_write_parallel(k->w, DEF(espl_parallel_def, .flags = 0), NULL))                   \
    X(espl_write_parallel, "def->columns",                                                   \
      espl_write_parallel(                                                                   \
          k->w, DEF(espl_parallel_def, .function = test_no_write, .column_count = 1), NULL)) \
    X(espl_write_parallel, "espl_query_def.all",                                             \
      espl_write_parallel(k->w,                                                              \
                          DEF(espl_parallel_def, .function = test_no_write,                  \
                              .query = DEF(espl_query_def, .all_count = 1)),                 \
                          NULL))

// Required, in a job of a parallel write.
#define WRITER_ROWS(X)                                                                   \
    X(espl_writer_look_at, target,                                                       \
      espl_writer_look_at(k->writer, k->m.solo, NULL, NULL, ESPL_AXIS_FORWARD, "a.c:1")) \
    X(espl_writer_rotate_about, pivot,                                                   \
      espl_writer_rotate_about(k->writer, k->m.solo, NULL, k->f, "a.c:1"))               \
    X(espl_writer_rotate_about, by,                                                      \
      espl_writer_rotate_about(k->writer, k->m.solo, k->f, NULL, "a.c:1"))               \
    X(espl_writer_write, value,                                                          \
      espl_writer_write(k->writer, k->m.solo, ESPL_WRITE_LOCAL_POSITION, NULL, "a.c:1"))

#define WRITER_OPTIONAL_ROWS(X)                                                              \
    X(espl_writer_look_at, up,                                                               \
      espl_writer_look_at(k->writer, k->m.solo, k->f, NULL, ESPL_AXIS_FORWARD, "a.c:1"))     \
    X(espl_writer_look_at, site,                                                             \
      espl_writer_look_at(k->writer, k->m.solo, k->f, NULL, ESPL_AXIS_FORWARD, NULL))        \
    X(espl_writer_rotate_about, site,                                                        \
      espl_writer_rotate_about(k->writer, k->m.solo, k->f, k->g, NULL))                      \
    X(espl_writer_set_inherit, site, espl_writer_set_inherit(k->writer, k->m.solo, 0, NULL)) \
    X(espl_writer_write, site,                                                               \
      espl_writer_write(k->writer, k->m.solo, ESPL_WRITE_LOCAL_POSITION, k->f, NULL))

// --- Required, and no world is there to tell: answered all the same ---

#define WORLDLESS_ROWS(X)                                                                          \
    X(espl_archive_inspect, bytes, espl_archive_inspect(NULL, 0, &(espl_archive_info){0}, NULL))   \
    X(espl_archive_inspect, out, espl_archive_inspect(archived, 0, NULL, NULL))                    \
    X(espl_archive_delta, before, espl_archive_delta(NULL, 0, archived, 64, &archive_sink, NULL))  \
    X(espl_archive_delta, after, espl_archive_delta(archived, 64, NULL, 0, &archive_sink, NULL))   \
    X(espl_archive_delta, sink, espl_archive_delta(archived, 64, archived, 64, NULL, NULL))        \
    X(espl_archive_patch, before, espl_archive_patch(NULL, 0, archived, 64, &archive_sink, NULL))  \
    X(espl_archive_patch, delta, espl_archive_patch(archived, 64, NULL, 0, &archive_sink, NULL))   \
    X(espl_archive_patch, sink, espl_archive_patch(archived, 64, archived, 64, NULL, NULL))        \
    X(espl_instantiate, world, espl_instantiate(NULL, &valueless, 1, NULL))                        \
    X(espl_set_local_position, world, espl_set_local_position(NULL, k->e, k->f))                   \
    X(espl_set_local_rotation, world, espl_set_local_rotation(NULL, k->e, k->f))                   \
    X(espl_set_local_pose, world, espl_set_local_pose(NULL, k->e, (const espl_pose *)k->f))        \
    X(espl_set_local_transform, world, espl_set_local_transform(NULL, k->e, &k->t))                \
    X(espl_set_stretch, world, espl_set_stretch(NULL, k->e, k->f))                                 \
    X(espl_set_world_position, world, espl_set_world_position(NULL, k->e, k->f))                   \
    X(espl_set_world_rotation, world, espl_set_world_rotation(NULL, k->e, k->f))                   \
    X(espl_set_world_transform, world, espl_set_world_transform(NULL, k->e, &k->t))                \
    X(espl_translate_own, world, espl_translate_own(NULL, k->e, k->f))                             \
    X(espl_rotate_own, world, espl_rotate_own(NULL, k->e, k->f))                                   \
    X(espl_set_local_scale, world, espl_set_local_scale(NULL, k->e, 1))                            \
    X(espl_set_user_data, world, espl_set_user_data(NULL, k->e, 1))                                \
    X(espl_set_world_scale, world, espl_set_world_scale(NULL, k->e, 1))                            \
    X(espl_add_component, world, espl_add_component(NULL, k->e, k->n, NULL, 4))                    \
    X(espl_attach, world, espl_attach(NULL, k->e, k->p, NULL))                                     \
    X(espl_change_components, world, espl_change_components(NULL, k->e, &k->change))               \
    X(espl_change_components_array, world,                                                         \
      espl_change_components_array(NULL, &k->e, 1, &k->change, NULL))                              \
    X(espl_change_components_query, world,                                                         \
      espl_change_components_query(NULL, NULL, &k->change, NULL))                                  \
    X(espl_command_buffer_count, commands, neutral(espl_command_buffer_count(NULL) == 0))          \
    X(espl_command_buffer_create, world, espl_command_buffer_create(NULL, 1, &k->c))               \
    X(espl_command_buffer_recorder, commands,                                                      \
      neutral(espl_command_buffer_recorder(NULL, 0) == NULL))                                      \
    X(espl_command_buffer_reset, commands, SILENT(espl_command_buffer_reset(NULL)))                \
    X(espl_command_buffer_resolve, commands,                                                       \
      espl_command_buffer_resolve(NULL, k->m.pending, k->handles))                                 \
    X(espl_command_buffer_result, commands, espl_command_buffer_result(NULL, 0, 0))                \
    X(espl_command_buffer_submit, commands, espl_command_buffer_submit(NULL))                      \
    X(espl_compact, world, espl_compact(NULL))                                                     \
    X(espl_history_create, world, espl_history_create(NULL, NULL, &k->history))                    \
    X(espl_renderables_create, world, espl_renderables_create(NULL, NULL, &k->renderables))        \
    X(espl_renderables_reserve, renderables, espl_renderables_reserve(NULL, 1))                    \
    X(espl_renderables_update, renderables, espl_renderables_update(NULL, NULL, NULL))             \
    X(espl_renderables_acquire, renderables, neutral(espl_renderables_acquire(NULL) == NULL))      \
    X(espl_renderables_add_lods, renderables,                                                      \
      espl_renderables_add_lods(NULL, DEF(espl_lods, .count = 1), &k->word))                       \
    X(espl_mirror_describe, mirror, SILENT(espl_mirror_describe(NULL, &k->mirror)))                \
    X(espl_mirror_changed, mirror, neutral(espl_mirror_changed(NULL, 0, 1, &k->word) == 0))        \
    X(espl_mirror_write, mirror,                                                                   \
      espl_mirror_write(NULL, 0, DEF(espl_instance_arrays, .form = 0), &k->size))                  \
    X(espl_mirror_write, arrays, use_renderables(k, NULL, MIRROR_ARRAYS))                          \
    X(espl_cull, visible, espl_cull(NULL, NULL, NULL, 0, NULL))                                    \
    X(espl_cull, mirror, use_renderables(k, NULL, CULL_MIRROR))                                    \
    X(espl_cull, cameras, use_renderables(k, NULL, CULL_CAMERAS))                                  \
    X(espl_visible_create, out, espl_visible_create(NULL, NULL))                                   \
    X(espl_visible_groups, count, use_renderables(k, NULL, GROUP_COUNT))                           \
    X(espl_visible_groups, visible, neutral(espl_visible_groups(NULL, 0, &k->size) == NULL))       \
    X(espl_visible_write, visible,                                                                 \
      espl_visible_write(NULL, 0, DEF(espl_instance_arrays, .form = 0)))                           \
    X(espl_visible_write, arrays, use_renderables(k, NULL, WRITE_ARRAYS))                          \
    X(espl_camera_from_matrix, matrix,                                                             \
      espl_camera_from_matrix(NULL, ESPL_CLIP_ZERO_TO_ONE, &k->camera))                            \
    X(espl_camera_from_matrix, out, espl_camera_from_matrix(k->f, ESPL_CLIP_ZERO_TO_ONE, NULL))    \
    X(espl_history_hash, history, espl_history_hash(NULL, 1, &k->number))                          \
    X(espl_history_mark, history, espl_history_mark(NULL, 1))                                      \
    X(espl_history_range, history, neutral(!espl_history_range(NULL, &k->number, &k->number)))     \
    X(espl_history_rewind, history, espl_history_rewind(NULL, 1, 0, &k->rewind))                   \
    X(espl_image_load, world, espl_image_load(NULL, k, 8, 0, NULL))                                \
    X(espl_image_save, world, espl_image_save(NULL, k, 8))                                         \
    X(espl_image_size, world, neutral(espl_image_size(NULL) == 0))                                 \
    X(espl_world_timeline, world, neutral(espl_world_timeline(NULL) == 0))                         \
    X(espl_watch_collect, watch, espl_watch_collect(NULL, 0, &k->changes))                         \
    X(espl_archive_apply, world, espl_archive_apply(NULL, archived, 0, NULL, NULL, NULL))          \
    X(espl_archive_read, world, espl_archive_read(NULL, archived, 0, NULL, NULL))                  \
    X(espl_archive_write, world,                                                                   \
      espl_archive_write(NULL, NULL, &(espl_sink){.write = keep_archived}))                        \
    X(espl_watch_create, world, espl_watch_create(NULL, NULL, &k->watch))                          \
    X(espl_component_find, world, neutral(espl_component_find(NULL, "number") == 0))               \
    X(espl_component_register, world, espl_component_register(NULL, &late, &k->word))              \
    X(espl_copy_subtree, world,                                                                    \
      neutral(espl_copy_subtree(NULL, k->e, ESPL_EXTENT_OWNED, 0, NULL) == 0))                     \
    X(espl_create, world, espl_create(NULL, &k->n, 1, 1, k->handles))                              \
    X(espl_record_spawn, recorder, espl_record_spawn(NULL, 0, k->e, k->p, &k->t, k->handles))      \
    X(espl_create_at, world, espl_create_at(NULL, DEF(espl_creation_def, .inherit = 0), 1, NULL))  \
    X(espl_destroy, world, espl_destroy(NULL, k->e, ESPL_EXTENT_OWNED))                            \
    X(espl_detach, world, espl_detach(NULL, k->e, ESPL_KEEP_WORLD))                                \
    X(espl_set_enabled, world, espl_set_enabled(NULL, k->e, ESPL_EXTENT_ENTITY, false))            \
    X(espl_executor_create, out, espl_executor_create(NULL, NULL))                                 \
    X(espl_convert, world, espl_convert(NULL, k->e, ESPL_POINT_TO_WORLD, k->g, k->f))              \
    X(espl_get_matrix, world, espl_get_matrix(NULL, k->e, ESPL_MATRIX_4X4, k->f))                  \
    X(espl_get_shown_matrix, world, espl_get_shown_matrix(NULL, k->e, ESPL_MATRIX_4X4, k->f))      \
    X(espl_get_cell_size, world, neutral(espl_get_cell_size(NULL) == 0))                           \
    X(espl_get_origin, world, espl_get_origin(NULL, k->e, &k->origin))                             \
    X(espl_get_relative_matrix, world,                                                             \
      espl_get_relative_matrix(NULL, k->e, &k->origin, ESPL_MATRIX_4X4, k->f))                     \
    X(espl_read_relative, world,                                                                   \
      espl_read_relative(NULL, &k->origin, ESPL_READ_WORLD_POSITION, &k->e, 1, sizeof k->e, k->f,  \
                         12))                                                                      \
    X(espl_rebase, world, espl_rebase(NULL, (const int32_t *)k->handles, k->f))                    \
    X(espl_recenter, world, espl_recenter(NULL, 0, &(size_t){0}))                                  \
    X(espl_read_one, world, espl_read_one(NULL, k->e, ESPL_READ_WORLD_POSE, k->f))                 \
    X(espl_read_strided, world,                                                                    \
      espl_read_strided(NULL, ESPL_READ_WORLD_SCALE, &k->e, 1, sizeof k->e, k->f, 4))              \
    X(espl_get_axis, world, espl_get_axis(NULL, k->e, ESPL_AXIS_UP, k->f))                         \
    X(espl_create_node, world, espl_create_node(NULL, k->p, &k->t, "lamp", k->handles))            \
    X(espl_spawn, world, espl_spawn(NULL, k->e, k->p, &k->t, k->handles))                          \
    X(espl_get_children, world, neutral(espl_get_children(NULL, k->p, 4, k->handles) == 0))        \
    X(espl_get_component, world, espl_get_component(NULL, k->e, k->n, k->f, 4))                    \
    X(espl_get_depth, world, neutral(espl_get_depth(NULL, k->e) == ESPL_NO_RANK))                  \
    X(espl_get_first_child, world, neutral(espl_entity_is_null(espl_get_first_child(NULL, k->e)))) \
    X(espl_get_inherit, world, neutral(espl_get_inherit(NULL, k->e) == 0))                         \
    X(espl_get_last_child, world, neutral(espl_entity_is_null(espl_get_last_child(NULL, k->e))))   \
    X(espl_get_link, world, neutral(espl_get_link(NULL, k->e) == ESPL_LINK_OWNED))                 \
    X(espl_get_local_position, world, espl_get_local_position(NULL, k->e, k->f))                   \
    X(espl_get_local_rotation, world, espl_get_local_rotation(NULL, k->e, k->f))                   \
    X(espl_get_local_scale, world, espl_get_local_scale(NULL, k->e, k->f))                         \
    X(espl_get_local_transform, world, espl_get_local_transform(NULL, k->e, &k->t))                \
    X(espl_get_next_sibling, world,                                                                \
      neutral(espl_entity_is_null(espl_get_next_sibling(NULL, k->e))))                             \
    X(espl_get_parent, world, neutral(espl_entity_is_null(espl_get_parent(NULL, k->e))))           \
    X(espl_get_previous_sibling, world,                                                            \
      neutral(espl_entity_is_null(espl_get_previous_sibling(NULL, k->e))))                         \
    X(espl_get_role, world, neutral(espl_get_role(NULL, k->e) == ESPL_ROLE_NONE))                  \
    X(espl_get_root, world, neutral(espl_entity_is_null(espl_get_root(NULL, k->e))))               \
    X(espl_get_local_pose, world, espl_get_local_pose(NULL, k->e, &k->pose))                       \
    X(espl_get_world_pose, world, espl_get_world_pose(NULL, k->e, &k->pose))                       \
    X(espl_set_world_pose, world, espl_set_world_pose(NULL, k->e, &k->pose))                       \
    X(espl_get_stretch, world, espl_get_stretch(NULL, k->e, k->f))                                 \
    X(espl_get_user_data, world, espl_get_user_data(NULL, k->e, &k->word))                         \
    X(espl_get_version, world, neutral(espl_get_version(NULL) == 0))                               \
    X(espl_get_world_position, world, espl_get_world_position(NULL, k->e, k->f))                   \
    X(espl_get_world_rotation, world, espl_get_world_rotation(NULL, k->e, k->f))                   \
    X(espl_get_world_scale, world, espl_get_world_scale(NULL, k->e, k->f))                         \
    X(espl_get_world_transform, world, espl_get_world_transform(NULL, k->e, &k->t))                \
    X(espl_has_component, world, neutral(!espl_has_component(NULL, k->e, k->n)))                   \
    X(espl_hash, world, espl_hash(NULL, ESPL_HASH_LOGICAL, &k->hash))                              \
    X(espl_is_alive, world, neutral(!espl_is_alive(NULL, k->e)))                                   \
    X(espl_is_ancestor, world, neutral(!espl_is_ancestor(NULL, k->p, k->e)))                       \
    X(espl_is_enabled, world, neutral(!espl_is_enabled(NULL, k->e)))                               \
    X(espl_look_at, world, espl_look_at(NULL, k->e, k->f, NULL, ESPL_AXIS_FORWARD))                \
    X(espl_play, world, espl_play(NULL, k->c, NULL))                                               \
    X(espl_present, world, espl_present(NULL, 0.5f, NULL))                                         \
    X(espl_query_begin, world, espl_query_begin(NULL, NULL, &k->query))                            \
    X(espl_query_end, query, SILENT(espl_query_end(NULL)))                                         \
    X(espl_query_next, query, neutral(!espl_query_next(NULL)))                                     \
    X(espl_query_read, query, neutral(espl_query_read(NULL, k->n, 4) == NULL))                     \
    X(espl_query_begin_read, world, espl_query_begin_read(NULL, NULL, &k->query))                  \
    X(espl_query_read_transforms, query,                                                           \
      espl_query_read_transforms(NULL, ESPL_READ_STRETCH, k->f, 12))                               \
    X(espl_query_write, query, neutral(espl_query_write(NULL, k->n, 4) == NULL))                   \
    X(espl_record_add_component, recorder,                                                         \
      espl_record_add_component(NULL, 0, k->e, k->n, NULL, 4))                                     \
    X(espl_record_attach, recorder, espl_record_attach(NULL, 0, k->e, k->p, NULL))                 \
    X(espl_record_change_components, recorder,                                                     \
      espl_record_change_components(NULL, 0, k->e, &k->change))                                    \
    X(espl_record_create, recorder,                                                                \
      espl_record_create(NULL, 0, DEF(espl_creation_def, .inherit = 0), 1, NULL))                  \
    X(espl_record_custom, recorder, espl_record_custom(NULL, 0, 1, NULL, 0, 0))                    \
    X(espl_record_destroy, recorder, espl_record_destroy(NULL, 0, k->e, ESPL_EXTENT_OWNED))        \
    X(espl_record_detach, recorder, espl_record_detach(NULL, 0, k->e, ESPL_KEEP_WORLD))            \
    X(espl_record_set_enabled, recorder,                                                           \
      espl_record_set_enabled(NULL, 0, k->e, ESPL_EXTENT_OWNED, false))                            \
    X(espl_record_instantiate, recorder,                                                           \
      espl_record_instantiate(NULL, 0, DEF(espl_instance_def, .source = k->e), 1, NULL))           \
    X(espl_record_remove_component, recorder, espl_record_remove_component(NULL, 0, k->e, k->n))   \
    X(espl_record_set_component, recorder,                                                         \
      espl_record_set_component(NULL, 0, k->e, k->n, k->f, 4))                                     \
    X(espl_record_set_inherit, recorder, espl_record_set_inherit(NULL, 0, k->e, 0))                \
    X(espl_record_move_before, recorder, espl_record_move_before(NULL, 0, k->e, k->p))             \
    X(espl_record_write, recorder,                                                                 \
      espl_record_write(NULL, 0, k->e, ESPL_WRITE_LOCAL_POSITION, k->f))                           \
    X(espl_command_register, world, espl_command_register(NULL, &custom, &k->word))                \
    X(espl_get_relative_transform, world, espl_get_relative_transform(NULL, k->p, k->e, &k->t))    \
    X(espl_remove_component, world, espl_remove_component(NULL, k->e, k->n))                       \
    X(espl_reserve, world, espl_reserve(NULL, DEF(espl_reserve_def, .entities = 1)))               \
    X(espl_rotate_about, world, espl_rotate_about(NULL, k->e, k->f, k->g))                         \
    X(espl_set_component, world, espl_set_component(NULL, k->e, k->n, k->f, 4))                    \
    X(espl_set_inherit, world, espl_set_inherit(NULL, k->e, 0))                                    \
    X(espl_motion_start, world, espl_motion_start(NULL, NULL))                                     \
    X(espl_motion_stop, world, espl_motion_stop(NULL))                                             \
    X(espl_tick_begin, world, espl_tick_begin(NULL))                                               \
    X(espl_tick_end, world, espl_tick_end(NULL))                                                   \
    X(espl_move_before, world, espl_move_before(NULL, k->e, espl_entity_null()))                   \
    X(espl_stats, world, SILENT(espl_stats(NULL, &k->stats)))                                      \
    X(espl_subtree_begin, world, espl_subtree_begin(NULL, k->e, &k->subtree))                      \
    X(espl_subtree_end, subtree, SILENT(espl_subtree_end(NULL)))                                   \
    X(espl_subtree_next, subtree, neutral(!espl_subtree_next(NULL)))                               \
    X(espl_sync, world, espl_sync(NULL, NULL))                                                     \
    X(espl_tape_frame, world, espl_tape_frame(NULL))                                               \
    X(espl_validate, world, neutral(!espl_validate(NULL, NULL)))                                   \
    X(espl_view_entity, view, neutral(espl_entity_is_null(espl_view_entity(NULL, 0))))             \
    X(espl_view_hierarchy, world, espl_view_hierarchy(NULL, k->e, &k->view))                       \
    X(espl_world_create, out, espl_world_create(NULL, NULL))                                       \
    X(espl_world_kernels, world, neutral(espl_world_kernels(NULL) == NULL))                        \
    X(espl_set_counterpart, world, espl_set_counterpart(NULL, k->e, k->m.foreign))                 \
    X(espl_find_counterpart, world,                                                                \
      neutral(espl_entity_is_null(espl_find_counterpart(NULL, k->m.foreign))))                     \
    X(espl_get_original, world, neutral(espl_entity_is_null(espl_get_original(NULL, k->e))))       \
    X(espl_place_counterparts, world, espl_place_counterparts(NULL, k->w, k->e, NULL, NULL))       \
    X(espl_follow, world, espl_follow(NULL, DEF(espl_changes, .moment = 1), NULL, NULL))           \
    X(espl_copy_world_transforms, to,                                                              \
      espl_copy_world_transforms(NULL, k->w, DEF(espl_copy, k->e, k->p), 1, NULL))                 \
    X(espl_write_batch, world, espl_write_batch(NULL, k->writes, 2, NULL))                         \
    X(espl_write_one, world, espl_write_one(NULL, k->e, ESPL_WRITE_LOCAL_POSITION, k->f))          \
    X(espl_write_parallel, world,                                                                  \
      espl_write_parallel(NULL, DEF(espl_parallel_def, .function = test_no_write), NULL))          \
    X(espl_write_strided, world,                                                                   \
      espl_write_strided(NULL, ESPL_WRITE_STRETCH, &k->e, 1, 8, k->f, 12, NULL))                   \
    X(espl_writer_job, writer, neutral(espl_writer_job(NULL) == 0))                                \
    X(espl_writer_look_at, writer,                                                                 \
      espl_writer_look_at(NULL, k->e, k->f, NULL, ESPL_AXIS_FORWARD, NULL))                        \
    X(espl_writer_rotate_about, writer, espl_writer_rotate_about(NULL, k->e, k->f, k->g, NULL))    \
    X(espl_writer_set_inherit, writer, espl_writer_set_inherit(NULL, k->e, 0, NULL))               \
    X(espl_writer_write, writer,                                                                   \
      espl_writer_write(NULL, k->e, ESPL_WRITE_LOCAL_POSITION, k->f, NULL))                        \
    X(espl_attach_many, world, espl_attach_many(NULL, &k->e, &k->p, 1, NULL, NULL))                \
    X(espl_component_count, world, neutral(espl_component_count(NULL) == 0))                       \
    X(espl_component_info, world, espl_component_info(NULL, k->n, &k->info))                       \
    X(espl_destroy_many, world, espl_destroy_many(NULL, &k->e, 1, ESPL_EXTENT_OWNED, NULL))        \
    X(espl_dump, world, neutral(espl_dump(NULL, k->e, (char *)k->f, sizeof k->f) == 0))            \
    X(espl_find_descendant, world, espl_find_descendant(NULL, k->e, "name", k->handles))           \
    X(espl_get_name, world, neutral(espl_get_name(NULL, k->e)[0] == 0))                            \
    X(espl_get_path, world, neutral(espl_get_path(NULL, k->e, (char *)k->f, sizeof k->f) == 0))    \
    X(espl_set_name, world, espl_set_name(NULL, k->e, "name"))                                     \
    X(espl_command_unregister, world, espl_command_unregister(NULL, 1))                            \
    X(espl_world_clear, world, espl_world_clear(NULL))

#endif

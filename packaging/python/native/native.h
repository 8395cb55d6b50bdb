// SPDX-License-Identifier: MIT
/// @file
/// What the Python package calls: the library with handles as 64-bit numbers, and with pins, which keep
/// the memory that a Python object may read.
///
/// A handle is the 8 bytes of an espl_entity, so that an array of numpy.int64 is an array of handles.
/// Functions that return int return an espl_status. The caller holds the lock of the world (see
/// WorldBase in espalier/_base.py) during each call that takes one, except native_*_release(), which any
/// thread may call at any time. Pointers are not NULL. A call on a world that was closed returns
/// ESPL_ERR_ARGUMENT.
#ifndef ESPALIER_PYTHON_NATIVE_H
#define ESPALIER_PYTHON_NATIVE_H

#include "espalier.h"

// The package's build reads the declarations from here on, which use no preprocessor but the last #endif.
// --- begin of declarations ---

/// A world, freed with the last release of itself, its command buffers, queries,
/// watches, histories, renderables and results of culling.
typedef struct native_world native_world;
/// A command buffer, destroyed when it or its world is closed.
typedef struct native_buffer native_buffer;
/// The chunks that match a query, or the hierarchy of a view. While it is open the world refuses changes
/// of structure.
typedef struct native_query native_query;
/// A watch, destroyed when it or its world is closed.
typedef struct native_watch native_watch;
/// A history, destroyed when it or its world is closed, and no query is open.
typedef struct native_history native_history;
/// Renderables, destroyed when they or their world are closed, and no query is open.
typedef struct native_renderables native_renderables;
/// What cameras see, destroyed when it or its world is closed.
typedef struct native_visible native_visible;
/// An address that a Python object reads: the block around it stays allocated until the pin's release.
typedef struct native_pin native_pin;

typedef struct native_options {
    uint32_t tag;
    const char *kernels;
    size_t layout_budget;
    float cell_size;
    int log_level; // the lowest that is printed to stderr; more than ESPL_LOG_ERROR prints none
    int huge_pages;
} native_options;

// What espl_creation_def and espl_instance_def have in common.
typedef struct native_creation {
    int64_t source, parent, before;
    uint32_t link, dead_parent, place, inherit;
    const espl_transform *transform; // NULL: none
    const espl_component_value *values;
    size_t value_count;
    const char *name; // NULL: none; for one entity that native_create() creates
} native_creation;

typedef struct native_attachment {
    int64_t before;
    uint32_t position, rotation, scale, link, inherit;
} native_attachment;

typedef struct native_terms {
    const espl_component *all, *none, *any, *changed;
    size_t all_count, none_count, any_count, changed_count;
    uint64_t since;
    uint32_t include;
} native_terms;

typedef struct native_chunk {
    size_t count;
    const void *entities;
} native_chunk;

typedef struct native_hierarchy {
    size_t count;
    uint32_t first;
    const void *parents; // [count]
    const void *worlds;  // [count] poses, the root's first
    const void *shown;   // [count] shown poses, in the same order
} native_hierarchy;

// espl_archive_def with void pointers for handles.
typedef struct native_archive {
    const void *tops; // [top_count]; NULL: all
    size_t top_count;
    int extent;
    uint32_t flags;
    const void *user;
    size_t user_size;
    float position_step;
    uint32_t rotation_bits;
} native_archive;

// espl_archive_read_def likewise.
typedef struct native_reading {
    int64_t parent;
    uint32_t flags;
    const espl_archive_migration *migrations;
    size_t migration_count, node_limit;
    void *entities, *tops; // [capacity], [top_capacity]
    size_t capacity, top_capacity;
} native_reading;

// espl_archive_known likewise.
typedef struct native_known {
    const void *bytes;
    size_t size;
    const void *entities; // [count]
    size_t count;
} native_known;

// What a rewind did. Valid until the next mark or rewind.
typedef struct native_rewind {
    const void *unborn, *revived;
    size_t unborn_count, revived_count;
} native_rewind;

// What a watch collected; arrays that it was not made for are NULL. Valid until its next collect.
typedef struct native_changes {
    const void *removed, *added, *changed, *kinds;
    const void *added_worlds, *changed_worlds, *added_locals, *changed_locals, *changed_before;
    const void *added_cells, *changed_cells;
    float cell_size;
    size_t removed_count, added_count, changed_count;
    uint64_t moment;
    int is_coarse;
} native_changes;

// What is placed, and where. A transform of NULL: as the original has it.
typedef struct native_placing {
    int extent, place;
    int64_t parent, before;
    const espl_transform *transform;
    const espl_component *components;
    size_t component_count;
} native_placing;

// espl_renderables_report with handles as numbers.
typedef struct native_updated {
    size_t renderables, moving, clusters, marked, moved, added, removed;
    size_t rewritten, refiled, waiting, bad;
    int64_t first_bad;
    uint64_t number;
} native_updated;

// espl_instance_arrays with void pointers for handles.
typedef struct native_arrays {
    void *matrices, *previous; // NULL: not written
    size_t matrix_stride, previous_stride;
    int form;
    void *entities, *user_data, *sizes, *cells;
} native_arrays;

// --- Messages ---
const char *native_take_message(void);

// --- Worlds ---
int native_world_create(native_world **out, const native_options *options);
void native_world_close(native_world *w);
void native_world_release(native_world *w);
const char *native_kernels(const native_world *w);
int native_clear(native_world *w);
int native_compact(native_world *w);
int native_hash(const native_world *w, int kind, uint64_t *out);
const char *native_validate(const native_world *w, int64_t *entity, size_t *detail);
void native_stats(const native_world *w, espl_world_stats *out);
int native_reserve(native_world *w, size_t entities, const espl_component *components,
                   size_t component_count, size_t rows, size_t writes, int64_t side_of,
                   size_t watch_entities);

// --- Structure ---
int native_create(native_world *w, const native_creation *def, size_t count, void *out);
int native_instantiate(native_world *w, const native_creation *def, size_t count, void *out);
int native_spawn(native_world *w, int64_t prefab, int64_t parent, const espl_transform *local,
                 int64_t *out);
int native_destroy(native_world *w, int64_t entity, int extent);
int native_destroy_many(native_world *w, const void *entities, size_t count, int extent,
                        size_t *refused);
int native_attach(native_world *w, int64_t child, int64_t parent, const native_attachment *options);
int native_attach_many(native_world *w, const void *children, const void *parents, size_t count,
                       const native_attachment *options, size_t *refused);
int native_detach(native_world *w, int64_t entity, int keep);
int native_move_before(native_world *w, int64_t entity, int64_t before);
int native_set_enabled(native_world *w, int64_t entity, int extent, int enabled);
int native_is_enabled(const native_world *w, int64_t entity);
int native_is_alive(const native_world *w, int64_t entity);
void native_are_alive(const native_world *w, const void *entities, size_t count, void *out);
int native_role(const native_world *w, int64_t entity);
int native_link(const native_world *w, int64_t entity);
uint32_t native_depth(const native_world *w, int64_t entity);
int64_t native_parent(const native_world *w, int64_t entity);
int64_t native_root(const native_world *w, int64_t entity);
int64_t native_sibling(const native_world *w, int64_t entity, int next);
size_t native_children(const native_world *w, int64_t entity, void *out, size_t capacity);
int native_is_ancestor(const native_world *w, int64_t ancestor, int64_t entity);
size_t native_subtree(const native_world *w, int64_t top, int extent, size_t capacity,
                      void *entities, void *parents, void *depths, void *locals, void *worlds);

// --- Names ---
int native_set_name(native_world *w, int64_t entity, const char *name);
const char *native_name(const native_world *w, int64_t entity);
int native_find(const native_world *w, int64_t top, const char *path, int64_t *out);
size_t native_path(const native_world *w, int64_t entity, char *buffer, size_t size);
size_t native_dump(const native_world *w, int64_t entity, char *buffer, size_t size);

// --- Transforms ---
int native_read(const native_world *w, int64_t entity, int kind, void *out);
int native_read_many(const native_world *w, int kind, const void *entities, size_t entity_stride,
                     void *out, size_t out_stride, size_t count);
int native_read_matrices(const native_world *w, int kind, const void *entities,
                         size_t entity_stride, size_t rows, void *out, size_t count);
int native_find_unreadable(const native_world *w, const void *entities, size_t entity_stride,
                           size_t count, size_t *index);
int native_rebase(native_world *w, const int32_t *cells, const float *offset);
int native_recenter(native_world *w, float limit, size_t *count);
int native_origin(const native_world *w, int64_t entity, espl_origin *out);
int native_read_relative(const native_world *w, const espl_origin *origin, int kind,
                         const void *entities, size_t entity_stride, void *out, size_t out_stride,
                         size_t count);
int native_relative(const native_world *w, int64_t frame, int64_t entity, espl_transform *out);
int native_convert(const native_world *w, int64_t entity, int conversion, const float *value,
                   float *out);
uint32_t native_inherit(const native_world *w, int64_t entity);
int native_set_inherit(native_world *w, int64_t entity, uint32_t flags);
int native_write(native_world *w, int64_t entity, int kind, const void *value);
int native_write_many(native_world *w, int kind, const void *entities, size_t entity_stride,
                      const void *values, size_t value_stride, size_t count,
                      espl_write_report *report);
int native_copy_worlds(native_world *to, const native_world *from, const void *copies, size_t count,
                       espl_write_report *report);
int native_look_at(native_world *w, int64_t entity, const float *target, const float *up,
                   int forward);
int native_rotate_about(native_world *w, int64_t entity, const float *pivot, const float *by);
void native_compose(espl_transform *out, const espl_transform *parent, const espl_transform *local);

// --- Components ---
int native_register(native_world *w, const espl_component_def *def, uint32_t *out);
int native_change(native_world *w, const void *entities, size_t count,
                  const espl_component_value *add, size_t add_count, const espl_component *remove,
                  size_t remove_count, size_t *refused);
int native_has_component(const native_world *w, int64_t entity, uint32_t component);
int native_get_components(const native_world *w, uint32_t component, const void *entities,
                          size_t count, void *out, size_t size, size_t *refused);
int native_set_components(native_world *w, uint32_t component, const void *entities, size_t count,
                          const void *values, size_t size, size_t *refused);
uint64_t native_version(const native_world *w);

// --- Queries ---
int native_query_begin(native_world *w, const native_terms *terms, native_query **out);
int native_view_begin(native_world *w, int64_t entity, native_query **out, native_hierarchy *shown);
void native_query_end(native_query *q);
void native_query_release(native_query *q);
size_t native_query_chunks(const native_query *q);
size_t native_query_rows(const native_query *q);
void native_query_chunk(const native_query *q, size_t index, native_chunk *out);
const void *native_query_column(const native_query *q, size_t index, uint32_t component,
                                size_t size);
void native_query_entities(const native_query *q, void *out);
int native_query_read(const native_query *q, uint32_t component, size_t size, void *out);
int native_query_write(native_query *q, size_t first, size_t end, uint32_t component, size_t size,
                       const void *values);
int native_query_transforms(const native_query *q, size_t first, size_t end, int kind, void *out,
                            size_t size);
void native_view_entities(const native_query *q, void *out);
void native_view_depths(const native_query *q, void *out);

// --- Watches and motion ---
int native_watch_create(native_world *w, const native_terms *filter, uint32_t flags,
                        native_watch **out);
void native_watch_close(native_watch *watch);
void native_watch_release(native_watch *watch);
int native_watch_collect(native_watch *watch, uint64_t since, native_changes *out);
int native_motion_start(native_world *w, uint32_t history);
int native_motion_stop(native_world *w);
int native_tick_begin(native_world *w);
int native_tick_end(native_world *w);
int native_present(native_world *w, float at, espl_present_report *report);

// --- Counterparts ---
int native_set_counterpart(native_world *w, int64_t entity, int64_t original);
int64_t native_find_counterpart(const native_world *w, int64_t original);
int64_t native_get_original(const native_world *w, int64_t entity);
int native_place(native_world *w, const native_world *from, int64_t original,
                 const native_placing *placing, int64_t *out);
int native_follow(native_world *w, const native_changes *changes, int kind, int removed,
                  uint32_t flags, espl_follow_report *report);

// --- Images and archives ---
size_t native_image_size(const native_world *w);
int native_image_save(const native_world *w, void *bytes, size_t size);
int native_image_load(native_world *w, const void *bytes, size_t size, uint32_t flags,
                      espl_format_fault *fault);
uint64_t native_timeline(const native_world *w);
int native_archive_write(const native_world *w, const native_archive *def, const espl_sink *sink);
int native_archive_read(native_world *w, const void *bytes, size_t size, const native_reading *def,
                        espl_format_fault *fault);
int native_archive_apply(native_world *w, const void *bytes, size_t size, const native_reading *def,
                         const native_known *known, espl_format_fault *fault);

// --- Histories ---
int native_history_create(native_world *w, uint32_t frames, size_t byte_limit, uint32_t flags,
                          native_history **out);
int native_history_close(native_history *h);
void native_history_release(native_history *h);
int native_history_mark(native_history *h, uint64_t frame);
int native_history_rewind(native_history *h, uint64_t frame, uint32_t flags, native_rewind *out);
int native_history_range(const native_history *h, uint64_t *oldest, uint64_t *newest);
int native_history_hash(const native_history *h, uint64_t frame, uint64_t *out);

// --- Renderables ---
int native_renderables_create(native_world *w, float cell_size, uint32_t refile_budget,
                              size_t user_size, native_renderables **out);
int native_renderables_close(native_renderables *r);
void native_renderables_release(native_renderables *r);
uint32_t native_find_component(const native_world *w, const char *name);
int native_renderables_reserve(native_renderables *r, size_t count);
int native_renderables_update(native_renderables *r, const void *user, native_updated *out);
int native_renderables_add_lods(native_renderables *r, const espl_lods *lods, uint32_t *key);
const espl_mirror *native_renderables_acquire(native_renderables *r);
size_t native_mirror_changed(const espl_mirror *mirror, uint64_t since, size_t capacity,
                             void *clusters);
int native_mirror_write(const espl_mirror *mirror, uint32_t cluster, const native_arrays *arrays,
                        size_t *count);
int native_visible_create(native_world *w, native_visible **out);
void native_visible_close(native_visible *v);
void native_visible_release(native_visible *v);
int native_visible_cull(native_visible *v, const espl_mirror *mirror, const espl_camera *cameras,
                        size_t count, float alpha, uint32_t flags);
const void *native_visible_groups(const native_visible *v, size_t camera, size_t *count);
int native_visible_write(const native_visible *v, size_t camera, const native_arrays *arrays);

// --- Pins ---
native_pin *native_pin_create(native_world *w, const void *address);
void native_pin_release(native_pin *pin);
size_t native_pinned_bytes(const native_world *w);

// --- Command buffers ---
int native_buffer_create(native_world *w, uint32_t lanes, native_buffer **out);
void native_buffer_close(native_buffer *b);
void native_buffer_release(native_buffer *b);
void native_buffer_reset(native_buffer *b);
size_t native_buffer_count(const native_buffer *b);
int native_buffer_submit(native_buffer *b);
int native_buffer_resolve(const native_buffer *b, const void *pending, size_t count, void *out,
                          size_t *refused);
int native_buffer_result(const native_buffer *b, uint32_t lane, uint32_t index);
int native_play(native_world *w, native_buffer *b, espl_report *report);
int native_sync(native_world *w, espl_report *report);
int native_record_create(native_buffer *b, uint32_t lane, uint32_t key, const native_creation *def,
                         size_t count, void *pending);
int native_record_instantiate(native_buffer *b, uint32_t lane, uint32_t key,
                              const native_creation *def, size_t count, void *pending);
int native_record_spawn(native_buffer *b, uint32_t lane, uint32_t key, int64_t prefab,
                        int64_t parent, const espl_transform *local, int64_t *pending);
int native_record_destroy(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                          int extent);
int native_record_attach(native_buffer *b, uint32_t lane, uint32_t key, int64_t child,
                         int64_t parent, const native_attachment *options);
int native_record_detach(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity, int keep);
int native_record_move_before(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              int64_t before);
int native_record_write(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity, int kind,
                        const void *value);
int native_record_set_inherit(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              uint32_t flags);
int native_record_change(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                         const espl_component_value *add, size_t add_count,
                         const espl_component *remove, size_t remove_count);
int native_record_set_component(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                                uint32_t component, const void *value, size_t size);
int native_record_set_enabled(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              int extent, int enabled);

// --- end of declarations ---
#endif

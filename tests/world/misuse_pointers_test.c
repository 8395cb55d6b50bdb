// SPDX-License-Identifier: MIT
// NULL in each place where a public call takes a pointer: allowed where it says so, else a fault
// that traps in checked builds, through the hooks of the world where one is named, and that every
// build answers with ESPL_ERR_ARGUMENT or with nothing. tests/math does the same for transform.h.
#include "tests/checks.h"
#include "tests/base/abort.h"
#include "tests/forms.h"
#include "tests/misuse.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <string.h>

// Things of the right kind for the places that are not NULL.
typedef struct things {
    misuse m;
    espl_world *w;
    espl_entity e, p; // a member and its parent
    espl_recorder *r;
    espl_command_buffer *c;
    espl_component n;
    float f[16], g[16];
    uint32_t word;
    espl_transform t;
    espl_entity handles[4];
    espl_write writes[2];
    espl_query query;
    espl_subtree subtree;
    espl_view view;
    espl_change_def change;
    espl_component_value value;
} things;

// A call without a status that answers nothing, as a status.
static espl_status nothing(bool is_nothing)
{
    return is_nothing ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

// The same of a call that answers by writing, which it must not.
#define SILENT(call) ((call), ESPL_ERR_ARGUMENT)

// --- Allowed, and said so ---

#define ALLOWED(X)                                                                                \
    X(attach_options, espl_attach(k->w, k->e, k->p, NULL))                                        \
    X(attach_many_of_none, espl_attach_many(k->w, NULL, NULL, 0, NULL, NULL))                     \
    X(attach_many_options, espl_attach_many(k->w, &k->e, &k->p, 1, NULL, NULL))                   \
    X(destroy_none, espl_destroy_many(k->w, NULL, 0, ESPL_EXTENT_OWNED, NULL))                    \
    X(no_name, espl_set_name(k->w, k->e, NULL))                                                   \
    X(path_length, espl_get_path(k->w, k->e, NULL, 0) != 0 ? ESPL_OK : ESPL_ERR_ARGUMENT)         \
    X(dump_length, espl_dump(k->w, k->e, NULL, 0) != 0 ? ESPL_OK : ESPL_ERR_ARGUMENT)             \
    X(instantiate_out, espl_instantiate(k->w, k->e, 1, NULL))                                     \
    X(create_out, espl_create(k->w, &k->n, 1, 1, NULL))                                           \
    X(at_out, espl_instantiate_at(k->w, &(espl_instance_def){.source = k->e}, 1, NULL))           \
    X(create_at_out, espl_create_at(k->w, &(espl_creation_def){.value_count = 0}, 1, NULL))       \
    X(create_of_none, espl_create(k->w, NULL, 0, 1, NULL))                                        \
    X(rows_of_none, espl_reserve(k->w, &(espl_reserve_def){                                       \
                                           .components = NULL, .component_count = 0, .rows = 1})) \
    X(change_of_nothing, espl_change_components(k->w, k->e, &(espl_change_def){.add_count = 0}))  \
    X(change_array_refused, espl_change_components_array(k->w, &k->e, 1, &k->change, NULL))       \
    X(change_array_of_none,                                                                       \
      espl_change_components_array(k->w, NULL, 0, &k->change, &k->m.test.heap.calls))             \
    X(change_query_def,                                                                           \
      espl_change_components_query(k->w, NULL, &k->change, &k->m.test.heap.calls))                \
    X(change_query_count, espl_change_components_query(k->w, NULL, &k->change, NULL))             \
    X(add_zeros, espl_add_component(k->w, k->e, k->n, NULL, 4))                                   \
    X(add_identity, espl_add_component(k->w, k->e, ESPL_TRANSFORM, NULL, sizeof k->t))            \
    X(look_up, espl_look_at(k->w, k->e, k->f, NULL, ESPL_AXIS_FORWARD))                           \
    X(batch_of_none, espl_write_batch(k->w, NULL, 0, NULL))                                       \
    X(batch_report, espl_write_batch(k->w, k->writes, 2, NULL))                                   \
    X(vectors_of_none, espl_write_strided(k->w, ESPL_WRITE_LOCAL_POSITION, NULL,                  \
                                          sizeof(espl_entity), NULL, sizeof(float[3]), 0, NULL))  \
    X(pending, espl_record_instantiate(k->r, 0, &(espl_instance_def){.source = k->e}, 1, NULL))   \
    X(record_options, espl_record_attach(k->r, 0, k->e, k->p, NULL))                              \
    X(play_report, espl_play(k->w, k->c, NULL))                                                   \
    X(sync_report, espl_sync(k->w, NULL))                                                         \
    X(validate_report, espl_validate(k->w, NULL) ? ESPL_OK : ESPL_ERR_ARGUMENT)                   \
    X(copy_nothing, espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 0, NULL) == 1                \
                        ? ESPL_OK                                                                 \
                        : ESPL_ERR_ARGUMENT)                                                      \
    X(copy_columns, espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4,                           \
                                      &(espl_subtree_arrays){.entities = k->handles}) == 1        \
                        ? ESPL_OK                                                                 \
                        : ESPL_ERR_ARGUMENT)                                                      \
    X(query_def, begin_and_end(k))                                                                \
    X(destroyed_world, (espl_world_destroy(NULL), ESPL_OK))                                       \
    X(destroyed_commands, (espl_command_buffer_destroy(NULL), ESPL_OK))                           \
    X(destroyed_threads, (espl_executor_destroy_threads(NULL), ESPL_OK))

// --- A fault, with a world to tell it to ---

#define TRAPPED(X)                                                                                 \
    X(stats_out, SILENT(espl_stats(k->w, NULL)))                                                   \
    X(hash_out, espl_hash(k->w, ESPL_HASH_LOGICAL, NULL))                                          \
    X(register_def, espl_component_register(k->w, NULL, &k->word))                                 \
    X(register_out, espl_component_register(k->w, &late, NULL))                                    \
    X(register_references, espl_component_register(k->w, &referring, &k->word))                    \
    X(find_name, nothing(espl_component_find(k->w, NULL) == 0))                                    \
    X(info_out, espl_component_info(k->w, k->n, NULL))                                             \
    X(attach_children, espl_attach_many(k->w, NULL, &k->p, 1, NULL, NULL))                         \
    X(attach_parents, espl_attach_many(k->w, &k->e, NULL, 1, NULL, NULL))                          \
    X(destroy_entities, espl_destroy_many(k->w, NULL, 1, ESPL_EXTENT_OWNED, NULL))                 \
    X(find_path, espl_find_below(k->w, k->p, NULL, k->handles))                                    \
    X(find_out, espl_find_below(k->w, k->p, "name", NULL))                                         \
    X(path_buffer, nothing(espl_get_path(k->w, k->e, NULL, 4) == 0))                               \
    X(dump_buffer, nothing(espl_dump(k->w, k->e, NULL, 4) == 0))                                   \
    X(create_components, espl_create(k->w, NULL, 1, 1, k->handles))                                \
    X(rows_components,                                                                             \
      espl_reserve(k->w,                                                                           \
                   &(espl_reserve_def){.components = NULL, .component_count = 1, .rows = 1}))      \
    X(change_def, espl_change_components(k->w, k->e, NULL))                                        \
    X(change_add, espl_change_components(k->w, k->e, &(espl_change_def){.add_count = 1}))          \
    X(change_remove, espl_change_components(k->w, k->e, &(espl_change_def){.remove_count = 1}))    \
    X(array_entities, espl_change_components_array(k->w, NULL, 1, &k->change, NULL))               \
    X(array_def, espl_change_components_array(k->w, &k->e, 1, NULL, NULL))                         \
    X(query_change, espl_change_components_query(k->w, NULL, NULL, NULL))                          \
    X(get_out, espl_get_component(k->w, k->e, k->n, NULL, 4))                                      \
    X(set_data, espl_set_component(k->w, k->e, k->n, NULL, 4))                                     \
    X(query_out, espl_query_begin(k->w, NULL, NULL))                                               \
    X(query_all, espl_query_begin(k->w, &(espl_query_def){.all_count = 1}, &k->query))             \
    X(query_none, espl_query_begin(k->w, &(espl_query_def){.none_count = 1}, &k->query))           \
    X(query_any, espl_query_begin(k->w, &(espl_query_def){.any_count = 1}, &k->query))             \
    X(query_changed, espl_query_begin(k->w, &(espl_query_def){.changed_count = 1}, &k->query))     \
    X(subtree_out, espl_subtree_begin(k->w, k->e, NULL))                                           \
    X(copy_out, nothing(espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4, NULL) == 0))           \
    X(copy_entities, nothing(espl_copy_subtree(k->w, k->e, ESPL_EXTENT_OWNED, 4,                   \
                                               &(espl_subtree_arrays){.depths = NULL}) == 0))      \
    X(view_out, espl_view_hierarchy(k->w, k->e, NULL))                                             \
    X(get_world, espl_get_world_transform(k->w, k->e, NULL))                                       \
    X(get_local, espl_get_local_transform(k->w, k->e, NULL))                                       \
    X(many_out, espl_get_world_transforms(k->w, &k->e, 1, sizeof k->e, NULL))                      \
    X(many_entities, espl_get_world_transforms(k->w, NULL, 1, sizeof k->e, &k->t))                 \
    X(positions_out, espl_get_world_positions(k->w, &k->e, 1, sizeof k->e, NULL))                  \
    X(positions_entities, espl_get_world_positions(k->w, NULL, 1, sizeof k->e, (float(*)[3])k->f)) \
    X(world_position, espl_get_world_position(k->w, k->e, NULL))                                   \
    X(world_rotation, espl_get_world_rotation(k->w, k->e, NULL))                                   \
    X(world_scale, espl_get_world_scale(k->w, k->e, NULL))                                         \
    X(local_position, espl_get_local_position(k->w, k->e, NULL))                                   \
    X(local_rotation, espl_get_local_rotation(k->w, k->e, NULL))                                   \
    X(local_scale, espl_get_local_scale(k->w, k->e, NULL))                                         \
    X(stretch, espl_get_stretch(k->w, k->e, NULL))                                                 \
    X(context, espl_get_user_data(k->w, k->e, NULL))                                               \
    X(relative, espl_relative(k->w, k->p, k->e, NULL))                                             \
    X(point_to_world_in, espl_point_to_world(k->w, k->e, NULL, k->f))                              \
    X(point_to_world_out, espl_point_to_world(k->w, k->e, k->f, NULL))                             \
    X(point_to_local_in, espl_point_to_local(k->w, k->e, NULL, k->f))                              \
    X(point_to_local_out, espl_point_to_local(k->w, k->e, k->f, NULL))                             \
    X(vector_to_world_in, espl_vector_to_world(k->w, k->e, NULL, k->f))                            \
    X(vector_to_world_out, espl_vector_to_world(k->w, k->e, k->f, NULL))                           \
    X(vector_to_local_in, espl_vector_to_local(k->w, k->e, NULL, k->f))                            \
    X(vector_to_local_out, espl_vector_to_local(k->w, k->e, k->f, NULL))                           \
    X(direction_to_world_in, espl_direction_to_world(k->w, k->e, NULL, k->f))                      \
    X(direction_to_world_out, espl_direction_to_world(k->w, k->e, k->f, NULL))                     \
    X(direction_to_local_in, espl_direction_to_local(k->w, k->e, NULL, k->f))                      \
    X(direction_to_local_out, espl_direction_to_local(k->w, k->e, k->f, NULL))                     \
    X(axis, espl_get_axis(k->w, k->e, ESPL_AXIS_UP, NULL))                                         \
    X(matrix_3x4, espl_get_matrix_3x4(k->w, k->e, NULL))                                           \
    X(matrix_4x4, espl_get_matrix_4x4(k->w, k->e, NULL))                                           \
    X(matrix_inverse, espl_get_matrix_4x4_inverse(k->w, k->e, NULL))                               \
    X(set_local_position, espl_set_local_position(k->w, k->e, NULL))                               \
    X(set_local_rotation, espl_set_local_rotation(k->w, k->e, NULL))                               \
    X(set_local_pose, espl_set_local_pose(k->w, k->e, NULL))                                       \
    X(set_local, espl_set_local_transform(k->w, k->e, NULL))                                       \
    X(set_stretch, espl_set_stretch(k->w, k->e, NULL))                                             \
    X(set_world_position, espl_set_world_position(k->w, k->e, NULL))                               \
    X(set_world_rotation, espl_set_world_rotation(k->w, k->e, NULL))                               \
    X(set_world, espl_set_world_transform(k->w, k->e, NULL))                                       \
    X(translate_local, espl_translate_in_parent(k->w, k->e, NULL))                                 \
    X(rotate_local, espl_rotate_in_parent(k->w, k->e, NULL))                                       \
    X(transform_local, espl_write_one(k->w, k->e, ESPL_WRITE_TRANSFORM_IN_PARENT, NULL))           \
    X(inverse_local, espl_write_one(k->w, k->e, ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT, NULL))     \
    X(translate_world, espl_translate_world(k->w, k->e, NULL))                                     \
    X(rotate_world, espl_rotate_world(k->w, k->e, NULL))                                           \
    X(transform_world, espl_write_one(k->w, k->e, ESPL_WRITE_TRANSFORM_WORLD, NULL))               \
    X(inverse_world, espl_write_one(k->w, k->e, ESPL_WRITE_INVERSE_TRANSFORM_WORLD, NULL))         \
    X(multiply_stretch, espl_write_one(k->w, k->e, ESPL_WRITE_MULTIPLY_STRETCH, NULL))             \
    X(look_at, espl_look_at(k->w, k->e, NULL, k->f, ESPL_AXIS_FORWARD))                            \
    X(rotate_pivot, espl_rotate_about(k->w, k->e, NULL, k->f))                                     \
    X(rotate_by, espl_rotate_about(k->w, k->e, k->f, NULL))                                        \
    X(batch, espl_write_batch(k->w, NULL, 2, NULL))                                                \
    X(vectors_entities, espl_write_strided(k->w, ESPL_WRITE_STRETCH, NULL, sizeof(espl_entity),    \
                                           threes, sizeof(float[3]), 1, NULL))                     \
    X(vectors_values, espl_write_strided(k->w, ESPL_WRITE_STRETCH, &k->e, sizeof(espl_entity),     \
                                         NULL, sizeof(float[3]), 1, NULL))                         \
    X(rotations_entities,                                                                          \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_ROTATION, NULL, sizeof(espl_entity), fours,        \
                         sizeof(float[4]), 1, NULL))                                               \
    X(rotations_values, espl_write_strided(k->w, ESPL_WRITE_LOCAL_ROTATION, &k->e,                 \
                                           sizeof(espl_entity), NULL, sizeof(float[4]), 1, NULL))  \
    X(scalars_entities, espl_write_strided(k->w, ESPL_WRITE_LOCAL_SCALE, NULL,                     \
                                           sizeof(espl_entity), k->f, sizeof(float), 1, NULL))     \
    X(scalars_values, espl_write_strided(k->w, ESPL_WRITE_LOCAL_SCALE, &k->e, sizeof(espl_entity), \
                                         NULL, sizeof(float), 1, NULL))                            \
    X(transforms_entities,                                                                         \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_TRANSFORM, NULL, sizeof(espl_entity), &k->t,       \
                         sizeof(espl_transform), 1, NULL))                                         \
    X(transforms_values,                                                                           \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_TRANSFORM, &k->e, sizeof(espl_entity), NULL,       \
                         sizeof(espl_transform), 1, NULL))                                         \
    X(poses_entities,                                                                              \
      espl_write_strided(k->w, ESPL_WRITE_LOCAL_POSE, NULL, 8, &upright, 32, 1, NULL))             \
    X(poses_values, espl_write_strided(k->w, ESPL_WRITE_LOCAL_POSE, &k->e, 8, NULL, 32, 1, NULL))  \
    X(commands_out, espl_command_buffer_create(k->w, 1, NULL))                                     \
    X(play_commands, espl_play(k->w, NULL, NULL))                                                  \
    X(instantiate_def, espl_record_instantiate(k->r, 0, NULL, 1, NULL))                            \
    X(at_once_def, espl_instantiate_at(k->w, NULL, 1, NULL))                                       \
    X(at_once_values, espl_instantiate_at(k->w, &valueless, 1, NULL))                              \
    X(create_at_def, espl_create_at(k->w, NULL, 1, NULL))                                          \
    X(create_at_values, espl_create_at(k->w, &(espl_creation_def){.value_count = 1}, 1, NULL))     \
    X(instantiate_values, espl_record_instantiate(k->r, 0, &valueless, 1, NULL))                   \
    X(record_set_local, espl_record_set_local_transform(k->r, 0, k->e, NULL))                      \
    X(record_set_world, espl_record_set_world_transform(k->r, 0, k->e, NULL))                      \
    X(record_write, espl_record_write(k->r, 0, k->e, ESPL_WRITE_LOCAL_SCALE, NULL))                \
    X(record_change, espl_record_change_components(k->r, 0, k->e, NULL))                           \
    X(record_change_add,                                                                           \
      espl_record_change_components(k->r, 0, k->e, &(espl_change_def){.add_count = 1}))            \
    X(record_change_remove,                                                                        \
      espl_record_change_components(k->r, 0, k->e, &(espl_change_def){.remove_count = 1}))         \
    X(resolve_out, espl_command_buffer_resolve(k->c, k->m.pending, NULL))                          \
    X(view_depths_out, SILENT(espl_view_depths(&k->view, NULL)))

// --- A fault with nobody to tell it to: it aborts ---

#define ABORTED(X)                                                                                 \
    X(world_out, espl_world_create(NULL, NULL))                                                    \
    X(reserve, espl_reserve(NULL, &(espl_reserve_def){.entities = 1}))                             \
    X(trim, espl_compact(NULL))                                                                    \
    X(stats, SILENT(espl_stats(NULL, &stats)))                                                     \
    X(validate, nothing(!espl_validate(NULL, NULL)))                                               \
    X(hash, espl_hash(NULL, ESPL_HASH_LOGICAL, &hash))                                             \
    X(component_register, espl_component_register(NULL, &late, &k->word))                          \
    X(component_find, nothing(espl_component_find(NULL, "number") == 0))                           \
    X(component_count, nothing(espl_component_count(NULL) == 0))                                   \
    X(component_info, espl_component_info(NULL, k->n, &info))                                      \
    X(clear, espl_world_clear(NULL))                                                               \
    X(unregister, espl_unregister_command(NULL, 1))                                                \
    X(attach_many, espl_attach_many(NULL, &k->e, &k->p, 1, NULL, NULL))                            \
    X(attach_none, espl_attach_many(NULL, NULL, NULL, 0, NULL, NULL))                              \
    X(destroy_many, espl_destroy_many(NULL, &k->e, 1, ESPL_EXTENT_OWNED, NULL))                    \
    X(set_name, espl_set_name(NULL, k->e, "name"))                                                 \
    X(get_name, nothing(espl_get_name(NULL, k->e)[0] == '\0'))                                     \
    X(find_below, espl_find_below(NULL, k->e, "name", k->handles))                                 \
    X(get_path, nothing(espl_get_path(NULL, k->e, (char *)k->f, sizeof k->f) == 0))                \
    X(dump, nothing(espl_dump(NULL, k->e, (char *)k->f, sizeof k->f) == 0))                        \
    X(create, espl_create(NULL, &k->n, 1, 1, k->handles))                                          \
    X(is_alive, nothing(!espl_is_alive(NULL, k->e)))                                               \
    X(change, espl_change_components(NULL, k->e, &k->change))                                      \
    X(change_array, espl_change_components_array(NULL, &k->e, 1, &k->change, NULL))                \
    X(change_query, espl_change_components_query(NULL, NULL, &k->change, NULL))                    \
    X(add, espl_add_component(NULL, k->e, k->n, NULL, 4))                                          \
    X(remove, espl_remove_component(NULL, k->e, k->n))                                             \
    X(has, nothing(!espl_has_component(NULL, k->e, k->n)))                                         \
    X(get, espl_get_component(NULL, k->e, k->n, k->f, 4))                                          \
    X(set, espl_set_component(NULL, k->e, k->n, k->f, 4))                                          \
    X(reserve_rows, espl_reserve(NULL, &(espl_reserve_def){                                        \
                                           .components = &k->n, .component_count = 1, .rows = 1})) \
    X(version, nothing(espl_get_version(NULL) == 0))                                               \
    X(kernels, nothing(espl_world_kernels(NULL) == NULL))                                          \
    X(query_begin, espl_query_begin(NULL, NULL, &k->query))                                        \
    X(query_next, nothing(!espl_query_next(NULL)))                                                 \
    X(query_end, SILENT(espl_query_end(NULL)))                                                     \
    X(query_read, nothing(espl_query_read(NULL, k->n, 4) == NULL))                                 \
    X(query_write, nothing(espl_query_write(NULL, k->n, 4) == NULL))                               \
    X(attach, espl_attach(NULL, k->e, k->p, NULL))                                                 \
    X(detach, espl_detach(NULL, k->e, ESPL_KEEP_WORLD))                                            \
    X(set_sibling, espl_set_sibling(NULL, k->e, espl_entity_null()))                               \
    X(destroy, espl_destroy(NULL, k->e, ESPL_EXTENT_OWNED))                                        \
    X(destroy_subtree, espl_destroy(NULL, k->e, ESPL_EXTENT_SUBTREE))                              \
    X(destroy_only, espl_destroy(NULL, k->e, ESPL_EXTENT_ENTITY))                                  \
    X(instantiate, espl_instantiate(NULL, k->e, 1, NULL))                                          \
    X(instantiate_at, espl_instantiate_at(NULL, &valueless, 1, NULL))                              \
    X(create_at, espl_create_at(NULL, &(espl_creation_def){.value_count = 0}, 1, NULL))            \
    X(disable, espl_disable(NULL, k->e, ESPL_EXTENT_ENTITY))                                       \
    X(enable, espl_enable(NULL, k->e, ESPL_EXTENT_ENTITY))                                         \
    X(is_enabled, nothing(!espl_is_enabled(NULL, k->e)))                                           \
    X(role, nothing(espl_get_role(NULL, k->e) == ESPL_ROLE_NONE))                                  \
    X(parent, nothing(espl_entity_is_null(espl_get_parent(NULL, k->e))))                           \
    X(root, nothing(espl_entity_is_null(espl_get_root(NULL, k->e))))                               \
    X(link, nothing(espl_get_link(NULL, k->e) == ESPL_LINK_OWNED))                                 \
    X(rank, nothing(espl_get_rank(NULL, k->e) == ESPL_NO_RANK))                                    \
    X(depth, nothing(espl_get_depth(NULL, k->e) == ESPL_NO_RANK))                                  \
    X(count_children, nothing(espl_count_children(NULL, k->e) == 0))                               \
    X(count_descendants, nothing(espl_count_descendants(NULL, k->e) == 0))                         \
    X(first_child, nothing(espl_entity_is_null(espl_get_first_child(NULL, k->e))))                 \
    X(last_child, nothing(espl_entity_is_null(espl_get_last_child(NULL, k->e))))                   \
    X(previous, nothing(espl_entity_is_null(espl_get_previous_sibling(NULL, k->e))))               \
    X(next, nothing(espl_entity_is_null(espl_get_next_sibling(NULL, k->e))))                       \
    X(child, nothing(espl_entity_is_null(espl_get_child(NULL, k->p, 0))))                          \
    X(is_ancestor, nothing(!espl_is_ancestor(NULL, k->p, k->e)))                                   \
    X(subtree_begin, espl_subtree_begin(NULL, k->e, &k->subtree))                                  \
    X(subtree_next, nothing(!espl_subtree_next(NULL)))                                             \
    X(subtree_end, SILENT(espl_subtree_end(NULL)))                                                 \
    X(copy_subtree, nothing(espl_copy_subtree(NULL, k->e, ESPL_EXTENT_OWNED, 0, NULL) == 0))       \
    X(view_hierarchy, espl_view_hierarchy(NULL, k->e, &k->view))                                   \
    X(view_entity, nothing(espl_entity_is_null(espl_view_entity(NULL, 0))))                        \
    X(view_depths, SILENT(espl_view_depths(NULL, &k->word)))                                       \
    X(get_world, espl_get_world_transform(NULL, k->e, &k->t))                                      \
    X(get_local, espl_get_local_transform(NULL, k->e, &k->t))                                      \
    X(get_transforms, espl_get_world_transforms(NULL, &k->e, 1, sizeof k->e, &k->t))               \
    X(transforms_of_none, espl_get_world_transforms(NULL, NULL, 0, sizeof k->e, NULL))             \
    X(positions_of_none, espl_get_world_positions(NULL, NULL, 0, sizeof k->e, NULL))               \
    X(world_position, espl_get_world_position(NULL, k->e, k->f))                                   \
    X(world_rotation, espl_get_world_rotation(NULL, k->e, k->f))                                   \
    X(world_scale, espl_get_world_scale(NULL, k->e, k->f))                                         \
    X(local_position, espl_get_local_position(NULL, k->e, k->f))                                   \
    X(local_rotation, espl_get_local_rotation(NULL, k->e, k->f))                                   \
    X(local_scale, espl_get_local_scale(NULL, k->e, k->f))                                         \
    X(stretch, espl_get_stretch(NULL, k->e, k->f))                                                 \
    X(context, espl_get_user_data(NULL, k->e, &k->word))                                           \
    X(relative, espl_relative(NULL, k->p, k->e, &k->t))                                            \
    X(point_to_world, espl_point_to_world(NULL, k->e, k->g, k->f))                                 \
    X(point_to_local, espl_point_to_local(NULL, k->e, k->g, k->f))                                 \
    X(vector_to_world, espl_vector_to_world(NULL, k->e, k->g, k->f))                               \
    X(vector_to_local, espl_vector_to_local(NULL, k->e, k->g, k->f))                               \
    X(direction_to_world, espl_direction_to_world(NULL, k->e, k->g, k->f))                         \
    X(direction_to_local, espl_direction_to_local(NULL, k->e, k->g, k->f))                         \
    X(axis, espl_get_axis(NULL, k->e, ESPL_AXIS_UP, k->f))                                         \
    X(is_mirrored, nothing(!espl_is_mirrored(NULL, k->e)))                                         \
    X(inherit, nothing(espl_get_inherit(NULL, k->e) == 0))                                         \
    X(matrix_3x4, espl_get_matrix_3x4(NULL, k->e, k->f))                                           \
    X(matrix_4x4, espl_get_matrix_4x4(NULL, k->e, k->f))                                           \
    X(matrix_inverse, espl_get_matrix_4x4_inverse(NULL, k->e, k->f))                               \
    X(look_at, espl_look_at(NULL, k->e, k->f, NULL, ESPL_AXIS_FORWARD))                            \
    X(rotate_about, espl_rotate_about(NULL, k->e, k->f, k->g))                                     \
    X(set_inherit, espl_set_inherit(NULL, k->e, 0))                                                \
    X(reserve_side, espl_reserve(NULL, &(espl_reserve_def){.side_of = k->e}))                      \
    X(reserve_writes, espl_reserve(NULL, &(espl_reserve_def){.writes = 1}))                        \
    X(batch, espl_write_batch(NULL, k->writes, 2, NULL))                                           \
    X(batch_of_none, espl_write_batch(NULL, NULL, 0, NULL))                                        \
    X(vectors, espl_write_strided(NULL, ESPL_WRITE_STRETCH, &k->e, sizeof(espl_entity), threes,    \
                                  sizeof(float[3]), 1, NULL))                                      \
    X(rotations, espl_write_strided(NULL, ESPL_WRITE_LOCAL_ROTATION, &k->e, sizeof(espl_entity),   \
                                    fours, sizeof(float[4]), 1, NULL))                             \
    X(scalars, espl_write_strided(NULL, ESPL_WRITE_LOCAL_SCALE, &k->e, sizeof(espl_entity), k->f,  \
                                  sizeof(float), 1, NULL))                                         \
    X(transforms, espl_write_strided(NULL, ESPL_WRITE_LOCAL_TRANSFORM, &k->e, sizeof(espl_entity), \
                                     &k->t, sizeof(espl_transform), 1, NULL))                      \
    X(poses, espl_write_strided(NULL, ESPL_WRITE_LOCAL_POSE, &k->e, 8, &upright, 32, 1, NULL))     \
    X(commands_create, espl_command_buffer_create(NULL, 1, &k->c))                                 \
    X(commands_reset, SILENT(espl_command_buffer_reset(NULL)))                                     \
    X(commands_recorder, nothing(espl_command_buffer_recorder(NULL, 0) == NULL))                   \
    X(commands_count, nothing(espl_command_buffer_count(NULL) == 0))                               \
    X(commands_submit, espl_command_buffer_submit(NULL))                                           \
    X(commands_resolve, espl_command_buffer_resolve(NULL, k->m.pending, k->handles))               \
    X(commands_result, espl_command_buffer_result(NULL, 0, 0))                                     \
    X(play, espl_play(NULL, k->c, NULL))                                                           \
    X(sync, espl_sync(NULL, NULL))                                                                 \
    X(r_instantiate, espl_record_instantiate(NULL, 0, &valueless, 1, NULL))                        \
    X(r_destroy, espl_record_destroy(NULL, 0, k->e, ESPL_EXTENT_OWNED))                            \
    X(r_destroy_subtree, espl_record_destroy(NULL, 0, k->e, ESPL_EXTENT_SUBTREE))                  \
    X(r_destroy_only, espl_record_destroy(NULL, 0, k->e, ESPL_EXTENT_ENTITY))                      \
    X(r_attach, espl_record_attach(NULL, 0, k->e, k->p, NULL))                                     \
    X(r_detach, espl_record_detach(NULL, 0, k->e, ESPL_KEEP_WORLD))                                \
    X(r_set_sibling, espl_record_set_sibling(NULL, 0, k->e, espl_entity_null()))                   \
    X(r_set_local, espl_record_set_local_transform(NULL, 0, k->e, &k->t))                          \
    X(r_set_world, espl_record_set_world_transform(NULL, 0, k->e, &k->t))                          \
    X(r_write, espl_record_write(NULL, 0, k->writes->entity, k->writes->kind, &k->writes->value))  \
    X(r_set_inherit, espl_record_set_inherit(NULL, 0, k->e, 0))

// --- The tables ---

typedef struct pointer_case {
    const char *name;
    espl_status (*call)(things *k);
} pointer_case;

static espl_status begin_and_end(things *k)
{
    const espl_status status = espl_query_begin(k->w, NULL, &k->query);

    espl_query_end(&k->query);
    return status;
}

static const espl_component_def late = {.name = "late", .size = 4, .alignment = 4},
                                referring = {.name = "refers",
                                             .size = 8,
                                             .alignment = 4,
                                             .reference_count = 1};
static const espl_instance_def valueless = {.source = {1, 1}, .value_count = 1};
static const float threes[1][3] = {{1, 1, 1}}, fours[1][4] = {{0, 0, 0, 1}};
static const espl_pose upright = {{0, 0, 0, 1}, {0, 0, 0}, 1};
static espl_world_stats stats;
static espl_component_def info;
static uint64_t hash;

#define AS_FUNCTION(prefix, name, expression)     \
    static espl_status prefix##_##name(things *k) \
    {                                             \
        (void)k;                                  \
        return expression;                        \
    }
#define AS_ALLOWED(name, expression) AS_FUNCTION(allowed, name, expression)
#define AS_TRAPPED(name, expression) AS_FUNCTION(trapped, name, expression)
#define AS_ABORTED(name, expression) AS_FUNCTION(aborted, name, expression)

ALLOWED(AS_ALLOWED)
TRAPPED(AS_TRAPPED)
ABORTED(AS_ABORTED)

#define AS_ALLOWED_CASE(name, expression) {#name, allowed_##name},
#define AS_TRAPPED_CASE(name, expression) {#name, trapped_##name},
#define AS_ABORTED_CASE(name, expression) {#name, aborted_##name},

static const pointer_case allowed_cases[] = {ALLOWED(AS_ALLOWED_CASE)};
static const pointer_case trapped_cases[] = {TRAPPED(AS_TRAPPED_CASE)};
static const pointer_case aborted_cases[] = {ABORTED(AS_ABORTED_CASE)};

static void things_begin(things *k)
{
    uint64_t random = 1;

    memset(k, 0, sizeof *k);
    misuse_begin(&k->m, NULL);
    k->w = k->m.world;
    k->e = k->m.child;
    k->p = k->m.root;
    k->c = k->m.commands;
    k->r = espl_command_buffer_recorder(k->c, 1);
    k->n = k->m.number;
    k->f[0] = k->g[3] = 1;
    k->t = test_at(1, 2, 3);
    k->value = (espl_component_value){.component = ESPL_PREFAB};
    k->change = (espl_change_def){.add = &k->value, .add_count = 1};
    for (size_t i = 0; i < 2; ++i) {
        k->writes[i] = write_ordinary(k->e, ESPL_WRITE_LOCAL_TRANSFORM, &random);
    }
    ck_assert_int_eq(espl_view_hierarchy(k->w, k->e, &k->view), ESPL_OK);
}

START_TEST(null_is_taken_where_it_is_said_to_be)
{
    for (size_t i = 0; i < sizeof allowed_cases / sizeof *allowed_cases; ++i) {
        things k;

        things_begin(&k);
        const espl_status status = allowed_cases[i].call(&k);
        ck_assert_msg(status >= 0, "%s: %s", allowed_cases[i].name, espl_status_name(status));
        ck_assert_uint_eq(k.m.test.hooks.traps, 0);
        misuse_end(&k.m);
    }
}
END_TEST

START_TEST(null_elsewhere_is_a_fault_that_the_world_hears_of)
{
    things k;

    things_begin(&k);
    const uint64_t before = test_physical_hash(k.w);
    const size_t recorded = espl_command_buffer_count(k.c);
    for (size_t i = 0; i < sizeof trapped_cases / sizeof *trapped_cases; ++i) {
        const char *const name = trapped_cases[i].name;

        k.m.test.hooks.traps = 0;
        const espl_status status = trapped_cases[i].call(&k);
        ck_assert_msg(status == ESPL_ERR_ARGUMENT, "%s: %s", name, espl_status_name(status));
        ck_assert_msg(k.m.test.hooks.traps == (ESPL_CHECKS >= 1), "%s: %zu traps", name,
                      k.m.test.hooks.traps);
        ck_assert_uint_eq(test_physical_hash(k.w), before);
        ck_assert_uint_eq(espl_command_buffer_count(k.c), recorded);
    }
    // None of them left an iteration open.
    ck_assert_int_eq(espl_destroy(k.w, k.p, ESPL_EXTENT_OWNED), ESPL_OK);
    misuse_end(&k.m);
}
END_TEST

static things *at_hand; // of the case that aborts
static espl_status (*call_at_hand)(things *k);

static void call_it(void)
{
    (void)call_at_hand(at_hand);
}

START_TEST(null_for_a_world_or_a_recorder_aborts_in_checked_builds)
{
    things k;

    things_begin(&k);
    at_hand = &k;
    for (size_t i = 0; i < sizeof aborted_cases / sizeof *aborted_cases; ++i) {
        char said[256] = "";

        call_at_hand = aborted_cases[i].call;
        if (ESPL_CHECKS >= 1) {
            expect_abort(call_it, said, sizeof said);
            ck_assert_msg(strstr(said, "wrong use") != NULL, "%s: %s", aborted_cases[i].name, said);
        } else {
            ck_assert_int_eq(call_at_hand(at_hand), ESPL_ERR_ARGUMENT);
        }
    }
    misuse_end(&k.m);
}
END_TEST

START_TEST(a_world_that_is_not_made_tells_the_hooks_it_was_to_have)
{
    test_hooks hooks = {0};
    const espl_world_def def = {.hooks = test_hooks_of(&hooks)};

    ck_assert_int_eq(espl_world_create(NULL, &def), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(hooks.traps, ESPL_CHECKS >= 1);
    ck_assert_int_eq(espl_executor_create_threads(NULL, 1), ESPL_ERR_ARGUMENT);
}
END_TEST

static Suite *misuse_suite(void)
{
    Suite *const suite = suite_create("misuse of pointers");
    TCase *const tcase = tcase_create("null");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, null_is_taken_where_it_is_said_to_be);
    tcase_add_test(tcase, null_elsewhere_is_a_fault_that_the_world_hears_of);
    tcase_add_test(tcase, null_for_a_world_or_a_recorder_aborts_in_checked_builds);
    tcase_add_test(tcase, a_world_that_is_not_made_tells_the_hooks_it_was_to_have);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(misuse_suite)

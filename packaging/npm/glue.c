// SPDX-License-Identifier: MIT
// What the npm package adds to the library: forms that JavaScript can call. A handle, which C passes by
// value, is a 64-bit integer here: the index in the low half, the generation in the high half, as
// the two fields are in memory. Structs stay as they are: JavaScript writes and reads them in memory by the
// offsets that are asserted at the end, and calls the library's own functions with them.
//
// A function without a comment is the function of the library that it calls.
#include <espalier/espalier.h>

#include <stddef.h>

/// Keeps a function; packaging/npm/build.sh exports those that the package calls.
#define GLUE __attribute__((used, visibility("default")))

/// Bytes for the arguments and results of one call; the largest are two transforms and a struct.
enum { SCRATCH_BYTES = 1024 };

/// Functions of JavaScript, which must not call the library: they keep what they get.
__attribute__((import_module("espalier"), import_name("keep_message"))) void
espalier_keep_message(uint32_t world, uint32_t level, const char *message);
__attribute__((import_module("espalier"), import_name("keep_fault"))) void
espalier_keep_fault(uint32_t world, const char *sentence);

static espl_entity from_bits(uint64_t bits)
{
    const espl_entity entity = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    return entity;
}

static uint64_t to_bits(espl_entity entity)
{
    return (uint64_t)entity.generation << 32 | entity.index;
}

static void keep_message(void *user, espl_log_level level, const char *message)
{
    espalier_keep_message((uint32_t)(uintptr_t)user, (uint32_t)level, message);
}

static void keep_fault(void *user, const char *file, int line, const char *sentence)
{
    (void)file;
    (void)line;
    espalier_keep_fault((uint32_t)(uintptr_t)user, sentence);
}

/// Return memory for the arguments and results of one call.
GLUE void *glue_scratch(void)
{
    static _Alignas(16) unsigned char scratch[SCRATCH_BYTES];

    return scratch;
}

/// Make a world whose messages and faults name it by a number.
GLUE espl_status glue_world_create(uint32_t number, uint32_t tag, uint32_t layout_budget,
                                   const char *kernels, espl_world **out)
{
    espl_world_def def = {0};

    def.hooks.user = (void *)(uintptr_t)number;
    def.hooks.log = keep_message;
    def.hooks.trap = keep_fault;
    def.tag = tag;
    def.layout_budget = layout_budget;
    def.kernels = kernels;
    return espl_world_create(out, &def);
}

// --- Structure ---

GLUE bool glue_is_alive(const espl_world *world, uint64_t entity)
{
    return espl_is_alive(world, from_bits(entity));
}

GLUE espl_status glue_destroy(espl_world *world, uint64_t entity, espl_extent extent)
{
    return espl_destroy(world, from_bits(entity), extent);
}

GLUE espl_status glue_attach(espl_world *world, uint64_t child, uint64_t parent,
                             const espl_attach_options *options)
{
    return espl_attach(world, from_bits(child), from_bits(parent), options);
}

GLUE espl_status glue_detach(espl_world *world, uint64_t entity, espl_keep keep)
{
    return espl_detach(world, from_bits(entity), keep);
}

GLUE espl_status glue_set_sibling(espl_world *world, uint64_t entity, uint64_t before)
{
    return espl_set_sibling(world, from_bits(entity), from_bits(before));
}

GLUE espl_status glue_enable(espl_world *world, uint64_t entity, espl_extent extent)
{
    return espl_enable(world, from_bits(entity), extent);
}

GLUE espl_status glue_disable(espl_world *world, uint64_t entity, espl_extent extent)
{
    return espl_disable(world, from_bits(entity), extent);
}

GLUE bool glue_is_enabled(const espl_world *world, uint64_t entity)
{
    return espl_is_enabled(world, from_bits(entity));
}

GLUE espl_role glue_get_role(const espl_world *world, uint64_t entity)
{
    return espl_get_role(world, from_bits(entity));
}

GLUE espl_link glue_get_link(const espl_world *world, uint64_t entity)
{
    return espl_get_link(world, from_bits(entity));
}

GLUE uint64_t glue_get_parent(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_parent(world, from_bits(entity)));
}

GLUE uint64_t glue_get_root(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_root(world, from_bits(entity)));
}

GLUE uint64_t glue_get_first_child(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_first_child(world, from_bits(entity)));
}

GLUE uint64_t glue_get_last_child(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_last_child(world, from_bits(entity)));
}

GLUE uint64_t glue_get_previous_sibling(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_previous_sibling(world, from_bits(entity)));
}

GLUE uint64_t glue_get_next_sibling(const espl_world *world, uint64_t entity)
{
    return to_bits(espl_get_next_sibling(world, from_bits(entity)));
}

GLUE uint32_t glue_get_depth(const espl_world *world, uint64_t entity)
{
    return espl_get_depth(world, from_bits(entity));
}

GLUE size_t glue_count_children(const espl_world *world, uint64_t entity)
{
    return espl_count_children(world, from_bits(entity));
}

GLUE size_t glue_count_descendants(const espl_world *world, uint64_t entity)
{
    return espl_count_descendants(world, from_bits(entity));
}

GLUE bool glue_is_ancestor(const espl_world *world, uint64_t ancestor, uint64_t entity)
{
    return espl_is_ancestor(world, from_bits(ancestor), from_bits(entity));
}

GLUE size_t glue_copy_subtree(const espl_world *world, uint64_t top, espl_extent extent,
                              size_t capacity, const espl_subtree_arrays *out)
{
    return espl_copy_subtree(world, from_bits(top), extent, capacity, out);
}

GLUE espl_status glue_view_hierarchy(espl_world *world, uint64_t entity, espl_view *out)
{
    return espl_view_hierarchy(world, from_bits(entity), out);
}

GLUE uint64_t glue_view_entity(const espl_view *view, size_t rank)
{
    return to_bits(espl_view_entity(view, rank));
}

// --- Names ---

GLUE espl_status glue_set_name(espl_world *world, uint64_t entity, const char *name)
{
    return espl_set_name(world, from_bits(entity), name);
}

GLUE const char *glue_get_name(const espl_world *world, uint64_t entity)
{
    return espl_get_name(world, from_bits(entity));
}

GLUE espl_status glue_find_below(const espl_world *world, uint64_t top, const char *path,
                                 espl_entity *out)
{
    return espl_find_below(world, from_bits(top), path, out);
}

GLUE size_t glue_get_path(const espl_world *world, uint64_t entity, char *buffer, size_t size)
{
    return espl_get_path(world, from_bits(entity), buffer, size);
}

GLUE size_t glue_dump(const espl_world *world, uint64_t entity, char *buffer, size_t size)
{
    return espl_dump(world, from_bits(entity), buffer, size);
}

// --- Components ---

GLUE espl_status glue_change_components(espl_world *world, uint64_t entity,
                                        const espl_change_def *change)
{
    return espl_change_components(world, from_bits(entity), change);
}

GLUE bool glue_has_component(const espl_world *world, uint64_t entity, espl_component component)
{
    return espl_has_component(world, from_bits(entity), component);
}

GLUE espl_status glue_get_component(const espl_world *world, uint64_t entity,
                                    espl_component component, void *out, size_t size)
{
    return espl_get_component(world, from_bits(entity), component, out, size);
}

GLUE espl_status glue_set_component(espl_world *world, uint64_t entity, espl_component component,
                                    const void *data, size_t size)
{
    return espl_set_component(world, from_bits(entity), component, data, size);
}

// --- Transforms ---

GLUE espl_status glue_read(const espl_world *world, uint64_t entity, espl_read_kind kind, void *out)
{
    return espl_read_one(world, from_bits(entity), kind, out);
}

GLUE espl_status glue_write(espl_world *world, uint64_t entity, espl_write_kind kind,
                            const void *value)
{
    return espl_write_one(world, from_bits(entity), kind, value);
}

GLUE espl_status glue_look_at(espl_world *world, uint64_t entity, const float target[3],
                              const float up[3], espl_axis forward)
{
    return espl_look_at(world, from_bits(entity), target, up, forward);
}

GLUE espl_status glue_rotate_about(espl_world *world, uint64_t entity, const float pivot[3],
                                   const float by[4])
{
    return espl_rotate_about(world, from_bits(entity), pivot, by);
}

GLUE espl_status glue_relative(const espl_world *world, uint64_t frame, uint64_t entity,
                               espl_transform *out)
{
    return espl_relative(world, from_bits(frame), from_bits(entity), out);
}

GLUE espl_status glue_convert(const espl_world *world, uint64_t entity, espl_conversion conversion,
                              const float value[3], float out[3])
{
    return espl_convert(world, from_bits(entity), conversion, value, out);
}

GLUE espl_status glue_get_matrix(const espl_world *world, uint64_t entity, espl_matrix_form form,
                                 float *out)
{
    return espl_get_matrix(world, from_bits(entity), form, out);
}

GLUE uint32_t glue_get_inherit(const espl_world *world, uint64_t entity)
{
    return espl_get_inherit(world, from_bits(entity));
}

GLUE espl_status glue_set_inherit(espl_world *world, uint64_t entity, uint32_t flags)
{
    return espl_set_inherit(world, from_bits(entity), flags);
}

// --- Commands ---

GLUE espl_status glue_record_destroy(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                     espl_extent extent)
{
    return espl_record_destroy(recorder, key, from_bits(entity), extent);
}

GLUE espl_status glue_record_attach(espl_recorder *recorder, uint32_t key, uint64_t child,
                                    uint64_t parent, const espl_attach_options *options)
{
    return espl_record_attach(recorder, key, from_bits(child), from_bits(parent), options);
}

GLUE espl_status glue_record_detach(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                    espl_keep keep)
{
    return espl_record_detach(recorder, key, from_bits(entity), keep);
}

GLUE espl_status glue_record_set_sibling(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                         uint64_t before)
{
    return espl_record_set_sibling(recorder, key, from_bits(entity), from_bits(before));
}

GLUE espl_status glue_record_write(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                   espl_write_kind kind, const void *value)
{
    return espl_record_write(recorder, key, from_bits(entity), kind, value);
}

GLUE espl_status glue_record_set_inherit(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                         uint32_t flags)
{
    return espl_record_set_inherit(recorder, key, from_bits(entity), flags);
}

GLUE espl_status glue_record_change_components(espl_recorder *recorder, uint32_t key,
                                               uint64_t entity, const espl_change_def *change)
{
    return espl_record_change_components(recorder, key, from_bits(entity), change);
}

GLUE espl_status glue_record_set_component(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                           espl_component component, const void *data, size_t size)
{
    return espl_record_set_component(recorder, key, from_bits(entity), component, data, size);
}

GLUE espl_status glue_record_enable(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                    espl_extent extent)
{
    return espl_record_enable(recorder, key, from_bits(entity), extent);
}

GLUE espl_status glue_record_disable(espl_recorder *recorder, uint32_t key, uint64_t entity,
                                     espl_extent extent)
{
    return espl_record_disable(recorder, key, from_bits(entity), extent);
}

GLUE espl_status glue_resolve(const espl_command_buffer *commands, uint64_t pending,
                              espl_entity *out)
{
    return espl_command_buffer_resolve(commands, from_bits(pending), out);
}

// --- What JavaScript assumes of structs: each number here is one of structs.js ---

#define AT(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), "structs.js has another offset")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "structs.js has another size")

SIZE(espl_entity, 8);
AT(espl_entity, generation, 4);

SIZE(espl_transform, 48);
AT(espl_transform, position, 16);
AT(espl_transform, scale, 28);
AT(espl_transform, stretch, 32);
AT(espl_transform, user_data, 44);
SIZE(espl_pose, 32);
AT(espl_pose, position, 16);
AT(espl_pose, scale, 28);

SIZE(espl_component_value, 12);
AT(espl_component_value, size, 4);
AT(espl_component_value, data, 8);

SIZE(espl_component_def, 20);
AT(espl_component_def, size, 4);
AT(espl_component_def, alignment, 8);
AT(espl_component_def, references, 12);
AT(espl_component_def, reference_count, 16);

SIZE(espl_change_def, 16);
AT(espl_change_def, add_count, 4);
AT(espl_change_def, remove, 8);
AT(espl_change_def, remove_count, 12);

SIZE(espl_creation_def, 40);
AT(espl_creation_def, value_count, 4);
AT(espl_creation_def, parent, 8);
AT(espl_creation_def, before, 16);
AT(espl_creation_def, link, 24);
AT(espl_creation_def, dead_parent, 28);
AT(espl_creation_def, place, 32);
AT(espl_creation_def, inherit, 36);

SIZE(espl_instance_def, 96);
AT(espl_instance_def, parent, 8);
AT(espl_instance_def, before, 16);
AT(espl_instance_def, link, 24);
AT(espl_instance_def, dead_parent, 28);
AT(espl_instance_def, place, 32);
AT(espl_instance_def, inherit, 36);
AT(espl_instance_def, transform, 40);
AT(espl_instance_def, values, 88);
AT(espl_instance_def, value_count, 92);

SIZE(espl_attach_options, 28);
AT(espl_attach_options, rotation, 4);
AT(espl_attach_options, scale, 8);
AT(espl_attach_options, link, 12);
AT(espl_attach_options, before, 16);
AT(espl_attach_options, inherit, 24);

SIZE(espl_query_def, 48);
AT(espl_query_def, none, 8);
AT(espl_query_def, any, 16);
AT(espl_query_def, changed, 24);
AT(espl_query_def, since, 32);
AT(espl_query_def, include, 40);

_Static_assert(sizeof(espl_query) <= 256, "structs.js has less room");
AT(espl_query, entities, 4);
AT(espl_query, slots, 8);
AT(espl_query, worlds, 12);

SIZE(espl_subtree_arrays, 20);
AT(espl_subtree_arrays, parents, 4);
AT(espl_subtree_arrays, depths, 8);
AT(espl_subtree_arrays, locals, 12);
AT(espl_subtree_arrays, worlds, 16);

SIZE(espl_view, 20);
AT(espl_view, first, 4);
AT(espl_view, parents, 8);
AT(espl_view, worlds, 12);

SIZE(espl_write_report, 24);
AT(espl_write_report, lossy, 4);
AT(espl_write_report, refused, 8);
AT(espl_write_report, first_refused, 12);
AT(espl_write_report, first_status, 16);
AT(espl_write_report, overflowed, 20);

SIZE(espl_report, 376);
AT(espl_report, applied, 4);
AT(espl_report, refused, 8);
AT(espl_report, lossy, 12);
AT(espl_report, refused_by, 16);
AT(espl_report, first_refused, 100);
AT(espl_report, created, 268);
AT(espl_report, destroyed, 272);
AT(espl_report, overflowed, 372);
_Static_assert(ESPL_REASON_COUNT == 21, "structs.js has another count");

AT(espl_world_stats, solos, 4);
AT(espl_world_stats, hierarchies, 8);
AT(espl_world_stats, members, 12);
AT(espl_world_stats, archetypes, 16);
AT(espl_world_stats, chunks, 20);
AT(espl_world_stats, bytes, 24);

SIZE(espl_validation, 20);
AT(espl_validation, rule, 0);

SIZE(espl_reserve_def, 32);
AT(espl_reserve_def, components, 4);
AT(espl_reserve_def, component_count, 8);
AT(espl_reserve_def, rows, 12);
AT(espl_reserve_def, writes, 16);
AT(espl_reserve_def, side_of, 24);

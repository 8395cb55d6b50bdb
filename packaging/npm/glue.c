// SPDX-License-Identifier: MIT
// What the npm package adds to the library: worlds whose messages and faults JavaScript receives. JavaScript
// calls every other function itself, and writes and reads structs in memory by the sizes and offsets that are
// asserted here.
#include <espalier/espalier.h>

#include <stddef.h>

/// Functions of engine.js. They store the text and return: they must not call the library.
__attribute__((import_module("espalier"), import_name("keep_message"))) void
espalier_keep_message(uint32_t world, uint32_t level, const char *message);
__attribute__((import_module("espalier"), import_name("keep_fault"))) void
espalier_keep_fault(uint32_t world, const char *sentence);

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

/// Create a world whose number engine.js gets with each message and fault.
espl_status glue_world_create(uint32_t number, uint32_t tag, uint32_t layout_budget,
                              float cell_size, const char *kernels, espl_world **out)
{
    espl_world_def def = {0};

    def.hooks.user = (void *)(uintptr_t)number;
    def.hooks.log = keep_message;
    def.hooks.trap = keep_fault;
    def.tag = tag;
    def.layout_budget = layout_budget;
    def.cell_size = cell_size;
    def.kernels = kernels;
    return espl_world_create(&def, out);
}

/// Write the matrices of transforms, 16 numbers each, column by column.
void glue_write_matrices(const espl_transform *transforms, uint32_t count, float *out)
{
    for (uint32_t i = 0; i < count; ++i) {
        espl_transform_to_matrix(&transforms[i], ESPL_MATRIX_4X4, &out[16 * i]);
    }
}

/// Read the world or shown transforms of entities, as espl_read_strided() does, or espl_read_relative() if
/// `origin` is not NULL, as matrices. That of an entity that is refused is left as it is: the rotation of a living
/// entity is finite, so that NaN marks it.
espl_status glue_read_matrices(const espl_world *world, const espl_origin *origin,
                               espl_read_kind kind, const espl_entity *entities, uint32_t count,
                               float *out)
{
    enum { BLOCK = 64 };
    const float none = __builtin_nanf("");
    espl_transform block[BLOCK];
    espl_status answer = ESPL_OK;

    for (uint32_t begin = 0; begin < count; begin += BLOCK) {
        const uint32_t some = count - begin < BLOCK ? count - begin : BLOCK;

        for (uint32_t i = 0; i < some; ++i) {
            block[i].rotation[3] = none;
        }
        const espl_status status =
            origin == NULL ? espl_read_strided(world, kind, &entities[begin], some,
                                               sizeof entities[0], block, sizeof block[0])
                           : espl_read_relative(world, origin, kind, &entities[begin], some,
                                                sizeof entities[0], block, sizeof block[0]);

        if (status < 0) {
            return status;
        }
        answer = status != ESPL_OK ? status : answer;
        for (uint32_t i = 0; i < some; ++i) {
            if (!__builtin_isnan(block[i].rotation[3])) {
                glue_write_matrices(&block[i], 1, &out[16 * (begin + i)]);
            }
        }
    }
    return answer;
}

// --- Functions of JavaScript that the library calls, of which one call at a time is under way ---

__attribute__((import_module("espalier"), import_name("take_bytes"))) int
espalier_take_bytes(const void *bytes, size_t size);
__attribute__((import_module("espalier"), import_name("convert"))) int
espalier_convert(uint32_t number, const void *data, size_t size, void *to);

static bool take_bytes(void *user, const void *bytes, size_t size)
{
    (void)user;
    return espalier_take_bytes(bytes, size) != 0;
}

// `user` is the number of the migration.
static bool convert(void *user, const espl_archive_value *from, void *to)
{
    return espalier_convert((uint32_t)(uintptr_t)user, from->data, from->size, to) != 0;
}

static const espl_sink sink = {.write = take_bytes};

/// Write an archive to the sink of JavaScript.
espl_status glue_archive_write(const espl_world *world, const espl_archive_def *def)
{
    return espl_archive_write(world, def, &sink);
}

/// Write a delta to the sink of JavaScript.
espl_status glue_archive_delta(const void *before, size_t before_size, const void *after,
                               size_t after_size, espl_format_fault *fault)
{
    return espl_archive_delta(before, before_size, after, after_size, &sink, fault);
}

/// Carry a delta out, to the sink of JavaScript.
espl_status glue_archive_patch(const void *before, size_t before_size, const void *delta,
                               size_t delta_size, espl_format_fault *fault)
{
    return espl_archive_patch(before, before_size, delta, delta_size, &sink, fault);
}

/// Return the function of a migration, for espl_archive_migration.convert.
void *glue_converter(void)
{
    return (void *)(uintptr_t)convert;
}

// Layouts that structs.js, values.js, world.js, views.js, watches.js, archives.js, histories.js, renderables.js,
// far.js, counterparts.js and commands.js assume.

#define AT(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), "JavaScript has another offset")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "JavaScript has another size")

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

SIZE(espl_component_def, 52);
AT(espl_component_def, size, 4);
AT(espl_component_def, alignment, 8);
AT(espl_component_def, references, 12);
AT(espl_component_def, reference_count, 16);
AT(espl_component_def, version, 20);
AT(espl_component_def, flags, 24);
AT(espl_component_def, fields, 28);
AT(espl_component_def, field_count, 32);
SIZE(espl_component_field, 16);
AT(espl_component_field, type, 4);
AT(espl_component_field, offset, 8);
AT(espl_component_field, count, 12);

SIZE(espl_change_def, 16);
AT(espl_change_def, add_count, 4);
AT(espl_change_def, remove, 8);
AT(espl_change_def, remove_count, 12);

SIZE(espl_creation_def, 56);
AT(espl_creation_def, value_count, 4);
AT(espl_creation_def, parent, 8);
AT(espl_creation_def, before, 16);
AT(espl_creation_def, link, 24);
AT(espl_creation_def, dead_parent, 28);
AT(espl_creation_def, place, 32);
AT(espl_creation_def, inherit, 36);

SIZE(espl_instance_def, 112);
AT(espl_instance_def, parent, 8);
AT(espl_instance_def, before, 16);
AT(espl_instance_def, link, 24);
AT(espl_instance_def, dead_parent, 28);
AT(espl_instance_def, place, 32);
AT(espl_instance_def, inherit, 36);
AT(espl_instance_def, transform, 40);
AT(espl_instance_def, values, 88);
AT(espl_instance_def, value_count, 92);

SIZE(espl_attach_options, 36);
AT(espl_attach_options, rotation, 4);
AT(espl_attach_options, scale, 8);
AT(espl_attach_options, link, 12);
AT(espl_attach_options, before, 16);
AT(espl_attach_options, inherit, 24);

SIZE(espl_query_def, 64);
AT(espl_query_def, none, 8);
AT(espl_query_def, any, 16);
AT(espl_query_def, changed, 24);
AT(espl_query_def, since, 32);
AT(espl_query_def, include, 40);

_Static_assert(sizeof(espl_query) <= 256, "views.js allocates less");
AT(espl_query, entities, 4);
AT(espl_query, slots, 8);
AT(espl_query, world_poses, 12);

SIZE(espl_subtree_arrays, 36);
AT(espl_subtree_arrays, parents, 4);
AT(espl_subtree_arrays, depths, 8);
AT(espl_subtree_arrays, locals, 12);
AT(espl_subtree_arrays, worlds, 16);
AT(espl_subtree_arrays, models, 20);

SIZE(espl_view, 40);
AT(espl_view, first, 4);
AT(espl_view, parents, 8);
AT(espl_view, world_poses, 12);
AT(espl_view, shown_poses, 20);

SIZE(espl_watch_def, 40);
AT(espl_watch_def, flags, 4);
SIZE(espl_changes, 96);
AT(espl_changes, added, 4);
AT(espl_changes, changed, 8);
AT(espl_changes, removed_count, 12);
AT(espl_changes, added_count, 16);
AT(espl_changes, changed_count, 20);
AT(espl_changes, kinds, 24);
AT(espl_changes, added_worlds, 28);
AT(espl_changes, changed_worlds, 32);
AT(espl_changes, added_locals, 36);
AT(espl_changes, changed_locals, 40);
AT(espl_changes, changed_before, 44);
AT(espl_changes, moment, 48);
AT(espl_changes, is_coarse, 56);
AT(espl_changes, cell_size, 60);
AT(espl_changes, added_cells, 64);
AT(espl_changes, changed_cells, 68);
SIZE(espl_changed_cell, 16);
AT(espl_changed_cell, is_top, 12);

SIZE(espl_origin, 24);
AT(espl_origin, offset, 12);

SIZE(espl_placing_def, 96);
AT(espl_placing_def, parent, 4);
AT(espl_placing_def, before, 12);
AT(espl_placing_def, place, 20);
AT(espl_placing_def, transform, 24);
AT(espl_placing_def, components, 72);
AT(espl_placing_def, component_count, 76);
SIZE(espl_follow_def, 28);
AT(espl_follow_def, removed, 4);
AT(espl_follow_def, flags, 8);
SIZE(espl_follow_report, 32);
AT(espl_follow_report, destroyed, 4);
AT(espl_follow_report, unknown, 8);
AT(espl_follow_report, refused, 12);

SIZE(espl_format_fault, 40);
AT(espl_format_fault, sentence, 8);
SIZE(espl_archive_def, 56);
AT(espl_archive_def, top_count, 4);
AT(espl_archive_def, extent, 8);
AT(espl_archive_def, flags, 12);
AT(espl_archive_def, user, 16);
AT(espl_archive_def, user_size, 20);
AT(espl_archive_def, position_step, 24);
AT(espl_archive_def, rotation_bits, 28);
SIZE(espl_archive_info, 52);
AT(espl_archive_info, tops, 4);
AT(espl_archive_info, major, 8);
AT(espl_archive_info, minor, 12);
AT(espl_archive_info, writer, 16);
AT(espl_archive_info, user, 20);
AT(espl_archive_info, user_size, 24);
SIZE(espl_archive_migration, 16);
AT(espl_archive_migration, to, 4);
AT(espl_archive_migration, convert, 8);
AT(espl_archive_migration, user, 12);
SIZE(espl_history_def, 36);
AT(espl_history_def, flags, 4);
AT(espl_history_def, byte_limit, 8);
SIZE(espl_rewind, 40);
AT(espl_rewind, revived, 4);
AT(espl_rewind, unborn_count, 8);
AT(espl_rewind, revived_count, 12);
SIZE(espl_archive_known, 16);
AT(espl_archive_known, size, 4);
AT(espl_archive_known, entities, 8);
AT(espl_archive_known, count, 12);
SIZE(espl_archive_read_def, 64);
AT(espl_archive_read_def, flags, 8);
AT(espl_archive_read_def, migrations, 12);
AT(espl_archive_read_def, migration_count, 16);
AT(espl_archive_read_def, node_limit, 20);
AT(espl_archive_read_def, entities, 24);
AT(espl_archive_read_def, capacity, 28);
AT(espl_archive_read_def, tops, 32);
AT(espl_archive_read_def, top_capacity, 36);

SIZE(espl_bounds, 24);
AT(espl_bounds, half, 12);
SIZE(espl_renderable, 12);
AT(espl_renderable, user_data, 4);
AT(espl_renderable, flags, 8);
SIZE(espl_layers, 8);
AT(espl_layers, flags, 4);
SIZE(espl_renderables_def, 40);
AT(espl_renderables_def, cell_size, 4);
AT(espl_renderables_def, refile_budget, 8);
AT(espl_renderables_def, user_size, 12);
SIZE(espl_renderables_report, 96);
AT(espl_renderables_report, moving, 4);
AT(espl_renderables_report, clusters, 8);
AT(espl_renderables_report, marked, 12);
AT(espl_renderables_report, moved, 16);
AT(espl_renderables_report, added, 20);
AT(espl_renderables_report, removed, 24);
AT(espl_renderables_report, rewritten, 28);
AT(espl_renderables_report, refiled, 32);
AT(espl_renderables_report, waiting, 36);
AT(espl_renderables_report, bad, 40);
AT(espl_renderables_report, first_bad, 44);
AT(espl_renderables_report, number, 56);
SIZE(espl_mirror_description, 40);
AT(espl_mirror_description, renderables, 8);
AT(espl_mirror_description, clusters, 12);
AT(espl_mirror_description, user, 16);
SIZE(espl_instance_arrays, 56);
AT(espl_instance_arrays, matrix_stride, 4);
AT(espl_instance_arrays, form, 8);
AT(espl_instance_arrays, previous, 12);
AT(espl_instance_arrays, previous_stride, 16);
AT(espl_instance_arrays, entities, 20);
AT(espl_instance_arrays, user_data, 24);
AT(espl_instance_arrays, sizes, 28);
AT(espl_instance_arrays, cells, 32);
SIZE(espl_lods, 76);
AT(espl_lods, sizes, 32);
AT(espl_lods, count, 64);
SIZE(espl_camera, 216);
AT(espl_camera, plane_count, 128);
AT(espl_camera, layers, 132);
AT(espl_camera, origin, 136);
AT(espl_camera, eye, 160);
AT(espl_camera, pixels, 172);
AT(espl_camera, least_size, 176);
AT(espl_camera, flags, 180);
AT(espl_camera, cell, 184);
SIZE(espl_cull_def, 28);
AT(espl_cull_def, flags, 4);
SIZE(espl_group, 12);
AT(espl_group, first, 4);
AT(espl_group, count, 8);

SIZE(espl_motion_def, 36);
SIZE(espl_present_report, 44);
AT(espl_present_report, visited, 4);
AT(espl_present_report, has_overflowed, 8);

SIZE(espl_write_report, 56);
AT(espl_write_report, lossy, 4);
AT(espl_write_report, refused, 8);
AT(espl_write_report, first_refused, 12);
AT(espl_write_report, first_status, 16);
AT(espl_write_report, has_overflowed, 20);

SIZE(espl_command_place, 8);
AT(espl_command_place, index, 4);
SIZE(espl_report, 416);
AT(espl_report, applied, 4);
AT(espl_report, refused, 8);
AT(espl_report, lossy, 12);
AT(espl_report, refused_by, 16);
AT(espl_report, first_refused, 104);
AT(espl_report, created, 280);
AT(espl_report, destroyed, 284);
AT(espl_report, has_overflowed, 380);
_Static_assert(ESPL_REASON_COUNT == 22, "commands.js has another count");

SIZE(espl_world_stats, 336);
AT(espl_world_stats, solos, 4);
AT(espl_world_stats, hierarchies, 8);
AT(espl_world_stats, members, 12);
AT(espl_world_stats, archetypes, 16);
AT(espl_world_stats, chunks, 20);
AT(espl_world_stats, bytes, 24);
AT(espl_world_stats, watches, 292);
AT(espl_world_stats, planes, 296);
AT(espl_world_stats, bytes_changes, 300);
AT(espl_world_stats, presented, 304);
AT(espl_world_stats, blended, 308);
AT(espl_world_stats, counterparts, 312);
AT(espl_world_stats, renderables, 316);
AT(espl_world_stats, bytes_renderables, 320);

SIZE(espl_validation, 52);
AT(espl_validation, rule, 0);

SIZE(espl_reserve_def, 48);
AT(espl_reserve_def, components, 4);
AT(espl_reserve_def, component_count, 8);
AT(espl_reserve_def, rows, 12);
AT(espl_reserve_def, writes, 16);
AT(espl_reserve_def, side_of, 24);
AT(espl_reserve_def, watch_entities, 32);

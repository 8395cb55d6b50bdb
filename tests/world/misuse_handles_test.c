// SPDX-License-Identifier: MIT
// Each bad handle for each parameter that is an entity: refused with its status, logged with
// entity, operation and rule, and nothing is changed.
#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/misuse.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <stdio.h>
#include <string.h>

// --- Calls with a status ---
//
// X(name, operation as it is told, the call with the handle `bad`)

#define TREE_CALLS(X)                                                                          \
    X(attach_child, "espl_attach", espl_attach(m->world, bad, m->solo, NULL))                  \
    X(attach_parent, "espl_attach", espl_attach(m->world, m->solo, bad, NULL))                 \
    X(detach, "espl_detach", espl_detach(m->world, bad, ESPL_KEEP_WORLD))                      \
    X(set_sibling, "espl_move_before", espl_move_before(m->world, bad, espl_entity_null()))    \
    X(destroy, "espl_destroy", espl_destroy(m->world, bad, ESPL_EXTENT_OWNED))                 \
    X(destroy_subtree, "espl_destroy", espl_destroy(m->world, bad, ESPL_EXTENT_SUBTREE))       \
    X(destroy_only, "espl_destroy", espl_destroy(m->world, bad, ESPL_EXTENT_ENTITY))           \
    X(attach_many_child, "espl_attach_many",                                                   \
      espl_attach_many(m->world, &bad, &m->solo, 1, NULL, NULL))                               \
    X(attach_many_parent, "espl_attach_many",                                                  \
      espl_attach_many(m->world, &m->solo, &bad, 1, NULL, NULL))                               \
    X(destroy_many, "espl_destroy_many",                                                       \
      espl_destroy_many(m->world, &bad, 1, ESPL_EXTENT_ENTITY, NULL))                          \
    X(set_name, "espl_set_name", espl_set_name(m->world, bad, "name"))                         \
    X(take_name, "espl_set_name", espl_set_name(m->world, bad, NULL))                          \
    X(find_below, "espl_find_descendant",                                                      \
      espl_find_descendant(m->world, bad, "name", &out.entity))                                \
    X(instantiate, "espl_instantiate",                                                         \
      espl_instantiate(m->world, &(espl_instance_def){.source = bad}, 1, NULL))                \
    X(instantiate_at, "espl_instantiate",                                                      \
      espl_instantiate(m->world, &(espl_instance_def){.source = bad}, 1, NULL))                \
    X(instantiate_none, "espl_instantiate",                                                    \
      espl_instantiate(m->world, &(espl_instance_def){.source = bad}, 0, NULL))                \
    X(disable, "espl_set_enabled", espl_set_enabled(m->world, bad, ESPL_EXTENT_ENTITY, false)) \
    X(disable_owned, "espl_set_enabled",                                                       \
      espl_set_enabled(m->world, bad, ESPL_EXTENT_OWNED, false))                               \
    X(enable, "espl_set_enabled", espl_set_enabled(m->world, bad, ESPL_EXTENT_ENTITY, true))   \
    X(enable_subtree, "espl_set_enabled",                                                      \
      espl_set_enabled(m->world, bad, ESPL_EXTENT_SUBTREE, true))                              \
    X(subtree_begin, "espl_subtree_begin", espl_subtree_begin(m->world, bad, &out.subtree))    \
    X(view_hierarchy, "espl_view_hierarchy", espl_view_hierarchy(m->world, bad, &out.view))

#define STORE_CALLS(X)                                                                             \
    X(change, "espl_change_components", espl_change_components(m->world, bad, &change))            \
    X(add, "espl_add_component",                                                                   \
      espl_add_component(m->world, bad, m->number, &number, sizeof number))                        \
    X(add_tag, "espl_add_component", espl_add_component(m->world, bad, ESPL_PREFAB, NULL, 0))      \
    X(add_place, "espl_add_component",                                                             \
      espl_add_component(m->world, bad, ESPL_TRANSFORM, &value, sizeof value))                     \
    X(remove, "espl_remove_component", espl_remove_component(m->world, bad, m->number))            \
    X(remove_place, "espl_remove_component", espl_remove_component(m->world, bad, ESPL_TRANSFORM)) \
    X(get, "espl_get_component",                                                                   \
      espl_get_component(m->world, bad, m->number, out.bytes, sizeof number))                      \
    X(set, "espl_set_component",                                                                   \
      espl_set_component(m->world, bad, m->number, &number, sizeof number))

#define READ_CALLS(X)                                                                             \
    X(get_world, "espl_get_world_transform",                                                      \
      espl_get_world_transform(m->world, bad, &out.transform))                                    \
    X(get_local, "espl_get_local_transform",                                                      \
      espl_get_local_transform(m->world, bad, &out.transform))                                    \
    X(world_position, "espl_get_world_position",                                                  \
      espl_get_world_position(m->world, bad, out.floats))                                         \
    X(world_rotation, "espl_get_world_rotation",                                                  \
      espl_get_world_rotation(m->world, bad, out.floats))                                         \
    X(world_scale, "espl_get_world_scale", espl_get_world_scale(m->world, bad, out.floats))       \
    X(local_position, "espl_get_local_position",                                                  \
      espl_get_local_position(m->world, bad, out.floats))                                         \
    X(local_rotation, "espl_get_local_rotation",                                                  \
      espl_get_local_rotation(m->world, bad, out.floats))                                         \
    X(local_scale, "espl_get_local_scale", espl_get_local_scale(m->world, bad, out.floats))       \
    X(world_pose, "espl_get_world_pose", espl_get_world_pose(m->world, bad, &out.pose))           \
    X(local_pose, "espl_get_local_pose", espl_get_local_pose(m->world, bad, &out.pose))           \
    X(stretch, "espl_get_stretch", espl_get_stretch(m->world, bad, out.floats))                   \
    X(context, "espl_get_user_data", espl_get_user_data(m->world, bad, &out.word))                \
    X(relative_frame, "espl_get_relative_transform",                                              \
      espl_get_relative_transform(m->world, bad, m->solo, &out.transform))                        \
    X(relative_entity, "espl_get_relative_transform",                                             \
      espl_get_relative_transform(m->world, m->solo, bad, &out.transform))                        \
    X(point_to_world, "espl_convert",                                                             \
      espl_convert(m->world, bad, ESPL_POINT_TO_WORLD, xyz, out.floats))                          \
    X(point_to_local, "espl_convert",                                                             \
      espl_convert(m->world, bad, ESPL_POINT_TO_LOCAL, xyz, out.floats))                          \
    X(vector_to_world, "espl_convert",                                                            \
      espl_convert(m->world, bad, ESPL_VECTOR_TO_WORLD, xyz, out.floats))                         \
    X(vector_to_local, "espl_convert",                                                            \
      espl_convert(m->world, bad, ESPL_VECTOR_TO_LOCAL, xyz, out.floats))                         \
    X(direction_to_world, "espl_convert",                                                         \
      espl_convert(m->world, bad, ESPL_DIRECTION_TO_WORLD, xyz, out.floats))                      \
    X(direction_to_local, "espl_convert",                                                         \
      espl_convert(m->world, bad, ESPL_DIRECTION_TO_LOCAL, xyz, out.floats))                      \
    X(axis, "espl_get_axis", espl_get_axis(m->world, bad, ESPL_AXIS_UP, out.floats))              \
    X(matrix_3x4, "espl_get_matrix", espl_get_matrix(m->world, bad, ESPL_MATRIX_3X4, out.floats)) \
    X(matrix_4x4, "espl_get_matrix", espl_get_matrix(m->world, bad, ESPL_MATRIX_4X4, out.floats)) \
    X(shown_matrix, "espl_get_shown_matrix",                                                      \
      espl_get_shown_matrix(m->world, bad, ESPL_MATRIX_4X4, out.floats))                          \
    X(origin, "espl_get_origin", espl_get_origin(m->world, bad, &out.origin))                     \
    X(relative_matrix, "espl_get_relative_matrix",                                                \
      espl_get_relative_matrix(m->world, bad, &(const espl_origin){.cell = {0}}, ESPL_MATRIX_4X4, \
                               out.floats))                                                       \
    X(matrix_inverse, "espl_get_matrix",                                                          \
      espl_get_matrix(m->world, bad, ESPL_MATRIX_4X4_INVERSE, out.floats))

#define WRITE_CALLS(X)                                                                    \
    X(look_at, "espl_look_at", espl_look_at(m->world, bad, xyz, NULL, ESPL_AXIS_FORWARD)) \
    X(rotate_about, "espl_rotate_about", espl_rotate_about(m->world, bad, xyz, turn))     \
    X(set_inherit, "espl_set_inherit", espl_set_inherit(m->world, bad, ESPL_ABSOLUTE_X))

#define CALLS(X) TREE_CALLS(X) STORE_CALLS(X) READ_CALLS(X) WRITE_CALLS(X)

#define AS_NAME(name, operation, call) CALL_##name,
enum { CALLS(AS_NAME) CALL_COUNT };

#define AS_OPERATION(name, operation, call) operation,
static const char *const operations[CALL_COUNT] = {CALLS(AS_OPERATION)};

#define AS_TEXT(name, operation, call) #name,
static const char *const names[CALL_COUNT] = {CALLS(AS_TEXT)};

// What a call writes to when it is not refused.
typedef union output {
    unsigned char bytes[256];
    float floats[16];
    espl_origin origin;
    uint32_t word;
    espl_transform transform;
    espl_pose pose;
    espl_entity entity;
    espl_subtree subtree;
    espl_view view;
} output;

static espl_status call_with(misuse *m, int number_of_call, espl_entity bad)
{
    const float xyz[3] = {1, 2, 3}, turn[4] = {0, 0.6f, 0, 0.8f};
    const espl_transform value = test_at(9, 9, 9);
    const uint32_t number = 7;
    const espl_component_value added = {m->number, sizeof number, &number};
    const espl_component lacked[2] = {ESPL_PREFAB, ESPL_PREFAB};
    const espl_change_def change = {
        .add = &added, .add_count = 1, .remove = lacked, .remove_count = 2};
    output out, before;
    espl_status status = ESPL_OK;

    memset(&out, 0x5a, sizeof out);
    before = out;
    switch (number_of_call) {
#define AS_CASE(name, operation, call) \
    case CALL_##name:                  \
        status = call;                 \
        break;
        CALLS(AS_CASE)
    default:
        ck_abort();
    }
    if (number_of_call == CALL_subtree_begin) { // what did not begin is at its end
        ck_assert(!espl_subtree_next(&out.subtree));
    } else {
        ck_assert_msg(memcmp(&out, &before, sizeof out) == 0, "%s wrote", names[number_of_call]);
    }
    return status;
}

static void refuse_calls(misuse *m, const misuse_handle *bad)
{
    for (int i = 0; i < CALL_COUNT; ++i) {
        // For the null entity it searches the whole world.
        if (i == CALL_find_below && espl_entity_is_null(bad->entity)) {
            continue;
        }
        misuse_forget_lines(m);
        const espl_status status = call_with(m, i, bad->entity);

        ck_assert_msg(status == bad->status, "%s of %s answers %s, not %s", names[i], bad->what,
                      espl_status_name(status), espl_status_name(bad->status));
        misuse_demand_line(m, operations[i], bad->entity, status);
    }
}

// By function; what the batch says of them is told below.
static void refuse_writes(misuse *m, const misuse_handle *bad)
{
    uint64_t random = 1;

    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        const espl_write write = write_ordinary(bad->entity, (espl_write_kind)kind, &random);
        char call[64];

        const char *const name = form_name((espl_write_kind)kind);
        const bool is_function = strncmp(name, "set_", 4) == 0 || strstr(name, "_own") != NULL;

        snprintf(call, sizeof call, "espl_%s", is_function ? name : "write_one");
        misuse_forget_lines(m);
        ck_assert_int_eq(form_write(m->world, &write, FORM_FUNCTION), bad->status);
        misuse_demand_line(m, call, bad->entity, bad->status);
        for (int form = FORM_FUNCTION; form < FORM_COUNT; ++form) {
            ck_assert_int_eq(form_write(m->world, &write, (write_form)form), bad->status);
        }
    }
}

static void refuse_everywhere(void (*refuse)(misuse *m, const misuse_handle *bad), size_t first)
{
    misuse_handle bad[MISUSE_HANDLES];
    misuse m;

    misuse_begin(&m, NULL);
    misuse_handles(&m, bad);
    const uint64_t before = test_physical_hash(m.world);
    for (size_t i = first; i < MISUSE_HANDLES; ++i) {
        refuse(&m, &bad[i]);
        ck_assert_uint_eq(test_physical_hash(m.world), before);
    }
    ck_assert_uint_eq(m.test.hooks.traps, 0);
    misuse_end(&m);
}

TEST(a4_e8_each_bad_handle_is_refused_by_each_call_and_told)
{
    refuse_everywhere(refuse_calls, 0);
}

TEST(a4_each_bad_handle_is_refused_by_each_kind_of_write_and_told)
{
    refuse_everywhere(refuse_writes, 0);
}

// --- Handles that may be null ---

static void refuse_siblings(misuse *m, const misuse_handle *bad)
{
    const espl_attach_options options = {.before = bad->entity};
    const espl_reserve_def side = {.side_of = bad->entity};

    misuse_forget_lines(m);
    ck_assert_int_eq(espl_reserve(m->world, &side), bad->status);
    misuse_demand_line(m, "espl_reserve", bad->entity, bad->status);
    ck_assert_int_eq(espl_attach(m->world, m->solo, m->root, &options), bad->status);
    misuse_demand_line(m, "espl_attach", bad->entity, bad->status);
    ck_assert_int_eq(espl_attach(m->world, m->child, m->root, &options), bad->status);
    misuse_demand_line(m, "espl_attach", bad->entity, bad->status);
    ck_assert_int_eq(espl_move_before(m->world, m->child, bad->entity), bad->status);
    misuse_demand_line(m, "espl_move_before", bad->entity, bad->status);
}

TEST(each_bad_sibling_but_the_null_one_is_refused_and_told)
{
    refuse_everywhere(refuse_siblings, 1);
}

// --- Answers without a status ---

static void answer_nothing(misuse *m, const misuse_handle *bad)
{
    const espl_world *const world = m->world;
    const espl_entity e = bad->entity;
    espl_entity entities[4];
    const espl_subtree_arrays arrays = {.entities = entities};
    char text[96] = "text";

    ck_assert(!espl_is_alive(world, e) && !espl_has_component(world, e, m->number));
    ck_assert(!espl_has_component(world, e, ESPL_TRANSFORM) && !espl_is_enabled(world, e));
    ck_assert_int_eq(espl_get_role(world, e), ESPL_ROLE_NONE);
    ck_assert(espl_entity_is_null(espl_get_parent(world, e)));
    ck_assert(espl_entity_is_null(espl_get_root(world, e)));
    ck_assert(espl_entity_is_null(espl_get_first_child(world, e)));
    ck_assert(espl_entity_is_null(espl_get_last_child(world, e)));
    ck_assert(espl_entity_is_null(espl_get_next_sibling(world, e)));
    ck_assert(espl_entity_is_null(espl_get_previous_sibling(world, e)));
    ck_assert_uint_eq(test_rank(world, e), ESPL_NO_RANK);
    ck_assert_uint_eq(espl_get_depth(world, e), ESPL_NO_RANK);
    ck_assert_int_eq(espl_get_link(world, e), ESPL_LINK_OWNED);
    ck_assert_uint_eq(test_count_children(world, e), 0);
    ck_assert_uint_eq(test_count_descendants(world, e), 0);
    ck_assert_uint_eq(espl_get_inherit(world, e), 0);
    ck_assert(!test_is_mirrored(world, e));
    ck_assert(!espl_is_ancestor(world, m->root, e) && !espl_is_ancestor(world, e, m->child));
    for (int extent = ESPL_EXTENT_OWNED; extent <= ESPL_EXTENT_SUBTREE; ++extent) {
        ck_assert_uint_eq(espl_copy_subtree(world, e, (espl_extent)extent, 4, &arrays), 0);
        ck_assert_uint_eq(espl_copy_subtree(world, e, (espl_extent)extent, 0, NULL), 0);
    }
    ck_assert_str_eq(espl_get_name(world, e), "");
    ck_assert_uint_eq(espl_get_path(world, e, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(espl_dump(world, e, text, sizeof text), strlen(text));
    ck_assert_ptr_nonnull(strstr(text, espl_status_name(bad->status)));
    ck_assert_uint_eq(m->test.hooks.lines, 0);
}

TEST(navigation_from_a_bad_handle_answers_nothing_and_tells_nothing)
{
    refuse_everywhere(answer_nothing, 0);
}

// --- Entries of arrays ---

// The bad one stands first, in the middle or last among the living.
static void refuse_many(misuse *m, const misuse_handle *bad)
{
    for (size_t at = 0; at < 3; ++at) {
        espl_entity children[3] = {m->child, m->solo, m->child};
        espl_entity parents[3] = {m->root, m->root, m->root};
        espl_entity *const arrays[2] = {children, parents};

        for (size_t i = 0; i < 2; ++i) {
            const espl_entity was = arrays[i][at];
            size_t refused = 99;

            arrays[i][at] = bad->entity;
            misuse_forget_lines(m);
            ck_assert_int_eq(espl_attach_many(m->world, children, parents, 3, NULL, &refused),
                             bad->status);
            ck_assert_uint_eq(refused, at);
            misuse_demand_line(m, "espl_attach_many", bad->entity, bad->status);
            arrays[i][at] = was;
        }
        for (int extent = ESPL_EXTENT_OWNED; extent <= ESPL_EXTENT_SUBTREE; ++extent) {
            size_t refused = 99;

            children[at] = bad->entity;
            misuse_forget_lines(m);
            ck_assert_int_eq(
                espl_destroy_many(m->world, children, 3, (espl_extent)extent, &refused),
                bad->status);
            ck_assert_uint_eq(refused, at);
            misuse_demand_line(m, "espl_destroy_many", bad->entity, bad->status);
        }
    }
}

TEST(one_bad_handle_in_an_array_refuses_the_attach_and_the_destroy_of_all)
{
    refuse_everywhere(refuse_many, 0);
}

// The same of a change.
static void refuse_entries(misuse *m, const misuse_handle *bad)
{
    const uint32_t number = 7;
    const espl_component_value added = {m->number, sizeof number, &number};
    const espl_change_def change = {.add = &added, .add_count = 1};

    for (size_t at = 0; at < 3; ++at) {
        espl_entity entities[3] = {m->root, m->child, m->solo};
        size_t refused = 99;

        entities[at] = bad->entity;
        misuse_forget_lines(m);
        ck_assert_int_eq(espl_change_components_array(m->world, entities, 3, &change, &refused),
                         bad->status);
        ck_assert_uint_eq(refused, at);
        misuse_demand_line(m, "espl_change_components_array", bad->entity, bad->status);
        refused = 99;
        ck_assert_int_eq(espl_change_components_array(m->world, entities, 3, &change, NULL),
                         bad->status);
        misuse_demand_line(m, "espl_change_components_array", bad->entity, bad->status);
    }
}

TEST(one_bad_handle_in_an_array_refuses_the_change_of_all)
{
    refuse_everywhere(refuse_entries, 0);
}

// Only the bad entry is refused. The others write what is there already, so nothing changes.
static void refuse_alone(misuse *m, const misuse_handle *bad)
{
    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        for (size_t at = 0; at < 3; ++at) {
            espl_write writes[3];
            espl_write_report report;
            uint64_t random = 1;

            for (size_t i = 0; i < 3; ++i) {
                writes[i] = (espl_write){.entity = m->root, .kind = ESPL_WRITE_LOCAL_TRANSFORM};
                writes[i].value.transform = test_local_of(m->world, m->root);
            }
            writes[at] = write_ordinary(bad->entity, (espl_write_kind)kind, &random);
            misuse_forget_lines(m);
            ck_status(espl_write_batch(m->world, writes, 3, &report), ESPL_PARTLY);
            ck_assert_uint_eq(report.applied, 2);
            ck_assert_uint_eq(report.refused, 1);
            ck_assert_uint_eq(report.first_refused, at);
            ck_assert_int_eq(report.first_status, bad->status);
            misuse_demand_line(m, "espl_write_batch", bad->entity, bad->status);
        }
    }
}

TEST(one_bad_handle_in_a_batch_is_refused_alone)
{
    refuse_everywhere(refuse_alone, 0);
}

// --- Recorded ---
//
// X(name, whether the null entity means nobody there, the call with the handle `bad`)

#define RECORDS(X)                                                                        \
    X(destroy, false, espl_record_destroy(r, 0, bad, ESPL_EXTENT_OWNED))                  \
    X(destroy_subtree, false, espl_record_destroy(r, 0, bad, ESPL_EXTENT_SUBTREE))        \
    X(destroy_only, false, espl_record_destroy(r, 0, bad, ESPL_EXTENT_ENTITY))            \
    X(attach_child, false, espl_record_attach(r, 0, bad, m->solo, NULL))                  \
    X(attach_parent, false, espl_record_attach(r, 0, m->solo, bad, NULL))                 \
    X(attach_before, true, espl_record_attach(r, 0, m->child, m->root, &before_bad))      \
    X(detach, false, espl_record_detach(r, 0, bad, ESPL_KEEP_WORLD))                      \
    X(set_sibling, false, espl_record_move_before(r, 0, bad, espl_entity_null()))         \
    X(sibling_before, true, espl_record_move_before(r, 0, m->child, bad))                 \
    X(set_local, false, espl_record_write(r, 0, bad, ESPL_WRITE_LOCAL_TRANSFORM, &value)) \
    X(set_world, false, espl_record_write(r, 0, bad, ESPL_WRITE_WORLD_TRANSFORM, &value)) \
    X(write, false, espl_record_write(r, 0, write.entity, write.kind, &write.value))      \
    X(set_inherit, false, espl_record_set_inherit(r, 0, bad, ESPL_ABSOLUTE_X))            \
    X(source, false, espl_record_instantiate(r, 0, &of_bad, 1, NULL))                     \
    X(source_of_none, false, espl_record_instantiate(r, 0, &of_bad, 0, NULL))             \
    X(instance_parent, true, espl_record_instantiate(r, 0, &under_bad, 1, NULL))          \
    X(instance_before, true, espl_record_instantiate(r, 0, &before, 1, NULL))

#define AS_RECORD(name, may_be_null, call) RECORD_##name,
enum { RECORDS(AS_RECORD) RECORD_COUNT };

#define AS_RECORD_TEXT(name, may_be_null, call) #name,
static const char *const record_names[RECORD_COUNT] = {RECORDS(AS_RECORD_TEXT)};

#define AS_OPTIONAL(name, may_be_null, call) may_be_null,
static const bool is_optional[RECORD_COUNT] = {RECORDS(AS_OPTIONAL)};

static espl_status record_with(const misuse *m, espl_recorder *r, int record, espl_entity bad)
{
    const espl_transform value = test_at(9, 9, 9);
    const espl_write write = write_vector(bad, ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 1, 1);
    const espl_attach_options before_bad = {.before = bad};
    const espl_instance_def of_bad = {.source = bad},
                            under_bad = {.source = m->solo, .parent = bad},
                            before = {.source = m->solo, .parent = m->root, .before = bad};

    switch (record) {
#define AS_RECORD_CASE(name, may_be_null, call) \
    case RECORD_##name:                         \
        return call;
        RECORDS(AS_RECORD_CASE)
    default:
        ck_abort();
    }
    return ESPL_OK;
}

// Refused when it is recorded, or when it is played; the world is the same.
static void refuse_record(misuse *m, const misuse_handle *bad, int record)
{
    espl_report report;

    espl_command_buffer *const commands = test_commands(m->world, 1);
    const espl_status status =
        record_with(m, espl_command_buffer_recorder(commands, 0), record, bad->entity);
    const bool is_others = espl_entity_equal(bad->entity, m->pending);
    const bool is_known_at_once = bad->status == ESPL_ERR_NULL_ENTITY || is_others;

    ck_assert_uint_eq(espl_command_buffer_count(commands),
                      status == ESPL_OK && record != RECORD_source_of_none);
    if (is_known_at_once) {
        ck_assert_msg(status == (is_others ? ESPL_ERR_FOREIGN : bad->status), "%s of %s: %s",
                      record_names[record], bad->what, espl_status_name(status));
    } else {
        ck_assert_msg(status == ESPL_OK, "%s of %s: %s", record_names[record], bad->what,
                      espl_status_name(status));
        ck_ok(espl_play(m->world, commands, &report));
        ck_assert_uint_eq(report.applied, 0);
        ck_assert_msg(record == RECORD_source_of_none ||
                          espl_command_buffer_result(commands, 0, 0) == bad->status,
                      "%s of %s: %s", record_names[record], bad->what,
                      espl_status_name(espl_command_buffer_result(commands, 0, 0)));
    }
    espl_command_buffer_destroy(commands);
}

static void refuse_records(misuse *m, const misuse_handle *bad)
{
    for (int record = 0; record < RECORD_COUNT; ++record) {
        if (!is_optional[record] || bad->status != ESPL_ERR_NULL_ENTITY) {
            refuse_record(m, bad, record);
        }
    }
}

TEST(a4_each_bad_handle_is_refused_by_each_recorded_command)
{
    refuse_everywhere(refuse_records, 0);
}

// A handle that commands gave out is resolved by them alone.
TEST(each_bad_handle_is_resolved_to_nobody)
{
    static const espl_status expected[MISUSE_HANDLES] = {
        ESPL_ERR_NULL_ENTITY, ESPL_ERR_ARGUMENT, ESPL_ERR_ARGUMENT,
        ESPL_ERR_ARGUMENT,    ESPL_ERR_ARGUMENT, ESPL_ERR_PENDING,
        ESPL_ERR_ARGUMENT,    ESPL_ERR_ARGUMENT, ESPL_ERR_ARGUMENT};
    misuse_handle bad[MISUSE_HANDLES];
    espl_entity out = {7, 7};
    misuse m;

    misuse_begin(&m, NULL);
    misuse_handles(&m, bad);
    for (size_t i = 0; i < MISUSE_HANDLES; ++i) {
        ck_assert_int_eq(espl_command_buffer_resolve(m.commands, bad[i].entity, &out), expected[i]);
    }
    const espl_entity past = {m.pending.index + 1, m.pending.generation};
    ck_status(espl_command_buffer_resolve(m.commands, past, &out), ESPL_ERR_FOREIGN);
    ck_assert(out.index == 7 && out.generation == 7);
    misuse_end(&m);
}

// SPDX-License-Identifier: MIT
// Structural calls at the wrong time: refused with ESPL_ERR_BUSY inside iterations, playbacks and
// jobs of the executor, and logged; other worlds are not affected.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/inside.h"
#include "tests/one_misuse.h"
#include "tests/fixture.h"

#include <espalier/motion.h>
#include <espalier/renderables.h>
#include <espalier/writers.h>
#include <string.h>

// --- Every structural call ---
//
// X(name, operation as it is told, the call; `e` may be dead: the world is busy first of all)

#define STRUCTURAL_CALLS(X)                                                                        \
    X(create, "espl_create", espl_create(m->world, &placement, 1, 1, &out))                        \
    X(create_none, "espl_create", espl_create(m->world, NULL, 0, 0, NULL))                         \
    X(reserve, "espl_reserve", espl_reserve(m->world, &(espl_reserve_def){.entities = 10}))        \
    X(reserve_rows, "espl_reserve",                                                                \
      espl_reserve(m->world, &(espl_reserve_def){                                                  \
                                 .components = &placement, .component_count = 1, .rows = 10}))     \
    X(reserve_side, "espl_reserve", espl_reserve(m->world, &(espl_reserve_def){.side_of = e}))     \
    X(reserve_writes, "espl_reserve", espl_reserve(m->world, &(espl_reserve_def){.writes = 100}))  \
    X(reserve_parallel, "espl_reserve",                                                            \
      espl_reserve(m->world, &(espl_reserve_def){.parallel_rows = 100}))                           \
    X(write_parallel, "espl_write_parallel", espl_write_parallel(m->world, &rows, NULL))           \
    X(reserve_watches, "espl_reserve",                                                             \
      espl_reserve(m->world, &(espl_reserve_def){.watch_entities = 10}))                           \
    X(watch, "espl_watch_create", espl_watch_create(m->world, NULL, &watch))                       \
    X(history, "espl_history_create", espl_history_create(m->world, NULL, &history))               \
    X(place, "espl_place_counterparts",                                                            \
      espl_place_counterparts(m->world, m->elsewhere.world, m->foreign, NULL, NULL))               \
    X(renderables, "espl_renderables_create",                                                      \
      espl_renderables_create(m->world, NULL, &renderables))                                       \
    X(motion_start, "espl_motion_start", espl_motion_start(m->world, NULL))                        \
    X(motion_stop, "espl_motion_stop", espl_motion_stop(m->world))                                 \
    X(image, "espl_image_load", espl_image_load(m->world, "no image", 8, 0, NULL))                 \
    X(read_archive, "espl_archive_read", espl_archive_read(m->world, "none", 4, NULL, NULL))       \
    X(apply_archive, "espl_archive_apply",                                                         \
      espl_archive_apply(m->world, "none", 4, NULL, NULL, NULL))                                   \
    X(compact, "espl_compact", espl_compact(m->world))                                             \
    X(component, "espl_component_register", espl_component_register(m->world, &late, &number))     \
    X(attach, "espl_attach", espl_attach(m->world, e, m->root, NULL))                              \
    X(attach_again, "espl_attach", espl_attach(m->world, m->child, m->root, NULL))                 \
    X(detach, "espl_detach", espl_detach(m->world, e, ESPL_KEEP_WORLD))                            \
    X(set_sibling, "espl_move_before", espl_move_before(m->world, e, espl_entity_null()))          \
    X(destroy, "espl_destroy", espl_destroy(m->world, e, ESPL_EXTENT_OWNED))                       \
    X(destroy_subtree, "espl_destroy", espl_destroy(m->world, e, ESPL_EXTENT_SUBTREE))             \
    X(destroy_only, "espl_destroy", espl_destroy(m->world, e, ESPL_EXTENT_ENTITY))                 \
    X(attach_many, "espl_attach_many", espl_attach_many(m->world, &e, &m->root, 1, NULL, NULL))    \
    X(destroy_many, "espl_destroy_many",                                                           \
      espl_destroy_many(m->world, &e, 1, ESPL_EXTENT_OWNED, NULL))                                 \
    X(destroy_none, "espl_destroy_many",                                                           \
      espl_destroy_many(m->world, NULL, 0, ESPL_EXTENT_OWNED, NULL))                               \
    X(clear, "espl_world_clear", espl_world_clear(m->world))                                       \
    X(unregister, "espl_command_unregister", espl_command_unregister(m->world, 1))                 \
    X(instantiate, "espl_instantiate",                                                             \
      espl_instantiate(m->world, &(espl_instance_def){.source = e}, 1, NULL))                      \
    X(instantiate_at, "espl_instantiate",                                                          \
      espl_instantiate(m->world, &(espl_instance_def){.source = e}, 1, NULL))                      \
    X(create_at, "espl_create_at",                                                                 \
      espl_create_at(m->world, &(espl_creation_def){.parent = e}, 1, NULL))                        \
    X(create_node, "espl_create_node", espl_create_node(m->world, e, NULL, "lamp", NULL))          \
    X(spawn, "espl_spawn", espl_spawn(m->world, e, m->solo, NULL, NULL))                           \
    X(disable, "espl_set_enabled", espl_set_enabled(m->world, e, ESPL_EXTENT_ENTITY, false))       \
    X(enable, "espl_set_enabled", espl_set_enabled(m->world, e, ESPL_EXTENT_SUBTREE, true))        \
    X(change, "espl_add_component", espl_change_components(m->world, e, &change))                  \
    X(change_array, "espl_change_components_array",                                                \
      espl_change_components_array(m->world, &e, 1, &change, NULL))                                \
    X(change_query, "espl_change_components_query",                                                \
      espl_change_components_query(m->world, NULL, &change, NULL))                                 \
    X(add, "espl_add_component", espl_add_component(m->world, e, m->number, &value, sizeof value)) \
    X(add_place, "espl_add_component",                                                             \
      espl_add_component(m->world, e, ESPL_TRANSFORM, NULL, sizeof at))                            \
    X(remove, "espl_remove_component", espl_remove_component(m->world, e, m->number))              \
    X(play, "espl_play", espl_play(m->world, m->commands, NULL))                                   \
    X(sync, "espl_sync", espl_sync(m->world, NULL))

#define AS_NAME(name, operation, call) CALL_##name,
enum { STRUCTURAL_CALLS(AS_NAME) CALL_COUNT };

#define AS_TEXT(name, operation, call) #name,
static const char *const names[CALL_COUNT] = {STRUCTURAL_CALLS(AS_TEXT)};

#define AS_OPERATION(name, operation, call) operation,
static const char *const operations[CALL_COUNT] = {STRUCTURAL_CALLS(AS_OPERATION)};

static espl_status call(const misuse *m, int which, espl_entity e)
{
    const espl_parallel_def rows = {.function = test_no_write};
    const espl_component placement = ESPL_TRANSFORM;
    const espl_component_def late = {.name = "late", .size = 4, .alignment = 4};
    const espl_transform at = test_at(1, 1, 1);
    const uint32_t value = 1;
    const espl_component_value added = {m->number, sizeof value, &value};
    const espl_change_def change = {.add = &added, .add_count = 1};
    espl_component number = 99;
    espl_watch *watch = NULL;
    espl_history *history = NULL;
    espl_renderables *renderables = NULL;
    espl_entity out = {7, 7};
    espl_status status = ESPL_OK;

    (void)at;
    switch (which) {
#define AS_CASE(name, operation, call) \
    case CALL_##name:                  \
        status = call;                 \
        break;
        STRUCTURAL_CALLS(AS_CASE)
    default:
        ck_abort();
    }
    ck_assert(number == 99 && out.index == 7 && watch == NULL && history == NULL &&
              renderables == NULL);
    return status;
}

static void refuse_while_busy(misuse *m)
{
    const espl_entity operands[3] = {m->solo, m->dead, espl_entity_null()};

    for (int which = 0; which < CALL_COUNT; ++which) {
        for (int i = 0; i < 3; ++i) {
            misuse_forget_lines(m);
            const espl_status status = call(m, which, operands[i]);

            ck_assert_msg(status == ESPL_ERR_BUSY, "%s answers %s", names[which],
                          espl_status_name(status));
            misuse_demand_line(m, operations[which], espl_entity_null(), status);
        }
    }
}

// The other world has no part in it.
static void use_other_world(misuse *m)
{
    espl_world *const other = m->elsewhere.world;
    const espl_entity parent = test_solo(other), child = test_solo(other);
    espl_query query;

    ck_ok(espl_attach(other, child, parent, NULL));
    ck_ok(espl_add_component(other, child, ESPL_PREFAB, NULL, 0));
    ck_ok(espl_query_begin(other, NULL, &query));
    ck_status(espl_destroy(other, parent, ESPL_EXTENT_OWNED), ESPL_ERR_BUSY);
    espl_query_end(&query);
    ck_ok(espl_compact(other));
    ck_ok(espl_destroy(other, parent, ESPL_EXTENT_OWNED));
    ck_assert(!espl_is_alive(other, child));
}

// --- Inside iterations ---

// Open iterations of the kinds of a list, 'q' or 's', one in the other; refuse at each step of each.
static void iterate(misuse *m, const char *kinds)
{
    espl_query query;
    espl_subtree below;

    if (kinds[0] == '\0') {
        return;
    }
    refuse_while_busy(m);
    use_other_world(m);
    if (kinds[0] == 'q') {
        ck_ok(espl_query_begin(m->world, NULL, &query));
        refuse_while_busy(m);
        while (espl_query_next(&query)) {
            refuse_while_busy(m);
        }
    } else {
        ck_ok(espl_subtree_begin(m->world, m->root, &below));
        refuse_while_busy(m);
        while (espl_subtree_next(&below)) {
            refuse_while_busy(m);
        }
    }
}

FIXTURE(set_up, tear_down);

TEST(e1_e2_e5_e7_structure_is_refused_in_iterations_of_each_kind_one_in_the_other)
{
    espl_query query, inner;
    espl_subtree below;

    ck_ok(espl_command_buffer_submit(s.commands));
    const uint64_t before = test_physical_hash(s.world);
    ck_ok(espl_query_begin(s.world, NULL, &query));
    refuse_while_busy(&s);
    while (espl_query_next(&query)) {
        iterate(&s, "q");
        iterate(&s, "s");
        ck_ok(espl_query_begin(s.world, NULL, &inner));
        iterate(&s, "s");
        espl_query_end(&inner);
        espl_query_end(&inner);
        refuse_while_busy(&s);
    }
    ck_ok(espl_subtree_begin(s.world, s.root, &below));
    refuse_while_busy(&s);
    while (espl_subtree_next(&below)) {
        iterate(&s, "s");
        iterate(&s, "q");
        refuse_while_busy(&s);
    }
    ck_assert_uint_eq(test_physical_hash(s.world), before);

    // What ended, by itself or early, frees the world.
    ck_ok(espl_subtree_begin(s.world, s.root, &below));
    espl_subtree_end(&below);
    espl_subtree_end(&below);
    ck_ok(espl_sync(s.world, NULL));
    ck_ok(espl_attach(s.world, s.solo, s.root, NULL));
}

// Plain writes go on during iteration; the first of what needs a side array takes memory.
TEST(writes_go_on_during_iteration_but_for_those_that_take_memory)
{
    const float stretch[3] = {1, 2, 1};
    const espl_transform moved = test_at(5, 5, 5), back = test_at(1, 2, 3);
    espl_subtree below;
    espl_view view;

    // Laid out, so that a view only reads.
    ck_ok(espl_view_hierarchy(s.world, s.child, &view));
    const uint64_t before = test_physical_hash(s.world);
    ck_ok(espl_subtree_begin(s.world, s.root, &below));
    ck_ok(espl_set_local_transform(s.world, s.root, &moved));
    ck_ok(espl_set_local_transform(s.world, s.root, &back));
    ck_status(espl_set_stretch(s.world, s.child, stretch), ESPL_ERR_BUSY);
    ck_status(espl_set_user_data(s.world, s.child, 7), ESPL_ERR_BUSY);
    ck_status(espl_set_inherit(s.world, s.child, ESPL_ABSOLUTE_X), ESPL_ERR_BUSY);
    const espl_write write = write_vector(s.child, ESPL_WRITE_STRETCH, 1, 2, 1);
    ck_status(espl_write_batch(s.world, &write, 1, NULL), ESPL_ERR_BUSY);
    ck_ok(espl_view_hierarchy(s.world, s.child, &view));
    ck_assert_uint_eq(view.count, 3);
    espl_subtree_end(&below);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
}

// A view lays the tree out first where it is not laid out, so it is structural then.
TEST(a_view_that_lays_out_is_refused_during_iteration)
{
    espl_subtree below;
    espl_view view;

    espl_entity *const node = make_chain(s.world, 20);
    ck_ok(espl_destroy(s.world, node[10], ESPL_EXTENT_ENTITY));
    const bool is_laid_out = test_is_laid_out(s.world, node[0]);
    ck_ok(espl_subtree_begin(s.world, node[0], &below));
    misuse_forget_lines(&s);
    ck_status(espl_view_hierarchy(s.world, node[0], &view), is_laid_out ? ESPL_OK : ESPL_ERR_BUSY);
    if (!is_laid_out) {
        misuse_demand_line(&s, "espl_view_hierarchy", node[0], ESPL_ERR_BUSY);
    }
    espl_subtree_end(&below);
    ck_ok(espl_view_hierarchy(s.world, node[0], &view));
    ck_assert_uint_eq(view.count, 19);
    free(node);
}

// --- Inside jobs ---

// Writes go on during iteration, but not while a playback or a batch is under way.
static void refuse_writes(misuse *m)
{
    uint64_t random = 1;

    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        const espl_write write = write_ordinary(m->child, (espl_write_kind)kind, &random);
        for (int form = 0; form < FORM_COUNT; ++form) {
            ck_status(form_write(m->world, &write, (write_form)form), ESPL_ERR_BUSY);
        }
    }
    const float point[3] = {9, 9, 9}, turn[4] = {0, 0.6f, 0, 0.8f};
    ck_status(espl_look_at(m->world, m->child, point, NULL, ESPL_AXIS_FORWARD), ESPL_ERR_BUSY);
    ck_status(espl_rotate_about(m->world, m->child, point, turn), ESPL_ERR_BUSY);
    ck_status(espl_set_inherit(m->world, m->child, ESPL_ABSOLUTE_X), ESPL_ERR_BUSY);
    ck_status(espl_set_name(m->world, m->child, "name"), ESPL_ERR_BUSY);
    ck_status(espl_set_name(m->world, m->child, NULL), ESPL_ERR_BUSY);
    ck_status(espl_set_counterpart(m->world, m->child, m->foreign), ESPL_ERR_BUSY);
    ck_status(espl_follow(m->world, &(espl_changes){0}, NULL, NULL), ESPL_ERR_BUSY);
    ck_assert_str_eq(espl_get_name(m->world, m->child), "");
    ck_status(espl_tick_begin(m->world), ESPL_ERR_BUSY);
    ck_status(espl_tick_end(m->world), ESPL_ERR_BUSY);
    ck_status(espl_present(m->world, 1, NULL), ESPL_ERR_BUSY);
    ck_status(espl_rebase(m->world, NULL, point), ESPL_ERR_BUSY);
    ck_status(espl_rebase(m->world, (int32_t[3]){1, 2, 3}, NULL), ESPL_ERR_BUSY);
}

// An executor whose jobs call the world back, once for each call of it.
typedef struct intruder {
    misuse *m; // NULL: it keeps out
    size_t intrusions;
} intruder;

static void run_intruded(void *context, espl_job function, void *argument, size_t count)
{
    intruder *const in = context;

    for (size_t i = 0; i < count; ++i) {
        if (in->m != NULL && i == count / 2) {
            refuse_while_busy(in->m);
            refuse_writes(in->m);
            use_other_world(in->m);
            in->intrusions += 1;
        }
        function(argument, i);
    }
}

FIXTURE(NULL, NULL);

TEST(e3_e11_structure_and_writes_are_refused_in_each_job_of_a_playback)
{
    intruder in = {0};
    const espl_executor executor = {&in, 2, run_intruded};
    espl_report report;

    misuse_begin(&s, &executor);
    const espl_transform moved = test_at(1, 2, 3);
    const espl_instance_def def = {.source = s.solo};
    const uint32_t clones = test_fitting(20000, 16);
    for (uint32_t i = 0; i < 20000; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(s.commands, i % 2);
        ck_ok(i < clones
                  ? espl_record_instantiate(recorder, 0, &def, 1, NULL)
                  : espl_record_write(recorder, 0, s.solo, ESPL_WRITE_LOCAL_TRANSFORM, &moved));
    }
    in.m = &s;
    ck_ok(espl_play(s.world, s.commands, &report));
    in.m = NULL;
    ck_assert_uint_gt(in.intrusions, 1);
    ck_assert_uint_eq(report.applied, 20001);
    misuse_end(&s);
}

TEST(structure_and_writes_are_refused_in_each_job_of_a_batch)
{
    enum { COUNT = 20000 };
    const size_t solos = test_fitting(COUNT, 16);
    intruder in = {0};
    const espl_executor executor = {&in, 2, run_intruded};
    espl_entity *const entity = malloc(COUNT * sizeof *entity);
    float(*const values)[3] = malloc(COUNT * sizeof *values);

    ck_assert(entity != NULL && values != NULL);
    misuse_begin(&s, &executor);
    test_solos(s.world, solos, entity);
    for (size_t i = 0; i < COUNT; ++i) {
        entity[i] = entity[i % solos];
        values[i][0] = values[i][1] = values[i][2] = (float)i;
    }
    test_cut_jobs(s.world, 64);
    in.m = &s;
    ck_ok(espl_write_strided(s.world, ESPL_WRITE_LOCAL_POSITION, entity, COUNT, sizeof(espl_entity),
                             (const float(*)[3])values, sizeof(float[3]), NULL));
    in.m = NULL;
    ck_assert_uint_gt(in.intrusions, 1);
    for (size_t i = COUNT - solos; i < COUNT; ++i) { // the last write of each
        ck_assert_float_eq(test_world_of(s.world, entity[i]).position[2], (float)i);
    }
    ck_ok(espl_destroy(s.world, entity[0], ESPL_EXTENT_OWNED));
    misuse_end(&s);
    free(entity);
    free(values);
}

static void refuse_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    intruder *const in = context;
    espl_command_buffer *made = NULL;
    const uint32_t value = 1;

    (void)writer;
    (void)rows;
    refuse_while_busy(in->m);
    refuse_writes(in->m);
    ck_status(espl_set_component(in->m->world, in->m->child, in->m->number, &value, sizeof value),
              ESPL_ERR_BUSY);
    ck_status(espl_command_buffer_submit(in->m->commands), ESPL_ERR_BUSY);
    ck_status(espl_command_buffer_create(in->m->world, 1, &made), ESPL_ERR_BUSY);
    ck_assert_ptr_null(made);
    in->intrusions += 1;
}

// From a job, and from the executor between jobs.
TEST(structure_and_writes_are_refused_in_each_job_of_a_parallel_write)
{
    intruder in = {0};
    const espl_executor executor = {&in, 2, run_intruded};
    const espl_parallel_def def = {.function = refuse_in_job, .context = &in};

    misuse_begin(&s, &executor);
    for (uint32_t i = 0; i < 20; ++i) {
        (void)test_solo(s.world);
    }
    test_cut_jobs(s.world, 4);
    const uint64_t before = test_physical_hash(s.world), version = espl_get_version(s.world);
    in.m = &s;
    ck_ok(espl_write_parallel(s.world, &def, NULL));
    in.m = NULL;
    ck_assert_uint_gt(in.intrusions, 2);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    ck_assert_uint_eq(espl_get_version(s.world), version);
    ck_ok(espl_destroy(s.world, s.solo, ESPL_EXTENT_OWNED));
    misuse_end(&s);
}

// SPDX-License-Identifier: MIT
// Memory runs out at every point of a scenario of calls: the call says so, nothing changes, the
// same call succeeds later, and the world ends as one that never lacked memory.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/planting.h"
#include "tests/runner.h"
#include "tests/tape.h"

#include <stdlib.h>
#include <string.h>

// --- A scenario with faults, beside one without ---

typedef struct pair {
    test_world calm, faulted;
    size_t points;
    bool fails_after;
} pair;

static void pair_begin(pair *p, bool fails_after)
{
    memset(p, 0, sizeof *p);
    test_world_begin(&p->calm, 9, NULL);
    test_world_begin(&p->faulted, 9, NULL);
    p->fails_after = fails_after;
}

static void pair_end(pair *p)
{
    ck_assert_uint_eq(test_physical_hash(p->calm.world), test_physical_hash(p->faulted.world));
    test_world_end(&p->calm);
    test_world_end(&p->faulted);
}

static bool is_destroy(opcode code)
{
    return code == OP_DESTROY || code == OP_DESTROY_SUBTREE || code == OP_DESTROY_ONLY;
}

// One write for each entity from the first to the last, of all kinds in turn.
static espl_status call_batch(espl_world *world, const operation *op, const espl_entity *entities)
{
    espl_write writes[16];
    uint64_t random = op->entity;

    for (uint32_t i = op->entity; i < op->entity + op->count; ++i) {
        const espl_write_kind kind = (espl_write_kind)(i * 4 % ESPL_WRITE_KIND_COUNT);
        writes[i - op->entity] = write_ordinary(entities[i], kind, &random);
    }
    return espl_write_batch(world, writes, op->count, NULL);
}

static espl_status call_write(espl_world *world, const operation *op, espl_entity entity)
{
    const espl_write write = {entity, op->kind, op->data};
    return form_write(world, &write, op->form);
}

// Recorded, and played at once.
static espl_status call_instance(espl_world *world, const operation *op,
                                 const espl_entity *entities, espl_entity *out)
{
    const espl_instance_def def = {.source = entities[op->entity],
                                   .parent = entities[op->parent],
                                   .place = op->place,
                                   .transform = op->value,
                                   .inherit = op->inherit};
    espl_command_buffer *commands = NULL;
    espl_entity pending;
    espl_status status = espl_command_buffer_create(world, 1, &commands);

    if (status == ESPL_OK) {
        status = espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1,
                                         &pending);
    }
    status = status == ESPL_OK ? espl_play(world, commands, NULL) : status;
    status = status == ESPL_OK ? espl_command_buffer_resolve(commands, pending, out) : status;
    espl_command_buffer_destroy(commands);
    return status;
}

// A placement for the entities from the first one on, with the tag of a prefab, or away with both.
static espl_status call_change(espl_world *world, const operation *op, const espl_entity *entities)
{
    const espl_component both[] = {ESPL_TRANSFORM, ESPL_PREFAB};
    const espl_component_value values[] = {
        {.component = ESPL_TRANSFORM, .size = sizeof op->value, .data = &op->value},
        {.component = ESPL_PREFAB}};
    const espl_change_def give = {.add = values, .add_count = 2};
    const espl_change_def take = {.remove = both, .remove_count = 2};
    const espl_query_def roots = {.all = &(espl_component){ESPL_ROOT}, .all_count = 1};
    const espl_change_def *const change = op->has_placement ? &give : &take;

    return op->code == OP_CHANGE
               ? espl_change_components_array(world, entities + op->entity, op->count, change, NULL)
               : espl_change_components_query(world, &roots, change, NULL);
}

static espl_status call_structure(espl_world *world, const operation *op,
                                  const espl_entity *entities)
{
    const espl_entity entity = entities[op->entity];

    switch (op->code) {
    case OP_SET_SIBLING:
        return espl_set_sibling(world, entity, entities[op->before]);
    case OP_PLACE:
        return espl_add_component(world, entity, ESPL_TRANSFORM, &op->value, sizeof op->value);
    case OP_UNPLACE:
        return espl_remove_component(world, entity, ESPL_TRANSFORM);
    case OP_ENABLE:
        return espl_enable(world, entity, op->extent);
    case OP_DISABLE:
        return espl_disable(world, entity, op->extent);
    case OP_CHANGE:
    case OP_CHANGE_QUERY:
        return call_change(world, op, entities);
    default:
        abort();
    }
}

static espl_status call(espl_world *world, const operation *op, const espl_entity *entities,
                        espl_entity *out)
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_entity entity = entities[op->entity];

    switch (op->code) {
    case OP_CREATE:
        return espl_create(world, &placement, 1, op->count, out);
    case OP_ATTACH:
        return espl_attach(world, entity, entities[op->parent], &op->options);
    case OP_DETACH:
        return espl_detach(world, entity, op->keep);
    case OP_DESTROY:
        return espl_destroy(world, entity, ESPL_EXTENT_OWNED);
    case OP_DESTROY_SUBTREE:
        return espl_destroy(world, entity, ESPL_EXTENT_SUBTREE);
    case OP_DESTROY_ONLY:
        return espl_destroy(world, entity, ESPL_EXTENT_ENTITY);
    case OP_INSTANTIATE:
        return espl_instantiate(world, entity, op->count, out);
    case OP_INSTANCE:
        return call_instance(world, op, entities, out);
    case OP_SET_LOCAL:
        return espl_set_local_transform(world, entity, &op->value);
    case OP_SET_WORLD:
        return espl_set_world_transform(world, entity, &op->value);
    case OP_WRITE:
        return call_write(world, op, entity);
    case OP_LOOK_AT:
        return espl_look_at(world, entity, op->point, NULL, ESPL_AXIS_FORWARD);
    case OP_ROTATE_ABOUT:
        return espl_rotate_about(world, entity, op->point, op->data.rotation);
    case OP_SET_INHERIT:
        return espl_set_inherit(world, entity, op->inherit);
    case OP_BATCH:
        return call_batch(world, op, entities);
    default:
        return call_structure(world, op, entities);
    }
}

// Run one operation in both worlds; in the faulted one the n-th allocation fails, for all n.
static void run(pair *p, const operation *op, espl_entity *entities, uint32_t out)
{
    espl_world *const world = p->faulted.world;
    espl_entity made[TAPE_COUNT_LIMIT] = {{0}};
    espl_status status = ESPL_ERR_NO_MEMORY;

    const espl_status calm = call(p->calm.world, op, entities, entities + out);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        const uint64_t before = test_physical_hash(world);
        // A destroy without memory may put work off, which another test is about.
        test_heap_arm(&p->faulted.heap, is_destroy(op->code) ? 0 : n, p->fails_after);
        status = call(world, op, entities, made);
        test_heap_arm(&p->faulted.heap, 0, false);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_eq(test_physical_hash(world), before);
            test_world_is_valid(world);
            p->points += 1;
        }
    }
    ck_assert_int_eq(status, calm);
    if (op->code == OP_CREATE || op->code == OP_INSTANTIATE || op->code == OP_INSTANCE) {
        ck_assert_int_eq(memcmp(made, entities + out, op->count * sizeof *made), 0);
    }
    test_world_is_valid(world);
}

static espl_transform stretched(void)
{
    espl_transform value = test_at(1, 2, 3);
    value.stretch[1] = 2;
    value.user_data = 7;
    return value;
}

// Entities 0 - 7 solos, 8 - 10 clones of the tree, 11 - 13 clones of a member.
static void run_scenario(bool fails_after, size_t least_points)
{
    const espl_transform plain = test_at(4, 5, 6), general = stretched();
    const operation scenario[] = {
        {.code = OP_CREATE, .count = 8},
        {.code = OP_SET_LOCAL, .entity = 0, .value = plain},
        {.code = OP_ATTACH, .entity = 1, .parent = 0},
        {.code = OP_ATTACH, .entity = 2, .parent = 0},
        {.code = OP_ATTACH, .entity = 3, .parent = 1},
        {.code = OP_ATTACH, .entity = 4, .parent = 1, .options = {.link = ESPL_LINK_FREE}},
        {.code = OP_SET_LOCAL, .entity = 3, .value = general},
        {.code = OP_SET_WORLD, .entity = 4, .value = plain},
        {.code = OP_ATTACH, .entity = 6, .parent = 5},
        {.code = OP_ATTACH, .entity = 5, .parent = 3},
        {.code = OP_INSTANTIATE, .entity = 0, .count = 3},
        {.code = OP_INSTANTIATE, .entity = 3, .count = 3},
        {.code = OP_SET_LOCAL, .entity = 8, .value = general},
        {.code = OP_DESTROY_ONLY, .entity = 1},
        {.code = OP_ATTACH, .entity = 7, .parent = 4},
        {.code = OP_DETACH, .entity = 3, .keep = ESPL_KEEP_WORLD},
        {.code = OP_DESTROY, .entity = 9},
        {.code = OP_ATTACH, .entity = 10, .parent = 8},
        {.code = OP_DESTROY_ONLY, .entity = 8},
        {.code = OP_ATTACH, .entity = 2, .parent = 10},
        {.code = OP_DESTROY_SUBTREE, .entity = 10},
        {.code = OP_DETACH, .entity = 5, .keep = ESPL_SNAP},
        {.code = OP_DESTROY, .entity = 0},
    };
    static const uint32_t out_of[2] = {8, 11};
    espl_entity entities[16] = {{0}};
    uint32_t instantiated = 0;
    pair p;

    pair_begin(&p, fails_after);
    for (size_t i = 0; i < sizeof scenario / sizeof *scenario; ++i) {
        const bool clones = scenario[i].code == OP_INSTANTIATE;
        run(&p, &scenario[i], entities, clones ? out_of[instantiated] : 0);
        instantiated += clones;
    }
    ck_assert_uint_ge(p.points, least_points);
    pair_end(&p);
}

START_TEST(each_call_fails_cleanly_when_one_allocation_fails)
{
    run_scenario(false, 20);
}
END_TEST

START_TEST(each_call_fails_cleanly_when_all_later_allocations_fail)
{
    run_scenario(true, 20);
}
END_TEST

// Placements, tags and sibling places come and go. Entities 0 - 9 solos, 10 - 12 clones.
static void run_change_scenario(bool fails_after, size_t least_points)
{
    const espl_transform general = stretched();
    const operation scenario[] = {
        {.code = OP_CREATE, .count = 8},
        {.code = OP_ATTACH, .entity = 1, .parent = 0},
        {.code = OP_ATTACH, .entity = 2, .parent = 0},
        {.code = OP_ATTACH, .entity = 3, .parent = 0},
        {.code = OP_ATTACH, .entity = 4, .parent = 2, .options = {.link = ESPL_LINK_FREE}},
        {.code = OP_ATTACH, .entity = 5, .parent = 2},
        {.code = OP_SET_SIBLING, .entity = 3, .before = 1},
        {.code = OP_UNPLACE, .entity = 2},
        {.code = OP_SET_SIBLING, .entity = 2, .before = 3},
        {.code = OP_PLACE, .entity = 2, .value = general},
        {.code = OP_PLACE, .entity = 0, .value = general},
        {.code = OP_DISABLE, .entity = 0, .extent = ESPL_EXTENT_OWNED},
        {.code = OP_UNPLACE, .entity = 0},
        {.code = OP_CHANGE, .entity = 0, .count = 8},
        {.code = OP_CHANGE, .entity = 3, .count = 4, .value = general, .has_placement = true},
        {.code = OP_DISABLE, .entity = 2, .extent = ESPL_EXTENT_SUBTREE},
        {.code = OP_ENABLE, .entity = 0, .extent = ESPL_EXTENT_SUBTREE},
        {.code = OP_CHANGE_QUERY, .value = general, .has_placement = true},
        {.code = OP_INSTANTIATE, .entity = 0, .count = 3},
        {.code = OP_ENABLE, .entity = 10, .extent = ESPL_EXTENT_ENTITY},
        {.code = OP_CHANGE_QUERY},
        {.code = OP_SET_SIBLING, .entity = 3, .before = 15},
        {.code = OP_DETACH, .entity = 2, .keep = ESPL_KEEP_WORLD},
    };
    espl_entity entities[16] = {{0}};
    pair p;

    pair_begin(&p, fails_after);
    for (size_t i = 0; i < sizeof scenario / sizeof *scenario; ++i) {
        run(&p, &scenario[i], entities, scenario[i].code == OP_INSTANTIATE ? 10 : 0);
    }
    ck_assert_uint_ge(p.points, least_points);
    pair_end(&p);
}

START_TEST(each_change_fails_cleanly_when_one_allocation_fails)
{
    run_change_scenario(false, 20);
}
END_TEST

START_TEST(each_change_fails_cleanly_when_all_later_allocations_fail)
{
    run_change_scenario(true, 20);
}
END_TEST

// Side arrays come and go, by writes, batches, flags, and changes of structure that carry them
// along. Entities 0 - 7 solos, 8 and 9 instances, 10 - 12 clones.
static void run_side_scenario(bool fails_after, size_t least_points)
{
    const uint32_t keeps = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_ROTATION, copies = ESPL_COPY_PARENT;
    const espl_attach_options hangs_copy = {.inherit = copies}, hangs_kept = {.inherit = keeps};
    const espl_transform plain = test_at(4, 5, 6);
    const operation scenario[] = {
        {.code = OP_CREATE, .count = 8},
        {.code = OP_WRITE, .entity = 0, .kind = ESPL_WRITE_USER_DATA, .data.user_data = 3},
        {.code = OP_ATTACH, .entity = 1, .parent = 0},
        {.code = OP_ATTACH, .entity = 2, .parent = 1, .options = hangs_kept},
        {.code = OP_ATTACH, .entity = 4, .parent = 3, .options = hangs_copy},
        {.code = OP_ATTACH, .entity = 5, .parent = 4},
        {.code = OP_SET_INHERIT, .entity = 5, .inherit = keeps},
        {.code = OP_WRITE,
         .entity = 3,
         .kind = ESPL_WRITE_STRETCH,
         .data.stretch = {1, 2, 1},
         .form = FORM_BATCH},
        {.code = OP_SET_INHERIT, .entity = 4, .inherit = 0},
        {.code = OP_SET_INHERIT, .entity = 5, .inherit = 0},
        {.code = OP_WRITE,
         .entity = 3,
         .kind = ESPL_WRITE_STRETCH,
         .data.stretch = {1, 1, 1},
         .form = FORM_SHORT},
        {.code = OP_WRITE, .entity = 4, .kind = ESPL_WRITE_STRETCH, .data.stretch = {1, 1, 1}},
        {.code = OP_LOOK_AT, .entity = 5, .point = {3, 2, 1}},
        {.code = OP_ROTATE_ABOUT, .entity = 4, .data.rotation = {0, 0.6f, 0, 0.8f}},
        {.code = OP_BATCH, .entity = 0, .count = 8},
        {.code = OP_ATTACH, .entity = 3, .parent = 2, .options = hangs_kept},
        {.code = OP_SET_INHERIT, .entity = 5, .inherit = copies},
        {.code = OP_ATTACH, .entity = 3, .parent = 2, .options = hangs_copy},
        {.code = OP_INSTANCE,
         .entity = 1,
         .parent = 6,
         .place = ESPL_PLACE_WORLD,
         .value = plain,
         .inherit = keeps},
        {.code = OP_INSTANCE, .entity = 3, .parent = 7, .inherit = copies},
        {.code = OP_INSTANTIATE, .entity = 2, .count = 3},
        {.code = OP_BATCH, .entity = 0, .count = 13},
        {.code = OP_DESTROY_ONLY, .entity = 1},
        {.code = OP_DETACH, .entity = 3, .keep = ESPL_KEEP_WORLD},
        {.code = OP_SET_INHERIT, .entity = 2, .inherit = keeps},
        {.code = OP_DESTROY_ONLY, .entity = 0},
        {.code = OP_BATCH, .entity = 2, .count = 11},
    };
    static const uint32_t out_of[3] = {8, 9, 10};
    espl_entity entities[16] = {{0}};
    uint32_t made = 0;
    pair p;

    pair_begin(&p, fails_after);
    for (size_t i = 0; i < sizeof scenario / sizeof *scenario; ++i) {
        const bool clones = scenario[i].code == OP_INSTANTIATE || scenario[i].code == OP_INSTANCE;
        operation op = scenario[i];

        op.count = op.code == OP_INSTANCE ? 1 : op.count;
        run(&p, &op, entities, clones ? out_of[made] : 0);
        made += clones;
    }
    ck_assert_msg(p.points >= least_points, "%zu points", p.points);
    pair_end(&p);
}

START_TEST(each_call_on_side_arrays_fails_cleanly_when_one_allocation_fails)
{
    run_side_scenario(false, 30);
}
END_TEST

START_TEST(each_call_on_side_arrays_fails_cleanly_when_all_later_allocations_fail)
{
    run_side_scenario(true, 30);
}
END_TEST

// --- Worlds and commands objects ---

START_TEST(a_world_is_made_whole_or_not_at_all)
{
    test_heap heap;
    espl_world *world = NULL;
    espl_status status = ESPL_ERR_NO_MEMORY;

    test_heap_init(&heap);
    const espl_world_def def = {.allocator = test_heap_allocator(&heap)};
    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&heap, n, true);
        status = espl_world_create(&world, &def);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert((world != NULL) == (status == ESPL_OK));
        ck_assert(status == ESPL_OK || heap.bytes == 0);
    }
    test_heap_arm(&heap, 0, false);
    ck_assert(espl_validate(world, NULL));
    espl_world_destroy(world);
    ck_assert_uint_eq(heap.bytes, 0);
    ck_assert_uint_eq(heap.faults, 0);
}
END_TEST

// Every other command clones, twice on average.
START_TEST(recording_without_memory_records_nothing_and_can_be_tried_again)
{
    const size_t count = test_fitting(300, 1) / 6 * 6;
    test_world test;
    espl_command_buffer *commands = NULL;
    uint32_t number = 7;
    size_t points = 0;
    espl_component component = 0;
    const espl_component_def number_def = {.name = "number", .size = sizeof number, .alignment = 4};

    test_world_begin(&test, 0, NULL);
    ck_assert_int_eq(espl_component_register(test.world, &number_def, &component), ESPL_OK);
    const espl_component_value value = {component, sizeof number, &number};
    const espl_entity source = test_solo(test.world);
    const espl_instance_def def = {.source = source, .values = &value, .value_count = 1};
    ck_assert_int_eq(espl_command_buffer_create(test.world, 2, &commands), ESPL_OK);

    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 1);
    for (size_t i = 0; i < count; ++i) {
        const espl_transform at = test_at((float)i, 0, 0);
        espl_status status = ESPL_ERR_NO_MEMORY;
        for (size_t n = 1; status != ESPL_OK; ++n) {
            test_heap_arm(&test.heap, n, false);
            status = i % 2 == 0 ? espl_record_instantiate(recorder, 0, &def, 1 + i % 3, NULL)
                                : espl_record_set_local_transform(recorder, 0, source, &at);
            test_heap_arm(&test.heap, 0, false);
            ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
            points += status != ESPL_OK;
            ck_assert_uint_eq(espl_command_buffer_count(commands), i + (status == ESPL_OK));
        }
    }
    ck_assert_uint_gt(points, 3);

    espl_report report;
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.applied, count);
    ck_assert_uint_eq(report.created, count);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(a_commands_object_leaves_nothing_behind_in_any_state)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity source = test_solo(test.world);
    const size_t before = test.heap.bytes;
    const espl_instance_def def = {.source = source};
    for (int state = 0; state < 5; ++state) {
        espl_command_buffer *commands = NULL;
        ck_assert_int_eq(espl_command_buffer_create(test.world, 3, &commands), ESPL_OK);
        if (state >= 1) {
            ck_assert_int_eq(espl_record_instantiate(espl_command_buffer_recorder(commands, 2), 0,
                                                     &def, 2, NULL),
                             ESPL_OK);
        }
        if (state == 2) {
            ck_assert_int_eq(espl_command_buffer_submit(commands), ESPL_OK);
        }
        if (state == 3) {
            test_heap_arm(&test.heap, 1, true);
            ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_ERR_NO_MEMORY);
            test_heap_arm(&test.heap, 0, false);
        }
        if (state == 4) {
            ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
        }
        espl_command_buffer_destroy(commands);
        if (state < 3) { // playback keeps its scratch for the next one
            ck_assert_uint_eq(test.heap.bytes, before);
        }
    }
    // What was submitted and destroyed is not played.
    espl_report report;
    ck_assert_int_eq(espl_sync(test.world, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 0);
    test_world_end(&test);
}
END_TEST

START_TEST(a_world_ends_at_zero_bytes_with_everything_in_it)
{
    const size_t count = test_fitting(200, 2) / 2;
    test_world test;
    espl_entity clones[100];

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo(test.world), child = test_solo(test.world);
    const espl_transform value = stretched();
    ck_assert_int_eq(espl_attach(test.world, child, root, NULL), ESPL_OK);
    ck_assert_int_eq(espl_set_local_transform(test.world, child, &value), ESPL_OK);
    ck_assert_int_eq(espl_instantiate(test.world, root, count, clones), ESPL_OK);
    ck_assert_int_eq(espl_destroy(test.world, clones[count / 2], ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert_int_eq(
        espl_destroy(test.world, espl_get_first_child(test.world, clones[7]), ESPL_EXTENT_ENTITY),
        ESPL_OK);
    test_world_end(&test);
}
END_TEST

// Not where every growable array moves whenever it may.
#ifndef ESPL_HARD_MOVE
START_TEST(reserved_room_needs_no_memory_later)
{
    test_world test;
    espl_entity entity[64];
    const size_t count = test_fitting(64, 2);
    const espl_component placement = ESPL_TRANSFORM;

    test_world_begin(&test, 0, NULL);
    // The first tree makes the archetypes and the scratch known.
    const espl_entity a = test_solo(test.world), b = test_solo(test.world);
    ck_assert_int_eq(espl_attach(test.world, b, a, NULL), ESPL_OK);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.entities = count}), ESPL_OK);
    if (count + 2 > test_limits_of_build().rows) { // past the chunk that is there
        ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.components = &placement,
                                                                      .component_count = 1,
                                                                      .rows = count}),
                         ESPL_OK);
    }
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(espl_create(test.world, &placement, 1, count, entity), ESPL_OK);
    ck_assert_uint_eq(test.heap.failures, 0);
    test_heap_arm(&test.heap, 0, false);
    test_world_end(&test);
}
END_TEST
#endif

START_TEST(reads_writes_and_destroys_need_no_memory)
{
    test_world test;
    espl_entity entity[32];
    espl_transform out;

    test_world_begin(&test, 0, NULL);
    for (int i = 0; i < 32; ++i) {
        entity[i] = test_solo_at(test.world, (float)i, 0, 0);
        if (i > 0) {
            ck_assert_int_eq(espl_attach(test.world, entity[i], entity[(i - 1) / 2], NULL),
                             ESPL_OK);
        }
    }
    test_heap_arm(&test.heap, 1, true);
    for (int i = 0; i < 32; ++i) {
        const espl_transform value = test_at(1, (float)i, 2);
        ck_assert_int_eq(espl_set_local_transform(test.world, entity[i], &value), ESPL_OK);
        ck_assert_int_eq(espl_set_world_transform(test.world, entity[i], &value), ESPL_OK);
        ck_assert_int_eq(espl_get_world_transform(test.world, entity[i], &out), ESPL_OK);
    }
    for (int i = 5; i < 32; i += 3) {
        ck_assert_int_eq(espl_destroy(test.world, entity[i], ESPL_EXTENT_ENTITY), ESPL_OK);
    }
    ck_assert_int_eq(espl_destroy(test.world, entity[0], ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert_int_eq(espl_destroy(test.world, entity[1], ESPL_EXTENT_OWNED), ESPL_OK);
    test_heap_arm(&test.heap, 0, false);
    test_world_end(&test);
}
END_TEST

// What would need memory may be put off to the next structural call.
START_TEST(what_a_destroy_puts_off_is_done_when_there_is_memory)
{
    enum { COUNT = 40 };
    test_world test;
    espl_entity child[COUNT];
    espl_world_stats stats;

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo_at(test.world, 1, 0, 0);
    for (int i = 0; i < COUNT; ++i) {
        child[i] = test_solo_at(test.world, 1, (float)i, 0);
        ck_assert_int_eq(espl_attach(test.world, child[i], root, NULL), ESPL_OK);
    }
    test_heap_arm(&test.heap, 1, true);
    for (int i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(espl_destroy(test.world, child[i], ESPL_EXTENT_OWNED), ESPL_OK);
        ck_assert(!espl_is_alive(test.world, child[i]));
        ck_assert_uint_eq(espl_count_children(test.world, root), (size_t)(COUNT - 1 - i));
        test_world_is_valid(test.world);
    }
    test_heap_arm(&test.heap, 0, false);
    const espl_entity other = test_solo(test.world);
    ck_assert_int_eq(espl_destroy(test.world, other, ESPL_EXTENT_OWNED), ESPL_OK);
    espl_stats(test.world, &stats);
    ck_assert_uint_eq(stats.hierarchies, 0);
    ck_assert_int_eq(espl_get_role(test.world, root), ESPL_ROLE_SOLO);
    ck_assert(espl_has_component(test.world, root, ESPL_SOLO) &&
              !espl_has_component(test.world, root, ESPL_ROOT));
    test_world_end(&test);
}
END_TEST

START_TEST(survivors_of_a_root_destroyed_without_memory_are_roots_at_once)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo_at(test.world, 1, 0, 0);
    const espl_entity child = test_solo_at(test.world, 2, 0, 0);
    const espl_entity leaf = test_solo_at(test.world, 3, 0, 0);
    ck_assert_int_eq(espl_attach(test.world, child, root, NULL), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, leaf, child, NULL), ESPL_OK);
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(espl_destroy(test.world, root, ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert(espl_entity_is_null(espl_get_parent(test.world, child)));
    ck_assert(espl_entity_equal(espl_get_root(test.world, leaf), child));
    ck_assert_uint_eq(espl_get_depth(test.world, leaf), 1);
    ck_assert_int_eq(espl_get_role(test.world, child), ESPL_ROLE_ROOT);
    const espl_transform moved = test_at(7, 0, 0);
    ck_assert_int_eq(espl_set_world_transform(test.world, child, &moved), ESPL_OK);
    ck_assert_float_eq(test_world_of(test.world, leaf).position[0], 8);
    test_world_is_valid(test.world);
    test_heap_arm(&test.heap, 0, false);
    ck_assert_int_eq(espl_detach(test.world, leaf, ESPL_KEEP_WORLD), ESPL_OK);
    ck_assert_int_eq(espl_get_role(test.world, child), ESPL_ROLE_SOLO);
    test_world_end(&test);
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *const suite = suite_create("memory");
    TCase *const tcase = tcase_create("allocator");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, each_call_fails_cleanly_when_one_allocation_fails);
    tcase_add_test(tcase, each_call_fails_cleanly_when_all_later_allocations_fail);
    tcase_add_test(tcase, each_change_fails_cleanly_when_one_allocation_fails);
    tcase_add_test(tcase, each_change_fails_cleanly_when_all_later_allocations_fail);
    tcase_add_test(tcase, each_call_on_side_arrays_fails_cleanly_when_one_allocation_fails);
    tcase_add_test(tcase, each_call_on_side_arrays_fails_cleanly_when_all_later_allocations_fail);
    tcase_add_test(tcase, a_world_is_made_whole_or_not_at_all);
    tcase_add_test(tcase, recording_without_memory_records_nothing_and_can_be_tried_again);
    tcase_add_test(tcase, a_commands_object_leaves_nothing_behind_in_any_state);
    tcase_add_test(tcase, a_world_ends_at_zero_bytes_with_everything_in_it);
#ifndef ESPL_HARD_MOVE
    tcase_add_test(tcase, reserved_room_needs_no_memory_later);
#endif
    tcase_add_test(tcase, reads_writes_and_destroys_need_no_memory);
    tcase_add_test(tcase, what_a_destroy_puts_off_is_done_when_there_is_memory);
    tcase_add_test(tcase, survivors_of_a_root_destroyed_without_memory_are_roots_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(memory_suite)

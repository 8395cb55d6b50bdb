// SPDX-License-Identifier: MIT
// Bad input, by the table: every answer is a status, and a refused call changes nothing.
#include "tests/forms.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- A world with one of everything, and every kind of bad handle ---

typedef struct scene {
    test_world test, elsewhere;
    espl_world *world;
    espl_component number;
    espl_entity root, child, solo, dead, recycled, foreign, pending;
    espl_commands *commands;
} scene;

static void scene_begin(scene *s)
{
    const espl_component_def def = {"number", sizeof(uint32_t), 4};
    espl_entity second;

    test_world_begin(&s->test, 3, NULL);
    test_world_begin(&s->elsewhere, 4, NULL);
    s->world = s->test.world;
    ck_assert_int_eq(espl_component_register(s->world, &def, &s->number), ESPL_OK);
    s->root = test_solo_at(s->world, 1, 2, 3);
    s->child = test_solo(s->world);
    s->solo = test_solo(s->world);
    ck_assert_int_eq(espl_attach(s->world, s->child, s->root, NULL), ESPL_OK);

    s->recycled = test_solo(s->world);
    s->dead = test_solo(s->world);
    ck_assert_int_eq(espl_destroy(s->world, s->dead), ESPL_OK);
    ck_assert_int_eq(espl_destroy(s->world, s->recycled), ESPL_OK);
    second = test_solo(s->world);
    ck_assert_uint_eq(second.index, s->recycled.index);
    ck_assert_uint_ne(second.generation, s->recycled.generation);

    const espl_instance_def instance = {.source = s->solo};
    s->foreign = test_solo(s->elsewhere.world);
    ck_assert_int_eq(espl_commands_create(s->world, 2, &s->commands), ESPL_OK);
    ck_assert_int_eq(espl_record_instantiate(espl_commands_recorder(s->commands, 0), 0, &instance,
                                             1, &s->pending),
                     ESPL_OK);
}

static void scene_end(scene *s)
{
    espl_commands_destroy(s->commands);
    test_world_end(&s->test);
    test_world_end(&s->elsewhere);
}

// --- Handles ---

typedef espl_status (*handle_call)(scene *s, espl_entity bad);

static espl_status call_attach_child(scene *s, espl_entity bad)
{
    return espl_attach(s->world, bad, s->solo, NULL);
}

static espl_status call_attach_parent(scene *s, espl_entity bad)
{
    return espl_attach(s->world, s->solo, bad, NULL);
}

static espl_status call_detach(scene *s, espl_entity bad)
{
    return espl_detach(s->world, bad, ESPL_STAY_WORLD);
}

static espl_status call_destroy(scene *s, espl_entity bad)
{
    return espl_destroy(s->world, bad);
}

static espl_status call_destroy_subtree(scene *s, espl_entity bad)
{
    return espl_destroy_subtree(s->world, bad);
}

static espl_status call_destroy_only(scene *s, espl_entity bad)
{
    return espl_destroy_only(s->world, bad);
}

static espl_status call_instantiate(scene *s, espl_entity bad)
{
    return espl_instantiate(s->world, bad, 1, NULL);
}

static espl_status call_set_local(scene *s, espl_entity bad)
{
    const espl_transform value = test_at(9, 9, 9);
    return espl_set_local(s->world, bad, &value);
}

static espl_status call_set_world(scene *s, espl_entity bad)
{
    const espl_transform value = test_at(9, 9, 9);
    return espl_set_world(s->world, bad, &value);
}

static espl_status call_get_local(scene *s, espl_entity bad)
{
    espl_transform out = test_at(7, 7, 7);
    const espl_transform before = out;
    const espl_status status = espl_get_local(s->world, bad, &out);

    ck_assert(test_same(&out, &before));
    return status;
}

static espl_status call_get_world(scene *s, espl_entity bad)
{
    espl_transform out = test_at(7, 7, 7);
    const espl_transform before = out;
    const espl_status status = espl_get_world(s->world, bad, &out);

    ck_assert(test_same(&out, &before));
    return status;
}

static espl_status call_get_world_position(scene *s, espl_entity bad)
{
    float out[3] = {7, 7, 7};
    const espl_status status = espl_get_world_position(s->world, bad, out);

    ck_assert(out[0] == 7 && out[1] == 7 && out[2] == 7);
    return status;
}

static espl_status call_add(scene *s, espl_entity bad)
{
    const uint32_t value = 1;
    return espl_add(s->world, bad, s->number, &value, sizeof value);
}

static espl_status call_remove(scene *s, espl_entity bad)
{
    return espl_remove(s->world, bad, s->number);
}

static espl_status call_get(scene *s, espl_entity bad)
{
    uint32_t value = 1;
    return espl_get(s->world, bad, s->number, &value, sizeof value);
}

static espl_status call_set(scene *s, espl_entity bad)
{
    const uint32_t value = 1;
    return espl_set(s->world, bad, s->number, &value, sizeof value);
}

static const handle_call handle_calls[] = {
    call_attach_child, call_attach_parent,   call_detach,
    call_destroy,      call_destroy_subtree, call_destroy_only,
    call_instantiate,  call_set_local,       call_set_world,
    call_get_local,    call_get_world,       call_get_world_position,
    call_add,          call_remove,          call_get,
    call_set};

enum { HANDLE_CALLS = sizeof handle_calls / sizeof *handle_calls };

static void refuse_everywhere(scene *s, espl_entity bad, espl_status expected)
{
    const uint64_t before = test_physical_hash(s->world);

    for (int i = 0; i < HANDLE_CALLS; ++i) {
        const espl_status status = handle_calls[i](s, bad);
        ck_assert_msg(status == expected, "call %d answers %s, not %s", i, espl_status_name(status),
                      espl_status_name(expected));
    }
    ck_assert_uint_eq(test_physical_hash(s->world), before);
    ck_assert(!espl_is_alive(s->world, bad));
    ck_assert(!espl_has(s->world, bad, s->number));
    ck_assert_int_eq(espl_get_role(s->world, bad), ESPL_ROLE_NONE);
    ck_assert(espl_entity_is_null(espl_get_parent(s->world, bad)));
    ck_assert(espl_entity_is_null(espl_get_root(s->world, bad)));
    ck_assert(espl_entity_is_null(espl_get_first_child(s->world, bad)));
    ck_assert(espl_entity_is_null(espl_get_next_sibling(s->world, bad)));
    ck_assert(espl_entity_is_null(espl_get_child(s->world, bad, 0)));
    ck_assert_uint_eq(espl_get_rank(s->world, bad), ESPL_NO_RANK);
    ck_assert_uint_eq(espl_get_depth(s->world, bad), ESPL_NO_RANK);
    ck_assert_uint_eq(espl_count_children(s->world, bad), 0);
    ck_assert_uint_eq(espl_count_descendants(s->world, bad), 0);
    ck_assert(!espl_is_ancestor(s->world, s->root, bad));
    ck_assert(!espl_is_ancestor(s->world, bad, s->child));
}

START_TEST(each_bad_handle_is_refused_by_each_call)
{
    const espl_entity never_issued = {1000, 0};
    scene s;

    scene_begin(&s);
    const espl_entity in_range = {1000, s.root.generation};
    refuse_everywhere(&s, espl_entity_null(), ESPL_ERR_NULL_ENTITY);
    refuse_everywhere(&s, s.dead, ESPL_ERR_DEAD);
    refuse_everywhere(&s, s.recycled, ESPL_ERR_DEAD);
    refuse_everywhere(&s, s.foreign, ESPL_ERR_FOREIGN);
    refuse_everywhere(&s, s.pending, ESPL_ERR_FOREIGN);
    refuse_everywhere(&s, never_issued, ESPL_ERR_FOREIGN);
    refuse_everywhere(&s, in_range, ESPL_ERR_FOREIGN);
    scene_end(&s);
}
END_TEST

START_TEST(a_bad_sibling_is_refused)
{
    scene s;
    scene_begin(&s);
    const espl_entity bad[] = {s.dead, s.foreign, s.pending, s.root, s.solo};
    const espl_status expected[] = {ESPL_ERR_DEAD, ESPL_ERR_FOREIGN, ESPL_ERR_FOREIGN,
                                    ESPL_ERR_NOT_CHILD, ESPL_ERR_NOT_CHILD};
    const uint64_t before = test_physical_hash(s.world);

    for (int i = 0; i < 5; ++i) {
        const espl_attach_options options = {.before = bad[i]};
        ck_assert_int_eq(espl_attach(s.world, s.solo, s.root, &options), expected[i]);
    }
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end(&s);
}
END_TEST

START_TEST(no_entity_comes_to_stand_below_itself)
{
    scene s;
    scene_begin(&s);
    const uint64_t before = test_physical_hash(s.world);

    ck_assert_int_eq(espl_attach(s.world, s.solo, s.solo, NULL), ESPL_ERR_CYCLE);
    ck_assert_int_eq(espl_attach(s.world, s.root, s.root, NULL), ESPL_ERR_CYCLE);
    ck_assert_int_eq(espl_attach(s.world, s.root, s.child, NULL), ESPL_ERR_CYCLE);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end(&s);
}
END_TEST

// --- Arguments ---

START_TEST(enumerations_out_of_range_are_refused)
{
    scene s;
    scene_begin(&s);
    const uint64_t before = test_physical_hash(s.world);

    for (int i = 0; i < 4; ++i) {
        espl_attach_options options = {0};
        *(i == 0 ? &options.position : i == 1 ? &options.rotation : &options.scale) = (espl_stay)9;
        if (i == 3) {
            options.scale = ESPL_STAY_WORLD;
            options.link = (espl_link)2;
        }
        ck_assert_int_eq(espl_attach(s.world, s.solo, s.root, &options), ESPL_ERR_ARGUMENT);
        ck_assert_int_eq(
            espl_record_attach(espl_commands_recorder(s.commands, 0), 0, s.solo, s.root, &options),
            ESPL_ERR_ARGUMENT);
    }
    ck_assert_int_eq(espl_detach(s.world, s.child, (espl_stay)3), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(
        espl_record_detach(espl_commands_recorder(s.commands, 0), 0, s.child, (espl_stay)3),
        ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(espl_commands_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end(&s);
}
END_TEST

START_TEST(missing_pointers_are_refused)
{
    scene s;
    scene_begin(&s);
    espl_recorder *const recorder = espl_commands_recorder(s.commands, 0);
    const uint64_t before = test_physical_hash(s.world);

    ck_assert_int_eq(espl_set_local(s.world, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_set_world(s.world, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_get_local(s.world, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_get_world(s.world, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_get_world_position(s.world, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_create(s.world, NULL, 1, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_query_begin(s.world, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_component_register(s.world, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_create(s.world, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_play(s.world, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_record_set_local(recorder, 0, s.root, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, NULL, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    s.test.hooks.traps = 0; // checked builds heard some of these
    scene_end(&s);
}
END_TEST

START_TEST(a_world_checks_its_definition)
{
    test_heap heap;
    espl_world *world = NULL;
    espl_world_def def = {.tag = 128};

    test_heap_init(&heap);
    ck_assert_int_eq(espl_world_create(&world, &def), ESPL_ERR_ARGUMENT);
    def.tag = 127;
    def.allocator = test_heap_allocator(&heap);
    def.allocator.release = NULL;
    ck_assert_int_eq(espl_world_create(&world, &def), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_null(world);
    def.allocator = test_heap_allocator(&heap);
    ck_assert_int_eq(espl_world_create(&world, &def), ESPL_OK);
    espl_world_destroy(world);
    espl_world_destroy(NULL);
    ck_assert_uint_eq(heap.bytes, 0);
}
END_TEST

// --- Values ---

static float *field_of(espl_transform *value, int field)
{
    if (field < 4) {
        return &value->rotation[field];
    }
    if (field < 7) {
        return &value->position[field - 4];
    }
    return field < 10 ? &value->stretch[field - 7] : &value->scale;
}

START_TEST(no_field_may_be_infinite_or_no_number)
{
    const float poison[3] = {NAN, INFINITY, -INFINITY};
    scene s;

    scene_begin(&s);
    espl_recorder *const recorder = espl_commands_recorder(s.commands, 1);
    const uint64_t before = test_physical_hash(s.world);
    for (int field = 0; field < 11; ++field) {
        for (int i = 0; i < 3; ++i) {
            espl_transform value = test_at(1, 1, 1);
            *field_of(&value, field) = poison[i];
            const espl_instance_def def = {
                .source = s.solo, .place = ESPL_PLACE_LOCAL, .transform = value};
            ck_assert_int_eq(espl_set_local(s.world, s.child, &value), ESPL_ERR_NOT_FINITE);
            ck_assert_int_eq(espl_set_world(s.world, s.root, &value), ESPL_ERR_NOT_FINITE);
            ck_assert_int_eq(espl_record_set_local(recorder, 0, s.child, &value),
                             ESPL_ERR_NOT_FINITE);
            ck_assert_int_eq(espl_record_set_world(recorder, 0, s.child, &value),
                             ESPL_ERR_NOT_FINITE);
            ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL),
                             ESPL_ERR_NOT_FINITE);
        }
    }
    espl_transform value = test_at(1, 1, 1);
    memset(value.rotation, 0, sizeof value.rotation);
    ck_assert_int_eq(espl_set_local(s.world, s.child, &value), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(espl_commands_count(s.commands), 1);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end(&s);
}
END_TEST

START_TEST(denormal_zero_and_negative_values_are_legal)
{
    const float odd[4] = {1e-42f, 0, -0.0f, -2};
    scene s;

    scene_begin(&s);
    for (int field = 4; field < 11; ++field) {
        for (int i = 0; i < 4; ++i) {
            espl_transform value = test_at(1, 1, 1);
            *field_of(&value, field) = odd[i];
            ck_assert_int_eq(espl_set_local(s.world, s.root, &value), ESPL_OK);
            const espl_transform got = test_local_of(s.world, s.root);
            ck_assert(test_same(&got, &value));
            test_world_is_valid(s.world);
        }
    }
    scene_end(&s);
}
END_TEST

START_TEST(a_rotation_off_unit_length_is_normalised)
{
    scene s;
    scene_begin(&s);
    espl_transform value = test_at(0, 0, 0);

    value.rotation[0] = 3;
    value.rotation[3] = 4;
    ck_assert_int_eq(espl_set_local(s.world, s.child, &value), ESPL_OK);
    const espl_transform got = test_local_of(s.world, s.child);
    ck_assert_float_eq_tol(got.rotation[0], 0.6f, 1e-7f);
    ck_assert_float_eq_tol(got.rotation[3], 0.8f, 1e-7f);
    scene_end(&s);
}
END_TEST

START_TEST(a_world_out_of_range_is_refused_wherever_it_would_be)
{
    scene s;
    scene_begin(&s);
    espl_transform huge = test_at(0, 0, 0), far = test_at(3e38f, 0, 0);

    huge.scale = 1e30f;
    ck_assert_int_eq(espl_set_local(s.world, s.child, &huge), ESPL_OK);
    const uint64_t before = test_physical_hash(s.world);
    ck_assert_int_eq(espl_set_local(s.world, s.root, &huge), ESPL_ERR_RANGE);
    ck_assert_int_eq(espl_set_world(s.world, s.root, &huge), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(s.world), before);

    ck_assert_int_eq(espl_set_local(s.world, s.solo, &far), ESPL_OK);
    const espl_attach_options keep_local = {
        .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};
    const uint64_t then = test_physical_hash(s.world);
    ck_assert_int_eq(espl_attach(s.world, s.solo, s.child, &keep_local), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(s.world), then);
    scene_end(&s);
}
END_TEST

// --- Structure at the wrong time ---

static void refuse_while_busy(scene *s)
{
    const espl_component placement = ESPL_PLACEMENT;
    const espl_component_def def = {"late", 4, 4};
    const uint32_t value = 1;
    espl_component late = 0;
    espl_entity out;

    ck_assert_int_eq(espl_create(s->world, &placement, 1, 1, &out), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_attach(s->world, s->solo, s->root, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_detach(s->world, s->child, ESPL_STAY_WORLD), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_destroy(s->world, s->solo), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_destroy_subtree(s->world, s->solo), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_destroy_only(s->world, s->solo), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_instantiate(s->world, s->solo, 1, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_add(s->world, s->solo, s->number, &value, sizeof value), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_remove(s->world, s->solo, s->number), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_component_register(s->world, &def, &late), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_reserve(s->world, 10), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_play(s->world, s->commands, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_sync(s->world, NULL), ESPL_ERR_BUSY);
}

START_TEST(structure_is_refused_during_iteration)
{
    const espl_query_def all = {0};
    espl_query outer, inner;
    scene s;

    scene_begin(&s);
    ck_assert_int_eq(espl_commands_submit(s.commands), ESPL_OK);
    const uint64_t before = test_physical_hash(s.world);
    ck_assert_int_eq(espl_query_begin(s.world, &all, &outer), ESPL_OK);
    refuse_while_busy(&s);
    ck_assert(espl_query_next(&outer));
    refuse_while_busy(&s);
    ck_assert_int_eq(espl_query_begin(s.world, &all, &inner), ESPL_OK);
    espl_query_end(&inner);
    espl_query_end(&inner);
    refuse_while_busy(&s);
    const espl_transform moved = test_at(5, 5, 5), back = test_at(1, 2, 3);
    ck_assert_int_eq(espl_set_local(s.world, s.root, &moved), ESPL_OK);
    ck_assert_int_eq(espl_set_local(s.world, s.root, &back), ESPL_OK);
    while (espl_query_next(&outer)) {
        refuse_while_busy(&s);
    }
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    ck_assert_int_eq(espl_sync(s.world, NULL), ESPL_OK);
    ck_assert_int_eq(espl_attach(s.world, s.solo, s.root, NULL), ESPL_OK);
    scene_end(&s);
}
END_TEST

// Writes go on during iteration, but not during playback.
static void refuse_writes_while_playing(scene *s)
{
    uint64_t random = 1;

    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        const espl_write write = write_ordinary(s->child, (espl_write_kind)kind, &random);
        for (int form = 0; form < FORM_COUNT; ++form) {
            ck_assert_int_eq(form_write(s->world, &write, (write_form)form), ESPL_ERR_BUSY);
        }
    }
    const float point[3] = {9, 9, 9}, turn[4] = {0, 0.6f, 0, 0.8f};
    ck_assert_int_eq(espl_look_at(s->world, s->child, point, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_rotate_about(s->world, s->child, point, turn), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_set_inherit(s->world, s->child, ESPL_KEEP_X), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_reserve_side(s->world, s->child), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_reserve_writes(s->world, 100), ESPL_ERR_BUSY);
}

// An executor whose jobs call the world back while a playback runs.
typedef struct intruder {
    scene *scene;
    size_t intrusions;
    bool is_armed;
} intruder;

static void run_intruded(void *context, espl_job function, void *argument, size_t count)
{
    intruder *const in = context;

    for (size_t i = 0; i < count; ++i) {
        if (in->is_armed) {
            refuse_while_busy(in->scene);
            refuse_writes_while_playing(in->scene);
            in->intrusions += 1;
            in->is_armed = false;
        }
        function(argument, i);
    }
}

// Enough commands for every stage to be cut into several jobs.
static void record_many(espl_commands *commands, espl_entity source, size_t count)
{
    const espl_instance_def def = {.source = source};

    for (size_t i = 0; i < count; ++i) {
        ck_assert_int_eq(espl_record_instantiate(
                             espl_commands_recorder(commands, (uint32_t)(i % 2)), 0, &def, 1, NULL),
                         ESPL_OK);
    }
}

START_TEST(structure_is_refused_during_playback)
{
    intruder in = {0};
    const espl_executor executor = {&in, 2, run_intruded};
    scene s;
    espl_report report;

    // The scene's worlds are serial; this test needs its own.
    scene_begin(&s);
    test_world test;
    test_world_begin(&test, 6, &executor);
    scene inside = s;
    inside.world = test.world;
    inside.root = test_solo(test.world);
    inside.child = test_solo(test.world);
    inside.solo = test_solo(test.world);
    const espl_component_def def = {"number", sizeof(uint32_t), 4};
    ck_assert_int_eq(espl_component_register(test.world, &def, &inside.number), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, inside.child, inside.root, NULL), ESPL_OK);
    ck_assert_int_eq(espl_commands_create(test.world, 2, &inside.commands), ESPL_OK);
    record_many(inside.commands, inside.solo, 20000);

    in = (intruder){.scene = &inside, .is_armed = true};
    ck_assert_int_eq(espl_play(test.world, inside.commands, &report), ESPL_OK);
    ck_assert_uint_eq(in.intrusions, 1);
    ck_assert_uint_eq(report.applied, 20000);
    espl_commands_destroy(inside.commands);
    test_world_end(&test);
    scene_end(&s);
}
END_TEST

START_TEST(an_executor_that_miscounts_leaves_the_world_untouched)
{
    const test_manner manners[3] = {TEST_SKIPS_ONE, TEST_RUNS_TWICE, TEST_OUT_OF_RANGE};

    for (int i = 0; i < 3; ++i) {
        test_executor broken = {.manner = TEST_IN_ORDER, .workers = 2};
        const espl_executor executor = test_executor_of(&broken);
        espl_commands *commands = NULL;
        espl_report report;
        test_world test;

        test_world_begin(&test, 7, &executor);
        const espl_entity source = test_solo(test.world);
        ck_assert_int_eq(espl_commands_create(test.world, 2, &commands), ESPL_OK);
        record_many(commands, source, 20000);
        const uint64_t before = test_physical_hash(test.world);
        broken.manner = manners[i];
        ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_ERR_EXECUTOR);
        ck_assert_uint_eq(report.accepted, 0);
        ck_assert_uint_eq(test_physical_hash(test.world), before);
        test_world_is_valid(test.world);

        broken.manner = TEST_IN_ORDER;
        ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
        ck_assert_uint_eq(report.applied, 20000);
        espl_commands_destroy(commands);
        test_world_end(&test);
    }
}
END_TEST

// --- Components and limits ---

START_TEST(components_are_checked)
{
    scene s;
    scene_begin(&s);
    espl_component out = 99;
    const espl_component_def taken = {"number", 4, 4}, nameless = {NULL, 4, 4}, empty = {"", 4, 4},
                             crooked = {"crooked", 4, 3}, wide = {"wide", 4, 512},
                             large = {"large", 4097, 1}, tag = {"tag", 0, 0};
    const uint32_t value = 1;

    ck_assert_int_eq(espl_component_register(s.world, &taken, &out), ESPL_ERR_EXISTS);
    ck_assert_int_eq(espl_component_register(s.world, &nameless, &out), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_component_register(s.world, &empty, &out), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_component_register(s.world, &crooked, &out), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_component_register(s.world, &wide, &out), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_component_register(s.world, &large, &out), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(out, 99);
    ck_assert_int_eq(espl_component_register(s.world, &tag, &out), ESPL_OK);
    ck_assert_int_eq(espl_add(s.world, s.solo, out, NULL, 0), ESPL_OK);
    ck_assert(espl_has(s.world, s.solo, out));

    ck_assert_int_eq(espl_add(s.world, s.solo, 500, &value, 4), ESPL_ERR_NO_COMPONENT);
    ck_assert_int_eq(espl_set(s.world, s.solo, s.number, &value, 4), ESPL_ERR_NO_COMPONENT);
    ck_assert_int_eq(espl_add(s.world, s.solo, s.number, &value, 3), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_add(s.world, s.solo, ESPL_ROOT, NULL, 0), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_remove(s.world, s.solo, ESPL_SOLO), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_remove(s.world, s.solo, ESPL_PLACEMENT), ESPL_ERR_ARGUMENT);
    scene_end(&s);
}
END_TEST

START_TEST(creation_is_checked)
{
    scene s;
    scene_begin(&s);
    const espl_component role = ESPL_MEMBER, unknown = 700, twice[2] = {s.number, s.number};
    const espl_component placement = ESPL_PLACEMENT;
    const uint64_t before = test_physical_hash(s.world);

    ck_assert_int_eq(espl_create(s.world, &role, 1, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_create(s.world, &unknown, 1, 1, NULL), ESPL_ERR_NO_COMPONENT);
    ck_assert_int_eq(espl_create(s.world, twice, 2, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_create(s.world, &placement, 1, 0, NULL), ESPL_OK);
    ck_assert_int_eq(espl_create(s.world, &placement, 1, (size_t)1 << 40, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_create(s.world, &placement, 1, SIZE_MAX, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_instantiate(s.world, s.root, 0, NULL), ESPL_OK);
    ck_assert_int_eq(espl_instantiate(s.world, s.root, (size_t)1 << 40, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_instantiate(s.world, s.root, SIZE_MAX, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_reserve(s.world, SIZE_MAX), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end(&s);
}
END_TEST

START_TEST(an_entity_without_placement_has_no_transform)
{
    scene s;
    scene_begin(&s);
    const espl_transform value = test_at(1, 1, 1);
    espl_transform out;
    float position[3];
    espl_entity bare;

    ck_assert_int_eq(espl_create(s.world, NULL, 0, 1, &bare), ESPL_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(espl_get_world(s.world, bare, &out), ESPL_ERR_NO_TRANSFORM);
        ck_assert_int_eq(espl_get_local(s.world, bare, &out), ESPL_ERR_NO_TRANSFORM);
        ck_assert_int_eq(espl_get_world_position(s.world, bare, position), ESPL_ERR_NO_TRANSFORM);
        ck_assert_int_eq(espl_set_local(s.world, bare, &value), ESPL_ERR_NO_TRANSFORM);
        ck_assert_int_eq(espl_set_world(s.world, bare, &value), ESPL_ERR_NO_TRANSFORM);
        ck_assert_int_eq(espl_attach(s.world, bare, s.root, NULL), ESPL_OK);
    }
    scene_end(&s);
}
END_TEST

START_TEST(a_query_is_checked)
{
    const espl_component unknown = 900;
    espl_component many[ESPL_SET_LIMIT + 1];
    espl_query query;
    scene s;

    scene_begin(&s);
    for (size_t i = 0; i <= ESPL_SET_LIMIT; ++i) {
        many[i] = s.number;
    }
    const espl_query_def names_unknown = {.all = &unknown, .all_count = 1};
    const espl_query_def names_many = {.none = many, .none_count = ESPL_SET_LIMIT + 1};
    ck_assert_int_eq(espl_query_begin(s.world, &names_unknown, &query), ESPL_ERR_NO_COMPONENT);
    ck_assert_int_eq(espl_query_begin(s.world, &names_many, &query), ESPL_ERR_LIMIT);
    // A refused begin is no iteration.
    ck_assert_int_eq(espl_attach(s.world, s.solo, s.root, NULL), ESPL_OK);
    scene_end(&s);
}
END_TEST

// --- Commands ---

START_TEST(recording_is_checked)
{
    scene s;
    scene_begin(&s);
    espl_recorder *const recorder = espl_commands_recorder(s.commands, 1);
    espl_commands *other = NULL;
    espl_entity alien;
    const uint32_t number = 1;
    const espl_component_value short_value = {s.number, 3, &number}, unknown = {600, 4, &number},
                               role = {ESPL_ROOT, 0, NULL};
    espl_instance_def def = {.source = s.solo};

    ck_assert_int_eq(espl_commands_create(s.world, 0, &other), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_create(s.world, ESPL_LANE_LIMIT + 1, &other), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_create(s.world, ESPL_LANE_LIMIT, &other), ESPL_OK);
    ck_assert_ptr_null(espl_commands_recorder(other, ESPL_LANE_LIMIT));
    ck_assert_ptr_null(espl_commands_recorder(s.commands, 2));
    ck_assert_int_eq(
        espl_record_instantiate(espl_commands_recorder(other, 255), 0, &def, 1, &alien), ESPL_OK);

    ck_assert_int_eq(espl_record_destroy(NULL, 0, s.solo), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_record_destroy(recorder, 0, espl_entity_null()), ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(espl_record_destroy(recorder, 0, alien), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_destroy_only(recorder, 0, alien), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_destroy_subtree(recorder, 0, alien), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_attach(recorder, 0, alien, s.solo, NULL), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_attach(recorder, 0, s.solo, alien, NULL), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_attach(recorder, 0, s.solo, espl_entity_null(), NULL),
                     ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(espl_record_detach(recorder, 0, alien, ESPL_STAY_WORLD), ESPL_ERR_FOREIGN);

    def.values = &short_value;
    def.value_count = 1;
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.values = &unknown;
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.values = &role;
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.value_count = ESPL_SET_LIMIT + 1;
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.value_count = 0;
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 0, NULL), ESPL_OK);
    ck_assert_int_eq(
        espl_record_instantiate(recorder, 0, &def, (size_t)ESPL_PENDING_LIMIT + 1, NULL),
        ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl_commands_count(s.commands), 1);
    espl_commands_destroy(other);
    scene_end(&s);
}
END_TEST

START_TEST(playing_is_checked)
{
    scene s;
    scene_begin(&s);
    espl_report report;
    espl_entity out = s.solo;

    ck_assert_int_eq(espl_commands_result(s.commands, 0, 0), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_resolve(s.commands, s.pending, &out), ESPL_ERR_DEAD);
    ck_assert_int_eq(espl_play(s.elsewhere.world, s.commands, &report), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(report.accepted, 0);
    ck_assert_int_eq(espl_play(s.world, s.commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 1);
    ck_assert_int_eq(espl_play(s.world, s.commands, &report), ESPL_ERR_PLAYED);
    ck_assert_uint_eq(report.accepted, 0);
    ck_assert_int_eq(espl_commands_submit(s.commands), ESPL_ERR_PLAYED);
    ck_assert_int_eq(espl_record_destroy(espl_commands_recorder(s.commands, 0), 0, s.solo),
                     ESPL_ERR_PLAYED);
    ck_assert_int_eq(espl_commands_result(s.commands, 0, 0), ESPL_OK);
    ck_assert_int_eq(espl_commands_result(s.commands, 0, 1), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_result(s.commands, 2, 0), ESPL_ERR_ARGUMENT);

    ck_assert_int_eq(espl_commands_resolve(s.commands, espl_entity_null(), &out),
                     ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(espl_commands_resolve(s.commands, s.root, &out), ESPL_ERR_ARGUMENT);
    ck_assert(espl_entity_equal(out, s.solo));
    ck_assert_int_eq(espl_commands_resolve(s.commands, s.pending, &out), ESPL_OK);
    ck_assert(espl_is_alive(s.world, out));

    espl_commands_reset(s.commands);
    ck_assert_int_eq(espl_commands_resolve(s.commands, s.pending, &out), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_destroy(espl_commands_recorder(s.commands, 0), 0, s.pending),
                     ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_play(s.world, s.commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 0);
    scene_end(&s);
}
END_TEST

START_TEST(an_object_is_submitted_once_and_played_in_line)
{
    scene s;
    scene_begin(&s);
    espl_commands *second = NULL;
    espl_report report;
    const espl_transform first_value = test_at(1, 0, 0), second_value = test_at(2, 0, 0);

    ck_assert_int_eq(espl_commands_create(s.world, 1, &second), ESPL_OK);
    ck_assert_int_eq(
        espl_record_set_local(espl_commands_recorder(s.commands, 1), 9, s.solo, &first_value),
        ESPL_OK);
    ck_assert_int_eq(
        espl_record_set_local(espl_commands_recorder(second, 0), 0, s.solo, &second_value),
        ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(espl_commands_recorder(second, 0), 0, s.dead), ESPL_OK);
    ck_assert_int_eq(espl_commands_submit(s.commands), ESPL_OK);
    ck_assert_int_eq(espl_commands_submit(s.commands), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_commands_submit(second), ESPL_OK);
    ck_assert_int_eq(espl_sync(s.world, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 4);
    ck_assert_uint_eq(report.applied, 3);
    ck_assert_uint_eq(report.refused, 1);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 1);
    ck_assert_float_eq(test_world_of(s.world, s.solo).position[0], 2);
    ck_assert_int_eq(espl_commands_submit(second), ESPL_ERR_PLAYED);
    ck_assert_int_eq(espl_sync(s.world, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 0);
    espl_commands_destroy(second);
    scene_end(&s);
}
END_TEST

START_TEST(each_status_has_a_name_and_a_text)
{
    for (int status = -18; status <= 2; ++status) {
        ck_assert_str_ne(espl_status_name((espl_status)status), "unknown status");
        ck_assert_uint_gt(strlen(espl_status_text((espl_status)status)), 10);
    }
}
END_TEST

static Suite *misuse_suite(void)
{
    Suite *const suite = suite_create("misuse");
    TCase *const tcase = tcase_create("bad input");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, each_bad_handle_is_refused_by_each_call);
    tcase_add_test(tcase, a_bad_sibling_is_refused);
    tcase_add_test(tcase, no_entity_comes_to_stand_below_itself);
    tcase_add_test(tcase, enumerations_out_of_range_are_refused);
    tcase_add_test(tcase, missing_pointers_are_refused);
    tcase_add_test(tcase, a_world_checks_its_definition);
    tcase_add_test(tcase, no_field_may_be_infinite_or_no_number);
    tcase_add_test(tcase, denormal_zero_and_negative_values_are_legal);
    tcase_add_test(tcase, a_rotation_off_unit_length_is_normalised);
    tcase_add_test(tcase, a_world_out_of_range_is_refused_wherever_it_would_be);
    tcase_add_test(tcase, structure_is_refused_during_iteration);
    tcase_add_test(tcase, structure_is_refused_during_playback);
    tcase_add_test(tcase, an_executor_that_miscounts_leaves_the_world_untouched);
    tcase_add_test(tcase, components_are_checked);
    tcase_add_test(tcase, creation_is_checked);
    tcase_add_test(tcase, an_entity_without_placement_has_no_transform);
    tcase_add_test(tcase, a_query_is_checked);
    tcase_add_test(tcase, recording_is_checked);
    tcase_add_test(tcase, playing_is_checked);
    tcase_add_test(tcase, an_object_is_submitted_once_and_played_in_line);
    tcase_add_test(tcase, each_status_has_a_name_and_a_text);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(misuse_suite)

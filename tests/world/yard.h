// SPDX-License-Identifier: MIT
// What doubling is tried on: a yard with hierarchies of a size, and in a table every structural call
// and every kind of write, at once and recorded, as something that is done in it.
#ifndef ESPALIER_TESTS_WORLD_YARD_H
#define ESPALIER_TESTS_WORLD_YARD_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asserts.h"
#include "tests/gauge.h"
#include "tests/world/parallel.h"

#include <stdlib.h>
#include <string.h>

// --- A yard: what is touched, and idle trees beside it ---

typedef enum shape { SOLOS = 1, STAR = 2, CHAIN = 4, HEAP = 8 } shape;

// Idle hierarchies are pairs.
enum { IDLE_TREE = 2 };
enum { TREES = STAR | CHAIN | HEAP, ALL = SOLOS | TREES, SHAPES = 4 };

typedef struct yard {
    gauge memory;
    test_hooks hooks;
    espl_world *world;
    espl_entity *e;     // [n] those that are touched, parents first
    espl_entity *other; // [n] the same again, for a call beforehand
    espl_entity *idle;
    uint32_t n;
    espl_entity aside, other_aside; // solos
    espl_component word, mark;
    espl_custom_command callback;
    espl_command_buffer *commands;
    espl_recorder *recorder;
    uint64_t random;
    size_t heard; // payloads
} yard;

// A call that is measured: at once, or recorded for each of the entities and played.
typedef struct entry {
    const char *name;
    unsigned shapes;
    espl_status (*call)(yard *y, uint32_t kind);
    espl_status (*record)(yard *y, uint32_t i, uint32_t kind);
    bool has_kinds;  // of writes: it is tried with each
    bool is_for_all; // it concerns all there is
} entry;

static inline uint32_t parent_at(shape plan, uint32_t i)
{
    switch (plan) {
    case STAR:
        return i == 0 ? PLANT_ROOT : 0;
    case CHAIN:
        return i == 0 ? PLANT_ROOT : i - 1;
    case HEAP:
        return i == 0 ? PLANT_ROOT : (i - 1) / 3;
    case SOLOS:
        break;
    }
    return PLANT_ROOT;
}

static inline espl_entity *plant(espl_world *world, shape plan, uint32_t count, uint32_t tree)
{
    uint32_t *const parent = calloc(count + 1, sizeof *parent);

    ck_assert_ptr_nonnull(parent);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t above = parent_at(plan, i % tree);

        parent[i] = above == PLANT_ROOT ? PLANT_ROOT : i - i % tree + above;
    }
    espl_entity *const entities = plant_forest(world, parent, count);
    free(parent);
    return entities;
}

static inline void hear_nothing(void *user, const espl_custom_calls *calls)
{
    *(size_t *)user += calls->count;
}

static inline void yard_begin(yard *y, shape plan, uint32_t n, uint32_t idle)
{
    static const espl_component_def word = {.name = "word", .size = 4, .alignment = 4};
    static const espl_component_def mark = {.name = "mark"};
    const espl_custom_command_def callback = {
        .name = "hear", .user = &y->heard, .function = hear_nothing};

    memset(y, 0, sizeof *y);
    gauge_begin(&y->memory);
    const espl_world_def def = {
        .allocator = gauge_allocator(&y->memory), .hooks = test_hooks_of(&y->hooks), .tag = 3};
    ck_assert_int_eq(espl_world_create(&y->world, &def), ESPL_OK);
    ck_assert_int_eq(espl_component_register(y->world, &word, &y->word), ESPL_OK);
    ck_assert_int_eq(espl_component_register(y->world, &mark, &y->mark), ESPL_OK);
    ck_assert_int_eq(espl_register_command(y->world, &callback, &y->callback), ESPL_OK);
    y->n = n;
    y->random = 7;
    y->e = plant(y->world, plan, n, n);
    y->other = idle > 0 ? plant(y->world, plan, n, n) : NULL;
    y->idle = plant(y->world, CHAIN, idle * IDLE_TREE, IDLE_TREE);
    y->aside = test_solo(y->world);
    y->other_aside = test_solo(y->world);
    if (idle > 0) {
        // Or the one call that finds all arrays full would pay for all that come.
        ck_assert_int_eq(espl_reserve(y->world, &(espl_reserve_def){.entities = 4 * (size_t)n}),
                         ESPL_OK);
    }
    ck_assert_int_eq(espl_command_buffer_create(y->world, 1, &y->commands), ESPL_OK);
    y->recorder = espl_command_buffer_recorder(y->commands, 0);
}

static inline void yard_end(yard *y)
{
    test_world_is_valid(y->world);
    espl_command_buffer_destroy(y->commands);
    espl_world_destroy(y->world);
    ck_assert_uint_eq(y->memory.heap.bytes, 0);
    free(y->e);
    free(y->other);
    free(y->idle);
}

// A value that changes something, and under which a chain of any length neither grows nor shrinks. Past
// the first ones it mirrors: where factors might add up to an overflow recorded writes cost what calls
// at once do, each of them all that hangs below it. Nor does it turn then: a product of half a million
// rotations is off unit length by so much that positions grow.
static inline espl_write write_of(yard *y, uint32_t i, uint32_t kind)
{
    enum { SCALED = 64 };
    const float factor = i >= SCALED ? -1 : i % 2 == 0 ? 0.5f : 2;
    espl_write write = write_ordinary(y->e[i], (espl_write_kind)kind, &y->random);

    switch (form_type(write.kind)) {
    case VALUE_SCALE:
        write.value.scale = factor;
        break;
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        write.value.transform.scale = factor;
        if (i >= SCALED) {
            const float identity[4] = {0, 0, 0, 1};

            memcpy(write.value.transform.rotation, identity, sizeof identity);
            write.value.transform.stretch[2] = factor;
        }
        break;
    case VALUE_POSITION:
    case VALUE_ROTATION:
    case VALUE_STRETCH:
    case VALUE_CONTEXT:
        break;
    }
    return write;
}

// --- Calls at once ---

static inline espl_status create(yard *y, uint32_t kind)
{
    const espl_component set[2] = {ESPL_TRANSFORM, y->word};
    espl_entity *const made = calloc(y->n, sizeof *made);

    (void)kind;
    const espl_status status = espl_create(y->world, set, 2, y->n, made);
    free(made);
    return status;
}

static inline espl_status clone_tree(yard *y, uint32_t kind)
{
    espl_entity made;

    (void)kind;
    return espl_instantiate(y->world, y->e[0], 1, &made);
}

static inline espl_status clone_one_often(yard *y, uint32_t kind)
{
    espl_entity *const made = calloc(y->n, sizeof *made);

    (void)kind;
    const espl_status status = espl_instantiate(y->world, y->aside, y->n, made);
    free(made);
    return status;
}

static inline espl_status attach_whole(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_attach(y->world, y->e[0], y->aside, NULL);
}

static inline espl_status attach_to_first(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_attach(y->world, y->aside, y->e[0], NULL);
}

static inline espl_status attach_to_last(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_attach(y->world, y->aside, y->e[y->n - 1], NULL);
}

static inline espl_status detach_second(yard *y, uint32_t kind)
{
    (void)kind;
    return y->n > 1 ? espl_detach(y->world, y->e[1], ESPL_KEEP_WORLD) : ESPL_OK;
}

static inline espl_status last_becomes_first(yard *y, uint32_t kind)
{
    (void)kind;
    return y->n > 2 ? espl_set_sibling(y->world, y->e[y->n - 1], y->e[1]) : ESPL_OK;
}

// Each to the one before it, whose tree it may be in already. No world is read for it, since paths to
// the root grow as well. (In a heap it takes 1.6 nodes each of 16, and 2.3 each of many.)
static inline espl_status attach_all(yard *y, uint32_t kind)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

    (void)kind;
    return y->n > 1 ? espl_attach_many(y->world, y->e + 1, y->e, y->n - 1, &options, NULL)
                    : ESPL_OK;
}

static inline espl_status destroy_all(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_destroy_many(y->world, y->e, y->n, ESPL_EXTENT_ENTITY, NULL);
}

static inline espl_status destroy_all_owned(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_destroy_many(y->world, y->e, y->n, ESPL_EXTENT_OWNED, NULL);
}

static inline espl_status clear_world(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_world_clear(y->world);
}

// Then a clone has the names too.
static inline espl_status name_and_clone(yard *y, uint32_t kind)
{
    espl_entity made;
    espl_status status = ESPL_OK;

    (void)kind;
    for (uint32_t i = 0; i < y->n && status == ESPL_OK; ++i) {
        status = espl_set_name(y->world, y->e[i], "name");
    }
    return status == ESPL_OK ? espl_instantiate(y->world, y->e[0], 1, &made) : status;
}

static inline espl_status destroy_first(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_destroy(y->world, y->e[0], ESPL_EXTENT_OWNED);
}

static inline espl_status destroy_subtree(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_destroy(y->world, y->e[0], ESPL_EXTENT_SUBTREE);
}

static inline espl_status destroy_only_first(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_destroy(y->world, y->e[0], ESPL_EXTENT_ENTITY);
}

// A view lays the tree out.
static inline espl_status view_without_middle(yard *y, uint32_t kind)
{
    espl_view view;

    (void)kind;
    const espl_status status = espl_destroy(y->world, y->e[y->n / 2], ESPL_EXTENT_ENTITY);
    return status == ESPL_OK && y->n > 1 ? espl_view_hierarchy(y->world, y->e[y->n - 1], &view)
                                         : status;
}

static inline espl_status disable_and_enable(yard *y, uint32_t kind)
{
    (void)kind;
    const espl_status status = espl_disable(y->world, y->e[0], ESPL_EXTENT_SUBTREE);
    return status == ESPL_OK ? espl_enable(y->world, y->e[0], ESPL_EXTENT_OWNED) : status;
}

static inline espl_status change_array(yard *y, uint32_t kind)
{
    const uint32_t number = 5;
    const espl_component_value gain[2] = {{.component = y->word, .size = 4, .data = &number},
                                          {.component = y->mark}};
    const espl_change_def change = {.add = gain, .add_count = 2};

    (void)kind;
    return espl_change_components_array(y->world, y->e, y->n, &change, NULL);
}

static inline espl_status change_query(yard *y, uint32_t kind)
{
    const espl_component_value gain = {.component = y->mark};
    const espl_change_def change = {.add = &gain, .add_count = 1};

    (void)kind;
    return espl_change_components_query(y->world, NULL, &change, NULL);
}

static inline espl_status take_placement(yard *y, uint32_t kind)
{
    const espl_transform value = test_at(1, 2, 3);

    (void)kind;
    const espl_status status = espl_remove_component(y->world, y->e[0], ESPL_TRANSFORM);
    return status >= 0 ? espl_add_component(y->world, y->e[0], ESPL_TRANSFORM, &value, sizeof value)
                       : status;
}

static inline espl_status set_inherit(yard *y, uint32_t kind)
{
    (void)kind;
    return y->n > 1 ? espl_set_inherit(y->world, y->e[1], ESPL_ABSOLUTE_ROTATION) : ESPL_OK;
}

static inline espl_status reserve_side(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_reserve(y->world, &(espl_reserve_def){.side_of = y->e[0]});
}

static inline espl_status trim(yard *y, uint32_t kind)
{
    (void)kind;
    return espl_compact(y->world);
}

static inline espl_status write_first(yard *y, uint32_t kind)
{
    const espl_write write = write_of(y, 0, kind);

    return form_write(y->world, &write, FORM_FUNCTION);
}

static inline espl_status write_last(yard *y, uint32_t kind)
{
    const espl_write write = write_of(y, y->n - 1, kind);

    return form_write(y->world, &write, FORM_FUNCTION);
}

static inline espl_status look_and_turn(yard *y, uint32_t kind)
{
    const float at[3] = {4, 5, 6}, by[4] = {0, 0.6f, 0, 0.8f};

    (void)kind;
    const espl_status status = espl_look_at(y->world, y->e[0], at, NULL, ESPL_AXIS_FORWARD);
    return status >= 0 ? espl_rotate_about(y->world, y->e[0], at, by) : status;
}

// All of them, in any order.
static inline espl_status write_batch(yard *y, uint32_t kind)
{
    espl_write *const writes = calloc(y->n, sizeof *writes);

    for (uint32_t i = 0; i < y->n; ++i) {
        writes[i] = write_of(y, i, kind);
    }
    shuffle_writes(writes, y->n, &y->random);
    const espl_status status = espl_write_batch(y->world, writes, y->n, NULL);
    free(writes);
    return status;
}

static inline void move_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const float step[3] = {1, 2, 3};

    (void)context;
    for (size_t row = 0; row < rows->count; ++row) {
        (void)!espl_writer_write(writer, rows->entities[row], ESPL_WRITE_LOCAL_POSITION, step,
                                 ESPL_SITE);
    }
}

// Parents first costs what each writes; the small ones that are written last are written once.
static inline espl_status write_parallel(yard *y, uint32_t kind)
{
    const espl_component all[] = {ESPL_SOLO};
    const espl_query_def query = {.any = all, .any_count = 1};
    const espl_parallel_def def = {.query = &query, .function = move_rows};

    (void)kind;
    return espl_write_parallel(y->world, &def, NULL);
}

// --- Recorded, for each entity ---

static inline espl_status record_spawn_below(yard *y, uint32_t i, uint32_t at)
{
    const espl_instance_def def = {.source = y->aside, .parent = y->e[at]};
    espl_entity made;

    return espl_record_instantiate(y->recorder, i, &def, 1, &made);
}

static inline espl_status record_spawn_below_first(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return record_spawn_below(y, i, 0);
}

static inline espl_status record_spawn_below_each(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return record_spawn_below(y, i, i);
}

static inline espl_status record_create_below_each(yard *y, uint32_t i, uint32_t kind)
{
    const espl_component_value values[2] = {
        {.component = ESPL_TRANSFORM, .size = sizeof(espl_transform)},
        {.component = y->word, .size = sizeof(uint32_t)}};
    const espl_creation_def def = {.values = values, .value_count = 2, .parent = y->e[i]};
    espl_entity made;

    (void)kind;
    return espl_record_create(y->recorder, i, &def, 1, &made);
}

// From the last on, so that each dies by its own command.
static inline espl_status record_destroy(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return espl_record_destroy(y->recorder, i, y->e[y->n - 1 - i], ESPL_EXTENT_OWNED);
}

static inline espl_status record_destroy_subtree(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return espl_record_destroy(y->recorder, i, y->e[y->n - 1 - i], ESPL_EXTENT_SUBTREE);
}

// From the first on: what is below goes up each time.
static inline espl_status record_destroy_only(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return espl_record_destroy(y->recorder, i, y->e[i], ESPL_EXTENT_ENTITY);
}

static inline espl_status record_attach_to_first(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i > 0 ? espl_record_attach(y->recorder, i, y->e[i], y->e[0], NULL) : ESPL_OK;
}

static inline espl_status record_attach_to_next(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i > 0 ? espl_record_attach(y->recorder, i, y->e[i], y->e[i - 1], NULL) : ESPL_OK;
}

static inline espl_status record_attach_aside(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return espl_record_attach(y->recorder, i, y->e[y->n - 1 - i], y->aside, NULL);
}

static inline espl_status record_detach_down(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i > 0 ? espl_record_detach(y->recorder, i, y->e[i], ESPL_KEEP_WORLD) : ESPL_OK;
}

static inline espl_status record_detach_up(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i + 1 < y->n ? espl_record_detach(y->recorder, i, y->e[y->n - 1 - i], ESPL_KEEP_LOCAL)
                        : ESPL_OK;
}

// Away and back.
static inline espl_status record_come_and_go(yard *y, uint32_t i, uint32_t kind)
{
    espl_status status = record_detach_down(y, i, kind);

    if (status == ESPL_OK && i > 0) {
        status = espl_record_attach(y->recorder, i, y->e[i], y->e[0], NULL);
    }
    return status;
}

static inline espl_status record_sibling(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i > 1 ? espl_record_set_sibling(y->recorder, i, y->e[i], y->e[1]) : ESPL_OK;
}

static inline espl_status record_write(yard *y, uint32_t i, uint32_t kind)
{
    const espl_write write = write_of(y, i, kind);

    return espl_record_write(y->recorder, i, write.entity, write.kind, &write.value);
}

static inline espl_status record_inherit(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return i > 0 ? espl_record_set_inherit(y->recorder, i, y->e[i], ESPL_ABSOLUTE_ROTATION)
                 : ESPL_OK;
}

static inline espl_status record_components(yard *y, uint32_t i, uint32_t kind)
{
    espl_status status = espl_record_add_component(y->recorder, i, y->e[i], y->word, &i, sizeof i);

    (void)kind;
    status = status == ESPL_OK
                 ? espl_record_add_component(y->recorder, i, y->e[i], y->mark, NULL, 0)
                 : status;
    status = status == ESPL_OK
                 ? espl_record_set_component(y->recorder, i, y->e[i], y->word, &i, sizeof i)
                 : status;
    return status == ESPL_OK ? espl_record_remove_component(y->recorder, i, y->e[i], y->mark)
                             : status;
}

static inline espl_status record_change(yard *y, uint32_t i, uint32_t kind)
{
    const espl_component_value gain = {.component = y->mark};
    const espl_change_def change = {.add = &gain, .add_count = 1};

    (void)kind;
    return espl_record_change_components(y->recorder, i, y->e[i], &change);
}

static inline espl_status record_placements(yard *y, uint32_t i, uint32_t kind)
{
    const espl_transform value = test_at(1, 2, 3);
    const espl_status status =
        espl_record_remove_component(y->recorder, i, y->e[i], ESPL_TRANSFORM);

    (void)kind;
    return status == ESPL_OK && i % 2 == 0
               ? espl_record_add_component(y->recorder, i, y->e[i], ESPL_TRANSFORM, &value,
                                           sizeof value)
               : status;
}

static inline espl_status record_disable(yard *y, uint32_t i, uint32_t kind)
{
    const espl_status status = espl_record_disable(y->recorder, i, y->e[i], ESPL_EXTENT_ENTITY);

    (void)kind;
    return status == ESPL_OK && i % 2 == 0
               ? espl_record_enable(y->recorder, i, y->e[i], ESPL_EXTENT_ENTITY)
               : status;
}

static inline espl_status record_payload(yard *y, uint32_t i, uint32_t kind)
{
    (void)kind;
    return espl_record_custom(y->recorder, i, y->callback, &i, sizeof i, 4);
}

// --- All of them ---

static const entry entries[] = {
    {"create", SOLOS, .call = create},
    {"clone a tree", TREES, .call = clone_tree},
    {"clone one often", SOLOS, .call = clone_one_often},
    {"attach a whole", ALL, .call = attach_whole},
    {"attach to the first", TREES, .call = attach_to_first},
    {"attach to the last", TREES, .call = attach_to_last},
    {"detach the second", TREES, .call = detach_second},
    {"the last sibling becomes the first", STAR, .call = last_becomes_first},
    {"attach many", SOLOS | STAR | CHAIN, .call = attach_all},
    {"destroy many", ALL, .call = destroy_all},
    {"destroy many with what they own", ALL, .call = destroy_all_owned},
    {"clear", ALL, .call = clear_world, .is_for_all = true},
    {"name and clone", ALL, .call = name_and_clone},
    {"destroy", TREES, .call = destroy_first},
    {"destroy a subtree", TREES, .call = destroy_subtree},
    {"destroy only the first", TREES, .call = destroy_only_first},
    {"view", TREES, .call = view_without_middle},
    {"disable and enable", TREES, .call = disable_and_enable},
    {"change an array", ALL, .call = change_array},
    {"change by a query", ALL, .call = change_query, .is_for_all = true},
    {"take and give a placement", TREES, .call = take_placement},
    {"set inherit flags", TREES, .call = set_inherit},
    {"reserve a side", TREES, .call = reserve_side},
    {"trim", ALL, .call = trim, .is_for_all = true},
    {"write the first", TREES, .call = write_first, .has_kinds = true},
    {"write the last", TREES, .call = write_last, .has_kinds = true},
    {"look and turn", TREES, .call = look_and_turn},
    {"write a batch", ALL, .call = write_batch, .has_kinds = true},
    {"write in parallel", SOLOS, .call = write_parallel, .is_for_all = true},
    {"record: spawn below the first", ALL, .record = record_spawn_below_first},
    {"record: spawn below each", ALL, .record = record_spawn_below_each},
    {"record: create below each", ALL, .record = record_create_below_each},
    {"record: destroy", ALL, .record = record_destroy},
    {"record: destroy subtrees", ALL, .record = record_destroy_subtree},
    {"record: destroy only", ALL, .record = record_destroy_only},
    {"record: attach to the first", ALL, .record = record_attach_to_first},
    {"record: attach to the next", ALL, .record = record_attach_to_next},
    {"record: attach aside", ALL, .record = record_attach_aside},
    {"record: detach downwards", TREES, .record = record_detach_down},
    {"record: detach upwards", TREES, .record = record_detach_up},
    {"record: come and go", TREES, .record = record_come_and_go},
    {"record: siblings", STAR, .record = record_sibling},
    {"record: write", ALL, .record = record_write, .has_kinds = true},
    {"record: inherit flags", TREES, .record = record_inherit},
    {"record: components", ALL, .record = record_components},
    {"record: change", ALL, .record = record_change},
    {"record: placements", ALL, .record = record_placements},
    {"record: disable and enable", ALL, .record = record_disable},
    {"record: payloads", SOLOS, .record = record_payload},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

#endif

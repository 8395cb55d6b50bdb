// SPDX-License-Identifier: MIT
// What doubling_test measures: a world with trees of a size, and a table of every structural call and
// every kind of write, at once and recorded.
#ifndef ESPALIER_TESTS_WORLD_COSTS_H
#define ESPALIER_TESTS_WORLD_COSTS_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asserts.h"
#include "tests/gauge.h"
#include "tests/world/parallel.h"

#include <stdlib.h>
#include <string.h>

// --- The world: trees that are touched, and idle trees ---

typedef enum shape { SOLOS = 1, STAR = 2, CHAIN = 4, HEAP = 8 } shape;

// Idle hierarchies are pairs.
enum { IDLE_TREE = 2 };
enum { TREES = STAR | CHAIN | HEAP, ALL = SOLOS | TREES, SHAPES = 4 };

typedef struct costs_world {
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
} costs_world;

// A call that is measured: at once, or recorded for each of the entities and played.
typedef struct entry {
    const char *name;
    unsigned shapes, traits;
    espl_status (*call)(costs_world *w, uint32_t kind);
    espl_status (*record)(costs_world *w, uint32_t i, uint32_t kind);
} entry;

// KINDS: a write, which is tried with each kind. WHOLE: it concerns all that the world has. HALVES: it
// divides hierarchies again and again, which costs a logarithm for each node.
enum { KINDS = 1, WHOLE = 2, HALVES = 4 };

static inline espl_entity *make_shape(espl_world *world, shape plan, uint32_t trees, uint32_t nodes)
{
    return plan == SOLOS ? make_trees(world, trees * nodes, 1, 0)
                         : make_trees(world, trees, nodes,
                                      plan == STAR    ? 0
                                      : plan == CHAIN ? 1
                                                      : 3);
}

static inline void hear_nothing(void *user, const espl_custom_calls *calls)
{
    *(size_t *)user += calls->count;
}

static inline void costs_begin(costs_world *w, shape plan, uint32_t n, uint32_t idle)
{
    const espl_custom_command_def callback = {
        .name = "hear", .user = &w->heard, .function = hear_nothing};

    memset(w, 0, sizeof *w);
    gauge_begin(&w->memory);
    const espl_world_def def = {
        .allocator = gauge_allocator(&w->memory), .hooks = test_hooks_of(&w->hooks), .tag = 3};
    ck_ok(espl_world_create(&def, &w->world));
    w->word = test_component(w->world, "word", 4, 4);
    w->mark = test_component(w->world, "mark", 0, 0);
    ck_ok(espl_command_register(w->world, &callback, &w->callback));
    w->n = n;
    w->random = 7;
    w->e = make_shape(w->world, plan, 1, n);
    w->other = idle > 0 ? make_shape(w->world, plan, 1, n) : NULL;
    w->idle = make_shape(w->world, CHAIN, idle, IDLE_TREE);
    w->aside = test_solo(w->world);
    w->other_aside = test_solo(w->world);
    if (idle > 0) {
        // Or the one call that finds all arrays full would pay for all that come.
        ck_ok(espl_reserve(w->world, &(espl_reserve_def){.entities = 4 * (size_t)n}));
    }
    ck_ok(espl_command_buffer_create(w->world, 1, &w->commands));
    w->recorder = espl_command_buffer_recorder(w->commands, 0);
}

static inline void costs_end(costs_world *w)
{
    test_world_is_valid(w->world);
    espl_command_buffer_destroy(w->commands);
    espl_world_destroy(w->world);
    ck_assert_uint_eq(w->memory.heap.bytes, 0);
    free(w->e);
    free(w->other);
    free(w->idle);
}

// A value that changes something, and under which a chain of any length neither grows nor shrinks. Past
// the first ones it mirrors: where factors might add up to an overflow recorded writes cost what calls
// at once do, each of them all that hangs below it. Nor does it turn then: a product of half a million
// rotations is off unit length by so much that positions grow.
static inline espl_write write_of(costs_world *w, uint32_t i, uint32_t kind)
{
    enum { SCALED = 64 };
    const float factor = i >= SCALED ? -1 : i % 2 == 0 ? 0.5f : 2;
    espl_write write = write_ordinary(w->e[i], (espl_write_kind)kind, &w->random);

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

// --- Orders ---

// In which order the entities of a call come.
typedef enum order { FROM_FIRST, FROM_LAST, ALTERNATING, ANY_ORDER, ORDERS } order;

// The i-th entity in an order. In any order: by an odd step, because their number is a power of two, so
// that each comes once.
static inline espl_entity in_order(const costs_world *w, uint32_t i, order of)
{
    const uint32_t from_last = w->n - 1 - (of == ALTERNATING ? i / 2 : i),
                   step = (w->n * 2 / 5) | 1;

    ck_assert_uint_eq(w->n & (w->n - 1), 0);
    if (of == FROM_LAST || (of == ALTERNATING && i % 2 != 0)) {
        return w->e[from_last];
    }
    return w->e[of == ALTERNATING ? i / 2 : of == ANY_ORDER ? i * step % w->n : i];
}

// Call for each entity in an order.
typedef espl_status (*one_call)(costs_world *w, espl_entity entity);

static inline espl_status each_in_order(costs_world *w, order of, one_call call)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < w->n && status >= 0; ++i) {
        const espl_entity entity = in_order(w, i, of);

        status = espl_is_alive(w->world, entity) ? call(w, entity) : ESPL_OK;
    }
    return status;
}

// --- Calls at once ---

static inline espl_status destroy_one(costs_world *w, espl_entity entity)
{
    return espl_destroy(w->world, entity, ESPL_EXTENT_ENTITY);
}

static inline espl_status destroy_owned_one(costs_world *w, espl_entity entity)
{
    return espl_destroy(w->world, entity, ESPL_EXTENT_OWNED);
}

static inline espl_status detach_one(costs_world *w, espl_entity entity)
{
    return espl_detach(w->world, entity, ESPL_KEEP_WORLD);
}

// With a solo, in one call.
static inline espl_status destroy_two(costs_world *w, espl_entity entity)
{
    const espl_entity two[2] = {entity, w->aside};

    w->aside = test_solo(w->world);
    return espl_destroy_many(w->world, two, 2, ESPL_EXTENT_ENTITY, NULL);
}

static inline espl_status play_one(costs_world *w, espl_status recorded)
{
    const espl_status status =
        recorded == ESPL_OK ? espl_play(w->world, w->commands, NULL) : recorded;

    espl_command_buffer_reset(w->commands);
    return status;
}

static inline espl_status play_destroy_one(costs_world *w, espl_entity entity)
{
    return play_one(w, espl_record_destroy(w->recorder, 0, entity, ESPL_EXTENT_ENTITY));
}

static inline espl_status play_detach_one(costs_world *w, espl_entity entity)
{
    return play_one(w, espl_record_detach(w->recorder, 0, entity, ESPL_KEEP_WORLD));
}

static inline espl_status free_one(costs_world *w, espl_entity entity)
{
    const espl_attach_options rules = {.position = ESPL_KEEP_LOCAL,
                                       .rotation = ESPL_KEEP_LOCAL,
                                       .scale = ESPL_KEEP_LOCAL,
                                       .link = ESPL_LINK_FREE};
    const espl_entity parent = espl_get_parent(w->world, entity);

    return espl_entity_is_null(parent) ? ESPL_OK : espl_attach(w->world, entity, parent, &rules);
}

// Names, a component value each, and side arrays.
static inline espl_status dress_one(costs_world *w, espl_entity entity)
{
    const uint32_t number = 3;
    const espl_status status = espl_set_name(w->world, entity, "name");

    return status == ESPL_OK ? espl_add_component(w->world, entity, w->word, &number, sizeof number)
                             : status;
}

static inline espl_status dress(costs_world *w)
{
    const float stretch[3] = {1, 2, 1};
    const espl_status status = each_in_order(w, FROM_FIRST, dress_one);

    return status >= 0 ? espl_set_stretch(w->world, w->e[w->n - 1], stretch) : status;
}

static inline espl_status destroy_dressed(costs_world *w, order of)
{
    const espl_status status = dress(w);

    return status >= 0 ? each_in_order(w, of, destroy_one) : status;
}

static inline espl_status destroy_free(costs_world *w, order of)
{
    const espl_status status = each_in_order(w, FROM_LAST, free_one);

    return status >= 0 ? each_in_order(w, of, destroy_owned_one) : status;
}

// A leaf gets user data and loses it. Side arrays are there ahead, because taking and freeing them
// costs the hierarchy each time.
static inline espl_status toggle_one(costs_world *w, espl_entity entity)
{
    (void)entity;
    w->random += 1;
    return espl_set_user_data(w->world, w->e[w->n - 1], (uint32_t)(w->random % 2));
}

static inline espl_status toggle_leaf(costs_world *w)
{
    const espl_status status = espl_reserve(w->world, &(espl_reserve_def){.side_of = w->e[0]});

    return status >= 0 ? each_in_order(w, FROM_FIRST, toggle_one) : status;
}

static inline espl_status create_all(costs_world *w)
{
    const espl_component set[2] = {ESPL_TRANSFORM, w->word};
    espl_entity *const made = calloc(w->n, sizeof *made);

    const espl_status status = espl_create(w->world, set, 2, w->n, made);
    free(made);
    return status;
}

static inline espl_status clone_one_often(costs_world *w)
{
    espl_entity *const made = calloc(w->n, sizeof *made);

    const espl_status status =
        espl_instantiate(w->world, &(espl_instance_def){.source = w->aside}, w->n, made);
    free(made);
    return status;
}

// Then a clone has the names too.
static inline espl_status name_and_clone(costs_world *w)
{
    espl_entity made;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < w->n && status == ESPL_OK; ++i) {
        status = espl_set_name(w->world, w->e[i], "name");
    }
    return status == ESPL_OK
               ? espl_instantiate(w->world, &(espl_instance_def){.source = w->e[0]}, 1, &made)
               : status;
}

// A view lays the tree out.
static inline espl_status view_without_middle(costs_world *w)
{
    espl_view view;

    const espl_status status = espl_destroy(w->world, w->e[w->n / 2], ESPL_EXTENT_ENTITY);
    return status == ESPL_OK && w->n > 1 ? espl_view_hierarchy(w->world, w->e[w->n - 1], &view)
                                         : status;
}

static inline espl_status disable_and_enable(costs_world *w)
{
    const espl_status status = espl_set_enabled(w->world, w->e[0], ESPL_EXTENT_SUBTREE, false);
    return status == ESPL_OK ? espl_set_enabled(w->world, w->e[0], ESPL_EXTENT_OWNED, true)
                             : status;
}

static inline espl_status change_array(costs_world *w)
{
    const uint32_t number = 5;
    const espl_component_value gain[2] = {{.component = w->word, .size = 4, .data = &number},
                                          {.component = w->mark}};
    const espl_change_def change = {.add = gain, .add_count = 2};

    return espl_change_components_array(w->world, w->e, w->n, &change, NULL);
}

static inline espl_status change_query(costs_world *w)
{
    const espl_component_value gain = {.component = w->mark};
    const espl_change_def change = {.add = &gain, .add_count = 1};

    return espl_change_components_query(w->world, NULL, &change, NULL);
}

static inline espl_status take_placement(costs_world *w)
{
    const espl_transform value = test_at(1, 2, 3);

    const espl_status status = espl_remove_component(w->world, w->e[0], ESPL_TRANSFORM);
    return status >= 0 ? espl_add_component(w->world, w->e[0], ESPL_TRANSFORM, &value, sizeof value)
                       : status;
}

static inline espl_status write_node(costs_world *w, uint32_t i, uint32_t kind)
{
    const espl_write write = write_of(w, i, kind);

    return form_write(w->world, &write, FORM_FUNCTION);
}

static inline espl_status look_and_turn(costs_world *w)
{
    const float at[3] = {4, 5, 6}, by[4] = {0, 0.6f, 0, 0.8f};

    const espl_status status = espl_look_at(w->world, w->e[0], at, NULL, ESPL_AXIS_FORWARD);
    return status >= 0 ? espl_rotate_about(w->world, w->e[0], at, by) : status;
}

// All of them, in any order.
static inline espl_status write_batch(costs_world *w, uint32_t kind)
{
    espl_write *const writes = calloc(w->n, sizeof *writes);

    for (uint32_t i = 0; i < w->n; ++i) {
        writes[i] = write_of(w, i, kind);
    }
    shuffle_writes(writes, w->n, &w->random);
    const espl_status status = espl_write_batch(w->world, writes, w->n, NULL);
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
static inline espl_status write_parallel(costs_world *w)
{
    const espl_component all[] = {ESPL_SOLO};
    const espl_query_def query = {.any = all, .any_count = 1};
    const espl_parallel_def def = {.query = &query, .function = move_rows};

    return espl_write_parallel(w->world, &def, NULL);
}

// --- Recorded, for each entity ---

static inline espl_status record_instance(costs_world *w, uint32_t i, uint32_t at)
{
    const espl_instance_def def = {.source = w->aside, .parent = w->e[at]};
    espl_entity made;

    return espl_record_instantiate(w->recorder, i, &def, 1, &made);
}

static inline espl_status record_create_below_each(costs_world *w, uint32_t i)
{
    const espl_component_value values[2] = {
        {.component = ESPL_TRANSFORM, .size = sizeof(espl_transform)},
        {.component = w->word, .size = sizeof(uint32_t)}};
    const espl_creation_def def = {.values = values, .value_count = 2, .parent = w->e[i]};
    espl_entity made;

    return espl_record_create(w->recorder, i, &def, 1, &made);
}

static inline espl_status record_attach(costs_world *w, uint32_t i, uint32_t parent)
{
    return i > 0 ? espl_record_attach(w->recorder, i, w->e[i], w->e[parent], NULL) : ESPL_OK;
}

static inline espl_status record_detach(costs_world *w, uint32_t i)
{
    return i > 0 ? espl_record_detach(w->recorder, i, w->e[i], ESPL_KEEP_WORLD) : ESPL_OK;
}

static inline espl_status record_write(costs_world *w, uint32_t i, uint32_t kind)
{
    const espl_write write = write_of(w, i, kind);

    return espl_record_write(w->recorder, i, write.entity, write.kind, &write.value);
}

static inline espl_status record_components(costs_world *w, uint32_t i)
{
    espl_status status = espl_record_add_component(w->recorder, i, w->e[i], w->word, &i, sizeof i);

    status = status == ESPL_OK
                 ? espl_record_add_component(w->recorder, i, w->e[i], w->mark, NULL, 0)
                 : status;
    status = status == ESPL_OK
                 ? espl_record_set_component(w->recorder, i, w->e[i], w->word, &i, sizeof i)
                 : status;
    return status == ESPL_OK ? espl_record_remove_component(w->recorder, i, w->e[i], w->mark)
                             : status;
}

static inline espl_status record_change(costs_world *w, uint32_t i)
{
    const espl_component_value gain = {.component = w->mark};
    const espl_change_def change = {.add = &gain, .add_count = 1};

    return espl_record_change_components(w->recorder, i, w->e[i], &change);
}

static inline espl_status record_placements(costs_world *w, uint32_t i)
{
    const espl_transform value = test_at(1, 2, 3);
    const espl_status status =
        espl_record_remove_component(w->recorder, i, w->e[i], ESPL_TRANSFORM);

    return status == ESPL_OK && i % 2 == 0
               ? espl_record_add_component(w->recorder, i, w->e[i], ESPL_TRANSFORM, &value,
                                           sizeof value)
               : status;
}

static inline espl_status record_disable(costs_world *w, uint32_t i)
{
    const espl_status status =
        espl_record_set_enabled(w->recorder, i, w->e[i], ESPL_EXTENT_ENTITY, false);

    return status == ESPL_OK && i % 2 == 0
               ? espl_record_set_enabled(w->recorder, i, w->e[i], ESPL_EXTENT_ENTITY, true)
               : status;
}

// A gun that fires and moves on: a clone of what the same playback writes.
static inline espl_status record_shot(costs_world *w, uint32_t i)
{
    const espl_instance_def def = {.source = w->aside};
    const espl_transform at = test_at((float)i, 0, 0);
    const espl_status status = espl_record_instantiate(w->recorder, i, &def, 1, NULL);

    return status == ESPL_OK
               ? espl_record_write(w->recorder, i, w->aside, ESPL_WRITE_LOCAL_TRANSFORM, &at)
               : status;
}

// The same below each entity.
static inline espl_status record_shot_below(costs_world *w, uint32_t i)
{
    const espl_instance_def def = {.source = w->aside, .parent = w->e[i]};
    const espl_transform at = test_at((float)i, 0, 0);
    const espl_status status = espl_record_instantiate(w->recorder, i, &def, 1, NULL);

    return status == ESPL_OK
               ? espl_record_write(w->recorder, i, w->aside, ESPL_WRITE_LOCAL_TRANSFORM, &at)
               : status;
}

// The hub moves, and then one leaf is placed in the world.
static inline espl_status record_hub_and_leaf(costs_world *w, uint32_t i)
{
    const float at[3] = {(float)i, 1, 2};
    espl_write_value value = {.scale = 0};

    memcpy(&value, at, sizeof at);
    const espl_status status =
        espl_record_write(w->recorder, i, w->e[0], ESPL_WRITE_LOCAL_POSITION, &value);

    return status == ESPL_OK ? espl_record_write(w->recorder, i, w->e[w->n - 1],
                                                 ESPL_WRITE_WORLD_POSITION, &value)
                             : status;
}

static inline espl_status record_destroy_in(costs_world *w, uint32_t i, order of)
{
    return espl_record_destroy(w->recorder, i, in_order(w, i, of), ESPL_EXTENT_ENTITY);
}

static inline espl_status record_detach_in(costs_world *w, uint32_t i, order of)
{
    return espl_record_detach(w->recorder, i, in_order(w, i, of), ESPL_KEEP_WORLD);
}

// --- All of them ---

// Each to the one before it, whose tree it may be in already. No world is read for it, since paths to
// the root grow as well. (In a heap it takes 1.6 nodes each of 16, and 2.3 each of many.)
// X(function, name, shapes, traits, call); `w` is the world.
#define CALLS(X)                                                                              \
    X(create, "create", SOLOS, 0, create_all(w))                                              \
    X(clone_tree, "clone a tree", TREES, 0,                                                   \
      espl_instantiate(w->world, &(espl_instance_def){.source = w->e[0]}, 1, NULL))           \
    X(clone_one, "clone one often", SOLOS, 0, clone_one_often(w))                             \
    X(attach_whole, "attach a whole", ALL, 0, espl_attach(w->world, w->e[0], w->aside, NULL)) \
    X(attach_to_first, "attach to the first", TREES, 0,                                       \
      espl_attach(w->world, w->aside, w->e[0], NULL))                                         \
    X(attach_to_last, "attach to the last", TREES, 0,                                         \
      espl_attach(w->world, w->aside, w->e[w->n - 1], NULL))                                  \
    X(detach_second, "detach the second", TREES, 0,                                           \
      w->n > 1 ? espl_detach(w->world, w->e[1], ESPL_KEEP_WORLD) : ESPL_OK)                   \
    X(last_becomes_first, "the last sibling becomes the first", STAR, 0,                      \
      w->n > 2 ? espl_move_before(w->world, w->e[w->n - 1], w->e[1]) : ESPL_OK)               \
    X(attach_all, "attach many", SOLOS | STAR | CHAIN, 0,                                     \
      w->n > 1 ? espl_attach_many(w->world, w->e + 1, w->e, w->n - 1, &test_keep_local, NULL) \
               : ESPL_OK)                                                                     \
    X(destroy_all, "destroy many", ALL, 0,                                                    \
      espl_destroy_many(w->world, w->e, w->n, ESPL_EXTENT_ENTITY, NULL))                      \
    X(destroy_all_owned, "destroy many with what they own", ALL, 0,                           \
      espl_destroy_many(w->world, w->e, w->n, ESPL_EXTENT_OWNED, NULL))                       \
    X(each_first, "destroy each, from the first", ALL, HALVES,                                \
      each_in_order(w, FROM_FIRST, destroy_one))                                              \
    X(each_last, "destroy each, from the last", ALL, HALVES,                                  \
      each_in_order(w, FROM_LAST, destroy_one))                                               \
    X(each_turn, "destroy each, from both ends", ALL, HALVES,                                 \
      each_in_order(w, ALTERNATING, destroy_one))                                             \
    X(each_any, "destroy each, in any order", ALL, HALVES,                                    \
      each_in_order(w, ANY_ORDER, destroy_one))                                               \
    X(each_two, "destroy each with another", ALL, HALVES,                                     \
      each_in_order(w, FROM_FIRST, destroy_two))                                              \
    X(each_played, "play one destroy each", ALL, HALVES,                                      \
      each_in_order(w, FROM_FIRST, play_destroy_one))                                         \
    X(free_first, "destroy each with free links, from the first", TREES, HALVES,              \
      destroy_free(w, FROM_FIRST))                                                            \
    X(free_turn, "destroy each with free links, from both ends", TREES, HALVES,               \
      destroy_free(w, ALTERNATING))                                                           \
    X(dressed_first, "destroy each with names, from the first", ALL, HALVES,                  \
      destroy_dressed(w, FROM_FIRST))                                                         \
    X(dressed_any, "destroy each with names, in any order", ALL, HALVES,                      \
      destroy_dressed(w, ANY_ORDER))                                                          \
    X(detach_first, "detach each, from the first", TREES, HALVES,                             \
      each_in_order(w, FROM_FIRST, detach_one))                                               \
    X(detach_last, "detach each, from the last", TREES, HALVES,                               \
      each_in_order(w, FROM_LAST, detach_one))                                                \
    X(detach_turn, "detach each, from both ends", TREES, HALVES,                              \
      each_in_order(w, ALTERNATING, detach_one))                                              \
    X(detach_any, "detach each, in any order", TREES, HALVES,                                 \
      each_in_order(w, ANY_ORDER, detach_one))                                                \
    X(detach_played, "play one detach each", TREES, HALVES,                                   \
      each_in_order(w, FROM_FIRST, play_detach_one))                                          \
    X(toggle, "a leaf with user data and without", TREES, 0, toggle_leaf(w))                  \
    X(clear, "clear", ALL, WHOLE, espl_world_clear(w->world))                                 \
    X(name, "name and clone", ALL, 0, name_and_clone(w))                                      \
    X(destroy, "destroy", TREES, 0, espl_destroy(w->world, w->e[0], ESPL_EXTENT_OWNED))       \
    X(destroy_subtree, "destroy a subtree", TREES, 0,                                         \
      espl_destroy(w->world, w->e[0], ESPL_EXTENT_SUBTREE))                                   \
    X(destroy_only, "destroy only the first", TREES, 0,                                       \
      espl_destroy(w->world, w->e[0], ESPL_EXTENT_ENTITY))                                    \
    X(view, "view", TREES, 0, view_without_middle(w))                                         \
    X(disable, "disable and enable", TREES, 0, disable_and_enable(w))                         \
    X(change, "change an array", ALL, 0, change_array(w))                                     \
    X(change_some, "change by a query", ALL, WHOLE, change_query(w))                          \
    X(take, "take and give a transform", TREES, 0, take_placement(w))                         \
    X(inherit, "set inherit flags", TREES, 0,                                                 \
      w->n > 1 ? espl_set_inherit(w->world, w->e[1], ESPL_ABSOLUTE_ROTATION) : ESPL_OK)       \
    X(reserve, "reserve a side", TREES, 0,                                                    \
      espl_reserve(w->world, &(espl_reserve_def){.side_of = w->e[0]}))                        \
    X(compact, "compact", ALL, WHOLE, espl_compact(w->world))                                 \
    X(write_first, "write the first", TREES, KINDS, write_node(w, 0, kind))                   \
    X(write_last, "write the last", TREES, KINDS, write_node(w, w->n - 1, kind))              \
    X(turn, "look and turn", TREES, 0, look_and_turn(w))                                      \
    X(batch, "write a batch", ALL, KINDS, write_batch(w, kind))                               \
    X(parallel, "write in parallel", SOLOS, WHOLE, write_parallel(w))

// The same, recorded for the i-th entity. What is destroyed, attached elsewhere or detached upwards goes
// from the last on, so that each goes by its own command.
#define RECORDS(X)                                                                                 \
    X(below_first, "record: spawn below the first", ALL, 0, record_instance(w, i, 0))              \
    X(below_each, "record: spawn below each", ALL, 0, record_instance(w, i, i))                    \
    X(create_below, "record: create below each", ALL, 0, record_create_below_each(w, i))           \
    X(destroy, "record: destroy", ALL, 0,                                                          \
      espl_record_destroy(w->recorder, i, w->e[w->n - 1 - i], ESPL_EXTENT_OWNED))                  \
    X(destroy_subtree, "record: destroy subtrees", ALL, 0,                                         \
      espl_record_destroy(w->recorder, i, w->e[w->n - 1 - i], ESPL_EXTENT_SUBTREE))                \
    X(destroy_only, "record: destroy only", ALL, 0,                                                \
      espl_record_destroy(w->recorder, i, w->e[i], ESPL_EXTENT_ENTITY))                            \
    X(destroy_turn, "record: destroy from both ends", ALL, 0,                                      \
      record_destroy_in(w, i, ALTERNATING))                                                        \
    X(destroy_any, "record: destroy in any order", ALL, 0, record_destroy_in(w, i, ANY_ORDER))     \
    X(detach_turn, "record: detach from both ends", TREES, 0, record_detach_in(w, i, ALTERNATING)) \
    X(detach_any, "record: detach in any order", TREES, 0, record_detach_in(w, i, ANY_ORDER))      \
    X(shot, "record: shots", SOLOS, 0, record_shot(w, i))                                          \
    X(shot_below, "record: shots below each", ALL, 0, record_shot_below(w, i))                     \
    X(hub_and_leaf, "record: the hub and a leaf", STAR, 0, record_hub_and_leaf(w, i))              \
    X(attach_to_first, "record: attach to the first", ALL, 0, record_attach(w, i, 0))              \
    X(attach_to_next, "record: attach to the next", ALL, 0, record_attach(w, i, i - 1))            \
    X(attach_aside, "record: attach aside", ALL, 0,                                                \
      espl_record_attach(w->recorder, i, w->e[w->n - 1 - i], w->aside, NULL))                      \
    X(detach_down, "record: detach downwards", TREES, 0, record_detach(w, i))                      \
    X(detach_up, "record: detach upwards", TREES, 0,                                               \
      i + 1 < w->n ? espl_record_detach(w->recorder, i, w->e[w->n - 1 - i], ESPL_KEEP_LOCAL)       \
                   : ESPL_OK)                                                                      \
    X(come_and_go, "record: come and go", TREES, 0,                                                \
      record_detach(w, i) == ESPL_OK ? record_attach(w, i, 0) : ESPL_ERR_NO_MEMORY)                \
    X(sibling, "record: siblings", STAR, 0,                                                        \
      i > 1 ? espl_record_move_before(w->recorder, i, w->e[i], w->e[1]) : ESPL_OK)                 \
    X(write, "record: write", ALL, KINDS, record_write(w, i, kind))                                \
    X(inherit, "record: inherit flags", TREES, 0,                                                  \
      i > 0 ? espl_record_set_inherit(w->recorder, i, w->e[i], ESPL_ABSOLUTE_ROTATION) : ESPL_OK)  \
    X(components, "record: components", ALL, 0, record_components(w, i))                           \
    X(change, "record: change", ALL, 0, record_change(w, i))                                       \
    X(placements, "record: transforms", ALL, 0, record_placements(w, i))                           \
    X(disable, "record: disable and enable", ALL, 0, record_disable(w, i))                         \
    X(payload, "record: payloads", SOLOS, 0,                                                       \
      espl_record_custom(w->recorder, i, w->callback, &i, sizeof i, 4))

#define AS_CALL(function, name, shapes, traits, call)                        \
    static inline espl_status call_##function(costs_world *w, uint32_t kind) \
    {                                                                        \
        (void)kind;                                                          \
        return call;                                                         \
    }
CALLS(AS_CALL)

#define AS_RECORD(function, name, shapes, traits, call)                                         \
    static inline espl_status record_##function##_of(costs_world *w, uint32_t i, uint32_t kind) \
    {                                                                                           \
        (void)kind;                                                                             \
        return call;                                                                            \
    }
RECORDS(AS_RECORD)

#define AS_CALL_ENTRY(function, name, shapes, traits, call) \
    {name, shapes, traits, call_##function, NULL},
#define AS_RECORD_ENTRY(function, name, shapes, traits, call) \
    {name, shapes, traits, NULL, record_##function##_of},
static const entry entries[] = {CALLS(AS_CALL_ENTRY) RECORDS(AS_RECORD_ENTRY)};
enum { ENTRIES = sizeof entries / sizeof *entries };

#endif

// SPDX-License-Identifier: MIT
// Faults that other systems of this kind have had with limits of arguments, with lives of whole
// objects and with the stack, each as a test that would have caught it here. The letters name the
// entry in tests/BUGS.md.
#include "tests/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"
#include "tests/stacked.h"
#include "tests/world/room.h"

#include <stdlib.h>
#include <string.h>

// --- D: limits of arguments ---

START_TEST(d2_each_limit_of_a_component_holds_one_below_at_and_one_above)
{
    char name[258];
    espl_component out = 0;
    uint32_t offsets[ESPL_REFERENCE_LIMIT + 1];
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (size_t length = 254; length <= 256; ++length) {
        memset(name, (int)('a' + length % 3), length);
        name[length] = '\0';
        ck_assert_int_eq(register_kind(test.world, name, 4, 4, &out),
                         length <= 255 ? ESPL_OK : ESPL_ERR_ARGUMENT);
        ck_assert_uint_eq(espl_component_find(test.world, name), length <= 255 ? out : 0);
    }
    static const char *const sizes[3] = {"below", "at", "above"};
    for (size_t i = 0; i < 3; ++i) {
        const size_t size = ESPL_COMPONENT_SIZE_LIMIT - 1 + i;
        ck_assert_int_eq(register_kind(test.world, sizes[i], size, 1, &out),
                         i < 2 ? ESPL_OK : ESPL_ERR_LIMIT);
    }
    static const char *const alignments[3] = {"128", "256", "512"};
    for (size_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(register_kind(test.world, alignments[i], 512, (size_t)128 << i, &out),
                         i < 2 ? ESPL_OK : ESPL_ERR_ARGUMENT);
    }
    static const char *const references[3] = {"r63", "r64", "r65"};
    for (size_t i = 0; i < 3; ++i) {
        const espl_component_def def = {.name = references[i],
                                        .size = sizeof offsets * 2,
                                        .alignment = 4,
                                        .references = offsets,
                                        .reference_count = ESPL_REFERENCE_LIMIT - 1 + i};
        for (uint32_t k = 0; k <= ESPL_REFERENCE_LIMIT; ++k) {
            offsets[k] = k * (uint32_t)sizeof(espl_entity);
        }
        ck_assert_int_eq(espl_component_register(test.world, &def, &out),
                         i < 2 ? ESPL_OK : ESPL_ERR_LIMIT);
    }
    test_world_end(&test);
}
END_TEST

START_TEST(d2_the_numbers_of_components_end_at_their_limit)
{
    espl_component tag[1000], out = 0;
    char name[8] = "more??";
    uint32_t more = 0;
    test_world test;

    test_world_begin(&test, 0, NULL);
    register_tags(test.world, tag, 1000);
    for (; more < 100; ++more) {
        name[4] = (char)('0' + more / 10);
        name[5] = (char)('0' + more % 10);
        if (register_kind(test.world, name, 4, 4, &out) != ESPL_OK) {
            break;
        }
        // Each number works, the last one too.
        const espl_entity entity = test_solo(test.world);
        ck_assert_int_eq(espl_add_component(test.world, entity, out, &more, sizeof more), ESPL_OK);
        ck_assert_int_eq(espl_destroy(test.world, entity, ESPL_EXTENT_OWNED), ESPL_OK);
    }
    ck_assert(out == ESPL_COMPONENT_LIMIT || out == ESPL_COMPONENT_LIMIT - 1);
    ck_assert_int_eq(register_kind(test.world, name, 4, 4, &out), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl_component_find(test.world, name), 0);
    test_world_end(&test);
}
END_TEST

// One entity's set: ESPL_TRANSFORM and a role, then tags up to the limit and past it.
START_TEST(d2_an_entity_holds_as_many_components_as_the_limit_and_not_one_more)
{
    espl_component tag[ESPL_SET_LIMIT + 1], set[ESPL_SET_LIMIT + 1] = {ESPL_TRANSFORM};
    test_world test;

    test_world_begin(&test, 0, NULL);
    register_tags(test.world, tag, ESPL_SET_LIMIT + 1);
    memcpy(set + 1, tag, ESPL_SET_LIMIT * sizeof *tag);
    for (size_t total = ESPL_SET_LIMIT - 1; total <= ESPL_SET_LIMIT + 1; ++total) {
        espl_entity entity = {0};
        const espl_status status = espl_create(test.world, set, total - 1, 1, &entity);
        const espl_query_def def = {.all = set, .all_count = total - 1};
        espl_query query;

        ck_assert_int_eq(status, total <= ESPL_SET_LIMIT ? ESPL_OK : ESPL_ERR_LIMIT);
        if (status != ESPL_OK) {
            continue;
        }
        ck_assert_int_eq(espl_query_begin(test.world, &def, &query), ESPL_OK);
        ck_assert(espl_query_next(&query));
        espl_query_end(&query);
        const uint64_t before = test_logical_hash(test.world);
        ck_assert_int_eq(espl_add_component(test.world, entity, tag[ESPL_SET_LIMIT], NULL, 0),
                         total < ESPL_SET_LIMIT ? ESPL_OK : ESPL_ERR_LIMIT);
        if (total == ESPL_SET_LIMIT) {
            const espl_entity root = test_solo(test.world);

            ck_assert_int_eq(espl_destroy(test.world, root, ESPL_EXTENT_OWNED), ESPL_OK);
            ck_assert_uint_eq(test_logical_hash(test.world), before);
            ck_assert_int_eq(espl_disable(test.world, entity, ESPL_EXTENT_ENTITY), ESPL_ERR_LIMIT);
            ck_assert_int_eq(espl_remove_component(test.world, entity, tag[3]), ESPL_OK);
            ck_assert_int_eq(espl_add_component(test.world, entity, tag[ESPL_SET_LIMIT], NULL, 0),
                             ESPL_OK);
        }
    }
    test_world_end(&test);
}
END_TEST

START_TEST(d2_lanes_end_at_their_limit)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity entity = test_solo(test.world);
    for (uint32_t lanes = ESPL_LANE_LIMIT - 1; lanes <= ESPL_LANE_LIMIT + 1; ++lanes) {
        espl_command_buffer *commands = NULL;
        const espl_status status = espl_command_buffer_create(test.world, lanes, &commands);

        ck_assert_int_eq(status, lanes <= ESPL_LANE_LIMIT ? ESPL_OK : ESPL_ERR_LIMIT);
        if (commands != NULL) {
            ck_assert_ptr_null(espl_command_buffer_recorder(commands, lanes));
        }
        for (uint32_t i = 0; commands != NULL && i < lanes; ++i) {
            const espl_transform at = test_at((float)i, 0, 0);
            ck_assert_int_eq(espl_record_set_local_transform(
                                 espl_command_buffer_recorder(commands, i), 0, entity, &at),
                             ESPL_OK);
        }
        if (commands != NULL) {
            ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
            ck_assert_float_eq(test_local_of(test.world, entity).position[0], (float)(lanes - 1));
        }
        espl_command_buffer_destroy(commands);
    }
    test_world_end(&test);
}
END_TEST

// A chain as deep as a limit of somebody would be; each level is written, and moved past the end.
START_TEST(d2_no_depth_is_special)
{
    static const uint32_t depths[] = {15, 16,  17,  31,  32,  33,  63, 64,
                                      65, 127, 128, 129, 255, 256, 257};

    for (size_t at = 0; at < sizeof depths / sizeof *depths; ++at) {
        const uint32_t count = depths[at];
        test_world test;

        if (count > room_for(count)) {
            break;
        }
        test_world_begin(&test, 0, NULL);
        espl_entity *const node = plant_chain(test.world, count);
        const espl_entity past = test_solo(test.world);
        for (uint32_t i = 0; i < count; ++i) {
            const float by[3] = {1, 0, 0};
            ck_assert_int_eq(espl_translate_in_parent(test.world, node[i], by), ESPL_OK);
            ck_assert_float_eq(test_world_of(test.world, node[count - 1]).position[0],
                               (float)(count + i + 1));
        }
        ck_assert_int_eq(espl_attach(test.world, past, node[count - 1], NULL), ESPL_OK);
        ck_assert_uint_eq(espl_get_depth(test.world, past), count);
        ck_assert_int_eq(espl_attach(test.world, node[0], past, NULL), ESPL_ERR_CYCLE);
        free(node);
        test_world_end(&test);
    }
}
END_TEST

// --- D: lives of objects, and the stack ---

enum { WORLDS = 3, OBJECTS = 4 };

// Worlds with commands objects, each in any state.
typedef struct circus {
    test_heap heap;
    test_hooks hooks;
    espl_world *world[WORLDS];
    espl_command_buffer *commands[WORLDS][OBJECTS];
    bool is_submitted[WORLDS][OBJECTS];
} circus;

static bool has_commands(const circus *c, uint32_t w)
{
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        if (c->commands[w][i] != NULL) {
            return true;
        }
    }
    return false;
}

static void circus_world(circus *c, uint32_t w)
{
    const espl_world_def def = {.allocator = test_heap_allocator(&c->heap),
                                .hooks = test_hooks_of(&c->hooks)};

    if (c->world[w] == NULL) {
        ck_assert_int_eq(espl_world_create(&c->world[w], &def), ESPL_OK);
        (void)test_solo(c->world[w]);
        return;
    }
    const size_t traps = c->hooks.traps;
    espl_world_destroy(c->world[w]);
    if (has_commands(c, w)) { // a fault, and nothing happens
        ck_assert_uint_eq(c->hooks.traps, traps + (ESPL_CHECKS >= 1));
        ck_assert(espl_validate(c->world[w], NULL));
        return;
    }
    c->world[w] = NULL;
}

static void circus_commands(circus *c, uint32_t w, uint32_t i, uint32_t act, uint64_t *random)
{
    espl_command_buffer *const commands = c->commands[w][i];
    const uint32_t lane = test_below(random, 2);
    const espl_entity anyone = {test_below(random, 20), 1 + test_below(random, 3)};

    switch (commands == NULL ? 9 : act) {
    case 0:
        espl_command_buffer_destroy(commands);
        c->commands[w][i] = NULL;
        break;
    case 1:
        espl_command_buffer_reset(commands);
        break;
    case 2:
        (void)!espl_command_buffer_submit(commands);
        break;
    case 3:
        (void)!espl_play(c->world[w], commands, NULL);
        break;
    case 4:
        (void)!espl_play(c->world[(w + 1) % WORLDS] != NULL ? c->world[(w + 1) % WORLDS]
                                                            : c->world[w],
                         commands, NULL);
        break;
    case 5:
        ck_assert_int_eq(espl_sync(c->world[w], NULL), ESPL_OK);
        break;
    case 9:
        ck_assert_int_eq(espl_command_buffer_create(c->world[w], 2, &c->commands[w][i]), ESPL_OK);
        break;
    default:
        (void)!espl_record_destroy(espl_command_buffer_recorder(commands, lane), act, anyone,
                                   ESPL_EXTENT_OWNED);
    }
}

START_TEST(d3_worlds_and_commands_end_clean_whatever_the_order_of_their_lives)
{
    uint64_t random = 3;
    circus c;

    memset(&c, 0, sizeof c);
    test_heap_init(&c.heap);
    for (size_t step = 0; step < test_scaled(20000); ++step) {
        const uint32_t w = test_below(&random, WORLDS), i = test_below(&random, OBJECTS);

        if (c.world[w] == NULL || test_one_in(&random, 12)) {
            circus_world(&c, w);
        } else {
            circus_commands(&c, w, i, test_below(&random, 9), &random);
        }
    }
    for (uint32_t w = 0; w < WORLDS; ++w) {
        for (uint32_t i = 0; i < OBJECTS; ++i) {
            espl_command_buffer_destroy(c.commands[w][i]);
        }
        espl_world_destroy(c.world[w]);
    }
    ck_assert_uint_eq(c.heap.bytes, 0);
    ck_assert_uint_eq(c.heap.blocks, 0);
    ck_assert_uint_eq(c.heap.faults, 0);
}
END_TEST

enum { D4_LANES = 160 };

static const char *record_and_drop(void *argument)
{
    test_world *const test = argument;
    const size_t count = test_scaled(10000000);
    const espl_entity anyone = {1, 1};
    espl_command_buffer *commands = NULL;

    STACKED_DEMAND(espl_command_buffer_create(test->world, D4_LANES, &commands) == ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        espl_recorder *const recorder =
            espl_command_buffer_recorder(commands, (uint32_t)(i % D4_LANES));

        STACKED_DEMAND(espl_record_destroy(recorder, 0, anyone, ESPL_EXTENT_OWNED) == ESPL_OK);
    }
    STACKED_DEMAND(espl_command_buffer_count(commands) == count);
    espl_command_buffer_destroy(commands);
    return NULL;
}

START_TEST(d4_ten_million_commands_are_dropped_unplayed_on_a_small_stack)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const size_t before = test.heap.bytes;
    run_on_a_small_stack(record_and_drop, &test);
    ck_assert_uint_eq(test.heap.bytes, before);
    test_world_end(&test);
}
END_TEST

enum { D6_COUNT = 3000 };

// The counts that calls may be given at their most, in one after the other of them.
static const char *call_with_many(void *argument)
{
    espl_world *const world = ((test_world *)argument)->world;
    static espl_component tag[ESPL_SET_LIMIT];
    static espl_component_value values[ESPL_SET_LIMIT];
    static espl_entity entity[D6_COUNT];
    static espl_write writes[D6_COUNT];
    static espl_query query;
    const espl_component placement = ESPL_TRANSFORM;
    const uint32_t count = test_fitting(2 * D6_COUNT, 0) / 2; // and a clone of each
    espl_command_buffer *commands = NULL;

    register_tags(world, tag, ESPL_SET_LIMIT);
    for (size_t i = 0; i < ESPL_SET_LIMIT; ++i) {
        values[i] = (espl_component_value){.component = tag[i]};
    }
    const size_t most = ESPL_SET_LIMIT - 2; // beside the placement and a role
    STACKED_DEMAND(espl_create(world, &placement, 1, count, entity) == ESPL_OK);
    STACKED_DEMAND(espl_command_buffer_create(world, ESPL_LANE_LIMIT, &commands) == ESPL_OK);
    for (uint32_t i = 1; i < count; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, i % ESPL_LANE_LIMIT);
        const espl_instance_def def = {
            .source = entity[i], .parent = entity[0], .values = values, .value_count = most};

        STACKED_DEMAND(espl_record_instantiate(recorder, 0, &def, 1, NULL) == ESPL_OK);
        STACKED_DEMAND(espl_record_attach(recorder, 1, entity[i], entity[i / 2], NULL) == ESPL_OK);
        writes[i] = write_vector(entity[i], ESPL_WRITE_WORLD_POSITION, 1, 2, 3);
    }
    STACKED_DEMAND(espl_play(world, commands, NULL) == ESPL_OK);
    espl_command_buffer_destroy(commands);
    STACKED_DEMAND(espl_write_batch(world, writes + 1, count - 1, NULL) == ESPL_OK);

    const espl_change_def change = {.add = values, .add_count = most};
    const espl_query_def def = {.none = tag, .none_count = ESPL_SET_LIMIT};
    STACKED_DEMAND(espl_change_components_array(world, entity, count / 2, &change, NULL) ==
                   ESPL_OK);
    STACKED_DEMAND(espl_change_components_query(world, &def, &change, NULL) == ESPL_OK);
    STACKED_DEMAND(espl_query_begin(world, &def, &query) == ESPL_OK);
    STACKED_DEMAND(!espl_query_next(&query));
    STACKED_DEMAND(espl_compact(world) == ESPL_OK);
    STACKED_DEMAND(espl_validate(world, NULL));
    STACKED_DEMAND(espl_destroy(world, entity[0], ESPL_EXTENT_SUBTREE) == ESPL_OK);
    return NULL;
}

START_TEST(d6_no_count_of_an_argument_takes_stack)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    run_on_a_small_stack(call_with_many, &test);
    test_world_end(&test);
}
END_TEST

static Suite *bugs_suite(void)
{
    Suite *const suite = suite_create("bugs with the stack");
    TCase *const tcase = tcase_create("arguments, lives, stack");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, d2_each_limit_of_a_component_holds_one_below_at_and_one_above);
    tcase_add_test(tcase, d2_the_numbers_of_components_end_at_their_limit);
    tcase_add_test(tcase, d2_an_entity_holds_as_many_components_as_the_limit_and_not_one_more);
    tcase_add_test(tcase, d2_lanes_end_at_their_limit);
    tcase_add_test(tcase, d2_no_depth_is_special);
    tcase_add_test(tcase, d3_worlds_and_commands_end_clean_whatever_the_order_of_their_lives);
    tcase_add_test(tcase, d4_ten_million_commands_are_dropped_unplayed_on_a_small_stack);
    tcase_add_test(tcase, d6_no_count_of_an_argument_takes_stack);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(bugs_suite)

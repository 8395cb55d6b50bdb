// SPDX-License-Identifier: MIT
// Faults that other systems of this kind had with the limits of numbers, wide counts and bit masks,
// with lifetimes of worlds and command buffers, and with the stack. Each test would have found its
// fault here. The letters name the entry in tests/BUGS.md.
#include "tests/checks.h"
#include "tests/asked.h"
#include "tests/inside.h"
#include "tests/one_tree.h"
#include "tests/stacked.h"

#include <string.h>

// Tags "tag000", "tag001" and so on.
static void register_tags(espl_world *world, espl_component *tag, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        char name[8] = "tag???";

        name[3] = (char)('0' + i / 100);
        name[4] = (char)('0' + i / 10 % 10);
        name[5] = (char)('0' + i % 10);
        tag[i] = test_component(world, name, 0, 1);
    }
}

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

static bool has_commands(const circus *c, uint32_t at)
{
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        if (c->commands[at][i] != NULL) {
            return true;
        }
    }
    return false;
}

static void circus_world(circus *c, uint32_t at)
{
    const espl_world_def def = {.allocator = test_heap_allocator(&c->heap),
                                .hooks = test_hooks_of(&c->hooks)};

    if (c->world[at] == NULL) {
        ck_ok(espl_world_create(&def, &c->world[at]));
        (void)test_solo(c->world[at]);
        return;
    }
    const size_t traps = c->hooks.traps;
    espl_world_destroy(c->world[at]);
    if (has_commands(c, at)) { // a fault, and nothing happens
        ck_assert_uint_eq(c->hooks.traps, traps + (ESPL_CHECKS >= 1));
        ck_assert(espl_validate(c->world[at], NULL));
        return;
    }
    c->world[at] = NULL;
}

static void circus_commands(circus *c, uint32_t at, uint32_t i, uint32_t act, uint64_t *random)
{
    espl_command_buffer *const commands = c->commands[at][i];
    const uint32_t lane = test_below(random, 2);
    const espl_entity anyone = {test_below(random, 20), 1 + test_below(random, 3)};

    switch (commands == NULL ? 9 : act) {
    case 0:
        espl_command_buffer_destroy(commands);
        c->commands[at][i] = NULL;
        break;
    case 1:
        espl_command_buffer_reset(commands);
        break;
    case 2:
        (void)!espl_command_buffer_submit(commands);
        break;
    case 3:
        (void)!espl_play(c->world[at], commands, NULL);
        break;
    case 4:
        (void)!espl_play(c->world[(at + 1) % WORLDS] != NULL ? c->world[(at + 1) % WORLDS]
                                                             : c->world[at],
                         commands, NULL);
        break;
    case 5:
        ck_ok(espl_sync(c->world[at], NULL));
        break;
    case 9:
        ck_ok(espl_command_buffer_create(c->world[at], 2, &c->commands[at][i]));
        break;
    default:
        (void)!espl_record_destroy(espl_command_buffer_recorder(commands, lane), act, anyone,
                                   ESPL_EXTENT_OWNED);
    }
}

TEST(d3_worlds_and_commands_end_clean_whatever_the_order_of_their_lives)
{
    uint64_t random = 3;
    circus c;

    memset(&c, 0, sizeof c);
    test_heap_init(&c.heap);
    for (size_t step = 0; step < test_scaled(20000); ++step) {
        const uint32_t at = test_below(&random, WORLDS), i = test_below(&random, OBJECTS);

        if (c.world[at] == NULL || test_one_in(&random, 12)) {
            circus_world(&c, at);
        } else {
            circus_commands(&c, at, i, test_below(&random, 9), &random);
        }
    }
    for (uint32_t at = 0; at < WORLDS; ++at) {
        for (uint32_t i = 0; i < OBJECTS; ++i) {
            espl_command_buffer_destroy(c.commands[at][i]);
        }
        espl_world_destroy(c.world[at]);
    }
    ck_assert_uint_eq(c.heap.bytes, 0);
    ck_assert_uint_eq(c.heap.blocks, 0);
    ck_assert_uint_eq(c.heap.faults, 0);
}

enum { D4_LANES = 160 };

static const char *record_and_drop(void *argument)
{
    const size_t count = test_scaled(10000000);
    const espl_entity anyone = {1, 1};
    espl_command_buffer *commands = NULL;

    (void)argument;
    STACKED_DEMAND(espl_command_buffer_create(w, D4_LANES, &commands) == ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        espl_recorder *const recorder =
            espl_command_buffer_recorder(commands, (uint32_t)(i % D4_LANES));

        STACKED_DEMAND(espl_record_destroy(recorder, 0, anyone, ESPL_EXTENT_OWNED) == ESPL_OK);
    }
    STACKED_DEMAND(espl_command_buffer_count(commands) == count);
    espl_command_buffer_destroy(commands);
    return NULL;
}

FIXTURE(set_up, end);

TEST(d4_ten_million_commands_are_dropped_unplayed_on_a_small_stack)
{
    const size_t before = test.heap.bytes;
    run_on_a_small_stack(record_and_drop, NULL);
    ck_assert_uint_eq(test.heap.bytes, before);
}

enum { D6_COUNT = 3000 };

// The counts that calls may be given at their most, in one after the other of them.
static const char *call_with_many(void *argument)
{
    static espl_component tag[ESPL_SET_LIMIT];
    static espl_component_value values[ESPL_SET_LIMIT];
    static espl_entity entity[D6_COUNT];
    static espl_write writes[D6_COUNT];
    static espl_query query;
    const espl_component placement = ESPL_TRANSFORM;
    const uint32_t count = test_fitting(2 * D6_COUNT, 0) / 2; // and a clone of each
    espl_command_buffer *commands = NULL;

    (void)argument;
    register_tags(w, tag, ESPL_SET_LIMIT);
    for (size_t i = 0; i < ESPL_SET_LIMIT; ++i) {
        values[i] = (espl_component_value){.component = tag[i]};
    }
    const size_t most = ESPL_SET_LIMIT - 2; // beside the placement and a role
    STACKED_DEMAND(espl_create(w, &placement, 1, count, entity) == ESPL_OK);
    STACKED_DEMAND(espl_command_buffer_create(w, ESPL_LANE_LIMIT, &commands) == ESPL_OK);
    for (uint32_t i = 1; i < count; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, i % ESPL_LANE_LIMIT);
        const espl_instance_def def = {
            .source = entity[i], .parent = entity[0], .values = values, .value_count = most};

        STACKED_DEMAND(espl_record_instantiate(recorder, 0, &def, 1, NULL) == ESPL_OK);
        STACKED_DEMAND(espl_record_attach(recorder, 1, entity[i], entity[i / 2], NULL) == ESPL_OK);
        writes[i] = write_vector(entity[i], ESPL_WRITE_WORLD_POSITION, 1, 2, 3);
    }
    STACKED_DEMAND(espl_play(w, commands, NULL) == ESPL_OK);
    espl_command_buffer_destroy(commands);
    STACKED_DEMAND(espl_write_batch(w, writes + 1, count - 1, NULL) == ESPL_OK);

    const espl_change_def change = {.add = values, .add_count = most};
    const espl_query_def def = {.none = tag, .none_count = ESPL_SET_LIMIT};
    STACKED_DEMAND(espl_change_components_array(w, entity, count / 2, &change, NULL) == ESPL_OK);
    STACKED_DEMAND(espl_change_components_query(w, &def, &change, NULL) == ESPL_OK);
    STACKED_DEMAND(espl_query_begin(w, &def, &query) == ESPL_OK);
    STACKED_DEMAND(!espl_query_next(&query));
    STACKED_DEMAND(espl_compact(w) == ESPL_OK);
    STACKED_DEMAND(espl_validate(w, NULL));
    STACKED_DEMAND(espl_destroy(w, entity[0], ESPL_EXTENT_SUBTREE) == ESPL_OK);
    return NULL;
}

TEST(d6_no_count_of_an_argument_takes_stack)
{
    run_on_a_small_stack(call_with_many, NULL);
}

// --- K: counts ---

// Each call that takes a count, for a count far beyond any memory.
static void refuse_count(espl_entity source, size_t count)
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_instance_def def = {.source = source};
    const espl_creation_def creation = {.values = NULL};
    espl_status status[8];

    espl_command_buffer *const commands = test_commands(w, 1);
    test_heap_arm(&test.heap, 1, true);
    status[0] = espl_create(w, &placement, 1, count, NULL);
    status[1] = espl_reserve(w, &(espl_reserve_def){.entities = count});
    status[2] = espl_instantiate(w, &(espl_instance_def){.source = source}, count, NULL);
    status[3] = espl_reserve(w, &(espl_reserve_def){.writes = count});
    status[4] = test_reserve_rows(w, &placement, 1, count);
    status[5] =
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, count, NULL);
    status[6] = espl_instantiate(w, &def, count, NULL);
    status[7] = espl_create_at(w, &creation, count, NULL);
    test_heap_arm(&test.heap, 0, false);
    for (int i = 0; i < 8; ++i) {
        ck_assert_msg(status[i] == ESPL_ERR_LIMIT || status[i] == ESPL_ERR_NO_MEMORY,
                      "call %d with %zu answers %s", i, count, espl_status_name(status[i]));
        // What does not fit a 32-bit word is a limit, whatever memory there is; of rows there may be
        // more than entities that fill them.
        ck_assert_msg(count <= UINT32_MAX || i == 4 || status[i] == ESPL_ERR_LIMIT,
                      "call %d with %zu answers %s", i, count, espl_status_name(status[i]));
    }
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    espl_command_buffer_destroy(commands);
}

TEST(k3_k9_counts_about_the_powers_of_two_are_not_cut_short)
{
    static const unsigned bits[] = {24, 30, 31, 32, 33, 40, 62, 63};

    const espl_entity source = test_solo(w);
    const uint64_t before = test_physical_hash(w);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i) {
        if (bits[i] >= sizeof(size_t) * 8) {
            break;
        }
        const size_t power = (size_t)1 << bits[i];
        refuse_count(source, power - 1);
        refuse_count(source, power);
        refuse_count(source, power + 1);
    }
    refuse_count(source, SIZE_MAX);
    refuse_count(source, SIZE_MAX - 1);
    ck_assert_uint_eq(test_physical_hash(w), before);
}

// Numbers whose low half would do: no call looks at that half alone.
TEST(k3_large_numbers_of_things_are_not_taken_for_small_ones)
{
    const espl_component placement = ESPL_TRANSFORM;
    espl_entity child = test_null;
    espl_query query;

    node = make_chain(w, 3);
    const size_t large = SIZE_MAX > UINT32_MAX ? (SIZE_MAX >> 16 << 16) + 1 : SIZE_MAX;
    const espl_query_def all = {.all = &placement, .all_count = large};
    const espl_query_def none = {.none = &placement, .none_count = large};
    const espl_query_def any = {.any = &placement, .any_count = large};
    const espl_query_def changed = {.changed = &placement, .changed_count = large};
    const espl_component_value value = {.component = ESPL_PREFAB};
    const espl_change_def adds = {.add = &value, .add_count = large};
    const espl_change_def removes = {.remove = &placement, .remove_count = large};
    const uint64_t before = test_physical_hash(w);

    ck_status(espl_query_begin(w, &all, &query), ESPL_ERR_LIMIT);
    ck_status(espl_query_begin(w, &none, &query), ESPL_ERR_LIMIT);
    ck_status(espl_query_begin(w, &any, &query), ESPL_ERR_LIMIT);
    ck_status(espl_query_begin(w, &changed, &query), ESPL_ERR_LIMIT);
    ck_status(espl_create(w, &placement, large, 1, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_change_components(w, node[0], &adds), ESPL_ERR_LIMIT);
    ck_status(espl_change_components(w, node[0], &removes), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl_get_children(w, node[0], large - 1, &child), 1);
    ck_assert(espl_entity_equal(child, node[1]));
    ck_status(espl_set_component(w, node[0], ESPL_PREFAB, NULL, large), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test_physical_hash(w), before);
}

// --- K: words of bits ---

static const uint32_t edges[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193};

TEST(k8_components_are_told_apart_at_the_edges_of_a_word)
{
    enum { TAGS = 140 };
    espl_component tag[TAGS];
    espl_entity entity[16];
    size_t count = 0;

    register_tags(w, tag, TAGS);
    for (size_t at = 3; at < sizeof edges / sizeof *edges && edges[at] <= tag[TAGS - 1]; ++at) {
        const espl_component set[2] = {ESPL_TRANSFORM, edges[at]};
        ck_ok(espl_create(w, set, 2, 1, &entity[count++]));
    }
    for (size_t i = 0; i < count; ++i) {
        for (espl_component c = ESPL_DISABLED + 1; c <= tag[TAGS - 1]; ++c) {
            const espl_query_def def = {.any = &c, .any_count = 1};
            const bool is_own = c == edges[i + 3];
            espl_query query;
            size_t met = 0;

            ck_assert(espl_has_component(w, entity[i], c) == is_own);
            ck_ok(espl_query_begin(w, &def, &query));
            while (espl_query_next(&query)) {
                for (size_t row = 0; row < query.count; ++row) {
                    met += espl_entity_equal(query.entities[row], entity[i]);
                }
            }
            ck_assert_uint_eq(met, is_own);
        }
    }
}

// --- K: work in proportion ---

// Nothing found, at the end of each list there is.
TEST(k12_what_is_not_there_is_not_found_one_past_the_end)
{
    espl_entity out = {7, 7};
    espl_query query;
    espl_view view;

    node = make_chain(w, 3);
    espl_component last = 0, number = 0;
    number = test_component(w, "number", 4, 4);
    last = test_component(w, "last", 4, 4);
    ck_ok(espl_add_component(w, node[1], number, NULL, 4));

    ck_assert_uint_eq(espl_component_find(w, "las"), 0);
    ck_assert_uint_eq(espl_component_find(w, "lastt"), 0);
    ck_assert_uint_eq(espl_component_find(w, ""), 0);
    ck_assert(!espl_has_component(w, node[1], last));
    ck_assert(!espl_has_component(w, node[1], last + 1));
    ck_assert(!espl_has_component(w, node[1], UINT32_MAX));
    ck_assert(espl_entity_is_null(test_child(w, node[0], 1)));
    ck_assert(espl_entity_is_null(espl_get_next_sibling(w, node[2])));
    ck_assert(espl_entity_is_null(espl_get_first_child(w, node[2])));
    const espl_query_def nobody = {.all = &last, .all_count = 1};
    ck_ok(espl_query_begin(w, &nobody, &query));
    ck_assert(!espl_query_next(&query));
    const espl_query_def somebody = {.all = &number, .all_count = 1};
    ck_ok(espl_query_begin(w, &somebody, &query));
    ck_assert(espl_query_next(&query));
    ck_assert_ptr_null(espl_query_read(&query, last, 4));
    ck_assert_ptr_nonnull(espl_query_read(&query, number, 4));
    ck_assert(!espl_query_next(&query));

    ck_ok(espl_view_hierarchy(w, node[2], &view));
    ck_assert(espl_entity_equal(espl_view_entity(&view, 2), node[2]));
    ck_assert(espl_entity_is_null(espl_view_entity(&view, 3)));
    ck_assert(espl_entity_is_null(espl_view_entity(&view, SIZE_MAX)));

    espl_command_buffer *const commands = test_commands(w, 1);
    const espl_instance_def def = {.source = node[2]};
    espl_entity pending = {0};
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1, &pending));
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_command_buffer_result(commands, 0, 0));
    ck_status(espl_command_buffer_result(commands, 0, 1), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_buffer_result(commands, 1, 0), ESPL_ERR_ARGUMENT);
    pending.index += 1;
    ck_status(espl_command_buffer_resolve(commands, pending, &out), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(out.index, 7);
    espl_command_buffer_destroy(commands);
}

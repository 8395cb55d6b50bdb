// SPDX-License-Identifier: MIT
// Payload memory: blocks never move, aligned payloads are read in place, and recording the same
// again takes no memory; and every kind of command that has a payload.
#include "lib/commands/component_values.h"
#include "tests/asked.h"
#include "tests/commands/forms_used.h"
#include "tests/one_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3000, SOLOS = 16 };

// --- Blocks ---

typedef struct held {
    unsigned char *bytes;
    uint32_t place;
    size_t size;
} held;

typedef struct memory {
    test_heap under;
    espl__heap heap;
    espl__payloads payloads;
} memory;

static memory m;

static void memory_begin(void)
{
    memset(&m, 0, sizeof m);
    test_heap_init(&m.under);
    const espl_allocator allocator = test_heap_allocator(&m.under);
    espl__heap_init(&m.heap, &allocator);
}

static void memory_end(void)
{
    espl__payloads_free(&m.payloads, &m.heap);
    ck_assert_uint_eq(m.under.bytes + m.under.blocks + m.under.faults, 0);
}

static espl_status take(size_t size, size_t alignment, held *out)
{
    const espl_status status =
        espl__payloads_find(&m.payloads, &m.heap, size, alignment, &out->place);

    if (status == ESPL_OK) {
        out->size = size;
        out->bytes = espl__payloads_use(&m.payloads, out->place, size);
    }
    return status;
}

static size_t random_size(uint64_t *random)
{
    return test_one_in(random, 40) ? test_below(random, 20000) : test_below(random, 130);
}

static void fill_randomly(uint64_t seed, held *all, size_t *used)
{
    *used = 0;
    for (uint32_t i = 0; i < MANY; ++i) {
        const size_t alignment = (size_t)1 << test_below(&seed, 9);
        const size_t size = random_size(&seed);

        ck_ok(take(size, alignment, &all[i]));
        ck_assert((all[i].bytes == NULL) == (size == 0));
        ck_assert_uint_eq((uintptr_t)all[i].bytes & (alignment - 1), 0);
        if (size != 0) {
            memset(all[i].bytes, (int)(i & 0xff), size);
        }
        *used += size + alignment - 1 + 7;
    }
}

// Each holds what was written to it, so that none overlap, and its place still tells where it is.
static void check_all(const held *all)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        for (size_t k = 0; k < all[i].size; ++k) {
            ck_assert_uint_eq(all[i].bytes[k], i & 0xff);
        }
        ck_assert(all[i].size == 0 ||
                  espl__payload_at(m.payloads.blocks, all[i].place) == all[i].bytes);
    }
}

TEST_LOOP(payloads_never_move_or_overlap, 0, 10)
{
    held *const all = test_array(MANY, sizeof *all);
    size_t used = 0;

    memory_begin();
    fill_randomly((uint64_t)_i + 1, all, &used);
    check_all(all);
    ck_assert_uint_le(m.under.bytes, 4 * used + 4096);
    memory_end();
    free(all);
}

TEST(cleared_they_hold_the_same_without_memory)
{
    held *const all = calloc(MANY, sizeof *all), *const again = calloc(MANY, sizeof *again);
    size_t used = 0;

    ck_assert(all != NULL && again != NULL);
    memory_begin();
    fill_randomly(4, all, &used);
    const size_t bytes = m.under.bytes;
    espl__payloads_clear(&m.payloads);
    test_heap_arm(&m.under, 1, true);
    fill_randomly(4, again, &used);
    ck_assert_uint_eq(m.under.calls, 0);
    test_heap_arm(&m.under, 0, false);
    ck_assert_uint_eq(m.under.bytes, bytes);
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert(all[i].bytes == again[i].bytes && all[i].place == again[i].place);
    }
    memory_end();
    free(all);
    free(again);
}

TEST(any_recordings_between_clears_keep_memory_bounded)
{
    held *const all = test_array(MANY, sizeof *all);
    size_t most = 0;

    memory_begin();
    for (uint64_t round = 0; round < 30; ++round) {
        size_t used = 0;

        espl__payloads_clear(&m.payloads);
        fill_randomly(round, all, &used);
        most = used > most ? used : most;
        ck_assert_uint_le(m.under.bytes, 4 * most + 4096);
    }
    memory_end();
    free(all);
}

// A large one leaves out the blocks that it would not fit.
TEST(a_large_payload_takes_one_block)
{
    enum { LARGE = 3 << 20 };
    held small, large;

    memory_begin();
    ck_ok(take(8, 8, &small));
    ck_assert_uint_eq(m.under.blocks, 1);
    ck_ok(take(LARGE, 256, &large));
    ck_assert_uint_eq(m.under.blocks, 2);
    ck_assert_uint_le(m.under.bytes, 2 * LARGE);
    memset(large.bytes, 7, LARGE);
    ck_ok(take(100, 8, &small));
    ck_assert_uint_eq(m.under.blocks, 2);
    memory_end();
}

TEST(each_place_tells_its_block)
{
    uint32_t begin = 0;

    for (uint32_t block = 0; block < ESPL__PAYLOAD_BLOCKS; ++block) {
        ck_assert_uint_eq(espl__payload_begin(block), begin);
        ck_assert_uint_eq(espl__payload_block(begin), block);
        begin += espl__payload_places(block);
        ck_assert_uint_eq(espl__payload_block(begin - 1), block);
    }
    ck_assert_uint_eq(begin, 0); // all 32 bits are used
}

TEST(places_end_at_their_limit)
{
    held one = {0};

    memory_begin();
    ck_status(take(SIZE_MAX / 2, 1, &one),
              sizeof(size_t) > 4 ? ESPL_ERR_LIMIT : ESPL_ERR_NO_MEMORY);
    ck_status(take(SIZE_MAX, 256, &one), sizeof(size_t) > 4 ? ESPL_ERR_LIMIT : ESPL_ERR_NO_MEMORY);
    m.payloads.next = m.payloads.end = UINT64_C(1) << 32;
    ck_status(take(1, 1, &one), ESPL_ERR_LIMIT);
    ck_ok(take(0, 256, &one));
    ck_assert_ptr_null(one.bytes);
    ck_assert_uint_eq(m.under.calls, 0);
    memory_end();
}

TEST(without_memory_what_there_was_stays)
{
    held first, one;

    memory_begin();
    test_heap_arm(&m.under, 1, true);
    ck_status(take(9, 1, &first), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&m.under, 0, false);
    ck_ok(take(9, 1, &first));
    memcpy(first.bytes, "espalier", 9);
    test_heap_arm(&m.under, 1, true);
    ck_status(take(5000, 1, &one), ESPL_ERR_NO_MEMORY);
    // What fits the block that is there is still taken.
    ck_ok(take(50, 1, &one));
    test_heap_arm(&m.under, 0, false);
    ck_assert_str_eq((const char *)first.bytes, "espalier");
    memory_end();
}

// --- Lanes ---

static size_t payload_blocks(espl_command_buffer *commands, uint32_t lane)
{
    const espl__payloads *const p = &espl_command_buffer_recorder(commands, lane)->lane.payloads;
    size_t count = 0;

    for (uint32_t i = 0; i < ESPL__PAYLOAD_BLOCKS; ++i) {
        count += p->blocks[i] != NULL;
    }
    return count;
}

FIXTURE(set_up, tear_down);

TEST(a_lane_without_payloads_takes_none)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    espl_command_buffer *const commands = test_commands(w, 3);
    const espl_transform at = test_at(1, 2, 3);

    for (int i = 0; i < 100; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
        ck_ok(espl_record_attach(recorder, 0, a, b, NULL));
        ck_ok(espl_record_detach(recorder, 0, a, ESPL_KEEP_LOCAL));
    }
    ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 1), 0, a,
                            ESPL_WRITE_LOCAL_TRANSFORM, &at));
    ck_assert_uint_eq(payload_blocks(commands, 0), 0);
    ck_assert_uint_eq(payload_blocks(commands, 1), 1);
    ck_assert_uint_eq(payload_blocks(commands, 2), 0);
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_reset(commands);
    ck_assert_uint_eq(payload_blocks(commands, 1), 1);
    espl_command_buffer_destroy(commands);
}

// Threads write their own lanes, and to no line that another one writes.
TEST(recorders_share_no_line)
{
    espl_command_buffer *const commands = test_commands(w, ESPL_LANE_LIMIT);
    for (uint32_t lane = 0; lane < ESPL_LANE_LIMIT; ++lane) {
        ck_assert_uint_eq((uintptr_t)espl_command_buffer_recorder(commands, lane) % 64, 0);
    }
    ck_assert_uint_eq(sizeof(espl_recorder) % 64, 0);
    espl_command_buffer_destroy(commands);
}

// --- The steady state ---

typedef struct load {
    espl_entity prefab, mount, solos[SOLOS];
    espl_component number;
    espl_custom_command callback;
    size_t heard;
} load;

static void hear(void *user, const espl_custom_calls *calls)
{
    load *const l = user;

    l->heard += calls->count;
}

static void load_begin(load *l, espl_world *world)
{
    const espl_custom_command_def callback = {.name = "heard", .user = l, .function = hear};

    memset(l, 0, sizeof *l);
    l->number = test_component(world, "number", 64, 64);
    ck_ok(espl_command_register(world, &callback, &l->callback));
    l->prefab = test_solo(world);
    l->mount = test_solo(world);
    for (int i = 0; i < SOLOS; ++i) {
        l->solos[i] = test_solo(world);
    }
}

static void record_load(const load *l, espl_command_buffer *commands, uint32_t count)
{
    const espl_component_value value = {l->number, 64, NULL};
    const espl_instance_def def = {
        .source = l->prefab, .parent = l->mount, .values = &value, .value_count = 1};
    espl_recorder *const one = espl_command_buffer_recorder(commands, 0);
    espl_recorder *const other = espl_command_buffer_recorder(commands, 1);

    for (uint32_t i = 0; i < count; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);
        espl_entity clone;

        ck_ok(espl_record_instantiate(one, i, &def, 1, &clone));
        ck_ok(espl_record_destroy(one, i, clone, ESPL_EXTENT_OWNED));
        ck_ok(espl_record_custom(other, i, l->callback, &at, sizeof at, 16));
        ck_ok(espl_record_write(other, i, l->solos[i % SOLOS], ESPL_WRITE_LOCAL_TRANSFORM, &at));
    }
}

TEST(recording_the_same_again_takes_no_memory)
{
    load l;

    if (test_moves_always()) {
        return;
    }
    load_begin(&l, w);
    espl_command_buffer *const commands = test_commands(w, 2);
    record_load(&l, commands, 1000);
    const size_t bytes = test.heap.bytes;
    for (int round = 0; round < 5; ++round) {
        espl_command_buffer_reset(commands);
        ck_assert_uint_eq(test.heap.bytes, bytes);
        test_heap_arm(&test.heap, 1, true);
        record_load(&l, commands, round == 3 ? 700 : 1000);
        ck_assert_uint_eq(test.heap.calls, 0);
        test_heap_arm(&test.heap, 0, false);
    }
    espl_command_buffer_destroy(commands);
}

// --- Values ---

typedef struct typed {
    espl_component component;
    size_t size, alignment;
} typed;

// Components of every alignment, each twice its size.
static void register_typed(espl_world *world, typed out[9])
{
    for (uint32_t i = 0; i < 9; ++i) {
        const size_t alignment = (size_t)1 << i;
        char name[16];

        snprintf(name, sizeof name, "a%zu", alignment);
        const espl_component_def def = {
            .name = name, .size = 2 * alignment, .alignment = alignment};
        ck_ok(espl_component_register(world, &def, &out[i].component));
        out[i].size = def.size;
        out[i].alignment = alignment;
    }
}

// Step through the values of a command where they were recorded.
static void check_recorded(const espl_command_buffer *commands, uint32_t index, const typed *types,
                           const uint32_t *picked, size_t count)
{
    const espl__lane *const lane = &commands->recorders[0].lane;
    espl__lane_view view = {.payloads = lane->payloads.blocks};
    const espl__entry entry = {.command = &lane->commands[index]};
    espl__value_cursor c = espl__values_of(&view, &entry);

    for (size_t i = 0; i < count; ++i) {
        const typed *const type = &types[picked[i]];

        ck_assert(espl__values_next(&c));
        ck_assert_uint_eq(c.header.component, type->component);
        ck_assert_uint_eq(c.header.size, type->size);
        ck_assert_uint_eq((uintptr_t)c.bytes & (type->alignment - 1), 0);
        for (size_t k = 0; k < type->size; ++k) {
            ck_assert_uint_eq(c.bytes[k], (unsigned char)(picked[i] + 1));
        }
    }
    ck_assert(!espl__values_next(&c));
}

TEST(values_stand_aligned_where_they_were_recorded)
{
    uint64_t random = 11;
    unsigned char bytes[9][512];
    typed types[9];

    register_typed(w, types);
    for (int i = 0; i < 9; ++i) {
        memset(bytes[i], i + 1, sizeof bytes[i]);
    }
    const espl_entity source = test_solo(w);
    espl_command_buffer *const commands = test_commands(w, 1);
    for (uint32_t round = 0; round < 60; ++round) {
        espl_component_value values[9];
        uint32_t picked[9];
        size_t count = 0;
        espl_entity clone;

        for (uint32_t i = 0; i < 9; ++i) {
            const uint32_t pick = (i * 4 + round) % 9;
            if (test_one_in(&random, 2)) {
                picked[count] = pick;
                values[count++] =
                    (espl_component_value){types[pick].component, types[pick].size, bytes[pick]};
            }
        }
        const espl_instance_def def = {.source = source, .values = values, .value_count = count};
        ck_ok(
            espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1, &clone));
        check_recorded(commands, round, types, picked, count);
    }
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
}

TEST(values_of_one_component_are_aligned_too)
{
    static const unsigned char bytes[512] = {0};
    typed types[9];

    register_typed(w, types);
    const espl_entity solo = test_solo(w);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl__lane *const lane = &commands->recorders[0].lane;
    espl__lane_view view = {.payloads = lane->payloads.blocks};

    for (uint32_t i = 0; i < 90; ++i) {
        const typed *const type = &types[i * 5 % 9];

        ck_ok(
            i % 2 == 0
                ? espl_record_add_component(recorder, 0, solo, type->component, bytes, type->size)
                : espl_record_set_component(recorder, 0, solo, type->component, bytes, type->size));
        const espl__entry entry = {.command = &lane->commands[i]};
        espl__value_cursor c = espl__values_of(&view, &entry);
        ck_assert(espl__values_next(&c));
        ck_assert_uint_eq((uintptr_t)c.bytes & (type->alignment - 1), 0);
    }
    espl_command_buffer_destroy(commands);
}

// --- Short forms ---

static void hear_health(void *user, const espl_custom_calls *calls)
{
    const used_health *const health = calls->payloads[0].data;

    ck_assert_uint_eq(calls->payloads[0].size, sizeof *health);
    ck_assert_uint_eq((uintptr_t)health % _Alignof(used_health), 0);
    ck_assert(health->points >= 7 && health->points <= 7);
    ck_assert_uint_eq(health->shields, 8);
    *(size_t *)user += 1;
}

TEST(short_forms_record_what_they_say)
{
    size_t heard = 0;
    const espl_custom_command_def def = {.name = "health", .user = &heard, .function = hear_health};
    used_names names = {0};
    espl_entity clone;

    ck_ok(espl_command_register(w, &def, &names.callback));
    names.prefab = test_solo_at(w, 9, 9, 9);
    names.parent = test_solo_at(w, 1, 0, 0);
    names.other = test_solo_at(w, 3, 0, 0);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    ck_ok(use_transforms(recorder, &names, &clone));
    ck_ok(use_call(recorder, &names));
    ck_ok(espl_record_attach(recorder, 1, names.other, names.parent, NULL));
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_command_buffer_resolve(commands, clone, &clone));
    const espl_transform local = test_local_of(w, clone);
    ck_assert(espl_entity_equal(espl_get_parent(w, clone), names.parent));
    ck_assert_float_eq(local.position[1], 5);
    ck_assert_float_eq(local.rotation[2], 1);
    ck_assert_float_eq(local.scale, 2);
    espl_transform other = test_local_of(w, names.other);
    ck_assert_float_eq(other.position[0], 2);

    espl_command_buffer_reset(commands);
    ck_ok(use_attaches(recorder, &names));
    ck_ok(espl_record_spawn(recorder, 0, names.prefab, espl_entity_null(), NULL, &clone));
    ck_ok(espl_play(w, commands, NULL));
    other = test_local_of(w, names.other);
    ck_assert(espl_entity_equal(espl_get_parent(w, names.other), names.prefab));
    ck_assert_float_eq(other.position[0], 2);
    ck_ok(espl_command_buffer_resolve(commands, clone, &clone));
    ck_assert_float_eq(test_world_of(w, clone).position[0], 9);
    ck_assert_uint_eq(heard, 1);
    espl_command_buffer_destroy(commands);
}

TEST(short_forms_of_components_record_what_they_say)
{
    used_names names = {0};
    used_health health = {0};

    names.health = test_component(w, "health", sizeof(used_health), _Alignof(used_health));
    names.other = test_solo(w);
    espl_command_buffer *const commands = test_commands(w, 1);
    ck_ok(use_components(espl_command_buffer_recorder(commands, 0), &names));
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_get_component(w, names.other, names.health, &health, sizeof health));
    ck_assert(health.points >= 40 && health.points <= 40);
    ck_assert_uint_eq(health.shields, 0);
    espl_command_buffer_destroy(commands);
}

// SPDX-License-Identifier: MIT
// Custom commands: their functions get all payloads of one playback at once, in playback order,
// after the other commands.
#include "tests/one_world.h"

#include "tests/checks.h"

#include <stdlib.h>
#include <string.h>

enum { CALLBACKS = 5, LANES = 4, RECORD_LIMIT = 400 };

// What one recording says: written into the payload, so that it tells where it belongs.
typedef struct note {
    uint32_t callback, key, lane, index; // callback from 0
    uint64_t seal;
} note;

typedef struct ear ear;

typedef struct one_ear {
    ear *all;
    uint32_t number; // of the callback, from 0
} one_ear;

// What was heard, in order.
struct ear {
    one_ear of[CALLBACKS];
    espl_custom_command callbacks[CALLBACKS];
    note heard[RECORD_LIMIT];
    size_t heard_count;
    size_t visits; // of callbacks
    uint32_t last; // callback that was visited before
};

static void hear(void *user, const espl_custom_calls *calls)
{
    const one_ear *const own = user;
    ear *const all = own->all;

    ck_assert_uint_ge(calls->count, 1);
    ck_assert(all->visits == 0 || own->number > all->last);
    all->last = own->number;
    all->visits += 1;
    for (size_t i = 0; i < calls->count; ++i) {
        const espl_custom_payload *const payload = &calls->payloads[i];
        note said;

        ck_assert_uint_ge(payload->size, sizeof said);
        memcpy(&said, payload->data, sizeof said);
        ck_assert_uint_eq(said.callback, own->number);
        ck_assert_uint_eq(said.key, payload->key);
        ck_assert_uint_eq(said.lane, payload->lane);
        ck_assert_uint_eq(said.index, payload->index);
        ck_ok(espl_command_buffer_result(calls->commands, payload->lane, payload->index));
        all->heard[all->heard_count++] = said;
    }
}

static void ear_begin(ear *all, espl_world *world)
{
    static const char *const names[CALLBACKS] = {"sparks", "sound", "score", "sparks", "x"};

    memset(all, 0, sizeof *all);
    for (uint32_t i = 0; i < CALLBACKS; ++i) {
        const espl_custom_command_def def = {
            .name = names[i], .user = &all->of[i], .function = hear};

        all->of[i] = (one_ear){all, i};
        ck_ok(espl_command_register(world, &def, &all->callbacks[i]));
        ck_assert_uint_eq(all->callbacks[i], i + 1);
    }
}

// --- Order ---

static int compare_notes(const void *a, const void *b)
{
    const note *const x = a, *const y = b;

    if (x->callback != y->callback) {
        return x->callback < y->callback ? -1 : 1;
    }
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static size_t record_notes(espl_command_buffer *commands, const ear *all, const espl_entity *solos,
                           uint64_t *random, note *notes)
{
    const uint32_t steps = test_below(random, RECORD_LIMIT);
    const uint32_t keys = 1 + test_below(random, 9);
    uint32_t in_lane[LANES] = {0};
    size_t count = 0;

    for (uint32_t i = 0; i < steps; ++i) {
        const uint32_t lane = test_below(random, LANES), key = test_below(random, keys);
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, lane);
        const espl_transform at = test_at(1, 2, (float)i);
        unsigned char room[sizeof(note) + 300];

        if (test_one_in(random, 3)) {
            ck_ok(espl_record_write(recorder, key, solos[i % 8], ESPL_WRITE_LOCAL_TRANSFORM, &at));
            in_lane[lane] += 1;
            continue;
        }
        const note said = {test_below(random, CALLBACKS), key, lane, in_lane[lane]++,
                           test_random(random)};
        const size_t size = sizeof said + test_below(random, 300);

        memset(room, 0xEE, sizeof room);
        memcpy(room, &said, sizeof said);
        ck_ok(espl_record_custom(recorder, key, all->callbacks[said.callback], room, size,
                                 (size_t)1 << test_below(random, 9)));
        notes[count++] = said;
    }
    return count;
}

TEST_LOOP(payloads_arrive_together_and_in_playback_order, 0, 3)
{
    static const test_manner manners[3] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    test_executor executor = {.manner = manners[_i], .workers = 3, .random = 9};
    const espl_executor hostile = test_executor_of(&executor);
    uint64_t random = (uint64_t)_i + 1;
    espl_entity solos[8];
    ear all;

    test_world_begin(&test, 0, &hostile);
    w = test.world;
    ear_begin(&all, w);
    for (int i = 0; i < 8; ++i) {
        solos[i] = test_solo(w);
    }
    espl_command_buffer *const commands = test_commands(w, LANES);
    for (int round = 0; round < 60; ++round) {
        note notes[RECORD_LIMIT];
        espl_report report;
        const size_t count = record_notes(commands, &all, solos, &random, notes);

        qsort(notes, count, sizeof *notes, compare_notes);
        all.heard_count = all.visits = 0;
        ck_ok(espl_play(w, commands, &report));
        ck_assert_uint_eq(all.heard_count, count);
        ck_assert_uint_eq(report.calls, count);
        ck_assert_uint_eq(report.accepted, espl_command_buffer_count(commands));
        ck_assert_uint_eq(report.applied, report.accepted);
        for (size_t i = 0; i < count; ++i) {
            ck_assert_int_eq(compare_notes(&notes[i], &all.heard[i]), 0);
            ck_assert_uint_eq(notes[i].seal, all.heard[i].seal);
        }
        espl_command_buffer_reset(commands);
    }
    espl_command_buffer_destroy(commands);
    tear_down();
}

// --- From inside ---

typedef struct inside {
    test_world test;
    espl_command_buffer *own, *other;
    espl_entity solo, parent, pending;
    espl_component number;
    espl_custom_command callback;
    void (*act)(struct inside *in, const espl_custom_calls *calls);
    size_t visits;
} inside;

static void visit(void *user, const espl_custom_calls *calls)
{
    inside *const in = user;

    in->visits += 1;
    ck_assert_ptr_eq(calls->world, in->test.world);
    ck_assert_ptr_eq(calls->commands, in->own);
    in->act(in, calls);
}

// A world where a solo moved and got a clone, told to one callback.
static void inside_play(inside *in, void (*act)(inside *in, const espl_custom_calls *calls))
{
    const espl_custom_command_def def = {.name = "inside", .user = in, .function = visit};
    const espl_transform at = test_at(5, 6, 7);

    memset(in, 0, sizeof *in);
    in->act = act;
    test_world_begin(&in->test, 0, NULL);
    in->number = test_component(in->test.world, "number", 4, 4);
    ck_ok(espl_command_register(in->test.world, &def, &in->callback));
    in->solo = test_solo(in->test.world);
    in->parent = test_solo(in->test.world);
    ck_ok(espl_add_component(in->test.world, in->solo, in->number, NULL, 4));
    in->own = test_commands(in->test.world, 1);
    in->other = test_commands(in->test.world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(in->own, 0);
    ck_ok(espl_record_custom(recorder, 0, in->callback, "abc", 4, 1));
    ck_ok(espl_record_write(recorder, 9, in->solo, ESPL_WRITE_LOCAL_TRANSFORM, &at));
    ck_ok(espl_record_spawn(recorder, 9, in->solo, in->parent, NULL, &in->pending));
    ck_ok(espl_play(in->test.world, in->own, NULL));
    ck_assert_uint_eq(in->visits, 1);
}

static void inside_end(inside *in)
{
    espl_command_buffer_destroy(in->own);
    espl_command_buffer_destroy(in->other);
    test_world_end(&in->test);
}

static void look_around(inside *in, const espl_custom_calls *calls)
{
    const espl_transform local = test_local_of(calls->world, in->solo);
    espl_entity clone = {0};

    ck_assert_float_eq(local.position[2], 7);
    ck_assert_str_eq(calls->payloads[0].data, "abc");
    ck_ok(espl_command_buffer_resolve(calls->commands, in->pending, &clone));
    ck_assert(espl_entity_equal(espl_get_parent(calls->world, clone), in->parent));
    ck_ok(espl_command_buffer_result(calls->commands, 0, 2));
    test_world_is_valid(calls->world);
}

TEST(a_callback_sees_what_the_playback_did)
{
    inside in;

    inside_play(&in, look_around);
    inside_end(&in);
}

static void write_around(inside *in, const espl_custom_calls *calls)
{
    const espl_transform at = test_at(-1, 0, 0);
    const espl_write write = {
        .entity = in->parent, .kind = ESPL_WRITE_LOCAL_TRANSFORM, .value = {.transform = at}};
    const uint32_t value = 77;

    ck_ok(espl_set_local_transform(calls->world, in->solo, &at));
    ck_ok(espl_write_batch(calls->world, &write, 1, NULL));
    ck_ok(espl_set_component(calls->world, in->solo, in->number, &value, sizeof value));
}

TEST(a_callback_writes_transforms_and_components)
{
    uint32_t value = 0;
    inside in;

    inside_play(&in, write_around);
    const espl_transform solo = test_local_of(in.test.world, in.solo);
    const espl_transform parent = test_local_of(in.test.world, in.parent);
    ck_assert_float_eq(solo.position[0], -1);
    ck_assert_float_eq(parent.position[0], -1);
    ck_ok(espl_get_component(in.test.world, in.solo, in.number, &value, 4));
    ck_assert_uint_eq(value, 77);
    inside_end(&in);
}

static void change_structure(inside *in, const espl_custom_calls *calls)
{
    espl_world *const world = calls->world;
    const espl_custom_command_def callback = {.name = "late", .function = visit};
    const espl_component_def component = {.name = "late"};
    espl_transform stretched = espl_transform_identity();
    const uint64_t before = test_physical_hash(world);
    espl_component number = 0;
    espl_custom_command late = 0;
    espl_entity out;

    ck_status(espl_create(world, NULL, 0, 1, &out), ESPL_ERR_BUSY);
    ck_status(espl_destroy(world, in->solo, ESPL_EXTENT_OWNED), ESPL_ERR_BUSY);
    ck_status(espl_attach(world, in->solo, in->parent, NULL), ESPL_ERR_BUSY);
    ck_status(espl_instantiate(world, &(espl_instance_def){.source = in->solo}, 1, &out),
              ESPL_ERR_BUSY);
    ck_status(espl_remove_component(world, in->solo, in->number), ESPL_ERR_BUSY);
    ck_status(espl_component_register(world, &component, &number), ESPL_ERR_BUSY);
    ck_status(espl_command_register(world, &callback, &late), ESPL_ERR_BUSY);
    ck_status(espl_compact(world), ESPL_ERR_BUSY);
    ck_status(espl_reserve(world, &(espl_reserve_def){.entities = 10}), ESPL_ERR_BUSY);
    ck_status(espl_play(world, in->other, NULL), ESPL_ERR_BUSY);
    ck_status(espl_play(world, in->own, NULL), ESPL_ERR_BUSY);
    ck_status(espl_sync(world, NULL), ESPL_ERR_BUSY);
    // The first side array of a hierarchy is memory, so structural, as during iteration.
    stretched.stretch[1] = 2;
    ck_status(espl_set_local_transform(world, in->solo, &stretched), ESPL_ERR_BUSY);
    ck_assert_uint_eq(late + number, 0);
    ck_assert_uint_eq(test_physical_hash(world), before);
}

TEST(structural_calls_from_a_callback_are_busy)
{
    inside in;

    inside_play(&in, change_structure);
    ck_ok(espl_destroy(in.test.world, in.solo, ESPL_EXTENT_OWNED));
    inside_end(&in);
}

static void record_around(inside *in, const espl_custom_calls *calls)
{
    espl_recorder *const own = espl_command_buffer_recorder(in->own, 0);
    espl_recorder *const other = espl_command_buffer_recorder(in->other, 0);

    ck_status(espl_record_destroy(own, 0, in->solo, ESPL_EXTENT_OWNED), ESPL_ERR_PLAYED);
    ck_status(espl_record_custom(own, 0, in->callback, NULL, 0, 0), ESPL_ERR_PLAYED);
    ck_status(espl_command_buffer_submit(in->own), ESPL_ERR_PLAYED);
    espl_command_buffer_reset(in->other);
    ck_ok(espl_record_destroy(other, 0, in->parent, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_custom(other, 0, in->callback, calls->payloads[0].data, 4, 1));
}

static void play_again(inside *in, const espl_custom_calls *calls)
{
    ck_assert_str_eq(calls->payloads[0].data, "abc");
    ck_assert(!espl_is_alive(calls->world, in->parent));
}

TEST(a_callback_records_into_other_commands)
{
    inside in;

    inside_play(&in, record_around);
    ck_assert(espl_is_alive(in.test.world, in.parent));
    in.act = play_again;
    espl_command_buffer *const played = in.own;
    in.own = in.other;
    in.other = played;
    ck_ok(espl_play(in.test.world, in.own, NULL));
    ck_assert_uint_eq(in.visits, 2);
    inside_end(&in);
}

static void pull_the_rug(inside *in, const espl_custom_calls *calls)
{
    const size_t traps = ESPL_CHECKS >= 1 ? 1 : 0;

    espl_command_buffer_reset(in->own);
    ck_assert_uint_eq(in->test.hooks.traps, traps);
    espl_command_buffer_destroy(in->own);
    ck_assert_uint_eq(in->test.hooks.traps, 2 * traps);
    ck_assert_str_eq(calls->payloads[0].data, "abc");
    look_around(in, calls);
    // Others may come and go.
    espl_command_buffer_destroy(in->other);
    in->other = test_commands(in->test.world, 7);
    espl_command_buffer_reset(in->other);
}

TEST(a_callback_cannot_reset_or_destroy_its_own_commands)
{
    inside in;

    inside_play(&in, pull_the_rug);
    espl_command_buffer_reset(in.own);
    ck_assert_uint_eq(espl_command_buffer_count(in.own), 0);
    ck_assert_uint_eq(in.test.hooks.traps, ESPL_CHECKS >= 1 ? 2 : 0);
    inside_end(&in);
}

// --- The register ---

FIXTURE(set_up, tear_down);

TEST(a_callback_without_a_sound_name_is_refused)
{
    char name[258];
    espl_custom_command out = 99;

    memset(name, 'n', sizeof name);
    name[256] = name[257] = 0;
    ck_status(espl_command_register(w, &(espl_custom_command_def){.function = hear}, &out),
              ESPL_ERR_ARGUMENT);
    ck_status(
        espl_command_register(w, &(espl_custom_command_def){.name = "", .function = hear}, &out),
        ESPL_ERR_ARGUMENT);
    ck_status(
        espl_command_register(w, &(espl_custom_command_def){.name = name, .function = hear}, &out),
        ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test.hooks.lines, 3);
    ck_assert_uint_eq(test.hooks.traps, 0);
    name[255] = 0;
    ck_assert_uint_eq(out, 99);
    ck_ok(
        espl_command_register(w, &(espl_custom_command_def){.name = name, .function = hear}, &out));
    ck_assert_uint_eq(out, 1);
}

TEST(a_callback_without_a_function_is_refused)
{
    const espl_custom_command_def none = {.name = "none"},
                                  some = {.name = "some", .function = hear};
    espl_custom_command out = 99;

    ck_status(espl_command_register(w, &none, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_register(w, NULL, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_register(w, &some, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test.hooks.lines, 3);
    ck_assert_uint_eq(test.hooks.traps, 0);
    ck_assert_uint_eq(out, 99);
}

TEST(registering_without_memory_changes_nothing)
{
    const espl_custom_command_def def = {.name = "sparks", .function = hear};
    espl_status status = ESPL_ERR_NO_MEMORY;
    espl_custom_command out = 0;
    size_t points = 0;

    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&test.heap, n, true);
        status = espl_command_register(w, &def, &out);
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || (status == ESPL_ERR_NO_MEMORY && out == 0));
        points += status != ESPL_OK;
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(points, 2);
    ck_assert_uint_eq(out, 1);
}

// --- With two lanes ---

static ear all;
static espl_command_buffer *commands;
static espl_report report;

static void begin(void)
{
    set_up();
    ear_begin(&all, w);
    commands = test_commands(w, 2);
}

static void end(void)
{
    espl_command_buffer_destroy(commands);
    tear_down();
}

FIXTURE(begin, end);

TEST(without_payloads_nobody_is_called)
{
    const espl_entity solo = test_solo(w);
    const note said = {.callback = 2};
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(all.visits + report.calls, 0);
    espl_command_buffer_reset(commands);
    ck_ok(espl_record_custom(recorder, 0, 3, &said, sizeof said, 0));
    espl_command_buffer_reset(commands);
    ck_ok(espl_record_destroy(recorder, 0, solo, ESPL_EXTENT_OWNED));
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(all.visits + report.calls, 0);
    ck_status(espl_play(w, commands, &report), ESPL_ERR_PLAYED);
    ck_assert_uint_eq(all.visits, 0);
}

TEST(calls_are_in_no_group)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    const espl_instance_def def = {.source = a, .parent = b};
    espl_entity pending[3];

    for (uint32_t i = 0; i < 50; ++i) {
        const note said = {0, 0, 0, i, 0};
        ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, 1, &said,
                                 sizeof said, 8));
    }
    espl_recorder *const other = espl_command_buffer_recorder(commands, 1);
    ck_ok(espl_record_instantiate(other, 0, &def, 3, pending));
    ck_ok(espl_record_destroy(other, 0, pending[1], ESPL_EXTENT_OWNED));
    ck_ok(espl_record_detach(other, 0, a, ESPL_KEEP_WORLD));
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.accepted, 53);
    ck_assert_uint_eq(report.calls, 50);
    ck_assert_uint_le(report.groups, 2);
    ck_assert_uint_le(report.largest_group, 3);
    ck_assert_uint_ge(report.largest_group, 2);
    ck_assert_uint_eq(report.pendings, 3);
    ck_assert_uint_eq(report.created, 2);
}

TEST(a_call_is_refused_when_recorded)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const struct {
        espl_custom_command callback;
        size_t size, alignment;
        espl_status status;
    } refused[] = {{0, 4, 1, ESPL_ERR_ARGUMENT},
                   {CALLBACKS + 1, 4, 1, ESPL_ERR_ARGUMENT},
                   {UINT32_MAX, 4, 1, ESPL_ERR_ARGUMENT},
                   {1, 4, 3, ESPL_ERR_ARGUMENT},
                   {1, 4, 2 * ESPL_PAYLOAD_ALIGNMENT_LIMIT, ESPL_ERR_LIMIT},
                   {1, 4, ((size_t)1 << (8 * sizeof(size_t) - 1)), ESPL_ERR_LIMIT},
                   {1, SIZE_MAX, 1, sizeof(size_t) > 4 ? ESPL_ERR_LIMIT : ESPL_ERR_NO_MEMORY}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        ck_assert_int_eq(espl_record_custom(recorder, 0, refused[i].callback, "data",
                                            refused[i].size, refused[i].alignment),
                         refused[i].status);
    }
    ck_assert_uint_eq(test.hooks.lines, sizeof refused / sizeof *refused);
    ck_assert_uint_eq(test.hooks.traps, 0);
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    ck_ok(espl_play(w, commands, NULL));
    ck_status(espl_record_custom(recorder, 0, 1, "data", 4, 1), ESPL_ERR_PLAYED);
    ck_assert_uint_eq(all.visits + test.hooks.traps, 0);
}

static void check_zeros(void *user, const espl_custom_calls *calls)
{
    static const unsigned char zeros[100];
    size_t *const visits = user;

    ck_assert_uint_eq(calls->count, 3);
    ck_assert_uint_eq(calls->payloads[0].size, 100);
    ck_assert(memcmp(calls->payloads[0].data, zeros, 100) == 0);
    ck_assert_uint_eq(calls->payloads[1].size, 0);
    ck_assert_ptr_null(calls->payloads[1].data);
    ck_assert_uint_eq(calls->payloads[2].size, 2);
    ck_assert(memcmp(calls->payloads[2].data, "hi", 2) == 0);
    *visits += 1;
}

TEST(payloads_may_be_zeros_or_nothing)
{
    size_t visits = 0;
    const espl_custom_command_def def = {.name = "z", .user = &visits, .function = check_zeros};
    espl_custom_command callback;

    ck_ok(espl_command_register(w, &def, &callback));
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    // What stands in memory that is used again must not shine through.
    for (int round = 0; round < 2; ++round) {
        ck_ok(espl_record_custom(recorder, 0, callback, NULL, 100, 64));
        ck_ok(espl_record_custom(recorder, 0, callback, &visits, 0, 0));
        ck_ok(espl_record_custom(recorder, 0, callback, "hi", 2, 0));
        ck_ok(espl_play(w, commands, NULL));
        espl_command_buffer_reset(commands);
        for (int i = 0; i < 3; ++i) {
            ck_ok(espl_record_custom(recorder, 0, callback, "\xEE\xEE\xEE\xEE\xEE\xEE\xEE", 8, 1));
        }
        espl_command_buffer_reset(commands);
    }
    ck_assert_uint_eq(visits, 2);
}

// --- Memory ---

TEST(without_memory_nobody_is_called_and_the_retry_calls_once)
{
    enum { CALLS = 60 };
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    const espl_entity solo = test_solo(w), parent = test_solo(w);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    size_t recording_points = 0;
    for (uint32_t i = 0; i < CALLS; ++i) {
        const note said = {i % CALLBACKS, i % 7, 0, i, i};
        status = ESPL_ERR_NO_MEMORY;
        for (size_t n = 1; status != ESPL_OK; ++n) {
            test_heap_arm(&test.heap, n, true);
            status =
                espl_record_custom(recorder, said.key, said.callback + 1, &said, sizeof said, 64);
            test_heap_arm(&test.heap, 0, false);
            ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
            recording_points += status != ESPL_OK;
            ck_assert_uint_eq(espl_command_buffer_count(commands),
                              i + (status == ESPL_OK ? 1u : 0u));
        }
    }
    ck_assert_uint_ge(recording_points, 3);
    ck_ok(espl_record_attach(recorder, 0, solo, parent, NULL));

    const uint64_t before = test_physical_hash(w);
    status = ESPL_ERR_NO_MEMORY;
    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&test.heap, n, true);
        status = espl_play(w, commands, NULL);
        test_heap_arm(&test.heap, 0, false);
        if (status != ESPL_OK) {
            ck_status(status, ESPL_ERR_NO_MEMORY);
            ck_assert_uint_eq(all.visits, 0);
            ck_assert_uint_eq(test_physical_hash(w), before);
            points += 1;
        }
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(points, 5);
    ck_assert_uint_eq(all.visits, CALLBACKS);
    ck_assert_uint_eq(all.heard_count, CALLS);
}

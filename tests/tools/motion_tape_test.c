// SPDX-License-Identifier: MIT
// Motion on the tape: ticks, and writes of every kind and flag in every form, replayed to equal hashes; and
// tapes of other versions.
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/tools/recorded_frames.h"
#include "tests/world/ways.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 6, TICKS = 3, VERSION_AT = 8 };

typedef struct scene {
    test_heap heap;
    test_hooks hooks;
    memory_tape tape;
    espl_world *world;
    espl_entity *chain;
} scene;

static recorded_frames noted;

static void scene_begin(scene *s)
{
    noted.count = 0;
    *s = (scene){.world = NULL};
    test_heap_init(&s->heap);
    const espl_world_def def = {.allocator = test_heap_allocator(&s->heap),
                                .hooks = test_hooks_of(&s->hooks),
                                .tag = 3,
                                .tape = {&s->tape, memory_tape_append}};

    ck_ok(espl_world_create(&def, &s->world));
    s->chain = make_chain(s->world, NODES);
    ck_ok(espl_set_inherit(s->world, s->chain[3], ESPL_ABSOLUTE_ROTATION));
}

// The world ends here; the tape stays.
static void scene_end(scene *s)
{
    free(s->chain);
    espl_world_destroy(s->world);
    ck_assert_uint_eq(s->heap.bytes, 0);
}

static replay_verdict play_tape(const scene *s, const espl_executor *executor,
                                replay_result *result)
{
    const replay_def def = {.executor = executor};

    return replay_run(&def, s->tape.bytes, s->tape.size, result);
}

static void end_frame(scene *s)
{
    end_recorded_frame(&noted, s->world, &s->tape);
}

// Write each kind with each flag once, and end a frame after each.
static size_t write_all(scene *s, write_way way, uint64_t *random)
{
    static const unsigned flags[3] = {0, ESPL_TELEPORT, ESPL_CARRY};
    size_t frames = 0;

    for (unsigned i = 0; i < 3 * ESPL_WRITE_KIND_COUNT; ++i) {
        espl_write write =
            write_ordinary(s->chain[test_below(random, NODES)], (espl_write_kind)(i / 3), random);

        write.kind = (espl_write_kind)((unsigned)write.kind | flags[i % 3]);
        // Kinds of the previous pose take no flag, which is on the tape as well.
        const espl_status status = way_write(way, s->world, &write);

        ck_assert(status >= 0 || status == ESPL_ERR_ARGUMENT || write.kind == ESPL_WRITE_CELL);
        end_frame(s);
        frames += 1;
    }
    return frames;
}

TEST_LOOP(ticks_and_flags_replay_to_equal_hashes, 0, WAY_COUNT)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 7, .random = 5};
    const espl_executor executors[2] = {(espl_executor){0}, test_executor_of(&hostile)};
    uint64_t random = (uint64_t)_i + 1;
    size_t frames = 1;
    scene s;

    scene_begin(&s);
    ck_ok(espl_motion_start(s.world, &(espl_motion_def){.history = (uint32_t)_i % 2 + 1}));
    for (int tick = 0; tick < TICKS; ++tick) {
        ck_ok(espl_tick_begin(s.world));
        frames += write_all(&s, (write_way)_i, &random);
        ck_ok(espl_tick_end(s.world));
        frames += write_all(&s, (write_way)_i, &random);
        ck_ok(espl_present(s.world, 0.5f, NULL));
    }
    ck_status(espl_motion_start(s.world, NULL), ESPL_ERR_EXISTS);
    ck_ok(espl_motion_stop(s.world));
    ck_status(espl_tick_begin(s.world), ESPL_ERR_ARGUMENT);
    end_frame(&s);
    scene_end(&s);
    for (int i = 0; i < 2; ++i) {
        const replay_def def = {.executor = &executors[i]};
        replay_result result;

        ck_assert_msg(replay_frames(&noted, &def, &s.tape, &result) == REPLAY_AGREED, "%s: %s",
                      way_name((write_way)_i), result.fault.text);
        ck_assert_uint_eq(result.frames, frames);
    }
    free(s.tape.bytes);
}

// Where the kind of a write of the handle with index i and the first generation is: behind the operation and
// 4 * 2 i + 1, in one byte.
static size_t kind_of_write(const scene *s, uint32_t index)
{
    ck_assert_uint_lt(8 * index + 1, 128);
    return s->tape.size + 2;
}

// A replay without the flag of one write shows something else.
TEST(a_flag_counts_in_a_replay)
{
    const float away[3] = {9, 9, 9};
    replay_result result;
    scene s;

    scene_begin(&s);
    ck_ok(espl_motion_start(s.world, NULL));
    ck_ok(espl_tick_begin(s.world));
    const size_t at = kind_of_write(&s, s.chain[1].index);
    ck_ok(espl_write_one(s.world, s.chain[1],
                         (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT), away));
    ck_ok(espl_tape_frame(s.world));
    scene_end(&s);
    ck_assert_int_eq(play_tape(&s, NULL, &result), REPLAY_AGREED);
    ck_assert_uint_eq(s.tape.bytes[at], ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT);
    s.tape.bytes[at] = ESPL_WRITE_LOCAL_POSITION;
    ck_assert_int_eq(play_tape(&s, NULL, &result), REPLAY_DISAGREED);
    free(s.tape.bytes);
}

// --- Earlier versions ---

static void append_number(memory_tape *tape, uint64_t number, size_t size)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(number >> (8 * i));
    }
    memory_tape_append(tape, bytes, size);
}

// Write a position by a call or a batch, and put the record in its place that tapes before version 7 have.
static void write_plainly(scene *s, espl_tape_op op, espl_entity entity, float x)
{
    const espl_write write = write_vector(entity, ESPL_WRITE_LOCAL_POSITION, x, 1, 2);
    const size_t before = s->tape.size;

    if (op == ESPL_TAPE_WRITE) {
        ck_ok(espl_set_local_position(s->world, entity, write.value.position));
    } else {
        ck_ok(espl_write_batch(s->world, &write, 1, NULL));
    }
    ck_assert_uint_eq(s->tape.bytes[before], op);
    s->tape.size = before + 1;
    if (op == ESPL_TAPE_WRITES) {
        append_number(&s->tape, 1, 8);
    }
    append_number(&s->tape, entity.index, 4);
    append_number(&s->tape, entity.generation, 4);
    append_number(&s->tape, write.kind, 4);
    for (int i = 0; i < 3; ++i) {
        uint32_t word;

        memcpy(&word, &write.value.position[i], sizeof word);
        append_number(&s->tape, word, 4);
    }
    append_number(&s->tape, ESPL_OK, 1);
}

// End a frame, and put the record in its place that tapes before version 8 have.
static void end_frame_plainly(scene *s)
{
    const uint64_t logical = test_logical_hash(s->world), physical = test_physical_hash(s->world);

    ck_ok(espl_tape_frame(s->world));
    s->tape.size -= FRAME_RECORD - 1;
    append_number(&s->tape, logical, 8);
    append_number(&s->tape, physical, 8);
    append_number(&s->tape, ESPL_OK, 1);
}

// A world without a write but these two.
static void record_plainly(scene *s, unsigned char version)
{
    espl_entity parent, child;

    *s = (scene){.world = NULL};
    test_heap_init(&s->heap);
    const espl_world_def def = {.allocator = test_heap_allocator(&s->heap),
                                .hooks = test_hooks_of(&s->hooks),
                                .tag = 3,
                                .tape = {&s->tape, memory_tape_append}};

    ck_ok(espl_world_create(&def, &s->world));
    parent = test_solo(s->world);
    child = test_solo(s->world);
    ck_ok(espl_attach(s->world, child, parent, NULL));
    if (version < 7) {
        write_plainly(s, ESPL_TAPE_WRITE, child, 5);
        write_plainly(s, ESPL_TAPE_WRITES, parent, -3);
    }
    if (version < 8) {
        end_frame_plainly(s);
    } else {
        ck_ok(espl_tape_frame(s->world));
    }
    s->tape.bytes[VERSION_AT] = version;
    scene_end(s);
}

TEST(tapes_of_earlier_versions_are_read)
{
    static const struct {
        unsigned char version;
        replay_verdict verdict;
        size_t behind;          // the last byte of the number that is compared, and bytes behind it
        replay_verdict changed; // where that is another one
    } rows[] = {{ESPL_TAPE_VERSION, REPLAY_AGREED, 1, REPLAY_DISAGREED},
                {8, REPLAY_AGREED, 1, REPLAY_DISAGREED},
                {7, REPLAY_AGREED, 9, REPLAY_DISAGREED},
                {7, REPLAY_AGREED, 1, REPLAY_AGREED}, // of the physical hash
                {6, REPLAY_AGREED, 9, REPLAY_DISAGREED},
                {5, REPLAY_AGREED, 9, REPLAY_DISAGREED},
                {4, REPLAY_AGREED, 9, REPLAY_DISAGREED},
                {4, REPLAY_AGREED, 1, REPLAY_AGREED},
                {3, REPLAY_BAD, 9, REPLAY_BAD},
                {ESPL_TAPE_VERSION + 1, REPLAY_BAD, 1, REPLAY_BAD}};
    char known[64];

    (void)snprintf(known, sizeof known, "version %d, where 4 to %d are known",
                   ESPL_TAPE_VERSION + 1, ESPL_TAPE_VERSION);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        replay_result result;
        scene s;

        record_plainly(&s, rows[i].version);
        ck_assert_int_eq(play_tape(&s, NULL, &result), rows[i].verdict);
        s.tape.bytes[s.tape.size - 1 - rows[i].behind] ^= 1;
        ck_assert_int_eq(play_tape(&s, NULL, &result), rows[i].changed);
        if (rows[i].version > ESPL_TAPE_VERSION) {
            ck_assert_ptr_nonnull(strstr(result.fault.text, known));
        }
        free(s.tape.bytes);
    }
}

// --- Size ---

// Limbs that turn a few degrees a frame: three numbers of three bytes each, and some bytes around them.
TEST_LOOP(a_turn_of_a_limb_takes_few_bytes, 0, 2)
{
    enum { FRAMES = 40 };
    const espl_write_kind kind = _i == 0 ? ESPL_WRITE_LOCAL_ROTATION : ESPL_WRITE_LOCAL_TRANSFORM;
    replay_result result;
    size_t size = 0;
    scene s;

    scene_begin(&s);
    ck_ok(espl_set_inherit(s.world, s.chain[3], 0));
    for (int frame = 0; frame < FRAMES; ++frame) {
        espl_write writes[NODES];

        for (int i = 0; i < NODES; ++i) {
            const float angle = 0.02f * (float)frame * (float)(i + 1);
            const espl_transform now = test_local_of(s.world, s.chain[i]);
            const float axis[3] = {0.6f, 0.48f, 0.64f};

            writes[i] = (espl_write){s.chain[i], kind, {.transform = now}};
            ck_ok(espl_quat_from_axis_angle(axis, angle, writes[i].value.rotation));
        }
        const size_t before = s.tape.size;

        ck_ok(espl_write_batch(s.world, writes, NODES, NULL));
        size += frame != 0 ? s.tape.size - before : 0;
        ck_ok(espl_tape_frame(s.world));
    }
    scene_end(&s);
    ck_assert_uint_le(size, (size_t)(FRAMES - 1) * (10 + NODES * (_i == 0 ? 12u : 14u)));
    ck_assert_int_eq(play_tape(&s, NULL, &result), REPLAY_AGREED);
    free(s.tape.bytes);
}

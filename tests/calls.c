// SPDX-License-Identifier: MIT
// Callbacks of a side: they write down what they are handed.
#include "tests/asserts.h"
#include "tests/changes.h"

#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_LIMIT = 128 };

static void fill_payload(unsigned char *out, const side_call *call)
{
    uint64_t state = call->seed;

    for (uint32_t i = 0; i < call->size; ++i) {
        out[i] = call->seed != 0 ? (unsigned char)test_random(&state) : 0;
    }
}

static uint64_t hash_of(const void *data, size_t size)
{
    return test_hash_bytes(TEST_HASH_START, data, size);
}

// --- What is handed over ---

static void check_calls(const side_ear *ear, const espl_custom_calls *calls)
{
    const test_side *const side = ear->side;
    espl_entity made = espl_entity_null();

    if (calls->world != side->world || calls->commands != side->batch || calls->count == 0) {
        ck_abort_msg("callback %u is told nothing of its playback", ear->callback);
    }
    if (espl_create(calls->world, NULL, 0, 1, &made) != ESPL_ERR_BUSY) {
        ck_abort_msg("a callback can change the structure");
    }
}

static void hear(void *user, const espl_custom_calls *calls)
{
    side_ear *const ear = user;
    test_side *const side = ear->side;

    check_calls(ear, calls);
    ear->playbacks += 1;
    if (side->heard_count + calls->count > side->heard_capacity) {
        side->heard_capacity = (side->heard_count + (uint32_t)calls->count) * 2 + 64;
        side->heard = realloc(side->heard, side->heard_capacity * sizeof *side->heard);
        ck_assert_ptr_nonnull(side->heard);
    }
    for (size_t i = 0; i < calls->count; ++i) {
        const espl_custom_payload *const payload = &calls->payloads[i];
        const espl_status played =
            espl_command_buffer_result(calls->commands, payload->lane, payload->index);

        if (played != ESPL_OK) {
            ck_abort_msg("a callback is handed what came to %s", espl_status_name(played));
        }
        // The alignment is known to who recorded it: here the address stands for it.
        side->heard[side->heard_count++] =
            (side_heard){.callback = ear->callback,
                         .key = payload->key,
                         .lane = payload->lane,
                         .index = payload->index,
                         .size = payload->size,
                         .hash = hash_of(payload->data, payload->size),
                         .address = (uintptr_t)payload->data};
    }
}

void side_register_callbacks(test_side *side)
{
    static const char *const names[SIDE_CALLBACKS] = {"first", "second", "third"};

    for (uint32_t i = 0; i < SIDE_CALLBACKS; ++i) {
        side_ear *const ear = &side->ears[i];
        const espl_custom_command_def def = {.name = names[i], .user = ear, .function = hear};

        *ear = (side_ear){.side = side, .callback = i};
        const espl_status status = espl_command_register(side->world, &def, &ear->number);
        if (status != ESPL_OK) {
            ck_abort_msg("callback %u: %s", i, espl_status_name(status));
        }
    }
}

// --- Recording ---

espl_status side_record_call(const test_side *side, espl_recorder *recorder, const operation *op)
{
    const side_call *const call = &op->call;
    const bool is_known = call->callback < SIDE_CALLBACKS;
    const espl_custom_command number =
        is_known ? side->ears[call->callback].number : side->ears[SIDE_CALLBACKS - 1].number + 1;
    unsigned char bytes[PAYLOAD_LIMIT];

    ck_assert_uint_le(call->size, PAYLOAD_LIMIT);
    fill_payload(bytes, call);
    return espl_record_custom(recorder, op->key, number, call->seed != 0 ? bytes : NULL, call->size,
                              call->alignment);
}

espl_status side_call_status(const side_call *call)
{
    const uint32_t alignment = call->alignment;
    const bool is_right = call->callback < SIDE_CALLBACKS && (alignment & (alignment - 1)) == 0 &&
                          alignment <= ESPL_PAYLOAD_ALIGNMENT_LIMIT;

    return is_right ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

// --- What was handed over ---

void side_expect_call(test_side *side, const test_tape *tape, const operation *op, uint32_t index)
{
    const side_call *const call = &op->call;
    const uint32_t alignment = call->alignment != 0 ? call->alignment : 1;
    unsigned char bytes[PAYLOAD_LIMIT];

    tape_demand(tape, side->heard_expected < side->heard_count, "%u payloads, and no more",
                side->heard_count);
    const side_heard *const got = &side->heard[side->heard_expected++];
    fill_payload(bytes, call);
    tape_demand(tape,
                got->callback == call->callback && got->key == op->key && got->lane == op->lane &&
                    got->index == index,
                "payload %u is for callback %u, key %u, lane %u, %u, not %u, %u, %u, %u",
                side->heard_expected - 1, got->callback, got->key, got->lane, got->index,
                call->callback, op->key, op->lane, index);
    tape_demand(tape, got->size == call->size && got->hash == hash_of(bytes, call->size),
                "payload %u of %zu bytes is another one", side->heard_expected - 1, got->size);
    tape_demand(tape, call->size == 0 || got->address % alignment == 0,
                "payload %u is not aligned to %u", side->heard_expected - 1, alignment);
}

void side_forget_calls(test_side *side, const test_tape *tape)
{
    tape_demand(tape, side->heard_expected == side->heard_count, "%u payloads, not %u",
                side->heard_count, side->heard_expected);
    for (uint32_t i = 0; i < SIDE_CALLBACKS; ++i) {
        tape_demand(tape, side->ears[i].playbacks <= 1, "callback %u is called %u times", i,
                    side->ears[i].playbacks);
        side->ears[i].playbacks = 0;
    }
    side->heard_count = side->heard_expected = 0;
}

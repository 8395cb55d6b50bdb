// SPDX-License-Identifier: MIT
// Writes of a tape: single ones by the function of their kind, as they were called, and batches.
#include "tools/replay.h"

#include <math.h>
#include <string.h>

size_t replay_value_words(uint32_t kind)
{
    static const uint8_t words[ESPL_WRITE_KIND_COUNT] = {
        [ESPL_WRITE_LOCAL_POSITION] = 3,
        [ESPL_WRITE_LOCAL_ROTATION] = 4,
        [ESPL_WRITE_LOCAL_SCALE] = 1,
        [ESPL_WRITE_LOCAL_POSE] = 8,
        [ESPL_WRITE_LOCAL_TRANSFORM] = 12,
        [ESPL_WRITE_STRETCH] = 3,
        [ESPL_WRITE_USER_DATA] = 1,
        [ESPL_WRITE_WORLD_POSITION] = 3,
        [ESPL_WRITE_WORLD_ROTATION] = 4,
        [ESPL_WRITE_WORLD_SCALE] = 1,
        [ESPL_WRITE_WORLD_POSE] = 8,
        [ESPL_WRITE_WORLD_TRANSFORM] = 12,
        [ESPL_WRITE_TRANSLATE_IN_PARENT] = 3,
        [ESPL_WRITE_ROTATE_IN_PARENT] = 4,
        [ESPL_WRITE_TRANSFORM_IN_PARENT] = 12,
        [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = 12,
        [ESPL_WRITE_TRANSLATE_WORLD] = 3,
        [ESPL_WRITE_ROTATE_WORLD] = 4,
        [ESPL_WRITE_TRANSFORM_WORLD] = 12,
        [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = 12,
        [ESPL_WRITE_MULTIPLY_SCALE] = 1,
        [ESPL_WRITE_MULTIPLY_STRETCH] = 3,
        [ESPL_WRITE_TRANSLATE_OWN] = 3,
        [ESPL_WRITE_ROTATE_OWN] = 4,
        [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = 8,
        [ESPL_WRITE_PREVIOUS_WORLD_POSE] = 8,
        [ESPL_WRITE_CELL] = 3,
        [ESPL_WRITE_ABSOLUTE_POSITION] = 6,
    };
    const uint32_t flag = kind & (ESPL_TELEPORT | ESPL_CARRY), plain = kind - flag;
    const uint32_t end = flag == 0 ? ESPL_WRITE_KIND_COUNT : ESPL_WRITE_PREVIOUS_LOCAL_POSE;

    return plain < end && (flag & (flag - 1)) == 0 ? words[plain] : 0;
}

// --- Values (espalier/tape.h, Writes) ---

enum { WORDS = sizeof(espl_transform) / 4 };

// Where the words of a value stand in a transform, by its kind without a flag.
static const uint8_t first_words[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = 4,    [ESPL_WRITE_WORLD_POSITION] = 4,
    [ESPL_WRITE_TRANSLATE_WORLD] = 4,   [ESPL_WRITE_TRANSLATE_IN_PARENT] = 4,
    [ESPL_WRITE_TRANSLATE_OWN] = 4,     [ESPL_WRITE_LOCAL_SCALE] = 7,
    [ESPL_WRITE_WORLD_SCALE] = 7,       [ESPL_WRITE_MULTIPLY_SCALE] = 7,
    [ESPL_WRITE_STRETCH] = 8,           [ESPL_WRITE_MULTIPLY_STRETCH] = 8,
    [ESPL_WRITE_USER_DATA] = 11,        [ESPL_WRITE_CELL] = 4,
    [ESPL_WRITE_ABSOLUTE_POSITION] = 4,
};

// Return the transform that a value is compared with.
static espl_transform expected_of(const replay *p, espl_entity entity, uint32_t kind)
{
    const bool is_world = kind >= ESPL_WRITE_WORLD_POSITION && kind <= ESPL_WRITE_WORLD_TRANSFORM;
    const bool is_local = kind <= ESPL_WRITE_USER_DATA || kind == ESPL_WRITE_PREVIOUS_LOCAL_POSE;
    espl_transform local = espl_transform_identity();

    if ((is_local || ((is_world || kind == ESPL_WRITE_PREVIOUS_WORLD_POSE) &&
                      espl_entity_is_null(espl_get_parent(p->world, entity)))) &&
        espl_get_inherit(p->world, entity) == 0) {
        (void)espl_get_local_transform(p->world, entity, &local);
    }
    return local;
}

// Find the component of a rotation with the largest magnitude, the first of equal ones.
static uint32_t largest_of(const float rotation[4])
{
    uint32_t largest = 0;

    for (uint32_t i = 1; i < 4; ++i) {
        if (fabsf(rotation[i]) > fabsf(rotation[largest])) {
            largest = i;
        }
    }
    return largest;
}

// What unit length makes of a component of a rotation, where another one differs from before.
static float expected_component(const float before[4], const float after[4], uint32_t component)
{
    double left = 1;
    bool is_same = true;

    for (uint32_t i = 0; i < 4; ++i) {
        if (i != component) {
            left -= (double)after[i] * (double)after[i]; // exact
            is_same = is_same && memcmp(&before[i], &after[i], sizeof before[i]) == 0;
        }
    }
    return is_same ? before[component]
                   : copysignf(left > 0 ? (float)sqrt(left) : 0, before[component]);
}

// The bits of a float from their number in the order of values, and back.
static uint32_t in_order(uint32_t bits)
{
    return (bits >> 31) != 0 ? bits ^ UINT32_C(0x7fffffff) : bits;
}

static uint32_t unfold(uint32_t folded)
{
    return (folded >> 1) ^ ((folded & 1) != 0 ? UINT32_MAX : 0);
}

// Read the difference of a word. @param sizes  two bits for each word.
static uint32_t read_difference(reel *r, const unsigned char *sizes, uint32_t word)
{
    static const unsigned char widths[4] = {0, 1, 3, 4};

    return unfold((uint32_t)reel_number(r, widths[sizes[word / 4] >> (2 * (word % 4)) & 3]));
}

static uint32_t with_difference(uint32_t expected, uint32_t difference)
{
    return in_order(in_order(expected) + difference);
}

// Make words of their differences. The largest component of a rotation comes last, because it is expected from
// the others.
static void apply_differences(uint32_t *words, const espl_transform *before, uint32_t first,
                              uint32_t count)
{
    const uint32_t largest = first == 0 ? largest_of(before->rotation) : WORDS;
    uint32_t expected[WORDS];
    float after[4], made;

    memcpy(expected, before, sizeof expected);
    for (uint32_t i = 0; i < count; ++i) {
        if (i != largest) {
            words[i] = with_difference(expected[first + i], words[i]);
        }
    }
    if (largest < WORDS) {
        memcpy(after, words, sizeof after);
        made = expected_component(before->rotation, after, largest);
        memcpy(&expected[largest], &made, sizeof made);
        words[largest] = with_difference(expected[largest], words[largest]);
    }
}

// Read the words of a value.
static void read_value(replay *p, espl_write *write)
{
    const uint32_t kind = (uint32_t)write->kind;
    const uint32_t plain = kind & ~(uint32_t)(ESPL_TELEPORT | ESPL_CARRY);
    const uint32_t count = (uint32_t)replay_value_words(kind);
    const unsigned char *const sizes = reel_bytes(&p->reel, (count + 3) / 4);
    uint32_t words[WORDS] = {0};

    if (count == 0 || sizes == NULL) {
        return;
    }
    const espl_transform before = expected_of(p, write->entity, plain);

    for (uint32_t i = 0; i < count; ++i) {
        words[i] = read_difference(&p->reel, sizes, i);
    }
    apply_differences(words, &before, first_words[plain], count);
    memcpy(&write->value, words, sizeof(uint32_t) * count);
}

// --- Writes ---

// Read a write as tapes before REPLAY_WRITES_VERSION have it.
static espl_write read_plain_write(reel *r)
{
    espl_write write = {.entity = reel_entity(r)};
    const uint32_t kind = reel_u32(r);

    write.kind = (espl_write_kind)kind;
    reel_floats(r, &write.value, replay_value_words(kind));
    return write;
}

// Return what the first write of a record is compared with.
static espl_write no_write(const replay *p)
{
    return (espl_write){.entity = {0, p->tag << 24 | 1}, .kind = ESPL_WRITE_KIND_COUNT};
}

// Read a write of differences. @param last  in and out: the write before.
static void read_differences(replay *p, espl_write *last)
{
    reel *const r = &p->reel;
    const uint64_t head = reel_varint(r);

    last->entity.index += unfold((uint32_t)(head >> 2));
    last->entity.generation += (head & 2) != 0 ? unfold((uint32_t)reel_varint(r)) : 0;
    if ((head & 1) != 0) {
        last->kind = (espl_write_kind)(uint32_t)reel_varint(r);
    }
    read_value(p, last);
}

// Read a write. The trace has what it is, not the differences. @param last  in and out: the write before.
static void read_write(replay *p, espl_write *last)
{
    reel *const r = &p->reel;
    reel_trace *const trace = r->trace;

    if (p->version < REPLAY_WRITES_VERSION) {
        *last = read_plain_write(r);
        return;
    }
    r->trace = NULL;
    read_differences(p, last);
    r->trace = trace;
    const uint32_t kind = (uint32_t)last->kind;

    reel_note(r, REEL_ENTITY, &(uint32_t[]){last->entity.index, last->entity.generation}, 2);
    reel_note(r, REEL_NUMBER, &(uint32_t[]){kind, 0}, 2);
    reel_note(r, REEL_FLOATS, &last->value, replay_value_words(kind));
}

static void hear_write(const replay *p, const espl_write *write)
{
    if (p->def->write != NULL && p->reel.state == REEL_GOOD) {
        p->def->write(p->def->user, write);
    }
}

void replay_writes(replay *p)
{
    reel *const r = &p->reel;
    const size_t count = reel_length(r, 8, p->version < REPLAY_WRITES_VERSION ? 12 : 1);
    espl_write *const writes = reel_list(r, count, sizeof *writes);
    espl_write last = no_write(p);

    for (size_t i = 0; writes != NULL && r->state == REEL_GOOD && i < count; ++i) {
        reel_item(r);
        read_write(p, &last);
        hear_write(p, &last);
        writes[i] = last;
    }
    if (replay_wants(p)) {
        replay_compare(p, "batch of writes", espl_write_batch(p->world, writes, count, NULL));
    }
}

void replay_write(replay *p)
{
    espl_write write = no_write(p);

    read_write(p, &write);
    hear_write(p, &write);
    if (replay_wants(p)) {
        replay_compare(p, "write",
                       espl_write_one(p->world, write.entity, write.kind, &write.value));
    }
}

void replay_look_at(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity entity = reel_entity(r);
    float target[3], up[3];

    reel_floats(r, target, 3);
    const bool has_up = reel_up_to(r, 1, "for a yes or no") != 0;

    reel_floats(r, up, has_up ? 3 : 0);
    const espl_axis forward = (espl_axis)reel_up_to(r, ESPL_AXIS_BACK, "for an axis");

    if (replay_wants(p)) {
        replay_compare(p, "look at",
                       espl_look_at(p->world, entity, target, has_up ? up : NULL, forward));
    }
}

void replay_rotate_about(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    float pivot[3], by[4];

    reel_floats(&p->reel, pivot, 3);
    reel_floats(&p->reel, by, 4);
    if (replay_wants(p)) {
        replay_compare(p, "rotate about", espl_rotate_about(p->world, entity, pivot, by));
    }
}

void replay_inherit(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t flags = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "set inherit flags", espl_set_inherit(p->world, entity, flags));
    }
}

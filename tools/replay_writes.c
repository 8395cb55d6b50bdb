// SPDX-License-Identifier: MIT
// Writes of a tape: single ones by the function of their kind, as they were called, and batches.
#include "tools/replay.h"

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
    };
    const uint32_t flag = kind & (ESPL_TELEPORT | ESPL_CARRY), plain = kind - flag;
    const uint32_t end = flag == 0 ? ESPL_WRITE_KIND_COUNT : ESPL_WRITE_PREVIOUS_LOCAL_POSE;

    return plain < end && (flag & (flag - 1)) == 0 ? words[plain] : 0;
}

static espl_write read_write(reel *r)
{
    espl_write write = {.entity = reel_entity(r)};
    const uint32_t kind = reel_u32(r);

    write.kind = (espl_write_kind)kind;
    reel_words(r, &write.value, replay_value_words(kind));
    return write;
}

void replay_writes(replay *p)
{
    reel *const r = &p->reel;
    const size_t count = reel_length(r, 8, 12);
    espl_write *const writes = reel_list(r, count, sizeof *writes);

    for (size_t i = 0; writes != NULL && i < count; ++i) {
        writes[i] = read_write(r);
    }
    if (replay_wants(p)) {
        replay_compare(p, "batch of writes", espl_write_batch(p->world, writes, count, NULL));
    }
}

void replay_write(replay *p)
{
    const espl_write write = read_write(&p->reel);

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

    reel_words(r, target, 3);
    const bool has_up = reel_up_to(r, 1, "for a yes or no") != 0;

    reel_words(r, up, has_up ? 3 : 0);
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

    reel_words(&p->reel, pivot, 3);
    reel_words(&p->reel, by, 4);
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

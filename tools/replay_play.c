// SPDX-License-Identifier: MIT
// A recorded playback: its commands are recorded anew, lane by lane, then played.
#include "tools/replay.h"

#include <stdlib.h>
#include <string.h>

enum { TAKEN = 0xffff, MADE_LIMIT = 1 << 24, TAG_BITS = 23 };

// What the commands made so far, by lane: handles of the replay's own.
typedef struct lane {
    espl_entity *pending; // [made]
    uint32_t made;
} lane;

typedef struct playback {
    replay *p;
    espl_command_buffer *commands;
    uint32_t lane_count, tag;
    lane lanes[ESPL_LANE_LIMIT];
} playback;

// A command as the tape has it.
typedef struct command {
    uint32_t lane, kind, key;
    espl_entity target, parent, before;
    uint32_t count;
    uint32_t link, place, dead_parent, position, rotation, scale, inherit;
    espl_write_value head;
    espl_component_value values[ESPL_SET_LIMIT + 1]; // one more: the placement
    espl_component removed[ESPL_SET_LIMIT];
    size_t value_count, removed_count;
} command;

// A pending entity of these commands as the replay has it; any other handle as it is.
static espl_entity read_operand(playback *b)
{
    const espl_entity entity = reel_entity(&b->p->reel);
    const uint32_t number = (entity.generation >> TAG_BITS) & 0xffu;

    if (entity.generation >> 31 == 0) {
        return entity;
    }
    if ((entity.generation & ((1u << TAG_BITS) - 1)) != b->tag || number >= b->lane_count ||
        entity.index >= b->lanes[number].made) {
        reel_blame(&b->p->reel, "a command names a pending entity that was not made");
        return espl_entity_null();
    }
    return b->lanes[number].pending[entity.index];
}

static size_t head_words(const command *c)
{
    switch (c->kind) {
    case ESPL_TAPE_COMMAND_INSTANTIATE:
    case ESPL_TAPE_COMMAND_CREATE:
        return 12;
    case ESPL_TAPE_COMMAND_CHANGE:
        return c->place == 1 ? 12 : 0;
    case ESPL_TAPE_COMMAND_WRITE:
        return replay_value_words(c->place);
    default:
        return 0;
    }
}

static void read_head(reel *r, command *c)
{
    const size_t words = head_words(c);
    const uint32_t size = reel_u32(r);

    if (r->state == REEL_GOOD && size != 4 * words) {
        reel_blame(r, "a command has a head of another size than its kind");
        return;
    }
    reel_floats(r, &c->head, words);
    if (words == 12 && c->kind != ESPL_TAPE_COMMAND_WRITE &&
        c->kind != ESPL_TAPE_COMMAND_INSTANTIATE) {
        c->values[c->value_count++] =
            (espl_component_value){ESPL_TRANSFORM, sizeof(espl_transform), &c->head};
    }
}

static void read_values(reel *r, command *c)
{
    const uint32_t count = reel_up_to(r, 2 * ESPL_SET_LIMIT, "values");

    for (uint32_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        const espl_component component = reel_component(r);
        const uint32_t size = reel_up_to(r, TAKEN, "bytes of a value");
        const bool is_taken = size == TAKEN;

        if ((is_taken ? c->removed_count : c->value_count) >= ESPL_SET_LIMIT) {
            reel_blame(r, "a command has too many values");
        } else if (is_taken) {
            c->removed[c->removed_count++] = component;
        } else {
            c->values[c->value_count++] =
                (espl_component_value){component, size, reel_bytes(r, size)};
        }
    }
}

static void read_command(playback *b, command *c)
{
    reel *const r = &b->p->reel;
    uint32_t *const rules[7] = {&c->link,     &c->place, &c->dead_parent, &c->position,
                                &c->rotation, &c->scale, &c->inherit};

    reel_item(r);
    *c = (command){.lane = reel_u32(r)};
    c->kind = (uint32_t)reel_number(r, 1);
    c->key = reel_u32(r);
    c->target = read_operand(b);
    c->parent = read_operand(b);
    c->before = read_operand(b);
    c->count = reel_u32(r);
    for (size_t i = 0; i < 7; ++i) {
        *rules[i] = (uint32_t)reel_number(r, 1);
    }
    (void)reel_number(r, 1);
    if (r->state == REEL_GOOD && (c->lane >= b->lane_count || c->kind >= ESPL_TAPE_COMMAND_COUNT)) {
        reel_blame(r, "a command of kind %u in lane %u", c->kind, c->lane);
    }
    read_head(r, c);
    read_values(r, c);
}

// Room for the handles of what a command makes; NULL where there is none.
static espl_entity *grow_pending(playback *b, const command *c)
{
    lane *const l = &b->lanes[c->lane];

    if (c->count > MADE_LIMIT - l->made) {
        return NULL;
    }
    espl_entity *const pending = realloc(l->pending, (l->made + c->count + 1) * sizeof *pending);

    if (pending == NULL) {
        return NULL;
    }
    l->pending = pending;
    return pending + l->made;
}

static espl_instance_def instance_of(const command *c)
{
    return (espl_instance_def){.source = c->target,
                               .parent = c->parent,
                               .before = c->before,
                               .link = (espl_link)c->link,
                               .dead_parent = (espl_dead_parent)c->dead_parent,
                               .place = (espl_place)c->place,
                               .transform = c->head.transform,
                               .values = c->values,
                               .value_count = c->value_count,
                               .inherit = c->inherit};
}

static espl_creation_def creation_of(const command *c)
{
    return (espl_creation_def){.values = c->values,
                               .value_count = c->value_count,
                               .parent = c->parent,
                               .before = c->before,
                               .link = (espl_link)c->link,
                               .dead_parent = (espl_dead_parent)c->dead_parent,
                               .place = (espl_place)c->place,
                               .inherit = c->inherit};
}

static espl_status record_maker(playback *b, espl_recorder *recorder, const command *c)
{
    espl_entity *const pending = grow_pending(b, c);
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (pending == NULL) {
        return status;
    }
    if (c->kind == ESPL_TAPE_COMMAND_INSTANTIATE) {
        const espl_instance_def def = instance_of(c);

        status = espl_record_instantiate(recorder, c->key, &def, c->count, pending);
    } else {
        const espl_creation_def def = creation_of(c);

        status = espl_record_create(recorder, c->key, &def, c->count, pending);
    }
    b->lanes[c->lane].made += !espl_failed(status) ? c->count : 0;
    return status;
}

static espl_status record_attach(espl_recorder *recorder, const command *c)
{
    const espl_attach_options options = {.position = (espl_keep)c->position,
                                         .rotation = (espl_keep)c->rotation,
                                         .scale = (espl_keep)c->scale,
                                         .link = (espl_link)c->link,
                                         .before = c->before,
                                         .inherit = c->inherit};

    return espl_record_attach(recorder, c->key, c->target, c->parent, &options);
}

static espl_status record_components(espl_recorder *recorder, const command *c)
{
    const espl_component placement = ESPL_TRANSFORM;
    espl_component removed[ESPL_SET_LIMIT + 1] = {placement};
    const size_t first = c->place == 2 ? 1 : 0;

    if (c->kind == ESPL_TAPE_COMMAND_SET) {
        return c->value_count != 1
                   ? ESPL_ERR_ARGUMENT
                   : espl_record_set_component(recorder, c->key, c->target, c->values[0].component,
                                               c->values[0].data, c->values[0].size);
    }
    memcpy(removed + first, c->removed, c->removed_count * sizeof *removed);
    const espl_change_def def = {.add = c->values,
                                 .add_count = c->value_count,
                                 .remove = removed,
                                 .remove_count = c->removed_count + first};

    return espl_record_change_components(recorder, c->key, c->target, &def);
}

static espl_status record(playback *b, const command *c)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(b->commands, c->lane);

    switch ((espl_tape_command)c->kind) {
    case ESPL_TAPE_COMMAND_INSTANTIATE:
    case ESPL_TAPE_COMMAND_CREATE:
    case ESPL_TAPE_COMMAND_CREATE_BARE:
        return record_maker(b, recorder, c);
    case ESPL_TAPE_COMMAND_DESTROY:
        return espl_record_destroy(recorder, c->key, c->target, (espl_extent)c->place);
    case ESPL_TAPE_COMMAND_ATTACH:
        return record_attach(recorder, c);
    case ESPL_TAPE_COMMAND_DETACH:
        return espl_record_detach(recorder, c->key, c->target, (espl_keep)c->position);
    case ESPL_TAPE_COMMAND_SIBLING:
        return espl_record_move_before(recorder, c->key, c->target, c->before);
    case ESPL_TAPE_COMMAND_WRITE:
        return espl_record_write(recorder, c->key, c->target, (espl_write_kind)c->place, &c->head);
    case ESPL_TAPE_COMMAND_INHERIT:
        return espl_record_set_inherit(recorder, c->key, c->target, c->inherit);
    case ESPL_TAPE_COMMAND_CHANGE:
    case ESPL_TAPE_COMMAND_SET:
        return record_components(recorder, c);
    case ESPL_TAPE_COMMAND_ENABLE:
        return espl_record_set_enabled(recorder, c->key, c->target, (espl_extent)c->place, true);
    case ESPL_TAPE_COMMAND_DISABLE:
        return espl_record_set_enabled(recorder, c->key, c->target, (espl_extent)c->place, false);
    case ESPL_TAPE_COMMAND_COUNT:
        break;
    }
    return ESPL_ERR_ARGUMENT;
}

static void record_all(playback *b)
{
    reel *const r = &b->p->reel;
    const uint64_t count = reel_number(r, 8);
    command *const c = reel_list(r, 1, sizeof *c);

    for (uint64_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        read_command(b, c);
        const espl_status status = r->state == REEL_GOOD ? record(b, c) : ESPL_OK;

        if (espl_failed(status)) {
            reel_blame(r, "command %llu cannot be recorded: %s", (unsigned long long)i,
                       espl_status_name(status));
        }
    }
}

void replay_playback(replay *p)
{
    reel *const r = &p->reel;
    const uint32_t lane_count = reel_up_to(r, ESPL_LANE_LIMIT, "lanes");
    playback *const b = reel_list(r, 1, sizeof *b);

    if (b == NULL) {
        return;
    }
    *b = (playback){.p = p, .lane_count = lane_count, .tag = reel_counter(r)};
    const espl_status made = espl_command_buffer_create(p->world, lane_count, &b->commands);

    if (espl_failed(made)) {
        reel_blame(r, "commands of %u lanes cannot be made: %s", lane_count,
                   espl_status_name(made));
        return;
    }
    record_all(b);
    if (replay_wants(p)) {
        replay_compare(p, "playback", espl_play(p->world, b->commands, NULL));
    }
    espl_command_buffer_destroy(b->commands);
    for (uint32_t i = 0; i < lane_count; ++i) {
        free(b->lanes[i].pending);
    }
}

static espl_status make(const replay *p, const command *c)
{
    if (c->kind == ESPL_TAPE_COMMAND_INSTANTIATE) {
        const espl_instance_def def = instance_of(c);

        return espl_instantiate(p->world, &def, c->count, NULL);
    }
    const espl_creation_def def = creation_of(c);

    return espl_create_at(p->world, &def, c->count, NULL);
}

void replay_make(replay *p)
{
    playback *const b = reel_list(&p->reel, 1, sizeof *b);
    command *const c = reel_list(&p->reel, 1, sizeof *c);

    if (b == NULL || c == NULL) {
        return;
    }
    // A tag of no pending handle.
    *b = (playback){.p = p, .lane_count = 1, .tag = UINT32_MAX};
    read_command(b, c);
    if (p->reel.state == REEL_GOOD && c->kind > ESPL_TAPE_COMMAND_CREATE_BARE) {
        reel_blame(&p->reel, "a command of kind %u makes nothing", c->kind);
    }
    if (replay_wants(p)) {
        replay_compare(p, "making", make(p, c));
    }
}

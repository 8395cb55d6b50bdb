// SPDX-License-Identifier: MIT
// Recording: appends to one lane and touches nothing else but the heap, which is locked.
#include "lib/commands/commands.h"
#include "lib/tree/placement.h"

#include <string.h>

enum { PAYLOAD_ALIGNMENT = 8 };

// --- The object ---

static size_t object_size(uint32_t lanes)
{
    return sizeof(espl_commands) + lanes * sizeof(espl_recorder);
}

// One round for all worlds, so that pending handles of one mean nothing in another.
static _Atomic uint32_t next_tag;

static void take_tag(espl_commands *commands)
{
    const uint32_t mask = (UINT32_C(1) << ESPL__PENDING_TAG_BITS) - 1;

    commands->tag = atomic_fetch_add(&next_tag, 1) & mask;
}

espl_status espl__commands_make(espl__heap *heap, const espl__store *store, const void *world,
                                _Atomic uint32_t *alive, espl_commands **submitted, uint32_t lanes,
                                espl_commands **out)
{
    if (lanes == 0 || lanes > ESPL_LANE_LIMIT) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_commands *const commands =
        espl__heap_take(heap, ESPL__FOR_RECORDING, 1, object_size(lanes), _Alignof(max_align_t));
    if (commands == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memset(commands, 0, object_size(lanes));
    commands->heap = heap;
    commands->store = store;
    commands->world = world;
    commands->alive = alive;
    atomic_fetch_add(alive, 1);
    commands->submitted = submitted;
    commands->lane_count = lanes;
    take_tag(commands);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        commands->recorders[lane].owner = commands;
        commands->recorders[lane].number = lane;
    }
    *out = commands;
    return ESPL_OK;
}

void espl__commands_withdraw(espl_commands *commands)
{
    espl_commands **at = commands->submitted;

    while (commands->is_submitted && *at != NULL) {
        if (*at == commands) {
            *at = commands->next;
            break;
        }
        at = &(*at)->next;
    }
    commands->is_submitted = false;
    commands->next = NULL;
}

void espl_commands_destroy(espl_commands *commands)
{
    if (commands == NULL) {
        return;
    }
    espl__heap *const heap = commands->heap;

    atomic_fetch_sub(commands->alive, 1);
    espl__commands_withdraw(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->commands);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->payload);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->created);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->results);
    }
    espl__heap_give(heap, ESPL__FOR_RECORDING, commands, 1, object_size(commands->lane_count),
                    _Alignof(max_align_t));
}

void espl_commands_reset(espl_commands *commands)
{
    if (!ESPL_DEMAND(NULL, commands != NULL)) {
        return;
    }
    espl__commands_withdraw(commands);
    commands->is_played = false;
    take_tag(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        espl__array_set_length(lane->commands, 0);
        espl__array_set_length(lane->payload, 0);
        espl__array_set_length(lane->created, 0);
        espl__array_set_length(lane->results, 0);
        lane->pending_count = 0;
    }
}

espl_recorder *espl_commands_recorder(espl_commands *commands, uint32_t lane)
{
    return ESPL_DEMAND(NULL, commands != NULL) && lane < commands->lane_count
               ? &commands->recorders[lane]
               : NULL;
}

size_t espl_commands_count(const espl_commands *commands)
{
    size_t count = 0;

    if (!ESPL_DEMAND(NULL, commands != NULL)) {
        return 0;
    }
    for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
        count += espl__array_length(commands->recorders[lane].lane.commands);
    }
    return count;
}

espl_status espl_commands_submit(espl_commands *commands)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || commands->is_submitted) {
        return ESPL_ERR_ARGUMENT;
    }
    if (commands->is_played) {
        return ESPL_ERR_PLAYED;
    }

    espl_commands **end = commands->submitted;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = commands;
    commands->next = NULL;
    commands->is_submitted = true;
    return ESPL_OK;
}

espl_status espl_commands_resolve(const espl_commands *commands, espl_entity pending,
                                  espl_entity *out)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || !ESPL_DEMAND(commands->hooks, out != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (espl_entity_is_null(pending)) {
        return ESPL_ERR_NULL_ENTITY;
    }
    if (!espl__is_pending(pending)) {
        return ESPL_ERR_ARGUMENT;
    }
    const uint32_t lane = espl__pending_lane(pending);
    if (espl__pending_tag(pending) != commands->tag || lane >= commands->lane_count ||
        pending.index >= commands->recorders[lane].lane.pending_count) {
        return ESPL_ERR_FOREIGN;
    }
    if (!commands->is_played) {
        return ESPL_ERR_DEAD;
    }
    const espl_entity created = commands->recorders[lane].lane.created[pending.index];
    if (espl_entity_is_null(created)) {
        return ESPL_ERR_DEAD;
    }
    *out = created;
    return ESPL_OK;
}

espl_status espl_commands_result(const espl_commands *commands, uint32_t lane, uint32_t index)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || !commands->is_played ||
        lane >= commands->lane_count ||
        index >= espl__array_length(commands->recorders[lane].lane.commands)) {
        return ESPL_ERR_ARGUMENT;
    }
    return commands->recorders[lane].lane.results[index];
}

// --- Refusals while recording ---

// Another commands object's pending handle, or one not handed out, is known for foreign now.
static espl_status check_operand(const espl_commands *owner, espl_entity entity)
{
    if (espl_entity_is_null(entity)) {
        return ESPL_ERR_NULL_ENTITY;
    }
    if (espl__is_pending(entity) && (espl__pending_tag(entity) != owner->tag ||
                                     espl__pending_lane(entity) >= owner->lane_count)) {
        return ESPL_ERR_FOREIGN;
    }
    return ESPL_OK;
}

static espl_status check_optional(const espl_commands *owner, espl_entity entity)
{
    return espl_entity_is_null(entity) ? ESPL_OK : check_operand(owner, entity);
}

static espl_status check_recorder(const espl_recorder *recorder)
{
    if (!ESPL_DEMAND(NULL, recorder != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    return recorder->owner->is_played ? ESPL_ERR_PLAYED : ESPL_OK;
}

// --- Appending ---

static bool reserve(espl_recorder *recorder, size_t payload_size, size_t pending)
{
    espl__lane *const lane = &recorder->lane;
    espl__heap *const heap = recorder->owner->heap;

    return ESPL_ARRAY_RESERVE(heap, ESPL__FOR_RECORDING, lane->commands, 1) &&
           ESPL_ARRAY_RESERVE(heap, ESPL__FOR_RECORDING, lane->payload, payload_size + 1) &&
           ESPL_ARRAY_RESERVE(heap, ESPL__FOR_RECORDING, lane->created,
                              lane->pending_count - espl__array_length(lane->created) + pending);
}

static void append_payload(espl__lane *lane, const void *bytes, size_t size)
{
    const size_t length = espl__array_length(lane->payload);
    const size_t rounded = (size + PAYLOAD_ALIGNMENT - 1) & ~(size_t)(PAYLOAD_ALIGNMENT - 1);

    memset(lane->payload + length, 0, rounded);
    if (bytes != NULL) {
        memcpy(lane->payload + length, bytes, size);
    }
    espl__array_set_length(lane->payload, length + rounded);
}

// Append a command with a payload of some bytes or none. Everything was checked.
static espl_status append(espl_recorder *recorder, const espl__command *command,
                          const void *payload, size_t size)
{
    espl__lane *const lane = &recorder->lane;
    espl__command complete = *command;

    if (espl__array_length(lane->payload) > UINT32_MAX / 2 ||
        espl__array_length(lane->commands) > UINT32_MAX / 2) {
        return ESPL_ERR_LIMIT;
    }
    if (!reserve(recorder, size + PAYLOAD_ALIGNMENT, 0)) {
        return ESPL_ERR_NO_MEMORY;
    }
    complete.payload = (uint32_t)espl__array_length(lane->payload);
    if (payload != NULL) {
        append_payload(lane, payload, size);
    }
    ESPL_ARRAY_PUSH(lane->commands, complete);
    return ESPL_OK;
}

static espl_status record_target(espl_recorder *recorder, uint32_t key, espl_entity target,
                                 uint8_t kind)
{
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : check_operand(recorder->owner, target);
    if (status != ESPL_OK) {
        return status;
    }
    return append(recorder, &(espl__command){.target = target, .key = key, .kind = kind}, NULL, 0);
}

espl_status espl_record_destroy(espl_recorder *recorder, uint32_t key, espl_entity entity)
{
    return record_target(recorder, key, entity, ESPL__COMMAND_DESTROY);
}

espl_status espl_record_destroy_subtree(espl_recorder *recorder, uint32_t key, espl_entity entity)
{
    return record_target(recorder, key, entity, ESPL__COMMAND_DESTROY_SUBTREE);
}

espl_status espl_record_destroy_only(espl_recorder *recorder, uint32_t key, espl_entity entity)
{
    return record_target(recorder, key, entity, ESPL__COMMAND_DESTROY_ONLY);
}

espl_status espl_record_attach(espl_recorder *recorder, uint32_t key, espl_entity child,
                               espl_entity parent, const espl_attach_options *options)
{
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : check_operand(recorder->owner, child);
    status = status != ESPL_OK ? status : check_operand(recorder->owner, parent);
    status = status != ESPL_OK ? status : check_optional(recorder->owner, o->before);
    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__options_are_valid(o)) {
        return ESPL_ERR_ARGUMENT;
    }
    return append(recorder,
                  &(espl__command){.target = child,
                                   .parent = parent,
                                   .before = o->before,
                                   .key = key,
                                   .kind = ESPL__COMMAND_ATTACH,
                                   .link = (uint8_t)o->link,
                                   .stay_position = (uint8_t)o->position,
                                   .stay_rotation = (uint8_t)o->rotation,
                                   .stay_scale = (uint8_t)o->scale,
                                   .inherit = (uint8_t)o->inherit},
                  NULL, 0);
}

espl_status espl_record_detach(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_stay keep)
{
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : check_operand(recorder->owner, entity);
    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__is_stay(keep)) {
        return ESPL_ERR_ARGUMENT;
    }
    return append(recorder,
                  &(espl__command){.target = entity,
                                   .key = key,
                                   .kind = ESPL__COMMAND_DETACH,
                                   .stay_position = (uint8_t)keep,
                                   .stay_rotation = (uint8_t)keep,
                                   .stay_scale = (uint8_t)keep},
                  NULL, 0);
}

espl_status espl_record_set_sibling(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    espl_entity before)
{
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : check_operand(recorder->owner, entity);
    status = status != ESPL_OK ? status : check_optional(recorder->owner, before);
    if (status != ESPL_OK) {
        return status;
    }
    return append(
        recorder,
        &(espl__command){
            .target = entity, .before = before, .key = key, .kind = ESPL__COMMAND_SIBLING},
        NULL, 0);
}

espl_status espl_record_write(espl_recorder *recorder, uint32_t key, const espl_write *write)
{
    espl_status status = check_recorder(recorder);

    if (status == ESPL_OK && !ESPL_DEMAND(recorder->owner->hooks, write != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    status = status != ESPL_OK ? status : check_operand(recorder->owner, write->entity);
    if (status != ESPL_OK) {
        return status;
    }
    // What the kind does not read may be anything, and is not kept.
    espl_write_value value = {.transform = {{0}, {0}, 0, {0}, 0}};

    espl__write_load(&value, write->kind, &write->value);
    status = espl__write_check(write->kind, &value);
    if (status != ESPL_OK) {
        return status;
    }
    return append(recorder,
                  &(espl__command){.target = write->entity,
                                   .key = key,
                                   .kind = ESPL__COMMAND_WRITE,
                                   .place = (uint8_t)write->kind},
                  &value, sizeof value);
}

static espl_status record_transform(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    const espl_transform *value, espl_write_kind kind)
{
    espl_write write = {.entity = entity, .kind = kind};
    const espl_status status = check_recorder(recorder);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_DEMAND(recorder->owner->hooks, value != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    write.value.transform = *value;
    return espl_record_write(recorder, key, &write);
}

espl_status espl_record_set_local(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                  const espl_transform *value)
{
    return record_transform(recorder, key, entity, value, ESPL_WRITE_LOCAL);
}

espl_status espl_record_set_world(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                  const espl_transform *value)
{
    return record_transform(recorder, key, entity, value, ESPL_WRITE_WORLD);
}

espl_status espl_record_set_inherit(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    uint32_t flags)
{
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : check_operand(recorder->owner, entity);
    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__flags_are_valid(flags)) {
        return ESPL_ERR_ARGUMENT;
    }
    return append(
        recorder,
        &(espl__command){
            .target = entity, .key = key, .kind = ESPL__COMMAND_INHERIT, .inherit = (uint8_t)flags},
        NULL, 0);
}

// --- Instantiate ---

static espl_status check_values(const espl_commands *owner, const espl_instance_def *def,
                                size_t *payload_size)
{
    if (def->value_count > ESPL_SET_LIMIT ||
        !ESPL_DEMAND(owner->hooks, def->values != NULL || def->value_count == 0)) {
        return ESPL_ERR_ARGUMENT;
    }
    for (size_t i = 0; i < def->value_count; ++i) {
        const espl_component component = def->values[i].component;
        const espl__component_info *const info = espl__component_info_of(owner->store, component);

        // A clone gets its role and placement by itself.
        if (info == NULL || component <= ESPL_MEMBER || info->size != def->values[i].size) {
            return ESPL_ERR_ARGUMENT;
        }
        *payload_size += sizeof(espl__value_header) + info->size + PAYLOAD_ALIGNMENT;
    }
    return ESPL_OK;
}

static espl_status check_instance(const espl_commands *owner, const espl_instance_def *def,
                                  espl_transform *transform, size_t *payload_size)
{
    espl_status status = check_operand(owner, def->source);

    status = status != ESPL_OK ? status : check_optional(owner, def->parent);
    status = status != ESPL_OK ? status : check_optional(owner, def->before);
    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__is_link(def->link) || (unsigned)def->place > ESPL_PLACE_WORLD ||
        (unsigned)def->orphan > ESPL_ORPHAN_ROOT || !espl__flags_are_valid(def->inherit) ||
        (def->inherit != 0 && espl_entity_is_null(def->parent))) {
        return ESPL_ERR_ARGUMENT;
    }
    *transform = espl_transform_identity();
    *payload_size = sizeof *transform;
    if (def->place != ESPL_PLACE_SOURCE) {
        *transform = def->transform;
        status = espl_transform_normalize(transform);
    }
    return status != ESPL_OK ? status : check_values(owner, def, payload_size);
}

static void append_values(espl__lane *lane, const espl_instance_def *def)
{
    for (size_t i = 0; i < def->value_count; ++i) {
        const espl__value_header header = {def->values[i].component, (uint32_t)def->values[i].size};

        append_payload(lane, &header, sizeof header);
        append_payload(lane, def->values[i].data, def->values[i].size);
    }
}

espl_status espl_record_instantiate(espl_recorder *recorder, uint32_t key,
                                    const espl_instance_def *def, size_t count,
                                    espl_entity *pending)
{
    espl_status status = check_recorder(recorder);
    espl_transform transform;
    size_t payload_size = 0;

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_DEMAND(recorder->owner->hooks, def != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    status = check_instance(recorder->owner, def, &transform, &payload_size);
    if (status != ESPL_OK || count == 0) {
        return status;
    }
    espl__lane *const lane = &recorder->lane;
    if (count >= ESPL_PENDING_LIMIT - lane->pending_count ||
        espl__array_length(lane->payload) > UINT32_MAX / 2) {
        return ESPL_ERR_LIMIT;
    }
    if (!reserve(recorder, payload_size, count)) {
        return ESPL_ERR_NO_MEMORY;
    }

    const espl__command command = {.target = def->source,
                                   .parent = def->parent,
                                   .before = def->before,
                                   .key = key,
                                   .count = (uint32_t)count,
                                   .pending = lane->pending_count,
                                   .payload = (uint32_t)espl__array_length(lane->payload),
                                   .value_count = (uint32_t)def->value_count,
                                   .kind = ESPL__COMMAND_INSTANTIATE,
                                   .link = (uint8_t)def->link,
                                   .place = (uint8_t)def->place,
                                   .orphan = (uint8_t)def->orphan,
                                   .inherit = (uint8_t)def->inherit};
    append_payload(lane, &transform, sizeof transform);
    append_values(lane, def);
    ESPL_ARRAY_PUSH(lane->commands, command);
    for (size_t i = 0; pending != NULL && i < count; ++i) {
        pending[i] = espl__pending_handle(recorder->owner->tag, recorder->number,
                                          lane->pending_count + (uint32_t)i);
    }
    lane->pending_count += (uint32_t)count;
    return ESPL_OK;
}

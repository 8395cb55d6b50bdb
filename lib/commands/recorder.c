// SPDX-License-Identifier: MIT
// Recording: a call checks a command and appends it to one lane.
//
// Input: handles and values of the caller. Output: one record, its payload, and pending handles. A
// call writes nothing but its lane and the heap, which is locked, so that different lanes may be
// recorded by different threads at the same time.
//
// Invariant: a call that is refused or that fails appends nothing, and is logged.
//
// What can be checked without the world is checked here. The paths of destroy, attach and
// instantiate are inlined, because they are called for thousands of entities in a frame.
#include "lib/commands/explain.h"
#include "lib/tree/writes.h"

#include <string.h>

// Check that a recorder may be written. A buffer that was played has to be reset first, because its
// results belong to the commands that it has.
static inline espl_status check_recorder(const espl_recorder *recorder)
{
    if (recorder == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return recorder->owner->is_played ? ESPL_ERR_PLAYED : ESPL_OK;
}

espl_status espl__check_recorder(const espl_recorder *recorder)
{
    return check_recorder(recorder);
}

// --- Appending ---

// Reserve the next command of a lane, to be filled and then appended by append_in_place(); NULL: no
// memory. The command is built in place, because a copy of it took longer than the rest of the
// call.
static inline espl__command *next_command(espl_recorder *recorder)
{
    espl__lane *const lane = &recorder->lane;

    return ESPL_ARRAY_RESERVE(recorder->owner->heap, ESPL__FOR_RECORDING, lane->commands, 1)
               ? &lane->commands[espl__array_length(lane->commands)]
               : NULL;
}

// Append the command that was built in place, and find room for its payload. Precondition: it is
// the reserved command. @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
static inline espl_status append_in_place(espl_recorder *recorder, espl__command *command,
                                          size_t size, size_t alignment, unsigned char **bytes)
{
    espl__lane *const lane = &recorder->lane;
    const size_t count = espl__array_length(lane->commands);
    uint32_t place = 0;

    ESPL_CHECK(command == &lane->commands[count] && command->kind < ESPL__COMMAND_KINDS);
    ESPL_CHECK(alignment <= ESPL__PAYLOAD_ALIGNMENT);
    // Past what memory holds.
    if (count > UINT32_MAX / 2) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    const espl_status status =
        espl__payloads_find(&lane->payloads, recorder->owner->heap, size, alignment, &place);
    if (status != ESPL_OK) {
        return status;
    }
    command->payload = place;
    espl__array_set_length(lane->commands, count + 1);
    *bytes = espl__payloads_use(&lane->payloads, place, size);
    ESPL_CHECK(alignment == 0 || (uintptr_t)*bytes % alignment == 0);
    return ESPL_OK;
}

// Log that a command could not be recorded. @return the status.
static ESPL__APART espl_status refuse_append(const espl_recorder *recorder, const char *call,
                                             espl_status status)
{
    return espl__recorded(recorder, call, status);
}

// Append the command that was built in place, without a payload.
static inline espl_status append_bare(espl_recorder *recorder, espl__command *command)
{
    return append_in_place(recorder, command, 0, ESPL__PAYLOAD_UNIT, &(unsigned char *){NULL});
}

// Note what the next command may do. An upper bound: it stays where the append fails.
static inline void note_traits(espl_recorder *recorder, unsigned traits)
{
    recorder->lane.traits |= traits;
}

// Reserve the next command of a lane, and fill it with a copy. NULL: no memory.
static espl__command *copy_command(espl_recorder *recorder, const espl__command *command)
{
    espl__command *const next = next_command(recorder);

    if (next != NULL) {
        *next = *command;
        note_traits(recorder, espl__command_traits(command));
    }
    return next;
}

espl_status espl__append_room(espl_recorder *recorder, const espl__command *command, size_t size,
                              size_t alignment, unsigned char **bytes)
{
    espl__command *const next = copy_command(recorder, command);

    return next == NULL ? ESPL_ERR_NO_MEMORY
                        : append_in_place(recorder, next, size, alignment, bytes);
}

espl_status espl__append(espl_recorder *recorder, const espl__command *command)
{
    espl__command *const next = copy_command(recorder, command);

    return next == NULL ? ESPL_ERR_NO_MEMORY : append_bare(recorder, next);
}

// --- Values ---

// The layout of a payload: the transform if there is one, then the values.
ESPL__INLINE espl__value_layout layout_payload(const espl_transform *transform,
                                               const espl__given *given, size_t count)
{
    espl__value_layout layout = espl__values_begin(transform != NULL ? sizeof *transform : 0);

    for (size_t i = 0; i < count; ++i) {
        (void)espl__layout_value(&layout, espl__value_size(&given[i].header),
                                 given[i].header.alignment);
    }
    return layout;
}

// Write a payload as layout_payload() has it.
ESPL__INLINE void write_payload(unsigned char *payload, const espl_transform *transform,
                                const espl__given *given, size_t count)
{
    espl__value_layout layout = espl__values_begin(transform != NULL ? sizeof *transform : 0);

    if (transform != NULL) {
        memcpy(payload, transform, sizeof *transform);
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t size = espl__value_size(&given[i].header);
        unsigned char *const at = payload + layout.size;
        unsigned char *const bytes =
            payload + espl__layout_value(&layout, size, given[i].header.alignment);

        memcpy(at, &given[i].header, sizeof given[i].header);
        if (given[i].bytes != NULL && size != 0) {
            memcpy(bytes, given[i].bytes, size);
        } else {
            memset(bytes, 0, size);
        }
    }
}

// Append a command that was built in place and that may make entities. Inlined, because most calls
// have no values, and half of the function is constant then.
// @param pending  [command->count] out: handles of the entities; may be NULL.
ESPL__INLINE espl_status append_making(espl_recorder *recorder, espl__command *command,
                                       const espl_transform *transform, const espl__given *given,
                                       size_t count, espl_entity *pending)
{
    espl__lane *const lane = &recorder->lane;
    const espl__value_layout layout = layout_payload(transform, given, count);
    const uint32_t made = command->count, first = lane->pending_count;
    // Room for the entities is taken now, so that a playback need not fail at its end.
    const size_t handles = first - espl__array_length(lane->created) + made;
    unsigned char *payload = NULL;

    ESPL_CHECK(first <= ESPL_PENDING_LIMIT);
    // Past what memory holds.
    if (made >= ESPL_PENDING_LIMIT - first) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    if (!ESPL_ARRAY_RESERVE(recorder->owner->heap, ESPL__FOR_RECORDING, lane->created, handles)) {
        return ESPL_ERR_NO_MEMORY;
    }
    command->pending = first;
    const espl_status status =
        append_in_place(recorder, command, layout.size, layout.alignment, &payload);
    if (status != ESPL_OK) {
        return status;
    }
    write_payload(payload, transform, given, count);
    // Handles are given out last, once nothing can fail.
    for (uint32_t i = 0; pending != NULL && i < made; ++i) {
        pending[i] = espl__pending_handle(recorder->owner->tag, recorder->number, first + i);
    }
    lane->pending_count = first + made;
    return ESPL_OK;
}

// As append_making(), out of line, for commands with values.
ESPL__APART static espl_status append_valued(espl_recorder *recorder, espl__command *command,
                                             const espl_transform *transform,
                                             const espl__given *given, size_t count,
                                             espl_entity *pending)
{
    return append_making(recorder, command, transform, given, count, pending);
}

espl_status espl__append_given(espl_recorder *recorder, const espl__command *command,
                               const espl_transform *transform, const espl__given *given,
                               size_t count, espl_entity *pending)
{
    espl__command *const next = copy_command(recorder, command);

    if (next == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    note_traits(recorder, transform != NULL ? espl__transform_traits(transform) : 0);
    return append_valued(recorder, next, transform, given, count, pending);
}

// --- Commands on one entity ---

espl_status espl__refuse_target(const espl_recorder *recorder, const char *call, espl_entity entity,
                                espl_status status, const char *why)
{
    return espl__refuse_record(recorder, call, status,
                               &(espl__cause){.named = {{"entity", entity}}, .why = why});
}

espl_status espl_record_destroy(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                espl_extent extent)
{
    static const char *const call = "espl_record_destroy";
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return espl__refuse_target(recorder, call, entity, status,
                                   "extent is none of espl_extent.");
    }
    espl__command *const command = next_command(recorder);
    if (command == NULL) {
        return espl__recorded(recorder, call, ESPL_ERR_NO_MEMORY);
    }
    *command = (espl__command){
        .target = entity, .key = key, .kind = ESPL__COMMAND_DESTROY, .place = (uint8_t)extent};
    return espl__recorded(recorder, call, append_bare(recorder, command));
}

// Refuse an attach, and log why. @return the status.
static ESPL__APART espl_status refuse_attach(const espl_recorder *recorder, espl_entity child,
                                             espl_entity parent, const espl_attach_options *o,
                                             espl_status status)
{
    static const char *const call = "espl_record_attach";

    if (status == ESPL_ERR_UNSUPPORTED) {
        return espl__refuse_record_later(recorder, call);
    }
    return espl__refuse_record(
        recorder, call, status,
        &(espl__cause){{{"child", child}, {"parent", parent}, {"before", o->before}},
                       .why = espl__options_fault(o)});
}

// Check an attach as far as it can be without the world.
static inline espl_status check_attach(const espl_recorder *recorder, const espl_entity *child,
                                       const espl_entity *parent, const espl_attach_options *o)
{
    espl_status status = check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, child);
    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, parent);
    status = status != ESPL_OK ? status : espl__check_optional(recorder->owner, &o->before);
    if (status != ESPL_OK) {
        return status;
    }
    if (ESPL__ASKS_LATER(o)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    return espl__options_are_valid(o) ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

espl_status espl_record_attach(espl_recorder *recorder, uint32_t key, espl_entity child,
                               espl_entity parent, const espl_attach_options *options)
{
    static const espl_attach_options defaults;
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const espl_status status = check_attach(recorder, &child, &parent, o);

    if (status != ESPL_OK) {
        return refuse_attach(recorder, child, parent, o, status);
    }
    espl__command *const command = next_command(recorder);
    if (command == NULL) {
        return refuse_append(recorder, "espl_record_attach", ESPL_ERR_NO_MEMORY);
    }
    espl__fill_attach(command, key, child, parent, o);
    note_traits(recorder, espl__link_traits((uint32_t)o->inherit));
    const espl_status appended = append_bare(recorder, command);

    return appended == ESPL_OK ? ESPL_OK : refuse_append(recorder, "espl_record_attach", appended);
}

espl_status espl_record_detach(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_keep keep)
{
    static const char *const call = "espl_record_detach";
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status != ESPL_OK) {
        return espl__refuse_target(recorder, call, entity, status, NULL);
    }
    if (!espl__is_stay(keep)) {
        return espl__refuse_target(recorder, call, entity, ESPL_ERR_ARGUMENT,
                                   "keep is none of espl_keep.");
    }
    const espl__command command = {.target = entity,
                                   .key = key,
                                   .kind = ESPL__COMMAND_DETACH,
                                   .stay_position = (uint8_t)keep,
                                   .stay_rotation = (uint8_t)keep,
                                   .stay_scale = (uint8_t)keep};

    return espl__recorded(recorder, call, espl__append(recorder, &command));
}

espl_status espl_record_move_before(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    espl_entity before)
{
    static const char *const call = "espl_record_move_before";
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    status = status != ESPL_OK ? status : espl__check_optional(recorder->owner, &before);
    if (status != ESPL_OK) {
        return espl__refuse_record(
            recorder, call, status,
            &(espl__cause){.named = {{"entity", entity}, {"before", before}}});
    }
    const espl__command command = {
        .target = entity, .before = before, .key = key, .kind = ESPL__COMMAND_SIBLING};

    return espl__recorded(recorder, call, espl__append(recorder, &command));
}

// --- Writes ---

// Append a write whose value was checked and normalised, and find room for the value: the whole union,
// because the playback reads payloads of one size. @param wants_side  as espl__write_wants_side() tells.
static inline espl_status append_write(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                       espl_write_kind kind, bool wants_side, unsigned char **bytes)
{
    espl__command *const command = next_command(recorder);

    if (command == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    *command = (espl__command){
        .target = entity, .key = key, .kind = ESPL__COMMAND_WRITE, .place = (uint8_t)kind};
    note_traits(recorder, wants_side ? ESPL__LANE_WANTS_SIDE : 0);
    return append_in_place(recorder, command, sizeof(espl_write_value), ESPL__PAYLOAD_UNIT, bytes);
}

// Record any write, or refuse it.
static ESPL__APART espl_status record_any_write(espl_recorder *recorder, uint32_t key,
                                                espl_entity entity, espl_write_kind kind,
                                                const void *value, const char *call)
{
    // Zero, because a kind may fill only a part, and payloads are compared and taped as bytes.
    espl_write_value loaded = {.transform = {{0}, {0}, 0, {0}, 0}};
    unsigned char *bytes = NULL;
    espl__sentence sentence;
    espl_status status = espl__check_recorder(recorder);

    if (status == ESPL_OK && value == NULL) {
        status = ESPL_ERR_ARGUMENT;
    }
    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status == ESPL_OK) {
        espl__write_load(&loaded, kind, value);
        status = espl__write_check(kind, &loaded);
    }
    if (status != ESPL_OK) {
        return espl__refuse_target(recorder, call, entity, status,
                                   espl__write_fault(&sentence, kind, value));
    }
    status = append_write(recorder, key, entity, kind,
                          espl__write_wants_side(espl__write_base(kind), &loaded), &bytes);
    if (status == ESPL_OK) {
        memcpy(bytes, &loaded, sizeof loaded);
        espl__remark_recorded(recorder, call, "entity", entity, espl__write_blank(kind, &loaded));
    }
    return espl__recorded(recorder, call, status);
}

// Tell whether a value is a whole local pose that is neither refused nor normalised, nor remarked on.
static inline bool is_usual_value(espl_write_kind kind, const void *value)
{
    return value != NULL && espl__value_is_usual(kind, value) && !espl__pose_is_blank(value) &&
           espl__value_is_sound(value, false);
}

// Fast path: a usual value is copied from the caller to the payload, with the stretch that it has.
espl_status espl__record_write(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_write_kind kind, const void *value, const char *call)
{
    const espl__extra none = espl__extra_default();
    unsigned char *bytes = NULL;

    if (check_recorder(recorder) != ESPL_OK ||
        espl__check_operand(recorder->owner, &entity) != ESPL_OK || !is_usual_value(kind, value)) {
        return record_any_write(recorder, key, entity, kind, value, call);
    }
    const espl_status status = append_write(recorder, key, entity, kind, false, &bytes);

    if (status == ESPL_OK) {
        memcpy(bytes, value, sizeof(espl_pose));
        memcpy(bytes + sizeof(espl_pose), &none, sizeof none);
    }
    return espl__recorded(recorder, call, status);
}

espl_status espl_record_write(espl_recorder *recorder, uint32_t key, espl_entity entity,
                              espl_write_kind kind, const void *value)
{
    return espl__record_write(recorder, key, entity, kind, value, "espl_record_write");
}

// Refuse a NULL pointer; where the buffer was played, because of that.
static espl_status refuse_null(const espl_recorder *recorder, const char *call, const char *why)
{
    const espl_status status = espl__check_recorder(recorder);

    return espl__refuse_record(recorder, call, status != ESPL_OK ? status : ESPL_ERR_ARGUMENT,
                               &(espl__cause){.why = why});
}

espl_status espl_record_set_inherit(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    uint32_t flags)
{
    static const char *const call = "espl_record_set_inherit";
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status == ESPL_OK && !espl__flags_are_valid(flags)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return espl__refuse_target(recorder, call, entity, status, espl__flags_fault(flags));
    }
    const espl__command command = {
        .target = entity, .key = key, .kind = ESPL__COMMAND_INHERIT, .inherit = (uint8_t)flags};

    return espl__recorded(recorder, call, espl__append(recorder, &command));
}

// --- Instantiate ---

// Check the values of a clone. @param given  [ESPL_SET_LIMIT] out: the values with their sizes.
static espl_status check_values(const espl_command_buffer *owner, const espl_instance_def *def,
                                espl__given *given)
{
    if (def->value_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    if (def->values == NULL && def->value_count != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    for (size_t i = 0; i < def->value_count; ++i) {
        const espl_component component = def->values[i].component;
        const espl__component_info *const info = espl__component_info_of(owner->store, component);

        // The role and the transform of a clone follow from the other fields.
        if (info == NULL || component <= ESPL_MEMBER || info->size != def->values[i].size) {
            return ESPL_ERR_ARGUMENT;
        }
        given[i] = (espl__given){{component, (uint16_t)info->size, (uint16_t)info->alignment},
                                 def->values[i].data};
    }
    return ESPL_OK;
}

// Check all of a clone but its transform and its values.
static espl_status check_instance(const espl_command_buffer *owner, const espl_instance_def *def)
{
    espl_status status = espl__check_operand(owner, &def->source);

    status = status != ESPL_OK ? status : espl__check_optional(owner, &def->parent);
    status = status != ESPL_OK ? status : espl__check_optional(owner, &def->before);
    if (status != ESPL_OK) {
        return status;
    }
    return !espl__is_link(def->link) || (unsigned)def->place > ESPL_PLACE_WORLD ||
                   (unsigned)def->dead_parent > ESPL_DEAD_PARENT_ROOT ||
                   !espl__flags_are_valid(def->inherit) ||
                   (def->inherit != 0 && espl_entity_is_null(def->parent))
               ? ESPL_ERR_ARGUMENT
               : ESPL_OK;
}

// The transform of a clone: that of the caller if it is valid as it is, because a copy takes time;
// else a valid one in `room`. NULL: it is not finite.
static inline const espl_transform *find_transform(const espl_instance_def *def,
                                                   espl_transform *room)
{
    if (def->place == ESPL_PLACE_SOURCE) {
        *room = espl__transform_identity();
        return room;
    }
    if (espl__rotation_is_unit(def->transform.rotation) &&
        espl__transform_is_finite(&def->transform)) {
        return &def->transform;
    }
    *room = def->transform;
    return espl_transform_normalize(room) == ESPL_OK ? room : NULL;
}

// Say which value of a clone is wrong, or NULL. @param cause  out: the value.
static const char *find_bad_value(const espl_command_buffer *owner, const espl_instance_def *def,
                                  espl__cause *cause)
{
    const char *why = NULL;

    if (def->values == NULL && def->value_count != 0) {
        return "def->values is NULL, but def->value_count is not 0.";
    }
    for (size_t i = 0; i < def->value_count && why == NULL; ++i) {
        const espl_component_value *const value = &def->values[i];

        why = value->component == ESPL_TRANSFORM
                  ? "The transform of a clone is def->transform; leave it out of def->values."
                  : espl__component_fault(owner->store, value->component, value->size,
                                          ESPL__USE_GIVEN);
        cause->value = why != NULL ? value : NULL;
    }
    return why;
}

// Log why a clone is refused. @return the status.
static ESPL__APART espl_status refuse_instance(const espl_recorder *recorder, const char *call,
                                               const espl_instance_def *def, espl_status status)
{
    espl__cause cause = {
        .named = {{"source", def->source}, {"parent", def->parent}, {"before", def->before}}};
    espl__sentence sentence;

    if (status == ESPL_ERR_NOT_FINITE) {
        cause.why = espl__transform_fault(&sentence, &def->transform);
    } else if (status == ESPL_ERR_ARGUMENT) {
        cause.why = espl__rules_fault(def->link, def->place, def->dead_parent, def->inherit,
                                      !espl_entity_is_null(def->parent));
        cause.why = cause.why != NULL ? cause.why : find_bad_value(recorder->owner, def, &cause);
    }
    return espl__refuse_record(recorder, call, status, &cause);
}

// Append a clone that was checked.
ESPL__INLINE espl_status append_instance(espl_recorder *recorder, uint32_t key,
                                         const espl_instance_def *def,
                                         const espl_transform *transform, const espl__given *given,
                                         size_t count, espl_entity *pending)
{
    if (count >= ESPL_PENDING_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl__command *const command = next_command(recorder);
    if (command == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    ESPL_CHECK(transform != NULL && count != 0);
    // Field by field: see espl__fill_attach(). append_making() writes `pending` and `payload`.
    command->target = def->source;
    command->parent = def->parent;
    command->before = def->before;
    command->key = key;
    command->count = (uint32_t)count;
    command->value_count = (uint32_t)def->value_count;
    command->kind = ESPL__COMMAND_INSTANTIATE;
    command->link = (uint8_t)def->link;
    command->place = (uint8_t)def->place;
    command->dead_parent = (uint8_t)def->dead_parent;
    command->stay_position = command->stay_rotation = command->stay_scale = 0;
    command->inherit = (uint8_t)def->inherit;
    note_traits(recorder,
                espl__link_traits((uint32_t)def->inherit) | espl__transform_traits(transform));
    return def->value_count == 0
               ? append_making(recorder, command, transform, NULL, 0, pending)
               : append_valued(recorder, command, transform, given, def->value_count, pending);
}

espl_status espl__record_instantiate(espl_recorder *recorder, uint32_t key,
                                     const espl_instance_def *def, size_t count,
                                     espl_entity *pending, const char *call)
{
    espl_status status = check_recorder(recorder);
    const espl_transform *transform = NULL;
    espl__given given[ESPL_SET_LIMIT];
    espl_transform room;

    if (status != ESPL_OK || def == NULL) {
        return refuse_null(recorder, call, "def is NULL.");
    }
    status = check_instance(recorder->owner, def);
    if (status == ESPL_OK) {
        transform = find_transform(def, &room);
        status =
            transform == NULL ? ESPL_ERR_NOT_FINITE : check_values(recorder->owner, def, given);
    }
    if (status != ESPL_OK) {
        return refuse_instance(recorder, call, def, status);
    }
    if (count == 0) {
        return ESPL_OK;
    }
    status = append_instance(recorder, key, def, transform, given, count, pending);
    if (status != ESPL_OK) {
        return refuse_append(recorder, call, status);
    }
    const char *const blank =
        def->place != ESPL_PLACE_SOURCE ? espl__transform_blank(&def->transform) : NULL;

    if (blank != NULL) {
        espl__remark_recorded(recorder, call, "source", def->source, blank);
    }
    return ESPL_OK;
}

espl_status espl_record_instantiate(espl_recorder *recorder, uint32_t key,
                                    const espl_instance_def *def, size_t count,
                                    espl_entity *pending)
{
    static const char *const call = "espl_record_instantiate";

    return def != NULL && ESPL__ASKS_LATER(def)
               ? espl__refuse_record_later(recorder, call)
               : espl__record_instantiate(recorder, key, def, count, pending, call);
}

espl_status espl_record_spawn(espl_recorder *recorder, uint32_t key, espl_entity prefab,
                              espl_entity parent, const espl_transform *local, espl_entity *pending)
{
    const espl_instance_def def = espl__spawn_def(prefab, parent, local);

    return espl__record_instantiate(recorder, key, &def, 1, pending, "espl_record_spawn");
}

// SPDX-License-Identifier: MIT
// Recording of creations and of changes of components.
//
// Input: lists of components that a caller gives or removes (change_list.h). Output: one command, whose
// payload has the transform first, then a header and the bytes of each value, then a header of each
// component that is removed. What can be checked without the world is checked here, with the statuses of
// the immediate calls.
#include "lib/commands/change_list.h"

#include "lib/math/pose.h"

#include <string.h>

// --- Changes ---

// Log a transform that is given with a scale or stretch of 0.
static void remark_zero_listed(const espl_recorder *recorder, const char *call,
                               const espl__change_list *l, espl_entity entity)
{
    if (l->placement == ESPL__PLACEMENT_COMES) {
        espl__remark_recorded(recorder, call, "entity", entity,
                              espl__transform_blank(&l->transform));
    }
}

// Return the public function that messages name for a change: an inline form, where one fits.
static const char *call_of_record(const espl_change_def *def)
{
    if (def != NULL && def->add_count == 1 && def->remove_count == 0) {
        return "espl_record_add_component";
    }
    return def != NULL && def->add_count == 0 && def->remove_count == 1
               ? "espl_record_remove_component"
               : "espl_record_change_components";
}

// Order of the checks: the recorder, the pointers of the definition, the handle, the counts, the
// components. The world is not read: whether the entity lives and has the components is known only
// at the playback.
espl_status espl_record_change_components(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                          const espl_change_def *def)
{
    const char *const call = call_of_record(def);
    const char *const fault = espl__change_fault(def);
    espl__change_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK || fault != NULL) {
        return espl__refuse_target(recorder, call, entity,
                                   status != ESPL_OK ? status : ESPL_ERR_ARGUMENT, fault);
    }
    espl__change_list_begin(&l, recorder->owner->store);
    status = espl__check_operand(recorder->owner, &entity);
    status = status != ESPL_OK ? status : espl__change_list_read(&l, def);
    if (status != ESPL_OK) {
        l.cause.named[0] = (espl__mention){"entity", entity};
        return espl__refuse_record(recorder, call, status, &l.cause);
    }
    const espl__command command = {.target = entity,
                                   .key = key,
                                   .value_count = (uint32_t)l.value_count,
                                   .kind = ESPL__COMMAND_CHANGE,
                                   .place = (uint8_t)l.placement};

    status = espl__change_list_append(recorder, &l, &command, NULL);
    if (status == ESPL_OK) {
        remark_zero_listed(recorder, call, &l, entity);
    }
    return espl__recorded(recorder, call, status);
}

// Order of the checks: the recorder, the handle, the component and its size, the pointer. `data`
// may be NULL for a tag alone, whose value has no bytes.
espl_status espl_record_add_component(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                      espl_component component, const void *data, size_t size)
{
    const espl_component_value value = {component, size, data};

    return espl_record_change_components(recorder, key, entity,
                                         &(espl_change_def){.add = &value, .add_count = 1});
}

espl_status espl_record_remove_component(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                         espl_component component)
{
    return espl_record_change_components(
        recorder, key, entity, &(espl_change_def){.remove = &component, .remove_count = 1});
}

espl_status espl_record_set_component(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                      espl_component component, const void *data, size_t size)
{
    static const char *const call = "espl_record_set_component";
    const espl_component_value value = {component, size, data};
    espl__cause cause = {.named = {{"entity", entity}}};
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status != ESPL_OK) {
        return espl__refuse_record(recorder, call, status, &cause);
    }
    cause.why = espl__component_fault(recorder->owner->store, component, size, ESPL__USE_GIVEN);
    cause.why = cause.why == NULL && data == NULL && size != 0 ? "data is NULL." : cause.why;
    if (cause.why != NULL) {
        cause.value = &value;
        return espl__refuse_record(recorder, call, ESPL_ERR_ARGUMENT, &cause);
    }
    // A transform has no column: its value is written.
    if (component == ESPL_TRANSFORM) {
        return espl__record_write(recorder, key, entity, ESPL_WRITE_LOCAL_TRANSFORM, data, call);
    }
    const espl__component_info *const info =
        espl__component_info_of(recorder->owner->store, component);

    ESPL_CHECK(info != NULL && info->size == size);
    const espl__given given = {{component, (uint16_t)size, (uint16_t)info->alignment}, data};
    const espl__command command = {
        .target = entity, .key = key, .value_count = 1, .kind = ESPL__COMMAND_SET};

    return espl__recorded(recorder, call,
                          espl__append_given(recorder, &command, NULL, &given, 1, NULL));
}

// --- Enable and disable ---

// Record an enable or a disable. Its extent is resolved at the playback, so that it covers the
// descendants of that moment.
// @param call  name of the public function.
static espl_status record_extent(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                 espl_extent extent, uint8_t kind, const char *call)
{
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, &entity);
    if (status != ESPL_OK) {
        return espl__refuse_target(recorder, call, entity, status, NULL);
    }
    if ((unsigned)extent > ESPL_EXTENT_SUBTREE) {
        return espl__refuse_target(recorder, call, entity, ESPL_ERR_ARGUMENT,
                                   "extent is none of espl_extent.");
    }
    const espl__command command = {
        .target = entity, .key = key, .kind = kind, .place = (uint8_t)extent};

    return espl__recorded(recorder, call, espl__append(recorder, &command));
}

espl_status espl_record_set_enabled(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                    espl_extent extent, bool enabled)
{
    return record_extent(recorder, key, entity, extent,
                         enabled ? ESPL__COMMAND_ENABLE : ESPL__COMMAND_DISABLE,
                         "espl_record_set_enabled");
}

// --- Creations ---

// Check a creation and list its values: the handles first, then the rules, then the values. Flags
// are valid only with a transform, because a node without one copies its parent.
// @param l  out: the values, or the cause of the refusal.
// @return ESPL_OK; ESPL_ERR_FOREIGN and ESPL_ERR_PENDING of the handles; ESPL_ERR_ARGUMENT;
//         ESPL_ERR_NOT_FINITE; ESPL_ERR_LIMIT.
static espl_status check_creation(const espl_command_buffer *owner, const espl_creation_def *def,
                                  espl__change_list *l)
{
    espl_status status = espl__check_optional(owner, &def->parent);

    status = status != ESPL_OK ? status : espl__check_optional(owner, &def->before);
    if (status != ESPL_OK) {
        return status;
    }
    l->cause.why = espl__rules_fault(def->link, def->place, def->dead_parent, def->inherit,
                                     !espl_entity_is_null(def->parent));
    if (l->cause.why == NULL && def->values == NULL && def->value_count != 0) {
        l->cause.why = "def->values is NULL, but def->value_count is not 0.";
    }
    if (l->cause.why != NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    status = espl__change_list_values(l, def->values, def->value_count);
    if (status == ESPL_OK && def->inherit != 0 && l->placement == ESPL__PLACEMENT_STAYS) {
        l->cause.why = "def->inherit is given without ESPL_TRANSFORM among def->values.";
        return ESPL_ERR_ARGUMENT;
    }
    return status;
}

// Append a creation that was checked. A command counts its entities in 32 bits, and each of them
// takes a pending handle. @param count  not 0. @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
static espl_status append_creation(espl_recorder *recorder, uint32_t key,
                                   const espl_creation_def *def, const espl__change_list *l,
                                   size_t count, espl_entity *pending)
{
    const bool is_placed = l->placement == ESPL__PLACEMENT_COMES;

    ESPL_CHECK(count != 0 && (is_placed || def->inherit == 0));
    if (count >= ESPL_PENDING_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__change_list_append(
        recorder, l,
        &(espl__command){.parent = def->parent,
                         .before = def->before,
                         .key = key,
                         .count = (uint32_t)count,
                         .value_count = (uint32_t)l->value_count,
                         .kind = is_placed ? ESPL__COMMAND_CREATE : ESPL__COMMAND_CREATE_BARE,
                         .link = (uint8_t)def->link,
                         .place = (uint8_t)def->place,
                         .dead_parent = (uint8_t)def->dead_parent,
                         .inherit = (uint8_t)def->inherit},
        pending);
}

// The body of espl_record_create() and of the immediate creations, which pass their own name. Where
// `count` is 0, `pending` is not written.
espl_status espl__record_create(espl_recorder *recorder, uint32_t key, const espl_creation_def *def,
                                size_t count, espl_entity *pending, const char *call)
{
    espl__change_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK || def == NULL) {
        return espl__refuse_record(recorder, call, status != ESPL_OK ? status : ESPL_ERR_ARGUMENT,
                                   &(espl__cause){.why = "def is NULL."});
    }
    espl__change_list_begin(&l, recorder->owner->store);
    status = check_creation(recorder->owner, def, &l);
    if (status != ESPL_OK) {
        l.cause.named[0] = (espl__mention){"parent", def->parent};
        l.cause.named[1] = (espl__mention){"before", def->before};
        return espl__refuse_record(recorder, call, status, &l.cause);
    }
    // The arguments are checked also where nothing is recorded, as in the immediate call.
    if (count == 0) {
        return ESPL_OK;
    }
    status = append_creation(recorder, key, def, &l, count, pending);
    if (status == ESPL_OK) {
        remark_zero_listed(recorder, call, &l, espl_entity_null());
    }
    return espl__recorded(recorder, call, status);
}

espl_status espl_record_create(espl_recorder *recorder, uint32_t key, const espl_creation_def *def,
                               size_t count, espl_entity *pending)
{
    static const char *const call = "espl_record_create";

    return def != NULL && ESPL__ASKS_LATER(def)
               ? espl__refuse_record_later(recorder, call)
               : espl__record_create(recorder, key, def, count, pending, call);
}

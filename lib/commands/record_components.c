// SPDX-License-Identifier: MIT
// Recording of creations and of changes of components.
//
// Input: lists of components that a caller gives or removes. Output: one command, whose payload has
// the transform first, then a header and the bytes of each value, then a header of each component
// that is removed. What can be checked without the world is checked here, with the statuses of the
// immediate calls.
//
// Invariant of a listing: each component is in it once, and none is both given and removed. The
// roles are never in it.
#include "lib/commands/explain.h"
#include "lib/math/pose.h"

#include <string.h>

// Values that are given, and after them components that are removed.
enum { VALUE_LIMIT = 2 * ESPL_SET_LIMIT };

// What a command gives and removes, as its payload will have it. The transform is apart, because it
// is first in the payload. The bytes of the values are the caller's, and are copied when the
// command is appended. About 2 KiB on the stack of the recording thread, so that a recording takes
// no memory but that of its lane.
typedef struct given_list {
    const espl__store *store;
    espl_transform transform;
    espl__placement_change placement;
    espl__given values[VALUE_LIMIT];
    size_t value_count;
    espl__cause cause; // of a refusal
    espl__sentence sentence;
} given_list;

// Empty a listing. The arrays are not cleared, because most lists have one item.
static void listing_begin(given_list *l, const espl_command_buffer *owner)
{
    l->store = owner->store;
    l->placement = ESPL__PLACEMENT_STAYS;
    l->value_count = 0;
    l->cause = (espl__cause){.why = NULL};
}

// Tell whether a component is given, or removed. A linear search, because most lists have one item;
// a bitmap of all components would have to be cleared for each command.
static bool listing_has(const given_list *l, espl_component component, bool is_removal)
{
    bool is_found = false;

    for (size_t i = 0; i < l->value_count && !is_found; ++i) {
        const espl__value_header *const header = &l->values[i].header;

        is_found =
            header->component == component && (header->size == ESPL__VALUE_TAKEN) == is_removal;
    }
    return is_found;
}

// Tell whether a component is given, be it the transform or another one.
static bool is_given(const given_list *l, espl_component component)
{
    return component == ESPL_TRANSFORM ? l->placement == ESPL__PLACEMENT_COMES
                                       : listing_has(l, component, false);
}

// Add a component to a listing. Its values are not copied yet. Precondition: the listing has room,
// because the counts were checked.
static void add_value(given_list *l, espl_component component, size_t size, size_t alignment,
                      const void *bytes)
{
    const espl__value_header header = {component, (uint16_t)size, (uint16_t)alignment};

    ESPL_CHECK(l->value_count < VALUE_LIMIT && component > ESPL_MEMBER);
    ESPL_CHECK(size <= ESPL__VALUE_TAKEN && alignment != 0 && alignment <= UINT16_MAX);
    l->values[l->value_count++] = (espl__given){header, bytes};
}

// List the transform; without data the identity. @return ESPL_OK, ESPL_ERR_NOT_FINITE.
static espl_status list_transform(given_list *l, const espl_component_value *value)
{
    l->placement = ESPL__PLACEMENT_COMES;
    l->transform = espl__transform_identity();
    if (value->data == NULL) {
        return ESPL_OK;
    }
    memcpy(&l->transform, value->data, sizeof l->transform);
    const espl_status status = espl_transform_normalize(&l->transform);

    if (status != ESPL_OK) {
        l->cause.value = value;
        l->cause.why = espl__transform_fault(&l->sentence, &l->transform);
    }
    return status;
}

// Note why a value is refused. @return ESPL_ERR_ARGUMENT.
static espl_status refuse_listed_value(given_list *l, const espl_component_value *value)
{
    const char *const fault =
        espl__component_fault(l->store, value->component, value->size, ESPL__USE_GIVEN);

    l->cause.value = value;
    l->cause.why = fault != NULL ? fault : espl__given_twice;
    return ESPL_ERR_ARGUMENT;
}

// List a value. @return ESPL_OK; ESPL_ERR_ARGUMENT: the component is not registered, is a role, has
// another size, or is in the list already; ESPL_ERR_NOT_FINITE.
static espl_status list_given_value(given_list *l, const espl_component_value *value)
{
    const espl_component component = value->component;
    const espl__component_info *const info = espl__component_info_of(l->store, component);

    if (info == NULL || espl__is_role(component) ||
        value->size != espl__given_size(component, info) || is_given(l, component)) {
        return refuse_listed_value(l, value);
    }
    if (component == ESPL_TRANSFORM) {
        return list_transform(l, value);
    }
    add_value(l, component, info->size, info->alignment, value->data);
    return ESPL_OK;
}

// List a removal. A component may be removed twice, which counts once, but not given and removed.
// @return ESPL_OK, ESPL_ERR_ARGUMENT.
static espl_status list_removal(given_list *l, const espl_component *taken)
{
    const espl_component component = *taken;
    const char *const fault = espl__component_fault(l->store, component, 0, ESPL__USE_TAKEN);

    if (fault != NULL || is_given(l, component)) {
        l->cause.component = taken;
        l->cause.why = fault != NULL ? fault : espl__given_twice;
        return ESPL_ERR_ARGUMENT;
    }
    // The transform is a flag of the command, not a value.
    if (component == ESPL_TRANSFORM) {
        l->placement = ESPL__PLACEMENT_GOES;
    } else if (!listing_has(l, component, true)) {
        add_value(l, component, ESPL__VALUE_TAKEN, 1, NULL);
    }
    return ESPL_OK;
}

// List the values of a caller, in their order. @return ESPL_ERR_LIMIT: more than an entity can
// have.
static espl_status list_given_values(given_list *l, const espl_component_value *values,
                                     size_t count)
{
    espl_status status = count > ESPL_SET_LIMIT ? ESPL_ERR_LIMIT : ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = list_given_value(l, &values[i]);
    }
    return status;
}

// Append a command with a listing as its payload. @param pending  out, for creations; else NULL.
// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY; nothing was appended then.
static espl_status append_listing(espl_recorder *recorder, const given_list *l,
                                  const espl__command *command, espl_entity *pending)
{
    const bool is_placed = l->placement == ESPL__PLACEMENT_COMES;

    return espl__append_given(recorder, command, is_placed ? &l->transform : NULL, l->values,
                              l->value_count, pending);
}

// --- Changes ---

// List a change, the values first, so that a removal finds what is given. The limits are those of
// an entity, and keep the listing within its array.
// @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_NOT_FINITE, ESPL_ERR_LIMIT.
static espl_status list_whole_change(given_list *l, const espl_change_def *def)
{
    if (def->add_count > ESPL_SET_LIMIT || def->remove_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl_status status = list_given_values(l, def->add, def->add_count);

    for (size_t i = 0; i < def->remove_count && status == ESPL_OK; ++i) {
        status = list_removal(l, &def->remove[i]);
    }
    return status;
}

// Shared with the immediate call, so that both name the same argument.
const char *espl__change_fault(const espl_change_def *def)
{
    if (def == NULL) {
        return "change is NULL.";
    }
    if (def->add == NULL && def->add_count != 0) {
        return "change->add is NULL, but change->add_count is not 0.";
    }
    return def->remove == NULL && def->remove_count != 0
               ? "change->remove is NULL, but change->remove_count is not 0."
               : NULL;
}

// Log a transform that is given with a scale or stretch of 0.
static void remark_zero_listed(const espl_recorder *recorder, const char *call, const given_list *l,
                               espl_entity entity)
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
    given_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK || fault != NULL) {
        return espl__refuse_target(recorder, call, entity,
                                   status != ESPL_OK ? status : ESPL_ERR_ARGUMENT, fault);
    }
    listing_begin(&l, recorder->owner);
    status = espl__check_operand(recorder->owner, &entity);
    status = status != ESPL_OK ? status : list_whole_change(&l, def);
    if (status != ESPL_OK) {
        l.cause.named[0] = (espl__mention){"entity", entity};
        return espl__refuse_record(recorder, call, status, &l.cause);
    }
    const espl__command command = {.target = entity,
                                   .key = key,
                                   .value_count = (uint32_t)l.value_count,
                                   .kind = ESPL__COMMAND_CHANGE,
                                   .place = (uint8_t)l.placement};

    status = append_listing(recorder, &l, &command, NULL);
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

espl_status espl_record_enable(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_extent extent)
{
    return record_extent(recorder, key, entity, extent, ESPL__COMMAND_ENABLE, "espl_record_enable");
}

espl_status espl_record_disable(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                espl_extent extent)
{
    return record_extent(recorder, key, entity, extent, ESPL__COMMAND_DISABLE,
                         "espl_record_disable");
}

// --- Creations ---

// Check a creation and list its values: the handles first, then the rules, then the values. Flags
// are valid only with a transform, because a node without one copies its parent.
// @param l  out: the values, or the cause of the refusal.
// @return ESPL_OK; ESPL_ERR_FOREIGN and ESPL_ERR_PENDING of the handles; ESPL_ERR_ARGUMENT;
//         ESPL_ERR_NOT_FINITE; ESPL_ERR_LIMIT.
static espl_status check_creation(const espl_command_buffer *owner, const espl_creation_def *def,
                                  given_list *l)
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
    status = list_given_values(l, def->values, def->value_count);
    if (status == ESPL_OK && def->inherit != 0 && l->placement == ESPL__PLACEMENT_STAYS) {
        l->cause.why = "def->inherit is given without ESPL_TRANSFORM among def->values.";
        return ESPL_ERR_ARGUMENT;
    }
    return status;
}

// Append a creation that was checked. A command counts its entities in 32 bits, and each of them
// takes a pending handle. @param count  not 0. @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
static espl_status append_creation(espl_recorder *recorder, uint32_t key,
                                   const espl_creation_def *def, const given_list *l, size_t count,
                                   espl_entity *pending)
{
    const bool is_placed = l->placement == ESPL__PLACEMENT_COMES;

    ESPL_CHECK(count != 0 && (is_placed || def->inherit == 0));
    if (count >= ESPL_PENDING_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return append_listing(
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
    given_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK || def == NULL) {
        return espl__refuse_record(recorder, call, status != ESPL_OK ? status : ESPL_ERR_ARGUMENT,
                                   &(espl__cause){.why = "def is NULL."});
    }
    listing_begin(&l, recorder->owner);
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

// SPDX-License-Identifier: MIT
// Recording of creations and of changes of components. Whatever can be checked without the world is
// checked here, with the statuses of the immediate calls.
#include "lib/commands/commands.h"
#include "lib/math/pose.h"

#include <string.h>

// Values that are given, and behind them components that are taken away.
enum { VALUE_LIMIT = 2 * ESPL_SET_LIMIT };

// What a command gives and takes away, as its payload will have it. The transform is kept apart, because
// it comes first in the payload.
typedef struct given_list {
    const espl__store *store;
    espl_transform transform;
    espl__placement_change placement;
    espl__given values[VALUE_LIMIT];
    size_t value_count;
} given_list;

static void listing_begin(given_list *l, const espl_command_buffer *owner)
{
    l->store = owner->store;
    l->placement = ESPL__PLACEMENT_STAYS;
    l->value_count = 0;
}

static bool is_role(espl_component component)
{
    return component >= ESPL_SOLO && component <= ESPL_MEMBER;
}

// Tell whether a component is given, or taken away. A linear search, because most lists have one item.
static bool is_listed(const given_list *l, espl_component component, bool is_taken)
{
    bool is_found = false;

    for (size_t i = 0; i < l->value_count && !is_found; ++i) {
        const espl__value_header *const header = &l->values[i].header;

        is_found =
            header->component == component && (header->size == ESPL__VALUE_TAKEN) == is_taken;
    }
    return is_found;
}

static bool is_given(const given_list *l, espl_component component)
{
    return component == ESPL_TRANSFORM ? l->placement == ESPL__PLACEMENT_COMES
                                       : is_listed(l, component, false);
}

static void add_value(given_list *l, espl_component component, size_t size, size_t alignment,
                      const void *bytes)
{
    const espl__value_header header = {component, (uint16_t)size, (uint16_t)alignment};

    l->values[l->value_count++] = (espl__given){header, bytes};
}

static espl_status list_placement(given_list *l, const espl_component_value *value)
{
    l->placement = ESPL__PLACEMENT_COMES;
    l->transform = espl_transform_identity();
    if (value->data == NULL) {
        return ESPL_OK;
    }
    memcpy(&l->transform, value->data, sizeof l->transform);
    return espl_transform_normalize(&l->transform);
}

static espl_status list_value(given_list *l, const espl_component_value *value)
{
    const espl_component component = value->component;
    const espl__component_info *const info = espl__component_info_of(l->store, component);

    if (info == NULL) {
        return ESPL_ERR_NO_COMPONENT;
    }
    const bool is_placement = component == ESPL_TRANSFORM;
    const size_t size = is_placement ? sizeof(espl_transform) : info->size;

    if (is_role(component) || value->size != size || is_given(l, component)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (is_placement) {
        return list_placement(l, value);
    }
    add_value(l, component, size, info->alignment, value->data);
    return ESPL_OK;
}

// A component may be taken away twice, which counts once, but not given and taken away.
static espl_status list_removal(given_list *l, espl_component component)
{
    if (espl__component_info_of(l->store, component) == NULL) {
        return ESPL_ERR_NO_COMPONENT;
    }
    if (is_role(component) || is_given(l, component)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (component == ESPL_TRANSFORM) {
        l->placement = ESPL__PLACEMENT_GOES;
    } else if (!is_listed(l, component, true)) {
        add_value(l, component, ESPL__VALUE_TAKEN, 1, NULL);
    }
    return ESPL_OK;
}

static espl_status list_values(given_list *l, const espl_component_value *values, size_t count)
{
    espl_status status = count > ESPL_SET_LIMIT ? ESPL_ERR_LIMIT : ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = list_value(l, &values[i]);
    }
    return status;
}

static espl_status append_listing(espl_recorder *recorder, const given_list *l,
                                  const espl__command *command, espl_entity *pending)
{
    const bool is_placed = l->placement == ESPL__PLACEMENT_COMES;

    return espl__append_given(recorder, command, is_placed ? &l->transform : NULL, l->values,
                              l->value_count, pending);
}

// --- Changes ---

static espl_status list_change(given_list *l, const espl_change_def *def)
{
    if (def->add_count > ESPL_SET_LIMIT || def->remove_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl_status status = list_values(l, def->add, def->add_count);

    for (size_t i = 0; i < def->remove_count && status == ESPL_OK; ++i) {
        status = list_removal(l, def->remove[i]);
    }
    return status;
}

espl_status espl_record_change_components(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                          const espl_change_def *def)
{
    given_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_DEMAND(recorder->owner->hooks, def != NULL &&
                                                 (def->add != NULL || def->add_count == 0) &&
                                                 (def->remove != NULL || def->remove_count == 0))) {
        return ESPL_ERR_ARGUMENT;
    }
    listing_begin(&l, recorder->owner);
    status = espl__check_operand(recorder->owner, entity);
    status = status != ESPL_OK ? status : list_change(&l, def);
    if (status != ESPL_OK) {
        return status;
    }
    return append_listing(recorder, &l,
                          &(espl__command){.target = entity,
                                           .key = key,
                                           .value_count = (uint32_t)l.value_count,
                                           .kind = ESPL__COMMAND_CHANGE,
                                           .place = (uint8_t)l.placement},
                          NULL);
}

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

static espl_status check_set(const espl_command_buffer *owner, espl_component component,
                             const void *data, size_t size)
{
    const espl__component_info *const info = espl__component_info_of(owner->store, component);

    if (info == NULL) {
        return ESPL_ERR_NO_COMPONENT;
    }
    if (component == ESPL_TRANSFORM || is_role(component) || info->size != size ||
        !ESPL_DEMAND(owner->hooks, data != NULL || size == 0)) {
        return ESPL_ERR_ARGUMENT;
    }
    return ESPL_OK;
}

espl_status espl_record_set_component(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                      espl_component component, const void *data, size_t size)
{
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, entity);
    status = status != ESPL_OK ? status : check_set(recorder->owner, component, data, size);
    if (status != ESPL_OK) {
        return status;
    }
    const espl__component_info *const info =
        espl__component_info_of(recorder->owner->store, component);
    const espl__given given = {{component, (uint16_t)size, (uint16_t)info->alignment}, data};

    return espl__append_given(
        recorder,
        &(espl__command){.target = entity, .key = key, .value_count = 1, .kind = ESPL__COMMAND_SET},
        NULL, &given, 1, NULL);
}

// --- Enable and disable ---

static espl_status record_extent(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                 espl_extent extent, uint8_t kind)
{
    espl_status status = espl__check_recorder(recorder);

    status = status != ESPL_OK ? status : espl__check_operand(recorder->owner, entity);
    if (status != ESPL_OK) {
        return status;
    }
    if ((unsigned)extent > ESPL_EXTENT_SUBTREE) {
        return ESPL_ERR_ARGUMENT;
    }
    return espl__append(
        recorder,
        &(espl__command){.target = entity, .key = key, .kind = kind, .place = (uint8_t)extent});
}

espl_status espl_record_enable(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_extent extent)
{
    return record_extent(recorder, key, entity, extent, ESPL__COMMAND_ENABLE);
}

espl_status espl_record_disable(espl_recorder *recorder, uint32_t key, espl_entity entity,
                                espl_extent extent)
{
    return record_extent(recorder, key, entity, extent, ESPL__COMMAND_DISABLE);
}

// --- Creations ---

static bool are_rules_valid(const espl_creation_def *def)
{
    return espl__is_link(def->link) && (unsigned)def->place <= ESPL_PLACE_WORLD &&
           (unsigned)def->dead_parent <= ESPL_DEAD_PARENT_ROOT &&
           espl__flags_are_valid(def->inherit) &&
           (def->inherit == 0 || !espl_entity_is_null(def->parent));
}

static espl_status check_creation(const espl_command_buffer *owner, const espl_creation_def *def,
                                  given_list *l)
{
    espl_status status = espl__check_optional(owner, def->parent);

    status = status != ESPL_OK ? status : espl__check_optional(owner, def->before);
    if (status != ESPL_OK) {
        return status;
    }
    if (!are_rules_valid(def)) {
        return ESPL_ERR_ARGUMENT;
    }
    status = list_values(l, def->values, def->value_count);
    if (status == ESPL_OK && def->inherit != 0 && l->placement == ESPL__PLACEMENT_STAYS) {
        return ESPL_ERR_ARGUMENT;
    }
    return status;
}

espl_status espl_record_create(espl_recorder *recorder, uint32_t key, const espl_creation_def *def,
                               size_t count, espl_entity *pending)
{
    given_list l;
    espl_status status = espl__check_recorder(recorder);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_DEMAND(recorder->owner->hooks,
                     def != NULL && (def->values != NULL || def->value_count == 0))) {
        return ESPL_ERR_ARGUMENT;
    }
    listing_begin(&l, recorder->owner);
    status = check_creation(recorder->owner, def, &l);
    if (status != ESPL_OK || count == 0) {
        return status;
    }
    if (count >= ESPL_PENDING_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    const bool is_placed = l.placement == ESPL__PLACEMENT_COMES;

    return append_listing(
        recorder, &l,
        &(espl__command){.parent = def->parent,
                         .before = def->before,
                         .key = key,
                         .count = (uint32_t)count,
                         .value_count = (uint32_t)l.value_count,
                         .kind = is_placed ? ESPL__COMMAND_CREATE : ESPL__COMMAND_CREATE_BARE,
                         .link = (uint8_t)def->link,
                         .place = (uint8_t)def->place,
                         .dead_parent = (uint8_t)def->dead_parent,
                         .inherit = (uint8_t)def->inherit},
        pending);
}

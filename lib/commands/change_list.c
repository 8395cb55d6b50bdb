// SPDX-License-Identifier: MIT
// The lists of change_list.h.
#include "lib/commands/change_list.h"

#include "lib/math/pose.h"

#include <string.h>

void espl__change_list_begin(espl__change_list *l, const espl__store *store)
{
    l->store = store;
    l->placement = ESPL__PLACEMENT_STAYS;
    l->value_count = 0;
    l->cause = (espl__cause){.why = NULL};
}

// --- Items ---

// Tell whether a component is given, or removed. A linear search, because most lists have one item;
// a bitmap of all components would have to be cleared for each command.
static bool listing_has(const espl__change_list *l, espl_component component, bool is_removal)
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
static bool is_given(const espl__change_list *l, espl_component component)
{
    return component == ESPL_TRANSFORM ? l->placement == ESPL__PLACEMENT_COMES
                                       : listing_has(l, component, false);
}

// Add a component to a listing. Its values are not copied yet. Precondition: the listing has room,
// because the counts were checked.
static void add_value(espl__change_list *l, espl_component component, size_t size, size_t alignment,
                      const void *bytes)
{
    const espl__value_header header = {component, (uint16_t)size, (uint16_t)alignment};

    ESPL_CHECK(l->value_count < ESPL__LISTED_LIMIT && component > ESPL_MEMBER);
    ESPL_CHECK(size <= ESPL__VALUE_TAKEN && alignment != 0 && alignment <= UINT16_MAX);
    l->values[l->value_count++] = (espl__given){header, bytes};
}

// List the transform; without data the identity. @return ESPL_OK, ESPL_ERR_NOT_FINITE.
static espl_status list_transform(espl__change_list *l, const espl_component_value *value)
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
static espl_status refuse_listed_value(espl__change_list *l, const espl_component_value *value)
{
    const char *const fault =
        espl__component_fault(l->store, value->component, value->size, ESPL__USE_GIVEN);

    l->cause.value = value;
    l->cause.why = fault != NULL ? fault : espl__given_twice;
    return ESPL_ERR_ARGUMENT;
}

// List a value. @return ESPL_OK; ESPL_ERR_ARGUMENT: the component is not registered, is a role, has
// another size, or is in the list already; ESPL_ERR_NOT_FINITE.
static espl_status list_given_value(espl__change_list *l, const espl_component_value *value)
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
static espl_status list_removal(espl__change_list *l, const espl_component *taken)
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

// --- Lists ---

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

espl_status espl__change_list_values(espl__change_list *l, const espl_component_value *values,
                                     size_t count)
{
    espl_status status = count > ESPL_SET_LIMIT ? ESPL_ERR_LIMIT : ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = list_given_value(l, &values[i]);
    }
    return status;
}

// The limits are those of an entity, and keep the list within its array.
espl_status espl__change_list_read(espl__change_list *l, const espl_change_def *def)
{
    ESPL_CHECK(l->value_count == 0);
    l->cause.why = espl__change_fault(def);
    if (l->cause.why != NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (def->add_count > ESPL_SET_LIMIT || def->remove_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl_status status = espl__change_list_values(l, def->add, def->add_count);

    for (size_t i = 0; i < def->remove_count && status == ESPL_OK; ++i) {
        status = list_removal(l, &def->remove[i]);
    }
    return status;
}

espl_status espl__change_list_append(espl_recorder *recorder, const espl__change_list *l,
                                     const espl__command *command, espl_entity *pending)
{
    const bool is_placed = l->placement == ESPL__PLACEMENT_COMES;

    return espl__append_given(recorder, command, is_placed ? &l->transform : NULL, l->values,
                              l->value_count, pending);
}

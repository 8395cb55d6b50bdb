// SPDX-License-Identifier: MIT
// Creation and components, at the public face.
#include "lib/world/inside.h"

#include <string.h>

espl_status espl_component_register(espl_world *world, const espl_component_def *def,
                                    espl_component *out)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && (def == NULL || out == NULL)) {
        status = ESPL_ERR_ARGUMENT;
    }
    status = status != ESPL_OK ? status : espl__component_register(&world->store, def, out);
    return espl__refuse(world, "registration", espl_entity_null(), status);
}

espl_component espl_component_find(const espl_world *world, const char *name)
{
    return world == NULL || name == NULL ? 0 : espl__component_find(&world->store, name);
}

// --- Creation ---

// The set in ascending order, with the role of a solo.
static espl_status sort_set(const espl__store *store, const espl_component *components,
                            size_t count, espl_component *set)
{
    size_t length = 0;

    set[length++] = ESPL_SOLO;
    for (size_t i = 0; i < count; ++i) {
        const espl_component component = components[i];
        size_t at = length;

        if (espl__component_info_of(store, component) == NULL) {
            return ESPL_ERR_NO_COMPONENT;
        }
        if (component >= ESPL_SOLO && component <= ESPL_MEMBER) {
            return ESPL_ERR_ARGUMENT;
        }
        while (at > 0 && set[at - 1] > component) {
            set[at] = set[at - 1];
            at -= 1;
        }
        if (at > 0 && set[at - 1] == component) {
            return ESPL_ERR_ARGUMENT;
        }
        set[at] = component;
        length += 1;
    }
    return ESPL_OK;
}

static espl_status reserve_solos(espl_world *world, uint32_t archetype, size_t count)
{
    espl_status status = espl__entities_reserve(&world->store, count);

    status = status != ESPL_OK ? status : espl__rows_reserve(&world->store, archetype, count);
    return status != ESPL_OK ? status : espl__forest_reserve(&world->forest, count, count);
}

static espl_status create(espl_world *world, const espl_component *components,
                          size_t component_count, size_t count, espl_entity *out)
{
    espl_component set[ESPL_SET_LIMIT + 1];
    uint32_t archetype = 0;
    espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (component_count > ESPL_SET_LIMIT - 1) {
        return ESPL_ERR_LIMIT;
    }
    if (component_count != 0 && components == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    status = sort_set(&world->store, components, component_count, set);
    if (status != ESPL_OK || count == 0) {
        return status;
    }
    status = espl__archetype_of(&world->store, set, component_count + 1, &archetype);
    status = status != ESPL_OK ? status : reserve_solos(world, archetype, count);
    if (status != ESPL_OK) {
        return status;
    }

    const bool is_placed = espl__archetype_has(&world->store, archetype, ESPL_PLACEMENT);
    for (size_t i = 0; i < count; ++i) {
        const espl_entity entity = espl__entity_take(&world->store);

        espl__row_add(&world->store, archetype, entity.index);
        espl__entity_set_slot(&world->store, entity.index,
                              espl__solo_make(&world->forest, entity.index, is_placed));
        if (out != NULL) {
            out[i] = entity;
        }
    }
    return ESPL_OK;
}

espl_status espl_create(espl_world *world, const espl_component *components, size_t component_count,
                        size_t count, espl_entity *out)
{
    return espl__refuse(world, "creation", espl_entity_null(),
                        create(world, components, component_count, count, out));
}

bool espl_is_alive(const espl_world *world, espl_entity entity)
{
    return world != NULL && espl__entity_check(&world->store, entity) == ESPL_OK;
}

// --- Components of one entity ---

// What add, remove, get and set check alike.
static espl_status check_component(const espl_world *world, espl_entity entity,
                                   espl_component component, const espl__component_info **info)
{
    uint32_t slot = 0;
    const espl_status status = espl__find_slot(world, entity, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    *info = espl__component_info_of(&world->store, component);
    return *info == NULL ? ESPL_ERR_NO_COMPONENT : ESPL_OK;
}

static bool is_fixed(espl_component component)
{
    return component < ESPL_PREFAB;
}

static uint32_t archetype_of(const espl_world *world, espl_entity entity)
{
    return world->store.chunks[world->store.records[entity.index].chunk].archetype;
}

static espl_status move_to(espl_world *world, espl_entity entity, uint32_t archetype)
{
    const espl__record *const record = &world->store.records[entity.index];
    const espl_status status = espl__rows_reserve(&world->store, archetype, 1);

    if (status == ESPL_OK) {
        const uint32_t row = record->row;

        espl__rows_move(&world->store, record->chunk, archetype, &row, 1);
        espl__rows_settle(&world->store);
    }
    return status;
}

static void set_value(const espl_world *world, espl_entity entity, espl_component component,
                      const void *data, size_t size)
{
    void *const value = espl__row_value(&world->store, entity.index, component);

    if (size == 0) {
        return;
    }
    if (data == NULL) {
        memset(value, 0, size);
    } else {
        memmove(value, data, size);
    }
}

static espl_status add(espl_world *world, espl_entity entity, espl_component component,
                       const void *data, size_t size)
{
    const espl__component_info *info = NULL;
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : check_component(world, entity, component, &info);
    if (status != ESPL_OK) {
        return status;
    }
    if (is_fixed(component) || info->size != size) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__archetype_has(&world->store, archetype_of(world, entity), component)) {
        uint32_t archetype = 0;

        status = espl__archetype_change(&world->store, archetype_of(world, entity), &component, 1,
                                        NULL, 0, &archetype);
        status = status != ESPL_OK ? status : move_to(world, entity, archetype);
    }
    if (status == ESPL_OK) {
        set_value(world, entity, component, data, size);
    }
    return status;
}

static espl_status take_away(espl_world *world, espl_entity entity, espl_component component)
{
    const espl__component_info *info = NULL;
    espl_status status = espl__check_structural(world);
    uint32_t archetype = 0;

    status = status != ESPL_OK ? status : check_component(world, entity, component, &info);
    if (status == ESPL_OK && is_fixed(component)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK ||
        !espl__archetype_has(&world->store, archetype_of(world, entity), component)) {
        return status;
    }
    status = espl__archetype_change(&world->store, archetype_of(world, entity), NULL, 0, &component,
                                    1, &archetype);
    return status != ESPL_OK ? status : move_to(world, entity, archetype);
}

espl_status espl_add(espl_world *world, espl_entity entity, espl_component component,
                     const void *data, size_t size)
{
    return espl__refuse(world, "add", entity, add(world, entity, component, data, size));
}

espl_status espl_remove(espl_world *world, espl_entity entity, espl_component component)
{
    return espl__refuse(world, "remove", entity, take_away(world, entity, component));
}

bool espl_has(const espl_world *world, espl_entity entity, espl_component component)
{
    return espl_is_alive(world, entity) &&
           espl__archetype_has(&world->store, archetype_of(world, entity), component);
}

static espl_status check_value(const espl_world *world, espl_entity entity,
                               espl_component component, const void *data, size_t size)
{
    const espl__component_info *info = NULL;
    const espl_status status = check_component(world, entity, component, &info);

    if (status != ESPL_OK) {
        return status;
    }
    if (is_fixed(component) || info->size != size || (size != 0 && data == NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    return espl_has(world, entity, component) ? ESPL_OK : ESPL_ERR_NO_COMPONENT;
}

espl_status espl_get(const espl_world *world, espl_entity entity, espl_component component,
                     void *out, size_t size)
{
    const espl_status status = check_value(world, entity, component, out, size);

    if (status == ESPL_OK && size != 0) {
        memcpy(out, espl__row_value(&world->store, entity.index, component), size);
    }
    return espl__refuse(world, "get", entity, status);
}

espl_status espl_set(espl_world *world, espl_entity entity, espl_component component,
                     const void *data, size_t size)
{
    const espl_status status = check_value(world, entity, component, data, size);

    if (status == ESPL_OK) {
        set_value(world, entity, component, data, size);
    }
    return espl__refuse(world, "set", entity, status);
}

// SPDX-License-Identifier: MIT
// Components that come and go, at the public face: on one entity, on an array, on what answers a
// query; one path for all.
#include "lib/world/change.h"
#include "lib/world/tape.h"

#include <string.h>

// --- What is asked for ---

typedef struct seen_set {
    uint64_t words[ESPL_COMPONENT_LIMIT / ESPL__WORD_BITS + 1];
} seen_set;

static bool is_new(seen_set *seen, espl_component component)
{
    uint64_t *const word = &seen->words[component / ESPL__WORD_BITS];
    const uint64_t bit = UINT64_C(1) << component % ESPL__WORD_BITS;
    const bool is_first = (*word & bit) == 0;

    *word |= bit;
    return is_first;
}

static espl_status read_value(espl__change *c, const espl_component_value *value)
{
    if (value->component != ESPL_TRANSFORM) {
        c->add[c->add_count] = value->component;
        c->values[c->add_count++] = *value;
        return ESPL_OK;
    }
    c->placement = ESPL__PLACEMENT_COMES;
    c->transform = espl_transform_identity();
    if (value->data == NULL) {
        return ESPL_OK;
    }
    memcpy(&c->transform, value->data, sizeof c->transform);
    return espl_transform_normalize(&c->transform);
}

static espl_status read_add(espl__change *c, const espl_component_value *value, seen_set *seen)
{
    const espl_component component = value->component;
    const espl__component_info *const info = espl__component_info_of(&c->world->store, component);

    if (info == NULL) {
        return ESPL_ERR_NO_COMPONENT;
    }
    const size_t size = component == ESPL_TRANSFORM ? sizeof(espl_transform) : info->size;

    if (espl__is_role(component) || value->size != size || !is_new(seen, component)) {
        return ESPL_ERR_ARGUMENT;
    }
    return read_value(c, value);
}

// A component may be taken away twice, which is once, but not given and taken away.
static espl_status read_remove(espl__change *c, espl_component component, const seen_set *added)
{
    seen_set seen = *added;

    if (espl__component_info_of(&c->world->store, component) == NULL) {
        return ESPL_ERR_NO_COMPONENT;
    }
    if (espl__is_role(component) || !is_new(&seen, component)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (component == ESPL_TRANSFORM) {
        c->placement = ESPL__PLACEMENT_GOES;
    } else {
        c->remove[c->remove_count++] = component;
    }
    return ESPL_OK;
}

static espl_status read_def(espl__change *c, const espl_change_def *def)
{
    espl_status status = ESPL_OK;
    seen_set seen = {{0}};

    if (!ESPL_DEMAND(&c->world->hooks, def != NULL && (def->add != NULL || def->add_count == 0) &&
                                           (def->remove != NULL || def->remove_count == 0))) {
        return ESPL_ERR_ARGUMENT;
    }
    if (def->add_count > ESPL_SET_LIMIT || def->remove_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    for (size_t i = 0; i < def->add_count && status == ESPL_OK; ++i) {
        status = read_add(c, &def->add[i], &seen);
    }
    for (size_t i = 0; i < def->remove_count && status == ESPL_OK; ++i) {
        status = read_remove(c, def->remove[i], &seen);
    }
    return status;
}

// --- The public face ---

static espl_status change_array(espl_world *world, const char *operation,
                                const espl_entity *entities, size_t count,
                                const espl_change_def *def, size_t *refused)
{
    espl__change c;
    espl_status status = espl__check_structural(world);
    espl_entity concerned = count == 1 && entities != NULL ? entities[0] : espl_entity_null();

    if (status == ESPL_OK && !ESPL_DEMAND(&world->hooks, entities != NULL || count == 0)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return espl__refuse(world, operation, concerned, status);
    }
    if (espl__may_tape(world)) {
        espl__tape_change(world, entities, count, def);
    }
    espl__change_begin(&c, world);
    const espl_status asked = read_def(&c, def);

    status = espl__gather_array(&c, entities, count);
    status = status != ESPL_OK ? status : asked;
    status = status != ESPL_OK ? status : espl__change_carry_out(&c);
    if (c.refused != ESPL__NO_ONE) {
        concerned = c.entities[c.refused];
        if (refused != NULL) {
            *refused = c.refused;
        }
    }
    espl__change_end(&c);
    return espl__refuse(world, operation, concerned, espl__tape_end(world, status));
}

espl_status espl_change_components(espl_world *world, espl_entity entity,
                                   const espl_change_def *def)
{
    return change_array(world, "change", &entity, 1, def, NULL);
}

espl_status espl_change_components_array(espl_world *world, const espl_entity *entities,
                                         size_t count, const espl_change_def *def, size_t *refused)
{
    return change_array(world, "change", entities, count, def, refused);
}

espl_status espl_add_component(espl_world *world, espl_entity entity, espl_component component,
                               const void *data, size_t size)
{
    const espl_component_value value = {component, size, data};

    return change_array(world, "add", &entity, 1, &(espl_change_def){.add = &value, .add_count = 1},
                        NULL);
}

espl_status espl_remove_component(espl_world *world, espl_entity entity, espl_component component)
{
    return change_array(world, "remove", &entity, 1,
                        &(espl_change_def){.remove = &component, .remove_count = 1}, NULL);
}

espl_status espl_change_components_query(espl_world *world, const espl_query_def *def,
                                         const espl_change_def *change_def, size_t *count)
{
    espl__change c;
    size_t entities = 0;
    espl_status status = espl__check_structural(world);
    espl_entity concerned = espl_entity_null();

    if (status != ESPL_OK) {
        return espl__refuse(world, "change", concerned, status);
    }
    if (espl__may_tape(world)) {
        espl__tape_change_query(world, def, change_def);
    }
    espl__change_begin(&c, world);
    const espl_status asked = read_def(&c, change_def);

    status = espl__gather_query(&c, def, &entities);
    status = status != ESPL_OK ? status : asked;
    status = status != ESPL_OK ? status : espl__change_carry_out(&c);
    if (c.refused != ESPL__NO_ONE && c.entities != NULL) {
        concerned = c.entities[c.refused];
    }
    espl__change_end(&c);
    if (status >= 0 && count != NULL) {
        *count = entities;
    }
    return espl__refuse(world, "change", concerned, espl__tape_end(world, status));
}

// --- What a query skips ---

static espl_status change_extent(espl_world *world, espl_entity entity, espl_extent extent,
                                 const espl_change_def *def)
{
    uint32_t slot = 0;
    espl__change c;
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    espl__change_begin(&c, world);
    const espl_status asked = read_def(&c, def);

    // One tag comes or goes, which is there from the beginning.
    ESPL_CHECK(asked == ESPL_OK);
    status = espl__gather_extent(&c, slot, extent);
    status = status != ESPL_OK ? status : espl__change_carry_out(&c);
    espl__change_end(&c);
    return status;
}

espl_status espl_disable(espl_world *world, espl_entity entity, espl_extent extent)
{
    const espl_component_value tag = {.component = ESPL_DISABLED};
    const espl_change_def def = {.add = &tag, .add_count = 1};

    if (espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_DISABLE, entity, (uint32_t)extent);
    }
    return espl__refuse(world, "disable", entity,
                        espl__tape_end(world, change_extent(world, entity, extent, &def)));
}

espl_status espl_enable(espl_world *world, espl_entity entity, espl_extent extent)
{
    const espl_component tag = ESPL_DISABLED;
    const espl_change_def def = {.remove = &tag, .remove_count = 1};

    if (espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_ENABLE, entity, (uint32_t)extent);
    }
    return espl__refuse(world, "enable", entity,
                        espl__tape_end(world, change_extent(world, entity, extent, &def)));
}

bool espl_is_enabled(const espl_world *world, espl_entity entity)
{
    return espl_is_alive(world, entity) && !espl_has_component(world, entity, ESPL_DISABLED);
}

// SPDX-License-Identifier: MIT
// Components that are added and removed: on one entity, on an array, on the answers to a query, and
// the tag of disabled entities.
//
// All changes share one path: read the definition into an espl__change, gather the entities
// (change_rows.c), and apply the change to all of them or to none (change.c). Preconditions of
// handles and definitions are checked before anything changes.
//
// Order of the checks: another thread in the world, then ESPL_ERR_ARGUMENT without a world and
// ESPL_ERR_BUSY, then the pointer to the handles, then the handles in their order (or the query),
// then the definition: its pointers, its counts, the added components and the removed ones, each
// list in its order. A status of the handles hides one of the definition. Each function that begins
// an espl__change frees it by espl__change_end(), except where it refuses before the gathering,
// because the change has no memory then.
#include "lib/world/change.h"
#include "lib/world/entity_slots.h"
#include "lib/world/query.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <string.h>

// --- Messages ---

// A call that changes components, for its messages.
typedef struct asked {
    const char *name;            // of the public function
    const espl_entity *entities; // [count] as the caller gave them; NULL: those of a query
    size_t count;
    bool is_array;
} asked;

// Add the entity to a message: the one that is refused, or else the only one of the call. An array
// has many, and a query none that the caller named, so that their messages name the refused one or
// none.
static void add_entity(espl__message *m, const asked *call, const espl__change *c)
{
    const espl_entity refused = espl__change_refused(c);

    if (call->is_array && c->refused != ESPL__NO_ONE) {
        espl__message_part(m, "entry %zu of %zu", c->refused, call->count);
    }
    if (!espl_entity_is_null(refused)) {
        espl__message_entity(m, "entity", refused);
    } else if (!call->is_array && call->entities != NULL) {
        espl__message_entity(m, "entity", call->entities[0]);
    }
}

// Log why a change is refused. @return the status.
static espl_status refuse_change(const asked *call, const espl__change *c, espl_status status)
{
    const espl_world *const world = c->world;
    espl__message m;

    if (!espl__refusal_begin(&m, world, call->name, NULL, status)) {
        return status;
    }
    add_entity(&m, call, c);
    // A status of a handle has no cause in the definition.
    const bool is_cause = status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE;

    if (is_cause && c->list.cause.value != NULL) {
        espl__message_value(&m, &world->store, c->list.cause.value->component,
                            c->list.cause.value->size);
    } else if (is_cause && c->list.cause.component != NULL) {
        espl__message_component(&m, &world->store, *c->list.cause.component);
    }
    espl__refusal_send(&m, world, status, c->list.cause.why);
    return status;
}

// Warn of a transform that was added with a scale or stretch of 0. Only after the change was done,
// because a refused call has a message of its own.
static void remark_zero_given(const asked *call, const espl__change *c)
{
    const bool is_one = !call->is_array && call->entities != NULL;

    if (c->list.placement == ESPL__PLACEMENT_COMES) {
        espl__remark_zero(c->world, call->name, NULL,
                          is_one ? call->entities[0] : espl_entity_null(),
                          ESPL_WRITE_LOCAL_TRANSFORM, &c->list.transform);
    }
}

// --- Public functions ---

// Handles are checked before the definition, so that a dead entity is named whatever the definition
// is.
static espl_status apply_to_array(espl__change *c, const asked *call, const espl_change_def *def)
{
    const espl_status listed = espl__change_read(c, def);
    espl_status status = espl__gather_array(c, call->entities, call->count);

    status = status != ESPL_OK ? status : listed;
    return status != ESPL_OK ? status : espl__change_carry_out(c);
}

// Apply a definition to the answers of a query. A refusal of the query hides one of the definition.
// @param count     out: how many entities answer; set also where none of them changes.
// @param gathered  out: why the query is refused, or ESPL_OK. Its message names terms, not
// entities.
static espl_status apply_to_query(espl__change *c, const espl_query_def *query,
                                  const espl_change_def *def, size_t *count, espl_status *gathered)
{
    const espl_status listed = espl__change_read(c, def);

    *gathered = espl__gather_query(c, query, count);
    const espl_status status = *gathered != ESPL_OK ? *gathered : listed;

    return status != ESPL_OK ? status : espl__change_carry_out(c);
}

// The body of both calls on handles.
// @param refused  out, or NULL: number of the entity that the call is refused for. Not written
// where no single entity is the reason.
static espl_status change_array(espl_world *world, const asked *call, const espl_change_def *def,
                                size_t *refused)
{
    const espl_entity *const entities = call->entities;
    const size_t count = call->count;
    espl__change c;

    ESPL__CHANGE_OR_RETURN(world, call->name)
    espl_status status = espl__check_structural(world);

    espl__change_begin(&c, world);
    if (status == ESPL_OK && entities == NULL && count != 0) {
        c.list.cause.why = "entities is NULL, but the count is not 0.";
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return refuse_change(call, &c, status);
    }
    status = ESPL__TAPED(world, apply_to_array(&c, call, def), .op = ESPL_TAPE_CHANGE,
                         .entities = entities, .count = count, .change = def);
    if (c.refused != ESPL__NO_ONE && refused != NULL) {
        *refused = c.refused;
    }
    if (status < 0) {
        (void)refuse_change(call, &c, status);
    } else {
        remark_zero_given(call, &c);
    }
    espl__change_end(&c);
    return status;
}

// The public function that a change of one entity is named after: that of one component, where it fits.
static const char *call_of_change(const espl_change_def *def)
{
    if (def != NULL && def->add_count == 1 && def->remove_count == 0) {
        return "espl_add_component";
    }
    return def != NULL && def->add_count == 0 && def->remove_count == 1 ? "espl_remove_component"
                                                                        : "espl_change_components";
}

espl_status espl_change_components(espl_world *world, espl_entity entity,
                                   const espl_change_def *def)
{
    const asked call = {.name = call_of_change(def), .entities = &entity, .count = 1};

    return change_array(world, &call, def, NULL);
}

espl_status espl_add_component(espl_world *world, espl_entity entity, espl_component component,
                               const void *data, size_t size)
{
    const espl_component_value value = {component, size, data};

    return espl_change_components(world, entity, &(espl_change_def){.add = &value, .add_count = 1});
}

espl_status espl_remove_component(espl_world *world, espl_entity entity, espl_component component)
{
    return espl_change_components(world, entity,
                                  &(espl_change_def){.remove = &component, .remove_count = 1});
}

espl_status espl_change_components_array(espl_world *world, const espl_entity *entities,
                                         size_t count, const espl_change_def *def, size_t *refused)
{
    const asked call = {.name = "espl_change_components_array",
                        .entities = entities,
                        .count = count,
                        .is_array = true};

    return change_array(world, &call, def, refused);
}

// `count` is written only where the call is done. The messages of a query and of a change differ,
// so that the status of the gathering is kept apart.
espl_status espl_change_components_query(espl_world *world, const espl_query_def *def,
                                         const espl_change_def *change_def, size_t *count)
{
    const asked call = {.name = "espl_change_components_query"};
    espl__change c;
    size_t entities = 0;
    espl_status gathered = ESPL_OK;

    ESPL__CHANGE_OR_RETURN(world, call.name)
    espl_status status = espl__check_structural(world);

    espl__change_begin(&c, world);
    if (status != ESPL_OK) {
        return refuse_change(&call, &c, status);
    }
    status = ESPL__TAPED(world, apply_to_query(&c, def, change_def, &entities, &gathered),
                         .op = ESPL_TAPE_CHANGE, .is_of_query = true, .query = def,
                         .change = change_def);
    if (status >= 0 && count != NULL) {
        *count = entities;
    }
    if (gathered == ESPL_ERR_ARGUMENT || gathered == ESPL_ERR_UNSUPPORTED) {
        (void)espl__refuse_query(world, call.name, NULL, def, gathered);
    } else if (status < 0) {
        (void)refuse_change(&call, &c, status);
    } else {
        remark_zero_given(&call, &c);
    }
    espl__change_end(&c);
    return status;
}

// --- Disabled entities ---

// Add or remove ESPL_DISABLED by a definition that has only that. Rows are moved directly, as in any change
// without a transform: the command that recorders have for it takes three to five times the instructions.
// @return ESPL_OK; statuses of the handle; ESPL_ERR_ARGUMENT: the extent does not exist;
//         ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
static espl_status set_disabled(espl_world *world, espl_entity entity, espl_extent extent,
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
    const espl_status listed = espl__change_read(&c, def);

    // The tag is registered in every world.
    ESPL_CHECK(listed == ESPL_OK);
    status = espl__gather_extent(&c, slot, extent);
    status = status != ESPL_OK ? status : espl__change_carry_out(&c);
    espl__change_end(&c);
    return status;
}

// Disabling a disabled entity and enabling an enabled one do nothing. The tape records the extent
// and not the entities, so that a replay finds them as this call does.
espl_status espl_set_enabled(espl_world *world, espl_entity entity, espl_extent extent,
                             bool enabled)
{
    static const char *const call = "espl_set_enabled";
    const espl_component taken = ESPL_DISABLED;
    const espl_component_value given = {.component = ESPL_DISABLED};
    const espl_change_def enable = {.remove = &taken, .remove_count = 1};
    const espl_change_def disable = {.add = &given, .add_count = 1};

    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status =
        ESPL__TAPED(world, set_disabled(world, entity, extent, enabled ? &enable : &disable),
                    .op = enabled ? ESPL_TAPE_ENABLE : ESPL_TAPE_DISABLE, .entity = entity,
                    .word = (uint32_t)extent);

    return espl__refuse_why(world, call, entity, status, "extent is none of espl_extent.");
}

// An entity is disabled by its own tag alone; the tags of its ancestors do not count. False also
// for a handle that names no living entity.
bool espl_is_enabled(const espl_world *world, espl_entity entity)
{
    return espl_is_alive(world, entity) && !espl_has_component(world, entity, ESPL_DISABLED);
}

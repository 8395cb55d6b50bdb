// SPDX-License-Identifier: MIT
// Components and entities at the public functions: registration, creation without parents,
// reserves, and the values of one entity's components. Changes of the set of components are in
// components.c.
//
// Each call checks its arguments, reserves, and then changes, so that a refused call has changed
// nothing. A list of components is sorted and checked by check_set(); the role is added here,
// because users do not choose it.
#include "lib/tree/order.h"
#include "lib/world/batch.h"
#include "lib/world/entity_slots.h"
#include "lib/world/partition.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"
#include "lib/world/slot_writes.h"
#include "lib/world/tape.h"
#include "lib/world/watches.h"

#include <string.h>

// Log why a component is not registered. Precondition: the status is a refusal.
static espl_status refuse_registration(const espl_world *world, const espl_component_def *def,
                                       espl_status status)
{
    const char *why = def == NULL ? "def is NULL." : "out is NULL.";
    espl__message m;

    ESPL_CHECK(status < 0);
    if (!espl__refusal_begin(&m, world, "espl_component_register", NULL, status)) {
        return status;
    }
    if (def != NULL && def->name != NULL) {
        espl__message_part(&m, "component \"%.255s\"", def->name);
    }
    if (def != NULL && espl__component_def_fault(def) != NULL) {
        why = espl__component_def_fault(def);
    }
    if (status == ESPL_ERR_EXISTS) {
        why = "The name is taken; call espl_component_find(), or choose another name.";
    }
    espl__refusal_send(&m, world, status, why);
    return status;
}

// Register a component. Checks the world, then whether it is busy, then the pointers, then the
// definition.
// @return ESPL_OK; ESPL_ERR_BUSY; ESPL_ERR_ARGUMENT; ESPL_ERR_EXISTS: the name is taken, also by an
//         equal definition; ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY.
static espl_status register_component(espl_world *world, const espl_component_def *def,
                                      espl_component *out)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && (def == NULL || out == NULL)) {
        status = ESPL_ERR_ARGUMENT;
    }
    return status != ESPL_OK ? status : espl__component_register(&world->store, def, out);
}

espl_status espl_component_register(espl_world *world, const espl_component_def *def,
                                    espl_component *out)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_component_register")
    if (def != NULL && ESPL__ASKS_LATER(def)) {
        return espl__refuse_later(world, "espl_component_register");
    }
    if (def != NULL && (def->flags & ~ESPL__COMPONENT_FLAGS) != 0) {
        return espl__refuse_call(world, "espl_component_register", ESPL_ERR_UNSUPPORTED,
                                 "def->flags has a bit that this version of the library does not know.");
    }
    const espl_status status = ESPL__TAPED(world, register_component(world, def, out),
                                           .op = ESPL_TAPE_REGISTER, .component_def = def);

    return status >= 0 ? status : refuse_registration(world, def, status);
}

// 0 where no component has the name. A NULL name is logged, because the call has no status for it.
espl_component espl_component_find(const espl_world *world, const char *name)
{
    return world != NULL && espl__is_given(world, "espl_component_find", name, "name")
               ? espl__component_find(&world->store, name)
               : 0;
}

// Any thread may call it while another registers, so that the count is loaded with acquire.
uint32_t espl_component_count(const espl_world *world)
{
    return world != NULL ? atomic_load_explicit(&world->store.component_count, memory_order_acquire)
                         : 0;
}

// A definition as espl_component_info() returns it. The column of ESPL_TRANSFORM holds slots, but
// the value that users write and read is an espl_transform.
static espl_component_def describe(espl_component component, const espl__component_info *info)
{
    const bool is_transform = component == ESPL_TRANSFORM;

    return (espl_component_def){.name = info->name,
                                .size = is_transform ? sizeof(espl_transform) : info->size,
                                .alignment =
                                    is_transform ? _Alignof(espl_transform) : info->alignment,
                                .references = info->references,
                                .reference_count = info->reference_count,
                                .version = info->version,
                                .flags = info->flags,
                                .fields = info->fields,
                                .field_count = info->field_count};
}

// Log why the information about a component is refused. @return ESPL_ERR_ARGUMENT.
static espl_status refuse_info(const espl_world *world, espl_component component, const void *out)
{
    espl__message m;

    if (espl__refusal_begin(&m, world, "espl_component_info", NULL, ESPL_ERR_ARGUMENT)) {
        espl__message_component(&m, &world->store, component);
        espl__refusal_send(
            &m, world, ESPL_ERR_ARGUMENT,
            out == NULL ? "out is NULL."
                        : espl__component_fault(&world->store, component, 0, ESPL__USE_LISTED));
    }
    return ESPL_ERR_ARGUMENT;
}

// The reference list that is returned is the world's own, and lives as long as the world.
espl_status espl_component_info(const espl_world *world, espl_component component,
                                espl_component_def *out)
{
    const espl__component_info *const info =
        world != NULL ? espl__component_info_of(&world->store, component) : NULL;

    if (info == NULL || out == NULL) {
        return refuse_info(world, component, out);
    }
    *out = describe(component, info);
    return ESPL_OK;
}

// --- Creation ---

// A sorted set, with room for one role above the limit, because the role is added before the size
// is checked.
typedef struct component_set {
    espl_component items[ESPL_SET_LIMIT + 1];
    size_t count;
} component_set;

// Insert a component and keep the order. An insertion sort, because sets are short and most lists
// are sorted already. @return false: the set has it already.
static bool insert(component_set *set, espl_component component)
{
    size_t at = set->count;

    ESPL_CHECK(set->count <= ESPL_SET_LIMIT);

    while (at > 0 && set->items[at - 1] > component) {
        at -= 1;
    }
    if (at > 0 && set->items[at - 1] == component) {
        return false;
    }
    memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof *set->items);
    set->items[at] = component;
    set->count += 1;
    return true;
}

// Check a list of components and sort it.
// @param role_limit  roles that the list may have; where it has none, ESPL_SOLO is added.
// @param set         out; undefined where the list is refused.
// @return ESPL_OK; ESPL_ERR_ARGUMENT: one is not registered, a role too many, or listed twice;
//         ESPL_ERR_LIMIT: more than ESPL_SET_LIMIT with the role.
static espl_status sort_set(const espl__store *store, const espl_component *components,
                            size_t count, size_t role_limit, component_set *set)
{
    size_t roles = 0;

    ESPL_CHECK(count <= ESPL_SET_LIMIT && role_limit <= 1);

    set->count = 0;
    for (size_t i = 0; i < count; ++i) {
        if (espl__component_info_of(store, components[i]) == NULL) {
            return ESPL_ERR_ARGUMENT;
        }
        roles += espl__is_role(components[i]) ? 1 : 0;
        if (roles > role_limit || !insert(set, components[i])) {
            return ESPL_ERR_ARGUMENT;
        }
    }
    if (roles == 0) {
        (void)insert(set, ESPL_SOLO);
    }
    return set->count > ESPL_SET_LIMIT ? ESPL_ERR_LIMIT : ESPL_OK;
}

// As sort_set(), after the checks of the world, the count and the pointer. The count comes before the
// pointer, and both before the first read of the list.
// @return as sort_set(); ESPL_ERR_BUSY.
static espl_status check_set(const espl_world *world, const espl_component *components,
                             size_t count, size_t role_limit, component_set *set)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    if (components == NULL && count != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    return sort_set(&world->store, components, count, role_limit, set);
}

// Find what is wrong with a list that sort_set() refused, and add the component to the message. The
// steps are those of sort_set(), so that the same component is found. NULL: the list is not the
// reason, but another argument of the call.
static const char *find_bad_component(espl__message *m, const espl_world *world,
                                      const espl_component *components, size_t count,
                                      size_t role_limit)
{
    component_set set = {.count = 0};
    size_t roles = 0;

    if (components == NULL && count != 0) {
        return "components is NULL, but the count is not 0.";
    }
    for (size_t i = 0; i < count; ++i) {
        const char *const fault =
            espl__component_fault(&world->store, components[i], 0, ESPL__USE_LISTED);

        roles += espl__is_role(components[i]) ? 1 : 0;
        if (fault == NULL && roles <= role_limit && insert(&set, components[i])) {
            continue;
        }
        espl__message_component(m, &world->store, components[i]);
        if (fault != NULL) {
            return fault;
        }
        return roles <= role_limit ? "The component is listed twice."
               : role_limit == 0   ? "A role follows from the hierarchy; leave it out."
                                   : "An entity has one role; leave the others out.";
    }
    return NULL;
}

// Log why a list of components is refused.
static espl_status refuse_set(const espl_world *world, const char *call,
                              const espl_component *components, size_t count, size_t role_limit,
                              espl_status status)
{
    const char *why = NULL;
    espl__message m;

    if (espl__refusal_begin(&m, world, call, NULL, status)) {
        if (status == ESPL_ERR_ARGUMENT) {
            why = find_bad_component(&m, world, components, count, role_limit);
        }
        espl__refusal_send(&m, world, status, why);
    }
    return status;
}

// Reserve entities, rows and trees of one node. Room that was reserved before a failure stays for
// later calls.
static espl_status reserve_solos(espl_world *world, uint32_t archetype, size_t count)
{
    espl_status status = espl__entities_reserve(&world->store, count);

    status = status != ESPL_OK ? status : espl__rows_reserve(&world->store, archetype, count);
    return status != ESPL_OK ? status : espl__forest_reserve(&world->forest, count, count);
}

// Create entities without parents. Nothing fails after the reserve: the commit allocates nothing,
// which a checked build asserts.
// @param out  [count] the handles in the order of creation, or NULL.
static espl_status create_solos(espl_world *world, const espl_component *components,
                                size_t component_count, size_t count, espl_entity *out)
{
    component_set set;
    uint32_t archetype = 0;
    espl_status status = check_set(world, components, component_count, 0, &set);

    if (status != ESPL_OK || count == 0) {
        return status;
    }
    const size_t archetypes_before = espl__array_length(world->store.archetypes);

    status = espl__archetype_of(&world->store, set.items, set.count, &archetype);
    status = status != ESPL_OK ? status : reserve_solos(world, archetype, count);
    if (status != ESPL_OK) {
        espl__archetypes_forget(&world->store, archetypes_before);
        return status;
    }

    const bool is_placed = espl__archetype_has(&world->store, archetype, ESPL_TRANSFORM);
    ESPL_CHECK(component_count < set.count);
    espl__heap_forbid(&world->heap);
    for (size_t i = 0; i < count; ++i) {
        const espl_entity entity = espl__entity_take(&world->store);

        espl__row_add(&world->store, archetype, entity.index);
        espl__entity_set_slot(&world->store, entity.index,
                              espl__solo_make(&world->forest, entity.index, is_placed));
        if (out != NULL) {
            out[i] = entity;
        }
    }
    // Settle, as every change of rows does: otherwise the archetype would keep spare chunks for as
    // many rows again once these have moved elsewhere.
    espl__rows_settle(&world->store, NULL, NULL);
    espl__heap_allow(&world->heap);
    return ESPL_OK;
}

// A refused call has created nothing and has not written `out`.
espl_status espl_create(espl_world *world, const espl_component *components, size_t component_count,
                        size_t count, espl_entity *out)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_create")
    const espl_status status = ESPL__TAPED(
        world, create_solos(world, components, component_count, count, out), .op = ESPL_TAPE_CREATE,
        .components = components, .component_count = component_count, .count = count);

    return status >= 0 ? status
                       : refuse_set(world, "espl_create", components, component_count, 0, status);
}

// --- Memory ahead of time ---

// Reserve rows of an archetype, which is made where no entity has had that set. A settle keeps the
// rows until the next espl__store_trim().
static espl_status reserve_archetype_rows(espl_world *world, const component_set *set, size_t rows)
{
    uint32_t archetype = 0;
    const espl_status status =
        espl__archetype_of(&world->store, set->items, set->count, &archetype);

    return status != ESPL_OK ? status : espl__rows_keep(&world->store, archetype, rows);
}

// Give side arrays to the tree of a slot, which stay although no node needs them yet. With room for
// inherit flags, so that no write of a stretch, of user data or of flags takes memory later.
// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
static espl_status prepay_side(espl_world *world, uint32_t slot)
{
    const espl__tree *const tree = espl__tree_of(&world->forest, slot);
    const espl_status status = espl__ensure_side(world, world->forest.tree[slot], true);

    if (status == ESPL_OK) {
        espl__side_of_slot(&world->forest, slot)->is_prepaid = 1;
        espl__tree_mark_header(&world->forest, tree); // no slot changes, and a history keeps headers
    }
    return status;
}

// Do all that a definition asks for. What can be refused for another reason than memory is checked
// first, the set, then side_of, then the rows of parallel writes. Without memory some of the
// reserves may be there; a second call continues from them.
static espl_status reserve_all(espl_world *world, const espl_reserve_def *def)
{
    const size_t archetypes_before = espl__array_length(world->store.archetypes);
    const bool has_side = !espl_entity_is_null(def->side_of);
    component_set set;
    uint32_t slot = 0;
    espl_status status =
        check_set(world, def->components, def->component_count, 1, &set); // structural too

    if (status == ESPL_OK && has_side) {
        status = espl__find_slot(world, def->side_of, &slot);
    }
    if (status == ESPL_OK && def->parallel_rows > UINT32_MAX / 64) {
        status = ESPL_ERR_LIMIT;
    }
    if (status == ESPL_OK && def->entities != 0) {
        status = espl__entities_reserve(&world->store, def->entities);
        status = status != ESPL_OK
                     ? status
                     : espl__forest_prepay(&world->forest, def->entities, def->entities);
    }
    if (status == ESPL_OK && def->rows != 0) {
        status = reserve_archetype_rows(world, &set, def->rows);
    }
    if (status == ESPL_OK && has_side) {
        status = prepay_side(world, slot);
    }
    if (status == ESPL_OK && def->writes != 0) {
        status = espl__writes_reserve(world, def->writes);
    }
    if (status == ESPL_OK && def->parallel_rows != 0) {
        status = espl__partition_reserve(world, def->parallel_rows);
    }
    if (status == ESPL_OK && def->watch_entities != 0 &&
        !espl__watches_reserve(world, def->watch_entities, def->entities)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    if (status != ESPL_OK) {
        espl__archetypes_forget(&world->store, archetypes_before);
    }
    return status;
}

// Log why a reserve is refused. Name side_of where the status is about it, and the components
// elsewhere. @return the status.
static espl_status refuse_reserve(const espl_world *world, const espl_reserve_def *def,
                                  espl_status status)
{
    static const char *const call = "espl_reserve";
    const espl__mention named = {"side_of", def->side_of};

    if (status == ESPL_ERR_ARGUMENT || espl_entity_is_null(named.entity)) {
        return refuse_set(world, call, def->components, def->component_count, 1, status);
    }
    return espl__refuse_named(world, call, &named, 1, status, NULL);
}

espl_status espl_reserve(espl_world *world, const espl_reserve_def *def)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_reserve")
    if (world == NULL || def == NULL) {
        return espl__refuse_call(world, "espl_reserve", ESPL_ERR_ARGUMENT, "def is NULL.");
    }
    if (ESPL__ASKS_LATER(def)) {
        return espl__refuse_later(world, "espl_reserve");
    }
    const espl_status status =
        ESPL__TAPED(world, reserve_all(world, def), .op = ESPL_TAPE_RESERVE, .reserve = def);

    return status >= 0 ? status : refuse_reserve(world, def, status);
}

// Any handle, also a pending one or one of another world, which yield false.
bool espl_is_alive(const espl_world *world, espl_entity entity)
{
    return world != NULL && espl__entity_check(&world->store, entity) == ESPL_OK;
}

// --- Values of one entity ---

// False also for a handle that names no living entity, and for a component that is not registered.
bool espl_has_component(const espl_world *world, espl_entity entity, espl_component component)
{
    return espl_is_alive(world, entity) &&
           espl__archetype_has(&world->store, espl__entity_archetype(&world->store, entity.index),
                               component);
}

// Check an access to the value of a component with a column. Handles come first.
// @param data  the caller's bytes, read or written; NULL is valid for a tag.
// @return ESPL_OK; the statuses of handles; ESPL_ERR_ARGUMENT: the component is not registered, a
//         role or ESPL_TRANSFORM, the size is not its size, or `data` is NULL;
//         ESPL_ERR_NO_COMPONENT.
static espl_status check_value(const espl_world *world, espl_entity entity,
                               espl_component component, const void *data, size_t size)
{
    uint32_t slot = 0;
    const espl_status status = espl__find_slot(world, entity, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const espl__component_info *const info = espl__component_info_of(&world->store, component);

    if (info == NULL || component == ESPL_TRANSFORM || espl__is_role(component) ||
        info->size != size || (data == NULL && size != 0)) {
        return ESPL_ERR_ARGUMENT;
    }
    return espl_has_component(world, entity, component) ? ESPL_OK : ESPL_ERR_NO_COMPONENT;
}

// Log why an access to a value is refused. The size is part of the message only for
// ESPL_ERR_ARGUMENT, because no other status is about it.
// @param missing  a sentence for the case that the pointer to the value is NULL.
// @return the status.
static espl_status refuse_component(const espl_world *world, const char *call, espl_entity entity,
                                    const espl_component_value *value, const char *missing,
                                    espl_status status)
{
    const char *why = NULL;
    espl__message m;

    ESPL_CHECK(status < 0);
    if (!espl__refusal_begin(&m, world, call, NULL, status)) {
        return status;
    }
    espl__message_entity(&m, "entity", entity);
    if (status == ESPL_ERR_ARGUMENT) {
        why = espl__component_fault(&world->store, value->component, value->size, ESPL__USE_GIVEN);
        why = why != NULL ? why : missing;
        espl__message_value(&m, &world->store, value->component, value->size);
    } else {
        espl__message_component(&m, &world->store, value->component);
    }
    espl__refusal_send(&m, world, status, why);
    return status;
}

// Tell whether the value of a refused access is a transform, which has no column. It is asked after the
// refusal, so that other components do not pay for it.
static bool is_transform(espl_component component, size_t size, espl_status refusal)
{
    return refusal == ESPL_ERR_ARGUMENT && component == ESPL_TRANSFORM &&
           size == sizeof(espl_transform);
}

// An access that check_value() refuses: to the transform, or with a message. Out of line, because it is
// rare. @return the status.
static ESPL__APART espl_status get_otherwise(const espl_world *world, espl_entity entity,
                                             espl_component component, void *out, size_t size,
                                             espl_status refusal)
{
    static const char *const call = "espl_get_component";
    const espl_component_value value = {component, size, NULL};

    return is_transform(component, size, refusal)
               ? espl__read_as(world, call, entity, ESPL_READ_LOCAL_TRANSFORM, out)
               : refuse_component(world, call, entity, &value, "out is NULL.", refusal);
}

static ESPL__APART espl_status set_otherwise(espl_world *world, espl_entity entity,
                                             espl_component component, const void *data,
                                             size_t size, espl_status refusal)
{
    static const char *const call = "espl_set_component";
    const espl_component_value value = {component, size, NULL};

    return is_transform(component, size, refusal)
               ? espl__write_as(world, call, entity, ESPL_WRITE_LOCAL_TRANSFORM, data)
               : refuse_component(world, call, entity, &value, "data is NULL.", refusal);
}

// A tag has size 0, and `out` may be NULL then.
espl_status espl_get_component(const espl_world *world, espl_entity entity,
                               espl_component component, void *out, size_t size)
{
    const espl_status status = check_value(world, entity, component, out, size);

    if (status == ESPL_OK && size != 0) {
        memcpy(out, espl__row_value(&world->store, entity.index, component), size);
    }
    return status >= 0 ? status : get_otherwise(world, entity, component, out, size, status);
}

// Precondition: check_value(). The bytes may overlap the value, because a caller may copy from a
// column.
static espl_status set_value(espl_world *world, espl_entity entity, espl_component component,
                             const void *data, size_t size)
{
    ESPL_CHECK(espl__component_info_of(&world->store, component)->size == size);
    ESPL_CHECK(size == 0 || data != NULL);
    if (size != 0) {
        memmove(espl__row_write(&world->store, entity.index, component), data, size);
    }
    return ESPL_OK;
}

espl_status espl_set_component(espl_world *world, espl_entity entity, espl_component component,
                               const void *data, size_t size)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_set_component")
    espl_status status = check_value(world, entity, component, data, size);

    // A write increments the version of its column, which jobs cannot do side by side.
    status = status == ESPL_OK && espl__is_parallel(world) ? ESPL_ERR_BUSY : status;
    if (status == ESPL_OK) {
        status =
            ESPL__TAPED_IF(espl__is_taped(world), world,
                           set_value(world, entity, component, data, size), .op = ESPL_TAPE_SET,
                           .entity = entity, .component = component, .value = data, .size = size);
    }
    return status >= 0 ? status : set_otherwise(world, entity, component, data, size, status);
}

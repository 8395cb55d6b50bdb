// SPDX-License-Identifier: MIT
// Counterparts at the public functions: espl_set_counterpart(), espl_find_counterpart(), espl_get_original(),
// espl_follow(). lib/store/counterparts.c keeps the links.
//
// A follow is a destroy of many and a batch of writes, each with its own record on the tape. All lists lie in
// the scratch memory of batches, behind the arrays of the batch itself, and are taken before the first change.
#include "lib/world/counterparts.h"

#include "lib/base/prefetch.h"
#include "lib/world/batch.h"
#include "lib/world/destroy.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <string.h>

// --- Links ---

const char *const espl__original_fault = "The original has the tag of this world, or none.";

espl_status espl__check_original(const espl_world *world, espl_entity original)
{
    if (espl__is_pending(original)) {
        return ESPL_ERR_PENDING;
    }
    return espl__may_be_original(&world->store, original) ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

// Link an entity and an original. Precondition: both were checked.
static espl_status link_entity(espl_world *world, espl_entity entity, espl_entity original)
{
    espl__counterparts *const links = &world->store.counterparts;
    const uint32_t other = espl__counterpart_of(links, original);

    if (other == entity.index) {
        return ESPL_OK;
    }
    if (other != UINT32_MAX) {
        return ESPL_ERR_EXISTS;
    }
    if (!espl__counterparts_reserve(links, &world->heap, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__counterparts_remove(links, &entity.index, 1);
    espl__counterpart_put(links, entity.index, original);
    return ESPL_OK;
}

// A null original removes the link.
static espl_status set_counterpart(espl_world *world, espl_entity entity, espl_entity original)
{
    if (world != NULL && world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    espl_status status = espl__check_living(world, entity);

    if (status == ESPL_OK && espl_entity_is_null(original)) {
        espl__counterparts_remove(&world->store.counterparts, &entity.index, 1);
    } else if (status == ESPL_OK) {
        status = espl__check_original(world, original);
        status = status != ESPL_OK ? status : link_entity(world, entity, original);
    }
    if (status == ESPL_OK) {
        espl__store_mark_entities(&world->store, &entity, 1);
    }
    return status;
}

espl_status espl_set_counterpart(espl_world *world, espl_entity entity, espl_entity original)
{
    static const char *const call = "espl_set_counterpart";
    const espl__mention named[] = {{"entity", entity}, {"original", original}};

    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status =
        ESPL__TAPED(world, set_counterpart(world, entity, original), .op = ESPL_TAPE_COUNTERPARTS,
                    .entities = &entity, .parents = &original, .count = 1);

    return espl__refuse_named(world, call, named, 2, status,
                              status == ESPL_ERR_EXISTS
                                  ? "The original has another counterpart in this world."
                                  : espl__original_fault);
}

espl_entity espl_find_counterpart(const espl_world *world, espl_entity original)
{
    const uint32_t index =
        world == NULL ? UINT32_MAX : espl__counterpart_of(&world->store.counterparts, original);

    return index == UINT32_MAX ? espl_entity_null() : espl__entity_at(&world->store, index);
}

espl_entity espl_get_original(const espl_world *world, espl_entity entity)
{
    return world != NULL && espl__entity_is_alive(&world->store, entity)
               ? espl__original_of(&world->store.counterparts, entity.index)
               : espl_entity_null();
}

// --- Following ---

// What is followed.
typedef struct following_call {
    espl_world *world;
    const espl_changes *changes;
    const espl_follow_def *def;
    // Lists in scratch memory.
    espl_entity *doomed;   // [doomed_count] counterparts of removed entities
    espl_entity *entities; // [entity_count] counterparts of added and changed entities
    espl_transform
        *gathered; // [entity_count] their transforms; NULL: they are the array of the caller
    size_t doomed_count, entity_count;
    const espl_transform *values; // [entity_count]
    espl_follow_report report;
} following_call;

static const espl_transform *added_values(const following_call *f)
{
    return f->def->kind == ESPL_FOLLOW_LOCAL ? f->changes->added_locals : f->changes->added_worlds;
}

static const espl_transform *changed_values(const following_call *f)
{
    return f->def->kind == ESPL_FOLLOW_LOCAL ? f->changes->changed_locals
                                             : f->changes->changed_worlds;
}

// Tell whether a list is given, with its transforms, and is of another world.
static bool is_list_sound(const espl_world *world, const espl_entity *entities, size_t count,
                          const espl_transform *values)
{
    return count == 0 || (entities != NULL && values != NULL &&
                          entities[0].generation >> ESPL__TAG_SHIFT != world->store.tag);
}

// Say what is wrong with the arguments of a follow, or NULL.
static const char *find_follow_fault(const following_call *f)
{
    const espl_changes *const c = f->changes;
    const espl_follow_def *const def = f->def;
    static const espl_transform any;

    if (f->world == NULL || c == NULL) {
        return "changes is NULL.";
    }
    if ((unsigned)def->kind > ESPL_FOLLOW_WORLD || (unsigned)def->removed > ESPL_EXTENT_SUBTREE ||
        (def->flags & ~(uint32_t)ESPL_FOLLOW_KEEPS) != 0) {
        return "def->kind or def->removed does not exist, or def->flags has an unknown bit.";
    }
    return is_list_sound(f->world, c->removed, c->removed_count, &any) &&
                   is_list_sound(f->world, c->added, c->added_count, added_values(f)) &&
                   is_list_sound(f->world, c->changed, c->changed_count, changed_values(f))
               ? NULL
               : "A list of changes is NULL, has no transforms of the kind, or is of this world.";
}

// Place the lists of a follow in a block, behind the lists of a batch.
// @param block  NULL: only measure. @return bytes.
static size_t carve_lists(following_call *f, unsigned char *block)
{
    const espl_changes *const c = f->changes;
    const size_t count = c->added_count + c->changed_count;
    size_t at = espl__writes_size(count);

    f->doomed = espl__carve(block, &at, c->removed_count, sizeof *f->doomed, 16);
    f->entities = espl__carve(block, &at, count, sizeof *f->entities, 16);
    f->gathered = espl__carve(block, &at, count, sizeof *f->gathered, 16);
    return at;
}

// List the counterparts of removed entities.
static void list_doomed(following_call *f)
{
    const espl__store *const store = &f->world->store;
    const espl_changes *const c = f->changes;

    for (size_t i = 0; i < c->removed_count && (f->def->flags & ESPL_FOLLOW_KEEPS) == 0; ++i) {
        const uint32_t index = espl__counterpart_of(&store->counterparts, c->removed[i]);

        if (index != UINT32_MAX) {
            f->doomed[f->doomed_count++] = espl__entity_at(store, index);
        }
    }
}

// Find the counterparts of entities. Tables and records are prefetched, because each look-up reads both at
// random. @param out  [count] null where there is none. @return how many there are.
static size_t find_counterparts(const espl__store *store, const espl_entity *originals,
                                size_t count, espl_entity *out)
{
    enum { FAR = 24, NEAR = 12 };
    const espl__counterparts *const links = &store->counterparts;
    size_t found = 0;

    for (size_t i = 0; i < count + NEAR; ++i) {
        if (i + FAR < count) {
            espl__counterpart_prefetch(links, originals[i + FAR]);
        }
        if (i < count) {
            out[i].index = espl__counterpart_of(links, originals[i]);
            espl__prefetch_element(store->records, out[i].index, sizeof *store->records);
        }
        if (i >= NEAR) {
            espl_entity *const at = &out[i - NEAR];
            const bool is_known = at->index != UINT32_MAX;

            *at = is_known ? espl__entity_at(store, at->index) : espl_entity_null();
            found += is_known ? 1 : 0;
        }
    }
    return found;
}

// Append the transforms of entities with a counterpart, and move the counterparts together.
// @param begin  where the counterparts of the list begin
static void gather(following_call *f, size_t begin, size_t count, const espl_transform *values)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_entity entity = f->entities[begin + i];

        if (!espl_entity_is_null(entity)) {
            f->entities[f->entity_count] = entity;
            f->gathered[f->entity_count] = values[i];
            f->entity_count += 1;
        }
    }
}

// List the counterparts of added and changed entities, and their transforms. Where the entities are one list
// and all have a counterpart, the transforms stay where the caller has them.
static void list_written(following_call *f)
{
    const espl__store *const store = &f->world->store;
    const espl_changes *const c = f->changes;
    const size_t count = c->added_count + c->changed_count;
    const size_t added = find_counterparts(store, c->added, c->added_count, f->entities);
    const size_t changed =
        find_counterparts(store, c->changed, c->changed_count, f->entities + c->added_count);

    f->report.unknown = count - added - changed;
    if (added + changed == count && (c->added_count == 0 || c->changed_count == 0)) {
        f->entity_count = count;
        f->values = c->added_count != 0 ? added_values(f) : changed_values(f);
        return;
    }
    gather(f, 0, c->added_count, added_values(f));
    gather(f, c->added_count, c->changed_count, changed_values(f));
    f->values = f->gathered;
}

// Write the transforms of the counterparts that are listed.
static espl_status write_listed(following_call *f, const char *call)
{
    const espl__entries e = {
        .call = call,
        .handles = {(const unsigned char *)f->entities, sizeof *f->entities},
        .values = (const unsigned char *)f->values,
        .value_size = sizeof *f->values,
        .kind = f->def->kind == ESPL_FOLLOW_LOCAL ? ESPL_WRITE_LOCAL_TRANSFORM
                                                  : ESPL_WRITE_WORLD_TRANSFORM,
        .count = f->entity_count,
    };
    espl_write_report written = {0};
    const espl_status status = espl__write_entries(f->world, &e, NULL, &written);

    f->report.written = written.applied;
    f->report.refused = written.refused;
    return status;
}

// Take the memory for all lists and for the batch.
static espl_status take_follow_lists(following_call *f)
{
    const size_t count = f->changes->added_count + f->changes->changed_count;

    if (f->changes->added_count > ESPL__ENTRIES_LIMIT || count > ESPL__ENTRIES_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status status = espl__scratch_grow(&f->world->heap, ESPL__FOR_COMMANDS,
                                                  &f->world->write_scratch, carve_lists(f, NULL));

    if (status == ESPL_OK) {
        (void)carve_lists(f, f->world->write_scratch.block);
    }
    return status;
}

// Counterparts are found after the destroy, because it may have destroyed some of them. The statuses of both
// steps are remarks, or the batch is refused; that of the batch counts where it has one. A refusal is logged
// here.
static espl_status repeat_changes(following_call *f, const char *call)
{
    espl_world *const world = f->world;
    const espl_changes *const c = f->changes;
    espl_status remark = ESPL_OK;

    if (c->removed_count + c->added_count + c->changed_count == 0 && !world->is_playing) {
        return ESPL_OK;
    }
    espl_status status = world->is_playing ? ESPL_ERR_BUSY : take_follow_lists(f);

    if (status != ESPL_OK) {
        return espl__refuse_call(world, call, status, NULL);
    }
    list_doomed(f);
    if (f->doomed_count != 0) {
        remark = espl__destroy_listed(world, f->doomed, f->doomed_count, f->def->removed, call);
        if (remark < 0) {
            return remark;
        }
        f->report.destroyed = f->doomed_count;
    }
    list_written(f);
    status = f->entity_count != 0 ? write_listed(f, call) : ESPL_OK;
    return status != ESPL_OK ? status : remark;
}

espl_status espl_follow(espl_world *world, const espl_changes *changes, const espl_follow_def *def,
                        espl_follow_report *report)
{
    static const char *const call = "espl_follow";
    static const espl_follow_def locals;
    following_call f = {.world = world, .changes = changes, .def = def != NULL ? def : &locals};

    if (report != NULL) {
        *report = f.report;
    }
    ESPL__CHANGE_OR_RETURN(world, call)
    const char *const fault = find_follow_fault(&f);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    if (ESPL__ASKS_LATER(changes) || ESPL__ASKS_LATER(f.def)) {
        return espl__refuse_later(world, call);
    }
    const espl_status status = repeat_changes(&f, call);

    if (report != NULL && status >= 0) {
        *report = f.report;
    }
    return status;
}

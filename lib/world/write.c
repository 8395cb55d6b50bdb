// SPDX-License-Identifier: MIT
// Immediate writes of one entity: espl_write_one(), the kinds that have functions of their own,
// espl_look_at(), espl_rotate_about() and espl_set_inherit().
//
// This file finds the slot, refuses what cannot be written now, and words the refusals;
// slot_writes.c does the work and records it on the tape. Postcondition of each call: the node and
// everything below it are up to date, or nothing has changed.
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/slot_writes.h"

// Find the slot of an entity that may be written now: it has a transform, and the world is not
// playing.
static espl_status find_free(const espl_world *world, espl_entity entity, uint32_t *slot)
{
    const espl_status status = espl__find_placed(world, entity, slot);

    return status == ESPL_OK && world->is_playing ? ESPL_ERR_BUSY : status;
}

// Log why a write is refused. Out of line, because it needs stack for a sentence.
static ESPL__APART espl_status refuse_write_at_once(const espl_world *world, const char *call,
                                                    const espl_entity *entity, espl_write_kind kind,
                                                    const void *value, espl_status status)
{
    espl__sentence sentence;
    const bool is_fault = status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE ||
                          status == ESPL_ERR_UNSUPPORTED;

    return espl__refuse_why(world, call, *entity, status,
                            is_fault ? espl__write_fault(&sentence, kind, value) : NULL);
}

espl_status espl__write_as(espl_world *world, const char *call, espl_entity entity,
                           espl_write_kind kind, const void *value)
{
    uint32_t slot = 0;
    espl_status status = find_free(world, entity, &slot);

    if (status == ESPL_OK && !espl__write_exists(kind)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        status = espl__slot_write(world, &world->forest.context, slot, kind, value);
    }
    if (status < 0) {
        return refuse_write_at_once(world, call, &entity, kind, value, status);
    }
    espl__remark_zero(world, call, NULL, entity, kind, value);
    return status;
}

// Every write that espl_write_one() does not do itself. Out of line, because few writes take it.
static ESPL__APART espl_status write_any(espl_world *world, espl_entity entity,
                                         espl_write_kind kind, const void *value)
{
    return espl__write_as(world, espl__write_call(kind), entity, kind, value);
}

// Find the slot of a living entity whose node is plain for all kinds and has a transform: one test. The
// handle by address, for the reason of espl__is_alive().
ESPL__INLINE bool find_plain(const espl_world *world, const espl_entity *entity, uint32_t *slot)
{
    if (world == NULL || !espl__is_alive(&world->store, entity->index, entity->generation)) {
        return false;
    }
    *slot = world->store.records[entity->index].slot;
    return !espl__slot_is(&world->forest, *slot,
                          ESPL__SLOT_BARE | ESPL__SLOT_EXCEPTIONAL | ESPL__SLOT_SIDE);
}

// Any write. Fast path: a whole local transform without stretch, to a plain node, while no tape is
// set and all worlds are finite. It ends in calls that take over its stack frame, so that it saves
// no registers.
ESPL__INLINE espl_status write_at_once(espl_world *world, espl_entity entity, espl_write_kind kind,
                                       const void *value)
{
    espl_status status = ESPL_OK;
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, espl__write_call(kind))
    if (value != NULL && find_plain(world, &entity, &slot) && !espl__is_restrained(world) &&
        !world->forest.context.has_overflowed &&
        espl__value_is_usual(kind, value) && !espl__pose_is_blank(value) &&
        espl__pose_try_put(&world->forest, &world->forest.context, slot, value, &status)) {
        return status;
    }
    return write_any(world, entity, kind, value);
}

espl_status espl_write_one(espl_world *world, espl_entity entity, espl_write_kind kind,
                           const void *value)
{
    return write_at_once(world, entity, kind, value);
}

// --- By name: the kind is a constant, so that each has only the code of its kind ---

espl_status espl_set_local_position(espl_world *world, espl_entity entity, const float value[3])
{
    return write_at_once(world, entity, ESPL_WRITE_LOCAL_POSITION, value);
}

espl_status espl_set_local_rotation(espl_world *world, espl_entity entity, const float value[4])
{
    return write_at_once(world, entity, ESPL_WRITE_LOCAL_ROTATION, value);
}

espl_status espl_set_local_scale(espl_world *world, espl_entity entity, float value)
{
    return write_at_once(world, entity, ESPL_WRITE_LOCAL_SCALE, &value);
}

espl_status espl_set_local_pose(espl_world *world, espl_entity entity, const espl_pose *value)
{
    return write_at_once(world, entity, ESPL_WRITE_LOCAL_POSE, value);
}

espl_status espl_set_local_transform(espl_world *world, espl_entity entity,
                                     const espl_transform *value)
{
    return write_at_once(world, entity, ESPL_WRITE_LOCAL_TRANSFORM, value);
}

espl_status espl_set_stretch(espl_world *world, espl_entity entity, const float value[3])
{
    return write_at_once(world, entity, ESPL_WRITE_STRETCH, value);
}

espl_status espl_set_user_data(espl_world *world, espl_entity entity, uint32_t value)
{
    return write_at_once(world, entity, ESPL_WRITE_USER_DATA, &value);
}

espl_status espl_set_world_position(espl_world *world, espl_entity entity, const float value[3])
{
    return write_at_once(world, entity, ESPL_WRITE_WORLD_POSITION, value);
}

espl_status espl_set_world_rotation(espl_world *world, espl_entity entity, const float value[4])
{
    return write_at_once(world, entity, ESPL_WRITE_WORLD_ROTATION, value);
}

espl_status espl_set_world_scale(espl_world *world, espl_entity entity, float value)
{
    return write_at_once(world, entity, ESPL_WRITE_WORLD_SCALE, &value);
}

espl_status espl_set_world_pose(espl_world *world, espl_entity entity, const espl_pose *value)
{
    return write_at_once(world, entity, ESPL_WRITE_WORLD_POSE, value);
}

espl_status espl_set_world_transform(espl_world *world, espl_entity entity,
                                     const espl_transform *value)
{
    return write_at_once(world, entity, ESPL_WRITE_WORLD_TRANSFORM, value);
}

espl_status espl_translate_own(espl_world *world, espl_entity entity, const float value[3])
{
    return write_at_once(world, entity, ESPL_WRITE_TRANSLATE_OWN, value);
}

espl_status espl_rotate_own(espl_world *world, espl_entity entity, const float value[4])
{
    return write_at_once(world, entity, ESPL_WRITE_ROTATE_OWN, value);
}

// --- Edits ---

// What the calls do that are no kind of write. Arguments are checked before the handle.
static espl_status edit_one(espl_world *world, const char *call, espl_entity entity,
                            const espl__slot_edit *edit)
{
    espl_status status = ESPL_ERR_ARGUMENT;
    espl__sentence sentence;
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL && espl__slot_edit_is_sound(edit)) {
        status = find_free(world, entity, &slot);
    }
    if (status == ESPL_OK) {
        status = espl__slot_edit_apply(world, &world->forest.context, slot, edit);
    }
    return status >= 0 ? status
                       : espl__refuse_why(world, call, entity, status,
                                          espl__slot_edit_fault(&sentence, edit, status));
}

espl_status espl_look_at(espl_world *world, espl_entity entity, const float target[3],
                         const float *up, espl_axis forward)
{
    const espl__slot_edit edit = {
        .op = ESPL_TAPE_LOOK_AT, .point = target, .by = up, .word = (uint32_t)forward};

    return edit_one(world, "espl_look_at", entity, &edit);
}

espl_status espl_rotate_about(espl_world *world, espl_entity entity, const float pivot[3],
                              const float by[4])
{
    const espl__slot_edit edit = {.op = ESPL_TAPE_ROTATE_ABOUT, .point = pivot, .by = by};

    return edit_one(world, "espl_rotate_about", entity, &edit);
}

espl_status espl_set_inherit(espl_world *world, espl_entity entity, uint32_t flags)
{
    const espl__slot_edit edit = {.op = ESPL_TAPE_INHERIT, .word = flags};

    return edit_one(world, "espl_set_inherit", entity, &edit);
}

// SPDX-License-Identifier: MIT
// Writing the transform of one entity, at once.
#include "lib/world/slot_writes.h"

#include "lib/world/tape.h"

// The slot of an entity that may be written now.
static espl_status find_free(const espl_world *world, espl_entity entity, uint32_t *slot)
{
    const espl_status status = espl__find_placed(world, entity, slot);

    return status == ESPL_OK && world->is_playing ? ESPL_ERR_BUSY : status;
}

// Apart, so that a write without a tape pays one test: 8 instructions of 300, where it took 17 with
// both ends of the record in line.
ESPL__APART static espl_status write_taped(espl_world *world, espl_entity entity, uint32_t slot,
                                           espl_write_kind kind, const void *bytes)
{
    espl__tape_write(world, entity, kind, bytes);
    return espl__tape_close(world,
                            espl__slot_write(world, &world->forest.context, slot, kind, bytes));
}

// @param bytes  the value of the kind; a pointer of any type.
static espl_status write_one(espl_world *world, espl_entity entity, espl_write_kind kind,
                             const void *bytes)
{
    uint32_t slot = 0;
    espl_status status = find_free(world, entity, &slot);

    if (status == ESPL_OK) {
        status = world->tape.sink.append != NULL
                     ? write_taped(world, entity, slot, kind, bytes)
                     : espl__slot_write(world, &world->forest.context, slot, kind, bytes);
    }
    return espl__refuse(world, espl__write_operation(kind), entity, status);
}

static ESPL__APART espl_status refuse_write(const espl_world *world, espl_entity entity,
                                            espl_write_kind kind, espl_status status)
{
    return espl__refuse(world, espl__write_operation(kind), entity, status);
}

// A whole local, which mostly is the usual one and goes straight into place.
ESPL__INLINE espl_status set_local(espl_world *world, const espl_entity *entity,
                                   espl_write_kind kind, const espl_transform *value)
{
    uint32_t slot = 0;

    if (value == NULL || !espl__has_placed(world, entity, &slot) || world->is_playing ||
        world->tape.sink.append != NULL ||
        !espl__write_is_usual(&world->forest, slot, kind, value)) {
        return write_one(world, *entity, kind, value);
    }
    const espl_status status = espl__pose_put(&world->forest, &world->forest.context, slot, value);

    return status >= 0 ? status : refuse_write(world, *entity, kind, status);
}

espl_status espl_set_local_position(espl_world *world, espl_entity entity, const float position[3])
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_POSITION, position);
}

espl_status espl_set_local_rotation(espl_world *world, espl_entity entity, const float rotation[4])
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_ROTATION, rotation);
}

espl_status espl_set_local_scale(espl_world *world, espl_entity entity, float scale)
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_SCALE, &scale);
}

espl_status espl_set_local_pose(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return set_local(world, &entity, ESPL_WRITE_LOCAL_POSE, value);
}

espl_status espl_set_local_transform(espl_world *world, espl_entity entity,
                                     const espl_transform *value)
{
    return set_local(world, &entity, ESPL_WRITE_LOCAL_TRANSFORM, value);
}

espl_status espl_set_stretch(espl_world *world, espl_entity entity, const float stretch[3])
{
    return write_one(world, entity, ESPL_WRITE_STRETCH, stretch);
}

espl_status espl_set_user_data(espl_world *world, espl_entity entity, uint32_t context)
{
    return write_one(world, entity, ESPL_WRITE_USER_DATA, &context);
}

espl_status espl_set_world_position(espl_world *world, espl_entity entity, const float position[3])
{
    return write_one(world, entity, ESPL_WRITE_WORLD_POSITION, position);
}

espl_status espl_set_world_rotation(espl_world *world, espl_entity entity, const float rotation[4])
{
    return write_one(world, entity, ESPL_WRITE_WORLD_ROTATION, rotation);
}

espl_status espl_set_world_scale(espl_world *world, espl_entity entity, float scale)
{
    return write_one(world, entity, ESPL_WRITE_WORLD_SCALE, &scale);
}

espl_status espl_set_world_transform(espl_world *world, espl_entity entity,
                                     const espl_transform *value)
{
    return write_one(world, entity, ESPL_WRITE_WORLD_TRANSFORM, value);
}

espl_status espl_translate_in_parent(espl_world *world, espl_entity entity, const float offset[3])
{
    return write_one(world, entity, ESPL_WRITE_TRANSLATE_IN_PARENT, offset);
}

espl_status espl_rotate_in_parent(espl_world *world, espl_entity entity, const float by[4])
{
    return write_one(world, entity, ESPL_WRITE_ROTATE_IN_PARENT, by);
}

espl_status espl_transform_in_parent(espl_world *world, espl_entity entity,
                                     const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_TRANSFORM_IN_PARENT, by);
}

espl_status espl_inverse_transform_in_parent(espl_world *world, espl_entity entity,
                                             const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT, by);
}

espl_status espl_translate_world(espl_world *world, espl_entity entity, const float offset[3])
{
    return write_one(world, entity, ESPL_WRITE_TRANSLATE_WORLD, offset);
}

espl_status espl_rotate_world(espl_world *world, espl_entity entity, const float by[4])
{
    return write_one(world, entity, ESPL_WRITE_ROTATE_WORLD, by);
}

espl_status espl_transform_world(espl_world *world, espl_entity entity, const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_TRANSFORM_WORLD, by);
}

espl_status espl_inverse_transform_world(espl_world *world, espl_entity entity,
                                         const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_INVERSE_TRANSFORM_WORLD, by);
}

espl_status espl_multiply_scale(espl_world *world, espl_entity entity, float factor)
{
    return write_one(world, entity, ESPL_WRITE_MULTIPLY_SCALE, &factor);
}

espl_status espl_multiply_stretch(espl_world *world, espl_entity entity, const float factors[3])
{
    return write_one(world, entity, ESPL_WRITE_MULTIPLY_STRETCH, factors);
}

// --- Helpers ---

espl_status espl_look_at(espl_world *world, espl_entity entity, const float target[3],
                         const float *up)
{
    espl_status status = ESPL_ERR_ARGUMENT;
    uint32_t slot = 0;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && target != NULL)) {
        status = find_free(world, entity, &slot);
    }
    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_look_at(world, entity, target, up);
    }
    if (status == ESPL_OK) {
        status = espl__slot_look_at(world, &world->forest.context, slot, target, up);
        status = espl__tape_end(world, status);
    }
    return espl__refuse(world, "look at", entity, status);
}

espl_status espl_rotate_about(espl_world *world, espl_entity entity, const float pivot[3],
                              const float by[4])
{
    espl_status status = ESPL_ERR_ARGUMENT;
    uint32_t slot = 0;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && pivot != NULL && by != NULL)) {
        status = find_free(world, entity, &slot);
    }
    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_rotate_about(world, entity, pivot, by);
    }
    if (status == ESPL_OK) {
        status = espl__slot_rotate_about(world, &world->forest.context, slot, pivot, by);
        status = espl__tape_end(world, status);
    }
    return espl__refuse(world, "rotate about", entity, status);
}

espl_status espl_set_inherit(espl_world *world, espl_entity entity, uint32_t flags)
{
    uint32_t slot = 0;
    espl_status status = find_free(world, entity, &slot);

    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_INHERIT, entity, flags);
    }
    if (status == ESPL_OK) {
        status = espl__slot_inherit(world, &world->forest.context, slot, flags);
        status = espl__tape_end(world, status);
    }
    return espl__refuse(world, "set inherit flags", entity, status);
}

// --- Memory ahead of time ---

espl_status espl_reserve_side(espl_world *world, espl_entity entity)
{
    uint32_t slot = 0;
    espl_status status = espl__check_structural(world);

    if (espl__may_tape(world)) {
        espl__tape_entity(world, ESPL_TAPE_RESERVE_SIDE, entity);
    }
    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status == ESPL_OK) {
        status = espl__ensure_side(world, world->forest.tree[slot], true);
    }
    if (status == ESPL_OK) {
        espl__tree_of(&world->forest, slot)->side->is_prepaid = 1;
    }
    return espl__refuse(world, "reserve of side arrays", entity, espl__tape_end(world, status));
}

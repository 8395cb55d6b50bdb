// SPDX-License-Identifier: MIT
// Writing the transform of one entity, at once.
#include "lib/world/slot_writes.h"

#include "lib/commands/explain.h"
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

static ESPL__APART espl_status refuse_write_at_once(const espl_world *world,
                                                    const espl_entity *entity, espl_write_kind kind,
                                                    const void *value, espl_status status)
{
    espl__sentence sentence;
    const bool is_fault = status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE;

    return espl__refuse_why(world, espl__write_call(kind), *entity, status,
                            is_fault ? espl__write_fault(&sentence, kind, value) : NULL);
}

static ESPL__APART espl_status write_any(espl_world *world, const espl_entity *entity,
                                         espl_write_kind kind, const void *value)
{
    uint32_t slot = 0;
    espl_status status = find_free(world, *entity, &slot);

    if (status == ESPL_OK && (unsigned)kind >= ESPL_WRITE_KIND_COUNT) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        status = world->tape.sink.append != NULL
                     ? write_taped(world, *entity, slot, kind, value)
                     : espl__slot_write(world, &world->forest.context, slot, kind, value);
    }
    if (status < 0) {
        return refuse_write_at_once(world, entity, kind, value, status);
    }
    espl__remark_zero(world, espl__write_call(kind), NULL, *entity, kind, value);
    return status;
}

// Find the slot of a living entity whose node is plain and has a transform: one test of its flags.
ESPL__INLINE bool find_plain(const espl_world *world, const espl_entity *entity, uint32_t *slot)
{
    if (world == NULL || !espl__is_alive(&world->store, entity->index, entity->generation)) {
        return false;
    }
    *slot = world->store.records[entity->index].slot;
    return !espl__slot_is(&world->forest, *slot,
                          ESPL__SLOT_BARE | ESPL__SLOT_EXCEPTIONAL | ESPL__SLOT_SIDE);
}

// Most writes are of a whole local without stretch, to a plain node: they skip the general path.
espl_status espl_write_one(espl_world *world, espl_entity entity, espl_write_kind kind,
                           const void *value)
{
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, espl__write_call(kind))
    if (value == NULL || !find_plain(world, &entity, &slot) || world->is_playing ||
        world->tape.sink.append != NULL || !espl__value_is_usual(kind, value) ||
        espl__pose_is_blank(value)) {
        return write_any(world, &entity, kind, value);
    }
    const espl_status status = espl__pose_put(&world->forest, &world->forest.context, slot, value);

    return status >= 0 ? status : refuse_write_at_once(world, &entity, kind, value, status);
}

// --- Helpers ---

espl_status espl_look_at(espl_world *world, espl_entity entity, const float target[3],
                         const float *up, espl_axis forward)
{
    static const char *const call = "espl_look_at";
    espl_status status = ESPL_ERR_ARGUMENT;
    espl__sentence sentence;
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL && target != NULL && (unsigned)forward <= (unsigned)ESPL_AXIS_BACK) {
        status = find_free(world, entity, &slot);
    }
    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_look_at(world, entity, target, up, forward);
    }
    if (status == ESPL_OK) {
        status = espl__slot_look_at(world, &world->forest.context, slot, target, up, forward);
        status = espl__tape_end(world, status);
    }
    return status >= 0 ? status
                       : espl__refuse_why(world, call, entity, status,
                                          espl__look_at_fault(&sentence, target, up, status));
}

espl_status espl_rotate_about(espl_world *world, espl_entity entity, const float pivot[3],
                              const float by[4])
{
    static const char *const call = "espl_rotate_about";
    espl_status status = ESPL_ERR_ARGUMENT;
    espl__sentence sentence;
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL && pivot != NULL && by != NULL) {
        status = find_free(world, entity, &slot);
    }
    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_rotate_about(world, entity, pivot, by);
    }
    if (status == ESPL_OK) {
        status = espl__slot_rotate_about(world, &world->forest.context, slot, pivot, by);
        status = espl__tape_end(world, status);
    }
    return status >= 0 ? status
                       : espl__refuse_why(world, call, entity, status,
                                          espl__rotate_about_fault(&sentence, pivot, by, status));
}

espl_status espl_set_inherit(espl_world *world, espl_entity entity, uint32_t flags)
{
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, "espl_set_inherit")
    espl_status status = find_free(world, entity, &slot);

    if (status == ESPL_OK && espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_INHERIT, entity, flags);
    }
    if (status == ESPL_OK) {
        status = espl__slot_inherit(world, &world->forest.context, slot, flags);
        status = espl__tape_end(world, status);
    }
    return espl__refuse_why(world, "espl_set_inherit", entity, status,
                            status == ESPL_ERR_ARGUMENT ? espl__flags_fault(flags) : NULL);
}

// SPDX-License-Identifier: MIT
// Destroys and instantiate at once, and playbacks of one command or none. Destroys need no memory.
#include "lib/world/tape.h"

espl_status espl__carry_one(espl_world *world, const espl__command *command,
                            const espl_transform *transform, espl_entity *created)
{
    espl_transform value = transform != NULL ? *transform : espl_transform_identity();
    unsigned char *const payload = (unsigned char *)&value;
    espl_status result = ESPL_OK;
    espl_report report = {0};
    espl__lane_view lane = {.commands = command,
                            .payloads = &payload,
                            .created = created,
                            .results = &result,
                            .count = 1,
                            .pending_count = command->count};

    world->is_playing = true;
    // No tag of a commands object: a pending handle is foreign here.
    const espl_status status = espl__playback_run(&world->playback, &lane, 1, UINT32_MAX, &report);
    world->is_playing = false;
    return status != ESPL_OK ? status : result;
}

// --- Destroy ---

static void bury(void *context, uint32_t entity)
{
    espl__entities_remove(context, &entity, 1);
}

static espl_status destroy(espl_world *world, espl_entity entity, espl__closure closure)
{
    static const espl_tape_op ops[] = {[ESPL__CLOSURE_OWNED] = ESPL_TAPE_DESTROY,
                                       [ESPL__CLOSURE_SUBTREE] = ESPL_TAPE_DESTROY_TREE,
                                       [ESPL__CLOSURE_ONLY] = ESPL_TAPE_DESTROY_ONLY};
    uint32_t slot = 0;
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status != ESPL_OK) {
        return espl__refuse(world, "destroy", entity, status);
    }
    if (espl__may_tape(world)) {
        espl__tape_entity(world, ops[closure], entity);
    }
    espl__heap_forbid(&world->heap);
    espl__make_ghosts(&world->forest, slot, closure, bury, &world->store);
    espl__rows_settle(&world->store);
    espl__heap_allow(&world->heap);
    (void)espl__settle(world);
    return espl__tape_end(world, ESPL_OK);
}

espl_status espl_destroy(espl_world *world, espl_entity entity)
{
    return destroy(world, entity, ESPL__CLOSURE_OWNED);
}

espl_status espl_destroy_subtree(espl_world *world, espl_entity entity)
{
    return destroy(world, entity, ESPL__CLOSURE_SUBTREE);
}

espl_status espl_destroy_only(espl_world *world, espl_entity entity)
{
    return destroy(world, entity, ESPL__CLOSURE_ONLY);
}

// --- Instantiate ---

static espl_status instantiate(espl_world *world, espl_entity source, size_t count,
                               espl_entity *out)
{
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__check_living(world, source);
    if (status != ESPL_OK || count == 0) {
        return status;
    }
    if (count >= ESPL_PENDING_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl_entity *const created = espl__heap_take(&world->heap, ESPL__FOR_COMMANDS, count,
                                                 sizeof *created, _Alignof(espl_entity));
    if (created == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    const espl__command command = {.target = source,
                                   .count = (uint32_t)count,
                                   .kind = ESPL__COMMAND_INSTANTIATE,
                                   .place = ESPL_PLACE_SOURCE};
    status = espl__carry_one(world, &command, NULL, created);
    for (size_t i = 0; status == ESPL_OK && out != NULL && i < count; ++i) {
        out[i] = created[i];
    }
    espl__heap_give(&world->heap, ESPL__FOR_COMMANDS, created, count, sizeof *created,
                    _Alignof(espl_entity));
    return status;
}

espl_status espl_instantiate(espl_world *world, espl_entity source, size_t count, espl_entity *out)
{
    if (espl__may_tape(world)) {
        espl__tape_count(world, ESPL_TAPE_INSTANTIATE, &source, count);
    }
    return espl__refuse(world, "instantiate", source,
                        espl__tape_end(world, instantiate(world, source, count, out)));
}

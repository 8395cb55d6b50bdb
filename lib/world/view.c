// SPDX-License-Identifier: MIT
// A whole hierarchy as it stands in memory. The dead are purged before it is shown, so that ranks
// are those of the living.
#include "lib/world/tape.h"

// Purge the dead of a run. A purge that cannot be done leaves no trace.
static espl_status purge(espl_world *world, uint32_t run)
{
    const bool was_unsettled = (world->forest.runs[run].flags & ESPL__RUN_UNSETTLED) != 0;
    espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    espl__run_mark_unsettled(&world->forest, run);
    status = espl__settle(world);
    if (status != ESPL_OK && !was_unsettled) {
        espl__run_unmark_unsettled(&world->forest, run);
    }
    return status;
}

static espl_status view(espl_world *world, espl_entity entity, espl_view *out)
{
    uint32_t slot = 0;

    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && out != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = espl__find_slot(world, entity, &slot);

    if (status == ESPL_OK && espl__run_of(&world->forest, slot)->ghosts != 0) {
        if (espl__may_tape(world)) {
            espl__tape_entity(world, ESPL_TAPE_VIEW, entity);
        }
        status = espl__tape_end(world, purge(world, world->forest.run[slot]));
        slot = world->store.records[entity.index].slot;
    }
    if (status != ESPL_OK) {
        return status;
    }
    const espl__forest *const forest = &world->forest;
    const espl__run *const run = espl__run_of(forest, slot);

    *out = (espl_view){.count = run->size,
                       .parents = forest->parent + run->base,
                       .slots = forest->order + run->base,
                       .worlds = forest->world,
                       .state = {.world = world}};
    return ESPL_OK;
}

espl_status espl_view_hierarchy(espl_world *world, espl_entity entity, espl_view *out)
{
    return espl__refuse(world, "view", entity, view(world, entity, out));
}

espl_entity espl_view_entity(const espl_view *view, size_t rank)
{
    if (!ESPL_DEMAND(NULL, view != NULL) || rank >= view->count) {
        return espl_entity_null();
    }
    return espl__entity_of_slot(view->state.world, view->slots[rank]);
}

void espl_view_depths(const espl_view *view, uint32_t *depths)
{
    if (!ESPL_DEMAND(NULL, view != NULL) ||
        !ESPL_DEMAND(espl__hooks_of(view->state.world), depths != NULL)) {
        return;
    }
    for (size_t rank = 0; rank < view->count; ++rank) {
        const uint32_t parent = view->parents[rank];

        depths[rank] = parent == ESPL_NO_RANK ? 0 : depths[parent] + 1;
    }
}

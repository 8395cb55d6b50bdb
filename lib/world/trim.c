// SPDX-License-Identifier: MIT
// Giving memory back: the dead are purged, transforms are laid out without room between them, rows
// in the order of their transforms, and all scratch goes.
#include "lib/world/tape.h"

espl_status espl__settle(espl_world *world)
{
    espl_report report = {0};
    espl_status status = ESPL_OK;

    if (world->forest.unsettled != ESPL__NO_RUN) {
        world->is_playing = true;
        status = espl__playback_run(&world->playback, NULL, 0, UINT32_MAX, &report);
        world->is_playing = false;
    }
    return status;
}

// Purge the dead of all runs. Those that only the trim marked stand first in the list of runs to be
// purged: where it cannot be done they leave it again.
static espl_status purge_all(espl_world *world)
{
    espl__forest *const forest = &world->forest;
    const uint32_t before = forest->unsettled;

    for (uint32_t run = 0; run < forest->run_end && forest->ghosts != 0; ++run) {
        if (forest->runs[run].size != 0 && forest->runs[run].ghosts != 0) {
            espl__run_mark_unsettled(forest, run);
        }
    }
    const espl_status status = espl__settle(world);

    while (status != ESPL_OK && forest->unsettled != before) {
        espl__run_unmark_unsettled(forest, forest->unsettled);
    }
    return status;
}

static espl_status give_back(espl_world *world)
{
    espl__scratch_free(world, &world->write_scratch);
    espl__scratch_free(world, &world->side_scratch);
    espl__scratch_free(world, &world->deal_scratch);
    espl__scratch_free(world, &world->mark_scratch);
    espl__playback_trim(&world->playback);
    return espl__store_trim(&world->store) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

static espl_status trim(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    // What goes first leaves room for the rest, which makes scratch and spare chunks of its own.
    (void)give_back(world);
    const espl_status purged = purge_all(world);
    const bool is_packed =
        espl__forest_trim(&world->forest, espl__entity_record_slot, &world->store);
    const espl_status given = give_back(world);

    if (is_packed) {
        // A query that goes from row to row then finds transform behind transform.
        espl__heap_forbid(&world->heap);
        espl__rows_put_in_order(&world->store, world->forest.entity, world->forest.end);
        espl__heap_allow(&world->heap);
    }
    if (purged != ESPL_OK || given != ESPL_OK) {
        return purged != ESPL_OK ? purged : given;
    }
    return is_packed ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

espl_status espl_trim(espl_world *world)
{
    if (espl__may_tape(world)) {
        espl__tape_plain(world, ESPL_TAPE_TRIM);
    }
    return espl__refuse(world, "trim", espl_entity_null(), espl__tape_end(world, trim(world)));
}

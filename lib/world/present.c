// SPDX-License-Identifier: MIT
// espl_present(): the shown worlds of a world at a time between two ticks.
//
// A present is no change of structure, and the truth stays as it is, so that it is not recorded on the
// tape. All that can fail comes before the first store: the lists are in the scratch memory of batches.
#include "lib/tree/present.h"

#include "lib/tree/motion.h"
#include "lib/world/moment.h"
#include "lib/world/refusals.h"

#include <espalier/motion.h>

// Why a world cannot be presented, or ESPL_OK.
static espl_status check_present(const espl_world *world, float at)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    if (!espl__forest_has_motion(&world->forest)) {
        return ESPL_ERR_ARGUMENT;
    }
    return isfinite(at) ? ESPL_OK : ESPL_ERR_NOT_FINITE;
}

// Take the memory of a present, and carry it out.
static espl_status present_world(espl_world *world, float at, espl_present_report *report)
{
    espl__present present;
    espl_status status = ESPL_OK;

    espl__present_begin(&present, &world->forest, at, &world->write_scratch);
    present.job_cost = world->job_cost;
    present.wake_cost = world->wake_cost;
    const size_t size = espl__present_place(&present, NULL);

    // Memory that grows loses its contents.
    if (size > world->write_scratch.size) {
        present.is_listed = false;
        status = espl__scratch_grow(&world->heap, ESPL__FOR_COMMANDS, &world->write_scratch, size);
    }
    if (status != ESPL_OK) {
        return status;
    }
    (void)espl__present_place(&present, world->write_scratch.block);
    espl__heap_forbid(&world->heap);
    espl__present_apply(&present);
    espl__heap_allow(&world->heap);
    espl__present_end(&present);
    (void)espl__world_next_moment(world);
    world->presented += 1;
    world->blended += present.blended;
    *report = (espl_present_report){.blended = present.blended,
                                    .visited = present.visited,
                                    .has_overflowed = present.has_overflowed};
    return present.has_overflowed ? ESPL_OVERFLOW : ESPL_OK;
}

espl_status espl_present(espl_world *world, float at, espl_present_report *report)
{
    static const char *const call = "espl_present";
    espl_present_report done = {0};

    ESPL__CHANGE_OR_RETURN(world, call)
    espl_status status = check_present(world, at);

    if (status == ESPL_OK) {
        status = present_world(world, at, &done);
    }
    if (report != NULL) {
        *report = done;
    }
    return espl__refuse_call(world, call, status,
                             status == ESPL_ERR_NOT_FINITE
                                 ? "at is NaN or infinite."
                                 : "Motion does not run; call espl_motion_start() first.");
}

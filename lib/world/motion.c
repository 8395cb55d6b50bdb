// SPDX-License-Identifier: MIT
// Motion of a world: start, stop and ticks. What motion keeps of a node is in lib/tree/motion.h.
#include "lib/tree/motion.h"

#include "lib/world/moment.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <espalier/motion.h>

// Planes that motion needs: a tick that begins copies what own data marks.
enum { PLANES = 1 << ESPL__PLANE_OWN };

// --- Start and stop ---

// Why a definition is refused, or ESPL_OK.
static espl_status check_motion_def(const espl_world *world, const espl_motion_def *def)
{
    if (world == NULL || (def != NULL && def->history > ESPL__PASTS)) {
        return ESPL_ERR_ARGUMENT;
    }
    return def != NULL && ESPL__ASKS_LATER(def) ? ESPL_ERR_UNSUPPORTED : ESPL_OK;
}

// Mark what is shown of all nodes, for watches that saw another motion, or none.
static void mark_shown(const espl_world *world)
{
    const espl__plane *const shown = &world->forest.tracks.planes[ESPL__PLANE_SHOWN];

    if (espl__plane_is_open(shown)) {
        espl__plane_mark_range(shown, 0, world->forest.end);
    }
}

static espl_status start(espl_world *world, uint32_t history)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    if (espl__forest_has_motion(&world->forest)) {
        return ESPL_ERR_EXISTS;
    }
    if (!espl__heap_grow(&world->heap, ESPL__GROWTH_PASTS, 0, world->forest.capacity) ||
        !espl__planes_acquire(world, PLANES)) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (!espl__motion_open(&world->forest, history)) {
        espl__planes_release(world, PLANES);
        return ESPL_ERR_NO_MEMORY;
    }
    mark_shown(world);
    (void)espl__world_next_moment(world);
    espl__heap_forget(&world->heap);
    return ESPL_OK;
}

espl_status espl_motion_start(espl_world *world, const espl_motion_def *def)
{
    static const char *const call = "espl_motion_start";

    ESPL__CHANGE_OR_RETURN(world, call)
    const uint32_t history = def != NULL && def->history != 0 ? def->history : 1;
    espl_status status = check_motion_def(world, def);

    if (status == ESPL_OK) {
        status = ESPL__TAPED(world, start(world, history), .op = ESPL_TAPE_MOTION_START,
                             .word = history);
    }
    if (status == ESPL_ERR_UNSUPPORTED) {
        return espl__refuse_later(world, call);
    }
    return espl__refuse_call(
        world, call, status,
        status == ESPL_ERR_EXISTS
            ? "Motion runs already; call espl_motion_stop() first to start it anew."
            : "espl_motion_def.history is above 2.");
}

// Why a call needs motion that does not run.
static const char *const no_motion = "Motion does not run; call espl_motion_start() first.";

// Refuse a call, or carry out a function with a record on the tape.
static espl_status call_taped(espl_world *world, const char *call, espl_tape_op op,
                              espl_status (*function)(espl_world *world))
{
    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status =
        world == NULL ? ESPL_ERR_ARGUMENT : ESPL__TAPED(world, function(world), .op = op);

    return espl__refuse_call(world, call, status, no_motion);
}

static espl_status stop(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    if (!espl__forest_has_motion(&world->forest)) {
        return ESPL_ERR_ARGUMENT;
    }
    mark_shown(world);
    espl__motion_close(&world->forest);
    espl__planes_release(world, PLANES);
    espl__heap_forget(&world->heap);
    return ESPL_OK;
}

espl_status espl_motion_stop(espl_world *world)
{
    return call_taped(world, "espl_motion_stop", ESPL_TAPE_MOTION_STOP, stop);
}

// --- Ticks ---

// Why a tick cannot begin or end, or ESPL_OK.
static espl_status check_tick(const espl_world *world)
{
    if (world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    return espl__forest_has_motion(&world->forest) ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

static espl_status begin_tick(espl_world *world)
{
    const espl_status refused = check_tick(world);

    if (refused == ESPL_OK) {
        espl__heap_forbid(&world->heap);
        espl__motion_roll(&world->forest);
        (void)espl__world_next_moment(world);
        world->forest.tracks.is_ticking = true;
        espl__heap_allow(&world->heap);
    }
    return refused;
}

espl_status espl_tick_begin(espl_world *world)
{
    return call_taped(world, "espl_tick_begin", ESPL_TAPE_TICK_BEGIN, begin_tick);
}

static espl_status end_tick(espl_world *world)
{
    const espl_status refused = check_tick(world);

    if (refused == ESPL_OK) {
        espl__heap_forbid(&world->heap);
        world->forest.tracks.is_ticking = false;
        espl__heap_allow(&world->heap);
    }
    return refused;
}

espl_status espl_tick_end(espl_world *world)
{
    return call_taped(world, "espl_tick_end", ESPL_TAPE_TICK_END, end_tick);
}

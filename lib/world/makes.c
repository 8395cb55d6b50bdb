// SPDX-License-Identifier: MIT
// Calls that make entities at once. Each records one command in world->own, by the functions of the
// recorders, and applies it, so that checks and meaning are those of a recorded command.
#include "lib/world/tape.h"

#include <string.h>

// --- The world's own lane ---

void espl__own_free(espl_world *world)
{
    if (world->own != NULL) {
        espl__commands_free(world->own);
        world->own = NULL;
    }
}

// The recorder of an empty lane; NULL: no memory.
static espl_recorder *begin_own(espl_world *world)
{
    if (world->own == NULL) {
        if (espl__commands_of(world, &world->own_alive, 1, &world->own) != ESPL_OK) {
            return NULL;
        }
        world->own->tag = ESPL__NO_TAG; // so that every pending handle is refused
    }
    return &world->own->recorders[0];
}

// Keep the memory of a few entities for the next call.
static void end_own(espl_world *world)
{
    enum { KEPT = 1024 };
    espl__lane *const lane = &world->own->recorders[0].lane;

    if (lane->pending_count > KEPT) {
        espl__own_free(world);
    } else {
        espl__lane_clear(lane);
    }
}

// --- One command ---

typedef struct making {
    const espl_instance_def *instance; // or NULL
    const espl_creation_def *creation;
    size_t count;
    espl_entity *out; // [count], or NULL
    bool is_taped;    // the caller has put the call on the tape
    const char *call; // name of the public function
} making;

static espl_status record_making(espl_recorder *recorder, const making *m)
{
    return m->instance != NULL
               ? espl__record_instantiate(recorder, 0, m->instance, m->count, NULL, m->call)
               : espl__record_create(recorder, 0, m->creation, m->count, NULL, m->call);
}

// A refusal that is not told by the recorder.
static espl_status refuse_making(const espl_world *world, const making *m, espl_status status)
{
    if (m->instance != NULL) {
        const espl__mention named[3] = {{"source", m->instance->source},
                                        {"parent", m->instance->parent},
                                        {"before", m->instance->before}};

        return espl__refuse_named(world, m->call, named, 3, status, NULL);
    }
    const espl__mention named[2] = {{"parent", m->creation->parent},
                                    {"before", m->creation->before}};

    // Most creations have neither.
    return espl_entity_is_null(named[0].entity)
               ? espl__refuse_call(world, m->call, status, NULL)
               : espl__refuse_named(world, m->call, named, 2, status, NULL);
}

static espl_status apply_making(espl_world *world, const espl__lane *lane, espl_entity *out)
{
    const espl__lane_view view = {.commands = lane->commands,
                                  .payloads = lane->payloads.blocks,
                                  .created = lane->created,
                                  .count = 1,
                                  .pending_count = lane->pending_count};
    const espl_status status = espl__apply_lane(world, view);

    if (status >= 0 && out != NULL) {
        memcpy(out, lane->created, lane->pending_count * sizeof *out);
    }
    return status;
}

static espl_status apply_taped(espl_world *world, const espl__lane *lane, const making *m)
{
    if (m->is_taped || !espl__may_tape(world)) {
        return apply_making(world, lane, m->out);
    }
    espl__tape_make(world, lane);
    return espl__tape_end(world, apply_making(world, lane, m->out));
}

static espl_status make_entities(espl_world *world, const making *m)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && m->count >= ESPL_PENDING_LIMIT) {
        status = ESPL_ERR_LIMIT;
    }
    espl_recorder *const recorder = status == ESPL_OK ? begin_own(world) : NULL;

    if (recorder == NULL) {
        return refuse_making(world, m, status != ESPL_OK ? status : ESPL_ERR_NO_MEMORY);
    }
    status = record_making(recorder, m);
    // Nothing is recorded where nothing is to be made.
    if (status == ESPL_OK && espl__array_length(recorder->lane.commands) != 0) {
        status = apply_taped(world, &recorder->lane, m);
        status = status < 0 ? refuse_making(world, m, status) : status;
    }
    end_own(world);
    return status;
}

// --- At the public face ---

espl_status espl_instantiate_at(espl_world *world, const espl_instance_def *def, size_t count,
                                espl_entity *out)
{
    const making m = {.instance = def, .count = count, .out = out, .call = "espl_instantiate_at"};

    ESPL__CHANGE_OR_RETURN(world, m.call)
    if (world == NULL || def == NULL) {
        return espl__refuse_call(world, m.call, ESPL_ERR_ARGUMENT, "def is NULL.");
    }
    return make_entities(world, &m);
}

espl_status espl_create_at(espl_world *world, const espl_creation_def *def, size_t count,
                           espl_entity *out)
{
    const making m = {.creation = def, .count = count, .out = out, .call = "espl_create_at"};

    ESPL__CHANGE_OR_RETURN(world, m.call)
    if (world == NULL || def == NULL) {
        return espl__refuse_call(world, m.call, ESPL_ERR_ARGUMENT, "def is NULL.");
    }
    return make_entities(world, &m);
}

static espl_status instantiate_alone(espl_world *world, espl_entity source, size_t count,
                                     espl_entity *out)
{
    const espl_instance_def def = {.source = source};
    const making m = {
        .instance = &def, .count = count, .out = out, .is_taped = true, .call = "espl_instantiate"};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__check_living(world, source);
    return status != ESPL_OK ? espl__refuse_named(world, m.call, &(espl__mention){"source", source},
                                                  1, status, NULL)
                             : make_entities(world, &m);
}

espl_status espl_instantiate(espl_world *world, espl_entity source, size_t count, espl_entity *out)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_instantiate")
    if (espl__may_tape(world)) {
        espl__tape_count(world, ESPL_TAPE_INSTANTIATE, &source, count);
    }
    return espl__tape_end(world, instantiate_alone(world, source, count, out));
}

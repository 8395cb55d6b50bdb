// SPDX-License-Identifier: MIT
// Immediate calls that create entities from a definition: espl_create_at(), espl_instantiate(),
// espl_spawn(), espl_create_node(). (espl_create() creates entities without parents and is in entities.c.)
//
// Each records one command in a command buffer of the world's own, by the functions that recorders
// use, and applies it. So a definition means the same here and in a recording, and it is checked once,
// by the recorder. The buffer, world->own, has one lane, is made at the first call and is kept for the
// next. Invariant: between calls its lane is empty.
#include "lib/world/creation.h"

#include "lib/base/prefetch.h"
#include "lib/world/commands.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

#include <string.h>

// --- The world's own lane ---

// Does nothing where there is none.
void espl__own_free(espl_world *world)
{
    if (world->own != NULL) {
        espl__command_buffer_free(world->own);
        world->own = NULL;
    }
}

espl_recorder *espl__own_begin(espl_world *world)
{
    if (world->own == NULL) {
        if (espl__commands_of(world, &world->own_alive, 1, &world->own) != ESPL_OK) {
            return NULL;
        }
        world->own->tag = ESPL__NO_TAG;
    }
    ESPL_CHECK(espl__array_length(world->own->recorders[0].lane.commands) == 0);
    return &world->own->recorders[0];
}

void espl__own_end(espl_world *world)
{
    enum { KEPT = 1024 };
    espl__lane *const lane = &world->own->recorders[0].lane;

    ESPL_CHECK(world->own_alive == 1);
    if (lane->pending_count > KEPT) {
        espl__own_free(world);
    } else {
        espl__lane_clear(lane);
    }
}

// --- One command ---

// A call that creates entities: one of two definitions, how many, and where the handles go.
typedef struct making {
    const espl_instance_def *instance; // or NULL
    const espl_creation_def *creation;
    size_t count;
    espl_entity *out; // [count], or NULL
    bool is_taped;    // the caller records the call on the tape
    const char *call; // name of the public function
} making;

// The recorder checks the definition and logs its refusals, by the name of the public function.
static espl_status record_making(espl_recorder *recorder, const making *m)
{
    ESPL_CHECK((m->instance != NULL) != (m->creation != NULL));
    return m->instance != NULL
               ? espl__record_instantiate(recorder, 0, m->instance, m->count, NULL, m->call)
               : espl__record_create(recorder, 0, m->creation, m->count, NULL, m->call);
}

// Log a refusal that the recorder did not see.
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

// Apply the command of the lane. The handles are copied only where entities were created, so that a
// refused call leaves the caller's array as it was.
static espl_status apply_making(espl_world *world, const espl__lane *lane, espl_entity *out)
{
    ESPL_CHECK(espl__array_length(lane->commands) == 1);
    const espl__lane_view view = {.commands = lane->commands,
                                  .payloads = lane->payloads.blocks,
                                  .created = lane->created,
                                  .count = 1,
                                  .pending_count = lane->pending_count,
                                  .traits = lane->traits};
    const espl_status status = espl__apply_lane(world, &view);

    if (status >= 0 && out != NULL) {
        memcpy(out, lane->created, lane->pending_count * sizeof *out);
    }
    return status;
}

// What the three calls do, once a definition is there.
static espl_status make_entities(espl_world *world, const making *m)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && m->count >= ESPL_PENDING_LIMIT) {
        status = ESPL_ERR_LIMIT;
    }
    // No command would find it.
    if (status == ESPL_OK && m->count == 0 && m->instance != NULL) {
        status = espl__check_living(world, m->instance->source);
    }
    espl_recorder *const recorder = status == ESPL_OK ? espl__own_begin(world) : NULL;
    const espl_entity parent = m->instance != NULL ? m->instance->parent : m->creation->parent;

    // The resolve stage reads the record. The handle is not checked yet.
    espl__prefetch_element(world->store.records, parent.index, sizeof *world->store.records);

    if (recorder == NULL) {
        return refuse_making(world, m, status != ESPL_OK ? status : ESPL_ERR_NO_MEMORY);
    }
    status = record_making(recorder, m);
    // A count of 0 records no command.
    if (status == ESPL_OK && espl__array_length(recorder->lane.commands) != 0) {
        const espl__lane *const lane = &recorder->lane;

        status =
            ESPL__TAPED_IF(!m->is_taped && espl__may_tape(world), world,
                           apply_making(world, lane, m->out), .op = ESPL_TAPE_MAKE, .lane = lane);
        status = status < 0 ? refuse_making(world, m, status) : status;
    }
    espl__own_end(world);
    return status;
}

// --- Public functions ---

// What both functions for a definition do.
static espl_status make_defined(espl_world *world, const making *m)
{
    ESPL__CHANGE_OR_RETURN(world, m->call)
    if (world == NULL || (m->instance == NULL && m->creation == NULL)) {
        return espl__refuse_call(world, m->call, ESPL_ERR_ARGUMENT, "def is NULL.");
    }
    if (m->instance != NULL ? ESPL__ASKS_LATER(m->instance) : ESPL__ASKS_LATER(m->creation)) {
        return espl__refuse_later(world, m->call);
    }
    return make_entities(world, m);
}

espl_status espl_instantiate(espl_world *world, const espl_instance_def *def, size_t count,
                             espl_entity *out)
{
    const making m = {.instance = def, .count = count, .out = out, .call = "espl_instantiate"};

    return make_defined(world, &m);
}

espl_status espl_create_at(espl_world *world, const espl_creation_def *def, size_t count,
                           espl_entity *out)
{
    const making m = {.creation = def, .count = count, .out = out, .call = "espl_create_at"};

    return make_defined(world, &m);
}

espl_status espl_spawn(espl_world *world, espl_entity prefab, espl_entity parent,
                       const espl_transform *local, espl_entity *out)
{
    const espl_instance_def def = espl__spawn_def(prefab, parent, local);
    const making m = {.instance = &def, .count = 1, .out = out, .call = "espl_spawn"};

    return make_defined(world, &m);
}

// --- A node ---

// Create the entity of a node, and then name it: both are on the tape, and only the first can be refused.
// @param name  prepared, or NULL; taken over where the call is done.
static espl_status make_node(espl_world *world, const making *m, const char *text, espl__name *name)
{
    const espl_status status = make_entities(world, m);

    if (status >= 0 && name != NULL) {
        (void)ESPL__TAPED(
            world, (espl__name_give(&world->store.names, m->out->index, name), ESPL_OK),
            .op = ESPL_TAPE_NAME, .entity = *m->out, .name = text, .count = name->size - 1);
    }
    return status;
}

// The memory of the name is taken first, so that nothing can fail behind the creation.
espl_status espl_create_node(espl_world *world, espl_entity parent, const espl_transform *local,
                             const char *name, espl_entity *out)
{
    const espl_component_value placed = {ESPL_TRANSFORM, sizeof *local, local};
    const espl_creation_def def = {.values = &placed, .value_count = 1, .parent = parent};
    espl_entity made = espl_entity_null();
    const making m = {.creation = &def, .count = 1, .out = &made, .call = "espl_create_node"};
    const size_t length = espl__name_length(name);
    espl__name *prepared = NULL;

    ESPL__CHANGE_OR_RETURN(world, m.call)
    espl_status status = espl__check_structural(world);

    const espl_status named = espl__name_check(name, length);

    if (status == ESPL_OK && named != ESPL_OK) {
        return espl__refuse_call(world, m.call, named, "name has a control character or a '/'.");
    }
    if (status == ESPL_OK && length != 0) {
        prepared = espl__name_prepare(&world->store.names, &world->heap, name, length);
        status = prepared != NULL ? ESPL_OK : ESPL_ERR_NO_MEMORY;
    }
    if (status != ESPL_OK) {
        return refuse_making(world, &m, status);
    }
    status = make_node(world, &m, name, prepared);
    if (status < 0) {
        espl__name_discard(&world->store.names, &world->heap, prepared);
    } else if (out != NULL) {
        *out = made;
    }
    return status;
}

// SPDX-License-Identifier: MIT
// Structural calls on many entities: attaching and destroying arrays of them, and clearing a world.
#include "lib/commands/explain.h"
#include "lib/world/tape.h"

// Commands that a playback has at most (lib/commands/order.c), so that no array that is too long for
// one is read for the tape.
#define COMMAND_LIMIT ((size_t)UINT32_MAX / 8)

// --- Messages ---

// The entry for which a call on many is refused.
typedef struct refused_at {
    size_t first, count;
    size_t *out; // NULL, or where the caller wants it
} refused_at;

static espl_status refuse_at(const espl_world *world, const char *call, const refused_at *at,
                             const espl__mention *named, size_t count, espl_status status)
{
    espl__message m;

    if (at->out != NULL) {
        *at->out = at->first;
    }
    if (espl__refusal_begin(&m, world, call, NULL, status)) {
        espl__message_part(&m, "entry %zu of %zu", at->first, at->count);
        espl__refusal_mention(&m, world, named, count, status);
        espl__refusal_send(&m, world, status, NULL);
    }
    return status;
}

// --- Attach ---

static espl__command attach_command(espl_entity child, espl_entity parent,
                                    const espl_attach_options *o)
{
    return (espl__command){.target = child,
                           .parent = parent,
                           .before = o->before,
                           .kind = ESPL__COMMAND_ATTACH,
                           .link = (uint8_t)o->link,
                           .stay_position = (uint8_t)o->position,
                           .stay_rotation = (uint8_t)o->rotation,
                           .stay_scale = (uint8_t)o->scale,
                           .inherit = (uint8_t)o->inherit};
}

// What an attach of many is asked for.
typedef struct attaching {
    const espl_entity *children, *parents; // [count]
    size_t count;
    const espl_attach_options *options;
} attaching;

static espl_status apply_attaching(espl_world *world, const attaching *a, size_t *refused)
{
    espl__heap *const heap = &world->heap;
    espl__command *const commands = espl__heap_take(heap, ESPL__FOR_COMMANDS, a->count,
                                                    sizeof *commands, _Alignof(espl__command));
    espl_status *const results =
        espl__heap_take(heap, ESPL__FOR_COMMANDS, a->count, sizeof *results, _Alignof(espl_status));
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (commands != NULL && results != NULL) {
        for (size_t i = 0; i < a->count; ++i) {
            commands[i] = attach_command(a->children[i], a->parents[i], a->options);
        }
        const espl__lane_view lane = {.commands = commands, .results = results, .count = a->count};

        status = espl__apply_strictly(world, lane, refused);
    }
    espl__heap_give(heap, ESPL__FOR_COMMANDS, results, a->count, sizeof *results,
                    _Alignof(espl_status));
    espl__heap_give(heap, ESPL__FOR_COMMANDS, commands, a->count, sizeof *commands,
                    _Alignof(espl__command));
    return status;
}

static espl_status attach_many(espl_world *world, const attaching *a, size_t *refused)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__options_are_valid(a->options)) {
        return ESPL_ERR_ARGUMENT;
    }
    return a->count == 0 ? ESPL_OK : apply_attaching(world, a, refused);
}

espl_status espl_attach_many(espl_world *world, const espl_entity *children,
                             const espl_entity *parents, size_t count,
                             const espl_attach_options *options, size_t *refused)
{
    static const char *const call = "espl_attach_many";
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const attaching a = {children, parents, count, o};
    size_t first = SIZE_MAX;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || (count != 0 && (children == NULL || parents == NULL))) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 children == NULL ? "children is NULL, but the count is not 0."
                                                  : "parents is NULL, but the count is not 0.");
    }
    if (count >= COMMAND_LIMIT) {
        return espl__refuse_call(world, call, ESPL_ERR_LIMIT, NULL);
    }
    if (espl__may_tape(world)) {
        espl__tape_attach_many(world, children, parents, count, o);
    }
    const espl_status status = espl__tape_end(world, attach_many(world, &a, &first));

    if (first == SIZE_MAX) {
        return espl__refuse_call(world, call, status, espl__options_fault(o));
    }
    const espl__mention named[] = {
        {"child", children[first]}, {"parent", parents[first]}, {"before", o->before}};

    return refuse_at(world, call, &(refused_at){first, count, refused}, named, 3, status);
}

// --- Destroy ---

static espl_status check_all_living(const espl_world *world, const espl_entity *entities,
                                    size_t count, size_t *refused)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_status status = espl__check_living(world, entities[i]);

        if (status != ESPL_OK) {
            *refused = i;
            return status;
        }
    }
    return ESPL_OK;
}

// One that an earlier one took along is passed over.
static espl_status destroy_all(espl_world *world, const espl_entity *entities, size_t count,
                               espl_extent extent)
{
    espl__edit edit;

    espl__destroy_begin(world, &edit);
    for (size_t i = 0; i < count; ++i) {
        if (espl__entity_is_alive(&world->store, entities[i])) {
            (void)espl__edit_destroy(&edit, world->store.records[entities[i].index].slot, extent);
        }
    }
    return espl__destroy_end(world, &edit);
}

static espl_status destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                                espl_extent extent, size_t *refused)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    status = status != ESPL_OK ? status : check_all_living(world, entities, count, refused);
    return status != ESPL_OK || count == 0 ? status : destroy_all(world, entities, count, extent);
}

espl_status espl_destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                              espl_extent extent, size_t *refused)
{
    static const char *const call = "espl_destroy_many";
    size_t first = SIZE_MAX;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || (entities == NULL && count != 0)) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 "entities is NULL, but the count is not 0.");
    }
    if (espl__may_tape(world)) {
        espl__tape_destroy_many(world, entities, count, extent);
    }
    const espl_status status =
        espl__tape_end(world, destroy_many(world, entities, count, extent, &first));

    if (first == SIZE_MAX) {
        return espl__refuse_call(world, call, status, "extent is none of espl_extent.");
    }
    const espl__mention named = {"entity", entities[first]};

    return refuse_at(world, call, &(refused_at){first, count, refused}, &named, 1, status);
}

// --- Clear ---

// Rows are kept as if they had been reserved, because a world that is cleared is filled again.
static void keep_rows(espl__store *store)
{
    const size_t archetypes = espl__array_length(store->archetypes);

    for (uint32_t a = 0; a < archetypes; ++a) {
        const espl_status status = espl__rows_keep(store, a, 0);

        // No row more needs no memory.
        ESPL_CHECK(status == ESPL_OK);
        (void)status;
    }
}

// From the last index on, so that the first one is freed last, and taken first by what comes next.
static espl_status clear(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);
    espl__edit edit;

    if (busy != ESPL_OK) {
        return busy;
    }
    keep_rows(&world->store);
    espl__destroy_begin(world, &edit);
    for (size_t index = espl__array_length(world->store.records); index-- > 0;) {
        const espl__record *const record = &world->store.records[index];

        if (record->row < ESPL__ROW_RETIRED && espl__is_root(&world->forest, record->slot)) {
            (void)espl__edit_destroy(&edit, record->slot, ESPL_EXTENT_SUBTREE);
        }
    }
    ESPL_CHECK(world->store.alive_count == 0);
    espl__headers_forget(&world->forest);
    return espl__destroy_end(world, &edit);
}

espl_status espl_world_clear(espl_world *world)
{
    static const char *const call = "espl_world_clear";

    ESPL__CHANGE_OR_RETURN(world, call)
    if (espl__may_tape(world)) {
        espl__tape_plain(world, ESPL_TAPE_CLEAR);
    }
    return espl__refuse_call(world, call, espl__tape_end(world, clear(world)), NULL);
}

// SPDX-License-Identifier: MIT
// Structural calls on many entities: attaching and destroying arrays of them, and clearing a world.
#include "lib/world/tape.h"

// Commands that a playback has at most (lib/commands/order.c), so that no array that is too long for
// one is read for the tape.
#define COMMAND_LIMIT ((size_t)UINT32_MAX / 8)

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
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const attaching a = {children, parents, count, o};
    espl_entity named[3] = {espl_entity_null()};
    size_t first = SIZE_MAX;

    if (!ESPL_DEMAND(espl__hooks_of(world),
                     world != NULL && ((children != NULL && parents != NULL) || count == 0))) {
        return espl__refuse(world, "attach", named[0], ESPL_ERR_ARGUMENT);
    }
    if (count >= COMMAND_LIMIT) {
        return espl__refuse(world, "attach", named[0], ESPL_ERR_LIMIT);
    }
    if (espl__may_tape(world)) {
        espl__tape_attach_many(world, children, parents, count, o);
    }
    const espl_status status = espl__tape_end(world, attach_many(world, &a, &first));

    if (first != SIZE_MAX) {
        named[0] = children[first];
        named[1] = parents[first];
        named[2] = o->before;
        if (refused != NULL) {
            *refused = first;
        }
    }
    return espl__refuse_among(world, "attach", named, 3, status);
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
    espl_entity concerned = espl_entity_null();
    size_t first = SIZE_MAX;

    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && (entities != NULL || count == 0))) {
        return espl__refuse(world, "destroy", concerned, ESPL_ERR_ARGUMENT);
    }
    if (espl__may_tape(world)) {
        espl__tape_destroy_many(world, entities, count, extent);
    }
    const espl_status status =
        espl__tape_end(world, destroy_many(world, entities, count, extent, &first));

    if (first != SIZE_MAX) {
        concerned = entities[first];
        if (refused != NULL) {
            *refused = first;
        }
    }
    return espl__refuse(world, "destroy", concerned, status);
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
    if (espl__may_tape(world)) {
        espl__tape_plain(world, ESPL_TAPE_CLEAR);
    }
    return espl__refuse(world, "clear", espl_entity_null(), espl__tape_end(world, clear(world)));
}

// SPDX-License-Identifier: MIT
// espl_rebase() and espl_recenter(): changes of the places of all trees. They are no changes of structure,
// and take no memory.
#include "lib/tree/cells.h"
#include "lib/tree/tree_batch.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <espalier/far.h>

#include <math.h>

float espl_get_cell_size(const espl_world *world)
{
    return world != NULL ? world->forest.cell_size : 0;
}

// --- Prefabs ---

// Set or clear ESPL__SLOT_MARK of the roots of the rows of an archetype.
static void mark_roots(espl_world *world, const espl__archetype *archetype, bool is_marked)
{
    espl__forest *const forest = &world->forest;

    for (size_t row = 0; row < archetype->count; ++row) {
        const espl__chunk *const chunk =
            &world->store.chunks[archetype->chunks[row / archetype->capacity]];
        const uint32_t index = espl__chunk_entities(chunk)[row % archetype->capacity].index;
        const uint32_t slot = world->store.records[index].slot;

        if (espl__is_root(forest, slot)) {
            forest->flags[slot] = (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_MARK) |
                                            (is_marked ? ESPL__SLOT_MARK : 0));
        }
    }
}

// Set or clear ESPL__SLOT_MARK of the roots that are prefabs, which stay where they are.
// @return whether there are prefabs.
static bool mark_prefabs(espl_world *world, bool is_marked)
{
    const espl__store *const store = &world->store;
    const size_t archetypes = espl__array_length(store->archetypes);
    bool has_one = false;

    for (uint32_t a = 0; a < archetypes; ++a) {
        if (store->archetypes[a].count != 0 && espl__archetype_has(store, a, ESPL_PREFAB)) {
            mark_roots(world, &store->archetypes[a], is_marked);
            has_one = true;
        }
    }
    return has_one;
}

// --- Calls ---

// Begin and end a change of all trees. @return whether there are prefabs, which stay where they are.
static bool begin_places(espl_world *world)
{
    espl__heap_forbid(&world->heap);
    return mark_prefabs(world, true);
}

static espl_status end_places(espl_world *world, espl_status status)
{
    espl__forest *const forest = &world->forest;

    (void)mark_prefabs(world, false);
    espl__heap_allow(&world->heap);
    return status >= 0 && forest->context.has_overflowed && espl__is_still_overflowed(forest)
               ? ESPL_OVERFLOW
               : status;
}

// What a rebase moves by, as the tape has it.
typedef struct moving {
    espl__cell cells;
    float offset[3];
} moving;

_Static_assert(sizeof(moving) == 6 * sizeof(uint32_t), "six words");

static bool has_cells(const moving *by)
{
    return (by->cells.at[0] | by->cells.at[1] | by->cells.at[2]) != 0;
}

static bool has_offset(const moving *by)
{
    return by->offset[0] != 0 || by->offset[1] != 0 || by->offset[2] != 0;
}

static espl_status rebase_world(espl_world *world, const moving *by)
{
    espl__forest *const forest = &world->forest;

    if (world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    if (has_cells(by) && !espl__forest_has_cells(forest)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    const bool has_prefabs = begin_places(world);

    if (!espl__forest_can_rebase(forest, by->offset) ||
        (has_cells(by) && !espl__forest_rebase_cells(forest, by->cells, has_prefabs))) {
        return end_places(world, ESPL_ERR_RANGE);
    }
    if (has_offset(by)) {
        espl__tree_batch batch = {0};

        forest->context.batch = &batch;
        espl__forest_rebase_offset(forest, &forest->context, by->offset);
        espl__tree_batch_finish(forest, &forest->context, &batch);
        forest->context.batch = NULL;
    }
    return end_places(world, ESPL_OK);
}

espl_status espl_rebase(espl_world *world, const int32_t *cells, const float *offset)
{
    static const char *const call = "espl_rebase";
    moving by = {{{0, 0, 0}}, {0, 0, 0}};
    espl_status status = world == NULL ? ESPL_ERR_ARGUMENT : ESPL_OK;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (cells != NULL) {
        memcpy(&by.cells, cells, sizeof by.cells);
    }
    if (offset != NULL) {
        memcpy(by.offset, offset, sizeof by.offset);
    }
    if (status == ESPL_OK && !espl__all_finite(by.offset, 3)) {
        status = ESPL_ERR_NOT_FINITE;
    }
    if (status == ESPL_OK) {
        status = ESPL__TAPED(world, rebase_world(world, &by), .op = ESPL_TAPE_REBASE, .value = &by);
    }
    return espl__refuse_call(world, call, status,
                             status == ESPL_ERR_NOT_FINITE
                                 ? "offset has a number that is NaN or infinite."
                                 : "The world has no cells (espl_world_def.cell_size).");
}

static espl_status recenter_world(espl_world *world, float limit, size_t *count)
{
    espl__forest *const forest = &world->forest;

    if (world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    (void)begin_places(world);
    const bool is_done = espl__forest_recenter(forest, &forest->context, limit, count);
    const espl_status status = end_places(world, ESPL_OK);

    return is_done ? status : ESPL_PARTLY;
}

espl_status espl_recenter(espl_world *world, float limit, size_t *count)
{
    static const char *const call = "espl_recenter";
    const float cells = limit == 0 ? 1 : limit;
    espl_status status = ESPL_OK;
    size_t done = 0;
    uint32_t word = 0;

    ESPL__CHANGE_OR_RETURN(world, call)
    memcpy(&word, &limit, sizeof word);
    if (world == NULL || !(cells >= 0.5f)) {
        status = ESPL_ERR_ARGUMENT;
    } else if (!espl__forest_has_cells(&world->forest)) {
        status = ESPL_ERR_UNSUPPORTED;
    } else {
        status = ESPL__TAPED(world, recenter_world(world, cells, &done), .op = ESPL_TAPE_RECENTER,
                             .word = word);
    }
    if (count != NULL) {
        *count = done;
    }
    return espl__refuse_call(world, call, status,
                             status == ESPL_ERR_ARGUMENT
                                 ? "limit is NaN, or below 0.5 and not 0."
                                 : "The world has no cells (espl_world_def.cell_size).");
}

// SPDX-License-Identifier: MIT
// espl_compact(): the only call that moves everything. Trees are laid out in breadth-first order
// without gaps, rows are sorted by the slots of their entities, and scratch memory is freed.
//
// The call does as much as there is memory for. A step that finds none is skipped. Where no step but
// the freeing of memory was done, slots and rows are as before, and the call says
// ESPL_ERR_NO_MEMORY; elsewhere ESPL_PARTLY.
#include "lib/commands/playback.h"
#include "lib/world/attachment.h"
#include "lib/world/creation.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"
#include "lib/world/watches.h"

// Free all scratch memory and spare chunks.
// @return ESPL_ERR_NO_MEMORY: the arrays of the store could not be reallocated.
static espl_status give_back(espl_world *world)
{
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->write_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->side_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->partition_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->mark_scratch);
    espl__own_free(world);
    espl__playback_trim(world->playback);
    bool is_trimmed = espl__watches_trim(world);

    if (world->attachment != NULL) {
        is_trimmed &= world->attachment->trim(world->attachment->object);
    }
    return espl__store_trim(&world->store) && is_trimmed ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Sort rows by slot, so that a query which walks rows in order reads transforms in one direction.
// Precondition: trees are packed. The spare slots of trees have no entity.
static void order_rows(espl_world *world)
{
    const espl__forest *const forest = &world->forest;

    ESPL_CHECK(world->iterations == 0 && !world->is_playing);
    espl__heap_forbid(&world->heap);
    if (forest->end != 0) {
        espl__rows_put_in_order(&world->store, &forest->links->entity,
                                sizeof(espl__links) / sizeof(uint32_t), forest->end);
    }
    espl__heap_allow(&world->heap);
}

// Pack all trees. Does nothing where they are packed already. @return false: no memory.
static bool pack(espl_world *world)
{
    return espl__forest_compact(&world->forest, true, espl__entities_record_slots, &world->store);
}

static espl_status compact(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    espl__heap_forget(&world->heap);
    // Scratch is freed before settling and packing, because these need memory for a while, and again
    // after them, because they leave scratch and spare chunks.
    (void)give_back(world);
    bool has_changed = espl__settle(world);
    bool is_packed = pack(world);

    // Trees whose layout was due leave the list, because the pack laid them out. Roots in one range that
    // found memory only now leave holes.
    has_changed |= is_packed;
    has_changed |= espl__settle(world);
    is_packed = is_packed && pack(world);
    const espl_status given = give_back(world);

    if (is_packed) {
        order_rows(world);
    }
    // Trees that are still in the list found no memory.
    if (given == ESPL_OK && is_packed && world->forest.unsettled == ESPL__NO_TREE) {
        return ESPL_OK;
    }
    return is_packed || has_changed ? ESPL_PARTLY : ESPL_ERR_NO_MEMORY;
}

// Log that memory was found for a part only.
static void remark_part(const espl_world *world)
{
    espl__message m;

    if (espl__message_begin(&m, &world->hooks, "espl_compact", NULL)) {
        espl__message_status(&m, ESPL_PARTLY);
        espl__message_send(&m, ESPL_LOG_WARNING,
                           "There was memory for a part of it; free some, then call it again.");
    }
}

espl_status espl_compact(espl_world *world)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_compact")
    const espl_status status = ESPL__TAPED(world, compact(world), .op = ESPL_TAPE_COMPACT);

    if (status == ESPL_PARTLY) {
        remark_part(world);
    }
    return espl__refuse_call(world, "espl_compact", status, NULL);
}

// SPDX-License-Identifier: MIT
// Compaction: trees are laid out without room between them, rows in the order of their transforms,
// and all scratch is given back.
#include "lib/world/tape.h"

static espl_status give_back(espl_world *world)
{
    espl__scratch_free(world, &world->write_scratch);
    espl__scratch_free(world, &world->side_scratch);
    espl__scratch_free(world, &world->deal_scratch);
    espl__scratch_free(world, &world->mark_scratch);
    espl__own_free(world);
    espl__playback_trim(&world->playback);
    return espl__store_trim(&world->store) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// A query that goes from row to row then goes through the transforms in one direction.
static void order_rows(espl_world *world)
{
    const espl__forest *const forest = &world->forest;

    espl__heap_forbid(&world->heap);
    if (forest->end != 0) {
        espl__rows_put_in_order(&world->store, &forest->links->entity,
                                sizeof(espl__links) / sizeof(uint32_t), forest->end);
    }
    espl__heap_allow(&world->heap);
}

static espl_status compact(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    // Scratch is given back first, because settling and packing need memory for a while. They make
    // scratch and spare chunks of their own, so it is given back again behind them.
    (void)give_back(world);
    espl__settle(world);
    const bool is_packed =
        espl__forest_pack(&world->forest, true, espl__entity_record_slot, &world->store);

    // Trees whose layout was due leave the list, because the pack laid them out.
    espl__settle(world);
    const espl_status given = give_back(world);

    if (is_packed) {
        order_rows(world);
    }
    // What the list still has found no memory.
    if (given != ESPL_OK || !is_packed || world->forest.unsettled != ESPL__NO_TREE) {
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

espl_status espl_compact(espl_world *world)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_compact")
    if (espl__may_tape(world)) {
        espl__tape_plain(world, ESPL_TAPE_COMPACT);
    }
    return espl__refuse_call(world, "espl_compact", espl__tape_end(world, compact(world)), NULL);
}

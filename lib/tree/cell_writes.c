// SPDX-License-Identifier: MIT
// The writes of cell_writes.h.
#include "lib/tree/cell_writes.h"

#include "lib/tree/writes.h"

#include <math.h>

// Work out the position of a write in the cell of the tree of a member, or in a world without cells.
static espl_status bring_near(const espl__forest *forest, uint32_t slot, const double wanted[3],
                              espl_write_value *position)
{
    bool is_far = false;

    espl__cell_relative(forest, slot, wanted, position->position, &is_far);
    if (!espl__all_finite(position->position, 3)) {
        return ESPL_ERR_RANGE;
    }
    return is_far ? ESPL_LOSSY : ESPL_OK;
}

espl_status espl__cell_write_begin(const espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                   const espl_write_value *value, espl__cell *cell,
                                   espl_write_value *position)
{
    const bool has_cells = espl__forest_has_cells(forest), is_root = espl__is_root(forest, slot);
    double wanted[3];

    if (kind == ESPL_WRITE_CELL) {
        memcpy(cell, value, sizeof *cell);
        return has_cells && is_root ? ESPL_OK : ESPL_ERR_UNSUPPORTED;
    }
    // A member that copies its parent refuses the ordinary write, which follows.
    memcpy(wanted, value, sizeof wanted);
    if (!has_cells || !is_root) {
        return bring_near(forest, slot, wanted, position);
    }
    return espl__cell_nearest(forest, wanted, cell, position->position) ? ESPL_OK : ESPL_ERR_RANGE;
}

// Give a root the cell that the write asks for.
static void put_cell(espl__forest *forest, espl__context *context, uint32_t root,
                     espl_write_kind kind, espl__cell cell)
{
    if (kind == ESPL_WRITE_ABSOLUTE_POSITION) {
        espl__tree_change_cell(forest, context, root, cell);
    } else {
        espl__tree_move_cell(forest, root, cell);
    }
}

static espl_status write_position(espl__forest *forest, espl__context *context, uint32_t slot,
                                  const espl_write_value *position)
{
    espl__node_change change;

    if (espl__slot_is_plain(forest, slot, ESPL_WRITE_WORLD_POSITION)) {
        return espl__plain_write(forest, context, slot, ESPL_WRITE_WORLD_POSITION, position);
    }
    espl__node_change_read(forest, slot, &change);
    const espl_status status = espl__placement_write(&change.placement, &change.world, change.up,
                                                     ESPL_WRITE_WORLD_POSITION, position);

    if (status >= 0) {
        espl__node_change_commit(forest, context, &change);
    }
    return status;
}

// None of its worlds is left to a batch of trees, because later writes of the tree read them.
espl_status espl__far_write(espl__forest *forest, espl__context *context, uint32_t slot,
                            espl_write_kind kind, const espl_write_value *value)
{
    struct espl__tree_batch *const batch = context->batch;
    espl__cell cell = {{0, 0, 0}};
    espl_write_value position;

    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && espl__slot_copies(forest, slot)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    const espl_status status = espl__cell_write_begin(forest, slot, kind, value, &cell, &position);
    espl_status written = ESPL_OK;

    if (status < 0) {
        return status;
    }
    context->batch = NULL;
    if (espl__forest_has_cells(forest) && espl__is_root(forest, slot)) {
        put_cell(forest, context, slot, kind, cell);
    }
    if (kind == ESPL_WRITE_ABSOLUTE_POSITION) {
        written = write_position(forest, context, slot, &position);
    }
    context->batch = batch;
    return written == ESPL_OK ? status : written;
}

// SPDX-License-Identifier: MIT
// The steps of edit_cells.h.
#include "lib/tree/edit_cells.h"

#include "lib/tree/cell_writes.h"
#include "lib/tree/edit_steps.h"

#include <string.h>

_Static_assert(sizeof(espl__cell) == sizeof(float[3]), "the undo log has shown positions as cells");

bool espl__edit_set_cell(espl__edit *edit, uint32_t slot, espl__cell cell)
{
    const espl__forest *const forest = edit->forest;
    const espl__cell old = forest->tracks.cells[slot];

    if (espl__cell_is_same(old, cell)) {
        return true;
    }
    if (espl__edit_has_log(edit)) {
        if (!ESPL__EDIT_RESERVE(edit, cells, 1) ||
            !espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_CELL,
                                               .slot = slot,
                                               .a = (uint32_t)espl__array_length(edit->cells)})) {
            return false;
        }
        ESPL_ARRAY_PUSH(edit->cells, old);
    }
    espl__cell_store(forest, slot, cell);
    return true;
}

// Shift what a node keeps, and the world that follows. What is below it follows later.
static bool shift_kept_parts(espl__edit *edit, uint32_t slot, const espl__cell_shift *shift)
{
    const espl__forest *const forest = edit->forest;
    espl__node_change change;
    espl__past past;

    if (!espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        return true;
    }
    espl__edit_read(edit, slot, &change);
    const uint32_t flags = change.placement.kept.flags;

    if (espl__kept_axes(&change.placement.kept) == 0) {
        return true;
    }
    espl__kept_shift(&change.placement.kept.pose, flags, shift);
    change.world = espl__placement_world(&change.placement, change.up);
    if (!espl__forest_has_motion(forest)) {
        return espl__edit_put(edit, slot, &change.placement, &change.world, NULL);
    }
    past = espl__past_read(forest, slot);
    espl__past_shift(forest, &past, flags, false, shift);
    return espl__edit_put(edit, slot, &change.placement, &change.world, &past);
}

// Set the past of a node whose tree moves with its cell. One that keeps nothing has none in the coordinates of
// the cell, but for the root.
static bool shift_past(espl__edit *edit, uint32_t slot, const espl__cell_shift *shift)
{
    const espl__forest *const forest = edit->forest;
    espl__node_change change;

    if (!espl__is_root(forest, slot) && !espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        return true;
    }
    espl__edit_read(edit, slot, &change);
    const espl__past past = espl__past_moved(forest, slot, shift);

    return espl__edit_put(edit, slot, &change.placement, &change.world, &past);
}

// Show a node at its world until the next present, because what is shown is in the coordinates of another cell.
static bool show_world(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (!espl__forest_has_motion(forest) || espl__is_unshown(forest, slot)) {
        return true;
    }
    if (!espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_SHOWN, .slot = slot})) {
        return false;
    }
    espl__mark_unshown(forest, slot);
    espl__mark_edited(forest, slot);
    return true;
}

// Shift what is shown of a node, so that it is shown where it was until the next present, which computes it
// anew. The old position is appended to the undo log.
static bool shift_shown_position(espl__edit *edit, uint32_t slot, const espl__cell_shift *shift)
{
    espl__forest *const forest = edit->forest;

    if (!espl__forest_has_motion(forest) || espl__is_unshown(forest, slot)) {
        return true;
    }
    float *const position = forest->tracks.poses[ESPL__SHOWN][slot].position;
    espl__cell bits;

    memcpy(&bits, position, sizeof bits);
    if (!ESPL__EDIT_RESERVE(edit, cells, 1) ||
        !espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_SHOWN_AT,
                                           .slot = slot,
                                           .a = (uint32_t)espl__array_length(edit->cells)})) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->cells, bits);
    espl__position_shift(position, shift);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_SHOWN, slot);
    espl__mark_edited(forest, slot);
    return true;
}

// Shift what the nodes below one keep. @param is_shown_there  all of them stay where they are shown.
static bool shift_nodes(espl__edit *edit, uint32_t top, const espl__cell_shift *shift,
                        bool is_shown_there)
{
    const espl__forest *const forest = edit->forest;
    bool is_done = true, has_more = true;

    for (uint32_t slot = top; slot != ESPL__NO_SLOT && is_done && has_more;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        is_done =
            (slot == top || shift_kept_parts(edit, slot, shift)) &&
            (is_shown_there ? shift_shown_position(edit, slot, shift) : show_world(edit, slot));
        has_more = espl__forest_has_sides(forest) || espl__forest_has_motion(forest);
    }
    return is_done;
}

bool espl__edit_shift_below(espl__edit *edit, uint32_t top, const espl__cell_shift *shift)
{
    if (!shift->is_any) {
        return true;
    }
    espl__tracks_mark(&edit->forest->tracks, ESPL__PLANE_CELL, top);
    return shift_nodes(edit, top, shift, false);
}

// Bring a tree to another cell: its absolute positions stay.
static bool change_cell(espl__edit *edit, uint32_t root, espl__cell cell)
{
    const espl__forest *const forest = edit->forest;
    const espl__cell_shift shift = espl__cell_shift_of(forest, forest->tracks.cells[root], cell);
    espl__placement placement = espl__slot_placement(forest, root);
    espl__past past;

    ESPL_CHECK(espl__is_root(forest, root) && !espl__slot_is(forest, root, ESPL__SLOT_BARE));
    if (!shift.is_any) {
        return true;
    }
    espl__position_shift(placement.local.position, &shift);
    if (espl__forest_has_motion(forest)) {
        past = espl__past_read(forest, root);
        espl__past_shift(forest, &past, 0, true, &shift);
    }
    return espl__edit_put(edit, root, &placement, &placement.local,
                          espl__forest_has_motion(forest) ? &past : NULL) &&
           shift_nodes(edit, root, &shift, true) && espl__edit_set_cell(edit, root, cell);
}

// Bring a tree to another cell with the coordinates that it has: it moves with the cell.
static bool move_cell(espl__edit *edit, uint32_t root, espl__cell cell)
{
    const espl__forest *const forest = edit->forest;
    const espl__cell_shift shift = espl__cell_shift_of(forest, forest->tracks.cells[root], cell);
    bool is_done = true;

    for (uint32_t slot = root;
         slot != ESPL__NO_SLOT && is_done && shift.is_any && espl__forest_has_motion(forest);
         slot = espl__next_in_walk(forest, slot, root, true)) {
        is_done = shift_past(edit, slot, &shift) && shift_shown_position(edit, slot, &shift);
    }
    return is_done && espl__edit_set_cell(edit, root, cell);
}

espl_status espl__edit_write_cell(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                  const espl_write_value *value, espl_write_value *position)
{
    const espl__forest *const forest = edit->forest;
    espl__cell cell = {{0, 0, 0}};
    const espl_status status = espl__cell_write_begin(forest, slot, kind, value, &cell, position);

    if (status < 0 || !espl__forest_has_cells(forest) || !espl__is_root(forest, slot)) {
        return status;
    }
    const bool is_done =
        kind == ESPL_WRITE_CELL ? move_cell(edit, slot, cell) : change_cell(edit, slot, cell);

    return is_done ? status : ESPL_ERR_NO_MEMORY;
}

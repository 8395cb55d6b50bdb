// SPDX-License-Identifier: MIT
// Cells in edits (cells.h): a node that gets a parent in another cell is shifted to that cell first, and a node
// that becomes a root gets the cell of its old root.
#ifndef ESPALIER_LIB_TREE_EDIT_CELLS_H
#define ESPALIER_LIB_TREE_EDIT_CELLS_H

#include "lib/tree/cells.h"
#include "lib/tree/edit.h"

/// Give a root, or a node that becomes one, a cell: the old one is appended to the undo log. Precondition: the
/// world has cells. @return false: no memory.
bool espl__edit_set_cell(espl__edit *edit, uint32_t slot, espl__cell cell);
/// After a node got the placement that it has in another cell, shift what the nodes below it keep, and show
/// them at their worlds until the next present. No effect without a shift.
/// @return false: no memory.
bool espl__edit_shift_below(espl__edit *edit, uint32_t top, const espl__cell_shift *shift);
/// Write the cell or the absolute position of a node, by ESPL_WRITE_CELL or ESPL_WRITE_ABSOLUTE_POSITION.
/// @param position  out: of ESPL_WRITE_ABSOLUTE_POSITION: what a write of the position in the world finishes
///                  it with.
/// @return as espl__cell_write_begin(), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_write_cell(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                  const espl_write_value *value, espl_write_value *position);

#endif

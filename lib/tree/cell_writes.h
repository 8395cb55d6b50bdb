// SPDX-License-Identifier: MIT
// Writes of cells and of absolute positions. The tree of a root goes to the nearest cell first, and the rest is
// an ordinary write of the position in the world; a member is written in the cell of its tree.
#ifndef ESPALIER_LIB_TREE_CELL_WRITES_H
#define ESPALIER_LIB_TREE_CELL_WRITES_H

#include "lib/tree/cells.h"

/// Tell whether a kind is ESPL_WRITE_CELL or ESPL_WRITE_ABSOLUTE_POSITION.
static inline bool espl__write_is_of_cell(espl_write_kind kind)
{
    return kind == ESPL_WRITE_CELL || kind == ESPL_WRITE_ABSOLUTE_POSITION;
}

/// Work such a write out: the cell that the tree of a root gets, and for ESPL_WRITE_ABSOLUTE_POSITION the
/// position that is written after it, in the coordinates of that cell.
/// @param value  that espl__write_check() accepted.
/// @return ESPL_OK; ESPL_LOSSY (the position is far from the cell of a member); refused: ESPL_ERR_UNSUPPORTED
///         (ESPL_WRITE_CELL of a member, or without cells), ESPL_ERR_RANGE (no cell, or no float, is there),
///         ESPL_ERR_COPIES_PARENT.
espl_status espl__cell_write_begin(const espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                   const espl_write_value *value, espl__cell *cell,
                                   espl_write_value *position);
/// Carry out such a write at once. Preconditions: no edit, and the worlds of the tree are up to date.
/// @return as espl__cell_write_begin(), and as a write of the position in the world.
espl_status espl__far_write(espl__forest *forest, espl__context *context, uint32_t slot,
                            espl_write_kind kind, const espl_write_value *value);

#endif

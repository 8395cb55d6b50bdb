// SPDX-License-Identifier: MIT
// Cells: integer coordinates of each tree, so that its positions are relative to the middle of a cell and stay
// small wherever it is. The absolute position of a node is cell * cell_size + position, and a double holds it.
// Nothing else of a tree knows of its cell: locals, worlds and kernels are those of a world without cells.
//
// A cell belongs to a root. It is stored by slot (espl__tracks.cells), because inside an edit a range may have
// several roots, and a new root may be anywhere in the nursery. Where a node changes its root, and the cells
// of both roots differ, what is kept in the coordinates of the cell is shifted: the difference of the cells is
// an integer, the shift a double, and each coordinate is rounded once.
//
// The whole tree is in its cell: earlier locals of a root, earlier kept parts and shown worlds are relative to
// the cell that the tree has now.
#ifndef ESPALIER_LIB_TREE_CELLS_H
#define ESPALIER_LIB_TREE_CELLS_H

#include "lib/tree/motion.h"

enum {
    ESPL__CELLS_FAR = 1024, ///< cells between two positions from which on a float loses too much
};

/// Tell whether a world has cells.
static inline bool espl__forest_has_cells(const espl__forest *forest)
{
    return forest->tracks.cells != NULL;
}

/// Return the root of a slot, also inside an edit. O(1) in a settled tree outside of one.
uint32_t espl__cell_root(const espl__forest *forest, uint32_t slot);
/// Return the cell of the tree of a slot; 0 without cells.
espl__cell espl__cell_of(const espl__forest *forest, uint32_t slot);
/// Give a root a cell, and mark it. Precondition: the world has cells.
void espl__cell_store(const espl__forest *forest, uint32_t root, espl__cell cell);

/// Mark the cells of all nodes below those whose cells are marked since a moment, with marks as new. A change
/// of a cell marks its root, and a change of the root marks the top of what moved, so that both cost nothing
/// for what is below: it is marked when a consumer of absolute positions looks. O(nodes that are marked then).
/// Precondition: the world has cells, and the plane of cells is open.
void espl__cells_spread(const espl__forest *forest, uint32_t since);

/// What is added to coordinates of one cell, so that they are those of another one.
typedef struct espl__cell_shift {
    double by[3];
    bool is_any; // the cells differ
    bool is_far; // by more than ESPL__CELLS_FAR
} espl__cell_shift;

/// Return the shift from one cell to another.
espl__cell_shift espl__cell_shift_of(const espl__forest *forest, espl__cell from, espl__cell to);
/// Return the shift from the cell of a node to that of another one, or of no node: none.
espl__cell_shift espl__cell_shift_between(const espl__forest *forest, uint32_t slot,
                                          uint32_t other);
/// Shift a coordinate, rounded once. By 0 it stays bit for bit: -0 plus 0 is 0.
static inline float espl__coordinate_shift(float coordinate, double by)
{
    return by == 0 ? coordinate : (float)((double)coordinate + by);
}
/// Shift a position.
static inline void espl__position_shift(float position[ESPL__LEAST 3],
                                        const espl__cell_shift *shift)
{
    for (int i = 0; i < 3; ++i) {
        position[i] = espl__coordinate_shift(position[i], shift->by[i]);
    }
}

/// Return the coordinates of a kept position that a node keeps, as bits.
static inline unsigned espl__kept_axes(const espl__kept *kept)
{
    return kept->flags & ESPL_ABSOLUTE_POSITION;
}
/// Shift the coordinates that inherit flags keep. @param flags  of the node.
void espl__kept_shift(espl_pose *kept, uint32_t flags, const espl__cell_shift *shift);
/// Shift what a past keeps in the coordinates of a cell.
/// @param is_root  its locals, too; else the kept parts alone.
void espl__past_shift(const espl__forest *forest, espl__past *past, uint32_t flags, bool is_root,
                      const espl__cell_shift *shift);

/// Return the past of a node whose tree gets another cell without its coordinates: it moves with the cell. In a
/// tick what it was, and kept earlier, stays where it was. A write outside of one is shown as it is: the root
/// was always where it is, and what others keep was always in the cell.
/// Precondition: motion runs.
espl__past espl__past_moved(const espl__forest *forest, uint32_t slot,
                            const espl__cell_shift *shift);

/// Return the absolute position of a position in a cell of some size.
void espl__position_in_cells(const espl__cell *cell, float cell_size,
                             const float position[ESPL__LEAST 3], double out[ESPL__LEAST 3]);
/// Return the absolute position of a position in the cell of a slot.
void espl__absolute_position(const espl__forest *forest, uint32_t slot,
                             const float position[ESPL__LEAST 3], double out[ESPL__LEAST 3]);
/// Split an absolute position into the nearest cell and the rest, which is at most half a cell.
/// @return false: the cell is out of the range of 32 bits.
bool espl__cell_nearest(const espl__forest *forest, const double position[ESPL__LEAST 3],
                        espl__cell *cell, float rest[ESPL__LEAST 3]);
/// Bring an absolute position to the cell of a slot. @param is_far  out: it is far from that.
void espl__cell_relative(const espl__forest *forest, uint32_t slot,
                         const double position[ESPL__LEAST 3], float out[ESPL__LEAST 3],
                         bool *is_far);

// --- Whole trees, outside an edit. They need no memory ---

/// Give a tree another cell, and bring all that it keeps in coordinates there: the absolute positions stay.
void espl__tree_change_cell(espl__forest *forest, espl__context *context, uint32_t root,
                            espl__cell cell);
/// Give a tree another cell, with the coordinates that it has: it moves with the cell (espl__past_moved()).
void espl__tree_move_cell(espl__forest *forest, uint32_t root, espl__cell cell);
/// Bring each root that is more than `limit` cells from the middle of its cell to the nearest one.
/// @param count  out: the trees that got another cell.
/// @return false: a cell would be out of range, and the tree stays where it is.
bool espl__forest_recenter(espl__forest *forest, espl__context *context, float limit,
                           size_t *count);
/// Tell whether the coordinates of all nodes stay finite where an offset is added.
bool espl__forest_can_rebase(const espl__forest *forest, const float offset[ESPL__LEAST 3]);
/// Move all trees by cells: nothing else of them changes.
/// @param has_marked  some roots have ESPL__SLOT_MARK.
/// @return false: a cell would leave the range of 32 bits. All cells are as they were then.
bool espl__forest_rebase_cells(espl__forest *forest, espl__cell cells, bool has_marked);
/// Move all trees by an offset, as a batch of ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY of all roots, and of
/// all absolute coordinates of members, would.
void espl__forest_rebase_offset(espl__forest *forest, espl__context *context,
                                const float offset[ESPL__LEAST 3]);

// Roots with ESPL__SLOT_MARK stay where they are: prefabs, which are no things of the world. The caller marks
// them and takes the marks away.

#endif

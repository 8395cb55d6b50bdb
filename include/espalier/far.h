// SPDX-License-Identifier: MIT
/// @file
/// Large worlds: positions that a float cannot hold, at any distance, by floats near the entities.
///
/// In a world with cells (espl_world_def.cell_size) each hierarchy, and each solo, has a cell: three
/// integers. Its world transforms are relative to the middle of that cell. An absolute position is `cell *
/// cell_size + position`, and a double holds it, at the ends of the range in steps of cell_size / 2^22. All
/// functions that take or give a world position take and give it in the cell of the entity: writes,
/// espl_look_at(), espl_convert(), matrices. What two hierarchies have to do with each other is computed from
/// the difference of their cells, which is an integer: espl_get_relative_transform(), an attach that keeps the
/// world, and the reads of this header. So two entities that are near each other have as precise a distance at
/// 10^9 m as at the origin.
///
/// A write never changes a cell, except ESPL_WRITE_CELL and ESPL_WRITE_ABSOLUTE_POSITION, because the bits of
/// a position must not jump inside a write. espl_recenter() brings hierarchies that have gone far from their
/// cells to the nearest ones; call it once a second, for example.
///
/// A new entity without a parent is in cell 0, 0, 0; one with a parent is in the cell of that. A clone
/// without a parent is in the cell of its source, and a transform that it is given relative to the world is
/// relative to that cell. What becomes a root, by a detach or because its parent is destroyed, stays in the
/// cell of its old root. An entity without a transform has no cell that a call reads or writes; a rebase moves
/// what is below it, and espl_recenter() leaves that as it is.
///
/// Prefabs are no things of the world: espl_rebase() and espl_recenter() leave them where they are.
///
/// Thread rule: espl_rebase() and espl_recenter() change the world, as writes do, and may be called while a
/// query is open. ESPL_ERR_BUSY is returned during playback and in jobs. The others read.
#ifndef ESPALIER_FAR_H
#define ESPALIER_FAR_H

#include <espalier/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A point of a world: what positions are read relative to, a camera for example. Without cells `cell` is 0.
/// Never grows.
typedef struct espl_origin {
    int32_t cell[3];
    float offset[3]; ///< From the middle of the cell.
} espl_origin;

/// Return espl_world_def.cell_size of a world; 0: it has no cells.
ESPL_API float espl_get_cell_size(const espl_world *world);

/// Move the whole world: each hierarchy and solo by whole cells and by an offset. Prefabs stay.
///
/// Cells are added exactly, in O(hierarchies), and nothing else changes: no transform, and nothing that a watch
/// reports but ESPL_WATCH_CELL, of members as well where it reports world transforms. The same with the cells
/// negated leads back, bit for bit.
///
/// An offset is added in floats, for worlds without cells: the result is, bit for bit, that of one batch of
/// ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY on each root and solo; absolute coordinates of members
/// (ESPL_ABSOLUTE_X to ESPL_ABSOLUTE_Z) are moved alike. Distances between hierarchies may change by a
/// rounding, and the offset negated does not lead back to the same bits.
///
/// @param cells   [3] or NULL: none.
/// @param offset  [3] or NULL: none.
/// @return ESPL_OK; ESPL_OVERFLOW (some world transform is not finite); refused, and nothing changed:
///         ESPL_ERR_ARGUMENT (world is NULL), ESPL_ERR_UNSUPPORTED (cells other than 0 without cells),
///         ESPL_ERR_NOT_FINITE (offset), ESPL_ERR_RANGE (a cell or a coordinate would leave its range),
///         ESPL_ERR_BUSY. Takes no memory. O(hierarchies) by cells; O(size) by an offset.
ESPL_API espl_status espl_rebase(espl_world *world, const int32_t *cells, const float *offset);

/// Bring each hierarchy and solo whose position is more than `limit` cells from the middle of its cell, on
/// one of the axes, to the nearest cell. Its absolute position stays, bit for bit; the members follow, and
/// are more precise than before. Absolute coordinates, previous locals and shown transforms are shifted
/// alike. A second call has nothing to do.
///
/// @param limit  0 means 1; at least 0.5, so that no position swings between two cells.
/// @param count  out: how many got another cell; NULL is allowed. 0 where the call is refused.
/// @return ESPL_OK; ESPL_PARTLY (a hierarchy is farther away than cells reach, and stays as it is);
///         ESPL_OVERFLOW (some world transform is not finite); refused: ESPL_ERR_ARGUMENT (world is NULL; a
///         limit below 0.5 that is not 0, or NaN), ESPL_ERR_UNSUPPORTED (a world without cells),
///         ESPL_ERR_BUSY. Takes no memory. O(hierarchies + members of hierarchies that change cells).
ESPL_API espl_status espl_recenter(espl_world *world, float limit, size_t *count);

/// Read the place of an entity as an origin: the cell of its hierarchy, and its position in the world.
/// @return as espl_get_world_position().
ESPL_API espl_status espl_get_origin(const espl_world *world, espl_entity entity, espl_origin *out);

/// Read many entities relative to an origin, as espl_read_strided() does: the differences are exact integers
/// and doubles, and are rounded to floats once. So what is near a camera is drawn without jitter wherever
/// both are. Rotation and scale are those of the world.
///
/// @param origin  the middle of the axes. Its offset is finite.
/// @param kind    of the world, or shown: ESPL_READ_WORLD_POSITION, ESPL_READ_WORLD_POSE,
///                ESPL_READ_WORLD_TRANSFORM, ESPL_READ_SHOWN_POSITION,
///                ESPL_READ_SHOWN_POSE, ESPL_READ_SHOWN_TRANSFORM.
/// @return as espl_read_strided(); also ESPL_ERR_ARGUMENT (origin is NULL; another kind),
///         ESPL_ERR_UNSUPPORTED (an origin with a cell other than 0 in a world without cells),
///         ESPL_ERR_NOT_FINITE (its offset).
ESPL_API ESPL_NODISCARD espl_status espl_read_relative(
    const espl_world *world, const espl_origin *origin, espl_read_kind kind,
    const espl_entity *entities, size_t count, size_t entity_stride, void *out, size_t out_stride);

/// Read the world transform as a matrix relative to an origin, for a camera that is there. As
/// espl_get_matrix().
///
/// @param out  12 or 16 numbers, as the form has them.
/// @return as espl_get_matrix(); also as espl_read_relative() for the origin.
ESPL_API espl_status espl_get_relative_matrix(const espl_world *world, espl_entity entity,
                                              const espl_origin *origin, espl_matrix_form form,
                                              float *out);

#ifdef __cplusplus
}
#endif

#endif

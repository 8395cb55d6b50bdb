// SPDX-License-Identifier: MIT
// Cells of members in a cull (lib/tree/cells.h). Poses and boxes of a member are relative to the middle of
// its cell. A camera has a cell as well, to which its planes, its eye and its origin are relative.
//
// With d the way from the middle of the camera's cell to that of the member's, an integer in each axis times
// the size of a cell, and so exact in double:
//
//     a plane in the cell of the member has p3' = p3 + ((p0 * d0 + p1 * d1) + p2 * d2), in doubles, rounded
//         to a float; then the member is tested as boxes.h says
//     the eye in the cell of the member is eye - d, in doubles
//     a position relative to the origin is d + (position - origin), in doubles, rounded to a float. Where d is
//         0 the sum is left out, so that -0 keeps its sign
//
// Boxes of clusters are brought to the cell of the camera, and grow by more than these roundings: with c and
// h the box of a member, the test of the member is wrong by at most 6 * 2^-24 of the sum of |p| (|c| + h +
// |d|) and |p3|. The box grows by 2^-19 of a bound of |c| + h + |d| of all of its members, and the margin of
// boxes.h has 2^-20 |p3|. So the shortcut decides as the test of each member.
#ifndef ESPALIER_LIB_RENDERABLES_CAMERA_CELLS_H
#define ESPALIER_LIB_RENDERABLES_CAMERA_CELLS_H

#include "lib/renderables/visible.h"

/// Boxes of a block of clusters, row by row.
typedef struct espl__box_block {
    _Alignas(64) float rows[ESPL__BOX_ROWS][ESPL__MARK_BLOCK];
} espl__box_block;

/// Tell whether the world of a mirror has cells.
static inline bool espl__mirror_has_cells(const espl_mirror *mirror)
{
    return mirror->cell_size != 0;
}

/// Return the cell of a member. @param stored  as blocks have it.
static inline espl__cell espl__cell_in_mirror(const espl_mirror *mirror, espl__cell stored)
{
    return espl__cell_sum(stored, mirror->rebased);
}

/// Compute the way from the middle of the cell of a camera to that of a member.
void espl__way_to_cell(double way[ESPL__LEAST 3], const espl_mirror *mirror, espl__cell stored,
                       const int32_t camera[ESPL__LEAST 3]);

/// Copy the boxes of clusters [begin, begin + count), as boxes relative to the cell of a camera that contain
/// their members at the time of the cull.
void espl__boxes_for_camera(espl__box_block *block, const espl__cull *cull,
                            const espl_camera *camera, uint32_t begin, uint32_t count);

/// Clear the bits of members that are outside of a plane, as espl__box_kernels.inside.
void espl__inside_by_cells(uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS], const espl__cull *cull,
                           uint32_t camera, uint32_t cut, const espl__values *values,
                           const espl__box_rows boxes);

/// Return the eye of a camera in the cell of a member, in doubles.
static inline void espl__eye_for(double eye[ESPL__LEAST 3], const espl_mirror *mirror,
                                 const espl__values *values, uint32_t place,
                                 const espl_camera *camera)
{
    double way[3] = {0, 0, 0};

    if (values->cells != NULL) {
        espl__way_to_cell(way, mirror, values->cells->of[place], camera->cell);
    }
    for (int k = 0; k < 3; ++k) {
        eye[k] = (double)camera->eye[k] - way[k];
    }
}

#endif

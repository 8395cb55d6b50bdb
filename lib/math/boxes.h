// SPDX-License-Identifier: MIT
// Boxes along the axes: the world box of a pose, boxes of clusters, and tests against planes. The
// formulas and the order of their operations are specified, so that the kernels of kernels.h compute
// the same bits.
//
// The world box of a pose has, with e = ESPL_MATRIX_3X4 of it, c and h the local box and p the
// position:
//
//     center[k] = p[k] + ((e[k][0] * c[0] + e[k][1] * c[1]) + e[k][2] * c[2])
//     half[k]   = (|e[k][0]| * h[0] + |e[k][1]| * h[1]) + |e[k][2]| * h[2]
//
// A box is inside of a plane where d + r >= 0, with
//
//     d = ((p[0] * c[0] + p[1] * c[1]) + p[2] * c[2]) + p[3]
//     r = (|p[0]| * h[0] + |p[1]| * h[1]) + |p[2]| * h[2]
//
// A NaN compares false: the box is outside. The box of a cluster contains the boxes of its members.
// With the same d and r of that box, and the margin
//
//     m = (((|p[0] * c[0]| + |p[1] * c[1]|) + |p[2] * c[2]| + r) + |p[3]|) * 2^-20 + 2^-126
//
// all members are outside where d + r < -m, and all are inside where d - r > m. Each of the two sums
// is wrong by at most 5 * 2^-24 of the terms in m, and those of a member are not larger. So the
// shortcut decides as the test of each member.
#ifndef ESPALIER_LIB_MATH_BOXES_H
#define ESPALIER_LIB_MATH_BOXES_H

#include "lib/math/pose.h"

enum {
    ESPL__BOXES = 128,      ///< Most members of a cluster.
    ESPL__PLANE_LIMIT = 8,  ///< Most planes of a camera.
    ESPL__BOX_ROWS = 6,     ///< Center x, y, z, then half x, y, z.
    ESPL__BOX_PADDING = 16, ///< Rows of boxes are read up to a multiple of this number.
};

/// The boxes of a cluster, row by row. Aligned to 64 bytes.
typedef float espl__box_rows[ESPL__BOX_ROWS][ESPL__BOXES];

/// Planes of a camera.
typedef struct espl__planes {
    uint32_t count;
    float normals[ESPL__PLANE_LIMIT][3], offsets[ESPL__PLANE_LIMIT];
    float sizes[ESPL__PLANE_LIMIT][3]; // magnitudes of the normals
} espl__planes;

/// A cluster that is not outside of the planes.
typedef struct espl__met_cluster {
    uint32_t cluster;
    uint32_t cut; // bits of the planes that members may be outside of; 0: all members are inside
} espl__met_cluster;

/// Set up planes. @param planes  [count]
void espl__planes_init(espl__planes *out, const float (*planes)[4], uint32_t count);

/// Set the box between two bounds on each axis, rounded outwards. One with a negative half where a low
/// bound is above the high one.
void espl__box_between(float out[ESPL__LEAST ESPL__BOX_ROWS], const float low[ESPL__LEAST 3],
                       const float high[ESPL__LEAST 3]);

/// A box around boxes that come one by one. Bounds are in double: in float, those of a small box far
/// from the origin would be far apart.
typedef struct espl__box_union {
    uint32_t count;
    float first[ESPL__BOX_ROWS];
    double low[3], high[3];
} espl__box_union;

/// Let a union have no box. It is set up in this way.
static inline void espl__box_union_clear(espl__box_union *all)
{
    *all = (espl__box_union){.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                             .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
}

/// Add a box. Precondition: it is finite. The order does not matter for the result.
void espl__box_union_add(espl__box_union *all, const float box[ESPL__LEAST ESPL__BOX_ROWS]);

/// Compute the box around the boxes that were added. The result for one box has the bits of that box. For
/// several the center is the middle of the bounds, rounded, and the half is the larger distance from the
/// center to a bound, rounded up, but at most FLT_MAX. The result for no box has a negative half.
void espl__box_union_get(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl__box_union *all);

/// Compute a box that contains the boxes of a cluster at all times between two updates, see
/// espl__box_kernels.reach.
void espl__boxes_swept(float out[ESPL__LEAST ESPL__BOX_ROWS],
                       const float before[ESPL__LEAST ESPL__BOX_ROWS],
                       const float now[ESPL__LEAST ESPL__BOX_ROWS], float reach);

/// Compute the world box of one pose: center, then half.
/// @param stretch  NULL means 1, 1, 1.
void espl__box_of_pose(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl_pose *pose,
                       const float *stretch, const float local[ESPL__LEAST ESPL__BOX_ROWS]);

/// Write the matrix of a pose: 3 rows of 4.
void espl__matrix_of_pose(unsigned char *to, const espl_pose *pose);

/// Tell whether a box is inside of the planes whose bits are set.
bool espl__box_is_inside(const float box[ESPL__LEAST ESPL__BOX_ROWS], const espl__planes *planes,
                         uint32_t which);

/// The functions of one instruction set.
typedef struct espl__box_kernels {
    /// Compute world boxes [0, count), and any values in the other places up to a multiple of
    /// ESPL__BOX_PADDING.
    /// @param finite     out: bits of the boxes that are finite. Then their poses are too.
    /// @param poses      [ESPL__BOXES]
    /// @param stretches  [ESPL__BOXES] NULL: 1, 1, 1
    void (*of_poses)(espl__box_rows boxes, uint64_t finite[ESPL__LEAST 2], const espl_pose *poses,
                     const espl__box_rows locals, const float (*stretches)[3], uint32_t count);

    /// Compute a box that contains the boxes whose bits are set, rounded outwards. The box of none has
    /// a negative half. Precondition: they are finite.
    void (*around)(float out[ESPL__LEAST ESPL__BOX_ROWS], const espl__box_rows boxes,
                   const uint64_t members[ESPL__LEAST 2]);

    /// Bound how far boxes reach outside of the boxes of both ends, at any time that
    /// espl__pose_blend() blends them at. NaN where a box or a pose is not finite.
    /// @param before, now  [ESPL__BOXES] poses at the ends, and their boxes
    /// @param members      bits of the members that count
    float (*reach)(const espl_pose *before, const espl_pose *now, const espl__box_rows boxes_before,
                   const espl__box_rows boxes_now, const uint64_t members[ESPL__LEAST 2]);

    /// List the clusters of [begin, end) that are not outside of the planes, in order.
    /// @param boxes   six rows of the boxes of clusters.
    /// @param begin   a multiple of ESPL__BOX_PADDING. Rows are read up to the next multiple from
    ///                `end` on.
    /// @param out     [end - begin]
    /// @return the number of clusters in the list.
    uint32_t (*meet)(espl__met_cluster *out, const espl__planes *planes,
                     const float *const boxes[ESPL__LEAST ESPL__BOX_ROWS], uint32_t begin,
                     uint32_t end);

    /// Clear the bits of boxes that are outside of a plane.
    /// @param bits  in and out.
    /// @param cut   bits of the planes to be tested.
    void (*inside)(uint64_t bits[ESPL__LEAST 2], const espl__planes *planes, uint32_t cut,
                   const espl__box_rows boxes);

    /// Write the matrices of poses: 3 rows of 4, with the bits of espl_transform_to_matrix().
    /// @param to      in ascending order, and never read.
    /// @param stride  bytes from a matrix to the next.
    void (*matrices)(unsigned char *to, size_t stride, const espl_pose *const *poses,
                     uint32_t count);
} espl__box_kernels;

/// The kernel without SIMD, box by box.
extern const espl__box_kernels espl__box_kernels_scalar;

#endif

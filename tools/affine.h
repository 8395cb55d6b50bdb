// SPDX-License-Identifier: MIT
// Placements and matrices in double: what the scene readers fill and the oracle multiplies. Knows
// the public transform only, and uses none of the library's arithmetic: it is there to judge it.
#ifndef ESPALIER_TOOLS_AFFINE_H
#define ESPALIER_TOOLS_AFFINE_H

#include <espalier/transform.h>

#include <stdbool.h>

/// Relative size up to which a matrix counts as free of shear, and axes as equally long, at rest and
/// in motion alike: what five to six printed digits leave.
#define AFFINE_EVEN 1e-5

/// Rows of the upper part of a 4x4 matrix; column 3 is the translation.
typedef struct tool_affine {
    double m[3][4];
} tool_affine;

/// The public transform's fields, in double.
typedef struct tool_placement {
    double rotation[4]; // x, y, z, w
    double position[3];
    double scale;
    double stretch[3];
} tool_placement;

tool_affine affine_identity(void);
tool_placement placement_identity(void);

/// Return a * b: b first, then a.
tool_affine affine_multiply(const tool_affine *a, const tool_affine *b);

/// Return T * R * diag(scale * stretch). The quaternion is used as it is.
tool_affine affine_of_placement(const tool_placement *placement);

/// Return the matrix of a public transform, computed in double from its floats.
tool_affine affine_of_transform(const espl_transform *transform);

/// Find the placement nearest to a matrix: equal axes become a scale (negative where it mirrors),
/// unequal ones a stretch under a scale of 1 or -1.
///
/// @return how much of the matrix no placement expresses: the largest difference of an entry,
///         relative to the longest axis.
double placement_of_affine(tool_placement *out, const tool_affine *matrix);

/// Return the placement of translation, rotation (a unit quaternion) and scale for each axis. Scales
/// that differ in sign alone, or by AFFINE_EVEN, are equal axes too: the rotation takes signs in
/// pairs, and the scale takes the one that is left.
tool_placement placement_of_parts(const double position[3], const double rotation[4],
                                  const double scale[3]);

/// Tell whether a placement hands its scale down whole: all axes alike.
bool placement_is_even(const tool_placement *placement);

/// Tell whether every number is finite and fits a float.
bool affine_fits_float(const tool_affine *matrix);

/// Round to the public transform.
espl_transform placement_round(const tool_placement *placement);

/// out = a * b, Hamilton product. out may be a or b.
void quaternion_multiply(double out[4], const double a[4], const double b[4]);
/// Bring to unit length; zero becomes the identity.
void quaternion_normalize(double q[4]);
/// out = q v q*, for a unit quaternion. out may be v.
void quaternion_rotate(double out[3], const double q[4], const double v[3]);
/// Turn by an angle in radians about a unit axis.
void quaternion_about(double out[4], const double axis[3], double angle);

double vector_length(const double v[3]);

#endif

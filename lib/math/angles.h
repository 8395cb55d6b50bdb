// SPDX-License-Identifier: MIT
// Sine, cosine and arctangent in double precision, the same bits on every machine: the mathematical
// library differs between machines, so none of its functions but the square root is used.
#ifndef ESPALIER_LIB_MATH_ANGLES_H
#define ESPALIER_LIB_MATH_ANGLES_H

#define ESPL__PI 3.141592653589793

/// Write the sine and the cosine of an angle in radians.
///
/// Absolute error at most 2.2e-16. For an angle that is half a float each of the two also has a
/// relative error of at most 1.4e-10, however close to zero it is: every float was tried.
/// @param angle  magnitude less than 2^129.
void espl__sin_cos(double *sine, double *cosine, double angle);

/// Return the angle of the direction (x, y), counted from +X towards +Y, in [-pi, pi]; 0 for (0, 0).
///
/// Absolute error at most 5e-16; relative error at most 5e-16 too where the result is not a
/// denormal. A y of -0 counts as 0.
/// @param y,x  magnitudes below 1e300.
double espl__angle_of(double y, double x);

#endif

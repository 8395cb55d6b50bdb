// SPDX-License-Identifier: MIT
// An independent computation of world transforms: double-precision matrices down the path from the
// root, which share no formula with the library.
#ifndef ESPALIER_TESTS_ORACLE_H
#define ESPALIER_TESTS_ORACLE_H

#include "tests/model.h"

/// Compare a world placement with the product of the matrices on the path of a model's node.
///
/// @return the error as a share of what is allowed, (8 * depth * 2^-24 + what the rotations above
///         are off unit length) * (distance travelled on the path + 1): at most 1 where it is
///         right; 0 where a stretch, a scale of zero or inherit flags are on the path, which a
///         product of matrices says differently.
double oracle_error(const test_model *model, uint32_t node, const espl_transform *world);

#endif

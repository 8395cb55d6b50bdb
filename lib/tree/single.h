// SPDX-License-Identifier: MIT
// One write at once: the short way of what nearly all of them are.
#ifndef ESPALIER_LIB_TREE_SINGLE_H
#define ESPALIER_LIB_TREE_SINGLE_H

#include "lib/tree/forest.h"

/// Put a local at a slot with a transform of its own, whose run has no side arrays, and bring all
/// worlds up to date; counts what it does.
/// @param local  finite, and of unit length.
/// @return ESPL_OK, ESPL_ERR_RANGE: a world would not be finite; all is as before.
espl_status espl__local_put(espl__forest *forest, espl__crew *crew, uint32_t slot,
                            const espl_pose *local);
/// The same of the pose of a transform as a user gives it: it is checked, and its rotation brought to
/// unit length. Stretch and context are not looked at.
/// @return ESPL_ERR_NOT_FINITE besides.
espl_status espl__pose_put(espl__forest *forest, espl__crew *crew, uint32_t slot,
                           const espl_transform *value);

#endif

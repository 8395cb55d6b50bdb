// SPDX-License-Identifier: MIT
// Whole forests in one stroke, and writes to put into batches.
#ifndef ESPALIER_TESTS_PLANTING_H
#define ESPALIER_TESTS_PLANTING_H

#include "tests/support.h"

#define PLANT_ROOT UINT32_MAX // parent of nobody's child

/// Make entities one step along X from their parents, whose numbers are smaller or PLANT_ROOT.
/// @return [count] their handles, to be freed.
espl_entity *plant_forest(espl_world *world, const uint32_t *parent, uint32_t count);
/// Each below the one before. @return as plant_forest().
espl_entity *plant_chain(espl_world *world, uint32_t count);

espl_write write_vector(espl_entity entity, espl_write_kind kind, float x, float y, float z);
espl_write write_scale(espl_entity entity, espl_write_kind kind, float scale);
/// A value for a kind that overflows nothing and is zero nowhere.
espl_write write_ordinary(espl_entity entity, espl_write_kind kind, uint64_t *random);
void shuffle_writes(espl_write *writes, size_t count, uint64_t *random);

espl_world_stats test_stats(const espl_world *world);

#endif

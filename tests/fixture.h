// SPDX-License-Identifier: MIT
// Fixtures of world suites: trees of given shapes, writes for batches, statistics.
#ifndef ESPALIER_TESTS_FIXTURE_H
#define ESPALIER_TESTS_FIXTURE_H

#include "tests/support.h"

#define NO_PARENT UINT32_MAX // parent of nobody's child

/// Make entities one step along X from their parents, whose numbers are smaller or NO_PARENT.
/// @return [count] their handles, to be freed.
espl_entity *make_forest(espl_world *world, const uint32_t *parent, uint32_t count);
/// Make trees of so many nodes each, tree by tree, each breadth-first.
/// @param fan_out  children of a node, but of the last ones; 1: chains; 0: all below the root.
/// @return [trees * nodes] as make_forest().
espl_entity *make_trees(espl_world *world, uint32_t trees, uint32_t nodes, uint32_t fan_out);
/// Each below the one before. @return as make_forest().
espl_entity *make_chain(espl_world *world, uint32_t count);

espl_write write_vector(espl_entity entity, espl_write_kind kind, float x, float y, float z);
espl_write write_scale(espl_entity entity, espl_write_kind kind, float scale);
/// A value for a kind that overflows nothing and is zero nowhere.
espl_write write_ordinary(espl_entity entity, espl_write_kind kind, uint64_t *random);
void shuffle_writes(espl_write *writes, size_t count, uint64_t *random);

espl_world_stats test_stats(const espl_world *world);

#endif

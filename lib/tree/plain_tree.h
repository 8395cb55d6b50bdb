// SPDX-License-Identifier: MIT
// A quick check of trees that are as most trees are.
#ifndef ESPALIER_LIB_TREE_PLAIN_TREE_H
#define ESPALIER_LIB_TREE_PLAIN_TREE_H

#include "lib/tree/forest.h"

/// Tell whether a tree is settled and in order, has neither holes, side arrays nor nodes without a transform, keeps
/// all rules of espl__forest_broken_rule() about one tree, and has finite worlds. One pass over its slots; worlds
/// are composed by the wide function. Precondition: ranges are those of the pool.
/// @return false: it is no such tree, or breaks a rule.
bool espl__tree_is_plain(const espl__forest *forest, uint32_t number);

#endif

// SPDX-License-Identifier: MIT
// Many copies of one small tree in one world, each for a case of its own: made by one call, changed
// by immediate calls or by one playback, then compared with the model all together.
#ifndef ESPALIER_TESTS_TREE_CASES_H
#define ESPALIER_TESTS_TREE_CASES_H

#include "tests/tape.h"

enum { SHAPE_NODES = 8, CASE_STEPS = SHAPE_NODES + 1, TREE_CASES = 128 };
enum { CASE_ENTITIES = 3 * (SHAPE_NODES + 1) }; // a tree, its solo, and two clones

/// An ordered tree.
typedef struct shape {
    uint32_t count;
    uint32_t parent[SHAPE_NODES]; // in preorder; of node 0: MODEL_NONE
    uint32_t free_links;          // bit i: node i hangs by a free link
} shape;

/// Name of the depths in preorder of the next ordered tree of that size: they count up by at most
/// one. @return false after the last.
bool shape_next(uint32_t *depth, uint32_t count);
shape shape_of(const uint32_t *depth, uint32_t count, uint32_t free_links);

/// Operations on one tree. Operands are nodes of the shape; the number behind the last is a solo
/// that stands beside each tree.
typedef struct tree_case {
    operation steps[CASE_STEPS];
    uint32_t count;
    uint32_t prepared; // first steps that are carried out at once in every way
} tree_case;

/// How cases are carried out.
enum { CASES_AT_ONCE = 1, CASES_RECORDED = 2 };

typedef struct tree_cases {
    test_tape tape;
    test_side side;
    shape shape;
    tree_case *cases; // [TREE_CASES] that wait
    uint32_t count;
    uint32_t ways; // CASES_ bits
    uint32_t held; // entities at once, at most, when the cases that wait are carried out
    size_t made;   // entities that the world saw
    char note[64];
    size_t tried, done, refused; // cases; their last steps
} tree_cases;

/// @param ways  each case is carried out in each of these.
void tree_cases_begin(tree_cases *o, uint32_t ways);
void tree_cases_end(tree_cases *o);
/// Turn to another tree, when the cases that wait are through.
void tree_cases_turn(tree_cases *o, const shape *s);
/// Add a case of one operation.
void tree_cases_try(tree_cases *o, const operation *op);
/// Add a case. @param prepared  operations that only make the tree ready for the others.
void tree_cases_try_all(tree_cases *o, const operation *ops, uint32_t count, uint32_t prepared);

#endif

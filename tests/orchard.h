// SPDX-License-Identifier: MIT
// Many copies of one small tree in one world, each for a case of its own: planted in one stroke,
// operated on at once or in one playback, then compared with the model all together.
#ifndef ESPALIER_TESTS_ORCHARD_H
#define ESPALIER_TESTS_ORCHARD_H

#include "tests/tape.h"

enum { SHAPE_NODES = 8, CASE_STEPS = SHAPE_NODES + 1, ORCHARD_CASES = 128 };
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
typedef struct orchard_case {
    operation steps[CASE_STEPS];
    uint32_t count;
    uint32_t prepared; // first steps that are carried out at once in every way
} orchard_case;

/// How cases are carried out.
enum { ORCHARD_AT_ONCE = 1, ORCHARD_RECORDED = 2 };

typedef struct orchard {
    test_tape tape;
    test_side side;
    shape shape;
    orchard_case *cases; // [ORCHARD_CASES] that wait
    uint32_t count;
    uint32_t ways; // ORCHARD_ bits
    uint32_t held; // entities at once, at most, when the cases that wait are carried out
    size_t made;   // entities that the world saw
    char note[64];
    size_t tried, done, refused; // cases; their last steps
} orchard;

/// @param ways  each case is carried out in each of these.
void orchard_begin(orchard *o, uint32_t ways);
void orchard_end(orchard *o);
/// Turn to another tree, when the cases that wait are through.
void orchard_turn(orchard *o, const shape *s);
/// Add a case of one operation.
void orchard_try(orchard *o, const operation *op);
/// Add a case. @param prepared  operations that only make the tree ready for the others.
void orchard_try_all(orchard *o, const operation *ops, uint32_t count, uint32_t prepared);

#endif

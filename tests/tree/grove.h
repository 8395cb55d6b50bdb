// SPDX-License-Identifier: MIT
// A forest without a world around it: hierarchies planted by hand from lists of parents, in any
// arrangement of slots, on the allocator under test.
#ifndef ESPALIER_TESTS_TREE_GROVE_H
#define ESPALIER_TESTS_TREE_GROVE_H

#include "lib/tree/forest.h"
#include "tests/support.h"

enum { GROVE_LIMIT = 1032 }; // nodes of one hierarchy

typedef struct grove {
    test_heap under;
    espl__heap heap;
    espl__forest forest;
    uint32_t entities; // numbers handed out
} grove;

/// What to plant. {0} but for the first two: in order, no room to spare, poses of seed 0.
typedef struct grove_plan {
    const uint32_t *parent; // [size] rank of the parent, non-decreasing; the root's does not count
    uint32_t size;
    const uint8_t *flags;   // [size] FREE_LINK, PASS and ROOTED, or NULL
    const uint8_t *inherit; // [size] inherit flags, or NULL; not read where a slot can have none
    uint32_t holes;         // slots in use that hold no node
    uint32_t spare;         // slots past those
    uint64_t seed;          // of the placements; the same for each arrangement
    bool is_shuffled;       // slots are not in order
    bool is_general;        // takes the general kernel without need
    bool has_extras;        // every node has a stretch and a context of its own
    bool is_prepaid;        // has side arrays with room for inherit flags without need
} grove_plan;

void grove_begin(grove *g);
/// Free the forest and demand that the heap ends at zero bytes without a fault.
void grove_end(grove *g);
/// Fail the test with the broken rule unless all hold.
void grove_is_sound(const grove *g);

/// Make a run with worlds that follow from its placements. Rank r holds the entity of number
/// (g->entities before the call) + r. Side arrays that nothing needs are prepaid. @return the run.
uint32_t grove_plant(grove *g, const grove_plan *plan);
/// Slot of a rank.
uint32_t grove_slot(const grove *g, uint32_t run, uint32_t rank);
/// Tell whether two poses are the same 32 bytes.
bool grove_same(const espl_pose *a, const espl_pose *b);
/// Tell whether two extras are the same 16 bytes.
bool grove_same_extra(const espl__extra *a, const espl__extra *b);
/// World of a placement below a frame, by the public formula of inherit flags.
espl_pose grove_inherit(const espl__frame *above, const espl__placement *placement);
/// Write what each rank shows its children, from the rules and what is stored alone.
/// Recompute the world at a rank from its parent's, and everything below where its pose changed.
/// false: some world is not finite.
bool grove_propagate(espl__forest *forest, uint32_t run, uint32_t rank);
/// @param frames  [size]
void grove_recompute(const grove *g, uint32_t run, espl__frame *frames);
/// Hash of all runs, their nodes, and the books of the pool; addresses and capacities are left
/// out.
uint64_t grove_hash(const grove *g);

/// Write parents of a random hierarchy. @param reach  1: a star; many: nearly a chain.
void grove_random_parents(uint32_t *parent, uint32_t size, uint32_t reach, uint64_t *random);
espl_pose grove_random_pose(uint64_t *random);
/// Write inherit flags of all kinds, ESPL_COPY_PARENT too, for one node in `n`; 0 for the others.
void grove_random_inherit(uint8_t *inherit, uint32_t size, uint32_t n, uint64_t *random);
/// Step to the next hierarchy of a size, from parents of all 0 (a star) on. false: that was the
/// last, a chain.
bool grove_next_parents(uint32_t *parent, uint32_t size);

#endif

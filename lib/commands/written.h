// SPDX-License-Identifier: MIT
// Groups that do nothing but write to the nodes of one hierarchy. They need no sketch: their writes
// are sorted by rank and carried out as those of a batch are, in one pass with one propagation.
//
// One by one, in playback order, is what it must come to. So writes that see where their node has
// come to in the world stand behind those to the nodes above it, and no world on the way may
// overflow, which a bound of all that the locals come to tells. A group for which this cannot be
// said is planned on a sketch.
#ifndef ESPALIER_LIB_COMMANDS_WRITTEN_H
#define ESPALIER_LIB_COMMANDS_WRITTEN_H

#include "lib/commands/short.h"
#include "lib/tree/writes.h"

/// List the groups that only write, and take the memory that their plans and patches need. They are
/// no sources of anyone. @return false where there is no memory.
bool espl__written_list(espl__playback *playback);
/// Plan those that can be carried out so, on all workers; sets is_short.
espl_status espl__written_plan(espl__playback *playback);
/// The first of the listed groups whose writes begin at a place or behind it.
size_t espl__written_group_from(const espl__playback *playback, size_t begin);
/// Carry those out. Cannot fail. Side arrays that nothing needs any more go back.
void espl__written_patch(espl__playback *playback);

/// The sorted writes of a group, as a bound sees them.
typedef struct espl__rank_writes {
    const espl__written *written; // by number
    const uint64_t *keys;         // [count] ascending: the rank, and below it the number
    uint32_t count;
    uint32_t run;
} espl__rank_writes;

static inline uint32_t espl__key_rank(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

/// Tell whether no world of a run can overflow, whatever part of the writes has been carried out.
/// O(size of the run).
bool espl__writes_are_tame(const espl__forest *forest, const espl__rank_writes *writes);

#endif

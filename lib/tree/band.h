// SPDX-License-Identifier: MIT
// What hangs below a range of ranks, generation by generation, cut into pieces that workers go down
// through side by side. The children of consecutive ranks are consecutive, so a piece is a few
// ranks of the first generation and, of each further one, the range of what hangs below them: no
// piece reads what another one writes, and nobody waits between generations.
#ifndef ESPALIER_LIB_TREE_BAND_H
#define ESPALIER_LIB_TREE_BAND_H

#include "lib/tree/forest.h"

enum {
    ESPL__PIECES = 64,      // of a band at most: what is kept of them is on the stack
    ESPL__GENERATIONS = 64, // of a band at most: each cut is followed down through all of them
};

typedef struct espl__band {
    const espl__forest *forest;
    const espl__run *run;
    uint32_t generations, pieces;
    // Generation g is ranks [begin[g], end[g]); what hangs below it starts at its end or behind.
    uint32_t begin[ESPL__GENERATIONS], end[ESPL__GENERATIONS];
    uint32_t cuts[ESPL__PIECES + 1]; // piece i has ranks [cuts[i], cuts[i + 1]) of the first one
    uint32_t resume;                 // see espl__band_lay()
} espl__band;

/// Tell whether a run has so many nodes that a band may be laid in it.
static inline bool espl__run_is_wide(const espl__forest *forest, const espl__run *run)
{
    return run->size / 2 >= forest->grain;
}

/// Lay a band whose first generation is ranks [begin, end), of which none hangs below another.
/// Depends on the links and forest->grain alone.
///
/// @return false: too little hangs there, or it begins too narrow to be cut evenly. What lies at
///         ranks below `resume` is then for one thread, before a band is asked for again.
bool espl__band_lay(espl__band *band, const espl__forest *forest, const espl__run *run,
                    uint32_t begin, uint32_t end);

/// Cut a band into pieces of about equally many ranks.
void espl__band_cut(espl__band *band);

/// The first rank past the last generation.
static inline uint32_t espl__band_limit(const espl__band *band)
{
    return band->end[band->generations - 1];
}

/// Call a function once for each piece of a band, on the workers of a team; what an executor loses
/// is done on the calling thread.
void espl__band_run(const espl__band *band, const espl__team *team, espl_job function,
                    void *context);

#endif

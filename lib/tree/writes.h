// SPDX-License-Identifier: MIT
// Many writes to one hierarchy: parents before children, one propagation. Allocates nothing; works
// on the arrays it is handed and on its own run, so that runs may be written in parallel.
#ifndef ESPALIER_LIB_TREE_WRITES_H
#define ESPALIER_LIB_TREE_WRITES_H

#include "lib/tree/band.h"
#include "lib/tree/propagate.h"

/// What side arrays held of a node.
typedef struct espl__side_entry {
    espl__kept kept;
    espl__extra extra;
} espl__side_entry;

/// Where the writes of a batch come from, and what became of them.
typedef struct espl__write_source {
    /// Read entry `number`, checked and normalised. ESPL_OK, or why it is refused.
    espl_status (*fetch)(const void *context, uint32_t number, espl_write_kind *kind,
                         espl_write_value *value);
    const void *context;
    espl_status *results; // by number, out
    // Of entries that are all of one kind, their values as they came, unchecked; or NULL.
    const unsigned char *values;
    size_t value_size; // from one to the next
    espl_write_kind kind;
    bool has_poses; // values are espl_pose, where the kind says transforms
} espl__write_source;

/// The writes of one run.
typedef struct espl__run_writes {
    const espl__write_source *source;
    const uint32_t *numbers; // [count] by rank, and by number within a rank; NULL: as they come,
    uint32_t first_number;   // from this one on
    const uint32_t *ranks;   // [count] of these, which ascend
    uint32_t count;
    uint32_t run;
    bool is_once; // it is known that no rank has two entries
    bool
        is_unordered; // for espl__run_sweep() alone, with is_once: ranks come in no order, and some
                      // may come twice after all
    espl__team team;  // {0}: the calling thread does all
    // Scratch.
    espl__span *spans; // [span_count]
    uint32_t span_count;
    espl_pose *old_locals;       // [count]
    espl__side_entry *old_sides; // [count]; NULL where the run has no side arrays
    // Counts, out.
    uint64_t visited, skipped, writes, writes_skipped;
    uint64_t told; // results that may be other than ESPL_OK
} espl__run_writes;

/// Number of the entry that stands at a place.
static inline uint32_t espl__write_number(const espl__run_writes *w, uint32_t at)
{
    return w->numbers != NULL ? w->numbers[at] : w->first_number + at;
}

/// Carry the writes out. An entry whose local or own world would not be finite is refused alone.
/// Where a world further down would not be, all entries above it are refused and the others done
/// again; where that does not help, all are refused. What a write needs of side arrays is there.
/// Where much hangs below, it is written in pieces, by the team's workers if there are any; neither
/// results nor counts depend on them.
void espl__run_write(espl__forest *forest, espl__run_writes *writes);

#endif

// SPDX-License-Identifier: MIT
// The data of a partition of rows into jobs, the weights of rows, and the cutter, which all ways of
// partition.h share.
#ifndef ESPALIER_LIB_WORLD_PARTITION_ROWS_H
#define ESPALIER_LIB_WORLD_PARTITION_ROWS_H

#include "lib/base/key_sort.h"
#include "lib/world/world_internal.h"

#include <espalier/writers.h>

/// A chunk whose rows answer the query.
typedef struct espl__partition_chunk {
    uint32_t chunk, archetype;
    uint32_t position; // in the archetype's list of chunks
    uint32_t begin;    // number of its first row among all rows
} espl__partition_chunk;

/// Consecutive rows of one chunk that are in one job.
typedef struct espl__row_piece {
    uint32_t at; // index of the chunk in espl__partition.chunks
    uint8_t first, count;
    uint16_t job;
} espl__row_piece;

_Static_assert((int)ESPL__CHUNK_ROWS <= UINT8_MAX, "a byte holds a row of a chunk");
_Static_assert(sizeof(espl__row_piece) == 8, "rows: 8 bytes");

/// What is in one job as a whole: a hierarchy, or a set of chunks, which has the unit of its first
/// chunk.
typedef struct espl__unit {
    uint32_t weight;
    uint16_t job;
    bool is_unordered; // slots of its rows do not ascend
} espl__unit;

/// What a parallel write knows of a tree. The tree is marked if `number` minus the base of the
/// write is the number of a unit: marks of earlier writes are below the base, so that they need not
/// be cleared.
typedef struct espl__tree_mark {
    uint32_t number;
#if ESPL_CHECKS >= 1
    _Atomic(const char *) site; // of the last write through a writer
#endif
} espl__tree_mark;

/// A partition. Arrays lie in world->partition_scratch, marks in world->mark_scratch; both are kept
/// for the next write.
typedef struct espl__partition {
    espl_world *world;
    bool has_members; // else each row is a hierarchy of its own
    bool is_by_chunk; // units are sets of chunks
    bool is_top_down; // the definition wants parents first
    bool has_sorted;  // is_sorted is true for some job
    size_t chunk_count, row_count, unit_count, group_count, split_rows;
    uint32_t job_count;
    espl__partition_chunk *chunks; // [chunk_count] in the order of the query
    uint32_t *words;               // [row_count] weights of rows, or numbers of units; or by chunk:
                                   // an earlier chunk of its set
    espl__unit *units;             // [unit_count] of [row_count], with members
    uint32_t *last_slots;          // [unit_count] of [row_count], with members and top-down
    espl__row_piece *pieces;       // sorted by job
    espl__row_piece *loose;        // [row_count] with members: before they are sorted
    espl__sort_key *keys, *spare_keys;            // [row_count] with members and top-down
    struct espl_writer *writers;                  // [job_count]
    uint32_t begins[ESPL_PARALLEL_JOB_LIMIT + 1]; // [job_count + 1] of pieces
    uint64_t weights[ESPL_PARALLEL_JOB_LIMIT];    // [job_count]
    bool is_sorted
        [ESPL_PARALLEL_JOB_LIMIT]; // its rows are sorted by slot, because they did not ascend
    espl__tree_mark *marks;        // [trees]; NULL where nothing reads them
    uint32_t base;                 // number of unit 0 in marks
} espl__partition;

/// How the weight of a row is found: 1 for each, the nodes of its tree, or the nodes that a write
/// of the row may visit.
typedef enum espl__scale { ESPL__SCALE_ONE, ESPL__SCALE_SIZE, ESPL__SCALE_REACH } espl__scale;

/// Assigns job numbers in ascending order to items that come with their weights. Each job gets an
/// equal part of the whole, and none is empty.
typedef struct espl__cutter {
    uint64_t part, sum, next; // next: the sum at which the job at hand is full
    uint64_t *weights;        // of the jobs
    uint32_t job;
} espl__cutter;

/// Begin to cut rows. Precondition: the weights of the jobs are 0.
/// @param whole  weight of all rows.
espl__cutter espl__cutter_begin(espl__partition *d, uint64_t whole, uint32_t job_limit);
/// Weight that the current job has room for, at least 1; where it is full, the next job becomes the
/// current one.
uint64_t espl__cutter_room(espl__cutter *cutter);
/// Add a weight to the current job.
static inline void espl__cutter_add(espl__cutter *cutter, uint64_t weight)
{
    ESPL_CHECK_FULL(cutter->job < ESPL_PARALLEL_JOB_LIMIT);
    cutter->sum += weight;
    cutter->weights[cutter->job] += weight;
}

/// Rows of a chunk.
static inline uint32_t espl__partition_rows(const espl__partition *partition,
                                            const espl__partition_chunk *at)
{
    return partition->world->store.chunks[at->chunk].count;
}

/// The scale of the rows of a chunk.
espl__scale espl__partition_scale(const espl__partition *partition,
                                  const espl__partition_chunk *at);
/// Weight of the row at a slot. Precondition: the scale is not ESPL__SCALE_ONE.
uint32_t espl__row_weight(const espl__forest *forest, espl__scale scale, uint32_t slot,
                          uint32_t tree);
/// Weigh the rows of a chunk.
/// @param weights  NULL, or [rows of the chunk] out; not written where the scale is
///          ESPL__SCALE_ONE.
/// @return the weight of all.
uint64_t espl__chunk_weigh(const espl__partition *partition, const espl__partition_chunk *at,
                           uint32_t *weights);

// --- Accessors ---

/// Tell whether a tree is marked in this write.
static inline bool espl__tree_is_marked(const espl__partition *partition, uint32_t tree)
{
    return partition->marks[tree].number - partition->base < partition->row_count;
}

/// Mark a tree with the number of a unit; without members the number is that of a job.
static inline void espl__tree_mark_as(const espl__partition *partition, uint32_t tree,
                                      uint32_t unit)
{
    ESPL_CHECK_FULL(unit < partition->row_count);
    partition->marks[tree].number = partition->base + unit;
#if ESPL_CHECKS >= 1
    atomic_store_explicit(&partition->marks[tree].site, NULL, memory_order_relaxed);
#endif
}

/// Job of a tree, or ESPL__NONE: the tree has no row in the write.
static inline uint32_t espl__tree_job(const espl__partition *partition, uint32_t tree)
{
    if (!espl__tree_is_marked(partition, tree)) {
        return ESPL__NONE;
    }
    const uint32_t unit = partition->marks[tree].number - partition->base;

    return partition->has_members ? partition->units[unit].job : unit;
}

#endif

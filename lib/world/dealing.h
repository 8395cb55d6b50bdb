// SPDX-License-Identifier: MIT
// Dealing the rows of a query out to jobs, so that all rows of one hierarchy fall to one job. Three
// ways, by what is asked for alone:
// - Where no row is a member, each row is a hierarchy of its own: rows are cut as they stand.
// - Chunks that share a hierarchy are united to sets, and whole sets fall to a job, as long as no
//   set is too large a part of the whole. This costs a look at the tree of each row.
// - Else, and where parents come first, hierarchies are numbered as they are met and cut into jobs
//   in that order, and the rows are sorted by job: there are few jobs, so rows keep together, which
//   they would not if they were sorted by hierarchy.
#ifndef ESPALIER_LIB_WORLD_DEALING_H
#define ESPALIER_LIB_WORLD_DEALING_H

#include "lib/world/inside.h"
#include "lib/world/places.h"

#include <espalier/writers.h>

/// A chunk whose rows answer.
typedef struct espl__dealt_chunk {
    uint32_t chunk, archetype;
    uint32_t position; // in the archetype's list
    uint32_t begin;    // number of the first row among all of them
} espl__dealt_chunk;

/// Consecutive rows of one chunk.
typedef struct espl__dealt_rows {
    uint32_t at; // among the dealt chunks
    uint8_t first, count;
    uint16_t job;
} espl__dealt_rows;

_Static_assert((int)ESPL__CHUNK_ROWS <= UINT8_MAX, "rows of a chunk are told by a byte");
_Static_assert(sizeof(espl__dealt_rows) == 8, "rows: 8 bytes");

/// What falls to one job: a hierarchy, or a set of chunks by the first of them.
typedef struct espl__unit {
    uint32_t weight;
    uint16_t job;
    bool is_unordered; // rows do not come by slot
} espl__unit;

/// What a parallel write knows of a tree: the number of its unit behind the base of the write.
typedef struct espl__tree_mark {
    uint32_t number;
#if ESPL_CHECKS >= 1
    _Atomic(const char *) site; // of the last write through a writer
#endif
} espl__tree_mark;

typedef struct espl__deal {
    espl_world *world;
    bool has_members; // else each row is a hierarchy of its own
    bool is_by_chunk; // units are sets of chunks
    bool is_top_down; // asked for
    bool has_sorted;  // some job is
    size_t chunk_count, row_count, unit_count, group_count, split_rows;
    uint32_t job_count;
    espl__dealt_chunk *chunks;   // [chunk_count] in the order of the query
    uint32_t *words;             // [row_count] weight, or number of the unit; of a chunk: one above
    espl__unit *units;           // [unit_count] of [row_count], with members
    uint32_t *last_slots;        // [unit_count] of [row_count], with members and top-down
    espl__dealt_rows *pieces;    // sorted by job
    espl__dealt_rows *loose;     // [row_count] with members: before they are sorted
    espl__place *places, *other; // [row_count] with members and top-down
    struct espl_writer *writers; // [job_count]
    uint32_t begins[ESPL_PARALLEL_JOB_LIMIT + 1]; // [job_count + 1] of pieces
    uint64_t weights[ESPL_PARALLEL_JOB_LIMIT];    // [job_count]
    bool is_sorted[ESPL_PARALLEL_JOB_LIMIT];      // by slot, since some of its rows were not
    espl__tree_mark *marks;                       // by tree; NULL where there is no need
    uint32_t base;                                // number of unit 0 in marks
} espl__deal;

/// How the weight of a chunk's rows is found: one each, the sizes of their trees, or what a write
/// of theirs may reach.
typedef enum espl__scale { ESPL__SCALE_ONE, ESPL__SCALE_SIZE, ESPL__SCALE_REACH } espl__scale;

/// Hands out job numbers to what comes with its weight, in order: each job takes an equal part of
/// the whole, and none is empty.
typedef struct espl__cutter {
    uint64_t part, sum, next; // next: the sum at which the job at hand is full
    uint64_t *weights;        // of the jobs
    uint32_t job;
} espl__cutter;

/// Find the chunks that answer and take the memory for the rest.
/// @param query  just begun; it moves on, but does not end.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: nothing changed then.
espl_status espl__deal_begin(espl__deal *deal, espl_query *query);
/// Cut into jobs. Cannot fail. @param job_limit  at least 1.
void espl__deal_out(espl__deal *deal, uint32_t job_limit);
/// Take the memory for so many rows ahead of time. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__deal_reserve(espl_world *world, size_t rows);

/// Begin to cut rows of that weight in all; the weights of jobs are zeros.
espl__cutter espl__cutter_begin(espl__deal *d, uint64_t whole, uint32_t job_limit);
/// Weight that the job at hand has room for; a new one begins where it is full.
uint64_t espl__cutter_room(espl__cutter *cutter);
/// Give the job at hand a weight.
static inline void espl__cutter_add(espl__cutter *cutter, uint64_t weight)
{
    cutter->sum += weight;
    cutter->weights[cutter->job] += weight;
}

/// Rows that a chunk has.
static inline uint32_t espl__dealt_count(const espl__deal *deal, const espl__dealt_chunk *at)
{
    return deal->world->store.chunks[at->chunk].count;
}

espl__scale espl__dealt_scale(const espl__deal *deal, const espl__dealt_chunk *at);
/// Weight of a row with that slot and tree, by a scale that tells rows apart: not ESPL__SCALE_ONE.
uint32_t espl__dealt_weight(const espl__forest *forest, espl__scale scale, uint32_t slot,
                            uint32_t tree);
/// Weigh the rows of a chunk. @return the weight of all.
/// @param weights  NULL, or [rows of the chunk] out, where the scale tells rows apart.
uint64_t espl__dealt_weigh(const espl__deal *deal, const espl__dealt_chunk *at, uint32_t *weights);

// --- grouping.c ---

/// Cut the rows of a deal with members.
void espl__deal_groups(espl__deal *deal, uint32_t job_limit);

// --- Accessors ---

/// Slot of a row of a chunk.
static inline uint32_t espl__row_slot(const espl__store *store, const espl__chunk *chunk,
                                      uint32_t row)
{
    if (chunk->slots_offset != ESPL__NONE) {
        return ((const uint32_t *)(const void *)(chunk->bytes + chunk->slots_offset))[row];
    }
    return store->records[espl__chunk_entities(chunk)[row].index].slot;
}

/// Tell whether a tree is marked in this write, with the number of a unit.
static inline bool espl__tree_is_marked(const espl__deal *deal, uint32_t tree)
{
    return deal->marks[tree].number - deal->base < deal->row_count;
}

static inline void espl__tree_mark_as(const espl__deal *deal, uint32_t tree, uint32_t unit)
{
    deal->marks[tree].number = deal->base + unit;
#if ESPL_CHECKS >= 1
    atomic_store_explicit(&deal->marks[tree].site, NULL, memory_order_relaxed);
#endif
}

/// Job that a tree was dealt to, or ESPL__NONE.
static inline uint32_t espl__tree_job(const espl__deal *deal, uint32_t tree)
{
    if (!espl__tree_is_marked(deal, tree)) {
        return ESPL__NONE;
    }
    const uint32_t unit = deal->marks[tree].number - deal->base;

    return deal->has_members ? deal->units[unit].job : unit;
}

#endif

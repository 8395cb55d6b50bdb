// SPDX-License-Identifier: MIT
// The memory and the chunks of a partition, and the cut of rows that are hierarchies of their own
// (lib/world/partition.h).
//
// A hierarchy is identified by its tree. A tree may have several roots, because it could not be
// divided when its root was destroyed; one job gets the whole tree.
#include "lib/world/partition.h"

#include "lib/world/partition_members.h"
#include "lib/world/query.h"
#include "lib/world/writers.h"

#include <string.h>

// --- Memory ---

// Place the arrays for chunk_count and row_count in a block.
// @param block  NULL: only measure.
// @return bytes.
static size_t carve_arrays(espl__partition *p, unsigned char *block)
{
    const size_t rows = p->row_count;
    const size_t grouped = p->has_members ? rows : 0;
    const size_t placed = p->is_top_down ? grouped : 0;
    const size_t pieces = p->has_members ? rows : p->chunk_count + ESPL_PARALLEL_JOB_LIMIT;
    size_t at = 0;

    p->writers = espl__carve(block, &at, ESPL_PARALLEL_JOB_LIMIT, sizeof *p->writers, 64);
    p->chunks = espl__carve(block, &at, p->chunk_count, sizeof *p->chunks, 16);
    p->words = espl__carve(block, &at, rows, sizeof *p->words, 16);
    p->pieces = espl__carve(block, &at, pieces, sizeof *p->pieces, 16);
    p->units = espl__carve(block, &at, grouped, sizeof *p->units, 16);
    p->loose = espl__carve(block, &at, grouped, sizeof *p->loose, 16);
    p->last_slots = espl__carve(block, &at, placed, sizeof *p->last_slots, 16);
    p->keys = espl__carve(block, &at, placed, sizeof *p->keys, 16);
    p->spare_keys = espl__carve(block, &at, placed, sizeof *p->spare_keys, 16);
    return at;
}

// Take memory for a mark for each tree. New marks are 0, which no write has as a number.
static espl_status reserve_marks(espl_world *world, size_t trees)
{
    const size_t before = world->mark_scratch.size;
    const espl_status status = espl__scratch_grow(
        &world->heap, ESPL__FOR_COMMANDS, &world->mark_scratch, trees * sizeof(espl__tree_mark));

    if (status == ESPL_OK && world->mark_scratch.size != before) {
        memset(world->mark_scratch.block, 0, world->mark_scratch.size);
        world->marks_used = 0;
    }
    return status;
}

// Take the numbers of this write's units. Twice as many as rows, because sets of chunks may turn
// out too large, and hierarchies are numbered then. Marks are cleared only when 32 bits are used
// up.
static void take_numbers(espl__partition *p)
{
    espl_world *const world = p->world;

    if (world->marks_used > UINT32_MAX - 2 * p->row_count - 1) {
        memset(world->mark_scratch.block, 0, world->mark_scratch.size);
        world->marks_used = 0;
    }
    ESPL_CHECK(world->mark_scratch.size >= world->forest.tree_end * sizeof(espl__tree_mark));
    p->marks = world->mark_scratch.block;
    p->base = world->marks_used + 1;
    world->marks_used += (uint32_t)(2 * p->row_count);
}

// Without members marks serve the checks alone.
static espl_status take_memory(espl__partition *p)
{
    espl_world *const world = p->world;
    espl_status status = espl__scratch_grow(&world->heap, ESPL__FOR_COMMANDS,
                                            &world->partition_scratch, carve_arrays(p, NULL));

    if (status != ESPL_OK) {
        return status;
    }
    (void)carve_arrays(p, world->partition_scratch.block);
    if (p->has_members || ESPL_CHECKS >= 1) {
        status = reserve_marks(world, world->forest.tree_end);
    }
    return status;
}

espl_status espl__partition_reserve(espl_world *world, size_t rows)
{
    // The worst case: a chunk for each row, all rows are members, and they are wanted top-down.
    espl__partition p = {
        .chunk_count = rows, .row_count = rows, .has_members = true, .is_top_down = true};
    size_t size = carve_arrays(&p, NULL);

    (void)espl__carve(NULL, &size, rows + ESPL_PARALLEL_JOB_LIMIT, sizeof *p.pieces, 1);
    const espl_status status =
        espl__scratch_grow(&world->heap, ESPL__FOR_COMMANDS, &world->partition_scratch, size);

    return status != ESPL_OK ? status : reserve_marks(world, world->forest.tree_capacity);
}

// --- Chunks ---

// Count a chunk that the query shows.
static void count_chunk(espl__partition *p, const espl_query *query)
{
    const espl__store *const store = &p->world->store;

    p->chunk_count += 1;
    p->row_count += query->count;
    p->has_members =
        p->has_members || espl__archetype_has(store, query->state.archetype, ESPL_MEMBER);
}

// List the chunks. Precondition: chunk_count is what a copy of the query counted.
static void list_chunks(espl__partition *p, espl_query *query)
{
    const espl__store *const store = &p->world->store;
    uint32_t begin = 0;

    for (size_t i = 0; i < p->chunk_count; ++i) {
        const bool is_there = espl__query_advance(query);

        ESPL_CHECK(is_there);
        (void)is_there;
        const uint32_t archetype = query->state.archetype;
        const uint32_t position = query->state.chunk - 1;

        p->chunks[i] = (espl__partition_chunk){store->archetypes[archetype].chunks[position],
                                               archetype, position, begin};
        begin += (uint32_t)query->count;
    }
}

espl_status espl__partition_begin(espl__partition *p, espl_query *query)
{
    espl_query counted = *query;

    // A copy of the query counts, and does not end.
    while (espl__query_advance(&counted)) {
        count_chunk(p, &counted);
    }
    // Rows are numbered by chunk and row in 32 bits, and twice. Memory ends before that.
    if (p->chunk_count > UINT32_MAX / ESPL__CHUNK_ROWS || // GCOVR_EXCL_BR_LINE
        p->row_count > UINT32_MAX / 4) {                  // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    const espl_status status = p->row_count == 0 ? ESPL_OK : take_memory(p);

    if (status == ESPL_OK) {
        list_chunks(p, query);
    }
    return status;
}

// --- Rows that are hierarchies of their own ---

// Take rows of a chunk for the current job, from `first` on, and their weight.
// @param weights  [rows], or NULL: each weighs 1.
// @return how many, at least 1.
static uint32_t take_rows(espl__cutter *c, const uint32_t *weights, uint32_t first, uint32_t rows)
{
    const uint64_t room = espl__cutter_room(c);
    uint64_t sum = 0;
    uint32_t end = first;

    ESPL_CHECK_FULL(first < rows && room != 0);
    if (weights == NULL) {
        end = rows - first <= room ? rows : first + (uint32_t)room;
        sum = end - first;
    }
    while (weights != NULL && end < rows && sum < room) {
        sum += weights[end++];
    }
    ESPL_CHECK_FULL(end > first);
    espl__cutter_add(c, sum);
    return end - first;
}

// Cut the rows of a chunk into pieces.
static void cut_chunk(espl__partition *p, uint32_t number, espl__cutter *c, size_t *pieces)
{
    const espl__partition_chunk *const at = &p->chunks[number];
    const uint32_t rows = espl__partition_rows(p, at);
    const bool is_even = espl__partition_scale(p, at) == ESPL__SCALE_ONE;
    const uint32_t *const weights = is_even ? NULL : &p->words[at->begin];
    uint32_t first = 0;

    while (first < rows) {
        const uint32_t count = take_rows(c, weights, first, rows);

        p->split_rows += count < rows ? count : 0;
        p->pieces[(*pieces)++] =
            (espl__row_piece){number, (uint8_t)first, (uint8_t)count, (uint16_t)c->job};
        p->begins[c->job + 1] = (uint32_t)*pieces;
        first += count;
    }
}

// Cut all rows, in the order of the query.
static void cut_rows(espl__partition *p, uint32_t job_limit)
{
    uint64_t whole = 0;
    size_t pieces = 0;

    for (size_t i = 0; i < p->chunk_count; ++i) {
        const espl__partition_chunk *const at = &p->chunks[i];

        whole += espl__chunk_weigh(p, at, &p->words[at->begin]);
    }
    espl__cutter c = espl__cutter_begin(p, whole, job_limit);

    for (uint32_t i = 0; i < p->chunk_count; ++i) {
        cut_chunk(p, i, &c, &pieces);
    }
    ESPL_CHECK(c.sum == whole && c.job < job_limit);
    p->job_count = c.job + 1;
}

// Mark the trees of all rows with their jobs, for checked builds.
static void mark_rows(const espl__partition *p)
{
    const espl__store *const store = &p->world->store;

    for (size_t i = 0; i < p->begins[p->job_count]; ++i) {
        const espl__row_piece *const piece = &p->pieces[i];
        const espl__chunk *const chunk = &store->chunks[p->chunks[piece->at].chunk];

        for (uint32_t row = piece->first; row < (uint32_t)piece->first + piece->count; ++row) {
            espl__tree_mark_as(p, p->world->forest.tree[espl__row_slot(store, chunk, row)],
                               piece->job);
        }
    }
}

void espl__partition_cut(espl__partition *p, uint32_t job_limit)
{
    ESPL_CHECK(p->row_count != 0 && job_limit != 0);
    if (p->has_members || ESPL_CHECKS >= 1) {
        take_numbers(p);
    }
    if (p->has_members) {
        espl__partition_members(p, job_limit);
        return;
    }
    cut_rows(p, job_limit);
    if (ESPL_CHECKS >= 1) {
        mark_rows(p);
    }
}

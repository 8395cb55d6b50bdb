// SPDX-License-Identifier: MIT
// Dealing rows out to jobs: the chunks that answer, the memory, weights, and rows that are
// hierarchies of their own. Trees tell hierarchies apart, not roots: one that could not be divided
// when its root was destroyed is dealt as a whole.
#include "lib/world/dealing.h"

#include "lib/world/writers.h"

#include <string.h>

// Up to so many rows a row weighs what a write there may visit, which takes a few reads more.
enum { FEW_ROWS = 2 * ESPL_PARALLEL_JOB_LIMIT };
// What finding a row and writing it costs, against a world recomputed.
enum { ROW_COST = 4 };

// --- Memory ---

// Lay the arrays out that chunk_count and row_count ask for. @return bytes; with NULL it only
// measures.
static size_t lay_out(espl__deal *d, unsigned char *block)
{
    const size_t rows = d->row_count;
    const size_t grouped = d->has_members ? rows : 0;
    const size_t placed = d->is_top_down ? grouped : 0;
    const size_t pieces = d->has_members ? rows : d->chunk_count + ESPL_PARALLEL_JOB_LIMIT;
    size_t at = 0;

    d->writers = espl__carve(block, &at, ESPL_PARALLEL_JOB_LIMIT, sizeof *d->writers, 64);
    d->chunks = espl__carve(block, &at, d->chunk_count, sizeof *d->chunks, 16);
    d->words = espl__carve(block, &at, rows, sizeof *d->words, 16);
    d->pieces = espl__carve(block, &at, pieces, sizeof *d->pieces, 16);
    d->units = espl__carve(block, &at, grouped, sizeof *d->units, 16);
    d->loose = espl__carve(block, &at, grouped, sizeof *d->loose, 16);
    d->last_slots = espl__carve(block, &at, placed, sizeof *d->last_slots, 16);
    d->places = espl__carve(block, &at, placed, sizeof *d->places, 16);
    d->other = espl__carve(block, &at, placed, sizeof *d->other, 16);
    return at;
}

static espl_status reserve_marks(espl_world *world, size_t trees)
{
    const size_t before = world->mark_scratch.size;
    const espl_status status =
        espl__scratch_grow(world, &world->mark_scratch, trees * sizeof(espl__tree_mark));

    if (status == ESPL_OK && world->mark_scratch.size != before) {
        memset(world->mark_scratch.block, 0, world->mark_scratch.size);
        world->marks_used = 0;
    }
    return status;
}

// Take numbers for the units, which no mark bears yet, twice: sets of chunks may turn out too
// large. Marks are wiped only when the numbers are used up.
static void take_numbers(espl__deal *d)
{
    espl_world *const world = d->world;

    if (world->marks_used > UINT32_MAX - 2 * d->row_count - 1) {
        memset(world->mark_scratch.block, 0, world->mark_scratch.size);
        world->marks_used = 0;
    }
    d->marks = world->mark_scratch.block;
    d->base = world->marks_used + 1;
    world->marks_used += (uint32_t)(2 * d->row_count);
}

static espl_status take_memory(espl__deal *d)
{
    espl_world *const world = d->world;
    espl_status status = espl__scratch_grow(world, &world->deal_scratch, lay_out(d, NULL));

    if (status != ESPL_OK) {
        return status;
    }
    (void)lay_out(d, world->deal_scratch.block);
    if (d->has_members || ESPL_CHECKS >= 1) {
        status = reserve_marks(world, world->forest.tree_end);
    }
    return status;
}

espl_status espl__deal_reserve(espl_world *world, size_t rows)
{
    // The worst case: a chunk for each row, all rows are members, and they are wanted top-down.
    espl__deal d = {
        .chunk_count = rows, .row_count = rows, .has_members = true, .is_top_down = true};
    size_t size = lay_out(&d, NULL);

    (void)espl__carve(NULL, &size, rows + ESPL_PARALLEL_JOB_LIMIT, sizeof *d.pieces, 1);
    const espl_status status = espl__scratch_grow(world, &world->deal_scratch, size);

    return status != ESPL_OK ? status : reserve_marks(world, world->forest.tree_capacity);
}

// --- Chunks ---

static void count_chunk(espl__deal *d, const espl_query *query)
{
    const espl__store *const store = &d->world->store;

    d->chunk_count += 1;
    d->row_count += query->count;
    d->has_members =
        d->has_members || espl__archetype_has(store, query->state.archetype, ESPL_MEMBER);
}

static void list_chunks(espl__deal *d, espl_query *query)
{
    const espl__store *const store = &d->world->store;
    uint32_t begin = 0;

    for (size_t i = 0; i < d->chunk_count; ++i) {
        const bool is_there = espl_query_next(query);

        // As many as its copy has seen.
        ESPL_CHECK(is_there);
        const uint32_t archetype = query->state.archetype;
        const uint32_t position = query->state.chunk - 1;

        d->chunks[i] = (espl__dealt_chunk){store->archetypes[archetype].chunks[position], archetype,
                                           position, begin};
        begin += (uint32_t)query->count;
    }
}

espl_status espl__deal_begin(espl__deal *d, espl_query *query)
{
    espl_query counted = *query;

    // The copy ends when it has seen all chunks, and with it one iteration.
    d->world->iterations += 1;
    while (espl_query_next(&counted)) {
        count_chunk(d, &counted);
    }
    // Rows are told by chunk and row in 32 bits, and numbered twice. Past what memory holds.
    if (d->chunk_count > UINT32_MAX / ESPL__CHUNK_ROWS || // GCOVR_EXCL_BR_LINE
        d->row_count > UINT32_MAX / 4) {                  // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    const espl_status status = d->row_count == 0 ? ESPL_OK : take_memory(d);

    if (status == ESPL_OK) {
        list_chunks(d, query);
    }
    return status;
}

// --- Weights ---

// Upper bound of what a write at a slot visits: slots of descendants are above it.
static uint32_t reach_of(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const tree = espl__tree_of(forest, slot);
    const uint32_t behind = tree->base + tree->used - slot;

    return behind < tree->live ? behind : tree->live;
}

espl__scale espl__dealt_scale(const espl__deal *d, const espl__dealt_chunk *at)
{
    const espl__store *const store = &d->world->store;

    if (espl__archetype_has(store, at->archetype, ESPL_SOLO)) {
        return ESPL__SCALE_ONE;
    }
    if (d->row_count <= FEW_ROWS) {
        return ESPL__SCALE_REACH;
    }
    return espl__archetype_has(store, at->archetype, ESPL_ROOT) ? ESPL__SCALE_SIZE
                                                                : ESPL__SCALE_ONE;
}

uint32_t espl__dealt_weight(const espl__forest *forest, espl__scale scale, uint32_t slot,
                            uint32_t tree)
{
    return scale == ESPL__SCALE_SIZE ? forest->trees[tree].live : reach_of(forest, slot);
}

uint64_t espl__dealt_weigh(const espl__deal *d, const espl__dealt_chunk *at, uint32_t *weights)
{
    const espl__store *const store = &d->world->store;
    const espl__forest *const forest = &d->world->forest;
    const espl__chunk *const chunk = &store->chunks[at->chunk];
    const espl__scale scale = espl__dealt_scale(d, at);
    uint64_t sum = 0;

    if (scale == ESPL__SCALE_ONE) {
        return chunk->count;
    }
    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);
        const uint32_t weight = espl__dealt_weight(forest, scale, slot, forest->tree[slot]);

        if (weights != NULL) {
            weights[row] = weight;
        }
        sum += weight;
    }
    return sum;
}

// --- Cutting ---

espl__cutter espl__cutter_begin(espl__deal *d, uint64_t whole, uint32_t job_limit)
{
    const uint64_t most = (whole + ROW_COST * (uint64_t)d->row_count) / d->world->job_cost + 1;
    const uint64_t jobs = most < job_limit ? most : job_limit;
    const uint64_t part = whole / jobs + (whole % jobs != 0 ? 1 : 0);

    return (espl__cutter){.part = part, .next = part, .weights = d->weights};
}

uint64_t espl__cutter_room(espl__cutter *c)
{
    if (c->sum >= c->next) {
        c->job += 1;
        c->next = (c->sum / c->part + 1) * c->part;
    }
    return c->next - c->sum;
}

// --- Rows that are hierarchies of their own ---

// Rows from `first` on that the job at hand takes; it takes their weight too.
static uint32_t take_rows(espl__cutter *c, const uint32_t *weights, uint32_t first, uint32_t rows)
{
    const uint64_t room = espl__cutter_room(c);
    uint64_t sum = 0;
    uint32_t end = first;

    if (weights == NULL) {
        end = rows - first <= room ? rows : first + (uint32_t)room;
        sum = end - first;
    }
    while (weights != NULL && end < rows && sum < room) {
        sum += weights[end++];
    }
    espl__cutter_add(c, sum);
    return end - first;
}

static void cut_chunk(espl__deal *d, uint32_t number, espl__cutter *c, size_t *pieces)
{
    const espl__dealt_chunk *const at = &d->chunks[number];
    const uint32_t rows = espl__dealt_count(d, at);
    const bool is_even = espl__dealt_scale(d, at) == ESPL__SCALE_ONE;
    const uint32_t *const weights = is_even ? NULL : &d->words[at->begin];
    uint32_t first = 0;

    while (first < rows) {
        const uint32_t count = take_rows(c, weights, first, rows);

        d->split_rows += count < rows ? count : 0;
        d->pieces[(*pieces)++] =
            (espl__dealt_rows){number, (uint8_t)first, (uint8_t)count, (uint16_t)c->job};
        d->begins[c->job + 1] = (uint32_t)*pieces;
        first += count;
    }
}

static void cut_rows(espl__deal *d, uint32_t job_limit)
{
    uint64_t whole = 0;
    size_t pieces = 0;

    for (size_t i = 0; i < d->chunk_count; ++i) {
        const espl__dealt_chunk *const at = &d->chunks[i];

        whole += espl__dealt_weigh(d, at, &d->words[at->begin]);
    }
    espl__cutter c = espl__cutter_begin(d, whole, job_limit);

    for (uint32_t i = 0; i < d->chunk_count; ++i) {
        cut_chunk(d, i, &c, &pieces);
    }
    d->job_count = c.job + 1;
}

// Mark trees with their jobs, for checked builds.
static void mark_rows(const espl__deal *d)
{
    const espl__store *const store = &d->world->store;

    for (size_t i = 0; i < d->begins[d->job_count]; ++i) {
        const espl__dealt_rows *const piece = &d->pieces[i];
        const espl__chunk *const chunk = &store->chunks[d->chunks[piece->at].chunk];

        for (uint32_t row = piece->first; row < (uint32_t)piece->first + piece->count; ++row) {
            espl__tree_mark_as(d, d->world->forest.tree[espl__row_slot(store, chunk, row)],
                               piece->job);
        }
    }
}

void espl__deal_out(espl__deal *d, uint32_t job_limit)
{
    if (d->has_members || ESPL_CHECKS >= 1) {
        take_numbers(d);
    }
    if (d->has_members) {
        espl__deal_groups(d, job_limit);
        return;
    }
    cut_rows(d, job_limit);
    if (ESPL_CHECKS >= 1) {
        mark_rows(d);
    }
}

// SPDX-License-Identifier: MIT
// Dealing out rows that may share hierarchies, by sets of chunks or by hierarchy.
#include "lib/world/dealing.h"

#include <string.h>

// A set of chunks with more than this part of the rows would hold the other jobs up.
enum { SET_PARTS = 32 };

// --- Sets of chunks ---
//
// A forest of chunks in `words`, each below one that comes before it or its own top.

static uint32_t top_of(uint32_t *above, uint32_t chunk)
{
    while (above[chunk] != chunk) {
        above[chunk] = above[above[chunk]];
        chunk = above[chunk];
    }
    return chunk;
}

// Unite two sets. @return the rows of the one they are now.
static uint32_t unite(espl__deal *d, uint32_t a, uint32_t b)
{
    const uint32_t x = top_of(d->words, a), y = top_of(d->words, b);
    const uint32_t first = x < y ? x : y, second = x < y ? y : x;

    if (first != second) {
        d->words[second] = first;
        d->units[first].weight += d->units[second].weight;
    }
    return d->units[first].weight;
}

// Unite a chunk with those that its hierarchies were met in. @return rows of the set it is in.
static uint32_t unite_chunk(espl__deal *d, uint32_t number)
{
    const espl__store *const store = &d->world->store;
    const espl__chunk *const chunk = &store->chunks[d->chunks[number].chunk];
    uint32_t last = ESPL__NO_TREE, rows = chunk->count;

    d->words[number] = number;
    d->units[number] = (espl__unit){.weight = chunk->count};
    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t tree = d->world->forest.tree[espl__row_slot(store, chunk, row)];

        if (tree == last) {
            continue;
        }
        last = tree;
        if (!espl__tree_is_marked(d, tree)) {
            espl__tree_mark_as(d, tree, number);
        } else if (d->marks[tree].number - d->base != number) {
            rows = unite(d, d->marks[tree].number - d->base, number);
        }
    }
    return rows;
}

// false: a set came to be too large.
static bool unite_chunks(espl__deal *d)
{
    const size_t limit = d->row_count / SET_PARTS;

    for (uint32_t i = 0; i < d->chunk_count; ++i) {
        if (unite_chunk(d, i) > limit) {
            return false;
        }
    }
    return true;
}

static uint32_t add_weight(uint32_t a, uint64_t b)
{
    // More than 2^32 worlds of one set: past what a world holds.
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX; // GCOVR_EXCL_BR_LINE
}

// Give each set the weight of its chunks. @return that of all.
static uint64_t weigh_sets(espl__deal *d)
{
    uint64_t whole = 0;

    for (uint32_t i = 0; i < d->chunk_count; ++i) {
        const uint32_t top = top_of(d->words, i);
        const uint64_t weight = espl__dealt_weigh(d, &d->chunks[i], NULL);

        d->units[top].weight = add_weight(top == i ? 0 : d->units[top].weight, weight);
        d->group_count += top == i ? 1 : 0;
        whole += weight;
    }
    return whole;
}

static void cut_sets(espl__deal *d, uint32_t job_limit)
{
    espl__cutter c = espl__cutter_begin(d, weigh_sets(d), job_limit);

    for (uint32_t i = 0; i < d->chunk_count; ++i) {
        const uint32_t top = top_of(d->words, i);

        if (top == i) {
            (void)espl__cutter_room(&c);
            espl__cutter_add(&c, d->units[i].weight);
            d->units[i].job = (uint16_t)c.job;
        }
        d->units[i].job = d->units[top].job;
    }
    d->job_count = c.job + 1;
    d->unit_count = d->chunk_count;
}

// --- Hierarchies ---

// Number of a tree's unit; one that is met first gets the next.
static uint32_t unit_of(espl__deal *d, uint32_t tree)
{
    if (!espl__tree_is_marked(d, tree)) {
        espl__tree_mark_as(d, tree, (uint32_t)d->unit_count);
        d->units[d->unit_count] = (espl__unit){0};
        if (d->is_top_down) {
            d->last_slots[d->unit_count] = 0;
        }
        d->unit_count += 1;
    }
    return d->marks[tree].number - d->base;
}

// Note the slot of a row of a unit. Rows whose slots ascend come parents first.
static void note_slot(espl__deal *d, uint32_t unit, uint32_t slot)
{
    if (slot < d->last_slots[unit]) {
        d->units[unit].is_unordered = true;
    }
    d->last_slots[unit] = slot;
}

// Number the units of a chunk's rows. Neighbours are often of one, and are added up before it is
// told. @return the weight of all.
static uint64_t number_chunk(espl__deal *d, const espl__dealt_chunk *at)
{
    const espl__store *const store = &d->world->store;
    const espl__forest *const forest = &d->world->forest;
    const espl__chunk *const chunk = &store->chunks[at->chunk];
    const espl__scale scale = espl__dealt_scale(d, at);
    uint32_t *const words = &d->words[at->begin];
    uint32_t last = ESPL__NO_TREE, unit = 0;
    uint64_t sum = 0, told = 0;

    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);
        const uint32_t tree = forest->tree[slot];

        if (tree != last) {
            d->units[unit].weight = add_weight(d->units[unit].weight, sum - told);
            told = sum;
            unit = unit_of(d, tree);
            last = tree;
        }
        words[row] = unit;
        sum += scale == ESPL__SCALE_ONE ? 1 : espl__dealt_weight(forest, scale, slot, tree);
        if (d->is_top_down) {
            note_slot(d, unit, slot);
        }
    }
    d->units[unit].weight = add_weight(d->units[unit].weight, sum - told);
    return sum;
}

static void cut_hierarchies(espl__deal *d, uint32_t job_limit)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < d->chunk_count; ++i) {
        whole += number_chunk(d, &d->chunks[i]);
    }
    espl__cutter c = espl__cutter_begin(d, whole, job_limit);

    for (size_t i = 0; i < d->unit_count; ++i) {
        espl__unit *const unit = &d->units[i];

        (void)espl__cutter_room(&c);
        espl__cutter_add(&c, unit->weight);
        unit->job = (uint16_t)c.job;
        if (unit->is_unordered) {
            d->is_sorted[c.job] = d->has_sorted = true;
        }
    }
    d->job_count = c.job + 1;
    d->group_count = d->unit_count;
}

// --- Pieces ---

static uint32_t job_of_row(const espl__deal *d, const espl__dealt_chunk *at, uint32_t row)
{
    return d->units[d->words[at->begin + row]].job;
}

// List the pieces of a chunk: rows as long as they fall to one job. @return how many there are.
static size_t list_pieces(espl__deal *d, uint32_t number, size_t count)
{
    const espl__dealt_chunk *const at = &d->chunks[number];
    const uint32_t rows = espl__dealt_count(d, at);
    uint32_t first = 0, job = d->is_by_chunk ? d->units[number].job : job_of_row(d, at, 0);

    for (uint32_t row = d->is_by_chunk ? rows : 1; row <= rows; ++row) {
        const uint32_t next = row < rows ? job_of_row(d, at, row) : ESPL__NONE;

        if (next != job) {
            d->split_rows += row - first < rows ? row - first : 0;
            d->loose[count++] =
                (espl__dealt_rows){number, (uint8_t)first, (uint8_t)(row - first), (uint16_t)job};
            first = row;
            job = next;
        }
    }
    return count;
}

// Count the pieces of each job, a row each where they are sorted, and tell where those begin.
static void count_pieces(espl__deal *d, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const espl__dealt_rows *const piece = &d->loose[i];

        d->begins[piece->job + 1] += d->is_sorted[piece->job] ? piece->count : 1;
    }
    for (uint32_t job = 0; job < d->job_count; ++job) {
        d->begins[job + 1] += d->begins[job];
    }
}

// List the rows of a piece by their slots. @return how many there are.
static size_t list_places(espl__deal *d, const espl__dealt_rows *piece, size_t count)
{
    const espl__store *const store = &d->world->store;
    const espl__chunk *const chunk = &store->chunks[d->chunks[piece->at].chunk];

    for (uint32_t row = piece->first; row < (uint32_t)piece->first + piece->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);

        d->places[count++] = (espl__place){slot, piece->at * ESPL__CHUNK_ROWS + row};
    }
    return count;
}

// Sort the rows of jobs in which some hierarchy was out of order, parents first.
// @param at  [job_count] where the next piece of each job goes.
static void put_sorted(espl__deal *d, size_t pieces, uint32_t *at)
{
    size_t count = 0;

    for (size_t i = 0; i < pieces; ++i) {
        if (d->is_sorted[d->loose[i].job]) {
            count = list_places(d, &d->loose[i], count);
        }
    }
    espl__places_sort(&d->places, &d->other, count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t number = d->places[i].number / ESPL__CHUNK_ROWS;
        const uint32_t row = d->places[i].number % ESPL__CHUNK_ROWS;
        const uint32_t job = job_of_row(d, &d->chunks[number], row);

        d->pieces[at[job]++] = (espl__dealt_rows){number, (uint8_t)row, 1, (uint16_t)job};
    }
}

static void sort_pieces(espl__deal *d)
{
    uint32_t at[ESPL_PARALLEL_JOB_LIMIT];
    size_t count = 0;

    for (uint32_t i = 0; i < d->chunk_count; ++i) {
        count = list_pieces(d, i, count);
    }
    count_pieces(d, count);
    memcpy(at, d->begins, sizeof at);
    for (size_t i = 0; i < count; ++i) {
        const espl__dealt_rows piece = d->loose[i];

        if (!d->is_sorted[piece.job]) {
            d->pieces[at[piece.job]++] = piece;
        }
    }
    if (d->has_sorted) {
        put_sorted(d, count, at);
    }
}

void espl__deal_groups(espl__deal *d, uint32_t job_limit)
{
    // A single chunk is too large a set where there are few; top-down rows are told apart anyway.
    const bool may_unite = !d->is_top_down && d->row_count / SET_PARTS >= (size_t)ESPL__CHUNK_ROWS;

    d->is_by_chunk = may_unite && unite_chunks(d);
    if (d->is_by_chunk) {
        cut_sets(d, job_limit);
    } else {
        // What was marked by chunk means nothing from here on.
        d->base += (uint32_t)d->row_count;
        cut_hierarchies(d, job_limit);
    }
    sort_pieces(d);
}

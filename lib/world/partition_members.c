// SPDX-License-Identifier: MIT
// The partition of rows among which are members, so that several rows may share a hierarchy
// (lib/world/partition.h): by sets of chunks where these are small enough, else by hierarchy.
//
// Both ways yield the job of each row. Rows of a job form pieces, and the pieces are sorted by job.
// Invariant: which job a row is in depends on the rows and the definition alone.
#include "lib/world/partition_members.h"

#include <string.h>

// A set of chunks with more than this part of the rows would keep the other jobs waiting.
enum { SET_PARTS = 32 };

// --- Sets of chunks ---
//
// A union-find structure over chunks: `words` has for each chunk an earlier chunk of its set, or the
// chunk itself, which then is the first of the set.

// First chunk of a set. Halves the path to it, so that later calls are short.
static uint32_t top_of(uint32_t *above, uint32_t chunk)
{
    while (above[chunk] != chunk) {
        above[chunk] = above[above[chunk]];
        chunk = above[chunk];
    }
    return chunk;
}

// Unite the sets of two chunks. The set with the earlier first chunk takes the other in.
// @return the rows of the set.
static uint32_t unite_sets(espl__partition *p, uint32_t a, uint32_t b)
{
    const uint32_t x = top_of(p->words, a), y = top_of(p->words, b);
    const uint32_t first = x < y ? x : y, second = x < y ? y : x;

    ESPL_CHECK_FULL(p->words[x] == x && p->words[y] == y);
    if (first != second) {
        p->words[second] = first;
        p->units[first].weight += p->units[second].weight;
    }
    return p->units[first].weight;
}

// Unite a chunk with the chunks in which its hierarchies were met before. Neighbouring rows are
// often of one tree, which is looked at once.
// @return the rows of its set.
static uint32_t unite_chunk(espl__partition *p, uint32_t number)
{
    const espl__store *const store = &p->world->store;
    const espl__chunk *const chunk = &store->chunks[p->chunks[number].chunk];
    uint32_t last = ESPL__NO_TREE, rows = chunk->count;

    p->words[number] = number;
    p->units[number] = (espl__unit){.weight = chunk->count};
    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t tree = p->world->forest.tree[espl__row_slot(store, chunk, row)];

        if (tree == last) {
            continue;
        }
        last = tree;
        if (!espl__tree_is_marked(p, tree)) {
            espl__tree_mark_as(p, tree, number);
        } else if (p->marks[tree].number - p->base != number) {
            rows = unite_sets(p, p->marks[tree].number - p->base, number);
        }
    }
    return rows;
}

// @return false: a set is too large.
static bool unite_chunks(espl__partition *p)
{
    const size_t limit = p->row_count / SET_PARTS;

    for (uint32_t i = 0; i < p->chunk_count; ++i) {
        if (unite_chunk(p, i) > limit) {
            return false;
        }
    }
    return true;
}

// A sum of weights, at most UINT32_MAX.
static uint32_t add_weight(uint32_t a, uint64_t b)
{
    // More than 2^32 worlds of one set: past what a world holds.
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX; // GCOVR_EXCL_BR_LINE
}

// Replace the rows of each set by its weight.
// @return the weight of all sets.
static uint64_t weigh_sets(espl__partition *p)
{
    uint64_t whole = 0;

    for (uint32_t i = 0; i < p->chunk_count; ++i) {
        const uint32_t top = top_of(p->words, i);
        const uint64_t weight = espl__chunk_weigh(p, &p->chunks[i], NULL);

        p->units[top].weight = add_weight(top == i ? 0 : p->units[top].weight, weight);
        p->group_count += top == i ? 1 : 0;
        whole += weight;
    }
    return whole;
}

// Assign a job to each set. A set has its first chunk before its others, so that their job is
// known.
static void cut_sets(espl__partition *p, uint32_t job_limit)
{
    espl__cutter c = espl__cutter_begin(p, weigh_sets(p), job_limit);

    for (uint32_t i = 0; i < p->chunk_count; ++i) {
        const uint32_t top = top_of(p->words, i);

        if (top == i) {
            (void)espl__cutter_room(&c);
            espl__cutter_add(&c, p->units[i].weight);
            p->units[i].job = (uint16_t)c.job;
        }
        p->units[i].job = p->units[top].job;
    }
    ESPL_CHECK(c.job < job_limit);
    p->job_count = c.job + 1;
    p->unit_count = p->chunk_count;
}

// --- Hierarchies ---

// Number of a tree's unit. A tree that is met for the first time gets the next number.
static uint32_t unit_of(espl__partition *p, uint32_t tree)
{
    if (!espl__tree_is_marked(p, tree)) {
        ESPL_CHECK_FULL(p->unit_count < p->row_count);
        espl__tree_mark_as(p, tree, (uint32_t)p->unit_count);
        p->units[p->unit_count] = (espl__unit){0};
        if (p->is_top_down) {
            p->last_slots[p->unit_count] = 0;
        }
        p->unit_count += 1;
    }
    return p->marks[tree].number - p->base;
}

// Note the slot of a row. Rows whose slots ascend have parents before children, and need no sort.
static void note_slot(espl__partition *p, uint32_t unit, uint32_t slot)
{
    if (slot < p->last_slots[unit]) {
        p->units[unit].is_unordered = true;
    }
    p->last_slots[unit] = slot;
}

// Number the hierarchies of a chunk's rows, and add up their weights. The weight of neighbouring
// rows of one tree is added once.
// @return the weight of all rows.
static uint64_t number_chunk(espl__partition *p, const espl__partition_chunk *at)
{
    const espl__store *const store = &p->world->store;
    const espl__forest *const forest = &p->world->forest;
    const espl__chunk *const chunk = &store->chunks[at->chunk];
    const espl__scale scale = espl__partition_scale(p, at);
    uint32_t *const words = &p->words[at->begin];
    uint32_t last = ESPL__NO_TREE, unit = 0;
    uint64_t sum = 0, added = 0;

    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);
        const uint32_t tree = forest->tree[slot];

        if (tree != last) {
            p->units[unit].weight = add_weight(p->units[unit].weight, sum - added);
            added = sum;
            unit = unit_of(p, tree);
            last = tree;
        }
        words[row] = unit;
        sum += scale == ESPL__SCALE_ONE ? 1 : espl__row_weight(forest, scale, slot, tree);
        if (p->is_top_down) {
            note_slot(p, unit, slot);
        }
    }
    p->units[unit].weight = add_weight(p->units[unit].weight, sum - added);
    return sum;
}

// Assign a job to each hierarchy, in the order of their numbers. A job is sorted by slot if some
// hierarchy in it is out of order.
static void cut_hierarchies(espl__partition *p, uint32_t job_limit)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < p->chunk_count; ++i) {
        whole += number_chunk(p, &p->chunks[i]);
    }
    espl__cutter c = espl__cutter_begin(p, whole, job_limit);

    for (size_t i = 0; i < p->unit_count; ++i) {
        espl__unit *const unit = &p->units[i];

        (void)espl__cutter_room(&c);
        espl__cutter_add(&c, unit->weight);
        unit->job = (uint16_t)c.job;
        if (unit->is_unordered) {
            p->is_sorted[c.job] = p->has_sorted = true;
        }
    }
    ESPL_CHECK(c.job < job_limit && p->unit_count <= p->row_count);
    p->job_count = c.job + 1;
    p->group_count = p->unit_count;
}

// --- Pieces ---

// Job of a row. Precondition: rows have the numbers of hierarchies.
static uint32_t job_of_row(const espl__partition *p, const espl__partition_chunk *at, uint32_t row)
{
    ESPL_CHECK_FULL(p->words[at->begin + row] < p->unit_count);
    return p->units[p->words[at->begin + row]].job;
}

// Append the pieces of a chunk to `loose`: consecutive rows of one job.
// @param count  pieces so far.
// @return pieces with these.
static size_t list_pieces(espl__partition *p, uint32_t number, size_t count)
{
    const espl__partition_chunk *const at = &p->chunks[number];
    const uint32_t rows = espl__partition_rows(p, at);
    uint32_t first = 0, job = p->is_by_chunk ? p->units[number].job : job_of_row(p, at, 0);

    for (uint32_t row = p->is_by_chunk ? rows : 1; row <= rows; ++row) {
        const uint32_t next = row < rows ? job_of_row(p, at, row) : ESPL__NONE;

        if (next != job) {
            p->split_rows += row - first < rows ? row - first : 0;
            p->loose[count++] =
                (espl__row_piece){number, (uint8_t)first, (uint8_t)(row - first), (uint16_t)job};
            first = row;
            job = next;
        }
    }
    return count;
}

// Count the pieces of each job, and turn the counts into begins. In a job that is sorted each row
// becomes a piece.
static void count_pieces(espl__partition *p, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const espl__row_piece *const piece = &p->loose[i];

        p->begins[piece->job + 1] += p->is_sorted[piece->job] ? piece->count : 1;
    }
    for (uint32_t job = 0; job < p->job_count; ++job) {
        p->begins[job + 1] += p->begins[job];
    }
}

// Append a sort key for each row of a piece.
// @return keys with these.
static size_t list_keys(espl__partition *p, const espl__row_piece *piece, size_t count)
{
    const espl__store *const store = &p->world->store;
    const espl__chunk *const chunk = &store->chunks[p->chunks[piece->at].chunk];

    for (uint32_t row = piece->first; row < (uint32_t)piece->first + piece->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);

        p->keys[count++] = (espl__sort_key){slot, piece->at * ESPL__CHUNK_ROWS + row};
    }
    return count;
}

// Write the rows of jobs that are sorted, parents first.
// @param at  [job_count] where the next piece of each job belongs.
static void put_sorted(espl__partition *p, size_t pieces, uint32_t *at)
{
    size_t count = 0;

    for (size_t i = 0; i < pieces; ++i) {
        if (p->is_sorted[p->loose[i].job]) {
            count = list_keys(p, &p->loose[i], count);
        }
    }
    ESPL_CHECK(count != 0 && count <= p->row_count);
    espl__sort_by_key(&p->keys, &p->spare_keys, count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t number = p->keys[i].number / ESPL__CHUNK_ROWS;
        const uint32_t row = p->keys[i].number % ESPL__CHUNK_ROWS;
        const uint32_t job = job_of_row(p, &p->chunks[number], row);

        p->pieces[at[job]++] = (espl__row_piece){number, (uint8_t)row, 1, (uint16_t)job};
    }
}

// Sort the pieces by job. Within a job they keep the order of the query, or are sorted by slot.
static void sort_pieces(espl__partition *p)
{
    uint32_t at[ESPL_PARALLEL_JOB_LIMIT];
    size_t count = 0;

    for (uint32_t i = 0; i < p->chunk_count; ++i) {
        count = list_pieces(p, i, count);
    }
    count_pieces(p, count);
    ESPL_CHECK(count <= p->row_count && p->begins[p->job_count] <= p->row_count);
    memcpy(at, p->begins, sizeof at);
    for (size_t i = 0; i < count; ++i) {
        const espl__row_piece piece = p->loose[i];

        if (!p->is_sorted[piece.job]) {
            p->pieces[at[piece.job]++] = piece;
        }
    }
    if (p->has_sorted) {
        put_sorted(p, count, at);
    }
}

void espl__partition_members(espl__partition *p, uint32_t job_limit)
{
    // With few rows a single chunk is too large a set. Top-down rows need the hierarchy of each.
    const bool may_unite = !p->is_top_down && p->row_count / SET_PARTS >= (size_t)ESPL__CHUNK_ROWS;

    ESPL_CHECK(p->has_members && p->marks != NULL);
    p->is_by_chunk = may_unite && unite_chunks(p);
    if (p->is_by_chunk) {
        cut_sets(p, job_limit);
    } else {
        // Marks by chunk are below the new base, so that they no longer count.
        p->base += (uint32_t)p->row_count;
        cut_hierarchies(p, job_limit);
    }
    sort_pieces(p);
}

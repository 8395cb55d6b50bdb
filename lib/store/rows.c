// SPDX-License-Identifier: MIT
// Rows in chunks: memory reserved before a structural change, batched appends and moves within it,
// and the settle that closes the holes at its end. Only the reserves can fail or allocate.
#include "lib/store/store.h"

#include <string.h>

_Static_assert((int)ESPL__CHUNK_ROWS <= 128, "two words mark the rows that leave");

// Rows [first, first + count) of one chunk.
typedef struct span {
    uint32_t chunk, first, count;
} span;

// One column of a destination, and where its values come from.
typedef struct column_pair {
    uint32_t size;     // bytes of a value
    uint32_t to, from; // offsets in the blocks; from is ESPL__NONE where the values are zeros
} column_pair;

typedef struct column_pairs {
    column_pair items[ESPL_SET_LIMIT];
    size_t count;
} column_pairs;

// --- Memory ---

static size_t chunks_for(const espl__archetype *archetype, size_t rows)
{
    return rows / archetype->capacity + (rows % archetype->capacity != 0);
}

// Have the archetype visited by the next settle. The list has room for every archetype.
static void note_change(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];

    if (!archetype->is_changed) {
        archetype->is_changed = true;
        ESPL_ARRAY_PUSH(store->changed, number);
    }
}

// Room for `more` chunk numbers in the table and, for every number, in the lists of numbers.
static espl_status reserve_numbers(espl__store *store, size_t more)
{
    const size_t free_count = espl__array_length(store->free_chunks);
    const size_t added = more > free_count ? more - free_count : 0;
    const size_t after = espl__array_length(store->chunks) + added;
    const size_t marked = espl__array_length(store->changed_chunks);

    if (added > ESPL__NONE || after > ESPL__NONE) {
        return ESPL_ERR_LIMIT;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->chunks, added) ||
        !ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->free_chunks, after - free_count) ||
        !ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->changed_chunks, after - marked)) {
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

// Take a chunk number, the last freed first; reserved.
static uint32_t take_number(espl__store *store)
{
    const size_t free_count = espl__array_length(store->free_chunks);

    if (free_count > 0) {
        espl__array_set_length(store->free_chunks, free_count - 1);
        return store->free_chunks[free_count - 1];
    }
    ESPL_ARRAY_PUSH(store->chunks, (espl__chunk){0});
    return (uint32_t)espl__array_length(store->chunks) - 1;
}

// Append an empty chunk to an archetype. False where there is no memory for its block.
static bool add_chunk(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];
    unsigned char *const bytes = espl__heap_take(
        store->heap, ESPL__FOR_STORE, 1, archetype->chunk_bytes, archetype->block_alignment);

    if (bytes == NULL) {
        return false;
    }
    const uint32_t chunk = take_number(store);
    uint64_t *const versions = (uint64_t *)(void *)(bytes + archetype->versions_offset);

    memset(versions, 0, archetype->chunk_bytes - archetype->versions_offset);
    store->chunks[chunk] = (espl__chunk){
        .bytes = bytes,
        .archetype = number,
        .position = (uint32_t)espl__array_length(archetype->chunks),
        .versions = versions,
    };
    ESPL_ARRAY_PUSH(archetype->chunks, chunk);
    archetype->reserved += archetype->capacity;
    return true;
}

void espl__chunk_drop(espl__store *store, espl__archetype *archetype)
{
    const size_t last = espl__array_length(archetype->chunks) - 1;
    const uint32_t number = archetype->chunks[last];
    espl__chunk *const chunk = &store->chunks[number];

    ESPL_CHECK(chunk->count == 0);
    espl__heap_give(store->heap, ESPL__FOR_STORE, chunk->bytes, 1, archetype->chunk_bytes,
                    archetype->block_alignment);
    *chunk = (espl__chunk){.position = (uint32_t)espl__array_length(store->free_chunks)};
    ESPL_ARRAY_PUSH(store->free_chunks, number);
    espl__array_set_length(archetype->chunks, last);
    archetype->reserved -= archetype->capacity;
}

// Append `more` empty chunks, or none.
static espl_status add_chunks(espl__store *store, uint32_t number, size_t more)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const espl_status status = reserve_numbers(store, more);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype->chunks, more)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t added = 0; added < more; ++added) {
        if (add_chunk(store, number)) {
            continue;
        }
        // Numbers go back in reverse order, so that the next reserve takes the same ones.
        for (; added > 0; --added) {
            espl__chunk_drop(store, archetype);
        }
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

espl_status espl__rows_reserve(espl__store *store, uint32_t number, size_t rows)
{
    espl__archetype *const archetype = &store->archetypes[number];
    size_t total = 0;

    if (!espl__size_add(&total, archetype->count, rows)) {
        return ESPL_ERR_LIMIT;
    }
    if (total > archetype->reserved) {
        const size_t more = chunks_for(archetype, total) - espl__array_length(archetype->chunks);
        const espl_status status = add_chunks(store, number, more);

        if (status != ESPL_OK) {
            return status;
        }
    }

    if (rows > archetype->wanted) {
        archetype->wanted = rows;
    }
    note_change(store, number);
    return ESPL_OK;
}

espl_status espl__rows_keep(espl__store *store, uint32_t number, size_t rows)
{
    const espl_status status = espl__rows_reserve(store, number, rows);
    espl__archetype *const archetype = &store->archetypes[number];

    if (status == ESPL_OK && archetype->count + rows > archetype->floor) {
        archetype->floor = archetype->count + rows;
    }
    return status;
}

// --- Adding ---

// Open at most `wanted` rows at the end of an archetype: as many as its last chunk takes.
static span open_rows(espl__store *store, espl__archetype *archetype, size_t wanted)
{
    ESPL_CHECK(archetype->count < archetype->reserved);
    const uint32_t number = archetype->chunks[archetype->count / archetype->capacity];
    espl__chunk *const chunk = &store->chunks[number];
    const uint32_t room = archetype->capacity - chunk->count;
    const uint32_t count = wanted < room ? (uint32_t)wanted : room;
    const span rows = {number, chunk->count, count};

    chunk->count += count;
    archetype->count += count;
    return rows;
}

// Note that each column of a chunk is written: rows come in, or change places there.
static void stamp_chunk(espl__store *store, espl__chunk *chunk)
{
    const size_t columns = espl__array_length(store->archetypes[chunk->archetype].columns);

    store->version += 1;
    for (size_t i = 0; i <= columns; ++i) {
        chunk->versions[i] = store->version;
    }
}

// Point the records of rows whose handles are in place at them, and mirror their slots.
static void claim_rows(espl__store *store, const espl__archetype *archetype, span rows)
{
    espl__chunk *const chunk = &store->chunks[rows.chunk];
    const espl_entity *const entities = espl__chunk_entities(chunk);
    const uint32_t end = rows.first + rows.count;

    stamp_chunk(store, chunk);
    for (uint32_t row = rows.first; row < end; ++row) {
        espl__record *const record = &store->records[entities[row].index];

        record->chunk = rows.chunk;
        record->row = row;
    }
    if (archetype->placement_offset == ESPL__NONE) {
        return;
    }

    uint32_t *const slots = (uint32_t *)(void *)(chunk->bytes + archetype->placement_offset);
    for (uint32_t row = rows.first; row < end; ++row) {
        slots[row] = store->records[entities[row].index].slot;
    }
}

// Pair each column of `to` but the slots with that of `from`, which may be NULL: all zeros.
static void pair_columns(column_pairs *pairs, const espl__archetype *to,
                         const espl__archetype *from)
{
    const size_t to_count = espl__array_length(to->columns);
    const size_t from_count = from == NULL ? 0 : espl__array_length(from->columns);
    size_t next = 0;

    pairs->count = 0;
    for (size_t i = 0; i < to_count; ++i) {
        const espl__column column = to->columns[i];

        while (next < from_count && from->columns[next].component < column.component) {
            next += 1;
        }
        const bool is_shared =
            next < from_count && from->columns[next].component == column.component;
        if (column.component != ESPL_PLACEMENT) {
            pairs->items[pairs->count++] = (column_pair){
                column.size, column.offset, is_shared ? from->columns[next].offset : ESPL__NONE};
        }
    }
}

// Give rows the values of one source row; without a source only zeros are asked for.
static void fill_rows(const espl__store *store, const column_pairs *pairs, span rows,
                      const espl__record *source)
{
    unsigned char *const bytes = store->chunks[rows.chunk].bytes;

    for (size_t i = 0; i < pairs->count; ++i) {
        const column_pair pair = pairs->items[i];
        unsigned char *const to = bytes + pair.to + (size_t)rows.first * pair.size;

        if (pair.from == ESPL__NONE) {
            memset(to, 0, (size_t)rows.count * pair.size);
            continue;
        }
        espl__value_repeat(
            to, store->chunks[source->chunk].bytes + pair.from + (size_t)source->row * pair.size,
            pair.size, rows.count);
    }
}

// Append rows for indices taken before, with the values of a source or, where it is NULL, zeros.
static void add_rows(espl__store *store, uint32_t number, const espl__record *source,
                     const uint32_t *indices, size_t count)
{
    espl__archetype *const to = &store->archetypes[number];
    column_pairs pairs;

    pair_columns(&pairs, to,
                 source == NULL ? NULL
                                : &store->archetypes[store->chunks[source->chunk].archetype]);
    for (size_t done = 0; done < count;) {
        const span rows = open_rows(store, to, count - done);
        espl_entity *const entities = espl__chunk_entities(&store->chunks[rows.chunk]);

        for (uint32_t i = 0; i < rows.count; ++i) {
            entities[rows.first + i] = espl__entity_at(store, indices[done + i]);
        }
        claim_rows(store, to, rows);
        fill_rows(store, &pairs, rows, source);
        done += rows.count;
    }
}

void espl__row_add(espl__store *store, uint32_t archetype, uint32_t index)
{
    add_rows(store, archetype, NULL, &index, 1);
}

void espl__rows_add_copies(espl__store *store, uint32_t archetype, uint32_t source_index,
                           const uint32_t *indices, size_t count)
{
    const espl__record source = store->records[source_index];

    ESPL_CHECK(source.row < ESPL__CHUNK_ROWS);
    add_rows(store, archetype, &source, indices, count);
}

// --- Moving and removing ---

static void mark_leaving(espl__store *store, uint32_t number, const uint32_t *rows, size_t count)
{
    espl__chunk *const chunk = &store->chunks[number];

    if (chunk->leaving_count == 0) {
        ESPL_ARRAY_PUSH(store->changed_chunks, number);
    }
    note_change(store, chunk->archetype);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t bit = UINT64_C(1) << (rows[i] & 63);

        ESPL_CHECK(rows[i] < chunk->count && (chunk->leaving[rows[i] >> 6] & bit) == 0);
        chunk->leaving[rows[i] >> 6] |= bit;
    }
    chunk->leaving_count += (uint32_t)count;
    store->archetypes[chunk->archetype].leaving_count += count;
}

// Copy values of rows that stand in ascending order, one copy for each run of neighbours.
static void gather(unsigned char *to, const unsigned char *from, size_t size, const uint32_t *rows,
                   size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t run = 1;

        while (done + run < count && rows[done + run] == rows[done] + run) {
            run += 1;
        }
        memcpy(to + done * size, from + rows[done] * size, run * size);
        done += run;
    }
}

static void gather_rows(espl__store *store, const column_pairs *pairs, span to, uint32_t from,
                        const uint32_t *rows)
{
    unsigned char *const to_bytes = store->chunks[to.chunk].bytes;
    const unsigned char *const from_bytes = store->chunks[from].bytes;

    gather(to_bytes + to.first * sizeof(espl_entity), from_bytes, sizeof(espl_entity), rows,
           to.count);
    for (size_t i = 0; i < pairs->count; ++i) {
        const column_pair pair = pairs->items[i];
        unsigned char *const values = to_bytes + pair.to + (size_t)to.first * pair.size;

        if (pair.from == ESPL__NONE) {
            memset(values, 0, (size_t)to.count * pair.size);
        } else {
            gather(values, from_bytes + pair.from, pair.size, rows, to.count);
        }
    }
}

void espl__rows_move(espl__store *store, uint32_t chunk, uint32_t archetype, const uint32_t *rows,
                     size_t count)
{
    const uint32_t source = store->chunks[chunk].archetype;
    espl__archetype *const to = &store->archetypes[archetype];
    column_pairs pairs;

    if (count == 0 || source == archetype) {
        return;
    }
    mark_leaving(store, chunk, rows, count);

    pair_columns(&pairs, to, &store->archetypes[source]);
    for (size_t done = 0; done < count;) {
        const span opened = open_rows(store, to, count - done);

        gather_rows(store, &pairs, opened, chunk, rows + done);
        claim_rows(store, to, opened);
        done += opened.count;
    }
}

void espl__rows_remove(espl__store *store, uint32_t chunk, const uint32_t *rows, size_t count)
{
    const espl_entity *const entities = espl__chunk_entities(&store->chunks[chunk]);

    if (count == 0) {
        return;
    }
    mark_leaving(store, chunk, rows, count);

    // An index released before, and perhaps taken anew, has another place or none.
    for (size_t i = 0; i < count; ++i) {
        espl__record *const record = &store->records[entities[rows[i]].index];

        if (record->chunk == chunk && record->row == rows[i]) {
            record->row = ESPL__NONE;
        }
    }
}

// --- Settling ---

// Return the first row in [row, end) whose mark differs from `skipped` (0 or all ones), or end.
static uint32_t scan_marks(const espl__chunk *chunk, uint64_t skipped, uint32_t row, uint32_t end)
{
    while (row < end) {
        const uint64_t word = (chunk->leaving[row >> 6] ^ skipped) >> (row & 63);

        if (word != 0) {
            const uint32_t found = row + (uint32_t)__builtin_ctzll(word);

            return found < end ? found : end;
        }
        row = (row | 63) + 1;
    }
    return end;
}

static uint32_t next_leaving(const espl__chunk *chunk, uint32_t row, uint32_t end)
{
    return scan_marks(chunk, 0, row, end);
}

static uint32_t next_staying(const espl__chunk *chunk, uint32_t row, uint32_t end)
{
    return scan_marks(chunk, UINT64_MAX, row, end);
}

// Take the next neighbours, at most `wanted`, of those that stay but stand past the new end.
static span take_tail(espl__store *store, espl__archetype *archetype, uint32_t wanted)
{
    // There are as many of them as holes below the new end, so that the walk ends.
    for (;;) {
        ESPL_CHECK(archetype->tail < archetype->count);
        const size_t position = archetype->tail / archetype->capacity;
        const size_t start = position * archetype->capacity;
        const uint32_t number = archetype->chunks[position];
        const espl__chunk *const chunk = &store->chunks[number];
        const uint32_t first =
            next_staying(chunk, (uint32_t)(archetype->tail - start), chunk->count);

        if (first < chunk->count) {
            const uint32_t room = chunk->count - first;
            const uint32_t limit = first + (wanted < room ? wanted : room);
            const uint32_t end = next_leaving(chunk, first, limit);

            archetype->tail = start + end;
            return (span){number, first, end - first};
        }
        archetype->tail = start + archetype->capacity;
    }
}

// Copy rows to another place of the same archetype, slots included.
static void move_within(espl__store *store, const espl__archetype *archetype, span to, span from)
{
    unsigned char *const to_bytes = store->chunks[to.chunk].bytes;
    const unsigned char *const from_bytes = store->chunks[from.chunk].bytes;
    const size_t column_count = espl__array_length(archetype->columns);

    memcpy(to_bytes + to.first * sizeof(espl_entity), from_bytes + from.first * sizeof(espl_entity),
           to.count * sizeof(espl_entity));
    for (size_t i = 0; i < column_count; ++i) {
        const espl__column column = archetype->columns[i];
        const size_t size = column.size;

        memcpy(to_bytes + column.offset + to.first * size,
               from_bytes + column.offset + from.first * size, to.count * size);
    }
}

// Fill the holes of one chunk below its archetype's new end.
static void fill_holes(espl__store *store, uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];
    espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const size_t start = (size_t)chunk->position * archetype->capacity;
    const size_t staying = archetype->count - archetype->leaving_count;
    const size_t below = staying > start ? staying - start : 0;
    const uint32_t end = below < chunk->count ? (uint32_t)below : chunk->count;
    uint32_t row = next_leaving(chunk, 0, end);

    while (row < end) {
        const uint32_t run = next_staying(chunk, row, end) - row;
        const span from = take_tail(store, archetype, run);
        const span to = {number, row, from.count};

        move_within(store, archetype, to, from);
        claim_rows(store, archetype, to);
        row = next_leaving(chunk, row + from.count, end);
    }
}

// Set the new counts of an archetype, and of the chunks past its new end.
static void cut_tail(espl__store *store, espl__archetype *archetype)
{
    const size_t staying = archetype->count - archetype->leaving_count;
    size_t position = staying / archetype->capacity;

    for (; position * archetype->capacity < archetype->count; ++position) {
        const size_t start = position * archetype->capacity;

        store->chunks[archetype->chunks[position]].count =
            staying > start ? (uint32_t)(staying - start) : 0;
    }
    archetype->count = staying;
    archetype->leaving_count = 0;
}

// Free the chunks that neither the rows nor a change like this one need.
static void drop_surplus(espl__store *store, espl__archetype *archetype)
{
    const size_t spare = chunks_for(archetype, archetype->count) + 1;
    const size_t again = chunks_for(archetype, archetype->count + archetype->wanted);
    const size_t kept = chunks_for(archetype, archetype->floor);
    size_t limit = spare > again ? spare : again;

    limit = limit > kept ? limit : kept;
    while (espl__array_length(archetype->chunks) > limit) {
        espl__chunk_drop(store, archetype);
    }
    archetype->wanted = 0;
}

void espl__rows_settle(espl__store *store)
{
    const size_t archetype_count = espl__array_length(store->changed);
    const size_t chunk_count = espl__array_length(store->changed_chunks);

    for (size_t i = 0; i < archetype_count; ++i) {
        espl__archetype *const archetype = &store->archetypes[store->changed[i]];

        archetype->tail = archetype->count - archetype->leaving_count;
    }
    for (size_t i = 0; i < chunk_count; ++i) {
        fill_holes(store, store->changed_chunks[i]);
    }

    // The marks tell holes from fillers until all holes are filled.
    for (size_t i = 0; i < chunk_count; ++i) {
        espl__chunk *const chunk = &store->chunks[store->changed_chunks[i]];

        chunk->leaving_count = 0;
        chunk->leaving[0] = 0;
        chunk->leaving[1] = 0;
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        espl__archetype *const archetype = &store->archetypes[store->changed[i]];

        cut_tail(store, archetype);
        drop_surplus(store, archetype);
        archetype->is_changed = false;
    }
    espl__array_set_length(store->changed, 0);
    espl__array_set_length(store->changed_chunks, 0);
}

// SPDX-License-Identifier: MIT
// Rows in chunks: batched appends and moves within a structural change, and the settle that closes
// the holes at its end. Room was reserved before, so that nothing here can fail or allocate.
#include "lib/store/store.h"

#include "lib/base/ahead.h"

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
static void stamp_chunk(espl__store *store, uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const size_t columns = espl__array_length(store->archetypes[chunk->archetype].columns);

    store->version += 1;
    for (size_t i = 0; i <= columns; ++i) {
        chunk->versions[i] = store->version;
    }
}

size_t espl__rows_open(espl__store *store, uint32_t number, size_t count)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const size_t first = archetype->count;

    while (archetype->count < first + count) {
        const span rows = open_rows(store, archetype, first + count - archetype->count);

        stamp_chunk(store, rows.chunk);
    }
    return first;
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
        if (column.component != ESPL_TRANSFORM) {
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

// Give rows to entities: their handles, and their records as a whole. No slot is known yet.
static void give_rows(const espl__store *store, span rows, const espl_entity *entities,
                      const uint32_t *order)
{
    const espl__chunk *const chunk = &store->chunks[rows.chunk];
    espl_entity *const handles = espl__chunk_entities(chunk) + rows.first;
    espl__record *const records = store->records;

    for (uint32_t i = 0; i < rows.count; ++i) {
        const espl_entity entity = entities[order[i]];

        handles[i] = entity;
        records[entity.index] =
            (espl__record){entity.generation, rows.chunk, rows.first + i, ESPL__NONE};
    }
    if (chunk->slots_offset != ESPL__NONE) {
        uint32_t *const slots = (uint32_t *)(void *)(chunk->bytes + chunk->slots_offset);

        memset(slots + rows.first, 0xff, rows.count * sizeof *slots);
    }
}

void espl__rows_copy(const espl__store *store, const espl__copies *copies, size_t begin, size_t end)
{
    const espl__archetype *const to = &store->archetypes[copies->archetype];
    const espl__archetype *from = NULL;
    espl__record source = {0};
    column_pairs pairs;

    if (copies->source != ESPL__NONE) {
        source = store->records[copies->source];
        ESPL_CHECK(source.row < store->chunks[source.chunk].count);
        from = &store->archetypes[store->chunks[source.chunk].archetype];
    }
    pair_columns(&pairs, to, from);
    while (begin < end) {
        const uint32_t row = (uint32_t)((copies->first + begin) % to->capacity);
        const size_t room = to->capacity - row;
        const span rows = {to->chunks[(copies->first + begin) / to->capacity], row,
                           (uint32_t)(end - begin < room ? end - begin : room)};

        give_rows(store, rows, copies->entities, copies->order + begin);
        fill_rows(store, &pairs, rows, &source);
        begin += rows.count;
    }
}

void espl__row_add(espl__store *store, uint32_t archetype, uint32_t index)
{
    static const uint32_t order = 0;
    const espl_entity entity = espl__entity_at(store, index);
    const espl__copies one = {.archetype = archetype,
                              .source = ESPL__NONE,
                              .first = espl__rows_open(store, archetype, 1),
                              .entities = &entity,
                              .order = &order,
                              .count = 1};

    espl__rows_copy(store, &one, 0, 1);
}

// --- Moving and removing ---

// Point the records of rows whose handles are in place at them, and mirror their slots.
static void claim_rows(espl__store *store, span rows)
{
    const espl__chunk *const chunk = &store->chunks[rows.chunk];
    const espl_entity *const entities = espl__chunk_entities(chunk);
    uint32_t *const slots = chunk->slots_offset != ESPL__NONE
                                ? (uint32_t *)(void *)(chunk->bytes + chunk->slots_offset)
                                : NULL;

    for (uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
        espl__record *const record = &store->records[entities[row].index];

        record->chunk = rows.chunk;
        record->row = row;
        if (slots != NULL) {
            slots[row] = record->slot;
        }
    }
}

void espl__chunk_note_leaving(espl__store *store, uint32_t number)
{
    ESPL_ARRAY_PUSH(store->changed_chunks, number);
    espl__archetype_note_change(store, store->chunks[number].archetype);
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
    for (size_t i = 0; i < count; ++i) {
        espl__row_mark_leaving(store, chunk, rows[i]);
    }

    pair_columns(&pairs, to, &store->archetypes[source]);
    for (size_t done = 0; done < count;) {
        const span opened = open_rows(store, to, count - done);

        gather_rows(store, &pairs, opened, chunk, rows + done);
        stamp_chunk(store, opened.chunk);
        claim_rows(store, opened);
        done += opened.count;
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

    if (row < end) {
        stamp_chunk(store, number);
    }
    while (row < end) {
        const uint32_t run = next_staying(chunk, row, end) - row;
        const span from = take_tail(store, archetype, run);
        const span to = {number, row, from.count};

        move_within(store, archetype, to, from);
        claim_rows(store, to);
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

void espl__rows_settle(espl__store *store)
{
    const size_t archetype_count = espl__array_length(store->changed);
    const size_t chunk_count = espl__array_length(store->changed_chunks);

    for (size_t i = 0; i < chunk_count; ++i) {
        const espl__chunk *const chunk = &store->chunks[store->changed_chunks[i]];

        store->archetypes[chunk->archetype].leaving_count += chunk->leaving_count;
    }
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
        espl__rows_drop_surplus(store, archetype);
        archetype->is_changed = false;
    }
    espl__array_set_length(store->changed, 0);
    espl__array_set_length(store->changed_chunks, 0);
}

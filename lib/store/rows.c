// SPDX-License-Identifier: MIT
// Rows in chunks: batched appends and moves within a structural change, and the settle that
// compacts the archetypes at its end. The room was reserved before, so that no function here can
// fail.
//
// The rows of an archetype are numbered through its chunks: row n is row n % capacity of chunk
// number n / capacity in its list. During a structural change rows are appended at the end. A row
// that is removed, or moved to another archetype, stays where it is and has its bit of `leaving`
// set, so that no row moves twice and pointers to values hold until the settle.
#include "lib/store/rows.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"

#include <string.h>

_Static_assert((int)ESPL__CHUNK_ROWS <= 128, "espl__chunk.leaving has 128 bits");

// Rows [first, first + count) of a chunk.
typedef struct row_range {
    uint32_t chunk, first, count;
} row_range;

// The chunk of a row, by its position among the chunks of the archetype. Rows are counted in 32
// bits (see espl__rows_reserve()), and a division of 32 bits is faster.
static inline uint32_t row_position(const espl__archetype *archetype, size_t row)
{
    ESPL_CHECK_FULL(row <= UINT32_MAX);
    return (uint32_t)row / archetype->capacity;
}

// --- Appending ---

// Append at most `wanted` rows to an archetype: as many as fit the chunk at its end, which is the
// first one that is not full. A caller repeats this until it has all rows.
static row_range append_rows(espl__store *store, espl__archetype *archetype, size_t wanted)
{
    ESPL_CHECK(wanted > 0 && archetype->count < archetype->reserved);
    const uint32_t number = archetype->chunks[row_position(archetype, archetype->count)];
    espl__chunk *const chunk = &store->chunks[number];
    const uint32_t room = archetype->capacity - chunk->count;
    const uint32_t count = wanted < room ? (uint32_t)wanted : room;
    const row_range rows = {number, chunk->count, count};

    ESPL_CHECK(count > 0 && chunk->count == archetype->count % archetype->capacity);
    chunk->count += count;
    archetype->count += count;
    return rows;
}

// Count all columns of a chunk as written, because rows come in or change places there.
static inline void bump_versions(espl__store *store, const espl__archetype *archetype,
                                 uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const size_t columns = espl__array_length(archetype->columns);
    const uint64_t version = ++store->version;

    ESPL_CHECK_FULL(archetype == &store->archetypes[chunk->archetype]);

    for (size_t i = 0; i <= columns; ++i) {
        chunk->versions[i] = version;
    }
}

// Give a place to a record, and its handle to the row.
static void put_in_place(espl__store *store, uint32_t index, const espl__record *place)
{
    espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[place->chunk];

    record->chunk = place->chunk;
    record->row = place->row;
    record->slot = place->slot;
    espl__chunk_entities(chunk)[espl__record_row(record)] = espl__entity_at(store, index);
    bump_versions(store, &store->archetypes[chunk->archetype], record->chunk);
}

void espl__rows_exchange(espl__store *store, uint32_t a, uint32_t b)
{
    const espl__record of_a = store->records[a], of_b = store->records[b];
    const espl_entity both[2] = {espl__entity_at(store, a), espl__entity_at(store, b)};

    ESPL_CHECK(espl__index_is_alive(store, a) && espl__index_is_alive(store, b));
    put_in_place(store, a, &of_b);
    put_in_place(store, b, &of_a);
    espl__store_mark_entities(store, both, 2);
}

// Lists of one archetype often follow each other, as those of the nodes of one source. Each chunk that
// gets rows of theirs is one write of its columns.
void espl__rows_open(espl__store *store, espl__copies *copies, size_t count)
{
    for (size_t i = 0; i < count;) {
        const uint32_t number = copies[i].archetype;
        espl__archetype *const archetype = &store->archetypes[number];
        size_t end = archetype->count;

        for (; i < count && copies[i].archetype == number; ++i) {
            copies[i].first = (uint32_t)end;
            end += copies[i].count;
        }
        while (archetype->count < end) {
            const row_range rows = append_rows(store, archetype, end - archetype->count);

            bump_versions(store, archetype, rows.chunk);
        }
    }
}

// The columns of an archetype that are left to be searched: [at, count).
typedef struct column_walk {
    const espl__column *columns;
    size_t at, count;
} column_walk;

// Begin after the column of ESPL_TRANSFORM, which is the first one.
static inline column_walk begin_walk(const espl__archetype *of)
{
    return (column_walk){of->columns, of->placement_offset != ESPL__NONE ? 1 : 0,
                         espl__array_length(of->columns)};
}

// Return the offset of the column of a component, or ESPL__NONE. Both archetypes of a copy have
// ascending columns, so that they are merged.
static inline uint32_t find_offset(column_walk *from, espl_component component)
{
    while (from->at < from->count && from->columns[from->at].component < component) {
        from->at += 1;
    }
    return from->at < from->count && from->columns[from->at].component == component
               ? from->columns[from->at].offset
               : ESPL__NONE;
}

// Write the values of one source row to rows of an archetype, but not the slot column. Columns that
// the source lacks become zeros, and so do those of ESPL_COMPONENT_UNIQUE. The source may be in the same chunk, before the rows.
// @param bytes  of the chunk with the rows.
// @param from   columns of the source; of no source: none.
static inline void copy_source_row(const espl__archetype *to, unsigned char *bytes, uint32_t first,
                                   uint32_t count, column_walk from, const unsigned char *source,
                                   uint32_t source_row)
{
    for (column_walk walk = begin_walk(to); walk.at < walk.count; ++walk.at) {
        const espl__column *const column = &walk.columns[walk.at];
        const size_t size = column->size;
        unsigned char *const values = bytes + column->offset + first * size;
        const uint32_t offset =
            column->is_unique ? ESPL__NONE : find_offset(&from, column->component);

        if (offset == ESPL__NONE) {
            memset(values, 0, count * size);
        } else if (count == 1) {
            memcpy(values, source + offset + source_row * size, size);
        } else {
            espl__value_repeat(values, source + offset + source_row * size, size, count);
        }
    }
}

// Give rows of a chunk to the next entities in the order: write the handles, the records as a whole,
// and the slot column.
static inline void assign_rows(const espl__store *store, const espl__new_rows *all,
                               const uint32_t *order, row_range rows)
{
    const espl__chunk *const chunk = &store->chunks[rows.chunk];
    const espl_entity *const entities = all->entities;
    const uint32_t *const slots = all->slots;
    espl_entity *const handles = espl__chunk_entities(chunk) + rows.first;
    uint32_t *const column =
        chunk->slots_offset == ESPL__NONE
            ? NULL
            : (uint32_t *)(void *)(chunk->bytes + chunk->slots_offset) + rows.first;
    const uint32_t word = espl__row_word(chunk, rows.first);
    espl__record *const records = store->records;

    ESPL_CHECK(rows.first + rows.count <= chunk->count);
    for (uint32_t i = 0; i < rows.count; ++i) {
        const espl_entity *const entity = &entities[order[i]];
        const uint32_t slot = slots != NULL ? slots[order[i]] : ESPL__NONE;
        espl__record *const record = &records[entity->index];

        ESPL_CHECK_FULL(entity->index < espl__array_length(records));
        handles[i] = *entity;
        record->generation = entity->generation;
        record->chunk = rows.chunk;
        record->row = word + i;
        record->slot = slot;
        if (column != NULL) {
            column[i] = slot;
        }
    }
}

// Give new rows [begin, end) of one list to their entities.
ESPL__INLINE void copy_rows(const espl__store *store, const espl__new_rows *all,
                            const espl__copies *copies, size_t begin, size_t end)
{
    const espl__archetype *const to = &store->archetypes[copies->archetype];
    column_walk from = {NULL, 0, 0};
    const unsigned char *source = NULL;
    uint32_t source_row = 0;
    size_t row = copies->first + (begin - copies->begin);
    uint32_t position = row_position(to, row);

    ESPL_CHECK(copies->begin <= begin && begin < end && end <= copies->begin + copies->count);
    if (copies->source != ESPL__NONE) {
        const espl__record *const record = &store->records[copies->source];
        const espl__chunk *const chunk = &store->chunks[record->chunk];

        source = chunk->bytes;
        source_row = espl__record_row(record);
        ESPL_CHECK(source_row < chunk->count);
        from = begin_walk(&store->archetypes[chunk->archetype]);
    }
    row -= (size_t)position * to->capacity;
    // The rest of the first chunk, then chunk by chunk.
    for (; begin < end; ++position, row = 0) {
        const size_t room = to->capacity - row, left = end - begin;
        const uint32_t number = to->chunks[position], first = (uint32_t)row;
        const uint32_t count = (uint32_t)(left < room ? left : room);

        assign_rows(store, all, all->order + begin, (row_range){number, first, count});
        copy_source_row(to, store->chunks[number].bytes, first, count, from, source, source_row);
        begin += count;
    }
}

// copy_rows() of a list of one row, as the nodes of a single clone have.
static inline void copy_row(const espl__store *store, const espl__new_rows *all,
                            const espl__copies *copies, size_t at)
{
    const espl__archetype *const to = &store->archetypes[copies->archetype];
    const uint32_t position = row_position(to, copies->first);
    const uint32_t row = copies->first - position * to->capacity, number = to->chunks[position];
    unsigned char *const bytes = store->chunks[number].bytes;

    assign_rows(store, all, all->order + at, (row_range){number, row, 1});
    if (copies->source == ESPL__NONE) {
        copy_source_row(to, bytes, row, 1, (column_walk){NULL, 0, 0}, NULL, 0);
        return;
    }
    const espl__record *const record = &store->records[copies->source];
    const espl__chunk *const source = &store->chunks[record->chunk];

    copy_source_row(to, bytes, row, 1, begin_walk(&store->archetypes[source->archetype]),
                    source->bytes, espl__record_row(record));
}

void espl__rows_copy(const espl__store *store, const espl__new_rows *rows,
                     const espl__copies *copies, size_t begin, size_t end)
{
    for (; begin < end; ++copies) {
        const size_t all = copies->begin + copies->count, here = end < all ? end : all;

        if (copies->count == 1) {
            copy_row(store, rows, copies, begin);
        } else {
            copy_rows(store, rows, copies, begin, here);
        }
        begin = here;
    }
}

// A copy of no source with a list of one entity.
void espl__row_add(espl__store *store, uint32_t archetype, uint32_t index)
{
    static const uint32_t order = 0;
    const espl_entity entity = espl__entity_at(store, index);
    const espl__new_rows rows = {.entities = &entity, .order = &order};
    espl__copies one = {.archetype = archetype, .source = ESPL__NONE, .count = 1};

    espl__rows_open(store, &one, 1);
    espl__rows_copy(store, &rows, &one, 0, 1);
}

// --- Moving and removing ---

// Write the place of rows to the records of their handles, and copy the slots of the records to the
// rows.
static void update_records(espl__store *store, row_range rows)
{
    const espl__chunk *const chunk = &store->chunks[rows.chunk];
    const espl_entity *const entities = espl__chunk_entities(chunk);
    uint32_t *const slots = chunk->slots_offset != ESPL__NONE
                                ? (uint32_t *)(void *)(chunk->bytes + chunk->slots_offset)
                                : NULL;

    for (uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
        espl__record *const record = &store->records[entities[row].index];

        ESPL_CHECK_FULL(entities[row].index < espl__array_length(store->records));
        record->chunk = rows.chunk;
        record->row = espl__row_word(chunk, row);
        if (slots != NULL) {
            slots[row] = record->slot;
        }
    }
}

// The last rows of the archetype are what a settle fills the holes with: the records of a few are
// prefetched as well.
void espl__row_prefetch(const espl__store *store, uint32_t index)
{
    enum { FILLERS = 4 };
    const espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const uint32_t row = espl__record_row(record),
                   position = row_position(archetype, archetype->count - 1);
    const espl__chunk *const last = &store->chunks[archetype->chunks[position]];

    espl__prefetch_to_write(espl__chunk_entities(chunk) + row);
    espl__prefetch_to_write(chunk->versions);
    for (size_t i = 0; i < espl__array_length(archetype->columns); ++i) {
        const espl__column column = archetype->columns[i];

        espl__prefetch_to_write(chunk->bytes + column.offset + (size_t)row * column.size);
    }
    for (uint32_t i = last->count > FILLERS ? last->count - FILLERS : 0; i < last->count; ++i) {
        espl__prefetch_to_write(&store->records[espl__chunk_entities(last)[i].index]);
    }
}

void espl__chunk_note_leaving(espl__store *store, uint32_t number)
{
    ESPL_CHECK(store->chunks[number].leaving_count == 1);
    ESPL_ARRAY_PUSH(store->changed_chunks, number);
    espl__archetype_note_change(store, store->chunks[number].archetype);
}

// Copy the values of ascending rows to consecutive places, by one copy for consecutive rows.
static void gather_values(unsigned char *to, const unsigned char *from, size_t size,
                          const uint32_t *rows, size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t length = 1;

        ESPL_CHECK_FULL(done == 0 || rows[done] > rows[done - 1]);
        while (done + length < count && rows[done + length] == rows[done] + length) {
            length += 1;
        }
        memcpy(to + done * size, from + rows[done] * size, length * size);
        done += length;
    }
}

// Copy handles and values of rows of the chunk `number`. The slot column is left out:
// update_records() writes it.
static void gather_rows(const espl__store *store, const espl__archetype *archetype, row_range to,
                        uint32_t number, const uint32_t *rows)
{
    const espl__chunk *const source = &store->chunks[number];
    const espl__archetype *const from = &store->archetypes[source->archetype];
    unsigned char *const bytes = store->chunks[to.chunk].bytes;
    column_walk source_columns = begin_walk(from);

    gather_values(bytes + to.first * sizeof(espl_entity), source->bytes, sizeof(espl_entity), rows,
                  to.count);
    for (column_walk walk = begin_walk(archetype); walk.at < walk.count; ++walk.at) {
        const espl__column *const column = &walk.columns[walk.at];
        unsigned char *const values = bytes + column->offset + (size_t)to.first * column->size;
        const uint32_t offset = find_offset(&source_columns, column->component);

        if (offset == ESPL__NONE) {
            memset(values, 0, (size_t)to.count * column->size);
        } else {
            gather_values(values, source->bytes + offset, column->size, rows, to.count);
        }
    }
}

// The destination may get the rows in several parts, because its last chunk has room for some of
// them only. Handles and values are copied before the records, which find their rows by the
// handles.
void espl__rows_move(espl__store *store, uint32_t chunk, uint32_t archetype, const uint32_t *rows,
                     size_t count)
{
    const uint32_t source = store->chunks[chunk].archetype;
    espl__archetype *const to = &store->archetypes[archetype];

    if (count == 0 || source == archetype) {
        return;
    }
    ESPL_CHECK(count <= to->reserved - to->count && rows[count - 1] < store->chunks[chunk].count);
    for (size_t i = 0; i < count; ++i) {
        espl__row_set_leaving(store, chunk, rows[i]);
    }

    for (size_t done = 0; done < count;) {
        const row_range opened = append_rows(store, to, count - done);

        gather_rows(store, to, opened, chunk, rows + done);
        bump_versions(store, to, opened.chunk);
        update_records(store, opened);
        espl__store_mark_entities(
            store, espl__chunk_entities(&store->chunks[opened.chunk]) + opened.first, opened.count);
        done += opened.count;
    }
}

// --- Settling ---

// A settle makes the rows of each changed archetype consecutive again:
//
//     row          0 1 2 3 4 5 6 7         the new end is the count minus the rows that leave
//     before       a . b . c d . e         count 8, 3 leave, new end 5
//     after        a d b e c               d and e fill the holes below the new end
//
// There are as many rows that stay past the new end (fillers) as holes below it. The fillers are
// taken in ascending order, so that each row moves at most once. The holes are filled chunk by
// chunk, in the order in which the chunks got their first hole, and in ascending order within a
// chunk. So the result does not depend on the order in which rows of one chunk were removed.

// Return the first row in [row, end) whose bit of `leaving` differs from the bits of `skipped`, or
// end.
static uint32_t scan_leaving(const espl__chunk *chunk, uint64_t skipped, uint32_t row, uint32_t end)
{
    ESPL_CHECK(end <= ESPL__CHUNK_ROWS);
    // One word at a time: a shift removes the rows before `row`, and the lowest bit is the next
    // row.
    while (row < end) {
        const uint64_t word = (chunk->leaving[row >> 6] ^ skipped) >> (row & 63);

        if (word != 0) {
            const uint32_t found = row + espl__lowest_bit(word);

            // The word may have a bit past the end.
            return found < end ? found : end;
        }
        row = (row | 63) + 1;
    }
    return end;
}

// Return the first row in [row, end) that leaves, or end.
static uint32_t next_leaving(const espl__chunk *chunk, uint32_t row, uint32_t end)
{
    return scan_leaving(chunk, 0, row, end);
}

// Return the first row in [row, end) that stays, or end.
static uint32_t next_staying(const espl__chunk *chunk, uint32_t row, uint32_t end)
{
    return scan_leaving(chunk, UINT64_MAX, row, end);
}

// Take the next consecutive rows, at most `wanted`, that stay and are past the new end. There are
// as many such rows as holes below the new end, so that the walk finds one.
// @param tail  in and out: the next row of the archetype that may be a filler.
static row_range next_filler(const espl__store *store, const espl__archetype *archetype,
                             size_t *tail, uint32_t wanted)
{
    ESPL_CHECK(wanted > 0);
    for (;;) {
        ESPL_CHECK(*tail < archetype->count);
        const uint32_t position = row_position(archetype, *tail);
        const size_t start = (size_t)position * archetype->capacity;
        const uint32_t number = archetype->chunks[position];
        const espl__chunk *const chunk = &store->chunks[number];
        const uint32_t first = next_staying(chunk, (uint32_t)(*tail - start), chunk->count);

        if (first < chunk->count) {
            const uint32_t room = chunk->count - first;
            const uint32_t limit = first + (wanted < room ? wanted : room);
            const uint32_t end = next_leaving(chunk, first, limit);

            ESPL_CHECK(end > first);
            *tail = start + end;
            return (row_range){number, first, end - first};
        }
        // The rest of the chunk leaves.
        *tail = start + archetype->capacity;
    }
}

// Copy rows to another place of the same archetype, with the slot column.
static void copy_within_archetype(espl__store *store, const espl__archetype *archetype,
                                  row_range to, row_range from)
{
    unsigned char *const to_bytes = store->chunks[to.chunk].bytes;
    const unsigned char *const from_bytes = store->chunks[from.chunk].bytes;
    const size_t column_count = espl__array_length(archetype->columns);

    ESPL_CHECK(to.count == from.count && (to.chunk != from.chunk || to.first < from.first));
    memcpy(to_bytes + to.first * sizeof(espl_entity), from_bytes + from.first * sizeof(espl_entity),
           to.count * sizeof(espl_entity));
    for (size_t i = 0; i < column_count; ++i) {
        const espl__column column = archetype->columns[i];
        const size_t size = column.size;

        memcpy(to_bytes + column.offset + to.first * size,
               from_bytes + column.offset + from.first * size, to.count * size);
    }
}

// The row of a chunk at which its archetype ends after the settle, at most the count of the chunk.
static uint32_t end_after_settle(const espl__chunk *chunk, const espl__archetype *archetype)
{
    const size_t start = (size_t)chunk->position * archetype->capacity;
    const size_t staying = archetype->count - archetype->leaving_count;
    const size_t below = staying > start ? staying - start : 0;

    return below < chunk->count ? (uint32_t)below : chunk->count;
}

// Take the fillers of a chunk: note the first one, and move the tail of the archetype past all of them.
// Holes past the new end need no filler, because truncate_archetype() drops them.
static void take_fillers(espl__store *store, uint32_t number)
{
    espl__chunk *const chunk = &store->chunks[number];
    espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const uint32_t end = end_after_settle(chunk, archetype);
    uint32_t holes = 0;

    chunk->filler = (uint32_t)archetype->tail;
    for (uint32_t row = next_leaving(chunk, 0, end); row < end;) {
        const uint32_t next = next_staying(chunk, row, end);

        holes += next - row;
        row = next_leaving(chunk, next, end);
    }
    if (holes != 0) {
        bump_versions(store, archetype, number);
    }
    for (uint32_t left = holes; left != 0;) {
        left -= next_filler(store, archetype, &archetype->tail, left).count;
    }
}

// Fill the holes of a chunk that are below the new end of its archetype. Consecutive holes and
// consecutive fillers are copied together.
// @param tail  in and out: the next row of the archetype that may be a filler.
static void fill_holes(espl__store *store, uint32_t number, size_t *tail)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const uint32_t end = end_after_settle(chunk, archetype);
    uint32_t row = next_leaving(chunk, 0, end);

    while (row < end) {
        const uint32_t holes = next_staying(chunk, row, end) - row;
        const row_range from = next_filler(store, archetype, tail, holes);
        const row_range to = {number, row, from.count};

        copy_within_archetype(store, archetype, to, from);
        update_records(store, to);
        row = next_leaving(chunk, row + from.count, end);
    }
}

// Job: fill the holes of changed chunks [begin, end), whose fillers were taken. No other job reads or
// writes these holes and fillers. A second call copies the same rows once more, which changes nothing.
static void fill_chunks(void *context, size_t begin, size_t end)
{
    espl__store *const store = context;

    for (size_t i = begin; i < end; ++i) {
        const uint32_t number = store->changed_chunks[i];
        size_t tail = store->chunks[number].filler;

        fill_holes(store, number, &tail);
    }
}

// Fill the holes of all changed chunks on the workers. The fillers of each chunk are chosen before the
// jobs begin, in the order of the chunks, so that they do not depend on the workers.
static void fill_on_workers(espl__store *store, const espl_executor *executor,
                            const espl_hooks *hooks)
{
    const size_t count = espl__array_length(store->changed_chunks);
    const size_t least = 1 + store->fill_least / 1024; // chunks of a job

    for (size_t i = 0; i < count; ++i) {
        take_fillers(store, store->changed_chunks[i]);
    }
    // The settle cannot fail: where the executor loses a job, all holes are filled here.
    if (espl__run_ranges(executor, hooks, fill_chunks, store, count, least) != ESPL_OK) {
        fill_chunks(store, 0, count);
    }
}

// Fill the holes of all changed chunks on this thread.
static void fill_here(espl__store *store)
{
    const size_t count = espl__array_length(store->changed_chunks);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t number = store->changed_chunks[i];
        const espl__chunk *const chunk = &store->chunks[number];
        espl__archetype *const archetype = &store->archetypes[chunk->archetype];
        const uint32_t end = end_after_settle(chunk, archetype);

        if (next_leaving(chunk, 0, end) < end) {
            bump_versions(store, archetype, number);
            fill_holes(store, number, &archetype->tail);
        }
    }
}

// Set the new count of an archetype, and those of the chunks at and past its new end. A chunk
// before the new end is full and stays so.
static void truncate_archetype(espl__store *store, espl__archetype *archetype)
{
    const size_t staying = archetype->count - archetype->leaving_count;

    ESPL_CHECK(archetype->leaving_count <= archetype->count);
    for (size_t position = row_position(archetype, staying);
         position * archetype->capacity < archetype->count; ++position) {
        const size_t start = position * archetype->capacity;

        store->chunks[archetype->chunks[position]].count =
            staying > start ? (uint32_t)(staying - start) : 0;
    }
    archetype->count = staying;
    archetype->leaving_count = 0;
}

// Count the bits of `leaving`, for an assertion.
static uint32_t count_leaving(const espl__chunk *chunk)
{
    return espl__count_bits(chunk->leaving[0]) + espl__count_bits(chunk->leaving[1]);
}

// Remove the rows that leave. The first loop counts them in each archetype, so that the second one
// knows its new end. Only then the holes are filled, because a filler may be in any later chunk of
// the archetype.
static void remove_leaving(espl__store *store, const espl_executor *executor,
                           const espl_hooks *hooks)
{
    const size_t archetype_count = espl__array_length(store->changed);
    const size_t chunk_count = espl__array_length(store->changed_chunks);
    size_t leaving = 0;

    for (size_t i = 0; i < chunk_count; ++i) {
        const espl__chunk *const chunk = &store->chunks[store->changed_chunks[i]];

        ESPL_CHECK(chunk->leaving_count > 0 && chunk->leaving_count <= chunk->count);
        ESPL_CHECK_FULL(chunk->leaving_count == count_leaving(chunk));
        ESPL_CHECK(store->archetypes[chunk->archetype].is_changed);
        store->archetypes[chunk->archetype].leaving_count += chunk->leaving_count;
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        espl__archetype *const archetype = &store->archetypes[store->changed[i]];

        archetype->tail = archetype->count - archetype->leaving_count;
        leaving += archetype->leaving_count;
    }
    // Few rows are copied sooner than workers wake up.
    if (leaving < store->fill_least || espl__executor_is_serial(executor)) {
        fill_here(store);
    } else {
        fill_on_workers(store, executor, hooks);
    }

    // The bits distinguish holes from fillers until all holes are filled.
    for (size_t i = 0; i < chunk_count; ++i) {
        espl__chunk *const chunk = &store->chunks[store->changed_chunks[i]];

        chunk->leaving_count = 0;
        chunk->leaving[0] = 0;
        chunk->leaving[1] = 0;
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        truncate_archetype(store, &store->archetypes[store->changed[i]]);
    }
    espl__array_set_length(store->changed_chunks, 0);
}

void espl__rows_settle(espl__store *store, const espl_executor *executor, const espl_hooks *hooks)
{
    const size_t archetype_count = espl__array_length(store->changed);

    if (espl__array_length(store->changed_chunks) != 0) {
        remove_leaving(store, executor, hooks);
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        espl__archetype *const archetype = &store->archetypes[store->changed[i]];

        ESPL_CHECK(archetype->leaving_count == 0);
        espl__rows_drop_surplus(store, archetype);
        archetype->is_changed = false;
    }
    // The lists keep their memory, which has room for all numbers.
    espl__array_set_length(store->changed, 0);
}

// SPDX-License-Identifier: MIT
// The entities of a change of components (lib/world/change.h): those of an array, the answers to a
// query, an entity and its descendants.
//
// Rows are sorted by chunk without a table: while rows are gathered, espl__chunk.mark is the number
// of the chunk's bucket, from 1, and 0 elsewhere. Invariant: all marks are 0 between calls, also
// after a refusal.
#include "lib/world/change.h"
#include "lib/world/entity_slots.h"
#include "lib/world/query.h"

#include <string.h>

// Fields are set one by one, because the struct has long arrays that are not read before they are
// written.
void espl__change_begin(espl__change *c, espl_world *world)
{
    c->world = world;
    espl__change_list_begin(&c->list, world != NULL ? &world->store : NULL);
    c->added_count = c->removed_count = 0;
    c->commands = NULL;
    c->entities = NULL;
    c->buckets = c->few;
    c->count = c->bucket_count = 0;
    c->capacity = ESPL__CHANGE_FEW;
    c->refused = ESPL__NO_ONE;
}

espl_status espl__change_read(espl__change *c, const espl_change_def *def)
{
    const espl_status status = espl__change_list_read(&c->list, def);

    for (size_t i = 0; i < c->list.value_count; ++i) {
        const espl__value_header *const header = &c->list.values[i].header;

        if (header->size == ESPL__VALUE_TAKEN) {
            c->removed[c->removed_count++] = header->component;
        } else {
            c->added[c->added_count++] = header->component;
        }
    }
    return status;
}

void *espl__change_take(const espl__change *c, size_t count, size_t size)
{
    return espl__heap_take(&c->world->heap, ESPL__FOR_COMMANDS, count, size,
                           _Alignof(espl__max_align));
}

void espl__change_give(const espl__change *c, void *block, size_t count, size_t size)
{
    espl__heap_give(&c->world->heap, ESPL__FOR_COMMANDS, block, count, size,
                    _Alignof(espl__max_align));
}

// Blocks that were never taken are NULL, or the array `few`, which is part of the change.
void espl__change_end(const espl__change *c)
{
    espl__change_give(c, c->commands, c->count, sizeof *c->commands);
    if (c->buckets != c->few) {
        espl__change_give(c, c->buckets, c->capacity, sizeof *c->buckets);
    }
}

// --- Rows ---

// Take memory for the buckets: one for each chunk, and never more than entities.
static espl_status make_room(espl__change *c, size_t entities, size_t chunks)
{
    const size_t wanted = chunks < entities ? chunks : entities;

    if (wanted <= c->capacity) {
        return ESPL_OK;
    }
    espl__bucket *const block = espl__change_take(c, wanted, sizeof *block);

    if (block == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    c->buckets = block;
    c->capacity = wanted;
    return ESPL_OK;
}

// Begin the bucket of a chunk. Precondition: the chunk has none.
// @param first  number of the entity whose row is the first.
static espl__bucket *open_bucket(espl__change *c, uint32_t number, size_t first)
{
    espl__chunk *const chunk = &c->world->store.chunks[number];
    espl__bucket *const opened = &c->buckets[c->bucket_count];

    ESPL_CHECK(c->bucket_count < c->capacity);
    ESPL_CHECK(chunk->mark == 0);
    *opened = (espl__bucket){.chunk = number, .from = chunk->archetype, .first = first};
    chunk->mark = (uint32_t)++c->bucket_count;
    return opened;
}

// Gather the row of a living entity. An entity that is named twice is gathered once.
// @param number  of the entity in the order of the call.
static void take_row(espl__change *c, uint32_t index, size_t number)
{
    const espl__record *const record = &c->world->store.records[index];
    const uint32_t mark = c->world->store.chunks[record->chunk].mark;
    ESPL_CHECK_FULL(mark <= c->bucket_count);
    const uint32_t row = espl__record_row(record);
    ESPL_CHECK_FULL(row < ESPL__CHUNK_ROWS);
    espl__bucket *const in =
        mark != 0 ? &c->buckets[mark - 1] : open_bucket(c, record->chunk, number);

    in->rows[row / ESPL__WORD_BITS] |= UINT64_C(1) << row % ESPL__WORD_BITS;
}

// Postcondition: the marks of all chunks are 0.
static void clear_chunk_marks(const espl__change *c)
{
    for (size_t i = 0; i < c->bucket_count; ++i) {
        c->world->store.chunks[c->buckets[i].chunk].mark = 0;
    }
}

// Take memory for a command for each entity, or for the buckets.
static espl_status make_place(espl__change *c, size_t entities, size_t chunks)
{
    if (!espl__change_is_played(c)) {
        return make_room(c, entities, chunks);
    }
    ESPL_CHECK(c->commands == NULL);
    if (entities != 0) {
        c->commands = espl__change_take(c, entities, sizeof *c->commands);
        c->count = c->commands != NULL ? entities : 0;
    }
    return c->count == entities ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Gather the rows of an array. Handles are checked in order, so that the first one that names no living
// entity is the one refused.
static espl_status take_array_rows(espl__change *c, const espl_entity *entities, size_t count)
{
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl__entity_check(&c->world->store, entities[i]);
        if (status == ESPL_OK) {
            take_row(c, entities[i].index, i);
        } else {
            c->refused = i;
        }
    }
    clear_chunk_marks(c);
    return status;
}

// Write the targets of the commands, with the same checks.
static espl_status take_array_targets(espl__change *c, const espl_entity *entities, size_t count)
{
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl__entity_check(&c->world->store, entities[i]);
        c->commands[i].target = entities[i];
        c->refused = status != ESPL_OK ? i : c->refused;
    }
    return status;
}

espl_status espl__gather_array(espl__change *c, const espl_entity *entities, size_t count)
{
    const espl_status status = make_place(c, count, espl__array_length(c->world->store.chunks));

    ESPL_CHECK(c->bucket_count == 0 && (entities != NULL || count == 0));
    c->entities = entities;
    if (status != ESPL_OK) {
        return status;
    }
    return espl__change_is_played(c) ? take_array_targets(c, entities, count)
                                     : take_array_rows(c, entities, count);
}

// Count the entities that answer a query, and their chunks.
static espl_status count_answers(const espl__change *c, const espl_query_def *def, size_t *entities,
                                 size_t *chunks)
{
    espl_query query;
    const espl_status status = espl__query_start(c->world, def, &query);

    while (status == ESPL_OK && espl_query_next(&query)) {
        *entities += query.count;
        *chunks += 1;
    }
    return status;
}

// Add the rows of a chunk that a query shows: it shows a chunk once, and whole, so that each chunk gets its
// bucket at once.
static void take_chunk(espl__change *c, const espl_query *query, size_t first)
{
    espl__bucket *const in =
        open_bucket(c, c->world->store.records[query->entities[0].index].chunk, first);
    const uint32_t count = (uint32_t)query->count;

    ESPL_CHECK(count <= 2 * ESPL__WORD_BITS);
    for (uint32_t word = 0; word < 2; ++word) {
        const uint32_t before = word * ESPL__WORD_BITS, left = count > before ? count - before : 0;

        in->rows[word] = left >= ESPL__WORD_BITS ? UINT64_MAX : (UINT64_C(1) << left) - 1;
    }
}

// Precondition: there is room for what count_answers() counted, and nothing has changed since.
static void gather_answers(espl__change *c, const espl_query_def *def)
{
    size_t entities = 0;
    espl_query query;
    const espl_status status = espl__query_start(c->world, def, &query);

    ESPL_CHECK(status == ESPL_OK);
    while (espl_query_next(&query)) {
        if (!espl__change_is_played(c)) {
            take_chunk(c, &query, entities);
        }
        for (size_t i = 0; espl__change_is_played(c) && i < query.count; ++i) {
            c->commands[entities + i].target = query.entities[i];
        }
        entities += query.count;
    }
    clear_chunk_marks(c);
}

// Two passes over the query, because memory is taken before the first row is gathered.
espl_status espl__gather_query(espl__change *c, const espl_query_def *def, size_t *entities)
{
    size_t chunks = 0;
    espl_status status = count_answers(c, def, entities, &chunks);

    status = status != ESPL_OK ? status : make_place(c, *entities, chunks);
    if (status == ESPL_OK) {
        gather_answers(c, def);
    }
    return status;
}

// A depth-first walk; what an owned extent leaves out is not entered.
espl_status espl__gather_extent(espl__change *c, uint32_t top, espl_extent extent)
{
    const espl__forest *const forest = &c->world->forest;
    const size_t below = extent == ESPL_EXTENT_ENTITY ? 0 : espl__count_below(forest, top);
    const espl_status status = make_room(c, below + 1, espl__array_length(c->world->store.chunks));
    uint32_t slot = top;

    ESPL_CHECK(!espl__change_is_played(c) && top < forest->end);
    while (status == ESPL_OK && slot != ESPL__NO_SLOT) {
        // A free link is not followed by an owned extent, and neither is what is below it.
        const bool is_in = slot == top || extent == ESPL_EXTENT_SUBTREE ||
                           !espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);

        if (is_in) {
            take_row(c, forest->links[slot].entity, 0);
        }
        slot = espl__next_in_walk(forest, slot, top, is_in && below != 0);
    }
    clear_chunk_marks(c);
    return status;
}

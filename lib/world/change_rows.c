// SPDX-License-Identifier: MIT
// The rows of a change of components (lib/world/change.h): those of an array of entities, of the
// answers to a query, of an entity and its descendants.
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
    c->placement = ESPL__PLACEMENT_STAYS;
    c->add_count = c->remove_count = 0;
    c->entities = c->listed = NULL;
    c->buckets = c->few;
    c->count = c->bucket_count = 0;
    c->capacity = ESPL__CHANGE_FEW;
    c->refused = ESPL__NO_ONE;
    c->cause = (espl__cause){.why = NULL};
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
    espl__change_give(c, c->listed, c->count, sizeof *c->listed);
    if (c->buckets != c->few) {
        espl__change_give(c, c->buckets, c->capacity, sizeof *c->buckets);
    }
}

// --- Rows ---

// Take memory for the buckets. There is one for each chunk, and never more than entities. Where a
// transform is added or removed, a playback moves the rows before they are gathered again: then
// each entity may be in a chunk of its own, whatever the chunks are now.
static espl_status make_room(espl__change *c, size_t entities, size_t chunks)
{
    const bool is_fixed = c->placement == ESPL__PLACEMENT_STAYS;
    const size_t wanted = is_fixed && chunks < entities ? chunks : entities;

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

// Upper bound of the chunks that rows may be in.
static size_t chunk_numbers(const espl__change *c)
{
    return espl__array_length(c->world->store.chunks);
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

// Take memory for a copy of the entities, which gather_again() needs after their rows have moved.
// None is needed where no transform is added or removed.
static espl_status make_list(espl__change *c, size_t count)
{
    if (c->placement == ESPL__PLACEMENT_STAYS || count == 0) {
        return ESPL_OK;
    }
    ESPL_CHECK(c->listed == NULL);
    c->listed = espl__change_take(c, count, sizeof *c->listed);
    c->count = c->listed != NULL ? count : 0;
    return c->listed != NULL ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Handles are checked in order, so that the first one that names no living entity is the one
// refused.
espl_status espl__gather_array(espl__change *c, const espl_entity *entities, size_t count)
{
    espl_status status = make_list(c, count);

    ESPL_CHECK(c->bucket_count == 0 && (entities != NULL || count == 0));
    status = status != ESPL_OK ? status : make_room(c, count, chunk_numbers(c));
    if (status == ESPL_OK && c->listed != NULL) {
        memcpy(c->listed, entities, count * sizeof *entities);
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl__entity_check(&c->world->store, entities[i]);
        if (status == ESPL_OK) {
            take_row(c, entities[i].index, i);
        } else {
            c->refused = i;
        }
    }
    clear_chunk_marks(c);
    c->entities = c->listed != NULL ? c->listed : entities;
    return status;
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

// Precondition: there is room for what count_answers() counted, and nothing has changed since. A
// query shows a chunk once, and whole, so that each chunk gets its bucket at once.
static void gather_answers(espl__change *c, const espl_query_def *def)
{
    size_t entities = 0;
    espl_query query;
    const espl_status status = espl__query_start(c->world, def, &query);

    ESPL_CHECK(status == ESPL_OK);
    while (espl_query_next(&query)) {
        const uint32_t chunk = c->world->store.records[query.entities[0].index].chunk;
        espl__bucket *const in = open_bucket(c, chunk, entities);

        for (size_t row = 0; row < query.count; ++row) {
            in->rows[row / ESPL__WORD_BITS] |= UINT64_C(1) << row % ESPL__WORD_BITS;
        }
        if (c->listed != NULL) {
            memcpy(c->listed + entities, query.entities, query.count * sizeof *c->listed);
        }
        entities += query.count;
    }
    ESPL_CHECK(c->listed == NULL || entities == c->count);
    clear_chunk_marks(c);
    c->entities = c->listed;
}

// Two passes over the query, because memory is taken before the first row is gathered.
espl_status espl__gather_query(espl__change *c, const espl_query_def *def, size_t *entities)
{
    size_t chunks = 0;
    espl_status status = count_answers(c, def, entities, &chunks);

    status = status != ESPL_OK ? status : make_list(c, *entities);
    status = status != ESPL_OK ? status : make_room(c, *entities, chunks);
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
    const espl_status status = make_room(c, below + 1, chunk_numbers(c));
    uint32_t slot = top;

    ESPL_CHECK(c->placement == ESPL__PLACEMENT_STAYS && top < forest->end);
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

void espl__gather_again(espl__change *c)
{
    ESPL_CHECK(c->listed != NULL || c->count == 0);
    c->bucket_count = 0;
    for (size_t i = 0; i < c->count; ++i) {
        take_row(c, c->listed[i].index, i);
    }
    clear_chunk_marks(c);
}

// SPDX-License-Identifier: MIT
// The records of columns that users wrote, each with its rows and their entities
// (lib/world/tape_columns.h).
#include "lib/world/tape_columns.h"

#include "lib/world/tape_bytes.h"

static void put_column(espl_world *world, const espl_query *rows, const espl__chunk *chunk,
                       const espl__column *column)
{
    const size_t first = rows->state.first;

    ESPL_CHECK(first + rows->count <= chunk->count);
    espl__tape_begin(world, ESPL_TAPE_COLUMN);
    espl__tape_u32(world, column->component);
    espl__tape_u32(world, column->size);
    espl__tape_u64(world, rows->count);
    for (size_t row = 0; row < rows->count; ++row) {
        espl__tape_entity(world, rows->entities[row]);
    }
    espl__tape_bytes(world, chunk->bytes + column->offset + first * column->size,
                     rows->count * column->size);
    (void)espl__tape_close(world, ESPL_OK);
}

// Tell whether a column counts as written. A parallel write names its columns before it begins; in a
// query the version of the column tells.
static bool is_written(const espl_query *rows, const espl__chunk *chunk, size_t column)
{
    const espl__archetype *const archetype = &rows->state.world->store.archetypes[chunk->archetype];

    if (!rows->state.is_dealt) {
        return chunk->versions[column + 1] > rows->state.shown_at;
    }
    for (uint32_t i = 0; i < rows->state.all_count; ++i) {
        if (rows->state.terms[i] == archetype->columns[column].component) {
            return true;
        }
    }
    return false;
}

// The column of ESPL_TRANSFORM holds slots, which no user writes.
void espl__tape_rows(const espl_query *rows)
{
    espl_world *const world = rows->state.world;
    const espl__store *const store = &world->store;
    const uint32_t number = store->records[rows->entities[0].index].chunk;
    const espl__chunk *const chunk = &store->chunks[number];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const size_t count = espl__array_length(archetype->columns);

    ESPL_CHECK(rows->count != 0);
    for (size_t i = 0; i < count; ++i) {
        if (archetype->columns[i].component != ESPL_TRANSFORM && is_written(rows, chunk, i)) {
            put_column(world, rows, chunk, &archetype->columns[i]);
        }
    }
}

void espl__tape_columns(const espl_query *query)
{
    if (query->count != 0) {
        espl__tape_rows(query);
    }
}

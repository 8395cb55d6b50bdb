// SPDX-License-Identifier: MIT
// The state of a store as pieces (lib/base/state.h): the components, the registry of entities, the
// counterparts, then the
// archetypes with their rows. Numbers of components and of archetypes follow from the order in which they
// were made, and later calls depend on it, so that unused components and empty archetypes are visited too.
#include "lib/store/store.h"

#include <string.h>

const char espl__state_of_rows[] = "entities of rows";

_Static_assert(sizeof(espl_entity) == 8 && offsetof(espl_entity, generation) == 4,
               "an entity is a pair of words");

// Visit the record of an index, with the name of its entity. The row comes first, because it tells what
// follows: living, free (ESPL__NONE) or retired. The bit ESPL__ROW_BARE is left out, because the
// archetype says it.
static void visit_record(const espl__store *store, const espl__state_visitor *visitor,
                         uint32_t index)
{
    const espl__record *const record = &store->records[index];
    uint32_t words[4] = {record->generation, record->row};

    if (espl__index_is_alive(store, index)) {
        const espl__chunk *const chunk = &store->chunks[record->chunk];
        const espl__name *const name = espl__name_of(&store->names, index);

        words[1] = espl__record_row(record);
        words[2] = chunk->archetype;
        words[3] = chunk->position;
        espl__state_piece(visitor, "generation, row, archetype and chunk of a living entity",
                          ESPL__STATE_PAIRS, words, 4);
        espl__state_piece(visitor, "slot of an entity", ESPL__STATE_WORDS, &record->slot, 1);
        espl__state_piece(visitor, "name of an entity", ESPL__STATE_TEXT,
                          name != NULL ? name->text : NULL, name != NULL ? name->size : 0);
        return;
    }
    espl__state_piece(visitor, "generation and row of a free index", ESPL__STATE_PAIRS, words, 2);
    // A retired index was reused 2^24 times; --enable-shrunken tests it.
    if (record->row == ESPL__NONE) { // GCOVR_EXCL_BR_LINE
        espl__state_piece(visitor, "index that was freed before", ESPL__STATE_WORDS, &record->chunk,
                          1);
    }
}

// Visit the rows of a chunk: handles, then columns. The values of ESPL_TRANSFORM are left out, because
// they repeat the slots of the records.
static void visit_chunk(const espl__state_visitor *visitor, const espl__archetype *archetype,
                        const espl__chunk *chunk)
{
    const size_t columns = espl__array_length(archetype->columns);

    ESPL_CHECK(chunk->count <= archetype->capacity);
    espl__state_piece(visitor, "rows of a chunk", ESPL__STATE_WORDS, &chunk->count, 1);
    espl__state_piece(visitor, espl__state_of_rows, ESPL__STATE_PAIRS, espl__chunk_entities(chunk),
                      (size_t)chunk->count * 2);
    for (size_t i = 0; i < columns; ++i) {
        const espl__column *const column = &archetype->columns[i];

        espl__state_piece(visitor, "component of a column", ESPL__STATE_WORDS, &column->component,
                          1);
        if (column->component != ESPL_TRANSFORM) {
            espl__state_piece(visitor, "values of a column", ESPL__STATE_BYTES,
                              chunk->bytes + column->offset, (size_t)chunk->count * column->size);
        }
    }
}

// Visit the set of an archetype and its rows.
static void visit_archetype(const espl__store *store, const espl__state_visitor *visitor,
                            uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    const size_t chunks = (archetype->count + archetype->capacity - 1) / archetype->capacity;
    const uint32_t set_count = (uint32_t)espl__array_length(archetype->set);
    const uint32_t words[2] = {set_count, (uint32_t)archetype->count};

    espl__state_piece(visitor, "size of the set of an archetype, and its rows", ESPL__STATE_WORDS,
                      words, 2);
    espl__state_piece(visitor, "set of an archetype", ESPL__STATE_WORDS, archetype->set, set_count);
    for (size_t i = 0; i < chunks; ++i) {
        visit_chunk(visitor, archetype, &store->chunks[archetype->chunks[i]]);
    }
}

// Visit the description of bytes of a component.
static void visit_description(const espl__state_visitor *visitor, const espl_component_field *field)
{
    const uint32_t words[4] = {(uint32_t)strlen(field->name), (uint32_t)field->type, field->offset,
                               field->count};

    espl__state_piece(visitor, "field of a component", ESPL__STATE_WORDS, words, 4);
    espl__state_piece(visitor, "name of a field", ESPL__STATE_BYTES, field->name, words[0]);
}

// Visit the components that were registered: the built-in ones are the same in every world.
static void visit_components(const espl__store *store, const espl__state_visitor *visitor)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);

    espl__state_piece(visitor, "components", ESPL__STATE_WORDS, &count, 1);
    for (espl_component number = ESPL_DISABLED + 1; number <= count; ++number) {
        const espl__component_info *const info = espl__component_info_of(store, number);
        const uint32_t words[7] = {
            (uint32_t)strlen(info->name), info->size,  info->alignment,  info->reference_count,
            info->version,                info->flags, info->field_count};

        espl__state_piece(visitor, "definition of a component", ESPL__STATE_WORDS, words, 7);
        espl__state_piece(visitor, "name of a component", ESPL__STATE_BYTES, info->name, words[0]);
        espl__state_piece(visitor, "offsets of references", ESPL__STATE_WORDS, info->references,
                          info->reference_count);
        for (uint32_t i = 0; i < info->field_count; ++i) {
            visit_description(visitor, &info->fields[i]);
        }
    }
}

// Visit the originals by the index of the counterpart, because their order in the table depends on the past.
// How many there are is a note, so that a world without one has the hash that it had before there were any.
static void visit_counterparts(const espl__store *store, const espl__state_visitor *visitor,
                               uint32_t length)
{
    const espl__counterparts *const links = &store->counterparts;
    const uint32_t count = (uint32_t)links->count;

    espl__state_piece(visitor, "counterparts", ESPL__STATE_NOTE, &count, 1);
    for (uint32_t index = 0; index < length && count != 0; ++index) {
        const espl_entity original = espl__original_of(links, index);
        const uint32_t words[4] = {index, 0, original.index, original.generation};

        if (!espl_entity_is_null(original)) {
            espl__state_piece(visitor, "counterpart and original", ESPL__STATE_PAIRS, words, 4);
        }
    }
}

void espl__store_visit(const espl__store *store, const espl__state_visitor *visitor)
{
    const uint32_t length = (uint32_t)espl__array_length(store->records);
    const uint32_t archetypes = (uint32_t)espl__array_length(store->archetypes);
    const uint32_t head = store->free_count == 0 ? ESPL__NONE : store->free_head;
    const uint32_t words[2] = {length, head};

    visit_components(store, visitor);
    espl__state_piece(visitor, "issued indices, and the one that was freed last", ESPL__STATE_WORDS,
                      words, 2);
    if (store->least_generation != 0) {
        espl__state_piece(visitor, "least generation of an index that is freed", ESPL__STATE_WORDS,
                          &store->least_generation, 1);
    }
    for (uint32_t index = 0; index < length; ++index) {
        visit_record(store, visitor, index);
    }
    visit_counterparts(store, visitor, length);
    espl__state_piece(visitor, "archetypes", ESPL__STATE_WORDS, &archetypes, 1);
    for (uint32_t i = 0; i < archetypes; ++i) {
        visit_archetype(store, visitor, i);
    }
}

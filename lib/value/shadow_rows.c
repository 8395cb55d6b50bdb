// SPDX-License-Identifier: MIT
// The shadow of rows: counts of archetypes, handles and columns of chunks.
#include "lib/value/checksum.h"
#include "lib/value/shadow.h"
#include "lib/value/wire.h"

#include <string.h>

// A column of a chunk, or its handles.
typedef struct column {
    uint32_t archetype, position, number; // 0: the handles
    const espl__component_info *info;     // NULL: the handles
    uint32_t offset, size;                // bytes of a value
    uint32_t was, now;                    // rows
} column;

// Turn the words of so many handles around.
static void turn_handles(unsigned char *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count * (uint32_t)sizeof(espl_entity); i += 4) {
        espl__wire_turn(bytes + i, 4);
    }
}

// Turn all numbers of a value around that its component describes.
static void turn_value(const espl__component_info *info, unsigned char *value)
{
    for (uint32_t i = 0; i < info->field_count; ++i) {
        const espl_component_field *const field = &info->fields[i];
        const uint32_t size = espl__field_element_size(field->type);

        for (uint32_t k = 0; field->type != ESPL_FIELD_ENTITY && k < field->count; ++k) {
            espl__wire_turn(value + field->offset + k * size, size);
        }
    }
    for (uint32_t i = 0; i < info->reference_count; ++i) {
        turn_handles(value + info->references[i], 1);
    }
}

// Return the checksum of rows on a machine whose numbers have their highest byte first.
static uint64_t checksum_of_turned_rows(const column *c, uint64_t seed, const unsigned char *values,
                                        uint32_t rows)
{
    unsigned char turned[ESPL_COMPONENT_SIZE_LIMIT];
    espl__checksum checksum;

    espl__checksum_begin_seeded(&checksum, seed);
    for (uint32_t row = 0; row < rows; ++row) {
        memcpy(turned, values + (size_t)row * c->size, c->size);
        if (c->info == NULL) {
            turn_handles(turned, 1);
        } else {
            turn_value(c->info, turned);
        }
        espl__checksum_add(&checksum, turned, c->size);
    }
    return espl__checksum_of(&checksum);
}

static uint64_t checksum_of_rows(const column *c, const unsigned char *bytes, uint32_t rows)
{
    const uint32_t place[4] = {c->archetype, c->position, c->number, 0};
    const uint64_t seed = espl__shadow_checksum_of(ESPL__SHADOW_COLUMN, 0, place, sizeof place);

    if (rows == 0) {
        return 0;
    }
    return espl__wire_is_native()
               ? espl__checksum_seeded(seed, bytes + c->offset, (size_t)rows * c->size)
               : checksum_of_turned_rows(c, seed, bytes + c->offset, rows);
}

// Exchange the values of a column by those that it has now.
static void exchange_column(espl__shadow *shadow, const column *c, const unsigned char *from)
{
    unsigned char *const to = shadow->archetypes[c->archetype].chunks[c->position].bytes;
    const size_t was = (size_t)c->was * c->size, now = (size_t)c->now * c->size;

    if (was == now && memcmp(to + c->offset, from + c->offset, now) == 0) {
        return;
    }
    if (shadow->has_checksum) {
        shadow->checksum -= checksum_of_rows(c, to, c->was);
        shadow->checksum += checksum_of_rows(c, from, c->now);
    }
    if (shadow->log != NULL && was != 0) {
        const espl__undo_key key = {.kind = ESPL__SHADOW_COLUMN,
                                    .column = (uint8_t)c->number,
                                    .number = c->archetype,
                                    .position = c->position,
                                    .size = (uint32_t)was};

        espl__undo_push(shadow->log, &key, to + c->offset);
    }
    memcpy(to + c->offset, from + c->offset, now);
}

static void update_chunk(const espl__shadow_look *u, uint32_t number, uint32_t position,
                         uint32_t was)
{
    const espl__archetype *const archetype = &u->store->archetypes[number];
    const size_t columns = espl__array_length(archetype->columns);
    const bool is_there = position < espl__array_length(archetype->chunks);
    const espl__chunk *const chunk =
        is_there ? &u->store->chunks[archetype->chunks[position]] : NULL;
    column c = {.archetype = number,
                .position = position,
                .size = sizeof(espl_entity),
                .was = was,
                .now = is_there ? chunk->count : 0};

    for (size_t i = 0; i <= columns; ++i) {
        const espl__column *const of = i == 0 ? NULL : &archetype->columns[i - 1];

        if (c.was == c.now && (!is_there || chunk->versions[i] <= u->shadow->version)) {
            continue;
        }
        if (of != NULL) {
            c.number = (uint32_t)i;
            c.offset = of->offset;
            c.size = of->size;
            c.info = espl__component_info_of(u->store, of->component);
        }
        if (of == NULL || espl__shadow_has_column(u->store, of)) {
            exchange_column(u->shadow, &c,
                            c.now != 0 ? chunk->bytes
                                       : u->shadow->archetypes[number].chunks[position].bytes);
        }
    }
}

static void update_archetype(const espl__shadow_look *u, uint32_t number)
{
    const espl__archetype *const archetype = &u->store->archetypes[number];
    const uint32_t chunks = (uint32_t)espl__array_length(archetype->chunks);
    const espl__shadow_rows was = u->shadow->archetypes[number].rows;
    const espl__shadow_rows now = {(uint32_t)archetype->count, chunks};
    const uint32_t rows = was.count > now.count ? was.count : now.count;

    // Fast path: no column was written, and no row left.
    const bool may_differ =
        u->is_whole || u->store->version != u->shadow->version || was.count != now.count;

    for (uint32_t position = 0; may_differ && (uint64_t)position * archetype->capacity < rows;
         ++position) {
        update_chunk(u, number, position, espl__shadow_rows_at(archetype, was.count, position));
    }
    espl__shadow_put(u->shadow, ESPL__SHADOW_ROWS, number, &u->shadow->archetypes[number].rows,
                     &now, sizeof now, sizeof now.count);
}

// Archetypes of a world at an update stay until it is rewound.
void espl__shadow_update_rows(const espl__shadow_look *u)
{
    for (uint32_t i = 0; i < u->now.archetypes; ++i) {
        const espl_component *const set = u->store->archetypes[i].set;

        if (u->shadow->has_checksum && (u->is_whole || i >= u->was.archetypes)) {
            u->shadow->checksum += espl__shadow_checksum_of(ESPL__SHADOW_SET, i, set,
                                                            espl__array_length(set) * sizeof *set);
        }
        update_archetype(u, i);
    }
}

// SPDX-License-Identifier: MIT
// What the page says of one entity and of the whole world, as text and numbers.
#include "tools/view/module.h"

#include <espalier/names.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, CHAIN_LIMIT = 256, WORDS = 12, BYTES_LIMIT = 256 };

static struct {
    char *text; // [capacity]
    size_t size, capacity;
    char path[PATH_SIZE];
    uint32_t values[2 * WORDS + 8];
    uint32_t chain[CHAIN_LIMIT]; // entities, from the root
    float locals[CHAIN_LIMIT][WORDS];
    uint32_t facts[CHAIN_LIMIT]; // inherit flags; 256: composed with its parent it is the same bits
} details;

static espl_entity entity_of(uint32_t index)
{
    return index < scene_capacity() ? (espl_entity){index, scene_generations()[index]}
                                    : espl_entity_null();
}

// --- Text of any length ---

static void begin_text(void)
{
    details.size = 0;
    if (view_grow(&details.text, &details.capacity, 1, 1)) {
        details.text[0] = '\0';
    }
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments;
    char line[512];

    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t size = length < 0                     ? 0
                        : (size_t)length < sizeof line ? (size_t)length
                                                       : sizeof line - 1;

    if (view_grow(&details.text, &details.capacity, details.size + size + 1, 1)) {
        memcpy(details.text + details.size, line, size + 1);
        details.size += size;
    }
}

// --- One entity ---

const char *details_name(uint32_t index)
{
    return espl_get_name(view_world(), entity_of(index));
}

const char *details_path(uint32_t index)
{
    details.path[0] = '\0';
    (void)espl_get_path(view_world(), entity_of(index), details.path, sizeof details.path);
    return details.path;
}

const uint32_t *details_values(uint32_t index)
{
    const espl_world *const world = view_world();
    const espl_entity entity = entity_of(index);
    espl_transform local = {0}, placed = {0};

    (void)espl_get_local_transform(world, entity, &local);
    (void)espl_get_world_transform(world, entity, &placed);
    memcpy(details.values, &local, sizeof local);
    memcpy(details.values + WORDS, &placed, sizeof placed);
    details.values[2 * WORDS] = espl_get_inherit(world, entity);
    details.values[2 * WORDS + 1] = (uint32_t)espl_get_link(world, entity);
    details.values[2 * WORDS + 2] = (uint32_t)espl_get_role(world, entity);
    details.values[2 * WORDS + 3] = espl_get_depth(world, entity);
    details.values[2 * WORDS + 4] = (uint32_t)espl_get_children(world, entity, 0, NULL);
    return details.values;
}

const char *details_places(uint32_t index)
{
    const espl_world *const world = view_world();
    const espl_entity entity = entity_of(index), original = espl_get_original(world, entity);
    double at[3] = {0, 0, 0};
    int32_t cell[3];

    begin_text();
    if (!espl_failed(espl_read_one(world, entity, ESPL_READ_CELL, cell))) {
        (void)espl_read_one(world, entity, ESPL_READ_ABSOLUTE_POSITION, at);
        add("cell\t%" PRId32 " %" PRId32 " %" PRId32 "\n", cell[0], cell[1], cell[2]);
        add("absolute position\t%.17g %.17g %.17g\n", at[0], at[1], at[2]);
    }
    if (!espl_entity_is_null(original)) {
        add("counterpart of\t%u.%u\n", original.index, original.generation);
    }
    return details.text;
}

static void add_element(const espl_component_field *field, const unsigned char *bytes)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        espl_entity entity;
    } value = {0};
    static const uint8_t sizes[ESPL_FIELD_TYPE_COUNT] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};

    memcpy(&value, bytes, sizes[field->type]);
    switch (field->type) {
    case ESPL_FIELD_I8:
        add(" %d", value.i8);
        break;
    case ESPL_FIELD_I16:
        add(" %d", value.i16);
        break;
    case ESPL_FIELD_U16:
        add(" %u", value.u16);
        break;
    case ESPL_FIELD_I32:
        add(" %" PRId32, value.i32);
        break;
    case ESPL_FIELD_U32:
        add(" %" PRIu32, value.u32);
        break;
    case ESPL_FIELD_I64:
        add(" %" PRId64, value.i64);
        break;
    case ESPL_FIELD_U64:
        add(" %" PRIu64, value.u64);
        break;
    case ESPL_FIELD_F32:
        add(" %.9g", (double)value.f32);
        break;
    case ESPL_FIELD_F64:
        add(" %.17g", value.f64);
        break;
    case ESPL_FIELD_ENTITY:
        add(" %u.%u", value.entity.index, value.entity.generation);
        break;
    default:
        add(" %u", value.u8);
        break;
    }
}

static void add_fields(const espl_component_def *def, const unsigned char *bytes)
{
    static const uint8_t sizes[ESPL_FIELD_TYPE_COUNT] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};

    for (size_t i = 0; i < def->field_count; ++i) {
        const espl_component_field *const field = &def->fields[i];
        const uint32_t count = field->count != 0 ? field->count : 1;

        add("%s%s", i == 0 ? "" : "; ", field->name);
        for (uint32_t j = 0; j < count && j < 16; ++j) {
            add_element(field, bytes + field->offset + (size_t)j * sizes[field->type]);
        }
        add("%s", count > 16 ? " ..." : "");
    }
}

const char *details_components(uint32_t index)
{
    static unsigned char bytes[ESPL_COMPONENT_SIZE_LIMIT];
    const espl_world *const world = view_world();
    const espl_entity entity = entity_of(index);

    begin_text();
    for (uint32_t i = 1; i <= espl_component_count(world); ++i) {
        const espl_component component = i;
        espl_component_def def;

        if (component == ESPL_TRANSFORM || !espl_has_component(world, entity, component) ||
            espl_failed(espl_component_info(world, component, &def))) {
            continue;
        }
        add("%s\t%zu\t", def.name, def.size);
        if (def.size != 0 &&
            !espl_failed(espl_get_component(world, entity, component, bytes, def.size))) {
            for (size_t j = 0; j < def.size && j < BYTES_LIMIT; ++j) {
                add(j % 4 == 0 && j != 0 ? " %02x" : "%02x", bytes[j]);
            }
            add("%s\t", def.size > BYTES_LIMIT ? " ..." : "");
            add_fields(&def, bytes);
        } else {
            add("\t");
        }
        add("\n");
    }
    return details.text;
}

// --- Why it is there ---

/// Whether the parts of the world that come from the parent are, bit for bit, what composing gives.
static bool is_composed(const espl_transform *parent, const espl_transform *local,
                        const espl_transform *placed, uint32_t inherit)
{
    const espl_transform composed = espl_transform_inherit(parent, local, placed, inherit);

    return memcmp(&composed, placed, sizeof composed) == 0;
}

size_t details_chain(uint32_t index)
{
    const espl_world *const world = view_world();
    const uint32_t *const parents = scene_parents();
    size_t count = 0;

    if (index >= scene_capacity() || scene_generations()[index] == 0) {
        return 0;
    }
    for (uint32_t at = index; at != VIEW_NONE && count < CHAIN_LIMIT; at = parents[at]) {
        ++count;
    }
    size_t rest = count;

    for (uint32_t at = index; rest != 0; at = parents[at]) {
        const espl_entity entity = entity_of(at), parent = espl_get_parent(world, entity);
        espl_transform local = {0}, placed = {0}, above = espl_transform_identity();
        const uint32_t inherit = espl_get_inherit(world, entity);

        --rest;
        (void)espl_get_local_transform(world, entity, &local);
        (void)espl_get_world_transform(world, entity, &placed);
        (void)espl_get_world_transform(world, parent, &above);
        details.chain[rest] = at;
        memcpy(details.locals[rest], &local, sizeof local);
        details.facts[rest] = inherit;
        if (espl_entity_is_null(parent) || is_composed(&above, &local, &placed, inherit)) {
            details.facts[rest] |= 256;
        }
    }
    return count;
}

const uint32_t *details_chain_entities(void)
{
    return details.chain;
}

const float *details_chain_locals(void)
{
    return details.locals[0];
}

const uint32_t *details_chain_facts(void)
{
    return details.facts;
}

// --- The world ---

const char *details_stats(void)
{
    espl_world_stats s;

    begin_text();
    espl_stats(view_world(), &s);
#define ADD(field) add("%s\t%llu\n", #field, (unsigned long long)s.field)
    ADD(entities);
    ADD(solos);
    ADD(hierarchies);
    ADD(members);
    ADD(prefabs);
    ADD(disabled);
    ADD(names);
    ADD(counterparts);
    ADD(retired);
    ADD(archetypes);
    ADD(chunks);
    ADD(spare_chunks);
    ADD(row_capacity);
    ADD(slots);
    ADD(free_slots);
    ADD(holes);
    ADD(bytes);
    ADD(bytes_store);
    ADD(bytes_tree);
    ADD(bytes_commands);
    ADD(bytes_names);
    ADD(nodes_visited);
    ADD(nodes_skipped);
    ADD(writes);
    ADD(writes_skipped);
    ADD(commands_accepted);
    ADD(commands_applied);
    ADD(commands_refused);
    ADD(layouts);
    ADD(nodes_laid_out);
    ADD(layout_debt_incurred);
#undef ADD
    return details.text;
}

/// A bit for each component that the rows of a chunk have.
typedef struct component_bits {
    uint32_t words[ESPL_COMPONENT_LIMIT / 32 + 1];
} component_bits;

static component_bits read_bits(espl_entity entity)
{
    const espl_world *const world = view_world();
    component_bits bits = {{0}};

    for (uint32_t i = 1; i <= espl_component_count(world); ++i) {
        bits.words[i / 32] |= (uint32_t)espl_has_component(world, entity, i) << i % 32;
    }
    return bits;
}

static void add_names(espl_entity entity)
{
    static const char *const roles[] = {"none", "solo", "root", "member"};
    const espl_world *const world = view_world();

    add("%s", roles[espl_get_role(world, entity)]);
    for (uint32_t i = 1; i <= espl_component_count(world); ++i) {
        espl_component_def def;

        if (espl_has_component(world, entity, i) &&
            !espl_failed(espl_component_info(world, i, &def)) && strcmp(def.name, "solo") != 0 &&
            strcmp(def.name, "root") != 0 && strcmp(def.name, "member") != 0) {
            add(" %s", def.name);
        }
    }
    add("\t");
}

const char *details_chunks(void)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    component_bits last = {{0}};
    espl_query query;
    size_t count = 0;

    begin_text();
    if (espl_failed(espl_query_begin_read(view_world(), &all, &query))) {
        return details.text;
    }
    // A line for each archetype: its components, then the rows of its chunks.
    while (espl_query_next(&query)) {
        const component_bits bits = read_bits(query.entities[0]);

        if (count == 0 || memcmp(&bits, &last, sizeof bits) != 0) {
            add("%s", count == 0 ? "" : "\n");
            add_names(query.entities[0]);
        }
        add(" %zu", query.count);
        last = bits;
        ++count;
    }
    return details.text;
}

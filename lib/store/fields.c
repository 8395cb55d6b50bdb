// SPDX-License-Identifier: MIT
// Descriptions of the bytes of a component. The library checks and keeps them, for tools and archives.
#include "lib/store/store.h"

#include <string.h>

// Bytes of an element, by espl_field_type.
static const uint8_t element_sizes_of_fields[ESPL_FIELD_TYPE_COUNT] = {
    [ESPL_FIELD_BYTES] = 1, [ESPL_FIELD_I8] = 1,  [ESPL_FIELD_U8] = 1,   [ESPL_FIELD_I16] = 2,
    [ESPL_FIELD_U16] = 2,   [ESPL_FIELD_I32] = 4, [ESPL_FIELD_U32] = 4,  [ESPL_FIELD_I64] = 8,
    [ESPL_FIELD_U64] = 8,   [ESPL_FIELD_F32] = 4, [ESPL_FIELD_F64] = 8, [ESPL_FIELD_BOOL] = 1,
    [ESPL_FIELD_ENTITY] = sizeof(espl_entity),
};

uint32_t espl__field_element_size(espl_field_type type)
{
    return element_sizes_of_fields[(unsigned)type];
}

static uint32_t elements_of(const espl_component_field *field)
{
    return field->count == 0 ? 1 : field->count;
}

// Tell whether a field has the name of an earlier one. Quadratic in the fields, which are few.
static bool is_named_before(const espl_component_field *fields, size_t at)
{
    bool is_found = false;

    for (size_t i = 0; i < at && !is_found; ++i) {
        is_found = strcmp(fields[i].name, fields[at].name) == 0;
    }
    return is_found;
}

// Say which of the fields is not inside the value, not in ascending order, or overlaps. 64 bits, because a
// count may be any number.
static const char *find_bad_place(const espl_component_def *def)
{
    uint64_t end = 0;

    for (size_t i = 0; i < def->field_count; ++i) {
        const espl_component_field *const field = &def->fields[i];
        const uint64_t size =
            (uint64_t)elements_of(field) * element_sizes_of_fields[(unsigned)field->type];

        if (field->offset < end) {
            return "def->fields do not ascend, or overlap.";
        }
        end = field->offset + size;
        if (end > def->size) {
            return "One of def->fields is not inside def->size.";
        }
    }
    return NULL;
}

// Tell whether the elements of ESPL_FIELD_ENTITY are the references, one by one: both ascend.
static bool are_fields_references(const espl_component_def *def)
{
    size_t found = 0;
    bool is_same = true;

    for (size_t i = 0; i < def->field_count; ++i) {
        const espl_component_field *const field = &def->fields[i];
        const uint32_t elements = field->type == ESPL_FIELD_ENTITY ? elements_of(field) : 0;

        for (uint32_t element = 0; element < elements && is_same; ++element, ++found) {
            is_same = found < def->reference_count &&
                      def->references[found] ==
                          field->offset + element * (uint32_t)sizeof(espl_entity);
        }
    }
    return is_same && found == def->reference_count;
}

const char *espl__fields_fault(const espl_component_def *def)
{
    if (def->field_count == 0) {
        return NULL;
    }
    if (def->fields == NULL) {
        return "def->fields is NULL, but def->field_count is not 0.";
    }
    for (size_t i = 0; i < def->field_count; ++i) {
        const espl_component_field *const field = &def->fields[i];

        if (espl__def_name_fault(field->name) != NULL) {
            return "The name of one of def->fields is NULL, empty, too long, or no legal name.";
        }
        if ((unsigned)field->type >= ESPL_FIELD_TYPE_COUNT) {
            return "The type of one of def->fields does not exist.";
        }
        if (is_named_before(def->fields, i)) {
            return "Two of def->fields have the same name.";
        }
    }
    const char *const fault = find_bad_place(def);

    return fault != NULL || are_fields_references(def)
               ? fault
               : "The offsets of fields of ESPL_FIELD_ENTITY differ from def->references.";
}

size_t espl__fields_size(const espl_component_field *fields, size_t count)
{
    size_t size = count * sizeof *fields;

    for (size_t i = 0; i < count; ++i) {
        size += strlen(fields[i].name) + 1;
    }
    return size;
}

const espl_component_field *espl__fields_copy(void *block, const espl_component_field *fields,
                                              size_t count)
{
    espl_component_field *const copies = block;
    char *name = (char *)(copies + count);

    for (size_t i = 0; i < count; ++i) {
        const size_t size = strlen(fields[i].name) + 1;

        memcpy(name, fields[i].name, size);
        copies[i] = (espl_component_field){.name = name,
                                           .type = fields[i].type,
                                           .offset = fields[i].offset,
                                           .count = elements_of(&fields[i])};
        name += size;
    }
    return copies;
}

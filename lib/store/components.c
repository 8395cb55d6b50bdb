// SPDX-License-Identifier: MIT
// The registry of components. A map finds a component by the hash of its name. A number indexes
// blocks that never move, so that other threads may read them while a component is registered.
//
// One thread registers at a time; a component is never changed and never removed. The registry owns
// copies of names and references, which store.c frees.
#include "lib/store/store.h"

#include <string.h>

// The components of a block of the registry, and the limits of a definition. ALIGNMENT_LIMIT is the
// largest alignment of a chunk.
enum { BLOCK_SIZE = 64, ALIGNMENT_LIMIT = 256 };

_Static_assert(ESPL_COMPONENT_LIMIT % BLOCK_SIZE == 0, "whole blocks");

// Return the alignment of a definition, for which 0 stands for 1.
static size_t alignment_of(const espl_component_def *def)
{
    return def->alignment == 0 ? 1 : def->alignment;
}

// Say which reference is not inside the value, not in ascending order, or overlaps.
static const char *find_bad_reference(const espl_component_def *def)
{
    size_t end = 0;

    if (def->reference_count != 0 && def->references == NULL) {
        return "def->references is NULL, but def->reference_count is not 0.";
    }
    for (size_t i = 0; i < def->reference_count; ++i) {
        const size_t begin = def->references[i];

        if (begin < end) {
            return "def->references do not ascend, or overlap; each takes 8 bytes.";
        }
        if (begin > def->size || def->size - begin < sizeof(espl_entity)) {
            return "One of def->references is not inside def->size; each takes 8 bytes.";
        }
        end = begin + sizeof(espl_entity);
    }
    return NULL;
}

// Tell whether a definition is past a limit of the library, which has a status of its own. The
// limits are checked before the references are read, so that a wrong count does not read past their
// array.
static bool is_past_limit(const espl_component_def *def)
{
    return def->size > ESPL_COMPONENT_SIZE_LIMIT || def->reference_count > ESPL_REFERENCE_LIMIT ||
           def->field_count > ESPL_FIELD_LIMIT;
}

// The checks in the order of the definition: name, alignment, size, references, fields. References and
// fields are not read where a limit is exceeded, because ESPL_ERR_LIMIT is the status then.
const char *espl__component_def_fault(const espl_component_def *def)
{
    const size_t alignment = alignment_of(def);
    const char *const fault = espl__def_name_fault(def->name);

    if (fault != NULL) {
        return fault;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment > ALIGNMENT_LIMIT) {
        return "def->alignment is no power of two, or more than 256.";
    }
    if (def->size % alignment != 0) {
        return "def->size is no multiple of def->alignment.";
    }
    if (is_past_limit(def)) {
        return NULL;
    }
    const char *const bad = find_bad_reference(def);

    return bad != NULL ? bad : espl__fields_fault(def);
}

// Return the component of a name, or 0. The names of a hash are stored under consecutive keys; no
// name is ever removed, so that the first free key ends the search.
// @param key  out: the hash under which the name is stored, or would be.
static espl_component component_by_name(const espl__store *store, const char *name, uint32_t *key)
{
    espl_component number = 0;

    ESPL_CHECK(name != NULL);
    *key = espl__hash_bytes(name, strlen(name));
    while ((number = espl__map_get(&store->component_names, *key, 0)) != 0) {
        if (strcmp(espl__component_info_of(store, number)->name, name) == 0) {
            break;
        }
        // Another name has this hash.
        *key += 1;
    }
    return number;
}

// Allocate the block and the map entry of component number `count` + 1. A block that was allocated
// before a failure stays for the next registration. @return false: no memory.
static bool reserve_entry(espl__store *store, uint32_t count)
{
    ESPL_CHECK(count < ESPL_COMPONENT_LIMIT);
    espl__component_info **const block = &store->component_blocks[count / BLOCK_SIZE];

    if (*block == NULL) {
        *block = espl__heap_take(store->heap, ESPL__FOR_STORE, BLOCK_SIZE,
                                 sizeof(espl__component_info), _Alignof(espl__component_info));
    }
    return *block != NULL &&
           espl__map_reserve(store->heap, ESPL__FOR_STORE, &store->component_names);
}

// Allocate what a definition has besides numbers. @return false: no memory; nothing is allocated then.
static bool take_blocks(espl__store *store, const espl_component_def *def, char **name,
                        uint32_t **references, void **fields)
{
    espl__heap *const heap = store->heap;
    const size_t name_size = strlen(def->name) + 1;
    const size_t fields_size = espl__fields_size(def->fields, def->field_count);

    *name = espl__heap_take(heap, ESPL__FOR_STORE, 1, name_size, 1);
    *references = def->reference_count == 0
                      ? NULL
                      : espl__heap_take(heap, ESPL__FOR_STORE, def->reference_count,
                                        sizeof **references, _Alignof(uint32_t));
    *fields = fields_size == 0 ? NULL
                               : espl__heap_take(heap, ESPL__FOR_STORE, 1, fields_size,
                                                 _Alignof(espl_component_field));
    if (*name != NULL && (def->reference_count == 0 || *references != NULL) &&
        (fields_size == 0 || *fields != NULL)) {
        return true;
    }
    espl__heap_give(heap, ESPL__FOR_STORE, *name, 1, name_size, 1);
    espl__heap_give(heap, ESPL__FOR_STORE, *references, def->reference_count, sizeof **references,
                    _Alignof(uint32_t));
    espl__heap_give(heap, ESPL__FOR_STORE, *fields, 1, fields_size, _Alignof(espl_component_field));
    return false;
}

// Copy a definition with its names, references and fields. Returns false where there is no memory;
// nothing is allocated then.
static bool copy_def(espl__store *store, const espl_component_def *def, espl__component_info *out)
{
    char *name = NULL;
    uint32_t *references = NULL;
    void *fields = NULL;

    if (!take_blocks(store, def, &name, &references, &fields)) {
        return false;
    }
    memcpy(name, def->name, strlen(def->name) + 1);
    if (references != NULL) {
        memcpy(references, def->references, def->reference_count * sizeof *references);
    }
    ESPL_CHECK(def->size <= ESPL_COMPONENT_SIZE_LIMIT);
    ESPL_CHECK(def->reference_count <= ESPL_REFERENCE_LIMIT);
    *out = (espl__component_info){
        .name = name,
        .references = references,
        .reference_count = (uint32_t)def->reference_count,
        .size = (uint32_t)def->size,
        .alignment = (uint32_t)alignment_of(def),
        .version = def->version,
        .flags = def->flags,
        .fields = fields == NULL ? NULL : espl__fields_copy(fields, def->fields, def->field_count),
        .field_count = (uint32_t)def->field_count,
    };
    return true;
}

// Everything that can fail precedes the first write to the registry, so that a failure changes
// nothing but the room of the map and an empty block.
espl_status espl__component_register(espl__store *store, const espl_component_def *def,
                                     espl_component *out)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);
    espl__component_info info;
    uint32_t key = 0;

    if (espl__component_def_fault(def) != NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (is_past_limit(def)) {
        return ESPL_ERR_LIMIT;
    }
    ESPL_CHECK((def->flags & ~ESPL__COMPONENT_FLAGS) == 0);
    if (component_by_name(store, def->name, &key) != 0) {
        return ESPL_ERR_EXISTS;
    }
    if (count == ESPL_COMPONENT_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    if (!reserve_entry(store, count) || !copy_def(store, def, &info)) {
        return ESPL_ERR_NO_MEMORY;
    }

    espl__heap_forbid(store->heap);
    store->component_blocks[count / BLOCK_SIZE][count % BLOCK_SIZE] = info;
    store->referring_count += info.reference_count != 0 ? 1 : 0;
    store->unique_count += (info.flags & ESPL_COMPONENT_UNIQUE) != 0 ? 1 : 0;
    espl__map_put(store->heap, ESPL__FOR_STORE, &store->component_names, key, count + 1);
    // The entry is written before the count, because recorders of other threads read both.
    atomic_store_explicit(&store->component_count, count + 1, memory_order_release);
    espl__heap_allow(store->heap);
    ESPL_CHECK(espl__component_find(store, def->name) == count + 1);
    *out = count + 1;
    return ESPL_OK;
}

// Precondition: a name that ends. Not for other threads, because a registration may move the map.
espl_component espl__component_find(const espl__store *store, const char *name)
{
    uint32_t key = 0;

    ESPL_CHECK(name != NULL);
    return component_by_name(store, name, &key);
}

// The acquire pairs with the release of espl__component_register(), so that a thread that sees the
// count sees the entries below it.
const espl__component_info *espl__component_info_of(const espl__store *store,
                                                    espl_component component)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_acquire);

    if (component == 0 || component > count) {
        return NULL;
    }
    const uint32_t at = component - 1;
    ESPL_CHECK_FULL(store->component_blocks[at / BLOCK_SIZE] != NULL);
    return &store->component_blocks[at / BLOCK_SIZE][at % BLOCK_SIZE];
}

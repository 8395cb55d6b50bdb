// SPDX-License-Identifier: MIT
// The table of names. A removal moves later entries up into the gap, so that there are no markers
// of removed entries and searches do not become longer as entries are added and removed.
#include "lib/store/names.h"

#include <espalier/names.h>

#include <string.h>

enum { FIRST_NAME_CAPACITY = 8 };

// --- What may be a name ---

size_t espl__name_length(const char *text)
{
    const char *const end = text != NULL ? memchr(text, '\0', ESPL_NAME_LIMIT + 1) : NULL;

    if (text == NULL) {
        return 0;
    }
    return end != NULL ? (size_t)(end - text) : ESPL_NAME_LIMIT + 1;
}

bool espl__name_is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte < 0x20 || byte == 0x7f || byte == '/') {
            return false;
        }
    }
    return true;
}

espl_status espl__name_check(const char *text, size_t length)
{
    if (length > ESPL_NAME_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__name_is_plain(text, length) ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

const char *espl__def_name_fault(const char *name)
{
    const size_t length = espl__name_length(name);

    if (name == NULL) {
        return "def->name is NULL.";
    }
    if (length == 0 || length > ESPL_NAME_LIMIT) {
        return "def->name has no byte, or more than 255.";
    }
    return espl__name_is_plain(name, length) ? NULL : "def->name has a control character or a '/'.";
}

// --- Texts ---

// Return the bytes of a name in the heap.
static size_t bytes_of(const espl__name *name)
{
    return sizeof *name + name->size;
}

// Allocate a name with a copy of a text, of one use. @return NULL: no memory.
static espl__name *make_text(espl__names *names, espl__heap *heap, const char *text, size_t length)
{
    ESPL_CHECK(length != 0 && length < UINT32_MAX);
    const size_t bytes = sizeof(espl__name) + length + 1;
    espl__name *const name = espl__heap_take(heap, ESPL__FOR_STORE, 1, bytes, _Alignof(espl__name));

    if (name == NULL) {
        return NULL;
    }
    name->uses = 1;
    name->held = 0;
    name->size = (uint32_t)length + 1;
    memcpy(name->text, text, length);
    name->text[length] = '\0';
    names->text_count += 1;
    names->text_bytes += bytes;
    return name;
}

// Free a text that nothing needs any more.
static void free_text(espl__names *names, espl__heap *heap, espl__name *name)
{
    const size_t bytes = bytes_of(name);

    if (name->uses == 0 && name->held == 0) {
        ESPL_CHECK(names->text_bytes >= bytes);
        names->text_bytes -= bytes;
        espl__heap_give(heap, ESPL__FOR_STORE, name, 1, bytes, _Alignof(espl__name));
    }
}

// Remove one use of a name, and free it after the last one.
static void drop_text(espl__names *names, espl__heap *heap, espl__name *name)
{
    ESPL_CHECK(name->uses > 0);
    name->uses -= 1;
    if (name->uses == 0) {
        ESPL_CHECK(names->text_count != 0);
        names->text_count -= 1;
        free_text(names, heap, name);
    }
}

void espl__name_hold(espl__name *name)
{
    if (name != NULL) {
        name->held += 1;
    }
}

void espl__name_let_go(espl__names *names, espl__heap *heap, espl__name *name)
{
    if (name != NULL) {
        ESPL_CHECK(name->held > 0);
        name->held -= 1;
        free_text(names, heap, name);
    }
}

// --- The table ---

// Return the entry at which the probes for an entity begin. Fibonacci hashing (Knuth, "The Art of
// Computer Programming", volume 3, section 6.4), because it spreads consecutive indices, which are
// frequent.
static size_t home_of(const espl__names *names, uint32_t entity)
{
    ESPL_CHECK_FULL(names->capacity != 0 && (names->capacity & (names->capacity - 1)) == 0);
    return (size_t)((entity * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (names->capacity - 1);
}

// Return the position of the entry of an entity, or of the free entry at which its probes end.
// There is one, because the table is never full.
static size_t find_position(const espl__names *names, uint32_t entity)
{
    size_t at = home_of(names, entity);

    while (names->entries[at].name != NULL && names->entries[at].entity != entity) {
        at = (at + 1) & (names->capacity - 1);
    }
    return at;
}

// Return the entry of an entity, or NULL.
static espl__named *find_entry(const espl__names *names, uint32_t entity)
{
    if (names->count == 0) {
        return NULL;
    }
    espl__named *const entry = &names->entries[find_position(names, entity)];

    return entry->name != NULL ? entry : NULL;
}

// Add an entry for an entity that has none. The table has room.
static void put_entry(espl__names *names, uint32_t entity, espl__name *name)
{
    espl__named *const entry = &names->entries[find_position(names, entity)];

    ESPL_CHECK(entry->name == NULL && names->count < names->capacity / 4 * 3);
    *entry = (espl__named){name, entity};
    names->count += 1;
}

// Free an entry. Later entries whose probes pass it move up to it (Knuth, section 6.4, algorithm
// R), because a free entry would end their searches.
static void remove_entry(espl__names *names, size_t at)
{
    const size_t mask = names->capacity - 1;

    for (size_t next = (at + 1) & mask; names->entries[next].name != NULL;
         next = (next + 1) & mask) {
        const size_t home = home_of(names, names->entries[next].entity);

        // Distances modulo the capacity: the entry at `next` is probed from `home` on, past `at`.
        if (((next - home) & mask) >= ((next - at) & mask)) {
            names->entries[at] = names->entries[next];
            at = next;
        }
    }
    ESPL_CHECK(names->count != 0);
    names->entries[at] = (espl__named){NULL, 0};
    names->count -= 1;
}

// Remove the name of an entity, if it has one.
static void remove_one(espl__names *names, espl__heap *heap, uint32_t entity)
{
    const espl__named *const entry = find_entry(names, entity);

    if (entry != NULL) {
        drop_text(names, heap, entry->name);
        remove_entry(names, (size_t)(entry - names->entries));
    }
}

// Free the memory of a table.
static void free_table(espl__heap *heap, espl__named *entries, size_t capacity)
{
    espl__heap_give(heap, ESPL__FOR_STORE, entries, capacity, sizeof *entries,
                    _Alignof(espl__named));
}

// Move all entries to a table of another capacity, which has room for them. @return false: no
// memory, nothing changed.
static bool move_table(espl__names *names, espl__heap *heap, size_t capacity)
{
    espl__names next = *names;

    ESPL_CHECK(capacity / 4 * 3 >= names->count);
    next.capacity = capacity;
    next.count = 0;
    next.entries = espl__heap_take(heap, ESPL__FOR_STORE, capacity, sizeof *next.entries,
                                   _Alignof(espl__named));
    if (next.entries == NULL) {
        return false;
    }
    memset(next.entries, 0, capacity * sizeof *next.entries);
    for (size_t i = 0; i < names->capacity; ++i) {
        if (names->entries[i].name != NULL) {
            put_entry(&next, names->entries[i].entity, names->entries[i].name);
        }
    }
    free_table(heap, names->entries, names->capacity);
    *names = next;
    return true;
}

// Return the smallest capacity for `count` entries, or 0 for no entries and for more than a size_t
// counts.
static size_t capacity_for(size_t count)
{
    size_t capacity = FIRST_NAME_CAPACITY;

    while (capacity != 0 && count > capacity / 4 * 3) {
        capacity *= 2;
    }
    return count == 0 ? 0 : capacity;
}

bool espl__names_reserve(espl__names *names, espl__heap *heap, size_t more)
{
    const size_t wanted = capacity_for(names->count + more);

    if (more == 0) {
        return true;
    }
    if (wanted == 0) {
        return false;
    }
#ifndef ESPL_HARD_MOVE
    if (wanted <= names->capacity) {
        return true;
    }
#endif
    return move_table(names, heap, wanted > names->capacity ? wanted : names->capacity);
}

// --- Names ---

const espl__name *espl__name_of(const espl__names *names, uint32_t entity)
{
    const espl__named *const entry = find_entry(names, entity);

    return entry != NULL ? entry->name : NULL;
}

// Replace the name of an entity, or remove it (NULL). Allocates nothing: the table has room.
static void replace_name(espl__names *names, espl__heap *heap, uint32_t entity, espl__name *name)
{
    espl__named *const now = find_entry(names, entity);

    if (name == NULL) {
        remove_one(names, heap, entity);
    } else if (now != NULL) {
        drop_text(names, heap, now->name);
        now->name = name;
    } else {
        put_entry(names, entity, name);
    }
}

espl_status espl__name_set(espl__names *names, espl__heap *heap, uint32_t entity, const char *text,
                           size_t length)
{
    const espl__name *const now = espl__name_of(names, entity);
    espl__name *name = NULL;

    if (now == NULL ? length == 0
                    : now->size == length + 1 && memcmp(now->text, text, length) == 0) {
        return ESPL_OK;
    }
    if (length != 0) {
        // The copy is made before the present name is freed, because the text may be a part of it.
        name = now == NULL ? espl__name_prepare(names, heap, text, length)
                           : make_text(names, heap, text, length);
        if (name == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    espl__heap_forbid(heap);
    replace_name(names, heap, entity, name);
    espl__heap_allow(heap);
    return ESPL_OK;
}

espl__name *espl__name_prepare(espl__names *names, espl__heap *heap, const char *text,
                               size_t length)
{
    return espl__names_reserve(names, heap, 1) ? make_text(names, heap, text, length) : NULL;
}

void espl__name_give(espl__names *names, uint32_t entity, espl__name *name)
{
    ESPL_CHECK(name->uses == 1 && find_entry(names, entity) == NULL);
    put_entry(names, entity, name);
}

void espl__name_discard(espl__names *names, espl__heap *heap, espl__name *name)
{
    if (name != NULL) {
        drop_text(names, heap, name);
    }
}

void espl__name_share(espl__names *names, uint32_t from, uint32_t entity)
{
    espl__name *const name = names->entries[find_position(names, from)].name;

    ESPL_CHECK(name != NULL && names->count < names->capacity / 4 * 3);
    name->uses += 1;
    put_entry(names, entity, name);
}

void espl__name_put_back(espl__names *names, uint32_t entity, espl__name *name)
{
    ESPL_CHECK(name->held > 0);
    names->text_count += name->uses == 0 ? 1 : 0;
    name->uses += 1;
    put_entry(names, entity, name);
}

void espl__names_remove(espl__names *names, espl__heap *heap, const uint32_t *entities,
                        size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        remove_one(names, heap, entities[i]);
    }
}

bool espl__names_trim(espl__names *names, espl__heap *heap)
{
    const size_t capacity = capacity_for(names->count);

    if (capacity == names->capacity) {
        return true;
    }
    if (capacity != 0) {
        return move_table(names, heap, capacity);
    }
    free_table(heap, names->entries, names->capacity);
    *names = (espl__names){0};
    return true;
}

size_t espl__names_bytes(const espl__names *names)
{
    return names->capacity * sizeof *names->entries + names->text_bytes;
}

void espl__names_free(espl__names *names, espl__heap *heap)
{
    for (size_t i = 0; i < names->capacity; ++i) {
        if (names->entries[i].name != NULL) {
            drop_text(names, heap, names->entries[i].name);
        }
    }
    free_table(heap, names->entries, names->capacity);
    *names = (espl__names){0};
}

// --- Validation ---

// Check one entry and its name.
static const char *broken_entry(const espl__names *names, const espl__named *entry)
{
    const espl__name *const name = entry->name;

    if (find_entry(names, entry->entity) != entry) {
        return "a named entity is found by its index, in one place";
    }
    if (name->uses == 0 || name->uses > names->count) {
        return "a name is that of as many entities as use it";
    }
    return name->size >= 2 && memchr(name->text, '\0', name->size) == name->text + name->size - 1
               ? NULL
               : "a name is as long as it says";
}

// Tell whether the uses of all texts are right, without a list of texts: each entity adds 2^32
// divided by the uses of its text, so that the entities of a text add 2^32 together. The quotients
// are rounded down, so that the sum is lower by less than 1 for each entity.
static bool are_uses_right(const espl__names *names, uint64_t parts)
{
    const uint64_t whole = (uint64_t)names->text_count << 32;

    return parts <= whole && whole - parts <= names->count;
}

const char *espl__names_broken_rule(const espl__names *names, uint32_t *entity)
{
    const size_t limit = names->capacity / 4 * 3;
    uint64_t parts = 0;
    size_t count = 0;

    *entity = UINT32_MAX;
    if ((names->capacity & (names->capacity - 1)) != 0 || names->count > limit) {
        return "the table of names has free places";
    }
    for (size_t i = 0; i < names->capacity; ++i) {
        const espl__named *const entry = &names->entries[i];

        if (entry->name != NULL) {
            const char *const rule = broken_entry(names, entry);

            *entity = entry->entity;
            if (rule != NULL) {
                return rule;
            }
            parts += (UINT64_C(1) << 32) / entry->name->uses;
            count += 1;
        }
    }
    *entity = UINT32_MAX;
    if (count != names->count) {
        return "named entities are counted";
    }
    return are_uses_right(names, parts) ? NULL : "entities that share a name are counted";
}

// SPDX-License-Identifier: MIT
// Component sets and the layout of their chunks. An archetype lives as long as its store, so its
// number may be kept.
#include "lib/store/store.h"

#include <string.h>

enum { BLOCK_ALIGNMENT = 64 };

static bool is_set(const espl__store *store, const espl_component *set, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (espl__component_info_of(store, set[i]) == NULL || (i > 0 && set[i] <= set[i - 1])) {
            return false;
        }
    }
    return true;
}

static bool has_set(const espl__archetype *archetype, const espl_component *set, size_t count)
{
    return espl__array_length(archetype->set) == count &&
           (count == 0 || memcmp(archetype->set, set, count * sizeof *set) == 0);
}

bool espl__archetype_is(const espl__store *store, uint32_t archetype, const espl_component *set,
                        size_t count)
{
    return has_set(&store->archetypes[archetype], set, count);
}

// Return the archetype of a set, or ESPL__NONE and the key under which it would stand.
static uint32_t look_up(const espl__store *store, const espl_component *set, size_t count,
                        uint32_t *key)
{
    uint32_t number = ESPL__NONE;

    *key = espl__hash_bytes(set, count * sizeof *set);
    while ((number = espl__map_get(&store->archetype_sets, *key, ESPL__NONE)) != ESPL__NONE) {
        if (has_set(&store->archetypes[number], set, count)) {
            break;
        }
        *key += 1;
    }
    return number;
}

// Give each column its place in a block for `capacity` rows, and the versions theirs behind them.
// Returns the bytes of the block.
static size_t lay_out(const espl__store *store, espl__archetype *archetype, size_t capacity)
{
    espl__column *const columns = archetype->columns;
    const size_t column_count = espl__array_length(columns);
    size_t end = capacity * sizeof(espl_entity);

    for (size_t i = 0; i < column_count; ++i) {
        espl__column *const column = &columns[i];
        const size_t alignment = espl__component_info_of(store, column->component)->alignment;

        end = (end + alignment - 1) & ~(alignment - 1);
        column->offset = (uint32_t)end;
        end += capacity * column->size;
    }
    end = (end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    archetype->versions_offset = (uint32_t)end;
    return end + (column_count + 1) * sizeof(uint64_t);
}

static void choose_capacity(const espl__store *store, espl__archetype *archetype)
{
    uint32_t capacity = ESPL__CHUNK_ROWS;
    size_t bytes = lay_out(store, archetype, capacity);

    // A row that is larger than a chunk gets a chunk of its own size.
    while (bytes > ESPL__CHUNK_BYTES && capacity > 1) {
        capacity -= 1;
        bytes = lay_out(store, archetype, capacity);
    }
    archetype->capacity = capacity;
    archetype->chunk_bytes = (uint32_t)bytes;
}

static void free_archetype(espl__store *store, espl__archetype *archetype)
{
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype->set);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype->columns);
}

static void take_component(const espl__store *store, espl__archetype *archetype,
                           espl_component component)
{
    const espl__component_info *const info = espl__component_info_of(store, component);

    ESPL_ARRAY_PUSH(archetype->set, component);
    if (component < 64) {
        archetype->builtin |= UINT64_C(1) << component;
    }
    if (info->size == 0) {
        return;
    }
    ESPL_ARRAY_PUSH(archetype->columns, (espl__column){.component = component, .size = info->size});
    if (info->alignment > archetype->block_alignment) {
        archetype->block_alignment = info->alignment;
    }
}

// Build an archetype that the store does not hold yet. False where there is no memory.
static bool build(espl__store *store, const espl_component *set, size_t count, espl__archetype *out)
{
    espl__archetype archetype = {
        .placement_offset = ESPL__NONE,
        .block_alignment = BLOCK_ALIGNMENT,
        .changed_to = ESPL__NONE,
        .role_edge = {ESPL__NONE, ESPL__NONE, ESPL__NONE},
    };

    for (int kind = 0; kind < ESPL__COPY_KINDS; ++kind) {
        archetype.copy_edge[kind] = ESPL__NONE;
    }

    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype.set, count) ||
        !ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype.columns, count)) {
        free_archetype(store, &archetype);
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        take_component(store, &archetype, set[i]);
    }

    // ESPL_TRANSFORM has the lowest number, so its column is the first.
    choose_capacity(store, &archetype);
    if (count > 0 && set[0] == ESPL_TRANSFORM) {
        archetype.placement_offset = archetype.columns[0].offset;
    }
    *out = archetype;
    return true;
}

// Memory for one more archetype, and for every archetype in the changed list.
static bool reserve_tables(espl__store *store)
{
    const size_t after = espl__array_length(store->archetypes) + 1;
    const size_t listed = espl__array_length(store->changed);

    return ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->archetypes, 1) &&
           ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->changed, after - listed) &&
           espl__map_reserve(store->heap, ESPL__FOR_STORE, &store->archetype_sets);
}

espl_status espl__archetype_of(espl__store *store, const espl_component *set, size_t count,
                               uint32_t *out)
{
    espl__archetype archetype;
    uint32_t key = 0;

    if (count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    ESPL_CHECK(is_set(store, set, count));
    const uint32_t found = look_up(store, set, count, &key);
    if (found != ESPL__NONE) {
        *out = found;
        return ESPL_OK;
    }
    if (!reserve_tables(store) || !build(store, set, count, &archetype)) {
        return ESPL_ERR_NO_MEMORY;
    }

    *out = (uint32_t)espl__array_length(store->archetypes);
    ESPL_ARRAY_PUSH(store->archetypes, archetype);
    espl__map_put(store->heap, ESPL__FOR_STORE, &store->archetype_sets, key, *out);
    return ESPL_OK;
}

static bool contains(const espl_component *list, size_t count, espl_component component)
{
    for (size_t i = 0; i < count; ++i) {
        if (list[i] == component) {
            return true;
        }
    }
    return false;
}

// Put a component in its place in a sorted set of at most ESPL_SET_LIMIT. False where it is full.
static bool insert(espl_component *set, size_t *count, espl_component component)
{
    size_t at = *count;

    if (contains(set, *count, component)) {
        return true;
    }
    if (*count == ESPL_SET_LIMIT) {
        return false;
    }
    for (; at > 0 && set[at - 1] > component; --at) {
        set[at] = set[at - 1];
    }
    set[at] = component;
    *count += 1;
    return true;
}

// Find or make the archetype of a set that differs from another one's by the lists.
static espl_status change_set(espl__store *store, uint32_t archetype, const espl_component *add,
                              size_t add_count, const espl_component *remove, size_t remove_count,
                              uint32_t *out)
{
    const espl_component *const before = store->archetypes[archetype].set;
    const size_t before_count = espl__array_length(before);
    espl_component set[ESPL_SET_LIMIT];
    size_t count = 0;

    for (size_t i = 0; i < before_count; ++i) {
        if (!contains(remove, remove_count, before[i])) {
            set[count++] = before[i];
        }
    }
    for (size_t i = 0; i < add_count; ++i) {
        if (!insert(set, &count, add[i])) {
            return ESPL_ERR_LIMIT;
        }
    }

    // Nothing to change is frequent, and needs no look-up.
    if (has_set(&store->archetypes[archetype], set, count)) {
        *out = archetype;
        return ESPL_OK;
    }
    return espl__archetype_of(store, set, count, out);
}

espl_status espl__archetype_change(espl__store *store, uint32_t archetype,
                                   const espl_component *add, size_t add_count,
                                   const espl_component *remove, size_t remove_count, uint32_t *out)
{
    // One component alone comes and goes again and again.
    if (add_count + remove_count != 1) {
        return change_set(store, archetype, add, add_count, remove, remove_count, out);
    }
    const espl_component component = add_count == 1 ? add[0] : remove[0];
    const espl__archetype *const from = &store->archetypes[archetype];
    const espl__edge known = add_count == 1 ? from->gain : from->loss;

    if (known.component == component) {
        *out = known.to;
        return ESPL_OK;
    }
    const espl_status status =
        change_set(store, archetype, add, add_count, remove, remove_count, out);
    if (status == ESPL_OK) {
        espl__archetype *const at = &store->archetypes[archetype];

        *(add_count == 1 ? &at->gain : &at->loss) = (espl__edge){component, *out};
    }
    return status;
}

espl_status espl__archetype_role(espl__store *store, uint32_t archetype, espl_component role,
                                 uint32_t *out)
{
    static const espl_component roles[] = {ESPL_SOLO, ESPL_ROOT, ESPL_MEMBER};

    ESPL_CHECK(role >= ESPL_SOLO && role <= ESPL_MEMBER);
    const uint32_t known = store->archetypes[archetype].role_edge[role - ESPL_SOLO];
    if (known != ESPL__NONE) {
        *out = known;
        return ESPL_OK;
    }
    const espl_status status = espl__archetype_change(store, archetype, &role, 1, roles, 3, out);
    if (status == ESPL_OK) {
        store->archetypes[archetype].role_edge[role - ESPL_SOLO] = *out;
    }
    return status;
}

espl_status espl__archetype_copy(espl__store *store, uint32_t archetype, uint32_t kind,
                                 uint32_t *out)
{
    static const espl_component removed[] = {ESPL_PREFAB, ESPL_TRANSFORM, ESPL_SOLO, ESPL_ROOT,
                                             ESPL_MEMBER};
    const espl_component added[] = {ESPL_SOLO + kind / 2, ESPL_TRANSFORM};
    espl_status status = ESPL_OK;

    ESPL_CHECK(kind < ESPL__COPY_KINDS);
    *out = store->archetypes[archetype].copy_edge[kind];
    if (*out == ESPL__NONE) {
        status = espl__archetype_change(store, archetype, added, 1 + kind % 2, removed, 5, out);
    }
    if (status == ESPL_OK) {
        store->archetypes[archetype].copy_edge[kind] = *out;
    }
    return status;
}

bool espl__archetype_has(const espl__store *store, uint32_t archetype, espl_component component)
{
    const espl__archetype *const at = &store->archetypes[archetype];

    if (component < 64) {
        return (at->builtin >> component & 1) != 0;
    }
    return contains(at->set, espl__array_length(at->set), component);
}

uint32_t espl__archetype_column(const espl__archetype *archetype, espl_component component)
{
    const size_t count = espl__array_length(archetype->columns);

    for (uint32_t i = 0; i < count && archetype->columns[i].component <= component; ++i) {
        if (archetype->columns[i].component == component) {
            return i;
        }
    }
    return ESPL__NONE;
}

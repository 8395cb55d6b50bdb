// SPDX-License-Identifier: MIT
// Component sets and the layout of their chunks. An archetype is never freed before its store, so
// that its number stays valid. A chunk of `capacity` rows has this layout:
//
//     handles     capacity * 8 bytes
//     columns     capacity * size bytes each, in ascending order of the components, each aligned
//     versions    (number of columns + 1) * 8 bytes: of the handles, then of each column
//
// Values of one component are consecutive, so that a query reads the components that it asks for
// and no other bytes.
#include "lib/store/store.h"

#include <string.h>

// The least alignment of a chunk: a cache line.
enum { BLOCK_ALIGNMENT = 64 };

// Tell whether components are registered and ascending.
static bool is_set(const espl__store *store, const espl_component *set, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (espl__component_info_of(store, set[i]) == NULL || (i > 0 && set[i] <= set[i - 1])) {
            return false;
        }
    }
    return true;
}

// Tell whether the set of an archetype is this set. Both are ascending, so that equal sets have
// equal bytes.
static bool has_set(const espl__archetype *archetype, const espl_component *set, size_t count)
{
    return espl__array_length(archetype->set) == count &&
           (count == 0 || memcmp(archetype->set, set, count * sizeof *set) == 0);
}

bool espl__archetype_is(const espl__store *store, uint32_t archetype, const espl_component *set,
                        size_t count)
{
    ESPL_CHECK(archetype < espl__array_length(store->archetypes));
    return has_set(&store->archetypes[archetype], set, count);
}

// Return the archetype of a set, or ESPL__NONE. *key is the hash under which it is stored, or would
// be.
static uint32_t archetype_by_set(const espl__store *store, const espl_component *set, size_t count,
                                 uint32_t *key)
{
    uint32_t number = ESPL__NONE;

    *key = espl__hash_bytes(set, count * sizeof *set);
    while ((number = espl__map_get(&store->archetype_sets, *key, ESPL__NONE)) != ESPL__NONE) {
        if (has_set(&store->archetypes[number], set, count)) {
            break;
        }
        // Another set has this hash.
        *key += 1;
    }
    return number;
}

// Compute the offsets of columns and versions in a chunk of `capacity` rows. Returns the bytes of
// the chunk.
static size_t lay_out_chunk(const espl__store *store, espl__archetype *archetype, size_t capacity)
{
    espl__column *const columns = archetype->columns;
    const size_t column_count = espl__array_length(columns);
    size_t end = capacity * sizeof(espl_entity);

    ESPL_CHECK(capacity >= 1 && capacity <= ESPL__CHUNK_ROWS);
    for (size_t i = 0; i < column_count; ++i) {
        espl__column *const column = &columns[i];
        const size_t alignment = espl__component_info_of(store, column->component)->alignment;

        ESPL_CHECK(alignment != 0 && (alignment & (alignment - 1)) == 0);
        end = (end + alignment - 1) & ~(alignment - 1);
        column->offset = (uint32_t)end;
        end += capacity * column->size;
    }
    end = (end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    ESPL_CHECK(end <= UINT32_MAX / 2);
    archetype->versions_offset = (uint32_t)end;
    return end + (column_count + 1) * sizeof(uint64_t);
}

// Choose the largest number of rows for which a chunk has at most ESPL__CHUNK_BYTES. A row that is
// larger than that has a chunk of its own size.
static void choose_capacity(const espl__store *store, espl__archetype *archetype)
{
    uint32_t capacity = ESPL__CHUNK_ROWS;
    size_t bytes = lay_out_chunk(store, archetype, capacity);

    while (bytes > ESPL__CHUNK_BYTES && capacity > 1) {
        capacity -= 1;
        bytes = lay_out_chunk(store, archetype, capacity);
    }
    archetype->capacity = capacity;
    archetype->chunk_bytes = (uint32_t)bytes;
}

// Append a component to the set, and its column where it has a size.
static void append_component(const espl__store *store, espl__archetype *archetype,
                             espl_component component)
{
    const espl__component_info *const info = espl__component_info_of(store, component);
    const size_t count = espl__array_length(archetype->set);

    ESPL_CHECK(info != NULL && (count == 0 || archetype->set[count - 1] < component));
    ESPL_ARRAY_PUSH(archetype->set, component);
    // A bit answers espl__archetype_has() without a search, for the components registered first.
    if (component < 64) {
        archetype->builtin |= UINT64_C(1) << component;
    }
    if (info->size == 0) {
        return;
    }
    ESPL_ARRAY_PUSH(archetype->columns,
                    (espl__column){.component = component,
                                   .size = info->size,
                                   .is_unique = (info->flags & ESPL_COMPONENT_UNIQUE) != 0});
    if (info->alignment > archetype->block_alignment) {
        archetype->block_alignment = info->alignment;
    }
}

// Build an archetype of a new set. Returns false where there is no memory.
static bool build_archetype(espl__store *store, const espl_component *set, size_t count,
                            espl__archetype *out)
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
        ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype.set);
        ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype.columns);
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        append_component(store, &archetype, set[i]);
    }

    choose_capacity(store, &archetype);
    // ESPL_TRANSFORM is the component with the lowest number, so that its column is the first.
    if (count > 0 && set[0] == ESPL_TRANSFORM) {
        ESPL_CHECK(archetype.columns[0].component == ESPL_TRANSFORM);
        archetype.placement_offset = archetype.columns[0].offset;
    }
    *out = archetype;
    return true;
}

// Make room for one more archetype in the table, in the map, and in the changed list, which has
// room for all archetypes. Returns false where there is no memory.
static bool reserve_tables(espl__store *store)
{
    const size_t after = espl__array_length(store->archetypes) + 1;
    const size_t listed = espl__array_length(store->changed);

    return ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->archetypes, 1) &&
           ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->changed, after - listed) &&
           espl__map_reserve(store->heap, ESPL__FOR_STORE, &store->archetype_sets);
}

// The tables are reserved before the archetype is built, and the archetype is the last thing that
// can fail, so that a failure leaves the store as it was.
espl_status espl__archetype_of(espl__store *store, const espl_component *set, size_t count,
                               uint32_t *out)
{
    espl__archetype archetype;
    uint32_t key = 0;

    if (count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    ESPL_CHECK(is_set(store, set, count));
    const uint32_t found = archetype_by_set(store, set, count, &key);
    if (found != ESPL__NONE) {
        *out = found;
        return ESPL_OK;
    }
    if (!reserve_tables(store) ||
        !espl__heap_grow(store->heap, ESPL__GROWTH_ARCHETYPES, 0,
                         espl__array_length(store->archetypes) + 1) ||
        !build_archetype(store, set, count, &archetype)) {
        return ESPL_ERR_NO_MEMORY;
    }

    espl__heap_forbid(store->heap);
    *out = (uint32_t)espl__array_length(store->archetypes);
    ESPL_ARRAY_PUSH(store->archetypes, archetype);
    espl__map_put(store->heap, ESPL__FOR_STORE, &store->archetype_sets, key, *out);
    espl__heap_allow(store->heap);
    ESPL_CHECK(espl__array_capacity(store->changed) >= espl__array_length(store->archetypes));
    return ESPL_OK;
}

// --- Forgetting ---

// Remove the last archetype. Its key gets the value of no archetype: keys of a hash are taken in
// order, so that no other archetype is behind the key of the last one.
static void forget_last(espl__store *store)
{
    espl__heap *const heap = store->heap;
    const uint32_t number = (uint32_t)espl__array_length(store->archetypes) - 1;
    espl__archetype *const archetype = &store->archetypes[number];
    uint32_t key = 0;
    const uint32_t found =
        archetype_by_set(store, archetype->set, espl__array_length(archetype->set), &key);

    ESPL_CHECK(found == number && archetype->count == 0 && archetype->coming == 0);
    (void)found;
    espl__map_replace(&store->archetype_sets, key, ESPL__NONE);
    while (espl__array_length(archetype->chunks) > 0) {
        espl__chunk_drop(store, archetype);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_STORE, archetype->chunks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_STORE, archetype->columns);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_STORE, archetype->set);
    espl__array_set_length(store->archetypes, number);
}

// Forget a cached archetype that is gone.
static void cut_edge(uint32_t *edge, size_t length)
{
    *edge = *edge < length ? *edge : ESPL__NONE;
}

static void cut_edges(espl__archetype *archetype, size_t length)
{
    const espl__edge none = {0, 0};

    archetype->gain = archetype->gain.to < length ? archetype->gain : none;
    archetype->loss = archetype->loss.to < length ? archetype->loss : none;
    for (size_t role = 0; role < 3; ++role) {
        cut_edge(&archetype->role_edge[role], length);
    }
    for (size_t kind = 0; kind < ESPL__COPY_KINDS; ++kind) {
        cut_edge(&archetype->copy_edge[kind], length);
    }
}

void espl__archetypes_forget(espl__store *store, size_t first)
{
    const size_t listed = espl__array_length(store->changed);
    size_t kept = 0;

    ESPL_CHECK(first <= espl__array_length(store->archetypes));
    if (first == espl__array_length(store->archetypes)) {
        return;
    }
    while (espl__array_length(store->archetypes) > first) {
        forget_last(store);
    }
    for (size_t i = 0; i < listed; ++i) {
        if (store->changed[i] < first) {
            store->changed[kept++] = store->changed[i];
        }
    }
    espl__array_set_length(store->changed, kept);
    for (size_t i = 0; i < first; ++i) {
        cut_edges(&store->archetypes[i], first);
    }
}

// --- Changed sets ---

// Tell whether a list of components in any order has a component.
static bool contains(const espl_component *list, size_t count, espl_component component)
{
    for (size_t i = 0; i < count; ++i) {
        if (list[i] == component) {
            return true;
        }
    }
    return false;
}

// Insert a component into a sorted set of at most ESPL_SET_LIMIT. Returns false where the set is
// full.
static bool insert_component(espl_component *set, size_t *count, espl_component component)
{
    size_t at = *count;

    ESPL_CHECK(*count <= ESPL_SET_LIMIT);
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
    ESPL_CHECK(at == 0 || set[at - 1] < component);
    return true;
}

// Find or make the archetype of a changed set, without the cache of espl__archetype_change().
static espl_status find_changed(espl__store *store, uint32_t archetype, const espl_component *add,
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
        if (!insert_component(set, &count, add[i])) {
            return ESPL_ERR_LIMIT;
        }
    }

    // A change that changes nothing is frequent. It needs no lookup.
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
    ESPL_CHECK(archetype < espl__array_length(store->archetypes));
    // The cache is for changes of one component, which are the frequent ones.
    if (add_count + remove_count != 1) {
        return find_changed(store, archetype, add, add_count, remove, remove_count, out);
    }
    const espl_component component = add_count == 1 ? add[0] : remove[0];
    const espl__archetype *const from = &store->archetypes[archetype];
    const espl__edge known = add_count == 1 ? from->gain : from->loss;

    if (known.component == component) {
        *out = known.to;
        return ESPL_OK;
    }
    const espl_status status =
        find_changed(store, archetype, add, add_count, remove, remove_count, out);
    if (status == ESPL_OK) {
        // The archetypes may have moved.
        espl__archetype *const at = &store->archetypes[archetype];

        *(add_count == 1 ? &at->gain : &at->loss) = (espl__edge){component, *out};
    }
    return status;
}

// A set has one role: the other roles are removed with it. Attaching changes the role of an entity,
// so that the result is cached for each archetype.
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
        ESPL_CHECK(espl__archetype_has(store, *out, role));
        store->archetypes[archetype].role_edge[role - ESPL_SOLO] = *out;
    }
    return status;
}

// The transform of the source does not matter, because the kind says whether the copy has one. So
// ESPL_TRANSFORM is removed in any case and added where the kind has it.
espl_status espl__archetype_find_copy(espl__store *store, uint32_t archetype, uint32_t kind,
                                      uint32_t *out)
{
    static const espl_component removed[] = {ESPL_PREFAB, ESPL_TRANSFORM, ESPL_SOLO, ESPL_ROOT,
                                             ESPL_MEMBER};
    const espl_component added[] = {ESPL_SOLO + kind / 2, ESPL_TRANSFORM};
    const espl_status status =
        espl__archetype_change(store, archetype, added, 1 + kind % 2, removed, 5, out);

    if (status == ESPL_OK) {
        ESPL_CHECK_FULL(espl__archetype_has(store, *out, added[0]));
        store->archetypes[archetype].copy_edge[kind] = *out;
    }
    return status;
}

bool espl__archetype_has(const espl__store *store, uint32_t archetype, espl_component component)
{
    const espl__archetype *const at = &store->archetypes[archetype];

    ESPL_CHECK_FULL(archetype < espl__array_length(store->archetypes));
    if (component < 64) {
        return (at->builtin >> component & 1) != 0;
    }
    return contains(at->set, espl__array_length(at->set), component);
}

uint32_t espl__archetype_column(const espl__archetype *archetype, espl_component component)
{
    const size_t count = espl__array_length(archetype->columns);

    // Linear, because sets are small. The columns are ascending, so that the search ends early.
    for (uint32_t i = 0; i < count && archetype->columns[i].component <= component; ++i) {
        if (archetype->columns[i].component == component) {
            return i;
        }
    }
    return ESPL__NONE;
}

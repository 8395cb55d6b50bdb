// SPDX-License-Identifier: MIT
// The proof of a store between structural changes: every fact that is held twice is compared, and
// every list is walked with a bound, so that a broken store is named and not followed astray.
#include "lib/store/store.h"

// Where a rule is broken. Each check below returns NULL or the rule.
typedef struct finding {
    espl_entity where;
    size_t detail;
} finding;

// --- Components ---

static const char *broken_references(const espl__component_info *info)
{
    size_t end = 0;

    if (info->reference_count > ESPL_REFERENCE_LIMIT ||
        (info->references == NULL) != (info->reference_count == 0)) {
        return "a component has a list of references, or none";
    }
    for (uint32_t i = 0; i < info->reference_count; ++i) {
        if (info->references[i] < end || info->references[i] + sizeof(espl_entity) > info->size) {
            return "references stand in their component, ascending";
        }
        end = info->references[i] + sizeof(espl_entity);
    }
    return NULL;
}

static const char *broken_component(const espl__store *store, finding *at)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);
    uint32_t referring = 0;

    if (count > ESPL_COMPONENT_LIMIT) {
        at->detail = count;
        return "there are more components than the limit";
    }
    for (espl_component number = 1; number <= count; ++number) {
        const espl__component_info *const info = espl__component_info_of(store, number);

        at->detail = number;
        if (info->alignment == 0 || (info->alignment & (info->alignment - 1)) != 0 ||
            info->size % info->alignment != 0) {
            return "a component's alignment is a power of two that divides its size";
        }
        if (espl__component_find(store, info->name) != number) {
            return "a component is found by its name";
        }
        const char *const rule = broken_references(info);
        if (rule != NULL) {
            return rule;
        }
        referring += info->reference_count != 0 ? 1 : 0;
    }
    at->detail = referring;
    return referring == store->referring_count ? NULL
                                               : "the components with references are counted";
}

// --- Records ---

static bool is_living(const espl__record *record)
{
    return record->row < ESPL__ROW_RETIRED;
}

static bool stands_in_row(const espl__store *store, uint32_t index)
{
    const espl__record *const record = &store->records[index];

    if (record->chunk >= espl__array_length(store->chunks)) {
        return false;
    }
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    return chunk->bytes != NULL && record->row < chunk->count &&
           espl_entity_equal(espl__chunk_entities(chunk)[record->row],
                             espl__entity_at(store, index));
}

static const char *broken_record(const espl__store *store, finding *at)
{
    const size_t issued = espl__array_length(store->records);
    size_t living = 0, retired = 0;

    for (uint32_t index = 0; index < issued; ++index) {
        const espl__record *const record = &store->records[index];

        at->where = espl__entity_at(store, index);
        at->detail = index;
        if (record->generation >> ESPL__TAG_SHIFT != store->tag) {
            return "a record carries the tag of its world";
        }
        if (is_living(record) && !stands_in_row(store, index)) {
            return "a record points at the row that holds its handle";
        }
        living += is_living(record);
        retired += record->row == ESPL__ROW_RETIRED;
    }

    at->where = espl_entity_null();
    at->detail = issued;
    if (living != store->alive_count || retired != store->retired_count ||
        living + retired + store->free_count != issued) {
        return "the free, the retired and the living partition the issued indices";
    }
    return NULL;
}

// A list that ends within free_count steps visits no index twice; with the counts above, it visits
// every free one.
static const char *broken_free_list(const espl__store *store, finding *at)
{
    const size_t issued = espl__array_length(store->records);
    uint32_t index = store->free_head;

    for (size_t step = 0; step < store->free_count; ++step) {
        at->detail = index;
        if (index >= issued || store->records[index].row != ESPL__NONE) {
            return "the free list holds free indices, as many as are free";
        }
        index = store->records[index].chunk;
    }
    at->detail = index;
    return index == ESPL__NONE ? NULL : "the free list ends after the last free index";
}

// --- Archetypes ---

static const char *broken_set(const espl__store *store, uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    const size_t count = espl__array_length(archetype->set);
    uint64_t low = 0;
    size_t columns = 0;

    if (count > ESPL_SET_LIMIT) {
        return "a set has at most ESPL_SET_LIMIT components";
    }
    for (size_t i = 0; i < count; ++i) {
        const espl_component component = archetype->set[i];
        const espl__component_info *const info = espl__component_info_of(store, component);

        if (info == NULL || (i > 0 && component <= archetype->set[i - 1])) {
            return "a set holds registered components, ascending";
        }
        low |= component < 64 ? UINT64_C(1) << component : 0;
        columns += info->size != 0;
    }
    if (low != archetype->builtin) {
        return "the bits of an archetype agree with its set";
    }
    if (columns != espl__array_length(archetype->columns)) {
        return "an archetype has a column for each component with a size";
    }
    return NULL;
}

// The same probing as in archetypes.c, where a set was put under the first key that was free.
static const char *broken_look_up(const espl__store *store, uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    const size_t count = espl__array_length(store->archetypes);
    uint32_t key = espl__hash_bytes(archetype->set,
                                    espl__array_length(archetype->set) * sizeof *archetype->set);

    uint32_t found = ESPL__NONE;

    for (size_t probe = 0; probe < count && found != number; ++probe) {
        found = espl__map_get(&store->archetype_sets, key, ESPL__NONE);
        if (found == ESPL__NONE) {
            break;
        }
        key += 1;
    }
    return found == number ? NULL : "an archetype is found by the hash of its set";
}

static const char *broken_layout(const espl__store *store, const espl__archetype *archetype)
{
    const size_t count = espl__array_length(archetype->columns);
    size_t end = archetype->capacity * sizeof(espl_entity);
    uint32_t placement = ESPL__NONE;

    if (archetype->capacity == 0 || archetype->capacity > ESPL__CHUNK_ROWS) {
        return "a chunk has room for 1 to ESPL__CHUNK_ROWS rows";
    }
    for (size_t i = 0; i < count; ++i) {
        const espl__column *const column = &archetype->columns[i];
        const espl__component_info *const info = espl__component_info_of(store, column->component);

        if (info == NULL || info->size != column->size || info->size == 0 ||
            column->offset % info->alignment != 0 || archetype->block_alignment < info->alignment) {
            return "a column has its component's size and alignment";
        }
        if (column->offset < end || (i > 0 && column->component <= column[-1].component)) {
            return "columns stand in the order of their components and do not overlap";
        }
        end = column->offset + (size_t)archetype->capacity * column->size;
        placement = column->component == ESPL_TRANSFORM ? column->offset : placement;
    }
    end = (end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    if (end != archetype->versions_offset) {
        return "the versions of a chunk stand behind its last column, aligned";
    }
    end += (count + 1) * sizeof(uint64_t);
    if (end != archetype->chunk_bytes || (end > ESPL__CHUNK_BYTES && archetype->capacity != 1)) {
        return "a chunk is as large as its rows need, and small unless one row alone is large";
    }
    return placement == archetype->placement_offset ? NULL : "the slot column stands where noted";
}

// Number of components of a set that have a bit; roles are among them.
static size_t count_low(const espl__archetype *archetype)
{
    const size_t count = espl__array_length(archetype->set);
    size_t low = 0;

    while (low < count && archetype->set[low] < 64) {
        low += 1;
    }
    return low;
}

// Compare two sets but for the roles in them.
static bool differ_in_role_only(const espl__archetype *a, const espl__archetype *b)
{
    const uint64_t roles =
        UINT64_C(1) << ESPL_SOLO | UINT64_C(1) << ESPL_ROOT | UINT64_C(1) << ESPL_MEMBER;
    const size_t a_low = count_low(a), b_low = count_low(b);
    const size_t high = espl__array_length(a->set) - a_low;
    bool is_same = (a->builtin & ~roles) == (b->builtin & ~roles) &&
                   high == espl__array_length(b->set) - b_low;

    for (size_t i = 0; is_same && i < high; ++i) {
        is_same = a->set[a_low + i] == b->set[b_low + i];
    }
    return is_same;
}

static const char *broken_role_edge(const espl__store *store, const espl__archetype *archetype)
{
    for (uint32_t role = ESPL_SOLO; role <= ESPL_MEMBER; ++role) {
        const uint32_t edge = archetype->role_edge[role - ESPL_SOLO];

        if (edge != ESPL__NONE && (edge >= espl__array_length(store->archetypes) ||
                                   !espl__archetype_has(store, edge, role) ||
                                   !differ_in_role_only(archetype, &store->archetypes[edge]))) {
            return "a role edge leads to the same set with that role";
        }
    }
    return NULL;
}

// Compare two sets but for one component.
static bool differ_in(const espl__archetype *a, const espl__archetype *b, espl_component component)
{
    const size_t a_count = espl__array_length(a->set), b_count = espl__array_length(b->set);
    size_t i = 0, j = 0;

    for (;;) {
        i += i < a_count && a->set[i] == component ? 1 : 0;
        j += j < b_count && b->set[j] == component ? 1 : 0;
        if (i == a_count || j == b_count) {
            return i == a_count && j == b_count;
        }
        if (a->set[i++] != b->set[j++]) {
            return false;
        }
    }
}

static const char *broken_edge(const espl__store *store, const espl__archetype *archetype)
{
    const espl__edge edges[2] = {archetype->loss, archetype->gain};

    for (size_t gains = 0; gains < 2; ++gains) {
        const espl__edge edge = edges[gains];

        if (edge.component != 0 &&
            (edge.to >= espl__array_length(store->archetypes) ||
             espl__archetype_has(store, edge.to, edge.component) != (gains == 1) ||
             !differ_in(archetype, &store->archetypes[edge.to], edge.component))) {
            return "an edge leads to the same set with one component more or less";
        }
    }
    return NULL;
}

static const char *broken_archetype(const espl__store *store, finding *at)
{
    const size_t count = espl__array_length(store->archetypes);

    for (uint32_t number = 0; number < count; ++number) {
        const espl__archetype *const archetype = &store->archetypes[number];
        const char *rule = broken_set(store, number);

        at->detail = number;
        rule = rule != NULL ? rule : broken_look_up(store, number);
        rule = rule != NULL ? rule : broken_layout(store, archetype);
        rule = rule != NULL ? rule : broken_role_edge(store, archetype);
        rule = rule != NULL ? rule : broken_edge(store, archetype);
        if (rule != NULL) {
            return rule;
        }
    }
    return NULL;
}

// --- Chunks ---

static const char *broken_version(const espl__store *store, const espl__chunk *chunk)
{
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const size_t count = espl__array_length(archetype->columns) + 1;

    if ((const unsigned char *)chunk->versions != chunk->bytes + archetype->versions_offset) {
        return "a chunk knows where its versions stand";
    }
    for (size_t i = 0; i < count; ++i) {
        // Handles are written with all columns, so that none is older than they are.
        if (chunk->versions[i] > store->version || chunk->versions[i] < chunk->versions[0]) {
            return "a column is no newer than the store and no older than its handles";
        }
    }
    return chunk->count == 0 || chunk->versions[0] != 0 ? NULL : "rows in a chunk were written";
}

static const char *broken_rows(const espl__store *store, uint32_t number, finding *at)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const uint32_t offset = store->archetypes[chunk->archetype].placement_offset;
    const uint32_t *const slots =
        offset == ESPL__NONE ? NULL : (const uint32_t *)(const void *)(chunk->bytes + offset);

    for (uint32_t row = 0; row < chunk->count; ++row) {
        const espl_entity entity = espl__chunk_entities(chunk)[row];

        at->where = entity;
        if (entity.index >= espl__array_length(store->records) ||
            !espl_entity_equal(entity, espl__entity_at(store, entity.index)) ||
            store->records[entity.index].chunk != number ||
            store->records[entity.index].row != row) {
            return "a row's handle is living and its record points back";
        }
        if (slots != NULL && slots[row] != store->records[entity.index].slot) {
            return "the slot column agrees with the records";
        }
    }
    at->where = espl_entity_null();
    return NULL;
}

static const char *broken_chunk(const espl__store *store, uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];

    if (chunk->bytes == NULL) {
        return chunk->position < espl__array_length(store->free_chunks) &&
                       store->free_chunks[chunk->position] == number
                   ? NULL
                   : "a chunk without memory stands in the list of free numbers";
    }
    if (chunk->archetype >= espl__array_length(store->archetypes)) {
        return "a chunk belongs to an archetype";
    }
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];

    if (chunk->position >= espl__array_length(archetype->chunks) ||
        archetype->chunks[chunk->position] != number) {
        return "a chunk stands in its archetype's list";
    }
    if (chunk->slots_offset != archetype->placement_offset) {
        return "a chunk knows where its slots stand";
    }
    if ((uintptr_t)chunk->bytes % archetype->block_alignment != 0) {
        return "a chunk's memory is aligned";
    }
    if (chunk->leaving_count != 0 || (chunk->leaving[0] | chunk->leaving[1]) != 0) {
        return "no row is marked to leave";
    }
    if (chunk->mark != 0) {
        return "no change of many rows is under way";
    }

    const size_t start = (size_t)chunk->position * archetype->capacity;
    const size_t here = archetype->count > start ? archetype->count - start : 0;
    if (chunk->count != (here < archetype->capacity ? here : archetype->capacity)) {
        return "only the last chunk with rows of an archetype is partly filled";
    }
    return NULL;
}

static const char *broken_chunk_table(const espl__store *store, finding *at)
{
    const size_t count = espl__array_length(store->chunks);
    size_t free_count = 0;

    for (uint32_t number = 0; number < count; ++number) {
        const char *rule = broken_chunk(store, number);

        at->detail = number;
        free_count += store->chunks[number].bytes == NULL;
        if (rule == NULL && store->chunks[number].bytes != NULL) {
            rule = broken_version(store, &store->chunks[number]);
            rule = rule != NULL ? rule : broken_rows(store, number, at);
        }
        if (rule != NULL) {
            return rule;
        }
    }
    at->detail = free_count;
    return free_count == espl__array_length(store->free_chunks)
               ? NULL
               : "the list of free numbers holds each of them once";
}

// --- Totals ---

// That there are as many rows as living entities follows: each row's record points back at it.

static const char *broken_total(const espl__store *store, finding *at)
{
    const size_t count = espl__array_length(store->archetypes);
    const size_t listed = espl__array_length(store->changed);
    size_t chunks = 0, changed = 0;

    for (size_t number = 0; number < count; ++number) {
        const espl__archetype *const archetype = &store->archetypes[number];
        const size_t own = espl__array_length(archetype->chunks);

        at->detail = number;
        if (archetype->reserved != own * archetype->capacity ||
            archetype->count > archetype->reserved) {
            return "an archetype's rows fit the chunks it has";
        }
        if (archetype->leaving_count != 0) {
            return "no row is marked to leave";
        }
        if (archetype->floor > archetype->reserved) {
            return "room that a user keeps is there";
        }
        if (archetype->coming != 0 || archetype->changed_to != ESPL__NONE) {
            return "no change of many rows is under way";
        }
        chunks += own;
        changed += archetype->is_changed;
    }

    at->detail = chunks;
    if (chunks + espl__array_length(store->free_chunks) != espl__array_length(store->chunks)) {
        return "every chunk belongs to one archetype or is free";
    }
    at->detail = espl__array_length(store->changed_chunks);
    if (at->detail != 0) {
        return "no row is marked to leave";
    }
    for (size_t i = 0; i < listed; ++i) {
        at->detail = store->changed[i];
        if (at->detail >= count || !store->archetypes[at->detail].is_changed) {
            return "the changed list holds the changed archetypes";
        }
    }
    at->detail = changed;
    return changed == listed ? NULL : "the changed list holds the changed archetypes";
}

// The lists have room for all there could be, so that leaving needs no memory.
static const char *broken_room(const espl__store *store, finding *at)
{
    const size_t chunks = espl__array_length(store->chunks);

    at->detail = chunks;
    if (espl__array_capacity(store->free_chunks) < chunks ||
        espl__array_capacity(store->changed_chunks) < chunks) {
        return "the lists of chunk numbers have room for all of them";
    }
    at->detail = espl__array_length(store->archetypes);
    if (espl__array_capacity(store->changed) < at->detail) {
        return "the changed list has room for all archetypes";
    }
    return NULL;
}

const char *espl__store_broken_rule(const espl__store *store, espl_entity *where, size_t *detail)
{
    // Each may rely on what stands before it. Records come after the chunks they point into.
    static const char *(*const checks[])(const espl__store *, finding *) = {
        broken_component, broken_archetype, broken_chunk_table, broken_record,
        broken_free_list, broken_total,     broken_room,
    };
    finding at = {{0, 0}, 0};
    const char *rule = NULL;

    for (size_t i = 0; rule == NULL && i < sizeof checks / sizeof *checks; ++i) {
        at = (finding){{0, 0}, 0};
        rule = checks[i](store, &at);
    }
    if (rule == NULL) {
        at = (finding){{0, 0}, 0};
    }
    if (where != NULL) {
        *where = at.where;
    }
    if (detail != NULL) {
        *detail = at.detail;
    }
    return rule;
}

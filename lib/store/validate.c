// SPDX-License-Identifier: MIT
// Validation of a store between structural changes. Facts that are stored twice are compared, and
// lists are walked for a bounded number of steps, so that an invalid store neither crashes nor
// hangs it.
//
// Each function below returns NULL where its invariants hold, and else the first one that does not,
// as a sentence that is true of a valid store. Tests compare these sentences, and users read them.
#include "lib/store/store.h"

// What an invariant that does not hold is about. `detail` is an index, a chunk, an archetype, a
// component or a count, whichever the sentence names. A function sets them before the test that may
// fail.
typedef struct violation {
    espl_entity where;
    size_t detail;
} violation;

// --- Components ---

// Check the references of a component. A reference is the handle of an entity inside a value.
// References do not overlap, because a clone replaces them one by one in place.
static const char *broken_references(const espl__component_info *info)
{
    size_t end = 0;

    if (info->reference_count > ESPL_REFERENCE_LIMIT ||
        (info->references == NULL) != (info->reference_count == 0)) {
        return "a component has a list of references where it counts any";
    }
    for (uint32_t i = 0; i < info->reference_count; ++i) {
        if (info->references[i] < end || info->references[i] + sizeof(espl_entity) > info->size) {
            return "references are inside their component, in ascending order";
        }
        end = info->references[i] + sizeof(espl_entity);
    }
    return NULL;
}

// Check the registry. The count of components with references decides whether clones are searched
// for references at all, so that a wrong count would leave references to originals in clones.
static const char *broken_component(const espl__store *store, violation *at)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);
    uint32_t referring = 0;

    if (count > ESPL_COMPONENT_LIMIT) {
        at->detail = count;
        return "there are at most ESPL_COMPONENT_LIMIT components";
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
                                               : "the count of components with references is right";
}

// --- Records ---

// Tell whether a record is that of a living entity: the rows of free and retired indices are the
// two largest numbers.
static bool is_record_living(const espl__record *record)
{
    return record->row < ESPL__ROW_RETIRED;
}

// Tell whether the row that a record names holds the handle of the index. The chunk and the row are
// compared with their bounds first, so that a wrong record reads nothing out of bounds.
static bool is_handle_in_row(const espl__store *store, uint32_t index)
{
    const espl__record *const record = &store->records[index];

    if (record->chunk >= espl__array_length(store->chunks)) {
        return false;
    }
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    return chunk->bytes != NULL && espl__record_row(record) < chunk->count &&
           espl_entity_equal(espl__chunk_entities(chunk)[espl__record_row(record)],
                             espl__entity_at(store, index));
}

// The row of a record says which of three states its index has. The store has indices in a fourth
// state during structural changes alone: they are taken and have no row yet.
static const char *broken_record(const espl__store *store, violation *at)
{
    const size_t issued = espl__array_length(store->records);
    size_t living = 0, retired = 0;

    for (uint32_t index = 0; index < issued; ++index) {
        const espl__record *const record = &store->records[index];

        at->where = espl__entity_at(store, index);
        at->detail = index;
        if (record->generation >> ESPL__TAG_SHIFT != store->tag) {
            return "a record has the tag of its world";
        }
        if (is_record_living(record) && !is_handle_in_row(store, index)) {
            return "a record points at the row that holds its handle";
        }
        living += is_record_living(record);
        retired += record->row == ESPL__ROW_RETIRED;
    }

    at->where = espl_entity_null();
    at->detail = store->least_generation;
    if (store->least_generation > ESPL__LAST_GENERATION + 1) {
        return "the least generation of a freed index is at most one after the last";
    }
    at->detail = issued;
    if (living != store->alive_count || retired != store->retired_count ||
        living + retired + store->free_count != issued) {
        return "free, retired and living indices partition the issued ones";
    }
    return NULL;
}

// A list that ends after free_count steps visits no index twice. There are free_count free indices,
// by the counts above, so that it visits all of them.
static const char *broken_free_list(const espl__store *store, violation *at)
{
    const size_t issued = espl__array_length(store->records);
    uint32_t index = store->free_head;

    for (size_t step = 0; step < store->free_count; ++step) {
        at->detail = index;
        if (index >= issued || store->records[index].row != ESPL__NONE) {
            return "the free list has free_count indices, all of them free";
        }
        index = store->records[index].chunk;
    }
    at->detail = index;
    return index == ESPL__NONE ? NULL : "the free list ends after the last free index";
}

// --- Archetypes ---

// Check the set of an archetype. The set is the truth; the bits and the columns repeat a part of
// it.
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
            return "a set has registered components, in ascending order";
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

// The probing is that of archetypes.c: a set is stored under the first free key from its hash on.
static const char *broken_lookup(const espl__store *store, uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    const size_t count = espl__array_length(store->archetypes);
    uint32_t key = espl__hash_bytes(archetype->set,
                                    espl__array_length(archetype->set) * sizeof *archetype->set);
    uint32_t found = ESPL__NONE;

    // Each probe finds another archetype, so that there are no more probes than archetypes.
    for (size_t probe = 0; probe < count && found != number; ++probe) {
        found = espl__map_get(&store->archetype_sets, key, ESPL__NONE);
        if (found == ESPL__NONE) {
            break;
        }
        key += 1;
    }
    return found == number ? NULL : "an archetype is found by the hash of its set";
}

// Check the layout of the chunks of an archetype. The columns follow the handles without overlap,
// and the versions follow the columns. A chunk that is larger than ESPL__CHUNK_BYTES has one row.
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
            return "columns are in the order of their components and do not overlap";
        }
        end = column->offset + (size_t)archetype->capacity * column->size;
        placement = column->component == ESPL_TRANSFORM ? column->offset : placement;
    }
    end = (end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    if (end != archetype->versions_offset) {
        return "the versions of a chunk follow its last column, aligned";
    }
    end += (count + 1) * sizeof(uint64_t);
    if (end != archetype->chunk_bytes || (end > ESPL__CHUNK_BYTES && archetype->capacity != 1)) {
        return "a chunk has the size of its rows, at most ESPL__CHUNK_BYTES unless it has one row";
    }
    return placement == archetype->placement_offset ? NULL
                                                    : "the offset of the slot column is right";
}

// Return the number of components of a set that have a bit in `builtin`. Roles are among them.
static size_t count_low(const espl__archetype *archetype)
{
    const size_t count = espl__array_length(archetype->set);
    size_t low = 0;

    while (low < count && archetype->set[low] < 64) {
        low += 1;
    }
    return low;
}

// Tell whether two sets are equal, roles aside. The components without a bit are compared one by
// one.
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

// Check the cached archetypes with another role. A wrong edge would move entities to an archetype
// with other components, and lose values.
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

// Tell whether two sets are equal, one component aside: both are walked, and the component is
// skipped.
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

// An edge caches the last change of one component, as espl__archetype_change() found it.
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

// The edges come last, because they are compared with sets that were checked before.
static const char *broken_archetype(const espl__store *store, violation *at)
{
    const size_t count = espl__array_length(store->archetypes);

    for (uint32_t number = 0; number < count; ++number) {
        const espl__archetype *const archetype = &store->archetypes[number];
        const char *rule = broken_set(store, number);

        at->detail = number;
        rule = rule != NULL ? rule : broken_lookup(store, number);
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

// Queries for changes compare these versions with earlier ones of the store. A version above that
// of the store would be a change in each query.
static const char *broken_version(const espl__store *store, const espl__chunk *chunk)
{
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const size_t count = espl__array_length(archetype->columns) + 1;

    if ((const unsigned char *)chunk->versions != chunk->bytes + archetype->versions_offset) {
        return "a chunk has the address of its versions";
    }
    for (size_t i = 0; i < count; ++i) {
        // A write of the handles is a write of all columns, so that no column is older than they
        // are.
        if (chunk->versions[i] > store->version || chunk->versions[i] < chunk->versions[0]) {
            return "a column is no newer than the store and no older than its handles";
        }
    }
    return chunk->count == 0 || chunk->versions[0] != 0 ? NULL
                                                        : "a chunk with rows has been written";
}

// Check each row of a chunk against its record. With the records checked as well, rows and living
// records are a bijection. `where` is the entity of the row that is wrong.
static const char *broken_rows(const espl__store *store, uint32_t number, violation *at)
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
            store->records[entity.index].row != espl__row_word(chunk, row)) {
            return "the handle of a row is living and its record points back";
        }
        if (slots != NULL && slots[row] != store->records[entity.index].slot) {
            return "the slot column agrees with the records";
        }
    }
    at->where = espl_entity_null();
    return NULL;
}

// A free number is in the list of free numbers, any other in the list of its archetype. The
// position of a chunk and the count of its archetype say how many rows it has.
static const char *broken_chunk(const espl__store *store, uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];

    if (chunk->bytes == NULL) {
        return chunk->position < espl__array_length(store->free_chunks) &&
                       store->free_chunks[chunk->position] == number
                   ? NULL
                   : "a chunk without memory is in the list of free numbers";
    }
    if (chunk->archetype >= espl__array_length(store->archetypes)) {
        return "a chunk belongs to an archetype";
    }
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];

    if (chunk->position >= espl__array_length(archetype->chunks) ||
        archetype->chunks[chunk->position] != number) {
        return "a chunk is in the list of its archetype";
    }
    if (chunk->slots_offset != archetype->placement_offset) {
        return "a chunk has the offset of its slot column";
    }
    if ((uintptr_t)chunk->bytes % archetype->block_alignment != 0) {
        return "the memory of a chunk is aligned";
    }
    if (chunk->leaving_count != 0 || (chunk->leaving[0] | chunk->leaving[1]) != 0) {
        return "no row leaves between structural changes";
    }
    if (chunk->mark != 0) {
        return "no batched change of rows is in progress";
    }

    const size_t start = (size_t)chunk->position * archetype->capacity;
    const size_t here = archetype->count > start ? archetype->count - start : 0;
    if (chunk->count != (here < archetype->capacity ? here : archetype->capacity)) {
        return "only the last chunk with rows of an archetype is partly filled";
    }
    return NULL;
}

// Check all chunks. The list of free numbers has no duplicates: each free chunk names its own place
// in it.
static const char *broken_chunk_table(const espl__store *store, violation *at)
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

// Check the sums over all archetypes, and that no structural change is half done: no row leaves,
// none comes, and no list of one is filled. The number of rows equals that of living entities,
// because each row has a record that points back. So it is not counted here.
static const char *broken_total(const espl__store *store, violation *at)
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
            return "the rows of an archetype fit its chunks";
        }
        if (archetype->leaving_count != 0) {
            return "no row leaves between structural changes";
        }
        if (archetype->floor > archetype->reserved) {
            return "the room that a user keeps is reserved";
        }
        if (archetype->coming != 0 || archetype->changed_to != ESPL__NONE) {
            return "no batched change of rows is in progress";
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
        return "no row leaves between structural changes";
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

// The lists have room for all numbers of their kind, because a commit pushes to them without a
// reserve.
static const char *broken_room(const espl__store *store, violation *at)
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

// --- Names ---

// Check the table of names. Each name was found to be in one place of it: as many names of living
// entities as there are names at all, and there is no other. The walk over all entities is skipped
// where there are no names.
static const char *broken_names(const espl__store *store, violation *at)
{
    const size_t issued = espl__array_length(store->records);
    uint32_t entity = ESPL__NONE;
    size_t named = 0;
    const char *const rule = espl__names_broken_rule(&store->names, &entity);

    at->detail = entity;
    if (rule != NULL) {
        at->where = entity < issued ? espl__entity_at(store, entity) : espl_entity_null();
        return rule;
    }
    for (uint32_t index = 0; index < issued && store->names.count != 0; ++index) {
        named +=
            is_record_living(&store->records[index]) && espl__name_of(&store->names, index) != NULL;
    }
    at->detail = named;
    return named == store->names.count ? NULL : "names are those of living entities";
}

// Check the links of counterparts. Originals are of other worlds.
static const char *broken_counterparts(const espl__store *store, violation *at)
{
    const espl__counterparts *const links = &store->counterparts;
    const size_t issued = espl__array_length(store->records);
    uint32_t entity = ESPL__NONE;
    const char *const rule = espl__counterparts_broken_rule(links, &entity);
    size_t living = 0;

    at->detail = entity;
    if (rule != NULL) {
        at->where = entity < issued ? espl__entity_at(store, entity) : espl_entity_null();
        return rule;
    }
    for (uint32_t index = 0; index < issued && links->count != 0; ++index) {
        const espl_entity original = espl__original_of(links, index);

        if (espl_entity_is_null(original)) {
            continue;
        }
        at->where = espl__entity_at(store, index);
        if (!espl__may_be_original(store, original)) {
            return "an original is of another world";
        }
        living += is_record_living(&store->records[index]) ? 1 : 0;
    }
    at->where = espl_entity_null();
    at->detail = living;
    return living == links->count ? NULL : "counterparts live";
}

// Check the index plane, which has room for the indices that were issued. A reserve that finds no memory for it
// leaves more room for records than it has; the next one makes room in it before an index is issued.
static const char *broken_plane(const espl__store *store, violation *at)
{
    const espl__plane *const plane = &store->index_plane;
    uint32_t index = 0;
    const char *const rule = espl__plane_broken_rule(plane, &index);

    at->detail = index;
    if (rule != NULL) {
        return rule;
    }
    at->detail = plane->capacity;
    return !espl__plane_is_open(plane) || plane->capacity >= espl__array_length(store->records)
               ? NULL
               : "the index plane has room for the issued indices";
}

// The first rule that is broken, in the order of the checks. Takes no memory, so that it can also
// run after an allocation failed.
const char *espl__store_broken_rule(const espl__store *store, espl_entity *where, size_t *detail)
{
    // Each check relies on those before it. Records come after the chunks that they point into.
    static const char *(*const checks[])(const espl__store *, violation *) = {
        broken_component,    broken_archetype, broken_chunk_table, broken_record,
        broken_free_list,    broken_total,     broken_room,        broken_names,
        broken_counterparts, broken_plane,
    };
    violation at = {{0, 0}, 0};
    const char *rule = NULL;

    for (size_t i = 0; rule == NULL && i < sizeof checks / sizeof *checks; ++i) {
        at = (violation){{0, 0}, 0};
        rule = checks[i](store, &at);
    }
    if (rule == NULL) {
        at = (violation){{0, 0}, 0};
    }
    if (where != NULL) {
        *where = at.where;
    }
    if (detail != NULL) {
        *detail = at.detail;
    }
    return rule;
}

// SPDX-License-Identifier: MIT
// Queries: iteration over the chunks whose archetypes answer a query, and access to their columns.
//
// A query keeps its lists in the caller's struct, so that it takes no memory. It walks archetypes
// in the order of their numbers, and in each the chunks in order. From begin to end it keeps the
// world busy, so that no structural call moves rows under it; columns may be written, which
// increments their versions. Invariant of a query under way: `count` rows of the chunk before
// `state.chunk` are shown, or none.
//
// The query that a parallel write passes to its function is not an iteration (`state.is_dealt`): it
// shows rows of one piece, and its list `all` names the columns that may be written.
//
// A query that is not under way is all zeros: espl_query_end() clears it, and espl_query_next()
// does so at the end. Every function below accepts it, and answers as if there were no rows.
#include "lib/world/query.h"

#include "lib/base/prefetch.h"
#include "lib/world/refusals.h"
#include "lib/world/tape_columns.h"

#include <string.h>

_Static_assert(sizeof(espl_query) < 256, "a query fits in four cache lines");
_Static_assert(ESPL_COMPONENT_LIMIT <= UINT16_MAX && ESPL_TERM_LIMIT <= UINT8_MAX &&
                   ESPL_SET_LIMIT <= ESPL_TERM_LIMIT,
               "a term is 16 bits, and counts are 8");

// One list of a query's definition, and where the query keeps its length.
typedef struct term {
    const espl_component *from;
    size_t count;
    uint8_t *to_count;
} term;

enum { TERMS = 4, INCLUDE_ALL = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED };

// Check the components of one list. ESPL_ERR_ARGUMENT: one of them is not registered. Roles and
// ESPL_TRANSFORM are valid, because archetypes have them in their sets.
static espl_status check_term(const espl_world *world, const term *t)
{
    for (size_t i = 0; i < t->count; ++i) {
        if (espl__component_info_of(&world->store, t->from[i]) == NULL) {
            return ESPL_ERR_ARGUMENT;
        }
    }
    return ESPL_OK;
}

// Check a definition: all pointers and counts, then the flags, then the components of each list.
// The counts of all lists together have one limit, because the query keeps them in one array.
// `left` is what they may still use, so that no sum can overflow.
// @return ESPL_OK, ESPL_ERR_UNSUPPORTED, ESPL_ERR_ARGUMENT, ESPL_ERR_LIMIT.
static espl_status check_terms(const espl_world *world, const espl_query_def *def,
                               const term terms[TERMS])
{
    espl_status status = ESPL_OK;
    size_t left = ESPL_TERM_LIMIT;

    if (ESPL__ASKS_LATER(def)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < TERMS; ++i) {
        if (terms[i].from == NULL && terms[i].count != 0) {
            return ESPL_ERR_ARGUMENT;
        }
        if (terms[i].count > left) {
            return ESPL_ERR_LIMIT;
        }
        left -= terms[i].count;
    }
    if ((def->include & ~(uint32_t)INCLUDE_ALL) != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    for (size_t i = 0; i < TERMS && status == ESPL_OK; ++i) {
        status = check_term(world, &terms[i]);
    }
    return status;
}

// Say what is wrong with a term, and add its component to the message.
static const char *find_term_fault(espl__message *m, const espl_world *world,
                                   const espl_component *list, size_t count, const char *missing)
{
    const char *fault = list == NULL && count != 0 ? missing : NULL;

    for (size_t i = 0; fault == NULL && i < count; ++i) {
        fault = espl__component_fault(&world->store, list[i], 0, ESPL__USE_LISTED);
        if (fault != NULL) {
            espl__message_component(m, &world->store, list[i]);
        }
    }
    return fault;
}

// Find what is wrong with a definition that check_terms() refused with ESPL_ERR_ARGUMENT. The lists
// are walked again, because a check has no room for a message. Where no list is wrong, the flags
// are.
static const char *find_query_fault(espl__message *m, const espl_world *world,
                                    const espl_query_def *def)
{
    const struct {
        const espl_component *list;
        size_t count;
        const char *missing;
    } lists[TERMS] = {
        {def->all, def->all_count, "espl_query_def.all is NULL, but all_count is not 0."},
        {def->none, def->none_count, "espl_query_def.none is NULL, but none_count is not 0."},
        {def->any, def->any_count, "espl_query_def.any is NULL, but any_count is not 0."},
        {def->changed, def->changed_count,
         "espl_query_def.changed is NULL, but changed_count is not 0."},
    };
    const char *fault = NULL;

    for (size_t i = 0; fault == NULL && i < TERMS; ++i) {
        fault = find_term_fault(m, world, lists[i].list, lists[i].count, lists[i].missing);
    }
    return fault != NULL ? fault : "espl_query_def.include has a bit that is no ESPL_INCLUDE_ bit.";
}

// A query that is refused names no entity. Its parts are the site and the component that is wrong.
espl_status espl__refuse_query(const espl_world *world, const char *call, const char *site,
                               const espl_query_def *def, espl_status status)
{
    espl__message m;

    if (espl__refusal_begin(&m, world, call, site, status)) {
        const bool is_fault = status == ESPL_ERR_ARGUMENT && def != NULL;
        const char *const why = is_fault                         ? find_query_fault(&m, world, def)
                                : status == ESPL_ERR_UNSUPPORTED ? ESPL__LATER_FAULT
                                                                 : NULL;

        espl__refusal_send(&m, world, status, why);
    }
    return status;
}

// A linear search, because most lists have one or two components.
static bool lists_component(const uint16_t *list, uint32_t count, espl_component component)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (list[i] == component) {
            return true;
        }
    }
    return false;
}

// The lists of a query, one behind the other.
static const uint16_t *none_of(const espl_query *query)
{
    return query->state.terms + query->state.all_count;
}

static const uint16_t *any_of(const espl_query *query)
{
    return none_of(query) + query->state.none_count;
}

static const uint16_t *changed_of(const espl_query *query)
{
    return any_of(query) + query->state.any_count;
}

// Store numbers of components in 16 bits. Precondition: each is registered, so that it fits.
void espl__query_list(uint16_t *out, const espl_component *components, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ESPL_CHECK_FULL(components[i] != 0 && components[i] <= ESPL_COMPONENT_LIMIT);
        out[i] = (uint16_t)components[i];
    }
}

// Nothing is written to the query before all checks have passed, so that a query which is under way by
// mistake is not lost by a refused begin. `def` may be NULL: every entity answers that is neither a prefab
// nor disabled.
espl_status espl__query_fill(espl_world *world, const espl_query_def *def, espl_query *query)
{
    const espl_query_def everything = {0};
    const espl_query_def *const d = def != NULL ? def : &everything;
    const term terms[TERMS] = {
        {d->all, d->all_count, &query->state.all_count},
        {d->none, d->none_count, &query->state.none_count},
        {d->any, d->any_count, &query->state.any_count},
        {d->changed, d->changed_count, &query->state.changed_count},
    };
    const espl_status status = check_terms(world, d, terms);

    if (status != ESPL_OK) {
        return status;
    }
    memset(query, 0, sizeof *query);
    for (size_t i = 0, used = 0; i < TERMS; ++i) {
        espl__query_list(query->state.terms + used, terms[i].from, terms[i].count);
        *terms[i].to_count = (uint8_t)terms[i].count;
        used += terms[i].count;
    }
    query->state.world = world;
    query->state.since = d->since;
    query->state.include = d->include;
    // A query that names a tag includes the entities that have it.
    query->state.include |= lists_component(query->state.terms, query->state.all_count, ESPL_PREFAB)
                                ? (uint32_t)ESPL_INCLUDE_PREFABS
                                : 0;
    query->state.include |=
        lists_component(query->state.terms, query->state.all_count, ESPL_DISABLED)
            ? (uint32_t)ESPL_INCLUDE_DISABLED
            : 0;
    return ESPL_OK;
}

espl_status espl__query_start(espl_world *world, const espl_query_def *def, espl_query *query)
{
    const espl_status status = espl__query_fill(world, def, query);

    if (status != ESPL_OK) {
        return status;
    }
    const espl__iteration_id id =
        espl__iteration_begin(world, ESPL__ITERATES_QUERY, def != NULL ? def->site : NULL, query,
                              espl_entity_null());

    query->state.noted = (uint8_t)id.number;
    query->state.turn = id.turn;
    return ESPL_OK;
}

// The body of both begins: a refusal is logged under the name of the public function.
static espl_status begin_query(espl_world *world, const espl_query_def *def, espl_query *query,
                               const char *call)
{
    if (world == NULL || query == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, "query is NULL.");
    }
    const espl_status status = espl__query_start(world, def, query);

    return status >= 0
               ? status
               : espl__refuse_query(world, call, def != NULL ? def->site : NULL, def, status);
}

espl_status espl_query_begin(espl_world *world, const espl_query_def *def, espl_query *query)
{
    return begin_query(world, def, query, "espl_query_begin");
}

// Of the world only the count of iterations and what is noted of them change, which are atomic: any
// number of threads may begin and end.
espl_status espl_query_begin_read(const espl_world *world, const espl_query_def *def,
                                  espl_query *query)
{
    espl_world *const counted = (espl_world *)(uintptr_t)world;
    const espl_status status = begin_query(counted, def, query, "espl_query_begin_read");

    if (status == ESPL_OK) {
        query->state.is_read_only = true;
    }
    return status;
}

// --- What answers ---

// Count the components of a list that an archetype has.
static uint32_t count_had(const espl__store *store, uint32_t archetype, const uint16_t *list,
                          uint32_t count)
{
    uint32_t had = 0;

    for (uint32_t i = 0; i < count; ++i) {
        had += espl__archetype_has(store, archetype, list[i]) ? 1 : 0;
    }
    return had;
}

// Tell whether an archetype has a tag that a query leaves out unless it includes it.
static bool is_excluded(const espl_query *query, uint32_t archetype)
{
    const espl__store *const store = &query->state.world->store;
    const uint32_t include = query->state.include;

    return ((include & ESPL_INCLUDE_PREFABS) == 0 &&
            espl__archetype_has(store, archetype, ESPL_PREFAB)) ||
           ((include & ESPL_INCLUDE_DISABLED) == 0 &&
            espl__archetype_has(store, archetype, ESPL_DISABLED));
}

// Tell whether the entities of an archetype answer a query: all of `all`, none of `none`, at least
// one of `any` unless that is empty. Whether a chunk has changed is asked chunk by chunk.
bool espl__query_answers(const espl_query *query, uint32_t archetype)
{
    const espl__store *const store = &query->state.world->store;
    const uint32_t all = query->state.all_count;

    if (is_excluded(query, archetype) ||
        count_had(store, archetype, query->state.terms, all) != all ||
        count_had(store, archetype, none_of(query), query->state.none_count) != 0) {
        return false;
    }
    return query->state.any_count == 0 ||
           count_had(store, archetype, any_of(query), query->state.any_count) != 0;
}

// Tell whether a chunk was written, in a column that the query asks for, since the version that it
// names. True where it asks for none.
static bool is_chunk_changed(const espl_query *query, uint32_t chunk)
{
    const espl__store *const store = &query->state.world->store;
    const uint32_t archetype = store->chunks[chunk].archetype;

    const uint16_t *const changed = changed_of(query);

    for (uint32_t i = 0; i < query->state.changed_count; ++i) {
        const espl_component component = changed[i];

        if (espl__archetype_has(store, archetype, component) &&
            espl__chunk_version(store, chunk, component) > query->state.since) {
            return true;
        }
    }
    return query->state.changed_count == 0;
}

// --- Iterating ---

// Show a chunk to the caller. `world_poses` is the array of the whole pool, which no call moves while a
// query is under way. Chunks without a slot column, those of entities without transforms, show
// NULL.
static void show_chunk(espl_query *query, const espl__archetype *archetype, uint32_t number)
{
    espl_world *const world = query->state.world;
    const espl__chunk *const chunk = &world->store.chunks[number];

    ESPL_CHECK(chunk->count != 0 && chunk->archetype == query->state.archetype);
    query->state.shown_at = world->store.version;
    query->count = chunk->count;
    query->entities = espl__chunk_entities(chunk);
    query->world_poses = world->forest.world;
    query->slots =
        archetype->placement_offset == ESPL__NONE
            ? NULL
            : (const uint32_t *)(const void *)(chunk->bytes + archetype->placement_offset);
}

// Distances of prefetches: the slots of a chunk, and its entry in the table of chunks. Slots one,
// two and four chunks ahead were equally fast, eight slower.
enum { SLOTS_AHEAD = 2, CHUNKS_AHEAD = 4, LINE_SIZE = 64 };

// Distance of the slots of neighbouring rows from which on their world transforms are two cache lines
// apart.
enum { WORLDS_APART = 4 };

// Prefetch the slots of a later chunk, and the entry of one later still. Chunks lie apart in
// memory, so that the hardware does not predict the next one. Inline, because gcc drops a call of a
// function that only prefetches as one without effect.
ESPL__INLINE void fetch_ahead(const espl__store *store, const espl__archetype *archetype,
                              uint32_t at)
{
    const size_t count = espl__array_length(archetype->chunks);

    if (archetype->placement_offset == ESPL__NONE || count - at <= CHUNKS_AHEAD) {
        return;
    }
    const espl__chunk *const next = &store->chunks[archetype->chunks[at + SLOTS_AHEAD]];
    const unsigned char *const slots = next->bytes + archetype->placement_offset;

    espl__prefetch(&store->chunks[archetype->chunks[at + CHUNKS_AHEAD]]);
    for (size_t i = 0; i < archetype->capacity * sizeof(uint32_t); i += LINE_SIZE) {
        espl__prefetch(slots + i);
    }
}

// Prefetch the world transforms of the next chunk where they lie apart, as those of roots do. Where
// they are close the hardware prefetches them, and doing it here as well made a sum of all
// positions a third slower. Only for queries that name ESPL_TRANSFORM, because others rarely read
// transforms.
ESPL__INLINE void fetch_worlds(const espl_query *query, const espl__archetype *archetype,
                               uint32_t at)
{
    const espl__store *const store = &query->state.world->store;
    const espl_pose *const worlds = query->world_poses;

    if (!lists_component(query->state.terms, query->state.all_count, ESPL_TRANSFORM) ||
        espl__array_length(archetype->chunks) - at <= 1) {
        return;
    }
    const espl__chunk *const next = &store->chunks[archetype->chunks[at + 1]];
    const uint32_t *const slots =
        (const uint32_t *)(const void *)(next->bytes + archetype->placement_offset);

    if (next->count == 0 || slots[next->count - 1] - slots[0] < WORLDS_APART * next->count) {
        return;
    }
    for (uint32_t row = 0; row < next->count; ++row) {
        espl__prefetch(&worlds[slots[row]].position);
    }
}

// Trap for a query that goes on after another copy of it has ended its iteration. It becomes zeros,
// so that it traps once.
static ESPL__APART void end_stale_query(espl_query *query, const char *call)
{
    const espl_world *const world = query->state.world;

    memset(query, 0, sizeof *query);
    espl__trap_ended(world, call, "query");
}

// Tell whether a query is one that its user began and that is under way. The rows of a parallel write
// are none, and trap.
static bool is_iteration(espl_query *query, const char *call)
{
    espl__message m;

    if (query == NULL || query->state.world == NULL) {
        return false;
    }
    if (query->state.is_dealt) {
        (void)espl__message_begin(&m, &query->state.world->hooks, call, NULL);
        espl__message_trap(&m, __FILE__, __LINE__,
                           "The query is the rows of a parallel write, which does not move; begin "
                           "one with espl_query_begin() to iterate.");
        return false;
    }
    if (!espl__query_is_open(query)) {
        end_stale_query(query, call);
        return false;
    }
    return true;
}

// Tell whether the chunk at hand is looked at for columns that the tape needs.
static bool may_have_written(const espl_query *query)
{
    return !query->state.is_read_only && espl__is_taped(query->state.world);
}

// Answers are computed once for each archetype, at its first chunk.
bool espl__query_advance(espl_query *query)
{
    const espl__store *const store = &query->state.world->store;
    const size_t archetypes = espl__array_length(store->archetypes);

    while (query->state.archetype < archetypes) {
        const espl__archetype *const archetype = &store->archetypes[query->state.archetype];
        const uint32_t at = query->state.chunk++;

        // Chunks after the last row are spare.
        if ((size_t)at * archetype->capacity >= archetype->count ||
            (at == 0 && !espl__query_answers(query, query->state.archetype))) {
            query->state.archetype += 1;
            query->state.chunk = 0;
            continue;
        }
        if (is_chunk_changed(query, archetype->chunks[at])) {
            show_chunk(query, archetype, archetype->chunks[at]);
            fetch_ahead(store, archetype, at);
            fetch_worlds(query, archetype, at);
            return true;
        }
    }
    return false;
}

// The columns of the chunk that is left are recorded first, because the tape compares them with the
// version at which the chunk was shown.
bool espl_query_next(espl_query *query)
{
    if (!is_iteration(query, "espl_query_next")) {
        return false;
    }
    if (may_have_written(query)) {
        espl__tape_columns(query);
        query->count = 0;
    }
    if (!espl__query_advance(query)) {
        espl_query_end(query);
        return false;
    }
    return true;
}

// Ends a query under way, at any chunk. No effect on one that has ended, so that a loop may break
// and call it, and a second call is harmless. A copy of one that has ended traps.
void espl_query_end(espl_query *query)
{
    if (!is_iteration(query, "espl_query_end")) {
        return;
    }
    if (may_have_written(query)) {
        espl__tape_columns(query);
    }
    (void)espl__iteration_end(query->state.world, espl__query_iteration(query));
    memset(query, 0, sizeof *query);
}

// --- Columns ---

// Trap for a use of a column that only a fault of the caller causes. Names the component and, where
// it is wrong, the size.
static ESPL__APART void trap_column(const espl_query *query, espl_component component, size_t size,
                                    const char *call, const char *sentence)
{
    espl__message m;

    (void)espl__message_begin(&m, &query->state.world->hooks, call, NULL);
    espl__message_value(&m, &query->state.world->store, component, size);
    espl__message_trap(&m, __FILE__, __LINE__, "%s", sentence);
}

// Tell whether the chunk shown has a column of that component and size for the user. A component
// that does not exist yields false; a size that is not the component's traps.
static bool has_column(const espl_query *query, espl_component component, size_t size,
                       const char *call)
{
    if (query == NULL || query->state.world == NULL || query->count == 0 ||
        component == ESPL_TRANSFORM) {
        return false;
    }
    if (!espl__query_is_open(query)) {
        espl__trap_ended(query->state.world, call, "query");
        return false;
    }
    const espl__component_info *const info =
        espl__component_info_of(&query->state.world->store, component);

    if (info == NULL || size == info->size) {
        return info != NULL && size != 0;
    }
    trap_column(query, component, size, call,
                "The size is not that of the component; pass the size of the type that was "
                "registered.");
    return false;
}

// Number of the chunk that is shown: that before `state.chunk`. Precondition: rows are shown.
static uint32_t chunk_at_hand(const espl_query *query)
{
    const espl__store *const store = &query->state.world->store;

    ESPL_CHECK(query->count != 0 && query->state.chunk != 0);
    return store->archetypes[query->state.archetype].chunks[query->state.chunk - 1];
}

// The rows at hand of a column of their chunk; NULL stays NULL. A parallel write shows a piece of a
// chunk, which begins at row `first`; an iteration shows the whole of it, with `first` 0.
static void *rows_of(const espl_query *query, void *column, size_t size)
{
    return column == NULL ? NULL : (unsigned char *)column + query->state.first * size;
}

// NULL where the query is not under way, the component is not registered, is a tag or
// ESPL_TRANSFORM, or its archetype does not have it. A read changes no version.
const void *espl_query_read(const espl_query *query, espl_component component, size_t size)
{
    if (!has_column(query, component, size, "espl_query_read")) {
        return NULL;
    }
    return rows_of(query,
                   espl__chunk_column(&query->state.world->store, chunk_at_hand(query), component),
                   size);
}

// Tell whether a column may be written now. While a parallel write runs only its function may, and
// only columns that the write named: versions of any other would be incremented by several threads.
static bool may_write(const espl_query *query, espl_component component, size_t size,
                      const char *call)
{
    if (query->state.is_read_only) {
        trap_column(query, component, size, call,
                    "The query was begun to read only; begin it with espl_query_begin() to write.");
        return false;
    }
    if (!query->state.is_dealt) {
        return !espl__is_parallel(query->state.world);
    }
    const bool is_named = lists_component(query->state.terms, query->state.all_count, component);

    if (!is_named) {
        trap_column(query, component, size, call,
                    "The parallel write did not name the column; add it to "
                    "espl_parallel_def.columns.");
    }
    return is_named;
}

// The version of the column is incremented by the call, whether or not the caller then writes. A
// parallel write has incremented the versions of its columns before its jobs, because these would
// race for them.
void *espl_query_write(const espl_query *query, espl_component component, size_t size)
{
    static const char *const call = "espl_query_write";

    if (!has_column(query, component, size, call) || !may_write(query, component, size, call)) {
        return NULL;
    }
    espl__store *const store = &query->state.world->store;
    const uint32_t chunk = chunk_at_hand(query);

    return rows_of(query,
                   query->state.is_dealt ? espl__chunk_column(store, chunk, component)
                                         : espl__chunk_write(store, chunk, component),
                   size);
}

// The version of the last write of any column. 0: no world, or nothing was written yet.
uint64_t espl_get_version(const espl_world *world)
{
    return world != NULL ? world->store.version : 0;
}

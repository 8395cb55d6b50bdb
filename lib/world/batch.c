// SPDX-License-Identifier: MIT
// Batches of writes: handles are resolved, entries sorted by where their nodes stand, and each
// hierarchy is written in one pass, hierarchies side by side. All memory is taken before anything
// is changed.
#include "lib/world/inside.h"

#include "lib/tree/writes.h"
#include "lib/world/places.h"

#include <string.h>

_Static_assert(sizeof(espl_write) == 60, "write: 8 + 4 + 48");

enum { RESOLVE_GRAIN = 1024, WRITE_GRAIN = 16 };

// The entries as the caller holds them: in one array, or in one of entities and one of values.
typedef struct entries {
    const espl_write *writes; // or NULL:
    const espl_entity *entities;
    const unsigned char *values;
    size_t value_size;
    espl_write_kind kind;
    size_t count;
} entries;

// The entries of one run: numbers[begin .. begin + count).
typedef struct group {
    uint32_t begin, count, run;
    bool is_done;
} group;

// Two spans of a walk fit where an entry's places were sorted.
typedef union room {
    espl__place places[2];
    espl__span spans[2];
} room;

typedef struct batch {
    espl_world *world;
    const entries *entries;
    espl__write_source source;
    uint32_t *slots;
    espl_status *results;
    room *rooms;                 // [count]
    espl__place *places, *other; // [count] the two halves of the rooms; sorted
    size_t place_count;
    uint32_t *numbers; // [place_count] of places, apart
    uint32_t *ranks;   // [place_count] of their nodes; before, where the node of each entry stands
    group *groups;
    size_t group_count;
    espl_pose *old_locals;
    espl__side_entry *old_sides;                               // NULL: no run has side arrays
    _Atomic uint64_t visited, skipped, writes, writes_skipped; // sums do not depend on the order
} batch;

// --- Entries ---

static espl_entity entity_of(const entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].entity : e->entities[i];
}

static espl_write_kind kind_of(const entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].kind : e->kind;
}

static espl_status fetch(const void *context, uint32_t number, espl_write_kind *kind,
                         espl_write_value *value)
{
    const entries *const e = context;

    *kind = kind_of(e, number);
    espl__write_load(value, *kind,
                     e->writes != NULL ? (const void *)&e->writes[number].value
                                       : (const void *)(e->values + number * e->value_size));
    return espl__write_check(*kind, value);
}

// --- Resolving ---

static espl_status resolve(const espl_world *world, const entries *e, size_t i, uint32_t *slot)
{
    const espl_status status = espl__find_placed(world, entity_of(e, i), slot);

    if (status == ESPL_OK && (unsigned)kind_of(e, i) >= ESPL_WRITE_KIND_COUNT) {
        return ESPL_ERR_ARGUMENT;
    }
    return status;
}

static void resolve_entries(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const espl__forest *const forest = &b->world->forest;

    for (size_t i = begin; i < end; ++i) {
        b->slots[i] = ESPL__NO_SLOT;
        b->results[i] = resolve(b->world, b->entries, i, &b->slots[i]);
        if (b->results[i] == ESPL_OK) {
            const uint32_t slot = b->slots[i];

            b->ranks[i] = forest->runs[forest->run[slot]].base + forest->rank[slot];
        }
    }
}

// List the entries that name a node. Tells whether they stand in order already.
static bool list_places(batch *b)
{
    bool is_sorted = true;
    uint32_t last = 0;

    b->place_count = 0;
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->results[i] != ESPL_OK) {
            continue;
        }
        const uint32_t position = b->ranks[i];

        is_sorted = is_sorted && position >= last;
        last = position;
        b->places[b->place_count++] = (espl__place){position, (uint32_t)i};
    }
    return is_sorted;
}

// --- Memory ---

// Lay the arrays of a batch of `count` out. @return bytes; with NULL it only measures.
static size_t lay_out(batch *b, unsigned char *block, size_t count)
{
    size_t at = 0;

    b->slots = espl__carve(block, &at, count, sizeof *b->slots, 16);
    b->results = espl__carve(block, &at, count, sizeof *b->results, 16);
    b->rooms = espl__carve(block, &at, count, sizeof *b->rooms, 16);
    b->numbers = espl__carve(block, &at, count, sizeof *b->numbers, 16);
    b->ranks = espl__carve(block, &at, count, sizeof *b->ranks, 16);
    b->groups = espl__carve(block, &at, count, sizeof *b->groups, 16);
    b->old_locals = espl__carve(block, &at, count, sizeof *b->old_locals, 16);
    if (block != NULL) {
        b->places = (espl__place *)(void *)b->rooms;
        b->other = b->places + count;
    }
    return at;
}

espl_status espl__scratch_grow(espl_world *world, espl__scratch *scratch, size_t size)
{
    if (size <= scratch->size) {
        return ESPL_OK;
    }
    void *const block = espl__heap_take(&world->heap, ESPL__FOR_COMMANDS, 1, size, 64);

    if (block == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__scratch_free(world, scratch);
    *scratch = (espl__scratch){block, size};
    return ESPL_OK;
}

void espl__scratch_free(espl_world *world, espl__scratch *scratch)
{
    espl__heap_give(&world->heap, ESPL__FOR_COMMANDS, scratch->block, 1, scratch->size, 64);
    *scratch = (espl__scratch){NULL, 0};
}

static espl_status reserve(espl_world *world, size_t count)
{
    batch measured;

    if (count > UINT32_MAX / 4) {
        return ESPL_ERR_LIMIT;
    }
    return espl__scratch_grow(world, &world->write_scratch, lay_out(&measured, NULL, count));
}

static espl_status reserve_sides(espl_world *world, size_t count)
{
    return espl__scratch_grow(world, &world->side_scratch, count * sizeof(espl__side_entry));
}

espl_status espl_reserve_writes(espl_world *world, size_t count)
{
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : reserve(world, count);
    status = status != ESPL_OK ? status : reserve_sides(world, count);
    return espl__refuse(world, "reserve of writes", espl_entity_null(), status);
}

// An entry that is refused for its value wants nothing.
static bool wants_side(const entries *e, size_t i)
{
    espl_write_kind kind;
    espl_write_value value;

    return espl__write_has_extra(kind_of(e, i)) &&
           fetch(e, (uint32_t)i, &kind, &value) == ESPL_OK && espl__write_wants_side(kind, &value);
}

// Side arrays that turned out not to be needed go back.
static void drop_sides(batch *b)
{
    for (size_t i = 0; i < b->group_count; ++i) {
        espl__run_drop_side(&b->world->forest, b->groups[i].run);
    }
}

static espl_status ensure_sides(batch *b)
{
    espl_status status = ESPL_OK;

    for (size_t g = 0; g < b->group_count && status == ESPL_OK; ++g) {
        const group *const at = &b->groups[g];
        bool is_wanted = b->world->forest.runs[at->run].side != NULL;

        for (uint32_t i = 0; i < at->count && !is_wanted; ++i) {
            is_wanted = wants_side(b->entries, b->numbers[at->begin + i]);
        }
        status = is_wanted ? espl__ensure_side(b->world, at->run, false) : ESPL_OK;
    }
    return status;
}

// --- Groups ---

// Take the run of the node whose entry stands at `at`. @return the first entry behind it.
static uint32_t form_group(batch *b, uint32_t at)
{
    const espl__forest *const forest = &b->world->forest;
    const uint32_t run = forest->run[b->slots[b->places[at].number]];
    const uint32_t base = forest->runs[run].base, size = forest->runs[run].size;
    const uint32_t begin = at;

    while (at < b->place_count && b->places[at].position - base < size) {
        b->numbers[at] = b->places[at].number;
        b->ranks[at] = b->places[at].position - base;
        at += 1;
    }
    b->groups[b->group_count++] = (group){begin, at - begin, run, false};
    return at;
}

static void form_groups(batch *b)
{
    b->group_count = 0;
    for (uint32_t at = 0; at < b->place_count;) {
        at = form_group(b, at);
    }
}

// Runs with side arrays need room to remember what was in them.
static espl_status find_sides(batch *b)
{
    bool has_side = false;

    for (size_t i = 0; i < b->group_count && !has_side; ++i) {
        has_side = b->world->forest.runs[b->groups[i].run].side != NULL;
    }
    b->old_sides = NULL;
    if (!has_side) {
        return ESPL_OK;
    }
    const espl_status status = reserve_sides(b->world, b->entries->count);

    b->old_sides = b->world->side_scratch.block;
    return status;
}

static espl__run_writes writes_of(batch *b, const group *g, const espl__team *team)
{
    const bool has_side = b->world->forest.runs[g->run].side != NULL;

    return (espl__run_writes){.source = &b->source,
                              .numbers = b->numbers + g->begin,
                              .ranks = b->ranks + g->begin,
                              .count = g->count,
                              .run = g->run,
                              .team = *team,
                              .spans = b->rooms[g->begin].spans,
                              .span_count = 2 * g->count,
                              .old_locals = b->old_locals + g->begin,
                              .old_sides = has_side ? b->old_sides + g->begin : NULL};
}

static void add_up(batch *b, const espl__tally *tally)
{
    b->visited += tally->nodes_visited;
    b->skipped += tally->nodes_skipped;
    b->writes += tally->writes;
    b->writes_skipped += tally->writes_skipped;
}

static void write_group(batch *b, group *g, const espl__team *team, espl__tally *tally)
{
    espl__run_writes w = writes_of(b, g, team);

    espl__run_write(&b->world->forest, &w);
    g->is_done = true;
    espl__tally_add(tally, &(espl__tally){w.visited, w.skipped, w.writes, w.writes_skipped});
}

static void write_groups(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const espl__team alone = {0};
    espl__tally tally = {0};

    for (size_t i = begin; i < end; ++i) {
        if (!b->groups[i].is_done) {
            write_group(b, &b->groups[i], &alone, &tally);
        }
    }
    add_up(b, &tally);
}

static bool is_giant(const batch *b, const group *g)
{
    const espl__forest *const forest = &b->world->forest;

    return espl__run_is_wide(forest, &forest->runs[g->run]);
}

static size_t count_giants(const batch *b)
{
    size_t giants = 0;

    for (size_t i = 0; i < b->group_count; ++i) {
        giants += is_giant(b, &b->groups[i]) ? 1 : 0;
    }
    return giants;
}

// A few large hierarchies come first, one after the other, each on all workers; where there are
// enough of them to go round, each is one worker's. Neither shows in what is written or counted.
static void write_giants(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl__tally tally = {0};

    if (espl__executor_is_serial(&b->world->executor) ||
        count_giants(b) / 2 >= b->world->executor.worker_count) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        if (is_giant(b, &b->groups[i])) {
            write_group(b, &b->groups[i], &forest->crew.team, &tally);
        }
    }
    add_up(b, &tally);
}

static void count_groups(const batch *b)
{
    const espl__tally tally = {b->visited, b->skipped, b->writes, b->writes_skipped};

    espl__tally_add(&b->world->forest.crew.tally, &tally);
}

// --- The whole ---

static void count_results(const batch *b, espl_write_report *report)
{
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->results[i] >= 0) {
            report->applied += 1;
            report->lossy += b->results[i] == ESPL_LOSSY ? 1 : 0;
            continue;
        }
        if (report->refused == 0) {
            report->first_refused = i;
            report->first_status = b->results[i];
        }
        report->refused += 1;
    }
}

// While jobs run the world is closed to whoever calls it back from one of them.
static espl_status run_closed(batch *b, espl__range_function function, size_t count, size_t grain)
{
    espl_world *const world = b->world;

    world->is_playing = true;
    const espl_status status =
        espl__run_ranges(&world->executor, &world->hooks, function, b, count, grain);
    world->is_playing = false;
    return status;
}

static espl_status prepare(batch *b)
{
    espl_world *const world = b->world;
    espl_status status = reserve(world, b->entries->count);

    if (status != ESPL_OK) {
        return status;
    }
    (void)lay_out(b, world->write_scratch.block, b->entries->count);
    b->source = (espl__write_source){fetch, b->entries, b->slots, b->results};
    status = run_closed(b, resolve_entries, b->entries->count, RESOLVE_GRAIN);
    if (status != ESPL_OK) {
        return status;
    }
    if (!list_places(b)) {
        espl__places_sort(&b->places, &b->other, b->place_count);
    }
    form_groups(b);
    status = ensure_sides(b);
    status = status != ESPL_OK ? status : find_sides(b);
    if (status != ESPL_OK) {
        drop_sides(b);
    }
    return status;
}

static espl_status write_batch(espl_world *world, const entries *e, espl_write_report *report)
{
    batch b = {.world = world, .entries = e};
    espl_status status = ESPL_OK;

    if (e->count == 0) {
        return ESPL_OK;
    }
    status = world->is_playing ? ESPL_ERR_BUSY : prepare(&b);
    if (status != ESPL_OK) {
        return status;
    }
    write_giants(&b);
    status = run_closed(&b, write_groups, b.group_count, WRITE_GRAIN);
    if (status != ESPL_OK) {
        // The executor lost a job; the writes are under way and are completed here.
        write_groups(&b, 0, b.group_count);
    }
    count_groups(&b);
    drop_sides(&b);
    count_results(&b, report);
    if (report->refused != 0) {
        (void)espl__refuse(world, "batched write", entity_of(e, report->first_refused),
                           report->first_status);
        return ESPL_PARTLY;
    }
    return report->lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// @param is_there  the arrays are.
// @param is_valid  the kind takes such values.
static espl_status start_batch(espl_world *world, const entries *e, bool is_there, bool is_valid,
                               espl_write_report *report)
{
    espl_write_report account = {0};
    espl_status status = ESPL_ERR_ARGUMENT;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && is_there) && is_valid) {
        status = write_batch(world, e, &account);
    }
    if (report != NULL) {
        *report = account;
    }
    return espl__refuse(world, "batch of writes", espl_entity_null(), status);
}

espl_status espl_write_batch(espl_world *world, const espl_write *writes, size_t count,
                             espl_write_report *report)
{
    const entries e = {.writes = writes, .count = count};

    return start_batch(world, &e, writes != NULL || count == 0, true, report);
}

// Writes of one kind, from two arrays. @param size  of one value.
static espl_status start_typed(espl_world *world, espl_write_kind kind, espl__value_type type,
                               const espl_entity *entities, const void *values, size_t size,
                               size_t count, espl_write_report *report)
{
    const entries e = {
        .entities = entities, .values = values, .value_size = size, .kind = kind, .count = count};
    const bool is_there = (entities != NULL && values != NULL) || count == 0;

    return start_batch(world, &e, is_there, espl__write_value_type(kind) == type, report);
}

espl_status espl_write_vectors(espl_world *world, espl_write_kind kind, const espl_entity *entities,
                               const float (*values)[3], size_t count, espl_write_report *report)
{
    return start_typed(world, kind, ESPL__VALUE_VECTOR, entities, values, sizeof *values, count,
                       report);
}

espl_status espl_write_rotations(espl_world *world, espl_write_kind kind,
                                 const espl_entity *entities, const float (*values)[4],
                                 size_t count, espl_write_report *report)
{
    return start_typed(world, kind, ESPL__VALUE_ROTATION, entities, values, sizeof *values, count,
                       report);
}

espl_status espl_write_scalars(espl_world *world, espl_write_kind kind, const espl_entity *entities,
                               const float *values, size_t count, espl_write_report *report)
{
    return start_typed(world, kind, ESPL__VALUE_SCALAR, entities, values, sizeof *values, count,
                       report);
}

espl_status espl_write_transforms(espl_world *world, espl_write_kind kind,
                                  const espl_entity *entities, const espl_transform *values,
                                  size_t count, espl_write_report *report)
{
    return start_typed(world, kind, ESPL__VALUE_TRANSFORM, entities, values, sizeof *values, count,
                       report);
}

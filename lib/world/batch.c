// SPDX-License-Identifier: MIT
// Batches of writes: handles are resolved, entries sorted by where their nodes stand, and each
// hierarchy is written in one pass, hierarchies side by side. All memory is taken before anything
// is changed.
#include "lib/world/tape.h"

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
    bool is_once; // no node has two
    bool is_done;
    bool is_told; // some result may be other than ESPL_OK
} group;

_Static_assert(sizeof(group) == 16, "group: 3 words and 3 facts");

// Two spans of a walk fit where an entry's places were sorted, or the entries of four positions
// were noted.
typedef union room {
    espl__place places[2];
    espl__span spans[2];
    uint32_t numbers[4];
} room;

enum { NUMBERS_OF_ROOM = 4 };

typedef struct batch {
    espl_world *world;
    const entries *entries;
    espl__write_source source;
    uint32_t *slots;
    espl_status *results;
    room *rooms;                 // [count]
    espl__place *places, *other; // [count] the two halves of the rooms; sorted
    size_t place_count;
    uint32_t *numbers; // [place_count] of the entries that name a node, in the order of positions
    uint32_t *ranks;   // [place_count] of their nodes; before, the position of each entry's node
    _Atomic bool is_mixed; // entries are not all of one kind
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

static const void *value_at(const entries *e, size_t i)
{
    return e->writes != NULL ? (const void *)&e->writes[i].value
                             : (const void *)(e->values + i * e->value_size);
}

static espl_status fetch(const void *context, uint32_t number, espl_write_kind *kind,
                         espl_write_value *value)
{
    const entries *const e = context;

    *kind = kind_of(e, number);
    espl__write_load(value, *kind, value_at(e, number));
    return espl__write_check(*kind, value);
}

// --- Resolving ---

// Where the run at hand stands: neighbours among entries are mostly neighbours in the pool.
typedef struct vicinity {
    uint32_t base, used;
    bool is_in_order; // positions are slots
} vicinity;

// Base + rank of a slot.
static inline uint32_t position_of(const espl__forest *forest, uint32_t slot, vicinity *near)
{
    if (slot - near->base >= near->used) {
        const espl__run *const run = espl__run_of(forest, slot);

        *near = (vicinity){run->base, run->used, (run->flags & ESPL__RUN_IN_ORDER) != 0};
    }
    return near->is_in_order ? slot : near->base + forest->rank[slot];
}

// What is looked at of entities; a copy at hand, since nothing that is written can change it.
typedef struct registry {
    const espl__record *records;
    size_t count;
    const uint8_t *flags;
    uint32_t *slots;
    espl_status *results;
} registry;

static registry registry_of(const batch *b)
{
    const espl_world *const world = b->world;

    return (registry){.records = world->store.records,
                      .count = espl__array_length(world->store.records),
                      .flags = world->forest.flags,
                      .slots = b->slots,
                      .results = b->results};
}

// Where the node of an entry stands, or ESPL__NO_SLOT with the reason why it is nowhere. What is
// nearly always so is told without a call: the entity lives and has a transform.
static inline uint32_t find_position(const batch *b, const registry *r, espl_entity entity,
                                     vicinity *near, size_t i)
{
    if (entity.index < r->count) {
        const espl__record *const record = &r->records[entity.index];
        const uint32_t slot = record->slot;

        if (record->generation == entity.generation && record->row < ESPL__ROW_RETIRED &&
            (r->flags[slot] & ESPL__SLOT_PASS) == 0) {
            r->slots[i] = slot;
            r->results[i] = ESPL_OK;
            return position_of(&b->world->forest, slot, near);
        }
    }
    uint32_t none = ESPL__NO_SLOT;

    r->results[i] = espl__find_placed(b->world, entity, &none);
    r->slots[i] = ESPL__NO_SLOT;
    return ESPL__NO_SLOT;
}

// Look at the kinds of entries that have one each. @return whether all are the same.
static bool check_kinds(const batch *b, size_t begin, size_t end)
{
    const espl_write *const writes = b->entries->writes;
    bool is_same = true;

    for (size_t i = begin; i < end; ++i) {
        is_same = is_same && writes[i].kind == writes[0].kind;
        if ((unsigned)writes[i].kind >= ESPL_WRITE_KIND_COUNT && b->results[i] == ESPL_OK) {
            b->results[i] = ESPL_ERR_ARGUMENT;
            b->ranks[i] = ESPL__NO_SLOT;
        }
    }
    return is_same;
}

static void resolve_entries(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const espl_entity *const entities = b->entries->entities;
    const espl_write *const writes = b->entries->writes;
    const registry r = registry_of(b);
    uint32_t *const positions = b->ranks;
    vicinity near = {0};

    if (writes == NULL) {
        for (size_t i = begin; i < end; ++i) {
            positions[i] = find_position(b, &r, entities[i], &near, i);
        }
        return;
    }
    for (size_t i = begin; i < end; ++i) {
        positions[i] = find_position(b, &r, writes[i].entity, &near, i);
    }
    if (!check_kinds(b, begin, end)) {
        b->is_mixed = true;
    }
}

// --- Order ---

// What is known of the positions of all entries that name a node.
typedef struct extent {
    uint32_t least, most;
    size_t count;
    bool is_sorted;
} extent;

static extent measure(const batch *b)
{
    extent x = {.least = UINT32_MAX, .is_sorted = true};
    uint32_t last = 0;

    for (size_t i = 0; i < b->entries->count; ++i) {
        const uint32_t position = b->ranks[i];

        if (position != ESPL__NO_SLOT) {
            x.least = position < x.least ? position : x.least;
            x.most = position > x.most ? position : x.most;
            x.is_sorted = x.is_sorted && position >= last;
            last = position;
            x.count += 1;
        }
    }
    return x;
}

// Entries stand in order already.
static void take_as_they_stand(batch *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->ranks[i] != ESPL__NO_SLOT) {
            b->ranks[count] = b->ranks[i];
            b->numbers[count++] = (uint32_t)i;
        }
    }
}

// Positions lie so close that each has a place for its entry. false: one has two, and nothing is
// changed. @param length  of the positions, at most NUMBERS_OF_ROOM for each entry.
static bool sort_by_table(batch *b, const extent *x, size_t length)
{
    uint32_t *const table = b->rooms->numbers;
    size_t count = 0;

    memset(table, 0xff, length * sizeof *table);
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->ranks[i] != ESPL__NO_SLOT) {
            uint32_t *const place = &table[b->ranks[i] - x->least];

            if (*place != ESPL__NONE) {
                return false;
            }
            *place = (uint32_t)i;
        }
    }
    for (size_t at = 0; at < length; ++at) {
        if (table[at] != ESPL__NONE) {
            b->ranks[count] = x->least + (uint32_t)at;
            b->numbers[count++] = table[at];
        }
    }
    return true;
}

static void sort_by_digits(batch *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->ranks[i] != ESPL__NO_SLOT) {
            b->places[count++] = (espl__place){b->ranks[i], (uint32_t)i};
        }
    }
    espl__places_sort(&b->places, &b->other, count);
    for (size_t i = 0; i < count; ++i) {
        b->ranks[i] = b->places[i].position;
        b->numbers[i] = b->places[i].number;
    }
}

// List the entries that name a node in the order of positions, those of one node as they came.
static void put_in_order(batch *b)
{
    const extent x = measure(b);
    const size_t length = x.count == 0 ? 0 : (size_t)x.most - x.least + 1;

    b->place_count = x.count;
    if (x.is_sorted) {
        take_as_they_stand(b);
    } else if (length > NUMBERS_OF_ROOM * x.count || !sort_by_table(b, &x, length)) {
        sort_by_digits(b);
    }
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

    espl__write_load(&value, kind_of(e, i), value_at(e, i));
    return espl__write_wants_side(kind_of(e, i), &value) &&
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
    const bool may_want = b->is_mixed || espl__write_has_extra(kind_of(b->entries, 0));
    espl_status status = ESPL_OK;

    for (size_t g = 0; g < b->group_count && status == ESPL_OK; ++g) {
        const group *const at = &b->groups[g];
        bool is_wanted = b->world->forest.runs[at->run].side != NULL;

        for (uint32_t i = 0; may_want && i < at->count && !is_wanted; ++i) {
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
    const uint32_t run = forest->run[b->slots[b->numbers[at]]];
    const uint32_t base = forest->runs[run].base, size = forest->runs[run].size;
    const uint32_t begin = at;
    uint32_t last = ESPL__NO_NODE;
    bool is_once = true;

    while (at < b->place_count && b->ranks[at] - base < size) {
        const uint32_t rank = b->ranks[at] - base;

        is_once = is_once && rank != last;
        b->ranks[at++] = last = rank;
    }
    b->groups[b->group_count++] = (group){begin, at - begin, run, is_once, false, false};
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

// @param first  entry whose room is taken for what was there before.
static espl__run_writes writes_of(batch *b, const group *g, uint32_t first, const espl__team *team)
{
    const bool has_side = b->world->forest.runs[g->run].side != NULL;

    return (espl__run_writes){.source = &b->source,
                              .numbers = b->numbers + g->begin,
                              .ranks = b->ranks + g->begin,
                              .count = g->count,
                              .run = g->run,
                              .is_once = g->is_once,
                              .team = *team,
                              .spans = b->rooms[first].spans,
                              .span_count = 2 * g->count,
                              .old_locals = b->old_locals + first,
                              .old_sides = has_side ? b->old_sides + first : NULL};
}

static void add_up(batch *b, const espl__tally *tally)
{
    b->visited += tally->nodes_visited;
    b->skipped += tally->nodes_skipped;
    b->writes += tally->writes;
    b->writes_skipped += tally->writes_skipped;
}

static void write_group(batch *b, group *g, uint32_t first, const espl__team *team,
                        espl__tally *tally)
{
    espl__run_writes w = writes_of(b, g, first, team);

    espl__run_write(&b->world->forest, &w);
    g->is_done = true;
    g->is_told = w.told != 0;
    espl__tally_add(tally, &(espl__tally){w.visited, w.skipped, w.writes, w.writes_skipped});
}

static void write_groups(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const espl__team alone = {0};
    espl__tally tally = {0};

    // One after the other they use the same room, which is at hand then.
    for (size_t i = begin; i < end; ++i) {
        if (!b->groups[i].is_done) {
            write_group(b, &b->groups[i], b->groups[begin].begin, &alone, &tally);
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
            write_group(b, &b->groups[i], b->groups[i].begin, &forest->crew.team, &tally);
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

// Tell whether every entry names a node and was carried out with nothing to tell.
static bool went_well(const batch *b)
{
    bool is_told = b->place_count != b->entries->count;

    for (size_t i = 0; i < b->group_count && !is_told; ++i) {
        is_told = b->groups[i].is_told;
    }
    return !is_told;
}

static void count_results(const batch *b, espl_write_report *report)
{
    if (went_well(b)) {
        report->applied = b->entries->count;
        return;
    }
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

static espl__write_source source_of(const batch *b)
{
    const entries *const e = b->entries;
    espl__write_source source = {
        .fetch = fetch, .context = e, .slots = b->slots, .results = b->results};

    if (!b->is_mixed) {
        source.values = value_at(e, 0);
        source.value_size = e->writes != NULL ? sizeof *e->writes : e->value_size;
        source.kind = kind_of(e, 0);
    }
    return source;
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
    status = run_closed(b, resolve_entries, b->entries->count, RESOLVE_GRAIN);
    if (status != ESPL_OK) {
        return status;
    }
    b->source = source_of(b);
    put_in_order(b);
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

static void put_on_tape(espl_world *world, const entries *e)
{
    espl__tape_batch(world, e->count);
    for (size_t i = 0; i < e->count; ++i) {
        espl__tape_entry(world, entity_of(e, i), kind_of(e, i), value_at(e, i));
    }
    espl__tape_flush(world);
}

// @param is_there  the arrays are.
// @param is_valid  the kind takes such values.
static espl_status start_batch(espl_world *world, const entries *e, bool is_there, bool is_valid,
                               espl_write_report *report)
{
    espl_write_report account = {0};
    espl_status status = ESPL_ERR_ARGUMENT;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && is_there) && is_valid) {
        if (espl__may_tape(world)) {
            put_on_tape(world, e);
        }
        status = espl__tape_end(world, write_batch(world, e, &account));
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

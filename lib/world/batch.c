// SPDX-License-Identifier: MIT
// Batches of writes: handles are resolved, entries sorted by where their nodes stand, and each
// hierarchy is written in one pass, hierarchies side by side. All memory is taken before anything
// is changed.
#include "lib/world/batch.h"
#include "lib/world/tape.h"

#include "lib/tree/single.h"
#include "lib/tree/sweep.h"
#include "lib/world/slot_writes.h"

#include <string.h>

_Static_assert(sizeof(espl_write) == 60, "write: 8 + 4 + 48");

// Jobs that write at most: more of them would wait for each other when they come and go.
enum { WRITE_JOBS = 256 };
// Entries of a batch at most: there are four numbers for each.
#define BATCH_LIMIT (UINT32_MAX / 4)

// --- Entries ---

static void load(const espl__entries *e, size_t i, espl_write_kind kind, espl_write_value *value)
{
    if (e->has_poses) {
        espl__write_load_pose(value, espl__entries_value(e, i));
    } else {
        espl__write_load(value, kind, espl__entries_value(e, i));
    }
}

static espl_status fetch(const void *context, uint32_t number, espl_write_kind *kind,
                         espl_write_value *value)
{
    const espl__entries *const e = context;

    *kind = espl__entries_kind(e, number);
    load(e, number, *kind, value);
    return espl__write_check(*kind, value);
}

// --- Memory ---

// Lay the arrays of a batch of `count` out. @return bytes; with NULL it only measures.
static size_t lay_out(espl__batch *b, unsigned char *block, size_t count)
{
    size_t at = 0;

    b->results = espl__carve(block, &at, count, sizeof *b->results, 16);
    b->rooms = espl__carve(block, &at, count, sizeof *b->rooms, 16);
    b->numbers = espl__carve(block, &at, count, sizeof *b->numbers, 16);
    b->ranks = espl__carve(block, &at, count, sizeof *b->ranks, 16);
    b->blocks = espl__carve(block, &at, count / ESPL__BATCH_BLOCK + 1, sizeof *b->blocks, 16);
    b->groups = espl__carve(block, &at, count, sizeof *b->groups, 16);
    b->cuts = espl__carve(block, &at, espl__batch_cuts_at(count) + 1, sizeof *b->cuts, 16);
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
    espl__batch measured;

    if (count > BATCH_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__scratch_grow(world, &world->write_scratch, lay_out(&measured, NULL, count));
}

static espl_status reserve_sides(espl_world *world, size_t count)
{
    size_t size = 0;

    (void)espl__carve(NULL, &size, count, sizeof(espl__side_entry), 1);
    return espl__scratch_grow(world, &world->side_scratch, size);
}

espl_status espl_reserve_writes(espl_world *world, size_t count)
{
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : reserve(world, count);
    status = status != ESPL_OK ? status : reserve_sides(world, count);
    return espl__refuse(world, "reserve of writes", espl_entity_null(), status);
}

// Nearly every transform; told without a copy.
static inline bool is_usual(const espl__entries *e, size_t i)
{
    static const espl__extra none = {{1, 1, 1}, 0};
    const espl_transform *const value = espl__entries_value(e, i);

    return espl__entries_kind(e, i) == ESPL_WRITE_LOCAL &&
           memcmp(value->stretch, &none, sizeof none) == 0;
}

bool espl__entry_wants_side(const espl__entries *e, size_t i)
{
    espl_write_kind kind = espl__entries_kind(e, i);
    espl_write_value value;

    if (!espl__write_has_extra(kind) || is_usual(e, i)) {
        return false;
    }
    espl__write_load(&value, kind, espl__entries_value(e, i));
    return espl__write_wants_side(kind, &value) && fetch(e, (uint32_t)i, &kind, &value) == ESPL_OK;
}

bool espl__entries_want_side(const espl__entries *e, size_t begin, size_t end)
{
    bool is_wanted = false;

    if (e->writes == NULL && !espl__write_has_extra(e->kind)) {
        return false;
    }
    for (size_t i = begin; i < end && !is_wanted; ++i) {
        is_wanted = !is_usual(e, i) && espl__entry_wants_side(e, i);
    }
    return is_wanted;
}

// Side arrays that turned out not to be needed go back.
static void drop_sides(espl__batch *b)
{
    for (size_t i = 0; i < b->group_count; ++i) {
        espl__run_drop_side(&b->world->forest, b->groups[i].run);
    }
}

static uint32_t number_at(const espl__batch *b, uint32_t at)
{
    return b->is_straight ? at : b->numbers[at];
}

static espl_status ensure_sides(espl__batch *b)
{
    espl_status status = ESPL_OK;

    for (size_t g = 0; b->wants_sides && g < b->group_count && status == ESPL_OK; ++g) {
        const espl__batch_group *const at = &b->groups[g];
        const bool is_there = b->world->forest.runs[at->run].side != NULL;
        bool is_wanted = false;

        for (uint32_t i = 0; !is_there && i < at->count && !is_wanted; ++i) {
            is_wanted = espl__entry_wants_side(b->entries, number_at(b, at->begin + i));
        }
        status = is_wanted ? espl__ensure_side(b->world, at->run, false) : ESPL_OK;
        b->has_sides = b->has_sides || is_wanted;
    }
    return status;
}

// --- Groups ---

// Runs with side arrays need room to remember what was in them.
static espl_status find_sides(espl__batch *b)
{
    b->old_sides = NULL;
    if (!b->has_sides) {
        return ESPL_OK;
    }
    const espl_status status = reserve_sides(b->world, b->entries->count);

    b->old_sides = b->world->side_scratch.block;
    return status;
}

// @param first  entry whose room is taken for what was there before.
static espl__run_writes writes_of(espl__batch *b, const espl__batch_group *g, uint32_t first,
                                  const espl__team *team)
{
    const bool has_side = b->world->forest.runs[g->run].side != NULL;

    return (espl__run_writes){.source = &b->source,
                              .numbers = b->is_straight ? NULL : b->numbers + g->begin,
                              .first_number = g->begin,
                              .ranks = b->ranks + g->begin,
                              .count = g->count,
                              .run = g->run,
                              .is_once = g->is_once,
                              .is_unordered = g->is_unordered,
                              .team = *team,
                              .spans = b->rooms[first].spans,
                              .span_count = 2 * g->count,
                              .old_locals = b->old_locals + first,
                              .old_sides = has_side ? b->old_sides + first : NULL};
}

static void add_up(espl__batch *b, const espl__tally *tally)
{
    b->visited += tally->nodes_visited;
    b->skipped += tally->nodes_skipped;
    b->writes += tally->writes;
    b->writes_skipped += tally->writes_skipped;
}

// List the entries of a group by rank. The rooms are not in use yet.
static void put_in_order(espl__batch *b, const espl__batch_group *g, uint32_t first)
{
    espl__place *places = b->rooms[first].places, *other = places + g->count;

    for (uint32_t i = 0; i < g->count; ++i) {
        places[i] = (espl__place){b->ranks[g->begin + i], g->begin + i};
    }
    espl__places_sort(&places, &other, g->count);
    for (uint32_t i = 0; i < g->count; ++i) {
        b->ranks[g->begin + i] = places[i].position;
        b->numbers[g->begin + i] = places[i].number;
    }
}

// Entries in no order are swept, or else sorted.
static void write_unordered(espl__batch *b, const espl__batch_group *g, uint32_t first,
                            espl__run_writes *w)
{
    if (espl__run_sweep(&b->world->forest, w)) {
        return;
    }
    put_in_order(b, g, first);
    w->numbers = b->numbers + g->begin;
    w->is_once = w->is_unordered = false;
    espl__run_write(&b->world->forest, w);
}

static void write_group(espl__batch *b, espl__batch_group *g, uint32_t first,
                        const espl__team *team, espl__tally *tally)
{
    espl__run_writes w = writes_of(b, g, first, team);

    if (g->is_unordered) {
        write_unordered(b, g, first, &w);
    } else {
        espl__run_write(&b->world->forest, &w);
    }
    g->is_done = true;
    if (w.told != 0) {
        b->is_told = true;
    }
    espl__tally_add(tally, &(espl__tally){w.visited, w.skipped, w.writes, w.writes_skipped});
}

// Tell whether a group is one write of a local that needs no side arrays: what it is at once. In
// batches of roots all are.
static bool is_single(const espl__batch *b, const espl__batch_group *g)
{
    return b->takes_singles && g->count == 1 && b->world->forest.runs[g->run].side == NULL;
}

static uint32_t first_slot(const espl__batch *b, const espl__batch_group *g)
{
    const espl__run *const run = &b->world->forest.runs[g->run];
    const uint32_t position = run->base + b->ranks[g->begin];

    return (run->flags & ESPL__RUN_IN_ORDER) != 0 ? position : b->world->forest.order[position];
}

static void write_single(espl__batch *b, espl__batch_group *g, espl__crew *crew)
{
    espl__forest *const forest = &b->world->forest;
    const uint32_t slot = first_slot(b, g);
    const size_t number = number_at(b, g->begin);
    const void *const given = b->source.values + number * b->source.value_size;
    espl_write_value whole;

    if (b->source.has_poses) {
        espl__write_load_pose(&whole, given);
    }
    const void *const value = b->source.has_poses ? &whole : given;
    const espl_status status = b->takes_poses && espl__write_is_usual(forest, slot, value)
                                   ? espl__pose_put(forest, crew, slot, value)
                                   : espl__slot_write(b->world, crew, slot, b->source.kind, value);

    g->is_done = true;
    if (status != ESPL_OK) {
        b->results[number] = status;
        b->is_told = true;
    }
}

// Groups [begin, end), on the thread that calls.
static void write_groups(espl__batch *b, size_t begin, size_t end)
{
    espl__crew alone = {.is_job = true};

    // One after the other they use the same room, which is at hand then.
    for (size_t i = begin; i < end; ++i) {
        espl__batch_group *const g = &b->groups[i];

        if (g->is_done) {
            continue;
        }
        if (is_single(b, g)) {
            write_single(b, g, &alone);
        } else {
            write_group(b, g, b->groups[begin].begin, &alone.team, &alone.tally);
        }
    }
    add_up(b, &alone.tally);
}

// Where a piece begins; past the last one: how many groups there are.
static size_t piece_begin(const espl__batch *b, size_t piece)
{
    if (piece == 0) {
        return 0;
    }
    return piece <= b->cut_count ? b->cuts[piece - 1] : b->group_count;
}

static void write_pieces(void *context, size_t begin, size_t end)
{
    espl__batch *const b = context;

    write_groups(b, piece_begin(b, begin), piece_begin(b, end));
}

// A few large hierarchies come first, one after the other, each on all workers; where there are
// enough of them to go round, each is one worker's. Neither shows in what is written or counted.
static void write_giants(espl__batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl__tally tally = {0};

    if (espl__executor_is_serial(&b->world->executor) || b->giants == 0 ||
        b->giants / 2 >= b->world->executor.worker_count) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        if (espl__batch_is_giant(b, &b->groups[i])) {
            write_group(b, &b->groups[i], b->groups[i].begin, &forest->crew.team, &tally);
        }
    }
    add_up(b, &tally);
}

static void count_groups(const espl__batch *b)
{
    const espl__tally tally = {b->visited, b->skipped, b->writes, b->writes_skipped};

    espl__tally_add(&b->world->forest.crew.tally, &tally);
}

// --- The whole ---

// Tell whether every entry names a node and was carried out with nothing to tell.
static bool went_well(const espl__batch *b)
{
    return b->place_count == b->entries->count && !b->is_told;
}

static void count_results(const espl__batch *b, espl_write_report *report)
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

static espl__write_source source_of(const espl__batch *b)
{
    const espl__entries *const e = b->entries;
    espl__write_source source = {.fetch = fetch, .context = e, .results = b->results};

    if (!b->is_mixed) {
        source.values = e->values;
        source.value_size = e->value_size;
        source.kind = espl__entries_kind(e, 0);
        source.has_poses = e->has_poses;
    }
    return source;
}

// While jobs run the world is closed to whoever calls it back from one of them.
static espl_status run_closed(espl__batch *b, espl__range_function function, size_t count,
                              size_t grain)
{
    espl_world *const world = b->world;

    world->is_playing = true;
    const espl_status status =
        espl__run_ranges(&world->executor, &world->hooks, function, b, count, grain);
    world->is_playing = false;
    return status;
}

// Find out where the entries' nodes stand, and in which order they are written.
static espl_status resolve(espl__batch *b)
{
    const size_t count = b->entries->count;
    espl_status status = run_closed(b, espl__batch_resolve_straight, count, ESPL__BATCH_BLOCK);

    if (status != ESPL_OK || espl__batch_join(b)) {
        return status;
    }
    status = run_closed(b, espl__batch_resolve, count, ESPL__BATCH_BLOCK);
    if (status == ESPL_OK) {
        b->wants_sides = b->is_mixed || espl__write_has_extra(espl__entries_kind(b->entries, 0));
        espl__batch_order(b);
    }
    return status;
}

static espl_status prepare(espl__batch *b)
{
    espl_world *const world = b->world;
    espl_status status = reserve(world, b->entries->count);

    if (status != ESPL_OK) {
        return status;
    }
    (void)lay_out(b, world->write_scratch.block, b->entries->count);
    status = resolve(b);
    if (status != ESPL_OK) {
        return status;
    }
    b->source = source_of(b);
    // Whoever has a group has a kind.
    b->takes_singles =
        b->group_count != 0 && b->source.values != NULL && espl__write_is_local(b->source.kind);
    b->takes_poses = b->takes_singles && (b->source.kind == ESPL_WRITE_LOCAL ||
                                          b->source.kind == ESPL_WRITE_LOCAL_POSE);
    status = ensure_sides(b);
    status = status != ESPL_OK ? status : find_sides(b);
    if (status != ESPL_OK) {
        drop_sides(b);
    }
    return status;
}

static void commit(espl__batch *b)
{
    espl__heap_forbid(&b->world->heap);
    write_giants(b);
    const size_t pieces = b->cut_count + 1;
    const size_t jobs = espl__executor_is_serial(&b->world->executor) ? 1 : WRITE_JOBS;

    if (run_closed(b, write_pieces, pieces, (pieces + jobs - 1) / jobs) != ESPL_OK) {
        // The executor lost a job; the writes are under way and are completed here.
        write_groups(b, 0, b->group_count);
    }
    count_groups(b);
    if (b->has_sides) {
        drop_sides(b);
    }
    espl__heap_allow(&b->world->heap);
}

static espl_status write_batch(espl_world *world, const espl__entries *e, espl_write_report *report)
{
    espl__batch b = {.world = world, .entries = e};
    espl_status status = ESPL_OK;

    if (e->count == 0) {
        return ESPL_OK;
    }
    status = world->is_playing ? ESPL_ERR_BUSY : prepare(&b);
    if (status != ESPL_OK) {
        return status;
    }
    commit(&b);
    count_results(&b, report);
    if (report->refused != 0) {
        (void)espl__refuse(world, "batched write", espl__entries_entity(e, report->first_refused),
                           report->first_status);
        return ESPL_PARTLY;
    }
    return report->lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// Entries past the limit are not looked at: nobody has that many.
static void put_on_tape(espl_world *world, const espl__entries *e)
{
    if (e->count > BATCH_LIMIT) {
        return;
    }
    espl__tape_batch(world, e->count);
    for (size_t i = 0; i < e->count; ++i) {
        const espl_write_kind kind = espl__entries_kind(e, i);
        espl_write_value value;

        load(e, i, kind, &value);
        espl__tape_entry(world, espl__entries_entity(e, i), kind, &value);
    }
    espl__tape_flush(world);
}

// @param is_there  the arrays are.
// @param is_valid  the kind takes such values.
static espl_status start_batch(espl_world *world, const espl__entries *e, bool is_there,
                               bool is_valid, espl_write_report *report)
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
    espl__entries e = {.writes = writes, .count = count};

    if (writes != NULL) {
        e.entities = (const unsigned char *)&writes->entity;
        e.values = (const unsigned char *)&writes->value;
        e.entity_size = e.value_size = sizeof *writes;
    }
    return start_batch(world, &e, writes != NULL || count == 0, true, report);
}

espl_status espl_write_poses(espl_world *world, const espl_entity *entities, size_t entity_size,
                             const espl_pose *poses, size_t pose_size, size_t count,
                             espl_write_report *report)
{
    const espl__entries e = {
        .entities = (const unsigned char *)entities,
        .values = (const unsigned char *)poses,
        .entity_size = entity_size,
        .value_size = pose_size,
        .kind = ESPL_WRITE_LOCAL_POSE,
        .has_poses = true,
        .count = count,
    };
    const bool is_there = (entities != NULL && poses != NULL) || count == 0;
    const bool is_valid = entity_size % _Alignof(espl_entity) == 0 &&
                          pose_size % _Alignof(espl_pose) == 0 && entity_size >= sizeof *entities &&
                          pose_size >= sizeof *poses;

    return start_batch(world, &e, is_there, is_valid, report);
}

// Writes of one kind, from two arrays. @param size  of one value.
static espl_status start_typed(espl_world *world, espl_write_kind kind, espl__value_type type,
                               const espl_entity *entities, const void *values, size_t size,
                               size_t count, espl_write_report *report)
{
    const espl__entries e = {
        .entities = (const unsigned char *)entities,
        .values = values,
        .entity_size = sizeof *entities,
        .value_size = size,
        .kind = kind,
        .count = count,
    };
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

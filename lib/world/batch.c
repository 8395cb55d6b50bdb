// SPDX-License-Identifier: MIT
// Batches of writes: espl_write_batch() and espl_write_strided().
//
// A batch has three steps. It finds the slot of each entry's entity, in jobs. It forms a group of the
// entries of each tree, and sorts them where they do not come tree by tree. It writes the groups, again
// in jobs, one pass over each tree. All that can fail comes before the first write: memory, and side
// arrays that the values need. Where nothing can fail, many entries take these steps in windows.
//
// Invariants: entries of one entity are applied in the order of the caller. Two jobs never write
// the same tree. What a batch leaves in the world, and what its report says, does not depend on the
// number of workers. An entry that is refused does not keep others from being applied.
//
// Callers: the two public functions at the end.
#include "lib/world/batch.h"

#include "lib/world/batch_groups.h"
#include "lib/world/entity_slots.h"
#include "lib/world/handles.h"
#include "lib/world/refusals.h"
#include "lib/world/slot_writes.h"
#include "lib/world/tape.h"
#include "lib/world/write_entries.h"

#include <string.h>

_Static_assert(sizeof(espl_write) == 60, "write: 8 + 4 + 48");

enum {
    PARTS = 256,    // upper bound of jobs that look up slots
    WINDOW = 16384, // entries of which slots, values and trees fit into the second-level cache
};

// --- Memory ---

// Place the arrays of a batch of `count` entries in a block.
// @param block  NULL: only measure.
// @return bytes.
static size_t carve_batch(espl__batch *b, unsigned char *block, size_t count)
{
    size_t at = 0;

    b->results = espl__carve(block, &at, count, sizeof *b->results, 16);
    b->slots = espl__carve(block, &at, count, sizeof *b->slots, 16);
    b->numbers = espl__carve(block, &at, count, sizeof *b->numbers, 16);
    b->keys = espl__carve(block, &at, count, sizeof *b->keys, 16);
    b->spare_keys = espl__carve(block, &at, count, sizeof *b->spare_keys, 16);
    b->groups = espl__carve(block, &at, count, sizeof *b->groups, 16);
    b->cuts = espl__carve(block, &at, count + 1, sizeof *b->cuts, 16);
    return at;
}

size_t espl__writes_size(size_t count)
{
    espl__batch measured;

    ESPL_CHECK(count <= ESPL__ENTRIES_LIMIT);
    return carve_batch(&measured, NULL, count);
}

espl_status espl__writes_reserve(espl_world *world, size_t count)
{
    if (count > ESPL__ENTRIES_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__scratch_grow(&world->heap, ESPL__FOR_COMMANDS, &world->write_scratch,
                              espl__writes_size(count));
}

// --- Resolving ---

// Set the results of entries without a slot to the status that refuses them. Precondition: results
// of [begin, end) are ESPL_OK. A second pass, because nearly all batches have no such entry.
static void explain_missing(espl__batch *b, size_t begin, size_t end)
{
    ESPL_CHECK(begin <= end && end <= b->entries->count);
    for (size_t i = begin; i < end; ++i) {
        uint32_t none = ESPL__NO_SLOT;

        if (b->slots[i] == ESPL__NO_SLOT) {
            b->has_missing = true;
            b->results[i] = espl__find_placed(b->world, espl__entries_entity(b->entries, i), &none);
        }
    }
}

// Refuse entries whose kind does not exist, and note whether the batch has several kinds.
// Precondition: the entries have a kind each. @return whether no entry is refused.
static bool check_kinds(espl__batch *b, size_t begin, size_t end)
{
    ESPL_CHECK(b->entries->writes != NULL && begin <= end && end <= b->entries->count);
    const espl_write *const writes = b->entries->writes;
    bool is_mixed = false, is_valid = true;

    for (size_t i = begin; i < end; ++i) {
        is_mixed = is_mixed || writes[i].kind != writes[0].kind;
        if (!espl__write_is_ordinary(writes[i].kind) && !espl__write_exists(writes[i].kind) &&
            b->results[i] == ESPL_OK) {
            b->results[i] = ESPL_ERR_ARGUMENT;
            b->slots[i] = ESPL__NO_SLOT;
            b->is_unordered = b->has_missing = true;
            is_valid = false;
        }
    }
    if (is_mixed) {
        b->is_mixed = true;
    }
    return is_valid;
}

// Refuse copies of what could not be read. @return whether there are none.
static bool check_sources(espl__batch *b, size_t begin, size_t end)
{
    const espl__entries *const e = b->entries;
    bool is_valid = true;

    ESPL_CHECK(e->readable != NULL && begin <= end && end <= e->count);
    for (size_t i = begin; i < end; ++i) {
        if (!espl__entries_has_value(e, i)) {
            b->results[i] = e->readable[i];
            b->slots[i] = ESPL__NO_SLOT;
            b->is_unordered = b->has_missing = true;
            is_valid = false;
        }
    }
    return is_valid;
}

// Tell whether some entry of [begin, end) may need side arrays. Entries without a node are not left
// out: the answer only decides whether espl__batch_ensure_sides() looks closer.
static bool some_wants_side(const espl__batch *b, size_t begin, size_t end)
{
    const espl__entries *const e = b->entries;
    bool is_wanted = false;

    if (e->writes == NULL && !espl__write_has_extra(espl__write_base(e->kind))) {
        return false;
    }
    for (size_t i = begin; i < end && !is_wanted; ++i) {
        is_wanted = espl__entries_want_side(e, i);
    }
    return is_wanted;
}

// Take the slots that the caller of the batch looked up. @return as espl__find_slots().
static bool copy_found_slots(const espl__batch *b, size_t begin, size_t end)
{
    const uint32_t *const slots = b->entries->slots;
    uint32_t before = begin != 0 ? slots[begin - 1] : 0, descents = 0;

    ESPL_CHECK(begin <= end && end <= b->entries->count);
    for (size_t i = begin; i < end; ++i) {
        b->slots[i] = slots[i];
        descents += slots[i] < before ? 1 : 0;
        before = slots[i];
    }
    return descents == 0 && before != ESPL__NO_SLOT;
}

// Find the slots of entries [begin, end), and check their kinds. Writes results and slots of its range,
// and sets flags of the batch. A flag that is set already is not written again, because all jobs share
// its cache line. @return whether the slots ascend, and each entry has one.
static bool resolve_entries(espl__batch *b, size_t begin, size_t end)
{
    ESPL_CHECK(b->resolved <= begin && begin <= end && end <= b->entries->count);
    memset(b->results + begin, 0, (end - begin) * sizeof *b->results);
    bool ascend = b->entries->slots != NULL
                      ? copy_found_slots(b, begin, end)
                      : espl__find_slots(b->world, &b->entries->handles, begin, end, b->slots);

    if (!ascend) {
        b->is_unordered = true;
        explain_missing(b, begin, end);
    }
    if (b->entries->writes != NULL) {
        ascend = check_kinds(b, begin, end) && ascend;
    }
    if (b->entries->readable != NULL) {
        ascend = check_sources(b, begin, end) && ascend;
    }
    if (!b->wants_side && some_wants_side(b, begin, end)) {
        b->wants_side = true;
    }
    if (b->looks_for_zeros && espl__entries_have_zero(b->entries, begin, end)) {
        b->has_zero = true;
    }
    return ascend;
}

// The parts of a loop that looks up slots and forms groups.
typedef struct part_loop {
    espl__batch *batch;
    espl__batch_part parts[PARTS];
} part_loop;

// Job: look up the slots of a part, and form its groups while the slots are in the cache.
static void resolve_part(void *context, size_t job)
{
    part_loop *const loop = context;
    espl__batch_part *const part = &loop->parts[job];
    const bool ascend = resolve_entries(loop->batch, part->begin, part->end);

    espl__batch_form_part(loop->batch, part, ascend);
}

// Look up the slots of all entries on several workers, and form their groups if their trees ascend.
static espl_status resolve_parts(espl__batch *b, size_t jobs)
{
    const uint64_t count = b->entries->count;
    part_loop loop = {.batch = b};

    ESPL_CHECK(b->resolved == 0 && jobs <= PARTS && jobs <= count);
    for (size_t i = 0; i < jobs; ++i) {
        loop.parts[i].begin = (uint32_t)(count * i / jobs);
        loop.parts[i].end = (uint32_t)(count * (i + 1) / jobs);
    }
    const espl_status status = espl__batch_run(b, resolve_part, &loop, jobs);

    b->resolved = (size_t)count;
    if (status == ESPL_OK) {
        espl__batch_join_parts(b, loop.parts, jobs);
    }
    return status;
}

// --- The whole ---

// Fill the report from the results. The fast path of a batch without remarks does not read them.
static void count_results(const espl__batch *b, espl_write_report *report)
{
    if (!b->has_missing && !b->has_remarks) {
        report->applied = b->entries->count;
        return;
    }
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->results[i] >= 0) {
            const int remark = (int)b->results[i] % ESPL__UNCHANGED;

            report->applied += 1;
            report->lossy += remark == ESPL_LOSSY ? 1 : 0;
            continue;
        }
        if (report->refused == 0) {
            report->first_refused = i;
            report->first_status = b->results[i];
        }
        report->refused += 1;
    }
}

// Look up the slots of entries [b->resolved, end), if there are any, on this thread.
static void resolve(espl__batch *b, size_t end)
{
    if (b->resolved < end) {
        (void)resolve_entries(b, b->resolved, end);
        b->resolved = end;
    }
}

// Form groups of all entries that are left. Where their trees do not ascend, the groups that were formed
// before are written first, because the entries that are left may write to the same trees.
static void group_rest(espl__batch *b)
{
    const size_t count = b->entries->count;

    resolve(b, count);
    if (!espl__batch_add_groups(b, count, true)) {
        espl__batch_write_groups(b);
        espl__batch_sort(b);
    }
}

// Say how the functions of trees read the entries. Kinds that are not ordinary have no paths of their own, so
// that each entry tells its kind. Precondition: the kinds were checked.
static void describe_values(espl__batch *b)
{
    const espl__entries *const e = b->entries;
    const espl_write_kind kind = espl__entries_kind(e, 0);

    b->source = (espl__write_source){.writes = b->is_mixed ? e->writes : NULL,
                                     .values = {.first = e->values,
                                                .stride = e->value_size,
                                                .has_stretch = kind == ESPL_WRITE_LOCAL_TRANSFORM},
                                     .kind = kind,
                                     .is_one_kind = !b->is_mixed && espl__write_is_ordinary(kind),
                                     .results = b->results};
    b->may_drop_sides = b->is_mixed || espl__write_has_extra(espl__write_base(kind));
}

// The end of the next window of entries.
static size_t end_of_window(const espl__batch *b)
{
    const size_t count = b->entries->count;

    return b->has_windows && count - b->end > WINDOW ? b->end + WINDOW : count;
}

// Form groups of the next window, or of all entries that are left where those of the window do not come
// tree by tree.
static void group_some(espl__batch *b)
{
    const size_t end = end_of_window(b);

    resolve(b, end);
    if (end == b->entries->count || !espl__batch_add_groups(b, end, false)) {
        group_rest(b);
    }
}

// Write the next window, or all of it but its last tree, without groups. Only on one worker, because others
// could not take a part of it. @return false: nothing changed.
static bool write_window(espl__batch *b)
{
    const size_t end = end_of_window(b);

    if (!b->has_windows || !espl__executor_is_serial(&b->world->executor)) {
        return false;
    }
    resolve(b, end);
    describe_values(b);
    return espl__batch_write_straight(b, end, end == b->entries->count);
}

// Take memory, and choose whether entries are written window by window, while they and their trees are
// in the cache. Kinds that may need side arrays are written as a whole, because allocating these can fail
// and nothing may be written before. So are kinds that set the world, because a batch writes a parent
// before its child, also where the entry of the parent comes last.
static espl_status prepare_batch(espl__batch *b)
{
    const espl__entries *const e = b->entries;
    const espl_status status = espl__writes_reserve(b->world, e->count);

    if (status == ESPL_OK) {
        (void)carve_batch(b, b->world->write_scratch.block, e->count);
        b->has_windows = e->writes == NULL && espl__write_is_ordinary(e->kind) &&
                         espl__write_is_local(e->kind) && !espl__write_has_extra(e->kind);
    }
    return status;
}

// The number of jobs that look up the slots of a batch.
static size_t count_parts(const espl__batch *b)
{
    const espl_world *const world = b->world;

    return espl__executor_is_serial(&world->executor)
               ? 1
               : espl__count_jobs(b->entries->count, 2 * (world->wake_cost / ESPL__ENTRY_COST),
                                  world->job_cost, PARTS);
}

// Apply all entries. Nothing fails after the first one is written: the memory of the batch is taken,
// several workers resolve all entries before, and one worker cannot fail; and entries that may need
// side arrays are not divided into windows. Several workers form the same groups as one, and write
// them when all are formed.
static espl_status apply_batch(espl__batch *b)
{
    const bool is_serial = espl__executor_is_serial(&b->world->executor);
    const size_t parts = count_parts(b);
    espl_status status = parts > 1 ? resolve_parts(b, parts) : ESPL_OK;
    bool is_left = true;

    while (status == ESPL_OK && is_left) {
        if (b->end < b->entries->count && !write_window(b)) {
            group_some(b);
        }
        describe_values(b);
        status = espl__batch_ensure_sides(b);
        is_left = b->end < b->entries->count;
        if (status == ESPL_OK && (is_serial || !is_left)) {
            espl__batch_write_groups(b);
        }
    }
    return status;
}

// The node of an entry that was carried out, or ESPL__NO_SLOT. Slots of earlier windows are not kept.
static uint32_t written_slot(const espl__batch *b, size_t i)
{
    uint32_t slot = ESPL__NO_SLOT;

    return b->results[i] >= 0 && espl__find_placed(b->world, espl__entries_entity(b->entries, i),
                                                   &slot) == ESPL_OK
               ? slot
               : ESPL__NO_SLOT;
}

// Tell whether a world at or below the node of an entry that was carried out is not finite. That of an entry
// that changed nothing counts as well. Linear in the nodes at or below these.
static ESPL__APART bool search_overflow(const espl__batch *b)
{
    espl__forest *const forest = &b->world->forest;
    const size_t count = b->entries->count;
    uint64_t visited = 0;
    bool is_found = false;

    for (size_t i = 0; i < count && !is_found; ++i) {
        const uint32_t slot = written_slot(b, i);

        is_found = slot != ESPL__NO_SLOT && espl__searches_overflow(forest, slot, &visited);
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = written_slot(b, i);

        if (slot != ESPL__NO_SLOT) {
            espl__clear_search(forest, slot);
        }
    }
    forest->context.has_overflowed = forest->context.has_overflowed || is_found;
    if (!is_found) {
        espl__note_search(forest, visited);
    }
    return is_found;
}

// Precondition: the pointers of the entries were checked.
espl_status espl__write_untaped(espl_world *world, const espl__entries *e,
                                espl_write_report *report)
{
    espl__batch b = {.world = world, .entries = e, .looks_for_zeros = espl__is_logged(world)};
    espl_status status = ESPL_OK;

    if (e->count == 0) {
        return ESPL_OK;
    }
    status = world->is_playing ? ESPL_ERR_BUSY : prepare_batch(&b);
    if (status == ESPL_OK) {
        status = apply_batch(&b);
    }
    if (status != ESPL_OK) {
        return status;
    }
    const espl__counts counts = {.nodes_visited = b.visited,
                                 .nodes_skipped = b.skipped,
                                 .writes = b.writes,
                                 .writes_skipped = b.writes_skipped,
                                 .debt = b.debt};

    espl__counts_add(&world->forest.context.counts, &counts);
    count_results(&b, report);
    if (b.has_overflowed || world->forest.context.has_overflowed) {
        report->has_overflowed = search_overflow(&b);
    }
    ESPL_CHECK(report->applied + report->refused == e->count);
    if (report->refused != 0) {
        espl__refuse_entry(world, e, report);
    }
    if (b.has_zero) {
        espl__remark_zeros(world, e);
    }
    if (report->refused != 0) {
        return ESPL_PARTLY;
    }
    if (report->has_overflowed) {
        return ESPL_OVERFLOW;
    }
    return report->lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

espl_status espl__write_entries(espl_world *world, const espl__entries *e, const char *fault,
                                espl_write_report *report)
{
    espl_write_report account = {0};
    espl_status status = ESPL_ERR_ARGUMENT;

    if (world != NULL && fault == NULL) {
        status = ESPL__TAPED(world, espl__write_untaped(world, e, &account), .op = ESPL_TAPE_WRITES,
                             .entries = e);
    }
    if (report != NULL) {
        *report = account;
    }
    return espl__refuse_call(world, e->call, status, fault);
}

// What both public functions do.
static espl_status start_batch(espl_world *world, const espl__entries *e, const char *fault,
                               espl_write_report *report)
{
    ESPL__CHANGE_OR_RETURN(world, e->call)
    return espl__write_entries(world, e, fault, report);
}

espl_status espl_write_batch(espl_world *world, const espl_write *writes, size_t count,
                             espl_write_report *report)
{
    espl__entries e = {.call = "espl_write_batch", .writes = writes, .count = count};

    if (writes != NULL) {
        e.handles = (espl__handles){(const unsigned char *)&writes->entity, sizeof *writes};
        e.values = (const unsigned char *)&writes->value;
        e.value_size = sizeof *writes;
    }
    return start_batch(
        world, &e, writes == NULL && count != 0 ? "writes is NULL, but the count is not 0." : NULL,
        report);
}

espl_status espl_write_strided(espl_world *world, espl_write_kind kind, const espl_entity *entities,
                               size_t count, size_t entity_stride, const void *values,
                               size_t value_stride, espl_write_report *report)
{
    const espl__entries e = {
        .call = "espl_write_strided",
        .handles = {(const unsigned char *)entities, entity_stride},
        .values = values,
        .value_size = value_stride,
        .kind = kind,
        .count = count,
    };

    return start_batch(world, &e, espl__entries_fault(&e), report);
}

// SPDX-License-Identifier: MIT
// Part of the reserve stage: what the applied commands mean for the rows of the store.
//
// Input: the trees, and the lists of the parts: nodes that were made, touched, removed, or whose
// sets changed. Output: made nodes that live, in buckets of copies of one source in one archetype;
// rows that move to another archetype; rows that are removed; values that are written to rows that
// stay or move.
//
// Cost: linear in the nodes that were made, touched and removed. One thread, because archetypes are
// found and made in the order of the nodes.
//
// The plan makes archetypes. It changes nothing else of the store and the forest, except for the
// flag ESPL__SLOT_MARK, which is clear before and after. Each list is in the order of the parts, so
// that it does not depend on how the groups were divided.
#include "lib/commands/component_values.h"

#include "lib/base/bits.h"
#include "lib/base/key_numbers.h"
#include "lib/base/marks.h"
#include "lib/base/prefetch.h"

#include <string.h>

// What the plan found for a set of a part, which many nodes of one kind may share.
typedef struct last_set {
    const espl__part *part; // NULL: none yet
    uint32_t set, kind;     // espl__slot_kind()
    uint32_t archetype;     // ESPL__NONE: none yet
    bool is_given;          // a command gave a value to some component
    bool repeats;           // the set before it gives the same values, from one payload
} last_set;

// State of the plan.
typedef struct row_planner {
    espl__stage_context *context;
    espl__store *store;   // of the context
    espl__forest *forest; // of the context
    const espl__applied *applied;
    espl__planned *out;
    uint32_t guess; // archetype of the last made node with a set of its own, or ESPL__NONE
    last_set last;  // of the last living node with a set of its own
    // Of list_makes().
    espl_status status;
    uint32_t *known;   // [grouped.bucket_count] bucket of the copies of a source, or ESPL__NONE
    uint32_t *buckets; // [make_count] of the makes
    uint32_t *counts;  // [copies_count] makes of a bucket; then where its next one goes
    espl__key_numbers *bucket_numbers; // by source and archetype
} row_planner;

// --- Made nodes ---

// The archetype of a made node of a kind.
static espl_status find_archetype(row_planner *p, const espl__part *part, uint32_t number,
                                  unsigned kind, uint32_t *out)
{
    const uint32_t source = part->edit.made[number].source;
    const uint32_t set = part->made[number].set;

    ESPL_CHECK(kind < ESPL__COPY_KINDS);
    if (set == ESPL__NONE && source != ESPL__NO_ENTITY) {
        return espl__archetype_copy(p->store, espl__entity_archetype(p->store, source), kind, out);
    }
    const espl_status status = espl__components_archetype(p->store, part, set, ESPL_SOLO + kind / 2,
                                                          kind % 2 != 0, p->guess, out);

    p->guess = status == ESPL_OK ? *out : p->guess;
    return status;
}

// The bucket of copies of one source in one archetype: they get consecutive rows. ESPL__NONE: no
// memory.
static uint32_t bucket_of(row_planner *p, uint32_t source, uint32_t archetype)
{
    espl__planned *const out = p->out;
    const uint32_t bucket =
        espl__key_number(p->bucket_numbers, &p->context->arena, (uint64_t)source << 32 | archetype);

    // The first copy of this source in this archetype. sort_makes() writes the other fields.
    if (bucket == out->copies_count) {
        p->counts[bucket] = 0;
        out->copies[bucket].archetype = archetype;
        out->copies[bucket].source = source;
        out->copies_count += 1;
    }
    return bucket;
}

// Find the bucket of a node with a set of its own, or of the first copy of its kind.
// @return ESPL__NONE: it failed, as the status of the plan says.
static uint32_t find_bucket(row_planner *p, const espl__part *part, uint32_t number, uint32_t kind)
{
    const uint32_t source = part->edit.made[number].source;
    uint32_t archetype = 0, bucket = ESPL__NONE;

    p->status = find_archetype(p, part, number, kind, &archetype);
    if (p->status == ESPL_OK) {
        bucket = bucket_of(p, source == ESPL__NO_ENTITY ? ESPL__NONE : source, archetype);
        p->status = bucket != ESPL__NONE ? ESPL_OK : ESPL_ERR_NO_MEMORY;
    }
    return bucket;
}

// List the made nodes of a part that live, each with its bucket. Only lists are read.
static espl_status list_made_nodes(row_planner *p, const espl__part *part)
{
    const espl__made *const made = part->edit.made;
    const espl__made_info *const infos = part->made;
    uint32_t *const slots = p->out->make_slots, *const buckets = p->buckets;
    uint32_t *const known = p->known, *const counts = p->counts;
    const uint32_t count = (uint32_t)espl__array_length(made);
    size_t at = p->out->make_count;

    ESPL_CHECK(espl__array_length(infos) == count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = made[i].slot, first = infos[i].first_bucket, kind = infos[i].kind;

        ESPL_CHECK_FULL((kind == ESPL__COPY_KINDS) ==
                        (p->forest->links[slot].entity != (ESPL__MADE | i)));
        if (kind == ESPL__COPY_KINDS) {
            continue;
        }
        ESPL_CHECK_FULL(kind == espl__slot_kind(p->forest, slot));
        // Fast path: copies of one node that have no sets of their own and are of one kind share a
        // bucket.
        uint32_t bucket = first != ESPL__NONE ? known[first + kind] : ESPL__NONE;

        if (bucket == ESPL__NONE) {
            bucket = find_bucket(p, part, i, kind);
            if (bucket == ESPL__NONE) {
                break;
            }
            if (first != ESPL__NONE) {
                known[first + kind] = bucket;
            }
        }
        counts[bucket] += 1;
        slots[at] = slot;
        buckets[at++] = bucket;
    }
    p->out->make_count = at;
    return p->status;
}

// A stable counting sort of the makes by bucket.
static void sort_makes(const row_planner *p)
{
    espl__planned *const out = p->out;
    uint32_t *const order = out->make_order, *const ends = p->counts;
    const uint32_t *const buckets = p->buckets;
    uint32_t begin = 0;

    for (size_t i = 0; i < out->copies_count; ++i) {
        espl__copies *const copies = &out->copies[i];

        copies->begin = begin;
        copies->count = ends[i];
        ends[i] = begin;
        begin += copies->count;
    }
    ESPL_CHECK(begin == out->make_count);
    for (uint32_t i = 0; i < begin; ++i) {
        order[ends[buckets[i]]++] = i;
    }
}

// The nodes that all parts made, dead ones included: an upper bound of the makes.
static size_t sum_made(const espl__applied *applied)
{
    size_t count = 0;

    for (uint32_t i = 0; i < applied->part_count; ++i) {
        count += espl__array_length(applied->parts[i]->edit.made);
    }
    return count;
}

// Take the memory of list_makes() for at most `most` makes. @return false: no memory.
static bool take_makes(row_planner *p, size_t most, size_t known_count, espl__changed *memory)
{
    espl__arena *const arena = &p->context->arena;
    espl__planned *const out = p->out;

    p->known = espl__arena_take(arena, known_count + 4 * most, sizeof *p->known);
    out->copies = espl__arena_take(arena, most, sizeof *out->copies);
    memory->entities = espl__arena_take(arena, most, sizeof *memory->entities);
    if (p->known == NULL || out->copies == NULL || memory->entities == NULL) {
        return false;
    }
    out->make_order = p->known + known_count;
    out->make_slots = out->make_order + most;
    p->buckets = out->make_slots + most;
    p->counts = p->buckets + most;
    _Static_assert(ESPL__NONE == UINT32_MAX, "bytes 0xff are ESPL__NONE");
    memset(p->known, 0xff, known_count * sizeof *p->known);
    return true;
}

// List all made nodes that live, and sort them by bucket. The order of the makes is that in which
// they get their entities.
static espl_status list_makes(row_planner *p, const espl__reserve_input *in, espl__changed *memory)
{
    const size_t most = p->out->made_count = sum_made(p->applied);
    espl_status status = ESPL_OK;

    if (most == 0) {
        return ESPL_OK;
    }
    if (!take_makes(p, most, in->grouped->bucket_count, memory)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < p->applied->part_count && status == ESPL_OK; ++i) {
        status = list_made_nodes(p, p->applied->parts[i]);
    }
    ESPL_CHECK(p->out->make_count <= most && p->out->copies_count <= most);
    if (status == ESPL_OK) {
        sort_makes(p);
    }
    return status;
}

// --- Rows of entities that lived before ---

// The archetype of a node without a set of its own: its role or its transform may have changed.
static espl_status find_plain_archetype(const row_planner *p, uint32_t slot, uint32_t now,
                                        uint32_t *out)
{
    const espl_component role = espl__slot_role(p->forest, slot), transform = ESPL_TRANSFORM;
    const bool has_transform = !espl__slot_is(p->forest, slot, ESPL__SLOT_BARE);
    espl_status status = ESPL_OK;

    *out = now;
    // Fast path: most touched nodes have the role that they had, so that no archetype is looked up.
    if (!espl__archetype_has(p->store, now, role)) {
        status = espl__archetype_role(p->store, now, role, out);
    }
    if (status == ESPL_OK && espl__archetype_has(p->store, now, transform) != has_transform) {
        status = espl__archetype_change(p->store, *out, &transform, has_transform ? 1 : 0,
                                        &transform, 1, out);
    }
    return status;
}

// Tell whether the set before gives the same values from one payload, as the sets of one change do. Each part
// has sets of its own, so that sets of two parts are compared, because the writes must not depend on how the
// groups are divided.
static bool repeats_values(const last_set *last, const espl__part *part, uint32_t set)
{
    return part->sets.sets[set].is_shared && last->part != NULL &&
           espl__values_are_same(&last->part->sets, last->set, &part->sets, set);
}

// Find what there is to know of the set of a living node. Fast path: the nodes of one change share a set.
static espl_status find_set(row_planner *p, const espl__part *part, uint32_t set, uint32_t slot)
{
    const uint32_t kind = espl__slot_kind(p->forest, slot);
    last_set *const last = &p->last;

    if (last->set == set && last->part == part && last->kind == kind) {
        last->repeats = true;
        return ESPL_OK;
    }
    uint32_t archetype = 0;
    const espl_status status = espl__components_archetype(
        p->store, part, set, ESPL_SOLO + kind / 2, kind % 2 != 0, last->archetype, &archetype);

    if (status == ESPL_OK) {
        *last = (last_set){part,
                           set,
                           kind,
                           archetype,
                           espl__values_are_given(&part->sets, set),
                           repeats_values(last, part, set)};
    }
    return status;
}

// List the move of a row, and the values that it is given. Room was taken. @param set  of the node, or ESPL__NONE.
static espl_status plan_row(row_planner *p, const espl__part *part, uint32_t slot, uint32_t set)
{
    espl__store *const store = p->store;
    espl__planned *const out = p->out;
    const uint32_t entity = p->forest->links[slot].entity;
    const uint32_t now = espl__entity_archetype(store, entity);
    uint32_t archetype = now;
    espl_status status = ESPL_OK;

    if (set == ESPL__NONE) {
        status = find_plain_archetype(p, slot, now, &archetype);
    } else {
        status = find_set(p, part, set, slot);
        archetype = p->last.archetype;
        if (status == ESPL_OK && p->last.is_given) {
            out->given[out->given_count++] =
                (espl__given_values){entity, part->number, set, p->last.repeats};
        }
    }
    // A row that stays in its archetype stays where it is.
    if (status == ESPL_OK && archetype != now) {
        const espl__record *const record = &store->records[entity];

        out->moves[out->move_count++] =
            (espl__row_move){entity, archetype, record->chunk, espl__record_row(record)};
    }
    return status;
}

// Mark a node whose row is to be planned. @return false: a list had it before, or the playback made it.
static bool mark_slot(const row_planner *p, uint32_t slot)
{
    if ((p->forest->links[slot].entity & ESPL__MADE) != 0 ||
        espl__slot_is(p->forest, slot, ESPL__SLOT_MARK)) {
        return false;
    }
    p->forest->flags[slot] |= ESPL__SLOT_MARK;
    return true;
}

// Plan the rows of the nodes that an edit touched, whose roles or transforms may have changed. Two
// distances of prefetches: the links of a slot, and the record of its entity.
static espl_status plan_touched(row_planner *p, const espl__part *part)
{
    enum { FAR = 16, NEAR = 8 };
    const espl__links *const links = p->forest->links;
    const espl__record *const records = p->store->records;
    const uint32_t *const touched = part->edit.touched;
    const size_t count = espl__array_length(touched);
    const size_t record_count = espl__array_length(records);
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        const uint32_t entity = links[touched[i + NEAR < count ? i + NEAR : i]].entity;

        espl__prefetch(&links[touched[i + FAR < count ? i + FAR : i]]);
        if (entity < record_count) {
            espl__prefetch(&records[entity]);
        }
        if (mark_slot(p, touched[i])) {
            status = plan_row(p, part, touched[i], espl__components_set_of(part, touched[i]));
        }
    }
    return status;
}

// Plan the rows of the nodes whose sets commands changed, and which no edit touched.
static espl_status plan_node_sets(row_planner *p, const espl__part *part)
{
    const size_t count = espl__array_length(part->node_sets);
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        if (mark_slot(p, part->node_sets[i].slot)) {
            status = plan_row(p, part, part->node_sets[i].slot, part->node_sets[i].set);
        }
    }
    return status;
}

// List the entities that died.
static void list_removals(row_planner *p, const espl__part *part)
{
    const espl__removed *const removed = part->edit.removed;
    const size_t count = espl__array_length(removed);
    uint32_t *const removals = p->out->removals;
    size_t at = p->out->removal_count;

    for (size_t i = 0; i < count; ++i) {
        // A node that this playback made has no entity yet.
        if ((removed[i].entity & ESPL__MADE) == 0) {
            removals[at++] = removed[i].entity;
        }
    }
    p->out->removal_count = at;
}

// Clear the marks of mark_slot(). Also of slots that were not reached, where a step failed.
static void unmark_slots(espl__forest *forest, const espl__part *part)
{
    uint8_t *const flags = forest->flags;

    for (size_t i = 0; i < espl__array_length(part->edit.touched); ++i) {
        flags[part->edit.touched[i]] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    for (size_t i = 0; i < espl__array_length(part->node_sets); ++i) {
        flags[part->node_sets[i].slot] &= (uint8_t)~ESPL__SLOT_MARK;
    }
}

// Each list goes over all parts before the next one, so that it does not depend on how the groups
// were divided.
static espl_status list_living(row_planner *p)
{
    const espl__applied *const applied = p->applied;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < applied->part_count && status == ESPL_OK; ++i) {
        status = plan_touched(p, applied->parts[i]);
    }
    for (uint32_t i = 0; i < applied->part_count && status == ESPL_OK; ++i) {
        list_removals(p, applied->parts[i]);
        status = plan_node_sets(p, applied->parts[i]);
    }
    for (uint32_t i = 0; i < applied->part_count; ++i) {
        unmark_slots(p->forest, applied->parts[i]);
    }
    return status;
}

// --- Sorting rows that move ---

// Order the moves of one chunk by the first appearance of their archetypes, rows ascending.
static void sort_chunk(espl__row_move *out, const espl__row_move *in, size_t count)
{
    uint16_t by_row[ESPL__CHUNK_ROWS]; // number in `in` of a row that is left; others are not set
    uint64_t left[2] = {0, 0};         // bits of the rows that are not in `out` yet
    size_t at = 0;

    _Static_assert(ESPL__CHUNK_ROWS <= 128, "two words have a bit for each row");
    for (size_t i = 0; i < count; ++i) {
        by_row[in[i].row] = (uint16_t)i;
        left[in[i].row >> 6] |= UINT64_C(1) << (in[i].row & 63);
    }
    for (size_t i = 0; i < count; ++i) {
        const bool is_left = (left[in[i].row >> 6] >> (in[i].row & 63) & 1) != 0;

        for (uint32_t word = 0; is_left && word < 2; ++word) {
            for (uint64_t rows = left[word]; rows != 0; rows &= rows - 1) {
                const uint32_t bit = espl__lowest_bit(rows);
                const espl__row_move *const move = &in[by_row[word * 64 + bit]];

                if (move->archetype == in[i].archetype) {
                    out[at++] = *move;
                    left[word] ^= UINT64_C(1) << bit;
                }
            }
        }
    }
    ESPL_CHECK(at == count);
}

// Sort the moves by chunk, in the order of first appearance, and each chunk by sort_chunk().
// Linear, because a chunk has few rows, which move to few archetypes. @return false: no memory.
static bool sort_moves(const row_planner *p)
{
    espl__stage_context *const context = p->context;
    const size_t count = p->out->move_count;
    espl__row_move *const moves = p->out->moves;

    if (count < 2) {
        return true;
    }
    espl__row_move *const by_chunk = espl__arena_take(&context->arena, count, sizeof *by_chunk);
    uint32_t *const ends = espl__arena_take_zeroed(&context->arena, count + 1, sizeof *ends);
    uint32_t buckets = 0;

    if (by_chunk == NULL || ends == NULL ||
        !espl__marks_reserve(context->heap, ESPL__FOR_COMMANDS, &context->memory.chunk_marks,
                             espl__array_length(p->store->chunks))) {
        return false;
    }
    uint32_t *const marks = context->memory.chunk_marks; // number of the chunk's bucket + 1

    // A counting sort: number the chunks, count, sum, move, and clear the marks.
    for (size_t i = 0; i < count; ++i) {
        uint32_t *const mark = &marks[moves[i].chunk];

        *mark = *mark == 0 ? ++buckets : *mark;
        ends[*mark] += 1;
    }
    for (uint32_t bucket = 1; bucket <= buckets; ++bucket) {
        ends[bucket] += ends[bucket - 1];
    }
    for (size_t i = 0; i < count; ++i) {
        by_chunk[ends[marks[moves[i].chunk] - 1]++] = moves[i];
    }
    for (size_t i = 0; i < count; ++i) {
        marks[by_chunk[i].chunk] = 0;
    }

    // The begin of each bucket became its end while it was filled.
    size_t begin = 0;

    for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
        sort_chunk(moves + begin, by_chunk + begin, ends[bucket] - begin);
        begin = ends[bucket];
    }
    ESPL_CHECK(begin == count);
    return true;
}

// --- The plan ---

// What list_living() goes over, in all parts.
typedef struct living_counts {
    size_t touched, removals, node_sets;
} living_counts;

static living_counts count_living(const espl__applied *applied)
{
    living_counts sum = {0};

    for (uint32_t i = 0; i < applied->part_count; ++i) {
        const espl__part *const part = applied->parts[i];

        sum.touched += espl__array_length(part->edit.touched);
        sum.node_sets += espl__array_length(part->node_sets);
        sum.removals += espl__array_length(part->edit.removed);
    }
    return sum;
}

// Take the lists of list_living(), as long as they can become. @return false: no memory.
static bool take_lists(const row_planner *p, const living_counts *most)
{
    espl__arena *const arena = &p->context->arena;
    espl__planned *const out = p->out;

    out->moves = espl__arena_take(arena, most->touched + most->node_sets, sizeof *out->moves);
    out->removals = espl__arena_take(arena, most->removals, sizeof *out->removals);
    out->given = espl__arena_take(arena, most->node_sets, sizeof *out->given);
    return out->moves != NULL && out->removals != NULL && out->given != NULL;
}

espl_status espl__plan_rows(espl__stage_context *context, const espl__reserve_input *in,
                            espl__planned *out, espl__changed *memory)
{
    espl__key_numbers bucket_numbers;
    row_planner p = {.context = context,
                     .store = context->store,
                     .forest = context->forest,
                     .applied = in->applied,
                     .out = out,
                     .guess = ESPL__NONE,
                     .last = {.archetype = ESPL__NONE},
                     .bucket_numbers = &bucket_numbers};
    const living_counts most = count_living(in->applied);

    espl__key_numbers_begin(&bucket_numbers);
    espl_status status = list_makes(&p, in, memory);

    // Fast path: commands that only make nodes, as most immediate calls, leave nothing to list.
    if (status != ESPL_OK || most.touched + most.removals + most.node_sets == 0) {
        return status;
    }
    if (!take_lists(&p, &most)) {
        return ESPL_ERR_NO_MEMORY;
    }
    status = list_living(&p);
    if (status != ESPL_OK) {
        return status;
    }
    return sort_moves(&p) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

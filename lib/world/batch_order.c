// SPDX-License-Identifier: MIT
// Where the nodes of a batch's entries stand, and the entries in that order.
#include "lib/world/batch.h"

#include <string.h>

enum { NUMBERS_OF_ROOM = 4 };

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
    espl_status *results;
} registry;

static registry registry_of(const espl__batch *b)
{
    const espl_world *const world = b->world;

    return (registry){.records = world->store.records,
                      .count = espl__array_length(world->store.records),
                      .flags = world->forest.flags,
                      .results = b->results};
}

// Where the node of an entry stands, or ESPL__NO_SLOT with the reason why it is nowhere. What is
// nearly always so is told without a call: the entity lives and has a transform.
static inline uint32_t find_position(const espl__batch *b, const registry *r, espl_entity entity,
                                     vicinity *near, size_t i)
{
    if (entity.index < r->count) {
        const espl__record *const record = &r->records[entity.index];
        const uint32_t slot = record->slot;

        if (record->generation == entity.generation && record->row < ESPL__ROW_RETIRED &&
            (r->flags[slot] & ESPL__SLOT_PASS) == 0) {
            r->results[i] = ESPL_OK;
            return position_of(&b->world->forest, slot, near);
        }
    }
    uint32_t none = ESPL__NO_SLOT;

    r->results[i] = espl__find_placed(b->world, entity, &none);
    return ESPL__NO_SLOT;
}

// Look at the kinds of entries that have one each. @return whether all are the same.
static bool check_kinds(const espl__batch *b, size_t begin, size_t end)
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

void espl__batch_resolve(void *context, size_t begin, size_t end)
{
    espl__batch *const b = context;
    const espl__entries e = *b->entries;
    const registry r = registry_of(b);
    uint32_t *const positions = b->ranks;
    vicinity near = {0};

    for (size_t i = begin; i < end; ++i) {
        positions[i] = find_position(b, &r, espl__entries_entity(&e, i), &near, i);
    }
    if (e.writes != NULL && !check_kinds(b, begin, end)) {
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

static extent measure(const espl__batch *b)
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
static void take_as_they_stand(espl__batch *b)
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
static bool sort_by_table(espl__batch *b, const extent *x, size_t length)
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

static void sort_by_digits(espl__batch *b)
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
static void put_in_order(espl__batch *b)
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

// --- Groups ---

// Take the run of the node whose entry stands at `at`. @return the first entry behind it.
static uint32_t form_group(espl__batch *b, espl__batch_cutter *cutter, uint32_t at)
{
    const espl__forest *const forest = &b->world->forest;
    const uint32_t run = forest->run[b->ranks[at]]; // any slot of the run tells
    const uint32_t base = forest->runs[run].base, size = forest->runs[run].size;
    const uint32_t begin = at;
    uint32_t last = ESPL__NO_NODE;
    bool is_once = true;

    while (at < b->place_count && b->ranks[at] - base < size) {
        const uint32_t rank = b->ranks[at] - base;

        is_once = is_once && rank != last;
        b->ranks[at++] = last = rank;
    }
    espl__batch_cut(cutter, (uint32_t)b->group_count, begin, &forest->runs[run]);
    b->giants += espl__run_is_wide(forest, &forest->runs[run]) ? 1 : 0;
    b->has_sides = b->has_sides || forest->runs[run].side != NULL;
    b->groups[b->group_count++] =
        (espl__batch_group){.begin = begin, .count = at - begin, .run = run, .is_once = is_once};
    return at;
}

static void form_groups(espl__batch *b)
{
    espl__batch_cutter cutter = {.cuts = b->cuts, .part = b->world->job_cost};

    b->group_count = b->giants = 0;
    b->has_sides = false;
    for (uint32_t at = 0; at < b->place_count;) {
        at = form_group(b, &cutter, at);
    }
    b->cut_count = cutter.count;
}

void espl__batch_order(espl__batch *batch)
{
    put_in_order(batch);
    form_groups(batch);
}

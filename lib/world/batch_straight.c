// SPDX-License-Identifier: MIT
// Batches whose entries come hierarchy by hierarchy, and there in rank order or so many that a sweep
// takes them in any: ranks are found in one pass, and nothing is sorted. A job gives up as soon as it
// meets an entry that does not fit, so that a batch in no order costs a few entries here.
#include "lib/world/batch.h"

#include "lib/base/ahead.h"
#include "lib/tree/sweep.h"

#include <string.h>

// Part of the entries that begin a group at most, or runs that do not ascend are left to whoever
// sorts.
enum { ENTRIES_OF_GROUP = 4 };
// Entries ahead whose records, and then whose slots, are asked for.
enum { FAR = 16, NEAR = 8 };

// The run at hand, and what is looked at for an entry; a copy at hand, since nothing that is written
// can change it.
typedef struct stretch {
    const espl__record *records;
    size_t record_count;
    const unsigned char *entities; // of the first entry
    size_t stride;                 // from one to the next
    uint32_t *ranks;               // [count]
    uint32_t base, limit;          // slots [base, base + limit) are ranks [0, limit), all placed
    uint32_t next;                 // least rank that may come
    uint32_t mask;                 // of `next`: none where ranks come in no order
} stretch;

// What looks through the entries of a block, and the stretch it is at.
typedef struct search {
    stretch at;
    uint32_t run;
    espl__batch_group *groups, *group; // of the block, of the run
    espl__batch_block found;
    espl__batch_cutter cutter;
} search;

static inline espl_entity entity_at(const stretch *s, size_t i)
{
    return *(const espl_entity *)(const void *)(s->entities + i * s->stride);
}

// Follow the run at hand. @return the first entry that is not simply behind the one before it.
static size_t follow(stretch *s, size_t i, size_t end)
{
    const stretch r = *s;
    uint32_t next = r.next;

    for (; i < end; ++i) {
        const espl_entity entity = entity_at(&r, i);

        if (entity.index >= r.record_count) {
            break;
        }
        const espl__record *const record = &r.records[entity.index];
        const uint32_t rank = record->slot - r.base;

        if (record->generation != entity.generation || record->row >= ESPL__ROW_RETIRED ||
            rank >= r.limit || rank < next) {
            break;
        }
        r.ranks[i] = rank;
        next = (rank + 1) & r.mask;
    }
    s->next = next;
    return i;
}

// Records of roots, and what stands at their slots, are each in a line of its own, which nothing but
// the entry tells.
ESPL__INLINE void ask_ahead(const espl__forest *forest, const stretch *s, size_t i)
{
    const uint32_t far = entity_at(s, i + FAR).index, near = entity_at(s, i + NEAR).index;

    if (far < s->record_count && near < s->record_count) {
        espl__ask(&s->records[far]);
        espl__ask(&forest->run[s->records[near].slot]);
    }
}

static void close_group(search *s, size_t end)
{
    if (s->group != NULL) {
        s->group->count = (uint32_t)end - s->group->begin;
    }
}

// Note what is to be known of a run that is come to, before the one at hand is left.
ESPL__INLINE void add_run(search *s, const espl__forest *forest, const espl__run *run, size_t i)
{
    espl__batch_cut(&s->cutter, s->found.group_count, (uint32_t)i, run);
    s->found.ascends = s->found.ascends && (s->group == NULL || run->base > s->at.base);
    s->found.has_sides = s->found.has_sides || run->side != NULL;
    s->found.giants += espl__run_is_wide(forest, run) ? 1 : 0;
}

// Begin a group at an entry. false: its slot has no transform of its own.
ESPL__INLINE bool open_group(search *s, const espl__forest *forest, size_t i, uint32_t slot)
{
    const unsigned odd = (unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL;
    const uint32_t number = forest->run[slot];
    const espl__run *const run = &forest->runs[number];
    const bool is_plain = (run->flags & odd) == ESPL__RUN_IN_ORDER;
    const uint32_t rank = is_plain ? slot - run->base : forest->rank[slot];

    if (!is_plain && espl__slot_is(forest, slot, ESPL__SLOT_PASS)) {
        return false;
    }
    add_run(s, forest, run, i);
    s->group = &s->groups[s->found.group_count++];
    *s->group =
        (espl__batch_group){.begin = (uint32_t)i, .count = 1, .run = number, .is_once = true};
    s->run = number;
    s->at.base = run->base;
    s->at.limit = is_plain ? run->used : 0;
    s->at.ranks[i] = rank;
    s->at.next = rank + 1;
    s->at.mask = UINT32_MAX;
    return true;
}

// Begin groups as long as each entry is in another run than the one before it, as roots are.
// @return the first entry that is not so, or names no node.
static size_t open_groups(const espl__forest *forest, search *s, size_t i, size_t end)
{
    close_group(s, i);
    for (; i < end; ++i) {
        const espl_entity entity = entity_at(&s->at, i);

        if (entity.index >= s->at.record_count) {
            break;
        }
        const espl__record *const record = &s->at.records[entity.index];

        if (record->generation != entity.generation || record->row >= ESPL__ROW_RETIRED ||
            forest->run[record->slot] == s->run || !open_group(s, forest, i, record->slot)) {
            break;
        }
        if (i + FAR < end) {
            ask_ahead(forest, &s->at, i);
        }
    }
    return i;
}

// Tell whether a sweep may take the entries of a group in any order. It looks closely; what it does
// not take after all is sorted.
static ESPL__APART bool may_sweep(const espl__batch *b, const espl__batch_group *group)
{
    const unsigned odd = (unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL;
    const espl__run *const run = &b->world->forest.runs[group->run];

    // One with side arrays is general.
    return group->is_once && (run->flags & odd) == ESPL__RUN_IN_ORDER &&
           espl__write_is_local(espl__entries_kind(b->entries, 0)) &&
           b->entries->count >= run->size / ESPL__SWEPT_PART;
}

// Look closely at an entry that begins no group. false: it does not fit.
static bool take_entry(espl__batch *b, search *s, size_t i)
{
    const espl__forest *const forest = &b->world->forest;
    uint32_t slot = ESPL__NO_SLOT;

    if (espl__find_placed(b->world, entity_at(&s->at, i), &slot) != ESPL_OK) {
        return false;
    }
    const uint32_t rank = forest->rank[slot];

    ESPL_CHECK(forest->run[slot] == s->run);
    if (rank + 1 == s->at.next) {
        s->group->is_once = false;
    } else if (rank < s->at.next) {
        if (!may_sweep(b, s->group)) {
            return false;
        }
        s->group->is_unordered = s->found.is_unordered = true;
        s->at.mask = 0;
    }
    s->at.ranks[i] = rank;
    s->at.next = (rank + 1) & s->at.mask;
    return true;
}

// Look at the kinds of entries that have one each. false: there is no such kind.
static bool check_kinds(espl__batch *b, size_t begin, size_t end)
{
    const espl_write *const writes = b->entries->writes;
    bool is_same = true, is_valid = true;

    for (size_t i = begin; i < end && writes != NULL; ++i) {
        is_same = is_same && writes[i].kind == writes[0].kind;
        is_valid = is_valid && (unsigned)writes[i].kind < ESPL_WRITE_KIND_COUNT;
    }
    if (!is_same) {
        b->is_mixed = true;
    }
    return is_valid;
}

// @param begin  the first entry.
static search search_of(const espl__batch *b, size_t begin)
{
    const espl__entries *const e = b->entries;
    const stretch none = {.records = b->world->store.records,
                          .record_count = espl__array_length(b->world->store.records),
                          .entities = e->entities,
                          .stride = e->entity_size,
                          .ranks = b->ranks};

    return (search){.at = none,
                    .run = ESPL__NO_RUN,
                    .groups = b->groups + begin,
                    .found = {.ascends = true},
                    .cutter = {.cuts = b->cuts + espl__batch_cuts_at(begin),
                               .entry = (uint32_t)begin,
                               .part = b->world->job_cost}};
}

void espl__batch_resolve_straight(void *context, size_t begin, size_t end)
{
    espl__batch *const b = context;
    search s = search_of(b, begin);
    bool is_straight = !b->is_crooked && check_kinds(b, begin, end);

    for (size_t i = begin; i < end && is_straight;) {
        const size_t next = follow(&s.at, open_groups(&b->world->forest, &s, i, end), end);

        is_straight = next != i || take_entry(b, &s, i);
        i = next != i ? next : i + 1;
    }
    if (!is_straight) {
        b->is_crooked = true;
        return;
    }
    close_group(&s, end);
    s.found.end = (uint32_t)end;
    s.found.cut_count = s.cutter.count;
    b->blocks[begin / ESPL__BATCH_BLOCK] = s.found;
    if (!b->wants_sides && espl__entries_want_side(b->entries, begin, end)) {
        b->wants_sides = true;
    }
    // ESPL_OK is zero.
    memset(b->results + begin, 0, (end - begin) * sizeof *b->results);
}

// --- Groups ---

// Join a group to the one before it, of the same run, where one job ends and another begins. false:
// ranks do not ascend, and may not be swept either.
static bool join_group(const espl__batch *b, espl__batch_group *to, const espl__batch_group *more)
{
    const uint32_t last = b->ranks[more->begin - 1], first = b->ranks[more->begin];

    to->count += more->count;
    to->is_once = to->is_once && more->is_once && first != last;
    to->is_unordered = to->is_unordered || more->is_unordered || first < last;
    return !to->is_unordered || may_sweep(b, to);
}

// Tell whether no run has two groups. The rooms hold their places.
static bool each_run_once(espl__batch *b)
{
    const espl__run *const runs = b->world->forest.runs;
    bool is_once = true;

    if (b->group_count > b->entries->count / ENTRIES_OF_GROUP) {
        return false;
    }
    for (size_t g = 0; g < b->group_count; ++g) {
        b->places[g] = (espl__place){runs[b->groups[g].run].base, (uint32_t)g};
    }
    espl__places_sort(&b->places, &b->other, b->group_count);
    for (size_t g = 1; g < b->group_count && is_once; ++g) {
        is_once = b->places[g].position != b->places[g - 1].position;
    }
    return is_once;
}

// Add the cuts of a block, whose groups stand from the one at `first` on, and one before it.
static void take_cuts(espl__batch *b, const espl__batch_block *block, size_t begin, uint32_t first)
{
    const uint32_t *const cuts = b->cuts + espl__batch_cuts_at(begin);
    uint32_t last = b->cut_count != 0 ? b->cuts[b->cut_count - 1] : 0;

    if (b->group_count > last) {
        b->cuts[b->cut_count++] = last = (uint32_t)b->group_count;
    }
    for (uint32_t i = 0; i < block->cut_count; ++i) {
        if (first + cuts[i] > last) {
            b->cuts[b->cut_count++] = last = first + cuts[i];
        }
    }
}

// Put the groups of a block behind those of the blocks before it. The block's first group may be the
// rest of their last one. false: it is, and does not fit.
static bool take_block(espl__batch *b, const espl__batch_block *block, size_t begin)
{
    const espl__batch_group *const groups = b->groups + begin;
    espl__batch_group *const before = b->groups + (b->group_count != 0 ? b->group_count - 1 : 0);
    const bool goes_on = b->group_count != 0 && before->run == groups->run;
    const uint32_t rest = goes_on ? 1 : 0;

    if (goes_on && !join_group(b, before, groups)) {
        return false;
    }
    take_cuts(b, block, begin, (uint32_t)b->group_count - rest);
    b->giants += block->giants - (goes_on && espl__batch_is_giant(b, before) ? 1 : 0);
    if (b->groups + b->group_count != groups + rest) {
        memmove(b->groups + b->group_count, groups + rest,
                (block->group_count - rest) * sizeof *groups);
    }
    b->group_count += block->group_count - rest;
    b->is_unordered = b->is_unordered || block->is_unordered || (goes_on && before->is_unordered);
    b->has_sides = b->has_sides || block->has_sides;
    return true;
}

// Tell whether the first run of a block stands behind those of the blocks before it, or is the last
// of them.
static bool goes_up(const espl__batch *b, size_t begin)
{
    const espl__run *const runs = b->world->forest.runs;

    return b->group_count == 0 ||
           runs[b->groups[begin].run].base >= runs[b->groups[b->group_count - 1].run].base;
}

bool espl__batch_join(espl__batch *b)
{
    bool is_straight = !b->is_crooked, ascends = true;

    b->group_count = b->cut_count = b->giants = 0;
    for (size_t at = 0; is_straight && at < b->entries->count;) {
        const espl__batch_block block = b->blocks[at / ESPL__BATCH_BLOCK];

        ascends = ascends && block.ascends && goes_up(b, at);
        is_straight = take_block(b, &block, at);
        at = block.end;
    }
    // Nothing stands behind the last group.
    while (b->cut_count != 0 && b->cuts[b->cut_count - 1] == b->group_count) {
        b->cut_count -= 1;
    }
    is_straight = is_straight && !(b->is_unordered && b->is_mixed);
    b->is_straight = is_straight && (ascends || each_run_once(b));
    b->place_count = b->entries->count;
    return b->is_straight;
}

// SPDX-License-Identifier: MIT
// Batches whose entries come hierarchy by hierarchy, and there in rank order or so many that a sweep
// takes them in any: ranks are found in one pass, and nothing is sorted. A job gives up as soon as it
// meets an entry that does not fit, so that a batch in no order costs a few entries here.
#include "lib/world/batch.h"

#include "lib/tree/sweep.h"

#include <string.h>

// Part of the entries that begin a group at most, or runs that do not ascend are left to whoever
// sorts.
enum { ENTRIES_OF_GROUP = 4 };

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
    uint32_t run;
    espl__batch_group *group; // of the run
} stretch;

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

// Begin a group at an entry. It stands at the number of its first entry, where no other does.
static void open_group(espl__batch *b, stretch *s, size_t i, uint32_t run)
{
    const unsigned odd = (unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL;
    const espl__run *const header = &b->world->forest.runs[run];

    s->group = &b->groups[i];
    *s->group = (espl__batch_group){.begin = (uint32_t)i, .run = run, .is_once = true};
    s->run = run;
    s->base = header->base;
    s->limit = (header->flags & odd) == ESPL__RUN_IN_ORDER ? header->used : 0;
    s->next = 0;
    s->mask = UINT32_MAX;
}

// Tell whether a sweep may take the entries of a group in any order. It looks closely; what it does
// not take after all is sorted.
static bool may_sweep(const espl__batch *b, const espl__batch_group *group)
{
    const unsigned odd = (unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL;
    const espl__run *const run = &b->world->forest.runs[group->run];

    // One with side arrays is general.
    return group->is_once && (run->flags & odd) == ESPL__RUN_IN_ORDER &&
           espl__write_is_local(espl__entries_kind(b->entries, 0)) &&
           b->entries->count >= run->size / ESPL__SWEPT_PART;
}

// Look at an entry closely. false: it does not fit.
static bool take_entry(espl__batch *b, stretch *s, size_t i)
{
    const espl__forest *const forest = &b->world->forest;
    uint32_t slot = ESPL__NO_SLOT;

    if (espl__find_placed(b->world, entity_at(s, i), &slot) != ESPL_OK) {
        return false;
    }
    const uint32_t run = forest->run[slot], rank = forest->rank[slot];

    if (run != s->run) {
        if (s->group != NULL) {
            s->group->count = (uint32_t)i - s->group->begin;
        }
        open_group(b, s, i, run);
    } else if (rank + 1 == s->next) {
        s->group->is_once = false;
    } else if (rank < s->next) {
        if (!may_sweep(b, s->group)) {
            return false;
        }
        s->group->is_unordered = true;
        s->mask = 0;
    }
    s->ranks[i] = rank;
    s->next = (rank + 1) & s->mask;
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

static stretch stretch_of(const espl__batch *b)
{
    const espl__entries *const e = b->entries;
    const void *const entities =
        e->writes != NULL ? (const void *)&e->writes[0].entity : (const void *)e->entities;

    return (stretch){.records = b->world->store.records,
                     .record_count = espl__array_length(b->world->store.records),
                     .entities = entities,
                     .stride = e->writes != NULL ? sizeof *e->writes : sizeof *e->entities,
                     .ranks = b->ranks,
                     .run = ESPL__NO_RUN};
}

void espl__batch_resolve_straight(void *context, size_t begin, size_t end)
{
    espl__batch *const b = context;
    stretch s = stretch_of(b);
    bool is_straight = !b->is_crooked && check_kinds(b, begin, end);

    for (size_t i = begin; i < end && is_straight; ++i) {
        i = follow(&s, i, end);
        is_straight = i == end || take_entry(b, &s, i);
    }
    if (!is_straight) {
        b->is_crooked = true;
        return;
    }
    s.group->count = (uint32_t)end - s.group->begin;
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

bool espl__batch_join(espl__batch *b)
{
    const espl__run *const runs = b->world->forest.runs;
    bool is_straight = !b->is_crooked, ascends = true, is_unordered = false;
    uint32_t last = 0;

    b->group_count = 0;
    for (size_t at = 0; is_straight && at < b->entries->count;) {
        const espl__batch_group group = b->groups[at];
        espl__batch_group *const before =
            b->groups + (b->group_count != 0 ? b->group_count - 1 : 0);

        at += group.count;
        is_unordered = is_unordered || group.is_unordered;
        if (b->group_count != 0 && before->run == group.run) {
            is_straight = join_group(b, before, &group);
            is_unordered = is_unordered || before->is_unordered;
            continue;
        }
        ascends = ascends && (b->group_count == 0 || runs[group.run].base > last);
        last = runs[group.run].base;
        b->has_sides = b->has_sides || runs[group.run].side != NULL;
        b->groups[b->group_count++] = group;
    }
    is_straight = is_straight && !(is_unordered && b->is_mixed);
    b->is_straight = is_straight && (ascends || each_run_once(b));
    b->place_count = b->entries->count;
    return b->is_straight;
}

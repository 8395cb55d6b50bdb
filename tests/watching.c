// SPDX-License-Identifier: MIT
#include "tests/watching.h"

#include "tests/asserts.h"
#include "tests/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORLD = ESPL_WATCH_WORLD,
    LOCAL = ESPL_WATCH_LOCAL,
    SHOWN = ESPL_WATCH_SHOWN,
    BEFORE = ESPL_WATCH_BEFORE
};

const uint32_t test_watch_flags[TEST_WATCH_FLAGS] = {
    0,
    BEFORE,
    WORLD,
    WORLD | BEFORE,
    LOCAL,
    WORLD | LOCAL,
    WORLD | LOCAL | BEFORE,
    SHOWN,
    SHOWN | BEFORE,
    SHOWN | WORLD,
    SHOWN | WORLD | BEFORE,
    SHOWN | LOCAL,
    SHOWN | LOCAL | BEFORE,
    SHOWN | WORLD | LOCAL,
    SHOWN | WORLD | LOCAL | BEFORE,
};

void test_watcher_begin(test_watcher *watcher, espl_world *world, uint32_t flags,
                        const espl_query_def *filter)
{
    const espl_watch_def def = {.filter = filter, .flags = flags};

    *watcher = (test_watcher){.world = world, .flags = flags};
    watcher->filter = filter != NULL ? *filter : (espl_query_def){0};
    ck_assert_uint_lt(watcher->filter.all_count, 8);
    for (size_t i = 0; i < watcher->filter.all_count; ++i) {
        watcher->all[i] = filter->all[i];
    }
    watcher->all[watcher->filter.all_count] = ESPL_TRANSFORM;
    watcher->filter.all_count += 1;
    if ((flags & ~(uint32_t)ESPL_WATCH_BEFORE) == 0) {
        watcher->flags |= ESPL_WATCH_WORLD;
    }
    ck_ok(espl_watch_create(world, &def, &watcher->watch));
}

void test_watcher_end(test_watcher *watcher)
{
    espl_watch_destroy(watcher->watch);
    for (int i = 0; i < TEST_LOOKS; ++i) {
        free(watcher->seen[i]);
    }
    *watcher = (test_watcher){0};
}

static void reserve_looks(test_watcher *watcher, size_t indices)
{
    if (indices <= watcher->capacity) {
        return;
    }
    const size_t capacity = indices + indices / 2;

    for (int i = 0; i < TEST_LOOKS; ++i) {
        test_seen *const more = test_array(capacity, sizeof *more);

        if (watcher->capacity != 0) {
            memcpy(more, watcher->seen[i], watcher->capacity * sizeof *more);
        }
        free(watcher->seen[i]);
        watcher->seen[i] = more;
    }
    watcher->capacity = capacity;
}

// --- A look ---

// Count the siblings before an entity, for each child of a parent. Called for the first child.
static void number_siblings(const test_watcher *watcher, test_seen *look, espl_entity first)
{
    uint32_t rank = 0;

    for (espl_entity at = first; !espl_entity_is_null(at);
         at = espl_get_next_sibling(watcher->world, at)) {
        if (look[at.index].generation == at.generation) {
            look[at.index].rank = rank;
        }
        rank += 1;
    }
}

// Tell whether a watch reports shown transforms and says of each whether its world changed, too.
static bool tells_worlds_apart(const test_watcher *watcher)
{
    return (watcher->flags & SHOWN) != 0 && (watcher->flags & WORLD) != 0;
}

static void see(const test_watcher *watcher, test_seen *look, espl_entity entity, uint32_t slot)
{
    const espl_world *const world = watcher->world;
    test_seen *const at = &look[entity.index];

    at->generation = entity.generation;
    at->slot = slot;
    ck_ok(espl_read_one(world, entity,
                        (watcher->flags & ESPL_WATCH_SHOWN) != 0 ? ESPL_READ_SHOWN_TRANSFORM
                                                                 : ESPL_READ_WORLD_TRANSFORM,
                        &at->world));
    if (tells_worlds_apart(watcher)) {
        ck_ok(espl_get_world_transform(world, entity, &at->truth));
    }
    if ((watcher->flags & ESPL_WATCH_LOCAL) != 0) {
        ck_ok(espl_get_local_transform(world, entity, &at->local));
        at->inherit = espl_get_inherit(world, entity);
        at->parent = espl_get_parent(world, entity);
    }
}

// Note all entities, also those without a transform.
static void see_living(const test_watcher *watcher, test_seen *look)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_query query;

    ck_ok(espl_query_begin_read(watcher->world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            look[query.entities[row].index].living = query.entities[row].generation;
        }
    }
}

// Look at all that answer the filter. The oldest look is overwritten, and becomes the last one.
static test_seen *look_now(test_watcher *watcher)
{
    test_seen *look = NULL;
    espl_query query;

    reserve_looks(watcher, test_count_indices(watcher->world) + 1);
    look = watcher->seen[TEST_LOOKS - 1];
    memset(look, 0, watcher->capacity * sizeof *look);
    see_living(watcher, look);
    watcher->filter.all = watcher->all;
    ck_ok(espl_query_begin_read(watcher->world, &watcher->filter, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            see(watcher, look, query.entities[row], query.slots[row]);
        }
    }
    for (uint32_t i = 0; (watcher->flags & ESPL_WATCH_LOCAL) != 0 && i < watcher->capacity; ++i) {
        const espl_entity entity = {i, look[i].generation};

        if (look[i].generation != 0 && !espl_entity_is_null(look[i].parent) &&
            espl_entity_equal(espl_get_first_child(watcher->world, look[i].parent), entity)) {
            number_siblings(watcher, look, entity);
        }
    }
    return look;
}

// --- What must be in a set ---

// Tell whether own data differ as far as it can be read: a local with inherit flags may follow from the
// parent. The place among siblings is looked at by itself.
static bool differs_own(const test_seen *a, const test_seen *b)
{
    return a->inherit != b->inherit || !espl_entity_equal(a->parent, b->parent) ||
           (a->inherit == 0 && memcmp(&a->local, &b->local, sizeof a->local) != 0);
}

// Demand that entities of both looks which are not reported kept their order among each other: each list of
// siblings is walked once, from its first child.
static void check_siblings(const test_watcher *watcher, const test_seen *before,
                           const test_seen *now, const uint8_t *kinds)
{
    const test_seen *const last = watcher->seen[0];

    for (uint32_t i = 0; i < watcher->capacity; ++i) {
        uint32_t rank = 0;

        if (now[i].generation == 0 || espl_entity_is_null(now[i].parent) ||
            !espl_entity_equal(espl_get_first_child(watcher->world, now[i].parent),
                               (espl_entity){i, now[i].generation})) {
            continue;
        }
        for (espl_entity at = {i, now[i].generation}; !espl_entity_is_null(at);
             at = espl_get_next_sibling(watcher->world, at)) {
            const test_seen *const old = &before[at.index];

            if (old->generation == at.generation && last[at.index].generation == at.generation &&
                now[at.index].generation == at.generation &&
                (kinds[at.index] & ESPL_WATCH_LOCAL) == 0) {
                ck_assert_msg(old->rank >= rank, "entity %u.%u has another place", at.index,
                              at.generation);
                rank = old->rank;
            }
        }
    }
}

// Kinds with which a watch reports world transforms, or shown ones.
static const uint32_t transforms = ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN;

// Demand that presence is the difference of two looks.
static void check_presence(const test_watcher *watcher, const espl_changes *changes,
                           const test_seen *before, const test_seen *now)
{
    size_t removed = 0, added = 0;

    for (uint32_t i = 0; i < watcher->capacity; ++i) {
        if (before[i].generation == now[i].generation) {
            continue;
        }
        if (before[i].generation != 0) {
            ck_assert_uint_lt(removed, changes->removed_count);
            ck_assert_uint_eq(changes->removed[removed].index, i);
            ck_assert_uint_eq(changes->removed[removed++].generation, before[i].generation);
        }
        if (now[i].generation != 0) {
            ck_assert_uint_lt(added, changes->added_count);
            ck_assert_uint_eq(changes->added[added].index, i);
            ck_assert_uint_eq(changes->added[added].generation, now[i].generation);
            ck_assert((watcher->flags & transforms) != 0 || changes->added_worlds == NULL);
            if ((watcher->flags & transforms) != 0) {
                ck_assert_mem_eq(&changes->added_worlds[added], &now[i].world, sizeof now[i].world);
            }
            if ((watcher->flags & ESPL_WATCH_LOCAL) != 0) {
                ck_assert_mem_eq(&changes->added_locals[added], &now[i].local, sizeof now[i].local);
            }
            added += 1;
        }
    }
    ck_assert_uint_eq(removed, changes->removed_count);
    ck_assert_uint_eq(added, changes->added_count);
}

// Demand that each entry of `changed` is an entity of both looks, in ascending order, as it is now.
// @param kinds  [capacity] out: of each entity; 0: not reported.
static void check_entries(test_watcher *watcher, const espl_changes *changes, const test_seen *last,
                          const test_seen *now, uint8_t *kinds)
{
    for (size_t i = 0; i < changes->changed_count; ++i) {
        const espl_entity entity = changes->changed[i];
        const test_seen *const at = &now[entity.index], *const old = &last[entity.index];

        ck_assert_uint_lt(entity.index, watcher->capacity);
        ck_assert_uint_eq(at->generation, entity.generation);
        ck_assert_uint_eq(old->generation, entity.generation);
        ck_assert_uint_eq(kinds[entity.index], 0);
        ck_assert_uint_ne(changes->kinds[i], 0);
        ck_assert_uint_eq(changes->kinds[i] & ~watcher->flags, 0);
        ck_assert(i == 0 || now[changes->changed[i - 1].index].slot < at->slot);
        kinds[entity.index] = changes->kinds[i];
        ck_assert((watcher->flags & transforms) != 0 || changes->changed_worlds == NULL);
        if ((watcher->flags & transforms) != 0) {
            ck_assert_mem_eq(&changes->changed_worlds[i], &at->world, sizeof at->world);
        }
        if ((watcher->flags & ESPL_WATCH_LOCAL) != 0) {
            ck_assert_mem_eq(&changes->changed_locals[i], &at->local, sizeof at->local);
        }
        if ((watcher->flags & ESPL_WATCH_BEFORE) != 0) {
            ck_assert_mem_eq(&changes->changed_before[i], &old->world, sizeof old->world);
        }
        watcher->spare += memcmp(&at->world, &old->world, sizeof at->world) == 0 ? 1 : 0;
    }
    watcher->reported += changes->changed_count;
}

// Demand that a kind of change is said where there is one, and with ESPL_WATCH_BEFORE nowhere else.
static void check_kind(const test_watcher *watcher, espl_entity entity, uint32_t kind, bool says,
                       bool differs, bool is_exact)
{
    if ((watcher->flags & kind) == 0) {
        ck_assert(!says);
        return;
    }
    ck_assert_msg(says || !differs, "entity %u.%u changed unseen (kind %u)", entity.index,
                  entity.generation, kind);
    ck_assert_msg(!is_exact || !says || differs, "entity %u.%u did not change (kind %u)",
                  entity.index, entity.generation, kind);
}

// Demand that nothing is missed, and with ESPL_WATCH_BEFORE that nothing is named in vain.
static void check_sound(test_watcher *watcher, const test_seen *before, const test_seen *last,
                        const test_seen *now, const uint8_t *kinds, bool is_exact)
{
    for (uint32_t i = 0; i < watcher->capacity; ++i) {
        const espl_entity entity = {i, now[i].generation};

        if (now[i].generation == 0 || last[i].generation != now[i].generation) {
            continue;
        }
        if (before[i].generation != now[i].generation) {
            // Made after the look that is looked back to, or it began to answer.
            ck_assert_msg(before[i].living == now[i].generation || kinds[i] != 0,
                          "entity %u.%u was made unseen", i, now[i].generation);
            continue;
        }
        const bool differs = memcmp(&before[i].world, &now[i].world, sizeof now[i].world) != 0;
        const bool differs_in_truth =
            tells_worlds_apart(watcher)
                ? memcmp(&before[i].truth, &now[i].truth, sizeof now[i].truth) != 0
                : differs;

        watcher->checks += 1;
        check_kind(watcher, entity, SHOWN, (kinds[i] & SHOWN) != 0, differs, is_exact);
        check_kind(watcher, entity, WORLD, (kinds[i] & WORLD) != 0, differs_in_truth, is_exact);
        // What own data are is not all kept, so that they are never exact.
        check_kind(watcher, entity, LOCAL, (kinds[i] & LOCAL) != 0,
                   differs_own(&before[i], &now[i]), false);
    }
}

static void check_since(test_watcher *watcher, uint32_t look, espl_changes *changes)
{
    test_seen *const now = look_now(watcher);
    const test_seen *const last = watcher->seen[0], *const before = watcher->seen[look];
    uint8_t *const kinds = test_array(watcher->capacity + 1, 1);
    espl_changes got;

    const uint64_t since = look == 0 ? 0 : watcher->moments[look];

    // Where a collect lacks memory it is tried again, because it consumed nothing.
    espl_status status = espl_watch_collect(watcher->watch, since, &got);

    for (int i = 0; status == ESPL_ERR_NO_MEMORY && i < 100; ++i) {
        status = espl_watch_collect(watcher->watch, since, &got);
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_gt(got.moment, watcher->moments[0]);
    check_presence(watcher, &got, last, now);
    check_entries(watcher, &got, last, now, kinds);
    check_sound(watcher, before, last, now, kinds,
                look == 0 && (watcher->flags & ESPL_WATCH_BEFORE) != 0);
    if ((watcher->flags & ESPL_WATCH_LOCAL) != 0) {
        check_siblings(watcher, before, now, kinds);
    }
    free(kinds);
    for (int i = TEST_LOOKS - 1; i > 0; --i) {
        watcher->seen[i] = watcher->seen[i - 1];
        watcher->moments[i] = watcher->moments[i - 1];
    }
    watcher->seen[0] = now;
    watcher->moments[0] = got.moment;
    if (changes != NULL) {
        *changes = got;
    }
}

void test_watcher_check(test_watcher *watcher, espl_changes *changes)
{
    check_since(watcher, 0, changes);
}

void test_watcher_look_back(test_watcher *watcher)
{
    check_since(watcher, watcher->moments[1] != 0 ? 1 : 0, NULL);
}

// SPDX-License-Identifier: MIT
#include "tests/ticks.h"

#include "tests/asserts.h"

void test_ticks_begin(test_ticks *ticks, espl_world *world, uint64_t seed)
{
    const espl_motion_def motion = {.history = 1 + (uint32_t)(seed / 2 % 2)};
    const espl_query_def everything = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    const espl_watch_def def = {.filter = &everything,
                                .flags = ESPL_WATCH_SHOWN | ESPL_WATCH_LOCAL |
                                         (seed / 4 % 2 != 0 ? ESPL_WATCH_BEFORE : 0)};

    *ticks = (test_ticks){.world = world};
    if (seed % 2 != 0) {
        ck_ok(espl_motion_start(world, &motion));
        ck_ok(espl_watch_create(world, &def, &ticks->watch));
    }
}

void test_ticks_end(test_ticks *ticks)
{
    if (ticks->watch != NULL) {
        espl_watch_destroy(ticks->watch);
        ck_ok(espl_motion_stop(ticks->world));
        ticks->watch = NULL;
    }
}

// --- Steps ---

static uint64_t present(const test_ticks *ticks, uint64_t hash, float at)
{
    espl_present_report report;
    const espl_status status = espl_present(ticks->world, at, &report);
    const uint64_t shown = test_shown_hash(ticks->world);

    ck_assert(status == ESPL_OK || status == ESPL_OVERFLOW);
    hash = test_hash_bytes(hash, &status, sizeof status);
    hash = test_hash_bytes(hash, &report.blended, sizeof report.blended);
    hash = test_hash_bytes(hash, &report.visited, sizeof report.visited);
    return test_hash_bytes(hash, &shown, sizeof shown);
}

static uint64_t collect(const test_ticks *ticks, uint64_t hash)
{
    espl_changes changes;

    ck_ok(espl_watch_collect(ticks->watch, 0, &changes));
    const uint64_t set = test_changes_hash(&changes);

    return test_hash_bytes(hash, &set, sizeof set);
}

uint64_t test_ticks_step(const test_ticks *ticks, uint64_t drawn)
{
    uint64_t hash = TEST_HASH_START;

    if (ticks->watch == NULL) {
        return hash;
    }
    if (test_one_in(&drawn, 4)) {
        ck_ok(espl_tick_end(ticks->world));
    }
    if (test_one_in(&drawn, 2)) {
        hash =
            present(ticks, hash, test_one_in(&drawn, 5) ? 1 : test_between(&drawn, -0.25f, 1.5f));
    }
    if (test_one_in(&drawn, 3)) {
        hash = collect(ticks, hash);
    }
    if (test_one_in(&drawn, 2)) {
        ck_ok(espl_tick_begin(ticks->world));
    }
    return hash;
}

// --- Hashes ---

uint64_t test_shown_hash(espl_world *world)
{
    const espl_component placed[] = {ESPL_TRANSFORM};
    const espl_query_def all = {
        .all = placed, .all_count = 1, .include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    uint64_t sum = 0;
    espl_query query;

    ck_ok(espl_query_begin_read(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t index = query.entities[row].index;
            espl_transform shown;

            ck_ok(espl_read_one(world, query.entities[row], ESPL_READ_SHOWN_TRANSFORM, &shown));
            sum += test_hash_transform(test_hash_bytes(TEST_HASH_START, &index, sizeof index),
                                       &shown);
        }
    }
    return sum;
}

static uint64_t hash_transforms(uint64_t hash, const espl_transform *transforms, size_t count)
{
    for (size_t i = 0; transforms != NULL && i < count; ++i) {
        hash = test_hash_transform(hash, &transforms[i]);
    }
    return hash;
}

uint64_t test_changes_hash(const espl_changes *c)
{
    const uint64_t numbers[] = {c->moment, c->is_coarse, c->removed_count, c->added_count,
                                c->changed_count};
    uint64_t hash = test_hash_bytes(TEST_HASH_START, numbers, sizeof numbers);

    hash = test_hash_bytes(hash, c->removed, c->removed_count * sizeof *c->removed);
    hash = test_hash_bytes(hash, c->added, c->added_count * sizeof *c->added);
    hash = test_hash_bytes(hash, c->changed, c->changed_count * sizeof *c->changed);
    hash = test_hash_bytes(hash, c->kinds, c->changed_count);
    hash = hash_transforms(hash, c->added_worlds, c->added_count);
    hash = hash_transforms(hash, c->added_locals, c->added_count);
    hash = hash_transforms(hash, c->changed_worlds, c->changed_count);
    hash = hash_transforms(hash, c->changed_locals, c->changed_count);
    return hash_transforms(hash, c->changed_before, c->changed_count);
}

// SPDX-License-Identifier: MIT
// All memory that a change needs is taken before it begins: a change after the reserve takes no
// memory, and a reserve that fails leaves ranges, headers and side arrays as they were.
#include "lib/tree/relocation.h"
#include "lib/tree/relocation_survey.h"
#include "lib/world/world_internal.h"
#include "tests/tree/edits.h"

#include <stdio.h>

enum { NURSERY = 64, PARTS = 2 };

static espl__edit edits[PARTS];

static void set_up(void)
{
    fixture_begin(&fix);
    for (int i = 0; i < PARTS; ++i) {
        espl__edit_init(&edits[i], forest);
        espl__edit_begin(&edits[i]);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < PARTS; ++i) {
        espl__edit_free(&edits[i]);
    }
    fixture_end(&fix);
}

// --- Forests ---

// Edits and the survey of the first edit, in a new random forest.
static void prepare(uint64_t *random, bool is_plain, uint32_t steps)
{
    fixture_random_forest(is_plain, random);
    fixture_begin_edit(&edits[0], NURSERY);
    for (uint32_t i = 0; i < steps; ++i) {
        (void)fixture_edit_at_random(&edits[0], random);
    }
    ck_ok(edits[0].status);
    ck_ok(espl__edit_survey(&edits[0]));
}

// The parent of each entity, and its number among the siblings.
static void list_links(uint32_t *parents, uint32_t *numbers)
{
    for (uint32_t entity = 0; entity < fix.entities; ++entity) {
        const uint32_t slot = fix.slots[entity];

        if (slot == ESPL__NO_SLOT) {
            continue;
        }
        const uint32_t up = forest->parent[slot];

        ck_assert_uint_eq(forest->links[slot].entity, entity);
        parents[entity] = up == ESPL__NO_SLOT ? ESPL__NO_ENTITY : forest->links[up].entity;
        numbers[entity] = 0;
        for (uint32_t at = slot; up != ESPL__NO_SLOT && forest->links[up].first_child != at;
             at = forest->links[at].previous) {
            numbers[entity] += 1;
        }
    }
}

static void place(espl__edit *const *list, size_t count)
{
    test_heap_arm(&fix.under, 1, true); // each allocation would fail
    espl__heap_forbid(&fix.heap);
    for (size_t i = 0; i < count; ++i) {
        espl__edit_relocate(list[i], fixture_moved, &fix);
    }
    espl__relocations_finish(forest, list, count, fix.nursery_begin, fix.nursery_end);
    fixture_close_nursery(false);
    espl__heap_allow(&fix.heap);
    ck_assert_uint_eq(fix.under.calls, 0);
    test_heap_arm(&fix.under, 0, false);
}

FIXTURE(set_up, tear_down);

TEST(nothing_asks_for_memory_once_places_are_reserved)
{
    static uint32_t parents[2][FIXTURE_NODES], numbers[2][FIXTURE_NODES];
    const uint64_t seeds = test_scaled(15000);
    espl__edit *const list[] = {&edits[0]};

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;

        prepare(&random, seed % 4 == 0, 1 + test_below(&random, 40));
        ck_ok(espl__relocations_reserve(forest, list, 1));
        fixture_name_made(&edits[0]);
        list_links(parents[0], numbers[0]);
        place(list, 1);

        // All links are what they were, whatever slots the nodes have now.
        list_links(parents[1], numbers[1]);
        ck_assert_mem_eq(parents[0], parents[1], sizeof parents[0]);
        ck_assert_mem_eq(numbers[0], numbers[1], sizeof numbers[0]);
        fixture_is_valid(&fix);
        begin_again();
    }
}

// Two groups of edits, by one edit or by two.
static fixture_snapshot play_groups(uint64_t seed, bool is_split)
{
    uint64_t random = seed;
    espl__edit *const list[] = {&edits[0], &edits[1]};
    const size_t parts = is_split ? 2 : 1;

    fixture_random_forest(seed % 4 == 0, &random);
    fixture_begin_edit(&edits[0], NURSERY);
    for (uint32_t group = 0; group < 2; ++group) {
        espl__edit *const edit = &edits[is_split ? group : 0];
        const uint32_t begin = fix.nursery_begin + group * (NURSERY / 2);

        fixture_choose_third(group != 0);
        espl__edit_begin_group(edit, begin, begin + NURSERY / 2, 0);
        fix.made_count = espl__array_length(edit->made);
        for (uint32_t i = 0; i < 20; ++i) {
            (void)fixture_edit_at_random(edit, &random);
        }
        ck_ok(espl__edit_survey(edit));
    }
    ck_ok(espl__relocations_reserve(forest, list, parts));
    for (size_t i = 0; i < parts; ++i) {
        fixture_name_made(list[i]);
    }
    place(list, parts);
    fixture_is_valid(&fix);
    return fixture_take_snapshot();
}

TEST(groups_come_to_the_same_slots_however_they_are_divided_among_edits)
{
    const uint64_t seeds = test_scaled(8000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        char when[64];

        (void)snprintf(when, sizeof when, "seed %llu", (unsigned long long)seed);
        fixture_snapshot whole = play_groups(seed, false);

        begin_again();
        fixture_snapshot split = play_groups(seed, true);

        fixture_compare(&whole, &split, when);
        begin_again();
    }
}

// What is in headers only while an edit is under way is cleared by a reserve that fails.
static void clear_edit_counts(void)
{
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        forest->trees[tree].moved = forest->trees[tree].incoming = 0;
    }
}

static uint32_t count_kept_rooms(void)
{
    uint32_t count = 0;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        count += (forest->trees[tree].side & ESPL__HAS_KEPT) != 0 ? 1 : 0;
    }
    return count;
}

// @return whether the reserve failed.
static bool fail_reserve(uint64_t seed, size_t fail_at)
{
    uint64_t random = seed;
    espl__edit *const list[] = {&edits[0]};
    char when[64];

    (void)snprintf(when, sizeof when, "seed %llu, allocation %zu", (unsigned long long)seed,
                   fail_at);
    prepare(&random, seed % 4 == 0, 1 + test_below(&random, 40));
    const uint32_t rooms = count_kept_rooms();
    const size_t bytes = espl__heap_bytes_for(&fix.heap, ESPL__FOR_TREE);
    const uint32_t capacity = forest->capacity, headers = forest->tree_capacity;

    test_heap_arm(&fix.under, fail_at, seed % 2 == 0);
    const espl_status status = espl__relocations_reserve(forest, list, 1);

    test_heap_arm(&fix.under, 0, false);
    if (status == ESPL_OK) {
        fixture_name_made(&edits[0]);
        place(list, 1);
        fixture_is_valid(&fix);
        return false;
    }
    ck_status(status, ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(count_kept_rooms(), rooms);
    if (forest->capacity == capacity && forest->tree_capacity == headers) {
        ck_assert_uint_eq(espl__heap_bytes_for(&fix.heap, ESPL__FOR_TREE), bytes);
    }
    fixture_snapshot after = fixture_take_snapshot();

    // The same edits of the same forest without a reserve.
    begin_again();
    random = seed;
    prepare(&random, seed % 4 == 0, 1 + test_below(&random, 40));
    clear_edit_counts();
    fixture_snapshot before = fixture_take_snapshot();

    for (size_t i = 0; i < after.count; ++i) {
        if (strcmp(after.words[i].name, "moved nodes of tree") == 0 ||
            strcmp(after.words[i].name, "incoming nodes of tree") == 0) {
            after.words[i].value = 0;
        }
    }
    fixture_compare(&before, &after, when);
    espl__edit_undo(&edits[0]);
    fixture_close_nursery(true);
    fixture_is_valid(&fix);
    return true;
}

TEST(a_reserve_that_fails_leaves_ranges_headers_and_side_arrays_as_they_were)
{
    const uint64_t seeds = test_scaled(1500);
    size_t points = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        for (size_t fail_at = 1; fail_reserve(seed, fail_at); ++fail_at) {
            points += 1;
            begin_again();
        }
        begin_again();
    }
    ck_assert_uint_gt(points, seeds);
    test_tell_figure(points, "allocations failed in reserves");
}

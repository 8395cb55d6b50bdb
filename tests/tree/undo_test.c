// SPDX-License-Identifier: MIT
// The undo log restores the state before an edit bit for bit: links, slots, holes, headers, free
// ranges, locals and worlds. First on forests alone, then by playbacks that run out of memory.
#include "tests/tree/one_edit.h"

#include <stdio.h>

// --- Forests ---

static void undo(fixture_snapshot *before, uint64_t seed)
{
    char when[64];

    (void)snprintf(when, sizeof when, "seed %llu", (unsigned long long)seed);
    espl__edit_undo(&edit);
    fixture_close_nursery(true);
    test_heap_arm(&fix.under, 0, false);
    fixture_snapshot after = fixture_take_snapshot();

    fixture_compare(before, &after, when);
    fixture_is_valid(&fix);
}

// Each seed: a forest, some edits, an undo. @param survives  out: the edit ran out of memory nowhere.
static void run(uint64_t seed, bool is_plain, uint32_t steps, size_t fail_at, bool *survives)
{
    uint64_t random = seed;

    fixture_random_forest(is_plain, &random);
    fixture_is_valid(&fix);
    fixture_snapshot before = fixture_take_snapshot();

    fixture_begin_edit(&edit, 64);
    test_heap_arm(&fix.under, fail_at, test_one_in(&random, 2));
    for (uint32_t i = 0; i < steps && edit.status == ESPL_OK; ++i) {
        (void)fixture_edit_at_random(&edit, &random);
    }
    if (edit.status == ESPL_OK && test_one_in(&random, 2)) {
        edit.status = espl__edit_survey(&edit);
    }
    *survives = edit.status == ESPL_OK;
    undo(&before, seed);
}

FIXTURE(set_up, tear_down);

TEST(one_edit_is_taken_back)
{
    const uint64_t seeds = test_scaled(20000);
    bool survives = false;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        run(seed, seed % 4 == 0, 1, 0, &survives);
        ck_assert(survives);
        begin_again();
    }
}

TEST(a_few_edits_are_taken_back)
{
    const uint64_t seeds = test_scaled(20000);
    bool survives = false;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        run(100000 + seed, seed % 4 == 0, 2 + (uint32_t)(seed % 4), 0, &survives);
        ck_assert(survives);
        begin_again();
    }
}

TEST(many_edits_are_taken_back)
{
    const uint64_t seeds = test_scaled(15000);
    bool survives = false;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        run(200000 + seed, seed % 4 == 0, 50, 0, &survives);
        ck_assert(survives);
        begin_again();
    }
}

TEST(edits_that_run_out_of_memory_are_taken_back)
{
    const uint64_t seeds = test_scaled(15000);
    uint64_t random = 1, refused = 0;
    bool survives = false;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        run(300000 + seed, seed % 4 == 0, 40, 1 + test_below(&random, 30), &survives);
        refused += !survives;
        begin_again();
    }
    ck_assert_uint_gt(refused, seeds / 4);
}

// The undo of the transform would count stretch and user data of a copy that the inherit flags made.
TEST(a_transform_that_came_to_a_new_node_goes_with_the_node)
{
    const espl_transform identity = espl_transform_identity();
    const uint32_t tree = fixture_tree(&fix, 4);
    const uint32_t root = forest->trees[tree].base;
    espl__placement placement = espl__placement_identity();
    espl__new_node place = {.parent = root, .before = ESPL__NO_SLOT, .is_bare = true};
    uint32_t made = 0;

    placement.extra.user_data = 5;
    fixture_place(&fix, root, &placement);
    fixture_snapshot before = fixture_take_snapshot();

    fixture_begin_edit(&edit, 4);
    ck_ok(espl__edit_prepare_new(&edit, &place));
    ck_ok(espl__edit_clone(&edit, &espl__template_of_none, &place, &made));
    const uint32_t slot = edit.made[made].slot;

    ck_ok(espl__edit_add_transform(&edit, slot, &identity));
    ck_ok(espl__edit_set_inherit(&edit, slot, ESPL_COPY_PARENT));
    undo(&before, 0);
}

// --- Playbacks ---

// The last stretch of a tree goes, then a node comes to the tree, and one allocation fails.
static espl_status play_last_stretch(size_t fail_at)
{
    test_world test;

    test_world_begin(&test, 7, NULL);
    const espl_entity tree = test_solo(test.world), node = test_solo(test.world);
    espl_write write = {.entity = tree, .kind = ESPL_WRITE_STRETCH, .value = {.stretch = {1, 1, 1}}};

    ck_ok(espl_set_stretch(test.world, tree, (float[]){2, 1, 1}));
    espl_command_buffer *const commands = test_commands(test.world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    ck_ok(espl_record_write(recorder, 0, write.entity, write.kind, &write.value));
    ck_ok(espl_record_attach(recorder, 0, node, tree, NULL));
    const uint64_t before = test_physical_hash(test.world);

    test_heap_arm(&test.heap, fail_at, false);
    const espl_status status = espl_play(test.world, commands, NULL);

    ck_assert(status == ESPL_OK || test_physical_hash(test.world) == before);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return status;
}

FIXTURE(NULL, NULL);

TEST(side_arrays_that_a_playback_emptied_are_there_for_its_undo)
{
    size_t fail_at = 1;

    while (play_last_stretch(fail_at) == ESPL_ERR_NO_MEMORY) {
        fail_at += 1;
    }
    ck_assert_uint_gt(fail_at, 5);
}

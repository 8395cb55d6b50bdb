// SPDX-License-Identifier: MIT
// Statistics against known counts, and on random worlds against the model.
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/one_tree.h"
#include "tests/tape.h"

static espl_world_stats stats(void)
{
    return test_stats(w);
}

// --- Entities and hierarchies ---

FIXTURE(set_up, end);

TEST(empty_world_counts_nothing)
{
    const espl_world_stats s = stats();

    ck_assert_uint_eq(s.entities + s.solos + s.hierarchies + s.members, 0);
    ck_assert_uint_eq(s.disabled + s.prefabs + s.retired, 0);
    ck_assert_uint_eq(s.archetypes + s.chunks + s.row_capacity + s.spare_chunks, 0);
    ck_assert_uint_eq(s.slots + s.free_slots, 0);
    ck_assert_uint_eq(s.commands_accepted + s.commands_applied + s.commands_refused, 0);
    ck_assert_uint_eq(s.nodes_visited + s.nodes_skipped + s.writes + s.writes_skipped, 0);
    ck_assert_uint_eq(s.bytes, test.heap.bytes);
    ck_assert_uint_eq(s.bytes_tree, 0);
    ck_assert_uint_eq(s.bytes_commands, 0);
}

TEST(disabled_and_prefabs_are_counted)
{
    node = make_trees(w, 1, 6, 2);

    ck_ok(espl_set_enabled(w, node[1], ESPL_EXTENT_SUBTREE, false));
    ck_assert_uint_eq(stats().disabled, 3);
    ck_ok(espl_set_enabled(w, node[0], ESPL_EXTENT_ENTITY, false));
    ck_assert_uint_eq(stats().disabled, 4);
    ck_ok(espl_set_enabled(w, node[0], ESPL_EXTENT_OWNED, true));
    ck_assert_uint_eq(stats().disabled, 0);

    ck_ok(espl_add_component(w, node[2], ESPL_PREFAB, NULL, 0));
    ck_ok(espl_add_component(w, node[5], ESPL_PREFAB, NULL, 0));
    ck_assert_uint_eq(stats().prefabs, 2);
    ck_ok(espl_destroy(w, node[2], ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(stats().prefabs, 0);
}

// An entity in the last life of its index.
static espl_entity last_life(void)
{
    const espl_entity first = test_solo(w);

    ck_ok(espl_destroy(w, first, ESPL_EXTENT_OWNED));
    test_age_index(w, first.index, 1);
    return test_solo(w);
}

TEST(indices_used_up_are_counted)
{
    for (uint32_t i = 0; i < 3; ++i) {
        ck_ok(espl_destroy(w, last_life(), ESPL_EXTENT_OWNED));
        ck_assert_uint_eq(stats().retired, i + 1);
        ck_assert_uint_eq(stats().entities, 0);
    }
    test_world_is_valid(w);
}

// --- Room ---

TEST(rows_and_chunks_are_counted)
{
    const espl_component placement = ESPL_TRANSFORM;
    const size_t rows = test_limits_of_build().rows;
    node = test_array(rows + 1, sizeof *node);

    ck_ok(espl_create(w, &placement, 1, rows, node));
    ck_assert_uint_eq(stats().archetypes, 1);
    ck_assert_uint_eq(stats().chunks - stats().spare_chunks, 1);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(stats().chunks, 1);
    ck_assert_uint_eq(stats().spare_chunks, 0);
    ck_assert_uint_eq(stats().row_capacity, rows);

    ck_ok(espl_create(w, &placement, 1, 1, node + rows));
    ck_assert_uint_eq(stats().chunks - stats().spare_chunks, 2);
    ck_assert_uint_eq(stats().row_capacity, stats().chunks * rows);

    ck_ok(test_reserve_rows(w, &placement, 1, 5 * rows));
    ck_assert_uint_ge(stats().spare_chunks, 4);
    ck_assert_uint_eq(stats().chunks - stats().spare_chunks, 2);
    ck_assert_uint_ge(stats().row_capacity, 6 * rows + 1);

    for (size_t i = 0; i < rows + 1; ++i) {
        ck_ok(espl_destroy(w, node[i], ESPL_EXTENT_OWNED));
    }
    ck_assert_uint_eq(stats().spare_chunks, stats().chunks);
}

TEST(slots_are_counted)
{
    node = make_trees(w, 1, 6, 2);
    const espl_entity solo = test_solo(w), other = test_solo(w);

    // The hierarchy has a slot for its next node.
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(stats().slots, 9);
    ck_assert_uint_eq(stats().free_slots, 0);
    ck_ok(espl_destroy(w, solo, ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(stats().slots, 9);
    ck_assert_uint_eq(stats().free_slots, 1);
    ck_ok(espl_destroy(w, other, ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(stats().free_slots, 2);
    ck_ok(espl_destroy(w, node[0], ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(stats().slots, 9);
    ck_assert_uint_eq(stats().free_slots, 9);
    ck_ok(espl_reserve(w, &(espl_reserve_def){.entities = 40}));
    ck_assert_uint_ge(stats().free_slots, 40);
    ck_assert_uint_eq(stats().free_slots, stats().slots);
}

TEST(bytes_by_purpose_make_up_all_but_the_world)
{
    // What an empty world takes for itself.
    const espl_world_stats empty = stats();
    const size_t of_world =
        empty.bytes - empty.bytes_store - empty.bytes_tree - empty.bytes_commands;
    node = make_trees(w, 1, 6, 2);
    const float stretch[3] = {1, 2, 1};

    ck_ok(espl_set_stretch(w, node[3], stretch));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = 20}));
    espl_command_buffer *const commands = test_commands(w, 2);
    ck_ok(espl_record_destroy(espl_command_buffer_recorder(commands, 1), 0, node[0],
                              ESPL_EXTENT_OWNED));
    const espl_world_stats s = stats();
    ck_assert_uint_eq(s.bytes, test.heap.bytes);
    ck_assert_uint_eq(s.bytes - s.bytes_store - s.bytes_tree - s.bytes_commands, of_world);
    ck_assert_uint_gt(s.bytes_commands, 0);
    espl_command_buffer_destroy(commands);
}

// --- Work ---

// Make, destroy and compact the same in worlds with cells and without.
TEST(cells_take_12_bytes_a_slot_of_the_tree)
{
    const uint32_t count = test_fitting(3000, 8);
    espl_entity *const all = test_array(count, sizeof *all);
    espl_world_stats plain[3], far[3];

    for (int with_cells = 0; with_cells < 2; ++with_cells) {
        espl_world_stats *const s = with_cells ? far : plain;
        test_world other;

        test_world_cells(with_cells ? 1024 : 0);
        test_world_begin(&other, 1, NULL);
        for (int round = 0; round < 3; ++round) {
            if (round == 1) {
                test_solos(other.world, count, all);
            } else if (round == 2) {
                ck_ok(espl_destroy_many(other.world, all, count, ESPL_EXTENT_OWNED, NULL));
                ck_ok(espl_compact(other.world));
            }
            espl_stats(other.world, &s[round]);
            ck_assert_uint_eq(s[round].bytes, other.heap.bytes);
            ck_assert_uint_eq(s[round].bytes_changes, 0);
        }
        test_world_end(&other);
    }
    for (int round = 0; round < 3; ++round) {
        const size_t more = far[round].bytes_tree - plain[round].bytes_tree;

        ck_assert_uint_eq(far[round].slots, plain[round].slots);
        ck_assert_uint_ge(more, 12 * far[round].slots);
        // The arrays have a few items more than there are slots.
        ck_assert_uint_le(more, 12 * far[round].slots + 1024);
        ck_assert_uint_eq(far[round].bytes - plain[round].bytes, more);
        ck_assert_uint_eq(far[round].bytes_store, plain[round].bytes_store);
    }
    ck_assert_uint_ge(far[1].slots, count);
    ck_assert_uint_lt(far[2].slots, far[1].slots);
    free(all);
}

TEST(counterparts_take_40_bytes_of_the_store_at_most)
{
    const uint32_t count = test_fitting(3000, 8);
    espl_entity *const all = test_array(count, sizeof *all);

    test_solos(w, count, all);
    const espl_world_stats before = stats();

    for (uint32_t i = 0; i < count; ++i) {
        ck_ok(espl_set_counterpart(w, all[i], (espl_entity){7 + i, UINT32_C(9) << 24 | 1}));
    }
    const espl_world_stats full = stats();
    const size_t more = full.bytes_store - before.bytes_store;

    ck_assert_uint_eq(full.counterparts, count);
    ck_assert_uint_eq(full.bytes - before.bytes, more);
    ck_assert_uint_eq(full.bytes, test.heap.bytes);
    // A link takes 16 to 32 bytes, and each index 8. Both have room for some at once.
    ck_assert_uint_le(more, 40 * (size_t)count + 1024);
    ck_assert_uint_ge(more, 24 * (size_t)count);
    // Some lose them, and the others go.
    for (uint32_t i = 0; i < count / 2; ++i) {
        ck_ok(espl_set_counterpart(w, all[i], espl_entity_null()));
    }
    ck_ok(espl_destroy_many(w, all + count / 2, count - count / 2, ESPL_EXTENT_OWNED, NULL));
    ck_assert_uint_eq(stats().counterparts, 0);
    ck_ok(espl_compact(w));
    const espl_world_stats after = stats();

    ck_assert_uint_eq(after.bytes, test.heap.bytes);
    ck_assert_uint_le(after.bytes_store, before.bytes_store);
    free(all);
}

TEST(packing_keeps_all_counters)
{
    node = make_trees(w, 1, 6, 2);
    espl_view seen;

    ck_ok(espl_destroy(w, node[1], ESPL_EXTENT_ENTITY));
    ck_ok(espl_view_hierarchy(w, node[0], &seen));
    ck_ok(espl_destroy(w, node[5], ESPL_EXTENT_OWNED));
    ck_ok(espl_view_hierarchy(w, node[0], &seen));
    const espl_world_stats before = stats();
    ck_ok(espl_compact(w));
    const espl_world_stats after = stats();
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited);
    ck_assert_uint_eq(after.nodes_skipped, before.nodes_skipped);
    ck_assert_uint_eq(after.writes, before.writes);
    ck_assert_uint_eq(after.writes_skipped, before.writes_skipped);
}

TEST(commands_played_are_counted)
{
    node = make_trees(w, 1, 6, 2);
    const espl_world_stats before = stats();
    espl_report report;

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_attach(recorder, 0, node[2], node[3], NULL));
    ck_ok(espl_record_attach(recorder, 0, node[1], node[5], NULL));
    ck_ok(espl_record_destroy(recorder, 0, node[4], ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(recorder, 0, node[4], ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(stats().commands_accepted, before.commands_accepted);
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.refused, 2); // a cycle, and one dead already
    ck_assert_uint_eq(stats().commands_accepted, before.commands_accepted + 4);
    ck_assert_uint_eq(stats().commands_applied, before.commands_applied + 2);
    ck_assert_uint_eq(stats().commands_refused, before.commands_refused + 2);

    // Calls at once are none.
    ck_ok(espl_detach(w, node[3], ESPL_KEEP_WORLD));
    ck_assert_uint_eq(stats().commands_accepted, before.commands_accepted + 4);
    espl_command_buffer_destroy(commands);
}

// --- Random worlds ---

static void compare_sizes(const test_tape *tape, const test_side *side)
{
    const test_model *const model = &tape->model;
    size_t by_size[ESPL_SIZE_CLASSES] = {0};
    const espl_world_stats s = test_stats(side->world);

    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t root = model->living[i];
        uint32_t size = 1, class = 0;

        if (model_role(model, root) != ESPL_ROLE_ROOT) {
            continue;
        }
        for (uint32_t n = model_next(model, root, root); n != MODEL_NONE;
             n = model_next(model, root, n)) {
            size += 1;
        }
        while (((uint32_t)2 << class) <= size) {
            class += 1;
        }
        by_size[class] += 1;
    }
    for (int i = 0; i < ESPL_SIZE_CLASSES; ++i) {
        tape_demand(tape, s.hierarchies_by_size[i] == by_size[i], "%zu of class %d, not %zu",
                    s.hierarchies_by_size[i], i, by_size[i]);
    }
    tape_demand(tape, s.row_capacity >= s.entities && s.slots - s.free_slots >= s.entities,
                "entities have no room");
    tape_demand(tape, s.commands_accepted == s.commands_applied + s.commands_refused,
                "commands are lost");
}

// Queries go by the roles of rows, which a destroy without memory may leave to a later call.
static void settle_roles(const test_side *side)
{
    ck_ok(espl_compact(side->world));
}

// Destroys lack memory now and then, and what shows is counted all the same.
static void run_tape(uint64_t seed, uint32_t population, size_t steps)
{
    test_tape tape;
    test_side side;
    uint64_t random = seed;

    tape_begin(&tape, seed, population);
    side_begin(&side, &tape, 1, NULL);
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);
        const bool is_destroy = (op.code >= OP_DESTROY && op.code <= OP_DESTROY_ONLY) ||
                                op.code == OP_DESTROY_MANY || op.code == OP_CLEAR;

        if (op.code == OP_CHANGE_QUERY) {
            settle_roles(&side);
        }
        test_heap_arm(&side.test.heap, is_destroy && test_one_in(&random, 2) ? 1 : 0, true);
        const espl_status status = side_run(&side, &tape, &op);
        test_heap_arm(&side.test.heap, 0, false);
        side_follow(&side, &tape, &op, status);
        compare_sizes(&tape, &side);
        if (tape.at % 16 == 0) {
            settle_roles(&side);
            side_compare(&side, &tape);
        }
    }
    side_end(&side);
    tape_end(&tape);
}

FIXTURE(NULL, NULL);

TEST_LOOP(sizes_of_random_hierarchies_are_the_models, 0, 3)
{
    static const uint32_t populations[3] = {4, 16, 60};
    uint64_t state = (uint64_t)_i + 21;

    for (size_t i = 0; i < test_scaled(40); ++i) {
        run_tape(test_random(&state), populations[_i], 400);
    }
}

// --- What a node takes ---

// Trees of `size` nodes, the children of each in fours, of entities that were made at once and are
// attached in one playback.
static void make_at_once(size_t count, size_t size)
{
    espl_entity *const entity = calloc(count, sizeof *entity);

    test_solos(w, count, entity);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    for (size_t i = 0; i < count; ++i) {
        const size_t rank = i % size;

        if (rank != 0) {
            ck_ok(espl_record_attach(recorder, 0, entity[i], entity[i - rank + (rank - 1) / 4],
                                     NULL));
        }
    }
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
    free(entity);
}

FIXTURE(set_up, end);

TEST(rooms_of_entities_made_at_once_go_when_they_are_attached)
{
    make_at_once(test_fitting(5000, 0), 10);
    // One for solos, one behind the roots, one behind the members.
    ck_assert_uint_le(stats().spare_chunks, 3);
}

// Of tiny chunks and of arrays that move at each reserve this says nothing.
#if !defined(ESPL_SHRUNKEN) && !defined(ESPL_HARD_MOVE)

TEST_LOOP(a_node_takes_at_most_128_bytes_all_in, 0, 2)
{
    static const size_t sizes[] = {20, 100000};
    // Builds with all checks have two test columns.
    enum { LIMIT = 128 + (ESPL_CHECKS >= 2 ? 2 * sizeof(uint32_t) : 0) };

    make_at_once(100000, sizes[_i]);
    ck_assert_uint_le(stats().bytes, (size_t)LIMIT * 100000);
}

#endif

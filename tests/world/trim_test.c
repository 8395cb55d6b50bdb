// SPDX-License-Identifier: MIT
// espl_compact(): ranks, slots and rows may change and nothing else that can be read, no unused
// memory is left, and without memory the world stays valid.
#include "tests/asked.h"
#include "tests/inside.h"
#include "tests/one_tree.h"
#include "tests/steps.h"
#include "tests/tape.h"

// Of a chunk its header, and its number in two lists.
enum { RECORD = 16, CHUNK = 64 + 8, COUNT = 40, CLONES = 5 };

// --- Beside the model ---

static void is_packed(const espl_world *world)
{
    const espl_world_stats stats = test_stats(world);

    // A hierarchy has room for its next nodes: one of less than 32 for one.
    ck_assert_uint_ge(stats.slots, stats.entities + stats.hierarchies);
    ck_assert_uint_le(stats.slots, stats.entities + stats.hierarchies + stats.entities / 16);
    ck_assert_uint_eq(stats.free_slots, 0);
    ck_assert_uint_eq(stats.spare_chunks, 0);
}

// One world is trimmed after each operation and the other never is. Both follow the model, so each
// call answers the same in both and reads the same bits.
static void run_tape(uint64_t seed, uint32_t population, size_t steps)
{
    test_tape tape;
    test_side trimmed, kept;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    side_begin(&trimmed, &tape, 1, NULL);
    side_begin(&kept, &tape, 1, NULL);
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);
        const espl_status first = side_run(&trimmed, &tape, &op);
        const espl_status second = side_run(&kept, &tape, &op);
        const model_answer answer = tape_apply(&tape, &op);

        side_check(&trimmed, &tape, &op, first, answer);
        side_check(&kept, &tape, &op, second, answer);
        tape_demand(&tape, first == second, "%s, not %s", espl_status_name(first),
                    espl_status_name(second));
        side_map(&trimmed, &tape, &op);
        side_map(&kept, &tape, &op);
        ck_ok(espl_compact(trimmed.world));
        is_packed(trimmed.world);
        if (tape.at % (population / 3 + 1) == 0) {
            side_compare(&trimmed, &tape);
            side_compare(&kept, &tape);
            side_compare_past(&trimmed, &kept, &tape);
        }
    }
    side_compare(&trimmed, &tape);
    side_compare(&kept, &tape);
    side_end(&trimmed);
    side_end(&kept);
    tape_end(&tape);
}

TEST_LOOP(b14_a_world_compacted_at_every_step_is_the_one_that_never_was, 0, 3)
{
    static const uint32_t populations[3] = {5, 24, 150};
    uint64_t state = (uint64_t)_i + 11;

    for (size_t i = 0; i < test_scaled(80); ++i) {
        run_tape(test_random(&state), populations[_i], 400);
    }
}

// --- By hand ---

// Every entity and how it stands, but for rank and slot.
static uint64_t logical_hash(void)
{
    uint64_t hash = TEST_HASH_START;

    for (size_t i = 0; i < COUNT; ++i) {
        const espl_entity near[4] = {espl_get_parent(w, node[i]), espl_get_first_child(w, node[i]),
                                     espl_get_next_sibling(w, node[i]), espl_get_root(w, node[i])};
        const uint32_t words[4] = {(uint32_t)espl_get_role(w, node[i]),
                                   (uint32_t)espl_get_link(w, node[i]),
                                   espl_get_inherit(w, node[i]), espl_get_depth(w, node[i])};
        espl_transform local = {0}, placed = {0};
        const int status[2] = {(int)espl_get_local_transform(w, node[i], &local),
                               (int)espl_get_world_transform(w, node[i], &placed)};

        hash = test_hash_bytes(hash, near, sizeof near);
        hash = test_hash_bytes(hash, words, sizeof words);
        hash = test_hash_transform(hash, &local);
        hash = test_hash_transform(hash, &placed);
        hash = test_hash_bytes(hash, status, sizeof status);
    }
    return hash;
}

// Two hierarchies with dead members, one with stretches and kept parts, prepaid side arrays, free
// indices, spare chunks, scratch of writes and of playback.
static void make_everything(void)
{
    const float stretch[3] = {1, 2, 3};

    node = make_chain(w, COUNT);
    espl_entity clone[CLONES] = {{0}};
    espl_write write[COUNT];

    for (uint32_t i = 0; i < COUNT; ++i) {
        write[i] = write_vector(node[i], ESPL_WRITE_LOCAL_POSITION, 1, (float)i, 0);
    }
    ck_ok(espl_write_batch(w, write, COUNT, NULL));
    ck_ok(espl_detach(w, node[COUNT / 2], ESPL_KEEP_WORLD));
    ck_ok(espl_detach(w, node[COUNT - 3], ESPL_KEEP_WORLD));
    ck_ok(espl_set_stretch(w, node[3], stretch));
    ck_ok(espl_set_inherit(w, node[5], ESPL_ABSOLUTE_Y));
    ck_ok(espl_set_inherit(w, node[7], ESPL_COPY_PARENT));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = node[COUNT - 1]}));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = node[COUNT - 3]}, CLONES, clone));
    for (size_t i = 0; i < CLONES; ++i) {
        ck_ok(espl_destroy(w, clone[i], ESPL_EXTENT_OWNED));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        ck_ok(espl_destroy(w, node[10 + 2 * i], ESPL_EXTENT_ENTITY));
        ck_ok(espl_destroy(w, node[COUNT / 2 + 3 + 2 * i], ESPL_EXTENT_ENTITY));
    }
}

FIXTURE(set_up, end);

TEST(trim_changes_nothing_but_where_things_stand)
{
    make_everything();
    const uint64_t hash = logical_hash();
    const espl_world_stats before = test_stats(w);
    const size_t bytes = test.heap.bytes;

    ck_ok(espl_compact(w));
    const espl_world_stats after = test_stats(w);
    ck_assert_uint_eq(logical_hash(), hash);
    is_packed(w);
    ck_assert_uint_lt(test.heap.bytes, bytes / 2);
    ck_assert_uint_eq(after.entities, before.entities);
    ck_assert_uint_eq(after.solos, before.solos);
    ck_assert_uint_eq(after.hierarchies, before.hierarchies);
    ck_assert_uint_eq(after.members, before.members);
    ck_assert_uint_eq(after.writes, before.writes);
    ck_assert_uint_eq(after.bytes_commands, 0);
    ck_assert_uint_eq(after.archetypes, before.archetypes);
    test_world_is_valid(w);
}

// How often a query meets a row whose slot stands before that of the row above it.
static size_t count_descents(void)
{
    espl_query query;
    size_t descents = 0;

    ck_ok(espl_query_begin(w, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 1; row < query.count && query.slots != NULL; ++row) {
            descents += query.slots[row] < query.slots[row - 1];
        }
    }
    return descents;
}

// Rows of chunks that count as written since a version.
static size_t count_changed(uint64_t since)
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_query_def def = {.changed = &placement, .changed_count = 1, .since = since};
    espl_query query;
    size_t rows = 0;

    ck_ok(espl_query_begin(w, &def, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    return rows;
}

// A chain that is put together from its end on has its members' rows the wrong way round.
TEST(rows_stand_in_the_order_of_slots)
{
    enum { LINKS = 20 };
    espl_entity link[LINKS];

    for (size_t i = 0; i < LINKS; ++i) {
        link[i] = test_solo_at(w, (float)i, 0, 0);
    }
    for (size_t i = 0; i + 1 < LINKS; ++i) {
        ck_ok(espl_attach(w, link[i], link[i + 1], NULL));
    }
    const uint64_t hash = test_logical_hash(w);
    uint64_t seen = espl_get_version(w);

    ck_assert_uint_gt(count_descents(), 0);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(count_descents(), 0);
    // Who mirrors rows hears of it, once.
    ck_assert_uint_gt(count_changed(seen), 0);
    seen = espl_get_version(w);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(count_changed(seen), 0);
    ck_assert_uint_eq(test_logical_hash(w), hash);
    for (size_t i = 0; i < LINKS; ++i) {
        ck_assert_float_eq(test_world_of(w, link[i]).position[0], (float)i);
    }
}

TEST(second_trim_takes_and_gives_nothing)
{
    make_everything();

    ck_ok(espl_compact(w));
    const uint64_t hash = test_physical_hash(w);
    const size_t bytes = test.heap.bytes, blocks = test.heap.blocks;
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(test.heap.failures, 0);
    test_heap_arm(&test.heap, 0, false);
    ck_assert_uint_eq(test.heap.bytes, bytes);
    ck_assert_uint_eq(test.heap.blocks, blocks);
    ck_assert_uint_eq(test_physical_hash(w), hash);
}

TEST(what_was_reserved_goes_back)
{
    const espl_component set[] = {ESPL_TRANSFORM};

    const espl_entity solo = test_solo(w);
    ck_ok(espl_compact(w));
    const size_t bytes = test.heap.bytes, blocks = test.heap.blocks;
    ck_ok(espl_reserve(w, &(espl_reserve_def){.entities = 40}));
    ck_ok(test_reserve_rows(w, set, 1, 40));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = 40}));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = solo}));
    ck_assert_uint_gt(test.heap.bytes, bytes);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(test.heap.bytes, bytes);
    ck_assert_uint_eq(test.heap.blocks, blocks);
}

// A pool that is packed for having many free slots keeps what was reserved.
TEST(what_was_reserved_outlives_a_pack)
{
    enum { MANY = 9000, KEPT = 100, MORE = 12000 };
    static espl_entity entities[MORE];
    const espl_component set[] = {ESPL_TRANSFORM};

    if (test_lacks_room(MANY + MORE, "a pool worth a pack") || test_moves_always()) {
        return;
    }
    ck_ok(espl_create(w, set, 1, MANY, entities));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.entities = MORE}));
    ck_ok(test_reserve_rows(w, set, 1, MANY + MORE));
    for (uint32_t i = 0; i < MANY - KEPT; ++i) {
        ck_ok(espl_destroy(w, entities[i], ESPL_EXTENT_OWNED));
    }
    ck_ok(espl_attach(w, entities[MANY - 1], entities[MANY - 2], NULL));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_create(w, set, 1, MORE, entities));
}

// Past what the world is made of, an empty one keeps what it has met: component sets and indices.
TEST(emptied_world_takes_hardly_more_than_a_fresh_one)
{
    test_world fresh;
    make_everything();

    test_world_begin(&fresh, 4, NULL);
    const size_t issued = COUNT + CLONES * 3;
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (espl_is_alive(w, node[i])) {
            ck_ok(espl_destroy(w, node[i], ESPL_EXTENT_SUBTREE));
        }
    }
    ck_ok(espl_compact(w));
    const espl_world_stats stats = test_stats(w);
    ck_assert_uint_eq(stats.entities, 0);
    ck_assert_uint_eq(stats.slots, 0);
    ck_assert_uint_eq(stats.bytes_tree, 0);
    ck_assert_uint_eq(stats.bytes_commands, 0);
    ck_assert_uint_eq(stats.chunks, 0);
    ck_assert_uint_le(test.heap.bytes, fresh.heap.bytes + issued * RECORD + 4096);
    test_world_end(&fresh);
}

// The same things made in a world that never held more. What stays of the others is a record for
// each index and a header for each chunk ever issued.
TEST(trimmed_world_takes_no_more_than_one_that_was_always_small)
{
    enum { PEAK = 50, LEFT = 6 };
    const size_t kept =
        (PEAK - LEFT) * RECORD + (PEAK - LEFT) / test_limits_of_build().rows * CHUNK;
    test_world fresh;

    test_world_begin(&fresh, 0, NULL);
    node = make_chain(w, PEAK);
    espl_entity *const few = make_chain(fresh.world, LEFT);
    ck_ok(espl_destroy(w, node[LEFT], ESPL_EXTENT_OWNED));
    ck_ok(espl_compact(w));
    ck_assert_uint_le(test_stats(w).bytes_tree, test_stats(fresh.world).bytes_tree);
    ck_assert_uint_le(test_stats(w).bytes_commands, test_stats(fresh.world).bytes_commands);
    ck_assert_uint_le(test_stats(w).bytes_store, test_stats(fresh.world).bytes_store + kept);
    ck_assert_uint_le(test.heap.bytes, fresh.heap.bytes + kept);
    free(few);
    test_world_end(&fresh);
}

// --- Without memory ---

// Each allocation fails in turn, alone or with all later ones. Whatever could be given back was,
// the dead may be gone or not, and a trim with memory does the rest.
TEST_LOOP(trim_without_memory_gives_back_what_it_can, 0, 2)
{
    size_t least = SIZE_MAX, points = 0, refused = 0;

    for (bool has_failed = true; has_failed; ++points) {
        make_everything();
        const uint64_t hash = logical_hash(), physical = test_physical_hash(w);
        const size_t bytes = test.heap.bytes;

        test_heap_arm(&test.heap, points + 1, _i != 0);
        const espl_status status = espl_compact(w);
        has_failed = test.heap.failures != 0;
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK ||
                  ((status == ESPL_ERR_NO_MEMORY || status == ESPL_PARTLY) && has_failed));
        ck_assert(status >= 0 || test_physical_hash(w) == physical);
        refused += status != ESPL_OK;
        ck_assert_uint_eq(logical_hash(), hash);
        ck_assert_uint_lt(test.heap.bytes, bytes);
        test_world_is_valid(w);

        ck_ok(espl_compact(w));
        is_packed(w);
        ck_assert_uint_eq(logical_hash(), hash);
        least = least == SIZE_MAX ? test.heap.bytes : least;
        ck_assert_uint_eq(test.heap.bytes, least);
        end();
        set_up();
    }
    ck_assert_uint_gt(points, 1);
    ck_assert_uint_gt(refused, 0);
}

// Roots that found no range of their own, because their old root was destroyed when there was no memory,
// with holes between them. The pool has room in front of them, so that a pack moves them.
static void make_roots_in_one_range(void)
{
    node = make_chain(w, COUNT);
    const espl_entity root = test_solo(w);

    for (uint32_t i = 1; i < COUNT; i += 4) {
        ck_ok(espl_attach(w, node[i], root, NULL));
    }
    ck_ok(espl_destroy(w, node[0], ESPL_EXTENT_SUBTREE));
    test_free_scratch(w);
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(w, root, ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(w, node[6], ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(w, node[15], ESPL_EXTENT_ENTITY));
    test_heap_arm(&test.heap, 0, false);
}

// Two allocations of a trim fail: roots that found no ranges are packed together, and stay together.
TEST(roots_in_one_range_outlive_a_trim_without_memory)
{
    enum { APART = 40 };
    size_t refused = 0;

    for (size_t first = 1, calls = 1; first <= calls; ++first) {
        for (size_t second = first + 1; second < first + APART; ++second) {
            make_roots_in_one_range();
            const uint64_t hash = logical_hash(), physical = test_physical_hash(w);

            test_heap_arm(&test.heap, first, false);
            test.heap.fails_again = second;
            const espl_status status = espl_compact(w);
            ck_assert(status >= 0 || test_physical_hash(w) == physical);
            refused += status != ESPL_OK;
            calls = test.heap.calls;
            test_heap_arm(&test.heap, 0, false);
            test_world_is_valid(w);
            ck_assert_uint_eq(logical_hash(), hash);

            ck_ok(espl_compact(w));
            is_packed(w);
            ck_assert_uint_eq(logical_hash(), hash);
            end();
            set_up();
        }
    }
    ck_assert_uint_gt(refused, 0);
}

// What was recorded is the user's: it plays as it would have.
TEST(recorded_commands_outlive_a_trim)
{
    make_everything();

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_attach(recorder, 0, node[COUNT / 2], node[COUNT / 2 - 1], NULL));
    ck_ok(espl_compact(w));
    ck_ok(espl_play(w, commands, NULL));
    ck_assert(espl_entity_equal(espl_get_parent(w, node[COUNT / 2]), node[COUNT / 2 - 1]));
    ck_ok(espl_compact(w));
    espl_command_buffer_destroy(commands);
}

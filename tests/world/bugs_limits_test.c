// SPDX-License-Identifier: MIT
// Faults that other systems of this kind have had with the ends of numbers, wide counts, words of
// bits and needless work, each as a test that would have caught it here. The letters name the entry
// in tests/BUGS.md.
#include "tests/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"
#include "tests/world/room.h"

#include <stdlib.h>
#include <string.h>

// The lower bits of a generation count the lives of its index, the upper ones hold the tag.
#define LAST_GENERATION ((uint32_t)test_limits_of_build().lives)

// --- K: the ends of indices and generations ---

START_TEST(k1_k6_an_index_retires_after_its_last_generation_and_no_handle_revives)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity other = test_solo(test.world), first = test_solo(test.world);
    ck_assert_int_eq(espl_destroy(test.world, first, ESPL_EXTENT_OWNED), ESPL_OK);
    // Its next life is the last but one.
    test_age_index(test.world, first.index, 2);

    espl_entity life[2];
    for (uint32_t i = 0; i < 2; ++i) {
        life[i] = test_solo(test.world);
        ck_assert_uint_eq(life[i].index, first.index);
        ck_assert_uint_eq(life[i].generation, first.generation + LAST_GENERATION - 2 + i);
        ck_assert(espl_is_alive(test.world, life[i]));
        ck_assert_int_eq(espl_destroy(test.world, life[i], ESPL_EXTENT_OWNED), ESPL_OK);
        ck_assert_uint_eq(test_stats(test.world).retired, i);
    }
    for (int i = 0; i < 20; ++i) {
        const espl_entity next = test_solo(test.world);

        ck_assert_uint_ne(next.index, first.index);
        ck_assert_uint_ne(next.index, other.index);
        ck_assert_int_eq(espl_destroy(test.world, next, ESPL_EXTENT_OWNED), ESPL_OK);
        ck_assert(!espl_is_alive(test.world, first));
        ck_assert(!espl_is_alive(test.world, life[0]) && !espl_is_alive(test.world, life[1]));
        test_world_is_valid(test.world);
        if (i % 8 == 7) {
            ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
        }
    }
    ck_assert_uint_eq(test_stats(test.world).retired, 1 + (LAST_GENERATION < 20));
    test_world_end(&test);
}
END_TEST

// A handle keeps to its fields: no count of lives reaches the world's tag.
START_TEST(k1_the_last_generation_leaves_the_tag_alone)
{
    test_world test;

    test_world_begin(&test, 127, NULL);
    const espl_entity first = test_solo(test.world);
    ck_assert_int_eq(espl_destroy(test.world, first, ESPL_EXTENT_OWNED), ESPL_OK);
    test_age_index(test.world, first.index, 1);
    const espl_entity last = test_solo(test.world);
    ck_assert_uint_eq(last.generation & ~LAST_GENERATION, first.generation & ~LAST_GENERATION);
    ck_assert_uint_eq(last.generation & LAST_GENERATION, LAST_GENERATION);
    ck_assert_int_eq(espl_destroy(test.world, last, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_destroy(test.world, last, ESPL_EXTENT_OWNED), ESPL_ERR_DEAD);
    test_world_end(&test);
}
END_TEST

// All indices in use or, where there are too many of them to fill, all but what is reserved.
START_TEST(k2_the_largest_index_does_not_wrap)
{
    const espl_component placement = ESPL_TRANSFORM;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity source = test_solo(test.world);
    ck_assert_int_eq(espl_create(test.world, &placement, 1, INDEX_LIMIT, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.entities = INDEX_LIMIT}),
                     ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_instantiate(test.world, source, INDEX_LIMIT, NULL), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_stats(test.world).entities, 1);
#ifdef ESPL_SHRUNKEN
    espl_entity all[INDEX_LIMIT];
    ck_assert_int_eq(espl_create(test.world, &placement, 1, INDEX_LIMIT - 1, all), ESPL_OK);
    ck_assert_uint_eq(all[INDEX_LIMIT - 2].index, INDEX_LIMIT - 1);
    const uint64_t before = test_physical_hash(test.world);
    ck_assert_int_eq(espl_create(test.world, &placement, 1, 1, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_instantiate(test.world, source, 1, NULL), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    ck_assert_int_eq(espl_destroy(test.world, all[7], ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_uint_eq(test_solo(test.world).index, all[7].index);
#else
    const espl_entity last = {(uint32_t)INDEX_LIMIT - 1, source.generation};
    const espl_entity past = {UINT32_MAX, source.generation};
    ck_assert_int_eq(espl_destroy(test.world, last, ESPL_EXTENT_OWNED), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_destroy(test.world, past, ESPL_EXTENT_OWNED), ESPL_ERR_FOREIGN);
#endif
    test_world_end(&test);
}
END_TEST

// --- K: counts ---

// Each call that takes a count, for a count far beyond any memory.
static void refuse_count(test_world *test, espl_entity source, size_t count)
{
    espl_world *const world = test->world;
    const espl_component placement = ESPL_TRANSFORM;
    const espl_instance_def def = {.source = source};
    const espl_creation_def creation = {.values = NULL};
    espl_command_buffer *commands = NULL;
    espl_status status[8];

    ck_assert_int_eq(espl_command_buffer_create(world, 1, &commands), ESPL_OK);
    test_heap_arm(&test->heap, 1, true);
    status[0] = espl_create(world, &placement, 1, count, NULL);
    status[1] = espl_reserve(world, &(espl_reserve_def){.entities = count});
    status[2] = espl_instantiate(world, source, count, NULL);
    status[3] = espl_reserve(world, &(espl_reserve_def){.writes = count});
    status[4] = espl_reserve(
        world, &(espl_reserve_def){.components = &placement, .component_count = 1, .rows = count});
    status[5] =
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, count, NULL);
    status[6] = espl_instantiate_at(world, &def, count, NULL);
    status[7] = espl_create_at(world, &creation, count, NULL);
    test_heap_arm(&test->heap, 0, false);
    for (int i = 0; i < 8; ++i) {
        ck_assert_msg(status[i] == ESPL_ERR_LIMIT || status[i] == ESPL_ERR_NO_MEMORY,
                      "call %d with %zu answers %s", i, count, espl_status_name(status[i]));
        // What does not fit a 32-bit word is a limit, whatever memory there is; of rows there may be
        // more than entities that fill them.
        ck_assert_msg(count <= UINT32_MAX || i == 4 || status[i] == ESPL_ERR_LIMIT,
                      "call %d with %zu answers %s", i, count, espl_status_name(status[i]));
    }
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    espl_command_buffer_destroy(commands);
}

START_TEST(k3_k9_counts_about_the_powers_of_two_are_not_cut_short)
{
    static const unsigned bits[] = {24, 30, 31, 32, 33, 40, 62, 63};
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity source = test_solo(test.world);
    const uint64_t before = test_physical_hash(test.world);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i) {
        if (bits[i] >= sizeof(size_t) * 8) {
            break;
        }
        const size_t power = (size_t)1 << bits[i];
        refuse_count(&test, source, power - 1);
        refuse_count(&test, source, power);
        refuse_count(&test, source, power + 1);
    }
    refuse_count(&test, source, SIZE_MAX);
    refuse_count(&test, source, SIZE_MAX - 1);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    test_world_end(&test);
}
END_TEST

// Numbers whose low half would do: no call looks at that half alone.
START_TEST(k3_large_numbers_of_things_are_not_taken_for_small_ones)
{
    const espl_component placement = ESPL_TRANSFORM;
    espl_query query;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    const size_t large = SIZE_MAX > UINT32_MAX ? (SIZE_MAX >> 16 << 16) + 1 : SIZE_MAX;
    const espl_query_def all = {.all = &placement, .all_count = large};
    const espl_query_def none = {.none = &placement, .none_count = large};
    const espl_query_def any = {.any = &placement, .any_count = large};
    const espl_query_def changed = {.changed = &placement, .changed_count = large};
    const espl_component_value value = {.component = ESPL_PREFAB};
    const espl_change_def adds = {.add = &value, .add_count = large};
    const espl_change_def removes = {.remove = &placement, .remove_count = large};
    const uint64_t before = test_physical_hash(test.world);

    ck_assert_int_eq(espl_query_begin(test.world, &all, &query), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_query_begin(test.world, &none, &query), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_query_begin(test.world, &any, &query), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_query_begin(test.world, &changed, &query), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_create(test.world, &placement, large, 1, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_change_components(test.world, node[0], &adds), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl_change_components(test.world, node[0], &removes), ESPL_ERR_LIMIT);
    ck_assert(espl_entity_is_null(espl_get_child(test.world, node[0], large)));
    ck_assert(espl_entity_is_null(espl_get_child(test.world, node[0], large - 1)));
    ck_assert_int_eq(espl_set_component(test.world, node[0], ESPL_PREFAB, NULL, large),
                     ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    free(node);
    test_world_end(&test);
}
END_TEST

START_TEST(k4_single_and_batched_creations_draw_distinct_handles)
{
    static const size_t sizes[] = {1, 7, 1, 1, 12, 3, 1, 9, 2, 1};
    const espl_component placement = ESPL_TRANSFORM;
    espl_entity made[64];
    size_t count = 0;
    test_world test;

    test_world_begin(&test, 0, NULL);
    made[count++] = test_solo(test.world);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const bool clones = i % 3 == 2;

        ck_assert_int_eq(clones ? espl_instantiate(test.world, made[0], sizes[i], made + count)
                                : espl_create(test.world, &placement, 1, sizes[i], made + count),
                         ESPL_OK);
        count += sizes[i];
        if (i % 2 == 1) { // leave a hole in the middle for the next one
            ck_assert_int_eq(espl_destroy(test.world, made[count / 2], ESPL_EXTENT_OWNED), ESPL_OK);
            made[count / 2] = made[count - 1];
            count -= 1;
        }
        for (size_t k = 0; k < count; ++k) {
            ck_assert(espl_is_alive(test.world, made[k]));
            for (size_t j = 0; j < k; ++j) {
                ck_assert_uint_ne(made[j].index, made[k].index);
            }
        }
        ck_assert_uint_eq(test_stats(test.world).entities, count);
        test_world_is_valid(test.world);
    }
    test_world_end(&test);
}
END_TEST

// --- K: words of bits ---

// Entities number 0 .. count - 1 that carry their number; all in one archetype.
static void fill_rows(espl_world *world, espl_component number, espl_entity *entity, uint32_t count)
{
    const espl_component set[2] = {ESPL_TRANSFORM, number};

    ck_assert_int_eq(espl_create(world, set, 2, count, entity), ESPL_OK);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_int_eq(espl_set_component(world, entity[i], number, &i, sizeof i), ESPL_OK);
    }
}

// Each of the numbers that are still there is met once.
static void meet_rows(espl_world *world, espl_component number, const bool *is_there, size_t count)
{
    const espl_query_def def = {.all = &number, .all_count = 1};
    bool is_met[256] = {false};
    espl_query query;

    ck_assert_int_eq(espl_query_begin(world, &def, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        const uint32_t *const column = espl_query_read(&query, number, sizeof *column);

        for (size_t row = 0; row < query.count; ++row) {
            ck_assert(column[row] < count && is_there[column[row]] && !is_met[column[row]]);
            is_met[column[row]] = true;
        }
    }
    ck_assert(memcmp(is_met, is_there, count * sizeof *is_met) == 0);
    test_world_is_valid(world);
}

static const uint32_t edges[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193};

// Rows leave at each edge of a word, alone and many at once.
START_TEST(k8_k10_chunks_are_whole_with_any_number_of_rows_about_a_word)
{
    for (size_t at = 0; at < sizeof edges / sizeof *edges && edges[at] <= room_for(256); ++at) {
        for (uint32_t every = 1; every <= 64; every *= 2) {
            espl_entity entity[256];
            bool is_there[256] = {false};
            espl_component number = 0;
            espl_command_buffer *commands = NULL;
            test_world test;

            test_world_begin(&test, 0, NULL);
            ck_assert_int_eq(register_kind(test.world, "number", 4, 4, &number), ESPL_OK);
            fill_rows(test.world, number, entity, edges[at]);
            memset(is_there, true, edges[at]);
            meet_rows(test.world, number, is_there, edges[at]);
            ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
            for (uint32_t i = every - 1; i < edges[at]; i += every) {
                ck_assert_int_eq(espl_record_destroy(espl_command_buffer_recorder(commands, 0), 0,
                                                     entity[i], ESPL_EXTENT_OWNED),
                                 ESPL_OK);
                is_there[i] = false;
            }
            ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
            meet_rows(test.world, number, is_there, edges[at]);
            espl_command_buffer_destroy(commands);
            test_world_end(&test);
        }
    }
}
END_TEST

START_TEST(k8_components_are_told_apart_at_the_edges_of_a_word)
{
    enum { TAGS = 140 };
    espl_component tag[TAGS];
    espl_entity entity[16];
    size_t count = 0;
    test_world test;

    test_world_begin(&test, 0, NULL);
    register_tags(test.world, tag, TAGS);
    for (size_t at = 3; at < sizeof edges / sizeof *edges && edges[at] <= tag[TAGS - 1]; ++at) {
        const espl_component set[2] = {ESPL_TRANSFORM, edges[at]};
        ck_assert_int_eq(espl_create(test.world, set, 2, 1, &entity[count++]), ESPL_OK);
    }
    for (size_t i = 0; i < count; ++i) {
        for (espl_component c = ESPL_DISABLED + 1; c <= tag[TAGS - 1]; ++c) {
            const espl_query_def def = {.any = &c, .any_count = 1};
            const bool is_own = c == edges[i + 3];
            espl_query query;
            size_t met = 0;

            ck_assert(espl_has_component(test.world, entity[i], c) == is_own);
            ck_assert_int_eq(espl_query_begin(test.world, &def, &query), ESPL_OK);
            while (espl_query_next(&query)) {
                for (size_t row = 0; row < query.count; ++row) {
                    met += espl_entity_equal(query.entities[row], entity[i]);
                }
            }
            ck_assert_uint_eq(met, is_own);
        }
    }
    test_world_end(&test);
}
END_TEST

// Runs of all sizes about a word come and go side by side.
START_TEST(k8_hierarchies_of_any_size_about_a_word_use_the_pool)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (int round = 0; round < 2; ++round) {
        for (size_t at = 0; at < sizeof edges / sizeof *edges && edges[at] <= room_for(256); ++at) {
            espl_entity *const node = plant_chain(test.world, edges[at]);
            const espl_entity last = node[edges[at] - 1];

            ck_assert_float_eq(test_world_of(test.world, last).position[0], (float)edges[at]);
            test_world_is_valid(test.world);
            ck_assert_int_eq(espl_destroy(test.world, node[edges[at] / 2], ESPL_EXTENT_SUBTREE),
                             ESPL_OK);
            test_world_is_valid(test.world);
            if (edges[at] > 1) {
                ck_assert_int_eq(espl_destroy(test.world, node[0], ESPL_EXTENT_OWNED), ESPL_OK);
            }
            free(node);
        }
    }
    ck_assert_uint_eq(test_stats(test.world).entities, 0);
    test_world_end(&test);
}
END_TEST

// --- K: work in proportion ---

START_TEST(k11_work_follows_what_is_touched_not_what_there_is)
{
    const uint32_t arms = (uint32_t)room_for(200), joints = 4;
    const uint32_t count = 1 + arms / joints * joints;
    uint32_t *const parent = calloc(count, sizeof *parent);
    espl_query query;
    test_world test;

    ck_assert_ptr_nonnull(parent);
    test_world_begin(&test, 0, NULL);
    for (uint32_t i = 0; i < count; ++i) {
        parent[i] = i == 0 ? PLANT_ROOT : (i - 1) % joints == 0 ? 0 : i - 1;
    }
    espl_entity *const node = plant_forest(test.world, parent, count);
    const uint64_t before = test_stats(test.world).nodes_visited;

    // Frames in which nothing changes, written and read all the same.
    for (int frame = 0; frame < 100; ++frame) {
        const espl_transform same = test_local_of(test.world, node[0]);

        ck_assert_int_eq(espl_set_local_transform(test.world, node[0], &same), ESPL_OK);
        ck_assert_int_eq(espl_query_begin(test.world, NULL, &query), ESPL_OK);
        while (espl_query_next(&query)) {
            ck_assert_float_gt(test_world_of(test.world, query.entities[0]).position[0], 0);
        }
    }
    ck_assert_uint_eq(test_stats(test.world).nodes_visited, before);
    // One arm moves: itself at most.
    const float by[3] = {0, 1, 0};
    ck_assert_int_eq(espl_translate_in_parent(test.world, node[1], by), ESPL_OK);
    ck_assert_uint_le(test_stats(test.world).nodes_visited - before, joints);
    ck_assert_int_eq(espl_translate_in_parent(test.world, node[count - 1], by), ESPL_OK);
    ck_assert_uint_le(test_stats(test.world).nodes_visited - before, joints + 1);
    free(node);
    free(parent);
    test_world_end(&test);
}
END_TEST

// Nothing found, at the end of each list there is.
START_TEST(k12_what_is_not_there_is_not_found_one_past_the_end)
{
    espl_entity out = {7, 7};
    espl_query query;
    espl_view view;
    espl_command_buffer *commands = NULL;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, 3);
    espl_component last = 0, number = 0;
    ck_assert_int_eq(register_kind(test.world, "number", 4, 4, &number), ESPL_OK);
    ck_assert_int_eq(register_kind(test.world, "last", 4, 4, &last), ESPL_OK);
    ck_assert_int_eq(espl_add_component(test.world, node[1], number, NULL, 4), ESPL_OK);

    ck_assert_uint_eq(espl_component_find(test.world, "las"), 0);
    ck_assert_uint_eq(espl_component_find(test.world, "lastt"), 0);
    ck_assert_uint_eq(espl_component_find(test.world, ""), 0);
    ck_assert(!espl_has_component(test.world, node[1], last));
    ck_assert(!espl_has_component(test.world, node[1], last + 1));
    ck_assert(!espl_has_component(test.world, node[1], UINT32_MAX));
    ck_assert(espl_entity_is_null(espl_get_child(test.world, node[0], 1)));
    ck_assert(espl_entity_is_null(espl_get_next_sibling(test.world, node[2])));
    ck_assert(espl_entity_is_null(espl_get_first_child(test.world, node[2])));
    const espl_query_def nobody = {.all = &last, .all_count = 1};
    ck_assert_int_eq(espl_query_begin(test.world, &nobody, &query), ESPL_OK);
    ck_assert(!espl_query_next(&query));
    const espl_query_def somebody = {.all = &number, .all_count = 1};
    ck_assert_int_eq(espl_query_begin(test.world, &somebody, &query), ESPL_OK);
    ck_assert(espl_query_next(&query));
    ck_assert_ptr_null(espl_query_read(&query, last, 4));
    ck_assert_ptr_nonnull(espl_query_read(&query, number, 4));
    ck_assert(!espl_query_next(&query));

    ck_assert_int_eq(espl_view_hierarchy(test.world, node[2], &view), ESPL_OK);
    ck_assert(espl_entity_equal(espl_view_entity(&view, 2), node[2]));
    ck_assert(espl_entity_is_null(espl_view_entity(&view, 3)));
    ck_assert(espl_entity_is_null(espl_view_entity(&view, SIZE_MAX)));

    ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
    const espl_instance_def def = {.source = node[2]};
    espl_entity pending = {0};
    ck_assert_int_eq(
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1, &pending),
        ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 0), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 1), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_command_buffer_result(commands, 1, 0), ESPL_ERR_ARGUMENT);
    pending.index += 1;
    ck_assert_int_eq(espl_command_buffer_resolve(commands, pending, &out), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(out.index, 7);
    espl_command_buffer_destroy(commands);
    free(node);
    test_world_end(&test);
}
END_TEST

static uint64_t work_of(const espl_world *world)
{
    return test_count_moved_nodes(world) + test_stats(world).nodes_visited;
}

// Nodes moved and computed while the leaves of a star die one by one, from first to last.
static uint64_t work_of_deaths(uint32_t count)
{
    uint32_t *const parent = calloc(count, sizeof *parent);
    test_world test;

    ck_assert_ptr_nonnull(parent);
    parent[0] = PLANT_ROOT;
    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_forest(test.world, parent, count);
    const uint64_t before = work_of(test.world);
    for (uint32_t i = 1; i < count; ++i) {
        ck_assert_int_eq(espl_destroy(test.world, node[i], ESPL_EXTENT_OWNED), ESPL_OK);
    }
    const uint64_t work = work_of(test.world) - before;
    free(node);
    free(parent);
    test_world_end(&test);
    return work;
}

START_TEST(k13_the_deaths_of_a_star_twice_as_large_are_twice_the_work)
{
    const uint32_t first = (uint32_t)room_for(1000) / 2;
    uint64_t last = work_of_deaths(first);

    for (uint32_t count = 2 * first; count <= 16 * first && count <= room_for(16000); count *= 2) {
        const uint64_t work = work_of_deaths(count);

        ck_assert_uint_le(work, 8 * (uint64_t)count);
        ck_assert_msg((double)work <= 2.15 * (double)last + 64, "%llu nodes for %u leaves",
                      (unsigned long long)work, count);
        last = work;
    }
}
END_TEST

static Suite *bugs_suite(void)
{
    Suite *const suite = suite_create("bugs with limits");
    TCase *const tcase = tcase_create("ends");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, k1_k6_an_index_retires_after_its_last_generation_and_no_handle_revives);
    tcase_add_test(tcase, k1_the_last_generation_leaves_the_tag_alone);
    tcase_add_test(tcase, k2_the_largest_index_does_not_wrap);
    tcase_add_test(tcase, k3_k9_counts_about_the_powers_of_two_are_not_cut_short);
    tcase_add_test(tcase, k3_large_numbers_of_things_are_not_taken_for_small_ones);
    tcase_add_test(tcase, k4_single_and_batched_creations_draw_distinct_handles);
    tcase_add_test(tcase, k8_k10_chunks_are_whole_with_any_number_of_rows_about_a_word);
    tcase_add_test(tcase, k8_components_are_told_apart_at_the_edges_of_a_word);
    tcase_add_test(tcase, k8_hierarchies_of_any_size_about_a_word_use_the_pool);
    tcase_add_test(tcase, k11_work_follows_what_is_touched_not_what_there_is);
    tcase_add_test(tcase, k12_what_is_not_there_is_not_found_one_past_the_end);
    tcase_add_test(tcase, k13_the_deaths_of_a_star_twice_as_large_are_twice_the_work);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(bugs_suite)

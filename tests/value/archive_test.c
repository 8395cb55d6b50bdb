// SPDX-License-Identifier: MIT
// Archives: what comes back in another world, and where it comes.
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Two worlds ---

// Write all of the first world, and read it into the second one.
static void copy_all(test_pair *p)
{
    test_archive all = test_archive_of(p->a, NULL);

    (void)test_archive_read(p->b, &all, NULL);
    test_archive_end(&all);
}

// --- A world that comes back ---

static void fill(espl_world *world, espl_component tag, espl_component link)
{
    const espl_entity root = test_pair_node(world, test_null, 1, "root"),
                      left = test_pair_node(world, root, 2, "left"),
                      right = test_pair_node(world, root, 3, NULL),
                      hand = test_pair_node(world, left, 4, "hand"),
                      solo = test_pair_node(world, test_null, 5, "solo");
    espl_entity bare, below;

    ck_ok(espl_create(world, &tag, 1, 1, &bare));
    ck_ok(espl_attach(world, bare, right, NULL));
    below = test_pair_node(world, bare, 6, "below");
    ck_ok(espl_add_component(world, left, link, &(test_link){hand, 7, left}, sizeof(test_link)));
    ck_ok(
        espl_add_component(world, solo, link, &(test_link){root, 8, test_null}, sizeof(test_link)));
    ck_ok(espl_add_component(world, below, tag, NULL, 0));
    ck_ok(espl_set_stretch(world, left, (float[3]){1, 2, -0.0F}));
    ck_ok(espl_set_user_data(world, solo, 0xdeadbeef));
    ck_ok(espl_set_inherit(world, hand, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_FORWARD));
    ck_ok(espl_set_inherit(world, below, ESPL_COPY_PARENT));
    ck_ok(espl_set_local_position(world, root, (float[3]){-0.0F, 1e-42F, 9}));
    ck_ok(espl_set_local_rotation(world, root, (float[4]){0.5F, 0.5F, 0.5F, 0.5F}));
    ck_ok(espl_attach(world, right, root, &(espl_attach_options){.link = ESPL_LINK_FREE}));
    ck_ok(espl_set_enabled(world, solo, ESPL_EXTENT_ENTITY, false));
    ck_ok(espl_add_component(world, left, ESPL_PREFAB, NULL, 0));
}

TEST(a_world_comes_back_in_another_world_bit_for_bit)
{
    test_pair p;

    test_pair_begin(&p);
    fill(p.a, test_component(p.a, "tag", 0, 1), test_link_component(p.a, "link", 0));
    // Registered in another order.
    (void)test_link_component(p.b, "link", 0);
    (void)test_component(p.b, "more", 4, 4);
    (void)test_component(p.b, "tag", 0, 1);
    copy_all(&p);
    ck_assert_uint_eq(test_logical_hash(p.a), test_logical_hash(p.b));

    test_archive one = test_archive_of(p.a, NULL), other = test_archive_of(p.b, NULL);

    ck_assert_uint_eq(one.size, other.size);
    ck_assert_mem_eq(one.bytes, other.bytes, one.size);
    test_archive_end(&one);
    test_archive_end(&other);
    test_pair_end(&p);
}

TEST(an_empty_world_comes_back)
{
    test_pair p;

    test_pair_begin(&p);
    copy_all(&p);
    ck_assert_uint_eq(test_stats(p.b).entities, 0);
    test_pair_end(&p);
}

TEST(a_member_whose_parent_stays_behind_comes_as_a_root_at_its_world)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, "arm"),
                      hand = test_pair_node(p.a, arm, 3, "hand");
    espl_entity tops[1];

    ck_ok(espl_set_local_rotation(p.a, root, (float[4]){0.5F, 0.5F, 0.5F, 0.5F}));
    ck_ok(espl_set_local_scale(p.a, root, 3));
    ck_ok(espl_set_inherit(p.a, arm, ESPL_ABSOLUTE_SCALE));
    test_archive part = test_archive_of(p.a, &(espl_archive_def){.tops = &arm, .top_count = 1});

    (void)test_archive_read(p.b, &part, &(espl_archive_read_def){.tops = tops, .top_capacity = 1});
    const espl_entity came = espl_get_first_child(p.b, tops[0]);
    const espl_transform arm_a = test_world_of(p.a, arm), arm_b = test_world_of(p.b, tops[0]),
                         hand_a = test_world_of(p.a, hand), hand_b = test_world_of(p.b, came);

    ck_assert(test_same(&arm_a, &arm_b));
    ck_assert(test_same(&hand_a, &hand_b));
    ck_assert_int_eq(espl_get_role(p.b, tops[0]), ESPL_ROLE_ROOT);
    ck_assert_uint_eq(espl_get_inherit(p.b, tops[0]), 0);
    ck_assert_str_eq(espl_get_name(p.b, came), "hand");
    test_archive_end(&part);
    test_pair_end(&p);
}

TEST(what_hangs_on_a_member_without_a_transform_comes_where_it_was)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 7, NULL);
    espl_entity bare[2], tops[1], all[4];

    ck_ok(espl_create(p.a, NULL, 0, 2, bare));
    ck_ok(espl_attach(p.a, bare[0], root, NULL));
    ck_ok(espl_attach(p.a, bare[1], bare[0], NULL));
    const espl_entity low = test_pair_node(p.a, bare[1], 2, NULL),
                      copy = test_pair_node(p.a, bare[0], 4, NULL);

    ck_ok(espl_set_inherit(p.a, copy, ESPL_COPY_PARENT));
    test_archive part = test_archive_of(p.a, &(espl_archive_def){.tops = bare, .top_count = 1});

    (void)test_archive_read(
        p.b, &part,
        &(espl_archive_read_def){.tops = tops, .top_capacity = 1, .entities = all, .capacity = 4});
    const espl_transform low_a = test_world_of(p.a, low), low_b = test_world_of(p.b, all[3]),
                         copy_a = test_world_of(p.a, copy), copy_b = test_world_of(p.b, all[2]);

    ck_assert(test_same(&low_a, &low_b));
    ck_assert(test_same(&copy_a, &copy_b));
    test_archive_end(&part);
    test_pair_end(&p);
}

TEST(references_name_what_came_along_and_are_null_otherwise)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_component a = test_link_component(p.a, "link", 0),
                         b = test_link_component(p.b, "link", 0);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      one = test_pair_node(p.a, root, 2, NULL),
                      two = test_pair_node(p.a, root, 3, NULL),
                      outside = test_pair_node(p.a, test_null, 4, NULL),
                      dead = test_pair_node(p.a, test_null, 5, NULL);
    espl_entity all[3];
    test_link value;

    ck_ok(espl_add_component(p.a, root, a, &(test_link){two, 1, root}, sizeof value));
    ck_ok(espl_add_component(p.a, one, a, &(test_link){outside, 2, dead}, sizeof value));
    ck_ok(espl_destroy(p.a, dead, ESPL_EXTENT_OWNED));
    test_archive part = test_archive_of(p.a, &(espl_archive_def){.tops = &root, .top_count = 1});

    // Handles of the other world that would be taken for its own ones.
    test_solos(p.b, test_fitting(8, 3), NULL);
    (void)test_archive_read(p.b, &part, &(espl_archive_read_def){.entities = all, .capacity = 3});
    ck_ok(espl_get_component(p.b, all[0], b, &value, sizeof value));
    ck_assert(espl_entity_equal(value.to, all[2]) && value.number == 1);
    ck_assert(espl_entity_equal(value.other, all[0]));
    ck_ok(espl_get_component(p.b, all[1], b, &value, sizeof value));
    ck_assert(espl_entity_is_null(value.to) && value.number == 2);
    ck_assert(espl_entity_is_null(value.other));
    test_archive_end(&part);
    test_pair_end(&p);
}

TEST(references_in_values_that_clones_lack_name_what_came_along)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_component a = test_link_component(p.a, "link", ESPL_COMPONENT_UNIQUE),
                         b = test_link_component(p.b, "link", ESPL_COMPONENT_UNIQUE);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL);
    espl_entity all[2];
    test_link value;

    ck_ok(espl_add_component(p.a, arm, a, &(test_link){arm, 3, root}, sizeof value));
    test_archive whole = test_archive_of(p.a, NULL);

    (void)test_archive_read(p.b, &whole,
                            &(espl_archive_read_def){.entities = all, .capacity = 2});
    ck_ok(espl_get_component(p.b, all[1], b, &value, sizeof value));
    ck_assert(espl_entity_equal(value.to, all[1]) && value.number == 3);
    ck_assert(espl_entity_equal(value.other, all[0]));
    test_archive_end(&whole);
    test_pair_end(&p);
}

TEST(an_archive_is_read_below_a_parent_with_its_locals)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL);
    const espl_entity ship = test_pair_node(p.b, test_null, 10, NULL),
                      mast = test_pair_node(p.b, ship, 3, NULL);
    espl_entity all[2];

    ck_ok(espl_set_inherit(p.a, arm, ESPL_ABSOLUTE_Y));
    ck_ok(espl_set_local_scale(p.b, mast, 0));
    test_archive part = test_archive_of(p.a, NULL);

    (void)test_archive_read(
        p.b, &part, &(espl_archive_read_def){.parent = mast, .entities = all, .capacity = 2});
    ck_assert(espl_entity_equal(espl_get_parent(p.b, all[0]), mast));
    const espl_transform one = test_local_of(p.a, root), same = test_local_of(p.b, all[0]);

    ck_assert(test_same(&one, &same));
    ck_assert_uint_eq(espl_get_inherit(p.b, all[1]), ESPL_ABSOLUTE_Y);
    ck_assert(test_world_of(p.b, all[1]).scale == 0);
    ck_assert(test_world_of(p.b, all[1]).position[1] == test_world_of(p.a, arm).position[1]);
    test_archive_end(&part);
    test_pair_end(&p);
}

TEST(free_links_stay_behind_unless_the_extent_is_the_subtree)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      owned = test_pair_node(p.a, root, 2, NULL),
                      loose = test_pair_node(p.a, root, 3, NULL);
    const espl_extent extents[3] = {ESPL_EXTENT_OWNED, ESPL_EXTENT_ENTITY, ESPL_EXTENT_SUBTREE};
    const uint32_t counts[3] = {2, 1, 3};
    espl_archive_info info;

    (void)owned;
    ck_ok(espl_attach(p.a, loose, root, &(espl_attach_options){.link = ESPL_LINK_FREE}));
    for (int i = 0; i < 3; ++i) {
        test_archive part = test_archive_of(
            p.a, &(espl_archive_def){.tops = &root, .top_count = 1, .extent = extents[i]});

        ck_ok(espl_archive_inspect(part.bytes, part.size, &info, NULL));
        ck_assert_uint_eq(info.nodes, counts[i]);
        ck_assert_uint_eq(info.tops, 1);
        test_archive_end(&part);
    }
    test_archive both = {0};
    const espl_sink sink = test_archive_sink(&both);
    const espl_entity twice[2] = {owned, root};

    ck_status(espl_archive_write(p.a, &(espl_archive_def){.tops = twice, .top_count = 2}, &sink),
              ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(both.size, 0);
    test_pair_end(&p);
}

TEST(what_is_read_in_a_tick_is_new_to_motion_and_to_watches)
{
    test_pair p;
    espl_watch *watch = NULL;
    espl_changes changes;
    espl_entity all[5];

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL);

    ck_ok(espl_set_inherit(p.a, arm, ESPL_ABSOLUTE_ROTATION));
    test_archive some = test_archive_of(p.a, NULL);
    const espl_entity ship = test_pair_node(p.b, test_null, 4, NULL);

    ck_ok(espl_motion_start(p.b, &(espl_motion_def){.history = 2}));
    ck_ok(espl_watch_create(p.b, NULL, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_tick_begin(p.b));
    (void)test_archive_read(
        p.b, &some, &(espl_archive_read_def){.parent = ship, .entities = all, .capacity = 2});
    (void)test_archive_read(p.b, &some,
                            &(espl_archive_read_def){.entities = all + 2, .capacity = 2});
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.added_count, 4);
    ck_ok(espl_present(p.b, 0.5F, NULL));
    for (int i = 0; i < 4; ++i) {
        const espl_transform now = test_world_of(p.b, all[i]);
        espl_transform shown;

        ck_ok(espl_read_one(p.b, all[i], ESPL_READ_SHOWN_TRANSFORM, &shown));
        ck_assert(test_same(&now, &shown));
    }
    ck_ok(espl_tick_end(p.b));
    test_world_is_valid(p.b);
    espl_watch_destroy(watch);
    test_archive_end(&some);
    test_pair_end(&p);
}

// --- Limits, memory, sinks ---

TEST(limits_and_arrays_that_are_too_small_refuse)
{
    test_pair p;
    espl_entity one[1] = {{7, 7}};

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL);

    (void)test_pair_node(p.a, root, 2, NULL);
    test_archive all = test_archive_of(p.a, NULL);
    const uint64_t before = test_physical_hash(p.b);

    ck_status(espl_archive_read(p.b, all.bytes, all.size, &(espl_archive_read_def){.node_limit = 1},
                                NULL),
              ESPL_ERR_LIMIT);
    ck_status(espl_archive_read(p.b, all.bytes, all.size,
                                &(espl_archive_read_def){.entities = one, .capacity = 1}, NULL),
              ESPL_ERR_ARGUMENT);
    ck_status(
        espl_archive_read(p.b, all.bytes, all.size, &(espl_archive_read_def){.flags = 1}, NULL),
        ESPL_ERR_ARGUMENT);
    ck_status(
        espl_archive_read(p.b, all.bytes, all.size, &(espl_archive_read_def){.parent = root}, NULL),
        ESPL_ERR_FOREIGN);
    ck_status(espl_archive_read(p.b, NULL, 0, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(one[0].index, 7);
    ck_assert_uint_eq(test_physical_hash(p.b), before);
    test_archive_end(&all);
    test_pair_end(&p);
}

TEST(each_allocation_that_fails_leaves_the_world_as_it_was)
{
    test_pair p;

    test_pair_begin(&p);
    fill(p.a, test_component(p.a, "tag", 0, 1), test_link_component(p.a, "link", 0));
    fill(p.b, test_component(p.b, "tag", 0, 1), test_link_component(p.b, "link", 0));
    test_archive all = test_archive_of(p.a, NULL);
    const espl_entity parent = test_pair_node(p.b, test_null, 1, NULL);

    (void)test_pair_node(p.b, parent, 1, NULL);
    for (int below = 0; below < 2; ++below) {
        const espl_archive_read_def def = {.parent = below ? parent : test_null};
        espl_status status = ESPL_ERR_NO_MEMORY;

        for (size_t at = 1; status != ESPL_OK; ++at) {
            const uint64_t before = test_physical_hash(p.b);

            test_heap_arm(&p.to.heap, at, false);
            status = espl_archive_read(p.b, all.bytes, all.size, &def, NULL);
            test_heap_arm(&p.to.heap, 0, false);
            test_world_is_valid(p.b);
            ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
            if (status != ESPL_OK) {
                ck_assert_uint_eq(test_physical_hash(p.b), before);
            }
        }
    }
    espl_status status = ESPL_ERR_NO_MEMORY;

    for (size_t at = 1; status != ESPL_OK; ++at) {
        test_archive again = {0};
        const espl_sink sink = test_archive_sink(&again);

        test_heap_arm(&p.from.heap, at, false);
        status = espl_archive_write(p.a, NULL, &sink);
        test_heap_arm(&p.from.heap, 0, false);
        ck_assert(status == ESPL_OK ? again.size == all.size : again.size == 0);
        test_archive_end(&again);
    }
    test_archive_end(&all);
    test_pair_end(&p);
}

static bool takes_some(void *user, const void *bytes, size_t size)
{
    size_t *const left = user;

    (void)bytes;
    *left -= size < *left ? size : *left;
    return *left != 0;
}

TEST(a_sink_that_takes_no_more_ends_the_call)
{
    test_pair p;
    size_t left = 10;
    const espl_sink sink = {&left, takes_some};

    test_pair_begin(&p);
    (void)test_pair_node(p.a, test_null, 1, NULL);
    ck_status(espl_archive_write(p.a, NULL, &sink), ESPL_ERR_SINK);
    ck_status(espl_archive_write(p.a, NULL, NULL), ESPL_ERR_ARGUMENT);
    test_pair_end(&p);
}

// --- Random worlds ---

// Compare the hierarchies below two tops by what can be read of them, parent by parent.
static void compare_trees(const espl_world *a, espl_entity top_a, const espl_world *b,
                          espl_entity top_b)
{
    const size_t count =
        espl_copy_subtree(a, top_a, ESPL_EXTENT_SUBTREE, 0, &(espl_subtree_arrays){0});
    espl_entity *const nodes[2] = {test_array(count, sizeof(espl_entity)),
                                   test_array(count, sizeof(espl_entity))};
    espl_transform *const locals[2] = {test_array(count, sizeof(espl_transform)),
                                       test_array(count, sizeof(espl_transform))};
    espl_transform *const worlds[2] = {test_array(count, sizeof(espl_transform)),
                                       test_array(count, sizeof(espl_transform))};
    uint32_t *const parents[2] = {test_array(count, 4), test_array(count, 4)};

    for (int i = 0; i < 2; ++i) {
        const espl_subtree_arrays out = {
            .entities = nodes[i], .parents = parents[i], .locals = locals[i], .worlds = worlds[i]};

        ck_assert_uint_eq(espl_copy_subtree(i == 0 ? a : b, i == 0 ? top_a : top_b,
                                            ESPL_EXTENT_SUBTREE, count, &out),
                          count);
    }
    for (size_t i = 0; i < count; ++i) {
        const espl_entity one = nodes[0][i], other = nodes[1][i];

        ck_assert(test_same(&locals[0][i], &locals[1][i]));
        ck_assert(test_same(&worlds[0][i], &worlds[1][i]));
        ck_assert_uint_eq(parents[0][i], parents[1][i]);
        ck_assert_uint_eq(espl_get_inherit(a, one), espl_get_inherit(b, other));
        ck_assert_int_eq(espl_get_link(a, one), espl_get_link(b, other));
        ck_assert_str_eq(espl_get_name(a, one), espl_get_name(b, other));
        for (espl_component c = 1; c <= espl_component_count(a); ++c) {
            ck_assert(espl_has_component(a, one, c) == espl_has_component(b, other, c));
        }
    }
    for (int i = 0; i < 2; ++i) {
        free(nodes[i]);
        free(locals[i]);
        free(worlds[i]);
        free(parents[i]);
    }
}

static int compare_indices(const void *a, const void *b)
{
    const espl_entity *const one = a, *const other = b;

    return (one->index > other->index) - (one->index < other->index);
}

// List roots and solos in the order of their indices. @return [count] to be freed.
static espl_entity *list_tops(const espl_world *world, size_t *count)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_entity *const tops = test_array(test_stats(world).entities, sizeof *tops);
    espl_query query;

    *count = 0;
    ck_ok(espl_query_begin_read(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            if (espl_get_role(world, query.entities[row]) != ESPL_ROLE_MEMBER) {
                tops[(*count)++] = query.entities[row];
            }
        }
    }
    qsort(tops, *count, sizeof *tops, compare_indices);
    return tops;
}

// Compare a world with another one that read its archive.
static void compare_worlds(const espl_world *a, const espl_world *b, const espl_entity *tops,
                           size_t count)
{
    size_t roots = 0;
    espl_entity *const first = list_tops(a, &roots);

    ck_assert_uint_eq(roots, count);
    for (size_t i = 0; i < count; ++i) {
        compare_trees(a, first[i], b, tops[i]);
    }
    free(first);
}

TEST_LOOP(random_worlds_come_back, 0, 3)
{
    static const uint32_t populations[3] = {6, 30, 200}, limits[3] = {8, 60, 300};
    const espl_executor executors[1] = {{0}};
    uint64_t random = 77 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 12 : _i == 1 ? 6 : 2) * (size_t)test_factor();

    for (size_t i = 0; i < runs; ++i) {
        stage *const s = stage_begin(test_random(&random), populations[_i], executors, 1);
        const uint32_t fitting = stage_fit(s, limits[_i]);
        const espl_world *const from = s->played[0].world;

        for (size_t round = 0; round < test_scaled(12) && !tape_is_worn(&s->tape); ++round) {
            test_world to;

            if (!stage_step(s, 1 + test_below(&random, fitting))) {
                break;
            }
            test_archive all = test_archive_of(from, NULL);

            test_world_cells(espl_get_cell_size(from));
            test_world_begin(&to, 9, NULL);
            for (espl_component c = ESPL_DISABLED + 1; c <= espl_component_count(from); ++c) {
                espl_component_def def;
                espl_component out;

                ck_ok(espl_component_info(from, c, &def));
                ck_ok(espl_component_register(to.world, &def, &out));
            }
            espl_archive_info info;

            ck_ok(espl_archive_inspect(all.bytes, all.size, &info, NULL));
            espl_entity *const tops = test_array(info.tops, sizeof *tops);

            (void)test_archive_read(
                to.world, &all, &(espl_archive_read_def){.tops = tops, .top_capacity = info.tops});
            compare_worlds(from, to.world, tops, info.tops);
            free(tops);
            test_archive again = test_archive_of(to.world, NULL);

            ck_assert_uint_eq(again.size, all.size);
            ck_assert_mem_eq(again.bytes, all.bytes, all.size);
            test_archive_end(&again);
            test_archive_end(&all);
            test_world_end(&to);
        }
        stage_end(s);
    }
}

// SPDX-License-Identifier: MIT
// The number of nodes that an edit of a large tree computes, the effect of removed inherit flags on a
// world, and edits by calls in a large world.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <math.h>

FIXTURE(set_up, tear_down);

TEST(an_edit_of_a_large_hierarchy_recomputes_what_it_moves)
{
    const uint32_t count = test_fitting(4000, 1);

    espl_entity *const entities = make_trees(w, 1, count, 0);
    const espl_entity guest = test_solo_at(w, 1, 2, 3);
    const espl_world_stats before = test_stats(w);

    ck_ok(espl_attach(w, guest, entities[0], NULL));
    ck_ok(espl_move_before(w, guest, entities[count / 2]));
    ck_ok(espl_attach(w, guest, entities[count / 3], NULL));
    ck_ok(espl_detach(w, guest, ESPL_KEEP_WORLD));
    const espl_world_stats after = test_stats(w);

    ck_assert_uint_le(after.nodes_visited - before.nodes_visited, 4);
    test_world_is_valid(w);
    free(entities);
}

TEST(a_move_among_siblings_recomputes_nothing)
{
    const uint32_t count = test_fitting(4000, 0), children = count == 4000 ? 40 : 8;

    espl_entity *const entities = make_trees(w, 1, count, children);
    const espl_world_stats before = test_stats(w);

    ck_ok(espl_move_before(w, entities[children / 4], entities[children / 2]));
    const espl_world_stats after = test_stats(w);

    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited);
    ck_assert(
        espl_entity_equal(test_child(w, entities[0], children / 2 - 2), entities[children / 4]));
    test_world_is_valid(w);
    free(entities);
}

// What is kept hides where a local would lead: no longer kept, its world overflows. Along X the way
// back is out of range too, so that the local stays what it was.
// A kept world that no local gives cannot be given up: the local would be 1e50.
TEST_LOOP(flags_stay_where_no_local_keeps_the_world, 0, 2)
{
    const float far[3] = {1e20f, 1e20f, 0}, stretch[3] = {1e-30f, 1e30f, 1};
    const espl_attach_options keep = {.inherit = ESPL_ABSOLUTE_POSITION};
    const espl_attach_options loose = {.link = ESPL_LINK_FREE};
    const espl_entity parent = test_solo(w), child = test_solo(w);

    ck_ok(espl_attach(w, child, parent, &keep));
    ck_ok(espl_set_world_position(w, child, far));
    ck_ok(espl_set_stretch(w, parent, stretch));
    ck_assert_float_eq(test_world_of(w, child).position[1], far[1]);
    const uint64_t hash = test_physical_hash(w);

    ck_status(_i == 0 ? espl_attach(w, child, parent, &loose) : espl_set_inherit(w, child, 0),
              ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(w), hash);
}

TEST(a_world_that_is_not_finite_cannot_be_kept)
{
    const float far[3] = {1e20f, 1e20f, 0}, stretch[3] = {1e-30f, 1e30f, 1}, none[3] = {1, 1, 1};
    const espl_attach_options keep = {.inherit = ESPL_ABSOLUTE_POSITION};
    const espl_entity parent = test_solo(w), child = test_solo(w);

    ck_ok(espl_attach(w, child, parent, NULL));
    ck_ok(espl_set_world_position(w, child, far));
    ck_status(espl_set_stretch(w, parent, stretch), ESPL_OVERFLOW);
    ck_assert_uint_eq(test_count_overflowed(w), 1);
    ck_assert(!isfinite(test_world_of(w, child).position[1]));
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_set_inherit(w, child, ESPL_ABSOLUTE_POSITION), ESPL_ERR_RANGE);
    ck_status(espl_attach(w, child, parent, &keep), ESPL_ERR_RANGE);
    ck_status(espl_detach(w, child, ESPL_KEEP_WORLD), ESPL_ERR_RANGE);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_ok(espl_set_stretch(w, parent, none));
    ck_assert_uint_eq(test_count_overflowed(w), 0);
    ck_assert_float_eq(test_world_of(w, child).position[1], far[1]);
}

// --- Large worlds, in which calls prefetch ---

enum { SMALL_TREES = 4, SMALL_NODES = 9, SMALL = SMALL_TREES * SMALL_NODES, CLONES = 3 };

// Make small trees, edit them by calls, and write the worlds of what is alive.
static void edit_small_trees(espl_transform worlds[SMALL + CLONES])
{
    espl_entity *const at = make_trees(w, SMALL_TREES, SMALL_NODES, 2);
    espl_entity made[CLONES];

    for (uint32_t i = 0; i < SMALL; ++i) {
        ck_ok(espl_set_local_position(w, at[i], (float[3]){1, (float)i, -(float)(i % 5)}));
    }
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = at[1], .parent = at[9 + 4]}, 1,
                           &made[0]));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = at[9]}, 1, &made[1]));
    made[2] = test_solo(w);
    ck_ok(espl_attach(w, made[2], at[3], NULL));
    ck_ok(espl_create_at(w, &(espl_creation_def){.parent = made[2]}, 1, NULL));
    ck_ok(espl_destroy(w, at[8], ESPL_EXTENT_OWNED));
    ck_ok(espl_destroy(w, at[18 + 1], ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(w, at[18 + 2], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_destroy(w, at[27], ESPL_EXTENT_OWNED));
    ck_ok(espl_attach(w, at[9], at[0], NULL));
    ck_ok(espl_detach(w, at[3], ESPL_KEEP_WORLD));
    test_world_is_valid(w);
    for (uint32_t i = 0; i < SMALL + CLONES; ++i) {
        const espl_entity entity = i < SMALL ? at[i] : made[i - SMALL];

        worlds[i] = espl_is_alive(w, entity) ? test_world_of(w, entity) : espl_transform_identity();
    }
    free(at);
}

TEST(calls_do_the_same_in_a_large_world)
{
    if (test_lacks_room(20000 + 4 * (SMALL + CLONES), "calls that prefetch")) {
        return;
    }
    espl_transform in_small[SMALL + CLONES], in_large[SMALL + CLONES];

    edit_small_trees(in_small);
    free(make_trees(w, 1, 20000, 0));
    edit_small_trees(in_large);
    for (uint32_t i = 0; i < SMALL + CLONES; ++i) {
        ck_assert_msg(test_same(&in_small[i], &in_large[i]), "node %u", i);
    }
}

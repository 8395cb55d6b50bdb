// SPDX-License-Identifier: MIT
// The worked examples of the specification, with entities.
#include "tests/asked.h"
#include "tests/one_world.h"

FIXTURE(set_up, tear_down);

static void ck_transform(espl_transform got, float x, float y, float z, float scale)
{
    ck_assert_float_eq(got.position[0], x);
    ck_assert_float_eq(got.position[1], y);
    ck_assert_float_eq(got.position[2], z);
    ck_assert_float_eq(got.scale, scale);
}

static void adopt(espl_world *world, espl_entity child, espl_entity parent)
{
    ck_ok(espl_attach(world, child, parent, &test_keep_local));
}

static void set_local(espl_world *world, espl_entity entity, espl_transform value)
{
    ck_ok(espl_set_local_transform(world, entity, &value));
}

TEST(stretch_and_scale_move_children_and_only_scale_is_inherited)
{
    const espl_entity parent = test_solo(w), child = test_solo(w);
    espl_transform above = espl_transform_identity(), below = test_at(1, 1, 1);

    above.scale = 2;
    above.stretch[1] = 3;
    below.scale = 0.5f;
    below.stretch[2] = 2;
    set_local(w, parent, above);
    set_local(w, child, below);
    adopt(w, child, parent);

    const espl_transform world = test_world_of(w, child);
    ck_transform(world, 2, 6, 2, 1);
    ck_assert_float_eq(world.stretch[0], 1);
    ck_assert_float_eq(world.stretch[1], 1);
    ck_assert_float_eq(world.stretch[2], 2);

    espl_transform wanted = test_at(4, 6, 2);
    wanted.scale = 3;
    wanted.stretch[2] = 2;
    ck_ok(espl_set_world_transform(w, child, &wanted));
    ck_transform(test_local_of(w, child), 2, 1, 1, 1.5f);
    ck_transform(test_world_of(w, child), 4, 6, 2, 3);
}

// R{A{C,D},B{E}}, in the order R, A, B, C, D, E.
static void make_tree(espl_world *world, espl_entity node[6])
{
    static const int parent[6] = {-1, 0, 0, 1, 1, 2};

    for (int i = 0; i < 6; ++i) {
        node[i] = test_solo_at(world, 1, 0, 0);
        if (parent[i] >= 0) {
            adopt(world, node[i], node[parent[i]]);
        }
    }
}

static void ck_ranks(const espl_world *world, const espl_entity *node, const uint32_t *rank,
                     size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(test_rank(world, node[i]), rank[i]);
    }
}

TEST(ranks_are_the_breadth_first_order_and_follow_an_attach)
{
    static const uint32_t before[6] = {0, 1, 2, 3, 4, 5};
    static const uint32_t after[7] = {0, 1, 2, 3, 4, 6, 5};
    static const uint32_t depth[7] = {0, 1, 1, 2, 2, 2, 2};
    espl_entity node[7];

    make_tree(w, node);
    ck_ranks(w, node, before, 6);

    node[6] = test_solo(w);
    adopt(w, node[6], node[1]);
    ck_ranks(w, node, after, 7);
    for (int i = 0; i < 7; ++i) {
        ck_assert_uint_eq(espl_get_depth(w, node[i]), depth[i]);
    }
    ck_assert_uint_eq(test_count_children(w, node[1]), 3);
    ck_assert(espl_entity_equal(test_child(w, node[1], 2), node[6]));
    ck_assert(espl_entity_is_null(test_child(w, node[1], 3)));
    ck_assert_uint_eq(test_count_descendants(w, node[0]), 6);
    ck_assert(espl_is_ancestor(w, node[0], node[6]));
    ck_assert(!espl_is_ancestor(w, node[2], node[6]));
    ck_assert(!espl_is_ancestor(w, node[6], node[6]));
}

TEST(two_writes_to_one_hierarchy_are_both_seen_at_once)
{
    espl_entity node[6];

    make_tree(w, node);
    set_local(w, node[0], test_at(2, 0, 0));
    set_local(w, node[3], test_at(5, 0, 0));
    ck_transform(test_world_of(w, node[3]), 8, 0, 0, 1);
    ck_transform(test_world_of(w, node[4]), 4, 0, 0, 1);
    ck_transform(test_world_of(w, node[5]), 4, 0, 0, 1);
}

TEST(a_batch_of_two_writes_to_one_hierarchy_visits_each_node_once)
{
    espl_entity node[6];
    espl_world_stats before, after;
    espl_write_report report;

    make_tree(w, node);
    const espl_write writes[2] = {
        {.entity = node[3], .kind = ESPL_WRITE_LOCAL_POSITION, .value.position = {5, 0, 0}},
        {.entity = node[0], .kind = ESPL_WRITE_TRANSLATE_IN_PARENT, .value.position = {1, 0, 0}}};
    espl_stats(w, &before);
    ck_ok(espl_write_batch(w, writes, 2, &report));
    espl_stats(w, &after);
    ck_assert_uint_eq(report.applied, 2);
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 6);
    ck_transform(test_world_of(w, node[0]), 2, 0, 0, 1);
    ck_transform(test_world_of(w, node[1]), 3, 0, 0, 1);
    ck_transform(test_world_of(w, node[2]), 3, 0, 0, 1);
    ck_transform(test_world_of(w, node[3]), 8, 0, 0, 1);
    ck_transform(test_world_of(w, node[4]), 4, 0, 0, 1);
    ck_transform(test_world_of(w, node[5]), 4, 0, 0, 1);
}

TEST(an_equal_write_visits_nothing)
{
    espl_entity node[6];
    espl_world_stats before, after;

    make_tree(w, node);
    ck_ok(espl_compact(w));
    espl_stats(w, &before);
    set_local(w, node[0], test_at(1, 0, 0));
    espl_stats(w, &after);
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited);
    ck_assert_uint_eq(after.writes, before.writes);

    set_local(w, node[1], test_at(3, 0, 0));
    espl_stats(w, &after);
    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited + 3);
    ck_assert_uint_eq(after.writes, before.writes + 1);
}

TEST(a_world_below_scale_zero_is_lossy)
{
    const espl_entity parent = test_solo(w), child = test_solo(w);
    espl_transform flat = test_at(10, 0, 0);

    flat.scale = 0;
    set_local(w, parent, flat);
    adopt(w, child, parent);
    const espl_transform wanted = test_at(12, 3, 4);
    ck_status(espl_set_world_transform(w, child, &wanted), ESPL_LOSSY);
    ck_transform(test_world_of(w, child), 10, 0, 0, 0);
}

TEST(a_kept_axis_is_reached_below_scale_zero)
{
    const espl_entity parent = test_solo(w), child = test_solo(w);
    espl_transform flat = test_at(10, 0, 0);

    flat.scale = 0;
    set_local(w, parent, flat);
    adopt(w, child, parent);
    ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_X));
    const espl_transform wanted = test_at(12, 3, 4), along = test_at(14, 0, 0);
    ck_status(espl_set_world_transform(w, child, &wanted), ESPL_LOSSY);
    ck_transform(test_world_of(w, child), 12, 0, 0, 0);
    // Nothing is asked of the axes that are hidden.
    ck_ok(espl_set_world_position(w, child, along.position));
    ck_transform(test_world_of(w, child), 14, 0, 0, 0);
}

TEST(one_flat_axis_loses_that_axis_alone)
{
    const espl_entity parent = test_solo(w), child = test_solo_at(w, 7, 8, 9);
    espl_transform flat = test_at(1, 1, 1);

    flat.stretch[1] = 0;
    set_local(w, parent, flat);
    adopt(w, child, parent);
    const espl_transform wanted = test_at(3, 3, 3);
    ck_status(espl_set_world_transform(w, child, &wanted), ESPL_LOSSY);
    ck_transform(test_world_of(w, child), 3, 1, 3, 1);
    ck_transform(test_local_of(w, child), 2, 8, 2, 1);
}

TEST(attach_keeps_what_its_options_say)
{
    const espl_entity parent = test_solo_at(w, 10, 0, 0);
    const espl_entity child = test_solo_at(w, 1, 2, 3);
    const espl_attach_options snap = {.position = ESPL_SNAP};

    ck_ok(espl_attach(w, child, parent, NULL));
    ck_transform(test_world_of(w, child), 1, 2, 3, 1);
    ck_transform(test_local_of(w, child), -9, 2, 3, 1);
    ck_ok(espl_detach(w, child, ESPL_KEEP_LOCAL));
    ck_transform(test_world_of(w, child), -9, 2, 3, 1);
    adopt(w, child, parent);
    ck_transform(test_world_of(w, child), 1, 2, 3, 1);
    ck_ok(espl_attach(w, child, parent, &snap));
    ck_transform(test_world_of(w, child), 10, 0, 0, 1);
    ck_ok(espl_detach(w, child, ESPL_KEEP_WORLD));
    ck_transform(test_local_of(w, child), 10, 0, 0, 1);
    ck_assert_int_eq(espl_get_role(w, child), ESPL_ROLE_SOLO);
    ck_assert_int_eq(espl_get_role(w, parent), ESPL_ROLE_SOLO);
}

TEST(survivors_take_the_place_of_the_dead_in_order)
{
    espl_entity node[6];

    make_tree(w, node);
    ck_ok(espl_destroy(w, node[1], ESPL_EXTENT_ENTITY));
    ck_assert(!espl_is_alive(w, node[1]));
    ck_assert_uint_eq(test_count_children(w, node[0]), 3);
    ck_assert(espl_entity_equal(test_child(w, node[0], 0), node[3]));
    ck_assert(espl_entity_equal(test_child(w, node[0], 1), node[4]));
    ck_assert(espl_entity_equal(test_child(w, node[0], 2), node[2]));
    ck_transform(test_world_of(w, node[3]), 3, 0, 0, 1);
    ck_transform(test_local_of(w, node[3]), 2, 0, 0, 1);
}

TEST(survivors_below_a_destroyed_root_become_roots_of_their_own)
{
    espl_entity node[6];
    const espl_attach_options set_free = {.link = ESPL_LINK_FREE};

    make_tree(w, node);
    ck_ok(espl_attach(w, node[2], node[0], &set_free));
    ck_ok(espl_destroy(w, node[0], ESPL_EXTENT_OWNED));
    ck_assert(!espl_is_alive(w, node[1]));
    ck_assert(!espl_is_alive(w, node[4]));
    ck_assert_int_eq(espl_get_role(w, node[2]), ESPL_ROLE_ROOT);
    ck_assert_int_eq(espl_get_link(w, node[2]), ESPL_LINK_OWNED);
    ck_assert_int_eq(espl_get_role(w, node[5]), ESPL_ROLE_MEMBER);
    ck_transform(test_local_of(w, node[2]), 2, 0, 0, 1);
    ck_transform(test_world_of(w, node[5]), 3, 0, 0, 1);
}

TEST(a_clone_of_a_member_starts_as_a_root_at_its_place)
{
    espl_entity node[6], clone[3];

    make_tree(w, node);
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = node[1]}, 3, clone));
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(espl_get_role(w, clone[i]), ESPL_ROLE_ROOT);
        ck_assert_uint_eq(test_count_descendants(w, clone[i]), 2);
        ck_transform(test_world_of(w, clone[i]), 2, 0, 0, 1);
        ck_transform(test_world_of(w, test_child(w, clone[i], 1)), 3, 0, 0, 1);
    }
    ck_assert_uint_eq(test_count_descendants(w, node[0]), 5);
}

// A quarter turn about Y takes +Z to +X.
TEST(a_turned_parent_carries_its_child_around)
{
    const espl_entity parent = test_solo(w), child = test_solo_at(w, 0, 0, 2);
    espl_transform turned = espl_transform_identity();

    adopt(w, child, parent);
    turned.rotation[1] = turned.rotation[3] = 0.70710678f;
    set_local(w, parent, turned);
    const espl_transform world = test_world_of(w, child);
    ck_assert_float_eq_tol(world.position[0], 2, 1e-6f);
    ck_assert_float_eq_tol(world.position[1], 0, 1e-6f);
    ck_assert_float_eq_tol(world.position[2], 0, 1e-6f);
}

// --- Inherit flags ---

TEST(a_child_that_keeps_an_axis_stays_on_it_when_its_parent_moves)
{
    const espl_entity parent = test_solo(w), child = test_solo_at(w, 0, 2, 0);
    const espl_attach_options options = {.position = ESPL_KEEP_LOCAL, .inherit = ESPL_ABSOLUTE_Y};

    ck_ok(espl_attach(w, child, parent, &options));
    ck_assert_uint_eq(espl_get_inherit(w, child), ESPL_ABSOLUTE_Y);
    set_local(w, parent, test_at(1, 1, 1));
    ck_transform(test_world_of(w, child), 1, 2, 1, 1);
    ck_transform(test_local_of(w, child), 0, 1, 0, 1);

    // Back where it was, the local reads as it was written.
    set_local(w, parent, test_at(0, 0, 0));
    ck_transform(test_local_of(w, child), 0, 2, 0, 1);
}

TEST(a_child_that_keeps_its_rotation_goes_round_without_turning)
{
    const espl_entity parent = test_solo(w), child = test_solo_at(w, 0, 0, 2);
    espl_transform turned = espl_transform_identity(), own = test_at(0, 0, 2);

    own.rotation[0] = 0.6f;
    own.rotation[3] = 0.8f;
    set_local(w, child, own);
    adopt(w, child, parent);
    ck_ok(espl_set_inherit(w, child, ESPL_ABSOLUTE_ROTATION));
    turned.rotation[1] = turned.rotation[3] = 0.70710678f;
    set_local(w, parent, turned);
    const espl_transform world = test_world_of(w, child);
    ck_assert_float_eq_tol(world.position[0], 2, 1e-6f);
    ck_assert_float_eq_tol(world.position[1], 0, 1e-6f);
    ck_assert_float_eq_tol(world.position[2], 0, 1e-6f);
    ck_assert_mem_eq(world.rotation, own.rotation, sizeof own.rotation);
}

TEST(a_child_that_copies_its_parent_is_that_parent_to_the_bit)
{
    const espl_entity parent = test_solo(w), child = test_solo_at(w, 4, 5, 6);
    const espl_attach_options options = {.inherit = ESPL_COPY_PARENT};
    espl_transform value = test_at(1, 2, 3);

    value.stretch[0] = 2;
    value.user_data = 8;
    ck_ok(espl_attach(w, child, parent, &options));
    ck_transform(test_world_of(w, child), 0, 0, 0, 1);
    set_local(w, parent, value);
    const espl_transform world = test_world_of(w, child);
    ck_assert(test_same(&world, &value));
    ck_transform(test_local_of(w, child), 0, 0, 0, 1);
    ck_status(espl_set_local_transform(w, child, &value), ESPL_ERR_COPIES_PARENT);

    // Let go, it stays where it is and as it is.
    ck_ok(espl_set_inherit(w, child, 0));
    set_local(w, parent, test_at(0, 0, 0));
    const espl_transform after = test_world_of(w, child);
    ck_transform(after, 0, 0, 0, 1);
    ck_assert(after.stretch[0] == 2 && after.user_data == 8);
}

TEST(flags_change_without_moving_anything)
{
    const espl_entity parent = test_solo_at(w, 1, 2, 3);
    const espl_entity child = test_solo_at(w, 4, 5, 6);

    adopt(w, child, parent);
    for (uint32_t flags = ESPL_COPY_PARENT - 1; flags > 0; --flags) {
        ck_ok(espl_set_inherit(w, child, flags));
        ck_transform(test_world_of(w, child), 5, 7, 9, 1);
        ck_transform(test_local_of(w, child), 4, 5, 6, 1);
    }
    ck_ok(espl_detach(w, child, ESPL_KEEP_LOCAL));
    ck_assert_uint_eq(espl_get_inherit(w, child), 0);
    ck_transform(test_world_of(w, child), 4, 5, 6, 1);
}

// --- For ever ---

TEST(changing_parents_for_ever_leaves_rotations_at_unit_length)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    const espl_entity child = test_solo(w);
    uint64_t random = 11;

    for (int i = 0; i < 2; ++i) {
        espl_transform value = test_at(1, 2, 3);
        for (int k = 0; k < 4; ++k) {
            value.rotation[k] = test_between(&random, 0.1f, 1);
        }
        set_local(w, i == 0 ? a : b, value);
    }
    for (size_t i = 0; i < test_scaled(200000); ++i) {
        ck_ok(espl_attach(w, child, i % 2 == 0 ? a : b, NULL));
    }
    ck_ok(espl_detach(w, child, ESPL_KEEP_WORLD));
    const espl_transform world = test_world_of(w, child);
    float square = 0;
    for (int k = 0; k < 4; ++k) {
        square += world.rotation[k] * world.rotation[k];
    }
    ck_assert_float_eq_tol(square, 1, 2e-6f);
    ck_assert_float_eq_tol(world.scale, 1, 1e-6f);
}

// Each detach makes a local of a world whose rotation is a product of two.
TEST(leaving_and_joining_by_turns_leaves_rotations_at_unit_length)
{
    const espl_entity pair[2] = {test_solo(w), test_solo(w)};
    uint64_t random = 5;

    for (int i = 0; i < 2; ++i) {
        espl_transform value = test_at(0, 0, 0);
        for (int k = 0; k < 4; ++k) {
            value.rotation[k] = test_between(&random, 0.1f, 1);
        }
        set_local(w, pair[i], value);
    }
    for (int i = 0; i < 500; ++i) {
        const espl_entity child = pair[i % 2], parent = pair[1 - i % 2];
        double square = 0;
        ck_ok(espl_attach(w, child, parent, &test_keep_local));
        ck_ok(espl_detach(w, child, ESPL_KEEP_WORLD));
        const espl_transform local = test_local_of(w, child);
        for (int k = 0; k < 4; ++k) {
            square += (double)local.rotation[k] * (double)local.rotation[k];
        }
        ck_assert_double_eq_tol(square, 1, 1e-6);
    }
}

TEST(worlds_do_not_know_each_other)
{
    test_world one, other;
    test_world_begin(&one, 0, NULL);
    test_world_begin(&other, 0, NULL);
    const espl_entity here = test_solo_at(one.world, 1, 0, 0);
    const espl_entity there = test_solo_at(other.world, 2, 0, 0);

    ck_assert(!espl_is_alive(one.world, there));
    ck_assert(!espl_is_alive(other.world, here));
    ck_status(espl_attach(one.world, here, there, NULL), ESPL_ERR_FOREIGN);
    test_world_end(&one);
    ck_transform(test_world_of(other.world, there), 2, 0, 0, 1);
    test_world_end(&other);
}

// --- Far from the origin ---

// A hand on an arm on a base at coordinates of a map: what stands between two of them is not lost in the
// world coordinates, in which a float has steps of 0.25.
// A base at a place where floats are half a metre apart, with an arm, a hand in the arm, and a tool beside.
typedef struct far_arm {
    espl_entity base, arm, hand, tool;
} far_arm;

static far_arm make_far_arm(void)
{
    const float far[3] = {500000, 4000000, 0}, quarter[4] = {0, 0, 1, 1};
    const far_arm a = {test_solo_at(w, 0, 0, 0), test_solo_at(w, 0.1f, 0.02f, 0.3f),
                       test_solo_at(w, 0.05f, 0, 0.01f), test_solo_at(w, 0.02f, 0, 0)};

    adopt(w, a.arm, a.base);
    adopt(w, a.hand, a.arm);
    adopt(w, a.tool, a.base);
    ck_ok(espl_set_local_rotation(w, a.arm, quarter));
    ck_ok(espl_set_local_position(w, a.base, far));
    return a;
}

TEST(an_attach_within_a_hierarchy_is_exact_far_from_the_origin)
{
    for (int way = 0; way < 2; ++way) {
        const far_arm a = make_far_arm();
        espl_transform seen;

        // At once, and recorded behind a change that leaves the world of the hand out of date.
        ck_ok(espl_get_relative_transform(w, a.tool, a.hand, &seen));
        if (way == 0) {
            ck_ok(espl_attach(w, a.hand, a.tool, NULL));
        } else {
            espl_command_buffer *commands = NULL;

            ck_ok(espl_command_buffer_create(w, 1, &commands));
            espl_recorder *const r = espl_command_buffer_recorder(commands, 0);
            const float near[3] = {250000, 4000000, 0};
            ck_ok(espl_record_write(r, 0, a.base, ESPL_WRITE_LOCAL_POSITION, near));
            ck_ok(espl_record_attach(r, 0, a.hand, a.tool, NULL));
            ck_ok(espl_play(w, commands, NULL));
            espl_command_buffer_destroy(commands);
        }
        const espl_transform got = test_local_of(w, a.hand);

        ck_assert(test_same(&got, &seen));
        ck_assert_float_eq_tol(got.position[0], 0.08f, 1e-7f);
        ck_assert_float_eq_tol(got.position[1], 0.07f, 1e-7f);
        // To an ancestor, and with one part that snaps.
        const espl_attach_options snap = {.rotation = ESPL_SNAP};
        ck_ok(espl_attach(w, a.hand, a.base, &snap));
        const espl_transform home = test_local_of(w, a.hand);
        ck_assert_float_eq_tol(home.position[0], 0.1f, 1e-7f);
        ck_assert_float_eq_tol(home.position[1], 0.07f, 1e-7f);
        ck_assert_float_eq(home.rotation[3], 1);
    }
}

TEST(an_attach_below_a_scale_of_zero_keeps_the_place_within_the_hierarchy)
{
    const far_arm a = make_far_arm();
    const float origin[3] = {0, 0, 0};

    ck_ok(espl_set_local_position(w, a.base, origin));
    ck_ok(espl_set_local_scale(w, a.base, 0));
    ck_ok(espl_attach(w, a.hand, a.tool, NULL));
    ck_ok(espl_set_local_scale(w, a.base, 1));
    float at[3];
    ck_ok(espl_get_world_position(w, a.hand, at));
    ck_assert_float_eq_tol(at[0], 0.1f, 1e-7f);
    ck_assert_float_eq_tol(at[1], 0.07f, 1e-7f);
}

TEST(longer_paths_than_64_links_go_through_the_worlds)
{
    // A tenth of the distance of floats near 1000 is lost in the world of each link.
    const float length = 0.125f + 0x1p-14f / 10;
    espl_entity chain[66];

    if (test_lacks_room(66, "a chain of 65 links")) {
        return;
    }
    for (int i = 0; i < 66; ++i) {
        chain[i] = test_solo_at(w, i == 0 ? 1000 : length, 0, 0);
        if (i > 0) {
            adopt(w, chain[i], chain[i - 1]);
        }
    }
    ck_ok(espl_attach(w, chain[65], chain[0], NULL));
    ck_assert_float_eq(test_local_of(w, chain[65]).position[0], 65 * 0.125f);
    ck_ok(espl_attach(w, chain[64], chain[0], NULL));
    ck_assert_float_eq_tol(test_local_of(w, chain[64]).position[0], 64 * length, 1e-5f);
}

TEST(a_point_and_an_aim_between_members_are_exact_far_from_the_origin)
{
    const far_arm a = make_far_arm();
    const float tip[3] = {0.03f, 0, 0};
    espl_transform seen, aimed = test_local_of(w, a.tool);
    float point[3], forward[3];

    // A point of the hand in the axes of the tool: the hand is turned by a quarter.
    ck_ok(espl_get_relative_transform(w, a.tool, a.hand, &seen));
    espl_transform_convert(&seen, ESPL_POINT_TO_WORLD, tip, point);
    ck_assert_float_eq_tol(point[0], 0.08f, 1e-7f);
    ck_assert_float_eq_tol(point[1], 0.1f, 1e-7f);
    // The tool looks at the hand, in the axes of their common parent.
    ck_ok(espl_get_relative_transform(w, a.base, a.hand, &seen));
    ck_ok(espl_transform_look_at(&aimed, seen.position, NULL, ESPL_AXIS_FORWARD));
    ck_ok(espl_set_local_rotation(w, a.tool, aimed.rotation));
    const espl_transform turned = test_local_of(w, a.tool);
    espl_quat_rotate(turned.rotation, (float[3]){0, 0, 1}, forward);
    const float length = sqrtf(0.08f * 0.08f + 0.07f * 0.07f + 0.31f * 0.31f);
    ck_assert_float_eq_tol(forward[0], 0.08f / length, 1e-6f);
    ck_assert_float_eq_tol(forward[1], 0.07f / length, 1e-6f);
}

TEST(an_aim_turns_the_axis_of_the_rotation_whatever_the_scale)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const espl_entity mirror = test_solo_at(w, 1, 2, 3), eye = test_solo_at(w, 0.5f, 0, 1);
        const float target[3] = {4, -2, 7}, ahead[3] = {0, 0, 1};
        float at[3], seen[3], point[3];
        float along = 0;

        adopt(w, eye, mirror);
        ck_ok(espl_set_local_scale(w, mirror, (float)sign));
        ck_ok(espl_look_at(w, eye, target, NULL, ESPL_AXIS_FORWARD));
        ck_ok(espl_get_world_position(w, eye, at));
        const espl_transform placed = test_world_of(w, eye);
        espl_quat_rotate(placed.rotation, ahead, seen);
        ck_ok(espl_convert(w, eye, ESPL_POINT_TO_WORLD, ahead, point));
        for (int i = 0; i < 3; ++i) {
            along += seen[i] * (target[i] - at[i]);
            ck_assert_float_eq_tol(point[i] - at[i], (float)sign * seen[i], 1e-5f);
        }
        const float away = hypotf(hypotf(target[0] - at[0], target[1] - at[1]), target[2] - at[2]);
        ck_assert_float_eq_tol(along, away, 1e-5f);
    }
}

TEST(a_relative_transform_within_a_hierarchy_is_that_of_the_locals)
{
    const far_arm a = make_far_arm();
    const espl_entity base = a.base, arm = a.arm, hand = a.hand, tool = a.tool;
    espl_transform seen, stored;

    // A child reads its local, bit for bit.
    ck_ok(espl_get_relative_transform(w, arm, hand, &seen));
    stored = test_local_of(w, hand);
    ck_assert(test_same(&seen, &stored));
    // A grandchild, the other way round, and a node beside it.
    ck_ok(espl_get_relative_transform(w, base, hand, &seen));
    ck_assert_float_eq_tol(seen.position[0], 0.1f, 1e-7f);
    ck_assert_float_eq_tol(seen.position[1], 0.07f, 1e-7f);
    ck_ok(espl_get_relative_transform(w, arm, base, &seen));
    ck_assert_float_eq_tol(seen.position[0], -0.02f, 1e-7f);
    ck_assert_float_eq_tol(seen.position[1], 0.1f, 1e-7f);
    ck_ok(espl_get_relative_transform(w, tool, hand, &seen));
    ck_assert_float_eq_tol(seen.position[0], 0.08f, 1e-7f);
    // Its own, as it is.
    ck_ok(espl_get_relative_transform(w, hand, hand, &seen));
    const espl_transform none = espl_transform_identity();

    ck_assert(test_same(&seen, &none));
    // Even where the world cannot tell it: below a scale of zero, and where it is infinite.
    ck_ok(espl_set_local_scale(w, base, 0));
    ck_ok(espl_get_relative_transform(w, arm, hand, &seen));
    ck_assert(test_same(&seen, &stored));
}

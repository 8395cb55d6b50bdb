// SPDX-License-Identifier: MIT
// Faults that other systems of this kind had. Each test would have found its fault here. The
// letters name the entry in tests/BUGS.md.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/small.h"

#include <stdlib.h>
#include <string.h>

// Few indices mean small crowds.
#ifdef ESPL_SHRUNKEN
#define MANY_OR_FEW(many, few) (few)
#else
#define MANY_OR_FEW(many, few) (many)
#endif

// --- Small helpers ---

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_command_buffer *commands;
    espl_recorder *lane[3];
    espl_report report;
} scene;

static scene s;

static void set_up(void)
{
    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 0, NULL);
    s.world = s.test.world;
    ck_ok(espl_command_buffer_create(s.world, 3, &s.commands));
    for (uint32_t i = 0; i < 3; ++i) {
        s.lane[i] = espl_command_buffer_recorder(s.commands, i);
    }
}

static void tear_down(void)
{
    espl_command_buffer_destroy(s.commands);
    test_world_end(&s.test);
}

FIXTURE(set_up, tear_down);

// Play what was recorded and check every invariant.
static void play(void)
{
    ck_ok(espl_play(s.world, s.commands, &s.report));
    test_world_is_valid(s.world);
}

static espl_status result(uint32_t lane, uint32_t index)
{
    return espl_command_buffer_result(s.commands, lane, index);
}

static espl_entity child_of(espl_entity parent, float x)
{
    const espl_entity child = test_solo_at(s.world, x, 0, 0);
    ck_ok(espl_attach(s.world, child, parent, &test_keep_local));
    return child;
}

static espl_entity resolved(espl_entity pending)
{
    espl_entity out = {0};
    ck_ok(espl_command_buffer_resolve(s.commands, pending, &out));
    return out;
}

static espl_instance_def instance_of(espl_entity source, espl_entity parent)
{
    return (espl_instance_def){.source = source, .parent = parent};
}

static bool is_child(espl_entity child, espl_entity parent)
{
    return espl_entity_equal(espl_get_parent(s.world, child), parent);
}

static size_t living(void)
{
    espl_world_stats stats;
    espl_stats(s.world, &stats);
    return stats.entities;
}

// --- A: cycles and self-parents ---

TEST(a1_an_entity_is_not_attached_to_itself_at_once_or_recorded)
{
    const espl_entity solo = test_solo(s.world), root = test_solo(s.world);
    (void)child_of(root, 1);
    const uint64_t before = test_physical_hash(s.world);

    ck_status(espl_attach(s.world, solo, solo, NULL), ESPL_ERR_CYCLE);
    ck_status(espl_attach(s.world, root, root, NULL), ESPL_ERR_CYCLE);
    ck_ok(espl_record_attach(s.lane[0], 0, solo, solo, NULL));
    ck_ok(espl_record_attach(s.lane[1], 0, root, root, NULL));
    play();
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_CYCLE], 2);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
}

TEST(a3_three_attaches_that_would_close_a_ring_leave_a_chain)
{
    const espl_entity a = test_solo(s.world), b = test_solo(s.world), c = test_solo(s.world);

    ck_ok(espl_record_attach(s.lane[2], 0, c, a, NULL));
    ck_ok(espl_record_attach(s.lane[0], 0, a, b, NULL));
    ck_ok(espl_record_attach(s.lane[1], 0, b, c, NULL));
    play();
    ck_ok(result(0, 0));
    ck_ok(result(1, 0));
    ck_status(result(2, 0), ESPL_ERR_CYCLE);
    ck_assert(is_child(a, b) && is_child(b, c));
}

TEST(a7_refused_links_do_not_confuse_the_destroy_of_a_subtree)
{
    espl_entity node[12];

    node[0] = test_solo(s.world);
    for (int i = 1; i < 12; ++i) {
        node[i] = child_of(node[(i - 1) / 2], 1);
    }
    for (int i = 0; i < 12; ++i) {
        for (int k = i; k < 12; ++k) {
            const bool is_refused = i == k || espl_is_ancestor(s.world, node[i], node[k]);
            if (is_refused) {
                ck_status(espl_attach(s.world, node[i], node[k], NULL), ESPL_ERR_CYCLE);
            }
        }
    }
    ck_ok(espl_destroy(s.world, node[1], ESPL_EXTENT_SUBTREE));
    ck_assert_uint_eq(living(), 5);
    ck_assert_uint_eq(test_count_descendants(s.world, node[0]), 4);
}

// --- C: destroyed parents, orphans, membership ---

TEST_LOOP(c1_a_child_changes_parents_while_the_old_one_is_destroyed, 0, 2)
{
    const uint32_t order = (uint32_t)_i;
    const espl_entity old = test_solo_at(s.world, 1, 0, 0), next = test_solo(s.world);
    const espl_entity child = child_of(old, 1);

    ck_ok(espl_record_destroy(s.lane[order], 0, old, ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_attach(s.lane[1 - order], 0, child, next, NULL));
    play();
    ck_assert_uint_eq(s.report.applied, 2);
    ck_assert(is_child(child, next));
    ck_assert_float_eq(test_world_of(s.world, child).position[0], 2);
}

TEST_LOOP(c1_an_owned_child_dies_with_its_parent_unless_it_left_before, 0, 2)
{
    const uint32_t order = (uint32_t)_i;
    const espl_entity old = test_solo(s.world), next = test_solo(s.world);
    const espl_entity child = child_of(old, 1);

    ck_ok(espl_record_destroy(s.lane[order], 0, old, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_attach(s.lane[1 - order], 0, child, next, NULL));
    play();
    ck_status(result(1 - order, 0), order == 0 ? ESPL_ERR_DEAD : ESPL_OK);
    ck_assert(espl_is_alive(s.world, child) == (order == 1));
}

TEST(c4_an_instance_under_a_destroyed_parent_is_refused_or_a_root)
{
    const espl_entity source = test_solo_at(s.world, 2, 0, 0), parent = test_solo(s.world);
    espl_instance_def def = instance_of(source, parent);
    espl_entity refused, orphan;

    ck_ok(espl_record_destroy(s.lane[0], 0, parent, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_instantiate(s.lane[1], 0, &def, 1, &refused));
    def.dead_parent = ESPL_DEAD_PARENT_ROOT;
    def.place = ESPL_PLACE_LOCAL;
    def.transform = test_at(7, 0, 0);
    ck_ok(espl_record_instantiate(s.lane[2], 0, &def, 1, &orphan));
    play();
    ck_status(result(1, 0), ESPL_ERR_DEAD);
    ck_status(espl_command_buffer_resolve(s.commands, refused, &refused), ESPL_ERR_DEAD);
    orphan = resolved(orphan);
    ck_assert_int_eq(espl_get_role(s.world, orphan), ESPL_ROLE_SOLO);
    ck_assert_float_eq(test_world_of(s.world, orphan).position[0], 7);
    ck_assert_uint_eq(living(), 2);
}

TEST(c5_an_attach_to_a_destroyed_parent_is_refused)
{
    const espl_entity parent = test_solo(s.world), child = test_solo_at(s.world, 1, 2, 3);

    ck_ok(espl_record_destroy(s.lane[0], 0, parent, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_attach(s.lane[0], 0, child, parent, NULL));
    ck_ok(espl_record_detach(s.lane[0], 0, parent, ESPL_KEEP_WORLD));
    play();
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], 2);
    ck_assert_uint_eq(s.report.first_refused[-ESPL_ERR_DEAD].lane, 0);
    ck_assert_uint_eq(s.report.first_refused[-ESPL_ERR_DEAD].index, 1);
    ck_assert_int_eq(espl_get_role(s.world, child), ESPL_ROLE_SOLO);
}

TEST(c7_a_recycled_index_remembers_nothing)
{
    const espl_entity root = test_solo(s.world), child = test_solo(s.world);
    const espl_attach_options set_free = {.link = ESPL_LINK_FREE};
    espl_transform stretched = test_at(1, 2, 3);

    stretched.stretch[0] = 5;
    stretched.user_data = 9;
    ck_ok(espl_attach(s.world, child, root, &set_free));
    ck_ok(espl_set_local_transform(s.world, child, &stretched));
    ck_ok(espl_destroy(s.world, child, ESPL_EXTENT_OWNED));
    const espl_entity fresh = test_solo(s.world);
    ck_assert_uint_eq(fresh.index, child.index);
    ck_assert_uint_gt(fresh.generation, child.generation);
    ck_assert_int_eq(espl_get_role(s.world, fresh), ESPL_ROLE_SOLO);
    ck_assert_int_eq(espl_get_link(s.world, fresh), ESPL_LINK_OWNED);
    const espl_transform local = test_local_of(s.world, fresh),
                         identity = espl_transform_identity();
    ck_assert(test_same(&local, &identity));
}

TEST(c9_a_detached_child_that_keeps_its_local_has_a_new_world_at_once)
{
    const espl_entity root = test_solo_at(s.world, 10, 0, 0);
    const espl_entity child = child_of(root, 1), below = child_of(child, 1);

    ck_ok(espl_record_detach(s.lane[0], 0, child, ESPL_KEEP_LOCAL));
    play();
    ck_assert_float_eq(test_world_of(s.world, child).position[0], 1);
    ck_assert_float_eq(test_world_of(s.world, below).position[0], 2);
}

TEST(c10_a_child_orphaned_and_adopted_in_one_playback_has_the_new_parent)
{
    const espl_entity old = test_solo_at(s.world, 10, 0, 0), next = test_solo_at(s.world, 20, 0, 0);
    const espl_entity child = child_of(old, 1);

    ck_ok(espl_record_detach(s.lane[0], 0, child, ESPL_KEEP_LOCAL));
    ck_ok(espl_record_attach(s.lane[0], 0, child, next, &test_keep_local));
    play();
    ck_assert(is_child(child, next));
    ck_assert_float_eq(test_world_of(s.world, child).position[0], 21);
    ck_assert_int_eq(espl_get_role(s.world, old), ESPL_ROLE_SOLO);
}

TEST(c11_what_moved_away_outlives_its_old_root)
{
    const espl_entity old = test_solo(s.world), next = test_solo(s.world);
    const espl_entity child = child_of(old, 1), below = child_of(child, 1);

    ck_ok(espl_record_attach(s.lane[0], 0, child, next, NULL));
    ck_ok(espl_record_destroy(s.lane[0], 0, old, ESPL_EXTENT_SUBTREE));
    play();
    ck_assert(!espl_is_alive(s.world, old));
    ck_assert(espl_is_alive(s.world, child) && espl_is_alive(s.world, below));
    ck_assert_uint_eq(s.report.destroyed, 1);
}

TEST(c13_overlapping_destroys_kill_each_entity_once)
{
    const espl_entity root = test_solo(s.world), child = child_of(root, 1);
    const espl_entity below = child_of(child, 1);

    ck_ok(espl_record_destroy(s.lane[0], 0, below, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(s.lane[1], 0, root, ESPL_EXTENT_SUBTREE));
    ck_ok(espl_record_destroy(s.lane[2], 0, child, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(s.lane[2], 0, root, ESPL_EXTENT_ENTITY));
    play();
    ck_assert_uint_eq(s.report.destroyed, 3);
    ck_assert_uint_eq(s.report.applied, 2);
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], 2);
    ck_assert_uint_eq(living(), 0);
}

// The dead stand first, in the middle and last among many.
TEST(c14_dead_members_anywhere_among_many_are_passed_over)
{
    enum { COUNT = MANY_OR_FEW(3000, 30) };
    const size_t dead[3] = {0, COUNT / 2, COUNT - 1};
    espl_entity *const child = test_array(COUNT, sizeof *child);

    const espl_entity root = test_solo(s.world);
    for (size_t i = 0; i < COUNT; ++i) {
        child[i] = test_solo(s.world);
        ck_ok(espl_record_attach(s.lane[0], 0, child[i], root, NULL));
    }
    play();
    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_destroy(s.world, child[dead[i]], ESPL_EXTENT_OWNED));
    }
    espl_command_buffer_reset(s.commands);
    for (size_t i = 0; i < COUNT; ++i) {
        ck_ok(espl_record_destroy(s.lane[i % 3], 0, child[i], ESPL_EXTENT_OWNED));
    }
    play();
    ck_assert_uint_eq(s.report.destroyed, COUNT - 3);
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], 3);
    ck_assert_uint_eq(living(), 1);
    ck_assert_int_eq(espl_get_role(s.world, root), ESPL_ROLE_SOLO);
    free(child);
}

TEST(c15_no_instance_leaks_when_many_parents_are_dead)
{
    enum { COUNT = MANY_OR_FEW(2000, 15) };
    const espl_entity source = test_solo(s.world);
    (void)child_of(source, 1);
    size_t alive = 0;

    for (size_t i = 0; i < COUNT; ++i) {
        const espl_entity parent = test_solo(s.world);
        const espl_instance_def def = instance_of(source, parent);
        if (i % 3 == 0) {
            ck_ok(espl_record_destroy(s.lane[0], 0, parent, ESPL_EXTENT_OWNED));
        }
        alive += i % 3 != 0;
        ck_ok(espl_record_instantiate(s.lane[1], 0, &def, 1, NULL));
    }
    play();
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], COUNT - alive);
    ck_assert_uint_eq(s.report.created, 2 * alive);
    ck_assert_uint_eq(living(), 2 + 3 * alive);
}

TEST(c17_a_sibling_under_another_parent_is_no_sibling)
{
    const espl_entity a = test_solo(s.world), b = test_solo(s.world);
    const espl_entity of_a = child_of(a, 1), of_b = child_of(b, 1);
    const espl_attach_options options = {.before = of_b};

    ck_status(espl_attach(s.world, of_b, a, &options), ESPL_ERR_NOT_CHILD);
    ck_ok(espl_record_attach(s.lane[0], 0, of_a, a, &options));
    play();
    ck_status(result(0, 0), ESPL_ERR_NOT_CHILD);
    ck_assert(is_child(of_b, b));
}

TEST(c18_deaths_and_a_trim_keep_every_field_of_the_living)
{
    espl_transform before[40];
    espl_entity child[40];
    const espl_entity root = test_solo_at(s.world, 1, 1, 1);

    for (int i = 0; i < 40; ++i) {
        espl_transform value = test_at((float)i, 1, 2);
        value.scale = 0.5f + (float)i;
        value.stretch[i % 3] = 2;
        value.user_data = (uint32_t)i;
        child[i] = child_of(root, 1);
        ck_ok(espl_set_local_transform(s.world, child[i], &value));
        before[i] = test_local_of(s.world, child[i]);
    }
    for (int i = 0; i < 40; i += 2) {
        ck_ok(espl_destroy(s.world, child[i], ESPL_EXTENT_OWNED));
    }
    (void)child_of(root, 1);
    ck_ok(espl_compact(s.world));
    for (int i = 1; i < 40; i += 2) {
        const espl_transform now = test_local_of(s.world, child[i]);
        ck_assert(test_same(&now, &before[i]));
    }
}

TEST(c21_many_children_under_one_new_parent_stand_there_once_each)
{
    enum { COUNT = MANY_OR_FEW(100, 40) };
    espl_entity pending[COUNT], parent;
    const espl_entity source = test_solo(s.world);
    espl_instance_def def = instance_of(source, espl_entity_null());

    ck_ok(espl_record_instantiate(s.lane[0], 0, &def, 1, &parent));
    def.parent = parent;
    for (int i = 0; i < COUNT; ++i) {
        ck_ok(espl_record_instantiate(s.lane[i % 3], 1, &def, 1, &pending[i]));
    }
    play();
    parent = resolved(parent);
    ck_assert_uint_eq(test_count_children(s.world, parent), COUNT);
    for (int i = 0; i < COUNT; ++i) {
        ck_assert(is_child(resolved(pending[i]), parent));
    }
}

// --- F: order of commands ---

TEST_LOOP(f1_write_and_destroy_from_two_lanes_never_fail_whatever_their_order, 0, 2)
{
    const uint32_t order = (uint32_t)_i;
    const espl_entity solo = test_solo(s.world);
    const espl_transform value = test_at(1, 0, 0);

    ck_ok(espl_record_write(s.lane[order], 0, solo, ESPL_WRITE_LOCAL_TRANSFORM, &value));
    ck_ok(espl_record_destroy(s.lane[1 - order], 0, solo, ESPL_EXTENT_OWNED));
    play();
    ck_assert(!espl_is_alive(s.world, solo));
    ck_status(result(order, 0), order == 0 ? ESPL_OK : ESPL_ERR_DEAD);
}

TEST(f1_keys_order_before_lanes_and_the_last_of_two_attaches_wins)
{
    const espl_entity a = test_solo(s.world), b = test_solo(s.world), child = test_solo(s.world);

    ck_ok(espl_record_attach(s.lane[0], UINT32_MAX, child, a, NULL));
    ck_ok(espl_record_attach(s.lane[2], 0x80000000u, child, b, NULL));
    play();
    ck_assert_uint_eq(s.report.applied, 2);
    ck_assert(is_child(child, a));
    ck_assert_int_eq(espl_get_role(s.world, b), ESPL_ROLE_SOLO);
}

TEST(f3_a_component_added_in_two_lanes_is_there_once_with_the_later_value)
{
    const uint32_t values[2] = {1, 2};
    espl_component word = 0;
    uint32_t value = 0;

    word = test_component(s.world, "word", 4, 4);
    const espl_entity by_lane = test_solo(s.world), by_key = test_solo(s.world);
    for (uint32_t i = 0; i < 2; ++i) {
        ck_ok(espl_record_add_component(s.lane[i], 9, by_lane, word, &values[i], 4));
        ck_ok(espl_record_add_component(s.lane[i], 5 - i, by_key, word, &values[i], 4));
    }
    play();
    ck_assert_uint_eq(s.report.applied, 4);
    ck_ok(espl_get_component(s.world, by_lane, word, &value, 4));
    ck_assert_uint_eq(value, 2);
    ck_ok(espl_get_component(s.world, by_key, word, &value, 4));
    ck_assert_uint_eq(value, 1);
}

TEST(f5_an_attach_taken_back_changes_nothing)
{
    const espl_entity parent = test_solo_at(s.world, 1, 0, 0),
                      child = test_solo_at(s.world, 2, 0, 0);
    const espl_entity kept = child_of(parent, 3);
    const espl_transform before = test_world_of(s.world, child);

    ck_ok(espl_record_attach(s.lane[0], 0, child, parent, NULL));
    ck_ok(espl_record_detach(s.lane[0], 0, child, ESPL_KEEP_WORLD));
    play();
    const espl_transform after = test_world_of(s.world, child);
    ck_assert(test_same(&before, &after));
    ck_assert_int_eq(espl_get_role(s.world, child), ESPL_ROLE_SOLO);
    ck_assert(is_child(kept, parent));
    ck_assert_uint_eq(test_count_children(s.world, parent), 1);
    ck_assert_uint_eq(s.report.row_moves, 0);
}

TEST(f6_commands_on_an_entity_destroyed_before_are_refused_and_touch_nothing)
{
    const espl_entity dead = test_solo(s.world), other = test_solo(s.world);
    const espl_transform value = test_at(1, 1, 1);
    const espl_instance_def of_dead = instance_of(dead, espl_entity_null()),
                            under_dead = instance_of(other, dead);
    const espl_attach_options before_dead = {.before = dead};

    ck_ok(espl_record_destroy(s.lane[0], 0, dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_write(s.lane[1], 0, dead, ESPL_WRITE_LOCAL_TRANSFORM, &value));
    ck_ok(espl_record_write(s.lane[1], 0, dead, ESPL_WRITE_WORLD_TRANSFORM, &value));
    ck_ok(espl_record_attach(s.lane[1], 0, dead, other, NULL));
    ck_ok(espl_record_attach(s.lane[1], 0, other, dead, NULL));
    ck_ok(espl_record_attach(s.lane[1], 0, dead, other, &before_dead));
    ck_ok(espl_record_detach(s.lane[1], 0, dead, ESPL_SNAP));
    ck_ok(espl_record_destroy(s.lane[1], 0, dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(s.lane[1], 0, dead, ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_destroy(s.lane[1], 0, dead, ESPL_EXTENT_SUBTREE));
    ck_ok(espl_record_instantiate(s.lane[1], 0, &of_dead, 2, NULL));
    ck_ok(espl_record_instantiate(s.lane[1], 0, &under_dead, 2, NULL));
    play();
    ck_assert_uint_eq(s.report.applied, 1);
    ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], 11);
    ck_assert_uint_eq(living(), 1);
}

TEST(f7_attaching_to_the_same_parent_again_changes_nothing)
{
    const espl_entity root = test_solo_at(s.world, 0.1f, 0.2f, 0.3f);
    const espl_entity first = child_of(root, 0.7f);
    (void)child_of(root, 0.9f);
    const uint64_t before = test_physical_hash(s.world);

    ck_ok(espl_attach(s.world, first, root, NULL));
    ck_ok(espl_record_attach(s.lane[0], 0, first, root, NULL));
    ck_ok(espl_record_attach(s.lane[1], 0, first, root, &test_keep_local));
    play();
    ck_assert_uint_eq(s.report.applied, 2);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
}

// Payloads of every size and count stand side by side in one lane.
TEST(f8_each_instance_gets_its_own_values)
{
    enum { KINDS = 6, ROUNDS = MANY_OR_FEW(64, 50) };
    static const size_t size[KINDS] = {1, 2, 3, 8, 13, 64};
    static const char *const names[KINDS] = {"a", "b", "c", "d", "e", "f"};
    unsigned char bytes[ROUNDS][KINDS][64];
    espl_entity pending[ROUNDS];
    espl_component kinds[KINDS];
    const espl_entity source = test_solo(s.world);

    for (int k = 0; k < KINDS; ++k) {
        const espl_component_def def = {.name = names[k], .size = size[k], .alignment = 1};
        ck_ok(espl_component_register(s.world, &def, &kinds[k]));
    }
    for (int i = 0; i < ROUNDS; ++i) {
        espl_component_value values[KINDS];
        size_t count = 0;
        for (int k = 0; k < KINDS; ++k) {
            memset(bytes[i][k], i * KINDS + k, sizeof bytes[i][k]);
            if ((i >> k & 1) != 0) {
                values[count++] = (espl_component_value){kinds[k], size[k], bytes[i][k]};
            }
        }
        const espl_instance_def def = {.source = source, .values = values, .value_count = count};
        ck_ok(espl_record_instantiate(s.lane[0], 0, &def, 1, &pending[i]));
    }
    play();
    for (int i = 0; i < ROUNDS; ++i) {
        const espl_entity entity = resolved(pending[i]);
        for (int k = 0; k < KINDS; ++k) {
            unsigned char got[64] = {0};
            const bool has = (i >> k & 1) != 0;
            ck_assert(espl_has_component(s.world, entity, kinds[k]) == has);
            ck_status(espl_get_component(s.world, entity, kinds[k], got, size[k]),
                      has ? ESPL_OK : ESPL_ERR_NO_COMPONENT);
            ck_assert(!has || memcmp(got, bytes[i][k], size[k]) == 0);
        }
    }
}

// Solo, root, inner and leaf: nodes 0, 1, 2, 3.
TEST(f10_each_command_meets_each_role)
{
    static const opcode codes[] = {OP_ATTACH,       OP_DETACH,   OP_DESTROY,   OP_DESTROY_SUBTREE,
                                   OP_DESTROY_ONLY, OP_INSTANCE, OP_SET_LOCAL, OP_SET_WORLD};
    small few;

    small_begin(&few);
    for (size_t code = 0; code < sizeof codes / sizeof *codes; ++code) {
        for (uint32_t node = 0; node < 4; ++node) {
            for (uint32_t parent = 0; parent < 4; ++parent) {
                operation op = {.code = codes[code],
                                .entity = node,
                                .parent = parent,
                                .before = MODEL_NONE,
                                .value = test_at(1, 2, 3),
                                .count = 2};
                (void)small_add(&few, MODEL_NONE, ESPL_LINK_OWNED);
                (void)small_add(&few, MODEL_NONE, ESPL_LINK_OWNED);
                (void)small_add(&few, 1, ESPL_LINK_OWNED);
                (void)small_add(&few, 2, ESPL_LINK_OWNED);
                small_play(&few, &op, 1);
                small_clear(&few);
            }
        }
    }
    small_end(&few);
}

TEST(f15_ids_may_be_far_larger_than_counts)
{
    enum { MANY = MANY_OR_FEW(20000, 40) };
    espl_entity *const filler = test_array(MANY, sizeof *filler);

    test_solos(s.world, MANY, filler);
    const espl_entity a = test_solo(s.world), b = test_solo(s.world);
    for (size_t i = 0; i < MANY; ++i) {
        ck_ok(espl_record_destroy(s.lane[0], 0, filler[i], ESPL_EXTENT_OWNED));
    }
    play();
    espl_command_buffer_reset(s.commands);
    const espl_instance_def def = instance_of(a, b);
    ck_assert_uint_ge(a.index, MANY);
    ck_ok(espl_record_attach(s.lane[0], 0, a, b, NULL));
    ck_ok(espl_record_instantiate(s.lane[0], 0, &def, 3, NULL));
    play();
    ck_assert_uint_eq(living(), 5);
    ck_assert_uint_eq(test_count_children(s.world, b), 4);
    free(filler);
}

TEST(f16_a_pending_entity_is_dead_before_its_creation_and_alive_after)
{
    const espl_entity source = test_solo(s.world), child = test_solo(s.world);
    const espl_instance_def def = instance_of(source, espl_entity_null());
    espl_entity pending;

    ck_ok(espl_record_instantiate(s.lane[1], 5, &def, 1, &pending));
    ck_ok(espl_record_attach(s.lane[0], 4, child, pending, NULL));
    ck_ok(espl_record_attach(s.lane[0], 5, child, pending, NULL));
    ck_ok(espl_record_attach(s.lane[2], 5, child, pending, NULL));
    play();
    ck_status(result(0, 0), ESPL_ERR_DEAD);
    ck_status(result(0, 1), ESPL_ERR_DEAD); // lane 0 comes before lane 1
    ck_ok(result(2, 0));
    ck_assert(is_child(child, resolved(pending)));
}

TEST(f17_a_pending_entity_of_other_commands_is_foreign)
{
    const espl_entity source = test_solo(s.world);
    const espl_instance_def def = instance_of(source, espl_entity_null());
    espl_entity alien;

    espl_command_buffer *const other = test_commands(s.world, 1);
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(other, 0), 0, &def, 1, &alien));
    ck_status(espl_record_attach(s.lane[0], 0, source, alien, NULL), ESPL_ERR_FOREIGN);
    ck_status(espl_command_buffer_resolve(s.commands, alien, &alien), ESPL_ERR_FOREIGN);
    ck_ok(espl_play(s.world, other, NULL));
    ck_status(espl_record_attach(s.lane[0], 0, source, alien, NULL), ESPL_ERR_FOREIGN);
    play();
    ck_assert_uint_eq(s.report.accepted, 0);
    espl_command_buffer_destroy(other);
}

TEST(f18_instances_stand_in_the_order_they_were_recorded)
{
    espl_entity pending[9];
    const espl_entity source = test_solo(s.world), parent = test_solo(s.world);
    const espl_entity last = child_of(parent, 1);
    espl_instance_def def = instance_of(source, parent);

    def.before = last;
    for (size_t i = 0; i < 3; ++i) {
        ck_ok(espl_record_instantiate(s.lane[i], 0, &def, 3, &pending[3 * i]));
    }
    play();
    for (size_t i = 0; i < 9; ++i) {
        ck_assert(espl_entity_equal(test_child(s.world, parent, i), resolved(pending[i])));
    }
    ck_assert(espl_entity_equal(test_child(s.world, parent, 9), last));
}

TEST(f18_clones_keep_the_order_of_children)
{
    enum { COUNT = MANY_OR_FEW(20, 12) };
    const espl_entity root = test_solo(s.world);
    espl_entity clone;

    for (int i = 0; i < COUNT; ++i) {
        (void)child_of(child_of(root, (float)i), (float)(100 + i));
    }
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = root}, 1, &clone));
    for (size_t i = 0; i < COUNT; ++i) {
        const espl_entity child = test_child(s.world, clone, i);
        const espl_entity below = espl_get_first_child(s.world, child);
        ck_assert_float_eq(test_local_of(s.world, child).position[0], (float)i);
        ck_assert_float_eq(test_local_of(s.world, below).position[0], (float)(100 + i));
    }
}

TEST(f20_a_whole_world_is_destroyed_by_one_playback)
{
    const size_t many = MANY_OR_FEW(test_scaled(100000), 60);
    espl_entity *const entity = test_array(many, sizeof *entity);

    test_solos(s.world, many, entity);
    for (size_t i = 1; i < many; ++i) {
        ck_ok(espl_record_attach(s.lane[0], 0, entity[i], entity[(i - 1) / 3], NULL));
    }
    for (size_t i = 0; i < many; ++i) {
        ck_ok(espl_record_destroy(s.lane[i % 3], 1, entity[many - 1 - i], ESPL_EXTENT_ENTITY));
    }
    play();
    ck_assert_uint_eq(s.report.applied, 2 * many - 1);
    ck_assert_uint_eq(s.report.destroyed, many);
    ck_assert_uint_eq(living(), 0);
    free(entity);
}

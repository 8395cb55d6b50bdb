// SPDX-License-Identifier: MIT
// The apply stage: commands are applied at their turn on the trees themselves, new nodes get slots
// in the range of their parent or in the nursery, and groups that copy what they edit are applied
// alone.
#include "lib/world/entity_slots.h"
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>

static test_world test;
static espl_world *world;
static espl_command_buffer *commands;
static espl_recorder *recorder;

static void set_up(void)
{
    test_world_begin(&test, 7, NULL);
    world = test.world;
    ck_ok(espl_command_buffer_create(world, 1, &commands));
    recorder = espl_command_buffer_recorder(commands, 0);
}

static void tear_down(void)
{
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}

static void begin_again(void)
{
    tear_down();
    set_up();
}

static espl_report play(void)
{
    espl_report report;

    ck_ok(espl_play(world, commands, &report));
    test_world_is_valid(world);
    return report;
}

static espl_entity become(espl_entity pending)
{
    espl_entity entity = {0, 0};

    ck_ok(espl_command_buffer_resolve(commands, pending, &entity));
    return entity;
}

static uint32_t slot_of(espl_entity entity)
{
    return espl__slot_or_none(world, entity);
}

static const espl__tree *tree_of(espl_entity entity)
{
    return espl__tree_of(&world->forest, slot_of(entity));
}

static bool same(espl_entity a, espl_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

static void attach(espl_entity child, espl_entity parent)
{
    ck_ok(espl_attach(world, child, parent, NULL));
}

static void record_attach(espl_entity child, espl_entity parent)
{
    ck_ok(espl_record_attach(recorder, 0, child, parent, NULL));
}

// A root with two leaves.
static espl_entity make_prefab(void)
{
    const espl_entity root = test_solo_at(world, 1, 2, 3);

    attach(test_solo_at(world, 4, 5, 6), root);
    attach(test_solo_at(world, 7, 8, 9), root);
    ck_ok(espl_compact(world));
    return root;
}

static espl_entity record_clone(espl_entity source, espl_entity parent)
{
    const espl_instance_def def = {.source = source, .parent = parent};
    espl_entity pending = {0, 0};

    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, &pending));
    return pending;
}

static espl_entity record_leaf(espl_entity parent, espl_dead_parent dead_parent)
{
    const espl_transform at = test_at(1, 0, 0);
    const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {
        .values = &value, .value_count = 1, .parent = parent, .dead_parent = dead_parent};
    espl_entity pending = {0, 0};

    ck_ok(espl_record_create(recorder, 0, &def, 1, &pending));
    return pending;
}

// --- Where new nodes come to be ---

FIXTURE(set_up, tear_down);

TEST(a_clone_without_a_parent_stays_where_the_nursery_was)
{
    const espl_entity prefab = make_prefab();
    const uint32_t end = world->forest.end;
    const espl_entity a = record_clone(prefab, espl_entity_null());
    const espl_entity b = record_clone(prefab, espl_entity_null());

    (void)play();
    ck_assert_uint_eq(tree_of(become(a))->base, end);
    // Each has a slot for its next node.
    ck_assert_uint_eq(tree_of(become(a))->capacity, 4);
    ck_assert_uint_eq(tree_of(become(b))->base, end + 4);
    ck_assert_uint_eq(tree_of(become(b))->capacity, 4);
    ck_assert_uint_eq(tree_of(become(b))->flags, ESPL__TREE_IN_ORDER);
    ck_assert_uint_eq(world->forest.end, end + 8);
}

TEST(a_clone_that_got_a_child_is_copied_to_a_range_of_its_own_in_order)
{
    const espl_entity prefab = make_prefab(), guest = test_solo_at(world, 1, 1, 1);
    const espl_entity clone = record_clone(prefab, espl_entity_null());

    record_attach(guest, clone);
    (void)play();
    ck_assert_uint_eq(tree_of(become(clone))->live, 4);
    ck_assert_uint_eq(tree_of(become(clone))->capacity, 5);
    ck_assert_uint_eq(tree_of(become(clone))->flags, ESPL__TREE_IN_ORDER);
    ck_assert(same(espl_get_parent(world, guest), become(clone)));
    ck_assert_uint_eq(slot_of(guest), slot_of(become(clone)) + 3);
    // Nothing of the nursery is left behind the trees.
    ck_assert_uint_eq(world->forest.nursery, ESPL__NO_TREE);
}

TEST(what_is_left_of_the_nursery_is_free_again)
{
    const espl_entity prefab = make_prefab();
    const uint32_t end = world->forest.end;

    for (int i = 0; i < 4; ++i) {
        const espl_entity clone = record_clone(prefab, espl_entity_null());

        if (i != 1) {
            ck_ok(espl_record_destroy(recorder, 0, clone, ESPL_EXTENT_OWNED));
        }
    }
    (void)play();
    ck_assert_uint_le(world->forest.end, end + 8);
    ck_assert_uint_eq(world->forest.end - world->forest.free_slots, end + 4);
}

TEST(a_new_node_takes_the_end_of_the_range_of_its_parent)
{
    const espl_entity root = make_prefab();
    const espl__tree before = *tree_of(root);
    const uint32_t end = world->forest.end;
    const uint64_t laid_out = world->forest.nodes_laid_out;

    ck_assert_uint_gt(before.capacity, before.used);
    const espl_entity leaf = record_leaf(root, ESPL_DEAD_PARENT_REFUSE);

    (void)play();
    ck_assert_uint_eq(slot_of(become(leaf)), before.base + before.used);
    ck_assert_uint_eq(tree_of(root)->base, before.base);
    ck_assert_uint_eq(world->forest.end, end);
    ck_assert_uint_eq(world->forest.nodes_laid_out, laid_out);
}

TEST(a_new_node_takes_a_hole_of_the_range_of_its_parent)
{
    const espl_entity root = make_prefab();
    const espl_entity first = espl_get_first_child(world, root);
    const uint32_t hole = slot_of(first);

    ck_ok(espl_destroy(world, first, ESPL_EXTENT_OWNED));
    const espl_entity leaf = record_leaf(root, ESPL_DEAD_PARENT_REFUSE);

    (void)play();
    ck_assert_uint_eq(slot_of(become(leaf)), hole);
    ck_assert_uint_eq(tree_of(root)->hole, ESPL__NO_SLOT);
}

TEST(a_tree_whose_range_is_full_comes_to_a_larger_one_with_all_new_nodes)
{
    const espl_entity root = make_prefab();
    const espl__tree before = *tree_of(root);
    espl_entity leaves[5];

    ck_assert_uint_eq(before.capacity, 3 + 1);
    for (int i = 0; i < 5; ++i) {
        leaves[i] =
            record_leaf(i % 2 == 0 || i == 1 ? root : leaves[i - 2], ESPL_DEAD_PARENT_REFUSE);
    }
    (void)play();
    ck_assert_uint_eq(tree_of(root)->live, 8);
    ck_assert_uint_eq(tree_of(root)->capacity, 8 + 8 / 2);
    ck_assert_uint_eq(tree_of(root)->flags, ESPL__TREE_IN_ORDER);
    for (int i = 0; i < 5; ++i) {
        ck_assert_ptr_eq(tree_of(become(leaves[i])), tree_of(root));
    }
}

// Each of three hierarchies comes below a leaf of the one before it, in any order of the commands.
TEST(hierarchies_that_move_with_others_come_to_the_tree_of_the_topmost)
{
    enum { TOPS = 3, ORDERS = 6 };
    static const int orders[ORDERS][TOPS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int order = 0; order < ORDERS; ++order) {
        const espl_entity root = make_prefab();
        espl_entity tops[TOPS], parents[TOPS + 1] = {root};

        for (int i = 0; i < TOPS; ++i) {
            tops[i] = test_solo_at(world, 1, 0, 0);
            parents[i + 1] = test_solo_at(world, 0, 1, 0);
            attach(parents[i + 1], tops[i]);
        }
        for (int i = 0; i < TOPS; ++i) {
            record_attach(tops[orders[order][i]], parents[orders[order][i]]);
        }
        (void)play();
        ck_assert_uint_eq(tree_of(root)->live, 3 + 2 * TOPS);
        for (int i = 0; i < TOPS; ++i) {
            ck_assert(same(espl_get_parent(world, tops[i]), parents[i]));
            ck_assert(same(espl_get_parent(world, parents[i + 1]), tops[i]));
            ck_assert_ptr_eq(tree_of(parents[i + 1]), tree_of(root));
        }
        begin_again();
    }
}

// A range that has room for some of the new nodes is no reason to put them there first and lack room then.
TEST(any_number_of_new_nodes_finds_room)
{
    if (test_lacks_room(128, "many new nodes")) {
        return;
    }
    for (uint32_t count = 1; count < 40; ++count) {
        const espl_entity root = make_prefab();

        attach(test_solo(world), root);
        const espl_entity source = make_prefab();
        espl_entity parent = root;

        for (uint32_t i = 0; i < count; ++i) {
            const espl_entity pending = i % 3 == 0 ? record_clone(source, parent)
                                                   : record_leaf(parent, ESPL_DEAD_PARENT_REFUSE);

            parent = i % 4 == 0 ? pending : parent;
        }
        (void)play();
        ck_assert_uint_eq(test_count_descendants(world, root), 3 + count + 2 * ((count + 2) / 3));
        begin_again();
    }
}

TEST(steady_instances_do_not_let_the_pool_grow)
{
    enum { COUNT = 300 };
    if (test_lacks_room(6 * COUNT + 3, "prefabs that come and go")) {
        return;
    }
    static espl_entity living[COUNT];
    const espl_entity prefab = make_prefab();
    uint32_t mark = 0;

    for (uint32_t frame = 0; frame < 60; ++frame) {
        espl_command_buffer_reset(commands);
        espl_entity pendings[COUNT];

        for (uint32_t i = 0; i < COUNT; ++i) {
            pendings[i] = record_clone(prefab, espl_entity_null());
            if (frame != 0) {
                ck_ok(espl_record_destroy(recorder, 0, living[i], ESPL_EXTENT_OWNED));
            }
        }
        ck_ok(espl_play(world, commands, NULL));
        for (uint32_t i = 0; i < COUNT; ++i) {
            living[i] = become(pendings[i]);
        }
        mark = world->forest.end > mark ? world->forest.end : mark;
    }
    // What lives before and behind one playback, twice.
    ck_assert_uint_le(mark, 2 * (2 * 3 * COUNT) + 4096);
    test_world_is_valid(world);
}

// --- What copies what is edited ---

TEST(clones_below_their_source_double_it)
{
    if (test_lacks_room(1 << 8, "a tree that is doubled")) {
        return;
    }
    enum { TIMES = 8 };
    const espl_entity root = test_solo(world);

    for (int i = 0; i < TIMES; ++i) {
        (void)record_clone(root, root);
    }
    const espl_report report = play();

    ck_assert_uint_eq(test_count_descendants(world, root), (1 << TIMES) - 1);
    ck_assert_uint_eq(test_count_children(world, root), TIMES);
    ck_assert_uint_eq(report.created, (1 << TIMES) - 1);
    ck_assert_uint_eq(report.groups, 1);
}

// A node without a transform shows what its parent shows, wherever its slot is at that moment.
TEST(a_stretch_that_comes_to_the_parent_later_reaches_a_node_without_transform)
{
    const espl_transform at = test_at(1, 0, 0);
    espl_write write = {.kind = ESPL_WRITE_STRETCH, .value = {.stretch = {3, 1, 1}}};
    espl_entity bare = {0, 0};
    const espl_entity parent = test_solo(world), child = test_solo(world);
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

    ck_ok(espl_create(world, NULL, 0, 1, &bare));
    ck_ok(espl_attach(world, child, bare, &options));
    ck_ok(espl_set_local_transform(world, child, &at));
    write.entity = parent;
    ck_ok(espl_record_attach(recorder, 0, bare, parent, &options));
    ck_ok(espl_record_write(recorder, 0, write.entity, write.kind, &write.value));
    (void)play();
    ck_assert_float_eq(test_world_of(world, child).position[0], 3);
}

// --- Parts of a range ---

enum { LINKS = 40 };

// Of a chain whose second entity is detached, the root moves and the long part stays, but for its root.
TEST(the_largest_part_of_a_range_keeps_it)
{
    espl_entity *const node = make_chain(world, LINKS);
    const uint32_t first = slot_of(node[0]), third = slot_of(node[2]);

    ck_ok(espl_record_detach(recorder, 0, node[1], ESPL_KEEP_WORLD));
    const espl_report report = play();

    ck_assert_uint_eq(slot_of(node[1]), first);
    ck_assert_uint_eq(slot_of(node[2]), third);
    ck_assert_uint_ne(slot_of(node[0]), first);
    ck_assert_uint_le(report.moved_nodes, 2);
    free(node);
}

// The parts may be in several ranges at first, and the part that stays may grow in the same playback.
TEST(a_part_keeps_its_range_while_others_arrive_in_it)
{
    if (test_lacks_room(2 * LINKS, "two chains")) {
        return;
    }
    espl_entity *const node = make_chain(world, LINKS), *const other = make_chain(world, LINKS);

    for (uint32_t i = 1; i < LINKS; i += 4) {
        ck_ok(espl_record_detach(recorder, 0, node[i], ESPL_KEEP_WORLD));
        ck_ok(espl_record_attach(recorder, 0, other[i], node[LINKS - i], NULL));
    }
    ck_ok(espl_record_attach(recorder, 0, node[0], node[LINKS - 1], NULL));
    (void)play();
    ck_assert_int_eq(espl_is_ancestor(world, node[LINKS - 3], node[0]), true);
    ck_assert_int_eq(espl_is_ancestor(world, node[LINKS - 1], other[1]), true);
    free(node);
    free(other);
}

// A playback for which memory lacks anywhere leaves everything as it was.
TEST(a_part_that_finds_no_memory_stays_in_its_range)
{
    espl_entity *const node = make_chain(world, LINKS);
    espl_status status = ESPL_ERR_NO_MEMORY;
    const uint64_t before = test_physical_hash(world);
    size_t refused = 0;

    ck_ok(espl_record_detach(recorder, 0, node[3], ESPL_KEEP_WORLD));
    ck_ok(espl_record_destroy(recorder, 1, node[0], ESPL_EXTENT_ENTITY));
    for (size_t at = 1; status != ESPL_OK; ++at) {
        test_free_scratch(world);
        test_heap_arm(&test.heap, at, true);
        status = espl_play(world, commands, NULL);
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(world);
        ck_assert(status == ESPL_OK || test_physical_hash(world) == before);
        refused += status != ESPL_OK ? 1 : 0;
    }
    ck_assert_uint_gt(refused, 2);
    ck_assert_int_eq(espl_get_role(world, node[3]), ESPL_ROLE_ROOT);
    free(node);
}

// Also where a destroy left the parts, because there was no memory, and the next call settles them.
TEST(roots_of_a_destroy_without_memory_are_settled_later)
{
    espl_entity *const node = make_chain(world, LINKS);

    test_free_scratch(world);
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(world, node[0], ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(world, node[10], ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(world, node[1], ESPL_EXTENT_ENTITY));
    test_heap_arm(&test.heap, 0, false);
    test_world_is_valid(world);
    const uint32_t slot = slot_of(node[3]);

    ck_ok(espl_destroy(world, test_solo(world), ESPL_EXTENT_ENTITY));
    test_world_is_valid(world);
    ck_assert_int_eq(espl_get_role(world, node[2]), ESPL_ROLE_ROOT);
    ck_assert_uint_eq(slot_of(node[3]), slot);
    ck_assert_uint_eq(slot_of(node[2]), tree_of(node[3])->base);
    free(node);
}

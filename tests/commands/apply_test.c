// SPDX-License-Identifier: MIT
// The apply stage: commands are applied at their turn on the trees themselves, new nodes come to the range
// of their parent or to the nursery, groups that copy what they edit are applied alone, and the result
// depends neither on workers nor on parts.
#include "lib/world/world_internal.h"
#include "tests/tree/fixture.h"

static test_world test;
static espl_world *world;
static espl_command_buffer *commands;
static espl_recorder *recorder;

static void set_up(void)
{
    test_world_begin(&test, 7, NULL);
    world = test.world;
    ck_assert_int_eq(espl_command_buffer_create(world, 1, &commands), ESPL_OK);
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

    ck_assert_int_eq(espl_play(world, commands, &report), ESPL_OK);
    test_world_is_valid(world);
    return report;
}

static espl_status result(uint32_t index)
{
    return espl_command_buffer_result(commands, 0, index);
}

static espl_entity become(espl_entity pending)
{
    espl_entity entity = {0, 0};

    ck_assert_int_eq(espl_command_buffer_resolve(commands, pending, &entity), ESPL_OK);
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
    ck_assert_int_eq(espl_attach(world, child, parent, NULL), ESPL_OK);
}

static void record_attach(espl_entity child, espl_entity parent)
{
    ck_assert_int_eq(espl_record_attach(recorder, 0, child, parent, NULL), ESPL_OK);
}

// A root with two leaves.
static espl_entity make_prefab(void)
{
    const espl_entity root = test_solo_at(world, 1, 2, 3);

    attach(test_solo_at(world, 4, 5, 6), root);
    attach(test_solo_at(world, 7, 8, 9), root);
    ck_assert_int_eq(espl_compact(world), ESPL_OK);
    return root;
}

static espl_entity record_clone(espl_entity source, espl_entity parent)
{
    const espl_instance_def def = {.source = source, .parent = parent};
    espl_entity pending = {0, 0};

    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &pending), ESPL_OK);
    return pending;
}

static espl_entity record_leaf(espl_entity parent, espl_dead_parent dead_parent)
{
    const espl_transform at = test_at(1, 0, 0);
    const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {
        .values = &value, .value_count = 1, .parent = parent, .dead_parent = dead_parent};
    espl_entity pending = {0, 0};

    ck_assert_int_eq(espl_record_create(recorder, 0, &def, 1, &pending), ESPL_OK);
    return pending;
}

// --- Where new nodes come to be ---

START_TEST(a_clone_without_a_parent_stays_where_the_nursery_was)
{
    const espl_entity prefab = make_prefab();
    const uint32_t end = world->forest.end;
    const espl_entity a = record_clone(prefab, espl_entity_null());
    const espl_entity b = record_clone(prefab, espl_entity_null());

    (void)play();
    ck_assert_uint_eq(tree_of(become(a))->base, end);
    ck_assert_uint_eq(tree_of(become(b))->base, end + 3);
    ck_assert_uint_eq(tree_of(become(b))->capacity, 3);
    ck_assert_uint_eq(tree_of(become(b))->flags, ESPL__TREE_IN_ORDER);
    ck_assert_uint_eq(world->forest.end, end + 6);
}
END_TEST

START_TEST(a_clone_that_got_a_child_is_copied_to_a_range_of_its_own_in_order)
{
    const espl_entity prefab = make_prefab(), guest = test_solo_at(world, 1, 1, 1);
    const espl_entity clone = record_clone(prefab, espl_entity_null());

    record_attach(guest, clone);
    (void)play();
    ck_assert_uint_eq(tree_of(become(clone))->live, 4);
    ck_assert_uint_eq(tree_of(become(clone))->capacity, 4);
    ck_assert_uint_eq(tree_of(become(clone))->flags, ESPL__TREE_IN_ORDER);
    ck_assert(same(espl_get_parent(world, guest), become(clone)));
    ck_assert_uint_eq(slot_of(guest), slot_of(become(clone)) + 3);
    // Nothing of the nursery is left behind the trees.
    ck_assert_uint_eq(world->forest.nursery, ESPL__NO_TREE);
}
END_TEST

START_TEST(what_is_left_of_the_nursery_is_free_again)
{
    const espl_entity prefab = make_prefab();
    const uint32_t end = world->forest.end;

    for (int i = 0; i < 4; ++i) {
        const espl_entity clone = record_clone(prefab, espl_entity_null());

        if (i != 1) {
            ck_assert_int_eq(espl_record_destroy(recorder, 0, clone, ESPL_EXTENT_OWNED), ESPL_OK);
        }
    }
    (void)play();
    ck_assert_uint_le(world->forest.end, end + 6);
    ck_assert_uint_eq(world->forest.end - world->forest.free_slots, end + 3);
}
END_TEST

START_TEST(a_new_node_takes_the_end_of_the_range_of_its_parent)
{
    const espl_entity root = make_prefab();

    attach(test_solo(world), root);
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
END_TEST

START_TEST(a_new_node_takes_a_hole_of_the_range_of_its_parent)
{
    const espl_entity root = make_prefab();
    const espl_entity first = espl_get_first_child(world, root);
    const uint32_t hole = slot_of(first);

    ck_assert_int_eq(espl_destroy(world, first, ESPL_EXTENT_OWNED), ESPL_OK);
    const espl_entity leaf = record_leaf(root, ESPL_DEAD_PARENT_REFUSE);

    (void)play();
    ck_assert_uint_eq(slot_of(become(leaf)), hole);
    ck_assert_uint_eq(tree_of(root)->hole, ESPL__NO_SLOT);
}
END_TEST

START_TEST(a_tree_whose_range_is_full_comes_to_a_larger_one_with_all_new_nodes)
{
    const espl_entity root = make_prefab(); // compaction left no room
    const espl__tree before = *tree_of(root);
    espl_entity leaves[5];

    ck_assert_uint_eq(before.capacity, 3);
    for (int i = 0; i < 5; ++i) {
        leaves[i] =
            record_leaf(i % 2 == 0 || i == 1 ? root : leaves[i - 2], ESPL_DEAD_PARENT_REFUSE);
    }
    (void)play();
    ck_assert_uint_eq(tree_of(root)->live, 8);
    // To spare there are as many slots as there were nodes, though a tree of 8 may have more.
    ck_assert_uint_eq(tree_of(root)->capacity, 8 + 3);
    ck_assert_uint_eq(tree_of(root)->flags, ESPL__TREE_IN_ORDER);
    for (int i = 0; i < 5; ++i) {
        ck_assert_ptr_eq(tree_of(become(leaves[i])), tree_of(root));
    }
}
END_TEST

// A range that has room for some of the new nodes is no reason to put them there first and lack room then.
START_TEST(any_number_of_new_nodes_finds_room)
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
        ck_assert_uint_eq(espl_count_descendants(world, root),
                          3 + count + 2 * ((count + 2) / 3));
        begin_again();
    }
}
END_TEST

START_TEST(steady_instances_do_not_let_the_pool_grow)
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
                ck_assert_int_eq(espl_record_destroy(recorder, 0, living[i], ESPL_EXTENT_OWNED),
                                 ESPL_OK);
            }
        }
        ck_assert_int_eq(espl_play(world, commands, NULL), ESPL_OK);
        for (uint32_t i = 0; i < COUNT; ++i) {
            living[i] = become(pendings[i]);
        }
        mark = world->forest.end > mark ? world->forest.end : mark;
    }
    // What lives before and behind one playback, twice.
    ck_assert_uint_le(mark, 2 * (2 * 3 * COUNT) + 4096);
    test_world_is_valid(world);
}
END_TEST

// --- Refusals at a command's turn ---

START_TEST(a_command_on_what_an_earlier_one_destroyed_is_refused)
{
    const espl_entity a = test_solo(world), b = test_solo(world);

    ck_assert_int_eq(espl_record_destroy(recorder, 0, a, ESPL_EXTENT_OWNED), ESPL_OK);
    record_attach(a, b);
    record_attach(b, a);
    ck_assert_int_eq(espl_record_destroy(recorder, 0, a, ESPL_EXTENT_OWNED), ESPL_OK);
    const espl_report report = play();

    ck_assert_int_eq(result(0), ESPL_OK);
    for (uint32_t i = 1; i < 4; ++i) {
        ck_assert_int_eq(result(i), ESPL_ERR_DEAD);
    }
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 3);
    ck_assert_uint_eq(report.destroyed, 1);
}
END_TEST

START_TEST(a_cycle_that_an_earlier_command_would_close_is_refused)
{
    const espl_entity a = test_solo(world), b = test_solo(world), c = test_solo(world);

    record_attach(a, b);
    record_attach(b, c);
    record_attach(c, a);
    record_attach(a, a);
    (void)play();
    ck_assert_int_eq(result(0), ESPL_OK);
    ck_assert_int_eq(result(1), ESPL_OK);
    ck_assert_int_eq(result(2), ESPL_ERR_CYCLE);
    ck_assert_int_eq(result(3), ESPL_ERR_CYCLE);
    ck_assert(same(espl_get_root(world, a), c));
}
END_TEST

START_TEST(a_cycle_that_an_earlier_command_opened_is_none)
{
    const espl_entity a = test_solo(world), b = test_solo(world);

    attach(b, a);
    ck_assert_int_eq(espl_record_detach(recorder, 0, b, ESPL_KEEP_WORLD), ESPL_OK);
    record_attach(a, b);
    (void)play();
    ck_assert_int_eq(result(1), ESPL_OK);
    ck_assert(same(espl_get_parent(world, a), b));
}
END_TEST

START_TEST(what_comes_below_a_dead_parent_is_refused_or_a_root_as_its_command_says)
{
    const espl_entity prefab = make_prefab(), parent = test_solo_at(world, 50, 0, 0);
    const espl_transform at = test_at(3, 4, 5);

    for (int i = 0; i < 2; ++i) {
        const espl_instance_def def = {.source = prefab,
                                       .parent = parent,
                                       .dead_parent =
                                           i == 0 ? ESPL_DEAD_PARENT_REFUSE : ESPL_DEAD_PARENT_ROOT,
                                       .place = ESPL_PLACE_LOCAL,
                                       .transform = at};
        espl_entity pending = {0, 0};

        if (i == 0) {
            ck_assert_int_eq(espl_record_destroy(recorder, 0, parent, ESPL_EXTENT_OWNED), ESPL_OK);
        }
        ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &pending), ESPL_OK);
        (void)pending;
    }
    const espl_entity refused = record_leaf(parent, ESPL_DEAD_PARENT_REFUSE);
    const espl_entity made = record_leaf(parent, ESPL_DEAD_PARENT_ROOT);
    const espl_entity below = record_leaf(refused, ESPL_DEAD_PARENT_ROOT);
    espl_entity none = {0, 0};

    (void)play();
    ck_assert_int_eq(result(1), ESPL_ERR_DEAD);
    ck_assert_int_eq(result(2), ESPL_OK);
    ck_assert_int_eq(result(3), ESPL_ERR_DEAD);
    ck_assert_int_eq(result(4), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_resolve(commands, refused, &none), ESPL_ERR_DEAD);
    ck_assert_int_eq(espl_get_role(world, become(made)), ESPL_ROLE_SOLO);
    ck_assert_float_eq(test_world_of(world, become(made)).position[0], 1);
    // The parent of this one was never made.
    ck_assert_int_eq(result(5), ESPL_OK);
    ck_assert_int_eq(espl_get_role(world, become(below)), ESPL_ROLE_SOLO);
}
END_TEST

START_TEST(a_sibling_that_an_earlier_command_took_away_is_refused)
{
    const espl_entity root = test_solo(world), a = test_solo(world), b = test_solo(world);

    attach(a, root);
    attach(b, root);
    ck_assert_int_eq(espl_record_detach(recorder, 0, a, ESPL_KEEP_WORLD), ESPL_OK);
    ck_assert_int_eq(espl_record_set_sibling(recorder, 0, b, a), ESPL_OK);
    ck_assert_int_eq(espl_record_set_sibling(recorder, 0, a, b), ESPL_OK);
    (void)play();
    ck_assert_int_eq(result(1), ESPL_ERR_NOT_CHILD);
    ck_assert_int_eq(result(2), ESPL_ERR_NOT_CHILD);
}
END_TEST

// --- What copies what is edited ---

START_TEST(a_clone_shows_what_earlier_commands_made_of_its_source)
{
    const espl_entity prefab = make_prefab(), guest = test_solo_at(world, 1, 1, 1);
    const float position[3] = {30, 0, 0};
    const espl_entity early = record_clone(prefab, espl_entity_null());

    record_attach(guest, prefab);
    ck_assert_int_eq(espl_record_set_local_position(recorder, 0, prefab, position), ESPL_OK);
    const espl_entity late = record_clone(prefab, espl_entity_null());

    ck_assert_int_eq(espl_record_destroy(recorder, 0, guest, ESPL_EXTENT_OWNED), ESPL_OK);
    const espl_entity last = record_clone(prefab, espl_entity_null());

    (void)play();
    ck_assert_uint_eq(espl_count_descendants(world, become(early)), 2);
    ck_assert_uint_eq(espl_count_descendants(world, become(late)), 3);
    ck_assert_uint_eq(espl_count_descendants(world, become(last)), 2);
    ck_assert_float_eq(test_world_of(world, become(early)).position[0], 1);
    ck_assert_float_eq(test_world_of(world, become(late)).position[0], 30);
}
END_TEST

START_TEST(clones_below_their_source_double_it)
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

    ck_assert_uint_eq(espl_count_descendants(world, root), (1 << TIMES) - 1);
    ck_assert_uint_eq(espl_count_children(world, root), TIMES);
    ck_assert_uint_eq(report.created, (1 << TIMES) - 1);
    ck_assert_uint_eq(report.groups, 1);
}
END_TEST

START_TEST(clones_of_clones_follow_their_turn)
{
    const espl_entity prefab = make_prefab();
    const espl_entity a = record_clone(prefab, espl_entity_null());
    const espl_entity b = record_clone(a, a), c = record_clone(a, espl_entity_null());

    ck_assert_int_eq(espl_record_destroy(recorder, 0, b, ESPL_EXTENT_OWNED), ESPL_OK);
    const espl_entity d = record_clone(a, espl_entity_null());

    (void)play();
    ck_assert_uint_eq(espl_count_descendants(world, become(a)), 2);
    ck_assert_uint_eq(espl_count_descendants(world, become(c)), 5);
    ck_assert_uint_eq(espl_count_descendants(world, become(d)), 2);
}
END_TEST

// A group that is applied alone gives what it gives by calls at once, and other groups do not notice.
START_TEST(a_group_that_is_applied_alone_is_as_if_played_by_itself)
{
    if (test_lacks_room(2 * 4096 + 64, "two trees that are doubled")) {
        return;
    }
    const uint64_t seeds = test_scaled(300);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        espl_entity own[6], others[6], singles[6];

        for (int i = 0; i < 6; ++i) {
            own[i] = test_solo_at(world, (float)i, 0, 0);
            others[i] = test_solo_at(world, 0, (float)i, 0);
            singles[i] = test_solo_at(world, (float)i, 0, 0);
            if (i > 0) {
                const uint32_t up = test_below(&random, (uint32_t)i);

                attach(own[i], own[up]);
                attach(singles[i], singles[up]);
            }
        }
        for (int i = 0; i < 6; ++i) {
            const uint32_t source = test_below(&random, 6), parent = test_below(&random, 6);
            const espl_entity free_parent = others[test_below(&random, 6)];
            espl_entity clone = {0, 0};

            (void)record_clone(own[source], own[parent]);
            (void)record_leaf(free_parent, ESPL_DEAD_PARENT_REFUSE);
            // The same by calls at once: the clone comes to the parent with the source's local.
            const espl_transform local = test_local_of(world, singles[source]);
            const espl_attach_options options = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL,
                                                 ESPL_LINK_OWNED, {0, 0},          0};

            ck_assert_int_eq(espl_instantiate(world, singles[source], 1, &clone), ESPL_OK);
            ck_assert_int_eq(espl_set_local_transform(world, clone, &local), ESPL_OK);
            ck_assert_int_eq(espl_attach(world, clone, singles[parent], &options), ESPL_OK);
        }
        (void)play();
        static espl_transform worlds[2][4096];
        static uint32_t parents[2][4096];
        const espl_subtree_arrays out[2] = {{.entities = (espl_entity[4096]){{0, 0}},
                                             .parents = parents[0],
                                             .worlds = worlds[0]},
                                            {.entities = (espl_entity[4096]){{0, 0}},
                                             .parents = parents[1],
                                             .worlds = worlds[1]}};
        const size_t count =
            espl_copy_subtree(world, own[0], ESPL_EXTENT_SUBTREE, 4096, &out[0]);

        ck_assert_uint_le(count, 4096);
        ck_assert_uint_eq(espl_copy_subtree(world, singles[0], ESPL_EXTENT_SUBTREE, 4096, &out[1]),
                          count);
        ck_assert_mem_eq(parents[0], parents[1], count * sizeof *parents[0]);
        ck_assert_mem_eq(worlds[0], worlds[1], count * sizeof *worlds[0]);
        begin_again();
    }
}
END_TEST

// A node without a transform shows what its parent shows, wherever its slot is at that moment.
START_TEST(a_stretch_that_comes_to_the_parent_later_reaches_a_node_without_transform)
{
    const espl_transform at = test_at(1, 0, 0);
    espl_write write = {.kind = ESPL_WRITE_STRETCH, .value = {.stretch = {3, 1, 1}}};
    espl_entity bare = {0, 0};
    const espl_entity parent = test_solo(world), child = test_solo(world);
    const espl_attach_options options = {ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL, ESPL_KEEP_LOCAL,
                                         ESPL_LINK_OWNED, {0, 0},          0};

    ck_assert_int_eq(espl_create(world, NULL, 0, 1, &bare), ESPL_OK);
    ck_assert_int_eq(espl_attach(world, child, bare, &options), ESPL_OK);
    ck_assert_int_eq(espl_set_local_transform(world, child, &at), ESPL_OK);
    write.entity = parent;
    ck_assert_int_eq(espl_record_attach(recorder, 0, bare, parent, &options), ESPL_OK);
    ck_assert_int_eq(espl_record_write(recorder, 0, write.entity, write.kind, &write.value),
                     ESPL_OK);
    (void)play();
    ck_assert_float_eq(test_world_of(world, child).position[0], 3);
}
END_TEST

// --- Parts and workers ---

static const uint32_t part_entries[] = {ESPL__PART_ENTRIES, 1, 2, 7};

// Two batches in a world that is made for it. @return its physical hash.
static uint64_t play_in_parts(uint64_t seed, uint32_t workers, test_manner manner, uint32_t entries)
{
    test_executor hostile = {.manner = manner, .workers = workers, .random = seed};
    const espl_executor executor = test_executor_of(&hostile);
    world_fixture w;

    world_fixture_begin(&w, seed, workers == 0 ? NULL : &executor);
    w.test.world->playback.part_entries = entries;
    world_fixture_record(&w, seed, 0);
    ck_assert_int_eq(espl_play(w.test.world, w.commands, NULL), ESPL_OK);
    test_world_is_valid(w.test.world);
    espl_command_buffer_destroy(w.commands);
    world_fixture_record(&w, seed + 1, 0);
    ck_assert_int_eq(espl_play(w.test.world, w.commands, NULL), ESPL_OK);
    const uint64_t hash = test_physical_hash(w.test.world);

    world_fixture_end(&w);
    return hash;
}

START_TEST(any_number_of_workers_and_any_parts_give_the_same_world)
{
    if (test_lacks_room(4096, "random worlds and their clones")) {
        return;
    }
    static const uint32_t workers[] = {1, 2, 3, 7, 16, 64};
    const uint64_t seeds = test_scaled(250);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        const uint64_t expected = play_in_parts(seed, 0, TEST_IN_ORDER, ESPL__PART_ENTRIES);

        for (size_t p = 0; p < sizeof part_entries / sizeof *part_entries; ++p) {
            for (size_t k = 0; k < sizeof workers / sizeof *workers; ++k) {
                const test_manner manner = (test_manner)((seed + k) % 3);

                ck_assert_msg(play_in_parts(seed, workers[k], manner, part_entries[p]) == expected,
                              "seed %llu, %u workers, parts of %u", (unsigned long long)seed,
                              workers[k], part_entries[p]);
            }
        }
    }
}
END_TEST

START_TEST(every_number_of_workers_up_to_64_gives_the_same_world)
{
    if (test_lacks_room(4096, "random worlds and their clones")) {
        return;
    }
    const uint64_t seeds = test_scaled(10);

    for (uint64_t seed = 5000; seed < 5000 + seeds; ++seed) {
        const uint64_t expected = play_in_parts(seed, 0, TEST_IN_ORDER, ESPL__PART_ENTRIES);

        for (uint32_t workers = 1; workers <= 64; ++workers) {
            ck_assert(play_in_parts(seed, workers, TEST_SHUFFLED, 1) == expected);
        }
    }
}
END_TEST

// --- Parts and memory ---

// Fail one allocation where several parts are under way. @return whether all went well at once.
static bool fail_in_parts(uint64_t seed, size_t fail_at, uint64_t expected)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executor = test_executor_of(&hostile);
    world_fixture w;

    world_fixture_begin(&w, seed, &executor);
    w.test.world->playback.part_entries = 2;
    world_fixture_record(&w, seed, 0);
    const uint64_t before = test_physical_hash(w.test.world);

    test_heap_arm(&w.test.heap, fail_at, true);
    const espl_status status = espl_play(w.test.world, w.commands, NULL);
    const bool is_done = w.test.heap.failures == 0;

    test_heap_arm(&w.test.heap, 0, false);
    if (status == ESPL_ERR_NO_MEMORY) {
        ck_assert_uint_eq(test_physical_hash(w.test.world), before);
        test_world_is_valid(w.test.world);
        ck_assert_int_eq(espl_play(w.test.world, w.commands, NULL), ESPL_OK);
        ck_assert_uint_eq(test_physical_hash(w.test.world), expected);
    } else {
        ck_assert_int_eq(status, ESPL_OK);
    }
    world_fixture_end(&w);
    return is_done;
}

START_TEST(parts_that_run_out_of_memory_are_all_taken_back)
{
    if (test_lacks_room(4096, "random worlds and their clones")) {
        return;
    }
    const uint64_t seeds = test_scaled(40);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        world_fixture w;

        world_fixture_begin(&w, seed, NULL);
        world_fixture_record(&w, seed, 0);
        ck_assert_int_eq(espl_play(w.test.world, w.commands, NULL), ESPL_OK);
        const uint64_t expected = test_physical_hash(w.test.world);

        world_fixture_end(&w);
        for (size_t fail_at = 1; !fail_in_parts(seed, fail_at, expected); ++fail_at) {
        }
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("commands/apply");
    TCase *const nodes = tcase_create("new nodes");
    TCase *const turns = tcase_create("turns");
    TCase *const parts = tcase_create("parts");

    tcase_add_checked_fixture(nodes, set_up, tear_down);
    tcase_add_test(nodes, a_clone_without_a_parent_stays_where_the_nursery_was);
    tcase_add_test(nodes, a_clone_that_got_a_child_is_copied_to_a_range_of_its_own_in_order);
    tcase_add_test(nodes, what_is_left_of_the_nursery_is_free_again);
    tcase_add_test(nodes, a_new_node_takes_the_end_of_the_range_of_its_parent);
    tcase_add_test(nodes, a_new_node_takes_a_hole_of_the_range_of_its_parent);
    tcase_add_test(nodes, a_tree_whose_range_is_full_comes_to_a_larger_one_with_all_new_nodes);
    tcase_add_test(nodes, any_number_of_new_nodes_finds_room);
    tcase_add_test(nodes, steady_instances_do_not_let_the_pool_grow);
    suite_add_tcase(suite, nodes);
    tcase_add_checked_fixture(turns, set_up, tear_down);
    tcase_add_test(turns, a_command_on_what_an_earlier_one_destroyed_is_refused);
    tcase_add_test(turns, a_cycle_that_an_earlier_command_would_close_is_refused);
    tcase_add_test(turns, a_cycle_that_an_earlier_command_opened_is_none);
    tcase_add_test(turns, what_comes_below_a_dead_parent_is_refused_or_a_root_as_its_command_says);
    tcase_add_test(turns, a_sibling_that_an_earlier_command_took_away_is_refused);
    tcase_add_test(turns, a_clone_shows_what_earlier_commands_made_of_its_source);
    tcase_add_test(turns, clones_below_their_source_double_it);
    tcase_add_test(turns, clones_of_clones_follow_their_turn);
    tcase_add_test(turns, a_group_that_is_applied_alone_is_as_if_played_by_itself);
    tcase_add_test(turns, a_stretch_that_comes_to_the_parent_later_reaches_a_node_without_transform);
    suite_add_tcase(suite, turns);
    tcase_add_test(parts, any_number_of_workers_and_any_parts_give_the_same_world);
    tcase_add_test(parts, every_number_of_workers_up_to_64_gives_the_same_world);
    tcase_add_test(parts, parts_that_run_out_of_memory_are_all_taken_back);
    suite_add_tcase(suite, parts);
    return suite;
}

RUN_SUITE(make_suite)

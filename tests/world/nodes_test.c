// SPDX-License-Identifier: MIT
// Calls that do in one step what a program does for each node of a scene: espl_create_node() and
// espl_spawn() are compared with the calls that they stand for, and are all or nothing;
// espl_get_children() with the walk over siblings; and a root is found by its name.
#include "tests/asked.h"
#include "tests/one_tree.h"

#include <string.h>

enum { NODES = 20, FAN = 3 };

FIXTURE(set_up, end);

// --- One node ---

TEST(a_node_is_made_with_its_parent_its_transform_and_its_name)
{
    const espl_transform local = test_at(1, 2, 3), identity = espl_transform_identity();
    espl_entity ship, mast, plain;

    ck_ok(espl_create_node(w, test_null, &local, "ship", &ship));
    ck_ok(espl_create_node(w, ship, &local, "mast", &mast));
    ck_ok(espl_create_node(w, mast, NULL, NULL, &plain));
    const espl_transform seen = test_world_of(w, mast), last = test_local_of(w, plain);

    ck_assert_int_eq(espl_get_role(w, ship), ESPL_ROLE_ROOT);
    ck_assert(espl_entity_equal(espl_get_parent(w, mast), ship));
    ck_assert_int_eq(espl_get_link(w, mast), ESPL_LINK_OWNED);
    ck_assert_float_eq(seen.position[2], 6);
    ck_assert(test_same(&last, &identity));
    ck_assert_str_eq(espl_get_name(w, ship), "ship");
    ck_assert_str_eq(espl_get_name(w, mast), "mast");
    ck_assert_str_eq(espl_get_name(w, plain), "");
}

// The handles and both hashes are those of the longer way.
TEST(a_node_is_what_a_creation_and_a_name_make)
{
    const espl_transform local = test_at(4, 5, 6);
    const espl_component_value placed = {ESPL_TRANSFORM, sizeof local, &local};
    espl_entity made[NODES];
    test_world other;

    test_world_begin(&other, 1, NULL);
    for (int i = 0; i < NODES; ++i) {
        const espl_entity parent = i == 0 ? test_null : made[(i - 1) / FAN];
        const espl_creation_def def = {.values = &placed, .value_count = 1, .parent = parent};
        espl_entity by_definition;

        ck_ok(espl_create_node(w, parent, &local, "part", &made[i]));
        ck_ok(espl_create_at(other.world, &def, 1, &by_definition));
        ck_ok(espl_set_name(other.world, by_definition, "part"));
        ck_assert(espl_entity_equal(made[i], by_definition));
    }
    ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(other.world));
    ck_assert_uint_eq(test_physical_hash(w), test_physical_hash(other.world));
    test_world_end(&other);
}

// Each allocation fails in turn, until the call needs no more.
TEST(a_node_without_memory_is_no_node_at_all)
{
    const espl_transform local = test_at(4, 5, 6);
    espl_entity top, made = test_null;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failed = 0;

    ck_ok(espl_create_node(w, test_null, NULL, "top", &top));
    const uint64_t before = test_physical_hash(w);

    for (size_t call = 1; status != ESPL_OK; ++call) {
        test_heap_arm(&test.heap, call, false);
        status = espl_create_node(w, top, &local, "a longer name than the other", &made);
        test_heap_arm(&test.heap, 0, false);
        if (status != ESPL_OK) {
            ck_status(status, ESPL_ERR_NO_MEMORY);
            ck_assert(espl_entity_is_null(made));
            ck_assert_uint_eq(test_physical_hash(w), before);
            ck_assert_uint_eq(test_count_children(w, top), 0);
            test_world_is_valid(w);
            failed += 1;
        }
    }
    ck_assert_uint_gt(failed, 1);
    ck_assert_str_eq(espl_get_name(w, made), "a longer name than the other");
}

// Its name is no reason to refuse: the text may be that of another entity.
TEST(a_node_takes_the_name_of_its_parent)
{
    espl_entity top, below;

    ck_ok(espl_create_node(w, test_null, NULL, "link", &top));
    ck_ok(espl_create_node(w, top, NULL, espl_get_name(w, top), &below));
    ck_ok(espl_destroy(w, top, ESPL_EXTENT_ENTITY));
    ck_assert_str_eq(espl_get_name(w, below), "link");
}

// --- One clone ---

TEST(a_node_with_a_name_that_is_refused_is_not_made)
{
    char long_name[ESPL_NAME_LIMIT + 2];

    memset(long_name, 'x', sizeof long_name);
    long_name[ESPL_NAME_LIMIT + 1] = '\0';
    espl_entity out = {7, 7};
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_create_node(w, test_null, NULL, long_name, &out), ESPL_ERR_LIMIT);
    ck_status(espl_create_node(w, test_null, NULL, "a/b", &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_create_node(w, test_null, NULL, "a\n", &out), ESPL_ERR_ARGUMENT);
    ck_assert(out.index == 7 && out.generation == 7);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    long_name[ESPL_NAME_LIMIT] = '\0';
    ck_ok(espl_create_node(w, test_null, NULL, long_name, &out));
    ck_assert_str_eq(espl_get_name(w, out), long_name);
}

TEST(a_spawn_is_what_its_recording_makes)
{
    const espl_transform local = test_at(4, 5, 6), own = test_at(7, 0, 0);
    espl_command_buffer *commands[2];
    espl_entity prefab[2], mount[2], made[2][3];
    test_world worlds[2];

    for (int k = 0; k < 2; ++k) {
        espl_world **const world = &worlds[k].world;

        test_world_begin(&worlds[k], 1, NULL);
        commands[k] = test_commands(*world, 1);
        ck_ok(espl_create_node(*world, test_null, &own, "prefab", &prefab[k]));
        ck_ok(espl_create_node(*world, prefab[k], &own, "part", NULL));
        ck_ok(espl_create_node(*world, test_null, &own, "mount", &mount[k]));
    }
    espl_recorder *const r = espl_command_buffer_recorder(commands[1], 0);
    const espl_entity parents[3] = {mount[0], mount[0], test_null};
    const espl_transform *const locals[3] = {&local, NULL, &local};

    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_spawn(worlds[0].world, prefab[0], parents[i], locals[i], &made[0][i]));
        ck_ok(espl_record_spawn(r, 0, prefab[1], parents[i], locals[i], &made[1][i]));
    }
    ck_ok(espl_play(worlds[1].world, commands[1], NULL));
    ck_assert_uint_eq(test_logical_hash(worlds[0].world), test_logical_hash(worlds[1].world));
    const espl_transform placed = test_local_of(worlds[0].world, made[0][0]);
    const espl_transform kept = test_local_of(worlds[0].world, made[0][1]);

    ck_assert(test_same(&placed, &local) && test_same(&kept, &own));
    ck_assert_int_eq(espl_get_role(worlds[0].world, made[0][2]), ESPL_ROLE_ROOT);
    for (int k = 0; k < 2; ++k) {
        espl_command_buffer_destroy(commands[k]);
        test_world_end(&worlds[k]);
    }
}

// --- Children ---

static void check_children(espl_entity parent)
{
    size_t count = 0;

    for (espl_entity child = espl_get_first_child(w, parent); !espl_entity_is_null(child);
         child = espl_get_next_sibling(w, child)) {
        count += 1;
    }
    espl_entity *const listed = test_array(count + 1, sizeof *listed);
    size_t at = 0;

    listed[count] = test_null;
    ck_assert_uint_eq(espl_get_children(w, parent, 0, NULL), count);
    if (count > 0) {
        ck_assert_uint_eq(espl_get_children(w, parent, count - 1, listed), count);
        ck_assert(espl_entity_is_null(listed[0]));
    }
    ck_assert_uint_eq(espl_get_children(w, parent, count, listed), count);
    ck_assert(espl_entity_is_null(listed[count]));
    for (espl_entity child = espl_get_first_child(w, parent); !espl_entity_is_null(child);
         child = espl_get_next_sibling(w, child)) {
        ck_assert(espl_entity_equal(listed[at++], child));
    }
    ck_assert_uint_eq(at, count);
    free(listed);
}

TEST(children_are_copied_in_their_order_or_not_at_all)
{
    node = make_trees(w, 1, NODES, FAN);
    for (int i = 0; i < NODES; ++i) {
        check_children(node[i]);
    }
    // Out of order in memory.
    ck_ok(espl_attach(w, node[NODES - 1], node[0], &(espl_attach_options){.before = node[2]}));
    ck_ok(espl_move_before(w, node[1], test_null));
    for (int i = 0; i < NODES; ++i) {
        check_children(node[i]);
    }
    ck_ok(espl_destroy(w, node[0], ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(espl_get_children(w, node[0], NODES, node), 0);
    ck_assert_uint_eq(espl_get_children(w, test_null, NODES, node), 0);
}

// --- Roots by name ---

static espl_entity find(const char *path)
{
    espl_entity found = {1, 1};

    ck_ok(espl_find_descendant(w, test_null, path, &found));
    return found;
}

TEST(a_root_is_found_by_its_name)
{
    espl_entity robot, arm, hand, second, solo;

    ck_assert(espl_entity_is_null(find("robot")));
    ck_ok(espl_create_node(w, test_null, NULL, "robot", &robot));
    ck_ok(espl_create_node(w, robot, NULL, "arm", &arm));
    ck_ok(espl_create_node(w, arm, NULL, "hand", &hand));
    ck_ok(espl_create_node(w, test_null, NULL, "robot", &second));
    ck_ok(espl_create_node(w, test_null, NULL, "lamp", &solo));
    ck_assert(espl_entity_equal(find("/robot"), robot));
    ck_assert(espl_entity_equal(find("robot"), robot));
    ck_assert(espl_entity_equal(find("/robot/arm/hand"), hand));
    ck_assert(espl_entity_equal(find("robot/arm"), arm));
    ck_assert(espl_entity_equal(find("arm/hand"), hand));
    ck_assert(espl_entity_equal(find("hand"), hand));
    ck_assert(espl_entity_equal(find("/lamp"), solo));
    ck_assert(espl_entity_is_null(find("/arm")) && espl_entity_is_null(find("/hand")));
    ck_assert(espl_entity_is_null(find("robot/hand")) && espl_entity_is_null(find("lamp/robot")));
    // The root with the lowest index is searched first, whatever became a root when.
    ck_ok(espl_set_name(w, second, "arm"));
    ck_assert(espl_entity_equal(find("arm"), arm));
    ck_ok(espl_detach(w, arm, ESPL_KEEP_WORLD));
    ck_assert(espl_entity_equal(find("/arm"), arm));
    ck_ok(espl_destroy(w, arm, ESPL_EXTENT_OWNED));
    ck_assert(espl_entity_equal(find("/arm"), second));
    ck_ok(espl_destroy(w, robot, ESPL_EXTENT_OWNED));
    ck_assert(espl_entity_is_null(find("robot")));
}

// SPDX-License-Identifier: MIT
// Schemes of the course that defer their work, against those that are simple: the same bits after
// any writes, and after any change of structure. Small shapes of the loads `mixed`, `full` with
// exceptional nodes and `spawn` by immediate calls, by all schemes that can play them.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"
#include "bench/draw.h"
#include "bench/loads/mixing.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

// Enough for a depth to have work for threads.
enum { trees = 300, tree_size = 83, node_count = trees * tree_size, frame_limit = 30 };

static const struct scheme *const deferred[] = {&scheme_dirty_stream, &scheme_clustered};

enum { deferred_count = sizeof deferred / sizeof *deferred };

static struct forest forest;

static void set_up(void)
{
    struct draw draw = draw_begin(7, 0);
    uint32_t parents[tree_size] = {NO_NODE};

    // Deep here, wide there.
    for (uint32_t i = 1; i < tree_size; ++i) {
        parents[i] = i % 3 == 0 ? i - 1 : draw_below(&draw, i);
    }
    forest = forest_create_copies(parents, tree_size, trees);
}

static void tear_down(void)
{
    forest_destroy(&forest);
}

/// A scheme's world, and the one that it must equal.
struct pair {
    const struct scheme *scheme;
    const struct scheme *model;
    struct scheme_world *world;
    struct scheme_world *expected;
};

static struct pair pair_create(const struct scheme *scheme, const struct scheme *model,
                               unsigned workers)
{
    return (struct pair){scheme, model, scheme->create(&forest, workers),
                         model->create(&forest, 1)};
}

static void pair_destroy(struct pair *pair)
{
    pair->scheme->destroy(pair->world);
    pair->model->destroy(pair->expected);
}

static void check_equal(const struct pair *pair)
{
    struct pose *const worlds = block_new(node_count, sizeof *worlds);
    struct pose *const expected = block_new(node_count, sizeof *expected);

    pair->scheme->copy_worlds(pair->world, worlds, node_count);
    pair->model->copy_worlds(pair->expected, expected, node_count);
    ck_assert_mem_eq(worlds, expected, node_count * sizeof *worlds);
    free(worlds);
    free(expected);
}

static void write_nodes(const struct pair *pair, const uint32_t *nodes, size_t count,
                        struct draw *draw)
{
    struct scheme_write *const ours = block_new(count, sizeof *ours);
    struct scheme_write *const theirs = block_new(count, sizeof *theirs);

    for (size_t i = 0; i < count; ++i) {
        const struct pose local = draw_pose(draw, MEMBER_SIDE);

        ours[i] = (struct scheme_write){pair->scheme->handle_of(pair->world, nodes[i]), local};
        theirs[i] = (struct scheme_write){pair->model->handle_of(pair->expected, nodes[i]), local};
    }
    pair->scheme->write(pair->world, ours, count);
    pair->model->write(pair->expected, theirs, count);
    free(ours);
    free(theirs);
}

// Write nodes of a tree in one frame, and again, so that nothing is left of the frame before.
static void check_writes(const uint32_t *nodes, size_t count)
{
    for (size_t i = 0; i < deferred_count; ++i) {
        struct draw draw = draw_begin(11, count);
        struct pair pair = pair_create(deferred[i], &scheme_flat, 1);

        for (int frame = 0; frame < 3; ++frame) {
            write_nodes(&pair, nodes, count, &draw);
            check_equal(&pair);
        }
        pair_destroy(&pair);
    }
}

// Return the child of a node that has the largest number.
static uint32_t last_child(uint32_t parent)
{
    uint32_t child = NO_NODE;

    for (uint32_t i = 0; i < node_count; ++i) {
        child = forest.parents[i] == parent ? i : child;
    }
    return child;
}

START_TEST(root_and_first_child_are_written_in_one_frame)
{
    const uint32_t root = forest_root(&forest, 5);

    check_writes((const uint32_t[]){root, root + 1}, 2);
    check_writes((const uint32_t[]){root + 1, root}, 2);
}
END_TEST

// Their subtrees end at the same node.
START_TEST(root_and_last_child_are_written_in_one_frame)
{
    const uint32_t root = forest_root(&forest, 5);
    const uint32_t child = last_child(root);

    ck_assert_uint_ne(child, NO_NODE);
    check_writes((const uint32_t[]){root, child}, 2);
    check_writes((const uint32_t[]){child, root}, 2);
    check_writes((const uint32_t[]){child, root, root + tree_size}, 3);
}
END_TEST

START_TEST(any_writes_give_the_same_bits)
{
    static const unsigned workers[] = {1, 2, 5};
    uint32_t *const nodes = block_new(node_count, sizeof *nodes);

    for (size_t i = 0; i < deferred_count * 3; ++i) {
        struct draw draw = draw_begin(13, i);
        struct pair pair = pair_create(deferred[i / 3], &scheme_flat, workers[i % 3]);

        for (int frame = 0; frame < frame_limit; ++frame) {
            const uint32_t limit = frame % 3 == 0 ? node_count : 1u << draw_below(&draw, 8);
            const uint32_t count = 1 + draw_below(&draw, limit);

            for (uint32_t n = 0; n < count; ++n) {
                nodes[n] = draw_below(&draw, node_count);
            }
            write_nodes(&pair, nodes, count, &draw);
            check_equal(&pair);
        }
        pair_destroy(&pair);
    }
    free(nodes);
}
END_TEST

START_TEST(copies_of_a_tree_are_that_tree)
{
    struct forest tree = forest_create_copies(forest.parents, tree_size, 1);
    struct pose *const worlds = block_new(node_count, sizeof *worlds);
    struct pose *const expected = block_new(node_count, sizeof *expected);
    struct pose roots[trees];
    struct draw draw = draw_begin(17, 0);

    for (uint32_t i = 0; i < trees; ++i) {
        roots[i] = draw_pose(&draw, ROOT_SIDE);
    }

    struct scheme_world *const model = scheme_flat.create_copies(&tree, roots, trees, 1);
    scheme_flat.copy_worlds(model, expected, node_count);
    for (size_t i = 0; i < deferred_count; ++i) {
        struct scheme_world *const world = deferred[i]->create_copies(&tree, roots, trees, 2);

        deferred[i]->copy_worlds(world, worlds, node_count);
        ck_assert_mem_eq(worlds, expected, node_count * sizeof *worlds);
        deferred[i]->destroy(world);
    }
    scheme_flat.destroy(model);
    free(worlds);
    free(expected);
    forest_destroy(&tree);
}
END_TEST

static bool is_below(const uint32_t *parents, uint32_t node, uint32_t top)
{
    while (node != NO_NODE && node != top) {
        node = parents[node];
    }
    return node == top;
}

static struct scheme_move move_of(const struct scheme *scheme, struct scheme_world *world,
                                  uint32_t node, uint32_t parent)
{
    return (struct scheme_move){scheme->handle_of(world, node), scheme->handle_of(world, parent)};
}

// Not only leaves: whole subtrees go up and down in depth.
START_TEST(subtrees_move_anywhere)
{
    const struct scheme *const scheme = &scheme_clustered;
    struct pair pair = pair_create(scheme, &scheme_linked, 2);
    struct draw draw = draw_begin(19, 0);
    uint32_t *const parents = block_copy(forest.parents, node_count, sizeof *parents);

    for (int i = 0; i < 2000; ++i) {
        const uint32_t node = draw_below(&draw, node_count);
        const uint32_t parent = draw_below(&draw, node_count);

        if (is_below(parents, parent, node)) {
            continue;
        }
        parents[node] = parent;

        const struct scheme_move ours = move_of(scheme, pair.world, node, parent);
        const struct scheme_move theirs = move_of(&scheme_linked, pair.expected, node, parent);
        if (i % 2 == 0) {
            scheme->reparent(pair.world, &ours, 1);
            scheme_linked.reparent(pair.expected, &theirs, 1);
        } else {
            scheme->regraft(pair.world, &ours, 1);
            scheme_linked.regraft(pair.expected, &theirs, 1);
        }
        if (i % 50 == 0) {
            check_equal(&pair);
        }
    }
    check_equal(&pair);
    free(parents);
    pair_destroy(&pair);
}
END_TEST

enum { spawn_limit = 300 };

/// Prefabs of one world.
struct litter {
    const struct scheme *scheme;
    struct scheme_world *world;
    struct scheme_spawn spawns[spawn_limit];
    scheme_handle alive[spawn_limit], made[spawn_limit];
    size_t alive_count;
};

// The prefabs of the frame before go, others come.
static void spawn_frame(struct litter *litter, uint64_t seed, uint32_t count)
{
    struct draw draw = draw_begin(23, seed);

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t parent = draw_below(&draw, node_count);

        litter->spawns[i].parent = litter->scheme->handle_of(litter->world, parent);
        litter->spawns[i].local = draw_pose(&draw, MEMBER_SIDE);
    }

    const struct scheme_spawn_frame frame = {.spawns = litter->spawns,
                                             .spawn_count = count,
                                             .doomed = litter->alive,
                                             .doomed_count = litter->alive_count,
                                             .made = litter->made};
    litter->scheme->spawn(litter->world, &frame);
    memcpy(litter->alive, litter->made, sizeof litter->alive);
    litter->alive_count = count;
}

START_TEST(prefabs_come_and_go)
{
    struct pair pair = pair_create(&scheme_clustered, &scheme_linked, 1);
    struct litter ours = {.scheme = &scheme_clustered, .world = pair.world};
    struct litter theirs = {.scheme = &scheme_linked, .world = pair.expected};
    struct pose prefab[PREFAB_SIZE];
    struct draw draw = draw_begin(29, 0);

    for (int i = 0; i < PREFAB_SIZE; ++i) {
        prefab[i] = draw_pose(&draw, MEMBER_SIDE);
    }
    scheme_clustered.make_prefab(pair.world, prefab);
    scheme_linked.make_prefab(pair.expected, prefab);

    for (uint32_t frame = 0; frame < frame_limit; ++frame) {
        const uint32_t count = 1 + draw_below(&draw, spawn_limit);

        spawn_frame(&ours, frame, count);
        spawn_frame(&theirs, frame, count);
        for (uint32_t i = 0; i < count; ++i) {
            struct pose made[PREFAB_SIZE], expected[PREFAB_SIZE];

            scheme_clustered.spawn_worlds(pair.world, ours.alive[i], made);
            scheme_linked.spawn_worlds(pair.expected, theirs.alive[i], expected);
            ck_assert_mem_eq(made, expected, sizeof made);
        }

        const uint32_t written = draw_below(&draw, node_count);
        write_nodes(&pair, &written, 1, &draw);
        check_equal(&pair);
    }
    pair_destroy(&pair);
}
END_TEST

enum { small_trees = 6, small_nodes = small_trees * mixing_tree_size, small_count = 8 };

static struct forest small_forest(void)
{
    return forest_create((struct forest_shape){small_trees, mixing_tree_size, mixing_fan});
}

/// A scheme with a number of workers.
struct player {
    const struct scheme *scheme;
    unsigned workers;
};

static const struct player players[] = {
    {&scheme_flat, 1}, {&scheme_linked, 1}, {&scheme_espalier, 1}, {&scheme_espalier, 3}};

enum { player_count = sizeof players / sizeof *players };

// Shrunken limits leave a world of the library too few entities, and some builds have no threads.
static bool can_take_part(const struct player *player)
{
    const bool is_library = player->scheme == &scheme_espalier;

    if (is_library && test_limits_of_build().entities < 1000) {
        return false;
    }
    return player->workers == 1 || player->scheme->worker_limit() >= player->workers;
}

/// Worlds of the small forest and of all living prefabs behind it.
enum { mixed_worlds = small_nodes + mixing_life * small_count * PREFAB_SIZE };

// Play frames with extras and copy out the worlds. [mixed_worlds] out.
static void play_mixed(const struct player *player, unsigned drawn, unsigned extras,
                       struct pose *out)
{
    const struct scheme *const scheme = player->scheme;
    struct forest trees_of_12 = small_forest();
    struct mixing mixing = mixing_create(small_trees, small_count, drawn, extras);
    struct scheme_world *const world = scheme->create(&trees_of_12, player->workers);
    scheme_handle made[mixing_life][small_count];
    scheme_handle just_made[small_count];

    mixing_set_up(&mixing, scheme, world);
    for (unsigned frame = 0; frame < 2 * mixing_life; ++frame) {
        scheme_handle *const oldest = made[frame % mixing_life];

        mixing_draw(&mixing, scheme, world, frame);
        mixing_play(&mixing, scheme, world, frame < mixing_life ? NULL : oldest, just_made);
        memcpy(oldest, just_made, sizeof just_made);
    }

    scheme->copy_worlds(world, out, small_nodes);
    for (uint32_t i = 0; i < mixing_life * small_count; ++i) {
        scheme->spawn_worlds(world, made[i / small_count][i % small_count],
                             out + small_nodes + (size_t)PREFAB_SIZE * i);
    }
    scheme->destroy(world);
    mixing_destroy(&mixing);
    forest_destroy(&trees_of_12);
}

// Play with each scheme that can, and compare the worlds. Return how many schemes played.
static int check_mixed(unsigned drawn, unsigned extras)
{
    struct pose *const first = block_new(mixed_worlds, sizeof *first);
    struct pose *const worlds = block_new(mixed_worlds, sizeof *worlds);
    int count = 0;

    for (size_t i = 0; i < player_count; ++i) {
        if (can_take_part(&players[i]) && mixing_is_for(players[i].scheme, extras)) {
            play_mixed(&players[i], drawn, extras, count == 0 ? first : worlds);
            if (count > 0) {
                ck_assert_mem_eq(worlds, first, mixed_worlds * sizeof *worlds);
            }
            ++count;
        }
    }
    free(first);
    free(worlds);
    return count;
}

START_TEST(each_extra_of_a_mixed_frame_comes_to_the_same_worlds)
{
    const bool has_library = can_take_part(&players[2]);

    for (unsigned extra = 1; (extra & MIXING_ALL_EXTRAS) != 0; extra <<= 1) {
        const int count = check_mixed(extra, extra);
        const bool is_of_linked = mixing_is_for(&scheme_linked, extra);

        ck_assert_int_ge(count, (int)has_library + (int)is_of_linked);
        ck_assert_int_ge(check_mixed(extra, 0), 1 + (int)has_library);
    }
    check_mixed(MIXING_ALL_EXTRAS, MIXING_ALL_EXTRAS);
    check_mixed(scheme_linked.extras, scheme_linked.extras);
}
END_TEST

// World transforms do not depend on these extras.
START_TEST(values_order_counts_and_references_do_not_change_worlds)
{
    const unsigned hidden =
        EXTRA_VALUES | EXTRA_NEW_VALUES | EXTRA_BEFORE | EXTRA_COUNT | EXTRA_REFERENCES;
    struct pose *const plain = block_new(mixed_worlds, sizeof *plain);
    struct pose *const mixed = block_new(mixed_worlds, sizeof *mixed);

    for (size_t i = 0; i < player_count; ++i) {
        if (can_take_part(&players[i]) && mixing_is_for(players[i].scheme, hidden)) {
            play_mixed(&players[i], hidden, 0, plain);
            play_mixed(&players[i], hidden, hidden, mixed);
            ck_assert_mem_eq(mixed, plain, mixed_worlds * sizeof *mixed);
        }
    }
    free(plain);
    free(mixed);
}
END_TEST

// Write all roots and read all worlds but those of the exceptional nodes. [small_nodes] out.
static void play_exceptional(const struct player *player, enum scheme_exception kind, uint32_t rank,
                             struct pose *out)
{
    const struct scheme *const scheme = player->scheme;
    struct forest trees_of_12 = small_forest();
    struct scheme_world *const world = scheme->create(&trees_of_12, player->workers);
    struct draw draw = draw_begin(31, 0);
    scheme_handle nodes[small_trees];
    struct scheme_write writes[small_trees];

    for (uint32_t tree = 0; tree < small_trees; ++tree) {
        const uint32_t root = forest_root(&trees_of_12, tree);

        nodes[tree] = scheme->handle_of(world, root + rank);
        writes[tree] =
            (struct scheme_write){scheme->handle_of(world, root), draw_pose(&draw, ROOT_SIDE)};
    }
    if (scheme->except != NULL) {
        scheme->except(world, kind, nodes, small_trees);
    }
    scheme->write(world, writes, small_trees);

    memset(out, 0, small_nodes * sizeof *out);
    for (uint32_t node = 0; scheme->world_of != NULL && node < small_nodes; ++node) {
        if (node % mixing_tree_size != rank) {
            out[node] = scheme->world_of(world, scheme->handle_of(world, node));
        }
    }
    if (scheme->world_of == NULL) {
        scheme->copy_worlds(world, out, small_nodes);
        for (uint32_t node = rank; node < small_nodes; node += mixing_tree_size) {
            memset(&out[node], 0, sizeof out[node]);
        }
    }
    scheme->destroy(world);
    forest_destroy(&trees_of_12);
}

START_TEST(exceptional_leaves_do_not_change_other_worlds)
{
    enum { leaf = 8 };
    struct pose plain[small_nodes], worlds[small_nodes];

    play_exceptional(&players[1], EXCEPTION_CONTEXT, leaf, plain);
    for (int kind = EXCEPTION_FLAG; kind <= EXCEPTION_DESTROYED; ++kind) {
        for (size_t i = 0; i < player_count; ++i) {
            if (can_take_part(&players[i]) && (players[i].scheme->exceptions & 1u << kind) != 0) {
                play_exceptional(&players[i], (enum scheme_exception)kind, leaf, worlds);
                ck_assert_mem_eq(worlds, plain, sizeof worlds);
            }
        }
    }
}
END_TEST

START_TEST(children_see_a_stretch_whatever_the_workers)
{
    enum { inner = 2 };
    struct pose plain[small_nodes], one[small_nodes], more[small_nodes];

    if (can_take_part(&players[3])) {
        play_exceptional(&players[2], EXCEPTION_CONTEXT, inner, plain);
        play_exceptional(&players[2], EXCEPTION_STRETCH, inner, one);
        play_exceptional(&players[3], EXCEPTION_STRETCH, inner, more);
        ck_assert_mem_eq(more, one, sizeof one);
        ck_assert_mem_ne(one, plain, sizeof one);
    }
}
END_TEST

// Make and destroy prefabs, and read the worlds of the last ones. [small_count * PREFAB_SIZE] out.
static void play_spawns(const struct player *player, bool is_at_once, struct pose *out)
{
    const struct scheme *const scheme = player->scheme;
    struct forest trees_of_12 = small_forest();
    struct scheme_world *const world = scheme->create(&trees_of_12, player->workers);
    struct pose prefab[PREFAB_SIZE] = {trees_of_12.locals[1], trees_of_12.locals[2],
                                       trees_of_12.locals[3]};
    scheme_handle alive[small_count] = {0}, made[small_count];

    scheme->make_prefab(world, prefab);
    for (uint32_t frame = 0; frame < 8; ++frame) {
        struct scheme_spawn spawns[small_count];
        struct draw draw = draw_begin(37, frame);

        for (uint32_t i = 0; i < small_count; ++i) {
            spawns[i].parent = scheme->handle_of(world, draw_below(&draw, small_nodes));
            spawns[i].local = draw_pose(&draw, MEMBER_SIDE);
        }

        const struct scheme_spawn_frame work = {.spawns = spawns,
                                                .spawn_count = small_count,
                                                .doomed = alive,
                                                .doomed_count = frame == 0 ? 0 : small_count,
                                                .made = made};
        (is_at_once ? scheme->spawn_each : scheme->spawn)(world, &work);
        memcpy(alive, made, sizeof alive);
    }
    for (uint32_t i = 0; i < small_count; ++i) {
        scheme->spawn_worlds(world, alive[i], out + (size_t)PREFAB_SIZE * i);
    }
    scheme->destroy(world);
    forest_destroy(&trees_of_12);
}

START_TEST(prefabs_at_once_are_those_of_a_batch)
{
    struct pose batched[small_count * PREFAB_SIZE], worlds[small_count * PREFAB_SIZE];

    play_spawns(&players[1], false, batched);
    for (size_t i = 1; i < player_count; ++i) {
        if (can_take_part(&players[i])) {
            play_spawns(&players[i], false, worlds);
            ck_assert_mem_eq(worlds, batched, sizeof worlds);
            play_spawns(&players[i], true, worlds);
            ck_assert_mem_eq(worlds, batched, sizeof worlds);
        }
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("schemes");
    TCase *const schemes = tcase_create("schemes");

    tcase_add_checked_fixture(schemes, set_up, tear_down);
    tcase_add_test(schemes, root_and_first_child_are_written_in_one_frame);
    tcase_add_test(schemes, root_and_last_child_are_written_in_one_frame);
    tcase_add_test(schemes, any_writes_give_the_same_bits);
    tcase_add_test(schemes, copies_of_a_tree_are_that_tree);
    tcase_add_test(schemes, subtrees_move_anywhere);
    tcase_add_test(schemes, prefabs_come_and_go);
    suite_add_tcase(suite, schemes);

    TCase *const loads = tcase_create("loads");

    tcase_add_test(loads, each_extra_of_a_mixed_frame_comes_to_the_same_worlds);
    tcase_add_test(loads, values_order_counts_and_references_do_not_change_worlds);
    tcase_add_test(loads, exceptional_leaves_do_not_change_other_worlds);
    tcase_add_test(loads, children_see_a_stretch_whatever_the_workers);
    tcase_add_test(loads, prefabs_at_once_are_those_of_a_batch);
    suite_add_tcase(suite, loads);
    return suite;
}

RUN_SUITE(make_suite)

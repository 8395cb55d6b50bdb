// SPDX-License-Identifier: MIT
// Schemes of the course that defer their work, compared with the simple ones: the same bits after
// writes and after changes of structure. tests/tools/course_test.sh compares all schemes on the
// loads of the course.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"
#include "bench/draw.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

// Enough for a depth to have work for threads.
enum { trees = 300, tree_size = 83, node_count = trees * tree_size, frame_limit = 30 };

static const struct scheme *const deferred[] = {&scheme_dirty_stream, &scheme_clustered,
                                                &scheme_deferred};

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
    // One scheme has no general way: it waits here, and writes at once there.
    if (pair->scheme->write != NULL) {
        pair->scheme->write(pair->world, ours, count);
    } else if (count % 2 == 0) {
        pair->scheme->write_batch(pair->world, ours, count);
    } else {
        pair->scheme->write_each(pair->world, ours, count);
    }
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

FIXTURE(set_up, tear_down);

TEST(root_and_first_child_are_written_in_one_frame)
{
    const uint32_t root = forest_root(&forest, 5);

    check_writes((const uint32_t[]){root, root + 1}, 2);
    check_writes((const uint32_t[]){root + 1, root}, 2);
}

// Their subtrees end at the same node.
TEST(root_and_last_child_are_written_in_one_frame)
{
    const uint32_t root = forest_root(&forest, 5);
    const uint32_t child = last_child(root);

    ck_assert_uint_ne(child, NO_NODE);
    check_writes((const uint32_t[]){root, child}, 2);
    check_writes((const uint32_t[]){child, root}, 2);
    check_writes((const uint32_t[]){child, root, root + tree_size}, 3);
}

TEST(any_writes_give_the_same_bits)
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

TEST(copies_of_a_tree_are_that_tree)
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
    for (size_t i = 0; i < deferred_count && deferred[i]->create_copies != NULL; ++i) {
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
TEST(subtrees_move_anywhere)
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

TEST(prefabs_come_and_go)
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

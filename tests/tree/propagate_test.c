// SPDX-License-Identifier: MIT
// Worlds from locals: the same bits for every order of slots, every way to visit the nodes below
// one, every kernel, every cut of a range and any number of workers. The oracle is the public
// formula of inherit flags.
#include "tests/tree/edits.h"

enum { NODES = 96, LARGE = 1500 };

static espl__context context;
static espl__frame frames[LARGE * 2];

// The ways to recompute what is below a node.
typedef enum way { BELOW, BY_LINKS, SWEEP, CUT_SWEEPS, WAYS } way;

static void set_up(void)
{
    fixture_begin(&fix);
    memset(&context, 0, sizeof context);
}

static void tear_down(void)
{
    fixture_end(&fix);
}

// --- Trees ---

// The same tree as a list of parents: node i > 0 has a parent below i, and siblings ascend.
typedef struct shape {
    uint32_t size, parents[LARGE];
} shape;

// Breadth-first: parents ascend. @param reach  1: a star; many: nearly a chain.
static shape random_shape(uint32_t size, uint32_t reach, uint64_t *random)
{
    shape s = {.size = size};

    for (uint32_t i = 2; i < size; ++i) {
        const uint32_t last = s.parents[i - 1], room = i - last < reach ? i - last : reach;

        s.parents[i] = last + test_below(random, room);
    }
    return s;
}

// Node i is entity first + i.
static uint32_t in_order(const shape *s)
{
    const uint32_t tree = fixture_tree(&fix, s->size), first = fix.entities - 1;

    for (uint32_t i = 1; i < s->size; ++i) {
        (void)fixture_add(&fix, fix.slots[first + s->parents[i]], ESPL__NO_SLOT);
    }
    ck_assert(fixture_is_breadth_first(&fix, tree));
    return tree;
}

// The sibling that comes next in the shape among those that are there.
static uint32_t next_of(const shape *s, const uint32_t *slots, uint32_t node)
{
    for (uint32_t i = node + 1; i < s->size; ++i) {
        if (s->parents[i] == s->parents[node] && slots[i] != ESPL__NO_SLOT) {
            return slots[i];
        }
    }
    return ESPL__NO_SLOT;
}

// A hole may hold anything.
static void spoil_holes(uint32_t tree)
{
    for (uint32_t hole = forest->trees[tree].hole; hole != ESPL__NO_SLOT;
         hole = forest->links[hole].next) {
        forest->local[hole].scale = NAN;
        forest->local[hole].position[1] = INFINITY;
        espl__world_store(espl__worlds_of(forest), hole, &forest->local[hole]);
    }
}

// Nodes come in a random order, parents first, with holes between them.
static uint32_t out_of_order(const shape *s, uint64_t *random)
{
    static uint32_t slots[LARGE], extra[LARGE];
    const uint32_t tree = fixture_tree(&fix, 2 * s->size), first = fix.entities - 1;
    uint32_t left = s->size - 1, extras = 0;

    memset(slots, 0xff, sizeof slots);
    slots[0] = forest->trees[tree].base;
    while (left != 0) {
        const uint32_t node = 1 + test_below(random, s->size - 1);

        if (slots[node] != ESPL__NO_SLOT || slots[s->parents[node]] == ESPL__NO_SLOT) {
            continue;
        }
        if (test_one_in(random, 4) && extras < s->size / 2) {
            extra[extras++] = fixture_add(&fix, slots[0], ESPL__NO_SLOT);
        }
        slots[node] = fixture_add(&fix, slots[s->parents[node]], next_of(s, slots, node));
        left -= 1;
    }
    while (extras > 0) {
        fixture_remove(&fix, extra[--extras]);
    }
    fix.entities = first;
    for (uint32_t i = 0; i < s->size; ++i) {
        forest->links[slots[i]].entity = fix.entities;
        espl__probe_node(&forest->columns, slots[i], fix.entities);
        fix.slots[fix.entities++] = slots[i];
    }
    spoil_holes(tree);
    return tree;
}

// A small tree, in order where `seed` is even.
static uint32_t some_tree(uint64_t seed, uint64_t *random)
{
    const uint32_t size = 2 + test_below(random, NODES - 1);
    const shape s = random_shape(size, 1 + test_below(random, 6), random);

    return seed % 2 == 0 ? in_order(&s) : out_of_order(&s, random);
}

// --- The oracle ---

static bool is_same(const espl_pose *a, const espl_pose *b)
{
    const espl__extra none = espl__extra_default();
    const espl_transform x = espl__transform_of(a, &none), y = espl__transform_of(b, &none);

    return test_same(&x, &y);
}

static void check_worlds(uint32_t tree, const char *name, way w)
{
    const espl__tree *const t = &forest->trees[tree];

    fixture_frames(&fix, tree, frames);
    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        const espl__frame *const frame = &frames[slot - t->base];
        const espl__extra extra = espl__slot_extra(forest, slot);

        if (!fixture_is_node(forest, slot)) {
            continue;
        }
        ck_assert_msg(is_same(&frame->world, &forest->world[slot]), "kernel %s, way %u, slot %u",
                      name, w, slot - t->base);
        ck_assert_msg(memcmp(extra.stretch, frame->extra.stretch, sizeof extra.stretch) == 0,
                      "stretch, kernel %s, way %u, slot %u", name, w, slot - t->base);
        ck_assert(espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ==
                  espl__slot_is_exceptional(forest, slot));
    }
}

static uint64_t count_below(uint32_t slot, bool counts_all)
{
    uint64_t count = 0;

    for (uint32_t at = espl__next_in_walk(forest, slot, slot, true); at != ESPL__NO_SLOT;
         at = espl__next_in_walk(forest, at, slot, true)) {
        count += counts_all || !espl__pose_is_finite(&forest->world[at]) ? 1 : 0;
    }
    return count;
}

// --- Changes ---

// Change what a node stores, and its own world. What is below is out of date then.
static void change(uint32_t slot, const espl_pose *pose, float stretch, bool changes_stretch)
{
    espl__placement placement = espl__slot_placement(forest, slot);

    placement.local = *pose;
    if (changes_stretch && !espl__slot_copies(forest, slot)) {
        placement.extra.stretch[1] = stretch;
    }
    if (!espl__slot_copies(forest, slot)) {
        fixture_place(&fix, slot, &placement);
    }
    fixture_follow(forest, slot);
}

static void go(uint32_t tree, uint32_t slot, way w, uint64_t *random)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t end = t->base + t->used;
    uint32_t begin = slot + 1;

    switch (w) {
    case BELOW:
        espl__propagate_below(forest, &context, slot);
        break;
    case BY_LINKS:
        espl__propagate_by_links(forest, &context, slot);
        break;
    case SWEEP:
        espl__sweep(forest, &context, tree, begin, end);
        break;
    default:
        while (begin < end) {
            const uint32_t cut = begin + 1 + test_below(random, end - begin);

            espl__sweep(forest, &context, tree, begin, cut);
            begin = cut;
        }
        break;
    }
}

// Copy what the nodes of one tree store to those of another of the same shape.
static void copy_placements(uint32_t from, uint32_t to, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i) {
        const uint32_t slot = fix.slots[to + i], other = fix.slots[from + i];
        const espl__placement placement = espl__slot_placement(forest, other);

        fixture_place(&fix, slot, &placement);
        if (espl__slot_is(forest, other, ESPL__SLOT_BARE)) {
            espl__slot_set_bare(forest, slot, true);
        }
        espl__world_store(espl__worlds_of(forest), slot, &forest->world[other]);
    }
}

// Both forms of a tree go through the same changes, each by every way, with one kernel.
static void check_kernel(const espl__kernels *kernels, uint64_t seed)
{
    uint64_t random = seed;
    const uint32_t size = 2 + test_below(&random, NODES - 1);
    const shape s = random_shape(size, 1 + test_below(&random, 6), &random);
    const uint32_t straight = in_order(&s);
    const uint32_t first = fix.entities - size;

    forest->kernels = kernels;
    fixture_pose_all(&fix, straight, seed % 3 == 0 ? 0 : 1 + test_below(&random, 16), &random);
    const uint32_t crooked = out_of_order(&s, &random);
    const uint32_t second = fix.entities - size;

    copy_placements(first, second, size);
    for (uint32_t i = 0; i < 2 * WAYS; ++i) {
        const uint32_t node = test_below(&random, test_one_in(&random, 2) ? 1 : size);
        const espl_pose pose = fixture_pose(&random);
        const float stretch = test_one_in(&random, 2) ? 1 : 2;
        const bool changes_stretch = test_one_in(&random, 4);
        const way w = (way)(i % WAYS);

        change(fix.slots[first + node], &pose, stretch, changes_stretch);
        change(fix.slots[second + node], &pose, stretch, changes_stretch);
        go(straight, fix.slots[first + node], w, &random);
        go(crooked, fix.slots[second + node], w, &random);
        check_worlds(straight, kernels->name, w);
        check_worlds(crooked, kernels->name, w);
        for (uint32_t k = 0; k < size; ++k) {
            ck_assert_mem_eq(&forest->world[fix.slots[first + k]],
                             &forest->world[fix.slots[second + k]], sizeof(espl_pose));
        }
    }
}

FIXTURE(set_up, tear_down);

TEST(every_way_and_every_kernel_give_the_same_worlds_in_any_order)
{
    const espl__kernels *kernels[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(kernels);
    const uint64_t seeds = test_scaled(1500);

    ck_assert_uint_gt(count, 0);
    for (uint64_t seed = 0; seed < seeds; ++seed) {
        for (size_t i = 0; i < count; ++i) {
            check_kernel(kernels[i], seed);
            begin_again();
        }
    }
}

TEST(workers_give_the_same_worlds)
{
    static const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    const uint64_t seeds = test_scaled(120);
    bool is_closed = false;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t size = 200 + test_below(&random, LARGE - 200);
        const shape s = random_shape(size, 1 + test_below(&random, 200), &random);
        const uint32_t tree = in_order(&s);
        test_executor executor = {
            .manner = manners[seed % 3], .workers = 1 + (uint32_t)(seed % 9), .random = seed};
        const espl_executor hostile = test_executor_of(&executor);

        forest->grain = 8;
        context.workers = (espl__workers){&hostile, NULL, &is_closed};
        fixture_pose_all(&fix, tree, seed % 2 == 0 ? 0 : 40, &random);
        for (int i = 0; i < 8; ++i) {
            const uint32_t slot = forest->trees[tree].base + test_below(&random, 1 + size / 4);
            const espl_pose pose = fixture_pose(&random);
            const uint64_t before = context.counts.nodes_visited;

            change(slot, &pose, 1, false);
            espl__propagate_below(forest, &context, slot);
            check_worlds(tree, forest->kernels->name, BELOW);
            ck_assert_uint_eq(context.counts.nodes_visited - before, count_below(slot, true));
        }
        ck_assert(!is_closed);
        begin_again();
    }
}

// --- Counts ---

TEST(visited_nodes_are_counted_and_what_is_visited_in_vain_is_debt)
{
    const uint64_t seeds = test_scaled(2000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t size = 2 + test_below(&random, NODES - 1);
        const shape s = random_shape(size, 1 + test_below(&random, 6), &random);
        const uint32_t straight = in_order(&s), crooked = out_of_order(&s, &random);

        fixture_pose_all(&fix, straight, 0, &random);
        fixture_pose_all(&fix, crooked, 0, &random);
        for (int i = 0; i < 6; ++i) {
            const uint32_t trees[] = {straight, crooked};
            const uint32_t tree = trees[i % 2], slot = fixture_node_of(&fix, tree, &random);
            const uint64_t below = count_below(slot, true);
            const espl__counts before = context.counts;

            espl__propagate_below(forest, &context, slot);
            const uint64_t visited = context.counts.nodes_visited - before.nodes_visited;
            const uint64_t debt = context.counts.debt - before.debt;

            ck_assert_uint_ge(visited, below);
            // A slot that a sweep passes costs less than a node that is found by links.
            ck_assert_uint_le(visited, below + 3 * debt);
            if (tree == straight) {
                ck_assert_uint_eq(debt, 0);
            }
            espl__propagate_by_links(forest, &context, slot);
            ck_assert_uint_eq(context.counts.nodes_visited - before.nodes_visited, visited + below);
            ck_assert_uint_eq(context.counts.debt - before.debt, debt);
        }
        begin_again();
    }
}

static void check_overflow(uint32_t tree, uint32_t slot, const espl_pose *pose, way w,
                           uint64_t *random)
{
    context.has_overflowed = false;
    change(slot, pose, 1, false);
    go(tree, slot, w, random);
    check_worlds(tree, forest->kernels->name, w);
    const bool is_below = count_below(slot, false) != 0;
    // After a sweep the flag is a hint, because the sum of large finite numbers may be infinite.
    const bool may_be = is_below || !espl__pose_is_finite(&forest->world[slot]) || w >= SWEEP;

    ck_assert_msg(context.has_overflowed ? may_be : !is_below, "way %u: %d", w, is_below);
}

// Sums of large finite numbers raise a false alarm in the kernels.
TEST(worlds_that_are_not_finite_are_found_exactly)
{
    const espl__kernels *kernels[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(kernels);
    const uint64_t seeds = test_scaled(2000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = some_tree(seed, &random);
        const uint32_t size = forest->trees[tree].live;

        forest->kernels = kernels[seed % count];
        fixture_pose_all(&fix, tree, 0, &random);
        for (uint32_t i = 0; i < size / 4 + 1; ++i) {
            const uint32_t slot = fixture_node_of(&fix, tree, &random);

            forest->local[slot].position[test_below(&random, 3)] =
                test_one_in(&random, 2) ? 0x1.8p127f : 0x1p126f;
            forest->local[slot].scale = test_one_in(&random, 3) ? 0x1p60f : 1;
        }
        const uint32_t root = forest->trees[tree].base;

        espl__world_store(espl__worlds_of(forest), root, &forest->local[root]);
        espl__propagate_by_links(forest, &context, root);
        for (uint32_t i = 0; i < 8; ++i) {
            const espl_pose huge = {{0, 0, 0, 1}, {0x1.8p127f, 0x1.8p127f, 0}, 0x1p100f};
            const espl_pose pose = i % 4 == 0 ? huge : fixture_pose(&random);
            const bool is_whole = i % WAYS >= SWEEP;

            check_overflow(tree, is_whole ? root : fixture_node_of(&fix, tree, &random), &pose,
                           (way)(i % WAYS), &random);
        }
        begin_again();
    }
}

// Compaction changes no answer. Below a node that keeps its whole world nothing changes, and a world there
// is not finite.
TEST(an_overflow_is_found_in_a_tree_in_order_as_in_another_one)
{
    for (int is_crooked = 0; is_crooked < 2; ++is_crooked) {
        const uint32_t tree = fixture_tree(&fix, 5), root = forest->trees[tree].base;
        const uint32_t top = fixture_add(&fix, root, ESPL__NO_SLOT);
        const uint32_t keeper = fixture_add(&fix, top, ESPL__NO_SLOT);
        const uint32_t other = fixture_add(&fix, top, is_crooked ? keeper : ESPL__NO_SLOT);
        const uint32_t hidden = fixture_add(&fix, keeper, ESPL__NO_SLOT);
        const espl_pose huge = {{0, 0, 0, 1}, {0, 0, 0}, 0x1p100f};
        espl__placement placement = espl__placement_identity();

        ck_assert(fixture_is_breadth_first(&fix, tree) == (is_crooked == 0));
        placement.kept = espl__kept_of(&huge, ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION |
                                                  ESPL_ABSOLUTE_SCALE);
        fixture_place(&fix, keeper, &placement);
        forest->local[hidden] = huge;
        espl__propagate_by_links(forest, &context, root);
        espl__propagate_by_links(forest, &context, keeper);
        ck_assert(!espl__pose_is_finite(&forest->world[hidden]));
        const espl_pose pose = {{0, 0, 0, 1}, {1, 2, 3}, 1};

        change(top, &pose, 1, false);
        context.has_overflowed = false;
        espl__propagate_below(forest, &context, top);
        ck_assert(espl__pose_is_finite(&forest->world[other]));
        ck_assert(!context.has_overflowed);
    }
}

// --- Nodes out of date ---

TEST(stale_flags_below_a_node_are_cleared)
{
    const uint64_t seeds = test_scaled(1000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = some_tree(seed, &random);
        const uint32_t slot = fixture_node_of(&fix, tree, &random);

        fixture_pose_all(&fix, tree, 0, &random);
        fixture_open_nursery(1, false);
        for (uint32_t at = slot; at != ESPL__NO_SLOT;
             at = espl__next_in_walk(forest, at, slot, true)) {
            forest->flags[at] |= test_one_in(&random, 2) ? ESPL__SLOT_STALE : 0;
        }
        go(tree, slot, seed % 4 < 2 ? BELOW : BY_LINKS, &random);
        for (uint32_t at = slot; at != ESPL__NO_SLOT;
             at = espl__next_in_walk(forest, at, slot, true)) {
            ck_assert(!espl__slot_is(forest, at, ESPL__SLOT_STALE));
        }
        fixture_close_nursery(true);
        begin_again();
    }
}

TEST(one_node_tells_whether_its_children_see_a_change)
{
    const uint64_t seeds = test_scaled(3000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const shape s = random_shape(3, 6, &random);
        const uint32_t tree = in_order(&s), root = forest->trees[tree].base;

        fixture_pose_all(&fix, tree, 2, &random);
        const uint32_t slot = root + 1;
        const espl__frame before = espl__slot_frame(forest, slot);

        if (test_one_in(&random, 2)) {
            const espl_pose pose = fixture_pose(&random);

            change(root, &pose, 3, test_one_in(&random, 2));
        }
        const bool is_changed = espl__propagate_node(forest, &context, slot);
        const espl__frame after = espl__slot_frame(forest, slot);

        ck_assert(is_changed == (memcmp(&before.world, &after.world, sizeof before.world) != 0 ||
                                 memcmp(before.extra.stretch, after.extra.stretch,
                                        sizeof before.extra.stretch) != 0));
        begin_again();
    }
}

// --- User data ---

TEST(user_data_comes_to_nodes_that_copy_their_parent_and_to_no_others)
{
    const uint64_t seeds = test_scaled(3000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = some_tree(seed, &random);
        const espl__tree *const t = &forest->trees[tree];
        static espl_pose worlds[2 * NODES];

        fixture_pose_all(&fix, tree, 2, &random);
        const uint32_t slot = fixture_node_of(&fix, tree, &random);
        espl__placement placement = espl__slot_placement(forest, slot);

        if (espl__slot_copies(forest, slot)) {
            begin_again();
            continue;
        }
        placement.extra.user_data = 12345;
        fixture_place(&fix, slot, &placement);
        memcpy(worlds, forest->world + t->base, t->used * sizeof *worlds);
        espl__propagate_user_data(forest, slot);
        ck_assert_mem_eq(worlds, forest->world + t->base, t->used * sizeof *worlds);
        fixture_frames(&fix, tree, frames);
        for (uint32_t at = t->base; at < t->base + t->used; ++at) {
            const espl__extra extra = espl__slot_extra(forest, at);

            if (fixture_is_node(forest, at)) {
                ck_assert_mem_eq(&extra, &frames[at - t->base].extra, sizeof extra);
            }
        }
        begin_again();
    }
}

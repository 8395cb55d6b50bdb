// SPDX-License-Identifier: MIT
// Every small case: all ordered trees of up to eight nodes, and on each of them every insertion,
// move, sibling move, detach, destroy, write, clone, set of destroyed nodes, and transform that is
// added or removed, against the model; each immediate and recorded, with owned and free links. On
// the smallest trees also with inherit flags and nodes without a transform at every node.
#include "tests/tree_cases.h"
#include "tests/runner.h"

// Trees have fewer nodes at most where steps are slow, for each more takes five times as long; all
// of this runs on one thread, which is little to show ThreadSanitizer.
static const struct {
    uint32_t nodes;
    uint32_t sorted;
    size_t trees;
} most[] = {
    [TEST_SWIFT] = {SHAPE_NODES, 4, 626}, [TEST_SLOW] = {6, 3, 65}, [TEST_SLOWEST] = {5, 3, 23}};

static bool is_whole(void)
{
    return test_pace_of_build() == TEST_SWIFT;
}

enum { ALL_LINKS_TO = 5, BOTH_WAYS = CASES_AT_ONCE | CASES_RECORDED };

// Ordered trees of 1, 2, ... nodes: the numbers of Catalan.
static const size_t catalan[SHAPE_NODES] = {1, 1, 2, 5, 14, 42, 132, 429};

// How the nodes of a tree hang: all sets of free links where there are few; else none, all, every
// other one. @return the set, UINT32_MAX past the last.
static uint32_t links_at(uint32_t count, uint32_t i)
{
    const uint32_t all = ((uint32_t)1 << count) - 2;
    const uint32_t few[3] = {0, all, 0xaa & all};

    if (count <= ALL_LINKS_TO) {
        return i < (uint32_t)1 << (count - 1) ? i * 2 : UINT32_MAX;
    }
    return i < 3 ? few[i] : UINT32_MAX;
}

static size_t links_of(uint32_t count)
{
    size_t sets = 0;

    while (links_at(count, (uint32_t)sets) != UINT32_MAX) {
        sets += 1;
    }
    return sets;
}

typedef void (*tree_attempt)(tree_cases *o, const shape *s);

static void try_links(tree_cases *o, const uint32_t *depth, uint32_t count, bool all_links,
                      tree_attempt attempt)
{
    uint32_t links = 0;

    for (uint32_t i = 0; (links = links_at(count, i)) != UINT32_MAX; ++i) {
        const shape s = shape_of(depth, count, all_links ? links : 0xaa & ~(uint32_t)1);
        tree_cases_turn(o, &s);
        attempt(o, &s);
        if (!all_links) {
            return;
        }
    }
}

// @return ordered trees met.
static size_t try_trees(tree_cases *o, bool all_links, tree_attempt attempt)
{
    size_t trees = 0;

    for (uint32_t count = 1; count <= most[test_pace_of_build()].nodes; ++count) {
        uint32_t depth[SHAPE_NODES] = {0, 1, 1, 1, 1, 1, 1, 1};
        size_t met = 0;

        do {
            try_links(o, depth, count, all_links, attempt);
            met += 1;
        } while (shape_next(depth, count));
        ck_assert_uint_eq(met, catalan[count - 1]);
        trees += met;
    }
    return trees;
}

// --- How many there are ---

// Cases on a tree of that many nodes, whatever its shape.
typedef size_t (*cases_of)(size_t count);

static size_t sum_of(bool all_links, uint32_t ways, cases_of cases)
{
    size_t sum = 0;

    for (uint32_t count = 1; count <= most[test_pace_of_build()].nodes; ++count) {
        sum += catalan[count - 1] * (all_links ? links_of(count) : 1) * cases(count);
    }
    return ways == BOTH_WAYS ? 2 * sum : sum;
}

static void try_all(bool all_links, uint32_t ways, tree_attempt attempt, cases_of cases,
                    size_t refused)
{
    tree_cases o;

    tree_cases_begin(&o, ways);
    const size_t trees = try_trees(&o, all_links, attempt);
    tree_cases_turn(&o, &(shape){.count = 1, .parent = {MODEL_NONE}});
    ck_assert_uint_eq(trees, most[test_pace_of_build()].trees);
    ck_assert_uint_eq(o.tried, sum_of(all_links, ways, cases));
    ck_assert_uint_eq(o.done + o.refused, o.tried);
    ck_assert(!is_whole() || o.refused == refused);
    tree_cases_end(&o);
}

// --- Insertions and moves ---

static espl_keep stay_at(uint32_t i)
{
    return (espl_keep)(i % 3);
}

static void attach_to(tree_cases *o, uint32_t child, uint32_t parent, uint32_t before)
{
    const operation op = {.code = OP_ATTACH,
                          .entity = child,
                          .parent = parent,
                          .before = before,
                          .options = {stay_at(child + parent), stay_at(parent),
                                      stay_at(child + before), .link = (espl_link)(child % 2)}};
    tree_cases_try(o, &op);
}

// Under a parent at each place among its children.
static void attach_at_each(tree_cases *o, const shape *s, uint32_t child, uint32_t parent)
{
    for (uint32_t before = 1; before < s->count; ++before) {
        if (s->parent[before] == parent) {
            attach_to(o, child, parent, before);
        }
    }
    attach_to(o, child, parent, MODEL_NONE);
}

static void try_insertions(tree_cases *o, const shape *s)
{
    for (uint32_t parent = 0; parent < s->count; ++parent) {
        attach_at_each(o, s, s->count, parent);
    }
}

// Each node has a place before it, but for the root, and each has one behind its last child.
static size_t insertions_of(size_t count)
{
    return 2 * count - 1;
}

TEST(each_small_tree_takes_a_leaf_at_each_place)
{
    try_all(true, BOTH_WAYS, try_insertions, insertions_of, 0);
}

// Under itself and what is below it: refused.
static void try_moves(tree_cases *o, const shape *s)
{
    for (uint32_t child = 0; child < s->count; ++child) {
        for (uint32_t parent = 0; parent < s->count; ++parent) {
            attach_at_each(o, s, child, parent);
        }
    }
}

static size_t moves_of(size_t count)
{
    return count * insertions_of(count);
}

TEST(a2_a5_d5_each_node_of_each_small_tree_moves_to_each_place)
{
    try_all(true, BOTH_WAYS, try_moves, moves_of, 138386);
}

// Before each node, siblings or not, and last.
static void try_siblings(tree_cases *o, const shape *s)
{
    for (uint32_t node = 0; node < s->count; ++node) {
        for (uint32_t before = 0; before <= s->count; ++before) {
            const operation op = {.code = OP_SET_SIBLING,
                                  .entity = node,
                                  .before = before < s->count ? before : MODEL_NONE};
            tree_cases_try(o, &op);
        }
    }
}

static size_t siblings_of(size_t count)
{
    return count * (count + 1);
}

TEST(each_node_of_each_small_tree_takes_each_place_among_its_siblings)
{
    try_all(true, BOTH_WAYS, try_siblings, siblings_of, 169924);
}

// --- What leaves ---

static void try_removals(tree_cases *o, const shape *s)
{
    for (uint32_t node = 0; node < s->count; ++node) {
        for (opcode code = OP_DESTROY; code <= OP_DESTROY_ONLY; ++code) {
            const operation op = {.code = code, .entity = node};
            tree_cases_try(o, &op);
        }
        for (int keep = ESPL_KEEP_WORLD; keep <= ESPL_SNAP; ++keep) {
            const operation op = {.code = OP_DETACH, .entity = node, .keep = (espl_keep)keep};
            tree_cases_try(o, &op);
        }
    }
}

static size_t removals_of(size_t count)
{
    return 6 * count;
}

TEST(c3_each_node_of_each_small_tree_is_destroyed_and_detached_by_each_rule)
{
    try_all(true, BOTH_WAYS, try_removals, removals_of, 0);
}

// The nodes die one by one, upwards or downwards. Then a leaf comes under the first that lives, or nothing
// does, before the world is trimmed.
static void die(tree_cases *o, const shape *s, uint32_t dead, bool is_downwards, bool is_laid_out)
{
    operation ops[CASE_STEPS];
    uint32_t count = 0, first = 0;

    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t node = is_downwards ? i : s->count - 1 - i;
        if ((dead >> node & 1) != 0) {
            ops[count++] = (operation){.code = OP_DESTROY_ONLY, .entity = node};
        }
    }
    while ((dead >> first & 1) != 0) {
        first += 1;
    }
    if (is_laid_out && first < s->count) {
        ops[count++] = (operation){
            .code = OP_ATTACH, .entity = s->count, .parent = first, .before = MODEL_NONE};
    }
    tree_cases_try_all(o, ops, count, 0);
}

static void try_dead_subsets(tree_cases *o, const shape *s)
{
    for (uint32_t dead = 1; dead < (uint32_t)1 << s->count; ++dead) {
        for (uint32_t manner = 0; manner < 4; ++manner) {
            die(o, s, dead, manner % 2 == 0, manner / 2 == 0);
        }
    }
}

static size_t dead_subsets_of(size_t count)
{
    return 4 * (((size_t)1 << count) - 1);
}

TEST(each_subset_of_each_small_tree_dies_and_no_trim_moves_a_bit)
{
    try_all(false, BOTH_WAYS, try_dead_subsets, dead_subsets_of, 0);
}

// --- What is written, cloned, placed ---

static void try_writes(tree_cases *o, const shape *s)
{
    const espl_transform value = {{0.6f, 0, 0, 0.8f}, {3, 4, 5}, 2, {1, 2, 1}, 1};

    for (uint32_t node = 0; node < s->count; ++node) {
        const operation ops[3] = {{.code = OP_SET_WORLD, .entity = node, .value = value},
                                  {.code = OP_SET_LOCAL, .entity = node, .value = value},
                                  {.code = OP_SET_INHERIT,
                                   .entity = node,
                                   .inherit = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP}};
        for (uint32_t i = 0; i < 3; ++i) {
            tree_cases_try(o, &ops[i]);
        }
    }
}

static size_t writes_of(size_t count)
{
    return 3 * count;
}

TEST(each_node_of_each_small_tree_is_written)
{
    // A root inherits nothing: a refusal for each tree.
    const size_t roots = 2 * (1 + 2 + 2 * 4 + 5 * 8 + 14 * 16 + 3 * (42 + 132 + 429));

    try_all(true, BOTH_WAYS, try_writes, writes_of, roots);
}

static void try_clones(tree_cases *o, const shape *s)
{
    for (uint32_t node = 0; node < s->count; ++node) {
        for (uint32_t parent = 0; parent <= s->count; ++parent) {
            const operation op = {.code = OP_INSTANCE,
                                  .entity = node,
                                  .parent = parent < s->count ? parent : MODEL_NONE,
                                  .before = MODEL_NONE,
                                  .peer = MODEL_NONE,
                                  .place = ESPL_PLACE_SOURCE,
                                  .count = 2};
            tree_cases_try(o, &op);
        }
    }
}

TEST(each_node_of_each_small_tree_is_cloned_under_each)
{
    try_all(false, BOTH_WAYS, try_clones, siblings_of, 0);
}

// Given to one that has it, taken, and taken and given again; above children, and above such as
// are bare themselves.
static void try_placements(tree_cases *o, const shape *s)
{
    const espl_transform value = {{0, 0.6f, 0, 0.8f}, {1, 4, -5}, 0.5f, {1, 2, 1}, 3};

    for (uint32_t node = 0; node < s->count; ++node) {
        const operation give = {.code = OP_PLACE, .entity = node, .value = value};
        const operation take = {.code = OP_UNPLACE, .entity = node};
        const operation again[2] = {take, give};

        tree_cases_try(o, &give);
        tree_cases_try(o, &take);
        tree_cases_try_all(o, again, 2, 0);
        for (uint32_t other = 0; other < s->count; ++other) {
            const operation both[4] = {{.code = OP_UNPLACE, .entity = other},
                                       take,
                                       give,
                                       {.code = OP_UNPLACE, .entity = other}};
            tree_cases_try_all(o, both, 4, 0);
        }
    }
}

static size_t placements_of(size_t count)
{
    return count * (3 + count);
}

TEST(each_node_of_each_small_tree_is_given_a_placement_and_robbed_of_it)
{
    try_all(false, CASES_AT_ONCE, try_placements, placements_of, 0);
}

// --- With flags ---

// What a node below the root may be.
enum { SORT_PLAIN, SORT_COPIES, SORT_KEEPS_SOME, SORT_KEEPS_ALL, SORT_BARE, SORT_COUNT };

static const uint32_t sort_flags[SORT_COUNT] = {
    [SORT_COPIES] = ESPL_COPY_PARENT,
    [SORT_KEEPS_SOME] = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP | ESPL_STRICT_UP,
    [SORT_KEEPS_ALL] = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE};

// One operation on a tree whose nodes are of those sorts. The root moves before it, so that what is
// kept is elsewhere than what is composed.
static void try_sorted(tree_cases *o, const shape *s, uint32_t sorts, const operation *op)
{
    operation ops[CASE_STEPS];
    uint32_t count = 0;

    for (uint32_t i = 1; i < s->count; ++i, sorts /= SORT_COUNT) {
        const uint32_t sort = sorts % SORT_COUNT;
        ops[count++] =
            sort == SORT_BARE
                ? (operation){.code = OP_UNPLACE, .entity = i}
                : (operation){.code = OP_SET_INHERIT, .entity = i, .inherit = sort_flags[sort]};
    }
    ops[count++] = (operation){.code = OP_WRITE,
                               .entity = 0,
                               .kind = ESPL_WRITE_TRANSFORM_WORLD,
                               .data.transform = {{0.6f, 0, 0, 0.8f}, {3, 4, 5}, 2, {1, 1, 1}, 0}};
    ops[count++] = *op;
    tree_cases_try_all(o, ops, count, count - 1);
}

static void try_sorted_links(tree_cases *o, const shape *s, uint32_t sorts, uint32_t node)
{
    for (uint32_t parent = 0; parent < s->count; ++parent) {
        for (uint32_t sort = 0; sort < SORT_BARE; ++sort) {
            const operation op = {.code = OP_ATTACH,
                                  .entity = node,
                                  .parent = parent,
                                  .before = MODEL_NONE,
                                  .options = {.position = stay_at(node + sort),
                                              .rotation = stay_at(parent),
                                              .scale = stay_at(sort),
                                              .inherit = sort_flags[sort]}};
            try_sorted(o, s, sorts, &op);
        }
        const operation move = {.code = OP_SET_SIBLING, .entity = node, .before = parent};
        try_sorted(o, s, sorts, &move);
    }
    for (int keep = ESPL_KEEP_WORLD; keep <= ESPL_SNAP; ++keep) {
        const operation op = {.code = OP_DETACH, .entity = node, .keep = (espl_keep)keep};
        try_sorted(o, s, sorts, &op);
    }
}

static void try_sorted_rest(tree_cases *o, const shape *s, uint32_t sorts, uint32_t node)
{
    static const opcode codes[4] = {OP_DESTROY, OP_DESTROY_SUBTREE, OP_DESTROY_ONLY, OP_SET_WORLD};
    const operation clone = {.code = OP_INSTANCE,
                             .entity = node,
                             .parent = MODEL_NONE,
                             .before = MODEL_NONE,
                             .peer = MODEL_NONE,
                             .count = 2};

    for (int i = 0; i < 4; ++i) {
        const operation op = {.code = codes[i], .entity = node, .value = test_at(7, -7, 1)};
        try_sorted(o, s, sorts, &op);
    }
    for (uint32_t sort = 0; sort < SORT_BARE; ++sort) {
        const operation op = {.code = OP_SET_INHERIT, .entity = node, .inherit = sort_flags[sort]};
        try_sorted(o, s, sorts, &op);
    }
    try_sorted(o, s, sorts, &clone);
}

static void try_recordable(tree_cases *o, const shape *s, uint32_t sorts, uint32_t node)
{
    try_sorted_rest(o, s, sorts, node);
    try_sorted_links(o, s, sorts, node);
}

static void try_placement(tree_cases *o, const shape *s, uint32_t sorts, uint32_t node)
{
    const operation give = {.code = OP_PLACE,
                            .entity = node,
                            .value = {{0, 0.6f, 0, 0.8f}, {1, 4, -5}, 0.5f, {1, 2, 1}, 3}};
    const operation take = {.code = OP_UNPLACE, .entity = node};

    try_sorted(o, s, sorts, &give);
    try_sorted(o, s, sorts, &take);
}

typedef void (*sorted_attempt)(tree_cases *o, const shape *s, uint32_t sorts, uint32_t node);

static void try_sorts(tree_cases *o, const shape *s, sorted_attempt attempt)
{
    uint32_t limit = 1;

    for (uint32_t i = 1; i < s->count; ++i) {
        limit *= SORT_COUNT;
    }
    for (uint32_t sorts = 0; sorts < limit; ++sorts) {
        for (uint32_t node = 0; node < s->count; ++node) {
            attempt(o, s, sorts, node);
        }
    }
}

// Trees of up to four nodes, with owned links and with every other one free.
static void try_all_sorts(uint32_t ways, sorted_attempt attempt, size_t cases, size_t refused)
{
    tree_cases o;

    tree_cases_begin(&o, ways);
    for (uint32_t count = 1; count <= most[test_pace_of_build()].sorted; ++count) {
        uint32_t depth[SHAPE_NODES] = {0, 1, 1, 1, 1, 1, 1, 1};
        do {
            for (uint32_t links = 0; links <= 10; links += 10) {
                const shape s = shape_of(depth, count, links & (((uint32_t)1 << count) - 2));
                tree_cases_turn(&o, &s);
                try_sorts(&o, &s, attempt);
            }
        } while (shape_next(depth, count));
    }
    tree_cases_turn(&o, &(shape){.count = 1, .parent = {MODEL_NONE}});
    ck_assert(!is_whole() || (o.tried == cases && o.refused == refused));
    tree_cases_end(&o);
}

TEST(each_sort_of_node_in_each_tiny_tree_keeps_to_its_flags)
{
    try_all_sorts(BOTH_WAYS, try_recordable, 337148, 145928);
}

TEST(each_sort_of_node_in_each_tiny_tree_stays_where_a_placement_comes_or_goes)
{
    try_all_sorts(CASES_AT_ONCE, try_placement, 10644, 792);
}

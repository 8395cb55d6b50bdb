// SPDX-License-Identifier: MIT
// Every small case: all ordered trees of a few nodes with owned and free links, and on each of
// them every attach, detach, destroy and clone, against the model; on the smallest with inherit
// flags and nodes without placement wherever they can be.
#include "tests/runner.h"
#include "tests/small.h"

enum { NODE_LIMIT = 8 };

typedef struct shape {
    uint32_t count;
    uint32_t parent[NODE_LIMIT]; // in preorder; of node 0: MODEL_NONE
    uint32_t free_links;         // bit i: node i hangs by a free link
} shape;

// Depths in preorder count up by at most one, which names each ordered tree once.
static bool next_depths(uint32_t *depth, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        if (depth[i] <= depth[i - 1]) {
            depth[i] += 1;
            for (uint32_t k = i + 1; k < count; ++k) {
                depth[k] = 1;
            }
            return true;
        }
    }
    return false;
}

static shape shape_of(const uint32_t *depth, uint32_t count, uint32_t free_links)
{
    shape out = {.count = count, .free_links = free_links};

    out.parent[0] = MODEL_NONE;
    for (uint32_t i = 1; i < count; ++i) {
        out.parent[i] = i - 1;
        while (depth[out.parent[i]] != depth[i] - 1) {
            out.parent[i] -= 1;
        }
    }
    return out;
}

static void build(small *b, const shape *s)
{
    for (uint32_t i = 0; i < s->count; ++i) {
        const bool is_free = (s->free_links >> i & 1) != 0;
        (void)small_add(b, s->parent[i], is_free ? ESPL_LINK_FREE : ESPL_LINK_OWNED);
    }
}

static void try_one(small *b, const shape *s, const operation *op)
{
    build(b, s);
    (void)small_run(b, op);
    side_compare(&b->side, &b->tape);
    small_clear(b);
}

static void try_attaches(small *b, const shape *s)
{
    for (uint32_t child = 0; child < s->count; ++child) {
        for (uint32_t parent = 0; parent < s->count; ++parent) {
            const operation op = {.code = OP_ATTACH,
                                  .entity = child,
                                  .parent = parent,
                                  .before = MODEL_NONE,
                                  .options = {.link = (espl_link)(child % 2)}};
            try_one(b, s, &op);
        }
    }
}

static void try_places(small *b, const shape *s)
{
    for (uint32_t child = 1; child < s->count; ++child) {
        for (uint32_t before = 1; before < s->count; ++before) {
            const operation op = {.code = OP_ATTACH,
                                  .entity = child,
                                  .parent = s->parent[before],
                                  .before = before,
                                  .options = {.position = ESPL_STAY_LOCAL}};
            try_one(b, s, &op);
        }
    }
}

static void try_rest(small *b, const shape *s)
{
    static const opcode codes[5] = {OP_DESTROY, OP_DESTROY_SUBTREE, OP_DESTROY_ONLY, OP_INSTANTIATE,
                                    OP_SET_WORLD};

    for (uint32_t node = 0; node < s->count; ++node) {
        for (int i = 0; i < 5; ++i) {
            const operation op = {
                .code = codes[i], .entity = node, .count = 2, .value = test_at(7, -7, 1)};
            try_one(b, s, &op);
        }
        for (int keep = ESPL_STAY_WORLD; keep <= ESPL_STAY_NONE; ++keep) {
            const operation op = {.code = OP_DETACH, .entity = node, .keep = (espl_stay)keep};
            try_one(b, s, &op);
        }
    }
}

// --- With flags ---

// What a node below the root may be.
enum { SORT_PLAIN, SORT_COPIES, SORT_KEEPS_SOME, SORT_KEEPS_ALL, SORT_BARE, SORT_COUNT };

static const uint32_t sort_flags[SORT_COUNT] = {
    [SORT_COPIES] = ESPL_COPY_PARENT,
    [SORT_KEEPS_SOME] = ESPL_KEEP_Y | ESPL_KEEP_UP | ESPL_STRICT_UP,
    [SORT_KEEPS_ALL] = ESPL_KEEP_POSITION | ESPL_KEEP_ROTATION | ESPL_KEEP_SCALE};

static void add_bare(small *b, uint32_t parent, espl_link link)
{
    const uint32_t node = b->tape.model.count;
    const operation create = {.code = OP_CREATE, .tag = node, .count = 1};
    const operation attach = {.code = OP_ATTACH,
                              .entity = node,
                              .parent = parent,
                              .before = MODEL_NONE,
                              .options = {.link = link}};

    ck_assert_int_eq(small_run(b, &create), ESPL_OK);
    ck_assert_int_eq(small_run(b, &attach), ESPL_OK);
}

// The root moves last, so that what is kept is elsewhere than what is composed.
static void build_sorts(small *b, const shape *s, uint32_t sorts)
{
    const operation move = {.code = OP_WRITE,
                            .entity = 0,
                            .kind = ESPL_WRITE_TRANSFORM_WORLD,
                            .data.transform = {{0.6f, 0, 0, 0.8f}, {3, 4, 5}, 2, {1, 1, 1}, 0}};

    for (uint32_t i = 0; i < s->count; ++i) {
        const espl_link link = (s->free_links >> i & 1) != 0 ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
        const uint32_t sort = i == 0 ? SORT_PLAIN : sorts % SORT_COUNT;
        const operation keep = {.code = OP_SET_INHERIT, .entity = i, .inherit = sort_flags[sort]};

        sorts = i == 0 ? sorts : sorts / SORT_COUNT;
        if (sort == SORT_BARE) {
            add_bare(b, s->parent[i], link);
        } else {
            (void)small_add(b, s->parent[i], link);
            ck_assert_int_eq(small_run(b, &keep), ESPL_OK);
        }
    }
    ck_assert_int_eq(small_run(b, &move), ESPL_OK);
}

static void try_sorted(small *b, const shape *s, uint32_t sorts, const operation *op)
{
    build_sorts(b, s, sorts);
    (void)small_run(b, op);
    side_compare(&b->side, &b->tape);
    small_clear(b);
}

static void try_sorted_links(small *b, const shape *s, uint32_t sorts, uint32_t node)
{
    for (uint32_t parent = 0; parent < s->count; ++parent) {
        for (uint32_t sort = 0; sort < SORT_BARE; ++sort) {
            const operation op = {.code = OP_ATTACH,
                                  .entity = node,
                                  .parent = parent,
                                  .before = MODEL_NONE,
                                  .options = {.position = (espl_stay)((node + sort) % 3),
                                              .rotation = (espl_stay)(parent % 3),
                                              .scale = (espl_stay)(sort % 3),
                                              .inherit = sort_flags[sort]}};
            try_sorted(b, s, sorts, &op);
        }
    }
    for (int keep = ESPL_STAY_WORLD; keep <= ESPL_STAY_NONE; ++keep) {
        const operation op = {.code = OP_DETACH, .entity = node, .keep = (espl_stay)keep};
        try_sorted(b, s, sorts, &op);
    }
}

static void try_sorts(small *b, const shape *s)
{
    static const opcode codes[5] = {OP_DESTROY, OP_DESTROY_SUBTREE, OP_DESTROY_ONLY, OP_INSTANTIATE,
                                    OP_SET_WORLD};
    uint32_t limit = 1;

    for (uint32_t i = 1; i < s->count; ++i) {
        limit *= SORT_COUNT;
    }
    for (uint32_t sorts = 0; sorts < limit; ++sorts) {
        for (uint32_t node = 0; node < s->count; ++node) {
            for (int i = 0; i < 5; ++i) {
                const operation op = {
                    .code = codes[i], .entity = node, .count = 2, .value = test_at(7, -7, 1)};
                try_sorted(b, s, sorts, &op);
            }
            for (uint32_t sort = 0; sort < SORT_BARE; ++sort) {
                const operation op = {
                    .code = OP_SET_INHERIT, .entity = node, .inherit = sort_flags[sort]};
                try_sorted(b, s, sorts, &op);
            }
            try_sorted_links(b, s, sorts, node);
        }
    }
}

// --- All shapes ---

// Destroy every subset of nodes one by one, in both orders: ghosts upon ghosts.
static void try_dead_subsets(small *b, const shape *s)
{
    for (uint32_t dead = 1; dead < (uint32_t)1 << s->count; ++dead) {
        for (int down = 0; down < 2; ++down) {
            build(b, s);
            for (uint32_t i = 0; i < s->count; ++i) {
                const uint32_t node = down != 0 ? i : s->count - 1 - i;
                const operation op = {.code = OP_DESTROY_ONLY, .entity = node};
                if ((dead >> node & 1) != 0) {
                    ck_assert_int_eq(small_run(b, &op), ESPL_OK);
                    side_compare(&b->side, &b->tape);
                }
            }
            small_clear(b);
        }
    }
}

static void try_all(uint32_t count, uint32_t mask_step, void (*attempt)(small *, const shape *),
                    size_t expected_trees)
{
    uint32_t depth[NODE_LIMIT] = {0, 1, 1, 1, 1, 1, 1, 1};
    size_t trees = 0;
    small b;

    small_begin(&b);
    do {
        for (uint32_t mask = 0; mask < (uint32_t)1 << count; mask += mask_step) {
            if ((mask & 1) == 0) { // the root hangs by nothing
                const shape s = shape_of(depth, count, mask);
                attempt(&b, &s);
            }
        }
        trees += 1;
    } while (next_depths(depth, count));
    ck_assert_uint_eq(trees, expected_trees);
    ck_assert(b.cases > 0 || count == 1); // a node alone has no place among siblings
    small_end(&b);
}

// Ordered trees of 1, 2, ... nodes: the numbers of Catalan.
static const size_t catalan[NODE_LIMIT] = {1, 1, 2, 5, 14, 42, 132, 429};

static void try_up_to(uint32_t limit, uint32_t mask_step, void (*attempt)(small *, const shape *))
{
    for (uint32_t count = 1; count <= limit; ++count) {
        try_all(count, mask_step, attempt, catalan[count - 1]);
    }
}

static uint32_t limit_of(uint32_t limit)
{
    return test_scaled(10) < 10 ? limit - 1 : limit;
}

START_TEST(each_node_of_each_small_tree_is_attached_under_each)
{
    try_up_to(limit_of(6), 6, try_attaches);
}
END_TEST

START_TEST(each_node_of_each_small_tree_takes_each_place)
{
    try_up_to(limit_of(5), 6, try_places);
}
END_TEST

START_TEST(each_node_of_each_small_tree_is_destroyed_detached_and_cloned)
{
    try_up_to(limit_of(6), 2, try_rest);
}
END_TEST

START_TEST(each_subset_of_each_small_tree_dies)
{
    try_up_to(limit_of(5), 10, try_dead_subsets);
}
END_TEST

START_TEST(each_sort_of_node_in_each_tiny_tree_keeps_to_its_flags)
{
    try_up_to(limit_of(4), 10, try_sorts);
}
END_TEST

static Suite *exhaustive_suite(void)
{
    Suite *const suite = suite_create("exhaustive");
    TCase *const tcase = tcase_create("small trees");

    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, each_node_of_each_small_tree_is_attached_under_each);
    tcase_add_test(tcase, each_node_of_each_small_tree_takes_each_place);
    tcase_add_test(tcase, each_node_of_each_small_tree_is_destroyed_detached_and_cloned);
    tcase_add_test(tcase, each_subset_of_each_small_tree_dies);
    tcase_add_test(tcase, each_sort_of_node_in_each_tiny_tree_keeps_to_its_flags);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(exhaustive_suite)

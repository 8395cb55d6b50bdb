// SPDX-License-Identifier: MIT
// The tree as its users see it, with ghosts looked through: every walk of lib/tree/navigate.c
// against a tree of plain lists in which the dead are gone at once.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { LIMIT = 48, NOBODY = UINT32_MAX };

typedef struct plain_node {
    uint32_t parent;
    uint32_t child[LIMIT];
    uint32_t count;
    bool is_free, is_alive, is_dying;
} plain_node;

// A node's number is its entity, and its rank when it was planted.
typedef struct plain_tree {
    plain_node node[LIMIT];
    uint32_t size;
} plain_tree;

static grove g;
static espl__forest *const forest = &g.forest;
static plain_tree tree;

static void set_up(void)
{
    grove_begin(&g);
}

static void tear_down(void)
{
    grove_end(&g);
}

// --- The plain tree ---

static void plant_plain(const uint32_t *parent, const uint8_t *flags, uint32_t size)
{
    memset(&tree, 0, sizeof tree);
    tree.size = size;
    for (uint32_t i = 0; i < size; ++i) {
        plain_node *const node = &tree.node[i];

        node->parent = i == 0 ? NOBODY : parent[i];
        node->is_free = (flags[i] & ESPL__SLOT_FREE_LINK) != 0;
        node->is_alive = true;
        if (i != 0) {
            plain_node *const above = &tree.node[parent[i]];

            above->child[above->count++] = i;
        }
    }
}

static uint32_t place_among_siblings(uint32_t number)
{
    const plain_node *const above = &tree.node[tree.node[number].parent];
    uint32_t at = 0;

    while (above->child[at] != number) {
        at += 1;
    }
    return at;
}

// The children take the place of the dead one, or become roots.
static void splice_plain(uint32_t number)
{
    plain_node *const node = &tree.node[number];

    node->is_alive = node->is_dying = false;
    for (uint32_t i = 0; i < node->count; ++i) {
        plain_node *const child = &tree.node[node->child[i]];

        child->parent = node->parent;
        child->is_free = child->is_free && node->parent != NOBODY;
    }
    if (node->parent == NOBODY) {
        return;
    }
    plain_node *const above = &tree.node[node->parent];
    const uint32_t at = place_among_siblings(number);
    uint32_t rest[LIMIT];
    const uint32_t behind = above->count - at - 1;

    memcpy(rest, above->child + at + 1, behind * sizeof *rest);
    memcpy(above->child + at, node->child, node->count * sizeof *rest);
    memcpy(above->child + at + node->count, rest, behind * sizeof *rest);
    above->count += node->count - 1;
    node->parent = NOBODY;
}

// Whether a node is below another one; through owned links only where told.
static bool is_below(uint32_t number, uint32_t top, bool owned_only)
{
    while (number != top) {
        const plain_node *const node = &tree.node[number];

        if (node->parent == NOBODY || (owned_only && node->is_free)) {
            return false;
        }
        number = node->parent;
    }
    return true;
}

static void destroy_plain(uint32_t number, espl__closure closure)
{
    for (uint32_t i = 0; i < tree.size; ++i) {
        tree.node[i].is_dying =
            tree.node[i].is_alive &&
            (i == number || (closure != ESPL__CLOSURE_ONLY &&
                             is_below(i, number, closure == ESPL__CLOSURE_OWNED)));
    }
    for (uint32_t i = 0; i < tree.size; ++i) {
        if (tree.node[i].is_dying) {
            splice_plain(i);
        }
    }
}

static uint32_t count_below(uint32_t top, bool owned_only)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < tree.size; ++i) {
        count += tree.node[i].is_alive && i != top && is_below(i, top, owned_only) ? 1 : 0;
    }
    return count;
}

static uint32_t top_of(uint32_t number, uint32_t *depth)
{
    *depth = 0;
    while (tree.node[number].parent != NOBODY) {
        number = tree.node[number].parent;
        *depth += 1;
    }
    return number;
}

// --- Comparison ---

static uint32_t slot_of(uint32_t number)
{
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        if (forest->run[slot] != ESPL__NO_RUN && forest->entity[slot] == number) {
            return slot;
        }
    }
    return ESPL__NO_SLOT;
}

static uint32_t slot_or_none(uint32_t number)
{
    return number == NOBODY ? ESPL__NO_SLOT : slot_of(number);
}

static void compare_children(uint32_t number, uint32_t slot)
{
    const plain_node *const node = &tree.node[number];
    const uint32_t last = node->count == 0 ? NOBODY : node->child[node->count - 1];
    uint32_t behind = espl__living_first_child(forest, slot);

    ck_assert_uint_eq(behind, slot_or_none(node->count == 0 ? NOBODY : node->child[0]));
    ck_assert_uint_eq(espl__living_last_child(forest, slot), slot_or_none(last));
    ck_assert_uint_eq(espl__living_children(forest, slot), node->count);
    for (uint32_t i = 0; i < node->count; ++i) {
        const uint32_t child = slot_of(node->child[i]);

        ck_assert_uint_eq(behind, child);
        ck_assert_uint_eq(espl__living_child(forest, slot, i), child);
        ck_assert_uint_eq(espl__living_parent(forest, child), slot);
        behind = espl__living_behind(forest, child, slot);
        ck_assert_uint_eq(espl__living_next_sibling(forest, child), behind);
        ck_assert_uint_eq(espl__living_previous_sibling(forest, child),
                          slot_or_none(i == 0 ? NOBODY : node->child[i - 1]));
    }
    ck_assert_uint_eq(behind, ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_child(forest, slot, node->count), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_child(forest, slot, SIZE_MAX), ESPL__NO_SLOT);
}

static void compare_node(uint32_t number)
{
    const uint32_t slot = slot_of(number);
    uint32_t depth = 0;
    const uint32_t top = top_of(number, &depth);

    ck_assert_uint_ne(slot, ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_parent(forest, slot), slot_or_none(tree.node[number].parent));
    ck_assert_uint_eq(espl__living_root(forest, slot), slot_of(top));
    ck_assert_uint_eq(espl__living_depth(forest, slot), depth);
    ck_assert_uint_eq(espl__living_below(forest, slot), count_below(number, false));
    ck_assert_uint_eq(espl__living_owned(forest, slot), count_below(number, true));
    if (top == number) {
        ck_assert_uint_eq(espl__living_next_sibling(forest, slot), ESPL__NO_SLOT);
        ck_assert_uint_eq(espl__living_previous_sibling(forest, slot), ESPL__NO_SLOT);
    }
    compare_children(number, slot);
}

static void compare_all(void)
{
    for (uint32_t number = 0; number < tree.size; ++number) {
        if (tree.node[number].is_alive) {
            compare_node(number);
        } else {
            ck_assert_uint_eq(slot_of(number), ESPL__NO_SLOT);
        }
    }
}

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

static void destroy(uint32_t number, espl__closure closure)
{
    espl__make_ghosts(forest, slot_of(number), closure, bury_nobody, NULL);
    destroy_plain(number, closure);
    grove_is_sound(&g);
    compare_all();
}

static uint32_t plant(const uint32_t *parent, const uint8_t *flags, uint32_t size, uint64_t seed)
{
    g.entities = 0;
    plant_plain(parent, flags, size);
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = size,
                                         .flags = flags,
                                         .holes = (uint32_t)(seed % 3),
                                         .seed = seed,
                                         .is_shuffled = seed % 2 == 0});
}

// --- Tests ---

// R{A{C,D},B{E}}, and what becomes of it by hand.
START_TEST(children_of_a_ghost_stand_in_its_place)
{
    static const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    static const uint8_t owned[6];
    const uint32_t run = plant(parent, owned, 6, 1);
    const uint32_t root = slot_of(0), b = slot_of(2), c = slot_of(3), d = slot_of(4);

    destroy(1, ESPL__CLOSURE_ONLY);
    ck_assert_uint_eq(forest->runs[run].ghosts, 1);
    ck_assert_uint_eq(espl__living_first_child(forest, root), c);
    ck_assert_uint_eq(espl__living_next_sibling(forest, c), d);
    ck_assert_uint_eq(espl__living_next_sibling(forest, d), b);
    ck_assert_uint_eq(espl__living_previous_sibling(forest, b), d);
    ck_assert_uint_eq(espl__living_previous_sibling(forest, c), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_last_child(forest, root), b);
    ck_assert_uint_eq(espl__living_child(forest, root, 2), b);
    ck_assert_uint_eq(espl__living_children(forest, root), 3);
    ck_assert_uint_eq(espl__living_depth(forest, c), 1);
}
END_TEST

START_TEST(a_childless_ghost_has_no_place)
{
    static const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 0, 2, 4};
    static const uint8_t owned[6];

    plant(parent, owned, 6, 2);
    const uint32_t root = slot_of(0), first = slot_of(1), last = slot_of(3);

    destroy(2, ESPL__CLOSURE_SUBTREE);
    ck_assert_uint_eq(espl__living_next_sibling(forest, first), last);
    ck_assert_uint_eq(espl__living_previous_sibling(forest, last), first);
    destroy(3, ESPL__CLOSURE_ONLY);
    ck_assert_uint_eq(espl__living_last_child(forest, root), first);
    destroy(1, ESPL__CLOSURE_ONLY);
    ck_assert_uint_eq(espl__living_first_child(forest, root), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_last_child(forest, root), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_child(forest, root, 0), ESPL__NO_SLOT);
}
END_TEST

START_TEST(what_hangs_below_a_ghost_root_is_a_root)
{
    static const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    static const uint8_t owned[6];

    plant(parent, owned, 6, 3);
    const uint32_t a = slot_of(1), b = slot_of(2), e = slot_of(5);

    destroy(0, ESPL__CLOSURE_ONLY);
    ck_assert_uint_eq(espl__living_parent(forest, a), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_next_sibling(forest, a), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_previous_sibling(forest, b), ESPL__NO_SLOT);
    ck_assert_uint_eq(espl__living_root(forest, e), b);
}
END_TEST

// All hierarchies of six nodes, each node destroyed in each way, and each other one after it.
START_TEST(every_small_hierarchy_reads_the_same_with_its_ghosts)
{
    uint32_t parent[6] = {0};
    uint64_t seed = 0;

    do {
        for (uint32_t pair = 0; pair < 36; ++pair) {
            uint8_t flags[6] = {0};

            for (uint32_t i = 1; i < 6; ++i) {
                flags[i] = test_one_in(&seed, 3) ? ESPL__SLOT_FREE_LINK : 0;
            }
            plant(parent, flags, 6, seed);
            destroy(pair / 6, (espl__closure)test_below(&seed, 3));
            if (tree.node[pair % 6].is_alive) {
                destroy(pair % 6, (espl__closure)test_below(&seed, 3));
            }
            tear_down();
            set_up();
        }
    } while (grove_next_parents(parent, 6));
}
END_TEST

static void run_random(uint64_t seed)
{
    uint64_t random = seed;
    const uint32_t size = 1 + test_below(&random, LIMIT);
    uint32_t parent[LIMIT];
    uint8_t flags[LIMIT] = {0};

    grove_random_parents(parent, size, 1 + test_below(&random, 6), &random);
    for (uint32_t i = 1; i < size; ++i) {
        flags[i] = test_one_in(&random, 4) ? ESPL__SLOT_FREE_LINK : 0;
        flags[i] |= test_one_in(&random, 5) ? ESPL__SLOT_PASS : 0;
    }
    plant(parent, flags, size, random);
    compare_all();
    for (uint32_t i = 0; i < size; ++i) {
        const uint32_t number = test_below(&random, size);

        if (tree.node[number].is_alive) {
            destroy(number, test_one_in(&random, 4) ? (espl__closure)test_below(&random, 3)
                                                    : ESPL__CLOSURE_ONLY);
        }
    }
}

START_TEST(random_hierarchies_read_the_same_with_their_ghosts)
{
    const size_t rounds = test_scaled(400);

    for (uint64_t seed = 1; seed <= rounds; ++seed) {
        run_random(seed);
        tear_down();
        set_up();
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/navigate");
    TCase *const tcase = tcase_create("ghosts");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, children_of_a_ghost_stand_in_its_place);
    tcase_add_test(tcase, a_childless_ghost_has_no_place);
    tcase_add_test(tcase, what_hangs_below_a_ghost_root_is_a_root);
    tcase_add_test(tcase, every_small_hierarchy_reads_the_same_with_its_ghosts);
    tcase_add_test(tcase, random_hierarchies_read_the_same_with_their_ghosts);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(make_suite)

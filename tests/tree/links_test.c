// SPDX-License-Identifier: MIT
// Slots and links of one tree against a naive model: lists of children by entity.
#include "tests/asked.h"
#include "tests/tree/fixture.h"

enum { NODES = 64, CAPACITY = 96 };

static void set_up(void)
{
    fixture_begin(&fix);
}

static void tear_down(void)
{
    fixture_end(&fix);
}

static espl__tree *tree_at(uint32_t tree)
{
    return &forest->trees[tree];
}

// --- Slots ---

FIXTURE(set_up, tear_down);

TEST(a_node_takes_a_hole_above_its_parent)
{
    const uint32_t tree = fixture_tree(&fix, 8), root = tree_at(tree)->base;
    const uint32_t a = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t b = fixture_add(&fix, root, ESPL__NO_SLOT);

    fixture_remove(&fix, a);
    ck_assert_uint_eq(tree_at(tree)->hole, a);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), a);
    ck_assert_uint_eq(tree_at(tree)->hole, ESPL__NO_SLOT);
    ck_assert_uint_eq(tree_at(tree)->used, 3);
    ck_assert(fixture_is_node(forest, b));
    fixture_is_valid(&fix);
}

TEST(a_node_takes_the_end_where_the_hole_is_below_its_parent)
{
    const uint32_t tree = fixture_tree(&fix, 8), root = tree_at(tree)->base;
    const uint32_t a = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t b = fixture_add(&fix, root, ESPL__NO_SLOT);

    fixture_remove(&fix, a);
    ck_assert_uint_eq(fixture_add(&fix, b, ESPL__NO_SLOT), root + 3);
    ck_assert_uint_eq(tree_at(tree)->hole, a);
    ck_assert_uint_eq(tree_at(tree)->used, 4);
    fixture_is_valid(&fix);
}

TEST(there_is_no_slot_where_the_range_is_full_above_the_parent)
{
    const uint32_t tree = fixture_tree(&fix, 3), root = tree_at(tree)->base;
    const uint32_t a = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t b = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t live = tree_at(tree)->live;

    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), ESPL__NO_SLOT);
    ck_assert_uint_eq(tree_at(tree)->live, live);
    fixture_remove(&fix, a);
    ck_assert_uint_eq(fixture_add(&fix, b, ESPL__NO_SLOT), ESPL__NO_SLOT);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), a);
    fixture_is_valid(&fix);
}

TEST(the_hole_that_was_freed_last_is_taken_first)
{
    const uint32_t tree = fixture_tree(&fix, 8), root = tree_at(tree)->base;
    uint32_t slots[5];

    for (int i = 0; i < 5; ++i) {
        slots[i] = fixture_add(&fix, root, ESPL__NO_SLOT);
    }
    fixture_remove(&fix, slots[2]);
    fixture_remove(&fix, slots[0]);
    fixture_remove(&fix, slots[3]);
    fixture_is_valid(&fix);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), slots[3]);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), slots[0]);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), slots[2]);
    ck_assert_uint_eq(fixture_add(&fix, root, ESPL__NO_SLOT), root + 6);
    fixture_is_valid(&fix);
}

TEST(freeing_the_last_slot_leaves_no_hole)
{
    const uint32_t tree = fixture_tree(&fix, 8), root = tree_at(tree)->base;
    const uint32_t a = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t b = fixture_add(&fix, root, ESPL__NO_SLOT);

    fixture_remove(&fix, b);
    ck_assert_uint_eq(tree_at(tree)->used, 2);
    ck_assert_uint_eq(tree_at(tree)->hole, ESPL__NO_SLOT);
    ck_assert_uint_eq(tree_at(tree)->live, 2);
    ck_assert(fixture_is_node(forest, a));
    fixture_is_valid(&fix);
}

TEST(a_root_without_children_is_in_order_without_holes)
{
    const uint64_t seeds = test_scaled(500);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = fixture_random_tree(&fix, 20, 20, &random);

        while (tree_at(tree)->live > 1) {
            fixture_thin_out(&fix, tree, 3, &random);
        }
        ck_assert_uint_eq(tree_at(tree)->used, 1);
        ck_assert_uint_eq(tree_at(tree)->hole, ESPL__NO_SLOT);
        ck_assert_uint_eq(tree_at(tree)->flags, ESPL__TREE_IN_ORDER);
        fixture_is_valid(&fix);
        begin_again();
    }
}

// --- Links ---

// By entity.
typedef struct family {
    uint32_t parent, count, children[NODES * 4];
} family;

static family families[FIXTURE_NODES];

static void forget(uint32_t entity)
{
    family *const up = &families[families[entity].parent];
    uint32_t at = 0;

    while (up->children[at] != entity) {
        at += 1;
    }
    up->count -= 1;
    memmove(up->children + at, up->children + at + 1, (up->count - at) * sizeof(uint32_t));
}

// @param before  entity, or ESPL__NO_ENTITY for last.
static void remember(uint32_t entity, uint32_t parent, uint32_t before)
{
    family *const up = &families[parent];
    uint32_t at = 0;

    while (at < up->count && up->children[at] != before) {
        at += 1;
    }
    ck_assert_uint_lt(up->count, NODES * 4);
    memmove(up->children + at + 1, up->children + at, (up->count - at) * sizeof(uint32_t));
    up->children[at] = entity;
    up->count += 1;
    families[entity].parent = parent;
}

static uint32_t entity_at(uint32_t slot)
{
    return slot == ESPL__NO_SLOT ? ESPL__NO_ENTITY : forest->links[slot].entity;
}

static void check_family(uint32_t entity)
{
    const family *const f = &families[entity];
    const uint32_t slot = fix.slots[entity];

    ck_assert_uint_eq(espl__count_children(forest, slot), f->count);
    ck_assert_uint_eq(entity_at(forest->links[slot].first_child),
                      f->count == 0 ? ESPL__NO_ENTITY : f->children[0]);
    ck_assert_uint_eq(entity_at(espl__last_child(forest, slot)),
                      f->count == 0 ? ESPL__NO_ENTITY : f->children[f->count - 1]);
    for (uint32_t i = 0; i < f->count; ++i) {
        const uint32_t child = fix.slots[f->children[i]];

        ck_assert_uint_eq(forest->parent[child], slot);
        ck_assert_uint_eq(entity_at(espl__next_sibling(forest, child)),
                          i + 1 == f->count ? ESPL__NO_ENTITY : f->children[i + 1]);
        ck_assert_uint_eq(entity_at(espl__previous_sibling(forest, child)),
                          i == 0 ? ESPL__NO_ENTITY : f->children[i - 1]);
    }
}

static void check_tree(uint32_t tree)
{
    const espl__tree *const t = tree_at(tree);
    uint32_t live = 0, exceptional = 0, holes = 0;

    for (uint32_t entity = 0; entity < fix.entities; ++entity) {
        if (fix.slots[entity] != ESPL__NO_SLOT) {
            check_family(entity);
            live += 1;
            exceptional += espl__slot_is_exceptional(forest, fix.slots[entity]) ? 1 : 0;
        }
    }
    for (uint32_t hole = t->hole; hole != ESPL__NO_SLOT; hole = forest->links[hole].next) {
        holes += 1;
    }
    ck_assert_uint_eq(t->live, live);
    ck_assert_uint_eq(t->roots, 1);
    ck_assert_uint_eq(t->exceptional, exceptional);
    ck_assert_uint_eq(t->used, live + holes);
    if ((t->flags & ESPL__TREE_IN_ORDER) != 0) {
        ck_assert(fixture_is_breadth_first(&fix, tree));
    }
}

static void add_leaf(uint32_t tree, uint64_t *random)
{
    const uint32_t parent = fixture_node_of(&fix, tree, random);
    const uint32_t before = fixture_child_of(&fix, parent, random);
    const uint32_t entity = fix.entities;

    families[entity].count = 0;
    if (fixture_add(&fix, parent, before) != ESPL__NO_SLOT) {
        remember(entity, entity_at(parent), entity_at(before));
    }
}

static void remove_leaf(uint32_t tree, uint64_t *random)
{
    const uint32_t slot = fixture_node_of(&fix, tree, random);

    if (forest->links[slot].first_child == ESPL__NO_SLOT && !espl__is_root(forest, slot)) {
        forget(entity_at(slot));
        fixture_remove(&fix, slot);
    }
}

// Nodes of one tree move without new slots below a parent with a lower one.
static void move_node(uint32_t tree, uint64_t *random)
{
    const uint32_t slot = fixture_node_of(&fix, tree, random);
    const uint32_t parent = fixture_node_of(&fix, tree, random);

    if (parent >= slot || fixture_is_at_or_below(forest, parent, slot)) {
        return;
    }
    espl__node_unlink(forest, slot);
    ck_assert_uint_eq(tree_at(tree)->roots, 2);
    forget(entity_at(slot));
    const uint32_t before = fixture_child_of(&fix, parent, random);

    espl__node_link(forest, slot, parent, before);
    remember(entity_at(slot), entity_at(parent), entity_at(before));
}

static void restretch(uint32_t tree, uint64_t *random)
{
    const uint32_t slot = fixture_node_of(&fix, tree, random);
    espl__placement placement = espl__slot_placement(forest, slot);

    if (test_one_in(random, 4) && !espl__is_root(forest, slot)) {
        espl__slot_set_bare(forest, slot, !espl__slot_is(forest, slot, ESPL__SLOT_BARE));
        return;
    }
    placement.extra.stretch[0] = test_one_in(random, 2) ? 1 : 2;
    fixture_place(&fix, slot, &placement);
}

TEST(links_are_those_of_a_naive_model)
{
    const uint64_t seeds = test_scaled(200);
    uint32_t full = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = fixture_tree(&fix, CAPACITY);
        const bool stretches = seed % 2 == 0;

        families[0].count = 0;
        for (int i = 0; i < 300; ++i) {
            const uint32_t choice = test_below(&random, 10);

            if (choice < (i % 100 < 60 ? 6u : 2u)) {
                add_leaf(tree, &random);
            } else if (choice < 8) {
                remove_leaf(tree, &random);
            } else if (choice < 9 || !stretches) {
                move_node(tree, &random);
            } else {
                restretch(tree, &random);
            }
            full += tree_at(tree)->used == CAPACITY;
            check_tree(tree);
        }
        begin_again();
    }
    ck_assert_uint_gt(full, 0);
}

// --- Order ---

TEST(a_tree_stays_in_order_exactly_as_long_as_nodes_are_appended_breadth_first)
{
    const uint64_t seeds = test_scaled(20000);
    uint64_t kept = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = fixture_tree(&fix, 24), root = tree_at(tree)->base;
        bool is_in_order = true;

        for (uint32_t i = 1; i < 24 && is_in_order; ++i) {
            // Mostly where order is kept: below the parent of the last node or one behind that.
            const uint32_t last = i == 1 ? root : forest->parent[root + i - 1];
            const bool is_wild = test_one_in(&random, 10);
            const uint32_t parent = is_wild ? root + test_below(&random, i)
                                            : last + test_below(&random, root + i - last);
            const uint32_t before =
                test_one_in(&random, 20) ? fixture_child_of(&fix, parent, &random) : ESPL__NO_SLOT;

            (void)fixture_add(&fix, parent, before);
            is_in_order = fixture_is_breadth_first(&fix, tree);
            ck_assert(((tree_at(tree)->flags & ESPL__TREE_IN_ORDER) != 0) == is_in_order);
            kept += is_in_order;
        }
        // Nothing restores an order that is lost but a layout, or the end of all children.
        if (!is_in_order) {
            (void)fixture_add(&fix, root + 1, ESPL__NO_SLOT);
            ck_assert_uint_eq(tree_at(tree)->flags & ESPL__TREE_IN_ORDER, 0);
        }
        begin_again();
    }
    ck_assert_uint_gt(kept, seeds);
}

TEST(every_unlink_ends_the_order)
{
    const uint32_t tree = fixture_tree(&fix, 4), root = tree_at(tree)->base;
    const uint32_t a = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t b = fixture_add(&fix, root, ESPL__NO_SLOT);

    espl__node_unlink(forest, b);
    ck_assert_uint_eq(tree_at(tree)->flags & ESPL__TREE_IN_ORDER, 0);
    espl__node_link(forest, b, a, ESPL__NO_SLOT);
    fixture_is_valid(&fix);
}

// --- Churn ---

// Nodes that are laid out are paid for by those that came: a range that grows has room for a sixteenth
// more at least.
enum { COST = 20 };

typedef struct churn {
    test_world test;
    espl_world_stats before;
    uint64_t came; // nodes that were made or that moved
    espl_entity tree[2], nodes[6000];
    uint32_t count;
} churn;

static churn c;

static espl_entity make_below(espl_entity parent)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    const espl_entity entity = test_solo(c.test.world);

    ck_ok(espl_attach(c.test.world, entity, parent, &options));
    c.came += 1;
    return entity;
}

static void begin_churn(uint32_t nodes)
{
    memset(&c, 0, sizeof c);
    test_world_begin(&c.test, 7, NULL);
    c.tree[0] = test_solo(c.test.world);
    c.tree[1] = test_solo(c.test.world);
    for (uint32_t i = 0; i < nodes; ++i) {
        const espl_entity parent = i < 8 ? c.tree[0] : c.nodes[i / 8];

        c.nodes[c.count++] = make_below(parent);
    }
}

static void end_churn(const char *name)
{
    espl_world_stats now;

    espl_stats(c.test.world, &now);
    ck_assert_msg(now.nodes_laid_out <= COST * c.came, "%s: %llu nodes laid out for %llu that came",
                  name, (unsigned long long)now.nodes_laid_out, (unsigned long long)c.came);
    test_world_end(&c.test);
}

static void destroy_node(uint32_t at)
{
    ck_assert_int_ge(espl_destroy(c.test.world, c.nodes[at], ESPL_EXTENT_ENTITY), ESPL_OK);
    c.nodes[at] = c.nodes[--c.count];
}

// Nodes die and others come below any node.
static void step_at_random(size_t step, uint32_t size, uint64_t *random)
{
    (void)step;
    if (c.count > size / 2 && (test_one_in(random, 2) || c.count > size)) {
        destroy_node(test_below(random, c.count));
    } else {
        const espl_entity parent = c.count == 0 ? c.tree[0] : c.nodes[test_below(random, c.count)];

        c.nodes[c.count++] = make_below(parent);
    }
}

// Each hole is below the slot of the parent that the next node comes to.
static void step_to_high_parents(size_t step, uint32_t size, uint64_t *random)
{
    const espl_entity last = c.nodes[c.count - 1];

    (void)size;
    (void)random;
    destroy_node((uint32_t)(step % (c.count - 1)));
    c.nodes[c.count++] = make_below(last);
}

// A subtree goes from tree to tree, and inside one tree below parents with higher and higher slots.
static void step_of_subtree(size_t step, uint32_t size, uint64_t *random)
{
    const espl_entity child = c.nodes[test_below(random, c.count)];
    const espl_entity parent = test_one_in(random, 2) ? c.tree[test_below(random, 2)]
                                                      : c.nodes[test_below(random, c.count)];
    const size_t moved = 1 + test_count_descendants(c.test.world, child);
    const espl_status status = espl_attach(c.test.world, child, parent, NULL);

    (void)step;
    (void)size;
    ck_assert(status == ESPL_OK || status == ESPL_ERR_CYCLE);
    c.came += status == ESPL_OK ? moved : 0;
}

// Two leaves take turns below each other.
static void step_of_turns(size_t step, uint32_t size, uint64_t *random)
{
    const espl_entity a = c.nodes[c.count - 1 - step % 2], b = c.nodes[c.count - 2 + step % 2];

    (void)size;
    (void)random;
    ck_ok(espl_attach(c.test.world, a, step % 2 == 0 ? b : c.nodes[50], NULL));
    ck_ok(espl_attach(c.test.world, a, c.nodes[70], NULL));
    c.came += 2;
}

typedef struct churn_case {
    const char *name;
    uint32_t sizes[6]; // 0: no more
    size_t steps;
    void (*step)(size_t step, uint32_t size, uint64_t *random);
} churn_case;

static const churn_case churn_cases[] = {
    {"growth", {1, 2, 10, 60, 500, 5000}, 0, NULL},
    {"random churn", {3, 30, 300, 5000}, 20000, step_at_random},
    {"high parents", {3, 30, 300, 5000}, 20000, step_to_high_parents},
    {"moves of subtrees", {10, 100, 2000}, 3000, step_of_subtree},
    {"turns", {102}, 5000, step_of_turns},
};

enum { CHURN_CASES = sizeof churn_cases / sizeof *churn_cases };

FIXTURE(NULL, NULL);

TEST_LOOP(churn_costs_a_constant_for_each_node_that_comes, 0, CHURN_CASES)
{
    const churn_case *const way = &churn_cases[_i];

    if (test_lacks_room(5003, "churn")) {
        return;
    }
    for (size_t i = 0; i < 6 && way->sizes[i] != 0; ++i) {
        uint64_t random = i;

        begin_churn(way->sizes[i]);
        for (size_t step = 0; way->steps != 0 && step < test_scaled(way->steps); ++step) {
            way->step(step, way->sizes[i], &random);
        }
        end_churn(way->name);
    }
}

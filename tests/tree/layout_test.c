// SPDX-License-Identifier: MIT
// Layout: copies in breadth-first order, compaction of one tree, and layout debt. A tree that is
// laid out when its debt is due never costs more than twice the best possible.
#include "tests/asked.h"
#include "tests/tree/edits.h"

enum { NODES = 200, ROOM = 1200 };

static void set_up(void)
{
    fixture_begin(&fix);
}

static void tear_down(void)
{
    fixture_end(&fix);
}

// --- What a tree is, whatever its slots ---

typedef struct look {
    uint32_t entity, parent, flags, context;
    espl__placement placement;
    espl_pose world;
} look;

// All nodes below a root, depth-first, by entity.
static uint32_t look_at(uint32_t root, look *looks)
{
    uint32_t count = 0;

    for (uint32_t slot = root; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, root, true)) {
        const uint32_t up = forest->parent[slot];
        look *const l = &looks[count++];

        memset(l, 0, sizeof *l);
        l->entity = forest->links[slot].entity;
        l->parent = slot == root ? ESPL__NO_ENTITY : forest->links[up].entity;
        l->flags = forest->flags[slot] & ~(unsigned)ESPL__SLOT_SIDE;
        l->placement = espl__slot_placement(forest, slot);
        l->world = forest->world[slot];
    }
    return count;
}

static look before[NODES + 1], after[NODES + 1];

static void compare_looks(uint32_t root, uint32_t count)
{
    ck_assert_uint_eq(look_at(root, after), count);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_mem_eq(&before[i], &after[i], sizeof *before);
        ck_assert_uint_eq(forest->links[fix.slots[before[i].entity]].entity, before[i].entity);
    }
}

static uint32_t random_tree(uint64_t seed, uint64_t *random)
{
    const uint32_t size = 1 + test_below(random, seed % 8 == 0 ? NODES : 24);
    const uint32_t tree = fixture_random_tree(&fix, size, size + test_below(random, 9), random);

    if (seed % 2 == 0) {
        fixture_thin_out(&fix, tree, 3, random);
    }
    fixture_pose_all(&fix, tree, seed % 3 == 0 ? 0 : 1 + test_below(random, 8), random);
    espl__tree_drop_side(forest, tree);
    return tree;
}

// --- Copies ---

FIXTURE(set_up, tear_down);

TEST(a_copy_in_order_is_the_same_tree_breadth_first)
{
    const uint64_t seeds = test_scaled(5000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t from = random_tree(seed, &random);
        const espl__tree old = forest->trees[from];
        const uint32_t count = look_at(old.base, before);

        ck_ok(espl__forest_reserve(forest, count, 1));
        const uint32_t tree = espl__tree_take(forest), base = espl__range_take(forest, count);
        espl__side *const side =
            old.side == 0 ? NULL
                          : espl__side_make(forest, count, (old.side & ESPL__HAS_KEPT) != 0);

        memset(fix.moves, 0, sizeof fix.moves);
        const espl__transfer transfer = {forest, forest, fixture_moved, &fix};

        forest->trees[tree] = espl__copy_in_order(&transfer, old.base, tree, base, count, side);
        ck_assert(espl__sides_reserve(forest, side != NULL ? 1 : 0));
        espl__tree_put_side(forest, tree, side);
        ck_assert_uint_eq(forest->trees[tree].live, count);

        // The nodes left their old tree, which is to be released.
        ck_assert_uint_eq(forest->trees[from].live, 0);
        espl__tree_release(forest, from);
        ck_assert(fixture_is_breadth_first(&fix, tree));
        compare_looks(base, count);
        for (uint32_t i = 0; i < count; ++i) {
            ck_assert_uint_eq(fix.moves[before[i].entity], 1);
            ck_assert_uint_eq(forest->links[fix.slots[before[i].entity]].entity, before[i].entity);
        }
        espl__tree_drop_side(forest, tree);
        fixture_is_valid(&fix);
        begin_again();
    }
}

TEST(compaction_lays_one_tree_out)
{
    const uint64_t seeds = test_scaled(5000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t other = random_tree(seed + 1, &random), tree = random_tree(seed, &random);
        const espl__tree old = forest->trees[tree];
        const uint32_t count = look_at(old.base, before);
        const uint64_t laid_out = forest->nodes_laid_out;

        forest->trees[tree].debt = (old.flags & ESPL__TREE_IN_ORDER) != 0 ? 0 : 7;
        if (test_one_in(&random, 2)) {
            espl__tree_mark_unsettled(forest, tree);
        }
        ck_assert(espl__tree_compact(forest, tree, fixture_moved, &fix));
        const espl__tree *const t = &forest->trees[tree];

        ck_assert(fixture_is_breadth_first(&fix, tree));
        compare_looks(t->base, count);
        ck_assert_uint_ne(t->flags & ESPL__TREE_IN_ORDER, 0);
        ck_assert_uint_eq(t->debt, 0);
        ck_assert_uint_le(t->capacity, old.capacity + espl__tree_spare(count));
        ck_assert_uint_ge(t->capacity, count + espl__tree_spare(count));
        ck_assert_uint_eq(t->exceptional, old.exceptional);
        ck_assert_uint_eq(forest->nodes_laid_out - laid_out, count);
        ck_assert_uint_ne(forest->trees[other].live, 0);
        fixture_is_valid(&fix);
        begin_again();
    }
}

TEST(compaction_without_memory_changes_nothing)
{
    const uint64_t seeds = test_scaled(1000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = random_tree(seed, &random);
        bool is_done = false;

        for (size_t fail_at = 1; !is_done; ++fail_at) {
            fixture_snapshot was = fixture_take_snapshot();

            test_heap_arm(&fix.under, fail_at, true);
            is_done = espl__tree_compact(forest, tree, fixture_moved, &fix);
            test_heap_arm(&fix.under, 0, false);
            if (!is_done) {
                fixture_snapshot is = fixture_take_snapshot();

                fixture_compare(&was, &is, "compaction without memory");
            }
            free(was.words);
        }
        fixture_is_valid(&fix);
        begin_again();
    }
}

// --- Debt ---

TEST(a_tree_in_order_owes_nothing)
{
    const uint32_t tree = fixture_tree(&fix, 4);
    espl__context context = {.is_job = false};

    (void)fixture_add(&fix, forest->trees[tree].base, ESPL__NO_SLOT);
    espl__tree_add_debt(forest, &context, tree, 1000);
    ck_assert_uint_eq(forest->trees[tree].debt, 0);
    ck_assert_uint_eq(context.counts.debt, 0);
    ck_assert_uint_eq(forest->unsettled, ESPL__NO_TREE);
}

TEST(debt_is_due_when_it_reaches_the_cost_of_the_layout)
{
    const uint64_t seeds = test_scaled(2000);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        const uint32_t tree = random_tree(seed, &random);
        const espl__tree *const t = &forest->trees[tree];
        espl__context context = {.is_job = seed % 2 == 0};
        const uint32_t cost = t->live * ESPL__LAYOUT_COST;
        uint32_t debt = 0;

        if ((t->flags & ESPL__TREE_IN_ORDER) != 0) {
            begin_again();
            continue;
        }
        while (debt < cost) {
            const uint32_t amount = test_below(&random, cost);

            ck_assert(!espl__tree_is_due(t));
            ck_assert_uint_eq(t->flags & (ESPL__TREE_UNSETTLED | ESPL__TREE_DUE), 0);
            espl__tree_add_debt(forest, &context, tree, amount);
            debt += amount;
        }
        ck_assert(espl__tree_is_due(t));
        ck_assert_uint_eq(context.counts.debt, debt);
        ck_assert(context.has_due == context.is_job);
        ck_assert_uint_eq(t->flags & (ESPL__TREE_UNSETTLED | ESPL__TREE_DUE),
                          context.is_job ? ESPL__TREE_DUE : ESPL__TREE_UNSETTLED);
        espl__tree_add_debt(forest, &context, tree, UINT32_MAX);
        ck_assert_uint_eq(t->debt, UINT32_MAX);
        begin_again();
    }
}

// --- The price of debt ---

// Forests that go through the same: one pays its debt, one is never laid out, one at each edit.
typedef enum habit { PAYS, NEVER, ALWAYS, HABITS } habit;

static forest_fixture fixes[HABITS];

typedef struct price {
    uint64_t visited; // what a laid-out tree would visit, and the debt of the writes
    uint64_t layouts; // cost of layouts
} price;

static price prices[HABITS];
static uint32_t entities[NODES * 4], entity_count; // alive

static void lay_out(habit h)
{
    forest_fixture *const f = &fixes[h];
    const espl__tree *const t = &f->forest.trees[0];

    if ((t->flags & ESPL__TREE_IN_ORDER) == 0) {
        ck_ok(espl__forest_reserve(&f->forest, ROOM, 0));
        const espl__transfer transfer = {&f->forest, &f->forest, fixture_moved, f};

        // All that comes has room, because growth is not what is compared.
        const espl__tree now = espl__copy_in_order(&transfer, f->forest.trees[0].base, 0,
                                                   espl__range_take(&f->forest, ROOM), ROOM, NULL);

        espl__tree_replace(&f->forest, 0, &now, NULL);
        prices[h].layouts += (uint64_t)f->forest.trees[0].live * ESPL__LAYOUT_COST;
    }
    espl__tree_unmark_unsettled(&f->forest, 0);
}

// What the next structural call does.
static void settle(habit h)
{
    forest_fixture *const f = &fixes[h];

    if (h == ALWAYS || (h == PAYS && espl__tree_is_due(&f->forest.trees[0]))) {
        lay_out(h);
    }
    if (h == NEVER) {
        espl__tree_unmark_unsettled(&f->forest, 0);
    }
}

static void write_one(habit h, uint32_t entity, const espl_pose *pose)
{
    forest_fixture *const f = &fixes[h];
    const uint32_t slot = f->slots[entity];
    espl__context context = {.is_job = false};

    f->forest.local[slot] = *pose;
    fixture_follow(&f->forest, slot);
    espl__propagate_below(&f->forest, &context, slot);
    prices[h].visited += espl__count_below(&f->forest, slot) + context.counts.debt;
}

// Where a node comes among siblings that all forests have.
typedef struct spot {
    uint32_t parent, before; // entities; ESPL__NO_ENTITY for last
} spot;

static spot random_spot(uint64_t *random)
{
    const forest_fixture *const f = &fixes[0];
    const uint32_t parent = entities[test_below(random, entity_count)];
    const uint32_t child = fixture_child_of(f, f->slots[parent], random);

    return (spot){parent, child == ESPL__NO_SLOT ? ESPL__NO_ENTITY : f->forest.links[child].entity};
}

static uint32_t slot_or_last(const forest_fixture *f, uint32_t entity)
{
    return entity == ESPL__NO_ENTITY ? ESPL__NO_SLOT : f->slots[entity];
}

// A leaf comes or goes, or a subtree to an ancestor of its parent, everywhere alike.
static void edit_all(uint64_t *random)
{
    const spot s = random_spot(random);
    const uint32_t choice = test_below(random, 3), number = test_below(random, entity_count);
    const uint32_t entity = entities[number];
    const forest_fixture *const first = &fixes[0];
    const bool is_leaf =
        first->forest.links[first->slots[entity]].first_child == ESPL__NO_SLOT && entity != 0;
    const uint32_t added = first->entities;

    for (int h = 0; h < HABITS; ++h) {
        forest_fixture *const f = &fixes[h];

        if (choice == 0 && is_leaf && entity_count > 10) {
            fixture_remove(f, f->slots[entity]);
        } else if (choice == 1 || entity == 0 || entity_count <= 10) {
            const uint32_t slot = fixture_add(f, f->slots[s.parent], slot_or_last(f, s.before));

            ck_assert_uint_ne(slot, ESPL__NO_SLOT);
            fixture_follow(&f->forest, slot);
        } else {
            const uint32_t slot = f->slots[entity];
            const uint32_t up = f->forest.parent[f->forest.parent[slot]];
            const uint32_t parent = up == ESPL__NO_SLOT ? f->forest.parent[slot] : up;

            espl__node_unlink(&f->forest, slot);
            espl__node_link(&f->forest, slot, parent, ESPL__NO_SLOT);
            fixture_follow(&f->forest, slot);
            espl__propagate_by_links(&f->forest, &(espl__context){.is_job = false}, slot);
        }
        settle((habit)h);
    }
    if (first->entities != added) {
        entities[entity_count++] = added;
    } else if (first->slots[entity] == ESPL__NO_SLOT) {
        entities[number] = entities[--entity_count];
    }
}

static uint64_t total(habit h)
{
    return prices[h].visited + prices[h].layouts;
}

// Compare what was paid so far with the better of the others.
static void check_price(uint64_t seed, uint32_t largest)
{
    const uint64_t best = total(NEVER) < total(ALWAYS) ? total(NEVER) : total(ALWAYS);
    const uint64_t layout = (uint64_t)largest * ESPL__LAYOUT_COST;

    ck_assert_msg(total(PAYS) <= 2 * best + layout,
                  "seed %llu: pays %llu (layouts %llu), never %llu, always %llu, one layout %llu",
                  (unsigned long long)seed, (unsigned long long)total(PAYS),
                  (unsigned long long)prices[PAYS].layouts, (unsigned long long)total(NEVER),
                  (unsigned long long)total(ALWAYS), (unsigned long long)layout);
}

static void begin_prices(uint64_t seed, uint64_t *random)
{
    const uint32_t size = 10 + test_below(random, NODES / 2);

    entity_count = size;
    memset(prices, 0, sizeof prices);
    for (int h = 0; h < HABITS; ++h) {
        uint64_t same = seed;

        fixture_begin(&fixes[h]);
        (void)fixture_random_tree(&fixes[h], size, ROOM, &same);
        fixture_pose_all(&fixes[h], 0, 0, &same);
        if (h == ALWAYS) {
            lay_out(ALWAYS);
        }
    }
    for (uint32_t i = 0; i < size; ++i) {
        entities[i] = i;
    }
}

TEST(debt_costs_at_most_twice_the_best_and_one_layout)
{
    const uint64_t seeds = test_scaled(300);
    uint64_t paid = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        // Writes for each edit: from none to hundreds.
        const uint32_t writes = 1 + test_below(&random, seed % 3 == 0 ? 4 : 200);
        uint32_t largest = 0;

        begin_prices(seed, &random);
        for (uint32_t i = 0; i < 300 && entity_count < NODES; ++i) {
            if (test_one_in(&random, writes)) {
                edit_all(&random);
            }
            const uint32_t entity = seed % 5 == 0 ? 0 : entities[test_below(&random, entity_count)];
            const espl_pose pose = fixture_pose(&random);

            for (int h = 0; h < HABITS; ++h) {
                write_one((habit)h, entity, &pose);
            }
            largest = entity_count > largest ? entity_count : largest;
            check_price(seed, largest);
        }
        paid += prices[PAYS].layouts != 0;
        for (int h = 0; h < HABITS; ++h) {
            fixture_is_valid(&fixes[h]);
            fixture_end(&fixes[h]);
        }
    }
    ck_assert_uint_gt(paid, 0);
}

// --- Budget ---

enum { TREES = 24, LEAVES = 60 };

static test_world test;
static espl_entity roots[TREES], leaves[TREES][LEAVES];

static espl_world_stats stats(void)
{
    espl_world_stats now;

    espl_stats(test.world, &now);
    return now;
}

static void begin_trees(size_t budget)
{
    test_heap_init(&test.heap);
    memset(&test.hooks, 0, sizeof test.hooks);
    const espl_world_def def = {.allocator = test_heap_allocator(&test.heap),
                                .hooks = test_hooks_of(&test.hooks),
                                .tag = 7,
                                .layout_budget = budget};

    ck_ok(espl_world_create(&def, &test.world));
    for (uint32_t i = 0; i < TREES; ++i) {
        roots[i] = test_solo(test.world);
        for (uint32_t k = 0; k < LEAVES; ++k) {
            leaves[i][k] = test_solo(test.world);
            ck_ok(espl_attach(test.world, leaves[i][k], k < 4 ? roots[i] : leaves[i][k / 2], NULL));
        }
    }
    ck_ok(espl_compact(test.world));
}

static void break_order(void)
{
    for (uint32_t i = 0; i < TREES; ++i) {
        ck_ok(espl_move_before(test.world, leaves[i][0], espl_entity_null()));
        ck_ok(espl_destroy(test.world, leaves[i][LEAVES - 2], ESPL_EXTENT_OWNED));
    }
}

// Write until each tree owes more than its layout.
static void run_up_debt(void)
{
    const size_t nodes = stats().entities;
    const uint64_t from = stats().layout_debt_incurred;

    for (uint32_t round = 0; stats().layout_debt_incurred - from < 20 * ESPL__LAYOUT_COST * nodes;
         ++round) {
        const espl_transform value = test_at((float)(round + 1), 0, 0);

        ck_assert_uint_lt(round, 100000);
        for (uint32_t i = 0; i < TREES; ++i) {
            ck_ok(espl_set_local_transform(test.world, roots[i], &value));
            ck_ok(espl_set_local_transform(test.world, leaves[i][1], &value));
        }
    }
}

FIXTURE(NULL, NULL);

TEST(writes_move_no_slots_and_a_sync_pays)
{
    if (test_lacks_room(TREES * (LEAVES + 1), "trees in debt")) {
        return;
    }
    uint32_t ranks[LEAVES];

    begin_trees(0);
    break_order();
    for (uint32_t k = 0; k < LEAVES; ++k) {
        ranks[k] = test_rank(test.world, leaves[0][k]);
    }
    const uint64_t before_sync = stats().nodes_laid_out;

    run_up_debt();
    ck_assert_uint_eq(stats().nodes_laid_out, before_sync);
    for (uint32_t k = 0; k < LEAVES; ++k) {
        ck_assert_uint_eq(test_rank(test.world, leaves[0][k]), ranks[k]);
    }
    ck_ok(espl_sync(test.world, NULL));
    ck_assert_uint_eq(stats().nodes_laid_out - before_sync, TREES * LEAVES);
    ck_ok(espl_sync(test.world, NULL));
    ck_assert_uint_eq(stats().nodes_laid_out - before_sync, TREES * LEAVES);
    ck_assert_uint_eq(stats().holes, 0);
    test_world_end(&test);
}

TEST(one_sync_lays_out_its_budget_and_at_most_one_tree_more)
{
    if (test_lacks_room(TREES * (LEAVES + 1), "trees in debt")) {
        return;
    }
    static const size_t budgets[] = {1, 30, 61, 100, 200, 1000};

    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; ++b) {
        uint64_t before_sync = 0, all = 0;
        size_t syncs = 0;

        begin_trees(budgets[b]);
        break_order();
        run_up_debt();
        do {
            before_sync = stats().nodes_laid_out;
            ck_ok(espl_sync(test.world, NULL));
            const uint64_t laid_out = stats().nodes_laid_out - before_sync;

            ck_assert_uint_le(laid_out, budgets[b] + LEAVES);
            all += laid_out;
            syncs += 1;
        } while (stats().nodes_laid_out != before_sync);

        // A tree that is larger than the budget has its turn too.
        ck_assert_uint_eq(all, TREES * LEAVES);
        ck_assert_uint_le(syncs, TREES + 1);
        ck_assert_uint_eq(stats().holes, 0);
        test_world_end(&test);
    }
}

TEST(debt_of_a_sync_without_memory_is_paid_by_a_later_one)
{
    if (test_lacks_room(TREES * (LEAVES + 1), "trees in debt")) {
        return;
    }
    begin_trees(0);
    break_order();
    run_up_debt();
    const uint64_t before_sync = stats().nodes_laid_out;

    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_sync(test.world, NULL));
    test_heap_arm(&test.heap, 0, false);
    test_world_is_valid(test.world);
    ck_ok(espl_sync(test.world, NULL));
    ck_assert_uint_eq(stats().nodes_laid_out - before_sync, TREES * LEAVES);
    test_world_end(&test);
}

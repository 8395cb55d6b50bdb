// SPDX-License-Identifier: MIT
// A run and its splice beside a tree of linked nodes that is edited one by one and walked
// breadth-first: it foretells every refusal, all that the steps tell, and every rank, parent, first
// child, slot and hole of the run to be.
#ifndef ESPALIER_TESTS_TREE_SPLICES_H
#define ESPALIER_TESTS_TREE_SPLICES_H

#include "lib/tree/splice.h"
#include "tests/tree/grove.h"

#include <check.h>
#include <string.h>

enum { NODES = GROVE_LIMIT + ESPL__SPLICE_MADE, NOBODY = UINT32_MAX };

// --- The tree that is edited by hand ---

typedef struct leaf {
    uint32_t parent, first, last, next; // nodes
    uint32_t edit, level;               // of what comes in or goes; of others: NOBODY, 0
    uint32_t position;                  // of what comes in, in its recipe
    bool is_gone, is_fed;               // fed: something comes in below it
} leaf;

typedef struct tree {
    leaf nodes[NODES]; // those of the run by rank, then those that come in
    uint32_t old, count, gone;
    uint32_t edits, events;
    uint32_t begin; // first rank that changes
} tree;

static inline void append(tree *t, uint32_t node, uint32_t parent)
{
    leaf *const up = &t->nodes[parent];

    if (up->first == NOBODY) {
        up->first = node;
    } else {
        t->nodes[up->last].next = node;
    }
    up->last = node;
}

static inline uint32_t add_node(tree *t, uint32_t parent, uint32_t edit, uint32_t position)
{
    const uint32_t node = t->count++;
    const bool is_top = edit == NOBODY || t->nodes[parent].edit != edit;

    t->nodes[node] = (leaf){.parent = parent,
                            .first = NOBODY,
                            .last = NOBODY,
                            .next = NOBODY,
                            .edit = edit,
                            .level = is_top ? 0 : t->nodes[parent].level + 1,
                            .position = position};
    if (parent != NOBODY) {
        append(t, node, parent);
    }
    return node;
}

static inline void read_tree(tree *t, const uint32_t *parent, uint32_t size)
{
    memset(t, 0, sizeof *t);
    for (uint32_t rank = 0; rank < size; ++rank) {
        (void)add_node(t, rank == 0 ? NOBODY : parent[rank], NOBODY, 0);
    }
    t->old = t->begin = size;
}

static inline bool is_below(const tree *t, uint32_t node, uint32_t top)
{
    while (node != top && node != NOBODY) {
        node = t->nodes[node].parent;
    }
    return node == top;
}

static inline uint32_t depth_of(const tree *t, uint32_t node)
{
    uint32_t depth = 0;

    for (; t->nodes[node].parent != NOBODY; node = t->nodes[node].parent) {
        depth += 1;
    }
    return depth;
}

// Levels of a subtree of the run.
static inline uint32_t height_of(const tree *t, uint32_t top)
{
    uint32_t height = 0;

    for (uint32_t node = top; node < t->old; ++node) {
        if (is_below(t, node, top)) {
            const uint32_t levels = depth_of(t, node) - depth_of(t, top) + 1;

            height = levels > height ? levels : height;
        }
    }
    return height;
}

// Tell whether a cut or, with a recipe, a paste can be done.
static inline bool can_be_done(const tree *t, uint32_t rank, const espl__recipe *recipe)
{
    const uint32_t events = recipe != NULL ? recipe->levels : height_of(t, rank);
    const uint32_t made = t->count - t->old + (recipe != NULL ? recipe->size : 0);

    if (t->edits == ESPL__SPLICE_EDITS || t->events + events > ESPL__SPLICE_EVENTS ||
        made > ESPL__SPLICE_MADE || t->nodes[rank].is_gone) {
        return false;
    }
    if (recipe != NULL) {
        return true;
    }
    for (uint32_t node = rank; node < t->old; ++node) {
        if (is_below(t, node, rank) && (t->nodes[node].is_gone || t->nodes[node].is_fed)) {
            return false;
        }
    }
    return rank != 0;
}

static inline void change_from(tree *t, uint32_t rank)
{
    t->begin = rank < t->begin ? rank : t->begin;
}

static inline void cut_by_hand(tree *t, uint32_t rank)
{
    t->events += height_of(t, rank);
    for (uint32_t node = rank; node < t->old; ++node) {
        if (is_below(t, node, rank)) {
            t->nodes[node].is_gone = true;
            t->nodes[node].edit = t->edits;
            t->nodes[node].level = node == rank ? 0 : t->nodes[t->nodes[node].parent].level + 1;
            t->gone += 1;
        }
    }
    t->edits += 1;
    change_from(t, rank);
}

// Behind the last child of a rank: where that of the ranks behind begin.
static inline uint32_t gap_behind(const tree *t, uint32_t rank)
{
    uint32_t gap = 1;

    while (gap < t->old && t->nodes[gap].parent <= rank) {
        gap += 1;
    }
    return gap;
}

static inline void paste_by_hand(tree *t, uint32_t rank, const espl__recipe *recipe)
{
    const uint32_t first = t->count;

    for (uint32_t i = 0; i < recipe->size; ++i) {
        (void)add_node(t, i == 0 ? rank : first + recipe->parents[i], t->edits, i);
    }
    t->nodes[rank].is_fed = true;
    t->edits += 1;
    t->events += recipe->levels;
    change_from(t, gap_behind(t, rank));
}

// --- Recipes ---

enum { RECIPE_NODES = ESPL__SPLICE_MADE + 1 };

typedef struct card {
    espl__recipe recipe;
    uint32_t slots[RECIPE_NODES], parents[RECIPE_NODES], firsts[RECIPE_NODES];
    uint32_t starts[RECIPE_NODES + 1];
} card;

// Levels by the depth of each node, one by one.
static inline void write_card(card *c, const uint32_t *parent, uint32_t size)
{
    uint32_t depths[RECIPE_NODES] = {0}, levels = 1;

    ck_assert_uint_le(size, RECIPE_NODES);
    c->parents[0] = ESPL__NO_SLOT;
    c->starts[0] = 0;
    for (uint32_t i = 1; i < size; ++i) {
        c->parents[i] = parent[i];
        depths[i] = depths[parent[i]] + 1;
        if (depths[i] != depths[i - 1]) {
            c->starts[levels++] = i;
        }
    }
    c->starts[levels] = size;
    // As if each had an empty list behind the children of those before it.
    for (uint32_t i = 0, child = 1; i < size; ++i) {
        for (; child < size && c->parents[child] < i; ++child) {
        }
        c->firsts[i] = child;
    }
    c->recipe = (espl__recipe){size, levels, c->slots, c->parents, c->firsts, c->starts};
}

static inline void write_random_card(card *c, uint32_t size, uint64_t *random)
{
    uint32_t parent[RECIPE_NODES];

    grove_random_parents(parent, size, 1 + test_below(random, 2) * test_below(random, size),
                         random);
    write_card(c, parent, size);
}

static inline void write_chain(card *c, uint32_t size)
{
    uint32_t parent[RECIPE_NODES];

    for (uint32_t i = 0; i < size; ++i) {
        parent[i] = i - 1;
    }
    write_card(c, parent, size);
}

static inline void write_star(card *c, uint32_t size)
{
    static const uint32_t parent[RECIPE_NODES] = {0};

    write_card(c, parent, size);
}

// --- A run and its splice ---

typedef struct bench {
    grove g;
    uint32_t run;
    tree t;
    espl__splice splice;
    // As it was.
    espl__run was;
    uint32_t order[NODES]; // of all that were in use
    uint64_t hash;
} bench;

static bench b;

static inline void bench_begin(const grove_plan *plan)
{
    const espl__forest *const forest = &b.g.forest;

    grove_begin(&b.g);
    b.run = grove_plant(&b.g, plan);
    b.was = forest->runs[b.run];
    memcpy(b.order, forest->order + b.was.base, b.was.used * sizeof *b.order);
    b.hash = grove_hash(&b.g);
    read_tree(&b.t, plan->parent, plan->size);
    espl__splice_begin(&b.splice, forest, b.run);
}

static inline void bench_end(void)
{
    espl__run_release(&b.g.forest, b.run);
    grove_end(&b.g);
}

// Try an edit that the tree can tell the fate of. A splice that refused is of no use any more: the
// one before goes on.
static inline bool edit(uint32_t rank, const espl__recipe *recipe)
{
    const bool is_fine = can_be_done(&b.t, rank, recipe);
    static espl__splice before;

    before = b.splice;
    const bool is_done = recipe != NULL ? espl__splice_paste(&b.splice, rank, recipe)
                                        : espl__splice_cut(&b.splice, rank);

    ck_assert_msg(is_done == is_fine, "%s at rank %u of %u", recipe != NULL ? "paste" : "cut", rank,
                  b.t.old);
    if (!is_done) {
        b.splice = before;
    } else if (recipe != NULL) {
        paste_by_hand(&b.t, rank, recipe);
    } else {
        cut_by_hand(&b.t, rank);
    }
    ck_assert_uint_eq(b.splice.made, b.t.count - b.t.old);
    ck_assert_uint_eq(b.splice.gone, b.t.gone);
    ck_assert_uint_eq(b.splice.event_count, b.t.events);
    return is_done;
}

static inline bool sort_edits(void)
{
    const bool is_fine = b.t.events != 0 && b.t.count - b.t.begin <= ESPL__SPLICE_RANKS;
    const bool is_sorted = espl__splice_sort(&b.splice);

    ck_assert_int_eq(is_sorted, is_fine);
    ck_assert_uint_eq(grove_hash(&b.g), b.hash);
    return is_sorted;
}

// --- What is to be ---

typedef struct expected {
    uint32_t node[NODES], slot[NODES], rank_of[NODES], first[NODES];
    uint32_t size, taken;
} expected;

// The slot of the n-th that comes in, by rank.
static inline uint32_t nth_hole(uint32_t n)
{
    const uint32_t at = b.was.size + n;

    return at < b.was.used ? b.order[at] : b.was.base + at;
}

static inline void expect_node(expected *x, uint32_t node)
{
    x->rank_of[node] = x->size;
    x->node[x->size] = node;
    x->slot[x->size++] = node < b.t.old ? b.order[node] : nth_hole(x->taken++);
}

// Where the children of each rank stand or would stand.
static inline void expect_firsts(expected *x)
{
    for (uint32_t rank = 0, first = 1; rank < x->size; ++rank) {
        while (first < x->size && x->rank_of[b.t.nodes[x->node[first]].parent] < rank) {
            first += 1;
        }
        x->first[rank] = first;
    }
}

static inline void expect(expected *x)
{
    x->size = x->taken = 0;
    expect_node(x, 0);
    for (uint32_t at = 0; at < x->size; ++at) {
        for (uint32_t child = b.t.nodes[x->node[at]].first; child != NOBODY;
             child = b.t.nodes[child].next) {
            if (!b.t.nodes[child].is_gone) {
                expect_node(x, child);
            }
        }
    }
    expect_firsts(x);
}

static inline void links_are(const expected *x)
{
    const espl__forest *const forest = &b.g.forest;
    const uint32_t base = forest->runs[b.run].base;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        const uint32_t parent = b.t.nodes[x->node[rank]].parent;

        ck_assert_uint_eq(forest->order[base + rank], x->slot[rank]);
        ck_assert_uint_eq(forest->rank[x->slot[rank]], rank);
        ck_assert_uint_eq(forest->parent[base + rank],
                          parent == NOBODY ? ESPL__NO_SLOT : x->rank_of[parent]);
        ck_assert_uint_eq(forest->first[base + rank], x->first[rank]);
    }
}

// Slots that nodes left, in the order they had, then holes that are left, where they were.
static inline void holes_are(const expected *x)
{
    const espl__forest *const forest = &b.g.forest;
    const uint32_t reached = b.was.size + x->taken;
    uint32_t at = x->size;

    for (uint32_t node = 0; node < b.t.old; ++node) {
        if (b.t.nodes[node].is_gone) {
            ck_assert_uint_eq(forest->order[b.was.base + at], b.order[node]);
            ck_assert_uint_eq(forest->rank[b.order[node]], at);
            ck_assert_uint_eq(forest->entity[b.order[node]], ESPL__NO_ENTITY);
            at += 1;
        }
    }
    ck_assert_uint_eq(at, reached);
    for (; at < b.was.used; ++at) {
        ck_assert_uint_eq(forest->order[b.was.base + at], b.order[at]);
        ck_assert_uint_eq(forest->rank[b.order[at]], at);
    }
    ck_assert_uint_eq(at, forest->runs[b.run].used);
}

static inline void header_is(const expected *x)
{
    const espl__run *const run = &b.g.forest.runs[b.run];
    const uint32_t reached = b.was.size + x->taken;
    bool is_straight = (b.was.flags & ESPL__RUN_IN_ORDER) != 0;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        is_straight = is_straight && x->slot[rank] == b.was.base + rank;
    }
    ck_assert_uint_eq(run->base, b.was.base);
    ck_assert_uint_eq(run->capacity, b.was.capacity);
    ck_assert_uint_eq(run->size, x->size);
    ck_assert_uint_eq(run->used, reached > b.was.used ? reached : b.was.used);
    ck_assert_uint_eq(run->flags,
                      is_straight ? b.was.flags : b.was.flags & ~(unsigned)ESPL__RUN_IN_ORDER);
}

// Fill what comes in, and let worlds follow: the whole forest is sound then.
static inline void settle(const expected *x)
{
    espl__forest *const forest = &b.g.forest;
    uint64_t random = x->size;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        if (x->node[rank] >= b.t.old) {
            forest->entity[x->slot[rank]] = b.g.entities++;
            forest->flags[x->slot[rank]] = 0;
            forest->local[x->slot[rank]] = grove_random_pose(&random);
        }
    }
    ck_assert(espl__propagate_at(forest, &forest->crew, b.run, 0));
    ck_assert(espl__propagate_below(forest, &forest->crew, b.run, 0));
    grove_is_sound(&b.g);
}

// --- The steps ---

// The tree with all who go and all who come in: how many of the run stand before each.
static inline void count_before(uint32_t *before)
{
    static uint32_t queue[NODES];
    uint32_t count = 1, old = 0;

    queue[0] = 0;
    for (uint32_t at = 0; at < count; ++at) {
        const uint32_t node = queue[at];

        before[node] = old;
        old += node < b.t.old ? 1 : 0;
        for (uint32_t child = b.t.nodes[node].first; child != NOBODY;
             child = b.t.nodes[child].next) {
            queue[count++] = child;
        }
    }
    ck_assert_uint_eq(count, b.t.count);
}

// The first node of a level of an edit, from a node on.
static inline uint32_t next_of(uint32_t edit, uint32_t level, uint32_t node)
{
    while (node < b.t.count && (b.t.nodes[node].edit != edit || b.t.nodes[node].level != level)) {
        node += 1;
    }
    return node;
}

// What a step adds to the links that a recipe tells.
static inline void told_links_are(const espl__splice_step *step, const espl__recipe *recipe,
                                  uint32_t node, const expected *x)
{
    const leaf *const made = &b.t.nodes[node];
    const uint32_t rank = x->rank_of[node];

    ck_assert_uint_eq(step->parents + recipe->parents[made->position], x->rank_of[made->parent]);
    // Of the last level the commit tells it, which the whole run shows.
    if (step->start + step->count < recipe->size) {
        ck_assert_uint_eq(step->firsts + recipe->firsts[made->position], x->first[rank]);
    }
}

// @return the first node of the step.
static inline uint32_t step_is(const espl__splice_step *step, uint32_t level,
                               const uint32_t *before, const espl__recipe *recipe,
                               const expected *x)
{
    const uint32_t first = next_of(step->edit, level, 0);
    uint32_t count = 0;

    ck_assert_uint_lt(first, b.t.count);
    for (uint32_t node = first; node < b.t.count;
         node = next_of(step->edit, level, node + 1), ++count) {
        if (step->comes) {
            ck_assert_uint_eq(b.t.nodes[node].position, step->start + count);
            ck_assert_uint_eq(node - b.t.old, step->made + count);
            told_links_are(step, recipe, node, x);
        } else {
            ck_assert_uint_eq(node, step->gap + count);
        }
    }
    ck_assert_int_eq(step->comes, first >= b.t.old);
    ck_assert_uint_eq(step->count, count);
    ck_assert_uint_eq(step->gap, before[first]);
    ck_assert_uint_eq(step->split, level == 0 ? b.t.nodes[first].parent + 1
                                              : before[next_of(step->edit, level - 1, 0)]);
    return first;
}

// By rank; what comes in before a rank that goes is told first.
static inline void steps_are_in_order(const espl__splice_step *a, const espl__splice_step *z,
                                      uint32_t first_of_a, uint32_t first_of_z, const expected *x)
{
    ck_assert_uint_le(a->gap, z->gap);
    if (a->gap == z->gap) {
        ck_assert(a->comes);
        ck_assert(!z->comes || x->rank_of[first_of_a] < x->rank_of[first_of_z]);
    }
}

static inline void steps_are(const espl__splice_step *steps, uint32_t count,
                             const espl__recipe *const *recipes, const expected *x)
{
    static uint32_t before[NODES];
    uint32_t levels[ESPL__SPLICE_EDITS] = {0}, made = 0, gone = 0, last = 0;

    count_before(before);
    for (uint32_t i = 0; i < count; ++i) {
        const espl__splice_step *const step = &steps[i];

        ck_assert_uint_lt(step->edit, b.t.edits);
        const uint32_t first = step_is(step, levels[step->edit]++, before, recipes[step->edit], x);

        if (i != 0) {
            steps_are_in_order(step - 1, step, last, first, x);
        }
        last = first;
        made += step->comes ? step->count : 0;
        gone += step->comes ? 0 : step->count;
    }
    ck_assert_uint_eq(made, b.t.count - b.t.old);
    ck_assert_uint_eq(gone, b.t.gone);
}

// All that a commit has: the splice is gone then.
typedef struct worked_out {
    espl__splice_step steps[ESPL__SPLICE_EVENTS + 1];
    const espl__recipe *recipes[ESPL__SPLICE_EDITS];
    espl__splice_copy copies[ESPL__SPLICE_EDITS];
    uint32_t count;
    uint32_t slots[ESPL__SPLICE_MADE + 1]; // by edit, then position
} worked_out;

static inline void work_out(worked_out *w, const expected *x)
{
    uint32_t made = 0;

    w->count = b.splice.event_count;
    for (uint32_t i = 0; i < b.splice.edit_count; ++i) {
        w->recipes[i] = b.splice.edits[i].recipe;
        w->copies[i] = (espl__splice_copy){w->recipes[i], w->slots + made};
        made += w->recipes[i] != NULL ? w->recipes[i]->size : 0;
    }
    memset(w->steps, 0xa5, sizeof w->steps);
    memset(w->slots, 0xff, sizeof w->slots);
    const espl__splice_step behind = w->steps[w->count];

    espl__splice_resolve(&b.splice, w->steps);
    ck_assert_int_eq(memcmp(&w->steps[w->count], &behind, sizeof behind), 0);
    ck_assert_uint_eq(grove_hash(&b.g), b.hash);
    steps_are(w->steps, w->count, w->recipes, x);
    memset(&b.splice, 0xa5, sizeof b.splice);
}

static inline void slots_are(const worked_out *w, const expected *x)
{
    for (uint32_t node = b.t.old; node < b.t.count; ++node) {
        ck_assert_uint_eq(w->slots[node - b.t.old], x->slot[x->rank_of[node]]);
    }
    ck_assert_uint_eq(w->slots[b.t.count - b.t.old], UINT32_MAX);
}

static inline void commit(void)
{
    static worked_out w;
    static expected x;

    expect(&x);
    work_out(&w, &x);
    espl__splice_commit(&b.g.forest, b.run, w.steps, w.count, w.copies);
    links_are(&x);
    holes_are(&x);
    header_is(&x);
    slots_are(&w, &x);
    settle(&x);
}

// --- In another range ---

// Those who stay hold what they held, which stands in their old slots still.
static inline void values_are(const expected *x)
{
    const espl__forest *const forest = &b.g.forest;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        const uint32_t node = x->node[rank], slot = x->slot[rank];

        if (node >= b.t.old) {
            continue;
        }
        const uint32_t from = b.order[node];

        ck_assert_int_eq(memcmp(&forest->local[slot], &forest->local[from], sizeof(espl_pose)), 0);
        ck_assert_int_eq(memcmp(&forest->world[slot], &forest->world[from], sizeof(espl_pose)), 0);
        ck_assert_uint_eq(forest->flags[slot], forest->flags[from]);
        ck_assert_uint_eq(forest->entity[slot], forest->entity[from]);
    }
}

static inline void resettled_header_is(const expected *x, uint32_t base, uint32_t capacity)
{
    const espl__forest *const forest = &b.g.forest;
    const espl__run *const run = &forest->runs[b.run];

    ck_assert_uint_eq(run->base, base);
    ck_assert_uint_eq(run->capacity, capacity);
    ck_assert_uint_eq(run->size, x->size);
    ck_assert_uint_eq(run->used, x->size);
    ck_assert_uint_eq(run->flags, b.was.flags | (unsigned)ESPL__RUN_IN_ORDER);
    for (uint32_t i = 0; i < capacity; ++i) {
        ck_assert_uint_eq(forest->run[base + i], b.run);
    }
}

// Write the run into another range, with so many slots to spare.
static inline void resettle(uint32_t spare)
{
    espl__forest *const forest = &b.g.forest;
    static worked_out w;
    static expected x;

    expect(&x);
    work_out(&w, &x);
    const uint32_t capacity = x.size + spare;

    ck_assert_int_eq(espl__forest_reserve(forest, capacity, 0), ESPL_OK);
    const espl__resettling to = {
        .base = espl__range_take(forest, capacity),
        .capacity = capacity,
        .steps = w.steps,
        .step_count = w.count,
        .copies = w.copies,
    };

    espl__splice_resettle(forest, b.run, &to);
    for (uint32_t rank = 0; rank < x.size; ++rank) {
        x.slot[rank] = to.base + rank;
    }
    links_are(&x);
    resettled_header_is(&x, to.base, capacity);
    slots_are(&w, &x);
    values_are(&x);
    espl__range_give(forest, b.was.base, b.was.capacity);
    settle(&x);
}

#endif

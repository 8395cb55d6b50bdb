// SPDX-License-Identifier: MIT
// Edits of a sketch against a naive tree: every node knows its parent, its children in a plain
// list, and nothing else.
#include "lib/tree/sketch.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANTS = 256, NONE = ESPL__NO_NODE };

typedef struct plant {
    uint32_t parent, count; // NONE: a root
    uint32_t child[PLANTS];
    espl_pose local;
    espl__extra extra;
    bool is_pass, is_dead;
} plant;

static grove g;
static espl__sketch sketch;
static void *block; // the slices
static size_t block_size;
static plant plants[PLANTS];
static uint32_t plant_count;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    memset(&sketch, 0, sizeof sketch);
    block = NULL;
    plant_count = 0;
    random_state = 1;
}

static void drop_sketch(void)
{
    espl__sketch_drop(&sketch);
    espl__heap_give(&g.heap, ESPL__FOR_COMMANDS, block, 1, block_size, 64);
    block = NULL;
}

static void tear_down(void)
{
    drop_sketch();
    grove_end(&g);
}

// Slices for so many nodes and no written transform, as a playback would cut them.
static void begin_sketch(size_t capacity)
{
    drop_sketch();
    memset(&sketch, 0, sizeof sketch);
    block_size = espl__sketch_size(capacity);
    block = espl__heap_take(&g.heap, ESPL__FOR_COMMANDS, 1, block_size, 64);
    ck_assert_ptr_nonnull(block);
    sketch.forest = &g.forest;
    sketch.heap = &g.heap;
    espl__sketch_use(&sketch, block, capacity);
    espl__sketch_clear(&sketch);
    plant_count = 0;
}

static uint32_t below(uint32_t bound)
{
    return test_below(&random_state, bound);
}

// --- The naive tree ---

static void hang(uint32_t node, uint32_t parent, uint32_t at)
{
    plant *const p = &plants[parent];

    memmove(p->child + at + 1, p->child + at, (p->count - at) * sizeof *p->child);
    p->child[at] = node;
    p->count += 1;
    plants[node].parent = parent;
}

// The place that the node had.
static uint32_t cut(uint32_t node)
{
    plant *const p = &plants[plants[node].parent];
    uint32_t at = 0;

    while (p->child[at] != node) {
        at += 1;
    }
    p->count -= 1;
    memmove(p->child + at, p->child + at + 1, (p->count - at) * sizeof *p->child);
    plants[node].parent = NONE;
    return at;
}

static void take_out(uint32_t node)
{
    plant *const p = &plants[node];
    const uint32_t parent = p->parent;
    const uint32_t at = parent == NONE ? 0 : cut(node);

    for (uint32_t i = 0; i < p->count; ++i) {
        plants[p->child[i]].parent = NONE;
        if (parent != NONE) {
            hang(p->child[i], parent, at + i);
        }
    }
    p->count = 0;
}

static bool is_at_or_below(uint32_t node, uint32_t top)
{
    while (node != NONE && node != top) {
        node = plants[node].parent;
    }
    return node == top;
}

static uint32_t add_plant(espl_pose local, espl__extra extra, bool is_pass)
{
    ck_assert_uint_lt(plant_count, PLANTS);
    plants[plant_count] =
        (plant){.parent = NONE, .local = local, .extra = extra, .is_pass = is_pass};
    return plant_count++;
}

// World of a node, from the top down. A pass-through shows its parent's; as a root the identity.
static espl_pose plain_world(uint32_t node)
{
    uint32_t path[PLANTS], count = 0;
    espl_pose world = espl__pose_identity();
    espl__extra extra = espl__extra_default();
    bool is_root = true;

    for (uint32_t up = node; up != NONE; up = plants[up].parent) {
        path[count++] = up;
    }
    while (count > 0) {
        const plant *const p = &plants[path[--count]];

        if (!p->is_pass) {
            world = is_root ? p->local : espl__pose_compose(&world, extra.stretch, &p->local);
            extra = p->extra;
        }
        is_root = false;
    }
    return world;
}

// Copy a run to the naive tree, as the sketch loads it. @return the number of its root.
static uint32_t load(uint32_t run)
{
    const espl__forest *const forest = &g.forest;
    const espl__run header = forest->runs[run];
    const uint32_t first = plant_count;

    ck_assert(espl__sketch_reserve_nodes(&sketch, header.size));
    ck_assert_uint_eq(espl__sketch_load(&sketch, run), first);
    for (uint32_t rank = 0; rank < header.size; ++rank) {
        const uint32_t slot = forest->order[header.base + rank];
        const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
        const uint32_t node =
            add_plant(forest->local[slot], espl__slot_extra(forest, slot), is_pass);

        if (rank != 0) {
            const uint32_t parent = first + forest->parent[header.base + rank];

            hang(node, parent, plants[parent].count);
        }
    }
    for (uint32_t rank = 0; rank < header.size; ++rank) {
        if (espl__slot_is(forest, grove_slot(&g, run, rank), ESPL__SLOT_GHOST)) {
            take_out(first + rank);
            plants[first + rank].is_dead = true;
        }
    }
    return first;
}

// --- Comparing ---

static void links_agree(void)
{
    for (uint32_t node = 0; node < plant_count; ++node) {
        const plant *const p = &plants[node];
        uint32_t previous = NONE, child = sketch.nodes[node].first;
        bool agree = sketch.nodes[node].parent == p->parent;

        for (uint32_t i = 0; agree && i < p->count; ++i) {
            agree = child == p->child[i] && sketch.nodes[child].previous == previous &&
                    sketch.nodes[child].parent == node;
            previous = child;
            child = agree ? sketch.nodes[child].next : NONE;
        }
        ck_assert_msg(agree && child == NONE && sketch.nodes[node].last == previous,
                      "links of node %u", node);
    }
}

static void worlds_agree(void)
{
    for (uint32_t node = 0; node < plant_count; ++node) {
        if (!plants[node].is_dead) {
            const espl_pose expected = plain_world(node);
            const espl_pose world = espl__sketch_world(&sketch, node);

            ck_assert_msg(grove_same(&expected, &world), "world of node %u", node);
        }
    }
}

// One hierarchy of the layout: a queue, and SPEC's formulas.
static void hierarchy_agrees(uint32_t root, const espl__laid *laid)
{
    uint32_t queue[PLANTS], parent[PLANTS], size = 1, first = 1, entrants = 0;
    const uint32_t *const order = sketch.order + laid->begin;
    const uint32_t residents = laid->resident_end - laid->resident_begin;

    queue[0] = root;
    parent[0] = ESPL__NO_SLOT;
    for (uint32_t at = 0; at < size; ++at) {
        const plant *const p = &plants[queue[at]];

        ck_assert_uint_eq(order[at], queue[at]);
        ck_assert_uint_eq(sketch.parent[laid->begin + at], parent[at]);
        ck_assert_uint_eq(sketch.first[laid->begin + at], first);
        first += p->count;
        entrants += queue[at] - laid->resident_begin >= residents;
        for (uint32_t i = 0; i < p->count; ++i) {
            parent[size] = at;
            queue[size++] = p->child[i];
        }
    }
    ck_assert_uint_eq(first, size);
    ck_assert_uint_eq(laid->size, size);
    ck_assert_uint_eq(laid->entrants, entrants);
}

// The run that a root was the root of goes on with it.
static void residents_agree(uint32_t root, const espl__laid *laid)
{
    const espl__node *const n = &sketch.nodes[root];
    const bool was_root =
        (n->flags & ESPL__NODE_CLONE) == 0 && g.forest.rank[n->slot] == 0;

    ck_assert_uint_eq(laid->resident_begin, root);
    ck_assert_uint_eq(laid->resident_end - root,
                      was_root ? espl__run_of(&g.forest, n->slot)->size : 0);
}

static void final_worlds_agree(void)
{
    size_t changed = 0;

    for (uint32_t node = 0; node < plant_count; ++node) {
        const espl__node *const n = &sketch.nodes[node];
        const bool differs = (n->flags & ESPL__NODE_CHANGED) != 0;

        if (!plants[node].is_dead) {
            const espl_pose expected = plain_world(node);

            ck_assert_msg(grove_same(&expected, differs ? &sketch.worlds[node]
                                                        : &g.forest.world[n->slot]),
                          "final world of node %u", node);
            changed += differs;
        }
    }
    ck_assert_uint_eq(sketch.changed_count, changed);
}

static void layout_agrees(void)
{
    uint32_t begin = 0;
    size_t laid = 0;

    ck_assert(espl__sketch_lay_out(&sketch));
    for (uint32_t node = 0; node < plant_count; ++node) {
        if (plants[node].parent == NONE && !plants[node].is_dead) {
            ck_assert_uint_lt(laid, sketch.laid_count);
            ck_assert_uint_eq(sketch.laid[laid].begin, begin);
            residents_agree(node, &sketch.laid[laid]);
            hierarchy_agrees(node, &sketch.laid[laid]);
            begin += sketch.laid[laid++].size;
        }
    }
    ck_assert_uint_eq(sketch.laid_count, laid);
    final_worlds_agree();
}

// --- Edits, each told to the sketch as a playback tells it, and to the naive tree ---

static uint32_t any_living(void)
{
    uint32_t node = below(plant_count);

    while (plants[node].is_dead) {
        node = (node + 1) % plant_count;
    }
    return node;
}

static void unlink_one(uint32_t node)
{
    espl__sketch_unlink(&sketch, node);
    espl__sketch_note(&sketch, node, ESPL__NODE_MOVED);
    espl__sketch_touch(&sketch, node);
    if (plants[node].parent != NONE) {
        (void)cut(node);
    }
}

static void link_one(uint32_t node, uint32_t parent, uint32_t at)
{
    const bool is_last = at == plants[parent].count;

    espl__sketch_link(&sketch, node, parent, is_last ? NONE : plants[parent].child[at]);
    espl__sketch_touch(&sketch, node);
    hang(node, parent, at);
}

static void move_one(void)
{
    const uint32_t node = any_living(), parent = any_living();
    const bool is_cycle = is_at_or_below(parent, node);

    ck_assert_int_eq(espl__sketch_is_below(&sketch, parent, node), is_cycle);
    if (is_cycle) {
        return;
    }
    unlink_one(node);
    link_one(node, parent, below(plants[parent].count + 1));
}

static void splice_one(void)
{
    const uint32_t node = any_living();

    if (plant_count < 4 || plants[node].count > 12) {
        return; // some shape is to be left
    }
    espl__sketch_note(&sketch, node, ESPL__NODE_DEAD);
    for (uint32_t i = 0; i < plants[node].count; ++i) {
        espl__sketch_note(&sketch, plants[node].child[i], ESPL__NODE_MOVED);
        espl__sketch_touch(&sketch, plants[node].child[i]);
    }
    espl__sketch_splice(&sketch, node);
    take_out(node);
    plants[node].is_dead = true;
}

static void write_one(void)
{
    const uint32_t node = any_living();
    plant *const p = &plants[node];

    if (p->is_pass) {
        return;
    }
    if (!test_one_in(&random_state, 5)) {
        p->local = grove_random_pose(&random_state);
    }
    if (test_one_in(&random_state, 3)) {
        p->extra = (espl__extra){{2, 0.5f, 1 + (float)below(3)}, below(9)};
    }
    const espl_transform local = espl__transform_of(&p->local, &p->extra);
    ck_assert(espl__sketch_reserve_written(&sketch, 1));
    espl__sketch_write(&sketch, node, &local);
}

// A clone of one node, alone.
static void clone_one(void)
{
    const uint32_t node = any_living();
    const espl__node of = sketch.nodes[node];
    const espl_pose local = g.forest.local[of.slot];
    const espl__extra extra = espl__slot_extra(&g.forest, of.slot);

    if (plant_count == PLANTS || plants[node].is_pass) {
        return;
    }
    ck_assert(espl__sketch_reserve_nodes(&sketch, 1));
    const espl__node clone = {.parent = NONE,
                              .first = NONE,
                              .last = NONE,
                              .next = NONE,
                              .previous = NONE,
                              .slot = of.slot,
                              .entity = ESPL__NO_ENTITY,
                              .written = NONE,
                              .values = NONE,
                              .flags = ESPL__NODE_CLONE};
    const uint32_t number = espl__sketch_add(&sketch, &clone);

    ck_assert_uint_eq(number, add_plant(local, extra, false));
}

static void edit_one(void)
{
    switch (below(8)) {
    case 0:
        unlink_one(any_living());
        break;
    case 1:
        splice_one();
        break;
    case 2:
    case 3:
        write_one();
        break;
    case 4:
        clone_one();
        break;
    default:
        move_one();
        break;
    }
}

// --- Loading ---

// Hierarchies of all arrangements, some with pass-throughs; seeds differ by round.
static void plant_round(uint32_t round, uint32_t *runs, uint32_t count)
{
    uint32_t parent[24];
    uint8_t flags[24];

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = 1 + below(24);

        grove_random_parents(parent, 24, 1 + below(4), &random_state);
        for (uint32_t rank = 0; rank < 24; ++rank) {
            flags[rank] = round % 2 == 1 && below(4) == 0 ? ESPL__SLOT_PASS : 0;
        }
        runs[i] = grove_plant(&g, &(grove_plan){.parent = parent,
                                                .size = size,
                                                .flags = flags,
                                                .holes = below(3),
                                                .seed = test_random(&random_state),
                                                .is_shuffled = below(2) == 0,
                                                .has_extras = below(3) == 0});
    }
}

static void uproot(const uint32_t *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        espl__run_release(&g.forest, runs[i]);
    }
}

START_TEST(loaded_hierarchy_is_laid_out_as_it_stands)
{
    for (uint32_t round = 0; round < 200; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        const espl__run *const header = &g.forest.runs[run];
        const size_t bytes = header->size * sizeof(uint32_t);

        begin_sketch(header->size);
        ck_assert_uint_eq(load(run), 0);
        links_agree();
        worlds_agree();
        layout_agrees();
        ck_assert_uint_eq(sketch.laid_count, 1);
        ck_assert_uint_eq(sketch.changed_count, 0);
        ck_assert_int_eq(memcmp(sketch.parent, g.forest.parent + header->base, bytes), 0);
        ck_assert_int_eq(memcmp(sketch.first, g.forest.first + header->base, bytes), 0);
        for (uint32_t rank = 0; rank < header->size; ++rank) {
            ck_assert_uint_eq(sketch.nodes[rank].slot, grove_slot(&g, run, rank));
            ck_assert_uint_eq(sketch.order[rank], rank);
        }
        ck_assert(!sketch.is_touched && !sketch.is_restructured);
        uproot(&run, 1);
    }
}
END_TEST

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

START_TEST(ghosts_are_spliced_out_and_no_world_moves)
{
    size_t ghosts = 0;

    for (uint32_t round = 0; round < 300; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        for (uint32_t i = 0; i < 3 && g.forest.runs[run].size != 0; ++i) {
            const uint32_t slot = grove_slot(&g, run, below(g.forest.runs[run].size));

            if (!espl__slot_is(&g.forest, slot, ESPL__SLOT_GHOST)) {
                espl__make_ghosts(&g.forest, slot, (espl__closure)below(3), bury_nobody, NULL);
            }
        }
        if (g.forest.runs[run].size == 0) {
            continue; // nobody was left
        }
        ghosts += g.forest.runs[run].ghosts;
        begin_sketch(g.forest.runs[run].size);
        (void)load(run);
        links_agree();
        worlds_agree();
        layout_agrees();
        ck_assert_uint_eq(sketch.changed_count, 0);
        ck_assert_int_eq(sketch.is_restructured, g.forest.runs[run].ghosts != 0);
        uproot(&run, 1);
    }
    ck_assert_uint_gt(ghosts, 300);
}
END_TEST

START_TEST(clear_forgets_all_nodes)
{
    uint32_t run[2];

    plant_round(0, run, 2);
    begin_sketch(g.forest.runs[run[0]].size + g.forest.runs[run[1]].size);
    (void)load(run[0]);
    for (uint32_t i = 0; i < 20; ++i) {
        edit_one();
    }
    espl__sketch_clear(&sketch);
    plant_count = 0;
    ck_assert_uint_eq(load(run[1]), 0);
    worlds_agree();
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count + sketch.noted_count + sketch.written_count, 0);
}
END_TEST

// --- Edits ---

START_TEST(random_edits_agree_with_the_naive_tree)
{
    const size_t rounds = test_scaled(1500);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[3];

        plant_round(round, run, 3);
        begin_sketch(72);
        for (uint32_t i = 0; i < 3; ++i) {
            (void)load(run[i]);
        }
        for (uint32_t edits = below(60); edits > 0; --edits) {
            edit_one();
            // Worlds asked for at some moments only, so that much is stale between them.
            if (below(6) == 0) {
                const uint32_t node = any_living();
                const espl_pose expected = plain_world(node);
                const espl_pose world = espl__sketch_world(&sketch, node);

                ck_assert(grove_same(&expected, &world));
            }
        }
        links_agree();
        if (below(2) == 0) {
            worlds_agree();
        }
        layout_agrees();
        uproot(run, 3);
    }
}
END_TEST

START_TEST(worlds_are_those_of_a_full_recomputation_after_every_edit)
{
    const size_t rounds = test_scaled(150);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[2];

        plant_round(round, run, 2);
        begin_sketch(48);
        (void)load(run[0]);
        (void)load(run[1]);
        for (uint32_t edits = 0; edits < 40; ++edits) {
            edit_one();
            worlds_agree();
        }
        layout_agrees();
        uproot(run, 2);
    }
}
END_TEST

START_TEST(extra_that_children_see_is_the_next_own_one_above)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t flags[] = {0, ESPL__SLOT_PASS, ESPL__SLOT_PASS, 0};
    const espl__extra plain = espl__extra_default();

    begin_sketch(4);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent,
                                             .size = 4,
                                             .flags = flags,
                                             .has_extras = true}));
    const espl__extra top = espl__sketch_own_extra(&sketch, 0);
    const espl__extra seen = espl__sketch_extra(&sketch, 2);

    ck_assert(!espl__extra_is_default(&top));
    ck_assert_int_eq(memcmp(&seen, &top, sizeof top), 0);
    espl__sketch_unlink(&sketch, 1);
    const espl__extra alone = espl__sketch_extra(&sketch, 2);
    ck_assert_int_eq(memcmp(&alone, &plain, sizeof plain), 0);
}
END_TEST

START_TEST(preorder_walk_visits_what_it_is_told_to_enter)
{
    uint32_t run = 0;

    for (uint32_t round = 0; round < 100; ++round) {
        plant_round(round, &run, 1);
        begin_sketch(24);
        (void)load(run);
        const uint32_t top = below(plant_count);
        uint32_t seen = 0, expected = 0;

        for (uint32_t node = top; node != NONE; ++seen) {
            ck_assert(is_at_or_below(node, top));
            node = espl__sketch_next(&sketch, node, top, true);
        }
        for (uint32_t node = 0; node < plant_count; ++node) {
            expected += is_at_or_below(node, top);
        }
        ck_assert_uint_eq(seen, expected);

        seen = 0;
        for (uint32_t node = top; node != NONE; ++seen) {
            ck_assert(node == top || plants[node].parent == top);
            node = espl__sketch_next(&sketch, node, top, node == top);
        }
        ck_assert_uint_eq(seen, 1 + plants[top].count);
        ck_assert_uint_eq(espl__sketch_next(&sketch, top, top, false), NONE);
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(each_node_is_noted_once)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
    espl__sketch_note(&sketch, 2, ESPL__NODE_MOVED);
    espl__sketch_note(&sketch, 1, ESPL__NODE_DEAD);
    espl__sketch_note(&sketch, 2, ESPL__NODE_DEAD);
    ck_assert_uint_eq(sketch.noted_count, 2);
    ck_assert_uint_eq(sketch.noted[0], 2);
    ck_assert_uint_eq(sketch.noted[1], 1);
    ck_assert_uint_eq(sketch.nodes[2].flags & (ESPL__NODE_MOVED | ESPL__NODE_DEAD),
                      ESPL__NODE_MOVED | ESPL__NODE_DEAD);
    ck_assert_uint_eq(sketch.nodes[1].flags & ESPL__NODE_MOVED, 0);
}
END_TEST

// --- The worked example of the specification ---

enum { R, A, B, C, D, E, F };

static void expect_layout(const uint32_t *order, const uint32_t *parent, const uint32_t *first,
                          const uint32_t *count, uint32_t size)
{
    ck_assert(espl__sketch_lay_out(&sketch));
    const uint32_t begin = sketch.laid[0].begin;

    ck_assert_uint_eq(sketch.laid_count, 1);
    ck_assert_uint_eq(sketch.laid[0].size, size);
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t end = rank + 1 < size ? sketch.first[begin + rank + 1] : size;

        ck_assert_uint_eq(sketch.order[begin + rank], order[rank]);
        ck_assert_uint_eq(sketch.parent[begin + rank], parent[rank]);
        ck_assert_uint_eq(sketch.first[begin + rank], first[rank]);
        ck_assert_uint_eq(end - sketch.first[begin + rank], count[rank]);
    }
}

START_TEST(worked_example_of_the_specification_has_these_arrays)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    const uint32_t alone = ESPL__NO_SLOT;

    begin_sketch(7);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 6}));
    expect_layout((uint32_t[]){R, A, B, C, D, E},
                  (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 2},
                  (uint32_t[]){1, 3, 5, 6, 6, 6},
                  (uint32_t[]){2, 2, 1, 0, 0, 0}, 6);

    // F comes from a hierarchy of its own.
    (void)load(grove_plant(&g, &(grove_plan){.parent = &alone, .size = 1, .seed = 1}));
    espl__sketch_link(&sketch, F, A, NONE);
    espl__sketch_touch(&sketch, F);
    expect_layout((uint32_t[]){R, A, B, C, D, F, E},
                  (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 1, 2},
                  (uint32_t[]){1, 3, 6, 7, 7, 7, 7},
                  (uint32_t[]){2, 3, 1, 0, 0, 0, 0}, 7);
    ck_assert_uint_eq(sketch.laid[0].entrants, 1);
    ck_assert_uint_eq(sketch.changed_count, 1);
}
END_TEST

START_TEST(hierarchies_stand_in_order_of_their_roots_numbers)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1};

    begin_sketch(8);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 4}));
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 4, .seed = 1}));
    unlink_one(2);
    unlink_one(7);
    layout_agrees();
    ck_assert_uint_eq(sketch.laid_count, 4);
    ck_assert_uint_eq(sketch.order[0], 0);
    ck_assert_uint_eq(sketch.order[3], 2);
    ck_assert_uint_eq(sketch.order[4], 4);
    ck_assert_uint_eq(sketch.order[7], 7);
    ck_assert_uint_eq(sketch.laid[1].resident_begin, sketch.laid[1].resident_end);
    ck_assert_uint_eq(sketch.laid[1].entrants, 1);
}
END_TEST

// --- What the layout recomputes ---

START_TEST(layout_recomputes_what_hangs_below_a_write_and_no_more)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    for (uint32_t node = 0; node < 6; ++node) {
        const uint32_t expected[] = {6, 3, 2, 1, 1, 1};
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});

        begin_sketch(6);
        (void)load(run);
        plants[node].local.position[0] += 1;
        const espl_transform local = espl__transform_of(&plants[node].local, &plants[node].extra);
        ck_assert(espl__sketch_reserve_written(&sketch, 1));
        espl__sketch_write(&sketch, node, &local);
        layout_agrees();
        ck_assert_uint_eq(sketch.changed_count, expected[node]);
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(stretch_alone_moves_what_hangs_below)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
    plants[1].extra.stretch[1] = 3;
    const espl_transform local = espl__transform_of(&plants[1].local, &plants[1].extra);
    ck_assert(espl__sketch_reserve_written(&sketch, 1));
    espl__sketch_write(&sketch, 1, &local);
    ck_assert_uint_ne(sketch.nodes[1].flags & ESPL__NODE_RESTRETCHED, 0);
    worlds_agree();
    layout_agrees();
    ck_assert(!grove_same(&sketch.worlds[2], &g.forest.world[sketch.nodes[2].slot]));
}
END_TEST

START_TEST(world_that_is_not_finite_is_told_wherever_it_hangs)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    for (uint32_t node = 0; node < 3; ++node) {
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});

        begin_sketch(6);
        (void)load(run);
        plants[node].local.scale = FLT_MAX; // with the positions below it: past all bounds
        const espl_transform local = espl__transform_of(&plants[node].local, &plants[node].extra);
        ck_assert(espl__sketch_reserve_written(&sketch, 1));
        espl__sketch_write(&sketch, node, &local);
        ck_assert(!espl__sketch_lay_out(&sketch));

        // Mended, it is told no longer.
        plants[node].local.scale = 1;
        const espl_transform mended = espl__transform_of(&plants[node].local, &plants[node].extra);
        espl__sketch_clear(&sketch);
        plant_count = 0;
        (void)load(run);
        plants[node].local.scale = 1;
        espl__sketch_write(&sketch, node, &mended);
        layout_agrees();
        uproot(&run, 1);
    }
}
END_TEST

// --- Memory ---

START_TEST(growth_past_the_slices_keeps_everything)
{
    uint32_t growths = 0;

    for (uint32_t round = 0; round < 30; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        begin_sketch(g.forest.runs[run].size);
        (void)load(run);
        ck_assert_ptr_null(sketch.own_block);
        for (uint32_t edits = 0; edits < 12; ++edits) {
            edit_one();
        }
        for (uint32_t i = 0; i < 100; ++i) {
            const void *const nodes = sketch.nodes;

            clone_one();
            move_one();
            if (sketch.nodes != nodes) {
                ck_assert_ptr_eq(sketch.nodes, sketch.own_block);
                worlds_agree();
                growths += 1;
            }
        }
        links_agree();
        layout_agrees();
        uproot(&run, 1);
    }
    ck_assert_uint_gt(growths, 60);
}
END_TEST

START_TEST(reserve_without_memory_changes_nothing)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    begin_sketch(6);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 6}));
    for (uint32_t i = 0; i < 30; ++i) {
        write_one();
        move_one();
    }
    const espl__sketch before = sketch;
    const size_t bytes = g.under.bytes;

    test_heap_arm(&g.under, 1, true);
    ck_assert(!espl__sketch_reserve_nodes(&sketch, 100));
    ck_assert(!espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_eq(g.under.failures, 2);
    ck_assert_int_eq(memcmp(&before, &sketch, sizeof before), 0);
    ck_assert_uint_eq(g.under.bytes, bytes);
    worlds_agree();

    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_nodes(&sketch, 100));
    ck_assert(espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_ge(sketch.capacity, sketch.count + 100);
    ck_assert_uint_ge(sketch.written_capacity, sketch.written_count + 1000);
    worlds_agree();
    layout_agrees();
}
END_TEST

START_TEST(nodes_past_all_bounds_are_refused_before_the_allocator_is_asked)
{
    begin_sketch(1);
    test_heap_arm(&g.under, 0, false);
    ck_assert(!espl__sketch_reserve_nodes(&sketch, UINT32_MAX / 4));
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

START_TEST(room_that_is_there_is_not_taken_again)
{
    begin_sketch(10);
    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_nodes(&sketch, 10));
    ck_assert(espl__sketch_reserve_written(&sketch, 0));
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

// --- Re-basing ---

START_TEST(rebased_local_keeps_the_world_to_rounding)
{
    for (uint32_t i = 0; i < 10000; ++i) {
        const espl_pose parent = grove_random_pose(&random_state);
        const espl_pose world = grove_random_pose(&random_state);
        const float stretch[3] = {0.5f, 2, -1};
        const espl_pose local = espl__rebased(&parent, stretch, &world, &world);
        const espl_pose back = espl__pose_compose(&parent, stretch, &local);

        for (int axis = 0; axis < 3; ++axis) {
            ck_assert_float_eq_tol(back.position[axis], world.position[axis], 2e-5f);
        }
        ck_assert_float_eq_tol(back.scale, world.scale, 1e-6f);
    }
}
END_TEST

START_TEST(rebased_local_that_would_not_be_finite_falls_back)
{
    espl_pose parent = espl__pose_identity(), world = espl__pose_identity();
    const espl_pose identity = espl__pose_identity();
    espl_pose composed = grove_random_pose(&random_state);

    parent.scale = FLT_MIN / 4; // its inverse is past all bounds
    world.position[0] = 1e5f;
    espl_pose local = espl__rebased(&parent, NULL, &world, &composed);
    ck_assert(grove_same(&local, &composed));

    composed.position[1] = HUGE_VALF;
    local = espl__rebased(&parent, NULL, &world, &composed);
    ck_assert(grove_same(&local, &identity));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketch");
    TCase *const loading = tcase_create("loading");
    TCase *const edits = tcase_create("edits");
    TCase *const memory = tcase_create("memory");
    TCase *const rebasing = tcase_create("re-basing");

    tcase_add_checked_fixture(loading, set_up, tear_down);
    tcase_add_test(loading, loaded_hierarchy_is_laid_out_as_it_stands);
    tcase_add_test(loading, ghosts_are_spliced_out_and_no_world_moves);
    tcase_add_test(loading, clear_forgets_all_nodes);
    suite_add_tcase(suite, loading);

    tcase_add_checked_fixture(edits, set_up, tear_down);
    tcase_add_test(edits, random_edits_agree_with_the_naive_tree);
    tcase_add_test(edits, worlds_are_those_of_a_full_recomputation_after_every_edit);
    tcase_add_test(edits, extra_that_children_see_is_the_next_own_one_above);
    tcase_add_test(edits, preorder_walk_visits_what_it_is_told_to_enter);
    tcase_add_test(edits, each_node_is_noted_once);
    tcase_add_test(edits, worked_example_of_the_specification_has_these_arrays);
    tcase_add_test(edits, hierarchies_stand_in_order_of_their_roots_numbers);
    tcase_add_test(edits, layout_recomputes_what_hangs_below_a_write_and_no_more);
    tcase_add_test(edits, stretch_alone_moves_what_hangs_below);
    tcase_add_test(edits, world_that_is_not_finite_is_told_wherever_it_hangs);
    suite_add_tcase(suite, edits);

    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_add_test(memory, growth_past_the_slices_keeps_everything);
    tcase_add_test(memory, reserve_without_memory_changes_nothing);
    tcase_add_test(memory, nodes_past_all_bounds_are_refused_before_the_allocator_is_asked);
    tcase_add_test(memory, room_that_is_there_is_not_taken_again);
    suite_add_tcase(suite, memory);

    tcase_add_checked_fixture(rebasing, set_up, tear_down);
    tcase_add_test(rebasing, rebased_local_keeps_the_world_to_rounding);
    tcase_add_test(rebasing, rebased_local_that_would_not_be_finite_falls_back);
    suite_add_tcase(suite, rebasing);
    return suite;
}

RUN_SUITE(make_suite)

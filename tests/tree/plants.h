// SPDX-License-Identifier: MIT
// A sketch beside a naive tree: every plant knows its parent, its children in a plain list, and
// nothing else. Each edit is told to both, to the sketch as a playback tells it.
#ifndef ESPALIER_TESTS_TREE_PLANTS_H
#define ESPALIER_TESTS_TREE_PLANTS_H

#include "lib/tree/sketch.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { PLANTS = 256, NONE = ESPL__NO_NODE };

typedef struct plant {
    uint32_t parent, count; // NONE: a root
    uint32_t child[PLANTS];
    espl__placement placement; // the extra of one that copies its parent does not count
    bool is_pass, is_dead;
} plant;

static grove g;
static espl__sketch sketch;
static void *block; // the slices
static size_t block_size;
static plant plants[PLANTS];
static uint32_t plant_count;
static uint64_t random_state;

static inline void set_up(void)
{
    grove_begin(&g);
    memset(&sketch, 0, sizeof sketch);
    block = NULL;
    plant_count = 0;
    random_state = 1;
}

static inline void drop_sketch(void)
{
    espl__sketch_drop(&sketch);
    espl__heap_give(&g.heap, ESPL__FOR_COMMANDS, block, 1, block_size, 64);
    block = NULL;
}

static inline void tear_down(void)
{
    drop_sketch();
    grove_end(&g);
}

// Slices for so many nodes and no written transform, as a playback would cut them.
static inline void begin_sketch(size_t capacity)
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

static inline uint32_t below(uint32_t bound)
{
    return test_below(&random_state, bound);
}

// --- The naive tree ---

static inline void hang(uint32_t node, uint32_t parent, uint32_t at)
{
    plant *const p = &plants[parent];

    memmove(p->child + at + 1, p->child + at, (p->count - at) * sizeof *p->child);
    p->child[at] = node;
    p->count += 1;
    plants[node].parent = parent;
}

// The place that the node had.
static inline uint32_t cut(uint32_t node)
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

static inline void take_out(uint32_t node)
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

static inline bool is_at_or_below(uint32_t node, uint32_t top)
{
    while (node != NONE && node != top) {
        node = plants[node].parent;
    }
    return node == top;
}

static inline uint32_t add_plant(const espl__placement *placement, bool is_pass)
{
    ck_assert_uint_lt(plant_count, PLANTS);
    plants[plant_count] = (plant){.parent = NONE, .placement = *placement, .is_pass = is_pass};
    return plant_count++;
}

// A member with the flag for it; it has a place of its own as a root.
static inline bool is_copy(uint32_t node)
{
    return (plants[node].placement.kept.flags & ESPL_COPY_PARENT) != 0;
}

// What children of a node see, from the top down. A pass-through shows its parent's frame, and so
// does a member that copies it; a pass-through as a root shows the identity.
static inline espl__frame plain_frame(uint32_t node)
{
    uint32_t path[PLANTS], count = 0;
    espl__frame frame = {espl__pose_identity(), espl__extra_default()};
    bool is_root = true;

    for (uint32_t up = node; up != NONE; up = plants[up].parent) {
        path[count++] = up;
    }
    while (count > 0) {
        const uint32_t at = path[--count];
        const espl__placement *const p = &plants[at].placement;

        if (!plants[at].is_pass && !is_copy(at)) {
            frame.world = is_root ? p->local : grove_inherit(&frame, p);
            frame.extra = p->extra;
        }
        is_root = false;
    }
    return frame;
}

static inline espl_pose plain_world(uint32_t node)
{
    return plain_frame(node).world;
}

// Copy a run to the naive tree, as the sketch loads it. @return the number of its root.
static inline uint32_t load(uint32_t run)
{
    const espl__forest *const forest = &g.forest;
    const espl__run header = forest->runs[run];
    const uint32_t first = plant_count;

    ck_assert(espl__sketch_reserve_nodes(&sketch, header.size));
    ck_assert_uint_eq(espl__sketch_load(&sketch, run), first);
    for (uint32_t rank = 0; rank < header.size; ++rank) {
        const uint32_t slot = forest->order[header.base + rank];
        const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
        const espl__placement placement = espl__slot_placement(forest, slot);
        const uint32_t node = add_plant(&placement, is_pass);

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

static inline void links_agree(void)
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

// What is stored of a node, and what it shows. Plain conditions, since there are many cases.
static inline bool placement_agrees(uint32_t node, const espl__extra *shown)
{
    const espl__placement placement = espl__sketch_placement(&sketch, node);
    const espl__placement *const expected = &plants[node].placement;
    const espl__extra extra = espl__sketch_extra(&sketch, node);
    const uint32_t flags = sketch.nodes[node].flags;
    const bool keeps = (flags & ESPL__NODE_KEEPS) != 0, copies = (flags & ESPL__NODE_COPIES) != 0;

    if (!grove_same_extra(&extra, shown) || copies != is_copy(node) ||
        keeps != (expected->kept.flags != 0)) {
        return false;
    }
    return plants[node].is_pass ||
           (grove_same_extra(&placement.extra, shown) &&
            grove_same(&placement.local, &expected->local) &&
            memcmp(&placement.kept, &expected->kept, sizeof placement.kept) == 0);
}

static inline void worlds_agree(void)
{
    for (uint32_t node = 0; node < plant_count; ++node) {
        if (!plants[node].is_dead) {
            const espl__frame expected = plain_frame(node);
            const espl_pose world = espl__sketch_world(&sketch, node);

            if (!grove_same(&expected.world, &world) || !placement_agrees(node, &expected.extra)) {
                ck_abort_msg("world or placement of node %u", node);
            }
        }
    }
}

// One hierarchy of the layout: a queue, and SPEC's formulas.
static inline void hierarchy_agrees(uint32_t root, const espl__laid *laid)
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
static inline void residents_agree(uint32_t root, const espl__laid *laid)
{
    const espl__node *const n = &sketch.nodes[root];
    const bool was_root = (n->flags & ESPL__NODE_CLONE) == 0 && g.forest.rank[n->slot] == 0;

    ck_assert_uint_eq(laid->resident_begin, root);
    ck_assert_uint_eq(laid->resident_end - root,
                      was_root ? espl__run_of(&g.forest, n->slot)->size : 0);
}

static inline void final_worlds_agree(void)
{
    size_t changed = 0;

    for (uint32_t node = 0; node < plant_count; ++node) {
        const espl__node *const n = &sketch.nodes[node];
        const bool differs = (n->flags & ESPL__NODE_CHANGED) != 0;

        if (!plants[node].is_dead) {
            const espl_pose expected = plain_world(node);

            ck_assert_msg(
                grove_same(&expected, differs ? &sketch.worlds[node] : &g.forest.world[n->slot]),
                "final world of node %u", node);
            changed += differs;
        }
    }
    ck_assert_uint_eq(sketch.changed_count, changed);
}

// Noted are those with the flag, once each.
static inline void noted_agree(void)
{
    size_t flagged = 0, listed = 0;

    for (uint32_t node = 0; node < plant_count; ++node) {
        const bool is_noted = (sketch.nodes[node].flags & ESPL__NODE_NOTED) != 0;

        flagged += is_noted;
        for (size_t i = 0; is_noted && i < sketch.noted_count; ++i) {
            listed += sketch.noted[i] == node;
        }
    }
    ck_assert_uint_eq(flagged, sketch.noted_count);
    ck_assert_uint_eq(listed, flagged);
}

static inline void layout_agrees(void)
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
    noted_agree();
}

// --- Edits, each told to the sketch as a playback tells it, and to the naive tree ---

static inline uint32_t any_living(void)
{
    uint32_t node = below(plant_count);

    while (plants[node].is_dead) {
        node = (node + 1) % plant_count;
    }
    return node;
}

// Tell the sketch what the naive tree has of a node.
static inline void tell_placement(uint32_t node)
{
    ck_assert(espl__sketch_reserve_written(&sketch, 1));
    espl__sketch_write(&sketch, node, &plants[node].placement);
}

// Change inherit flags as the library does: what copied its parent goes on with the extra that it
// showed.
static inline void change_inherit(uint32_t node, uint32_t flags)
{
    espl__placement *const p = &plants[node].placement;
    const espl_pose world = grove_random_pose(&random_state);

    if (plants[node].is_pass || p->kept.flags == flags) {
        return;
    }
    p->extra = plain_frame(node).extra;
    p->local = flags == ESPL_COPY_PARENT ? espl__pose_identity() : p->local;
    p->kept = espl__kept_of(&world, flags);
    tell_placement(node);
}

static inline uint32_t any_inherit(void)
{
    uint8_t flags = 0;

    grove_random_inherit(&flags, 1, 2, &random_state);
    return flags;
}

static inline void unlink_one(uint32_t node)
{
    change_inherit(node, 0);
    espl__sketch_unlink(&sketch, node);
    espl__sketch_note(&sketch, node, ESPL__NODE_MOVED);
    espl__sketch_touch(&sketch, node);
    if (plants[node].parent != NONE) {
        (void)cut(node);
    }
}

static inline void link_one(uint32_t node, uint32_t parent, uint32_t at)
{
    const bool is_last = at == plants[parent].count;

    espl__sketch_link(&sketch, node, parent, is_last ? NONE : plants[parent].child[at]);
    espl__sketch_touch(&sketch, node);
    hang(node, parent, at);
}

// Inherit flags may come along, or others be written before the links change.
static inline void move_one(void)
{
    const uint32_t node = any_living(), parent = any_living();
    const bool is_cycle = is_at_or_below(parent, node);

    ck_assert_int_eq(espl__sketch_is_below(&sketch, parent, node), is_cycle);
    if (is_cycle) {
        return;
    }
    if (below(2) == 0) {
        change_inherit(node, any_inherit());
    }
    espl__sketch_unlink(&sketch, node);
    espl__sketch_note(&sketch, node, ESPL__NODE_MOVED);
    if (plants[node].parent != NONE) {
        (void)cut(node);
    }
    link_one(node, parent, below(plants[parent].count + 1));
}

static inline uint32_t count_living(void)
{
    uint32_t count = 0;

    for (uint32_t node = 0; node < plant_count; ++node) {
        count += !plants[node].is_dead;
    }
    return count;
}

static inline void splice_one(void)
{
    const uint32_t node = any_living();

    if (count_living() < 4 || plants[node].count > 12) {
        return; // some shape is to be left
    }
    espl__sketch_note(&sketch, node, ESPL__NODE_DEAD);
    for (uint32_t i = 0; i < plants[node].count; ++i) {
        if (plants[node].parent == NONE) {
            change_inherit(plants[node].child[i], 0); // it becomes a root
        }
        espl__sketch_note(&sketch, plants[node].child[i], ESPL__NODE_MOVED);
        espl__sketch_touch(&sketch, plants[node].child[i]);
    }
    espl__sketch_splice(&sketch, node);
    take_out(node);
    plants[node].is_dead = true;
}

static inline void write_one(void)
{
    const uint32_t node = any_living();
    espl__placement *const p = &plants[node].placement;

    if (plants[node].is_pass || is_copy(node)) {
        return;
    }
    if (!test_one_in(&random_state, 5)) {
        p->local = grove_random_pose(&random_state);
    }
    if (test_one_in(&random_state, 3)) {
        p->extra = (espl__extra){{2, 0.5f, 1 + (float)below(3)}, below(9)};
    }
    if (test_one_in(&random_state, 2)) {
        const espl_pose world = grove_random_pose(&random_state);

        p->kept = espl__kept_of(&world, p->kept.flags);
    }
    tell_placement(node);
}

static inline void reflag_one(void)
{
    const uint32_t node = any_living();

    if (plants[node].parent != NONE) {
        change_inherit(node, any_inherit());
    }
}

// A clone of one node, alone. It is a root, so that it takes no inherit flags along.
static inline void clone_one(void)
{
    const uint32_t node = any_living();
    const espl__node of = sketch.nodes[node];
    const espl__placement placement = espl__slot_placement(&g.forest, of.slot);
    const uint32_t flags = placement.kept.flags;

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
                              .flags = ESPL__NODE_CLONE | espl__node_flags_of(flags)};
    const uint32_t number = espl__sketch_add(&sketch, &clone);

    ck_assert_uint_eq(number, add_plant(&placement, false));
    if (flags != 0) {
        plants[number].placement.kept = espl__kept_none();
        tell_placement(number);
    }
}

static inline void edit_one(void)
{
    switch (below(9)) {
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
    case 5:
        reflag_one();
        break;
    default:
        move_one();
        break;
    }
}

// --- Hierarchies to load ---

// Of all arrangements, some with pass-throughs, some with inherit flags; seeds differ by round.
static inline void plant_round(uint32_t round, uint32_t *runs, uint32_t count)
{
    uint32_t parent[24];
    uint8_t flags[24], inherit[24];

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = 1 + below(24);

        grove_random_parents(parent, 24, 1 + below(4), &random_state);
        for (uint32_t rank = 0; rank < 24; ++rank) {
            flags[rank] = round % 2 == 1 && below(4) == 0 ? ESPL__SLOT_PASS : 0;
        }
        grove_random_inherit(inherit, 24, 2, &random_state);
        runs[i] = grove_plant(&g, &(grove_plan){.parent = parent,
                                                .size = size,
                                                .flags = flags,
                                                .inherit = below(2) == 0 ? inherit : NULL,
                                                .holes = below(3),
                                                .seed = test_random(&random_state),
                                                .is_shuffled = below(2) == 0,
                                                .has_extras = below(3) == 0});
    }
}

static inline void uproot(const uint32_t *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        espl__run_release(&g.forest, runs[i]);
    }
}

#endif

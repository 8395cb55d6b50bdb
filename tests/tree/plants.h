// SPDX-License-Identifier: MIT
// A sketch beside a naive tree: every plant knows its parent, its children in a plain list, and
// nothing else. Each edit is told to both, to the sketch as a playback tells it. The naive tree
// never asks the sketch: what a sketch was asked for is part of what is tested.
#ifndef ESPALIER_TESTS_TREE_PLANTS_H
#define ESPALIER_TESTS_TREE_PLANTS_H

#include "lib/tree/sketch.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { PLANTS = GROVE_LIMIT + 32, SLOTS = 1 << 14, RUNS = 64, LOADS = 8, NONE = ESPL__NO_NODE };

typedef struct plant {
    uint32_t node;          // in the sketch
    uint32_t load;          // it is in now; NONE: it is made
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
// What the sketches of a playback share. The loads of one are not all that there are.
static uint32_t marks[SLOTS], run_marks[RUNS];
static espl__load loads[2 * LOADS];
static uint32_t load_numbers[LOADS], load_count;
// Plants by slot and by number of the made node.
static uint32_t plant_of_slot[SLOTS], plant_of_made[PLANTS];

static inline void set_up(void)
{
    grove_begin(&g);
    memset(&sketch, 0, sizeof sketch);
    block = NULL;
    plant_count = load_count = 0;
    random_state = 1;
}

static inline bool no_marks(void)
{
    uint32_t any = 0;

    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        any |= marks[slot];
    }
    return any == 0;
}

// Whatever became of a sketch, the marks are all zero behind it.
static inline void drop_sketch(void)
{
    espl__sketch_drop(&sketch);
    ck_assert(no_marks());
    for (uint32_t i = 0; i < load_count; ++i) {
        run_marks[loads[load_numbers[i]].run] = 0;
    }
    load_count = 0;
    espl__heap_give(&g.heap, ESPL__FOR_COMMANDS, block, 1, block_size, 64);
    block = NULL;
}

static inline void tear_down(void)
{
    drop_sketch();
    grove_end(&g);
}

// Slices for so much of everything, as a playback would cut them.
static inline void begin_sketch(size_t room)
{
    const espl__sketch_room rooms = {room, room, room, room, room, room,
                                     room, room, room, room, room, room};

    drop_sketch();
    memset(&sketch, 0, sizeof sketch);
    block_size = espl__sketch_size(&rooms);
    block = espl__heap_take(&g.heap, ESPL__FOR_COMMANDS, 1, block_size, 64);
    ck_assert_ptr_nonnull(block);
    sketch.forest = &g.forest;
    sketch.heap = &g.heap;
    sketch.marks = marks;
    sketch.run_marks = run_marks;
    sketch.loads = loads;
    espl__sketch_begin(&sketch, &rooms, block);
    plant_count = 0;
}

static inline uint32_t below(uint32_t bound)
{
    return test_below(&random_state, bound);
}

// Ask for a node.
static inline espl__node *node_of(uint32_t number)
{
    return espl__sketch_at(&sketch, plants[number].node);
}

static inline uint32_t plant_of(uint32_t node)
{
    return espl__sketch_is_made(node) ? plant_of_made[node & ~ESPL__MADE] : plant_of_slot[node];
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

static inline uint32_t add_plant(uint32_t node, const espl__placement *placement, bool is_pass)
{
    plant *const p = &plants[plant_count];

    ck_assert_uint_lt(plant_count, PLANTS);
    p->node = node;
    p->load = p->parent = NONE;
    p->count = 0;
    p->placement = *placement;
    p->is_pass = is_pass;
    p->is_dead = false;
    if (espl__sketch_is_made(node)) {
        plant_of_made[node & ~ESPL__MADE] = plant_count;
    } else {
        plant_of_slot[node] = plant_count;
    }
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

// Tell the sketch of a run. @return the number of the load.
static inline uint32_t tell_load(uint32_t run)
{
    const uint32_t number = 2 * load_count + 1;

    ck_assert_uint_lt(load_count, LOADS);
    ck_assert(run < RUNS && g.forest.end <= SLOTS);
    load_numbers[load_count++] = number;
    loads[number] = (espl__load){.run = run, .is_dirty = true, .goes_on = true};
    run_marks[run] = number + 1;
    espl__sketch_load(&sketch, number);
    return number;
}

// Copy a run to the naive tree, as the sketch loads it. @return the number of its root.
static inline uint32_t load(uint32_t run)
{
    const espl__forest *const forest = &g.forest;
    const espl__run header = forest->runs[run];
    const uint32_t first = plant_count, number = tell_load(run);

    for (uint32_t rank = 0; rank < header.size; ++rank) {
        const uint32_t slot = forest->order[header.base + rank];
        const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
        const espl__placement placement = espl__slot_placement(forest, slot);
        const uint32_t node = add_plant(slot, &placement, is_pass);

        plants[node].load = number;
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

// Asks for every node.
static inline void links_agree(void)
{
    for (uint32_t number = 0; number < plant_count; ++number) {
        const plant *const p = &plants[number];
        uint32_t previous = NONE, child = node_of(number)->first;
        bool agree = node_of(number)->parent == (p->parent == NONE ? NONE : plants[p->parent].node);

        for (uint32_t i = 0; agree && i < p->count; ++i) {
            const espl__node *const c = child == NONE ? NULL : espl__sketch_at(&sketch, child);

            agree = child == plants[p->child[i]].node && c->previous == previous &&
                    c->parent == p->node;
            previous = child;
            child = agree ? c->next : NONE;
        }
        if (!agree || child != NONE || node_of(number)->last != previous) {
            ck_abort_msg("links of node %u", number);
        }
    }
}

// What is stored of a node, and what it shows. Plain conditions, since there are many cases.
static inline bool placement_agrees(uint32_t number, const espl__extra *shown)
{
    const uint32_t node = plants[number].node;
    const espl__placement placement = espl__sketch_placement(&sketch, node);
    const espl__placement *const expected = &plants[number].placement;
    const espl__extra extra = espl__sketch_extra(&sketch, node);
    const uint32_t flags = node_of(number)->flags;
    const bool keeps = (flags & ESPL__NODE_KEEPS) != 0, copies = (flags & ESPL__NODE_COPIES) != 0;

    if (!grove_same_extra(&extra, shown) || copies != is_copy(number) ||
        keeps != (expected->kept.flags != 0) ||
        espl__sketch_copies(&sketch, node) != (plants[number].is_pass || copies)) {
        return false;
    }
    return plants[number].is_pass ||
           (grove_same_extra(&placement.extra, shown) &&
            grove_same(&placement.local, &expected->local) &&
            memcmp(&placement.kept, &expected->kept, sizeof placement.kept) == 0);
}

// Nodes are asked for in one order or the other: what is known of one may serve the next.
static inline void worlds_agree(void)
{
    const bool is_reversed = below(2) == 0;

    for (uint32_t i = 0; i < plant_count; ++i) {
        const uint32_t number = is_reversed ? plant_count - 1 - i : i;

        if (!plants[number].is_dead) {
            const espl__frame expected = plain_frame(number);
            const espl_pose world = espl__sketch_world(&sketch, plants[number].node);

            if (!grove_same(&expected.world, &world) ||
                !placement_agrees(number, &expected.extra)) {
                ck_abort_msg("world or placement of node %u", number);
            }
        }
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

// SPDX-License-Identifier: MIT
// Edits, each told to the sketch as a playback tells it, and to the naive tree. Where the sketch
// finds no memory it has failed; nothing is compared then.
#ifndef ESPALIER_TESTS_TREE_PLANT_EDITS_H
#define ESPALIER_TESTS_TREE_PLANT_EDITS_H

#include "tests/tree/plants.h"

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
    if (!espl__sketch_reserve_written(&sketch, 1)) {
        sketch.is_failed = true;
        return;
    }
    espl__sketch_write(&sketch, plants[node].node, &plants[node].placement);
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
    espl__sketch_unlink(&sketch, plants[node].node);
    espl__sketch_note(&sketch, plants[node].node, ESPL__NODE_MOVED);
    espl__sketch_touch(&sketch, plants[node].node);
    if (plants[node].parent != NONE) {
        (void)cut(node);
    }
}

static inline void link_one(uint32_t node, uint32_t parent, uint32_t at)
{
    const bool is_last = at == plants[parent].count;

    espl__sketch_link(&sketch, plants[node].node, plants[parent].node,
                      is_last ? NONE : plants[plants[parent].child[at]].node);
    espl__sketch_touch(&sketch, plants[node].node);
    hang(node, parent, at);
}

// Hang a node before the child that is the `at`-th once it hangs no longer where it hung.
static inline void move_to(uint32_t node, uint32_t parent, uint32_t at)
{
    espl__sketch_unlink(&sketch, plants[node].node);
    espl__sketch_note(&sketch, plants[node].node, ESPL__NODE_MOVED);
    if (plants[node].parent != NONE) {
        (void)cut(node);
    }
    link_one(node, parent, at < plants[parent].count ? at : plants[parent].count);
}

// Inherit flags may come along, or others be written before the links change.
static inline void move_one(void)
{
    const uint32_t node = any_living(), parent = any_living();
    const bool is_cycle = is_at_or_below(parent, node);

    ck_assert_int_eq(espl__sketch_is_below(&sketch, plants[parent].node, plants[node].node),
                     is_cycle);
    if (is_cycle) {
        return;
    }
    if (below(2) == 0) {
        change_inherit(node, any_inherit());
    }
    move_to(node, parent, below(plants[parent].count + 1));
}

static inline uint32_t count_living(void)
{
    uint32_t count = 0;

    for (uint32_t node = 0; node < plant_count; ++node) {
        count += !plants[node].is_dead;
    }
    return count;
}

static inline void take_out_both(uint32_t node)
{
    espl__sketch_note(&sketch, plants[node].node, ESPL__NODE_DEAD);
    for (uint32_t i = 0; i < plants[node].count; ++i) {
        if (plants[node].parent == NONE) {
            change_inherit(plants[node].child[i], 0); // it becomes a root
        }
        espl__sketch_note(&sketch, plants[plants[node].child[i]].node, ESPL__NODE_MOVED);
        espl__sketch_touch(&sketch, plants[plants[node].child[i]].node);
    }
    espl__sketch_splice(&sketch, plants[node].node);
    take_out(node);
    plants[node].is_dead = true;
}

static inline void splice_one(void)
{
    const uint32_t node = any_living();

    if (count_living() >= 4 && plants[node].count <= 12) { // some shape is to be left
        take_out_both(node);
    }
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

// A made node of a slot, or of none, with a placement of its own or with that of the slot.
static inline uint32_t make_node(uint32_t slot, const espl__placement *written, uint32_t flags)
{
    espl__node made = espl__node_alone();

    if (!espl__sketch_reserve_made(&sketch, 1) ||
        (written != NULL && !espl__sketch_reserve_written(&sketch, 1))) {
        sketch.is_failed = true;
        return NONE;
    }
    made.slot = slot;
    made.written = written == NULL ? NONE : espl__sketch_keep(&sketch, written);
    made.flags = ESPL__NODE_CLONE | ESPL__NODE_DIRTY | flags;
    const uint32_t next = espl__sketch_made_end(&sketch);
    const uint32_t node = espl__sketch_add(&sketch, &made);

    ck_assert_uint_eq(node, next);
    ck_assert_uint_eq(node, ESPL__MADE | (sketch.made.count - 1));
    sketch.is_restructured = true;
    return node;
}

// A clone of one node, alone: of what the forest has of it, or of what it came to. It is a root, so
// that it takes no inherit flags along.
static inline void clone_one(void)
{
    const uint32_t number = any_living();
    const plant *const p = &plants[number];
    const uint32_t slot =
        espl__sketch_is_made(p->node) ? node_of(number)->slot : plants[number].node;
    const bool is_fresh = slot == ESPL__NO_SLOT || below(2) == 0;
    espl__placement placement = is_fresh ? p->placement : espl__slot_placement(&g.forest, slot);

    if (plant_count == PLANTS) {
        return;
    }
    const bool has_own =
        slot == ESPL__NO_SLOT || (!p->is_pass && (is_fresh || placement.kept.flags != 0));

    placement.kept = espl__kept_none();
    const uint32_t node =
        make_node(slot, has_own ? &placement : NULL, p->is_pass ? ESPL__NODE_PASS : 0u);
    if (node != NONE) {
        (void)add_plant(node, &placement, p->is_pass);
    }
}

// A node made from nothing.
static inline void create_one(void)
{
    const bool is_pass = below(4) == 0;
    espl__placement placement = espl__placement_identity();

    if (plant_count == PLANTS) {
        return;
    }
    placement.local = is_pass ? placement.local : grove_random_pose(&random_state);
    const uint32_t node =
        make_node(ESPL__NO_SLOT, &placement, is_pass ? (uint32_t)ESPL__NODE_PASS : 0u);
    if (node != NONE) {
        (void)add_plant(node, &placement, is_pass);
    }
}

static inline void edit_one(void)
{
    switch (below(10)) {
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
    case 6:
        create_one();
        break;
    default:
        move_one();
        break;
    }
}

#endif

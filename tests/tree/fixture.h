// SPDX-License-Identifier: MIT
// A forest without a world, on the allocator under test: trees that are built node by node. A suite
// defines set_up() and tear_down().
#ifndef ESPALIER_TESTS_TREE_FIXTURE_H
#define ESPALIER_TESTS_TREE_FIXTURE_H

#include "lib/tree/layout.h"
#include "lib/tree/propagate.h"
#include "lib/tree/worlds.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { FIXTURE_NODES = 8192 };

typedef struct forest_fixture {
    test_heap under;
    espl__heap heap;
    espl__forest forest;
    uint32_t entities;             // numbers that were dealt
    uint32_t slots[FIXTURE_NODES]; // by entity; ESPL__NO_SLOT once it is dead
    uint32_t moves[FIXTURE_NODES]; // by entity: calls of fixture_moved()
    // The nursery of an edit, as a playback opens one.
    uint32_t nursery_begin, nursery_end;
    bool nursery_is_new;
    // Nodes that random edits choose from, by slot; dead ones too.
    uint32_t chosen[FIXTURE_NODES];
    size_t chosen_count, made_count;
    bool is_plain; // random edits make nothing exceptional
} forest_fixture;

static inline void fixture_begin(forest_fixture *fix)
{
    memset(fix, 0, sizeof *fix);
    test_heap_init(&fix->under);
    const espl_allocator allocator = test_heap_allocator(&fix->under);

    espl__heap_init(&fix->heap, &allocator);
    espl__forest_init(&fix->forest, &fix->heap);
}

/// Free the forest. The heap is empty then and has seen no fault.
static inline void fixture_end(forest_fixture *fix)
{
    espl__forest_free(&fix->forest);
    ck_assert_uint_eq(espl__heap_bytes(&fix->heap), 0);
    ck_assert_uint_eq(fix->under.bytes, 0);
    ck_assert_uint_eq(fix->under.faults, 0);
}

/// Fail the test with the broken rule unless all hold.
static inline void fixture_is_valid(const forest_fixture *fix)
{
    uint32_t slot = 0;
    size_t detail = 0;
    const char *const rule = espl__forest_broken_rule(&fix->forest, &slot, &detail);

    ck_assert_msg(rule == NULL, "%s (slot %u, detail %zu)", rule, slot, detail);
}

static inline bool fixture_is_node(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].entity != ESPL__NO_ENTITY;
}

/// An espl__moved_function of the fixture.
static inline void fixture_moved(void *context, const uint32_t *entities, uint32_t first,
                                 uint32_t count)
{
    forest_fixture *const fix = context;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t entity = entities[(size_t)i * ESPL__ENTITY_STRIDE];

        ck_assert_uint_lt(entity, fix->entities);
        fix->slots[entity] = first + i;
        fix->moves[entity] += 1;
    }
}

// --- Building ---

/// Store the world of a slot that follows from its local.
static inline void fixture_follow(espl__forest *forest, uint32_t slot)
{
    const espl_pose world = espl__world_expected(forest, slot);

    espl__world_store(espl__worlds_of(forest), slot, &world);
}

static inline void fixture_fill(forest_fixture *fix, uint32_t slot)
{
    espl__forest *const forest = &fix->forest;

    ck_assert_uint_lt(fix->entities, FIXTURE_NODES);
    forest->flags[slot] = espl__tree_of(forest, slot)->side != 0 ? ESPL__SLOT_SIDE : 0;
    forest->links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT, fix->entities};
    espl__columns_make(&forest->columns, slot);
    espl__probe_node(&forest->columns, slot, fix->entities);
    fix->slots[fix->entities] = slot;
    fix->moves[fix->entities] = 0;
    fix->entities += 1;
}

/// Take a slot above `above` in a tree, as a root without links. @return as espl__slot_find().
static inline uint32_t fixture_take(espl__forest *forest, uint32_t tree, uint32_t above)
{
    espl__tree *const t = &forest->trees[tree];
    uint32_t after = 0;
    const uint32_t slot = espl__slot_find(forest, t, above, &after);

    if (slot != ESPL__NO_SLOT) {
        t->live += 1;
        t->roots += 1;
        forest->parent[slot] = ESPL__NO_SLOT;
    }
    return slot;
}

/// Make a tree of one node with a range of its own. @return its number.
static inline uint32_t fixture_tree(forest_fixture *fix, uint32_t capacity)
{
    espl__forest *const forest = &fix->forest;

    ck_ok(espl__forest_reserve(forest, capacity, 1));
    const uint32_t tree = espl__tree_take(forest);
    const uint32_t base = espl__range_take(forest, capacity);

    forest->trees[tree] = espl__tree_in_order(base, capacity, 0, 0);
    forest->trees[tree].roots = 0;
    for (uint32_t slot = base; slot < base + capacity; ++slot) {
        forest->tree[slot] = tree;
    }
    ck_assert_uint_eq(fixture_take(forest, tree, ESPL__NO_SLOT), base);
    fixture_fill(fix, base);
    return tree;
}

/// Make a node below a parent. @return its slot, or ESPL__NO_SLOT where the range is full.
static inline uint32_t fixture_add(forest_fixture *fix, uint32_t parent, uint32_t before)
{
    espl__forest *const forest = &fix->forest;
    const uint32_t slot = fixture_take(forest, forest->tree[parent], parent);

    if (slot != ESPL__NO_SLOT) {
        fixture_fill(fix, slot);
        espl__node_link(forest, slot, parent, before);
    }
    return slot;
}

/// Remove a leaf that is no root.
static inline void fixture_remove(forest_fixture *fix, uint32_t slot)
{
    espl__forest *const forest = &fix->forest;

    ck_assert_uint_eq(forest->links[slot].first_child, ESPL__NO_SLOT);
    fix->slots[forest->links[slot].entity] = ESPL__NO_SLOT;
    espl__node_unlink(forest, slot);
    espl__slot_free(forest, slot);
}

/// A node of a tree at random. The tree has one.
static inline uint32_t fixture_node_of(const forest_fixture *fix, uint32_t tree, uint64_t *random)
{
    const espl__forest *const forest = &fix->forest;
    const espl__tree *const t = &forest->trees[tree];
    uint32_t slot = ESPL__NO_SLOT;

    do {
        slot = t->base + test_below(random, t->used);
    } while (!fixture_is_node(forest, slot));
    return slot;
}

/// A child of a node at random, or ESPL__NO_SLOT, which means the last place.
static inline uint32_t fixture_child_of(const forest_fixture *fix, uint32_t slot, uint64_t *random)
{
    const espl__forest *const forest = &fix->forest;
    uint32_t child = forest->links[slot].first_child;

    while (child != ESPL__NO_SLOT && !test_one_in(random, 3)) {
        child = forest->links[child].next;
    }
    return child;
}

/// Remove one leaf in `n` of a tree.
static inline void fixture_thin_out(forest_fixture *fix, uint32_t tree, uint32_t n,
                                    uint64_t *random)
{
    const espl__forest *const forest = &fix->forest;
    const espl__tree *const t = &forest->trees[tree];

    for (uint32_t slot = t->base + t->used; slot-- > t->base + 1;) {
        if (fixture_is_node(forest, slot) &&
            forest->links[slot].first_child == ESPL__NO_SLOT && test_one_in(random, n)) {
            fixture_remove(fix, slot);
        }
    }
}

/// Make a tree of `size` nodes in a range of `capacity` slots, out of order with few exceptions.
static inline uint32_t fixture_random_tree(forest_fixture *fix, uint32_t size, uint32_t capacity,
                                           uint64_t *random)
{
    const uint32_t tree = fixture_tree(fix, capacity);

    while (fix->forest.trees[tree].live < size) {
        const uint32_t parent = fixture_node_of(fix, tree, random);

        ck_assert_uint_ne(fixture_add(fix, parent, fixture_child_of(fix, parent, random)),
                          ESPL__NO_SLOT);
    }
    return tree;
}

// --- Placements ---

static inline espl_pose fixture_pose(uint64_t *random)
{
    espl_pose pose;

    do {
        for (int i = 0; i < 4; ++i) {
            pose.rotation[i] = test_between(random, -1, 1);
        }
    } while (!espl__rotation_normalize(pose.rotation));
    for (int i = 0; i < 3; ++i) {
        pose.position[i] = test_between(random, -10, 10);
    }
    pose.scale = test_between(random, 0.75f, 1.3f) * (test_one_in(random, 8) ? -1.0f : 1.0f);
    return pose;
}

/// Store a placement. The worlds are not computed.
static inline void fixture_place(forest_fixture *fix, uint32_t slot,
                                 const espl__placement *placement)
{
    espl__forest *const forest = &fix->forest;

    if (!espl__tree_can_hold(espl__tree_of(forest, slot), placement)) {
        ck_assert(espl__tree_add_side(forest, forest->tree[slot], placement->kept.flags != 0));
    }
    espl__slot_place(forest, slot, placement);
}

/// A flag set that a member may have, never 0.
static inline uint32_t fixture_inherit(uint64_t *random)
{
    return test_one_in(random, 3) ? (uint32_t)ESPL_COPY_PARENT
                                  : 1 + test_below(random, ESPL_COPY_PARENT - 1);
}

/// What a node has beside its pose, at random: nothing, stretch, user data, inherit flags or no
/// transform. The stretch of its parent is final.
static inline void fixture_decorate(forest_fixture *fix, uint32_t slot, uint64_t *random)
{
    espl__forest *const forest = &fix->forest;
    const uint32_t up = forest->parent[slot];
    const espl__extra shown =
        up == ESPL__NO_SLOT ? espl__extra_default() : espl__slot_extra(forest, up);
    espl__placement placement = {fixture_pose(random), espl__kept_none(), espl__extra_default()};
    const espl_pose kept = fixture_pose(random);
    const uint32_t choice = test_below(random, up == ESPL__NO_SLOT ? 2 : 4);

    if (choice == 0) {
        placement.extra.user_data = test_below(random, 100);
    } else if (choice == 1) {
        placement.extra.stretch[test_below(random, 3)] = test_between(random, 0.5f, 2);
    } else if (choice == 2) {
        const uint32_t flags = fixture_inherit(random);

        placement.kept = espl__kept_of(&kept, flags);
        if (flags == ESPL_COPY_PARENT) {
            placement.local = espl__pose_identity();
            placement.extra = shown;
        }
    } else {
        placement.local = espl__pose_identity();
        placement.extra = shown;
    }
    fixture_place(fix, slot, &placement);
    if (choice == 3) {
        espl__slot_set_bare(forest, slot, true);
    }
}

/// World pose of a placement below a frame, by the public formula.
static inline espl_pose fixture_world_below(const espl__frame *up, const espl__placement *placement)
{
    const espl_transform parent = espl__transform_of(&up->world, &up->extra);
    const espl_transform local = espl__transform_of(&placement->local, &placement->extra);
    const espl_transform kept = espl__transform_of(&placement->kept.pose, &placement->extra);
    const espl_transform world =
        espl_transform_inherit(&parent, &local, &kept, placement->kept.flags);

    return espl__pose_of(&world);
}

/// Compute what a node shows from what its parent shows, by the rules and what is stored alone.
static inline espl__frame fixture_frame(const espl__forest *forest, uint32_t slot,
                                        const espl__frame *up)
{
    const espl__placement placement = espl__slot_placement(forest, slot);

    if (up == NULL) {
        return (espl__frame){placement.local, placement.extra};
    }
    if (espl__slot_copies(forest, slot)) {
        return *up;
    }
    return (espl__frame){fixture_world_below(up, &placement), placement.extra};
}

/// Compute what each node of a tree shows, by slot - base, without the library's propagation.
static inline void fixture_frames(const forest_fixture *fix, uint32_t tree, espl__frame *frames)
{
    const espl__forest *const forest = &fix->forest;
    const espl__tree *const t = &forest->trees[tree];

    // A parent has a lower slot than its children.
    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        const uint32_t up = forest->parent[slot];

        if (fixture_is_node(forest, slot)) {
            frames[slot - t->base] =
                fixture_frame(forest, slot, up == ESPL__NO_SLOT ? NULL : &frames[up - t->base]);
        }
    }
}

/// Give all nodes of a tree random poses, and make one in `n` exceptional, or none where n is 0.
static inline void fixture_pose_all(forest_fixture *fix, uint32_t tree, uint32_t n,
                                    uint64_t *random)
{
    espl__forest *const forest = &fix->forest;
    const espl__tree *const t = &forest->trees[tree];

    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        if (!fixture_is_node(forest, slot)) {
            continue;
        }
        forest->local[slot] = fixture_pose(random);
        if (n != 0 && test_one_in(random, n)) {
            fixture_decorate(fix, slot, random);
        }
    }
    espl__frame *const frames = test_array(t->capacity, sizeof *frames);

    fixture_frames(fix, tree, frames);
    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        if (fixture_is_node(forest, slot)) {
            espl__world_store(espl__worlds_of(forest), slot, &frames[slot - t->base].world);
        }
    }
    free(frames);
}

// --- Order ---

/// Tell whether the slots of a tree are its breadth-first order without holes, by a queue.
static inline bool fixture_is_breadth_first(const forest_fixture *fix, uint32_t tree)
{
    const espl__forest *const forest = &fix->forest;
    const espl__tree *const t = &forest->trees[tree];
    static uint32_t queue[FIXTURE_NODES];
    uint32_t count = 1;

    queue[0] = t->base;
    for (uint32_t i = 0; i < count; ++i) {
        if (queue[i] != t->base + i) {
            return false;
        }
        for (uint32_t child = forest->links[queue[i]].first_child; child != ESPL__NO_SLOT;
             child = forest->links[child].next) {
            queue[count++] = child;
        }
    }
    return count == t->live && t->live == t->used;
}

/// Tell whether a node is another one or below it, by a climb.
static inline bool fixture_is_at_or_below(const espl__forest *forest, uint32_t slot, uint32_t top)
{
    while (slot != top && slot != ESPL__NO_SLOT) {
        slot = forest->parent[slot];
    }
    return slot == top;
}

// --- The fixture of a suite ---

static forest_fixture fix;
static espl__forest *const forest = &fix.forest;

static void set_up(void);
static void tear_down(void);

/// End what a test did with the fixture, and begin anew.
static inline void begin_again(void)
{
    tear_down();
    set_up();
}

#endif

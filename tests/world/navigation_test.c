// SPDX-License-Identifier: MIT
// Every function of navigation, iteration over subtrees, copies of subtrees and views of
// hierarchies, on random worlds in which members were destroyed, against the model.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/small.h"

#include <stdlib.h>
#include <string.h>

// A walk over the model's tree.
typedef struct walk {
    uint32_t *nodes, *parents, *depths; // [count]
    uint32_t count;
} walk;

static walk new_walk(const test_model *model, uint32_t top)
{
    const walk w = {test_array(model->living_count, sizeof(uint32_t)),
                    test_array(model->living_count, sizeof(uint32_t)),
                    test_array(model->living_count, sizeof(uint32_t)), 1};

    w.nodes[0] = top;
    w.parents[0] = ESPL_NO_RANK;
    return w;
}

// Parents before their children, siblings in their order.
static walk walk_deep(const test_model *model, uint32_t top)
{
    walk w = new_walk(model, top);

    for (uint32_t i = model_next(model, top, top); i != MODEL_NONE; i = model_next(model, top, i)) {
        w.nodes[w.count++] = i;
    }
    return w;
}

// Breadth-first.
static walk walk_of(const test_model *model, uint32_t top, espl_extent extent)
{
    walk w = new_walk(model, top);

    for (uint32_t at = 0; at < w.count && extent != ESPL_EXTENT_ENTITY; ++at) {
        for (uint32_t i = model->nodes[w.nodes[at]].first; i != MODEL_NONE;
             i = model->nodes[i].next) {
            if (extent == ESPL_EXTENT_SUBTREE || model->nodes[i].link == ESPL_LINK_OWNED) {
                w.nodes[w.count] = i;
                w.parents[w.count] = at;
                w.depths[w.count++] = w.depths[at] + 1;
            }
        }
    }
    return w;
}

static void walk_end(walk *w)
{
    free(w->nodes);
    free(w->parents);
    free(w->depths);
}

// Where the model stands beside the world.
typedef struct pair {
    const test_tape *tape;
    const test_side *side;
    const test_model *model;
    espl_world *world;
} pair;

static espl_entity handle(const pair *p, uint32_t node)
{
    return node == MODEL_NONE ? espl_entity_null() : p->side->handles[node];
}

#define demand_same(p, got, node)                                                              \
    tape_demand((p)->tape, espl_entity_equal((got), handle((p), (node))), "%s is not node %u", \
                #got, (node))

// --- One entity ---

static void compare_children(const pair *p, uint32_t node)
{
    const espl_entity entity = handle(p, node);
    const model_node *const n = &p->model->nodes[node];
    const size_t listed = espl_get_children(p->world, entity, 0, NULL);
    espl_entity *const children = test_array(listed + 1, sizeof *children);
    size_t count = 0;

    demand_same(p, espl_get_first_child(p->world, entity), n->first);
    demand_same(p, espl_get_last_child(p->world, entity), n->last);
    ck_assert_uint_eq(espl_get_children(p->world, entity, listed, children), listed);
    for (uint32_t i = n->first; i != MODEL_NONE; i = p->model->nodes[i].next) {
        ck_assert_uint_lt(count, listed);
        demand_same(p, children[count], i);
        count += 1;
    }
    ck_assert_uint_eq(listed, count);
    free(children);
}

static void compare_relatives(const pair *p, uint32_t node)
{
    const espl_entity entity = handle(p, node);
    const model_node *const n = &p->model->nodes[node];
    walk below = walk_of(p->model, node, ESPL_EXTENT_SUBTREE);

    demand_same(p, espl_get_parent(p->world, entity), n->parent);
    demand_same(p, espl_get_root(p->world, entity), model_root(p->model, node));
    demand_same(p, espl_get_next_sibling(p->world, entity), n->next);
    demand_same(p, espl_get_previous_sibling(p->world, entity), n->previous);
    ck_assert_int_eq(espl_get_role(p->world, entity), model_role(p->model, node));
    ck_assert_int_eq(espl_get_link(p->world, entity), n->link);
    ck_assert_uint_eq(espl_get_depth(p->world, entity), model_depth(p->model, node));
    ck_assert_uint_eq(test_count_descendants(p->world, entity), below.count - 1);
    walk_end(&below);
}

static void compare_ancestors(const pair *p, uint32_t node, uint32_t other)
{
    const bool is_above = other != node && model_is_at_or_below(p->model, node, other);

    ck_assert_int_eq(espl_is_ancestor(p->world, handle(p, other), handle(p, node)), is_above);
}

// --- Iteration ---

// Each entity is met once, in order: depth-first.
static void iterate(const pair *p, uint32_t top)
{
    walk w = walk_deep(p->model, top);
    espl_subtree below;
    uint32_t count = 0;

    ck_ok(espl_subtree_begin(p->world, handle(p, top), &below));
    while (espl_subtree_next(&below)) {
        tape_demand(p->tape, count < w.count, "met more than %u", w.count);
        tape_demand(p->tape, espl_entity_equal(below.entity, handle(p, w.nodes[count])),
                    "node %u is out of order", w.nodes[count]);
        tape_demand(p->tape, below.rank == test_rank(p->world, below.entity), "another rank");
        count += 1;
    }
    ck_assert_uint_eq(count, w.count);
    ck_assert(!espl_subtree_next(&below));
    espl_subtree_end(&below);
    walk_end(&w);
}

// --- Copies ---

enum { GUARD = 0x5a };

typedef struct arrays {
    espl_entity *entities;
    uint32_t *parents, *depths;
    espl_transform *locals, *worlds;
    size_t room;
} arrays;

static arrays arrays_of(size_t room)
{
    arrays a = {test_array(room, sizeof *a.entities), test_array(room, sizeof *a.parents),
                test_array(room, sizeof *a.depths),   test_array(room, sizeof *a.locals),
                test_array(room, sizeof *a.worlds),   room};

    memset(a.entities, GUARD, (room + 1) * sizeof *a.entities);
    memset(a.parents, GUARD, (room + 1) * sizeof *a.parents);
    memset(a.depths, GUARD, (room + 1) * sizeof *a.depths);
    memset(a.locals, GUARD, (room + 1) * sizeof *a.locals);
    memset(a.worlds, GUARD, (room + 1) * sizeof *a.worlds);
    return a;
}

static bool is_guard(const void *bytes, size_t size)
{
    const unsigned char *const at = bytes;
    bool is_same = true;

    for (size_t i = 0; i < size; ++i) {
        is_same = is_same && at[i] == GUARD;
    }
    return is_same;
}

// Nothing was written past the first `count` of each.
static void guards_stand(const arrays *a, size_t count)
{
    const size_t rest = a->room + 1 - count;

    ck_assert(is_guard(a->entities + count, rest * sizeof *a->entities));
    ck_assert(is_guard(a->parents + count, rest * sizeof *a->parents));
    ck_assert(is_guard(a->depths + count, rest * sizeof *a->depths));
    ck_assert(is_guard(a->locals + count, rest * sizeof *a->locals));
    ck_assert(is_guard(a->worlds + count, rest * sizeof *a->worlds));
}

static void arrays_end(arrays *a)
{
    free(a->entities);
    free(a->parents);
    free(a->depths);
    free(a->locals);
    free(a->worlds);
}

// Any of the arrays but the first may be left out.
static void copy(const pair *p, uint32_t top, espl_extent extent, const walk *w, size_t room,
                 unsigned wanted)
{
    arrays a = arrays_of(room);
    const espl_subtree_arrays out = {.entities = a.entities,
                                     .parents = wanted & 1 ? a.parents : NULL,
                                     .depths = wanted & 2 ? a.depths : NULL,
                                     .locals = wanted & 4 ? a.locals : NULL,
                                     .worlds = wanted & 8 ? a.worlds : NULL};
    const size_t count = espl_copy_subtree(p->world, handle(p, top), extent, room, &out);

    ck_assert_uint_eq(count, w->count);
    guards_stand(&a, room < count ? 0 : count);
    for (uint32_t i = 0; room >= count && i < count; ++i) {
        const uint32_t node = w->nodes[i];
        const espl_transform local = p->model->nodes[node].has_placement
                                         ? model_local(p->model, node)
                                         : espl_transform_identity();

        demand_same(p, a.entities[i], node);
        ck_assert(out.parents != NULL ? a.parents[i] == w->parents[i]
                                      : is_guard(a.parents + i, sizeof *a.parents));
        ck_assert(out.depths != NULL ? a.depths[i] == w->depths[i]
                                     : is_guard(a.depths + i, sizeof *a.depths));
        tape_demand(p->tape,
                    out.locals != NULL ? test_same(&a.locals[i], &local)
                                       : is_guard(a.locals + i, sizeof *a.locals),
                    "the copied local of node %u differs", node);
        tape_demand(p->tape,
                    out.worlds != NULL ? test_same(&a.worlds[i], &p->model->nodes[node].world)
                                       : is_guard(a.worlds + i, sizeof *a.worlds),
                    "the copied world of node %u differs", node);
    }
    arrays_end(&a);
}

static void copy_all_ways(const pair *p, uint32_t top, uint64_t *random)
{
    for (int extent = ESPL_EXTENT_OWNED; extent <= ESPL_EXTENT_SUBTREE; ++extent) {
        const espl_extent e = (espl_extent)extent;
        walk w = walk_of(p->model, top, e);

        copy(p, top, e, &w, w.count, 15);
        copy(p, top, e, &w, w.count - 1, 15);
        copy(p, top, e, &w, w.count + 5, test_below(random, 16));
        ck_assert_uint_eq(espl_copy_subtree(p->world, handle(p, top), e, 0, NULL), w.count);
        walk_end(&w);
    }
}

// --- Views ---

static void view(const pair *p, uint32_t node)
{
    const uint32_t root = model_root(p->model, node);
    walk w = walk_of(p->model, root, ESPL_EXTENT_SUBTREE);
    espl_view seen;

    ck_ok(espl_view_hierarchy(p->world, handle(p, node), &seen));
    ck_assert_uint_eq(seen.count, w.count);
    for (uint32_t rank = 0; rank < w.count; ++rank) {
        const espl_transform *const world = &p->model->nodes[w.nodes[rank]].world;

        demand_same(p, espl_view_entity(&seen, rank), w.nodes[rank]);
        ck_assert_uint_eq(espl_view_parent(&seen, rank), w.parents[rank]);
        ck_assert_uint_eq(seen.parents[rank],
                          rank == 0 ? ESPL_NO_RANK : seen.first + w.parents[rank]);
        ck_assert_uint_eq(test_rank(p->world, handle(p, w.nodes[rank])), rank);
        // The pose stands first in a transform; the model knows the rest.
        espl_transform got = *world;
        memcpy(&got, &seen.world_poses[seen.first + rank], sizeof(espl_pose));
        ck_assert(test_same(&got, world));
    }
    ck_assert(espl_entity_is_null(espl_view_entity(&seen, w.count)));
    ck_assert(espl_entity_is_null(espl_view_entity(&seen, SIZE_MAX)));
    walk_end(&w);
}

// --- Random worlds ---

static void compare_world(const pair *p, uint64_t *random)
{
    const test_model *const model = p->model;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t node = model->living[i];

        compare_relatives(p, node);
        compare_children(p, node);
        compare_ancestors(p, node, model->living[test_below(random, model->living_count)]);
        compare_ancestors(p, node, model_root(model, node));
    }
    for (uint32_t i = 0; i < 3 && model->living_count != 0; ++i) {
        const uint32_t top = model->living[test_below(random, model->living_count)];

        iterate(p, top);
        copy_all_ways(p, top, random);
    }
    if (model->living_count != 0 && test_one_in(random, 4)) {
        view(p, model->living[test_below(random, model->living_count)]);
        test_world_is_valid(p->world);
    }
}

// Returns how often some had died.
static size_t run_tape(uint64_t seed, uint32_t population, size_t steps)
{
    test_tape tape;
    test_side side;
    uint64_t random = seed;
    size_t with_dead = 0;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    side_begin(&side, &tape, 1, NULL);
    const pair p = {&tape, &side, &tape.model, side.world};

    tape.style.weights[OP_DESTROY_ONLY] += 4;
    tape.style.weights[OP_ATTACH] += 4;
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);
        const espl_status status = side_run(&side, &tape, &op);
        side_follow(&side, &tape, &op, status);
        if (tape.at % 4 == 0) {
            with_dead += tape.model.living_count < tape.model.count;
            compare_world(&p, &random);
        }
    }
    side_compare(&side, &tape);
    side_end(&side);
    tape_end(&tape);
    return with_dead;
}

TEST_LOOP(h5_every_way_through_a_random_world_is_the_models, 0, 4)
{
    static const uint32_t populations[4] = {4, 12, 30, 90};
    uint64_t state = (uint64_t)_i + 1;
    size_t with_dead = 0;

    for (size_t i = 0; i < test_scaled(40); ++i) {
        with_dead += run_tape(test_random(&state), populations[_i], 240);
    }
    ck_assert_uint_gt(with_dead, _i == 0 ? 0 : 10);
}

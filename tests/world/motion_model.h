// SPDX-License-Identifier: MIT
// A naive model of the past of entities (espalier/motion.h): per entity the local and the kept world parts of the
// last two begins of ticks, in double. What an entity has now is read from the library. Locals of roots, worlds
// and kept parts are absolute: from the middle of cell 0, 0, 0 where the world has cells.
#ifndef ESPALIER_TESTS_MOTION_MODEL_H
#define ESPALIER_TESTS_MOTION_MODEL_H

#include "tests/model_poses.h"
#include "tests/one_world.h"

#include <espalier/far.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LIMIT = 24, // entities at once
    TIMES = 2,  // earlier times: the previous one, and the one before
    PARTS = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE,
};

typedef struct node {
    espl_entity entity; // null: none
    bool is_new;        // made since the tick began
    dpose local[TIMES], kept[TIMES];
} node;

typedef struct model {
    node nodes[LIMIT];
    uint64_t random;
    bool is_ticking;
    size_t checks;
} model;

static char told[200]; // the last operation, for the message of a failure

// --- What the library has now ---

static bool is_bare(espl_entity entity)
{
    return !espl_has_component(w, entity, ESPL_TRANSFORM);
}

static bool copies(espl_entity entity)
{
    return is_bare(entity) || espl_get_inherit(w, entity) == ESPL_COPY_PARENT;
}

// The position of the cell of an entity. That of a hierarchy whose root has no transform reads from a member.
typedef struct offset {
    double by[3];
} offset;

static offset offset_of(espl_entity entity)
{
    const double size = (double)espl_get_cell_size(w);
    offset o = {{0, 0, 0}};
    espl_entity tree[LIMIT];
    int32_t cell[3];

    if (size == 0) {
        return o;
    }
    const espl_subtree_arrays arrays = {.entities = tree};
    const size_t count = espl_copy_subtree(w, espl_get_root(w, entity), ESPL_EXTENT_SUBTREE, LIMIT,
                                           &arrays);
    size_t first = 0;

    while (first < count && is_bare(tree[first])) {
        first += 1;
    }
    if (first < count) {
        ck_ok(espl_read_one(w, tree[first], ESPL_READ_CELL, cell));
        for (int i = 0; i < 3; ++i) {
            o.by[i] = size * (double)cell[i];
        }
    }
    return o;
}

// Add an offset to a position, or take it away.
static dpose moved(dpose pose, offset o, double sign)
{
    for (int i = 0; i < 3; ++i) {
        pose.p[i] += sign * o.by[i];
    }
    return pose;
}

static bool is_root(espl_entity entity)
{
    return espl_entity_is_null(espl_get_parent(w, entity));
}

// What an entity reads for a pose that is absolute where it is a root.
static dpose in_cell(espl_entity entity, dpose pose)
{
    return is_root(entity) ? moved(pose, offset_of(entity), -1) : pose;
}

// The reverse.
static dpose out_of_cell(espl_entity entity, dpose pose)
{
    return is_root(entity) ? moved(pose, offset_of(entity), 1) : pose;
}

static dpose local_now(espl_entity entity)
{
    const espl_transform local =
        is_bare(entity) ? espl_transform_identity() : test_local_of(w, entity);

    return out_of_cell(entity, dpose_of(&local));
}

static dpose world_now(espl_entity entity)
{
    const espl_transform world = test_world_of(w, entity);

    return moved(dpose_of(&world), offset_of(entity), 1);
}

// The stretch that the children of an entity see: of a copy, that of its parent.
static void stretch_of(espl_entity entity, double out[3])
{
    while (!espl_entity_is_null(entity) && copies(entity)) {
        entity = espl_get_parent(w, entity);
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = espl_entity_is_null(entity) ? 1 : (double)test_local_of(w, entity).stretch[i];
    }
}

// --- The model ---

static node *node_of(model *m, espl_entity entity)
{
    for (int i = 0; i < LIMIT; ++i) {
        if (espl_entity_equal(m->nodes[i].entity, entity)) {
            return &m->nodes[i];
        }
    }
    ck_abort_msg("no node");
    return NULL;
}

static dpose local_at(model *m, espl_entity entity, int time)
{
    const node *const n = node_of(m, entity);

    return n->is_new || is_bare(entity) ? local_now(entity) : n->local[time];
}

// The parts of a pose that flags keep are those of another one.
static dpose with_kept(dpose pose, dpose kept, uint32_t flags)
{
    return dpose_parts(pose, kept, (flags & ESPL_ABSOLUTE_POSITION) != 0,
                       (flags & ESPL_ABSOLUTE_ROTATION) != 0, (flags & ESPL_ABSOLUTE_SCALE) != 0);
}

// The world at a time. Hierarchies are small, so that the recursion is not deep.
static dpose world_at(model *m, espl_entity entity, int time)
{
    const espl_entity parent = espl_get_parent(w, entity);
    const node *const n = node_of(m, entity);
    const uint32_t flags = espl_get_inherit(w, entity);
    double stretch[3];

    if (espl_entity_is_null(parent)) {
        return local_at(m, entity, time);
    }
    const dpose up = world_at(m, parent, time);

    if (copies(entity)) {
        return up;
    }
    stretch_of(parent, stretch);
    const dpose composed = dpose_compose(up, stretch, local_at(m, entity, time));

    return with_kept(composed, n->is_new ? world_now(entity) : n->kept[time], flags);
}

static dpose relative_at(model *m, espl_entity parent, int time, dpose world)
{
    double stretch[3];

    if (espl_entity_is_null(parent)) {
        return world;
    }
    stretch_of(parent, stretch);
    return dpose_relative(world_at(m, parent, time), stretch, world);
}

static dpose compose_at(model *m, espl_entity parent, int time, dpose local)
{
    double stretch[3];

    if (espl_entity_is_null(parent)) {
        return local;
    }
    stretch_of(parent, stretch);
    return dpose_compose(world_at(m, parent, time), stretch, local);
}

// The local as it reads at a time: kept parts are seen from the parent.
static dpose seen_at(model *m, espl_entity entity, int time)
{
    const uint32_t flags = espl_get_inherit(w, entity);

    if (flags == ESPL_COPY_PARENT) {
        return dpose_identity();
    }
    if (flags == 0) {
        return in_cell(entity, local_at(m, entity, time));
    }
    return with_kept(local_at(m, entity, time),
                     relative_at(m, espl_get_parent(w, entity), time, world_at(m, entity, time)),
                     flags);
}

static void set_now(node *n, int time)
{
    n->local[time] = local_now(n->entity);
    if (!is_bare(n->entity)) {
        n->kept[time] = world_now(n->entity);
    }
}

static void roll(model *m)
{
    for (int i = 0; i < LIMIT; ++i) {
        node *const n = &m->nodes[i];

        if (!espl_entity_is_null(n->entity)) {
            n->local[1] = n->local[0];
            n->kept[1] = n->kept[0];
            set_now(n, 0);
            if (n->is_new) {
                set_now(n, 1);
            }
            n->is_new = false;
        }
    }
}

// --- What all entities had before an operation ---

typedef struct snapshot {
    dpose worlds[LIMIT][TIMES], seen[LIMIT][TIMES];
    espl_transform locals[LIMIT], now[LIMIT];
    espl_entity parents[LIMIT];
    uint32_t flags[LIMIT];
    bool are_bare[LIMIT];
} snapshot;

static snapshot before;

static void take_snapshot(model *m)
{
    for (int i = 0; i < LIMIT; ++i) {
        const espl_entity entity = m->nodes[i].entity;

        if (espl_entity_is_null(entity)) {
            continue;
        }
        before.parents[i] = espl_get_parent(w, entity);
        before.flags[i] = espl_get_inherit(w, entity);
        before.are_bare[i] = is_bare(entity);
        if (!before.are_bare[i]) {
            before.locals[i] = test_local_of(w, entity);
            before.now[i] = test_world_of(w, entity);
        }
        for (int t = 0; t < TIMES; ++t) {
            before.worlds[i][t] = world_at(m, entity, t);
            before.seen[i][t] = seen_at(m, entity, t);
        }
    }
}

static int depth_of(espl_entity entity)
{
    return (int)espl_get_depth(w, entity);
}

// Forget the dead.
static void bury(model *m)
{
    for (int i = 0; i < LIMIT; ++i) {
        if (!espl_is_alive(w, m->nodes[i].entity)) {
            m->nodes[i].entity = test_null;
        }
    }
}

// Tell whether an entity is in the frame that it was in: below the same parent, which has its own transform and is
// not the one that an operation names.
static bool is_in_its_frame(int i, espl_entity entity, espl_entity named)
{
    const espl_entity parent = espl_get_parent(w, entity);

    return espl_entity_equal(parent, before.parents[i]) && !espl_entity_equal(parent, named) &&
           (espl_entity_is_null(parent) || !copies(parent));
}

// Each entity in another frame keeps its world, but the one that the operation names; parents first.
static void keep_all_but(model *m, espl_entity named)
{
    for (int depth = 0; depth < LIMIT; ++depth) {
        for (int i = 0; i < LIMIT; ++i) {
            node *const n = &m->nodes[i];
            const espl_entity entity = n->entity;

            if (espl_entity_is_null(entity) || depth_of(entity) != depth || n->is_new ||
                espl_entity_equal(entity, named) || copies(entity) ||
                is_in_its_frame(i, entity, named)) {
                continue;
            }
            for (int t = 0; t < TIMES; ++t) {
                n->local[t] = relative_at(m, espl_get_parent(w, entity), t, before.worlds[i][t]);
                n->kept[t] = before.worlds[i][t];
            }
        }
    }
}

#endif

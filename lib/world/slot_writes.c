// SPDX-License-Identifier: MIT
// Writing the transform at one slot, whoever does it: it propagates before the call returns.
#include "lib/world/slot_writes.h"

#include "lib/tree/single.h"

#include <string.h>

// --- Names ---

const char *const espl__write_operations[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = "set local position",
    [ESPL_WRITE_LOCAL_ROTATION] = "set local rotation",
    [ESPL_WRITE_LOCAL_SCALE] = "set local scale",
    [ESPL_WRITE_LOCAL_POSE] = "set local pose",
    [ESPL_WRITE_LOCAL] = "set local",
    [ESPL_WRITE_STRETCH] = "set stretch",
    [ESPL_WRITE_CONTEXT] = "set context",
    [ESPL_WRITE_WORLD_POSITION] = "set world position",
    [ESPL_WRITE_WORLD_ROTATION] = "set world rotation",
    [ESPL_WRITE_WORLD_SCALE] = "set world scale",
    [ESPL_WRITE_WORLD] = "set world",
    [ESPL_WRITE_TRANSLATE_LOCAL] = "translate local",
    [ESPL_WRITE_ROTATE_LOCAL] = "rotate local",
    [ESPL_WRITE_TRANSFORM_LOCAL] = "transform local",
    [ESPL_WRITE_INVERSE_TRANSFORM_LOCAL] = "inverse-transform local",
    [ESPL_WRITE_TRANSLATE_WORLD] = "translate world",
    [ESPL_WRITE_ROTATE_WORLD] = "rotate world",
    [ESPL_WRITE_TRANSFORM_WORLD] = "transform world",
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = "inverse-transform world",
    [ESPL_WRITE_MULTIPLY_SCALE] = "multiply scale",
    [ESPL_WRITE_MULTIPLY_STRETCH] = "multiply stretch",
};

// --- The node to be written ---

typedef struct node {
    uint32_t slot;
    espl__placement placement;
    espl_pose world;
    espl__frame parent;
    bool has_parent;
} node;

static node node_at(const espl__forest *forest, uint32_t slot)
{
    const uint32_t up = espl__frame_slot(forest, slot);
    node at = {.slot = slot,
               .placement = espl__slot_placement(forest, slot),
               .world = forest->world[slot],
               .has_parent = up != ESPL__NO_SLOT};

    if (at.has_parent) {
        at.parent = espl__slot_frame(forest, up);
    }
    return at;
}

static const espl__frame *parent_of(const node *at)
{
    return at->has_parent ? &at->parent : NULL;
}

// --- Putting a placement in place ---

espl_status espl__ensure_side(espl_world *world, uint32_t run, bool keeps)
{
    const espl__side *const side = world->forest.runs[run].side;

    if (side != NULL && side->kept != NULL) {
        return ESPL_OK;
    }
    // Nobody asks for less than there is.
    ESPL_CHECK(side == NULL || keeps);
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__run_add_side(&world->forest, run, keeps) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Propagate from a node that was given a placement and its world. false: a world below overflows.
static bool follow(espl__forest *forest, espl__crew *crew, uint32_t slot, const node *before,
                   const node *after)
{
    forest->world[slot] = after->world;
    crew->tally.nodes_visited += 1;
    if (espl__pose_is_same(&before->world, &after->world) &&
        memcmp(&before->placement.extra, &after->placement.extra, sizeof(espl__extra)) == 0) {
        crew->tally.nodes_skipped += 1;
        return true;
    }
    return espl__propagate_changed(forest, crew, forest->run[slot], forest->rank[slot]);
}

// Side arrays that nothing needs any more go back; a job leaves that to whoever began it.
static void drop_side(espl__forest *forest, espl__crew *crew, uint32_t run)
{
    if (crew->is_job) {
        crew->has_sides_to_drop = true;
        return;
    }
    espl__run_drop_side(forest, run);
}

// Put a node's new placement in its place, or leave all as it was: false.
static bool put(espl__forest *forest, espl__crew *crew, const node *before, const node *after)
{
    const uint32_t slot = after->slot;

    espl__slot_place(forest, slot, &after->placement);
    if (follow(forest, crew, slot, before, after)) {
        crew->tally.writes += 1;
        return true;
    }
    // Worlds are a function of what is stored: the old placement brings the old worlds back.
    espl__slot_place(forest, slot, &before->placement);
    forest->world[slot] = before->world;
    (void)espl__propagate_below(forest, crew, forest->run[slot], forest->rank[slot]);
    return false;
}

// Let nothing be taken while a write is carried out. For jobs whoever began them sees to that. A
// write without side arrays knows no heap, so that it needs no such guard.
static void forbid(espl_world *world, const espl__crew *crew)
{
    if (!crew->is_job) {
        espl__heap_forbid(&world->heap);
    }
}

static void allow(espl_world *world, const espl__crew *crew)
{
    if (!crew->is_job) {
        espl__heap_allow(&world->heap);
    }
}

static espl_status commit(espl_world *world, espl__crew *crew, const node *before,
                          const node *after)
{
    espl__forest *const forest = &world->forest;
    const uint32_t run = forest->run[after->slot];

    if (espl__placement_is_equal(&before->placement, &after->placement)) {
        crew->tally.writes_skipped += 1;
        return ESPL_OK;
    }
    if (!espl__run_can_hold(&forest->runs[run], &after->placement)) {
        const espl_status status = espl__ensure_side(world, run, after->placement.kept.flags != 0);

        if (status != ESPL_OK) {
            return status;
        }
    }
    forbid(world, crew);
    const bool is_finite = put(forest, crew, before, after);

    if (forest->runs[run].side != NULL) {
        drop_side(forest, crew, run);
    }
    allow(world, crew);
    return is_finite ? ESPL_OK : ESPL_ERR_RANGE;
}

// Commit what a change made of a node, and answer with its remark.
static espl_status finish(espl_world *world, espl__crew *crew, const node *before,
                          const node *after, espl_status status)
{
    const espl_status done = status < 0 ? status : commit(world, crew, before, after);

    return done < 0 ? done : status;
}

// --- Every kind of write ---

// Nodes without side arrays, by far the most: the local pose is all that is stored of them. A kind
// that needs no world leaves the world to propagation, which composes it in place.
static espl_status change_local(const espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                const espl_write_value *value, espl_pose *local)
{
    *local = forest->local[slot];
    if (espl__write_is_local(kind)) {
        return espl__local_write(local, kind, value);
    }
    const uint32_t up = espl__frame_slot(forest, slot);
    espl_pose world = forest->world[slot];

    if (up == ESPL__NO_SLOT) {
        return espl__pose_write(local, &world, NULL, kind, value);
    }
    const espl__frame parent = {forest->world[up], espl__extra_default()};

    return espl__pose_write(local, &world, &parent, kind, value);
}

static espl_status write_plain(espl__forest *forest, espl__crew *crew, uint32_t slot,
                               espl_write_kind kind, const espl_write_value *value)
{
    espl_pose local;
    const espl_status status = change_local(forest, slot, kind, value, &local);
    const espl_status done = status < 0 ? status : espl__local_put(forest, crew, slot, &local);

    return done < 0 ? done : status;
}

static espl_status write_sided(espl_world *world, espl__crew *crew, uint32_t slot,
                               espl_write_kind kind, const espl_write_value *value)
{
    const node before = node_at(&world->forest, slot);
    node after = before;
    const espl_status status =
        espl__placement_write(&after.placement, &after.world, parent_of(&before), kind, value);

    return finish(world, crew, &before, &after, status);
}

espl_status espl__slot_write(espl_world *world, espl__crew *crew, uint32_t slot,
                             espl_write_kind kind, const void *bytes)
{
    espl_write_value value;

    if (!ESPL_DEMAND(&world->hooks, bytes != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    if ((kind == ESPL_WRITE_LOCAL || kind == ESPL_WRITE_LOCAL_POSE) &&
        espl__write_is_usual(&world->forest, slot, bytes)) {
        return espl__pose_put(&world->forest, crew, slot, bytes);
    }
    espl__write_load(&value, kind, bytes);
    const espl_status status = espl__write_check(kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    const bool is_plain = !espl__slot_is(&world->forest, slot, ESPL__SLOT_SIDE) &&
                          !espl__write_wants_side(kind, &value);

    return is_plain ? write_plain(&world->forest, crew, slot, kind, &value)
                    : write_sided(world, crew, slot, kind, &value);
}

// --- Changes that are worked out from the world placement ---

// A change of the world placement, as a value.
typedef espl_status (*world_change)(espl_transform *world, const float *a, const float *b);

static espl_status look_at(espl_transform *world, const float *target, const float *up)
{
    return espl_transform_look_at(world, target, up);
}

static espl_status rotate_about(espl_transform *world, const float *pivot, const float *by)
{
    return espl_transform_rotate_about(world, pivot, by);
}

static espl_status change_world(espl_world *world, espl__crew *crew, uint32_t slot,
                                world_change change, unsigned parts, const float *a, const float *b)
{
    const node before = node_at(&world->forest, slot);

    if (espl__placement_copies(&before.placement)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    espl_transform turned = espl__transform_of(&before.world, &before.placement.extra);
    espl_status status = change(&turned, a, b);

    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose wanted = espl__pose_of(&turned);
    node after = before;

    status = espl__placement_set_world(&after.placement, &after.world, parent_of(&before), parts,
                                       &wanted);
    return finish(world, crew, &before, &after, status);
}

espl_status espl__slot_look_at(espl_world *world, espl__crew *crew, uint32_t slot,
                               const float target[3], const float *up)
{
    return change_world(world, crew, slot, look_at, ESPL__PART_ROTATION, target, up);
}

espl_status espl__slot_rotate_about(espl_world *world, espl__crew *crew, uint32_t slot,
                                    const float pivot[3], const float by[4])
{
    return change_world(world, crew, slot, rotate_about, ESPL__PART_POSITION | ESPL__PART_ROTATION,
                        pivot, by);
}

// --- Inherit flags ---

espl_status espl__slot_inherit(espl_world *world, espl__crew *crew, uint32_t slot, uint32_t flags)
{
    if (!espl__flags_are_valid(flags)) {
        return ESPL_ERR_ARGUMENT;
    }
    const node before = node_at(&world->forest, slot);
    node after = before;

    if (!before.has_parent) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    const espl_status status =
        espl__placement_inherit(&after.placement, &after.world, &before.parent, flags);

    return finish(world, crew, &before, &after, status);
}

// SPDX-License-Identifier: MIT
// Writing the transform of one entity: it propagates before the call returns.
#include "lib/world/inside.h"

#include <string.h>

// --- The node to be written ---

typedef struct node {
    uint32_t slot;
    espl__placement placement;
    espl_pose world;
    espl__frame parent;
    bool has_parent;
} node;

// Ask for the lines that a write will touch, so that their misses overlap instead of adding up.
static inline void prefetch_slot(const espl__forest *forest, uint32_t slot)
{
#if defined(__GNUC__)
    __builtin_prefetch(&forest->run[slot]);
    __builtin_prefetch(&forest->local[slot], 1);
    __builtin_prefetch(&forest->world[slot], 1);
    __builtin_prefetch(&forest->rank[slot]);
    __builtin_prefetch(&forest->parent[slot]);
    __builtin_prefetch(&forest->local[slot] + 2);
    __builtin_prefetch(&forest->world[slot] + 2, 1);
#else
    (void)forest;
    (void)slot;
#endif
}

static espl_status find_writable(const espl_world *world, espl_entity entity, uint32_t *slot)
{
    const espl_status status = espl__find_slot(world, entity, slot);

    if (status != ESPL_OK) {
        return status;
    }
    prefetch_slot(&world->forest, *slot);
    if (espl__slot_is(&world->forest, *slot, ESPL__SLOT_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return world->is_playing ? ESPL_ERR_BUSY : ESPL_OK;
}

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

    if (side != NULL && (side->kept != NULL || !keeps)) {
        return ESPL_OK;
    }
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__run_add_side(&world->forest, run, keeps) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Propagate from a node that was given a placement and its world. false: a world below overflows.
static bool follow(espl__forest *forest, uint32_t slot, const node *before, const node *after)
{
    forest->world[slot] = after->world;
    forest->nodes_visited += 1;
    if (espl__pose_is_same(&before->world, &after->world) &&
        memcmp(&before->placement.extra, &after->placement.extra, sizeof(espl__extra)) == 0) {
        forest->nodes_skipped += 1;
        return true;
    }
    return espl__propagate_changed(forest, forest->run[slot], forest->rank[slot]);
}

static espl_status commit(espl_world *world, const node *before, const node *after)
{
    espl__forest *const forest = &world->forest;
    const uint32_t slot = after->slot;
    const uint32_t run = forest->run[slot];

    if (espl__placement_is_equal(&before->placement, &after->placement)) {
        forest->writes_skipped += 1;
        return ESPL_OK;
    }
    if (!espl__run_can_hold(&forest->runs[run], &after->placement)) {
        const espl_status status = espl__ensure_side(world, run, after->placement.kept.flags != 0);

        if (status != ESPL_OK) {
            return status;
        }
    }
    espl__slot_place(forest, slot, &after->placement);
    const bool is_finite = follow(forest, slot, before, after);

    if (!is_finite) {
        // Worlds are a function of what is stored: the old placement brings the old worlds back.
        espl__slot_place(forest, slot, &before->placement);
        forest->world[slot] = before->world;
        (void)espl__propagate_below(forest, run, forest->rank[slot]);
    }
    if (forest->runs[run].side != NULL) {
        espl__run_drop_side(forest, run);
    }
    forest->writes += is_finite ? 1 : 0;
    return is_finite ? ESPL_OK : ESPL_ERR_RANGE;
}

// Commit what a change made of a node, and answer with its remark.
static espl_status finish(espl_world *world, const node *before, const node *after,
                          espl_status status)
{
    const espl_status done = status < 0 ? status : commit(world, before, after);

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

// Propagate from a slot whose local changed. false: some world is not finite; all are as before,
// and so is the local.
static bool follow_local(espl__forest *forest, uint32_t slot, const espl_pose *old_local)
{
    const uint32_t run = forest->run[slot], rank = forest->rank[slot];
    const espl_pose old_world = forest->world[slot];

    if (espl__propagate_at(forest, run, rank)) {
        if (espl__pose_is_same(&old_world, &forest->world[slot])) {
            forest->nodes_skipped += 1;
            return true;
        }
        if (espl__propagate_changed(forest, run, rank)) {
            return true;
        }
    }
    forest->local[slot] = *old_local;
    forest->world[slot] = old_world;
    (void)espl__propagate_below(forest, run, rank);
    return false;
}

static espl_status write_plain(espl__forest *forest, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    const espl_pose old_local = forest->local[slot];
    espl_pose local;
    const espl_status status = change_local(forest, slot, kind, value, &local);

    if (status < 0) {
        return status;
    }
    if (espl__pose_is_same(&old_local, &local)) {
        forest->writes_skipped += 1;
        return status;
    }
    forest->local[slot] = local;
    if (!follow_local(forest, slot, &old_local)) {
        return ESPL_ERR_RANGE;
    }
    forest->writes += 1;
    return status;
}

static espl_status write_sided(espl_world *world, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    const node before = node_at(&world->forest, slot);
    node after = before;
    const espl_status status =
        espl__placement_write(&after.placement, &after.world, parent_of(&before), kind, value);

    return finish(world, &before, &after, status);
}

static espl_status carry_out(espl_world *world, espl_entity entity, espl_write_kind kind,
                             const void *bytes)
{
    espl_write_value value;
    uint32_t slot = 0;
    espl_status status = find_writable(world, entity, &slot);

    if (status == ESPL_OK && !ESPL_DEMAND(&world->hooks, bytes != NULL)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    espl__write_load(&value, kind, bytes);
    status = espl__write_check(kind, &value);
    if (status != ESPL_OK) {
        return status;
    }
    const bool is_plain = !espl__slot_is(&world->forest, slot, ESPL__SLOT_SIDE) &&
                          !espl__write_wants_side(kind, &value);

    return is_plain ? write_plain(&world->forest, slot, kind, &value)
                    : write_sided(world, slot, kind, &value);
}

// @param bytes  the value of the kind; a pointer of any type.
static espl_status write_one(espl_world *world, espl_entity entity, espl_write_kind kind,
                             const char *operation, const void *bytes)
{
    return espl__refuse(world, operation, entity, carry_out(world, entity, kind, bytes));
}

espl_status espl_set_local_position(espl_world *world, espl_entity entity, const float position[3])
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_POSITION, "set local position", position);
}

espl_status espl_set_local_rotation(espl_world *world, espl_entity entity, const float rotation[4])
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_ROTATION, "set local rotation", rotation);
}

espl_status espl_set_local_scale(espl_world *world, espl_entity entity, float scale)
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_SCALE, "set local scale", &scale);
}

espl_status espl_set_local_pose(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return write_one(world, entity, ESPL_WRITE_LOCAL_POSE, "set local pose", value);
}

espl_status espl_set_local(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return write_one(world, entity, ESPL_WRITE_LOCAL, "set local", value);
}

espl_status espl_set_stretch(espl_world *world, espl_entity entity, const float stretch[3])
{
    return write_one(world, entity, ESPL_WRITE_STRETCH, "set stretch", stretch);
}

espl_status espl_set_context(espl_world *world, espl_entity entity, uint32_t context)
{
    return write_one(world, entity, ESPL_WRITE_CONTEXT, "set context", &context);
}

espl_status espl_set_world_position(espl_world *world, espl_entity entity, const float position[3])
{
    return write_one(world, entity, ESPL_WRITE_WORLD_POSITION, "set world position", position);
}

espl_status espl_set_world_rotation(espl_world *world, espl_entity entity, const float rotation[4])
{
    return write_one(world, entity, ESPL_WRITE_WORLD_ROTATION, "set world rotation", rotation);
}

espl_status espl_set_world_scale(espl_world *world, espl_entity entity, float scale)
{
    return write_one(world, entity, ESPL_WRITE_WORLD_SCALE, "set world scale", &scale);
}

espl_status espl_set_world(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return write_one(world, entity, ESPL_WRITE_WORLD, "set world", value);
}

espl_status espl_translate_local(espl_world *world, espl_entity entity, const float offset[3])
{
    return write_one(world, entity, ESPL_WRITE_TRANSLATE_LOCAL, "translate local", offset);
}

espl_status espl_rotate_local(espl_world *world, espl_entity entity, const float by[4])
{
    return write_one(world, entity, ESPL_WRITE_ROTATE_LOCAL, "rotate local", by);
}

espl_status espl_transform_local(espl_world *world, espl_entity entity, const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_TRANSFORM_LOCAL, "transform local", by);
}

espl_status espl_inverse_transform_local(espl_world *world, espl_entity entity,
                                         const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_INVERSE_TRANSFORM_LOCAL, "inverse-transform local",
                     by);
}

espl_status espl_translate_world(espl_world *world, espl_entity entity, const float offset[3])
{
    return write_one(world, entity, ESPL_WRITE_TRANSLATE_WORLD, "translate world", offset);
}

espl_status espl_rotate_world(espl_world *world, espl_entity entity, const float by[4])
{
    return write_one(world, entity, ESPL_WRITE_ROTATE_WORLD, "rotate world", by);
}

espl_status espl_transform_world(espl_world *world, espl_entity entity, const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_TRANSFORM_WORLD, "transform world", by);
}

espl_status espl_inverse_transform_world(espl_world *world, espl_entity entity,
                                         const espl_transform *by)
{
    return write_one(world, entity, ESPL_WRITE_INVERSE_TRANSFORM_WORLD, "inverse-transform world",
                     by);
}

espl_status espl_multiply_scale(espl_world *world, espl_entity entity, float factor)
{
    return write_one(world, entity, ESPL_WRITE_MULTIPLY_SCALE, "multiply scale", &factor);
}

espl_status espl_multiply_stretch(espl_world *world, espl_entity entity, const float factors[3])
{
    return write_one(world, entity, ESPL_WRITE_MULTIPLY_STRETCH, "multiply stretch", factors);
}

// --- Helpers ---

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

static espl_status change_world(espl_world *world, espl_entity entity, world_change change,
                                unsigned parts, const float *a, const float *b)
{
    uint32_t slot = 0;
    espl_status status = find_writable(world, entity, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const node before = node_at(&world->forest, slot);

    if (espl__placement_copies(&before.placement)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    espl_transform turned = espl__transform_of(&before.world, &before.placement.extra);

    status = change(&turned, a, b);
    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose wanted = espl__pose_of(&turned);
    node after = before;

    status = espl__placement_set_world(&after.placement, &after.world, parent_of(&before), parts,
                                       &wanted);
    return finish(world, &before, &after, status);
}

espl_status espl_look_at(espl_world *world, espl_entity entity, const float target[3],
                         const float *up)
{
    espl_status status = ESPL_ERR_ARGUMENT;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && target != NULL)) {
        status = change_world(world, entity, look_at, ESPL__PART_ROTATION, target, up);
    }
    return espl__refuse(world, "look at", entity, status);
}

espl_status espl_rotate_about(espl_world *world, espl_entity entity, const float pivot[3],
                              const float by[4])
{
    espl_status status = ESPL_ERR_ARGUMENT;

    if (ESPL_DEMAND(espl__hooks_of(world), world != NULL && pivot != NULL && by != NULL)) {
        status = change_world(world, entity, rotate_about,
                              ESPL__PART_POSITION | ESPL__PART_ROTATION, pivot, by);
    }
    return espl__refuse(world, "rotate about", entity, status);
}

// --- Inherit flags ---

static espl_status set_inherit(espl_world *world, espl_entity entity, uint32_t flags)
{
    uint32_t slot = 0;
    espl_status status = find_writable(world, entity, &slot);

    if (status == ESPL_OK && !espl__flags_are_valid(flags)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    const node before = node_at(&world->forest, slot);
    node after = before;

    if (!before.has_parent) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    status = espl__placement_inherit(&after.placement, &after.world, &before.parent, flags);
    return finish(world, &before, &after, status);
}

espl_status espl_set_inherit(espl_world *world, espl_entity entity, uint32_t flags)
{
    return espl__refuse(world, "set inherit flags", entity, set_inherit(world, entity, flags));
}

// --- Memory ahead of time ---

espl_status espl_reserve_side(espl_world *world, espl_entity entity)
{
    uint32_t slot = 0;
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status == ESPL_OK) {
        status = espl__ensure_side(world, world->forest.run[slot], true);
    }
    if (status == ESPL_OK) {
        espl__run_of(&world->forest, slot)->side->is_prepaid = 1;
    }
    return espl__refuse(world, "reserve of side arrays", entity, status);
}

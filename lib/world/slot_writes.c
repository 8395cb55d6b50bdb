// SPDX-License-Identifier: MIT
// Writing the transform at one slot, by an immediate call or by a job that owns the tree. What is
// below is up to date before the call returns.
#include "lib/world/slot_writes.h"

#include <string.h>

// --- Names ---

const char *const espl__write_calls[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = "espl_set_local_position",
    [ESPL_WRITE_LOCAL_ROTATION] = "espl_set_local_rotation",
    [ESPL_WRITE_LOCAL_SCALE] = "espl_set_local_scale",
    [ESPL_WRITE_LOCAL_POSE] = "espl_set_local_pose",
    [ESPL_WRITE_LOCAL_TRANSFORM] = "espl_set_local_transform",
    [ESPL_WRITE_STRETCH] = "espl_set_stretch",
    [ESPL_WRITE_USER_DATA] = "espl_set_user_data",
    [ESPL_WRITE_WORLD_POSITION] = "espl_set_world_position",
    [ESPL_WRITE_WORLD_ROTATION] = "espl_set_world_rotation",
    [ESPL_WRITE_WORLD_SCALE] = "espl_set_world_scale",
    [ESPL_WRITE_WORLD_TRANSFORM] = "espl_set_world_transform",
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = "espl_translate_in_parent",
    [ESPL_WRITE_ROTATE_IN_PARENT] = "espl_rotate_in_parent",
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = "espl_transform_in_parent",
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = "espl_inverse_transform_in_parent",
    [ESPL_WRITE_TRANSLATE_WORLD] = "espl_translate_world",
    [ESPL_WRITE_ROTATE_WORLD] = "espl_rotate_world",
    [ESPL_WRITE_TRANSFORM_WORLD] = "espl_transform_world",
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = "espl_inverse_transform_world",
    [ESPL_WRITE_MULTIPLY_SCALE] = "espl_multiply_scale",
    [ESPL_WRITE_MULTIPLY_STRETCH] = "espl_multiply_stretch",
    [ESPL_WRITE_TRANSLATE_OWN] = "espl_translate_own",
    [ESPL_WRITE_ROTATE_OWN] = "espl_rotate_own",
};

// --- Storing a change ---

espl_status espl__ensure_side(espl_world *world, uint32_t tree, bool keeps)
{
    const espl__side *const side = world->forest.trees[tree].side;

    if (side != NULL && side->kept != NULL) {
        return ESPL_OK;
    }
    // Callers ask only where something is missing.
    ESPL_CHECK(side == NULL || keeps);
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__tree_add_side(&world->forest, tree, keeps) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Let nothing be allocated while a write is carried out. For jobs the caller that began them does
// it.
static void forbid(espl_world *world, const espl__context *context)
{
    if (!context->is_job) {
        espl__heap_forbid(&world->heap);
    }
}

static void allow(espl_world *world, const espl__context *context)
{
    if (!context->is_job) {
        espl__heap_allow(&world->heap);
    }
}

// Side arrays that nothing needs any more go back; a job leaves that to the caller that began it.
static void drop_side(espl__forest *forest, espl__context *context, uint32_t tree)
{
    if (context->is_job) {
        context->has_sides_to_drop = true;
    } else {
        espl__tree_drop_side(forest, tree);
    }
}

// A write that left some world not finite says so, unless it was refused.
static espl_status remark(const espl__context *context, uint64_t overflowed, espl_status status)
{
    return status >= 0 && context->counts.overflowed != overflowed ? ESPL_OVERFLOW : status;
}

static espl_status commit(espl_world *world, espl__context *context,
                          const espl__node_change *change, espl_status status)
{
    espl__forest *const forest = &world->forest;
    const uint32_t tree = forest->tree[change->slot];
    const uint64_t overflowed = context->counts.overflowed;

    if (status < 0) {
        return status;
    }
    if (!espl__tree_can_hold(&forest->trees[tree], &change->after)) {
        const espl_status done = espl__ensure_side(world, tree, change->after.kept.flags != 0);

        if (done != ESPL_OK) {
            return done;
        }
    }
    forbid(world, context);
    espl__node_change_commit(forest, context, change);
    if (forest->trees[tree].side != NULL) {
        drop_side(forest, context, tree);
    }
    allow(world, context);
    return remark(context, overflowed, status);
}

// --- Every kind of write ---

espl_status espl__slot_write(espl_world *world, espl__context *context, uint32_t slot,
                             espl_write_kind kind, const void *bytes)
{
    espl__forest *const forest = &world->forest;
    const uint64_t overflowed = context->counts.overflowed;
    espl__node_change change;
    espl_write_value value;

    if (bytes == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (espl__write_is_usual(forest, slot, kind, bytes)) {
        return espl__pose_put(forest, context, slot, bytes);
    }
    espl__write_load(&value, kind, bytes);
    const espl_status status = espl__write_check(kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    if (espl__slot_is_plain(forest, slot) && !espl__write_wants_side(kind, &value)) {
        return remark(context, overflowed, espl__plain_write(forest, context, slot, kind, &value));
    }
    espl__node_change_begin(forest, slot, &change);
    return commit(world, context, &change,
                  espl__placement_write(&change.after, &change.world, change.up, kind, &value));
}

// --- Changes that are worked out from the world transform ---

// A change of the world transform, as a value: of a look at target, up hint and axis; of a turn about
// a point pivot and rotation.
typedef struct world_change {
    espl_status (*apply)(espl_transform *world, const struct world_change *change);
    unsigned parts;
    const float *point, *by;
    espl_axis forward;
} world_change;

static espl_status look_at(espl_transform *world, const world_change *c)
{
    return espl_transform_look_at(world, c->point, c->by, c->forward);
}

static espl_status rotate_about(espl_transform *world, const world_change *c)
{
    return espl_transform_rotate_about(world, c->point, c->by);
}

static espl_status change_world(espl_world *world, espl__context *context, uint32_t slot,
                                const world_change *asked)
{
    espl__node_change change;

    espl__node_change_begin(&world->forest, slot, &change);
    if (espl__placement_copies(&change.before)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    espl_transform turned = espl__transform_of(&change.world, &change.before.extra);
    const espl_status status = asked->apply(&turned, asked);

    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose wanted = espl__pose_of(&turned);

    return commit(
        world, context, &change,
        espl__placement_set_world(&change.after, &change.world, change.up, asked->parts, &wanted));
}

espl_status espl__slot_look_at(espl_world *world, espl__context *context, uint32_t slot,
                               const float target[3], const float *up, espl_axis forward)
{
    const world_change asked = {look_at, ESPL__PART_ROTATION, target, up, forward};

    return change_world(world, context, slot, &asked);
}

espl_status espl__slot_rotate_about(espl_world *world, espl__context *context, uint32_t slot,
                                    const float pivot[3], const float by[4])
{
    const world_change asked = {.apply = rotate_about,
                                .parts = ESPL__PART_POSITION | ESPL__PART_ROTATION,
                                .point = pivot,
                                .by = by};

    return change_world(world, context, slot, &asked);
}

// --- Inherit flags ---

espl_status espl__slot_inherit(espl_world *world, espl__context *context, uint32_t slot,
                               uint32_t flags)
{
    espl__node_change change;

    if (!espl__flags_are_valid(flags)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl__node_change_begin(&world->forest, slot, &change);
    if (change.up == NULL) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    return commit(world, context, &change,
                  espl__placement_inherit(&change.after, &change.world, change.up, flags));
}

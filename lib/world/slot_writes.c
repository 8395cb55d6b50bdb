// SPDX-License-Identifier: MIT
// Writes of one node by its slot (lib/world/slot_writes.h).
//
// Each write works out the node's new placement, checks it, takes memory for side arrays if the tree
// lacks them, and then stores it and recomputes what is below the node. Invariants: a refused write
// changed nothing, and nothing is allocated once a store has begun. A job allocates nothing at all:
// where side arrays are missing its write is refused with ESPL_ERR_BUSY, because the world is playing.
#include "lib/world/slot_writes.h"

#include "lib/tree/cell_writes.h"
#include "lib/tree/flagged_writes.h"
#include "lib/world/entity_slots.h"
#include "lib/world/tape.h"

#include <string.h>

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
    [ESPL_WRITE_WORLD_POSE] = "espl_set_world_pose",
    [ESPL_WRITE_WORLD_TRANSFORM] = "espl_set_world_transform",
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = "espl_write_one",
    [ESPL_WRITE_ROTATE_IN_PARENT] = "espl_write_one",
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = "espl_write_one",
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = "espl_write_one",
    [ESPL_WRITE_TRANSLATE_WORLD] = "espl_write_one",
    [ESPL_WRITE_ROTATE_WORLD] = "espl_write_one",
    [ESPL_WRITE_TRANSFORM_WORLD] = "espl_write_one",
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = "espl_write_one",
    [ESPL_WRITE_MULTIPLY_SCALE] = "espl_write_one",
    [ESPL_WRITE_MULTIPLY_STRETCH] = "espl_write_one",
    [ESPL_WRITE_TRANSLATE_OWN] = "espl_translate_own",
    [ESPL_WRITE_ROTATE_OWN] = "espl_rotate_own",
    [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = "espl_write_one",
    [ESPL_WRITE_PREVIOUS_WORLD_POSE] = "espl_write_one",
    [ESPL_WRITE_CELL] = "espl_write_one",
    [ESPL_WRITE_ABSOLUTE_POSITION] = "espl_write_one",
};

// --- Storing a change ---

// Structural where memory is taken, because a query may show pointers into side arrays.
espl_status espl__ensure_side(espl_world *world, uint32_t tree, bool keeps)
{
    const uint32_t side = world->forest.trees[tree].side;

    if ((side & ESPL__HAS_KEPT) != 0) {
        return ESPL_OK;
    }
    // Callers ask only where something is missing.
    ESPL_CHECK(side == 0 || keeps);
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__tree_add_side(&world->forest, tree, keeps) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Forbid allocations while a write is stored, so that a checked build traps on one. Of a job's
// writes the caller of the parallel write has done it.
static void forbid(espl_world *world, const espl__context *context)
{
    if (!context->is_job) {
        espl__heap_forbid(&world->heap);
    }
}

// The end of forbid().
static void allow(espl_world *world, const espl__context *context)
{
    if (!context->is_job) {
        espl__heap_allow(&world->heap);
    }
}

// Free side arrays that no node needs. A job leaves that to the caller of the parallel write, because
// freeing changes the heap that all jobs share.
static void drop_side(espl__forest *forest, espl__context *context, uint32_t tree)
{
    ESPL_CHECK(forest->trees[tree].side != 0);
    if (context->is_job) {
        context->has_sides_to_drop = true;
    } else {
        espl__tree_drop_side(forest, tree);
    }
}

// Where the forest may have worlds that are not finite: tell whether the world of a node is one, or one
// below it that follows it. The walk costs what a propagation would.
static ESPL__APART bool is_overflowed_below(espl__forest *forest, const espl__context *context,
                                            uint32_t slot)
{
    uint64_t visited = 0;
    const bool is_found = espl__finds_overflow(forest, slot, &visited);

    if (!context->is_job && !is_found) {
        espl__note_search(forest, visited);
    }
    return is_found;
}

// @param status  of a write to a node; ESPL_OVERFLOW may be that of an earlier write.
// @return ESPL_OVERFLOW where the world of the node, or one below that follows it, is not finite; else the
//         status without it.
static inline espl_status with_overflow(espl__forest *forest, const espl__context *context,
                                        uint32_t slot, espl_status status)
{
    if (status < 0 || !espl__may_be_overflowed(forest, context)) {
        return status;
    }
    if (is_overflowed_below(forest, context, slot)) {
        return ESPL_OVERFLOW;
    }
    return status == ESPL_OVERFLOW ? ESPL_OK : status;
}

// Store a change that was worked out. @param status  of working it out; a refusal is returned.
static espl_status commit_node_change(espl_world *world, espl__context *context,
                                      const espl__node_change *change, espl_status status)
{
    espl__forest *const forest = &world->forest;
    const uint32_t tree = forest->tree[change->slot];

    if (status < 0) {
        return status;
    }
    if (!espl__tree_can_hold(&forest->trees[tree], &change->placement)) {
        const espl_status done = espl__ensure_side(world, tree, change->placement.kept.flags != 0);

        if (done != ESPL_OK) {
            return done;
        }
        ESPL_CHECK_FULL(espl__tree_can_hold(&forest->trees[tree], &change->placement));
    }
    forbid(world, context);
    espl__node_change_commit(forest, context, change);
    if (forest->trees[tree].side != 0) {
        drop_side(forest, context, tree);
    }
    allow(world, context);
    return with_overflow(forest, context, change->slot, status);
}

// --- Every kind of write ---

// An ordinary write. Three paths, the fastest first: a whole pose to a plain node; any write that leaves
// a plain node plain; and the general one, which works out the node's new placement before it stores it.
static espl_status write_ordinary(espl_world *world, espl__context *context, uint32_t slot,
                                  espl_write_kind kind, const void *bytes)
{
    espl__forest *const forest = &world->forest;
    espl__node_change change;
    espl_write_value value;

    if (espl__write_is_usual(forest, slot, kind, bytes)) {
        return with_overflow(forest, context, slot, espl__pose_put(forest, context, slot, bytes));
    }
    espl__write_load(&value, kind, bytes);
    const espl_status status = espl__write_check(kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    if (espl__slot_is_plain(forest, slot, kind) && !espl__write_wants_side(kind, &value)) {
        return with_overflow(forest, context, slot,
                             espl__plain_write(forest, context, slot, kind, &value));
    }
    espl__node_change_read(forest, slot, &change);
    return commit_node_change(
        world, context, &change,
        espl__placement_write(&change.placement, &change.world, change.up, kind, &value));
}

// A write of the previous pose. It changes no world, and answers as a write that changes none.
static espl_status write_previous(espl_world *world, const espl__context *context, uint32_t slot,
                                  espl_write_kind kind, const void *bytes)
{
    espl__forest *const forest = &world->forest;
    espl_write_value value;

    espl__write_load(&value, kind, bytes);
    espl_status status = espl__write_check(kind, &value);

    if (status == ESPL_OK) {
        forbid(world, context);
        status = espl__previous_write(forest, slot, kind, &value);
        allow(world, context);
    }
    return with_overflow(forest, context, slot, status);
}

// A write of a cell or of an absolute position.
static espl_status write_far(espl_world *world, espl__context *context, uint32_t slot,
                             espl_write_kind kind, const void *bytes)
{
    espl__forest *const forest = &world->forest;
    espl_write_value value;

    espl__write_load(&value, kind, bytes);
    espl_status status = espl__write_check(kind, &value);

    if (status == ESPL_OK) {
        forbid(world, context);
        status = espl__far_write(forest, context, slot, kind, &value);
        allow(world, context);
    }
    return with_overflow(forest, context, slot, status);
}

// A write that is not ordinary. Out of line, because few are.
static ESPL__APART espl_status write_flagged_slot(espl_world *world, espl__context *context,
                                                  uint32_t slot, espl_write_kind kind,
                                                  const void *bytes)
{
    espl__flagged_write flagged;

    if (espl__write_is_of_cell(kind)) {
        return write_far(world, context, slot, kind, bytes);
    }
    if (espl__write_is_of_previous(kind)) {
        return write_previous(world, context, slot, kind, bytes);
    }
    espl__flagged_write_begin(&flagged, &world->forest, slot, kind);
    const espl_status status = write_ordinary(world, context, slot, espl__write_base(kind), bytes);

    espl__flagged_write_end(&flagged, status);
    return status;
}

// Any write.
static inline espl_status write_slot(espl_world *world, espl__context *context, uint32_t slot,
                                     espl_write_kind kind, const void *bytes)
{
    return espl__write_is_ordinary(kind) ? write_ordinary(world, context, slot, kind, bytes)
                                         : write_flagged_slot(world, context, slot, kind, bytes);
}

espl_status espl__slot_write(espl_world *world, espl__context *context, uint32_t slot,
                             espl_write_kind kind, const void *bytes)
{
    ESPL_CHECK_FULL(slot < world->forest.end &&
                    !espl__slot_is(&world->forest, slot, ESPL__SLOT_BARE));
    ESPL_CHECK_FULL(espl__write_exists(kind));
    ESPL_CHECK_FULL(context->is_job || !world->is_playing);
    if (bytes == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return ESPL__TAPED_IF(espl__is_taped(world), world,
                          write_slot(world, context, slot, kind, bytes), .op = ESPL_TAPE_WRITE,
                          .entity = espl__entity_of_slot(world, slot), .kind = kind,
                          .value = bytes);
}

// --- Edits ---

bool espl__slot_edit_is_sound(const espl__slot_edit *edit)
{
    if (edit->op == ESPL_TAPE_LOOK_AT) {
        return edit->point != NULL && edit->word <= (uint32_t)ESPL_AXIS_BACK;
    }
    return edit->op == ESPL_TAPE_INHERIT || (edit->point != NULL && edit->by != NULL);
}

// Work out the turned transform. @param world  in and out; unchanged where the edit is refused.
static espl_status turn(espl_transform *world, const espl__slot_edit *edit)
{
    return edit->op == ESPL_TAPE_LOOK_AT
               ? espl_transform_look_at(world, edit->point, edit->by, (espl_axis)edit->word)
               : espl_transform_rotate_about(world, edit->point, edit->by);
}

// A look at and a turn about a point change the world transform, so that the local transform follows
// from it, as in a write of the world.
static espl_status turn_slot(espl_world *world, espl__context *context, uint32_t slot,
                             const espl__slot_edit *edit)
{
    const unsigned parts = edit->op == ESPL_TAPE_LOOK_AT
                               ? ESPL__PART_ROTATION
                               : ESPL__PART_POSITION | ESPL__PART_ROTATION;
    espl__node_change change;

    espl__node_change_read(&world->forest, slot, &change);
    if (espl__placement_copies(&change.placement)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    const bool is_finite = espl__pose_is_finite(&change.world);
    // A world that overflowed cannot be turned: the arguments are then tried on another one.
    espl_transform turned = is_finite ? espl__transform_of(&change.world, &change.placement.extra)
                                      : espl__transform_identity();
    espl_status status = turn(&turned, edit);

    if (!is_finite && status != ESPL_ERR_NOT_FINITE) {
        status = ESPL_ERR_RANGE;
    }

    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose wanted = espl__pose_of(&turned);

    return commit_node_change(
        world, context, &change,
        espl__placement_set_world(&change.placement, &change.world, change.up, parts, &wanted));
}

// A root inherits nothing, so that flags other than 0 are refused there.
static espl_status inherit_slot(espl_world *world, espl__context *context, uint32_t slot,
                                uint32_t flags)
{
    espl__node_change change;

    if (!espl__flags_are_valid(flags)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl__node_change_read(&world->forest, slot, &change);
    if (change.up == NULL) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    const espl__keep_rules stay = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};
    const espl_status changed =
        espl__placement_reattach(&change.placement, &change.world, change.up, stay, flags);
    espl__past room;
    const espl__past *const past =
        changed < 0
            ? NULL
            : espl__past_reattached(&world->forest, slot, stay, flags, &change.placement, &room);
    const espl_status status = commit_node_change(world, context, &change, changed);

    // After the mark of the change, which is that of a write.
    espl__motion_set_past(&world->forest, slot, status < 0 ? NULL : past);
    return status;
}

// The work and the record of an edit.
espl_status espl__slot_edit_apply(espl_world *world, espl__context *context, uint32_t slot,
                                  const espl__slot_edit *edit)
{
    const bool is_inherit = edit->op == ESPL_TAPE_INHERIT;

    ESPL_CHECK_FULL(slot < world->forest.end &&
                    !espl__slot_is(&world->forest, slot, ESPL__SLOT_BARE));
    ESPL_CHECK_FULL(espl__slot_edit_is_sound(edit) && (context->is_job || !world->is_playing));
    return ESPL__TAPED_IF(espl__is_taped(world), world,
                          is_inherit ? inherit_slot(world, context, slot, edit->word)
                                     : turn_slot(world, context, slot, edit),
                          .op = edit->op, .entity = espl__entity_of_slot(world, slot),
                          .point = edit->point, .by = edit->by, .word = edit->word);
}

const char *espl__slot_edit_fault(espl__sentence *sentence, const espl__slot_edit *edit,
                                  espl_status status)
{
    if (edit->op == ESPL_TAPE_LOOK_AT) {
        return espl__look_at_fault(sentence, edit->point, edit->by, status);
    }
    if (edit->op == ESPL_TAPE_ROTATE_ABOUT) {
        return espl__rotate_about_fault(sentence, edit->point, edit->by, status);
    }
    return status == ESPL_ERR_ARGUMENT ? espl__flags_fault(edit->word) : NULL;
}

// SPDX-License-Identifier: MIT
// Nodes that keep their worlds where an edit changes the frame that they are in, though the edit does not name
// them: survivors of a destroy, and nodes below one that gets or loses its transform. Their past is kept
// likewise.
#include "lib/tree/computed_local.h"
#include "lib/tree/edit_past.h"
#include "lib/tree/path.h"

// Return the local that a node has below its nearest ancestor that keeps its transform: what the locals
// between them, of ancestors that lose theirs or die, and its own make together.
static espl_pose composed_local(const espl__forest *forest, const espl_pose *past, uint32_t slot,
                                const espl__frame *frame, uint32_t lost)
{
    static const espl__extra none = {{1, 1, 1}, 0};
    espl__rise rise = espl__rise_begin(forest, past, slot);
    uint32_t up = forest->parent[slot];

    while (up != ESPL__NO_SLOT && (up == lost || espl__slot_is(forest, up, ESPL__SLOT_MARK) ||
                                   espl__slot_copies(forest, up))) {
        espl__rise_step(forest, past, &rise, up);
        up = forest->parent[up];
    }
    return espl__rise_local(&rise, frame != NULL ? frame->extra.stretch : none.stretch);
}

// Give a placement the local that keeps the world of its node in another frame, or as a root. Kept parts
// stay; a root has none.
// @param past   NULL: now; else the locals of the time of the placement and of the world.
// @return ESPL_OK, ESPL_LOSSY.
static espl_status rebase(const espl__forest *forest, const espl_pose *past, uint32_t slot,
                          espl__placement *placement, const espl_pose *world, const espl__frame *up,
                          uint32_t lost)
{
    if (up != NULL && espl__placement_try_rebase(placement, world, up)) {
        return ESPL_OK;
    }
    if (up == NULL && espl__pose_is_finite(world)) {
        // Propagation may take a rotation slightly off unit length, which a local must have.
        placement->local = *world;
        (void)espl__rotation_normalize(placement->local.rotation);
        return ESPL_OK;
    }
    const espl__frame identity = {espl__pose_identity(), espl__extra_default()};
    const espl_pose composed = composed_local(forest, past, slot, up, lost);
    const espl_status status =
        espl__placement_rebase(placement, world, up != NULL ? up : &identity, &composed);

    if (up == NULL) {
        (void)espl__rotation_normalize(placement->local.rotation);
    }
    return status;
}

// Return the past of a node that keeps its world in another frame, in `room`; NULL without motion.
// @param now  its placement there.
static const espl__past *rebased_past(const espl__edit *edit, uint32_t slot, bool is_new_root,
                                      const espl__frames *frames, uint32_t lost,
                                      const espl__placement *now, espl__past *room)
{
    const espl__forest *const forest = edit->forest;

    if (!espl__forest_has_motion(forest)) {
        return NULL;
    }
    const uint32_t times = espl__past_begin(forest, slot, room);

    for (uint32_t time = 0; time < times; ++time) {
        espl_pose world = espl__world_at(forest, (int)time, slot);
        espl__placement placement = espl__placement_at(forest, (int)time, slot);

        placement.kept = is_new_root ? espl__kept_none() : placement.kept;
        if (frames->shift.is_any) {
            espl__position_shift(world.position, &frames->shift);
        }
        const espl_status status =
            rebase(forest, espl__locals_at(forest, (int)time), slot, &placement, &world,
                   frames->now != NULL ? &frames->past[time] : NULL, lost);

        espl__past_take(room, time, &placement, status, now);
    }
    return room;
}

// The walk enters nodes that copy their parent, because they have no placement of their own to keep
// a world with. Other nodes are given one, and what is below them follows unchanged.
bool espl__edit_keep_worlds(espl__edit *edit, uint32_t top, const espl__frames *frames,
                            uint32_t lost)
{
    const espl__frame identity = {espl__pose_identity(), espl__extra_default()};
    const espl__frame *const up = frames->now;
    espl__forest *const forest = edit->forest;
    bool is_done = true;

    espl__edit_refresh(edit, top);
    for (uint32_t slot = top; slot != ESPL__NO_SLOT && is_done;) {
        const bool is_new_root = slot == top && up == NULL;
        const bool follows = is_new_root ? espl__slot_is(forest, slot, ESPL__SLOT_BARE)
                                         : espl__slot_copies(forest, slot);

        if (follows) {
            espl__edit_push_down(edit, slot);
        }
        if (!follows) {
            // Descendants of a bare root see the identity.
            const espl__frame *const frame = up != NULL || is_new_root ? up : &identity;
            espl__placement placement = espl__slot_placement(forest, slot);

            placement.kept = is_new_root ? espl__kept_none() : placement.kept;
            if (!frames->is_same) {
                espl_pose kept = forest->world[slot];

                if (frames->shift.is_any) {
                    espl__position_shift(kept.position, &frames->shift);
                }
                edit->is_lossy |= frames->shift.is_far;
                edit->is_lossy |=
                    rebase(forest, NULL, slot, &placement, &kept, up, lost) == ESPL_LOSSY;
            }
            const espl_pose world = espl__placement_world(&placement, frame);
            espl__past room;
            const espl__past *const past =
                rebased_past(edit, slot, is_new_root, frames, lost, &placement, &room);

            is_done = espl__edit_put(edit, slot, &placement, &world, past);
        } else if (espl__edit_has_log(edit) && !frames->is_same) {
            // Its descendants have the worlds of the new frame before it has its own. It is made
            // stale, so that a propagation does not stop where its world is unchanged.
            is_done = ESPL__EDIT_RESERVE(edit, stale, 1);
            if (is_done) {
                espl__edit_mark_stale(edit, slot);
            }
        }
        slot = espl__next_in_walk(forest, slot, top, follows);
    }
    return is_done;
}

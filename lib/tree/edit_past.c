// SPDX-License-Identifier: MIT
// The rules of edit_past.h.
#include "lib/tree/edit_past.h"

#include "lib/tree/cells.h"
#include "lib/tree/path.h"

// --- Frames ---

espl__frames espl__edit_frames(const espl__edit *edit, uint32_t slot, const espl__frame *now)
{
    const espl__forest *const forest = edit->forest;
    espl__frames frames = {.now = now};

    for (int time = 0; now != NULL && time < ESPL__PASTS; ++time) {
        frames.past[time] =
            espl__forest_has_motion(forest) ? espl__frame_at(forest, time, slot) : *now;
    }
    return frames;
}

espl__frames espl__edit_frames_of_new(const espl__edit *edit, uint32_t slot,
                                      const espl__placement *placement, const espl__frame *now)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t parent = forest->parent[slot];
    espl__frames frames = {.now = now};

    for (int time = 0; time < ESPL__PASTS; ++time) {
        frames.past[time] = *now;
        if (parent != ESPL__NO_SLOT && espl__forest_has_motion(forest)) {
            const espl__frame up = espl__frame_at(forest, time, parent);

            frames.past[time].world = espl__placement_world(placement, &up);
        }
    }
    return frames;
}

espl__frames espl__edit_frames_of_bare(const espl__edit *edit, uint32_t slot,
                                       const espl__frame *now)
{
    const uint32_t parent = edit->forest->parent[slot];
    espl__frames frames = espl__edit_frames(edit, parent, parent != ESPL__NO_SLOT ? now : NULL);

    // As a root it shows the identity, at any time.
    for (int time = 0; frames.now == NULL && time < ESPL__PASTS; ++time) {
        frames.past[time] = *now;
    }
    frames.now = now;
    return frames;
}

// --- Changes ---

// Move a placement of a node at a time. As place_node() in edit_links.c.
static espl_status move_at(const espl__forest *forest, int time, uint32_t slot, uint32_t parent,
                           const espl__attach_rules *rules, espl__placement *placement)
{
    const uint32_t old = forest->parent[slot];
    const espl_pose *const locals = espl__locals_at(forest, time);
    espl_pose world = espl__world_at(forest, time, slot), path;
    espl_pose local = placement->local;
    const espl__cell_shift shift = espl__cell_shift_between(forest, slot, parent);
    espl__frame up;
    bool has_path = false;

    if (old != ESPL__NO_SLOT && placement->kept.flags != 0) {
        const espl__frame from = espl__frame_at(forest, time, old);

        local = espl__placement_seen(placement, &from, &world);
    }
    if (parent != ESPL__NO_SLOT) {
        up = espl__frame_at(forest, time, parent);
        has_path = espl__rules_keep_world(&rules->stay) && old != ESPL__NO_SLOT &&
                   espl__path_edited(forest, locals, parent, slot, &path);
    }
    const espl__known_locals known = {&local, has_path ? &path : NULL};

    if (shift.is_any) {
        espl__position_shift(world.position, &shift);
    }
    return espl__placement_move(placement, &world, &known, parent != ESPL__NO_SLOT ? &up : NULL,
                                rules->stay, rules->inherit);
}

void espl__edit_past_moved(const espl__edit *edit, uint32_t slot, uint32_t parent,
                           const espl__attach_rules *rules, const espl__placement *now,
                           espl__past *room)
{
    const espl__forest *const forest = edit->forest;
    const uint32_t times = espl__past_begin(forest, slot, room);

    for (uint32_t time = 0; time < times; ++time) {
        espl__placement placement = espl__placement_at(forest, (int)time, slot);
        const espl_status status = move_at(forest, (int)time, slot, parent, rules, &placement);

        espl__past_take(room, time, &placement, status, now);
    }
}

const espl__past *espl__edit_past_none(const espl__edit *edit, espl__past *room)
{
    *room = espl__past_of_new();
    return espl__forest_has_motion(edit->forest) ? room : NULL;
}

espl_status espl__edit_reattach(espl__edit *edit, espl__node_change *change, espl__keep_rules stay,
                                uint32_t flags)
{
    const espl_status status =
        espl__placement_reattach(&change->placement, &change->world, change->up, stay, flags);
    espl__past past;

    return status < 0 ? status
                      : espl__edit_commit(edit, change,
                                          espl__past_reattached(edit->forest, change->slot, stay,
                                                                flags, &change->placement, &past),
                                          status);
}

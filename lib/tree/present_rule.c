// SPDX-License-Identifier: MIT
// The validation of what a present stored, by the scalar path: it shares no code with presents but the
// formula of one node.
#include "lib/tree/present.h"

#include "lib/tree/motion.h"

// Return the shown world of a node by the scalar path, below what its parent shows.
static espl_pose expected_shown(const espl__forest *forest, const espl__blend *blend, uint32_t slot)
{
    const espl_pose *const shown = forest->tracks.poses[ESPL__SHOWN];
    const espl_pose *const previous = &forest->tracks.poses[ESPL__PREVIOUS][slot];
    const uint32_t parent = forest->parent[slot];
    espl__placement placement = espl__slot_placement(forest, slot);

    if (parent != ESPL__NO_SLOT && espl__slot_copies(forest, slot)) {
        return shown[parent];
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && !espl__pose_is_marker(previous)) {
        placement.kept.pose =
            espl__pose_blend(blend, espl__previous_kept(forest, slot), &placement.kept.pose);
    }
    placement.local = espl__pose_blend(blend, previous, &placement.local);
    if (parent == ESPL__NO_SLOT) {
        return placement.local;
    }
    const espl__frame up = {shown[parent], espl__slot_extra(forest, parent)};

    return espl__placement_world(&placement, &up);
}

// Tell whether the own data of a node of a tree may have changed after a moment.
static bool has_changed(const espl__forest *forest, const espl__tree *t, uint32_t since)
{
    bool is_changed = false;

    for (uint32_t slot = t->base; slot < t->base + t->used && !is_changed; ++slot) {
        is_changed = espl__plane_has_changed(espl__own_plane(forest), slot, since);
    }
    return is_changed;
}

// Return the first node of a tree that does not show what follows from the locals, or ESPL__NO_SLOT.
static uint32_t find_wrong(const espl__forest *forest, const espl__blend *blend,
                           const espl__tree *t)
{
    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        if (!espl__slot_has_node(forest, slot)) {
            continue;
        }
        const espl_pose expected = expected_shown(forest, blend, slot);

        if (!espl__pose_is_alike(&expected, &forest->tracks.poses[ESPL__SHOWN][slot])) {
            return slot;
        }
    }
    return ESPL__NO_SLOT;
}

// A tick that begins after the present overwrites the previous locals that the present blended, except of
// nodes at rest.
const char *espl__present_broken_rule(const espl__forest *forest, uint32_t *slot)
{
    const espl__presented *const last = &forest->presented;
    const espl__blend blend = espl__blend_at(last->at);
    const uint32_t since = last->has_ticked ? last->tick : last->moment;

    *slot = ESPL__NO_SLOT;
    if (!espl__forest_has_motion(forest)) {
        return NULL;
    }
    for (uint32_t tree = 0; tree < forest->tree_end && *slot == ESPL__NO_SLOT; ++tree) {
        const espl__tree *const t = &forest->trees[tree];

        if (t->capacity != 0 && !has_changed(forest, t, since)) {
            *slot = find_wrong(forest, &blend, t);
        }
    }
    return *slot != ESPL__NO_SLOT ? "a shown world follows from blended locals bit for bit" : NULL;
}

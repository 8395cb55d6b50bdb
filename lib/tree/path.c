// SPDX-License-Identifier: MIT
// The paths of path.h. Operations are those of espl__pose_compose_to(), from the lowest node to the
// highest, so that the memory does not depend on the length of a path.
#include "lib/tree/path.h"

void espl__rise_step(const espl__forest *forest, const espl_pose *past, espl__rise *rise,
                     uint32_t up)
{
    if (espl__slot_copies(forest, up)) {
        return;
    }
    const espl__extra extra = espl__slot_extra(forest, up);
    const espl_pose *const local = espl__local_at(forest, past, up);
    float away[3];

    for (int i = 0; i < 3; ++i) {
        away[i] = rise->pose.position[i] * extra.stretch[i];
        away[i] = (rise->has_offset ? away[i] + rise->offset[i] : away[i]) * local->scale;
    }
    const espl_pose below = rise->pose;

    espl__rotation_apply(rise->offset, local->rotation, away);
    espl__rotation_multiply(rise->pose.rotation, local->rotation, below.rotation);
    memcpy(rise->pose.position, local->position, sizeof local->position);
    rise->pose.scale = local->scale * below.scale;
    rise->has_offset = true;
}

espl_pose espl__rise_local(const espl__rise *rise, const float stretch[ESPL__LEAST 3])
{
    espl_pose local = rise->pose;

    for (int i = 0; i < 3 && rise->has_offset; ++i) {
        local.position[i] += stretch[i] != 0 ? rise->offset[i] / stretch[i] : rise->offset[i];
    }
    return local;
}

// --- Between two nodes ---

// A climb from a node to an ancestor.
typedef struct climb {
    const espl_pose *past; // the locals of an earlier time, or NULL
    uint32_t at;
    bool has_pose; // else the node has the pose of `at`: it is it, or copies it
    espl__rise rise;
} climb;

// Go to the parent. @return false: there is none, or the node keeps a part of its world.
static bool climb_one(const espl__forest *forest, climb *c)
{
    const uint32_t slot = c->at;

    if (slot == ESPL__NO_SLOT || espl__is_root(forest, slot)) {
        return false;
    }
    c->at = forest->parent[slot];
    if (espl__slot_copies(forest, slot)) {
        return true;
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        return false;
    }
    if (c->has_pose) {
        espl__rise_step(forest, c->past, &c->rise, slot);
    } else {
        c->rise = espl__rise_begin(forest, c->past, slot);
        c->has_pose = true;
    }
    return true;
}

// Return the pose of a climb in the axes and units of the ancestor, with its stretch applied.
static espl_pose pose_of_climb(const climb *c, const float stretch[ESPL__LEAST 3])
{
    espl_pose pose = espl__pose_identity();

    if (c->has_pose) {
        pose = c->rise.pose;
        for (int i = 0; i < 3; ++i) {
            pose.position[i] *= stretch[i];
            pose.position[i] += c->rise.has_offset ? c->rise.offset[i] : 0;
        }
    }
    return pose;
}

// Tell whether a pose is in the range in which products lose nothing.
static bool is_normal(const espl_pose *pose)
{
    return espl__pose_is_finite(pose) && fabsf(pose->scale) >= FLT_MIN;
}

// The local of the lower node below the ancestor. @return false: an axis without length hides a part.
static bool below_ancestor(const climb *c, const float stretch[ESPL__LEAST 3], espl_pose *out)
{
    if (!c->has_pose) {
        *out = espl__pose_identity();
        return true;
    }
    for (int i = 0; i < 3 && c->rise.has_offset; ++i) {
        if (stretch[i] == 0 && c->rise.offset[i] != 0) {
            return false;
        }
    }
    espl_pose local = espl__rise_local(&c->rise, stretch);

    // The local of a child keeps its bits.
    if (c->rise.has_offset) {
        (void)espl__rotation_normalize(local.rotation);
        if (!is_normal(&local)) {
            return false;
        }
    }
    *out = local;
    return true;
}

// The pose of a climb from a node relative to that of a climb from a frame, which ended at one ancestor.
static bool between(const espl__forest *forest, uint32_t frame, const climb *from, const climb *to,
                    espl_pose *out)
{
    const espl__extra above = espl__slot_extra(forest, to->at);

    if (!from->has_pose) {
        return below_ancestor(to, above.stretch, out);
    }
    const espl__extra extra = espl__slot_extra(forest, frame);
    const espl_pose parent = pose_of_climb(from, above.stretch);
    const espl_pose wanted = pose_of_climb(to, above.stretch);
    espl_pose local;

    if (!is_normal(&parent) || !is_normal(&wanted) ||
        espl__pose_relative(&local, &parent, extra.stretch, &wanted, &wanted) != 0 ||
        !espl__pose_is_finite(&local)) {
        return false;
    }
    *out = local;
    return true;
}

// Of two nodes the one with the higher slot is not the ancestor of the other one, so that it climbs.
bool espl__path_relative(const espl__forest *forest, uint32_t frame, uint32_t slot, espl_pose *out)
{
    climb to = {.at = slot}, from = {.at = frame};

    ESPL_CHECK_FULL(!espl__forest_is_edited(forest));
    if (forest->tree[frame] != forest->tree[slot]) {
        return false;
    }
    while (to.at != from.at) {
        if (!climb_one(forest, to.at > from.at ? &to : &from)) {
            return false;
        }
    }
    return between(forest, frame, &from, &to, out);
}

// --- Inside an edit ---

// Return the nearest common ancestor of two nodes, or one of them, that is at most ESPL__PATH_LIMIT links
// above both; else ESPL__NO_SLOT.
static uint32_t find_ancestor(const espl__forest *forest, uint32_t a, uint32_t b)
{
    uint32_t listed[ESPL__PATH_LIMIT + 1];
    size_t count = 0;

    for (uint32_t at = a; at != ESPL__NO_SLOT && count <= ESPL__PATH_LIMIT;
         at = forest->parent[at]) {
        listed[count++] = at;
    }
    for (size_t links = 0; b != ESPL__NO_SLOT && links <= ESPL__PATH_LIMIT; ++links) {
        for (size_t i = 0; i < count; ++i) {
            if (listed[i] == b) {
                return b;
            }
        }
        b = forest->parent[b];
    }
    return ESPL__NO_SLOT;
}

static bool climb_to(const espl__forest *forest, climb *c, uint32_t top)
{
    while (c->at != top) {
        if (!climb_one(forest, c)) {
            return false;
        }
    }
    return true;
}

bool espl__path_edited(const espl__forest *forest, const espl_pose *past, uint32_t frame,
                       uint32_t slot, espl_pose *out)
{
    const uint32_t top = find_ancestor(forest, frame, slot);
    climb to = {.past = past, .at = slot}, from = {.past = past, .at = frame};

    return top != ESPL__NO_SLOT && climb_to(forest, &to, top) && climb_to(forest, &from, top) &&
           between(forest, frame, &from, &to, out);
}

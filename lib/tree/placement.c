// SPDX-License-Identifier: MIT
// The meaning of writes, inherit flags and changes of parent; see placement.h. Every function
// computes the new placement apart, checks that it is finite, and stores it last, so that a refusal
// changes nothing. The bits of a result depend on the order of the operations here, which the
// golden hashes of the tests record.
#include "lib/tree/placement.h"

#include <math.h>
#include <string.h>

bool espl__placement_is_equal(const espl__placement *a, const espl__placement *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

espl_pose espl__placement_world(const espl__placement *placement, const espl__frame *parent)
{
    if (parent == NULL) {
        return placement->local;
    }
    if (espl__placement_copies(placement)) {
        return parent->world;
    }
    espl_pose world = espl__pose_compose(&parent->world, parent->extra.stretch, &placement->local);

    if (placement->kept.flags != 0) {
        espl__keep_parts(&world, &placement->kept);
    }
    return world;
}

// --- Parts ---

// Copy some parts of a pose.
static void copy_parts(espl_pose *to, const espl_pose *from, unsigned parts)
{
    ESPL_CHECK_FULL((parts & ~(unsigned)ESPL__PART_POSE) == 0);
    // One copy for all parts, because a wide load of a pose stalls after stores of its parts.
    if (parts == ESPL__PART_POSE) {
        *to = *from;
        return;
    }
    if ((parts & ESPL__PART_POSITION) != 0) {
        memcpy(to->position, from->position, sizeof to->position);
    }
    if ((parts & ESPL__PART_ROTATION) != 0) {
        memcpy(to->rotation, from->rotation, sizeof to->rotation);
    }
    if ((parts & ESPL__PART_SCALE) != 0) {
        to->scale = from->scale;
    }
}

// Return the parts whose bits differ.
static unsigned find_different(const espl_pose *a, const espl_pose *b)
{
    const bool moved = memcmp(a->position, b->position, sizeof a->position) != 0;
    const bool turned = memcmp(a->rotation, b->rotation, sizeof a->rotation) != 0;
    const bool scaled = memcmp(&a->scale, &b->scale, sizeof a->scale) != 0;

    return (moved ? ESPL__PART_POSITION : 0u) | (turned ? ESPL__PART_ROTATION : 0u) |
           (scaled ? ESPL__PART_SCALE : 0u);
}

// Return the parts that are finite.
static unsigned find_finite(const espl_pose *pose)
{
    const bool is_placed = espl__all_finite(pose->position, 3);
    const bool is_turned = espl__all_finite(pose->rotation, 4);

    return (is_placed ? ESPL__PART_POSITION : 0u) | (is_turned ? ESPL__PART_ROTATION : 0u) |
           (isfinite(pose->scale) ? ESPL__PART_SCALE : 0u);
}

// Compute a world relative to a frame. @param fallback  for axes that a zero makes unreachable.
// @return bits of ESPL__LOST_: the unreachable axes and the scale.
static unsigned relative(espl_pose *out, const espl__frame *parent, const espl_pose *world,
                         const espl_pose *fallback)
{
    return espl__pose_relative(out, &parent->world, parent->extra.stretch, world, fallback);
}

// A kept part hides the stored local of that part. The user reads the local that would give what is
// visible.
espl_pose espl__placement_seen(const espl__placement *placement, const espl__frame *parent,
                               const espl_pose *world)
{
    espl_pose local = placement->local, seen;

    if (parent == NULL || placement->kept.flags == 0) {
        return local;
    }
    if (espl__placement_copies(placement)) {
        return espl__pose_identity();
    }
    const espl_pose composed =
        espl__pose_compose(&parent->world, parent->extra.stretch, &placement->local);
    // Kept parts that the stored local does not compose to.
    const unsigned stale = find_different(&composed, world);

    if (stale != 0) {
        (void)relative(&seen, parent, world, &placement->local);
        copy_parts(&local, &seen, stale & find_finite(&seen));
    }
    return local;
}

// --- Unreachable parts ---

// Return the parts of a wanted world that no local reaches, because a scale or a stretch above is
// 0, and that inherit flags do not keep either.
// @param lost  what relative() returned.
static unsigned find_unreached(const espl__frame *parent, const espl_pose *wanted, unsigned lost,
                               uint32_t flags)
{
    const bool keeps_scale = (flags & ESPL_ABSOLUTE_SCALE) != 0;
    unsigned parts = (lost & ESPL__LOST_SCALE) != 0 && !keeps_scale ? ESPL__PART_SCALE : 0u;
    float back[4], away[3], offset[3], missing[3];

    if ((lost & ~(unsigned)ESPL__LOST_SCALE) == 0 || (flags & ESPL_ABSOLUTE_POSITION) == 0) {
        return parts | ((lost & ~(unsigned)ESPL__LOST_SCALE) != 0 ? ESPL__PART_POSITION : 0u);
    }
    // Lost axes are those of the parent, kept ones those of the world. The lost part of the offset
    // is rotated to the world, where it must vanish on each axis that is not kept.
    espl__rotation_conjugate(back, parent->world.rotation);
    for (int i = 0; i < 3; ++i) {
        away[i] = wanted->position[i] - parent->world.position[i];
    }
    espl__rotation_apply(offset, back, away);
    for (int i = 0; i < 3; ++i) {
        offset[i] = (lost & ((unsigned)ESPL__LOST_X << i)) != 0 ? offset[i] : 0;
    }
    espl__rotation_apply(missing, parent->world.rotation, offset);
    for (int i = 0; i < 3; ++i) {
        if ((flags & ((unsigned)ESPL_ABSOLUTE_X << i)) == 0 && missing[i] != 0) {
            parts |= ESPL__PART_POSITION;
        }
    }
    return parts;
}

// --- Stores of poses ---

// Where a write stores: the pose and the kept parts of a node. `kept` is NULL without inherit
// flags.
typedef struct write_target {
    espl_pose *local, *world;
    espl__kept *kept;
    const espl__frame *parent;
} write_target;

// Return the target of a placement.
static write_target target_of(espl__placement *placement, espl_pose *world,
                              const espl__frame *parent)
{
    espl__kept *const kept = placement->kept.flags != 0 ? &placement->kept : NULL;

    return (write_target){&placement->local, world, kept, parent};
}

// Store a new local, and the world and kept parts that follow, if local and kept parts are finite.
// @param parts   that the write changed; only these parts of `kept` change.
// @param wanted  the world that was written: kept parts become it exactly. NULL for a local write:
//                kept parts become the composed world.
static espl_status commit_local(const write_target *s, const espl_pose *local, unsigned parts,
                                const espl_pose *wanted)
{
    espl_pose world;
    espl__kept kept;

    ESPL_CHECK_FULL(s->kept == NULL || s->kept->flags != 0);
    if (s->parent != NULL) {
        espl__pose_compose_to(&world, &s->parent->world, s->parent->extra.stretch, local);
    } else {
        world = *local;
    }
    if (s->kept != NULL) {
        espl_pose pose = s->kept->pose;

        copy_parts(&pose, wanted != NULL ? wanted : &world, parts);
        kept = espl__kept_of(&pose, s->kept->flags);
        espl__keep_parts(&world, &kept);
    }
    if (!espl__pose_is_finite(local) || (s->kept != NULL && !espl__pose_is_finite(&kept.pose))) {
        return ESPL_ERR_RANGE;
    }
    *s->local = *local;
    *s->world = world;
    if (s->kept != NULL) {
        *s->kept = kept;
    }
    return ESPL_OK;
}

// Store parts of a local.
static espl_status put_local(const write_target *s, unsigned parts, const espl_pose *value)
{
    espl_pose next = *s->local;

    if (parts == ESPL__PART_POSE) {
        return commit_local(s, value, parts, NULL);
    }
    copy_parts(&next, value, parts);
    return commit_local(s, &next, parts, NULL);
}

// Store the local that gives parts of a wanted world. @return ESPL_LOSSY where a part is
// unreachable.
static espl_status put_world(const write_target *s, unsigned parts, const espl_pose *wanted)
{
    espl_pose next = *s->local, seen;

    if (s->parent == NULL) {
        return put_local(s, parts, wanted);
    }
    const unsigned lost = relative(&seen, s->parent, wanted, s->local);

    copy_parts(&next, &seen, parts);
    const espl_status status = commit_local(s, &next, parts, wanted);
    const uint32_t flags = s->kept != NULL ? s->kept->flags : 0;
    const unsigned unreached =
        lost != 0 ? find_unreached(s->parent, wanted, lost, flags) & parts : 0;

    return status == ESPL_OK && unreached != 0 ? ESPL_LOSSY : status;
}

espl_status espl__placement_set_world(espl__placement *placement, espl_pose *world,
                                      const espl__frame *parent, unsigned parts,
                                      const espl_pose *wanted)
{
    const write_target s = target_of(placement, world, parent);

    return espl__placement_copies(placement) ? ESPL_ERR_COPIES_PARENT
                                             : put_world(&s, parts, wanted);
}

// --- Inherit flags and changes of parent ---

// Store a new placement and its world if its local and kept parts are finite.
static espl_status commit_placement(espl__placement *placement, espl_pose *world,
                                    const espl__frame *parent, const espl__placement *next)
{
    if (!espl__pose_is_finite(&next->local) || !espl__pose_is_finite(&next->kept.pose)) {
        return ESPL_ERR_RANGE;
    }
    *placement = *next;
    *world = espl__placement_world(next, parent);
    return ESPL_OK;
}

// Return the parts that have a rule.
static unsigned parts_with(espl__keep_rules rules, espl_keep stay)
{
    return (rules.position == stay ? ESPL__PART_POSITION : 0u) |
           (rules.rotation == stay ? ESPL__PART_ROTATION : 0u) |
           (rules.scale == stay ? ESPL__PART_SCALE : 0u);
}

// Change the inherit flags of a placement. The world stays where it is reachable.
// @return the unreachable parts.
static unsigned change_flags(espl__placement *next, const espl_pose *world,
                             const espl__frame *parent, uint32_t flags)
{
    const espl__placement before = *next;

    ESPL_CHECK_FULL(parent != NULL && espl__flags_are_valid(flags));
    if (flags == ESPL_COPY_PARENT) {
        next->local = espl__pose_identity();
        next->kept = espl__kept_none();
        next->kept.flags = ESPL_COPY_PARENT;
        next->extra = parent->extra;
        return 0;
    }
    next->local = espl__placement_seen(&before, parent, world);
    next->kept = espl__kept_of(world, flags);
    // Without flags before, the world is what the local composes to: it is reached exactly. A copy
    // of the parent is at the identity, which every parent reaches.
    if (before.kept.flags == 0 || espl__placement_copies(&before)) {
        return 0;
    }
    const espl_pose composed =
        espl__pose_compose(&parent->world, parent->extra.stretch, &before.local);
    espl_pose seen;
    const unsigned lost = relative(&seen, parent, world, &before.local);

    return find_unreached(parent, world, lost, flags) & find_different(&composed, world);
}

// Set parts of the local to the identity. Kept parts become the composed world.
static void snap(espl__placement *next, const espl__frame *parent, unsigned parts)
{
    const espl_pose identity = espl__pose_identity();

    copy_parts(&next->local, &identity, parts);
    if (next->kept.flags != 0) {
        const espl_pose composed =
            espl__pose_compose(&parent->world, parent->extra.stretch, &next->local);
        espl_pose kept = next->kept.pose;

        copy_parts(&kept, &composed, parts);
        next->kept = espl__kept_of(&kept, next->kept.flags);
    }
}

espl_status espl__placement_reattach(espl__placement *placement, espl_pose *world,
                                     const espl__frame *parent, espl__keep_rules rules,
                                     uint32_t flags)
{
    const bool has_flags = flags != placement->kept.flags;
    const unsigned parts = flags == ESPL_COPY_PARENT ? 0 : parts_with(rules, ESPL_SNAP);
    espl__placement next = *placement;
    unsigned unreached = 0;

    if (!has_flags && parts == 0) {
        return ESPL_OK;
    }
    // Both changes come before the check, because a part that is not finite may be snapped.
    if (has_flags) {
        unreached = change_flags(&next, world, parent, flags);
    }
    if (parts != 0) {
        snap(&next, parent, parts);
    }
    const espl_status status = commit_placement(placement, world, parent, &next);

    return status == ESPL_OK && unreached != 0 ? ESPL_LOSSY : status;
}

// A reattach that snaps nothing.
espl_status espl__placement_inherit(espl__placement *placement, espl_pose *world,
                                    const espl__frame *parent, uint32_t flags)
{
    const espl__keep_rules none = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};

    return espl__placement_reattach(placement, world, parent, none, flags);
}

// Make a placement that of a root. A root has no inherit flags. A kept world rotation is
// normalised, because propagation may take it slightly off unit length, which a local must have.
static espl_status move_to_root(espl__placement *placement, espl_pose *world,
                                const espl_pose *local, espl__keep_rules rules)
{
    const espl_pose identity = espl__pose_identity();
    espl__placement next = *placement;

    next.kept = espl__kept_none();
    next.local = *local;
    copy_parts(&next.local, world, parts_with(rules, ESPL_KEEP_WORLD));
    copy_parts(&next.local, &identity, parts_with(rules, ESPL_SNAP));
    if (rules.rotation == ESPL_KEEP_WORLD) {
        (void)espl__rotation_normalize(next.local.rotation);
    }
    return commit_placement(placement, world, NULL, &next);
}

// Without a parent the rules give the local at once. Below a parent a kept world is made relative
// to it, a kept local stays, and a snapped part is the identity. Inherit flags keep the world parts
// that result.
espl_status espl__placement_move(espl__placement *placement, espl_pose *world,
                                 const espl_pose *local, const espl__frame *parent,
                                 espl__keep_rules rules, uint32_t flags)
{
    const espl_pose identity = espl__pose_identity();
    const unsigned staying = parts_with(rules, ESPL_KEEP_WORLD);
    espl__placement next = *placement;
    espl_pose seen;

    if (parent == NULL) {
        return move_to_root(placement, world, local, rules);
    }
    ESPL_CHECK_FULL(espl__flags_are_valid(flags));
    next.kept = espl__kept_none();
    next.kept.flags = flags;
    if (flags == ESPL_COPY_PARENT) {
        next.local = identity;
        next.extra = parent->extra;
        return commit_placement(placement, world, parent, &next);
    }
    next.local = *local;
    // Fast path: a local that is kept as a whole.
    if (flags == 0 && parts_with(rules, ESPL_KEEP_LOCAL) == ESPL__PART_POSE) {
        return commit_placement(placement, world, parent, &next);
    }
    const unsigned lost = relative(&seen, parent, world, local);

    copy_parts(&next.local, &seen, staying);
    copy_parts(&next.local, &identity, parts_with(rules, ESPL_SNAP));
    espl_pose kept = espl__pose_compose(&parent->world, parent->extra.stretch, &next.local);

    copy_parts(&kept, world, staying);
    next.kept = espl__kept_of(&kept, flags);
    const unsigned unreached = find_unreached(parent, world, lost, flags) & staying;
    const espl_status status = commit_placement(placement, world, parent, &next);

    return status == ESPL_OK && unreached != 0 ? ESPL_LOSSY : status;
}

// --- Writes by kind ---

// Return the value of a write as a pose. Parts that the kind does not write are the identity.
static espl_pose pose_of_value(espl_write_kind kind, const espl_write_value *value)
{
    espl_pose pose = espl__pose_identity();

    ESPL_CHECK_FULL((unsigned)kind < ESPL_WRITE_KIND_COUNT);
    // There is no other type, and words have no pose.
    switch (espl__write_kinds[kind].type) { // GCOVR_EXCL_BR_LINE
    case ESPL__VALUE_VECTOR:
        memcpy(pose.position, value->position, sizeof pose.position);
        break;
    case ESPL__VALUE_ROTATION:
        memcpy(pose.rotation, value->rotation, sizeof pose.rotation);
        break;
    case ESPL__VALUE_SCALAR:
        pose.scale = value->scale;
        break;
    case ESPL__VALUE_POSE:
    case ESPL__VALUE_TRANSFORM:
        pose = espl__pose_of(&value->transform);
        break;
    case ESPL__VALUE_WORD:
    case ESPL__VALUE_NONE:
        break;
    }
    return pose;
}

// Change a pose by the value of a write. It is the local or the world of the node, as the kind
// says.
// @return what relative() lost.
static unsigned change_pose(espl_pose *pose, espl_write_kind kind, const espl_write_value *value)
{
    const espl_pose by = pose_of_value(kind, value);
    const espl_pose before = *pose;
    float offset[3];
    unsigned lost = 0;

    switch (kind) {
    case ESPL_WRITE_TRANSLATE_IN_PARENT:
    case ESPL_WRITE_TRANSLATE_WORLD:
        for (int i = 0; i < 3; ++i) {
            pose->position[i] = before.position[i] + by.position[i];
        }
        break;
    case ESPL_WRITE_TRANSLATE_OWN:
        espl__rotation_apply(offset, before.rotation, by.position);
        for (int i = 0; i < 3; ++i) {
            pose->position[i] = before.position[i] + offset[i];
        }
        break;
    case ESPL_WRITE_ROTATE_OWN:
        espl__rotation_multiply(pose->rotation, before.rotation, by.rotation);
        (void)espl__rotation_normalize(pose->rotation);
        break;
    case ESPL_WRITE_ROTATE_IN_PARENT:
    case ESPL_WRITE_ROTATE_WORLD:
        espl__rotation_multiply(pose->rotation, by.rotation, before.rotation);
        (void)espl__rotation_normalize(pose->rotation);
        break;
    case ESPL_WRITE_TRANSFORM_IN_PARENT:
    case ESPL_WRITE_TRANSFORM_WORLD:
        *pose = espl__pose_compose(&by, value->transform.stretch, &before);
        (void)espl__rotation_normalize(pose->rotation);
        break;
    case ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT:
    case ESPL_WRITE_INVERSE_TRANSFORM_WORLD:
        lost = espl__pose_relative(pose, &by, value->transform.stretch, &before, &before);
        break;
    default: // the other kinds set their parts
        *pose = by;
        break;
    }
    return lost;
}

// Multiply the local scale, and a kept scale as well.
static espl_status multiply_scale(const write_target *s, float factor)
{
    espl_pose next = *s->local, wanted = *s->world;

    next.scale *= factor;
    wanted.scale = s->kept != NULL ? s->kept->pose.scale * factor : wanted.scale;
    return commit_local(s, &next, ESPL__PART_SCALE, &wanted);
}

// Change stretch and user data by the value of a write. @return false where the result is not
// finite.
static bool change_extra(espl__extra *extra, espl_write_kind kind, const espl_write_value *value)
{
    if (kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_WORLD_TRANSFORM) {
        *extra = espl__extra_of(&value->transform);
    } else if (kind == ESPL_WRITE_STRETCH) {
        memcpy(extra->stretch, value->stretch, sizeof extra->stretch);
    } else if (kind == ESPL_WRITE_USER_DATA) {
        extra->user_data = value->user_data;
    } else if (kind == ESPL_WRITE_MULTIPLY_STRETCH) {
        for (int i = 0; i < 3; ++i) {
            extra->stretch[i] *= value->stretch[i];
        }
    }
    return espl__extra_is_finite(extra);
}

// Apply a write to the pose of a target. @param seen  its local as it reads.
static espl_status write_pose(const write_target *s, const espl_pose *seen, espl_write_kind kind,
                              const espl_write_value *value)
{
    const unsigned parts = espl__write_kinds[kind].parts;
    const bool is_world = espl__write_kinds[kind].is_world;

    ESPL_CHECK_FULL(parts != 0);
    if (kind == ESPL_WRITE_MULTIPLY_SCALE) {
        return multiply_scale(s, value->scale);
    }
    espl_pose pose = is_world ? *s->world : *seen;
    const unsigned lost = change_pose(&pose, kind, value);
    const espl_status status = is_world ? put_world(s, parts, &pose) : put_local(s, parts, &pose);

    return status == ESPL_OK && lost != 0 ? ESPL_LOSSY : status;
}

espl_status espl__pose_write(espl_pose *local, espl_pose *world, const espl__frame *parent,
                             espl_write_kind kind, const espl_write_value *value)
{
    const write_target s = {local, world, NULL, parent};

    return espl__write_kinds[kind].parts == 0 ? ESPL_OK : write_pose(&s, local, kind, value);
}

// Parts that the kind does not write keep their bits.
espl_status espl__local_write(espl_pose *local, espl_write_kind kind, const espl_write_value *value)
{
    const unsigned parts = espl__write_kinds[kind].parts;
    espl_pose pose = *local, next = *local;
    unsigned lost = 0;

    // Fast path: the most frequent writes. espl__write_check() found the value finite.
    if (kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_LOCAL_POSE) {
        *local = espl__pose_of(&value->transform);
        return ESPL_OK;
    }
    if (espl__kind_sets_part(kind)) {
        size_t size = 0;
        float *const part = espl__part_of(local, kind, &size);

        memcpy(part, value, size);
        return ESPL_OK;
    }
    if (kind == ESPL_WRITE_MULTIPLY_SCALE) {
        next.scale *= value->scale;
    } else if (parts != 0) {
        lost = change_pose(&pose, kind, value);
        copy_parts(&next, &pose, parts);
    }
    if (!espl__pose_is_finite(&next)) {
        return ESPL_ERR_RANGE;
    }
    *local = next;
    return lost != 0 ? ESPL_LOSSY : ESPL_OK;
}

espl_status espl__placement_write_local(espl__placement *placement, espl_write_kind kind,
                                        const espl_write_value *value)
{
    espl__extra extra = placement->extra;

    ESPL_CHECK_FULL(placement->kept.flags == 0 && espl__write_is_local(kind));
    if (!change_extra(&extra, kind, value)) {
        return ESPL_ERR_RANGE;
    }
    const espl_status status = espl__local_write(&placement->local, kind, value);

    if (status >= 0) {
        placement->extra = extra;
    }
    return status;
}

// The extra is stored last, because a refused pose refuses it as well.
espl_status espl__placement_write(espl__placement *placement, espl_pose *world,
                                  const espl__frame *parent, espl_write_kind kind,
                                  const espl_write_value *value)
{
    const write_target s = target_of(placement, world, parent);
    espl__extra extra = placement->extra;
    espl_status status = ESPL_OK;

    if (espl__placement_copies(placement)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    if (!change_extra(&extra, kind, value)) {
        return ESPL_ERR_RANGE;
    }
    if (espl__write_kinds[kind].parts != 0) {
        const espl_pose seen = espl__placement_seen(placement, parent, world);

        status = write_pose(&s, &seen, kind, value);
    }
    if (status >= 0) {
        placement->extra = extra;
    }
    return status;
}

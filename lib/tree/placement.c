// SPDX-License-Identifier: MIT
// The meaning of writes, inherit flags and changes of parent; see placement.h. Every function
// computes the new placement apart, checks that it is finite, and stores it last, so that a refusal
// changes nothing. The bits of a result depend on the order of the operations here, which the
// golden hashes of the tests record.
#include "lib/tree/computed_local.h"

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

// Return the parts whose bits differ.
static unsigned find_different(const espl_pose *a, const espl_pose *b)
{
    const bool moved = memcmp(a->position, b->position, sizeof a->position) != 0;
    const bool turned = memcmp(a->rotation, b->rotation, sizeof a->rotation) != 0;
    const bool scaled = memcmp(&a->scale, &b->scale, sizeof a->scale) != 0;

    return (moved ? ESPL__PART_POSITION : 0u) | (turned ? ESPL__PART_ROTATION : 0u) |
           (scaled ? ESPL__PART_SCALE : 0u);
}

// Compute a world relative to a frame. @param fallback  for axes that a zero makes unreachable.
static void relative(espl_pose *out, const espl__frame *parent, const espl_pose *world,
                     const espl_pose *fallback)
{
    (void)espl__pose_relative(out, &parent->world, parent->extra.stretch, world, fallback);
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
        relative(&seen, parent, world, &placement->local);
        espl__copy_parts(&local, &seen, stale & espl__find_finite(&seen));
    }
    return local;
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

// Store a new local, and the world and kept parts that follow, unless espl__judge_local() refuses it.
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

        espl__copy_parts(&pose, wanted != NULL ? wanted : &world, parts);
        kept = espl__kept_of(&pose, s->kept->flags);
        espl__keep_parts(&world, &kept);
    }
    const espl_status status = espl__judge_local(s->parent, local, s->kept != NULL ? &kept : NULL,
                                                 &world, wanted != NULL ? parts : 0, wanted);

    if (status < 0) {
        return status;
    }
    *s->local = *local;
    *s->world = world;
    if (s->kept != NULL) {
        *s->kept = kept;
    }
    return status;
}

// Store parts of a local.
static espl_status put_local(const write_target *s, unsigned parts, const espl_pose *value)
{
    espl_pose next = *s->local;

    if (parts == ESPL__PART_POSE) {
        return commit_local(s, value, parts, NULL);
    }
    espl__copy_parts(&next, value, parts);
    return commit_local(s, &next, parts, NULL);
}

// Store the local that gives parts of a wanted world.
static espl_status put_world(const write_target *s, unsigned parts, const espl_pose *wanted)
{
    espl_pose next = *s->local, seen;

    if (s->parent == NULL) {
        return put_local(s, parts, wanted);
    }
    relative(&seen, s->parent, wanted, s->local);
    espl__copy_parts(&next, &seen, parts);
    return commit_local(s, &next, parts, wanted);
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

// Store a new placement and the world that follows, unless espl__judge_local() refuses it.
// @param parts  of the world that are to stay.
static espl_status commit_placement(espl__placement *placement, espl_pose *world,
                                    const espl__frame *parent, const espl__placement *next,
                                    unsigned parts)
{
    const espl_pose moved = espl__placement_world(next, parent);
    const espl_status status =
        espl__judge_local(parent, &next->local, &next->kept, &moved, parts, world);

    if (status >= 0) {
        *placement = *next;
        *world = moved;
    }
    return status;
}

// Return the parts that have a rule.
static unsigned parts_with(espl__keep_rules rules, espl_keep stay)
{
    return (rules.position == stay ? ESPL__PART_POSITION : 0u) |
           (rules.rotation == stay ? ESPL__PART_ROTATION : 0u) |
           (rules.scale == stay ? ESPL__PART_SCALE : 0u);
}

// Tell whether a change of flags takes a direction of the rotation from the parent that the member had
// kept, so that the local rotation has to give it.
static bool drops_rotation(uint32_t before, uint32_t flags)
{
    const uint32_t both = ESPL_ABSOLUTE_ROTATION, all = both | ESPL_STRICT_UP;

    return ((before ^ flags) & all) != 0 && (before & both) != 0 && (flags & both) != both;
}

// Change the inherit flags of a placement. The world stays where it is reachable. Parts that stay kept or
// become kept need no other local. For the others the local becomes the one that gives their world; on axes
// that stay kept it gives what it gave before.
static void change_flags(espl__placement *next, const espl_pose *world, const espl__frame *parent,
                         uint32_t flags)
{
    const espl__placement before = *next;
    const uint32_t old = before.kept.flags, dropped = old & ~flags;

    ESPL_CHECK_FULL(parent != NULL && espl__flags_are_valid(flags));
    next->kept = espl__kept_none();
    if (flags == ESPL_COPY_PARENT) {
        next->local = espl__pose_identity();
        next->kept.flags = ESPL_COPY_PARENT;
        next->extra = parent->extra;
        return;
    }
    next->kept = espl__kept_of(world, flags);
    // A copy of the parent is at the identity. Without flags before, the local composes to the world.
    if (espl__placement_copies(&before)) {
        next->local = espl__pose_identity();
        return;
    }
    if (((old ^ flags) & (ESPL_ABSOLUTE_ROTATION | ESPL_STRICT_UP)) == 0) {
        espl__copy_parts(&next->kept.pose, &before.kept.pose, ESPL__PART_ROTATION);
    }
    if (old == 0) {
        return;
    }
    const espl_pose composed =
        espl__pose_compose(&parent->world, parent->extra.stretch, &before.local);
    espl_pose wanted = composed, seen;

    for (int i = 0; i < 3; ++i) {
        if ((dropped & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0) {
            wanted.position[i] = world->position[i];
        }
    }
    espl__copy_parts(&wanted, world,
                     (drops_rotation(old, flags) ? ESPL__PART_ROTATION : 0u) |
                         ((dropped & ESPL_ABSOLUTE_SCALE) != 0 ? ESPL__PART_SCALE : 0u));
    relative(&seen, parent, &wanted, &before.local);
    espl__copy_parts(&next->local, &seen, find_different(&composed, &wanted));
}

// Set parts of the local to the identity. Kept parts become the composed world.
static void snap(espl__placement *next, const espl__frame *parent, unsigned parts)
{
    const espl_pose identity = espl__pose_identity();

    espl__copy_parts(&next->local, &identity, parts);
    if (next->kept.flags != 0) {
        const espl_pose composed =
            espl__pose_compose(&parent->world, parent->extra.stretch, &next->local);
        espl_pose kept = next->kept.pose;

        espl__copy_parts(&kept, &composed, parts);
        next->kept = espl__kept_of(&kept, next->kept.flags);
    }
}

espl_status espl__placement_reattach(espl__placement *placement, espl_pose *world,
                                     const espl__frame *parent, espl__keep_rules rules,
                                     uint32_t flags)
{
    const bool has_flags = flags != placement->kept.flags, copies = flags == ESPL_COPY_PARENT;
    const unsigned parts = copies ? 0 : parts_with(rules, ESPL_SNAP);
    espl__placement next = *placement;

    if (!has_flags && parts == 0) {
        return ESPL_OK;
    }
    // Both changes come before the check, because a part that is not finite may be snapped.
    if (has_flags) {
        change_flags(&next, world, parent, flags);
    }
    if (parts != 0) {
        snap(&next, parent, parts);
    }
    return commit_placement(placement, world, parent, &next,
                            copies || !has_flags ? 0 : ESPL__PART_POSE & ~parts);
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
    espl__copy_parts(&next.local, world, parts_with(rules, ESPL_KEEP_WORLD));
    espl__copy_parts(&next.local, &identity, parts_with(rules, ESPL_SNAP));
    if (rules.rotation == ESPL_KEEP_WORLD) {
        (void)espl__rotation_normalize(next.local.rotation);
    }
    return commit_placement(placement, world, NULL, &next, 0);
}

// Tell whether a local below a parent gives parts of a world, to rounding. In float, and by few operations,
// so that the answer is the same everywhere.
static bool leads_to(const espl_pose *local, const espl__frame *parent, const espl_pose *world,
                     unsigned parts)
{
    const espl_pose got = espl__pose_compose(&parent->world, parent->extra.stretch, local);
    const float unit = 8 * FLT_EPSILON;
    float reach = 0;
    bool is_kept = (parts & ESPL__PART_SCALE) == 0 ||
                   fabsf(got.scale - world->scale) <= unit * fabsf(world->scale);

    for (int i = 0; i < 3; ++i) {
        const float away = fabsf(world->position[i] - parent->world.position[i]);

        reach = away > reach ? away : reach;
    }
    for (int i = 0; i < 3 && (parts & ESPL__PART_POSITION) != 0; ++i) {
        const float slack = unit * fabsf(world->position[i]) +
                            unit * fabsf(parent->world.position[i]) + unit * reach;

        is_kept &= fabsf(got.position[i] - world->position[i]) <= slack && slack <= FLT_MAX;
    }
    return is_kept;
}

// Without a parent the rules give the local at once. Below a parent a kept world is made relative
// to it, a kept local stays, and a snapped part is the identity. Inherit flags keep the world parts
// that result. The pose by the locals between both parents is more precise than that by their worlds,
// and it is taken where it keeps the world.
espl_status espl__placement_move(espl__placement *placement, espl_pose *world,
                                 const espl__known_locals *known, const espl__frame *parent,
                                 espl__keep_rules rules, uint32_t flags)
{
    const espl_pose identity = espl__pose_identity();
    const unsigned staying = parts_with(rules, ESPL_KEEP_WORLD);
    espl__placement next = *placement;
    espl_pose seen;

    if (parent == NULL) {
        return move_to_root(placement, world, known->local, rules);
    }
    ESPL_CHECK_FULL(espl__flags_are_valid(flags));
    next.kept = espl__kept_none();
    next.kept.flags = flags;
    if (flags == ESPL_COPY_PARENT) {
        next.local = identity;
        next.extra = parent->extra;
        return commit_placement(placement, world, parent, &next, 0);
    }
    next.local = *known->local;
    // Fast path: a local that is kept as a whole.
    if (flags == 0 && parts_with(rules, ESPL_KEEP_LOCAL) == ESPL__PART_POSE) {
        return commit_placement(placement, world, parent, &next, 0);
    }
    const bool has_path = known->path != NULL && leads_to(known->path, parent, world, staying);

    if (has_path) {
        seen = *known->path;
    } else {
        relative(&seen, parent, world, known->local);
    }
    espl__copy_parts(&next.local, &seen, staying);
    espl__copy_parts(&next.local, &identity, parts_with(rules, ESPL_SNAP));
    espl_pose kept = espl__pose_compose(&parent->world, parent->extra.stretch, &next.local);

    espl__copy_parts(&kept, world, staying);
    next.kept = espl__kept_of(&kept, flags);
    // Parts are judged by themselves, so that those of the path need it no more.
    return commit_placement(placement, world, parent, &next, has_path ? 0 : staying);
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
    case ESPL__VALUE_CELL:
    case ESPL__VALUE_DOUBLES:
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

// Multiply the local scale as it reads, and a kept scale as well.
static espl_status multiply_scale(const write_target *s, const espl_pose *seen, float factor)
{
    const bool is_kept = s->kept != NULL && (s->kept->flags & ESPL_ABSOLUTE_SCALE) != 0;
    espl_pose next = *s->local, wanted = *s->world;

    next.scale = seen->scale * factor;
    wanted.scale *= factor;
    return commit_local(s, &next, ESPL__PART_SCALE, is_kept ? &wanted : NULL);
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
        return multiply_scale(s, seen, value->scale);
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
        espl__copy_parts(&next, &pose, parts);
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

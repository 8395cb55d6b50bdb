// SPDX-License-Identifier: MIT
// The past of nodes and its ticks: see motion.h. What was composed at an earlier time is composed by the
// functions of the present, so that a node at rest has equal bits at both.
#include "lib/tree/motion.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/base/stream.h"

#include <string.h>

// --- The way from a root down to a node ---

// The ancestors of a node from the root on, though links lead up alone: a list of every 64^k-th ancestor is
// expanded to one of every 64^(k - 1)-th as it is consumed. So each level climbs the way once, the memory is
// constant, and several threads may read at a time.
enum { WIDTH = 64, WIDTH_BITS = 6, LEVELS = 6 };

_Static_assert(WIDTH == 1 << WIDTH_BITS && WIDTH_BITS * LEVELS >= 32, "levels for any depth");

typedef struct descent {
    const espl__forest *forest;
    uint32_t counts[LEVELS];
    uint32_t lists[LEVELS][WIDTH]; // lowest node first
} descent;

// List every 64^level-th node of a way from `slot` up: at most WIDTH of them.
static void list_way(descent *way, int level, uint32_t slot)
{
    const uint64_t step = UINT64_C(1) << (level * WIDTH_BITS);
    uint32_t *const list = way->lists[level];

    for (uint64_t i = 0; i < step << WIDTH_BITS && slot != ESPL__NO_SLOT; ++i) {
        if ((i & (step - 1)) == 0) {
            list[way->counts[level]++] = slot;
        }
        slot = way->forest->parent[slot];
    }
}

// Begin the way to a slot.
static void begin_way(descent *way, const espl__forest *forest, uint32_t slot)
{
    uint64_t length = 1;
    int level = 0;

    for (uint32_t at = forest->parent[slot]; at != ESPL__NO_SLOT; at = forest->parent[at]) {
        length += 1;
    }
    while (length > UINT64_C(1) << ((level + 1) * WIDTH_BITS)) {
        level += 1;
    }
    ESPL_CHECK(level < LEVELS);
    way->forest = forest;
    memset(way->counts, 0, sizeof way->counts);
    list_way(way, level, slot);
}

// Return the next node of a way, or ESPL__NO_SLOT after the last one.
static uint32_t next_of_way(descent *way)
{
    int level = 0;

    while (level < LEVELS && way->counts[level] == 0) {
        level += 1;
    }
    if (level == LEVELS) {
        return ESPL__NO_SLOT;
    }
    for (; level > 0; --level) {
        list_way(way, level - 1, way->lists[level][--way->counts[level]]);
    }
    return way->lists[0][--way->counts[0]];
}

// --- One node at an earlier time ---

// Return the earlier kept parts of a node, or those of now. Precondition: the node has inherit flags.
static espl__kept kept_at(const espl__forest *forest, int time, uint32_t slot)
{
    espl__kept kept = espl__slot_kept(forest, slot);
    const espl_pose *const locals = espl__locals_at(forest, time);
    const int number = forest->tracks.poses[time] != NULL ? time : ESPL__PREVIOUS;

    if (locals != NULL && !espl__pose_is_marker(&locals[slot])) {
        kept.pose = *espl__slot_past_kept(forest, number, slot);
    }
    return kept;
}

espl__placement espl__placement_at(const espl__forest *forest, int time, uint32_t slot)
{
    espl__placement placement = {*espl__local_at(forest, espl__locals_at(forest, time), slot),
                                 espl__kept_none(), espl__slot_extra(forest, slot)};

    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        placement.kept = kept_at(forest, time, slot);
    }
    return placement;
}

// The operations are those of espl__world_expected().
espl_pose espl__world_at(const espl__forest *forest, int time, uint32_t slot)
{
    descent way;
    espl_pose world;

    begin_way(&way, forest, slot);
    uint32_t at = next_of_way(&way);

    world = *espl__local_at(forest, espl__locals_at(forest, time), at);
    while (at != slot) {
        const espl__frame up = {world, espl__slot_extra(forest, at)};

        at = next_of_way(&way);
        ESPL_CHECK_FULL(at != ESPL__NO_SLOT);
        if (!espl__slot_copies(forest, at)) {
            const espl__placement placement = espl__placement_at(forest, time, at);

            world = espl__placement_world(&placement, &up);
        }
    }
    return world;
}

// --- What users read ---

// Return the local that a user reads for a time.
static espl_pose seen_local(const espl__forest *forest, int time, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT || !espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        return *espl__local_at(forest, espl__locals_at(forest, time), slot);
    }
    const espl__placement placement = espl__placement_at(forest, time, slot);
    const espl__frame up = espl__frame_at(forest, time, parent);
    const espl_pose world = espl__placement_world(&placement, &up);

    return espl__placement_seen(&placement, &up, &world);
}

espl_pose espl__previous_local(const espl__forest *forest, uint32_t slot)
{
    return seen_local(forest, ESPL__PREVIOUS, slot);
}

espl_pose espl__before_local(const espl__forest *forest, uint32_t slot)
{
    return seen_local(forest, ESPL__BEFORE, slot);
}

espl_pose espl__previous_world(const espl__forest *forest, uint32_t slot)
{
    return espl__forest_has_motion(forest) ? espl__world_at(forest, ESPL__PREVIOUS, slot)
                                           : forest->world[slot];
}

espl_pose espl__before_world(const espl__forest *forest, uint32_t slot)
{
    return espl__forest_has_motion(forest) ? espl__world_at(forest, ESPL__BEFORE, slot)
                                           : forest->world[slot];
}

// --- The past of one node ---

espl__past espl__past_read(const espl__forest *forest, uint32_t slot)
{
    espl__past past = espl__past_of_new();

    ESPL_CHECK(espl__forest_has_motion(forest) && slot < forest->end);
    for (int time = 0; time < ESPL__PASTS; ++time) {
        if (forest->tracks.poses[time] == NULL) {
            continue;
        }
        past.local[time] = forest->tracks.poses[time][slot];
        if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
            past.kept[time] = *espl__slot_past_kept(forest, time, slot);
        }
    }
    return past;
}

void espl__past_store(const espl__forest *forest, uint32_t slot, const espl__past *past)
{
    ESPL_CHECK(espl__forest_has_motion(forest) && slot < forest->end);
    for (int time = 0; time < ESPL__PASTS; ++time) {
        if (forest->tracks.poses[time] == NULL) {
            continue;
        }
        forest->tracks.poses[time][slot] = past->local[time];
        if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
            *espl__slot_past_kept(forest, time, slot) = past->kept[time];
        }
    }
}

bool espl__past_is_same(const espl__forest *forest, const espl__past *a, const espl__past *b)
{
    bool is_same = true;

    for (int time = 0; time < ESPL__PASTS; ++time) {
        if (forest->tracks.poses[time] != NULL) {
            is_same = is_same && espl__pose_is_same(&a->local[time], &b->local[time]) &&
                      espl__pose_is_same(&a->kept[time], &b->kept[time]);
        }
    }
    return is_same;
}

espl__past espl__past_of(const espl__placement *placement)
{
    espl__past past;

    for (int time = 0; time < ESPL__PASTS; ++time) {
        past.local[time] = placement->local;
        past.kept[time] = placement->kept.pose;
    }
    return past;
}

espl__past espl__past_of_new(void)
{
    espl__past past;

    for (int time = 0; time < ESPL__PASTS; ++time) {
        past.local[time] = espl__pose_marker();
        past.kept[time] = espl__pose_identity();
    }
    return past;
}

// --- Changes of inherit flags ---

uint32_t espl__past_begin(const espl__forest *forest, uint32_t slot, espl__past *room)
{
    *room = espl__past_read(forest, slot);
    return espl__pose_is_marker(&room->local[ESPL__PREVIOUS])
               ? 0
               : espl__tracks_past_count(&forest->tracks);
}

void espl__past_take(espl__past *past, uint32_t time, const espl__placement *placement,
                     espl_status status, const espl__placement *now)
{
    const espl__placement *const from = status == ESPL_OK ? placement : now;

    past->local[time] = from->local;
    past->kept[time] = from->kept.pose;
}

const espl__past *espl__past_reattached(const espl__forest *forest, uint32_t slot,
                                        espl__keep_rules stay, uint32_t flags,
                                        const espl__placement *now, espl__past *room)
{
    if (!espl__forest_has_motion(forest)) {
        return NULL;
    }
    const uint32_t times = espl__past_begin(forest, slot, room);

    for (uint32_t time = 0; time < times; ++time) {
        espl__placement placement = espl__placement_at(forest, (int)time, slot);
        espl_pose world = espl__world_at(forest, (int)time, slot);
        const espl__frame up = espl__frame_at(forest, (int)time, forest->parent[slot]);
        const espl_status status = espl__placement_reattach(&placement, &world, &up, stay, flags);

        espl__past_take(room, time, &placement, status, now);
    }
    return room;
}

void espl__motion_set_past(espl__forest *forest, uint32_t slot, const espl__past *past)
{
    if (past != NULL) {
        espl__past_store(forest, slot, past);
        espl__mark_edited(forest, slot);
    }
}

// --- Writes ---

// Tell whether a node was made since the tick began.
static bool is_new(const espl__forest *forest, uint32_t slot)
{
    return espl__pose_is_marker(&forest->tracks.poses[ESPL__PREVIOUS][slot]);
}

bool espl__motion_displaces(const espl__forest *forest, uint32_t slot,
                            const espl__placement *placement)
{
    const espl__placement now = espl__slot_placement(forest, slot);

    return !espl__placement_is_posed_alike(&now, placement);
}

void espl__motion_teleport(espl__forest *forest, uint32_t slot)
{
    const espl__placement placement = espl__slot_placement(forest, slot);
    const espl__past past = espl__past_of(&placement);

    ESPL_CHECK(espl__forest_has_motion(forest));
    if (!is_new(forest, slot)) {
        espl__past_store(forest, slot, &past);
        espl__mark_edited(forest, slot);
    }
}

// Compute after * inverse(before) * pose. A pose that is `before` becomes `after`, bit for bit.
// @return false: a scale of 0 or the range of floats hides it.
static bool carry_pose(espl_pose *pose, const espl_pose *after, const espl_pose *before)
{
    espl_pose relative, moved;

    if (espl__pose_is_same(pose, before)) {
        *pose = *after;
        return true;
    }
    if (espl__pose_relative(&relative, before, NULL, pose, pose) != 0 || before->scale == 0) {
        return false;
    }
    moved = espl__pose_compose(after, NULL, &relative);
    if (!espl__pose_is_finite(&moved) || !espl__rotation_normalize(moved.rotation)) {
        return false;
    }
    *pose = moved;
    return true;
}

void espl__motion_carry(espl__forest *forest, uint32_t slot, const espl__placement *before)
{
    const espl__placement after = espl__slot_placement(forest, slot);
    espl__past past = espl__past_read(forest, slot);
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    bool is_done = true;

    if (is_new(forest, slot)) {
        return;
    }
    for (uint32_t time = 0; time < pasts && is_done; ++time) {
        is_done = carry_pose(&past.local[time], &after.local, &before->local);
        if (is_done && after.kept.flags != 0) {
            is_done = carry_pose(&past.kept[time], &after.kept.pose, &before->kept.pose);
            past.kept[time] = espl__kept_of(&past.kept[time], after.kept.flags).pose;
        }
    }
    past = is_done ? past : espl__past_of(&after);
    espl__past_store(forest, slot, &past);
    espl__mark_edited(forest, slot);
}

// The meaning of the write is that of the same write of the present, below the previous frame.
espl_status espl__motion_set_previous(espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                      const espl_pose *pose)
{
    const uint32_t parent = forest->parent[slot];
    const bool is_world = espl__write_kinds[kind].is_world;
    const espl__extra none = espl__extra_default();
    const espl_write_value value = {.transform = espl__transform_of(pose, &none)};
    const espl__past now = espl__past_read(forest, slot);
    espl__placement placement = espl__placement_at(forest, ESPL__PREVIOUS, slot);
    espl_pose world = espl__world_at(forest, ESPL__PREVIOUS, slot);
    espl__frame room;
    const espl__frame *up = NULL;

    if (parent != ESPL__NO_SLOT) {
        room = espl__frame_at(forest, ESPL__PREVIOUS, parent);
        up = &room;
    }
    const espl_status status = espl__placement_write(
        &placement, &world, up, is_world ? ESPL_WRITE_WORLD_POSE : ESPL_WRITE_LOCAL_POSE, &value);

    if (status < 0) {
        return status;
    }
    espl__past past = espl__past_of(&placement);

    if (!is_new(forest, slot)) {
        past.local[ESPL__BEFORE] = now.local[ESPL__BEFORE];
        past.kept[ESPL__BEFORE] = now.kept[ESPL__BEFORE];
    }
    if (!espl__past_is_same(forest, &past, &now)) {
        espl__past_store(forest, slot, &past);
        espl__mark_edited(forest, slot);
    }
    return status;
}

// --- Ticks ---

bool espl__motion_open(espl__forest *forest, uint32_t history)
{
    const bool keeps_two = history == ESPL__PASTS;

    ESPL_CHECK(history >= 1 && history <= ESPL__PASTS && !espl__forest_has_motion(forest));
    if (!espl__poses_open(forest, ESPL__PREVIOUS) || !espl__poses_open(forest, ESPL__SHOWN) ||
        (keeps_two && !espl__poses_open(forest, ESPL__BEFORE)) ||
        !espl__sides_set_pasts(forest, history)) {
        espl__motion_close(forest);
        return false;
    }
    espl_pose *const *const poses = forest->tracks.poses;

    espl__heap_forbid(forest->heap);
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        poses[ESPL__PREVIOUS][slot] = forest->local[slot];
        poses[ESPL__SHOWN][slot] = forest->world[slot];
        if (keeps_two) {
            poses[ESPL__BEFORE][slot] = forest->local[slot];
        }
    }
    forest->tracks.is_ticking = false;
    forest->tracks.rolled = forest->tracks.rolled_before = espl__forest_moment(forest);
    forest->presented = (espl__presented){.moment = forest->tracks.rolled,
                                          .tick = forest->tracks.rolled,
                                          .at = 1,
                                          .has_overflowed = forest->context.has_overflowed};
    espl__heap_allow(forest->heap);
    return true;
}

// Side arrays that find no memory to become smaller keep their room.
void espl__motion_close(espl__forest *forest)
{
    espl__heap_forbid(forest->heap);
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        espl__poses_close(forest, i);
    }
    forest->tracks.is_ticking = false;
    espl__heap_allow(forest->heap);
    (void)espl__sides_set_pasts(forest, 0);
}

// Make the local of a slot the previous one, and the previous one that before it.
static void roll_slot(const espl__forest *forest, uint32_t slot)
{
    espl_pose *const previous = &forest->tracks.poses[ESPL__PREVIOUS][slot];
    espl_pose *const before = forest->tracks.poses[ESPL__BEFORE];
    const bool is_new = espl__pose_is_marker(previous);

    // The flag may be that of a node that is gone.
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && espl__slot_has_node(forest, slot)) {
        const espl__placement placement = espl__slot_placement(forest, slot);
        const espl__past now = espl__past_of(&placement);
        espl__past past = espl__past_read(forest, slot);

        past.local[ESPL__BEFORE] = is_new ? now.local[0] : past.local[ESPL__PREVIOUS];
        past.kept[ESPL__BEFORE] = is_new ? now.kept[0] : past.kept[ESPL__PREVIOUS];
        past.local[ESPL__PREVIOUS] = now.local[0];
        past.kept[ESPL__PREVIOUS] = now.kept[0];
        espl__past_store(forest, slot, &past);
        return;
    }
    if (before != NULL) {
        before[slot] = is_new ? forest->local[slot] : *previous;
    }
    *previous = forest->local[slot];
}

// Slots that roll, until there are enough of them: what they read and write is prefetched for all first.
typedef struct roll_batch {
    uint32_t count;
    uint32_t slots[2 * ESPL__PLANE_BLOCK];
} roll_batch;

// Roll the slots of a batch, and empty it.
static void roll_batched(const espl__forest *forest, roll_batch *batch)
{
    espl_pose *const previous = forest->tracks.poses[ESPL__PREVIOUS];
    const bool is_plain =
        !espl__forest_has_sides(forest) && forest->tracks.poses[ESPL__BEFORE] == NULL;

    for (uint32_t i = 0; i < batch->count && espl__forest_is_far(forest); ++i) {
        espl__prefetch(&forest->local[batch->slots[i]]);
        espl__prefetch_to_write(&previous[batch->slots[i]]);
    }
    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t slot = batch->slots[i];

        if (is_plain) {
            previous[slot] = forest->local[slot];
        } else {
            roll_slot(forest, slot);
        }
    }
    batch->count = 0;
}

// Make the locals of slots from one on the previous ones. Where the pool is remote, nothing reads them before
// they leave the cache, so that they need not enter it.
static void copy_locals(const espl__forest *forest, uint32_t first, uint32_t count)
{
    espl_pose *const previous = forest->tracks.poses[ESPL__PREVIOUS];

    if (espl__forest_is_remote(forest)) {
        espl__stream(&previous[first], &forest->local[first], count * sizeof *previous);
    } else {
        memcpy(&previous[first], &forest->local[first], count * sizeof *previous);
    }
}

// Roll the slots of a block that changed. Where many did, and nothing but their locals is kept, all slots of
// the block are copied: the local of a node that did not change is its previous local already, and no
// function reads the previous local of a slot without a node.
static void roll_block(const espl__forest *forest, roll_batch *batch, uint32_t block,
                       uint64_t changed)
{
    enum { MANY = ESPL__PLANE_BLOCK / 4 };
    const uint32_t first = block * ESPL__PLANE_BLOCK, left = forest->end - first;

    if (espl__count_bits(changed) >= MANY && !espl__forest_has_sides(forest) &&
        forest->tracks.poses[ESPL__BEFORE] == NULL) {
        copy_locals(forest, first, left < ESPL__PLANE_BLOCK ? left : ESPL__PLANE_BLOCK);
        return;
    }
    if (batch->count > ESPL__PLANE_BLOCK) {
        roll_batched(forest, batch);
    }
    for (; changed != 0; changed &= changed - 1) {
        const uint32_t slot = first + espl__lowest_bit(changed);

        if (slot < forest->end) {
            batch->slots[batch->count++] = slot;
        }
    }
}

// With two ticks kept, the earlier of them changes one tick longer than own data. A slot
// without a node may be among the changed ones: no function reads its earlier local.
void espl__motion_roll(espl__forest *forest)
{
    const espl__plane *const own = &forest->tracks.planes[ESPL__PLANE_OWN];
    const bool keeps_two = forest->tracks.poses[ESPL__BEFORE] != NULL;
    const uint32_t since = keeps_two ? forest->tracks.rolled_before : forest->tracks.rolled;
    const uint32_t blocks = espl__plane_blocks(forest->end);
    roll_batch batch;

    batch.count = 0;
    ESPL_CHECK(espl__forest_has_motion(forest) && espl__plane_is_open(own));
    for (uint32_t block = espl__plane_next(own, 0, blocks, since); block < blocks;
         block = espl__plane_next(own, block + 1, blocks, since)) {
        roll_block(forest, &batch, block, espl__plane_changed(own, block, since));
    }
    roll_batched(forest, &batch);
    espl__stream_end();
    forest->tracks.rolled_before = forest->tracks.rolled;
    forest->tracks.rolled = espl__forest_moment(forest);
    forest->presented.has_ticked = true;
}

// --- Validation ---

// Tell whether an earlier local is finite, and its rotation of unit length but for rounding.
static bool is_local(const espl_pose *pose)
{
    const float *const q = pose->rotation;
    const float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];

    return espl__pose_is_finite(pose) && fabsf(square - 1) < 1e-4f;
}

// Tell whether the past of a node is finite and of unit length, or the marker.
static bool is_sound(const espl__forest *forest, uint32_t slot)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    const espl__past past = espl__past_read(forest, slot);
    const bool is_marked = espl__pose_is_marker(&past.local[ESPL__PREVIOUS]);
    bool is_fine = true;

    for (uint32_t time = 0; time < pasts; ++time) {
        const bool is_marker = espl__pose_is_marker(&past.local[time]);

        is_fine =
            is_fine && is_marker == is_marked &&
            (is_marker || (is_local(&past.local[time]) && espl__pose_is_finite(&past.kept[time])));
    }
    return is_fine;
}

// Tell whether the past of a node that did not change since the tick began is where it is.
static bool is_at_rest(const espl__forest *forest, uint32_t slot)
{
    const espl__plane *const own = &forest->tracks.planes[ESPL__PLANE_OWN];
    const espl__placement placement = espl__slot_placement(forest, slot);
    const espl__past rest = espl__past_of(&placement), past = espl__past_read(forest, slot);

    return espl__plane_has_changed(own, slot, forest->tracks.rolled) ||
           (espl__pose_is_same(&past.local[ESPL__PREVIOUS], &rest.local[ESPL__PREVIOUS]) &&
            espl__pose_is_same(&past.kept[ESPL__PREVIOUS], &rest.kept[ESPL__PREVIOUS]));
}

const char *espl__motion_broken_rule(const espl__forest *forest, uint32_t *slot)
{
    if (!espl__forest_has_motion(forest)) {
        return NULL;
    }
    for (uint32_t at = 0; at < forest->end; ++at) {
        *slot = at;
        if (!espl__slot_has_node(forest, at)) {
            continue;
        }
        if (!is_sound(forest, at)) {
            return "earlier locals are finite, or the markers of a new node";
        }
        if (!is_at_rest(forest, at)) {
            return "a node that did not change since the tick began has its local as previous one";
        }
    }
    *slot = ESPL__NO_SLOT;
    return NULL;
}

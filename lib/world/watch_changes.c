// SPDX-License-Identifier: MIT
// Which of the entities that a watch knows changed: by the blocks of the planes, then the slots in these
// blocks, then the entities of the slots. A few hundred slots are looked at together, because slots,
// records and transforms are apart in memory and each is prefetched a step before it is read.
#include "lib/world/watches.h"

#include "lib/base/bits.h"
#include "lib/base/stream.h"
#include "lib/tree/cells.h"
#include "lib/tree/motion.h"
#include "lib/world/read.h"

enum { FAR_CHANGES = 1 << 16 }; // from so many on, transforms are stored past the caches: 3 MiB

// Slots that may have changed, until there are enough of them.
typedef struct slot_batch {
    uint32_t count;
    uint32_t slots[256];
    espl_entity entities[256];
    uint8_t kinds[256];
} slot_batch;

// The state of a listing, with what it reads of the world: no store changes these.
typedef struct listing {
    espl_watch *watch;
    const espl_world *world;
    const espl_pose *poses; // by slot: worlds, shown, or locals where neither is reported
    espl__watch_arrays arrays;
    size_t count;     // entities listed
    bool is_far;      // the transforms are too many to be in a cache
    bool is_compared; // with ESPL_WATCH_BEFORE, but in a look back: what did not change is left out
} listing;

// The planes of a walk, and which kind of change each says.
typedef struct kinds_of_walk {
    espl__plane_walk walk;
    uint8_t kinds[ESPL__WALK_PLANES];
} kinds_of_walk;

// Return the poses that a watch reports, by slot.
static const espl_pose *poses_of(const espl_watch *watch)
{
    const espl__forest *const forest = &watch->world->forest;

    // Motion may have stopped since the watch was created: the worlds are shown then.
    return (watch->flags & ESPL_WATCH_SHOWN) != 0 && forest->tracks.poses[ESPL__SHOWN] != NULL
               ? forest->tracks.poses[ESPL__SHOWN]
               : forest->world;
}

// Write a transform of a slot. Pose and extra are copied as a whole from where they are stored: a wide load of
// fields that were just stored would stall.
ESPL__INLINE void put_pose(espl_transform *out, const espl__forest *forest, const espl_pose *pose,
                           uint32_t slot)
{
    static const espl__extra none = {{1, 1, 1}, 0};
    const espl__extra *extra = &none;

    if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        extra = &espl__side_of_slot(forest, slot)->extra[slot - espl__tree_of(forest, slot)->base];
    }
    memcpy(out, pose, sizeof *pose);
    memcpy(out->stretch, extra, sizeof *extra);
}

// Return the pose of a slot that a watch reports. A node that was made since the last present is shown where it
// is.
ESPL__INLINE const espl_pose *pose_at(const espl__forest *forest, const espl_pose *poses,
                                      uint32_t slot)
{
    const bool is_unshown = poses != forest->world && forest->tracks.is_unshown[slot];

    return is_unshown ? &forest->world[slot] : &poses[slot];
}

// Write the world transform of a slot, or the shown one.
ESPL__INLINE void put_transform(espl_transform *out, const espl__forest *forest,
                                const espl_pose *poses, uint32_t slot)
{
    put_pose(out, forest, pose_at(forest, poses, slot), slot);
}

// Write the local transform of a slot.
ESPL__INLINE void put_own_local(espl_transform *out, const espl_world *world, uint32_t slot)
{
    if (espl__slot_is(&world->forest, slot, ESPL__SLOT_KEEPS)) {
        *out = espl__read_local(world, slot);
    } else {
        put_pose(out, &world->forest, &world->forest.local[slot], slot);
    }
}

_Static_assert(offsetof(espl_transform, stretch) == sizeof(espl_pose) &&
                   offsetof(espl_transform, user_data) ==
                       sizeof(espl_pose) + offsetof(espl__extra, user_data),
               "a transform is a pose and an extra");

void espl__watch_read(const espl_watch *watch, uint32_t index, uint32_t slot, espl_transform *out)
{
    const espl__forest *const forest = &watch->world->forest;

    put_transform(out, forest, poses_of(watch), slot);
    if (watch->kept[ESPL__KEPT_REPORTED] != NULL) {
        watch->kept[ESPL__KEPT_REPORTED][index] = *out;
    }
    if (watch->kept[ESPL__KEPT_WORLD] != NULL) {
        put_transform(&watch->kept[ESPL__KEPT_WORLD][index], forest, forest->world, slot);
    }
}

// Add a plane that says changes of some kinds, where the watch asks for one of them.
static void add_plane(kinds_of_walk *all, const espl_watch *watch, int number, uint32_t kinds)
{
    if ((watch->flags & kinds) != 0) {
        all->kinds[all->walk.plane_count] = (uint8_t)(watch->flags & kinds);
        all->walk.planes[all->walk.plane_count++] = &watch->world->forest.tracks.planes[number];
    }
}

// A change of the world counts as one of what is shown as well: stretch and user data are shown at once, and so
// is a node that was made since the last present, or while motion does not run.
static void begin_walk_of_slots(const espl_watch *watch, uint64_t since, kinds_of_walk *all)
{
    *all = (kinds_of_walk){.walk = {
                               .items = watch->world->forest.end,
                               .since = espl__plane_since(watch->world->moment, since),
                           }};
    add_plane(all, watch, ESPL__PLANE_SHOWN, ESPL_WATCH_SHOWN);
    add_plane(all, watch, ESPL__PLANE_WORLD, ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN);
    add_plane(all, watch, ESPL__PLANE_OWN, ESPL_WATCH_LOCAL);
    add_plane(all, watch, ESPL__PLANE_CELL, ESPL_WATCH_CELL);
    espl__plane_walk_begin(&all->walk);
}

size_t espl__watch_count_changes(const espl_watch *watch, uint64_t since, size_t *scanned)
{
    kinds_of_walk all;
    size_t count = 0;

    begin_walk_of_slots(watch, since, &all);
    for (uint64_t left; (left = espl__plane_walk_next(&all.walk)) != 0;) {
        count += espl__count_bits(left);
    }
    *scanned = (size_t)all.walk.scanned * ESPL__PLANE_BLOCK;
    return count;
}

// Return which kinds of transform of an entity differ from what was kept, and keep what is now.
// @param now     what the watch reports of it now.
// @param before  out: what it reported last.
static uint8_t keep_and_compare(const listing *l, uint32_t index, uint32_t slot,
                                const espl_transform *now, espl_transform *before)
{
    enum { SHOWN = ESPL_WATCH_SHOWN, WORLD = ESPL_WATCH_WORLD };
    espl_transform *const *const kept = l->watch->kept;
    const bool is_shown = (l->watch->flags & SHOWN) != 0;
    uint8_t differing = 0;

    *before = kept[ESPL__KEPT_REPORTED][index];
    kept[ESPL__KEPT_REPORTED][index] = *now;
    if (memcmp(now, before, sizeof *now) != 0) {
        differing = is_shown ? SHOWN : WORLD;
    }
    if (kept[ESPL__KEPT_WORLD] != NULL) {
        espl_transform *const world = &kept[ESPL__KEPT_WORLD][index];
        const espl_transform old = *world;

        put_transform(world, &l->world->forest, l->world->forest.world, slot);
        differing |= memcmp(world, &old, sizeof old) != 0 ? WORLD : 0;
    }
    return differing;
}

// Leave the slots of a batch that have an entity which the watch knew before this collect. Slots of free
// ranges and holes have entities of an earlier time, which the records show. An index that is known has the
// generation that answers now; one that was added has another bit.
static void keep_known(const listing *l, slot_batch *batch)
{
    const espl__links *const links = l->world->forest.links;
    const espl__record *const records = l->world->store.records;
    const uint32_t *const known = l->watch->known;
    const size_t issued = espl__array_length(records);
    const uint32_t count = batch->count;
    uint32_t kept = 0;

    // Links were prefetched; what they lead to is prefetched for all slots before it is read.
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t index = links[batch->slots[i]].entity;

        espl__prefetch_element(records, index, sizeof *records);
        espl__prefetch_element(known, index, sizeof *known);
        espl__prefetch(&l->poses[batch->slots[i]]);
        batch->entities[i] = (espl_entity){index, 0};
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t index = batch->entities[i].index, slot = batch->slots[i];

        if (index < issued && records[index].slot == slot &&
            records[index].generation == known[index]) {
            batch->slots[kept] = slot;
            batch->kinds[kept] = batch->kinds[i];
            batch->entities[kept++] = (espl_entity){index, known[index]};
        }
    }
    batch->count = kept;
}

// Leave out changes of cells that are not those of a root, for a watch that does not report places.
static void keep_roots(const listing *l, slot_batch *batch)
{
    const espl__forest *const forest = &l->world->forest;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t slot = batch->slots[i];
        const uint8_t out = espl__is_root(forest, slot) ? 0 : ESPL_WATCH_CELL;
        const uint8_t kinds = batch->kinds[i] & (uint8_t)~out;

        batch->slots[kept] = slot;
        batch->entities[kept] = batch->entities[i];
        batch->kinds[kept] = kinds;
        kept += kinds != 0 ? 1 : 0;
    }
    batch->count = kept;
}

// Read the transforms of a batch, and leave the entities that differ from what was reported of them. Own data
// have no copy, so that a mark of them is enough.
static void keep_different(const listing *l, slot_batch *batch)
{
    const uint8_t transforms = ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->count; ++i) {
        espl_transform *const now = &l->arrays.changed_worlds[l->count + kept];
        const espl_entity entity = batch->entities[i];
        const uint32_t slot = batch->slots[i];
        uint8_t kinds = batch->kinds[i];

        put_transform(now, &l->world->forest, l->poses, slot);
        const uint8_t differing = keep_and_compare(l, entity.index, slot, now,
                                                   &l->arrays.changed_before[l->count + kept]);

        if (l->is_compared) {
            kinds &= (uint8_t)(differing | ~transforms);
        }
        batch->slots[kept] = slot;
        batch->entities[kept] = entity;
        batch->kinds[kept] = kinds;
        kept += kinds != 0 ? 1 : 0;
    }
    batch->count = kept;
}

// Read the world transforms of a batch, or the shown ones.
static void copy_world_batch(espl_transform *restrict out, const espl__forest *forest,
                             const espl_pose *poses, const slot_batch *batch)
{
    const uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; ++i) {
        put_transform(&out[i], forest, poses, batch->slots[i]);
    }
}

// The same past the caches: half of the memory that is moved, where the transforms are many.
static ESPL__APART void stream_world_batch(espl_transform *restrict out, const espl__forest *forest,
                                           const espl_pose *poses, const slot_batch *batch)
{
    static const espl__extra none = {{1, 1, 1}, 0};
    const uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = batch->slots[i];

        if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
            espl_transform transform;

            put_transform(&transform, forest, poses, slot);
            espl__stream(&out[i], &transform, sizeof transform);
        } else {
            espl__stream(&out[i], pose_at(forest, poses, slot), sizeof *poses);
            espl__stream(out[i].stretch, &none, sizeof none);
        }
    }
}

// Read the local transforms of a batch.
static void copy_local_batch(espl_transform *restrict out, const espl_world *world,
                             const slot_batch *batch)
{
    const uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; ++i) {
        put_own_local(&out[i], world, batch->slots[i]);
    }
}

// The same past the caches.
static ESPL__APART void stream_local_batch(espl_transform *restrict out, const espl_world *world,
                                           const slot_batch *batch)
{
    const uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; ++i) {
        espl_transform transform;

        put_own_local(&transform, world, batch->slots[i]);
        espl__stream(&out[i], &transform, sizeof transform);
    }
}

// Read the transforms of a batch that the watch reports. Worlds that the watch compares were read before.
static void copy_reported(const listing *l, const slot_batch *batch)
{
    const espl__forest *const forest = &l->world->forest;
    espl_transform *const worlds = l->arrays.changed_worlds;
    espl_transform *const locals = l->arrays.changed_locals;

    if (worlds != NULL && l->watch->kept_count == 0) {
        (l->is_far ? stream_world_batch : copy_world_batch)(&worlds[l->count], forest, l->poses,
                                                            batch);
    }
    if (locals != NULL) {
        (l->is_far ? stream_local_batch : copy_local_batch)(&locals[l->count], l->world, batch);
    }
}

espl_changed_cell espl__watch_cell(const espl__forest *forest, uint32_t slot)
{
    const espl__cell cell = espl__cell_of(forest, slot);

    return (espl_changed_cell){{cell.at[0], cell.at[1], cell.at[2]},
                               espl__is_root(forest, slot) ? 1 : 0};
}

// List the entities of a batch of slots, and empty it.
static void list_batch(listing *l, slot_batch *batch)
{
    const espl__forest *const forest = &l->world->forest;

    keep_known(l, batch);
    if (l->arrays.changed_cells != NULL && !espl__watch_has_places(l->watch)) {
        keep_roots(l, batch);
    }
    if (l->watch->kept_count != 0) {
        keep_different(l, batch);
    }
    copy_reported(l, batch);
    for (uint32_t i = 0; l->arrays.changed_cells != NULL && i < batch->count; ++i) {
        l->arrays.changed_cells[l->count + i] = espl__watch_cell(forest, batch->slots[i]);
    }
    if (batch->count != 0) {
        memcpy(&l->arrays.changed[l->count], batch->entities,
               batch->count * sizeof *batch->entities);
        memcpy(&l->arrays.kinds[l->count], batch->kinds, batch->count);
    }
    l->count += batch->count;
    batch->count = 0;
}

// Return the kinds of change of an item of the present block.
static inline uint8_t kinds_at(const kinds_of_walk *all, uint32_t item)
{
    uint8_t kinds = 0;

    for (uint32_t i = 0; i < all->walk.plane_count; ++i) {
        kinds |= (all->walk.changed[i] >> item & 1) != 0 ? all->kinds[i] : 0;
    }
    return kinds;
}

// Tell whether each plane has changed all slots of a whole block, or none of them.
static inline bool is_uniform(const kinds_of_walk *all, uint64_t left)
{
    uint64_t mixed = ~left;

    for (uint32_t i = 0; i < all->walk.plane_count; ++i) {
        mixed |= all->walk.changed[i] ^ (0 - (all->walk.changed[i] & 1));
    }
    return mixed == 0;
}

// Add the slots of the present block that changed. A block of which all changed alike needs no look at its
// bits, and its links need no prefetch, because the processor reads ahead of them.
static void add_slots(slot_batch *batch, const kinds_of_walk *all, uint64_t left,
                      const espl__links *links)
{
    const uint32_t first = all->walk.block * ESPL__PLANE_BLOCK;

    if (is_uniform(all, left)) {
        for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
            batch->slots[batch->count + i] = first + i;
        }
        memset(batch->kinds + batch->count, kinds_at(all, 0), ESPL__PLANE_BLOCK);
        batch->count += ESPL__PLANE_BLOCK;
        return;
    }
    const uint8_t only = all->walk.plane_count == 1 ? all->kinds[0] : 0;

    for (; left != 0; left &= left - 1) {
        const uint32_t item = espl__lowest_bit(left), at = batch->count++;

        espl__prefetch(&links[first + item]);
        batch->slots[at] = first + item;
        batch->kinds[at] = only != 0 ? only : kinds_at(all, item);
    }
}

size_t espl__watch_list_changes(espl_watch *watch, uint64_t since, size_t bound,
                                const espl__watch_arrays *arrays)
{
    enum { ROOM = sizeof((slot_batch *)0)->kinds };
    listing l = {
        .watch = watch,
        .world = watch->world,
        .poses = espl__watch_has_worlds(watch) ? poses_of(watch) : watch->world->forest.local,
        .arrays = *arrays,
        .is_far = bound >= FAR_CHANGES,
        .is_compared = since == watch->last,
    };
    slot_batch batch;
    kinds_of_walk all;

    batch.count = 0;
    begin_walk_of_slots(watch, since, &all);
    for (uint64_t left; (left = espl__plane_walk_next(&all.walk)) != 0;) {
        if (batch.count + ESPL__PLANE_BLOCK > ROOM) {
            list_batch(&l, &batch);
        }
        add_slots(&batch, &all, left, watch->world->forest.links);
    }
    list_batch(&l, &batch);
    espl__stream_end();
    return l.count;
}

// SPDX-License-Identifier: MIT
// The marks of changes.h, and the planes and arrays of motion that they are stored in.
#include "lib/tree/jumps.h"
#include "lib/tree/motion.h"

// --- Marks ---

// A write between ticks is shown as it is, and not blended: the node was always there.
static ESPL__APART void show_write(espl__forest *forest, uint32_t slot)
{
    espl_pose *const *const poses = forest->tracks.poses;

    if (espl__pose_is_marker(&poses[ESPL__PREVIOUS][slot])) {
        return;
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        const espl__placement placement = espl__slot_placement(forest, slot);
        const espl__past past = espl__past_of(&placement);

        espl__past_store(forest, slot, &past);
        return;
    }
    poses[ESPL__PREVIOUS][slot] = forest->local[slot];
    if (poses[ESPL__BEFORE] != NULL) {
        poses[ESPL__BEFORE][slot] = forest->local[slot];
    }
}

void espl__mark_written(espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK(espl__forest_is_tracked(forest) && slot < forest->end);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
    if (espl__forest_shows_writes(forest)) {
        show_write(forest, slot);
    }
}

// @return ESPL_OK, so that the call is the last one of its callers and they save no registers for it.
static ESPL__APART espl_status show_written_node(espl__forest *forest, uint32_t slot)
{
    show_write(forest, slot);
    return ESPL_OK;
}

espl_status espl__mark_node_written(espl__forest *forest, uint32_t slot)
{
    espl__tracks_mark_node(&forest->tracks, slot);
    return espl__forest_shows_writes(forest) ? show_written_node(forest, slot) : ESPL_OK;
}

void espl__mark_edited(espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK(espl__forest_is_tracked(forest) && slot < forest->end);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
}

void espl__mark_linked(espl__forest *forest, uint32_t slot)
{
    espl__mark_edited(forest, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
}

void espl__mark_unshown(espl__forest *forest, uint32_t slot)
{
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_SHOWN, slot);
    forest->tracks.is_unshown[slot] = true;
    // Several jobs may make nodes.
    if (!atomic_load_explicit(&forest->presented.has_unshown, memory_order_relaxed)) {
        atomic_store_explicit(&forest->presented.has_unshown, true, memory_order_relaxed);
    }
}

// Say that a node was made in this tick.
static ESPL__APART void set_markers(espl__forest *forest, uint32_t slot)
{
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        if (forest->tracks.poses[i] != NULL) {
            forest->tracks.poses[i][slot] = espl__pose_marker();
        }
    }
    espl__mark_unshown(forest, slot);
}

void espl__mark_made(espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK(espl__forest_is_tracked(forest) && slot < forest->end);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_WORLD, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_OWN, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
    if (espl__forest_has_motion(forest)) {
        set_markers(forest, slot);
    }
    if (forest->tracks.cells != NULL) {
        forest->tracks.cells[slot] = (espl__cell){{0, 0, 0}};
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_CELL, slot);
    }
}

void espl__mark_world(espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK(espl__forest_is_tracked(forest) && slot < forest->end);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_WORLD, slot);
}

// --- Free ranges ---

// Mark the ends of a range, and the first slots of its neighbours in the list of its class, whose links change
// with it.
static void mark_free_range(const espl__forest *forest, uint32_t base, uint32_t count)
{
    const espl__links *const links = &forest->links[base];

    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, base);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, base + count - 1);
    if (links->next != ESPL__NO_SLOT) {
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, links->next);
    }
    if (links->previous != ESPL__NO_SLOT) {
        espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, links->previous);
    }
}

void espl__mark_listed(espl__forest *forest, uint32_t base, uint32_t count)
{
    if (count > 1) {
        forest->links[base + count - 1] = (espl__links){.first_child = count};
    }
    mark_free_range(forest, base, count);
}

void espl__mark_unlisted(const espl__forest *forest, uint32_t base, uint32_t count)
{
    mark_free_range(forest, base, count);
}

// --- Consumers ---

// Note whether there is an array now, and how many slots each has room for.
static void note_arrays(espl__forest *forest)
{
    espl__tracks *const tracks = &forest->tracks;
    bool is_tracked = false, has_own = espl__plane_is_open(&tracks->planes[ESPL__PLANE_OWN]);

    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        is_tracked = is_tracked || espl__plane_is_open(&tracks->planes[i]);
    }
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        has_own = has_own || tracks->poses[i] != NULL;
    }
    is_tracked = is_tracked || has_own || tracks->cells != NULL;
    forest->modes =
        (uint8_t)((forest->modes & ~(ESPL__MODE_TRACKED | ESPL__MODE_OWN)) |
                  (is_tracked ? ESPL__MODE_TRACKED : 0) | (has_own ? ESPL__MODE_OWN : 0));
    tracks->capacity = is_tracked ? forest->capacity : 0;
}

bool espl__plane_open(espl__forest *forest, int number)
{
    espl__plane *const plane = &forest->tracks.planes[number];
    const espl__plane closed = *plane;

    if (espl__plane_is_open(plane)) {
        return true;
    }
    if (!espl__plane_make(forest->heap, ESPL__FOR_TREE, plane, forest->capacity, &closed, 0)) {
        return false;
    }
    note_arrays(forest);
    return true;
}

bool espl__cells_open(espl__forest *forest, float cell_size)
{
    if (!espl__tracks_add_cells(forest->heap, &forest->tracks, forest->capacity)) {
        return false;
    }
    forest->cell_size = cell_size;
    note_arrays(forest);
    return true;
}

bool espl__poses_open(espl__forest *forest, int number)
{
    espl__tracks *const tracks = &forest->tracks;

    if (tracks->poses[number] != NULL) {
        return true;
    }
    if (!espl__tracks_add_poses(forest->heap, tracks, number, forest->capacity)) {
        return false;
    }
    note_arrays(forest);
    return true;
}

void espl__plane_close(espl__forest *forest, int number)
{
    espl__plane_free(forest->heap, ESPL__FOR_TREE, &forest->tracks.planes[number]);
    note_arrays(forest);
}

void espl__poses_close(espl__forest *forest, int number)
{
    espl__tracks_drop_poses(forest->heap, &forest->tracks, number, forest->tracks.capacity);
    note_arrays(forest);
}

// Make a moment to look back to no older than planes tell moments apart, so that its low bits do not wrap.
static void keep_near(uint32_t *since, uint32_t now)
{
    if (now - *since > ESPL__PLANE_OLDEST) {
        *since = now - ESPL__PLANE_OLDEST;
    }
}

void espl__forest_set_moment(espl__forest *forest, uint64_t moment)
{
    const uint32_t now = (uint32_t)moment;

    espl__jumps_spread(forest);
    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        espl__plane_set_moment(&forest->tracks.planes[i], now);
    }
    keep_near(&forest->tracks.rolled, now);
    keep_near(&forest->tracks.rolled_before, now);
    keep_near(&forest->presented.moment, now);
    keep_near(&forest->presented.tick, now);
}

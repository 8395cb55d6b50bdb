// SPDX-License-Identifier: MIT
// The memory of tracks, and their elements when a node moves.
#include "lib/tree/tracks.h"

#include <string.h>

// Return the items of an array. Never 0, because its address says that there is one.
static inline size_t items_of(uint32_t capacity)
{
    return (size_t)capacity + 1;
}

bool espl__tracks_add_poses(espl__heap *heap, espl__tracks *tracks, int number, uint32_t capacity)
{
    const size_t items = items_of(capacity);
    espl_pose *const poses =
        espl__heap_take(heap, ESPL__FOR_TREE, items, sizeof *poses, ESPL__POSES_ALIGNMENT);

    if (poses == NULL) {
        return false;
    }
    if (number == ESPL__SHOWN) {
        tracks->is_unshown =
            espl__heap_take(heap, ESPL__FOR_TREE, items, sizeof *tracks->is_unshown, 1);
        if (tracks->is_unshown == NULL) {
            espl__heap_give(heap, ESPL__FOR_TREE, poses, items, sizeof *poses,
                            ESPL__POSES_ALIGNMENT);
            return false;
        }
        memset(tracks->is_unshown, 0, items * sizeof *tracks->is_unshown);
    }
    tracks->poses[number] = poses;
    return true;
}

void espl__tracks_drop_poses(espl__heap *heap, espl__tracks *tracks, int number, uint32_t capacity)
{
    const size_t items = items_of(capacity);

    espl__heap_give(heap, ESPL__FOR_TREE, tracks->poses[number], items, sizeof **tracks->poses,
                    ESPL__POSES_ALIGNMENT);
    tracks->poses[number] = NULL;
    if (number == ESPL__SHOWN) {
        espl__heap_give(heap, ESPL__FOR_TREE, tracks->is_unshown, items, sizeof *tracks->is_unshown,
                        1);
        tracks->is_unshown = NULL;
    }
}

bool espl__tracks_add_cells(espl__heap *heap, espl__tracks *tracks, uint32_t capacity)
{
    ESPL_CHECK(tracks->cells == NULL);
    tracks->cells = espl__heap_take(heap, ESPL__FOR_TREE, items_of(capacity), sizeof *tracks->cells,
                                    ESPL__POSES_ALIGNMENT);
    return tracks->cells != NULL;
}

bool espl__tracks_make(espl__heap *heap, espl__tracks *tracks, uint32_t capacity,
                       const espl__tracks *from, uint32_t count)
{
    espl__tracks made = {.capacity = capacity,
                         .rolled = from->rolled,
                         .rolled_before = from->rolled_before,
                         .is_ticking = from->is_ticking};
    bool is_done = true;

    atomic_store_explicit(&made.has_jumps,
                          atomic_load_explicit(&from->has_jumps, memory_order_relaxed),
                          memory_order_relaxed);

    ESPL_CHECK(count <= capacity);
    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        const espl__plane *const plane = &from->planes[i];

        made.planes[i].moment = plane->moment;
        if (is_done && espl__plane_is_open(plane)) {
            is_done =
                espl__plane_make(heap, ESPL__FOR_TREE, &made.planes[i], capacity, plane, count);
        }
    }
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        const espl_pose *const poses = from->poses[i];

        if (is_done && poses != NULL) {
            is_done = espl__tracks_add_poses(heap, &made, i, capacity);
            if (is_done && count != 0) {
                memcpy(made.poses[i], poses, count * sizeof *poses);
            }
        }
    }
    if (is_done && from->is_unshown != NULL && count != 0) {
        memcpy(made.is_unshown, from->is_unshown, count * sizeof *made.is_unshown);
    }
    if (is_done && from->cells != NULL) {
        is_done = espl__tracks_add_cells(heap, &made, capacity);
        if (is_done && count != 0) {
            memcpy(made.cells, from->cells, count * sizeof *made.cells);
        }
    }
    if (!is_done) {
        espl__tracks_free(heap, &made);
        return false;
    }
    *tracks = made;
    return true;
}

void espl__tracks_free(espl__heap *heap, espl__tracks *tracks)
{
    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        espl__plane_free(heap, ESPL__FOR_TREE, &tracks->planes[i]);
    }
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        espl__tracks_drop_poses(heap, tracks, i, tracks->capacity);
    }
    espl__heap_give(heap, ESPL__FOR_TREE, tracks->cells, items_of(tracks->capacity),
                    sizeof *tracks->cells, ESPL__POSES_ALIGNMENT);
    tracks->cells = NULL;
    tracks->capacity = 0;
    tracks->is_ticking = false;
}

size_t espl__tracks_bytes(const espl__tracks *tracks)
{
    size_t bytes = 0;

    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        bytes += espl__plane_bytes(&tracks->planes[i]);
    }
    for (int i = 0; i < ESPL__POSES_COUNT; ++i) {
        bytes += tracks->poses[i] != NULL ? items_of(tracks->capacity) * sizeof(espl_pose) : 0;
    }
    bytes += tracks->is_unshown != NULL ? items_of(tracks->capacity) * sizeof(bool) : 0;
    bytes += tracks->cells != NULL ? items_of(tracks->capacity) * sizeof *tracks->cells : 0;
    return bytes;
}

// Move the stamp of a node. The block of the new slot is marked as of now, because a block is an upper
// bound of its stamps.
ESPL__INLINE void move_stamp(const espl__plane *to, uint32_t slot, const espl__plane *from,
                             uint32_t old)
{
    if (espl__plane_is_open(to)) {
        to->stamps[slot] = from->stamps[old];
        espl__plane_mark_block(to, slot / ESPL__PLANE_BLOCK);
    }
}

// Move a pose of a node.
ESPL__INLINE void move_pose(espl_pose *to, uint32_t slot, const espl_pose *from, uint32_t old)
{
    if (to != NULL) {
        to[slot] = from[old];
    }
}

void espl__tracks_move(const espl__tracks *to, uint32_t slot, const espl__tracks *from,
                       uint32_t old)
{
    move_stamp(&to->planes[ESPL__PLANE_WORLD], slot, &from->planes[ESPL__PLANE_WORLD], old);
    move_stamp(&to->planes[ESPL__PLANE_OWN], slot, &from->planes[ESPL__PLANE_OWN], old);
    move_stamp(&to->planes[ESPL__PLANE_SHOWN], slot, &from->planes[ESPL__PLANE_SHOWN], old);
    move_stamp(&to->planes[ESPL__PLANE_JUMP], slot, &from->planes[ESPL__PLANE_JUMP], old);
    move_stamp(&to->planes[ESPL__PLANE_JUMP_TOP], slot, &from->planes[ESPL__PLANE_JUMP_TOP], old);
    if (to->cells != NULL) {
        move_stamp(&to->planes[ESPL__PLANE_CELL], slot, &from->planes[ESPL__PLANE_CELL], old);
        to->cells[slot] = from->cells[old];
    }
    if (espl__plane_is_open(&to->planes[ESPL__PLANE_PLACE])) {
        espl__plane_mark(&to->planes[ESPL__PLANE_PLACE], slot);
        espl__plane_mark(&from->planes[ESPL__PLANE_PLACE], old);
    }
    if (espl__tracks_have_motion(to)) {
        move_pose(to->poses[ESPL__PREVIOUS], slot, from->poses[ESPL__PREVIOUS], old);
        move_pose(to->poses[ESPL__BEFORE], slot, from->poses[ESPL__BEFORE], old);
        move_pose(to->poses[ESPL__SHOWN], slot, from->poses[ESPL__SHOWN], old);
        to->is_unshown[slot] = from->is_unshown[old];
    }
}

// SPDX-License-Identifier: MIT
// Motion of a forest: earlier locals of nodes, and the worlds that are shown. The arrays are those of
// espl__forest.tracks, and the earlier kept parts are in the side arrays.
//
// The previous local is the local when the last tick began, and the one before it (ESPL__BEFORE) that when
// the tick before began. Both are the past of a node. It is a past of locals, because what is shown
// between two ticks is composed from blended locals.
//
// Invariants while motion runs; espl__motion_broken_rule() checks them:
//
// - A node whose own data did not change since the tick began has its local as the previous one, bit for
//   bit, and its kept parts likewise. So a tick that begins copies only what ESPL__PLANE_OWN marks.
// - An earlier local is finite and has a rotation of unit length, or it is the marker of a node that was
//   made since the tick began. A marker reads as the local. Both earlier locals of a node are markers, or
//   none.
//
// Changes of parents and of inherit flags are carried out on the past as well: edit_past.h.
#ifndef ESPALIER_LIB_TREE_MOTION_H
#define ESPALIER_LIB_TREE_MOTION_H

#include "lib/tree/changes.h"

#include <math.h>

/// Arrays of earlier locals: ESPL__PREVIOUS and ESPL__BEFORE.
enum { ESPL__PASTS = 2 };

_Static_assert(ESPL__PREVIOUS == 0 && ESPL__BEFORE == 1, "numbers of arrays of the past");

/// The past of one node: elements that the forest has no array of are not written.
typedef struct espl__past {
    espl_pose local[ESPL__PASTS];
    espl_pose kept[ESPL__PASTS]; // world parts that inherit flags keep; the identity without flags
} espl__past;

/// Return the plane of own data.
static inline const espl__plane *espl__own_plane(const espl__forest *forest)
{
    return &forest->tracks.planes[ESPL__PLANE_OWN];
}

/// Return the kept parts of a slot when the tick began. Precondition: ESPL__SLOT_KEEPS.
static inline const espl_pose *espl__previous_kept(const espl__forest *forest, uint32_t slot)
{
    espl__side *const side = espl__side_of_slot(forest, slot);

    return &espl__side_past(side, ESPL__PREVIOUS)[slot - espl__tree_of(forest, slot)->base];
}

// --- The marker of a node that has no past ---

/// Return the marker: its scale is a NaN, which no local has. The shown world of a node that is new has it too,
/// so that a present finds that it differs.
static inline espl_pose espl__pose_marker(void)
{
    return (espl_pose){{0, 0, 0, 1}, {0, 0, 0}, NAN};
}
/// Tell whether an earlier local is the marker.
static inline bool espl__pose_is_marker(const espl_pose *pose)
{
    return isnan(pose->scale);
}

// --- One node at an earlier time. `time` is ESPL__PREVIOUS or ESPL__BEFORE; without its array it is now ---

/// Return the local of a node at a time, as it is stored. @param past  espl__locals_at(); NULL: now.
static inline const espl_pose *espl__local_at(const espl__forest *forest, const espl_pose *past,
                                              uint32_t slot)
{
    return past == NULL || espl__pose_is_marker(&past[slot]) ? &forest->local[slot] : &past[slot];
}
/// Return the array of earlier locals that reads of a time look at: that of ESPL__PREVIOUS where motion
/// keeps one tick alone, and NULL without motion.
static inline const espl_pose *espl__locals_at(const espl__forest *forest, int time)
{
    const espl_pose *const locals = forest->tracks.poses[time];

    return locals != NULL ? locals : forest->tracks.poses[ESPL__PREVIOUS];
}
/// Return the placement of a node at a time. Inherit flags, stretch and user data are those of now.
espl__placement espl__placement_at(const espl__forest *forest, int time, uint32_t slot);
/// Return the world of a node at a time, composed from earlier locals up the links. Worlds may be out of
/// date, stretches not. O(depth), without memory.
espl_pose espl__world_at(const espl__forest *forest, int time, uint32_t slot);
/// Return the frame that the children of a node saw at a time. O(depth).
static inline espl__frame espl__frame_at(const espl__forest *forest, int time, uint32_t slot)
{
    return (espl__frame){espl__world_at(forest, time, slot), espl__slot_extra(forest, slot)};
}

// --- What users read. Without motion: local, local, world, world, world ---

espl_pose espl__previous_local(const espl__forest *forest, uint32_t slot);
/// The previous local where motion keeps one tick alone.
espl_pose espl__before_local(const espl__forest *forest, uint32_t slot);
/// O(depth).
espl_pose espl__previous_world(const espl__forest *forest, uint32_t slot);
espl_pose espl__before_world(const espl__forest *forest, uint32_t slot);
/// The array with the world that was presented last. Of a node that was made since: the array of worlds.
static inline const espl_pose *espl__shown_array(const espl__forest *forest, uint32_t slot)
{
    const espl__tracks *const tracks = &forest->tracks;

    return !espl__tracks_have_motion(tracks) || tracks->is_unshown[slot]
               ? forest->world
               : tracks->poses[ESPL__SHOWN];
}
static inline espl_pose espl__shown_world(const espl__forest *forest, uint32_t slot)
{
    return espl__shown_array(forest, slot)[slot];
}

// --- The past of one node. Preconditions: motion runs, and the caller marks own data ---

/// Read and store a past. Its kept parts are stored where the node has inherit flags.
espl__past espl__past_read(const espl__forest *forest, uint32_t slot);
void espl__past_store(const espl__forest *forest, uint32_t slot, const espl__past *past);
/// Tell whether two pasts have the same bits in the arrays that the forest has.
bool espl__past_is_same(const espl__forest *forest, const espl__past *a, const espl__past *b);
/// Return the past of a node that was always at its placement.
espl__past espl__past_of(const espl__placement *placement);
/// Return the past of a new node: markers.
espl__past espl__past_of_new(void);

/// Begin a change of the past of a node. @param room  out: its past.
/// @return the number of times at which the change is to be carried out: 0 where the node is new, because
///         it stays so.
uint32_t espl__past_begin(const espl__forest *forest, uint32_t slot, espl__past *room);
/// Set the past at one time to the placement that the change gives then. Where it is lossy or refused, the
/// node was always where it is.
/// @param status  of the change. @param now  the placement that it gives at present.
void espl__past_take(espl__past *past, uint32_t time, const espl__placement *placement,
                     espl_status status, const espl__placement *now);

// --- Changes of inherit flags ---

/// Return the past of a node after espl__placement_reattach(), in `room`; NULL without motion.
/// @param now  its placement after it. The forest has the one before.
const espl__past *espl__past_reattached(const espl__forest *forest, uint32_t slot,
                                        espl__keep_rules stay, uint32_t flags,
                                        const espl__placement *now, espl__past *room);
/// Give a node a past after a change that stored its placement. NULL: none, without motion.
void espl__motion_set_past(espl__forest *forest, uint32_t slot, const espl__past *past);

// --- Writes. Precondition: motion runs ---

/// Tell whether a placement has another local or other kept parts than a node. Out of line, because
/// few writes ask.
bool espl__motion_displaces(const espl__forest *forest, uint32_t slot,
                            const espl__placement *placement);
/// Give a node the past that it was always where it is, unless it is new.
void espl__motion_teleport(espl__forest *forest, uint32_t slot);
/// Move the past of a node as a write moved the node: after * inverse(before) * past, in the axes of the
/// parent, and kept parts in those of the world. Where a scale of 0, or the range of floats, hides the
/// result: espl__motion_teleport(). No effect on a new node.
/// @param before  its placement before the write. The past is that from before the write.
void espl__motion_carry(espl__forest *forest, uint32_t slot, const espl__placement *before);
/// Set the previous local by ESPL_WRITE_PREVIOUS_LOCAL_POSE or ESPL_WRITE_PREVIOUS_WORLD_POSE; a new node
/// gets it for all of its past.
/// @param pose  that espl__write_check() accepted.
/// @return as espl__placement_write().
espl_status espl__motion_set_previous(espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                      const espl_pose *pose);

// --- Ticks ---

/// Open the arrays of motion: the past of each node is where it is, and its shown world is its world. All
/// memory comes first. @param history  ticks that are kept: 1 or 2. @return false: nothing changed.
bool espl__motion_open(espl__forest *forest, uint32_t history);
/// Close them.
void espl__motion_close(espl__forest *forest);
/// Make the present locals the previous ones, where own data changed since the last call: O(changes) and a
/// pass over the blocks. The caller goes to the next moment after it.
void espl__motion_roll(espl__forest *forest);

/// Return the first invariant of motion that does not hold, or NULL. O(slots).
const char *espl__motion_broken_rule(const espl__forest *forest, uint32_t *slot);

#endif

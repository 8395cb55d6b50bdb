// SPDX-License-Identifier: MIT
// Marks of changes: which slots changed, in the planes of espl__forest.tracks. Each function that
// stores something of a node calls one of these after it. The change of worlds is marked by worlds.h
// alone. Marks allocate nothing and cannot fail; several jobs may mark different slots at a time.
//
// Own data has two forms of marks, because motion tells writes from structure. A write outside a tick
// is shown as it is: the previous local becomes the local. An edit of links sets the previous local by
// rules of its own.
//
// An undo marks nothing that it restores bit for bit. What it restored may be marked, so that a
// consumer may learn of a change that was undone.
#ifndef ESPALIER_LIB_TREE_CHANGES_H
#define ESPALIER_LIB_TREE_CHANGES_H

#include "lib/tree/forest.h"

/// Tell whether motion runs.
static inline bool espl__forest_has_motion(const espl__forest *forest)
{
    return espl__tracks_have_motion(&forest->tracks);
}

/// Tell whether a write outside a tick ends the blend of its node: motion runs, and no tick is under way.
static inline bool espl__forest_shows_writes(const espl__forest *forest)
{
    return espl__forest_has_motion(forest) && !forest->tracks.is_ticking;
}

// --- Marks. Precondition: espl__forest_is_tracked() ---

/// Mark own data that a write stored. Outside a tick, the previous local becomes the local.
void espl__mark_written(espl__forest *forest, uint32_t slot);
/// The same, and mark the world that was stored with it. Precondition: the plane of own data or motion is there.
/// @return ESPL_OK, so that the call may end a write.
espl_status espl__mark_node_written(espl__forest *forest, uint32_t slot);
/// Mark own data that an edit of links stored: local, flags, parent, place among siblings. Also that of a write
/// which leaves local and kept parts as they are.
void espl__mark_edited(espl__forest *forest, uint32_t slot);
/// Mark that a node gets another parent or another place among its siblings, which is own data. Its neighbours
/// before and after it are not marked: who compares both states finds them by the links of this node.
void espl__mark_linked(espl__forest *forest, uint32_t slot);
/// Mark that a node was made in a slot, with its own data and its world. It has no previous local.
void espl__mark_made(espl__forest *forest, uint32_t slot);
/// Mark a free range that was listed. For a follower, its last slot has no links to other ranges.
void espl__mark_listed(espl__forest *forest, uint32_t base, uint32_t count);
/// Mark a free range that was unlisted.
void espl__mark_unlisted(const espl__forest *forest, uint32_t base, uint32_t count);
/// Mark that a node is shown at its world until the next present, because it was made or got a transform.
/// Precondition: motion runs.
void espl__mark_unshown(espl__forest *forest, uint32_t slot);
/// Mark that another entity has the node of a slot.
static inline void espl__mark_renamed(const espl__forest *forest, uint32_t slot)
{
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
}
/// Mark the world of a slot, where only its stretch or user data changed: worlds.h marks poses.
void espl__mark_world(espl__forest *forest, uint32_t slot);

/// Tell whether a node was made, or got its transform, since the last present. Without motion: false.
static inline bool espl__is_unshown(const espl__forest *forest, uint32_t slot)
{
    return espl__forest_has_motion(forest) && forest->tracks.is_unshown[slot];
}
/// Restore what espl__is_unshown() returned. Without motion no effect.
static inline void espl__set_unshown(const espl__forest *forest, uint32_t slot, bool is_unshown)
{
    if (espl__forest_has_motion(forest)) {
        forest->tracks.is_unshown[slot] = is_unshown;
    }
}

// --- The same, where the forest may have no consumer ---

/// Give the node of a slot another entity.
static inline void espl__node_rename(espl__forest *forest, uint32_t slot, uint32_t entity)
{
    forest->links[slot].entity = entity;
    espl__probe_node(&forest->columns, slot, entity);
    if (espl__forest_is_tracked(forest)) {
        espl__mark_renamed(forest, slot);
    }
}

ESPL__INLINE void espl__note_written(espl__forest *forest, uint32_t slot)
{
    if ((forest->modes & ESPL__MODE_OWN) != 0) {
        espl__mark_written(forest, slot);
    }
}

ESPL__INLINE void espl__note_edited(espl__forest *forest, uint32_t slot)
{
    if ((forest->modes & ESPL__MODE_OWN) != 0) {
        espl__mark_edited(forest, slot);
    }
}

ESPL__INLINE void espl__note_linked(espl__forest *forest, uint32_t slot)
{
    if (espl__forest_is_tracked(forest)) {
        espl__mark_linked(forest, slot);
    }
}

ESPL__INLINE void espl__note_made(espl__forest *forest, uint32_t slot)
{
    if (espl__forest_is_tracked(forest)) {
        espl__mark_made(forest, slot);
    }
}

// --- Consumers ---

/// Open a plane, or an array of poses, for the slots of a forest: nothing changed yet. A plane that is
/// open stays as it is. Several consumers share it; the layer above counts them.
/// @return false: no memory, nothing changed.
bool espl__plane_open(espl__forest *forest, int plane);
bool espl__poses_open(espl__forest *forest, int poses);
/// Give an empty forest cells of a size, which it keeps. @return false: no memory, nothing changed.
bool espl__cells_open(espl__forest *forest, float cell_size);
/// Close a plane, or an array of poses, that no consumer needs any more.
void espl__plane_close(espl__forest *forest, int plane);
void espl__poses_close(espl__forest *forest, int poses);
/// Return the present moment: marks have it. It is the low 32 bits of the world's.
static inline uint32_t espl__forest_moment(const espl__forest *forest)
{
    return forest->tracks.planes[0].moment;
}
/// Set the moment of all planes, after each is clamped where that is due. The moments that motion looks back
/// to stay in the range that planes tell apart.
void espl__forest_set_moment(espl__forest *forest, uint64_t moment);

#endif

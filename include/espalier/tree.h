// SPDX-License-Identifier: MIT
/// @file
/// Structure: parents and children, the three destroys, clones, navigation.
///
/// Every call here that changes structure is complete when it returns: links, roles and world
/// transforms are current. Statuses of handles, in every call: ESPL_ERR_NULL_ENTITY, ESPL_ERR_DEAD,
/// ESPL_ERR_FOREIGN, ESPL_ERR_PENDING. Structural calls answer ESPL_ERR_BUSY during iteration and
/// playback.
///
/// Thread rule: as for the world. Structural calls, espl_subtree_begin(), espl_subtree_next() and
/// espl_subtree_end() are changes of it; all other calls only read, on any number of threads while none
/// changes the world.
#ifndef ESPALIER_TREE_H
#define ESPALIER_TREE_H

#include <espalier/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which side of a transform stays when the parent changes.
typedef enum espl_keep {
    ESPL_KEEP_WORLD = 0, ///< The world part stays (to rounding); the local follows from it.
    ESPL_KEEP_LOCAL = 1, ///< The local part stays bit for bit; the world follows from it.
    ESPL_SNAP = 2,       ///< Snap to the parent: position 0, rotation identity, scale 1.
} espl_keep;

/// Lifetime tie between a child and its parent.
typedef enum espl_link {
    ESPL_LINK_OWNED = 0, ///< Destroyed and cloned with the parent.
    ESPL_LINK_FREE = 1,  ///< Moves with the parent, but outlives it.
} espl_link;

/// How to attach. {0}: keep world, inherit everything, owned, last sibling. Grows into `reserved`.
typedef struct espl_attach_options {
    espl_keep position;
    espl_keep rotation;
    espl_keep scale;
    espl_link link;
    /// Child of the new parent that the child comes before; null: last. Under the same parent null
    /// keeps the sibling position.
    espl_entity before;
    /// Inherit flags under the parent (espalier/transform.h): ESPL_ABSOLUTE_ flags, or ESPL_COPY_PARENT,
    /// which snaps at once and leaves the other rules unread. 0: inherit everything.
    uint32_t inherit;
    uintptr_t reserved[2]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_attach_options;

/// Make an entity, with all that is below it, a child of another one. Structural.
///
/// Under the parent it already has, only what the options change is changed. Within a hierarchy a world part
/// that stays gives the local that espl_get_relative_transform() reads before the attach, if the nearest
/// common ancestor of both is at most 64 links above each and that local keeps the world to rounding. So it is
/// as precise far from the origin as near it. Elsewhere the local follows from both worlds.
/// @param options  NULL means {0}.
/// @return ESPL_OK; ESPL_LOSSY (a world part that was to stay is another one, by more than rounding: under
///         a scale or stretch of zero, or because the local underflows; of a child without a transform,
///         that of an entity below it, which then has the nearest local that is finite); ESPL_OVERFLOW (a
///         world that was recomputed is not finite); ESPL_ERR_CYCLE;
///         ESPL_ERR_NOT_CHILD (before); ESPL_ERR_ARGUMENT (an enum or inherit flags out of range);
///         ESPL_ERR_NO_TRANSFORM (inherit flags for a child without a transform);
///         ESPL_ERR_RANGE (the local that keeps the world would not be finite, or would not lead to it);
///         ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY; the handles' statuses.
/// O(depth and size of what moves). Now and then O(size of the hierarchies touched): where storage
/// grows, or layout debt is paid (espl_world_def.layout_budget). Where no role changes and the new
/// hierarchy has room it needs no memory, with exceptions that espalier_tree(3) lists.
ESPL_API ESPL_NODISCARD espl_status espl_attach(espl_world *world, espl_entity child,
                                                espl_entity parent,
                                                const espl_attach_options *options);

/// Make a member, with all that is below it, a root (or solo). On a root or solo it does nothing.
/// Structural. The link kind and the inherit flags are dropped.
///
/// @param keep  ESPL_KEEP_WORLD: the world stays bit for bit, except that a rotation off unit length
///              (by more than 4e-7) is normalised; ESPL_KEEP_LOCAL: the local becomes the world;
///              ESPL_SNAP: the identity transform, but for the entity's own stretch and user data.
/// Statuses as espl_attach().
ESPL_API ESPL_NODISCARD espl_status espl_detach(espl_world *world, espl_entity entity,
                                                espl_keep keep);

/// Move a member to another place among its siblings. Nothing else changes. Structural.
///
/// @param before  Sibling that the entity comes before; null: last.
/// @return ESPL_OK, ESPL_ERR_NOT_CHILD (the entity is a root or solo, or `before` is no sibling of
///         it), the handles' statuses, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_move_before(espl_world *world, espl_entity entity,
                                                     espl_entity before);

/// Which entities below an entity a call includes. 0 is the usual one.
typedef enum espl_extent {
    ESPL_EXTENT_OWNED = 0,   ///< The entity, and every descendant reached through owned links only.
    ESPL_EXTENT_ENTITY = 1,  ///< The entity alone.
    ESPL_EXTENT_SUBTREE = 2, ///< The entity and everything below it.
} espl_extent;

/// Destroy an entity, and what the extent says below it. Structural.
///
/// ESPL_EXTENT_OWNED is the usual one: the entity and every descendant reached through owned links
/// only. Survivors below a destroyed member become children of the nearest living ancestor, at the
/// sibling position of the destroyed entity; below a destroyed root they become roots or solos. Their
/// worlds stay where they are, to rounding, except that a survivor with ESPL_COPY_PARENT copies its new
/// parent. A survivor whose world no local gives gets the nearest local that is finite. Never fails for
/// lack of memory: without it, survivors of a root get their roles at once, and the components of these roles,
/// which queries find, when a later attach, detach, destroy, change of components, playback or sync finds the
/// memory.
/// @return ESPL_OK; ESPL_LOSSY (a survivor could not stay where it was); ESPL_OVERFLOW; ESPL_ERR_ARGUMENT
///         (extent); ESPL_ERR_BUSY; the handle's statuses.
ESPL_API ESPL_NODISCARD espl_status espl_destroy(espl_world *world, espl_entity entity,
                                                 espl_extent extent);

/// Let queries skip an entity, or find it again: give ESPL_DISABLED to each entity of the extent, or take it
/// away. Structural. An entity that has it already keeps it; disables are not counted. Transforms propagate as
/// before.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (extent), the handle's statuses, ESPL_ERR_LIMIT,
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_set_enabled(espl_world *world, espl_entity entity,
                                                     espl_extent extent, bool enabled);
/// Tell whether a living entity is not disabled; false for any other handle.
ESPL_API bool espl_is_enabled(const espl_world *world, espl_entity entity);

/// Attach many entities, each to a parent of its own, by the same options: as espl_attach() of one
/// after the other, in the order of the arrays. Structural. All or nothing.
///
/// @param children  [count] any order; an entity may be named again. May be memory of the world, a
///                  chunk's for example.
/// @param parents   [count] the parent of each child. The same memory is allowed.
/// @param count     0 does nothing.
/// @param options   NULL means {0}. Several children before one sibling are in the order of the array.
/// @param refused   NULL, or out: where the call is refused for one entity, the index of the first;
///                  else unchanged.
/// @return as espl_attach(): ESPL_OVERFLOW where a world that was recomputed is not finite after the last
///         one, or else ESPL_LOSSY, where it is the answer for one of them.
///         Also ESPL_ERR_LIMIT (count); ESPL_ERR_EXECUTOR, as espl_play().
ESPL_API ESPL_NODISCARD espl_status espl_attach_many(espl_world *world, const espl_entity *children,
                                                     const espl_entity *parents, size_t count,
                                                     const espl_attach_options *options,
                                                     size_t *refused);

/// Destroy many entities, each with its extent, one after the other, as by espl_destroy(). Structural.
/// All or nothing.
///
/// All must be alive when the call begins. An entity may be named again, or be destroyed with an
/// earlier one: the call skips it.
/// @param entities  [count] may be memory of the world, a chunk's for example.
/// @param count     0 does nothing.
/// @param refused   NULL, or out: where the call is refused for one entity, the index of the first;
///                  else unchanged.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW, ESPL_ERR_ARGUMENT (extent), ESPL_ERR_BUSY, the handle's
///         statuses; never ESPL_ERR_NO_MEMORY. O(descendants).
ESPL_API ESPL_NODISCARD espl_status espl_destroy_many(espl_world *world,
                                                      const espl_entity *entities, size_t count,
                                                      espl_extent extent, size_t *refused);

/// Place of an entity in the world's structure.
typedef enum espl_role {
    ESPL_ROLE_NONE = 0, ///< Not a living entity of this world.
    ESPL_ROLE_SOLO = 1,
    ESPL_ROLE_ROOT = 2,
    ESPL_ROLE_MEMBER = 3,
} espl_role;

/// Rank or depth where there is none.
#define ESPL_NO_RANK UINT32_MAX

// Navigation. For a handle that names no living entity of this world: ESPL_ROLE_NONE, null,
// ESPL_NO_RANK or 0. Reads only.

/// Tell the role.
ESPL_API espl_role espl_get_role(const espl_world *world, espl_entity entity);
/// Return the parent; null for a root or solo.
ESPL_API espl_entity espl_get_parent(const espl_world *world, espl_entity entity);
/// Return the top of the hierarchy; the entity itself for a root or solo. O(depth).
ESPL_API espl_entity espl_get_root(const espl_world *world, espl_entity entity);
/// Return the lifetime tie to the parent; ESPL_LINK_OWNED for a root or solo.
ESPL_API espl_link espl_get_link(const espl_world *world, espl_entity entity);
/// Return the number of links below the root. O(depth).
ESPL_API uint32_t espl_get_depth(const espl_world *world, espl_entity entity);
/// Return the first child, or null.
ESPL_API espl_entity espl_get_first_child(const espl_world *world, espl_entity entity);
/// Return the last child, or null.
ESPL_API espl_entity espl_get_last_child(const espl_world *world, espl_entity entity);
/// Return the previous sibling under the same parent, or null.
ESPL_API espl_entity espl_get_previous_sibling(const espl_world *world, espl_entity entity);
/// Return the next sibling under the same parent, or null.
ESPL_API espl_entity espl_get_next_sibling(const espl_world *world, espl_entity entity);
/// Copy the children into an array, in their order; with a capacity of 0, count them. O(children); a
/// count that copies nothing is O(1) where the hierarchy is laid out.
/// @param capacity  Room in the array; with less than is needed nothing is written.
/// @param out       [capacity] NULL only with a capacity of 0.
/// @return how many there are; 0 for a handle that names no living entity.
ESPL_API size_t espl_get_children(const espl_world *world, espl_entity entity, size_t capacity,
                                  espl_entity *out);
/// Tell whether the first entity is above the second one. O(depth).
ESPL_API bool espl_is_ancestor(const espl_world *world, espl_entity ancestor, espl_entity entity);

/// Iteration over an entity and everything below it, without memory.
///
///     espl_subtree below;
///     status = espl_subtree_begin(world, top, &below);
///     while (espl_subtree_next(&below)) { ... below.entity, below.rank ... }
///
/// Depth-first: parents before their children, siblings in their order. The world is in iteration
/// from begin until next returns false or espl_subtree_end(). Of copies the rule of espl_query holds:
/// one of them ends the iteration, and the others then trap. Never grows.
typedef struct espl_subtree {
    espl_entity entity; ///< The current one.
    /// Its position in the storage of the hierarchy: 0 for the root; that of a parent is below those of
    /// its children. It is the breadth-first rank where the hierarchy is laid out, as
    /// espl_view_hierarchy() and espl_compact() leave it.
    uint32_t rank;
    struct {
        espl_world *world;
        uint32_t top, current; // slots; current is UINT32_MAX before the first entity
        uint32_t noted, turn;  // entry of the iteration in the world, and whose turn it is
    } state;                   ///< Not for use.
} espl_subtree;

/// Begin before the first entity, `top` itself. Iterations nest.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT, the handle's statuses.
ESPL_API ESPL_NODISCARD espl_status espl_subtree_begin(espl_world *world, espl_entity top,
                                                       espl_subtree *subtree);
/// Go to the next entity; false at the end, where the iteration is over. A whole iteration follows
/// each link twice at most.
ESPL_API bool espl_subtree_next(espl_subtree *subtree);
/// End an iteration early. After the end it does nothing; a copy of one that has ended traps.
ESPL_API void espl_subtree_end(espl_subtree *subtree);

/// Where espl_copy_subtree() writes. Grows into `reserved`.
typedef struct espl_subtree_arrays {
    espl_entity *entities; ///< [capacity] Not NULL, but for a capacity of 0.
    uint32_t *parents; ///< [capacity] position of the parent; ESPL_NO_RANK for the top. Or NULL.
    uint32_t *depths;  ///< [capacity] links below the top. Or NULL.
    espl_transform *locals; ///< [capacity] as espl_get_local_transform() reads them. Or NULL.
    espl_transform *worlds; ///< [capacity] Or NULL.
    /// [capacity] the pose below the top, composed from the locals between both, with the identity for the pose
    /// of the top; stretch and user data are the entity's own. So the bits do not depend on where the top is,
    /// but for an entity with inherit flags that keep a part of its world. Or NULL.
    espl_transform *models;
    uintptr_t reserved[3]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_subtree_arrays;

/// Copy an entity and what is below it into arrays, breadth-first, siblings in their order.
///
/// An entity without a transform shows the identity for its local, and its parent's world.
/// @param capacity  Room in each array; with less than is needed nothing is written.
/// @param out       NULL only with a capacity of 0.
/// @return how many there are; 0 for a handle that names no living entity. O(subtree).
ESPL_API size_t espl_copy_subtree(const espl_world *world, espl_entity top, espl_extent extent,
                                  size_t capacity, const espl_subtree_arrays *out);

/// A whole hierarchy as it is in memory, breadth-first, for code that reads it in order.
///
/// Rank r is at slot first + r: its world transform is world_poses[first + r]. Valid until the next
/// structural call. Grows into `reserved`.
typedef struct espl_view {
    size_t count;            ///< Entities, the root first.
    uint32_t first;          ///< Slot of the root; rank r is at slot first + r.
    const uint32_t *parents; ///< [count] slot of the parent, by rank; ESPL_NO_RANK for the root.
    /// By slot: relative to the middle of the cell of the hierarchy (espalier/far.h), which is the origin of a
    /// world without cells.
    const espl_pose *world_poses;
    struct {
        const espl_world *world;
    } state; ///< Not for use.
    /// By slot as world_poses: the shown worlds of espalier/motion.h; world_poses where motion does not run.
    /// An entity that was made, or got its transform, since the last espl_present() has its world of the time
    /// of this call: after a write, view again. That call then stores in the array, so no thread reads it at
    /// that time.
    const espl_pose *shown_poses;
    uintptr_t reserved[4]; ///< 0 (GROWTH in espalier(3)).
} espl_view;

/// Return the rank of the parent of a rank below view->count, which is lower; ESPL_NO_RANK for the
/// root.
static inline uint32_t espl_view_parent(const espl_view *view, size_t rank)
{
    return view->parents[rank] == ESPL_NO_RANK ? ESPL_NO_RANK : view->parents[rank] - view->first;
}

/// Lay out the hierarchy of an entity where it is not in breadth-first order, and view it. The layout
/// changes the world: it is structural and O(size), and moves the nodes to other slots. Where the
/// hierarchy is laid out the call only reads.
/// @return ESPL_OK, the handle's statuses, ESPL_ERR_ARGUMENT; of the layout ESPL_ERR_NO_MEMORY,
///         ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_view_hierarchy(espl_world *world, espl_entity entity,
                                                        espl_view *out);
/// Return the entity at a rank; null past the last.
ESPL_API espl_entity espl_view_entity(const espl_view *view, size_t rank);

#ifdef __cplusplus
}
#endif

#endif

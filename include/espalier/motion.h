// SPDX-License-Identifier: MIT
/// @file
/// Motion: a simulation that steps at a fixed rate, drawn smoothly at any rate.
///
/// The transforms of the world are those of the simulation. What is drawn is derived from them: each node
/// keeps its local transform from when the current tick began, its previous local, and espl_present() computes
/// the shown worlds, composed from locals that are blended between the previous and the present ones. A shown
/// world is in an array of its own, so that the simulation never reads a value that depends on the frame rate,
/// and a write never meets a blend. After espl_motion_start(), which is called once, a frame is:
///
///     while (lag >= step) {
///         espl_tick_begin(world);
///         simulate(world, step);
///         espl_tick_end(world);
///         lag -= step;
///     }
///     look_around(world);                   // writes that belong to this frame alone
///     espl_present(world, lag / step, NULL);
///
/// Which writes are blended:
///
/// - A write between espl_tick_begin() and espl_tick_end() is blended.
/// - A write outside a tick is shown as it is: the previous local becomes the local. One that leaves the local
///   bit-equal, such as a write of stretch or user data, leaves the previous local too.
/// - A write with ESPL_TELEPORT is shown as it is, and one with ESPL_CARRY moves the previous local as it moves
///   the local, so that the velocity stays (espalier/write.h).
/// - An entity that was made since the tick began has no previous local until the next one begins, whatever is
///   written to it. It is shown where it is.
///
/// A change of the structure is no motion, in a tick and outside. An entity that keeps its world at an attach,
/// a detach, the destruction of its parent or a change of inherit flags keeps its previous world as well: its
/// previous local is computed relative to the previous world of the new parent. One that keeps its local keeps
/// its previous local, and a part that snaps is shown where it is. Where a previous local cannot be computed
/// exactly, because a scale is 0 or a number leaves the range of floats, the entity is shown where it is. What
/// moves no entity, such as the order of siblings, compaction and disabling, leaves the previous local as it is.
///
/// Stretch and user data are not blended: they take their value at once. The world parts that inherit flags keep
/// (ESPL_ABSOLUTE_...) have previous values as locals have them.
///
/// Thread rule: these functions change the world, as writes do. But for start and stop, they may be called
/// while a query is open and in the function of a custom command, whose playback has made all of its changes.
/// ESPL_ERR_BUSY is returned in jobs of the world: those of a playback, of a batch and of a parallel write.
#ifndef ESPALIER_MOTION_H
#define ESPALIER_MOTION_H

#include <espalier/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How motion runs. {0} is a good default. Grows into `reserved`.
typedef struct espl_motion_def {
    /// Ticks whose locals are kept. 0 and 1: the previous local. 2: that of the tick before it too, so that
    /// ESPL_READ_BEFORE_LOCAL_POSE and ESPL_READ_BEFORE_WORLD_POSE (espalier/read.h) tell the velocity of the
    /// last tick beside that of the current one.
    uint32_t history;
    uintptr_t reserved[8]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_motion_def;

/// Start motion: the previous local of each entity is its local, and its shown world is its world. No tick is
/// under way. Without it the other calls of this header are refused with ESPL_ERR_ARGUMENT, except
/// espl_get_shown_matrix(). A history of the world (espalier/history.h) has no frame afterwards. Structural.
///
/// It takes 67 bytes for each node of a hierarchy, 99 with a history of 2, and 32 or 64 more for each node of a
/// hierarchy in which a member has inherit flags.
///
/// @param def  NULL means {0}.
/// @return ESPL_OK; refused, and nothing changed: ESPL_ERR_ARGUMENT (world is NULL, or history is above 2),
///         ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0), ESPL_ERR_EXISTS (motion runs),
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY, also while a query is open. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_motion_start(espl_world *world,
                                                      const espl_motion_def *def);

/// Stop motion, inside a tick too, and free its memory. A history of the world (espalier/history.h) has no frame
/// afterwards. Structural.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (world is NULL, or motion does not run), ESPL_ERR_BUSY, also while a
///         query is open. O(size of the hierarchies with inherit flags).
ESPL_API ESPL_NODISCARD espl_status espl_motion_stop(espl_world *world);

/// Begin a tick: the local of each entity becomes its previous local. A tick that is under way ends.
///
/// O(entities that were written since the last tick began), and a pass over four bytes for each 64 nodes. Takes
/// no memory. Queries may be open, because it moves no entity.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (world is NULL, or motion does not run), ESPL_ERR_BUSY.
ESPL_API espl_status espl_tick_begin(espl_world *world);

/// End a tick: later writes are shown as they are. Without a tick under way it has no effect. O(1).
/// @return as espl_tick_begin().
ESPL_API espl_status espl_tick_end(espl_world *world);

/// What espl_present() did. Grows into `reserved`. The two counts say how much work it was: they depend also on
/// what was presented before and on the layout. No other result does.
typedef struct espl_present_report {
    size_t blended;        ///< nodes that were blended, or taken as they are because of a change
    size_t visited;        ///< shown worlds that were computed; perhaps more than there are nodes
    bool has_overflowed;   ///< a shown world of the world is not finite, visited or not
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_present_report;

/// Compute the shown worlds at a time between the begin of the last tick (0) and its end (1). Above 1 they are
/// extrapolated. At 1 each shown world is the world, bit for bit; so it is at any time for an entity at rest
/// below ancestors at rest. The bits depend on the world and on `at` alone.
///
/// @param report  out: what was done; NULL is allowed.
/// @return ESPL_OK; ESPL_OVERFLOW: a shown world is not finite, at each call while there is one; refused, and
///         the shown worlds stay: ESPL_ERR_ARGUMENT (world is NULL, or motion does not run),
///         ESPL_ERR_NOT_FINITE (at), ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY. O(nodes that moved, and those below
///         them), and O(size of the world) while a shown world is not finite.
ESPL_API espl_status espl_present(espl_world *world, float at, espl_present_report *report);

/// Read the shown world transform as a matrix: espl_get_matrix() of what is drawn. Without motion it is the
/// world transform. The other forms to read it are the kinds of ESPL_READ_SHOWN_ (espalier/read.h), and
/// espl_view.shown_poses. Any number of threads may call it while none changes the world.
///
/// @param out  12 or 16 numbers, as the form has them.
/// @return as espl_get_matrix().
ESPL_API espl_status espl_get_shown_matrix(const espl_world *world, espl_entity entity,
                                           espl_matrix_form form, float *out);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: MIT
/// @file
/// Histories: a world goes back to frames that were marked, and goes on from there to the same bits.
///
/// A program marks a frame when it wants to be able to go back to it, and the history keeps what changed
/// between two marks. A rewind makes the world what it was at a mark: the same calls come to the same bits,
/// handles and order of queries as they did the first time. Handles that lived then live again.
///
/// What a rewind brings back, and what it leaves:
///
/// - Entities with their generations and the free indices in their order, rows with the values of their
///   components, names, hierarchies with locals and worlds, the parts that inherit flags keep, and with motion
///   (espalier/motion.h) the previous locals and whether a tick is under way.
/// - Components and custom commands stay registered. Values of a component with ESPL_COMPONENT_TRANSIENT are no
///   part of a frame: a rewind leaves them alone in rows that stay, and rows that it makes or moves have zeros.
/// - What a world was created with, command buffers, watches and statistics stay as they are. A command buffer
///   that was recorded before a rewind may be played after it; its handles are judged then.
///
/// A watch finds the difference between the two states after a rewind. Columns that changed count as written.
/// With motion, an entity in whose slot another one was is shown where it is until the next present.
///
/// espl_compact(), espl_image_load(), espl_motion_start() and espl_motion_stop() empty a history: no frame can
/// be gone back to until the next mark.
///
/// A history has memory from the begin, and takes more where the world itself does: in calls that return
/// ESPL_ERR_NO_MEMORY. No write fails because of it, and marks and rewinds take none. It keeps a second copy of
/// everything but worlds, `byte_limit` bytes of what changed, and blocks that the world has freed since the
/// oldest frame.
///
/// A world without a history pays nothing for it.
///
/// Thread rule: all but espl_history_range() and espl_history_hash() are changes of the world, and structural:
/// addresses of values and views end with them.
#ifndef ESPALIER_HISTORY_H
#define ESPALIER_HISTORY_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espl_world espl_world;
/// The frames of a world that can be gone back to.
typedef struct espl_history espl_history;

/// Flags of a history.
enum {
    ESPL_HISTORY_HASH = 1, ///< keep a checksum of each frame: espl_history_hash()
};

/// How to make a history. Grows into `reserved`.
typedef struct espl_history_def {
    uint32_t frames;       ///< marked frames that can be gone back to at most; 0 means 8
    uint32_t flags;        ///< ESPL_HISTORY_ bits
    size_t byte_limit;     ///< bytes for what changed between the frames; 0 means 16 MiB
    uintptr_t reserved[6]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_history_def;

/// Make the history of a world, without a frame. A world has one at most, and cannot be destroyed before it.
///
/// @param def  NULL means {0}; not kept.
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL; an unknown flag; more than 65,536 frames); ESPL_ERR_UNSUPPORTED (a
///         word of `reserved` is not 0); ESPL_ERR_EXISTS: the world has a history; ESPL_ERR_NO_MEMORY;
///         ESPL_ERR_BUSY. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_history_create(espl_world *world,
                                                        const espl_history_def *def,
                                                        espl_history **out);

/// Destroy a history. NULL is allowed. Not while a query is open, commands are applied or in a job, where it
/// does nothing, logs (ESPL_LOG_ERROR), and traps in checked builds.
ESPL_API void espl_history_destroy(espl_history *history);

/// Mark a frame: the world as it is now. Takes no memory.
///
/// The oldest frames are dropped where there are more than `frames`, or where `byte_limit` bytes do not have
/// what changed since them.
///
/// @param frame  any number above that of the newest frame.
/// @return ESPL_OK; ESPL_ERR_LIMIT: what changed since the newest frame alone is more than `byte_limit`. The
///         frame is marked, and is the only one. Nothing is marked: ESPL_ERR_ARGUMENT (NULL, or not above the
///         newest frame); ESPL_ERR_BUSY. O(what changed since the last mark + size / 64).
ESPL_API ESPL_NODISCARD espl_status espl_history_mark(espl_history *history, uint64_t frame);

/// How a rewind is done.
enum {
    /// Indices that were taken since the frame get a generation that no handle had. So no handle that was
    /// obtained since then names a later entity; and the same calls do not come to the same handles any more.
    ESPL_REWIND_FRESH = 1,
};

/// What a rewind did. The arrays are memory of the history, until its next mark or rewind, or its end. Grows
/// into `reserved`.
typedef struct espl_rewind {
    const espl_entity *unborn;  ///< handles that lived before the rewind and do not now, ascending by index
    const espl_entity *revived; ///< handles that live now and did not before, ascending by index
    size_t unborn_count, revived_count;
    uintptr_t reserved[6]; ///< 0 (GROWTH in espalier(3)).
} espl_rewind;

/// Make the world what it was when a frame was marked. That frame is the newest one afterwards: later ones are
/// forgotten. Takes no memory. espl_world_timeline() counts it.
///
/// @param flags   ESPL_REWIND_ bits.
/// @param report  out: unchanged when refused; may be NULL.
/// @return ESPL_OK; refused, and the world is as it was: ESPL_ERR_ARGUMENT (NULL, or an unknown flag);
///         ESPL_ERR_TOO_OLD: the frame was never marked, was dropped, or was forgotten by an earlier rewind;
///         ESPL_ERR_BUSY. O(what changed since the frame + size / 64).
ESPL_API ESPL_NODISCARD espl_status espl_history_rewind(espl_history *history, uint64_t frame,
                                                        uint32_t flags, espl_rewind *report);

/// Return the frames that can be gone back to: all that were marked from the oldest to the newest one.
/// @param oldest  out: unchanged where there is none; may be NULL. @param newest  likewise.
/// @return false: there is none, or the history is NULL.
ESPL_API bool espl_history_range(const espl_history *history, uint64_t *oldest, uint64_t *newest);

/// Return the checksum of a frame: equal for two worlds whose future is the same. It depends neither on the
/// history of the world, nor on the number of workers. It is no guard against a manipulation.
///
/// It covers what ESPL_HASH_PHYSICAL covers (espl_hash()), but not the worlds, which follow from the
/// rest, nor values of components with ESPL_COMPONENT_TRANSIENT.
///
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_UNSUPPORTED: the history was created without
///         ESPL_HISTORY_HASH; ESPL_ERR_TOO_OLD as espl_history_rewind() does. O(log(frames)).
ESPL_API ESPL_NODISCARD espl_status espl_history_hash(const espl_history *history, uint64_t frame,
                                                      uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif

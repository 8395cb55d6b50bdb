// SPDX-License-Identifier: MIT
/// @file
/// Histories: a world goes back to frames that were marked, and goes on from there to the same bits.
///
/// A mark keeps the state of the world as a frame, and the history has what changed between two frames. A
/// rewind makes the world what it was at a mark: the same calls come to the same bits, handles and order of
/// queries as they did the first time. Handles that lived at the mark live again.
///
/// What a rewind restores, and what it does not change:
///
/// - Entities with their generations and the free indices in their order, rows with the values of their
///   components, names, hierarchies with locals and worlds, the parts that inherit flags keep, and with motion
///   (espalier/motion.h) the previous locals and whether a tick is under way.
/// - Components and custom commands stay registered. Values of a component with ESPL_COMPONENT_TRANSIENT are no
///   part of a frame: a rewind does not change them in rows that stay, and rows that it makes or moves have
///   zeros.
/// - The definition of the world (espl_world_def), command buffers, watches and statistics stay as they are. A
///   command buffer that was recorded before a rewind may be played after it; the playback looks its handles
///   up.
///
/// A watch finds the difference between the two states after a rewind. Columns that changed count as written.
/// With motion, an entity whose slot had another entity before the rewind is shown at its world transform until
/// the next present.
///
/// espl_compact(), espl_image_load(), espl_motion_start() and espl_motion_stop() empty a history: every rewind
/// is refused until the next mark.
///
/// A history takes memory when it is created, and when the world grows: in calls that return
/// ESPL_ERR_NO_MEMORY. No write fails because of a history, and marks and rewinds take no memory. A history has
/// a second copy of the world without world transforms, a log of `byte_limit` bytes of what changed, and the
/// blocks that the world has freed since the oldest frame.
///
/// A world without a history has no cost for it.
///
/// Thread rule: espl_history_range() and espl_history_hash() are reads of the world. All other functions are
/// changes of the world, and structural: addresses of values and views end with them.
#ifndef ESPALIER_HISTORY_H
#define ESPALIER_HISTORY_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espl_world espl_world;
/// The frames of a world to which a rewind can go back.
typedef struct espl_history espl_history;

/// Flags of a history.
enum {
    ESPL_HISTORY_HASH = 1, ///< keep a checksum of each frame: espl_history_hash()
};

/// How to make a history. Grows into `reserved`.
typedef struct espl_history_def {
    uint32_t frames;       ///< upper bound of the frames that are kept, at most 65,536; 0 means 8
    uint32_t flags;        ///< ESPL_HISTORY_ bits
    size_t byte_limit;     ///< bytes for what changed between the frames; 0 means 16 MiB
    uintptr_t reserved[6]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_history_def;

/// Make the history of a world, without a frame. A world has one at most. Destroy the history before the world.
///
/// @param def  NULL means {0}; read during the call alone.
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
/// The oldest frames are dropped where there are more than `frames`, or where what changed since them takes
/// more than `byte_limit` bytes.
///
/// @param frame  any number above that of the newest frame.
/// @return ESPL_OK; ESPL_PARTLY: the frame is marked and is the only one, because what changed since the
///         newest frame alone takes more than `byte_limit` bytes; refused, and nothing changed:
///         ESPL_ERR_ARGUMENT (NULL, or not above the newest frame); ESPL_ERR_BUSY. O(what changed since the
///         last mark + size / 4096).
ESPL_API ESPL_NODISCARD espl_status espl_history_mark(espl_history *history, uint64_t frame);

/// How a rewind is done.
enum {
    /// Indices that were given to entities since the frame get a generation that no handle had; those of
    /// entities that are revived get it when these are destroyed. So no handle of an entity that was made
    /// since the frame names a later entity, however many such rewinds follow, and the same calls come to
    /// other handles. A rewind without this flag brings back the generations of its frame.
    ESPL_REWIND_FRESH = 1,
};

/// What a rewind did. The arrays belong to the history, and are valid until its next mark or rewind, or until
/// it is destroyed. Grows into `reserved`.
typedef struct espl_rewind {
    /// [unborn_count] handles that lived before the rewind and do not now, ascending by index.
    const espl_entity *unborn;
    /// [revived_count] handles that live now and did not before the rewind, ascending by index.
    const espl_entity *revived;
    size_t unborn_count, revived_count;
    uintptr_t reserved[6]; ///< 0 (GROWTH in espalier(3)).
} espl_rewind;

/// Make the world what it was when a frame was marked. That frame is the newest one afterwards: later frames
/// are removed from the history. Takes no memory. espl_world_timeline() counts rewinds.
///
/// @param frame   a marked frame; espl_history_range() has the oldest and the newest one.
/// @param flags   ESPL_REWIND_ bits.
/// @param report  out: unchanged when refused; may be NULL.
/// @return ESPL_OK; refused, and the world is as it was: ESPL_ERR_ARGUMENT (NULL, or an unknown flag);
///         ESPL_ERR_TOO_OLD: the frame was never marked, was dropped, or was removed by an earlier rewind;
///         ESPL_ERR_BUSY. O(what changed since the frame + hierarchies that it changed + size / 4096).
ESPL_API ESPL_NODISCARD espl_status espl_history_rewind(espl_history *history, uint64_t frame,
                                                        uint32_t flags, espl_rewind *report);

/// Find the oldest and the newest frame of a history. It has every frame that was marked between them.
/// @param oldest  out: unchanged where there is none; may be NULL. @param newest  likewise.
/// @return false: there is none, or the history is NULL. O(1).
ESPL_API bool espl_history_range(const espl_history *history, uint64_t *oldest, uint64_t *newest);

/// Return the checksum of a frame: equal for two worlds on which the same calls come to the same bits, handles
/// and order of queries from then on. It depends neither on the calls and rewinds that led to the frame, nor on
/// the number of workers, nor on the kernels, nor on the machine: of values of components, fields and
/// references count by their numbers. Bytes that are in neither count as they are, so that numbers in them give
/// other checksums on a machine with the other order of bytes. It finds mistakes and does not protect against
/// forgery.
///
/// It covers what ESPL_HASH_PHYSICAL covers (espl_hash()), but for world transforms, which follow from
/// the rest, for values of components with ESPL_COMPONENT_TRANSIENT, and for what a rewind does not change: which
/// components are registered, and the layout budget (espl_world_def). Compare worlds that were made equally.
///
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_UNSUPPORTED: the history was created without
///         ESPL_HISTORY_HASH; ESPL_ERR_TOO_OLD: the history does not have the frame. O(log(frames)).
ESPL_API ESPL_NODISCARD espl_status espl_history_hash(const espl_history *history, uint64_t frame,
                                                      uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif

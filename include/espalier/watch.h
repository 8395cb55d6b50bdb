// SPDX-License-Identifier: MIT
/// @file
/// Watches: which entities came, went and changed since the last look, with their transforms.
///
/// A consumer of changes, such as a renderer, a network or a physics engine, makes a watch and collects
/// it. Any number of watches see one world, each at a rate of its own.
///
/// What a collect promises:
///
/// - Sound: an entity whose transform, the 48 bytes of an espl_transform, differs from that at the last
///   collect is reported, whatever changed it.
/// - Near exact: an entity that did not change may be reported as well, because it was written and
///   written back, because a part of its hierarchy was recomputed, because a playback that was undone
///   had changed it, or because the last look is more than 16,384 moments ago, from where on changes are
///   known for blocks of 64 slots. With ESPL_WATCH_BEFORE world and shown transforms are compared, and
///   neither is reported of an entity where it is equal. Own data (ESPL_WATCH_LOCAL) and cells
///   (ESPL_WATCH_CELL) are not compared, so that an entity may be reported for these alone.
/// - Presence is exact: `removed` and `added` are the difference between two states. An entity that
///   came and went between two collects is in neither.
/// - Order: `removed` and `added` ascend by index, `changed` by slot. All are the same for any number of
///   workers, any kernels and any machine.
///
/// A world without a watch pays nothing but a test for each change. A watch costs a store or two for each
/// node that is changed, and 4 bytes of memory for each entity index and 2.06 for each slot and kind.
///
/// Thread rule: creating, destroying and collecting a watch are changes of the world. The function of a custom
/// command may collect, because its playback is complete by then; a job may not. The arrays of a collect may
/// be read by any thread while the world goes on, until the next collect of the watch.
#ifndef ESPALIER_WATCH_H
#define ESPALIER_WATCH_H

#include <espalier/store.h>
#include <espalier/transform.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A consumer of the changes of a world.
typedef struct espl_watch espl_watch;

/// What a watch reports; all but ESPL_WATCH_BEFORE are bits of espl_changes.kinds too.
enum {
    /// World transforms: pose, stretch, user data.
    ESPL_WATCH_WORLD = 1,
    /// Own data: the local transform, stretch, user data, inherit flags and the parts that they keep, the
    /// parent, the place among siblings.
    ESPL_WATCH_LOCAL = 2,
    /// Shown transforms (espalier/motion.h). The world must have motion when the watch is created.
    ESPL_WATCH_SHOWN = 4,
    /// Keep world and shown transforms as of the last report, and compare: WORLD and SHOWN are reported only of
    /// an entity whose transform of that kind differs, and `changed_before` has what was reported of it. 48
    /// bytes for each entity index, 96 with WORLD and SHOWN.
    ESPL_WATCH_BEFORE = 8,
    /// Cells (espalier/far.h). The world must have cells. With ESPL_WATCH_WORLD or _SHOWN an entity is reported
    /// when its hierarchy has another cell, or it is in another hierarchy with another cell, because its
    /// absolute position changes; without them roots and solos alone are. A rebase by cells changes nothing
    /// else. Cells are not compared, with ESPL_WATCH_BEFORE neither, and a change of `is_top` alone need not be
    /// reported.
    ESPL_WATCH_CELL = 16,
};

/// How to make a watch. {0}: world transforms of every entity with a transform that is neither a prefab nor
/// disabled. Grows into `reserved`.
typedef struct espl_watch_def {
    /// NULL means {0}, or which entities, of those with ESPL_TRANSFORM. Copied. It must have no
    /// components in `changed`. An entity that begins to answer is added, one that no longer does is
    /// removed.
    const espl_query_def *filter;
    /// ESPL_WATCH_ bits; 0 means ESPL_WATCH_WORLD, and ESPL_WATCH_BEFORE alone goes with it. BEFORE with
    /// LOCAL or CELL needs WORLD or SHOWN as well, because it compares these.
    uint32_t flags;
    uintptr_t reserved[8]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_watch_def;

/// The cell of an entity that a watch reports. Never grows.
typedef struct espl_changed_cell {
    int32_t cell[3]; ///< of its hierarchy
    uint32_t is_top; ///< 1: a root or a solo; 0: it has a parent
} espl_changed_cell;

/// What changed between two looks. The arrays are memory of the watch, valid until its next collect that
/// is not refused, or its end, also through espl_reserve() and espl_compact(). Any thread may read them until
/// then. The next collect gives back memory that collects no longer need. Grows into `reserved`.
typedef struct espl_changes {
    /// Handles of the last collect that no longer answer, ascending by index. Most are dead.
    const espl_entity *removed;
    /// Entities that the last collect did not have, ascending by index. At the first collect all of them.
    const espl_entity *added;
    /// Entities that both have and that changed, ascending by slot, which is the order in memory.
    const espl_entity *changed;
    size_t removed_count, added_count, changed_count;
    /// [changed_count] which kinds of data of the entity changed: ESPL_WATCH_WORLD, _LOCAL, _SHOWN, _CELL bits.
    const uint8_t *kinds;
    /// [added_count], [changed_count] world transforms as of this collect; with ESPL_WATCH_SHOWN the
    /// shown ones; NULL without ESPL_WATCH_WORLD and ESPL_WATCH_SHOWN. They need not be finite.
    const espl_transform *added_worlds, *changed_worlds;
    /// [added_count], [changed_count] local transforms as espl_get_local_transform() reads them; NULL without
    /// ESPL_WATCH_LOCAL. World parts that inherit flags keep are seen from the parent there: a move of the
    /// parent changes how they read, and is no change of the member's own data.
    const espl_transform *added_locals, *changed_locals;
    /// [changed_count] what `changed_worlds`, or `added_worlds`, had when the entity was reported last; NULL
    /// without ESPL_WATCH_BEFORE. With WORLD and SHOWN both have shown transforms, which are equal where
    /// `kinds` has no SHOWN.
    const espl_transform *changed_before;
    /// The moment of this collect, never 0. A later collect of the watch can look back to it.
    uint64_t moment;
    /// The look went so far back that `changed` has all entities of blocks in which some changed.
    bool is_coarse;
    /// No transform of the world had a stretch other than 1, or user data: a follow costs less.
    bool is_plain;
    /// espl_world_def.cell_size of the world with ESPL_WATCH_CELL; else 0.
    float cell_size;
    /// [added_count], [changed_count] cells as of this collect; NULL without ESPL_WATCH_CELL.
    const espl_changed_cell *added_cells, *changed_cells;
    uintptr_t reserved[6]; ///< 0 (GROWTH in espalier(3)).
} espl_changes;

/// Make a watch. Structural. O(size) in a world that marked no such changes so far. The world cannot be
/// destroyed before its watches.
///
/// @param def  NULL means {0}; not kept.
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (world or out is NULL; an unknown bit; BEFORE with nothing to compare;
///         SHOWN in a world without motion; CELL in one without cells; `changed` in the filter, or what
///         espl_query_begin()
///         refuses); ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0); ESPL_ERR_LIMIT (more than
///         ESPL_TERM_LIMIT components); ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_watch_create(espl_world *world, const espl_watch_def *def,
                                                      espl_watch **out);

/// Destroy a watch and its arrays. NULL is allowed. A change of the world; not while commands are applied or in
/// a job, where it does nothing, logs (ESPL_LOG_ERROR), and traps in checked builds.
ESPL_API void espl_watch_destroy(espl_watch *watch);

/// Report what changed since the last collect, or since an earlier one. A change of the world that is not
/// structural: allowed while a query is open.
///
/// `removed` and `added` are always relative to the last collect. Only a collect that is not refused
/// consumes anything.
///
/// @param since  0: the last collect. Else the moment of an earlier collect of this watch, whose
///               consumer lost what came after it: `changed` has all that changed or were made since
///               then, bit-equal ones too. One that began to answer the filter since then, because
///               of its components, is in it only if it changed.
/// @param out    unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL; `since` is before the first collect of the watch or after
///         the last); ESPL_ERR_BUSY while commands are applied and in jobs; ESPL_ERR_NO_MEMORY.
///         O(changes + size / 64), with a small factor: 4 us for a million entities at rest. The first
///         collect, and in each 16,384th moment one, is O(size).
ESPL_API ESPL_NODISCARD espl_status espl_watch_collect(espl_watch *watch, uint64_t since,
                                                       espl_changes *out);

#ifdef __cplusplus
}
#endif

#endif

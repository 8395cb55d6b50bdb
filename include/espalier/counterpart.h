// SPDX-License-Identifier: MIT
/// @file
/// Counterparts: one entity in several worlds.
///
/// An entity of one world may stand for an entity of another one: a thing in the hand of a player and in the
/// inventory, an object in the editor and in the game, a player on the server and on the client. It is an
/// ordinary entity with a parent, a place and parts of its own, the counterpart of its original. A world finds
/// the counterpart of a handle of another world, and follows the changes that a watch of that world collected.
///
/// The handle of an original is compared and never followed. So the original may be in another process, on
/// another machine, or in a world that is no more. Worlds are told apart by their tags (espl_world_def.tag):
/// give worlds of different processes different ones.
///
/// An original has one counterpart in a world, and an entity has one original. A destroyed entity loses it at
/// once. A clone has none, and neither has what is read from an archive. Images and histories have originals,
/// as they have handles, and so have both hashes (espl_hash()).
///
/// Thread rule: as for the world. espl_set_counterpart(), espl_place_counterparts() and espl_follow() are
/// changes of it; the others only read. espl_follow() touches no world but its own: the world that was watched
/// may go on in another thread, as long as its watch is not collected again.
#ifndef ESPALIER_COUNTERPART_H
#define ESPALIER_COUNTERPART_H

#include <espalier/commands.h>
#include <espalier/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Make an entity the counterpart of an entity of another world, instead of the one whose counterpart it is.
/// Not structural: allowed during iteration and in a custom command, but not while jobs run.
///
/// @param original  any handle of a world with another tag; null: none, which needs no memory.
/// @return ESPL_OK; ESPL_ERR_EXISTS (the original has another counterpart here); ESPL_ERR_ARGUMENT (the
///         original has the tag of this world, or none); ESPL_ERR_PENDING (it is a pending one);
///         ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY (during playback and in a parallel write); the entity's statuses.
///         The link stays as it was then.
ESPL_API ESPL_NODISCARD espl_status espl_set_counterpart(espl_world *world, espl_entity entity,
                                                         espl_entity original);

/// Return the living entity that is the counterpart of a handle of another world; null: there is none. O(1).
ESPL_API espl_entity espl_find_counterpart(const espl_world *world, espl_entity original);

/// Return the original of an entity; null: it has none, or does not live. O(1).
ESPL_API espl_entity espl_get_original(const espl_world *world, espl_entity entity);

// --- Placing ---

/// What is placed, and where. {0}: the owned closure of the original, where the original is in its own
/// coordinates, without other components. Grows into `reserved`.
typedef struct espl_placing_def {
    espl_extent extent; ///< What of the original's hierarchy gets counterparts.
    espl_entity parent; ///< Of this world; null: none.
    espl_entity before; ///< Sibling that the counterpart comes before; null: last.
    espl_place place;   ///< How to read `transform`; ESPL_PLACE_SOURCE: as the original has it.
    espl_transform transform; ///< Not read for ESPL_PLACE_SOURCE.
    /// [component_count] components of the other world. A counterpart has each of them that its original has
    /// and for which this world has one of the same name and size.
    const espl_component *components;
    size_t component_count; ///< At most ESPL_SET_LIMIT.
    uintptr_t reserved[4];  ///< Must be 0 (GROWTH in espalier(3)).
} espl_placing_def;

/// Place an entity of another world in this one: make counterparts of it and of what is below it, with their
/// local transforms, inherit flags and links, and with values of components. Structural.
///
/// Names are not copied. A reference in a value that names an original with a counterpart here, one that this
/// call makes too, becomes that counterpart; another one becomes null. Components with ESPL_COMPONENT_UNIQUE
/// are zeros. Inherit flags of the original itself are left out. A part of the world that inherit flags keep is
/// that which follows from the local when the counterpart is made.
///
/// A counterpart that has no parent, with ESPL_PLACE_SOURCE, is where its original is in the other world: in
/// the same cell with the same bits where cells of both worlds have one size (espalier/far.h), in the nearest
/// cell where they have two, and at the absolute position, rounded to floats, where this world has no cells. So
/// is what is below an original without a transform, in cell 0, 0, 0. A transform that is given is in cell 0,
/// 0, 0, or in that of the parent.
///
/// @param from  the world of the original, which is only read. Its tag is another one.
/// @param def   NULL means {0}; not kept.
/// @param out   the counterpart of the original; may be NULL; unchanged when refused.
/// @return ESPL_OK; ESPL_LOSSY; ESPL_OVERFLOW (a world transform is not finite). Refused, nothing changed:
///         ESPL_ERR_EXISTS (the original, or an entity below it, has a counterpart here); ESPL_ERR_ARGUMENT
///         (NULL; equal tags; a number that is none of its enum; an unknown component, or a role); the statuses
///         of the original in its world, and of parent and `before`; ESPL_ERR_RANGE, ESPL_ERR_NOT_FINITE (the
///         transform, or what inherit flags would keep; ESPL_ERR_RANGE also where no cell of this world is as
///         far away as the original);
///         ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0); ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY;
///         ESPL_ERR_BUSY. O(subtree).
ESPL_API ESPL_NODISCARD espl_status espl_place_counterparts(espl_world *world,
                                                            const espl_world *from,
                                                            espl_entity original,
                                                            const espl_placing_def *def,
                                                            espl_entity *out);

// --- Following ---

/// Which transforms are followed.
typedef enum espl_follow_kind {
    /// Local transforms, from a watch with ESPL_WATCH_LOCAL: a counterpart gets the local of its original,
    /// below the parent that it has.
    ESPL_FOLLOW_LOCAL = 0,
    /// World transforms, or the shown ones of a watch with ESPL_WATCH_SHOWN.
    ESPL_FOLLOW_WORLD = 1,
} espl_follow_kind;

/// Flags of espl_follow_def.
enum {
    /// Counterparts of removed entities stay, with their originals.
    ESPL_FOLLOW_KEEPS = 1,
};

/// How to follow. {0}: local transforms; a counterpart is destroyed with its original, and its owned closure
/// with it. Grows into `reserved`.
typedef struct espl_follow_def {
    espl_follow_kind kind;
    espl_extent removed;   ///< What is destroyed with the counterpart of a removed entity.
    uint32_t flags;        ///< ESPL_FOLLOW_ bits.
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_follow_def;

/// Account of a follow. Grows into `reserved`.
typedef struct espl_follow_report {
    size_t written;   ///< Counterparts whose transform was written, also where it was equal.
    size_t destroyed; ///< Counterparts of removed entities that were destroyed, each once.
    size_t unknown;   ///< Entities of `added` and `changed` without a counterpart here.
    size_t refused;   ///< Counterparts that could not be written: without a transform, for example.
    uintptr_t reserved[4]; ///< 0 (GROWTH in espalier(3)).
} espl_follow_report;

/// Repeat in this world what a watch of another one collected.
///
/// It is espl_destroy_many() of the counterparts of `removed`, and then one batch of writes
/// (espl_write_batch()) of the counterparts of `added` and of `changed`, with ESPL_WRITE_LOCAL_TRANSFORM or
/// ESPL_WRITE_WORLD_TRANSFORM. Where espl_changes.is_plain says that no stretch and no user data are among
/// them, and this world has none either, it is a batch of ESPL_WRITE_LOCAL_POSE, which costs less. Entities
/// without a counterpart are skipped, so that a program places those of `added` that it wants before or
/// after. A write that is bit-equal changes nothing: worlds that follow each other by local transforms, in a
/// circle too, come to rest.
///
/// Where the changes have cells (ESPL_WATCH_CELL) and this world has some too, a batch of ESPL_WRITE_CELL
/// comes before that of transforms. A root or solo gets the cell of its original: by ESPL_FOLLOW_LOCAL where
/// that is a root or solo as well, by ESPL_FOLLOW_WORLD in any case. World transforms of members are brought
/// to the cell of their hierarchy, rounded once. Where the cells of both worlds have different sizes, the
/// counterpart gets the cell nearest to the absolute position, or keeps its own if that is out of range, and
/// the position is rounded once. Where this world has no cells, these positions become absolute ones, rounded
/// to floats: those of world transforms, and of locals where original and counterpart are roots or solos.
/// Without ESPL_WATCH_CELL positions are written as they are.
///
/// @param changes  of a watch of a world with another tag, or arrays of the caller's own, from another process
///                 for example. Read: `removed`, `added`, `changed`, their counts, the transforms of the
///                 kind, and `cell_size` with the cells where it is not 0.
/// @param def      NULL means {0}; not kept.
/// @param report   NULL, or the account; zeroed when refused.
/// @return ESPL_OK; ESPL_PARTLY (some writes were refused); ESPL_LOSSY, ESPL_OVERFLOW (as a batch of writes).
///         Refused: ESPL_ERR_ARGUMENT (NULL; the first entity of a list has the tag of this world; no
///         transforms of the kind; a `cell_size` that is none, or no cells; a number that is none of its
///         enum; an unknown bit); ESPL_ERR_UNSUPPORTED (a
///         word of `reserved` is not 0); ESPL_ERR_NO_MEMORY; ESPL_ERR_LIMIT; ESPL_ERR_BUSY (during playback, in
///         a parallel write, and during iteration where counterparts are destroyed). A refused call has changed
///         nothing, but where there is no memory for the side arrays that a stretch, user data or inherit flags
///         need: counterparts of removed entities may be gone then, and the call can be repeated with the same
///         changes.
ESPL_API ESPL_NODISCARD espl_status espl_follow(espl_world *world, const espl_changes *changes,
                                                const espl_follow_def *def,
                                                espl_follow_report *report);

#ifdef __cplusplus
}
#endif

#endif

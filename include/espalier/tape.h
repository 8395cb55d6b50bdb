// SPDX-License-Identifier: MIT
/// @file
/// The tape: every call that changes a world, as bytes that can be kept and played again.
///
/// A fault that shows after an hour becomes one file: espalier(1) replays it and checks each frame.
/// Another machine or another build that replays the file gives the same worlds.
///
/// Thread rule: as for the world; espl_tape_frame() is a change of it.
#ifndef ESPALIER_TAPE_H
#define ESPALIER_TAPE_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espl_world espl_world;

/// Where a world puts its tape. {0}: nowhere. Never grows.
typedef struct espl_tape {
    /// Passed to the function.
    void *user;
    /// Take the next bytes of the tape: append them to a file, for example. Called from the thread
    /// of the call that is recorded, never by two at once for the same world; must not call the
    /// library. The function gets the record of a call before the call begins, because the call may
    /// never end, and one byte with its status after it.
    void (*append)(void *user, const void *bytes, size_t size);
} espl_tape;

/// Put the end of a frame on the tape, with the checksum of the world, which a replay compares with its own. It
/// is that of a frame of a history that were marked now (espl_history_hash() in espalier/history.h): it covers
/// what later calls depend on, and not world transforms, which follow from that. In a world without a tape the
/// call does nothing.
///
/// The first frame takes memory for a copy of the world without world transforms, which grows with the world
/// and is shared with its history. Once memory ran out in a call, this one too, frames have the logical hash
/// instead (espl_hash()), because the calls of a replay, which has memory, may leave nodes and rows elsewhere.
///
/// A history keeps what changed as at a mark: where what changed since the newest frame takes more than its
/// `byte_limit` bytes, the history has no frame afterwards.
///
/// @return ESPL_OK; ESPL_ERR_ARGUMENT; ESPL_ERR_BUSY during playback, in a custom command and in a
///         parallel write. O(changes + size / 4096); the first one, and each with the logical hash, O(size). A change
///         of the world.
ESPL_API ESPL_NODISCARD espl_status espl_tape_frame(espl_world *world);

// --- The format ---
//
// Numbers are little-endian; floats are their 32 bits; an entity is its index, then its generation,
// 4 bytes each; a status is one byte, signed. Bytes of components are in the machine's byte order,
// which the head has. The head comes first:
//
//     8 bytes  "espltape"
//     4        ESPL_TAPE_VERSION
//     4        the world's tag
//     4        0x01020304, as the machine has it
//     3        limits of the build: bits of an index, bits of a generation, rows of a chunk
//     1        0 without cells; else 1 + the logarithm of espl_world_def.cell_size to the base 2
//     8        espl_world_def.layout_budget of the world, or its default
//
// Then records: one byte, an espl_tape_op, the fields that its comment below lists, and the status
// that the call answered. The tape may end within a record: the call never ended.

// A reader of this version reads tapes from version 4 on. Tapes before version 9 have no cells, none of
// ESPL_TAPE_COUNTERPARTS, ESPL_TAPE_REBASE and ESPL_TAPE_RECENTER, and no write of a cell. In tapes before
// version 8 a frame is u64 logical hash and u64 physical hash, which is not compared. Before version 7 a write
// is an entity, u32 kind and flag, and the value of the kind; before version 6 ESPL_TAPE_REGISTER ends before
// the version; and tapes of version 4 have no operation from ESPL_TAPE_MOTION_START on, and no kind of write
// with a flag.

enum { ESPL_TAPE_VERSION = 9 };

/// What a record says. A list is its count and then its items.
typedef enum espl_tape_op {
    ESPL_TAPE_FRAME =
        1, ///< u32 0 and u64 checksum; where memory ran out before, u32 1 and u64 logical hash
    ESPL_TAPE_REGISTER, ///< list (u32) of bytes: the name; u32 size, alignment; list (u32) of u32; u32
    ///< version, flags; list (u32) of: list (u32) of bytes, u32 type, offset, count
    ESPL_TAPE_CREATE,       ///< list (u32) of u32: components; u64 count
    ESPL_TAPE_CHANGE,       ///< list (u64) of entities; list (u32) of values; list (u32) of u32
    ESPL_TAPE_SET,          ///< entity; a value
    ESPL_TAPE_ENABLE,       ///< entity; u32 extent
    ESPL_TAPE_DISABLE,      ///< entity; u32 extent
    ESPL_TAPE_ATTACH,       ///< entity child, parent, before; u32 position, rotation, scale, link,
                            ///< inherit
    ESPL_TAPE_DETACH,       ///< entity; u32 espl_keep
    ESPL_TAPE_SIBLING,      ///< entity, before
    ESPL_TAPE_DESTROY,      ///< entity; u32 extent
    ESPL_TAPE_INSTANTIATE,  ///< entity; u64 count
    ESPL_TAPE_WRITES,       ///< list (u64) of writes
    ESPL_TAPE_WRITE,        ///< a write, by the function of its kind
    ESPL_TAPE_LOOK_AT,      ///< entity; 3 floats; u32 1 and 3 floats, or 0; u32 espl_axis
    ESPL_TAPE_ROTATE_ABOUT, ///< entity; 7 floats
    ESPL_TAPE_INHERIT,      ///< entity; u32 flags
    ESPL_TAPE_COLUMN,  ///< u32 component, size; list (u64) of entities, then size bytes for each:
                       ///< the values that were written to a column
    ESPL_TAPE_RESERVE, ///< u64 entities; list (u32) of u32: components; u64 rows, writes, parallel
                       ///< rows; entity with side arrays
    ESPL_TAPE_COMPACT,
    ESPL_TAPE_VIEW,         ///< entity
    ESPL_TAPE_PLAY,         ///< u32 lanes, tag of pending handles; list (u64) of commands
    ESPL_TAPE_MAKE,         ///< a command that makes entities, carried out at once
    ESPL_TAPE_NAME,         ///< entity; list (u32) of bytes: the name; an empty one takes it away
    ESPL_TAPE_ATTACH_MANY,  ///< list (u64) of: entity child, parent; entity before; u32 position,
                            ///< rotation, scale, link, inherit
    ESPL_TAPE_DESTROY_MANY, ///< list (u64) of entities; u32 extent
    ESPL_TAPE_CLEAR,
    ESPL_TAPE_SYNC, ///< espl_sync() that played nothing; each playback has a record of its own
    ESPL_TAPE_MOTION_START, ///< u32 history
    ESPL_TAPE_MOTION_STOP,
    ESPL_TAPE_TICK_BEGIN,
    ESPL_TAPE_TICK_END, ///< espl_present() changes nothing that a hash covers, and is not recorded
    ESPL_TAPE_IMAGE,    ///< u32 flags; list (u64) of bytes: an image that was loaded
    ESPL_TAPE_ARCHIVE,  ///< entity parent; u32 flags; list (u64) of bytes: an archive that was read
    ESPL_TAPE_APPLY, ///< entity parent; u32 flags; list (u64) of bytes: an archive that was applied; list (u64)
                     ///< of bytes: the known one, or none; list (u64) of its entities
    ESPL_TAPE_HISTORY_CREATE, ///< u32 frames; u32 flags; u64 byte limit
    ESPL_TAPE_HISTORY_DESTROY,
    ESPL_TAPE_MARK,         ///< u64 frame
    ESPL_TAPE_REWIND,       ///< u64 frame; u32 flags
    ESPL_TAPE_COUNTERPARTS, ///< list (u64) of: entity, entity original; espl_follow() and
    ///< espl_place_counterparts() have the records of the calls that they make
    ESPL_TAPE_REBASE,   ///< 3 u32: cells, two's complement; 3 floats: offset
    ESPL_TAPE_RECENTER, ///< u32: the bits of the limit, a float
    ESPL_TAPE_OP_COUNT,
} espl_tape_op;

// A value is u32 component, u32 size, u32 1 and so many bytes, or 0 for zeros.
//
// A write is compared with the write before it in its record, and its value with the local transform that the
// entity has before the call. A varint has 7 bits in each byte, the lowest first, and the last byte is below
// 128. A folded number is 2 n, or -2 n - 1 where n is negative; differences are of 32 bits and wrap around.
//
//     varint   4 * the folded difference of the index, + 2 if the generation is another, + 1 if the kind is
//     varint   the folded difference of the generation, if it is another
//     varint   kind and flag, if they are others
//     bytes    two bits for each word of the value, the first word lowest: 0, 1, 3 or 4 bytes of it follow
//     bytes    of each word: the folded difference of its place in the order of floats, little-endian
//
// Before the first write of a record are the index 0, the generation 2^24 * tag + 1, and no kind. The place of
// a float is its bits, where the sign is set with the other 31 inverted. Words are compared with those of the
// identity instead where the entity has inherit flags or no transform, or where the kind does not set what the local
// has: the world of a member, and all that is relative. Of a rotation the component that has the largest magnitude
// before, the first of equal ones, is compared with the root of 1 less the squares of the other three, in
// double and then rounded, 0 where that is not positive, with the sign that it has before; but with itself where
// these three are as before.

// A command is u32 lane, an espl_tape_command, u32 key; entity target, parent, before; u32 count;
// bytes link, place, dead_parent, the espl_keep of position, rotation and scale, inherit, and 0; u32
// size of a head: the size of a transform, of the value of a write, or 0; these bytes; list (u32) of
// u32 component, u32 size and so many bytes. A size of 0xffff takes the component away. Commands are
// in the order of their lane, and each names only pending entities of earlier commands in the list. A
// pending entity is a handle whose generation is 2^31 + lane * 2^23 + the tag, and whose index counts
// the pending ones of its lane from 0. Payloads of custom commands are left out: the calls that their
// functions made are recorded after the playback.

/// Kinds of command. `place` is the kind of a write with its flag, the extent of a destroy, an enable and a disable.
/// For a change of components it is the change of the transform: 0 it stays, 1 it is the head, 2 it is
/// removed.
typedef enum espl_tape_command {
    ESPL_TAPE_COMMAND_INSTANTIATE,
    ESPL_TAPE_COMMAND_CREATE, ///< with a transform, the head
    ESPL_TAPE_COMMAND_CREATE_BARE,
    ESPL_TAPE_COMMAND_DESTROY,
    ESPL_TAPE_COMMAND_ATTACH,
    ESPL_TAPE_COMMAND_DETACH,
    ESPL_TAPE_COMMAND_SIBLING,
    ESPL_TAPE_COMMAND_WRITE,
    ESPL_TAPE_COMMAND_INHERIT,
    ESPL_TAPE_COMMAND_CHANGE,
    ESPL_TAPE_COMMAND_SET,
    ESPL_TAPE_COMMAND_ENABLE,
    ESPL_TAPE_COMMAND_DISABLE,
    ESPL_TAPE_COMMAND_COUNT,
} espl_tape_command;

#ifdef __cplusplus
}
#endif

#endif

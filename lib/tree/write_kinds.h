// SPDX-License-Identifier: MIT
// The kinds of write: the type of the value of each, the parts of a transform that it writes, and in
// which space. Values are loaded from the memory of the caller and checked here. placement.h gives a
// kind its meaning.
//
// A kind may have a flag, which tells how motion blends the write. A kind without a flag that changes
// the transform is ordinary. The functions that take any kind say so; all others take ordinary ones,
// so that the paths of these ask for no flag. flagged_writes.h has the others.
#ifndef ESPALIER_LIB_TREE_WRITE_KINDS_H
#define ESPALIER_LIB_TREE_WRITE_KINDS_H

#include "lib/math/inherit.h"

#include <espalier/write.h>

/// Bits for the parts of a pose.
enum {
    ESPL__PART_POSITION = 1,
    ESPL__PART_ROTATION = 2,
    ESPL__PART_SCALE = 4,
    ESPL__PART_POSE = 7,
};

enum {
    /// Ordinary kinds are below it.
    ESPL__ORDINARY_KINDS = ESPL_WRITE_PREVIOUS_LOCAL_POSE,
    /// The flags that a kind may have, one at a time.
    ESPL__WRITE_FLAGS = ESPL_TELEPORT | ESPL_CARRY,
};

/// Tell whether a kind is ordinary: it exists, changes the transform and has no flag.
static inline bool espl__write_is_ordinary(espl_write_kind kind)
{
    return (unsigned)kind < (unsigned)ESPL__ORDINARY_KINDS;
}
/// Return the flag of a kind, or 0.
static inline unsigned espl__write_flag(espl_write_kind kind)
{
    return (unsigned)kind & (unsigned)ESPL__WRITE_FLAGS;
}
/// Return a kind without its flag.
static inline espl_write_kind espl__write_base(espl_write_kind kind)
{
    return (espl_write_kind)((unsigned)kind & ~(unsigned)ESPL__WRITE_FLAGS);
}
/// Tell whether a kind exists and takes the flag that it has.
static inline bool espl__write_exists(espl_write_kind kind)
{
    return (unsigned)kind < (unsigned)ESPL_WRITE_KIND_COUNT ||
           (espl__write_flag(kind) != (unsigned)ESPL__WRITE_FLAGS &&
            espl__write_is_ordinary(espl__write_base(kind)));
}

/// Type of the value of a kind of write.
typedef enum espl__value_type {
    ESPL__VALUE_NONE, ///< no such kind
    ESPL__VALUE_VECTOR,
    ESPL__VALUE_ROTATION,
    ESPL__VALUE_SCALAR,
    ESPL__VALUE_POSE,
    ESPL__VALUE_TRANSFORM,
    ESPL__VALUE_WORD,
    ESPL__VALUE_CELL,    ///< three integers
    ESPL__VALUE_DOUBLES, ///< three of them
} espl__value_type;

/// What the library knows of a kind of write.
typedef struct espl__write_kind_info {
    espl__value_type type; // of its value
    unsigned parts;        // ESPL__PART_ bits: parts of a pose that it writes
    bool is_world;         // it writes the world, else the local
} espl__write_kind_info;

/// The kinds without flags. A table and not a function, because a function would cost a call in each
/// write.
extern const espl__write_kind_info espl__write_kinds[ESPL_WRITE_KIND_COUNT];

/// Return the type of the value of any kind.
espl__value_type espl__write_value_type(espl_write_kind kind);

/// Return the size of the value of any kind in bytes; 0 where there is no such kind.
size_t espl__write_value_size(espl_write_kind kind);

/// Copy a value of any kind from any address. A pose becomes a transform without stretch and user data. The
/// sizes are constants, because such a copy takes a few instructions.
static inline void espl__write_load(espl_write_value *out, espl_write_kind kind, const void *bytes)
{
    // There is no other type.
    switch (espl__write_value_type(kind)) { // GCOVR_EXCL_BR_LINE
    case ESPL__VALUE_TRANSFORM:
        memcpy(out, bytes, sizeof(espl_transform));
        break;
    case ESPL__VALUE_POSE: {
        const espl__extra none = espl__extra_default();
        espl_pose pose;

        memcpy(&pose, bytes, sizeof pose);
        out->transform = espl__transform_of(&pose, &none);
        break;
    }
    case ESPL__VALUE_VECTOR:
        memcpy(out, bytes, 3 * sizeof(float));
        break;
    case ESPL__VALUE_ROTATION:
        memcpy(out, bytes, 4 * sizeof(float));
        break;
    case ESPL__VALUE_SCALAR:
    case ESPL__VALUE_WORD:
        memcpy(out, bytes, sizeof(float));
        break;
    case ESPL__VALUE_CELL:
        memcpy(out, bytes, 3 * sizeof(int32_t));
        break;
    case ESPL__VALUE_DOUBLES:
        memcpy(out, bytes, 3 * sizeof(double));
        break;
    case ESPL__VALUE_NONE:
        break;
    }
}

/// Check the value of a write of any kind, and normalise its rotation in place.
/// @return ESPL_OK, ESPL_ERR_NOT_FINITE, ESPL_ERR_ARGUMENT (no such kind).
espl_status espl__write_check(espl_write_kind kind, espl_write_value *value);

/// Tell whether a write of a kind reads the local of a node only, not its world, where it has no
/// inherit flags.
static inline bool espl__write_is_local(espl_write_kind kind)
{
    return !espl__write_kinds[kind].is_world;
}

/// Tell whether writes of a kind may change stretch or user data.
static inline bool espl__write_has_extra(espl_write_kind kind)
{
    return kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_WORLD_TRANSFORM ||
           kind == ESPL_WRITE_USER_DATA || kind == ESPL_WRITE_STRETCH ||
           kind == ESPL_WRITE_MULTIPLY_STRETCH;
}
/// Tell whether a write may give a node without stretch and user data some, so that its tree needs
/// side arrays.
bool espl__write_wants_side(espl_write_kind kind, const espl_write_value *value);

#endif

// SPDX-License-Identifier: MIT
// Writes that are not ordinary: those with a flag, and those of the previous pose (write_kinds.h). Each path
// that writes, at once, in a batch and in an edit, hands them to the functions below. A write with a flag is
// the ordinary write, after which motion sets the previous pose of the node. Without motion the previous pose
// cannot be written, and a flag has no effect but that ESPL_TELEPORT marks a jump (jumps.h).
#ifndef ESPALIER_LIB_TREE_FLAGGED_WRITES_H
#define ESPALIER_LIB_TREE_FLAGGED_WRITES_H

#include "lib/tree/motion.h"

/// What a write with a flag keeps from before the ordinary write.
typedef struct espl__flagged_write {
    espl__forest *forest;
    uint32_t slot;
    unsigned flag;   // 0: the flag has no effect
    bool has_motion; // else only a jump is marked
    espl__placement placement;
    espl__past past;
} espl__flagged_write;

/// Begin a write with a flag. The ordinary write of its kind follows.
void espl__flagged_write_begin(espl__flagged_write *write, espl__forest *forest, uint32_t slot,
                               espl_write_kind kind);
/// End a write with a flag: set the previous pose. @param status  of the ordinary write; a refused one ends
/// nothing.
void espl__flagged_write_end(const espl__flagged_write *write, espl_status status);

/// Tell whether a kind sets the previous pose.
static inline bool espl__write_is_of_previous(espl_write_kind kind)
{
    const espl_write_kind base = espl__write_base(kind);

    return base == ESPL_WRITE_PREVIOUS_LOCAL_POSE || base == ESPL_WRITE_PREVIOUS_WORLD_POSE;
}
/// Set the previous pose of a node by such a kind. Preconditions: espl__write_check() accepted the value, and
/// stretch and user data of the node and of those above it are up to date.
/// @return ESPL_OK, ESPL_LOSSY; refused, nothing changed: ESPL_ERR_UNSUPPORTED (no motion),
///         ESPL_ERR_COPIES_PARENT, ESPL_ERR_RANGE.
espl_status espl__previous_write(espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                 const espl_write_value *value);

#endif

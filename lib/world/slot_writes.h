// SPDX-License-Identifier: MIT
// Writes of one node by its slot. Two callers share them: write.c, for immediate calls, and writers.c,
// for jobs of a parallel write. The caller has found the slot, and made sure that no other thread
// writes the tree.
#ifndef ESPALIER_LIB_WORLD_SLOT_WRITES_H
#define ESPALIER_LIB_WORLD_SLOT_WRITES_H

#include "lib/commands/explain.h"
#include "lib/tree/writes.h"
#include "lib/world/world_internal.h"

/// Give a tree side arrays, with room for inherit flags if `keeps`. Structural
/// where memory is taken. @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
espl_status espl__ensure_side(espl_world *world, uint32_t tree, bool keeps);

/// Names of the public functions that write one entity, by kind, for messages. A message names that
/// of the kind where espl_write_one() was called as well.
extern const char *const espl__write_calls[ESPL_WRITE_KIND_COUNT];

static inline const char *espl__write_call(espl_write_kind kind)
{
    return (unsigned)kind < ESPL_WRITE_KIND_COUNT ? espl__write_calls[kind] : "espl_write_one";
}

/// Write one node by any kind of write. Records itself on the tape.
/// Preconditions: the slot has a transform of its own, `kind` exists, and no other thread writes the
/// tree. Without `context->is_job` the world is not playing.
/// @param bytes  a value of the kind, of any alignment; NULL is refused.
/// @return statuses of espl_write_one(); ESPL_OVERFLOW is returned rather than ESPL_LOSSY. A refused
///         write changed nothing. Below the node everything is up to date.
espl_status espl__slot_write(espl_world *world, espl__context *context, uint32_t slot,
                             espl_write_kind kind, const void *bytes);

/// espl_write_one() under the name of another public function in messages (write.c).
/// Precondition: the caller holds the world.
espl_status espl__write_as(espl_world *world, const char *call, espl_entity entity,
                           espl_write_kind kind, const void *value);

/// A change of one node that is no kind of write: espl_look_at(), espl_rotate_about(),
/// espl_set_inherit() and the same calls of a writer.
typedef struct espl__slot_edit {
    espl_tape_op op;    // ESPL_TAPE_LOOK_AT, ESPL_TAPE_ROTATE_ABOUT or ESPL_TAPE_INHERIT
    const float *point; // [3] target of a look at, pivot of a turn
    const float *by;    // [3] up hint of a look at, or NULL; [4] rotation of a turn
    uint32_t word;      // espl_axis of a look at; inherit flags
} espl__slot_edit;

/// Tell whether an edit has its required pointers, and an axis that exists. Inherit flags are checked
/// when they are applied, because the handle comes first.
bool espl__slot_edit_is_sound(const espl__slot_edit *edit);
/// Apply an edit. Records itself on the tape. Preconditions: those of espl__slot_write(), and the edit
/// is sound.
espl_status espl__slot_edit_apply(espl_world *world, espl__context *context, uint32_t slot,
                                  const espl__slot_edit *edit);
/// Say what is wrong with the arguments of an edit that was refused. @return NULL: the status says it.
const char *espl__slot_edit_fault(espl__sentence *sentence, const espl__slot_edit *edit,
                                  espl_status status);

#endif

// SPDX-License-Identifier: MIT
// The context of one command in the apply stage, and the functions that apply it.
//
// Input: the outputs of the order, resolve and group stages, constant. Output: the verdict in the
// entry, the edit and the lists of the part, and the slots of pending entities. A command writes
// nothing of another part, so that parts are applied at the same time.
//
// Undo: each change of the forest goes through `edit`, which logs it. The sets, the made nodes and
// the node sets of a part need no undo, because they are emptied before the next playback.
#ifndef ESPALIER_LIB_COMMANDS_APPLY_H
#define ESPALIER_LIB_COMMANDS_APPLY_H

#include "lib/commands/nursery.h"
#include "lib/commands/stages.h"
#include "lib/tree/layout.h"

/// The command that is being applied.
typedef struct espl__apply {
    espl__stage_context *context;
    const espl__apply_input *in;
    espl__applied *out; // pending_slots; where the command is alone, also the nursery
    espl__part *part;
    espl__edit *edit;     // of the part
    espl__forest *forest; // of the edit
    espl__entry *entry;
    const espl__command *command;
    bool is_alone; // no other part is applied at the same time
    // Small trees whose worlds follow from the last writes of their groups. Of the apply stage alone.
    struct espl__tree_batch *trees;
} espl__apply;

/// Number of the command in playback order.
static inline uint32_t espl__apply_number(const espl__apply *a)
{
    return (uint32_t)(a->entry - a->in->ordered->entries);
}

/// Note that memory ran out, so that the playback is undone. @return ESPL_ERR_NO_MEMORY.
static inline espl_status espl__apply_no_memory(espl__apply *a)
{
    a->edit->status = ESPL_ERR_NO_MEMORY;
    return ESPL_ERR_NO_MEMORY;
}

/// Apply a command (apply_commands.c). @return its verdict. Whether memory ran out is in
/// edit->status.
espl_status espl__apply_command(espl__apply *a);
/// The slot that an operand names at this moment of the playback.
/// @return ESPL_OK, ESPL_ERR_DEAD, or the status that refuses the operand.
espl_status espl__apply_find(const espl__apply *a, const espl__operand *operand, uint32_t *slot);
/// Add the transform of the payload to a node, or overwrite the one that it has.
espl_status espl__apply_add_transform(espl__apply *a, uint32_t slot);
/// Remove the transform of a node, if it has one.
espl_status espl__apply_remove_transform(espl__apply *a, uint32_t slot);

// Commands that change components (apply_components.c).
espl_status espl__apply_change(espl__apply *a);
espl_status espl__apply_set(espl__apply *a);
espl_status espl__apply_enable(espl__apply *a);
espl_status espl__apply_disable(espl__apply *a);

/// Make room for the copies of a closure that the command makes below a parent, where the group is
/// applied alone: in the nursery, unless the range of the parent has it. The room of any other group is
/// an upper bound. @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
static inline espl_status espl__apply_ensure_room(const espl__apply *a, const espl__template *from,
                                                  uint32_t parent)
{
    if (!a->is_alone) {
        return ESPL_OK;
    }
    if (parent != ESPL__NO_SLOT && a->forest->tree[parent] != a->forest->nursery) {
        const espl__tree *const t = espl__tree_of(a->forest, parent);

        if ((uint64_t)from->count * a->command->count <= t->capacity - t->used) {
            return ESPL_OK;
        }
    }
    // Each copy without a parent is a tree.
    return espl__nursery_grow(
        a->context, &a->out->nursery, a->edit, from->count, a->command->count,
        parent == ESPL__NO_SLOT ? a->command->count * espl__tree_spare(from->count) : 0);
}

/// Prefetch what the commands after number `at` of the queue read and write, before each
/// ESPL__APPLY_BATCH commands (apply_prefetch.c). Reads ESPL__APPLY_AHEAD + ESPL__APPLY_BATCH commands
/// from it on, which must be of the same part, because another worker may be writing the entries of
/// another one.
void espl__apply_prefetch(const espl__forest *forest, const espl__apply_input *in, uint32_t at);
enum { ESPL__APPLY_AHEAD = 20, ESPL__APPLY_BATCH = 4 };
/// Prefetch what a command reads and writes of its operands and of their rows, all at once: for a command
/// that is applied alone, or with few others.
void espl__entry_prefetch(const espl__forest *forest, const espl__store *store,
                          const espl__entry *entry);
/// Prefetch for commands [begin, end) of the queue, in all other steps one after the other.
void espl__apply_prefetch_begin(const espl__forest *forest, const espl__apply_input *in,
                                uint32_t begin, uint32_t end);

#endif

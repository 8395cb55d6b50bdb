// SPDX-License-Identifier: MIT
// The stages of a playback: what each takes and what it writes.
//
// The context has what the stages share: the heap, the store and the forest of the world, the
// executor, the arena for outputs and scratch, and memory that is kept. A stage that runs on the
// workers gives each job a range of its own to write; the job reads the inputs, which do not change
// meanwhile. No stage depends on the number of workers.
//
// Preconditions of each stage: the stages before it returned ESPL_OK, and its output is {0}. A
// stage that fails leaves its output so that playback.c can undo and clean up. A stage writes
// nothing but its output and what the table in stage_data.h says.
#ifndef ESPALIER_LIB_COMMANDS_STAGES_H
#define ESPALIER_LIB_COMMANDS_STAGES_H

#include "lib/commands/custom_commands.h"
#include "lib/commands/stage_data.h"

// --- Stages that may fail ---

typedef struct espl__order_input {
    const espl__play_request *request;
    espl__custom_registry *custom; // scratch: the `end` of each custom command is written
} espl__order_input;

/// List the commands of all lanes in playback order, and take the custom commands out
/// (stage_order.c).
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__stage_order(espl__stage_context *context, const espl__order_input *in,
                              espl__ordered *out);

typedef struct espl__resolve_input {
    const espl__play_request *request;
    const espl__ordered *ordered;
} espl__resolve_input;

/// Find the slots of the operands, and the trees that each command writes to (stage_resolve.c).
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR.
espl_status espl__stage_resolve(espl__stage_context *context, const espl__resolve_input *in,
                                espl__resolved *out);

typedef struct espl__group_input {
    const espl__ordered *ordered;
    const espl__resolved *resolved;
} espl__group_input;

/// Divide the commands into independent groups, and find the closures of sources that no command
/// edits (stage_group.c). The touched trees are in the output also where the stage fails, because
/// their marks have to be cleared. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__stage_group(espl__stage_context *context, const espl__group_input *in,
                              espl__grouped *out);

typedef struct espl__apply_input {
    const espl__play_request *request;
    const espl__ordered *ordered;
    const espl__resolved *resolved;
    const espl__grouped *grouped;
} espl__apply_input;

/// Apply all commands to the trees (stage_apply.c). If it fails, the caller undoes the edits of its
/// parts.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR; if the request is strict,
///         the status of the first refused command.
espl_status espl__stage_apply(espl__stage_context *context, const espl__apply_input *in,
                              espl__applied *out);

typedef struct espl__reserve_input {
    const espl__play_request *request;
    const espl__ordered *ordered;
    const espl__grouped *grouped;
    const espl__applied *applied;
} espl__reserve_input;

/// List what changes in the store, and take all memory that the change and place stages need
/// (stage_reserve.c).
/// @param memory  out: the memory of the output of the change stage.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__stage_reserve(espl__stage_context *context, const espl__reserve_input *in,
                                espl__planned *out, espl__changed *memory);

// --- Stages that cannot fail ---

typedef struct espl__change_input {
    const espl__play_request *request;
    const espl__ordered *ordered;
    const espl__applied *applied;
    const espl__planned *planned;
} espl__change_input;

/// Give the made nodes their entities, and change the rows (stage_change.c).
/// @param out  its memory is taken.
void espl__stage_change(espl__stage_context *context, const espl__change_input *in,
                        espl__changed *out);

/// Move all nodes to their final slots, and bring worlds up to date (stage_place.c). Completes the
/// edits of the parts, which is what an edit is for: they cannot be undone from here on.
/// @return true where a world that it recomputed is not finite.
bool espl__stage_place(espl__stage_context *context, const espl__applied *applied);

/// espl__stage_place() for one part.
bool espl__place_one(espl__stage_context *context, const espl__applied *applied);

typedef struct espl__report_input {
    const espl__play_request *request;
    const espl__ordered *ordered;
    const espl__grouped *grouped;
    const espl__applied *applied;
    const espl__planned *planned;
    const espl__changed *changed;
    uint64_t nodes_laid_out; // by this playback
    bool has_overflowed;     // a recomputed world is not finite
} espl__report_input;

/// Write the result of each command, and the report (stage_report.c).
/// @param report  {0}.
void espl__stage_report(const espl__report_input *in, espl_report *report);

// --- Part of the order stage (custom_commands.c) ---

/// Take the custom commands out of the entries, and list their payloads by custom command.
void espl__custom_take(const espl__order_input *in, espl__ordered *ordered);

// --- Part of the report stage (custom_commands.c) ---

/// Write the results of the custom commands, and add them to the report.
void espl__custom_report(const espl__play_request *request, const espl__ordered *ordered,
                         espl_report *report);

// --- Parts of the reserve stage ---

/// List the made nodes that live, the rows that move or are removed, and the values that are given
/// (row_plan.c). Makes archetypes, and changes nothing else but marks, which it clears.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__plan_rows(espl__stage_context *context, const espl__reserve_input *in,
                            espl__planned *out, espl__changed *memory);

/// Tell whether a component of an archetype refers to entities (clone_references.c).
bool espl__references_in(const espl__store *store, uint32_t archetype);
/// Find what the references of all made nodes name, into out->references. Precondition: out has the
/// makes and their buckets. @return ESPL_OK, ESPL_ERR_NO_MEMORY: espl__references_free() is still
/// due.
espl_status espl__references_plan(espl__stage_context *context, const espl__reserve_input *in,
                                  espl__planned *out);
/// Count the nodes that died in the playback that made them and that a reference names: they need
/// an entity. @param references  NULL: 0.
size_t espl__references_lost(const struct espl__references *references);
/// Free what the plan took. @param references  may be NULL.
void espl__references_free(espl__heap *heap, struct espl__references *references);

// --- Parts of the change stage (clone_references.c) ---

/// Give entities to the lost nodes: see espl__references_lost(). Reserved.
void espl__references_name(espl__stage_context *context, struct espl__references *references);
/// Write the references of made nodes into their rows, and free the entities of lost nodes again.
void espl__references_write(espl__stage_context *context, const espl__applied *applied,
                            const struct espl__references *references);

#endif

// SPDX-License-Identifier: MIT
// Playback: recorded commands are carried out on the trees of a world, stage by stage.
//
// stage_data.h has the outputs of the stages, stages.h declares the stages. playback.c runs them in
// order. Stages 1 to 4 and reserve may fail. Then playback.c undoes the edits of the apply stage, the
// last part first, and the world is as it was before. Stages 5 to 7 cannot fail and allocate nothing.
//
// An immediate structural call does not run the stages: see immediate.h.
#ifndef ESPALIER_LIB_COMMANDS_PLAYBACK_H
#define ESPALIER_LIB_COMMANDS_PLAYBACK_H

#include "lib/commands/custom_commands.h"
#include "lib/commands/stage_data.h"
#include "lib/commands/stage_trace.h"

/// Commands of command buffers since the world was made. Invariant: accepted == applied + refused.
typedef struct espl__playback_totals {
    uint64_t accepted, applied, refused;
} espl__playback_totals;

/// The playback of a world. It must not move. The outputs hold until the next playback begins, but
/// what they point to, in the arena, only until this one ends.
typedef struct espl__playback {
    espl__stage_context context;
    espl__edit unlogged; // of immediate calls that need no memory: see attach_in_place.h
    espl__custom_registry custom;
    espl__stage_trace trace;
    espl__playback_totals totals;
    espl__ordered ordered;
    espl__resolved resolved;
    espl__grouped grouped;
    espl__applied applied;
    espl__planned planned;
    espl__changed changed;
    bool has_overflowed; // a recomputed world is not finite; false where the playback failed
} espl__playback;

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks);
void espl__playback_free(espl__playback *playback);
/// Free what is kept from one playback to the next. Precondition: no playback is under way.
void espl__playback_trim(espl__playback *playback);
/// Bytes that are kept from one playback to the next, under ESPL__FOR_COMMANDS.
size_t espl__playback_bytes(const espl__playback *playback);

/// Play lanes of commands.
///
/// @param report  out. It, the results and the created entities are written where ESPL_OK is returned.
/// @return ESPL_OK. Else the world is as it was: ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT,
///         ESPL_ERR_EXECUTOR; where the request is strict, the status that refuses the first refused
///         command, whose index is applied.first_refused (else UINT32_MAX).
espl_status espl__playback_run(espl__playback *playback, const espl__play_request *request,
                               espl_report *report);

#endif

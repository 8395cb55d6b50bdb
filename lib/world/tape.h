// SPDX-License-Identifier: MIT
// The tape of a world: a record of each call that changes the world, in the format of
// include/espalier/tape.h.
//
// A public function records itself by one macro, ESPL__TAPED(), around the call of the static
// function that does its work. The record is written before the work begins, so that it is on the
// tape where the work never ends, and the status follows when the work has returned. tape.c knows by
// the operation which arguments a record has. The exceptions:
//
// - Columns are written through pointers, without a call. espl_query_next(), espl_query_end() and
//   espl_write_parallel() record which columns the user wrote.
// - espl_tape_frame() writes its own record (lib/value/tape_frame.c).
//
// The tape is not a second set of public functions in front of the first, for three reasons.
// (1) A write of one entity records itself only after its handle was found: a layer in front would
// look the handle up a second time. (2) Calls of a writer arrive while jobs run. They are on the tape,
// and other calls, which are refused then and may come from any thread, are not. The function that
// does the work knows which one it is. (3) espl_create_at() and espl_instantiate() record the
// command that they built, and espl_sync() the command buffers that it plays, because functions of custom
// commands make calls of their own in between.
//
// A call without a tape pays one test of a pointer (espl__is_taped()).
#ifndef ESPALIER_LIB_WORLD_TAPE_H
#define ESPALIER_LIB_WORLD_TAPE_H

#include "lib/world/tape_bytes.h"
#include "lib/world/write_entries.h"

#include <espalier/archive.h>

struct espl__lane;

/// A call for the tape: its operation, and the arguments that its record has. Other fields are not
/// read.
typedef struct espl__taped_call {
    espl_tape_op op;
    espl_entity entity;               // the child of an attach
    espl_entity other;                // the parent of an attach, the next sibling of a sibling move
    uint32_t word;                    // extent, espl_keep, inherit flags, espl_axis, history
    size_t count;                     // entities, clones, or bytes of a name
    const espl_entity *entities;      // [count]
    const espl_entity *parents;       // [count]; of counterparts their originals
    const espl_query_def *query;      // of a change: stands for `entities`; NULL: all entities
    bool is_of_query;                 // `query` is read, and `entities` is not
    const espl_component *components; // [component_count]
    size_t component_count;
    espl_component component; // of a value
    const void *value;        // [size]; of a write by its kind
    size_t size;
    espl_write_kind kind;
    const char *name;   // [count]
    const float *point; // [3] target of a look at, pivot of a turn
    const float *by;    // [3] up hint of a look at, or NULL; [4] rotation of a turn
    const espl_attach_options *options;
    const espl_component_def *component_def;
    const espl_change_def *change;
    const espl_reserve_def *reserve;
    const espl_archive_known *known; // of an apply, or NULL
    const espl_history_def *history;
    uint64_t frame;
    const espl__entries *entries;
    const espl_command_buffer *commands;
    const struct espl__lane *lane; // its first command is recorded
} espl__taped_call;

/// Tell whether a call records itself. A call that arrives while jobs run is refused, and is not
/// recorded because it may come from any thread. Calls of a writer ask espl__is_taped() instead.
static inline bool espl__may_tape(const espl_world *world)
{
    return espl__is_taped(world) && !world->is_playing;
}

/// Begin the record of a call, and hand it to the sink. Writes nothing where an argument that the
/// record needs is missing or past its limit, because the call is refused then.
/// Precondition: the world has a tape, and no record is open.
void espl__tape_open(espl_world *world, const espl__taped_call *call);

/// Do the work of a call, and record the call if `is_recorded`. The arguments after `work` are
/// initialisers of an espl__taped_call, which is not built otherwise.
/// @param is_recorded  evaluated twice: espl__may_tape(), or of a writer espl__is_taped().
/// @param work         an expression of type espl_status, evaluated once, after the record has begun.
/// @return the status of the work.
#define ESPL__TAPED_IF(is_recorded, world, work, ...)                                      \
    espl__tape_end((is_recorded), (world),                                                 \
                   ((is_recorded)                                                          \
                        ? espl__tape_open((world), &(const espl__taped_call){__VA_ARGS__}) \
                        : (void)0,                                                         \
                    (work)))
/// Do the work of a call that is no writer's, and record it.
#define ESPL__TAPED(world, work, ...) \
    ESPL__TAPED_IF(espl__may_tape(world), world, work, __VA_ARGS__)

/// The end of ESPL__TAPED_IF().
static inline espl_status espl__tape_end(bool is_recorded, espl_world *world, espl_status status)
{
    return is_recorded ? espl__tape_close(world, status) : status;
}

#endif

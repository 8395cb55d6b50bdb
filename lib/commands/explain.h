// SPDX-License-Identifier: MIT
// Sentences about what is wrong with the arguments of a call, and the log line of a command that a
// recorder refuses.
//
// Input: arguments that a check refused. Output: a sentence for the log, or NULL where nothing is
// wrong. Runs only where a call is refused, so that it may take time. Changes nothing.
#ifndef ESPALIER_LIB_COMMANDS_EXPLAIN_H
#define ESPALIER_LIB_COMMANDS_EXPLAIN_H

#include "lib/base/reserved.h"
#include "lib/commands/command_buffer.h"
#include "lib/store/message.h"
#include "lib/tree/placement.h"

/// Room for the name of a kind of write.
typedef struct espl__kind_name {
    char text[72];
} espl__kind_name;

/// Name of a kind of write with its flag, "ESPL_WRITE_LOCAL_POSITION" for example; "unknown kind" for
/// any other number. @param out  perhaps written to.
const char *espl__write_kind_name(espl__kind_name *out, espl_write_kind kind);
/// Say what is wrong with a kind of write that does not exist.
const char *espl__kind_fault(espl_write_kind kind);
/// Say what is wrong with the kind or the value of a write, or NULL. Where neither is wrong, the world
/// lacks what the kind needs. @param value  NULL is wrong too.
const char *espl__write_fault(espl__sentence *out, espl_write_kind kind, const void *value);
/// Say what is wrong with the arguments of a look-at or of a turn about a point that is refused
/// with a status, or NULL.
const char *espl__look_at_fault(espl__sentence *out, const float *target, const float *up,
                                espl_status status);
const char *espl__rotate_about_fault(espl__sentence *out, const float *pivot, const float *by,
                                     espl_status status);
/// Tell whether a kind sets a whole transform: one that starts from {0} is remarked on.
static inline bool espl__write_sets_whole(espl_write_kind kind)
{
    switch (espl__write_base(kind)) {
    case ESPL_WRITE_LOCAL_POSE:
    case ESPL_WRITE_LOCAL_TRANSFORM:
    case ESPL_WRITE_WORLD_POSE:
    case ESPL_WRITE_WORLD_TRANSFORM:
    case ESPL_WRITE_PREVIOUS_LOCAL_POSE:
    case ESPL_WRITE_PREVIOUS_WORLD_POSE:
        return true;
    default:
        return false;
    }
}
/// Say which of scale and stretch is 0 in the value of a write that sets a whole transform, or
/// NULL: see espl__transform_blank().
const char *espl__write_blank(espl_write_kind kind, const void *value);

/// Say what is wrong with inherit flags, with the options of an attach, with the rules of a
/// creation or of a clone; a sentence, or NULL.
const char *espl__flags_fault(uint32_t flags);
const char *espl__options_fault(const espl_attach_options *options);
const char *espl__rules_fault(espl_link link, espl_place place, espl_dead_parent dead_parent,
                              uint32_t inherit, bool has_parent);

/// Of a component that a list names a second time.
extern const char espl__given_twice[];

/// What a refused recording is about. All of it may be left out.
typedef struct espl__cause {
    espl__mention named[3];            // a role of NULL ends the list
    const espl_component_value *value; // a component and the size that was given for it
    const espl_component *component;   // without a size
    const char *why; // for ESPL_ERR_ARGUMENT, ESPL_ERR_NOT_FINITE and ESPL_ERR_UNSUPPORTED, instead
                     // of the status's text
} espl__cause;

/// Tell the log hook why a command is not recorded. Any thread.
/// @param recorder  NULL: there is no hook to tell.
/// @param call      name of the public function.
/// @return the status.
espl_status espl__refuse_record(const espl_recorder *recorder, const char *call, espl_status status,
                                const espl__cause *cause);

/// Refuse a recording whose struct asks for what only later versions have: see ESPL__ASKS_LATER().
static inline espl_status espl__refuse_record_later(const espl_recorder *recorder, const char *call)
{
    const espl__cause later = {.why = ESPL__LATER_FAULT};

    return espl__refuse_record(recorder, call, ESPL_ERR_UNSUPPORTED, &later);
}

/// Log a status that may be a refusal, about nothing in particular. @return the status.
static inline espl_status espl__recorded(const espl_recorder *recorder, const char *call,
                                         espl_status status)
{
    const espl__cause none = {.why = NULL};

    return status >= 0 ? status : espl__refuse_record(recorder, call, status, &none);
}

/// Remark on a whole transform that is recorded with a scale or stretch of 0. A playback would be
/// too late to find the caller.
/// @param entity  and its role; null: none is named.
/// @param blank   says what is 0: espl__transform_blank(); NULL: nothing is.
void espl__remark_recorded(const espl_recorder *recorder, const char *call, const char *role,
                           espl_entity entity, const char *blank);

#endif

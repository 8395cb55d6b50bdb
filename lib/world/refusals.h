// SPDX-License-Identifier: MIT
// Refusals: each function logs why a call is refused, and returns the status. A status that is no
// refusal is not logged. `call` is the name of the public function. `why` is a sentence that says what is
// wrong with an argument, or NULL; it is logged with ESPL_ERR_ARGUMENT, ESPL_ERR_NOT_FINITE, ESPL_ERR_EXISTS
// and ESPL_ERR_UNSUPPORTED. Other statuses are logged with their own sentence, and ESPL_ERR_BUSY with what
// keeps the world busy.
#ifndef ESPALIER_LIB_WORLD_REFUSALS_H
#define ESPALIER_LIB_WORLD_REFUSALS_H

#include "lib/base/reserved.h"
#include "lib/store/message.h"
#include "lib/world/world_internal.h"

/// Refuse a call that names no entity.
espl_status espl__refuse_call(const espl_world *world, const char *call, espl_status status,
                              const char *why);
/// Refuse a call whose struct asks for what only later versions have: see ESPL__ASKS_LATER().
static inline espl_status espl__refuse_later(const espl_world *world, const char *call)
{
    return espl__refuse_call(world, call, ESPL_ERR_UNSUPPORTED, ESPL__LATER_FAULT);
}
/// Refuse a call that names entities. The one that the status is about comes first in the message;
/// null ones after the first are left out.
/// @param named  [count], at least 1.
espl_status espl__refuse_named(const espl_world *world, const char *call,
                               const espl__mention *named, size_t count, espl_status status,
                               const char *why);

/// Refuse a call that names one entity. A status that is no refusal returns at once.
static inline espl_status espl__refuse_why(const espl_world *world, const char *call,
                                           espl_entity entity, espl_status status, const char *why)
{
    return status >= 0 ? status
                       : espl__refuse_named(world, call, &(espl__mention){"entity", entity}, 1,
                                            status, why);
}

/// What is wrong with bytes that a call is given.
typedef struct espl__bytes_fault {
    const espl_format_fault *fault; // without a sentence: nothing
    const char *component;          // [component_size] the name of what it is about, or NULL
    size_t component_size;
    espl_entity parent; // that the call names, or null
} espl__bytes_fault;

/// Refuse a call that is given bytes, with the sentence of the fault, whatever the status. Without a sentence
/// the message is that of a call that names the parent.
espl_status espl__refuse_bytes(const espl_world *world, const char *call,
                               const espl__bytes_fault *about, espl_status status, const char *why);

/// Begin the message of a refusal that has parts of its own.
/// @param site  of the call, or NULL.
/// @return false: there is no log hook, no world or no refusal, and the message must not be
///         used.
bool espl__refusal_begin(espl__message *message, const espl_world *world, const char *call,
                         const char *site, espl_status status);
/// The entry for which a call on an array is refused.
typedef struct espl__refused_at {
    size_t first; // its number
    size_t count; // of the array
    size_t *out;  // where the caller wants the number, or NULL
} espl__refused_at;

/// Refuse a call on an array of entities for one entry. Postcondition: `*at->out` is its number.
/// Preconditions: the status is a refusal, and the entry is in the array.
espl_status espl__refuse_at(const espl_world *world, const char *call, const espl__refused_at *at,
                            const espl__mention *named, size_t count, espl_status status);
/// Add entities to a message, in the order of espl__refuse_named().
void espl__refusal_mention(espl__message *message, const espl_world *world,
                           const espl__mention *named, size_t count, espl_status status);
/// Send the message. Precondition: espl__refusal_begin() returned true.
void espl__refusal_send(espl__message *message, const espl_world *world, espl_status status,
                        const char *why);

/// Tell whether a required pointer of a call without a status is given, and log that it is NULL.
/// @param name  of the parameter.
bool espl__is_given(const espl_world *world, const char *call, const void *pointer,
                    const char *name);

/// Log a remark on a whole transform whose scale or stretch is 0: see espl__write_blank(). Does
/// nothing for other values.
/// @param site  of the call, or NULL.
/// @param entity  null: the message names none.
/// @param value  of the kind.
void espl__remark_zero(const espl_world *world, const char *call, const char *site,
                       espl_entity entity, espl_write_kind kind, const void *value);

#endif

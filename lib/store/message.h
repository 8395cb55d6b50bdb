// SPDX-License-Identifier: MIT
// Lines for the log and the trap. A line names the public call, its place in the source where it is
// known, the status, the entities and components concerned, and ends with a sentence:
//
//     espl_attach: ESPL_ERR_DEAD: parent 4.16777217, child 7.16777217: The entity does not live: ...
//
// Everything here runs only where a call is refused or something is to be remarked on.
#ifndef ESPALIER_LIB_STORE_MESSAGE_H
#define ESPALIER_LIB_STORE_MESSAGE_H

#include "lib/base/trap.h"
#include "lib/store/store.h"

#include <stdio.h>

/// Make the compiler check a format. On Windows the library prints by the formats of C11 as well.
#if defined(__MINGW_PRINTF_FORMAT)
#define ESPL__PRINTF(at, first) __attribute__((format(__MINGW_PRINTF_FORMAT, at, first)))
#elif defined(__GNUC__)
#define ESPL__PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ESPL__PRINTF(at, first)
#endif

/// A line under construction. What does not fit is left out.
typedef struct espl__message {
    const espl_hooks *hooks;
    const espl__store *store; // that has the names of entities, or NULL: no names are told
    size_t length;
    bool has_parts;  // a comma goes before the next part, not a colon
    char text[1536]; // a call has three entities at most, with a name each
} espl__message;

/// An entity and what it is to the call: "parent" for example.
typedef struct espl__mention {
    const char *role;
    espl_entity entity;
} espl__mention;

/// Begin a line: "espl_attach", or "espl_attach at game.c:12".
/// @param call  name of a public function.
/// @param site  file and line of the call, or NULL.
/// @return false where no log hook takes the line, so that there is nothing to do.
bool espl__message_begin(espl__message *message, const espl_hooks *hooks, const char *call,
                         const char *site);
/// Add the name of a status.
void espl__message_status(espl__message *message, espl_status status);
/// Add a part, as printf.
void espl__message_part(espl__message *message, const char *format, ...) ESPL__PRINTF(2, 3);
/// Longest text of a handle, with its terminator.
enum { ESPL__HANDLE_TEXT = 24 };
/// Write a handle as text, "4.16777217": index and generation.
void espl__handle_text(char out[static ESPL__HANDLE_TEXT], espl_entity entity);
/// The name of an entity; NULL for one that does not live or has none.
const char *espl__name_of_living(const espl__store *store, espl_entity entity);
/// Add an entity: "parent 4.16777217", or "parent 4.16777217 "mast"" with the name that it has.
void espl__message_entity(espl__message *message, const char *role, espl_entity entity);
/// Add a component: its name and number, or its number alone where the store has no such component.
void espl__message_component(espl__message *message, const espl__store *store,
                             espl_component component);
/// Add a component, and both sizes where `size` is not the size of its value.
void espl__message_value(espl__message *message, const espl__store *store, espl_component component,
                         size_t size);
/// End the line with a sentence, as printf, and hand it to the log hook, if there is one.
void espl__message_send(espl__message *message, espl_log_level level, const char *format, ...)
    ESPL__PRINTF(3, 4);
/// The same, and in checked builds hand the line to the trap too.
/// @param file, line  for the trap.
void espl__message_trap(espl__message *message, const char *file, int line, const char *format, ...)
    ESPL__PRINTF(4, 5);

/// Room for a sentence that is put together.
typedef struct espl__sentence {
    char text[96];
} espl__sentence;

/// Say which of some numbers is not finite: "position[1] is NaN." for example, or NULL.
const char *espl__floats_fault(espl__sentence *out, const char *name, const float *values,
                               size_t count);
/// Say what is wrong with a rotation: that it has no length, or which number is not finite; or NULL.
const char *espl__rotation_fault(espl__sentence *out, const char *name, const float q[4]);
/// Say what is wrong with a transform, or NULL.
const char *espl__transform_fault(espl__sentence *out, const espl_transform *value);

/// Say which of scale and stretch is 0 in a whole transform that is written or made: "scale is 0"
/// for example, or NULL. That is legal, and the usual mistake of a caller who fills in a part of
/// {0}. A scale of -0 does not come from {0} and is not meant.
const char *espl__transform_blank(const espl_transform *value);
/// End the line with a remark on that.
void espl__message_blank(espl__message *message, const char *blank);

/// How a call uses a component.
typedef enum espl__use {
    ESPL__USE_LISTED, ///< named in a list or a query; roles are fine
    ESPL__USE_TAKEN,  ///< taken away
    ESPL__USE_GIVEN, ///< given with a value of some size; that of ESPL_TRANSFORM is an espl_transform
    ESPL__USE_VALUE, ///< its value alone is read or set
} espl__use;

/// Say what is wrong with the use of a component, or with the size of its value: a sentence, or NULL.
const char *espl__component_fault(const espl__store *store, espl_component component, size_t size,
                                  espl__use use);

/// Tell whether a component is a role, which follows from the hierarchy.
static inline bool espl__is_role(espl_component component)
{
    return component >= ESPL_SOLO && component <= ESPL_MEMBER;
}

/// Size of the value that is given for a component that the store has.
static inline size_t espl__given_size(espl_component component, const espl__component_info *info)
{
    return component == ESPL_TRANSFORM ? sizeof(espl_transform) : info->size;
}

#endif

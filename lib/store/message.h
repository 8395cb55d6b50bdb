// SPDX-License-Identifier: MIT
// Lines for the log and the trap. A line has the public call, the file and line of the call where
// they are known, the status, the entities and components concerned, and a sentence at its end:
//
//     espl_attach: ESPL_ERR_DEAD: parent 4.16777217, child 7.16777217: The entity does not live:
//     ...
//
// Nothing here is on a fast path: a line is written when a call is refused, or for a warning.
// Nothing allocates.
#ifndef ESPALIER_LIB_STORE_MESSAGE_H
#define ESPALIER_LIB_STORE_MESSAGE_H

#include "lib/base/trap.h"
#include "lib/store/store.h"

#include <stdio.h>
#include <string.h>

/// Make the compiler check a format. On Windows the library prints by the formats of C11 as well.
#if defined(__MINGW_PRINTF_FORMAT)
#define ESPL__PRINTF(at, first) __attribute__((format(__MINGW_PRINTF_FORMAT, at, first)))
#elif defined(__GNUC__)
#define ESPL__PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ESPL__PRINTF(at, first)
#endif

/// A line that is being written. Text past the end of the buffer is cut off.
typedef struct espl__message {
    const espl_hooks *hooks;
    const espl__store *store; // with the names of entities, or NULL: entities have handles only
    size_t length;
    bool has_parts;  // the next part follows a comma, the first part a colon
    char text[1536]; // room for the names of three entities, which is the most that a call has
} espl__message;

/// An entity and its role in the call, such as "parent".
typedef struct espl__mention {
    const char *role;
    espl_entity entity;
} espl__mention;

/// Begin a line: "espl_attach", or "espl_attach at game.c:12".
/// @param call  name of a public function.
/// @param site  file and line of the call, or NULL.
/// @return false where there is no log hook, so that the caller need not write the line.
bool espl__message_begin(espl__message *message, const espl_hooks *hooks, const char *call,
                         const char *site);
/// Add the name of a status.
void espl__message_status(espl__message *message, espl_status status);
/// Add a part, as printf.
void espl__message_part(espl__message *message, const char *format, ...) ESPL__PRINTF(2, 3);
/// Size of the longest text of a handle, the terminator included.
enum { ESPL__HANDLE_TEXT = 24 };
/// Write a handle as text, "4.16777217": index and generation.
void espl__handle_text(char out[ESPL__LEAST ESPL__HANDLE_TEXT], espl_entity entity);
/// Return the name of a living entity, or NULL where it has none or is dead.
const char *espl__name_of_living(const espl__store *store, espl_entity entity);
/// Add an entity: "parent 4.16777217", or "parent 4.16777217 "mast"" where it has a name.
void espl__message_entity(espl__message *message, const char *role, espl_entity entity);
/// Add a component: its name and number, or its number alone where the store has no such component.
void espl__message_component(espl__message *message, const espl__store *store,
                             espl_component component);
/// Add a component, and both sizes where `size` is not the size of its value.
void espl__message_value(espl__message *message, const espl__store *store, espl_component component,
                         size_t size);
/// End the line with a sentence, as printf, and pass it to the log hook, if there is one.
void espl__message_send(espl__message *message, espl_log_level level, const char *format, ...)
    ESPL__PRINTF(3, 4);
/// Send the message, and in builds with assertions pass the line to the trap as well.
/// @param file, line  for the trap.
void espl__message_trap(espl__message *message, const char *file, int line, const char *format, ...)
    ESPL__PRINTF(4, 5);

/// As espl__message_trap() in every build, for faults that the library tells apart at no cost. A build without
/// assertions does not abort where there is no trap hook.
void espl__message_trap_always(espl__message *message, const char *file, int line,
                               const char *format, ...) ESPL__PRINTF(4, 5);

/// Buffer of a sentence.
typedef struct espl__sentence {
    char text[96];
} espl__sentence;

/// Write which of some numbers is not finite, such as "position[1] is NaN.", or return NULL.
const char *espl__floats_fault(espl__sentence *out, const char *name, const float *values,
                               size_t count);
/// Write the fault of a rotation: its length is 0, or a number is not finite. NULL: it is valid.
const char *espl__rotation_fault(espl__sentence *out, const char *name, const float q[4]);
/// Write the fault of a transform. NULL: it is valid.
const char *espl__transform_fault(espl__sentence *out, const espl_transform *value);

/// Return which of scale and stretch is 0 in a transform, such as "scale is 0", or NULL. A scale of
/// 0 is valid, but it is often a mistake: the caller set some fields of {0}. A scale of -0 is none,
/// because {0} has no -0.
const char *espl__transform_blank(const espl_transform *value);
/// Tell whether the scale of a pose, or of a transform, is the 0 that {0} leaves behind. The log gets
/// a remark on it: see espl__transform_blank(). One compare, because every whole write passes here.
/// @param pose  of any alignment.
static inline bool espl__pose_is_blank(const void *pose)
{
    static const float blank = 0;

    return memcmp((const unsigned char *)pose + offsetof(espl_pose, scale), &blank, sizeof blank) ==
           0;
}
/// End the line with a warning about such a transform, and pass it to the log hook.
void espl__message_blank(espl__message *message, const char *blank);

/// How a call uses a component.
typedef enum espl__use {
    ESPL__USE_LISTED, ///< in a list or a query; roles are valid
    ESPL__USE_TAKEN,  ///< removed
    ESPL__USE_GIVEN,  ///< with a value; that of ESPL_TRANSFORM is an espl_transform
} espl__use;

/// Return the fault of a use of a component, or of the size of its value, as a sentence, or NULL.
const char *espl__component_fault(const espl__store *store, espl_component component, size_t size,
                                  espl__use use);

/// Tell whether a component is a role, which follows from the hierarchy.
static inline bool espl__is_role(espl_component component)
{
    return component >= ESPL_SOLO && component <= ESPL_MEMBER;
}

/// Return the size of the value with which a component is added.
static inline size_t espl__given_size(espl_component component, const espl__component_info *info)
{
    return component == ESPL_TRANSFORM ? sizeof(espl_transform) : info->size;
}

#endif

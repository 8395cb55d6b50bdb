// SPDX-License-Identifier: MIT
// Lines of text for the log and the trap. The buffer is part of the message, and vsnprintf() bounds
// each write, so that nothing here can fail or allocate.
//
// A line that does not fit is cut at its end. Invariant: the text ends with its terminator at
// `length`.
#include "lib/store/message.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- Text ---

// Replace control characters in the text from a length on. Names have none, but a message also
// contains what was refused as a name, sites, and words of the environment.
static void keep_one_line(espl__message *m, size_t from)
{
    for (size_t i = from; i < m->length; ++i) {
        const unsigned char byte = (unsigned char)m->text[i];

        if (byte < 0x20 || byte == 0x7f) {
            m->text[i] = '?';
        }
    }
}

// Append text as vprintf. `length` stays below the size of the buffer, so that the terminator fits.
ESPL__PRINTF(2, 0)
static void append_arguments(espl__message *m, const char *format, va_list arguments)
{
    ESPL_CHECK(m->length < sizeof m->text);
    const size_t room = sizeof m->text - m->length;
    const int more = vsnprintf(m->text + m->length, room, format, arguments);
    // A negative result means a wrong format. All formats are constants of the library.
    const size_t wanted = more < 0 ? 0 : (size_t)more; // GCOVR_EXCL_BR_LINE

    const size_t from = m->length;

    m->length += wanted < room ? wanted : room - 1;
    keep_one_line(m, from);
    ESPL_CHECK(m->length < sizeof m->text && m->text[m->length] == '\0');
}

// Append text as printf.
ESPL__PRINTF(2, 3) static void append_text(espl__message *m, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append_arguments(m, format, arguments);
    va_end(arguments);
}

// Append what separates the next part from the text before it.
static void begin_message_part(espl__message *m)
{
    append_text(m, "%s", m->has_parts ? ", " : ": ");
    m->has_parts = true;
}

// The line begins also without a log hook, because a trap prints it in any case.
bool espl__message_begin(espl__message *m, const espl_hooks *hooks, const char *call,
                         const char *site)
{
    m->hooks = hooks;
    m->store = NULL;
    m->length = 0;
    m->has_parts = false;
    append_text(m, site != NULL ? "%s at %s" : "%s", call, site);
    return hooks != NULL && hooks->log != NULL;
}

void espl__message_status(espl__message *m, espl_status status)
{
    append_text(m, ": %s", espl_status_name(status));
}

// The first part follows a colon, the others follow a comma.
void espl__message_part(espl__message *m, const char *format, ...)
{
    va_list arguments;

    begin_message_part(m);
    va_start(arguments, format);
    append_arguments(m, format, arguments);
    va_end(arguments);
}

void espl__handle_text(char out[ESPL__LEAST ESPL__HANDLE_TEXT], espl_entity entity)
{
    (void)snprintf(out, ESPL__HANDLE_TEXT, "%lu.%lu", (unsigned long)entity.index,
                   (unsigned long)entity.generation);
}

// The name of an entity ends with it, and its index may have another entity's name by now. The text
// is the store's, valid until the name changes.
const char *espl__name_of_living(const espl__store *store, espl_entity entity)
{
    const espl__name *const name =
        espl__entity_is_alive(store, entity) ? espl__name_of(&store->names, entity.index) : NULL;

    return name != NULL ? name->text : NULL;
}

// The handle is printed also for an entity with a name, because names are not unique.
void espl__message_entity(espl__message *m, const char *role, espl_entity entity)
{
    const char *const name = m->store != NULL ? espl__name_of_living(m->store, entity) : NULL;
    char handle[ESPL__HANDLE_TEXT];

    espl__handle_text(handle, entity);
    espl__message_part(m, "%s %s", role, handle);
    if (name != NULL) {
        append_text(m, " \"%s\"", name);
    }
}

// --- Components ---

// A number that is not registered is printed as it is: it may come from another world.
void espl__message_component(espl__message *m, const espl__store *store, espl_component component)
{
    const espl__component_info *const info = espl__component_info_of(store, component);

    if (info != NULL) {
        espl__message_part(m, "component \"%s\" (%lu)", info->name, (unsigned long)component);
    } else {
        espl__message_part(m, "component %lu", (unsigned long)component);
    }
}

void espl__message_value(espl__message *m, const espl__store *store, espl_component component,
                         size_t size)
{
    const espl__component_info *const info = espl__component_info_of(store, component);

    espl__message_component(m, store, component);
    if (info != NULL && espl__given_size(component, info) != size) {
        append_text(m, " of %zu bytes, %zu given", espl__given_size(component, info), size);
    }
}

// Order: number, role, transform, size, each where the use rules it out. The uses are ordered, so
// that those from ESPL__USE_GIVEN on have a size.
const char *espl__component_fault(const espl__store *store, espl_component component, size_t size,
                                  espl__use use)
{
    const espl__component_info *const info = espl__component_info_of(store, component);

    if (info == NULL) {
        return "The world has no component of that number; register it, or call "
               "espl_component_find().";
    }
    if (use != ESPL__USE_LISTED && espl__is_role(component)) {
        return "A role follows from the hierarchy; attach or detach the entity instead.";
    }
    if (use == ESPL__USE_GIVEN && size != espl__given_size(component, info)) {
        return "The size is not that of the component; pass the size that was registered.";
    }
    return NULL;
}

// --- Transforms ---

// The first number that is not finite is named, with its index where there are several.
const char *espl__floats_fault(espl__sentence *out, const char *name, const float *values,
                               size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const char *const what = isnan(values[i]) ? "NaN" : "infinite";

        if (isfinite(values[i])) {
            continue;
        }
        if (count == 1) {
            (void)snprintf(out->text, sizeof out->text, "%s is %s.", name, what);
        } else {
            (void)snprintf(out->text, sizeof out->text, "%s[%zu] is %s.", name, i, what);
        }
        return out->text;
    }
    return NULL;
}

// A length of 0 is tested by the components, because the square of a small float may underflow to
// 0.
const char *espl__rotation_fault(espl__sentence *out, const char *name, const float q[4])
{
    const char *const fault = espl__floats_fault(out, name, q, 4);

    if (fault != NULL || q[0] != 0 || q[1] != 0 || q[2] != 0 || q[3] != 0) {
        return fault;
    }
    (void)snprintf(out->text, sizeof out->text,
                   "%s has no length; start from espl_transform_identity().", name);
    return out->text;
}

// Rotation, position, scale, stretch: the order of the struct.
const char *espl__transform_fault(espl__sentence *out, const espl_transform *value)
{
    const char *fault = espl__rotation_fault(out, "rotation", value->rotation);

    fault = fault != NULL ? fault : espl__floats_fault(out, "position", value->position, 3);
    fault = fault != NULL ? fault : espl__floats_fault(out, "scale", &value->scale, 1);
    return fault != NULL ? fault : espl__floats_fault(out, "stretch", value->stretch, 3);
}

// Tell whether all bits of a number are 0, as {0} leaves them.
static bool is_blank(float value)
{
    uint32_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    return bits == 0;
}

// Constants for all cases, so that the caller needs no buffer.
const char *espl__transform_blank(const espl_transform *value)
{
    const bool is_flat =
        is_blank(value->stretch[0]) || is_blank(value->stretch[1]) || is_blank(value->stretch[2]);

    if (is_blank(value->scale)) {
        return is_flat ? "scale and stretch are 0" : "scale is 0";
    }
    return is_flat ? "stretch is 0" : NULL;
}

void espl__message_blank(espl__message *m, const char *blank)
{
    espl__message_send(
        m, ESPL_LOG_WARNING,
        "The %s; if that is a mistake, start from espl_transform_identity() instead of {0}.",
        blank);
}

// --- Sending ---

// Append the sentence at the end of the line.
ESPL__PRINTF(2, 0)
static void end_line(espl__message *m, const char *format, va_list arguments)
{
    append_text(m, ": ");
    append_arguments(m, format, arguments);
}

// Pass the line to the log hook, if there is one.
static void log_line(const espl__message *m, espl_log_level level)
{
    if (m->hooks != NULL && m->hooks->log != NULL) {
        m->hooks->log(m->hooks->user, level, m->text);
    }
}

// The line is complete after this call: no part may follow.
void espl__message_send(espl__message *m, espl_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_line(m, format, arguments);
    va_end(arguments);
    log_line(m, level);
}

// The log comes before the trap, because a trap hook may not return. Builds without assertions only
// log, and the caller then refuses the call.
void espl__message_trap(espl__message *m, const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_line(m, format, arguments);
    va_end(arguments);
    log_line(m, ESPL_LOG_ERROR);
    if (ESPL_CHECKS >= 1) {
        espl__trap(m->hooks, file, line, m->text);
    }
}

void espl__message_trap_always(espl__message *m, const char *file, int line, const char *format,
                               ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_line(m, format, arguments);
    va_end(arguments);
    log_line(m, ESPL_LOG_ERROR);
    if (ESPL_CHECKS >= 1 || (m->hooks != NULL && m->hooks->trap != NULL)) {
        espl__trap(m->hooks, file, line, m->text);
    }
}

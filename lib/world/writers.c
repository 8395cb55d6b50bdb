// SPDX-License-Identifier: MIT
// Writes of a job of a parallel write, through its writer: espl_writer_write() and its siblings.
//
// They do what the immediate calls of write.c do, by the same functions of slot_writes.c. The
// differences: a writer writes only trees of its job, so that no lock is needed; what the trees
// share, such as freeing memory, is left to the calling thread; and refusals are counted in the
// report of the parallel write, with the first of them. Checked builds verify that the calling
// thread is inside the writer's job and that the tree is the job's.
#include "lib/world/writers.h"

#include "lib/world/entity_slots.h"
#include "lib/world/ownership.h"
#include "lib/world/refusals.h"
#include "lib/world/slot_writes.h"

// --- Begin and end of a call ---

// Begin a call of a writer.
// @return false: the writer is NULL, or not that of a job that the thread is inside.
static bool begin_call(espl_writer *writer, const char *call, const char *site)
{
    if (writer == NULL) {
        return false;
    }
#if ESPL_CHECKS >= 1
    if (!espl__writer_is_of_thread(writer)) {
        espl__message m;

        (void)espl__message_begin(&m, &writer->world->hooks, call, site);
        espl__message_trap(
            &m, __FILE__, __LINE__,
            "The writer was handed to another thread, or to a job that is over; write "
            "in the function of the parallel write, through the writer it is passed.");
        return false;
    }
    writer->is_writing = true;
    writer->site = site;
#else
    (void)call;
    (void)site;
#endif
    return true;
}

// Find the slot of an entity that the writer may write.
static espl_status find_own(const espl_writer *writer, espl_entity entity, uint32_t *slot)
{
    const espl_status status = espl__find_placed(writer->world, entity, slot);

#if ESPL_CHECKS >= 1
    if (status == ESPL_OK && !espl__writer_owns(writer, *slot)) {
        return ESPL_ERR_NOT_OWNER;
    }
#endif
    return status;
}

// What the message of a refused call names.
typedef struct about {
    const char *call, *site;
    espl_entity entity;
    const char *why;  // NULL: the status says it
    const char *kind; // name of the kind of write, or NULL
} about;

// Count and log a refusal.
static espl_status refuse_through_writer(espl_writer *writer, const about *a, espl_status status)
{
    const espl__mention named = {"entity", a->entity};
    espl__message m;

    ESPL_CHECK(status < 0 && writer->refused < SIZE_MAX);
    if (writer->refused++ == 0) {
        writer->first_refused = a->entity;
        writer->first_status = status;
    }
#if ESPL_CHECKS >= 1
    if (status == ESPL_ERR_NOT_OWNER) {
        return espl__refuse_trespass(writer->world, a->call, &named, 1, a->kind);
    }
#endif
    if (espl__refusal_begin(&m, writer->world, a->call, a->site, status)) {
        espl__message_entity(&m, named.role, named.entity);
        if (a->kind != NULL) {
            espl__message_part(&m, "%s", a->kind);
        }
        espl__refusal_send(&m, writer->world, status, a->why);
    }
    return status;
}

// End a call that was begun. @return the status.
static espl_status end_call(espl_writer *writer, const about *a, espl_status status)
{
    if (status < 0) {
        status = refuse_through_writer(writer, a, status);
    }
    // So also where the write recomputed nothing.
    writer->context.has_overflowed = writer->context.has_overflowed || status == ESPL_OVERFLOW;
#if ESPL_CHECKS >= 1
    writer->is_writing = false;
#endif
    return status;
}

// --- Kinds ---

// Out of line, because it needs stack for a sentence.
static ESPL__APART espl_status refuse_writer_write(espl_writer *writer, about *a,
                                                   espl_write_kind kind, const void *value,
                                                   espl_status status)
{
    espl__kind_name name;
    espl__sentence sentence;

    a->kind = espl__write_kind_name(&name, kind);
    if (status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE ||
        status == ESPL_ERR_UNSUPPORTED) {
        a->why = espl__write_fault(&sentence, kind, value);
    }
    return end_call(writer, a, status);
}

espl_status espl_writer_write(espl_writer *writer, espl_entity entity, espl_write_kind kind,
                              const void *value, const char *site)
{
    about a = {.call = "espl_writer_write", .site = site, .entity = entity};
    uint32_t slot = 0;

    if (!begin_call(writer, a.call, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    ESPL_CHECK(writer->context.is_job && espl__is_parallel(writer->world));
    espl_status status =
        espl__write_exists(kind) ? find_own(writer, entity, &slot) : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK) {
        status = espl__slot_write(writer->world, &writer->context, slot, kind, value);
    }
    if (status < 0) {
        return refuse_writer_write(writer, &a, kind, value, status);
    }
    if (espl__write_sets_whole(kind)) {
        espl__remark_zero(writer->world, a.call, site, entity, kind, value);
    }
    return end_call(writer, &a, status);
}

// --- Edits ---

// What the calls do that are no kind of write.
static espl_status edit_by_writer(espl_writer *writer, about *a, const espl__slot_edit *edit)
{
    espl__sentence sentence;
    uint32_t slot = 0;

    if (!begin_call(writer, a->call, a->site)) {
        return ESPL_ERR_ARGUMENT;
    }
    ESPL_CHECK(writer->context.is_job && espl__is_parallel(writer->world));
    espl_status status =
        espl__slot_edit_is_sound(edit) ? find_own(writer, a->entity, &slot) : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK) {
        status = espl__slot_edit_apply(writer->world, &writer->context, slot, edit);
    }
    if (status < 0) {
        a->why = espl__slot_edit_fault(&sentence, edit, status);
    }
    return end_call(writer, a, status);
}

espl_status espl_writer_look_at(espl_writer *writer, espl_entity entity, const float target[3],
                                const float *up, espl_axis forward, const char *site)
{
    const espl__slot_edit edit = {
        .op = ESPL_TAPE_LOOK_AT, .point = target, .by = up, .word = (uint32_t)forward};

    return edit_by_writer(
        writer, &(about){.call = "espl_writer_look_at", .site = site, .entity = entity}, &edit);
}

espl_status espl_writer_rotate_about(espl_writer *writer, espl_entity entity, const float pivot[3],
                                     const float by[4], const char *site)
{
    const espl__slot_edit edit = {.op = ESPL_TAPE_ROTATE_ABOUT, .point = pivot, .by = by};

    return edit_by_writer(
        writer, &(about){.call = "espl_writer_rotate_about", .site = site, .entity = entity},
        &edit);
}

espl_status espl_writer_set_inherit(espl_writer *writer, espl_entity entity, uint32_t flags,
                                    const char *site)
{
    const espl__slot_edit edit = {.op = ESPL_TAPE_INHERIT, .word = flags};

    return edit_by_writer(
        writer, &(about){.call = "espl_writer_set_inherit", .site = site, .entity = entity}, &edit);
}

// --- Properties ---

uint32_t espl_writer_job(const espl_writer *writer)
{
    return writer != NULL ? writer->job : 0;
}

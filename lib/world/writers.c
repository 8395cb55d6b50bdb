// SPDX-License-Identifier: MIT
// Writing through a writer: what the calls at once do, by a job that owns the hierarchy.
#include "lib/world/writers.h"

#include "lib/commands/explain.h"
#include "lib/world/slot_writes.h"
#include "lib/world/tape.h"

// --- Before and after ---

// A call of a writer begins. false: it is not in the hand of this thread.
static bool begin(espl_writer *writer, const char *call, const char *site)
{
    if (writer == NULL) {
        return false;
    }
#if ESPL_CHECKS >= 1
    if (!espl__writer_is_at_hand(writer)) {
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

// Slot of an entity that the writer may write.
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

// What a call of a writer is about, for its message.
typedef struct about {
    const char *call, *site;
    espl_entity entity;
    const char *why;  // NULL: the status says it
    const char *kind; // name of the kind of write, or NULL
} about;

static espl_status refuse_through_writer(espl_writer *writer, const about *a, espl_status status)
{
    const espl__mention named = {"entity", a->entity};
    espl__message m;

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

// A call of a writer that was begun ends.
static espl_status end(espl_writer *writer, const about *a, espl_status status)
{
    if (status < 0) {
        status = refuse_through_writer(writer, a, status);
    }
#if ESPL_CHECKS >= 1
    writer->is_writing = false;
#endif
    return status;
}

// --- Kinds ---

static ESPL__APART espl_status refuse_writer_write(espl_writer *writer, about *a,
                                                   espl_write_kind kind, const void *value,
                                                   espl_status status)
{
    espl__sentence sentence;

    a->kind = espl__write_kind_name(kind);
    if (status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE) {
        a->why = espl__write_fault(&sentence, kind, value);
    }
    return end(writer, a, status);
}

espl_status espl_writer_write(espl_writer *writer, espl_entity entity, espl_write_kind kind,
                              const void *value, const char *site)
{
    about a = {.call = "espl_writer_write", .site = site, .entity = entity};
    uint32_t slot = 0;

    if (!begin(writer, a.call, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = (unsigned)kind < ESPL_WRITE_KIND_COUNT ? find_own(writer, entity, &slot)
                                                                : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_write(writer->world, entity, kind, value);
    }
    if (status == ESPL_OK) {
        status = espl__slot_write(writer->world, &writer->context, slot, kind, value);
        status = espl__tape_written(writer->world, status);
    }
    if (status < 0) {
        return refuse_writer_write(writer, &a, kind, value, status);
    }
    if (espl__write_sets_whole(kind)) {
        espl__remark_zero(writer->world, a.call, site, entity, kind, value);
    }
    return end(writer, &a, status);
}

// --- Helpers ---

espl_status espl_writer_look_at(espl_writer *writer, espl_entity entity, const float target[3],
                                const float *up, espl_axis forward, const char *site)
{
    about a = {.call = "espl_writer_look_at", .site = site, .entity = entity};
    espl__sentence sentence;
    uint32_t slot = 0;

    if (!begin(writer, a.call, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = target != NULL && (unsigned)forward <= (unsigned)ESPL_AXIS_BACK
                             ? find_own(writer, entity, &slot)
                             : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_look_at(writer->world, entity, target, up, forward);
    }
    if (status == ESPL_OK) {
        status = espl__slot_look_at(writer->world, &writer->context, slot, target, up, forward);
        status = espl__tape_written(writer->world, status);
    }
    if (status < 0) {
        a.why = espl__look_at_fault(&sentence, target, up, status);
    }
    return end(writer, &a, status);
}

espl_status espl_writer_rotate_about(espl_writer *writer, espl_entity entity, const float pivot[3],
                                     const float by[4], const char *site)
{
    about a = {.call = "espl_writer_rotate_about", .site = site, .entity = entity};
    espl__sentence sentence;
    uint32_t slot = 0;

    if (!begin(writer, a.call, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status =
        pivot != NULL && by != NULL ? find_own(writer, entity, &slot) : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_rotate_about(writer->world, entity, pivot, by);
    }
    if (status == ESPL_OK) {
        status = espl__slot_rotate_about(writer->world, &writer->context, slot, pivot, by);
        status = espl__tape_written(writer->world, status);
    }
    if (status < 0) {
        a.why = espl__rotate_about_fault(&sentence, pivot, by, status);
    }
    return end(writer, &a, status);
}

espl_status espl_writer_set_inherit(espl_writer *writer, espl_entity entity, uint32_t flags,
                                    const char *site)
{
    about a = {.call = "espl_writer_set_inherit", .site = site, .entity = entity};
    uint32_t slot = 0;

    if (!begin(writer, a.call, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = find_own(writer, entity, &slot);

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_word(writer->world, ESPL_TAPE_INHERIT, entity, flags);
    }
    if (status == ESPL_OK) {
        status = espl__slot_inherit(writer->world, &writer->context, slot, flags);
        status = espl__tape_written(writer->world, status);
    }
    if (status == ESPL_ERR_ARGUMENT) {
        a.why = espl__flags_fault(flags);
    }
    return end(writer, &a, status);
}

// --- Asking ---

uint32_t espl_writer_job(const espl_writer *writer)
{
    return writer != NULL ? writer->job : 0;
}

espl_world *espl_writer_world(const espl_writer *writer)
{
    return writer != NULL ? writer->world : NULL;
}

// SPDX-License-Identifier: MIT
// Writing through a writer: what the calls at once do, by a job that owns the hierarchy.
#include "lib/world/writers.h"

#include "lib/world/slot_writes.h"
#include "lib/world/tape.h"

// --- Before and after ---

// A call of a writer begins. false: it is not in the hand of this thread.
static bool begin(espl_writer *writer, const char *site)
{
    if (!ESPL_DEMAND(NULL, writer != NULL)) {
        return false;
    }
#if ESPL_CHECKS >= 1
    if (!ESPL_DEMAND(&writer->world->hooks, espl__writer_is_at_hand(writer))) {
        return false;
    }
    writer->is_writing = true;
    writer->site = site;
#else
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

static espl_status refuse(espl_writer *writer, const char *operation, espl_entity entity,
                          espl_status status)
{
    if (writer->refused++ == 0) {
        writer->first_refused = entity;
        writer->first_status = status;
    }
    return espl__refuse(writer->world, operation, entity, status);
}

// A call of a writer that was begun ends.
static espl_status end(espl_writer *writer, const char *operation, espl_entity entity,
                       espl_status status)
{
    if (status < 0) {
        status = refuse(writer, operation, entity, status);
    }
#if ESPL_CHECKS >= 1
    writer->is_writing = false;
#endif
    return status;
}

// --- Kinds ---

espl_status espl_writer_write(espl_writer *writer, espl_entity entity, espl_write_kind kind,
                              const void *value, const char *site)
{
    uint32_t slot = 0;

    if (!begin(writer, site)) {
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
    return end(writer, espl__write_operation(kind), entity, status);
}

// --- Helpers ---

espl_status espl_writer_look_at(espl_writer *writer, espl_entity entity, const float target[3],
                                const float *up, espl_axis forward, const char *site)
{
    uint32_t slot = 0;

    if (!begin(writer, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status =
        ESPL_DEMAND(&writer->world->hooks,
                    target != NULL && (unsigned)forward <= (unsigned)ESPL_AXIS_BACK)
            ? find_own(writer, entity, &slot)
            : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_look_at(writer->world, entity, target, up, forward);
    }
    if (status == ESPL_OK) {
        status = espl__slot_look_at(writer->world, &writer->context, slot, target, up, forward);
        status = espl__tape_written(writer->world, status);
    }
    return end(writer, "look at", entity, status);
}

espl_status espl_writer_rotate_about(espl_writer *writer, espl_entity entity, const float pivot[3],
                                     const float by[4], const char *site)
{
    uint32_t slot = 0;

    if (!begin(writer, site)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = ESPL_DEMAND(&writer->world->hooks, pivot != NULL && by != NULL)
                             ? find_own(writer, entity, &slot)
                             : ESPL_ERR_ARGUMENT;

    if (status == ESPL_OK && espl__is_taped(writer->world)) {
        espl__tape_rotate_about(writer->world, entity, pivot, by);
    }
    if (status == ESPL_OK) {
        status = espl__slot_rotate_about(writer->world, &writer->context, slot, pivot, by);
        status = espl__tape_written(writer->world, status);
    }
    return end(writer, "rotate about", entity, status);
}

espl_status espl_writer_set_inherit(espl_writer *writer, espl_entity entity, uint32_t flags,
                                    const char *site)
{
    uint32_t slot = 0;

    if (!begin(writer, site)) {
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
    return end(writer, "set inherit flags", entity, status);
}

// --- Asking ---

uint32_t espl_writer_job(const espl_writer *writer)
{
    return ESPL_DEMAND(NULL, writer != NULL) ? writer->job : 0;
}

espl_world *espl_writer_world(const espl_writer *writer)
{
    return ESPL_DEMAND(NULL, writer != NULL) ? writer->world : NULL;
}

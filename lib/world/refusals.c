// SPDX-License-Identifier: MIT
// Messages of refused calls, and what they say of a busy world.
//
// A refusal is logged once, by the public function that returns the status, or by the code that it
// shares with others. Nothing here changes what a call does: without a log hook all of it is
// skipped.
#include "lib/world/refusals.h"

#include "lib/commands/explain.h"
#include "lib/world/entity_slots.h"
#include "lib/world/iterations.h"
#include "lib/world/ownership.h"
#include "lib/world/writers.h"

// Say what keeps the world busy. The narrowest cause first: a parallel write is also a playback.
static void send_busy(espl__message *m, const espl_world *world)
{
    const espl__iteration *const last = espl__last_iteration(world);

    if (espl__is_parallel(world)) {
        const char *const site = world->parallel->def->site;

        espl__message_send(m, ESPL_LOG_WARNING,
                           "The parallel write%s%s is under way; write through its espl_writer, or "
                           "record a command.",
                           site != NULL ? " that began at " : "", site != NULL ? site : "");
    } else if (world->is_playing) {
        espl__message_send(m, ESPL_LOG_WARNING,
                           "A playback or a write is under way; record a command instead, or wait "
                           "until it has returned.");
    } else if (last != NULL) {
        espl__message_iteration(m, last);
    } else {
        espl__message_send(m, ESPL_LOG_WARNING, "%s", espl_status_text(ESPL_ERR_BUSY));
    }
}

// --- Refusals ---
//
// A message has three parts: espl__refusal_begin() adds the call and the status, the caller adds
// entities and other parts, and espl__refusal_send() adds the sentence and sends it.

bool espl__refusal_begin(espl__message *m, const espl_world *world, const char *call,
                         const char *site, espl_status status)
{
    // Without a world there are no hooks.
    if (world == NULL || status >= 0 || !espl__message_begin(m, &world->hooks, call, site)) {
        return false;
    }
    m->store = &world->store;
    espl__message_status(m, status);
    return true;
}

void espl__refusal_send(espl__message *m, const espl_world *world, espl_status status,
                        const char *why)
{
    const bool is_fault = status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE ||
                          status == ESPL_ERR_EXISTS || status == ESPL_ERR_UNSUPPORTED;

    ESPL_CHECK(status < 0);
    if (status == ESPL_ERR_BUSY) {
        send_busy(m, world);
    } else {
        espl__message_send(m, ESPL_LOG_WARNING, "%s",
                           is_fault && why != NULL ? why : espl_status_text(status));
    }
}

// The shortest message: the call and the status.
espl_status espl__refuse_call(const espl_world *world, const char *call, espl_status status,
                              const char *why)
{
    espl__message m;

    if (espl__refusal_begin(&m, world, call, NULL, status)) {
        espl__refusal_send(&m, world, status, why);
    }
    return status;
}

// Tell whether a status is about an entity: whether the entity alone would cause it.
static bool is_about(const espl_world *world, espl_entity entity, espl_status status)
{
    const espl_status found = espl__entity_check(&world->store, entity);

    return found == status ||
           (found == ESPL_OK && status == ESPL_ERR_NO_TRANSFORM &&
            espl__slot_is(&world->forest, world->store.records[entity.index].slot,
                          ESPL__SLOT_BARE));
}

// Index of the first entity that the status is about; 0 where none is.
static size_t find_culprit(const espl_world *world, const espl__mention *named, size_t count,
                           espl_status status)
{
    size_t at = 0;

    ESPL_CHECK(count != 0 && status < 0);
    while (at < count && !is_about(world, named[at].entity, status)) {
        at += 1;
    }
    return at < count ? at : 0;
}

void espl__refusal_mention(espl__message *m, const espl_world *world, const espl__mention *named,
                           size_t count, espl_status status)
{
    const size_t culprit = find_culprit(world, named, count, status);

    ESPL_CHECK(culprit < count);
    espl__message_entity(m, named[culprit].role, named[culprit].entity);
    for (size_t i = 0; i < count; ++i) {
        if (i != culprit && !espl_entity_is_null(named[i].entity)) {
            espl__message_entity(m, named[i].role, named[i].entity);
        }
    }
}

// A trespass has a message of its own, because it also traps.
espl_status espl__refuse_named(const espl_world *world, const char *call,
                               const espl__mention *named, size_t count, espl_status status,
                               const char *why)
{
    espl__message m;

#if ESPL_CHECKS >= 1
    if (status == ESPL_ERR_NOT_OWNER) {
        return espl__refuse_trespass(world, call, named, count, NULL);
    }
#endif
    if (!espl__refusal_begin(&m, world, call, NULL, status)) {
        return status;
    }
    espl__refusal_mention(&m, world, named, count, status);
    espl__refusal_send(&m, world, status, why);
    return status;
}

// A byte is named where the bytes themselves are refused.
espl_status espl__refuse_bytes(const espl_world *world, const char *call,
                               const espl__bytes_fault *about, espl_status status, const char *why)
{
    const bool is_of_bytes =
        status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION || status == ESPL_ERR_FOREIGN;
    const size_t size =
        about->component_size < ESPL_NAME_LIMIT ? about->component_size : ESPL_NAME_LIMIT;
    const espl_format_fault *const fault = about->fault;
    espl__message m;

    if (!espl__refusal_begin(&m, world, call, NULL, status)) {
        return status;
    }
    if (!espl_entity_is_null(about->parent) && !(is_of_bytes && fault->sentence != NULL)) {
        espl__message_entity(&m, "parent", about->parent);
    }
    if (fault->sentence == NULL) {
        espl__refusal_send(&m, world, status, why);
        return status;
    }
    if (about->component != NULL) {
        espl__message_part(&m, "component \"%.*s\"", (int)size, about->component);
    }
    if (is_of_bytes) {
        espl__message_part(&m, "byte %llu", (unsigned long long)fault->offset);
    }
    espl__message_send(&m, ESPL_LOG_WARNING, "%s", fault->sentence);
    return status;
}

// The number is set also without a log hook.
espl_status espl__refuse_at(const espl_world *world, const char *call, const espl__refused_at *at,
                            const espl__mention *named, size_t count, espl_status status)
{
    espl__message m;

    ESPL_CHECK(status < 0 && at->first < at->count);
    if (at->out != NULL) {
        *at->out = at->first;
    }
    if (espl__refusal_begin(&m, world, call, NULL, status)) {
        espl__message_part(&m, "entry %zu of %zu", at->first, at->count);
        espl__refusal_mention(&m, world, named, count, status);
        espl__refusal_send(&m, world, status, NULL);
    }
    return status;
}

bool espl__is_given(const espl_world *world, const char *call, const void *pointer,
                    const char *name)
{
    espl__message m;

    if (pointer == NULL && espl__refusal_begin(&m, world, call, NULL, ESPL_ERR_ARGUMENT)) {
        espl__message_send(&m, ESPL_LOG_WARNING, "%s is NULL; the call does nothing.", name);
    }
    return pointer != NULL;
}

// --- Remarks ---

// A remark is a warning without a status, because the write was done.
void espl__remark_zero(const espl_world *world, const char *call, const char *site,
                       espl_entity entity, espl_write_kind kind, const void *value)
{
    const char *const blank = espl__write_blank(kind, value);
    espl__message m;

    if (blank != NULL && espl__message_begin(&m, espl__hooks_of(world), call, site)) {
        m.store = &world->store;
        if (!espl_entity_is_null(entity)) {
            espl__message_entity(&m, "entity", entity);
        }
        espl__message_blank(&m, blank);
    }
}

// SPDX-License-Identifier: MIT
// Who may touch what while a parallel write is under way. Each tree that has a row is marked with
// its job; a thread knows which writers it has in hand. Without checks there is none of this.
#include "lib/world/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if ESPL_CHECKS >= 1

// The writer that was handed to the job that the thread is in; by it those of the jobs around it.
static _Thread_local const espl_writer *innermost;

void espl__writer_enter(espl_writer *writer)
{
    writer->outer = innermost;
    innermost = writer;
}

void espl__writer_leave(const espl_writer *writer)
{
    innermost = writer->outer;
}

bool espl__writer_is_at_hand(const espl_writer *writer)
{
    const espl_writer *at = innermost;

    while (at != NULL && at != writer) {
        at = at->outer;
    }
    return at != NULL;
}

// The writer of a world that the thread has in hand, or NULL.
static const espl_writer *writer_of(const espl_world *world)
{
    const espl_writer *at = innermost;

    while (at != NULL && at->world != world) {
        at = at->outer;
    }
    return at;
}

static const espl__deal *deal_of(const espl_world *world)
{
    return &world->parallel->deal;
}

bool espl__writer_owns(const espl_writer *writer, uint32_t slot)
{
    const espl__deal *const deal = deal_of(writer->world);
    const uint32_t tree = writer->world->forest.tree[slot];

    if (espl__tree_job(deal, tree) != writer->job) {
        return false;
    }
    atomic_store_explicit(&deal->marks[tree].site, writer->site, memory_order_relaxed);
    return true;
}

// A job reads what is its own and what nobody was dealt. A thread without a writer is not held up,
// and must not look: it may read on while a parallel write ends and the next one is dealt out.
bool espl__may_read(const espl_world *world, uint32_t slot)
{
    const espl_writer *const writer = writer_of(world);

    if (writer == NULL) {
        return true;
    }
    const uint32_t job = espl__tree_job(deal_of(world), world->forest.tree[slot]);

    return job == ESPL__NONE || job == writer->job;
}

// --- Telling ---

// Tree of the first of the entities that a writer may not touch, of which there is one: for its job
// to read, what nobody was dealt is not among them. Others may be dead.
static uint32_t find_foreign(const espl_writer *writer, const espl__mention *named, size_t count)
{
    const espl_world *const world = writer->world;

    for (size_t i = 0;; ++i) {
        ESPL_CHECK(i < count);
        const uint32_t slot = espl__slot_or_none(world, named[i].entity);
        const uint32_t tree = slot == ESPL__NO_SLOT ? ESPL__NO_TREE : world->forest.tree[slot];

        const uint32_t job =
            tree == ESPL__NO_TREE ? writer->job : espl__tree_job(deal_of(world), tree);

        if (job != writer->job && (writer->is_writing || job != ESPL__NONE)) {
            return tree;
        }
    }
}

// End the line with whose the hierarchy is.
static void tell_owner(espl__message *m, const espl_world *world, uint32_t tree)
{
    const uint32_t job = espl__tree_job(deal_of(world), tree);
    const char *const dealt = world->parallel->def->site;
    const char *const at = dealt != NULL ? " at " : "", *const place = dealt != NULL ? dealt : "";
    const char *const text = espl_status_text(ESPL_ERR_NOT_OWNER);

    if (job == ESPL__NONE) {
        espl__message_send(m, ESPL_LOG_ERROR,
                           "The hierarchy has no row in the parallel write%s%s. %s", at, place,
                           text);
        return;
    }
    const char *const site =
        atomic_load_explicit(&deal_of(world)->marks[tree].site, memory_order_relaxed);

    if (site == NULL) {
        espl__message_send(m, ESPL_LOG_ERROR,
                           "The hierarchy was dealt to job %lu by the parallel write%s%s. %s",
                           (unsigned long)job, at, place, text);
    } else {
        espl__message_send(m, ESPL_LOG_ERROR,
                           "The hierarchy belongs to job %lu, which last wrote it at %s. %s",
                           (unsigned long)job, site, text);
    }
}

// Trap at a site, a file and a line with a colon between.
static void trap_at(const espl_world *world, const char *site, const char *sentence)
{
    const char *const colon = site != NULL ? strrchr(site, ':') : NULL;
    char file[256] = "";

    if (colon == NULL) {
        espl__trap(&world->hooks, __FILE__, __LINE__, sentence);
        return;
    }
    (void)snprintf(file, sizeof file, "%.*s", (int)(colon - site), site);
    // NOLINTNEXTLINE(cert-err34-c): what follows the colon is the compiler's own __LINE__.
    espl__trap(&world->hooks, file, atoi(colon + 1), sentence);
}

espl_status espl__refuse_trespass(const espl_world *world, const char *call,
                                  const espl__mention *named, size_t count, const char *part)
{
    const espl_writer *const writer = writer_of(world);
    const bool is_write = writer->is_writing;
    const espl_status status = ESPL_ERR_NOT_OWNER;
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, call, is_write ? writer->site : NULL);
    m.store = &world->store;
    espl__message_status(&m, status);
    for (size_t i = 0; i < count; ++i) {
        espl__message_entity(&m, named[i].role, named[i].entity);
    }
    if (part != NULL) {
        espl__message_part(&m, "%s", part);
    }
    espl__message_part(&m, "by job %lu", (unsigned long)writer->job);
    if (!is_write && writer->site != NULL) {
        espl__message_part(&m, "which last wrote at %s", writer->site);
    }
    tell_owner(&m, world, find_foreign(writer, named, count));
    trap_at(world, writer->site, m.text);
    return status;
}

#endif

// SPDX-License-Identifier: MIT
// Which job may touch which hierarchy while a parallel write is under way. Checked builds only:
// with --enable-checks=none this file is empty, and a job that touches another's hierarchy is
// undefined.
//
// Each tree that has a row in the parallel write has a mark, which yields its job. A thread knows
// the writers that were passed to the jobs it is inside, innermost first: a job may itself begin a
// parallel write of another world. A job may write trees of its own, and read those and trees
// without a job. Marks do not change while jobs run, except their sites, which are atomic.
#include "lib/world/ownership.h"

#include "lib/world/entity_slots.h"
#include "lib/world/partition_rows.h"
#include "lib/world/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if ESPL_CHECKS >= 1

// The writer of the innermost job that the thread is inside; `outer` links to those around it.
static ESPL__THREAD_LOCAL const espl_writer *innermost;

void espl__writer_enter(espl_writer *writer)
{
    writer->outer = innermost;
    innermost = writer;
}

void espl__writer_leave(const espl_writer *writer)
{
    ESPL_CHECK(innermost == writer);
    innermost = writer->outer;
}

bool espl__writer_is_of_thread(const espl_writer *writer)
{
    const espl_writer *at = innermost;

    while (at != NULL && at != writer) {
        at = at->outer;
    }
    return at != NULL;
}

// The writer of a world whose job the thread is inside, or NULL.
static const espl_writer *writer_of(const espl_world *world)
{
    const espl_writer *at = innermost;

    while (at != NULL && at->world != world) {
        at = at->outer;
    }
    return at;
}

// Precondition: a parallel write is under way.
static const espl__partition *partition_of(const espl_world *world)
{
    ESPL_CHECK(espl__is_parallel(world));
    return &world->parallel->partition;
}

// The site is kept for the message of another job that touches the same hierarchy.
bool espl__writer_owns(const espl_writer *writer, uint32_t slot)
{
    const espl__partition *const partition = partition_of(writer->world);
    const uint32_t tree = writer->world->forest.tree[slot];

    if (espl__tree_job(partition, tree) != writer->job) {
        return false;
    }
    atomic_store_explicit(&partition->marks[tree].site, writer->site, memory_order_relaxed);
    return true;
}

// A thread inside no job may read anything, and must not look at the marks: it may still be reading
// when the parallel write ends and the next one sets them.
bool espl__may_read(const espl_world *world, uint32_t slot)
{
    const espl_writer *const writer = writer_of(world);

    if (writer == NULL) {
        return true;
    }
    const uint32_t job = espl__tree_job(partition_of(world), world->forest.tree[slot]);

    return job == ESPL__NONE || job == writer->job;
}

// --- Telling ---

// Tree of the first entity that a writer may not touch. Precondition: there is one. A job that
// reads may touch trees without a job. Handles that name no living entity are skipped.
static uint32_t find_foreign(const espl_writer *writer, const espl__mention *named, size_t count)
{
    const espl_world *const world = writer->world;

    for (size_t i = 0;; ++i) {
        ESPL_CHECK(i < count);
        const uint32_t slot = espl__slot_or_none(world, named[i].entity);
        const uint32_t tree = slot == ESPL__NO_SLOT ? ESPL__NO_TREE : world->forest.tree[slot];

        const uint32_t job =
            tree == ESPL__NO_TREE ? writer->job : espl__tree_job(partition_of(world), tree);

        if (job != writer->job && (writer->is_writing || job != ESPL__NONE)) {
            return tree;
        }
    }
}

// Send the message, ending with the job that the tree belongs to.
static void send_owner(espl__message *m, const espl_world *world, uint32_t tree)
{
    const uint32_t job = espl__tree_job(partition_of(world), tree);
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
        atomic_load_explicit(&partition_of(world)->marks[tree].site, memory_order_relaxed);

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

// Call the trap with a site, which is a file and a line with a colon between.
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

// Logs and traps. Precondition: the thread is inside a job of the world's parallel write.
espl_status espl__refuse_trespass(const espl_world *world, const char *call,
                                  const espl__mention *named, size_t count, const char *part)
{
    const espl_writer *const writer = writer_of(world);
    const bool is_write = writer->is_writing;
    const espl_status status = ESPL_ERR_NOT_OWNER;
    espl__message m;

    ESPL_CHECK(count != 0);
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
    send_owner(&m, world, find_foreign(writer, named, count));
    trap_at(world, writer->site, m.text);
    return status;
}

#endif

// SPDX-License-Identifier: MIT
// The parallel write: espl_write_parallel().
//
// The rows that answer a query are partitioned into jobs (partition.c), so that all rows of one
// hierarchy are in one job. Each job calls the user's function with its rows, in order, and with a
// writer (writers.c). When all jobs have ended, the calling thread adds up what they counted.
//
// Invariants while jobs run: the world counts as playing, so that other changes are refused;
// nothing is allocated; nothing that jobs share changes. What the write leaves in the world depends
// on neither the number of workers nor the order in which jobs run. A world with a tape runs its
// jobs on one thread.
#include "lib/commands/stage_trace.h"
#include "lib/jobs/weights.h"
#include "lib/tree/propagate.h"
#include "lib/world/ownership.h"
#include "lib/world/partition.h"
#include "lib/world/partition_rows.h"
#include "lib/world/query.h"
#include "lib/world/refusals.h"
#include "lib/world/tape_columns.h"
#include "lib/world/writers.h"

#include <string.h>

enum { FLAGS = ESPL_PARALLEL_TOP_DOWN };

// --- Definitions ---

// Check the list of columns that the function may write.
static espl_status check_columns(const espl_world *world, const espl_parallel_def *def)
{
    if (def->columns == NULL && def->column_count != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    if (def->column_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    for (size_t i = 0; i < def->column_count; ++i) {
        if (espl__component_info_of(&world->store, def->columns[i]) == NULL) {
            return ESPL_ERR_ARGUMENT;
        }
    }
    return ESPL_OK;
}

// Check all of a definition but its query.
static espl_status check_def(const espl_world *world, const espl_parallel_def *def)
{
    if (def == NULL || def->function == NULL || (def->flags & ~(uint32_t)FLAGS) != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    if (ESPL__ASKS_LATER(def)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    return check_columns(world, def);
}

// Find what is wrong with a definition that check_def() refused, and add the component to the
// message.
// @return NULL: the status says it.
static const char *find_parallel_fault(espl__message *m, const espl_world *world,
                                       const espl_parallel_def *def)
{
    const char *fault = NULL;

    if (def == NULL || def->function == NULL) {
        return def == NULL ? "def is NULL." : "def->function is NULL.";
    }
    if ((def->flags & ~(uint32_t)FLAGS) != 0) {
        return "def->flags has a bit that is no ESPL_PARALLEL_ bit.";
    }
    if (def->columns == NULL) {
        return "def->columns is NULL, but def->column_count is not 0.";
    }
    for (size_t i = 0; fault == NULL && i < def->column_count; ++i) {
        fault = espl__component_fault(&world->store, def->columns[i], 0, ESPL__USE_LISTED);
        if (fault != NULL) {
            espl__message_component(m, &world->store, def->columns[i]);
        }
    }
    return fault;
}

// Log why a parallel write is refused: its query, if all else is valid.
static espl_status refuse_parallel(const espl_world *world, const espl_parallel_def *def,
                                   espl_status status)
{
    static const char *const call = "espl_write_parallel";
    const char *const site = def != NULL ? def->site : NULL;
    espl__message m;

    if (status == ESPL_ERR_ARGUMENT && world != NULL && check_def(world, def) == ESPL_OK) {
        return espl__refuse_query(world, call, site, def->query, status);
    }
    if (espl__refusal_begin(&m, world, call, site, status)) {
        const char *const why = status == ESPL_ERR_ARGUMENT ? find_parallel_fault(&m, world, def)
                                : status == ESPL_ERR_UNSUPPORTED ? ESPL__LATER_FAULT
                                                                 : NULL;

        espl__refusal_send(&m, world, status, why);
    }
    return status;
}

// Upper bound of jobs, at least 1.
static uint32_t job_limit_of(const espl_parallel_def *def)
{
    ESPL_CHECK(def != NULL);
    return def->job_limit == 0 || def->job_limit > ESPL_PARALLEL_JOB_LIMIT ? ESPL_PARALLEL_JOB_LIMIT
                                                                           : def->job_limit;
}

// --- One job ---

// The query as the function sees it, without rows.
static void show_nothing(espl_query *rows, const espl__parallel *p)
{
    rows->world_poses = p->world->forest.world;
    rows->state.world = p->world;
    rows->state.noted = (uint8_t)p->iteration.number;
    rows->state.turn = p->iteration.turn;
    rows->state.is_read_only = false;
    rows->state.is_dealt = true;
    rows->state.since = 0;
    rows->state.include = 0;
    rows->state.none_count = rows->state.any_count = rows->state.changed_count = 0;
    rows->state.all_count = (uint8_t)p->def->column_count;
    espl__query_list(rows->state.terms, p->def->columns, p->def->column_count);
}

// Set the rows of the query to those of a piece.
static void show_rows(espl_query *rows, const espl__partition *partition,
                      const espl__row_piece *piece)
{
    const espl__partition_chunk *const at = &partition->chunks[piece->at];
    const espl__chunk *const chunk = &partition->world->store.chunks[at->chunk];

    ESPL_CHECK(piece->count != 0 && (size_t)piece->first + piece->count <= chunk->count);
    rows->count = piece->count;
    rows->entities = espl__chunk_entities(chunk) + piece->first;
    rows->slots =
        chunk->slots_offset == ESPL__NONE
            ? NULL
            : (const uint32_t *)(const void *)(chunk->bytes + chunk->slots_offset) + piece->first;
    rows->state.archetype = at->archetype;
    rows->state.chunk = at->position + 1;
    rows->state.first = (uint8_t)piece->first;
}

// Take the piece at `*i`, with the next pieces if they continue its rows.
// @param i  in and out: moves past what was taken.
static espl__row_piece take_piece(const espl__partition *partition, size_t *i, size_t end)
{
    espl__row_piece piece = partition->pieces[(*i)++];

    ESPL_CHECK(*i <= end && piece.count != 0);
    while (*i < end && partition->pieces[*i].at == piece.at &&
           partition->pieces[*i].first == piece.first + piece.count) {
        piece.count = (uint8_t)(piece.count + partition->pieces[(*i)++].count);
    }
    return piece;
}

// Call the user's function for each piece of a job.
static void call_function(espl__parallel *p, espl_writer *writer)
{
    const espl__partition *const partition = &p->partition;
    const size_t end = partition->begins[writer->job + 1];
    espl_query rows;

    ESPL_CHECK(writer->job < p->partition.job_count);
    show_nothing(&rows, p);
    for (size_t i = partition->begins[writer->job]; i < end;) {
        const espl__row_piece piece = take_piece(partition, &i, end);

        show_rows(&rows, partition, &piece);
        p->def->function(writer, &rows, p->def->context);
        if (espl__is_taped(p->world)) {
            espl__tape_rows(&rows);
        }
        writer->calls += 1;
    }
}

// Run a job, unless it ran already: a job that the executor lost is run again by the calling
// thread.
static void run_job(void *context, size_t job)
{
    espl__parallel *const p = context;
    espl_writer *const writer = &p->partition.writers[job];

    if (atomic_exchange_explicit(&writer->is_claimed, true, memory_order_relaxed)) {
        return;
    }
#if ESPL_CHECKS >= 1
    espl__writer_enter(writer);
#endif
    call_function(p, writer);
#if ESPL_CHECKS >= 1
    espl__writer_leave(writer);
#endif
}

// --- Around the jobs ---

// Set up a writer for each job.
static void make_writers(espl__partition *partition)
{
    for (uint32_t job = 0; job < partition->job_count; ++job) {
        espl_writer *const writer = &partition->writers[job];

        ESPL_CHECK((uintptr_t)writer % _Alignof(espl_writer) == 0);
        memset(writer, 0, sizeof *writer);
        writer->world = partition->world;
        writer->context.is_job = true;
        writer->job = job;
        atomic_init(&writer->is_claimed, false);
    }
}

// Increment the versions of the columns that the function may write, once for each chunk, because
// jobs cannot do it side by side. So they count as written, whatever the function does.
static void stamp_columns(const espl__parallel *p)
{
    for (size_t i = 0; i < p->partition.chunk_count; ++i) {
        for (size_t k = 0; k < p->def->column_count; ++k) {
            (void)espl__chunk_write(&p->world->store, p->partition.chunks[i].chunk,
                                    p->def->columns[k]);
        }
    }
}

// Run all jobs. Postcondition: each has run once, whatever the executor did.
static void run_jobs(espl__parallel *p)
{
    espl_world *const world = p->world;
    uint32_t weights[ESPL_PARALLEL_JOB_LIMIT], order[ESPL_PARALLEL_JOB_LIMIT];
    const uint32_t jobs = p->partition.job_count;

    ESPL_CHECK(jobs != 0 && jobs <= ESPL_PARALLEL_JOB_LIMIT);
    ESPL_CHECK(!world->is_playing && !espl__is_parallel(world));

    for (uint32_t job = 0; job < jobs; ++job) {
        const uint64_t weight = p->partition.weights[job];

        // More than 2^32 worlds for one job: past what a world holds.
        weights[job] = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX; // GCOVR_EXCL_BR_LINE
    }
    world->is_playing = true;
    world->parallel = p;
    // A tape is written by one thread. The result is the same, because it does not depend on workers.
    const espl_executor alone = {0};
    const espl_executor *const executor = espl__is_taped(world) ? &alone : &world->executor;

    if (espl__run_weighted(executor, &world->hooks, run_job, p, weights, order, jobs, 1) !=
        ESPL_OK) {
        // The executor lost a job. Some writes are done and cannot be undone, so the rest follow.
        for (uint32_t job = 0; job < jobs; ++job) {
            run_job(p, job);
        }
    }
    world->parallel = NULL;
    world->is_playing = false;
}

// Do what jobs left to the calling thread: free side arrays that no node needs, and move trees
// whose layout debt is due to the list of unsettled trees. In the order of rows, so that the list
// does not depend on the workers.
static void tidy_trees(const espl__partition *partition)
{
    const espl__store *const store = &partition->world->store;
    espl__forest *const forest = &partition->world->forest;

    for (size_t i = 0; i < partition->chunk_count; ++i) {
        const espl__chunk *const chunk = &store->chunks[partition->chunks[i].chunk];

        for (uint32_t row = 0; row < chunk->count; ++row) {
            const uint32_t tree = forest->tree[espl__row_slot(store, chunk, row)];

            if (forest->trees[tree].side != 0) {
                espl__tree_drop_side(forest, tree);
            }
            if ((forest->trees[tree].flags & ESPL__TREE_DUE) != 0) {
                forest->trees[tree].flags &= ~(uint32_t)ESPL__TREE_DUE;
                espl__tree_mark_unsettled(forest, tree);
            }
        }
    }
}

// Add up the counts of the jobs, in their order. The first refusal is that of the first job that
// has one.
static void add_writers(const espl__partition *partition, espl_parallel_report *report)
{
    bool is_untidy = false;

    for (uint32_t job = 0; job < partition->job_count; ++job) {
        const espl_writer *const writer = &partition->writers[job];

        espl__context_add(&partition->world->forest.context, &writer->context);
        is_untidy = is_untidy || writer->context.has_sides_to_drop || writer->context.has_due;
        report->has_overflowed = report->has_overflowed || writer->context.has_overflowed;
        report->calls += writer->calls;
        if (report->refused == 0 && writer->refused != 0) {
            report->first_refused = writer->first_refused;
            report->first_status = writer->first_status;
        }
        report->refused += writer->refused;
    }
    if (is_untidy) {
        tidy_trees(partition);
    }
    report->rows = partition->row_count;
    report->jobs = partition->job_count;
    report->groups = partition->group_count;
    report->split_rows = partition->split_rows;
}

// --- The whole ---

// Nanoseconds, or 0 where the caller wants no report.
static uint64_t time_for(const espl_world *world, bool is_timed)
{
    return is_timed ? espl__time_now(&world->hooks) : 0;
}

// A clock of the user's may run backwards: then 0.
static uint64_t time_between(uint64_t begin, uint64_t end)
{
    return end > begin ? end - begin : 0;
}

// Precondition: the query has begun and was not moved.
static espl_status run_parallel(espl__parallel *p, espl_query *query, espl_parallel_report *report,
                                bool is_timed)
{
    const uint64_t begin = time_for(p->world, is_timed);
    const espl_status status = espl__partition_begin(&p->partition, query);

    if (status != ESPL_OK || p->partition.row_count == 0) {
        return status;
    }
    espl__partition_cut(&p->partition, job_limit_of(p->def));
    make_writers(&p->partition);
    espl__heap_forbid(&p->world->heap);
    stamp_columns(p);
    const uint64_t dealt = time_for(p->world, is_timed);
    run_jobs(p);
    add_writers(&p->partition, report);
    if (report->has_overflowed) {
        // A later write of the same job may have ended it.
        report->has_overflowed = espl__is_still_overflowed(&p->world->forest);
    } else if (p->world->forest.context.has_overflowed) {
        espl__note_search(&p->world->forest, report->calls);
    }
    espl__heap_allow(&p->world->heap);
    report->group_ns = time_between(begin, dealt);
    report->run_ns = time_between(dealt, time_for(p->world, is_timed));
    if (report->refused != 0) {
        return ESPL_PARTLY;
    }
    return report->has_overflowed ? ESPL_OVERFLOW : ESPL_OK;
}

// @param is_timed  the caller wants the times in the report.
static espl_status write_parallel(espl_world *world, const espl_parallel_def *def,
                                  espl_parallel_report *report, bool is_timed)
{
    espl_query query;
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : check_def(world, def);
    status = status != ESPL_OK ? status : espl__query_start(world, def->query, &query);
    if (status != ESPL_OK) {
        return status;
    }
    espl__parallel p = {.world = world, .def = def, .iteration = espl__query_iteration(&query)};

    p.partition.world = world;
    p.partition.is_top_down = (def->flags & ESPL_PARALLEL_TOP_DOWN) != 0;
    status = run_parallel(&p, &query, report, is_timed);
    espl_query_end(&query);
    return status;
}

espl_status espl_write_parallel(espl_world *world, const espl_parallel_def *def,
                                espl_parallel_report *report)
{
    espl_parallel_report account = {0};

    ESPL__CHANGE_OR_RETURN(world, "espl_write_parallel")
    const espl_status status = write_parallel(world, def, &account, report != NULL);

    if (report != NULL) {
        *report = account;
    }
    return status >= 0 ? status : refuse_parallel(world, def, status);
}

// SPDX-License-Identifier: MIT
// The parallel write: rows are dealt out, each job calls the user's function for its rows in order,
// and what the jobs counted is added up in order of the jobs. All memory is taken before the first
// call, and nothing that jobs share changes while they run.
#include "lib/world/writers.h"

#include "lib/commands/watch.h"
#include "lib/jobs/weights.h"
#include "lib/world/tape.h"

#include <string.h>

enum { FLAGS = ESPL_PARALLEL_TOP_DOWN };

// --- What is asked for ---

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

static espl_status check_def(const espl_world *world, const espl_parallel_def *def)
{
    if (def == NULL || def->function == NULL || (def->flags & ~(uint32_t)FLAGS) != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    return check_columns(world, def);
}

// Say what is wrong with a definition but for its query, and add a component that is concerned.
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
        const char *const why =
            status == ESPL_ERR_ARGUMENT ? find_parallel_fault(&m, world, def) : NULL;

        espl__refusal_send(&m, world, status, why);
    }
    return status;
}

static uint32_t job_limit_of(const espl_parallel_def *def)
{
    return def->job_limit == 0 || def->job_limit > ESPL_PARALLEL_JOB_LIMIT ? ESPL_PARALLEL_JOB_LIMIT
                                                                           : def->job_limit;
}

// --- One job ---

// The query as the function sees it, without rows. Its lists are long, and are written no further
// than they are read.
static void show_nothing(espl_query *rows, const espl__parallel *p)
{
    rows->worlds = p->world->forest.world;
    rows->state.world = p->world;
    rows->state.is_dealt = true;
    rows->state.since = 0;
    rows->state.include = 0;
    rows->state.none_count = rows->state.any_count = rows->state.changed_count = 0;
    rows->state.all_count = (uint32_t)p->def->column_count;
    if (p->def->column_count != 0) {
        memcpy(rows->state.all, p->def->columns, p->def->column_count * sizeof *p->def->columns);
    }
}

static void show_rows(espl_query *rows, const espl__deal *deal, const espl__dealt_rows *piece)
{
    const espl__dealt_chunk *const at = &deal->chunks[piece->at];
    const espl__chunk *const chunk = &deal->world->store.chunks[at->chunk];

    rows->count = piece->count;
    rows->entities = espl__chunk_entities(chunk) + piece->first;
    rows->slots =
        chunk->slots_offset == ESPL__NONE
            ? NULL
            : (const uint32_t *)(const void *)(chunk->bytes + chunk->slots_offset) + piece->first;
    rows->state.archetype = at->archetype;
    rows->state.chunk = at->position + 1;
    rows->state.first = piece->first;
}

// The piece at `*i` with those behind it that go on where it ends; `*i` moves past them.
static espl__dealt_rows take_piece(const espl__deal *deal, size_t *i, size_t end)
{
    espl__dealt_rows piece = deal->pieces[(*i)++];

    while (*i < end && deal->pieces[*i].at == piece.at &&
           deal->pieces[*i].first == piece.first + piece.count) {
        piece.count = (uint8_t)(piece.count + deal->pieces[(*i)++].count);
    }
    return piece;
}

static void call_function(espl__parallel *p, espl_writer *writer)
{
    const espl__deal *const deal = &p->deal;
    const size_t end = deal->begins[writer->job + 1];
    espl_query rows;

    show_nothing(&rows, p);
    for (size_t i = deal->begins[writer->job]; i < end;) {
        const espl__dealt_rows piece = take_piece(deal, &i, end);

        show_rows(&rows, deal, &piece);
        p->def->function(writer, &rows, p->def->context);
        if (espl__is_taped(p->world)) {
            espl__tape_rows(&rows);
        }
        writer->calls += 1;
    }
}

static void run_job(void *context, size_t job)
{
    espl__parallel *const p = context;
    espl_writer *const writer = &p->deal.writers[job];

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

static void make_writers(espl__deal *deal)
{
    for (uint32_t job = 0; job < deal->job_count; ++job) {
        espl_writer *const writer = &deal->writers[job];

        memset(writer, 0, sizeof *writer);
        writer->world = deal->world;
        writer->context.is_job = true;
        writer->job = job;
        atomic_init(&writer->is_claimed, false);
    }
}

// Versions are counted up here, once for each chunk, since jobs cannot do it side by side.
static void stamp_columns(const espl__parallel *p)
{
    for (size_t i = 0; i < p->deal.chunk_count; ++i) {
        for (size_t k = 0; k < p->def->column_count; ++k) {
            (void)espl__chunk_write(&p->world->store, p->deal.chunks[i].chunk, p->def->columns[k]);
        }
    }
}

static void run_jobs(espl__parallel *p)
{
    espl_world *const world = p->world;
    uint32_t weights[ESPL_PARALLEL_JOB_LIMIT], order[ESPL_PARALLEL_JOB_LIMIT];
    const uint32_t jobs = p->deal.job_count;

    for (uint32_t job = 0; job < jobs; ++job) {
        const uint64_t weight = p->deal.weights[job];

        // More than 2^32 worlds for one job: past what a world holds.
        weights[job] = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX; // GCOVR_EXCL_BR_LINE
    }
    world->is_playing = true;
    world->parallel = p;
    // A tape is written by one thread, and what is written does not depend on how many there are.
    const espl_executor alone = {0};
    const espl_executor *const executor = espl__is_taped(world) ? &alone : &world->executor;

    if (espl__run_weighted(executor, &world->hooks, run_job, p, weights, order, jobs, 1) !=
        ESPL_OK) {
        // The executor lost a job; the writes are under way and are completed here.
        for (uint32_t job = 0; job < jobs; ++job) {
            run_job(p, job);
        }
    }
    world->parallel = NULL;
    world->is_playing = false;
}

// What jobs left for the calling thread to do: side arrays that nothing needs are given back, and
// trees whose layout debt is due come to the list. In the order of rows, so that it does not depend
// on threads.
static void tidy_trees(const espl__deal *deal)
{
    const espl__store *const store = &deal->world->store;
    espl__forest *const forest = &deal->world->forest;

    for (size_t i = 0; i < deal->chunk_count; ++i) {
        const espl__chunk *const chunk = &store->chunks[deal->chunks[i].chunk];

        for (uint32_t row = 0; row < chunk->count; ++row) {
            const uint32_t tree = forest->tree[espl__row_slot(store, chunk, row)];

            if (forest->trees[tree].side != NULL) {
                espl__tree_drop_side(forest, tree);
            }
            if ((forest->trees[tree].flags & ESPL__TREE_DUE) != 0) {
                forest->trees[tree].flags &= ~(uint32_t)ESPL__TREE_DUE;
                espl__tree_mark_unsettled(forest, tree);
            }
        }
    }
}

static void add_up(const espl__deal *deal, espl_parallel_report *report)
{
    bool is_untidy = false;

    for (uint32_t job = 0; job < deal->job_count; ++job) {
        const espl_writer *const writer = &deal->writers[job];

        espl__counts_add(&deal->world->forest.context.counts, &writer->context.counts);
        is_untidy = is_untidy || writer->context.has_sides_to_drop || writer->context.has_due;
        report->overflowed += (size_t)writer->context.counts.overflowed;
        report->calls += writer->calls;
        if (report->refused == 0 && writer->refused != 0) {
            report->first_refused = writer->first_refused;
            report->first_status = writer->first_status;
        }
        report->refused += writer->refused;
    }
    if (is_untidy) {
        tidy_trees(deal);
    }
    report->rows = deal->row_count;
    report->jobs = deal->job_count;
    report->groups = deal->group_count;
    report->split_rows = deal->split_rows;
}

// --- The whole ---

// Nanoseconds, where somebody asks for them.
static uint64_t time_for(const espl_world *world, bool is_timed)
{
    return is_timed ? espl__time_now(&world->hooks) : 0;
}

static uint64_t time_between(uint64_t begin, uint64_t end)
{
    return end > begin ? end - begin : 0;
}

static espl_status run(espl__parallel *p, espl_query *query, espl_parallel_report *report,
                       bool is_timed)
{
    const uint64_t begin = time_for(p->world, is_timed);
    const espl_status status = espl__deal_begin(&p->deal, query);

    if (status != ESPL_OK || p->deal.row_count == 0) {
        return status;
    }
    espl__deal_out(&p->deal, job_limit_of(p->def));
    make_writers(&p->deal);
    espl__heap_forbid(&p->world->heap);
    stamp_columns(p);
    const uint64_t dealt = time_for(p->world, is_timed);
    run_jobs(p);
    add_up(&p->deal, report);
    espl__heap_allow(&p->world->heap);
    report->group_ns = time_between(begin, dealt);
    report->run_ns = time_between(dealt, time_for(p->world, is_timed));
    if (report->refused != 0) {
        return ESPL_PARTLY;
    }
    return report->overflowed != 0 ? ESPL_OVERFLOW : ESPL_OK;
}

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
    espl__parallel p = {.world = world, .def = def};

    p.deal.world = world;
    p.deal.is_top_down = (def->flags & ESPL_PARALLEL_TOP_DOWN) != 0;
    status = run(&p, &query, report, is_timed);
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

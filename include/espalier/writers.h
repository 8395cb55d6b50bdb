// SPDX-License-Identifier: MIT
/// @file
/// Writing transforms from every core: the rows of a query are distributed so that each hierarchy
/// belongs to one job, and each job writes through a token, an espl_writer.
///
/// Thread rule: espl_write_parallel() is a change of the world; it runs its jobs on the world's executor.
/// Only the thread of a job calls the functions of the espl_writer that the job got.
#ifndef ESPALIER_WRITERS_H
#define ESPALIER_WRITERS_H

#include <espalier/store.h>
#include <espalier/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The right to write the hierarchies and solos of one job. Valid until the function that got it
/// returns, on the thread of that call.
///
/// An entity with a row in the parallel write belongs to the job that gets the row, with its whole
/// hierarchy. Checked builds refuse a write to any other hierarchy with ESPL_ERR_NOT_OWNER. They
/// refuse in the same way a read inside a job of a hierarchy of another job, by any function of
/// espalier/read.h that returns a status; the message names both places in the source, and the call
/// traps. A writer that another thread uses, or that is used after its job, traps too, and the call
/// returns ESPL_ERR_ARGUMENT. Unchecked builds do not check.
typedef struct espl_writer espl_writer;

/// Function of a parallel write, called for some of the rows.
///
/// @param writer   the right to write the hierarchies of these rows.
/// @param rows     consecutive rows of one chunk; espl_query_read() and espl_query_write() give the
///                 columns as in an iteration. It cannot be advanced.
/// @param context  the caller's.
///
/// Runs on any thread, from begin to end on the same one. It may read, write its own hierarchies
/// through the writer, write columns of its rows that espl_parallel_def.columns names, and record
/// into a recorder that no other job uses, for instance that of the lane espl_writer_job(). Every
/// other change of the world is refused with ESPL_ERR_BUSY, the creation of a command buffer too.
typedef void (*espl_parallel_function)(espl_writer *writer, const espl_query *rows, void *context);

/// Flags of a parallel write.
enum {
    /// Within each hierarchy rows come parents first. Without it they come in the order of the
    /// query: by archetype, chunk, row.
    ESPL_PARALLEL_TOP_DOWN = 1,
};

/// Most jobs of one parallel write: a command buffer with so many lanes has one for each.
#define ESPL_PARALLEL_JOB_LIMIT 256

/// A parallel write. Grows into `reserved`.
typedef struct espl_parallel_def {
    const espl_query_def *query; ///< Which rows. NULL means {0}.
    espl_parallel_function function;
    void *context;
    /// [column_count] components whose columns the function may get by espl_query_write(). In every
    /// chunk of the rows they count as written.
    const espl_component *columns;
    size_t column_count; ///< At most ESPL_SET_LIMIT.
    uint32_t flags;      ///< ESPL_PARALLEL_ bits.
    /// At most so many jobs; 0 and more than ESPL_PARALLEL_JOB_LIMIT mean ESPL_PARALLEL_JOB_LIMIT.
    uint32_t job_limit;
    const char *site;      ///< NULL, or ESPL_SITE: the place that messages name as its beginning.
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_parallel_def;

/// Account of a parallel write. Grows into `reserved`.
typedef struct espl_parallel_report {
    size_t rows;       ///< Rows that answered the query.
    size_t calls;      ///< Calls of the function.
    size_t jobs;       ///< Jobs that they were distributed to.
    size_t groups;     ///< Units that one job gets as a whole: hierarchies, or sets of chunks that
                       ///< share no hierarchy; 0 where no row was a member: each row is a unit.
    size_t split_rows; ///< Rows of chunks that do not come in one call.
    size_t refused;    ///< Writes through writers that were refused.
    espl_entity first_refused; ///< The first of them in the lowest job.
    espl_status first_status;  ///< Why.
    uint64_t group_ns;         ///< Time spent on distributing the rows, nanoseconds.
    uint64_t run_ns;           ///< Time spent in the jobs.
    /// A write answered ESPL_OVERFLOW, and a world transform is not finite at the end of the call.
    bool has_overflowed;
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_parallel_report;

/// Call a function for every row of a query, on the world's executor, so that one job gets all rows
/// of a hierarchy. Structural; while it runs, calls that change the world are refused with
/// ESPL_ERR_BUSY, and any thread may read hierarchies that belong to no job.
///
/// The result does not depend on the executor: within a hierarchy the order of the rows is
/// documented, and no two jobs write the same hierarchy. How rows are cut into calls depends on the
/// world and the definition alone.
///
/// @param def     not kept.
/// @param report  NULL, or the account; zeroed when refused.
/// @return ESPL_OK; ESPL_PARTLY (some writes were refused); ESPL_OVERFLOW (none was, and some world
///         is not finite); refused as a whole, nothing called: as espl_query_begin(),
///         ESPL_ERR_ARGUMENT (no function, unknown flags), ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY. The
///         calling thread runs a job that the executor lost, and checked builds trap.
///         O(rows), and O(size of the world) where a write answers ESPL_OVERFLOW.
ESPL_API ESPL_NODISCARD espl_status espl_write_parallel(espl_world *world,
                                                        const espl_parallel_def *def,
                                                        espl_parallel_report *report);

/// Return the number of a writer's job, from 0 and less than ESPL_PARALLEL_JOB_LIMIT and the job
/// limit. It depends on the rows alone, not on threads.
ESPL_API uint32_t espl_writer_job(const espl_writer *writer);

/// Write one transform through a writer: espl_write_one(), whose statuses it has, by a job.
///
/// @param site  place of the call in the source, for messages: ESPL_SITE, or NULL. It must be valid
///              as long as the parallel write.
/// @return also ESPL_ERR_NOT_OWNER in checked builds; ESPL_ERR_BUSY where a side array is needed (the
///         first stretch or user data in a hierarchy), unless espl_reserve() made it before.
ESPL_API espl_status espl_writer_write(espl_writer *writer, espl_entity entity,
                                       espl_write_kind kind, const void *value, const char *site);
/// espl_writer_write() from here.
#define ESPL_WRITER_WRITE(writer, entity, kind, value) \
    espl_writer_write((writer), (entity), (kind), (value), ESPL_SITE)

/// espl_look_at() through a writer.
ESPL_API espl_status espl_writer_look_at(espl_writer *writer, espl_entity entity,
                                         const float target[3], const float *up, espl_axis forward,
                                         const char *site);
/// espl_rotate_about() through a writer.
ESPL_API espl_status espl_writer_rotate_about(espl_writer *writer, espl_entity entity,
                                              const float pivot[3], const float by[4],
                                              const char *site);
/// espl_set_inherit() through a writer.
ESPL_API espl_status espl_writer_set_inherit(espl_writer *writer, espl_entity entity,
                                             uint32_t flags, const char *site);

#ifdef __cplusplus
}
#endif

#endif

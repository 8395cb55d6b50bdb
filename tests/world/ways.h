// SPDX-License-Identifier: MIT
// Every way in which the public interface makes a write of any kind: at once, in batches, in a list, by the
// writer of a job, and by a recorded command.
#ifndef ESPALIER_TESTS_WORLD_WAYS_H
#define ESPALIER_TESTS_WORLD_WAYS_H

#include "tests/support.h"

#include <espalier/writers.h>

typedef enum write_way {
    WAY_ONE,
    WAY_BATCH,
    WAY_MIXED, // a batch with another entity and kind before it
    WAY_STRIDED,
    WAY_LIST,
    WAY_WRITER,
    WAY_RECORDED,
    WAY_COUNT
} write_way;

static inline const char *way_name(write_way way)
{
    static const char *const names[WAY_COUNT] = {"espl_write_one()",  "a batch", "a mixed batch",
                                                 "a strided batch",   "a list",  "a writer",
                                                 "a recorded command"};

    return names[way];
}

// The status of one entry of a batch.
static inline espl_status way_answer(espl_status status, const espl_write_report *report)
{
    return status == ESPL_PARTLY ? report->first_status : status;
}

// A batch that also sets the user data of a new solo.
static inline espl_status way_write_mixed(espl_world *world, const espl_write *write,
                                          espl_write_report *report)
{
    const espl_component transform = ESPL_TRANSFORM;
    espl_write both[2] = {{.kind = ESPL_WRITE_LOCAL_SCALE, .value = {.scale = 3}}, *write};

    ck_ok(espl_create(world, &transform, 1, 1, &both[0].entity));
    const espl_status status = espl_write_batch(world, both, 2, report);

    ck_ok(espl_destroy(world, both[0].entity, ESPL_EXTENT_SUBTREE));
    return status;
}

static inline espl_status way_write_listed(espl_world *world, const espl_write *write,
                                           espl_write_report *report)
{
    espl_write room[1];
    espl_write_list list = {room, 0, 1};
    const espl_status status =
        espl_write_list_push(&list, write->entity, write->kind, &write->value);

    return status != ESPL_OK ? status : espl_write_listed(world, &list, report);
}

// A write of the job that has the entity.
typedef struct way_job {
    const espl_write *write;
    espl_status status;
    bool is_done;
} way_job;

static inline void way_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    way_job *const job = context;

    for (size_t row = 0; row < rows->count; ++row) {
        if (espl_entity_equal(rows->entities[row], job->write->entity)) {
            job->status = espl_writer_write(writer, job->write->entity, job->write->kind,
                                            &job->write->value, ESPL_SITE);
            job->is_done = true;
        }
    }
}

static inline espl_status way_write_in_job(espl_world *world, const espl_write *write)
{
    way_job job = {write, ESPL_OK, false};
    const espl_parallel_def def = {.function = way_in_job, .context = &job};
    const espl_status status = espl_write_parallel(world, &def, NULL);

    ck_assert(status >= 0 && job.is_done);
    return job.status;
}

static inline espl_status way_record(espl_world *world, const espl_write *write)
{
    espl_command_buffer *commands = NULL;
    espl_report report;

    ck_ok(espl_command_buffer_create(world, 1, &commands));
    espl_status status = espl_record_write(espl_command_buffer_recorder(commands, 0), 0,
                                           write->entity, write->kind, &write->value);

    if (status == ESPL_OK) {
        status = espl_play(world, commands, &report);
        for (int reason = 0; reason < ESPL_REASON_COUNT; ++reason) {
            status = report.refused_by[reason] != 0 ? (espl_status)-reason : status;
        }
    }
    espl_command_buffer_destroy(commands);
    return status;
}

/// Make a write in a way. @return what it answers for the entity.
static inline espl_status way_write(write_way way, espl_world *world, const espl_write *write)
{
    espl_write_report report = {.first_status = ESPL_OK};
    espl_status status = ESPL_OK;

    switch (way) {
    case WAY_BATCH:
        status = espl_write_batch(world, write, 1, &report);
        return way_answer(status, &report);
    case WAY_MIXED:
        status = way_write_mixed(world, write, &report);
        return way_answer(status, &report);
    case WAY_STRIDED:
        status = espl_write_strided(world, write->kind, &write->entity, 1, sizeof *write,
                                    &write->value, sizeof *write, &report);
        return way_answer(status, &report);
    case WAY_LIST:
        status = way_write_listed(world, write, &report);
        return way_answer(status, &report);
    case WAY_WRITER:
        return way_write_in_job(world, write);
    case WAY_RECORDED:
        return way_record(world, write);
    default:
        return espl_write_one(world, write->entity, write->kind, &write->value);
    }
}

#endif

// SPDX-License-Identifier: MIT
// A parallel write under way, the writers that its jobs write through, and the checks of what a job
// touches. parallel.c makes the writers, writers.c has their calls, ownership.c the checks.
#ifndef ESPALIER_LIB_WORLD_WRITERS_H
#define ESPALIER_LIB_WORLD_WRITERS_H

#include "lib/world/iterations.h"
#include "lib/world/partition_rows.h"

#include <stdatomic.h>

/// The writer of one job. Only the thread of the job uses it. Aligned to a cache line, because jobs
/// side by side write to neighbouring writers all the time.
struct espl_writer {
    _Alignas(64) espl_world *world;
    espl__context context;
    const espl_writer *outer; // writer of the job around this one, of another world; or NULL
    const char *site;         // of its last call; checked builds
    bool is_writing;          // inside a call; otherwise its job reads; checked builds
    atomic_bool is_claimed;   // a thread runs the job, or has run it
    uint32_t job;
    size_t calls, refused;
    espl_entity first_refused;
    espl_status first_status;
};

/// The parallel write under way: world->parallel. It is on the stack of espl_write_parallel().
typedef struct espl__parallel {
    espl_world *world;
    const espl_parallel_def *def;
    espl__iteration_id iteration; // of the query
    espl__partition partition;
} espl__parallel;

#endif

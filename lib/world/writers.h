// SPDX-License-Identifier: MIT
// A parallel write under way, the writers that its jobs write through, and the checks of what a job
// touches. parallel.c makes the writers, writers.c has their calls, ownership.c the checks.
#ifndef ESPALIER_LIB_WORLD_WRITERS_H
#define ESPALIER_LIB_WORLD_WRITERS_H

#include "lib/world/partition.h"

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

// --- ownership.c: who may touch what. Checked builds only. ---

/// Note that the calling thread enters the job of a writer. Jobs nest: a job may begin a parallel
/// write of another world.
void espl__writer_enter(espl_writer *writer);
/// Note that the calling thread leaves it. Precondition: it is the innermost.
void espl__writer_leave(const espl_writer *writer);
/// Tell whether the calling thread is inside the job of a writer. The writer may be one that is
/// gone.
bool espl__writer_is_of_thread(const espl_writer *writer);
/// Tell whether the tree of a slot is in the writer's job, and if so note the writer's site with
/// the tree.
bool espl__writer_owns(const espl_writer *writer, uint32_t slot);

#endif

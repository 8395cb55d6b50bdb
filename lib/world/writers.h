// SPDX-License-Identifier: MIT
// A parallel write under way, the writers of its jobs, and the checks of what these touch.
#ifndef ESPALIER_LIB_WORLD_WRITERS_H
#define ESPALIER_LIB_WORLD_WRITERS_H

#include "lib/world/dealing.h"

#include <stdatomic.h>

// Jobs that run side by side have neighbouring writers, and write to them all the time: none shares
// a cache line with the next.
struct espl_writer {
    _Alignas(64) espl_world *world;
    espl__context context;
    const espl_writer *outer; // what the thread had at hand before, of another world
    const char *site;         // where the last call of it stands
    bool is_writing;          // inside such a call; otherwise its job reads
    atomic_bool is_claimed;   // by the thread that does the job
    uint32_t job;
    size_t calls, refused;
    espl_entity first_refused;
    espl_status first_status;
};

typedef struct espl__parallel {
    espl_world *world;
    const espl_parallel_def *def;
    espl__deal deal;
} espl__parallel;

// --- tokens.c: who may touch what. Checked builds only. ---

/// Take a writer in hand for the calling thread, and put it out of hand.
void espl__writer_enter(espl_writer *writer);
void espl__writer_leave(const espl_writer *writer);
/// Tell whether a writer is in the hand of the calling thread.
bool espl__writer_is_at_hand(const espl_writer *writer);
/// Tell whether a slot is a writer's own, and note that it is written from the writer's site.
bool espl__writer_owns(const espl_writer *writer, uint32_t slot);

#endif

// SPDX-License-Identifier: MIT
// An executor on plain threads: they sleep until there are jobs, run one after the other until none is
// left, and sleep again. The calling thread runs jobs as well. The world is the same as without threads.
#include "frames.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 4 };

// --- The executor ---

typedef struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    pthread_t threads[WORKERS - 1]; // the calling thread is a worker too
    espl_job function;              // of the current jobs; NULL: the threads are to end
    void *argument;
    size_t count;
    atomic_size_t next;
    unsigned generation; // calls of parallel_for so far
    unsigned busy;       // threads that have not finished the current call
} pool;

static void begin(pool *p, espl_job function, void *argument, size_t count)
{
    pthread_mutex_lock(&p->mutex);
    p->function = function, p->argument = argument, p->count = count;
    atomic_store(&p->next, 0);
    p->busy = WORKERS - 1;
    p->generation += 1;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->mutex);
}

static void run_jobs(pool *p)
{
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;) {
        p->function(p->argument, i);
    }
}

static void *run_thread(void *argument)
{
    pool *const p = argument;

    pthread_mutex_lock(&p->mutex);
    for (unsigned generation = 0; generation == 0 || p->function != NULL;) {
        while (p->generation == generation) {
            pthread_cond_wait(&p->change, &p->mutex);
        }
        generation = p->generation;
        pthread_mutex_unlock(&p->mutex);
        run_jobs(p);
        pthread_mutex_lock(&p->mutex);
        p->busy -= 1;
        pthread_cond_broadcast(&p->change);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    pool *const p = context;

    begin(p, function, argument, count);
    run_jobs(p);
    pthread_mutex_lock(&p->mutex);
    while (p->busy != 0) {
        pthread_cond_wait(&p->change, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

// --- Its threads ---

static pool workers = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static void start(void)
{
    for (size_t i = 0; i < WORKERS - 1; ++i) {
        if (pthread_create(&workers.threads[i], NULL, run_thread, &workers) != 0) {
            exit(EXIT_FAILURE);
        }
    }
}

static void stop(void)
{
    begin(&workers, NULL, NULL, 0);
    for (size_t i = 0; i < WORKERS - 1; ++i) {
        (void)pthread_join(workers.threads[i], NULL);
    }
}

int main(void)
{
    const espl_executor serial = {0};
    const espl_executor own = {&workers, WORKERS, parallel_for};

    start();

    const uint64_t alone = play_frames(&serial);
    const uint64_t together = play_frames(&own);

    printf("there %s jobs for %d threads\n", workers.generation > 0 ? "were" : "were no", WORKERS);
    stop();
    printf("the world is %s\n", alone == together ? "the same" : "different");
    return alone == together ? EXIT_SUCCESS : EXIT_FAILURE;
}

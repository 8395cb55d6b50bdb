// SPDX-License-Identifier: MIT
// An executor of one's own on plain threads: some of them wait until there are jobs, take the next
// one each until none is left, and wait again.
#include "frames.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 4 };

// --- The executor ---

typedef struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    pthread_t threads[WORKERS - 1]; // whoever brings jobs is a worker too
    espl_job function;              // of the jobs at hand; NULL: the threads may go
    void *argument;
    size_t count;
    atomic_size_t next;
    unsigned turn, busy; // how often there were jobs; threads that have not seen the end of them
} pool;

static void begin(pool *p, espl_job function, void *argument, size_t count)
{
    pthread_mutex_lock(&p->mutex);
    p->function = function, p->argument = argument, p->count = count;
    atomic_store(&p->next, 0);
    p->busy = WORKERS - 1;
    p->turn += 1;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->mutex);
}

static void work(pool *p)
{
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;) {
        p->function(p->argument, i);
    }
}

static void *live(void *argument)
{
    pool *const p = argument;

    pthread_mutex_lock(&p->mutex);
    for (unsigned turn = 0; turn == 0 || p->function != NULL;) {
        while (p->turn == turn) {
            pthread_cond_wait(&p->change, &p->mutex);
        }
        turn = p->turn;
        pthread_mutex_unlock(&p->mutex);
        work(p);
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
    work(p);
    pthread_mutex_lock(&p->mutex);
    while (p->busy != 0) {
        pthread_cond_wait(&p->change, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

// --- Its threads ---

static bool start(pool *p)
{
    bool is_running =
        pthread_mutex_init(&p->mutex, NULL) == 0 && pthread_cond_init(&p->change, NULL) == 0;

    for (size_t i = 0; i < WORKERS - 1 && is_running; ++i) {
        is_running = pthread_create(&p->threads[i], NULL, live, p) == 0;
    }
    return is_running;
}

static void stop(pool *p)
{
    begin(p, NULL, NULL, 0);
    for (size_t i = 0; i < WORKERS - 1; ++i) {
        (void)pthread_join(p->threads[i], NULL);
    }
}

int main(void)
{
    static pool crew;
    const espl_executor serial = espl_executor_serial();
    const espl_executor own = {&crew, WORKERS, parallel_for};

    if (!start(&crew)) {
        return EXIT_FAILURE;
    }
    const uint64_t alone = play_frames(&serial);
    const uint64_t together = play_frames(&own);

    printf("there %s jobs for %d threads\n", crew.turn > 0 ? "were" : "were no", WORKERS);
    stop(&crew);
    printf("the world is %s\n", alone == together ? "the same" : "another one");
    return alone == together ? EXIT_SUCCESS : EXIT_FAILURE;
}

// SPDX-License-Identifier: MIT
// An executor on the job system of an engine: the jobs of the library share one queue with other jobs of
// the game, and a thread that waits for a batch of jobs runs any job meanwhile.
#include "frames.h"

#include <pthread.h>

enum { THREADS = 3, OTHERS = 2000 };

// --- The job system ---

typedef struct batch {
    espl_job function;
    void *argument;
    size_t count, next, done;
    struct batch *behind;
} batch;

typedef struct engine {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    batch *first; // batches with jobs that are not begun, the newest first
    bool is_over;
} engine;

// Do one job of any batch, or wait until something changes. The lock is held before and after.
static void help(engine *e)
{
    batch *const b = e->first;

    if (b == NULL) {
        pthread_cond_wait(&e->change, &e->mutex);
        return;
    }
    const size_t index = b->next++;

    e->first = b->next == b->count ? b->behind : b;
    pthread_mutex_unlock(&e->mutex);
    b->function(b->argument, index);
    pthread_mutex_lock(&e->mutex);
    if (++b->done == b->count) {
        pthread_cond_broadcast(&e->change);
    }
}

static void submit(engine *e, batch *b)
{
    pthread_mutex_lock(&e->mutex);
    b->behind = e->first;
    e->first = b;
    pthread_cond_broadcast(&e->change);
    pthread_mutex_unlock(&e->mutex);
}

static void await(engine *e, const batch *b)
{
    pthread_mutex_lock(&e->mutex);
    while (b->done < b->count) {
        help(e);
    }
    pthread_mutex_unlock(&e->mutex);
}

static void *run_thread(void *argument)
{
    engine *const e = argument;

    pthread_mutex_lock(&e->mutex);
    while (!e->is_over) {
        help(e);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

// --- The executor: what the library needs, by the calls of the job system ---

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    batch jobs = {.function = function, .argument = argument, .count = count};

    submit(context, &jobs);
    await(context, &jobs);
}

// --- Its threads ---

static engine game = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
static pthread_t threads[THREADS];

static void start(void)
{
    for (size_t i = 0; i < THREADS; ++i) {
        if (pthread_create(&threads[i], NULL, run_thread, &game) != 0) {
            exit(EXIT_FAILURE);
        }
    }
}

static void stop(void)
{
    pthread_mutex_lock(&game.mutex);
    game.is_over = true;
    pthread_cond_broadcast(&game.change);
    pthread_mutex_unlock(&game.mutex);
    for (size_t i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
}

// --- Other jobs of the game ---

// Each of these jobs writes one number and does not know the world.
static void compute(void *argument, size_t index)
{
    uint32_t *const numbers = argument;

    numbers[index] = (uint32_t)index * 1664525U + 1013904223U;
}

int main(void)
{
    static uint32_t numbers[OTHERS];
    const espl_executor serial = {0};
    const espl_executor own = {&game, THREADS + 1, parallel_for};
    batch others = {.function = compute, .argument = numbers, .count = OTHERS};

    start();

    const uint64_t alone = play_frames(&serial);

    submit(&game, &others);
    const uint64_t together = play_frames(&own);

    await(&game, &others);
    stop();
    printf("%zu other jobs were done\n", others.done);
    printf("the world is %s\n", alone == together ? "the same" : "different");
    return alone == together ? EXIT_SUCCESS : EXIT_FAILURE;
}

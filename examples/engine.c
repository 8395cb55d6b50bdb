// SPDX-License-Identifier: MIT
// An executor on the job system of an engine. Its jobs wait in one queue with those of the rest of
// the game, and whoever waits for some helps with any of them meanwhile.
#include "frames.h"

#include <pthread.h>

enum { THREADS = 3, THOUGHTS = 2000 };

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
    batch *first; // with jobs that nobody has begun, the newest first
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

static void *live(void *argument)
{
    engine *const e = argument;

    pthread_mutex_lock(&e->mutex);
    while (!e->is_over) {
        help(e);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

// --- The executor: what the library asks for, in the engine's words ---

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    batch jobs = {.function = function, .argument = argument, .count = count};

    submit(context, &jobs);
    await(context, &jobs);
}

// --- Its threads ---

static pthread_t threads[THREADS];

static bool start(engine *e)
{
    bool is_running =
        pthread_mutex_init(&e->mutex, NULL) == 0 && pthread_cond_init(&e->change, NULL) == 0;

    for (size_t i = 0; i < THREADS && is_running; ++i) {
        is_running = pthread_create(&threads[i], NULL, live, e) == 0;
    }
    return is_running;
}

static void stop(engine *e)
{
    pthread_mutex_lock(&e->mutex);
    e->is_over = true;
    pthread_cond_broadcast(&e->change);
    pthread_mutex_unlock(&e->mutex);
    for (size_t i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
}

// --- Other jobs of the game ---

// Each thought is of its own place and knows nothing of the world.
static void think(void *argument, size_t index)
{
    uint32_t *const thoughts = argument;
    uint32_t thought = (uint32_t)index + 1;

    for (int i = 0; i < 100; ++i) {
        thought = thought * 1664525U + 1013904223U;
    }
    thoughts[index] = thought;
}

int main(void)
{
    static engine game;
    static uint32_t thoughts[THOUGHTS];
    const espl_executor serial = espl_executor_serial();
    const espl_executor own = {&game, THREADS + 1, parallel_for};
    batch thinking = {.function = think, .argument = thoughts, .count = THOUGHTS};

    if (!start(&game)) {
        return EXIT_FAILURE;
    }
    const uint64_t alone = play_frames(&serial);

    submit(&game, &thinking);
    const uint64_t together = play_frames(&own);

    await(&game, &thinking);
    stop(&game);
    printf("%zu thoughts were thought meanwhile\n", thinking.done);
    printf("the world is %s\n", alone == together ? "the same" : "another one");
    return alone == together ? EXIT_SUCCESS : EXIT_FAILURE;
}

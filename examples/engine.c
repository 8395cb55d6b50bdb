// SPDX-License-Identifier: MIT
// An executor on the job system of an engine. Its jobs wait in one queue with those of the rest of
// the game, and whoever waits for some helps with any of them meanwhile.
#include <espalier/espalier.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, HIERARCHIES = 500, ENTITIES = 5000, THOUGHTS = 2000 };

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
    pthread_t threads[THREADS];
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
    b->done += 1;
    if (b->done == b->count) {
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

static bool start(engine *e)
{
    bool is_running =
        pthread_mutex_init(&e->mutex, NULL) == 0 && pthread_cond_init(&e->change, NULL) == 0;

    for (size_t i = 0; i < THREADS && is_running; ++i) {
        is_running = pthread_create(&e->threads[i], NULL, live, e) == 0;
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
        (void)pthread_join(e->threads[i], NULL);
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

static void must(espl_status status)
{
    if (status != ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// --- A world on any executor ---

static espl_entity entities[ENTITIES];

// Trees in which everybody has two children, as long as there are any left.
static espl_world *make_world(const espl_executor *executor)
{
    const espl_world_def def = {.executor = *executor, .tag = 1};
    const espl_attach_options as_it_is = {.position = ESPL_STAY_LOCAL};
    espl_world *world = NULL;

    must(espl_world_create(&world, &def));
    must(espl_create(world, (espl_component[]){ESPL_PLACEMENT}, 1, ENTITIES, entities));
    for (size_t i = HIERARCHIES; i < ENTITIES; ++i) {
        must(espl_set_local_position(world, entities[i], (float[]){0, 0.1F * (float)(i % 13), 1}));
        must(espl_attach(world, entities[i], entities[(i - HIERARCHIES) / 2], &as_it_is));
    }
    return world;
}

static espl_write turn(size_t i, float angle)
{
    return (espl_write){
        entities[i], ESPL_WRITE_ROTATE_LOCAL, {.rotation = {0, angle, 0, 1 - angle * angle / 2}}};
}

static void write_at_once(espl_world *world)
{
    static espl_write writes[ENTITIES];

    for (size_t i = 0; i < ENTITIES; ++i) {
        writes[i] = turn(i, 0.01F * (float)(i % 7));
    }
    must(espl_write_batch(world, writes, ENTITIES, NULL));
}

static void write_at_the_sync_point(espl_world *world)
{
    espl_commands *commands = NULL;

    must(espl_commands_create(world, 1, &commands));
    for (size_t i = 0; i < ENTITIES; ++i) {
        const espl_write write = turn(i, 0.02F * (float)(i % 5));

        must(espl_record_write(espl_commands_recorder(commands, 0), 0, &write));
    }
    must(espl_play(world, commands, NULL));
    espl_commands_destroy(commands);
}

// What a few frames come to, in one number.
static uint64_t play_frames(const espl_executor *executor)
{
    espl_world *const world = make_world(executor);
    uint64_t sum = 14695981039346656037U;

    for (int frame = 0; frame < 3; ++frame) {
        write_at_once(world);
        write_at_the_sync_point(world);
    }
    for (size_t i = 0; i < ENTITIES; ++i) {
        espl_transform at;
        unsigned char bytes[sizeof at];

        must(espl_get_world(world, entities[i], &at));
        memcpy(bytes, &at, sizeof at);
        for (size_t k = 0; k < sizeof bytes; ++k) {
            sum = (sum ^ bytes[k]) * 1099511628211U;
        }
    }
    espl_world_destroy(world);
    return sum;
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

// SPDX-License-Identifier: MIT
// An executor of one's own on plain threads: some of them wait until there are jobs, take the next
// one each until none is left, and wait again.
#include <espalier/espalier.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, HIERARCHIES = 500, ENTITIES = 5000 };

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

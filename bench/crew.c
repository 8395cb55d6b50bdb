// SPDX-License-Identifier: MIT
// A run is announced by its number. Whoever sleeps is woken by a condition; whoever is awake sees
// the number change.
#include "bench/crew.h"

#include "bench/blocks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

// Looks at the run's number before a worker sleeps, some 20 us: it pays between the depths of a
// hierarchy, and leaves the cores to others between frames.
enum { look_limit = 2000, worker_limit = 256 };

struct crew {
    unsigned others; ///< Threads beside the caller.
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t woken;

    atomic_uint run;     ///< Number of the run at hand or done; changes under the lock.
    atomic_bool is_open; ///< The run may be entered.
    atomic_uint inside;  ///< Threads that have entered it, or are about to look whether they may.
    atomic_bool is_over; ///< No run comes any more.

    // Of the run at hand.
    crew_part function;
    void *context;
    size_t count;
    size_t part;
    atomic_size_t next; ///< First item that nobody has taken.
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void take_parts(struct crew *crew)
{
    for (;;) {
        const size_t begin = atomic_fetch_add(&crew->next, crew->part);

        if (begin >= crew->count) {
            return;
        }
        const size_t left = crew->count - begin;
        crew->function(crew->context, begin, begin + (left < crew->part ? left : crew->part));
    }
}

// Return the number of a run that is not the one seen last.
static unsigned await_run(struct crew *crew, unsigned seen)
{
    for (int look = 0; look < look_limit; ++look) {
        const unsigned run = atomic_load(&crew->run);

        if (run != seen) {
            return run;
        }
        pause_briefly();
    }

    pthread_mutex_lock(&crew->lock);
    while (atomic_load(&crew->run) == seen) {
        pthread_cond_wait(&crew->woken, &crew->lock);
    }
    const unsigned run = atomic_load(&crew->run);
    pthread_mutex_unlock(&crew->lock);
    return run;
}

static void *work(void *argument)
{
    struct crew *const crew = argument;
    unsigned seen = 0;

    for (;;) {
        seen = await_run(crew, seen);
        if (atomic_load(&crew->is_over)) {
            return NULL;
        }
        atomic_fetch_add(&crew->inside, 1);
        if (atomic_load(&crew->is_open)) {
            take_parts(crew);
        }
        atomic_fetch_sub(&crew->inside, 1);
    }
}

static void announce(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add(&crew->run, 1);
    pthread_cond_broadcast(&crew->woken);
    pthread_mutex_unlock(&crew->lock);
}

unsigned crew_limit(void)
{
    return worker_limit;
}

struct crew *crew_create(unsigned workers)
{
    if (workers < 2) {
        return NULL;
    }

    struct crew *const crew = block_new(1, sizeof *crew);

    *crew =
        (struct crew){.others = workers - 1, .threads = block_new(workers - 1, sizeof(pthread_t))};
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->woken, NULL);
    for (unsigned i = 0; i < crew->others; ++i) {
        if (pthread_create(&crew->threads[i], NULL, work, crew) != 0) {
            course_fail("threads", "cannot be had");
        }
    }
    return crew;
}

void crew_destroy(struct crew *crew)
{
    if (crew == NULL) {
        return;
    }

    atomic_store(&crew->is_over, true);
    announce(crew);
    for (unsigned i = 0; i < crew->others; ++i) {
        pthread_join(crew->threads[i], NULL);
    }
    pthread_cond_destroy(&crew->woken);
    pthread_mutex_destroy(&crew->lock);
    free(crew->threads);
    free(crew);
}

// No run is open and nobody is inside, so nobody reads what is written here. Whoever wakes when all
// is done finds the run closed: it is not waited for.
void crew_run(struct crew *crew, crew_part function, void *context, size_t count, size_t part)
{
    if (crew == NULL || count <= part) {
        function(context, 0, count);
        return;
    }

    crew->function = function;
    crew->context = context;
    crew->count = count;
    crew->part = part;
    atomic_store(&crew->next, 0);
    atomic_store(&crew->is_open, true);
    announce(crew);
    take_parts(crew);
    atomic_store(&crew->is_open, false);

    // A worker that has lost its core to somebody else gets this one.
    for (int look = 0; atomic_load(&crew->inside) > 0; ++look) {
        look < look_limit ? pause_briefly() : (void)sched_yield();
    }
}

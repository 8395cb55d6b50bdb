// SPDX-License-Identifier: MIT
// Random calls on worlds with counterparts. Two worlds that follow each other agree after each exchange, in
// every local bit for bit and in what lives; the links of a world are those of a naive map, through marks,
// rewinds, images and compaction; and a thread follows what another one collects.
#include "tests/fixture.h"
#include "tests/runner.h"

#include <espalier/counterpart.h>
#include <espalier/history.h>
#include <espalier/image.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static uint64_t operations(uint64_t usual)
{
    const char *const set = getenv("ESPL_OPERATIONS");

    return set != NULL ? strtoull(set, NULL, 10)
                       : (uint64_t)test_scaled_alone((size_t)usual) * test_factor();
}

// --- Two worlds that follow each other ---

enum { PAIRS = 200 };

// A pair of entities that are each other's counterpart; null where there is none.
typedef struct pair {
    espl_entity side[2];
} pair;

typedef struct exchange {
    test_world test[2];
    espl_world *world[2];
    espl_watch *watch[2];
    pair pairs[PAIRS];
    uint64_t random;
} exchange;

static void begin_exchange(exchange *x, uint64_t seed)
{
    *x = (exchange){.random = seed};
    for (uint32_t i = 0; i < 2; ++i) {
        test_world_begin(&x->test[i], 1 + i, NULL);
        x->world[i] = x->test[i].world;
        ck_ok(espl_watch_create(x->world[i], &(espl_watch_def){.flags = ESPL_WATCH_LOCAL},
                                &x->watch[i]));
    }
}

static void end_exchange(exchange *x)
{
    for (uint32_t i = 0; i < 2; ++i) {
        espl_watch_destroy(x->watch[i]);
        test_world_end(&x->test[i]);
    }
}

static bool is_whole(const exchange *x, uint32_t number)
{
    return espl_is_alive(x->world[0], x->pairs[number].side[0]) &&
           espl_is_alive(x->world[1], x->pairs[number].side[1]);
}

// Follow both ways until both are at rest.
static void exchange_all(exchange *x)
{
    const espl_follow_def def = {.removed = ESPL_EXTENT_SUBTREE};
    espl_changes changes;
    bool is_at_rest = false;

    for (int turn = 0; turn < 12 && !is_at_rest; ++turn) {
        is_at_rest = true;
        for (uint32_t from = 0; from < 2; ++from) {
            const uint64_t before = test_stats(x->world[1 - from]).writes;
            espl_follow_report report;

            ck_ok(espl_watch_collect(x->watch[from], 0, &changes));
            ck_assert(espl_follow(x->world[1 - from], &changes, &def, &report) >= 0);
            ck_assert_uint_eq(report.refused, 0);
            is_at_rest = is_at_rest && report.destroyed == 0 &&
                         test_stats(x->world[1 - from]).writes == before;
        }
    }
    ck_assert(is_at_rest);
}

// Make a pair: on one side an entity, on the other one its counterpart.
static void make_pair(exchange *x, uint32_t number)
{
    const uint32_t side = test_below(&x->random, 2), other = 1 - side;
    const uint32_t parent = test_below(&x->random, PAIRS);
    pair *const p = &x->pairs[number];
    espl_placing_def def = {.extent = ESPL_EXTENT_ENTITY};

    p->side[side] = test_solo(x->world[side]);
    if (number != parent && is_whole(x, parent) && test_one_in(&x->random, 2)) {
        ck_ok(espl_attach(x->world[side], p->side[side], x->pairs[parent].side[side],
                          &test_keep_local));
        def.parent = x->pairs[parent].side[other];
    }
    const espl_write write = write_ordinary(p->side[side], ESPL_WRITE_LOCAL_TRANSFORM, &x->random);

    ck_ok(espl_write_batch(x->world[side], &write, 1, NULL));
    ck_ok(espl_place_counterparts(x->world[other], x->world[side], p->side[side], &def,
                                  &p->side[other]));
    ck_ok(espl_set_counterpart(x->world[side], p->side[side], p->side[other]));
    // A watch says that an entity is gone only of one that it knew.
    exchange_all(x);
}

// Change one side of a pair, or make it where it is none.
static void change_pair(exchange *x)
{
    const uint32_t number = test_below(&x->random, PAIRS), side = test_below(&x->random, 2);
    const espl_entity entity = x->pairs[number].side[side];
    const uint32_t parent = test_below(&x->random, PAIRS);
    espl_world *const world = x->world[side];

    if (!is_whole(x, number)) {
        // A side that lives waits for the exchange.
        if (!espl_is_alive(x->world[0], x->pairs[number].side[0]) &&
            !espl_is_alive(x->world[1], x->pairs[number].side[1])) {
            make_pair(x, number);
        }
        return;
    }
    if (test_one_in(&x->random, 12)) {
        ck_ok(espl_destroy(world, entity, ESPL_EXTENT_SUBTREE));
    } else if (test_one_in(&x->random, 6)) {
        const espl_status status =
            parent != number && is_whole(x, parent)
                ? espl_attach(world, entity, x->pairs[parent].side[side], &test_keep_local)
                : espl_detach(world, entity, ESPL_KEEP_LOCAL);

        ck_assert(status == ESPL_OK || status == ESPL_ERR_CYCLE || status == ESPL_OVERFLOW);
    } else {
        const espl_write write = write_ordinary(entity, ESPL_WRITE_LOCAL_TRANSFORM, &x->random);

        ck_assert(espl_write_batch(world, &write, 1, NULL) >= 0);
    }
}

static void pairs_agree(const exchange *x)
{
    size_t living = 0;

    for (uint32_t i = 0; i < PAIRS; ++i) {
        const pair *const p = &x->pairs[i];

        if (!is_whole(x, i)) {
            ck_assert(!espl_is_alive(x->world[0], p->side[0]));
            ck_assert(!espl_is_alive(x->world[1], p->side[1]));
            ck_assert(espl_entity_is_null(espl_find_counterpart(x->world[0], p->side[1])));
            ck_assert(espl_entity_is_null(espl_find_counterpart(x->world[1], p->side[0])));
            continue;
        }
        const espl_transform a = test_local_of(x->world[0], p->side[0]);
        const espl_transform b = test_local_of(x->world[1], p->side[1]);

        living += 1;
        ck_assert(test_same(&a, &b));
        ck_assert(espl_entity_equal(espl_find_counterpart(x->world[0], p->side[1]), p->side[0]));
        ck_assert(espl_entity_equal(espl_get_original(x->world[1], p->side[1]), p->side[0]));
    }
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_uint_eq(test_stats(x->world[i]).counterparts, living);
        ck_assert_uint_eq(test_stats(x->world[i]).entities, living);
    }
}

TEST_LOOP(two_worlds_that_follow_each_other_agree, 0, 4)
{
    static exchange x;
    const uint64_t steps = operations(250000);

    if (test_lacks_room(2 * PAIRS, "worlds that follow each other")) {
        return;
    }
    begin_exchange(&x, (uint64_t)_i + 1);
    for (uint64_t step = 0; step < steps; ++step) {
        change_pair(&x);
        if (test_one_in(&x.random, 20)) {
            exchange_all(&x);
            pairs_agree(&x);
        }
        if (test_is_worn((size_t)step * 2, 2 * PAIRS)) {
            break;
        }
    }
    test_world_is_valid(x.world[0]);
    test_world_is_valid(x.world[1]);
    end_exchange(&x);
    test_tell_figure(steps, "operations on worlds that follow each other");
}

// --- A naive map ---

enum { NAMES = 60, HANDLES = 80, MARKS = 4 };

// What a world has: its entities, each with the number of its original, or HANDLES.
typedef struct naive {
    espl_entity entities[NAMES];
    uint32_t originals[NAMES];
} naive;

static espl_entity handle(uint32_t number)
{
    return (espl_entity){number % 50, (2 + number / 50) << 24 | 1};
}

static bool has_original(const naive *n, uint32_t number)
{
    bool is_found = false;

    for (uint32_t i = 0; i < NAMES; ++i) {
        is_found = is_found || (!espl_entity_is_null(n->entities[i]) && n->originals[i] == number);
    }
    return is_found;
}

static void links_are(const espl_world *world, const naive *n)
{
    size_t count = 0;

    for (uint32_t i = 0; i < NAMES; ++i) {
        const bool has_one = !espl_entity_is_null(n->entities[i]) && n->originals[i] != HANDLES;
        const espl_entity found = espl_get_original(world, n->entities[i]);
        const espl_entity wanted = has_one ? handle(n->originals[i]) : test_null;

        ck_assert(espl_entity_equal(found, wanted));
        count += has_one ? 1 : 0;
        if (has_one) {
            ck_assert(espl_entity_equal(espl_find_counterpart(world, wanted), n->entities[i]));
        }
    }
    ck_assert_uint_eq(test_stats(world).counterparts, count);
}

// Set, remove or refuse a link, or make or destroy an entity.
static void step_links(espl_world *world, naive *n, uint64_t *random)
{
    const uint32_t i = test_below(random, NAMES), number = test_below(random, HANDLES);

    if (espl_entity_is_null(n->entities[i])) {
        n->entities[i] = test_solo(world);
        n->originals[i] = HANDLES;
    } else if (test_one_in(random, 6)) {
        ck_ok(espl_destroy(world, n->entities[i], ESPL_EXTENT_OWNED));
        n->entities[i] = test_null;
    } else if (test_one_in(random, 4)) {
        ck_ok(espl_set_counterpart(world, n->entities[i], test_null));
        n->originals[i] = HANDLES;
    } else if (n->originals[i] == number || !has_original(n, number)) {
        ck_ok(espl_set_counterpart(world, n->entities[i], handle(number)));
        n->originals[i] = number;
    } else {
        ck_status(espl_set_counterpart(world, n->entities[i], handle(number)), ESPL_ERR_EXISTS);
    }
}

// Marks and what the world was then; the oldest first.
typedef struct marks {
    espl_history *history;
    naive then[MARKS];
    uint64_t hashes[MARKS];
    uint64_t frames[MARKS];
    uint32_t count;
    uint64_t next;
} marks;

static void add_mark(marks *m, const espl_world *world, const naive *n)
{
    ck_ok(espl_history_mark(m->history, m->next));
    if (m->count == MARKS) {
        memmove(m->then, m->then + 1, sizeof m->then - sizeof *m->then);
        memmove(m->hashes, m->hashes + 1, sizeof m->hashes - sizeof *m->hashes);
        memmove(m->frames, m->frames + 1, sizeof m->frames - sizeof *m->frames);
        m->count -= 1;
    }
    m->then[m->count] = *n;
    m->hashes[m->count] = test_physical_hash(world);
    m->frames[m->count] = m->next;
    m->count += 1;
    m->next += 1;
}

static void go_back(marks *m, const espl_world *world, naive *n, uint64_t *random)
{
    if (m->count == 0) {
        return;
    }
    const uint32_t to = test_below(random, m->count);

    ck_ok(espl_history_rewind(m->history, m->frames[to], 0, NULL));
    *n = m->then[to];
    ck_assert_uint_eq(test_physical_hash(world), m->hashes[to]);
    m->count = to + 1;
}

static void load_own_image(espl_world *world, marks *m)
{
    const size_t size = espl_image_size(world);
    unsigned char *const bytes = test_array(size, 1);
    const uint64_t hash = test_physical_hash(world);

    ck_ok(espl_image_save(world, bytes, size));
    ck_ok(espl_image_load(world, bytes, size, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(world), hash);
    m->count = 0; // a load drops all frames
    free(bytes);
}

TEST_LOOP(links_are_those_of_a_naive_map, 0, 4)
{
    const uint64_t steps = operations(250000);
    uint64_t random = (uint64_t)_i + 77;
    marks m = {.next = 1};
    static naive now;
    test_world test;

    now = (naive){0};
    if (test_lacks_room(NAMES, "a naive map of links")) {
        return;
    }
    test_world_begin(&test, 1, NULL);
    ck_ok(espl_history_create(
        test.world, &(espl_history_def){.frames = MARKS, .flags = ESPL_HISTORY_HASH}, &m.history));
    for (uint64_t step = 0; step < steps; ++step) {
        step_links(test.world, &now, &random);
        if (test_one_in(&random, 15)) {
            add_mark(&m, test.world, &now);
        } else if (test_one_in(&random, 30)) {
            go_back(&m, test.world, &now, &random);
        } else if (test_one_in(&random, 400)) {
            load_own_image(test.world, &m);
        } else if (test_one_in(&random, 400)) {
            ck_ok(espl_compact(test.world));
            m.count = 0;
        }
        if (step % 10 == 0) {
            links_are(test.world, &now);
        }
        if (test_is_worn((size_t)step, NAMES)) {
            break;
        }
    }
    links_are(test.world, &now);
    test_world_is_valid(test.world);
    espl_history_destroy(m.history);
    test_world_end(&test);
    test_tell_figure(steps, "operations on links");
}

// --- Two threads ---

enum { MOVERS = 40 };

// A thread that follows what the other one collects.
typedef struct follower {
    espl_world *world;
    const espl_changes *changes; // handed over by `is_there`, and back by `is_done`
    sem_t is_there, is_done;
} follower;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
    }
}

static void *run_follower(void *context)
{
    follower *const f = context;

    for (wait_for(&f->is_there); f->changes != NULL; wait_for(&f->is_there)) {
        ck_ok(espl_follow(f->world, f->changes, NULL, NULL));
        sem_post(&f->is_done);
    }
    return NULL;
}

TEST(a_thread_follows_while_the_other_one_goes_on)
{
    // A solo is made every 16 rounds.
    const size_t rounds = 16 * (size_t)test_fitting(test_scaled(304) / 16, MOVERS);
    test_world here, there;
    follower f = {0};
    espl_entity movers[MOVERS];
    espl_changes changes;
    espl_watch *watch;
    pthread_t thread;
    uint64_t random = 9;

    test_world_begin(&here, 1, NULL);
    test_world_begin(&there, 2, NULL);
    f.world = there.world;
    ck_assert_int_eq(sem_init(&f.is_there, 0, 0) | sem_init(&f.is_done, 0, 0), 0);
    ck_ok(espl_watch_create(here.world, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL}, &watch));
    test_solos(here.world, MOVERS, movers);
    for (int i = 0; i < MOVERS; ++i) {
        ck_ok(espl_place_counterparts(there.world, here.world, movers[i], NULL, NULL));
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, run_follower, &f), 0);
    for (size_t round = 0; round < rounds; ++round) {
        const espl_write write = write_ordinary(movers[test_below(&random, MOVERS)],
                                                ESPL_WRITE_LOCAL_TRANSFORM, &random);

        ck_ok(espl_watch_collect(watch, 0, &changes));
        f.changes = &changes;
        sem_post(&f.is_there);
        // The arrays of the collect stay as they are.
        ck_ok(espl_write_batch(here.world, &write, 1, NULL));
        test_solos(here.world, round % 16 == 0 ? 1 : 0, NULL);
        wait_for(&f.is_done);
    }
    ck_ok(espl_watch_collect(watch, 0, &changes));
    sem_post(&f.is_there);
    wait_for(&f.is_done);
    f.changes = NULL;
    sem_post(&f.is_there);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    for (int i = 0; i < MOVERS; ++i) {
        const espl_transform a = test_local_of(here.world, movers[i]);
        const espl_transform b =
            test_local_of(there.world, espl_find_counterpart(there.world, movers[i]));

        ck_assert(test_same(&a, &b));
    }
    espl_watch_destroy(watch);
    sem_destroy(&f.is_there);
    sem_destroy(&f.is_done);
    test_world_end(&here);
    test_world_end(&there);
}

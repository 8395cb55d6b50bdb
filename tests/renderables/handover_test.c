// SPDX-License-Identifier: MIT
// The hand-over between two threads. The publisher puts a checksum of each mirror into the bytes of the user,
// and the reader computes it again from what it reads, while later updates use blocks again.
#include "lib/renderables/tables.h"
#include "tests/base/heap_fixture.h"
#include "tests/renderables/stamped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PUBLISHES = 3000, CLUSTERS = 24 };

FIXTURE(heap_begin, heap_is_empty);

// What the bytes of the user are.
typedef struct signed_user {
    uint64_t number, sum;
} signed_user;

static espl__tables tables;
static _Atomic bool has_ended;

static uint64_t add_poses(uint64_t sum, const espl__poses *poses)
{
    for (uint32_t i = 0; i < ESPL__CLUSTER_SIZE; ++i) {
        uint32_t words[2];

        memcpy(&words[0], &poses->poses[i].position[0], sizeof words[0]);
        memcpy(&words[1], &poses->boxes[i % ESPL__BOX_NUMBERS][i], sizeof words[1]);
        sum = sum * 31 + words[0] + words[1];
    }
    return sum;
}

static uint64_t sum_of_entry(uint64_t sum, const espl__cluster_entry *entry)
{
    if (entry->values == NULL) {
        return sum * 7;
    }
    for (uint32_t i = 0; i < entry->values->count; ++i) {
        sum = sum * 33 + entry->values->entities[i].index + entry->values->keys[i];
    }
    if (entry->values->stretches != NULL) {
        sum += (uint64_t)entry->values->stretches->stretch[0][0];
    }
    return add_poses(add_poses(sum, entry->poses), entry->before);
}

static uint64_t sum_of_entries(const espl__cluster_entry *entries, uint32_t clusters)
{
    uint64_t sum = 1;

    for (uint32_t i = 0; i < clusters; ++i) {
        sum = sum_of_entry(sum, &entries[i]);
    }
    return sum;
}

static void take_filled_values(uint32_t cluster, uint64_t stamp)
{
    espl__values *const values = espl__values_take(&tables);

    if (stamp % 5 == 0) {
        values->stretches = espl__stretches_take(&tables);
    }
    fill_values(values, stamp);
    espl__tables_set_values(&tables, cluster, values);
}

static espl__poses *take_filled_poses(uint64_t stamp)
{
    espl__poses *const poses = espl__poses_take(&tables);

    fill_poses(poses, stamp);
    return poses;
}

// One cluster of an update: made, moved, paired, removed, or left as it is.
static void change_cluster(uint32_t cluster, uint64_t drawn, uint64_t stamp)
{
    const bool exists = espl__tables_entry(&tables, cluster)->values != NULL;

    if (!exists) {
        return;
    }
    if (drawn % 8 == 0) {
        espl__tables_remove_cluster(&tables, cluster);
        const uint32_t again = espl__tables_add_cluster(&tables);

        take_filled_values(again, stamp);
        espl__tables_set_poses(&tables, again, take_filled_poses(stamp));
    } else if (drawn % 8 == 1) {
        take_filled_values(cluster, stamp);
        espl__tables_set_pair(&tables, cluster, take_filled_poses(stamp),
                              take_filled_poses(stamp + 1));
    } else if (drawn % 8 < 5) {
        espl__tables_set_poses(&tables, cluster, take_filled_poses(stamp));
    }
}

// What the entries are once this update is published: clusters that did not move have one poses block.
static uint64_t sum_of_next(void)
{
    const espl__newest *const newest = &tables.newest;
    uint64_t sum = 1;

    for (uint32_t i = 0; i < newest->clusters; ++i) {
        espl__cluster_entry entry = newest->arrays.entries[i];

        if (entry.poses != NULL && entry.poses->block.made != tables.number) {
            entry.before = entry.poses;
        }
        sum = sum_of_entry(sum, &entry);
    }
    return sum;
}

static void publish_signed(uint64_t *random)
{
    const espl__tables_need need = {.clusters = CLUSTERS,
                                    .blocks = {[ESPL__BLOCK_VALUES] = CLUSTERS,
                                               [ESPL__BLOCK_POSES] = 2 * CLUSTERS,
                                               [ESPL__BLOCK_STRETCHES] = CLUSTERS}};

    espl__tables_begin(&tables);
    ck_assert(espl__tables_reserve(&tables, &heap, &need));
    if (tables.newest.clusters < CLUSTERS) {
        const uint32_t cluster = espl__tables_add_cluster(&tables);

        take_filled_values(cluster, test_random(random));
        espl__tables_set_poses(&tables, cluster, take_filled_poses(test_random(random)));
    } else {
        for (int i = 0; i < 4; ++i) {
            const uint32_t cluster = (uint32_t)(test_random(random) % CLUSTERS);

            if (tables.newest.arrays.changed[cluster] != tables.number) {
                change_cluster(cluster, test_random(random), test_random(random));
            }
        }
    }
    for (uint32_t i = 0; i < tables.newest.clusters; ++i) {
        espl__tables_order(&tables)[i] = i;
    }
    espl__tables_set_order(&tables, tables.newest.clusters, 0);
    const signed_user user = {tables.number, sum_of_next()};

    (void)espl__tables_publish(&tables, &(espl__publication){.user = &user});
}

// --- The reader ---

typedef struct reading {
    unsigned pause; // how slow it is
    uint64_t mirrors, torn, backward, last;
} reading;

static void *read_mirrors(void *context)
{
    reading *const r = context;
    const espl_mirror *before = NULL;
    bool is_last = false;

    while (!is_last) {
        // The newest mirror is read after the publisher ended.
        is_last = atomic_load(&has_ended);
        const espl_mirror *const mirror = espl__tables_acquire(&tables);

        if (mirror == NULL) {
            continue;
        }
        const signed_user *const user = mirror->user;
        const uint64_t number = mirror->number;

        for (unsigned i = 0; i < r->pause; ++i) {
            espl__system_yield();
        }
        r->mirrors += number != r->last ? 1 : 0;
        r->backward += number < r->last ? 1 : 0;
        r->torn +=
            user->number != number || user->sum != sum_of_entries(mirror->entries, mirror->clusters)
                ? 1
                : 0;
        r->last = number;
        // One that ended is refused, also while another mirror is written into its memory.
        r->torn +=
            before != NULL && before != mirror &&
                    espl_mirror_write(before, 0, &(espl_instance_arrays){0}, NULL) != ESPL_ERR_DEAD
                ? 1
                : 0;
        before = mirror;
    }
    return NULL;
}

// 0: the reader never rests; 1: it is about as fast as the publisher; 2: it is far slower.
TEST_LOOP(reader_sees_whole_mirrors_at_any_speed, 0, 3)
{
    static const unsigned pauses[] = {0, 4, 200};
    reading r = {.pause = pauses[_i]};
    uint64_t random = 17 + (uint64_t)_i;
    pthread_t thread;

    espl__tables_init(&tables, true, sizeof(signed_user));
    atomic_store(&has_ended, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_mirrors, &r), 0);
    for (int i = 0; i < PUBLISHES; ++i) {
        publish_signed(&random);
        if (i % 64 == 0) {
            espl__system_yield();
        }
    }
    atomic_store(&has_ended, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(r.torn, 0);
    ck_assert_uint_eq(r.backward, 0);
    ck_assert_uint_eq(r.last, PUBLISHES);
    ck_assert_uint_ge(r.mirrors, 1);
    ck_assert_ptr_null(espl__tables_broken_rule(&tables));
    ck_assert_uint_le(tables.pools[ESPL__BLOCK_VALUES].count, 4 * CLUSTERS);
    ck_assert_uint_le(tables.pools[ESPL__BLOCK_POSES].count, 8 * CLUSTERS);
    espl__tables_free(&tables, &heap);
}

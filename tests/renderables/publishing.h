// SPDX-License-Identifier: MIT
// A publisher without a world: random updates of tables, and a model of what each mirror has.
#ifndef ESPALIER_TESTS_RENDERABLES_PUBLISHING_H
#define ESPALIER_TESTS_RENDERABLES_PUBLISHING_H

#include "lib/renderables/tables.h"
#include "tests/base/heap_fixture.h"
#include "tests/renderables/stamped.h"

#include <string.h>

enum { PUBLISHED_LIMIT = 96, PUBLISHED_OPERATIONS = 12, PUBLISHED_USER = 40 };

// A cluster of the model. values 0: none.
typedef struct modelled_cluster {
    uint64_t values, poses, before; // stamps
    uint64_t changed;
    bool has_stretches;
} modelled_cluster;

// A mirror of the model.
typedef struct modelled_mirror {
    modelled_cluster clusters[PUBLISHED_LIMIT];
    uint32_t order[PUBLISHED_LIMIT];
    uint32_t count, order_count; // `count` is the upper bound of numbers
    uint64_t number, stamp;      // of the user
    size_t renderables;
} modelled_mirror;

typedef struct publishing {
    espl__tables tables;
    modelled_mirror next, published;
    uint64_t random, stamps;
    uint32_t most; // clusters at a time
} publishing;

static inline uint32_t draw_below(publishing *p, uint32_t below)
{
    return (uint32_t)(test_random(&p->random) % below);
}

// --- Updates ---

static inline void publishing_begin(publishing *p, bool has_reader, uint64_t seed, uint32_t most)
{
    memset(p, 0, sizeof *p);
    p->random = seed;
    p->most = most;
    espl__tables_init(&p->tables, has_reader, PUBLISHED_USER);
}

static inline void publishing_end(publishing *p)
{
    ck_assert_ptr_null(espl__tables_broken_rule(&p->tables));
    espl__tables_free(&p->tables, &heap);
}

static inline uint64_t next_stamp(publishing *p)
{
    p->stamps += 1;
    return p->stamps;
}

static inline modelled_cluster *touch_modelled(publishing *p, uint32_t cluster)
{
    p->next.clusters[cluster].changed = p->tables.number;
    return &p->next.clusters[cluster];
}

static inline void set_new_values(publishing *p, uint32_t cluster)
{
    modelled_cluster *const modelled = touch_modelled(p, cluster);
    espl__values *const values = espl__values_take(&p->tables);

    modelled->values = next_stamp(p);
    modelled->has_stretches = draw_below(p, 3) == 0;
    if (modelled->has_stretches) {
        values->stretches = espl__stretches_take(&p->tables);
    }
    fill_values(values, modelled->values);
    espl__tables_set_values(&p->tables, cluster, values);
}

static inline void set_new_poses(publishing *p, uint32_t cluster, bool is_first)
{
    modelled_cluster *const modelled = touch_modelled(p, cluster);
    espl__poses *const poses = espl__poses_take(&p->tables);
    const uint64_t old = modelled->poses;

    modelled->poses = next_stamp(p);
    fill_poses(poses, modelled->poses);
    espl__tables_set_poses(&p->tables, cluster, poses);
    modelled->before = is_first ? modelled->poses : old;
}

static inline void set_new_pair(publishing *p, uint32_t cluster)
{
    modelled_cluster *const modelled = touch_modelled(p, cluster);
    espl__poses *const poses = espl__poses_take(&p->tables);
    espl__poses *const before = draw_below(p, 4) == 0 ? poses : espl__poses_take(&p->tables);

    modelled->poses = next_stamp(p);
    modelled->before = before == poses ? modelled->poses : next_stamp(p);
    fill_poses(poses, modelled->poses);
    fill_poses(before, modelled->before);
    espl__tables_set_pair(&p->tables, cluster, poses, before);
}

// Draw a cluster that this update did not touch yet, or return ESPL__NO_CLUSTER.
static inline uint32_t draw_cluster(publishing *p)
{
    if (p->next.count == 0) {
        return ESPL__NO_CLUSTER;
    }
    const uint32_t cluster = draw_below(p, p->next.count);
    const modelled_cluster *const modelled = &p->next.clusters[cluster];

    return modelled->values == 0 || modelled->changed == p->tables.number ? ESPL__NO_CLUSTER
                                                                          : cluster;
}

static inline uint32_t count_clusters(const modelled_mirror *mirror)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < mirror->count; ++i) {
        count += mirror->clusters[i].values != 0 ? 1 : 0;
    }
    return count;
}

static inline void add_cluster(publishing *p)
{
    const uint32_t cluster = espl__tables_add_cluster(&p->tables);

    ck_assert_uint_lt(cluster, PUBLISHED_LIMIT);
    p->next.count = cluster < p->next.count ? p->next.count : cluster + 1;
    set_new_values(p, cluster);
    set_new_poses(p, cluster, true);
}

static inline void remove_cluster(publishing *p, uint32_t cluster)
{
    modelled_cluster *const modelled = touch_modelled(p, cluster);

    espl__tables_remove_cluster(&p->tables, cluster);
    *modelled = (modelled_cluster){.changed = modelled->changed};
}

// One random change. @param calm  clusters move, and nothing else happens.
static inline void change(publishing *p, bool is_calm)
{
    const uint32_t kind = is_calm ? 4 : draw_below(p, 8), cluster = draw_cluster(p);

    if (kind < 2 && count_clusters(&p->next) < p->most) {
        add_cluster(p);
    } else if (cluster == ESPL__NO_CLUSTER) {
        return;
    } else if (kind == 2) {
        remove_cluster(p, cluster);
    } else if (kind == 3) {
        set_new_values(p, cluster);
        set_new_pair(p, cluster);
    } else if (kind == 7) {
        set_new_values(p, cluster);
    } else {
        const uint64_t old = p->next.clusters[cluster].poses;

        set_new_poses(p, cluster, false);
        if (draw_below(p, 6) == 0) {
            set_new_poses(p, cluster, false);
            p->next.clusters[cluster].before = old;
        }
    }
}

// Begin an update. @return false: no memory.
static inline bool reserve_changes(publishing *p, uint32_t changes)
{
    const espl__tables_need need = {
        .clusters = p->most,
        .blocks = {[ESPL__BLOCK_VALUES] = changes,
                   [ESPL__BLOCK_POSES] = 2 * changes,
                   [ESPL__BLOCK_STRETCHES] = changes},
    };

    espl__tables_begin(&p->tables);
    return espl__tables_reserve(&p->tables, &heap, &need);
}

// Change the model as a publish does, and give the order.
static inline void settle_model(publishing *p)
{
    modelled_mirror *const next = &p->next;
    uint32_t *const order = espl__tables_order(&p->tables);

    next->order_count = 0;
    next->renderables = 0;
    for (uint32_t i = next->count; i != 0; --i) {
        modelled_cluster *const cluster = &next->clusters[i - 1];
        const modelled_cluster *const old = &p->published.clusters[i - 1];

        if (cluster->before != cluster->poses && cluster->poses == old->poses) {
            cluster->before = cluster->poses;
            cluster->changed = p->tables.number;
        }
        if (cluster->values != 0) {
            order[next->order_count] = i - 1;
            next->order[next->order_count] = i - 1;
            next->order_count += 1;
            next->renderables += members_of(cluster->values);
        }
    }
    espl__tables_set_order(&p->tables, next->order_count, next->order_count / 2);
}

static inline void publish_model(publishing *p)
{
    unsigned char user[PUBLISHED_USER];

    settle_model(p);
    p->next.number = p->tables.number;
    p->next.stamp = next_stamp(p);
    memset(user, (int)(p->next.stamp & 255), sizeof user);
    const espl__publication publication = {.renderables = p->next.renderables, .user = user};

    ck_assert_uint_eq(espl__tables_publish(&p->tables, &publication), p->next.number);
    p->published = p->next;
}

static inline void change_all(publishing *p, uint32_t changes, bool is_calm)
{
    for (uint32_t i = 0; i < changes; ++i) {
        change(p, is_calm);
    }
}

static inline void update_tables(publishing *p, uint32_t changes, bool is_calm)
{
    ck_assert(reserve_changes(p, changes));
    change_all(p, changes, is_calm);
    publish_model(p);
}

// --- What a mirror has ---

// Demand that an entry is that of the model.
static inline void demand_entry(const espl_mirror *mirror, const modelled_mirror *model, uint32_t i)
{
    const espl__cluster_entry *const entry = &mirror->entries[i];
    const modelled_cluster *const cluster = &model->clusters[i];

    ck_assert_uint_eq(mirror->changed[i], cluster->changed);
    if (cluster->values == 0) {
        ck_assert_ptr_null(entry->values);
        ck_assert_ptr_null(entry->poses);
        ck_assert_ptr_null(entry->before);
        return;
    }
    ck_assert_int_eq(entry->values->stretches != NULL, cluster->has_stretches);
    ck_assert(has_values(entry->values, cluster->values));
    ck_assert(has_poses(entry->poses, cluster->poses));
    ck_assert(has_poses(entry->before, cluster->before));
    ck_assert_int_eq(entry->before == entry->poses, cluster->before == cluster->poses);
    for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
        ck_assert(mirror->boxes[n][i] == entry->poses->box[n]);
    }
}

static inline void demand_mirror(const espl_mirror *mirror, const modelled_mirror *model)
{
    unsigned char user[PUBLISHED_USER];

    ck_assert_ptr_nonnull(mirror);
    ck_assert_uint_eq(mirror->number, model->number);
    ck_assert_uint_eq(mirror->clusters, model->count);
    ck_assert_uint_eq(mirror->renderables, model->renderables);
    ck_assert_uint_eq(mirror->order_count, model->order_count);
    ck_assert_uint_eq(mirror->still_count, model->order_count / 2);
    memset(user, (int)(model->stamp & 255), sizeof user);
    ck_assert_mem_eq(mirror->user, user, sizeof user);
    for (uint32_t i = 0; i < model->order_count; ++i) {
        ck_assert_uint_eq(mirror->order[i], model->order[i]);
    }
    for (uint32_t i = 0; i < model->count; ++i) {
        demand_entry(mirror, model, i);
    }
    for (uint32_t i = model->count; i % 16 != 0; ++i) {
        ck_assert(mirror->boxes[0][i] == 0 && mirror->boxes[5][i] == 0);
    }
}

#endif

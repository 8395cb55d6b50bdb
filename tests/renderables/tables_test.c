// SPDX-License-Identifier: MIT
// Tables without a world: what a reader has of each mirror, while updates go on (publishing.h).
#include "tests/renderables/publishing.h"

FIXTURE(heap_begin, heap_is_empty);

static publishing p;
static modelled_mirror held;

static void demand_rules(void)
{
    const char *const rule = espl__tables_broken_rule(&p.tables);

    ck_assert_msg(rule == NULL, "%s", rule);
}

static const espl_mirror *acquire_newest(void)
{
    const espl_mirror *const mirror = espl__tables_acquire(&p.tables);

    held = p.published;
    demand_mirror(mirror, &held);
    ck_assert_ptr_eq(espl__tables_acquire(&p.tables), mirror);
    return mirror;
}

TEST(there_is_no_mirror_before_the_first)
{
    for (int readers = 0; readers < 2; ++readers) {
        publishing_begin(&p, readers == 1, 1, 8);
        ck_assert_ptr_null(espl__tables_acquire(&p.tables));
        espl__tables_begin(&p.tables);
        ck_assert_ptr_null(espl__tables_acquire(&p.tables));
        demand_rules();
        publishing_end(&p);
    }
}

TEST(mirror_without_clusters_has_the_bytes_of_the_user)
{
    publishing_begin(&p, true, 1, 0);
    update_tables(&p, 0, false);
    ck_assert_uint_eq(acquire_newest()->clusters, 0);
    publishing_end(&p);
}

// 0: the thread that updates reads. 1: a reader of its own, which acquires now and then.
TEST_LOOP(mirror_stays_as_it_was_published_through_any_update, 0, 2)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const espl_mirror *mirror = NULL;

        publishing_begin(&p, _i == 1, seed, 1 + (uint32_t)(seed * 17 % PUBLISHED_LIMIT));
        for (int i = 0; i < 300; ++i) {
            update_tables(&p, draw_below(&p, PUBLISHED_OPERATIONS), false);
            if (_i == 0 || draw_below(&p, 4) == 0) {
                mirror = acquire_newest();
            }
            if (mirror != NULL) {
                demand_mirror(mirror, &held);
            }
            demand_rules();
            if (draw_below(&p, 16) == 0) {
                ck_assert(espl__tables_trim(&p.tables, &heap));
                demand_rules();
            }
            ck_assert_uint_eq(espl__tables_bytes(&p.tables), espl__heap_bytes(&heap));
        }
        publishing_end(&p);
    }
}

// Steps of the publisher: the begin and the changes of an update, and its publish.
TEST(all_interleavings_of_four_updates_and_four_acquires)
{
    enum { UPDATES = 4, ACQUIRES = 4, STEPS = 2 * UPDATES + ACQUIRES };
    int schedules = 0;

    for (uint32_t bits = 0; bits < 1u << STEPS; ++bits) {
        const espl_mirror *mirror = NULL;
        uint32_t acquires = 0, steps = 0;

        for (uint32_t i = 0; i < STEPS; ++i) {
            acquires += bits >> i & 1;
        }
        if (acquires != ACQUIRES) {
            continue;
        }
        schedules += 1;
        publishing_begin(&p, true, bits + 1, 12);
        memset(&held, 0, sizeof held);
        for (uint32_t i = 0; i < STEPS; ++i) {
            if ((bits >> i & 1) != 0) {
                mirror = espl__tables_acquire(&p.tables);
                held = p.published;
                ck_assert_int_eq(mirror != NULL, p.published.number != 0);
            } else if (steps++ % 2 == 0) {
                ck_assert(reserve_changes(&p, 6));
                change_all(&p, 6, false);
            } else {
                publish_model(&p);
                demand_rules();
            }
            if (mirror != NULL) {
                demand_mirror(mirror, &held);
            }
        }
        (void)acquire_newest();
        publishing_end(&p);
    }
    ck_assert_int_eq(schedules, 495);
}

// Demand that a pool has at most so many blocks in use. It grows by half at most beyond what an update needs.
static void demand_blocks(espl__block_kind kind, uint32_t most)
{
    const espl__block_pool *const pool = &p.tables.pools[kind];

    ck_assert_uint_le(pool->count - pool->free_count, most);
    ck_assert_uint_le(pool->count, (most + 2 * PUBLISHED_OPERATIONS) * 3 / 2);
}

// The reader's mirror, the newest one, and the one that an update makes: each names one values block of a
// cluster and at most two of poses.
TEST(reader_that_stopped_costs_a_bounded_amount)
{
    enum { UPDATES = 10000, CLUSTERS = 64 };
    size_t bytes = 0;

    publishing_begin(&p, true, 7, CLUSTERS);
    for (int i = 0; i < 400; ++i) {
        update_tables(&p, PUBLISHED_OPERATIONS, false);
    }
    const espl_mirror *const mirror = acquire_newest();
    const uint32_t clusters = count_clusters(&held);

    for (int i = 0; i < UPDATES; ++i) {
        update_tables(&p, PUBLISHED_OPERATIONS, i < UPDATES / 2);
        demand_blocks(ESPL__BLOCK_VALUES, 3 * CLUSTERS);
        demand_blocks(ESPL__BLOCK_POSES, 6 * CLUSTERS);
        if (i == UPDATES / 2 - 1) {
            // Of the mirrors between none has a block any more.
            espl__tables_begin(&p.tables);
            const espl__block_pool *const poses = &p.tables.pools[ESPL__BLOCK_POSES];

            ck_assert_uint_le(poses->count - poses->free_count, 4 * clusters);
            bytes = espl__heap_bytes(&heap);
        }
        if (i % 1000 == 0) {
            demand_mirror(mirror, &held);
            demand_rules();
        }
    }
    demand_mirror(mirror, &held);
    ck_assert_uint_ge(espl__heap_bytes(&heap), bytes);
    (void)acquire_newest();
    espl__tables_begin(&p.tables);
    demand_rules();
    publishing_end(&p);
}

// A cluster that moved once has one poses block two updates later, and is listed as changed both times.
TEST(cluster_that_comes_to_rest_has_one_poses_block)
{
    publishing_begin(&p, true, 3, 1);
    ck_assert(reserve_changes(&p, 1));
    add_cluster(&p);
    publish_model(&p);
    ck_assert(reserve_changes(&p, 1));
    set_new_poses(&p, 0, false);
    publish_model(&p);
    const espl_mirror *mirror = acquire_newest();

    ck_assert_ptr_ne(mirror->entries[0].before, mirror->entries[0].poses);
    const espl__poses *const poses = mirror->entries[0].poses;

    update_tables(&p, 0, false);
    mirror = acquire_newest();
    ck_assert_ptr_eq(mirror->entries[0].before, poses);
    ck_assert_ptr_eq(mirror->entries[0].poses, poses);
    ck_assert_uint_eq(mirror->changed[0], 3);
    update_tables(&p, 0, false);
    ck_assert_uint_eq(acquire_newest()->changed[0], 3);
    publishing_end(&p);
}

TEST(block_that_fell_free_last_is_taken_first)
{
    publishing_begin(&p, false, 3, 1);
    ck_assert(reserve_changes(&p, 1));
    add_cluster(&p);
    publish_model(&p);
    for (int i = 0; i < 8; ++i) {
        // The block before is named until this update, and free at the next but one.
        update_tables(&p, 1, true);
        ck_assert_uint_le(p.tables.pools[ESPL__BLOCK_POSES].count, 8);
    }
    publishing_end(&p);
}

// Without memory an update changes nothing, and the next one does the work.
TEST_LOOP(update_without_memory_leaves_mirrors_as_they_are, 0, 2)
{
    size_t failures = 0;

    publishing_begin(&p, _i == 1, 5, 40);
    update_tables(&p, 4, false);
    const espl_mirror *mirror = acquire_newest();

    for (uint32_t changes = 5; changes < 40; ++changes) {
        for (size_t at = 1;; ++at) {
            test_heap_arm(&under, at, false);
            const bool is_done = reserve_changes(&p, changes);

            test_heap_arm(&under, 0, false);
            demand_mirror(mirror, &held);
            ck_assert_uint_eq(espl__tables_bytes(&p.tables), espl__heap_bytes(&heap));
            if (is_done) {
                break;
            }
            demand_rules();
            failures += 1;
            if (_i == 0) {
                ck_assert_ptr_eq(espl__tables_acquire(&p.tables), mirror);
            }
        }
        change_all(&p, changes, false);
        publish_model(&p);
        demand_rules();
        if (_i == 0 || changes % 7 == 0) {
            mirror = acquire_newest();
        }
    }
    ck_assert_uint_gt(failures, 8);
    publishing_end(&p);
}

TEST_LOOP(prepaid_updates_take_no_memory, 0, 2)
{
    enum { CLUSTERS = 40 };
    const espl_mirror *mirror = NULL;

    publishing_begin(&p, _i == 1, 9, CLUSTERS);
    update_tables(&p, 4, false);
    mirror = acquire_newest();
    ck_assert(espl__tables_prepay(&p.tables, &heap, CLUSTERS));
    // Stretches are not prepaid.
    ck_assert(espl__blocks_reserve(&heap, &p.tables.pools[ESPL__BLOCK_STRETCHES], 4 * CLUSTERS));
    ck_assert_uint_eq(espl__tables_bytes(&p.tables), espl__heap_bytes(&heap));
    test_heap_arm(&under, 1, true);
    for (int i = 0; i < 400; ++i) {
        update_tables(&p, draw_below(&p, PUBLISHED_OPERATIONS), false);
        if (_i == 0 || draw_below(&p, 4) == 0) {
            mirror = acquire_newest();
        }
        demand_mirror(mirror, &held);
    }
    ck_assert_uint_eq(under.failures, 0);
    test_heap_arm(&under, 0, false);
    publishing_end(&p);
}

TEST(trim_returns_the_memory_of_clusters_that_went)
{
    publishing_begin(&p, true, 11, PUBLISHED_LIMIT);
    for (int i = 0; i < 200; ++i) {
        update_tables(&p, PUBLISHED_OPERATIONS, false);
    }
    const espl_mirror *const mirror = acquire_newest();
    const size_t bytes = espl__heap_bytes(&heap);

    ck_assert(reserve_changes(&p, 0));
    for (uint32_t i = 0; i < p.next.count; ++i) {
        if (p.next.clusters[i].values != 0) {
            remove_cluster(&p, i);
        }
    }
    publish_model(&p);
    ck_assert(espl__tables_trim(&p.tables, &heap));
    demand_mirror(mirror, &held);
    demand_rules();
    (void)acquire_newest();
    ck_assert(espl__tables_trim(&p.tables, &heap));
    demand_rules();
    ck_assert_uint_lt(espl__heap_bytes(&heap), bytes / 8);
    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        ck_assert_uint_eq(p.tables.pools[kind].count, 0);
    }
    update_tables(&p, PUBLISHED_OPERATIONS, false);
    (void)acquire_newest();
    publishing_end(&p);
}

// A block whose mirrors all end before the reader's is not held for it.
TEST(versions_between_hold_nothing)
{
    publishing_begin(&p, true, 13, 1);
    ck_assert(reserve_changes(&p, 1));
    add_cluster(&p);
    publish_model(&p);
    (void)acquire_newest();
    for (int i = 0; i < 50; ++i) {
        update_tables(&p, 1, true);
    }
    espl__tables_begin(&p.tables);
    const espl__block_pool *const poses = &p.tables.pools[ESPL__BLOCK_POSES];

    // That of the reader, and the newest pair.
    ck_assert_uint_eq(poses->count - poses->free_count, 3);
    demand_rules();
    publishing_end(&p);
}

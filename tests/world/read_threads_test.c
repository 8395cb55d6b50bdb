// SPDX-License-Identifier: MIT
// Queries that only read: several threads at once over a const world, and their reads of
// transforms.
#include "tests/checks.h"
#include "tests/runner.h"
#include "tests/told.h"

#include <espalier/motion.h>

#include <pthread.h>
#include <string.h>

enum { IS_CHECKED = ESPL_CHECKS >= 1, READERS = 4, ROUNDS = 20, TREES = 24, BARE = 9 };

typedef struct scene {
    told told;
    espl_world *world;
    espl_component number;
    size_t appended; // bytes of the tape
} scene;

static scene s;

static void append(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    s.appended += size;
}

static espl_entity make(uint32_t number)
{
    const espl_component set[2] = {ESPL_TRANSFORM, s.number};
    espl_entity entity;

    ck_ok(espl_create(s.world, set, 2, 1, &entity));
    ck_ok(espl_set_component(s.world, entity, s.number, &number, sizeof number));
    return entity;
}

// Roots with a child each; every third child has a stretch, every fourth keeps its height.
static void scene_begin(bool is_taped)
{
    memset(&s, 0, sizeof s);
    const espl_world_def world = {.hooks = told_hooks(&s.told),
                                  .tape = {NULL, is_taped ? append : NULL}};
    ck_ok(espl_world_create(&world, &s.world));
    s.number = test_component(s.world, "number", sizeof(uint32_t), _Alignof(uint32_t));
    ck_ok(espl_create(s.world, &s.number, 1, BARE, NULL));
    for (uint32_t i = 0; i < TREES; ++i) {
        const float at[3] = {(float)i, 1, 0}, stretch[3] = {1, 1 + (float)i, 2};
        const espl_entity root = make(1000 + i), child = make(i);

        ck_ok(espl_attach(s.world, child, root, NULL));
        ck_ok(espl_set_local_position(s.world, child, at));
        if (i % 3 == 0) {
            ck_ok(espl_set_stretch(s.world, child, stretch));
        }
        if (i % 4 == 0) {
            ck_ok(espl_set_inherit(s.world, child, ESPL_ABSOLUTE_Y));
        }
        ck_ok(espl_set_world_position(s.world, root, at));
    }
}

static void scene_end(void)
{
    told_demand_nothing(&s.told);
    test_world_is_valid(s.world);
    espl_world_destroy(s.world);
}

static double sum(const float *values, size_t count)
{
    double total = 0;

    for (size_t i = 0; i < count; ++i) {
        total += (double)values[i];
    }
    return total;
}

// Sum of all that a query shows of the world. No check: it runs on any thread.
static double sum_of_world(void)
{
    const espl_world *const world = s.world;
    const espl_query_def def = {.all = (const espl_component[]){ESPL_TRANSFORM}, .all_count = 1};
    float stretches[128][3], locals[128][8];
    double total = 0;
    espl_query query;

    if (espl_query_begin_read(world, &def, &query) != ESPL_OK) {
        return -1;
    }
    while (espl_query_next(&query)) {
        const uint32_t *const numbers = espl_query_read(&query, s.number, sizeof *numbers);

        if (espl_query_read_transforms(&query, ESPL_READ_STRETCH, stretches, sizeof *stretches) <
                0 ||
            espl_query_read_transforms(&query, ESPL_READ_LOCAL_POSE, locals, sizeof *locals) < 0) {
            return -1;
        }
        for (size_t row = 0; row < query.count; ++row) {
            total += numbers[row] + sum(query.world_poses[query.slots[row]].position, 3);
            total += sum(stretches[row], 3) + sum(locals[row], 8);
        }
    }
    return total;
}

typedef struct reader {
    pthread_t thread;
    double expected;
    bool views;
    size_t wrong;
} reader;

static espl_entity made[TREES];

static void *read_again(void *context)
{
    reader *const r = context;

    for (int round = 0; round < ROUNDS; ++round) {
        r->wrong += sum_of_world() != r->expected;
    }
    return NULL;
}

TEST_LOOP(threads_that_only_read_see_the_same_world, 0, 2)
{
    reader readers[READERS];

    scene_begin(_i == 1);
    const double expected = sum_of_world();
    const size_t appended = s.appended;

    ck_assert(expected > 0);
    for (int i = 0; i < READERS; ++i) {
        readers[i] = (reader){.expected = expected};
        ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, read_again, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; ++i) {
        ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
        ck_assert_uint_eq(readers[i].wrong, 0);
    }
    // Nothing of it is on the tape, and the world is out of iteration.
    ck_assert_uint_eq(s.appended, appended);
    ck_ok(espl_create(s.world, NULL, 0, 1, NULL));
    scene_end();
}

// Read what is shown of all entities, or view their hierarchies and read it there.
static void *look_at_shown(void *context)
{
    reader *const r = context;

    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < TREES; ++i) {
            espl_view view;
            espl_pose shown, world;

            r->wrong += espl_read_one(s.world, made[i], ESPL_READ_SHOWN_POSE, &shown) != ESPL_OK ||
                        espl_read_one(s.world, made[i], ESPL_READ_WORLD_POSE, &world) != ESPL_OK ||
                        memcmp(&shown, &world, sizeof shown) != 0;
            if (r->views) {
                r->wrong += espl_view_hierarchy(s.world, made[i], &view) != ESPL_OK ||
                            memcmp(&view.shown_poses[view.first], &world, sizeof world) != 0;
            }
        }
    }
    return NULL;
}

// The first call that views a new hierarchy stores in the array of what is shown.
TEST(threads_read_what_is_shown_of_new_entities_while_others_view_them)
{
    if (test_lacks_room(4000, "many new entities")) {
        return;
    }
    reader readers[READERS];

    scene_begin(false);
    ck_ok(espl_motion_start(s.world, NULL));
    for (int i = 0; i < TREES; ++i) {
        made[i] = make((uint32_t)i);
    }
    for (int turn = 0; turn < 3; ++turn) {
        for (int i = 0; i < TREES; ++i) {
            ck_ok(espl_set_local_position(s.world, made[i], (const float[3]){(float)turn, 2, 3}));
        }
        for (int i = 0; i < READERS; ++i) {
            readers[i] = (reader){.views = i % 2 == 0};
            ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, look_at_shown, &readers[i]),
                             0);
        }
        for (int i = 0; i < READERS; ++i) {
            ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
            ck_assert_uint_eq(readers[i].wrong, 0);
        }
    }
    scene_end();
}

TEST(a_query_that_reads_gives_no_column_to_write)
{
    espl_query query;

    scene_begin(false);
    const uint64_t version = espl_get_version(s.world);

    ck_ok(espl_query_begin_read(s.world, NULL, &query));
    while (espl_query_next(&query)) {
        ck_assert_ptr_nonnull(espl_query_read(&query, s.number, sizeof(uint32_t)));
        ck_assert_ptr_null(espl_query_write(&query, s.number, sizeof(uint32_t)));
        ck_assert_uint_eq(s.told.traps, IS_CHECKED ? 1 : 0);
        ck_assert(!IS_CHECKED || strstr(s.told.trap, "espl_query_begin() to write") != NULL);
        // It is an iteration like another one.
        ck_status(espl_create(s.world, NULL, 0, 1, NULL), ESPL_ERR_BUSY);
        s.told.lines = s.told.traps = 0;
    }
    ck_assert_uint_eq(espl_get_version(s.world), version);
    scene_end();
}

TEST(each_kind_of_a_chunk_is_what_is_read_of_each_row)
{
    static const size_t sizes[ESPL_READ_KIND_COUNT] = {
        12, 16, 4, 32, 48, 12, 4, 12, 16, 4, 32, 48, 12, 16, 4, 32, 48, 32, 32, 32, 32, 12, 24};
    struct {
        uint32_t before, value[12];
    } rows[128];
    espl_query query;
    uint32_t one[12];
    size_t bare = 0, placed = 0;

    scene_begin(false);
    for (int kind = 0; kind < ESPL_READ_KIND_COUNT; ++kind) {
        ck_ok(espl_query_begin_read(s.world, NULL, &query));
        while (espl_query_next(&query)) {
            memset(rows, 0x5a, sizeof rows);
            const espl_status status = espl_query_read_transforms(&query, (espl_read_kind)kind,
                                                                  rows[0].value, sizeof *rows);

            ck_status(status, query.slots == NULL      ? ESPL_ERR_NO_TRANSFORM
                              : kind == ESPL_READ_CELL ? ESPL_ERR_UNSUPPORTED
                                                       : ESPL_OK);
            for (size_t row = 0; row < query.count; ++row) {
                memset(one, 0x5a, sizeof one);
                ck_assert_int_eq(
                    espl_read_one(s.world, query.entities[row], (espl_read_kind)kind, one), status);
                ck_assert_mem_eq(rows[row].value, one, sizeof one);
                ck_assert_uint_eq(rows[row].before, 0x5a5a5a5a);
            }
            *(query.slots != NULL ? &placed : &bare) += query.count;
            s.told.lines = s.told.traps = 0;
            // Strides are checked against the kind.
            ck_status(
                espl_query_read_transforms(&query, (espl_read_kind)kind, rows, sizes[kind] - 4),
                ESPL_ERR_ARGUMENT);
            ck_status(
                espl_query_read_transforms(&query, (espl_read_kind)kind, rows, sizes[kind] + 2),
                ESPL_ERR_ARGUMENT);
            s.told.lines = s.told.traps = 0;
        }
        ck_status(espl_query_read_transforms(&query, (espl_read_kind)kind, rows, 48),
                  ESPL_ERR_ARGUMENT); // ended
    }
    ck_assert_uint_eq(bare, (size_t)BARE * ESPL_READ_KIND_COUNT);
    ck_assert_uint_eq(placed, (size_t)2 * TREES * ESPL_READ_KIND_COUNT);
    scene_end();
}

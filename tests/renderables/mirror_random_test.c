// SPDX-License-Identifier: MIT
// A reader holds a mirror while the world changes in every way: spawn, destroy, relocation, compaction,
// refiling, clear. At any time the mirror has the bits that the world had at its update: poses, those of the
// update before, handles and values. A teleport, and no other write, leaves no pose before.
#include "tests/runner.h"
#include "tests/support.h"

#include <espalier/renderables.h>

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 600, INDICES = 4096, CLUSTERS = 256 };

// A renderable at an update.
typedef struct pictured {
    espl_entity entity; // null: none
    espl_pose pose, before;
    uint32_t user_data;
} pictured;

// All renderables at an update, by entity index.
typedef struct picture {
    pictured of[INDICES];
    uint64_t number;
    size_t count;
} picture;

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_renderables *renderables;
    espl_component bounds, renderable;
    espl_entity entities[ENTITIES]; // some are dead
    bool has_jumped[INDICES]; // since the last update, by a write to it or to one above it then
    picture newest, held;
    const espl_mirror *mirror; // with `held`
    uint64_t random;
    size_t compared, jumps, steady;
} scene;

static scene s;

static void scene_begin(uint64_t seed, const espl_renderables_def *def,
                        const espl_executor *executor)
{
    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 1, executor);
    s.world = s.test.world;
    s.random = seed;
    ck_ok(espl_renderables_create(s.world, def, &s.renderables));
    s.bounds = espl_component_find(s.world, "bounds");
    s.renderable = espl_component_find(s.world, "renderable");
}

static void scene_end(void)
{
    espl_renderables_destroy(s.renderables);
    test_world_end(&s.test);
}

// --- Changes ---

static uint32_t draw(uint32_t below)
{
    return test_below(&s.random, below);
}

// Draw a living entity, or return the null entity.
static espl_entity draw_entity(void)
{
    for (int i = 0; i < 20; ++i) {
        const espl_entity entity = s.entities[draw(ENTITIES)];

        if (espl_is_alive(s.world, entity)) {
            return entity;
        }
    }
    return espl_entity_null();
}

static espl_transform draw_transform(void)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(&s.random, -40, 40);
        t.rotation[i] = test_between(&s.random, -1, 1);
    }
    t.scale = test_between(&s.random, 0.5f, 1.5f);
    ck_ok(espl_transform_normalize(&t));
    return t;
}

// Answers may be refusals: of cycles, of null entities, and of limits in a build with few.
static void take_answer(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_BUSY);
}

static void spawn(void)
{
    const uint32_t at = draw(ENTITIES);
    const espl_transform t = draw_transform();
    const espl_bounds box = {.half = {1, 1, 1}};
    const espl_renderable drawn = {.key = draw(4), .user_data = draw(1000)};
    espl_entity made = espl_entity_null();

    if (espl_is_alive(s.world, s.entities[at]) ||
        espl_create_node(s.world, draw(2) == 0 ? draw_entity() : espl_entity_null(), &t, NULL,
                         &made) < 0) {
        return;
    }
    s.entities[at] = made;
    if (draw(8) != 0) {
        take_answer(espl_add_component(s.world, made, s.bounds, &box, sizeof box));
        take_answer(espl_add_component(s.world, made, s.renderable, &drawn, sizeof drawn));
    }
}

// Note a teleport: it is of all that is below the entity at that time.
static void note_jump(espl_entity top)
{
    static espl_entity all[ENTITIES];
    const size_t count = espl_copy_subtree(s.world, top, ESPL_EXTENT_SUBTREE, ENTITIES,
                                           &(espl_subtree_arrays){.entities = all});

    ck_assert_uint_le(count, ENTITIES);
    for (size_t i = 0; i < count; ++i) {
        s.has_jumped[all[i].index] = true;
    }
}

// Record a teleport and a structural change of another entity, and play both: what is below the teleported one is
// what was there before the change, or after it.
static void play_jump(void)
{
    const espl_entity top = draw_entity(), other = draw_entity(), parent = draw_entity();
    const espl_transform t = draw_transform();
    const bool is_first = draw(2) == 0, is_attach = draw(2) == 0;
    espl_command_buffer *commands = NULL;

    if (espl_entity_is_null(top)) {
        return;
    }
    ck_ok(espl_command_buffer_create(s.world, 1, &commands));
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    for (int i = 0; i < 2; ++i) {
        if ((i == 0) == is_first) {
            ck_ok(espl_record_write(recorder, (uint32_t)i, top,
                                    (espl_write_kind)(ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT), &t));
        } else if (is_attach) {
            take_answer(espl_record_attach(recorder, (uint32_t)i, other, parent, NULL));
        } else {
            take_answer(espl_record_destroy(recorder, (uint32_t)i, other, ESPL_EXTENT_ENTITY));
        }
    }
    // Where the teleport comes second, it may be refused: it is noted where the entity lives then.
    if (is_first) {
        note_jump(top);
    }
    ck_assert_int_ge(espl_play(s.world, commands, NULL), 0);
    if (!is_first && espl_is_alive(s.world, top)) {
        note_jump(top);
    }
    espl_command_buffer_destroy(commands);
}

// Write by one of the ways, and note a teleport.
static void write_some(void)
{
    const espl_entity entity = draw_entity();
    const bool jumps = draw(6) == 0;
    espl_write write = {.entity = entity,
                        .kind = draw(3) == 0 ? ESPL_WRITE_WORLD_POSITION : ESPL_WRITE_LOCAL_POSE};
    const espl_transform t = draw_transform();

    if (espl_entity_is_null(entity)) {
        return;
    }
    if (write.kind == ESPL_WRITE_LOCAL_POSE) {
        memcpy(&write.value, &t, sizeof(espl_pose));
    } else {
        memcpy(&write.value, t.position, sizeof t.position);
    }
    write.kind = (espl_write_kind)((unsigned)write.kind | (jumps ? (unsigned)ESPL_TELEPORT : 0));
    const espl_status status = draw(2) == 0
                                   ? espl_write_batch(s.world, &write, 1, NULL)
                                   : espl_write_one(s.world, entity, write.kind, &write.value);

    if (jumps && (status == ESPL_OK || status == ESPL_LOSSY)) {
        note_jump(entity);
    }
}

static void change_values(void)
{
    const espl_entity entity = draw_entity();
    const espl_renderable drawn = {.key = draw(4), .user_data = draw(1000)};

    if (espl_has_component(s.world, entity, s.renderable)) {
        if (draw(3) == 0) {
            take_answer(espl_remove_component(s.world, entity, s.renderable));
        } else {
            ck_ok(espl_set_component(s.world, entity, s.renderable, &drawn, sizeof drawn));
        }
    }
}

static void change_once(void)
{
    const espl_attach_options keep = {.position = ESPL_KEEP_LOCAL};
    const uint32_t kind = draw(40);

    if (kind < 14) {
        spawn();
    } else if (kind < 28) {
        write_some();
    } else if (kind < 30) {
        play_jump();
    } else if (kind < 33) {
        change_values();
    } else if (kind < 35) {
        take_answer(
            espl_attach(s.world, draw_entity(), draw_entity(), draw(2) == 0 ? &keep : NULL));
    } else if (kind < 37) {
        take_answer(espl_detach(s.world, draw_entity(), ESPL_KEEP_WORLD));
    } else if (kind < 39) {
        take_answer(espl_destroy(s.world, draw_entity(),
                                 draw(3) == 0 ? ESPL_EXTENT_SUBTREE : ESPL_EXTENT_OWNED));
    } else if (draw(4) == 0) {
        ck_ok(espl_compact(s.world));
    } else if (draw(20) == 0) {
        ck_ok(espl_world_clear(s.world));
    }
}

// --- Pictures ---

// Note what the world has, beside what the picture before had.
static void take_picture(uint64_t number)
{
    static picture old;
    const espl_component all[] = {s.bounds, s.renderable};
    const espl_query_def def = {.all = all, .all_count = 2};
    espl_query query;

    old = s.newest;
    memset(&s.newest, 0, sizeof s.newest);
    s.newest.number = number;
    ck_ok(espl_query_begin_read(s.world, &def, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count; ++i) {
            const espl_entity entity = query.entities[i];
            const espl_transform world = test_world_of(s.world, entity);
            pictured *const now = &s.newest.of[entity.index];
            const pictured *const was = &old.of[entity.index];
            espl_renderable drawn;

            ck_assert_uint_lt(entity.index, INDICES);
            ck_ok(espl_get_component(s.world, entity, s.renderable, &drawn, sizeof drawn));
            now->entity = entity;
            memcpy(&now->pose, &world, sizeof now->pose);
            const bool has_before =
                espl_entity_equal(was->entity, entity) && !s.has_jumped[entity.index];

            now->before = has_before ? was->pose : now->pose;
            now->user_data = drawn.user_data;
            s.newest.count += 1;
            s.jumps += espl_entity_equal(was->entity, entity) && !has_before ? 1 : 0;
            s.steady += has_before ? 1 : 0;
        }
    }
    memset(s.has_jumped, 0, sizeof s.has_jumped);
}

static void demand_cluster(const espl_mirror *mirror, uint32_t cluster, const picture *expected,
                           size_t *found)
{
    static espl_pose poses[ESPL_CLUSTER_SIZE], before[ESPL_CLUSTER_SIZE];
    static espl_entity entities[ESPL_CLUSTER_SIZE];
    static uint32_t user_data[ESPL_CLUSTER_SIZE];
    const espl_instance_arrays arrays = {.matrices = poses,
                                         .form = ESPL_INSTANCE_POSE,
                                         .previous = before,
                                         .entities = entities,
                                         .user_data = user_data};
    size_t count = 0;

    ck_ok(espl_mirror_write(mirror, cluster, &arrays, &count));
    for (size_t i = 0; i < count; ++i) {
        const pictured *const one = &expected->of[entities[i].index];

        ck_assert(espl_entity_equal(one->entity, entities[i]));
        ck_assert_mem_eq(&poses[i], &one->pose, sizeof poses[i]);
        ck_assert_mem_eq(&before[i], &one->before, sizeof before[i]);
        ck_assert_uint_eq(user_data[i], one->user_data);
    }
    *found += count;
    s.compared += count;
}

static void demand_picture(const espl_mirror *mirror, const picture *expected)
{
    espl_mirror_description description;
    size_t found = 0;

    espl_mirror_describe(mirror, &description);
    ck_assert_uint_eq(description.number, expected->number);
    ck_assert_uint_eq(description.renderables, expected->count);
    for (uint32_t i = 0; i < description.clusters; ++i) {
        demand_cluster(mirror, i, expected, &found);
    }
    ck_assert_uint_eq(found, expected->count);
}

static void update_scene(void)
{
    espl_renderables_report report;

    ck_ok(espl_renderables_update(s.renderables, NULL, &report));
    take_picture(report.number);
}

static void acquire_mirror(void)
{
    s.mirror = espl_renderables_acquire(s.renderables);
    s.held = s.newest;
    demand_picture(s.mirror, &s.held);
}

// --- Tests ---

// At least 15 rounds, also where long tests are cut: in fewer, some scene has no jump or no comparison.
static void run_scene(uint32_t acquires_of_eight)
{
    for (size_t round = 15 + test_scaled_alone(135); round != 0; --round) {
        for (uint32_t i = draw(60); i != 0; --i) {
            change_once();
        }
        if (s.mirror != NULL) {
            demand_picture(s.mirror, &s.held);
        }
        update_scene();
        if (draw(8) < acquires_of_eight) {
            acquire_mirror();
        } else if (s.mirror != NULL) {
            demand_picture(s.mirror, &s.held);
        }
        test_world_is_valid(s.world);
    }
    ck_assert_uint_gt(s.compared, 0);
}

// 0: the thread that updates reads at once. 1: a reader that keeps up. 2: one that is slow. 3: the same on
// workers, where members are refiled one by one.
TEST_LOOP(held_mirror_is_the_world_at_its_update, 0, 4)
{
    static const uint32_t acquires[] = {8, 8, 2, 2};
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 4, .random = 1};
    const espl_executor executor = test_executor_of(&shuffled);

    for (uint64_t seed = 1; seed <= 4; ++seed) {
        const espl_renderables_def def = {.readers = _i == 0 ? 0 : 1,
                                          .cell_size = seed == 4 ? 0.01f : 0,
                                          .refile_budget = _i == 3 ? 1 : 0};

        scene_begin(seed + 10 * (uint64_t)_i, &def, _i == 3 ? &executor : NULL);
        run_scene(acquires[_i]);
        ck_assert_uint_gt(s.jumps, 0);
        ck_assert_uint_gt(s.steady, 0);
        scene_end();
    }
}

// Memory runs out in each allocation of an update in turn, while a reader holds a mirror.
TEST(update_without_memory_changes_no_mirror)
{
    size_t failures = 0;

    scene_begin(5, &(espl_renderables_def){.readers = 1}, NULL);
    for (int round = 0; round < 25; ++round) {
        espl_renderables_report report;
        espl_status status = ESPL_ERR_NO_MEMORY;

        for (uint32_t i = 0; i < 80; ++i) {
            change_once();
        }
        for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
            test_heap_arm(&s.test.heap, at, false);
            status = espl_renderables_update(s.renderables, NULL, &report);
            test_heap_arm(&s.test.heap, 0, false);
            failures += status == ESPL_ERR_NO_MEMORY ? 1 : 0;
            if (s.mirror != NULL) {
                demand_picture(s.mirror, &s.held);
            }
            test_world_is_valid(s.world);
        }
        ck_ok(status);
        take_picture(report.number);
        if (round % 3 == 0) {
            acquire_mirror();
        }
    }
    ck_assert_uint_gt(failures, 25);
    scene_end();
}

// A hierarchy of which the root is teleported is drawn as it is, to the last node. One that is flown is not.
TEST_LOOP(teleport_is_of_all_below, 0, 2)
{
    const espl_transform t = test_at(1, 0, 0);
    const float far[3] = {1000, 0, 0};
    const espl_bounds box = {.half = {1, 1, 1}};

    scene_begin(1, NULL, NULL);
    for (int i = 0; i < 5; ++i) {
        ck_ok(espl_create_node(s.world, i == 0 ? espl_entity_null() : s.entities[i - 1], &t, NULL,
                               &s.entities[i]));
        ck_ok(espl_add_component(s.world, s.entities[i], s.bounds, &box, sizeof box));
        ck_ok(espl_add_component(s.world, s.entities[i], s.renderable, NULL,
                                 sizeof(espl_renderable)));
    }
    update_scene();
    ck_ok(espl_write_one(
        s.world, s.entities[1],
        (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | (_i == 0 ? (unsigned)ESPL_TELEPORT : 0)),
        far));
    if (_i == 0) {
        note_jump(s.entities[1]);
    }
    update_scene();
    acquire_mirror();
    ck_assert_uint_eq(s.jumps, _i == 0 ? 4 : 0);
    // The jump is over at the next update.
    update_scene();
    acquire_mirror();
    scene_end();
}

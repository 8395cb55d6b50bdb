// SPDX-License-Identifier: MIT
// Updates case by case: what they report, effective layers, boxes of hierarchies, values that are bad, jumps,
// worlds that become other worlds, and memory.
#include "tests/checks.h"
#include "tests/renderables/seeing.h"

#include <espalier/history.h>
#include <espalier/image.h>

static test_world test;
static seeing s;
static espl_world *w;

static void begin(const espl_renderables_def *def)
{
    test_world_begin(&test, 1, NULL);
    w = test.world;
    seeing_begin(&s, w, def);
}

static void end(void)
{
    seeing_end(&s);
    test_world_end(&test);
}

// Give an entity a box of an edge of 2, and a key.
static void dress(espl_entity entity, uint32_t key, uint32_t flags)
{
    const espl_bounds bounds = {{0, 0, 0}, {1, 1, 1}};
    const espl_renderable renderable = {key, 7, flags};

    ck_ok(espl_add_component(w, entity, s.bounds, &bounds, sizeof bounds));
    ck_ok(espl_add_component(w, entity, s.renderable, &renderable, sizeof renderable));
}

// Make a renderable. @param x  local.
static espl_entity make(espl_entity parent, float x)
{
    const espl_transform local = test_at(x, 0, 0);
    espl_entity entity;

    ck_assert_int_ge(espl_create_node(w, parent, &local, NULL, &entity), 0);
    dress(entity, 1, 0);
    return entity;
}

static void place(espl_entity entity, float x)
{
    const espl_transform local = test_at(x, 0, 0);

    ck_assert_int_ge(espl_set_local_transform(w, entity, &local), 0);
}

static void set_layers(espl_entity entity, uint32_t mask, uint32_t flags)
{
    const espl_layers layers = {mask, flags};

    ck_ok(espl_add_component(w, entity, s.layers, &layers, sizeof layers));
}

// Return what the mirror has of an entity, or a place without values.
typedef struct mirrored {
    const espl__cluster_entry *entry;
    uint32_t place;
} mirrored;

static mirrored find(espl_entity entity)
{
    const espl_mirror *const mirror = espl_renderables_acquire(s.renderables);

    for (uint32_t i = 0; i < mirror->order_count; ++i) {
        const espl__cluster_entry *const entry = &mirror->entries[mirror->order[i]];

        for (uint32_t at = 0; at < entry->values->count; ++at) {
            if (espl__entry_has(entry, at) && entry->values->entities[at].index == entity.index) {
                return (mirrored){entry, at};
            }
        }
    }
    return (mirrored){NULL, 0};
}

static uint32_t layers_of(espl_entity entity)
{
    const mirrored m = find(entity);

    ck_assert_ptr_nonnull(m.entry);
    return m.entry->values->layers[m.place];
}

// --- Lifetime ---

TEST(definitions_that_are_wrong_are_refused)
{
    const espl_renderables_def wrong[] = {
        {.cell_size = -1}, {.cell_size = NAN}, {.cell_size = INFINITY}, {.user_size = 65537}};
    espl_renderables *other = NULL;

    test_world_begin(&test, 1, NULL);
    w = test.world;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ck_assert_int_eq(espl_renderables_create(w, &wrong[i], &other), ESPL_ERR_ARGUMENT);
    }
    ck_assert_int_eq(espl_renderables_create(w, &(espl_renderables_def){.readers = 2}, &other),
                     ESPL_ERR_UNSUPPORTED);
    ck_assert_int_eq(espl_renderables_create(w, &(espl_renderables_def){.reserved = {1}}, &other),
                     ESPL_ERR_UNSUPPORTED);
    seeing_begin(&s, w, NULL);
    ck_assert_int_eq(espl_renderables_create(w, NULL, &other), ESPL_ERR_EXISTS);
    ck_assert_ptr_null(other);
    end();
}

static const char *const component_names[] = {"bounds", "renderable", "layers"};

// No other component is registered either.
TEST_LOOP(component_of_the_name_with_another_size_is_refused, 0, 3)
{
    const espl_component_def def = {.name = component_names[_i], .size = 4, .alignment = 4};
    espl_component component = 0;
    espl_renderables *other = NULL;

    test_world_begin(&test, 1, NULL);
    ck_ok(espl_component_register(test.world, &def, &component));
    const uint64_t before = test_physical_hash(test.world);

    ck_assert_int_eq(espl_renderables_create(test.world, NULL, &other), ESPL_ERR_EXISTS);
    ck_assert_ptr_null(other);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    for (int i = 0; i < 3; ++i) {
        ck_assert_uint_eq(espl_component_find(test.world, component_names[i]),
                          i == _i ? component : 0);
    }
    test_world_end(&test);
}

TEST(components_stay_and_are_found_again)
{
    begin(NULL);
    const espl_entity e = make(test_null, 1);

    (void)see(&s);
    seeing_end(&s);
    seeing_begin(&s, w, NULL);
    ck_assert_uint_eq(see(&s).added, 1);
    ck_assert_ptr_nonnull(find(e).entry);
    end();
}

// Members of a cluster that is known to be written are not compared one by one.
TEST(last_stretch_of_the_world_goes_from_a_moving_cluster)
{
    begin(NULL);
    const espl_entity first = make(test_null, 0), second = make(test_null, 4);
    const espl_transform stretched = {{0, 0, 0, 1}, {4, 0, 0}, 1, {2, 1, 1}, 0};

    ck_assert_int_ge(espl_set_local_transform(w, second, &stretched), 0);
    for (int i = 0; i < 4; ++i) {
        const float up[3] = {(float)i, 1, 0};

        ck_assert_int_ge(espl_set_local_position(w, first, up), 0);
        ck_assert_int_ge(espl_set_local_position(w, second, up), 0);
        (void)see(&s);
    }
    place(first, 1);
    place(second, 2);
    (void)see(&s);
    ck_assert_ptr_null(find(second).entry->values->stretches);
    end();
}

TEST(world_is_not_destroyed_before_its_renderables)
{
    begin(NULL);
    const espl_entity e = make(test_null, 0);
    const size_t traps = test.hooks.traps;

    espl_world_destroy(w);
#if ESPL_CHECKS >= 1
    ck_assert_uint_eq(test.hooks.traps, traps + 1);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_trap, "espl_renderables_destroy()"));
#else
    ck_assert_uint_eq(test.hooks.traps, traps);
#endif
    ck_assert(espl_is_alive(w, e)); // the world is there still
    end();
}

// --- Reports ---

TEST(report_counts_what_came_moved_and_went)
{
    espl_world_stats stats;

    begin(NULL);
    const espl_entity a = make(test_null, 1), b = make(a, 2);
    espl_renderables_report report = see(&s);

    ck_assert_uint_eq(report.added, 2);
    ck_assert_uint_eq(report.removed + report.moved, 0);
    place(a, 5);
    report = see(&s);
    ck_assert_uint_eq(report.moved, 2);
    ck_assert_uint_eq(report.added, 0);
    espl_stats(w, &stats);
    ck_assert_uint_eq(stats.renderables, 2);
    ck_assert_uint_gt(stats.bytes_renderables, 0);
    ck_assert_uint_ge(stats.bytes_changes, stats.bytes_renderables);
    ck_assert_int_ge(espl_destroy(w, b, ESPL_EXTENT_ENTITY), 0);
    report = see(&s);
    ck_assert_uint_eq(report.removed, 1);
    ck_assert_uint_eq(report.renderables, 1);
    end();
}

TEST(prefabs_and_disabled_entities_are_no_renderables)
{
    begin(NULL);
    const espl_entity a = make(test_null, 1), b = make(test_null, 2);

    ck_ok(espl_add_component(w, a, ESPL_PREFAB, NULL, 0));
    ck_ok(espl_add_component(w, b, ESPL_DISABLED, NULL, 0));
    ck_assert_uint_eq(see(&s).renderables, 0);
    ck_ok(espl_remove_component(w, b, ESPL_DISABLED));
    ck_assert_uint_eq(see(&s).added, 1);
    ck_ok(espl_remove_component(w, b, s.bounds));
    ck_assert_uint_eq(see(&s).removed, 1);
    end();
}

TEST(entity_that_is_bad_is_named_until_it_is_not)
{
    espl_renderables_report report;
    const espl_bounds good = {{0, 0, 0}, {1, 1, 1}};

    begin(NULL);
    const espl_entity a = make(test_null, 1), b = make(test_null, 2);

    for (int i = 0; i < 6; ++i) {
        espl_bounds bad = good;
        float *const numbers = bad.center;

        numbers[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
        ck_ok(espl_set_component(w, b, s.bounds, &bad, sizeof bad));
        ck_assert_int_eq(espl_renderables_update(s.renderables, NULL, &report), ESPL_PARTLY);
        demand_seen(&s, &report);
        ck_assert_uint_eq(report.bad, 1);
        ck_assert_uint_eq(report.first_bad.index, b.index);
        // It stays bad, and is named again.
        ck_assert_int_eq(espl_renderables_update(s.renderables, NULL, &report), ESPL_PARTLY);
        demand_seen(&s, &report);
        ck_ok(espl_set_component(w, b, s.bounds, &good, sizeof good));
        ck_assert_uint_eq(see(&s).bad, 0);
    }
    place(a, 1);
    end();
}

// A key with the highest bit names levels; before they are added, it is bad.
TEST(key_without_levels_and_unknown_flags_are_bad)
{
    const espl_lods lods = {.keys = {4}, .sizes = {10}, .count = 1};
    const espl_renderable values[] = {
        {UINT32_C(0x80000000), 0, 0}, {1, 0, 4}, {UINT32_C(0x80000001), 0, 0}};
    const espl_renderable all = {1, 0, ESPL_RENDERABLE_UNION}, good = {1, 0, 0};
    uint32_t key;

    begin(NULL);
    const espl_entity top = make(test_null, 0);
    espl_entity below[3];

    for (int i = 0; i < 3; ++i) {
        below[i] = make(top, 10 * (float)(i + 1));
    }
    ck_ok(espl_set_component(w, top, s.renderable, &all, sizeof all));
    ck_assert_uint_eq(see(&s).bad, 0);
    for (int i = 2; i >= 0; --i) {
        ck_ok(espl_set_component(w, below[i], s.renderable, &values[i], sizeof values[i]));
        ck_assert_uint_eq(see(&s).first_bad.index, below[i].index);
    }
    ck_assert_uint_eq(see(&s).bad, 3);
    ck_ok(espl_renderables_add_lods(s.renderables, &lods, &key));
    s.levels = 1;
    ck_assert_uint_eq(key, values[0].key);
    ck_assert_uint_eq(see(&s).bad, 2); // it has levels without a write of it
    ck_assert_uint_eq(see(&s).first_bad.index, below[1].index);
    ck_ok(espl_renderables_add_lods(s.renderables, &lods, &key));
    s.levels = 2;
    ck_assert_uint_eq(see(&s).bad, 1);
    ck_ok(espl_set_component(w, below[1], s.renderable, &good, sizeof good));
    ck_assert_uint_eq(see(&s).bad, 0);
    end();
}

TEST(world_that_overflows_is_bad_until_it_comes_back)
{
    begin(NULL);
    espl_transform huge = test_at(1, 0, 0);
    const espl_entity a = make(test_null, 1), b = make(a, 3e38f);

    (void)see(&s);
    huge.scale = 1e10f;
    ck_assert_int_eq(espl_set_local_transform(w, a, &huge), ESPL_OVERFLOW);
    ck_assert_uint_eq(see(&s).first_bad.index, b.index);
    place(a, 4);
    ck_assert_uint_eq(see(&s).bad, 0);
    ck_assert_uint_eq(see(&s).moved, 0);
    end();
}

TEST(values_that_an_open_query_writes_after_an_update_are_found)
{
    espl_query query;

    begin(NULL);
    const espl_entity a = make(test_null, 1);
    const espl_query_def def = {.all = &s.renderable, .all_count = 1};

    (void)see(&s);
    ck_ok(espl_query_begin(w, &def, &query));
    ck_assert(espl_query_next(&query));
    espl_renderable *const column = espl_query_write(&query, s.renderable, sizeof *column);

    (void)see(&s);
    column[0].key = 9;
    espl_query_end(&query);
    (void)see(&s);
    const mirrored m = find(a);

    ck_assert_uint_eq(m.entry->values->keys[m.place], 9);
    end();
}

// --- Layers ---

TEST(layers_of_a_parent_are_inherited)
{
    begin(NULL);
    const espl_entity a = make(test_null, 1), b = make(a, 2), c = make(b, 3);

    ck_assert_uint_eq((see(&s), layers_of(c)), UINT32_MAX);
    set_layers(a, 6, 0);
    ck_assert_uint_eq((see(&s), layers_of(c)), 6);
    set_layers(b, 12, 0);
    ck_assert_uint_eq((see(&s), layers_of(c)), 4);
    ck_assert_uint_eq(layers_of(a), 6);
    set_layers(b, 1, ESPL_LAYERS_ABSOLUTE);
    ck_assert_uint_eq((see(&s), layers_of(c)), 1);
    ck_ok(espl_remove_component(w, b, s.layers));
    ck_assert_uint_eq((see(&s), layers_of(c)), 6);
    ck_ok(espl_remove_component(w, a, s.layers));
    ck_assert_uint_eq((see(&s), layers_of(c)), UINT32_MAX);
    end();
}

TEST(parent_alone_that_changes_changes_the_layers_below)
{
    begin(NULL);
    const espl_entity a = make(test_null, 1), b = make(a, 2), other = make(test_null, 3);

    set_layers(a, 1, 0);
    set_layers(other, 2, 0);
    (void)see(&s);
    ck_assert_int_ge(espl_attach(w, b, other, NULL), 0);
    (void)see(&s);
    ck_assert_uint_eq(layers_of(b), 2);
    ck_assert_int_ge(espl_detach(w, b, ESPL_KEEP_WORLD), 0);
    (void)see(&s);
    ck_assert_uint_eq(layers_of(b), UINT32_MAX);
    end();
}

TEST(parent_without_a_transform_or_layers_hides_no_child)
{
    espl_entity top;

    begin(NULL);
    ck_ok(espl_create(w, NULL, 0, 1, &top));
    const espl_entity b = make(top, 2);

    (void)see(&s);
    ck_assert_uint_eq(layers_of(b), UINT32_MAX);
    set_layers(top, 8, 0);
    (void)see(&s);
    ck_assert_uint_eq(layers_of(b), 8);
    end();
}

// --- Boxes of hierarchies ---

TEST(union_has_the_boxes_below_it)
{
    begin(NULL);
    const espl_entity a = make(test_null, 0), b = make(a, 10), c = make(b, 10);

    ck_ok(espl_set_component(w, a, s.renderable, &(espl_renderable){1, 0, ESPL_RENDERABLE_UNION},
                             sizeof(espl_renderable)));
    (void)see(&s);
    const mirrored m = find(a);

    ck_assert_float_ge(m.entry->poses->boxes[0][m.place] + m.entry->poses->boxes[3][m.place], 21);
    place(c, 20); // a renderable below moves alone
    (void)see(&s);
    ck_assert_int_ge(espl_destroy(w, c, ESPL_EXTENT_ENTITY), 0);
    (void)see(&s);
    ck_assert_int_ge(espl_detach(w, b, ESPL_KEEP_WORLD), 0);
    (void)see(&s);
    end();
}

// The union is in a cluster of its own, which nothing that happens below it writes otherwise.
TEST_LOOP(union_in_another_cluster_follows_what_comes_and_goes_below_it, 0, 4)
{
    enum { AROUND = 150 };

    if (test_lacks_room(2 * AROUND + 3, "two clusters of renderables")) {
        return;
    }
    begin(NULL);
    const espl_entity a = make(test_null, 0), b = make(a, 1000);
    const espl_renderable all = {1, 0, ESPL_RENDERABLE_UNION};

    for (int i = 0; i < AROUND; ++i) {
        (void)make(test_null, (float)i / AROUND);
        (void)make(test_null, 1000 + (float)i / AROUND);
    }
    ck_ok(espl_set_component(w, a, s.renderable, &all, sizeof all));
    (void)see(&s);
    ck_assert(find(a).entry != find(b).entry);
    if (_i == 0) {
        ck_ok(espl_destroy(w, b, ESPL_EXTENT_ENTITY));
    } else if (_i == 1) {
        ck_ok(espl_remove_component(w, b, s.renderable));
    } else if (_i == 2) {
        ck_ok(espl_set_enabled(w, b, ESPL_EXTENT_ENTITY, false));
    } else {
        ck_ok(espl_detach(w, b, ESPL_KEEP_WORLD));
    }
    (void)see(&s);
    const mirrored m = find(a);

    ck_assert_float_le(m.entry->poses->boxes[0][m.place] + m.entry->poses->boxes[3][m.place], 2);
    end();
}

// Bounds in float of a box of 1 cm at 1.2e6 m are 0.125 m apart.
TEST(union_far_from_the_origin_has_its_size)
{
    const espl_bounds small = {{0, 0, 0}, {0.005f, 0.005f, 0.005f}};

    begin(NULL);
    const espl_entity a = make(test_null, 1.2e6f), b = make(a, 0), alone = make(test_null, 1.2e6f);
    const espl_entity plain = make(test_null, 1.2e6f), all[] = {a, b, alone, plain};

    for (size_t i = 0; i < 4; ++i) {
        const espl_renderable value = {1, 0,
                                       all[i].index != plain.index ? ESPL_RENDERABLE_UNION : 0};

        ck_ok(espl_set_component(w, all[i], s.bounds, &small, sizeof small));
        ck_ok(espl_set_component(w, all[i], s.renderable, &value, sizeof value));
    }
    (void)see(&s);
    const mirrored want = find(plain);

    for (size_t i = 0; i < 3; ++i) {
        const mirrored m = find(all[i]);

        for (int k = 0; k < 6; ++k) {
            ck_assert_float_eq(m.entry->poses->boxes[k][m.place],
                               want.entry->poses->boxes[k][want.place]);
        }
    }
    end();
}

// --- Results whose mirror ended ---

static espl_status write_result(espl_visible *visible)
{
    float matrices[3][12];
    const espl_instance_arrays arrays = {.matrices = matrices};

    return espl_visible_write(visible, 0, &arrays);
}

static void cull_all(espl_visible *visible)
{
    const espl_camera all = {.layers = UINT32_MAX};

    ck_ok(espl_cull(visible, espl_renderables_acquire(s.renderables), &all, 1, NULL));
}

TEST(result_is_refused_when_its_mirror_ended)
{
    espl_visible *visible;
    size_t count;

    ck_ok(espl_visible_create(NULL, &visible));
    begin(NULL);
    const espl_entity a = make(test_null, 0);

    (void)see(&s);
    cull_all(visible);
    ck_ok(write_result(visible));
    ck_ok(espl_destroy(w, a, ESPL_EXTENT_ENTITY));
    ck_ok(write_result(visible)); // a change of the world ends no mirror
    (void)see(&s);
    ck_status(write_result(visible), ESPL_ERR_DEAD);
    ck_assert_ptr_nonnull(espl_visible_groups(visible, 0, &count));
    (void)make(test_null, 3);
    (void)see(&s);
    cull_all(visible);
    ck_ok(write_result(visible));
    end();
    ck_status(write_result(visible), ESPL_ERR_DEAD);
    espl_visible_destroy(visible);
}

// A mirror of the thread that reads ends with its next acquire that returns another one.
TEST(mirror_that_was_given_back_is_refused)
{
    const espl_renderables_def def = {.readers = 1};
    const espl_camera all = {.layers = UINT32_MAX};
    espl_mirror_description description;
    uint32_t cluster;
    espl_visible *visible;

    ck_ok(espl_visible_create(NULL, &visible));
    begin(&def);
    (void)make(test_null, 0);
    ck_ok(espl_renderables_update(s.renderables, NULL, NULL));
    const espl_mirror *const first = espl_renderables_acquire(s.renderables);

    cull_all(visible);
    ck_ok(espl_renderables_update(s.renderables, NULL, NULL));
    ck_ok(write_result(visible));
    ck_ok(espl_cull(visible, first, &all, 1, NULL));
    ck_assert_uint_eq(espl_mirror_changed(first, 0, 1, &cluster), 1);
    ck_assert_ptr_ne(espl_renderables_acquire(s.renderables), first);
    ck_status(write_result(visible), ESPL_ERR_DEAD);
    ck_status(espl_cull(visible, first, &all, 1, NULL), ESPL_ERR_DEAD);
    ck_status(espl_mirror_write(first, cluster, &(espl_instance_arrays){0}, NULL), ESPL_ERR_DEAD);
    ck_assert_uint_eq(espl_mirror_changed(first, 0, 1, &cluster), 0);
    espl_mirror_describe(first, &description);
    ck_assert_uint_eq(description.number, 0);
    end();
    espl_visible_destroy(visible);
}

// More renderables than there are words that say which mirrors are valid.
TEST(many_renderables_exist_at_a_time)
{
    enum { COUNT = 300 };
    static espl_world *worlds[COUNT];
    static espl_renderables *all[COUNT];
    const espl_camera camera = {.layers = UINT32_MAX};
    espl_visible *visible;

    ck_ok(espl_visible_create(NULL, &visible));
    for (int round = 0; round < 2; ++round) {
        for (size_t i = 0; i < COUNT; ++i) {
            ck_ok(espl_world_create(NULL, &worlds[i]));
            ck_ok(espl_renderables_create(worlds[i], NULL, &all[i]));
            ck_ok(espl_renderables_update(all[i], NULL, NULL));
        }
        for (size_t i = 0; i < COUNT; ++i) {
            ck_ok(espl_cull(visible, espl_renderables_acquire(all[i]), &camera, 1, NULL));
            ck_ok(write_result(visible));
            espl_renderables_destroy(all[i]);
            espl_world_destroy(worlds[i]);
        }
    }
    espl_visible_destroy(visible);
}

// --- Jumps ---

// Every second node of a chain is placed with ESPL_TELEPORT.
TEST(jumps_below_jumps_have_no_pose_before)
{
    enum { DEPTH = 12 };
    espl_entity chain[DEPTH];

    begin(NULL);
    for (int i = 0; i < DEPTH; ++i) {
        chain[i] = make(i != 0 ? chain[i - 1] : test_null, 1);
    }
    (void)see(&s);
    for (int i = 2; i < DEPTH; i += 2) {
        const espl_transform local = test_at(2, 0, 0);

        ck_ok(espl_write_one(
            w, chain[i], (espl_write_kind)(ESPL_WRITE_LOCAL_TRANSFORM | ESPL_TELEPORT), &local));
    }
    s.ignores_before = true;
    (void)see(&s);
    for (int i = 0; i < DEPTH; ++i) {
        const mirrored m = find(chain[i]);

        ck_assert_float_eq(m.entry->before->poses[m.place].position[0],
                           m.entry->poses->poses[m.place].position[0]);
    }
    end();
}

TEST(entity_that_jumps_has_no_pose_before)
{
    begin(NULL);
    const espl_entity a = make(test_null, 0), b = make(a, 10), other = make(test_null, 3);
    const espl_transform far = test_at(100, 0, 0);

    (void)see(&s);
    s.ignores_before = true;
    place(other, 4);
    ck_assert_int_ge(
        espl_write_one(w, a, (espl_write_kind)(ESPL_WRITE_LOCAL_TRANSFORM | ESPL_TELEPORT), &far),
        0);
    const espl_renderables_report report = see(&s);
    const espl_entity jumped[2] = {a, b};

    ck_assert_uint_eq(report.moved, 3);
    for (int i = 0; i < 2; ++i) {
        const mirrored m = find(jumped[i]);

        ck_assert(
            espl__pose_is_same(&m.entry->before->poses[m.place], &m.entry->poses->poses[m.place]));
    }
    const mirrored m = find(other);

    ck_assert(
        !espl__pose_is_same(&m.entry->before->poses[m.place], &m.entry->poses->poses[m.place]));
    end();
}

// --- Other worlds ---

// A rewind drops slots at the end of the pool, which come back with other nodes, or without one.
TEST_LOOP(renderables_are_those_of_the_world_after_rewinds, 0, 4)
{
    enum { MOST = 24 };
    uint64_t random = (uint64_t)_i;
    espl_history *history = NULL;
    espl_entity all[MOST] = {{0, 0}};

    if (test_lacks_room(3000, "the lives of many rounds")) {
        return;
    }
    begin(NULL);
    s.ignores_before = true;
    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_history_mark(history, 0));
    for (uint64_t round = 1; round < test_scaled(3000); ++round) {
        espl_entity *const one = &all[test_below(&random, MOST)];
        const espl_entity above = all[test_below(&random, MOST)];
        const uint32_t what = test_below(&random, 16);

        if (espl_is_alive(w, *one) && what < 6) {
            // Refused where it is below itself.
            const espl_status status = espl_is_alive(w, above)
                                           ? espl_attach(w, *one, above, NULL)
                                           : espl_detach(w, *one, ESPL_KEEP_WORLD);

            ck_assert(status >= 0 || status == ESPL_ERR_CYCLE);
        } else if (espl_is_alive(w, *one) && what < 12) {
            ck_assert_int_ge(espl_destroy(w, *one, ESPL_EXTENT_SUBTREE), 0);
        } else if (what < 12) {
            // Two of three are renderables.
            ck_assert_int_ge(
                espl_create_node(w, espl_is_alive(w, above) ? above : test_null, NULL, NULL, one),
                0);
            if (test_below(&random, 3) != 0) {
                dress(*one, 1, 0);
            }
        } else if (what == 12) {
            ck_ok(espl_history_mark(history, round));
        } else if (what == 13) {
            uint64_t first = 0, last = 0;

            ck_assert(espl_history_range(history, &first, &last));
            ck_ok(espl_history_rewind(history, last, 0, NULL));
        } else {
            (void)see(&s);
            test_world_is_valid(w);
        }
    }
    espl_history_destroy(history);
    end();
}

TEST_LOOP(a_rewind_that_drops_slots_drops_their_renderables, 1, 10)
{
    enum { MOST = 10 };

    for (int after = 1; after < MOST; ++after) {
        espl_history *history = NULL;
        espl_entity root = test_null;

        begin(NULL);
        (void)make(test_null, 1);
        ck_ok(espl_history_create(w, NULL, &history));
        ck_ok(espl_history_mark(history, 1));
        for (int i = 0; i < 2 * _i; ++i) {
            root = make(i % _i == 0 ? test_null : root, (float)i);
        }
        (void)see(&s);
        ck_ok(espl_history_rewind(history, 1, 0, NULL));
        for (int i = 0; i < 2 * after; ++i) {
            root = make(i % after == 0 ? test_null : root, (float)i);
        }
        s.ignores_before = true;
        (void)see(&s);
        test_world_is_valid(w);
        espl_history_destroy(history);
        end();
    }
}

TEST(update_finds_what_a_rewind_restored)
{
    espl_history *history = NULL;

    begin(NULL);
    const espl_entity a = make(test_null, 0), b = make(a, 10);

    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_history_mark(history, 1));
    (void)see(&s);
    place(b, 30);
    ck_assert_int_ge(espl_destroy(w, a, ESPL_EXTENT_ENTITY), 0);
    (void)make(test_null, 6);
    set_layers(b, 3, 0);
    (void)see(&s);
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    s.ignores_before = true;
    (void)see(&s);
    test_world_is_valid(w);
    espl_history_destroy(history);
    end();
}

TEST(update_finds_an_image_and_an_empty_world)
{
    size_t size;
    void *image;

    if (test_lacks_room(200, "an image of many")) {
        return;
    }
    begin(NULL);
    for (int i = 0; i < 40; ++i) {
        (void)make(make(test_null, (float)i), 2);
    }
    (void)see(&s);
    size = espl_image_size(w);
    image = test_array(1, size);
    ck_ok(espl_image_save(w, image, size));
    s.ignores_before = true;
    espl_entity e = make(test_null, 3);
    set_layers(e, 3, 0);
    (void)see(&s);
    ck_assert_int_ge(espl_world_clear(w), 0);
    ck_assert_uint_eq(see(&s).renderables, 0);
    test_world_is_valid(w);
    ck_ok(espl_image_load(w, image, size, 0, NULL));
    ck_assert_uint_eq(see(&s).renderables, 80);
    test_world_is_valid(w);
    free(image);
    end();
}

// --- Memory ---

TEST(bytes_of_the_user_are_in_the_mirror)
{
    const uint64_t bytes = 77;
    espl_mirror_description mirror;

    begin(&(espl_renderables_def){.user_size = sizeof bytes});
    ck_ok(espl_renderables_update(s.renderables, &bytes, NULL));
    espl_mirror_describe(espl_renderables_acquire(s.renderables), &mirror);
    ck_assert_mem_eq(mirror.user, &bytes, sizeof bytes);
    ck_ok(espl_renderables_update(s.renderables, NULL, NULL));
    espl_mirror_describe(espl_renderables_acquire(s.renderables), &mirror);
    ck_assert_uint_eq(*(const uint64_t *)mirror.user, 0);
    end();
}

TEST(update_takes_no_memory_that_was_reserved)
{
    enum { COUNT = 300 };
    espl_entity all[COUNT];

    if (test_lacks_room(COUNT, "reserved updates")) {
        return;
    }
    begin(NULL);
    for (int i = 0; i < COUNT; ++i) {
        all[i] = make(test_null, (float)(i * 7 % COUNT));
    }
    ck_ok(espl_renderables_reserve(s.renderables, COUNT));
    if (test_moves_always()) {
        end();
        return;
    }
    for (int round = 0; round < 10; ++round) {
        for (int i = round; i < COUNT && round != 0; i += 3) {
            place(all[i], (float)(i * round % COUNT));
        }
        test_heap_arm(&test.heap, 1, true);
        const espl_status status = espl_renderables_update(s.renderables, NULL, NULL);

        test_heap_arm(&test.heap, 0, false);
        ck_ok(status);
    }
    ck_assert_int_eq(espl_renderables_reserve(s.renderables, SIZE_MAX), ESPL_ERR_LIMIT);
    end();
}

// Also where the entities are made after the reserve, in slots that the world has memory for.
TEST(update_takes_no_memory_for_slots_that_were_reserved)
{
    enum { COUNT = 300 };
    espl_reserve_def def = {.entities = COUNT, .rows = COUNT, .component_count = 3};

    if (test_lacks_room(COUNT, "reserved slots") || test_moves_always()) {
        return;
    }
    begin(NULL);
    const espl_component set[] = {ESPL_TRANSFORM, s.bounds, s.renderable};

    def.components = set;
    ck_ok(espl_reserve(w, &def));
    ck_ok(espl_renderables_update(s.renderables, NULL, NULL));
    ck_ok(espl_renderables_reserve(s.renderables, COUNT));
    for (int i = 0; i < COUNT; ++i) {
        (void)make(test_null, (float)i);
    }
    test_heap_arm(&test.heap, 1, true);
    const espl_status status = espl_renderables_update(s.renderables, NULL, NULL);

    test_heap_arm(&test.heap, 0, false);
    ck_ok(status);
    end();
}

// Each allocation of an update fails in turn: the mirror before stays, and the update that follows is right.
TEST(update_without_memory_leaves_the_mirror_before)
{
    size_t failures = 1;

    if (test_lacks_room(1000, "an update without memory")) {
        return;
    }
    begin(NULL);
    for (int i = 0; i < 150; ++i) {
        (void)make(make(test_null, (float)i), 2);
    }
    (void)see(&s);
    for (size_t nth = 1; failures != 0; ++nth) {
        const espl_mirror *const before = espl_renderables_acquire(s.renderables);
        const espl_entity a = make(test_null, (float)nth);

        ck_assert_uint_lt(nth, 200);
        place(make(a, 1), 2);
        set_layers(a, (uint32_t)nth, 0);
        ck_assert_int_ge(espl_compact(w), 0); // frees what updates keep
        test_heap_arm(&test.heap, nth, false);
        const espl_status status = espl_renderables_update(s.renderables, NULL, NULL);

        failures = test.heap.failures;
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_ne(failures, 0);
            ck_assert_ptr_eq(espl_renderables_acquire(s.renderables), before);
        } else {
            // What failed was not needed.
            ck_ok(status);
            s.number += 1;
            s.ignores_before = true;
        }
        (void)see(&s);
        s.ignores_before = false;
        test_world_is_valid(w);
    }
    end();
}

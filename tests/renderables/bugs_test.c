// SPDX-License-Identifier: MIT
// Faults that other systems had in what they drew: class M of tests/BUGS.md. Each test goes from writes to the
// world to what a camera sees.
#include "tests/one_world.h"

#include <espalier/renderables.h>

#include <string.h>

enum { SEEN_LIMIT = 16 };

static espl_renderables *renderables;
static espl_visible *visible;
static espl_component bounds, renderable, layers;
static espl_entity seen[SEEN_LIMIT];
static float matrices[SEEN_LIMIT][12]; // of `seen`

static void set_up_drawn(void)
{
    set_up();
    ck_ok(espl_renderables_create(w, NULL, &renderables));
    ck_ok(espl_visible_create(NULL, &visible));
    bounds = espl_component_find(w, "bounds");
    renderable = espl_component_find(w, "renderable");
    layers = espl_component_find(w, "layers");
}

static void tear_down_drawn(void)
{
    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    tear_down();
}

// Make a renderable, a cube with edges of 2.
static espl_entity make_drawn(espl_entity parent, float x, const espl_renderable *value)
{
    const espl_transform at = test_at(x, 0, 0);
    const espl_bounds box = {.half = {1, 1, 1}};
    espl_entity made;

    ck_ok(espl_create_node(w, parent, &at, NULL, &made));
    ck_ok(espl_add_component(w, made, bounds, &box, sizeof box));
    ck_ok(espl_add_component(w, made, renderable, value, sizeof *value));
    return made;
}

static const espl_renderable plain = {.key = 1};

static void set_layers(espl_entity entity, uint32_t mask)
{
    const espl_layers value = {.mask = mask};

    if (espl_has_component(w, entity, layers)) {
        ck_ok(espl_set_component(w, entity, layers, &value, sizeof value));
    } else {
        ck_ok(espl_add_component(w, entity, layers, &value, sizeof value));
    }
}

// A camera that sees x from `low` to `high`, and layer 1.
static espl_camera see_between(float low, float high)
{
    return (espl_camera){
        .planes = {{1, 0, 0, -low}, {-1, 0, 0, high}}, .plane_count = 2, .layers = 1};
}

// Count what a camera sees without an update, and store it in `seen`.
static size_t count_seen(const espl_camera *camera, const espl_cull_def *def)
{
    const espl_instance_arrays arrays = {.matrices = matrices, .entities = seen};
    size_t groups = 0, count = 0;

    ck_ok(espl_cull(visible, espl_renderables_acquire(renderables), camera, 1, def));
    const espl_group *const all = espl_visible_groups(visible, 0, &groups);

    for (size_t i = 0; i < groups; ++i) {
        count += all[i].count;
    }
    ck_assert_uint_le(count, SEEN_LIMIT);
    ck_ok(espl_visible_write(visible, 0, &arrays));
    return count;
}

// Update, and count what a camera sees.
static size_t count_drawn(float low, float high)
{
    const espl_camera camera = see_between(low, high);

    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    return count_seen(&camera, NULL);
}

FIXTURE(set_up_drawn, tear_down_drawn);

// Bevy 12070: a new parent is hidden, and its new children stay visible until one of them changes by itself.
TEST(m1_what_comes_below_a_hidden_parent_is_hidden_at_once)
{
    const espl_entity hidden = make_drawn(espl_entity_null(), 0, &plain);
    const espl_entity child = make_drawn(espl_entity_null(), 0, &plain);
    const espl_entity grandchild = make_drawn(child, 0, &plain);

    set_layers(hidden, 2);
    ck_assert_uint_eq(count_drawn(-10, 10), 2);
    ck_ok(espl_attach(w, child, hidden, NULL));
    ck_assert_uint_eq(count_drawn(-10, 10), 0);
    ck_ok(espl_detach(w, grandchild, ESPL_KEEP_WORLD));
    ck_assert_uint_eq(count_drawn(-10, 10), 1);
    ck_assert(espl_entity_equal(seen[0], grandchild));
    set_layers(hidden, 3);
    ck_assert_uint_eq(count_drawn(-10, 10), 3);
}

// Bevy 5616: an entity without the component of visibility hides what is below it.
TEST(m2_an_entity_without_layers_hides_nothing_and_passes_layers_on)
{
    const espl_entity top = make_drawn(espl_entity_null(), 0, &plain);
    espl_entity between;

    ck_ok(espl_create(w, NULL, 0, 1, &between)); // it has no transform either
    ck_ok(espl_attach(w, between, top, NULL));
    const espl_entity below = make_drawn(between, 0, &plain);

    ck_assert_uint_eq(count_drawn(-10, 10), 2);
    set_layers(top, 2);
    ck_assert_uint_eq(count_drawn(-10, 10), 0);
    ck_ok(espl_remove_component(w, top, layers));
    ck_assert_uint_eq(count_drawn(-10, 10), 2);
    ck_assert(espl_is_alive(w, below));
}

// three.js 11991, 24018: a skinned mesh vanishes, because its box is that of the rest pose.
TEST(m3_a_skinned_mesh_is_seen_where_its_bones_are)
{
    const espl_renderable skin = {.key = 1, .flags = ESPL_RENDERABLE_UNION};
    const espl_renderable bone = {.key = ESPL_NO_KEY};
    const espl_entity mesh = make_drawn(espl_entity_null(), 0, &skin);
    const espl_entity arm = make_drawn(mesh, 1, &bone);
    const espl_entity hand = make_drawn(arm, 1, &bone);
    const float far[3] = {50, 0, 0};

    ck_assert_uint_eq(count_drawn(45, 55), 0);
    ck_ok(espl_set_local_position(w, hand, far));
    ck_assert_uint_eq(count_drawn(45, 55), 1);
    ck_assert(espl_entity_equal(seen[0], mesh));
    ck_ok(espl_destroy(w, hand, ESPL_EXTENT_ENTITY));
    ck_assert_uint_eq(count_drawn(45, 55), 0);
}

// Bevy 4294: a box that is computed once, and not when the geometry changes.
TEST(m4_a_box_that_is_written_counts_at_the_next_update)
{
    const espl_bounds small = {.half = {1, 1, 1}}, large = {.center = {5, 0, 0}, .half = {6, 1, 1}};
    const espl_entity drawn = make_drawn(espl_entity_null(), 0, &plain);

    ck_assert_uint_eq(count_drawn(8, 9), 0);
    ck_ok(espl_set_component(w, drawn, bounds, &large, sizeof large));
    ck_assert_uint_eq(count_drawn(8, 9), 1);
    ck_ok(espl_set_component(w, drawn, bounds, &small, sizeof small));
    ck_assert_uint_eq(count_drawn(8, 9), 0);
}

// PlayCanvas 664: a box that does not follow the scale. A negative one makes no empty box.
TEST(m5_a_box_follows_scale_and_stretch_of_either_sign)
{
    const float wide[3] = {-20, 1, 1};
    const espl_entity parent = make_drawn(espl_entity_null(), 0, &plain);
    const espl_entity child = make_drawn(parent, 0, &plain);

    ck_assert_uint_eq(count_drawn(8, 9), 0);
    ck_ok(espl_set_local_scale(w, parent, 10)); // of both
    ck_assert_uint_eq(count_drawn(8, 9), 2);
    ck_ok(espl_set_local_scale(w, parent, -10));
    ck_assert_uint_eq(count_drawn(8, 9), 2);
    ck_ok(espl_set_local_scale(w, parent, 1));
    ck_assert_uint_eq(count_drawn(8, 9), 0);
    ck_ok(espl_write_one(w, child, ESPL_WRITE_STRETCH, wide));
    ck_assert_uint_eq(count_drawn(8, 9), 1);
    ck_assert(espl_entity_equal(seen[0], child));
}

// three.js 27733: instances that moved are culled by the box around the places that they had at first.
TEST(m6_instances_that_moved_are_seen_where_they_are)
{
    espl_entity all[8];

    for (int i = 0; i < 8; ++i) {
        all[i] = make_drawn(espl_entity_null(), (float)i, &plain);
    }
    ck_assert_uint_eq(count_drawn(100, 200), 0);
    for (int i = 0; i < 8; ++i) {
        const float there[3] = {120 + (float)i, 0, 0};

        ck_ok(espl_set_local_position(w, all[i], there));
        ck_assert_uint_eq(count_drawn(100, 200), (size_t)i + 1);
    }
    ck_assert_uint_eq(count_drawn(-20, 20), 0);
}

// A result that has never had memory: a pointer that is NULL gets no offset.
TEST(the_first_result_may_be_empty)
{
    const espl_camera none = {.layers = 0};

    (void)make_drawn(espl_entity_null(), 0, &plain);
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    ck_assert_uint_eq(count_seen(&none, NULL), 0);
}

// FUSEE 652: a box without depth is never seen.
TEST(m7_flat_boxes_and_points_are_seen)
{
    const espl_entity drawn = make_drawn(espl_entity_null(), 3, &plain);
    const espl_bounds boxes[] = {{.half = {0, 1, 1}}, {.half = {0, 0, 0}}};

    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_set_component(w, drawn, bounds, &boxes[i], sizeof boxes[i]));
        ck_assert_uint_eq(count_drawn(2, 4), 1);
        ck_assert_uint_eq(count_drawn(3, 3), 1);
        ck_assert_uint_eq(count_drawn(4, 5), 0);
    }
}

// Demand that the only one is drawn at this x half-way between the mirrors.
static void demand_half_way(float x)
{
    const espl_camera all = {.layers = 1};
    const espl_cull_def half_way = {.alpha = 0.5f, .flags = ESPL_CULL_INTERPOLATE};

    ck_assert_uint_eq(count_seen(&all, &half_way), 1);
    ck_assert_float_eq(matrices[0][3], x);
}

// Godot 92391, Stride 2681: what is teleported is drawn as a flight to where it is.
TEST(m8_a_teleport_is_drawn_at_its_end_and_a_flight_between)
{
    const float near[3] = {8, 0, 0}, far[3] = {1000, 0, 0};
    const espl_entity drawn = make_drawn(espl_entity_null(), 0, &plain);

    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    demand_half_way(0);
    ck_ok(espl_set_local_position(w, drawn, near));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    demand_half_way(4);
    ck_ok(espl_write_one(w, drawn, (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT),
                         far));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    demand_half_way(1000);
}

static const espl_renderable skin = {.key = 2, .flags = ESPL_RENDERABLE_UNION};

// Count what is seen between two mirrors.
static size_t count_between(float low, float high, float alpha)
{
    const espl_camera camera = see_between(low, high);

    return count_seen(&camera, &(espl_cull_def){.flags = ESPL_CULL_INTERPOLATE, .alpha = alpha});
}

// What has no pose before has no box before: a union is found where it is drawn.
TEST(a_union_that_teleported_is_seen_at_its_end)
{
    const float far[3] = {1000, 0, 0};
    const espl_entity drawn = make_drawn(espl_entity_null(), 0, &skin);

    (void)make_drawn(drawn, 1, &plain);
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    ck_ok(espl_write_one(w, drawn, (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT),
                         far));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    for (int i = 0; i <= 4; ++i) {
        ck_assert_uint_eq(count_between(900, 1100, (float)i / 4), 2);
        ck_assert_uint_eq(count_between(-100, 100, (float)i / 4), 0);
    }
}

TEST(a_union_that_was_bad_has_no_box_before)
{
    const espl_bounds bad = {.half = {NAN, 1, 1}}, large = {.half = {10, 10, 10}};
    const espl_entity drawn = make_drawn(espl_entity_null(), 100, &skin);

    ck_ok(espl_set_component(w, drawn, bounds, &bad, sizeof bad));
    ck_assert_int_eq(espl_renderables_update(renderables, NULL, NULL), ESPL_PARTLY);
    ck_ok(espl_set_component(w, drawn, bounds, &large, sizeof large));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    for (int i = 0; i <= 4; ++i) {
        ck_assert_uint_eq(count_between(105, 120, (float)i / 4), 1);
        ck_assert_uint_eq(count_between(-50, 50, (float)i / 4), 0);
    }
}

// A box before follows from the pose before and the local box now, and may overflow although both worlds did not.
TEST(a_box_before_that_overflows_is_not_seen)
{
    const espl_bounds huge = {.half = {1e38f, 1e38f, 1e38f}};
    const espl_entity drawn = make_drawn(espl_entity_null(), 0, &plain);

    ck_ok(espl_set_local_scale(w, drawn, 10));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    ck_ok(espl_set_component(w, drawn, bounds, &huge, sizeof huge));
    ck_ok(espl_set_local_scale(w, drawn, 1));
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    for (int i = 0; i <= 4; ++i) {
        const espl_cull_def def = {.flags = ESPL_CULL_INTERPOLATE, .alpha = (float)i / 4};

        ck_assert_uint_eq(count_seen(&(espl_camera){.layers = 1}, &def), i == 4 ? 1 : 0);
    }
}

// An entity that is off in an update without memory, and on in the next one, was never gone.
TEST(an_update_without_memory_lets_nothing_go)
{
    enum { NEW = 40 };
    const espl_entity drawn = make_drawn(espl_entity_null(), 0, &plain);
    size_t failures = 1, refused = 0;

    if (test_lacks_room(4000, "many updates without memory")) {
        return;
    }
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    for (size_t nth = 1; failures != 0; ++nth) {
        const float at[3] = {10 * (float)nth, 0, 0};
        espl_renderables_report report = {0};

        ck_assert_uint_lt(nth, 90);
        ck_ok(espl_set_enabled(w, drawn, ESPL_EXTENT_ENTITY, false));
        for (int i = 0; i < NEW; ++i) {
            (void)make_drawn(espl_entity_null(), -100, &plain);
        }
        ck_assert_int_ge(espl_compact(w), 0); // frees what updates keep
        test_heap_arm(&test.heap, nth, true);
        const espl_status status = espl_renderables_update(renderables, NULL, NULL);

        failures = test.heap.failures;
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(w);
        ck_ok(espl_set_enabled(w, drawn, ESPL_EXTENT_ENTITY, true));
        ck_ok(espl_set_local_position(w, drawn, at));
        ck_ok(espl_renderables_update(renderables, NULL, &report));
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            refused += 1;
            ck_assert_uint_eq(report.removed, 0);
            ck_assert_uint_eq(report.added, NEW);
            ck_assert_uint_eq(report.moved, 1);
            ck_assert_uint_eq(count_between(at[0] - 12, at[0] - 8, 0), 1);
            ck_assert_uint_eq(count_between(at[0] - 2, at[0] + 2, 0), 0);
        } else {
            ck_ok(status);
        }
    }
    ck_assert_uint_gt(refused, 3);
}

// Godot, docs 5801: what is made far away is drawn between the origin and there in its first frame.
TEST(m9_what_is_new_is_drawn_at_once_where_it_is)
{
    const espl_entity first = make_drawn(espl_entity_null(), 500, &plain);

    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    demand_half_way(500);
    // Another entity of the same index and slot has no past of the first one.
    ck_ok(espl_destroy(w, first, ESPL_EXTENT_ENTITY));
    const espl_entity second = make_drawn(espl_entity_null(), -700, &plain);

    ck_assert_uint_eq(second.index, first.index);
    ck_ok(espl_renderables_update(renderables, NULL, NULL));
    demand_half_way(-700);
}

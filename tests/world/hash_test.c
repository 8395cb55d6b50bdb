// SPDX-License-Identifier: MIT
// The two hashes of a world: what each of them is blind to, and what neither may miss.
#include "tests/planting.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 9, MEMBERS = 6 };

// A component with a reference between two numbers, a plain one, and a tag.
typedef struct bond {
    uint32_t before;
    espl_entity to;
    uint32_t behind;
} bond;

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_component bond, note, mark;
    espl_entity e[MEMBERS]; // R{A{C,D},B}, and a solo S
} scene;

enum { R, A, B, C, D, S };

static espl_component register_one(espl_world *world, const char *name, size_t size)
{
    static const uint32_t at = offsetof(bond, to);
    const bool refers = strcmp(name, "bond") == 0;
    const espl_component_def def = {name, size, size == 0 ? 1 : 4, refers ? &at : NULL, refers};
    espl_component out = 0;

    ck_assert_int_eq(espl_component_register(world, &def, &out), ESPL_OK);
    return out;
}

static void register_all(scene *s, bool is_reversed)
{
    for (int i = 0; i < 3; ++i) {
        switch (is_reversed ? 2 - i : i) {
        case 0:
            s->bond = register_one(s->world, "bond", sizeof(bond));
            break;
        case 1:
            s->note = register_one(s->world, "note", 12);
            break;
        default:
            s->mark = register_one(s->world, "mark", 0);
            break;
        }
    }
}

static void attach(const scene *s, int child, int parent)
{
    ck_assert_int_eq(espl_attach(s->world, s->e[child], s->e[parent], NULL), ESPL_OK);
}

static void bind(const scene *s, int from, espl_entity to)
{
    const bond value = {7, to, 8};

    ck_assert_int_eq(espl_set_component(s->world, s->e[from], s->bond, &value, sizeof value),
                     ESPL_OK);
}

// The same scene, made from the first entity to the last or from the last to the first.
static void begin(scene *s, bool is_reversed)
{
    static const int parents[MEMBERS] = {-1, R, R, A, A, -1};
    static const char text[12] = "twelve bytes";

    test_world_begin(&s->test, TAG, NULL);
    s->world = s->test.world;
    register_all(s, is_reversed);
    const espl_component set[] = {ESPL_TRANSFORM, s->bond, s->note};

    for (int i = 0; i < MEMBERS; ++i) {
        const int node = is_reversed ? MEMBERS - 1 - i : i;
        const espl_transform at = test_at((float)node, 1, 2);

        ck_assert_int_eq(espl_create(s->world, set, 3, 1, &s->e[node]), ESPL_OK);
        ck_assert_int_eq(espl_set_local_transform(s->world, s->e[node], &at), ESPL_OK);
        ck_assert_int_eq(espl_set_component(s->world, s->e[node], s->note, text, sizeof text),
                         ESPL_OK);
    }
    for (int i = 0; i < MEMBERS; ++i) {
        if (parents[i] >= 0) {
            attach(s, i, parents[i]);
        }
        bind(s, i, s->e[(i + 1) % MEMBERS]);
    }
}

static void end(scene *s)
{
    test_world_end(&s->test);
}

// --- What the logical hash is blind to ---

START_TEST(logical_hash_knows_no_handle_row_or_number)
{
    scene a, b;

    begin(&a, false);
    begin(&b, true);
    ck_assert_uint_eq(test_logical_hash(a.world), test_logical_hash(b.world));
    ck_assert_uint_ne(test_physical_hash(a.world), test_physical_hash(b.world));
    end(&a);
    end(&b);
}
END_TEST

START_TEST(scenes_made_alike_agree_in_both)
{
    scene a, b;

    begin(&a, false);
    begin(&b, false);
    ck_assert_uint_eq(test_logical_hash(a.world), test_logical_hash(b.world));
    ck_assert_uint_eq(test_physical_hash(a.world), test_physical_hash(b.world));
    end(&a);
    end(&b);
}
END_TEST

// Viewing a tree may lay it out.
START_TEST(a_view_does_not_show_in_the_logical_hash)
{
    scene s;

    begin(&s, false);
    ck_assert_int_eq(espl_destroy(s.world, s.e[A], ESPL_EXTENT_ENTITY), ESPL_OK);
    const uint64_t logical = test_logical_hash(s.world);
    espl_view view;

    ck_assert_int_eq(espl_view_hierarchy(s.world, s.e[R], &view), ESPL_OK);
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    end(&s);
}
END_TEST

// Without memory the library may put work off.
START_TEST(a_destroy_without_memory_does_not_show_in_the_logical_hash)
{
    uint64_t logical[2];

    for (int turn = 0; turn < 2; ++turn) {
        scene s;

        begin(&s, false);
        ck_assert_int_eq(espl_compact(s.world), ESPL_OK);
        test_heap_arm(&s.test.heap, turn == 0 ? 0 : 1, true);
        ck_assert_int_eq(espl_destroy(s.world, s.e[R], ESPL_EXTENT_ENTITY), ESPL_OK);
        logical[turn] = test_logical_hash(s.world);
        test_heap_arm(&s.test.heap, 0, false);
        end(&s);
    }
    ck_assert_uint_eq(logical[0], logical[1]);
}
END_TEST

START_TEST(reserved_memory_and_versions_show_in_neither)
{
    scene s;

    begin(&s, false);
    const uint64_t logical = test_logical_hash(s.world);
    const uint64_t physical = test_physical_hash(s.world);

    ck_assert_int_eq(espl_reserve(s.world, &(espl_reserve_def){.entities = 40}), ESPL_OK);
    ck_assert_int_eq(
        espl_reserve(s.world,
                     &(espl_reserve_def){.components = &s.note, .component_count = 1, .rows = 20}),
        ESPL_OK);
    ck_assert_int_eq(espl_reserve(s.world, &(espl_reserve_def){.side_of = s.e[R]}), ESPL_OK);
    bind(&s, A, s.e[B]);
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    ck_assert_uint_eq(test_physical_hash(s.world), physical);
    ck_assert_int_eq(espl_compact(s.world), ESPL_OK);
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    end(&s);
}
END_TEST

// --- What neither may miss ---

typedef void (*edit)(scene *s);

static void move_a_bit(scene *s)
{
    const float at[3] = {-0.0f, 1, 2}; // R stands at 0, 1, 2

    ck_assert_int_eq(espl_set_local_position(s->world, s->e[R], at), ESPL_OK);
}

static void turn_back(scene *s)
{
    const float q[4] = {0, 0, 0, -1}; // the same rotation in other bits

    ck_assert_int_eq(espl_set_local_rotation(s->world, s->e[D], q), ESPL_OK);
}

static void scale_a_leaf(scene *s)
{
    ck_assert_int_eq(espl_set_local_scale(s->world, s->e[D], 1.0000001f), ESPL_OK);
}

static void stretch_a_leaf(scene *s)
{
    const float stretch[3] = {1, 1, 2};

    ck_assert_int_eq(espl_set_stretch(s->world, s->e[D], stretch), ESPL_OK);
}

static void give_a_context(scene *s)
{
    ck_assert_int_eq(espl_set_user_data(s->world, s->e[D], 1u << 31), ESPL_OK);
}

static void keep_the_height(scene *s)
{
    ck_assert_int_eq(espl_set_inherit(s->world, s->e[B], ESPL_ABSOLUTE_Y), ESPL_OK);
}

static void swap_siblings(scene *s)
{
    ck_assert_int_eq(espl_set_sibling(s->world, s->e[C], espl_entity_null()), ESPL_OK);
}

static void free_a_link(scene *s)
{
    const espl_attach_options options = {.link = ESPL_LINK_FREE};

    ck_assert_int_eq(espl_attach(s->world, s->e[B], s->e[R], &options), ESPL_OK);
}

static void change_parents(scene *s)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

    ck_assert_int_eq(espl_attach(s->world, s->e[D], s->e[C], &options), ESPL_OK);
}

static void detach_one(scene *s)
{
    ck_assert_int_eq(espl_detach(s->world, s->e[B], ESPL_KEEP_LOCAL), ESPL_OK);
}

static void destroy_one(scene *s)
{
    ck_assert_int_eq(espl_destroy(s->world, s->e[S], ESPL_EXTENT_OWNED), ESPL_OK);
}

static void create_one(scene *s)
{
    ck_assert_int_eq(espl_create(s->world, NULL, 0, 1, NULL), ESPL_OK);
}

static void mark_one(scene *s)
{
    ck_assert_int_eq(espl_add_component(s->world, s->e[C], s->mark, NULL, 0), ESPL_OK);
}

static void disable_one(scene *s)
{
    ck_assert_int_eq(espl_disable(s->world, s->e[C], ESPL_EXTENT_ENTITY), ESPL_OK);
}

static void take_a_placement(scene *s)
{
    ck_assert_int_eq(espl_remove_component(s->world, s->e[C], ESPL_TRANSFORM), ESPL_OK);
}

static void take_a_component(scene *s)
{
    ck_assert_int_eq(espl_remove_component(s->world, s->e[S], s->note), ESPL_OK);
}

static void write_the_last_byte(scene *s)
{
    ck_assert_int_eq(espl_set_component(s->world, s->e[S], s->note, "twelve bytez", 12), ESPL_OK);
}

static void write_before_a_reference(scene *s)
{
    const bond value = {6, s->e[R], 8};

    ck_assert_int_eq(espl_set_component(s->world, s->e[S], s->bond, &value, sizeof value), ESPL_OK);
}

static void write_behind_a_reference(scene *s)
{
    const bond value = {7, s->e[R], 9};

    ck_assert_int_eq(espl_set_component(s->world, s->e[S], s->bond, &value, sizeof value), ESPL_OK);
}

static void refer_to_another(scene *s)
{
    bind(s, S, s->e[D]);
}

static void refer_to_nobody(scene *s)
{
    bind(s, S, espl_entity_null());
}

static void refer_to_the_dead(scene *s)
{
    bind(s, S, (espl_entity){s->e[R].index, s->e[R].generation + 1});
}

static const edit edits[] = {
    move_a_bit,
    turn_back,
    scale_a_leaf,
    stretch_a_leaf,
    give_a_context,
    keep_the_height,
    swap_siblings,
    free_a_link,
    change_parents,
    detach_one,
    destroy_one,
    create_one,
    mark_one,
    disable_one,
    take_a_placement,
    take_a_component,
    refer_to_another,
    refer_to_nobody,
    write_the_last_byte,
    write_before_a_reference,
    refer_to_the_dead,
    write_behind_a_reference,
};

enum { EDITS = sizeof edits / sizeof *edits };

START_TEST(whatever_can_be_read_counts_in_both)
{
    uint64_t logical[EDITS + 1], physical[EDITS + 1];

    for (int i = 0; i <= EDITS; ++i) {
        scene s;

        begin(&s, false);
        if (i < EDITS) {
            edits[i](&s);
        }
        logical[i] = test_logical_hash(s.world);
        physical[i] = test_physical_hash(s.world);
        end(&s);
        for (int k = 0; k < i; ++k) {
            ck_assert_msg(logical[i] != logical[k], "edits %d and %d look the same", k, i);
            ck_assert_msg(physical[i] != physical[k], "edits %d and %d stand the same", k, i);
        }
    }
}
END_TEST

// The sum over hierarchies is not one over nodes: what hangs where is told.
START_TEST(who_hangs_below_whom_is_told_among_nodes_that_look_alike)
{
    static const uint32_t shapes[4][4] = {
        {PLANT_ROOT, 0, 1, 2}, {PLANT_ROOT, 0, 0, 1}, {PLANT_ROOT, 0, 0, 2}, {PLANT_ROOT, 0, 0, 0}};
    const espl_transform origin = espl_transform_identity();
    uint64_t hashes[4];

    for (int i = 0; i < 4; ++i) {
        test_world test;

        test_world_begin(&test, TAG, NULL);
        espl_entity *const e = plant_forest(test.world, shapes[i], 4);

        for (int node = 0; node < 4; ++node) {
            ck_assert_int_eq(espl_set_local_transform(test.world, e[node], &origin), ESPL_OK);
        }
        hashes[i] = test_logical_hash(test.world);
        for (int k = 0; k < i; ++k) {
            ck_assert_uint_ne(hashes[i], hashes[k]);
        }
        free(e);
        test_world_end(&test);
    }
}
END_TEST

// An index used again, and the order in which free ones will be, are to be seen by the next handles.
START_TEST(handles_to_come_show_in_the_physical_hash)
{
    uint64_t logical[2], physical[2];

    for (int turn = 0; turn < 2; ++turn) {
        scene s;
        espl_entity two[2];

        begin(&s, false);
        ck_assert_int_eq(espl_create(s.world, NULL, 0, 2, two), ESPL_OK);
        ck_assert_int_eq(espl_destroy(s.world, two[turn], ESPL_EXTENT_OWNED), ESPL_OK);
        ck_assert_int_eq(espl_destroy(s.world, two[1 - turn], ESPL_EXTENT_OWNED), ESPL_OK);
        logical[turn] = test_logical_hash(s.world);
        physical[turn] = test_physical_hash(s.world);
        end(&s);
    }
    ck_assert_uint_eq(logical[0], logical[1]);
    ck_assert_uint_ne(physical[0], physical[1]);
}
END_TEST

// --- The numbers ---

// By definition the same on every machine. (The physical ones change with the order in which the
// library hands out rows and slots, so that none is written down.)
START_TEST(logical_hashes_are_these_numbers)
{
    scene s;
    test_world empty;

    begin(&s, false);
    ck_assert_uint_eq(test_logical_hash(s.world), UINT64_C(4511362052893497625));
    end(&s);
    test_world_begin(&empty, TAG, NULL);
    ck_assert_uint_eq(test_logical_hash(empty.world), UINT64_C(7468891241374767604));
    test_world_end(&empty);
}
END_TEST

// --- The call ---

START_TEST(hashing_takes_no_memory_and_changes_nothing)
{
    scene s;

    begin(&s, false);
    const size_t bytes = s.test.heap.bytes;
    uint64_t hash = 0;

    test_heap_arm(&s.test.heap, 1, true);
    ck_assert_int_eq(espl_hash(s.world, ESPL_HASH_LOGICAL, &hash), ESPL_OK);
    ck_assert_uint_eq(test_logical_hash(s.world), hash);
    ck_assert_int_eq(espl_hash(s.world, ESPL_HASH_PHYSICAL, &hash), ESPL_OK);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    ck_assert_uint_eq(s.test.heap.calls, 0);
    ck_assert_uint_eq(s.test.heap.bytes, bytes);
    test_heap_arm(&s.test.heap, 0, false);
    end(&s);
}
END_TEST

START_TEST(unknown_kind_of_hash_is_refused)
{
    scene s;
    uint64_t hash = 77;

    begin(&s, false);
    ck_assert_int_eq(espl_hash(s.world, (espl_hash_kind)2, &hash), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_hash(s.world, (espl_hash_kind)-1, &hash), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(hash, 77);
    ck_assert_uint_eq(s.test.hooks.traps, 0);
    end(&s);
}
END_TEST

static void hash_inside(espl_writer *writer, const espl_query *rows, void *context)
{
    espl_status *const status = context;
    uint64_t hash = 77;

    (void)rows;
    *status = espl_hash(espl_writer_world(writer), ESPL_HASH_LOGICAL, &hash);
    ck_assert_uint_eq(hash, 77);
}

START_TEST(hashing_is_refused_while_a_parallel_write_is_under_way)
{
    scene s;
    espl_status status = ESPL_OK;
    const espl_parallel_def def = {.function = hash_inside, .context = &status};

    begin(&s, false);
    ck_assert_int_eq(espl_write_parallel(s.world, &def, NULL), ESPL_OK);
    ck_assert_int_eq(status, ESPL_ERR_BUSY);
    end(&s);
}
END_TEST

START_TEST(hashing_is_a_read_within_an_iteration)
{
    scene s;
    espl_query query;

    begin(&s, false);
    const uint64_t hash = test_logical_hash(s.world);

    ck_assert_int_eq(espl_query_begin(s.world, NULL, &query), ESPL_OK);
    ck_assert_uint_eq(test_logical_hash(s.world), hash);
    espl_query_end(&query);
    end(&s);
}
END_TEST

static Suite *hash_suite(void)
{
    Suite *const suite = suite_create("hash");
    TCase *const tests = tcase_create("hash");

    tcase_add_test(tests, logical_hash_knows_no_handle_row_or_number);
    tcase_add_test(tests, scenes_made_alike_agree_in_both);
    tcase_add_test(tests, a_view_does_not_show_in_the_logical_hash);
    tcase_add_test(tests, a_destroy_without_memory_does_not_show_in_the_logical_hash);
    tcase_add_test(tests, reserved_memory_and_versions_show_in_neither);
    tcase_add_test(tests, whatever_can_be_read_counts_in_both);
    tcase_add_test(tests, who_hangs_below_whom_is_told_among_nodes_that_look_alike);
    tcase_add_test(tests, handles_to_come_show_in_the_physical_hash);
    tcase_add_test(tests, logical_hashes_are_these_numbers);
    tcase_add_test(tests, hashing_takes_no_memory_and_changes_nothing);
    tcase_add_test(tests, unknown_kind_of_hash_is_refused);
    tcase_add_test(tests, hashing_is_refused_while_a_parallel_write_is_under_way);
    tcase_add_test(tests, hashing_is_a_read_within_an_iteration);
    suite_add_tcase(suite, tests);
    return suite;
}

RUN_SUITE(hash_suite)

// SPDX-License-Identifier: MIT
// The two hashes of a world: which differences each of them ignores, and which it must show.
#include "tests/asked.h"
#include "tests/fixture.h"
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

static scene s;

enum { R, A, B, C, D, S };

static espl_component register_one(espl_world *world, const char *name, size_t size)
{
    static const uint32_t at = offsetof(bond, to);
    const bool refers = strcmp(name, "bond") == 0;
    const espl_component_def def = {.name = name,
                                    .size = size,
                                    .alignment = size == 0 ? 1 : 4,
                                    .references = refers ? &at : NULL,
                                    .reference_count = refers};
    espl_component out = 0;

    ck_ok(espl_component_register(world, &def, &out));
    return out;
}

static void register_all(bool is_reversed)
{
    for (int i = 0; i < 3; ++i) {
        switch (is_reversed ? 2 - i : i) {
        case 0:
            s.bond = register_one(s.world, "bond", sizeof(bond));
            break;
        case 1:
            s.note = register_one(s.world, "note", 12);
            break;
        default:
            s.mark = register_one(s.world, "mark", 0);
            break;
        }
    }
}

static void attach(int child, int parent)
{
    ck_ok(espl_attach(s.world, s.e[child], s.e[parent], NULL));
}

static espl_status bind(int from, bond value)
{
    return espl_set_component(s.world, s.e[from], s.bond, &value, sizeof value);
}

// The same scene, made from the first entity to the last or from the last to the first.
static void begin(bool is_reversed)
{
    static const int parents[MEMBERS] = {-1, R, R, A, A, -1};
    static const char text[12] = "twelve bytes";

    test_world_begin(&s.test, TAG, NULL);
    s.world = s.test.world;
    register_all(is_reversed);
    const espl_component set[] = {ESPL_TRANSFORM, s.bond, s.note};

    for (int i = 0; i < MEMBERS; ++i) {
        const int node = is_reversed ? MEMBERS - 1 - i : i;
        const espl_transform at = test_at((float)node, 1, 2);

        ck_ok(espl_create(s.world, set, 3, 1, &s.e[node]));
        ck_ok(espl_set_local_transform(s.world, s.e[node], &at));
        ck_ok(espl_set_component(s.world, s.e[node], s.note, text, sizeof text));
    }
    for (int i = 0; i < MEMBERS; ++i) {
        if (parents[i] >= 0) {
            attach(i, parents[i]);
        }
        ck_ok(bind(i, (bond){7, s.e[(i + 1) % MEMBERS], 8}));
    }
}

static void end(void)
{
    test_world_end(&s.test);
}

// --- What the logical hash is blind to ---

TEST(logical_hash_knows_no_handle_row_or_number)
{
    uint64_t logical[2], physical[2];

    for (int is_reversed = 0; is_reversed < 2; ++is_reversed) {
        begin(is_reversed != 0);
        logical[is_reversed] = test_logical_hash(s.world);
        physical[is_reversed] = test_physical_hash(s.world);
        end();
    }
    ck_assert_uint_eq(logical[0], logical[1]);
    ck_assert_uint_ne(physical[0], physical[1]);
}

// Viewing a tree may lay it out.
TEST(a_view_does_not_show_in_the_logical_hash)
{
    begin(false);
    ck_ok(espl_destroy(s.world, s.e[A], ESPL_EXTENT_ENTITY));
    const uint64_t logical = test_logical_hash(s.world);
    espl_view view;

    ck_ok(espl_view_hierarchy(s.world, s.e[R], &view));
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    end();
}

// Without memory the library may put work off.
TEST(a_destroy_without_memory_does_not_show_in_the_logical_hash)
{
    uint64_t logical[2];

    for (int turn = 0; turn < 2; ++turn) {
        begin(false);
        ck_ok(espl_compact(s.world));
        test_heap_arm(&s.test.heap, turn == 0 ? 0 : 1, true);
        ck_ok(espl_destroy(s.world, s.e[R], ESPL_EXTENT_ENTITY));
        logical[turn] = test_logical_hash(s.world);
        test_heap_arm(&s.test.heap, 0, false);
        end();
    }
    ck_assert_uint_eq(logical[0], logical[1]);
}

TEST(reserved_memory_and_versions_show_in_neither)
{
    begin(false);
    // Rows make the component set known, which shows.
    ck_ok(test_reserve_rows(s.world, &s.note, 1, 1));
    const uint64_t logical = test_logical_hash(s.world);
    const uint64_t physical = test_physical_hash(s.world);

    ck_ok(espl_reserve(s.world, &(espl_reserve_def){.entities = 40}));
    ck_ok(test_reserve_rows(s.world, &s.note, 1, 20));
    ck_ok(espl_reserve(s.world, &(espl_reserve_def){.side_of = s.e[R]}));
    ck_ok(bind(A, (bond){7, s.e[B], 8}));
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    ck_assert_uint_eq(test_physical_hash(s.world), physical);
    ck_ok(espl_compact(s.world));
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    end();
}

// --- What neither may miss ---

// X(function, call): each changes something that can be read. The root stands at 0, 1, 2.
#define EDITS(X)                                                                            \
    X(move_a_bit, espl_set_local_position(s.world, s.e[R], (float[3]){-0.0f, 1, 2}))        \
    X(turn_back, espl_set_local_rotation(s.world, s.e[D], (float[4]){0, 0, 0, -1}))         \
    X(scale_a_leaf, espl_set_local_scale(s.world, s.e[D], 1.0000001f))                      \
    X(stretch_a_leaf, espl_set_stretch(s.world, s.e[D], (float[3]){1, 1, 2}))               \
    X(give_user_data, espl_set_user_data(s.world, s.e[D], 1u << 31))                        \
    X(keep_the_height, espl_set_inherit(s.world, s.e[B], ESPL_ABSOLUTE_Y))                  \
    X(swap_siblings, espl_move_before(s.world, s.e[C], espl_entity_null()))                 \
    X(free_a_link, espl_attach(s.world, s.e[B], s.e[R], &is_free))                          \
    X(change_parents, espl_attach(s.world, s.e[D], s.e[C], &keeps_local))                   \
    X(detach_one, espl_detach(s.world, s.e[B], ESPL_KEEP_LOCAL))                            \
    X(destroy_one, espl_destroy(s.world, s.e[S], ESPL_EXTENT_OWNED))                        \
    X(create_one, espl_create(s.world, NULL, 0, 1, NULL))                                   \
    X(mark_one, espl_add_component(s.world, s.e[C], s.mark, NULL, 0))                       \
    X(disable_one, espl_set_enabled(s.world, s.e[C], ESPL_EXTENT_ENTITY, false))            \
    X(take_a_transform, espl_remove_component(s.world, s.e[C], ESPL_TRANSFORM))             \
    X(take_a_component, espl_remove_component(s.world, s.e[S], s.note))                     \
    X(refer_to_another, bind(S, (bond){7, s.e[D], 8}))                                      \
    X(refer_to_nobody, bind(S, (bond){7, espl_entity_null(), 8}))                           \
    X(write_the_last_byte, espl_set_component(s.world, s.e[S], s.note, "twelve bytez", 12)) \
    X(write_before_a_reference, bind(S, (bond){6, s.e[R], 8}))                              \
    X(refer_to_the_dead, bind(S, (bond){7, {s.e[R].index, s.e[R].generation + 1}, 8}))      \
    X(write_behind_a_reference, bind(S, (bond){7, s.e[R], 9}))

static const espl_attach_options is_free = {.link = ESPL_LINK_FREE},
                                 keeps_local = {.position = ESPL_KEEP_LOCAL,
                                                .rotation = ESPL_KEEP_LOCAL,
                                                .scale = ESPL_KEEP_LOCAL};

#define AS_NAME(function, call) EDIT_##function,
enum { EDITS(AS_NAME) EDIT_COUNT };

static espl_status edit(int which)
{
    switch (which) {
#define AS_CASE(function, call) \
    case EDIT_##function:       \
        return call;
        EDITS(AS_CASE)
    default:
        ck_abort();
    }
    return ESPL_OK;
}

TEST(whatever_can_be_read_counts_in_both)
{
    uint64_t logical[EDIT_COUNT + 1], physical[EDIT_COUNT + 1];

    for (int i = 0; i <= EDIT_COUNT; ++i) {
        begin(false);
        if (i < EDIT_COUNT) {
            ck_ok(edit(i));
        }
        logical[i] = test_logical_hash(s.world);
        physical[i] = test_physical_hash(s.world);
        end();
        for (int k = 0; k < i; ++k) {
            ck_assert_msg(logical[i] != logical[k], "edits %d and %d look the same", k, i);
            ck_assert_msg(physical[i] != physical[k], "edits %d and %d stand the same", k, i);
        }
    }
}

// The sum over hierarchies is not one over nodes: what hangs where is told.
TEST(who_hangs_below_whom_is_told_among_nodes_that_look_alike)
{
    static const uint32_t shapes[4][4] = {
        {NO_PARENT, 0, 1, 2}, {NO_PARENT, 0, 0, 1}, {NO_PARENT, 0, 0, 2}, {NO_PARENT, 0, 0, 0}};
    const espl_transform origin = espl_transform_identity();
    uint64_t hashes[4];

    for (int i = 0; i < 4; ++i) {
        test_world test;

        test_world_begin(&test, TAG, NULL);
        espl_entity *const e = make_forest(test.world, shapes[i], 4);

        for (int node = 0; node < 4; ++node) {
            ck_ok(espl_set_local_transform(test.world, e[node], &origin));
        }
        hashes[i] = test_logical_hash(test.world);
        for (int k = 0; k < i; ++k) {
            ck_assert_uint_ne(hashes[i], hashes[k]);
        }
        free(e);
        test_world_end(&test);
    }
}

// An index used again, and the order in which free ones will be, are to be seen by the next handles.
TEST(handles_to_come_show_in_the_physical_hash)
{
    uint64_t logical[2], physical[2];

    for (int turn = 0; turn < 2; ++turn) {
        espl_entity two[2];

        begin(false);
        ck_ok(espl_create(s.world, NULL, 0, 2, two));
        ck_ok(espl_destroy(s.world, two[turn], ESPL_EXTENT_OWNED));
        ck_ok(espl_destroy(s.world, two[1 - turn], ESPL_EXTENT_OWNED));
        logical[turn] = test_logical_hash(s.world);
        physical[turn] = test_physical_hash(s.world);
        end();
    }
    ck_assert_uint_eq(logical[0], logical[1]);
    ck_assert_uint_ne(physical[0], physical[1]);
}

// --- The numbers ---

// By definition the same on every machine. (The physical ones change with the order in which the
// library hands out rows and slots, so that none is written down.)
TEST(logical_hashes_are_these_numbers)
{
    test_world empty;

    begin(false);
    ck_assert_uint_eq(test_logical_hash(s.world), UINT64_C(4511362052893497625));
    end();
    test_world_begin(&empty, TAG, NULL);
    ck_assert_uint_eq(test_logical_hash(empty.world), UINT64_C(7468891241374767604));
    test_world_end(&empty);
}

// --- The call ---

TEST(unknown_kind_of_hash_is_refused)
{
    uint64_t hash = 77;

    begin(false);
    ck_status(espl_hash(s.world, (espl_hash_kind)2, &hash), ESPL_ERR_ARGUMENT);
    ck_status(espl_hash(s.world, (espl_hash_kind)-1, &hash), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(hash, 77);
    ck_assert_uint_eq(s.test.hooks.traps, 0);
    end();
}

static void hash_inside(espl_writer *writer, const espl_query *rows, void *context)
{
    espl_status *const status = context;
    uint64_t hash = 77;

    (void)writer;
    *status = espl_hash(test_rows_world(rows), ESPL_HASH_LOGICAL, &hash);
    ck_assert_uint_eq(hash, 77);
}

TEST(hashing_is_refused_while_a_parallel_write_is_under_way)
{
    espl_status status = ESPL_OK;
    const espl_parallel_def def = {.function = hash_inside, .context = &status};

    begin(false);
    ck_ok(espl_write_parallel(s.world, &def, NULL));
    ck_status(status, ESPL_ERR_BUSY);
    end();
}

TEST(hashing_is_a_read_within_an_iteration)
{
    espl_query query;

    begin(false);
    const uint64_t hash = test_logical_hash(s.world);

    ck_ok(espl_query_begin(s.world, NULL, &query));
    ck_assert_uint_eq(test_logical_hash(s.world), hash);
    espl_query_end(&query);
    end();
}

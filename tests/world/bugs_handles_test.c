// SPDX-License-Identifier: MIT
// Faults that other systems of this kind have had with cycles and with stale handles, each as a test
// that would have caught it here. The letters name the entry in tests/BUGS.md.
#include "tests/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

static const espl_attach_options keep_local = {
    .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

static espl_entity with(espl_world *world, espl_component component)
{
    const espl_component set[2] = {ESPL_TRANSFORM, component};
    espl_entity entity = {0};

    ck_assert_int_eq(espl_create(world, set, 2, 1, &entity), ESPL_OK);
    return entity;
}

static espl_component registered(espl_world *world, const char *name, size_t size)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = size == 0 ? 1 : 4};
    espl_component out = 0;

    ck_assert_int_eq(espl_component_register(world, &def, &out), ESPL_OK);
    return out;
}

// --- A: cycles and self-parents ---

enum { TREE_LIMIT = 8 };

// The next of all ordered trees with `count` nodes, numbered breadth-first: parents never go down.
static bool next_tree(uint32_t *parent, uint32_t count)
{
    for (uint32_t i = count - 1; i > 1; --i) {
        if (parent[i] + 1 < i) {
            parent[i] += 1;
            for (uint32_t k = i + 1; k < count; ++k) {
                parent[k] = parent[i];
            }
            return true;
        }
    }
    return false;
}

static bool is_above(const uint32_t *parent, uint32_t above, uint32_t node)
{
    while (node != above && node != 0) {
        node = parent[node];
    }
    return node == above;
}

// Every move of a node below itself, at once and recorded. @return how many there were.
static size_t refuse_cycles(espl_world *world, const uint32_t *parent, uint32_t count)
{
    espl_entity *const node = plant_forest(world, parent, count);
    const uint64_t before = test_physical_hash(world);
    espl_command_buffer *commands = NULL;
    espl_report report;
    size_t moves = 0;

    ck_assert_int_eq(espl_command_buffer_create(world, 1, &commands), ESPL_OK);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = i; k < count; ++k) {
            if (is_above(parent, i, k)) {
                ck_assert_int_eq(espl_attach(world, node[i], node[k], NULL), ESPL_ERR_CYCLE);
                ck_assert_int_eq(espl_record_attach(recorder, 0, node[i], node[k], &keep_local),
                                 ESPL_OK);
                moves += 1;
            }
        }
    }
    ck_assert_int_eq(espl_play(world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_CYCLE], moves);
    ck_assert_uint_eq(report.applied, 0);
    ck_assert_uint_eq(test_physical_hash(world), before);
    espl_command_buffer_destroy(commands);
    free(node);
    return moves;
}

START_TEST(a2_d5_each_illegal_move_in_each_tree_of_eight_nodes_is_refused)
{
    // What each size adds: the sum of all nodes' depths, counted from 1, over all trees of it.
    static const size_t expected[TREE_LIMIT + 1] = {0, 1, 3, 11, 42, 163, 638, 2510, 9908};

    for (uint32_t count = 1; count <= TREE_LIMIT; ++count) {
        uint32_t parent[TREE_LIMIT] = {PLANT_ROOT};
        size_t moves = 0;

        do {
            test_world test;

            test_world_begin(&test, 0, NULL);
            moves += refuse_cycles(test.world, parent, count);
            test_world_end(&test);
        } while (next_tree(parent, count));
        ck_assert_uint_eq(moves, expected[count]);
    }
}
END_TEST

// The refusal is a status, no assertion: builds without checks know it just as well.
START_TEST(a5_a_descendant_is_refused_as_a_parent_without_any_check_of_the_build)
{
    enum { DEPTH = 50 };
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_entity *const node = plant_chain(test.world, DEPTH);
    const uint64_t before = test_physical_hash(test.world);
    test.hooks.lines = 0;

    for (uint32_t i = 0; i < DEPTH; ++i) {
        ck_assert_int_eq(espl_attach(test.world, node[0], node[i], NULL), ESPL_ERR_CYCLE);
        ck_assert_int_eq(espl_attach(test.world, node[i], node[DEPTH - 1], NULL), ESPL_ERR_CYCLE);
    }
    ck_assert_uint_eq(test.hooks.traps, 0);
    ck_assert_uint_eq(test.hooks.lines, (size_t)2 * DEPTH);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    free(node);
    test_world_end(&test);
}
END_TEST

// --- B: stale handles ---

// Every handle that a world gave out, and whether it should live.
typedef struct book {
    espl_entity handle[512];
    bool is_living[512];
    size_t count, living;
} book;

static void note(book *b, espl_entity entity)
{
    ck_assert_uint_lt(b->count, 512);
    for (size_t i = 0; i < b->count; ++i) {
        ck_assert(!espl_entity_equal(b->handle[i], entity)); // never given out before
    }
    b->handle[b->count] = entity;
    b->is_living[b->count++] = true;
    b->living += 1;
}

static void strike_out(book *b, espl_world *world, size_t at)
{
    ck_assert_int_eq(espl_destroy(world, b->handle[at], ESPL_EXTENT_OWNED), ESPL_OK);
    b->is_living[at] = false;
    b->living -= 1;
}

// Some living entry; there is one.
static size_t pick(const book *b, uint64_t *random)
{
    size_t at = test_below(random, (uint32_t)b->count);

    while (!b->is_living[at]) {
        at = (at + 1) % b->count;
    }
    return at;
}

// The world knows the living by exactly these handles, in queries too, and none of the others.
static void check_book(const book *b, espl_world *world)
{
    espl_query query;
    size_t met = 0;

    for (size_t i = 0; i < b->count; ++i) {
        ck_assert(espl_is_alive(world, b->handle[i]) == b->is_living[i]);
    }
    ck_assert_int_eq(espl_query_begin(world, NULL, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row, ++met) {
            size_t at = 0;

            while (at < b->count && !espl_entity_equal(b->handle[at], query.entities[row])) {
                at += 1;
            }
            ck_assert(at < b->count && b->is_living[at]);
        }
    }
    ck_assert_uint_eq(met, b->living);
}

START_TEST(b4_a_handle_comes_back_bit_for_bit_and_names_one_life_only)
{
    uint64_t random = 4;
    book b = {.count = 0};
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (int step = 0; step < 600 && b.count < 500; ++step) {
        if (b.living < 2 || (b.living < 30 && test_one_in(&random, 2))) {
            note(&b, test_solo(test.world));
        } else {
            strike_out(&b, test.world, pick(&b, &random));
        }
        if (b.living >= 2 && test_one_in(&random, 4)) {
            const espl_entity child = b.handle[pick(&b, &random)];
            const espl_entity parent = b.handle[pick(&b, &random)];
            const espl_attach_options options = {.link = ESPL_LINK_FREE};

            if (espl_attach(test.world, child, parent, &options) == ESPL_OK) {
                ck_assert(espl_entity_equal(espl_get_parent(test.world, child), parent));
            }
        }
        check_book(&b, test.world);
    }
    test_world_end(&test);
}
END_TEST

// However an entity is made: created, cloned at once, cloned by a playback, after a trim.
START_TEST(b7_the_generation_of_an_index_only_goes_up)
{
    enum { INDICES = 64 };
    const uint32_t lives = (uint32_t)test_limits_of_build().lives;
    uint32_t last[INDICES] = {0};
    test_world test;

    test_world_begin(&test, 9, NULL);
    const espl_entity source = test_solo(test.world);
    for (uint32_t round = 0; round < 12 && round < lives; ++round) {
        const espl_instance_def def = {.source = source};
        espl_entity made[9];
        espl_command_buffer *commands = NULL;

        ck_assert_int_eq(espl_create(test.world, NULL, 0, 3, made), ESPL_OK);
        ck_assert_int_eq(espl_instantiate(test.world, source, 3, made + 3), ESPL_OK);
        ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
        ck_assert_int_eq(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def,
                                                 3, made + 6),
                         ESPL_OK);
        ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
        for (int i = 6; i < 9; ++i) {
            ck_assert_int_eq(espl_command_buffer_resolve(commands, made[i], &made[i]), ESPL_OK);
        }
        espl_command_buffer_destroy(commands);
        for (int i = 0; i < 9; ++i) {
            ck_assert_uint_lt(made[i].index, INDICES);
            ck_assert_uint_gt(made[i].generation, last[made[i].index]);
            last[made[i].index] = made[i].generation;
            ck_assert_int_eq(espl_destroy(test.world, made[(i * 4) % 9], ESPL_EXTENT_OWNED),
                             ESPL_OK);
        }
        ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
    }
    test_world_end(&test);
}
END_TEST

// --- B: rows ---

enum { HERD = 40, KINDS = 3 };

// Entities that carry their own number, in archetypes that come and go.
typedef struct herd {
    test_world test;
    espl_world *world;
    espl_component number, tag[KINDS];
    espl_entity entity[HERD];
} herd;

static void herd_birth(herd *h, uint32_t i)
{
    h->entity[i] = with(h->world, h->number);
    ck_assert_int_eq(espl_set_component(h->world, h->entity[i], h->number, &i, sizeof i), ESPL_OK);
}

static void herd_begin(herd *h)
{
    static const char *const names[KINDS] = {"a", "b", "c"};

    memset(h, 0, sizeof *h);
    test_world_begin(&h->test, 0, NULL);
    h->world = h->test.world;
    h->number = registered(h->world, "number", sizeof(uint32_t));
    for (int k = 0; k < KINDS; ++k) {
        h->tag[k] = registered(h->world, names[k], 0);
    }
    for (uint32_t i = 0; i < HERD; ++i) {
        herd_birth(h, i);
    }
}

// From both sides: by the handle, and along the rows.
static void herd_check(const herd *h)
{
    espl_query query;
    size_t met = 0;

    for (uint32_t i = 0; i < HERD; ++i) {
        uint32_t number = UINT32_MAX;

        ck_assert_int_eq(
            espl_get_component(h->world, h->entity[i], h->number, &number, sizeof number), ESPL_OK);
        ck_assert_uint_eq(number, i);
    }
    ck_assert_int_eq(espl_query_begin(h->world, NULL, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        const uint32_t *const column = espl_query_read(&query, h->number, sizeof *column);

        ck_assert_ptr_nonnull(column);
        for (size_t row = 0; row < query.count; ++row, ++met) {
            ck_assert_uint_lt(column[row], HERD);
            ck_assert(espl_entity_equal(query.entities[row], h->entity[column[row]]));
        }
    }
    ck_assert_uint_eq(met, HERD);
    test_world_is_valid(h->world);
}

START_TEST(b10_each_row_follows_its_entity_through_adds_removes_and_destroys)
{
    uint64_t random = 10;
    herd h;

    herd_begin(&h);
    for (int step = 0; step < 300; ++step) {
        const uint32_t i = test_below(&random, HERD);
        const espl_component tag = h.tag[test_below(&random, KINDS)];

        switch (test_below(&random, 8)) {
        case 0:
            ck_assert_int_eq(espl_destroy(h.world, h.entity[i], ESPL_EXTENT_ENTITY), ESPL_OK);
            herd_birth(&h, i);
            break;
        case 1:
        case 2:
            ck_assert_int_eq(espl_remove_component(h.world, h.entity[i], tag), ESPL_OK);
            break;
        case 3:
            (void)!espl_attach(h.world, h.entity[i], h.entity[test_below(&random, HERD)], NULL);
            break;
        default:
            ck_assert_int_eq(espl_add_component(h.world, h.entity[i], tag, NULL, 0), ESPL_OK);
        }
        herd_check(&h);
    }
    test_world_end(&h.test);
}
END_TEST

// A parent that loses its last child changes its archetype, and so do the rows beside it.
START_TEST(b11_a_parent_is_found_where_it_is_after_its_children_left)
{
    herd h;

    herd_begin(&h);
    for (uint32_t i = 0; i < HERD - 4; i += 4) {
        for (uint32_t k = 1; k < 4; ++k) {
            ck_assert_int_eq(espl_attach(h.world, h.entity[i + k], h.entity[i], NULL), ESPL_OK);
        }
    }
    for (uint32_t i = 0; i < HERD - 4; i += 4) {
        ck_assert_int_eq(espl_detach(h.world, h.entity[i + 2], ESPL_KEEP_WORLD), ESPL_OK);
        ck_assert_int_eq(espl_attach(h.world, h.entity[i + 1], h.entity[HERD - 1], NULL), ESPL_OK);
        ck_assert(espl_has_component(h.world, h.entity[i], ESPL_ROOT));
        herd_check(&h);
        ck_assert_int_eq(espl_destroy(h.world, h.entity[i + 3], ESPL_EXTENT_OWNED), ESPL_OK);
        herd_birth(&h, i + 3);
        ck_assert(espl_has_component(h.world, h.entity[i], ESPL_SOLO));
        ck_assert_int_eq(espl_get_role(h.world, h.entity[i]), ESPL_ROLE_SOLO);
        herd_check(&h);
    }
    test_world_end(&h.test);
}
END_TEST

// --- B: what was cached of a life before ---

static bool is_asked_for(const herd *h, espl_component wanted, espl_component unwanted, uint32_t i)
{
    return espl_has_component(h->world, h->entity[i], wanted) &&
           !espl_has_component(h->world, h->entity[i], unwanted);
}

// A query gives what the components say one by one, whose tops live.
static void compare_query(const herd *h, espl_component wanted, espl_component unwanted)
{
    const espl_query_def def = {.all = &wanted, .all_count = 1, .none = &unwanted, .none_count = 1};
    bool is_met[HERD] = {false};
    espl_query query;

    ck_assert_int_eq(espl_query_begin(h->world, &def, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            uint32_t i = 0;

            while (i < HERD && !espl_entity_equal(h->entity[i], query.entities[row])) {
                i += 1;
            }
            ck_assert(i < HERD && !is_met[i]);
            is_met[i] = true;
            ck_assert(espl_is_alive(h->world, espl_get_root(h->world, query.entities[row])));
        }
    }
    for (uint32_t i = 0; i < HERD; ++i) {
        ck_assert(is_met[i] == is_asked_for(h, wanted, unwanted, i));
    }
}

START_TEST(b13_queries_answer_for_the_living_after_indices_were_used_again)
{
    uint64_t random = 13;
    herd h;

    herd_begin(&h);
    for (int step = 0; step < 300; ++step) {
        const uint32_t i = test_below(&random, HERD), k = test_below(&random, HERD);

        if (test_one_in(&random, 3)) {
            ck_assert_int_eq(espl_destroy(h.world, h.entity[i], ESPL_EXTENT_ENTITY), ESPL_OK);
            herd_birth(&h, i);
        }
        (void)!espl_attach(h.world, h.entity[i], h.entity[k], NULL);
        ck_assert_int_eq(espl_add_component(h.world, h.entity[k], h.tag[step % KINDS], NULL, 0),
                         ESPL_OK);
        compare_query(&h, h.tag[0], h.tag[1]);
        compare_query(&h, ESPL_MEMBER, h.tag[2]);
        compare_query(&h, ESPL_ROOT, ESPL_PREFAB);
        compare_query(&h, ESPL_SOLO, h.tag[0]);
    }
    test_world_end(&h.test);
}
END_TEST

// The nearest thing to a store that is saved and loaded: everything is laid out anew.
START_TEST(b14_old_handles_mean_after_a_trim_what_they_meant_before)
{
    uint64_t random = 14;
    book b = {.count = 0};
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (int round = 0; round < 8; ++round) {
        for (int i = 0; i < 5; ++i) {
            note(&b, test_solo_at(test.world, (float)round, (float)i, 0));
        }
        const espl_entity parent = b.handle[b.count - 1];
        for (size_t i = b.count - 5; i < b.count - 1; ++i) {
            ck_assert_int_eq(espl_attach(test.world, b.handle[i], parent, NULL), ESPL_OK);
        }
        for (int i = 0; i < 3; ++i) {
            const size_t at = pick(&b, &random);

            ck_assert_int_eq(espl_destroy(test.world, b.handle[at], ESPL_EXTENT_ENTITY), ESPL_OK);
            b.is_living[at] = false;
            b.living -= 1;
        }
        ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
        check_book(&b, test.world);
        test_world_is_valid(test.world);
    }
    test_world_end(&test);
}
END_TEST

// --- B: ancestors ---

static void check_ancestors(const herd *h, const uint32_t *parent)
{
    for (uint32_t i = 0; i < HERD; ++i) {
        uint32_t depth = 0, top = i;
        bool is_above[HERD] = {false};

        for (; parent[top] != PLANT_ROOT; top = parent[top], ++depth) {
            is_above[parent[top]] = true;
        }
        const espl_entity up = parent[i] == PLANT_ROOT ? espl_entity_null() : h->entity[parent[i]];
        ck_assert(espl_entity_equal(espl_get_parent(h->world, h->entity[i]), up));
        ck_assert(espl_entity_equal(espl_get_root(h->world, h->entity[i]), h->entity[top]));
        ck_assert_uint_eq(espl_get_depth(h->world, h->entity[i]), depth);
        for (uint32_t k = 0; k < HERD; ++k) {
            ck_assert(espl_is_ancestor(h->world, h->entity[k], h->entity[i]) == is_above[k]);
        }
    }
}

static void leave_to_grandparent(uint32_t *parent, uint32_t dead)
{
    for (uint32_t i = 0; i < HERD; ++i) {
        parent[i] = parent[i] == dead ? parent[dead] : parent[i];
    }
    parent[dead] = PLANT_ROOT;
}

START_TEST(b15_ancestors_are_current_after_rows_moved_and_entities_died)
{
    uint64_t random = 15;
    uint32_t parent[HERD];
    herd h;

    herd_begin(&h);
    for (uint32_t i = 0; i < HERD; ++i) {
        parent[i] = PLANT_ROOT;
    }
    for (int step = 0; step < 300; ++step) {
        const uint32_t i = test_below(&random, HERD), k = test_below(&random, HERD);

        if (espl_attach(h.world, h.entity[i], h.entity[k], NULL) == ESPL_OK) {
            parent[i] = k;
        }
        ck_assert_int_eq(espl_add_component(h.world, h.entity[k], h.tag[step % KINDS], NULL, 0),
                         ESPL_OK);
        ck_assert_int_eq(espl_remove_component(h.world, h.entity[i], h.tag[step % KINDS]), ESPL_OK);
        if (test_one_in(&random, 4)) {
            ck_assert_int_eq(espl_destroy(h.world, h.entity[k], ESPL_EXTENT_ENTITY), ESPL_OK);
            leave_to_grandparent(parent, k);
            herd_birth(&h, k);
        }
        check_ancestors(&h, parent);
    }
    test_world_end(&h.test);
}
END_TEST

static Suite *bugs_suite(void)
{
    Suite *const suite = suite_create("bugs with handles");
    TCase *const cycles = tcase_create("cycles"), *const handles = tcase_create("handles");

    tcase_set_timeout(cycles, 120);
    tcase_add_test(cycles, a2_d5_each_illegal_move_in_each_tree_of_eight_nodes_is_refused);
    tcase_add_test(cycles, a5_a_descendant_is_refused_as_a_parent_without_any_check_of_the_build);
    suite_add_tcase(suite, cycles);
    tcase_set_timeout(handles, 120);
    tcase_add_test(handles, b4_a_handle_comes_back_bit_for_bit_and_names_one_life_only);
    tcase_add_test(handles, b7_the_generation_of_an_index_only_goes_up);
    tcase_add_test(handles, b10_each_row_follows_its_entity_through_adds_removes_and_destroys);
    tcase_add_test(handles, b11_a_parent_is_found_where_it_is_after_its_children_left);
    tcase_add_test(handles, b13_queries_answer_for_the_living_after_indices_were_used_again);
    tcase_add_test(handles, b14_old_handles_mean_after_a_trim_what_they_meant_before);
    tcase_add_test(handles, b15_ancestors_are_current_after_rows_moved_and_entities_died);
    suite_add_tcase(suite, handles);
    return suite;
}

RUN_SUITE(bugs_suite)

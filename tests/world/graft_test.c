// SPDX-License-Identifier: MIT
// Two ways to one structure: calls at once, and the same work recorded and played. Twin worlds take the
// two ways and must agree bit for bit, entity by entity and, where both trees are laid out, rank by rank.
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <math.h>
#include <string.h>

enum { ENTITY_LIMIT = 160 };

typedef struct twins {
    test_world at_once, recorded;
    espl_command_buffer *commands;
    espl_entity entities[ENTITY_LIMIT]; // the same in both
    uint32_t count;
    uint64_t random;
} twins;

static void twins_begin(twins *t, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    t->random = seed;
    test_world_begin(&t->at_once, 7, NULL);
    test_world_begin(&t->recorded, 7, NULL);
    ck_assert_int_eq(espl_command_buffer_create(t->recorded.world, 1, &t->commands), ESPL_OK);
}

static void twins_end(twins *t)
{
    espl_command_buffer_destroy(t->commands);
    test_world_end(&t->at_once);
    test_world_end(&t->recorded);
}

static espl_transform random_transform(twins *t)
{
    espl_transform out = test_at(test_between(&t->random, -4, 4), test_between(&t->random, -4, 4),
                                 test_between(&t->random, -4, 4));

    for (int i = 0; i < 4; ++i) {
        out.rotation[i] = test_between(&t->random, -1, 1);
    }
    out.scale = test_between(&t->random, 0.5f, 2);
    if (test_one_in(&t->random, 6)) {
        out.stretch[test_below(&t->random, 3)] = test_between(&t->random, 0.5f, 2);
        out.user_data = test_below(&t->random, 5);
    }
    return out;
}

static void twins_add(twins *t, uint32_t plain_one_in)
{
    const espl_component placement = ESPL_TRANSFORM;
    const bool is_placed = plain_one_in == 0 || !test_one_in(&t->random, plain_one_in);
    espl_entity other;

    ck_assert_int_eq(
        espl_create(t->at_once.world, &placement, is_placed ? 1 : 0, 1, &t->entities[t->count]),
        ESPL_OK);
    ck_assert_int_eq(espl_create(t->recorded.world, &placement, is_placed ? 1 : 0, 1, &other),
                     ESPL_OK);
    ck_assert(espl_entity_equal(other, t->entities[t->count]));
    if (is_placed) {
        const espl_transform value = random_transform(t);

        ck_assert_int_eq(espl_set_local_transform(t->at_once.world, other, &value), ESPL_OK);
        ck_assert_int_eq(espl_set_local_transform(t->recorded.world, other, &value), ESPL_OK);
    }
    t->count += 1;
}

static espl_entity pick(twins *t)
{
    return t->entities[test_below(&t->random, t->count)];
}

// What the recorded command came to, or why the playback was refused.
static espl_status played(twins *t)
{
    espl_report report;
    const espl_status status = espl_play(t->recorded.world, t->commands, &report);
    const espl_status result = espl_command_buffer_result(t->commands, 0, 0);

    espl_command_buffer_reset(t->commands);
    if (status != ESPL_OK) {
        return status;
    }
    return result >= 0 && report.overflowed != 0 ? ESPL_OVERFLOW : result;
}

static espl_keep random_stay(twins *t)
{
    static const espl_keep stays[] = {ESPL_KEEP_WORLD, ESPL_KEEP_LOCAL, ESPL_SNAP};

    return stays[test_below(&t->random, 3)];
}

// A child of the parent now and then, else anybody or nobody.
static espl_entity random_before(twins *t, espl_entity parent)
{
    const size_t children = espl_count_children(t->at_once.world, parent);

    if (children == 0 || test_one_in(&t->random, 3)) {
        return test_one_in(&t->random, 8) ? pick(t) : espl_entity_null();
    }
    return espl_get_child(t->at_once.world, parent, test_below(&t->random, (uint32_t)children));
}

static void attach(twins *t, uint32_t flags_one_in)
{
    const espl_entity child = pick(t), parent = pick(t);
    const bool keeps = flags_one_in != 0 && test_one_in(&t->random, flags_one_in);
    const espl_attach_options options = {
        .position = random_stay(t),
        .rotation = random_stay(t),
        .scale = random_stay(t),
        .link = test_one_in(&t->random, 3) ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
        .before = random_before(t, parent),
        .inherit = !keeps                       ? 0
                   : test_one_in(&t->random, 4) ? ESPL_COPY_PARENT
                                                : test_below(&t->random, 128),
    };
    espl_recorder *const recorder = espl_command_buffer_recorder(t->commands, 0);
    const espl_status status = espl_attach(t->at_once.world, child, parent, &options);

    ck_assert_int_eq(espl_record_attach(recorder, 0, child, parent, &options), ESPL_OK);
    ck_assert_int_eq(played(t), status);
}

static void detach(twins *t)
{
    const espl_entity entity = pick(t);
    const espl_keep stay = random_stay(t);
    espl_recorder *const recorder = espl_command_buffer_recorder(t->commands, 0);
    const espl_status status = espl_detach(t->at_once.world, entity, stay);

    ck_assert_int_eq(espl_record_detach(recorder, 0, entity, stay), ESPL_OK);
    ck_assert_int_eq(played(t), status);
}

static void set_sibling(twins *t)
{
    const espl_entity entity = pick(t);
    const espl_entity before = random_before(t, espl_get_parent(t->at_once.world, entity));
    espl_recorder *const recorder = espl_command_buffer_recorder(t->commands, 0);
    const espl_status status = espl_set_sibling(t->at_once.world, entity, before);

    ck_assert_int_eq(espl_record_set_sibling(recorder, 0, entity, before), ESPL_OK);
    ck_assert_int_eq(played(t), status);
}

// Dead ones are forgotten by moving the last entity in their place.
static void destroy_only(twins *t, uint32_t plain_one_in)
{
    const uint32_t at = test_below(&t->random, t->count);
    const espl_entity entity = t->entities[at];

    ck_assert_int_eq(espl_destroy(t->at_once.world, entity, ESPL_EXTENT_ENTITY), ESPL_OK);
    ck_assert_int_eq(espl_destroy(t->recorded.world, entity, ESPL_EXTENT_ENTITY), ESPL_OK);
    t->entities[at] = t->entities[--t->count];
    twins_add(t, plain_one_in);
}

// Check writes a line for each of its assertions, which is too much for each entity of each step.
#define demand(condition) ((condition) ? (void)0 : ck_abort_msg("not so: " #condition))

static void compare_links(const twins *t, espl_entity entity)
{
    const espl_world *const a = t->at_once.world, *const b = t->recorded.world;

    demand(espl_get_role(a, entity) == espl_get_role(b, entity));
    demand(espl_get_link(a, entity) == espl_get_link(b, entity));
    demand(espl_entity_equal(espl_get_parent(a, entity), espl_get_parent(b, entity)));
    demand(espl_entity_equal(espl_get_first_child(a, entity), espl_get_first_child(b, entity)));
    demand(espl_entity_equal(espl_get_next_sibling(a, entity), espl_get_next_sibling(b, entity)));
    if (test_is_laid_out(a, entity) && test_is_laid_out(b, entity)) {
        demand(espl_get_rank(a, entity) == espl_get_rank(b, entity));
    }
}

static void compare_values(const twins *t, espl_entity entity)
{
    espl_transform a, b;
    const espl_status status = espl_get_world_transform(t->at_once.world, entity, &a);

    demand(espl_get_world_transform(t->recorded.world, entity, &b) == status);
    if (status != ESPL_OK) {
        return;
    }
    demand(test_same(&a, &b));
    demand(espl_get_local_transform(t->at_once.world, entity, &a) == ESPL_OK);
    demand(espl_get_local_transform(t->recorded.world, entity, &b) == ESPL_OK);
    demand(test_same(&a, &b));
    demand(espl_get_inherit(t->at_once.world, entity) ==
           espl_get_inherit(t->recorded.world, entity));
}

static void compare(const twins *t)
{
    for (uint32_t i = 0; i < t->count; ++i) {
        compare_links(t, t->entities[i]);
        compare_values(t, t->entities[i]);
    }
    test_world_is_valid(t->at_once.world);
    test_world_is_valid(t->recorded.world);
}

typedef struct style {
    uint32_t entities, steps;
    uint32_t plain_one_in, flags_one_in, destroy_one_in; // 0: never
} style;

static void run_twins(uint64_t seed, style s)
{
    static twins t;

    twins_begin(&t, seed);
    for (uint32_t i = 0; i < s.entities; ++i) {
        twins_add(&t, s.plain_one_in);
    }
    for (uint32_t i = 0; i < s.steps; ++i) {
        const uint32_t kind = test_below(&t.random, 10);

        if (s.destroy_one_in != 0 && test_one_in(&t.random, s.destroy_one_in)) {
            destroy_only(&t, s.plain_one_in);
        } else if (kind < 6) {
            attach(&t, s.flags_one_in);
        } else if (kind < 7) {
            detach(&t);
        } else {
            set_sibling(&t);
        }
        if (i % 8 == 0 || s.entities < 12) {
            compare(&t);
        }
    }
    compare(&t);
    twins_end(&t);
}

static void run_styles(style s, uint32_t seeds)
{
    for (uint32_t seed = 1; seed <= test_scaled(seeds); ++seed) {
        run_twins(seed * 0x9e3779b97f4a7c15u + s.entities, s);
    }
}

START_TEST(small_hierarchies_come_out_alike)
{
    run_styles((style){5, 60, 0, 0, 0}, 1600);
    run_styles((style){9, 80, 0, 0, 0}, 800);
}
END_TEST

START_TEST(larger_hierarchies_come_out_alike)
{
    run_styles((style){40, 400, 0, 0, 0}, 120);
    run_styles((style){test_fitting(150, 0), 1500, 0, 0, 0}, 24);
}
END_TEST

START_TEST(hierarchies_with_flags_and_pass_throughs_come_out_alike)
{
    run_styles((style){7, 100, 5, 3, 0}, 800);
    run_styles((style){40, 500, 5, 4, 0}, 60);
}
END_TEST

START_TEST(hierarchies_with_dead_members_come_out_alike)
{
    run_styles((style){8, 100, 6, 8, 6}, 800);
    run_styles((style){60, 800, 6, 8, 9}, 60);
}
END_TEST

static espl_world_stats stats_of(const espl_world *world)
{
    espl_world_stats stats;

    espl_stats(world, &stats);
    return stats;
}

// A root with some children, of which the last has all others below it.
static void make_broom(test_world *test, espl_entity *entities, size_t count, size_t children)
{
    const espl_component placement = ESPL_TRANSFORM;
    espl_command_buffer *commands = NULL;

    ck_assert_int_eq(espl_create(test->world, &placement, 1, count, entities), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_create(test->world, 1, &commands), ESPL_OK);
    for (size_t i = 1; i < count; ++i) {
        ck_assert_int_eq(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0,
                                            entities[i], entities[i <= children ? 0 : children],
                                            NULL),
                         ESPL_OK);
    }
    ck_assert_int_eq(espl_play(test->world, commands, NULL), ESPL_OK);
    espl_command_buffer_destroy(commands);
}

START_TEST(an_edit_of_a_large_hierarchy_recomputes_what_it_moves)
{
    enum { COUNT = 4000 };
    static espl_entity entities[COUNT];
    const size_t count = test_fitting(COUNT, 1);
    test_world test;
    espl_entity guest;

    test_world_begin(&test, 1, NULL);
    make_broom(&test, entities, count, count - 1);
    guest = test_solo_at(test.world, 1, 2, 3);
    const espl_world_stats before = stats_of(test.world);

    ck_assert_int_eq(espl_attach(test.world, guest, entities[0], NULL), ESPL_OK);
    ck_assert_int_eq(espl_set_sibling(test.world, guest, entities[count / 2]), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, guest, entities[count / 3], NULL), ESPL_OK);
    ck_assert_int_eq(espl_detach(test.world, guest, ESPL_KEEP_WORLD), ESPL_OK);
    const espl_world_stats after = stats_of(test.world);

    ck_assert_uint_le(after.nodes_visited - before.nodes_visited, 4);
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

START_TEST(a_move_among_siblings_recomputes_nothing)
{
    enum { COUNT = 4000 };
    static espl_entity entities[COUNT];
    const uint32_t count = test_fitting(COUNT, 0), children = count == COUNT ? 40 : 8;
    test_world test;

    test_world_begin(&test, 1, NULL);
    make_broom(&test, entities, count, children);
    const espl_world_stats before = stats_of(test.world);

    ck_assert_int_eq(espl_set_sibling(test.world, entities[children / 4], entities[children / 2]),
                     ESPL_OK);
    const espl_world_stats after = stats_of(test.world);

    ck_assert_uint_eq(after.nodes_visited, before.nodes_visited);
    ck_assert(espl_entity_equal(espl_get_child(test.world, entities[0], children / 2 - 2),
                                entities[children / 4]));
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

// Each allocation of an attach that takes a new range, side arrays and rows fails in its turn.
START_TEST(an_attach_without_memory_changes_nothing)
{
    const espl_attach_options options = {.inherit = ESPL_ABSOLUTE_X};

    for (size_t fail_at = 1;; ++fail_at) {
        test_world test;
        espl_status status = ESPL_OK;

        test_world_begin(&test, 1, NULL);
        const espl_entity parent = test_solo(test.world);
        const espl_entity child = test_solo_at(test.world, 1, 2, 3);
        const uint64_t hash = test_physical_hash(test.world);

        test_heap_arm(&test.heap, fail_at, false);
        status = espl_attach(test.world, child, parent, &options);
        const bool has_failed = test.heap.failures != 0;

        test_heap_arm(&test.heap, 0, false);
        ck_assert_int_eq(status, has_failed ? ESPL_ERR_NO_MEMORY : ESPL_OK);
        ck_assert(!has_failed || test_physical_hash(test.world) == hash);
        test_world_is_valid(test.world);
        if (has_failed) {
            ck_assert_int_eq(espl_attach(test.world, child, parent, &options), ESPL_OK);
        }
        test_world_end(&test);
        if (!has_failed) {
            ck_assert_uint_gt(fail_at, 3);
            return;
        }
    }
}
END_TEST

// The same where a member stays with its parent and moves before a sibling, with flags of its own.
START_TEST(a_move_among_siblings_without_memory_changes_nothing)
{
    size_t failures = 0;

    for (size_t fail_at = 1;; ++fail_at) {
        test_world test;

        test_world_begin(&test, 1, NULL);
        const espl_entity parent = test_solo(test.world);
        espl_entity child[4];

        for (int i = 0; i < 4; ++i) {
            child[i] = test_solo_at(test.world, (float)i, 2, 3);
            ck_assert_int_eq(espl_attach(test.world, child[i], parent, NULL), ESPL_OK);
        }
        const espl_attach_options options = {.before = child[1], .inherit = ESPL_ABSOLUTE_X};

        ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
        const uint64_t hash = test_physical_hash(test.world);

        test_heap_arm(&test.heap, fail_at, true);
        const espl_status status = espl_attach(test.world, child[3], parent, &options);

        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert(status == ESPL_OK || test_physical_hash(test.world) == hash);
        test_world_is_valid(test.world);
        failures += status != ESPL_OK ? 1 : 0;
        if (status != ESPL_OK) {
            ck_assert_int_eq(espl_attach(test.world, child[3], parent, &options), ESPL_OK);
        }
        ck_assert(espl_entity_equal(espl_get_child(test.world, parent, 1), child[3]));
        test_world_end(&test);
        if (status == ESPL_OK) {
            ck_assert_uint_gt(failures, 0);
            return;
        }
    }
}
END_TEST

// What is kept hides where a local would lead: no longer kept, its world overflows. Along X the way
// back is out of range too, so that the local stays what it was.
START_TEST(flags_that_go_may_let_a_world_overflow)
{
    const float far[3] = {1e20f, 1e20f, 0}, stretch[3] = {1e-30f, 1e30f, 1}, none[3] = {1, 1, 1};
    const espl_attach_options keep = {.inherit = ESPL_ABSOLUTE_POSITION};
    const espl_attach_options loose = {.link = ESPL_LINK_FREE};
    test_world test;

    for (int way = 0; way < 2; ++way) {
        test_world_begin(&test, 1, NULL);
        const espl_entity parent = test_solo(test.world), child = test_solo(test.world);

        ck_assert_int_eq(espl_attach(test.world, child, parent, &keep), ESPL_OK);
        ck_assert_int_eq(espl_set_world_position(test.world, child, far), ESPL_OK);
        ck_assert_int_eq(espl_set_stretch(test.world, parent, stretch), ESPL_OK);
        ck_assert_float_eq(test_world_of(test.world, child).position[1], far[1]);
        ck_assert_int_eq(way == 0 ? espl_attach(test.world, child, parent, &loose)
                                  : espl_set_inherit(test.world, child, 0),
                         ESPL_OVERFLOW);
        ck_assert_uint_eq(espl_get_inherit(test.world, child), 0);
        ck_assert_uint_eq(test_count_overflowed(test.world), 1);
        ck_assert_float_eq(test_local_of(test.world, child).position[0], far[0]);
        ck_assert(!isfinite(test_world_of(test.world, child).position[1]));

        // A world that is not finite cannot be kept.
        const uint64_t hash = test_physical_hash(test.world);
        ck_assert_int_eq(espl_set_inherit(test.world, child, ESPL_ABSOLUTE_POSITION),
                         ESPL_ERR_RANGE);
        ck_assert_int_eq(espl_attach(test.world, child, parent, &keep), ESPL_ERR_RANGE);
        ck_assert_int_eq(espl_detach(test.world, child, ESPL_KEEP_WORLD), ESPL_ERR_RANGE);
        ck_assert_uint_eq(test_physical_hash(test.world), hash);
        ck_assert_int_eq(espl_set_stretch(test.world, parent, none), ESPL_OK);
        ck_assert_uint_eq(test_count_overflowed(test.world), 0);
        ck_assert_float_eq(test_world_of(test.world, child).position[1], far[1]);
        test_world_end(&test);
    }
}
END_TEST

// A member whose only child died is detached; where that finds no memory, the world is sound.
START_TEST(a_detach_behind_a_death_without_memory_leaves_a_sound_world)
{
    for (size_t fail_at = 1;; ++fail_at) {
        test_world test;
        espl_entity entities[8];

        test_world_begin(&test, 1, NULL);
        make_broom(&test, entities, 8, 6);
        ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
        ck_assert_int_eq(espl_destroy(test.world, entities[7], ESPL_EXTENT_ENTITY), ESPL_OK);
        test_heap_arm(&test.heap, fail_at, true);
        const espl_status status = espl_detach(test.world, entities[6], ESPL_KEEP_WORLD);
        const bool has_failed = test.heap.failures != 0;

        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(test.world);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        if (status == ESPL_OK) {
            ck_assert_int_eq(espl_get_role(test.world, entities[6]), ESPL_ROLE_SOLO);
            ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
            ck_assert(espl_has_component(test.world, entities[6], ESPL_SOLO));
            test_world_is_valid(test.world);
        }
        test_world_end(&test);
        if (!has_failed) {
            break;
        }
    }
}
END_TEST

static Suite *graft_suite(void)
{
    Suite *const suite = suite_create("graft");
    TCase *const tcase = tcase_create("graft");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, small_hierarchies_come_out_alike);
    tcase_add_test(tcase, larger_hierarchies_come_out_alike);
    tcase_add_test(tcase, hierarchies_with_flags_and_pass_throughs_come_out_alike);
    tcase_add_test(tcase, hierarchies_with_dead_members_come_out_alike);
    tcase_add_test(tcase, an_edit_of_a_large_hierarchy_recomputes_what_it_moves);
    tcase_add_test(tcase, a_move_among_siblings_recomputes_nothing);
    tcase_add_test(tcase, an_attach_without_memory_changes_nothing);
    tcase_add_test(tcase, a_move_among_siblings_without_memory_changes_nothing);
    tcase_add_test(tcase, flags_that_go_may_let_a_world_overflow);
    tcase_add_test(tcase, a_detach_behind_a_death_without_memory_leaves_a_sound_world);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(graft_suite)

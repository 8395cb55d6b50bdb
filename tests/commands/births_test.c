// SPDX-License-Identifier: MIT
// Copies that come by themselves, and hierarchies and solos that go as a whole: which of them go
// the short way through plan and patch, each condition by itself, and that both ways come to the
// same.
#include "tests/commands/dock.h"
#include "tests/runner.h"

// --- Copies by themselves ---

static espl_instance_def birth_def(const dock *d, uint32_t source)
{
    espl_instance_def def = clone_def(d, source, source);

    def.parent = espl_entity_null();
    return def;
}

static void birth(dock *d, uint32_t source)
{
    const espl_instance_def def = birth_def(d, source);

    record_def(d, &def, 1);
}

static void copy_of_a_prefab(dock *d)
{
    birth(d, d->prefab);
}

static void copy_of_a_solo(dock *d)
{
    birth(d, d->solo);
}

static void copy_of_a_member(dock *d)
{
    birth(d, d->prefab + 1);
}

static void copy_of_a_ship(dock *d)
{
    birth(d, d->ship);
}

static void copy_of_a_leaf(dock *d)
{
    birth(d, leaf_of(d, d->ship, 0));
}

static void copy_in_the_world(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.place = ESPL_PLACE_WORLD;
    record_def(d, &def, 1);
}

static void copy_where_the_source_stands(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab + 1);

    def.place = ESPL_PLACE_SOURCE;
    record_def(d, &def, 1);
}

static void copy_that_is_stretched(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.transform.stretch[2] = 3;
    record_def(d, &def, 1);
}

static void copy_in_a_context(dock *d)
{
    espl_instance_def def = birth_def(d, d->solo);

    def.place = ESPL_PLACE_WORLD;
    def.transform.context = 7;
    record_def(d, &def, 1);
}

static void two_copies_by_one_command(dock *d)
{
    const espl_instance_def def = birth_def(d, d->prefab);

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 2, d->y.entities + d->y.count),
                     ESPL_OK);
    d->y.count += 2;
}

static void two_copies_by_two_commands(dock *d)
{
    copy_of_a_prefab(d);
    copy_of_a_prefab(d);
}

static void copy_with_values(dock *d)
{
    const uint32_t number = 99;
    const espl_component_value value = {
        .component = d->word, .data = &number, .size = sizeof number};
    espl_instance_def def = birth_def(d, d->prefab);

    def.values = &value;
    def.value_count = 1;
    record_def(d, &def, 1);
}

// Nobody stands before anybody without a parent.
static void copy_before_a_member(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.before = entity_of(d, d->ship + 1);
    record_def(d, &def, 1);
}

static void copy_before_the_dead(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    def.before = entity_of(d, d->solo);
    record_def(d, &def, 1);
}

static void copy_by_a_free_link_to_nobody(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.link = ESPL_LINK_FREE;
    record_def(d, &def, 1);
}

static void orphan_that_is_none(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.orphan = ESPL_ORPHAN_ROOT;
    record_def(d, &def, 1);
}

// It becomes a root, and its number is asked for though it names a parent.
static void orphan_of_the_dead(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->solo);

    def.orphan = ESPL_ORPHAN_ROOT;
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 1, &d->y.entities[d->y.count++]),
                     ESPL_OK);
}

static void copy_of_the_dead(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    birth(d, d->solo);
}

static void copy_of_what_has_a_free_link_below(dock *d)
{
    attach_free(d, d->solo, d->prefab);
    birth(d, d->prefab);
}

static void copy_of_who_hangs_by_a_free_link(dock *d)
{
    attach_free(d, d->other, d->prefab + 1);
    birth(d, d->other);
}

static void copy_of_a_copy(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    record_def(d, &def, 1);
    def.source = entity_of(d, d->y.count - 1);
    record_def(d, &def, 1);
}

static void copy_comes_and_goes(dock *d)
{
    copy_of_a_prefab(d);
    destroy(d, d->y.count - 1);
}

static void somebody_writes_to_the_copy(dock *d)
{
    const espl_transform value = test_at(4, 5, 6);

    copy_of_a_prefab(d);
    ck_assert_int_eq(espl_record_set_local(d->lane, 0, entity_of(d, d->y.count - 1), &value),
                     ESPL_OK);
}

static void somebody_attaches_the_copy(dock *d)
{
    copy_of_a_prefab(d);
    ck_assert_int_eq(
        espl_record_attach(d->lane, 0, entity_of(d, d->y.count - 1), entity_of(d, d->ship), NULL),
        ESPL_OK);
}

static void somebody_writes_to_the_source(dock *d)
{
    const espl_transform value = test_at(4, 4, 4);

    copy_of_a_prefab(d);
    ck_assert_int_eq(espl_record_set_local(d->lane, 1, entity_of(d, d->prefab + 2), &value),
                     ESPL_OK);
}

static void source_goes_behind_its_copy(dock *d)
{
    copy_of_a_prefab(d);
    destroy(d, d->prefab);
}

static void source_goes_before_its_copy(dock *d)
{
    destroy(d, d->prefab);
    copy_of_a_prefab(d);
}

static void copy_of_who_is_disabled(dock *d)
{
    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, d->prefab), ESPL_PREFAB, NULL, 0), ESPL_OK);
    ck_assert_int_eq(espl_disable(d->y.world, entity_of(d, d->prefab), ESPL_EXTENT_SUBTREE),
                     ESPL_OK);
    copy_of_a_prefab(d);
}

// --- Their sources ---

static void source_has_a_ghost(dock *d)
{
    make_ghost(d, d->other);
    birth(d, d->other);
}

static void source_is_stretched(dock *d)
{
    stretch(d, d->prefab + 1);
    copy_of_a_prefab(d);
}

static void source_has_no_placement(dock *d)
{
    birth(d, add_entity(d, espl_entity_null(), true));
}

static void source_has_a_member_without_placement(dock *d)
{
    (void)add_entity(d, entity_of(d, d->prefab), true);
    copy_of_a_prefab(d);
}

// Of such a hierarchy nobody is copied so, not even a leaf that has a placement.
static void source_stands_beside_somebody_without_placement(dock *d)
{
    (void)add_entity(d, entity_of(d, d->ship), true);
    copy_of_a_leaf(d);
}

static void source_refers(dock *d)
{
    refer(d, d->prefab);
    copy_of_a_prefab(d);
}

static void last_of_a_source_refers(dock *d)
{
    refer(d, d->prefab + PREFAB - 1);
    copy_of_a_prefab(d);
}

static void somebody_else_refers(dock *d)
{
    refer(d, d->ship + 2);
    copy_of_a_prefab(d);
}

// Who hangs below needs no number.
static uint32_t add_large(dock *d, uint32_t size, uint32_t reach)
{
    const uint32_t root = add_entity(d, espl_entity_null(), false);
    espl_entity last[8];

    last[0] = entity_of(d, root);
    for (uint32_t i = 1; i < size; ++i) {
        const uint32_t back = 1 + test_below(&d->y.random, reach < i ? reach : i);

        last[i % 8] = entity_of(d, add_entity(d, last[(i - back) % 8], false));
        d->y.count -= 1;
    }
    return root;
}

static void source_is_as_large_as_may_be(dock *d)
{
    birth(d, add_large(d, ESPL__SPLICE_MADE, 7));
}

static void source_is_a_little_too_large(dock *d)
{
    birth(d, add_large(d, ESPL__SPLICE_MADE + 1, 7));
}

static void source_is_as_deep_as_may_be(dock *d)
{
    birth(d, add_large(d, ESPL__SPLICE_MADE, 1));
}

// --- Far away ---

static espl_transform far_away(float x, float scale)
{
    espl_transform value = test_at(x, 0, 0);

    value.scale = scale;
    return value;
}

static void place(dock *d, uint32_t number, espl_transform value)
{
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, number), &value), ESPL_OK);
}

static void copy_is_far_but_finite(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    def.transform = far_away(-3e38f, 1);
    record_def(d, &def, 1);
}

static void solo_is_far_but_finite(dock *d)
{
    espl_instance_def def = birth_def(d, d->solo);

    def.place = ESPL_PLACE_WORLD;
    def.transform = far_away(3e38f, 1e30f);
    record_def(d, &def, 1);
}

// A position below the top that no top of such a scale may have.
static void child_overflows(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    place(d, d->prefab, far_away(0, 0.01f));
    place(d, d->prefab + 1, far_away(1e38f, 1));
    def.transform.scale = 10;
    record_def(d, &def, 1);
}

static void child_is_far_but_finite(dock *d)
{
    place(d, d->prefab, far_away(0, 0.01f));
    place(d, d->prefab + 1, far_away(1e38f, 1));
    birth(d, d->prefab);
}

static void top_makes_its_children_overflow(dock *d)
{
    espl_instance_def def = birth_def(d, d->prefab);

    for (uint32_t i = 0; i < PREFAB; ++i) {
        place(d, d->prefab + i, far_away(1000, 1));
    }
    def.transform = far_away(0, 3e38f);
    record_def(d, &def, 1);
}

// Each scale is small by itself.
static void scales_overflow_on_the_way_down(dock *d)
{
    const uint32_t source = add_tree(d, 8, 1);

    for (uint32_t i = 0; i < 8; ++i) {
        place(d, source + i, far_away(1, i == 0 ? 1e-30f : 9e5f));
    }
    birth(d, source);
}

// --- Those that go as a whole ---

static void destroy_subtree(dock *d, uint32_t number)
{
    ck_assert_int_eq(espl_record_destroy_subtree(d->lane, 0, entity_of(d, number)), ESPL_OK);
}

static void destroy_only(dock *d, uint32_t number)
{
    ck_assert_int_eq(espl_record_destroy_only(d->lane, 0, entity_of(d, number)), ESPL_OK);
}

static void solo_goes(dock *d)
{
    destroy(d, d->solo);
}

static void solo_goes_with_all_below(dock *d)
{
    destroy_subtree(d, d->solo);
}

static void solo_goes_alone(dock *d)
{
    destroy_only(d, d->solo);
}

static void solo_without_placement_goes(dock *d)
{
    destroy(d, add_entity(d, espl_entity_null(), true));
}

static void solo_that_is_stretched_goes(dock *d)
{
    stretch(d, d->solo);
    destroy(d, d->solo);
}

static void hierarchy_goes(dock *d)
{
    destroy(d, d->ship);
}

static void hierarchy_goes_with_all_below(dock *d)
{
    destroy_subtree(d, d->ship);
}

// There is one child, which becomes the root.
static void root_goes_alone(dock *d)
{
    const uint32_t chain = add_tree(d, 3, 1);

    destroy_only(d, chain);
}

static void first_child_hangs_by_a_free_link(dock *d)
{
    const uint32_t root = add_entity(d, espl_entity_null(), false);

    attach_free(d, d->solo, root);
    (void)add_entity(d, entity_of(d, root), false);
    destroy(d, root);
}

static void last_of_all_hangs_by_a_free_link(dock *d)
{
    const uint32_t chain = add_tree(d, 4, 1);

    attach_free(d, d->solo, chain + 3);
    destroy(d, chain);
}

static void all_go_though_some_hang_by_free_links(dock *d)
{
    attach_free(d, d->solo, d->prefab + 2);
    attach_free(d, d->other, d->prefab);
    destroy_subtree(d, d->prefab);
}

static void hierarchy_with_a_ghost_goes(dock *d)
{
    make_ghost(d, d->ship);
    destroy(d, d->ship);
}

static void hierarchy_that_is_stretched_goes(dock *d)
{
    stretch(d, d->ship + 4);
    destroy(d, d->ship);
}

static void hierarchy_with_a_member_without_placement_goes(dock *d)
{
    (void)add_entity(d, entity_of(d, d->ship), true);
    destroy(d, d->ship);
}

static void hierarchy_that_is_referred_to_goes(dock *d)
{
    refer(d, d->ship + 2);
    refer(d, d->prefab + 1);
    destroy(d, d->prefab);
}

// What a splice is bounded by does not matter.
static void large_hierarchy_goes(dock *d)
{
    destroy(d, add_large(d, ESPL__SPLICE_RANKS + 500, 7));
}

static void the_dead_go(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    destroy(d, d->solo);
}

static void hierarchy_goes_twice(dock *d)
{
    destroy(d, d->ship);
    destroy(d, d->ship);
}

static void hierarchy_goes_with_a_leaf(dock *d)
{
    destroy(d, leaf_of(d, d->ship, 0));
    destroy(d, d->ship);
}

static void hierarchy_goes_though_somebody_comes(dock *d)
{
    clone(d, d->prefab, d->ship + 1);
    destroy(d, d->ship);
}

static void somebody_writes_to_who_goes(dock *d)
{
    const espl_transform value = test_at(4, 4, 4);

    ck_assert_int_eq(espl_record_set_local(d->lane, 0, entity_of(d, d->ship + 3), &value), ESPL_OK);
    destroy(d, d->ship);
}

static void somebody_leaves_who_goes(dock *d)
{
    ck_assert_int_eq(
        espl_record_attach(d->lane, 0, entity_of(d, d->ship + 3), entity_of(d, d->prefab), NULL),
        ESPL_OK);
    destroy(d, d->ship);
}

static void source_goes_that_others_take_in(dock *d)
{
    clone(d, d->prefab, d->ship + 1);
    destroy(d, d->prefab);
}

// --- Side by side ---

static void all_kinds_at_once(dock *d)
{
    copy_of_a_prefab(d);
    clone(d, d->prefab, d->ship + 3);
    destroy(d, d->other);
    destroy(d, d->solo);
    copy_in_the_world(d);
    destroy(d, leaf_of(d, d->ship, 0));
}

// The short ones in the midst of others.
static void both_ways_at_once(dock *d)
{
    const uint32_t chain = add_tree(d, 3, 1);

    copy_with_values(d);
    copy_of_a_prefab(d);
    destroy_only(d, chain);
    destroy(d, d->other);
    two_copies_by_one_command(d);
    copy_of_a_prefab(d);
}

// More than one batch.
static void many_come_and_go(dock *d)
{
    uint32_t solos[20];

    for (uint32_t i = 0; i < 20; ++i) {
        solos[i] = add_entity(d, espl_entity_null(), false);
    }
    for (uint32_t i = 0; i < 20; ++i) {
        birth(d, i % 3 == 0 ? d->solo : d->prefab);
        destroy(d, solos[i]);
    }
}

static const scene scenes[] = {
    {copy_of_a_prefab, 1, 1, 0},
    {copy_of_a_solo, 1, 1, 0},
    {copy_of_a_member, 1, 1, 0},
    {copy_of_a_ship, 1, 1, 78},
    {copy_of_a_leaf, 1, 1, 0},
    {copy_in_the_world, 1, 1, 0},
    {copy_where_the_source_stands, 1, 0, 0},
    {copy_that_is_stretched, 1, 0, 0},
    {copy_in_a_context, 1, 0, 0},
    {two_copies_by_one_command, 1, 0, 0},
    {two_copies_by_two_commands, 2, 2, 0},
    {copy_with_values, 1, 0, 0},
    {copy_before_a_member, 1, 0, 0},
    {copy_before_the_dead, 1, 0, 0},
    {copy_by_a_free_link_to_nobody, 1, 1, 0},
    {orphan_that_is_none, 1, 1, 0},
    {orphan_of_the_dead, 1, 0, 0},
    {copy_of_the_dead, 1, 0, 0},
    {copy_of_what_has_a_free_link_below, 1, 1, 0},
    {copy_of_who_hangs_by_a_free_link, 1, 1, 80},
    {copy_of_a_copy, 1, 0, 0},
    {copy_comes_and_goes, 1, 0, 0},
    {somebody_writes_to_the_copy, 1, 0, 0},
    {somebody_attaches_the_copy, 1, 0, 0},
    {somebody_writes_to_the_source, 1, 0, 0},
    {source_goes_behind_its_copy, 1, 0, 0},
    {source_goes_before_its_copy, 1, 0, 0},
    {copy_of_who_is_disabled, 1, 1, 0},
    {source_has_a_ghost, 1, 0, 80},
    {source_is_stretched, 1, 0, 0},
    {source_has_no_placement, 1, 0, 0},
    {source_has_a_member_without_placement, 1, 0, 0},
    {source_stands_beside_somebody_without_placement, 1, 0, 0},
    {source_refers, 1, 0, 0},
    {last_of_a_source_refers, 1, 0, 0},
    {somebody_else_refers, 1, 1, 0},
    {source_is_as_large_as_may_be, 1, 1, 400},
    {source_is_a_little_too_large, 1, 0, 400},
    {source_is_as_deep_as_may_be, 1, 1, 400},
    {copy_is_far_but_finite, 1, 1, 0},
    {solo_is_far_but_finite, 1, 1, 0},
    {child_overflows, 1, 0, 0},
    {child_is_far_but_finite, 1, 1, 0},
    {top_makes_its_children_overflow, 1, 0, 0},
    {scales_overflow_on_the_way_down, 1, 0, 0},
    {solo_goes, 1, 1, 0},
    {solo_goes_with_all_below, 1, 1, 0},
    {solo_goes_alone, 1, 0, 0},
    {solo_without_placement_goes, 1, 1, 0},
    {solo_that_is_stretched_goes, 1, 0, 0},
    {hierarchy_goes, 1, 1, 0},
    {hierarchy_goes_with_all_below, 1, 1, 0},
    {root_goes_alone, 1, 0, 0},
    {first_child_hangs_by_a_free_link, 1, 0, 0},
    {last_of_all_hangs_by_a_free_link, 1, 0, 0},
    {all_go_though_some_hang_by_free_links, 1, 1, 0},
    {hierarchy_with_a_ghost_goes, 1, 0, 0},
    {hierarchy_that_is_stretched_goes, 1, 0, 0},
    {hierarchy_with_a_member_without_placement_goes, 1, 1, 0},
    {hierarchy_that_is_referred_to_goes, 1, 1, 0},
    {large_hierarchy_goes, 1, 1, 1600},
    {the_dead_go, 1, 0, 0},
    {hierarchy_goes_twice, 1, 0, 0},
    {hierarchy_goes_with_a_leaf, 1, 0, 0},
    {hierarchy_goes_though_somebody_comes, 1, 0, 0},
    {somebody_writes_to_who_goes, 1, 0, 0},
    {somebody_leaves_who_goes, 1, 0, 0},
    {source_goes_that_others_take_in, 1, 0, 0},
    {all_kinds_at_once, 5, 5, 80},
    {both_ways_at_once, 6, 3, 80},
    {many_come_and_go, 40, 40, 200},
};

START_TEST(each_condition_decides_which_way_and_both_ways_come_to_the_same)
{
    play_scene(&scenes[_i], (uint64_t)_i + 500);
}
END_TEST

// --- Jobs ---

enum { CROWD = 150 };

// More groups than one job takes of each kind.
static void crowd_begin(dock *d)
{
    dock_begin(d, 4, false);
    for (uint32_t i = 0; i < CROWD; ++i) {
        const uint32_t goes = add_entity(d, espl_entity_null(), false);

        birth(d, d->prefab);
        destroy(d, goes);
    }
    clone(d, d->prefab, d->ship + 3);
    yard_open(&d->y);
    ck_assert_int_eq(yard_prepare(&d->y), ESPL_OK);
    ck_assert_uint_eq(d->y.playback->long_count, 0);
    ck_assert_uint_gt(d->y.playback->group_count, (size_t)2 * ESPL__SHORT_GRAIN);
    espl__stage_change(d->y.playback);
}

START_TEST(a_lost_job_is_done_all_the_same)
{
    static dock calm, lossy;

    if (test_lacks_room(CROWD * (1 + PREFAB) + 100, "jobs of the short way")) {
        return;
    }
    crowd_begin(&calm);
    crowd_begin(&lossy);
    bed_run_on(&lossy.y.bed, 2, TEST_SKIPS_ONE);
    espl__stage_patch(calm.y.playback);
    espl__stage_patch(lossy.y.playback);
    yard_close(&calm.y, true);
    yard_close(&lossy.y, true);
    ck_assert_uint_eq(lossy.y.bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    test_world_is_valid(lossy.y.world);
    docks_agree(&lossy, &calm);
    worlds_agree(&lossy, &calm);
    ck_assert_uint_eq(test_physical_hash(lossy.y.world), test_physical_hash(calm.y.world));
    dock_end(&calm);
    dock_end(&lossy);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("births");
    TCase *const conditions = tcase_create("conditions");
    TCase *const jobs = tcase_create("jobs");

    tcase_add_loop_test(conditions, each_condition_decides_which_way_and_both_ways_come_to_the_same,
                        0, sizeof scenes / sizeof *scenes);
    suite_add_tcase(suite, conditions);
    tcase_add_test(jobs, a_lost_job_is_done_all_the_same);
    suite_add_tcase(suite, jobs);
    return suite;
}

RUN_SUITE(make_suite)

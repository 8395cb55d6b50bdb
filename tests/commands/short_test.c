// SPDX-License-Identifier: MIT
// The short way through plan and patch: which groups go it, each condition by itself, and that it
// comes to what the long way comes to.
#include "tests/commands/dock.h"
#include "tests/runner.h"

// --- What is recorded ---

static void copy_of_a_prefab(dock *d)
{
    clone(d, d->prefab, d->ship + 3);
}

static void copy_of_a_solo(dock *d)
{
    clone(d, d->solo, d->ship);
}

static void copy_of_a_member(dock *d)
{
    clone(d, d->prefab + 1, d->ship + 7);
}

static void copy_of_a_member_of_another_ship(dock *d)
{
    clone(d, leaf_of(d, d->other, 0), d->ship + 7);
}

static void leaf_goes(dock *d)
{
    destroy(d, leaf_of(d, d->ship, 1));
}

static void subtree_goes(dock *d)
{
    ck_assert_int_eq(espl_record_destroy_subtree(d->lane, 0, entity_of(d, d->ship + 14)), ESPL_OK);
}

static void leaves_go_and_copies_come(dock *d)
{
    destroy(d, leaf_of(d, d->ship, 0));
    clone(d, d->solo, d->ship);
    destroy(d, leaf_of(d, d->ship, 1));
    clone(d, d->prefab, d->ship + 1);
}

static void all_the_room_is_taken(dock *d)
{
    for (uint32_t i = 0; i < ROOM; ++i) {
        clone(d, d->solo, d->ship + i % 2);
    }
}

static void room_is_not_enough(dock *d)
{
    all_the_room_is_taken(d);
    clone(d, d->solo, d->ship);
}

// Slots of those that go serve for nothing yet.
static void room_is_not_enough_but_for_who_goes(dock *d)
{
    destroy(d, leaf_of(d, d->ship, 0));
    room_is_not_enough(d);
}

static void room_is_not_enough_in(dock *d, uint32_t ship)
{
    for (uint32_t i = 0; i < 2; ++i) {
        clone(d, d->prefab, ship + i);
        destroy(d, leaf_of(d, ship, i));
    }
}

static void room_is_not_enough_for_two_ships(dock *d)
{
    room_is_not_enough_in(d, d->ship);
    room_is_not_enough_in(d, d->other);
}

// Between two that go the short way one goes the long way to another range.
static void room_is_not_enough_for_some_ships(dock *d)
{
    const uint32_t third = add_ship(d, 2);

    room_is_not_enough_in(d, d->other);
    room_is_not_enough_in(d, third);
    ck_assert_int_eq(espl_record_destroy_only(d->lane, 0, entity_of(d, leaf_of(d, third, 2))),
                     ESPL_OK);
    room_is_not_enough_in(d, d->ship);
}

// Most of its members have no numbers to be asked for.
static void full_ship_of(dock *d, uint32_t size)
{
    const uint32_t known = 100, ship = add_tree(d, known, 30);

    for (uint32_t i = known; i < size; ++i) {
        (void)add_entity(d, entity_of(d, ship + i % known), false);
        d->y.count -= 1;
    }
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    clone(d, d->prefab, ship + 1);
}

static void full_ship_is_as_large_as_may_be(dock *d)
{
    full_ship_of(d, ESPL__SPLICE_RANKS);
}

static void full_ship_is_a_little_too_large(dock *d)
{
    full_ship_of(d, ESPL__SPLICE_RANKS + 1);
}

// Its members have no numbers to be asked for, but for the first and the last ones.
static uint32_t large_ship(dock *d, uint32_t room)
{
    const uint32_t ship = add_tree(d, 4, 1), last = ship + 3;

    for (uint32_t i = 0; i < ESPL__SPLICE_RANKS; ++i) {
        (void)add_entity(d, entity_of(d, ship + 1), false);
        d->y.count -= 1;
    }
    (void)add_entity(d, entity_of(d, last), false);
    leave_room(d, last, room);
    return ship;
}

static void large_ship_has_room_at_its_end(dock *d)
{
    clone(d, d->solo, large_ship(d, ROOM) + 3);
}

// All of it would be written at once.
static void large_ship_has_no_room_at_its_end(dock *d)
{
    clone(d, d->solo, large_ship(d, 0) + 3);
}

static void large_ship_has_room_but_changes_near_its_root(dock *d)
{
    clone(d, d->solo, large_ship(d, ROOM));
}

static void bare_member_of_a_full_ship_goes(dock *d)
{
    destroy(d, add_entity(d, entity_of(d, d->ship), true));
    room_is_not_enough(d);
}

static void copy_by_a_free_link(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.link = ESPL_LINK_FREE;
    record_def(d, &def, 1);
}

static void orphans_that_are_none(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.orphan = ESPL_ORPHAN_ROOT;
    record_def(d, &def, 1);
}

static void copy_of_what_has_a_free_link_below(dock *d)
{
    attach_free(d, d->solo, d->prefab);
    clone(d, d->prefab, d->ship);
}

static void subtree_with_a_free_link_goes_as_a_whole(dock *d)
{
    attach_free(d, leaf_of(d, d->ship, 0), d->ship + 14);
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    subtree_goes(d);
}

static void who_hangs_by_a_free_link_goes(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    attach_free(d, leaf, d->ship + 2);
    destroy(d, leaf);
}

static void survivors_hang_below(dock *d)
{
    attach_free(d, leaf_of(d, d->ship, 0), d->ship + 2);
    destroy(d, d->ship + 2);
}

static void survivors_hang_below_in_a_trimmed_world(dock *d)
{
    attach_free(d, leaf_of(d, d->ship, 0), d->ship + 2);
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    destroy(d, d->ship + 2);
}

// Below a member of the ship, each below the one before. @return the first one's number.
static uint32_t add_chain(dock *d, uint32_t levels)
{
    const uint32_t top = add_entity(d, entity_of(d, d->ship + 1), false);

    for (uint32_t i = 1; i < levels; ++i) {
        (void)add_entity(d, entity_of(d, top + i - 1), false);
    }
    return top;
}

static void as_many_levels_go_as_may_be(dock *d)
{
    destroy(d, add_chain(d, 8));
}

static void one_level_more_goes_than_may_be(dock *d)
{
    destroy(d, add_chain(d, 9));
}

// What one command leaves of the room for levels serves the others.
static void levels_go_in_the_room_of_a_leaf(dock *d)
{
    destroy(d, add_chain(d, 15));
    destroy(d, add_chain(d, 1));
}

// Others stay, so that the ship is not left mostly empty.
static void many_levels_go_in_all(dock *d, uint32_t count)
{
    for (uint32_t i = 0; i < 60; ++i) {
        (void)add_chain(d, 1);
    }
    for (uint32_t i = 0; i < count; ++i) {
        destroy(d, add_chain(d, 8));
    }
}

static void as_many_levels_go_in_all_as_may_be(dock *d)
{
    many_levels_go_in_all(d, ESPL__SPLICE_EVENTS / 8);
}

static void more_levels_go_in_all_than_may_be(dock *d)
{
    many_levels_go_in_all(d, ESPL__SPLICE_EVENTS / 8 + 1);
}

// The second of two that go has somebody below it who stays.
static void survivors_hang_below_the_second(dock *d)
{
    const uint32_t first = add_chain(d, 3), second = add_chain(d, 3);

    attach_free(d, leaf_of(d, d->ship, 0), second + 2);
    destroy(d, first);
    destroy(d, second);
}

static void survivors_hang_below_the_first(dock *d)
{
    const uint32_t first = add_chain(d, 3), second = add_chain(d, 3);

    attach_free(d, leaf_of(d, d->ship, 0), first + 1);
    destroy(d, second);
    destroy(d, first);
}

// They hang below the one that goes with all that is below it.
static void only_one_goes_as_a_whole(dock *d)
{
    const uint32_t first = add_chain(d, 3), second = add_chain(d, 3);

    attach_free(d, leaf_of(d, d->ship, 0), second + 1);
    destroy(d, first);
    ck_assert_int_eq(espl_record_destroy_subtree(d->lane, 0, entity_of(d, second)), ESPL_OK);
}

// The last of a level, and of all levels.
static void last_survives(dock *d)
{
    const uint32_t top = add_chain(d, 1);

    (void)add_entity(d, entity_of(d, top), false);
    (void)add_entity(d, entity_of(d, top), false);
    attach_free(d, leaf_of(d, d->ship, 0), top);
    destroy(d, top);
}

static void tops_hang_by_free_links(dock *d)
{
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t top = add_chain(d, 2);

        ck_assert_int_eq(espl_detach(d->y.world, entity_of(d, top), ESPL_STAY_LOCAL), ESPL_OK);
        attach_free(d, top, d->ship + i);
        destroy(d, top);
    }
}

static void two_copies_by_one_command(dock *d)
{
    const espl_instance_def def = clone_def(d, d->solo, d->ship);

    record_def(d, &def, 2);
}

static void copy_with_values(dock *d)
{
    const uint32_t number = 99;
    const espl_component_value value = {
        .component = d->word, .data = &number, .size = sizeof number};
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.values = &value;
    def.value_count = 1;
    record_def(d, &def, 1);
}

static void copy_where_the_source_stands(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.place = ESPL_PLACE_SOURCE;
    record_def(d, &def, 1);
}

static void copy_in_the_world(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.place = ESPL_PLACE_WORLD;
    record_def(d, &def, 1);
}

static void copy_before_a_sibling(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.before = entity_of(d, d->ship + 1);
    record_def(d, &def, 1);
}

static void copy_that_inherits_in_part(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.inherit = ESPL_KEEP_SCALE;
    record_def(d, &def, 1);
}

static void copy_that_is_stretched(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.transform.stretch[1] = 3;
    record_def(d, &def, 1);
}

static void copy_in_a_context(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.transform.context = 7;
    record_def(d, &def, 1);
}

static void copy_below_nobody(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    def.parent = espl_entity_null();
    record_def(d, &def, 1);
}

static void copy_below_a_solo(dock *d)
{
    clone(d, d->prefab, d->solo);
}

static void copy_below_the_dead(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    clone(d, d->prefab, d->solo);
}

static void copy_of_the_dead(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    clone(d, d->solo, d->ship);
}

static void copies_below_a_copy(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship);

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 1, &def.parent), ESPL_OK);
    def.source = entity_of(d, d->solo); // so that there is room for both
    record_def(d, &def, 1);
}

static void copy_of_a_copy(dock *d)
{
    espl_instance_def def = clone_def(d, d->solo, d->ship);

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 1, &def.source), ESPL_OK);
    record_def(d, &def, 1);
}

static void copy_comes_and_goes(dock *d)
{
    const espl_instance_def def = clone_def(d, d->solo, d->ship);
    espl_entity made = espl_entity_null();

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 1, &made), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(d->lane, 0, made), ESPL_OK);
}

static void somebody_writes_to_the_ship(dock *d)
{
    const espl_transform value = test_local_of(d->y.world, entity_of(d, d->ship));

    copy_of_a_prefab(d);
    ck_assert_int_eq(espl_record_set_local(d->lane, 0, entity_of(d, d->ship), &value), ESPL_OK);
}

static void somebody_goes_alone(dock *d)
{
    ck_assert_int_eq(espl_record_destroy_only(d->lane, 0, entity_of(d, d->ship + 2)), ESPL_OK);
}

static void copy_of_who_is_written_to(dock *d)
{
    const espl_transform value = test_at(4, 4, 4);

    copy_of_a_prefab(d);
    ck_assert_int_eq(espl_record_set_local(d->lane, 1, entity_of(d, d->prefab + 2), &value),
                     ESPL_OK);
}

static void copy_of_who_goes_elsewhere(dock *d)
{
    clone(d, d->other + 3, d->ship);
    destroy(d, leaf_of(d, d->other, 0));
}

static void copy_of_ones_own_ship(dock *d)
{
    clone(d, leaf_of(d, d->ship, 0), d->ship + 1);
}

static void root_goes(dock *d)
{
    destroy(d, d->ship);
}

static void all_but_the_root_go(dock *d)
{
    const espl_world *const world = d->y.world;

    for (espl_entity child = espl_get_first_child(world, entity_of(d, d->prefab));
         !espl_entity_is_null(child); child = espl_get_next_sibling(world, child)) {
        ck_assert_int_eq(espl_record_destroy(d->lane, 0, child), ESPL_OK);
    }
}

// It is a solo now, and has room for what comes: it becomes a root.
static void copy_below_who_was_a_root(dock *d)
{
    all_but_the_root_go(d);
    play(d);
    espl_commands_reset(d->y.bed.commands);
    ck_assert_uint_eq(run_of(d, d->prefab)->size, 1);
    ck_assert_uint_ge(run_of(d, d->prefab)->capacity, 2);
    clone(d, d->solo, d->prefab);
}

static void one_goes_twice(dock *d)
{
    leaf_goes(d);
    leaf_goes(d);
}

static void one_goes_after_its_parent(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);
    const espl_entity parent = espl_get_parent(d->y.world, entity_of(d, leaf));

    ck_assert_int_eq(espl_record_destroy(d->lane, 0, parent), ESPL_OK);
    destroy(d, leaf);
}

static void one_goes_before_its_parent(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);
    const espl_entity parent = espl_get_parent(d->y.world, entity_of(d, leaf));

    destroy(d, leaf);
    ck_assert_int_eq(espl_record_destroy(d->lane, 0, parent), ESPL_OK);
}

static void copy_below_who_went(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    destroy(d, leaf);
    clone(d, d->solo, leaf);
}

static void copy_goes_with_its_parent(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    clone(d, d->solo, leaf);
    destroy(d, leaf);
}

static void many_go(dock *d, uint32_t count)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < 60; ++i) {
        (void)add_entity(d, entity_of(d, d->ship), false);
    }
    for (uint32_t i = 0; i < count; ++i) {
        destroy(d, leaves + i);
    }
}

static void as_many_as_may_be(dock *d)
{
    many_go(d, ESPL__SPLICE_EDITS);
}

static void one_more_than_may_be(dock *d)
{
    many_go(d, ESPL__SPLICE_EDITS + 1);
}

static void ship_is_left_mostly_empty(dock *d)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < 20; ++i) {
        (void)add_entity(d, entity_of(d, d->prefab), false);
    }
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    ck_assert_uint_gt(run_of(d, d->prefab)->capacity, 16);
    for (uint32_t i = 0; i < 20; ++i) {
        destroy(d, leaves + i);
    }
    destroy(d, d->prefab + PREFAB - 1);
}

static void ship_has_a_ghost(dock *d)
{
    make_ghost(d, d->ship);
    copy_of_a_prefab(d);
}

static void source_has_a_ghost(dock *d)
{
    make_ghost(d, d->other);
    clone(d, d->other + MEMBERS - 4, d->ship);
}

static void ship_is_stretched(dock *d)
{
    stretch(d, d->ship + 5);
    copy_of_a_prefab(d);
}

static void source_is_stretched(dock *d)
{
    stretch(d, d->prefab + 1);
    copy_of_a_prefab(d);
}

static void source_has_a_member_without_placement(dock *d)
{
    (void)add_entity(d, entity_of(d, d->prefab), true);
    copy_of_a_prefab(d);
}

static void ship_has_a_member_without_placement(dock *d)
{
    const uint32_t number = add_entity(d, entity_of(d, d->ship), true);

    clone(d, d->solo, number);
    clone(d, d->solo, d->ship + 2);
}

static void source_refers(dock *d)
{
    refer(d, d->prefab + 2);
    copy_of_a_prefab(d);
}

static void somebody_else_refers(dock *d)
{
    refer(d, d->ship + 2);
    copy_of_a_prefab(d);
    destroy(d, leaf_of(d, d->ship, 0));
}

// A source of a size, and room for its copy. Who dies needs no number, nor does who hangs below.
static void source_is_large(dock *d, uint32_t size, uint32_t reach)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < size + 60; ++i) {
        (void)add_entity(d, entity_of(d, d->ship), false);
    }
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    while (d->y.count > leaves + 60) {
        destroy(d, --d->y.count);
    }
    play(d);
    espl_commands_reset(d->y.bed.commands);
    ck_assert_uint_ge(run_of(d, d->ship)->capacity - run_of(d, d->ship)->size, size);

    const uint32_t root = add_tree(d, size, reach);

    d->y.count = root + 1;
    clone(d, root, d->ship);
}

static void source_is_as_large_as_may_be(dock *d)
{
    source_is_large(d, ESPL__SPLICE_MADE, ESPL__SPLICE_MADE);
}

static void source_is_a_little_too_large(dock *d)
{
    source_is_large(d, ESPL__SPLICE_MADE + 1, ESPL__SPLICE_MADE);
}

static void source_is_as_deep_as_may_be(dock *d)
{
    source_is_large(d, ESPL__SPLICE_EVENTS, 1);
}

static void source_is_a_little_too_deep(dock *d)
{
    source_is_large(d, ESPL__SPLICE_EVENTS + 1, 1);
}

static void world_overflows(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);
    const espl_transform far = test_at(3e38f, 0, 0), here = espl_transform_identity();

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship), &here), ESPL_OK);
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship + 1), &far), ESPL_OK);
    def.transform = far;
    copy_of_a_solo(d);
    record_def(d, &def, 1);
}

// What was found out about the room holds for the short way only.
static void room_is_not_enough_and_a_world_overflows(dock *d)
{
    room_is_not_enough(d);
    world_overflows(d);
}

static void world_of_a_solo_overflows(dock *d)
{
    espl_instance_def def = clone_def(d, d->solo, d->ship + 1);
    const espl_transform far = test_at(3e38f, 0, 0), here = espl_transform_identity();

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship), &here), ESPL_OK);
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship + 1), &far), ESPL_OK);
    def.transform = far;
    record_def(d, &def, 1);
}

// What comes is as small as any.
static void parent_makes_its_children_overflow(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);
    espl_transform large = espl_transform_identity();

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship), &large), ESPL_OK);
    large.scale = 1e30f;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship + 1), &large), ESPL_OK);
    def.transform = test_at(9e11f, 0, 0);
    record_def(d, &def, 1);
}

static void position_is_far_but_finite(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);

    def.transform = test_at(3e20f, 0, -2e30f);
    record_def(d, &def, 1);
}

static void parent_is_far_but_finite(dock *d)
{
    const espl_transform value = test_at(5e25f, 1e13f, 0);

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->ship + 1), &value), ESPL_OK);
    clone(d, d->prefab, d->ship + 1);
}

static void parent_is_far_along(dock *d, uint32_t axis)
{
    espl_transform value = espl_transform_identity();

    value.position[axis] = 2e30f;
    value.scale = 1e3f;
    ck_assert_int_eq(espl_set_world(d->y.world, entity_of(d, d->ship + 1), &value), ESPL_OK);
    clone(d, d->prefab, d->ship + 1);
}

static void parent_is_far_along_y(dock *d)
{
    parent_is_far_along(d, 1);
}

static void parent_is_far_along_z(dock *d)
{
    parent_is_far_along(d, 2);
}

// Positions are as small as any.
static void scale_of_a_top_makes_a_source_overflow(dock *d)
{
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);
    const espl_transform value = test_at(9e11f, 0, 0);

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->prefab + 1), &value), ESPL_OK);
    def.transform.scale = 1e30f;
    record_def(d, &def, 1);
}

static void scales_of_a_source_are_large(dock *d)
{
    espl_transform value = test_at(1, 1, 1);

    value.scale = 1e15f;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->prefab + 1), &value), ESPL_OK);
    clone(d, d->prefab, d->ship + 1);
}

static void scales_of_a_source_overflow(dock *d)
{
    espl_transform value = test_at(1e30f, 1, 1);
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);

    value.scale = 1;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->prefab + 1), &value), ESPL_OK);
    def.transform.scale = 1e30f;
    record_def(d, &def, 1);
}

// Top and parent are as small as any.
static void position_in_a_source_overflows(dock *d)
{
    const espl_transform far = test_at(3e38f, 0, 0), here = espl_transform_identity();
    espl_instance_def def = clone_def(d, d->prefab, d->ship + 1);

    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->prefab), &here), ESPL_OK);
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, d->prefab + 1), &far), ESPL_OK);
    def.transform.scale = 1000;
    record_def(d, &def, 1);
}

// A source whose top makes up for the scales below it, none of which is large; the top of the copy
// does not.
static void scales_in_a_source_overflow(dock *d)
{
    const uint32_t size = 8, source = add_tree(d, size, 1);

    for (uint32_t i = 0; i < size; ++i) {
        espl_transform value = test_at(1, 0, 0);

        value.scale = i == 0 ? 1e-30f : 9e5f;
        ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, source + i), &value), ESPL_OK);
    }
    clone(d, source, d->ship + 1);
}

// One source is a member of another one: copies of both are rows of one archetype.
static void copies_of_a_prefab_and_of_its_member(dock *d)
{
    const uint32_t root = add_entity(d, espl_entity_null(), false);
    const uint32_t member = add_entity(d, entity_of(d, root), false);

    for (uint32_t i = 0; i < 2; ++i) {
        clone(d, root, d->ship + i);
        clone(d, member, d->ship + 2 + i);
    }
}

static void disabled_and_prefab_sources(dock *d)
{
    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, d->prefab), ESPL_PREFAB, NULL, 0), ESPL_OK);
    ck_assert_int_eq(espl_disable(d->y.world, entity_of(d, d->solo), ESPL_EXTENT_ENTITY), ESPL_OK);
    copy_of_a_prefab(d);
    copy_of_a_solo(d);
}

static const scene scenes[] = {
    {copy_of_a_prefab, 1, 1, 0},
    {copy_of_a_solo, 1, 1, 0},
    {copy_of_a_member, 1, 1, 0},
    {copy_of_a_member_of_another_ship, 1, 1, 0},
    {leaf_goes, 1, 1, 0},
    {subtree_goes, 1, 1, 0},
    {leaves_go_and_copies_come, 1, 1, 0},
    {all_the_room_is_taken, 1, 1, 0},
    {room_is_not_enough, 1, 1, 0},
    {room_is_not_enough_but_for_who_goes, 1, 1, 0},
    {room_is_not_enough_for_two_ships, 2, 2, 80},
    {room_is_not_enough_for_some_ships, 3, 2, 80},
    {room_is_not_enough_and_a_world_overflows, 1, 0, 0},
    {full_ship_is_as_large_as_may_be, 1, 1, 1200},
    {full_ship_is_a_little_too_large, 1, 0, 1200},
    {large_ship_has_room_at_its_end, 1, 1, 1200},
    {large_ship_has_no_room_at_its_end, 1, 0, 1200},
    {large_ship_has_room_but_changes_near_its_root, 1, 0, 1200},
    {bare_member_of_a_full_ship_goes, 1, 1, 0},
    {copy_by_a_free_link, 1, 1, 0},
    {orphans_that_are_none, 1, 1, 0},
    {copy_of_what_has_a_free_link_below, 1, 1, 0},
    {subtree_with_a_free_link_goes_as_a_whole, 1, 1, 0},
    {who_hangs_by_a_free_link_goes, 1, 1, 0},
    {survivors_hang_below, 1, 0, 0},
    {survivors_hang_below_in_a_trimmed_world, 1, 0, 0},
    {as_many_levels_go_as_may_be, 1, 1, 0},
    {one_level_more_goes_than_may_be, 1, 0, 0},
    {levels_go_in_the_room_of_a_leaf, 1, 1, 80},
    {as_many_levels_go_in_all_as_may_be, 1, 1, 300},
    {more_levels_go_in_all_than_may_be, 1, 0, 300},
    {survivors_hang_below_the_second, 1, 0, 0},
    {survivors_hang_below_the_first, 1, 0, 0},
    {only_one_goes_as_a_whole, 1, 1, 0},
    {last_survives, 1, 0, 0},
    {tops_hang_by_free_links, 1, 1, 0},
    {two_copies_by_one_command, 1, 0, 0},
    {copy_with_values, 1, 0, 0},
    {copy_where_the_source_stands, 1, 0, 0},
    {copy_in_the_world, 1, 0, 0},
    {copy_before_a_sibling, 1, 0, 0},
    {copy_that_inherits_in_part, 1, 0, 0},
    {copy_that_is_stretched, 1, 0, 0},
    {copy_in_a_context, 1, 0, 0},
    {copy_below_nobody, 1, 1, 0},
    {copy_below_a_solo, 1, 0, 0},
    {copy_below_the_dead, 1, 0, 0},
    {copy_of_the_dead, 1, 0, 0},
    {copies_below_a_copy, 1, 0, 0},
    {copy_of_a_copy, 1, 0, 0},
    {copy_comes_and_goes, 1, 0, 0},
    {somebody_writes_to_the_ship, 1, 0, 0},
    {somebody_goes_alone, 1, 0, 0},
    {copy_of_who_is_written_to, 1, 0, 0},
    {copy_of_who_goes_elsewhere, 1, 0, 80},
    {copy_of_ones_own_ship, 1, 0, 0},
    {root_goes, 1, 1, 0},
    {all_but_the_root_go, 1, 0, 0},
    {copy_below_who_was_a_root, 1, 0, 0},
    {one_goes_twice, 1, 0, 0},
    {one_goes_after_its_parent, 1, 0, 0},
    {one_goes_before_its_parent, 1, 0, 0},
    {copy_below_who_went, 1, 0, 0},
    {copy_goes_with_its_parent, 1, 0, 0},
    {as_many_as_may_be, 1, 1, 140},
    {one_more_than_may_be, 1, 0, 140},
    {ship_is_left_mostly_empty, 1, 1, 80},
    {ship_has_a_ghost, 1, 0, 0},
    {source_has_a_ghost, 1, 0, 0},
    {ship_is_stretched, 1, 0, 0},
    {source_is_stretched, 1, 0, 0},
    {source_has_a_member_without_placement, 1, 0, 0},
    {ship_has_a_member_without_placement, 1, 1, 0},
    {source_refers, 1, 0, 0},
    {somebody_else_refers, 1, 1, 0},
    {source_is_as_large_as_may_be, 1, 1, 700},
    {source_is_a_little_too_large, 1, 0, 700},
    {source_is_as_deep_as_may_be, 1, 1, 500},
    {source_is_a_little_too_deep, 1, 0, 500},
    {world_overflows, 1, 0, 0},
    {world_of_a_solo_overflows, 1, 0, 0},
    {parent_makes_its_children_overflow, 1, 0, 0},
    {position_is_far_but_finite, 1, 1, 0},
    {parent_is_far_but_finite, 1, 1, 0},
    {parent_is_far_along_y, 1, 1, 0},
    {parent_is_far_along_z, 1, 1, 0},
    {scale_of_a_top_makes_a_source_overflow, 1, 0, 0},
    {scales_of_a_source_are_large, 1, 1, 0},
    {scales_of_a_source_overflow, 1, 0, 0},
    {position_in_a_source_overflows, 1, 0, 0},
    {scales_in_a_source_overflow, 1, 0, 0},
    {copies_of_a_prefab_and_of_its_member, 1, 1, 0},
    {disabled_and_prefab_sources, 1, 1, 0},
};

START_TEST(each_condition_decides_which_way_and_both_ways_come_to_the_same)
{
    play_scene(&scenes[_i], (uint64_t)_i + 1);
}
END_TEST

// Which way a group goes depends on the room in its run; the indices of what comes next do not.
START_TEST(indices_come_back_in_one_order_both_ways)
{
    static dock docks[2];
    espl_entity made[2][6];

    for (uint32_t i = 0; i < 2; ++i) {
        dock *const d = &docks[i];
        uint32_t groups = 0;

        dock_begin(d, 77, i == 0);
        // A top with two children, the first of which has two: breadth-first is another order.
        const uint32_t top = add_entity(d, entity_of(d, d->ship), false);
        const uint32_t first = add_entity(d, entity_of(d, top), false);

        (void)add_entity(d, entity_of(d, top), false);
        (void)add_entity(d, entity_of(d, first), false);
        (void)add_entity(d, entity_of(d, first), false);
        destroy(d, top);
        ck_assert_uint_eq(count_short(d, &groups), i);
        play(d);
        ck_assert_uint_eq(d->report.destroyed, 5);
        ck_assert_int_eq(espl_create(d->y.world, NULL, 0, 5, made[i]), ESPL_OK);
    }
    ck_assert_int_eq(memcmp(made[0], made[1], 5 * sizeof made[0][0]), 0);
    dock_end(&docks[0]);
    dock_end(&docks[1]);
}
END_TEST

// A copy takes the slot that somebody who passed through has left.
START_TEST(copy_where_somebody_passed_through_leaves_a_plain_run)
{
    static dock d;
    uint32_t groups;

    dock_begin(&d, 78, false);
    const uint32_t first = add_entity(&d, entity_of(&d, d.ship), true);
    const uint32_t last = add_entity(&d, entity_of(&d, d.ship), true);
    const uint32_t slot = slot_of(d.y.world, entity_of(&d, first));

    destroy(&d, first);
    ck_assert_uint_eq(count_short(&d, &groups), 1);
    play(&d);
    espl_commands_reset(d.y.bed.commands);
    ck_assert_uint_ne(run_of(&d, d.ship)->flags & ESPL__RUN_GENERAL, 0);

    const espl_instance_def def = clone_def(&d, d.solo, d.ship);
    espl_entity copy = espl_entity_null();

    ck_assert_int_eq(espl_record_instantiate(d.lane, 0, &def, 1, &copy), ESPL_OK);
    destroy(&d, last);
    ck_assert_uint_eq(count_short(&d, &groups), 1);
    play(&d);
    ck_assert_int_eq(espl_commands_resolve(d.y.bed.commands, copy, &copy), ESPL_OK);
    ck_assert_uint_eq(slot_of(d.y.world, copy), slot);
    ck_assert_uint_eq(run_of(&d, d.ship)->flags & ESPL__RUN_GENERAL, 0);
    dock_end(&d);
}
END_TEST

// No array of the forest is there yet that could be asked for ahead.
START_TEST(first_transform_of_a_world_comes_by_playback)
{
    const espl_transform here = espl_transform_identity();
    const espl_component_value value = {
        .component = ESPL_PLACEMENT, .size = sizeof here, .data = &here};
    const espl_creation_def def = {.values = &value, .value_count = 1};
    espl_commands *commands = NULL;
    espl_entity made = {0, 0};
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, NULL);
    ck_assert_int_eq(espl_commands_create(test.world, 1, &commands), ESPL_OK);
    espl_recorder *const lane = espl_commands_recorder(commands, 0);

    ck_assert_int_eq(espl_record_create(lane, 0, &def, 1, &made), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.created, 1);
    ck_assert_int_eq(espl_commands_resolve(commands, made, &made), ESPL_OK);
    ck_assert(espl_is_alive(test.world, made));
    espl_commands_destroy(commands);
    test_world_end(&test);
}
END_TEST

// Copies of tops like nobody, each of several levels: archetypes are to be made.
static void record_rare(dock *d)
{
    const espl_component_def def = {"rare", 4, 4, NULL, 0};
    const uint32_t root = add_entity(d, espl_entity_null(), false);
    espl_component rare = 0;

    ck_assert_int_eq(espl_component_register(d->y.world, &def, &rare), ESPL_OK);
    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, root), rare, &root, sizeof root), ESPL_OK);
    (void)add_entity(d, entity_of(d, root), false);
    (void)add_entity(d, entity_of(d, root), false);
    clone(d, root, d->ship);
    clone(d, root, d->ship + 1);
}

START_TEST(without_memory_no_copy_comes_and_a_later_playback_is_what_it_would_have_been)
{
    ck_assert_uint_eq(docks_lack_memory(record_rare, 2), 1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("short");
    TCase *const conditions = tcase_create("conditions");

    tcase_add_loop_test(conditions, each_condition_decides_which_way_and_both_ways_come_to_the_same,
                        0, sizeof scenes / sizeof *scenes);
    tcase_add_test(conditions, indices_come_back_in_one_order_both_ways);
    tcase_add_test(conditions, copy_where_somebody_passed_through_leaves_a_plain_run);
    tcase_add_test(conditions,
                   without_memory_no_copy_comes_and_a_later_playback_is_what_it_would_have_been);
    tcase_add_test(conditions, first_transform_of_a_world_comes_by_playback);
    suite_add_tcase(suite, conditions);
    return suite;
}

RUN_SUITE(make_suite)

// SPDX-License-Identifier: MIT
// The short way of moves: leaves come below other nodes and keep their locals. Which groups go it,
// each condition by itself, and that it comes to what the long way comes to.
#include "tests/commands/dock.h"
#include "tests/runner.h"

static const espl_attach_options keep_local = {
    .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};

// --- What is recorded ---

static void move_with(dock *d, uint32_t child, uint32_t parent, const espl_attach_options *options)
{
    ck_assert_int_eq(
        espl_record_attach(d->lane, 0, entity_of(d, child), entity_of(d, parent), options),
        ESPL_OK);
}

static void move(dock *d, uint32_t child, uint32_t parent)
{
    move_with(d, child, parent, &keep_local);
}

static uint32_t parent_of(const dock *d, uint32_t number)
{
    const espl_entity parent = espl_get_parent(d->y.world, entity_of(d, number));
    uint32_t found = 0;

    while (!espl_entity_equal(entity_of(d, found), parent)) {
        ck_assert_uint_lt(++found, d->y.count);
    }
    return found;
}

// Below a member, each below the one before. @return the first one's number.
static uint32_t add_chain(dock *d, uint32_t below, uint32_t levels)
{
    const uint32_t top = add_entity(d, entity_of(d, below), false);

    for (uint32_t i = 1; i < levels; ++i) {
        (void)add_entity(d, entity_of(d, top + i - 1), false);
    }
    return top;
}

static void leaf_comes_aboard_another_ship(dock *d)
{
    move(d, leaf_of(d, d->ship, 1), d->other + 3);
}

static void leaf_comes_below_the_other_root(dock *d)
{
    move(d, leaf_of(d, d->ship, 0), d->other);
}

static void leaf_moves_within_its_ship(dock *d)
{
    move(d, leaf_of(d, d->ship, 0), d->ship + 1);
}

static void leaf_comes_below_a_leaf(dock *d)
{
    move(d, leaf_of(d, d->ship, 0), leaf_of(d, d->other, 0));
}

static void leaf_stays_where_it_is(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 1);

    move(d, leaf, parent_of(d, leaf));
}

static void two_leaves_swap_ships(dock *d)
{
    const uint32_t x = leaf_of(d, d->ship, 0), y = leaf_of(d, d->other, 0);
    const uint32_t above_x = parent_of(d, x), above_y = parent_of(d, y);

    move(d, x, above_y);
    move(d, y, above_x);
}

static void two_leaves_come_below_each_others_parents_neighbours(dock *d)
{
    for (uint32_t i = 0; i < 3; ++i) {
        move(d, leaf_of(d, d->ship, i), d->other + i);
        move(d, leaf_of(d, d->other, i), d->ship + i);
    }
}

// Keys and lanes say in which order, not the time of recording.
static void leaves_come_below_one_node_in_order_of_keys(dock *d)
{
    for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t leaf = leaf_of(d, i % 2 == 0 ? d->ship : d->other, i / 2);

        ck_assert_int_eq(espl_record_attach(yard_lane(&d->y, (i + 1) % YARD_LANES), 9 - i,
                                            entity_of(d, leaf), entity_of(d, d->other + 2),
                                            &keep_local),
                         ESPL_OK);
    }
}

static void leaf_moves_twice(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    move(d, leaf, d->other + 3);
    move(d, leaf_of(d, d->ship, 1), d->ship + 2);
    move(d, leaf, d->ship + 2);
    move(d, leaf_of(d, d->ship, 2), d->ship + 2);
}

static void leaf_comes_back_and_is_the_last(dock *d)
{
    const uint32_t first = add_chain(d, d->ship + 2, 1);

    (void)add_chain(d, d->ship + 2, 1);
    move(d, first, d->other);
    move(d, first, d->ship + 2);
}

static void leaf_comes_below_one_that_moved(dock *d)
{
    const uint32_t first = leaf_of(d, d->ship, 0);

    move(d, first, d->other + 2);
    move(d, leaf_of(d, d->other, 0), first);
}

// Each below the one before; the others below any of them, so that levels have several.
static void tree_grows_below_one_that_moved(dock *d)
{
    uint32_t movers[6];

    for (uint32_t i = 0; i < 6; ++i) {
        movers[i] = leaf_of(d, i % 2 == 0 ? d->ship : d->other, i / 2);
    }
    move(d, movers[0], d->other + 1);
    for (uint32_t i = 1; i < 6; ++i) {
        move(d, movers[i], movers[i < 3 ? 0 : (i - 1) / 2]);
    }
}

// The order in which they come, not that in which their parents did.
static void trees_grow_below_two_that_moved(dock *d)
{
    const uint32_t a = leaf_of(d, d->ship, 0), b = leaf_of(d, d->ship, 1);

    move(d, a, d->other);
    move(d, b, d->other);
    move(d, leaf_of(d, d->other, 0), b);
    move(d, leaf_of(d, d->other, 1), a);
    move(d, leaf_of(d, d->other, 2), b);
}

static void one_moves_after_its_child(dock *d)
{
    const uint32_t top = add_chain(d, d->ship + 1, 2);

    move(d, top + 1, d->other + 1);
    move(d, top, d->other + 2);
}

static void all_of_a_chain_move_from_its_end(dock *d)
{
    const uint32_t top = add_chain(d, d->ship + 1, 4);

    for (uint32_t i = 4; i-- > 0;) {
        move(d, top + i, d->other + i);
    }
}

static void one_moves_below_its_child(dock *d)
{
    const uint32_t top = add_chain(d, d->ship + 1, 2);

    move(d, top + 1, d->other + 1);
    move(d, top, top + 1);
}

static void child_follows_its_parent(dock *d)
{
    const uint32_t top = add_chain(d, d->ship + 1, 2);

    move(d, top + 1, d->other + 1);
    move(d, top, d->other + 2);
    move(d, top + 1, top);
}

static void one_moves_once_its_guest_has_gone(dock *d)
{
    const uint32_t host = leaf_of(d, d->ship, 0), guest = leaf_of(d, d->other, 0);

    move(d, guest, host);
    move(d, guest, d->other);
    move(d, host, d->other + 1);
}

static void one_moves_again_once_its_guest_has_gone(dock *d)
{
    const uint32_t host = leaf_of(d, d->ship, 0), guest = leaf_of(d, d->ship, 1);

    move(d, host, d->other + 1);
    move(d, guest, host);
    move(d, guest, d->ship);
    move(d, host, d->ship + 4);
}

static void leaf_comes_by_a_free_link(dock *d)
{
    espl_attach_options options = keep_local;

    options.link = ESPL_LINK_FREE;
    move_with(d, leaf_of(d, d->ship, 0), d->other, &options);
}

static void who_hung_by_a_free_link_comes_by_another(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    attach_free(d, leaf, d->ship + 2);
    move(d, leaf, d->other);
}

static void leaf_comes_below_who_has_no_placement(dock *d)
{
    const uint32_t number = add_entity(d, entity_of(d, d->other + 2), true);

    move(d, leaf_of(d, d->ship, 0), number);
}

static void all_the_room_is_taken(dock *d)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < ROOM; ++i) {
        (void)add_chain(d, d->ship, 1);
    }
    for (uint32_t i = 0; i < ROOM; ++i) {
        move(d, leaves + i, d->other + i % 2);
    }
}

static void as_many_come_as_may_be(dock *d)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS; ++i) {
        (void)add_chain(d, i % 2 == 0 ? d->solo : d->prefab, 1);
    }
    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS; ++i) {
        (void)add_chain(d, d->ship, 1);
    }
    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS; ++i) {
        (void)add_chain(d, d->other, 1);
    }
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS / 2; ++i) {
        move(d, leaves + 2 * ESPL__SPLICE_EDITS + i, d->ship + i % 3);
        move(d, leaves + ESPL__SPLICE_EDITS + i, d->other + i % 3);
    }
}

// --- What goes the long way ---

static void leaf_keeps_its_world(dock *d)
{
    move_with(d, leaf_of(d, d->ship, 0), d->other, NULL);
}

static void leaf_keeps_its_world_in_part(dock *d)
{
    for (uint32_t i = 0; i < 3; ++i) {
        espl_attach_options options = keep_local;

        *(i == 0   ? &options.position
          : i == 1 ? &options.rotation
                   : &options.scale) = ESPL_STAY_WORLD;
        move_with(d, leaf_of(d, d->ship, i), d->other, &options);
    }
}

static void leaf_inherits_in_part(dock *d)
{
    espl_attach_options options = keep_local;

    options.inherit = ESPL_KEEP_SCALE;
    move_with(d, leaf_of(d, d->ship, 0), d->other, &options);
}

static void leaf_comes_before_a_sibling(dock *d)
{
    espl_attach_options options = keep_local;

    options.before = entity_of(d, d->other + 1);
    move_with(d, leaf_of(d, d->ship, 0), parent_of(d, d->other + 1), &options);
}

static void link_changes_in_place(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);
    espl_attach_options options = keep_local;

    options.link = ESPL_LINK_FREE;
    move_with(d, leaf, parent_of(d, leaf), &options);
}

static void one_with_children_moves(dock *d)
{
    move(d, add_chain(d, d->ship, 2), d->other);
}

static void one_with_guests_moves(dock *d)
{
    const uint32_t host = leaf_of(d, d->ship, 0);

    move(d, leaf_of(d, d->other, 0), host);
    move(d, host, d->other);
}

static void one_that_moved_moves_with_its_guest(dock *d)
{
    const uint32_t host = leaf_of(d, d->ship, 0);

    move(d, host, d->other);
    move(d, leaf_of(d, d->other, 0), host);
    move(d, host, d->ship);
}

static void root_moves(dock *d)
{
    move(d, d->ship, d->other);
}

static void solo_moves(dock *d)
{
    move(d, d->solo, d->other);
}

static void leaf_comes_below_a_solo(dock *d)
{
    move(d, leaf_of(d, d->ship, 0), d->solo);
}

static void only_member_leaves(dock *d)
{
    move(d, add_chain(d, d->solo, 1), d->ship);
}

static void leaf_comes_below_itself(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);

    move(d, leaf, leaf);
}

static void leaf_comes_below_the_dead(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    move(d, leaf_of(d, d->ship, 0), d->solo);
}

static void the_dead_move(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    move(d, d->solo, d->ship);
}

static void leaf_comes_below_a_copy(dock *d)
{
    const espl_instance_def def = clone_def(d, d->solo, d->ship);
    espl_entity made = espl_entity_null();

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, &def, 1, &made), ESPL_OK);
    ck_assert_int_eq(
        espl_record_attach(d->lane, 0, entity_of(d, leaf_of(d, d->other, 0)), made, &keep_local),
        ESPL_OK);
}

static void copy_comes_aboard_too(dock *d)
{
    leaf_comes_aboard_another_ship(d);
    clone(d, d->prefab, d->other);
}

static void parent_goes(dock *d)
{
    leaf_comes_aboard_another_ship(d);
    destroy(d, d->other + 3);
}

static void parent_went(dock *d)
{
    destroy(d, d->other + 3);
    leaf_comes_aboard_another_ship(d);
}

static void somebody_writes_to_the_ship(dock *d)
{
    const espl_transform value = test_local_of(d->y.world, entity_of(d, d->ship));

    ck_assert_int_eq(espl_record_set_local(d->lane, 0, entity_of(d, d->other), &value), ESPL_OK);
    leaf_comes_aboard_another_ship(d);
}

static void ship_has_a_ghost(dock *d)
{
    make_ghost(d, d->ship);
    leaf_comes_aboard_another_ship(d);
}

static void other_ship_has_a_ghost(dock *d)
{
    make_ghost(d, d->other);
    leaf_comes_aboard_another_ship(d);
}

static void ship_is_stretched(dock *d)
{
    stretch(d, d->ship + 2);
    leaf_comes_aboard_another_ship(d);
}

static void other_ship_is_stretched(dock *d)
{
    stretch(d, d->other + 2);
    leaf_comes_aboard_another_ship(d);
}

static void leaf_has_no_placement(dock *d)
{
    move(d, add_entity(d, entity_of(d, d->ship + 2), true), d->other);
}

static void place_far(dock *d, uint32_t number)
{
    espl_transform value = test_local_of(d->y.world, entity_of(d, number));

    value.position[0] = 1.2e38f;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, number), &value), ESPL_OK);
}

static void world_overflows(dock *d)
{
    espl_transform value = test_at(1e38f, 0, 0);
    const uint32_t leaf = add_chain(d, d->ship, 1), far = add_chain(d, d->other, 1);

    value.scale = 4;
    ck_assert_int_eq(espl_set_world(d->y.world, entity_of(d, far), &value), ESPL_OK);
    place_far(d, leaf);
    move(d, leaf, far);
}

// It would overflow for a moment only.
static void world_overflows_and_is_finite_again(dock *d)
{
    world_overflows(d);
    move(d, leaf_of(d, d->ship, 0), d->other);
}

static void one_more_comes_than_may_be(dock *d)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i <= ESPL__SPLICE_EDITS; ++i) {
        (void)add_chain(d, d->ship, 1);
    }
    for (uint32_t i = 0; i <= ESPL__SPLICE_EDITS; ++i) {
        move(d, leaves + i, d->other);
    }
}

// Members that have no numbers to be asked for, below the first one of a ship.
static void enlarge(dock *d, uint32_t ship, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        (void)add_entity(d, entity_of(d, ship + 1), false);
        d->y.count -= 1;
    }
}

// What changes a rank near the root of it would write too much.
static void leaf_comes_below_the_root_of_a_large_ship(dock *d)
{
    enlarge(d, d->other, ESPL__SPLICE_RANKS);
    move(d, leaf_of(d, d->ship, 0), d->other);
}

// Leaves of many ships come to hang in one chain, the last of whom has another ship's leaf for a
// guest. Each ship loses as many as may be.
static void chain_is_deeper_than_may_be(dock *d)
{
    enum { EACH = ESPL__SPLICE_EDITS, FLEET = ESPL__SPLICE_EVENTS / EACH + 1 };
    uint32_t above = d->other;

    for (uint32_t ship = 0; ship < FLEET; ++ship) {
        const uint32_t root = add_tree(d, 2, 1), leaves = d->y.count;

        for (uint32_t i = 0; i < EACH; ++i) {
            (void)add_chain(d, root, 1);
        }
        for (uint32_t i = 0; i < EACH; ++i) {
            move(d, leaves + i, above);
            above = leaves + i;
        }
    }
    move(d, leaf_of(d, d->ship, 0), d->other + 1);
}

enum { VISITORS = 256, HOMES = 16, VISITORS_NEED = 420 };

// Leaves of many ships meet below a node that has a child, and go on to the next ship. Meanwhile the
// node moves with all of them, where so many are not told from none.
static void more_meet_at_once_than_are_counted(dock *d)
{
    const uint32_t place = add_chain(d, d->ship, 2), ships = d->y.count;
    const uint32_t stride = 2 + VISITORS / HOMES;

    for (uint32_t ship = 0; ship < HOMES; ++ship) {
        const uint32_t root = add_tree(d, 2, 1);

        for (uint32_t i = 0; i < VISITORS / HOMES; ++i) {
            (void)add_chain(d, root, 1);
        }
    }
    for (uint32_t i = 0; i < VISITORS; ++i) {
        move(d, ships + i % HOMES * stride + 2 + i / HOMES, place);
    }
    move(d, place, d->other);
    for (uint32_t i = 0; i < VISITORS; ++i) {
        move(d, ships + i % HOMES * stride + 2 + i / HOMES, ships + (i + 1) % HOMES * stride);
    }
}

static void more_leave_than_are_counted(dock *d)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < VISITORS; ++i) {
        (void)add_chain(d, d->ship, 1);
    }
    for (uint32_t i = 0; i < VISITORS; ++i) {
        move(d, leaves + i, d->other + i % 2);
    }
}

static const scene scenes[] = {
    {leaf_comes_aboard_another_ship, 1, 1, 0},
    {leaf_comes_below_the_other_root, 1, 1, 0},
    {leaf_moves_within_its_ship, 1, 1, 0},
    {leaf_comes_below_a_leaf, 1, 1, 0},
    {leaf_stays_where_it_is, 1, 1, 0},
    {two_leaves_swap_ships, 1, 1, 0},
    {two_leaves_come_below_each_others_parents_neighbours, 1, 1, 0},
    {leaves_come_below_one_node_in_order_of_keys, 1, 1, 0},
    {leaf_moves_twice, 1, 1, 0},
    {leaf_comes_back_and_is_the_last, 1, 1, 0},
    {leaf_comes_below_one_that_moved, 1, 1, 0},
    {tree_grows_below_one_that_moved, 1, 1, 0},
    {trees_grow_below_two_that_moved, 1, 1, 0},
    {one_moves_after_its_child, 1, 1, 0},
    {all_of_a_chain_move_from_its_end, 1, 1, 0},
    {one_moves_below_its_child, 1, 1, 0},
    {child_follows_its_parent, 1, 1, 0},
    {one_moves_once_its_guest_has_gone, 1, 1, 0},
    {one_moves_again_once_its_guest_has_gone, 1, 1, 0},
    {leaf_comes_by_a_free_link, 1, 1, 0},
    {who_hung_by_a_free_link_comes_by_another, 1, 1, 0},
    {leaf_comes_below_who_has_no_placement, 1, 1, 0},
    {all_the_room_is_taken, 1, 1, 80},
    {as_many_come_as_may_be, 1, 1, 180},
    {leaf_keeps_its_world, 1, 0, 0},
    {leaf_keeps_its_world_in_part, 1, 0, 0},
    {leaf_inherits_in_part, 1, 0, 0},
    {leaf_comes_before_a_sibling, 1, 0, 0},
    {link_changes_in_place, 1, 0, 0},
    {one_with_children_moves, 1, 0, 0},
    {one_with_guests_moves, 1, 0, 0},
    {one_that_moved_moves_with_its_guest, 1, 0, 0},
    {root_moves, 1, 0, 0},
    {solo_moves, 1, 0, 0},
    {leaf_comes_below_a_solo, 1, 0, 0},
    {only_member_leaves, 1, 0, 0},
    {leaf_comes_below_itself, 1, 0, 0},
    {leaf_comes_below_the_dead, 1, 0, 0},
    {the_dead_move, 1, 0, 0},
    {leaf_comes_below_a_copy, 1, 0, 0},
    {copy_comes_aboard_too, 1, 0, 0},
    {parent_goes, 1, 0, 0},
    {parent_went, 1, 0, 0},
    {somebody_writes_to_the_ship, 1, 0, 0},
    {ship_has_a_ghost, 1, 0, 0},
    {other_ship_has_a_ghost, 1, 0, 0},
    {ship_is_stretched, 1, 0, 0},
    {other_ship_is_stretched, 1, 0, 0},
    {leaf_has_no_placement, 1, 0, 0},
    {world_overflows, 1, 0, 0},
    {world_overflows_and_is_finite_again, 1, 0, 0},
    {one_more_comes_than_may_be, 1, 0, 100},
    {leaf_comes_below_the_root_of_a_large_ship, 1, 0, 1200},
    {chain_is_deeper_than_may_be, 1, 0, 300},
    {more_meet_at_once_than_are_counted, 1, 0, VISITORS_NEED},
    {more_leave_than_are_counted, 1, 0, VISITORS_NEED},
};

START_TEST(each_condition_decides_which_way_and_both_ways_come_to_the_same)
{
    play_scene(&scenes[_i], (uint64_t)_i + 1);
}
END_TEST

// --- Many moves ---

// A job has 32 runs at least.
enum { SHIPS = 130, CREW = 4, PASSENGERS = SHIPS * CREW, TWO_JOBS = 64 };

// Ships so many that several jobs have their runs. @return the number of the first one.
static uint32_t add_fleet(dock *d)
{
    const uint32_t first = d->y.count;

    for (uint32_t i = 0; i < SHIPS; ++i) {
        (void)add_tree(d, CREW, 4);
    }
    return first;
}

// From each second ship a leaf comes below the root of the next one: many groups, each of few runs.
static void record_exchange(dock *d, uint32_t fleet)
{
    for (uint32_t ship = 0; ship + 1 < SHIPS; ship += 2) {
        const uint32_t next = fleet + (ship + 1) * CREW;
        uint32_t child = fleet + ship * CREW + 1;
        const uint32_t end = child + CREW - 1;

        while (child < end && espl_count_children(d->y.world, entity_of(d, child)) != 0) {
            child += 1;
        }
        if (child < end) {
            move(d, child, next);
        }
    }
}

// Of those who are leaves now some come below others, who may have moved before. Now and then somebody
// who has children moves too, or keeps its world.
static void record_moves(dock *d, uint32_t fleet)
{
    uint64_t *const random = &d->y.random;
    const uint32_t count = test_below(random, 120);
    const bool is_odd = test_one_in(random, 4);

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t child = fleet + test_below(random, PASSENGERS);
        const espl_entity parent = entity_of(d, fleet + test_below(random, PASSENGERS));
        espl_attach_options options = keep_local;
        const bool is_leaf = espl_count_children(d->y.world, entity_of(d, child)) == 0;

        options.link = test_one_in(random, 6) ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
        options.scale = is_odd && test_one_in(random, 100) ? ESPL_STAY_WORLD : ESPL_STAY_LOCAL;
        if (is_leaf || (is_odd && test_one_in(random, 50))) {
            ck_assert_int_eq(espl_record_attach(yard_lane(&d->y, test_below(random, YARD_LANES)),
                                                test_below(random, 5), entity_of(d, child), parent,
                                                &options),
                             ESPL_OK);
        }
    }
}

static void statuses_agree(const dock *a, const dock *b)
{
    for (uint32_t lane = 0; lane < YARD_LANES; ++lane) {
        espl_status status = ESPL_OK;

        for (uint32_t i = 0; status != ESPL_ERR_ARGUMENT; ++i) {
            status = espl_commands_result(a->y.bed.commands, lane, i);
            ck_assert_int_eq(status, espl_commands_result(b->y.bed.commands, lane, i));
        }
    }
}

// The first knows no short way, the third plays on any number of workers.
START_TEST(frames_of_moves_come_to_the_same_both_ways_on_any_executor)
{
    static dock docks[3];
    uint32_t fleets[3], groups = 0, most = 0;

    if (test_lacks_room(YARD_ENTITIES, "a fleet")) {
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        dock_begin(&docks[i], 300 + (uint64_t)_i, i == 0);
        fleets[i] = add_fleet(&docks[i]);
    }
    for (uint32_t frame = 0; frame < test_scaled(60) + 12; ++frame) {
        for (uint32_t i = 0; i < 3; ++i) {
            if (frame % 5 == 0) {
                record_exchange(&docks[i], fleets[i]);
            } else {
                record_moves(&docks[i], fleets[i]);
            }
        }
        (void)count_short(&docks[1], &groups);
        most = docks[1].respliced > most ? docks[1].respliced : most;
        bed_run_on(&docks[2].y.bed, stage_workers[frame % STAGE_WORKERS],
                   frame % 2 == 0 ? TEST_SHUFFLED : TEST_REVERSED);
        for (uint32_t i = 0; i < 3; ++i) {
            play(&docks[i]);
            statuses_agree(&docks[i], &docks[0]);
            docks_agree(&docks[i], &docks[0]);
        }
        for (uint32_t i = 0; i < 3; ++i) {
            espl_commands_reset(docks[i].y.bed.commands);
        }
        ck_assert_uint_eq(test_physical_hash(docks[1].y.world),
                          test_physical_hash(docks[2].y.world));
    }
    ck_assert_uint_gt(docks[1].does[ESPL__SHORT_MOVES], test_scaled(60) / 2);
    ck_assert_uint_ge(most, TWO_JOBS);
    for (uint32_t i = 0; i < 3; ++i) {
        dock_end(&docks[i]);
    }
}
END_TEST

START_TEST(without_memory_nothing_moves_and_a_later_playback_is_what_it_would_have_been)
{
    static dock d, twin;
    uint32_t groups = 0;

    if (test_lacks_room(YARD_ENTITIES, "a fleet")) {
        return;
    }
    dock_begin(&d, 5, false);
    dock_begin(&twin, 5, false);
    record_moves(&d, add_fleet(&d));
    record_moves(&twin, add_fleet(&twin));
    two_leaves_swap_ships(&d);
    two_leaves_swap_ships(&twin);
    (void)count_short(&d, &groups);
    ck_assert_uint_gt(d.does[ESPL__SHORT_MOVES], 0);
    ck_assert_uint_gt(play_without_memory(&d), 2);
    test_world_is_valid(d.y.world);
    play(&twin);
    docks_agree(&d, &twin);
    ck_assert_uint_eq(test_physical_hash(d.y.world), test_physical_hash(twin.y.world));
    dock_end(&d);
    dock_end(&twin);
}
END_TEST

static void record_fleet(dock *d)
{
    record_exchange(d, add_fleet(d));
}

START_TEST(a_lost_job_refuses_all_or_is_made_up_for)
{
    if (!test_lacks_room(YARD_ENTITIES, "a fleet")) {
        docks_lose_jobs(record_fleet);
    }
}
END_TEST

START_TEST(without_scratch_nothing_moves_and_with_it_all_does)
{
    docks_lack_scratch(two_leaves_swap_ships);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("reparent");
    TCase *const conditions = tcase_create("conditions");

    tcase_add_loop_test(conditions, each_condition_decides_which_way_and_both_ways_come_to_the_same,
                        0, sizeof scenes / sizeof *scenes);
    suite_add_tcase(suite, conditions);
    TCase *const frames = tcase_create("frames");

    tcase_set_timeout(frames, 300);
    tcase_add_loop_test(frames, frames_of_moves_come_to_the_same_both_ways_on_any_executor, 0, 3);
    tcase_add_test(frames,
                   without_memory_nothing_moves_and_a_later_playback_is_what_it_would_have_been);
    tcase_add_test(frames, a_lost_job_refuses_all_or_is_made_up_for);
    tcase_add_test(frames, without_scratch_nothing_moves_and_with_it_all_does);
    suite_add_tcase(suite, frames);
    return suite;
}

RUN_SUITE(make_suite)

// SPDX-License-Identifier: MIT
// Groups that only write: which of them need no sketch, each condition by itself, and that both
// ways come to what the writes one by one come to.
#include "lib/commands/written.h"
#include "tests/commands/dock.h"
#include "tests/runner.h"

// --- What is recorded ---

static void write_at(dock *d, uint32_t lane, uint32_t key, uint32_t number, espl_write_kind kind,
                     espl_write_value value)
{
    const espl_write write = {entity_of(d, number), kind, value};

    ck_assert_int_eq(espl_record_write(yard_lane(&d->y, lane), key, &write), ESPL_OK);
}

static void write_to(dock *d, uint32_t number, espl_write_kind kind, espl_write_value value)
{
    write_at(d, 0, 0, number, kind, value);
}

static espl_write_value vector(float x, float y, float z)
{
    return (espl_write_value){.position = {x, y, z}};
}

static espl_write_value scale(float value)
{
    return (espl_write_value){.scale = value};
}

// The parent of a member of a ship, by its number.
static uint32_t parent_of(const dock *d, uint32_t number)
{
    const espl_entity parent = espl_get_parent(d->y.world, entity_of(d, number));

    for (uint32_t i = 0; i < d->y.count; ++i) {
        if (espl_entity_equal(entity_of(d, i), parent)) {
            return i;
        }
    }
    ck_abort_msg("nobody's child");
    return 0;
}

static void root_is_written_to(dock *d)
{
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 2, 3));
}

static void all_are_written_to_backwards(dock *d)
{
    for (uint32_t i = MEMBERS; i-- > 0;) {
        write_to(d, d->ship + i, ESPL_WRITE_LOCAL_POSITION, vector((float)i, 2, 3));
    }
}

static void all_are_written_to_often(dock *d)
{
    for (uint32_t i = 0; i < 5 * MEMBERS; ++i) {
        write_to(d, d->ship + i * 7 % MEMBERS, ESPL_WRITE_TRANSLATE_LOCAL, vector(1, (float)i, 3));
    }
}

static void two_ships_and_a_solo_are_written_to(dock *d)
{
    write_to(d, d->ship + 3, ESPL_WRITE_LOCAL_SCALE, scale(0.5f));
    write_to(d, d->solo, ESPL_WRITE_WORLD_POSITION, vector(7, 7, 7));
    write_to(d, d->other + 1, ESPL_WRITE_ROTATE_LOCAL,
             (espl_write_value){.rotation = {0.6f, 0, 0, 0.8f}});
    write_to(d, d->ship + 9, ESPL_WRITE_TRANSLATE_WORLD, vector(0, 1, 0));
}

static void nothing_changes(dock *d)
{
    const espl_transform now = test_local_of(d->y.world, entity_of(d, d->ship + 2));

    write_to(d, d->ship + 2, ESPL_WRITE_LOCAL, (espl_write_value){.transform = now});
}

static void child_is_placed_in_the_world_behind_its_parent(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
    write_to(d, child, ESPL_WRITE_WORLD_POSITION, vector(1, 1, 1));
}

// The world of the child is what the parent moves away from: by rank it would not be.
static void child_is_placed_in_the_world_before_its_parent(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    write_to(d, child, ESPL_WRITE_WORLD_POSITION, vector(1, 1, 1));
    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
}

static void child_is_placed_in_the_world_before_the_root(dock *d)
{
    write_to(d, leaf_of(d, d->ship, 0), ESPL_WRITE_WORLD_SCALE, scale(3));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(0.5f));
}

static void child_is_placed_in_the_world_before_its_uncle(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);
    const uint32_t above = parent_of(d, child);
    uint32_t uncle = d->ship + 1;

    // One that is not above it.
    while (uncle == above || espl_count_children(d->y.world, entity_of(d, uncle)) != 0 ||
           uncle == child) {
        uncle += 1;
    }
    write_to(d, child, ESPL_WRITE_WORLD_POSITION, vector(1, 1, 1));
    write_to(d, uncle, ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
}

static void child_is_placed_between_two_writes_to_its_parent(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
    write_to(d, child, ESPL_WRITE_WORLD_POSITION, vector(1, 1, 1));
    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(5, 5, 7));
}

static void somebody_is_stretched_first(dock *d)
{
    write_to(d, d->ship + 2, ESPL_WRITE_STRETCH, vector(1, 2, 1));
}

static void somebody_gets_a_context_first(dock *d)
{
    write_to(d, d->ship + 2, ESPL_WRITE_CONTEXT, (espl_write_value){.context = 3});
}

static void contexts_stay_none(dock *d)
{
    write_to(d, d->ship + 2, ESPL_WRITE_CONTEXT, (espl_write_value){.context = 0});
    write_to(d, d->ship + 1, ESPL_WRITE_LOCAL, (espl_write_value){.transform = test_at(1, 1, 1)});
}

static void ship_is_stretched(dock *d)
{
    stretch(d, d->ship + 5);
    all_are_written_to_backwards(d);
    write_to(d, d->ship + 7, ESPL_WRITE_CONTEXT, (espl_write_value){.context = 3});
    write_to(d, d->ship + 5, ESPL_WRITE_MULTIPLY_STRETCH, vector(3, 2, 0.5f));
}

static void last_stretch_goes(dock *d)
{
    stretch(d, d->ship + 5);
    write_to(d, d->ship + 5, ESPL_WRITE_STRETCH, vector(1, 1, 1));
}

static void last_stretch_goes_where_it_was_prepaid(dock *d)
{
    ck_assert_int_eq(espl_reserve_side(d->y.world, entity_of(d, d->ship)), ESPL_OK);
    last_stretch_goes(d);
}

static void first_stretch_comes_where_it_was_prepaid(dock *d)
{
    ck_assert_int_eq(espl_reserve_side(d->y.world, entity_of(d, d->ship)), ESPL_OK);
    somebody_is_stretched_first(d);
}

static void keeping_child_is_written_to_behind_its_parent(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    ck_assert_int_eq(espl_set_inherit(d->y.world, entity_of(d, child), ESPL_KEEP_POSITION),
                     ESPL_OK);
    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
    write_to(d, child, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

// What is kept is the world it had when it was written.
static void keeping_child_is_written_to_before_its_parent(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    ck_assert_int_eq(espl_set_inherit(d->y.world, entity_of(d, child), ESPL_KEEP_POSITION),
                     ESPL_OK);
    write_to(d, child, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
}

static void copying_child_is_written_to(dock *d)
{
    const uint32_t child = leaf_of(d, d->ship, 0);

    ck_assert_int_eq(espl_set_inherit(d->y.world, entity_of(d, child), ESPL_COPY_PARENT), ESPL_OK);
    write_to(d, parent_of(d, child), ESPL_WRITE_LOCAL_POSITION, vector(9, 8, 7));
    write_to(d, child, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

static void member_without_placement_is_written_to(dock *d)
{
    const uint32_t number = add_entity(d, entity_of(d, d->ship), true);

    write_to(d, number, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

static void somebody_else_has_no_placement(dock *d)
{
    const uint32_t number = add_entity(d, entity_of(d, d->ship + 3), true);

    (void)add_entity(d, entity_of(d, number), false);
    write_to(d, d->ship + 3, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(0.25f));
}

static void ship_has_a_ghost(dock *d)
{
    make_ghost(d, d->ship);
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

static void dead_are_written_to(dock *d)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, d->solo)), ESPL_OK);
    write_to(d, d->solo, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

static void somebody_goes_too(dock *d)
{
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    destroy(d, leaf_of(d, d->ship, 0));
}

static void somebody_gets_inherit_flags_too(dock *d)
{
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    ck_assert_int_eq(
        espl_record_set_inherit(d->lane, 0, entity_of(d, leaf_of(d, d->ship, 0)), ESPL_KEEP_SCALE),
        ESPL_OK);
}

static void others_spawn_and_go(dock *d)
{
    write_to(d, d->other, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    clone(d, d->prefab, d->ship + 3);
    destroy(d, leaf_of(d, d->ship, 1));
}

// Who is copied has come to stand where the write, which is earlier, put it.
static void source_is_written_to(dock *d)
{
    write_to(d, d->prefab, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    clone(d, d->prefab, d->ship);
}

// --- Overflow ---

static void leaf_overflows(dock *d)
{
    const uint32_t leaf = leaf_of(d, d->ship, 0);
    const espl_transform far = test_at(3e38f, 0, 0);

    write_to(d, d->ship, ESPL_WRITE_LOCAL, (espl_write_value){.transform = test_at(0, 0, 0)});
    play(d);
    espl_commands_reset(d->y.bed.commands);
    write_to(d, leaf, ESPL_WRITE_LOCAL_SCALE, scale(2));
    write_to(d, leaf, ESPL_WRITE_WORLD, (espl_write_value){.transform = far});
    write_to(d, leaf, ESPL_WRITE_TRANSLATE_WORLD, vector(3e38f, 0, 0));
    write_to(d, leaf, ESPL_WRITE_MULTIPLY_SCALE, scale(3e38f));
    write_to(d, leaf, ESPL_WRITE_MULTIPLY_SCALE, scale(3e38f));
}

static void child_overflows_by_its_parent(dock *d)
{
    write_to(d, d->ship + 1, ESPL_WRITE_LOCAL_SCALE, scale(1e38f));
    write_to(d, d->ship + 2, ESPL_WRITE_LOCAL_POSITION, vector(100, 0, 0));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1, 2, 3));
}

// A later write takes back what made it overflow: the first is refused all the same.
static void overflow_is_hidden(dock *d)
{
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(1e38f));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(1e38f));
    write_to(d, d->ship + 1, ESPL_WRITE_LOCAL_POSITION, vector(100, 0, 0));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(1));
}

// The member of a ship whose rank is highest.
static uint32_t last_of(const dock *d, uint32_t ship)
{
    const espl_world *const world = d->y.world;
    uint32_t last = ship;

    for (uint32_t i = ship; i < ship + MEMBERS; ++i) {
        const uint32_t rank = world->forest.rank[slot_of(world, entity_of(d, i))];

        last = rank > world->forest.rank[slot_of(world, entity_of(d, last))] ? i : last;
    }
    return last;
}

// What would overflow is the last of the lowest level, and nobody writes to it.
static void overflow_of_one_behind_is_hidden(dock *d, bool is_stretched)
{
    const espl_entity above = entity_of(d, last_of(d, d->ship));

    (void)add_entity(d, above, false);
    const uint32_t large = add_entity(d, above, false);
    espl_transform value = espl_transform_identity();

    value.scale = 1e25f;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, large), &value), ESPL_OK);
    if (is_stretched) {
        stretch(d, d->ship + 1);
    }
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(1e25f));
    write_to(d, d->ship, ESPL_WRITE_LOCAL_SCALE, scale(1));
}

static void overflow_of_one_who_is_not_written_to_is_hidden(dock *d)
{
    overflow_of_one_behind_is_hidden(d, false);
}

static void overflow_of_one_in_a_stretched_ship_is_hidden(dock *d)
{
    overflow_of_one_behind_is_hidden(d, true);
}

static void translations_add_up(dock *d)
{
    for (uint32_t i = 0; i < 40; ++i) {
        write_to(d, d->ship, ESPL_WRITE_TRANSLATE_LOCAL, vector(1e37f, 0, 0));
    }
    for (uint32_t i = 0; i < 40; ++i) {
        write_to(d, d->ship, ESPL_WRITE_TRANSLATE_LOCAL, vector(-1e37f, 0, 0));
    }
}

static void factors_multiply(dock *d)
{
    for (uint32_t i = 0; i < 160; ++i) {
        write_to(d, d->ship, ESPL_WRITE_MULTIPLY_SCALE, scale(i < 80 ? 4 : 0.25f));
    }
}

static void values_are_far_but_not_too_far(dock *d)
{
    write_to(d, d->ship, ESPL_WRITE_LOCAL_POSITION, vector(1e35f, -1e35f, 0));
    write_to(d, d->ship + 1, ESPL_WRITE_WORLD_POSITION, vector(1e34f, 0, 0));
    write_to(d, d->ship + 1, ESPL_WRITE_LOCAL_SCALE, scale(2));
}

static void something_divides(dock *d)
{
    espl_transform by = test_at(1, 2, 3);

    by.scale = 0;
    write_to(d, d->ship, ESPL_WRITE_INVERSE_TRANSFORM_LOCAL, (espl_write_value){.transform = by});
}

static void leaf_is_divided_by_nothing(dock *d)
{
    espl_transform by = test_at(1, 2, 3);

    by.scale = 0;
    write_to(d, leaf_of(d, d->ship, 0), ESPL_WRITE_INVERSE_TRANSFORM_LOCAL,
             (espl_write_value){.transform = by});
}

// --- Sizes ---

static void few_of_many_are_written_to(dock *d, uint32_t extra)
{
    for (uint32_t i = 0; i < extra; ++i) {
        (void)add_entity(d, entity_of(d, d->ship), false);
    }
    write_to(d, d->ship + 1, ESPL_WRITE_LOCAL_POSITION, vector(1, 2, 3));
}

static void few_of_not_so_many_are_written_to(dock *d)
{
    few_of_many_are_written_to(d, 256 - MEMBERS);
}

static void few_of_more_are_written_to(dock *d)
{
    few_of_many_are_written_to(d, 257 - MEMBERS);
}

static void leaf_of_more_is_written_to(dock *d)
{
    few_of_many_are_written_to(d, 257 - MEMBERS);
    espl_commands_reset(d->y.bed.commands);
    write_to(d, leaf_of(d, d->ship, 0), ESPL_WRITE_LOCAL_POSITION, vector(1, 2, 3));
}

// Not in the order of ranks, and too many to be sorted where they stand.
static void all_of_a_chain_are_written_to(dock *d)
{
    const uint32_t top = add_tree(d, 300, 1);

    for (uint32_t i = 300; i-- > 0;) {
        write_to(d, top + i, ESPL_WRITE_LOCAL_POSITION, vector(0.5f, (float)i, 0));
    }
}

// Nobody above is written to later, but somebody whose rank is lower.
static void aunt_of_a_deep_one_is_written_to_later(dock *d, uint32_t levels)
{
    const uint32_t top = add_tree(d, levels, 1);
    const uint32_t aunt = add_entity(d, entity_of(d, top), false);

    write_to(d, top, ESPL_WRITE_LOCAL_POSITION, vector(3, 2, 1)); // not leaves alone
    write_to(d, top + levels - 1, ESPL_WRITE_WORLD_POSITION, vector(0.5f, 1, 0));
    write_to(d, aunt, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
}

static void aunt_of_one_as_deep_as_may_be(dock *d)
{
    aunt_of_a_deep_one_is_written_to_later(d, 65);
}

static void aunt_of_one_too_deep(dock *d)
{
    aunt_of_a_deep_one_is_written_to_later(d, 66);
}

static const scene scenes[] = {
    {root_is_written_to, 1, 1, 0},
    {all_are_written_to_backwards, 1, 1, 0},
    {all_are_written_to_often, 1, 1, 0},
    {two_ships_and_a_solo_are_written_to, 3, 3, 0},
    {nothing_changes, 1, 1, 0},
    {child_is_placed_in_the_world_behind_its_parent, 1, 1, 0},
    {child_is_placed_in_the_world_before_its_parent, 1, 0, 0},
    {child_is_placed_in_the_world_before_the_root, 1, 0, 0},
    {child_is_placed_in_the_world_before_its_uncle, 1, 1, 0},
    {child_is_placed_between_two_writes_to_its_parent, 1, 0, 0},
    {somebody_is_stretched_first, 1, 0, 0},
    {somebody_gets_a_context_first, 1, 0, 0},
    {contexts_stay_none, 1, 1, 0},
    {ship_is_stretched, 1, 1, 0},
    {last_stretch_goes, 1, 1, 0},
    {last_stretch_goes_where_it_was_prepaid, 1, 1, 0},
    {first_stretch_comes_where_it_was_prepaid, 1, 1, 0},
    {keeping_child_is_written_to_behind_its_parent, 1, 1, 0},
    {keeping_child_is_written_to_before_its_parent, 1, 0, 0},
    {member_without_placement_is_written_to, 1, 0, 0},
    {somebody_else_has_no_placement, 1, 1, 0},
    {ship_has_a_ghost, 1, 0, 0},
    {dead_are_written_to, 2, 1, 0},
    {somebody_goes_too, 1, 0, 0},
    {somebody_gets_inherit_flags_too, 1, 0, 0},
    {others_spawn_and_go, 2, 2, 0},
    {source_is_written_to, 1, 0, 0},
    {child_overflows_by_its_parent, 1, 0, 0},
    {overflow_is_hidden, 1, 0, 0},
    {overflow_of_one_who_is_not_written_to_is_hidden, 1, 0, 0},
    {overflow_of_one_in_a_stretched_ship_is_hidden, 1, 0, 0},
    {translations_add_up, 1, 0, 0},
    {factors_multiply, 1, 0, 0},
    {values_are_far_but_not_too_far, 1, 1, 0},
    {something_divides, 1, 0, 0},
    {leaf_is_divided_by_nothing, 1, 1, 0},
    {few_of_not_so_many_are_written_to, 1, 1, 400},
    {few_of_more_are_written_to, 1, 0, 400},
    {leaf_of_more_is_written_to, 1, 1, 400},
    {all_of_a_chain_are_written_to, 1, 1, 400},
    {aunt_of_one_as_deep_as_may_be, 1, 1, 200},
    {aunt_of_one_too_deep, 1, 0, 200},
};

START_TEST(each_condition_decides_which_way_and_both_ways_come_to_the_same)
{
    play_scene(&scenes[_i], (uint64_t)_i + 1);
}
END_TEST

// Some of these are refused, which a short way can do too.
static const scene refused_scenes[] = {
    {leaf_overflows, 1, 1, 0},
    {copying_child_is_written_to, 1, 1, 0},
};

START_TEST(a_write_that_is_refused_is_so_both_ways_and_alone)
{
    ck_assert_uint_ge(play_both_ways(&refused_scenes[_i], (uint64_t)_i + 1), 1);
}
END_TEST

// --- Against writes one by one ---

// A write with the place that it is recorded at.
typedef struct step {
    espl_write write;
    uint32_t key, lane;
    uint32_t index; // in the lane
} step;

enum { STEPS = 160 };

static espl_write_value any_value(uint64_t *random, espl_write_kind kind, bool is_wild)
{
    const float far = is_wild && test_one_in(random, 12) ? 1e30f : 4;
    espl_write_value value = {.transform = random_transform(random, test_one_in(random, 3))};

    switch (espl__write_value_type(kind)) {
    case ESPL__VALUE_VECTOR:
        for (int i = 0; i < 3; ++i) {
            value.position[i] = test_one_in(random, 5) ? 1 : test_between(random, -far, far);
        }
        break;
    case ESPL__VALUE_SCALAR:
        value.scale = test_between(random, -1, is_wild && test_one_in(random, 9) ? 1e15f : 2);
        break;
    case ESPL__VALUE_WORD:
        value.context = test_below(random, 2);
        break;
    default:
        break;
    }
    return value;
}

// Trees of all kinds: plain and stretched, with inherit flags, with members without placement.
static uint32_t plant_for_writes(dock *d, uint32_t variant)
{
    const uint32_t first = d->y.count;

    for (uint32_t tree = 0; tree < 4; ++tree) {
        const uint32_t root = add_tree(d, 12 + tree * 5, 1 + tree * 2);

        for (uint32_t i = 0; variant != 0 && i < 4; ++i) {
            const uint32_t number = root + 1 + test_below(&d->y.random, 10);
            const espl_entity entity = entity_of(d, number);

            if ((variant & 1) != 0 && espl_get_inherit(d->y.world, entity) != ESPL_COPY_PARENT) {
                stretch(d, number);
            }
            if ((variant & 2) != 0) {
                const espl_status status =
                    espl_set_inherit(d->y.world, entity, random_inherit(&d->y.random));

                ck_assert_int_ge(status, ESPL_OK);
            }
            if ((variant & 4) != 0) {
                (void)add_entity(d, entity, true);
            }
        }
    }
    return first;
}

// Hot ones are written to again and again. In worlds of some variants everybody's values are wild.
static uint32_t make_steps(dock *d, step *steps, uint32_t first, uint32_t variant)
{
    uint64_t *const random = &d->y.random;
    const uint32_t span = d->y.count - first;
    const bool is_local = test_one_in(random, 2), is_wild = (variant & 8) != 0;
    const bool divides = test_one_in(random, 4), is_plain = test_one_in(random, 2);
    const uint32_t count = test_one_in(random, 2) ? STEPS / 8 : test_below(random, STEPS);
    uint32_t indices[YARD_LANES] = {0};

    for (uint32_t i = 0; i < count; ++i) {
        espl_write *const write = &steps[i].write;

        do {
            write->kind = (espl_write_kind)test_below(random, ESPL_WRITE_KIND_COUNT);
            write->value = any_value(random, write->kind, is_wild);
        } while ((is_local && !espl__write_is_local(write->kind)) ||
                 (is_plain && espl__write_wants_side(write->kind, &write->value)) ||
                 (!divides && (write->kind == ESPL_WRITE_INVERSE_TRANSFORM_LOCAL ||
                               write->kind == ESPL_WRITE_INVERSE_TRANSFORM_WORLD)));
        write->entity = entity_of(d, first + test_below(random, test_one_in(random, 3) ? 6 : span));
        steps[i].key = test_below(random, 3);
        steps[i].lane = test_below(random, YARD_LANES);
        steps[i].index = indices[steps[i].lane]++;
    }
    return count;
}

static bool comes_before(const step *a, const step *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    return a->lane != b->lane ? a->lane < b->lane : a->index < b->index;
}

// The steps in playback order, at once; each answers what playback answered.
static void write_one_by_one(dock *once, const dock *played, const step *steps, uint32_t count)
{
    bool is_done[STEPS] = {false};

    for (uint32_t n = 0; n < count; ++n) {
        const step *next = NULL;

        for (uint32_t i = 0; i < count; ++i) {
            next =
                !is_done[i] && (next == NULL || comes_before(&steps[i], next)) ? &steps[i] : next;
        }
        espl_write_report report;

        is_done[next - steps] = true;
        ck_assert_int_ge(espl_write_batch(once->y.world, &next->write, 1, &report), ESPL_OK);
        const espl_status status = report.refused != 0 ? report.first_status
                                   : report.lossy != 0 ? ESPL_LOSSY
                                                       : ESPL_OK;

        ck_assert_int_eq(status,
                         espl_commands_result(played->y.bed.commands, next->lane, next->index));
    }
}

// @return groups of the short way that write.
static uint32_t compare_ways(uint64_t seed, uint32_t variant)
{
    static dock all[3]; // short, long, at once
    static step steps[STEPS];
    uint32_t groups = 0, count = 0;
    dock *const quick = &all[0];

    for (uint32_t i = 0; i < 3; ++i) {
        dock_begin(&all[i], seed, i == 1);
        const uint32_t first = plant_for_writes(&all[i], variant);

        count = make_steps(&all[i], steps, first, variant);
        for (uint32_t k = 0; i < 2 && k < count; ++k) {
            ck_assert_int_eq(espl_record_write(yard_lane(&all[i].y, steps[k].lane), steps[k].key,
                                               &steps[k].write),
                             ESPL_OK);
        }
    }
    (void)count_short(quick, &groups);
    bed_run_on(&quick->y.bed, stage_workers[seed % STAGE_WORKERS], TEST_SHUFFLED);
    play(quick);
    play(&all[1]);
    write_one_by_one(&all[2], quick, steps, count);
    ck_assert_uint_eq(quick->report.accepted, count);
    ck_assert_uint_eq(quick->report.applied + quick->report.refused, count);
    answers_agree(quick, &all[1]);
    docks_agree(quick, &all[1]);
    docks_agree(quick, &all[2]);
    worlds_agree(quick, &all[1]);
    test_world_is_valid(quick->y.world);
    for (uint32_t i = 0; i < 3; ++i) {
        all[i].y.playback->executor = &all[i].y.world->executor;
        dock_end(&all[i]);
    }
    return quick->does[ESPL__SHORT_WRITE];
}

START_TEST(any_writes_come_to_what_they_come_to_one_by_one)
{
    uint32_t shorts = 0;

    if (test_lacks_room(300, "trees of all kinds")) {
        return;
    }
    for (uint64_t round = 0; round < test_scaled(25) + 6; ++round) {
        shorts += compare_ways(round * 16 + (uint64_t)_i + 1, (uint32_t)_i);
    }
    ck_assert_uint_gt(shorts, 0);
}
END_TEST

// --- Which one counts ---

static espl_transform local_of(const dock *d, uint32_t number)
{
    return test_local_of(d->y.world, entity_of(d, number));
}

START_TEST(last_key_wins_per_entity_and_kind)
{
    static dock d;

    dock_begin(&d, 1, _i == 1);
    const uint32_t a = d.ship + 1, b = d.ship + 2;

    // Over keys, whatever the order in which they were recorded, and over lanes of one key.
    write_at(&d, 0, 9, a, ESPL_WRITE_LOCAL_POSITION, vector(9, 9, 9));
    write_at(&d, 0, 3, a, ESPL_WRITE_LOCAL_POSITION, vector(3, 3, 3));
    write_at(&d, 2, 5, a, ESPL_WRITE_LOCAL_POSITION, vector(5, 5, 5));
    write_at(&d, 2, 4, b, ESPL_WRITE_LOCAL_POSITION, vector(2, 2, 2));
    write_at(&d, 1, 4, b, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    // Another kind of the same entity is another word, unless it says the same part.
    write_at(&d, 1, 1, a, ESPL_WRITE_LOCAL_SCALE, scale(0.5f));
    write_at(&d, 1, 1, d.solo, ESPL_WRITE_LOCAL_POSITION, vector(1, 1, 1));
    write_at(&d, 0, 2, d.solo, ESPL_WRITE_LOCAL, (espl_write_value){.transform = test_at(4, 5, 6)});
    write_at(&d, 2, 2, d.solo, ESPL_WRITE_LOCAL_SCALE, scale(3));
    play(&d);

    ck_assert(local_of(&d, a).position[0] == 9 && local_of(&d, a).scale == 0.5f);
    ck_assert(local_of(&d, b).position[0] == 2);
    ck_assert(local_of(&d, d.solo).position[2] == 6 && local_of(&d, d.solo).scale == 3);
    // None is lost: all were carried out, one after the other.
    ck_assert_uint_eq(d.report.accepted, 9);
    ck_assert_uint_eq(d.report.applied, 9);
    dock_end(&d);
}
END_TEST

START_TEST(what_adds_up_counts_each_time)
{
    static dock d;

    dock_begin(&d, 1, _i == 1);
    const uint32_t a = d.solo;

    write_at(&d, 2, 7, a, ESPL_WRITE_TRANSLATE_LOCAL, vector(1, 0, 0));
    write_at(&d, 0, 7, a, ESPL_WRITE_TRANSLATE_LOCAL, vector(1, 0, 0));
    write_at(&d, 0, 0, a, ESPL_WRITE_LOCAL, (espl_write_value){.transform = test_at(10, 0, 0)});
    write_at(&d, 1, 7, a, ESPL_WRITE_MULTIPLY_SCALE, scale(2));
    write_at(&d, 1, 8, a, ESPL_WRITE_MULTIPLY_SCALE, scale(2));
    play(&d);

    ck_assert(local_of(&d, a).position[0] == 12 && local_of(&d, a).scale == 4);
    ck_assert_uint_eq(d.report.applied, 5);
    dock_end(&d);
}
END_TEST

// --- Side arrays ---

START_TEST(writes_leave_side_arrays_where_they_are)
{
    static dock d;

    dock_begin(&d, 1, false);
    stretch(&d, d.ship + 5);
    const espl__side *const side = run_of(&d, d.ship)->side;

    all_are_written_to_backwards(&d);
    write_to(&d, d.ship + 7, ESPL_WRITE_CONTEXT, (espl_write_value){.context = 3});
    play(&d);
    ck_assert_ptr_eq(run_of(&d, d.ship)->side, side);
    ck_assert_uint_eq(d.report.rebuilt_nodes, 0);
    ck_assert_uint_eq(d.report.applied, MEMBERS + 1);
    dock_end(&d);
}
END_TEST

// --- Faults of others ---

static void record_many(dock *d)
{
    for (uint32_t i = 0; i < 4 * MEMBERS; ++i) {
        write_at(d, i % YARD_LANES, i % 5, i % 2 == 0 ? d->ship + i / 4 : d->other + i / 4,
                 ESPL_WRITE_TRANSLATE_LOCAL, vector(1, (float)i, 0));
        write_at(d, 0, 0, d->prefab + i % PREFAB, ESPL_WRITE_LOCAL_SCALE, scale(0.5f));
    }
}

static void record_stretched(dock *d)
{
    stretch(d, d->other + 5);
    record_many(d);
}

START_TEST(without_memory_nothing_is_written)
{
    ck_assert_uint_gt(docks_lack_memory(record_stretched, 5), 0);
}
END_TEST

START_TEST(without_scratch_nothing_is_written_and_with_it_all_is)
{
    docks_lack_scratch(record_many);
}
END_TEST

START_TEST(a_lost_job_is_made_up_for)
{
    static dock lossy, calm;
    dock *const both[2] = {&lossy, &calm};

    for (uint32_t i = 0; i < 2; ++i) {
        dock_begin(both[i], 3, false);
        record_many(both[i]);
        yard_open(&both[i]->y);
        ck_assert_int_eq(yard_prepare(&both[i]->y), ESPL_OK);
        ck_assert_uint_eq(both[i]->y.playback->writing.short_count, 3);
    }
    bed_run_on(&lossy.y.bed, 2, TEST_SKIPS_ONE);
    espl__written_patch(lossy.y.playback);
    espl__written_patch(calm.y.playback);
    // Behind the patch nothing is left but to answer.
    lossy.y.playback->executor = &lossy.y.world->executor;
    yard_close(&lossy.y, false);
    yard_close(&calm.y, false);
    ck_assert_uint_eq(lossy.y.bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    test_world_is_valid(lossy.y.world);
    ck_assert_uint_eq(test_physical_hash(lossy.y.world), test_physical_hash(calm.y.world));
    dock_end(&lossy);
    dock_end(&calm);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("written");
    TCase *const conditions = tcase_create("conditions");
    TCase *const writes = tcase_create("writes");

    tcase_add_loop_test(conditions, each_condition_decides_which_way_and_both_ways_come_to_the_same,
                        0, sizeof scenes / sizeof *scenes);
    tcase_add_loop_test(conditions, a_write_that_is_refused_is_so_both_ways_and_alone, 0,
                        sizeof refused_scenes / sizeof *refused_scenes);
    suite_add_tcase(suite, conditions);
    tcase_set_timeout(writes, 300);
    tcase_add_loop_test(writes, any_writes_come_to_what_they_come_to_one_by_one, 0, 16);
    tcase_add_loop_test(writes, last_key_wins_per_entity_and_kind, 0, 2);
    tcase_add_loop_test(writes, what_adds_up_counts_each_time, 0, 2);
    tcase_add_test(writes, writes_leave_side_arrays_where_they_are);
    tcase_add_test(writes, without_memory_nothing_is_written);
    tcase_add_test(writes, without_scratch_nothing_is_written_and_with_it_all_is);
    tcase_add_test(writes, a_lost_job_is_made_up_for);
    suite_add_tcase(suite, writes);
    return suite;
}

RUN_SUITE(make_suite)

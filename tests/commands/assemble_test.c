// SPDX-License-Identifier: MIT
// The short way of assembly: solos come together into one hierarchy. Which groups go it, each
// condition by itself, and that it comes to what the long way comes to.
#include "tests/commands/dock.h"
#include "tests/runner.h"

static const espl_attach_options keep_local = {
    .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};

// --- What is recorded ---

static uint32_t add_solos(dock *d, uint32_t count)
{
    const uint32_t first = d->y.count;

    for (uint32_t i = 0; i < count; ++i) {
        (void)add_entity(d, espl_entity_null(), false);
    }
    return first;
}

static void attach_with(dock *d, uint32_t child, uint32_t parent,
                        const espl_attach_options *options)
{
    ck_assert_int_eq(
        espl_record_attach(d->lane, 0, entity_of(d, child), entity_of(d, parent), options),
        ESPL_OK);
}

static void hang(dock *d, uint32_t child, uint32_t parent)
{
    attach_with(d, child, parent, &keep_local);
}

static espl_transform any_local(dock *d)
{
    espl_transform value = random_transform(&d->y.random, false);

    value.scale = test_between(&d->y.random, 0.5f, 1);
    return value;
}

static void put(dock *d, uint32_t number, const espl_transform *value)
{
    ck_assert_int_eq(espl_record_set_local(d->lane, 0, entity_of(d, number), value), ESPL_OK);
}

static void write(dock *d, uint32_t number)
{
    const espl_transform value = any_local(d);

    put(d, number, &value);
}

static void two_come_together(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
}

static void chain_grows_from_its_root(dock *d)
{
    const uint32_t first = add_solos(d, 9);

    for (uint32_t i = 1; i < 9; ++i) {
        hang(d, first + i, first + i - 1);
    }
}

static void chain_grows_from_its_end(dock *d)
{
    const uint32_t first = add_solos(d, 9);

    for (uint32_t i = 9; i-- > 1;) {
        hang(d, first + i, first + i - 1);
    }
}

// The root is none that was touched first, and levels have several nodes in mixed order.
static void bush_comes_together_in_any_order(dock *d)
{
    enum { COUNT = 40, STEP = 17 }; // has no divisor in common with COUNT - 1
    const uint32_t first = add_solos(d, COUNT);

    for (uint32_t i = 0; i < COUNT - 1; ++i) {
        const uint32_t child = 1 + i * STEP % (COUNT - 1);

        hang(d, first + child, first + (child - 1) / 3);
    }
}

static void children_come_in_order_of_keys(dock *d)
{
    const uint32_t first = add_solos(d, 8);

    for (uint32_t i = 1; i < 8; ++i) {
        ck_assert_int_eq(espl_record_attach(yard_lane(&d->y, i % YARD_LANES), 9 - i / 2,
                                            entity_of(d, first + i),
                                            entity_of(d, first + (i > 5 ? 2 : 0)), &keep_local),
                         ESPL_OK);
    }
}

static void several_trees_at_once(dock *d)
{
    const uint32_t first = add_solos(d, 12);

    for (uint32_t i = 3; i < 12; ++i) {
        hang(d, first + i, first + i % 3);
    }
}

static void all_are_written_before(dock *d)
{
    const uint32_t first = add_solos(d, 6);

    for (uint32_t i = 0; i < 6; ++i) {
        write(d, first + i);
    }
    for (uint32_t i = 1; i < 6; ++i) {
        hang(d, first + i, first + (i - 1) / 2);
    }
}

static void all_are_written_behind(dock *d)
{
    const uint32_t first = add_solos(d, 6);

    for (uint32_t i = 6; i-- > 1;) {
        hang(d, first + i, first + (i - 1) / 2);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        write(d, first + i);
        write(d, first + i);
    }
}

// The root's world stays, bit for bit.
static void values_are_as_they_were(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    for (uint32_t i = 0; i < 3; ++i) {
        const espl_transform value = test_local_of(d->y.world, entity_of(d, first + i));

        put(d, first + i, &value);
    }
    hang(d, first + 1, first);
    hang(d, first + 2, first + 1);
}

// One by each kind of write, while it is a solo, a root, a member with a child, a leaf.
static void all_kinds_are_written(dock *d)
{
    const uint32_t first = add_solos(d, 5);

    for (uint32_t when = 0; when < 4; ++when) {
        for (uint32_t kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
            const bool is_scalar =
                espl__write_value_type((espl_write_kind)kind) == ESPL__VALUE_SCALAR;
            const bool is_extra = kind == ESPL_WRITE_STRETCH || kind == ESPL_WRITE_MULTIPLY_STRETCH;
            espl_write w = {.entity = entity_of(d, first + (kind + when) % 5),
                            .kind = (espl_write_kind)kind};

            w.value.transform = any_local(d);
            if (is_scalar) {
                w.value.scale = 0.75f;
            } else if (is_extra) {
                w.value.stretch[0] = w.value.stretch[1] = w.value.stretch[2] = 1;
            } else if (kind == ESPL_WRITE_CONTEXT) {
                w.value.context = 0;
            }
            ck_assert_int_eq(espl_record_write(d->lane, 0, &w), ESPL_OK);
        }
        if (when < 3) {
            hang(d, first + 3 - when, first + (when == 2 ? 4 : 2 - when));
        }
    }
    hang(d, first + 4, first);
}

static void worlds_are_kept_from_the_root_on(dock *d)
{
    const uint32_t first = add_solos(d, 9);

    for (uint32_t i = 1; i < 9; ++i) {
        attach_with(d, first + i, first + (i - 1) / 2, NULL);
    }
}

static void worlds_are_kept_from_the_leaves_on(dock *d)
{
    const uint32_t first = add_solos(d, 9);

    for (uint32_t i = 9; i-- > 1;) {
        attach_with(d, first + i, first + (i - 1) / 2, NULL);
    }
}

// What is known of a world is forgotten where one above it changes.
static void worlds_are_kept_between_writes(dock *d)
{
    const uint32_t first = add_solos(d, 8);

    for (uint32_t i = 1; i < 7; ++i) {
        attach_with(d, first + i, first + i - 1, i % 3 == 0 ? &keep_local : NULL);
        write(d, first + (i * 5) % 7);
    }
    attach_with(d, first, first + 7, NULL);
    write(d, first + 7);
    write(d, first + 3);
}

static void parts_stay_as_the_options_say(dock *d)
{
    const espl_stay stays[] = {ESPL_STAY_WORLD, ESPL_STAY_LOCAL, ESPL_STAY_NONE};
    const uint32_t first = add_solos(d, 28);

    for (uint32_t i = 1; i < 28; ++i) {
        const espl_attach_options options = {
            .position = stays[i % 3], .rotation = stays[i / 3 % 3], .scale = stays[i / 9 % 3]};

        attach_with(d, first + i, first + i / 4, &options);
    }
}

static void links_are_free(dock *d)
{
    const uint32_t first = add_solos(d, 5);
    espl_attach_options options = keep_local;

    for (uint32_t i = 1; i < 5; ++i) {
        options.link = i % 2 == 0 ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
        attach_with(d, first + i, first + (i - 1) / 2, &options);
    }
}

// Rows of several archetypes change their roles.
static void solos_differ_in_components(dock *d)
{
    const uint32_t first = add_solos(d, 7);

    for (uint32_t i = 0; i < 7; i += 2) {
        refer(d, first + i);
        ck_assert_int_eq(espl_add(d->y.world, entity_of(d, first + i),
                                  i % 4 == 0 ? ESPL_PREFAB : ESPL_DISABLED, NULL, 0),
                         ESPL_OK);
    }
    for (uint32_t i = 1; i < 7; ++i) {
        hang(d, first + i, first + i / 3);
    }
}

// Beside it others go their ways.
static void ships_are_changed_meanwhile(dock *d)
{
    chain_grows_from_its_end(d);
    clone(d, d->prefab, d->ship + 3);
    destroy(d, leaf_of(d, d->other, 0));
}

// Scales that grow, but not too far.
static void scales_multiply(dock *d)
{
    const uint32_t first = add_solos(d, 8);

    for (uint32_t i = 0; i < 8; ++i) {
        espl_transform value = any_local(d);

        value.scale = -1000;
        put(d, first + i, &value);
    }
    for (uint32_t i = 1; i < 8; ++i) {
        hang(d, first + i, first + i - 1);
    }
}

// --- Entities that are made ---

// One with a word, at a place; `parent` UINT32_MAX: none. @return its number.
static uint32_t create_as(dock *d, uint32_t key, uint32_t parent, espl_creation_def def)
{
    const uint32_t number = d->y.count++;
    const espl_transform value = any_local(d);
    espl_component_value values[4] = {
        {.component = d->word, .data = &number, .size = sizeof number},
        {.component = ESPL_PLACEMENT, .data = &value, .size = sizeof value}};

    for (size_t i = 0; i < def.value_count; ++i) {
        values[2 + i] = def.values[i];
    }
    def.value_count += 2;
    def.values = values;
    def.parent = parent == UINT32_MAX ? espl_entity_null() : entity_of(d, parent);
    ck_assert_int_eq(espl_record_create(d->lane, key, &def, 1, &d->y.entities[number]), ESPL_OK);
    return number;
}

static uint32_t create(dock *d, uint32_t parent)
{
    return create_as(d, 0, parent, (espl_creation_def){0});
}

static void one_is_made(dock *d)
{
    (void)create(d, UINT32_MAX);
}

static void tree_is_made_below_its_root(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX);

    for (uint32_t i = 1; i < 12; ++i) {
        (void)create(d, root + (i - 1) / 3);
    }
}

static void trees_are_made_in_turns(dock *d)
{
    const uint32_t first = create(d, UINT32_MAX);

    (void)create(d, UINT32_MAX);
    for (uint32_t i = 2; i < 12; ++i) {
        (void)create(d, first + i - 2);
    }
}

static void all_are_made_then_attached_from_the_leaves_on(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX);

    for (uint32_t i = 1; i < 9; ++i) {
        (void)create(d, UINT32_MAX);
        write(d, root + i);
    }
    for (uint32_t i = 9; i-- > 1;) {
        attach_with(d, root + i, root + (i - 1) / 2, i % 2 == 0 ? NULL : &keep_local);
    }
    write(d, root);
}

static void some_are_made_below_solos(dock *d)
{
    const uint32_t solo = add_solos(d, 2), made = create(d, solo);

    hang(d, solo + 1, made);
    (void)create(d, solo + 1);
}

static void solos_come_below_one_that_is_made(dock *d)
{
    const uint32_t solo = add_solos(d, 3), made = create(d, UINT32_MAX);

    for (uint32_t i = 0; i < 3; ++i) {
        hang(d, solo + i, made);
    }
}

static void they_differ_in_components(dock *d)
{
    const espl_component_value tags[] = {{.component = ESPL_PREFAB}, {.component = ESPL_DISABLED}};
    const uint32_t root = create(d, UINT32_MAX);

    for (uint32_t i = 0; i < 8; ++i) {
        (void)create_as(d, 0, root + i / 2,
                        (espl_creation_def){.values = tags + i % 2, .value_count = i % 3 % 2});
    }
}

static void they_are_placed_in_the_world(dock *d)
{
    const uint32_t root =
        create_as(d, 0, UINT32_MAX, (espl_creation_def){.place = ESPL_PLACE_WORLD});

    for (uint32_t i = 0; i < 6; ++i) {
        (void)create_as(d, 0, root + i,
                        (espl_creation_def){.place = (espl_place)(i % 3),
                                            .link = i % 2 == 0 ? ESPL_LINK_FREE : ESPL_LINK_OWNED});
    }
}

// What is made of several is one command's, and all come together in the end.
static void several_are_made_at_once(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX), word = 5;
    const espl_component_value values[] = {
        {.component = ESPL_PLACEMENT, .size = sizeof(espl_transform)},
        {.component = d->word, .data = &word, .size = sizeof word}};
    const espl_creation_def def = {
        .values = values, .value_count = 2, .parent = entity_of(d, root)};
    const espl_creation_def loose = {.values = values, .value_count = 2};

    ck_assert_int_eq(espl_record_create(d->lane, 0, &def, 3, &d->y.entities[d->y.count]), ESPL_OK);
    d->y.count += 3;
    ck_assert_int_eq(espl_record_create(d->lane, 0, &loose, 2, &d->y.entities[d->y.count]),
                     ESPL_OK);
    d->y.count += 2;
    hang(d, root + 4, root + 2);
    hang(d, root + 5, root + 4);
}

// Ids, rows and archetypes come in the order of all commands, whichever way each goes.
static void others_are_made_meanwhile(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX);

    clone(d, d->prefab, d->ship + 3);
    (void)create(d, root);
    (void)create(d, d->ship);
    clone(d, d->prefab, d->other);
    (void)create(d, root + 1);
}

// --- What goes the long way ---

static void last_of_two_attaches_wins(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    hang(d, first, first + 1);
    hang(d, first, first + 2);
}

static void one_is_attached_twice_alike(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    hang(d, first, first + 1);
}

static void one_comes_below_itself(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    hang(d, first + 1, first + 1);
}

static void two_come_below_each_other(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    hang(d, first + 1, first);
}

static void two_come_below_each_other_and_keep_their_worlds(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    attach_with(d, first, first + 1, NULL);
    attach_with(d, first + 1, first, NULL);
    attach_with(d, first + 2, first, NULL);
}

static void three_close_a_circle_and_one_hangs_there(dock *d)
{
    const uint32_t first = add_solos(d, 4);

    hang(d, first + 3, first);
    for (uint32_t i = 0; i < 3; ++i) {
        hang(d, first + i, first + (i + 1) % 3);
    }
}

static void one_comes_before_a_sibling(dock *d)
{
    const uint32_t first = add_solos(d, 3);
    espl_attach_options options = keep_local;

    hang(d, first, first + 1);
    options.before = entity_of(d, first);
    attach_with(d, first + 2, first + 1, &options);
}

static void one_inherits_in_part(dock *d)
{
    const uint32_t first = add_solos(d, 2);
    espl_attach_options options = keep_local;

    options.inherit = ESPL_KEEP_SCALE;
    attach_with(d, first, first + 1, &options);
}

static void one_is_stretched(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    stretch(d, first + 1);
    hang(d, first, first + 1);
}

static void one_will_be_stretched(dock *d)
{
    const uint32_t first = add_solos(d, 2);
    espl_transform value = any_local(d);

    value.stretch[1] = 3;
    hang(d, first, first + 1);
    put(d, first + 1, &value);
}

static void one_gets_a_context(dock *d)
{
    const uint32_t first = add_solos(d, 2);
    const espl_write w = {
        .entity = entity_of(d, first), .kind = ESPL_WRITE_CONTEXT, .value = {.context = 7}};

    hang(d, first, first + 1);
    ck_assert_int_eq(espl_record_write(d->lane, 0, &w), ESPL_OK);
}

static void one_has_no_placement(dock *d)
{
    const uint32_t first = add_solos(d, 1);

    hang(d, first, add_entity(d, espl_entity_null(), true));
}

static void one_comes_aboard_a_ship(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    hang(d, first + 1, d->ship);
}

static void one_was_a_ship_once(dock *d)
{
    const uint32_t ship = add_tree(d, 3, 2), first = add_solos(d, 1);

    for (uint32_t i = 1; i < 3; ++i) {
        destroy(d, ship + i);
    }
    play(d);
    espl_commands_reset(d->y.bed.commands);
    hang(d, first, ship);
}

static void one_is_destroyed_in_between(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    hang(d, first, first + 1);
    destroy(d, first);
    hang(d, first + 2, first + 1);
}

static void one_is_dead(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, first)), ESPL_OK);
    hang(d, first + 1, first + 2);
    hang(d, first + 2, first);
}

static void one_goes_again(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    hang(d, first, first + 1);
    hang(d, first + 2, first + 1);
    ck_assert_int_eq(espl_record_detach(d->lane, 0, entity_of(d, first), ESPL_STAY_LOCAL), ESPL_OK);
}

static void copy_comes_too(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    clone(d, d->prefab, first);
}

static void world_cannot_be_kept(dock *d)
{
    const uint32_t first = add_solos(d, 2);
    espl_transform value = any_local(d);

    value.scale = 0;
    put(d, first + 1, &value);
    attach_with(d, first, first + 1, NULL);
}

static void place_far(dock *d, uint32_t number, float far, float scale)
{
    espl_transform value = test_at(far, 0, 0);

    value.scale = scale;
    put(d, number, &value);
}

static void world_overflows(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    place_far(d, first, 1e30f, 1);
    place_far(d, first + 1, 1, 1e30f);
    hang(d, first + 1, first + 2);
    hang(d, first, first + 1);
}

// The member that overflows comes back before the end, and its parent is small by then.
static void world_overflows_for_a_moment(dock *d)
{
    const uint32_t first = add_solos(d, 3);

    place_far(d, first, 1e25f, 1);
    place_far(d, first + 1, 1, 1e25f);
    hang(d, first, first + 1);
    hang(d, first + 1, first + 2);
    place_far(d, first, 1, 1);
    place_far(d, first + 1, 1, 1);
}

static void place_is_too_far_to_tell(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    place_far(d, first, 2e30f, 1);
    hang(d, first, first + 1);
}

static void root_is_too_far_to_tell(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    place_far(d, first + 1, 2e30f, 1);
    hang(d, first, first + 1);
}

static void root_is_too_large_to_tell(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    place_far(d, first + 1, 1, 2e30f);
    hang(d, first, first + 1);
}

// Alone among its siblings, the others of which are looked at later.
static void first_child_overflows(dock *d)
{
    const uint32_t first = add_solos(d, 4);

    place_far(d, first, 1, 3e20f);
    place_far(d, first + 1, 3e20f, 1);
    for (uint32_t i = 1; i < 4; ++i) {
        hang(d, first + i, first);
    }
}

static void translate(dock *d, uint32_t number, espl_write_kind kind, float x)
{
    const espl_write w = {
        .entity = entity_of(d, number), .kind = kind, .value.position = {x, 0, 0}};

    ck_assert_int_eq(espl_record_write(d->lane, 0, &w), ESPL_OK);
}

// One by one it would be refused alone.
static void local_overflows(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    place_far(d, first, 3e38f, 1);
    translate(d, first, ESPL_WRITE_TRANSLATE_LOCAL, 3e38f);
    place_far(d, first, 1, 1);
    hang(d, first, first + 1);
}

static void world_is_written_below_who_has_no_scale(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    place_far(d, first + 1, 1, 0);
    hang(d, first, first + 1);
    translate(d, first, ESPL_WRITE_WORLD_POSITION, 7);
}

static void world_is_written_in_a_circle(dock *d)
{
    const uint32_t first = add_solos(d, 2);

    hang(d, first, first + 1);
    hang(d, first + 1, first);
    translate(d, first, ESPL_WRITE_TRANSLATE_WORLD, 7);
}

static void made_one_is_placed_below_who_has_no_scale(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX);

    place_far(d, root, 1, 0);
    (void)create_as(d, 0, root, (espl_creation_def){.place = ESPL_PLACE_WORLD});
    (void)create(d, root);
}

static void made_one_refers(dock *d)
{
    const link_value link = {3, entity_of(d, d->prefab)};
    const espl_component_value value = {.component = d->link, .data = &link, .size = sizeof link};

    (void)create_as(d, 0, create(d, UINT32_MAX),
                    (espl_creation_def){.values = &value, .value_count = 1});
}

static void made_one_is_attached_before_it_is_made(dock *d)
{
    const uint32_t solo = add_solos(d, 1);

    hang(d, create_as(d, 1, UINT32_MAX, (espl_creation_def){0}), solo);
}

static void one_comes_below_who_is_not_made_yet(dock *d)
{
    const uint32_t solo = add_solos(d, 1);

    hang(d, solo, create_as(d, 1, UINT32_MAX, (espl_creation_def){0}));
}

static void one_is_made_below_who_is_not_made_yet(dock *d)
{
    (void)create(d, create_as(d, 1, UINT32_MAX, (espl_creation_def){0}));
}

static void one_is_written_before_it_is_made(dock *d)
{
    const uint32_t late = create_as(d, 1, UINT32_MAX, (espl_creation_def){0});

    write(d, late);
}

static void made_one_is_attached_again(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX), solo = add_solos(d, 1);

    hang(d, create(d, root), solo);
}

static void two_that_are_made_close_a_circle(dock *d)
{
    const uint32_t first = create(d, UINT32_MAX), second = create(d, UINT32_MAX);

    hang(d, first, second);
    hang(d, second, first);
}

static void not_all_that_are_made_come_together(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX), word = 5;
    const espl_component_value values[] = {
        {.component = ESPL_PLACEMENT, .size = sizeof(espl_transform)},
        {.component = d->word, .data = &word, .size = sizeof word}};
    const espl_creation_def def = {.values = values, .value_count = 2};

    ck_assert_int_eq(espl_record_create(d->lane, 0, &def, 3, &d->y.entities[d->y.count]), ESPL_OK);
    d->y.count += 3;
    hang(d, root + 1, root);
    hang(d, root + 2, root);
}

static void made_one_has_no_placement(dock *d)
{
    const uint32_t number = d->y.count++;
    const espl_component_value word = {
        .component = d->word, .data = &number, .size = sizeof number};
    const espl_creation_def def = {.values = &word, .value_count = 1};

    ck_assert_int_eq(espl_record_create(d->lane, 0, &def, 1, &d->y.entities[number]), ESPL_OK);
    hang(d, create(d, UINT32_MAX), number);
}

static void made_one_inherits_in_part(dock *d)
{
    (void)create_as(d, 0, create(d, UINT32_MAX), (espl_creation_def){.inherit = ESPL_KEEP_SCALE});
}

static void made_one_comes_before_a_sibling(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX), child = create(d, root);

    (void)create_as(d, 0, root, (espl_creation_def){.before = entity_of(d, child)});
}

static void made_one_has_no_living_parent(dock *d)
{
    const uint32_t solo = add_solos(d, 1);

    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, solo)), ESPL_OK);
    (void)create_as(d, 0, solo, (espl_creation_def){.orphan = ESPL_ORPHAN_ROOT});
}

static void made_one_goes_again(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX);

    destroy(d, create(d, root));
}

static void made_one_is_given_more(dock *d)
{
    const uint32_t root = create(d, UINT32_MAX), word = 9;

    ck_assert_int_eq(espl_record_set(d->lane, 0, entity_of(d, root), d->word, &word, sizeof word),
                     ESPL_OK);
}

static void made_one_comes_aboard_a_ship(dock *d)
{
    hang(d, create(d, UINT32_MAX), d->ship);
}

static const scene scenes[] = {
    {two_come_together, 1, 1, 0},
    {chain_grows_from_its_root, 1, 1, 0},
    {chain_grows_from_its_end, 1, 1, 0},
    {bush_comes_together_in_any_order, 1, 1, 94},
    {children_come_in_order_of_keys, 1, 1, 0},
    {several_trees_at_once, 3, 3, 66},
    {all_are_written_before, 1, 1, 0},
    {all_are_written_behind, 1, 1, 0},
    {values_are_as_they_were, 1, 1, 0},
    {all_kinds_are_written, 1, 1, 0},
    {worlds_are_kept_from_the_root_on, 1, 1, 0},
    {worlds_are_kept_from_the_leaves_on, 1, 1, 0},
    {worlds_are_kept_between_writes, 1, 1, 0},
    {parts_stay_as_the_options_say, 1, 1, 82},
    {links_are_free, 1, 1, 0},
    {solos_differ_in_components, 1, 1, 0},
    {ships_are_changed_meanwhile, 3, 3, 68},
    {scales_multiply, 1, 1, 0},
    {one_is_made, 1, 1, 0},
    {tree_is_made_below_its_root, 1, 1, 66},
    {trees_are_made_in_turns, 2, 2, 66},
    {all_are_made_then_attached_from_the_leaves_on, 1, 1, 0},
    {some_are_made_below_solos, 1, 1, 0},
    {solos_come_below_one_that_is_made, 1, 1, 0},
    {they_differ_in_components, 1, 1, 0},
    {they_are_placed_in_the_world, 1, 1, 0},
    {several_are_made_at_once, 1, 1, 0},
    {others_are_made_meanwhile, 3, 2, 68},
    {last_of_two_attaches_wins, 1, 0, 0},
    {one_is_attached_twice_alike, 1, 0, 0},
    {one_comes_below_itself, 1, 0, 0},
    {two_come_below_each_other, 1, 0, 0},
    {two_come_below_each_other_and_keep_their_worlds, 1, 0, 0},
    {three_close_a_circle_and_one_hangs_there, 1, 0, 0},
    {one_comes_before_a_sibling, 1, 0, 0},
    {one_inherits_in_part, 1, 0, 0},
    {one_is_stretched, 1, 0, 0},
    {one_will_be_stretched, 1, 0, 0},
    {one_gets_a_context, 1, 0, 0},
    {one_has_no_placement, 1, 0, 0},
    {one_comes_aboard_a_ship, 1, 0, 0},
    {one_was_a_ship_once, 1, 0, 0},
    {one_is_destroyed_in_between, 1, 0, 0},
    {one_is_dead, 1, 0, 0},
    {one_goes_again, 1, 0, 0},
    {copy_comes_too, 1, 0, 0},
    {world_cannot_be_kept, 1, 0, 0},
    {world_overflows, 1, 0, 0},
    {world_overflows_for_a_moment, 1, 0, 0},
    {place_is_too_far_to_tell, 1, 0, 0},
    {root_is_too_far_to_tell, 1, 0, 0},
    {root_is_too_large_to_tell, 1, 0, 0},
    {first_child_overflows, 1, 0, 0},
    {local_overflows, 1, 0, 0},
    {world_is_written_below_who_has_no_scale, 1, 0, 0},
    {world_is_written_in_a_circle, 1, 0, 0},
    {made_one_is_placed_below_who_has_no_scale, 1, 0, 0},
    {made_one_refers, 1, 0, 0},
    {made_one_is_attached_before_it_is_made, 1, 0, 0},
    {one_comes_below_who_is_not_made_yet, 1, 0, 0},
    {one_is_made_below_who_is_not_made_yet, 1, 0, 0},
    {one_is_written_before_it_is_made, 1, 0, 0},
    {made_one_is_attached_again, 1, 0, 0},
    {two_that_are_made_close_a_circle, 1, 0, 0},
    {not_all_that_are_made_come_together, 1, 0, 0},
    {made_one_has_no_placement, 1, 0, 0},
    {made_one_inherits_in_part, 1, 0, 0},
    {made_one_comes_before_a_sibling, 1, 0, 0},
    {made_one_has_no_living_parent, 1, 0, 0},
    {made_one_goes_again, 1, 0, 0},
    {made_one_is_given_more, 1, 0, 0},
    {made_one_comes_aboard_a_ship, 1, 0, 0},
};

START_TEST(each_condition_decides_which_way_and_both_ways_come_to_the_same)
{
    play_scene(&scenes[_i], (uint64_t)_i + 1);
}
END_TEST

// --- Many at once ---

enum { CROWD = 90 };

// Mostly each comes below another one once; now and then a group goes the long way.
static void record_crowd(dock *d, uint32_t first)
{
    uint64_t *const random = &d->y.random;
    const bool is_odd = test_one_in(random, 3);
    const uint32_t trees = 1 + test_below(random, CROWD / 3);
    const uint32_t step = 1 + 2 * test_below(random, 3) + 6 * test_below(random, 3);

    for (uint32_t k = 0; k < CROWD; ++k) {
        // Neither 2 nor 3 nor 5 divide it, so that everybody has a turn.
        const uint32_t i = k * (step % 5 == 0 || step % 3 == 0 ? 7 : step) % CROWD;
        espl_recorder *const lane = yard_lane(&d->y, test_below(random, YARD_LANES));
        const uint32_t key = (is_odd && i % 9 == 0 ? 0 : 1) + test_below(random, 4);
        const espl_entity child = entity_of(d, first + i);
        const uint32_t above =
            i < trees || test_one_in(random, 9) ? i % trees : test_below(random, i);
        const espl_transform value = any_local(d);
        espl_attach_options options = keep_local;

        options.link = test_one_in(random, 6) ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
        options.scale = test_one_in(random, 5) ? ESPL_STAY_WORLD : ESPL_STAY_LOCAL;
        options.position = test_one_in(random, 5) ? ESPL_STAY_NONE : options.scale;
        if (test_one_in(random, 2)) {
            ck_assert_int_eq(test_one_in(random, 4)
                                 ? espl_record_set_world(lane, key, child, &value)
                                 : espl_record_set_local(lane, key, child, &value),
                             ESPL_OK);
        }
        if (i >= trees || (is_odd && test_one_in(random, 20))) {
            ck_assert_int_eq(
                espl_record_attach(lane, key, child, entity_of(d, first + above), &options),
                ESPL_OK);
        }
    }
}

static uint32_t renew_crowd(dock *d, uint32_t first)
{
    for (uint32_t i = first; i < d->y.count; ++i) {
        if (espl_is_alive(d->y.world, entity_of(d, i))) {
            ck_assert_int_eq(espl_destroy_subtree(d->y.world, entity_of(d, i)), ESPL_OK);
        }
    }
    d->y.count = first;
    (void)add_solos(d, CROWD / 2);
    for (uint32_t i = CROWD / 2; i < CROWD; ++i) {
        (void)create_as(d, 0, UINT32_MAX, (espl_creation_def){0});
    }
    return first;
}

// The first knows no short way, the third plays on any number of workers.
START_TEST(crowds_come_to_the_same_both_ways_on_any_executor)
{
    static dock docks[3];
    uint32_t first = 0, groups = 0;

    if (test_lacks_room(YARD_ENTITIES, "a crowd")) {
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        dock_begin(&docks[i], 500 + (uint64_t)_i, i == 0);
    }
    first = docks[0].y.count;
    for (uint32_t frame = 0; frame < test_scaled(60) + 12; ++frame) {
        for (uint32_t i = 0; i < 3; ++i) {
            (void)renew_crowd(&docks[i], first);
            record_crowd(&docks[i], first);
        }
        (void)count_short(&docks[1], &groups);
        bed_run_on(&docks[2].y.bed, stage_workers[frame % STAGE_WORKERS],
                   frame % 2 == 0 ? TEST_SHUFFLED : TEST_REVERSED);
        for (uint32_t i = 0; i < 3; ++i) {
            play(&docks[i]);
            answers_agree(&docks[i], &docks[0]);
            ck_assert_uint_eq(test_physical_hash(docks[i].y.world),
                              test_physical_hash(docks[0].y.world));
        }
        docks_agree(&docks[1], &docks[0]);
        for (uint32_t i = 0; i < 3; ++i) {
            espl_commands_reset(docks[i].y.bed.commands);
        }
    }
    ck_assert_uint_gt(docks[1].does[ESPL__SHORT_ASSEMBLY], test_scaled(60));
    for (uint32_t i = 0; i < 3; ++i) {
        dock_end(&docks[i]);
    }
}
END_TEST

// --- Without memory ---

enum { SCARCE_ENTITIES = 83 };

// The first of several wants an archetype that nobody has yet.
static void first_of_the_solos_is_like_nobody(dock *d)
{
    const espl_component_def def = {"rare", 4, 4, NULL, 0};
    const uint32_t first = add_solos(d, 4);
    espl_component rare = 0;

    ck_assert_int_eq(espl_component_register(d->y.world, &def, &rare), ESPL_OK);
    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, first), rare, &first, sizeof first),
                     ESPL_OK);
    for (uint32_t i = 0; i < 3; ++i) {
        hang(d, first + i, first + 3);
    }
}

static void record_scarce(dock *d)
{
    first_of_the_solos_is_like_nobody(d);
    worlds_are_kept_between_writes(d);
    several_trees_at_once(d);
    they_differ_in_components(d);
}

START_TEST(without_memory_nothing_comes_together_and_a_later_playback_is_what_it_would_have_been)
{
    if (!test_lacks_room(SCARCE_ENTITIES, "ships and what comes together")) {
        ck_assert_uint_eq(docks_lack_memory(record_scarce, 2), 6);
    }
}
END_TEST

// So many groups that they are several jobs.
static void record_pairs(dock *d)
{
    const uint32_t first = add_solos(d, 160);

    for (uint32_t i = 0; i < 160; i += 2) {
        hang(d, first + i, first + i + 1);
    }
}

START_TEST(a_lost_job_refuses_all_or_is_made_up_for)
{
    if (!test_lacks_room(240, "pairs")) {
        docks_lose_jobs(record_pairs);
    }
}
END_TEST

static void clone_alone(dock *d, uint32_t source)
{
    espl_instance_def def = clone_def(d, source, source);

    def.parent = espl_entity_null();
    record_def(d, &def, 1);
}

// Nothing but copies by recipe, as members, as roots and by themselves.
static void record_copies(dock *d)
{
    for (uint32_t i = 0; i < 3; ++i) {
        clone(d, d->prefab, d->ship + i);
        clone_alone(d, d->prefab);
        clone_alone(d, d->solo);
        clone(d, d->solo, d->other);
    }
}

// Some of what goes the long way, beside copies.
static void record_others(dock *d)
{
    record_copies(d);
    others_are_made_meanwhile(d);
    ships_are_changed_meanwhile(d);
    last_of_two_attaches_wins(d);
    one_inherits_in_part(d);
    one_is_stretched(d);
    one_is_destroyed_in_between(d);
    one_goes_again(d);
    made_one_refers(d);
    made_one_is_given_more(d);
    made_one_goes_again(d);
}

static void (*const scarce[])(dock *) = {record_scarce, record_copies, record_others};
enum { SCARCE = sizeof scarce / sizeof *scarce };

START_TEST(without_scratch_nothing_is_played_and_with_it_all_is)
{
    if (!test_lacks_room(SCARCE_ENTITIES, "ships and what comes together")) {
        docks_lack_scratch(scarce[_i]);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("assemble");
    TCase *const conditions = tcase_create("conditions");

    tcase_add_loop_test(conditions, each_condition_decides_which_way_and_both_ways_come_to_the_same,
                        0, sizeof scenes / sizeof *scenes);
    suite_add_tcase(suite, conditions);
    TCase *const crowds = tcase_create("crowds");

    tcase_set_timeout(crowds, 300);
    tcase_add_loop_test(crowds, crowds_come_to_the_same_both_ways_on_any_executor, 0, 3);
    tcase_add_test(
        crowds,
        without_memory_nothing_comes_together_and_a_later_playback_is_what_it_would_have_been);
    tcase_add_test(crowds, a_lost_job_refuses_all_or_is_made_up_for);
    tcase_add_loop_test(crowds, without_scratch_nothing_is_played_and_with_it_all_is, 0, SCARCE);
    suite_add_tcase(suite, crowds);
    return suite;
}

RUN_SUITE(make_suite)

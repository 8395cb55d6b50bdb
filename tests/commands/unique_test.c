// SPDX-License-Identifier: MIT
// ESPL_COMPONENT_UNIQUE: clones have zeros in whatever way they are made, and a value that a call gives to a
// clone counts.
#include "tests/one_world.h"

#include <string.h>

// Two numbers and a reference, and the same without the flag.
typedef struct ticket {
    uint32_t number;
    espl_entity holder;
    uint32_t more;
} ticket;

static espl_component unique, plain;
static espl_entity prefab, part; // the part is below the prefab
static const ticket no_ticket;

static ticket ticket_of(uint32_t number, espl_entity holder)
{
    return (ticket){number, holder, number + 1};
}

static bool has(espl_entity entity, espl_component component, ticket wanted)
{
    ticket found;

    ck_ok(espl_get_component(w, entity, component, &found, sizeof found));
    return memcmp(&found, &wanted, sizeof found) == 0;
}

static espl_entity child_of(espl_entity top)
{
    const espl_entity child = espl_get_first_child(w, top);

    ck_assert(!espl_entity_is_null(child));
    return child;
}

static espl_entity resolve(const espl_command_buffer *commands, espl_entity pending)
{
    espl_entity entity;

    ck_ok(espl_command_buffer_resolve(commands, pending, &entity));
    return entity;
}

static void set(espl_entity entity, espl_component component, ticket value)
{
    ck_ok(espl_set_component(w, entity, component, &value, sizeof value));
}

static void set_up_tickets(void)
{
    static const uint32_t references[] = {offsetof(ticket, holder)};
    espl_component_def def = {.name = "unique",
                              .size = sizeof(ticket),
                              .alignment = _Alignof(ticket),
                              .references = references,
                              .reference_count = 1,
                              .flags = ESPL_COMPONENT_UNIQUE};

    set_up();
    ck_ok(espl_component_register(w, &def, &unique));
    def.name = "plain";
    def.flags = 0;
    ck_ok(espl_component_register(w, &def, &plain));
    const espl_component components[] = {ESPL_TRANSFORM, ESPL_PREFAB, unique, plain};

    ck_ok(espl_create(w, components, 4, 1, &prefab));
    ck_ok(espl_create(w, components, 4, 1, &part));
    ck_ok(espl_attach(w, part, prefab, NULL));
    set(prefab, unique, ticket_of(1, part));
    set(prefab, plain, ticket_of(2, part));
    set(part, unique, ticket_of(3, prefab));
    set(part, plain, ticket_of(4, prefab));
}

// A clone of the prefab: the values of one component are copied, with references to the copies.
static void is_clone(espl_entity clone)
{
    const espl_entity below = child_of(clone);

    ck_assert(has(clone, unique, no_ticket) && has(below, unique, no_ticket));
    ck_assert(has(clone, plain, ticket_of(2, below)) && has(below, plain, ticket_of(4, clone)));
}

FIXTURE(set_up_tickets, tear_down);

TEST(clones_made_at_once_have_zeros)
{
    enum { MANY = 20 };
    const uint32_t count = test_fitting(2 * MANY, 4) / 2;
    espl_entity clones[MANY], clone;

    ck_ok(espl_spawn(w, prefab, espl_entity_null(), NULL, &clone));
    is_clone(clone);
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = prefab}, count, clones));
    for (uint32_t i = 0; i < count; ++i) {
        is_clone(clones[i]);
    }
    // The original keeps its values, and a clone can have its own.
    ck_assert(has(prefab, unique, ticket_of(1, part)) && has(part, unique, ticket_of(3, prefab)));
    set(clone, unique, ticket_of(7, prefab));
    ck_assert(has(clone, unique, ticket_of(7, prefab)));
}

// Without references and names the rows of few clones are made without a plan.
TEST(clones_of_an_entity_without_references_have_zeros)
{
    const espl_component_def def = {
        .name = "serial", .size = 4, .alignment = 4, .flags = ESPL_COMPONENT_UNIQUE};
    const uint32_t number = 5;
    espl_component serial = 0;
    espl_entity source, clone;
    uint32_t found = 1;

    ck_ok(espl_component_register(w, &def, &serial));
    ck_ok(espl_create(w, &serial, 1, 1, &source));
    ck_ok(espl_set_component(w, source, serial, &number, sizeof number));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = source}, 1, &clone));
    ck_ok(espl_get_component(w, clone, serial, &found, sizeof found));
    ck_assert_uint_eq(found, 0);
    ck_ok(espl_get_component(w, source, serial, &found, sizeof found));
    ck_assert_uint_eq(found, number);
}

TEST(a_value_that_is_given_to_a_clone_counts)
{
    const ticket given = ticket_of(9, prefab);
    const espl_component_value value = {unique, sizeof given, &given};
    espl_entity clone;

    ck_ok(espl_instantiate(
        w, &(espl_instance_def){.source = prefab, .values = &value, .value_count = 1}, 1, &clone));
    ck_assert(has(clone, unique, given) && has(child_of(clone), unique, no_ticket));
}

// In one playback: clones of an entity that the playback gave values to, and clones of these clones.
TEST(clones_of_what_a_playback_changed_have_zeros)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const ticket first = ticket_of(11, part), second = ticket_of(12, part);
    const espl_instance_def of_prefab = {.source = prefab};
    espl_entity clone, again, third;

    ck_ok(espl_record_set_component(recorder, 0, prefab, unique, &first, sizeof first));
    ck_ok(espl_record_set_component(recorder, 0, prefab, plain, &second, sizeof second));
    ck_ok(espl_record_instantiate(recorder, 1, &of_prefab, 1, &clone));
    ck_ok(espl_record_set_component(recorder, 2, clone, unique, &second, sizeof second));
    ck_ok(espl_record_instantiate(recorder, 3, &(espl_instance_def){.source = clone}, 1, &again));
    ck_ok(espl_record_instantiate(recorder, 4, &(espl_instance_def){.source = again}, 1, &third));
    ck_ok(espl_play(w, commands, NULL));
    const espl_entity made[] = {resolve(commands, clone),
                                resolve(commands, again),
                                resolve(commands, third)};

    for (int i = 0; i < 3; ++i) {
        const espl_entity below = child_of(made[i]);

        ck_assert(has(made[i], unique, i == 0 ? second : no_ticket));
        ck_assert(has(below, unique, no_ticket));
        ck_assert(has(made[i], plain, ticket_of(12, below)));
        ck_assert(has(below, plain, ticket_of(4, made[i])));
    }
    ck_assert(has(prefab, unique, first) && has(prefab, plain, second));
    espl_command_buffer_destroy(commands);
}

// A creation in a playback, with a value, and a clone of it.
TEST(clones_of_what_a_playback_created_have_zeros)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const ticket given = ticket_of(21, prefab);
    const espl_component_value values[] = {{unique, sizeof given, &given},
                                           {plain, sizeof given, &given}};
    const espl_creation_def def = {.values = values, .value_count = 2};
    espl_entity source, clone;

    ck_ok(espl_record_create(recorder, 0, &def, 1, &source));
    ck_ok(espl_record_instantiate(recorder, 1, &(espl_instance_def){.source = source}, 1, &clone));
    ck_ok(espl_play(w, commands, NULL));
    source = resolve(commands, source);
    clone = resolve(commands, clone);
    ck_assert(has(source, unique, given) && has(source, plain, given));
    ck_assert(has(clone, unique, no_ticket) && has(clone, plain, given));
    espl_command_buffer_destroy(commands);
}

// Rows that move to another component set are no clones.
TEST(other_changes_keep_the_value)
{
    const ticket value = ticket_of(1, part);

    ck_ok(espl_set_enabled(w, prefab, ESPL_EXTENT_ENTITY, false));
    ck_ok(espl_detach(w, part, ESPL_KEEP_LOCAL));
    ck_ok(espl_compact(w));
    ck_assert(has(prefab, unique, value) && has(part, unique, ticket_of(3, prefab)));
}

// The values are hashed as others are, and the flag is part of the physical hash.
TEST(the_flag_is_in_the_physical_hash)
{
    uint64_t logical[2], physical[2];

    for (uint32_t i = 0; i < 2; ++i) {
        const espl_component_def def = {
            .name = "flagged", .size = 4, .flags = i == 0 ? 0 : ESPL_COMPONENT_UNIQUE};
        espl_component number = 0;
        test_world other;

        test_world_begin(&other, 1, NULL);
        ck_ok(espl_component_register(other.world, &def, &number));
        ck_ok(espl_create(other.world, &number, 1, 1, NULL));
        logical[i] = test_logical_hash(other.world);
        physical[i] = test_physical_hash(other.world);
        test_world_end(&other);
    }
    ck_assert_uint_eq(logical[0], logical[1]);
    ck_assert_uint_ne(physical[0], physical[1]);
}

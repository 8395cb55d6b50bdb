// SPDX-License-Identifier: MIT
// Creations by commands: position and components of the new entities, and refusals.
#include "tests/asked.h"
#include "tests/commands/parts.h"

#include "tests/checks.h"

#include <math.h>

static espl_transform somewhere(void)
{
    espl_transform t = {{0, 0, 0.6f, 0.8f}, {3, -2, 1}, 2, {1, 3, 1}, 9};

    ck_ok(espl_transform_normalize(&t));
    return t;
}

// One that is placed, with the other fields as given.
static espl_entity record_placed(espl_creation_def def, const espl_transform *local)
{
    const espl_component_value value = {ESPL_TRANSFORM, sizeof *local, local};
    espl_entity pending = {0};

    def.values = &value;
    def.value_count = 1;
    ck_ok(espl_record_create(p.lane, 0, &def, 1, &pending));
    return pending;
}

static espl_entity record_bare(espl_entity parent, espl_entity before)
{
    const espl_creation_def def = {.parent = parent, .before = before};
    espl_entity pending = {0};

    ck_ok(espl_record_create(p.lane, 0, &def, 1, &pending));
    return pending;
}

// --- What is made ---

FIXTURE(set_up, tear_down);

TEST(nothing_asked_for_is_a_bare_solo)
{
    const espl_entity pending = record_bare(test_null, test_null);
    espl_transform unused;

    parts_play();
    const espl_entity made = parts_resolved(pending);
    ck_assert_uint_eq(p.report.created, 1);
    ck_assert_int_eq(espl_get_role(p.world, made), ESPL_ROLE_SOLO);
    ck_assert(!espl_has_component(p.world, made, ESPL_TRANSFORM));
    ck_status(espl_get_local_transform(p.world, made, &unused), ESPL_ERR_NO_TRANSFORM);
}

TEST(a_world_that_cannot_be_reached_is_lossy)
{
    espl_transform flat = espl_transform_identity();
    const espl_transform wanted = somewhere();
    const espl_entity parent = test_solo(p.world);

    flat.scale = 0;
    ck_ok(espl_set_local_transform(p.world, parent, &flat));
    (void)record_placed((espl_creation_def){.parent = parent, .place = ESPL_PLACE_WORLD}, &wanted);
    parts_play();
    ck_status(parts_result(0), ESPL_LOSSY);
    ck_assert_uint_eq(p.report.lossy, 1);
    ck_assert_uint_eq(test_count_children(p.world, parent), 1);
}

// --- Parents ---

TEST(a_dead_parent_refuses_or_leaves_a_root)
{
    const espl_entity parent = test_solo_at(p.world, 5, 5, 5), low = test_solo(p.world);
    const espl_transform local = somewhere();
    espl_entity out = {0};

    ck_ok(espl_record_destroy(p.lane, 0, parent, ESPL_EXTENT_OWNED));
    const espl_entity refused = record_placed((espl_creation_def){.parent = parent}, &local);
    const espl_entity root = record_placed((espl_creation_def){.parent = parent,
                                                               .before = low,
                                                               .dead_parent = ESPL_DEAD_PARENT_ROOT,
                                                               .inherit = ESPL_ABSOLUTE_X},
                                           &local);
    const espl_entity below = record_bare(refused, test_null);
    parts_play();
    ck_status(parts_result(1), ESPL_ERR_DEAD);
    ck_ok(parts_result(2));
    ck_status(parts_result(3), ESPL_ERR_DEAD);
    ck_status(espl_command_buffer_resolve(p.commands, refused, &out), ESPL_ERR_DEAD);
    ck_status(espl_command_buffer_resolve(p.commands, below, &out), ESPL_ERR_DEAD);
    const espl_transform world = test_world_of(p.world, parts_resolved(root));
    ck_assert(test_same(&world, &local));
    ck_assert_uint_eq(espl_get_inherit(p.world, parts_resolved(root)), 0);
}

TEST(a_sibling_must_be_a_child_of_the_parent)
{
    const espl_entity parent = test_solo(p.world), other = test_solo(p.world);
    const espl_entity child = test_solo(p.world);

    hang(child, parent, ESPL_LINK_OWNED);
    (void)record_bare(parent, other);
    (void)record_bare(test_null, child);
    const espl_entity made = record_bare(parent, child);
    ck_ok(espl_record_destroy(p.lane, 0, child, ESPL_EXTENT_OWNED));
    (void)record_bare(parent, child);
    parts_play();
    ck_status(parts_result(0), ESPL_ERR_NOT_CHILD);
    ck_status(parts_result(1), ESPL_ERR_NOT_CHILD);
    ck_ok(parts_result(2));
    ck_status(parts_result(4), ESPL_ERR_DEAD);
    ck_assert(espl_entity_equal(espl_get_first_child(p.world, parent), parts_resolved(made)));
}

// --- Refusals ---

TEST(recording_an_instance_refuses_what_needs_no_world)
{
    const espl_entity source = test_solo(p.world);
    const espl_instance_def defs[] = {
        {.source = source, .link = (espl_link)2},
        {.source = source, .place = (espl_place)3},
        {.source = source, .dead_parent = (espl_dead_parent)2},
        {.source = source, .parent = source, .inherit = 1u << 20},
        {.source = source, .inherit = ESPL_ABSOLUTE_X},
    };

    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        ck_status(espl_record_instantiate(p.lane, 0, &defs[i], 1, NULL), ESPL_ERR_ARGUMENT);
    }
    ck_assert_uint_eq(espl_command_buffer_count(p.commands), 0);
}

TEST(recording_a_creation_refuses_what_needs_no_world)
{
    const espl_component_value good = {p.word, 4, NULL};
    const espl_component_value twice[] = {good, good}, size = {p.word, 8, NULL};
    const espl_component_value role = {ESPL_SOLO, 0, NULL}, unknown = {999, 0, NULL};
    espl_transform odd = espl_transform_identity();
    const espl_component_value infinite = {ESPL_TRANSFORM, sizeof odd, &odd};
    const espl_entity parent = test_solo(p.world), foreign = {0, UINT32_C(1) << 31 | 12345};
    const struct {
        espl_creation_def def;
        espl_status status;
    } cases[] = {
        {{.values = twice, .value_count = 2}, ESPL_ERR_ARGUMENT},
        {{.values = &size, .value_count = 1}, ESPL_ERR_ARGUMENT},
        {{.values = &role, .value_count = 1}, ESPL_ERR_ARGUMENT},
        {{.values = &unknown, .value_count = 1}, ESPL_ERR_ARGUMENT},
        {{.values = &infinite, .value_count = 1}, ESPL_ERR_NOT_FINITE},
        {{.values = twice, .value_count = ESPL_SET_LIMIT + 1}, ESPL_ERR_LIMIT},
        {{.values = NULL, .value_count = 1}, ESPL_ERR_ARGUMENT},
        {{.parent = foreign}, ESPL_ERR_FOREIGN},
        {{.parent = parent, .before = foreign}, ESPL_ERR_FOREIGN},
        {{.parent = parent, .inherit = ESPL_ABSOLUTE_X}, ESPL_ERR_ARGUMENT},
        {{.parent = parent, .inherit = 1u << 20}, ESPL_ERR_ARGUMENT},
        {{.place = (espl_place)3}, ESPL_ERR_ARGUMENT},
        {{.dead_parent = (espl_dead_parent)2}, ESPL_ERR_ARGUMENT},
        {{.link = (espl_link)2}, ESPL_ERR_ARGUMENT},
    };
    espl_creation_def flags = {.values = &infinite, .value_count = 1, .inherit = ESPL_ABSOLUTE_X};

    odd.position[1] = 1.0f / 0.0f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_int_eq(espl_record_create(p.lane, 0, &cases[i].def, 1, NULL), cases[i].status);
    }
    odd.position[1] = 0;
    ck_status(espl_record_create(p.lane, 0, &flags, 1, NULL), ESPL_ERR_ARGUMENT);
    flags.parent = parent;
    ck_ok(espl_record_create(p.lane, 0, &flags, 0, NULL));
    ck_status(espl_record_create(p.lane, 0, NULL, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_record_create(p.lane, 0, &flags, ESPL_PENDING_LIMIT, NULL), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl_command_buffer_count(p.commands), 0);
    ck_assert_uint_eq(p.test.hooks.traps, 0);
    parts_play();
    ck_status(espl_record_create(p.lane, 0, &flags, 1, NULL), ESPL_ERR_PLAYED);
}

TEST(a_set_with_its_role_stays_within_the_limit)
{
    espl_component_value values[ESPL_SET_LIMIT] = {{0}};
    espl_creation_def def = {.values = values, .value_count = ESPL_SET_LIMIT};
    espl_entity full = {0};

    for (uint32_t i = 0; i < ESPL_SET_LIMIT; ++i) {
        values[i].component = p.tags[i];
    }
    ck_ok(espl_record_create(p.lane, 0, &def, 2, NULL));
    def.value_count -= 1;
    ck_ok(espl_record_create(p.lane, 0, &def, 1, &full));
    values[0] = (espl_component_value){ESPL_TRANSFORM, sizeof(espl_transform), NULL};
    ck_ok(espl_record_create(p.lane, 0, &def, 1, NULL));
    def.value_count += 1;
    ck_ok(espl_record_create(p.lane, 0, &def, 1, NULL));
    ck_ok(espl_record_add_component(p.lane, 0, full, p.word, NULL, 4));
    parts_play();
    ck_status(parts_result(0), ESPL_ERR_LIMIT);
    ck_ok(parts_result(1));
    ck_ok(parts_result(2));
    ck_status(parts_result(3), ESPL_ERR_LIMIT);
    ck_status(parts_result(4), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(p.report.created, 2);
}

// It is made, and comes back when a local above it is made smaller.
TEST(a_creation_whose_world_overflows_is_done)
{
    espl_transform large = espl_transform_identity();
    const espl_entity parent = test_solo(p.world);

    large.scale = 1e30f;
    ck_ok(espl_set_local_transform(p.world, parent, &large));
    const espl_entity pending = record_placed((espl_creation_def){.parent = parent}, &large);
    const espl_entity bare = record_bare(parent, test_null);
    parts_play();
    ck_ok(parts_result(0));
    ck_ok(parts_result(1));
    ck_assert(p.report.has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(p.world), 1);
    const espl_entity made = parts_resolved(pending);
    ck_assert(espl_entity_equal(espl_get_first_child(p.world, parent), made));
    ck_assert(espl_entity_equal(espl_get_last_child(p.world, parent), parts_resolved(bare)));
    ck_assert(isinf(test_world_of(p.world, made).scale));
    ck_ok(espl_set_local_scale(p.world, parent, 2));
    ck_assert_float_eq(test_world_of(p.world, made).scale, 2e30f);
    ck_assert_uint_eq(test_count_overflowed(p.world), 0);
}

// --- Many ---

// --- At once ---

TEST(a_refused_call_that_makes_entities_changes_nothing)
{
    test_world test;

    test_world_begin(&test, 1, NULL);
    const espl_entity root = test_solo(test.world), other = test_solo(test.world);
    const espl_entity dead = test_solo(test.world), marker = {12, 34};
    const espl_transform bad = {.scale = NAN};
    const uint32_t inherit = ESPL_ABSOLUTE_X;

    ck_ok(espl_destroy(test.world, dead, ESPL_EXTENT_OWNED));
    const struct {
        espl_instance_def def;
        espl_status status;
    } instances[] = {
        {{.source = dead}, ESPL_ERR_DEAD},
        {{.source = root, .parent = dead}, ESPL_ERR_DEAD},
        {{.source = root, .parent = root, .before = other}, ESPL_ERR_NOT_CHILD},
        {{.source = root, .inherit = inherit}, ESPL_ERR_ARGUMENT},
        {{.source = root, .place = ESPL_PLACE_LOCAL, .transform = bad}, ESPL_ERR_NOT_FINITE},
    };
    const struct {
        espl_creation_def def;
        espl_status status;
    } creations[] = {
        {{.parent = dead}, ESPL_ERR_DEAD},
        {{.parent = root, .before = other}, ESPL_ERR_NOT_CHILD},
        {{.parent = root, .inherit = inherit}, ESPL_ERR_ARGUMENT},
    };
    const uint64_t before = test_physical_hash(test.world);

    for (size_t i = 0; i < sizeof instances / sizeof *instances; ++i) {
        espl_entity out[2] = {marker, marker};

        ck_assert_int_eq(espl_instantiate(test.world, &instances[i].def, 2, out),
                         instances[i].status);
        ck_assert(espl_entity_equal(out[0], marker) && espl_entity_equal(out[1], marker));
        ck_assert_uint_eq(test_physical_hash(test.world), before);
    }
    for (size_t i = 0; i < sizeof creations / sizeof *creations; ++i) {
        espl_entity out[2] = {marker, marker};

        ck_assert_int_eq(espl_create_at(test.world, &creations[i].def, 2, out),
                         creations[i].status);
        ck_assert(espl_entity_equal(out[0], marker) && espl_entity_equal(out[1], marker));
        ck_assert_uint_eq(test_physical_hash(test.world), before);
    }
    test_world_end(&test);
}

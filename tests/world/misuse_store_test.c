// SPDX-License-Identifier: MIT
// Components, creation and queries that are refused: each answer is a status, and nothing changes.
#include "tests/checks.h"
#include "tests/one_misuse.h"

#include <math.h>

FIXTURE(set_up, tear_down);

TEST(components_are_checked)
{
    espl_component out = 99;
    const espl_component_def taken = {.name = "number", .size = 4, .alignment = 4},
                             nameless = {.size = 4, .alignment = 4},
                             empty = {.name = "", .size = 4, .alignment = 4},
                             crooked = {.name = "crooked", .size = 4, .alignment = 3},
                             wide = {.name = "wide", .size = 4, .alignment = 512},
                             large = {.name = "large", .size = 4097, .alignment = 1},
                             tag = {.name = "tag"};
    const uint32_t value = 1;

    ck_status(espl_component_register(s.world, &taken, &out), ESPL_ERR_EXISTS);
    ck_status(espl_component_register(s.world, &nameless, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_component_register(s.world, &empty, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_component_register(s.world, &crooked, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_component_register(s.world, &wide, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_component_register(s.world, &large, &out), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(out, 99);
    ck_ok(espl_component_register(s.world, &tag, &out));
    ck_ok(espl_add_component(s.world, s.solo, out, NULL, 0));
    ck_assert(espl_has_component(s.world, s.solo, out));

    ck_status(espl_add_component(s.world, s.solo, 500, &value, 4), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_component(s.world, s.solo, s.number, &value, 4), ESPL_ERR_NO_COMPONENT);
    ck_status(espl_add_component(s.world, s.solo, s.number, &value, 3), ESPL_ERR_ARGUMENT);
    ck_status(espl_add_component(s.world, s.solo, ESPL_ROOT, NULL, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_remove_component(s.world, s.solo, ESPL_SOLO), ESPL_ERR_ARGUMENT);
    ck_status(espl_remove_component(s.world, s.solo, ESPL_MEMBER), ESPL_ERR_ARGUMENT);
}

TEST(creation_is_checked)
{
    const espl_component role = ESPL_MEMBER, unknown = 700, twice[2] = {s.number, s.number};
    const espl_component placement = ESPL_TRANSFORM;

    ck_status(espl_create(s.world, &role, 1, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_create(s.world, &unknown, 1, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_create(s.world, twice, 2, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_ok(espl_create(s.world, &placement, 1, 0, NULL));
    ck_status(espl_create(s.world, &placement, 1, SIZE_MAX / 2 + 1, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_create(s.world, &placement, 1, SIZE_MAX, NULL), ESPL_ERR_LIMIT);
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.root}, 0, NULL));
    ck_status(
        espl_instantiate(s.world, &(espl_instance_def){.source = s.root}, SIZE_MAX / 2 + 1, NULL),
        ESPL_ERR_LIMIT);
    ck_status(espl_instantiate(s.world, &(espl_instance_def){.source = s.root}, SIZE_MAX, NULL),
              ESPL_ERR_LIMIT);
    ck_status(espl_reserve(s.world, &(espl_reserve_def){.entities = SIZE_MAX}), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

// --- References ---

// Offsets that are no ascending list of whole handles inside the component.
TEST(references_are_checked)
{
    static const uint32_t past[1] = {12}, far[1] = {UINT32_MAX}, same[2] = {0, 0},
                          overlapping[2] = {0, 4}, falling[2] = {8, 0}, good[2] = {0, 8};
    const espl_component_def bad[] = {
        {.name = "r", .size = 16, .alignment = 4, .references = past, .reference_count = 1},
        {.name = "r", .size = 16, .alignment = 4, .references = far, .reference_count = 1},
        {.name = "r", .size = 16, .alignment = 4, .references = same, .reference_count = 2},
        {.name = "r", .size = 16, .alignment = 4, .references = overlapping, .reference_count = 2},
        {.name = "r", .size = 16, .alignment = 4, .references = falling, .reference_count = 2},
        {.name = "r", .size = 4, .alignment = 4, .references = good, .reference_count = 1},
        {.name = "r", .references = good, .reference_count = 1},
        {.name = "r", .size = 16, .alignment = 4, .references = good, .reference_count = SIZE_MAX}};
    const espl_component_def fine = {
        .name = "r", .size = 16, .alignment = 4, .references = good, .reference_count = 2};
    espl_component out = 99;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        const espl_status status = espl_component_register(s.world, &bad[i], &out);
        const bool is_past = bad[i].reference_count > ESPL_REFERENCE_LIMIT;

        ck_assert_msg(status == (is_past ? ESPL_ERR_LIMIT : ESPL_ERR_ARGUMENT), "definition %zu",
                      i);
    }
    ck_assert_uint_eq(out, 99);
    ck_assert_uint_eq(espl_component_find(s.world, "r"), 0);
    ck_ok(espl_component_register(s.world, &fine, &out));
}

// --- Changes ---

// Each way to ask for a change that is none, through each call that makes changes.
typedef struct bad_change {
    const char *what;
    espl_change_def def;
    espl_status status;
} bad_change;

// A change that an inline form makes is named after it.
static const char *call_of(const espl_change_def *def)
{
    if (def->add_count == 1 && def->remove_count == 0) {
        return "espl_add_component";
    }
    return def->add_count == 0 && def->remove_count == 1 ? "espl_remove_component"
                                                         : "espl_change_components";
}

static void refuse_change(const bad_change *bad)
{
    const uint64_t before = test_physical_hash(s.world);
    const espl_entity both[2] = {s.child, s.solo};
    size_t count = 99;

    misuse_forget_lines(&s);
    const espl_status status = espl_change_components(s.world, s.child, &bad->def);
    ck_assert_msg(status == bad->status, "%s: %s", bad->what, espl_status_name(status));
    misuse_demand_line(&s, call_of(&bad->def), s.child, bad->status);
    ck_assert_int_eq(espl_change_components_array(s.world, both, 2, &bad->def, &count),
                     bad->status);
    ck_assert_int_eq(espl_change_components_query(s.world, NULL, &bad->def, &count), bad->status);
    ck_assert_uint_eq(test_physical_hash(s.world), before);
}

TEST(changes_are_checked_before_anything_is_changed)
{
    const uint32_t value = 1;

    const espl_component_value fine = {s.number, sizeof value, &value},
                               role[2] = {fine, {.component = ESPL_ROOT}},
                               unknown[2] = {fine, {.component = 700}},
                               none[2] = {fine, {.component = 0}},
                               narrow[2] = {{.component = ESPL_PREFAB}, {s.number, 3, &value}},
                               wide_tag[2] = {fine, {ESPL_PREFAB, 4, &value}},
                               place[2] = {fine, {ESPL_TRANSFORM, sizeof value, &value}},
                               twice[2] = {fine, fine};
    const espl_component taken_role = ESPL_SOLO, taken_unknown = 700, same = s.number;
    const bad_change bad[] = {
        {"a role given", {.add = role, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"an unknown one given", {.add = unknown, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"none given", {.add = none, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"a size too small", {.add = narrow, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"a tag with a size", {.add = wide_tag, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"a placement of another size", {.add = place, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"one given twice", {.add = twice, .add_count = 2}, ESPL_ERR_ARGUMENT},
        {"a role taken", {.remove = &taken_role, .remove_count = 1}, ESPL_ERR_ARGUMENT},
        {"an unknown one taken", {.remove = &taken_unknown, .remove_count = 1}, ESPL_ERR_ARGUMENT},
        {"one given and taken",
         {.add = &fine, .add_count = 1, .remove = &same, .remove_count = 1},
         ESPL_ERR_ARGUMENT}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        refuse_change(&bad[i]);
    }
}

// What a placement brings along is checked like a write, and the other components stay with it.
TEST(a_placement_that_cannot_be_is_refused_with_all_that_comes_along)
{
    espl_transform endless = test_at(1, 1, 1), turnless = test_at(1, 1, 1);
    const espl_transform huge = test_at(3e38f, 0, 0), fine = test_at(1, 0, 0);
    espl_entity bare = {0};

    endless.position[1] = INFINITY;
    turnless.rotation[3] = 0;
    ck_ok(espl_create(s.world, NULL, 0, 1, &bare));
    ck_ok(espl_set_local_transform(s.world, s.root, &huge));
    ck_ok(espl_attach(s.world, bare, s.root, NULL));
    ck_ok(espl_set_inherit(s.world, s.child, ESPL_COPY_PARENT));
    const struct {
        espl_entity entity;
        const espl_transform *value;
        espl_status status;
    } cases[] = {{bare, &endless, ESPL_ERR_NOT_FINITE},
                 {bare, &turnless, ESPL_ERR_NOT_FINITE},
                 {s.root, &endless, ESPL_ERR_NOT_FINITE},
                 {s.child, &fine, ESPL_ERR_COPIES_PARENT}};
    const uint64_t before = test_physical_hash(s.world);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const espl_component_value values[2] = {
            {.component = ESPL_PREFAB}, {ESPL_TRANSFORM, sizeof *cases[i].value, cases[i].value}};
        const espl_change_def change = {.add = values, .add_count = 2};
        const espl_entity among[3] = {s.solo, cases[i].entity, s.solo};
        size_t refused = 99;

        misuse_forget_lines(&s);
        ck_assert_int_eq(espl_change_components(s.world, cases[i].entity, &change),
                         cases[i].status);
        misuse_demand_line(&s, "espl_change_components", cases[i].entity, cases[i].status);
        ck_assert_int_eq(espl_add_component(s.world, cases[i].entity, ESPL_TRANSFORM,
                                            cases[i].value, sizeof *cases[i].value),
                         cases[i].status);
        if (cases[i].status != ESPL_ERR_NOT_FINITE) {
            ck_assert_int_eq(espl_change_components_array(s.world, among, 3, &change, &refused),
                             cases[i].status);
            ck_assert_uint_eq(refused, 1);
        }
        ck_assert_uint_eq(test_physical_hash(s.world), before);
        ck_assert(!espl_has_component(s.world, cases[i].entity, ESPL_PREFAB));
    }

    // One whose world overflows is done, and told.
    const espl_component_value values[2] = {{.component = ESPL_PREFAB},
                                            {ESPL_TRANSFORM, sizeof huge, &huge}};
    const espl_change_def change = {.add = values, .add_count = 2};

    ck_status(espl_change_components(s.world, bare, &change), ESPL_OVERFLOW);
    ck_assert(espl_has_component(s.world, bare, ESPL_PREFAB) &&
              espl_has_component(s.world, bare, ESPL_TRANSFORM));
    ck_assert_uint_eq(test_count_overflowed(s.world), 1);
    ck_ok(espl_set_local_transform(s.world, s.root, &fine));
    ck_assert_uint_eq(test_count_overflowed(s.world), 0);
}

// --- Values and columns ---

TEST(values_of_the_wrong_size_or_kind_are_refused)
{
    unsigned char bytes[64] = {0};

    const struct {
        espl_component component;
        size_t size;
        espl_status status;
    } cases[] = {{s.number, 3, ESPL_ERR_ARGUMENT},
                 {s.number, 0, ESPL_ERR_ARGUMENT},
                 {s.number, SIZE_MAX, ESPL_ERR_ARGUMENT},
                 {ESPL_TRANSFORM, sizeof(espl_pose), ESPL_ERR_ARGUMENT},
                 {ESPL_TRANSFORM, 0, ESPL_ERR_ARGUMENT},
                 {ESPL_MEMBER, 0, ESPL_ERR_ARGUMENT},
                 {ESPL_PREFAB, 0, ESPL_ERR_NO_COMPONENT},
                 {0, 0, ESPL_ERR_ARGUMENT},
                 {700, 4, ESPL_ERR_ARGUMENT}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        misuse_forget_lines(&s);
        ck_assert_int_eq(
            espl_get_component(s.world, s.child, cases[i].component, bytes, cases[i].size),
            cases[i].status);
        misuse_demand_line(&s, "espl_get_component", s.child, cases[i].status);
        ck_assert_int_eq(
            espl_set_component(s.world, s.child, cases[i].component, bytes, cases[i].size),
            cases[i].status);
        misuse_demand_line(&s, "espl_set_component", s.child, cases[i].status);
    }
    ck_status(espl_get_component(s.world, s.solo, s.number, bytes, 4), ESPL_ERR_NO_COMPONENT);
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

TEST(reserved_rows_are_checked)
{
    const espl_component unknown = 700, roles[2] = {ESPL_ROOT, ESPL_MEMBER};
    const espl_component places[2] = {ESPL_TRANSFORM, ESPL_TRANSFORM};
    const espl_component member[2] = {ESPL_TRANSFORM, ESPL_MEMBER};

    ck_status(test_reserve_rows(s.world, NULL, 1, 1), ESPL_ERR_ARGUMENT);
    ck_status(test_reserve_rows(s.world, &unknown, 1, 10), ESPL_ERR_ARGUMENT);
    ck_status(test_reserve_rows(s.world, roles, 2, 10), ESPL_ERR_ARGUMENT);
    ck_status(test_reserve_rows(s.world, places, 2, 10), ESPL_ERR_ARGUMENT);
    ck_status(test_reserve_rows(s.world, member, ESPL_SET_LIMIT + 1, 1), ESPL_ERR_LIMIT);
    ck_status(test_reserve_rows(s.world, member, 2, SIZE_MAX), ESPL_ERR_LIMIT);
    // A role may be named, one alone.
    ck_ok(test_reserve_rows(s.world, member, 2, 10));
    ck_ok(test_reserve_rows(s.world, member, 2, 0));
    ck_assert_uint_eq(test_physical_hash(s.world), untouched);
}

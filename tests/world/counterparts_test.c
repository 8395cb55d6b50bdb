// SPDX-License-Identifier: MIT
// Originals and counterparts: what links them and what ends a link; placing; following, both ways and in
// circles; model poses.
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <espalier/counterpart.h>
#include <espalier/history.h>
#include <espalier/image.h>

#include <stdlib.h>
#include <string.h>

static test_world far_test;
static espl_world *far; // the world of the originals

static void begin_worlds(void)
{
    set_up();
    test_world_begin(&far_test, 2, NULL);
    far = far_test.world;
}

static void end_worlds(void)
{
    test_world_end(&far_test);
    tear_down();
}

static void link_to(espl_entity entity, espl_entity original)
{
    ck_ok(espl_set_counterpart(w, entity, original));
}

static void are_linked(espl_entity entity, espl_entity original)
{
    ck_assert(espl_entity_equal(espl_find_counterpart(w, original), entity));
    ck_assert(espl_entity_equal(espl_get_original(w, entity), original));
}

static void has_no_counterpart(espl_entity original)
{
    ck_assert(espl_entity_is_null(espl_find_counterpart(w, original)));
}

static size_t count_links(void)
{
    return test_stats(w).counterparts;
}

FIXTURE(begin_worlds, end_worlds);

// --- Links ---

TEST(originals_and_counterparts_are_one_to_one)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    const espl_entity one = test_solo(far), two = test_solo(far);

    has_no_counterpart(one);
    ck_assert(espl_entity_is_null(espl_get_original(w, a)));
    link_to(a, one);
    are_linked(a, one);
    link_to(a, one); // the same once more
    are_linked(a, one);
    ck_status(espl_set_counterpart(w, b, one), ESPL_ERR_EXISTS);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "another counterpart"));
    are_linked(a, one);
    link_to(b, two);
    ck_status(espl_set_counterpart(w, b, one), ESPL_ERR_EXISTS);
    are_linked(b, two);
    link_to(a, test_null);
    has_no_counterpart(one);
    link_to(b, one);
    are_linked(b, one);
    has_no_counterpart(two);
    link_to(a, test_null); // it has none
    ck_assert_uint_eq(count_links(), 1);
}

TEST(handles_that_are_no_originals_are_refused)
{
    const espl_entity a = test_solo(w), dead = test_solo(w);
    const espl_entity own = test_solo(w), all_ones = {UINT32_MAX, UINT32_MAX};
    const espl_entity no_tag = {5, 1}, highest = {UINT32_MAX, (UINT32_C(1) << 31) - 1};

    ck_ok(espl_destroy(w, dead, ESPL_EXTENT_OWNED));
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_set_counterpart(w, a, own), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_counterpart(w, a, a), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_counterpart(w, a, no_tag), ESPL_ERR_ARGUMENT);
    ck_status(espl_set_counterpart(w, a, all_ones), ESPL_ERR_PENDING);
    ck_status(espl_set_counterpart(w, dead, highest), ESPL_ERR_DEAD);
    ck_status(espl_set_counterpart(w, test_null, highest), ESPL_ERR_NULL_ENTITY);
    ck_status(espl_set_counterpart(NULL, a, highest), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    has_no_counterpart(all_ones);
    has_no_counterpart(test_null);
    ck_assert(espl_entity_is_null(espl_find_counterpart(NULL, highest)));
    ck_assert(espl_entity_is_null(espl_get_original(NULL, a)));
    // Any other handle is only compared.
    link_to(a, highest);
    are_linked(a, highest);
    ck_assert(espl_entity_is_null(espl_get_original(w, dead)));
}

TEST(a_destroyed_entity_has_no_original_at_once_and_without_memory)
{
    const espl_entity one = test_solo(far);
    const espl_component component = ESPL_TRANSFORM;

    for (int way = 0; way < 4; ++way) {
        const espl_entity a = test_solo(w);

        link_to(a, one);
        if (way == 3) {
            espl_command_buffer *const commands = test_commands(w, 1);

            ck_ok(espl_record_destroy(espl_command_buffer_recorder(commands, 0), 0, a,
                                      ESPL_EXTENT_OWNED));
            ck_ok(espl_play(w, commands, NULL));
            espl_command_buffer_destroy(commands);
        } else {
            test_heap_arm(&test.heap, 1, true);
            ck_ok(way == 0   ? espl_destroy(w, a, ESPL_EXTENT_OWNED)
                  : way == 1 ? espl_destroy_many(w, &a, 1, ESPL_EXTENT_OWNED, NULL)
                             : espl_world_clear(w));
            test_heap_arm(&test.heap, 0, false);
        }
        has_no_counterpart(one);
        ck_assert(espl_entity_is_null(espl_get_original(w, a)));
        ck_assert_uint_eq(count_links(), 0);
        test_world_is_valid(w);
    }
    // What gets the index has no link.
    for (size_t i = 0; i < 100 && i < test_limits_of_build().lives; ++i) {
        espl_entity a;

        ck_ok(espl_create(w, &component, 1, 1, &a));
        ck_assert(espl_entity_is_null(espl_get_original(w, a)));
        link_to(a, one);
        are_linked(a, one);
        ck_ok(espl_destroy(w, a, ESPL_EXTENT_OWNED));
    }
}

TEST(a_clone_has_no_original)
{
    const espl_entity a = test_solo(w), below = test_solo(w), one = test_solo(far);
    espl_entity clone;

    ck_ok(espl_attach(w, below, a, NULL));
    link_to(a, one);
    link_to(below, test_solo(far));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = a}, 1, &clone));
    are_linked(a, one);
    ck_assert(espl_entity_is_null(espl_get_original(w, clone)));
    ck_assert(espl_entity_is_null(espl_get_original(w, espl_get_first_child(w, clone))));
    ck_assert_uint_eq(count_links(), 2);
}

TEST(a_link_is_set_while_a_query_is_open)
{
    const espl_entity a = test_solo(w), one = test_solo(far);
    espl_query query;

    ck_ok(espl_query_begin(w, NULL, &query));
    ck_assert(espl_query_next(&query));
    link_to(a, one);
    espl_query_end(&query);
    are_linked(a, one);
}

TEST(both_hashes_know_originals)
{
    const espl_entity a = test_solo(w), one = test_solo(far), two = test_solo(far);
    const uint64_t logical = test_logical_hash(w), physical = test_physical_hash(w);

    link_to(a, one);
    const uint64_t linked = test_logical_hash(w), physically = test_physical_hash(w);

    ck_assert(linked != logical && physically != physical);
    link_to(a, two);
    ck_assert(test_logical_hash(w) != linked && test_physical_hash(w) != physically);
    link_to(a, one);
    ck_assert_uint_eq(test_logical_hash(w), linked);
    link_to(a, test_null);
    ck_assert_uint_eq(test_logical_hash(w), logical);
    ck_assert_uint_eq(test_physical_hash(w), physical);
}

TEST(many_links_are_found_and_a_compaction_frees_the_rest)
{
    const uint32_t count = test_fitting(test_scaled(1000000), 10);
    espl_entity *const entities = test_array(count, sizeof *entities);
    uint64_t random = 3;

    test_solos(w, count, entities);
    for (uint32_t i = 0; i < count; ++i) {
        link_to(entities[i], (espl_entity){i, (2 + test_below(&random, 1)) << 24 | 1});
    }
    ck_assert_uint_eq(count_links(), count);
    for (uint32_t i = 0; i < count; ++i) {
        are_linked(entities[i], (espl_entity){i, 2 << 24 | 1});
    }
    ck_ok(espl_destroy_many(w, entities, count - 1, ESPL_EXTENT_OWNED, NULL));
    are_linked(entities[count - 1], (espl_entity){count - 1, 2 << 24 | 1});
    ck_ok(espl_compact(w));
    are_linked(entities[count - 1], (espl_entity){count - 1, 2 << 24 | 1});
    free(entities);
}

// --- Values of a world ---

static unsigned char *save(const espl_world *world, size_t *size)
{
    *size = espl_image_size(world);
    unsigned char *const bytes = test_array(*size, 1);

    ck_ok(espl_image_save(world, bytes, *size));
    return bytes;
}

TEST(an_image_has_originals)
{
    const espl_entity a = test_solo(w), b = test_solo(w), one = test_solo(far);
    const espl_entity of_third = {7, 3 << 24 | 1};
    size_t size;

    link_to(a, one);
    link_to(b, of_third);
    const uint64_t hash = test_physical_hash(w);
    unsigned char *const bytes = save(w, &size);

    link_to(a, test_null);
    ck_ok(espl_destroy(w, b, ESPL_EXTENT_OWNED));
    ck_ok(espl_image_load(w, bytes, size, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(w), hash);
    are_linked(a, one);
    are_linked(b, of_third);
    // In the world of an original that original is none.
    ck_status(espl_image_load(far, bytes, size, 0, NULL), ESPL_ERR_FOREIGN);
    ck_ok(espl_image_load(far, bytes, size, ESPL_IMAGE_RETAG, NULL));
    test_world_is_valid(far);
    ck_assert_uint_eq(test_stats(far).counterparts, 1);
    ck_assert_uint_eq(espl_find_counterpart(far, of_third).index, b.index);
    free(bytes);
}

TEST(a_rewind_brings_links_back_and_ends_later_ones)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    const espl_entity one = test_solo(far), two = test_solo(far);
    espl_history *history;

    ck_ok(espl_history_create(w, &(espl_history_def){.flags = ESPL_HISTORY_HASH}, &history));
    ck_ok(espl_history_mark(history, 1));
    link_to(a, one);
    ck_ok(espl_history_mark(history, 2));
    const uint64_t hash = test_physical_hash(w);

    link_to(a, test_null);
    link_to(b, one);
    ck_ok(espl_history_mark(history, 3));
    ck_ok(espl_destroy(w, b, ESPL_EXTENT_OWNED));
    link_to(a, two);
    ck_ok(espl_history_rewind(history, 2, 0, NULL));
    are_linked(a, one);
    has_no_counterpart(two);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    has_no_counterpart(one);
    ck_assert_uint_eq(count_links(), 0);
    espl_history_destroy(history);
}

// --- Placing ---

typedef struct tool {
    espl_entity owner, tip;
    uint32_t wear;
} tool;

enum { PARTS = 5 };

static espl_component tool_there, tool_here, mark_there, size_there;
static espl_entity
    part[PARTS]; // a handle with parts: 0 top, 1 and 2 below it, 3 below 1, 4 free below 0

static espl_component register_tool(espl_world *world)
{
    const uint32_t references[] = {offsetof(tool, owner), offsetof(tool, tip)};
    const espl_component_def def = {.name = "tool",
                                    .size = sizeof(tool),
                                    .alignment = 4,
                                    .references = references,
                                    .reference_count = 2};
    espl_component out;

    ck_ok(espl_component_register(world, &def, &out));
    return out;
}

static void make_pickaxe(void)
{
    static const uint32_t parents[PARTS] = {NO_PARENT, 0, 0, 1, 0};
    const espl_attach_options is_free = {.link = ESPL_LINK_FREE, .before = test_null};
    espl_entity *const made = make_forest(far, parents, PARTS);

    memcpy(part, made, sizeof part);
    free(made);
    ck_ok(espl_attach(far, part[4], part[0], &is_free));
    ck_ok(espl_set_local_rotation(far, part[1], (float[4]){0, 0.6f, 0, 0.8f}));
    ck_ok(espl_set_stretch(far, part[1], (float[3]){1, 2, 3}));
    ck_ok(espl_set_user_data(far, part[3], 99));
    ck_ok(espl_set_inherit(far, part[3], ESPL_ABSOLUTE_SCALE));
    tool_there = register_tool(far);
    (void)test_component(w, "other", 4, 4); // so that numbers differ
    tool_here = register_tool(w);
    mark_there = test_component(far, "mark", 0, 1);
    (void)test_component(w, "mark", 0, 1);
    size_there = test_component(far, "size", 8, 4);
    (void)test_component(w, "size", 4, 4);
}

// Tell whether counterparts have the shape and the locals of their originals, but for the top.
static void is_placed(espl_entity original, espl_extent extent)
{
    espl_entity all[PARTS];
    uint32_t parents[PARTS];
    const size_t count = espl_copy_subtree(
        far, original, extent, PARTS, &(espl_subtree_arrays){.entities = all, .parents = parents});

    for (size_t i = 0; i < count; ++i) {
        const espl_entity here = espl_find_counterpart(w, all[i]);

        ck_assert(espl_is_alive(w, here));
        are_linked(here, all[i]);
        if (i != 0) {
            const espl_transform a = test_local_of(w, here), b = test_local_of(far, all[i]);

            ck_assert(test_same(&a, &b));
            ck_assert(espl_entity_equal(espl_get_parent(w, here),
                                        espl_find_counterpart(w, all[parents[i]])));
            ck_assert_int_eq(espl_get_link(w, here), espl_get_link(far, all[i]));
            ck_assert_uint_eq(espl_get_inherit(w, here), espl_get_inherit(far, all[i]));
        }
    }
    ck_assert_uint_eq(
        espl_copy_subtree(w, espl_find_counterpart(w, original), ESPL_EXTENT_SUBTREE, 0, NULL),
        count);
}

TEST(counterparts_are_placed_with_their_shape_and_their_values)
{
    const espl_entity hand = test_solo_at(w, 5, 0, 0), outside = test_solo(far);
    const espl_entity known = test_solo(w);
    espl_entity out = test_null;
    tool value = {part[3], part[3], 7};

    make_pickaxe();
    link_to(known, outside);
    value = (tool){outside, part[3], 7};
    ck_ok(espl_add_component(far, part[0], tool_there, &value, sizeof value));
    value = (tool){part[0], test_solo(far), 8};
    ck_ok(espl_add_component(far, part[3], tool_there, &value, sizeof value));
    ck_ok(espl_add_component(far, part[1], mark_there, NULL, 0));
    ck_ok(espl_add_component(far, part[1], size_there, NULL, 8));
    const espl_component placed[] = {tool_there, mark_there, size_there};
    const espl_placing_def def = {.extent = ESPL_EXTENT_SUBTREE,
                                  .parent = hand,
                                  .place = ESPL_PLACE_LOCAL,
                                  .transform = test_at(1, 2, 3),
                                  .components = placed,
                                  .component_count = 3};

    ck_ok(espl_place_counterparts(w, far, part[0], &def, &out));
    ck_assert(espl_entity_equal(out, espl_find_counterpart(w, part[0])));
    is_placed(part[0], ESPL_EXTENT_SUBTREE);
    ck_assert(espl_entity_equal(espl_get_parent(w, out), hand));
    ck_ok(espl_get_component(w, out, tool_here, &value, sizeof value));
    ck_assert(espl_entity_equal(value.owner, known));
    ck_assert(espl_entity_equal(value.tip, espl_find_counterpart(w, part[3])));
    ck_assert_uint_eq(value.wear, 7);
    ck_ok(
        espl_get_component(w, espl_find_counterpart(w, part[3]), tool_here, &value, sizeof value));
    ck_assert(espl_entity_equal(value.owner, out));
    ck_assert(espl_entity_is_null(value.tip));
    ck_assert(
        espl_has_component(w, espl_find_counterpart(w, part[1]), espl_component_find(w, "mark")));
    ck_assert(!espl_has_component(w, espl_find_counterpart(w, part[1]),
                                  espl_component_find(w, "size"))); // another size
    test_world_is_valid(w);
}

TEST(a_place_is_the_source_a_local_or_a_world)
{
    make_pickaxe();
    ck_ok(espl_set_local_position(far, part[0], (float[3]){4, 0, 0}));
    const espl_entity hand = test_solo_at(w, 1, 1, 1);
    const espl_entity first = test_solo(w);
    espl_placing_def def = {.parent = hand, .extent = ESPL_EXTENT_ENTITY};
    espl_entity out;
    espl_transform at, wanted = test_local_of(far, part[0]);

    ck_ok(espl_attach(w, first, hand, NULL));
    def.before = first;
    ck_ok(espl_place_counterparts(w, far, part[0], &def, &out));
    at = test_local_of(w, out);
    ck_assert(test_same(&at, &wanted));
    ck_assert(espl_entity_equal(espl_get_first_child(w, hand), out));
    def.place = ESPL_PLACE_WORLD;
    def.transform = wanted = test_at(9, 9, 9);
    ck_ok(espl_place_counterparts(w, far, part[1], &def, &out));
    at = test_world_of(w, out);
    ck_assert(test_same(&at, &wanted));
    // Without a definition: the owned closure, where the original is.
    ck_ok(espl_destroy(w, hand, ESPL_EXTENT_SUBTREE));
    ck_ok(espl_place_counterparts(w, far, part[0], NULL, NULL));
    is_placed(part[0], ESPL_EXTENT_OWNED);
    has_no_counterpart(part[4]);
    at = test_world_of(w, espl_find_counterpart(w, part[0]));
    wanted = test_world_of(far, part[0]);
    ck_assert(test_same(&at, &wanted));
}

TEST(a_placing_that_is_refused_changes_nothing)
{
    make_pickaxe();
    const espl_entity dead = test_solo(w), hand = test_solo(w), gone = test_solo(far);
    const espl_component role = ESPL_ROOT, none = 999;
    espl_placing_def def = {.parent = dead};
    espl_entity out = hand;

    ck_ok(espl_destroy(w, dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_destroy(far, gone, ESPL_EXTENT_OWNED));
    link_to(hand, part[3]);
    const uint64_t hash = test_physical_hash(w);

    ck_status(espl_place_counterparts(w, far, part[0], NULL, &out), ESPL_ERR_EXISTS);
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_DEAD);
    ck_status(espl_place_counterparts(w, far, gone, NULL, &out), ESPL_ERR_DEAD);
    ck_status(espl_place_counterparts(w, far, test_null, NULL, &out), ESPL_ERR_NULL_ENTITY);
    ck_status(espl_place_counterparts(w, far, hand, NULL, &out), ESPL_ERR_FOREIGN);
    ck_status(espl_place_counterparts(w, w, hand, NULL, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_place_counterparts(w, NULL, part[2], NULL, &out), ESPL_ERR_ARGUMENT);
    ck_status(espl_place_counterparts(NULL, far, part[2], NULL, &out), ESPL_ERR_ARGUMENT);
    def = (espl_placing_def){.extent = (espl_extent)3};
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_ARGUMENT);
    def = (espl_placing_def){.place = (espl_place)3};
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_ARGUMENT);
    def = (espl_placing_def){.component_count = 1};
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_ARGUMENT);
    def.components = &role;
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_ARGUMENT);
    def.components = &none;
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_ARGUMENT);
    def.component_count = 1000;
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_LIMIT);
    def = (espl_placing_def){.place = ESPL_PLACE_LOCAL}; // a rotation of zeros
    ck_status(espl_place_counterparts(w, far, part[2], &def, &out), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_assert(espl_entity_equal(out, hand));
    ck_assert_uint_eq(count_links(), 1);
}

// --- Following ---

static espl_watch *watch_locals(espl_world *world)
{
    espl_watch *watch;

    ck_ok(espl_watch_create(world, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL}, &watch));
    return watch;
}

static espl_status follow(espl_world *world, espl_watch *watch, const espl_follow_def *def,
                          espl_follow_report *report)
{
    espl_changes changes;

    ck_ok(espl_watch_collect(watch, 0, &changes));
    return espl_follow(world, &changes, def, report);
}

static void locals_agree(espl_entity a, espl_entity b)
{
    const espl_transform here = test_local_of(w, a), there = test_local_of(far, b);

    ck_assert(test_same(&here, &there));
}

TEST(a_follow_repeats_what_was_collected)
{
    const espl_entity a = test_solo(far), b = test_solo(far), c = test_solo(far);
    const espl_entity mine = test_solo(w), root = test_solo(w);
    const espl_watch_def both = {.flags = ESPL_WATCH_LOCAL | ESPL_WATCH_WORLD};
    espl_follow_report report;
    espl_watch *watch;

    ck_ok(espl_watch_create(far, &both, &watch));

    ck_ok(espl_attach(w, mine, root, NULL));
    link_to(mine, a);
    ck_ok(espl_set_local_position(far, a, (float[3]){1, 2, 3}));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.written, 1);
    ck_assert_uint_eq(report.unknown, 2);
    locals_agree(mine, a);
    // One list, all with a counterpart.
    ck_ok(espl_set_local_scale(far, a, 3));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.written, 1);
    ck_assert_uint_eq(report.unknown, 0);
    locals_agree(mine, a);
    // Some of one list.
    ck_ok(espl_set_local_scale(far, a, 4));
    ck_ok(espl_set_local_scale(far, b, 4));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.written, 1);
    ck_assert_uint_eq(report.unknown, 1);
    locals_agree(mine, a);
    // Worlds.
    ck_ok(espl_set_local_position(w, root, (float[3]){0, 7, 0}));
    ck_ok(espl_destroy(far, c, ESPL_EXTENT_OWNED));
    ck_ok(espl_set_local_position(far, a, (float[3]){8, 8, 8}));
    ck_ok(follow(w, watch, &(espl_follow_def){.kind = ESPL_FOLLOW_WORLD}, &report));
    ck_assert_uint_eq(report.written, 1);
    ck_assert_uint_eq(report.destroyed, 0);
    const espl_transform here = test_world_of(w, mine), there = test_world_of(far, a);

    ck_assert(memcmp(here.position, there.position, sizeof here.position) == 0);
    // Removed: the counterpart goes with what it owns.
    const espl_entity owned = test_solo(w);

    ck_ok(espl_attach(w, owned, mine, NULL));
    ck_ok(espl_destroy(far, a, ESPL_EXTENT_OWNED));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.destroyed, 1);
    ck_assert(!espl_is_alive(w, mine) && !espl_is_alive(w, owned) && espl_is_alive(w, root));
    has_no_counterpart(a);
    // Nothing.
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.written + report.destroyed + report.unknown + report.refused, 0);
    espl_watch_destroy(watch);
}

TEST(a_watch_without_worlds_is_not_followed_by_them)
{
    static const espl_follow_def by_world = {.kind = ESPL_FOLLOW_WORLD};
    espl_watch *const watch = watch_locals(far);
    const espl_entity a = test_solo(far);
    espl_changes changes;

    link_to(test_solo(w), a);
    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_watch_collect(watch, 0, &changes));
        ck_assert_uint_eq(changes.added_count + changes.changed_count, 1);
        ck_assert(changes.added_worlds == NULL && changes.changed_worlds == NULL);
        ck_assert(changes.added_locals != NULL && changes.changed_locals != NULL);
        ck_status(espl_follow(w, &changes, &by_world, NULL), ESPL_ERR_ARGUMENT);
        ck_ok(espl_set_local_scale(far, a, 3));
    }
    espl_watch_destroy(watch);
}

// As far from its original as the counterpart before is an entity that stands for another one, for none, or is
// not there.
TEST(counterparts_in_another_order_are_found)
{
    enum { COUNT = 20 };
    espl_watch *const watch = watch_locals(far);
    espl_entity originals[COUNT], counterparts[COUNT];
    espl_follow_report report;

    for (int i = 0; i < COUNT; ++i) {
        originals[i] = test_solo(far);
        counterparts[i] = test_solo(w);
        ck_ok(espl_set_local_position(far, originals[i], (float[3]){(float)i, 1, 2}));
    }
    for (int i = 0; i < COUNT; ++i) {
        link_to(counterparts[i * 7 % COUNT], originals[i]);
    }
    ck_ok(espl_set_counterpart(w, counterparts[0], espl_entity_null()));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.written, COUNT - 1);
    ck_assert_uint_eq(report.unknown, 1);
    for (int i = 1; i < COUNT; ++i) {
        locals_agree(counterparts[i * 7 % COUNT], originals[i]);
    }
    espl_watch_destroy(watch);
}

TEST(what_is_removed_twice_is_destroyed_once)
{
    const espl_entity a = test_solo(far), b = test_solo(far);
    espl_entity twice[] = {b, a, b, a, a};
    const espl_changes changes = {.removed = twice, .removed_count = 5};
    espl_follow_report report;

    link_to(test_solo(w), a);
    link_to(test_solo(w), b);
    ck_ok(espl_follow(w, &changes, NULL, &report));
    ck_assert_uint_eq(report.destroyed, 2);
    ck_assert_uint_eq(count_links(), 0);
}

TEST(counterparts_of_the_removed_are_kept_where_that_is_asked_for)
{
    espl_watch *const watch = watch_locals(far);
    const espl_entity a = test_solo(far), mine = test_solo(w);
    const espl_follow_def keeps = {.flags = ESPL_FOLLOW_KEEPS};
    espl_follow_report report;

    link_to(mine, a);
    ck_ok(follow(w, watch, &keeps, NULL));
    ck_ok(espl_destroy(far, a, ESPL_EXTENT_OWNED));
    ck_ok(follow(w, watch, &keeps, &report));
    ck_assert_uint_eq(report.destroyed, 0);
    are_linked(mine, a);
    espl_watch_destroy(watch);
}

TEST(an_extent_says_what_goes_with_the_counterpart_of_a_removed_entity)
{
    static const size_t left[] = {1, 2, 0}; // of the two below it, of which one has a free link

    for (int extent = 0; extent < 3; ++extent) {
        espl_watch *const watch = watch_locals(far);
        const espl_entity a = test_solo(far), mine = test_solo(w);
        const espl_entity owned = test_solo(w), loose = test_solo(w);
        const espl_follow_def def = {.removed = (espl_extent)extent};

        link_to(mine, a);
        ck_ok(espl_attach(w, owned, mine, NULL));
        ck_ok(espl_attach(w, loose, mine, &(espl_attach_options){.link = ESPL_LINK_FREE}));
        ck_ok(follow(w, watch, &def, NULL));
        ck_ok(espl_destroy(far, a, ESPL_EXTENT_OWNED));
        ck_ok(follow(w, watch, &def, NULL));
        ck_assert_uint_eq(test_stats(w).entities, left[extent]);
        ck_ok(espl_world_clear(w));
        espl_watch_destroy(watch);
    }
}

TEST(a_counterpart_without_a_transform_refuses_its_write_alone)
{
    espl_watch *const watch = watch_locals(far);
    const espl_entity a = test_solo(far), b = test_solo(far), mine = test_solo(w);
    espl_follow_report report;
    espl_entity bare;

    ck_ok(espl_create(w, NULL, 0, 1, &bare));
    link_to(bare, a);
    link_to(mine, b);
    ck_ok(espl_set_local_position(far, b, (float[3]){1, 2, 3}));
    ck_status(follow(w, watch, NULL, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.written, 1);
    ck_assert_uint_eq(report.refused, 1);
    locals_agree(mine, b);
    espl_watch_destroy(watch);
}

TEST(a_follow_that_is_refused_changes_nothing)
{
    espl_watch *const watch = watch_locals(far);
    espl_watch *const worlds = NULL;
    const espl_entity a = test_solo(far), mine = test_solo(w), own = test_solo(w);
    espl_follow_report report;
    espl_changes changes, bad;
    espl_query query;

    (void)worlds;
    link_to(mine, a);
    ck_ok(espl_set_local_position(far, a, (float[3]){1, 2, 3}));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    const uint64_t hash = test_physical_hash(w);
    const espl_follow_def defs[] = {
        {.kind = (espl_follow_kind)2}, {.removed = (espl_extent)3}, {.flags = 2}};

    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        ck_status(espl_follow(w, &changes, &defs[i], &report), ESPL_ERR_ARGUMENT);
    }
    ck_status(espl_follow(w, NULL, NULL, &report), ESPL_ERR_ARGUMENT);
    ck_status(espl_follow(NULL, &changes, NULL, &report), ESPL_ERR_ARGUMENT);
    ck_status(espl_follow(far, &changes, NULL, &report), ESPL_ERR_ARGUMENT); // its own
    bad = changes;
    bad.added_locals = NULL;
    ck_status(espl_follow(w, &bad, NULL, &report), ESPL_ERR_ARGUMENT);
    bad = changes;
    bad.added = NULL;
    ck_status(espl_follow(w, &bad, NULL, &report), ESPL_ERR_ARGUMENT);
    bad = (espl_changes){.removed = &own, .removed_count = 1};
    ck_status(espl_follow(w, &bad, NULL, &report), ESPL_ERR_ARGUMENT);
    // With something to destroy it is structural.
    bad = (espl_changes){.removed = &a, .removed_count = 1};
    ck_ok(espl_query_begin(w, NULL, &query));
    ck_status(espl_follow(w, &bad, NULL, &report), ESPL_ERR_BUSY);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    ck_ok(espl_follow(w, &changes, NULL, &report));
    espl_query_end(&query);
    ck_assert_uint_eq(report.written, 1);
    espl_watch_destroy(watch);
}

TEST(a_stretch_comes_and_goes_with_that_of_the_original)
{
    static const float stretch[3] = {1, 2, 3}, none[3] = {1, 1, 1};
    espl_watch *const watch = watch_locals(far);
    const espl_entity a = test_solo(far), b = test_solo(far);
    const espl_entity mine = test_solo(w), other = test_solo(w);
    espl_changes changes;

    link_to(mine, a);
    link_to(other, b);
    // Only the world that follows has a stretch: it goes.
    ck_ok(espl_set_stretch(w, mine, stretch));
    ck_ok(espl_set_user_data(w, other, 7));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert(changes.is_plain);
    ck_ok(espl_follow(w, &changes, NULL, NULL));
    locals_agree(mine, a);
    locals_agree(other, b);
    // Neither has one.
    ck_ok(espl_set_local_position(far, a, (float[3]){1, 2, 3}));
    ck_ok(follow(w, watch, NULL, NULL));
    locals_agree(mine, a);
    ck_ok(espl_set_stretch(far, a, stretch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert(!changes.is_plain);
    ck_ok(espl_follow(w, &changes, NULL, NULL));
    locals_agree(mine, a);
    ck_ok(espl_set_stretch(far, a, none));
    ck_ok(follow(w, watch, NULL, NULL));
    locals_agree(mine, a);
    espl_watch_destroy(watch);
}

TEST(a_counterpart_may_be_gone_before_its_original)
{
    espl_watch *const watch = watch_locals(far);
    const espl_entity a = test_solo(far), b = test_solo(far);
    const espl_entity mine = test_solo(w), other = test_solo(w);
    espl_follow_report report;

    link_to(mine, a);
    link_to(other, b);
    ck_ok(follow(w, watch, NULL, NULL));
    ck_ok(espl_destroy(w, mine, ESPL_EXTENT_OWNED));
    ck_ok(espl_set_local_position(far, a, (float[3]){1, 2, 3}));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.unknown, 1);
    ck_assert_uint_eq(report.written, 0);
    ck_ok(espl_destroy(far, a, ESPL_EXTENT_OWNED));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.destroyed, 0);
    ck_assert(espl_is_alive(w, other));
    // An entity of the world that follows may have the index of the one that is gone.
    const espl_entity newer = test_solo(w);

    ck_assert(espl_entity_is_null(espl_get_original(w, newer)));
    ck_assert_uint_eq(count_links(), 1);
    espl_watch_destroy(watch);
}

TEST(indices_may_be_used_again_between_two_follows)
{
    espl_watch *const watch = watch_locals(far);
    const size_t lives = test_limits_of_build().lives < 100 ? test_limits_of_build().lives : 100;
    const espl_entity first = test_solo(far), mine = test_solo(w);
    espl_entity last = first;
    espl_follow_report report;

    link_to(mine, first);
    ck_ok(follow(w, watch, NULL, NULL));
    for (size_t i = 1; i < lives; ++i) {
        ck_ok(espl_destroy(far, last, ESPL_EXTENT_OWNED));
        last = test_solo(far);
        ck_assert_uint_eq(last.index, first.index);
    }
    ck_ok(espl_set_local_position(far, last, (float[3]){1, 2, 3}));
    ck_ok(follow(w, watch, NULL, &report));
    ck_assert_uint_eq(report.destroyed, 1);
    ck_assert_uint_eq(report.unknown, 1);
    ck_assert_uint_eq(report.written, 0);
    ck_assert(!espl_is_alive(w, mine));
    has_no_counterpart(first);
    has_no_counterpart(last);
    ck_assert_uint_eq(count_links(), 0);
    espl_watch_destroy(watch);
}

TEST(a_hierarchy_is_not_placed_below_itself)
{
    make_pickaxe();
    espl_entity lower, upper = test_null;
    espl_placing_def def = {.extent = ESPL_EXTENT_ENTITY};

    ck_ok(espl_place_counterparts(w, far, part[1], &def, &lower));
    const uint64_t hash = test_physical_hash(w);

    def = (espl_placing_def){.extent = ESPL_EXTENT_SUBTREE, .parent = lower};
    ck_status(espl_place_counterparts(w, far, part[0], &def, &upper), ESPL_ERR_EXISTS);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    // The links of this world are its own: the top alone may be below what is below it there.
    def.extent = ESPL_EXTENT_ENTITY;
    ck_ok(espl_place_counterparts(w, far, part[0], &def, &upper));
    ck_assert(espl_entity_equal(espl_get_parent(w, upper), lower));
    locals_agree(upper, part[0]);
    test_world_is_valid(w);
}

TEST(worlds_that_follow_each_other_in_a_circle_come_to_rest)
{
    enum { WORLDS = 3, NODES = 12 };
    test_world tests[WORLDS];
    espl_watch *watches[WORLDS];
    espl_entity *nodes[WORLDS];
    uint64_t random = 5;

    for (uint32_t i = 0; i < WORLDS; ++i) {
        test_world_begin(&tests[i], 3 + i, NULL);
        nodes[i] = make_trees(tests[i].world, 2, NODES / 2, 2);
        watches[i] = watch_locals(tests[i].world);
    }
    for (uint32_t i = 0; i < WORLDS; ++i) {
        for (uint32_t node = 0; node < NODES; ++node) {
            ck_ok(espl_set_counterpart(tests[i].world, nodes[i][node],
                                       nodes[(i + WORLDS - 1) % WORLDS][node]));
        }
    }
    for (size_t round = 0; round < test_scaled(200); ++round) {
        const uint32_t source = test_below(&random, WORLDS);
        uint64_t writes = UINT64_MAX;

        for (int i = 0; i < 3; ++i) {
            const espl_write write = write_ordinary(nodes[source][test_below(&random, NODES)],
                                                    ESPL_WRITE_LOCAL_TRANSFORM, &random);

            ck_ok(espl_write_batch(tests[source].world, &write, 1, NULL));
        }
        for (uint32_t step = 0; step < 2 * WORLDS; ++step) {
            const uint32_t from = (source + step) % WORLDS, to = (from + 1) % WORLDS;
            const uint64_t before = test_stats(tests[to].world).writes;

            ck_ok(follow(tests[to].world, watches[from], NULL, NULL));
            writes = test_stats(tests[to].world).writes - before;
            ck_assert(step < WORLDS - 1 || writes == 0);
        }
        for (uint32_t node = 0; node < NODES; ++node) {
            const espl_transform a = test_local_of(tests[0].world, nodes[0][node]);

            for (uint32_t i = 1; i < WORLDS; ++i) {
                const espl_transform b = test_local_of(tests[i].world, nodes[i][node]);

                ck_assert(test_same(&a, &b));
            }
        }
    }
    for (uint32_t i = 0; i < WORLDS; ++i) {
        espl_watch_destroy(watches[i]);
        free(nodes[i]);
        test_world_end(&tests[i]);
    }
}

// --- Memory ---

typedef espl_status (*call)(void);

static espl_watch *fixed_watch;
static espl_changes fixed_changes;
static espl_entity fixed_entity, fixed_original;

static espl_status set_one(void)
{
    return espl_set_counterpart(w, fixed_entity, fixed_original);
}

static espl_status place_all(void)
{
    const espl_placing_def def = {
        .extent = ESPL_EXTENT_SUBTREE, .components = &tool_there, .component_count = 1};

    return espl_place_counterparts(w, far, part[0], &def, NULL);
}

static espl_status follow_all(void)
{
    return espl_follow(w, &fixed_changes, NULL, NULL);
}

// Fail each allocation of a call in turn, and then let it be done.
static void survives(call run)
{
    const uint64_t hash = test_physical_hash(w);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t fail_at = 0;

    while (status == ESPL_ERR_NO_MEMORY) {
        fail_at += 1;
        test_heap_arm(&test.heap, fail_at, true);
        status = run();
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_ERR_NO_MEMORY || status == ESPL_OK);
        ck_assert(status == ESPL_OK || test_physical_hash(w) == hash);
        test_world_is_valid(w);
    }
    ck_assert_uint_gt(fail_at, 1);
}

TEST(each_allocation_may_fail)
{
    make_pickaxe();
    const tool value = {part[1], part[2], 3};

    ck_ok(espl_add_component(far, part[0], tool_there, &value, sizeof value));
    fixed_entity = test_solo(w);
    fixed_original = test_solo(far);
    survives(set_one);
    are_linked(fixed_entity, fixed_original);
    survives(place_all);
    is_placed(part[0], ESPL_EXTENT_SUBTREE);
    fixed_watch = watch_locals(far);
    ck_ok(espl_watch_collect(fixed_watch, 0, &fixed_changes));
    ck_ok(espl_destroy(far, fixed_original, ESPL_EXTENT_OWNED));
    ck_ok(espl_set_local_position(far, part[1], (float[3]){4, 5, 6}));
    test_solos(far, 40, NULL);
    ck_ok(espl_watch_collect(fixed_watch, 0, &fixed_changes));
    ck_ok(espl_compact(w));
    survives(follow_all);
    ck_assert(!espl_is_alive(w, fixed_entity));
    locals_agree(espl_find_counterpart(w, part[1]), part[1]);
    espl_watch_destroy(fixed_watch);
}

// --- Model poses ---

TEST(model_poses_do_not_depend_on_where_the_top_is)
{
    enum { NODES = 15 };
    espl_entity *const nodes = make_trees(w, 1, NODES, 2);
    const espl_entity hand = test_solo_at(w, 1e6f, -3e5f, 77);
    espl_entity all[NODES];
    espl_transform models[NODES], again[NODES], worlds[NODES];
    uint32_t parents[NODES];
    const espl_subtree_arrays arrays = {.entities = all, .parents = parents, .models = models};
    uint64_t random = 2;

    for (int i = 1; i < NODES; ++i) {
        const espl_write write = write_ordinary(nodes[i], ESPL_WRITE_LOCAL_TRANSFORM, &random);

        ck_ok(espl_write_batch(w, &write, 1, NULL));
    }
    ck_ok(espl_set_inherit(w, nodes[3], ESPL_COPY_PARENT));
    // With the identity for the top they are the worlds.
    ck_ok(espl_set_local_transform(
        w, nodes[0],
        &(espl_transform){.rotation = {0, 0, 0, 1}, .scale = 1, .stretch = {1, 1, 1}}));
    ck_assert_uint_eq(espl_copy_subtree(w, nodes[0], ESPL_EXTENT_SUBTREE, NODES,
                                        &(espl_subtree_arrays){.entities = all,
                                                               .parents = parents,
                                                               .worlds = worlds,
                                                               .models = models}),
                      NODES);
    for (int i = 0; i < NODES; ++i) {
        ck_assert(test_same(&models[i], &worlds[i]));
    }
    ck_ok(espl_attach(w, nodes[0], hand, NULL));
    ck_ok(espl_set_local_rotation(w, nodes[0], (float[4]){0.6f, 0, 0.8f, 0}));
    const espl_subtree_arrays later = {.entities = all, .models = again};

    ck_assert_uint_eq(espl_copy_subtree(w, nodes[0], ESPL_EXTENT_SUBTREE, NODES, &later), NODES);
    ck_assert(memcmp(models, again, sizeof models) == 0);
    // Part of a hierarchy: relative to its own top.
    ck_assert_uint_eq(espl_copy_subtree(w, nodes[1], ESPL_EXTENT_ENTITY, NODES, &arrays), 1);
    ck_assert(models[0].position[0] == 0 && models[0].scale == 1);
    free(nodes);
}

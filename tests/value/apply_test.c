// SPDX-License-Identifier: MIT
// Archives that are applied: entities become what an archive says, survivors keep their handles, and a call
// that is refused changes nothing.
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = TEST_HERD };

static const espl_archive_def with_handles = {.flags = ESPL_ARCHIVE_HANDLES};

// What came of an apply.
typedef struct applied {
    espl_entity entities[MOST], tops[MOST];
    size_t count, top_count;
} applied;

static espl_archive_info info_of(const test_archive *archive)
{
    espl_archive_info info;

    ck_ok(espl_archive_inspect(archive->bytes, archive->size, &info, NULL));
    return info;
}

// Apply an archive, which must succeed. @param to  in: the known entities; out
static void apply(espl_world *world, const test_archive *archive, const test_archive *known,
                  espl_entity parent, applied *to)
{
    const espl_archive_read_def def = {.parent = parent,
                                       .entities = to->entities,
                                       .capacity = MOST,
                                       .tops = to->tops,
                                       .top_capacity = MOST};
    const espl_archive_known before = {known == NULL ? NULL : known->bytes,
                                       known == NULL ? 0 : known->size, to->entities, to->count};
    espl_format_fault fault;
    const espl_status status = espl_archive_apply(world, archive->bytes, archive->size, &def,
                                                  known == NULL ? NULL : &before, &fault);
    const espl_archive_info info = info_of(archive);

    ck_assert_msg(status == ESPL_OK, "%s: %s", espl_status_name(status), fault.sentence);
    ck_assert_ptr_null(fault.sentence);
    test_world_is_valid(world);
    to->count = info.nodes;
    to->top_count = info.tops;
}

// Archive the entities that an apply left, without handles.
static test_archive archive_again(const espl_world *world, const applied *of)
{
    const espl_archive_def def = {
        .tops = of->tops, .top_count = of->top_count, .extent = ESPL_EXTENT_SUBTREE};

    return test_archive_of(world, &def);
}

static void check_same(test_archive one, test_archive other)
{
    ck_assert_uint_eq(one.size, other.size);
    ck_assert_mem_eq(one.bytes, other.bytes, one.size);
    test_archive_end(&one);
    test_archive_end(&other);
}

// --- Back to what was ---

TEST_LOOP(an_earlier_archive_takes_changes_back, 0, 6)
{
    test_herd herd;

    if (test_lacks_room(2 * TEST_HERD, "an archive that is built beside its entities")) {
        return;
    }
    test_herd_begin(&herd, (uint64_t)_i);
    for (int round = 0; round < 12; ++round) {
        test_archive saved = test_archive_of(herd.world, &with_handles),
                     plain = test_archive_of(herd.world, NULL);
        espl_entity saved_nodes[TEST_HERD];
        bool was_alive[TEST_HERD];
        applied now;

        memcpy(saved_nodes, herd.nodes, sizeof saved_nodes);
        for (int i = 0; i < TEST_HERD; ++i) {
            was_alive[i] = espl_is_alive(herd.world, saved_nodes[i]);
        }
        for (int i = 0; i < 3 * round; ++i) {
            // Deaths, births and moves are among them.
            test_herd_change(&herd);
        }
        for (int i = 0; i < TEST_HERD; ++i) {
            was_alive[i] = was_alive[i] && espl_is_alive(herd.world, saved_nodes[i]);
        }
        apply(herd.world, &saved, NULL, test_null, &now);
        for (int i = 0; i < TEST_HERD; ++i) {
            ck_assert(!was_alive[i] || espl_is_alive(herd.world, saved_nodes[i]));
        }
        check_same(archive_again(herd.world, &now), plain);
        test_archive_end(&saved);
        // Entities that died are drawn again from those that were created for them.
        memcpy(herd.nodes, saved_nodes, sizeof saved_nodes);
        for (size_t i = 0, k = 0; i < TEST_HERD; ++i) {
            if (!espl_is_alive(herd.world, herd.nodes[i]) && k < now.count) {
                herd.nodes[i] = now.entities[k++];
            }
        }
        if (test_stats(herd.world).entities > 2 * TEST_HERD) {
            break;
        }
    }
    test_herd_end(&herd);
}

TEST(survivors_keep_their_handles_and_what_refers_to_them)
{
    test_pair p;
    applied now = {.count = 0};

    test_pair_begin(&p);
    const espl_component link = test_link_component(p.a, "link", 0);
    const espl_entity root = test_pair_node(p.a, test_null, 1, "root"),
                      arm = test_pair_node(p.a, root, 2, "arm"),
                      hand = test_pair_node(p.a, arm, 3, "hand"),
                      other = test_pair_node(p.a, test_null, 4, "other");

    ck_ok(espl_add_component(p.a, other, link, &(test_link){hand, 1, arm}, sizeof(test_link)));
    const espl_archive_def def = {.tops = &root,
                                  .top_count = 1,
                                  .extent = ESPL_EXTENT_SUBTREE,
                                  .flags = ESPL_ARCHIVE_HANDLES};
    test_archive saved = test_archive_of(p.a, &def);
    test_link value;

    // Reparented meanwhile, renamed, moved; and something new below it.
    ck_ok(espl_attach(p.a, hand, other, NULL));
    ck_ok(espl_set_name(p.a, arm, NULL));
    ck_ok(espl_set_local_position(p.a, root, (float[3]){9, 9, 9}));
    const espl_entity hat = test_pair_node(p.a, arm, 5, "hat");

    apply(p.a, &saved, NULL, test_null, &now);
    ck_assert_uint_eq(now.count, 3);
    ck_assert(espl_entity_equal(now.entities[0], root));
    ck_assert(espl_entity_equal(now.entities[1], arm));
    ck_assert(espl_entity_equal(now.entities[2], hand));
    ck_assert(espl_entity_equal(espl_get_parent(p.a, hand), arm));
    ck_assert_str_eq(espl_get_name(p.a, arm), "arm");
    ck_assert(!espl_is_alive(p.a, hat));
    ck_assert(espl_is_alive(p.a, other));
    ck_assert_uint_eq(test_stats(p.a).entities, 4);
    ck_ok(espl_get_component(p.a, other, link, &value, sizeof value));
    ck_assert(espl_entity_equal(value.to, hand) && espl_entity_equal(value.other, arm));
    test_archive_end(&saved);
    test_pair_end(&p);
}

TEST(a_root_that_was_attached_becomes_a_root_again_and_what_it_hung_on_stays)
{
    test_pair p;
    applied now = {.count = 0};

    test_pair_begin(&p);
    const espl_entity ship = test_pair_node(p.a, test_null, 1, "ship"),
                      dock = test_pair_node(p.a, test_null, 2, "dock"),
                      crane = test_pair_node(p.a, dock, 3, "crane");
    test_archive saved = test_archive_of(
        p.a, &(espl_archive_def){.tops = &ship, .top_count = 1, .flags = ESPL_ARCHIVE_HANDLES});

    ck_ok(espl_attach(p.a, ship, crane, NULL));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_assert_int_eq(espl_get_role(p.a, ship), ESPL_ROLE_SOLO);
    ck_assert(espl_is_alive(p.a, crane));
    // Below a parent that the caller names.
    apply(p.a, &saved, NULL, crane, &now);
    ck_assert(espl_entity_equal(espl_get_parent(p.a, ship), crane));
    test_archive_end(&saved);
    test_pair_end(&p);
}

TEST(what_died_is_created_again_with_another_handle)
{
    test_pair p;
    applied now = {.count = 0};

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, "root"),
                      arm = test_pair_node(p.a, root, 2, "arm");
    test_archive saved = test_archive_of(p.a, &with_handles), plain = test_archive_of(p.a, NULL);

    ck_ok(espl_destroy(p.a, arm, ESPL_EXTENT_ENTITY));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_assert(espl_entity_equal(now.entities[0], root));
    ck_assert(!espl_is_alive(p.a, arm));
    ck_assert_str_eq(espl_get_name(p.a, now.entities[1]), "arm");
    check_same(archive_again(p.a, &now), plain);
    // All of it.
    plain = test_archive_of(p.a, NULL);
    ck_ok(espl_destroy(p.a, root, ESPL_EXTENT_SUBTREE));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_assert(!espl_is_alive(p.a, root));
    check_same(archive_again(p.a, &now), plain);
    test_archive_end(&saved);
    test_pair_end(&p);
}

TEST(survivors_keep_values_that_archives_do_not_have)
{
    test_pair p;
    applied now = {.count = 0};
    uint32_t value = 7;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL);
    espl_component cache;

    ck_ok(espl_component_register(
        p.a, &(espl_component_def){.name = "cache", .size = 4, .flags = ESPL_COMPONENT_TRANSIENT},
        &cache));
    ck_ok(espl_add_component(p.a, arm, cache, &value, sizeof value));
    ck_ok(espl_add_component(p.a, root, cache, &value, sizeof value));
    test_archive saved = test_archive_of(p.a, &with_handles);

    value = 8;
    ck_ok(espl_set_component(p.a, arm, cache, &value, sizeof value));
    ck_ok(espl_remove_component(p.a, root, cache));
    ck_ok(espl_detach(p.a, arm, ESPL_KEEP_WORLD));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_ok(espl_get_component(p.a, arm, cache, &value, sizeof value));
    ck_assert_uint_eq(value, 8);
    ck_ok(espl_get_component(p.a, root, cache, &value, sizeof value));
    ck_assert_uint_eq(value, 0);
    test_archive_end(&saved);
    test_pair_end(&p);
}

// --- A world that follows another one ---

TEST_LOOP(a_world_follows_another_one_by_deltas, 0, 6)
{
    test_herd herd;
    test_world client;
    applied now = {.count = 0};

    if (test_lacks_room(2 * TEST_HERD + 1, "an archive that is built beside its entities")) {
        return;
    }
    test_herd_begin(&herd, 100 + (uint64_t)_i);
    test_world_begin(&client, 3, NULL);
    test_herd_register(client.world);
    const espl_entity scene =
        _i % 2 == 0 ? test_null : test_pair_node(client.world, test_null, 0, "scene");
    test_archive held = test_archive_of(herd.world, &with_handles);

    ck_ok(espl_archive_read(
        client.world, held.bytes, held.size,
        &(espl_archive_read_def){.parent = scene, .entities = now.entities, .capacity = MOST},
        NULL));
    now.count = info_of(&held).nodes;
    for (int frame = 0; frame < 40; ++frame) {
        espl_entity kept[TEST_HERD];

        for (uint32_t i = test_below(&herd.random, 5) * (uint32_t)(frame % 3); i > 0; --i) {
            test_herd_change(&herd);
        }
        test_archive next = test_archive_of(herd.world, &with_handles),
                     delta = test_delta_of(&held, &next), patched;

        ck_ok(test_patch(&held, &delta, &patched, NULL));
        memcpy(kept, now.entities, sizeof kept);
        apply(client.world, &patched, &held, scene, &now);
        ck_assert_uint_eq(test_stats(client.world).entities, now.count + (_i % 2 == 0 ? 0u : 1u));
        // Nearly all were there before.
        size_t survived = 0;

        for (size_t i = 0; i < now.count; ++i) {
            for (size_t k = 0; k < TEST_HERD; ++k) {
                survived += espl_entity_equal(now.entities[i], kept[k]) ? 1 : 0;
            }
        }
        ck_assert_uint_ge(survived + 10, now.count);
        if (_i % 2 == 0) {
            check_same(archive_again(client.world, &now), test_archive_of(herd.world, NULL));
        }
        test_archive_end(&held);
        test_archive_end(&next);
        test_archive_end(&delta);
        held = patched;
    }
    test_archive_end(&held);
    test_world_end(&client);
    test_herd_end(&herd);
}

TEST(what_the_known_archive_has_and_this_one_lacks_is_destroyed)
{
    test_pair p;
    applied now = {.count = 0};

    test_pair_begin(&p);
    const espl_entity one = test_pair_node(p.a, test_null, 1, "one"),
                      arm = test_pair_node(p.a, one, 2, "arm"),
                      other = test_pair_node(p.a, test_null, 3, "other");
    test_archive both = test_archive_of(p.a, &with_handles);

    ck_ok(espl_archive_read(p.b, both.bytes, both.size,
                            &(espl_archive_read_def){.entities = now.entities, .capacity = MOST},
                            NULL));
    now.count = 3;
    const espl_entity mine = test_pair_node(p.b, test_null, 4, "mine");

    // The arm was moved away, and what is below it goes with it.
    ck_ok(espl_attach(p.b, now.entities[1], mine, NULL));
    (void)test_pair_node(p.b, now.entities[1], 5, "ring");
    ck_ok(espl_destroy(p.a, arm, ESPL_EXTENT_ENTITY));
    test_archive next = test_archive_of(p.a, &with_handles);

    apply(p.b, &next, &both, test_null, &now);
    ck_assert_uint_eq(now.count, 2);
    ck_assert_uint_eq(test_stats(p.b).entities, 3);
    // Down to nothing.
    ck_ok(espl_destroy(p.a, one, ESPL_EXTENT_SUBTREE));
    ck_ok(espl_destroy(p.a, other, ESPL_EXTENT_SUBTREE));
    test_archive none = test_archive_of(p.a, &with_handles);

    apply(p.b, &none, &next, test_null, &now);
    ck_assert_uint_eq(test_stats(p.b).entities, 1);
    ck_assert(espl_is_alive(p.b, mine));
    test_archive_end(&both);
    test_archive_end(&next);
    test_archive_end(&none);
    test_pair_end(&p);
}

// Where only locals, values and names differ, entities stay in their places, and motion blends.
TEST(what_only_moved_is_written_in_place)
{
    test_pair p;
    applied now = {.count = 0};
    espl_watch *watch = NULL;
    espl_changes changes;
    uint32_t value = 3;
    float shown[16];

    test_pair_begin(&p);
    const espl_component number = test_component(p.a, "number", 4, 4);
    const espl_entity root = test_pair_node(p.a, test_null, 0, "root"),
                      arm = test_pair_node(p.a, root, 2, "arm"),
                      hand = test_pair_node(p.a, arm, 3, NULL),
                      other = test_pair_node(p.a, root, 4, NULL);

    ck_ok(espl_add_component(p.a, hand, number, &value, sizeof value));
    ck_ok(espl_set_inherit(p.a, other, ESPL_COPY_PARENT));
    ck_ok(espl_set_local_position(p.a, root, (float[3]){10, 0, 0}));
    test_archive saved = test_archive_of(p.a, &with_handles), plain = test_archive_of(p.a, NULL);

    value = 4;
    ck_ok(espl_set_component(p.a, hand, number, &value, sizeof value));
    ck_ok(espl_set_local_position(p.a, root, (float[3]){0, 0, 0}));
    ck_ok(espl_set_name(p.a, arm, NULL));
    ck_ok(espl_set_name(p.a, hand, "hand"));
    ck_ok(espl_motion_start(p.a, NULL));
    ck_ok(espl_watch_create(p.a, NULL, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    const uint64_t writes = test_stats(p.a).writes;

    ck_ok(espl_tick_begin(p.a));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_ok(espl_tick_end(p.a));
    ck_assert_uint_eq(test_stats(p.a).writes, writes + 1);
    ck_ok(espl_present(p.a, 0.5F, NULL));
    ck_ok(espl_get_shown_matrix(p.a, root, ESPL_MATRIX_4X4, shown));
    ck_assert_float_eq(shown[12], 5);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.added_count + changes.removed_count, 0);
    check_same(archive_again(p.a, &now), plain);
    espl_watch_destroy(watch);
    test_archive_end(&saved);
    test_pair_end(&p);
}

// A watch sees the difference of states.
TEST(a_watch_finds_survivors_changed_and_neither_gone_nor_new)
{
    test_pair p;
    applied now = {.count = 0};
    espl_watch *watch = NULL;
    espl_changes changes;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL),
                      gone = test_pair_node(p.a, root, 3, NULL);
    test_archive saved = test_archive_of(p.a, &with_handles);

    ck_ok(espl_watch_create(p.a, NULL, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_destroy(p.a, gone, ESPL_EXTENT_SUBTREE));
    ck_ok(espl_detach(p.a, arm, ESPL_KEEP_WORLD));
    const espl_entity late = test_pair_node(p.a, root, 4, NULL);

    ck_ok(espl_watch_collect(watch, 0, &changes));
    apply(p.a, &saved, NULL, test_null, &now);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.added_count, 1);
    ck_assert(espl_entity_equal(changes.added[0], now.entities[2]));
    ck_assert_uint_eq(changes.removed_count, 1);
    ck_assert(espl_entity_equal(changes.removed[0], late));
    espl_watch_destroy(watch);
    test_archive_end(&saved);
    test_pair_end(&p);
}

// --- What is refused ---

// Demand that an apply is refused and changes nothing.
static void check_refused(test_world *test, const test_archive *archive, espl_entity parent,
                          const espl_archive_known *known, espl_status wanted)
{
    const espl_archive_read_def def = {.parent = parent};
    const uint64_t before = test_physical_hash(test->world);
    espl_format_fault fault;

    ck_status(espl_archive_apply(test->world, archive->bytes, archive->size, &def, known, &fault),
              wanted);
    ck_assert_uint_eq(test_physical_hash(test->world), before);
    ck_assert_ptr_nonnull(fault.sentence);
    test_world_is_valid(test->world);
}

TEST(what_cannot_be_matched_is_refused)
{
    test_pair p;
    espl_entity entities[2];

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, NULL),
                      arm = test_pair_node(p.a, root, 2, NULL),
                      ring = test_pair_node(p.a, arm, 3, NULL);
    test_archive plain = test_archive_of(p.a, NULL);

    ck_ok(espl_destroy(p.a, ring, ESPL_EXTENT_SUBTREE));
    test_archive saved = test_archive_of(p.a, &with_handles), bare = test_archive_of(p.a, NULL);
    espl_archive_known known = {saved.bytes, saved.size, entities, 2};

    ck_ok(espl_archive_read(p.b, saved.bytes, saved.size,
                            &(espl_archive_read_def){.entities = entities, .capacity = 2}, NULL));
    check_refused(&p.from, &plain, test_null, NULL, ESPL_ERR_FORMAT);
    // Below itself, or below what it will destroy.
    check_refused(&p.from, &saved, arm, NULL, ESPL_ERR_CYCLE);
    const espl_entity below = test_pair_node(p.a, arm, 4, NULL);

    check_refused(&p.from, &saved, below, NULL, ESPL_ERR_CYCLE);
    check_refused(&p.to, &saved, entities[1], &known, ESPL_ERR_CYCLE);
    known.count = 1;
    check_refused(&p.to, &saved, test_null, &known, ESPL_ERR_ARGUMENT);
    known.count = 2;
    known.size -= 1;
    check_refused(&p.to, &saved, test_null, &known, ESPL_ERR_FORMAT);
    known.bytes = bare.bytes;
    known.size = bare.size;
    check_refused(&p.to, &saved, test_null, &known, ESPL_ERR_FORMAT);
    known = (espl_archive_known){saved.bytes, saved.size, entities, 2};
    entities[1] = entities[0];
    check_refused(&p.to, &saved, test_null, &known, ESPL_ERR_FORMAT);
    test_archive_end(&plain);
    test_archive_end(&saved);
    test_archive_end(&bare);
    test_pair_end(&p);
}

TEST(damaged_bytes_change_nothing)
{
    test_pair p;

    test_pair_begin(&p);
    const espl_entity root = test_pair_node(p.a, test_null, 1, "root");

    (void)test_pair_node(p.a, root, 2, "arm");
    test_archive saved = test_archive_of(p.a, &with_handles);
    const uint64_t before = test_physical_hash(p.a);

    for (size_t i = 0; i < saved.size; ++i) {
        ck_status(espl_archive_apply(p.a, saved.bytes, i, NULL, NULL, NULL), ESPL_ERR_FORMAT);
        saved.bytes[i] ^= 1;
        ck_assert_int_lt(espl_archive_apply(p.a, saved.bytes, saved.size, NULL, NULL, NULL), 0);
        saved.bytes[i] ^= 1;
        ck_assert_uint_eq(test_physical_hash(p.a), before);
    }
    test_archive_end(&saved);
    test_pair_end(&p);
}

TEST(an_apply_that_finds_no_memory_changes_nothing)
{
    test_herd herd;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t at = 0;

    if (test_lacks_room(2 * TEST_HERD, "an archive that is built beside its entities")) {
        return;
    }
    test_herd_begin(&herd, 77);
    test_archive saved = test_archive_of(herd.world, &with_handles),
                 plain = test_archive_of(herd.world, NULL);
    applied now = {.count = 0};
    const espl_archive_read_def def = {
        .entities = now.entities, .capacity = MOST, .tops = now.tops, .top_capacity = MOST};
    const espl_archive_info info = info_of(&saved);

    for (int i = 0; i < 40; ++i) {
        test_herd_change(&herd);
    }
    const uint64_t before = test_physical_hash(herd.world);

    while (status == ESPL_ERR_NO_MEMORY) {
        at += 1;
        test_heap_arm(&herd.test.heap, at, false);
        status = espl_archive_apply(herd.world, saved.bytes, saved.size, &def, NULL, NULL);
        test_heap_arm(&herd.test.heap, 0, false);
        test_world_is_valid(herd.world);
        ck_assert(status == ESPL_OK || test_physical_hash(herd.world) == before);
    }
    ck_ok(status);
    ck_assert_uint_gt(at, 4);
    now.count = info.nodes;
    now.top_count = info.tops;
    check_same(archive_again(herd.world, &now), plain);
    test_archive_end(&saved);
    test_herd_end(&herd);
}

// Where locals, values and names are written in place.
TEST(an_apply_in_place_that_finds_no_memory_changes_nothing)
{
    test_pair p;
    espl_status status = ESPL_ERR_NO_MEMORY;
    uint32_t value = 3;
    size_t at = 0;

    test_pair_begin(&p);
    const espl_component number = test_component(p.a, "number", 4, 4);
    const espl_entity root = test_pair_node(p.a, test_null, 0, "root"),
                      arm = test_pair_node(p.a, root, 2, "arm");

    ck_ok(espl_add_component(p.a, arm, number, &value, sizeof value));
    test_archive saved = test_archive_of(p.a, &with_handles);
    const uint64_t wanted = test_logical_hash(p.a);

    value = 4;
    ck_ok(espl_set_component(p.a, arm, number, &value, sizeof value));
    ck_ok(espl_set_local_position(p.a, root, (float[3]){3, 2, 1}));
    ck_ok(espl_set_name(p.a, arm, "other"));
    const uint64_t before = test_physical_hash(p.a);

    while (status == ESPL_ERR_NO_MEMORY) {
        at += 1;
        test_heap_arm(&p.from.heap, at, false);
        status = espl_archive_apply(p.a, saved.bytes, saved.size, NULL, NULL, NULL);
        test_heap_arm(&p.from.heap, 0, false);
        test_world_is_valid(p.a);
        ck_assert(status == ESPL_OK || test_physical_hash(p.a) == before);
    }
    ck_ok(status);
    ck_assert_uint_gt(at, 4);
    ck_assert_uint_eq(test_logical_hash(p.a), wanted);
    test_archive_end(&saved);
    test_pair_end(&p);
}

// In place, and by a build.
TEST_LOOP(a_history_goes_back_over_an_apply, 0, 2)
{
    test_pair p;
    espl_history *history = NULL;

    test_pair_begin(&p);
    const espl_component number = test_component(p.a, "number", 4, 4);
    const espl_entity root = test_pair_node(p.a, test_null, 0, "root"),
                      arm = test_pair_node(p.a, root, 2, "arm");
    uint32_t value = 3;

    ck_ok(espl_add_component(p.a, arm, number, &value, sizeof value));
    test_archive saved = test_archive_of(p.a, &with_handles);

    ck_ok(espl_set_name(p.a, arm, "other"));
    ck_ok(espl_set_local_position(p.a, root, (float[3]){3, 2, 1}));
    if (_i == 1) {
        ck_ok(espl_detach(p.a, arm, ESPL_KEEP_WORLD));
    }
    ck_ok(espl_history_create(p.a, NULL, &history));
    ck_ok(espl_history_mark(history, 1));
    const uint64_t before = test_logical_hash(p.a);

    ck_ok(espl_archive_apply(p.a, saved.bytes, saved.size, NULL, NULL, NULL));
    ck_ok(espl_history_mark(history, 2));
    const uint64_t after = test_logical_hash(p.a);

    ck_assert_uint_ne(before, after);
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    test_world_is_valid(p.a);
    ck_assert_uint_eq(test_logical_hash(p.a), before);
    ck_assert_str_eq(espl_get_name(p.a, arm), "other");
    ck_ok(espl_archive_apply(p.a, saved.bytes, saved.size, NULL, NULL, NULL));
    ck_assert_uint_eq(test_logical_hash(p.a), after);
    espl_history_destroy(history);
    test_archive_end(&saved);
    test_pair_end(&p);
}

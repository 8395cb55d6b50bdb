// SPDX-License-Identifier: MIT
// Images: what comes back, what a load leaves alone, and bytes that no world has, which change nothing.
#include "lib/value/checksum.h"
#include "lib/value/image.h"
#include "tests/fixture.h"
#include "tests/gauge.h"
#include "tests/images.h"
#include "tests/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A small world with something of everything ---

typedef struct sample {
    test_world test;
    espl_world *world;
    espl_component tag, link; // a tag, and a reference with a number
    espl_entity nodes[8], solo, bare, dead;
} sample;

typedef struct link_value {
    espl_entity to;
    uint32_t number, zero;
} link_value;

static void register_components(espl_world *world, espl_component *tag, espl_component *link)
{
    static const uint32_t references[] = {offsetof(link_value, to)};

    ck_ok(espl_component_register(world, &(espl_component_def){.name = "tag"}, tag));
    ck_ok(espl_component_register(world,
                                  &(espl_component_def){.name = "link",
                                                        .size = sizeof(link_value),
                                                        .alignment = _Alignof(link_value),
                                                        .references = references,
                                                        .reference_count = 1},
                                  link));
}

static void sample_begin(sample *s, uint32_t tag)
{
    espl_entity spare;

    test_world_begin(&s->test, tag, NULL);
    s->world = s->test.world;
    register_components(s->world, &s->tag, &s->link);
    ck_ok(espl_motion_start(s->world, &(espl_motion_def){.history = 2}));
    for (uint32_t i = 0; i < 8; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);

        ck_ok(espl_create_node(s->world, i == 0 ? test_null : s->nodes[(i - 1) / 2], &at, NULL,
                               &s->nodes[i]));
    }
    ck_ok(espl_create_node(s->world, s->nodes[1], NULL, NULL, &spare));
    ck_ok(espl_create_node(s->world, test_null, NULL, NULL, &s->solo));
    ck_ok(espl_create(s->world, &s->tag, 1, 1, &s->bare));
    ck_ok(espl_create_node(s->world, test_null, NULL, NULL, &s->dead));
    ck_ok(espl_set_name(s->world, s->nodes[2], "left"));
    ck_ok(espl_set_name(s->world, s->nodes[3], "right hand"));
    ck_ok(espl_add_component(s->world, s->nodes[4], s->link,
                             &(link_value){.to = s->nodes[6], .number = 7}, sizeof(link_value)));
    ck_ok(espl_add_component(s->world, s->bare, s->link, &(link_value){.to = s->dead, .number = 8},
                             sizeof(link_value)));
    ck_ok(espl_set_inherit(s->world, s->nodes[5], ESPL_ABSOLUTE_ROTATION));
    ck_ok(espl_tick_begin(s->world));
    ck_ok(espl_set_local_position(s->world, s->nodes[1], (float[3]){3, 3, 3}));
    ck_ok(espl_set_stretch(s->world, s->nodes[2], (float[3]){1, 2, 1}));
    ck_ok(espl_set_enabled(s->world, s->nodes[7], ESPL_EXTENT_ENTITY, false));
    ck_ok(espl_destroy(s->world, spare, ESPL_EXTENT_ENTITY));
    ck_ok(espl_destroy(s->world, s->dead, ESPL_EXTENT_ENTITY));
}

static void sample_end(sample *s)
{
    test_world_end(&s->test);
}

// --- What is refused ---

// Load bytes that may be wrong. @return whether they were loaded; else nothing changed.
static bool try_load(espl_world *world, const unsigned char *bytes, size_t size)
{
    const uint64_t before = test_physical_hash(world), turn = espl_world_timeline(world);
    const size_t memory = test_stats(world).bytes;
    espl_format_fault fault;
    const espl_status status = espl_image_load(world, bytes, size, 0, &fault);

    test_world_is_valid(world);
    ck_assert_uint_eq(espl_world_timeline(world), turn + (status == ESPL_OK ? 1 : 0));
    if (status == ESPL_OK) {
        return true;
    }
    ck_assert(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION ||
              status == ESPL_ERR_FOREIGN || status == ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(world), before);
    ck_assert_uint_eq(test_stats(world).bytes, memory);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_le(fault.offset, size);
    return false;
}

TEST(an_image_that_ends_anywhere_is_refused)
{
    sample s;

    sample_begin(&s, 1);
    test_image whole = test_image_of(s.world);

    for (size_t size = 0; size < whole.size; ++size) {
        // A copy of its own, so that a read past the end is found.
        unsigned char *const part = malloc(size + 1);

        ck_assert_ptr_nonnull(part);
        memcpy(part + 1, whole.bytes, size);
        ck_assert(!try_load(s.world, part + 1, size));
        free(part);
    }
    test_image_end(&whole);
    sample_end(&s);
}

// Give an image the checksum of its bytes.
static void seal(test_image *i)
{
    espl__image_head head;
    espl__checksum checksum;

    memcpy(&head, i->bytes, sizeof head);
    head.checksum = 0;
    memcpy(i->bytes, &head, sizeof head);
    espl__checksum_begin(&checksum);
    espl__checksum_add(&checksum, i->bytes, i->size);
    head.checksum = espl__checksum_of(&checksum);
    memcpy(i->bytes, &head, sizeof head);
}

// A call may be refused, because the world may be any.
static void go_on(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_NO_MEMORY);
}

// Change the structure of a world, so that what is wrong in it shows.
static void stir(espl_world *world, const sample *s)
{
    espl_entity made;

    for (int i = 0; i < 8; ++i) {
        go_on(espl_set_local_position(world, s->nodes[i], (float[3]){(float)i, 0, 1}));
    }
    go_on(espl_create_node(world, s->nodes[0], NULL, NULL, &made));
    go_on(espl_attach(world, s->nodes[3], s->nodes[2], NULL));
    go_on(espl_destroy(world, s->nodes[1], ESPL_EXTENT_ENTITY));
    go_on(espl_tick_begin(world));
    go_on(espl_present(world, 0.5f, NULL));
    go_on(espl_compact(world));
    test_world_is_valid(world);
    go_on(espl_world_clear(world));
    test_world_is_valid(world);
}

TEST_LOOP(each_flipped_bit_is_refused_or_gives_a_valid_world, 0, 8)
{
    sample s;
    size_t loaded = 0, refused = 0;

    sample_begin(&s, 1);
    test_image whole = test_image_of(s.world);

    for (size_t at = 0; at < whole.size; ++at) {
        whole.bytes[at] ^= (unsigned char)(1u << _i);
        ck_assert(!try_load(s.world, whole.bytes, whole.size));
        if (at < offsetof(espl__image_head, checksum) ||
            at >= offsetof(espl__image_head, checksum) + 8) {
            test_image sealed = {malloc(whole.size), whole.size};

            ck_assert_ptr_nonnull(sealed.bytes);
            memcpy(sealed.bytes, whole.bytes, whole.size);
            seal(&sealed);
            if (try_load(s.world, sealed.bytes, sealed.size)) {
                loaded += 1;
                stir(s.world, &s);
                whole.bytes[at] ^= (unsigned char)(1u << _i);
                test_image_load(s.world, &whole, 0);
                whole.bytes[at] ^= (unsigned char)(1u << _i);
            } else {
                refused += 1;
            }
            test_image_end(&sealed);
        }
        whole.bytes[at] ^= (unsigned char)(1u << _i);
    }
    // Values, positions and user data may be any; most other bits may not.
    printf("# figure: %zu flipped bits refused, %zu loaded\n", refused, loaded);
    ck_assert_uint_gt(refused, whole.size / 4);
    ck_assert_uint_gt(loaded, whole.size / 16);
    test_image_end(&whole);
    sample_end(&s);
}

// Rows that the head promises and an archetype has, without bytes for them.
TEST(rows_are_counted_in_bytes_before_memory_is_taken_for_them)
{
    sample s;

    sample_begin(&s, 1);
    test_image image = test_image_of(s.world);
    espl__image_head head;
    espl__image_set set;
    size_t at = 0;

    memcpy(&head, image.bytes, sizeof head);
    // The table of archetypes, whose first one with rows gets many more.
    at = sizeof head + (size_t)head.registry_size;
    memcpy(&set, image.bytes + at, sizeof set);
    while (set.rows == 0) {
        at += espl__image_room(sizeof set) + espl__image_room(set.components * sizeof(uint32_t));
        memcpy(&set, image.bytes + at, sizeof set);
    }
    set.rows = 10000000;
    head.alive_count = head.records = 20000000;
    memcpy(image.bytes, &head, sizeof head);
    memcpy(image.bytes + at, &set, sizeof set);
    seal(&image);
    test_heap_arm(&s.test.heap, 0, false);
    ck_status(espl_image_load(s.world, image.bytes, image.size, 0, NULL), ESPL_ERR_FORMAT);
    // A few lists, and no chunks.
    ck_assert_uint_lt(s.test.heap.calls, 40);
    test_image_end(&image);
    sample_end(&s);
}

// --- What comes back ---

TEST(b14_handles_of_the_saved_moment_live_again_and_later_ones_do_not)
{
    sample s;
    espl_entity later;

    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);
    const uint64_t logical = test_logical_hash(s.world), physical = test_physical_hash(s.world);

    ck_assert_uint_eq(espl_world_timeline(s.world), 0);
    ck_ok(espl_create_node(s.world, s.nodes[0], NULL, NULL, &later));
    ck_ok(espl_destroy(s.world, s.nodes[2], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_tick_end(s.world));
    ck_ok(espl_set_local_position(s.world, s.nodes[0], (float[3]){9, 9, 9}));
    ck_ok(espl_set_name(s.world, s.nodes[3], "another"));
    test_image_load(s.world, &saved, 0);
    ck_assert_uint_eq(espl_world_timeline(s.world), 1);
    ck_assert_uint_eq(test_logical_hash(s.world), logical);
    ck_assert_uint_eq(test_physical_hash(s.world), physical);
    for (int i = 0; i < 8; ++i) {
        ck_assert(espl_is_alive(s.world, s.nodes[i]));
    }
    ck_assert(!espl_is_alive(s.world, s.dead));
    ck_assert_str_eq(espl_get_name(s.world, s.nodes[2]), "left");
    ck_assert_str_eq(espl_get_name(s.world, s.nodes[3]), "right hand");
    ck_assert(!espl_is_enabled(s.world, s.nodes[7]));
    test_image_end(&saved);
    sample_end(&s);
}

// What a present shows of a node halfway through the tick.
static espl_pose shown_halfway(espl_world *world, espl_entity entity)
{
    espl_pose out;

    ck_ok(espl_present(world, 0.5f, NULL));
    ck_ok(espl_read_one(world, entity, ESPL_READ_SHOWN_POSE, &out));
    return out;
}

// Worlds with motion that keeps 0, 1 and 2 ticks load the image of one that keeps 2, and the other way.
TEST_LOOP(motion_is_part_of_an_image, 0, 3)
{
    sample s;
    test_world other;
    espl_component tag, link;
    espl_pose shown, again;

    sample_begin(&s, 1);
    shown = shown_halfway(s.world, s.nodes[3]);
    test_image with = test_image_of(s.world);
    test_world_begin(&other, 1, NULL);
    register_components(other.world, &tag, &link);
    test_image without = test_image_of(other.world);
    if (_i != 0) {
        ck_ok(espl_motion_start(other.world, &(espl_motion_def){.history = (uint32_t)_i}));
    }
    for (int turn = 0; turn < 2; ++turn) {
        test_image_load(other.world, &with, 0);
        again = shown_halfway(other.world, s.nodes[3]);
        ck_assert_mem_eq(&shown, &again, sizeof shown);
        test_image_compare(s.world, other.world);
        test_image_load(other.world, &without, 0);
        ck_assert_int_eq(espl_tick_begin(other.world), ESPL_ERR_ARGUMENT);
        ck_assert_uint_eq(test_stats(other.world).entities, 0);
    }
    test_image_end(&with);
    test_image_end(&without);
    test_world_end(&other);
    sample_end(&s);
}

TEST(a_world_with_another_tag_needs_the_flag_and_gets_its_own_handles)
{
    sample s;
    test_world other;
    espl_component tag, link;
    espl_format_fault fault;

    sample_begin(&s, 5);
    test_image saved = test_image_of(s.world);
    test_world_begin(&other, 9, NULL);
    register_components(other.world, &tag, &link);
    ck_assert_int_eq(espl_image_load(other.world, saved.bytes, saved.size, 0, &fault),
                     ESPL_ERR_FOREIGN);
    test_image_load(other.world, &saved, ESPL_IMAGE_RETAG);
    ck_assert_uint_eq(test_logical_hash(other.world), test_logical_hash(s.world));
    for (int i = 0; i < 8; ++i) {
        const uint32_t below = (UINT32_C(1) << 24) - 1;
        const espl_entity here = {s.nodes[i].index, (s.nodes[i].generation & below) | UINT32_C(9)
                                                                                          << 24};

        ck_assert(espl_is_alive(other.world, here));
        ck_assert(!espl_is_alive(other.world, s.nodes[i]));
    }
    const espl_entity four = {s.nodes[4].index, s.nodes[4].generation ^ (UINT32_C(5) ^ UINT32_C(9))
                                                                            << 24};
    link_value value;

    ck_ok(espl_get_component(other.world, four, link, &value, sizeof value));
    ck_assert_uint_eq(value.to.index, s.nodes[6].index);
    ck_assert(espl_is_alive(other.world, value.to));
    ck_assert_uint_eq(value.number, 7);
    test_image_end(&saved);
    test_world_end(&other);
    sample_end(&s);
}

TEST(components_must_be_registered_as_they_were)
{
    sample s;
    test_world other;
    espl_component tag, link, more;
    espl_format_fault fault;

    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);
    test_world_begin(&other, 1, NULL);
    ck_assert_int_eq(espl_image_load(other.world, saved.bytes, saved.size, 0, &fault),
                     ESPL_ERR_VERSION);
    ck_assert_str_eq(fault.sentence,
                     "The image has a component that is not registered in this world.");
    more = test_component(other.world, "link", sizeof(link_value), _Alignof(link_value));
    more = test_component(other.world, "tag", 0, 1);
    ck_assert_int_eq(espl_image_load(other.world, saved.bytes, saved.size, 0, &fault),
                     ESPL_ERR_VERSION);
    test_world_end(&other);
    test_world_begin(&other, 1, NULL);
    register_components(other.world, &tag, &link);
    more = test_component(other.world, "more", 4, 4);
    test_image_load(other.world, &saved, 0);
    ck_ok(espl_add_component(other.world, s.nodes[1], more, &(uint32_t){3}, 4));
    test_image_end(&saved);
    test_world_end(&other);
    sample_end(&s);
}

TEST(a_component_of_another_version_is_another_one)
{
    test_world worlds[2];
    espl_component number;
    espl_format_fault fault;

    for (uint32_t i = 0; i < 2; ++i) {
        test_world_begin(&worlds[i], 1, NULL);
        ck_ok(espl_component_register(
            worlds[i].world,
            &(espl_component_def){.name = "number", .size = 4, .alignment = 4, .version = i},
            &number));
    }
    test_image saved = test_image_of(worlds[0].world);

    ck_assert_int_eq(espl_image_load(worlds[1].world, saved.bytes, saved.size, 0, &fault),
                     ESPL_ERR_VERSION);
    test_image_end(&saved);
    test_world_end(&worlds[0]);
    test_world_end(&worlds[1]);
}

TEST(transient_values_are_not_saved_and_are_zero_after_a_load)
{
    test_world other;
    espl_component lasting, passing;
    espl_entity entity;
    uint64_t value = 77;

    test_world_begin(&other, 1, NULL);
    lasting = test_component(other.world, "lasting", 8, 8);
    ck_ok(espl_component_register(
        other.world,
        &(espl_component_def){
            .name = "passing", .size = 8, .alignment = 8, .flags = ESPL_COMPONENT_TRANSIENT},
        &passing));
    ck_ok(espl_create(other.world, (espl_component[]){lasting, passing}, 2, 1, &entity));
    ck_ok(espl_set_component(other.world, entity, lasting, &value, 8));
    test_image without = test_image_of(other.world);

    ck_ok(espl_set_component(other.world, entity, passing, &value, 8));
    test_image saved = test_image_of(other.world);

    ck_assert_uint_eq(saved.size, without.size);
    ck_assert_mem_eq(saved.bytes, without.bytes, saved.size);
    test_image_load(other.world, &saved, 0);
    ck_ok(espl_get_component(other.world, entity, lasting, &value, 8));
    ck_assert_uint_eq(value, 77);
    ck_ok(espl_get_component(other.world, entity, passing, &value, 8));
    ck_assert_uint_eq(value, 0);
    test_image_end(&saved);
    test_image_end(&without);
    test_world_end(&other);
}

// In line while the image is loaded, with a command for an entity that the image does not have.
TEST(commands_that_were_recorded_before_a_load_are_judged_when_they_are_played)
{
    sample s;

    sample_begin(&s, 3);
    espl_command_buffer *const commands = test_commands(s.world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def def = {.source = s.nodes[1]};
    espl_entity pending, made, again;
    test_image image = test_image_of(s.world);
    const espl_entity later = test_solo(s.world);

    ck_ok(espl_record_write(recorder, 0, s.solo, ESPL_WRITE_LOCAL_POSITION, (float[3]){5, 6, 7}));
    ck_ok(espl_record_destroy(recorder, 0, later, ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, &pending));
    ck_ok(espl_command_buffer_submit(commands));
    test_image_load(s.world, &image, 0);
    ck_status(espl_command_buffer_resolve(commands, pending, &made), ESPL_ERR_PENDING);
    ck_ok(espl_sync(s.world, NULL));
    ck_ok(espl_command_buffer_result(commands, 0, 0));
    ck_status(espl_command_buffer_result(commands, 0, 1), ESPL_ERR_DEAD);
    ck_ok(espl_command_buffer_result(commands, 0, 2));
    ck_ok(espl_command_buffer_resolve(commands, pending, &made));
    ck_assert(espl_is_alive(s.world, made));
    ck_assert_float_eq(test_local_of(s.world, s.solo).position[1], 6);
    // What a playback made is gone after a load, and the buffer still says what it was.
    test_image_load(s.world, &image, 0);
    ck_ok(espl_command_buffer_resolve(commands, pending, &again));
    ck_assert(espl_entity_equal(again, made) && !espl_is_alive(s.world, made));
    espl_command_buffer_destroy(commands);
    test_image_end(&image);
    sample_end(&s);
}

TEST_LOOP(a_load_without_memory_changes_nothing, 0, 2)
{
    const uint32_t flags = _i == 0 ? 0 : ESPL_IMAGE_TRUSTED;
    sample s;
    espl_status status = ESPL_ERR_NO_MEMORY;

    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);
    ck_ok(espl_motion_stop(s.world));
    ck_ok(espl_world_clear(s.world));
    const uint64_t before = test_physical_hash(s.world);
    size_t calls = 0;

    for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
        const size_t bytes = test_stats(s.world).bytes;

        test_heap_arm(&s.test.heap, at, at % 2 == 0);
        status = espl_image_load(s.world, saved.bytes, saved.size, flags, NULL);
        test_heap_arm(&s.test.heap, 0, false);
        test_world_is_valid(s.world);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_eq(test_physical_hash(s.world), before);
            ck_assert_uint_eq(test_stats(s.world).bytes, bytes);
            calls += 1;
        }
    }
    ck_ok(status);
    ck_assert_uint_gt(calls, 20);
    test_image_end(&saved);
    sample_end(&s);
}

// Load an image into its world. @return the memory that the load took for a time.
static size_t memory_of_load(espl_world *world, gauge *g, const test_image *image, uint32_t flags)
{
    const size_t before = g->heap.bytes;

    g->peak = before;
    test_image_load(world, image, flags);
    test_world_is_valid(world);
    return g->peak - before;
}

TEST(a_trusted_load_needs_no_second_memory_for_slots_and_rows)
{
    const uint32_t count = test_fitting(2000, 0);
    espl_entity *const nodes = test_array(count, sizeof *nodes);
    const espl_component transform = ESPL_TRANSFORM;
    espl_world *world;
    gauge g;

    gauge_begin(&g);
    const espl_world_def def = {.tag = 1, .allocator = gauge_allocator(&g)};

    ck_ok(espl_world_create(&def, &world));
    ck_ok(espl_create(world, &transform, 1, count, nodes));
    test_image saved = test_image_of(world);
    const size_t checked = memory_of_load(world, &g, &saved, 0);
    const size_t trusted = memory_of_load(world, &g, &saved, ESPL_IMAGE_TRUSTED);

    if (!test_moves_always()) {
        // A slot has 86 bytes or more, a record 16, and a row 12, with the versions of its chunk.
        ck_assert_uint_gt(checked, trusted + 118 * (size_t)count);
    }
    // What was loaded came to the place of the world's slots, so a change of the world is undone by it.
    ck_ok(espl_destroy(world, nodes[count / 2], ESPL_EXTENT_ENTITY));
    ck_ok(espl_set_local_position(world, nodes[0], (float[3]){1, 2, 3}));
    test_image_load(world, &saved, ESPL_IMAGE_TRUSTED);
    test_world_is_valid(world);
    test_image again = test_image_of(world);

    ck_assert_uint_eq(again.size, saved.size);
    ck_assert_mem_eq(again.bytes, saved.bytes, saved.size);
    test_image_end(&again);
    test_image_end(&saved);
    espl_world_destroy(world);
    free(nodes);
}

TEST(a_watch_finds_the_difference_of_the_two_worlds)
{
    sample s;
    espl_watch *watch;
    espl_changes changes;
    espl_entity later;

    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);
    ck_ok(espl_create_node(s.world, s.nodes[0], NULL, NULL, &later));
    ck_ok(espl_destroy(s.world, s.nodes[6], ESPL_EXTENT_ENTITY));
    ck_ok(espl_set_local_position(s.world, s.nodes[4], (float[3]){1, 1, 1}));
    ck_ok(espl_watch_create(
        s.world, &(espl_watch_def){.flags = ESPL_WATCH_WORLD | ESPL_WATCH_BEFORE}, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    test_image_load(s.world, &saved, 0);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.removed_count, 1);
    ck_assert(espl_entity_equal(changes.removed[0], later));
    ck_assert_uint_eq(changes.added_count, 1);
    ck_assert(espl_entity_equal(changes.added[0], s.nodes[6]));
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], s.nodes[4]));
    espl_watch_destroy(watch);
    test_image_end(&saved);
    sample_end(&s);
}

// The image has fewer indices than the watch knows.
TEST(a_watch_finds_that_the_last_indices_are_gone)
{
    sample s;
    espl_watch *watch;
    espl_changes changes;
    espl_entity later[20], again[20];

    if (test_lacks_room(40, "indices that an image has not")) {
        return;
    }
    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);
    test_solos(s.world, 20, later);
    ck_ok(espl_watch_create(
        s.world, &(espl_watch_def){.flags = ESPL_WATCH_WORLD | ESPL_WATCH_BEFORE}, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    test_image_load(s.world, &saved, 0);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.removed_count, 20);
    ck_assert_uint_eq(changes.added_count, 0);
    ck_assert_uint_eq(changes.changed_count, 0);
    for (int i = 1; i < 20; ++i) {
        ck_assert_uint_lt(changes.removed[i - 1].index, changes.removed[i].index);
    }
    // The same calls make the same handles, also between a load and the next collect.
    test_solos(s.world, 20, again);
    ck_assert_mem_eq(later, again, sizeof later);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.added_count, 20);
    test_image_load(s.world, &saved, 0);
    test_solos(s.world, 10, again);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.removed_count, 10);
    ck_assert_uint_eq(changes.added_count, 0);
    espl_watch_destroy(watch);
    test_image_end(&saved);
    sample_end(&s);
}

// The forest may still say that a world may be not finite when all are finite again.
TEST(an_image_does_not_tell_that_a_world_transform_was_not_finite_once)
{
    sample s, twin;
    sample *const both[] = {&s, &twin};

    sample_begin(&s, 1);
    sample_begin(&twin, 1);
    ck_ok(espl_compact(s.world)); // so that writes have no layout debt
    ck_ok(espl_compact(twin.world));
    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_set_local_scale(both[i]->world, s.nodes[2], 2));
    }
    ck_status(espl_set_local_scale(s.world, s.nodes[6], 3e38f), ESPL_OVERFLOW);
    test_image overflowed = test_image_of(s.world);

    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_destroy(both[i]->world, s.nodes[6], ESPL_EXTENT_ENTITY));
    }
    test_image_compare(s.world, twin.world);
    test_image_load(s.world, &overflowed, 0);
    ck_assert_uint_eq(test_count_overflowed(s.world), 1);
    test_image_end(&overflowed);
    sample_end(&twin);
    sample_end(&s);
}

TEST(arguments_that_are_wrong_are_refused)
{
    sample s;
    espl_query query;
    espl_format_fault fault;

    sample_begin(&s, 1);
    test_image saved = test_image_of(s.world);

    ck_assert_uint_eq(espl_image_size(NULL), 0);
    ck_assert_uint_eq(espl_world_timeline(NULL), 0);
    ck_assert_int_eq(espl_image_save(NULL, saved.bytes, saved.size), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_image_save(s.world, NULL, saved.size), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_image_save(s.world, saved.bytes, saved.size - 1), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_image_load(NULL, saved.bytes, saved.size, 0, &fault), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_image_load(s.world, NULL, 0, 0, &fault), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_image_load(s.world, saved.bytes, saved.size, 4, &fault),
                     ESPL_ERR_ARGUMENT);
    ck_ok(espl_query_begin(s.world, &(espl_query_def){0}, &query));
    ck_assert_int_eq(espl_image_load(s.world, saved.bytes, saved.size, 0, &fault), ESPL_ERR_BUSY);
    ck_assert_ptr_null(fault.sentence);
    espl_query_end(&query);
    test_image_load(s.world, &saved, ESPL_IMAGE_TRUSTED);
    test_image_end(&saved);
    sample_end(&s);
}

// SPDX-License-Identifier: MIT
// Archives whose bytes are not those of a writer: refused, with the world as it was, or read as another
// valid world; and what reading costs.
#include "lib/value/archive_format.h"
#include "lib/value/wire.h"
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/fuzz/seal.h"
#include "tests/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A small archive with something of everything ---

typedef struct link_value {
    espl_entity to;
    uint32_t number;
} link_value;

static void register_components(espl_world *world)
{
    static const uint32_t references[] = {offsetof(link_value, to)};
    static const espl_component_field fields[] = {
        {"to", ESPL_FIELD_ENTITY, offsetof(link_value, to), 1},
        {"number", ESPL_FIELD_U32, offsetof(link_value, number), 1}};
    espl_component out;

    ck_ok(espl_component_register(world, &(espl_component_def){.name = "tag"}, &out));
    ck_ok(espl_component_register(world,
                                  &(espl_component_def){.name = "link",
                                                        .size = sizeof(link_value),
                                                        .alignment = _Alignof(link_value),
                                                        .references = references,
                                                        .reference_count = 1,
                                                        .version = 3,
                                                        .fields = fields,
                                                        .field_count = 2},
                                  &out));
    ck_ok(espl_component_register(
        world, &(espl_component_def){.name = "cache", .size = 4, .flags = ESPL_COMPONENT_TRANSIENT},
        &out));
}

static test_archive make_sample(void)
{
    static const char user[] = "of the program";
    test_world test;
    espl_entity nodes[6];

    test_world_begin(&test, 1, NULL);
    register_components(test.world);
    const espl_component tag = espl_component_find(test.world, "tag"),
                         link = espl_component_find(test.world, "link"),
                         cache = espl_component_find(test.world, "cache");

    for (uint32_t i = 0; i < 6; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);

        ck_ok(espl_create_node(test.world, i == 0 || i == 5 ? test_null : nodes[(i - 1) / 2], &at,
                               i % 2 == 0 ? "name" : NULL, &nodes[i]));
    }
    ck_ok(espl_add_component(test.world, nodes[1], link, &(link_value){nodes[4], 7},
                             sizeof(link_value)));
    ck_ok(espl_add_component(test.world, nodes[2], tag, NULL, 0));
    ck_ok(espl_add_component(test.world, nodes[2], cache, &(uint32_t){9}, 4));
    ck_ok(espl_remove_component(test.world, nodes[2], ESPL_TRANSFORM));
    ck_ok(espl_set_stretch(test.world, nodes[0], (float[3]){1, 2, 3}));
    ck_ok(espl_set_inherit(test.world, nodes[3], ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_UP));
    ck_ok(espl_attach(test.world, nodes[4], nodes[1],
                      &(espl_attach_options){.link = ESPL_LINK_FREE}));
    test_archive out = test_archive_of(
        test.world,
        &(espl_archive_def){.flags = ESPL_ARCHIVE_HANDLES, .user = user, .user_size = sizeof user});

    test_world_end(&test);
    return out;
}

// --- What is refused ---

// Each node of a known archive is found by its handle. Where many have one handle, a table of hashes would take
// quadratic time.
TEST(a_known_archive_whose_nodes_have_one_handle_is_refused)
{
    test_world test;
    espl_entity entities[6] = {{0, 0}};
    espl_format_fault fault = {0};
    test_archive next = make_sample(), known = make_sample();
    const espl_archive_known of = {known.bytes, known.size, entities, 6};

    test_world_begin(&test, 2, NULL);
    register_components(test.world);
    const uint64_t before = test_physical_hash(test.world);
    const size_t count = (size_t)espl__number_load(known.bytes + 24, 4);

    for (size_t i = 0; i < count; ++i) {
        const unsigned char *const entry =
            known.bytes + ESPL__ARCHIVE_HEAD + i * ESPL__ARCHIVE_ENTRY;

        if (memcmp(entry, "Hand", 4) == 0) {
            unsigned char *const handles = known.bytes + espl__number_load(entry + 8, 8);

            memcpy(handles + 40, handles + 8, 8);
        }
    }
    seal_archive(known.bytes, known.size);
    ck_status(espl_archive_apply(test.world, next.bytes, next.size, NULL, &of, &fault),
              ESPL_ERR_FORMAT);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    test_archive_end(&next);
    test_archive_end(&known);
    test_world_end(&test);
}

// Read bytes that may be wrong, from memory of just their size.
// @return whether they were read; else nothing changed.
static bool try_read(test_world *test, const unsigned char *bytes, size_t size)
{
    const uint64_t before = test_physical_hash(test->world);
    unsigned char *const copy = seal_copy(bytes, size);
    espl_format_fault fault;
    const espl_status status = espl_archive_read(test->world, copy, size, NULL, &fault);

    seal_free(copy);
    test_count_overflowed(test->world);
    if (status >= 0) {
        ck_assert_ptr_null(fault.sentence);
        return true;
    }
    ck_assert_msg(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION, "%s",
                  espl_status_name(status));
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_le(fault.offset, size);
    ck_assert_uint_eq(test_physical_hash(test->world), before);
    return false;
}

TEST(an_archive_that_ends_anywhere_is_refused)
{
    test_world test;
    test_archive whole = make_sample();

    test_world_begin(&test, 2, NULL);
    register_components(test.world);
    for (size_t size = 0; size < whole.size; ++size) {
        ck_assert(!try_read(&test, whole.bytes, size));
        // Also where head and table say so.
        test_archive part = {malloc(size + 1), size, size};

        ck_assert_ptr_nonnull(part.bytes);
        memcpy(part.bytes, whole.bytes, size);
        if (size >= ESPL__ARCHIVE_HEAD) {
            espl__number_store(part.bytes + 16, size, 8);
        }
        seal_archive(part.bytes, part.size);
        ck_assert(!try_read(&test, part.bytes, part.size));
        test_archive_end(&part);
    }
    test_archive_end(&whole);
    test_world_end(&test);
}

TEST(bytes_behind_the_end_are_refused)
{
    test_world test;
    test_archive whole = make_sample();
    unsigned char *const longer = test_array(whole.size + 8, 1);

    test_world_begin(&test, 2, NULL);
    register_components(test.world);
    memcpy(longer, whole.bytes, whole.size);
    espl__number_store(longer + 16, whole.size + 8, 8);
    test_archive sealed = {longer, whole.size + 8, whole.size + 8};

    seal_archive(sealed.bytes, sealed.size);
    ck_assert(!try_read(&test, sealed.bytes, sealed.size));
    test_archive_end(&sealed);
    test_archive_end(&whole);
    test_world_end(&test);
}

TEST_LOOP(each_flipped_bit_is_refused_or_gives_a_valid_world, 0, 8)
{
    test_archive whole = make_sample();
    size_t read = 0, refused = 0;

    for (size_t at = 0; at < whole.size; ++at) {
        test_world test;

        test_world_begin(&test, 2, NULL);
        register_components(test.world);
        whole.bytes[at] ^= (unsigned char)(1u << _i);
        ck_assert(!try_read(&test, whole.bytes, whole.size));
        test_archive sealed = {malloc(whole.size), whole.size, whole.size};

        ck_assert_ptr_nonnull(sealed.bytes);
        memcpy(sealed.bytes, whole.bytes, whole.size);
        seal_archive(sealed.bytes, sealed.size);
        // The checksums themselves come back as they were.
        if (memcmp(sealed.bytes, whole.bytes, whole.size) != 0 &&
            try_read(&test, sealed.bytes, sealed.size)) {
            read += 1;
        } else {
            refused += 1;
        }
        test_archive_end(&sealed);
        whole.bytes[at] ^= (unsigned char)(1u << _i);
        test_world_end(&test);
    }
    printf("# figure: %zu flipped bits refused, %zu read\n", refused, read);
    ck_assert_uint_gt(refused, whole.size / 4);
    ck_assert_uint_gt(read, whole.size / 16);
    test_archive_end(&whole);
}

TEST(zeros_are_no_archive)
{
    static const unsigned char zeros[4096];
    test_world test;

    test_world_begin(&test, 2, NULL);
    for (size_t size = 0; size <= sizeof zeros; size += 64) {
        ck_assert(!try_read(&test, zeros, size));
    }
    test_world_end(&test);
}

// Counts that promise more than there is are refused before memory is taken for them.
TEST(counts_are_checked_before_memory_is_taken)
{
    test_archive whole = make_sample();
    test_world test;

    test_world_begin(&test, 2, NULL);
    register_components(test.world);
    const size_t sections = (size_t)espl__number_load(whole.bytes + 24, 4);

    for (size_t i = 0; i < sections; ++i) {
        const unsigned char *const entry =
            whole.bytes + ESPL__ARCHIVE_HEAD + i * ESPL__ARCHIVE_ENTRY;
        const size_t offset = (size_t)espl__number_load(entry + 8, 8);
        const uint32_t huge[] = {UINT32_MAX, UINT32_MAX / 2, 0x01000000};

        for (size_t k = 0; k < 3 && espl__number_load(entry + 16, 8) >= 4; ++k) {
            test_archive wrong = {malloc(whole.size), whole.size, whole.size};

            ck_assert_ptr_nonnull(wrong.bytes);
            memcpy(wrong.bytes, whole.bytes, whole.size);
            espl__number_store(wrong.bytes + offset, huge[k], 4);
            seal_archive(wrong.bytes, wrong.size);
            test_heap_arm(&test.heap, 0, false);
            if (memcmp(entry, "COMP", 4) == 0 || memcmp(entry, "TREE", 4) == 0) {
                test_heap_arm(&test.heap, 3, true); // lists of what is there: no more
                ck_assert(!try_read(&test, wrong.bytes, wrong.size));
            }
            test_heap_arm(&test.heap, 0, false);
            test_archive_end(&wrong);
        }
    }
    test_archive_end(&whole);
    test_world_end(&test);
}

// --- Values of a machine with the other order of bytes ---

typedef struct mixed {
    uint64_t wide;
    espl_entity to;
    uint32_t pair[2];
    float number;
    uint16_t small;
    uint8_t bytes[2];
} mixed;

static const espl_component_field fields_of_mixed[] = {
    {"wide", ESPL_FIELD_U64, offsetof(mixed, wide), 1},
    {"to", ESPL_FIELD_ENTITY, offsetof(mixed, to), 1},
    {"pair", ESPL_FIELD_I32, offsetof(mixed, pair), 2},
    {"number", ESPL_FIELD_F32, offsetof(mixed, number), 1},
    {"small", ESPL_FIELD_U16, offsetof(mixed, small), 1},
    {"bytes", ESPL_FIELD_BYTES, offsetof(mixed, bytes), 2}};

static espl_component register_mixed(espl_world *world, size_t fields)
{
    static const uint32_t references[] = {offsetof(mixed, to)};
    espl_component out = 0;

    ck_ok(espl_component_register(world,
                                  &(espl_component_def){.name = "mixed",
                                                        .size = sizeof(mixed),
                                                        .alignment = _Alignof(mixed),
                                                        .references = references,
                                                        .reference_count = 1,
                                                        .fields = fields_of_mixed,
                                                        .field_count = fields},
                                  &out));
    return out;
}

static void reverse(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; ++i) {
        const unsigned char byte = bytes[i];

        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

// Make what a machine with the other order of bytes would have written of one value.
static test_archive make_turned(const mixed *value, size_t fields)
{
    static const struct {
        size_t offset, size;
    } numbers[] = {{offsetof(mixed, wide), 8},
                   {offsetof(mixed, pair), 4},
                   {offsetof(mixed, pair) + 4, 4},
                   {offsetof(mixed, number), 4},
                   {offsetof(mixed, small), 2}};
    test_world test;
    espl_entity node;
    mixed own = *value;

    test_world_begin(&test, 1, NULL);
    const espl_component component = register_mixed(test.world, fields);

    ck_ok(espl_create_node(test.world, test_null, NULL, NULL, &node));
    own.to = node;
    ck_ok(espl_add_component(test.world, node, component, &own, sizeof own));
    test_archive out = test_archive_of(test.world, NULL);
    const size_t sections = (size_t)espl__number_load(out.bytes + 24, 4);

    for (size_t i = 0; i < sections; ++i) {
        const unsigned char *const entry = out.bytes + ESPL__ARCHIVE_HEAD + i * ESPL__ARCHIVE_ENTRY;
        unsigned char *const section = out.bytes + espl__number_load(entry + 8, 8);

        for (size_t k = 0; memcmp(entry, "COLS", 4) == 0 && k < 5; ++k) {
            reverse(section + numbers[k].offset, numbers[k].size);
        }
    }
    espl__number_store(out.bytes + 32, espl__wire_is_native() ? ESPL__ARCHIVE_BIG_ENDIAN : 0, 4);
    seal_archive(out.bytes, out.size);
    test_world_end(&test);
    return out;
}

static bool copy_mixed(void *user, const espl_archive_value *from, void *to)
{
    ck_assert_uint_eq(from->size, sizeof(mixed));
    memcpy(user, from->data, from->size);
    memcpy(to, from->data, from->size);
    return true;
}

static void assert_mixed(const mixed *a, const mixed *b)
{
    ck_assert_uint_eq(a->wide, b->wide);
    ck_assert_uint_eq(a->pair[0], b->pair[0]);
    ck_assert_uint_eq(a->pair[1], b->pair[1]);
    ck_assert(a->number == b->number);
    ck_assert_uint_eq(a->small, b->small);
    ck_assert_mem_eq(a->bytes, b->bytes, 2);
}

static const mixed some_mixed = {.wide = 0x0102030405060708,
                                 .pair = {1, 0xa0b0c0d0},
                                 .number = -1.5F,
                                 .small = 0x1234,
                                 .bytes = {5, 6}};

TEST(values_in_the_other_order_of_bytes_are_read_by_their_fields)
{
    test_world test;
    test_archive turned = make_turned(&some_mixed, 6);
    espl_entity top;
    mixed value, seen;

    test_world_begin(&test, 2, NULL);
    const espl_component component = register_mixed(test.world, 0);
    const espl_archive_migration how = {"mixed", component, copy_mixed, &seen};
    const espl_archive_read_def defs[2] = {
        {.tops = &top, .top_capacity = 1},
        {.tops = &top, .top_capacity = 1, .migrations = &how, .migration_count = 1}};

    for (int i = 0; i < 2; ++i) {
        ck_ok(test_archive_read(test.world, &turned, &defs[i]));
        ck_ok(espl_get_component(test.world, top, component, &value, sizeof value));
        assert_mixed(&value, &some_mixed);
        ck_assert(espl_entity_equal(value.to, top));
    }
    assert_mixed(&seen, &some_mixed);
    test_archive_end(&turned);
    test_world_end(&test);
}

TEST(values_in_the_other_order_of_bytes_without_fields_are_refused)
{
    test_world test;
    test_archive turned = make_turned(&some_mixed, 0);
    espl_format_fault fault;

    test_world_begin(&test, 2, NULL);
    (void)register_mixed(test.world, 6);
    ck_status(espl_archive_read(test.world, turned.bytes, turned.size, NULL, &fault),
              ESPL_ERR_VERSION);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_eq(test_stats(test.world).entities, 0);
    test_archive_end(&turned);
    test_world_end(&test);
}

// --- What reading costs ---

// An allocator that knows the most bytes that were outstanding.
typedef struct meter {
    test_heap heap;
    espl_allocator inner;
    size_t most;
} meter;

static void *take(void *user, size_t size, size_t alignment)
{
    meter *const m = user;
    void *const block = m->inner.allocate(m->inner.user, size, alignment);

    m->most = m->heap.bytes > m->most ? m->heap.bytes : m->most;
    return block;
}

static void give(void *user, void *block, size_t size, size_t alignment)
{
    meter *const m = user;

    m->inner.release(m->inner.user, block, size, alignment);
}

// Trees of 20, and one tree of all.
TEST_LOOP(reading_takes_at_most_eight_times_the_bytes_and_a_mebibyte_beside_the_world, 0, 2)
{
    const uint32_t count = test_fitting(60000, 0), size = _i == 0 ? 20 : count;
    test_world from;
    meter m = {.most = 0};
    espl_world *to = NULL;

    test_world_begin(&from, 1, NULL);
    free(make_trees(from.world, count / size, size, 3));
    test_archive all = test_archive_of(from.world, NULL);

    test_heap_init(&m.heap);
    m.inner = test_heap_allocator(&m.heap);
    ck_ok(espl_world_create(
        &(espl_world_def){.allocator = {.user = &m, .allocate = take, .release = give}}, &to));
    ck_assert_int_ge(espl_archive_read(to, all.bytes, all.size, NULL, NULL), ESPL_OK);
    printf("# figure: %zu bytes of archive, %zu at most, %zu afterwards\n", all.size, m.most,
           m.heap.bytes);
    ck_assert_uint_le(m.most - m.heap.bytes, 8 * all.size + (1u << 20));
    ck_assert_uint_le(all.size, 48 * (size_t)count + 4096);
    espl_world_destroy(to);
    ck_assert_uint_eq(m.heap.bytes, 0);
    test_archive_end(&all);
    test_world_end(&from);
}

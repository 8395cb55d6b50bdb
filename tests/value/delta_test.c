// SPDX-License-Identifier: MIT
// Deltas: what comes of them is the archive that they were made from, byte for byte, or they are refused.
#include "lib/value/archive_table.h"
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const espl_archive_def with_handles = {.flags = ESPL_ARCHIVE_HANDLES};

// --- What comes of them ---

// Demand that a delta leads from one archive to the other. @return its size.
static size_t check_delta(const test_archive *before, const test_archive *after)
{
    test_archive delta = test_delta_of(before, after), patched;
    espl_format_fault fault;
    const espl_status status = test_patch(before, &delta, &patched, &fault);
    const size_t size = delta.size;

    ck_assert_msg(status == ESPL_OK, "%s at %llu: %s", espl_status_name(status),
                  (unsigned long long)fault.offset, fault.sentence);
    ck_assert_ptr_null(fault.sentence);
    ck_assert_uint_eq(patched.size, after->size);
    ck_assert_mem_eq(patched.bytes, after->bytes, after->size);
    test_archive_end(&patched);
    test_archive_end(&delta);
    return size;
}

TEST_LOOP(a_delta_leads_from_any_archive_of_a_changing_world_to_any_other, 0, 4)
{
    test_archive archives[40];
    test_herd herd;
    enum { COUNT = sizeof archives / sizeof *archives };

    test_herd_begin(&herd, (uint64_t)_i);
    for (int i = 0; i < COUNT; ++i) {
        // Some on a grid, and some not.
        const espl_archive_def def = {.flags = _i % 2 == 0 ? ESPL_ARCHIVE_HANDLES : 0,
                                      .position_step = _i > 1 && i % 5 != 0 ? 0.01F : 0,
                                      .rotation_bits = _i > 1 && i % 7 != 0 ? 9 : 0};

        archives[i] = test_archive_of(herd.world, &def);
        for (uint32_t k = test_below(&herd.random, 4) * (uint32_t)i / 4; k > 0; --k) {
            test_herd_change(&herd);
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        for (int k = 0; k < COUNT; k += 1 + (i + k) % 3) {
            (void)check_delta(&archives[i], &archives[k]);
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        test_archive_end(&archives[i]);
    }
    test_herd_end(&herd);
}

TEST(a_delta_leads_from_nothing_to_a_world_and_back)
{
    test_world empty;
    test_herd herd;

    test_world_begin(&empty, 3, NULL);
    test_herd_begin(&herd, 5);
    test_archive none = test_archive_of(empty.world, NULL),
                 all = test_archive_of(herd.world, &with_handles);

    ck_assert_uint_le(check_delta(&none, &all), all.size + 128);
    ck_assert_uint_le(check_delta(&all, &none), 256);
    ck_assert_uint_le(check_delta(&none, &none), 128);
    test_archive_end(&none);
    test_archive_end(&all);
    test_herd_end(&herd);
    test_world_end(&empty);
}

TEST(a_delta_of_nothing_is_small)
{
    test_herd herd;

    test_herd_begin(&herd, 6);
    test_archive all = test_archive_of(herd.world, &with_handles);

    ck_assert_uint_le(check_delta(&all, &all), 128);
    test_archive_end(&all);
    test_herd_end(&herd);
}

// A section that some later version writes, behind the others. A letter that is a small one says that a
// reader may skip it.
static test_archive with_later_section(const test_archive *archive, const char *bytes)
{
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);
    unsigned char head[ESPL__ARCHIVE_HEAD];
    espl__table table = {.count = (uint32_t)espl__number_load(archive->bytes + 24, 4),
                         .minor = 9,
                         .writer = 77,
                         .flags = (uint32_t)espl__number_load(archive->bytes + 32, 4)};
    espl__wire wire = {.pass = NULL};

    for (uint32_t i = 0; i < table.count; ++i) {
        const unsigned char *const entry =
            archive->bytes + ESPL__ARCHIVE_HEAD + (size_t)i * ESPL__ARCHIVE_ENTRY;
        espl__table_entry *const to = &table.entries[i];

        memcpy(to->kind, entry, sizeof to->kind);
        to->size = espl__number_load(entry + 16, 8);
        to->raw = espl__number_load(entry + 24, 8);
        to->checksum = espl__number_load(entry + 32, 8);
    }
    espl__table_entry *const later = &table.entries[table.count++];

    memcpy(later->kind, "late\2\0\1", sizeof later->kind);
    later->size = strlen(bytes);
    later->raw = 1000;
    espl__wire_begin(&wire);
    espl__wire_put(&wire, bytes, strlen(bytes));
    espl__wire_flush(&wire);
    later->checksum = espl__checksum_of(&wire.checksum);
    espl__table_head(&table, &wire, head);
    wire.pass = sink.write;
    wire.user = sink.user;
    espl__wire_begin(&wire);
    espl__wire_put(&wire, head, sizeof head);
    (void)espl__table_put(&table, &wire);
    for (uint32_t i = 0; i + 1 < table.count; ++i) {
        const unsigned char *const entry =
            archive->bytes + ESPL__ARCHIVE_HEAD + (size_t)i * ESPL__ARCHIVE_ENTRY;

        espl__table_pad(&wire);
        espl__wire_put(&wire, archive->bytes + espl__number_load(entry + 8, 8),
                       (size_t)table.entries[i].size);
    }
    espl__table_pad(&wire);
    espl__wire_put(&wire, bytes, strlen(bytes));
    espl__wire_flush(&wire);
    return out;
}

TEST(a_section_and_a_number_of_a_later_version_come_along)
{
    test_herd herd;

    test_herd_begin(&herd, 7);
    test_archive one = test_archive_of(herd.world, NULL);

    test_herd_animate(&herd);
    test_archive other = test_archive_of(herd.world, NULL),
                 later = with_later_section(&one, "what this version does not know"),
                 changed = with_later_section(&other, "what this version does not know yet");

    (void)check_delta(&one, &later);
    (void)check_delta(&later, &changed);
    (void)check_delta(&changed, &other);
    test_archive_end(&one);
    test_archive_end(&other);
    test_archive_end(&later);
    test_archive_end(&changed);
    test_herd_end(&herd);
}

// --- Sizes ---

enum { MANY = 50 };

// A world of moving nodes, as many as every build has room for. @param nodes  [MANY]
static void make_many(test_world *test, espl_entity *nodes)
{
    test_world_begin(test, 2, NULL);
    for (uint32_t i = 0; i < MANY; ++i) {
        nodes[i] = test_pair_node(
            test->world, i % 10 == 0 ? test_null : nodes[i - 1 - (i % 10 - 1) % 3], (float)i, NULL);
    }
}

static void turn_many(test_world *test, const espl_entity *nodes, float step)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        const float axis[3] = {1, (float)i, 0.5F};
        float turn[4];

        ck_ok(espl_quat_from_axis_angle(axis, step * (1 + 0.01F * (float)i), turn));
        ck_ok(espl_rotate_own(test->world, nodes[i], turn));
    }
}

TEST(the_delta_of_locals_that_all_turn_is_at_most_half_of_them)
{
    espl_entity nodes[MANY];
    test_world test;

    make_many(&test, nodes);
    turn_many(&test, nodes, 0.4F);
    test_archive before = test_archive_of(test.world, NULL);

    turn_many(&test, nodes, 0.01F);
    test_archive after = test_archive_of(test.world, NULL);
    const size_t size = check_delta(&before, &after);

    printf("# figure: %zu bytes for %d locals of %d\n", size, MANY, 32 * MANY);
    ck_assert_uint_le(size, 16 * MANY);
    test_archive_end(&before);
    test_archive_end(&after);
    test_world_end(&test);
}

// --- Locals on a grid ---

static const espl_archive_def on_grid = {.position_step = 1e-4F, .rotation_bits = 15};

// Read an archive into a world of its own, and compare its locals with those of another one.
static void check_rounded(const espl_world *world, const espl_entity *nodes,
                          const test_archive *archive, float far, float turned)
{
    espl_entity read[MANY];
    test_world test;

    test_world_begin(&test, 5, NULL);
    ck_ok(test_archive_read(test.world, archive,
                            &(espl_archive_read_def){.entities = read, .capacity = MANY}));
    const espl_archive_def whole = {.flags = 0};
    test_archive again = test_archive_of(test.world, &on_grid),
                 plain = test_archive_of(test.world, &whole);

    // What is rounded is not rounded any further.
    ck_assert_uint_eq(again.size, archive->size);
    ck_assert_mem_eq(again.bytes, archive->bytes, again.size);
    ck_assert_uint_lt(plain.size, archive->size);
    for (size_t i = 0; i < MANY; ++i) {
        // Nodes come one hierarchy after the other; they are named by where they are.
        const espl_transform at = test_local_of(test.world, read[i]);
        size_t k = 0;

        while (k < MANY && test_local_of(world, nodes[k]).user_data != at.user_data) {
            k += 1;
        }
        ck_assert_uint_lt(k, MANY);
        const espl_transform was = test_local_of(world, nodes[k]);

        for (int c = 0; c < 3; ++c) {
            ck_assert_float_le(fabsf(at.position[c] - was.position[c]), far);
        }
        for (int c = 0; c < 4; ++c) {
            ck_assert_float_le(fabsf(at.rotation[c] - was.rotation[c]), turned);
        }
        ck_assert_float_eq(at.scale, was.scale);
    }
    test_archive_end(&again);
    test_archive_end(&plain);
    test_world_end(&test);
}

TEST(locals_are_rounded_to_the_grid_and_no_further)
{
    espl_entity nodes[MANY];
    test_world test;
    uint64_t random = 3;

    make_many(&test, nodes);
    for (uint32_t i = 0; i < MANY; ++i) {
        espl_transform at = test_at(test_between(&random, -90, 90), -0.0F, 12345.678F);

        for (int c = 0; c < 4; ++c) {
            at.rotation[c] = test_between(&random, -1, 1);
        }
        at.scale = test_between(&random, 0.5F, 2);
        at.user_data = i + 1;
        ck_assert(espl_transform_normalize(&at) >= 0);
        ck_ok(espl_set_local_transform(test.world, nodes[i], &at));
    }
    test_archive archive = test_archive_of(test.world, &on_grid);

    // Half a step, and what floats can hold; the largest component takes up what the others lose.
    check_rounded(test.world, nodes, &archive, 0.00051F, 0.00012F);
    test_archive_end(&archive);
    test_world_end(&test);
}

TEST(what_is_too_far_for_the_grid_stays_and_deltas_of_it_are_exact)
{
    espl_entity nodes[MANY];
    test_world test;

    make_many(&test, nodes);
    for (int frame = 0; frame < 4; ++frame) {
        test_archive before = test_archive_of(test.world, frame == 1 ? NULL : &on_grid);

        for (uint32_t i = 0; i < MANY; ++i) {
            // 2^30 steps are 107 km.
            const float to[3] = {107374.0F + (float)i * 0.03F, 1e30F, (float)(frame * 90) - 0.5F};

            ck_ok(espl_set_local_position(test.world, nodes[i], to));
        }
        turn_many(&test, nodes, 0.9F);
        test_archive after = test_archive_of(test.world, frame == 2 ? NULL : &on_grid);

        (void)check_delta(&before, &after);
        (void)check_delta(&after, &before);
        test_archive_end(&before);
        test_archive_end(&after);
    }
    test_world_end(&test);
}

// The nearest multiple of a step may be no float any more.
TEST(a_position_whose_place_on_the_grid_is_not_finite_stays)
{
    test_world test, other;
    espl_entity top;
    const float step = 2.2e38F, far[3] = {3.4e38F, -3.4e38F, 1.2e38F};

    test_world_begin(&test, 2, NULL);
    test_world_begin(&other, 3, NULL);
    const espl_entity node = test_pair_node(test.world, test_null, 0, NULL);

    ck_ok(espl_set_local_position(test.world, node, far));
    test_archive archive = test_archive_of(test.world, &(espl_archive_def){.position_step = step});

    ck_ok(test_archive_read(other.world, &archive,
                            &(espl_archive_read_def){.tops = &top, .top_capacity = 1}));
    const espl_transform at = test_local_of(other.world, top);

    ck_assert(at.position[0] == far[0] && at.position[1] == far[1] && at.position[2] == step);
    test_archive_end(&archive);
    test_world_end(&other);
    test_world_end(&test);
}

TEST(deltas_on_a_grid_are_a_third_of_exact_ones)
{
    espl_entity nodes[MANY];
    test_world test;
    size_t exact = 0, rounded = 0;

    make_many(&test, nodes);
    turn_many(&test, nodes, 0.3F);
    for (int frame = 0; frame < 20; ++frame) {
        test_archive before[2] = {test_archive_of(test.world, NULL),
                                  test_archive_of(test.world, &on_grid)};

        turn_many(&test, nodes, 0.01F);
        test_archive after[2] = {test_archive_of(test.world, NULL),
                                 test_archive_of(test.world, &on_grid)};

        exact += check_delta(&before[0], &after[0]);
        rounded += check_delta(&before[1], &after[1]);
        for (int i = 0; i < 2; ++i) {
            test_archive_end(&before[i]);
            test_archive_end(&after[i]);
        }
    }
    printf("# figure: %zu bytes a frame for %d locals, %zu exact\n", rounded / 20, MANY,
           exact / 20);
    ck_assert_uint_lt(rounded, exact * 2 / 3);
    ck_assert_uint_lt(rounded / 20, 128 + 6 * MANY);
    test_world_end(&test);
}

TEST(a_grid_that_cannot_be_is_refused)
{
    static const espl_archive_def wrong[] = {{.position_step = -1},  {.position_step = INFINITY},
                                             {.position_step = NAN}, {.position_step = -0.0F},
                                             {.rotation_bits = 1},   {.rotation_bits = 25}};
    test_world test;
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);

    test_world_begin(&test, 2, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ck_status(espl_archive_write(test.world, &wrong[i], &sink), ESPL_ERR_ARGUMENT);
    }
    ck_assert_uint_eq(out.size, 0);
    test_world_end(&test);
}

// What comes and goes costs what it is, not what moves up behind it.
TEST_LOOP(a_node_that_comes_or_goes_leaves_the_others_as_they_are, 0, 2)
{
    espl_entity nodes[MANY];
    test_world test;

    make_many(&test, nodes);
    const espl_archive_def *const def = _i == 0 ? NULL : &with_handles;
    test_archive before = test_archive_of(test.world, def);

    (void)test_pair_node(test.world, nodes[0], 99, NULL);
    ck_ok(espl_destroy(test.world, nodes[MANY - 10], ESPL_EXTENT_SUBTREE));
    test_archive after = test_archive_of(test.world, def);

    ck_assert_uint_le(check_delta(&before, &after), 256);
    // Also where all others move, if they have handles by which they are found again.
    for (uint32_t i = 0; i < MANY - 10; ++i) {
        const float up[3] = {(float)i, 1.001F, -2};

        ck_ok(espl_set_local_position(test.world, nodes[i], up));
    }
    test_archive moved = test_archive_of(test.world, def);
    const size_t size = check_delta(&before, &moved);

    ck_assert_uint_le(size, 256 + (_i == 0 ? 32 : 16) * MANY);
    test_archive_end(&moved);
    test_archive_end(&before);
    test_archive_end(&after);
    test_world_end(&test);
}

// --- What is refused ---

static test_archive copy_of(const test_archive *from, size_t size)
{
    test_archive out = {malloc(size + 1), size, size};

    ck_assert_ptr_nonnull(out.bytes);
    memcpy(out.bytes, from->bytes, size);
    return out;
}

static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
    espl__checksum checksum;

    espl__checksum_begin(&checksum);
    espl__checksum_add(&checksum, bytes, size);
    return espl__checksum_of(&checksum);
}

// Give a delta that was changed the size and the checksums of its bytes.
static void seal(test_archive *delta)
{
    if (delta->size >= ESPL__ARCHIVE_HEAD) {
        espl__number_store(delta->bytes + 16, delta->size, 8);
        espl__number_store(
            delta->bytes + 48,
            checksum_of(delta->bytes + ESPL__ARCHIVE_HEAD, delta->size - ESPL__ARCHIVE_HEAD), 8);
        espl__number_store(delta->bytes + 56, checksum_of(delta->bytes, 56), 8);
    }
}

// Two archives and the delta between them.
typedef struct step {
    test_archive before, after, delta;
} step;

// @param seed  an odd one: on a grid
static step make_step(uint64_t seed)
{
    const espl_archive_def def = {.flags = ESPL_ARCHIVE_HANDLES,
                                  .position_step = seed % 2 == 0 ? 0 : 1e-3F,
                                  .rotation_bits = seed % 2 == 0 ? 0 : 12};
    test_herd herd;
    step out;

    test_herd_begin(&herd, seed);
    out.before = test_archive_of(herd.world, &def);
    test_herd_animate(&herd);
    for (int i = 0; i < 6; ++i) {
        test_herd_change(&herd);
    }
    out.after = test_archive_of(herd.world, &def);
    out.delta = test_delta_of(&out.before, &out.after);
    test_herd_end(&herd);
    return out;
}

static void end_step(step *s)
{
    test_archive_end(&s->before);
    test_archive_end(&s->after);
    test_archive_end(&s->delta);
}

// Demand that a delta is refused with nothing written, or makes the archive that it should.
// @param delta  its bytes are moved to memory of just their size
static espl_status try_patch(const step *s, const test_archive *delta)
{
    test_archive tight = {malloc(delta->size + 1), delta->size, delta->size}, out;
    espl_format_fault fault;

    // At an odd address, with nothing behind it.
    ck_assert_ptr_nonnull(tight.bytes);
    unsigned char *const bytes = tight.bytes;

    memcpy(bytes + 1, delta->bytes, delta->size);
    tight.bytes += 1;
    const espl_status status = test_patch(&s->before, &tight, &out, &fault);

    free(bytes);
    if (status == ESPL_OK) {
        ck_assert_ptr_null(fault.sentence);
        ck_assert_uint_eq(out.size, s->after.size);
        ck_assert_mem_eq(out.bytes, s->after.bytes, out.size);
    } else {
        ck_assert_msg(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION ||
                          status == ESPL_ERR_GAP,
                      "%s", espl_status_name(status));
        ck_assert_ptr_nonnull(fault.sentence);
        ck_assert_uint_le(fault.offset, delta->size);
        ck_assert_uint_eq(out.size, 0);
    }
    test_archive_end(&out);
    return status;
}

TEST(a_delta_for_another_archive_is_refused)
{
    step s = make_step(11), other = make_step(12);
    test_archive out;
    espl_format_fault fault;

    ck_status(try_patch(&s, &other.delta), ESPL_ERR_GAP);
    // A second time: the archive is not what it was.
    ck_status(test_patch(&s.after, &s.delta, &out, &fault), ESPL_ERR_GAP);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_assert_uint_eq(out.size, 0);
    end_step(&s);
    end_step(&other);
}

// Where nothing but locals differ, archives have one size.
TEST(a_delta_for_an_archive_of_the_same_size_is_refused)
{
    espl_entity nodes[MANY];
    test_world test;
    test_archive out;

    make_many(&test, nodes);
    test_archive before = test_archive_of(test.world, NULL);

    turn_many(&test, nodes, 0.1F);
    test_archive after = test_archive_of(test.world, NULL), delta = test_delta_of(&before, &after);

    ck_assert_uint_eq(before.size, after.size);
    ck_status(test_patch(&after, &delta, &out, NULL), ESPL_ERR_GAP);
    ck_assert_uint_eq(out.size, 0);
    test_archive_end(&before);
    test_archive_end(&after);
    test_archive_end(&delta);
    test_world_end(&test);
}

TEST(a_damaged_archive_is_not_patched)
{
    step s = make_step(13);

    for (size_t at = ESPL__ARCHIVE_HEAD; at < s.before.size; at += 7) {
        test_archive out;

        s.before.bytes[at] ^= 4;
        ck_status(test_patch(&s.before, &s.delta, &out, NULL), ESPL_ERR_FORMAT);
        ck_assert_uint_eq(out.size, 0);
        s.before.bytes[at] ^= 4;
    }
    for (size_t size = 0; size < s.before.size; size += 5) {
        test_archive part = {s.before.bytes, size, size}, out;

        ck_status(test_patch(&part, &s.delta, &out, NULL), ESPL_ERR_GAP);
        ck_assert_uint_eq(out.size, 0);
    }
    end_step(&s);
}

TEST_LOOP(a_delta_that_ends_anywhere_is_refused, 14, 16)
{
    step s = make_step((uint64_t)_i);

    for (size_t size = 0; size < s.delta.size; ++size) {
        test_archive part = copy_of(&s.delta, size);

        ck_assert_int_lt(try_patch(&s, &part), 0);
        seal(&part);
        ck_assert_int_lt(try_patch(&s, &part), 0);
        test_archive_end(&part);
    }
    test_archive longer = copy_of(&s.delta, s.delta.size);

    longer.size += 1;
    longer.bytes[s.delta.size] = 0;
    ck_assert_int_lt(try_patch(&s, &longer), 0);
    seal(&longer);
    ck_assert_int_lt(try_patch(&s, &longer), 0);
    test_archive_end(&longer);
    end_step(&s);
}

TEST_LOOP(each_flipped_bit_is_refused_or_changes_nothing, 0, 16)
{
    step s = make_step(20 + (uint64_t)_i / 8);
    size_t patched = 0;

    for (size_t at = 0; at < s.delta.size; ++at) {
        test_archive changed = copy_of(&s.delta, s.delta.size);

        changed.bytes[at] ^= (unsigned char)(1u << _i % 8);
        ck_assert_int_lt(try_patch(&s, &changed), 0);
        seal(&changed);
        if (memcmp(changed.bytes, s.delta.bytes, s.delta.size) != 0) {
            patched += try_patch(&s, &changed) == ESPL_OK ? 1 : 0;
        }
        test_archive_end(&changed);
    }
    // Two deltas may make the same archive, but few do.
    ck_assert_uint_lt(patched, s.delta.size / 50 + 2);
    end_step(&s);
}

TEST(one_kind_of_bytes_is_not_taken_for_the_other)
{
    step s = make_step(16);
    test_world test;
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);
    espl_format_fault fault;

    test_world_begin(&test, 4, NULL);
    ck_status(espl_archive_read(test.world, s.delta.bytes, s.delta.size, NULL, &fault),
              ESPL_ERR_FORMAT);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_status(test_patch(&s.before, &s.after, &out, &fault), ESPL_ERR_FORMAT);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_status(
        espl_archive_delta(s.delta.bytes, s.delta.size, s.after.bytes, s.after.size, &sink, &fault),
        ESPL_ERR_FORMAT);
    ck_assert_ptr_nonnull(fault.sentence);
    ck_status(
        espl_archive_delta(s.before.bytes, s.before.size, s.delta.bytes, s.delta.size, &sink, NULL),
        ESPL_ERR_FORMAT);
    ck_assert_uint_eq(out.size, 0);
    test_world_end(&test);
    end_step(&s);
}

// --- Sinks and pointers ---

typedef struct weak_sink {
    size_t calls, most;
} weak_sink;

static bool take_some(void *user, const void *bytes, size_t size)
{
    weak_sink *const sink = user;

    (void)bytes;
    (void)size;
    sink->calls += 1;
    return sink->calls < sink->most;
}

TEST(a_sink_that_takes_no_more_ends_both_calls)
{
    step s = make_step(17);

    for (size_t most = 1; most < 3; ++most) {
        weak_sink weak = {0, most};
        const espl_sink sink = {&weak, take_some};

        const espl_status delta = espl_archive_delta(s.before.bytes, s.before.size, s.after.bytes,
                                                     s.after.size, &sink, NULL);

        ck_assert_int_eq(delta, weak.calls < most ? ESPL_OK : ESPL_ERR_SINK);
        weak.calls = 0;
        const espl_status patch = espl_archive_patch(s.before.bytes, s.before.size, s.delta.bytes,
                                                     s.delta.size, &sink, NULL);

        ck_assert_int_eq(patch, weak.calls < most ? ESPL_OK : ESPL_ERR_SINK);
        ck_assert_uint_le(weak.calls, most);
    }
    end_step(&s);
}

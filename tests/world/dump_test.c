// SPDX-License-Identifier: MIT
// espl_dump(): the text of every kind of entity, and truncation.
#include "tests/asked.h"
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <espalier/writers.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

static void dumps_as(espl_entity entity, const char *wanted)
{
    char text[2048];

    ck_assert_uint_eq(espl_dump(w, entity, text, sizeof text), strlen(wanted));
    ck_assert_str_eq(text, wanted);
}

#define IDENTITY ", rotation 0 0 0 1, scale 1, stretch 1 1 1, user data 0\n"

FIXTURE(set_up, tear_down);

TEST(a_solo_shows_its_handle_role_and_transforms)
{
    dumps_as(test_solo_at(w, 1, 0.1f, -3e20f),
             "entity 0.16777217: solo, 0 children\n"
             "  local: position 1 0.100000001 -3.00000006e+20" IDENTITY
             "  world: position 1 0.100000001 -3.00000006e+20" IDENTITY);
}

TEST(a_member_shows_its_parent_link_and_flags)
{
    const espl_attach_options options = {.link = ESPL_LINK_FREE,
                                         .inherit = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP |
                                                    ESPL_STRICT_UP | ESPL_ABSOLUTE_SCALE};
    const espl_attach_options copies = {.inherit = ESPL_COPY_PARENT};
    const espl_entity root = test_solo_at(w, 0, 2, 0), child = test_solo(w), copy = test_solo(w);

    ck_ok(espl_set_name(w, root, "root"));
    ck_ok(espl_set_name(w, child, "child"));
    ck_ok(espl_attach(w, child, root, &options));
    dumps_as(root, "entity 0.16777217 \"root\": root, 1 child\n"
                   "  local: position 0 2 0" IDENTITY "  world: position 0 2 0" IDENTITY);
    dumps_as(child, "entity 1.16777217 \"child\": member of 0.16777217 \"root\", free link, "
                    "0 children\n"
                    "  absolute: y up strict up scale\n"
                    "  local: position 0 -2 0" IDENTITY "  world: position 0 0 0" IDENTITY);
    ck_ok(espl_attach(w, copy, child, &copies));
    dumps_as(copy, "entity 2.16777217: member of 1.16777217 \"child\", owned link, 0 children\n"
                   "  copies its parent\n"
                   "  local: position 0 0 0" IDENTITY "  world: position 0 0 0" IDENTITY);
}

TEST(components_show_their_first_bytes)
{
    const espl_component_def word = {.name = "word", .size = 4, .alignment = 1},
                             page = {.name = "page", .size = ESPL_DUMP_BYTES + 1},
                             line = {.name = "line", .size = ESPL_DUMP_BYTES};
    const unsigned char bytes[4] = {0, 0x7f, 0x80, 0xff};
    espl_component number[3];
    espl_entity entity;
    char wanted[1024], zeros[3 * ESPL_DUMP_BYTES + 1];

    ck_ok(espl_component_register(w, &word, &number[0]));
    ck_ok(espl_component_register(w, &page, &number[1]));
    ck_ok(espl_component_register(w, &line, &number[2]));
    ck_ok(espl_create(w, number, 3, 1, &entity));
    ck_ok(espl_set_component(w, entity, number[0], bytes, sizeof bytes));
    ck_ok(espl_set_enabled(w, entity, ESPL_EXTENT_ENTITY, false));
    for (size_t i = 0; i < ESPL_DUMP_BYTES; ++i) {
        memcpy(zeros + 3 * i, " 00", 4);
    }
    (void)snprintf(wanted, sizeof wanted,
                   "entity 0.16777217: solo, 0 children\n"
                   "  no transform\n"
                   "  component 6 \"disabled\", tag\n"
                   "  component 7 \"word\", 4 bytes: 00 7f 80 ff\n"
                   "  component 8 \"page\", 65 bytes:%s ...\n"
                   "  component 9 \"line\", 64 bytes:%s\n",
                   zeros, zeros);
    dumps_as(entity, wanted);
}

TEST(worlds_that_overflowed_are_shown_alike_everywhere)
{
    const espl_entity root = test_solo(w), child = test_solo(w), below = test_solo_at(w, 1, 0, 0);
    char text[1024];

    ck_ok(espl_attach(w, child, root, NULL));
    ck_ok(espl_attach(w, below, child, NULL));
    ck_ok(espl_set_local_scale(w, root, 3e38f));
    ck_status(espl_set_local_scale(w, child, -3e38f), ESPL_OVERFLOW);
    ck_assert_uint_lt(espl_dump(w, child, text, sizeof text), sizeof text);
    ck_assert_ptr_nonnull(
        strstr(text, "  local: position 0 0 0, rotation 0 0 0 1, scale -3.00000001e+38, "));
    ck_assert_ptr_nonnull(strstr(text, "  world: position 0 0 0, rotation 0 0 0 1, scale -inf, "));
    // Infinity by rotation 0: not a number, whose sign is the machine's own.
    ck_assert_uint_lt(espl_dump(w, below, text, sizeof text), sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "  world: position nan nan nan, rotation 0 0 0 1, scale "));
}

TEST(an_entity_of_a_large_world_shows_its_cell)
{
    const espl_world_def def = {.cell_size = 16, .tag = 1};
    const int32_t cell[3] = {-3, 0, INT32_MAX};
    espl_world *large;
    char text[1024];

    ck_ok(espl_world_create(&def, &large));
    const espl_entity root = test_solo(large);

    ck_ok(espl_write_one(large, root, ESPL_WRITE_CELL, cell));
    ck_assert_uint_lt(espl_dump(large, root, text, sizeof text), sizeof text);
    ck_assert_ptr_nonnull(
        strstr(text, "0 children\n  cell: -3 0 2147483647\n  local: position 0 0 0, "));
    espl_world_destroy(large);
}

TEST(a_handle_that_names_no_living_entity_is_said_to)
{
    const espl_entity dead = test_solo(w);
    const espl_entity foreign = {3, 5};

    ck_ok(espl_set_name(w, dead, "dead"));
    ck_ok(espl_destroy(w, dead, ESPL_EXTENT_OWNED));
    dumps_as(dead, "entity 0.16777217: ESPL_ERR_DEAD\n");
    dumps_as(foreign, "entity 3.5: ESPL_ERR_FOREIGN\n");
    dumps_as(espl_entity_null(), "entity 0.0: ESPL_ERR_NULL_ENTITY\n");
}

TEST(a_dump_is_cut_as_snprintf_cuts)
{
    const espl_entity entity = test_solo(w);
    char whole[1024];
    const size_t length = espl_dump(w, entity, whole, sizeof whole);

    ck_assert_uint_eq(strlen(whole), length);
    ck_assert_uint_eq(espl_dump(w, entity, NULL, 0), length);
    for (size_t size = 0; size <= length + 2; ++size) {
        const size_t end = size <= length ? size : length + 1;
        char text[1024];

        memset(text, '#', sizeof text);
        ck_assert_uint_eq(espl_dump(w, entity, text, size), length);
        ck_assert(size == 0 || text[end - 1] == '\0');
        ck_assert(memcmp(text, whole, size == 0 ? 0 : end - 1) == 0);
        ck_assert_int_eq(text[end], '#');
    }
}

// Where the system has a locale with another decimal point.
TEST(a_dump_does_not_know_the_locale)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                          "fr_FR.utf8",  "de_DE",      "ps_AF.UTF-8"};
    const espl_entity entity = test_solo_at(w, 0.5f, -1.25f, 1e-10f);
    char plain[1024], other[1024];
    size_t i = 0;

    (void)espl_dump(w, entity, plain, sizeof plain);
    while (i < sizeof locales / sizeof *locales && setlocale(LC_NUMERIC, locales[i]) == NULL) {
        i += 1;
    }
    (void)espl_dump(w, entity, other, sizeof other);
    ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "C"));
    ck_assert_str_eq(other, plain);
    ck_assert_ptr_nonnull(strstr(plain, "position 0.5 -1.25 1.00000001e-10,"));
}

// --- In jobs ---

typedef struct seen {
    espl_entity other; // of another job
    char own[1024], foreign[1024];
} seen;

static void dump_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    seen *const s = context;
    const espl_world *const world = test_rows_world(rows);

    (void)writer;

    if (!espl_entity_equal(rows->entities[0], s->other)) {
        (void)espl_dump(world, rows->entities[0], s->own, sizeof s->own);
        (void)espl_dump(world, s->other, s->foreign, sizeof s->foreign);
    }
}

TEST(a_job_sees_no_transforms_of_another_one)
{
    seen s = {.other = test_solo(w)};
    const espl_parallel_def def = {.function = dump_rows, .context = &s, .job_limit = 2};

    (void)test_solo(w);
    test_cut_jobs(w, 1);
    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_ptr_nonnull(strstr(s.own, "  local: "));
    if (ESPL_CHECKS >= 1) {
        ck_assert_ptr_nonnull(strstr(s.foreign, "  transforms of another job\n"));
    }
    ck_assert_uint_eq(test.hooks.traps + test.hooks.lines, 0);
}

TEST(where_motion_runs_the_text_has_the_previous_local_and_the_shown_pose)
{
    const espl_entity solo = test_solo_at(w, 1, 2, 3);
    char text[1024];

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_set_local_position(w, solo, (const float[3]){5, 2, 3}));
    ck_ok(espl_present(w, 0.5f, NULL));
    ck_assert_uint_eq(espl_dump(w, solo, text, sizeof text), strlen(text));
    ck_assert_ptr_nonnull(
        strstr(text, "\n  previous local: position 1 2 3, rotation 0 0 0 1, scale 1\n"
                     "  shown: position 3 2 3, rotation 0 0 0 1, scale 1\n"));
    ck_ok(espl_motion_stop(w));
    (void)espl_dump(w, solo, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "previous"));
}

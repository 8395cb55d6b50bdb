// SPDX-License-Identifier: MIT
// Huge pages for the blocks of a world: definition and environment decide, and nothing else is
// different.
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

// The pool of so many nodes fills more than one huge page. Not where a world does not hold as many, or
// moves all of them at each step.
#if defined(ESPL_SHRUNKEN) || defined(ESPL_HARD_MOVE)
enum { NODES = 60 };
#else
enum { NODES = 60000 };
#endif

static espl_world *world_by(espl_huge_pages pages)
{
    const espl_world_def def = {.tag = 1, .huge_pages = pages};
    espl_world *world = NULL;

    ck_ok(espl_world_create(&def, &world));
    return world;
}

// Whether a world asks for huge pages.
static bool asks_for_them(espl_huge_pages pages)
{
    espl_world *const world = world_by(pages);
    const bool asks = test_uses_huge_pages(world);

    espl_world_destroy(world);
    return asks;
}

TEST(the_definition_decides_then_the_environment_then_they_are_on)
{
    unsetenv("ESPALIER_HUGE_PAGES");
    ck_assert(asks_for_them(ESPL_HUGE_PAGES_DEFAULT));
    ck_assert(asks_for_them(ESPL_HUGE_PAGES_ON));
    ck_assert(!asks_for_them(ESPL_HUGE_PAGES_OFF));
    setenv("ESPALIER_HUGE_PAGES", "off", 1);
    ck_assert(!asks_for_them(ESPL_HUGE_PAGES_DEFAULT));
    ck_assert(asks_for_them(ESPL_HUGE_PAGES_ON));
    setenv("ESPALIER_HUGE_PAGES", "on", 1);
    ck_assert(asks_for_them(ESPL_HUGE_PAGES_DEFAULT));
    ck_assert(!asks_for_them(ESPL_HUGE_PAGES_OFF));
    unsetenv("ESPALIER_HUGE_PAGES");
}

static void refuses(espl_huge_pages pages, const char *line)
{
    test_hooks hooks = {0};
    const espl_world_def def = {.hooks = test_hooks_of(&hooks), .huge_pages = pages};
    espl_world *world = NULL;

    ck_status(espl_world_create(&def, &world), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_null(world);
    ck_assert_uint_eq(hooks.lines, 1);
    ck_assert_uint_eq(hooks.traps, 0);
    ck_assert_str_eq(hooks.last_line, line);
}

TEST(what_is_neither_on_nor_off_is_refused)
{
    static const char *const no_such =
        "espl_world_create: ESPL_ERR_ARGUMENT: def->huge_pages is none of espl_huge_pages.";

    refuses((espl_huge_pages)3, no_such);
    refuses((espl_huge_pages)-1, no_such);
    setenv("ESPALIER_HUGE_PAGES", "yes", 1);
    refuses(ESPL_HUGE_PAGES_DEFAULT,
            "espl_world_create: ESPL_ERR_ARGUMENT: ESPALIER_HUGE_PAGES \"yes\": The environment "
            "variable has a word other than on and off.");
    setenv("ESPALIER_HUGE_PAGES", "", 1);
    refuses(ESPL_HUGE_PAGES_DEFAULT,
            "espl_world_create: ESPL_ERR_ARGUMENT: ESPALIER_HUGE_PAGES \"\": The environment "
            "variable has a word other than on and off.");
    espl_world_destroy(world_by(ESPL_HUGE_PAGES_OFF));
    unsetenv("ESPALIER_HUGE_PAGES");
}

// A forest with roots of 20, which then loses every third node.
static espl_entity *grow(espl_world *world)
{
    uint32_t *const parents = test_array(NODES, sizeof *parents);

    for (uint32_t i = 0; i < NODES; ++i) {
        parents[i] = i % 20 == 0 ? NO_PARENT : i - 1 - i % 20 / 2;
    }
    espl_entity *const nodes = make_forest(world, parents, NODES);
    free(parents);
    return nodes;
}

static void thin_out(espl_world *world, const espl_entity *nodes)
{
    espl_command_buffer *const commands = test_commands(world, 1);
    for (uint32_t i = 0; i < NODES; i += 3) {
        ck_ok(espl_record_destroy(espl_command_buffer_recorder(commands, 0), 0, nodes[i],
                                  ESPL_EXTENT_ENTITY));
    }
    ck_ok(espl_play(world, commands, NULL));
    espl_command_buffer_destroy(commands);
}

TEST(a_world_is_the_same_and_as_large_with_and_without)
{
    espl_world *const worlds[] = {world_by(ESPL_HUGE_PAGES_OFF), world_by(ESPL_HUGE_PAGES_ON)};
    uint64_t hashes[2][3];
    espl_world_stats stats[2];

    for (int i = 0; i < 2; ++i) {
        espl_entity *const nodes = grow(worlds[i]);
        hashes[i][0] = test_physical_hash(worlds[i]);
        thin_out(worlds[i], nodes);
        hashes[i][1] = test_physical_hash(worlds[i]);
        ck_ok(espl_compact(worlds[i]));
        test_world_is_valid(worlds[i]);
        hashes[i][2] = test_physical_hash(worlds[i]);
        stats[i] = test_stats(worlds[i]);
        free(nodes);
        espl_world_destroy(worlds[i]);
    }
    ck_assert_mem_eq(hashes[0], hashes[1], sizeof hashes[0]);
    ck_assert_uint_eq(stats[0].bytes, stats[1].bytes);
    ck_assert_uint_eq(stats[0].bytes_tree, stats[1].bytes_tree);
    ck_assert_uint_eq(stats[0].bytes_store, stats[1].bytes_store);
}

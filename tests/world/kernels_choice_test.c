// SPDX-License-Identifier: MIT
// The kernels of a world: by its definition, by the environment, or the best.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 40, KERNELS = 6 };

// All kernels that espl_world_def names, the widest of each kind of machine last.
static const char *const names[KERNELS] = {"scalar", "sse2",    "neon",
                                           "simd128", "avx2", "avx512"};

static espl_world *world_by(const char *kernels)
{
    const espl_world_def def = {.tag = 1, .kernels = kernels};
    espl_world *world = NULL;

    ck_ok(espl_world_create(&def, &world));
    return world;
}

// Kernels that the machine runs. @return how many.
static size_t list_kernels(const char *out[KERNELS])
{
    size_t count = 0;

    for (size_t i = 0; i < KERNELS; ++i) {
        const espl_world_def def = {.tag = 1, .kernels = names[i]};
        espl_world *world = NULL;

        if (espl_world_create(&def, &world) == ESPL_OK) {
            out[count++] = names[i];
            espl_world_destroy(world);
        }
    }
    ck_assert_uint_gt(count, 0);
    return count;
}

static const char *widest_kernels(void)
{
    const char *all[KERNELS];

    const size_t count = list_kernels(all);

    return all[count - 1];
}

static void uses(const char *kernels, const char *expected)
{
    espl_world *const world = world_by(kernels);

    ck_assert_str_eq(espl_world_kernels(world), expected);
    espl_world_destroy(world);
}

TEST(kernels_of_the_machine_are_taken_where_nobody_asks)
{
    const char *all[KERNELS];
    const size_t count = list_kernels(all);
    bool is_listed = false;

    unsetenv("ESPALIER_KERNELS");
    espl_world *const world = world_by(NULL);
    for (size_t i = 0; i < count; ++i) {
        is_listed = is_listed || strcmp(espl_world_kernels(world), all[i]) == 0;
    }
    ck_assert(is_listed);
    espl_world_destroy(world);
}

TEST(a_definition_names_any_kernels_that_the_machine_runs)
{
    const char *all[KERNELS];
    const size_t count = list_kernels(all);

    for (size_t i = 0; i < count; ++i) {
        uses(all[i], all[i]);
    }
}

TEST(the_environment_names_them_where_the_definition_does_not)
{
    setenv("ESPALIER_KERNELS", "scalar", 1);
    uses(NULL, "scalar");
    uses(widest_kernels(), widest_kernels());
    unsetenv("ESPALIER_KERNELS");
}

static void refuses(const char *kernels, espl_status status)
{
    test_hooks hooks = {0};
    const espl_world_def def = {.hooks = test_hooks_of(&hooks), .kernels = kernels};
    espl_world *world = NULL;

    ck_assert_int_eq(espl_world_create(&def, &world), status);
    ck_assert_ptr_null(world);
    ck_assert_uint_eq(hooks.lines, 1);
    ck_assert_uint_eq(hooks.traps, 0);
    ck_assert_ptr_nonnull(strstr(hooks.last_line, "kernels"));
}

TEST(unknown_kernels_are_refused_and_the_log_says_so)
{
    refuses("", ESPL_ERR_ARGUMENT);
    refuses("sse9", ESPL_ERR_ARGUMENT);
    refuses(strcmp(widest_kernels(), "neon") == 0 ? "avx2" : "neon", ESPL_ERR_UNSUPPORTED);
    refuses(strcmp(widest_kernels(), "simd128") == 0 ? "avx2" : "simd128", ESPL_ERR_UNSUPPORTED);
    setenv("ESPALIER_KERNELS", "scala", 1);
    refuses(NULL, ESPL_ERR_ARGUMENT);
    unsetenv("ESPALIER_KERNELS");
}

// A tree wide and deep enough for whole batches, and one whose slots are not in rank order.
static void grow(espl_world *world, espl_entity *nodes, uint64_t random)
{
    nodes[0] = test_solo(world);
    for (int i = 1; i < MEMBERS; ++i) {
        nodes[i] = test_solo_at(world, test_between(&random, -1, 1), 2, 3);
        ck_ok(espl_attach(world, nodes[i], nodes[test_below(&random, (uint32_t)i)],
                          &(espl_attach_options){0}));
    }
}

TEST(worlds_of_all_kernels_are_the_same_through_a_trim)
{
    const char *all[KERNELS];
    const size_t count = list_kernels(all);
    uint64_t expected = 0;

    for (size_t i = 0; i < count; ++i) {
        espl_world *const world = world_by(all[i]);
        espl_entity nodes[MEMBERS];

        grow(world, nodes, 7);
        ck_ok(espl_compact(world));
        ck_assert_str_eq(espl_world_kernels(world), all[i]);
        const espl_transform moved = test_at(0.1f, 1e-3f, 77);
        ck_ok(espl_set_local_transform(world, nodes[0], &moved));
        test_world_is_valid(world);
        const uint64_t hash = test_physical_hash(world);

        expected = i == 0 ? hash : expected;
        ck_assert_uint_eq(hash, expected);
        espl_world_destroy(world);
    }
}

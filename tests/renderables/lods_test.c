// SPDX-License-Identifier: MIT
// Keys with levels of detail: what is refused, how many there may be, and memory that runs out. Which level is
// drawn is tested with cameras.
#include "tests/one_world.h"

#include <espalier/renderables.h>

#include <math.h>
#include <string.h>

FIXTURE(set_up, tear_down);

static const espl_lods sound = {.keys = {4, 5, ESPL_NO_KEY}, .sizes = {100, 20, 20}, .count = 3};

TEST(levels_are_refused_for_each_fault)
{
    espl_renderables *r = NULL;
    espl_lods lods[8];
    uint32_t key = 77;

    ck_ok(espl_renderables_create(w, NULL, &r));
    for (size_t i = 0; i < 8; ++i) {
        lods[i] = sound;
    }
    lods[0].count = 0;
    lods[1].count = ESPL_LOD_LIMIT + 1;
    lods[2].sizes[1] = NAN;
    lods[3].sizes[0] = INFINITY;
    lods[4].sizes[2] = 21;
    lods[5].keys[1] = UINT32_C(0x80000000);
    lods[6].keys[0] = UINT32_MAX - 1;
    lods[7].sizes[2] = -INFINITY;
    for (size_t i = 0; i < 8; ++i) {
        ck_status(espl_renderables_add_lods(r, &lods[i], &key), ESPL_ERR_ARGUMENT);
    }
    ck_assert_uint_eq(key, 77);
    ck_ok(espl_renderables_add_lods(r, &sound, &key));
    ck_assert_uint_eq(key >> 31, 1);
    ck_assert_uint_ne(key, ESPL_NO_KEY);
    espl_renderables_destroy(r);
}

// Past the last level nothing is read, whatever it is.
TEST(levels_past_the_count_are_not_looked_at)
{
    espl_renderables *r = NULL;
    espl_lods lods = sound;
    uint32_t key = 0;

    ck_ok(espl_renderables_create(w, NULL, &r));
    lods.count = 2;
    lods.sizes[2] = NAN;
    lods.keys[2] = UINT32_MAX - 7;
    ck_ok(espl_renderables_add_lods(r, &lods, &key));
    espl_renderables_destroy(r);
}

TEST(there_are_65536_keys)
{
    espl_renderables *r = NULL;
    uint32_t key = 0, before = 0;

    ck_ok(espl_renderables_create(w, NULL, &r));
    for (uint32_t i = 0; i < 65536; ++i) {
        ck_ok(espl_renderables_add_lods(r, &sound, &key));
        ck_assert(i == 0 || key == before + 1);
        before = key;
    }
    ck_status(espl_renderables_add_lods(r, &sound, &key), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(key, before);
    test_world_is_valid(w);
    espl_renderables_destroy(r);
}

TEST(key_without_memory_is_not_added)
{
    espl_renderables *r = NULL;
    uint32_t first = 0, key = 77;
    size_t failures = 0;

    ck_ok(espl_renderables_create(w, NULL, &r));
    for (uint32_t i = 0; i < 130; ++i) {
        espl_status status = ESPL_ERR_NO_MEMORY;

        for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
            test_heap_arm(&test.heap, at, false);
            status = espl_renderables_add_lods(r, &sound, &key);
            test_heap_arm(&test.heap, 0, false);
            failures += status == ESPL_ERR_NO_MEMORY ? 1 : 0;
            test_world_is_valid(w);
        }
        ck_ok(status);
        first = i == 0 ? key : first;
        ck_assert_uint_eq(key, first + i);
    }
    ck_assert_uint_eq(failures, 4); // the list, and three pages
    espl_renderables_destroy(r);
}

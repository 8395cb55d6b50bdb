// SPDX-License-Identifier: MIT
// The cost of destroys, by counters: in proportion to the nodes that are destroyed, and no world
// transform is computed where no survivor is below them.
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <stdlib.h>

enum { SMALLEST = 1024, DOUBLINGS = 8, MOST_MOVED = 8192 };

enum { FLAT, HEAP, DEEP, CHAIN, PLAN_COUNT };

static uint32_t parent_at(uint32_t plan, uint32_t i)
{
    const uint32_t parents[PLAN_COUNT] = {
        [FLAT] = 0, [HEAP] = (i - 1) / 2, [DEEP] = i % 64 == 1 ? 0 : i - 1, [CHAIN] = i - 1};

    return i == 0 ? NO_PARENT : parents[plan];
}

typedef struct cost {
    uint64_t moved, visited;
} cost;

// Destroy three of four members one by one, from the last on, and count the nodes that were moved and
// those that were computed.
static cost cost_of_deaths(uint32_t plan, uint32_t count)
{
    uint32_t *const parent = test_array(count, sizeof *parent);
    test_world test;

    for (uint32_t i = 0; i < count; ++i) {
        parent[i] = parent_at(plan, i);
    }
    test_world_begin(&test, 9, NULL);
    espl_entity *const entity = make_forest(test.world, parent, count);
    const espl_world_stats before = test_stats(test.world);
    const uint64_t moved = test_count_moved_nodes(test.world);
    for (uint32_t i = count; i-- > count / 4;) {
        if (espl_destroy(test.world, entity[i], ESPL_EXTENT_ENTITY) != ESPL_OK) {
            ck_abort_msg("member %u is not destroyed", i);
        }
    }
    const espl_world_stats after = test_stats(test.world);
    const uint64_t moved_after = test_count_moved_nodes(test.world);
    free(entity);
    free(parent);
    test_world_end(&test);
    return (cost){moved_after - moved, after.nodes_visited - before.nodes_visited};
}

TEST_LOOP(k13_twice_the_deaths_move_at_most_twice_as_much, 0, PLAN_COUNT)
{
    const uint32_t doublings = DOUBLINGS - (test_pace_of_build() == TEST_SWIFT ? 0 : 3);
    uint64_t last = 0;

    for (uint32_t i = 0; i <= doublings; ++i) {
        const uint32_t count = (uint32_t)SMALLEST << i;
        // A build whose worlds are small, where arrays always move (building is quadratic there), or that
        // is cut short.
        if (test_fitting(count, 0) < count || (test_moves_always() && count > MOST_MOVED) ||
            test_scaled(count) * 20 < count) {
            return;
        }
        const cost of_deaths = cost_of_deaths((uint32_t)_i, count);
        const uint64_t moved = of_deaths.moved;

        ck_assert_uint_le(of_deaths.visited, count);
        ck_assert_uint_le(moved, (uint64_t)count * 8);
        ck_assert_msg(last == 0 || moved * 10 <= last * 22, "%llu, then %llu at %u",
                      (unsigned long long)last, (unsigned long long)moved, count);
        last = moved;
    }
}

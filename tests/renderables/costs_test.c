// SPDX-License-Identifier: MIT
// An update costs what changed: its counters are the same beside 300 renderables at rest and beside 30,000.
#include "tests/one_world.h"

#include <espalier/renderables.h>

enum { MOVERS = 40, MOST_RESTING = 30000 };

static espl_renderables *renderables;
static espl_entity resting[MOST_RESTING], movers[MOVERS];

static void set_up_resting(void)
{
    set_up();
    ck_ok(espl_renderables_create(w, &(espl_renderables_def){.cell_size = 1}, &renderables));
}

static void tear_down_resting(void)
{
    espl_renderables_destroy(renderables);
    tear_down();
}

// Make renderables without a parent, along x.
static void make_row(size_t count, float x, espl_entity *out)
{
    const espl_component set[] = {ESPL_TRANSFORM, espl_component_find(w, "bounds"),
                                  espl_component_find(w, "renderable")};

    ck_ok(espl_create(w, set, 3, count, out));
    for (size_t i = 0; i < count; ++i) {
        const float at[3] = {x + (float)i, 0, 0};

        ck_ok(espl_set_local_position(w, out[i], at));
    }
}

static espl_renderables_report update(void)
{
    espl_renderables_report report;

    ck_ok(espl_renderables_update(renderables, NULL, &report));
    return report;
}

// Move each mover by the same, and update.
static espl_renderables_report move_all(float z)
{
    for (int i = 0; i < MOVERS; ++i) {
        const float at[3] = {-1000 + (float)i, 0, z};

        ck_ok(espl_set_local_position(w, movers[i], at));
    }
    return update();
}

static size_t resting_of(int round)
{
    return test_fitting(round == 0 ? 300 : MOST_RESTING, MOVERS);
}

FIXTURE(set_up_resting, tear_down_resting);

// 0: beside few. 1: beside many. Both runs have to come to the same counters.
TEST_LOOP(update_looks_at_what_changed_alone, 0, 2)
{
    make_row(resting_of(_i), 0, resting);
    make_row(MOVERS, -1000, movers);
    ck_assert_uint_eq(update().renderables, resting_of(_i) + MOVERS);

    // Movers get clusters of their own: the first time, clusters of what rests are written without them.
    (void)move_all(1);
    (void)move_all(2);
    for (int i = 3; i < 20; ++i) {
        const espl_renderables_report report = move_all((float)i / 64);

        ck_assert_uint_eq(report.marked, MOVERS);
        ck_assert_uint_eq(report.moved, MOVERS);
        ck_assert_uint_eq(report.moving, MOVERS);
        ck_assert_uint_le(report.rewritten, 2);
        ck_assert_uint_eq(report.added + report.removed, 0);
    }
}

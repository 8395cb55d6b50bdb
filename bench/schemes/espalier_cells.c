// SPDX-License-Identifier: MIT
// Scheme `celled`, the library in a world with cells, and the calls of the load `far`.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

void espalier_shift(struct scheme_world *world, const float offset[3])
{
    const double before = clock_now();

    must(espl_rebase(world->world, NULL, offset), "espl_rebase");
    world->times.rebase = clock_now() - before;
    world->is_shifted = true;
}

static struct scheme_world *create_celled(const struct forest *forest, unsigned workers)
{
    const float size_of_cells = 4096;

    return espalier_create_in_cells(forest, workers, size_of_cells);
}

static void rebase_cells(struct scheme_world *world, const int32_t cells[3])
{
    const double before = clock_now();

    must(espl_rebase(world->world, cells, NULL), "espl_rebase");
    world->times.rebase = clock_now() - before;
}

static void recenter(struct scheme_world *world)
{
    size_t moved = 0;

    must(espl_recenter(world->world, 0, &moved), "espl_recenter");
    if (moved != 0) {
        course_fail("espl_recenter", "a root left its cell");
    }
}

const struct scheme scheme_celled = {
    .name = "celled",
    .summary = "the library, in a world with cells",
    .is_variant = true,
    .create = create_celled,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .copy_worlds = espalier_copy_worlds,
    .bytes = espalier_count_bytes,
    .rebase = rebase_cells,
    .recenter = recenter,
    .split = espalier_split,
};

// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `history`, and on the paths of counts.c that have a history: marks and rewinds.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

enum { frames_back = 8 };

void espalier_begin_history(struct scheme_world *world, bool has_checksums)
{
    const espl_history_def def = {.frames = frames_back + 1,
                                  .flags = has_checksums ? ESPL_HISTORY_HASH : 0};

    must(espl_history_create(world->world, &def, &world->history), "espl_history_create");
    espalier_mark(world);
}

void espalier_mark(struct scheme_world *world)
{
    const double before = clock_now();

    must(espl_history_mark(world->history, ++world->marked), "espl_history_mark");
    world->times.mark = clock_now() - before;
}

void espalier_change(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    const double before = clock_now();

    espalier_write(world, writes, count);
    if (world->history != NULL || world->follower != NULL || world->is_shifted ||
        world->renderables != NULL) {
        world->times.write = clock_now() - before;
    }
}

void espalier_rewind(struct scheme_world *world, unsigned frames)
{
    const double before = clock_now();

    world->marked -= frames;
    must(espl_history_rewind(world->history, world->marked, 0, NULL), "espl_history_rewind");
    world->times.rewind = clock_now() - before;
}

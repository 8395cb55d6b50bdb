// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `watch`, and on the paths of counts.c that have a watch.
#include "bench/schemes/espalier.h"

static void watch(struct scheme_world *world, uint32_t flags)
{
    const espl_watch_def def = {.flags = flags};

    must(espl_watch_create(world->world, &def, &world->watch), "espl_watch_create");
    (void)espalier_collect(world);
}

// The first collect, which has all nodes, is made here.
void espalier_track(struct scheme_world *world, enum scheme_tracking tracking)
{
    espalier_number(world);
    switch (tracking) {
    case TRACK_NOTHING:
    case TRACK_MOTION:
        break;
    case TRACK_WORLDS:
        watch(world, ESPL_WATCH_WORLD);
        break;
    case TRACK_OWN:
        watch(world, ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL);
        break;
    }
}

struct scheme_changes espalier_collect(struct scheme_world *world)
{
    espl_changes changes;

    must(espl_watch_collect(world->watch, 0, &changes), "espl_watch_collect");
    return (struct scheme_changes){changes.changed, changes.changed_worlds,
                                   sizeof *changes.changed_worlds, changes.changed_count};
}

void espalier_advance(struct scheme_world *world)
{
    (void)espalier_collect(world);
}

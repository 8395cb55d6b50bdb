// SPDX-License-Identifier: MIT
// Scheme `espalier` in the loads `watch` and `motion`, and on the paths of counts.c that have these:
// watches, ticks and shown poses. Which of these a world has, or a history, is set once.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

static void watch(struct scheme_world *world, uint32_t flags)
{
    const espl_watch_def def = {.flags = flags};

    must(espl_watch_create(world->world, &def, &world->watch), "espl_watch_create");
    (void)espalier_collect(world);
}

// Whatever takes memory in a first frame alone does so here: the first collect has all nodes, and a
// tick rolls what the one before wrote.
void espalier_track(struct scheme_world *world, enum scheme_tracking tracking)
{
    espalier_number(world);
    switch (tracking) {
    case TRACK_NOTHING:
        break;
    case TRACK_WORLDS:
        watch(world, ESPL_WATCH_WORLD);
        break;
    case TRACK_OWN:
        watch(world, ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL);
        break;
    case TRACK_MOTION:
        must(espl_motion_start(world->world, NULL), "espl_motion_start");
        break;
    case TRACK_MIRRORS:
        espalier_begin_mirrors(world, 1);
        break;
    case TRACK_RENDERABLES:
        espalier_begin_mirrors(world, 0);
        break;
    case TRACK_HISTORY:
    case TRACK_HASHES:
        espalier_begin_history(world, tracking == TRACK_HASHES);
        break;
    case TRACK_COUNTERPARTS:
        espalier_begin_counterparts(world);
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
    if (world->watch != NULL) {
        (void)espalier_collect(world);
        return;
    }
    if (world->renderables != NULL) {
        espalier_publish(world);
        return;
    }
    if (world->history != NULL) {
        espalier_mark(world);
        return;
    }
    if (world->is_ticking) {
        must(espl_tick_end(world->world), "espl_tick_end");
    }
    must(espl_tick_begin(world->world), "espl_tick_begin");
    world->is_ticking = true;
}

void espalier_tick(struct scheme_world *world, const struct scheme_write *writes, size_t count,
                   float at)
{
    const double begin = clock_now();

    must(espl_tick_begin(world->world), "espl_tick_begin");
    const double rolled = clock_now();

    if (count > 0) {
        espalier_write(world, writes, count);
    }
    must(espl_tick_end(world->world), "espl_tick_end");
    const double written = clock_now();

    must(espl_present(world->world, at, NULL), "espl_present");
    world->times.roll = rolled - begin;
    world->times.write = count > 0 ? written - rolled : 0;
    world->times.present = clock_now() - written;
}

void espalier_copy_shown(struct scheme_world *world, struct pose *out, size_t count)
{
    must(espl_read_strided(world->world, ESPL_READ_SHOWN_POSE, world->nodes, count,
                           sizeof *world->nodes, out, sizeof *out),
         "espl_read_strided");
}

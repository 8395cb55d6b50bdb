// SPDX-License-Identifier: MIT
// Recording from four threads at once. Each has a lane of its own, so nobody waits: it spawns drones
// in its bay of a ship, hangs a lamp on each, and takes each in tow behind the one before, while
// none of them exists. One playback does it all, and the outcome does not depend on the threads.
#include <espalier/espalier.h>

#include <pthread.h>
#include <stdio.h>

enum { LANES = 4, DRONES = 3, LAST = DRONES - 1 };

typedef struct crew {
    pthread_t thread;
    espl_recorder *recorder;
    espl_entity prefab, bay;                   // living
    espl_entity drones[DRONES], lamps[DRONES]; // pending
    espl_status status;
} crew;

static const espl_transform behind = {{0, 0, 0, 1}, {0, 0, -2}, 1, {1, 1, 1}, 0};

// Runs on a thread of its own and touches its own recorder only.
static void *record(void *argument)
{
    const espl_component_value placed = {ESPL_TRANSFORM, sizeof behind, &behind};
    espl_creation_def lamp = {.values = &placed, .value_count = 1};
    crew *const c = argument;
    espl_recorder *const r = c->recorder;

    for (int i = 0; i < DRONES && c->status == ESPL_OK; ++i) {
        c->status = espl_record_spawn(r, 0, c->prefab, c->bay, &behind, &c->drones[i]);
        lamp.parent = c->drones[i]; // is still to be made
        if (c->status == ESPL_OK) {
            c->status = espl_record_create(r, 0, &lamp, 1, &c->lamps[i]);
        }
        if (c->status == ESPL_OK && i > 0) {
            c->status = espl_record_attach_keep_local(r, 1, c->drones[i], c->drones[i - 1]);
        }
    }
    return NULL;
}

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, ESPL_PREFAB};
    espl_command_buffer *commands = NULL;
    espl_world *world = NULL;
    espl_report report = {0};
    espl_entity prefab, bays[LANES], lamp;
    crew crews[LANES] = {0};
    uint32_t started = 0;

    bool ok = !espl_world_create(&world, NULL) && !espl_create(world, set, 2, 1, &prefab) &&
              !espl_create(world, set, 1, LANES, bays) &&
              !espl_command_buffer_create(world, LANES, &commands);
    for (; ok && started < LANES; started += ok) {
        crew *const c = &crews[started];

        c->recorder = espl_command_buffer_recorder(commands, started);
        c->prefab = prefab, c->bay = bays[started];
        ok = pthread_create(&c->thread, NULL, record, c) == 0;
    }
    for (uint32_t i = 0; i < started; ++i) {
        ok = pthread_join(crews[i].thread, NULL) == 0 && crews[i].status == ESPL_OK && ok;
    }
    ok = ok && !espl_play(world, commands, &report);
    printf("%zu commands, %zu refused, %zu entities\n", report.accepted, report.refused,
           report.created);
    for (int i = 0; ok && i < LANES; ++i) {
        float p[3] = {0};

        ok = !espl_command_buffer_resolve(commands, crews[i].lamps[LAST], &lamp) &&
             !espl_get_world_position(world, lamp, p);
        printf("lamp %d: %g behind, depth %u\n", i, -(double)p[2], espl_get_depth(world, lamp));
    }
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    return ok ? 0 : 1;
}

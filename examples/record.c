// SPDX-License-Identifier: MIT
// Recording from four threads at once, each into a lane of its own. Each spawns drones in its bay,
// attaches a lamp to each drone, and each drone to the one before, while none of them exists yet. One
// playback makes them all, and its result does not depend on the threads.
#include "common.h"

#include <pthread.h>

enum { LANES = 4, DRONES = 3, LAST = DRONES - 1 };

typedef struct job {
    pthread_t thread;
    espl_recorder *recorder;
    espl_entity prefab, bay;                   // exist
    espl_entity drones[DRONES], lamps[DRONES]; // pending
} job;

static const espl_transform behind = {{0, 0, 0, 1}, {0, 0, -2}, 1, {1, 1, 1}, 0};

static const espl_attach_options keep_local = {
    .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

// Runs on a thread of its own, and uses its own recorder only.
static void *record(void *argument)
{
    const espl_component_value placed = {ESPL_TRANSFORM, sizeof behind, &behind};
    espl_creation_def lamp = {.values = &placed, .value_count = 1};
    job *const j = argument;
    espl_recorder *const r = j->recorder;

    for (int i = 0; i < DRONES; ++i) {
        must(espl_record_spawn(r, 0, j->prefab, j->bay, &behind, &j->drones[i]));
        lamp.parent = j->drones[i]; // a pending handle
        must(espl_record_create(r, 0, &lamp, 1, &j->lamps[i]));
        if (i > 0) {
            must(espl_record_attach(r, 1, j->drones[i], j->drones[i - 1], &keep_local));
        }
    }
    return NULL;
}

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, ESPL_PREFAB};
    espl_command_buffer *commands = NULL;
    espl_world *world = NULL;
    espl_entity prefab, bays[LANES];
    espl_report report;
    job jobs[LANES];

    must(espl_world_create(NULL, &world));
    must(espl_create(world, set, 2, 1, &prefab));
    must(espl_create(world, set, 1, LANES, bays));
    must(espl_command_buffer_create(world, LANES, &commands));
    for (uint32_t i = 0; i < LANES; ++i) {
        jobs[i].recorder = espl_command_buffer_recorder(commands, i);
        jobs[i].prefab = prefab, jobs[i].bay = bays[i];
        if (pthread_create(&jobs[i].thread, NULL, record, &jobs[i]) != 0) {
            return EXIT_FAILURE;
        }
    }
    for (int i = 0; i < LANES; ++i) {
        (void)pthread_join(jobs[i].thread, NULL);
    }
    must(espl_play(world, commands, &report));
    printf("%zu commands, %zu refused, %zu entities\n", report.accepted, report.refused,
           report.created);
    for (int i = 0; i < LANES; ++i) {
        espl_entity lamp;
        float at[3];

        must(espl_command_buffer_resolve(commands, jobs[i].lamps[LAST], &lamp));
        must(espl_get_world_position(world, lamp, at));
        printf("lamp %d: %g behind, depth %u\n", i, -(double)at[2], espl_get_depth(world, lamp));
    }
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    return 0;
}

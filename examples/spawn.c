// SPDX-License-Identifier: MIT
// Spawning from four threads at once: each records, in a lane of its own, a ship and the guns of
// this pending ship. All is played at the sync point. The outcome does not depend on the threads.
#include <espalier/espalier.h>

#include <pthread.h>
#include <stdio.h>

enum { LANES = 4, GUNS = 3 };

typedef struct yard {
    pthread_t thread;
    espl_recorder *recorder;
    espl_instance_def ship, gun;
    espl_entity new_ship, new_guns[GUNS]; // pending
    espl_status status;
} yard;

static espl_transform at(float x, float y)
{
    return (espl_transform){{0, 0, 0, 1}, {x, y, 0}, 1, {1, 1, 1}, 0};
}

// Runs on a thread of its own and touches its own recorder only, so it needs no lock.
static void *record(void *argument)
{
    yard *const y = argument;

    y->status = espl_record_instantiate(y->recorder, 0, &y->ship, 1, &y->new_ship);
    y->gun.parent = y->new_ship; // does not exist yet
    for (int i = 0; i < GUNS && y->status == ESPL_OK; ++i) {
        y->gun.transform = at((float)i, 7);
        y->status = espl_record_instantiate(y->recorder, 1, &y->gun, 1, &y->new_guns[i]);
    }
    return NULL;
}

int main(void)
{
    const espl_component set[] = {ESPL_PLACEMENT, ESPL_PREFAB};
    espl_commands *commands = NULL;
    espl_world *world = NULL;
    espl_report report = {0};
    espl_entity prefabs[2], gun;
    yard yards[LANES] = {0};
    uint32_t started = 0;

    bool ok = !espl_world_create(&world, NULL) && !espl_create(world, set, 2, 2, prefabs) &&
              !espl_commands_create(world, LANES, &commands);
    for (; ok && started < LANES; started += ok) {
        yard *const y = &yards[started];

        y->recorder = espl_commands_recorder(commands, started);
        y->ship = (espl_instance_def){.source = prefabs[0], .place = ESPL_PLACE_WORLD};
        y->ship.transform = at(100 * (float)started, 0);
        y->gun = (espl_instance_def){.source = prefabs[1], .place = ESPL_PLACE_LOCAL};
        ok = pthread_create(&y->thread, NULL, record, y) == 0;
    }
    for (uint32_t i = 0; i < started; ++i) {
        ok = pthread_join(yards[i].thread, NULL) == 0 && yards[i].status == ESPL_OK && ok;
    }

    // Ships of two lanes are tied together before either of them exists.
    ok =
        ok && !espl_record_attach(yards[0].recorder, 2, yards[3].new_ship, yards[2].new_ship, NULL);
    ok = ok && !espl_commands_submit(commands) && !espl_sync(world, &report);
    printf("%zu commands, %zu refused, %zu entities\n", report.accepted, report.refused,
           report.created);
    for (int i = 0; ok && i < LANES; ++i) {
        float p[3] = {0};

        ok = !espl_commands_resolve(commands, yards[i].new_guns[GUNS - 1], &gun) &&
             !espl_get_world_position(world, gun, p);
        printf("gun at %g, %g, depth %u\n", (double)p[0], (double)p[1], espl_get_depth(world, gun));
    }
    espl_commands_destroy(commands);
    espl_world_destroy(world);
    return ok ? 0 : 1;
}

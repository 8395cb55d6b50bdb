// SPDX-License-Identifier: MIT
// Reads in the middle of a frame: a tank drives, its turret turns, a shot is fired by a playback, and
// the tank is lost. Each read is current, without a wait for the end of the frame.
#include "common.h"

enum { TANK, TURRET, MUZZLE, FLASH, SHELL, COUNT }; // the first three are made at the start

// A line of the table: x and z of the world positions as they are now.
static void print_line(const espl_world *world, const char *when, const espl_entity e[COUNT])
{
    printf("%-10s", when);
    for (int i = MUZZLE; i < COUNT; ++i) {
        float at[3];

        // An entity that is not made yet, or was destroyed, has no position: the call is refused.
        if (!espl_failed(espl_get_world_position(world, e[i], at))) {
            printf("%8g, %2g", (double)at[0], (double)at[2]);
        } else {
            printf("%12s", "-");
        }
    }
    puts("");
}

// A flash that is attached to the muzzle, and a shell that starts where the muzzle is now.
static void fire(espl_world *world, espl_command_buffer *commands, espl_entity prefab,
                 espl_entity *e)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_entity flash, shell; // pending
    espl_transform muzzle;

    must(espl_get_world_transform(world, e[MUZZLE], &muzzle));
    must(espl_record_spawn(recorder, 0, prefab, e[MUZZLE], NULL, &flash));
    must(espl_record_spawn(recorder, 0, prefab, espl_entity_null(), &muzzle, &shell));
    must(espl_play(world, commands, NULL));
    must(espl_command_buffer_resolve(commands, flash, &e[FLASH]));
    must(espl_command_buffer_resolve(commands, shell, &e[SHELL]));
}

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, ESPL_PREFAB};
    espl_command_buffer *commands = NULL;
    espl_entity prefab, e[COUNT] = {{0}};
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_command_buffer_create(world, 1, &commands));
    must(espl_create(world, set, 2, 1, &prefab));
    must(espl_create(world, set, 1, FLASH, e));
    must(espl_set_world_position(world, e[MUZZLE], (float[]){0, 0, 4}));
    must(espl_attach(world, e[TURRET], e[TANK], NULL));
    must(espl_attach(world, e[MUZZLE], e[TURRET], NULL));
    must(espl_set_world_position(world, e[TANK], (float[]){10, 0, 0}));
    puts("                muzzle       flash       shell");
    print_line(world, "driven", e);
    must(espl_set_local_rotation(world, e[TURRET], (float[]){0, 1, 0, 0})); // half a turn
    print_line(world, "turned", e);
    fire(world, commands, prefab, e);
    print_line(world, "fired", e);
    must(espl_set_world_position(world, e[TANK], (float[]){20, 0, 0}));
    print_line(world, "driven on", e);
    must(espl_destroy(world, e[TANK], ESPL_EXTENT_OWNED));
    print_line(world, "lost", e);
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    return 0;
}

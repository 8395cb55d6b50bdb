// SPDX-License-Identifier: MIT
// One frame of a tank, read in the middle of it. What is read is true at that moment: right after a
// write, and right after a playback, without waiting for an end of the frame.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>

enum { TANK, TURRET, MUZZLE, FLASH, SHELL, COUNT }; // the first three are there at once

static void must(espl_status status)
{
    if (status != ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// A line of the table: x and z of the worlds as they are now.
static void say(const espl_world *world, const char *when, const espl_entity e[COUNT])
{
    printf("%-10s", when);
    for (int i = MUZZLE; i < COUNT; ++i) {
        float at[3];

        // What is not there yet, and what is there no more, has no world.
        if (espl_get_world_position(world, e[i], at) == ESPL_OK) {
            printf("%8g, %2g", (double)at[0], (double)at[2]);
        } else {
            printf("%12s", "-");
        }
    }
    puts("");
}

// A flash that hangs on the muzzle, and a shell that starts where the muzzle is now.
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

    must(espl_world_create(&world, NULL));
    must(espl_command_buffer_create(world, 1, &commands));
    must(espl_create(world, set, 2, 1, &prefab));
    must(espl_create(world, set, 1, FLASH, e));
    must(espl_set_world_position(world, e[MUZZLE], (float[]){0, 0, 4}));
    must(espl_attach(world, e[TURRET], e[TANK], NULL));
    must(espl_attach(world, e[MUZZLE], e[TURRET], NULL));
    must(espl_set_world_position(world, e[TANK], (float[]){10, 0, 0}));
    puts("                muzzle       flash       shell");
    say(world, "driven", e);
    must(espl_set_local_rotation(world, e[TURRET], (float[]){0, 1, 0, 0}));
    say(world, "turned", e);
    fire(world, commands, prefab, e);
    say(world, "fired", e);
    must(espl_set_world_position(world, e[TANK], (float[]){20, 0, 0}));
    say(world, "driven on", e);
    must(espl_destroy(world, e[TANK], ESPL_EXTENT_OWNED));
    say(world, "lost", e);
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    return 0;
}

// SPDX-License-Identifier: MIT
// Step 1 of guides/battle.md: make a world and a ship, move it, read it, and destroy it. A handle
// of a destroyed entity is refused.
#include "common.h"

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM};
    espl_world *world = NULL;
    espl_entity ship;
    float at[3];

    must(espl_world_create(NULL, &world));
    must(espl_create(world, set, 1, 1, &ship));

    must(espl_set_world_position(world, ship, (float[]){0, 0, 100}));
    must(espl_write_one(world, ship, ESPL_WRITE_TRANSLATE_WORLD, (float[]){5, 0, 0}));
    must(espl_get_world_position(world, ship, at));
    printf("the ship is at %g, %g, %g\n", (double)at[0], (double)at[1], (double)at[2]);

    must(espl_destroy(world, ship, ESPL_EXTENT_OWNED));
    printf("later: %s\n", espl_status_name(espl_get_world_position(world, ship, at)));
    espl_world_destroy(world);
    return 0;
}

// SPDX-License-Identifier: MIT
// Step 2 of guides/battle.md: a ship with a turret, and a muzzle on the turret. Both follow the ship,
// and a read right after a write is current.
#include "common.h"

enum { HULL, TURRET, MUZZLE, PARTS };

static void print_position(const espl_world *world, const char *when, espl_entity entity)
{
    float at[3];

    must(espl_get_world_position(world, entity, at));
    printf("%-14s %6.1f %6.1f %6.1f\n", when, (double)at[0], (double)at[1], (double)at[2]);
}

static void build_ship(espl_world *world, espl_entity part[PARTS])
{
    const espl_component set[] = {ESPL_TRANSFORM};

    must(espl_create(world, set, 1, PARTS, part));
    must(espl_set_world_position(world, part[TURRET], (float[]){0, 2, 0}));
    must(espl_set_world_position(world, part[MUZZLE], (float[]){0, 2, 5}));
    must(espl_attach(world, part[TURRET], part[HULL], NULL));
    must(espl_attach(world, part[MUZZLE], part[TURRET], NULL));
}

int main(void)
{
    espl_world *world = NULL;
    espl_entity ship[PARTS];

    must(espl_world_create(NULL, &world));
    build_ship(world, ship);
    print_position(world, "muzzle: built", ship[MUZZLE]);

    must(espl_set_world_position(world, ship[HULL], (float[]){100, 0, 0}));
    print_position(world, "ship moved", ship[MUZZLE]);

    // Half a turn about +Y.
    must(espl_write_one(world, ship[TURRET], ESPL_WRITE_ROTATE_IN_PARENT, (float[]){0, 1, 0, 0}));
    print_position(world, "turret turned", ship[MUZZLE]);

    must(espl_look_at(world, ship[TURRET], (float[]){130, 2, 40}, NULL, ESPL_AXIS_FORWARD));
    print_position(world, "turret aimed", ship[MUZZLE]);
    espl_world_destroy(world);
    return 0;
}

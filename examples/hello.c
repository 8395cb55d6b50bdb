// SPDX-License-Identifier: MIT
// The program of README.md, in C and in C++: a ship with a mast and a lamp sails and capsizes.

#include <espalier/espalier.h>
#include <stdio.h>

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM};
    espl_transform mast = espl_transform_identity(), lamp = mast, ship = mast;
    espl_world *world = NULL;
    espl_entity e[3]; // ship, mast, lamp: three solos at first
    float seen[3] = {0};

    mast.position[1] = 5, lamp.position[1] = 12; // metres above the deck
    bool failed = espl_failed(espl_world_create(NULL, &world)) ||
                  espl_failed(espl_create(world, set, 1, 3, e)) ||
                  espl_failed(espl_set_world_transform(world, e[1], &mast)) ||
                  espl_failed(espl_attach(world, e[1], e[0], NULL)) ||
                  espl_failed(espl_set_world_transform(world, e[2], &lamp)) ||
                  espl_failed(espl_attach(world, e[2], e[1], NULL));

    ship.position[0] = 100; // away to the right, and upside down: half a turn about z
    ship.rotation[2] = 1, ship.rotation[3] = 0;
    failed = failed || espl_failed(espl_set_local_transform(world, e[0], &ship)) || // all follow
             espl_failed(espl_get_world_position(world, e[2], seen));
    printf("the lamp is at %g, %g, %g\n", (double)seen[0], (double)seen[1], (double)seen[2]);
    espl_world_destroy(world);
    return failed ? 1 : 0;
}

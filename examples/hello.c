// SPDX-License-Identifier: MIT
// The program of README.md, in C and in C++: a ship with a mast and a lamp sails and capsizes.

#include <espalier/espalier.h>
#include <stdio.h>

int main(void)
{
    espl_transform foot = espl_transform_identity(), top = foot, at_sea = foot;
    espl_entity ship, mast, lamp;
    espl_world *world = NULL;
    float seen[3] = {0};

    foot.position[1] = 5, top.position[1] = 7; // metres: the mast above the deck, the lamp above it
    bool failed = espl_failed(espl_world_create(NULL, &world)) ||
                  espl_failed(espl_create_node(world, espl_entity_null(), NULL, "ship", &ship)) ||
                  espl_failed(espl_create_node(world, ship, &foot, "mast", &mast)) ||
                  espl_failed(espl_create_node(world, mast, &top, "lamp", &lamp));

    at_sea.position[0] = 100; // far along +X, and upside down: half a turn about z
    at_sea.rotation[2] = 1, at_sea.rotation[3] = 0;
    failed = failed || espl_failed(espl_set_local_transform(world, ship, &at_sea)) || // all follow
             espl_failed(espl_get_world_position(world, lamp, seen));
    printf("the lamp is at %g, %g, %g\n", (double)seen[0], (double)seen[1], (double)seen[2]);
    espl_world_destroy(world);
    return failed ? 1 : 0;
}

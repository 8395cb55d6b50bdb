// SPDX-License-Identifier: MIT
// The ship that the loads `battle` and `animate` fly: eleven nodes.
#ifndef ESPALIER_BENCH_SHIP_H
#define ESPALIER_BENCH_SHIP_H

#include "bench/forest.h"

enum {
    guns_of_ship = 4,
    first_gun = 7, ///< The guns are the last nodes of a ship.
    ship_size = first_gun + guns_of_ship,
};

/// Two wings and a tower, an engine on each wing, a turret on the tower; a gun on each wing and two
/// on the turret.
static const uint32_t ship_parents[ship_size] = {NO_NODE, 0, 0, 0, 1, 2, 3, 1, 2, 6, 6};

#endif

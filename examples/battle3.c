// SPDX-License-Identifier: MIT
// Step 3 of guides/battle.md: the ship becomes a prefab, and a command buffer spawns two fleets of it.
// Each ship has values of its own, and its reference to a muzzle names the muzzle of that ship.
#include "common.h"

#include <stddef.h>

enum { HULL, TURRET, MUZZLE, PARTS };
enum { RED, BLUE, FLEETS };
enum { SHIPS = 4 }; // in each fleet

typedef struct guns {
    espl_entity turret, muzzle;
} guns;

typedef struct fighter {
    uint32_t fleet;
    int32_t strength; // hits until it is lost
    float speed;      // metres a frame
} fighter;

typedef struct game {
    espl_world *world;
    espl_component guns, fighter;
    espl_entity prefab;
    espl_entity ships[FLEETS][SHIPS];
} game;

static void make_game(game *g)
{
    const uint32_t references[] = {offsetof(guns, turret), offsetof(guns, muzzle)};
    const espl_component_def guns_def = {.name = "guns",
                                         .size = sizeof(guns),
                                         .alignment = _Alignof(guns),
                                         .references = references,
                                         .reference_count = 2};
    const espl_component_def fighter_def = {
        .name = "fighter", .size = sizeof(fighter), .alignment = _Alignof(fighter)};

    must(espl_world_create(NULL, &g->world));
    must(espl_component_register(g->world, &guns_def, &g->guns));
    must(espl_component_register(g->world, &fighter_def, &g->fighter));
}

static void make_prefab(game *g)
{
    const espl_component set[] = {ESPL_TRANSFORM, ESPL_PREFAB, g->guns};
    espl_entity part[PARTS];

    must(espl_create(g->world, set, 3, 1, &part[HULL])); // the hull alone has guns
    must(espl_create(g->world, set, 2, 2, &part[TURRET]));
    must(espl_set_world_position(g->world, part[TURRET], (float[]){0, 2, 0}));
    must(espl_set_world_position(g->world, part[MUZZLE], (float[]){0, 2, 5}));
    must(espl_attach(g->world, part[TURRET], part[HULL], NULL));
    must(espl_attach(g->world, part[MUZZLE], part[TURRET], NULL));

    const guns own = {part[TURRET], part[MUZZLE]};

    must(espl_set_component(g->world, part[HULL], g->guns, &own, sizeof own));
    g->prefab = part[HULL];
}

// Red comes from the left, blue from the right, in columns, 20 metres from ship to ship.
static void record_fleet(const game *g, espl_recorder *recorder, uint32_t fleet,
                         espl_entity pending[SHIPS])
{
    const float side = fleet == RED ? -1 : 1;

    for (int i = 0; i < SHIPS; ++i) {
        const fighter state = {fleet, fleet == RED ? 3 : 2, 5};
        const espl_component_value value = {g->fighter, sizeof state, &state};
        const espl_instance_def def = {
            .source = g->prefab,
            .place = ESPL_PLACE_WORLD,
            .transform = {{0, -side, 0, 1}, {side * 40, 0, 20 * (float)i}, 1, {1, 1, 1}, 0},
            .values = &value,
            .value_count = 1};

        must(espl_record_instantiate(recorder, 0, &def, 1, &pending[i]));
    }
}

static void start_fleets(game *g)
{
    espl_entity pending[FLEETS][SHIPS];
    espl_command_buffer *commands = NULL;
    espl_report report;

    must(espl_command_buffer_create(g->world, 1, &commands));
    for (uint32_t fleet = 0; fleet < FLEETS; ++fleet) {
        record_fleet(g, espl_command_buffer_recorder(commands, 0), fleet, pending[fleet]);
    }
    must(espl_play(g->world, commands, &report));
    printf("%zu commands, %zu refused, %zu entities\n", report.accepted, report.refused,
           report.created);
    for (int fleet = 0; fleet < FLEETS; ++fleet) {
        for (int i = 0; i < SHIPS; ++i) {
            must(espl_command_buffer_resolve(commands, pending[fleet][i], &g->ships[fleet][i]));
        }
    }
    espl_command_buffer_destroy(commands);
}

static void print_muzzle(const game *g, const char *who, espl_entity ship)
{
    guns own;
    float at[3];

    must(espl_get_component(g->world, ship, g->guns, &own, sizeof own));
    must(espl_get_world_position(g->world, own.muzzle, at));
    printf("%s: muzzle at %.1f, %.1f, %.1f\n", who, (double)at[0], (double)at[1], (double)at[2]);
}

int main(void)
{
    game g = {0};

    make_game(&g);
    make_prefab(&g);
    start_fleets(&g);
    print_muzzle(&g, "second red ship", g.ships[RED][1]);
    print_muzzle(&g, "last blue ship", g.ships[BLUE][SHIPS - 1]);
    espl_world_destroy(g.world);
    return 0;
}

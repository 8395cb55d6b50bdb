// SPDX-License-Identifier: MIT
// Step 4 of guides/battle.md: each fleet is recorded by a thread of its own, into a lane of its own of
// one command buffer, and the sync point plays both. The world is the same as without threads.
#include "common.h"

#include <pthread.h>
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

    // With the same tag, two runs give the same handles.
    must(espl_world_create(&(espl_world_def){.tag = 1}, &g->world));
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

// What one thread records.
typedef struct job {
    pthread_t thread;
    const game *game;
    espl_recorder *recorder;
    uint32_t fleet;
    espl_entity pending[SHIPS];
} job;

static void *run_job(void *argument)
{
    job *const j = argument;

    record_fleet(j->game, j->recorder, j->fleet, j->pending);
    return NULL;
}

static void start_fleets(game *g, bool with_threads)
{
    espl_command_buffer *commands = NULL;
    job jobs[FLEETS] = {0};

    must(espl_command_buffer_create(g->world, FLEETS, &commands));
    for (uint32_t i = 0; i < FLEETS; ++i) {
        jobs[i].game = g;
        jobs[i].recorder = espl_command_buffer_recorder(commands, i);
        jobs[i].fleet = i;
        if (!with_threads) {
            run_job(&jobs[i]);
        } else if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) != 0) {
            exit(EXIT_FAILURE);
        }
    }
    for (int i = 0; with_threads && i < FLEETS; ++i) {
        (void)pthread_join(jobs[i].thread, NULL);
    }
    must(espl_command_buffer_submit(commands));
    must(espl_sync(g->world, NULL)); // the sync point: plays all that was submitted
    for (int i = 0; i < FLEETS * SHIPS; ++i) {
        must(espl_command_buffer_resolve(commands, jobs[i / SHIPS].pending[i % SHIPS],
                                         &g->ships[i / SHIPS][i % SHIPS]));
    }
    espl_command_buffer_destroy(commands);
}

// Play a whole game so far, and return the hash of its world: all bits, handles and storage.
static uint64_t hash_game(bool with_threads)
{
    uint64_t hash = 0;
    game g = {0};

    make_game(&g);
    make_prefab(&g);
    start_fleets(&g, with_threads);
    must(espl_hash(g.world, ESPL_HASH_PHYSICAL, &hash));
    printf("%s threads, the last blue ship is %u.%u\n", with_threads ? "with" : "without",
           g.ships[BLUE][SHIPS - 1].index, g.ships[BLUE][SHIPS - 1].generation);
    espl_world_destroy(g.world);
    return hash;
}

int main(void)
{
    const bool is_same = hash_game(true) == hash_game(false);

    printf("the two worlds are %s\n", is_same ? "the same, bit for bit" : "different");
    return is_same ? EXIT_SUCCESS : EXIT_FAILURE;
}

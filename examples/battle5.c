// SPDX-License-Identifier: MIT
// Step 5 of guides/battle.md: frames. Ships fly by one batch and fire from a query. A ship that is lost
// is destroyed at the end of the frame; its turret stays behind as a wreck, for a tug to collect.
#include "common.h"

#include <pthread.h>
#include <stddef.h>

enum { HULL, TURRET, MUZZLE, PARTS };
enum { RED, BLUE, FLEETS };
enum { SHIPS = 4 }; // in each fleet
enum { FRAMES = 10, RANGE = 45 };

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
    espl_component guns, fighter, wreck; // the last one is a tag
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
    must(espl_component_register(g->world, &(espl_component_def){.name = "wreck"}, &g->wreck));
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

static void start_fleets(game *g)
{
    espl_command_buffer *commands = NULL;
    job jobs[FLEETS] = {0};

    must(espl_command_buffer_create(g->world, FLEETS, &commands));
    for (uint32_t i = 0; i < FLEETS; ++i) {
        jobs[i].game = g;
        jobs[i].recorder = espl_command_buffer_recorder(commands, i);
        jobs[i].fleet = i;
        if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) != 0) {
            exit(EXIT_FAILURE);
        }
    }
    for (int i = 0; i < FLEETS; ++i) {
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

// All ships fly ahead: one batch, which goes through each hierarchy once.
static void fly(const game *g)
{
    const espl_query_def def = {.all = &g->fighter, .all_count = 1};
    espl_write writes[FLEETS * SHIPS];
    espl_write_list list = {writes, 0, FLEETS * SHIPS};
    espl_query query;

    must(espl_query_begin(g->world, &def, &query));
    while (espl_query_next(&query)) {
        const fighter *const ships = espl_query_read(&query, g->fighter, sizeof *ships);

        for (size_t row = 0; row < query.count; ++row) {
            const float step[3] = {0, 0, ships[row].speed};

            must(espl_write_list_push(&list, query.entities[row], ESPL_WRITE_TRANSLATE_OWN, step));
        }
    }
    must(espl_write_listed(g->world, &list, NULL));
}

// A ship is lost. Its turret comes off, stays where it is, and is a wreck; the rest is destroyed.
static void record_loss(const game *g, espl_recorder *recorder, espl_entity ship)
{
    guns own;

    must(espl_get_component(g->world, ship, g->guns, &own, sizeof own));
    must(espl_record_detach(recorder, 0, own.turret, ESPL_KEEP_WORLD));
    must(espl_record_add_component(recorder, 0, own.turret, g->wreck, NULL, 0));
    must(espl_record_destroy(recorder, 0, ship, ESPL_EXTENT_OWNED));
}

// Aim at a ship and fire when it is in range.
static void fire(const game *g, espl_recorder *recorder, const guns *own, espl_entity target)
{
    float there[3], seen[3];
    fighter state;

    must(espl_get_world_position(g->world, target, there));
    must(espl_look_at(g->world, own->turret, there, NULL, ESPL_AXIS_FORWARD));
    // The muzzle has turned with the turret already.
    must(espl_convert(g->world, own->muzzle, ESPL_POINT_TO_LOCAL, there, seen));
    if (seen[2] > RANGE) {
        return;
    }
    must(espl_get_component(g->world, target, g->fighter, &state, sizeof state));
    state.strength -= 1;
    must(espl_set_component(g->world, target, g->fighter, &state, sizeof state));
    if (state.strength == 0) {
        record_loss(g, recorder, target);
    }
}

static espl_entity find_living(const game *g, uint32_t fleet)
{
    for (int i = 0; i < SHIPS; ++i) {
        if (espl_is_alive(g->world, g->ships[fleet][i])) {
            return g->ships[fleet][i];
        }
    }
    return espl_entity_null();
}

// Each ship fires at the first living ship of the other fleet.
static void fight(const game *g, espl_recorder *recorder)
{
    const espl_component all[] = {g->fighter, g->guns};
    espl_query query;

    must(espl_query_begin(g->world, &(espl_query_def){.all = all, .all_count = 2}, &query));
    while (espl_query_next(&query)) {
        const fighter *const ships = espl_query_read(&query, g->fighter, sizeof *ships);
        const guns *const own = espl_query_read(&query, g->guns, sizeof *own);

        for (size_t row = 0; row < query.count; ++row) {
            const espl_entity target = find_living(g, ships[row].fleet == RED ? BLUE : RED);

            if (!espl_entity_is_null(target)) {
                fire(g, recorder, &own[row], target);
            }
        }
    }
}

static void play_frame(const game *g, espl_command_buffer *commands, int frame)
{
    espl_report report;

    fly(g);
    fight(g, espl_command_buffer_recorder(commands, 0));
    must(espl_play(g->world, commands, &report));
    espl_command_buffer_reset(commands);
    if (report.accepted != 0) {
        printf("frame %d: %zu commands, %zu refused; entities destroyed: %zu\n", frame,
               report.accepted, report.refused, report.destroyed);
    }
}

// A tug takes all wrecks aboard: each snaps to the place of the tug.
static espl_entity salvage(const game *g, espl_command_buffer *commands)
{
    const espl_attach_options aboard = {.position = ESPL_SNAP, .rotation = ESPL_SNAP};
    const espl_component set[] = {ESPL_TRANSFORM};
    espl_entity tug;
    espl_query query;

    must(espl_create(g->world, set, 1, 1, &tug));
    must(espl_set_world_position(g->world, tug, (float[]){0, 0, -50}));
    must(espl_query_begin(g->world, &(espl_query_def){.all = &g->wreck, .all_count = 1}, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            must(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0,
                                    query.entities[row], tug, &aboard));
        }
    }
    must(espl_play(g->world, commands, NULL));
    espl_command_buffer_reset(commands);
    return tug;
}

static void print_position(const game *g, const char *what, espl_entity entity)
{
    float at[3];

    must(espl_get_world_position(g->world, entity, at));
    printf("%s: %.1f, %.1f, %.1f\n", what, (double)at[0], (double)at[1], (double)at[2]);
}

int main(void)
{
    espl_command_buffer *commands = NULL;
    game g = {0};
    guns first;

    make_game(&g);
    make_prefab(&g);
    start_fleets(&g);
    must(espl_get_component(g.world, g.ships[BLUE][0], g.guns, &first, sizeof first));
    must(espl_command_buffer_create(g.world, 1, &commands));
    for (int frame = 1; frame <= FRAMES; ++frame) {
        play_frame(&g, commands, frame);
    }
    print_position(&g, "a wreck in space", first.turret);

    const espl_entity tug = salvage(&g, commands);

    print_position(&g, "the wreck aboard", first.turret);
    printf("%zu wrecks aboard\n", espl_get_children(g.world, tug, 0, NULL));
    espl_command_buffer_destroy(commands);
    espl_world_destroy(g.world);
    return 0;
}

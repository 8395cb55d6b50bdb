// SPDX-License-Identifier: MIT
// Two processes play a battle of two fleets over pipes that take 6 to 8 frames, 100 ms and more at 60 frames a
// second. Neither waits: each predicts what the other player does. Where an input that arrives is another one, the
// world goes back to the frame before it, and the frames since then are simulated again. Checksums of frames whose
// inputs are known are compared.
//
//     rollback [FRAMES [TAPE]]
//
// The calls of one of the worlds go to the file TAPE. See what is rolled back with: espalier view TAPE
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HULL, TURRET, MUZZLE, PARTS };
enum { RED, BLUE, FLEETS };
enum { SHIPS = 4 }; // in each fleet
enum { FRAMES = 10000, DELAY = 6, JITTER = 2, LATE = DELAY + JITTER };
enum { FIELD = 120, HIT = 4, RELOAD = 12, FLIGHT = 30, DRIFT = 90 };

// What a player does in a frame: bits.
enum { LEFT = 1, RIGHT = 2, FIRE = 4, LAUNCH = 8 };

// --- The battle: all of its state is in the world, so that all of it goes back ---

typedef struct guns {
    espl_entity turret, muzzle;
} guns;

typedef struct fighter {
    uint32_t fleet, strength, reload;
} fighter;

// A shot, or a turret that has come off: it flies for a while.
typedef struct loose {
    uint32_t fleet, frames;
} loose;

typedef struct tally {
    uint32_t lost[FLEETS];
} tally;

typedef struct game {
    espl_world *world;
    espl_history *history;
    espl_command_buffer *commands;
    espl_recorder *recorder;
    espl_component guns, fighter, loose, tally;
    espl_entity ship, shot, score; // two prefabs, and what counts losses
} game;

static espl_component add(const game *g, const char *name, size_t size, const uint32_t *references,
                          size_t count)
{
    const espl_component_def def = {.name = name,
                                    .size = size,
                                    .alignment = _Alignof(uint32_t),
                                    .references = references,
                                    .reference_count = count};
    espl_component out = 0;

    must(espl_component_register(g->world, &def, &out));
    return out;
}

static void make_prefabs(game *g)
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
    g->ship = part[HULL];
    must(espl_create(g->world, set, 2, 1, &g->shot));
    must(espl_create(g->world, &g->tally, 1, 1, &g->score));
}

static void append(void *user, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, user) != size) {
        perror("tape");
    }
}

// @param file  where the tape of the world goes, or NULL.
static void make_game(game *g, FILE *file)
{
    const uint32_t references[] = {offsetof(guns, turret), offsetof(guns, muzzle)};
    const espl_history_def history = {.frames = LATE + 2, .flags = ESPL_HISTORY_HASH};

    // With the same tag, both processes have the same handles.
    const espl_world_def def = {.tag = 1, .tape = {file, file != NULL ? append : NULL}};

    must(espl_world_create(&def, &g->world));
    g->guns = add(g, "guns", sizeof(guns), references, 2);
    g->fighter = add(g, "fighter", sizeof(fighter), NULL, 0);
    g->loose = add(g, "loose", sizeof(loose), NULL, 0);
    g->tally = add(g, "tally", sizeof(tally), NULL, 0);
    make_prefabs(g);
    must(espl_command_buffer_create(g->world, 1, &g->commands));
    g->recorder = espl_command_buffer_recorder(g->commands, 0);
    must(espl_history_create(g->world, &history, &g->history));
}

static void end_game(game *g)
{
    espl_history_destroy(g->history);
    espl_command_buffer_destroy(g->commands);
    espl_world_destroy(g->world);
}

// Red comes from the left, blue from the right.
static void launch(const game *g, uint32_t fleet, uint32_t number)
{
    const float side = fleet == RED ? -1 : 1;
    const fighter state = {fleet, 3, number};
    const espl_component_value value = {g->fighter, sizeof state, &state};
    const espl_instance_def def = {
        .source = g->ship,
        .place = ESPL_PLACE_WORLD,
        .transform = {{0, -side, 0, 1}, {side * 60, 0, 20 * (float)number}, 1, {1, 1, 1}, 0},
        .values = &value,
        .value_count = 1};

    must(espl_record_instantiate(g->recorder, 0, &def, 1, NULL));
}

// A turret turns to the target, and a shot leaves its muzzle.
static void fire(const game *g, const guns *own, uint32_t fleet, const float target[3])
{
    const loose state = {fleet, FLIGHT};
    const espl_component_value value = {g->loose, sizeof state, &state};
    espl_instance_def def = {
        .source = g->shot, .place = ESPL_PLACE_WORLD, .values = &value, .value_count = 1};

    must(espl_look_at(g->world, own->turret, target, NULL, ESPL_AXIS_FORWARD));
    must(espl_get_world_transform(g->world, own->muzzle, &def.transform));
    must(espl_record_instantiate(g->recorder, 0, &def, 1, NULL));
}

// A ship is lost. Its turret comes off, and drifts for a while; the rest is destroyed.
static void lose(const game *g, espl_entity ship, uint32_t fleet)
{
    const loose state = {FLEETS, DRIFT};
    tally counts;
    guns own;

    must(espl_get_component(g->world, ship, g->guns, &own, sizeof own));
    must(espl_record_detach(g->recorder, 0, own.turret, ESPL_KEEP_WORLD));
    must(espl_record_add_component(g->recorder, 0, own.turret, g->loose, &state, sizeof state));
    must(espl_record_destroy(g->recorder, 0, ship, ESPL_EXTENT_OWNED));
    must(espl_get_component(g->world, g->score, g->tally, &counts, sizeof counts));
    counts.lost[fleet] += 1;
    must(espl_set_component(g->world, g->score, g->tally, &counts, sizeof counts));
}

// The ships that are there, as they were when the frame began.
typedef struct fleet_list {
    espl_entity ships[FLEETS * SHIPS];
    float places[FLEETS * SHIPS][3];
    fighter states[FLEETS * SHIPS];
    uint32_t count, in_fleet[FLEETS];
} fleet_list;

static fleet_list list_ships(const game *g)
{
    const espl_query_def def = {.all = &g->fighter, .all_count = 1};
    fleet_list out = {.count = 0};
    espl_query query;

    must(espl_query_begin(g->world, &def, &query));
    while (espl_query_next(&query)) {
        const fighter *const states = espl_query_read(&query, g->fighter, sizeof *states);

        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t number = out.count++;

            out.ships[number] = query.entities[row];
            out.states[number] = states[row];
            out.in_fleet[states[row].fleet] += 1;
            must(espl_get_world_position(g->world, out.ships[number], out.places[number]));
        }
    }
    return out;
}

static float distance(float a, float b)
{
    return a < b ? b - a : a - b;
}

// The first ship of the other fleet that is within reach, or the count of all ships.
static uint32_t find_target(const fleet_list *all, uint32_t fleet, const float from[3], float reach)
{
    uint32_t found = 0;

    while (found < all->count &&
           (all->states[found].fleet == fleet || distance(from[0], all->places[found][0]) > reach ||
            distance(from[2], all->places[found][2]) > reach)) {
        found += 1;
    }
    return found;
}

// Ships fly, turn, and turn back at the border of the field.
static void steer(const game *g, const fleet_list *all, uint32_t i, uint32_t input)
{
    const float turn = (input & LEFT) != 0 ? -0.03F : (input & RIGHT) != 0 ? 0.03F : 0;

    if (distance(all->places[i][0], 0) > FIELD || distance(all->places[i][2], 0) > FIELD) {
        must(espl_look_at(g->world, all->ships[i], (float[]){0, 0, 0}, NULL, ESPL_AXIS_FORWARD));
    } else if (turn != 0) {
        must(espl_rotate_own(g->world, all->ships[i], (float[]){0, turn, 0, 1}));
    }
    must(espl_translate_own(g->world, all->ships[i], (float[]){0, 0, 0.75F}));
}

static void act(const game *g, const fleet_list *all, uint32_t i, uint32_t input)
{
    fighter state = all->states[i];
    const uint32_t target = find_target(all, state.fleet, all->places[i], 70);

    steer(g, all, i, input);
    state.reload -= state.reload != 0 ? 1 : 0;
    if ((input & FIRE) != 0 && state.reload == 0 && target != all->count) {
        guns own;

        must(espl_get_component(g->world, all->ships[i], g->guns, &own, sizeof own));
        fire(g, &own, state.fleet, all->places[target]);
        state.reload = RELOAD;
    }
    must(espl_set_component(g->world, all->ships[i], g->fighter, &state, sizeof state));
}

// A shot meets a ship, and both are hit.
static bool hits(const game *g, const fleet_list *all, espl_entity shot, uint32_t fleet)
{
    float place[3];
    fighter state;

    must(espl_get_world_position(g->world, shot, place));
    const uint32_t target = find_target(all, fleet, place, HIT);

    if (fleet == FLEETS || target == all->count) {
        return false;
    }
    must(espl_get_component(g->world, all->ships[target], g->fighter, &state, sizeof state));
    if (state.strength != 0) {
        state.strength -= 1;
        must(espl_set_component(g->world, all->ships[target], g->fighter, &state, sizeof state));
        if (state.strength == 0) {
            lose(g, all->ships[target], state.fleet);
        }
    }
    return true;
}

static void fly_loose(const game *g, const fleet_list *all)
{
    const espl_query_def def = {.all = &g->loose, .all_count = 1};
    espl_query query;

    must(espl_query_begin(g->world, &def, &query));
    while (espl_query_next(&query)) {
        loose *const states = espl_query_write(&query, g->loose, sizeof *states);

        for (size_t row = 0; row < query.count; ++row) {
            const float step = states[row].fleet == FLEETS ? 0.25F : 4;

            must(espl_translate_own(g->world, query.entities[row], (float[]){0, 0, step}));
            states[row].frames -= 1;
            if (states[row].frames == 0 || hits(g, all, query.entities[row], states[row].fleet)) {
                must(espl_record_destroy(g->recorder, 0, query.entities[row], ESPL_EXTENT_OWNED));
            }
        }
    }
}

// One frame: nothing but the world and the inputs decides what it becomes.
static void simulate(const game *g, const uint8_t inputs[FLEETS])
{
    const fleet_list all = list_ships(g);

    for (uint32_t i = 0; i < all.count; ++i) {
        act(g, &all, i, inputs[all.states[i].fleet]);
    }
    fly_loose(g, &all);
    for (uint32_t fleet = 0; fleet < FLEETS; ++fleet) {
        if ((inputs[fleet] & LAUNCH) != 0 && all.in_fleet[fleet] < SHIPS) {
            launch(g, fleet, all.in_fleet[fleet]);
        }
    }
    must(espl_play(g->world, g->commands, NULL));
    espl_command_buffer_reset(g->commands);
}

// --- Two players ---

// What one process tells the other in each frame.
typedef struct message {
    uint32_t frame, input;
    uint64_t checksum; // of the frame LATE + 1 before it
} message;

typedef struct peer {
    game game;
    uint32_t me, other;
    int in, out; // pipes
    uint32_t frames;
    uint8_t (*inputs)[FLEETS]; // [frames] as far as they are known, then as they were predicted
    uint64_t *checksums;       // [frames + 1]
    uint32_t known;            // frames whose inputs are known
    uint32_t wrong;            // first frame that was predicted wrongly, or `now`
    uint32_t rewinds, again, deepest, compared, different;
    FILE *tape; // or NULL
} peer;

// Choose the input of a player: a course that stays the same for a while. The other process gets it from the pipe.
static uint8_t choose(uint32_t player, uint32_t frame)
{
    uint32_t bits = (frame / (11 + player)) * 2654435761U + player * 40503U;

    bits = (bits ^ bits >> 15) * 2246822519U;
    return (uint8_t)(bits >> 13 & (LEFT | RIGHT | FIRE | LAUNCH));
}

// Frames until an input arrives.
static uint32_t delay_of(uint32_t frame)
{
    return DELAY + frame / 7 % (JITTER + 1);
}

static void exchange(bool is_done)
{
    if (!is_done) {
        fprintf(stderr, "the other process has ended\n");
        exit(EXIT_FAILURE);
    }
}

static void send_input(const peer *p, uint32_t now)
{
    const message m = {now, now < p->frames ? p->inputs[now][p->me] : 0,
                       now > LATE ? p->checksums[now - LATE - 1] : 0};

    exchange(write(p->out, &m, sizeof m) == (ssize_t)sizeof m);
}

static void receive_input(peer *p)
{
    message m = {0};
    size_t size = 0;

    while (size < sizeof m) {
        const ssize_t got = read(p->in, (char *)&m + size, sizeof m - size);

        exchange(got > 0);
        size += (size_t)got;
    }
    if (m.frame > LATE) {
        p->compared += 1;
        p->different += m.checksum != p->checksums[m.frame - LATE - 1] ? 1 : 0;
    }
    if (m.frame < p->frames) {
        uint8_t *const input = &p->inputs[m.frame][p->other];

        p->wrong = *input != m.input && m.frame < p->wrong ? m.frame : p->wrong;
        *input = (uint8_t)m.input;
    }
    p->known = m.frame + 1;
}

static void mark(peer *p, uint32_t frame)
{
    must(espl_history_mark(p->game.history, frame));
    must(espl_tape_frame(p->game.world)); // does nothing without a tape
}

// Go back to the first frame that was predicted wrongly, and simulate up to now. Predictions repeat what is known.
static void catch_up(peer *p, uint32_t now)
{
    const uint32_t from = p->wrong;

    for (uint32_t i = p->known; i < now; ++i) {
        p->inputs[i][p->other] = p->known != 0 ? p->inputs[p->known - 1][p->other] : 0;
    }
    if (from >= now) {
        return;
    }
    must(espl_history_rewind(p->game.history, from, 0, NULL));
    for (uint32_t i = from; i < now; ++i) {
        simulate(&p->game, p->inputs[i]);
        mark(p, i + 1);
    }
    p->rewinds += 1;
    p->again += now - from;
    p->deepest = now - from > p->deepest ? now - from : p->deepest;
}

// Frames are final as far as all inputs before them are known.
static void note_checksums(peer *p, uint32_t noted)
{
    for (uint32_t i = noted; i <= p->known; ++i) {
        must(espl_history_hash(p->game.history, i, &p->checksums[i]));
    }
}

static void play(peer *p)
{
    uint32_t noted = 0;

    make_game(&p->game, p->tape);
    mark(p, 0);
    for (uint32_t now = 0; now < p->frames; ++now) {
        p->inputs[now][p->me] = choose(p->me, now);
        send_input(p, now);
        p->wrong = now;
        while (p->known + delay_of(now) <= now) {
            receive_input(p);
        }
        catch_up(p, now);
        note_checksums(p, noted);
        noted = p->known;
        p->inputs[now][p->other] = p->known != 0 ? p->inputs[p->known - 1][p->other] : 0;
        simulate(&p->game, p->inputs[now]);
        mark(p, now + 1);
    }
    // The rest of the inputs, and of the checksums.
    p->wrong = p->frames;
    while (p->known < p->frames) {
        receive_input(p);
    }
    catch_up(p, p->frames);
    note_checksums(p, noted);
    for (uint32_t i = p->frames; i <= p->frames + LATE + 1; ++i) {
        send_input(p, i);
    }
    for (uint32_t i = p->frames; i <= p->frames + LATE + 1; ++i) {
        receive_input(p);
    }
}

static void print_report(const peer *p)
{
    tally counts;

    must(espl_get_component(p->game.world, p->game.score, p->game.tally, &counts, sizeof counts));
    printf("%u frames, %d to %d frames apart\n", p->frames, DELAY, LATE);
    printf("%u rewinds, of %u frames at most; %u frames simulated again\n", p->rewinds, p->deepest,
           p->again);
    printf("lost: %u red ships, %u blue ones\n", counts.lost[RED], counts.lost[BLUE]);
    printf("%u frames compared, %u differ\n", p->compared, p->different);
}

static bool play_as(uint32_t player, int in, int out, uint32_t frames, FILE *tape)
{
    peer p = {
        .me = player, .other = 1 - player, .in = in, .out = out, .frames = frames, .tape = tape};

    p.inputs = calloc(frames, sizeof *p.inputs);
    p.checksums = calloc(frames + 1, sizeof *p.checksums);
    if (p.inputs == NULL || p.checksums == NULL) {
        must(ESPL_ERR_NO_MEMORY);
    }
    play(&p);
    if (player == RED) {
        print_report(&p);
    }
    end_game(&p.game);
    free(p.inputs);
    free(p.checksums);
    return p.different == 0;
}

int main(int argc, char **argv)
{
    const uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : FRAMES;
    FILE *const tape = argc > 2 ? fopen(argv[2], "wb") : NULL;
    int to_blue[2], to_red[2], status = 0;

    if (frames <= LATE || (argc > 2 && tape == NULL) || pipe(to_blue) != 0 || pipe(to_red) != 0) {
        return EXIT_FAILURE;
    }
    const pid_t blue = fork();

    if (blue < 0) {
        return EXIT_FAILURE;
    }
    if (blue == 0) {
        return play_as(BLUE, to_blue[0], to_red[1], frames, NULL) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    // The end of the other process is the end of its pipe.
    (void)close(to_red[1]);
    (void)close(to_blue[0]);

    const bool is_same = play_as(RED, to_red[0], to_blue[1], frames, tape);
    const bool is_kept = tape == NULL || fclose(tape) == 0;

    return waitpid(blue, &status, 0) == blue && status == 0 && is_same && is_kept ? EXIT_SUCCESS
                                                                                  : EXIT_FAILURE;
}

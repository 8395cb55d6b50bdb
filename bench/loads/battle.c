// SPDX-License-Identifier: MIT
// Load `battle`: ships of eleven nodes fly and shoot. Every frame each ship moves, guns at random
// fire an effect that stays on them and a bullet that flies on by itself, and what was fired 20
// frames ago is gone. The checksum covers the ships and all that is alive. After the battle in
// space by which an engine's transform hierarchy was shown to its readers.
#include "bench/loads/load.h"
#include "bench/loads/ship.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

#include <string.h>

enum { battle_seed = 109, arms_seed = 110, frames_of_life = 20 };

/// What flies by itself.
struct flight {
    struct pose pose;
    float velocity[3]; ///< A frame.
};

struct battle_state {
    const struct contest *contest;
    const struct forest *forest;
    uint32_t count; ///< Shots of a frame.

    // Of every contestant, shots of frames that are alive: [contestants][frames_of_life][count].
    scheme_handle *effects;
    scheme_handle *bullets;
    struct flight *flights;

    // Of the frame at hand.
    struct scheme_write *ship_writes;   ///< [trees]
    struct scheme_write *bullet_writes; ///< [frames_of_life * count]
    size_t bullet_write_count;
    scheme_handle *doomed;       ///< [2 * count]
    struct scheme_shot *shots;   ///< [count]
    scheme_handle *effects_made; ///< [count]
    scheme_handle *bullets_made; ///< [count]
};

// Where the shots of one frame begin in the arrays of a contestant, and those that die 20 later.
static size_t shots_of(const struct battle_state *state, const struct contestant *who,
                       unsigned frame)
{
    const size_t index = (size_t)(who - state->contest->contestants);

    return (index * frames_of_life + frame % frames_of_life) * state->count;
}

static void move_ships(const struct battle_state *state, const struct contestant *who,
                       struct draw *draw)
{
    for (uint32_t ship = 0; ship < state->forest->shape.trees; ++ship) {
        const uint32_t root = forest_root(state->forest, ship);

        state->ship_writes[ship] = (struct scheme_write){who->scheme->handle_of(who->world, root),
                                                         draw_pose(draw, ROOT_SIDE)};
    }
}

// Those that were fired 20 frames ago do not move any more.
static void move_bullets(struct battle_state *state, const struct contestant *who)
{
    const unsigned oldest = who->frame < frames_of_life ? 0 : who->frame - frames_of_life + 1;

    state->bullet_write_count = 0;
    for (unsigned frame = oldest; frame < who->frame; ++frame) {
        const size_t begin = shots_of(state, who, frame);

        for (size_t i = begin; i < begin + state->count; ++i) {
            struct flight *const flight = &state->flights[i];

            for (int axis = 0; axis < 3; ++axis) {
                flight->pose.position[axis] += flight->velocity[axis];
            }
            state->bullet_writes[state->bullet_write_count++] =
                (struct scheme_write){state->bullets[i], flight->pose};
        }
    }
}

// Every second effect is a large one. The velocity goes where the bullet's flight will be kept,
// which nobody needs any more: its shot dies in this frame.
static void draw_shots(const struct battle_state *state, const struct contestant *who,
                       struct draw *draw)
{
    struct flight *const flights = state->flights + shots_of(state, who, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        const uint32_t ship = draw_below(draw, state->forest->shape.trees);
        const uint32_t gun = first_gun + draw_below(draw, guns_of_ship);
        const uint32_t node = forest_root(state->forest, ship) + gun;

        state->shots[i] = (struct scheme_shot){
            .gun = who->scheme->handle_of(who->world, node),
            .effect = draw_pose(draw, MEMBER_SIDE),
            .bullet = draw_pose(draw, MEMBER_SIDE),
            .is_large = i % 2 != 0,
        };
        for (int axis = 0; axis < 3; ++axis) {
            flights[i].velocity[axis] = (float)(draw_unit(draw) - 0.5);
        }
    }
}

static void prepare(void *load, struct contestant *who)
{
    struct battle_state *const state = load;
    const size_t old = shots_of(state, who, who->frame);
    const size_t bytes = state->count * sizeof(scheme_handle);
    struct draw draw = draw_begin(battle_seed, who->frame);

    memcpy(state->doomed, state->effects + old, bytes);
    memcpy(state->doomed + state->count, state->bullets + old, bytes);
    move_ships(state, who, &draw);
    move_bullets(state, who);
    draw_shots(state, who, &draw);
}

static void play(void *load, struct contestant *who)
{
    const struct battle_state *const state = load;
    const struct scheme_battle_frame frame = {
        .ships = state->ship_writes,
        .ship_count = state->forest->shape.trees,
        .bullets = state->bullet_writes,
        .bullet_count = state->bullet_write_count,
        .doomed = state->doomed,
        .doomed_count = who->frame < frames_of_life ? 0 : 2 * (size_t)state->count,
        .shots = state->shots,
        .shot_count = state->count,
        .effects_made = state->effects_made,
        .bullets_made = state->bullets_made,
    };

    who->scheme->battle(who->world, &frame);
}

static void settle(void *load, struct contestant *who)
{
    const struct battle_state *const state = load;
    const size_t begin = shots_of(state, who, who->frame);

    for (uint32_t i = 0; i < state->count; ++i) {
        state->effects[begin + i] = state->effects_made[i];
        state->bullets[begin + i] = state->bullets_made[i];
        state->flights[begin + i].pose = state->shots[i].bullet;
    }
}

static uint64_t checksum_of_shot(const struct contestant *who, uint64_t sum, scheme_handle effect,
                                 scheme_handle bullet, bool is_large)
{
    struct pose worlds[PREFAB_SIZE + 1];
    const size_t size = is_large ? PREFAB_SIZE : 1;

    if (is_large) {
        who->scheme->spawn_worlds(who->world, effect, worlds);
    } else {
        worlds[0] = who->scheme->world_of(who->world, effect);
    }
    worlds[size] = who->scheme->world_of(who->world, bullet);
    return checksum_add(sum, worlds, (size + 1) * sizeof *worlds);
}

// The living shots, from the oldest to the youngest, go before the ships' nodes.
static uint64_t checksum_of(const struct battle_state *state, struct contestant *who)
{
    for (unsigned age = 0; age < frames_of_life; ++age) {
        const size_t begin = shots_of(state, who, who->frame + age);

        for (uint32_t i = 0; i < state->count; ++i) {
            who->readings = checksum_of_shot(who, who->readings, state->effects[begin + i],
                                             state->bullets[begin + i], i % 2 != 0);
        }
    }
    return contest_checksum(who, state->forest->count);
}

static void report_one(struct contest *contest, const struct battle_state *state,
                       struct contestant *who)
{
    static const struct {
        const char *unit;
        size_t per_mille;
        size_t least; ///< Samples, for it to be other than the longest.
    } tails[] = {{"ms p99", 990, 100}, {"ms p99.9", 999, 1000}, {"ms max", 1000, 1}};
    const double median = samples_median(&who->samples);
    const uint64_t checksum = checksum_of(state, who);

    contest_report(contest, who, median / 1e6, "ms p50", checksum);
    for (size_t i = 0; i < CASE_COUNT(tails); ++i) {
        const double tail = samples_quantile(&who->samples, tails[i].per_mille);

        if (who->samples.count >= tails[i].least) {
            contest_report(contest, who, tail / 1e6, tails[i].unit, checksum);
        }
    }
    contest_report(contest, who, samples_quantile(&who->samples, 990) / median, "p99/p50",
                   checksum);
    contest_report_parts(contest, who, state->count, "ns/effect", checksum);
}

// A variant takes as long as all others together: in the long case only.
static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    return scheme->battle != NULL && (!scheme->is_variant || !at->is_short);
}

static struct battle_state state_create(const struct contest *contest, const struct forest *forest,
                                        uint32_t count)
{
    const size_t alive = (size_t)frames_of_life * count;

    return (struct battle_state){
        .contest = contest,
        .forest = forest,
        .count = count,
        .effects = block_new(contest->count * alive, sizeof(scheme_handle)),
        .bullets = block_new(contest->count * alive, sizeof(scheme_handle)),
        .flights = block_new(contest->count * alive, sizeof(struct flight)),
        .ship_writes = block_new(forest->shape.trees, sizeof(struct scheme_write)),
        .bullet_writes = block_new(alive, sizeof(struct scheme_write)),
        .doomed = block_new(2 * (size_t)count, sizeof(scheme_handle)),
        .shots = block_new(count, sizeof(struct scheme_shot)),
        .effects_made = block_new(count, sizeof(scheme_handle)),
        .bullets_made = block_new(count, sizeof(scheme_handle)),
    };
}

static void state_destroy(struct battle_state *state)
{
    free(state->effects);
    free(state->bullets);
    free(state->flights);
    free(state->ship_writes);
    free(state->bullet_writes);
    free(state->doomed);
    free(state->shots);
    free(state->effects_made);
    free(state->bullets_made);
}

// The long case alone has frames enough for a p99.9.
static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create_copies(ship_parents, ship_size, at->shape.trees);
    struct battle_state state = state_create(contest, &forest, at->amount);
    const bool is_long = strstr(at->name, "-long") != NULL;
    const struct contest_plan plan = {
        .lead_in = frames_of_life + 5, .turns = is_long ? 52 : 5, .warm = 1, .timed = 20};
    const struct contest_steps steps = {prepare, play, settle};

    contest_build(contest, &forest);
    contest_make_prefab(contest, arms_seed);
    contest_alternate(contest, &plan, &steps, &state);
    for (size_t i = 0; i < contest->count; ++i) {
        if (contest->contestants[i].plays) {
            report_one(contest, &state, &contest->contestants[i]);
        }
    }
    state_destroy(&state);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"25000x11-short", {25000, ship_size, 0}, 5000, true},
    {"25000x11-long", {25000, ship_size, 0}, 5000, false},
    {"500x11-small", {500, ship_size, 0}, 100, false},
};

const struct load load_battle = {
    "battle", "ships move, effects and bullets come and go", cases, CASE_COUNT(cases), is_for, run,
    true,
};

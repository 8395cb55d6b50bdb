// SPDX-License-Identifier: MIT
// Load `deltas`: 22 humanoids of 16 nodes move at 60 frames a second, and another world follows theirs. Each
// frame an archive is written, a delta is made from the archive before, that one is patched, and the result is
// applied to the other world. `walk`: every joint swings. `fall`: the roots fall and turn, and the joints keep
// their locals.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <math.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { deltas_seed = 124, frames_a_second = 60, humanoid_size = 16, humanoids = 22 };

/// Pelvis; waist, chest and head; upper arm, lower arm and hand of each side; thigh, shin and foot of each side.
static const uint32_t humanoid_parents[humanoid_size] = {NO_NODE, 0, 1, 2,  2,  4, 5,  2,
                                                         7,       8, 0, 10, 11, 0, 13, 14};

struct deltas_state {
    const struct forest *forest;
    const struct load_case *at;
    struct scheme_write *writes; ///< [forest->count]
    struct scheme_bytes sent;    ///< The delta of the frame at hand.
    double bytes, packed;        ///< Of all deltas.
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

// A smooth wave of period 1 between -1 and 1.
static double wave(double time)
{
    const double x = 2 * (time - floor(time)) - 1;

    return 4 * x * (1 - fabs(x));
}

// A turn to and fro about an axis of the node's own.
static struct pose swing_of(struct draw *draw, double seconds)
{
    const double reach = 0.05 + 0.2 * draw_unit(draw), period = 0.8 + 0.8 * draw_unit(draw);
    const double sine = reach * wave(seconds / period + draw_unit(draw));
    double disk[2];
    const double square = draw_disk(draw, disk);
    const double along = 2 * sqrt(1 - square); // Marsaglia 1972: a point on the sphere

    return (struct pose){{(float)(sine * disk[0] * along), (float)(sine * disk[1] * along),
                          (float)(sine * (1 - 2 * square)), (float)sqrt(1 - sine * sine)},
                         {0, 0, 0},
                         1};
}

static struct pose local_at(const struct deltas_state *state, uint32_t node, double seconds)
{
    const bool is_root = state->forest->parents[node] == NO_NODE;
    const bool is_falling = is_about(state->at, "fall");
    struct draw draw = draw_begin(deltas_seed, node);
    const struct pose swing = swing_of(&draw, seconds);
    const struct pose *const rest = &state->forest->locals[node];
    struct pose out = *rest;

    if (is_root || !is_falling) {
        pose_compose(&out, rest, &swing);
    }
    if (is_root && is_falling) {
        const double fallen = seconds - floor(seconds);

        out.position[1] = rest->position[1] - (float)(9.81 / 2 * fallen * fallen);
    } else if (is_root) {
        out.position[0] = rest->position[0] + (float)(1.4 * seconds);
    }
    return out;
}

static void prepare(void *load, struct contestant *who)
{
    const struct deltas_state *const state = load;
    const double seconds = (double)who->frame / frames_a_second;

    for (uint32_t node = 0; node < state->forest->count; ++node) {
        state->writes[node] = (struct scheme_write){who->scheme->handle_of(who->world, node),
                                                    local_at(state, node, seconds)};
    }
    who->scheme->change(who->world, state->writes, state->forest->count);
}

static void play(void *load, struct contestant *who)
{
    struct deltas_state *const state = load;

    state->sent = who->scheme->follow(who->world, is_about(state->at, "exact"));
}

// Return the bytes that zstd makes of a delta, at its default level; 0 in a build without it.
static size_t packed_size(const struct scheme_bytes *sent)
{
#ifdef HAVE_ZSTD
    const size_t room = ZSTD_compressBound(sent->size);
    void *const packed = block_new(room, 1);
    const size_t size = ZSTD_compress(packed, room, sent->bytes, sent->size, 3);

    free(packed);
    return ZSTD_isError(size) ? 0 : size;
#else
    (void)sent;
    return 0;
#endif
}

static void settle(void *load, struct contestant *who)
{
    struct deltas_state *const state = load;

    (void)who;
    state->bytes += (double)state->sent.size;
    state->packed += (double)packed_size(&state->sent);
}

static void report(struct contest *contest, const struct deltas_state *state)
{
    const size_t nodes = state->forest->count;

    contest_report_medians(contest, nodes, "ns/node", nodes);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const uint64_t checksum = contest_checksum(who, nodes);

            contest_report(contest, who, state->bytes / who->frame, "bytes/frame", checksum);
            if (state->packed > 0) {
                contest_report(contest, who, state->packed / who->frame, "bytes/frame packed",
                               checksum);
            }
        }
    }
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create_copies(humanoid_parents, humanoid_size, humanoids);
    struct deltas_state state = {
        .forest = &forest, .at = at, .writes = block_new(forest.count, sizeof *state.writes)};
    const struct contest_plan plan = {.lead_in = 1, .turns = 1, .warm = 19, .timed = 220};
    const struct contest_steps steps = {prepare, play, settle};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    report(contest, &state);
    free(state.writes);
    forest_destroy(&forest);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->follow != NULL;
}

static const struct load_case cases[] = {
    {"fall-grid", {humanoids, humanoid_size, 0}, 0, false},
    {"fall-exact", {humanoids, humanoid_size, 0}, 0, false},
    {"walk-grid", {humanoids, humanoid_size, 0}, 0, false},
    {"walk-exact", {humanoids, humanoid_size, 0}, 0, false},
};

const struct load load_deltas = {
    "deltas", "a world follows another one by deltas of archives",
    cases,    CASE_COUNT(cases),
    is_for,   run,
    false,
};

// SPDX-License-Identifier: MIT
// Load `cull` in a world that moved for 600 frames: each root goes one unit a frame in a direction of its own,
// and turns back at the sides of the world, and each frame ends with an update. The cameras are those of the
// other shapes, in a cube ten times as large. `aged/fresh` divides their times by those in a world that was
// built where the other one arrived.
//
// `us/update` is the median of the updates. A third world makes as long steps between two places, so that no
// renderable leaves its surroundings: `refiling` is by how much the updates of the first world are longer.
#include "bench/loads/cull.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

#include <math.h>

enum { aged_seed = 144, walk_frames = 600, ns_of_us = 1000 };

static const double world_side = 2000;

// Of length 1.
struct direction {
    double along[3];
};

// A root walks, or shuttles between its first two places.
struct walk {
    const struct forest *forest;        ///< With each root where it begins.
    const struct direction *directions; ///< [trees]
    struct scheme_write *writes;        ///< [trees]
    bool is_shuttle;
};

// Where one coordinate of a root is after some units: a side of the world turns it back.
static float place_after(double begin, double way)
{
    const double period = 2 * world_side;
    const double along = begin + way + world_side / 2;
    const double folded = along - floor(along / period) * period;

    return (float)((folded < world_side ? folded : period - folded) - world_side / 2);
}

static struct pose root_after(const struct walk *walk, uint32_t tree, unsigned frames)
{
    struct pose root = walk->forest->locals[forest_root(walk->forest, tree)];

    for (int k = 0; k < 3; ++k) {
        root.position[k] =
            place_after((double)root.position[k], walk->directions[tree].along[k] * frames);
    }
    return root;
}

static void prepare(void *load, struct contestant *who)
{
    const struct walk *const walk = load;
    const unsigned frames = walk->is_shuttle ? (who->frame + 1) % 2 : who->frame + 1;

    for (uint32_t tree = 0; tree < walk->forest->shape.trees; ++tree) {
        walk->writes[tree].node =
            who->scheme->handle_of(who->world, forest_root(walk->forest, tree));
        walk->writes[tree].local = root_after(walk, tree, frames);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct walk *const walk = load;

    who->scheme->change(who->world, walk->writes, walk->forest->shape.trees);
    who->scheme->publish(who->world);
}

// Play all frames, those of both worlds in turns.
static void walk_all(struct contest *walked, struct walk *walk, struct contest *shuttled)
{
    enum { turns = 20 };
    static const struct contest_steps steps = {prepare, play, NULL};
    const struct contest_plan turn = {.turns = 1, .timed = walk_frames / turns};
    struct walk shuttle = *walk;

    shuttle.is_shuttle = true;
    for (int i = 0; i < turns; ++i) {
        contest_alternate(walked, &turn, &steps, walk);
        contest_alternate(shuttled, &turn, &steps, &shuttle);
    }
}

static void report_updates(struct contest *contest, const struct contest *walked,
                           const struct contest *shuttled, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double whole = contest_part_median(&walked->contestants[i], "update");
            const double refiling =
                whole - contest_part_median(&shuttled->contestants[i], "update");
            const uint64_t checksum = contest_checksum(who, nodes);

            contest_report(contest, who, whole / ns_of_us, "us/update", checksum);
            contest_report(contest, who, refiling / ns_of_us, "us/update refiling", checksum);
        }
    }
}

// Let contestants play in the worlds of a contest, or in none.
static void set_worlds(const struct contest *contest, const struct contest *of)
{
    for (size_t i = 0; i < contest->count; ++i) {
        contest->contestants[i].world = of != NULL ? of->contestants[i].world : NULL;
    }
}

// Cull in the world that walked, and in one that is built where it arrived.
static void cull_both(struct contest *contest, const struct walk *walk, struct forest *forest,
                      const struct load_case *at)
{
    struct contest fresh = contest_copy(contest);
    struct cull_state state = cull_begin(at->name, world_side / 2, forest->count);
    const struct contest_plan plan = cull_plan(forest->count);

    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        walk->writes[tree].local = root_after(walk, tree, walk_frames);
    }
    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        forest->locals[forest_root(forest, tree)] = walk->writes[tree].local;
    }
    contest_build(&fresh, forest);
    cull_furnish(&fresh, forest->count, at->amount);
    contest_alternate_two(contest, &state, &fresh, &state, &plan, &cull_steps);
    cull_report(contest, &fresh, "aged/fresh", forest->count);
    contest_copy_end(&fresh);
    cull_end(&state);
}

void cull_run_aged(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct direction *const directions = block_new(at->shape.trees, sizeof *directions);
    struct walk walk = {.forest = &forest,
                        .directions = directions,
                        .writes = block_new(at->shape.trees, sizeof *walk.writes)};
    struct contest walked = contest_copy(contest), shuttled = contest_copy(contest);
    struct draw draw = draw_begin(aged_seed, 0);

    for (uint32_t tree = 0; tree < at->shape.trees; ++tree) {
        float *const place = forest.locals[forest_root(&forest, tree)].position;
        double square = 0;

        for (int k = 0; k < 3; ++k) {
            place[k] *= (float)(world_side / ROOT_SIDE);
            directions[tree].along[k] = draw_unit(&draw) - 0.5;
            square += directions[tree].along[k] * directions[tree].along[k];
        }
        for (int k = 0; k < 3; ++k) {
            directions[tree].along[k] /= sqrt(square);
        }
    }
    contest_build(contest, &forest);
    contest_build(&shuttled, &forest);
    cull_furnish(contest, forest.count, at->amount);
    cull_furnish(&shuttled, forest.count, at->amount);
    set_worlds(&walked, contest);
    walk_all(&walked, &walk, &shuttled);
    cull_both(contest, &walk, &forest, at);
    report_updates(contest, &walked, &shuttled, forest.count);
    set_worlds(&walked, NULL);
    contest_copy_end(&walked);
    contest_copy_end(&shuttled);
    free(walk.writes);
    free(directions);
    forest_destroy(&forest);
}

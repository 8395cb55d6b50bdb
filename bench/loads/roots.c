// SPDX-License-Identifier: MIT
// Load `roots`: every root goes on by its velocity, out of cache, in the last level of it, and in a
// core's own, where waking the workers counts too. As `full`, but what moves a root is kept with it,
// as gameplay code would, and found by the scheme's own means.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { roots_seed = 114 };

static struct scheme_velocity *draw_velocities(const struct forest *forest)
{
    const uint32_t count = forest->shape.trees;
    struct scheme_velocity *const out = block_new(count, sizeof *out);
    struct draw draw = draw_begin(roots_seed, 0);

    for (uint32_t tree = 0; tree < count; ++tree) {
        for (int axis = 0; axis < 3; ++axis) {
            out[tree].velocity.step[axis] = (float)(draw_unit(&draw) - 0.5);
        }
    }
    return out;
}

static void set_velocities(const struct contest *contest, const struct forest *forest)
{
    struct scheme_velocity *const velocities = draw_velocities(forest);

    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        for (uint32_t tree = 0; who->plays && tree < forest->shape.trees; ++tree) {
            velocities[tree].node = who->scheme->handle_of(who->world, forest_root(forest, tree));
        }
        if (who->plays) {
            who->scheme->set_velocities(who->world, velocities, forest->shape.trees);
        }
    }
    free(velocities);
}

static void prepare(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

static void play(void *load, struct contestant *who)
{
    (void)load;
    who->scheme->move_roots(who->world);
}

// Variants build worlds of their own, which takes longer than all frames do: in cache only.
static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    return scheme->move_roots != NULL && (!scheme->is_variant || at->shape.trees < 10000);
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes < 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 9, .warm = 1, .timed = 4};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const struct contest_plan plan = plan_for(forest.count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, &forest);
    set_velocities(contest, &forest);
    contest_alternate(contest, &plan, &steps, NULL);
    contest_report_medians(contest, forest.count, "ns/node", forest.count);
    contest_report_share(contest, "deal", forest.count);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 0, true},
    {"5000x20", {5000, 20, 3}, 0, false},
    {"500x20", {500, 20, 3}, 0, true},
};

const struct load load_roots = {
    "roots", "every root goes on by its velocity", cases, CASE_COUNT(cases), is_for, run, true,
};

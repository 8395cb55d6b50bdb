// SPDX-License-Identifier: MIT
// Load `build`: a world appears, node by node (-scratch) or as copies of one tree, each with a
// placement of its own (-prefab). What it stands in is memory the scheme has asked for anew.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/clock.h"
#include "bench/draw.h"

enum { build_seed = 108, build_turns = 3 };

static struct scheme_world *build_one(const struct contestant *who, const struct forest *forest,
                                      const struct pose *roots, uint32_t copies)
{
    return copies > 0 ? who->scheme->create_copies(forest, roots, copies, who->workers)
                      : who->scheme->create(forest, who->workers);
}

// The last world built stays, for the checksum.
static void take_turn(struct contestant *who, const struct forest *forest, const struct pose *roots,
                      uint32_t copies)
{
    if (who->world != NULL) {
        who->scheme->destroy(who->world);
    }

    const double before = clock_now();
    who->world = build_one(who, forest, roots, copies);
    samples_add(&who->samples, clock_now() - before);
}

static struct pose *draw_roots(uint32_t count)
{
    struct pose *const roots = block_new(count, sizeof *roots);
    struct draw draw = draw_begin(build_seed, 0);

    for (uint32_t i = 0; i < count; ++i) {
        roots[i] = draw_pose(&draw, ROOT_SIDE);
    }
    return roots;
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->create_copies != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    const uint32_t copies = at->amount;
    struct forest forest = forest_create(at->shape);
    const size_t nodes = forest.count * (copies > 0 ? copies : 1);
    struct pose *const roots = draw_roots(copies);

    for (int turn = 0; turn < build_turns; ++turn) {
        for (size_t i = 0; i < contest->count; ++i) {
            if (contest->contestants[i].plays) {
                take_turn(&contest->contestants[i], &forest, roots, copies);
            }
        }
    }
    contest_report_medians(contest, nodes, "ns/node", nodes);
    free(roots);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20-scratch", {50000, 20, 3}, 0, true},
    {"50000x20-prefab", {1, 20, 3}, 50000, true},
    {"500x20-scratch", {500, 20, 3}, 0, false},
    {"500x20-prefab", {1, 20, 3}, 500, false},
};

const struct load load_build = {
    "build", "a million nodes from scratch, from a prefab", cases, CASE_COUNT(cases), is_for, run,
    false,
};

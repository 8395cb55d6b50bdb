// SPDX-License-Identifier: MIT
// Loads `full` and `scaling`: every root gets a new local, then all worlds are current; `scaling`
// does so over sizes from in cache to far beyond, of small trees and of one large one. Some shapes
// of `full` have one exceptional node in each tree. Each of them is played in turns with plain
// trees, and `x plain` is the quotient of the times.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"

enum { full_seed = 101 };

struct full_state {
    const struct forest *forest;
    struct scheme_write *writes; ///< [trees]
};

static void prepare(void *load, struct contestant *who)
{
    const struct full_state *const state = load;
    const struct forest *const forest = state->forest;
    struct draw draw = draw_begin(full_seed, who->frame);

    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        const scheme_handle root = who->scheme->handle_of(who->world, forest_root(forest, tree));

        state->writes[tree] = (struct scheme_write){root, draw_pose(&draw, ROOT_SIDE)};
    }
}

static void play(void *load, struct contestant *who)
{
    const struct full_state *const state = load;

    who->scheme->write(who->world, state->writes, state->forest->shape.trees);
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 3};
}

/// The exceptional node that each tree of a shape has.
struct exceptional {
    enum scheme_exception kind;
    bool is_inner;  ///< The parent of a leaf, otherwise the leaf.
    bool has_world; ///< The world of the node can be read.
};

static const struct exceptional exceptionals[] = {
    {EXCEPTION_FLAG, false, true},    {EXCEPTION_STRETCH, false, true},
    {EXCEPTION_STRETCH, true, true},  {EXCEPTION_BARE, false, false},
    {EXCEPTION_CONTEXT, false, true}, {EXCEPTION_DESTROYED, false, false},
};

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 50000, true},
    {"1000x1000", {1000, 1000, 10}, 1000, false},
    {"1x1000000", {1, 1000000, 100}, 1, true},
    {"500x20", {500, 20, 3}, 500, true},
    {"10x1000", {10, 1000, 10}, 10, true},
    {"1000x1000-flag", {1000, 1000, 10}, 1000, false},
    {"1000x1000-stretch", {1000, 1000, 10}, 1000, false},
    {"1000x1000-inner", {1000, 1000, 10}, 1000, false},
    {"1000x1000-bare", {1000, 1000, 10}, 1000, false},
    {"1000x1000-context", {1000, 1000, 10}, 1000, false},
    {"1000x1000-destroyed", {1000, 1000, 10}, 1000, false},
    {"10x1000-flag", {10, 1000, 10}, 10, true},
    {"10x1000-stretch", {10, 1000, 10}, 10, true},
    {"10x1000-inner", {10, 1000, 10}, 10, true},
    {"10x1000-bare", {10, 1000, 10}, 10, true},
    {"10x1000-context", {10, 1000, 10}, 10, true},
    {"10x1000-destroyed", {10, 1000, 10}, 10, true},
};

enum { plain_cases = 5 };

// Return NULL for a case of plain trees.
static const struct exceptional *exceptional_of(const struct load_case *at)
{
    const size_t index = (size_t)(at - cases);

    _Static_assert(CASE_COUNT(cases) == plain_cases + 2 * CASE_COUNT(exceptionals), "two of each");
    return index < plain_cases ? NULL
                               : &exceptionals[(index - plain_cases) % CASE_COUNT(exceptionals)];
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    const struct exceptional *const exceptional = exceptional_of(at);

    return scheme->write != NULL &&
           (exceptional == NULL || (scheme->exceptions & 1u << exceptional->kind) != 0);
}

static void run_plain(struct contest *contest, const struct forest *forest,
                      struct full_state *state)
{
    const struct contest_plan plan = plan_for(forest->count);
    const struct contest_steps steps = {prepare, play, NULL};

    contest_build(contest, forest);
    contest_alternate(contest, &plan, &steps, state);
    contest_report_medians(contest, forest->count, "ns/node", forest->count);
}

// Return the number of the exceptional node in its tree: the leaf in the middle of the leaves, or
// its parent. The last leaf is avoided because its removal keeps any order.
static uint32_t exceptional_rank(struct forest_shape shape, const struct exceptional *exceptional)
{
    const uint32_t first_leaf = (shape.tree_size - 2) / shape.fan + 1;
    const uint32_t leaf = (first_leaf + shape.tree_size) / 2;

    return exceptional->is_inner ? (leaf - 1) / shape.fan : leaf;
}

static void make_exceptional(const struct contestant *who, struct forest_shape shape,
                             const struct exceptional *exceptional)
{
    scheme_handle *const nodes = block_new(shape.trees, sizeof *nodes);

    for (uint32_t tree = 0; tree < shape.trees; ++tree) {
        nodes[tree] = who->scheme->handle_of(who->world, tree * shape.tree_size +
                                                             exceptional_rank(shape, exceptional));
    }
    if (who->scheme->except != NULL) {
        who->scheme->except(who->world, exceptional->kind, nodes, shape.trees);
    }
    free(nodes);
}

// The checksum leaves out exceptional nodes that have no world.
static uint64_t exceptional_checksum(const struct contestant *who, const struct forest *forest,
                                     const struct exceptional *exceptional)
{
    const uint32_t rank = exceptional_rank(forest->shape, exceptional);
    uint64_t sum = who->readings;

    if (exceptional->has_world) {
        return contest_checksum(who, forest->count);
    }
    for (uint32_t node = 0; node < forest->count; ++node) {
        if (node % forest->shape.tree_size != rank) {
            const scheme_handle handle = who->scheme->handle_of(who->world, node);
            const struct pose world = who->scheme->world_of(who->world, handle);

            sum = checksum_add(sum, &world, sizeof world);
        }
    }
    return sum;
}

static void run_exceptional(struct contest *contest, const struct forest *forest,
                            const struct exceptional *exceptional, struct full_state *state)
{
    const struct contest_plan plan = plan_for(forest->count);
    const struct contest_steps steps = {prepare, play, NULL};
    struct contest other = contest_copy(contest);

    contest_build(contest, forest);
    contest_build(&other, forest);
    for (size_t i = 0; i < contest->count; ++i) {
        if (contest->contestants[i].plays) {
            make_exceptional(&contest->contestants[i], forest->shape, exceptional);
        }
    }

    contest_alternate_two(contest, state, &other, state, &plan, &steps);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double figure = samples_median(&who->samples) / (double)forest->count;
            const uint64_t checksum = exceptional_checksum(who, forest, exceptional);

            contest_report(contest, who, figure, "ns/node", checksum);
            contest_report_quotient(contest, &other, who, "x plain", checksum);
        }
    }
    contest_copy_end(&other);
}

static void run_full(struct contest *contest, const struct load_case *at)
{
    const struct exceptional *const exceptional = exceptional_of(at);
    struct forest forest = forest_create(at->shape);
    struct full_state state = {&forest, block_new(at->shape.trees, sizeof(struct scheme_write))};

    if (exceptional == NULL) {
        run_plain(contest, &forest, &state);
    } else {
        run_exceptional(contest, &forest, exceptional, &state);
    }
    free(state.writes);
    forest_destroy(&forest);
}

const struct load load_full = {
    "full", "every root gets a new local", cases, CASE_COUNT(cases), is_for, run_full, true,
};

static bool is_for_size(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->write != NULL;
}

static void run_size(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct full_state state = {&forest, block_new(at->shape.trees, sizeof(struct scheme_write))};

    run_plain(contest, &forest, &state);
    free(state.writes);
    forest_destroy(&forest);
}

static const struct load_case sizes[] = {
    {"50x20", {50, 20, 3}, 0, false},          {"200x20", {200, 20, 3}, 0, false},
    {"800x20", {800, 20, 3}, 0, false},        {"3200x20", {3200, 20, 3}, 0, false},
    {"12800x20", {12800, 20, 3}, 0, false},    {"51200x20", {51200, 20, 3}, 0, false},
    {"204800x20", {204800, 20, 3}, 0, false},  {"1x1000", {1, 1000, 10}, 0, false},
    {"1x4000", {1, 4000, 10}, 0, false},       {"1x16000", {1, 16000, 10}, 0, false},
    {"1x64000", {1, 64000, 10}, 0, false},     {"1x256000", {1, 256000, 10}, 0, false},
    {"1x1024000", {1, 1024000, 10}, 0, false}, {"1x4096000", {1, 4096000, 10}, 0, false},
};

const struct load load_scaling = {
    "scaling", "full over sizes", sizes, CASE_COUNT(sizes), is_for_size, run_size, false,
};

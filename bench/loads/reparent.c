// SPDX-License-Identifier: MIT
// Load `reparent`: random leaves move under random nodes of any tree and keep their local. All
// moves are drawn beforehand on a model of the links, so that a leaf is one when its move comes.
// Shapes `-atonce` do the same by immediate calls. They are played in turns with batched frames on
// a second world, and `x batched` is the quotient of the times. In `-k1` a frame has one move, the
// first into its tree, and trees are copies of one tree.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/loads/links.h"

enum { reparent_seed = 106, copies_seed = 120 };

struct reparent_state {
    uint32_t count;                 ///< Moves of a frame.
    bool is_at_once;                ///< By immediate calls.
    const struct move *moves;       ///< [frames][count]
    struct scheme_move *translated; ///< [count] of the frame at hand, by handles.
};

static struct move *draw_moves(const struct forest *forest, size_t count)
{
    struct move *const moves = block_new(count, sizeof *moves);
    struct links links = links_create(forest);
    struct draw draw = draw_begin(reparent_seed, 0);

    for (size_t i = 0; i < count; ++i) {
        moves[i] = links_draw_move(&links, &draw);
    }
    links_destroy(&links);
    return moves;
}

// Each tree of the first half gets one leaf, the last of a tree of the second half. Trees far apart
// take turns, so that none is in cache when its move comes.
static struct move *draw_first_moves(const struct forest *forest, size_t count)
{
    const uint32_t half = forest->shape.trees / 2;
    const uint32_t size = forest->shape.tree_size;
    struct move *const moves = block_new(count, sizeof *moves);
    struct draw draw = draw_begin(reparent_seed, 0);

    if (count > half) {
        course_fail("reparent", "there are fewer trees than first moves");
    }
    for (uint32_t i = 0; i < count; ++i) {
        // 37 has no common factor with 500.
        const uint32_t tree = (uint32_t)((uint64_t)i * 37 % half);

        moves[i].leaf = forest_root(forest, half + tree) + size - 1;
        moves[i].parent = forest_root(forest, tree) + draw_below(&draw, size);
    }
    return moves;
}

static void prepare(void *load, struct contestant *who)
{
    const struct reparent_state *const state = load;
    const struct move *const moves = state->moves + (size_t)who->frame * state->count;

    for (uint32_t i = 0; i < state->count; ++i) {
        state->translated[i].leaf = who->scheme->handle_of(who->world, moves[i].leaf);
        state->translated[i].parent = who->scheme->handle_of(who->world, moves[i].parent);
    }
}

static void play(void *load, struct contestant *who)
{
    const struct reparent_state *const state = load;

    if (state->is_at_once) {
        who->scheme->reparent_each(who->world, state->translated, state->count);
    } else {
        who->scheme->reparent(who->world, state->translated, state->count);
    }
}

static bool is_at_once(const struct load_case *at)
{
    return strstr(at->name, "-atonce") != NULL;
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    return scheme->reparent != NULL && (!is_at_once(at) || scheme->reparent_each != NULL);
}

static void build(struct contest *contest, const struct forest *forest, bool is_cloned)
{
    const uint32_t copies = forest->shape.trees;
    struct pose *const roots = block_new(copies, sizeof *roots);
    struct forest tree =
        forest_create((struct forest_shape){1, forest->shape.tree_size, forest->shape.fan});
    struct draw draw = draw_begin(copies_seed, 0);

    for (uint32_t i = 0; i < copies; ++i) {
        roots[i] = draw_pose(&draw, ROOT_SIDE);
    }
    if (is_cloned) {
        contest_build_copies(contest, &tree, roots, copies);
    } else {
        contest_build(contest, forest);
    }
    forest_destroy(&tree);
    free(roots);
}

static const struct contest_steps steps = {prepare, play, NULL};

static void report_quotients(struct contest *contest, const struct contest *batched, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            contest_report_quotient(contest, batched, who, "x batched",
                                    contest_checksum(who, nodes));
        }
    }
}

static void run_at_once(struct contest *contest, const struct forest *forest,
                        const struct contest_plan *plan, struct reparent_state *state)
{
    struct contest other = contest_copy(contest);
    struct reparent_state batched = *state;

    batched.is_at_once = false;
    build(contest, forest, state->count == 1);
    build(&other, forest, state->count == 1);
    contest_alternate_two(contest, state, &other, &batched, plan, &steps);
    contest_report_medians(contest, state->count, "ns/move", forest->count);
    report_quotients(contest, &other, forest->count);
    contest_copy_end(&other);
}

static struct contest_plan plan_for(uint32_t count)
{
    return count > 1 ? (struct contest_plan){.turns = 9, .warm = 1, .timed = 6}
                     : (struct contest_plan){.turns = 9, .warm = 10, .timed = 40};
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const struct contest_plan plan = plan_for(at->amount);
    const size_t count = (size_t)contest_frames(&plan) * at->amount;
    struct move *const moves =
        at->amount > 1 ? draw_moves(&forest, count) : draw_first_moves(&forest, count);
    struct reparent_state state = {at->amount, is_at_once(at), moves,
                                   block_new(at->amount, sizeof(struct scheme_move))};

    if (state.is_at_once) {
        run_at_once(contest, &forest, &plan, &state);
    } else {
        build(contest, &forest, at->amount == 1);
        contest_alternate(contest, &plan, &steps, &state);
        contest_report_medians(contest, at->amount, "ns/move", forest.count);
    }
    free(state.translated);
    free(moves);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"1000x100-k1000", {1000, 100, 4}, 1000, true},
    {"100x20-k100", {100, 20, 4}, 100, false},
    {"1000x100-k1000-atonce", {1000, 100, 4}, 1000, true},
    {"1000x100-k1", {1000, 100, 4}, 1, false},
    {"1000x100-k1-atonce", {1000, 100, 4}, 1, false},
};

const struct load load_reparent = {
    "reparent", "k leaves move under other nodes", cases, CASE_COUNT(cases), is_for, run, true,
};

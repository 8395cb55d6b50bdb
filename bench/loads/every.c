// SPDX-License-Identifier: MIT
// Loads `every` and `ways`. In `every` each node gets a new local, as one batch in order of its
// number; then all worlds are current. In `ways` a frame writes all nodes, all roots or some nodes,
// in each way that a scheme has: as one batch, by single calls, through a list, and by commands. The
// ways are played in turns, each on a world of its own, and compared with the batch.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"
#include "bench/presets.h"

enum { every_seed = 109, order_seed = 119 };

/// The writes of all frames, the same for everyone. To draw takes longer than to write, so what was
/// drawn is kept until everyone has had the frame: the frames of a turn.
struct writing {
    const struct forest *forest;
    uint32_t count;     ///< Writes of a frame.
    uint32_t *order;    ///< [count] nodes that every frame writes; NULL: any nodes, drawn anew.
    uint32_t *nodes;    ///< [turn_frames][count]
    struct pose *drawn; ///< [turn_frames][count]
    struct scheme_write *writes; ///< [count] of the frame at hand.
    unsigned turn_frames;
    unsigned drawn_count; ///< Frames drawn since the first.
};

static void draw_frame(struct writing *writing, unsigned frame)
{
    const size_t first = (size_t)(frame % writing->turn_frames) * writing->count;
    const struct forest *const forest = writing->forest;
    struct draw draw = draw_begin(every_seed, frame);

    for (uint32_t i = 0; i < writing->count; ++i) {
        const uint32_t node =
            writing->order != NULL ? writing->order[i] : draw_below(&draw, (uint32_t)forest->count);

        writing->nodes[first + i] = node;
        writing->drawn[first + i] = draw_pose(&draw, forest_side(forest, node));
    }
    ++writing->drawn_count;
}

static struct writing writing_create(const struct forest *forest, uint32_t count, uint32_t *order,
                                     const struct contest_plan *plan)
{
    const unsigned turn_frames = plan->warm + plan->timed;

    return (struct writing){
        .forest = forest,
        .count = count,
        .order = order,
        .nodes = block_new((size_t)turn_frames * count, sizeof(uint32_t)),
        .drawn = block_new((size_t)turn_frames * count, sizeof(struct pose)),
        .writes = block_new(count, sizeof(struct scheme_write)),
        .turn_frames = turn_frames,
    };
}

static void writing_destroy(const struct writing *writing)
{
    free(writing->order);
    free(writing->nodes);
    free(writing->drawn);
    free(writing->writes);
}

/// A way to carry out the writes of a frame.
struct way {
    const char *name;     ///< In the unit of its time; NULL: the batch.
    const char *quotient; ///< Unit of its time divided by that of the batch.
    bool (*is_for)(const struct scheme *scheme);
    void (*play)(const struct contestant *who, const struct scheme_write *writes, size_t count);
};

static bool has_batch(const struct scheme *scheme)
{
    return scheme->write_batch != NULL;
}

static void play_batch(const struct contestant *who, const struct scheme_write *writes,
                       size_t count)
{
    who->scheme->write_batch(who->world, writes, count);
}

// A deferred scheme does what it does in a batch, but for the variant, which can write at once.
static bool has_single(const struct scheme *scheme)
{
    return scheme->write_each != NULL && (!scheme->is_deferred || scheme->is_variant);
}

static void play_single(const struct contestant *who, const struct scheme_write *writes,
                        size_t count)
{
    who->scheme->write_each(who->world, writes, count);
}

static bool has_list(const struct scheme *scheme)
{
    return scheme->write_listed != NULL;
}

static void play_list(const struct contestant *who, const struct scheme_write *writes, size_t count)
{
    who->scheme->write_listed(who->world, writes, count);
}

static bool has_commands(const struct scheme *scheme)
{
    return scheme->write_played != NULL;
}

static void play_commands(const struct contestant *who, const struct scheme_write *writes,
                          size_t count)
{
    who->scheme->write_played(who->world, writes, count);
}

static const struct way ways[] = {
    {NULL, NULL, has_batch, play_batch},
    {"single", "single/batch", has_single, play_single},
    {"list", "list/batch", has_list, play_list},
    {"commands", "commands/batch", has_commands, play_commands},
};

/// Frames played in one way.
struct ways_state {
    struct writing *writing;
    const struct way *way;
};

static void prepare(void *load, struct contestant *who)
{
    const struct ways_state *const state = load;
    struct writing *const writing = state->writing;
    const size_t first = (size_t)(who->frame % writing->turn_frames) * writing->count;

    if (who->frame == writing->drawn_count) {
        draw_frame(writing, who->frame);
    }
    for (uint32_t i = 0; i < writing->count; ++i) {
        writing->writes[i].node = who->scheme->handle_of(who->world, writing->nodes[first + i]);
        writing->writes[i].local = writing->drawn[first + i];
    }
}

static void play(void *load, struct contestant *who)
{
    const struct ways_state *const state = load;

    state->way->play(who, state->writing->writes, state->writing->count);
}

static const struct contest_steps steps = {prepare, play, NULL};

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 100000;

    return is_small ? (struct contest_plan){.turns = 11, .warm = 4, .timed = 40}
                    : (struct contest_plan){.turns = 7, .warm = 1, .timed = 3};
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return has_batch(scheme);
}

// Return the numbers below a count, in order.
static uint32_t *order_new(uint32_t count)
{
    uint32_t *const order = block_new(count, sizeof *order);

    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    return order;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    const uint32_t count = (uint32_t)forest.count;
    const struct contest_plan plan = plan_for(count);
    struct writing writing = writing_create(&forest, count, order_new(count), &plan);
    struct ways_state state = {&writing, &ways[0]};

    contest_build(contest, &forest);
    contest_alternate(contest, &plan, &steps, &state);
    contest_report_medians(contest, count, "ns/node", count);
    writing_destroy(&writing);
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 50000, true},  {"1000x1000", {1000, 1000, 10}, 1000, false},
    {"1x1000000", {1, 1000000, 100}, 1, false}, {"500x20", {500, 20, 3}, 500, true},
    {"10x1000", {10, 1000, 10}, 10, true},
};

const struct load load_every = {
    "every", "every node gets a new local, as one batch", cases, CASE_COUNT(cases), is_for, run,
    false,
};

// The amount is the number of random nodes that a frame writes; 0: all, or all roots.
static const struct load_case ways_cases[] = {
    {"every-500x20", {500, 20, 3}, 0, true},
    {"every-500x20-shuffled", {500, 20, 3}, 0, false},
    {"every-10x1000", {10, 1000, 10}, 0, false},
    {"every-50000x20", {50000, 20, 3}, 0, false},
    {"every-50000x20-shuffled", {50000, 20, 3}, 0, false},
    {"every-1000x1000", {1000, 1000, 10}, 0, false},
    {"rigs-100", {100, 68, 0}, 0, true},
    {"rigs-100-bones", {100, 68, 0}, 0, false},
    {"rigs-4000", {4000, 68, 0}, 0, false},
    {"rigs-4000-bones", {4000, 68, 0}, 0, false},
    {"sparse-500x20-w100", {500, 20, 3}, 100, true},
    {"sparse-500x20-w1000", {500, 20, 3}, 1000, false},
    {"sparse-50000x20-w10000", {50000, 20, 3}, 10000, false},
    {"sparse-50000x20-w100000", {50000, 20, 3}, 100000, false},
    {"roots-500x20", {500, 20, 3}, 0, true},
    {"roots-10x1000", {10, 1000, 10}, 0, false},
    {"roots-5000x20", {5000, 20, 3}, 0, true},
    {"roots-50000x20", {50000, 20, 3}, 0, false},
    {"roots-1000x1000", {1000, 1000, 10}, 0, false},
    {"chain-2500", {1, 2500, 1}, 0, false},
};

static bool is_about(const struct load_case *at, const char *word)
{
    return strstr(at->name, word) != NULL;
}

static struct forest ways_forest(const struct load_case *at)
{
    if (!is_about(at, "rigs")) {
        return forest_create(at->shape);
    }

    uint32_t size;
    uint32_t *const parents = preset_parents("humanoids_active", &size);
    const struct forest out = forest_create_copies(parents, size, at->shape.trees);

    free(parents);
    if (size != at->shape.tree_size) {
        course_fail(at->name, "a rig has not the size of its shape");
    }
    return out;
}

static void shuffle(uint32_t *order, uint32_t count)
{
    struct draw draw = draw_begin(order_seed, 0);

    for (uint32_t i = count; i > 1; --i) {
        const uint32_t other = draw_below(&draw, i);
        const uint32_t kept = order[other];

        order[other] = order[i - 1];
        order[i - 1] = kept;
    }
}

// Return the nodes that every frame writes: roots; the first nodes of all trees, then the second ones
// and so on; all nodes in order or shuffled. NULL where they are drawn. [*count] out.
static uint32_t *ways_order(const struct load_case *at, const struct forest *forest,
                            uint32_t *count)
{
    const uint32_t trees = forest->shape.trees;
    uint32_t *order;

    if (at->amount > 0) {
        *count = at->amount;
        return NULL;
    }
    *count = is_about(at, "roots") ? trees : (uint32_t)forest->count;
    order = order_new(*count);
    for (uint32_t i = 0; i < *count && is_about(at, "roots"); ++i) {
        order[i] = forest_root(forest, i);
    }
    for (uint32_t i = 0; i < *count && is_about(at, "bones"); ++i) {
        order[i] = forest_root(forest, i % trees) + i / trees;
    }
    if (is_about(at, "shuffled")) {
        shuffle(order, *count);
    }
    return order;
}

static bool is_for_ways(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return has_batch(scheme) || has_single(scheme);
}

enum { way_count = CASE_COUNT(ways) };

// Tell everyone's time in a way, and its quotient with the batch.
static void report_way(struct contest *contest, const struct contest *own,
                       const struct contest *batch, const struct ways_state *state)
{
    const size_t nodes = state->writing->forest->count;
    char unit[CONTEST_UNIT_SIZE] = "ns/write";

    if (state->way->name != NULL) {
        snprintf(unit, sizeof unit, "ns/write %s", state->way->name);
    }
    for (size_t i = 0; i < own->count; ++i) {
        const struct contestant *const who = &own->contestants[i];
        const double median = samples_median(&who->samples);
        const double other = samples_median(&batch->contestants[i].samples);

        if (!who->plays) {
            continue;
        }

        const uint64_t checksum = contest_checksum(who, nodes);
        const struct contestant *const entered = &contest->contestants[i];

        contest_report(contest, entered, median / state->writing->count, unit, checksum);
        if (state->way->quotient != NULL && other > 0) {
            contest_report(contest, entered, median / other, state->way->quotient, checksum);
        }
    }
}

// Each way has a contest of its own, in which those play that have it.
static void play_ways(struct contest *contest, struct writing *writing,
                      const struct contest_plan *plan)
{
    struct contest own[way_count];
    struct ways_state states[way_count];
    struct contest_side sides[way_count];

    for (size_t w = 0; w < way_count; ++w) {
        own[w] = contest_copy(contest);
        states[w] = (struct ways_state){writing, &ways[w]};
        sides[w] = (struct contest_side){&own[w], &states[w]};
        for (size_t i = 0; i < own[w].count; ++i) {
            struct contestant *const who = &own[w].contestants[i];

            who->plays = who->plays && ways[w].is_for(who->scheme);
        }
        contest_build(&own[w], writing->forest);
    }
    contest_alternate_sides(sides, way_count, plan, &steps);
    for (size_t w = 0; w < way_count; ++w) {
        report_way(contest, &own[w], &own[0], &states[w]);
    }
    for (size_t w = 0; w < way_count; ++w) {
        contest_copy_end(&own[w]);
    }
}

// Single writes down a chain take a time that grows with its square: few frames do.
static struct contest_plan ways_plan(const struct load_case *at, size_t nodes)
{
    return is_about(at, "chain") ? (struct contest_plan){.turns = 5, .warm = 1, .timed = 3}
                                 : plan_for(nodes);
}

static void run_ways(struct contest *contest, const struct load_case *at)
{
    struct forest forest = ways_forest(at);
    const struct contest_plan plan = ways_plan(at, forest.count);
    uint32_t count;
    uint32_t *const order = ways_order(at, &forest, &count);
    struct writing writing = writing_create(&forest, count, order, &plan);

    play_ways(contest, &writing, &plan);
    writing_destroy(&writing);
    forest_destroy(&forest);
}

const struct load load_ways = {
    "ways",      "nodes get a new local: batch, single calls, list, commands",
    ways_cases,  CASE_COUNT(ways_cases),
    is_for_ways, run_ways,
    false,
};

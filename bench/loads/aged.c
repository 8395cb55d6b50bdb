// SPDX-License-Identifier: MIT
// Load `aged`: after 200 frames of churn the roots get new locals (-full), and worlds are read by
// query (-query) and by random handle (-handle), in turns with a fresh world of the same scheme:
// the forest in which the churn has ended, built from scratch. So both have the same nodes under
// the same parents, do the same work and come to the same worlds, and what is left of a difference
// is the order in which nodes lie in memory. Last come worlds that were aged and then laid out in
// order, of schemes that have a call for it.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"
#include "bench/loads/churn.h"
#include "bench/loads/sums.h"

enum { aged_seed = 114, prefab_seed = 115, reads = 200000 };

struct aged_state {
    const struct forest *forest; ///< Before the churn.
    const struct churn *churn;
    uint32_t living;             ///< Prefabs in the end.
    struct scheme_spawn *spawns; ///< [churn->count] of the frame at hand.
    scheme_handle *just_made;    ///< [churn->count]
    struct scheme_move *moves;   ///< [churn->count]
    struct scheme_write *writes; ///< [trees]
    scheme_handle *handles;      ///< [reads]
    double sum[3];
};

/// One of the two worlds that each contestant has.
struct side {
    struct aged_state *state;
    struct contest *contest;
    scheme_handle *made;     ///< [contestants][churn_life][churn->count] aged: first nodes alive.
    const uint32_t *numbers; ///< Fresh: see churn_forest(). Aged: NULL.
};

// First nodes of the prefabs that a contestant made in a frame, and of those that die 20 later. A
// lifetime divides the frames, so in the end they stand from the oldest to the youngest.
static scheme_handle *made_in(const struct side *side, const struct contestant *who, unsigned frame)
{
    const size_t index = (size_t)(who - side->contest->contestants);

    _Static_assert(churn_frames % churn_life == 0, "the oldest are the first");
    return side->made + (index * churn_life + frame % churn_life) * side->state->churn->count;
}

// Return the handle of one of the forest's nodes, or of a living prefab's first one behind those.
static scheme_handle handle_at(const struct side *side, const struct contestant *who, uint32_t at)
{
    const uint32_t nodes = (uint32_t)side->state->forest->count;

    if (side->numbers != NULL) {
        const uint32_t old = at < nodes ? at : nodes + PREFAB_SIZE * (at - nodes);

        return who->scheme->handle_of(who->world, side->numbers[old]);
    }
    return at < nodes ? who->scheme->handle_of(who->world, at) : made_in(side, who, 0)[at - nodes];
}

static void prepare_churn(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const struct churn *const churn = side->state->churn;
    const struct birth *const births = churn->births + (size_t)who->frame * churn->count;
    const struct move *const moves = churn->moves + (size_t)who->frame * churn->count;

    for (uint32_t i = 0; i < churn->count; ++i) {
        side->state->spawns[i].parent = who->scheme->handle_of(who->world, births[i].parent);
        side->state->spawns[i].local = births[i].local;
        side->state->moves[i].leaf = who->scheme->handle_of(who->world, moves[i].leaf);
        side->state->moves[i].parent = who->scheme->handle_of(who->world, moves[i].parent);
    }
}

static void play_churn(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const struct aged_state *const state = side->state;
    const size_t count = state->churn->count;
    const struct scheme_spawn_frame frame = {
        .spawns = state->spawns,
        .spawn_count = count,
        .doomed = made_in(side, who, who->frame),
        .doomed_count = who->frame < churn_life ? 0 : count,
        .made = state->just_made,
    };

    who->scheme->spawn(who->world, &frame);
    who->scheme->reparent(who->world, state->moves, count);
}

static void settle_churn(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const struct aged_state *const state = side->state;

    memcpy(made_in(side, who, who->frame), state->just_made,
           state->churn->count * sizeof *state->just_made);
}

static size_t count_nodes(const struct aged_state *state)
{
    return state->forest->count + (size_t)PREFAB_SIZE * state->living;
}

// Copy all worlds out in the order of the old numbers, the same on both sides. [count_nodes()] out.
static void copy_worlds(const struct side *side, const struct contestant *who, struct pose *out)
{
    const size_t count = count_nodes(side->state);

    if (side->numbers == NULL) {
        who->scheme->copy_worlds(who->world, out, side->state->forest->count);
        for (uint32_t i = 0; i < side->state->living; ++i) {
            who->scheme->spawn_worlds(who->world, made_in(side, who, 0)[i],
                                      out + side->state->forest->count + (size_t)PREFAB_SIZE * i);
        }
        return;
    }

    struct pose *const worlds = block_new(count, sizeof *worlds);
    who->scheme->copy_worlds(who->world, worlds, count);
    for (size_t old = 0; old < count; ++old) {
        out[old] = worlds[side->numbers[old]];
    }
    free(worlds);
}

static void prepare_full(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const struct forest *const forest = side->state->forest;
    struct draw draw = draw_begin(aged_seed, who->frame);

    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        const scheme_handle root = handle_at(side, who, forest_root(forest, tree));

        side->state->writes[tree] = (struct scheme_write){root, draw_pose(&draw, ROOT_SIDE)};
    }
}

static void play_full(void *load, struct contestant *who)
{
    const struct aged_state *const state = ((const struct side *)load)->state;

    who->scheme->write(who->world, state->writes, state->forest->shape.trees);
}

static void prepare_query(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

static void play_query(void *load, struct contestant *who)
{
    struct aged_state *const state = ((const struct side *)load)->state;

    who->scheme->sum_positions(who->world, state->sum);
}

// Sums are the same in all frames, for nobody moves. A wrong one ends up in the checksum, which
// then agrees with nobody's. Later frames are left to the caches.
static void settle_query(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const size_t count = count_nodes(side->state);

    if (who->frame > 0) {
        return;
    }

    struct pose *const worlds = block_new(count, sizeof *worlds);
    copy_worlds(side, who, worlds);
    if (!is_sum_of(side->state->sum, worlds, count)) {
        fprintf(stderr, "course: aged: the sum by query of %s is wrong\n", who->scheme->name);
        who->readings = checksum_add(who->readings, side->state->sum, sizeof side->state->sum);
    }
    free(worlds);
}

static void prepare_handles(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const struct aged_state *const state = side->state;
    const uint32_t known = (uint32_t)state->forest->count + state->living;
    struct draw draw = draw_begin(aged_seed, who->frame);

    for (uint32_t i = 0; i < reads; ++i) {
        state->handles[i] = handle_at(side, who, draw_below(&draw, known));
    }
}

static void play_handles(void *load, struct contestant *who)
{
    struct aged_state *const state = ((const struct side *)load)->state;

    who->scheme->read_positions(who->world, state->handles, reads, state->sum);
}

static void settle_handles(void *load, struct contestant *who)
{
    const struct aged_state *const state = ((const struct side *)load)->state;

    who->readings = checksum_add(who->readings, state->sum, sizeof state->sum);
}

/// What is timed.
struct kind {
    struct contest_steps steps;
    const char *unit;
    bool is_of_reads; ///< The figure is a read's, not a node's.
};

static const struct kind full = {{prepare_full, play_full, NULL}, "ns/node", false};
static const struct kind query = {{prepare_query, play_query, settle_query}, "ns/read", false};
static const struct kind handle = {
    {prepare_handles, play_handles, settle_handles}, "ns/read", true};

static const struct load_case cases[] = {
    {"50000x20-full", {50000, 20, 3}, 2000, false},
    {"50000x20-query", {50000, 20, 3}, 2000, false},
    {"50000x20-handle", {50000, 20, 3}, 2000, false},
    {"1000x100-full", {1000, 100, 4}, 200, true},
    {"1000x100-query", {1000, 100, 4}, 200, true},
    {"1000x100-handle", {1000, 100, 4}, 200, true},
    {"500x20-full", {500, 20, 3}, 20, false},
    {"500x20-query", {500, 20, 3}, 20, false},
    {"500x20-handle", {500, 20, 3}, 20, false},
};

static const struct kind *kind_of(const struct load_case *at)
{
    static const struct kind *const kinds[] = {&full, &query, &handle};

    return kinds[(size_t)(at - cases) % CASE_COUNT(kinds)];
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->spawn != NULL && scheme->reparent != NULL && scheme->write != NULL &&
           scheme->sum_positions != NULL && scheme->read_positions != NULL;
}

// A small shape needs more frames for a steady median, and a turn long enough to stay in cache.
static struct contest_plan plan_for(size_t nodes)
{
    const bool is_small = nodes <= 20000;

    return is_small ? (struct contest_plan){.turns = 1, .warm = 4, .timed = 20}
                    : (struct contest_plan){.turns = 1, .warm = 1, .timed = 4};
}

// Let everyone begin at frame 0, with nothing measured or read.
static void rewind_all(const struct contest *contest)
{
    for (size_t i = 0; i < contest->count; ++i) {
        samples_clear(&contest->contestants[i].samples);
        contest->contestants[i].frame = 0;
        contest->contestants[i].readings = checksum_begin();
    }
}

static uint64_t checksum_of(const struct side *side, const struct contestant *who)
{
    const size_t count = count_nodes(side->state);
    struct pose *const worlds = block_new(count, sizeof *worlds);

    copy_worlds(side, who, worlds);
    const uint64_t sum = checksum_add(who->readings, worlds, count * sizeof *worlds);
    free(worlds);
    return sum;
}

// Play everything from frame 0 on, both sides in turns.
static void play_round(struct side *aged, struct side *fresh, size_t nodes, const struct kind *kind)
{
    enum { turns = 9 };
    const struct contest_plan plan = plan_for(nodes);

    rewind_all(aged->contest);
    rewind_all(fresh->contest);
    for (int turn = 0; turn < turns; ++turn) {
        contest_alternate(fresh->contest, &plan, &kind->steps, fresh);
        contest_alternate(aged->contest, &plan, &kind->steps, aged);
    }
}

// Leave those in the contest who can tidy, and tidy. The others' worlds stay to be destroyed.
static void tidy_all(const struct side *aged, const struct side *fresh)
{
    for (size_t i = 0; i < aged->contest->count; ++i) {
        struct contestant *const who = &aged->contest->contestants[i];

        who->plays = who->plays && who->scheme->tidy != NULL;
        fresh->contest->contestants[i].plays = who->plays;
        if (who->plays) {
            who->scheme->tidy(who->world);
        }
    }
}

/// What the rows of a round are called.
struct round {
    const char *name;  ///< Of the aged side's, behind the unit; NULL: the unit alone.
    const char *ratio; ///< Of the aged side's figure to the fresh one's.
    bool has_fresh;    ///< The fresh side has a row.
};

static void report(const struct side *aged, const struct side *fresh, const struct kind *kind,
                   const struct round *round)
{
    const double things = (double)(kind->is_of_reads ? reads : count_nodes(aged->state));
    char unit[CONTEST_UNIT_SIZE], unit_fresh[CONTEST_UNIT_SIZE];

    snprintf(unit, sizeof unit, "%s%s%s", kind->unit, round->name != NULL ? " " : "",
             round->name != NULL ? round->name : "");
    snprintf(unit_fresh, sizeof unit_fresh, "%s fresh", kind->unit);
    for (size_t i = 0; i < aged->contest->count; ++i) {
        const struct contestant *const old = &aged->contest->contestants[i];
        const struct contestant *const young = &fresh->contest->contestants[i];

        if (old->plays) {
            const double median = samples_median(&old->samples);
            const double median_fresh = samples_median(&young->samples);
            const uint64_t sum = checksum_of(aged, old);

            contest_report(aged->contest, old, median / things, unit, sum);
            if (round->has_fresh) {
                contest_report(aged->contest, old, median_fresh / things, unit_fresh,
                               checksum_of(fresh, young));
            }
            contest_report(aged->contest, old, median / median_fresh, round->ratio, sum);
        }
    }
}

// Churn, then build the others; measure both, and those that are tidied once more.
static void measure(struct side *aged, struct side *fresh, const struct forest *end,
                    const struct kind *kind)
{
    const struct contest_plan churning = {.lead_in = churn_frames};
    const struct contest_steps churn = {prepare_churn, play_churn, settle_churn};

    contest_alternate(aged->contest, &churning, &churn, aged);
    contest_build(fresh->contest, end);
    play_round(aged, fresh, end->count, kind);
    report(aged, fresh, kind, &(struct round){NULL, "aged/fresh", true});
    tidy_all(aged, fresh);
    play_round(aged, fresh, end->count, kind);
    report(aged, fresh, kind, &(struct round){"tidied", "tidied/fresh", false});
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);
    struct churn churn = churn_create(&forest, at->amount, prefab_seed);
    struct aged_state state = {
        .forest = &forest,
        .churn = &churn,
        .living = churn_living(&churn),
        .spawns = block_new(at->amount, sizeof(struct scheme_spawn)),
        .just_made = block_new(at->amount, sizeof(scheme_handle)),
        .moves = block_new(at->amount, sizeof(struct scheme_move)),
        .writes = block_new(at->shape.trees, sizeof(struct scheme_write)),
        .handles = block_new(reads, sizeof(scheme_handle)),
    };
    uint32_t *const numbers = block_new(count_nodes(&state), sizeof *numbers);
    struct forest end = churn_forest(&churn, &forest, numbers);
    struct contest others = contest_copy(contest);
    struct side aged = {.state = &state, .contest = contest};
    struct side fresh = {.state = &state, .contest = &others, .numbers = numbers};

    aged.made = block_new(contest->count * state.living, sizeof(scheme_handle));
    contest_build(contest, &forest);
    contest_make_prefab(contest, prefab_seed);
    measure(&aged, &fresh, &end, kind_of(at));

    contest_copy_end(&others);
    free(aged.made);
    free(numbers);
    free(state.spawns);
    free(state.just_made);
    free(state.moves);
    free(state.writes);
    free(state.handles);
    forest_destroy(&end);
    churn_destroy(&churn);
    forest_destroy(&forest);
}

const struct load load_aged = {
    "aged", "full and readers behind 200 frames of churn", cases, CASE_COUNT(cases), is_for, run,
    false,
};

// SPDX-License-Identifier: MIT
// Load `mixed`: a frame of `spawn` to which one extra is added, because the frames of a game are
// never pure. `x plain` is the time of the frame divided by the time of the same frame without the
// extra, which is played in turns with it on a second world.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/loads/mixing.h"

enum { base_trees = 1000, all_nodes = base_trees * mixing_tree_size };

/// Frames with some extras, on one world of each contestant.
struct side {
    const struct contest *contest;
    struct mixing mixing;
    struct forest forest;
    scheme_handle *made;      ///< [contestants][mixing_life][count] first nodes alive.
    scheme_handle *just_made; ///< [count] of the frame at hand.
};

// First nodes of the prefabs that a contestant made in a frame; they are destroyed 20 frames later.
static scheme_handle *made_in(const struct side *side, const struct contestant *who, unsigned frame)
{
    const size_t index = (size_t)(who - side->contest->contestants);

    return side->made + (index * mixing_life + frame % mixing_life) * side->mixing.count;
}

static void prepare(void *load, struct contestant *who)
{
    struct side *const side = load;

    mixing_draw(&side->mixing, who->scheme, who->world, who->frame);
}

static void play(void *load, struct contestant *who)
{
    const struct side *const side = load;
    const scheme_handle *const doomed =
        who->frame < mixing_life ? NULL : made_in(side, who, who->frame);

    mixing_play(&side->mixing, who->scheme, who->world, doomed, side->just_made);
}

static void settle(void *load, struct contestant *who)
{
    const struct side *const side = load;

    memcpy(made_in(side, who, who->frame), side->just_made,
           side->mixing.count * sizeof *side->just_made);
}

// The living prefabs, from the oldest to the youngest, go before the forest's nodes.
static uint64_t checksum_of(const struct side *side, struct contestant *who)
{
    for (unsigned age = 0; age < mixing_life; ++age) {
        const scheme_handle *const made = made_in(side, who, who->frame + age);

        for (uint32_t i = 0; i < side->mixing.count; ++i) {
            struct pose worlds[PREFAB_SIZE];

            who->scheme->spawn_worlds(who->world, made[i], worlds);
            who->readings = checksum_add(who->readings, worlds, sizeof worlds);
        }
    }
    return contest_checksum(who, side->forest.count);
}

static struct side side_create(struct contest *contest, struct forest_shape shape, uint32_t count,
                               unsigned drawn, unsigned extras)
{
    struct side side = {
        .contest = contest,
        .mixing = mixing_create(base_trees, count, drawn, extras),
        .forest = forest_create(shape),
        .made = block_new(contest->count * mixing_life * count, sizeof(scheme_handle)),
        .just_made = block_new(count, sizeof(scheme_handle)),
    };

    contest_build(contest, &side.forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            mixing_set_up(&side.mixing, who->scheme, who->world);
        }
    }
    return side;
}

static void side_destroy(struct side *side)
{
    mixing_destroy(&side->mixing);
    forest_destroy(&side->forest);
    free(side->made);
    free(side->just_made);
}

#define BASE_SHAPE                               \
    {                                            \
        base_trees, mixing_tree_size, mixing_fan \
    }

static const struct load_case cases[] = {
    {"plain", BASE_SHAPE, 1000, true},
    {"values", BASE_SHAPE, 1000, true},
    {"new-values", BASE_SHAPE, 1000, true},
    {"before", BASE_SHAPE, 1000, true},
    {"count2", BASE_SHAPE, 1000, true},
    {"references", BASE_SHAPE, 1000, true},
    {"one-tree", {1, all_nodes, mixing_fan}, 1000, true},
    {"attach", BASE_SHAPE, 1000, true},
    {"write", BASE_SHAPE, 1000, true},
    {"prefab-stretch", BASE_SHAPE, 1000, true},
    {"stretch", BASE_SHAPE, 1000, true},
    {"flags", BASE_SHAPE, 1000, true},
    {"all", BASE_SHAPE, 1000, true},
};

static unsigned extras_of(const struct load_case *at)
{
    static const unsigned extras[] = {
        0,
        EXTRA_VALUES,
        EXTRA_NEW_VALUES,
        EXTRA_BEFORE,
        EXTRA_COUNT,
        EXTRA_REFERENCES,
        0,
        EXTRA_ATTACH,
        EXTRA_WRITE,
        EXTRA_PREFAB_STRETCH,
        EXTRA_STRETCH,
        EXTRA_FLAG,
        MIXING_ALL_EXTRAS,
    };

    _Static_assert(CASE_COUNT(extras) == CASE_COUNT(cases), "extras for each case");
    return extras[at - cases];
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    return mixing_is_for(scheme, extras_of(at));
}

static void report(struct contest *contest, const struct contest *plain, const struct side *side)
{
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double median = samples_median(&who->samples);
            const uint64_t checksum = checksum_of(side, who);

            contest_report(contest, who, median / side->mixing.count, "ns/prefab", checksum);
            contest_report_quotient(contest, plain, who, "x plain", checksum);
            contest_report_parts(contest, who, side->mixing.count, "ns/prefab", checksum);
        }
    }
}

// The shape `plain` is compared with itself too, which shows the noise.
static void run(struct contest *contest, const struct load_case *at)
{
    const struct contest_plan plan = {
        .lead_in = mixing_life + 5, .turns = 8, .warm = 2, .timed = 20};
    const struct contest_steps steps = {prepare, play, settle};
    const struct forest_shape base = BASE_SHAPE;
    const unsigned extras = extras_of(at);
    struct contest other = contest_copy(contest);
    struct side side = side_create(contest, at->shape, at->amount, extras, extras);
    struct side plain = side_create(&other, base, at->amount, extras, 0);

    contest_alternate_two(contest, &side, &other, &plain, &plan, &steps);
    report(contest, &other, &side);
    contest_copy_end(&other);
    side_destroy(&side);
    side_destroy(&plain);
}

const struct load load_mixed = {
    "mixed", "spawn with an extra in each frame", cases, CASE_COUNT(cases), is_for, run, false,
};

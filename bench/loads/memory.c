// SPDX-License-Identifier: MIT
// Load `memory`: bytes a node of a world that stands still, all-in. In some cases a watch has collected
// twice, the second time nothing, or motion runs; or the world has cells, or another one has counterparts of all
// nodes, and bytes are those of that one.
#include "bench/loads/load.h"

#include <string.h>

static enum scheme_tracking tracking_of(const struct load_case *at)
{
    if (strstr(at->name, "watched") != NULL) {
        return TRACK_WORLDS;
    }
    if (strstr(at->name, "followed") != NULL) {
        return TRACK_COUNTERPARTS;
    }
    return strstr(at->name, "ticked") != NULL ? TRACK_MOTION : TRACK_NOTHING;
}

static bool has_tracking(const struct scheme *scheme, enum scheme_tracking tracking)
{
    if (tracking == TRACK_COUNTERPARTS) {
        return scheme->repeat != NULL;
    }
    return tracking == TRACK_WORLDS ? scheme->collect != NULL : scheme->tick != NULL;
}

// A variant that tracks nothing is what it is a variant of.
static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    const enum scheme_tracking tracking = tracking_of(at);
    const bool is_celled = strstr(at->name, "celled") != NULL;
    const bool is_able =
        tracking == TRACK_NOTHING ? !scheme->is_variant : has_tracking(scheme, tracking);

    if (is_celled) {
        return scheme->bytes != NULL && scheme->rebase != NULL;
    }
    return scheme->bytes != NULL && is_able;
}

static void track(const struct contestant *who, const struct load_case *at)
{
    const enum scheme_tracking tracking = tracking_of(at);

    if (tracking != TRACK_NOTHING) {
        who->scheme->track(who->world, tracking);
    }
    if (tracking == TRACK_WORLDS) {
        (void)who->scheme->collect(who->world);
    }
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);

    contest_build(contest, &forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            track(who, at);
            const double bytes = (double)who->scheme->bytes(who->world);

            contest_report(contest, who, bytes / (double)forest.count, "bytes/node",
                           contest_checksum(who, forest.count));
        }
    }
    forest_destroy(&forest);
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 0, true},
    {"1x1000000", {1, 1000000, 100}, 0, false},
    {"500x20", {500, 20, 3}, 0, false},
    {"50000x20-watched", {50000, 20, 3}, 0, false},
    {"50000x20-ticked", {50000, 20, 3}, 0, false},
    {"50000x20-celled", {50000, 20, 3}, 0, false},
    {"50000x20-followed", {50000, 20, 3}, 0, false},
    {"500x20-watched", {500, 20, 3}, 0, false},
    {"500x20-ticked", {500, 20, 3}, 0, false},
};

const struct load load_memory = {
    "memory", "bytes a node, all-in", cases, CASE_COUNT(cases), is_for, run, false,
};

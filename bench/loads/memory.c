// SPDX-License-Identifier: MIT
// Load `memory`: bytes a node of a world that stands still, all-in.
#include "bench/loads/load.h"

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->bytes != NULL;
}

static void run(struct contest *contest, const struct load_case *at)
{
    struct forest forest = forest_create(at->shape);

    contest_build(contest, &forest);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
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
};

const struct load load_memory = {
    "memory", "bytes a node, all-in", cases, CASE_COUNT(cases), is_for, run, false,
};

// SPDX-License-Identifier: MIT
// Load `values`: a world is saved and loaded as an image, and written and read as an archive. Images are
// compared with a copy of as many bytes in the same frame, archives with nothing.
#include "bench/loads/load.h"

#include "bench/blocks.h"
#include "bench/draw.h"

#include <string.h>

enum { values_seed = 122 };

static void prepare(void *load, struct contestant *who)
{
    (void)load;
    (void)who;
}

static void play(void *load, struct contestant *who)
{
    (void)load;
    for (int what = 0; what < VALUE_COUNT; ++what) {
        who->scheme->value(who->world, (enum scheme_value)what);
    }
}

// Build the worlds: node by node, or as copies of one tree.
static void build(struct contest *contest, const struct load_case *at)
{
    const bool has_copies = strstr(at->name, "copies") != NULL;
    const struct forest_shape one = {1, at->shape.tree_size, at->shape.fan};
    struct forest forest = forest_create(has_copies ? one : at->shape);

    if (has_copies) {
        struct pose *const roots = block_new(at->shape.trees, sizeof *roots);
        struct draw draw = draw_begin(values_seed, 0);

        for (uint32_t i = 0; i < at->shape.trees; ++i) {
            roots[i] = draw_pose(&draw, ROOT_SIDE);
        }
        contest_build_copies(contest, &forest, roots, at->shape.trees);
        free(roots);
    } else {
        contest_build(contest, &forest);
    }
    forest_destroy(&forest);
}

static void report(struct contest *contest, size_t nodes)
{
    contest_report_medians(contest, nodes, "ns/node", nodes);
    contest_report_quotient_of_parts(contest, "save", "copy", nodes);
    contest_report_quotient_of_parts(contest, "load", "copy", nodes);
    contest_report_quotient_of_parts(contest, "load", "fresh", nodes);
    contest_report_quotient_of_parts(contest, "checked", "copy", nodes);
    contest_report_quotient_of_parts(contest, "checked", "fresh", nodes);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            contest_report(contest, who,
                           (double)who->scheme->archive_bytes(who->world) / (double)nodes,
                           "bytes/node archive", contest_checksum(who, nodes));
        }
    }
}

static void run(struct contest *contest, const struct load_case *at)
{
    const size_t nodes = (size_t)at->shape.trees * at->shape.tree_size;
    const struct contest_plan plan =
        nodes <= 100000 ? (struct contest_plan){.lead_in = 1, .turns = 1, .warm = 4, .timed = 100}
                        : (struct contest_plan){.lead_in = 1, .turns = 1, .warm = 1, .timed = 11};
    const struct contest_steps steps = {prepare, play, NULL};

    build(contest, at);
    contest_alternate(contest, &plan, &steps, NULL);
    report(contest, nodes);
}

static bool is_for(const struct scheme *scheme, const struct load_case *at)
{
    (void)at;
    return scheme->value != NULL;
}

static const struct load_case cases[] = {
    {"50000x20", {50000, 20, 3}, 0, true},
    {"50000x20-copies", {50000, 20, 3}, 0, false},
    {"1x1000000", {1, 1000000, 100}, 0, false},
    {"500x20", {500, 20, 3}, 0, true},
};

const struct load load_values = {
    "values", "a world is saved and loaded, written and read",
    cases,    CASE_COUNT(cases),
    is_for,   run,
    false,
};

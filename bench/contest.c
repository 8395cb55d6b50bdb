// SPDX-License-Identifier: MIT
// Turns, medians and the account. Nothing here knows what a load or a scheme does.
#include "bench/contest.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/clock.h"
#include "bench/draw.h"

#include <inttypes.h>
#include <string.h>

void contest_open(struct contest *contest)
{
    printf("%-12s %7s  %-9s %-20s %12s %-20s %s\n", "scheme", "workers", "load", "shape", "figure",
           "unit", "checksum");
    fflush(stdout);
    if (contest->csv != NULL) {
        fprintf(contest->csv, "scheme,workers,load,shape,figure,unit,checksum\n");
    }
}

void contest_begin(struct contest *contest, const char *load, const char *shape)
{
    contest->load = load;
    contest->shape = shape;
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        who->plays = false;
        who->part_count = 0;
        who->frame = 0;
        who->readings = checksum_begin();
    }
}

static void samples_drop(struct contestant *who)
{
    samples_clear(&who->samples);
    for (size_t i = 0; i < who->part_count; ++i) {
        samples_clear(&who->parts[i].samples);
    }
    who->part_count = 0;
}

static void world_drop(struct contestant *who)
{
    if (who->world != NULL) {
        who->scheme->destroy(who->world);
    }
    who->world = NULL;
}

void contest_end(struct contest *contest)
{
    for (size_t i = 0; i < contest->count; ++i) {
        world_drop(&contest->contestants[i]);
        samples_drop(&contest->contestants[i]);
    }
}

void contest_build(struct contest *contest, const struct forest *forest)
{
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->world = who->scheme->create(forest, who->workers);
        }
    }
}

void contest_build_copies(struct contest *contest, const struct forest *tree,
                          const struct pose *root_locals, size_t copies)
{
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->world = who->scheme->create_copies(tree, root_locals, copies, who->workers);
        }
    }
}

void contest_draw_prefab(struct pose locals[PREFAB_SIZE], uint64_t seed)
{
    struct draw draw = draw_begin(seed, 0);

    for (int i = 0; i < PREFAB_SIZE; ++i) {
        locals[i] = draw_pose(&draw, MEMBER_SIDE);
    }
}

void contest_make_prefab(const struct contest *contest, uint64_t seed)
{
    struct pose locals[PREFAB_SIZE];

    contest_draw_prefab(locals, seed);
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            who->scheme->make_prefab(who->world, locals);
        }
    }
}

unsigned contest_frames(const struct contest_plan *plan)
{
    return plan->lead_in + plan->turns * (plan->warm + plan->timed);
}

static double play_frame(const struct contest_steps *steps, void *load, struct contestant *who)
{
    steps->prepare(load, who);

    const double before = clock_now();
    steps->play(load, who);
    const double after = clock_now();

    if (steps->settle != NULL) {
        steps->settle(load, who);
    }
    ++who->frame;
    return after - before;
}

// A scheme tells the same parts of every frame of a case, in the same order.
static void sample_parts(struct contestant *who)
{
    struct scheme_part parts[SCHEME_PART_LIMIT];

    if (who->scheme->split == NULL) {
        return;
    }
    who->part_count = who->scheme->split(who->world, parts);
    for (size_t i = 0; i < who->part_count; ++i) {
        who->parts[i].name = parts[i].name;
        samples_add(&who->parts[i].samples, parts[i].nanoseconds);
    }
}

static void play_turn(const struct contest_plan *plan, const struct contest_steps *steps,
                      void *load, struct contestant *who)
{
    for (unsigned i = 0; i < plan->warm + plan->timed; ++i) {
        const double nanoseconds = play_frame(steps, load, who);

        if (i >= plan->warm) {
            samples_add(&who->samples, nanoseconds);
            sample_parts(who);
        }
    }
}

void contest_alternate(struct contest *contest, const struct contest_plan *plan,
                       const struct contest_steps *steps, void *load)
{
    struct contestant *const end = contest->contestants + contest->count;

    for (struct contestant *who = contest->contestants; who < end; ++who) {
        for (unsigned i = 0; who->plays && i < plan->lead_in; ++i) {
            play_frame(steps, load, who);
        }
    }

    for (unsigned turn = 0; turn < plan->turns; ++turn) {
        for (struct contestant *who = contest->contestants; who < end; ++who) {
            if (who->plays) {
                play_turn(plan, steps, load, who);
            }
        }
    }
}

struct contest contest_copy(const struct contest *contest)
{
    struct contest copy = {.count = contest->count, .load = contest->load, .shape = contest->shape};

    copy.contestants =
        block_copy(contest->contestants, contest->count, sizeof *contest->contestants);
    return copy;
}

void contest_copy_end(struct contest *copy)
{
    contest_end(copy);
    free(copy->contestants);
}

void contest_alternate_sides(const struct contest_side *sides, size_t count,
                             const struct contest_plan *plan, const struct contest_steps *steps)
{
    const struct contest_plan lead_in = {.lead_in = plan->lead_in};
    const struct contest_plan turn = {.turns = 1, .warm = plan->warm, .timed = plan->timed};

    for (size_t i = 0; i < count; ++i) {
        contest_alternate(sides[i].contest, &lead_in, steps, sides[i].load);
    }
    for (unsigned played = 0; played < plan->turns; ++played) {
        for (size_t i = 0; i < count; ++i) {
            contest_alternate(sides[i].contest, &turn, steps, sides[i].load);
        }
    }
}

void contest_alternate_two(struct contest *contest, void *load, struct contest *copy,
                           void *copy_load, const struct contest_plan *plan,
                           const struct contest_steps *steps)
{
    const struct contest_side sides[] = {{copy, copy_load}, {contest, load}};

    contest_alternate_sides(sides, 2, plan, steps);
}

void contest_report_quotient(struct contest *contest, const struct contest *copy,
                             const struct contestant *who, const char *unit, uint64_t checksum)
{
    const size_t index = (size_t)(who - contest->contestants);
    const double median = samples_median(&who->samples);

    contest_report(contest, who, median / samples_median(&copy->contestants[index].samples), unit,
                   checksum);
}

uint64_t contest_checksum(const struct contestant *who, size_t nodes)
{
    struct pose *const worlds = block_new(nodes, sizeof *worlds);

    who->scheme->copy_worlds(who->world, worlds, nodes);
    const uint64_t sum = checksum_add(who->readings, worlds, nodes * sizeof *worlds);
    free(worlds);
    return sum;
}

void contest_report(struct contest *contest, const struct contestant *who, double figure,
                    const char *unit, uint64_t checksum)
{
    const char *const name = who->scheme->name;

    contest->results =
        block_grown(contest->results, contest->result_count, sizeof *contest->results);
    struct contest_result *const result = &contest->results[contest->result_count++];
    *result = (struct contest_result){who, contest->load, contest->shape, "", figure, checksum};
    snprintf(result->unit, sizeof result->unit, "%s", unit);

    printf("%-12s %7u  %-9s %-20s %12.2f %-20s %016" PRIx64 "\n", name, who->workers, contest->load,
           contest->shape, figure, unit, checksum);
    fflush(stdout);
    if (contest->csv != NULL) {
        fprintf(contest->csv, "%s,%u,%s,%s,%.6g,%s,%016" PRIx64 "\n", name, who->workers,
                contest->load, contest->shape, figure, unit, checksum);
    }
}

void contest_report_parts(struct contest *contest, const struct contestant *who, size_t things,
                          const char *unit, uint64_t checksum)
{
    for (size_t i = 0; i < who->part_count; ++i) {
        const double median = samples_median(&who->parts[i].samples);
        char name[CONTEST_UNIT_SIZE];

        snprintf(name, sizeof name, "%s %s", unit, who->parts[i].name);
        if (median > 0) {
            contest_report(contest, who, median / (double)things, name, checksum);
        }
    }
}

void contest_report_medians(struct contest *contest, size_t things, const char *unit, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double figure = samples_median(&who->samples) / (double)things;
            const uint64_t checksum = contest_checksum(who, nodes);

            contest_report(contest, who, figure, unit, checksum);
            contest_report_parts(contest, who, things, unit, checksum);
        }
    }
}

double contest_part_median(const struct contestant *who, const char *name)
{
    for (size_t i = 0; i < who->part_count; ++i) {
        if (strcmp(who->parts[i].name, name) == 0) {
            return samples_median(&who->parts[i].samples);
        }
    }
    return 0;
}

static void report_part_quotient(struct contest *contest, const struct contestant *who,
                                 const char *part, const char *divisor_name, double divisor,
                                 size_t nodes)
{
    const double median = contest_part_median(who, part);
    char unit[CONTEST_UNIT_SIZE];

    snprintf(unit, sizeof unit, "%s/%s", part, divisor_name);
    if (median > 0 && divisor > 0) {
        contest_report(contest, who, median / divisor, unit, contest_checksum(who, nodes));
    }
}

void contest_report_quotient_of_parts(struct contest *contest, const char *part,
                                      const char *divisor, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            report_part_quotient(contest, who, part, divisor, contest_part_median(who, divisor),
                                 nodes);
        }
    }
}

void contest_report_excess_of_part(struct contest *contest, const struct contest *copy,
                                   const char *part, const char *divisor, const char *unit,
                                   size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double excess =
                contest_part_median(who, part) - contest_part_median(&copy->contestants[i], part);

            contest_report(contest, who, excess / contest_part_median(who, divisor), unit,
                           contest_checksum(who, nodes));
        }
    }
}

void contest_report_share(struct contest *contest, const char *part, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            report_part_quotient(contest, who, part, "whole", samples_median(&who->samples), nodes);
        }
    }
}

// Results of one load and shape measure the same figure where the unit is the same too.
static bool is_same_case(const struct contest_result *a, const struct contest_result *b)
{
    return strcmp(a->load, b->load) == 0 && strcmp(a->shape, b->shape) == 0;
}

static bool is_same_figure(const struct contest_result *a, const struct contest_result *b)
{
    return is_same_case(a, b) && strcmp(a->unit, b->unit) == 0;
}

// A scheme against itself is the affair of the lines on scaling.
static bool is_to_compare(const struct contest_result *ours, const struct contest_result *other)
{
    return other->who->scheme != ours->who->scheme && is_same_figure(ours, other) &&
           other->figure > 0;
}

// One line for each figure of espalier's, with its ratio to every other contestant's.
static void print_ratios(const struct contest *contest, const struct contest_result *ours)
{
    bool is_begun = false;

    for (size_t i = 0; i < contest->result_count; ++i) {
        const struct contest_result *const other = &contest->results[i];

        if (!is_to_compare(ours, other)) {
            continue;
        }
        if (!is_begun) {
            printf("ratio  %-9s %-20s %-20s", ours->load, ours->shape, ours->unit);
        }
        printf("  %s:%u/%s:%u %.3f", ours->who->scheme->name, ours->who->workers,
               other->who->scheme->name, other->who->workers, ours->figure / other->figure);
        is_begun = true;
    }
    if (is_begun) {
        printf("\n");
    }
}

// Times scale with workers; bytes, and ratios of times, do not.
static bool is_time(const struct contest_result *result)
{
    static const char *const prefixes[] = {"ns/", "us/", "ms "};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
        if (strncmp(result->unit, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void csv_scaling(FILE *csv, const struct contest_result *result, double speed_up)
{
    const struct contestant *const who = result->who;
    const double figures[] = {speed_up, speed_up / who->workers};
    static const char *const names[] = {"speed-up", "efficiency"};

    for (size_t i = 0; csv != NULL && i < sizeof figures / sizeof *figures; ++i) {
        fprintf(csv, "%s,%u,%s,%s,%.6g,%s %s,%016" PRIx64 "\n", who->scheme->name, who->workers,
                result->load, result->shape, figures[i], result->unit, names[i], result->checksum);
    }
}

// One line for each time of a scheme with one worker, with what the scheme gains by more.
static void print_scaling(const struct contest *contest, const struct contest_result *one)
{
    bool is_begun = false;

    for (size_t i = 0; i < contest->result_count; ++i) {
        const struct contest_result *const more = &contest->results[i];
        const bool is_more = more->who->scheme == one->who->scheme && more->who->workers > 1;

        if (!is_more || !is_same_figure(one, more) || more->figure <= 0) {
            continue;
        }

        const double speed_up = one->figure / more->figure;
        if (!is_begun) {
            printf("scale  %-9s %-20s %-20s  %s", one->load, one->shape, one->unit,
                   one->who->scheme->name);
        }
        printf("  %u workers: speed-up %.2f, efficiency %.2f", more->who->workers, speed_up,
               speed_up / more->who->workers);
        csv_scaling(contest->csv, more, speed_up);
        is_begun = true;
    }
    if (is_begun) {
        printf("\n");
    }
}

// Compare a result with the first one of its case: enough, for equality carries over.
static bool agrees(const struct contest *contest, const struct contest_result *result)
{
    const struct contest_result *first = contest->results;

    while (!is_same_case(first, result)) {
        ++first;
    }
    if (first->checksum == result->checksum) {
        return true;
    }

    printf("DIFFER  %s %s: %s with %u workers against %s with %u\n", result->load, result->shape,
           result->who->scheme->name, result->who->workers, first->who->scheme->name,
           first->who->workers);
    return false;
}

bool contest_close(struct contest *contest)
{
    size_t differing = 0;

    printf("\n");
    for (size_t i = 0; i < contest->result_count; ++i) {
        if (contest->results[i].who->scheme == &scheme_espalier) {
            print_ratios(contest, &contest->results[i]);
        }
    }
    for (size_t i = 0; i < contest->result_count; ++i) {
        if (contest->results[i].who->workers == 1 && is_time(&contest->results[i])) {
            print_scaling(contest, &contest->results[i]);
        }
    }

    for (size_t i = 0; i < contest->result_count; ++i) {
        differing += !agrees(contest, &contest->results[i]);
    }
    if (differing == 0) {
        printf("checksums agree: %zu results\n", contest->result_count);
    } else {
        printf("checksums DIFFER: %zu of %zu results\n", differing, contest->result_count);
    }
    free(contest->results);
    contest->results = NULL;
    contest->result_count = 0;
    return differing == 0;
}

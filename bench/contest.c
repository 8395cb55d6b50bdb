// SPDX-License-Identifier: MIT
// Turns, medians and the account. Nothing here knows what a load or a scheme does.
#include "bench/contest.h"

#include "bench/blocks.h"
#include "bench/checksum.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

double contest_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// Return a longer array with the elements of the old one, which is released. Capacities double
// from 64 on, so an array is full exactly at those counts.
static void *array_grown(void *array, size_t count, size_t size)
{
    const bool is_full = count == 0 || (count >= 64 && (count & (count - 1)) == 0);

    if (!is_full) {
        return array;
    }

    void *const longer = block_new(count < 64 ? 64 : 2 * count, size);
    if (count > 0) {
        memcpy(longer, array, count * size);
    }
    free(array);
    return longer;
}

void contest_open(struct contest *contest)
{
    printf("%-9s %7s  %-9s %-20s %12s %-18s %s\n", "scheme", "workers", "load", "shape", "figure",
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
        who->sample_count = 0;
        who->frame = 0;
        who->readings = checksum_begin();
    }
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
        struct contestant *const who = &contest->contestants[i];

        world_drop(who);
        free(who->samples);
        who->samples = NULL;
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

unsigned contest_frames(const struct contest_plan *plan)
{
    return plan->lead_in + plan->turns * (plan->warm + plan->timed);
}

static double play_frame(const struct contest_steps *steps, void *load, struct contestant *who)
{
    steps->prepare(load, who);

    const double before = contest_now();
    steps->play(load, who);
    const double after = contest_now();

    if (steps->settle != NULL) {
        steps->settle(load, who);
    }
    ++who->frame;
    return after - before;
}

static void play_turn(const struct contest_plan *plan, const struct contest_steps *steps,
                      void *load, struct contestant *who)
{
    for (unsigned i = 0; i < plan->warm + plan->timed; ++i) {
        const double nanoseconds = play_frame(steps, load, who);

        if (i >= plan->warm) {
            contest_sample(who, nanoseconds);
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

void contest_sample(struct contestant *who, double nanoseconds)
{
    who->samples = array_grown(who->samples, who->sample_count, sizeof *who->samples);
    who->samples[who->sample_count++] = nanoseconds;
}

static int compare_samples(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void sort_samples(const struct contestant *who)
{
    qsort(who->samples, who->sample_count, sizeof *who->samples, compare_samples);
}

double contest_median(const struct contestant *who)
{
    const size_t count = who->sample_count;

    if (count == 0) {
        return 0;
    }
    sort_samples(who);
    return (who->samples[(count - 1) / 2] + who->samples[count / 2]) / 2;
}

double contest_p99(const struct contestant *who)
{
    if (who->sample_count == 0) {
        return 0;
    }
    sort_samples(who);
    return who->samples[(who->sample_count * 99 + 99) / 100 - 1];
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
        array_grown(contest->results, contest->result_count, sizeof *contest->results);
    contest->results[contest->result_count++] =
        (struct contest_result){who, contest->load, contest->shape, unit, figure, checksum};

    printf("%-9s %7u  %-9s %-20s %12.2f %-18s %016" PRIx64 "\n", name, who->workers, contest->load,
           contest->shape, figure, unit, checksum);
    fflush(stdout);
    if (contest->csv != NULL) {
        fprintf(contest->csv, "%s,%u,%s,%s,%.6g,%s,%016" PRIx64 "\n", name, who->workers,
                contest->load, contest->shape, figure, unit, checksum);
    }
}

void contest_report_medians(struct contest *contest, size_t things, const char *unit, size_t nodes)
{
    for (size_t i = 0; i < contest->count; ++i) {
        const struct contestant *const who = &contest->contestants[i];

        if (who->plays) {
            const double figure = contest_median(who) / (double)things;

            contest_report(contest, who, figure, unit, contest_checksum(who, nodes));
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

// One line for each figure of espalier's, with its ratio to every other contestant's.
static void print_ratios(const struct contest *contest, const struct contest_result *ours)
{
    bool is_begun = false;

    for (size_t i = 0; i < contest->result_count; ++i) {
        const struct contest_result *const other = &contest->results[i];

        if (other == ours || !is_same_figure(ours, other) || other->figure <= 0) {
            continue;
        }
        if (!is_begun) {
            printf("ratio  %-9s %-20s %-18s", ours->load, ours->shape, ours->unit);
        }
        printf("  %s:%u/%s:%u %.3f", ours->who->scheme->name, ours->who->workers,
               other->who->scheme->name, other->who->workers, ours->figure / other->figure);
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

// SPDX-License-Identifier: MIT
// The course: runs loads over shapes, with all schemes alternating in one run, and prints a line
// per result. The last line says whether the checksums agree.
#include "bench/blocks.h"
#include "bench/contest.h"
#include "bench/loads/load.h"
#include "bench/options.h"

#include <stdlib.h>
#include <string.h>

static const struct load *const loads[] = {
    &load_full,     &load_scaling, &load_every,    &load_ways,   &load_sparse,  &load_idle,
    &load_animate,  &load_roots,   &load_midframe, &load_bevy,   &load_spawn,   &load_mixed,
    &load_reparent, &load_aged,    &load_battle,   &load_giant,  &load_wide,    &load_readers,
    &load_watch,    &load_motion,  &load_cull,     &load_update, &load_publish, &load_values,
    &load_deltas,   &load_history, &load_follow,   &load_far,    &load_build,   &load_memory,
};

static const struct scheme *const schemes[] = {
    &scheme_flat,           &scheme_linked,       &scheme_recursive,   &scheme_depth_sweep,
    &scheme_clustered,      &scheme_dirty_stream, &scheme_deferred,    &scheme_espalier,
    &scheme_onebyone,       &scheme_batch,        &scheme_compare,     &scheme_ticks,
    &scheme_eased,          &scheme_flat_cull,    &scheme_scalar_cull, &scheme_gather,
    &scheme_clustered_cull, &scheme_copied,       &scheme_celled,
};

enum { load_count = CASE_COUNT(loads), scheme_count = CASE_COUNT(schemes) };

static void print_list(void)
{
    puts("loads:");
    for (size_t i = 0; i < load_count; ++i) {
        printf("  %-9s %s:", loads[i]->name, loads[i]->summary);
        for (size_t c = 0; c < loads[i]->case_count; ++c) {
            printf(" %s", loads[i]->cases[c].name);
        }
        puts("");
    }
    puts("schemes:");
    for (size_t i = 0; i < scheme_count; ++i) {
        printf("  %-12s %s\n", schemes[i]->name, schemes[i]->summary);
    }
}

static bool is_load(const char *name, size_t length)
{
    for (size_t i = 0; i < load_count; ++i) {
        if (strlen(loads[i]->name) == length && memcmp(loads[i]->name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_scheme(const char *name, size_t length)
{
    for (size_t i = 0; i < scheme_count; ++i) {
        if (strlen(schemes[i]->name) == length && memcmp(schemes[i]->name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool names_are_known(const char *list, const char *kind,
                            bool (*is_known)(const char *, size_t))
{
    while (list != NULL && *list != '\0') {
        const char *const name = list;
        const size_t length = list_step(&list);

        if (!is_known(name, length)) {
            fprintf(stderr, "course: there is no %s '%.*s'; see --list\n", kind, (int)length, name);
            return false;
        }
    }
    return true;
}

static void enter_one(struct contest *contest, const struct scheme *scheme, unsigned workers,
                      bool is_second)
{
    contest->contestants[contest->count++] =
        (struct contestant){.scheme = scheme, .workers = workers, .is_second = is_second};
}

// A scheme enters once for each number of workers it can use; one thread at least. Where nobody has
// named any, it enters with one, and with two for the loads that make work for threads.
static void enter(struct contest *contest, const struct scheme *scheme,
                  const struct options *options)
{
    const unsigned limit = scheme->worker_limit != NULL ? scheme->worker_limit() : 1;
    bool has_entered = false;

    for (size_t i = 0; i < options->worker_count; ++i) {
        if (options->workers[i] <= limit) {
            enter_one(contest, scheme, options->workers[i], false);
            has_entered = true;
        }
    }
    if (!has_entered) {
        enter_one(contest, scheme, 1, false);
    }
    if (options->worker_count == 0 && limit > 1) {
        enter_one(contest, scheme, 2, true);
    }
}

static void run_case(struct contest *contest, const struct load *load, const struct load_case *at)
{
    bool has_players = false;

    contest_begin(contest, load->name, at->name);
    for (size_t i = 0; i < contest->count; ++i) {
        struct contestant *const who = &contest->contestants[i];

        who->plays = load->is_for(who->scheme, at) && (load->is_threaded || !who->is_second);
        has_players = has_players || who->plays;
    }
    if (has_players) {
        load->run(contest, at);
    }
    contest_end(contest);
}

static void run_load(struct contest *contest, const struct load *load,
                     const struct options *options)
{
    for (size_t i = 0; i < load->case_count; ++i) {
        const struct load_case *const at = &load->cases[i];
        const bool is_named = options->shape == NULL || strstr(at->name, options->shape) != NULL;

        if (is_named && (at->is_short || !options->is_short)) {
            run_case(contest, load, at);
        }
    }
}

// Return whether the checksums agree.
static bool run_all(struct contest *contest, const struct options *options)
{
    for (size_t i = 0; i < scheme_count; ++i) {
        if (list_has(options->schemes, schemes[i]->name)) {
            enter(contest, schemes[i], options);
        }
    }

    contest_open(contest);
    for (size_t i = 0; i < load_count; ++i) {
        if (list_has(options->loads, loads[i]->name)) {
            run_load(contest, loads[i], options);
        }
    }
    if (contest->result_count == 0) {
        course_fail("nothing to do", "no scheme, load and shape go together");
    }
    return contest_close(contest);
}

static FILE *csv_open(const char *path)
{
    FILE *const csv = path != NULL ? fopen(path, "w") : NULL;

    if (path != NULL && csv == NULL) {
        course_fail(path, "cannot be written");
    }
    return csv;
}

static void csv_close(FILE *csv, const char *path)
{
    if (csv == NULL) {
        return;
    }

    const bool has_failed = ferror(csv) != 0;
    if (fclose(csv) != 0 || has_failed) {
        course_fail(path, "could not be written whole");
    }
}

int main(int argc, char **argv)
{
    struct options options;

    if (!options_read(&options, argc, argv) || !names_are_known(options.loads, "load", is_load) ||
        !names_are_known(options.schemes, "scheme", is_scheme)) {
        return 2;
    }
    if (options.wants_help || options.wants_list) {
        options.wants_help ? options_help() : print_list();
        return 0;
    }

    if (options.huge_pages != NULL) {
        (void)setenv(HUGE_PAGES_SETTING, options.huge_pages, 1);
    }
    if (options.is_eager) {
        scheme_wake_espalier();
    }
    struct contestant contestants[scheme_count * WORKER_LIST_LIMIT];
    struct contest contest = {.contestants = contestants, .csv = csv_open(options.csv)};
    const bool agree = run_all(&contest, &options);

    csv_close(contest.csv, options.csv);
    return agree ? 0 : 1;
}

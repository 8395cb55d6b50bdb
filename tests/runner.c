// SPDX-License-Identifier: MIT
#include "tests/runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_entry *entries; // in the order of their lines: constructors may run in any

void test_register(test_entry *entry, int from, int to)
{
    test_entry **at = &entries;

    while (*at != NULL && (*at)->line < entry->line) {
        at = &(*at)->next;
    }
    entry->next = *at;
    *at = entry;
    entry->from = from;
    entry->to = to;
}

// "world/limits" from "../tests/world/limits_test.c".
static Suite *suite_of_file(const char *file)
{
    static char name[64]; // Check keeps the address
    const char *const tests = strstr(file, "tests/");
    const char *const begin = tests != NULL ? tests + strlen("tests/") : file;
    const char *const end = strstr(begin, "_test.c");

    (void)snprintf(name, sizeof name, "%.*s", (int)(end != NULL ? end - begin : 63), begin);
    return suite_create(name);
}

static bool is_chosen(const char *name, int part_count, char **parts)
{
    bool is_named = part_count == 0;

    for (int i = 0; i < part_count; ++i) {
        is_named = is_named || strstr(name, parts[i]) != NULL;
    }
    return is_named;
}

// The tests that are chosen. Those that share a fixture are a case.
static Suite *suite_of_entries(int part_count, char **parts)
{
    Suite *const suite = suite_of_file(entries != NULL ? entries->file : "empty");
    TCase *tcase = NULL;

    for (const test_entry *entry = entries; entry != NULL; entry = entry->next) {
        if (tcase == NULL || entry->test == NULL) {
            tcase = tcase_create("tests");
            tcase_add_checked_fixture(tcase, entry->set_up, entry->tear_down);
            suite_add_tcase(suite, tcase);
        }
        if (entry->test != NULL && is_chosen(entry->test->name, part_count, parts)) {
            tcase_add_loop_test(tcase, entry->test, entry->from, entry->to);
        }
    }
    return suite;
}

int main(int argument_count, char **arguments)
{
    const int part_count = argument_count > 1 ? argument_count - 1 : 0;

    // A test that hangs ends after ten minutes, unless it is to run for long.
    (void)setenv("CK_DEFAULT_TIMEOUT", getenv("ESPL_FACTOR") != NULL ? "0" : "600", 0);
    SRunner *const runner = srunner_create(suite_of_entries(part_count, arguments + 1));
    srunner_run_all(runner, CK_ENV);
    const bool runs_what_is_named = part_count == 0 || srunner_ntests_run(runner) > 0;
    const bool holds = srunner_ntests_failed(runner) == 0 && runs_what_is_named;
    srunner_free(runner);
    if (!runs_what_is_named) {
        (void)fprintf(stderr, "no test has such a name\n");
    }
    return holds ? EXIT_SUCCESS : EXIT_FAILURE;
}

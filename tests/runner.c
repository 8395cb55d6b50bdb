// SPDX-License-Identifier: MIT
#include "tests/runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Tells whether the name has one of the parts, or there are none.
static bool is_chosen(const char *name, int part_count, char **parts)
{
    for (int i = 0; i < part_count; ++i) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return part_count == 0;
}

// Make the suite of the chosen tests. A test case holds the tests that share a fixture.
static Suite *suite_of_entries(int part_count, char **parts)
{
    const test_entry *const first = test_first_entry();
    Suite *const suite = suite_of_file(first != NULL ? first->file : "empty");
    TCase *tcase = NULL;

    for (const test_entry *entry = first; entry != NULL; entry = entry->next) {
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

    // A test that takes more than ten minutes fails, unless ESPL_FACTOR makes tests longer.
    (void)setenv("CK_DEFAULT_TIMEOUT", getenv("ESPL_FACTOR") != NULL ? "0" : "600", 0);
    SRunner *const runner = srunner_create(suite_of_entries(part_count, arguments + 1));
    srunner_run_all(runner, CK_ENV);
    const bool is_name_unknown = part_count > 0 && srunner_ntests_run(runner) == 0;
    const bool passes = srunner_ntests_failed(runner) == 0 && !is_name_unknown;
    srunner_free(runner);
    if (is_name_unknown) {
        (void)fprintf(stderr, "no test has such a name\n");
    }
    return passes ? EXIT_SUCCESS : EXIT_FAILURE;
}

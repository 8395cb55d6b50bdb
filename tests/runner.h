// SPDX-License-Identifier: MIT
// main() of a suite. Run by hand it prints readable results; `make check` requests TAP by the
// environment.
#ifndef ESPALIER_TESTS_RUNNER_H
#define ESPALIER_TESTS_RUNNER_H

#include "tests/asserts.h"

#include <stdlib.h>

// Check's comparisons of floats promote them.
#pragma GCC diagnostic ignored "-Wdouble-promotion"

#define RUN_SUITE(make_suite)                                 \
    int main(void)                                            \
    {                                                         \
        SRunner *const runner = srunner_create(make_suite()); \
                                                              \
        srunner_run_all(runner, CK_ENV);                      \
        const int failed = srunner_ntests_failed(runner);     \
        srunner_free(runner);                                 \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;     \
    }

#endif

// SPDX-License-Identifier: MIT
// The suites that are in the program. tests/windows.sh writes the table.
#ifndef ESPALIER_TESTS_WINDOWS_SUITES_H
#define ESPALIER_TESTS_WINDOWS_SUITES_H

typedef struct check_suite {
    const char *name; // as its file: world/batch_test
    int (*main)(void);
} check_suite;

/// Ends with an entry without a name.
extern const check_suite check_suites[];

#endif

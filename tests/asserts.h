// SPDX-License-Identifier: MIT
// Check's assertions, without its trail. Check writes the place of every assertion that holds to a
// file, in system calls that took longer than most of what the tests do; all it serves is to name
// the last such place when a case crashes. The case is named without it, the place by a debugger.
#ifndef ESPALIER_TESTS_ASSERTS_H
#define ESPALIER_TESTS_ASSERTS_H

#include <check.h>

// What the assertions of Check call when they hold. A macro stands before the function there.
#define _mark_point(file, line) ((void)0)

#endif

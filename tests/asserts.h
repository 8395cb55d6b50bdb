// SPDX-License-Identifier: MIT
// Check's assertions without its trail. Check writes the place of every assertion that holds to a
// file, by system calls that took longer than most of the tests. The trail only names the last
// place when a case crashes; without it the case is still named, and a debugger finds the place.
#ifndef ESPALIER_TESTS_ASSERTS_H
#define ESPALIER_TESTS_ASSERTS_H

#include <espalier/base.h>

#include <check.h>

// What the assertions of Check call when they hold. A macro stands before the function there.
#define _mark_point(file, line) ((void)0)

/// What they call when they do not: tell Check, or who listens. Arguments as those of Check.
_Noreturn void test_failed(const char *file, int line, const char *expression, const char *message,
                           ...) __attribute__((format(printf, 4, 5)));
#define _ck_assert_failed test_failed

/// Demand the status that a call answers.
#define ck_status(call, status)                                               \
    do {                                                                      \
        const espl_status ck_got = (call), ck_wanted = (status);              \
        ck_assert_msg(ck_got == ck_wanted, "%s answers %s, not %s", #call,    \
                      espl_status_name(ck_got), espl_status_name(ck_wanted)); \
    } while (0)
#define ck_ok(call) ck_status(call, ESPL_OK)

/// Who is told of a failure, and does not return.
typedef void test_listener(const char *file, int line, const char *text);
/// Have failures told to somebody else than Check, in a program that is no suite of it.
void test_listen(test_listener *listener);

#endif

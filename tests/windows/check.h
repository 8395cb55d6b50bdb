// SPDX-License-Identifier: MIT
// A stand-in for the header of Check, which Debian does not have for Windows: what tests/runner.h and the
// suites use of it, and no more. The tests of a suite run in one process, as Check runs them with
// CK_FORK=no. tests/windows.sh ends a suite that takes too long.
#ifndef ESPALIER_TESTS_WINDOWS_CHECK_H
#define ESPALIER_TESTS_WINDOWS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*SFun)(void);

typedef struct TTest {
    const char *name;
    void (*function)(int);
    const char *file;
    int line;
} TTest;

#define CK_ATTRIBUTE_UNUSED __attribute__((unused))

/// End the running test as failed.
_Noreturn void _ck_assert_failed(const char *file, int line, const char *expression,
                                 const char *message, ...)
    __attribute__((format(__MINGW_PRINTF_FORMAT, 4, 5)));

// --- Assertions ---

#define ck_assert_msg(condition, ...) \
    ((condition) ? (void)0            \
                 : _ck_assert_failed(__FILE__, __LINE__, "'" #condition "' failed", __VA_ARGS__))
#define ck_assert(condition) ck_assert_msg(condition, NULL)
#define ck_abort_msg(...) _ck_assert_failed(__FILE__, __LINE__, "Failed", __VA_ARGS__)
#define ck_abort() ck_abort_msg(NULL)

// Compare two values of a type, and print them by a format where the comparison fails.
#define CHECK_COMPARE(type, format, a, op, b)                                              \
    do {                                                                                   \
        type const check_a = (a);                                                          \
        type const check_b = (b);                                                          \
        ck_assert_msg(check_a op check_b, "%s %s %s: " format " and " format, #a, #op, #b, \
                      check_a, check_b);                                                   \
    } while (0)

#define ck_assert_int_eq(a, b) CHECK_COMPARE(intmax_t, "%jd", a, ==, b)
#define ck_assert_int_ne(a, b) CHECK_COMPARE(intmax_t, "%jd", a, !=, b)
#define ck_assert_int_lt(a, b) CHECK_COMPARE(intmax_t, "%jd", a, <, b)
#define ck_assert_int_le(a, b) CHECK_COMPARE(intmax_t, "%jd", a, <=, b)
#define ck_assert_int_gt(a, b) CHECK_COMPARE(intmax_t, "%jd", a, >, b)
#define ck_assert_int_ge(a, b) CHECK_COMPARE(intmax_t, "%jd", a, >=, b)
#define ck_assert_uint_eq(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, ==, b)
#define ck_assert_uint_ne(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, !=, b)
#define ck_assert_uint_lt(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, <, b)
#define ck_assert_uint_le(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, <=, b)
#define ck_assert_uint_gt(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, >, b)
#define ck_assert_uint_ge(a, b) CHECK_COMPARE(uintmax_t, "%ju", a, >=, b)
#define ck_assert_float_eq(a, b) CHECK_COMPARE(float, "%.9g", a, ==, b)
#define ck_assert_float_le(a, b) CHECK_COMPARE(float, "%.9g", a, <=, b)
#define ck_assert_float_ge(a, b) CHECK_COMPARE(float, "%.9g", a, >=, b)
#define ck_assert_float_ne(a, b) CHECK_COMPARE(float, "%.9g", a, !=, b)
#define ck_assert_double_eq(a, b) CHECK_COMPARE(double, "%.17g", a, ==, b)
#define ck_assert_double_lt(a, b) CHECK_COMPARE(double, "%.17g", a, <, b)
#define ck_assert_double_le(a, b) CHECK_COMPARE(double, "%.17g", a, <=, b)
#define ck_assert_double_gt(a, b) CHECK_COMPARE(double, "%.17g", a, >, b)
#define ck_assert_double_ge(a, b) CHECK_COMPARE(double, "%.17g", a, >=, b)
#define ck_assert_ptr_eq(a, b) CHECK_COMPARE(const void *, "%p", a, ==, b)
#define ck_assert_ptr_ne(a, b) CHECK_COMPARE(const void *, "%p", a, !=, b)
#define ck_assert_ptr_null(a) ck_assert_ptr_eq(a, NULL)
#define ck_assert_ptr_nonnull(a) ck_assert_ptr_ne(a, NULL)

// A tolerance that is not a number fails, as the comparison is false.
#define CHECK_NEAR(type, format, absolute, a, b, tolerance)                               \
    do {                                                                                  \
        const type check_a = (a), check_b = (b), check_t = (tolerance);                   \
        ck_assert_msg(absolute(check_a - check_b) <= check_t,                             \
                      "%s and %s differ by more than %s: " format " and " format, #a, #b, \
                      #tolerance, check_a, check_b);                                      \
    } while (0)
#define ck_assert_float_eq_tol(a, b, tolerance) CHECK_NEAR(float, "%.9g", fabsf, a, b, tolerance)
#define ck_assert_double_eq_tol(a, b, tolerance) CHECK_NEAR(double, "%.17g", fabs, a, b, tolerance)
// The C library of Windows prints no long double.
#define ck_assert_ldouble_eq_tol(a, b, tolerance) \
    ck_assert_double_eq_tol((double)(a), (double)(b), (double)(tolerance))

#define CHECK_STRINGS(a, op, b)                                                               \
    do {                                                                                      \
        const char *const check_a = (a), *const check_b = (b);                                \
        ck_assert_msg(check_a != NULL && check_b != NULL && strcmp(check_a, check_b) op 0,    \
                      "%s %s %s:\n%s\n%s", #a, #op, #b, check_a != NULL ? check_a : "(null)", \
                      check_b != NULL ? check_b : "(null)");                                  \
    } while (0)
#define ck_assert_str_eq(a, b) CHECK_STRINGS(a, ==, b)
#define ck_assert_str_ne(a, b) CHECK_STRINGS(a, !=, b)
// NULL equals NULL alone.
#define ck_assert_pstr_eq(a, b)                                                                  \
    do {                                                                                         \
        const char *const check_p = (a), *const check_q = (b);                                   \
        ck_assert_msg(check_p == check_q ||                                                      \
                          (check_p != NULL && check_q != NULL && strcmp(check_p, check_q) == 0), \
                      "%s == %s:\n%s\n%s", #a, #b, check_p != NULL ? check_p : "(null)",         \
                      check_q != NULL ? check_q : "(null)");                                     \
    } while (0)

#define CHECK_BYTES(a, op, b, size) \
    ck_assert_msg(memcmp((a), (b), (size)) op 0, "%s %s %s in %s bytes", #a, #op, #b, #size)
#define ck_assert_mem_eq(a, b, size) CHECK_BYTES(a, ==, b, size)
#define ck_assert_mem_ne(a, b, size) CHECK_BYTES(a, !=, b, size)

// --- Beyond Check ---

/// Run a function that must abort in a process of its own, where the running test is run anew up to this
/// call. Fail the test unless it aborts; write what it printed to stderr, ended by zero.
void check_expect_abort(void (*function)(void), char *said, size_t size);

/// Sine and cosine by msvcrt, in double precision. Those of mingw are instructions of the x87, which
/// reduce large angles by a pi of too few digits.
long double check_sine(long double angle);
long double check_cosine(long double angle);
#define sinl check_sine
#define cosl check_cosine

/// Set or clear a variable of the environment, as POSIX has it: to an empty value too.
int setenv(const char *name, const char *value, int overwrites);
int unsetenv(const char *name);

#endif

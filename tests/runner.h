// SPDX-License-Identifier: MIT
// A suite is a file of tests, which register themselves where they are defined. Its main() is in
// runner.c. It prints readable results; `make check` requests TAP by the environment.
//
//     tests/world/limits_test               runs all its tests
//     tests/world/limits_test chunks lives  runs those with one of these parts in their names
#ifndef ESPALIER_TESTS_RUNNER_H
#define ESPALIER_TESTS_RUNNER_H

#include "tests/asserts.h"

#include <stdlib.h>

// Check's comparisons of floats promote them.
#pragma GCC diagnostic ignored "-Wdouble-promotion"

/// A test, or a fixture of the tests that follow it in the file.
typedef struct test_entry {
    struct test_entry *next;
    const char *file;
    int line;
    const TTest *test; // NULL: a fixture
    int from, to;      // the test runs for each _i in [from, to)
    SFun set_up, tear_down;
} test_entry;

/// Constructors call this before main(), in any order.
void test_register(test_entry *entry, int from, int to);

/// The list of all entries of the program, in the order of their lines. NULL: there are none.
const test_entry *test_first_entry(void);

/// A test: TEST(a_sentence_that_is_true) { ... }
#define TEST(name) TEST_LOOP(name, 0, 1)

/// A test that runs if a condition holds.
#define TEST_IF(name, condition) TEST_LOOP(name, 0, (condition) ? 1 : 0)

/// A test that runs once for each `int _i` in [from, to).
#define TEST_LOOP(name, from, to)                                                              \
    static void name(int _i);                                                                  \
    __attribute__((constructor)) static void register_##name(void)                             \
    {                                                                                          \
        static const TTest checked = {#name, name, __FILE__, __LINE__};                        \
        static test_entry registered = {.file = __FILE__, .line = __LINE__, .test = &checked}; \
        test_register(&registered, from, to);                                                  \
    }                                                                                          \
    static void name(int _i CK_ATTRIBUTE_UNUSED)

/// Call a function before and one after each test that follows in the file, up to the next FIXTURE().
/// FIXTURE(NULL, NULL): none.
#define FIXTURE(before, after) FIXTURE_AT(before, after, __LINE__)
#define FIXTURE_AT(before, after, at) FIXTURE_NAMED(before, after, at)
#define FIXTURE_NAMED(before, after, at)                                                   \
    __attribute__((constructor)) static void register_fixture_##at(void)                   \
    {                                                                                      \
        static test_entry registered = {                                                   \
            .file = __FILE__, .line = __LINE__, .set_up = (before), .tear_down = (after)}; \
        test_register(&registered, 0, 0);                                                  \
    }                                                                                      \
    _Static_assert(1, "the semicolon")

#endif

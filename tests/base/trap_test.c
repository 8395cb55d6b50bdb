// SPDX-License-Identifier: MIT
#include "lib/base/trap.h"

#include "tests/base/abort.h"
#include "tests/runner.h"

#include <string.h>

typedef struct heard {
    int count, line;
    const char *file, *condition;
} heard;

static void hear(void *user, const char *file, int line, const char *condition)
{
    heard *const ear = user;

    *ear = (heard){ear->count + 1, line, file, condition};
}

TEST(hook_hears_file_line_and_condition)
{
    heard ear = {0};
    const espl_hooks hooks = {.user = &ear, .trap = hear};

    espl__trap(&hooks, "file.c", 42, "a < b");

    ck_assert_int_eq(ear.count, 1);
    ck_assert_int_eq(ear.line, 42);
    ck_assert_str_eq(ear.file, "file.c");
    ck_assert_str_eq(ear.condition, "a < b");
}

static void trap_without_hooks(void)
{
    espl__trap(NULL, "file.c", 42, "a < b");
}

static void trap_with_empty_hooks(void)
{
    const espl_hooks hooks = {0};

    espl__trap(&hooks, "file.c", 42, "a < b");
}

TEST(trap_without_a_hook_speaks_and_aborts)
{
    char said[256];

    expect_abort(trap_without_hooks, said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "file.c:42"));
    ck_assert_ptr_nonnull(strstr(said, "a < b"));
    expect_abort(trap_with_empty_hooks, said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "file.c:42"));
}

TEST(demand_traps_in_checked_builds_and_refuses_in_all)
{
    heard ear = {0};
    const espl_hooks hooks = {.user = &ear, .trap = hear};
    const int one = 1;

    ck_assert(ESPL_DEMAND(&hooks, one == 1, "One is one."));
    ck_assert_int_eq(ear.count, 0);
    ck_assert(!ESPL_DEMAND(&hooks, one == 2, "One is two."));
    ck_assert_int_eq(ear.count, ESPL_CHECKS >= 1 ? 1 : 0);
    if (ESPL_CHECKS >= 1) {
        ck_assert_str_eq(ear.condition, "One is two.");
    }
}

static void break_an_assertion(void)
{
    const int one = 1;

    ESPL_CHECK_IF(true, one == 2);
}

TEST(broken_assertion_speaks_and_aborts)
{
    char said[256];

    expect_abort(break_an_assertion, said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "trap_test.c"));
    ck_assert_ptr_nonnull(strstr(said, "one == 2"));
}

TEST(assertion_that_is_off_is_not_evaluated)
{
    int evaluated = 0;

    ESPL_CHECK_IF(false, ++evaluated == 100);
    ck_assert_int_eq(evaluated, 0);
    ESPL_CHECK_IF(true, ++evaluated == 1);
    ck_assert_int_eq(evaluated, 1);
    ESPL_CHECK(++evaluated > 0);
    ESPL_CHECK_FULL(++evaluated > 0);
    ck_assert_int_eq(evaluated, 1 + (ESPL_CHECKS >= 1) + (ESPL_CHECKS >= 2));
}

// SPDX-License-Identifier: MIT
// Runs a function that must abort in a process of its own and reads its stderr. Works where Check
// does not fork, under sanitizers. Windows has no fork(): there the process runs the test anew.
#ifndef ESPALIER_TESTS_BASE_ABORT_H
#define ESPALIER_TESTS_BASE_ABORT_H

#include "tests/asserts.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#ifdef _WIN32

static inline void expect_abort(void (*function)(void), char *said, size_t size)
{
    check_expect_abort(function, said, size);
}

#else

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ESPL_COVERAGE

void __gcov_dump(void);

// A process that aborts writes its counts as one that ends does. Behind the handler, abort() ends it.
static inline void keep_counts(int number)
{
    (void)number;
    __gcov_dump();
}

#define ON_ABORT keep_counts
#else
#define ON_ABORT SIG_DFL
#endif

/// Fail the test unless the function aborts; write what it said, ended by zero.
static inline void expect_abort(void (*function)(void), char *said, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;

    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, ON_ABORT);
        function();
        _exit(EXIT_SUCCESS);
    }

    close(ends[1]);
    for (ssize_t got = 1; got > 0 && length < size - 1; length += (size_t)got) {
        got = read(ends[0], said + length, size - 1 - length);
        ck_assert_int_ge(got, 0);
    }
    said[length] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#endif
#endif

// SPDX-License-Identifier: MIT
// Runs a function on a thread with the small stack that the library promises to need at most. The
// function returns its failure as a text, because a test must not fail on another thread.
#ifndef ESPALIER_TESTS_STACKED_H
#define ESPALIER_TESTS_STACKED_H

#include "tests/asserts.h"
#include "tests/support.h"

#include <pthread.h>

enum { STACKED_SIZE = 64 * 1024 };

/// Leave the calling function, which returns what went wrong or NULL, unless a condition holds.
#define STACKED_DEMAND(condition) \
    do {                          \
        if (!(condition)) {       \
            return #condition;    \
        }                         \
    } while (0)

typedef struct stacked_call {
    const char *(*run)(void *argument);
    void *argument;
    const char *failure;
} stacked_call;

static inline void *stacked_main(void *argument)
{
    stacked_call *const call = argument;

    call->failure = call->run(call->argument);
    return NULL;
}

/// Fail the test unless the function returns NULL. Sanitizers need more stack for their own.
static inline void run_on_a_small_stack(const char *(*run)(void *argument), void *argument)
{
    stacked_call call = {run, argument, NULL};
    const size_t size =
        test_pace_of_build() != TEST_SWIFT ? (size_t)16 * STACKED_SIZE : STACKED_SIZE;
    pthread_attr_t attributes;
    pthread_t thread;

    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, size), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, stacked_main, &call), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    ck_assert_msg(call.failure == NULL, "%s", call.failure);
}

#endif

// SPDX-License-Identifier: MIT
// What becomes of an assertion that fails: a result of Check, or a word to a program that plays tapes
// without it.
#include "tests/asserts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Here the function of Check is meant.
#undef _ck_assert_failed

static test_listener *listening;

void test_listen(test_listener *listener)
{
    listening = listener;
}

_Noreturn void test_failed(const char *file, int line, const char *expression, const char *message,
                           ...)
{
    char text[1024];
    va_list arguments;

    (void)snprintf(text, sizeof text, "%s", expression);
    if (message != NULL) {
        va_start(arguments, message);
        (void)vsnprintf(text, sizeof text, message, arguments);
        va_end(arguments);
    }
    if (listening != NULL) {
        listening(file, line, text);
    } else {
        _ck_assert_failed(file, line, expression, "%s", text);
    }
    abort(); // not reached
}

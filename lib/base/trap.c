// SPDX-License-Identifier: MIT
// Reports of assertions that do not hold and of faults of the caller.
#include "lib/base/trap.h"

#include <stdio.h>
#include <stdlib.h>

void espl__assertion_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "espalier: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

void espl__trap(const espl_hooks *hooks, const char *file, int line, const char *sentence)
{
    if (hooks != NULL && hooks->trap != NULL) {
        hooks->trap(hooks->user, file, line, sentence);
        return;
    }
    fprintf(stderr, "espalier: %s:%d: wrong use: %s\n", file, line, sentence);
    abort();
}

// SPDX-License-Identifier: MIT
// What the examples share: must(), which ends the program where a call is refused, and print_vector().
#ifndef ESPALIER_EXAMPLES_COMMON_H
#define ESPALIER_EXAMPLES_COMMON_H

#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>

static inline void must(espl_status status)
{
    if (espl_failed(status)) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// Two digits behind the point, and no sign before a zero.
static inline void print_vector(const char *label, const float v[3])
{
    printf("%s", label);
    for (int i = 0; i < 3; ++i) {
        printf(" %.2f", (int)(v[i] * 100 + (v[i] < 0 ? -0.5f : 0.5f)) / 100.0);
    }
}

#endif

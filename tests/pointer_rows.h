// SPDX-License-Identifier: MIT
// Tables of calls that get NULL for one parameter. A row is X(function, parameter, expression); the
// expression uses `k`, the things that a suite has ready, and is a status.
#ifndef ESPALIER_TESTS_POINTER_ROWS_H
#define ESPALIER_TESTS_POINTER_ROWS_H

#include <espalier/base.h>

/// What a suite has ready: it defines the struct.
typedef struct things things;

/// One call, as AS_ROW() lists it.
typedef struct pointer_row {
    const char *function, *parameter;
    espl_status (*call)(things *k);
} pointer_row;

#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a##_##b
/// Define the function of a row.
#define AS_FUNCTION(function, parameter, expression)                  \
    static espl_status CAT(without_##parameter, function)(things * k) \
    {                                                                 \
        (void)k;                                                      \
        return expression;                                            \
    }
/// List a row in an array of pointer_row.
#define AS_ROW(function, parameter, expression) \
    {#function, #parameter, CAT(without_##parameter, function)},

#endif

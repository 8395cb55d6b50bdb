// SPDX-License-Identifier: MIT
// A world whose log and trap hooks keep each line, to be compared word for word.
#ifndef ESPALIER_TESTS_TOLD_H
#define ESPALIER_TESTS_TOLD_H

#include "tests/asserts.h"
#include "tests/support.h"

typedef struct told {
    test_heap heap;
    espl_world *world;
    size_t lines, traps;         // since the last demand
    espl_log_level level;        // of the last line
    char line[1024], trap[1024]; // the last ones; of a trap the sentence
} told;

/// Hooks that tell `t`.
espl_hooks told_hooks(told *t);
/// Begin a world. @param executor  NULL means serial.
void told_begin(told *t, const espl_executor *executor);
/// End the world; nothing may have been told since the last demand.
void told_end(told *t);

/// Fail the test unless one line was told since the last demand, of this level and, as printf, of
/// these words; and no trap was. Forget it.
void told_demand(told *t, espl_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// The same of a line of ESPL_LOG_ERROR that is a trap in checked builds.
void told_demand_trap(told *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// The same of a line that is a trap in every build.
void told_demand_trap_always(told *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// Fail the test if a line or a trap was told since the last demand.
void told_demand_nothing(const told *t);

/// "index.generation" of an entity; good until sixteen more are asked for.
const char *told_id(espl_entity entity);

/// Demand that a call is refused with a status, and told with these words.
#define REFUSED(told, status, call, ...)                    \
    do {                                                    \
        ck_assert_int_eq((call), (status));                 \
        told_demand((told), ESPL_LOG_WARNING, __VA_ARGS__); \
    } while (0)

#endif

// SPDX-License-Identifier: MIT
#include "tests/told.h"

#include "tests/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void hear_line(void *user, espl_log_level level, const char *message)
{
    told *const t = user;

    t->lines += 1;
    t->level = level;
    snprintf(t->line, sizeof t->line, "%s", message);
}

static void hear_trap(void *user, const char *file, int line, const char *sentence)
{
    told *const t = user;

    (void)file;
    (void)line;
    t->traps += 1;
    snprintf(t->trap, sizeof t->trap, "%s", sentence);
}

espl_hooks told_hooks(told *t)
{
    return (espl_hooks){.user = t, .log = hear_line, .trap = hear_trap};
}

void told_begin(told *t, const espl_executor *executor)
{
    memset(t, 0, sizeof *t);
    test_heap_init(&t->heap);
    const espl_world_def def = {
        .allocator = test_heap_allocator(&t->heap),
        .hooks = told_hooks(t),
        .executor = executor != NULL ? *executor : (espl_executor){0},
        .tag = 3,
    };

    ck_ok(espl_world_create(&def, &t->world));
}

void told_end(told *t)
{
    told_demand_nothing(t);
    test_world_is_valid(t->world);
    espl_world_destroy(t->world);
    told_demand_nothing(t);
    ck_assert(t->heap.bytes == 0 && t->heap.blocks == 0 && t->heap.faults == 0);
}

__attribute__((format(printf, 3, 0))) static void demand_line(told *t, espl_log_level level,
                                                              const char *format, va_list arguments)
{
    char line[sizeof t->line];

    vsnprintf(line, sizeof line, format, arguments);
    ck_assert_msg(t->lines == 1, "%zu lines, the last: %s; wanted: %s", t->lines, t->line, line);
    ck_assert_msg(strcmp(t->line, line) == 0, "told:   %s\nwanted: %s", t->line, line);
    ck_assert_int_eq(t->level, level);
    t->lines = 0;
}

void told_demand(told *t, espl_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand_line(t, level, format, arguments);
    va_end(arguments);
    ck_assert_msg(t->traps == 0, "a trap: %s", t->trap);
}

void told_demand_trap(told *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand_line(t, ESPL_LOG_ERROR, format, arguments);
    va_end(arguments);
    if (ESPL_CHECKS >= 1) {
        ck_assert_uint_eq(t->traps, 1);
        ck_assert_str_eq(t->trap, t->line);
    } else {
        ck_assert_uint_eq(t->traps, 0);
    }
    t->traps = 0;
}

void told_demand_trap_always(told *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand_line(t, ESPL_LOG_ERROR, format, arguments);
    va_end(arguments);
    ck_assert_uint_eq(t->traps, 1);
    ck_assert_str_eq(t->trap, t->line);
    t->traps = 0;
}

void told_demand_nothing(const told *t)
{
    ck_assert_msg(t->lines == 0, "%zu lines, the last: %s", t->lines, t->line);
    ck_assert_msg(t->traps == 0, "a trap: %s", t->trap);
}

const char *told_id(espl_entity entity)
{
    static _Thread_local char ids[16][24];
    static _Thread_local unsigned next;
    char *const id = ids[next++ % 16];

    snprintf(id, sizeof ids[0], "%lu.%lu", (unsigned long)entity.index,
             (unsigned long)entity.generation);
    return id;
}

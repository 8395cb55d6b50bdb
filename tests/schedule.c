// SPDX-License-Identifier: MIT
// Jobs on one thread, in chosen orders.
#include "tests/schedule.h"

#include "tests/asserts.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4 }; // what the library is told; more than one, so that it asks

void schedule_begin(test_schedule *schedule)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->chosen = SCHEDULE_NO_PHASE;
}

uint32_t schedule_orders(size_t jobs)
{
    uint32_t orders = 1;

    ck_assert_uint_le(jobs, SCHEDULE_FEW);
    for (uint32_t i = 2; i <= jobs; ++i) {
        orders *= i;
    }
    return orders;
}

// Its digits in the factorial system tell which of those that are left comes next.
static void order_by_number(size_t *order, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t below = schedule_orders(count - i - 1);
        const size_t at = i + number / below;
        const size_t next = order[at];

        memmove(order + i + 1, order + i, (at - i) * sizeof *order);
        order[i] = next;
        number %= below;
    }
}

// A random order is one of random priorities. Now and then whoever is next is put behind all others,
// as a thread is that the system stops for a while.
static void order_by_priority(size_t *order, size_t count, test_schedule *schedule)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t at = test_below(&schedule->random, (uint32_t)(i + 1));
        const size_t moved = order[at];

        order[at] = order[i];
        order[i] = moved;
    }
    for (size_t drop = 0; drop < schedule->drops; ++drop) {
        const size_t at = test_below(&schedule->random, (uint32_t)count);
        const size_t last = order[at];

        memmove(order + at, order + at + 1, (count - at - 1) * sizeof *order);
        order[count - 1] = last;
    }
}

static void run_scheduled(void *context, espl_job function, void *argument, size_t count)
{
    test_schedule *const schedule = context;
    const size_t phase = schedule->phases++;
    size_t *const order = test_array(count + 1, sizeof *order);

    ck_assert_uint_lt(phase, SCHEDULE_PHASES);
    schedule->jobs[phase] = count;
    for (size_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    if (schedule->random != 0) {
        order_by_priority(order, count, schedule);
    } else if (phase == schedule->chosen) {
        order_by_number(order, count, schedule->order);
    }
    for (size_t i = 0; i < count; ++i) {
        function(argument, order[i]);
    }
    free(order);
}

espl_executor schedule_executor(test_schedule *schedule)
{
    return (espl_executor){schedule, WORKERS, run_scheduled};
}

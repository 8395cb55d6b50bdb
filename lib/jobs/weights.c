// SPDX-License-Identifier: MIT
// The items in order of weight have two parts. Jobs claim the heavy items one at a time when they
// start. The light items are cut into jobs before the loop. An order of the jobs alone would not
// start the heavy items first, because executors differ in the index they start first.
#include "lib/jobs/weights.h"

#include <stdatomic.h>

// An item is heavy if it has more than 1 / HEAVY_PARTS of the whole weight, rounded down to a power
// of two. So there are fewer than HEAVY_PARTS heavy items.
enum { HEAVY_PARTS = 256 };
// A light job has more than 1 / LIGHT_PARTS of the whole weight. The last job has the rest.
enum { LIGHT_PARTS = 1024, LIGHT_LIMIT = LIGHT_PARTS + 1 };
// The number of bits of a weight, and of the values of its logarithm.
enum { POWERS = 32 };

_Static_assert(LIGHT_LIMIT <= ESPL__JOB_LIMIT, "one loop takes all jobs");

typedef struct weighted_loop {
    espl__item_function function;
    void *context;
    const uint32_t *order;
    size_t heavy;                     // number of heavy items, which are first in the order
    size_t light;                     // number of light jobs
    atomic_size_t claimed;            // number of heavy items that jobs have claimed
    uint32_t begins[LIGHT_LIMIT + 1]; // [light + 1] where the light jobs begin in the order
} weighted_loop;

_Static_assert(sizeof(weighted_loop) <= 8192, "a loop is a small part of a 64 KiB stack");

static size_t weight_of(const uint32_t *weights, size_t item)
{
    return weights[item] > 0 ? weights[item] : 1;
}

// The binary logarithm of a weight, rounded down; 0 for a weight of 0. A binary search, because C11
// has no such operation.
static unsigned power_of(const uint32_t *weights, size_t item)
{
    uint32_t weight = weights[item];
    unsigned power = 0;

    for (unsigned step = POWERS / 2; step > 0; step /= 2) {
        if (weight >> step != 0) {
            weight >>= step;
            power += step;
        }
    }
    ESPL_CHECK(weight <= 1 && power < POWERS);
    return power;
}

// A counting sort: count the items of each power, turn the counts into the first rank of each power
// by a prefix sum, and place the items.
void espl__order_by_weight(uint32_t *order, const uint32_t *weights, size_t count)
{
    size_t at[POWERS] = {0};
    size_t sum = 0;

    ESPL_CHECK(count == (uint32_t)count);
    for (size_t item = 0; item < count; ++item) {
        at[power_of(weights, item)] += 1;
    }
    for (unsigned power = POWERS; power-- > 0;) {
        const size_t here = at[power];

        at[power] = sum;
        sum += here;
    }
    ESPL_CHECK(sum == count);
    for (size_t item = 0; item < count; ++item) {
        order[at[power_of(weights, item)]++] = (uint32_t)item;
    }
    ESPL_CHECK(at[0] == count);
}

// Count the items at the front of the order whose weight, rounded down to a power of two, is at
// least `least`. The weights in the order are sorted by that power alone.
static size_t count_heavy(const uint32_t *weights, const uint32_t *order, size_t count,
                          uint64_t least)
{
    size_t heavy = 0;

    while (heavy < count && UINT64_C(1) << power_of(weights, order[heavy]) >= least) {
        heavy += 1;
    }
    ESPL_CHECK(heavy < HEAVY_PARTS);
    return heavy;
}

// Cut the light items into jobs. Each job but the last has a weight of at least `least`.
static void cut_light(weighted_loop *loop, const uint32_t *weights, size_t count, uint64_t least)
{
    uint64_t sum = 0;

    loop->light = 0;
    loop->begins[0] = (uint32_t)loop->heavy;
    for (size_t i = loop->heavy; i < count; ++i) {
        sum += weight_of(weights, loop->order[i]);
        if (sum >= least || i + 1 == count) {
            ESPL_CHECK(loop->light < LIGHT_LIMIT);
            loop->begins[++loop->light] = (uint32_t)(i + 1);
            sum = 0;
        }
    }
    ESPL_CHECK(loop->begins[loop->light] == count);
}

// Run the next heavy item, if there is one, and then the light items of this job.
static void run_weighted_job(void *argument, size_t job)
{
    weighted_loop *const loop = argument;
    const size_t heavy =
        loop->heavy == 0 ? 0 : atomic_fetch_add_explicit(&loop->claimed, 1, memory_order_relaxed);

    if (heavy < loop->heavy) {
        loop->function(loop->context, loop->order[heavy]);
    }
    if (job < loop->light) {
        ESPL_CHECK(loop->begins[job] < loop->begins[job + 1]);
        for (size_t i = loop->begins[job]; i < loop->begins[job + 1]; ++i) {
            loop->function(loop->context, loop->order[i]);
        }
    }
}

static uint64_t max_weight(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

espl_status espl__run_weighted(const espl_executor *executor, const espl_hooks *hooks,
                               espl__item_function function, void *context, const uint32_t *weights,
                               uint32_t *order, size_t count, size_t grain)
{
    const bool is_serial = count <= 1 || espl__executor_is_serial(executor);
    uint64_t whole = 0;

    for (size_t item = 0; !is_serial && item < count; ++item) {
        whole += weight_of(weights, item);
    }
    if (is_serial || whole <= grain) {
        for (size_t item = 0; item < count; ++item) {
            function(context, item);
        }
        return ESPL_OK;
    }

    ESPL_CHECK(order != NULL && whole >= count);
    weighted_loop loop = {.function = function, .context = context, .order = order};
    espl__order_by_weight(order, weights, count);
    loop.heavy = count_heavy(weights, order, count, max_weight(grain, whole / HEAVY_PARTS + 1));
    cut_light(&loop, weights, count, max_weight(max_weight(grain, 1), whole / LIGHT_PARTS + 1));
    atomic_init(&loop.claimed, 0);
    // There are at least as many jobs as heavy items, so that each heavy item is claimed.
    return espl__run_jobs(executor, hooks, run_weighted_job, &loop,
                          loop.light > loop.heavy ? loop.light : loop.heavy);
}

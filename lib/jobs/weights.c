// SPDX-License-Identifier: MIT
// Items in order of their weight stand in two parts: heavy ones, which are claimed one by one by
// whichever job starts next, and light ones, which are cut into jobs beforehand. Executors differ
// in which index they start first (some deal out ranges, some count up), so that an order of jobs
// alone would not put the heavy ones first.
#include "lib/jobs/weights.h"

#include <stdatomic.h>

// An item of this part of the whole is heavy: there are at most so many of them.
enum { HEAVY_PARTS = 256 };
// Light jobs take at least this part of the whole together.
enum { LIGHT_PARTS = 1024, LIGHT_LIMIT = LIGHT_PARTS + 1 };
enum { POWERS = 32 };

_Static_assert(LIGHT_LIMIT <= ESPL__JOB_LIMIT, "one run takes all jobs");

typedef struct weighted_run {
    espl__item_function function;
    void *context;
    const uint32_t *order;
    size_t heavy, light;              // items before, and jobs behind them
    atomic_size_t claimed;            // heavy items
    uint32_t begins[LIGHT_LIMIT + 1]; // [light + 1] places in the order
} weighted_run;

_Static_assert(sizeof(weighted_run) <= 8192, "a run is a small part of a 64 KiB stack");

static size_t weight_of(const uint32_t *weights, size_t item)
{
    return weights[item] > 0 ? weights[item] : 1;
}

// The largest power of two that is at most the weight, by its exponent.
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
    return power;
}

void espl__order_by_weight(uint32_t *order, const uint32_t *weights, size_t count)
{
    size_t at[POWERS] = {0};
    size_t sum = 0;

    for (size_t item = 0; item < count; ++item) {
        at[power_of(weights, item)] += 1;
    }
    for (unsigned power = POWERS; power-- > 0;) {
        const size_t here = at[power];

        at[power] = sum;
        sum += here;
    }
    for (size_t item = 0; item < count; ++item) {
        order[at[power_of(weights, item)]++] = (uint32_t)item;
    }
}

static uint64_t whole_weight(const uint32_t *weights, size_t count)
{
    uint64_t whole = 0;

    for (size_t item = 0; item < count; ++item) {
        whole += weight_of(weights, item);
    }
    return whole;
}

// How many items at the front reach a power of two that is a fair part of the whole.
static size_t count_heavy(const uint32_t *weights, const uint32_t *order, size_t count,
                          uint64_t least)
{
    size_t heavy = 0;

    while (heavy < count && UINT64_C(1) << power_of(weights, order[heavy]) >= least) {
        heavy += 1;
    }
    return heavy;
}

// Each job but the last one reaches the least weight.
static void cut_light(weighted_run *run, const uint32_t *weights, size_t count, uint64_t least)
{
    uint64_t sum = 0;

    run->light = 0;
    run->begins[0] = (uint32_t)run->heavy;
    for (size_t i = run->heavy; i < count; ++i) {
        sum += weight_of(weights, run->order[i]);
        if (sum >= least || i + 1 == count) {
            run->begins[++run->light] = (uint32_t)(i + 1);
            sum = 0;
        }
    }
    ESPL_CHECK(run->light <= LIGHT_LIMIT);
}

// Every job begins with a heavy item as long as there is one; then it does its light ones.
static void run_job(void *argument, size_t job)
{
    weighted_run *const run = argument;
    const size_t heavy =
        run->heavy == 0 ? 0 : atomic_fetch_add_explicit(&run->claimed, 1, memory_order_relaxed);

    if (heavy < run->heavy) {
        run->function(run->context, run->order[heavy]);
    }
    if (job < run->light) {
        for (size_t i = run->begins[job]; i < run->begins[job + 1]; ++i) {
            run->function(run->context, run->order[i]);
        }
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

espl_status espl__run_weighted(const espl_executor *executor, const espl_hooks *hooks,
                               espl__item_function function, void *context, const uint32_t *weights,
                               uint32_t *order, size_t count, size_t grain)
{
    const bool is_serial = count <= 1 || espl__executor_is_serial(executor);
    const uint64_t whole = is_serial ? 0 : whole_weight(weights, count);

    if (is_serial || whole <= grain) {
        for (size_t item = 0; item < count; ++item) {
            function(context, item);
        }
        return ESPL_OK;
    }

    weighted_run run = {.function = function, .context = context, .order = order};
    espl__order_by_weight(order, weights, count);
    run.heavy = count_heavy(weights, order, count, larger(grain, whole / HEAVY_PARTS + 1));
    cut_light(&run, weights, count, larger(larger(grain, 1), whole / LIGHT_PARTS + 1));
    atomic_init(&run.claimed, 0);
    // There are at least as many jobs as heavy items, so that each of these is claimed.
    return espl__run_jobs(executor, hooks, run_job, &run,
                          run.light > run.heavy ? run.light : run.heavy);
}

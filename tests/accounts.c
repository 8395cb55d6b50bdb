// SPDX-License-Identifier: MIT
// The account of every playback that a test makes: all that was recorded is in it once, as done or
// as refused, and what each command came to says the same.
#include "tests/asserts.h"
#include "tests/support.h"

#include <string.h>

// What the single commands of one object came to.
typedef struct results {
    size_t count, refused, lossy;
    size_t refused_by[ESPL_REASON_COUNT];
} results;

// Check's own assertions tell each success to the runner, which takes longer than a playback.
#define DEMAND(condition, ...)         \
    do {                               \
        if (!(condition)) {            \
            ck_abort_msg(__VA_ARGS__); \
        }                              \
    } while (0)

static void add_result(results *sum, espl_status status)
{
    DEMAND(status > -ESPL_REASON_COUNT && status <= ESPL_LOSSY, "a command came to %d", status);
    sum->count += 1;
    sum->lossy += status == ESPL_LOSSY;
    sum->refused += status < 0;
    if (status < 0) {
        sum->refused_by[-status] += 1;
    }
}

// Nothing comes to ESPL_ERR_ARGUMENT at playback: that is the end of a lane.
static results count_results(espl_command_buffer *commands)
{
    results sum = {0};

    for (uint32_t lane = 0; espl_command_buffer_recorder(commands, lane) != NULL; ++lane) {
        espl_status status = espl_command_buffer_result(commands, lane, 0);

        for (uint32_t i = 1; status != ESPL_ERR_ARGUMENT; ++i) {
            add_result(&sum, status);
            status = espl_command_buffer_result(commands, lane, i);
        }
    }
    return sum;
}

void test_account_is_whole(const espl_report *report)
{
    size_t with_reason = 0;

    for (int i = 0; i < ESPL_REASON_COUNT; ++i) {
        with_reason += report->refused_by[i];
    }
    DEMAND(report->accepted == report->applied + report->refused,
           "accepted %zu, applied %zu, refused %zu", report->accepted, report->applied,
           report->refused);
    DEMAND(report->refused == with_reason, "%zu refused, %zu with a reason", report->refused,
           with_reason);
    DEMAND(report->refused_by[0] == 0, "%zu refused for nothing", report->refused_by[0]);
    DEMAND(report->lossy <= report->applied, "%zu lossy of %zu", report->lossy, report->applied);
    DEMAND(!report->has_overflowed || report->visited_nodes != 0, "overflowed, but visited none");
    DEMAND(report->calls <= report->applied, "%zu calls of %zu", report->calls, report->applied);
}

static void compare_results(const espl_report *report, const results *sum)
{
    DEMAND(report->accepted == sum->count && report->refused == sum->refused &&
               report->lossy == sum->lossy,
           "accepted %zu, refused %zu, lossy %zu; the commands say %zu, %zu, %zu", report->accepted,
           report->refused, report->lossy, sum->count, sum->refused, sum->lossy);
    DEMAND(memcmp(report->refused_by, sum->refused_by, sizeof sum->refused_by) == 0,
           "refused for other reasons than the commands say");
}

static void is_zeroed(const espl_report *report)
{
    static const espl_report nothing;

    DEMAND(memcmp(report, &nothing, sizeof nothing) == 0, "a refused playback has an account");
}

espl_status test_play(espl_world *world, espl_command_buffer *commands, espl_report *report)
{
    const espl_status status = (espl_play)(world, commands, report);

    if (status != ESPL_OK) {
        if (report != NULL) {
            is_zeroed(report);
        }
        return status;
    }
    const results sum = count_results(commands);
    const size_t recorded = espl_command_buffer_count(commands);

    DEMAND(sum.count == recorded, "%zu results of %zu commands", sum.count, recorded);
    if (report != NULL) {
        test_account_is_whole(report);
        compare_results(report, &sum);
    }
    return status;
}

espl_status test_sync(espl_world *world, espl_report *report)
{
    const espl_status status = (espl_sync)(world, report);

    if (report != NULL) {
        test_account_is_whole(report);
    }
    return status;
}

// SPDX-License-Identifier: MIT
// The sweep itself: one scenario, all points.
#include "tests/sweep.h"

#include "tests/asserts.h"
#include "tests/inside.h"
#include "tests/ticks.h"

// A scenario under way.
typedef struct sweep {
    const sweep_scene *scene;
    const sweep_call *call;
    size_t n; // the allocation that fails
    bool fails_after;
    const sweep_call *other; // NULL, or made in between
    // Of the run that lacks nothing.
    espl_status status;
    uint64_t before, after, logical, logical_before, shown, answer;
} sweep;

// Traits of calls that may have done a part of it.
#define MAY_MOVE (CALL_IS_SAVED | CALL_IS_STEPWISE)

// Fail the test with the scenario and the point.
#define DEMAND(s, condition)                                                                \
    ck_assert_msg((condition), "%s, in \"%s\": %s %u, allocation %zu%s; %s %u", #condition, \
                  (s)->scene->name, (s)->call->name, (s)->call->number, (s)->n,             \
                  (s)->fails_after ? " and later ones" : "",                                \
                  (s)->other != NULL ? (s)->other->name : "alone",                          \
                  (s)->other != NULL ? (s)->other->number : 0)

static void begin(const sweep *s, sweep_world *w, test_blocks kind)
{
    sweep_world_begin(w, s->scene, kind);
    if (s->call->prepare != NULL) {
        s->call->prepare(w, s->call->number);
    }
}

static espl_status run(const sweep *s, sweep_world *w)
{
    return s->call->run(w, s->call->number);
}

static void finish(const sweep *s, sweep_world *w)
{
    if (s->call->finish != NULL) {
        s->call->finish(w, s->call->number);
    }
}

static void validate(const sweep *s, const sweep_world *w)
{
    espl_validation report = {0};

    ck_assert_msg(espl_validate(w->world, &report), "%s, in \"%s\": %s %u, allocation %zu; %s %u",
                  report.rule, s->scene->name, s->call->name, s->call->number, s->n,
                  s->other != NULL ? s->other->name : "alone",
                  s->other != NULL ? s->other->number : 0);
    DEMAND(s, w->test.heap.faults == 0 && w->test.hooks.traps == 0);
}

// --- With all the memory it wants ---

// What changes a world does so while nothing may be taken.
static void run_calm(sweep *s)
{
    static sweep_world w;

    begin(s, &w, TEST_BLOCKS_TIGHT);
    const uint64_t commits = test_count_commits(w.world);

    s->before = test_physical_hash(w.world);
    s->logical_before = test_logical_hash(w.world);
    s->status = run(s, &w);
    DEMAND(s, s->status != ESPL_ERR_NO_MEMORY);
    finish(s, &w);
    s->after = test_physical_hash(w.world);
    DEMAND(s, s->after == s->before || test_count_commits(w.world) > commits);
    DEMAND(s, !test_is_in_commit(w.world));
    s->logical = test_logical_hash(w.world);
    s->shown = test_shown_hash(w.world);
    s->answer = w.answer;
    sweep_world_end(&w);
}

// --- Without ---

// Refused, the call has told nothing and changed nothing.
static void is_untouched(const sweep *s, const sweep_world *w, const espl_world_stats *stats,
                         uint64_t answer, uint64_t shown)
{
    const unsigned traits = s->call->traits;
    espl_world_stats now;

    espl_stats(w->world, &now);
    DEMAND(s, test_same_stats(stats, &now) || (traits & MAY_MOVE) != 0);

    DEMAND(s, w->answer == answer);
    DEMAND(s, test_shown_hash(w->world) == shown || (traits & CALL_IS_STEPWISE) != 0);
    DEMAND(s, test_logical_hash(w->world) == s->logical_before || (traits & CALL_IS_STEPWISE) != 0);
    DEMAND(s, test_physical_hash(w->world) == s->before || (traits & MAY_MOVE) != 0);
    DEMAND(s, (traits & CALL_IS_SAVED) == 0);
}

// What can be done without was done without, by the call or by the steps before the refused one:
// roles, layouts and packs come later.
static void is_spared(const sweep *s, const sweep_world *w)
{
    DEMAND(s, espl_compact(w->world) == ESPL_OK);
    DEMAND(s, test_logical_hash(w->world) == s->logical);
    validate(s, w);
}

// @return false where there are not so many allocations.
static bool run_point(sweep *s, sweep_count *count)
{
    static sweep_world w;

    begin(s, &w, (test_blocks)(s->n % TEST_BLOCKS_KINDS));
    DEMAND(s, test_physical_hash(w.world) == s->before);
    const uint64_t version = espl_get_version(w.world), answer = w.answer;
    const uint64_t shown = test_shown_hash(w.world);
    espl_world_stats stats;

    espl_stats(w.world, &stats);

    test_heap_arm(&w.test.heap, s->n, s->fails_after);
    espl_status status = run(s, &w);
    const bool has_failed = w.test.heap.failures != 0;
    test_heap_arm(&w.test.heap, 0, false);
    validate(s, &w);
    const bool is_refused = status == ESPL_ERR_NO_MEMORY;
    if (is_refused) {
        DEMAND(s, has_failed);
        DEMAND(s, espl_get_version(w.world) == version || (s->call->traits & MAY_MOVE) != 0);
        is_untouched(s, &w, &stats, answer, shown);
        status = run(s, &w);
    } else if (status == ESPL_PARTLY && (s->call->traits & CALL_IS_PARTIAL) != 0) {
        DEMAND(s, has_failed && test_logical_hash(w.world) == s->logical_before);
        status = run(s, &w);
    }
    finish(s, &w);
    DEMAND(s, status == s->status);
    DEMAND(s, w.answer == s->answer);
    DEMAND(s, test_logical_hash(w.world) == s->logical);
    DEMAND(s, test_shown_hash(w.world) == s->shown);
    if ((is_refused && (s->call->traits & CALL_IS_STEPWISE) == 0) || !has_failed) {
        DEMAND(s, test_physical_hash(w.world) == s->after);
    } else {
        is_spared(s, &w);
    }
    count->points += has_failed;
    count->refusals += is_refused;
    sweep_world_end(&w);
    return has_failed;
}

void sweep_run(const sweep_scene *scene, const sweep_call *call, sweep_count *count)
{
    sweep s = {.scene = scene, .call = call};

    run_calm(&s);
    for (int way = 0; way < 2; ++way) {
        s.fails_after = way == 1;
        for (s.n = 1; run_point(&s, count);) {
            s.n += 1;
        }
    }
    count->scenarios += s.status >= 0;
}

// --- Another call instead of a retry ---

// One that can be made in any world of the scene, by turns.
static sweep_call call_aside(const sweep_scene *scene, const sweep_call *call, size_t turn)
{
    sweep_call other = sweep_call_at(turn % sweep_call_count());

    while (!sweep_fits(scene, &other) || other.prepare != NULL || other.run == call->run) {
        turn += 1;
        other = sweep_call_at(turn % sweep_call_count());
    }
    return other;
}

// What both come to, the first without its n-th allocation where there is one.
typedef struct aside {
    espl_status other, status;
    uint64_t logical, physical, shown;
    bool has_failed;
} aside;

static aside run_aside(const sweep *s, const sweep_call *other)
{
    static sweep_world w;
    aside a = {.has_failed = false};

    begin(s, &w, TEST_BLOCKS_SCATTERED);
    if (s->n != 0) {
        test_heap_arm(&w.test.heap, s->n, true);
        a.has_failed = run(s, &w) == ESPL_ERR_NO_MEMORY;
        DEMAND(s, !a.has_failed || w.test.heap.failures != 0);
        test_heap_arm(&w.test.heap, 0, false);
    }
    // Without a failure it is done, and there is nothing to compare.
    if (s->n == 0 || a.has_failed) {
        a.other = other->run(&w, other->number);
        validate(s, &w);
        a.status = run(s, &w);
        a.logical = test_logical_hash(w.world);
        a.physical = test_physical_hash(w.world);
        a.shown = test_shown_hash(w.world);
        validate(s, &w);
    }
    sweep_world_end(&w);
    return a;
}

void sweep_run_aside(const sweep_scene *scene, const sweep_call *call, sweep_count *count)
{
    sweep s = {.scene = scene, .call = call, .fails_after = true};
    bool has_failed = call->traits == 0;

    for (size_t n = 1; has_failed; ++n) {
        const sweep_call other = call_aside(scene, call, 7 * n + count->points);

        s.other = &other;
        s.n = n;
        const aside faulted = run_aside(&s, &other);
        s.n = 0;
        const aside calm = run_aside(&s, &other);

        s.n = n;
        has_failed = faulted.has_failed;
        DEMAND(&s, !has_failed || faulted.other == calm.other);
        DEMAND(&s, !has_failed || faulted.status == calm.status);
        DEMAND(&s, !has_failed || faulted.logical == calm.logical);
        DEMAND(&s, !has_failed || faulted.physical == calm.physical);
        DEMAND(&s, !has_failed || faulted.shown == calm.shown);
        count->points += has_failed;
        count->refusals += has_failed;
    }
    count->scenarios += call->traits == 0;
}

// SPDX-License-Identifier: MIT
// Playbacks that lack memory at every point, and executors that lose or repeat jobs in every
// parallel range. The world and the commands stay as they were, and a second playback gives the
// result that the first would have given. Once the change is under way the allocator is not called.
#include "tests/asked.h"
#include "tests/base/abort.h"
#include "tests/checks.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/script.h"
#include "tests/ticks.h"
#include "tools/aligned.h"

#include <stdlib.h>
#include <string.h>

// Few entities and lines; many, so that ranges have several jobs.
enum { FRAMES = 3, FEW = 160, FEW_LINES = 90, MANY = 1100, MANY_LINES = 900 };
// Where the playback is tried hundreds of times.
enum { FEWEST = 40, FEWEST_LINES = 16 };

// A world of so few entities may have no room for all of the clones.
static bool is_small(void)
{
    return test_limits_of_build().entities < 10 * MANY;
}

// --- Two worlds with the same commands, one of which lacks memory ---

typedef struct side {
    test_world test;
    script_world s;
    espl_command_buffer *commands;
    script_recording recording;
    test_ticks ticks;
    uint64_t results, account, world; // of the last playback
    bool has_lacked;                  // the last playback passed without some memory
} side;

static void side_begin(side *sd, const espl_executor *executor, uint32_t entities)
{
    test_world_begin(&sd->test, 6, executor);
    test_cut_jobs(sd->test.world, 1024);
    script_world_begin(&sd->s, sd->test.world, entities, 12);
    ck_ok(espl_command_buffer_create(sd->test.world, 2, &sd->commands));
}

static void side_end(side *sd)
{
    test_ticks_end(&sd->ticks);
    espl_command_buffer_destroy(sd->commands);
    test_world_end(&sd->test);
}

static espl_status side_play(side *sd)
{
    espl_report report;
    const espl_status status = espl_play(sd->test.world, sd->commands, &report);

    sd->account = script_account(&sd->recording, &report);
    sd->results = script_results(&sd->recording);
    sd->world = script_hash(&sd->s);
    return status;
}

static void side_rest(side *sd)
{
    script_recording_free(&sd->recording);
    espl_command_buffer_reset(sd->commands);
}

static void sides_agree(const side *a, const side *b)
{
    ck_assert_uint_eq(a->results, b->results);
    ck_assert_uint_eq(a->account, b->account);
    ck_assert_uint_eq(a->world, b->world);
}

// Memory that a playback wants and does not need is that of a run of writes, too: without it they owe the
// hierarchy more. A compaction pays all debts, and where nodes are does not depend on them then.
static void settle_debts(side *sd)
{
    ck_ok(espl_compact(sd->test.world));
    sd->world = script_hash(&sd->s);
}

// Refused, a playback leaves world and commands as they are: nothing is resolved, nothing is told
// of a command, and nothing is played.
static void is_untouched(const side *sd, uint64_t world, uint64_t results, size_t count)
{
    const script_recording *const r = &sd->recording;

    ck_assert_uint_eq(script_hash(&sd->s), world);
    ck_assert_uint_eq(script_results(r), results);
    ck_assert_uint_eq(espl_command_buffer_count(sd->commands), count);
    test_world_is_valid(sd->test.world);
}

// How to lack memory.
typedef struct shortage {
    uint32_t kinds; // of the commands; 0: all
    bool fails_after, is_large;
    bool is_in_arena;       // scratch of the playback lacks it, and nothing else
    size_t stride;          // from one point to the next; 0 counts as 1
    uint64_t ticks;         // seed of motion; 0: none
    espl_executor executor; // of the world that lacks it
} shortage;

// The n-th allocation of a playback fails, or that and all later ones, for all n until it passes.
static size_t play_without(side *faulted, const shortage *how, espl_status wanted)
{
    const uint64_t world = script_hash(&faulted->s), results = script_results(&faulted->recording);
    const size_t count = espl_command_buffer_count(faulted->commands);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; n += how->stride > 0 ? how->stride : 1) {
        // Scratch that is kept would need no memory.
        test_free_scratch(faulted->test.world);
        test_heap_arm(&faulted->test.heap, n, how->fails_after);
        status = espl_play(faulted->test.world, faulted->commands, NULL);
        const bool has_failed = faulted->test.heap.failures > 0;
        test_heap_arm(&faulted->test.heap, 0, false);
        // Memory that is wanted but not needed may fail in a playback that passes.
        ck_assert(has_failed || status == wanted);
        faulted->has_lacked = has_failed;
        if (status == ESPL_ERR_NO_MEMORY) {
            is_untouched(faulted, world, results, count);
            points += 1;
        }
    }
    ck_assert_int_eq(status, wanted);
    return points;
}

// --- Scratch of a playback ---
//
// A step more room each time, until the playback passes.
static size_t play_in_little_room(side *faulted, espl_status wanted)
{
    const uint64_t world = script_hash(&faulted->s), results = script_results(&faulted->recording);
    const size_t count = espl_command_buffer_count(faulted->commands);
    const size_t step = TEST_SCRATCH_STEP * (size_t)test_stride(7);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    for (size_t room = 0; status == ESPL_ERR_NO_MEMORY && room <= TEST_SCRATCH_LIMIT;
         room += step) {
        status = test_play_in(faulted->test.world, faulted->commands, room, NULL);
        if (status == ESPL_ERR_NO_MEMORY) {
            is_untouched(faulted, world, results, count);
            points += 1;
        }
    }
    ck_assert_int_eq(status, wanted);
    return points;
}

// --- All of it ---

// Frames of commands of some kinds. @return points at which memory failed.
static size_t sweep(const shortage *how)
{
    const uint32_t wanted_entities = how->is_in_arena ? FEWEST : how->is_large ? MANY : FEW;
    const uint32_t wanted_lines = how->is_in_arena ? FEWEST_LINES
                                  : how->is_large  ? MANY_LINES
                                                   : FEW_LINES;
    const uint32_t entities = script_population(wanted_entities);
    const uint32_t count = script_lines(wanted_lines, wanted_entities);
    side calm = {.results = 0}, faulted = {.results = 0};
    size_t points = 0;

    side_begin(&calm, NULL, entities);
    side_begin(&faulted, &how->executor, entities);
    test_ticks_begin(&calm.ticks, calm.test.world, how->ticks);
    test_ticks_begin(&faulted.ticks, faulted.test.world, how->ticks);
    for (uint32_t frame = 0; frame < (how->is_large ? 1 : FRAMES); ++frame) {
        script lines = script_write(&calm.s, 40 + frame, count, how->kinds, true);

        script_record(&calm.s, &calm.recording, calm.commands, 2, &lines, frame + 1);
        script_record(&faulted.s, &faulted.recording, faulted.commands, 2, &lines, frame + 1);
        const espl_status wanted = side_play(&calm);
        points += how->is_in_arena ? play_in_little_room(&faulted, wanted)
                                   : play_without(&faulted, how, wanted);
        faulted.results = script_results(&faulted.recording);
        faulted.world = script_hash(&faulted.s);
        faulted.account = calm.account;
        if (faulted.has_lacked) {
            settle_debts(&calm);
            settle_debts(&faulted);
        }
        sides_agree(&calm, &faulted);
        side_rest(&calm);
        side_rest(&faulted);
        script_free(&lines);
        script_disturb(&calm.s, frame);
        script_disturb(&faulted.s, frame);
        ck_assert_uint_eq(test_ticks_step(&calm.ticks, how->ticks + frame),
                          test_ticks_step(&faulted.ticks, how->ticks + frame));
    }
    side_end(&calm);
    side_end(&faulted);
    return points;
}

TEST_LOOP(each_kind_alone_fails_cleanly_when_one_allocation_fails, 0, SCRIPT_KINDS)
{
    ck_assert_uint_gt(sweep(&(shortage){.kinds = 1u << _i, .ticks = (uint64_t)_i}), 2 * FRAMES);
}

TEST(a_rich_mix_fails_cleanly_when_one_allocation_fails)
{
    ck_assert_uint_gt(sweep(&(shortage){.stride = 1}), 10);
}

TEST(a_rich_mix_fails_cleanly_when_all_later_allocations_fail)
{
    ck_assert_uint_gt(sweep(&(shortage){.fails_after = true, .ticks = 3}), 10);
}

TEST_LOOP(each_kind_alone_fails_cleanly_wherever_scratch_runs_out, 0, SCRIPT_KINDS)
{
    // In slow builds steps are large.
    ck_assert_uint_ge(sweep(&(shortage){.kinds = 1u << _i, .is_in_arena = true}), FRAMES);
}

TEST(a_rich_mix_fails_cleanly_wherever_scratch_runs_out)
{
    // In slow builds steps are large.
    ck_assert_uint_ge(sweep(&(shortage){.is_in_arena = true, .ticks = 7}),
                      test_pace_of_build() == TEST_SWIFT ? 11 : FRAMES);
}

// Which group lacks the memory depends on the order of jobs; what is left does not.
TEST(a_rich_mix_fails_cleanly_in_any_order_of_jobs)
{
    test_executor executor = {.manner = TEST_SHUFFLED, .workers = 4, .random = 2};
    const shortage how = {.is_large = true, .executor = test_executor_of(&executor)};

    ck_assert_uint_gt(sweep(&how), 3);
    ck_assert(executor.calls > 10 || is_small());
}

TEST_IF(a_rich_mix_fails_cleanly_on_threads, test_has_threads())
{
    shortage how = {.is_large = true, .stride = 3};

    ck_ok(espl_executor_create(&(espl_threads_def){.workers = 4}, &how.executor));
    ck_assert_uint_ge(sweep(&how), is_small() ? 1 : 4);
    how.fails_after = true;
    how.ticks = 5;
    ck_assert_uint_ge(sweep(&how), is_small() ? 1 : 4);
    espl_executor_destroy(&how.executor);
}

// --- Worlds that are out of date ---

enum { LINKS = 20 };

// A chain with a node that keeps its world.
static espl_entity *make_kept_chain(espl_world *world)
{
    espl_entity *const nodes = make_chain(world, LINKS);

    ck_ok(espl_set_inherit(world, nodes[1],
                           ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE));
    return nodes;
}

// Write below the kept node, then above it, and attach a node that is far below both: its world stays.
// @return the hash afterwards.
static uint64_t attach_below_stale(bool is_played, size_t fail_at, bool *has_failed)
{
    const float here[3] = {3, 5, 7}, there[3] = {-2, 0, 1};
    test_world test;
    espl_status status = ESPL_OK;

    test_world_begin(&test, 1, NULL);
    espl_entity *const nodes = make_kept_chain(test.world);
    espl_command_buffer *const commands = test_commands(test.world, 1);
    espl_recorder *const to = espl_command_buffer_recorder(commands, 0);

    if (is_played) {
        ck_ok(espl_record_write(to, 0, nodes[2], ESPL_WRITE_LOCAL_POSITION, here));
        ck_ok(espl_record_write(to, 0, nodes[0], ESPL_WRITE_LOCAL_POSITION, there));
        ck_ok(espl_record_attach(to, 0, nodes[6], nodes[0], NULL));
        test_heap_arm(&test.heap, fail_at, false);
        status = espl_play(test.world, commands, NULL);
        *has_failed = test.heap.failures > 0;
        test_heap_arm(&test.heap, 0, false);
        ck_ok(status == ESPL_ERR_NO_MEMORY ? espl_play(test.world, commands, NULL) : status);
    } else {
        ck_ok(espl_set_local_position(test.world, nodes[2], here));
        ck_ok(espl_set_local_position(test.world, nodes[0], there));
        ck_ok(espl_attach(test.world, nodes[6], nodes[0], NULL));
    }
    const uint64_t hash = test_logical_hash(test.world);

    test_world_is_valid(test.world);
    free(nodes);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return hash;
}

// Memory that is wanted but not needed: the list of the nodes between the written ones and the attached one.
TEST(a_node_below_written_ones_is_up_to_date_whatever_allocation_fails)
{
    bool has_failed = true;
    const uint64_t at_once = attach_below_stale(false, 0, NULL);

    for (size_t n = 1; has_failed; ++n) {
        ck_assert_uint_eq(attach_below_stale(true, n, &has_failed), at_once);
    }
}

// --- Recording ---

// The n-th allocation of the recorder fails, for all n until the line is recorded: refused, nothing
// of it is there.
static size_t record_without(side *sd, const script *lines, size_t i, uint32_t lane)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        const size_t count = espl_command_buffer_count(sd->commands);

        test_heap_arm(&sd->test.heap, n, false);
        status = script_record_line(&sd->s, &sd->recording, lines, i, lane);
        test_heap_arm(&sd->test.heap, 0, false);
        points += status == ESPL_ERR_NO_MEMORY;
        ck_assert_uint_eq(espl_command_buffer_count(sd->commands), count + (status == ESPL_OK));
    }
    return points;
}

TEST(recording_that_lacks_memory_records_nothing_and_is_tried_again)
{
    side calm = {.results = 0}, faulted = {.results = 0};
    size_t points = 0;

    side_begin(&calm, NULL, script_population(FEW));
    side_begin(&faulted, NULL, script_population(FEW));
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        script lines = script_write(&calm.s, frame, script_lines(MANY_LINES, FEW), 0, true);

        script_recording_begin(&calm.recording, calm.commands, &lines);
        script_recording_begin(&faulted.recording, faulted.commands, &lines);
        for (size_t i = 0; i < lines.count; ++i) {
            (void)!script_record_line(&calm.s, &calm.recording, &lines, i, i % 2);
            points += record_without(&faulted, &lines, i, i % 2);
        }
        ck_assert_int_eq(side_play(&calm), side_play(&faulted));
        sides_agree(&calm, &faulted);
        side_rest(&calm);
        side_rest(&faulted);
        script_free(&lines);
    }
    ck_assert_uint_gt(points, 3);
    side_end(&calm);
    side_end(&faulted);
}

// --- The commit ---

// Watches a world: what is asked of the allocator, and the ranges that run, while it is forbidden.
typedef struct watcher {
    espl_world *world; // NULL: nothing is watched
    size_t taken, ranges, commits;
    bool takes_too; // in a range of the commit
} watcher;

static void *watch_take(void *user, size_t size, size_t alignment)
{
    watcher *const w = user;

    w->taken += w->world != NULL && test_is_in_commit(w->world);
    return aligned_take(size, alignment);
}

static void watch_range(void *context, espl_job function, void *argument, size_t count)
{
    watcher *const w = context;
    const bool is_commit = w->world != NULL && test_is_in_commit(w->world);

    w->ranges += 1;
    w->commits += is_commit;
    if (is_commit && w->takes_too) {
        test_allocate_inside(w->world);
    }
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
}

// Large frames, so that ranges have more than one job.
static void play_watched(watcher *w)
{
    const espl_executor executor = {w, 4, watch_range};
    const espl_world_def def = {
        .allocator = {w, watch_take, test_give_block}, .executor = executor, .tag = 6};
    espl_world *world = NULL;
    script_world s;

    ck_ok(espl_world_create(&def, &world));
    test_cut_jobs(world, 1024);
    script_world_begin(&s, world, script_population(MANY), 12);
    espl_command_buffer *const commands = test_commands(world, 1);
    w->world = world;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        script lines = script_write(&s, frame, script_lines(MANY, MANY), 0, true);
        script_recording r;

        script_record(&s, &r, commands, 1, &lines, 0);
        const espl_status status = espl_play(world, commands, NULL);
        ck_assert(status == ESPL_OK || (status == ESPL_ERR_LIMIT && is_small()));
        ck_assert(!test_is_in_commit(world));
        espl_command_buffer_reset(commands);
        script_recording_free(&r);
        script_free(&lines);
    }
    w->world = NULL;
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
}

TEST(nothing_is_asked_of_the_allocator_in_the_commit)
{
    watcher w = {.world = NULL};

    play_watched(&w);
    ck_assert_uint_eq(w.taken, 0);
    if (!is_small()) {
        ck_assert_uint_gt(w.ranges, w.commits);
        ck_assert_uint_gt(w.commits, 0);
    }
}

static void take_in_the_commit(void)
{
    watcher w = {.takes_too = true};

    play_watched(&w);
}

TEST(memory_that_is_taken_in_the_commit_aborts)
{
    char said[256];

    if (ESPL_CHECKS >= 1 && !is_small()) {
        expect_abort(take_in_the_commit, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "is_forbidden"));
    }
}

// --- Executors that lose or repeat a job ---

typedef enum fault { LOSES_FIRST, LOSES_LAST, LOSES_ALL, REPEATS, GOES_PAST, FAULTS } fault;

// Misbehaves in one range and in no other.
typedef struct lapse {
    fault kind;
    size_t at, calls;
} lapse;

static void run_with_lapse(void *context, espl_job function, void *argument, size_t count)
{
    lapse *const l = context;
    const bool is_now = l->calls++ == l->at;
    const size_t begin = is_now && l->kind == LOSES_FIRST ? 1 : 0;
    const size_t end = is_now && l->kind == LOSES_ALL    ? 0
                       : is_now && l->kind == LOSES_LAST ? count - 1
                                                         : count;

    for (size_t i = begin; i < end; ++i) {
        function(argument, i);
    }
    if (is_now && l->kind == REPEATS) {
        function(argument, count / 2);
    }
    if (is_now && l->kind == GOES_PAST) {
        function(argument, count + 7);
    }
}

static void record_crowd(side *sd, const espl_executor *executor, script *lines)
{
    side_begin(sd, executor, script_population(MANY));
    *lines = script_write(&sd->s, 3, script_lines(MANY, MANY), 0, true);
    script_record(&sd->s, &sd->recording, sd->commands, 2, lines, 1);
}

// One playback with a lapse in one range. @return false where there are not so many ranges.
static bool play_with_lapse(const side *calm, espl_status wanted, lapse *l, size_t outcomes[2])
{
    const espl_executor executor = {l, 4, run_with_lapse};
    const size_t at = l->at;
    side sd = {.results = 0};
    script lines;

    l->at = SIZE_MAX;
    record_crowd(&sd, &executor, &lines);
    const uint64_t world = script_hash(&sd.s), results = script_results(&sd.recording);
    const size_t count = espl_command_buffer_count(sd.commands);

    l->at = at;
    l->calls = 0;
    espl_status status = side_play(&sd);
    const bool has_lapsed = l->calls > at;
    ck_assert(has_lapsed || status == wanted);
    ck_assert_uint_eq(sd.test.hooks.traps > 0, has_lapsed && ESPL_CHECKS >= 1);
    outcomes[0] += status == ESPL_ERR_EXECUTOR;
    outcomes[1] += has_lapsed && status == wanted;
    if (status == ESPL_ERR_EXECUTOR) {
        is_untouched(&sd, world, results, count);
        l->at = SIZE_MAX;
        status = side_play(&sd);
    }
    ck_assert_int_eq(status, wanted);
    sides_agree(&sd, calm);
    side_rest(&sd);
    side_end(&sd);
    script_free(&lines);
    return has_lapsed;
}

TEST_LOOP(a_lapse_of_the_executor_changes_nothing_or_the_change_is_completed, 0, FAULTS)
{
    side calm = {.results = 0};
    size_t outcomes[2] = {0};
    script lines;

    record_crowd(&calm, NULL, &lines);
    const espl_status wanted = side_play(&calm);
    for (size_t at = 0;; ++at) {
        lapse l = {.kind = (fault)_i, .at = at};

        if (!play_with_lapse(&calm, wanted, &l, outcomes)) {
            break;
        }
    }
    ck_assert((outcomes[0] > 0 && outcomes[1] > 0) || is_small());
    side_rest(&calm);
    side_end(&calm);
    script_free(&lines);
}

// --- Deaths that were put off ---

static void count_payloads(void *user, const espl_custom_calls *calls)
{
    *(size_t *)user += calls->count;
}

// Roots that found no memory are settled behind the next playback, by a playback of its own.
TEST(payloads_are_handed_over_where_roots_are_settled_behind_the_playback)
{
    enum { SURVIVORS = 11 };
    const espl_attach_options options = {.link = ESPL_LINK_FREE};
    size_t heard = 0;
    const espl_custom_command_def def = {
        .name = "count", .user = &heard, .function = count_payloads};
    espl_custom_command number = 0;
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo(test.world);

    for (int i = 0; i < SURVIVORS; ++i) {
        ck_ok(espl_attach(test.world, test_solo(test.world), root, &options));
    }
    ck_ok(espl_command_register(test.world, &def, &number));
    espl_command_buffer *const commands = test_commands(test.world, 1);
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, number, NULL, 4, 0));
    ck_ok(espl_compact(test.world));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(test.world, root, ESPL_EXTENT_OWNED));
    ck_assert_uint_gt(test.heap.failures, 0);
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_play(test.world, commands, &report));
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_uint_eq(heard, 1);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}

// SPDX-License-Identifier: MIT
// Memory runs out at every point of every call that takes any, in worlds of many kinds. The call
// reports it and has changed nothing, and the retry gives the world of a call that never lacked
// memory. Blocks have other addresses and contents from point to point, which must not matter.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/sweep.h"

#include <stdio.h>
#include <string.h>

// What is promised of a build that runs everything.
enum { SCENARIOS = 250, POINTS = 10000 };

// Scenes of which the parts of the list below take some: the plain one, the one that has most kinds of
// entities, and the one that has all there is.
enum { PLAIN = 5, DIVERSE = 8 };

// --- Scenarios ---

typedef void (*sweeping)(const sweep_scene *scene, const sweep_call *call, sweep_count *count);

// What part of the list is swept: every so many of it, from the first on.
typedef struct selection {
    sweeping sweep;
    size_t stride, at;
} selection;

// Every so many scenarios where all are swept by a run that may take long. Prime to what the list is
// made of, so that each call is met in some scenes and each scene with some calls.
static selection every(size_t stride, sweeping sweep)
{
    const size_t step = stride * test_stride(3) / test_factor();

    return (selection){.sweep = sweep, .stride = step > 1 ? step : 1};
}

static void add(sweep_count *sum, const sweep_scene *scene, const sweep_call *call, selection *of)
{
    if (sweep_fits(scene, call) && of->at++ % of->stride == 0) {
        of->sweep(scene, call, sum);
    }
}

static void sweep_form_of(sweep_count *sum, const sweep_scene *scene, sweep_form form,
                          unsigned kinds, selection *of)
{
    for (unsigned kind = 0; kind < kinds; ++kind) {
        const sweep_call call = sweep_command_call(form, kind);

        add(sum, scene, &call, of);
    }
}

static void sweep_scene_of(sweep_count *sum, const sweep_scene *scene, selection *of)
{
    for (size_t i = 0; i < sweep_call_count(); ++i) {
        const sweep_call call = sweep_call_at(i);

        add(sum, scene, &call, of);
    }
    sweep_form_of(sum, scene, SWEEP_RECORDS, sweep_command_count, of);
    sweep_form_of(sum, scene, SWEEP_PLAYS, sweep_command_count, of);
    sweep_form_of(sum, scene, SWEEP_MIXES, 3, of);
    sweep_form_of(sum, scene, SWEEP_SYNCS, 3, of);
}

static void print(const sweep_count *sum, const char *what)
{
    printf("# %zu scenarios, %zu points, %zu refusals: %s\n", sum->scenarios, sum->points,
           sum->refusals, what);
    fflush(stdout);
}

TEST(every_call_fails_cleanly_at_every_point)
{
    selection all = every(5, sweep_run);
    sweep_count sum = {0};

    for (size_t i = 0; i < sweep_scene_count; ++i) {
        sweep_scene_of(&sum, &sweep_scenes[i], &all);
    }
    print(&sum, "every call");
    ck_assert(sum.scenarios >= SCENARIOS || test_pace_of_build() != TEST_SWIFT);
    ck_assert(sum.points >= POINTS || test_pace_of_build() != TEST_SWIFT);
    ck_assert_uint_gt(sum.refusals, 100);
}

// What the deaths put off may be done first, and stay where the change lacks memory.
static const char *const after_deaths[] = {"add",    "change", "change an array", "change a query",
                                           "enable", "reserve"};

TEST_LOOP(a_change_fails_cleanly_after_deaths_without_memory, 0, 6)
{
    const sweep_scene star = {"unsettled star", SWEEP_STAR, SCENE_UNSETTLED};
    const sweep_scene forest = {"unsettled forest", SWEEP_FOREST, SCENE_UNSETTLED};
    sweep_count sum = {0};

    for (size_t i = 0; i < sweep_call_count(); ++i) {
        const sweep_call call = sweep_call_at(i);

        if (strcmp(call.name, after_deaths[_i]) == 0) {
            selection all = every(1, sweep_run);

            add(&sum, &star, &call, &all);
            add(&sum, &forest, &call, &all);
        }
    }
    ck_assert_uint_gt(sum.refusals, 10);
}

TEST(a_call_that_failed_is_not_remembered_by_the_next_one)
{
    selection some = every(5, sweep_run_aside);
    sweep_count sum = {0};

    sweep_scene_of(&sum, &sweep_scenes[PLAIN], &some);
    sweep_scene_of(&sum, &sweep_scenes[DIVERSE], &some);
    sweep_scene_of(&sum, &sweep_scenes[sweep_scene_count - 1], &some);
    print(&sum, "another call behind");
    ck_assert_uint_gt(sum.points, 20);
}

TEST_IF(calls_fail_cleanly_while_threads_work_for_them, test_has_threads())
{
    selection some = every(5, sweep_run);
    sweep_count sum = {0};
    espl_executor executor;

    ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &executor));
    sweep_use(&executor);
    sweep_scene_of(&sum, &sweep_scenes[DIVERSE], &some);
    sweep_use(NULL);
    espl_executor_destroy(&executor);
    print(&sum, "two workers");
    ck_assert_uint_gt(sum.points, 20);
}

// --- Making a world ---

static void append(void *user, const void *bytes, size_t size)
{
    uint64_t *const hash = user;

    *hash = test_hash_bytes(*hash, bytes, size);
}

static espl_world_def def_of(unsigned number, test_heap *heap, uint64_t *taped)
{
    static test_executor executor = {.manner = TEST_REVERSED, .workers = 3};
    espl_world_def def = {.allocator = test_heap_allocator(heap), .tag = 1 + number % 2};

    switch (number / 2) {
    case 1:
        def.executor = test_executor_of(&executor);
        break;
    case 2:
        def.tape = (espl_tape){taped, append};
        break;
    case 3:
        def.huge_pages = ESPL_HUGE_PAGES_ON;
        break;
    case 4:
        def.kernels = "scalar";
        break;
    default:
        break;
    }
    return def;
}

TEST_LOOP(a_world_that_cannot_be_made_leaves_nothing, 0, 10)
{
    espl_world *const untouched = (espl_world *)(void *)&(char){0};
    uint64_t wanted = 0;
    size_t points = 0;

    for (int way = 0; way < 2; ++way) {
        espl_status status = ESPL_ERR_NO_MEMORY;

        for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
            test_heap heap;
            uint64_t taped = TEST_HASH_START;
            espl_world *world = untouched;

            test_heap_init(&heap);
            heap.blocks_kind = (test_blocks)(n % TEST_BLOCKS_KINDS);
            const espl_world_def def = def_of((unsigned)_i, &heap, &taped);
            test_heap_arm(&heap, n, way == 1);
            status = espl_world_create(&def, &world);
            if (status == ESPL_ERR_NO_MEMORY) {
                ck_assert(world == untouched && taped == TEST_HASH_START);
                ck_assert(heap.failures != 0 && heap.bytes == 0 && heap.blocks == 0);
                points += 1;
                continue;
            }
            ck_ok(status);
            const uint64_t hash = test_physical_hash(world);
            ck_assert(wanted == 0 || hash == wanted);
            wanted = hash;
            espl_world_destroy(world);
            ck_assert(heap.bytes == 0 && heap.blocks == 0 && heap.faults == 0);
        }
    }
    ck_assert_uint_ge(points, 10);
}

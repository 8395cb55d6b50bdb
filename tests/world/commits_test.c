// SPDX-License-Identifier: MIT
// While a change is committed no memory may be taken, so that the change cannot fail half way. A
// checked build aborts if a job of any kind of change takes memory then.
#include "tests/base/abort.h"
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <espalier/writers.h>

#include <string.h>

enum { NODES = 30 }; // of a tree, and solos: a world of any build holds both

// An executor that looks whether a commit runs, and may take memory in it.
typedef struct spy {
    espl_world *world; // NULL: it looks at nothing
    size_t commits;    // ranges within one
    bool takes;
} spy;

static void spy_on_range(void *context, espl_job function, void *argument, size_t count)
{
    spy *const s = context;
    const bool is_commit = s->world != NULL && test_is_in_commit(s->world);

    s->commits += is_commit;
    if (is_commit && s->takes) {
        test_allocate_inside(s->world);
    }
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
}

// --- Changes, each with a range of jobs in its commit ---

typedef struct place {
    espl_world *world;
    espl_entity *tree;  // [NODES] a star, wide enough for several workers
    espl_entity *solos; // [NODES]
} place;

static void write_batch(const place *p)
{
    espl_write writes[2 * NODES];
    uint64_t random = 4;

    for (uint32_t i = 0; i < NODES; ++i) {
        writes[2 * i] = write_ordinary(p->solos[i], ESPL_WRITE_LOCAL_POSITION, &random);
        writes[2 * i + 1] = write_ordinary(p->tree[i], ESPL_WRITE_LOCAL_POSITION, &random);
    }
    ck_ok(espl_write_batch(p->world, writes, 2 * NODES, NULL));
}

static void push(espl_writer *writer, const espl_query *rows, void *context)
{
    const float step[3] = {1, 0, 0};

    (void)context;
    for (size_t row = 0; row < rows->count; ++row) {
        ck_ok(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT, step));
    }
}

static void write_in_parallel(const place *p)
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_query_def query = {.all = &placement, .all_count = 1};
    const espl_parallel_def def = {.query = &query, .function = push};

    ck_ok(espl_write_parallel(p->world, &def, NULL));
}

static void play_writes(const place *p)
{
    const espl_transform to = test_at(1, 2, 3);

    espl_command_buffer *const commands = test_commands(p->world, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    for (uint32_t i = 0; i < NODES; ++i) {
        ck_ok(espl_record_write(lane, 0, p->solos[i], ESPL_WRITE_LOCAL_TRANSFORM, &to));
        ck_ok(espl_record_write(lane, 0, p->tree[i], ESPL_WRITE_LOCAL_TRANSFORM, &to));
    }
    ck_ok(espl_play(p->world, commands, NULL));
    espl_command_buffer_destroy(commands);
}

typedef void (*change)(const place *p);

static const change changes[] = {write_batch, write_in_parallel, play_writes};

enum { CHANGES = sizeof changes / sizeof *changes };

static size_t carry_out(int which, bool takes)
{
    spy s = {.takes = takes};
    const espl_executor executor = {&s, 4, spy_on_range};
    espl_entity solos[NODES];
    test_world test;

    test_world_begin(&test, 8, &executor);
    test_cut_jobs(test.world, 4);
    espl_entity *const tree = make_trees(test.world, 1, NODES, 0);
    test_solos(test.world, NODES, solos);
    s.world = test.world;
    changes[which](&(place){test.world, tree, solos});
    ck_assert(!test_is_in_commit(test.world));
    s.world = NULL;
    free(tree);
    test_world_end(&test);
    return s.commits;
}

TEST_LOOP(jobs_of_a_change_run_in_its_commit, 0, CHANGES)
{
    ck_assert_uint_gt(carry_out(_i, false), 0);
}

static int caught;

static void be_caught(void)
{
    (void)carry_out(caught, true);
}

TEST_LOOP(memory_that_is_taken_in_a_commit_aborts, 0, CHANGES)
{
    char said[256];

    if (ESPL_CHECKS >= 1) {
        caught = _i;
        expect_abort(be_caught, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "is_forbidden"));
    }
}

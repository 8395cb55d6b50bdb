// SPDX-License-Identifier: MIT
// Messages of calls that are refused with ESPL_ERR_BUSY: what keeps the world busy, where that
// began, and what to do.
#include "tests/checks.h"
#include "tests/runner.h"
#include "tests/told.h"

#include <stdio.h>

#define ID(entity) told_id(entity)

static told t;
static espl_entity root, child;

static void set_up(void)
{
    told_begin(&t, NULL);
    root = test_solo(t.world);
    child = test_solo(t.world);
    ck_ok(espl_attach(t.world, child, root, NULL));
}

static void tear_down(void)
{
    told_end(&t);
}

// Demand that a structural call is refused, told with the reason.
static void demand_busy(const char *why)
{
    ck_status(espl_detach(t.world, child, ESPL_KEEP_WORLD), ESPL_ERR_BUSY);
    told_demand(&t, ESPL_LOG_WARNING, "espl_detach: ESPL_ERR_BUSY: entity %s: %s", ID(child),
                why);
}

static const char *unnamed(const espl_query *query)
{
    static char why[256];

    snprintf(
        why, sizeof why,
        "The query at %p is open; let espl_query_next() return false or call espl_query_end() "
        "first, or record a command. Set espl_query_def.site to ESPL_SITE to learn where a query "
        "began.",
        (const void *)query);
    return why;
}

static const char at_site[] =
    "The query that began at frame.c:12 is open; let espl_query_next() return false or call "
    "espl_query_end() first, or record a command.";

FIXTURE(set_up, tear_down);

TEST(an_open_query_is_told_with_where_it_began)
{
    espl_query outer, inner;

    ck_ok(espl_query_begin(t.world, &(espl_query_def){.site = "frame.c:12"}, &outer));
    demand_busy(at_site);
    // Of several the one that began last is told, which is the one that the caller is in.
    ck_ok(espl_query_begin(t.world, NULL, &inner));
    demand_busy(unnamed(&inner));
    while (espl_query_next(&inner)) {
        demand_busy(unnamed(&inner));
    }
    demand_busy(at_site);
    espl_query_end(&outer);
    ck_ok(espl_detach(t.world, child, ESPL_KEEP_WORLD));
}

TEST(more_open_queries_than_are_noted_are_told_as_far_as_known)
{
    enum { QUERIES = 40 };
    static espl_query queries[QUERIES];

    for (int i = 0; i < QUERIES; ++i) {
        ck_ok(espl_query_begin(t.world, NULL, &queries[i]));
    }
    ck_status(espl_compact(t.world), ESPL_ERR_BUSY);
    ck_assert_uint_eq(t.lines, 1);
    t.lines = 0;
    for (int i = 0; i < QUERIES - 1; ++i) {
        espl_query_end(&queries[i]);
    }
    // The last one was not noted, and an open query it is all the same.
    demand_busy(espl_status_text(ESPL_ERR_BUSY));
    espl_query_end(&queries[QUERIES - 1]);
    // The room is there again.
    ck_ok(espl_query_begin(t.world, &(espl_query_def){.site = "frame.c:12"}, &queries[0]));
    demand_busy(at_site);
    espl_query_end(&queries[0]);
}

TEST(an_open_subtree_is_told_with_its_top)
{
    char why[256];
    espl_subtree below;

    ck_ok(espl_subtree_begin(t.world, root, &below));
    snprintf(
        why, sizeof why,
        "The espl_subtree at %p, of entity %s and all below it, is open; let "
        "espl_subtree_next() return false or call espl_subtree_end() first, or record a command.",
        (void *)&below, ID(root));
    demand_busy(why);
    espl_subtree_end(&below);
}

// --- Functions of the user that the library calls ---

static size_t calls;

static void change_in_custom(void *user, const espl_custom_calls *custom)
{
    (void)user;
    (void)custom;
    demand_busy(
        "The function of a custom command is being called; record a command instead, or wait "
        "until it has returned.");
    calls += 1;
}

TEST(the_function_of_a_custom_command_is_told)
{
    const espl_custom_command_def def = {.name = "custom", .function = change_in_custom};
    espl_custom_command custom = 0;

    calls = 0;
    ck_ok(espl_command_register(t.world, &def, &custom));
    espl_command_buffer *const commands = test_commands(t.world, 1);
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, custom, NULL, 0, 0));
    ck_ok(espl_play(t.world, commands, NULL));
    ck_assert_uint_eq(calls, 1);
    espl_command_buffer_destroy(commands);
}

static void change_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    ck_status(espl_compact(t.world), ESPL_ERR_BUSY);
    told_demand(&t, ESPL_LOG_WARNING,
                "espl_compact: ESPL_ERR_BUSY: The parallel write%s is under way; write through its "
                "espl_writer, or record a command.",
                (const char *)context);
    calls += 1;
}

TEST(a_parallel_write_is_told_with_where_it_began)
{
    char named[] = " that began at frame.c:12", unnamed_one[] = "";
    const espl_parallel_def defs[] = {
        {.function = change_in_job, .context = named, .site = "frame.c:12"},
        {.function = change_in_job, .context = unnamed_one}};

    for (int i = 0; i < 2; ++i) {
        calls = 0;
        ck_ok(espl_write_parallel(t.world, &defs[i], NULL));
        ck_assert_uint_ge(calls, 1);
    }
}

// An executor that does other work of the program between the jobs, as those that help do.
static void run_and_change(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
    if (t.world != NULL && espl_detach(t.world, child, ESPL_KEEP_WORLD) == ESPL_ERR_BUSY) {
        told_demand(&t, ESPL_LOG_WARNING,
                    "espl_detach: ESPL_ERR_BUSY: entity %s: A playback or a write is under way; "
                    "record a command instead, or wait until it has returned.",
                    ID(child));
        calls += 1;
    }
}

// Begin a query in a job, and leave it open.
static void leave_open(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    if (calls++ == 0) {
        ck_ok(espl_query_begin_read(t.world, &(espl_query_def){.site = "frame.c:12"}, context));
    }
}

TEST(a_query_that_began_in_a_job_is_told_after_the_parallel_write)
{
    espl_query open;
    const espl_parallel_def def = {.function = leave_open, .context = &open};

    calls = 0;
    ck_ok(espl_write_parallel(t.world, &def, NULL));
    demand_busy(at_site);
    espl_query_end(&open);
    ck_ok(espl_detach(t.world, child, ESPL_KEEP_WORLD));
}

TEST(a_playback_that_is_under_way_is_told)
{
    if (test_lacks_room(20001, "a playback of several jobs")) {
        return;
    }
    const espl_executor executor = {NULL, 4, run_and_change};

    told_end(&t);
    told_begin(&t, &executor);
    root = test_solo(t.world);
    child = root;
    calls = 0;
    espl_command_buffer *const commands = test_commands(t.world, 1);
    for (int i = 0; i < 20000; ++i) {
        ck_ok(espl_record_create(espl_command_buffer_recorder(commands, 0), 0,
                                 &(espl_creation_def){.value_count = 0}, 1, NULL));
    }
    ck_ok(espl_play(t.world, commands, NULL));
    ck_assert_uint_ge(calls, 1);
    espl_command_buffer_destroy(commands);
}

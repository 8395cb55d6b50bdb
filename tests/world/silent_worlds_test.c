// SPDX-License-Identifier: MIT
// Worlds that nobody listens to refuse like others; hooks that call back into their world are heard
// once more and wait for nobody; a writer that is none is a fault.
#include "tests/checks.h"
#include "tests/base/abort.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <espalier/writers.h>

#include <stdlib.h>
#include <string.h>

START_TEST(world_without_hooks_refuses_in_silence)
{
    const espl_world_def unknown = {.kernels = "none of these"};
    const espl_entity none = espl_entity_null();
    const espl_transform value = test_at(1, 2, 3);
    espl_world *world = NULL;

    ck_assert_int_eq(espl_world_create(&world, &unknown), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(setenv("ESPALIER_HUGE_PAGES", "perhaps", 1), 0);
    ck_assert_int_eq(espl_world_create(&world, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(unsetenv("ESPALIER_HUGE_PAGES"), 0);
    ck_assert_ptr_null(world);

    ck_assert_int_eq(espl_world_create(&world, NULL), ESPL_OK);
    ck_assert_int_eq(espl_set_local_transform(world, none, &value), ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(espl_attach(world, none, none, NULL), ESPL_ERR_NULL_ENTITY);
    ck_assert(espl_validate(world, NULL));
    espl_world_destroy(world);
}
END_TEST

// --- Hooks that call back ---

typedef struct caller {
    espl_world *world;
    int lines;
} caller;

static void call_back(void *user, espl_log_level level, const char *message)
{
    caller *const c = user;
    espl_transform out;

    (void)level;
    ck_assert_ptr_nonnull(message);
    c->lines += 1;
    if (c->lines == 1) {
        ck_assert_int_eq(espl_get_world_transform(c->world, espl_entity_null(), &out),
                         ESPL_ERR_NULL_ENTITY);
    }
}

START_TEST(hook_that_calls_back_is_heard_again)
{
    caller c = {.world = NULL};
    const espl_world_def def = {.hooks = {.user = &c, .log = call_back}};
    espl_transform out;

    ck_assert_int_eq(espl_world_create(&c.world, &def), ESPL_OK);
    ck_assert_int_eq(espl_get_local_transform(c.world, espl_entity_null(), &out),
                     ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(c.lines, 2);
    ck_assert_int_eq(espl_get_local_transform(c.world, espl_entity_null(), &out),
                     ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(c.lines, 3);
    espl_world_destroy(c.world);
}
END_TEST

// --- No writer ---

static const float numbers[4] = {0, 0, 0, 1};

static espl_status write_vector(void)
{
    return espl_writer_write(NULL, espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, numbers, NULL);
}

static espl_status turn_to(void)
{
    return espl_writer_look_at(NULL, espl_entity_null(), numbers, NULL, ESPL_AXIS_FORWARD, NULL);
}

static espl_status turn_about(void)
{
    return espl_writer_rotate_about(NULL, espl_entity_null(), numbers, numbers, NULL);
}

static espl_status inherit(void)
{
    return espl_writer_set_inherit(NULL, espl_entity_null(), 0, NULL);
}

static espl_status ask_job(void)
{
    return espl_writer_job(NULL) == 0 ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

static espl_status ask_world(void)
{
    return espl_writer_world(NULL) == NULL ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

static espl_status (*const calls[])(void) = {write_vector, turn_to, turn_about,
                                             inherit,      ask_job, ask_world};

static int at;

static void call_it(void)
{
    ck_assert_int_eq(calls[at](), ESPL_ERR_ARGUMENT);
}

START_TEST(writer_that_is_none_traps_in_checked_builds_and_is_refused_in_others)
{
    char said[256];

    at = _i;
    if (ESPL_CHECKS >= 1) {
        expect_abort(call_it, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "wrong use"));
    } else {
        call_it();
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("world/silent worlds");
    TCase *const hooks = tcase_create("hooks"), *const writers = tcase_create("writers");

    tcase_add_test(hooks, world_without_hooks_refuses_in_silence);
    tcase_add_test(hooks, hook_that_calls_back_is_heard_again);
    tcase_add_loop_test(writers,
                        writer_that_is_none_traps_in_checked_builds_and_is_refused_in_others, 0,
                        (int)(sizeof calls / sizeof *calls));
    suite_add_tcase(suite, hooks);
    suite_add_tcase(suite, writers);
    return suite;
}

RUN_SUITE(make_suite)

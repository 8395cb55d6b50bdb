// SPDX-License-Identifier: MIT
// Worlds without hooks refuse as others do. A hook that calls its own world gets one more message
// and does not deadlock.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

TEST(world_without_hooks_refuses_in_silence)
{
    const espl_world_def unknown = {.kernels = "none of these"};
    const espl_entity none = espl_entity_null();
    const espl_transform value = test_at(1, 2, 3);
    espl_world *world = NULL;

    ck_status(espl_world_create(&unknown, &world), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(setenv("ESPALIER_HUGE_PAGES", "perhaps", 1), 0);
    ck_status(espl_world_create(NULL, &world), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(unsetenv("ESPALIER_HUGE_PAGES"), 0);
    ck_assert_ptr_null(world);

    ck_ok(espl_world_create(NULL, &world));
    ck_status(espl_set_local_transform(world, none, &value), ESPL_ERR_NULL_ENTITY);
    ck_status(espl_attach(world, none, none, NULL), ESPL_ERR_NULL_ENTITY);
    ck_assert(espl_validate(world, NULL));
    espl_world_destroy(world);
}

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
        ck_status(espl_get_world_transform(c->world, espl_entity_null(), &out),
                  ESPL_ERR_NULL_ENTITY);
    }
}

TEST(hook_that_calls_back_is_heard_again)
{
    caller c = {.world = NULL};
    const espl_world_def def = {.hooks = {.user = &c, .log = call_back}};
    espl_transform out;

    ck_ok(espl_world_create(&def, &c.world));
    ck_status(espl_get_local_transform(c.world, espl_entity_null(), &out), ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(c.lines, 2);
    ck_status(espl_get_local_transform(c.world, espl_entity_null(), &out), ESPL_ERR_NULL_ENTITY);
    ck_assert_int_eq(c.lines, 3);
    espl_world_destroy(c.world);
}

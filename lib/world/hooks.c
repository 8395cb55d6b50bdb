// SPDX-License-Identifier: MIT
// A world's hooks as the library calls them: each passes what it is told on to the hook that the
// user gave, and only one thread at a time is inside one. Jobs may have something to tell at once.
#include "lib/world/inside.h"

#include <stdatomic.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#define REST() ((void)sched_yield())
#else
#define REST() ((void)0)
#endif

// Wait until nobody else is inside. @return false: this thread is inside already, which it is to
// stay: a hook called the library, or left by a jump.
static bool enter(espl_world *world)
{
    const void *const self = espl__this_thread();
    const void *nobody = NULL;

    if (atomic_load_explicit(&world->hook_holder, memory_order_relaxed) == self) {
        return false;
    }
    while (!atomic_compare_exchange_weak_explicit(&world->hook_holder, &nobody, self,
                                                  memory_order_acquire, memory_order_relaxed)) {
        nobody = NULL;
        REST();
    }
    return true;
}

static void leave(espl_world *world, bool has_entered)
{
    if (has_entered) {
        atomic_store_explicit(&world->hook_holder, NULL, memory_order_release);
    }
}

static void tell_log(void *user, espl_log_level level, const char *message)
{
    espl_world *const world = user;

    if (level < world->least_level) {
        return;
    }
    const bool has_entered = enter(world);

    world->given_hooks.log(world->given_hooks.user, level, message);
    leave(world, has_entered);
}

static void tell_trap(void *user, const char *file, int line, const char *condition)
{
    espl_world *const world = user;
    const bool has_entered = enter(world);

    world->given_hooks.trap(world->given_hooks.user, file, line, condition);
    leave(world, has_entered);
}

// The thread that plays alone traces and asks for the time, so that these need no turn.
static void tell_trace(void *user, const char *name, bool begins)
{
    const espl_world *const world = user;

    world->given_hooks.trace(world->given_hooks.user, name, begins);
}

static uint64_t ask_clock(void *user)
{
    const espl_world *const world = user;

    return world->given_hooks.clock(world->given_hooks.user);
}

void espl__hooks_guard(espl_world *world, const espl_hooks *given, espl_log_level least)
{
    world->given_hooks = *given;
    world->least_level = least;
    world->hooks = (espl_hooks){.user = world,
                                .log = given->log != NULL ? tell_log : NULL,
                                .trap = given->trap != NULL ? tell_trap : NULL,
                                .trace = given->trace != NULL ? tell_trace : NULL,
                                .clock = given->clock != NULL ? ask_clock : NULL};
    atomic_init(&world->hook_holder, NULL);
}

// SPDX-License-Identifier: MIT
// A world's hooks as the library calls them. Each passes its arguments on to the hook that the user
// gave. Log and trap hooks are called by one thread at a time, because jobs of a parallel write may
// log at once and a user's hook need not be prepared for that. Log messages below the world's level
// are dropped here.
//
// Invariant: world->hook_holder is the thread inside a log or trap hook, or NULL.
#include "lib/world/hooks.h"

#include "lib/base/system.h"

#include <stdatomic.h>

// Wait until no other thread is inside a hook.
// @return false: this thread is inside already, because a hook called the library or was
//         left by longjmp(). It does not wait for itself.
static bool enter(espl_world *world)
{
    const void *const self = espl__this_thread();
    const void *none = NULL;

    ESPL_CHECK(self != NULL);
    if (atomic_load_explicit(&world->hook_holder, memory_order_relaxed) == self) {
        return false;
    }
    while (!atomic_compare_exchange_weak_explicit(&world->hook_holder, &none, self,
                                                  memory_order_acquire, memory_order_relaxed)) {
        none = NULL;
        espl__system_yield();
    }
    return true;
}

// @param has_entered  what enter() returned.
static void leave(espl_world *world, bool has_entered)
{
    if (has_entered) {
        ESPL_CHECK(atomic_load_explicit(&world->hook_holder, memory_order_relaxed) ==
                   espl__this_thread());
        atomic_store_explicit(&world->hook_holder, NULL, memory_order_release);
    }
}

// The log hook that the library calls.
static void pass_log(void *user, espl_log_level level, const char *message)
{
    espl_world *const world = user;

    if (level < world->least_level) {
        return;
    }
    ESPL_CHECK(world->given_hooks.log != NULL);
    const bool has_entered = enter(world);

    world->given_hooks.log(world->given_hooks.user, level, message);
    leave(world, has_entered);
}

// The trap hook that the library calls. It may not return, if the user's does not.
static void pass_trap(void *user, const char *file, int line, const char *condition)
{
    espl_world *const world = user;
    const bool has_entered = enter(world);

    world->given_hooks.trap(world->given_hooks.user, file, line, condition);
    leave(world, has_entered);
}

// Trace and clock hooks are called by the thread of the playback alone, so that they do not wait
// for each other.
static void pass_trace(void *user, const char *name, espl_trace_edge edge)
{
    const espl_world *const world = user;

    world->given_hooks.trace(world->given_hooks.user, name, edge);
}

static uint64_t pass_clock(void *user)
{
    const espl_world *const world = user;

    return world->given_hooks.clock(world->given_hooks.user);
}

// A hook that the user did not give stays NULL, so that callers test for it as before.
void espl__hooks_guard(espl_world *world, const espl_hooks *given, espl_log_level least)
{
    world->given_hooks = *given;
    world->least_level = least;
    world->hooks = (espl_hooks){.user = world,
                                .log = given->log != NULL ? pass_log : NULL,
                                .trap = given->trap != NULL ? pass_trap : NULL,
                                .trace = given->trace != NULL ? pass_trace : NULL,
                                .clock = given->clock != NULL ? pass_clock : NULL};
    atomic_init(&world->hook_holder, NULL);
}

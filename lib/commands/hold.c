// SPDX-License-Identifier: MIT
// The check that one thread at a time changes a world: see hold.h.
#include "lib/commands/hold.h"

#include "lib/store/message.h"

static ESPL__THREAD_LOCAL char self;

const void *espl__this_thread(void)
{
    return &self;
}

static const char one_thread[] =
    "Another thread is inside %s() of the same world; one thread at a time may change a world, so "
    "take turns by a lock, or record commands.";

// Relaxed loads and stores, because each write of one transform pays for them. Two threads that
// enter at the same moment may both pass: the one whose mark was overwritten traps when it leaves.
espl__hold espl__hold_begin(espl__holder *holder, const char *call)
{
    const espl__hold none = {NULL, call, false}, refused = {NULL, call, true};
    espl__message message;

    if (holder == NULL) {
        return none;
    }
    const void *const thread = atomic_load_explicit(&holder->thread, memory_order_relaxed);

    ESPL_CHECK(call != NULL);
    // The name before the thread, so that a thread that reads the thread mostly finds its call.
    if (thread == NULL) {
        atomic_store_explicit(&holder->call, call, memory_order_relaxed);
        atomic_store_explicit(&holder->thread, &self, memory_order_relaxed);
        return (espl__hold){holder, call, false};
    }
    // A job of the world began after is_playing was set, so that it reads true.
    if (thread == &self || *holder->is_playing) {
        return none;
    }
    (void)espl__message_begin(&message, holder->hooks, call, NULL);
    espl__message_trap(&message, __FILE__, __LINE__, one_thread,
                       atomic_load_explicit(&holder->call, memory_order_relaxed));
    return refused;
}

void espl__hold_end(const espl__hold *hold)
{
    espl__holder *const holder = hold->holder;
    espl__message message;

    if (holder == NULL) {
        return;
    }
    if (atomic_load_explicit(&holder->thread, memory_order_relaxed) == &self) {
        atomic_store_explicit(&holder->thread, NULL, memory_order_relaxed);
        return;
    }
    // The other thread is inside, or was inside and has left.
    (void)espl__message_begin(&message, holder->hooks, hold->call, NULL);
    espl__message_trap(&message, __FILE__, __LINE__, one_thread,
                       atomic_load_explicit(&holder->call, memory_order_relaxed));
}

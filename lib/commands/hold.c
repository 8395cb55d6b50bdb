// SPDX-License-Identifier: MIT
#include "lib/commands/hold.h"

#include "lib/store/message.h"

static _Thread_local char self;

const void *espl__this_thread(void)
{
    return &self;
}

static const char *const one_thread =
    "Another thread is inside %s() of the same world; one thread at a time may change a world, so "
    "take turns by a lock, or record commands.";

// Plain loads and stores, because a write of one transform pays for them. Two threads that enter at
// the same moment may both pass: the one whose mark was overwritten finds out when it leaves.
espl__hold espl__hold_begin(espl__holder *holder, const char *call)
{
    const espl__hold none = {NULL, call, false}, refused = {NULL, call, true};
    espl__message message;

    if (holder == NULL) {
        return none;
    }
    const void *const thread = atomic_load_explicit(&holder->thread, memory_order_relaxed);

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
    // The other thread is inside, or has been and has gone.
    (void)espl__message_begin(&message, holder->hooks, hold->call, NULL);
    espl__message_trap(&message, __FILE__, __LINE__, one_thread,
                       atomic_load_explicit(&holder->call, memory_order_relaxed));
}

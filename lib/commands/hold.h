// SPDX-License-Identifier: MIT
// The thread that is inside a changing call of a world. Checked builds trap where another thread
// enters, because one thread at a time may change a world.
//
// Invariant: `thread` is NULL between changing calls. Jobs and functions of custom commands pass: a
// thread that is inside may enter again, and while jobs of the world run, every change is refused
// with ESPL_ERR_BUSY.
#ifndef ESPALIER_LIB_COMMANDS_HOLD_H
#define ESPALIER_LIB_COMMANDS_HOLD_H

#include "lib/base/trap.h"

#include <stdatomic.h>

/// The thread that is inside a changing call of one world.
struct espl__holder {
    _Atomic(const void *) thread; // espl__this_thread(), or NULL
    _Atomic(const char *) call;   // the public function that it is inside
    const espl_hooks *hooks;
    const bool *is_playing; // true while jobs of the world run
};

typedef struct espl__holder espl__holder;

/// A changing call, from its begin to its end.
typedef struct espl__hold {
    espl__holder *holder; // NULL: the thread was inside already, or is refused
    const char *call;
    bool is_refused; // another thread is inside
} espl__hold;

/// An address that differs from thread to thread.
const void *espl__this_thread(void);

/// Enter a changing call. @param holder  NULL: there is no world.
espl__hold espl__hold_begin(espl__holder *holder, const char *call);
/// Leave it. Traps where another thread entered meanwhile.
void espl__hold_end(const espl__hold *hold);

/// Enter a changing call until the function returns. Where another thread is inside, trap, and
/// return `otherwise` from the function if the trap returns.
#if ESPL_CHECKS >= 1 && defined(__GNUC__)
#define ESPL__HOLD_OR_RETURN(holder, call, otherwise)                                   \
    __attribute__((cleanup(espl__hold_end))) const espl__hold espl__hold_of_this_call = \
        espl__hold_begin((holder), (call));                                             \
    if (espl__hold_of_this_call.is_refused) {                                           \
        return otherwise;                                                               \
    }
#else
#define ESPL__HOLD_OR_RETURN(holder, call, otherwise) ((void)(holder), (void)(call));
#endif

#endif

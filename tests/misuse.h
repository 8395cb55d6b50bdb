// SPDX-License-Identifier: MIT
// A world with entities of every kind, every kind of bad handle, and the expected message of each
// refusal.
#ifndef ESPALIER_TESTS_MISUSE_H
#define ESPALIER_TESTS_MISUSE_H

#include "tests/support.h"

typedef struct misuse {
    test_world test, elsewhere;
    espl_world *world;
    espl_component number;                        // of the child and of nobody else
    espl_entity root, child, solo;                // living; the child has a free sibling
    espl_entity dead, recycled, foreign, pending; // pending in `commands`, not played yet
    espl_command_buffer *commands; // two lanes; one instance of the solo in the first
} misuse;

/// @param executor  NULL means serial.
void misuse_begin(misuse *m, const espl_executor *executor);
void misuse_end(misuse *m);

/// One way for a handle to name nobody.
typedef struct misuse_handle {
    const char *what;
    espl_entity entity;
    espl_status
        status; // of every call that needs a living entity; a pending one is foreign to commands
} misuse_handle;

enum { MISUSE_HANDLES = 9 };
/// List them, the null entity first.
void misuse_handles(const misuse *m, misuse_handle out[MISUSE_HANDLES]);

/// Demand that exactly one line was told since the last call of this function, and that it names the
/// public function, the status, the entity (not the null one), and what to do.
void misuse_demand_line(misuse *m, const char *call, espl_entity entity, espl_status status);
/// Forget the lines that were told so far.
void misuse_forget_lines(misuse *m);

#endif

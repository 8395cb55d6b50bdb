// SPDX-License-Identifier: MIT
// The queue of command buffers that are submitted. command_buffer.c adds to it and removes from it.
#ifndef ESPALIER_LIB_COMMANDS_SUBMIT_QUEUE_H
#define ESPALIER_LIB_COMMANDS_SUBMIT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct espl_command_buffer;

/// Queue of the command buffers that espl_sync() plays, in the order of their submission.
typedef struct espl__submit_queue {
    struct espl_command_buffer *first, *last; // both NULL: empty
    uint64_t submissions;                     // so far
    const bool *is_closed; // true while jobs run in the world: submissions are refused then
} espl__submit_queue;

#endif

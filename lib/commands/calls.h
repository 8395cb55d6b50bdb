// SPDX-License-Identifier: MIT
// Callbacks of a world. Calls take no part in the stages behind the first: their payloads are listed as
// soon as the commands are in order, and delivered when the playback is done.
#ifndef ESPALIER_LIB_COMMANDS_CALLS_H
#define ESPALIER_LIB_COMMANDS_CALLS_H

#include "lib/base/heap.h"

#include <espalier/commands.h>

typedef struct espl__callback {
    char *name;
    void *user;
    void (*function)(void *user, const espl_custom_calls *calls);
    size_t end; // of its payloads among those of the playback under way
} espl__callback;

/// The register. Its memory is the world's own.
typedef struct espl__callbacks {
    espl__callback *entries; // [count] stb array
    _Atomic uint32_t count;  // recorders read it from other threads
} espl__callbacks;

/// Register a callback. @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__callback_register(espl__heap *heap, espl__callbacks *callbacks,
                                    const espl_custom_command_def *def, espl_custom_command *out);
void espl__callbacks_free(espl__heap *heap, espl__callbacks *callbacks);
/// Bytes that the register takes, under ESPL__FOR_WORLD.
size_t espl__callbacks_bytes(const espl__callbacks *callbacks);

#endif

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
    espl_custom_command number;
    size_t end; // of its payloads among those of the playback under way
} espl__callback;

/// The register. Its memory is the world's own.
typedef struct espl__callbacks {
    espl__callback *entries; // stb array, in the order of registration, which is that of numbers
    _Atomic uint32_t last;   // number given last; recorders read it from other threads
} espl__callbacks;

/// Say what is wrong with the definition of a callback: a sentence, or NULL.
const char *espl__callback_fault(const espl_custom_command_def *def);
/// Register a callback, whose definition was checked.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__callback_register(espl__heap *heap, espl__callbacks *callbacks,
                                    const espl_custom_command_def *def, espl_custom_command *out);
/// Remove a callback. @return ESPL_OK, ESPL_ERR_ARGUMENT: none has the number.
espl_status espl__callback_unregister(espl__heap *heap, espl__callbacks *callbacks,
                                      espl_custom_command number);
void espl__callbacks_free(espl__heap *heap, espl__callbacks *callbacks);
/// Bytes that the register takes, under ESPL__FOR_WORLD.
size_t espl__callbacks_bytes(const espl__callbacks *callbacks);

#endif

// SPDX-License-Identifier: MIT
// Custom commands of a world: the register of their functions, and the calls with recorded
// payloads.
//
// Input: recorded custom commands. Output: their payloads, listed by custom command in playback
// order by the order stage (stages.h), and passed to the functions when the playback is done.
// Custom commands take no part in the other stages.
//
// Invariants of the register: entries are in ascending order of numbers; a number is never used
// again.
#ifndef ESPALIER_LIB_COMMANDS_CUSTOM_COMMANDS_H
#define ESPALIER_LIB_COMMANDS_CUSTOM_COMMANDS_H

#include "lib/base/heap.h"

#include <espalier/commands.h>

struct espl__stage_trace;

/// A custom command that is registered.
typedef struct espl__custom_entry {
    char *name;
    void *user;
    void (*function)(void *user, const espl_custom_calls *calls);
    espl_custom_command number;
    size_t end; // of its payloads among those of the playback under way; written by the order stage
} espl__custom_entry;

/// The register of a world. Its memory is the world's own. {0} is empty.
typedef struct espl__custom_registry {
    espl__custom_entry *entries; // stb array
    _Atomic uint32_t last;       // number given last; recorders read it from other threads
} espl__custom_registry;

/// Say what is wrong with the definition of a custom command: a sentence, or NULL.
const char *espl__custom_fault(const espl_custom_command_def *def);
/// Register a custom command. Precondition: espl__custom_fault() is NULL.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__custom_register(espl__heap *heap, espl__custom_registry *registry,
                                  const espl_custom_command_def *def, espl_custom_command *out);
/// Remove a custom command. @return ESPL_OK, ESPL_ERR_ARGUMENT: none has the number.
espl_status espl__custom_unregister(espl__heap *heap, espl__custom_registry *registry,
                                    espl_custom_command number);
void espl__custom_registry_free(espl__heap *heap, espl__custom_registry *registry);
/// Bytes that the register takes, under ESPL__FOR_WORLD.
size_t espl__custom_registry_bytes(const espl__custom_registry *registry);

/// Call the function of each custom command that has payloads, in the order of registration.
/// Precondition: no custom command was registered or unregistered since the order stage of the
/// playback.
/// @param payloads  [count] as the order stage listed them.
/// @param count     espl_report.calls.
void espl__custom_deliver(const espl__custom_registry *registry,
                          const struct espl__stage_trace *trace, espl_world *world,
                          const espl_command_buffer *commands, const espl_custom_payload *payloads,
                          size_t count);

#endif

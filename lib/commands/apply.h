// SPDX-License-Identifier: MIT
// One command, and the stage that carries all of them out.
#ifndef ESPALIER_LIB_COMMANDS_APPLY_H
#define ESPALIER_LIB_COMMANDS_APPLY_H

#include "lib/commands/playback.h"

/// Carry a command out (apply.c). @return its verdict; the edit's status tells whether memory ran out.
espl_status espl__apply_command(espl__apply *a);
/// Have room in the nursery for the command's copies of a closure. Of groups that are applied alone the
/// room was not known before (apply_stage.c). @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__apply_grow_nursery(espl__apply *a, uint32_t closure);

/// Prefetch what the commands behind number `at` of the grouped entries read and write (look_ahead.c).
/// @param end  first number not to look at: another worker may be applying the commands from there on.
void espl__look_ahead(const espl__playback *playback, uint32_t at, uint32_t end);

#endif

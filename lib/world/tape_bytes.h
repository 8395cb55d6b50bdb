// SPDX-License-Identifier: MIT
// The bytes of a tape: numbers in the format of include/espalier/tape.h, gathered in a small buffer,
// espl_world.tape.bytes, which is handed to the sink when it is full and at both ends of a record.
// Called by the functions that write records: tape.c, tape_commands.c and tape_columns.c. Precondition
// of all: the world has a tape, and no other thread writes it.
#ifndef ESPALIER_LIB_WORLD_TAPE_BYTES_H
#define ESPALIER_LIB_WORLD_TAPE_BYTES_H

#include "lib/world/world_internal.h"

#include <espalier/tape.h>

/// Write the head of the tape. Precondition: nothing was written to it.
void espl__tape_head(espl_world *world);

/// Hand the buffer to the sink. Postcondition: the buffer is empty.
void espl__tape_flush(espl_world *world);
/// Begin a record with the byte of its operation. Precondition: no record is open.
void espl__tape_begin(espl_world *world, espl_tape_op op);

/// End the record that is open, if there is one, with the status of its call. @return the status.
espl_status espl__tape_close(espl_world *world, espl_status status);

/// Append bytes. @param bytes  [size]; may be NULL where size is 0.
void espl__tape_bytes(espl_world *world, const void *bytes, size_t size);
/// Append a number of 1, 4 or 8 bytes, little-endian on every machine.
void espl__tape_u8(espl_world *world, unsigned number);
void espl__tape_u32(espl_world *world, uint32_t number);
void espl__tape_u64(espl_world *world, uint64_t number);
/// Append an index and a generation.
void espl__tape_entity(espl_world *world, espl_entity entity);
/// Append words of 4 bytes: floats, and the user data of a transform.
/// @param words  [4 * count] bytes of any alignment.
void espl__tape_words(espl_world *world, const void *words, size_t count);
/// Append a count, and that many words. @param count  below 2^32.
void espl__tape_list(espl_world *world, const uint32_t *words, size_t count);

#endif

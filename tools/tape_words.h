// SPDX-License-Identifier: MIT
// What a person calls the calls of a tape, and the fields of their records (espalier/tape.h).
#ifndef ESPALIER_TOOLS_TAPE_WORDS_H
#define ESPALIER_TOOLS_TAPE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/// A call, with its article: "a write". @param op  an espl_tape_op, or any number.
const char *tape_call_word(uint32_t op);

// Each of these writes to `out`, of `size` bytes, and returns it.

/// A field of a call by its number, without the operation and outside of items. Those past the last name have
/// that name.
const char *tape_field_word(uint32_t op, size_t n, char *out, size_t size);
/// A field of an item of the list that a call has: a write, a command, a child.
const char *tape_item_word(uint32_t op, size_t n, char *out, size_t size);
/// A kind of write with its flag.
const char *tape_write_word(uint64_t kind, char *out, size_t size);

/// A kind of command, with its article. @param kind  an espl_tape_command, or any number.
const char *tape_command_word(uint64_t kind);

#endif

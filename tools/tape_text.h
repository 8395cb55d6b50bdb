// SPDX-License-Identifier: MIT
// What the records of a tape (espalier/tape.h) say, without a world: where each ends, what it does to the
// structure, what it answered, and its call as a line of text.
#ifndef ESPALIER_TOOLS_TAPE_TEXT_H
#define ESPALIER_TOOLS_TAPE_TEXT_H

#include "tools/reel.h"

/// Bytes of the head of a tape.
enum { TAPE_HEAD_SIZE = 32 };

/// What a record does to the structure.
enum {
    TAPE_CREATES = 1,
    TAPE_LINKS = 2,
    TAPE_DESTROYS = 4,
    TAPE_CHANGES = 8,
    TAPE_HAS_HISTORY = 16, // what an image of a world has not
    TAPE_REWINDS = 32,
};

/// What the head of a tape says of its records.
typedef struct tape_head {
    uint32_t version, tag;
} tape_head;

/// One record. Where it is bad or cut, the state of the reel says so.
typedef struct taped_record {
    uint32_t op;
    uint32_t marks;     // TAPE_ bits
    espl_status status; // that the call answered; ESPL_OK where the tape ends before it
    bool is_cut;        // the tape ends before the status
    espl_entity entity; // the first one that it names, or null
} taped_record;

/// A line of text in a buffer that it may fill; text past the end is left out.
typedef struct tape_line {
    char *text; // [size], terminated
    size_t size, length;
    const espl_world *world; // entities have their names from it; NULL: handles alone
    const void *value; // of the first write of the record, where the tape has a difference; or NULL
} tape_line;

/// Append to a line, as printf. NULL is allowed and ignored.
void tape_line_add(tape_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Append a cell: three integers in two's complement.
void tape_line_add_cell(tape_line *line, const uint32_t numbers[3]);

/// Read the record that begins where the reel is, which it passes.
/// @param tape  of which it is a record.
/// @param line     out: the call with its arguments; NULL: none.
taped_record tape_text_read(reel *r, const tape_head *tape, tape_line *line);

/// Return the name of the function that a record calls; "" where there is none.
const char *tape_text_name(uint32_t op);

#endif

// SPDX-License-Identifier: MIT
// Bounds-checked reading of a tape, one field after the other.
#ifndef ESPALIER_TOOLS_REEL_H
#define ESPALIER_TOOLS_REEL_H

#include "tools/fault.h"

#include <espalier/espalier.h>

/// Lists that one record may hold.
enum { REEL_LISTS = 4 };

/// How far a tape could be read.
typedef enum reel_state {
    REEL_GOOD,
    REEL_SHORT, // it ends within a record
    REEL_BAD,   // the fault says why
} reel_state;

/// What a field that was read is.
typedef enum reel_kind {
    REEL_NUMBER,
    REEL_ENTITY,
    REEL_COMPONENT,
    REEL_FLOATS,
    REEL_BYTES,
    REEL_COUNTER, // a number that differs from run to run
    REEL_ITEM,    // no field: an item of a list begins
} reel_kind;

/// A field of the record at hand: its bytes on the tape, and what was read, unless that is these bytes.
typedef struct reel_field {
    reel_kind kind;
    size_t at, size;
    size_t first,
        count; // words: two of a number and of an entity, one of a component, the bits of floats
} reel_field;

/// The fields of the record at hand, in their order.
typedef struct reel_trace {
    reel_field *fields; // [count]
    size_t count, room;
    uint32_t *words; // [word_count] of all fields
    size_t word_count, word_room;
} reel_trace;

typedef struct reel {
    const unsigned char *bytes; // [size]
    size_t size, at;
    size_t record; // where the record at hand begins
    reel_state state;
    tool_fault *fault;
    void *lists[REEL_LISTS]; // of the record at hand
    size_t list_count;
    reel_trace *trace; // NULL: fields are not listed
} reel;

/// Say what is wrong with the record at hand, as printf; the first fault stays.
void reel_blame(reel *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Return the number of bytes not yet read.
static inline size_t reel_left(const reel *r)
{
    return r->size - r->at;
}

// Fields. Where the tape cannot be read they are 0, and the state says so.

/// The next bytes, in place; NULL where there are not so many.
const unsigned char *reel_bytes(reel *r, size_t size);
uint64_t reel_number(reel *r, unsigned size);
uint32_t reel_u32(reel *r);
/// Read a number of 7 bits a byte, the lowest first; the last byte has no eighth bit.
uint64_t reel_varint(reel *r);
espl_entity reel_entity(reel *r);
espl_component reel_component(reel *r);
/// A number of 4 bytes that differs from run to run.
uint32_t reel_counter(reel *r);
/// Read a count of 8 bytes. Larger ones become SIZE_MAX, which the library refuses in the same way.
size_t reel_count(reel *r);
/// The length of a list, in `width` bytes, whose items take `size` bytes each at least.
size_t reel_length(reel *r, unsigned width, size_t size);
/// A number that may be at most `limit`.
uint32_t reel_up_to(reel *r, uint32_t limit, const char *what);
/// Words of 4 bytes, which are numbers, or floats and what goes with them. @param out  [count]
void reel_words(reel *r, uint32_t *out, size_t count);
void reel_floats(reel *r, void *out, size_t count);
/// Begin an item of a list, for the trace.
void reel_item(reel *r);
/// Add a field to the trace that other fields of the tape were read for, which the trace does not have.
/// @param words  [count]
void reel_note(reel *r, reel_kind kind, const void *words, size_t count);
/// Allocate a zeroed list that lives until reel_next(); NULL, with a fault, without memory.
void *reel_list(reel *r, size_t count, size_t size);
/// Begin the next record.
void reel_next(reel *r);

#endif

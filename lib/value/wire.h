// SPDX-License-Identifier: MIT
// Numbers in portable bytes: little-endian, whatever the machine. A cursor is the only reader of bytes from
// elsewhere: it never reads past its end, and a read past it gives zeros and is remembered, so that a loop
// over bytes tests once. A wire is the only writer.
#ifndef ESPALIER_LIB_VALUE_WIRE_H
#define ESPALIER_LIB_VALUE_WIRE_H

#include "lib/base/numbers.h"
#include "lib/base/trap.h"
#include "lib/value/checksum.h"

#include <stdbool.h>
#include <string.h>

// --- Numbers at an address ---

/// Tell whether numbers of this machine have their lowest byte first. A compiler knows.
static inline bool espl__wire_is_native(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, sizeof first);
    return first == 1;
}

/// Turn the bytes of a number around.
static inline void espl__wire_turn(unsigned char *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size / 2; ++i) {
        const unsigned char byte = bytes[i];

        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/// Read and write 32-bit numbers of any type, at once where the machine has them in this order.
static inline void espl__wire_load_words(void *out, const unsigned char *bytes, size_t count)
{
    if (espl__wire_is_native()) {
        memcpy(out, bytes, count * 4);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = (uint32_t)espl__number_load(bytes + i * 4, 4);

        memcpy((unsigned char *)out + i * 4, &bits, sizeof bits);
    }
}

static inline void espl__wire_store_words(unsigned char *bytes, const void *words, size_t count)
{
    if (espl__wire_is_native()) {
        memcpy(bytes, words, count * 4);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits;

        memcpy(&bits, (const unsigned char *)words + i * 4, sizeof bits);
        espl__number_store(bytes + i * 4, bits, 4);
    }
}

// --- Reading ---

/// A cursor over bytes [0, size).
typedef struct espl__cursor {
    const unsigned char *bytes;
    size_t size, at;
    bool is_broken; // a read went past the end, or found a number that is none
} espl__cursor;

static inline espl__cursor espl__cursor_of(const void *bytes, size_t size)
{
    return (espl__cursor){bytes, size, 0, false};
}

static inline size_t espl__cursor_left(const espl__cursor *cursor)
{
    ESPL_CHECK_FULL(cursor->at <= cursor->size);
    return cursor->size - cursor->at;
}

/// Tell whether all bytes were read, and no read failed.
static inline bool espl__cursor_is_done(const espl__cursor *cursor)
{
    return !cursor->is_broken && cursor->at == cursor->size;
}

/// Step over bytes. @return their address, or NULL: there are not so many.
static inline const unsigned char *espl__cursor_take(espl__cursor *cursor, size_t size)
{
    if (size > espl__cursor_left(cursor)) {
        cursor->is_broken = true;
        return NULL;
    }
    cursor->at += size;
    return cursor->bytes + (cursor->at - size);
}

/// Read a number of 1 to 8 bytes; 0 past the end.
static inline uint64_t espl__cursor_number(espl__cursor *cursor, unsigned size)
{
    const unsigned char *const bytes = espl__cursor_take(cursor, size);

    return bytes == NULL ? 0 : espl__number_load(bytes, size);
}

static inline uint32_t espl__cursor_u32(espl__cursor *cursor)
{
    return (uint32_t)espl__cursor_number(cursor, 4);
}

/// Read a number in groups of 7 bits, the lowest first, each in a byte whose top bit says that another one
/// follows. At most 32 bits, and the last group is not 0, but for the number 0.
static inline uint32_t espl__cursor_varint(espl__cursor *cursor)
{
    uint64_t number = 0;

    // Fast path: most numbers are small.
    if (cursor->at < cursor->size && cursor->bytes[cursor->at] < 0x80) {
        return cursor->bytes[cursor->at++];
    }
    for (unsigned shift = 0; shift < 35; shift += 7) {
        const unsigned char *const byte = espl__cursor_take(cursor, 1);

        if (byte == NULL) {
            return 0;
        }
        number |= (uint64_t)(*byte & 0x7fu) << shift;
        if ((*byte & 0x80u) == 0) {
            if (number <= UINT32_MAX && (*byte != 0 || shift == 0)) {
                return (uint32_t)number;
            }
            break;
        }
    }
    cursor->is_broken = true;
    return 0;
}

// --- Writing ---

/// Bytes that a wire collects before they go on.
enum { ESPL__WIRE_ROOM = 4096 };

/// What bytes are written to: they are counted, added to a checksum, and passed on.
typedef struct espl__wire {
    /// Take the next bytes; NULL: they are counted only. @return false: no more are taken.
    bool (*pass)(void *user, const void *bytes, size_t size);
    void *user;
    bool is_broken; // bytes were not taken
    bool is_summed; // they are added to the checksum
    uint64_t size;  // bytes so far
    espl__checksum checksum;
    size_t used; // of `bytes`
    unsigned char bytes[ESPL__WIRE_ROOM];
} espl__wire;

/// Begin to count, with a checksum.
void espl__wire_begin(espl__wire *wire);
/// Pass on what is collected.
void espl__wire_flush(espl__wire *wire);
/// Write any number of bytes.
void espl__wire_put(espl__wire *wire, const void *bytes, size_t size);
/// Write so many zeros.
void espl__wire_zeros(espl__wire *wire, size_t size);

/// Return room for at most 64 bytes, which the caller writes and counts by espl__wire_add().
static inline unsigned char *espl__wire_room(espl__wire *wire)
{
    if (ESPL__WIRE_ROOM - wire->used < 64) {
        espl__wire_flush(wire);
    }
    return wire->bytes + wire->used;
}
static inline void espl__wire_add(espl__wire *wire, size_t size)
{
    ESPL_CHECK_FULL(size <= ESPL__WIRE_ROOM - wire->used);
    wire->used += size;
    wire->size += size;
}

/// Write a number of 1 to 8 bytes.
static inline void espl__wire_number(espl__wire *wire, uint64_t number, unsigned size)
{
    espl__number_store(espl__wire_room(wire), number, size);
    espl__wire_add(wire, size);
}
/// Write 32-bit numbers of any type, floats by their bits.
static inline void espl__wire_words(espl__wire *wire, const void *words, size_t count)
{
    if (espl__wire_is_native()) {
        espl__wire_put(wire, words, count * 4);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        espl__wire_store_words(espl__wire_room(wire), (const unsigned char *)words + i * 4, 1);
        espl__wire_add(wire, 4);
    }
}
/// Write a number as espl__cursor_varint() reads it.
static inline void espl__wire_varint(espl__wire *wire, uint32_t number)
{
    espl__wire_add(wire, espl__varint_store(espl__wire_room(wire), number));
}
/// Write many of them, each without the bits that are not in the mask.
void espl__wire_varints(espl__wire *wire, const uint32_t *numbers, size_t count, uint32_t mask);

#endif

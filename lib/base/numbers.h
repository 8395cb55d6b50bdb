// SPDX-License-Identifier: MIT
// Numbers as bytes: little-endian on every machine.
#ifndef ESPALIER_LIB_BASE_NUMBERS_H
#define ESPALIER_LIB_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

enum { ESPL__VARINT_ROOM = 10 }; ///< bytes that a number of variable length takes at most

/// Read a number of 1 to 8 bytes.
static inline uint64_t espl__number_load(const unsigned char *bytes, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = size; i-- > 0;) {
        number = number << 8 | bytes[i];
    }
    return number;
}

/// Write a number of 1 to 8 bytes.
static inline void espl__number_store(unsigned char *bytes, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(number >> 8 * i);
    }
}

/// Write a number in groups of 7 bits, the lowest first, each in a byte whose top bit says that another one
/// follows.
/// @param bytes  [ESPL__VARINT_ROOM]; 5 are enough for 32 bits. @return how many were written.
static inline size_t espl__varint_store(unsigned char *bytes, uint64_t number)
{
    size_t size = 0;

    for (; number >= 0x80; number >>= 7) {
        bytes[size++] = (unsigned char)(number | 0x80u);
    }
    bytes[size++] = (unsigned char)number;
    return size;
}

#endif

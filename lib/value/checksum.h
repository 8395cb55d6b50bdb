// SPDX-License-Identifier: MIT
// Checksums of values: XXH3 of 64 bits by xxHash (Y. Collet), in pieces. checksum.c alone includes the library.
#ifndef ESPALIER_LIB_VALUE_CHECKSUM_H
#define ESPALIER_LIB_VALUE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// A checksum of pieces.
typedef struct espl__checksum {
    _Alignas(64) unsigned char state[576];
} espl__checksum;

/// Begin a checksum.
void espl__checksum_begin(espl__checksum *checksum);
/// Add bytes to it.
void espl__checksum_add(espl__checksum *checksum, const void *bytes, size_t size);
/// Return the checksum of all bytes.
uint64_t espl__checksum_of(const espl__checksum *checksum);

#endif

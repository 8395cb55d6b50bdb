// SPDX-License-Identifier: MIT
// Checksums of values: XXH3 of 64 bits by xxHash (Y. Collet), in pieces. checksum.c alone includes the library.
//
// Bytes that are copied are added on their way, because a copy that does not fit into the cache waits for
// memory for longer than the checksum takes.
#ifndef ESPALIER_LIB_VALUE_CHECKSUM_H
#define ESPALIER_LIB_VALUE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A checksum of pieces.
typedef struct espl__checksum {
    _Alignas(64) unsigned char state[576];
} espl__checksum;

/// A copy.
typedef struct espl__copying {
    void *to; // does not overlap `from`
    const void *from;
    size_t size;
    const void *ahead; // NULL, or what is read next: so many bytes are prefetched
    bool
        passes_cache; // it goes to memory past the cache, if it can: espl__copied() follows at the end
} espl__copying;

/// Begin a checksum.
void espl__checksum_begin(espl__checksum *checksum);
/// Begin one that depends on a number: espl__checksum_seeded() in pieces.
void espl__checksum_begin_seeded(espl__checksum *checksum, uint64_t seed);
/// Add bytes to it.
void espl__checksum_add(espl__checksum *checksum, const void *bytes, size_t size);
/// Copy bytes and add them.
void espl__checksum_copy(espl__checksum *checksum, const espl__copying *copying);
/// Return the checksum of all bytes.
uint64_t espl__checksum_of(const espl__checksum *checksum);
/// Copy bytes without a checksum.
void espl__copy(const espl__copying *copying);
/// Order copies past the cache before what the thread stores next.
void espl__copied(void);

/// Return the checksum of bytes that depends on a number.
uint64_t espl__checksum_seeded(uint64_t seed, const void *bytes, size_t size);
/// Return the checksum of one of many items, which depends on its kind and number: sums of them tell worlds
/// apart.
/// @param bytes  [size], at most 2^32 - 1.
uint64_t espl__checksum_item(uint32_t kind, uint32_t number, const void *bytes, size_t size);

#endif

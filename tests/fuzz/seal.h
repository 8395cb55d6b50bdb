// SPDX-License-Identifier: MIT
// Bytes with checksums, for fuzz targets: archives, deltas and images (espalier_archive_format(5)) that are
// changed get the checksums of what they are, so that a reader looks at the change.
#ifndef ESPALIER_TESTS_FUZZ_SEAL_H
#define ESPALIER_TESTS_FUZZ_SEAL_H

#include "tests/fuzz/target.h"

/// Give an archive or a delta the checksums of its bytes, as far as its table can be followed.
void seal_archive(unsigned char *bytes, size_t size);
/// Give an image its size and the checksum of its bytes.
void seal_image(unsigned char *bytes, size_t size);
/// Change any bytes in a few places: numbers, copies, bytes that come and go. @return the new size.
size_t seal_change(unsigned char *bytes, size_t size, size_t room, uint64_t *random);
/// Change an archive or a delta in a few places; mostly its head and table tell of what came or went. Sealed.
size_t seal_change_archive(unsigned char *bytes, size_t size, size_t room, uint64_t *random);
/// Copy bytes to an odd address, with nothing behind them. seal_free() frees the copy.
unsigned char *seal_copy(const unsigned char *bytes, size_t size);
void seal_free(unsigned char *copy);
/// Make an input of bytes from malloc(), which are changed in up to three places where an order has no length.
fuzz_input seal_input(unsigned char *bytes, size_t size, const fuzz_order *order,
                      size_t (*mutate)(unsigned char *, size_t, size_t, uint64_t *),
                      uint64_t *random);
/// The parts of an input with a head: eight bytes each.
size_t seal_part(size_t head, size_t size, size_t at);

#endif

// SPDX-License-Identifier: MIT
// A tape file (espalier/tape.h) cut into its records, by nothing but the description of the format.
#ifndef ESPALIER_TESTS_FUZZ_CUTS_H
#define ESPALIER_TESTS_FUZZ_CUTS_H

#include <stddef.h>
#include <stdint.h>

enum { CUTS_HEAD_SIZE = 32 };

/// Length of the record that begins at `at`, the answer behind it included; 0 where the bytes there
/// are no whole record.
size_t cuts_record(const unsigned char *bytes, size_t size, size_t at);
/// Give the pending handles of all playbacks a tag, which is as good as another: those of a process
/// are counted. The bytes are a good tape.
void cuts_retag(unsigned char *bytes, size_t size, uint32_t tag);

#endif

// SPDX-License-Identifier: MIT
// The head and the table of sections of an archive that is written, from the sizes and checksums of its
// sections.
#ifndef ESPALIER_LIB_VALUE_ARCHIVE_TABLE_H
#define ESPALIER_LIB_VALUE_ARCHIVE_TABLE_H

#include "lib/value/archive_format.h"
#include "lib/value/wire.h"

/// An entry of the table.
typedef struct espl__table_entry {
    unsigned char kind[8]; // letters, version, encoding
    uint64_t size, raw;    // bytes in the archive, and without the encoding
    uint64_t checksum;
} espl__table_entry;

/// What a head and a table say.
typedef struct espl__table {
    espl__table_entry entries[ESPL__ARCHIVE_SECTIONS_MOST];
    uint32_t count;
    uint32_t minor, writer, flags;
} espl__table;

/// The numbers of a head that a table does not tell.
typedef struct espl__head_numbers {
    uint32_t kind;
    uint64_t size, checksum; // of all, and of what follows the head
} espl__head_numbers;

/// Write to an entry what a section without an encoding says.
void espl__table_entry_set(espl__table_entry *entry, const char letters[4]);
/// Make a head of any kind. The entries of the table are not read.
void espl__head_make(const espl__table *table, const espl__head_numbers *numbers,
                     unsigned char head[ESPL__ARCHIVE_HEAD]);
/// Make the head of an archive with these sections. @param wire  scratch.
void espl__table_head(const espl__table *table, espl__wire *wire,
                      unsigned char head[ESPL__ARCHIVE_HEAD]);
/// Write the table. @return where the last section ends.
uint64_t espl__table_put(const espl__table *table, espl__wire *wire);
/// Write zeros up to where the next section begins. The wire began with the head.
void espl__table_pad(espl__wire *wire);

#endif

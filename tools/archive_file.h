// SPDX-License-Identifier: MIT
// The table of an archive, by espalier_archive_format(5).
#ifndef ESPALIER_TOOLS_ARCHIVE_FILE_H
#define ESPALIER_TOOLS_ARCHIVE_FILE_H

#include "tools/contents.h"

#include <stdint.h>

typedef struct archive_section {
    char letters[5];
    const unsigned char *bytes; // [size]
    size_t size;
} archive_section;

// The functions below take archives that espl_archive_inspect() accepted.

/// Count the sections.
uint32_t archive_section_count(const tool_contents *archive);
/// Return a section by its number in the table.
archive_section archive_section_at(const tool_contents *archive, uint32_t number);
/// Find a section by its letters; without bytes where the archive has none.
archive_section archive_find_section(const tool_contents *archive, const char *letters);
/// Tell whether values of components are in the order of bytes of this machine.
bool archive_is_native(const tool_contents *archive);

#endif

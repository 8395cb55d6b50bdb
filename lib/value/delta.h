// SPDX-License-Identifier: MIT
// What the writer and the reader of deltas have in common: espalier_archive_format(5) has the bytes.
#ifndef ESPALIER_LIB_VALUE_DELTA_H
#define ESPALIER_LIB_VALUE_DELTA_H

#include "lib/value/archive_read.h"
#include "lib/value/archive_table.h"
#include "lib/value/delta_rows.h"

/// An archive that a delta is about: checked, its sections by their numbers in its table.
typedef struct espl__delta_side {
    espl__parse parse;
    uint32_t count;
} espl__delta_side;

/// A section: what its entry says, and its bytes.
typedef struct espl__delta_section {
    const unsigned char *entry, *bytes;
    uint64_t size;
} espl__delta_section;

/// Check an archive. @return false: refused.
static inline bool espl__delta_side_begin(espl__delta_side *side, const void *bytes, size_t size)
{
    side->parse = (espl__parse){.bytes = bytes, .size = size};
    return espl__parse_sections(&side->parse, &side->count);
}

static inline espl__delta_section espl__delta_section_of(const espl__delta_side *side,
                                                         uint32_t number)
{
    const unsigned char *const bytes = side->parse.bytes;
    const unsigned char *const entry =
        bytes + ESPL__ARCHIVE_HEAD + (size_t)number * ESPL__ARCHIVE_ENTRY;

    ESPL_CHECK(number < side->count);
    return (espl__delta_section){entry, bytes + espl__number_load(entry + 8, 8),
                                 espl__number_load(entry + 16, 8)};
}

/// Tell whether an entry is that of the section LOCA of whole poses.
static inline bool espl__delta_has_poses(const unsigned char entry[8], uint64_t size)
{
    static const unsigned char poses[8] = {'L', 'O', 'C', 'A', 1, 0, 0, 0};

    return memcmp(entry, poses, sizeof poses) == 0 && size % ESPL__POSE_SIZE == 0;
}

#endif

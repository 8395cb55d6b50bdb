// SPDX-License-Identifier: MIT
// What the writer and the reader of archives have in common: espalier_archive_format(5) has the bytes.
#ifndef ESPALIER_LIB_VALUE_ARCHIVE_FORMAT_H
#define ESPALIER_LIB_VALUE_ARCHIVE_FORMAT_H

#include <stdint.h>

/// The first bytes of an archive. The second line ends as a text that was changed by a transfer would not.
extern const unsigned char espl__archive_magic[8];

enum {
    ESPL__ARCHIVE_MAJOR = 1,
    ESPL__ARCHIVE_MINOR = 0,
    ESPL__ARCHIVE_KIND = 1,      // hierarchies
    ESPL__ARCHIVE_HEAD = 64,     // bytes
    ESPL__ARCHIVE_ENTRY = 40,    // bytes of an entry of the table of sections
    ESPL__ARCHIVE_ALIGNMENT = 8, // of sections
    ESPL__ARCHIVE_SECTIONS_MOST = 64,
};

/// Flags of the head.
enum {
    ESPL__ARCHIVE_BIG_ENDIAN = 1, ///< values of components are in that order
};

/// The known sections, in the order in which they follow each other.
typedef enum espl__archive_section {
    ESPL__ARCHIVE_COMP, ///< components
    ESPL__ARCHIVE_TREE, ///< numbers of children
    ESPL__ARCHIVE_LOCA, ///< local poses
    ESPL__ARCHIVE_SIDE, ///< stretch, user data, inherit flags
    ESPL__ARCHIVE_FREE, ///< free links
    ESPL__ARCHIVE_SETS, ///< component sets
    ESPL__ARCHIVE_COLS, ///< values
    ESPL__ARCHIVE_REFS, ///< references in values
    ESPL__ARCHIVE_HAND, ///< handles
    ESPL__ARCHIVE_NAME, ///< names
    ESPL__ARCHIVE_USER, ///< of the program
    ESPL__ARCHIVE_GRID, ///< of locals that are rounded
    ESPL__ARCHIVE_CELL, ///< cells of roots
    ESPL__ARCHIVE_SECTIONS
} espl__archive_section;

/// The letters of each.
extern const char espl__archive_letters[ESPL__ARCHIVE_SECTIONS][5];

/// What an entry of the section Side has.
enum {
    ESPL__ARCHIVE_STRETCH = 1,
    ESPL__ARCHIVE_USER_DATA = 2,
    ESPL__ARCHIVE_KEPT = 4,
};

#endif

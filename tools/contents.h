// SPDX-License-Identifier: MIT
// A file in memory, unpacked where it is packed by zstd.
#ifndef ESPALIER_TOOLS_CONTENTS_H
#define ESPALIER_TOOLS_CONTENTS_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a file is, by its first bytes.
typedef enum contents_kind {
    CONTENTS_OTHER, // a scene, or nothing that the program knows
    CONTENTS_TAPE,
    CONTENTS_ARCHIVE,
    CONTENTS_IMAGE,
} contents_kind;

typedef struct tool_contents {
    unsigned char *bytes; // [size]
    size_t size;
    size_t packed_size; // of the file, where it was packed; or 0
} tool_contents;

/// Read a file, and unpack it where it is packed. @return false with the reason, and nothing to release.
bool contents_load(tool_contents *out, const char *path, tool_fault *fault);
/// Release what contents_load() took. {0} is allowed.
void contents_release(tool_contents *contents);

/// Tell what bytes are.
contents_kind contents_kind_of(const tool_contents *contents);
/// Tell whether a file is no scene: it begins as a tape, an archive, an image, or as bytes that zstd packed.
bool contents_is_value(const char *path);
/// The word for a kind, with its article: "an archive".
const char *contents_kind_name(contents_kind kind);

/// Append bytes, the room growing. @return false: there is no memory.
bool contents_append(tool_contents *to, size_t *room, const void *bytes, size_t size);
/// Write a file; "-" is the standard output. A file that cannot be written whole is removed.
/// @return false with the reason.
bool contents_save(const tool_contents *contents, const char *path, tool_fault *fault);

#endif

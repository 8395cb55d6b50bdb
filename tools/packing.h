// SPDX-License-Identifier: MIT
// Bytes packed and unpacked by zstd.
#ifndef ESPALIER_TOOLS_PACKING_H
#define ESPALIER_TOOLS_PACKING_H

#include "tools/contents.h"

/// The default level, and the highest one.
#define PACKING_LEVEL 9
#define PACKING_LEVEL_LIMIT 19
/// What a file may unpack to.
#define PACKING_GIBIBYTES 4

/// Tell whether this build packs and unpacks.
bool packing_is_built(void);
/// Tell whether bytes begin as what zstd writes.
bool packing_is_packed(const unsigned char *bytes, size_t size);

/// Pack bytes into one frame, with their size and a checksum.
/// @return false with the reason, and nothing to release.
bool packing_pack(tool_contents *out, const tool_contents *from, uint32_t level, tool_fault *fault);
/// Unpack frames. Bytes from anywhere are refused with the offset, or unpacked.
/// @return false with the reason, and nothing to release.
bool packing_unpack(tool_contents *out, const tool_contents *from, tool_fault *fault);

#endif

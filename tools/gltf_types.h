// SPDX-License-Identifier: MIT
// Types of the members that scenes are read from. tinygltf takes an optional member of a wrong type as
// missing, such as a translation with a null in it, which is how some writers write what is no number.
#ifndef ESPALIER_TOOLS_GLTF_TYPES_H
#define ESPALIER_TOOLS_GLTF_TYPES_H

#include "tools/fault.h"

#include <stdbool.h>

/// Tell whether these members of a glTF file have the types that they must have, where they are there.
/// In a build without jansson, and for a file that it cannot read, the answer is true.
/// @return false with the reason.
bool gltf_types_are_right(const char *path, tool_fault *fault);

#endif

// SPDX-License-Identifier: MIT
// Runs a reader in a child process first, so that a file that crashes the reader is reported like any
// other bad file.
#ifndef ESPALIER_TOOLS_GUARD_H
#define ESPALIER_TOOLS_GUARD_H

#include "tools/fault.h"

#include <stdbool.h>

/// Seconds a reader may take.
#define GUARD_SECONDS 120
/// Memory a reader may take.
#define GUARD_GIBIBYTES 4

/// A reader: fill `out` from a file; false with the reason.
typedef bool (*guard_reader)(void *out, const char *path, tool_fault *fault);

/// Try a reader in a child process, with its output silenced. What it fills is lost with the child.
/// On Windows, which has no fork(), the answer is true and nothing is tried.
/// @return false with the reason: the reader's own, or that it crashed, ended, or took too long
///         or too much memory.
bool guard_try(guard_reader reader, void *out, const char *path, tool_fault *fault);

#endif

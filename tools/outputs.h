// SPDX-License-Identifier: MIT
// The files that a command writes: none of them is one that it reads, and no two are the same.
#ifndef ESPALIER_TOOLS_OUTPUTS_H
#define ESPALIER_TOOLS_OUTPUTS_H

#include "tools/options.h"

/// Tell whether a command may write a file: it reads no file that is the same one. A device, such as a terminal,
/// may be read and written by one command.
/// @param what  the option that names the file, for the message.
bool outputs_spare_inputs(const tool_options *options, const char *path, const char *what);

/// Check all files that the options name. @return false: a message was printed.
bool outputs_are_apart(const tool_options *options);

#endif

// SPDX-License-Identifier: MIT
// A bar on the terminal while something takes long; nothing in a pipe.
#ifndef ESPALIER_TOOLS_PROGRESS_H
#define ESPALIER_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/// A bar. Shows on stderr, and only where stderr and stdout are terminals.
typedef struct tool_progress {
    const char *label;
    size_t total;
    int shown; // cells filled; -1: never shown
    bool is_on;
} tool_progress;

tool_progress progress_begin(const char *label, size_t total, bool is_quiet);
void progress_show(tool_progress *progress, size_t done);
/// Take the bar off the terminal.
void progress_end(tool_progress *progress);

#endif

// SPDX-License-Identifier: MIT
// A progress bar on the terminal. Nothing is written where stderr or stdout is no terminal.
#ifndef ESPALIER_TOOLS_PROGRESS_H
#define ESPALIER_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/// A bar on stderr, shown only where stderr and stdout are terminals.
typedef struct tool_progress {
    const char *label;
    size_t total;
    int shown; // cells filled; -1: never shown
    bool is_on;
} tool_progress;

tool_progress progress_begin(const char *label, size_t total, bool is_quiet);
void progress_show(tool_progress *progress, size_t done);
/// Erase the bar.
void progress_end(tool_progress *progress);

#endif

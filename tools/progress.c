// SPDX-License-Identifier: MIT
#include "tools/progress.h"

#include <stdio.h>
#include <unistd.h>

#define CELLS 40

tool_progress progress_begin(const char *label, size_t total, bool is_quiet)
{
    const bool is_on = !is_quiet && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);

    return (tool_progress){label, total > 0 ? total : 1, -1, is_on};
}

void progress_show(tool_progress *progress, size_t done)
{
    const int filled = (int)((double)CELLS * (double)done / (double)progress->total);
    char cells[CELLS + 1];

    if (!progress->is_on || filled == progress->shown) {
        return;
    }
    for (int i = 0; i < CELLS; ++i) {
        cells[i] = i < filled ? '#' : '.';
    }
    cells[CELLS] = '\0';
    (void)fprintf(stderr, "\r%-24.24s [%s]", progress->label, cells);
    progress->shown = filled;
}

void progress_end(tool_progress *progress)
{
    if (progress->shown >= 0) {
        (void)fprintf(stderr, "\r%*s\r", CELLS + 28, "");
    }
    progress->shown = -1;
}

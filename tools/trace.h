// SPDX-License-Identifier: MIT
// When frames, playbacks and their stages begin and end, as a file that Chrome's chrome://tracing, Perfetto and
// speedscope open: the JSON of the Trace Event Format, with one event for each begin and each end.
#ifndef ESPALIER_TOOLS_TRACE_H
#define ESPALIER_TOOLS_TRACE_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum trace_edge { TRACE_BEGIN, TRACE_END } trace_edge;

/// Events of one thread, in order of time.
typedef struct tool_trace tool_trace;

/// Tell whether this build can write traces, which takes jansson.
bool trace_is_built(void);

/// Make an empty trace; NULL where there is no memory.
tool_trace *trace_create(void);
void trace_destroy(tool_trace *trace);

/// Add an event at the present time. NULL takes none.
/// @param name  lives as long as the trace.
void trace_mark(tool_trace *trace, const char *name, trace_edge edge);

/// Return the number of events.
size_t trace_count(const tool_trace *trace);

/// Write the file.
/// @param title  of what was traced; bytes that are no UTF-8 become '?'.
/// @return false with the reason: no memory, or the file cannot be written.
bool trace_write(const tool_trace *trace, const char *path, const char *title, tool_fault *fault);

#endif

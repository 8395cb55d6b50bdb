// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/// A begin or an end.
typedef struct trace_event {
    const char *name;
    int64_t time; // nanoseconds
    trace_edge edge;
} trace_event;

struct tool_trace {
    trace_event *events; // [count]
    size_t count, capacity;
    bool is_short; // an event found no memory
};

tool_trace *trace_create(void)
{
    return calloc(1, sizeof(tool_trace));
}

void trace_destroy(tool_trace *trace)
{
    if (trace != NULL) {
        free(trace->events);
    }
    free(trace);
}

size_t trace_count(const tool_trace *trace)
{
    return trace->count;
}

static bool reserve(tool_trace *trace)
{
    if (trace->count < trace->capacity) {
        return true;
    }
    const size_t capacity = trace->capacity > 0 ? 2 * trace->capacity : 1024;
    trace_event *const events = realloc(trace->events, capacity * sizeof *events);
    if (events == NULL) {
        return false;
    }
    trace->events = events;
    trace->capacity = capacity;
    return true;
}

void trace_mark(tool_trace *trace, const char *name, trace_edge edge)
{
    struct timespec now = {0};

    if (trace == NULL) {
        return;
    }
    if (!reserve(trace)) {
        trace->is_short = true;
        return;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    trace->events[trace->count++] =
        (trace_event){name, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, edge};
}

#ifndef HAVE_JANSSON

bool trace_is_built(void)
{
    return false;
}

bool trace_write(const tool_trace *trace, const char *path, const char *title, tool_fault *fault)
{
    (void)trace;
    (void)title;
    fault_say(fault, "%s: no trace: this espalier was built without jansson", path);
    return false;
}

#else

#include <errno.h>
#include <jansson.h>
#include <string.h>

bool trace_is_built(void)
{
    return true;
}

/// An event; times are microseconds, and begin at 0.
static json_t *make_event(const trace_event *event, int64_t start)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:i, s:i}", "name", event->name, "cat", "espalier", "ph",
                     event->edge == TRACE_BEGIN ? "B" : "E", "ts",
                     (double)(event->time - start) / 1000, "pid", 1, "tid", 1);
}

/// The name of the process is what is shown above the events.
static json_t *make_title(const char *title)
{
    char plain[256];
    size_t length = 0;

    for (; title[length] != '\0' && length + 1 < sizeof plain; ++length) {
        plain[length] = title[length];
    }
    plain[length] = '\0';
    json_t *name = json_string(plain);
    for (size_t i = 0; name == NULL && i < length; ++i) {
        plain[i] = (char)((unsigned char)plain[i] < 0x80 ? plain[i] : '?');
    }
    name = name != NULL ? name : json_string(plain);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:{s:o}}", "name", "process_name", "cat",
                     "__metadata", "ph", "M", "ts", 0, "pid", 1, "tid", 1, "args", "name", name);
}

static json_t *make_events(const tool_trace *trace, const char *title)
{
    const int64_t start = trace->count > 0 ? trace->events[0].time : 0;
    json_t *const events = json_array();
    bool is_good = events != NULL && json_array_append_new(events, make_title(title)) == 0;

    for (size_t i = 0; is_good && i < trace->count; ++i) {
        is_good = json_array_append_new(events, make_event(&trace->events[i], start)) == 0;
    }
    if (!is_good) {
        json_decref(events);
        return NULL;
    }
    return events;
}

bool trace_write(const tool_trace *trace, const char *path, const char *title, tool_fault *fault)
{
    json_t *const events = trace->is_short ? NULL : make_events(trace, title);
    json_t *const root =
        events != NULL ? json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ns")
                       : NULL;

    if (root == NULL) {
        fault_say(fault, "%s: no memory for a trace of %zu events", path, trace->count);
        return false;
    }
    const bool is_written = json_dump_file(root, path, JSON_PRESERVE_ORDER | JSON_INDENT(0)) == 0;
    if (!is_written) {
        fault_say(fault, "%s: %s", path, strerror(errno));
    }
    json_decref(root);
    return is_written;
}

#endif

// SPDX-License-Identifier: MIT
// Why something given to the program cannot be used: one line for the person who gave it.
#ifndef ESPALIER_TOOLS_FAULT_H
#define ESPALIER_TOOLS_FAULT_H

/// Reason of a refusal; the empty text means that there is none.
typedef struct tool_fault {
    char text[512];
} tool_fault;

/// Write the reason, as printf. Control characters become spaces, so that it stays one line.
void fault_say(tool_fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

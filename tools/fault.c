// SPDX-License-Identifier: MIT
#include "tools/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int is_printable(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c != 0x7f;
}

void fault_say(tool_fault *fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    if (length <= 0) {
        strcpy(fault->text, "unknown reason");
    }

    for (char *c = fault->text; *c != '\0'; ++c) {
        *c = is_printable(*c) ? *c : ' ';
    }
    for (size_t end = strlen(fault->text); end > 0 && fault->text[end - 1] == ' '; --end) {
        fault->text[end - 1] = '\0';
    }
}

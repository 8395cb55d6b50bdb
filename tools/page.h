// SPDX-License-Identifier: MIT
// The HTML page of `espalier view`: the one that the build made, with tapes in it.
#ifndef ESPALIER_TOOLS_PAGE_H
#define ESPALIER_TOOLS_PAGE_H

#include "tools/contents.h"

/// Bytes that grow. {0} is empty.
typedef struct page_text {
    tool_contents contents;
    size_t room;
    bool has_failed; // there was no memory for some
} page_text;

/// Append bytes. Without memory they are left out, and has_failed says so.
void page_text_add(page_text *text, const void *bytes, size_t size);

/// Largest page that is written, in bytes.
#define PAGE_LIMIT ((size_t)64 << 20)

/// Tell whether this build can write pages.
bool page_is_built(void);

/// Find and read the page without tapes: of the environment variable ESPALIER_VIEWER, beside the program, or
/// where it is installed.
/// @param program  as the program was called.
bool page_load(tool_contents *page, const char *program, tool_fault *fault);

/// Append a tape to the text that goes into the page: compressed, as base64.
/// @param name     shown in the page; any bytes.
/// @param is_z_up  in the picture.
bool page_add_tape(page_text *text, const char *name, bool is_z_up, const tool_contents *tape,
                   tool_fault *fault);

/// Write the page with the text of the tapes in its place; "-" is the standard output.
bool page_write(const char *path, const tool_contents *page, const page_text *text,
                tool_fault *fault);

#endif

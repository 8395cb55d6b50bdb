// SPDX-License-Identifier: MIT
// The HTML page of `espalier view`: the one that the build made, with tapes in it.
#ifndef ESPALIER_TOOLS_PAGE_H
#define ESPALIER_TOOLS_PAGE_H

#include "tools/contents.h"

#include <espalier/base.h>

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

/// Where the page opens a tape, and what it says there.
typedef struct page_place {
    uint64_t frame, call; // from 0 on, and from 1 on; call 0 is the end of the frame
    espl_entity entity;   // that is selected, or null
    const char *note;     // any bytes
} page_place;

typedef struct page_tape {
    const char *name; // shown in the page; any bytes
    bool is_z_up;     // in the picture
    const tool_contents *tape;
    const page_place *place; // NULL: its first frame
} page_tape;

/// Return what the tape of a file is called: the path without its directories.
const char *page_label(const char *path);

/// Append a tape to the text that goes into the page: compressed, as base64, with the physical hash that each
/// frame has when the tape is played here.
bool page_add_tape(page_text *text, const page_tape *tape, tool_fault *fault);

/// Write the page with the text of the tapes in its place; "-" is the standard output.
bool page_write(const char *path, const tool_contents *page, const page_text *text,
                tool_fault *fault);

#endif

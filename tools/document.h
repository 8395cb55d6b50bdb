// SPDX-License-Identifier: MIT
// What a command found, as one JSON object: members about the whole run, and an array "scenes" with
// one object for each scene.
#ifndef ESPALIER_TOOLS_DOCUMENT_H
#define ESPALIER_TOOLS_DOCUMENT_H

#include "tools/scene.h"

#include <stdbool.h>
#include <stdint.h>

struct json_t; // jansson's

/// A document being put together; {0} is an empty one. What cannot be added is remembered, and
/// refused when the document is written. Without jansson nothing is kept.
typedef struct tool_document {
    struct json_t *root;
    struct json_t *scene; // inside root; NULL: members are about the whole run
    bool is_spoiled;
} tool_document;

/// Tell whether this build can write documents.
bool document_is_built(void);

/// Begin the next scene's object; members go there until it ends.
void document_scene_begin(tool_document *document);
void document_scene_end(tool_document *document);

/// Add a member. A key is ASCII; bytes of a text that is not UTF-8 become '?' where they are not
/// ASCII; a number that is not finite spoils the document.
void document_text(tool_document *document, const char *key, const char *text);
void document_count(tool_document *document, const char *key, uint64_t count);
void document_number(tool_document *document, const char *key, double number);
void document_flag(tool_document *document, const char *key, bool flag);

/// Add what a scene says of itself: its animation, and notes about what is not read.
void document_scene_facts(tool_document *document, const tool_scene *scene);

/// Write the document to a file, or where the path is "-" to stdout.
/// @return false with the reason: the file cannot be written, or the document is spoiled.
bool document_write(const tool_document *document, const char *path, tool_fault *fault);

void document_release(tool_document *document);

#endif

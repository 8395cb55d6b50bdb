// SPDX-License-Identifier: MIT
#include "tools/xml_root.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Read past the next occurrence of a text of at most three bytes.
static bool skip_past(FILE *file, const char *end)
{
    const size_t length = strlen(end);
    char last[4] = "";
    size_t filled = 0;

    for (int c = getc(file); c != EOF; c = getc(file)) {
        if (filled == length) {
            memmove(last, last + 1, --filled);
        }
        last[filled++] = (char)c;
        if (filled == length && memcmp(last, end, length) == 0) {
            return true;
        }
    }
    return false;
}

/// Read past what begins with "<!": a comment, or a declaration.
static bool skip_markup(FILE *file, bool *is_declaration)
{
    const int first = getc(file);

    *is_declaration = first != '-';
    if (*is_declaration) {
        (void)ungetc(first, file);
        return first != EOF;
    }
    return getc(file) == '-' && skip_past(file, "-->");
}

/// Read past the document type. Within its brackets are declarations, comments and instructions, and
/// any of them may quote a '>' or a bracket.
static bool skip_document_type(FILE *file)
{
    int open = 1; // '<' that are not closed yet

    while (open > 0) {
        const int c = getc(file);
        bool is_declaration = false;

        if (c == EOF) {
            return false;
        }
        if (c == '"' || c == '\'') {
            if (!skip_past(file, c == '"' ? "\"" : "'")) {
                return false;
            }
        } else if (c == '>') {
            --open;
        } else if (c == '<') {
            const int next = getc(file);
            if (next == '?' ? !skip_past(file, "?>") : !skip_markup(file, &is_declaration)) {
                return false;
            }
            open += is_declaration;
        }
    }
    return true;
}

static bool take_name(char out[XML_NAME_SIZE], FILE *file, int first)
{
    size_t length = 0;

    for (int c = first; c != EOF && c != '>' && c != '/' && !is_space(c); c = getc(file)) {
        if (length + 1 < XML_NAME_SIZE) {
            out[length++] = (char)c;
        }
    }
    out[length] = '\0';
    return length > 0;
}

static bool find_root(char out[XML_NAME_SIZE], FILE *file)
{
    int c = getc(file);

    if (c == 0xef && getc(file) == 0xbb && getc(file) == 0xbf) {
        c = getc(file);
    }
    for (;; c = getc(file)) {
        bool is_declaration = false, is_skipped = true;

        if (is_space(c)) {
            continue;
        }
        if (c != '<') {
            return false;
        }
        c = getc(file);
        if (c == '?') {
            is_skipped = skip_past(file, "?>");
        } else if (c == '!') {
            is_skipped =
                skip_markup(file, &is_declaration) && (!is_declaration || skip_document_type(file));
        } else {
            return take_name(out, file, c);
        }
        if (!is_skipped) {
            return false;
        }
    }
}

bool xml_read_root(char out[XML_NAME_SIZE], const char *path)
{
    FILE *const file = fopen(path, "rb");

    if (file == NULL) {
        return false;
    }
    const bool is_found = find_root(out, file);
    (void)fclose(file);
    return is_found;
}
